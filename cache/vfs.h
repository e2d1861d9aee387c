/* vfs.h - every system call of the cache, and of who writes checkpoints, goes through here, so that
 * a test can make the n-th one fail, come back short, or never return (a crash). Without a hook a
 * call costs one relaxed load more than the system call itself. Results are the system's: -1 and
 * errno. EINTR is retried here where retrying is right, so callers never see it; an injected EINTR
 * goes through the same retry. Descriptors are always close-on-exec. Threads: thread-safe; the hook
 * and the clock are set before other threads start. */
#ifndef LZ_CACHE_VFS_H
#define LZ_CACHE_VFS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

typedef enum lz_vfs_op {
    LZ_VFS_OPEN,
    LZ_VFS_MKDIR,
    LZ_VFS_FSTAT,
    LZ_VFS_STATAT,
    LZ_VFS_READ,
    LZ_VFS_WRITE,
    LZ_VFS_SYNC,
    LZ_VFS_CHMOD,
    LZ_VFS_CLOSE,
    LZ_VFS_RENAME,
    LZ_VFS_LINK,
    LZ_VFS_UNLINK,
    LZ_VFS_TOUCH,
    LZ_VFS_LIST,
    LZ_VFS_LOCK,
    LZ_VFS_DUP,
    LZ_VFS_OP_COUNT
} lz_vfs_op;

/* What the hook wants. All zero: make the call. */
typedef struct lz_vfs_fault {
    int err; /* not 0: the call fails with this errno ... */
    /* ... but only after it was made (a close that reports a lost write): the file is changed */
    bool after;
    size_t max_bytes; /* not 0: a read or write moves at most this many bytes */
} lz_vfs_fault;
/* nth counts calls of any kind from 1, since lz_vfs_set_hook. The hook may also kill the
 * process. */
typedef void (*lz_vfs_hook)(lz_vfs_op op, uint64_t nth, lz_vfs_fault *fault, void *user);
void lz_vfs_set_hook(lz_vfs_hook hook, void *user); /* NULL: none */
uint64_t lz_vfs_calls(void);           /* calls since the hook was set; 0 without a hook */
void lz_vfs_set_clock(int64_t unix_s); /* tests: what lz_vfs_now says; 0: the real time */
int64_t lz_vfs_now(void);              /* seconds since the Unix epoch */

/* openat without following a symlink in the last component. */
int lz_vfs_open(int dirfd, const char *path, int flags, mode_t mode);
/* The same for a path of several components below dirfd, none of which may be a symlink or leave
 * dirfd. */
int lz_vfs_open_below(int dirfd, const char *path, int flags);
/* A path that the user gave: links are followed. */
int lz_vfs_open_named(const char *path, int flags);
int lz_vfs_mkdir(int dirfd, const char *path); /* mode 0700 whatever the umask */
/* 0777, as the umask has it. */
int lz_vfs_mkdir_shared(int dirfd, const char *path);
int lz_vfs_fstat(int fd, struct stat *st);
/* Of the link itself, if it is one. */
int lz_vfs_statat(int dirfd, const char *path, struct stat *st);
ssize_t lz_vfs_pread(int fd, void *buf, size_t n, uint64_t offset); /* may be short */
ssize_t lz_vfs_write(int fd, const void *buf, size_t n);            /* may be short */
int lz_vfs_datasync(int fd);
int lz_vfs_sync(int fd); /* fsync: of a directory, its names */
int lz_vfs_chmod(int fd, mode_t mode);
int lz_vfs_close(int fd); /* the descriptor is gone even when this fails */
/* EEXIST rather than replace. */
int lz_vfs_rename_new(int fromdir, const char *from, int todir, const char *to);
int lz_vfs_rename(int fromdir, const char *from, int todir, const char *to);
int lz_vfs_link(int fromdir, const char *from, int todir, const char *to);
int lz_vfs_unlink(int dirfd, const char *path, bool directory);
int lz_vfs_touch(int fd, int64_t mtime_s); /* atime and mtime of an open file */
int lz_vfs_touch_at(int dirfd, const char *path, int64_t mtime_s);
int lz_vfs_trylock(int fd); /* flock, exclusive, never blocks: EWOULDBLOCK */
int lz_vfs_unlock(int fd);
int lz_vfs_dup_onto(int fd, int target); /* dup3: `target` is atomically another open file */

/* Names in a directory, without "." and "..", in the order of the system. Names are never trusted
 * to be short or clean. */
typedef struct lz_vfs_list {
    int fd;
    int err; /* of a listing that ended early; 0: all names were given */
    int pos, len;
    char buf[8192] __attribute__((aligned(8)));
} lz_vfs_list;
void lz_vfs_list_init(lz_vfs_list *l, int fd); /* fd stays the caller's */
/* NULL: the end, or an error, which is l->err. The name is valid until the next call. */
const char *lz_vfs_list_next(lz_vfs_list *l);
#endif
