/* expect.c - reference results with measured slack. */
#include "support/expect.h"
#include "ir/eval/eval_complex.h"
#include "support/expect_run.h"
#include "support/lit.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- slack ---- */

static double part_deviation(double x, double y)
{
    if (isnan(x) && isnan(y))
        return 0;
    if (x == y) /* zeros of different sign */
        return 0x1p-1074;
    return isfinite(x) && isfinite(y) ? fabs(x - y) : INFINITY;
}

static double deviation(const lz_literal *plain, const lz_literal *moved, int64_t i)
{
    lz_dtype d = plain->type->dtype;
    uint64_t a = lz_test_get_bits(plain, i), b = lz_test_get_bits(moved, i);
    if (a == b)
        return 0;
    if (lz_dtype_is_complex(d)) {
        lz_cx u = lz_ref_load_c(d, plain->data, i), v = lz_ref_load_c(d, moved->data, i);
        return fmax(hypot(part_deviation((double)u.re, (double)v.re),
                          part_deviation((double)u.im, (double)v.im)),
                    0x1p-1074);
    }
    if (!lz_dtype_is_float(d) && !lz_dtype_is_storage(d))
        return INFINITY;
    return part_deviation(lz_elem_get_f64(d, plain->data, i), lz_elem_get_f64(d, moved->data, i));
}

static void widen(lz_expect *e, const lz_expect_run *r)
{
    for (uint32_t k = 0; k < e->nresult; k++) {
        const lz_literal *moved = r->val[r->first[r->f->results[k]]];
        for (int64_t i = 0; i < moved->type->nelem; i++)
            e->slack[k][i] = fmax(e->slack[k][i], deviation(e->value[k], moved, i));
    }
}

static lz_status take_plain(lz_expect *e, const lz_expect_run *r)
{
    for (uint32_t k = 0; k < e->nresult; k++) {
        e->value[k] = r->val[r->first[r->f->results[k]]];
        lz_literal_retain(e->value[k]);
        e->slack[k] = lz_calloc((size_t)e->value[k]->type->nelem, sizeof **e->slack);
        if (!e->slack[k])
            return LZ_EMEM;
    }
    return LZ_OK;
}

/* Whether value v holds the bits of something inexact as another kind of number: then any of them
 * may be anything. */
static bool scrambled(const lz_func *f, lz_val v, int extra_ulp, uint8_t *mark)
{
    enum { INEXACT = 1, SCRAMBLED = 2 };
    memset(mark, 0, f->ninst);
    for (uint32_t i = f->nparam; i <= v; i++) {
        const lz_inst *in = &f->insts[i];
        for (uint32_t k = 0; k < in->sig->nopnd; k++)
            mark[i] |= mark[in->opnd[k]];
        if (in->sig->op == LZ_OP_BITCAST_CONVERT && mark[i])
            mark[i] |= SCRAMBLED;
        if (!in->lit && (lz_expect_inexact(in->sig, extra_ulp) || lz_expect_makes_nans(in->sig)))
            mark[i] |= INEXACT;
    }
    return v >= f->nparam && (mark[v] & SCRAMBLED);
}

static lz_status widen_more(lz_expect *e, const lz_expect_run *r, double factor)
{
    uint8_t *mark = lz_calloc(r->f->ninst, 1);
    if (!mark)
        return LZ_EMEM;
    for (uint32_t k = 0; k < e->nresult; k++) {
        bool any = scrambled(r->f, r->f->results[k], r->extra_ulp, mark);
        double most = 0;
        for (int64_t i = 0; any && i < e->value[k]->type->nelem; i++)
            most = fmax(most, e->slack[k][i]);
        for (int64_t i = 0; i < e->value[k]->type->nelem; i++)
            e->slack[k][i] = most > 0 ? INFINITY : e->slack[k][i] * factor;
    }
    lz_free(mark);
    return LZ_OK;
}

static bool rounds(lz_dtype d)
{
    return lz_dtype_is_float(d) || lz_dtype_is_complex(d);
}

/* Whether a small change of an operand may make a large one of the result. */
static bool jumps(const lz_sig *s)
{
    const lz_func *region = lz_expect_region(s);
    switch (s->op) {
    case LZ_OP_COMPARE:
    case LZ_OP_FLOOR:
    case LZ_OP_CEIL:
    case LZ_OP_ROUND_NEAREST_AFZ:
    case LZ_OP_ROUND_NEAREST_EVEN:
    case LZ_OP_SIGN:
    case LZ_OP_REMAINDER:
    case LZ_OP_IS_FINITE:
        return rounds(s->opnd[0]->dtype);
    case LZ_OP_CONVERT:
        return rounds(s->opnd[0]->dtype) && !rounds(s->result[0]->dtype);
    case LZ_OP_WHILE:
    case LZ_OP_IF:
        return true;
    default:
        return region && lz_region_as_binary(region) == LZ_OP_NONE;
    }
}

/* Whether the bits of floats that were computed are looked at. */
static bool looks_at_bits(const lz_func *f)
{
    bool made = false, looked = false;
    for (uint32_t i = f->nparam; i < f->ninst; i++) {
        const lz_sig *s = f->insts[i].sig;
        made |= !f->insts[i].lit && lz_expect_makes_nans(s);
        looked |= made && s->op == LZ_OP_BITCAST_CONVERT;
    }
    return looked;
}

