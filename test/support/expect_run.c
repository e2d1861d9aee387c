/* expect_run.c - see expect_run.h: how inexact each operation is, and how its results are moved. */
#include "support/expect_run.h"
#include "ir/eval/eval_complex.h"
#include "support/expect_linalg.h"
#include "support/lit.h"
#include <math.h>
#include <string.h>

/* ---- how inexact an instruction is ---- */

/* Whether a region does float arithmetic that rounds. */
static bool region_rounds(const lz_func *f)
{
    for (uint32_t i = f->nparam; i < f->ninst; i++) {
        const lz_sig *s = f->insts[i].sig;
        lz_dtype d = s->nresult ? s->result[0]->dtype : LZ_DTYPE_NONE;
        if (f->insts[i].lit || !(lz_dtype_is_float(d) || lz_dtype_is_complex(d)))
            continue;
        switch (s->op) {
        case LZ_OP_MAXIMUM:
        case LZ_OP_MINIMUM:
        case LZ_OP_SELECT:
        case LZ_OP_CLAMP:
        case LZ_OP_ABS:
        case LZ_OP_NEGATE:
            break;
        default:
            return true;
        }
    }
    return false;
}

const lz_func *lz_expect_region(const lz_sig *s)
{
    return s->op == LZ_OP_REDUCE               ? LZ_ATTR(reduce, s->attr)->body
           : s->op == LZ_OP_SCATTER            ? LZ_ATTR(scatter, s->attr)->update_computation
           : s->op == LZ_OP_REDUCE_WINDOW      ? LZ_ATTR(reduce_window, s->attr)->body
           : s->op == LZ_OP_SELECT_AND_SCATTER ? LZ_ATTR(select_and_scatter, s->attr)->scatter
                                               : NULL;
}

static double product_of(const lz_ints *v)
{
    double n = 1;
    for (int k = 0; k < v->n; k++)
        n *= (double)v->v[k];
    return n;
}

/* Number of terms that can meet in one element of a SUM row. */
static double terms_of(const lz_sig *s)
{
    double n = 1;
    if (s->op == LZ_OP_DOT_GENERAL) {
        const lz_attr_dot *a = LZ_ATTR(dot, s->attr);
        for (int k = 0; k < a->lhs_contracting_dimensions.n; k++)
            n *= (double)s->opnd[0]->shape.dims[a->lhs_contracting_dimensions.v[k]];
    } else if (s->op == LZ_OP_REDUCE) {
        const lz_attr_reduce *a = LZ_ATTR(reduce, s->attr);
        for (int k = 0; k < a->dimensions.n; k++)
            n *= (double)s->opnd[0]->shape.dims[a->dimensions.v[k]];
    } else if (s->op == LZ_OP_REDUCE_WINDOW) {
        n = product_of(&LZ_ATTR(reduce_window, s->attr)->window_dimensions);
    } else if (s->op == LZ_OP_SELECT_AND_SCATTER) {
        n = product_of(&LZ_ATTR(select_and_scatter, s->attr)->window_dimensions);
    } else {
        n = (double)s->opnd[s->nresult]
                ->nelem; /* scatter: of the indices; convolution: of the kernel */
    }
    return n + 2;
}

/* Steps on the line of floats for elementwise rows. */
static int steps_of(const lz_sig *s, int extra_ulp)
{
    const lz_op_info *info = lz_op_get(s->op);
    if (info->tol == LZ_TOL_ULP)
        return info->ulp;
    switch (s->op) {
    case LZ_OP_ABS: /* of complex numbers: a root of squares, not rounded correctly */
        return lz_dtype_is_complex(s->opnd[0]->dtype) ? 1 : 0;
    case LZ_OP_ADD:
    case LZ_OP_SUBTRACT:
    case LZ_OP_MULTIPLY:
    case LZ_OP_DIVIDE:
        return extra_ulp;
    default:
        return 0;
    }
}

/* Units of roundoff by which an elementwise operation on complex numbers may move its result, of
 * the magnitude: parts that are small beside it have no digits of their own. */
static double complex_units(const lz_sig *s)
{
    enum { UNITS = 16 };
    if (lz_op_get(s->op)->cls != LZ_CLASS_EW || !lz_dtype_is_complex(s->result[0]->dtype))
        return 0;
    switch (s->op) {
    case LZ_OP_ADD:
    case LZ_OP_SUBTRACT:
    case LZ_OP_NEGATE:
    case LZ_OP_COMPLEX:
    case LZ_OP_CONVERT:
    case LZ_OP_SELECT:
    case LZ_OP_CLAMP:
    case LZ_OP_MAXIMUM:
    case LZ_OP_MINIMUM:
        return 0;
    default:
        return UNITS;
    }
}

