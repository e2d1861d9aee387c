/* cuda_graphs.c - steps as CUDA graphs: a program's launches are captured once per set of addresses
 * and launched in one call after that. A graph contains addresses, so each belongs to those of a
 * job's arguments, results and temporaries. A set that is seen for the second time is captured; an
 * executable keeps the last few, since memory from a pool comes back in turn. When the driver
 * refuses, launches are made one by one from then on. Threads: of the launching queue. */
#include "backends/cuda/cuda_device.h"
#include "base/alloc.h"
#include <string.h>

enum {
    FEW = 4,    /* fewer launches gain nothing */
    MANY = 8192 /* more, unrolled over the iterations of loops, take too much memory */
};

lz_status cuda_graphs_make(cuda_graphs *g, const lz_exec *x)
{
    *g = (cuda_graphs){0};
    if (x->plan_exec.control || x->plan_exec.nrun < FEW || x->plan_exec.nrun > MANY)
        return LZ_OK;
    uint32_t n = x->plan->nin + 2 * x->plan->nout + 1;
    g->now = lz_calloc((size_t)n * (CUDA_GRAPHS + 1), sizeof *g->now);
    if (!g->now)
        return LZ_FAIL(LZ_EMEM, "no memory for the addresses of a step");
    for (uint32_t i = 0; i < CUDA_GRAPHS; i++)
        g->slot[i].at = g->now + (size_t)n * (i + 1);
    g->n = n;
    return LZ_OK;
}

static void forget(cuda_graph *s)
{
    if (s->exec)
        (void)lz_cuda.GraphExecDestroy(s->exec);
    s->exec = NULL;
}

void cuda_graphs_free(cuda_device *d, cuda_graphs *g)
{
    if (g->now && cuda_enter(d) == LZ_OK) {
        for (uint32_t i = 0; i < CUDA_GRAPHS; i++)
            forget(&g->slot[i]);
        cuda_leave(d);
    }
    lz_free(g->now);
    g->now = NULL;
}

/* Everything by which the launches of this job differ from those of another one. */
static void addresses_of(const lz_job *j, const void *temp, uint64_t *out)
{
    const lz_plan *p = j->x->plan;
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->nin; i++)
        out[n++] = (uint64_t)(uintptr_t)j->in[i]->data;
    for (uint32_t k = 0; k < p->nout; k++) {
        out[n++] = (uint64_t)(uintptr_t)j->out[k]->data;
        out[n++] = j->copy[k];
    }
    out[n] = (uint64_t)(uintptr_t)temp;
}

/* The slot of these addresses, or the least recently used one. */
static cuda_graph *slot_of(cuda_graphs *g, bool *known)
{
    cuda_graph *oldest = &g->slot[0];
    for (uint32_t i = 0; i < CUDA_GRAPHS; i++) {
        cuda_graph *s = &g->slot[i];
        *known = s->used && memcmp(s->at, g->now, g->n * sizeof *g->now) == 0;
        if (*known)
            return s;
        oldest = s->used < oldest->used ? s : oldest;
    }
    return oldest;
}

/* A driver's result during capture: only a lost device is an error. */
static lz_status refused(cuda_device *d, cuda_graphs *g, int r)
{
    g->off |= r != CU_OK;
    return lz_cuda_is_lost(r) ? cuda_check(d, r, "making a graph") : LZ_OK;
}

/* Captures the job's launches; nothing runs. s->exec stays NULL when the driver refuses. The same
 * launches have run before, so a library has loaded what it needs for them. */
static lz_status record(cuda_device *d, cuda_graphs *g, cuda_graph *s, lz_job *j, void *temp,
                        void *run)
{
    cu_graph graph = NULL;
    int r = lz_cuda.StreamBeginCapture(d->compute, CU_CAPTURE_THREAD_LOCAL);
    if (r != CU_OK)
        return refused(d, g, r);
    lz_status st = lz_job_run(j, &temp, run);
    lz_error err = *lz_error_get();
    r = lz_cuda.StreamEndCapture(d->compute, &graph);
    if (st == LZ_OK && r == CU_OK)
        r = lz_cuda.GraphInstantiate(&s->exec, graph, 0);
    if (r != CU_OK)
        s->exec = NULL;
    if (graph)
        (void)lz_cuda.GraphDestroy(graph);
    if (st != LZ_OK) {
        lz_error_set(&err);
        return st;
    }
    return refused(d, g, r);
}

lz_status cuda_graphs_run(cuda_device *d, cuda_graphs *g, lz_job *j, void *temp, void *run,
                          uint64_t *products)
{
    bool known;
    if (!g->n || g->off)
        return lz_job_run(j, &temp, run);
    addresses_of(j, temp, g->now);
    cuda_graph *s = slot_of(g, &known);
    s->used = ++g->tick;
    if (!known) {
        forget(s);
        memcpy(s->at, g->now, g->n * sizeof *g->now);
        return lz_job_run(j, &temp, run);
    }
    if (!s->exec) {
        LZ_TRY(record(d, g, s, j, temp, run));
        s->products = *products;
        *products = 0;
    }
    if (!s->exec)
        return lz_job_run(j, &temp, run);
    *products = s->products;
    return cuda_check(d, lz_cuda.GraphLaunch(s->exec, d->compute), "launching a step");
}
