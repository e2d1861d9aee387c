/* t_emit.c - every elementwise op on every dtype: compiled code against the reference evaluator, on
 * special values and random bits, within the tolerance of the op's row. One-operand ops on 16-bit
 * floats run over all their values. EMIT_EVERY=1 runs those of f32 over all 2^32 arguments,
 * EMIT_EVERY=n over every n-th; EMIT_OP=name restricts to an op; EMIT_REPORT=1 prints the largest
 * errors. */
#include "jit_util.h"
#include "ir/eval/eval_complex.h"
#include "special_ranges.h"
#include <float.h>
#include <math.h>

enum { N = 20011 };

/* ---- values ---- */

static const uint64_t special64[] = {0,
                                     1,
                                     2,
                                     0x7f,
                                     0x80,
                                     0xff,
                                     0x7fff,
                                     0x8000,
                                     0xffff,
                                     0x7fffffff,
                                     0x80000000,
                                     0xffffffff,
                                     0x7fffffffffffffff,
                                     0x8000000000000000,
                                     0xffffffffffffffff,
                                     0xfffffffffffffffe,
                                     0x3ff0000000000000,
                                     0xbff0000000000000,
                                     0x7ff0000000000000,
                                     0xfff0000000000000,
                                     0x7ff8000000000000,
                                     0x000fffffffffffff,
                                     0x0010000000000000,
                                     0x4330000000000000,
                                     0x4340000000000001,
                                     0x41dfffffffc00000,
                                     0x43e0000000000000,
                                     0x3fe0000000000000,
                                     0x3ff8000000000000,
                                     0x4004000000000000,
                                     0x40effffff0000000,
                                     0x47efffffe0000000,
                                     0x47effffff0000000,
                                     0x36a0000000000000,
                                     0x3690000000000000,
                                     0x0020000000000001,
                                     0xff,
                                     3,
                                     5,
                                     31,
                                     32,
                                     63,
                                     64,
                                     10,
                                     100};
static const uint32_t special32[] = {
    0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000, 0x3f800000, 0xbf800000,
    0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x7f7fffff, 0xff7fffff, 0x3f000000, 0xbf000000,
    0x3fc00000, 0x40200000, 0x4b000000, 0x4b000001, 0x4b800000, 0x4f000000, 0x4effffff, 0x5f000000,
    0xdf000000, 0x477fe000, 0x477fefff, 0x477ff000, 0x33800000, 0x33000000, 0x42b17218, 0xc2cff1b5,
    0x3effffff, 0x40490fdb, 0x3fc90fdb, 0x47c35000, 0x4f7fffff, 0x5f7fffff, 0x40000000, 0x40400000,
    0xc0400000, 0x41200000, 0x7f000000};
static const uint16_t special16[] = {0,      0x8000, 1,      0x8001, 0x3ff,  0x400,  0x3c00, 0xbc00,
                                     0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7bff, 0x3800, 0x3e00, 0x7f80,
                                     0xff80, 0x7fc0, 0x3f80, 0xbf80, 0x7f7f, 0x0080, 0x007f};

static uint64_t random_bits(lz_dtype d, int i)
{
    uint64_t r = rnd64();
    int small = i % 3;
    float f;
    double x;
    uint32_t u;
    switch (d) {
    case LZ_BOOL:
        return r & 1;
    case LZ_F32:
    case LZ_C64:
        f = (float)(rnd_unit() * (small == 1 ? 4 : 100));
        memcpy(&u, &f, 4);
        if (small == 0)
            u = r % 7 == 0 ? special32[(r >> 8) % (sizeof special32 / 4)] : (uint32_t)(r >> 32);
        if (d == LZ_C64) { /* one part or both special, the parts far from each other, or neither */
            f = (float)rnd_unit() * 8;
            uint32_t v,
                few[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
                         0x7fc00000, 0x3f000000, 0x7f7fffff, 1,          0x42b20000, 0xc2b20000};
            memcpy(&v, &f, 4);
            v = r >> 20 & 1 ? v : few[(r >> 21) % 12];
            u = small == 0 ? few[(r >> 40) % 12] : u;
            return r >> 50 & 1 ? (uint64_t)u | (uint64_t)v << 32 : (uint64_t)v | (uint64_t)u << 32;
        }
        return u;
    case LZ_F64:
        x = rnd_unit() * (small == 1 ? 4 : 1000);
        memcpy(&r, &x, 8);
        if (small == 0) {
            r = rnd64();
            r = r % 5 == 0 ? special64[(r >> 8) % (sizeof special64 / 8)] : r;
        }
        return r;
    case LZ_F16:
    case LZ_BF16:
        if (small == 0)
            return special16[r % (sizeof special16 / 2)];
        if (small == 1)
            return (r >> 20) & 0xffff;
        f = (float)(rnd_unit() * 8);
        return d == LZ_F16 ? lz_f32_to_f16(f) : lz_f32_to_bf16(f);
    default:
        if (small == 0)
            return special64[r % (sizeof special64 / 8)];
        return small == 1 ? (uint64_t)((int64_t)(r >> 40) % 41 - 20) : r;
    }
}

