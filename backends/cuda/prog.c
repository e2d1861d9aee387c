/* prog.c - see prog.h. Recursion: programs in programs, as deep as regions nest (LZ_MAX_REGION_DEPTH). */
#include "backends/cuda/prog.h"
#include "base/alloc.h"
#include "lower/loop_impl.h"
#include <string.h>

typedef struct cuda_ref {
    uint64_t offset;
    uint32_t base;
} ref;

struct cuda_launch {
    cu_function function;
    lz_simt_dims dims;
    const lz_step *step;
    uint32_t first_ref, nref;
    bool far;        /* run-time sizes lie in the constants, */
    uint64_t far_at; /* here */
    /* control flow */
    uint64_t *off, temps; /* lz_while_layout of the body */
    size_t cur_at;        /* addresses of what is carried, then of what it becomes */
};

static cu_ptr address(const lz_dbuf *b)
{
    return b ? (cu_ptr)(uintptr_t)b->data : 0;
}

/* ---- making ---- */

static uint32_t base_of(const lz_plan *p, const lz_bufref *r)
{
    return r->kind == LZ_SLOT_TEMP    ? CUDA_BASE_TEMP
           : r->kind == LZ_SLOT_CONST ? CUDA_BASE_CONST
           : r->kind == LZ_SLOT_INPUT ? CUDA_BASE_ARGS + r->index
                                      : CUDA_BASE_ARGS + p->nin + r->index;
}

/* The element size buffer j of a step is read as. */
static size_t align_of(const cuda_prog *g, const lz_step *s, uint32_t j)
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

static lz_status make_control(cuda_prog *g, cuda_launch *l, cuda_need *need)
{
    const lz_plan *second = g->subs[l->step->sub[1]].plan;
    need->control = true;
    l->dims.grid = 1; /* never nothing to do */
    if (l->step->kind != LZ_STEP_WHILE)
        return LZ_OK;
    l->off = lz_calloc((size_t)second->nout + 1, sizeof *l->off);
    if (!l->off)
        return LZ_FAIL(LZ_EMEM, "no memory for an executable");
    (void)lz_while_layout(second, l->off, &l->temps); /* the plan is verified */
    l->cur_at = need->naddress;
    need->naddress += 2 * (size_t)second->nout;
    return LZ_OK;
}

static void make_kernel(const cuda_prog *g, const cuda_device *d, cuda_launch *l, uint64_t *nconst,
                        cuda_need *need)
{
    const lz_step *s = l->step;
    const lz_kernel *k = g->plan->kernels[s->kernel];
    const cuda_code *c = lz_kstore_code(g->loads[s->kernel].code);
    l->function = c->function;
    l->far = lz_simt_args_in_memory(k);
    lz_simt_dims_of(k, s->args, d->processors, &l->dims);
    if (l->dims.scratch > need->scratch)
        need->scratch = l->dims.scratch;
    if (l->far) {
        l->far_at = *nconst;
        *nconst += s->narg * sizeof(int64_t);
    }
}

static lz_status make_launch(cuda_prog *g, const cuda_device *d, cuda_launch *l, const lz_step *s,
                             uint32_t first_ref, uint64_t *nconst, cuda_need *need)
{
    *l = (cuda_launch){.step = s, .first_ref = first_ref, .nref = s->nbuf};
    for (uint32_t j = 0; j < s->nbuf; j++) {
        const lz_bufref *r = &s->bufs[j];
        g->refs[first_ref + j] = (ref){r->offset, base_of(g->plan, r)};
        size_t align = align_of(g, s, j);
        if (r->kind == LZ_SLOT_INPUT && align > g->in_align[r->index])
            g->in_align[r->index] = align;
    }
    if (s->kind != LZ_STEP_KERNEL)
        return make_control(g, l, need);
    make_kernel(g, d, l, nconst, need);
    return LZ_OK;
}

static lz_status make_launches(cuda_prog *g, const cuda_device *d, uint64_t *nconst,
                               cuda_need *need)
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
    g->at = need->naddress;
    need->naddress += CUDA_BASE_ARGS + (size_t)p->nin + p->nout + g->max_ref;
    nref = 0;
    for (uint32_t i = 0; i < p->nstep; nref += p->steps[i++].nbuf) {
        cuda_launch *l = &g->launches[g->nlaunch];
        LZ_TRY(make_launch(g, d, l, &p->steps[i], (uint32_t)nref, nconst, need));
        if (l->dims.grid)
            g->nlaunch++;
    }
    need->launches += g->nlaunch;
    return LZ_OK;
}

