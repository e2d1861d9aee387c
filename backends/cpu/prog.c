/* prog.c - see prog.h. Recursion: programs in programs, as deep as regions nest (LZ_MAX_REGION_DEPTH). */
#include "backends/cpu/prog.h"
#include "backends/cpu/workers.h"
#include "base/alloc.h"
#include "lower/loop_impl.h"
#include <string.h>

/* Rough rates of one core, to tell the kernels worth sharing from those that are over before a worker is awake. */
enum {
    FLOP_PER_NS = 16,
    BYTE_PER_NS = 8,
    KERNEL_NS = 20,
    SHARE_NS = 6000,      /* a kernel that takes longer is shared, */
    PER_THREAD_NS = 3000, /* among as many threads as have that much to do */
    PARALLEL_COPY = 1 << 20
};

typedef struct lz_base_ref {
    uint64_t offset;
    uint32_t base;
} ref;

struct lz_launch {
    lz_run_fn run;
    const int64_t *args;
    int64_t grid;
    uint32_t first_ref, nref;
    int threads; /* 1: in the thread that runs the program */
    lz_step_kind kind;
    const lz_step *step;
    /* control flow */
    uint64_t *off, temps; /* lz_while_layout of the body */
    size_t cur_at;        /* pointers to what is carried, then to what it becomes */
};

/* ---- making ---- */

static uint64_t estimate_ns(const lz_step *s)
{
    uint64_t f = s->flops / FLOP_PER_NS, b = s->bytes / BYTE_PER_NS;
    return KERNEL_NS + (f > b ? f : b);
}

static uint32_t base_of(const lz_plan *p, const lz_bufref *r)
{
    return r->kind == LZ_SLOT_TEMP    ? LZ_BASE_TEMP
           : r->kind == LZ_SLOT_CONST ? LZ_BASE_CONST
           : r->kind == LZ_SLOT_INPUT ? LZ_BASE_ARGS + r->index
                                      : LZ_BASE_ARGS + p->nin + r->index;
}

static int threads_for(const lz_step *s, int64_t grid)
{
    uint64_t ns = estimate_ns(s);
    int n = lz_workers_count();
    if (grid < 2 || ns < SHARE_NS)
        return 1;
    uint64_t want = ns / PER_THREAD_NS;
    return want < (uint64_t)n ? (int)want : n;
}

/* The element size buffer j of a step is read as. */
static size_t align_of(const lz_prog *g, const lz_step *s, uint32_t j)
{
    if (s->kind == LZ_STEP_KERNEL)
        return lz_dtype_size(g->plan->kernels[s->kernel]->buf[j].dtype);
    size_t most = 1;
    uint32_t first = s->nbuf - 1 - g->subs[s->sub[1]].plan->nin;
    for (int k = 0; k < 2 && j >= first && j < s->nbuf - 1; k++) {
        size_t a = g->subs[s->sub[k]].in_align[j - first];
        most = a > most ? a : most;
    }
    return most;
}

static lz_status make_control(lz_prog *g, lz_launch *l, lz_prog_need *need)
{
    const lz_plan *second = g->subs[l->step->sub[1]].plan;
    need->ns += INT32_MAX; /* nobody knows: not in the caller's thread */
    if (l->step->kind != LZ_STEP_WHILE)
        return LZ_OK;
    l->off = lz_calloc((size_t)second->nout + 1, sizeof *l->off);
    if (!l->off)
        return LZ_FAIL(LZ_EMEM, "no memory for an executable");
    (void)lz_while_layout(second, l->off, &l->temps); /* the plan is verified */
    l->cur_at = need->nptr;
    need->nptr += 2 * (size_t)second->nout;
    return LZ_OK;
}

static lz_status make_launch(lz_prog *g, lz_launch *l, const lz_step *s, uint32_t first_ref,
                             lz_prog_need *need)
{
    l->step = s;
    l->kind = s->kind;
    l->args = s->args;
    l->first_ref = first_ref;
    l->nref = s->nbuf;
    l->threads = 1;
    l->grid = 1;
    for (uint32_t j = 0; j < s->nbuf; j++) {
        const lz_bufref *r = &s->bufs[j];
        g->refs[first_ref + j] = (ref){r->offset, base_of(g->plan, r)};
        size_t align = align_of(g, s, j);
        if (r->kind == LZ_SLOT_INPUT && align > g->in_align[r->index])
            g->in_align[r->index] = align;
    }
    if (s->kind != LZ_STEP_KERNEL)
        return make_control(g, l, need);
    need->ns += estimate_ns(s);
    if (need->loops)
        return LZ_OK;
    const lz_kcode *c = g->loads[s->kernel].code;
    l->run = lz_kcode_run(c);
    l->grid = lz_kcode_grid(c)(s->args);
    int64_t scratch = lz_kcode_scratch(c)(s->args);
    if (scratch > 0 && (size_t)scratch > need->scratch_each)
        need->scratch_each = (size_t)scratch;
    l->threads = threads_for(s, l->grid);
    need->shared |= l->threads > 1;
    return LZ_OK;
}

