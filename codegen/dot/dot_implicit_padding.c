/* dot_implicit_padding.c - implicit GEMM: skips the products with padding. See dot_implicit.h and
 * lz_border in lower/loops/loop.h.
 *
 * The inner loops that reach padding are the outermost ones of the tables, so what a tile keeps is
 * a list of k-ranges: one, or one for each index of the first of two such loops. The micro-kernel
 * takes the list and keeps its sums in registers from range to range: it adds what it would add
 * otherwise, in the same order, less the products with padding. These are zeros unless the other
 * factor is infinite or NaN there, so that factor is checked before: the block of B that a unit
 * packs or reads in place, or all rows of A, once for all units. Where padding depends on the row,
 * a tile skips what all its rows do. Threads: belongs to one thread. */
#include "codegen/dot/dot_implicit.h"

enum {
    MOST_RUNS = 16,
    MOST_ROWS = 64, /* of A that are looked through: each share of the units does it again */
    FEW_TILES = 8,  /* of rows, as many as B may be read in place for whatever its size is */
    LEAST_SHARE =
        16 /* one in so many of the places along a loop is padding, or it is not worth it */
};

/* ---- which products ---- */

static bool along(const lz_access *x, uint32_t loops, bool is)
{
    for (uint32_t i = 0; i < x->nborder; i++)
        if ((loops >> x->border[i].outer & 1) != is)
            return false;
    return true;
}

static bool apart(const lz_access *x)
{
    return x->nborder < 2 || x->border[0].inner != x->border[1].inner;
}

/* Also where nothing is left out, sums are added up in the order in which it would be. */
void implicit_choose_padding(implicit *g)
{
    uint32_t n = g->k->stages[0].ninner, no = g->k->nouter, at = 0, first = 0;
    bool of_a = g->a->nborder > 0 && apart(g->a) && along(g->a, 1u << g->n, false),
         of_b = g->b->nborder > 0 && apart(g->b) && along(g->b, g->row_loop, false) && g->shared;
    const lz_access *x = of_a == of_b ? NULL : of_a ? g->a : g->b;
    for (uint32_t i = 0; x && i < x->nborder; i++) {
        g->order[at++] = (uint8_t)(x->border[i].inner - no);
        first |= 1u << (x->border[i].inner - no);
    }
    for (uint32_t l = 0; l < n; l++)
        if (!(first >> l & 1))
            g->order[at++] = (uint8_t)l;
    g->padded = em_may(g->e, LZ_VARIANT_padding_skip) ? x : NULL;
}

/* ---- the other factor is finite ---- */

/* Exponents have all their bits from here on. */
static Val infinite(implicit *g, Ty t)
{
    return em_ci(t, g->d == LZ_F32 ? INT64_C(0x7f800000) : INT64_C(0x7ff0000000000000));
}

static Val magnitude(implicit *g, Val x, Ty bits)
{
    em *e = g->e;
    Val all = em_ci(bits, g->d == LZ_F32 ? INT64_C(0x7fffffff) : INT64_MAX);
    return AND(LLVMBuildBitCast(e->b, x, bits, ""), all);
}

static Ty bits_of(implicit *g, unsigned lanes)
{
    return em_vec(g->d == LZ_F32 ? g->e->i32 : g->e->i64, lanes);
}

Val implicit_least(implicit *g)
{
    return g->padded == g->a ? LLVMConstNull(bits_of(g, g->L)) : NULL;
}

Val implicit_larger(implicit *g, Val so_far, Val x)
{
    return em_intr2(g->e, "llvm.umax", so_far, magnitude(g, x, bits_of(g, g->L)));
}

static Val all_finite(implicit *g, Val largest)
{
    em *e = g->e;
    return NOT(em_any(e, ICMP(UGE, largest, infinite(g, bits_of(g, g->L)))));
}

void implicit_finite_where(implicit *g, Val largest)
{
    em_store(g->e, all_finite(g, largest), g->is_finite, 1);
}

/* The columns of all units, in k0.. */
static Val b_is_finite(implicit *g, Val k0, Val kc)
{
    em *e = g->e;
    em_loop lk, lv;
    Val state[2] = {implicit_b_at(g, k0, em_c64(e, 0)), implicit_least(g)};
    em_loop_begin(e, &lk, em_c64(e, 0), kc, em_c64(e, 1), 2, state);
    em_loop_begin(e, &lv, em_c64(e, 0), g->V, em_c64(e, 1), 1, &lk.phi[1]);
    Val mask = g->full ? NULL : em_tail_mask(e, SUB(g->N, MUL(lv.i, em_c64(e, g->L))), g->L);
    Val at = em_at(e, lk.phi[0], lv.i, (int64_t)g->L * g->es);
    Val x = mask ? em_mload(e, g->vec, at, mask, NULL, g->es) : em_load(e, g->vec, at, g->es);
    Val next[2] = {NULL, implicit_larger(g, lv.phi[0], x)};
    em_loop_end(e, &lv, &next[1]);
    next[0] = em_at(e, lk.phi[0], em_load(e, e->i64, em_at(e, g->step_b, lk.i, 8), 8), 1);
    next[1] = lv.phi[0];
    em_loop_end(e, &lk, next);
    return all_finite(g, lk.phi[1]);
}

