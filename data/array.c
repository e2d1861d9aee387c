/* array.c - arrays in host memory: ownership, sizes, and conversion from and to tensors. */
#include "data/data_internal.h"
#include "runtime/exec/snapshot.h"
#include <inttypes.h>
#include <lazuli/hlo.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGN = 64 };

lz_holder *lz_holder_retain(lz_holder *h)
{
    if (h)
        atomic_fetch_add_explicit(&h->refs, 1, memory_order_relaxed);
    return h;
}

void lz_holder_release(lz_holder *h)
{
    if (!h || atomic_fetch_sub_explicit(&h->refs, 1, memory_order_acq_rel) != 1)
        return;
    if (h->map)
        munmap(h->map, h->map_len);
    lz_free(h);
}

void lz_array_free(lz_array *a)
{
    LZ_PUBLIC();
    if (!a)
        return;
    lz_holder_release(a->owner);
    *a = (lz_array){0};
}

static const char *shape_text(const lz_shape *s, char text[160])
{
    int n = 0;
    for (int i = 0; i < s->rank && i < LZ_MAX_RANK; i++)
        n += snprintf(text + n, 160 - (size_t)n, "%s%" PRId64, i ? ", " : "", s->dims[i]);
    return n ? text : "";
}

lz_status lz_data_size(lz_dtype d, const lz_shape *s, const char *name, size_t *nbytes)
{
    size_t elem = lz_dtype_size(d), n = elem, largest = elem;
    char text[160];
    if (!elem)
        return LZ_FAIL(LZ_EDTYPE, "%s: %d is no dtype", name, (int)d);
    if (s->rank < 0 || s->rank > LZ_MAX_RANK)
        return LZ_FAIL(LZ_ESHAPE, "%s: %d dimensions: a tensor has at most %d", name, s->rank,
                       LZ_MAX_RANK);
    for (int i = 0; i < s->rank; i++) {
        int64_t e = s->dims[i];
        if (e < 0)
            return LZ_FAIL(LZ_ESHAPE, "%s: the extent %" PRId64 " is negative", name, e);
        /* an empty array with extents whose product overflows is refused too: no tensor can have
         * that shape */
        if ((e && !lz_mul_size(largest, (size_t)e, &largest)) || largest > INT64_MAX ||
            !lz_mul_size(n, (size_t)e, &n))
            return LZ_FAIL(LZ_ERANGE, "%s: %s[%s] has too many bytes", name, lz_dtype_name(d),
                           shape_text(s, text));
    }
    *nbytes = n;
    return LZ_OK;
}

lz_status lz_data_new(lz_dtype d, const lz_shape *s, const char *name, lz_array *out)
{
    size_t nbytes, total;
    LZ_TRY(lz_data_size(d, s, name, &nbytes));
    lz_holder *h = lz_add_size(nbytes, sizeof *h + ALIGN, &total) ? lz_alloc(total) : NULL;
    if (!h)
        return LZ_FAIL(LZ_EMEM, "%s: no memory for %zu bytes", name, nbytes);
    *h = (lz_holder){.refs = 1};
    void *data = (void *)LZ_ALIGN_UP((uintptr_t)(h + 1), ALIGN);
    *out = (lz_array){.dtype = d, .shape = *s, .nbytes = nbytes, .data = data, .owner = h};
    return LZ_OK;
}

lz_status lz_data_grow(lz_array *a, size_t used, size_t nbytes, const char *name)
{
    lz_holder *h = a->owner;
    size_t offset = (size_t)((uint8_t *)a->data - (uint8_t *)h), total;
    h = lz_add_size(nbytes, sizeof *h + ALIGN, &total) ? lz_realloc(h, total) : NULL;
    if (!h)
        return LZ_FAIL(LZ_EMEM, "%s: no memory for %zu bytes", name, nbytes);
    a->owner = h;
    a->data = (void *)LZ_ALIGN_UP((uintptr_t)(h + 1), ALIGN);
    memmove(a->data, (uint8_t *)h + offset, used);
    return LZ_OK;
}

/* Other programs take any byte but 0 for true; here true is 1. */
static bool all_bools(const uint8_t *p, size_t n)
{
    uint8_t any = 0;
    for (size_t i = 0; i < n; i++)
        any |= p[i];
    return any <= 1;
}

