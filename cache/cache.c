/* cache.c - open, get, put: what an entry must be to count as a hit, and where the next one goes.
 * Entries of one name stand in up to four slots. Only a file that is intact but not for us (another
 * key with the same digest, code for a larger machine, another build) makes get and put go on to
 * the next slot, so such a file can stay and still never keeps this process from storing its
 * own. */
#include "cache/cache.h"
#include "base/alloc.h"
#include "base/config.h"
#include "base/log.h"
#include "base/vec.h"
#include "cache/cache_impl.h"
#include "cache/dir.h"
#include "cache/vfs.h"
#include <errno.h>
#include <string.h>

static void count(lz_cache *c, lz_cache_counter which)
{
    atomic_fetch_add_explicit(&c->counters[which], 1, memory_order_relaxed);
}

/* ---- opening ---- */

uint64_t lz_cache_name_seed(lz_cache_kind kind, const char *build)
{
    uint8_t head[8] = {LZ_ENTRY_SCHEMA, 0, 0, 0, (uint8_t)kind, 0, 0, 0};
    return lz_hash_seeded(build, strlen(build), lz_hash_bytes(head, sizeof head).lo).lo;
}

uint64_t lz_cache_max_file(const lz_cache *c)
{
    return c->max_bytes < LZ_ENTRY_MAX_FILE ? c->max_bytes : LZ_ENTRY_MAX_FILE;
}

static lz_status make(const lz_cache_options *o, lz_cache **out)
{
    lz_cache *c = lz_calloc(1, sizeof *c);
    if (!c)
        return LZ_FAIL(LZ_EMEM, "cache: no memory");
    c->store.root = -1;
    c->build = lz_strdup(o->build_id ? o->build_id : "");
    c->isa = lz_strdup(o->isa ? o->isa : "");
    c->isa_ok = o->isa_ok;
    c->used = o->used;
    c->user = o->user;
    c->no_code = o->no_code || !lz_cfg_bool(LZ_OPT_CACHE_CODE);
    c->max_bytes = o->max_bytes ? o->max_bytes : (uint64_t)lz_cfg_int(LZ_OPT_CACHE_MAX_MB) << 20;
    if (!c->build || !c->isa) {
        lz_cache_close(c);
        return LZ_FAIL(LZ_EMEM, "cache: no memory");
    }
    for (lz_cache_kind k = LZ_CACHE_PROGRAM; k < LZ_CACHE_KINDS; k++)
        c->seed[k] = lz_cache_name_seed(k, c->build);
    *out = c;
    return LZ_OK;
}

static void open_one_system(lz_cache *c, const char *path, size_t n)
{
    lz_store *s = &c->system[c->nsystem];
    lz_buf dir = {0};
    lz_buf_put(&dir, path, n);
    LZ_QUIETLY {
        if (lz_store_open(s, lz_buf_str(&dir), true, false) == LZ_OK) {
            c->nsystem++;
        } else {
            LZ_WARN("cache", "LAZULI_SYSTEM_CACHE: %s", lz_error_get()->message);
            lz_store_close(s);
        }
    }
    lz_buf_free(&dir);
}

/* The directories of the option, in order; one that cannot be used is left out, and said. */
static void open_system(lz_cache *c, const char *list)
{
    while (*list && c->nsystem < LZ_CACHE_SYSTEM_MAX) {
        size_t n = strcspn(list, ":");
        if (n)
            open_one_system(c, list, n);
        list += n + (list[n] == ':');
    }
}

/* A key that was asked for and cannot be had leaves no cache: what is not signed is not trusted. */
static lz_status take_key(lz_cache *c, const lz_cache_options *o)
{
    const char *path = o->key_file ? o->key_file : lz_cfg_str(LZ_OPT_CACHE_KEY_FILE);
    if (!*path)
        return LZ_OK;
    LZ_TRY(lz_mac_key_read(path, c->mac_key));
    c->has_key = true;
    return LZ_OK;
}

