/* dot_pack.c - GEMM on a CPU: packs operands into panels. Ops that are fused into an operand (its
 * prologue) run here.
 * Threads: belongs to one thread. */
#include "codegen/dot/dot.h"

uint32_t dot_fixed_loops(const dot *g)
{
    return ((1u << g->m) - 1) | (((1u << g->ki) - 1) << g->k->nouter);
}

void dot_share_indices(const dot *g, kern *f)
{
    for (uint32_t d = 0; d < g->m; d++)
        f->oidx[d] = g->c.oidx[d];
    for (uint32_t d = 0; d < g->ki; d++)
        f->iidx[d] = g->c.iidx[d];
}

/* ---- words: memory as it is, not values ---- */

/* The load below a factor that is words. */
static uint32_t word_load(const dot *g, int32_t sop)
{
    const lz_stage *s = &g->k->stages[0];
    return (uint32_t)s->sops[s->sops[sop].a].a;
}

static Ty word_part(const dot *g)
{
    return g->words == 2 ? g->e->i8 : g->e->i16;
}

static unsigned part_bytes(const dot *g)
{
    return 4u >> g->words;
}

/* First index of k of a step. */
static Val first_k(dot *g, Val step)
{
    return g->words ? LLVMBuildShl(g->e->b, step, em_c64(g->e, g->words), "") : step;
}

/* A vector along m or n of the words of a step: rows zipped; ptr: of the first one. */
static Val zip_rows(dot *g, Val ptr, Val stride, Val step, unsigned u, Val mask)
{
    em *e = g->e;
    unsigned es = part_bytes(g);
    Ty part = em_vec(word_part(g), g->L), full = em_vec(e->i32, g->L);
    Val k = first_k(g, step), at = em_at(e, ptr, em_c64(e, (int64_t)u * g->L), es), all = NULL;
    for (unsigned q = 0; q < 1u << g->words; q++) {
        Val there = em_splat(e, ICMP(SLT, ADD(k, em_c64(e, q)), g->K), g->L);
        Val x = em_mload(e, part, at, q ? AND(mask, there) : mask, NULL, es);
        x = SHL(LLVMBuildZExt(e->b, x, full, ""), em_ci(full, 8 * es * q));
        all = all ? OR(all, x) : x;
        at = em_at(e, at, stride, es);
    }
    return BITS(all, g->vec);
}

/* A vector along k: words are as in memory. left: k that exist from here on */
static Val words_along_k(dot *g, Val ptr, Val left)
{
    em *e = g->e;
    unsigned n = g->L << g->words, es = part_bytes(g);
    return BITS(em_mload(e, em_vec(word_part(g), n), ptr, em_tail_mask(e, left, n), NULL, es),
                g->vec);
}

/* A's bytes where B's are like them: moved by 128. */
static Val moved(dot *g, Val y)
{
    em *e = g->e;
    return g->alike ? XOR(y, em_ci(g->vec, 0x80808080)) : y;
}

/* The row behind a panel of packed B: what moving A's bytes adds to the sums of its columns, taken
 * away. */
static void pack_behind(dot *g, Val kc, Val nv, Val out)
{
    em *e = g->e;
    int64_t vb = (int64_t)g->L * g->es;
    Val row = MUL(nv, em_c64(e, vb)), none = LLVMConstNull(g->vec);
    em_loop lv, lk;
    em_loop_begin(e, &lv, em_c64(e, 0), nv, em_c64(e, 1), 0, NULL);
    Val at = em_at(e, out, lv.i, vb);
    em_loop_begin(e, &lk, em_c64(e, 0), kc, em_c64(e, 1), 1, &none);
    Val y = em_load(e, g->vec, em_at(e, at, MUL(lk.i, row), 1), g->es);
    Val sum = dot_multiply_add(g, em_ci(g->vec, 0x80808080), y, lk.phi[0]);
    em_loop_end(e, &lk, &sum);
    em_store(e, SUB(none, lk.phi[0]), em_at(e, at, MUL(kc, row), 1), g->es);
    em_loop_end(e, &lv, NULL);
}

/* The factor's value, or word, for vector u at the indices set, k and the other loop's. */
static Val along_rows(dot *g, kern *f, int32_t sop, Val step, unsigned u, const kctx *x)
{
    if (!g->words)
        return kern_vector(f, 0, sop, u).v;
    uint32_t i = word_load(g, sop);
    lz_sz stride = f->st[0].s->accs[i].stride[g->kd];
    return zip_rows(g, f->st[0].ptr[POS_POINT][i], kern_size(f, stride), step, u, x->mask[u]);
}