static bool is_sum(const lz_sig *s)
{
    if (lz_op_get(s->op)->tol != LZ_TOL_SUM)
        return false;
    const lz_func *region = lz_expect_region(s);
    return !region || region_rounds(region);
}

bool lz_expect_inexact(const lz_sig *s, int extra_ulp)
{
    return is_sum(s) || steps_of(s, extra_ulp) > 0 || complex_units(s) > 0;
}

bool lz_expect_makes_nans(const lz_sig *s)
{
    const lz_op_info *info = lz_op_get(s->op);
    return s->nresult == 1 && lz_dtype_is_float(s->result[0]->dtype) &&
           (info->cls == LZ_CLASS_EW || info->cls == LZ_CLASS_REDUCE || info->cls == LZ_CLASS_DOT ||
            info->cls == LZ_CLASS_WINDOW || s->op == LZ_OP_SCATTER);
}

/* ---- runs with perturbed results ---- */

/* How far to move the next element: -1 .. 1 times what its row allows. At random also in between:
 * equal moves of two elements would vanish in their difference. */
static double move_of(lz_expect_run *r)
{
    if (r->mode < MODE_BIT)
        return r->mode == MODE_UP ? 1 : -1;
    if (r->mode < MODE_ZERO)
        return r->ordinal >> (r->mode - MODE_BIT) & 1 ? 1 : -1;
    if (r->mode < MODE_RANDOM)
        return 0;
    return (double)lz_rnd_range(&r->rnd, -4, 4) / 4;
}

/* v, known up to `bound`. */
static double moved(lz_expect_run *r, double v, double bound)
{
    if (fabs(v) <= bound && r->mode == MODE_ZERO)
        return 0;
    if (fabs(v) <= bound && r->mode == MODE_MINUS_ZERO)
        return -0.0;
    return v + move_of(r) * bound;
}

/* Which NaN an operation gives is not said: the sign of those it makes is another in every run. */
static void nudge_nans(lz_expect_run *r, lz_literal *l)
{
    lz_dtype d = l->type->dtype;
    uint64_t sign = UINT64_C(1) << (lz_dtype_size(d) * 8 - 1);
    for (int64_t i = 0; i < l->type->nelem; i++)
        if (isnan(lz_elem_get_f64(d, l->data, i)) && move_of(r) < 0)
            lz_test_set_bits(l, i, lz_test_get_bits(l, i) ^ sign);
}

static void nudge_steps(lz_expect_run *r, lz_literal *l, int steps)
{
    lz_dtype d = l->type->dtype;
    for (int64_t i = 0; lz_dtype_is_float(d) && i < l->type->nelem; i++)
        lz_test_set_bits(l, i, lz_test_step(d, lz_test_get_bits(l, i), lround(move_of(r) * steps)));
}

static void nudge_complex_units(lz_expect_run *r, lz_literal *l, double units)
{
    lz_dtype d = l->type->dtype;
    for (int64_t i = 0; i < l->type->nelem; i++) {
        lz_cx v = lz_ref_load_c(d, l->data, i);
        double bound = units * (d == LZ_C128 ? 0x1p-53 : 0x1p-24) * (double)lz_cx_abs(v);
        if (isfinite(bound))
            lz_ref_store_c(d, l->data, i,
                           (lz_cx){moved(r, (double)v.re, bound), moved(r, (double)v.im, bound)});
    }
}

/* What a sum or product is evaluated on besides its operands: their magnitudes; or only those below
 * 1, or above it, for the least and the most that factors can come to on the way. */
typedef enum measure_of { MAGNITUDE, AT_MOST_1, AT_LEAST_1 } measure_of;

static double measured(double x, measure_of m)
{
    return m == AT_MOST_1 ? fmin(x, 1) : m == AT_LEAST_1 ? fmax(x, 1) : x;
}

/* Magnitudes; of a complex number those of its parts, or, where they meet in products, the sum of
 * both. */
