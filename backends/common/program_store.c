/* program_store.c - see program_store.h. */
#include "backends/common/program_store.h"
#include "base/alloc.h"
#include "base/config.h"
#include "base/vec.h"
#include "source_id.h"
#include <string.h>

/* The build includes a hash of the library's sources: a program linked with another version, also
 * statically, never finds entries of this one. */
#define DOT(a, b, c) LZ_STR(a) "." LZ_STR(b) "." LZ_STR(c)
static const char build[] =
    "lazuli-" DOT(LZ_VERSION_MAJOR, LZ_VERSION_MINOR, LZ_VERSION_PATCH) "-" LZ_SOURCE_ID;

lz_status lz_program_store_open(const char *path, bool read_only, lz_cache **out)
{
    lz_cache_options o = {.path = path,
                          .read_only = read_only,
                          .fsync = lz_cfg_bool(LZ_OPT_CACHE_FSYNC),
                          .build_id = build,
                          .isa_ok = lz_backend_can_run};
    *out = NULL;
    lz_status s = lz_cache_open(&o, out);
    if (s != LZ_OK)
        *out = NULL;
    return s;
}

lz_status lz_program_key(const lz_buf *device, const bool *donate, const lz_func *f, uint32_t team,
                         lz_buf *out)
{
    lz_buf_u32(out, (uint32_t)device->len);
    lz_buf_put(out, device->data, device->len);
    lz_buf_u32(out, f->nparam);
    for (uint32_t i = 0; i < f->nparam; i++)
        lz_buf_u8(out, donate[i]);
    lz_func_serialize(f, out);
    if (team)
        lz_buf_u32(out, team);
    return out->failed
               ? LZ_FAIL(LZ_EMEM, "no memory for the key of a program of %u operations", f->ninst)
               : LZ_OK;
}

const char *lz_program_build(void)
{
    return build;
}

void lz_program_parts_free(lz_program_parts *p)
{
    lz_func_free(p->f);
    lz_free(p->donate);
    *p = (lz_program_parts){0};
}

/* The bytes behind the donations are a function's, and four more if a team runs it: a function's
 * bytes say where they end. */
static lz_status take_function(const uint8_t *p, size_t n, lz_program_parts *out)
{
    lz_status s = LZ_ECORRUPT;
    LZ_QUIETLY {
        s = lz_func_deserialize(p, n, &out->f);
    }
    if (s == LZ_OK || n < 4)
        return s;
    out->team = lz_le32(p + n - 4);
    return lz_func_deserialize(p, n - 4, &out->f);
}

/* Bytes that nobody looks up are no key: what the parts give is what they were taken from. */
static lz_status check_canonical(const lz_program_parts *p, const void *key, size_t n)
{
    lz_buf device = {0}, again = {0};
    lz_buf_put(&device, p->device, p->ndevice);
    lz_status s = device.failed ? LZ_FAIL(LZ_EMEM, "no memory for a program's key")
                                : lz_program_key(&device, p->donate, p->f, p->team, &again);
    if (s == LZ_OK && (again.len != n || memcmp(again.data, key, n) != 0))
        s = LZ_FAIL(LZ_ECORRUPT, "a program's key is not in its canonical form");
    lz_buf_free(&device);
    lz_buf_free(&again);
    return s;
}

lz_status lz_program_take_apart(const void *key, size_t n, lz_program_parts *out)
{
    const uint8_t *p = key;
    memset(out, 0, sizeof *out);
    if (n < 8 || lz_le32(p) > n - 8)
        return LZ_FAIL(LZ_ECORRUPT, "a program's key is cut off");
    out->ndevice = lz_le32(p);
    out->device = (const char *)p + 4;
    size_t at = 4 + (size_t)out->ndevice;
    uint32_t nparam = lz_le32(p + at);
    at += 4;
    if (nparam > n - at)
        return LZ_FAIL(LZ_ECORRUPT, "a program's key is cut off");
    out->donate = lz_calloc((size_t)nparam + 1, sizeof *out->donate);
    if (!out->donate)
        return LZ_FAIL(LZ_EMEM, "no memory for a program of %u parameters", nparam);
    for (uint32_t i = 0; i < nparam; i++)
        out->donate[i] = p[at + i] != 0;
    lz_status s = take_function(p + at + nparam, n - at - nparam, out);
    if (s == LZ_OK && out->f->nparam != nparam)
        s = LZ_FAIL(LZ_ECORRUPT, "a program's key is of another function");
    if (s == LZ_OK)
        s = check_canonical(out, key, n);
    if (s != LZ_OK)
        lz_program_parts_free(out);
    return s;
}

/* What a program fails to load of, whatever its bytes. */
static bool passes(lz_status s)
{
    return s == LZ_EMEM || s == LZ_EFORK || s == LZ_EDEVICE || s == LZ_EUNAVAILABLE ||
           s == LZ_ENOENT; /* a function of the program's own is not registered now */
}

/* What was missing, once more when it may be there by now. */
static bool get_shared(const lz_backend *b, const lz_buf *key, lz_cache *cache, lz_lease *lease,
                       void **value, size_t *n)
{
    if (!b->serialize) /* nobody stores such a program */
        return false;
    return lz_cache_lease_wait(cache, LZ_CACHE_PROGRAM, key->data, key->len, lease) !=
               LZ_LEASE_NONE &&
           lz_cache_get_bound_again(cache, LZ_CACHE_PROGRAM, key->data, key->len, value, n);
}

lz_program_found lz_program_load(const lz_backend *b, int device, const lz_buf *key,
                                 const lz_compile_options *o, lz_lease *lease, lz_exec **out)
{
    void *value;
    size_t n;
    *out = NULL;
    *lease = (lz_lease){0};
    if (!o->cache ||
        (!lz_cache_get_bound(o->cache, LZ_CACHE_PROGRAM, key->data, key->len, &value, &n) &&
         !get_shared(b, key, o->cache, lease, &value, &n)))
        return LZ_PROGRAM_MISSING;
    lz_status s = b->deserialize(device, value, n, o, out);
    lz_free(value);
    if (s == LZ_OK)
        return LZ_PROGRAM_LOADED;
    *out = NULL;
    if (!passes(s)) /* the entry is intact, but no such program: the next put replaces it */
        lz_cache_drop(o->cache, LZ_CACHE_PROGRAM, key->data, key->len);
    return LZ_PROGRAM_UNUSABLE;
}

void lz_program_save(const lz_backend *b, lz_exec *x, const lz_buf *key, lz_cache *cache)
{
    lz_buf value = {0};
    if (cache && lz_cache_enabled(cache) && b->serialize && b->serialize(x, &value) == LZ_OK &&
        !value.failed && value.len)
        lz_cache_put_bound(cache, LZ_CACHE_PROGRAM, key->data, key->len, "", value.data, value.len);
    lz_buf_free(&value);
}
