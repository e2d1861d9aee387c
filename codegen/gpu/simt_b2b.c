/* simt_b2b.c - the back-to-back GEMM kernel: a block takes some points of the last outer loop
 * through all stages, and none of their rows leaves its shared memory. See simt_b2b.h. Threads:
 * belongs to one thread. */
#include "codegen/gpu/simt_b2b.h"
#include "base/alloc.h"
#include <string.h>

/* ---- memory of a point: a function of the kernel ---- */

static Val emit_pitch(b2b *b, const b2b_area *a)
{
    em *e = b->e;
    Val n = a->extent ? kern_size(&b->c, *a->extent) : em_c64(e, a->count);
    Val pitch =
        ADD(AND(ADD(n, em_c64(e, B2B_SPREAD - 1)), em_c64(e, -B2B_SPREAD)), em_c64(e, B2B_PAD));
    return MUL(pitch, em_c64(e, a->es));
}

/* ---- the same, in code ---- */

static void lay_out(b2b *b)
{
    em *e = b->e;
    Val each = em_c64(e, 0), at = em_c64(e, b->l.k_tile);
    for (unsigned i = 0; i < b->l.n; i++)
        each = ADD(each, b->pitch[i] = emit_pitch(b, &b->l.area[i]));
    b->rows = em_c64(e, 1);
    for (int64_t rows = 2; rows <= B2B_POINTS; rows *= 2) {
        Val all = ADD(MUL(each, em_c64(e, rows)), em_c64(e, b->l.k_tile));
        b->rows = SEL(ICMP(SLE, all, em_c64(e, B2B_SHARED)), em_c64(e, rows), b->rows);
    }
    for (unsigned i = 0; i < b->l.n; i++) {
        b->base[i] = at;
        at = ADD(at, MUL(b->pitch[i], b->rows));
    }
}

/* ---- between products ---- */

/* Takes, or leaves, the results of reductions of stages first..last-1 that stages from `from` on
 * read. */
static void pass_on(b2b *b, Val point, uint32_t first, uint32_t last, uint32_t from, bool take)
{
    em *e = b->e;
    for (uint32_t s = first; s < last; s++)
        for (uint32_t a = 0; a < b->c.st[s].nacc && a < B2B_SAVED; a++) {
            if (!b->l.save_at[s][a] || !kern_read_later(b->k, s, a, from))
                continue;
            Ev *v = &b->c.st[s].red[a][0];
            if (v->im)
                em_fail(e, e->i1, "a complex sum that is read behind a product");
            Val at = ADD(b->base[b->l.saved], MUL(point, b->pitch[b->l.saved]));
            at = b2b_shared(b, ADD(at, em_c64(e, 8 * (b->l.save_at[s][a] - 1))));
            Ty t = b->saved_type[s][a] = take ? b->saved_type[s][a] : LLVMTypeOf(v->v);
            bool bit = t == e->i1;
            unsigned align = em_bits(e, t) < 8 ? 1 : em_bits(e, t) / 8;
            if (take) {
                Val x = em_load(e, bit ? e->i8 : t, at, align);
                *v = (Ev){bit ? LLVMBuildTrunc(e->b, x, e->i1, "") : x, NULL};
            } else {
                Val x = bit ? LLVMBuildZExt(e->b, v->v, e->i8, "") : v->v;
                em_if one; /* NaN differ in their bits between lanes */
                em_if_begin(e, &one, ICMP(EQ, b->lane, em_c64(e, 0)));
                em_store(e, x, at, align);
                em_if_end(e, &one, 0, NULL, NULL, NULL);
            }
        }
}

/* Stages first..last-1, a warp per point. */
static void run_points(b2b *b, uint32_t first, uint32_t last, Val r0, Val n)
{
    static const kctx one = {.u = 1};
    em *e = b->e;
    em_loop l;
    em_loop_begin(e, &l, b->warp, n, em_c64(e, B2B_THREADS / SIMT_WARP), 0, NULL);
    b->c.oidx[b->k->nouter - 1] = ADD(r0, l.i);
    for (uint32_t s = 0; s < last; s++)
        for (uint32_t j = 0; j < kern_rows_of(&b->k->stages[s]); j++) {
            unsigned x = b->l.slots.of[s][j];
            b->c.st[s].row[j] = b2b_shared(b, ADD(b->base[x], MUL(l.i, b->pitch[x])));
        }
    pass_on(b, l.i, 0, first, first, true);
    for (uint32_t s = first; s < last; s++) {
        kern_stage(&b->c, s, &one);
        if (b->k->stages[s].nstore && s + 1 < last)
            simt_warp_barrier(b->s); /* a later stage may read it, in another lane */
    }
    pass_on(b, l.i, first, last, last, false);
    em_loop_end(e, &l, NULL);
    simt_barrier(b->s);
}

