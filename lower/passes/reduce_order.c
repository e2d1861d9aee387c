/* reduce_order.c - see reduce_order.h. The region is applied to arrays of all cases at once, by the
 * reference evaluator. */
#include "lower/passes/reduce_order.h"
#include "ir/eval/eval.h"
#include "lower/passes/expand_window.h"
#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { MOST_CASES = 4096, SAMPLES = 1024, MOST_PARAMS = 3 * LZ_MAX_RANK };

typedef struct trial {
    uint32_t n;     /* values of an element */
    uint32_t nelem; /* elements of a case: 2, or 3 */
    bool selects;   /* nothing but comparisons, logic and selections */
    int64_t ncase;
    lz_literal *arg[MOST_PARAMS]; /* n for each element */
} trial;

/* ---- cases ---- */

static bool only_selects(const lz_func *r)
{
    for (uint32_t i = r->nparam; i < r->ninst; i++) {
        if (r->insts[i].lit && r->insts[i].sig->result[0]->dtype != LZ_BOOL)
            return false;
        switch (lz_inst_op(&r->insts[i])) {
        case LZ_OP_CONSTANT:
        case LZ_OP_COMPARE:
        case LZ_OP_SELECT:
        case LZ_OP_AND:
        case LZ_OP_OR:
        case LZ_OP_XOR:
        case LZ_OP_NOT:
        case LZ_OP_MINIMUM:
        case LZ_OP_MAXIMUM:
            break;
        default:
            return false;
        }
    }
    return true;
}

/* How many values a parameter of the dtype takes: all orders of numbers, both zeros, NaN; of
 * integers all orders of those of a case. */
static int64_t nvalue(lz_dtype d, uint32_t nelem)
{
    return d == LZ_BOOL ? 2 : lz_dtype_is_int(d) ? nelem : 5;
}

static void set_value(lz_dtype d, bool selects, void *p, int64_t i, int64_t at)
{
    static const double all[] = {-1, -0.0, 0, 1, NAN}, finite[] = {-1.5, -0.5, 0.25, 1, 3};
    if (lz_dtype_is_complex(d)) {
        lz_elem_set_f64(lz_dtype_part(d), p, 2 * i, finite[at]);
        lz_elem_set_f64(lz_dtype_part(d), p, 2 * i + 1, finite[(at * 3 + 1) % 5]);
    } else if (lz_dtype_is_float(d)) {
        lz_elem_set_f64(d, p, i, selects ? all[at] : finite[at]);
    } else {
        lz_elem_set_i64(d, p, i, at);
    }
}

/* Every combination of values, or where these are too many some of them. */
static lz_status make_cases(const lz_func *r, trial *t)
{
    int64_t all = 1;
    uint64_t random = 1;
    for (uint32_t k = 0; k < t->nelem * t->n; k++)
        all = all > MOST_CASES ? all : all * nvalue(lz_val_type(r, k % t->n)->dtype, t->nelem);
    t->ncase = all > MOST_CASES ? SAMPLES : all;
    int64_t every = 1;
    for (uint32_t k = 0; k < t->nelem * t->n; k++) {
        lz_dtype d = lz_val_type(r, k % t->n)->dtype;
        lz_shape s = LZ_SHAPE(t->ncase);
        const lz_type *type = lz_type_get(d, &s);
        int64_t n = nvalue(d, t->nelem);
        if (!type || !(t->arg[k] = lz_literal_new(type)))
            return LZ_FAIL(LZ_EMEM, "no memory to try a region");
        for (int64_t i = 0; i < t->ncase; i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
            int64_t at = all > MOST_CASES ? (int64_t)(random >> 33) % n : i / every % n;
            set_value(d, t->selects, t->arg[k]->data, i, at);
        }
        every *= n;
    }
    return LZ_OK;
}

/* ---- applying ---- */

/* How it is applied to the elements of a case. */
typedef enum grouping { A_B, B_A, AB_C, A_BC } grouping;

