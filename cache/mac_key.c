/* mac_key.c - see mac_key.h. The file is checked on the descriptor that it is read from. A link is
 * followed, as secrets are mounted with them: what it leads to is checked. */
#include "cache/mac_key.h"
#include "cache/vfs.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* A change of what is signed, or how, takes another purpose. */
#define PURPOSE "lazuli 2026-11 persistent cache entries and packs"

static lz_status check(const char *path, const struct stat *st)
{
    if (!S_ISREG(st->st_mode))
        return LZ_FAIL(LZ_EINVAL, "the key file %s is not a regular file", path);
    if (st->st_uid != geteuid() && st->st_uid != 0)
        return LZ_FAIL(LZ_EINVAL, "the key file %s belongs to another user (uid %u)", path,
                       (unsigned)st->st_uid);
    if (st->st_mode & 077)
        return LZ_FAIL(LZ_EINVAL, "the key file %s is open to others (mode %04o); chmod go= it",
                       path, (unsigned)(st->st_mode & 07777));
    if (st->st_size < LZ_KEY_FILE_MIN || st->st_size > LZ_KEY_FILE_MAX)
        return LZ_FAIL(LZ_EINVAL, "the key file %s has %lld bytes, not %d to %d", path,
                       (long long)st->st_size, LZ_KEY_FILE_MIN, LZ_KEY_FILE_MAX);
    return LZ_OK;
}

static lz_status read_all(int fd, const char *path, size_t n, uint8_t *out)
{
    for (size_t at = 0; at < n;) {
        ssize_t got = lz_vfs_pread(fd, out + at, n - at, at);
        if (got <= 0)
            return LZ_FAIL(LZ_EINVAL, "the key file %s cannot be read: %s", path,
                           got < 0 ? strerrordesc_np(errno) : "it ends early");
        at += (size_t)got;
    }
    return LZ_OK;
}

lz_status lz_mac_key_read(const char *path, uint8_t key[LZ_MAC_KEY_LEN])
{
    uint8_t secret[LZ_KEY_FILE_MAX];
    struct stat st;
    int fd = lz_vfs_open_named(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return LZ_FAIL(LZ_EINVAL, "the key file %s cannot be opened: %s", path,
                       strerrordesc_np(errno));
    lz_status s = lz_vfs_fstat(fd, &st) < 0
                      ? LZ_FAIL(LZ_EINVAL, "the key file %s cannot be examined: %s", path,
                                strerrordesc_np(errno))
                      : check(path, &st);
    if (s == LZ_OK)
        s = read_all(fd, path, (size_t)st.st_size, secret);
    (void)lz_vfs_close(fd);
    if (s == LZ_OK)
        lz_mac_derive_key(PURPOSE, secret, (size_t)st.st_size, key);
    explicit_bzero(secret, sizeof secret);
    return s;
}
