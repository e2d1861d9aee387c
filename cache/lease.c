/* lease.c - see lease.h. Any trouble with a lease's file (no space, no permission, something else
 * in its place) means that there is none: the caller compiles. */
#include "cache/lease.h"
#include "base/log.h"
#include "base/text.h"
#include "base/thread.h"
#include "cache/cache_impl.h"
#include "cache/vfs.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { POLL_MIN_NS = 500000, POLL_MAX_NS = 20000000, RENEW_NS = 1000000000 };
#define SUFFIX ".lease"

/* ---- who we are ---- */

/* The first line of a file of /proc; "" when it cannot be read. */
static void read_line(const char *path, char *line, size_t n)
{
    int fd = lz_vfs_open(AT_FDCWD, path, O_RDONLY | O_NONBLOCK, 0);
    ssize_t got = fd < 0 ? -1 : lz_vfs_pread(fd, line, n - 1, 0);
    if (fd >= 0)
        (void)lz_vfs_close(fd);
    line[got > 0 ? got : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
}

/* State and start time (clock ticks after boot) of a process. False: not known. */
static bool process_of(int pid, char *state, uint64_t *start)
{
    char path[40], line[512];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
    read_line(path, line, sizeof line);
    /* "pid (name) state ppid ...": the name may hold anything; the start is the 22nd field */
    const char *p = strrchr(line, ')');
    if (!p || p[1] != ' ' || !p[2])
        return false;
    *state = p[2];
    p++;
    for (int field = 3; field < 22 && p; field++)
        p = strchr(p + 1, ' ');
    return p && lz_text_digits(p + 1, strlen(p + 1), start) > 0;
}

/* Where processes have the numbers that this one sees: "<boot id> <PID namespace>". */
static void place(char out[64])
{
    char boot[40];
    struct stat st;
    read_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    boot[strcspn(boot, " ")] = '\0';
    bool known = boot[0] && stat("/proc/self/ns/pid", &st) == 0;
    (void)snprintf(out, 64, "%.36s %" PRIx64, known ? boot : "-",
                   known ? (uint64_t)st.st_ino : (uint64_t)0);
}

static void make_token(lz_lease_table *t, char token[LZ_LEASE_TOKEN_LEN])
{
    if (!t->self[0]) {
        char where[64], state;
        uint64_t start = 0;
        place(where);
        (void)process_of(t->pid, &state, &start);
        (void)snprintf(t->self, sizeof t->self, "%s %d %" PRIu64, where, t->pid, start);
    }
    t->rng = t->rng * 6364136223846793005u + 1442695040888963407u;
    (void)snprintf(token, LZ_LEASE_TOKEN_LEN, "%.110s %016" PRIx64, t->self, t->rng);
}

/* Whether the holder is known to do nothing more for it: dead or stopped, on this machine. */
static bool is_gone(const char *token)
{
    char mine[64], state;
    uint64_t pid, start, now;
    place(mine);
    size_t n = strlen(mine);
    if (mine[0] == '-' || strncmp(token, mine, n) != 0 || token[n] != ' ')
        return false;
    const char *p = token + n + 1;
    size_t digits = lz_text_digits(p, strlen(p), &pid);
    if (!digits || p[digits] != ' ' || pid < 1 || pid > INT_MAX)
        return false;
    p += digits + 1;
    if (!lz_text_digits(p, strlen(p), &start))
        return false;
    if (kill((pid_t)pid, 0) < 0 && errno == ESRCH)
        return true;
    if (!process_of((int)pid, &state, &now))
        return false;
    return (start && now != start) || strchr("TtZX", state) != NULL;
}

/* ---- the file ---- */

static void name_of(const lz_cache *c, lz_cache_kind kind, const void *key, size_t nkey,
                    char name[LZ_LEASE_NAME_LEN])
{
    char hex[33];
    lz_hash_hex(lz_hash_seeded(nkey ? key : "", nkey, c->seed[kind]), hex);
    (void)snprintf(name, LZ_LEASE_NAME_LEN, "%s.%c" SUFFIX, hex, "?pkc"[kind]);
}

bool lz_lease_is_name(const char *s)
{
    return strspn(s, "0123456789abcdef") == 32 && s[32] == '.' && s[33] && strchr("pkc", s[33]) &&
           strcmp(s + 34, SUFFIX) == 0;
}

/* What a lease's file is at a moment: a holder changes it when it renews it. */
typedef struct sight {
    uint64_t ino;
    int64_t s, ns;
    char token[LZ_LEASE_TOKEN_LEN];
} sight;

/* 0, ENOENT, or another errno for something that is no lease. */
static int look(int tmp, const char *name, sight *out)
{
    struct stat st;
    memset(out, 0, sizeof *out);
    int fd = lz_vfs_open(tmp, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0)
        return errno;
    int err = lz_vfs_fstat(fd, &st) < 0 ? errno : S_ISREG(st.st_mode) ? 0 : EINVAL;
    ssize_t got = err ? 0 : lz_vfs_pread(fd, out->token, sizeof out->token - 1, 0);
    if (got < 0)
        err = errno == ESTALE ? ENOENT : errno;
    (void)lz_vfs_close(fd);
    out->token[got > 0 ? got : 0] = '\0';
    out->ino = err ? 0 : (uint64_t)st.st_ino;
    out->s = err ? 0 : (int64_t)st.st_mtim.tv_sec;
    out->ns = err ? 0 : (int64_t)st.st_mtim.tv_nsec;
    return err;
}

static bool is_same(const sight *a, const sight *b)
{
    return a->ino == b->ino && a->s == b->s && a->ns == b->ns && strcmp(a->token, b->token) == 0;
}

/* 0 or an errno. A file that is not whole has a holder nobody knows, who is given up in time. */
static int create(int tmp, const char *name, const char *token)
{
    int fd = lz_vfs_open(tmp, name, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (fd < 0)
        return errno;
    size_t n = strlen(token);
    int err = lz_vfs_chmod(fd, 0600) < 0 || lz_vfs_write(fd, token, n) != (ssize_t)n ? EIO : 0;
    if (lz_vfs_close(fd) < 0)
        err = EIO;
    if (err)
        (void)lz_vfs_unlink(tmp, name, false);
    return err;
}

/* Takes a lease that was given up away from its place. Only one of those who try can rename it; one
 * who comes so late that it gets another's new lease puts that back. */
static bool remove_given_up(lz_store *s, int tmp, const char *name, const sight *seen)
{
    char aside[64];
    sight got;
    (void)snprintf(aside, sizeof aside, "%d-%016" PRIx64 "-%" PRIu64, (int)getpid(), s->salt,
                   atomic_fetch_add(&s->next_temp, 1));
    if (lz_vfs_rename(tmp, name, tmp, aside) < 0)
        return false;
    bool right = look(tmp, aside, &got) == 0 && strcmp(got.token, seen->token) == 0;
    if (right || lz_vfs_rename_new(tmp, aside, tmp, name) < 0) {
        if (!right && errno != EEXIST) /* no such rename here */
            (void)lz_vfs_link(tmp, aside, tmp, name);
        (void)lz_vfs_unlink(tmp, aside, false);
    }
    return right;
}

/* ---- the table of those held ---- */

void lz_lease_init(lz_lease_table *t, int64_t bound_ns, uint64_t salt)
{
    lz_mutex_init(&t->lock, "cache leases");
    t->pid = (int)getpid();
    t->bound_ns = bound_ns;
    t->rng = salt;
}

static bool has_leases(const lz_cache *c, lz_cache_kind kind)
{
    return c && lz_cache_is_kind(kind) && c->store.root >= 0 && !c->store.read_only &&
           c->leases.bound_ns > 0 && c->leases.pid == (int)getpid() &&
           !(kind == LZ_CACHE_KERNEL && c->no_code) &&
           !atomic_load_explicit(&c->writes_off, memory_order_relaxed);
}

static lz_lease_state take(lz_cache *c, int tmp, const char *name, lz_lease *out)
{
    lz_lease_table *t = &c->leases;
    char token[LZ_LEASE_TOKEN_LEN];
    int i = 0;
    lz_mutex_lock(&t->lock);
    while (i < LZ_LEASES && t->held[i].used)
        i++;
    if (i < LZ_LEASES) {
        t->held[i].used = true;
        t->held[i].name[0] = '\0'; /* not to be renewed yet */
        make_token(t, token);
    }
    lz_mutex_unlock(&t->lock);
    if (i == LZ_LEASES)
        return LZ_LEASE_NONE;
    int err = create(tmp, name, token);
    lz_mutex_lock(&t->lock);
    t->held[i].used = !err;
    t->held[i].renewed_ns = lz_now_ns();
    memcpy(t->held[i].name, name, strlen(name) + 1);
    memcpy(t->held[i].token, token, sizeof token);
    lz_mutex_unlock(&t->lock);
    if (!err)
        out->number = i + 1;
    return !err ? LZ_LEASE_TAKEN : err == EEXIST ? LZ_LEASE_BUSY : LZ_LEASE_NONE;
}

lz_lease_state lz_cache_lease_try(lz_cache *c, lz_cache_kind kind, const void *key, size_t nkey,
                                  lz_lease *out)
{
    char name[LZ_LEASE_NAME_LEN];
    out->number = 0;
    if (!has_leases(c, kind))
        return LZ_LEASE_NONE;
    int tmp = lz_store_subdir(&c->store, LZ_STORE_TMP, true);
    if (tmp < 0)
        return LZ_LEASE_NONE;
    name_of(c, kind, key, nkey, name);
    lz_lease_state r = take(c, tmp, name, out);
    (void)lz_vfs_close(tmp);
    return r;
}

static void release(lz_store *s, const char *name, const char *token)
{
    sight now;
    int tmp = lz_store_subdir(s, LZ_STORE_TMP, false);
    if (tmp < 0)
        return;
    if (look(tmp, name, &now) == 0 && strcmp(now.token, token) == 0) /* else it was taken over */
        (void)lz_vfs_unlink(tmp, name, false);
    (void)lz_vfs_close(tmp);
}

static void release_held(lz_lease_table *t, lz_store *s, int i)
{
    char name[LZ_LEASE_NAME_LEN], token[LZ_LEASE_TOKEN_LEN];
    lz_mutex_lock(&t->lock);
    bool used = t->held[i].used;
    memcpy(name, t->held[i].name, sizeof name);
    memcpy(token, t->held[i].token, sizeof token);
    t->held[i].used = false;
    lz_mutex_unlock(&t->lock);
    if (used)
        release(s, name, token);
}

void lz_cache_lease_release(lz_cache *c, lz_lease *l)
{
    if (l->number && c->leases.pid == (int)getpid())
        release_held(&c->leases, &c->store, l->number - 1);
    l->number = 0;
}

void lz_lease_end(lz_lease_table *t, lz_store *s)
{
    if (t->pid != (int)getpid()) /* a forked child, which may find the lock held */
        return;
    for (int i = 0; i < LZ_LEASES; i++)
        release_held(t, s, i);
    lz_mutex_destroy(&t->lock);
}

void lz_lease_renew(lz_lease_table *t, lz_store *s)
{
    char name[LZ_LEASE_NAME_LEN];
    int64_t now = lz_now_ns();
    if (!t->bound_ns || t->pid != (int)getpid())
        return;
    for (int i = 0; i < LZ_LEASES; i++) {
        lz_lease_held *h = &t->held[i];
        lz_mutex_lock(&t->lock);
        bool due = h->used && h->name[0] && now - h->renewed_ns >= RENEW_NS;
        if (due) {
            h->renewed_ns = now;
            memcpy(name, h->name, sizeof name);
        }
        lz_mutex_unlock(&t->lock);
        int tmp = due ? lz_store_subdir(s, LZ_STORE_TMP, false) : -1;
        if (tmp < 0)
            continue;
        (void)lz_vfs_touch_at(tmp, name, lz_vfs_now());
        (void)lz_vfs_close(tmp);
    }
}

/* ---- waiting ---- */

typedef struct wait {
    int64_t began_ns, quiet_ns, poll_ns; /* quiet_ns: since when the file has not changed */
    sight last;
} wait;

/* BUSY: not over yet. */
static lz_lease_state step(lz_cache *c, int tmp, const char *name, wait *w, lz_lease *out)
{
    sight now;
    int err = look(tmp, name, &now);
    if (err)
        return err == ENOENT ? LZ_LEASE_RELEASED : LZ_LEASE_NONE;
    int64_t t = lz_now_ns(), bound = c->leases.bound_ns;
    if (!is_same(&now, &w->last))
        w->quiet_ns = t;
    w->last = now;
    if ((t - w->began_ns) / LZ_LEASE_PATIENCE >= bound)
        return LZ_LEASE_NONE;
    if (!is_gone(now.token) && t - w->quiet_ns < bound)
        return LZ_LEASE_BUSY;
    if (!remove_given_up(&c->store, tmp, name, &now))
        return LZ_LEASE_BUSY;
    atomic_fetch_add_explicit(&c->counters[LZ_CTR_LEASE_TAKEN_OVER], 1, memory_order_relaxed);
    return take(c, tmp, name, out);
}

lz_lease_state lz_cache_lease_wait(lz_cache *c, lz_cache_kind kind, const void *key, size_t nkey,
                                   lz_lease *out)
{
    char name[LZ_LEASE_NAME_LEN];
    lz_lease_state r = lz_cache_lease_try(c, kind, key, nkey, out);
    if (r != LZ_LEASE_BUSY)
        return r;
    atomic_fetch_add_explicit(&c->counters[LZ_CTR_LEASE_WAIT], 1, memory_order_relaxed);
    name_of(c, kind, key, nkey, name);
    lz_logf(LZ_LOG_INFO, "cache", "another process compiles %s: waiting for what it stores", name);
    wait w = {.began_ns = lz_now_ns(), .poll_ns = POLL_MIN_NS};
    for (;;) {
        /* anew each time: the directory may be removed and made again meanwhile */
        int tmp = lz_store_subdir(&c->store, LZ_STORE_TMP, false);
        if (tmp < 0)
            return LZ_LEASE_RELEASED;
        r = step(c, tmp, name, &w, out);
        (void)lz_vfs_close(tmp);
        if (r != LZ_LEASE_BUSY)
            return r;
        struct timespec pause = {.tv_nsec = w.poll_ns};
        (void)nanosleep(&pause, NULL);
        w.poll_ns = w.poll_ns * 3 / 2 < POLL_MAX_NS ? w.poll_ns * 3 / 2 : POLL_MAX_NS;
    }
}