static lz_literal *abs_of(const lz_literal *l, bool apart, measure_of what)
{
    lz_dtype d = l->type->dtype;
    lz_literal *a = lz_literal_copy_from(l->type, l->data);
    for (int64_t i = 0; a && i < l->type->nelem; i++) {
        if (lz_dtype_is_complex(d)) {
            lz_cx v = lz_ref_load_c(d, l->data, i);
            double re = fabs((double)v.re), im = fabs((double)v.im);
            lz_ref_store_c(d, a->data, i,
                           apart ? (lz_cx){re, im} : (lz_cx){measured(re + im, what), 0});
        } else if (lz_dtype_is_float(d)) {
            lz_elem_set_f64(d, a->data, i, measured(fabs(lz_elem_get_f64(d, l->data, i)), what));
        }
    }
    return a;
}

/* Single sums and products of 16-bit floats are kept wide; other regions may be rounded at every
 * step, or not. */
static bool kept_wide(const lz_sig *s)
{
    const lz_func *region = lz_expect_region(s);
    lz_op op = region && s->nresult == 1 ? lz_region_as_binary(region) : LZ_OP_NONE;
    return !region || op == LZ_OP_ADD ||
           (op == LZ_OP_MULTIPLY && s->op != LZ_OP_SCATTER && s->op != LZ_OP_SELECT_AND_SCATTER);
}

/* The smallest number of what sums are kept in. */
static double smallest(const lz_sig *s, lz_dtype d)
{
    if (d == LZ_F64)
        return 0x1p-1074;
    return kept_wide(s) || d == LZ_F32 ? 0x1p-149 : d == LZ_F16 ? 0x1p-24 : 0x1p-133;
}

/* Unit roundoff of what sums are kept in. */
static double roundoff(const lz_sig *s, lz_dtype d)
{
    bool wide = kept_wide(s);
    if (lz_dtype_part(d) == LZ_F64)
        return 0x1p-53;
    return wide || d == LZ_F32 ? 0x1p-24 : d == LZ_F16 ? 0x1p-11 : 0x1p-8;
}

static bool multiplies(const lz_func *region)
{
    for (uint32_t i = region ? region->nparam : 0; region && i < region->ninst; i++)
        if (region->insts[i].sig->op == LZ_OP_MULTIPLY)
            return true;
    return false;
}

static void nudge_complex(lz_expect_run *r, lz_literal *out, const lz_literal *mag, double bound,
                          bool apart, bool product)
{
    lz_dtype d = out->type->dtype;
    for (int64_t i = 0; i < out->type->nelem; i++) {
        lz_cx v = lz_ref_load_c(d, out->data, i), m = lz_ref_load_c(d, mag->data, i);
        double re = fabs((double)m.re) * bound, im = apart ? fabs((double)m.im) * bound : re;
        bool gone = !isfinite(v.re) || !isfinite(v.im);
        if (gone && product) { /* which part overflows first is a matter of the order */
            v.re = move_of(r) < 0 ? 0 : NAN;
            v.im = move_of(r) < 0 ? 0 : NAN;
        } else if (!gone || apart) {
            v.re = isfinite(v.re) && isfinite(re) ? moved(r, (double)v.re, re) : v.re;
            v.im = isfinite(v.im) && isfinite(im) ? moved(r, (double)v.im, im) : v.im;
        }
        lz_ref_store_c(d, out->data, i, v);
    }
}

static void release_all(lz_literal **l, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        lz_literal_release(l[k]);
}

enum { MOST_OPERANDS = 16, MOST_RESULTS = 8 };

/* The operation on measures of its operands. */
static lz_status evaluate_measure(const lz_sig *s, lz_literal *const *opnd, bool apart,
                                  measure_of what, lz_literal **out)
{
    lz_literal *a[MOST_OPERANDS] = {NULL};
    if (s->nopnd > MOST_OPERANDS || s->nresult > MOST_RESULTS)
        return LZ_FAIL(LZ_EUNSUPPORTED, "%u operands", s->nopnd);
    lz_status st = LZ_OK;
    for (uint32_t k = 0; st == LZ_OK && k < s->nopnd; k++) {
        /* what is selected stays the same */
        bool keep = s->op == LZ_OP_SELECT_AND_SCATTER && k == 0;
        a[k] = keep ? lz_literal_copy_from(opnd[k]->type, opnd[k]->data)
                    : abs_of(opnd[k], apart, what);
        st = a[k] ? LZ_OK : LZ_EMEM;
    }
    if (st == LZ_OK)
        st = lz_ref_eval_inst(s, a, out);
    release_all(a, MOST_OPERANDS);
    return st;
}