/* Constants, then the sizes of kernels that have too many for parameters. */
static lz_status upload_constants(cuda_prog *g, cuda_device *d, uint64_t nbytes)
{
    const lz_plan *p = g->plan;
    if (!nbytes)
        return LZ_OK;
    LZ_TRY(cuda_alloc(d, nbytes, &g->consts));
    LZ_TRY(cuda_copy_in(d, address(g->consts), p->consts, p->const_bytes));
    for (uint32_t i = 0; i < g->nlaunch; i++) {
        const cuda_launch *l = &g->launches[i];
        if (l->far)
            LZ_TRY(cuda_copy_in(d, address(g->consts) + l->far_at, l->step->args,
                                l->step->narg * sizeof(int64_t)));
    }
    return LZ_OK;
}

lz_status cuda_prog_make(cuda_prog *g, cuda_device *d, const lz_plan *p, lz_cache *cache,
                         cuda_need *need)
{
    uint64_t nconst = LZ_ALIGN_UP(p->const_bytes, 64);
    g->plan = p;
    g->loads = lz_calloc(p->nkernel, sizeof *g->loads);
    g->subs = lz_calloc((size_t)p->nsub + 1, sizeof *g->subs);
    if (!g->loads || !g->subs)
        return LZ_FAIL(LZ_EMEM, "no memory for an executable of %u kernels", p->nkernel);
    LZ_TRY(lz_kstore_load(&d->kernels, p->kernels, p->nkernel, d, cache, g->loads));
    for (uint32_t i = 0; i < p->nsub; i++)
        LZ_TRY(cuda_prog_make(&g->subs[i], d, p->subs[i], cache, need));
    LZ_TRY(make_launches(g, d, &nconst, need));
    return upload_constants(g, d, nconst);
}

void cuda_prog_end(cuda_prog *g)
{
    if (!g->plan)
        return; /* never begun */
    for (uint32_t i = 0; g->subs && i < g->plan->nsub; i++)
        cuda_prog_end(&g->subs[i]);
    for (uint32_t i = 0; g->loads && i < g->plan->nkernel; i++)
        lz_kstore_release(g->loads[i].code);
    for (uint32_t i = 0; g->launches && i < g->plan->nstep; i++)
        lz_free(g->launches[i].off);
    lz_dbuf_release(g->consts);
    lz_free(g->subs);
    lz_free(g->loads);
    lz_free(g->launches);
    lz_free(g->refs);
    lz_free(g->in_align);
}

void cuda_prog_info(const cuda_prog *g, lz_exec_info *f)
{
    for (uint32_t i = 0; i < g->plan->nsub; i++)
        cuda_prog_info(&g->subs[i], f);
    for (uint32_t i = 0; i < g->plan->nkernel; i++) {
        f->code_bytes += ((const cuda_code *)lz_kstore_code(g->loads[i].code))->nbytes;
        f->llvm_compiles += g->loads[i].source == LZ_FROM_LLVM;
        f->kernel_hits += g->loads[i].source != LZ_FROM_LLVM;
    }
    f->kernels += g->plan->nkernel;
}

/* ---- running ---- */

static lz_status copy(const cuda_run *r, cu_ptr dst, cu_ptr src, size_t nbytes)
{
    return nbytes ? cuda_check(r->d, lz_cuda.MemcpyDtoDAsync(dst, src, nbytes, r->d->compute),
                               "copying a value")
                  : LZ_OK;
}

static lz_status launch(const cuda_prog *g, const cuda_run *r, const cuda_launch *l,
                        const cu_ptr *bufs)
{
    cuda_device *d = r->d;
    const lz_step *s = l->step;
    uint32_t n = l->nref;
    for (uint32_t i = 0; i < n; i++)
        d->value[i] = bufs[i];
    if (l->far)
        d->value[n++] = address(g->consts) + l->far_at;
    for (uint32_t i = 0; i < s->narg && !l->far; i++)
        d->value[n++] = (uint64_t)s->args[i];
    if (l->dims.scratch_each) {
        d->value[n++] = r->scratch;
        d->value[n++] = l->dims.scratch_each;
    }
    for (uint32_t i = 0; i < n; i++)
        d->param[i] = &d->value[i];
    return cuda_check(d,
                      lz_cuda.LaunchKernel(l->function, l->dims.grid, 1, 1, l->dims.block, 1, 1,
                                           l->dims.shared, d->compute, d->param, NULL),
                      "launching a kernel");
}

/* ---- control flow ---- */

