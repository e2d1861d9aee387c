/* gen_control.c - random while and if: regions of a few exact operations on values of the function
 * around them, so that what comes out is the reference's to the bit, however often a body runs. */
#include "support/gen_internal.h"
#include <string.h>

enum { MOST = 4 }; /* values a region takes */

/* Operations that round or jump would make every difference before the region a large one after
 * it. */
static bool exact(lz_op op, bool control)
{
    const lz_op_info *i = lz_op_get(op);
    return i->tol == LZ_TOL_EXACT && op != LZ_OP_BITCAST_CONVERT &&
           (i->cls == LZ_CLASS_EW || i->cls == LZ_CLASS_MOVE || i->cls == LZ_CLASS_LEAF ||
            (control && i->cls == LZ_CLASS_CONTROL));
}

/* A generator that writes a region of parameters t[0..n-1]. */
static bool inner_begin(const gen *g, gen *h, const lz_type *const *t, uint32_t n)
{
    *h = *g;
    h->pure = false;
    h->f = lz_func_new("region");
    for (uint32_t i = 0; h->f && i < n; i++)
        (void)lz_build_param(h->f, t[i]);
    return h->f != NULL;
}

static void add_ops(gen *h, int n, bool control)
{
    for (int tries = 0, done = 0; done < n && tries < 40; tries++) {
        lz_op op = (lz_op)lz_rnd_range(&h->r, 1, LZ_OP_COUNT - 1);
        done += exact(op, control) && gen_op(h, op) != LZ_NOVAL;
    }
}

/* Ends a region with results of the types given. The generator around it goes on with its random
 * numbers. */
static const lz_func *inner_end(gen *g, gen *h, const lz_val *first, uint32_t nfirst,
                                const lz_type *const *t, uint32_t n)
{
    lz_val out[MOST + 1];
    const lz_func *r = NULL;
    for (uint32_t i = 0; i < nfirst; i++)
        out[i] = first[i];
    for (uint32_t i = 0; i < n; i++)
        out[nfirst + i] = gen_make(h, t[i]->dtype, &t[i]->shape);
    if (h->f->status == LZ_OK && lz_func_set_results(h->f, out, nfirst + n) == LZ_OK)
        r = lz_region_intern(h->f);
    g->r = h->r;
    lz_func_free(h->f);
    return r;
}

static uint32_t pick_values(gen *g, lz_val *v, const lz_type **t)
{
    uint32_t n = 0, want = (uint32_t)RND(1, MOST);
    for (uint32_t i = 0; i < want; i++) {
        lz_val x = gen_pick(g, LZ_OP_CONVERT);
        if (x == LZ_NOVAL)
            continue;
        v[n] = x;
        t[n++] = gen_type(g, x);
    }
    return n;
}

static const lz_func *branch(gen *g, const lz_type *const *t, uint32_t n, uint32_t nres)
{
    gen h;
    if (!inner_begin(g, &h, t, n))
        return NULL;
    add_ops(&h, (int)lz_rnd_range(&h.r, 0, 4), true);
    return inner_end(g, &h, NULL, 0, t, nres);
}

static lz_val some_if(gen *g)
{
    lz_val v[MOST + 1];
    const lz_type *t[MOST];
    if ((v[0] = gen_make(g, LZ_BOOL, &gen_scalar)) == LZ_NOVAL)
        return LZ_NOVAL;
    uint32_t n = pick_values(g, v + 1, t);
    if (n == 0)
        return LZ_NOVAL;
    uint32_t nres = (uint32_t)RND(1, n);
    lz_attr_branches a;
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_branches;
    a.true_branch = branch(g, t, n, nres);
    a.false_branch = branch(g, t, n, nres);
    return a.true_branch && a.false_branch ? gen_build(g, LZ_OP_IF, &a, v, n + 1) : LZ_NOVAL;
}

