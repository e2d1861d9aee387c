/* lit.c - random literals and their comparison. */
#include "support/lit.h"
#include "ir/eval/eval_complex.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- special values ---- */

static const uint64_t special_f32[] = {
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001,
    0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff, 0xff7fffff, 0x3f000000, 0xbf000000,
    0x3fc00000, 0x40200000, 0xc0200000, 0x3effffff, 0x4b000001, 0x4f000000, 0xcf000000, 0x5f800000,
    0x40490fdb, 0x42b17218, 0xc2cff1b5, 0x34000000, 0x3f7fffff, 0x3f800001, 0x40400000, 0xc0e00000};
static const uint64_t special_f64[] = {
    0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000,
    0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000001,
    0x0000000000000001, 0x8000000000000001, 0x000fffffffffffff, 0x0010000000000000,
    0x7fefffffffffffff, 0xffefffffffffffff, 0x3fe0000000000000, 0xbfe0000000000000,
    0x3ff8000000000000, 0x4004000000000000, 0xc004000000000000, 0x3fdfffffffffffff,
    0x4330000000000001, 0x41e0000000000000, 0xc1e0000000000000, 0x43e0000000000000,
    0xc3e0000000000000, 0x43f0000000000000, 0x400921fb54442d18, 0x40862e42fefa39f0,
    0xc0874910d52d3053, 0x3fefffffffffffff, 0x3ff0000000000001, 0x47efffffefffffff};
static const uint64_t special_f16[] = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00,
                                       0xfe01, 0x0001, 0x8001, 0x03ff, 0x0400, 0x7bff, 0xfbff,
                                       0x3800, 0xb800, 0x3e00, 0x4100, 0xc100, 0x37ff, 0x6401,
                                       0x4248, 0x498c, 0x3bff, 0x3c01, 0x4200, 0xc700, 0x5c00};
static const uint64_t special_bf16[] = {0x0000, 0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80, 0x7fc0,
                                        0xffc1, 0x0001, 0x8001, 0x007f, 0x0080, 0x7f7f, 0xff7f,
                                        0x3f00, 0xbf00, 0x3fc0, 0x4020, 0xc020, 0x3eff, 0x4301,
                                        0x4049, 0x42b1, 0x3f7f, 0x3f81, 0x4040, 0xc0e0, 0x4f00};

/* Of a format of at most 8 bits: the ends of its codes, of its denormals and of its numbers. */
static int small_float_specials(lz_dtype d, uint64_t *bits)
{
    static const uint8_t of_8_bits[] = {0x00, 0x01, 0x03, 0x04, 0x07, 0x08, 0x0f, 0x10,
                                        0x38, 0x3c, 0x40, 0x5a, 0x6f, 0x70, 0x71, 0x77,
                                        0x78, 0x79, 0x7b, 0x7c, 0x7d, 0x7e, 0x7f};
    int n = 0;
    for (size_t i = 0; i < sizeof of_8_bits && lz_dtype_bits(d) == 8; i++)
        for (uint64_t sign = 0; sign < 256; sign += 128)
            bits[n++] = of_8_bits[i] | sign;
    for (uint64_t c = 0; c < 16 && lz_dtype_bits(d) == 4; c++)
        bits[n++] = c;
    return n;
}

static int int_specials(lz_dtype d, uint64_t *bits)
{
    unsigned w = (unsigned)lz_dtype_bits(d);
    uint64_t mask = ~UINT64_C(0) >> (64 - w), top = UINT64_C(1) << (w - 1);
    const uint64_t v[] = {0,        1,        2,   3,       7,       w - 1,   w,  w + 1,   mask,
                          mask - 1, mask - 2, top, top + 1, top - 1, top - 2, 10, mask - 9};
    int n = (int)(sizeof v / sizeof *v);
    for (int i = 0; i < n; i++)
        bits[i] = v[i] & mask;
    return n;
}

static int copy_bits(uint64_t *bits, const uint64_t *v, size_t nbytes)
{
    memcpy(bits, v, nbytes);
    return (int)(nbytes / sizeof *v);
}

