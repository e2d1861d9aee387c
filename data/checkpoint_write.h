/* checkpoint_write.h - the steps of writing a checkpoint, which one process takes by itself
 * (checkpoint_write.c), several together (checkpoint_shared.c).
 * Threads: thread-compatible. */
#ifndef LZ_DATA_CHECKPOINT_WRITE_H
#define LZ_DATA_CHECKPOINT_WRITE_H
#include "data/checkpoint_file.h"

/* All but the files and their digests; sorts the parts. *m needs lz_manifest_free, whatever the
 * result. */
lz_status lz_ckpt_describe(const char *path, lz_ckpt_content *c, lz_manifest *m);
/* This process's file, synced; it becomes one of the manifest's. */
lz_status lz_ckpt_write_file(lz_ckpt_stage *st, lz_manifest *m, const lz_ckpt_content *c);
lz_status lz_ckpt_write_manifest(lz_ckpt_stage *st, const lz_manifest *m);
/* lz_ckpt_write of one of several processes. */
lz_status lz_ckpt_write_shared(const lz_ckpt_dir *d, lz_ckpt_content *c);
#endif
