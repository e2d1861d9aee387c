/* store.c - see store.h. The order of a write: temporary file with O_EXCL, write all, (fdatasync,)
 * close, and only then the name, which is taken with a call that never replaces. So a name always
 * means a complete file, whenever the writer dies; who comes second keeps what it built itself, and
 * no writer ever reads back (on NFS a name just taken by another machine can be invisible for a
 * minute). */
#include "cache/store.h"
#include "base/alloc.h"
#include "base/file_io.h"
#include "cache/entry.h"
#include "cache/vfs.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define TAG "CACHEDIR.TAG"
static const char cachedir_tag[] =
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This directory holds compiled code of Lazuli. It may be deleted at any time.\n"
    "# For information about cache directory tags see https://bford.info/cachedir/\n";

/* ---- CACHEDIR.TAG: backup programs leave out what is below it, so it goes into no directory that
 *   others use ---- */

/* 0 or an errno. The descriptor is closed in any case. */
static int write_all(int fd, const uint8_t *p, size_t n, bool sync)
{
    int err = lz_vfs_chmod(fd, 0600) < 0
                  ? errno
                  : 0; /* the umask must not decide whether we can read it again */
    while (!err && n > 0) {
        ssize_t got = lz_vfs_write(fd, p, n);
        if (got < 0)
            err = errno;
        else if (got == 0)
            err = EIO;
        else {
            p += got;
            n -= (size_t)got;
        }
    }
    if (!err && sync && lz_vfs_datasync(fd) < 0)
        err = errno;
    if (lz_vfs_close(fd) < 0 && !err)
        err = errno;
    return err;
}

bool lz_store_is_tagged(const lz_store *s)
{
    char text[sizeof cachedir_tag]; /* one more than ours: a longer file is another's */
    size_t n = 0;
    ssize_t got = 0;
    struct stat st;
    int fd = lz_vfs_open(s->root, TAG, O_RDONLY | O_NONBLOCK, 0);
    if (fd < 0)
        return false;
    bool regular = lz_vfs_fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    while (regular && n < sizeof text && (got = lz_vfs_pread(fd, text + n, sizeof text - n, n)) > 0)
        n += (size_t)got;
    (void)lz_vfs_close(fd);
    return n == sizeof cachedir_tag - 1 && memcmp(text, cachedir_tag, n) == 0;
}

