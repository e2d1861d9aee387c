/* t_grad_rows.c - the gradient of every row of ir/ops.def that has one, on the random attributes,
 * shapes and regions of the rows' cases, against central differences in f64 and c128, of the first
 * and the second order. A row with a rule that too few comparisons reach fails. */
#include "runtime/region/region_trace.h"
#include "runtime/graph/trace_builder.h"
#include "suite.h"
#include "support/gen.h"
#include <lazuli/device.h>
#include <lazuli/grad.h>
#include <lazuli/ops.h>
#include <lazuli/tensor_ops.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_PARAM = 6,
    MAX_WEIGHTS = 8,
    MAX_ELEMS = 160, /* of all floats of a case, for the second order */
    ENOUGH = 8,      /* comparisons of a row and an order */
    NRANGE = 4,
    DIRECTIONS = 3
};

/* ---- a case as a loss: the sum of its results with fixed weights ---- */

static double noise(uint32_t *r)
{
    *r = *r * 1664525u + 1013904223u;
    return (double)(*r >> 8) / 16777216.0;
}

static bool is_wide(lz_dtype d)
{
    return d == LZ_F64 || d == LZ_C128;
}

/* Whose rule is not the slope: rounding to fewer bits passes gradients rounded; a reshape that does
 * nothing is lz_detach in a region; bits are no numbers, what only passes make has no rule, a
 * program's own rule is the program's, and the neighbour of a number is a step of rounding, whose
 * gradient the table says is 0 (as in JAX), where differences see the slope of 1. */
static bool has_other_rule(const lz_sig *s)
{
    const lz_attr *a = s->attr;
    const lz_op_info *info = lz_op_get(s->op);
    if (!info->has_vjp && info->cls == LZ_CLASS_MOVE)
        return true;
    if (info->flags & LZ_F_ALIAS || s->op == LZ_OP_NEXT_AFTER)
        return true;
    return (a->kind == LZ_ATTR_precision && LZ_ATTR(precision, a)->mantissa_bits < 52) ||
           (s->op == LZ_OP_RESHAPE && s->opnd[0] == s->result[0]);
}

/* Differences in narrower floats would be all rounding. Regions are few levels deep. */
static bool all_wide(const lz_func *f)
{
    for (uint32_t i = 0; i < f->ninst; i++) {
        const lz_sig *s = f->insts[i].sig;
        if (has_other_rule(s))
            return false;
        for (uint32_t k = 0; k < s->nresult; k++) {
            lz_dtype d = s->result[k]->dtype;
            if ((lz_dtype_is_float(d) || lz_dtype_is_complex(d)) && !is_wide(d))
                return false;
        }
        for (int k = 0; lz_attr_region(s->attr, k); k++)
            if (!all_wide(lz_attr_region(s->attr, k)))
                return false;
    }
    return true;
}

/* Updates by a region of its own that may meet are worked in one after the other. */
static bool goes_in_order(const lz_sig *s)
{
    if (s->op != LZ_OP_SCATTER || LZ_ATTR(scatter, s->attr)->unique_indices)
        return false;
    const lz_func *f = LZ_ATTR(scatter, s->attr)->update_computation;
    bool assigns = f->ninst == f->nparam;
    return s->nresult > 1 || (!assigns && lz_region_as_binary(f) == LZ_OP_NONE);
}

static int in_order[2]; /* such cases: compared, left out */

/* The reference takes its time for it: cases of few updates are enough, if they are most. */
static bool takes_long(const lz_sig *s)
{
    enum { FEW = 50 };
    bool slow = goes_in_order(s), many = slow && s->opnd[s->nopnd - 1]->nelem > FEW;
    in_order[many] += slow;
    return many;
}

static bool can_compare(const lz_func *f)
{
    bool any = false;
    for (uint32_t i = 0; i < f->ninst; i++)
        if (takes_long(f->insts[i].sig))
            return false;
    for (uint32_t p = 0; p < f->nparam; p++)
        any |= is_wide(lz_val_type(f, p)->dtype);
    return any && f->nparam <= MAX_PARAM && all_wide(f);
}

/* A case: the operation f, the loss of it, and the arguments of that: f's, then the weights. */
typedef struct kase {
    const lz_func *f;
    lz_func *loss;
    lz_literal *x[MAX_PARAM + MAX_WEIGHTS];
    char name[96];
} kase;

