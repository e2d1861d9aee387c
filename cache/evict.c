/* evict.c - the soft cap. Removing is always safe: a reader holds the file open, a later one has a
 * miss. The clock decides only who goes first. A time in the future counts as now, and is set to
 * now when it is seen, so an entry written under a wrong clock is neither immortal nor the first
 * victim, and a clock that jumps never empties the cache. */
#include "cache/evict.h"
#include "base/vec.h"
#include "cache/lease.h"
#include "cache/vfs.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK_FILES = 4096, CHUNK_DIRS = 16, NAME_LEN = 36, FUTURE_SLACK_S = 60 };
enum { AUTO_SWEEP_FILES = 64, AUTO_SWEEP_LOOKED = 1024 };

typedef struct victim {
    int64_t used; /* min(mtime, now) */
    uint64_t bytes;
    uint8_t subdir;
    char name[NAME_LEN];
} victim;

typedef struct chunk {
    LZ_VEC(victim) files;
    uint64_t bytes;
    int dirs;
    bool no_memory;
} chunk;

static int by_age(const void *pa, const void *pb)
{
    const victim *a = pa, *b = pb;
    if (a->used != b->used)
        return a->used < b->used ? -1 : 1;
    int c = strcmp(a->name, b->name);
    return c ? c : (int)a->subdir - (int)b->subdir;
}

/* The entries of one subdirectory into the chunk. */
static void scan(lz_store *s, int index, int64_t now, chunk *c)
{
    c->dirs++;
    int dir = lz_store_subdir(s, index, false);
    if (dir < 0)
        return;
    lz_vfs_list list;
    lz_vfs_list_init(&list, dir);
    for (const char *name; (name = lz_vfs_list_next(&list)) != NULL;) {
        struct stat st;
        if (!lz_store_is_entry(name) || lz_vfs_statat(dir, name, &st) < 0 || !S_ISREG(st.st_mode))
            continue;
        victim v = {
            .used = (int64_t)st.st_mtime, .bytes = (uint64_t)st.st_size, .subdir = (uint8_t)index};
        int err;
        if (v.used > now + FUTURE_SLACK_S && lz_store_holds_entry(dir, name, &err))
            (void)lz_vfs_touch_at(dir, name, now);
        if (v.used > now)
            v.used = now;
        memcpy(v.name, name, strlen(name) + 1); /* lz_store_is_entry bounds it */
        c->bytes += v.bytes;
        if (lz_vec_push(&c->files, v) != LZ_OK)
            c->no_memory = true;
    }
    (void)lz_vfs_close(dir);
}

int lz_evict_entry(int dir, const char *name)
{
    int err;
    if (!lz_store_holds_entry(dir, name, &err))
        return err ? err : ENOENT;
    return lz_vfs_unlink(dir, name, false) < 0 ? errno : 0;
}

/* Removes the oldest of the chunk until it holds at most `keep` bytes. */
static void trim(lz_store *s, chunk *c, uint64_t keep, lz_evict_result *r)
{
    if (c->files.len > 1)
        qsort(c->files.data, c->files.len, sizeof(victim), by_age);
    int dir = -1, open_index = -1;
    for (uint32_t i = 0; i < c->files.len && c->bytes > keep; i++) {
        const victim *v = &c->files.data[i];
        if (open_index != v->subdir) {
            if (dir >= 0)
                (void)lz_vfs_close(dir);
            dir = lz_store_subdir(s, v->subdir, false);
            open_index = v->subdir;
        }
        if (dir < 0)
            continue;
        int err = lz_evict_entry(dir, v->name);
        if (err && err != ENOENT) {
            r->refused++;
            r->err = err;
            continue;
        }
        c->bytes -= v->bytes;
        r->files += !err;
        r->bytes += err ? 0 : v->bytes;
    }
    if (dir >= 0)
        (void)lz_vfs_close(dir);
}

static uint64_t scaled(uint64_t bytes, int num, int den)
{
    return (uint64_t)((double)bytes * num / den);
}

lz_status lz_evict_run(lz_store *s, uint64_t cap, uint64_t target, int first_subdir, bool exact,
                       lz_evict_result *r)
{
    int64_t now = lz_vfs_now();
    chunk c = {0};
    bool no_memory = false, over = false;
    uint64_t seen = 0, excess = 0; /* bytes read so far and to be removed in all */
    int dirs = 0;
    memset(r, 0, sizeof *r);
    for (int k = 0; k < LZ_STORE_SUBDIRS; k++) {
        scan(s, (first_subdir + k) % LZ_STORE_SUBDIRS, now, &c);
        bool last = k == LZ_STORE_SUBDIRS - 1;
        if (!last && (exact || c.dirs < CHUNK_DIRS || c.files.len < CHUNK_FILES))
            continue;
        seen += c.bytes;
        dirs += c.dirs;
        uint64_t total = scaled(seen, LZ_STORE_SUBDIRS, dirs);
        if (!over) {
            r->kept_bytes = total;
            if (total <= cap)
                break;
            over = true;
            excess = total - target;
        }
        trim(s, &c, scaled(target, c.dirs, LZ_STORE_SUBDIRS), r);
        no_memory = no_memory || c.no_memory;
        c.files.len = 0;
        c.bytes = 0;
        c.dirs = 0;
        if (r->bytes >= excess)
            break;
    }
    lz_vec_free(&c.files);
    r->kept_bytes -= r->bytes < r->kept_bytes ? r->bytes : r->kept_bytes;
    return no_memory ? LZ_FAIL(LZ_EMEM, "cache: no memory to look at all entries") : LZ_OK;
}