static lz_status attach(lz_cache *c, const lz_cache_options *o)
{
    lz_buf path = {0};
    LZ_TRY(take_key(c, o));
    open_system(c, o->system ? o->system : lz_cfg_str(LZ_OPT_SYSTEM_CACHE));
    lz_status rc = lz_dir_default(o->path, &path);
    if (rc == LZ_OK)
        rc = lz_store_open(&c->store, lz_buf_str(&path),
                           o->read_only || lz_cfg_bool(LZ_OPT_PERSISTENT_CACHE_READ_ONLY),
                           o->fsync || lz_cfg_bool(LZ_OPT_CACHE_FSYNC));
    lz_buf_free(&path);
    if (rc == LZ_OK)
        lz_evict_init(&c->evict, c->max_bytes, c->store.salt);
    int64_t bound_ms = o->lease_ms ? o->lease_ms : lz_cfg_int(LZ_OPT_CACHE_WAIT) * 1000;
    lz_lease_init(&c->leases, bound_ms > 0 ? bound_ms * 1000000 : 0, c->store.salt);
    return rc;
}

lz_status lz_cache_open(const lz_cache_options *o, lz_cache **out)
{
    static const lz_cache_options none;
    if (!out)
        return LZ_FAIL(LZ_ENULL, "cache: no place for the result");
    *out = NULL;
    if (!o)
        o = &none;
    LZ_TRY(make(o, out));
    lz_error before = *lz_error_get();
    lz_status rc = attach(*out, o);
    if (rc == LZ_OK)
        return LZ_OK;
    lz_error why = *lz_error_get();
    lz_error_set(&before); /* to run without a cache is not an error of the program */
    if (rc == LZ_EMEM) {
        lz_cache_close(*out);
        *out = NULL;
        lz_error_set(&why);
        return rc;
    }
    /* no home is no news, nor is nothing to read, but a directory that was asked for is */
    bool reads = o->read_only || lz_cfg_bool(LZ_OPT_PERSISTENT_CACHE_READ_ONLY);
    bool named = !reads && (o->path || lz_cfg_is_set(LZ_OPT_PERSISTENT_CACHE_PATH) ||
                            lz_cfg_is_set(LZ_OPT_CACHE_DIR));
    bool wanted = lz_cfg_bool(LZ_OPT_CACHE) && (named || rc != LZ_ENOENT);
    if (rc == LZ_EPERM)
        count(*out, LZ_CTR_REFUSED_DIR);
    lz_logf(wanted ? LZ_LOG_WARN : LZ_LOG_INFO, "cache", "compiled code is kept in memory only: %s",
            why.message);
    return LZ_OK;
}

void lz_cache_close(lz_cache *c)
{
    if (!c)
        return;
    if (c->leases.pid)
        lz_lease_end(&c->leases, &c->store);
    lz_store_close(&c->store);
    for (int i = 0; i < c->nsystem; i++)
        lz_store_close(&c->system[i]);
    explicit_bzero(c->mac_key, sizeof c->mac_key);
    lz_codec_pool_free(&c->codec);
    lz_free(c->build);
    lz_free(c->isa);
    lz_free(c);
}

bool lz_cache_enabled(const lz_cache *c)
{
    return c && c->store.root >= 0;
}

const char *lz_cache_path(const lz_cache *c)
{
    return lz_cache_enabled(c) ? c->store.path : "";
}

