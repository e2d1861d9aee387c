/* checkpoint_manifest.h - what the manifest of a checkpoint says (manifest.json in its folder): of
 * which step it is, the files with the digests of their blocks, and of each tensor which boxes of
 * it are in which file. docs/reference/checkpoint-format.md has the text. Threads:
 * thread-compatible. */
#ifndef LZ_DATA_CHECKPOINT_MANIFEST_H
#define LZ_DATA_CHECKPOINT_MANIFEST_H
#include "base/box_copy.h"
#include "base/hash.h"
#include "base/vec.h"
#include <lazuli/types.h>

/* Raised when the text changes its meaning. */
enum { LZ_MANIFEST_VERSION = 1 };
/* Bytes that a digest is of; the last block of a file may be shorter. */
enum { LZ_MANIFEST_BLOCK = 4 << 20, LZ_MANIFEST_MAX_BYTES = 100000000 };
#define LZ_MANIFEST_HEAD "{\"format\":\"lazuli.checkpoint\",\"version\":"

/* Texts are offsets in `text`. */
typedef struct lz_manifest_file {
    uint32_t rank; /* of the process that wrote it, which is its name */
    uint64_t size;
    uint32_t digest, ndigest; /* of each block, in its order */
} lz_manifest_file;
typedef struct lz_manifest_shard {
    uint32_t file; /* which of the files */
    uint32_t box;  /* offsets and extents in `dims`, of the tensor's rank each */
} lz_manifest_shard;
typedef struct lz_manifest_tensor {
    uint32_t name;
    lz_dtype dtype;
    lz_shape shape;
    uint32_t shard, nshard; /* its boxes: a grid without holes; none of an empty tensor */
} lz_manifest_tensor;
typedef struct lz_manifest_pair {
    uint32_t key, value;
} lz_manifest_pair;
typedef struct lz_manifest_metric {
    uint32_t name;
    double value;
} lz_manifest_metric;

typedef struct lz_manifest {
    int64_t step, block;
    uint32_t processes;
    LZ_VEC(lz_manifest_pair) metadata;
    LZ_VEC(lz_manifest_metric) metrics; /* what the program saved with it */
    LZ_VEC(lz_manifest_file) files;
    LZ_VEC(lz_hash) digests;
    LZ_VEC(lz_manifest_tensor) tensors; /* by name, ascending */
    LZ_VEC(lz_manifest_shard) shards;
    LZ_VEC(int64_t) dims;
    lz_buf text;
} lz_manifest;
void lz_manifest_free(lz_manifest *m);

/* Keeps a text; UINT32_MAX: no memory, or too many. */
uint32_t lz_manifest_keep(lz_manifest *m, const char *s, size_t n);
static inline const char *lz_manifest_text(const lz_manifest *m, uint32_t at)
{
    return m->text.data + at;
}
lz_box lz_manifest_box(const lz_manifest *m, const lz_manifest_tensor *t,
                       const lz_manifest_shard *s);
const lz_manifest_tensor *lz_manifest_find(const lz_manifest *m, const char *name); /* NULL: none */
/* The name of a shard in its file: the tensor's, and behind it the box unless that is all. False:
 * no memory. */
bool lz_manifest_key(const lz_manifest *m, const lz_manifest_tensor *t, const lz_manifest_shard *s,
                     lz_buf *out);
/* "rank-00003.safetensors" */
enum { LZ_RANK_FILE = 32 };
const char *lz_rank_file(uint32_t rank, char text[LZ_RANK_FILE]);
bool lz_rank_file_parse(const char *name, uint32_t *rank);

/* Appends the text, and its own digest at its end. LZ_EINVAL: what is no UTF-8; LZ_EMEM. */
lz_status lz_manifest_put(const lz_manifest *m, const char *path, lz_buf *out);
/* Whether a text is whole: as it was when its digest was made. LZ_ECORRUPT. */
lz_status lz_manifest_check(const char *text, size_t n, const char *path);
/* Reads the text of anybody. *m needs lz_manifest_free only when it is LZ_OK. LZ_EPARSE,
 * LZ_ECORRUPT, LZ_EDTYPE, LZ_EUNSUPPORTED (of a later version), LZ_ERANGE, LZ_EMEM. */
lz_status lz_manifest_parse(const char *text, size_t n, const char *path, lz_manifest *m);
#endif