static bool quotient; /* the op is a division */

static void fill(lz_dtype d, char *p, int n)
{
    size_t es = lz_dtype_size(d);
    for (int i = 0; i < n; i++) {
        uint64_t v = random_bits(d == LZ_C128 ? LZ_C64 : d, i + (int)(rnd64() % 3));
        if (d == LZ_C128) { /* as complex64, but sometimes a part from anywhere in the range */
            lz_c64 c;
            memcpy(&c, &v, sizeof c);
            lz_c128 w = {c.re, c.im};
            if (rnd64() % 3 == 0)
                *(rnd64() % 2 ? &w.re : &w.im) *= ldexp(1, (int)(rnd64() % 2000) - 1000);
            if (quotient && rnd64() % 16 == 0) /* one part vanishes where the other is scaled */
                w = (lz_c128){rnd64() % 2 ? INFINITY : (double)FLT_MAX, ldexp(1, -1000)};
            if (rnd64() % 8 == 0)
                w.re *= 1 + 0x1p-40, w.im += w.re * 0x1p-30;
            memcpy(p + (size_t)i * es, &w, es);
            continue;
        }
        if (lz_dtype_is_narrow(d))
            v = lz_dtype_wrap(d, v);
        memcpy(p + (size_t)i * es, &v, es);
    }
}

/* ---- comparison ---- */

static int64_t ordered(int64_t v, int bits)
{
    int64_t sign = bits == 64 ? INT64_MIN : INT64_C(1) << (bits - 1);
    return v & sign ? -(v & ~sign) : v; /* v holds no bits above the float's */
}

/* Steps between two floats of dtype d; both NaN: 0; one NaN: a lot. */
static double distance(lz_dtype d, uint64_t a, uint64_t b)
{
    int bits = (int)lz_dtype_size(d) * 8;
    uint64_t inf = d == LZ_F64   ? 0x7ff0000000000000
                   : d == LZ_F32 ? 0x7f800000
                   : d == LZ_F16 ? 0x7c00
                                 : 0x7f80;
    uint64_t mask = bits == 64 ? INT64_MAX : (UINT64_C(1) << (bits - 1)) - 1;
    bool na = (a & mask) > inf, nb = (b & mask) > inf;
    if (na || nb)
        return na && nb ? 0 : 1e30;
    return fabs((double)((__int128)ordered((int64_t)a, bits) - ordered((int64_t)b, bits)));
}

static bool magnitude_of_complex; /* the op is abs of a complex number */
static bool power;                /* it is a power: the last bit of pi decides signs of zeros */
static bool half_turns;           /* an angle on the branch cut */
static double stretch = 1;        /* of the error */

/* Accurate to units of the magnitude; infinities, NaN and zeros part by part. */
static bool same_complex(const double *x, const double *y, double eps, double tiny)
{
    if (power && !(isfinite(y[0]) && isfinite(y[1])))
        return !isfinite(x[0]) || !isfinite(x[1]);
    for (int k = 0; k < 2; k++) {
        if (isnan(x[k]) || isnan(y[k])) {
            if (!isnan(x[k]) || !isnan(y[k]))
                return false;
        } else if (x[k] != y[k] && (isinf(x[k]) || isinf(y[k]))) {
            return false;
        } else if (!power && tiny > 0x1p-200 && x[k] == 0 && y[k] == 0 &&
                   signbit(x[k]) != signbit(y[k])) {
            return false;
        } else if (isfinite(x[k]) && isfinite(y[k])) {
            long double m = isfinite(y[1 - k]) ? hypotl(y[0], y[1]) : fabsl(y[k]);
            long double off = fabsl((long double)x[k] - y[k]);
            if (off > eps * stretch * m + 2 * tiny &&
                !(half_turns && k == 0 && fabsl(remainderl(off, 3.14159265358979324L)) < 1e-14L))
                return false;
        }
    }
    return true;
}

