/* dot_b2b.c - back-to-back GEMMs on a CPU: products with row-wise ops between them (attention).
 *
 * A block is a few points of the last outer loop. It goes through all stages: the sums of a product
 * are made by the micro-kernel (dot_micro.c) from the block's left operand and a right operand that
 * was packed once for all points that share it, or is read in place; the stages between the
 * products run over rows that are still in the cache, several points interleaved, each up to its
 * next reduction, so that the points hide each other's latencies. A unit is some blocks of one
 * point of the other outer loops. A row reuses the memory of one it is made from when nothing reads
 * that one afterwards. Sums run over k in order, and a point's rows do not depend on its block, so
 * results do not depend on the division into units. Threads: belongs to one thread. */
#include "codegen/dot/dot_b2b.h"
#include "lower/loops/loop_impl.h"
#include <string.h>

/* ---- products ---- */

/* Whether all that stage t does is to store the sums of stage s, row by row. */
static bool stores_row(const lz_kernel *k, uint32_t t, uint32_t s, lz_dtype d)
{
    const lz_stage *st = &k->stages[t];
    if (st->ninner != 1 || st->nsop != 1 || st->sops[0].kind != LZ_S_ROW ||
        (uint32_t)st->sops[0].a != s || st->nstore != 1 || st->nred || st->nrow)
        return false;
    const lz_access *a = &st->stores[0].at;
    return a->ndyn == 0 && a->guard < 0 && lz_sz_is(a->stride[k->nouter], 1) &&
           k->buf[a->buf].dtype == d;
}

static bool is_plain(const product *p, int32_t sop)
{
    const lz_access *a = kern_plain_access(&p->view, sop);
    return a && p->view.buf[a->buf].dtype == p->g.d && lz_sz_is(a->stride[p->g.n], 1);
}

/* Few calls, and few reads of B, for each row: a head of 64 elements is one panel. */
static void choose_tile(dot *g)
{
    dot_choose_tile(g);
    if (g->mr == 8 && g->nv == 3) {
        g->mr = 6;
        g->nv = 4;
        g->nv_small = 2;
    }
}

static lz_status plan_product(dot_b2b *r, uint32_t s)
{
    product *p = r->p[s] = lz_arena_alloc(&r->arena, sizeof *p);
    if (!p)
        return LZ_FAIL(LZ_EMEM, "code generation of '%s': no memory", r->k->name);
    p->left = kern_product_view(r->k, s, &p->view, &p->stage);
    dot *g = &p->g;
    const lz_dot_info *d = lz_kernel_dot(&p->view);
    dot_common_init(&g->base, r->e, &p->view);
    g->m = d->m;
    g->kd = p->view.nouter;
    g->amode = DOT_A_ROWS;
    g->near = true;
    bool along_n, along_k;
    LZ_TRY(dot_choose_vectors(&g->base, &g->b, d->b_sop, g->n, g->kd, &along_n));
    g->bmode = along_n ? DOT_B_ROWS : DOT_B_COLS;
    if (!p->left)
        LZ_TRY(dot_choose_vectors(&g->base, &g->a, d->a_sop, g->kd, g->kd, &along_k));
    choose_tile(g);
    p->b_place = along_n && is_plain(p, d->b_sop);
    bool alone = s + 2 == r->k->nstage ||
                 (s + 2 < r->k->nstage && lz_stage_is_row_dot(&r->k->stages[s + 2]));
    if (alone && stores_row(r->k, s + 1, s, g->d) && !kern_row_read_after(r->k, s + 1, s, 0))
        p->results = s + 1;
    for (uint32_t t = 0; t < s && !p->alike; t++) {
        const product *q = r->p[t];
        p->alike = q && q->g.d == g->d && q->g.mr == g->mr && q->g.nv == g->nv &&
                   q->g.nv_small == g->nv_small;
        if (p->alike)
            memcpy(g->micro, q->g.micro, sizeof g->micro);
    }
    if (!p->alike)
        dot_emit_micro(g);
    return LZ_OK;
}

/* ---- sizes ---- */