static lz_val weighted_sum(lz_func *f, lz_val x, lz_val w)
{
    const lz_type *t = lz_val_type(f, x);
    lz_ints all = {.n = t->shape.rank};
    for (int d = 0; d < all.n; d++)
        all.v[d] = d;
    return lz_build_reduce(f, LZ_OP_ADD, lz_build_ew2(f, LZ_OP_MULTIPLY, x, w),
                           lz_build_scalar(f, LZ_F64, 0), &all);
}

/* Nothing determines the phases of singular vectors: only what does not depend on them has a
 * slope. */
static bool phases_are_free(const lz_func *f)
{
    for (uint32_t i = 0; i < f->ninst; i++)
        if (f->insts[i].sig->op == LZ_OP_SVD || f->insts[i].sig->op == LZ_OP_EIGH)
            return true;
    return false;
}

/* How many parts of numbers result k has. */
static int parts_of(const lz_func *f, uint32_t k)
{
    lz_dtype d = lz_val_type(f, f->results[k])->dtype;
    return d == LZ_C128 ? (phases_are_free(f) ? 1 : 2) : d == LZ_F64;
}

static lz_val square(lz_func *l, lz_val x)
{
    return lz_build_ew2(l, LZ_OP_MULTIPLY, x, x);
}

/* A part of result y as real numbers: the number, its real or imaginary part, or its square. */
static lz_val part_of(lz_func *l, lz_val y, int part, bool phases)
{
    if (lz_val_type(l, y)->dtype != LZ_C128)
        return y;
    lz_val re = lz_build_ew1(l, LZ_OP_REAL, y), im = lz_build_ew1(l, LZ_OP_IMAG, y);
    return phases ? lz_build_ew2(l, LZ_OP_ADD, square(l, re), square(l, im)) : part ? im : re;
}

static lz_literal *random_weights(const lz_type *t, uint32_t *seed)
{
    lz_literal *w = lz_literal_new(t);
    ck_assert(w != NULL);
    for (int64_t i = 0; i < t->nelem; i++)
        lz_elem_set_f64(LZ_F64, w->data, i, 0.5 + noise(seed));
    return w;
}

/* False when no result is a float. */
static bool case_begin(kase *c, const lz_func *f, lz_literal *const *args)
{
    lz_func *l = lz_func_new("loss");
    lz_val in[MAX_PARAM], y[16], loss = LZ_NOVAL;
    uint32_t seed = 5, n = f->nparam;
    ck_assert(l != NULL && f->nresult <= 16);
    c->f = f;
    c->loss = l;
    for (uint32_t p = 0; p < n; p++) {
        in[p] = lz_build_param(l, lz_val_type(f, p));
        c->x[p] = args[p];
    }
    for (uint32_t k = 0; k < f->nresult; k++)
        for (int part = 0; part < parts_of(f, k) && n < MAX_PARAM + MAX_WEIGHTS; part++) {
            const lz_type *t = lz_type_get(LZ_F64, &lz_val_type(f, f->results[k])->shape);
            (void)lz_build_param(l, t);
            c->x[n++] = random_weights(t, &seed);
        }
    ck_assert_int_eq(lz_build_inline(l, f, in, y), LZ_OK);
    for (uint32_t k = 0, w = f->nparam; k < f->nresult; k++)
        for (int part = 0; part < parts_of(f, k) && w < n; part++, w++) {
            lz_val v = weighted_sum(l, part_of(l, y[k], part, phases_are_free(f)), w);
            loss = loss == LZ_NOVAL ? v : lz_build_ew2(l, LZ_OP_ADD, loss, v);
        }
    return loss != LZ_NOVAL && lz_func_set_results(l, &loss, 1) == LZ_OK;
}

static void case_end(kase *c)
{
    for (uint32_t p = c->f->nparam; p < c->loss->nparam; p++)
        lz_literal_release(c->x[p]);
    lz_func_free(c->loss);
}

/* ---- the point: floats away from what is special, and not where functions are undefined ---- */

static double draw(int range, uint32_t param, uint32_t *seed)
{
    double u = noise(seed);
    switch (range) {
    case 0:
        return (u < 0.5 ? -1 : 1) * (0.3 + 1.2 * fabs(2 * u - 1));
    case 1:
        return 0.3 + 0.6 * u;
    case 2:
        return 1.2 + 1.7 * u;
    default: /* an order, which is an integer, and what it is the order of */
        return param == 0 ? 1 + floor(3 * u) : 0.6 + 3 * u;
    }
}

