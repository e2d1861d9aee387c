/* kernels_stage.c - one stage for a block of points: inner loops, reductions, stores.
 * A reduction over the vector loop is unrolled into independent vector accumulators, which are
 * combined in a fixed tree at the end: the order depends on the loop's extent only. Masked lanes
 * keep their accumulators.
 * Threads: belongs to one thread. */
#include "codegen/loops/kernels_sort.h"
#include <string.h>

enum { TOGETHER_MAX = 4 };

static unsigned parts(const kern_accs *a, uint32_t k)
{
    return a->v[k][0].im ? 2 : 1;
}

int kern_accs_flatten(const kern_accs *a, Val *out)
{
    int n = 0;
    for (uint32_t k = 0; k < a->n; k++)
        for (unsigned u = 0; u < a->u; u++) {
            out[n++] = a->v[k][u].v;
            if (a->v[k][u].im)
                out[n++] = a->v[k][u].im;
        }
    return n;
}

void kern_accs_unflatten(kern_accs *a, const Val *in)
{
    int n = 0;
    for (uint32_t k = 0; k < a->n; k++) {
        unsigned p = parts(a, k);
        for (unsigned u = 0; u < a->u; u++) {
            a->v[k][u].v = in[n++];
            if (p == 2)
                a->v[k][u].im = in[n++];
        }
    }
}

/* ---- combining ---- */

/* New accumulators of a general reduction. elt[k] has dtype ed[k]. */
static void run_body(kern *c, const lz_red *r, const Ev *acc, const Ev *elt, const lz_dtype *ed,
                     Ev *out)
{
    em *e = c->e;
    Ev *val = lz_arena_alloc(&c->arena, r->nbody * sizeof *val);
    if (!val) {
        e->status =
            e->status
                ? e->status
                : LZ_FAIL(LZ_EMEM, "code generation: no memory for a combiner of %u ops", r->nbody);
        for (uint32_t k = 0; k < r->nacc; k++)
            out[k] = acc[k];
        return;
    }
    for (uint32_t i = 0; i < r->nbody; i++) {
        const lz_sop *p = &r->body[i];
        if (p->kind == LZ_S_CONST)
            val[i] = lz_ev_const(e, p->dtype, p->bits);
        else if (p->kind == LZ_S_ACC)
            val[i] = lz_emit_cast(e, p->dtype, r->acc_dtype[p->a], acc[p->a]);
        else if (p->kind == LZ_S_ELT)
            val[i] = lz_emit_cast(e, p->dtype, ed[p->a], elt[p->a]);
        else if (p->kind == LZ_S_EW) {
            int32_t o[3] = {p->a, p->b, p->c};
            lz_dtype in[3] = {0};
            Ev a[3] = {{0}};
            for (int j = 0; j < lz_op_get(p->op)->arity && j < 3; j++)
                in[j] = r->body[o[j]].dtype, a[j] = val[o[j]];
            val[i] = lz_emit_ew(e, p->op, p->attr, p->dtype, in, a);
        } else
            val[i] = (Ev){
                em_fail(e, em_type(e, p->dtype, 1), "a combiner that reads more than its operands"),
                NULL};
    }
    for (uint32_t k = 0; k < r->nacc; k++) {
        Ev v = lz_emit_cast(e, r->acc_dtype[k], r->body[r->body_out[k]].dtype, val[r->body_out[k]]);
        out[k] = lz_ev_splat(e, v, em_lanes(acc[k].v));
    }
}

/* acc = acc o elt, both partial results of reduction r. */
void kern_merge(kern *c, const lz_red *r, const Ev *acc, const Ev *elt, const lz_dtype *ed, Ev *out)
{
    if (r->comb == LZ_OP_NONE) {
        run_body(c, r, acc, elt, ed, out);
        return;
    }
    lz_dtype d = r->acc_dtype[0], in[2] = {d, d};
    out[0] = lz_emit_ew(c->e, r->comb, NULL, d, in,
                        (Ev[]){acc[0], lz_emit_cast(c->e, d, ed[0], elt[0])});
}