static bool join(lz_func *f, const lz_func *r, const lz_val *x, const lz_val *y, const trial *t,
                 lz_val *out)
{
    lz_shape s = LZ_SHAPE(t->ncase);
    lz_val both[MOST_PARAMS];
    memcpy(both, x, t->n * sizeof *x);
    memcpy(both + t->n, y, t->n * sizeof *y);
    return lz_windows_inline(f, r, both, &s, out);
}

/* The region on arrays of t's cases. */
static lz_status apply(const lz_func *r, const trial *t, grouping how, lz_literal **out)
{
    lz_val e[MOST_PARAMS], y[LZ_MAX_RANK], *a = e, *b = e + t->n, *c = b + t->n;
    lz_func *f = lz_func_new("trial");
    lz_status st = f ? LZ_OK : LZ_EMEM;
    for (uint32_t k = 0; k < t->nelem * t->n && st == LZ_OK; k++) {
        e[k] = lz_build_param(f, t->arg[k]->type);
        st = f->status;
    }
    bool good = st == LZ_OK;
    if (how == AB_C)
        good = good && join(f, r, a, b, t, y) && join(f, r, y, c, t, y);
    else if (how == A_BC)
        good = good && join(f, r, b, c, t, y) && join(f, r, a, y, t, y);
    else
        good = good && join(f, r, how == A_B ? a : b, how == A_B ? b : a, t, y);
    if (st == LZ_OK)
        st = good ? lz_func_set_results(f, y, t->n) : f->status;
    if (st == LZ_OK)
        st = lz_ref_run(f, (lz_literal *const *)t->arg, out);
    lz_func_free(f);
    return st;
}

/* Floats: NaN is NaN; up to rounding, or with zeros of either sign, where it is said. */
static bool same(const lz_literal *x, const lz_literal *y, int64_t i, bool rounded, bool any_zero)
{
    lz_dtype d = x->type->dtype, part = lz_dtype_part(d);
    size_t size = lz_dtype_size(d);
    if (memcmp((char *)x->data + (size_t)i * size, (char *)y->data + (size_t)i * size, size) == 0)
        return true;
    if (!lz_dtype_is_float(part))
        return false;
    int64_t n = lz_dtype_is_complex(d) ? 2 : 1;
    for (int64_t k = n * i; k < n * i + n; k++) {
        double a = lz_elem_get_f64(part, x->data, k), b = lz_elem_get_f64(part, y->data, k);
        bool near = rounded && fabs(a - b) <= 0x1p-5 * (fabs(a) + fabs(b)) + 0x1p-5;
        if (!(near || (a != a && b != b) || (a == b && (any_zero || a != 0))))
            return false;
    }
    return true;
}

static void release(lz_literal **l, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        lz_literal_release(l[k]);
}

/* ---- what it is ---- */

/* Whether both ways give the same. */
static lz_status compare(const lz_func *r, const trial *t, grouping one, grouping other, bool *yes)
{
    lz_literal *x[LZ_MAX_RANK] = {NULL}, *y[LZ_MAX_RANK] = {NULL};
    LZ_TRY(apply(r, t, one, x));
    lz_status st = apply(r, t, other, y);
    *yes = true;
    for (uint32_t k = 0; k < t->n && st == LZ_OK; k++)
        for (int64_t i = 0; i < t->ncase && *yes; i++)
            *yes = same(x[k], y[k], i, !t->selects, false);
    release(x, t->n);
    release(y, t->n);
    return st;
}

/* Whether it chooses as `as` where ai <= bi. */
static lz_status chooses_as(const lz_func *r, const lz_func *as, const trial *t, bool *yes,
                            bool *exact)
{
    lz_literal *x[2] = {NULL}, *y[2] = {NULL};
    *yes = *exact = false;
    if (!as)
        return lz_error_get()->status;
    LZ_TRY(apply(r, t, A_B, x));
    lz_status st = apply(as, t, A_B, y);
    *yes = *exact = st == LZ_OK;
    for (int64_t i = 0; i < t->ncase && *yes; i++) {
        lz_dtype d = t->arg[1]->type->dtype;
        if (lz_elem_get_i64(d, t->arg[1]->data, i) > lz_elem_get_i64(d, t->arg[3]->data, i))
            continue;
        *yes = same(x[1], y[1], i, false, false) && same(x[0], y[0], i, false, true);
        *exact = *exact && same(x[0], y[0], i, false, false);
    }
    release(x, 2);
    release(y, 2);
    return st;
}

