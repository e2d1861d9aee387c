/* vfs.c - the system calls of the cache and of checkpoints, each with its hook point. See vfs.h for
 * the rules. */
#include "cache/vfs.h"
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#ifdef SYS_openat2
#include <linux/openat2.h>
#endif

static _Atomic(lz_vfs_hook) the_hook;
static void *hook_user;
static _Atomic uint64_t hook_calls;
static _Atomic int64_t fixed_clock;
static atomic_bool no_openat2; /* the kernel or its filter does not have it */

void lz_vfs_set_hook(lz_vfs_hook hook, void *user)
{
    atomic_store(&the_hook, (lz_vfs_hook)0);
    hook_user = user;
    atomic_store(&hook_calls, 0);
    atomic_store(&the_hook, hook);
}

uint64_t lz_vfs_calls(void)
{
    return atomic_load(&hook_calls);
}

void lz_vfs_set_clock(int64_t unix_s)
{
    atomic_store(&fixed_clock, unix_s);
}

int64_t lz_vfs_now(void)
{
    int64_t fixed = atomic_load_explicit(&fixed_clock, memory_order_relaxed);
    return fixed ? fixed : (int64_t)time(NULL);
}

static __attribute__((noinline)) lz_vfs_fault ask(lz_vfs_hook hook, lz_vfs_op op)
{
    lz_vfs_fault f = {0};
    hook(op, atomic_fetch_add(&hook_calls, 1) + 1, &f, hook_user);
    return f;
}

static inline lz_vfs_fault fault_of(lz_vfs_op op)
{
    lz_vfs_hook hook = atomic_load_explicit(&the_hook, memory_order_acquire);
    if (__builtin_expect(hook != NULL, 0))
        return ask(hook, op);
    return (lz_vfs_fault){0};
}

/* Evaluates `call` between its faults; the value is -1 with errno on failure. */
#define FAULTY(op, call)                                                                           \
    __extension__({                                                                                \
        lz_vfs_fault f_ = fault_of(op);                                                            \
        long r_ = -1;                                                                              \
        if (!f_.err || f_.after)                                                                   \
            r_ = (call);                                                                           \
        if (f_.err) {                                                                              \
            errno = f_.err;                                                                        \
            r_ = -1;                                                                               \
        }                                                                                          \
        r_;                                                                                        \
    })
#define RETRY(op, call)                                                                            \
    __extension__({                                                                                \
        long v_;                                                                                   \
        do                                                                                         \
            v_ = FAULTY(op, call);                                                                 \
        while (v_ < 0 && errno == EINTR);                                                          \
        v_;                                                                                        \
    })

int lz_vfs_open(int dirfd, const char *path, int flags, mode_t mode)
{
    return (int)RETRY(LZ_VFS_OPEN, openat(dirfd, path, flags | O_NOFOLLOW | O_CLOEXEC, mode));
}

int lz_vfs_open_named(const char *path, int flags)
{
    return (int)RETRY(LZ_VFS_OPEN, openat(AT_FDCWD, path, flags | O_CLOEXEC));
}

/* Without openat2: one component after the other, so that none of them can be a symlink. */
static int open_below_stepwise(int dirfd, const char *path, int flags)
{
    int at = dirfd;
    for (const char *slash; (slash = strchr(path, '/')) != NULL; path = slash + 1) {
        char part[64];
        size_t n = (size_t)(slash - path);
        int next = -1;
        if (n == 0 || n >= sizeof part) {
            errno = EINVAL;
        } else {
            memcpy(part, path, n);
            part[n] = '\0';
            next = lz_vfs_open(at, part, O_RDONLY | O_DIRECTORY, 0);
        }
        int saved = errno;
        if (at != dirfd)
            (void)lz_vfs_close(at);
        errno = saved;
        if (next < 0)
            return -1;
        at = next;
    }
    int fd = lz_vfs_open(at, path, flags, 0);
    int saved = errno;
    if (at != dirfd)
        (void)lz_vfs_close(at);
    errno = saved;
    return fd;
}

int lz_vfs_open_below(int dirfd, const char *path, int flags)
{
#ifdef SYS_openat2
    if (!atomic_load_explicit(&no_openat2, memory_order_relaxed)) {
        struct open_how how;
        memset(&how, 0, sizeof how);
        how.flags = (uint64_t)(flags | O_NOFOLLOW | O_CLOEXEC);
        how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
        int fd = (int)RETRY(LZ_VFS_OPEN, syscall(SYS_openat2, dirfd, path, &how, sizeof how));
        /* EPERM is what old system call filters answer; EAGAIN a rename that raced with
         * RESOLVE_BENEATH */
        if (fd >= 0 || (errno != ENOSYS && errno != EPERM && errno != EAGAIN))
            return fd;
        if (errno == ENOSYS)
            atomic_store_explicit(&no_openat2, true, memory_order_relaxed);
    }
#endif
    return open_below_stepwise(dirfd, path, flags);
}