static Val umax1(em *e, Val v)
{
    return em_smax(e, v, em_c64(e, 1));
}

static void emit_dims(dot_b2b *r)
{
    em *e = r->e;
    uint32_t m = r->k->nouter - 1;
    r->batch = em_c64(e, 1);
    for (uint32_t d = 0; d < m; d++)
        r->batch = MUL(r->batch, kern_size(&r->c, r->k->outer[d]));
    r->M = kern_size(&r->c, r->k->outer[m]);
    Val some = umax1(e, r->batch);
    Val few = LLVMBuildUDiv(e->b, ADD(some, em_c64(e, UNITS - 1)), some, "");
    r->RU = umax1(e, em_smin(e, em_ceil_div(e, r->M, BLOCK), few));
    for (uint32_t s = 0; s < r->k->nstage; s++) {
        if (!r->p[s])
            continue;
        dot *g = &r->p[s]->g;
        g->M = r->M;
        g->N = kern_size(&r->c, r->k->stages[s].extent[0]);
        g->K = g->KS = kern_size(&r->c, r->k->stages[s].extent[1]);
        g->V = em_ceil_div(e, g->N, g->L);
    }
}

/* Bytes between rows of n elements, of which vectors and tiles write up to `more` more. */
static Val row_bytes(em *e, Val n, unsigned more, unsigned es)
{
    int64_t pad = (more + ROW_PAD - 1) / ROW_PAD * ROW_PAD + ROW_PAD;
    return MUL(ADD(AND(ADD(n, em_c64(e, 15)), em_c64(e, -16)), em_c64(e, pad)), em_c64(e, es));
}

/* Places everything in the scratch memory (NULL: only to know its size, which is given). */
static Val lay_out(dot_b2b *r, Val scratch)
{
    em *e = r->e;
    Val at = em_c64(e, 0), from = scratch ? scratch : LLVMConstNull(e->ptr);
    for (unsigned i = 0; i < r->slots.n; i++) {
        const product *p = r->p[r->slots.maker[i]];
        unsigned more = p ? p->g.nv_small * p->g.L - p->g.L : 0;
        r->base[i] = em_at(e, from, at, 1);
        r->stride[i] = row_bytes(e, kern_size(&r->c, *r->slots.extent[i]), more, r->slots.es[i]);
        at = ADD(at, MUL(r->stride[i], em_c64(e, BLOCK + SLACK)));
    }
    for (uint32_t s = 0; s < r->k->nstage; s++) {
        product *p = r->p[s];
        if (!p)
            continue;
        dot *g = &p->g;
        if (!p->left) {
            p->pack_a = em_at(e, from, at, 1);
            p->a_stride = row_bytes(e, g->K, 0, g->es);
            at = ADD(at, MUL(p->a_stride, em_c64(e, BLOCK + SLACK)));
        }
        g->pack_b = em_at(e, from, at, 1);
        Val vectors = ADD(g->V, em_c64(e, g->nv)), depth = ADD(g->K, em_c64(e, g->L));
        at = ADD(at, MUL(MUL(vectors, depth), em_c64(e, (int64_t)g->L * g->es)));
    }
    return at;
}

static void emit_sizes(dot_b2b *r)
{
    em *e = r->e;
    Val f = em_func(e, "lz_grid", e->i64, &e->ptr, 1, true), none = em_c64(e, 0);
    em_func_rare(e);
    kern_enter(&r->c, NULL, LLVMGetParam(f, 0));
    emit_dims(r);
    LLVMBuildRet(e->b, SEL(ICMP(SGT, r->M, none), MUL(r->batch, r->RU), none));
    f = em_func(e, "lz_scratch", e->i64, &e->ptr, 1, true);
    em_func_rare(e);
    kern_enter(&r->c, NULL, LLVMGetParam(f, 0));
    emit_dims(r);
    LLVMBuildRet(e->b, lay_out(r, NULL));
}

/* ---- a block ---- */