void lz_cache_get_stats(const lz_cache *c, lz_cache_stats *out)
{
    if (!out)
        return;
    memset(out, 0, sizeof *out);
    if (!c)
        return;
    for (int k = LZ_CACHE_PROGRAM; k < LZ_CACHE_KINDS; k++) {
        out->hits[k] = atomic_load_explicit(&c->hits[k], memory_order_relaxed);
        out->misses[k] = atomic_load_explicit(&c->misses[k], memory_order_relaxed);
    }
    uint64_t v[LZ_CTR_COUNT];
    for (int i = 0; i < LZ_CTR_COUNT; i++)
        v[i] = atomic_load_explicit(&c->counters[i], memory_order_relaxed);
    out->corrupt = v[LZ_CTR_CORRUPT];
    out->foreign = v[LZ_CTR_FOREIGN];
    out->write_fail = v[LZ_CTR_WRITE_FAIL];
    out->evicted = v[LZ_CTR_EVICTED];
    out->stored = v[LZ_CTR_STORED];
    out->collisions = v[LZ_CTR_COLLISION];
    out->too_large = v[LZ_CTR_TOO_LARGE];
    out->refused_dir = v[LZ_CTR_REFUSED_DIR];
    out->isa_refused = v[LZ_CTR_ISA_REFUSED];
    out->mac_refused = v[LZ_CTR_MAC_REFUSED];
    out->code_ignored = v[LZ_CTR_CODE_IGNORED];
    out->system_hits = v[LZ_CTR_SYSTEM_HIT];
    out->lease_waits = v[LZ_CTR_LEASE_WAIT];
    out->leases_taken_over = v[LZ_CTR_LEASE_TAKEN_OVER];
}

/* ---- one slot ---- */

typedef enum slot_state {
    SLOT_OURS, /* this key, this build, code this machine can run */
    SLOT_ABSENT,
    SLOT_FOREIGN, /* of another build or schema, or no entry at all */
    SLOT_ISA,
    SLOT_COLLISION,
    SLOT_UNSIGNED, /* ours, but for a MAC of our key */
    SLOT_DAMAGED,
    SLOT_UNREADABLE
} slot_state;

static bool isa_usable(const lz_cache *c, const char *isa)
{
    if (!*isa)
        return true;
    if (c->isa_ok)
        return c->isa_ok(isa, c->user);
    size_t n = strcspn(isa, "|");
    return n == strcspn(c->isa, "|") && memcmp(isa, c->isa, n) == 0;
}

static bool probe(const uint8_t *head, size_t n, uint64_t file_bytes, const char **why)
{
    lz_entry e;
    return lz_entry_parse_header(head, n, file_bytes, &e, why) != LZ_ENTRY_DAMAGED;
}

/* Reads and judges one slot. f is to be given back with lz_store_file_done whatever the result. */
static slot_state judge(lz_cache *c, lz_store *s, const char *name, lz_cache_kind kind,
                        const void *key, size_t nkey, lz_store_file *f, lz_entry *e)
{
    lz_store_result r = lz_store_read(s, name, LZ_ENTRY_PREFIX_LEN + LZ_ENTRY_TRAILER_LEN,
                                      LZ_ENTRY_MAX_FILE, false, probe, f, NULL);
    if (r == LZ_STORE_ABSENT)
        return SLOT_ABSENT;
    if (r == LZ_STORE_OTHER)
        return SLOT_FOREIGN;
    if (r != LZ_STORE_OK)
        return r == LZ_STORE_DAMAGED ? SLOT_DAMAGED : SLOT_UNREADABLE;
    lz_entry_verdict v = lz_entry_parse(f->bytes, f->n, e, &f->why);
    if (v == LZ_ENTRY_DAMAGED)
        return lz_entry_is_ours(f->bytes, f->n, f->n) ? SLOT_DAMAGED : SLOT_FOREIGN;
    if (v == LZ_ENTRY_FOREIGN || strcmp(e->build, c->build) != 0)
        return SLOT_FOREIGN;
    if (e->kind != kind || e->sec[LZ_SEC_KEY].usize != nkey ||
        (nkey && memcmp(e->key, key, nkey) != 0))
        return SLOT_COLLISION;
    if (c->has_key && !lz_entry_is_signed(e, f->bytes, f->n, c->mac_key))
        return SLOT_UNSIGNED;
    return isa_usable(c, e->isa) ? SLOT_OURS : SLOT_ISA;
}

