/* kernels_scan.c - prefix scans: a reduction whose state is stored at every point of its loops,
 * which run in order. Rows of vectors along the last outer loop carry their accumulators. A vector
 * along the row is scanned in registers (Hillis and Steele: log2(lanes) steps, each with itself
 * moved by twice as many lanes) and then combined with the total before it, which all lanes hold.
 * Floats go in blocks, and blocks of blocks, with accumulators of their own: an element is off by
 * the lengths of the chains, which do not grow with the row but for the outermost. The order is a
 * function of the row's extent alone, the sequence of elements is kept.
 * Threads: belongs to one thread. */
#include "codegen/loops/kern.h"

enum { RUN = 32, MORE = 16, LEVELS = 3 }; /* steps of the innermost chain, of the others */

typedef struct scan {
    kern *c;
    uint32_t s;
    const lz_red *r;
    const kctx *x;
    unsigned u;
    bool along; /* vectors along the row */
} scan;

/* What comes before a block; none: it is the first. */
typedef struct base {
    bool any;
    kern_accs v;
} base;

static void scan_loop(const scan *w, uint32_t j, const base *b, kern_accs *a);

/* left o right, in the order of the elements */
static void combine(const scan *w, unsigned u, const kern_accs *left, const kern_accs *right,
                    kern_accs *out)
{
    Ev x[8], y[8], z[8];
    for (uint32_t k = 0; k < w->r->nacc; k++)
        x[k] = left->v[k][u], y[k] = right->v[k][u];
    kern_merge(w->c, w->r, x, y, w->r->acc_dtype, z);
    for (uint32_t k = 0; k < w->r->nacc; k++)
        out->v[k][u] = z[k];
}

static void combine_all(const scan *w, const kern_accs *left, const kern_accs *right,
                        kern_accs *out)
{
    for (unsigned u = 0; u < w->u; u++)
        combine(w, u, left, right, out);
}

/* ---- one step ---- */

static Val moved_part(em *e, Val v, unsigned by)
{
    unsigned n = em_lanes(v);
    int idx[EM_LANES];
    for (unsigned i = 0; i < n; i++)
        idx[i] = i < by ? (int)i : (int)(i - by);
    return em_shuffle(e, v, v, idx, n);
}

static Val last_part(em *e, Val v)
{
    unsigned n = em_lanes(v);
    int idx[EM_LANES];
    for (unsigned i = 0; i < n; i++)
        idx[i] = (int)n - 1;
    return em_shuffle(e, v, v, idx, n);
}

/* Lane i becomes what lane i - by is; the first ones stay. */
static Ev moved(em *e, Ev v, unsigned by)
{
    return (Ev){moved_part(e, v.v, by), v.im ? moved_part(e, v.im, by) : NULL};
}

static Val lanes_from(em *e, unsigned by, unsigned n)
{
    Val from = em_splat(e, em_c64(e, by), n);
    return ICMP(UGE, em_iota(e, e->i64, n), from);
}

/* Each lane of p becomes the combination of the lanes up to it. */
static void scan_lanes(const scan *w, kern_accs *p)
{
    em *e = w->c->e;
    for (unsigned by = 1; by < w->c->lanes; by *= 2) {
        kern_accs left = *p, both = *p;
        for (uint32_t k = 0; k < w->r->nacc; k++)
            left.v[k][0] = moved(e, p->v[k][0], by);
        combine(w, 0, &left, p, &both);
        Val there = lanes_from(e, by, w->c->lanes);
        for (uint32_t k = 0; k < w->r->nacc; k++)
            p->v[k][0] = lz_ev_select(e, there, both.v[k][0], p->v[k][0]);
    }
}

/* A vector of elements of the row: `a` is the total before it in its block, and then that with
 * it. */
static void add_vector(const scan *w, const kctx *x, kern_accs *a, kern_accs *now)
{
    em *e = w->c->e;
    kern_accs p = *a;
    kern_accs_start(w->c, w->s, &p);
    for (uint32_t k = 0; k < w->r->nacc; k++) {
        const lz_sop *from = &w->c->st[w->s].s->sops[w->r->value[k]];
        Ev v = lz_emit_cast(e, w->r->acc_dtype[k], from->dtype,
                            kern_vector(w->c, w->s, w->r->value[k], 0));
        /* what is not there is the identity */
        p.v[k][0] = x->mask[0] ? lz_ev_select(e, x->mask[0], v, p.v[k][0]) : v;
    }
    scan_lanes(w, &p);
    *now = *a;
    combine(w, 0, a, &p, now);
    for (uint32_t k = 0; k < w->r->nacc; k++) {
        Ev *v = &now->v[k][0];
        a->v[k][0] = (Ev){last_part(e, v->v), v->im ? last_part(e, v->im) : NULL};
    }
}

/* The points, or the vector, at index i of the last loop. */
static void step(const scan *w, uint32_t j, Val i, const kctx *x, const base *b, kern_accs *a)
{
    kern *c = w->c;
    kstage *t = &c->st[w->s];
    uint32_t before = lz_stage_before_prefix(t->s);
    int pos = (int)(POS_INNER + j);
    kern_accs now;
    c->iidx[j] = i;
    kern_addresses(c, w->s, pos);
    kern_eval_part(c, w->s, pos, x, 0, before);
    if (w->along) {
        add_vector(w, x, a, &now);
    } else {
        kern_accs_add(c, w->s, x, a);
        now = *a;
    }
    if (b->any)
        combine_all(w, &b->v, &now, &now);
    for (uint32_t k = 0; k < w->r->nacc; k++)
        for (unsigned u = 0; u < w->u; u++)
            t->prefix[k][u] = now.v[k][u];
    kern_eval_part(c, w->s, pos, x, before, t->s->nsop);
    kern_stores(c, w->s, x);
}

