/* pack_cache.c - export and import: packs (pack.h) from and into a cache. */
#include "base/alloc.h"
#include "cache/cache_impl.h"
#include "cache/pack.h"
#include <inttypes.h>
#include <string.h>

static lz_status need_dir(const lz_cache *c)
{
    if (!c)
        return LZ_FAIL(LZ_ENULL, "cache: no cache");
    return c->store.root >= 0 ? LZ_OK
                              : LZ_FAIL(LZ_EUNAVAILABLE, "cache: there is no persistent cache");
}

/* ---- export ---- */

/* Whether an intact entry is one that this cache uses. */
static lz_status check_ours(const lz_cache *c, const lz_entry *e, const void *bytes, size_t n)
{
    if (strcmp(e->build, c->build) != 0)
        return LZ_FAIL(LZ_EUNSUPPORTED, "an entry is of another build, %s; this is %s", e->build,
                       c->build);
    if (c->has_key && !lz_entry_is_signed(e, bytes, n, c->mac_key))
        return LZ_FAIL(LZ_EPERM, "an entry has %s",
                       e->mac ? "the MAC of another key than LAZULI_CACHE_KEY_FILE's"
                              : "no MAC, which LAZULI_CACHE_KEY_FILE asks for");
    return LZ_OK;
}

static lz_status read_file(lz_cache *c, const char *name, lz_store_file *f)
{
    switch (lz_store_read(&c->store, name, LZ_ENTRY_PREFIX_LEN + LZ_ENTRY_TRAILER_LEN,
                          LZ_ENTRY_MAX_FILE, false, NULL, f, NULL)) {
    case LZ_STORE_OK:
        return LZ_OK;
    case LZ_STORE_ABSENT:
        return LZ_FAIL(LZ_ENOENT, "cache: there is no entry %s", name);
    case LZ_STORE_SKIP:
        return LZ_FAIL(LZ_EIO, "cache: entry %s %s", name, f->why);
    default:
        return LZ_FAIL(LZ_ECORRUPT, "cache: entry %s is damaged: %s", name, f->why);
    }
}

lz_status lz_cache_read_entry(lz_cache *c, const char *name, lz_buf *bytes, lz_entry *e)
{
    LZ_TRY(need_dir(c));
    lz_store_file f;
    size_t at = bytes->len, n = 0;
    lz_status s = read_file(c, name, &f);
    if (s == LZ_OK) {
        lz_buf_put(bytes, f.bytes, n = f.n);
        s = bytes->failed ? LZ_FAIL(LZ_EMEM, "cache: no memory for an entry") : LZ_OK;
    }
    lz_store_file_done(&f);
    LZ_TRY(s);
    const char *why, *p = bytes->data + at;
    lz_entry_verdict v = lz_entry_parse(p, n, e, &why);
    if (v == LZ_ENTRY_DAMAGED)
        return LZ_FAIL(LZ_ECORRUPT, "cache: entry %s is damaged: %s", name, why);
    if (v == LZ_ENTRY_FOREIGN)
        return LZ_FAIL(LZ_EUNSUPPORTED, "cache: entry %s is %s", name, why);
    return check_ours(c, e, p, n);
}

lz_status lz_cache_export(lz_cache *c, const char *const *names, uint32_t n, lz_buf *out)
{
    LZ_TRY(need_dir(c));
    if (n > LZ_PACK_MAX_ENTRIES)
        return LZ_FAIL(LZ_ERANGE, "a pack has at most %d entries, not %u", LZ_PACK_MAX_ENTRIES, n);
    lz_pack_begin(out, c->build);
    for (uint32_t i = 0; i < n; i++) {
        lz_buf bytes = {0};
        lz_entry e;
        lz_status s = lz_cache_read_entry(c, names[i], &bytes, &e);
        if (s == LZ_OK)
            lz_pack_add(out, bytes.data, bytes.len);
        lz_buf_free(&bytes);
        LZ_TRY(s);
        if (out->len > LZ_PACK_MAX_FILE - 4096)
            return LZ_FAIL(LZ_ERANGE, "a pack has at most %d bytes: export fewer programs",
                           LZ_PACK_MAX_FILE);
    }
    lz_pack_end(out, c->has_key ? c->mac_key : NULL);
    return out->failed ? LZ_FAIL(LZ_EMEM, "no memory for a pack of %u entries", n) : LZ_OK;
}

