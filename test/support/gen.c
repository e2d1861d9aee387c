/* gen.c - random functions: values, types, the driver; arguments for any function. See
 * gen_ops.c. */
#include "support/gen_internal.h"
#include "ir/attr.h"
#include "ir/eval/eval_complex.h"
#include <math.h>
#include <string.h>

/* ---- types ---- */

const lz_type *gen_type(const gen *g, lz_val v)
{
    return lz_val_type(g->f, v);
}

static bool allowed(const gen *g, lz_dtype d)
{
    return (g->o.dtypes >> d & 1) != 0;
}

lz_dtype gen_dtype(gen *g, lz_op op)
{
    if (g->pure && lz_op_accepts(op, g->dtype))
        return g->dtype;
    int order[LZ_DTYPE_COUNT];
    lz_rnd_shuffle(&g->r, LZ_DTYPE_COUNT, order);
    for (int i = 0; i < LZ_DTYPE_COUNT; i++) {
        lz_dtype d = (lz_dtype)order[i];
        if (d != LZ_DTYPE_NONE && allowed(g, d) && lz_op_accepts(op, d))
            return d;
    }
    return LZ_DTYPE_NONE;
}

int64_t gen_extent(gen *g)
{
    static const int8_t usual[] = {1, 1, 2, 2, 3, 3, 4, 5, 5, 7, 8, 9, 16, 17};
    if (!g->o.no_empty && CHANCE(3))
        return 0;
    return usual[RND(0, (int64_t)sizeof usual - 1)];
}

lz_shape gen_shape(gen *g, int min_rank)
{
    static const int8_t ranks[] = {0, 1, 1, 2, 2, 2, 3, 3, 4};
    int rank = ranks[RND(0, (int64_t)sizeof ranks - 1)];
    if (g->many_dimensions && rank > 1)
        rank = (int)RND(9, LZ_MAX_RANK);
    lz_shape s = lz_shape_make(rank < min_rank ? min_rank : rank, (const int64_t[LZ_MAX_RANK]){0});
    int64_t n = 1;
    for (int d = 0; d < s.rank; d++) {
        int64_t e = gen_extent(g);
        if (e * n > g->o.max_elems)
            e = 1;
        s.dims[d] = e;
        n *= e ? e : 1;
    }
    return s;
}

/* ---- building ---- */

static bool small_enough(const gen *g, const lz_sig *s)
{
    for (uint32_t k = 0; k < s->nresult; k++)
        if (s->result[k]->nelem > g->o.max_elems * 8)
            return false;
    return true;
}

lz_val gen_build(gen *g, lz_op op, const void *attr, const lz_val *opnd, uint32_t n)
{
    const lz_type *types[64];
    static const lz_attr none = {LZ_ATTR_none};
    if (n > 64 || g->f->status != LZ_OK)
        return LZ_NOVAL;
    for (uint32_t k = 0; k < n; k++) {
        if (opnd[k] == LZ_NOVAL)
            return LZ_NOVAL;
        types[k] = gen_type(g, opnd[k]);
    }
    const lz_attr *a = lz_attr_get(attr ? attr : &none);
    const lz_sig *s = a ? lz_sig_get(op, a, types, n) : NULL;
    if (!s || !small_enough(g, s))
        return LZ_NOVAL;
    lz_val v = lz_build_sig(g->f, s, opnd);
    if (v == LZ_NOVAL || s->nresult < 2)
        return v;
    lz_val first = LZ_NOVAL;
    for (uint32_t k = 0; k < s->nresult; k++) {
        lz_val part = lz_build_result(g->f, v, k);
        first = k == 0 ? part : first;
    }
    return first;
}

/* ---- values ---- */

/* Singular vectors and eigenvectors have a sign that nothing says, so what is computed of them has:
 * only gen_ops.c's product of both has not. Nor are general eigenvalues in an order, or reflections
 * and pivots what a roundoff does not change. */
static bool has_free_sign(const gen *g, lz_val v, int depth)
{
    const lz_inst *in = &g->f->insts[v];
    lz_op of = in->sig->op == LZ_OP_RESULT ? lz_inst_op(&g->f->insts[in->opnd[0]]) : LZ_OP_NONE;
    if (gen_is_form(of))
        return true;
    if (of == LZ_OP_SVD || of == LZ_OP_EIGH)
        return LZ_ATTR(index, in->sig->attr)->index != 1;
    bool yes = false;
    for (uint32_t k = 0; k < in->sig->nopnd && depth && lz_op_get(in->sig->op)->cls == LZ_CLASS_EW;
         k++)
        yes |= has_free_sign(g, in->opnd[k], depth - 1);
    return yes;
}