static void choose_point(const kase *c, int range, uint32_t seed)
{
    lz_literal *const *x = c->x;
    for (uint32_t p = 0; p < c->f->nparam; p++) {
        lz_dtype d = x[p]->type->dtype;
        int64_t n = x[p]->type->nelem * (d == LZ_C128 ? 2 : 1);
        for (int64_t i = 0; is_wide(d) && i < n; i++)
            ((double *)x[p]->data)[i] = draw(range, p, &seed);
    }
}

/* ---- the loss and its gradient: by the reference, and recorded ---- */

static lz_tensor *record(const kase *k, lz_tensor *const *x)
{
    lz_tracer c;
    lz_node *in[MAX_PARAM + MAX_WEIGHTS], *out = NULL;
    lz_tracer_begin(&c, "rows", LZ_SITE);
    for (uint32_t p = 0; p < k->loss->nparam; p++)
        in[p] = lz_tracer_in(&c, x[p]);
    lz_status s = lz_region_replay(k->loss, in, &out, LZ_SITE);
    ck_assert_msg(s == LZ_OK, "%s: %s", k->name, lz_error_get()->message);
    return lz_tracer_end(&c, lz_tracer_own(&c, out));
}

static lz_tensor *weigh(lz_tensor *t, uint32_t seed)
{
    if (lz_dtype_of(t) == LZ_C128)
        return lz_add(weigh(lz_real(t), seed), weigh(lz_imag(t), seed + 1));
    double w[MAX_ELEMS];
    for (int64_t i = 0; i < lz_numel(t); i++)
        w[i] = 0.5 + noise(&seed);
    return lz_sum(lz_mul(t, lz_from_host(LZ_F64, lz_shape_of(t), w)));
}

static void tensors_of(const kase *c, lz_tensor **t)
{
    for (uint32_t p = 0; p < c->loss->nparam; p++)
        t[p] = lz_from_host(c->x[p]->type->dtype, c->x[p]->type->shape, c->x[p]->data);
}

/* Order 2: of all floats the gradients, weighted. NULL: there is none. */
static lz_tensor *loss_of(const kase *c, lz_tensor **t, int order)
{
    lz_tensor *l = record(c, t), *sum = NULL;
    for (uint32_t p = 0; order == 2 && p < c->f->nparam; p++) {
        lz_tensor *g;
        if (is_wide(lz_dtype_of(t[p])) && lz_grad(l, &t[p], 1, &g, .allow_unused = true) == LZ_OK)
            sum = sum ? lz_add(sum, weigh(g, 11 + p)) : weigh(g, 11 + p);
    }
    return order == 2 ? sum : l;
}

static double value(const kase *c, int order)
{
    double v = NAN;
    if (order == 1) {
        lz_literal *y;
        ck_assert_int_eq(lz_ref_run(c->loss, c->x, &y), LZ_OK);
        v = lz_elem_get_f64(LZ_F64, y->data, 0);
        lz_literal_release(y);
        return v;
    }
    lz_tensor *t[MAX_PARAM + MAX_WEIGHTS], *l;
    lz_scope_begin();
    tensors_of(c, t);
    l = loss_of(c, t, order);
    v = l ? lz_item(l) : NAN;
    lz_scope_end();
    return v;
}

/* ---- comparison along directions ---- */

typedef struct counts {
    int compared, nonzero;
} counts;
static counts reached[3][LZ_OP_COUNT]; /* by order */

/* d loss / d direction by differences; NaN where there is a kink, a jump, nothing near, or a loss
 * so large that its rounding hides the slope. */
static double slope(const kase *c, uint32_t p, const double *dir, int order)
{
    lz_literal *const *x = c->x;
    double *v = x[p]->data, d[2], size = 0;
    int64_t n = x[p]->type->nelem * (x[p]->type->dtype == LZ_C128 ? 2 : 1);
    double *at = malloc((size_t)n * sizeof *at);
    ck_assert(at != NULL);
    memcpy(at, v, (size_t)n * sizeof *at);
    for (int half = 0; half < 2; half++) {
        double h = half ? 1e-5 : 2e-5, y[2];
        for (int side = 0; side < 2; side++) {
            for (int64_t i = 0; i < n; i++)
                v[i] = at[i] + (side ? -h : h) * dir[i];
            y[side] = value(c, order);
            size = fmax(size, fabs(y[side]));
        }
        d[half] = (y[0] - y[1]) / (2 * h);
    }
    memcpy(v, at, (size_t)n * sizeof *at);
    free(at);
    bool hidden = size * DBL_EPSILON / 1e-5 > 1e-6 * (1 + fabs(d[1]));
    return !hidden && fabs(d[0] - d[1]) <= 1e-6 * (1 + fabs(d[1])) ? d[1] : NAN;
}