int lz_test_specials(lz_dtype d, uint64_t bits[64])
{
    switch (d) {
    case LZ_BOOL:
        bits[0] = 0;
        bits[1] = 1;
        return 2;
    case LZ_F32:
        return copy_bits(bits, special_f32, sizeof special_f32);
    case LZ_F64:
        return copy_bits(bits, special_f64, sizeof special_f64);
    case LZ_F16:
        return copy_bits(bits, special_f16, sizeof special_f16);
    case LZ_BF16:
        return copy_bits(bits, special_bf16, sizeof special_bf16);
    case LZ_C64:
    case LZ_C128:                    /* as complex64: lz_test_set_bits widens them */
        for (int i = 0; i < 64; i++) /* all pairs of 0 -0 1 -1 inf -inf nan 2.5 */
            bits[i] = special_f32[i % 8 == 7 ? 17 : i % 8] | special_f32[i / 8 == 7 ? 17 : i / 8]
                                                                 << 32;
        return 64;
    default:
        return lz_dtype_is_storage(d) ? small_float_specials(d, bits) : int_specials(d, bits);
    }
}

/* ---- elements ---- */

void lz_test_set_bits(lz_literal *l, int64_t i, uint64_t bits)
{
    size_t esize = lz_dtype_size(l->type->dtype);
    if (l->type->dtype == LZ_C128) {
        lz_c64 v;
        memcpy(&v, &bits, sizeof v);
        ((lz_c128 *)l->data)[i] = (lz_c128){v.re, v.im};
        return;
    }
    if (lz_dtype_is_narrow(l->type->dtype))
        bits = lz_dtype_wrap(l->type->dtype, bits);
    memcpy((char *)l->data + (size_t)i * esize, &bits, esize);
}

uint64_t lz_test_get_bits(const lz_literal *l, int64_t i)
{
    size_t esize = lz_dtype_size(l->type->dtype);
    uint64_t bits = 0, parts[2];
    if (l->type->dtype == LZ_C128) { /* different for different numbers, as good as always */
        memcpy(parts, (const char *)l->data + (size_t)i * esize, sizeof parts);
        return parts[0] ^ (parts[1] << 1 | parts[1] >> 63) * UINT64_C(0x9e3779b97f4a7c15);
    }
    memcpy(&bits, (const char *)l->data + (size_t)i * esize, esize);
    return bits;
}

static double modest(lz_rnd *r)
{
    double m = ldexp(1 + lz_rnd_unit(r), (int)lz_rnd_range(r, -3, 1));
    return lz_rnd_chance(r, 50) ? -m : m;
}

static void put_modest(lz_rnd *r, lz_literal *l, int64_t i)
{
    lz_dtype d = l->type->dtype;
    if (d == LZ_C64)
        ((lz_c64 *)l->data)[i] = (lz_c64){(float)modest(r), (float)modest(r)};
    else if (d == LZ_C128)
        ((lz_c128 *)l->data)[i] = (lz_c128){modest(r), modest(r)};
    else if (lz_dtype_is_float(d) || lz_dtype_is_storage(d))
        lz_elem_set_f64(d, l->data, i, modest(r));
    else if (d == LZ_BOOL)
        ((uint8_t *)l->data)[i] = lz_rnd_u64(r) & 1;
    else
        lz_elem_set_i64(d, l->data, i, lz_rnd_range(r, lz_dtype_is_signed(d) ? -9 : 0, 9));
}

static void put_wild(lz_rnd *r, lz_literal *l, int64_t i, const uint64_t *special, int nspecial)
{
    lz_dtype d = l->type->dtype;
    uint64_t bits =
        lz_rnd_chance(r, 25) ? special[lz_rnd_range(r, 0, nspecial - 1)] : lz_rnd_u64(r);
    if (d == LZ_BOOL)
        bits &= 1;
    if (lz_dtype_is_complex(d) || lz_rnd_chance(r, 25))
        put_modest(r, l, i);
    else
        lz_test_set_bits(l, i, bits);
}

/* In turn. Not the largest floats: whether they overflow depends on the order. Integers wrap in
 * any. */
static double spice(int *next)
{
    static const double values[] = {0, NAN, 1, -0.0, INFINITY, -INFINITY};
    return values[(*next)++ % (int)(sizeof values / sizeof *values)];
}

static bool put_spice(lz_rnd *r, lz_literal *l, int64_t i, const uint64_t *special, int nspecial,
                      int *next)
{
    lz_dtype d = l->type->dtype;
    if (lz_rnd_range(r, 1, 20) > 1)
        return false;
    if (lz_dtype_is_complex(d)) {
        lz_cx v = {spice(next), modest(r)};
        lz_ref_store_c(d, l->data, i, lz_rnd_chance(r, 50) ? v : (lz_cx){v.im, v.re});
    } else if (lz_dtype_is_float(d)) {
        double v = spice(next);
        lz_elem_set_f64(d, l->data, i, v);
        if (v == 1 && d != LZ_BF16) /* docs/reference/semantics.md: products of bf16 */
            lz_test_set_bits(l, i, (uint64_t)lz_rnd_range(r, 1, 3)); /* denormal */
    } else {
        lz_test_set_bits(l, i, special[lz_rnd_range(r, 0, nspecial - 1)]);
    }
    return true;
}