static Ev operand(kern *c, uint32_t s, int32_t sop, unsigned u, bool vec)
{
    return vec ? kern_vector(c, s, sop, u) : kern_value(c, s, sop, u);
}

void kern_accs_add(kern *c, uint32_t s, const kctx *x, kern_accs *a)
{
    em *e = c->e;
    kstage *t = &c->st[s];
    bool vec = t->vdim >= 0 && c->lanes > 1, inner = vec && t->vdim >= (int)c->k->nouter;
    uint32_t k0 = 0;
    for (uint32_t r = 0; r < t->s->nred; k0 += t->s->reds[r].nacc, r++) {
        const lz_red *q = &t->s->reds[r];
        for (unsigned u = 0; u < x->u; u++) {
            Ev acc[8], elt[8], out[8];
            lz_dtype ed[8];
            int32_t v0 = q->value[0];
            for (uint32_t k = 0; k < q->nacc; k++) {
                acc[k] = a->v[k0 + k][u];
                ed[k] = t->s->sops[q->value[k]].dtype;
                if (!t->skip[q->value[k]])
                    elt[k] = operand(c, s, q->value[k], u, vec);
            }
            if (t->skip[v0]) {
                const lz_sop *p = &t->s->sops[v0];
                Val m[2] = {operand(c, s, p->a, u, vec).v, operand(c, s, p->b, u, vec).v};
                out[0] = (Ev){em_fma(e, m[0], m[1], acc[0].v), NULL};
            } else {
                kern_merge(c, q, acc, elt, ed, out);
            }
            for (uint32_t k = 0; k < q->nacc; k++)
                a->v[k0 + k][u] =
                    inner && x->mask[u] ? lz_ev_select(e, x->mask[u], out[k], acc[k]) : out[k];
        }
    }
}

/* ---- loops ---- */

static void inner(kern *c, uint32_t s, uint32_t j, const kctx *x, kern_accs *a);

/* Where threads share loops, what a stage without loops stores is stored by the first of them. */
static void stores_once(kern *c, uint32_t s, const kctx *x)
{
    em *e = c->e;
    em_if f;
    bool shared = kern_shares_loops(c) && c->k->stages[s].nstore && c->k->stages[s].ninner == 0;
    if (shared)
        em_if_begin(e, &f,
                    c->threads->stores ? c->threads->stores
                                       : ICMP(EQ, c->threads->first, em_c64(e, 0)));
    kern_stores(c, s, x);
    if (shared)
        em_if_end(e, &f, 0, NULL, NULL, NULL);
}

static void innermost(kern *c, uint32_t s, const kctx *x, kern_accs *a)
{
    kern_accs_add(c, s, x, a);
    if (c->st[s].s->sort)
        kern_sort_put(c, s);
    if (c->st[s].s->nrow)
        kern_row_put(c, s, x);
    stores_once(c, s, x);
}

/* What of a loop is run here, in steps of `each`. */
static void range(kern *c, uint32_t s, uint32_t j, int64_t each, Val *lo, Val *hi, Val *step)
{
    em *e = c->e;
    bool spread = kern_shares_loops(c) && j + 1 == c->st[s].s->ninner;
    *lo = spread ? MUL(c->threads->first, em_c64(e, each)) : em_c64(e, 0);
    *hi = kern_size(c, c->st[s].s->extent[j]);
    *step = spread ? MUL(c->threads->step, em_c64(e, each)) : em_c64(e, each);
    if (c->threads && c->threads->range)
        c->threads->range(c, s, j, lo, hi, step);
}

/* The values of one of several points whose loads come before anything is done with them. */
typedef struct values {
    Ev *val, *splat;
} values;