static lz_status make_launches(lz_prog *g, lz_prog_need *need)
{
    const lz_plan *p = g->plan;
    size_t nref = 0;
    for (uint32_t i = 0; i < p->nstep; i++) {
        nref += p->steps[i].nbuf;
        g->max_ref = p->steps[i].nbuf > g->max_ref ? p->steps[i].nbuf : g->max_ref;
    }
    g->launches = lz_calloc(p->nstep, sizeof *g->launches);
    g->refs = lz_calloc(nref, sizeof *g->refs);
    g->in_align = lz_calloc(p->nin, sizeof *g->in_align);
    if (!g->launches || !g->refs || !g->in_align)
        return LZ_FAIL(LZ_EMEM, "no memory for an executable of %u steps", p->nstep);
    g->ptr_at = need->nptr;
    need->nptr += LZ_BASE_ARGS + (size_t)p->nin + p->nout + g->max_ref;
    nref = 0;
    for (uint32_t i = 0; i < p->nstep; nref += p->steps[i++].nbuf) {
        lz_launch *l = &g->launches[g->nlaunch];
        LZ_TRY(make_launch(g, l, &p->steps[i], (uint32_t)nref, need));
        if (l->grid > 0)
            g->nlaunch++;
    }
    return LZ_OK;
}

lz_status lz_prog_make(lz_prog *g, const lz_plan *p, const lz_target *t, lz_cache *cache,
                       lz_prog_need *need)
{
    g->plan = p;
    if (!need->loops) {
        g->loads = lz_calloc(p->nkernel, sizeof *g->loads);
        if (!g->loads)
            return LZ_FAIL(LZ_EMEM, "no memory for an executable of %u kernels", p->nkernel);
        LZ_TRY(lz_kernels_load(p->kernels, p->nkernel, t, cache, g->loads));
    }
    g->subs = lz_calloc((size_t)p->nsub + 1, sizeof *g->subs);
    if (!g->subs)
        return LZ_FAIL(LZ_EMEM, "no memory for an executable of %u plans", p->nsub);
    for (uint32_t i = 0; i < p->nsub; i++)
        LZ_TRY(lz_prog_make(&g->subs[i], p->subs[i], t, cache, need));
    return make_launches(g, need);
}

void lz_prog_end(lz_prog *g)
{
    if (!g->plan)
        return; /* never begun */
    for (uint32_t i = 0; g->subs && i < g->plan->nsub; i++)
        lz_prog_end(&g->subs[i]);
    for (uint32_t i = 0; g->loads && i < g->plan->nkernel; i++)
        lz_kernels_release(g->loads[i].code);
    for (uint32_t i = 0; g->launches && i < g->plan->nstep; i++)
        lz_free(g->launches[i].off);
    lz_free(g->subs);
    lz_free(g->loads);
    lz_free(g->launches);
    lz_free(g->refs);
    lz_free(g->in_align);
}

uint32_t lz_prog_kernels(const lz_prog *g)
{
    uint32_t n = g->plan->nkernel;
    for (uint32_t i = 0; i < g->plan->nsub; i++)
        n += lz_prog_kernels(&g->subs[i]);
    return n;
}

const lz_kernel *lz_prog_kernel(const lz_prog *g, uint32_t i, const lz_kernel_load **load)
{
    if (i < g->plan->nkernel) {
        *load = g->loads ? &g->loads[i] : NULL;
        return g->plan->kernels[i];
    }
    i -= g->plan->nkernel;
    uint32_t s = 0;
    for (; i >= lz_prog_kernels(&g->subs[s]); s++)
        i -= lz_prog_kernels(&g->subs[s]);
    return lz_prog_kernel(&g->subs[s], i, load);
}

/* ---- running ---- */

typedef struct copy {
    char *dst;
    const char *src;
    size_t nbytes;
} copy;

static void copy_pages(void *ctx, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    const copy *c = ctx;
    size_t from = (size_t)begin << 12, to = (size_t)end << 12;
    to = to < c->nbytes ? to : c->nbytes;
    memcpy(c->dst + from, c->src + from, to - from);
}

void lz_prog_copy(void *dst, const void *src, size_t nbytes)
{
    copy c = {dst, src, nbytes};
    if (nbytes >= PARALLEL_COPY)
        lz_workers_run((int64_t)((nbytes + 4095) >> 12), 0, copy_pages, &c);
    else if (nbytes)
        memcpy(dst, src, nbytes);
}

typedef struct shared_launch {
    const lz_launch *l;
    void *const *bufs;
    char *scratch;
    size_t scratch_each;
} shared_launch;

static void run_units(void *ctx, int64_t begin, int64_t end, int worker)
{
    const shared_launch *s = ctx;
    s->l->run(s->bufs, s->l->args, begin, end, s->scratch + (size_t)worker * s->scratch_each);
}