static Val along_k(dot *g, kern *f, int32_t sop, Val step)
{
    em *e = g->e;
    if (!g->words)
        return kern_vector(f, 0, sop, 0).v;
    return words_along_k(g, f->st[0].ptr[POS_POINT][word_load(g, sop)],
                         SUB(g->K, first_k(g, step)));
}

static void evaluate(dot *g, kern *f, const kctx *x)
{
    if (!g->words)
        kern_eval(f, 0, POS_POINT, x);
}

/* ---- packing ---- */

/* Vectors of the factor: k rows of nv vectors along n. */
static void pack_b_rows(dot *g, Val k0, Val kc, Val v0, unsigned nv, Val out)
{
    em *e = g->e;
    kern *f = &g->b;
    int32_t sop = lz_kernel_dot(g->k)->b_sop;
    f->oidx[g->n] = MUL(v0, em_c64(e, g->L));
    kern_advance(f, 0, POS_TOP, POS_ROW, dot_fixed_loops(g) | 1u << g->n);
    kctx x = {.u = nv};
    Val left = SUB(g->N, f->oidx[g->n]);
    for (unsigned v = 0; v < nv; v++)
        x.mask[v] = em_tail_mask(e, SUB(left, em_c64(e, (int64_t)v * g->L)), g->L);
    em_loop l;
    em_loop_begin(e, &l, em_c64(e, 0), kc, em_c64(e, 1), 0, NULL);
    Val step = ADD(k0, l.i);
    f->iidx[g->ki] = first_k(g, step);
    kern_advance(f, 0, POS_ROW, POS_POINT, 1u << g->kd);
    evaluate(g, f, &x);
    Val dst = em_at(e, out, l.i, (int64_t)nv * g->L * g->es);
    for (unsigned v = 0; v < nv; v++) {
        Val y = along_rows(g, f, sop, step, v,
                           &x); /* lanes past N hold anything: their columns are not stored */
        em_store(e, y, em_at(e, dst, em_c64(e, v), (int64_t)g->L * g->es), g->es);
    }
    em_loop_end(e, &l, NULL);
}

/* Where vector v of nv at step k of kc steps leaves off two vectors ahead: the next ones of the
 * panel, else its first ones at the next steps, else those of the next panel. Relative, in vectors
 * and steps. */
typedef struct later {
    Val vectors, steps;
} later;

static later two_ahead(dot *g, Val k, Val kc, Val v, Val nv)
{
    enum { VECTORS = 2 };
    em *e = g->e;
    Val two = em_c64(e, VECTORS), step = em_c64(e, g->L), here = ICMP(SLT, ADD(v, two), nv);
    Val next = ICMP(SLT, ADD(k, step), kc), back = SUB(two, nv);
    return (later){SEL(OR(here, NOT(next)), two, back),
                   SEL(here, em_c64(e, 0), SEL(next, step, SUB(em_c64(e, 0), k)))};
}

/* How far that is in what the access reads, in bytes. */
static Val bytes_ahead(dot *g, kern *f, const lz_access *a, later x)
{
    em *e = g->e;
    Val vectors = MUL(kern_size(f, a->stride[g->n]), MUL(x.vectors, em_c64(e, g->L)));
    Val steps = MUL(kern_size(f, a->stride[g->kd]), first_k(g, x.steps));
    return MUL(ADD(vectors, steps), em_c64(e, em_esize(f->k->buf[a->buf].dtype)));
}

/* The column so far ahead of the one at POS_POINT. */
static void fetch_columns(dot *g, kern *f, later x)
{
    em *e = g->e;
    for (uint32_t i = 0; i < f->st[0].s->nacc; i++) {
        const lz_access *a = &f->st[0].s->accs[i];
        if (lz_sz_is(a->stride[g->n], 0))
            continue;
        Val ahead = bytes_ahead(g, f, a, x);
        em_prefetch(e, em_at(e, f->st[0].ptr[POS_POINT][i], ahead, 1), false, 3);
    }
}

/* L columns from the one at POS_POINT on, all of them there; and as many lines fetched, `x`
 * further. */