/* Vectors lo.. of a left factor at `dst`, u at a time. */
static void pack_vectors(product *p, Val dst, Val lo, Val hi, unsigned u, bool masked)
{
    dot *g = &p->g;
    em *e = g->e;
    kern *f = &g->a;
    int32_t sop = lz_kernel_dot(&p->view)->a_sop;
    em_loop l;
    em_loop_begin(e, &l, lo, hi, em_c64(e, (int64_t)u * g->L), 0, NULL);
    kctx x = {.u = u};
    if (masked)
        x.mask[0] = em_tail_mask(e, SUB(hi, l.i), g->L);
    f->iidx[0] = l.i;
    kern_advance(f, 0, POS_ROW, POS_POINT, 1u << g->kd);
    kern_eval(f, 0, POS_POINT, &x);
    for (unsigned v = 0; v < u; v++)
        em_store(e, kern_vector(f, 0, sop, v).v,
                 em_at(e, em_at(e, dst, l.i, g->es), em_c64(e, (int64_t)v * g->L), g->es), g->es);
    em_loop_end(e, &l, NULL);
}

/* The left factors of the points r0.. , rows along k. */
static void pack_left(dot_b2b *r, product *p, Val r0, Val n)
{
    em *e = r->e;
    dot *g = &p->g;
    kern *f = &g->a;
    em_loop li;
    dot_share_indices(g, f);
    em_loop_begin(e, &li, em_c64(e, 0), n, em_c64(e, 1), 0, NULL);
    f->oidx[g->m] = ADD(r0, li.i);
    kern_advance(f, 0, POS_TOP, POS_ROW, dot_fixed_loops(g) | 1u << g->m);
    Val dst = em_at(e, p->pack_a, MUL(li.i, p->a_stride), 1);
    Val mid = AND(g->K, em_c64(e, -2 * (int64_t)g->L));
    pack_vectors(p, dst, em_c64(e, 0), mid, 2, false);
    pack_vectors(p, dst, mid, g->K, 1, true);
    em_loop_end(e, &li, NULL);
}

/* Where the sums of the points r0.. go: to the results at once, where that is all there is to do
 * and tiles are full. */
static void place_sums(dot_b2b *r, uint32_t s, Val r0, Val n, Val *args)
{
    em *e = r->e;
    product *p = r->p[s];
    dot *g = &p->g;
    unsigned out = r->slots.of[s][0];
    args[MICRO_C] = r->base[out];
    args[MICRO_C_STRIDE] = r->stride[out];
    p->stored = em_ci(e->i1, 0);
    if (!p->results)
        return;
    Val none = em_c64(e, 0), part = em_c64(e, (int64_t)g->nv_small * g->L);
    p->stored = AND(ICMP(EQ, LLVMBuildURem(e->b, g->N, part, ""), none),
                    ICMP(EQ, LLVMBuildURem(e->b, n, em_c64(e, g->mr), ""), none));
    kern *f = &r->c;
    f->oidx[g->m] = r0;
    f->iidx[0] = none;
    kern_advance(f, p->results, POS_ROW, POS_POINT, 1u << g->m);
    lz_sz stride = r->k->stages[p->results].stores[0].at.stride[g->m];
    args[MICRO_C] = SEL(p->stored, f->st[p->results].ptr[POS_POINT][0], args[MICRO_C]);
    args[MICRO_C_STRIDE] =
        SEL(p->stored, MUL(kern_size(f, stride), em_c64(e, g->es)), args[MICRO_C_STRIDE]);
}

