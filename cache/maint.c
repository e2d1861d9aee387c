/* maint.c - walk, gc and clear, for the command line. These read whole directories and are as slow
 * as that. */
#include "base/alloc.h"
#include "cache/cache_impl.h"
#include "cache/vfs.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static lz_status need_dir(const lz_cache *c)
{
    if (!c)
        return LZ_FAIL(LZ_ENULL, "cache: no cache");
    return c->store.root >= 0 ? LZ_OK
                              : LZ_FAIL(LZ_EUNAVAILABLE, "cache: there is no persistent cache");
}

static lz_status need_writable(const lz_cache *c)
{
    LZ_TRY(need_dir(c));
    return c->store.read_only ? LZ_FAIL(LZ_EPERM, "cache: %s is only read", c->store.path) : LZ_OK;
}

/* What gc and clear end with: entries that could not be removed are an error, after all others
 * went. */
static lz_status told(const lz_cache *c, const lz_evict_result *r)
{
    if (!r->refused)
        return LZ_OK;
    bool denied = r->err == EACCES || r->err == EPERM || r->err == EROFS;
    return LZ_FAIL(denied ? LZ_EPERM : LZ_EIO,
                   "cache: %" PRIu64 " entries of %s cannot be removed: %s", r->refused,
                   c->store.path, strerrordesc_np(r->err));
}

static void say(lz_cache_entry_info *info, const char *why)
{
    (void)snprintf(info->why, sizeof info->why, "%s", why);
}

/* Does the entry stand under the name that its own kind, build and key give? */
static bool name_fits(const lz_entry *e, const char *name)
{
    char want[LZ_STORE_NAME_LEN];
    lz_hash h =
        lz_hash_seeded(e->key, e->sec[LZ_SEC_KEY].usize, lz_cache_name_seed(e->kind, e->build));
    lz_store_name(h, e->kind, 0, want);
    return strncmp(want, name, strlen(want)) == 0;
}

static void verify(lz_cache *c, const char *name, const lz_store_file *f, lz_cache_entry_info *info)
{
    lz_entry e;
    const char *why;
    lz_entry_verdict v = lz_entry_parse(f->bytes, f->n, &e, &why);
    info->ok = v != LZ_ENTRY_DAMAGED;
    if (v != LZ_ENTRY_OK) {
        say(info, why);
        return;
    }
    info->foreign = strcmp(e.build, c->build) != 0;
    if (c->has_key && !lz_entry_is_signed(&e, f->bytes, f->n, c->mac_key)) {
        info->ok = false;
        say(info, e.mac ? "has the MAC of another key" : "has no MAC");
        return;
    }
    if (!name_fits(&e, name)) {
        info->ok = false;
        say(info, "stands under another entry's name");
        return;
    }
    void *value = lz_alloc((size_t)e.sec[LZ_SEC_VALUE].usize);
    lz_status rc = value ? lz_entry_value(&e, &c->codec, value) : LZ_EMEM;
    lz_free(value);
    info->ok = rc == LZ_OK;
    if (rc != LZ_OK)
        say(info, rc == LZ_EMEM ? "no memory to check the value" : "the value does not decompress");
}

static void examine(lz_cache *c, const char *name, bool deep, lz_cache_entry_info *info)
{
    lz_store_file f;
    lz_store_result r = lz_store_read(&c->store, name, LZ_ENTRY_PREFIX_LEN + LZ_ENTRY_TRAILER_LEN,
                                      LZ_ENTRY_MAX_FILE, !deep, NULL, &f, &info->file_bytes);
    info->used_unix_s = f.mtime_unix_s;
    if (r == LZ_STORE_OK) {
        lz_entry e;
        const char *why;
        lz_entry_verdict v = lz_entry_parse_header(f.bytes, f.n, info->file_bytes, &e, &why);
        info->ok = v != LZ_ENTRY_DAMAGED;
        info->foreign = v == LZ_ENTRY_FOREIGN;
        info->kind = e.kind;
        info->created_unix_s = e.created_unix_s;
        info->key_bytes = e.sec[LZ_SEC_KEY].usize;
        info->value_bytes = e.sec[LZ_SEC_VALUE].usize;
        say(info, why);
        uint64_t nbuild = strlen(c->build) + 1;
        if (v == LZ_ENTRY_OK && f.n >= LZ_ENTRY_HEADER_LEN + e.sec[LZ_SEC_BUILD].usize)
            info->foreign = e.sec[LZ_SEC_BUILD].usize != nbuild ||
                            memcmp(f.bytes + LZ_ENTRY_HEADER_LEN, c->build, nbuild) != 0;
        if (v != LZ_ENTRY_DAMAGED && deep)
            verify(c, name, &f, info);
        else if (info->foreign && info->ok && !info->why[0])
            say(info, "written by another build");
    } else {
        say(info, r == LZ_STORE_ABSENT ? "disappeared" : f.why);
    }
    lz_store_file_done(&f);
}