uint64_t lz_evict_sweep(lz_store *s, bool all, uint64_t max_files, uint64_t max_looked)
{
    int tmp = lz_store_subdir(s, LZ_STORE_TMP, false);
    if (tmp < 0)
        return 0;
    int64_t now = lz_vfs_now();
    uint64_t removed = 0, looked = 0;
    lz_vfs_list list;
    lz_vfs_list_init(&list, tmp);
    for (const char *name;
         looked < max_looked && removed < max_files && (name = lz_vfs_list_next(&list)) != NULL;) {
        struct stat st;
        looked++;
        if ((!lz_store_is_temp(name) && !lz_lease_is_name(name)) ||
            lz_vfs_statat(tmp, name, &st) < 0 || !S_ISREG(st.st_mode))
            continue;
        int64_t age = now - (int64_t)st.st_mtime;
        if (age < -FUTURE_SLACK_S)
            (void)lz_vfs_touch_at(tmp, name, now); /* let it grow old from now on */
        if (!all && age <= LZ_EVICT_TEMP_AGE_S)
            continue;
        if (lz_vfs_unlink(tmp, name, false) == 0)
            removed++;
    }
    (void)lz_vfs_close(tmp);
    return removed;
}

static uint64_t next_random(_Atomic uint64_t *state)
{
    uint64_t z = atomic_fetch_add_explicit(state, 0x9e3779b97f4a7c15u, memory_order_relaxed) +
                 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u; /* splitmix64 */
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void lz_evict_init(lz_evict *e, uint64_t max_bytes, uint64_t salt)
{
    memset(e, 0, sizeof *e);
    e->max_bytes = max_bytes;
    atomic_init(&e->rng, salt);
    uint64_t part = max_bytes / LZ_EVICT_PART;
    atomic_init(&e->unseen, part ? next_random(&e->rng) % part : 0);
}

/* Says since when the lock is held. A file that is not empty is not the cache's: its time stays. */
static void stamp(int fd)
{
    struct stat st;
    if (lz_vfs_fstat(fd, &st) == 0 && st.st_size == 0)
        (void)lz_vfs_touch(fd, lz_vfs_now());
}

/* Whether the lock, which somebody else holds, was taken long ago: then its holder was stopped. */
static bool is_stale(int fd)
{
    struct stat st;
    if (lz_vfs_fstat(fd, &st) < 0)
        return false;
    int64_t age = lz_vfs_now() - (int64_t)st.st_mtime;
    return age > LZ_EVICT_LOCK_AGE_S || age < -FUTURE_SLACK_S;
}

/* The lock between processes: never waited for. *fd is -1 where there are no locks, or for one that
 * is held too long. */
static bool try_lock(lz_evict *e, lz_store *s, int *fd)
{
    *fd = lz_vfs_open(s->root, "lock", O_RDWR | O_CREAT | O_NONBLOCK, 0600);
    if (*fd < 0)
        return true;
    if (lz_vfs_trylock(*fd) == 0) {
        stamp(*fd);
        atomic_store_explicit(&e->refused, 0, memory_order_relaxed);
        return true;
    }
    if (errno != EWOULDBLOCK)
        return true;
    bool stale = is_stale(*fd);
    (void)lz_vfs_close(*fd);
    *fd = -1;
    int refused = atomic_fetch_add_explicit(&e->refused, 1, memory_order_relaxed) + 1;
    if (!stale && refused < LZ_EVICT_PATIENCE)
        return false;
    atomic_store_explicit(&e->refused, 0, memory_order_relaxed);
    return true;
}

static void unlock(int fd)
{
    if (fd < 0)
        return;
    (void)lz_vfs_unlock(
        fd); /* not only by closing: a forked child may hold a copy of the descriptor */
    (void)lz_vfs_close(fd);
}

static uint64_t look(lz_evict *e, lz_store *s)
{
    int fd;
    atomic_store_explicit(&e->unseen, 0, memory_order_relaxed);
    if (!try_lock(e, s, &fd))
        return 0;
    lz_evict_result r;
    LZ_QUIETLY {
        (void)lz_evict_run(s, e->max_bytes, e->max_bytes - e->max_bytes / 10,
                           (int)(next_random(&e->rng) % LZ_STORE_SUBDIRS), false, &r);
        (void)lz_evict_sweep(s, false, AUTO_SWEEP_FILES, AUTO_SWEEP_LOOKED);
    }
    unlock(fd);
    return r.files;
}

uint64_t lz_evict_note(lz_evict *e, lz_store *s, uint64_t n)
{
    uint64_t unseen = atomic_fetch_add_explicit(&e->unseen, n, memory_order_relaxed) + n;
    bool due = unseen >= e->max_bytes / LZ_EVICT_PART;
    bool sweep = !atomic_exchange_explicit(&e->swept, true, memory_order_relaxed);
    if (!due && !sweep)
        return 0;
    int me = (int)getpid(), seen = atomic_load(&e->busy);
    /* a pid that is not ours was inherited through fork: that thread does not exist here */
    if (seen == me || !atomic_compare_exchange_strong(&e->busy, &seen, me))
        return 0;
    uint64_t removed = 0;
    if (due)
        removed = look(e, s);
    else
        (void)lz_evict_sweep(s, false, AUTO_SWEEP_FILES, AUTO_SWEEP_LOOKED);
    atomic_store(&e->busy, 0);
    return removed;
}
