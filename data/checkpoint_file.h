/* checkpoint_file.h - a checkpoint in the folder of its step: a safetensors file of each process,
 * with the boxes of tensors that it has, and the manifest that says what is where
 * (checkpoint_manifest.h).
 * Threads: thread-compatible; a reader may be used by many threads once it is verified. */
#ifndef LZ_DATA_CHECKPOINT_FILE_H
#define LZ_DATA_CHECKPOINT_FILE_H
#include "data/checkpoint_dir.h"
#include "data/checkpoint_manifest.h"
#include "data/data_internal.h"
#include "data/safetensors_save.h"

/* ---- writing ---- */

/* A box of a tensor. The elements are `data`, or part of a snapshot's value. */
typedef struct lz_ckpt_part {
    const char *name; /* of the tensor */
    lz_dtype dtype;
    lz_shape shape; /* of the tensor */
    lz_box box;
    const void *data;
    const lz_snapshot *from;
    size_t value;
    const lz_local_shard *shard; /* NULL: all of the value */
    uint32_t rank;               /* of the process that writes it */
} lz_ckpt_part;
/* What a part of this box is, in bytes. */
size_t lz_ckpt_part_bytes(const lz_ckpt_part *p);

typedef struct lz_ckpt_metric {
    const char *name;
    double value;
} lz_ckpt_metric;
typedef struct lz_ckpt_content {
    int64_t step;
    uint32_t rank, ranks; /* of this process; how many there are: 0 is 1 */
    uint64_t talk;        /* of several: lz_shared_number */
    lz_ckpt_part *parts;  /* of all processes; sorted by the call */
    size_t nparts;
    const char *const *metadata; /* pairs */
    size_t nmetadata;
    const lz_ckpt_metric *metrics;
    size_t nmetrics;
} lz_ckpt_content;
/* Writes and publishes a checkpoint. Of several processes all call it: each writes its own parts,
 * rank 0 publishes them when all have, and the result is the same in all, whatever the thread.
 * LZ_ETIMEOUT names one that is missing. LZ_EEXIST, LZ_EINVAL (two tensors of one name), LZ_EDTYPE,
 * LZ_EIO, LZ_EPERM, LZ_EMEM; then nothing of it is there. */
lz_status lz_ckpt_write(const lz_ckpt_dir *d, lz_ckpt_content *c);

/* ---- reading ---- */

typedef struct lz_ckpt_reader lz_ckpt_reader;
/* Opens the checkpoint in an open folder, which stays the caller's, without reading elements. step:
 * what it must be of; -1: of any. where: for messages. NULL: the error is recorded.
 * LZ_EUNSUPPORTED: it is of a later version of the format. */
lz_ckpt_reader *lz_ckpt_open(int fd, int64_t step, const char *where);
void lz_ckpt_close(lz_ckpt_reader *r);
const lz_manifest *lz_ckpt_manifest(const lz_ckpt_reader *r);
/* The elements of a box, densely. Reads, and compares with their digests, the blocks that have some
 * of them. LZ_ECORRUPT: lz_ckpt_damaged from then on. */
lz_status lz_ckpt_read_box(lz_ckpt_reader *r, const lz_manifest_tensor *t, const lz_box *box,
                           void *dst);
/* Where the elements of a tensor are that is in one piece; NULL: it is not, or LZ_ECORRUPT is
 * recorded. *view: its file. */
const void *lz_ckpt_whole(lz_ckpt_reader *r, const lz_manifest_tensor *t, lz_view *view);
/* Compares all of it. */
lz_status lz_ckpt_verify(lz_ckpt_reader *r);
/* Whether something in it was not as it was written. */
bool lz_ckpt_damaged(const lz_ckpt_reader *r);
/* Blocks that were compared so far. */
size_t lz_ckpt_blocks_read(const lz_ckpt_reader *r);
#endif
