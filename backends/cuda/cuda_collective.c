/* cuda_collective.c - collectives between CUDA devices of one process: every member of a group
 * copies what it needs from the others (peer-to-peer) into its own memory, and makes its result of
 * that by kernels of its own. What the kernels do is a function of the tensor IR (parts brought
 * together, a transpose, the region of a reduction applied in the order of the group), so it is
 * compiled, cached and right for every dtype and region as everything else is.
 *   pack    parts that go to different members become contiguous
 *   meet    everybody's parts are there
 *   copies  by who receives, on its compute stream
 *   meet    everybody has read, so operands may be overwritten
 *   unpack  what came becomes the result: a fold, a transpose
 * A large sum is made in halves: each member folds its part of it, and the parts are copied to all.
 * Streams meet by events; the host does not wait. Where there is NCCL it moves the values instead
 * (nccl_collective.c). Threads: as a job of several devices. */
#include "backends/common/collective_totals.h"
#include "backends/cuda/cuda_collective.h"
#include "base/alloc.h"
#include "ir/attr.h"
#include "ir/batch/batch.h"
#include <stdlib.h>
#include <string.h>

enum {
    LARGE_SUM = 1 << 16, /* bytes of a sum that is made in halves */
    ALIGN = 256
};

/* What a device computes by itself: one argument, one result. */
typedef struct cuda_local local;
struct cuda_local {
    local *next;
    bool folds;
    lz_dtype dtype;
    int64_t dims[3]; /* of the argument; a fold has two */
    const lz_func *region;
    lz_plan *plan;
    lz_plan_exec g;
    lz_kernel_load *loads;
    cuda_program program;
    void **states; /* by device */
};

typedef cuda_route route;

/* ---- functions ---- */

/* [a, b, c] -> [b, a, c] */
static lz_val swap(lz_func *f, lz_val x)
{
    static const int64_t order[3] = {1, 0, 2};
    lz_ints perm = lz_ints_make(3, order);
    return lz_build_transpose(f, x, &perm);
}

/* [g, n] -> [n]: row 0, then the region of that and row 1, ... */
static lz_status fold(lz_func *f, lz_val x, const local *l, lz_val *out)
{
    int64_t n = l->dims[1];
    lz_shape flat = lz_shape_make(1, &n);
    static const bool both[2] = {true, true};
    for (int64_t i = 0; i < l->dims[0]; i++) {
        int64_t start[2] = {i, 0}, limit[2] = {i + 1, n};
        lz_val row = lz_build_reshape(f, lz_build_slice(f, x, start, limit, NULL), &flat);
        lz_val args[2] = {*out, row};
        bool mapped = true;
        if (i == 0) {
            *out = row;
            continue;
        }
        LZ_TRY(f->status);
        LZ_TRY(lz_batch_inline(f, l->region, n, args, both, out, &mapped));
        *out = lz_batch_front(f, *out, n, mapped);
    }
    return f->status;
}

static lz_status build(const local *l, lz_func **out)
{
    lz_shape s = lz_shape_make(l->folds ? 2 : 3, l->dims);
    lz_func *f = lz_func_new(l->folds ? "fold" : "swap");
    const lz_type *t = lz_type_get(l->dtype, &s);
    if (!f || !t) {
        lz_func_free(f);
        return LZ_EMEM;
    }
    lz_val x = lz_build_param(f, t), y = LZ_NOVAL;
    lz_status st = LZ_OK;
    if (l->folds)
        st = fold(f, x, l, &y);
    else
        y = swap(f, x);
    if (st == LZ_OK)
        st = lz_func_set_results(f, &y, 1);
    if (st == LZ_OK)
        *out = f;
    else
        lz_func_free(f);
    return st;
}

/* ---- making ---- */

static void local_free(const cuda_exec *x, local *l)
{
    cuda_program_end(x, &l->program);
    for (uint32_t i = 0; l->loads && i < l->g.nkernel; i++)
        lz_kstore_release(l->loads[i].code);
    lz_free(l->loads);
    lz_free(l->states);
    lz_plan_exec_end(&l->g);
    lz_plan_free(l->plan);
    lz_free(l);
}