static void write_tag(lz_store *s)
{
    int saved = errno, fd = lz_vfs_open(s->root, TAG, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (fd >= 0)
        (void)write_all(fd, (const uint8_t *)cachedir_tag, sizeof cachedir_tag - 1, false);
    errno = saved;
}

/* Whether every name below an open directory, which is closed, is one of those. */
static bool only(int dir, bool (*known)(const char *name), int *budget)
{
    lz_vfs_list list;
    bool all = dir >= 0;
    lz_vfs_list_init(&list, dir);
    for (const char *name; all && (name = lz_vfs_list_next(&list)) != NULL;)
        all = known(name) && --*budget > 0;
    if (dir >= 0)
        (void)lz_vfs_close(dir);
    return all && !list.err;
}

/* A directory that the program was given and that has no tag: it gets one when there is nothing in
 * it but the cache's own. What is large is not looked through. */
static void tag_if_ours(lz_store *s)
{
    enum { LOOK_AT = 4096 };
    int saved = errno, budget = LOOK_AT;
    struct stat st; /* whoever's tag it is */
    if (atomic_exchange(&s->tagged, true) || lz_vfs_statat(s->root, TAG, &st) == 0)
        return;
    bool ours =
        only(lz_vfs_open(s->root, ".", O_RDONLY | O_DIRECTORY, 0), lz_store_is_part, &budget);
    for (int i = LZ_STORE_TMP; ours && i < LZ_STORE_SUBDIRS; i++) {
        int dir = lz_store_subdir(s, i, false);
        if (dir >= 0 || errno != ENOENT)
            ours = only(dir, i == LZ_STORE_TMP ? lz_store_is_temp : lz_store_is_entry, &budget);
    }
    if (ours)
        write_tag(s);
    errno = saved;
}

/* ---- opening ---- */

static lz_status check_trust(const char *path, const struct stat *st, const struct stat *parent)
{
    uid_t me = geteuid();
    if (!S_ISDIR(st->st_mode))
        return LZ_FAIL(LZ_EPERM, "%s is not a directory", path);
    if (st->st_uid != me && st->st_uid != 0)
        return LZ_FAIL(LZ_EPERM, "%s belongs to user %u, not to user %u", path,
                       (unsigned)st->st_uid, (unsigned)me);
    if (st->st_mode & (S_IWGRP | S_IWOTH))
        return LZ_FAIL(LZ_EPERM, "%s can be written by others (mode %04o); chmod go-w it", path,
                       (unsigned)(st->st_mode & 07777));
    if ((parent->st_mode & S_IWOTH) && !(parent->st_mode & S_ISVTX))
        return LZ_FAIL(LZ_EPERM,
                       "the parent of %s can be written by everybody (mode %04o, no sticky bit)",
                       path, (unsigned)(parent->st_mode & 07777));
    return LZ_OK;
}

/* A descriptor of the trusted directory `path` in *fd and its owner, or why not. *made: it is
 * new. */
static lz_status open_root(const char *path, bool create, int *fd, uid_t *owner, bool *made)
{
    *made = false;
    *fd = lz_vfs_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
    if (*fd < 0 && errno == ENOENT && create) {
        errno = lz_file_make_path(path, lz_vfs_mkdir, made);
        if (errno == 0)
            *fd = lz_vfs_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
    }
    struct stat st, parent;
    if (*fd < 0) {
        int err = errno;
        if ((err == ELOOP || err == ENOTDIR) && lz_vfs_statat(AT_FDCWD, path, &st) == 0)
            return LZ_FAIL(LZ_EPERM, "%s is %s, not a directory", path,
                           S_ISLNK(st.st_mode) ? "a symbolic link" : "something else");
        return LZ_FAIL(err == ENOENT ? LZ_ENOENT : LZ_EIO, "%s cannot be %s: %s", path,
                       create ? "opened or made" : "opened", strerrordesc_np(err));
    }
    lz_status rc = LZ_OK;
    if (lz_vfs_fstat(*fd, &st) < 0 || lz_vfs_statat(*fd, "..", &parent) < 0)
        rc = LZ_FAIL(LZ_EIO, "%s cannot be examined: %s", path, strerrordesc_np(errno));
    else
        rc = check_trust(path, &st, &parent);
    if (rc != LZ_OK) {
        (void)lz_vfs_close(*fd);
        *fd = -1;
        return rc;
    }
    *owner = st.st_uid;
    return LZ_OK;
}

lz_status lz_store_open(lz_store *s, const char *path, bool read_only, bool sync)
{
    memset(s, 0, sizeof *s);
    s->root = -1;
    s->path = lz_strdup(path);
    if (!s->path)
        return LZ_FAIL(LZ_EMEM, "persistent cache: no memory for its path");
    bool made;
    LZ_TRY(open_root(path, !read_only, &s->root, &s->owner, &made));
    if (made)
        write_tag(s);
    s->read_only = read_only || s->owner != geteuid();
    s->sync = sync;
    if (getrandom(&s->salt, sizeof s->salt, GRND_NONBLOCK) != (ssize_t)sizeof s->salt)
        s->salt = (uint64_t)lz_vfs_now() * 0x9e3779b97f4a7c15u ^
                  (uint64_t)getpid(); /* O_EXCL does the rest */
    return LZ_OK;
}

void lz_store_close(lz_store *s)
{
    if (s->root >= 0)
        (void)lz_vfs_close(s->root);
    s->root = -1;
    lz_free(s->path);
    s->path = NULL;
}

/* The directory was removed under us: make it again, behind the same descriptor number so that
 * other threads need no lock. Gives false when it was not removed, or cannot be made, or another
 * thread is at it. */
static bool reopen_root(lz_store *s)
{
    struct stat st;
    if (lz_vfs_fstat(s->root, &st) < 0 || st.st_nlink != 0)
        return false;
    int me = (int)getpid(), seen = atomic_load(&s->reopening);
    /* a pid that is not ours was inherited through fork: that thread does not exist here */
    if (seen == me || !atomic_compare_exchange_strong(&s->reopening, &seen, me))
        return false;
    int fd = -1;
    uid_t owner;
    bool ok = false, made = false;
    LZ_QUIETLY {
        ok = open_root(s->path, true, &fd, &owner, &made) == LZ_OK && owner == s->owner &&
             lz_vfs_dup_onto(fd, s->root) >= 0;
    }
    if (ok && made)
        write_tag(s);
    if (fd >= 0)
        (void)lz_vfs_close(fd);
    atomic_store(&s->reopening, 0);
    return ok;
}

/* ---- names ---- */

void lz_store_name(lz_hash digest, lz_cache_kind kind, int slot, char name[LZ_STORE_NAME_LEN])
{
    char hex[33];
    lz_hash_hex(digest, hex);
    memcpy(name, hex, 2);
    name[2] = '/';
    memcpy(name + 3, hex + 2, 30);
    name[33] = '.';
    name[34] = "?pkc"[kind];
    name[35] = slot ? (char)('0' + slot) : '\0';
    name[36] = '\0';
}

bool lz_store_is_entry(const char *s)
{
    if (strspn(s, "0123456789abcdef") != 30 || s[30] != '.' || !s[31] || !strchr("pkc", s[31]))
        return false;
    return s[32] == '\0' || (s[32] >= '1' && s[32] < '0' + LZ_STORE_SLOTS && s[33] == '\0');
}

/* "<pid>-<16 hex>-<number>", as temp_name makes them. */
bool lz_store_is_temp(const char *s)
{
    size_t pid = strspn(s, "0123456789");
    const char *salt = s + pid + 1, *n = salt + 17;
    return pid && s[pid] == '-' && strspn(salt, "0123456789abcdef") == 16 && salt[16] == '-' &&
           *n && n[strspn(n, "0123456789")] == '\0';
}

bool lz_store_is_part(const char *s)
{
    return strcmp(s, TAG) == 0 || strcmp(s, "lock") == 0 || strcmp(s, "tmp") == 0 ||
           (strspn(s, "0123456789abcdef") == 2 && s[2] == '\0');
}

static int subdir_index(const char *name)
{
    int hi = name[0] <= '9' ? name[0] - '0' : name[0] - 'a' + 10;
    int lo = name[1] <= '9' ? name[1] - '0' : name[1] - 'a' + 10;
    return hi * 16 + lo;
}

int lz_store_subdir(lz_store *s, int index, bool create)
{
    char name[8] = "tmp";
    if (index != LZ_STORE_TMP)
        (void)snprintf(name, sizeof name, "%02x", (unsigned)index & 0xff);
    int fd = lz_vfs_open(s->root, name, O_RDONLY | O_DIRECTORY, 0);
    if (fd >= 0 || !create || errno != ENOENT) /* a link or a file in its place: not ours */
        return fd;
    if (lz_vfs_mkdir(s->root, name) < 0 && errno != EEXIST)
        return -1;
    return lz_vfs_open(s->root, name, O_RDONLY | O_DIRECTORY, 0);
}

/* ---- reading ---- */

static const char *file_fault(const lz_store *s, const struct stat *st, uint64_t min_bytes,
                              uint64_t max_bytes)
{
    if (st->st_uid != geteuid() && st->st_uid != s->owner)
        return "belongs to another user";
    if (st->st_mode & (S_IWGRP | S_IWOTH))
        return "can be written by others";
    if (st->st_nlink > 1) /* 0: removed since we opened it, and still whole */
        return "has a second hard link";
    if ((uint64_t)st->st_size < min_bytes)
        return "shorter than any entry";
    if ((uint64_t)st->st_size > max_bytes)
        return "larger than any entry";
    return NULL;
}

/* Reads bytes [from, to) into f->bytes. */
static lz_store_result read_range(lz_store_file *f, size_t from, size_t to)
{
    while (from < to) {
        ssize_t got = lz_vfs_pread(f->fd, f->bytes + from, to - from, from);
        if (got < 0) {
            f->why = "cannot be read";
            return LZ_STORE_SKIP;
        }
        if (got == 0) {
            f->why = "ends early";
            return LZ_STORE_DAMAGED;
        }
        from += (size_t)got;
    }
    return LZ_STORE_OK;
}

static lz_store_result read_body(lz_store_file *f, uint64_t size, lz_store_probe probe)
{
    size_t head = f->n;
    if (head == size)
        return LZ_STORE_OK;
    if (probe && !probe(f->small, head, size, &f->why))
        return LZ_STORE_DAMAGED;
    uint8_t *all = lz_alloc((size_t)size);
    if (!all) {
        f->why = "no memory to read it";
        return LZ_STORE_SKIP;
    }
    memcpy(all, f->small, head);
    f->bytes = all;
    f->n = (size_t)size;
    return read_range(f, head, (size_t)size);
}

/* The first bytes, by which an entry is known for one. */
static lz_store_result read_head(lz_store_file *f, uint64_t size)
{
    f->bytes = f->small;
    f->n = size < LZ_STORE_SMALL ? (size_t)size : LZ_STORE_SMALL;
    lz_store_result r = read_range(f, 0, f->n);
    if (r != LZ_STORE_DAMAGED)
        return r;
    f->n = 0; /* it is being made shorter now */
    return LZ_STORE_SKIP;
}

/* An open regular file. */
static lz_store_result read_file(const lz_store *s, const struct stat *st, uint64_t min_bytes,
                                 uint64_t max_bytes, bool head_only, lz_store_probe probe,
                                 lz_store_file *f)
{
    lz_store_result r = read_head(f, (uint64_t)st->st_size);
    if (r != LZ_STORE_OK)
        return r;
    const char *fault = file_fault(s, st, min_bytes, max_bytes);
    f->why = fault ? fault : "";
    if (!fault && !head_only)
        r = read_body(f, (uint64_t)st->st_size, probe);
    if (!fault && r != LZ_STORE_DAMAGED)
        return r;
    if (!lz_entry_is_ours(f->small, f->n < LZ_STORE_SMALL ? f->n : LZ_STORE_SMALL,
                          (uint64_t)st->st_size))
        return LZ_STORE_OTHER;
    /* a writer on a file system without no-replace renames has two links for a moment: not damage
     * when so young */
    int64_t age = lz_vfs_now() - (int64_t)st->st_ctime;
    return fault && st->st_nlink == 2 && age > -60 && age < 60 ? LZ_STORE_SKIP : LZ_STORE_DAMAGED;
}

lz_store_result lz_store_read(lz_store *s, const char *name, uint64_t min_bytes, uint64_t max_bytes,
                              bool head_only, lz_store_probe probe, lz_store_file *f,
                              uint64_t *file_bytes)
{
    f->bytes = NULL;
    f->n = 0;
    f->dev = f->ino = 0;
    f->mtime_unix_s = 0;
    f->why = "";
    if (file_bytes)
        *file_bytes = 0;
    /* O_NONBLOCK: a FIFO put in an entry's place must not make us wait for its writer */
    f->fd = lz_vfs_open_below(s->root, name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (f->fd < 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return LZ_STORE_ABSENT;
        bool wrong_thing = errno == ELOOP || errno == ENXIO || errno == ENODEV || errno == EXDEV;
        f->why = wrong_thing ? "not a regular file" : "cannot be opened";
        return wrong_thing ? LZ_STORE_OTHER : LZ_STORE_SKIP;
    }
    struct stat st;
    if (lz_vfs_fstat(f->fd, &st) < 0) {
        f->why = "cannot be examined";
        return LZ_STORE_SKIP;
    }
    f->dev = (uint64_t)st.st_dev;
    f->ino = (uint64_t)st.st_ino;
    f->mtime_unix_s = (int64_t)st.st_mtime;
    if (file_bytes)
        *file_bytes = (uint64_t)st.st_size;
    if (!S_ISREG(st.st_mode)) {
        f->why = "not a regular file";
        return LZ_STORE_OTHER;
    }
    return read_file(s, &st, min_bytes, max_bytes, head_only, probe, f);
}

bool lz_store_holds_entry(int dir, const char *name, int *err)
{
    uint8_t head[LZ_ENTRY_HEADER_LEN];
    size_t n = 0;
    struct stat st;
    int fd = lz_vfs_open(dir, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    bool link = fd < 0 && (errno == ELOOP || errno == ENXIO || errno == ENODEV);
    *err = fd < 0 && !link ? errno : 0;
    if (fd < 0)
        return false;
    bool file = lz_vfs_fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    for (ssize_t got = 1; file && got > 0 && n<sizeof head; n += got> 0 ? (size_t)got : 0) {
        got = lz_vfs_pread(fd, head + n, sizeof head - n, n);
        if (got < 0)
            *err = errno;
    }
    (void)lz_vfs_close(fd);
    return file && !*err && lz_entry_is_ours(head, n, (uint64_t)st.st_size);
}

void lz_store_file_done(lz_store_file *f)
{
    if (f->fd >= 0)
        (void)lz_vfs_close(f->fd);
    f->fd = -1;
    if (f->bytes != f->small)
        lz_free(f->bytes);
    f->bytes = NULL;
}

/* ---- removing ---- */

void lz_store_remove(lz_store *s, const char *name, const lz_store_file *f)
{
    int dir = s->read_only ? -1 : lz_store_subdir(s, subdir_index(name), false);
    struct stat st;
    if (dir < 0)
        return;
    /* somebody may have removed and replaced it meanwhile: leave the new one (the window left costs
     * one recompilation) */
    if (lz_vfs_statat(dir, name + 3, &st) == 0 && (uint64_t)st.st_dev == f->dev &&
        (uint64_t)st.st_ino == f->ino)
        (void)lz_vfs_unlink(dir, name + 3, false);
    (void)lz_vfs_close(dir);
}

/* ---- writing ---- */

static void temp_name(lz_store *s, char name[64])
{
    uint64_t n = atomic_fetch_add(&s->next_temp, 1);
    (void)snprintf(name, 64, "%d-%016" PRIx64 "-%" PRIu64, (int)getpid(), s->salt, n);
}

/* A fresh file in tmp with the bytes. 0 or an errno; on error no file is left if it can be
 * helped. */
static int write_temp(lz_store *s, int tmp, const void *bytes, size_t n, char name[64])
{
    int fd = -1;
    for (int tries = 0; tries < 8 && fd < 0; tries++) {
        temp_name(s, name);
        fd = lz_vfs_open(tmp, name, O_WRONLY | O_CREAT | O_EXCL, 0600);
        if (fd < 0 && errno != EEXIST)
            return errno;
    }
    if (fd < 0)
        return EEXIST;
    int err = write_all(fd, bytes, n, s->sync);
    if (err)
        (void)lz_vfs_unlink(tmp, name, false);
    return err;
}

/* Gives the temporary file its name. 0 or an errno; the temporary name is gone afterwards. */
static int take_name(int tmp, const char *temp, int dir, const char *base)
{
    int err = lz_vfs_rename_new(tmp, temp, dir, base) < 0 ? errno : 0;
    if (!err)
        return 0;
    if (err == EINVAL || err == ENOSYS || err == ENOTSUP || err == EPERM) {
        /* NFS and others cannot rename without replacing; a hard link is the older way to say it */
        err = lz_vfs_link(tmp, temp, dir, base) < 0 ? errno : 0;
        struct stat st;
        if ((err == EPERM || err == ENOTSUP || err == ENOSYS || err == EMLINK || err == EINVAL) &&
            lz_vfs_statat(dir, base, &st) < 0 && errno == ENOENT) {
            /* no hard links either (FAT): whoever races with us here published the same entry */
            err = lz_vfs_rename(tmp, temp, dir, base) < 0 ? errno : 0;
            if (!err)
                return 0;
        }
    }
    (void)lz_vfs_unlink(tmp, temp, false);
    return err;
}

static int open_tmp(lz_store *s)
{
    int tmp = lz_store_subdir(s, LZ_STORE_TMP, true);
    if (tmp < 0 && errno == ENOENT) {
        if (!reopen_root(s)) {
            errno = ENOENT;
            return -1;
        }
        tmp = lz_store_subdir(s, LZ_STORE_TMP, true);
    }
    return tmp;
}

lz_store_result lz_store_publish(lz_store *s, const char *name, const void *bytes, size_t n,
                                 int *err)
{
    char temp[64];
    int tmp = open_tmp(s);
    if (tmp < 0) {
        *err = errno;
        return LZ_STORE_FAILED;
    }
    int dir = -1;
    *err = write_temp(s, tmp, bytes, n, temp);
    if (!*err) {
        dir = lz_store_subdir(s, subdir_index(name), true);
        *err = dir < 0 ? errno : take_name(tmp, temp, dir, name + 3);
        if (dir < 0)
            (void)lz_vfs_unlink(tmp, temp, false);
    }
    if (dir >= 0)
        (void)lz_vfs_close(dir);
    (void)lz_vfs_close(tmp);
    tag_if_ours(s);
    if (!*err)
        return LZ_STORE_OK;
    return *err == EEXIST && dir >= 0 ? LZ_STORE_EXISTS : LZ_STORE_FAILED;
}