/* B in place is small, and the same for all units but those of another matrix; or is for
 * few tiles, which do not repay it. */
void implicit_check_finite_b(implicit *g, Val first, Val k0, Val kc, Val kn)
{
    em *e = g->e;
    em_if direct;
    em_ifelse s;
    if (g->padded != g->a)
        return;
    Val one = em_c64(e, 1), zero = em_c64(e, 0), yes = em_ci(e->i1, 1), now, seen;
    Val anew = OR(first, ICMP(SGT, g->batch, one));
    em_if_begin(e, &direct, g->direct);
    em_ifelse_begin(e, &s, AND(AND(anew, g->worth), ICMP(SGT, g->T, em_c64(e, FEW_TILES))));
    now = b_is_finite(g, k0, kc);
    seen = SEL(ICMP(EQ, kn, zero), yes, em_load(e, e->i1, g->was_checked, 1));
    em_store(e, now, g->is_finite, 1);
    em_store(e, AND(seen, now), g->was_checked, 1);
    em_ifelse_else(e, &s);
    now = AND(NOT(anew), em_load(e, e->i1, g->was_checked, 1));
    em_store(e, now, g->is_finite, 1);
    em_ifelse_end(e, &s, 0, NULL, NULL, NULL);
    em_if_end(e, &direct, 0, NULL, NULL, NULL);
}

/* Of all rows of A, which the tables reach in one block. */
void implicit_check_finite_a(implicit *g)
{
    em *e = g->e;
    em_loop lr, lk;
    em_if s;
    if (g->padded != g->b)
        return;
    Ty t = bits_of(g, 1);
    em_store(e, em_ci(e->i1, 0), g->is_finite, 1);
    Val few = ICMP(SLE, g->M, em_c64(e, MOST_ROWS));
    em_if_begin(e, &s, AND(AND(g->worth, few), ICMP(EQ, g->KB, em_c64(e, 1))));
    Val most = em_ci(t, 0), stride = dot_bytes(&g->c, g->es, g->a->stride[implicit_first_row(g)]),
        from = implicit_base(g, g->a);
    em_loop_begin(e, &lr, em_c64(e, 0), g->M, em_c64(e, 1), 1, &most);
    Val p = em_at(e, from, MUL(lr.i, stride), 1);
    em_loop_begin(e, &lk, em_c64(e, 0), g->K, em_c64(e, 1), 1, lr.phi);
    Val x = em_load(e, g->elem, em_at(e, p, em_load(e, e->i64, em_at(e, g->off_a, lk.i, 8), 8), 1),
                    g->es);
    Val next = em_intr2(e, "llvm.umax", lk.phi[0], magnitude(g, x, t));
    em_loop_end(e, &lk, &next);
    em_loop_end(e, &lr, lk.phi);
    em_store(e, ICMP(ULT, lr.phi[0], infinite(g, t)), g->is_finite, 1);
    em_if_end(e, &s, 0, NULL, NULL, NULL);
}

/* ---- the runs of a tile ---- */

typedef struct range {
    Val first, past;
} range;

typedef struct met {
    Val least, most;
} met;

/* The least and the greatest index that a tile meets of the border's outer loop. */
static met indices(implicit *g, uint32_t l, Val v, unsigned nv)
{
    em *e = g->e;
    if (l == g->n) {
        Val first = MUL(v, em_c64(e, g->L)), last = ADD(first, em_c64(e, (int64_t)nv * g->L - 1));
        return (met){first, em_smin(e, last, SUB(g->N, em_c64(e, 1)))};
    }
    if (!implicit_is_row(g, l))
        return (met){g->c.oidx[l], g->c.oidx[l]};
    em_loop li;
    Val of_first = em_load(e, e->i64, implicit_index_at(g, em_c64(e, 0), l), 8);
    em_loop_begin(e, &li, em_c64(e, 1), em_c64(e, g->mr), em_c64(e, 1), 2,
                  (Val[]){of_first, of_first});
    Val at = em_load(e, e->i64, implicit_index_at(g, li.i, l), 8);
    em_loop_end(e, &li, (Val[]){em_smin(e, li.phi[0], at), em_smax(e, li.phi[1], at)});
    return (met){li.phi[0], li.phi[1]};
}

/* The indices of the border's inner loop, of n, where what a tile reads may be something else than
 * padding. */
static range there(implicit *g, const lz_border *x, Val n, Val v, unsigned nv)
{
    em *e = g->e;
    Val one = em_c64(e, 1), by = kern_size(&g->c, x->by), low = kern_size(&g->c, x->low),
        high = kern_size(&g->c, x->high), step = em_smax(e, kern_size(&g->c, x->step), one);
    met o = indices(g, x->outer, v, nv);
    range r;
    r.first = implicit_part(e, SUB(low, MUL(by, o.most)), step, n);
    r.past = em_smax(e, implicit_part(e, SUB(high, MUL(by, o.least)), step, n), r.first);
    return r;
}

