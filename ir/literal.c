/* literal.c - host arrays and their elements, see module.h. Threads: counts are atomic; the data is
 * immutable once shared. */
#include "ir/module.h"
#include <assert.h>
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

/* Truncates towards zero, saturates at the limits of an integer of that many bits; NaN gives 0. */
static int64_t to_signed(double v, int bits)
{
    int64_t most = INT64_MAX >> (64 - bits);
    if (v != v)
        return 0;
    return v >= (double)most ? most : v <= -(double)most - 1 ? -most - 1 : (int64_t)v;
}

static uint64_t to_unsigned(double v, int bits)
{
    uint64_t most = UINT64_MAX >> (64 - bits);
    if (!(v > 0))
        return 0;
    return v >= (double)most ? most : (uint64_t)v;
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

/* The three conversions of an element, by class of dtypes.def and, for floats, by dtype: its value
 * as double, a double as its value, an int64 as its value. */
#define GET_B(N, T) (LOAD(T) != 0)
#define GET_I(N, T) ((double)LOAD(T))
#define GET_U(N, T) ((double)LOAD(T))
#define GET_F(N, T) GET_##N(LOAD(T))
#define GET_C(N, T) (LOAD(T).re)
#define GET_S(N, T) lz_f8_to_f32(LZ_##N, LOAD(T))
#define GET_F16(x) lz_f16_to_f32(x)
#define GET_BF16(x) lz_bf16_to_f32(x)
#define GET_F32(x) (x)
#define GET_F64(x) (x)

#define OF_F64_B(N, T, v) ((v) != 0)
#define OF_F64_I(N, T, v) to_signed((v), lz_dtype_bits(LZ_##N))
#define OF_F64_U(N, T, v) to_unsigned((v), lz_dtype_bits(LZ_##N))
#define OF_F64_F(N, T, v) OF_F64_##N(v)
#define OF_F64_C(N, T, v) ((T){.re = (v)})
#define OF_F64_S(N, T, v) lz_f64_to_f8(LZ_##N, (v))
#define OF_F64_F16(v) lz_f64_to_f16(v)
#define OF_F64_BF16(v) lz_f64_to_bf16(v)
#define OF_F64_F32(v) (v)
#define OF_F64_F64(v) (v)

#define OF_I64_B(N, T, v) ((v) != 0)
#define OF_I64_I(N, T, v) lz_dtype_wrap(LZ_##N, (uint64_t)(v))
#define OF_I64_U(N, T, v) lz_dtype_wrap(LZ_##N, (uint64_t)(v))
#define OF_I64_F(N, T, v) OF_I64_##N(v)
#define OF_I64_C(N, T, v) ((T){.re = (v)})
#define OF_I64_S(N, T, v) lz_f64_to_f8(LZ_##N, odd_f64(v))
#define OF_I64_F16(v) lz_f64_to_f16(odd_f64(v))
#define OF_I64_BF16(v) lz_f64_to_bf16(odd_f64(v))
#define OF_I64_F32(v) (v)
#define OF_I64_F64(v) (v)

double lz_elem_get_f64(lz_dtype d, const void *p, int64_t i)
{
    switch (d) {
#define LZ_DTYPE(NAME, value, name, text, nbytes, cls, ctype)                                      \
    case LZ_##NAME:                                                                                \
        return GET_##cls(NAME, ctype);
#include <lazuli/dtypes.def>
#undef LZ_DTYPE
    default:
        return 0;
    }
}

int64_t lz_elem_get_i64(lz_dtype d, const void *p, int64_t i)
{
    switch (d) {
    case LZ_I64:
        return LOAD(int64_t);
    case LZ_U64:
        return (int64_t)LOAD(uint64_t);
    default:
        return to_signed(lz_elem_get_f64(d, p, i), 64);
    }
}

void lz_elem_set_f64(lz_dtype d, void *p, int64_t i, double v)
{
    switch (d) {
#define LZ_DTYPE(NAME, value, name, text, nbytes, cls, ctype)                                      \
    case LZ_##NAME:                                                                                \
        STORE(ctype, OF_F64_##cls(NAME, ctype, v));                                                \
        break;
#include <lazuli/dtypes.def>
#undef LZ_DTYPE
    default:
        break;
    }
}

void lz_elem_set_i64(lz_dtype d, void *p, int64_t i, int64_t v)
{
    switch (d) {
#define LZ_DTYPE(NAME, value, name, text, nbytes, cls, ctype)                                      \
    case LZ_##NAME:                                                                                \
        STORE(ctype, OF_I64_##cls(NAME, ctype, v));                                                \
        break;
#include <lazuli/dtypes.def>
#undef LZ_DTYPE
    default:
        break;
    }
}

/* ---- literals ---- */

enum { ALIGNMENT = 64 };

/* What fits a register lies behind the literal, which is aligned well enough: there may be very
 * many. */
static bool is_small(const lz_type *t)
{
    static_assert(sizeof(lz_literal) % 16 == 0,
                  "what follows it is aligned like memory of lz_alloc");
    return t->nbytes <= 16;
}

lz_literal *lz_literal_new(const lz_type *t)
{
    size_t nbytes;
    lz_literal *l = lz_add_size(t->nbytes, sizeof *l + (is_small(t) ? 0 : ALIGNMENT), &nbytes)
                        ? lz_calloc(1, nbytes)
                        : NULL;
    if (!l) {
        char text[200];
        (void)LZ_FAIL(LZ_EMEM, "no memory for a literal %s", lz_type_short(t, text, sizeof text));
        return NULL;
    }
    l->refs = 1;
    l->type = t;
    l->nbytes = t->nbytes;
    l->data = is_small(t) ? l + 1 : (void *)LZ_ALIGN_UP((uintptr_t)(l + 1), ALIGNMENT);
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