static lz_status lower(const cuda_exec *x, const local *l, lz_plan **out)
{
    lz_func *f = NULL;
    lz_lower_options o = cuda_lower_options(x->d);
    LZ_TRY(build(l, &f));
    lz_status s = lz_lower(f, &o, out);
    lz_func_free(f);
    return s;
}

static lz_status local_make(cuda_exec *x, lz_cache *cache, local *l)
{
    LZ_TRY(lower(x, l, &l->plan));
    LZ_TRY(lz_plan_exec_begin(&l->g, l->plan));
    uint32_t n = l->g.nkernel;
    l->loads = lz_calloc((size_t)n + 1, sizeof *l->loads);
    if (!l->loads)
        return LZ_FAIL(LZ_EMEM, "no memory for a collective");
    LZ_TRY(lz_kstore_load(&x->d->kernels, l->g.kernels, n, x->d, cache, l->loads));
    for (uint32_t i = 0; i < n; i++) {
        x->x.info.llvm_compiles += l->loads[i].source == LZ_FROM_LLVM;
        x->x.info.kernel_hits += l->loads[i].source != LZ_FROM_LLVM;
    }
    l->program = (cuda_program){&l->g, l->loads, NULL};
    LZ_TRY(cuda_program_make(x, &l->program));
    l->states = lz_alloc(lz_plan_exec_nptr(&l->g, x->n) * sizeof *l->states);
    if (!l->states)
        return LZ_FAIL(LZ_EMEM, "no memory for a collective");
    lz_plan_exec_state(&l->g, l->states, x->n);
    return LZ_OK;
}

static bool same(const local *a, const local *b)
{
    return a->folds == b->folds && a->dtype == b->dtype && a->region == b->region &&
           memcmp(a->dims, b->dims, sizeof a->dims) == 0;
}

/* That of an earlier collective, if there is one. */
static lz_status local_get(cuda_exec *x, lz_cache *cache, const local *want, local **out)
{
    for (local *l = x->locals; l; l = l->next)
        if (same(l, want)) {
            *out = l;
            return LZ_OK;
        }
    local *l = lz_alloc(sizeof *l);
    if (!l)
        return LZ_FAIL(LZ_EMEM, "no memory for a collective");
    *l = *want;
    lz_status s = local_make(x, cache, l);
    if (s != LZ_OK) {
        local_free(x, l);
        return s;
    }
    l->next = x->locals;
    x->locals = *out = l;
    return LZ_OK;
}

static lz_status get_swap(cuda_exec *x, lz_cache *cache, lz_dtype d, int64_t a, int64_t b,
                          int64_t c, local **out)
{
    return local_get(x, cache, &(local){.dtype = d, .dims = {a, b, c}}, out);
}

static int64_t before(const lz_type *t, int64_t dim)
{
    int64_t n = 1;
    for (int64_t i = 0; i < dim; i++)
        n *= t->shape.dims[i];
    return n;
}

static const lz_func *region_of(const lz_sig *sig)
{
    return sig->op == LZ_OP_ALL_REDUCE ? LZ_ATTR(all_reduce, sig->attr)->computation
                                       : LZ_ATTR(reduce_scatter, sig->attr)->computation;
}

/* Groups of another size fold as many. */
static lz_status get_folds(cuda_exec *x, lz_cache *cache, const cuda_collective *m, lz_dtype d,
                           int64_t n, route *r)
{
    const lz_participants *w = &m->c->who;
    for (uint32_t g = 0; g < w->ngroup; g++)
        LZ_TRY(local_get(x, cache,
                         &(local){.folds = true,
                                  .dtype = d,
                                  .dims = {cuda_group_size(w, g), n},
                                  .region = region_of(m->c->sig)},
                         &r->unpack[g]));
    return LZ_OK;
}

static lz_status join_along(cuda_exec *x, lz_cache *cache, const cuda_collective *m,
                            const lz_type *to, int64_t dim, int64_t members, route *r)
{
    int64_t rows = before(to, dim);
    local *l = NULL;
    if (rows == 1) {
        r->unpack = NULL;
        return LZ_OK;
    }
    LZ_TRY(get_swap(x, cache, to->dtype, members, rows, to->nelem / members / rows, &l));
    for (uint32_t g = 0; g < m->c->who.ngroup; g++)
        r->unpack[g] = l;
    return LZ_OK;
}

