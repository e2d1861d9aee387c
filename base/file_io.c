/* file_io.c - see file_io.h. */
#include "base/file_io.h"
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

lz_status lz_file_status(int error)
{
    switch (error) {
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

int lz_file_open(const char *path, int flags)
{
    return LZ_NO_EINTR(open(path, O_RDONLY | O_CLOEXEC | flags));
}

ssize_t lz_file_read(int fd, void *p, size_t n)
{
    size_t have = 0;
    while (have < n) {
        size_t some = n - have < (1u << 30) ? n - have : 1u << 30;
        ssize_t k = LZ_NO_EINTR(read(fd, (char *)p + have, some));
        if (k < 0)
            return -1;
        if (k == 0)
            break;
        have += (size_t)k;
    }
    return (ssize_t)have;
}

int lz_file_close(int fd)
{
    return close(fd) == 0 || errno == EINTR ? 0 : errno;
}

/* Whether reading to the end of the file is sensible. */
static lz_status check_kind(int fd, const char *name)
{
    struct stat st;
    if (LZ_NO_EINTR(fstat(fd, &st)) != 0)
        return LZ_FAIL(lz_file_status(errno), "%s: %m", name);
    if (S_ISDIR(st.st_mode))
        return LZ_FAIL(LZ_EINVAL, "%s: cannot be read: it is a directory", name);
    if (S_ISCHR(st.st_mode) && st.st_rdev != makedev(1, 3) && !isatty(fd))
        return LZ_FAIL(LZ_EINVAL, "%s: cannot be read: it is a device, which may have no end",
                       name);
    return LZ_OK;
}

lz_status lz_file_slurp_fd(int fd, const char *name, size_t limit, lz_buf *out)
{
    char piece[16384];
    size_t before = out->len;
    ssize_t n = 0;
    LZ_TRY(check_kind(fd, name));
    while (out->len - before <= limit && !out->failed &&
           (n = LZ_NO_EINTR(read(fd, piece, sizeof piece))) > 0)
        lz_buf_put(out, piece, (size_t)n);
    if (n < 0)
        return LZ_FAIL(lz_file_status(errno), "%s: cannot be read: %m", name);
    if (out->failed)
        return LZ_FAIL(LZ_EMEM, "%s: no memory to read it", name);
    return out->len - before <= limit
               ? LZ_OK
               : LZ_FAIL(LZ_ERANGE, "%s: larger than %zu bytes", name, limit);
}

lz_status lz_file_slurp(const char *path, size_t limit, lz_buf *out)
{
    int fd = lz_file_open(path, 0);
    if (fd < 0)
        return LZ_FAIL(lz_file_status(errno), "%s: %m", path);
    lz_status s = lz_file_slurp_fd(fd, path, limit, out);
    (void)lz_file_close(fd);
    return s;
}

bool lz_file_text(const char *path, char *out, size_t n)
{
    int fd = lz_file_open(path, O_NONBLOCK);
    ssize_t k = fd < 0 ? -1 : lz_file_read(fd, out, n - 1);
    if (fd >= 0)
        (void)lz_file_close(fd);
    out[k > 0 ? k : 0] = '\0';
    return k > 0;
}

int lz_file_make_path(const char *path, lz_file_mkdir *make, bool *made)
{
    char part[PATH_MAX];
    size_t n = strlen(path);
    int first = 0, e = n ? 0 : ENOENT;
    *made = false;
    if (n >= sizeof part)
        return ENAMETOOLONG;
    while (n > 1 && path[n - 1] == '/')
        n--;
    memcpy(part, path, n);
    part[n] = '\0';
    for (size_t i = 1; i <= n; i++) {
        if (part[i] != '/' && part[i])
            continue;
        part[i] = '\0';
        e = make(AT_FDCWD, part) == 0 ? 0 : errno;
        part[i] = path[i];
        *made = !e;
        e = e == EEXIST || e == EISDIR ? 0 : e;
        first = first ? first : e;
    }
    return e && first ? first : e;
}

static int make_shared(int dirfd, const char *path)
{
    return mkdirat(dirfd, path, 0777);
}

lz_status lz_file_make_folders(const char *path)
{
    bool made;
    int e = lz_file_make_path(path, make_shared, &made);
    if (e == ENAMETOOLONG)
        return LZ_FAIL(LZ_EINVAL, "the path %.100s... is too long", path);
    return e ? LZ_FAIL(lz_file_status(e), "cannot make the folder %s: %s", path, strerrordesc_np(e))
             : LZ_OK;
}