/* The sums of n points: tiles of each panel. */
static void run_product(dot_b2b *r, uint32_t s, Val r0, Val n)
{
    em *e = r->e;
    product *p = r->p[s];
    dot *g = &p->g;
    Val args[MICRO_ARGS], a = p->pack_a, a_stride = p->a_stride;
    if (p->left) {
        unsigned in = r->slots.of[p->left->a][p->left->b];
        a = r->base[in];
        a_stride = r->stride[in];
    } else {
        pack_left(r, p, r0, n);
    }
    place_sums(r, s, r0, n, args);
    Val c = args[MICRO_C];
    dot_panels w;
    dot_panels_begin(g, em_c64(e, 0), g->V, &w);
    args[MICRO_A] = a;
    args[MICRO_A_STRIDE] = a_stride;
    args[MICRO_ROWS] = n;
    args[MICRO_B] = dot_panel_at(g, em_c64(e, 0), w.v, g->K);
    if (p->b_place)
        args[MICRO_B] = SEL(p->placed, p->b, args[MICRO_B]);
    args[MICRO_B_STRIDE] = MUL(w.nv, em_c64(e, (int64_t)g->L * g->es));
    args[MICRO_KC] = g->K;
    args[MICRO_C] = em_at(e, c, w.v, (int64_t)g->L * g->es);
    args[MICRO_COLS] = em_c64(e, INT32_MAX);
    args[MICRO_OLD_STRIDE] = args[MICRO_NEXT_ROWS] = em_c64(e, 0);
    args[MICRO_FAR_STRIDE] = args[MICRO_FAR_LOG] = em_c64(e, 0);
    args[MICRO_FAR] = LLVMConstNull(e->ptr);
    args[MICRO_OLD] = args[MICRO_KEEP] = args[MICRO_NEXT] = LLVMConstNull(e->ptr);
    dot_call_micro(g, w.small, args);
    dot_panels_end(g, &w);
}

/* Stages from s on that a point goes through at once: up to a product, or to a reduction, whose
 * latency the next points hide. */
static uint32_t run_end(const dot_b2b *r, uint32_t s)
{
    while (s < r->k->nstage && !r->p[s])
        if (r->k->stages[s++].nred)
            break;
    return s;
}

/* Point i of a block takes what it left in runs before, or leaves what is read in runs behind. */
static void pass_on(dot_b2b *r, Val i, uint32_t first, uint32_t last, uint32_t from, bool take)
{
    em *e = r->e;
    for (uint32_t s = first; s < last; s++)
        for (uint32_t a = 0; a < r->c.st[s].nacc && r->saved[s]; a++) {
            const saved *m = &r->saved[s][a];
            if (!m->v || !kern_read_later(r->k, s, a, from))
                continue;
            Ev *x = &r->c.st[s].red[a][0];
            Val at = em_at(e, m->v, i, 8), im = m->im ? em_at(e, m->im, i, 8) : NULL;
            if (take) {
                *x = (Ev){em_load(e, m->type, at, 8), im ? em_load(e, m->type, im, 8) : NULL};
                continue;
            }
            em_store(e, x->v, at, 8);
            if (im)
                em_store(e, x->im, im, 8);
        }
}

/* Stages first..last-1, which are no products, of points lo..hi-1 of a block. */
static void run_points(dot_b2b *r, uint32_t first, uint32_t last, Val r0, Val lo, Val hi)
{
    em *e = r->e;
    em_loop l;
    kctx one = {.u = 1};
    em_loop_begin(e, &l, lo, hi, em_c64(e, 1), 0, NULL);
    Val point = r->c.oidx[r->k->nouter - 1] = ADD(r0, l.i);
    if (first <= r->prefetching && r->prefetching < last)
        dot_b2b_prefetch(r, point);
    for (uint32_t s = 0; s < last; s++)
        for (uint32_t j = 0; j < kern_rows_of(&r->k->stages[s]); j++) {
            unsigned x = r->slots.of[s][j];
            r->c.st[s].row[j] = em_at(e, r->base[x], MUL(l.i, r->stride[x]), 1);
        }
    pass_on(r, l.i, 0, first, first, true);
    for (uint32_t s = first; s < last; s++)
        kern_stage(&r->c, s, &one);
    pass_on(r, l.i, first, last, last, false);
    em_loop_end(e, &l, NULL);
}

/* Stages first..last-1, which are no products, of the block's points. */
static void run_between(dot_b2b *r, uint32_t first, uint32_t last, Val r0, Val n)
{
    em *e = r->e;
    em_loop l;
    if (first && last == first + 1 && r->p[first - 1] && r->p[first - 1]->results == first)
        n = SEL(r->p[first - 1]->stored, em_c64(e, 0), n);
    em_loop_begin(e, &l, em_c64(e, 0), n, em_c64(e, SIDE), 0, NULL);
    Val hi = em_smin(e, ADD(l.i, em_c64(e, SIDE)), n);
    for (uint32_t s = first, end; s < last; s = end) {
        end = run_end(r, s);
        run_points(r, s, end, r0, l.i, hi);
    }
    em_loop_end(e, &l, NULL);
}