lz_status lz_cache_walk(lz_cache *c, bool deep, lz_cache_visit fn, void *user)
{
    LZ_TRY(need_dir(c));
    bool go_on = true;
    for (int i = 0; i < LZ_STORE_SUBDIRS && go_on; i++) {
        int dir = lz_store_subdir(&c->store, i, false);
        if (dir < 0)
            continue;
        lz_vfs_list list;
        lz_vfs_list_init(&list, dir);
        for (const char *name; go_on && (name = lz_vfs_list_next(&list)) != NULL;) {
            lz_cache_entry_info info = {0};
            (void)snprintf(info.name, sizeof info.name, "%02x/%s", (unsigned)i, name);
            if (lz_store_is_entry(name))
                examine(c, info.name, deep, &info);
            else
                say(&info, "not the name of an entry");
            go_on = fn(&info, user);
        }
        (void)lz_vfs_close(dir);
    }
    return LZ_OK;
}

lz_status lz_cache_gc(lz_cache *c, uint64_t max_bytes, uint64_t *removed_files,
                      uint64_t *removed_bytes)
{
    lz_evict_result r = {0};
    if (removed_files)
        *removed_files = 0;
    if (removed_bytes)
        *removed_bytes = 0;
    LZ_TRY(need_writable(c));
    uint64_t cap = max_bytes ? max_bytes : c->max_bytes;
    lz_status rc = lz_evict_run(&c->store, cap, cap, 0, true, &r);
    (void)lz_evict_sweep(&c->store, false, UINT64_MAX, UINT64_MAX);
    if (removed_files)
        *removed_files = r.files;
    if (removed_bytes)
        *removed_bytes = r.bytes;
    atomic_fetch_add_explicit(&c->counters[LZ_CTR_EVICTED], r.files, memory_order_relaxed);
    return rc == LZ_OK ? told(c, &r) : rc;
}

/* Every entry in one subdirectory, then the subdirectory itself if that was all that is in it, or
 * if it is empty and `mine`. */
static void clear_subdir(lz_cache *c, int index, bool mine, lz_evict_result *r)
{
    int dir = lz_store_subdir(&c->store, index, false);
    uint64_t before = r->files;
    if (dir < 0)
        return;
    lz_vfs_list list;
    lz_vfs_list_init(&list, dir);
    for (const char *name; (name = lz_vfs_list_next(&list)) != NULL;) {
        int err = lz_store_is_entry(name) ? lz_evict_entry(dir, name) : ENOENT;
        r->files += !err;
        if (err && err != ENOENT) {
            r->refused++;
            r->err = err;
        }
    }
    (void)lz_vfs_close(dir);
    char sub[8];
    (void)snprintf(sub, sizeof sub, "%02x", (unsigned)index & 0xff);
    if (mine || r->files > before)
        (void)lz_vfs_unlink(c->store.root, sub, true);
}

lz_status lz_cache_clear(lz_cache *c, uint64_t *removed_files)
{
    lz_evict_result r = {0};
    if (removed_files)
        *removed_files = 0;
    LZ_TRY(need_writable(c));
    bool mine = lz_store_is_tagged(&c->store);
    for (int i = 0; i < LZ_STORE_SUBDIRS; i++)
        clear_subdir(c, i, mine, &r);
    (void)lz_evict_sweep(&c->store, true, UINT64_MAX, UINT64_MAX);
    if (removed_files)
        *removed_files = r.files;
    return told(c, &r);
}