static void load_lines(dot *g, kern *f, const lz_access *a, Val mask, later x, Val *row)
{
    em *e = g->e;
    Val p = f->st[0].ptr[POS_POINT][a - f->st[0].s->accs], ahead = bytes_ahead(g, f, a, x),
        apart = dot_bytes(f, g->es, a->stride[g->n]);
    for (unsigned i = 0; i < g->L; i++) {
        em_prefetch(e, em_at(e, p, ahead, 1), false, 3);
        row[i] = em_mload(e, g->vec, p, mask, NULL, g->es);
        p = em_at(e, p, apart, 1);
    }
}

/* The same of any factor, through a square in memory; those past the last one are that. */
static void evaluate_lines(dot *g, kern *f, Val n0, Val step, Val mask, later x, Val square,
                           Val *row)
{
    em *e = g->e;
    int64_t vb = (int64_t)g->L * g->es;
    em_loop l;
    em_loop_begin(e, &l, em_c64(e, 0), em_c64(e, g->L), em_c64(e, 1), 0, NULL);
    f->oidx[g->n] = em_smin(e, ADD(n0, l.i), SUB(g->N, em_c64(e, 1)));
    kern_advance(f, 0, POS_TOP, POS_POINT, dot_fixed_loops(g) | 1u << g->n | 1u << g->kd);
    kctx k = {.u = 1, .mask = {mask}};
    fetch_columns(g, f, x);
    evaluate(g, f, &k);
    em_store(e, along_k(g, f, lz_kernel_dot(g->k)->b_sop, step), em_at(e, square, l.i, vb),
             64 < vb ? 64 : (unsigned)vb);
    em_loop_end(e, &l, NULL);
    for (unsigned i = 0; i < g->L; i++)
        row[i] = em_load(e, g->vec, em_at(e, square, em_c64(e, i), vb), (unsigned)vb);
}

/* L columns from n0 on as vectors along k, from step `step` on. What is contiguous along k is
 * loaded directly, but for the last columns. */
static void columns_along_k(dot *g, kern *f, Val n0, Val step, Val mask, later x, Val square,
                            Val *row)
{
    em *e = g->e;
    int32_t sop = lz_kernel_dot(g->k)->b_sop;
    bool lines = e->masks && !g->words && dot_plain_along(g, sop, g->kd);
    Val direct[EM_LANES];
    em_ifelse full;
    f->iidx[g->ki] = first_k(g, step);
    if (lines) {
        em_ifelse_begin(e, &full, ICMP(SLE, ADD(n0, em_c64(e, g->L)), g->N));
        f->oidx[g->n] = n0;
        kern_advance(f, 0, POS_TOP, POS_POINT, dot_fixed_loops(g) | 1u << g->n | 1u << g->kd);
        load_lines(g, f, dot_access(g, sop), mask, x, direct);
        em_ifelse_else(e, &full);
    }
    evaluate_lines(g, f, n0, step, mask, x, square, row);
    if (lines)
        em_ifelse_end(e, &full, (int)g->L, direct, row, row);
}

/* Vectors along k, L columns at a time, transposed in registers.
 * Rows past kc spill into what is packed next, or into the slack at the end. */
static void pack_b_cols(dot *g, Val k0, Val kc, Val v0, Val nv, Val out)
{
    em *e = g->e;
    kern *f = &g->b;
    unsigned L = g->L;
    int64_t vb = (int64_t)L * g->es;
    Val square = em_alloca(e, g->vec, L, 64), row[EM_LANES];
    em_loop lv, lk;
    em_loop_begin(e, &lk, em_c64(e, 0), kc, em_c64(e, L), 0, NULL);
    Val mask = em_tail_mask(e, SUB(kc, lk.i), L);
    em_loop_begin(e, &lv, em_c64(e, 0), nv, em_c64(e, 1), 0, NULL);
    Val n0 = MUL(ADD(v0, lv.i), em_c64(e, L));
    columns_along_k(g, f, n0, ADD(k0, lk.i), mask, two_ahead(g, lk.i, kc, lv.i, nv), square, row);
    em_transpose(e, row, L);
    Val row_bytes = MUL(nv, em_c64(e, vb)),
        dst = em_at(e, em_at(e, out, MUL(lk.i, row_bytes), 1), lv.i, vb);
    for (unsigned i = 0; i < L; i++) {
        em_store(e, row[i], dst, g->es);
        dst = em_at(e, dst, row_bytes, 1);
    }
    em_loop_end(e, &lv, NULL);
    em_loop_end(e, &lk, NULL);
}