lz_literal *lz_test_random(lz_rnd *r, const lz_type *t, lz_fill fill)
{
    lz_literal *l = t ? lz_literal_new(t) : NULL;
    if (!l)
        return NULL;
    uint64_t special[64];
    int n = lz_test_specials(t->dtype, special);
    int64_t from = lz_rnd_range(r, 0, n - 1);
    int next = (int)from;
    for (int64_t i = 0; i < t->nelem; i++) {
        if (fill == LZ_FILL_SPECIAL)
            lz_test_set_bits(l, i, special[(from + i) % n]);
        else if (fill == LZ_FILL_WILD)
            put_wild(r, l, i, special, n);
        else if (fill == LZ_FILL_INDEX && lz_dtype_is_int(t->dtype))
            lz_elem_set_i64(t->dtype, l->data, i, lz_rnd_range(r, -2, 12));
        else if (fill != LZ_FILL_SPICED || !put_spice(r, l, i, special, n, &next))
            put_modest(r, l, i);
    }
    return l;
}

lz_literal *lz_test_lit_(lz_dtype d, lz_shape s, const double *v, size_t n)
{
    const lz_type *t = lz_type_get(d, &s);
    if (!t || (size_t)t->nelem != n)
        return NULL;
    lz_literal *l = lz_literal_new(t);
    for (size_t i = 0; l && i < n; i++) {
        lz_elem_set_f64(d, l->data, (int64_t)i, v[i]);
    }
    return l;
}

lz_literal *lz_test_lit_i64_(lz_dtype d, lz_shape s, const int64_t *v, size_t n)
{
    const lz_type *t = lz_type_get(d, &s);
    if (!t || (size_t)t->nelem != n)
        return NULL;
    lz_literal *l = lz_literal_new(t);
    for (size_t i = 0; l && i < n; i++)
        lz_elem_set_i64(d, l->data, (int64_t)i, v[i]);
    return l;
}

/* ---- the line of floats ---- */

typedef struct line {
    uint64_t sign, inf;
} line;

static line line_of(lz_dtype d)
{
    switch (d) {
    case LZ_F64:
        return (line){UINT64_C(1) << 63, UINT64_C(0x7ff) << 52};
    case LZ_F32:
        return (line){UINT64_C(1) << 31, UINT64_C(0xff) << 23};
    case LZ_F16:
        return (line){UINT64_C(1) << 15, UINT64_C(0x1f) << 10};
    default:
        return (line){UINT64_C(1) << 15, UINT64_C(0xff) << 7};
    }
}

static bool is_nan(line l, uint64_t bits)
{
    return (bits & ~l.sign) > l.inf;
}

static int64_t place(line l, uint64_t bits)
{
    return bits & l.sign ? -(int64_t)(bits & ~l.sign) : (int64_t)bits;
}

uint64_t lz_test_ulps(lz_dtype d, uint64_t a, uint64_t b)
{
    if (lz_dtype_is_storage(d)) /* NaN is NaN */
        return a == b || (isnan(lz_elem_get_f64(d, &a, 0)) && isnan(lz_elem_get_f64(d, &b, 0)))
                   ? 0
                   : UINT64_MAX;
    if (!lz_dtype_is_float(d))
        return a == b ? 0 : UINT64_MAX;
    line l = line_of(d);
    if (is_nan(l, a) || is_nan(l, b))
        return is_nan(l, a) && is_nan(l, b) ? 0 : UINT64_MAX;
    int64_t x = place(l, a), y = place(l, b);
    return x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}

uint64_t lz_test_step(lz_dtype d, uint64_t bits, int64_t steps)
{
    line l = line_of(d);
    if (is_nan(l, bits) || steps == 0)
        return bits;
    __int128 p = (__int128)place(l, bits) + steps;
    __int128 inf = (__int128)l.inf;
    p = p > inf ? inf : p < -inf ? -inf : p;
    return p < 0 ? l.sign | (uint64_t)-p : (uint64_t)p;
}

/* ---- comparison ---- */

static void print_value(const lz_literal *l, int64_t i, char *s, size_t n)
{
    lz_dtype d = l->type->dtype;
    uint64_t bits = lz_test_get_bits(l, i);
    if (lz_dtype_is_complex(d)) {
        lz_cx v = lz_ref_load_c(d, l->data, i);
        snprintf(s, n, "%.17Lg%+.17Lgi", v.re, v.im);
    } else if (lz_dtype_is_float(d) || lz_dtype_is_storage(d))
        snprintf(s, n, "%.17g (0x%" PRIx64 ")", lz_elem_get_f64(d, l->data, i), bits);
    else if (lz_dtype_is_signed(d))
        snprintf(s, n, "%" PRId64, lz_elem_get_i64(d, l->data, i));
    else
        snprintf(s, n, "%" PRIu64, bits);
}