static bool keep_values(kern *c, const kstage *t, values *v)
{
    size_t n = t->s->nsop * sizeof(Ev);
    v->val = lz_arena_alloc(&c->arena, n);
    v->splat = lz_arena_alloc(&c->arena, n);
    for (uint32_t i = 0; i < t->s->nsop && v->val && v->splat; i++)
        v->val[i] = t->val[i][0];
    if (v->val && v->splat)
        memcpy(v->splat, t->splat, n);
    return v->val && v->splat;
}

static void use_values(kstage *t, const values *v)
{
    for (uint32_t i = 0; i < t->s->nsop; i++)
        t->val[i][0] = v->val[i];
    memcpy(t->splat, v->splat, t->s->nsop * sizeof(Ev));
}

/* n points of the innermost loop j from `at`. */
static void points_at(kern *c, uint32_t s, uint32_t j, unsigned n, Val at, Val step, const kctx *x,
                      kern_accs *a)
{
    em *e = c->e;
    kstage *t = &c->st[s];
    values v[TOGETHER_MAX];
    for (unsigned u = 0; u < n; u++) {
        c->iidx[j] = at = u ? ADD(at, step) : at;
        kern_addresses(c, s, (int)(POS_INNER + j));
        kern_eval(c, s, (int)(POS_INNER + j), x);
        if (!keep_values(c, t, &v[u])) {
            em_fail(e, e->i1, "no memory for the values of several points");
            return;
        }
    }
    for (unsigned u = 0; u < n; u++) {
        use_values(t, &v[u]);
        kern_accs_add(c, s, x, a);
    }
}

/* The scalar ops of a position that `some` marks (which), or those it does not. */
static void eval_some(kern *c, uint32_t s, int pos, const kctx *x, const bool *some, bool which)
{
    kstage *t = &c->st[s];
    bool *skip = t->skip;
    bool *other = lz_arena_alloc(&c->arena, t->s->nsop);
    if (!other) {
        em_fail(c->e, c->e->i1, "no memory for a list of scalar ops");
        return;
    }
    for (uint32_t i = 0; i < t->s->nsop; i++)
        other[i] = skip[i] || some[i] != which;
    t->skip = other;
    kern_eval(c, s, pos, x);
    t->skip = skip;
}

/* The point of the innermost loop, where it is this thread's: nothing else of it is even loaded. */
static void own_point(kern *c, uint32_t s, uint32_t j, const kctx *x, kern_accs *a)
{
    em *e = c->e;
    kstage *t = &c->st[s];
    int pos = (int)(POS_INNER + j);
    bool *first = lz_arena_alloc(&c->arena, t->s->nsop);
    em_if mine;
    if (!first) {
        em_fail(e, e->i1, "no memory for a list of scalar ops");
        return;
    }
    memset(first, 0, t->s->nsop);
    kern_needs(t->s, c->threads->owned_by, first);
    eval_some(c, s, pos, x, first, true);
    Val by = kern_value(c, s, c->threads->owned_by, 0).v;
    em_if_begin(e, &mine,
                ICMP(EQ, AND(by, SUB(c->threads->owners, em_c64(e, 1))), c->threads->owner));
    eval_some(c, s, pos, x, first, false);
    inner(c, s, j + 1, x, a);
    em_if_end(e, &mine, 0, NULL, NULL, NULL);
}

/* Points, or vectors of them, lo, lo + step.. below hi of loop j, `n` of them in each round. left:
 * the first that is left of whole rounds, which are all there are then. */