lz_status lz_data_view(const lz_view *v, size_t at, lz_dtype d, const lz_shape *s, const char *name,
                       lz_array *out)
{
    size_t nbytes, elem = d == LZ_C64 ? 4 : d == LZ_C128 ? 8 : lz_dtype_size(d);
    LZ_TRY(lz_data_size(d, s, name, &nbytes));
    if (at > v->len || nbytes > v->len - at)
        return LZ_FAIL(LZ_ECORRUPT, "%s: %zu bytes at %zu are beyond the %zu bytes of the file",
                       name, nbytes, at, v->len);
    const uint8_t *p = v->data + at;
    bool odd = d == LZ_BOOL && !all_bools(p, nbytes);
    if (v->holder && nbytes && !odd && (uintptr_t)p % elem == 0) {
        *out = (lz_array){.dtype = d,
                          .shape = *s,
                          .nbytes = nbytes,
                          .data = (void *)p,
                          .owner = lz_holder_retain(v->holder)};
        return LZ_OK;
    }
    LZ_TRY(lz_data_new(d, s, name, out));
    if (nbytes)
        memcpy(out->data, p, nbytes);
    for (size_t i = 0; odd && i < nbytes; i++)
        ((uint8_t *)out->data)[i] = p[i] != 0;
    return LZ_OK;
}

lz_status lz_data_check(const lz_array *a, const char *name)
{
    size_t nbytes;
    LZ_TRY(lz_data_size(a->dtype, &a->shape, name, &nbytes));
    if (a->nbytes != nbytes)
        return LZ_FAIL(LZ_ERANGE, "%s: nbytes is %zu, the shape says %zu", name, a->nbytes, nbytes);
    if (nbytes && !a->data)
        return LZ_FAIL(LZ_ENULL, "%s: the array's data is NULL", name);
    return LZ_OK;
}

/* ---- tensors ---- */

static void release_holder(void *h)
{
    lz_holder_release(h);
}

lz_tensor *lz_array_tensor_at(lz_array *a, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    if (!a) {
        LZ_FAIL(LZ_ENULL, "the array is NULL");
        return lz_error_tensor_last("lz_array_tensor", site);
    }
    lz_array x = *a;
    *a = (lz_array){0};
    lz_tensor *t;
    if (lz_data_check(&x, "the array") != LZ_OK)
        t = lz_error_tensor_last("lz_array_tensor", site);
    else if (x.owner)
        return lz_from_borrowed_at(x.dtype, x.shape, x.data, x.nbytes, release_holder, x.owner,
                                   site);
    else
        t = lz_from_host_at(x.dtype, x.shape, x.data ? x.data : &x, x.nbytes, site);
    lz_array_free(&x);
    return t;
}

lz_status lz_tensor_array_at(lz_tensor *t, lz_array *out, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    static const char op[] = "lz_tensor_array";
    if (out)
        *out = (lz_array){0};
    if (!t || !out)
        return lz_data_done(LZ_FAIL(LZ_ENULL, "%s is NULL", t ? "out" : "the tensor"), op, site);
    lz_status s = lz_status_of(t);
    if (s != LZ_OK)
        return s;
    lz_shape shape = lz_shape_of(t);
    s = lz_data_new(lz_dtype_of(t), &shape, "the tensor", out);
    if (s == LZ_OK)
        s = lz_to_host_at(t, out->data, out->nbytes, site);
    if (s != LZ_OK)
        lz_array_free(out);
    return lz_data_done(s, op, site);
}

static lz_status read_value(const lz_snapshot *now, size_t i, lz_array *out)
{
    lz_dtype d;
    lz_shape shape;
    lz_snapshot_describe(now, i, &d, &shape, NULL);
    LZ_TRY(lz_data_new(d, &shape, "the tensor", out));
    return lz_snapshot_read(now, i, out->data);
}

lz_status lz_tensor_arrays_at(lz_tensor *const *tensors, size_t n, lz_array *out,
                              const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_snapshot now = {0};
    lz_status s = LZ_OK;
    if (n && (!tensors || !out))
        s = LZ_FAIL(LZ_ENULL, "%s is NULL", tensors ? "out" : "tensors");
    for (size_t i = 0; out && i < n; i++)
        out[i] = (lz_array){0};
    if (s == LZ_OK)
        s = lz_snapshot_take(&now, tensors, n);
    for (size_t i = 0; i < n && s == LZ_OK; i++)
        s = read_value(&now, i, &out[i]);
    lz_snapshot_free(&now);
    for (size_t i = 0; out && i < n && s != LZ_OK; i++)
        lz_array_free(&out[i]);
    return lz_data_done(s, "lz_tensor_arrays", site);
}