static bool readable(const gen *g, lz_val v)
{
    return g->f->insts[v].sig->nresult == 1 && !has_free_sign(g, v, 4);
}

static lz_val param(gen *g, lz_dtype d, const lz_shape *s)
{
    const lz_type *t = lz_type_get(d, s);
    return t ? lz_build_param(g->f, t) : LZ_NOVAL;
}

lz_val gen_pick(gen *g, lz_op op)
{
    if (g->pure) {
        lz_shape any = gen_shape(g, 0);
        return param(g, gen_dtype(g, op), g->shape ? g->shape : &any);
    }
    for (int tries = 0; tries < 24; tries++) {
        lz_val v = (lz_val)RND(0, (int64_t)g->f->ninst - 1);
        if (tries < 12 && CHANCE(50)) /* later values more often: chains get longer */
            v = (lz_val)RND(v, (int64_t)g->f->ninst - 1);
        if (readable(g, v) && lz_op_accepts(op, gen_type(g, v)->dtype))
            return v;
    }
    lz_dtype d = gen_dtype(g, op);
    lz_shape s = gen_shape(g, 0);
    return d == LZ_DTYPE_NONE ? LZ_NOVAL : gen_make(g, d, &s);
}

static lz_val constant(gen *g, const lz_type *t)
{
    if (t->nelem > 1 && CHANCE(50)) {
        lz_literal *one = lz_test_random(&g->r, lz_type_get(t->dtype, &gen_scalar), LZ_FILL_MODEST);
        lz_val v = one ? lz_build_const(g->f, one) : LZ_NOVAL;
        lz_literal_release(one);
        lz_ints no_dims = {0};
        return v == LZ_NOVAL ? v : lz_build_broadcast(g->f, v, &no_dims, &t->shape);
    }
    lz_literal *l = lz_test_random(&g->r, t, LZ_FILL_MODEST);
    lz_val v = l ? lz_build_const(g->f, l) : LZ_NOVAL;
    lz_literal_release(l);
    return v;
}

/* Any value bent into the type: one element of it broadcast, or all of it reshaped. */
static lz_val bend(gen *g, lz_val v, const lz_type *t)
{
    const lz_type *have = gen_type(g, v);
    if (have->dtype != t->dtype)
        v = lz_build_convert(g->f, v, t->dtype);
    if (have->nelem == t->nelem)
        return lz_build_reshape(g->f, v, &t->shape);
    if (have->nelem == 0)
        return constant(g, t);
    if (have->shape.rank > 0) {
        lz_attr_slice a = {.kind = LZ_ATTR_slice};
        a.start_indices.n = a.limit_indices.n = a.strides.n = have->shape.rank;
        for (int d = 0; d < have->shape.rank; d++) {
            a.start_indices.v[d] = RND(0, have->shape.dims[d] - 1);
            a.limit_indices.v[d] = a.start_indices.v[d] + 1;
            a.strides.v[d] = 1;
        }
        v = gen_build(g, LZ_OP_SLICE, &a, &v, 1);
        if (v != LZ_NOVAL)
            v = lz_build_reshape(g->f, v, &gen_scalar);
    }
    lz_ints no_dims = {0};
    return v == LZ_NOVAL || t->shape.rank == 0 ? v
                                               : lz_build_broadcast(g->f, v, &no_dims, &t->shape);
}

lz_val gen_make(gen *g, lz_dtype d, const lz_shape *s)
{
    const lz_type *t = lz_type_get(d, s);
    if (!t || t->nelem > g->o.max_elems * 8)
        return LZ_NOVAL;
    if (g->pure)
        return lz_build_param(g->f, t);
    for (int tries = 0; tries < 10 && CHANCE(90); tries++) {
        lz_val v = (lz_val)RND(0, (int64_t)g->f->ninst - 1);
        if (readable(g, v) && gen_type(g, v) == t)
            return v;
    }
    for (int tries = 0; tries < 4 && CHANCE(70); tries++) {
        lz_val v = (lz_val)RND(0, (int64_t)g->f->ninst - 1);
        if (readable(g, v))
            return bend(g, v, t);
    }
    return constant(g, t);
}