static void run_block(dot_b2b *r, Val r0, Val n)
{
    for (uint32_t s = 0; s < r->k->nstage;) {
        uint32_t first = s;
        if (r->p[s]) {
            run_product(r, s++, r0, n);
            continue;
        }
        while (s < r->k->nstage && !r->p[s])
            s++;
        run_between(r, first, s, r0, n);
    }
}

/* ---- the loops ---- */

/* Indices of the loops before the last one: of point i of them. */
static void split_index(dot_b2b *r, Val i, Val *idx)
{
    em *e = r->e;
    for (uint32_t d = r->k->nouter - 1; d-- > 0;) {
        Val n = kern_size(&r->c, r->k->outer[d]), q = LLVMBuildUDiv(e->b, i, n, "");
        idx[d] = d ? SUB(i, MUL(q, n)) : i;
        i = q;
    }
}

static void split_batch(dot_b2b *r, Val i)
{
    em *e = r->e;
    Val after = ADD(i, em_c64(e, 1));
    split_index(r, i, r->c.oidx);
    split_index(r, after, r->next);
    r->more = ICMP(SLT, after, r->batch);
    for (uint32_t s = 0; s < r->k->nstage; s++)
        if (r->p[s])
            memcpy(r->p[s]->g.c.oidx, r->c.oidx, sizeof r->c.oidx);
}

/* The right factor for a point of the other loops, which is a new one: packed, unless it is laid
 * out as one panel already. */
static void pack_right(dot_b2b *r, product *p, Val fresh)
{
    em *e = r->e;
    dot *g = &p->g;
    if (p->b_place) {
        uint32_t i = (uint32_t)p->stage.sops[lz_kernel_dot(&p->view)->b_sop].a;
        dot_share_indices(g, &g->b);
        kern_advance(&g->b, 0, POS_TOP, POS_ROW, dot_fixed_loops(g));
        p->b = g->b.st[0].ptr[POS_ROW][i];
        p->placed = AND(ICMP(EQ, kern_size(&g->b, p->stage.accs[i].stride[g->kd]), g->N),
                        OR(ICMP(EQ, g->N, em_c64(e, (int64_t)g->nv * g->L)),
                           ICMP(EQ, g->N, em_c64(e, (int64_t)g->nv_small * g->L))));
        fresh = AND(fresh, NOT(p->placed));
    }
    em_if f;
    em_if_begin(e, &f, fresh);
    dot_pack_panels(g, em_c64(e, 0), g->V, em_c64(e, 0), g->K);
    em_if_end(e, &f, 0, NULL, NULL, NULL);
}

static void run_unit(dot_b2b *r, Val u, Val prev)
{
    em *e = r->e;
    kctx one = {.u = 1};
    Val b = LLVMBuildUDiv(e->b, u, r->RU, ""), part = SUB(u, MUL(b, r->RU));
    split_batch(r, b);
    for (uint32_t s = 0; s < r->k->nstage; s++)
        if (r->p[s])
            pack_right(r, r->p[s], ICMP(NE, b, prev));
    for (uint32_t s = 0; s < r->k->nstage; s++)
        if (!r->p[s]) {
            kern_addresses(&r->c, s, POS_ROW);
            kern_eval(&r->c, s, POS_ROW, &one);
        }
    Val blocks = em_ceil_div(e, r->M, BLOCK), step = em_c64(e, BLOCK);
    Val lo = MUL(dot_cut(e, blocks, r->RU, part), step);
    Val hi = MUL(dot_cut(e, blocks, r->RU, ADD(part, em_c64(e, 1))), step);
    em_loop l;
    em_loop_begin(e, &l, lo, em_smin(e, hi, r->M), step, 0, NULL);
    run_block(r, l.i, em_smin(e, SUB(r->M, l.i), step));
    em_loop_end(e, &l, NULL);
}

