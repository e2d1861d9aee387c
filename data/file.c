/* file.c - file access of the formats: mapped for reading; written atomically. */
#include "data/data_internal.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static lz_status system_status(int e)
{
    switch (e) {
    case ENOENT:
    case ENOTDIR:
        return LZ_ENOENT;
    case EACCES:
    case EPERM:
    case EROFS:
        return LZ_EPERM;
    case ENOMEM:
        return LZ_EMEM;
    default:
        return LZ_EIO;
    }
}

static lz_status map_fd(int fd, const char *path, lz_view *out)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return LZ_FAIL(system_status(errno), "%s: %m", path);
    if (!S_ISREG(st.st_mode))
        return LZ_FAIL(LZ_EINVAL, "%s is no regular file", path);
    if (st.st_size < 0 || (uint64_t)st.st_size > SIZE_MAX / 2)
        return LZ_FAIL(LZ_ERANGE, "%s has too many bytes to map", path);
    lz_holder *h = lz_calloc(1, sizeof *h);
    if (!h)
        return LZ_FAIL(LZ_EMEM, "%s: no memory", path);
    h->refs = 1;
    size_t n = (size_t)st.st_size;
    if (n) {
        void *p = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p == MAP_FAILED) {
            lz_free(h);
            return LZ_FAIL(system_status(errno), "%s: cannot be mapped: %m", path);
        }
        h->map = p;
        h->map_len = n;
    }
    *out = (lz_view){n ? h->map : (const uint8_t *)"", n, h};
    return LZ_OK;
}

lz_status lz_data_map(const char *path, lz_view *out)
{
    *out = (lz_view){0};
    /* O_NONBLOCK: opening a pipe must not wait for its other end */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return LZ_FAIL(system_status(errno), "%s: %m", path);
    lz_status s = map_fd(fd, path, out);
    close(fd);
    return s;
}

/* ---- writing ---- */

lz_status lz_outfile_begin(lz_outfile *f, const char *path)
{
    static _Atomic unsigned counter;
    size_t n = strlen(path) + 48;
    *f = (lz_outfile){.fd = -1, .path = path, .temporary = lz_alloc(n)};
    if (!f->temporary)
        return f->status = LZ_FAIL(LZ_EMEM, "%s: no memory", path);
    for (int tries = 0; tries < 100 && f->fd < 0; tries++) {
        snprintf(f->temporary, n, "%s.tmp-%ld-%u", path, (long)getpid(),
                 atomic_fetch_add(&counter, 1));
        f->fd = open(f->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (f->fd < 0 && errno != EEXIST)
            break;
    }
    if (f->fd < 0) {
        f->status = LZ_FAIL(system_status(errno), "%s: cannot be written: %m", path);
        lz_free(f->temporary);
        f->temporary = NULL;
    }
    return f->status;
}

void lz_outfile_put(lz_outfile *f, const void *p, size_t n)
{
    const char *at = p;
    while (n && f->status == LZ_OK) {
        ssize_t k = write(f->fd, at, n < (1u << 30) ? n : 1u << 30);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0) {
            f->status = LZ_FAIL(LZ_EIO, "%s: cannot be written: %m", f->path);
            break;
        }
        at += k;
        n -= (size_t)k;
        f->written += (size_t)k;
    }
}

void lz_outfile_pad(lz_outfile *f, size_t n)
{
    static const char zeros[64];
    for (; n; n -= n < sizeof zeros ? n : sizeof zeros)
        lz_outfile_put(f, zeros, n < sizeof zeros ? n : sizeof zeros);
}

/* The rename survives a crash only when the folder is synced too. Not every file system supports
 * that; the file itself is safe by then. */
static void sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *dir = slash ? lz_strdup(path) : NULL;
    if (slash && !dir)
        return;
    if (dir)
        dir[slash - path + 1] = '\0';
    int fd = open(dir ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    lz_free(dir);
    if (fd >= 0) {
        (void)!fsync(fd);
        close(fd);
    }
}

lz_status lz_outfile_end(lz_outfile *f, lz_status s)
{
    if (!f->temporary)
        return s != LZ_OK ? s : f->status;
    if (s == LZ_OK)
        s = f->status;
    if (s == LZ_OK && fsync(f->fd) != 0)
        s = LZ_FAIL(LZ_EIO, "%s: cannot be written: %m", f->path);
    if (close(f->fd) != 0 && s == LZ_OK)
        s = LZ_FAIL(LZ_EIO, "%s: cannot be written: %m", f->path);
    if (s == LZ_OK && rename(f->temporary, f->path) != 0)
        s = LZ_FAIL(system_status(errno), "%s: cannot be replaced: %m", f->path);
    if (s == LZ_OK)
        sync_folder(f->path);
    else
        unlink(f->temporary);
    lz_free(f->temporary);
    f->temporary = NULL;
    return s;
}
