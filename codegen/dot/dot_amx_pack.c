/* dot_amx_pack.c - GEMM on AMX tiles: packs A and B. Ops that are fused into them (the prologue)
 * run here.
 * Packed A: [step][32 rows][64 bytes of k], packed B: panels of [step][tile][16 words of k][16
 * columns]. Words whose k are not there are zero, rows and columns that are not there hold
 * anything.
 * Threads: belongs to one thread. */
#include "codegen/dot/dot_amx.h"

uint32_t amx_fixed_loops(const amx *g)
{
    return ((1u << g->m) - 1) | (((1u << g->ki) - 1) << g->k->nouter);
}

void amx_share_indices(const amx *g, kern *f)
{
    for (uint32_t d = 0; d < g->m; d++)
        f->oidx[d] = g->c.oidx[d];
    for (uint32_t d = 0; d < g->ki; d++)
        f->iidx[d] = g->c.iidx[d];
}

/* ---- words ---- */

static Ty part_type(const amx *g)
{
    return g->words == 1 ? g->e->i16 : g->e->i8;
}

static unsigned part_bytes(const amx *g)
{
    return 4u >> g->words;
}

static unsigned parts(const amx *g)
{
    return 1u << g->words;
}

/* The bits of values, in the low part of a word each. */
static Val bits_of(amx *g, Val v)
{
    em *e = g->e;
    if (g->words == 1)
        return LSHR(BITS(v, g->word), em_ci(g->word, 16));
    return LLVMBuildZExt(e->b, v, g->word, "");
}

static Val there(amx *g, Val k, unsigned q)
{
    em *e = g->e;
    return ICMP(SLT, ADD(k, em_c64(e, q)), g->K);
}

static Val load_at(const amx_factor *x)
{
    uint32_t i = (uint32_t)(x->load - x->f.st[0].s->accs);
    return x->f.st[0].ptr[POS_POINT][i];
}

static Val stride_of(amx *g, amx_factor *x, uint32_t loop)
{
    return dot_bytes(&x->f, part_bytes(g), x->load->stride[loop]);
}

/* Rows k, k + 1.. of nu * L elements each, side by side: out[u] has the words of vector u. */
static void interleave(amx *g, Val *row, unsigned nu, Val *out)
{
    em *e = g->e;
    unsigned n = nu * g->L, each = n, np = parts(g);
    int at[EM_LANES];
    for (; np > 2; np /= 2) { /* two rows become one vector */
        for (unsigned i = 0; i < 2 * each; i++)
            at[i] = (int)i;
        for (unsigned r = 0; r < np / 2; r++)
            row[r] = em_shuffle(e, row[2 * r], row[2 * r + 1], at, 2 * each);
        each *= 2;
    }
    for (unsigned u = 0; u < nu; u++) {
        for (unsigned i = 0; i < g->L << g->words; i++)
            at[i] = (int)(i % parts(g) * n + u * g->L + i / parts(g));
        out[u] = BITS(em_shuffle(e, row[0], row[1], at, g->L << g->words), g->word);
    }
}

/* nu vectors along the factor's loop of the words at p, whose next k are `stride` bytes away.
 * whole: all of them are there; else as many elements as are left, and k as there are in K. */
static void load_across(amx *g, Val p, Val stride, unsigned nu, bool whole, Val left, Val k,
                        Val *out)
{
    em *e = g->e;
    Val row[4], mask = whole ? NULL : em_tail_mask(e, left, nu * g->L);
    Ty t = em_vec(part_type(g), nu * g->L);
    Val ahead = em_at(e, p, MUL(stride, em_c64(e, AMX_SIDE << g->words)), 1);
    for (unsigned q = 0; q < parts(g); q++) {
        if (whole)
            row[q] = em_load(e, t, p, part_bytes(g));
        else
            row[q] = em_mload(e, t, p, AND(mask, em_splat(e, there(g, k, q), nu * g->L)), NULL,
                              part_bytes(g));
        em_prefetch(e, ahead, false, 2);
        p = em_at(e, p, stride, 1);
        ahead = em_at(e, ahead, stride, 1);
    }
    interleave(g, row, nu, out);
}

/* The same of values; the indices of other loops are set, and addresses at POS_ROW are those of
 * them and of the first element. */
static void evaluate_across(amx *g, amx_factor *x, unsigned nu, Val left, Val k, Val *out)
{
    em *e = g->e;
    kern *f = &x->f;
    kctx c = {.u = nu};
    for (unsigned u = 0; u < nu; u++) {
        c.mask[u] = em_tail_mask(e, SUB(left, em_c64(e, (int64_t)u * g->L)), g->L);
        out[u] = LLVMConstNull(g->word);
    }
    for (unsigned q = 0; q < parts(g); q++) {
        f->iidx[g->ki] = em_smin(e, ADD(k, em_c64(e, q)), SUB(g->K, em_c64(e, 1)));
        kern_advance(f, 0, POS_ROW, POS_POINT, 1u << g->kd);
        kern_eval(f, 0, POS_POINT, &c);
        for (unsigned u = 0; u < nu; u++) {
            Val v = bits_of(g, kern_vector(f, 0, x->sop, u).v);
            v = SEL(there(g, k, q), v, LLVMConstNull(g->word));
            out[u] = OR(out[u], SHL(v, em_ci(g->word, 8 * part_bytes(g) * q)));
        }
    }
}