/* ---- import ---- */

/* The value, if it can be had, must be one that lz_cache_get_bound accepts. */
static lz_status check_value(lz_cache *c, const lz_entry *e)
{
    size_t n = (size_t)e->sec[LZ_SEC_VALUE].usize;
    void *value = lz_alloc(n);
    lz_status s = value ? lz_entry_value(e, &c->codec, value)
                        : LZ_FAIL(LZ_EMEM, "no memory for a value of %zu bytes", n);
    if (s == LZ_OK &&
        !lz_cache_is_bound(c, e->kind, e->key, (size_t)e->sec[LZ_SEC_KEY].usize, value, n))
        s = LZ_FAIL(LZ_ECORRUPT, "the pack has a value of another key");
    lz_free(value);
    return s;
}

static lz_status check_entry(lz_cache *c, const uint8_t *bytes, size_t n, lz_pack_accept accept,
                             void *user)
{
    lz_entry e;
    const char *why;
    lz_entry_verdict v = lz_entry_parse(bytes, n, &e, &why);
    if (v != LZ_ENTRY_OK)
        return LZ_FAIL(LZ_ECORRUPT, "an entry of the pack is damaged: %s", why);
    LZ_TRY(check_ours(c, &e, bytes, n));
    if (n > lz_cache_max_file(c))
        return LZ_FAIL(LZ_ERANGE,
                       "an entry of %zu bytes is larger than the cache's limit "
                       "(LAZULI_CACHE_MAX_MB)",
                       n);
    LZ_TRY(check_value(c, &e));
    return accept ? accept(&e, user) : LZ_OK;
}

static lz_status check_pack(const lz_cache *c, const lz_pack *p)
{
    if (c->has_key && !lz_pack_is_signed(p, c->mac_key))
        return LZ_FAIL(LZ_EPERM, "the pack has %s",
                       p->mac ? "the MAC of another key than LAZULI_CACHE_KEY_FILE's"
                              : "no MAC, which LAZULI_CACHE_KEY_FILE asks for");
    if (strcmp(p->build, c->build) != 0)
        return LZ_FAIL(LZ_EUNSUPPORTED, "the pack is of another build, %s; this is %s", p->build,
                       c->build);
    return LZ_OK;
}

static lz_status store_one(lz_cache *c, const uint8_t *bytes, size_t n, lz_import_counts *counts)
{
    lz_entry e;
    const char *why;
    if (lz_entry_parse(bytes, n, &e, &why) != LZ_ENTRY_OK)
        return LZ_FAIL(LZ_EINTERNAL, "an entry has changed: %s", why);
    bool there = false;
    int err = lz_cache_put_file(c, &e, bytes, n, &there);
    if (err)
        return LZ_FAIL(LZ_EIO, "cache: %s: an entry cannot be stored: %s", c->store.path,
                       strerrordesc_np(err));
    (there ? counts->there : counts->stored)[e.kind]++;
    return LZ_OK;
}

lz_status lz_cache_import(lz_cache *c, const void *bytes, size_t n, lz_pack_accept accept,
                          void *user, lz_import_counts *counts)
{
    lz_pack p;
    const uint8_t *entry;
    size_t nentry;
    memset(counts, 0, sizeof *counts);
    LZ_TRY(need_dir(c));
    if (c->store.read_only)
        return LZ_FAIL(LZ_EPERM, "cache: %s is only read", c->store.path);
    const char *why = lz_pack_open(bytes, n, &p);
    if (why)
        return LZ_FAIL(LZ_ECORRUPT, "the pack is not used: %s", why);
    LZ_TRY(check_pack(c, &p));
    for (size_t at = p.first; lz_pack_next(&p, &at, &entry, &nentry);)
        LZ_TRY(check_entry(c, entry, nentry, accept, user));
    for (size_t at = p.first; lz_pack_next(&p, &at, &entry, &nentry);)
        LZ_TRY(store_one(c, entry, nentry, counts));
    return LZ_OK;
}