static void plain_steps(kern *c, uint32_t s, uint32_t j, unsigned n, Val lo, Val hi, Val step,
                        const kctx *x, kern_accs *a, Val *left)
{
    bool vectors = c->lanes > 1 && c->st[s].vdim == (int)(c->k->nouter + j);
    em *e = c->e;
    em_loop l;
    Val flat[EM_PHI], each = n > 1 ? MUL(step, em_c64(e, n)) : step;
    int m = kern_accs_flatten(a, flat);
    if (left)
        flat[m++] = lo;
    em_loop_begin(e, &l, lo, left ? SUB(hi, SUB(each, step)) : hi, each, m, flat);
    kern_accs_unflatten(a, l.phi);
    if (c->threads && c->threads->owner && j + 1 == c->st[s].s->ninner) {
        c->iidx[j] = l.i;
        kern_addresses(c, s, (int)(POS_INNER + j));
        own_point(c, s, j, x, a);
    } else if (n > 1) {
        points_at(c, s, j, n, l.i, step, x, a);
    } else {
        c->iidx[j] = l.i;
        kern_addresses(c, s, (int)(POS_INNER + j));
        kern_eval(c, s, (int)(POS_INNER + j), x);
        if (vectors)
            innermost(c, s, x, a);
        else
            inner(c, s, j + 1, x, a);
    }
    kern_accs_flatten(a, flat);
    if (left)
        flat[m - 1] = ADD(l.i, each);
    em_loop_end(e, &l, flat);
    kern_accs_unflatten(a, l.phi);
    if (left)
        *left = l.phi[m - 1];
}

/* Without stores between them the loads of several points may be under way together. */
static unsigned points_together(const kern *c, uint32_t s, uint32_t j)
{
    enum { MUCH = 12, MOST = 32 };
    const kstage *t = &c->st[s];
    unsigned work = kern_stage_work(c, s);
    unsigned unroll = c->threads ? c->threads->unroll : 0;
    if (unroll < 2 || j + 1 != t->s->ninner || t->s->nstore || !t->s->nred || work > MOST ||
        2 * t->nacc >= EM_PHI)
        return 1;
    return work > MUCH ? 2 : unroll < TOGETHER_MAX ? unroll : TOGETHER_MAX;
}

/* kern_steps.run */
static void run_plain(kern *c, const kern_steps *w, Val lo, Val hi, kern_accs *a)
{
    unsigned n = points_together(c, w->s, w->j);
    if (n > 1)
        plain_steps(c, w->s, w->j, n, lo, hi, w->step, w->x, a, &lo);
    plain_steps(c, w->s, w->j, 1, lo, hi, w->step, w->x, a, NULL);
}

/* Steps of `side` points. */
static void plain_loop(kern *c, uint32_t s, uint32_t j, int64_t side, const kctx *x, kern_accs *a)
{
    Val lo, hi;
    kern_steps w = {.run = run_plain, .s = s, .j = j, .x = x};
    if (kern_shares_loops(c) && c->threads->last_loop && j + 1 == c->st[s].s->ninner) {
        c->threads->last_loop(c, s, j, side, x, a);
        return;
    }
    range(c, s, j, side, &lo, &hi, &w.step);
    kern_in_sum_blocks(c, s, &w, kern_sum_blocks(c, s, j, side, w.size), lo, hi, a);
}

/* Probably the same addresses: run-time strides of two stages are two arguments. */
static bool alike(const lz_access *a, const lz_access *b)
{
    bool same = a->buf == b->buf && a->ndyn == 0 && a->guard < 0;
    for (int d = 0; d < LZ_LOOP_MAX; d++) {
        const lz_sz *x = &a->stride[d], *y = &b->stride[d];
        same &= x->slot < 0 ? lz_sz_is(*y, x->v) : y->slot >= 0;
    }
    return same;
}

/* Whether stage s is the second one that reads what access a does: the first has waited for it. */
static bool reads_again(const kern *c, uint32_t s, const lz_access *a)
{
    uint32_t before = 0;
    for (uint32_t t = 0; t < s; t++) {
        const lz_stage *st = &c->k->stages[t];
        bool has = false;
        for (uint32_t i = 0; i < st->nacc && st->ninner == 1; i++)
            has |= alike(&st->accs[i], a);
        before += has;
    }
    return before == 1;
}

/* The next point's row of what this one's stages read several times comes while one computes
 * enough: the processor's own fetching does not get as far as the next page. */
