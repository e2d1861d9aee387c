/* literal.c - host arrays and their elements, see module.h. Threads: counts are atomic; the data is
 * immutable once shared. */
#include "ir/module.h"
#include <math.h>
#include <string.h>

/* ---- elements ---- */

/* Elements may lie unaligned in bytes that came from a file. */
#define LOAD(T)                                                                                    \
    (__extension__({                                                                               \
        T v_;                                                                                      \
        memcpy(&v_, (const char *)p + (size_t)i * sizeof v_, sizeof v_);                           \
        v_;                                                                                        \
    }))
#define STORE(T, x)                                                                                \
    do {                                                                                           \
        T v_ = (T)(x);                                                                             \
        memcpy((char *)p + (size_t)i * sizeof v_, &v_, sizeof v_);                                 \
    } while (0)

double lz_elem_get_f64(lz_dtype d, const void *p, int64_t i)
{
    switch (d) {
    case LZ_BOOL:
        return LOAD(uint8_t) != 0;
    case LZ_I8:
        return LOAD(int8_t);
    case LZ_I16:
        return LOAD(int16_t);
    case LZ_I32:
        return LOAD(int32_t);
    case LZ_I64:
        return (double)LOAD(int64_t);
    case LZ_U8:
        return LOAD(uint8_t);
    case LZ_U16:
        return LOAD(uint16_t);
    case LZ_U32:
        return LOAD(uint32_t);
    case LZ_U64:
        return (double)LOAD(uint64_t);
    case LZ_F16:
        return lz_f16_to_f32(LOAD(uint16_t));
    case LZ_BF16:
        return lz_bf16_to_f32(LOAD(uint16_t));
    case LZ_F8E4M3FN:
    case LZ_F8E5M2:
        return lz_f8_to_f32(d, LOAD(uint8_t));
    case LZ_F32:
        return LOAD(float);
    case LZ_F64:
        return LOAD(double);
    case LZ_C64:
        return LOAD(lz_c64).re;
    case LZ_C128:
        return LOAD(lz_c128).re;
    default:
        return 0;
    }
}

/* Truncates towards zero, saturates, NaN gives 0. */
static int64_t to_i64(double v)
{
    if (v != v)
        return 0;
    return v >= 0x1p63 ? INT64_MAX : v < -0x1p63 ? INT64_MIN : (int64_t)v;
}

static uint64_t to_u64(double v)
{
    if (!(v > 0))
        return 0;
    return v >= 0x1p64 ? UINT64_MAX : (uint64_t)v;
}

int64_t lz_elem_get_i64(lz_dtype d, const void *p, int64_t i)
{
    switch (d) {
    case LZ_I64:
        return LOAD(int64_t);
    case LZ_U64:
        return (int64_t)LOAD(uint64_t);
    default:
        return to_i64(lz_elem_get_f64(d, p, i));
    }
}

static int64_t clip(double v, int64_t lo, int64_t hi)
{
    int64_t x = to_i64(v);
    return x < lo ? lo : x > hi ? hi : x;
}

void lz_elem_set_f64(lz_dtype d, void *p, int64_t i, double v)
{
    switch (d) {
    case LZ_BOOL:
        STORE(uint8_t, v != 0);
        break;
    case LZ_I8:
        STORE(int8_t, clip(v, INT8_MIN, INT8_MAX));
        break;
    case LZ_I16:
        STORE(int16_t, clip(v, INT16_MIN, INT16_MAX));
        break;
    case LZ_I32:
        STORE(int32_t, clip(v, INT32_MIN, INT32_MAX));
        break;
    case LZ_I64:
        STORE(int64_t, to_i64(v));
        break;
    case LZ_U8:
        STORE(uint8_t, clip(v, 0, UINT8_MAX));
        break;
    case LZ_U16:
        STORE(uint16_t, clip(v, 0, UINT16_MAX));
        break;
    case LZ_U32:
        STORE(uint32_t, clip(v, 0, UINT32_MAX));
        break;
    case LZ_U64:
        STORE(uint64_t, to_u64(v));
        break;
    case LZ_F16:
        STORE(uint16_t, lz_f64_to_f16(v));
        break;
    case LZ_BF16:
        STORE(uint16_t, lz_f64_to_bf16(v));
        break;
    case LZ_F8E4M3FN:
    case LZ_F8E5M2:
        STORE(uint8_t, lz_f64_to_f8(d, v));
        break;
    case LZ_F32:
        STORE(float, v);
        break;
    case LZ_F64:
        STORE(double, v);
        break;
    case LZ_C64:
        STORE(lz_c64, ((lz_c64){(float)v, 0}));
        break;
    case LZ_C128:
        STORE(lz_c128, ((lz_c128){(double)v, 0}));
        break;
    default:
        break;
    }
}