static lz_status split_along(cuda_exec *x, lz_cache *cache, const lz_type *from, int64_t dim,
                             int64_t members, route *r)
{
    int64_t rows = before(from, dim);
    r->split = true;
    r->piece = from->nbytes / (size_t)members;
    return rows == 1 ? LZ_OK
                     : get_swap(x, cache, from->dtype, rows, members, from->nelem / members / rows,
                                &r->pack);
}

static lz_status route_all_reduce(cuda_exec *x, lz_cache *cache, const cuda_collective *m,
                                  const lz_type *t, route *r)
{
    const lz_participants *w = &m->c->who;
    uint32_t n = w->largest;
    bool alike = (uint64_t)n * w->ngroup == w->n;
    if (m->clique)
        r->direct = cuda_nccl_reduction(x, region_of(m->c->sig), t->dtype);
    if (r->direct.times) {
        r->piece = t->nbytes;
        r->unpack = NULL;
        return LZ_OK;
    }
    r->halves = r->split = alike && n > 2 && t->nbytes >= LARGE_SUM;
    int64_t each = r->halves ? (t->nelem + n - 1) / n : t->nelem;
    r->piece = (size_t)each * lz_dtype_size(t->dtype);
    return get_folds(x, cache, m, t->dtype, each, r);
}

static lz_status make_route(cuda_exec *x, lz_cache *cache, const cuda_collective *m, uint32_t k,
                            route *r)
{
    const lz_sig *sig = m->c->sig;
    const lz_type *from = sig->opnd[k], *to = sig->result[k];
    int64_t n = m->c->who.largest;
    switch (sig->op) {
    case LZ_OP_ALL_REDUCE:
        return route_all_reduce(x, cache, m, from, r);
    case LZ_OP_REDUCE_SCATTER:
        LZ_TRY(split_along(x, cache, from, LZ_ATTR(reduce_scatter, sig->attr)->scatter_dimension, n,
                           r));
        if (m->clique)
            r->direct = cuda_nccl_reduction(x, region_of(sig), to->dtype);
        if (r->direct.times)
            r->unpack = NULL;
        return r->direct.times ? LZ_OK : get_folds(x, cache, m, to->dtype, to->nelem, r);
    case LZ_OP_ALL_GATHER:
        r->piece = from->nbytes;
        return join_along(x, cache, m, to, LZ_ATTR(all_gather, sig->attr)->all_gather_dim, n, r);
    default:
        LZ_TRY(split_along(x, cache, from, LZ_ATTR(all_to_all, sig->attr)->split_dimension, n, r));
        return join_along(x, cache, m, to, LZ_ATTR(all_to_all, sig->attr)->concat_dimension, n, r);
    }
}

static uint64_t take(uint64_t *at, uint64_t nbytes)
{
    uint64_t here = *at;
    *at += LZ_ALIGN_UP(nbytes, ALIGN);
    return here;
}

/* Places in the staging memory: of all operands, and of one function's temporaries. */
static void place(cuda_exec *x, cuda_collective *m)
{
    const lz_sig *sig = m->c->sig;
    uint64_t at = 0, temp = 0;
    for (uint32_t k = 0; k < sig->nopnd; k++) {
        route *r = &m->route[k];
        if (!r->piece)
            continue;
        if (r->pack)
            r->packed_at = take(&at, sig->opnd[k]->nbytes);
        if (r->unpack)
            r->staged_at = take(&at, (uint64_t)r->piece * m->c->who.largest);
        if (r->halves)
            r->summed_at = take(&at, r->piece);
        if (r->pack && r->pack->plan->temp_bytes > temp)
            temp = r->pack->plan->temp_bytes;
        for (uint32_t g = 0; r->unpack && g < m->c->who.ngroup; g++)
            if (r->unpack[g]->plan->temp_bytes > temp)
                temp = r->unpack[g]->plan->temp_bytes;
    }
    m->temp_at = take(&at, temp);
    if (at > x->staging)
        x->staging = at;
}

