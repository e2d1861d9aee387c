/* simt_b2b.c - the schedule of kernels that keep rows: a block of threads takes some points of the
 * last outer loop through all stages, and nothing of their rows leaves its shared memory. See
 * simt_b2b.h. Threads: belongs to one thread. */
#include "codegen/gpu/simt_b2b.h"
#include "base/alloc.h"
#include <string.h>

enum { SPREAD = 32, PAD = 8 /* elements: rows of other points begin in other banks */ };

/* ---- memory of a point: a function of the kernel ---- */

static int add_area(b2b_layout *l, const lz_sz *extent, uint32_t count, unsigned es)
{
    l->area[l->n] = (b2b_area){extent, count, es};
    return (int)l->n++;
}

static uint32_t next_product(const lz_kernel *k, uint32_t s)
{
    while (s < k->nstage && !lz_stage_is_row_dot(&k->stages[s]))
        s++;
    return s;
}

/* Results of reductions that are read behind a product. */
static uint32_t find_saved(const lz_kernel *k, b2b_layout *l)
{
    uint32_t n = 0;
    for (uint32_t s = 0; s < k->nstage; s++) {
        uint32_t acc = 0, next = next_product(k, s);
        for (uint32_t i = 0; i < k->stages[s].nred && !lz_stage_is_row_dot(&k->stages[s]); i++)
            for (uint32_t j = 0; j < k->stages[s].reds[i].nacc; j++, acc++)
                if (acc < B2B_SAVED && kern_read_later(k, s, acc, next))
                    l->save_at[s][acc] = (uint8_t)++n;
    }
    return n;
}

void b2b_layout_of(const lz_kernel *k, b2b_layout *l)
{
    memset(l, 0, sizeof *l);
    kern_slots_of(k, &l->slots);
    for (unsigned i = 0; i < l->slots.n; i++)
        add_area(l, l->slots.extent[i], 0, l->slots.es[i]);
    for (uint32_t s = 0; s < k->nstage; s++) {
        lz_kernel view;
        lz_stage stage;
        l->packed[s] = -1;
        if (!lz_stage_is_row_dot(&k->stages[s]))
            continue;
        unsigned es = kern_row_esize(k->stages[s].reds[0].acc_dtype[0]),
                 piece = B2B_STEP * (B2B_COLUMNS + 4) * es;
        l->piece = piece > l->piece ? piece : l->piece;
        if (!kern_product_view(k, s, &view, &stage))
            l->packed[s] = add_area(l, &k->stages[s].extent[1], 0, es);
    }
    uint32_t saved = find_saved(k, l);
    l->saved = saved ? add_area(l, NULL, saved, 8) : -1;
}

/* Bytes between points. Twice in numbers: known to the host and to the code. */
static int64_t pitch_of(const b2b_area *a, const int64_t *args)
{
    int64_t n = a->extent ? lz_sz_value(*a->extent, args) : a->count, pitch;
    if (n < 0 || n > B2B_SHARED)
        n = B2B_SHARED;
    pitch = (n + SPREAD - 1) / SPREAD * SPREAD + PAD;
    return pitch * a->es;
}

static Val emit_pitch(b2b *b, const b2b_area *a)
{
    em *e = b->e;
    Val n = a->extent ? kern_size(&b->c, *a->extent) : em_c64(e, a->count);
    Val pitch = ADD(AND(ADD(n, em_c64(e, SPREAD - 1)), em_c64(e, -SPREAD)), em_c64(e, PAD));
    return MUL(pitch, em_c64(e, a->es));
}

void simt_b2b_dims(const lz_kernel *k, const int64_t *args, int64_t most, lz_simt_launch *out)
{
    b2b_layout l;
    int64_t each = 0, rows = B2B_POINTS, n = lz_sz_value(k->outer[k->nouter - 1], args);
    b2b_layout_of(k, &l);
    for (unsigned i = 0; i < l.n; i++)
        each += pitch_of(&l.area[i], args);
    while (rows > 1 && l.piece + rows * each > B2B_SHARED)
        rows /= 2;
    n = simt_ceil_div(n, rows);
    for (uint32_t d = 0; d + 1 < k->nouter; d++)
        n = simt_times(n, lz_sz_value(k->outer[d], args));
    out->block = B2B_THREADS;
    out->grid = (uint32_t)(n < most ? n : most);
    out->shared = (uint32_t)(l.piece + rows * each);
}

/* ---- the same, in code ---- */

static void lay_out(b2b *b)
{
    em *e = b->e;
    Val each = em_c64(e, 0), at = em_c64(e, b->l.piece);
    for (unsigned i = 0; i < b->l.n; i++)
        each = ADD(each, b->pitch[i] = emit_pitch(b, &b->l.area[i]));
    b->rows = em_c64(e, 1);
    for (int64_t rows = 2; rows <= B2B_POINTS; rows *= 2) {
        Val all = ADD(MUL(each, em_c64(e, rows)), em_c64(e, b->l.piece));
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
            unsigned align = bit ? 1 : em_bits(e, t) / 8;
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
        s = next_product(b->k, s);
        run_points(b, first, s, r0, n);
    }
}

/* ---- the kernel ---- */

static void join(kern *c, uint32_t stage, Ev *acc, uint32_t n)
{
    (void)n;
    simt_join_warp(c->spread_user, c, stage, acc);
}

static void enter(b2b *b)
{
    static const kctx one = {.u = 1};
    em *e = b->e;
    uint32_t m = b->k->nouter - 1;
    b->lane = AND(b->s->tid, em_c64(e, SIMT_WARP - 1));
    b->warp = LSHR(b->s->tid, em_c64(e, 5));
    b->c.spread_first = b->lane;
    b->c.spread_step = em_c64(e, SIMT_WARP);
    b->c.spread_join = join;
    b->c.spread_user = b->s;
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

lz_status simt_emit_b2b(simt *s)
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