static void damaged(lz_cache *c, lz_store *s, const char *name, const lz_store_file *f)
{
    count(c, LZ_CTR_CORRUPT);
    lz_logf(LZ_LOG_INFO, "cache", "entry %s is damaged (%s) and %s", name, f->why,
            s->read_only ? "ignored" : "removed");
    lz_store_remove(s, name, f);
}

static void unsigned_entry(lz_cache *c, const lz_store *s)
{
    count(c, LZ_CTR_MAC_REFUSED);
    if (!atomic_exchange(&c->told_mac, true))
        LZ_WARN("cache",
                "%s: an entry without a MAC of the key (LAZULI_CACHE_KEY_FILE) is not used",
                s->path);
}

static void count_miss_reason(lz_cache *c, const lz_store *store, slot_state s)
{
    if (s == SLOT_UNSIGNED)
        unsigned_entry(c, store);
    else if (s == SLOT_FOREIGN)
        count(c, LZ_CTR_FOREIGN);
    else if (s == SLOT_ISA)
        count(c, LZ_CTR_ISA_REFUSED);
    else if (s == SLOT_COLLISION)
        count(c, LZ_CTR_COLLISION);
}

/* ---- get ---- */

/* For LRU: the time of use is the file's mtime, brought up to date at most once an hour. Failure
 * does not matter. */
static void touch(const lz_store *s, const lz_store_file *f)
{
    if (s->read_only)
        return;
    int64_t now = lz_vfs_now();
    if (f->mtime_unix_s > now + 60 || now - f->mtime_unix_s > LZ_EVICT_TOUCH_S)
        (void)lz_vfs_touch(f->fd, now);
}

static void use(const lz_cache *c, const char *name)
{
    if (c->used)
        c->used(name, c->user);
}

/* LZ_ENOENT: go on to the next slot. LZ_OK: a hit. Anything else ends the search. */
static lz_status get_slot(lz_cache *c, lz_store *store, const char *name, lz_cache_kind kind,
                          const void *key, size_t nkey, void **value, size_t *nvalue, bool again)
{
    lz_store_file f;
    lz_entry e;
    lz_status rc = LZ_ENOENT;
    slot_state s = judge(c, store, name, kind, key, nkey, &f, &e);
    if (s == SLOT_ABSENT) {
        rc = LZ_EUNAVAILABLE;
    } else if (s == SLOT_OURS) {
        size_t n = (size_t)e.sec[LZ_SEC_VALUE].usize;
        void *v = lz_alloc(n);
        rc = v ? lz_entry_value(&e, &c->codec, v) : LZ_EMEM;
        if (rc == LZ_OK) {
            *value = v;
            *nvalue = n;
            touch(store, &f);
            if (store == &c->store)
                use(c, name);
        } else {
            lz_free(v);
            if (rc == LZ_ECORRUPT) {
                f.why = "the value does not decompress";
                s = SLOT_DAMAGED;
                rc = LZ_ENOENT;
            }
        }
    }
    if (s == SLOT_DAMAGED)
        damaged(c, store, name, &f);
    else if (!again)
        count_miss_reason(c, store, s);
    lz_store_file_done(&f);
    return rc;
}

static bool get_from(lz_cache *c, lz_store *store, lz_cache_kind kind, const void *key, size_t nkey,
                     void **value, size_t *nvalue, bool again)
{
    lz_hash digest = lz_hash_seeded(nkey ? key : "", nkey, c->seed[kind]);
    lz_status rc = store->root < 0 ? LZ_EUNAVAILABLE : LZ_ENOENT;
    for (int slot = 0; slot < LZ_STORE_SLOTS && rc == LZ_ENOENT; slot++) {
        char name[LZ_STORE_NAME_LEN];
        lz_store_name(digest, kind, slot, name);
        rc = get_slot(c, store, name, kind, key, nkey, value, nvalue, again);
    }
    return rc == LZ_OK;
}

