/* simt_elementwise_config.c - schedules of kernels without reductions, without LLVM: which suit
 * (transpose, scatter), and the blocks and threads of elementwise, serial, transpose and scatter.
 * Threads: pure. */
#include "codegen/gpu/simt_kern.h"
#include "lower/loops/loop_impl.h"

enum {
    THREADS = SIMT_THREADS,
    FEW = 32 /* baked updates up to this are one thread's work */
};

/* ---- elementwise and serial ---- */

void simt_elementwise_launch(int64_t n, int64_t most, lz_simt_launch *out)
{
    out->block =
        n < THREADS / 2 ? simt_at_most(simt_ceil_div(n, SIMT_WARP), 64) * SIMT_WARP : THREADS;
    out->grid = simt_at_most(simt_ceil_div(n, out->block), most);
}

static uint64_t magnitude(int64_t x)
{
    return x < 0 ? -(uint64_t)x : (uint64_t)x;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* Whether threads that take indices of the last outer loop write apart at all times, not just at
 * one point of the other loops: every other stride is a multiple of one that is larger than all
 * those indices reach. */
static bool stays_apart(const lz_kernel *k, const int64_t *args)
{
    const lz_stage *st = &k->stages[0];
    uint32_t v = k->nouter - 1;
    int64_t n = lz_sz_value(k->outer[v], args);
    for (uint32_t j = 0; j < st->nstore; j++) {
        const lz_access *a = &st->stores[j].at;
        uint64_t g = 0;
        for (uint32_t d = 0; d < k->nouter + st->ninner; d++)
            g = d == v ? g : gcd(g, magnitude(lz_sz_value(a->stride[d], args)));
        for (uint32_t i = 0; i < a->ndyn; i++)
            g = gcd(g, magnitude(lz_sz_value(a->dyn[i].stride, args)));
        uint64_t each = magnitude(lz_sz_value(a->stride[v], args));
        if (g != 0 && (g <= each || (g - 1) / each < (uint64_t)(n - 1)))
            return false;
    }
    return true;
}

bool simt_serial_suits(const lz_kernel *k, const lz_target *t)
{
    (void)t;
    return k->serial;
}

void simt_serial_dims(const simt_sizes *z, lz_simt_dims *d)
{
    const lz_kernel *k = z->k;
    bool apart = z->plan->apart && stays_apart(k, z->args);
    int64_t columns = apart ? lz_sz_value(k->outer[k->nouter - 1], z->args) : 1;
    d->launch[0].block = simt_at_most(columns, SIMT_WARP);
    d->launch[0].grid = simt_at_most(simt_ceil_div(columns, d->launch[0].block), z->most * 8);
    if (simt_sorts(k))
        simt_sort_limit(k, z->args, d);
}

bool simt_any_suits(const lz_kernel *k, const lz_target *t)
{
    (void)k, (void)t;
    return true;
}

void simt_elementwise_dims(const simt_sizes *z, lz_simt_dims *d)
{
    simt_elementwise_launch(simt_ceil_div(z->n, z->plan->lanes), z->most, &d->launch[0]);
    if (simt_sorts(z->k))
        simt_sort_limit(z->k, z->args, d);
}

/* ---- transpose ---- */

/* The loop that a plain load is contiguous along while it is not along the last one; -1: none. */
static int across(const lz_kernel *k, const lz_access *a)
{
    uint32_t last = k->nouter - 1;
    if (a->ndyn || a->guard >= 0 || lz_sz_is(a->stride[last], 0) || lz_sz_is(a->stride[last], 1))
        return -1;
    for (uint32_t d = 0; d < last; d++)
        if (lz_sz_is(a->stride[d], 1) &&
            (k->outer[d].slot >= 0 || k->outer[d].v >= TRANSPOSE_SIDE / 4))
            return (int)d;
    return -1;
}

static bool is_written(const lz_kernel *k, uint32_t buf)
{
    for (uint32_t j = 0; j < k->stages[0].nstore; j++)
        if (k->stages[0].stores[j].at.buf == buf)
            return true;
    return false;
}

static uint32_t square_bytes(const lz_kernel *k, const lz_access *a)
{
    return TRANSPOSE_SIDE * TRANSPOSE_PITCH * (uint32_t)lz_dtype_size(k->buf[a->buf].dtype);
}

/* Accesses that go through squares along loop d, and where these start; how many. */
uint32_t simt_transpose_loads(const lz_kernel *k, uint32_t d, uint32_t *access, uint32_t *start,
                              uint32_t *bytes)
{
    const lz_stage *st = &k->stages[0];
    uint32_t n = 0;
    *bytes = 0;
    for (uint32_t i = 0; i < st->nacc && n < TRANSPOSE_LOADS; i++) {
        const lz_access *a = &st->accs[i];
        if (is_written(k, a->buf) || across(k, a) != (int)d ||
            *bytes + square_bytes(k, a) > SIMT_SHARED)
            continue;
        access[n] = i;
        start[n++] = *bytes;
        *bytes += LZ_ALIGN_UP(square_bytes(k, a), 16);
    }
    return n;
}

int simt_transpose_loop(const lz_kernel *k)
{
    if (k->nstage != 1 || k->stages[0].ninner || k->stages[0].sort || k->nouter < 2 || k->serial ||
        k->vec != LZ_VEC_OUTER || lz_kernel_is_dot(k) || lz_simt_args_in_memory(k))
        return -1;
    lz_sz n = k->outer[k->nouter - 1];
    if (n.slot < 0 && n.v < TRANSPOSE_SIDE / 4)
        return -1;
    for (uint32_t i = 0; i < k->stages[0].nacc; i++) {
        int d = is_written(k, k->stages[0].accs[i].buf) ? -1 : across(k, &k->stages[0].accs[i]);
        if (d >= 0)
            return d;
    }
    return -1;
}

bool simt_transpose_suits(const lz_kernel *k, const lz_target *t)
{
    (void)t;
    return simt_transpose_loop(k) >= 0;
}

void simt_transpose_dims(const simt_sizes *z, lz_simt_dims *dims)
{
    const lz_kernel *k = z->k;
    const int64_t *args = z->args;
    uint32_t d = z->plan->across;
    lz_simt_launch *out = &dims->launch[0];
    uint32_t access[TRANSPOSE_LOADS], start[TRANSPOSE_LOADS];
    int64_t n = 1;
    for (uint32_t i = 0; i < k->nouter; i++) {
        int64_t x = lz_sz_value(k->outer[i], args);
        if (i == d || i == k->nouter - 1)
            x = simt_ceil_div(x, TRANSPOSE_SIDE);
        if (!lz_mul_i64(n, x, &n))
            n = INT64_MAX;
    }
    out->block = TRANSPOSE_SIDE * TRANSPOSE_ROWS;
    out->grid = simt_at_most(n, z->most);
    (void)simt_transpose_loads(k, d, access, start, &out->shared);
}

/* ---- scatter ---- */

static bool along_loops(const lz_kernel *k, const lz_access *a)
{
    for (uint32_t j = 0; j < k->stages[0].ninner; j++)
        if (!lz_sz_is(a->stride[k->nouter + j], 0))
            return true;
    return false;
}

static int64_t updates(const lz_stage *st)
{
    int64_t n = 1;
    for (uint32_t j = 0; j < st->ninner; j++)
        n = st->extent[j].slot >= 0 ? INT64_MAX : simt_times(n, st->extent[j].v);
    return n;
}

int32_t simt_scatter_by(const lz_kernel *k)
{
    if (k->nstage != 1 || k->serial || k->nouter == 0)
        return -1;
    const lz_stage *st = &k->stages[0];
    if (st->nstore != 1 || st->nred || st->sort || st->nrow || !st->ninner || updates(st) <= FEW)
        return -1;
    const lz_access *to = &st->stores[0].at;
    if (to->ndyn != 1 || along_loops(k, to) || st->sops[to->dyn[0].sop].dtype != LZ_I64)
        return -1;
    bool marks[256] = {false};
    if (st->nsop > sizeof marks / sizeof *marks)
        return -1;
    kern_needs(st, to->dyn[0].sop, marks);
    for (uint32_t i = 0; i < st->nsop; i++) { /* what is stored does not say where */
        const lz_sop *p = &st->sops[i];
        const lz_access *a = p->kind == LZ_S_LOAD ? &st->accs[p->a] : NULL;
        if (!a || a->buf != to->buf)
            continue;
        if (marks[i] || a->ndyn != 1 || a->dyn[0].sop != to->dyn[0].sop || along_loops(k, a))
            return -1;
    }
    return to->dyn[0].sop;
}

bool simt_scatter_suits(const lz_kernel *k, const lz_target *t)
{
    (void)t;
    return simt_scatter_by(k) >= 0;
}

void simt_scatter_dims(const simt_sizes *z, lz_simt_dims *d)
{
    int64_t warps =
                simt_ceil_div(z->n, SIMT_WARP) * (z->n < SCATTER_MANY_POINTS ? SCATTER_GROUPS : 1),
            blocks = simt_ceil_div(warps, THREADS / SIMT_WARP);
    d->launch[0].block = THREADS;
    d->launch[0].grid = simt_at_most(blocks, z->most);
}
