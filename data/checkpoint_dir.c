/* checkpoint_dir.c - see checkpoint_dir.h. Every call that touches the disk is one of cache/vfs.h,
 * so that a test can make each of them fail, or end the process at it. */
#include "data/checkpoint_dir.h"
#include "base/file_io.h"
#include "base/text.h"
#include "cache/vfs.h"
#include "data/checkpoint_manifest.h"
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In a folder that is being written: its first file and its last to go. */
static const char marker[] = "being-written", marker_text[] = "lazuli.checkpoint\n";
static const char manifest[] = "manifest.json";
static const char step_prefix[] = "step_";

static lz_status failed(const char *path, const char *name, const char *what)
{
    return LZ_FAIL(errno == EEXIST || errno == ENOTEMPTY ? LZ_EEXIST : lz_file_status(errno),
                   "%s/%s: %s: %m", path, name, what);
}

/* ---- the folder ---- */

lz_status lz_ckpt_dir_open(const char *path, bool create, lz_ckpt_dir *out)
{
    char at[PATH_MAX + 2];
    *out = (lz_ckpt_dir){-1, path};
    if (!*path || strlen(path) >= PATH_MAX)
        return LZ_FAIL(LZ_EINVAL, "the path of the checkpoints has %zu bytes", strlen(path));
    snprintf(at, sizeof at, "%s/.", path); /* DIR itself may be a link */
    out->fd = lz_vfs_open(AT_FDCWD, at, O_RDONLY | O_DIRECTORY, 0);
    if (out->fd < 0 && errno == ENOENT && create) {
        bool made;
        int e = lz_file_make_path(path, lz_vfs_mkdir_shared, &made);
        if (e)
            return LZ_FAIL(lz_file_status(e), "%s: cannot be made: %s", path, strerrordesc_np(e));
        out->fd = lz_vfs_open(AT_FDCWD, at, O_RDONLY | O_DIRECTORY, 0);
    }
    return out->fd < 0 ? LZ_FAIL(lz_file_status(errno), "%s: %m", path) : LZ_OK;
}

void lz_ckpt_dir_close(lz_ckpt_dir *d)
{
    if (d->fd >= 0)
        (void)lz_vfs_close(d->fd);
    d->fd = -1;
}

/* ---- names ---- */

const char *lz_ckpt_step_name(int64_t step, char name[LZ_CKPT_NAME])
{
    snprintf(name, LZ_CKPT_NAME, "%s%" PRId64, step_prefix, step);
    return name;
}

/* The number that s begins with, of 0 to INT64_MAX, written as we write it: its digits. 0: none. */
static size_t step_digits(const char *s, int64_t *out)
{
    uint64_t v;
    size_t n = lz_text_digits(s, strnlen(s, 24), &v);
    if (!n || v > INT64_MAX || (n > 1 && *s == '0'))
        return 0;
    *out = (int64_t)v;
    return n;
}

static bool is_step(const char *name, int64_t *step)
{
    size_t skip = sizeof step_prefix - 1, n;
    return strncmp(name, step_prefix, skip) == 0 && (n = step_digits(name + skip, step)) != 0 &&
           !name[skip + n];
}

/* .step_N.tmp-PID-SALT or .step_N.old-PID-SALT */
static bool is_leftover(const char *name)
{
    int64_t number;
    size_t n;
    if (*name != '.' || strncmp(name + 1, step_prefix, sizeof step_prefix - 1) != 0)
        return false;
    const char *at = name + sizeof step_prefix;
    if (!(n = step_digits(at, &number)))
        return false;
    at += n;
    if (strncmp(at, ".tmp-", 5) != 0 && strncmp(at, ".old-", 5) != 0)
        return false;
    if (!(n = step_digits(at + 5, &number)) || at[5 + n] != '-')
        return false;
    at += 6 + n;
    return strlen(at) == 16 && strspn(at, "0123456789abcdef") == 16;
}

/* A name that nobody has. */
static void hidden_name(int64_t step, const char *kind, char name[LZ_CKPT_NAME])
{
    static _Atomic uint64_t counter;
    struct {
        int64_t now, pid;
        uint64_t count;
        const void *here;
    } seed = {lz_vfs_now(), getpid(), atomic_fetch_add(&counter, 1), name};
    snprintf(name, LZ_CKPT_NAME, ".%s%" PRId64 ".%s-%ld-%016" PRIx64, step_prefix, step, kind,
             (long)getpid(), lz_hash_bytes(&seed, sizeof seed).lo);
}