/* ---- the driver ---- */

lz_status gen_begin(gen *g, uint64_t seed, const lz_gen_options *o)
{
    *g = (gen){.r = {seed}};
    if (o)
        g->o = *o;
    if (g->o.max_insts <= 0)
        g->o.max_insts = 12;
    if (g->o.max_elems <= 0)
        g->o.max_elems = 256;
    if (g->o.dtypes == 0)
        g->o.dtypes = ~(UINT32_C(1) << LZ_C64 | UINT32_C(1) << LZ_C128);
    if (g->o.classes == 0)
        g->o.classes = ~UINT32_C(0);
    g->f = lz_func_new("random");
    return g->f ? LZ_OK : LZ_EMEM;
}

static void add_params(gen *g)
{
    int n = (int)RND(1, 4);
    for (int i = 0; i < n; i++) {
        lz_shape s = gen_shape(g, 0);
        lz_dtype d = gen_dtype(g, CHANCE(60) ? LZ_OP_TANH : LZ_OP_CONVERT); /* floats more often */
        if (d == LZ_DTYPE_NONE)
            d = gen_dtype(g, LZ_OP_CONVERT);
        (void)param(g, d, &s);
    }
}

static lz_op random_op(gen *g)
{
    static const int8_t weight[] = {
        [LZ_CLASS_EW] = 100,     [LZ_CLASS_LEAF] = 30,    [LZ_CLASS_MOVE] = 100,
        [LZ_CLASS_INDEX] = 80,   [LZ_CLASS_REDUCE] = 100, [LZ_CLASS_DOT] = 100,
        [LZ_CLASS_RNG] = 60,     [LZ_CLASS_META] = 20,    [LZ_CLASS_SORT] = 60,
        [LZ_CLASS_CONTROL] = 60, [LZ_CLASS_WINDOW] = 60,  [LZ_CLASS_FFT] = 40,
        [LZ_CLASS_LINALG] = 40,  [LZ_CLASS_CALL] = 30,    [LZ_CLASS_COLLECTIVE] = 0};
    for (;;) {
        lz_op op = (lz_op)RND(1, LZ_OP_COUNT - 1);
        lz_op_class c = lz_op_get(op)->cls;
        /* one op stands alone in some classes, 50 share another: even them out */
        if (!(g->o.classes >> c & 1) || (c == LZ_CLASS_EW && CHANCE(60)) || !CHANCE(weight[c]))
            continue;
        return op;
    }
}

/* Results: what nobody reads, at most 6 of it, the last ones first. */
static lz_status finish(gen *g)
{
    lz_func *f = g->f;
    uint32_t *uses = lz_calloc(f->ninst, sizeof *uses);
    if (!uses)
        return LZ_EMEM;
    lz_val out[6];
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->ninst; i++)
        for (uint32_t k = 0; k < f->insts[i].sig->nopnd; k++)
            uses[f->insts[i].opnd[k]]++;
    for (uint32_t i = f->ninst; i-- > 0 && n < 6;)
        if (uses[i] == 0 && readable(g, i) && (i >= f->nparam || n == 0))
            out[n++] = i;
    lz_free(uses);
    return lz_func_set_results(f, out, n);
}

lz_func *lz_gen_random(uint64_t seed, const lz_gen_options *o)
{
    gen g;
    if (gen_begin(&g, seed * 2 + 1, o) != LZ_OK)
        return NULL;
    g.many_dimensions = seed % 32 == 31; /* small ones, as programs of quantum circuits have them */
    add_params(&g);
    int want = (int)lz_rnd_range(&g.r, 1, g.o.max_insts);
    for (int made = 0, tries = 0; made < want && tries < 20 * want; tries++)
        made += gen_op(&g, random_op(&g)) != LZ_NOVAL;
    lz_status s = g.f->status != LZ_OK ? g.f->status : finish(&g);
    if (s != LZ_OK) {
        lz_func_free(g.f);
        return NULL;
    }
    return g.f;
}

/* ---- arguments ---- */

static bool is_index_operand(const lz_sig *s, uint32_t k)
{
    switch (s->op) {
    case LZ_OP_GATHER:
    case LZ_OP_DYNAMIC_SLICE:
        return k >= 1;
    case LZ_OP_DYNAMIC_UPDATE_SLICE:
        return k >= 2;
    case LZ_OP_SCATTER:
        return k == s->nresult;
    default:
        return false;
    }
}