static double magnitude_at(const lz_literal *l, int64_t i)
{
    lz_dtype d = l->type->dtype;
    return lz_dtype_is_complex(d) ? (double)lz_ref_load_c(d, l->data, i).re
                                  : lz_elem_get_f64(d, l->data, i);
}

/* Where factors overflow or vanish on the way, which came first decides what becomes of the
 * product. */
static lz_status nudge_products(lz_expect_run *r, const lz_sig *s, lz_literal *const *opnd,
                                lz_literal **out)
{
    lz_literal *low[MOST_RESULTS] = {NULL}, *high[MOST_RESULTS] = {NULL};
    lz_status st = evaluate_measure(s, opnd, false, AT_MOST_1, low);
    if (st == LZ_OK)
        st = evaluate_measure(s, opnd, false, AT_LEAST_1, high);
    for (uint32_t k = 0; st == LZ_OK && k < s->nresult; k++) {
        lz_dtype d = out[k]->type->dtype, p = lz_dtype_part(d);
        double least = p == LZ_F64 ? 0x1p-1022 : p == LZ_F16 ? 0x1p-14 : 0x1p-126;
        for (int64_t i = 0;
             (lz_dtype_is_float(d) || lz_dtype_is_complex(d)) && i < out[k]->type->nelem; i++) {
            double most = magnitude_at(high[k], i);
            if (magnitude_at(low[k], i) >= least && isfinite(most))
                continue;
            double to = move_of(r) < 0 ? 0 : NAN;
            if (lz_dtype_is_complex(d))
                lz_ref_store_c(d, out[k]->data, i, (lz_cx){to, to});
            else
                lz_elem_set_f64(d, out[k]->data, i, to);
        }
    }
    release_all(low, MOST_RESULTS);
    release_all(high, MOST_RESULTS);
    return st;
}

/* Sums move by terms * unit roundoff * sum of magnitudes, the latter evaluated on absolute values,
 * and by what is lost below the smallest number. */
static lz_status nudge_sum(lz_expect_run *r, const lz_sig *s, lz_literal *const *opnd,
                           lz_literal **out)
{
    lz_literal *mag[MOST_RESULTS] = {NULL};
    bool product = multiplies(lz_expect_region(s)), apart = lz_expect_region(s) && !product;
    lz_status st = evaluate_measure(s, opnd, apart, MAGNITUDE, mag);
    double terms = terms_of(s);
    for (uint32_t k = 0; st == LZ_OK && k < s->nresult; k++) {
        lz_dtype d = out[k]->type->dtype;
        double eps = roundoff(s, d), tiny = smallest(s, d);
        if (lz_dtype_is_complex(d))
            nudge_complex(r, out[k], mag[k], terms * 4 * eps, apart, product);
        for (int64_t i = 0; lz_dtype_is_float(d) && i < out[k]->type->nelem; i++) {
            double v = lz_elem_get_f64(d, out[k]->data, i),
                   m = fmax(fabs(v), fabs(lz_elem_get_f64(d, mag[k]->data, i)));
            double move = move_of(r);
            if (!isfinite(v) && product)
                lz_elem_set_f64(d, out[k]->data, i, move < 0 ? 0 : NAN);
            if (!isfinite(v))
                continue;
            double to = moved(r, v, terms * (eps * m + tiny));
            lz_elem_set_f64(d, out[k]->data, i, to);
            if (to != 0)
                lz_test_set_bits(out[k], i,
                                 lz_test_step(d, lz_test_get_bits(out[k], i), lround(move)));
        }
    }
    release_all(mag, MOST_RESULTS);
    return st == LZ_OK && product ? nudge_products(r, s, opnd, out) : st;
}

/* Transforms move by unit roundoff * log2 of the elements * the norm of what is transformed
 * together, and each product on the way by the least number; with anything that is not finite in
 * it, anywhere. */
