/* eval_num.c - ground under the reference evaluator: elements of any dtype, rounding exactly once,
 * walking index spaces.
 * Threads: pure. */
#include "ir/eval/eval.h"
#include <math.h>
#include <string.h>

/* ---- rounding ---- Rounding twice (to double or float first, then to 16 bits) can be off.
 * Rounding to odd first cannot: an inexact intermediate keeps a set last bit, so the second
 * rounding still sees on which side of a tie the value is. */

double lz_ref_round_odd_u64(uint64_t v)
{
    if (v >> 53 == 0)
        return (double)v;
    bool sticky = (v & 0x7ff) != 0;
    return ldexp((double)((v >> 11) | sticky), 11);
}

double lz_ref_round_odd_i64(int64_t v)
{
    return v < 0 ? -lz_ref_round_odd_u64(0 - (uint64_t)v) : lz_ref_round_odd_u64((uint64_t)v);
}

static float f64_to_f32_odd(double v)
{
    float f = (float)v;
    if ((double)f == v || isnan(v))
        return f;
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    if (u & 1)
        return f;
    /* an even neighbour: take the odd one, towards v. Its magnitude is one unit more or less
     * (infinity becomes the largest finite). */
    u += fabs(v) > fabs((double)f) ? 1u : (uint32_t)-1;
    memcpy(&f, &u, sizeof f);
    return f;
}

uint16_t lz_ref_f64_to_f16(double v)
{
    return lz_f32_to_f16(f64_to_f32_odd(v));
}

uint16_t lz_ref_f64_to_bf16(double v)
{
    return lz_f32_to_bf16(f64_to_f32_odd(v));
}

/* ---- elements ---- */

double lz_ref_load_narrow(lz_dtype d, const void *p, int64_t i)
{
    switch (d) {
    case LZ_F16:
        return lz_f16_to_f32(((const uint16_t *)p)[i]);
    case LZ_BF16:
        return lz_bf16_to_f32(((const uint16_t *)p)[i]);
    default:
        return lz_dtype_is_storage(d) ? lz_f8_to_f32(d, ((const uint8_t *)p)[i]) : 0;
    }
}

void lz_ref_store_narrow(lz_dtype d, void *p, int64_t i, double v)
{
    switch (d) {
    case LZ_F16:
        ((uint16_t *)p)[i] = lz_ref_f64_to_f16(v);
        break;
    case LZ_BF16:
        ((uint16_t *)p)[i] = lz_ref_f64_to_bf16(v);
        break;
    default:
        if (lz_dtype_is_storage(d))
            ((uint8_t *)p)[i] = lz_f64_to_f8(d, v);
        break;
    }
}

uint64_t lz_ref_load_u(lz_dtype d, const void *p, int64_t i)
{
    switch (d) {
    case LZ_BOOL:
        return ((const uint8_t *)p)[i] != 0;
    case LZ_I2:
    case LZ_I4:
    case LZ_U2:
    case LZ_U4:
        return lz_dtype_wrap(d, ((const uint8_t *)p)[i]);
    case LZ_I8:
        return (uint64_t)(int64_t)((const int8_t *)p)[i];
    case LZ_I16:
        return (uint64_t)(int64_t)((const int16_t *)p)[i];
    case LZ_I32:
        return (uint64_t)(int64_t)((const int32_t *)p)[i];
    case LZ_I64:
    case LZ_U64:
        return ((const uint64_t *)p)[i];
    case LZ_U8:
        return ((const uint8_t *)p)[i];
    case LZ_U16:
        return ((const uint16_t *)p)[i];
    case LZ_U32:
        return ((const uint32_t *)p)[i];
    default:
        return 0;
    }
}

void lz_ref_store_u(lz_dtype d, void *p, int64_t i, uint64_t v)
{
    switch (d) {
    case LZ_BOOL:
        ((uint8_t *)p)[i] = v & 1;
        break;
    case LZ_I2:
    case LZ_I4:
    case LZ_U2:
    case LZ_U4:
        ((uint8_t *)p)[i] = (uint8_t)lz_dtype_wrap(d, v);
        break;
    case LZ_I8:
    case LZ_U8:
        ((uint8_t *)p)[i] = (uint8_t)v;
        break;
    case LZ_I16:
    case LZ_U16:
        ((uint16_t *)p)[i] = (uint16_t)v;
        break;
    case LZ_I32:
    case LZ_U32:
        ((uint32_t *)p)[i] = (uint32_t)v;
        break;
    case LZ_I64:
    case LZ_U64:
        ((uint64_t *)p)[i] = v;
        break;
    default:
        break;
    }
}

int64_t lz_ref_load_index(lz_dtype d, const void *p, int64_t i)
{
    uint64_t v = lz_ref_load_u(d, p, i);
    return d == LZ_U64 && v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

/* ---- walking ---- */

void lz_ref_strides(const lz_shape *s, int64_t strides[LZ_MAX_RANK])
{
    int64_t n = 1;
    for (int d = s->rank; d-- > 0;) {
        strides[d] = n;
        n = (int64_t)((uint64_t)n *
                      (uint64_t)
                          s->dims[d]); /* may wrap in empty shapes only, where nothing is visited */
    }
}

lz_ref_walk lz_ref_walk_of(int rank, const int64_t *dims)
{
    lz_ref_walk w = {.rank = rank, .more = true};
    for (int d = 0; d < rank; d++) {
        w.dims[d] = dims[d];
        w.more = w.more && dims[d] > 0;
    }
    return w;
}

void lz_ref_walk_next(lz_ref_walk *w)
{
    for (int d = w->rank; d-- > 0;) {
        if (++w->idx[d] < w->dims[d])
            return;
        w->idx[d] = 0;
    }
    w->more = false;
}

int64_t lz_ref_dot_index(int rank, const int64_t *idx, const int64_t *strides)
{
    int64_t at = 0;
    for (int d = 0; d < rank; d++)
        at += idx[d] * strides[d];
    return at;
}

void lz_ref_copy_affine(int rank, const int64_t *dims, size_t esize, void *dst, int64_t dbase,
                        const int64_t *dstride, const void *src, int64_t sbase,
                        const int64_t *sstride)
{
    for (lz_ref_walk w = lz_ref_walk_of(rank, dims); w.more; lz_ref_walk_next(&w)) {
        int64_t d = dbase + lz_ref_dot_index(rank, w.idx, dstride);
        int64_t s = sbase + lz_ref_dot_index(rank, w.idx, sstride);
        memcpy((char *)dst + (size_t)d * esize, (const char *)src + (size_t)s * esize, esize);
    }
}
