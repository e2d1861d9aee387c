/* dot_implicit_rows.c - implicit GEMM: which rows a tile has, their pointers, indices and results.
 * See dot_implicit.h.
 *
 * Rows come in the order of their loops, or, where padding of A is skipped and rows of a region are
 * enough for whole tiles, region by region: of each loop that reaches padding, the indices whose
 * windows do not are one class, and each of the others is one; a region is a class of each such
 * loop. A tile skips what all its rows may skip, so its rows should be of one region: in an image
 * of 4 x 4 pixels, of 3 rows in a tile one has no neighbour above. Threads: belongs to one
 * thread. */
#include "codegen/dot/dot_implicit.h"

/* ---- regions ---- */

/* The loops that regions are made of, and which indices of them are one class. */
static void choose_regions(implicit *g)
{
    em *e = g->e;
    Val one = em_c64(e, 1), zero = em_c64(e, 0);
    g->nregion = 0;
    g->alike = g->M;
    if (g->padded != g->a)
        return;
    for (uint32_t i = 0; i < g->a->nborder; i++) {
        const lz_border *x = &g->a->border[i];
        if (!implicit_is_row(g, x->outer) || (i && x->outer == g->a->border[0].outer))
            continue;
        Val n = kern_outer(&g->c, x->outer), by = em_smax(e, kern_size(&g->c, x->by), one);
        Val span =
            MUL(SUB(kern_inner(&g->c, 0, x->inner - g->k->nouter), one), kern_size(&g->c, x->step));
        Val first = implicit_part(e, kern_size(&g->c, x->low), by, n),
            past = implicit_part(e, SUB(kern_size(&g->c, x->high), span), by, n);
        g->alike = LLVMBuildUDiv(e->b, g->alike, em_smax(e, n, one), "");
        g->region[g->nregion++] = (implicit_region){.loop = x->outer, .first = first, .past = past};
    }
    for (uint32_t i = 0; i < g->nregion; i++) {
        implicit_region *c = &g->region[i];
        Val n = kern_outer(&g->c, c->loop), use = AND(g->worth, ICMP(SLT, c->first, c->past));
        use = AND(use, ICMP(SGE, g->alike, em_c64(e, g->mr)));
        c->first = SEL(use, c->first, zero);
        c->past = SEL(use, c->past, n);
        c->n = ADD(one, ADD(c->first, SUB(n, c->past)));
    }
}

/* The indices of the region's loop that are class k: how many, from which on. */
static Val class_of(implicit *g, const implicit_region *c, Val k, Val *from)
{
    em *e = g->e;
    Val one = em_c64(e, 1), inside = ICMP(EQ, k, em_c64(e, 0)), other = SUB(k, one);
    Val above = ADD(c->past, SUB(other, c->first));
    other = SEL(ICMP(SLT, other, c->first), other, above);
    *from = SEL(inside, c->first, other);
    return SEL(inside, SUB(c->past, c->first), one);
}

static Val cur_at(implicit *g, uint32_t l)
{
    return em_at(g->e, g->cur, em_c64(g->e, l), 8);
}

static Val from_at(implicit *g, uint32_t l)
{
    return em_at(g->e, g->cur, em_c64(g->e, LZ_OUTER_MAX + (int64_t)l), 8);
}

static Val size_at(implicit *g, uint32_t l)
{
    return em_at(g->e, g->cur, em_c64(g->e, 2 * LZ_OUTER_MAX + (int64_t)l), 8);
}

static Val class_at(implicit *g, uint32_t i)
{
    return em_at(g->e, g->cur, em_c64(g->e, 3 * LZ_OUTER_MAX + (int64_t)i), 8);
}

/* The next rows are those of classes k. */
static void enter_region(implicit *g, const Val *k)
{
    em *e = g->e;
    for (uint32_t i = 0; i < g->nregion; i++) {
        Val from, n = class_of(g, &g->region[i], k[i], &from);
        em_store(e, k[i], class_at(g, i), 8);
        em_store(e, from, from_at(g, g->region[i].loop), 8);
        em_store(e, n, size_at(g, g->region[i].loop), 8);
    }
}

static void following(implicit *g, Val *k)
{
    Val n[LZ_BORDER_MAX] = {NULL};
    for (uint32_t i = 0; i < g->nregion; i++)
        n[i] = g->region[i].n;
    dot_count_on(g->e, g->nregion, n, k);
}

/* Enters the region of row r; gives which row it is there. */
static Val find_region(implicit *g, Val r)
{
    em *e = g->e;
    if (!g->nregion)
        return r;
    Val all = em_c64(e, 1), zero = em_c64(e, 0), state[1 + LZ_BORDER_MAX] = {r, zero, zero};
    for (uint32_t i = 0; i < g->nregion; i++)
        all = MUL(all, g->region[i].n);
    em_loop l;
    int n = (int)g->nregion;
    em_loop_begin(e, &l, zero, all, em_c64(e, 1), 1 + n, state);
    Val size = g->alike, from, next[1 + LZ_BORDER_MAX];
    for (int i = 0; i < n; i++) {
        size = MUL(size, class_of(g, &g->region[i], l.phi[1 + i], &from));
        next[1 + i] = l.phi[1 + i];
    }
    following(g, next + 1);
    Val here = ICMP(SLT, l.phi[0], size);
    next[0] = SEL(here, l.phi[0], SUB(l.phi[0], size));
    for (int i = 0; i < n; i++)
        next[1 + i] = SEL(here, l.phi[1 + i], next[1 + i]);
    em_loop_end(e, &l, next);
    enter_region(g, l.phi + 1);
    return l.phi[0];
}