static bool is_index(const lz_func *f, uint32_t p)
{
    for (uint32_t i = f->nparam; i < f->ninst; i++)
        for (uint32_t k = 0; k < f->insts[i].sig->nopnd; k++)
            if (f->insts[i].opnd[k] == p && is_index_operand(f->insts[i].sig, k))
                return true;
    return false;
}

/* Whether the order of combination matters: to what is rounded, and to what overflows. */
static bool is_sum(const lz_sig *s)
{
    const lz_func *region = s->op == LZ_OP_REDUCE    ? LZ_ATTR(reduce, s->attr)->body
                            : s->op == LZ_OP_SCATTER ? LZ_ATTR(scatter, s->attr)->update_computation
                                                     : NULL;
    lz_op op = region ? lz_region_as_binary(region) : LZ_OP_NONE;
    return lz_op_get(s->op)->tol == LZ_TOL_SUM && op != LZ_OP_MAXIMUM && op != LZ_OP_MINIMUM;
}

lz_fill lz_gen_fill(const lz_func *f, lz_fill wanted, bool spiced)
{
    for (uint32_t i = 0; i < f->ninst; i++)
        if (is_sum(f->insts[i].sig))
            return spiced ? LZ_FILL_SPICED : LZ_FILL_MODEST;
    return wanted;
}

static bool is_matrix(const lz_func *f, uint32_t p)
{
    for (uint32_t i = f->nparam; i < f->ninst; i++)
        if ((lz_inst_op(&f->insts[i]) == LZ_OP_CHOLESKY ||
             lz_inst_op(&f->insts[i]) == LZ_OP_TRIANGULAR_SOLVE) &&
            f->insts[i].opnd[0] == p)
            return true;
    return false;
}

/* What is decomposed: mostly matrices whose diagonal is positive and outweighs the rest. */
static void outweigh(lz_literal *l)
{
    lz_dtype d = l->type->dtype;
    const lz_shape *s = &l->type->shape;
    int64_t n = s->dims[s->rank - 1];
    for (int64_t i = 0; i < l->type->nelem; i++) {
        bool diagonal = i / n % n == i % n;
        if (lz_dtype_is_complex(d)) {
            lz_cx v = lz_ref_load_c(d, l->data, i);
            v = diagonal ? (lz_cx){3 + 8 * n + lz_cx_abs(v) / 16, v.im / 16}
                         : (lz_cx){v.re / 16, v.im / 16};
            lz_ref_store_c(d, l->data, i, v);
        } else {
            double v = lz_elem_get_f64(d, l->data, i);
            lz_elem_set_f64(d, l->data, i,
                            diagonal            ? 3 + (double)n + fabs(v) / 16
                            : fabs(v) < 0x1p-10 ? v
                                                : v / 16);
        }
    }
}

lz_status lz_gen_args(const lz_func *f, uint64_t seed, lz_fill fill, lz_literal ***args)
{
    lz_rnd r = {seed ^ UINT64_C(0xa26e17)};
    lz_literal **a = lz_calloc(f->nparam, sizeof *a);
    *args = NULL;
    if (!a)
        return LZ_EMEM;
    for (uint32_t i = 0; i < f->nparam; i++) {
        a[i] = lz_test_random(&r, lz_val_type(f, i), is_index(f, i) ? LZ_FILL_INDEX : fill);
        if (!a[i]) {
            lz_gen_args_free(f, a);
            return LZ_EMEM;
        }
        if (is_matrix(f, i) && lz_rnd_chance(&r, 85))
            outweigh(a[i]);
    }
    *args = a;
    return LZ_OK;
}

void lz_gen_args_free(const lz_func *f, lz_literal **args)
{
    for (uint32_t i = 0; args && i < f->nparam; i++)
        lz_literal_release(args[i]);
    lz_free(args);
}

bool lz_gen_has_op(const lz_func *f, lz_op op)
{
    for (lz_val v = 0; v < f->ninst; v++) {
        if (lz_inst_op(&f->insts[v]) == op)
            return true;
        const lz_func *r;
        for (int k = 0; (r = lz_attr_region(f->insts[v].sig->attr, k)); k++)
            if (lz_gen_has_op(r, op))
                return true;
    }
    return false;
}