/* ---- loops ---- */

/* Part of loop j: lo, lo + by.. below hi. masked: one vector, of those that are left. */
static void steps(const scan *w, uint32_t j, Val lo, Val hi, int64_t by, bool masked, const base *b,
                  kern_accs *a)
{
    kern *c = w->c;
    em *e = c->e;
    em_loop l;
    Val flat[EM_PHI];
    kctx x = *w->x;
    em_loop_begin(e, &l, lo, hi, em_c64(e, by), kern_accs_flatten(a, flat), flat);
    kern_accs_unflatten(a, l.phi);
    if (w->along)
        x = (kctx){.u = 1};
    if (masked)
        x.mask[0] = em_tail_mask(e, SUB(hi, l.i), c->lanes);
    if (j + 1 == c->st[w->s].s->ninner) {
        step(w, j, l.i, &x, b, a);
    } else {
        c->iidx[j] = l.i;
        kern_addresses(c, w->s, (int)(POS_INNER + j));
        kern_eval(c, w->s, (int)(POS_INNER + j), &x);
        scan_loop(w, j + 1, b, a);
    }
    kern_accs_flatten(a, flat);
    em_loop_end(e, &l, flat);
    kern_accs_unflatten(a, l.phi);
}

static bool inexact(lz_op op, lz_dtype d)
{
    return (op == LZ_OP_ADD || op == LZ_OP_MULTIPLY) &&
           (lz_dtype_is_float(d) || lz_dtype_is_complex(d));
}

/* Whether partial results are rounded, so that long chains of them are bad. */
static bool rounds(const lz_red *r)
{
    if (r->comb != LZ_OP_NONE)
        return inexact(r->comb, r->acc_dtype[0]);
    for (uint32_t i = 0; i < r->nbody; i++)
        if (r->body[i].kind == LZ_S_EW && inexact(r->body[i].op, r->body[i].dtype))
            return true;
    return false;
}

/* Levels of blocks of loop j, by steps of `by`; their sizes in indices. */
static unsigned levels_of(const scan *w, uint32_t j, int64_t by, int64_t *size)
{
    lz_sz n = w->c->st[w->s].s->extent[j];
    unsigned level = 0;
    int64_t z = RUN * by;
    if (!rounds(w->r))
        return 0;
    for (; level < LEVELS && (n.slot >= 0 || n.v > z); z *= MORE)
        size[level++] = z;
    return level;
}

/* lo..hi - 1, which are whole steps unless masked. */
static void in_blocks(const scan *w, uint32_t j, unsigned level, const int64_t *size, Val lo,
                      Val hi, int64_t by, const base *b, kern_accs *a)
{
    em *e = w->c->e;
    em_loop l;
    Val flat[EM_PHI];
    base inside = {.any = true};
    if (level == 0) {
        steps(w, j, lo, hi, by, false, b, a);
        return;
    }
    Val each = em_c64(e, size[level - 1]);
    em_loop_begin(e, &l, lo, hi, each, kern_accs_flatten(a, flat), flat);
    kern_accs_unflatten(a, l.phi);
    kern_accs part = *a;
    inside.v = *a;
    if (b->any)
        combine_all(w, &b->v, a, &inside.v);
    kern_accs_start(w->c, w->s, &part);
    in_blocks(w, j, level - 1, size, l.i, em_smin(e, ADD(l.i, each), hi), by, &inside, &part);
    combine_all(w, a, &part, a);
    kern_accs_flatten(a, flat);
    em_loop_end(e, &l, flat);
    kern_accs_unflatten(a, l.phi);
}

static void scan_loop(const scan *w, uint32_t j, const base *b, kern_accs *a)
{
    em *e = w->c->e;
    const lz_stage *t = w->c->st[w->s].s;
    bool vectors = w->along && j + 1 == t->ninner;
    int64_t by = vectors ? w->c->lanes : 1, size[LEVELS];
    lz_sz n = t->extent[j];
    Val hi = kern_size(w->c, n), whole = vectors ? AND(hi, em_c64(e, -by)) : hi;
    in_blocks(w, j, levels_of(w, j, by, size), size, em_c64(e, 0), whole, by, b, a);
    if (vectors && (n.slot >= 0 || n.v % by))
        steps(w, j, whole, hi, by, true, b, a);
}

void kern_scan(kern *c, uint32_t s, const kctx *x, kern_accs *a)
{
    kstage *t = &c->st[s];
    scan w = {.c = c, .s = s, .r = &t->s->reds[0], .x = x, .u = a->u};
    base none = {.any = false};
    w.along = c->lanes > 1 && t->vdim >= (int)c->k->nouter;
    if (kern_shares_loops(c)) {
        em_fail(c->e, c->e->i1, "a scan whose row is shared by threads");
        return;
    }
    scan_loop(&w, 0, &none, a);
}