enum { ENOUGH = 8 };
static void fetch_next_row(kern *c, uint32_t s, unsigned vectors)
{
    em *e = c->e;
    kstage *t = &c->st[s];
    uint32_t last = c->k->nouter - 1;
    if (e->simt || c->k->nouter == 0 || t->s->ninner != 1 || kern_stage_work(c, s) < ENOUGH)
        return;
    for (uint32_t i = 0; i < t->s->nacc; i++) {
        const lz_access *a = &t->s->accs[i];
        if (a->ndyn || a->guard >= 0 || lz_sz_is(a->stride[last], 0) ||
            !lz_sz_is(a->stride[last + 1], 1) || !reads_again(c, s, a))
            continue;
        unsigned es = em_esize(c->k->buf[a->buf].dtype);
        Val next = em_at(e, t->ptr[POS_INNER][i], kern_size(c, a->stride[last]), es);
        for (unsigned u = 0; u < vectors; u++)
            em_prefetch(e, em_at(e, next, em_c64(e, (int64_t)u * c->lanes), es), false, 2);
    }
}

/* A part of the vector loop: lo..hi - 1, `u` vectors a step, the last ones masked if
 * `masked`. */
static void vector_steps(kern *c, uint32_t s, uint32_t j, unsigned u, bool masked, Val lo, Val hi,
                         Val step, kern_accs *a)
{
    em *e = c->e;
    em_loop l;
    Val flat[EM_PHI];
    int n = kern_accs_flatten(a, flat);
    em_loop_begin(e, &l, lo, hi, step, n, flat);
    kern_accs_unflatten(a, l.phi);
    kctx x = {.u = u};
    if (masked)
        x.mask[0] = em_tail_mask(e, SUB(hi, l.i), c->lanes);
    c->iidx[j] = l.i;
    kern_addresses(c, s, (int)(POS_INNER + j));
    if (!masked)
        fetch_next_row(c, s, u);
    kern_eval(c, s, (int)(POS_INNER + j), &x);
    innermost(c, s, &x, a);
    kern_accs_flatten(a, flat);
    em_loop_end(e, &l, flat);
    kern_accs_unflatten(a, l.phi);
}

static void tail_vectors(kern *c, uint32_t s, uint32_t j, Val lo, Val hi, kern_accs *a)
{
    vector_steps(c, s, j, 1, true, lo, hi, em_c64(c->e, c->lanes), a);
}

/* kern_steps.run */
static void run_vectors(kern *c, const kern_steps *w, Val lo, Val hi, kern_accs *a)
{
    vector_steps(c, w->s, w->j, a->u, false, lo, hi, w->step, a);
}

/* Vectors lo..hi - 1, whole steps. */
static void whole_vectors(kern *c, uint32_t s, uint32_t j, Val lo, Val hi, kern_accs *a)
{
    int64_t side = (int64_t)a->u * c->lanes;
    kern_steps w = {.run = run_vectors, .step = em_c64(c->e, side), .s = s, .j = j};
    kern_in_sum_blocks(c, s, &w, kern_sum_blocks(c, s, j, side, w.size), lo, hi, a);
}

static void vector_loop(kern *c, uint32_t s, uint32_t j, kern_accs *a)
{
    em *e = c->e;
    lz_sz n = c->st[s].s->extent[j];
    if (kern_shares_loops(c)) { /* whole vectors, every thread its own */
        static const kctx one = {.u = 1};
        plain_loop(c, s, j, c->lanes, &one, a);
        return;
    }
    int64_t block = (int64_t)a->u * c->lanes;
    Val hi = kern_size(c, n), mid;
    if (n.slot < 0) {
        mid = em_c64(e, n.v / block * block);
        if (n.v >= block)
            whole_vectors(c, s, j, em_c64(e, 0), mid, a);
        if (n.v % block)
            tail_vectors(c, s, j, mid, hi, a);
        return;
    }
    mid = block & (block - 1) ? MUL(LLVMBuildUDiv(e->b, hi, em_c64(e, block), ""), em_c64(e, block))
                              : AND(hi, em_c64(e, -block));
    whole_vectors(c, s, j, em_c64(e, 0), mid, a);
    tail_vectors(c, s, j, mid, hi, a);
}