/* The L words of values that begin at k of one row or column, addresses at POS_POINT being those of
 * its first element. */
static Val words_along(amx *g, amx_factor *x, Val k)
{
    em *e = g->e;
    Val left = SUB(g->K, k), v[4];
    int at[EM_LANES];
    kctx c = {.u = parts(g)};
    for (unsigned u = 0; u < c.u; u++)
        c.mask[u] = em_tail_mask(e, SUB(left, em_c64(e, (int64_t)u * g->L)), g->L);
    kern_eval(&x->f, 0, POS_POINT, &c);
    for (unsigned u = 0; u < c.u; u++) {
        Val y = bits_of(g, kern_vector(&x->f, 0, x->sop, u).v);
        y = LLVMBuildTrunc(e->b, y, em_vec(part_type(g), g->L), "");
        v[u] = SEL(c.mask[u], y, LLVMConstNull(LLVMTypeOf(y)));
    }
    for (unsigned m = g->L, np = parts(g); np > 1; np /= 2, m *= 2) {
        for (unsigned i = 0; i < 2 * m; i++)
            at[i] = (int)i;
        for (unsigned r = 0; r < np / 2; r++)
            v[r] = em_shuffle(e, v[2 * r], v[2 * r + 1], at, 2 * m);
    }
    return BITS(v[0], g->word);
}

/* First k of a step. */
static Val k_of(amx *g, Val step)
{
    em *e = g->e;
    return MUL(step, em_c64(e, AMX_SIDE << g->words));
}

/* ---- tiles ---- */

/* The words of a step from k on, nu vectors of each along the factor's loop, whose elements from
 * the one at POS_ROW on are left: word w of vector u goes to row w of tile u. */
static void words_of_step(amx *g, amx_factor *x, unsigned nu, Val left, Val k, bool whole, Val to)
{
    em *e = g->e;
    em_loop l;
    Val v[2], p = NULL, stride = NULL, next = NULL;
    if (x->load) {
        x->f.iidx[g->ki] = k;
        kern_advance(&x->f, 0, POS_ROW, POS_POINT, 1u << g->kd);
        p = load_at(x);
        stride = stride_of(g, x, g->kd);
        next = MUL(stride, em_c64(e, parts(g)));
    }
    em_loop_begin(e, &l, em_c64(e, 0), em_c64(e, AMX_SIDE), em_c64(e, 1), p ? 1 : 0, &p);
    Val at = ADD(k, MUL(l.i, em_c64(e, parts(g))));
    if (p)
        load_across(g, l.phi[0], stride, nu, whole, left, at, v);
    else
        evaluate_across(g, x, nu, left, at, v);
    for (unsigned j = 0; j < nu; j++)
        em_store(e, v[j], em_at(e, em_at(e, to, l.i, AMX_LINE), em_c64(e, j), AMX_TILE), AMX_LINE);
    if (p)
        next = em_at(e, l.phi[0], next, 1);
    em_loop_end(e, &l, &next);
}

static void pack_words(amx *g, amx_factor *x, unsigned nu, Val left, Val k, Val to)
{
    em *e = g->e;
    em_ifelse s;
    if (!x->load) {
        words_of_step(g, x, nu, left, k, false, to);
        return;
    }
    Val columns = ICMP(SGE, left, em_c64(e, (int64_t)nu * g->L)),
        all = ICMP(SGE, SUB(g->K, k), em_c64(e, AMX_SIDE << g->words));
    em_ifelse_begin(e, &s, AND(columns, all));
    words_of_step(g, x, nu, left, k, true, to);
    em_ifelse_else(e, &s);
    words_of_step(g, x, nu, left, k, false, to);
    em_ifelse_end(e, &s, 0, NULL, NULL, NULL);
}

static void store_rows(amx *g, const Val *row, Val out)
{
    em *e = g->e;
    for (unsigned i = 0; i < AMX_SIDE; i++)
        em_store(e, row[i], em_at(e, out, em_c64(e, i), AMX_LINE), AMX_LINE);
}

static void transposed(amx *g, Val *row, Val out)
{
    em_transpose(g->e, row, AMX_SIDE);
    store_rows(g, row, out);
}

/* The tile of the rows or columns first.. at this step, from memory in which k are contiguous, each
 * line of it loaded at once; those past the last are that one again. */
