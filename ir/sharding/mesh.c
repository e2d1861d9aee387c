/* mesh.c - interned meshes and their factors. Threads: thread-safe. */
#include "ir/sharding/mesh.h"
#include "base/alloc.h"
#include "ir/op.h"
#include <inttypes.h>
#include <string.h>

static lz_intern meshes = LZ_INTERN_INIT;

static bool ids_same(const lz_mesh *a, const lz_mesh *b)
{
    size_t n = (size_t)a->ndevice * sizeof *a->device_ids;
    if (!a->device_ids || !b->device_ids)
        return a->device_ids == b->device_ids;
    return memcmp(a->device_ids, b->device_ids, n) == 0;
}

static bool mesh_same(const lz_intern_node *node, const void *key)
{
    const lz_mesh *a = (const lz_mesh *)(const void *)node, *b = key;
    if (a->naxis != b->naxis || a->ndevice != b->ndevice)
        return false;
    for (int i = 0; i < a->naxis; i++)
        if (a->axes[i].size != b->axes[i].size || a->axes[i].name != b->axes[i].name)
            return false;
    return ids_same(a, b);
}

/* ---- checks ---- */

static lz_status check_axes(const lz_mesh_axis *axes, int naxis, int64_t *ndevice)
{
    *ndevice = 1;
    for (int i = 0; i < naxis; i++) {
        if (!axes[i].name || !*axes[i].name)
            return LZ_FAIL(LZ_EINVAL, "mesh: axis %d has no name", i);
        if (axes[i].size < 1)
            return LZ_FAIL(LZ_EINVAL, "mesh: axis \"%.64s\" is of size %" PRId64, axes[i].name,
                           axes[i].size);
        for (int k = 0; k < i; k++)
            if (strcmp(axes[i].name, axes[k].name) == 0)
                return LZ_FAIL(LZ_EINVAL, "mesh: two axes are called \"%.64s\"", axes[i].name);
        if (axes[i].size > LZ_MESH_DEVICES / *ndevice)
            return LZ_FAIL(LZ_ERANGE, "mesh: more than %d devices", LZ_MESH_DEVICES);
        *ndevice *= axes[i].size;
    }
    return LZ_OK;
}

static lz_status check_devices(const int64_t *ids, int64_t n, bool *in_order)
{
    uint8_t *seen = lz_calloc((size_t)n, 1);
    lz_status s = seen ? LZ_OK : LZ_FAIL(LZ_EMEM, "mesh: no memory for %" PRId64 " devices", n);
    *in_order = true;
    for (int64_t i = 0; i < n && s == LZ_OK; i++) {
        if (ids[i] < 0 || ids[i] >= n)
            s = LZ_FAIL(LZ_EINVAL, "mesh: device %" PRId64 " is outside 0..%" PRId64, ids[i],
                        n - 1);
        else if (seen[ids[i]])
            s = LZ_FAIL(LZ_EINVAL, "mesh: device %" PRId64 " is there twice", ids[i]);
        else
            seen[ids[i]] = 1;
        *in_order &= ids[i] == i;
    }
    lz_free(seen);
    return s;
}

/* ---- making one ---- */

bool lz_mesh_same_factors(const lz_mesh *a, const lz_mesh *b)
{
    if (a->nfactor != b->nfactor)
        return false;
    for (int k = 0; k < a->nfactor; k++)
        if (a->factors[k].size != b->factors[k].size)
            return false;
    return true;
}

int lz_mesh_primes(int64_t n, int64_t *out)
{
    int k = 0;
    for (int64_t p = 2; n > 1; p += n % p != 0) {
        if (p * p > n)
            p = n;
        for (; n % p == 0 && k < LZ_MESH_FACTORS; n /= p)
            out[k++] = p;
    }
    return k;
}

static void add_factors(lz_mesh *m)
{
    int64_t stride = m->ndevice;
    for (int i = 0; i < m->naxis; i++) {
        int64_t pre = 1, primes[LZ_MESH_FACTORS];
        int n = lz_mesh_primes(m->axes[i].size, primes);
        for (int k = 0; k < n; k++) {
            stride /= primes[k];
            m->factors[m->nfactor++] = (lz_mesh_factor){i, pre, primes[k], stride};
            pre *= primes[k];
        }
    }
}