/* int64 to a float format in one rounding: inexact values are made odd in double first, which no
 * narrower rounding sees. */
static double odd_f64(int64_t v)
{
    double r = (double)v;
    if (r >= 0x1p63 || (int64_t)r != v) {
        double down = r >= 0x1p63 || (int64_t)r > v ? nextafter(r, -INFINITY) : r,
               up = down == r ? nextafter(r, INFINITY) : r;
        uint64_t u;
        memcpy(&u, &down, sizeof u);
        r = u & 1 ? down : up;
    }
    return r;
}

void lz_elem_set_i64(lz_dtype d, void *p, int64_t i, int64_t v)
{
    switch (d) {
    case LZ_BOOL:
        STORE(uint8_t, v != 0);
        break;
    case LZ_I8:
    case LZ_U8:
        STORE(uint8_t, (uint64_t)v);
        break;
    case LZ_I16:
    case LZ_U16:
        STORE(uint16_t, (uint64_t)v);
        break;
    case LZ_I32:
    case LZ_U32:
        STORE(uint32_t, (uint64_t)v);
        break;
    case LZ_I64:
    case LZ_U64:
        STORE(uint64_t, (uint64_t)v);
        break;
    case LZ_F32:
        STORE(float, v);
        break;
    case LZ_F64:
        STORE(double, v);
        break;
    case LZ_C64:
        STORE(lz_c64, ((lz_c64){(float)v, 0}));
        break;
    case LZ_C128:
        STORE(lz_c128, ((lz_c128){(double)v, 0}));
        break;
    default:
        lz_elem_set_f64(d, p, i, odd_f64(v));
        break;
    }
}

/* ---- literals ---- */

enum { ALIGNMENT = 64 };

lz_literal *lz_literal_new(const lz_type *t)
{
    size_t nbytes;
    lz_literal *l =
        lz_add_size(t->nbytes, sizeof *l + ALIGNMENT, &nbytes) ? lz_calloc(1, nbytes) : NULL;
    if (!l) {
        char text[200];
        (void)LZ_FAIL(LZ_EMEM, "no memory for a literal %s", lz_type_short(t, text, sizeof text));
        return NULL;
    }
    l->refs = 1;
    l->type = t;
    l->nbytes = t->nbytes;
    l->data = (void *)LZ_ALIGN_UP((uintptr_t)(l + 1), ALIGNMENT);
    return l;
}

lz_literal *lz_literal_copy_from(const lz_type *t, const void *data)
{
    lz_literal *l = lz_literal_new(t);
    if (l && t->nbytes)
        memcpy(l->data, data, t->nbytes);
    return l;
}

static lz_literal *scalar_new(lz_dtype d)
{
    const lz_shape s = {0};
    const lz_type *t = lz_type_get(d, &s);
    return t ? lz_literal_new(t) : NULL;
}

lz_literal *lz_literal_scalar(lz_dtype d, double v)
{
    lz_literal *l = scalar_new(d);
    if (l)
        lz_elem_set_f64(d, l->data, 0, v);
    return l;
}

lz_literal *lz_literal_scalar_i64(lz_dtype d, int64_t v)
{
    lz_literal *l = scalar_new(d);
    if (l)
        lz_elem_set_i64(d, l->data, 0, v);
    return l;
}

void lz_literal_retain(lz_literal *l)
{
    __atomic_fetch_add(&l->refs, 1, __ATOMIC_RELAXED);
}

void lz_literal_release(lz_literal *l)
{
    if (l && __atomic_fetch_sub(&l->refs, 1, __ATOMIC_ACQ_REL) == 1)
        lz_free(l);
}

bool lz_literal_eq(const lz_literal *a, const lz_literal *b)
{
    return a == b ||
           (a->type == b->type && (a->nbytes == 0 || memcmp(a->data, b->data, a->nbytes) == 0));
}

double lz_literal_get_f64(const lz_literal *l, int64_t i)
{
    return lz_elem_get_f64(l->type->dtype, l->data, i);
}

bool lz_literal_splat(const lz_literal *l, uint64_t *bits)
{
    size_t n = lz_dtype_size(l->type->dtype);
    const char *p = l->data;
    int64_t count = l->type->nelem;
    *bits = 0;
    if (count < 1)
        return false;
    if (n > sizeof *bits) { /* complex128 by its parts */
        count *= (int64_t)(n / sizeof *bits);
        n = sizeof *bits;
    }
    memcpy(bits, p, n);
    for (int64_t i = 1; i < count; i++)
        if (memcmp(p, p + (size_t)i * n, n) != 0)
            return false;
    return true;
}
