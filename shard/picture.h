/* picture.h - a sharding as a picture: a cell for each tile, with the devices that have it. Two
 * dimensions are shown, those of the most tiles (of as many, the first ones), outer ones as rows;
 * a cell has the devices of all its tiles along others. More than 8 rows or columns are cut short
 * in the middle, more than 8 devices of a cell after the fourth. Threads: pure. */
#ifndef LZ_SHARD_PICTURE_H
#define LZ_SHARD_PICTURE_H
#include "ir/sharding/sharding.h"

typedef struct lz_picture {
    const lz_sharding *s;
    const lz_type *type; /* NULL: not known, so no extents of tiles */
    const char *device;  /* the word before numbers: "CPU" */
    const char *title;   /* in front of the heading; may be NULL */
} lz_picture;

enum { LZ_PICTURE_ASCII = 1, LZ_PICTURE_COLOUR = 2 }; /* of a table: not UTF-8; escape sequences */
/* A heading and a table with lines around cells. Errors: LZ_EMEM. */
lz_status lz_picture_table(const lz_picture *p, unsigned flags, lz_buf *out);
/* A document of n pictures, one below the other. Errors: LZ_EMEM. */
lz_status lz_picture_svg(const lz_picture *p, uint32_t n, lz_buf *out);
#endif