static bool get(lz_cache *c, lz_cache_kind kind, const void *key, size_t nkey, void **value,
                size_t *nvalue, bool again)
{
    if (value)
        *value = NULL;
    if (nvalue)
        *nvalue = 0;
    if (!c || !lz_cache_is_kind(kind))
        return false;
    bool hit = false, code = kind == LZ_CACHE_KERNEL && c->no_code;
    if (code && !again)
        count(c, LZ_CTR_CODE_IGNORED);
    if (!code && value && nvalue && (key || !nkey)) {
        hit = get_from(c, &c->store, kind, key, nkey, value, nvalue, again);
        for (int i = 0; i < c->nsystem && !hit && !again; i++) {
            hit = get_from(c, &c->system[i], kind, key, nkey, value, nvalue, again);
            if (hit)
                count(c, LZ_CTR_SYSTEM_HIT);
        }
    }
    if (hit || !again)
        atomic_fetch_add_explicit(hit ? &c->hits[kind] : &c->misses[kind], 1, memory_order_relaxed);
    return hit;
}

bool lz_cache_get(lz_cache *c, lz_cache_kind kind, const void *key, size_t nkey, void **value,
                  size_t *nvalue)
{
    return get(c, kind, key, nkey, value, nvalue, false);
}

bool lz_cache_get_again(lz_cache *c, lz_cache_kind kind, const void *key, size_t nkey, void **value,
                        size_t *nvalue)
{
    return get(c, kind, key, nkey, value, nvalue, true);
}

/* ---- put ---- */

/* The first slot that is free or becomes free by removing what is damaged. -1: ours is there
 * already, or none is free. */
static int free_slot(lz_cache *c, lz_cache_kind kind, lz_hash digest, const void *key, size_t nkey,
                     char name[LZ_STORE_NAME_LEN])
{
    for (int slot = 0; slot < LZ_STORE_SLOTS; slot++) {
        lz_store_file f;
        lz_entry e;
        lz_store_name(digest, kind, slot, name);
        slot_state s = judge(c, &c->store, name, kind, key, nkey, &f, &e);
        if (s == SLOT_DAMAGED)
            damaged(c, &c->store, name, &f);
        lz_store_file_done(&f);
        if (s == SLOT_ABSENT || s == SLOT_DAMAGED)
            return slot;
        if (s == SLOT_OURS)
            return -1;
    }
    return -1;
}

static void write_failed(lz_cache *c, int err)
{
    count(c, LZ_CTR_WRITE_FAIL);
    if (err == EROFS || err == EACCES || err == EPERM)
        atomic_store(&c->writes_off, true); /* will not get better: do not pay for every kernel */
    if (!atomic_exchange(&c->told_write, true))
        LZ_WARN("cache", "%s: cannot store compiled code: %s", c->store.path, strerrordesc_np(err));
}

static void too_large(lz_cache *c, uint64_t n)
{
    count(c, LZ_CTR_TOO_LARGE);
    if (!atomic_exchange(&c->told_large, true))
        LZ_WARN(
            "cache",
            "an entry of %llu bytes is not stored: the cache's limit is %llu (LAZULI_CACHE_MAX_MB)",
            (unsigned long long)n, (unsigned long long)lz_cache_max_file(c));
}

/* Publishes the finished bytes under `name`, or in the next free slot when that was taken
 * meanwhile. A lost race is not a failure: the winner's entry is as good as this one, and it is not
 * read back. */
