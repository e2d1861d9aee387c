/* vhlo_dense.c - tensors of VHLO bytecode as text: short lists of integers by their elements, all
 * else by its bytes. See vhlo_read.h. */
#include "ir/vhlo/vhlo_read.h"
#include <inttypes.h>
#include <string.h>

enum { MOST_SHOWN = 4096 }; /* elements that are numbers in the text */

typedef struct dense {
    lz_vtensor t;
    const uint8_t *data;
    size_t nbytes, size; /* of all, of an element */
    bool flags, packed;  /* i1; eight of them in a byte */
    bool splat;
} dense;

static bool measure(lz_vhlo *v, dense *d)
{
    const lz_velem *e = &d->t.elem;
    uint64_t all;
    d->flags = e->bits == 1;
    d->size = (e->bits + 7) / 8;
    if (e->bits == 0 || __builtin_mul_overflow(d->t.nelem, (uint64_t)d->size, &all)) {
        lz_vhlo_fail(v, d->data, LZ_EUNSUPPORTED, "a tensor of elements that are no numbers");
        return false;
    }
    uint64_t bits = d->flags ? d->t.nelem / 8 + (d->t.nelem % 8 != 0) : all;
    /* of i1 a byte of one splat may also be eight elements, which are the same then */
    d->splat = d->t.nelem > 1 && d->nbytes == d->size &&
               (!d->flags || bits > 1 || *d->data == 0 || *d->data == 255);
    d->packed = d->flags && d->nbytes == bits;
    if (d->nbytes != all && !d->packed && !d->splat && d->t.nelem > 0)
        lz_vhlo_fail(v, d->data, LZ_EPARSE,
                     "a tensor of %" PRIu64 " elements of %u bits has %zu bytes", d->t.nelem,
                     e->bits, d->nbytes);
    return v->failed == LZ_OK;
}

/* ---- by elements ---- */

static uint64_t element(const dense *d, uint64_t i)
{
    i = d->splat ? 0 : i;
    if (d->packed)
        return d->data[i / 8] >> (i % 8) & 1;
    uint64_t x = 0;
    for (size_t k = 0; k < d->size; k++)
        x |= (uint64_t)d->data[i * d->size + k] << (8 * k);
    return x;
}

static void put_element(lz_vhlo *v, const dense *d, uint64_t i)
{
    uint64_t x = element(d, i);
    unsigned up = 64 - d->t.elem.bits;
    if (d->flags)
        lz_vput(v, x ? "true" : "false");
    else if (d->t.elem.cls == LZ_VC_UINT)
        lz_vput_u64(v, x << up >> up);
    else
        lz_vput_i64(v, (int64_t)(x << up) >> up);
}

/* [[1, 2], [3, 4]]: a bracket where an index of a dimension begins and ends. */
static void put_lists(lz_vhlo *v, const dense *d)
{
    uint64_t inner[8] = {1}; /* elements of what dimension k has one of, from the last */
    uint32_t rank = d->t.rank;
    lz_vcur c = d->t.dims;
    uint64_t dims[8];
    for (uint32_t i = 0; i < rank; i++)
        dims[i] = (uint64_t)lz_vcur_signed(&c);
    for (uint32_t i = 0; i < rank; i++)
        inner[i] = (i ? inner[i - 1] : 1) * dims[rank - 1 - i];
    for (uint64_t i = 0; i < d->t.nelem; i++) {
        lz_vput(v, i ? ", " : "");
        for (uint32_t k = 0; k < rank; k++)
            lz_vput(v, i % inner[rank - 1 - k] == 0 ? "[" : "");
        put_element(v, d, i);
        for (uint32_t k = 0; k < rank; k++)
            lz_vput(v, (i + 1) % inner[k] == 0 ? "]" : "");
    }
}

static void put_list(lz_vhlo *v, const dense *d)
{
    for (uint64_t i = 0; i < d->t.nelem; i++) {
        lz_vput(v, i ? ", " : "");
        put_element(v, d, i);
    }
}

/* ---- by bytes ---- */

static void put_hex(lz_vhlo *v, const uint8_t *p, size_t n)
{
    static const char digit[] = "0123456789ABCDEF";
    char text[2048];
    for (size_t i = 0; i < n;) {
        size_t k = 0;
        for (; k < sizeof text && i < n; i++) {
            text[k++] = digit[p[i] >> 4];
            text[k++] = digit[p[i] & 15];
        }
        lz_buf_put(v->out, text, k);
    }
}

/* Of i1, which take a byte each: bits. */
static void put_packed(lz_vhlo *v, const dense *d)
{
    uint8_t part[512] = {0};
    size_t n = 0;
    for (size_t i = 0; i < d->nbytes; i++) {
        part[n / 8] |= (uint8_t)((d->data[i] != 0) << (n % 8));
        if (++n == 8 * sizeof part || i + 1 == d->nbytes) {
            put_hex(v, part, (n + 7) / 8);
            memset(part, 0, sizeof part);
            n = 0;
        }
    }
}

static void put_bytes(lz_vhlo *v, const dense *d)
{
    lz_vput(v, "\"0x");
    if (d->flags && !d->packed)
        put_packed(v, d);
    else
        put_hex(v, d->data, d->nbytes);
    lz_vput(v, "\"");
}

/* ---- */

static void array_of(lz_vhlo *v, const dense *d)
{
    lz_vput(v, d->flags ? "array<i1" : "array<i");
    if (!d->flags)
        lz_vput_u64(v, d->t.elem.bits);
    lz_vput(v, d->t.nelem ? ": " : "");
    put_list(v, d);
    lz_vput(v, ">");
}

static void dense_of(lz_vhlo *v, const dense *d, uint32_t type, bool numbers)
{
    lz_vput(v, "dense<");
    if (d->t.nelem > 0 && !numbers && !(d->flags && d->splat))
        put_bytes(v, d);
    else if (d->t.nelem > 0 && (d->splat || d->t.rank == 0))
        put_element(v, d, 0);
    else
        put_lists(v, d);
    lz_vput(v, "> : ");
    lz_vhlo_type(v, type);
}

void lz_vhlo_dense(lz_vhlo *v, uint32_t type, lz_vcur blob, lz_vform form)
{
    dense d = {.data = blob.p, .nbytes = (size_t)(blob.end - blob.p)};
    if (!lz_vhlo_tensor(v, type, &d.t)) {
        lz_vhlo_fail(v, blob.p, LZ_EUNSUPPORTED, "elements of no tensor of known extents");
        return;
    }
    if (!measure(v, &d))
        return;
    bool integer = d.t.elem.cls == LZ_VC_INT || d.t.elem.cls == LZ_VC_UINT;
    bool numbers =
        form != LZ_VF_VALUE && integer && d.t.rank <= 8 && (d.splat || d.t.nelem <= MOST_SHOWN);
    bool list = numbers && d.t.rank == 1 && d.t.nelem <= MOST_SHOWN;
    if (form == LZ_VF_BARE && list) {
        lz_vput(v, "[");
        put_list(v, &d);
        lz_vput(v, "]");
    } else if (form == LZ_VF_FIELD && list && !d.t.elem.index) {
        array_of(v, &d);
    } else {
        dense_of(v, &d, type, numbers);
    }
}