static lz_status nudge_fft(lz_expect_run *r, const lz_sig *s, const lz_literal *x, lz_literal *out)
{
    const lz_attr_fft *a = LZ_ATTR(fft, s->attr);
    lz_dtype d = x->type->dtype, od = out->type->dtype;
    bool dbl = lz_dtype_part(d) == LZ_F64;
    double n = 1, eps = dbl ? 0x1p-53 : 0x1p-24, tiny = dbl ? 0x1p-1074 : 0x1p-149, norm = 0;
    for (int k = 0; k < a->fft_length.n; k++)
        n *= (double)a->fft_length.v[k];
    for (int64_t i = 0; i < x->type->nelem; i++) {
        lz_cx v = lz_dtype_is_complex(d) ? lz_ref_load_c(d, x->data, i)
                                         : (lz_cx){lz_elem_get_f64(d, x->data, i), 0};
        norm = hypot(norm, (double)lz_cx_abs(v)); /* of the whole operand: more than of each part */
    }
    bool inverse = a->fft_type == LZ_IFFT || a->fft_type == LZ_IRFFT;
    double bound = 6 * (2 + log2(n + 1)) * (eps * norm / (inverse ? n : 1) + tiny * n);
    for (int64_t i = 0; i < out->type->nelem; i++) {
        double to = isfinite(bound) ? 1 : move_of(r) < 0 ? NAN : INFINITY;
        if (lz_dtype_is_complex(od)) {
            lz_cx v = lz_ref_load_c(od, out->data, i);
            v = to == 1 ? (lz_cx){moved(r, (double)v.re, bound), moved(r, (double)v.im, bound)}
                        : (lz_cx){to, to};
            lz_ref_store_c(od, out->data, i, v);
        } else {
            double v = lz_elem_get_f64(od, out->data, i);
            lz_elem_set_f64(od, out->data, i, to == 1 ? moved(r, v, bound) : to);
        }
    }
    return LZ_OK;
}

static double any_move(void *r)
{
    return move_of(r);
}

/* ---- quotients that may be divided later ---- */

/* Whether nothing but products reads value i. */
static bool only_in_products(const lz_func *f, uint32_t i)
{
    bool some = false;
    for (uint32_t k = 0; k < f->nresult; k++)
        if (f->results[k] == i)
            return false;
    for (uint32_t j = i + 1; j < f->ninst; j++)
        for (uint32_t k = 0; k < f->insts[j].sig->nopnd; k++) {
            if (f->insts[j].opnd[k] != i)
                continue;
            some = true;
            if (f->insts[j].sig->op != LZ_OP_DOT_GENERAL)
                return false;
        }
    return some;
}

/* Whether value v comes of a product, such as scores do. */
static bool comes_of_product(const lz_func *f, lz_val v, uint8_t *mark)
{
    memset(mark, 0, f->ninst);
    mark[v] = 1;
    for (uint32_t i = v + 1; i-- > f->nparam;) {
        if (!mark[i])
            continue;
        if (f->insts[i].sig->op == LZ_OP_DOT_GENERAL)
            return true;
        for (uint32_t k = 0; k < f->insts[i].sig->nopnd; k++)
            mark[f->insts[i].opnd[k]] = 1;
    }
    return false;
}

/* Whether value i is an exponential over the sum of such ones. */
static bool is_softmax(const lz_func *f, lz_val v)
{
    const lz_inst *in = &f->insts[v];
    if (in->sig->op != LZ_OP_DIVIDE || f->insts[in->opnd[0]].sig->op != LZ_OP_EXPONENTIAL)
        return false;
    const lz_inst *sum = &f->insts[in->opnd[1]];
    while (sum->sig->op == LZ_OP_BROADCAST_IN_DIM || sum->sig->op == LZ_OP_RESHAPE)
        sum = &f->insts[sum->opnd[0]];
    return sum->sig->op == LZ_OP_REDUCE && sum->opnd[0] == in->opnd[0] &&
           lz_region_as_binary(lz_expect_region(sum->sig)) == LZ_OP_ADD;
}

/* Whether value i is softmax of scores, or one that is masked or scaled, rounded to a 16-bit float
 * for nothing but products: attention. The numerator may be rounded instead and the sum divided:
 * both roundings are at most half a unit in the last place, of numbers whose units differ by a
 * factor of 2 at most beside their size. So the result of one is at most 1.5 steps from that of the
 * other, of which the edges of this row take one and the factor of several inexact operations
 * (widen_more), of which the exponential is one, the rest. */
