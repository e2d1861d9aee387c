/* safetensors_save.h - writing a safetensors file of host arrays and of values of a snapshot, which
 * are read one after the other.
 * Threads: thread-compatible. */
#ifndef LZ_DATA_SAFETENSORS_SAVE_H
#define LZ_DATA_SAFETENSORS_SAVE_H
#include "data/data_internal.h"
#include "runtime/spmd/local_shards.h"

typedef struct lz_save_item {
    const char *name;
    lz_dtype dtype;
    lz_shape shape;
    size_t nbytes;
    const void *data;            /* the elements, unless there is a snapshot */
    const lz_snapshot *from;     /* NULL: none */
    size_t value;                /* which of its values */
    const lz_local_shard *shard; /* of the snapshot's value this part; NULL: all of it */
} lz_save_item;
/* Value i of a snapshot. */
lz_save_item lz_save_item_of(const char *name, const lz_snapshot *s, size_t i);
/* Sorts the items and writes them. Errors: lz_save_safetensors's. The first takes names that are
 * known to be distinct. */
lz_status lz_safetensors_save(const char *path, lz_save_item *items, size_t n,
                              const char *const *metadata, size_t nmetadata);
lz_status lz_safetensors_save_named(const char *path, lz_save_item *items, size_t n,
                                    const char *const *metadata, size_t nmetadata);
/* Sorts the items as their elements follow each other, and writes what stands before them: the
 * length, and the header. */
lz_status lz_safetensors_begin(const char *path, lz_save_item *items, size_t n,
                               const char *const *metadata, size_t nmetadata, lz_buf *out);
/* The elements of an item of a snapshot, in fresh memory. */
lz_status lz_save_item_read(const lz_save_item *t, lz_array *out);
#endif