void dot_pack_b(dot *g, Val k0, Val kc, Val v0, Val nv, unsigned full, Val out)
{
    dot_share_indices(g, &g->b);
    if (g->bmode == DOT_B_ROWS)
        pack_b_rows(g, k0, kc, v0, full, out);
    else
        pack_b_cols(g, k0, kc, v0, nv, out);
    if (g->alike)
        pack_behind(g, kc, nv, out);
}

/* Rows of vectors along k, one after the other. */
static void pack_a_rows(dot *g, Val r, Val nrows, Val k0, Val kc)
{
    em *e = g->e;
    kern *f = &g->a;
    em_loop li, lk;
    em_loop_begin(e, &li, em_c64(e, 0), nrows, em_c64(e, 1), 0, NULL);
    f->oidx[g->m] = ADD(r, li.i);
    kern_advance(f, 0, POS_TOP, POS_ROW, dot_fixed_loops(g) | 1u << g->m);
    Val dst = em_at(e, g->pack_a, li.i, dot_a_stride(g));
    em_loop_begin(e, &lk, em_c64(e, 0), kc, em_c64(e, g->L), 0, NULL);
    Val step = ADD(k0, lk.i);
    f->iidx[g->ki] = first_k(g, step);
    kern_advance(f, 0, POS_ROW, POS_POINT, 1u << g->kd);
    kctx x = {.u = 1, .mask = {em_tail_mask(e, SUB(kc, lk.i), g->L)}};
    evaluate(g, f, &x);
    em_store(e, moved(g, along_k(g, f, lz_kernel_dot(g->k)->a_sop, step)),
             em_at(e, dst, lk.i, g->es), g->es);
    em_loop_end(e, &lk, NULL);
    em_loop_end(e, &li, NULL);
}

/* nu vectors of rows from r on, for every k, to `out`. */
static void pack_a_vectors(dot *g, Val r, Val nrows, Val k0, Val kc, unsigned nu, Val out)
{
    em *e = g->e;
    kern *f = &g->a;
    f->oidx[g->m] = r;
    kern_advance(f, 0, POS_TOP, POS_ROW, dot_fixed_loops(g) | 1u << g->m);
    kctx x = {.u = nu};
    for (unsigned u = 0; u < nu; u++)
        x.mask[u] = em_tail_mask(e, SUB(nrows, em_c64(e, (int64_t)u * g->L)), g->L);
    em_loop l;
    em_loop_begin(e, &l, em_c64(e, 0), kc, em_c64(e, 1), 0, NULL);
    Val step = ADD(k0, l.i);
    f->iidx[g->ki] = first_k(g, step);
    kern_advance(f, 0, POS_ROW, POS_POINT, 1u << g->kd);
    evaluate(g, f, &x);
    Val dst = em_at(e, out, l.i, dot_a_stride(g));
    for (unsigned u = 0; u < nu; u++)
        em_store(e, moved(g, along_rows(g, f, lz_kernel_dot(g->k)->a_sop, step, u, &x)),
                 em_at(e, dst, em_c64(e, u), (int64_t)g->L * g->es), g->es);
    em_loop_end(e, &l, NULL);
}

/* The rows of a unit, as many vectors at a time as are evaluated at once: whole lines are read,
 * where the strides between k are large. */
static void pack_a_cols(dot *g, Val r, Val nrows, Val k0, Val kc)
{
    em *e = g->e;
    unsigned all = dot_a_vectors(g), nu = all < KERN_U ? all : KERN_U;
    if (nu == all) {
        pack_a_vectors(g, r, nrows, k0, kc, nu, g->pack_a);
        return;
    }
    em_loop l;
    em_loop_begin(e, &l, em_c64(e, 0), nrows, em_c64(e, (int64_t)nu * g->L), 0, NULL);
    pack_a_vectors(g, ADD(r, l.i), SUB(nrows, l.i), k0, kc, nu, em_at(e, g->pack_a, l.i, g->es));
    em_loop_end(e, &l, NULL);
}

void dot_pack_a(dot *g, Val r, Val nrows, Val k0, Val kc)
{
    dot_share_indices(g, &g->a);
    if (g->amode == DOT_A_ROWS)
        pack_a_rows(g, r, nrows, k0, kc);
    else if (g->amode == DOT_A_COLS)
        pack_a_cols(g, r, nrows, k0, kc);
}