static void load_lines(amx *g, amx_factor *x, Val first, Val n, Val k, Val *row)
{
    em *e = g->e;
    kern *f = &x->f;
    f->oidx[x->loop] = em_c64(e, 0);
    f->iidx[g->ki] = k;
    kern_advance(f, 0, POS_TOP, POS_POINT, amx_fixed_loops(g) | 1u << g->kd);
    Val p = load_at(x), stride = stride_of(g, x, x->loop), last = SUB(n, em_c64(e, 1));
    Ty t = em_vec(part_type(g), g->L << g->words);
    Val mask = em_tail_mask(e, SUB(g->K, k), g->L << g->words);
    for (unsigned i = 0; i < AMX_SIDE; i++) {
        Val at = em_at(e, p, MUL(em_smin(e, ADD(first, em_c64(e, i)), last), stride), 1);
        row[i] = BITS(em_mload(e, t, at, mask, NULL, part_bytes(g)), g->word);
    }
}

/* The same of values. */
static void evaluate_lines(amx *g, amx_factor *x, Val first, Val n, Val k, Val square, Val *row)
{
    em *e = g->e;
    kern *f = &x->f;
    em_loop l;
    em_loop_begin(e, &l, em_c64(e, 0), em_c64(e, AMX_SIDE), em_c64(e, 1), 0, NULL);
    f->oidx[x->loop] = em_smin(e, ADD(first, l.i), SUB(n, em_c64(e, 1)));
    f->iidx[g->ki] = k;
    kern_advance(f, 0, POS_TOP, POS_POINT, amx_fixed_loops(g) | 1u << x->loop | 1u << g->kd);
    em_store(e, words_along(g, x, k), em_at(e, square, l.i, AMX_LINE), AMX_LINE);
    em_loop_end(e, &l, NULL);
    for (unsigned i = 0; i < AMX_SIDE; i++)
        row[i] = em_load(e, g->word, em_at(e, square, em_c64(e, i), AMX_LINE), AMX_LINE);
}

/* ---- B ---- */

static Val panel_at(amx *g, const amx_unit *w, Val ss, Val p, Val s, Val out)
{
    em *e = g->e;
    return em_at(e, out, ADD(MUL(SUB(p, w->p0), ss), s), (int64_t)g->nv * AMX_TILE);
}

/* Rows of B: all panels of a step in turn, so that whole lines follow each other. */
static void pack_b_across(amx *g, const amx_unit *w, Val s0, Val ss, Val out)
{
    em *e = g->e;
    kern *f = &g->b.f;
    em_loop ls, lp;
    Val one = em_c64(e, 1), zero = em_c64(e, 0);
    em_loop_begin(e, &ls, zero, ss, one, 0, NULL);
    Val k0 = k_of(g, ADD(s0, ls.i));
    em_loop_begin(e, &lp, w->p0, w->p1, one, 0, NULL);
    f->oidx[g->n] = MUL(lp.i, em_c64(e, (int64_t)g->nv * g->L));
    kern_advance(f, 0, POS_TOP, POS_ROW, amx_fixed_loops(g) | 1u << g->n);
    pack_words(g, &g->b, g->nv, SUB(g->N, f->oidx[g->n]), k0, panel_at(g, w, ss, lp.i, ls.i, out));
    em_loop_end(e, &lp, NULL);
    em_loop_end(e, &ls, NULL);
}

/* Columns of B, a tile of them at a time, transposed in registers. */
static void pack_b_along(amx *g, const amx_unit *w, Val s0, Val ss, Val out)
{
    em *e = g->e;
    em_loop lp, lv, ls;
    Val one = em_c64(e, 1), zero = em_c64(e, 0), row[AMX_SIDE];
    Val square = g->b.load ? NULL : em_alloca(e, g->word, AMX_SIDE, AMX_LINE);
    em_loop_begin(e, &lp, w->p0, w->p1, one, 0, NULL);
    em_loop_begin(e, &lv, zero, em_c64(e, g->nv), one, 0, NULL);
    Val first = MUL(ADD(MUL(lp.i, em_c64(e, g->nv)), lv.i), em_c64(e, g->L));
    em_loop_begin(e, &ls, zero, ss, one, 0, NULL);
    Val k = k_of(g, ADD(s0, ls.i));
    if (g->b.load)
        load_lines(g, &g->b, first, g->N, k, row);
    else
        evaluate_lines(g, &g->b, first, g->N, k, square, row);
    transposed(g, row, em_at(e, panel_at(g, w, ss, lp.i, ls.i, out), lv.i, AMX_TILE));
    em_loop_end(e, &ls, NULL);
    em_loop_end(e, &lv, NULL);
    em_loop_end(e, &lp, NULL);
}