static void count(const lz_func *f, int order, double d)
{
    for (uint32_t i = 0; i < f->ninst; i++) {
        counts *c = &reached[order][f->insts[i].sig->op];
        c->compared++;
        c->nonzero += d != 0;
    }
}

/* The gradient g of parameter p along one element and along all. */
static int compare_param(const kase *c, uint32_t p, const double *g, int order, uint32_t seed)
{
    lz_literal *const *x = c->x;
    int64_t n = x[p]->type->nelem * (x[p]->type->dtype == LZ_C128 ? 2 : 1);
    int bad = 0;
    double *dir = calloc((size_t)n + 1, sizeof *dir);
    for (int k = 0; k < DIRECTIONS && n > 0; k++) {
        double sum = 0, size = 1;
        int64_t only = k == 0 ? -1 : (int64_t)(noise(&seed) * (double)n);
        for (int64_t i = 0; i < n; i++) {
            dir[i] = only < 0 ? (noise(&seed) < 0.5 ? -1 : 1) : i == only;
            sum += dir[i] != 0 ? g[i] * dir[i] : 0;
            size += dir[i] != 0 ? fabs(g[i] * dir[i]) : 0;
        }
        double want = slope(c, p, dir, order);
        if (isnan(want))
            continue;
        count(c->f, order, want);
        if (fabs(sum - want) <= 4e-6 * size)
            continue;
        printf("%s, order %d, parameter %u, direction %d: %.10g, by differences %.10g\n", c->name,
               order, p, k, sum, want);
        bad++;
    }
    free(dir);
    return bad;
}

static int compare_at(const kase *c, int order, uint32_t seed)
{
    int bad = 0;
    if (!isfinite(value(c, order)))
        return 0;
    for (uint32_t p = 0; p < c->f->nparam; p++) {
        lz_tensor *t[MAX_PARAM + MAX_WEIGHTS], *l, *g;
        const lz_type *type = c->x[p]->type;
        if (!is_wide(type->dtype))
            continue;
        double *d = calloc((size_t)type->nelem + 1, 16);
        ck_assert(d != NULL);
        lz_scope_begin();
        tensors_of(c, t);
        l = loss_of(c, t, order);
        /* a form without a gradient says so */
        bool has = l && lz_grad(l, &t[p], 1, &g, .allow_unused = true) == LZ_OK;
        bool read =
            has && lz_to_host(g, d, (size_t)type->nelem * lz_dtype_size(type->dtype)) == LZ_OK;
        lz_status why = read ? LZ_OK : lz_last_error(NULL);
        if (l && !read && (has || (why != LZ_EGRAD && why != LZ_EUNSUPPORTED))) {
            printf("%s, order %d: %s\n", c->name, order, lz_last_error_text());
            bad++;
        }
        lz_scope_end();
        if (read)
            bad += compare_param(c, p, d, order, seed + p);
        free(d);
    }
    return bad;
}

static int compare_case(kase *c, uint32_t seed)
{
    int bad = 0;
    int64_t nelem = 0;
    for (uint32_t i = 0; i < c->f->ninst; i++)
        for (uint32_t k = 0; k < c->f->insts[i].sig->nresult; k++)
            nelem += c->f->insts[i].sig->result[k]->nelem;
    const counts *met = &reached[1][c->f->insts[c->f->results[0]].sig->op];
    int before = met->compared;
    for (int range = 0; range < NRANGE; range++) {
        if (range == NRANGE - 1 && met->compared > before)
            break; /* only where nothing else is defined */
        choose_point(c, range, seed + (uint32_t)range);
        for (int order = 1; order <= (nelem <= MAX_ELEMS ? 2 : 1); order++)
            bad += compare_at(c, order, seed);
    }
    return bad;
}

static void show(const lz_func *f)
{
    lz_buf text = {0};
    lz_func_print(f, &text, 0);
    printf("%s\n", lz_buf_str(&text));
    lz_buf_free(&text);
}