static lz_status make_routes(cuda_exec *x, lz_cache *cache, cuda_collective *m)
{
    const lz_sig *sig = m->c->sig;
    uint32_t n = m->c->who.ngroup;
    if (sig->op == LZ_OP_COLLECTIVE_PERMUTE || sig->op == LZ_OP_COLLECTIVE_BROADCAST)
        return LZ_OK;
    m->route = lz_arena_alloc(&x->x.plan_exec.arena, sig->nopnd * sizeof *m->route);
    if (!m->route)
        return LZ_FAIL(LZ_EMEM, "no memory for a collective");
    memset(m->route, 0, sig->nopnd * sizeof *m->route);
    for (uint32_t k = 0; k < sig->nopnd; k++) {
        if (!sig->opnd[k]->nelem || !sig->result[k]->nelem)
            continue;
        m->route[k].unpack = lz_arena_alloc(&x->x.plan_exec.arena, n * sizeof *m->route[k].unpack);
        if (!m->route[k].unpack)
            return LZ_FAIL(LZ_EMEM, "no memory for a collective");
        LZ_TRY(make_route(x, cache, m, k, &m->route[k]));
    }
    place(x, m);
    return LZ_OK;
}

static int by_step(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)(*(cuda_collective *const *)a)->c,
              y = (uintptr_t)(*(cuda_collective *const *)b)->c;
    return x < y ? -1 : x > y;
}

static uint32_t collective_steps(const lz_plan *p)
{
    uint32_t n = 0;
    for (uint32_t s = 0; s < p->nstep; s++)
        n += lz_step_begins_collective(&p->steps[s]);
    return n;
}

static lz_status make_one(cuda_exec *x, lz_cache *cache, const lz_step_collective *c)
{
    cuda_collective *m = lz_calloc(1, sizeof *m);
    if (!m)
        return LZ_FAIL(LZ_EMEM, "no memory for a collective");
    m->c = c;
    x->collectives[x->ncollective++] = m;
    LZ_TRY(cuda_nccl_make(x, m));
    return make_routes(x, cache, m);
}

lz_status cuda_collectives_make(cuda_exec *x, lz_cache *cache)
{
    const lz_plan_exec *g = &x->x.plan_exec;
    size_t n = 1;
    for (uint32_t i = 0; i < g->npart; i++)
        n += collective_steps(g->parts[i].plan);
    x->collectives = lz_calloc(n, sizeof *x->collectives);
    if (!x->collectives)
        return LZ_FAIL(LZ_EMEM, "no memory for %zu collectives", n);
    for (uint32_t i = 0; i < g->npart; i++)
        for (uint32_t s = 0; s < g->parts[i].plan->nstep; s++)
            if (lz_step_begins_collective(&g->parts[i].plan->steps[s]))
                LZ_TRY(make_one(x, cache, g->parts[i].plan->steps[s].collective));
    qsort(x->collectives, x->ncollective, sizeof *x->collectives, by_step);
    return LZ_OK;
}

void cuda_collectives_free(cuda_exec *x)
{
    for (uint32_t i = 0; i < x->ncollective; i++)
        lz_free(x->collectives[i]);
    lz_free(x->collectives);
    for (local *l = x->locals, *next; l; l = next) {
        next = l->next;
        local_free(x, l);
    }
    x->collectives = NULL;
    x->locals = NULL;
    x->ncollective = 0;
}

/* ---- running ---- */

typedef cuda_meeting work;

/* One stream waits for what another one has recorded. */
static lz_status wait_for(cuda_team *t, uint32_t q, uint32_t other)
{
    cuda_device *d = t->run[q].d, *o = t->run[other].d;
    LZ_TRY(cuda_team_here(&t->run[q]));
    return cuda_check_both(d, o, lz_cuda.StreamWaitEvent(d->compute, o->met, 0),
                           "a collective: ordering streams");
}

static lz_status record(cuda_team *t, uint32_t q)
{
    cuda_device *d = t->run[q].d;
    LZ_TRY(cuda_team_here(&t->run[q]));
    return cuda_check(d, lz_cuda.EventRecord(d->met, d->compute), "a collective: an event");
}

