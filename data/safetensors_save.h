/* safetensors_save.h - writing a safetensors file of host arrays and of values of a snapshot, which
 * are read one after the other.
 * Threads: thread-compatible. */
#ifndef LZ_DATA_SAFETENSORS_SAVE_H
#define LZ_DATA_SAFETENSORS_SAVE_H
#include "runtime/exec/snapshot.h"

typedef struct lz_save_item {
    const char *name;
    lz_dtype dtype;
    lz_shape shape;
    size_t nbytes;
    const void *data;        /* the elements, unless there is a snapshot */
    const lz_snapshot *from; /* NULL: none */
    size_t value;            /* which of its values */
} lz_save_item;
/* Value i of a snapshot. */
lz_save_item lz_save_item_of(const char *name, const lz_snapshot *s, size_t i);
/* Sorts the items and writes them. Errors: lz_save_safetensors's. The first takes names that are
 * known to be distinct. */
lz_status lz_safetensors_save(const char *path, lz_save_item *items, size_t n,
                              const char *const *metadata, size_t nmetadata);
lz_status lz_safetensors_save_named(const char *path, lz_save_item *items, size_t n,
                                    const char *const *metadata, size_t nmetadata);
#endif
