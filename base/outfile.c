/* outfile.c - see outfile.h. */
#include "base/outfile.h"
#include "base/file_io.h"
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER_BYTES = 64 << 10, MOST_LINKS = 40 };

static lz_status refuse(const lz_outfile *f, int error)
{
    errno = error;
    return LZ_FAIL(lz_file_status(error), "%s: cannot be written: %m", f->path);
}

/* ---- where it goes ---- */

/* Bytes of the folder, with the slash behind it; 0: it is the present one. */
static size_t folder_len(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* A link under /proc is no name but an open file. */
static bool is_open_file(const char *link)
{
    struct statfs fs;
    int fd = lz_file_open(link, O_PATH | O_NOFOLLOW);
    bool is = fd >= 0 && LZ_NO_EINTR(fstatfs(fd, &fs)) == 0 && fs.f_type == PROC_SUPER_MAGIC;
    if (fd >= 0)
        (void)lz_file_close(fd);
    return is;
}

/* Follows the links that `at`, which has room for PATH_MAX bytes, ends in, also to where nothing is
 * yet. Gives 0 or an errno; *open_file: the end is no name. */
static int follow(char *at, bool *open_file)
{
    char to[PATH_MAX];
    struct stat st;
    for (int links = 0; links < MOST_LINKS; links++) {
        if (LZ_NO_EINTR(lstat(at, &st)) != 0)
            return errno == ENOENT ? 0 : errno;
        if (!S_ISLNK(st.st_mode))
            return 0;
        if ((*open_file = is_open_file(at)))
            return 0;
        ssize_t n = readlink(at, to, sizeof to - 1);
        if (n < 0)
            return errno;
        to[n] = '\0';
        size_t dir = *to == '/' ? 0 : folder_len(at);
        if (dir + (size_t)n >= PATH_MAX)
            return ENAMETOOLONG;
        memcpy(at + dir, to, (size_t)n + 1);
    }
    return ELOOP;
}

/* The program may change its folder before the file is whole. */
static void make_absolute(char *at)
{
    char here[PATH_MAX];
    if (*at == '/' || !getcwd(here, sizeof here - 1) || *here != '/')
        return;
    size_t n = strlen(here), len = strlen(at);
    if (n + 1 + len >= PATH_MAX)
        return;
    memmove(at + n + 1, at, len + 1);
    memcpy(at, here, n);
    at[n] = '/';
}

/* Looks at what is there. *stream: it is written into. */
static lz_status look(lz_outfile *f, char *at, bool *stream)
{
    size_t n = strlen(f->path);
    struct stat *st = &f->old;
    if (n >= PATH_MAX)
        return refuse(f, ENAMETOOLONG);
    memcpy(at, f->path, n + 1);
    if (LZ_NO_EINTR(stat(at, st)) == 0)
        f->replaces = true;
    else if (errno != ENOENT)
        return refuse(f, errno);
    if (f->replaces && S_ISDIR(st->st_mode))
        return LZ_FAIL(LZ_EINVAL, "%s is a directory", f->path);
    if (f->replaces && S_ISBLK(st->st_mode))
        return LZ_FAIL(LZ_EINVAL, "%s is a block device", f->path);
    if (!n || at[n - 1] == '/')
        return refuse(f, n ? EISDIR : ENOENT);
    *stream = f->replaces && !S_ISREG(st->st_mode);
    if (*stream)
        return LZ_OK;
    if (f->replaces && faccessat(AT_FDCWD, at, W_OK, AT_EACCESS) != 0)
        return refuse(f, errno);
    int e = follow(at, stream);
    if (e)
        return refuse(f, e);
    make_absolute(at);
    return LZ_OK;
}

/* ---- what it is written to ---- */

/* The mode and owners of the old file. A group that cannot be kept gets no rights that it had not
 * as one of the others. */
static int take_mode(const lz_outfile *f)
{
    mode_t mode = f->old.st_mode & 0777;
    bool kept = LZ_NO_EINTR(fchown(f->fd, f->old.st_uid, f->old.st_gid)) == 0 ||
                LZ_NO_EINTR(fchown(f->fd, (uid_t)-1, f->old.st_gid)) == 0;
    if (!kept)
        mode &= ~(mode_t)070 | (mode & 07) << 3;
    return LZ_NO_EINTR(fchmod(f->fd, mode)) == 0 ? 0 : errno;
}

static void discard(lz_outfile *f)
{
    if (f->fd >= 0)
        (void)lz_file_close(f->fd);
    f->fd = -1;
    if (f->temporary)
        (void)LZ_NO_EINTR(unlink(f->temporary));
    lz_free(f->temporary);
    f->temporary = NULL;
}

static void release(lz_outfile *f)
{
    lz_free(f->target);
    lz_free(f->temporary);
    lz_free(f->buffer);
    f->target = f->temporary = f->buffer = NULL;
}

/* A file beside the target. Its name is of the target's, but not much longer than that is. */
static lz_status open_temporary(lz_outfile *f)
{
    static _Atomic unsigned counter;
    enum { NAME = 100, MORE = 48 };
    size_t dir = folder_len(f->target), n = dir + NAME + MORE;
    f->temporary = lz_alloc(n);
    if (!f->temporary)
        return LZ_FAIL(LZ_EMEM, "%s: no memory", f->path);
    for (int tries = 0; tries < 100 && f->fd < 0; tries++) {
        snprintf(f->temporary, n, "%.*s%.*s.tmp-%ld-%u", (int)dir, f->target, NAME, f->target + dir,
                 (long)getpid(), atomic_fetch_add(&counter, 1));
        f->fd = LZ_NO_EINTR(
            open(f->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, f->replaces ? 0600 : 0666));
        if (f->fd < 0 && errno != EEXIST)
            break;
    }
    int e = f->fd < 0 ? errno : f->replaces ? take_mode(f) : 0;
    if (!e)
        return LZ_OK;
    if (f->fd < 0) {
        lz_free(f->temporary); /* nothing was made */
        f->temporary = NULL;
    }
    discard(f);
    return refuse(f, e);
}

/* Clears O_NONBLOCK, which was needed to open it only. */
static int make_blocking(int fd)
{
    int flags = LZ_NO_EINTR(fcntl(fd, F_GETFL));
    return flags >= 0 && LZ_NO_EINTR(fcntl(fd, F_SETFL, flags & ~O_NONBLOCK)) == 0 ? 0 : errno;
}

/* Opening must not wait for a pipe's reader. A plain file is an open one of the process: what was
 * written to it stays. */
static lz_status open_stream(lz_outfile *f)
{
    int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    f->fd = LZ_NO_EINTR(open(f->path, S_ISREG(f->old.st_mode) ? flags | O_APPEND : flags));
    if (f->fd < 0 && errno == ENXIO && S_ISFIFO(f->old.st_mode))
        return LZ_FAIL(LZ_EIO, "%s: cannot be written: nobody reads this pipe", f->path);
    int e = f->fd < 0 ? errno : make_blocking(f->fd);
    if (!e)
        return LZ_OK;
    discard(f);
    return refuse(f, e);
}

lz_status lz_outfile_begin(lz_outfile *f, const char *path, bool durable)
{
    char at[PATH_MAX];
    bool stream = false;
    *f = (lz_outfile){.fd = -1, .path = path, .durable = durable};
    f->status = look(f, at, &stream);
    if (f->status != LZ_OK)
        return f->status;
    f->buffer = lz_alloc(BUFFER_BYTES);
    f->target = stream ? NULL : lz_strdup(at);
    if (!f->buffer || (!stream && !f->target))
        f->status = LZ_FAIL(LZ_EMEM, "%s: no memory", path);
    else
        f->status = stream ? open_stream(f) : open_temporary(f);
    if (f->status != LZ_OK)
        release(f);
    return f->status;
}

void lz_outfile_forget(lz_outfile *f)
{
    if (f->fd >= 0)
        (void)lz_file_close(f->fd);
    release(f);
    *f = (lz_outfile){.fd = -1};
}

/* ---- writing ---- */

/* Writes all of it, at `where` (negative: in order): 0 or an errno. The signals of a pipe without a
 * reader and of a file at its limit would end the process; they come to the thread that writes,
 * which takes them back. */
static int write_all(int fd, const char *at, size_t n, int64_t where)
{
    static const struct timespec now;
    sigset_t ours, one, before, pending;
    int e = 0;
    sigemptyset(&ours);
    sigaddset(&ours, SIGPIPE);
    sigaddset(&ours, SIGXFSZ);
    sigpending(&pending);
    if (pthread_sigmask(SIG_BLOCK, &ours, &before) != 0)
        return EINVAL;
    while (n && !e) {
        size_t part = n < (1u << 30) ? n : 1u << 30;
        ssize_t k =
            where < 0 ? LZ_NO_EINTR(write(fd, at, part)) : LZ_NO_EINTR(pwrite(fd, at, part, where));
        if (k > 0) {
            at += k;
            n -= (size_t)k;
            where += where < 0 ? 0 : k;
        } else {
            e = k < 0 ? errno : EIO;
        }
    }
    int signal = e == EPIPE ? SIGPIPE : e == EFBIG ? SIGXFSZ : 0;
    if (signal && !sigismember(&pending, signal)) {
        sigemptyset(&one);
        sigaddset(&one, signal);
        (void)LZ_NO_EINTR(sigtimedwait(&one, NULL, &now));
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return e;
}

static void send(lz_outfile *f, const void *p, size_t n)
{
    int e = n && f->status == LZ_OK ? write_all(f->fd, p, n, -1) : 0;
    if (e)
        f->status = LZ_FAIL(LZ_EIO, "%s: cannot be written: %s", f->path, strerrordesc_np(e));
}

static void flush(lz_outfile *f)
{
    send(f, f->buffer, f->used);
    f->used = 0;
}

void lz_outfile_put(lz_outfile *f, const void *p, size_t n)
{
    if (f->status != LZ_OK || !n)
        return;
    f->written += n;
    if (n > BUFFER_BYTES - f->used) {
        flush(f);
        if (n >= BUFFER_BYTES) {
            send(f, p, n);
            return;
        }
    }
    memcpy(f->buffer + f->used, p, n);
    f->used += n;
}

void lz_outfile_pad(lz_outfile *f, size_t n)
{
    static const char zeros[64];
    for (; n; n -= n < sizeof zeros ? n : sizeof zeros)
        lz_outfile_put(f, zeros, n < sizeof zeros ? n : sizeof zeros);
}

/* The rename survives a crash only when the folder is synced too. Not every file system supports
 * that; the file itself is safe by then. */
static void sync_folder(char *path)
{
    path[folder_len(path)] = '\0';
    int fd = lz_file_open(*path ? path : ".", O_DIRECTORY);
    if (fd < 0)
        return;
    (void)!LZ_NO_EINTR(fsync(fd));
    (void)lz_file_close(fd);
}

static lz_status take_place(lz_outfile *f)
{
    if (LZ_NO_EINTR(rename(f->temporary, f->target)) != 0)
        return LZ_FAIL(lz_file_status(errno), "%s: cannot be replaced: %m", f->path);
    lz_free(f->temporary);
    f->temporary = NULL;
    return LZ_OK;
}

void lz_outfile_live(lz_outfile *f)
{
    f->live = true;
    if (f->target && f->status == LZ_OK)
        f->status = take_place(f);
}

void lz_outfile_extend(lz_outfile *f, const void *p, size_t n, size_t ntail, bool last)
{
    bool stream = !f->target;
    if (f->status != LZ_OK)
        return;
    int e = stream ? write_all(f->fd, p, last ? n : n - ntail, -1)
                   : write_all(f->fd, p, n, (int64_t)f->written);
    if (e)
        f->status = LZ_FAIL(LZ_EIO, "%s: cannot be written: %s", f->path, strerrordesc_np(e));
    else
        f->written += n - ntail;
}

void lz_outfile_go_on(lz_outfile *f)
{
    bool in_place = f->live && f->target && !f->temporary && f->fd >= 0;
    if (f->status != LZ_OK && in_place && LZ_NO_EINTR(ftruncate(f->fd, (off_t)f->written)) == 0)
        f->status = LZ_OK;
}

/* The file is whole: it takes its place, if it has not yet. */
static lz_status publish(lz_outfile *f)
{
    int e = f->durable && LZ_NO_EINTR(fsync(f->fd)) != 0 ? errno : 0, c = lz_file_close(f->fd);
    f->fd = -1;
    if (e || c)
        return LZ_FAIL(LZ_EIO, "%s: cannot be written: %s", f->path, strerrordesc_np(e ? e : c));
    if (!f->live)
        LZ_TRY(take_place(f));
    if (f->durable)
        sync_folder(f->target);
    return LZ_OK;
}

static lz_status close_stream(lz_outfile *f)
{
    int e = lz_file_close(f->fd);
    f->fd = -1;
    return e ? LZ_FAIL(LZ_EIO, "%s: cannot be written: %s", f->path, strerrordesc_np(e)) : LZ_OK;
}

lz_status lz_outfile_end(lz_outfile *f, lz_status s)
{
    if (f->fd >= 0 && s == LZ_OK)
        flush(f);
    if (s == LZ_OK)
        s = f->status;
    if (f->fd >= 0 && s == LZ_OK)
        s = f->target ? publish(f) : close_stream(f);
    discard(f);
    release(f);
    return s;
}

lz_status lz_outfile_write(const char *path, const void *p, size_t n, bool durable)
{
    lz_outfile f;
    LZ_TRY(lz_outfile_begin(&f, path, durable));
    lz_outfile_put(&f, p, n);
    return lz_outfile_end(&f, LZ_OK);
}

int lz_file_append(const char *path, const void *p, size_t n, bool own)
{
    struct stat st;
    int fd = LZ_NO_EINTR(open(path,
                              O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK |
                                  (own ? O_NOFOLLOW : 0),
                              own ? 0644 : 0666));
    if (fd < 0)
        return errno;
    int e = LZ_NO_EINTR(fstat(fd, &st)) != 0 ? errno : 0;
    if (!e && (S_ISBLK(st.st_mode) || (own && (!S_ISREG(st.st_mode) || st.st_uid != geteuid()))))
        e = EPERM;
    if (!e)
        e = make_blocking(fd);
    if (!e)
        e = write_all(fd, p, n, -1);
    int c = lz_file_close(fd);
    return e ? e : c;
}
