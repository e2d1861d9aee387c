/* checkpoint_dir.h - the folder of a training's checkpoints, DIR/step_N each, and how one comes to
 * be there: whole or not at all.
 * Writing. A folder of another name (.step_N.tmp-PID-SALT), locked while its process lives, takes
 *   the files; they, and the folder, are synced, then it is renamed, and DIR is synced. A process
 *   that is killed at any moment leaves the checkpoints of before, or these and the new one.
 *   Of several processes each has such a folder of its own, and what it has written there is moved
 *   into that of the one that publishes.
 * Removing. A rename to .step_N.old-PID-SALT, then the files, the manifest last.
 * What is left over is swept: only what has such a name, belongs to this user, holds nothing but
 *   files of ours, says so in its first one, and is not locked. Links are never followed below DIR.
 * Threads: thread-compatible; processes may share DIR. */
#ifndef LZ_DATA_CHECKPOINT_DIR_H
#define LZ_DATA_CHECKPOINT_DIR_H
#include "base/vec.h"
#include <lazuli/types.h>

typedef struct lz_ckpt_dir {
    int fd;
    const char *path; /* the caller's */
} lz_ckpt_dir;
/* create: the folder is made, and those above it, where they are not there. LZ_ENOENT, LZ_EPERM,
 * LZ_EIO. */
lz_status lz_ckpt_dir_open(const char *path, bool create, lz_ckpt_dir *out);
void lz_ckpt_dir_close(lz_ckpt_dir *d);

typedef LZ_VEC(int64_t) lz_ckpt_steps;
/* The steps that have a folder, ascending. *strange: the first name that begins as a step's but is
 * none (cut to fit; "" when there is none). */
enum { LZ_CKPT_STRANGE = 64 };
lz_status lz_ckpt_dir_steps(const lz_ckpt_dir *d, lz_ckpt_steps *out,
                            char strange[LZ_CKPT_STRANGE]);
/* Whether there is something of the step's name. */
lz_status lz_ckpt_dir_has(const lz_ckpt_dir *d, int64_t step, bool *has);
enum { LZ_CKPT_NAME = 96 };
const char *lz_ckpt_step_name(int64_t step, char name[LZ_CKPT_NAME]);
/* The folder of a step. -1: the error is recorded. */
int lz_ckpt_dir_open_step(const lz_ckpt_dir *d, int64_t step);
/* A regular file in the folder of a step, not through a link. -1: the error is recorded. where: for
 * messages. */
int lz_ckpt_open_file(int fd, const char *name, const char *where);

/* A checkpoint that is being written. */
typedef struct lz_ckpt_stage {
    const lz_ckpt_dir *dir;
    int64_t step;
    int fd; /* -1: nothing is there */
    char name[LZ_CKPT_NAME];
} lz_ckpt_stage;
/* LZ_EEXIST: the step is there. */
lz_status lz_ckpt_stage_begin(lz_ckpt_stage *s, const lz_ckpt_dir *d, int64_t step);
/* The same for a process that only writes a file of it, which another one publishes: whether the
 * step is there is that one's matter. */
lz_status lz_ckpt_stage_begin_part(lz_ckpt_stage *s, const lz_ckpt_dir *d, int64_t step);
/* Takes a file of so many bytes over from another process's stage of that name. */
lz_status lz_ckpt_stage_adopt(lz_ckpt_stage *s, const char *stage, const char *file,
                              uint64_t nbytes);
/* Takes it away. */
void lz_ckpt_stage_drop(lz_ckpt_stage *s);
/* A new file in it, to be written. -1: the error is recorded. */
int lz_ckpt_stage_file(lz_ckpt_stage *s, const char *name);
/* Publishes it when st is LZ_OK, and all of it is on the disk; else, or where that fails, nothing
 * of it stays. LZ_EEXIST: another process was first. */
lz_status lz_ckpt_stage_end(lz_ckpt_stage *s, lz_status st);
/* Writes all of it; 0, or the errno. */
int lz_ckpt_write_all(int fd, const void *p, size_t n);

/* Takes a step away. LZ_ESTATE: its folder has files that are not ours, and stays as it is. A step
 * that is not there, or a process that is ended meanwhile, is no error. */
lz_status lz_ckpt_dir_remove(const lz_ckpt_dir *d, int64_t step);
/* Takes away what ended processes left. Gives the number of folders. */
int lz_ckpt_dir_sweep(const lz_ckpt_dir *d);
#endif