void amx_pack_b(amx *g, const amx_unit *w, Val s0, Val ss, Val out)
{
    amx_share_indices(g, &g->b.f);
    if (g->b.along_k)
        pack_b_along(g, w, s0, ss, out);
    else
        pack_b_across(g, w, s0, ss, out);
}

/* ---- A ---- */

/* Rows of A as they are in memory, side by side, those of the next tile fetched. */
static void load_a_along(amx *g, Val r, Val nrows, Val s0, Val ss)
{
    em *e = g->e;
    kern *f = &g->a.f;
    em_loop ls, li;
    Val one = em_c64(e, 1), zero = em_c64(e, 0);
    unsigned n = g->L << g->words;
    f->oidx[g->m] = r;
    f->iidx[g->ki] = k_of(g, s0);
    kern_advance(f, 0, POS_TOP, POS_POINT, amx_fixed_loops(g) | 1u << g->m | 1u << g->kd);
    Val p = load_at(&g->a), stride = stride_of(g, &g->a, g->m);
    Val next = MUL(stride, em_c64(e, AMX_ROWS));
    em_loop_begin(e, &ls, zero, ss, one, 2, (Val[]){p, g->pack_a});
    Val mask = em_tail_mask(e, SUB(g->K, k_of(g, ADD(s0, ls.i))), n);
    em_loop_begin(e, &li, zero, nrows, one, 2, ls.phi);
    em_prefetch(e, em_at(e, li.phi[0], next, 1), false, 2);
    Val v = em_mload(e, em_vec(part_type(g), n), li.phi[0], mask, NULL, part_bytes(g));
    em_store(e, BITS(v, g->word), li.phi[1], AMX_LINE);
    em_loop_end(e, &li,
                (Val[]){em_at(e, li.phi[0], stride, 1), em_at(e, li.phi[1], one, AMX_LINE)});
    em_loop_end(e, &ls,
                (Val[]){em_at(e, ls.phi[0], one, AMX_LINE), em_at(e, ls.phi[1], one, AMX_A_STEP)});
}

static void evaluate_a_along(amx *g, Val r, Val nrows, Val s0, Val ss)
{
    em *e = g->e;
    kern *f = &g->a.f;
    em_loop ls, li;
    Val one = em_c64(e, 1), zero = em_c64(e, 0);
    em_loop_begin(e, &ls, zero, ss, one, 0, NULL);
    Val k = k_of(g, ADD(s0, ls.i)), to = em_at(e, g->pack_a, ls.i, AMX_A_STEP);
    f->iidx[g->ki] = k;
    em_loop_begin(e, &li, zero, nrows, one, 0, NULL);
    f->oidx[g->m] = ADD(r, li.i);
    kern_advance(f, 0, POS_TOP, POS_POINT, amx_fixed_loops(g) | 1u << g->m | 1u << g->kd);
    em_store(e, words_along(g, &g->a, k), em_at(e, to, li.i, AMX_LINE), AMX_LINE);
    em_loop_end(e, &li, NULL);
    em_loop_end(e, &ls, NULL);
}

/* Columns of A, a tile at a time, transposed in registers. */
static void pack_a_across(amx *g, Val r, Val nrows, Val s0, Val ss)
{
    em *e = g->e;
    kern *f = &g->a.f;
    em_loop ls, lh;
    Val one = em_c64(e, 1), zero = em_c64(e, 0), side = em_c64(e, AMX_SIDE), row[AMX_SIDE];
    Val square = em_alloca(e, g->word, AMX_SIDE, AMX_LINE);
    em_loop_begin(e, &ls, zero, ss, one, 0, NULL);
    Val k0 = k_of(g, ADD(s0, ls.i)), to = em_at(e, g->pack_a, ls.i, AMX_A_STEP);
    em_loop_begin(e, &lh, zero, nrows, side, 0, NULL);
    f->oidx[g->m] = ADD(r, lh.i);
    kern_advance(f, 0, POS_TOP, POS_ROW, amx_fixed_loops(g) | 1u << g->m);
    pack_words(g, &g->a, 1, SUB(nrows, lh.i), k0, square);
    for (unsigned i = 0; i < AMX_SIDE; i++)
        row[i] = em_load(e, g->word, em_at(e, square, em_c64(e, i), AMX_LINE), AMX_LINE);
    transposed(g, row, em_at(e, to, lh.i, AMX_LINE));
    em_loop_end(e, &lh, NULL);
    em_loop_end(e, &ls, NULL);
}

void amx_pack_a(amx *g, Val r, Val nrows, Val s0, Val ss)
{
    amx_share_indices(g, &g->a.f);
    if (g->a.along_k && g->a.load)
        load_a_along(g, r, nrows, s0, ss);
    else if (g->a.along_k)
        evaluate_a_along(g, r, nrows, s0, ss);
    else
        pack_a_across(g, r, nrows, s0, ss);
}