static bool close_enough(lz_dtype d, const lz_op_info *info, const char *got, const char *want,
                         double *worst)
{
    size_t es = lz_dtype_size(d);
    if (d == LZ_C128) {
        double x[2], y[2];
        memcpy(x, got, 16);
        memcpy(y, want, 16);
        return same_complex(x, y, 0x1p-47, 0x1p-1074);
    }
    uint64_t a = 0, b = 0;
    memcpy(&a, got, es);
    memcpy(&b, want, es);
    if (a == b)
        return true;
    if (lz_dtype_is_storage(d)) /* NaN has a sign that no operation promises */
        return isnan(lz_elem_get_f64(d, got, 0)) && isnan(lz_elem_get_f64(d, want, 0));
    if (d == LZ_C64) {
        float x[2], y[2];
        memcpy(x, got, 8);
        memcpy(y, want, 8);
        return same_complex((double[]){x[0], x[1]}, (double[]){y[0], y[1]}, 0x1p-22, 0x1p-149);
    }
    if (info->tol == LZ_TOL_EXACT && magnitude_of_complex) /* rounded twice */
        return distance(d, a, b) <= 1;
    if (!lz_dtype_is_float(d))
        return false;
    double dist = distance(d, a, b);
    *worst = dist > *worst ? dist : *worst;
    if (info->tol == LZ_TOL_EXACT)
        return dist == 0 && ordered((int64_t)a, (int)es * 8) !=
                                ordered((int64_t)b, (int)es * 8); /* two NaN; -0 is not +0 */
    return dist <= info->ulp;
}

/* ---- one op on one combination of dtypes ---- */

static lz_kernel *kernel_of(lz_op op, const lz_attr *attr, lz_dtype out, const lz_dtype *in,
                            int arity, int64_t n, lz_vec vec, int uniform)
{
    lz_kernel *k = lz_kernel_new(lz_op_get(op)->text);
    k->nouter = 1;
    k->outer[0] = sz(n);
    k->vec = vec;
    stages_new(k, 1);
    int32_t v[3] = {-1, -1, -1};
    for (int i = 0; i < arity; i++) {
        lz_access a = access_to(add_buf(k, in[i], false));
        a.stride[0] = sz(uniform == i ? 0 : 1);
        v[i] = add_load(k, k->stages, a);
    }
    lz_access w = access_to(add_buf(k, out, true));
    w.stride[0] = sz(1);
    add_store(k->stages, w, add_ew(k->stages, op, out, attr, v[0], v[1], v[2]));
    must(lz_kernel_finish(k));
    return k;
}

/* Complex powers whose exponent times logarithm is so large that its rounding decides
 * everything. */
static bool far_power(const lz_ref_ew *e, int i)
{
    stretch = 1;
    if (e->op != LZ_OP_POWER || !lz_dtype_is_complex(e->in[0]))
        return false;
    lz_cx a = lz_ref_load_c(e->in[0], e->src[0], i * e->step[0]),
          b = lz_ref_load_c(e->in[1], e->src[1], i * e->step[1]);
    long double w = lz_cx_abs(b) * lz_cx_abs(lz_cx_log(a));
    stretch = w < 1e6L ? 1 + (double)w : 1;
    return !(w < 1e6L) && lz_cx_abs(b) != 0;
}

static double check_op(lz_op op, const lz_attr *attr, lz_dtype out, const lz_dtype *in, int n,
                       lz_vec vec, int uniform, guarded *src)
{
    const lz_op_info *info = lz_op_get(op);
    guarded own[3] = {{0}}, dst = guarded_new((size_t)n * lz_dtype_size(out), 0);
    lz_ref_ew e = {.op = op, .attr = attr, .out = out, .n = n};
    void *bufs[4];
    for (int i = 0; i < info->arity; i++) {
        int m = uniform == i ? 1 : n;
        if (!src) {
            own[i] = guarded_new((size_t)m * lz_dtype_size(in[i]), 0);
            fill(in[i], own[i].p, m);
        }
        bufs[i] = src ? src[i].p : own[i].p;
        e.src[i] = bufs[i];
        e.in[i] = in[i];
        e.step[i] = uniform == i ? 0 : 1;
    }
    bufs[info->arity] = dst.p;
    char *want = malloc((size_t)n * 16);
    e.dst = want;
    if (lz_ref_ew_get(op)(&e) != LZ_OK) { /* has no meaning on this dtype */
        free(want);
        return 0;
    }
    lz_kernel *k = kernel_of(op, attr, out, in, info->arity, n, vec, uniform);
    jit j = jit_new(k);
    jit_run(&j, bufs, k->args, 3, true);
    double worst = 0;
    size_t es = lz_dtype_size(out);
    for (int i = 0; i < n; i++)
        if (!far_power(&e, i) &&
            !close_enough(out, info, dst.p + (size_t)i * es, want + (size_t)i * es, &worst)) {
            uint64_t a[2] = {0}, b[2] = {0}, x[3][2] = {{0}};
            memcpy(a, dst.p + (size_t)i * es, es);
            memcpy(b, want + (size_t)i * es, es);
            for (int q = 0; q < info->arity; q++)
                memcpy(x[q],
                       (const char *)e.src[q] + (size_t)(i * e.step[q]) * lz_dtype_size(in[q]),
                       lz_dtype_size(in[q]));
#define W(v) (unsigned long long)(v)[0], (unsigned long long)(v)[1]
            ck_abort_msg("%s %s->%s at %d: %llx:%llx %llx:%llx %llx:%llx gave %llx:%llx, expected "
                         "%llx:%llx (%g steps)",
                         info->text, lz_dtype_name(in[0]), lz_dtype_name(out), i, W(x[0]), W(x[1]),
                         W(x[2]), W(a), W(b), es <= 8 ? distance(out, a[0], b[0]) : 0);
        }
    jit_free(&j);
    lz_kernel_free(k);
    free(want);
    guarded_free(&dst);
    for (int i = 0; i < 3; i++)
        guarded_free(&own[i]);
    return worst;
}

