/* map_file.c - files of the formats, mapped for reading. */
#include "base/file_io.h"
#include "data/data_internal.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

lz_status lz_data_map_fd(int fd, const char *path, lz_view *out)
{
    struct stat st;
    if (LZ_NO_EINTR(fstat(fd, &st)) != 0)
        return LZ_FAIL(lz_file_status(errno), "%s: %m", path);
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
            return LZ_FAIL(lz_file_status(errno), "%s: cannot be mapped: %m", path);
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
    int fd = lz_file_open(path, O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return LZ_FAIL(lz_file_status(errno), "%s: %m", path);
    lz_status s = lz_data_map_fd(fd, path, out);
    (void)lz_file_close(fd);
    return s;
}