/* What is known without any index. */
static void enter(dot_b2b *r)
{
    kctx one = {.u = 1};
    for (uint32_t s = 0; s < r->k->nstage; s++) {
        product *p = r->p[s];
        kern *all[3] = {p ? &p->g.b : &r->c, p && !p->left ? &p->g.a : NULL, NULL};
        for (int i = 0; all[i]; i++) {
            uint32_t t = p ? 0 : s;
            if (p)
                kern_share(all[i], &r->c);
            kern_addresses(all[i], t, POS_TOP);
            kern_eval(all[i], t, POS_TOP, &one);
        }
    }
}

/* Memory for what one point leaves for a later run of stages. */
static void make_saved(dot_b2b *r)
{
    em *e = r->e;
    for (uint32_t s = 0; s < r->k->nstage; s++) {
        uint32_t next = run_end(r, s), n = r->c.st[s].nacc;
        if (r->p[s] || !n)
            continue;
        if (!(r->saved[s] = lz_arena_alloc(&r->arena, n * sizeof *r->saved[s]))) {
            e->status = LZ_FAIL(LZ_EMEM, "code generation of '%s': no memory", r->k->name);
            return;
        }
        for (uint32_t a = 0; a < n; a++) {
            lz_dtype d = kern_acc_dtype(&r->c, s, a);
            bool later = kern_read_later(r->k, s, a, next), pair = later && lz_dtype_is_complex(d);
            r->saved[s][a] = (saved){.type = em_type(e, d, 1),
                                     .v = later ? em_alloca(e, e->i64, BLOCK, 64) : NULL,
                                     .im = pair ? em_alloca(e, e->i64, BLOCK, 64) : NULL};
        }
    }
}

static void emit_run(dot_b2b *r)
{
    em *e = r->e;
    Ty args[5] = {e->ptr, e->ptr, e->i64, e->i64, e->ptr};
    Val f = em_func(e, "lz_run", e->none, args, 5, true), none = em_c64(e, -1);
    Val begin = LLVMGetParam(f, 2), end = LLVMGetParam(f, 3);
    kern_enter(&r->c, LLVMGetParam(f, 0), LLVMGetParam(f, 1));
    emit_dims(r);
    lay_out(r, LLVMGetParam(f, 4));
    make_saved(r);
    em_if some;
    em_if_begin(e, &some, ICMP(SLT, begin, end));
    enter(r);
    em_loop l;
    em_loop_begin(e, &l, begin, end, em_c64(e, 1), 1, &none);
    run_unit(r, l.i, l.phi[0]);
    Val b = LLVMBuildUDiv(e->b, l.i, r->RU, "");
    em_loop_end(e, &l, &b);
    em_if_end(e, &some, 0, NULL, NULL, NULL);
    LLVMBuildRetVoid(e->b);
}

bool dot_b2b_suits(const lz_kernel *k, const lz_target *t)
{
    (void)t;
    return lz_kernel_keeps_sums(k);
}

lz_status lz_kern_b2b(em *e, const lz_kernel *k)
{
    dot_b2b *r = lz_calloc(1, sizeof *r);
    if (!r)
        return LZ_FAIL(LZ_EMEM, "code generation of '%s': no memory", k->name);
    r->e = e;
    r->k = k;
    lz_status s = kern_init(&r->c, e, k);
    for (uint32_t i = 0; i < k->nstage && s == LZ_OK; i++)
        if (lz_stage_is_row_dot(&k->stages[i]))
            s = plan_product(r, i);
    while (r->prefetching < k->nstage && (r->p[r->prefetching] || !k->stages[r->prefetching].nred))
        r->prefetching++;
    if (s == LZ_OK) {
        kern_slots_of(k, &r->slots);
        emit_sizes(r);
        emit_run(r);
        s = e->status;
    }
    for (uint32_t i = 0; i < k->nstage; i++)
        if (r->p[i]) {
            kern_done(&r->p[i]->g.a);
            kern_done(&r->p[i]->g.b);
        }
    kern_done(&r->c);
    lz_arena_free(&r->arena);
    lz_free(r);
    return s;
}