/* Without memory, or a mesh would be there twice. */
static lz_hash hash_of(const lz_mesh *m)
{
    lz_hash h = lz_hash_bytes(&m->naxis, sizeof m->naxis);
    for (int i = 0; i < m->naxis; i++) {
        h = lz_hash_seeded(m->axes[i].name, strlen(m->axes[i].name), h.lo);
        h = lz_hash_seeded(&m->axes[i].size, sizeof m->axes[i].size, h.lo);
    }
    return m->device_ids
               ? lz_hash_seeded(m->device_ids, (size_t)m->ndevice * sizeof *m->device_ids, h.lo)
               : h;
}

/* The mesh with arrays of its own. */
static lz_mesh *new_mesh(const lz_mesh *like)
{
    size_t axes = (size_t)like->naxis * sizeof *like->axes,
           ids = like->device_ids ? (size_t)like->ndevice * sizeof *like->device_ids : 0;
    char *p = lz_calloc(1, sizeof *like + axes + ids);
    if (!p) {
        (void)LZ_FAIL(LZ_EMEM, "mesh: no memory");
        return NULL;
    }
    lz_mesh *m = (lz_mesh *)(void *)p;
    *m = *like;
    m->axes = (const lz_mesh_axis *)(void *)(p + sizeof *m);
    if (axes)
        memcpy(p + sizeof *m, like->axes, axes);
    if (ids) {
        memcpy(p + sizeof *m + axes, like->device_ids, ids);
        m->device_ids = (const int64_t *)(const void *)(p + sizeof *m + axes);
    }
    return m;
}

static const lz_mesh *intern(const lz_mesh *like)
{
    lz_hash h = hash_of(like);
    lz_intern_node *found = lz_intern_find(&meshes, h, mesh_same, like);
    if (found)
        return (const lz_mesh *)(void *)found;
    lz_mesh *fresh = new_mesh(like);
    if (!fresh)
        return NULL;
    fresh->node.hash = h;
    found = lz_intern_add(&meshes, &fresh->node, mesh_same, fresh, NULL);
    if (found != &fresh->node)
        lz_free(fresh);
    return (const lz_mesh *)(void *)found;
}

const lz_mesh *lz_mesh_get(const lz_mesh_axis *axes, int naxis, const int64_t *device_ids)
{
    lz_mesh m = {.naxis = naxis, .device_ids = device_ids};
    bool in_order = true;
    if (check_axes(axes, naxis, &m.ndevice) != LZ_OK)
        return NULL;
    if (device_ids && check_devices(device_ids, m.ndevice, &in_order) != LZ_OK)
        return NULL;
    m.device_ids = in_order ? NULL : device_ids;
    lz_mesh_axis *own = lz_calloc((size_t)naxis + 1, sizeof *own);
    bool ok = own != NULL;
    for (int i = 0; i < naxis && ok; i++) {
        own[i] = (lz_mesh_axis){lz_string_get(axes[i].name, strlen(axes[i].name)), axes[i].size};
        ok = own[i].name != NULL;
    }
    m.axes = own;
    if (ok)
        add_factors(&m);
    const lz_mesh *found = ok ? intern(&m) : NULL;
    if (!own)
        (void)LZ_FAIL(LZ_EMEM, "mesh: no memory for %d axes", naxis);
    lz_free(own);
    return found;
}

/* ---- asking it ---- */

int lz_mesh_axis_find(const lz_mesh *m, const char *name, size_t n)
{
    for (int i = 0; i < m->naxis; i++)
        if (strlen(m->axes[i].name) == n && memcmp(m->axes[i].name, name, n) == 0)
            return i;
    return -1;
}

int64_t lz_mesh_mask_size(const lz_mesh *m, uint32_t factors)
{
    int64_t n = 1;
    for (int k = 0; k < m->nfactor; k++)
        if (factors >> k & 1)
            n *= m->factors[k].size;
    return n;
}

void lz_mesh_print(lz_buf *b, const lz_mesh *m)
{
    lz_buf_puts(b, "<[");
    for (int i = 0; i < m->naxis; i++) {
        lz_buf_puts(b, i ? ", " : "");
        lz_buf_put_quoted(b, m->axes[i].name);
        lz_buf_printf(b, "=%" PRId64, m->axes[i].size);
    }
    lz_buf_putc(b, ']');
    for (int64_t i = 0; m->device_ids && i < m->ndevice; i++)
        lz_buf_printf(b, "%s%" PRId64, i ? ", " : ", device_ids=[", m->device_ids[i]);
    lz_buf_puts(b, m->device_ids ? "]>" : ">");
}