static void inner(kern *c, uint32_t s, uint32_t j, const kctx *x, kern_accs *a)
{
    kstage *t = &c->st[s];
    if (j == t->s->ninner)
        innermost(c, s, x, a);
    else if (c->lanes > 1 && t->vdim == (int)(c->k->nouter + j))
        vector_loop(c, s, j, a);
    else
        plain_loop(c, s, j, 1, x, a);
}

/* ---- unrolling of the vector loop ---- */

unsigned kern_stage_work(const kern *c, uint32_t s)
{
    const kstage *t = &c->st[s];
    unsigned w = 0;
    int from = t->s->ninner ? t->last : POS_POINT;
    for (uint32_t i = 0; i < t->s->nsop; i++)
        if (t->pos[i] >= from && t->s->sops[i].kind == LZ_S_EW)
            w += lz_op_has(t->s->sops[i].op, LZ_F_COSTLY) ? 8 : 1;
    return w;
}

unsigned kern_unroll(const kern *c, uint32_t s)
{
    const kstage *t = &c->st[s];
    unsigned w = kern_stage_work(c, s);
    unsigned u = t->s->nred ? (w <= 12 ? 4 : 2) : w <= 20 ? 4 : 2;
    if (t->s->ninner && !t->s->nred)
        u = w <= 6 ? 4 : w <= 20 ? 2 : 1;
    if (t->nacc == 1 && w <= 2 && c->vec == LZ_VEC_OUTER) /* columns: longer runs of each row */
        u = KERN_U;
    if (t->scans && u > 4) /* an accumulator for every level of blocks */
        u = 4;
    if (c->lanes == 1 || kern_shares_loops(c))
        return 1;
    while (u > 1 && t->nacc * u > 16)
        u /= 2;
    return u;
}

/* ---- a stage ---- */

void kern_accs_start(kern *c, uint32_t s, kern_accs *a)
{
    kstage *t = &c->st[s];
    bool vec = t->vdim >= 0 && c->lanes > 1;
    uint32_t k0 = 0;
    for (uint32_t r = 0; r < t->s->nred; k0 += t->s->reds[r].nacc, r++)
        for (uint32_t k = 0; k < t->s->reds[r].nacc; k++)
            for (unsigned u = 0; u < a->u; u++) {
                const lz_red *q = &t->s->reds[r];
                bool outer = vec && t->vdim < (int)c->k->nouter;
                Ev v = operand(c, s, q->init[k], outer ? u : 0, vec);
                a->v[k0 + k][u] =
                    lz_emit_cast(c->e, q->acc_dtype[k], t->s->sops[q->init[k]].dtype, v);
            }
    a->n = k0;
}

lz_dtype kern_acc_dtype(const kern *c, uint32_t s, uint32_t k)
{
    const lz_red *q = c->st[s].s->reds;
    while (k >= q->nacc)
        k -= (q++)->nacc;
    return q->acc_dtype[k];
}

static Ev half_lanes(em *e, Ev v, unsigned n, unsigned by)
{
    int idx[EM_LANES];
    for (unsigned i = 0; i < n; i++)
        idx[i] = i < by ? (int)(i + by) : -1;
    Ev r = {em_shuffle(e, v.v, LLVMGetPoison(LLVMTypeOf(v.v)), idx, n), NULL};
    if (v.im)
        r.im = em_shuffle(e, v.im, LLVMGetPoison(LLVMTypeOf(v.im)), idx, n);
    return r;
}