static bool rounds_quotient(const lz_func *f, uint32_t i, uint8_t *mark)
{
    const lz_inst *in = &f->insts[i];
    if (in->lit || in->sig->op != LZ_OP_CONVERT || in->sig->opnd[0]->dtype != LZ_F32)
        return false;
    lz_dtype d = in->sig->result[0]->dtype;
    if ((d != LZ_BF16 && d != LZ_F16) || !only_in_products(f, i))
        return false;
    lz_val v = in->opnd[0];
    while (f->insts[v].sig->op == LZ_OP_SELECT || f->insts[v].sig->op == LZ_OP_MULTIPLY)
        v = f->insts[v].opnd[f->insts[v].sig->op == LZ_OP_SELECT];
    return is_softmax(f, v) && comes_of_product(f, v, mark);
}

static lz_status find_late(lz_expect_run *r)
{
    uint8_t *mark = lz_calloc(r->f->ninst, 1);
    r->late = lz_calloc(r->f->ninst, sizeof *r->late);
    for (uint32_t i = r->f->nparam; r->late && mark && i < r->f->ninst; i++)
        r->late[i] = rounds_quotient(r->f, i, mark);
    lz_free(mark);
    return r->late && mark ? LZ_OK : LZ_EMEM;
}

/* ---- runs ---- */

static lz_status step(lz_expect_run *r, uint32_t i)
{
    const lz_inst *in = &r->f->insts[i];
    const lz_sig *s = in->sig;
    lz_literal **out = &r->val[r->first[i]], *opnd[64];
    if (i < r->f->nparam || in->lit) {
        *out = i < r->f->nparam ? r->args[i] : in->lit;
        lz_literal_retain(*out);
        return LZ_OK;
    }
    if (s->op == LZ_OP_RESULT)
        return lz_ref_eval_inst(s, &r->val[r->first[in->opnd[0]]], out);
    if (s->nopnd > 64)
        return LZ_FAIL(LZ_EUNSUPPORTED, "%u operands", s->nopnd);
    for (uint32_t k = 0; k < s->nopnd; k++)
        opnd[k] = r->val[r->first[in->opnd[k]]];
    LZ_TRY(lz_ref_eval_inst(s, opnd, out));
    if (r->mode == MODE_PLAIN)
        return LZ_OK;
    if (r->late && r->late[i]) {
        r->ordinal++;
        nudge_steps(r, out[0], 1);
        return LZ_OK;
    }
    r->ordinal += lz_expect_inexact(s, r->extra_ulp) || lz_expect_makes_nans(s);
    if (lz_expect_makes_nans(s))
        nudge_nans(r, out[0]);
    if (!lz_expect_inexact(s, r->extra_ulp))
        return LZ_OK;
    if (s->op == LZ_OP_FFT)
        return nudge_fft(r, s, opnd[0], out[0]);
    if (lz_op_get(s->op)->cls == LZ_CLASS_LINALG)
        return lz_expect_linalg(s, opnd, out, any_move, r);
    if (is_sum(s))
        return nudge_sum(r, s, opnd, out);
    if (complex_units(s) > 0)
        nudge_complex_units(r, out[0], complex_units(s));
    else
        nudge_steps(r, out[0], steps_of(s, r->extra_ulp));
    return LZ_OK;
}

static void clear(lz_expect_run *r)
{
    for (uint32_t i = 0; r->val && i < r->nval; i++) {
        lz_literal_release(r->val[i]);
        r->val[i] = NULL;
    }
}

void lz_expect_run_end(lz_expect_run *r)
{
    clear(r);
    lz_free(r->val);
    lz_free(r->first);
    lz_free(r->late);
}

lz_status lz_expect_run_begin(lz_expect_run *r, const lz_func *f, lz_literal *const *args,
                              int extra_ulp, bool late_quotients)
{
    *r = (lz_expect_run){.f = f, .args = args, .extra_ulp = extra_ulp, .rnd = {1}};
    r->first = lz_calloc(f->ninst, sizeof *r->first);
    if (!r->first)
        return LZ_EMEM;
    for (uint32_t i = 0; i < f->ninst; i++) {
        r->first[i] = r->nval;
        r->nval += f->insts[i].sig->nresult;
    }
    r->val = lz_calloc(r->nval, sizeof *r->val);
    if (!r->val)
        return LZ_EMEM;
    return late_quotients ? find_late(r) : LZ_OK;
}

lz_status lz_expect_run_in(lz_expect_run *r, int mode)
{
    clear(r);
    r->mode = mode;
    r->ordinal = 0;
    for (uint32_t i = 0; i < r->f->ninst; i++)
        LZ_TRY(step(r, i));
    return LZ_OK;
}