/* ---- rows ---- */

void implicit_place_rows(implicit *g)
{
    em *e = g->e;
    g->rows = em_alloca(e, e->ptr, IMPLICIT_ROWS, 8);
    g->index = em_alloca(e, e->i64, IMPLICIT_ROWS * LZ_OUTER_MAX, 8);
    g->cur = em_alloca(e, e->i64, 3 * LZ_OUTER_MAX + LZ_BORDER_MAX, 8);
    choose_regions(g);
    for (uint32_t l = 0; l < g->n; l++)
        if (implicit_is_row(g, l)) {
            em_store(e, em_c64(e, 0), from_at(g, l), 8);
            em_store(e, kern_outer(&g->c, l), size_at(g, l), 8);
        }
}

void implicit_start_rows(implicit *g, Val r)
{
    em *e = g->e;
    uint32_t first = implicit_first_row(g);
    r = find_region(g, r);
    for (uint32_t l = g->n; l-- > 0;)
        if (implicit_is_row(g, l)) {
            Val n = em_load(e, e->i64, size_at(g, l), 8);
            em_store(e, l == first ? r : em_split_index(e, &r, n), cur_at(g, l), 8);
        }
}

static void count_on(implicit *g)
{
    em *e = g->e;
    Val i[LZ_OUTER_MAX] = {NULL}, n[LZ_OUTER_MAX] = {NULL}, k[LZ_BORDER_MAX];
    uint32_t loops = 0, which[LZ_OUTER_MAX];
    for (uint32_t l = 0; l < g->n; l++)
        if (implicit_is_row(g, l)) {
            n[loops] = em_load(e, e->i64, size_at(g, l), 8);
            i[loops] = em_load(e, e->i64, cur_at(g, l), 8);
            which[loops++] = l;
        }
    dot_count_on(e, loops, n, i);
    Val past = ICMP(SGE, i[0], n[0]);
    i[0] = g->nregion ? SEL(past, em_c64(e, 0), i[0]) : i[0];
    for (uint32_t q = 0; q < loops; q++)
        em_store(e, i[q], cur_at(g, which[q]), 8);
    if (!g->nregion)
        return;
    em_if s;
    em_if_begin(e, &s, past);
    for (uint32_t q = 0; q < g->nregion; q++)
        k[q] = em_load(e, e->i64, class_at(g, q), 8);
    following(g, k);
    enter_region(g, k);
    em_if_end(e, &s, 0, NULL, NULL, NULL);
}

Val implicit_index_at(implicit *g, Val i, uint32_t l)
{
    em *e = g->e;
    return em_at(e, g->index, ADD(MUL(i, em_c64(e, LZ_OUTER_MAX)), em_c64(e, l)), 8);
}

/* Row i of the tile is the next one. Gives where its results are, in bytes from the first of
 * all. */
static Val take_row(implicit *g, Val i)
{
    em *e = g->e;
    const lz_access *to = &g->k->stages[1].stores[0].at;
    Val p = implicit_base(g, g->a), c = em_c64(e, 0);
    for (uint32_t l = 0; l < g->n; l++) {
        Val at = g->c.oidx[l];
        if (implicit_is_row(g, l))
            at = ADD(em_load(e, e->i64, cur_at(g, l), 8), em_load(e, e->i64, from_at(g, l), 8));
        p = em_at(e, p, MUL(at, dot_bytes(&g->c, g->es, g->a->stride[l])), 1);
        if (g->plain)
            c = ADD(c, MUL(at, dot_bytes(&g->c, g->es, to->stride[l])));
        em_store(e, at, implicit_index_at(g, i, l), 8);
    }
    em_store(e, p, em_at(e, g->rows, i, 8), 8);
    return c;
}

void implicit_next_rows(implicit *g, Val nrows)
{
    em *e = g->e;
    em_loop li;
    Val zero = em_c64(e, 0), one = em_c64(e, 1), state[4] = {zero, zero, zero, em_ci(e->i1, 1)};
    em_loop_begin(e, &li, zero, em_c64(e, g->mr), one, g->plain ? 4 : 0, state);
    Val c = take_row(g, li.i), next[4];
    if (g->plain) {
        Val apart = SUB(c, li.phi[1]), second = ICMP(EQ, li.i, one),
            same = ICMP(EQ, apart, li.phi[2]);
        next[0] = SEL(ICMP(EQ, li.i, zero), c, li.phi[0]);
        next[1] = c;
        next[2] = SEL(second, apart, li.phi[2]);
        next[3] = AND(li.phi[3], OR(ICMP(SLE, li.i, one), same));
    }
    em_if more;
    Val done = ADD(li.i, one), last = ICMP(EQ, done, em_c64(e, g->mr));
    em_if_begin(e, &more, OR(ICMP(SLT, done, nrows), last));
    count_on(g);
    em_if_end(e, &more, 0, NULL, NULL, NULL);
    em_loop_end(e, &li, next);
    g->result = g->plain ? li.phi[0] : NULL;
    g->result_stride = g->plain ? li.phi[2] : NULL;
    g->result_even = g->plain ? li.phi[3] : NULL;
}

void implicit_load_indices(implicit *g, Val row)
{
    em *e = g->e;
    for (uint32_t l = 0; l < g->n; l++)
        if (implicit_is_row(g, l))
            g->c.oidx[l] = em_load(e, e->i64, implicit_index_at(g, row, l), 8);
}