static const lz_attr *compare_attr(int dir, int type)
{
    lz_attr_compare a;
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_compare;
    a.comparison_direction = dir;
    a.compare_type = type;
    return lz_attr_get((const lz_attr *)&a);
}

static const lz_attr *dtype_attr(lz_dtype d)
{
    lz_attr_dtype a;
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_dtype;
    a.dtype = d;
    return lz_attr_get((const lz_attr *)&a);
}

static const lz_attr *precision_attr(int e, int m)
{
    lz_attr_precision a;
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_precision;
    a.exponent_bits = e;
    a.mantissa_bits = m;
    return lz_attr_get((const lz_attr *)&a);
}

/* f32 and f64 beside what is special; the second operand is another one, or a small whole number.
 */
static double check_special_ranges(lz_op op, lz_dtype d, lz_dtype out)
{
    enum { MOST = 32000 };
    static double x[MOST];
    bool wide = d == LZ_F64;
    lz_dtype in[3] = {d, d, d};
    int n = special_ranges(wide, x, MOST), arity = lz_op_get(op)->arity;
    guarded src[3] = {{0}};
    double worst = 0;
    for (int round = 0; round < (arity == 1 ? 1 : 3); round++) {
        for (int k = 0; k < arity; k++) {
            src[k] = guarded_new((size_t)n * lz_dtype_size(d), 0);
            for (int i = 0; i < n; i++) {
                bool whole = round == 1 + k && arity == 2;
                double v =
                    whole ? (double)(rnd64() % 24) - 3 : x[k ? (int)(rnd64() % (unsigned)n) : i];
                if (wide)
                    ((double *)(void *)src[k].p)[i] = v;
                else
                    ((float *)(void *)src[k].p)[i] = (float)v;
            }
        }
        double w = check_op(op, NULL, out, in, n, LZ_VEC_OUTER, -1, src);
        worst = w > worst ? w : worst;
        for (int k = 0; k < arity; k++)
            guarded_free(&src[k]);
    }
    return worst;
}

/* The dtype of the result for operands of d. */
static lz_dtype result_of(lz_op op, lz_dtype d)
{
    const lz_shape scalar = LZ_SCALAR;
    const lz_type *t = lz_type_get(d, &scalar), *opnd[3] = {t, t, t};
    const lz_sig *s = lz_sig_get(op, NULL, opnd, (uint32_t)lz_op_get(op)->arity);
    ck_assert_msg(s != NULL, "%s", lz_error_get()->message);
    return s->result[0]->dtype;
}