/* A boolean that the stream makes. */
static lz_status read_bool(const cuda_run *r, cu_ptr at, bool *out)
{
    cuda_device *d = r->d;
    if (!d->flag)
        CUDA_TRY(d, MemHostAlloc((void **)&d->flag, 64, 0), "allocating pinned memory");
    CUDA_TRY(d, MemcpyDtoHAsync(d->flag, at, 1, d->compute), "reading a condition");
    CUDA_TRY(d, StreamSynchronize(d->compute), "waiting for a condition");
    *out = *d->flag != 0;
    return LZ_OK;
}

/* The bases of a program of a region; the caller sets its arguments and results behind them. */
static cu_ptr *call_bases(const cuda_prog *g, const cuda_run *r, cu_ptr temps)
{
    cu_ptr *b = r->address + g->at;
    b[CUDA_BASE_TEMP] = temps;
    b[CUDA_BASE_CONST] = address(g->consts);
    return b + CUDA_BASE_ARGS;
}

static lz_status run_if(const cuda_prog *g, const cuda_run *r, const cuda_launch *l,
                        const cu_ptr *bufs)
{
    uint32_t nout = g->subs[l->step->sub[0]].plan->nout;
    bool on;
    LZ_TRY(read_bool(r, bufs[nout], &on));
    const cuda_prog *s = &g->subs[l->step->sub[on ? 0 : 1]];
    cu_ptr *io = call_bases(s, r, bufs[l->nref - 1]);
    memcpy(io, bufs + nout + 1, s->plan->nin * sizeof *io);
    memcpy(io + s->plan->nin, bufs, nout * sizeof *io);
    return cuda_prog_run(s, r);
}

static lz_status holds(const cuda_prog *cond, const cuda_run *r, const cuda_launch *l,
                       const cu_ptr *bufs, const cu_ptr *cur, uint32_t n, bool *out)
{
    uint32_t nin = cond->plan->nin;
    cu_ptr work = bufs[l->nref - 1], *io = call_bases(cond, r, work + l->temps);
    memcpy(io, cur, n * sizeof *io);
    memcpy(io + n, bufs + 2 * (size_t)n, (nin - n) * sizeof *io);
    io[nin] = work;
    LZ_TRY(cuda_prog_run(cond, r));
    return read_bool(r, work, out);
}

/* A carried value is in the step's result or, after an odd number of rounds, in work memory when it cannot be made in place. */
static lz_status run_while(const cuda_prog *g, const cuda_run *r, const cuda_launch *l,
                           const cu_ptr *bufs)
{
    const cuda_prog *cond = &g->subs[l->step->sub[0]], *body = &g->subs[l->step->sub[1]];
    const lz_plan *p = body->plan;
    uint32_t n = p->nout;
    cu_ptr *cur = r->address + l->cur_at, *next = cur + n, work = bufs[l->nref - 1];
    for (uint32_t k = 0; k < n; k++) {
        cur[k] = bufs[k];
        if (bufs[k] != bufs[n + k])
            LZ_TRY(copy(r, bufs[k], bufs[n + k], p->out_type[k]->nbytes));
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
        cu_ptr *io = call_bases(body, r, work + l->temps);
        memcpy(io, cur, n * sizeof *io);
        memcpy(io + n, bufs + 2 * (size_t)n, (p->nin - n) * sizeof *io);
        memcpy(io + p->nin, next, n * sizeof *io);
        LZ_TRY(cuda_prog_run(body, r));
        memcpy(cur, next, n * sizeof *cur);
    }
    for (uint32_t k = 0; k < n; k++)
        if (cur[k] != bufs[k])
            LZ_TRY(copy(r, bufs[k], cur[k], p->out_type[k]->nbytes));
    return LZ_OK;
}

lz_status cuda_prog_run(const cuda_prog *g, const cuda_run *r)
{
    cu_ptr *bases = r->address + g->at,
           *bufs = bases + CUDA_BASE_ARGS + g->plan->nin + g->plan->nout;
    for (uint32_t i = 0; i < g->nlaunch; i++) {
        const cuda_launch *l = &g->launches[i];
        const ref *at = &g->refs[l->first_ref];
        for (uint32_t b = 0; b < l->nref; b++)
            bufs[b] = bases[at[b].base] + at[b].offset;
        if (l->step->kind == LZ_STEP_WHILE)
            LZ_TRY(run_while(g, r, l, bufs));
        else if (l->step->kind == LZ_STEP_IF)
            LZ_TRY(run_if(g, r, l, bufs));
        else
            LZ_TRY(launch(g, r, l, bufs));
    }
    return LZ_OK;
}