/* Adds what is wrong to *bad; false: the row has no case i. */
static bool compare_row_case(lz_op op, int i, int *bad)
{
    lz_func *f;
    lz_literal **args;
    int rc = lz_gen_row_cases(op, i, &f, &args);
    if (rc != 1) {
        *bad += rc < 0;
        return false;
    }
    kase c = {.f = f};
    snprintf(c.name, sizeof c.name, "%s case %d", lz_op_get(op)->text, i);
    if (can_compare(f)) {
        int wrong = case_begin(&c, f, args) ? compare_case(&c, (uint32_t)i) : 0;
        case_end(&c);
        if (wrong)
            show(f);
        *bad += wrong;
    }
    lz_gen_args_free(f, args);
    lz_func_free(f);
    return true;
}

static bool is_reached(lz_op op, int order)
{
    const counts *c = &reached[order][op];
    return c->compared >= ENOUGH && (order == 2 || c->nonzero >= ENOUGH);
}

/* Most scatters are compared, as far as they have run. */
static bool orders_suffice(void)
{
    return in_order[0] > 3 * in_order[1];
}

/* Cases in turn, and of the others as many as it takes to have compared enough. */
static int compare_row(lz_op op)
{
    enum { TURNS = 4 };
    int bad = 0, scatters = in_order[0] + in_order[1];
    bool more = true;
    for (unsigned i = 0; more; i++)
        if (lz_test_in_turn(i, TURNS))
            more = compare_row_case(op, (int)i, &bad);
    for (unsigned i = 0; !lz_test_whole(); i++) {
        bool scatter = in_order[0] + in_order[1] > scatters;
        if (is_reached(op, 1) && is_reached(op, 2) && (!scatter || orders_suffice()))
            break;
        if (!lz_test_in_turn(i, TURNS) && !compare_row_case(op, (int)i, &bad))
            break;
    }
    return bad;
}

/* A call of a function that nobody knows has a rule that says so: t_grad_call. What only passes its
 * operands on has the rule it is given: t_custom_vjp. Collectives need several devices: t_replicas,
 * t_manual. */
static bool has_slope(lz_op op)
{
    const lz_op_info *info = lz_op_get(op);
    return info->has_vjp && info->cls != LZ_CLASS_CALL && info->cls != LZ_CLASS_COLLECTIVE &&
           !(info->flags & LZ_F_ALIAS);
}

START_TEST(every_rule)
{
    int bad = 0;
    ck_assert_msg(lz_set_device("REF:0") == LZ_OK, "%s", lz_last_error_text());
    for (int op = 1; op < LZ_OP_COUNT; op++)
        if (has_slope((lz_op)op))
            bad += compare_row((lz_op)op);
    for (int op = 1; op < LZ_OP_COUNT; op++)
        for (int order = 1; has_slope((lz_op)op) && order <= 2; order++) {
            counts c = reached[order][op];
            if (is_reached((lz_op)op, order))
                continue;
            printf("%s: %d comparisons of order %d, %d of them not zero\n",
                   lz_op_get((lz_op)op)->text, c.compared, order, c.nonzero);
            bad++;
        }
    printf("scatters in order: %d compared, %d left out\n", in_order[0], in_order[1]);
    fflush(stdout);
    ck_assert(orders_suffice());
    ck_assert_msg(bad == 0, "%d gradients are wrong or not compared (named above)", bad);
}
END_TEST

/* By hand: t_grad_rows ROW [CASE] */
static lz_op by_hand = LZ_OP_NONE;
static int by_hand_case = -1;

START_TEST(one_rule)
{
    ck_assert_msg(lz_set_device("REF:0") == LZ_OK, "%s", lz_last_error_text());
    int bad = 0;
    if (by_hand_case >= 0)
        (void)compare_row_case(by_hand, by_hand_case, &bad);
    for (int i = 0; by_hand_case < 0 && compare_row_case(by_hand, i, &bad); i++)
        continue;
    fflush(stdout);
    ck_assert_int_eq(bad, 0);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *s = suite_create("grad_rows");
    TCase *t = tcase_create("rows");
    if (argc > 1)
        by_hand = lz_op_from_text(argv[1], strlen(argv[1]));
    if (argc > 2)
        by_hand_case = atoi(argv[2]);
    tcase_set_timeout(t, 600);
    if (argc > 1)
        tcase_add_test(t, one_rule);
    else
        tcase_add_test(t, every_rule);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