static lz_status run_slow(const lz_prog *g, const lz_step *s, void *const *bufs)
{
    size_t nbytes[LZ_KBUF_MAX];
    for (uint32_t i = 0; i < s->nbuf; i++)
        nbytes[i] = s->bufs[i].nbytes;
    return lz_loop_run_args(g->plan->kernels[s->kernel], s->args, bufs, nbytes);
}

/* ---- control flow ---- */

/* The bases of a program of a region; the caller sets its arguments and results behind them. */
static void **call_bases(const lz_prog *g, const lz_prog_run *r, void *temps)
{
    void **b = r->ptr + g->ptr_at;
    b[LZ_BASE_TEMP] = temps;
    b[LZ_BASE_CONST] = g->plan->consts;
    return b + LZ_BASE_ARGS;
}

static lz_status run_if(const lz_prog *g, const lz_prog_run *r, const lz_launch *l, void **bufs)
{
    uint32_t nout = g->subs[l->step->sub[0]].plan->nout;
    bool on = *(const uint8_t *)bufs[nout] != 0;
    const lz_prog *s = &g->subs[l->step->sub[on ? 0 : 1]];
    void **io = call_bases(s, r, bufs[l->nref - 1]);
    memcpy(io, bufs + nout + 1, s->plan->nin * sizeof *io);
    memcpy(io + s->plan->nin, bufs, nout * sizeof *io);
    return lz_prog_run_all(s, r);
}

static lz_status holds(const lz_prog *cond, const lz_prog_run *r, const lz_launch *l,
                       void *const *bufs, void *const *cur, uint32_t n, bool *out)
{
    uint32_t nin = cond->plan->nin;
    char *work = bufs[l->nref - 1];
    void **io = call_bases(cond, r, work + l->temps);
    memcpy(io, cur, n * sizeof *io);
    memcpy(io + n, bufs + 2 * (size_t)n, (nin - n) * sizeof *io);
    io[nin] = work;
    LZ_TRY(lz_prog_run_all(cond, r));
    *out = *(volatile const uint8_t *)work != 0;
    return LZ_OK;
}

/* A carried value is in the step's result or, after an odd number of rounds, in work memory when it cannot be made in place. */
static lz_status run_while(const lz_prog *g, const lz_prog_run *r, const lz_launch *l, void **bufs)
{
    const lz_prog *cond = &g->subs[l->step->sub[0]], *body = &g->subs[l->step->sub[1]];
    const lz_plan *p = body->plan;
    uint32_t n = p->nout;
    void **cur = r->ptr + l->cur_at, **next = cur + n;
    char *work = bufs[l->nref - 1];
    for (uint32_t k = 0; k < n; k++) {
        cur[k] = bufs[k];
        if (bufs[k] != bufs[n + k])
            lz_prog_copy(bufs[k], bufs[n + k], p->out_type[k]->nbytes);
    }
    for (;;) {
        bool more;
        LZ_TRY(holds(cond, r, l, bufs, cur, n, &more));
        if (!more)
            break;
        for (uint32_t k = 0; k < n; k++)
            next[k] = l->off[k] == UINT64_MAX ? cur[k]
                      : cur[k] == bufs[k]     ? work + l->off[k]
                                              : bufs[k];
        void **io = call_bases(body, r, work + l->temps);
        memcpy(io, cur, n * sizeof *io);
        memcpy(io + n, bufs + 2 * (size_t)n, (p->nin - n) * sizeof *io);
        memcpy(io + p->nin, next, n * sizeof *io);
        LZ_TRY(lz_prog_run_all(body, r));
        memcpy(cur, next, n * sizeof *cur);
    }
    for (uint32_t k = 0; k < n; k++)
        if (cur[k] != bufs[k])
            lz_prog_copy(bufs[k], cur[k], p->out_type[k]->nbytes);
    return LZ_OK;
}

lz_status lz_prog_run_all(const lz_prog *g, const lz_prog_run *r)
{
    void **bases = r->ptr + g->ptr_at;
    void **bufs = bases + LZ_BASE_ARGS + g->plan->nin + g->plan->nout;
    const lz_prog_need *need = r->need;
    for (uint32_t i = 0; i < g->nlaunch; i++) {
        const lz_launch *l = &g->launches[i];
        const ref *at = &g->refs[l->first_ref];
        for (uint32_t b = 0; b < l->nref; b++)
            bufs[b] = (char *)bases[at[b].base] + at[b].offset;
        if (l->kind != LZ_STEP_KERNEL) {
            LZ_TRY(l->kind == LZ_STEP_WHILE ? run_while(g, r, l, bufs) : run_if(g, r, l, bufs));
        } else if (need->loops) {
            LZ_TRY(run_slow(g, l->step, bufs));
        } else if (l->threads == 1) {
            l->run(bufs, l->args, 0, l->grid, r->scratch);
        } else {
            shared_launch s = {l, bufs, r->scratch, need->scratch_each};
            lz_workers_run(l->grid, l->threads, run_units, &s);
        }
    }
    return LZ_OK;
}
