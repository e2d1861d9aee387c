/* tensor_source.h - named tensors to load: a safetensors file, the index of several, or the folder
 * of a checkpoint, ours or Hugging Face's. What is read is boxes of tensors, so that each device is
 * given its part, and no more is read than parts need.
 * Threads: thread-compatible. */
#ifndef LZ_DATA_TENSOR_SOURCE_H
#define LZ_DATA_TENSOR_SOURCE_H
#include "base/box_copy.h"
#include <lazuli/data.h>

typedef struct lz_tensor_source {
    struct lz_archive *archive;    /* one of the two */
    struct lz_ckpt_reader *reader; /* the folder of a checkpoint of ours */
} lz_tensor_source;
/* A file, or a folder: with a manifest.json it is a checkpoint's; else its files are those of
 * model.safetensors.index.json, or model.safetensors. Errors: lz_safetensors_open's. */
lz_status lz_source_open(lz_tensor_source *s, const char *path);
void lz_source_close(lz_tensor_source *s);

size_t lz_source_len(const lz_tensor_source *s);
const char *lz_source_name(const lz_tensor_source *s, size_t i);
bool lz_source_has(const lz_tensor_source *s, const char *name);
/* NULL: it says nothing under this key. */
const char *lz_source_metadata(const lz_tensor_source *s, const char *key);
/* LZ_ENOENT. */
lz_status lz_source_info(const lz_tensor_source *s, const char *name, lz_dtype *dtype,
                         lz_shape *shape);
/* All of it: a view of a file where it is in one piece. */
lz_status lz_source_read(const lz_tensor_source *s, const char *name, lz_array *out);
/* The elements of a box that is within it, densely. */
lz_status lz_source_read_box(const lz_tensor_source *s, const char *name, const lz_box *box,
                             void *dst);
#endif