void lz_test_print_diff(const lz_literal *got, const lz_literal *want, int64_t i, char *msg,
                        size_t nmsg)
{
    char at[128] = "", a[80], b[80], type[96];
    const lz_shape *s = &want->type->shape;
    int64_t rest = i, idx[LZ_MAX_RANK];
    for (int d = s->rank; d-- > 0; rest /= s->dims[d])
        idx[d] = rest % s->dims[d];
    for (int d = 0; d < s->rank; d++)
        snprintf(at + strlen(at), sizeof at - strlen(at), "%s%" PRId64, d ? "," : "", idx[d]);
    print_value(got, i, a, sizeof a);
    print_value(want, i, b, sizeof b);
    snprintf(msg, nmsg, "%s [%s] got %s, want %s", lz_type_short(want->type, type, sizeof type), at,
             a, b);
}

/* Complex arithmetic is accurate as a whole, not in each part: distance against magnitude. What is
 * not finite need only be not finite either. */
static bool same_complex(lz_dtype d, lz_cx a, lz_cx b, int ulp)
{
    long double eps = d == LZ_C128 ? 0x1p-52L : 0x1p-23L,
                tiny = d == LZ_C128 ? 0x1p-1074L : 0x1p-149L;
    if (!isfinite(b.re) || !isfinite(b.im))
        return !isfinite(a.re) || !isfinite(a.im);
    return hypotl(a.re - b.re, a.im - b.im) <= ulp * eps * hypotl(b.re, b.im) + ulp * tiny;
}

/* Of a complex number, a NaN in either is as good as another. */
static bool same_parts(lz_dtype d, const char *a, const char *b, int64_t i)
{
    lz_dtype part = lz_dtype_part(d);
    size_t size = lz_dtype_size(part);
    for (int64_t k = 2 * i; k < 2 * i + 2; k++)
        if (memcmp(a + (size_t)k * size, b + (size_t)k * size, size) != 0 &&
            !(isnan(lz_ref_load_f(part, a, k)) && isnan(lz_ref_load_f(part, b, k))))
            return false;
    return true;
}

static bool same_element(const lz_literal *got, const lz_literal *want, int64_t i, int ulp)
{
    lz_dtype d = want->type->dtype;
    uint64_t a = lz_test_get_bits(got, i), b = lz_test_get_bits(want, i);
    if (a == b)
        return true;
    if (lz_dtype_is_complex(d) && ulp == 0)
        return same_parts(d, got->data, want->data, i);
    if (lz_dtype_is_complex(d))
        return same_complex(d, lz_ref_load_c(d, got->data, i), lz_ref_load_c(d, want->data, i),
                            ulp);
    uint64_t dist = lz_test_ulps(d, a, b);
    if (dist == 0 && ulp == 0 && lz_dtype_is_float(d))
        return is_nan(line_of(d), a); /* zeros of different sign */
    return dist <= (uint64_t)ulp;
}

bool lz_test_same(const lz_literal *got, const lz_literal *want, int ulp, char *msg, size_t nmsg)
{
    if (!got || !want || got->type != want->type) {
        char a[96], b[96];
        snprintf(msg, nmsg, "got %s, want %s",
                 got ? lz_type_short(got->type, a, sizeof a) : "nothing",
                 want ? lz_type_short(want->type, b, sizeof b) : "nothing");
        return false;
    }
    for (int64_t i = 0; i < want->type->nelem; i++)
        if (!same_element(got, want, i, ulp)) {
            lz_test_print_diff(got, want, i, msg, nmsg);
            return false;
        }
    return true;
}

lz_func *lz_test_program(const char *path)
{
    lz_buf text = {0};
    char chunk[4096];
    size_t n;
    lz_func *f = NULL;
    FILE *in = fopen(path, "r");
    while (in && (n = fread(chunk, 1, sizeof chunk, in)) > 0)
        lz_buf_put(&text, chunk, n);
    if (!in) {
        (void)LZ_FAIL(LZ_ENOENT, "%s cannot be read", path);
        return NULL;
    }
    fclose(in);
    (void)lz_func_parse(lz_buf_str(&text), text.len, path, &f);
    lz_buf_free(&text);
    return f;
}