/* A umask that takes the owner's own rights away must not give us a directory we cannot enter. */
static int mkdir_usable(int dirfd, const char *path)
{
    struct stat st;
    if (mkdirat(dirfd, path, 0700) < 0)
        return -1;
    if (fstatat(dirfd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
        st.st_uid == geteuid() && (st.st_mode & 0700) != 0700)
        (void)fchmodat(dirfd, path, 0700, AT_SYMLINK_NOFOLLOW);
    return 0;
}

int lz_vfs_mkdir(int dirfd, const char *path)
{
    return (int)RETRY(LZ_VFS_MKDIR, mkdir_usable(dirfd, path));
}

int lz_vfs_mkdir_shared(int dirfd, const char *path)
{
    return (int)RETRY(LZ_VFS_MKDIR, mkdirat(dirfd, path, 0777));
}

int lz_vfs_fstat(int fd, struct stat *st)
{
    return (int)RETRY(LZ_VFS_FSTAT, fstat(fd, st));
}

int lz_vfs_statat(int dirfd, const char *path, struct stat *st)
{
    return (int)RETRY(LZ_VFS_STATAT, fstatat(dirfd, path, st, AT_SYMLINK_NOFOLLOW));
}

ssize_t lz_vfs_pread(int fd, void *buf, size_t n, uint64_t offset)
{
    ssize_t r;
    do {
        lz_vfs_fault f = fault_of(LZ_VFS_READ);
        if (f.max_bytes && f.max_bytes < n)
            n = f.max_bytes;
        if (f.err)
            errno = f.err;
        r = f.err ? -1 : pread(fd, buf, n, (off_t)offset);
    } while (r < 0 && errno == EINTR);
    return r;
}

ssize_t lz_vfs_write(int fd, const void *buf, size_t n)
{
    ssize_t r;
    do {
        lz_vfs_fault f = fault_of(LZ_VFS_WRITE);
        if (f.max_bytes && f.max_bytes < n)
            n = f.max_bytes;
        if (f.err)
            errno = f.err;
        r = f.err && !f.after ? -1 : write(fd, buf, n);
        if (f.err) {
            errno = f.err;
            r = -1;
        }
    } while (r < 0 && errno == EINTR);
    return r;
}

int lz_vfs_datasync(int fd)
{
    return (int)RETRY(LZ_VFS_SYNC, fdatasync(fd));
}

int lz_vfs_sync(int fd)
{
    return (int)RETRY(LZ_VFS_SYNC, fsync(fd));
}

int lz_vfs_chmod(int fd, mode_t mode)
{
    return (int)RETRY(LZ_VFS_CHMOD, fchmod(fd, mode));
}

int lz_vfs_close(int fd)
{
    /* Linux drops the descriptor whatever close says, so EINTR is neither an error nor to be
     * retried; an injected failure must not leak the descriptor either. */
    lz_vfs_fault f = fault_of(LZ_VFS_CLOSE);
    int r = close(fd);
    if (f.err) {
        errno = f.err;
        r = -1;
    }
    return r < 0 && errno == EINTR ? 0 : r;
}

int lz_vfs_rename_new(int fromdir, const char *from, int todir, const char *to)
{
    return (int)RETRY(LZ_VFS_RENAME, renameat2(fromdir, from, todir, to, RENAME_NOREPLACE));
}

int lz_vfs_rename(int fromdir, const char *from, int todir, const char *to)
{
    return (int)RETRY(LZ_VFS_RENAME, renameat(fromdir, from, todir, to));
}

int lz_vfs_link(int fromdir, const char *from, int todir, const char *to)
{
    return (int)RETRY(LZ_VFS_LINK, linkat(fromdir, from, todir, to, 0));
}

int lz_vfs_unlink(int dirfd, const char *path, bool directory)
{
    return (int)RETRY(LZ_VFS_UNLINK, unlinkat(dirfd, path, directory ? AT_REMOVEDIR : 0));
}

int lz_vfs_touch(int fd, int64_t mtime_s)
{
    struct timespec t[2] = {{.tv_sec = (time_t)mtime_s}, {.tv_sec = (time_t)mtime_s}};
    return (int)RETRY(LZ_VFS_TOUCH, futimens(fd, t));
}

int lz_vfs_touch_at(int dirfd, const char *path, int64_t mtime_s)
{
    struct timespec t[2] = {{.tv_sec = (time_t)mtime_s}, {.tv_sec = (time_t)mtime_s}};
    return (int)RETRY(LZ_VFS_TOUCH, utimensat(dirfd, path, t, AT_SYMLINK_NOFOLLOW));
}

int lz_vfs_trylock(int fd)
{
    return (int)RETRY(LZ_VFS_LOCK, flock(fd, LOCK_EX | LOCK_NB));
}

int lz_vfs_unlock(int fd)
{
    return (int)RETRY(LZ_VFS_LOCK, flock(fd, LOCK_UN));
}

int lz_vfs_dup_onto(int fd, int target)
{
    return (int)RETRY(LZ_VFS_DUP, dup3(fd, target, O_CLOEXEC));
}

/* struct linux_dirent64 as the kernel documents it: inode, offset, length of the record, type,
 * name. */
enum { DIRENT_RECLEN = 16, DIRENT_NAME = 19 };

void lz_vfs_list_init(lz_vfs_list *l, int fd)
{
    l->fd = fd;
    l->err = 0;
    l->pos = l->len = 0;
}

const char *lz_vfs_list_next(lz_vfs_list *l)
{
    for (;;) {
        if (l->pos >= l->len) {
            long n = RETRY(LZ_VFS_LIST, syscall(SYS_getdents64, l->fd, l->buf, sizeof l->buf));
            if (n <= 0) {
                l->err = n < 0 ? errno : 0;
                return NULL;
            }
            l->pos = 0;
            l->len = (int)n;
        }
        const char *rec = l->buf + l->pos;
        uint16_t reclen;
        memcpy(&reclen, rec + DIRENT_RECLEN, sizeof reclen);
        if (reclen <= DIRENT_NAME || reclen > l->len - l->pos) {
            l->pos = l->len = 0; /* not a record we know: end the listing */
            l->err = EIO;
            return NULL;
        }
        l->pos += reclen;
        const char *name = rec + DIRENT_NAME;
        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
            return name;
    }
}