/* What follows on the stream of each member comes after what all have put there so far. */
static lz_status meet(cuda_team *t, const uint32_t *member, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        LZ_TRY(record(t, member[i]));
    for (uint32_t i = 1; i < n; i++)
        LZ_TRY(wait_for(t, member[0], member[i]));
    if (n > 1)
        LZ_TRY(record(t, member[0]));
    for (uint32_t i = 1; i < n; i++)
        LZ_TRY(wait_for(t, member[i], member[0]));
    return LZ_OK;
}

static lz_status meet_groups(const work *w)
{
    for (uint32_t g = 0; g < w->who->ngroup; g++)
        LZ_TRY(meet(w->t, w->who->member + w->who->start[g], cuda_group_size(w->who, g)));
    return LZ_OK;
}

lz_status cuda_meeting_copy(const work *w, uint32_t to, char *dst, uint32_t from, const char *src,
                            size_t nbytes)
{
    cuda_device *d = w->t->run[to].d, *o = w->t->run[from].d;
    if (!nbytes || (to == from && dst == src))
        return LZ_OK;
    LZ_TRY(cuda_team_here(&w->t->run[to]));
    int r = to == from
                ? lz_cuda.MemcpyDtoDAsync(cuda_address(dst), cuda_address(src), nbytes, d->compute)
                : lz_cuda.MemcpyPeerAsync(cuda_address(dst), d->context, cuda_address(src),
                                          o->context, nbytes, d->compute);
    return cuda_check_both(d, o, r, "a collective: copying from another device");
}

static lz_status compute(const work *w, local *l, uint32_t q, void *in, void *out)
{
    void **state = lz_plan_exec_state_of(&l->g, l->states, q), **io = lz_plan_exec_io(&l->g, state);
    io[0] = in;
    io[1] = out;
    return lz_plan_exec_run(&l->g, state, cuda_staged(w, q, w->m->temp_at), NULL, &w->t->run[q]);
}

lz_status cuda_meeting_each(const work *w, cuda_step_fn *fn)
{
    for (uint32_t k = 0; k < w->sig->nopnd; k++)
        for (uint32_t q = 0; q < w->who->n && w->m->route[k].piece; q++)
            if (w->who->group[q] != LZ_NO_PARTITION)
                LZ_TRY(fn(w, &w->m->route[k], k, q));
    return LZ_OK;
}

lz_status cuda_meeting_pack(const work *w, const route *r, uint32_t k, uint32_t q)
{
    return r->pack ? compute(w, r->pack, q, w->bufs[q][w->sig->nresult + k],
                             cuda_staged(w, q, r->packed_at))
                   : LZ_OK;
}

static lz_status pull(const work *w, const route *r, uint32_t k, uint32_t q)
{
    const lz_participants *p = w->who;
    uint32_t first = p->start[p->group[q]], n = cuda_group_size(p, p->group[q]), own = p->place[q];
    char *to = cuda_received(w, r, k, q);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = (own + i) % n,
                 m = p->member[first + j]; /* not all from the same one at once */
        const char *from = cuda_sent(w, r, k, m);
        LZ_TRY(cuda_meeting_copy(w, q, to + j * r->piece, m, from + (r->split ? own * r->piece : 0),
                                 r->split ? cuda_part_bytes(w, r, k, own) : r->piece));
    }
    return LZ_OK;
}

lz_status cuda_meeting_unpack(const work *w, const route *r, uint32_t k, uint32_t q)
{
    if (!r->unpack)
        return LZ_OK;
    return compute(w, r->unpack[w->who->group[q]], q, cuda_staged(w, q, r->staged_at),
                   r->halves ? cuda_staged(w, q, r->summed_at) : w->bufs[q][k]);
}

/* The parts of a large sum. */
static lz_status pull_sums(const work *w, const route *r, uint32_t k, uint32_t q)
{
    const lz_participants *p = w->who;
    uint32_t first = p->start[p->group[q]], n = cuda_group_size(p, p->group[q]);
    for (uint32_t i = 0; i < n && r->halves; i++) {
        uint32_t j = (p->place[q] + i) % n, m = p->member[first + j];
        LZ_TRY(cuda_meeting_copy(w, q, (char *)w->bufs[q][k] + j * r->piece, m,
                                 cuda_staged(w, m, r->summed_at), cuda_part_bytes(w, r, k, j)));
    }
    return LZ_OK;
}