static lz_store_result publish(lz_cache *c, const lz_entry_content *e, lz_hash digest,
                               const uint8_t *bytes, size_t n, char name[LZ_STORE_NAME_LEN],
                               int *err)
{
    lz_store_result r = lz_store_publish(&c->store, name, bytes, n, err);
    if (r == LZ_STORE_EXISTS && free_slot(c, e->kind, digest, e->key, e->nkey, name) >= 0)
        r = lz_store_publish(&c->store, name, bytes, n, err);
    if (r != LZ_STORE_OK)
        return r;
    count(c, LZ_CTR_STORED);
    use(c, name);
    lz_lease_renew(&c->leases, &c->store);
    uint64_t gone = lz_evict_note(&c->evict, &c->store, n);
    atomic_fetch_add_explicit(&c->counters[LZ_CTR_EVICTED], gone, memory_order_relaxed);
    return r;
}

void lz_cache_put(lz_cache *c, lz_cache_kind kind, const void *key, size_t nkey, const char *isa,
                  const void *value, size_t nvalue)
{
    if (!c || !lz_cache_is_kind(kind) || c->store.root < 0 || c->store.read_only ||
        (!key && nkey) || (!value && nvalue) || (kind == LZ_CACHE_KERNEL && c->no_code) ||
        atomic_load_explicit(&c->writes_off, memory_order_relaxed))
        return;
    lz_hash digest = lz_hash_seeded(nkey ? key : "", nkey, c->seed[kind]);
    char name[LZ_STORE_NAME_LEN];
    if (free_slot(c, kind, digest, key, nkey, name) <
        0) /* before compressing: often another process was first */
        return;
    lz_entry_content content = {
        .kind = kind,
        .created_unix_s = lz_vfs_now(),
        .build = c->build,
        .isa = isa ? isa : "",
        .key = key,
        .nkey = nkey,
        .value = value,
        .nvalue = nvalue,
        .mac_key = c->has_key ? c->mac_key : NULL,
    };
    uint8_t *bytes;
    size_t n;
    int err = 0;
    lz_status rc = LZ_OK;
    LZ_QUIETLY {
        rc = lz_entry_encode(&content, &bytes, &n);
    }
    if (rc == LZ_ERANGE)
        too_large(c, (uint64_t)nkey + nvalue);
    else if (rc != LZ_OK)
        write_failed(c, ENOMEM);
    else if (n > lz_cache_max_file(c))
        too_large(c, n);
    else if (publish(c, &content, digest, bytes, n, name, &err) == LZ_STORE_FAILED)
        write_failed(c, err);
    lz_free(bytes);
}

int lz_cache_put_file(lz_cache *c, const lz_entry *e, const uint8_t *bytes, size_t n, bool *there)
{
    lz_entry_content content = {
        .kind = e->kind, .key = e->key, .nkey = (size_t)e->sec[LZ_SEC_KEY].usize};
    lz_hash digest =
        lz_hash_seeded(content.nkey ? content.key : "", content.nkey, c->seed[e->kind]);
    char name[LZ_STORE_NAME_LEN];
    int err = 0;
    *there = free_slot(c, e->kind, digest, content.key, content.nkey, name) < 0;
    if (*there)
        return 0;
    lz_store_result r = publish(c, &content, digest, bytes, n, name, &err);
    *there = r == LZ_STORE_EXISTS;
    return r == LZ_STORE_FAILED ? err : 0;
}

void lz_cache_drop(lz_cache *c, lz_cache_kind kind, const void *key, size_t nkey)
{
    if (!c || !lz_cache_is_kind(kind) || c->store.root < 0 || (!key && nkey))
        return;
    lz_hash digest = lz_hash_seeded(nkey ? key : "", nkey, c->seed[kind]);
    slot_state s = SLOT_COLLISION;
    for (int slot = 0; slot < LZ_STORE_SLOTS && s != SLOT_OURS && s != SLOT_ABSENT; slot++) {
        char name[LZ_STORE_NAME_LEN];
        lz_store_file f;
        lz_entry e;
        lz_store_name(digest, kind, slot, name);
        s = judge(c, &c->store, name, kind, key, nkey, &f, &e);
        if (s == SLOT_OURS) {
            f.why = "its value does not load";
            damaged(c, &c->store, name, &f);
        }
        lz_store_file_done(&f);
    }
}
