/* real.c - a candidate as it really is: the function with its marks is propagated and partitioned,
 * and what a device computes, sends and keeps is read off the local function. See model.h.
 * Threads: thread-compatible. */
#include "shard/auto/model.h"
#include "shard/work.h"
#include <string.h>

static lz_status no_memory(void)
{
    return LZ_FAIL(LZ_EMEM, "no memory to search for shardings");
}

/* ---- trials ---- */

lz_status lz_auto_trial_new(lz_auto_real *x, const char *origin, lz_auto_trial **out)
{
    lz_auto_trial *t = *out = lz_arena_alloc(x->arena, sizeof *t);
    if (!t)
        return no_memory();
    t->origin = origin;
    t->param = lz_arena_alloc(x->arena, ((size_t)x->f->nparam + 1) * sizeof *t->param);
    t->value = lz_arena_alloc(x->arena, ((size_t)x->f->ninst + 1) * sizeof *t->value);
    t->result = lz_arena_alloc(x->arena, ((size_t)x->f->nresult + 1) * sizeof *t->result);
    return t->param && t->value && t->result ? LZ_OK : no_memory();
}

lz_status lz_auto_trial_copy(lz_auto_real *x, const char *origin, const lz_auto_trial *from,
                             lz_auto_trial **out)
{
    LZ_TRY(lz_auto_trial_new(x, origin, out));
    (*out)->apart = from->apart;
    memcpy((*out)->param, from->param, x->f->nparam * sizeof *from->param);
    memcpy((*out)->value, from->value, x->f->ninst * sizeof *from->value);
    memcpy((*out)->result, from->result, x->f->nresult * sizeof *from->result);
    return LZ_OK;
}

static void list(lz_auto_mark_of of, const lz_sharding *const *at, uint32_t count,
                 lz_auto_mark *out, uint32_t *n)
{
    for (uint32_t i = 0; i < count; i++)
        if (at[i]) {
            if (out)
                out[*n] = (lz_auto_mark){of, i, at[i]};
            ++*n;
        }
}

static void list_all(const lz_auto_real *x, const lz_auto_trial *t, lz_auto_mark *out, uint32_t *n)
{
    *n = 0;
    list(LZ_AUTO_PARAM, t->param, x->f->nparam, out, n);
    list(LZ_AUTO_VALUE, t->value, x->f->ninst, out, n);
    list(LZ_AUTO_RESULT, t->result, x->f->nresult, out, n);
}

lz_status lz_auto_trial_marks(const lz_auto_real *x, const lz_auto_trial *t, lz_arena *a,
                              lz_auto_mark **out, uint32_t *n)
{
    list_all(x, t, NULL, n);
    *out = lz_arena_alloc(a, ((size_t)*n + 1) * sizeof **out);
    if (!*out)
        return no_memory();
    list_all(x, t, *out, n);
    return LZ_OK;
}

/* ---- what it costs ---- */

/* How often what is in a region is run. */
static double rounds_in(const lz_shard_place *in)
{
    double n = 1;
    for (; in; in = in->outer)
        if (lz_inst_op(&in->f->insts[in->at]) == LZ_OP_WHILE)
            n = lz_work_times(n, lz_work_rounds(in->f, &in->f->insts[in->at], NULL));
    return n;
}

static lz_status count(const lz_auto_real *x, const lz_func *f, const lz_partitioned *p,
                       lz_auto_cost *out)
{
    *out = (lz_auto_cost){.work = lz_auto_work_of(p->local)};
    for (const lz_shard_collective *c = p->collectives; c; c = c->next) {
        lz_shard_traffic t;
        double n = rounds_in(c->in);
        LZ_TRY(lz_shard_traffic_of(c->sig, x->mesh, &t));
        out->bytes += n * (double)t.sent_bytes;
        out->launches += n;
        out->sent += t.sent_bytes;
        out->sent_by[c->sig->op] += t.sent_bytes;
        out->launches_of[c->sig->op]++;
    }
    for (lz_val v = 0; v < f->nparam; v++) {
        const lz_type *t = lz_sharding_local(p->in[v], lz_val_type(f, v));
        if (!t)
            return lz_error_get()->status;
        out->memory += t->nbytes;
    }
    out->seconds = out->work / x->machine.flops + out->bytes / x->machine.bytes +
                   out->launches * x->machine.latency;
    return LZ_OK;
}

static lz_status partition(const lz_auto_real *x, const lz_func *g, lz_auto_cost *out)
{
    lz_partitioned p = {0};
    lz_status s = lz_partition_step(g, x->mesh, x->is_state, &p);
    if (s == LZ_OK)
        s = count(x, g, &p, out);
    lz_partitioned_free(&p);
    return s;
}

lz_status lz_auto_try(lz_auto_real *x, lz_auto_trial *t, bool *had)
{
    uint32_t n;
    lz_auto_mark *marks;
    lz_func *g;
    lz_buf key = {0};
    *had = false;
    LZ_TRY(lz_auto_trial_marks(x, t, x->arena, &marks, &n));
    for (uint32_t i = 0; i < n; i++) {
        const uintptr_t one[3] = {marks[i].of, marks[i].number, (uintptr_t)marks[i].at};
        lz_buf_put(&key, one, sizeof one);
    }
    lz_hash h = lz_hash_bytes(key.data, key.len);
    bool failed = key.failed;
    lz_buf_free(&key);
    const lz_auto_trial *same = failed ? NULL : lz_map_get(&x->known, h);
    if (same) {
        t->cost = same->cost;
        t->fits = same->fits;
        *had = true;
        return LZ_OK;
    }
    if (!x->left)
        return LZ_OK;
    x->left--;
    x->done++;
    LZ_TRY(lz_auto_apply(x->f, marks, n, &g));
    lz_status s;
    LZ_QUIETLY {
        s = partition(x, g, &t->cost);
    }
    lz_func_free(g);
    if (s != LZ_OK) /* a placement that is not to be had is no candidate */
        return s == LZ_EMEM ? no_memory() : LZ_OK;
    t->fits = !x->memory || t->cost.memory <= x->memory;
    *had = true;
    return failed || lz_map_put(&x->known, h, t) != LZ_OK ? no_memory() : LZ_OK;
}

lz_status lz_auto_places(const lz_auto_real *x, const lz_auto_mark *marks, uint32_t n, lz_arena *a,
                         const lz_sharding ***in, const lz_sharding ***out)
{
    lz_partitioned p = {0};
    lz_func *g;
    LZ_TRY(lz_auto_apply(x->f, marks, n, &g));
    lz_status s = lz_partition_step(g, x->mesh, x->is_state, &p);
    if (s == LZ_OK) {
        *in = lz_arena_copy(a, p.in, ((size_t)p.nin + 1) * sizeof **in);
        *out = lz_arena_copy(a, p.out, ((size_t)p.nout + 1) * sizeof **out);
        s = *in && *out ? LZ_OK : no_memory();
    }
    lz_partitioned_free(&p);
    lz_func_free(g);
    return s;
}

bool lz_auto_better(const lz_auto_trial *a, const lz_auto_trial *b)
{
    double eps = 1e-9 * (a->cost.seconds + b->cost.seconds);
    if (a->fits != b->fits)
        return a->fits;
    if (!a->fits && a->cost.memory != b->cost.memory)
        return a->cost.memory < b->cost.memory;
    if (a->cost.seconds < b->cost.seconds - eps)
        return true;
    return a->cost.seconds < b->cost.seconds + eps && a->cost.memory < b->cost.memory;
}