static int ascending(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

/* A listing of the folder that does not move the position of its descriptor. */
static int reopen(int fd, const char *where)
{
    int own = lz_vfs_open(fd, ".", O_RDONLY | O_DIRECTORY, 0);
    if (own < 0)
        (void)LZ_FAIL(lz_file_status(errno), "%s: %m", where);
    return own;
}

lz_status lz_ckpt_dir_steps(const lz_ckpt_dir *d, lz_ckpt_steps *out, char strange[LZ_CKPT_STRANGE])
{
    lz_vfs_list l;
    lz_status s = LZ_OK;
    int fd = reopen(d->fd, d->path);
    out->len = 0;
    *strange = '\0';
    if (fd < 0)
        return lz_error_get()->status;
    lz_vfs_list_init(&l, fd);
    for (const char *name; s == LZ_OK && (name = lz_vfs_list_next(&l)) != NULL;) {
        int64_t step;
        struct stat st;
        if (strncmp(name, step_prefix, sizeof step_prefix - 1) != 0)
            continue;
        if (is_step(name, &step) && lz_vfs_statat(d->fd, name, &st) == 0 && S_ISDIR(st.st_mode))
            s = lz_vec_push(out, step);
        else if (!*strange)
            snprintf(strange, LZ_CKPT_STRANGE, "%.60s", name);
    }
    (void)lz_vfs_close(fd);
    if (s != LZ_OK)
        return LZ_FAIL(LZ_EMEM, "%s: no memory for the steps", d->path);
    if (l.err) /* steps that were not listed are not none */
        return LZ_FAIL(lz_file_status(l.err), "%s: cannot be listed: %s", d->path,
                       strerrordesc_np(l.err));
    if (out->len)
        qsort(out->data, out->len, sizeof *out->data, ascending);
    return LZ_OK;
}

lz_status lz_ckpt_dir_has(const lz_ckpt_dir *d, int64_t step, bool *has)
{
    char name[LZ_CKPT_NAME];
    struct stat st;
    *has = lz_vfs_statat(d->fd, lz_ckpt_step_name(step, name), &st) == 0;
    return *has || errno == ENOENT ? LZ_OK : failed(d->path, name, "cannot be looked at");
}

int lz_ckpt_dir_open_step(const lz_ckpt_dir *d, int64_t step)
{
    char name[LZ_CKPT_NAME];
    int fd = lz_vfs_open(d->fd, lz_ckpt_step_name(step, name), O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        (void)failed(d->path, name, "cannot be opened");
    return fd;
}

int lz_ckpt_open_file(int fd, const char *name, const char *where)
{
    struct stat st;
    int f = lz_vfs_open(fd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    if (f < 0) {
        (void)failed(where, name, "cannot be opened");
        return -1;
    }
    if (lz_vfs_fstat(f, &st) == 0 && S_ISREG(st.st_mode))
        return f;
    (void)lz_vfs_close(f);
    (void)LZ_FAIL(LZ_ECORRUPT, "%s/%s: no regular file", where, name);
    return -1;
}

/* ---- what is ours ---- */

/* The file begins with this text; cut: or is the beginning of it, as of a process that was killed
 * when it wrote it. */
static bool begins_with(int fd, const char *name, const char *text, bool cut)
{
    char have[64];
    size_t n = strlen(text), got = 0;
    int f = lz_vfs_open(fd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    if (f < 0)
        return false;
    for (ssize_t k; got < n && (k = lz_vfs_pread(f, have + got, n - got, got)) > 0;)
        got += (size_t)k;
    (void)lz_vfs_close(f);
    return (cut || got == n) && memcmp(have, text, got) == 0;
}

/* Whether a folder is this user's, holds nothing but files that we make, and says that it is ours:
 * or nothing at all. */
static bool is_ours(int fd)
{
    lz_vfs_list l;
    struct stat st;
    bool ours = true, empty = true, head = false;
    uint32_t rank;
    int own =
        lz_vfs_fstat(fd, &st) == 0 && st.st_uid == geteuid() ? reopen(fd, "a checkpoint") : -1;
    if (own < 0)
        return false;
    lz_vfs_list_init(&l, own);
    for (const char *name; ours && (name = lz_vfs_list_next(&l)) != NULL; empty = false) {
        ours = lz_vfs_statat(fd, name, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
               (strcmp(name, marker) == 0 || strcmp(name, manifest) == 0 ||
                lz_rank_file_parse(name, &rank));
        head |= ours && strcmp(name, marker) == 0 && begins_with(fd, name, marker_text, true);
        head |=
            ours && strcmp(name, manifest) == 0 && begins_with(fd, name, LZ_MANIFEST_HEAD, false);
    }
    (void)lz_vfs_close(own);
    return ours && !l.err && (empty || head);
}

/* Empties a folder that is ours. The file that says so goes last, or what is left would be
 * nobody's. */
static void empty(int fd)
{
    lz_vfs_list l;
    uint32_t rank;
    int own = reopen(fd, "a checkpoint");
    if (own >= 0) {
        lz_vfs_list_init(&l, own);
        for (const char *name; (name = lz_vfs_list_next(&l)) != NULL;)
            if (lz_rank_file_parse(name, &rank))
                (void)lz_vfs_unlink(fd, name, false);
        (void)lz_vfs_close(own);
    }
    (void)lz_vfs_unlink(fd, manifest, false);
    (void)lz_vfs_unlink(fd, marker, false);
}

int lz_ckpt_dir_sweep(const lz_ckpt_dir *d)
{
    lz_vfs_list l;
    int swept = 0, own = reopen(d->fd, d->path);
    if (own < 0)
        return 0;
    lz_vfs_list_init(&l, own);
    for (const char *name; (name = lz_vfs_list_next(&l)) != NULL;) {
        int fd = is_leftover(name) ? lz_vfs_open(d->fd, name, O_RDONLY | O_DIRECTORY, 0) : -1;
        if (fd < 0)
            continue;
        if (lz_vfs_trylock(fd) == 0 && is_ours(fd)) { /* else its process lives */
            empty(fd);
            swept += lz_vfs_unlink(d->fd, name, true) == 0;
        }
        (void)lz_vfs_close(fd);
    }
    (void)lz_vfs_close(own);
    return swept;
}

/* ---- writing ---- */

int lz_ckpt_write_all(int fd, const void *p, size_t n)
{
    const char *at = p;
    while (n) {
        ssize_t k = lz_vfs_write(fd, at, n < (1u << 30) ? n : 1u << 30);
        if (k <= 0)
            return k < 0 ? errno : EIO;
        at += k;
        n -= (size_t)k;
    }
    return 0;
}

static lz_status put_marker(lz_ckpt_stage *s)
{
    int f = lz_ckpt_stage_file(s, marker);
    if (f < 0)
        return lz_error_get()->status;
    int e = lz_ckpt_write_all(f, marker_text, sizeof marker_text - 1);
    if (lz_vfs_close(f) < 0 && !e)
        e = errno;
    errno = e;
    return e ? failed(s->dir->path, s->name, "cannot be written") : LZ_OK;
}

/* Makes the folder and locks it. *again: it was swept in between, as it was not locked yet. */
static lz_status make_stage(lz_ckpt_stage *s, bool *again)
{
    struct stat st;
    *again = false;
    hidden_name(s->step, "tmp", s->name);
    if (lz_vfs_mkdir_shared(s->dir->fd, s->name) < 0) {
        *again = errno == EEXIST;
        return failed(s->dir->path, s->name, "cannot be made");
    }
    s->fd = lz_vfs_open(s->dir->fd, s->name, O_RDONLY | O_DIRECTORY, 0);
    if (s->fd < 0) {
        *again = errno == ENOENT;
        lz_status e = failed(s->dir->path, s->name, "cannot be opened");
        (void)lz_vfs_unlink(s->dir->fd, s->name, true);
        return e;
    }
    /* a file system that knows no locks: nobody sweeps there either */
    *again = (lz_vfs_trylock(s->fd) < 0 && errno == EWOULDBLOCK) ||
             (lz_vfs_statat(s->dir->fd, s->name, &st) < 0 && errno == ENOENT);
    lz_status e =
        *again ? LZ_FAIL(LZ_EIO, "%s/%s: was taken away", s->dir->path, s->name) : put_marker(s);
    if (e == LZ_OK)
        return e;
    empty(s->fd);
    (void)lz_vfs_close(s->fd);
    s->fd = -1;
    (void)lz_vfs_unlink(s->dir->fd, s->name, true);
    return e;
}

lz_status lz_ckpt_stage_begin(lz_ckpt_stage *s, const lz_ckpt_dir *d, int64_t step)
{
    char name[LZ_CKPT_NAME];
    bool has;
    *s = (lz_ckpt_stage){.dir = d, .step = step, .fd = -1};
    LZ_TRY(lz_ckpt_dir_has(d, step, &has));
    if (has)
        return LZ_FAIL(LZ_EEXIST, "%s/%s is there already", d->path, lz_ckpt_step_name(step, name));
    return lz_ckpt_stage_begin_part(s, d, step);
}

lz_status lz_ckpt_stage_begin_part(lz_ckpt_stage *s, const lz_ckpt_dir *d, int64_t step)
{
    bool again = true;
    lz_status e = LZ_EIO;
    *s = (lz_ckpt_stage){.dir = d, .step = step, .fd = -1};
    for (int tries = 0; tries < 16 && again; tries++)
        e = make_stage(s, &again);
    return e;
}

int lz_ckpt_stage_file(lz_ckpt_stage *s, const char *name)
{
    int f = lz_vfs_open(s->fd, name, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (f < 0)
        (void)failed(s->dir->path, name, "cannot be made");
    return f;
}

lz_status lz_ckpt_stage_adopt(lz_ckpt_stage *s, const char *stage, const char *file,
                              uint64_t nbytes)
{
    const lz_ckpt_dir *d = s->dir;
    struct stat st;
    if (!is_leftover(stage))
        return LZ_FAIL(LZ_EPARSE, "%s: \"%.60s\" is no folder of a checkpoint", d->path, stage);
    int from = lz_vfs_open(d->fd, stage, O_RDONLY | O_DIRECTORY, 0);
    if (from < 0)
        return LZ_FAIL(lz_file_status(errno),
                       "%s/%s: cannot be opened, where another process has written %s: do all "
                       "processes see one folder? %m",
                       d->path, stage, file);
    lz_status e = LZ_OK;
    if (lz_vfs_statat(from, file, &st) < 0)
        e = failed(d->path, stage, "has no file of its process");
    else if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size != nbytes)
        e = LZ_FAIL(LZ_EIO, "%s/%s/%s: is not what its process has written", d->path, stage, file);
    else if (lz_vfs_rename(from, file, s->fd, file) < 0) /* nobody else writes into this stage */
        e = failed(d->path, file, "cannot be moved");
    (void)lz_vfs_close(from);
    return e;
}

/* Not every file system syncs folders: what it cannot do is no failure. */
static int sync_dir(int fd)
{
    return lz_vfs_sync(fd) < 0 && errno != EINVAL && errno != ENOTSUP && errno != EBADF ? errno : 0;
}

static lz_status publish(lz_ckpt_stage *s)
{
    char name[LZ_CKPT_NAME];
    const lz_ckpt_dir *d = s->dir;
    lz_ckpt_step_name(s->step, name);
    if (lz_vfs_unlink(s->fd, marker, false) < 0)
        return failed(d->path, s->name, "cannot be completed");
    int e = sync_dir(s->fd);
    errno = e;
    if (e)
        return failed(d->path, s->name, "cannot be synced");
    /* a folder that is not empty is never replaced, so of two processes one is first */
    if (lz_vfs_rename(d->fd, s->name, d->fd, name) < 0)
        return failed(d->path, name, "cannot be published");
    e = sync_dir(d->fd);
    if (!e)
        return LZ_OK;
    /* it may not survive a crash of the machine, so it is not there; or else whole */
    if (lz_vfs_rename(d->fd, name, d->fd, s->name) < 0) {
        (void)lz_vfs_close(s->fd);
        s->fd = -1;
    }
    errno = e;
    return failed(d->path, name, "cannot be synced");
}

lz_status lz_ckpt_stage_end(lz_ckpt_stage *s, lz_status st)
{
    if (s->fd < 0)
        return st;
    if (st == LZ_OK)
        st = publish(s);
    if (s->fd < 0)
        return st;
    if (st != LZ_OK) {
        lz_ckpt_stage_drop(s);
        return st;
    }
    (void)lz_vfs_close(s->fd);
    s->fd = -1;
    return st;
}

void lz_ckpt_stage_drop(lz_ckpt_stage *s)
{
    if (s->fd < 0)
        return;
    empty(s->fd);
    (void)lz_vfs_unlink(s->dir->fd, s->name, true);
    (void)lz_vfs_close(s->fd);
    s->fd = -1;
}

/* ---- removing ---- */

lz_status lz_ckpt_dir_remove(const lz_ckpt_dir *d, int64_t step)
{
    char name[LZ_CKPT_NAME], hidden[LZ_CKPT_NAME];
    int fd = lz_vfs_open(d->fd, lz_ckpt_step_name(step, name), O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return errno == ENOENT ? LZ_OK : failed(d->path, name, "cannot be opened");
    lz_status s = LZ_OK;
    if (!is_ours(fd))
        s = LZ_FAIL(LZ_ESTATE,
                    "%s/%s stays: it has files that are no checkpoint's, or is another "
                    "user's",
                    d->path, name);
    (void)lz_vfs_trylock(fd); /* nobody sweeps it at the same time */
    hidden_name(step, "old", hidden);
    if (s == LZ_OK && lz_vfs_rename(d->fd, name, d->fd, hidden) < 0)
        s = errno == ENOENT ? LZ_OK : failed(d->path, name, "cannot be removed");
    else if (s == LZ_OK) {
        empty(fd);
        if (lz_vfs_unlink(d->fd, hidden, true) < 0)
            s = failed(d->path, hidden, "cannot be removed");
    }
    (void)lz_vfs_close(fd);
    return s;
}