static void run_block(b2b *b, Val r0, Val n)
{
    for (uint32_t s = 0; s < b->k->nstage;) {
        uint32_t first = s;
        if (b->p[s]) {
            b2b_product_run(b, s++, r0, n);
            continue;
        }
        s = b2b_next_product(b->k, s);
        run_points(b, first, s, r0, n);
    }
}

/* ---- the kernel ---- */

static void join(kern *c, uint32_t stage, Ev *acc, uint32_t n)
{
    (void)n;
    simt_join_warp(c->threads->user, c, stage, acc);
}

static void enter(b2b *b)
{
    static const kctx one = {.u = 1};
    em *e = b->e;
    uint32_t m = b->k->nouter - 1;
    b->lane = AND(b->s->tid, em_c64(e, SIMT_WARP - 1));
    b->warp = LSHR(b->s->tid, em_c64(e, 5));
    b->threads =
        (kern_threads){.first = b->lane, .step = em_c64(e, SIMT_WARP), .join = join, .user = b->s};
    b->c.threads = &b->threads;
    lay_out(b);
    b->batch = em_c64(e, 1);
    for (uint32_t d = 0; d < m; d++)
        b->batch = MUL(b->batch, kern_size(&b->c, b->k->outer[d]));
    b->M = kern_size(&b->c, b->k->outer[m]);
    b->blocks = simt_udiv(e, ADD(b->M, SUB(b->rows, em_c64(e, 1))), b->rows);
    for (uint32_t s = 0; s < b->k->nstage; s++) {
        if (b->p[s]) {
            b2b_product_top(b, s);
            continue;
        }
        kern_addresses(&b->c, s, POS_TOP);
        kern_eval(&b->c, s, POS_TOP, &one);
    }
}

static void emit_grid(b2b *b)
{
    static const kctx one = {.u = 1};
    em *e = b->e;
    uint32_t m = b->k->nouter - 1;
    Val size[LZ_OUTER_MAX];
    em_loop l;
    for (uint32_t d = 0; d < m; d++)
        size[d] = kern_size(&b->c, b->k->outer[d]);
    em_loop_begin(e, &l, b->s->ctaid, MUL(b->batch, b->blocks), b->s->nctaid, 0, NULL);
    Val at = simt_udiv(e, l.i, b->blocks), r0 = MUL(SUB(l.i, MUL(at, b->blocks)), b->rows);
    simt_split(e, at, size, m, b->c.oidx);
    for (uint32_t s = 0; s < b->k->nstage; s++)
        if (!b->p[s]) {
            kern_addresses(&b->c, s, POS_ROW);
            kern_eval(&b->c, s, POS_ROW, &one);
        }
    run_block(b, r0, em_smin(e, SUB(b->M, r0), b->rows));
    em_loop_end(e, &l, NULL);
}

lz_status simt_b2b_function(simt *s)
{
    b2b *b = lz_calloc(1, sizeof *b);
    if (!b)
        return LZ_FAIL(LZ_EMEM, "code generation of '%s': no memory", s->k->name);
    b->s = s;
    b->e = s->e;
    b->k = s->k;
    b2b_layout_of(s->k, &b->l);
    lz_status st = kern_init_scalar(&b->c, s->e, s->k);
    for (uint32_t i = 0; i < s->k->nstage && st == LZ_OK; i++)
        if (lz_stage_is_row_dot(&s->k->stages[i]))
            st = b2b_product_init(b, i);
    if (st == LZ_OK) {
        simt_begin(s, &b->c);
        enter(b);
        emit_grid(b);
        LLVMBuildRetVoid(s->e->b);
    }
    for (uint32_t i = 0; i < s->k->nstage; i++)
        if (b->p[i]) {
            kern_done(&b->p[i]->a);
            kern_done(&b->p[i]->b);
            kern_done(&b->p[i]->many);
        }
    kern_done(&b->c);
    lz_arena_free(&b->arena);
    lz_free(b);
    return st;
}