/* Results are inputs and other values; what the gradient is does not matter here. */
lz_val gen_custom_vjp(gen *g)
{
    lz_val v[3 * MOST], few[MOST];
    const lz_type *t[2 * MOST + MOST], *kept[MOST];
    lz_attr_custom_vjp a = {.kind = LZ_ATTR_custom_vjp, .name = ""};
    lz_val first = gen_pick(g, LZ_OP_CUSTOM_VJP);
    uint32_t nres = 1, nin = pick_values(g, few, kept), nkept = (uint32_t)RND(0, nin), n = 0;
    gen h;
    if (first == LZ_NOVAL || nin == 0)
        return LZ_NOVAL;
    v[n++] = first;
    if (CHANCE(50))
        v[n++] = few[0];
    a.results = nres = n;
    for (uint32_t i = 0; i < nin; i++)
        v[n++] = few[i];
    for (uint32_t i = 0; i < nkept; i++)
        v[n++] = few[i];
    for (uint32_t i = 0; i < 2 * nres; i++)
        t[i] = gen_type(g, v[i % nres]);
    for (uint32_t i = 0; i < nkept; i++)
        t[2 * nres + i] = kept[i];
    if (!inner_begin(g, &h, t, 2 * nres + nkept))
        return LZ_NOVAL;
    add_ops(&h, (int)lz_rnd_range(&h.r, 0, 2), false);
    a.backward = inner_end(g, &h, NULL, 0, kept, nin);
    return a.backward ? gen_build(g, LZ_OP_CUSTOM_VJP, &a, v, n) : LZ_NOVAL;
}

/* The first value counts to a bound, so that nothing runs for long: a constant, or a value too. */
static const lz_func *counts(gen *g, const lz_type *const *t, uint32_t n, int64_t times)
{
    gen h;
    if (!inner_begin(g, &h, t, n))
        return NULL;
    lz_val bound = times < 0 ? n - 1 : lz_build_scalar_i64(h.f, t[0]->dtype, times);
    lz_val below = lz_build_compare(h.f, LZ_CMP_LT, 0, bound);
    return inner_end(g, &h, &below, 1, NULL, 0);
}

static lz_val number(gen *g, lz_dtype d, int64_t v)
{
    lz_literal *l = lz_literal_scalar_i64(d, v);
    lz_val c = l ? lz_build_const(g->f, l) : LZ_NOVAL;
    lz_literal_release(l);
    return c;
}

/* Half of them in the form of lz_fori, which has a gradient. */
static lz_val some_while(gen *g)
{
    lz_val v[MOST + 2], few[MOST];
    const lz_type *t[MOST + 2];
    static const int8_t many[] = {0, 1, 2, 3, 3, 4, 5};
    uint32_t n = pick_values(g, few, t + 1), ncarried = n ? 1 + (uint32_t)RND(0, n) : 0;
    bool fori = CHANCE(50);
    int64_t times = many[RND(0, sizeof many - 1)];
    uint32_t nopnd = n + (fori ? 1 : 2);
    lz_dtype d = fori ? LZ_I64 : LZ_I32;
    v[0] = number(g, d, 0);
    v[n + 1] = number(g, d, times);
    if (n == 0 || v[0] == LZ_NOVAL || v[n + 1] == LZ_NOVAL)
        return LZ_NOVAL;
    memcpy(v + 1, few, n * sizeof *v);
    t[0] = t[n + 1] = gen_type(g, v[0]);
    lz_attr_loop a;
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_loop;
    gen h;
    if (!inner_begin(g, &h, t, nopnd))
        return LZ_NOVAL;
    lz_val next = lz_build_ew2(h.f, LZ_OP_ADD, 0, lz_build_scalar(h.f, d, 1));
    add_ops(&h, (int)lz_rnd_range(&h.r, 0, 5), true);
    a.body = inner_end(g, &h, &next, 1, t + 1, ncarried - 1);
    a.cond = counts(g, t, nopnd, fori ? times : -1);
    return a.body && a.cond ? gen_build(g, LZ_OP_WHILE, &a, v, nopnd) : LZ_NOVAL;
}

lz_val gen_control(gen *g, lz_op op)
{
    if (g->depth == 2)
        return LZ_NOVAL;
    bool pure = g->pure;
    if (pure) { /* the operands are parameters: all of them come before any region */
        lz_shape any = gen_shape(g, 0);
        const lz_type *t = lz_type_get(LZ_BOOL, &gen_scalar),
                      *x = lz_type_get(g->dtype, g->shape ? g->shape : &any);
        (void)lz_build_param(g->f, t);
        (void)lz_build_param(g->f, x);
        g->pure = false;
    }
    g->depth++;
    lz_val v = op == LZ_OP_WHILE ? some_while(g) : some_if(g);
    g->depth--;
    g->pure = pure;
    return v;
}