static lz_status run_groups(const work *w)
{
    bool halves = false;
    LZ_TRY(cuda_meeting_each(w, cuda_meeting_pack));
    LZ_TRY(meet_groups(w));
    LZ_TRY(cuda_meeting_each(w, pull));
    LZ_TRY(meet_groups(w));
    LZ_TRY(cuda_meeting_each(w, cuda_meeting_unpack));
    for (uint32_t k = 0; k < w->sig->nopnd; k++)
        halves |= w->m->route[k].halves;
    if (!halves)
        return LZ_OK;
    LZ_TRY(meet_groups(w));
    LZ_TRY(cuda_meeting_each(w, pull_sums));
    return meet_groups(w);
}

lz_status cuda_meeting_clear(const work *w, uint32_t q, char *dst, size_t nbytes)
{
    cuda_device *d = w->t->run[q].d;
    if (!nbytes)
        return LZ_OK;
    LZ_TRY(cuda_team_here(&w->t->run[q]));
    return cuda_check(d, lz_cuda.MemsetD8Async(cuda_address(dst), 0, nbytes, d->compute),
                      "a collective: clearing a result");
}

/* Permute and broadcast. */
static lz_status take_from(const work *w, uint32_t k, uint32_t q)
{
    uint32_t from = w->who->from[q];
    size_t nbytes = w->sig->result[k]->nbytes;
    if (from == LZ_NO_PARTITION)
        return cuda_meeting_clear(w, q, w->bufs[q][k], nbytes);
    return cuda_meeting_copy(w, q, w->bufs[q][k], from, w->bufs[from][w->sig->nresult + k], nbytes);
}

static lz_status run_copies(const work *w)
{
    uint32_t all[CUDA_DEVICES], n = w->who->n;
    for (uint32_t q = 0; q < n; q++)
        all[q] = q;
    LZ_TRY(meet(w->t, all, n));
    for (uint32_t k = 0; k < w->sig->nopnd; k++)
        for (uint32_t q = 0; q < n; q++)
            LZ_TRY(take_from(w, k, q));
    return meet(w->t, all, n);
}

static lz_status run_it(const work *w)
{
    if (w->m->clique)
        return cuda_nccl_run(w);
    return w->m->route ? run_groups(w) : run_copies(w);
}

/* One stretch in the row of each device. */
static lz_status run_timed(const work *w)
{
    uint64_t from, to;
    cuda_stretch t[CUDA_DEVICES];
    uint32_t n = w->who->n;
    lz_collective_bytes(w->sig, &from, &to);
    for (uint32_t q = 0; q < n; q++) {
        t[q] = (cuda_stretch){.row = CUDA_ROW_COMPUTE,
                              .collective = true,
                              .name = lz_op_get(w->sig->op)->text,
                              .nbytes = from};
        LZ_TRY(cuda_team_here(&w->t->run[q]));
        cuda_stretch_begin(w->t->run[q].d, w->t->run[q].d->compute, &t[q]);
    }
    lz_status s = run_it(w);
    for (uint32_t q = 0; q < n; q++) {
        if (cuda_team_here(&w->t->run[q]) == LZ_OK)
            cuda_stretch_end(w->t->run[q].d, w->t->run[q].d->compute, &t[q]);
        cuda_keep_time(&w->t->run[q], &t[q]);
    }
    return s;
}

lz_status cuda_collective_run(void *run, const lz_step_collective *c, void *const *const *bufs)
{
    cuda_team *t = run;
    const cuda_collective key = {.c = c}, *of = &key;
    cuda_collective *const *m =
        bsearch(&of, t->x->collectives, t->x->ncollective, sizeof *t->x->collectives, by_step);
    work w = {.t = t, .m = *m, .sig = c->sig, .who = &c->who, .bufs = bufs};
    lz_collective_ran(c);
    return t->run[0].part ? run_timed(&w) : run_it(&w);
}