/* Appends what of first..past - 1 is in the block. */
static Val append(implicit *g, Val n, Val first, Val past, Val k0, Val kc)
{
    em *e = g->e;
    first = em_smax(e, SUB(first, k0), em_c64(e, 0));
    past = em_smin(e, SUB(past, k0), kc);
    Val at = em_at(e, g->k_ranges, n, 16);
    em_store(e, first, at, 8);
    em_store(e, past, em_at(e, at, em_c64(e, 8), 1), 8);
    return ADD(n, LLVMBuildZExt(e->b, ICMP(SLT, first, past), e->i64, ""));
}

static Val list_runs(implicit *g, Val v, unsigned nv, Val k0, Val kc)
{
    em *e = g->e;
    const lz_border *x = g->padded->border;
    Val one = em_c64(e, 1), zero = em_c64(e, 0), rest = one, n0 = kern_inner(&g->c, 0, g->order[0]),
        n1 = one;
    for (uint32_t q = g->padded->nborder; q < g->k->stages[0].ninner; q++)
        rest = MUL(rest, kern_inner(&g->c, 0, g->order[q]));
    range r0 = there(g, &x[0], n0, v, nv), r1 = {zero, one};
    if (g->padded->nborder > 1) {
        n1 = kern_inner(&g->c, 0, g->order[1]);
        r1 = there(g, &x[1], n1, v, nv);
    }
    /* one run where the second loop is all there, or where there would be too many */
    Val row = MUL(n1, rest), whole = AND(ICMP(EQ, r1.first, zero), ICMP(EQ, r1.past, n1));
    whole = OR(whole, ICMP(SGT, SUB(r0.past, r0.first), em_c64(e, MOST_RUNS)));
    Val first = MUL(r0.first, row), times = SEL(whole, one, SUB(r0.past, r0.first)),
        past = SEL(whole, MUL(r0.past, row), ADD(first, MUL(r1.past, rest)));
    first = ADD(first, SEL(whole, zero, MUL(r1.first, rest)));
    em_loop l;
    Val n = zero;
    em_loop_begin(e, &l, zero, times, one, 1, &n);
    Val on = MUL(l.i, row), next = append(g, l.phi[0], ADD(first, on), ADD(past, on), k0, kc);
    em_loop_end(e, &l, &next);
    return l.phi[0];
}

Val implicit_list_k_ranges(implicit *g, Val v, unsigned nv, Val k0, Val kc)
{
    em *e = g->e;
    em_ifelse s;
    em_if none;
    Val one = em_c64(e, 1), zero = em_c64(e, 0), all = one, n;
    em_ifelse_begin(e, &s, AND(g->worth, em_load(e, e->i1, g->is_finite, 1)));
    Val some = list_runs(g, v, nv, k0, kc);
    em_ifelse_else(e, &s);
    append(g, zero, k0, ADD(k0, kc), k0, kc);
    em_ifelse_end(e, &s, 1, &some, &all, &n);
    em_if_begin(e, &none, ICMP(EQ, n, zero));
    append(g, zero, k0, k0, k0, kc);
    em_if_end(e, &none, 0, NULL, NULL, NULL);
    return em_smax(e, n, one);
}

void implicit_pass_k_ranges(const implicit *g, Val nranges, Val *args)
{
    args[T_KC] = nranges;
    args[T_K_RANGES] = g->k_ranges;
    args[T_AT_B] = g->at_b;
}

/* There is as much padding along one loop. */
static Val much_padding(implicit *g)
{
    em *e = g->e;
    Val one = em_c64(e, 1), much = em_ci(e->i1, em_always(e, LZ_VARIANT_padding_skip));
    for (uint32_t i = 0; i < g->padded->nborder; i++) {
        const lz_border *x = &g->padded->border[i];
        Val o = SUB(kern_outer(&g->c, x->outer), one),
            k = SUB(kern_inner(&g->c, 0, x->inner - g->k->nouter), one);
        Val all = ADD(MUL(kern_size(&g->c, x->by), o), MUL(kern_size(&g->c, x->step), k));
        all = ADD(all, one);
        Val padding = SUB(all, SUB(kern_size(&g->c, x->high), kern_size(&g->c, x->low)));
        much = OR(much, ICMP(SGE, MUL(padding, em_c64(e, LEAST_SHARE)), all));
    }
    return much;
}

void implicit_place_k_ranges(implicit *g)
{
    em *e = g->e;
    if (!g->padded)
        return;
    g->worth = much_padding(g);
    g->k_ranges = em_alloca(e, e->i64, 2 * (MOST_RUNS + 1), 8);
    g->is_finite = em_alloca(e, e->i1, 1, 1);
    g->was_checked = em_alloca(e, e->i1, 1, 1);
    em_store(e, em_ci(e->i1, 0), g->was_checked, 1);
}