static void check_dtype(lz_op op, lz_dtype d)
{
    const lz_op_info *info = lz_op_get(op);
    lz_dtype in[3] = {d, d, d};
    bool report = getenv("EMIT_REPORT") != NULL;
    double worst = 0;
    if (op == LZ_OP_COMPARE) {
        for (int dir = 0; dir < 6; dir++) {
            check_op(op, compare_attr(dir, LZ_CT_NOTYPE), LZ_BOOL, in, N, LZ_VEC_OUTER, -1, NULL);
            if (lz_dtype_is_float(d) && d != LZ_F16) /* hardware makes every f16 NaN a quiet one */
                check_op(op, compare_attr(dir, LZ_CT_TOTALORDER), LZ_BOOL, in, N, LZ_VEC_OUTER, -1,
                         NULL);
        }
        return;
    }
    if (op == LZ_OP_CONVERT) {
        for (lz_dtype to = LZ_BOOL; to < LZ_DTYPE_COUNT; to++) {
            check_op(op, dtype_attr(to), to, in, N, LZ_VEC_OUTER, -1, NULL);
            check_op(op, dtype_attr(to), to, in, 300, LZ_VEC_NONE, -1, NULL);
        }
        return;
    }
    if (op == LZ_OP_REDUCE_PRECISION) {
        const int em[][2] = {{5, 10}, {8, 7}, {8, 23}, {4, 3}, {5, 2}, {11, 52}, {2, 0}, {8, 0}};
        for (size_t i = 0; i < sizeof em / sizeof *em; i++)
            check_op(op, precision_attr(em[i][0], em[i][1]), d, in, N, LZ_VEC_OUTER, -1, NULL);
        return;
    }
    if (op == LZ_OP_SELECT) {
        for (lz_dtype v = LZ_BOOL; v < LZ_DTYPE_COUNT; v++)
            check_op(op, NULL, v, (lz_dtype[]){LZ_BOOL, v, v}, N, LZ_VEC_OUTER, (int)(v % 4) - 1,
                     NULL);
        return;
    }
    lz_dtype out = result_of(op, d);
    power = op == LZ_OP_POWER;
    quotient = op == LZ_OP_DIVIDE;
    half_turns = op == LZ_OP_ATAN2 && d == LZ_C128;
    magnitude_of_complex = op == LZ_OP_ABS && lz_dtype_is_complex(d);
    for (int uniform = -1; uniform < info->arity; uniform++) {
        double w = check_op(op, NULL, out, in, N, LZ_VEC_OUTER, uniform, NULL);
        worst = w > worst ? w : worst;
    }
    check_op(op, NULL, out, in, 999, LZ_VEC_NONE, -1, NULL);
    if (info->arity == 1 && (d == LZ_F16 || d == LZ_BF16)) {
        guarded all = guarded_new(1 << 17, 0);
        for (int i = 0; i < 1 << 16; i++)
            ((uint16_t *)(void *)all.p)[i] = (uint16_t)i;
        double w = check_op(op, NULL, out, in, 1 << 16, LZ_VEC_OUTER, -1, &all);
        worst = w > worst ? w : worst;
        guarded_free(&all);
    }
    if (info->arity == 1 && d == LZ_F32) {
        const int n = lz_test_small() ? 1 << 17 : 1 << 20;
        guarded all = guarded_new((size_t)n * 4, 0);
        for (int i = 0; i < n; i++)
            ((uint32_t *)(void *)all.p)[i] = (uint32_t)rnd64();
        double w = check_op(op, NULL, out, in, n, LZ_VEC_OUTER, -1, &all);
        worst = w > worst ? w : worst;
        guarded_free(&all);
    }
    if (d == LZ_F32 || d == LZ_F64) {
        double w = check_special_ranges(op, d, out);
        worst = w > worst ? w : worst;
    }
    const char *every = getenv("EMIT_EVERY"); /* 1: all 2^32 arguments; n: every n-th */
    if (every && info->arity == 1 && d == LZ_F32) {
        enum { M = 1 << 22 };
        guarded all = guarded_new((size_t)M * 4, 0);
        uint64_t step = (uint64_t)atoll(every), at = 0;
        for (step = step ? step : 1; at <= UINT32_MAX;) {
            for (int i = 0; i < M; i++, at += step)
                ((uint32_t *)(void *)all.p)[i] = (uint32_t)at;
            double w = check_op(op, NULL, out, in, M, LZ_VEC_OUTER, -1, &all);
            worst = w > worst ? w : worst;
        }
        guarded_free(&all);
    }
    if (report && info->tol != LZ_TOL_EXACT && lz_dtype_is_float(d))
        fprintf(stderr, "%-26s %-5s worst %g of %d\n", info->text, lz_dtype_name(d), worst,
                info->ulp);
}

START_TEST(one_op)
{
    lz_op op = (lz_op)_i;
    if (lz_op_get(op)->cls != LZ_CLASS_EW)
        return;
    if (getenv("EMIT_OP") && strcmp(getenv("EMIT_OP"), lz_op_get(op)->text) != 0)
        return;
    for (lz_dtype d = LZ_BOOL; d < LZ_DTYPE_COUNT; d++)
        if (lz_op_accepts(op, d) && lz_test_in_turn((unsigned)(op + d), lz_test_small() ? 4 : 2))
            check_dtype(op, d);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("emit");
    TCase *t = tcase_create("ops");
    tcase_set_timeout(t, getenv("EMIT_EVERY") ? 36000 : 300);
    tcase_add_loop_test(t, one_op, 1, LZ_OP_COUNT);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