static lz_status find_arg(const lz_func *r, const trial *t, lz_reduce_order *out)
{
    lz_dtype value = lz_val_type(r, 0)->dtype, index = lz_val_type(r, 1)->dtype;
    if (!t->selects || t->n != 2 || lz_dtype_is_complex(value) || value == LZ_BOOL ||
        lz_dtype_is_storage(value) || !lz_dtype_is_int(index))
        return LZ_OK;
    for (int sign = 1; sign >= -1 && !out->arg; sign -= 2) {
        bool yes;
        LZ_TRY(
            chooses_as(r, lz_region_arg_first(sign > 0, value, index), t, &yes, &out->arg_exact));
        out->arg = yes ? sign : 0;
    }
    return LZ_OK;
}

static lz_status try_with(const lz_func *r, uint32_t nelem, lz_reduce_order *out)
{
    trial t = {.n = r->nresult, .nelem = nelem, .selects = only_selects(r)};
    lz_status st = make_cases(r, &t);
    if (nelem == 3) {
        if (st == LZ_OK)
            st = compare(r, &t, AB_C, A_BC, &out->associates);
    } else {
        if (st == LZ_OK)
            st = compare(r, &t, A_B, B_A, &out->commutes);
        if (st == LZ_OK && !out->commutes)
            st = find_arg(r, &t, out);
    }
    release(t.arg, nelem * t.n);
    return st;
}

/* Ours are of different indices, which no trial knows. */
static bool is_our_arg(const lz_func *r)
{
    if (r->nresult != 2)
        return false;
    lz_dtype value = lz_val_type(r, 0)->dtype, index = lz_val_type(r, 1)->dtype;
    if (!lz_op_accepts(LZ_OP_COMPARE, value) || lz_dtype_is_complex(value) ||
        !lz_dtype_is_int(index))
        return false;
    bool yes = false;
    for (int max = 0; max < 2 && !yes; max++)
        yes = r == lz_region_arg(max, value, index) || r == lz_region_arg_first(max, value, index);
    return yes;
}

/* Regions live as long as the process, and programs have few: what was found of one is kept beside
 * its address, in the bits that alignment leaves. */
enum { KNOWN = 256, STATES = 16 };
static _Atomic uintptr_t known[KNOWN];

static _Atomic uintptr_t *place_of(const lz_func *r)
{
    return &known[(uintptr_t)r / STATES % KNOWN];
}

static void keep(const lz_func *r, const lz_reduce_order *o)
{
    uintptr_t state = 1;
    if (!o->commutes)
        state = (uintptr_t)(2 + o->associates + 2 * (o->arg + 1) + 6 * o->arg_exact);
    if ((uintptr_t)r % STATES == 0)
        atomic_store_explicit(place_of(r), (uintptr_t)r + state, memory_order_relaxed);
}

static bool recall(const lz_func *r, lz_reduce_order *o)
{
    uintptr_t at = atomic_load_explicit(place_of(r), memory_order_relaxed);
    int state = (int)(at - (uintptr_t)r) - 2;
    if (at <= (uintptr_t)r || at - (uintptr_t)r >= STATES)
        return false;
    if (state >= 0)
        *o = (lz_reduce_order){false, state % 2, state % 6 / 2 - 1, state >= 6};
    return true;
}

lz_status lz_reduce_order_of(const lz_func *r, lz_reduce_order *out)
{
    *out = (lz_reduce_order){.commutes = true, .associates = true};
    if (r->nparam != 2 * r->nresult || r->nresult > LZ_MAX_RANK || r->nresult == 0 ||
        lz_region_as_binary(r) != LZ_OP_NONE || recall(r, out) || !lz_windows_all_scalar(r) ||
        is_our_arg(r))
        return LZ_OK;
    LZ_TRY(try_with(r, 2, out));
    if (!out->commutes && !out->arg)
        LZ_TRY(try_with(r, 3, out));
    keep(r, out);
    return LZ_OK;
}