static lz_status measure(lz_expect *e, lz_expect_run *r)
{
    int ninexact = 0, ncomputed = 0;
    bool jump = false;
    int64_t nelem = 0;
    for (uint32_t i = r->f->nparam; i < r->f->ninst; i++) {
        const lz_inst *in = &r->f->insts[i];
        ninexact += !in->lit && lz_expect_inexact(in->sig, r->extra_ulp);
        ncomputed += !in->lit && lz_expect_makes_nans(in->sig);
        jump |= !in->lit && jumps(in->sig);
        for (uint32_t k = 0; k < in->sig->nresult; k++)
            nelem += in->sig->result[k]->nelem;
    }
    bool bits = looks_at_bits(r->f);
    LZ_TRY(lz_expect_run_in(r, MODE_PLAIN));
    LZ_TRY(take_plain(e, r));
    bool alone = ninexact == 1 && ncomputed == 1;
    int runs = alone ? MODE_BIT : bits || ninexact > 0 ? RUNS : 1;
    if (jump && ninexact > 0)
        runs = nelem < JUMPS_ELEMS ? RUNS_JUMPS : RUNS;
    for (int mode = 1; mode < runs; mode++) {
        LZ_TRY(lz_expect_run_in(r, mode));
        widen(e, r);
    }
    return runs == 1 ? LZ_OK : widen_more(e, r, alone ? 1 : 3);
}

static lz_status expect(const lz_func *f, lz_literal *const *args, int extra_ulp,
                        bool late_quotients, lz_expect **out)
{
    *out = NULL;
    lz_expect *e = lz_calloc(1, sizeof *e);
    if (!e)
        return LZ_EMEM;
    e->nresult = f->nresult;
    e->value = lz_calloc(f->nresult, sizeof *e->value);
    e->slack = lz_calloc(f->nresult, sizeof *e->slack);
    lz_expect_run r;
    lz_status s = lz_expect_run_begin(&r, f, args, extra_ulp, late_quotients);
    if (s == LZ_OK)
        s = e->value && e->slack ? measure(e, &r) : LZ_EMEM;
    lz_expect_run_end(&r);
    if (s != LZ_OK) {
        lz_expect_free(e);
        return s;
    }
    *out = e;
    return LZ_OK;
}

lz_status lz_expect_new(const lz_func *f, lz_literal *const *args, int extra_ulp, lz_expect **out)
{
    return expect(f, args, extra_ulp, false, out);
}

lz_status lz_expect_late_quotients(const lz_func *f, lz_literal *const *args, lz_expect **out)
{
    return expect(f, args, 0, true, out);
}

void lz_expect_free(lz_expect *e)
{
    if (!e)
        return;
    for (uint32_t k = 0; k < e->nresult; k++) {
        if (e->value)
            lz_literal_release(e->value[k]);
        if (e->slack)
            lz_free(e->slack[k]);
    }
    lz_free(e->value);
    lz_free(e->slack);
    lz_free(e);
}

int64_t lz_expect_unstable(const lz_expect *e)
{
    int64_t n = 0;
    for (uint32_t k = 0; k < e->nresult; k++)
        for (int64_t i = 0; i < e->value[k]->type->nelem; i++)
            n += isinf(e->slack[k][i]) != 0;
    return n;
}

static bool element_met(const lz_literal *want, const lz_literal *got, double slack, int64_t i)
{
    lz_dtype d = want->type->dtype;
    if (isinf(slack))
        return true;
    if (lz_dtype_is_complex(d)) { /* its arithmetic is accurate to some units of the magnitude */
        lz_cx a = lz_ref_load_c(d, want->data, i);
        double re = isfinite(a.re) ? (double)a.re : 0, im = isfinite(a.im) ? (double)a.im : 0;
        slack += (d == LZ_C128 ? 0x1p-46 : 0x1p-20) * hypot(re, im) + 0x1p-1074;
    }
    double dev = deviation(want, got, i);
    if (dev == 0 && slack == 0 && lz_dtype_is_float(d)) /* exact: zeros have signs */
        return lz_test_get_bits(want, i) == lz_test_get_bits(got, i) ||
               isnan(lz_elem_get_f64(d, want->data, i));
    return dev <= slack;
}

bool lz_expect_met(const lz_expect *e, lz_literal *const *got, char *msg, size_t nmsg)
{
    for (uint32_t k = 0; k < e->nresult; k++) {
        if (!got[k] || got[k]->type != e->value[k]->type) {
            char a[96];
            snprintf(msg, nmsg, "result %u is %s", k,
                     got[k] ? lz_type_short(got[k]->type, a, sizeof a) : "missing");
            return false;
        }
        for (int64_t i = 0; i < e->value[k]->type->nelem; i++) {
            if (element_met(e->value[k], got[k], e->slack[k][i], i))
                continue;
            int n = snprintf(msg, nmsg, "result %u (slack %g): ", k, e->slack[k][i]);
            if (n > 0 && (size_t)n < nmsg)
                lz_test_print_diff(got[k], e->value[k], i, msg + n, nmsg - (size_t)n);
            return false;
        }
    }
    return true;
}