/* Vector accumulators to scalars: unrolled ones pairwise, then halves of lanes. */
static void fold(kern *c, uint32_t s, kern_accs *a)
{
    em *e = c->e;
    kstage *t = &c->st[s];
    uint32_t k0 = 0;
    for (uint32_t r = 0; r < t->s->nred; k0 += t->s->reds[r].nacc, r++) {
        const lz_red *q = &t->s->reds[r];
        Ev x[8], y[8], out[8];
        for (unsigned by = a->u / 2; by; by /= 2)
            for (unsigned u = 0; u < by; u++) {
                for (uint32_t k = 0; k < q->nacc; k++)
                    x[k] = a->v[k0 + k][u], y[k] = a->v[k0 + k][u + by];
                kern_merge(c, q, x, y, q->acc_dtype, out);
                for (uint32_t k = 0; k < q->nacc; k++)
                    a->v[k0 + k][u] = out[k];
            }
        for (unsigned by = c->lanes / 2; by; by /= 2) {
            for (uint32_t k = 0; k < q->nacc; k++)
                x[k] = a->v[k0 + k][0], y[k] = half_lanes(e, x[k], c->lanes, by);
            kern_merge(c, q, x, y, q->acc_dtype, out);
            for (uint32_t k = 0; k < q->nacc; k++)
                a->v[k0 + k][0] = out[k];
        }
        for (uint32_t k = 0; k < q->nacc; k++) {
            Ev *v = &a->v[k0 + k][0];
            *v = (Ev){em_extract(e, v->v, 0), v->im ? em_extract(e, v->im, 0) : NULL};
        }
    }
}

/* The shares of all threads to the stage's accumulators. */
static void join_shares(kern *c, uint32_t s, kern_accs *a)
{
    Ev acc[KERN_ACCS];
    for (uint32_t k = 0; k < a->n; k++)
        acc[k] = a->v[k][0];
    c->threads->join(c, s, acc, a->n);
    for (uint32_t k = 0; k < a->n; k++)
        a->v[k][0] = acc[k];
}

static Val not_empty(kern *c, const kstage *t)
{
    em *e = c->e;
    Val ok = em_true(e, 1);
    for (uint32_t d = 0; d < t->s->ninner; d++)
        ok = AND(ok, ICMP(SGT, kern_size(c, t->s->extent[d]), em_c64(e, 0)));
    return ok;
}

void kern_stage(kern *c, uint32_t s, const kctx *x)
{
    em *e = c->e;
    kstage *t = &c->st[s];
    bool inner_vec = c->lanes > 1 && t->vdim >= (int)c->k->nouter;
    bool maybe_empty = t->maybe_empty && !(c->threads && c->threads->last_loop);
    kern_accs a = {.u = !inner_vec ? x->u : t->scans ? 1 : kern_unroll(c, s)}, before;
    if (t->nacc > KERN_ACCS) {
        em_fail(e, e->i1, "more than 32 accumulators in a stage");
        return;
    }
    kern_addresses(c, s, POS_POINT);
    kern_eval(c, s, POS_POINT, x);
    kern_accs_start(c, s, &a);
    before = a;
    em_if f;
    if (maybe_empty)
        em_if_begin(e, &f, not_empty(c, t));
    kern_addresses(c, s, POS_BODY);
    kern_eval(c, s, POS_BODY, x);
    if (t->s->sort && t->sort->selects)
        kern_sort_select(c, s, x);
    else if (t->scans)
        kern_scan(c, s, x, &a);
    else
        inner(c, s, 0, x, &a);
    if (maybe_empty) {
        Val now[EM_PHI], was[EM_PHI], out[EM_PHI];
        int n = kern_accs_flatten(&a, now);
        kern_accs_flatten(&before, was);
        em_if_end(e, &f, n, now, was, out);
        kern_accs_unflatten(&a, out);
    }
    if (inner_vec && !t->scans)
        fold(c, s, &a);
    if (kern_shares_loops(c) && t->s->ninner && a.n)
        join_shares(c, s, &a);
    if (t->s->sort)
        kern_sort_run(c, s);
    for (uint32_t k = 0; k < a.n; k++)
        for (unsigned u = 0; u < a.u; u++)
            t->red[k][u] = a.v[k][u];
}
