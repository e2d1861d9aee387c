/* plan_join.c - see plan_join.h: which loops are joined, and their encoding. codegen/loop_join.c
 * goes through a loop in the same order and takes the same sizes.
 * Recursion: plans in plans, as deep as regions nest (LZ_MAX_REGION_DEPTH). */
#include "lower/plan/plan_join.h"
#include "base/alloc.h"
#include <string.h>

/* ---- which loops ---- */

enum {
    KERNEL_WORK = 32768 /* scalar operations of a launch that costs more than launching it */
};

typedef struct load {
    bool large; /* whatever the kernels take */
    uint32_t nstep, nsop;
    uint64_t stack;
} load;

static uint64_t points(const lz_sz *extent, uint32_t n, const int64_t *args)
{
    uint64_t p = 1;
    for (uint32_t i = 0; i < n; i++) {
        int64_t v = extent[i].slot < 0 ? extent[i].v : args[extent[i].slot];
        if (v < 0 || __builtin_mul_overflow(p, (uint64_t)v, &p))
            return UINT64_MAX / 2;
    }
    return p;
}

/* Scalar operations of a launch, about. */
static uint64_t work_of(const lz_kernel *k, const int64_t *args)
{
    uint64_t outer = points(k->outer, k->nouter, args), all = 0;
    for (uint32_t s = 0; s < k->nstage; s++) {
        const lz_stage *st = &k->stages[s];
        uint64_t n = st->nsop + (st->sort ? 8 * st->sort->nbody : 0), inner, w;
        inner = points(st->extent, st->ninner, args);
        if (__builtin_mul_overflow(outer, inner, &w) || __builtin_mul_overflow(w, n + 1, &w) ||
            __builtin_add_overflow(all, w, &all))
            return UINT64_MAX;
    }
    return all;
}

static bool suits(load *l, const lz_plan *p);

static bool kernel_suits(load *l, const lz_plan *p, const lz_step *s)
{
    const lz_kernel *k = p->kernels[s->kernel];
    for (uint32_t i = 0; i < k->nstage; i++) {
        const lz_stage *st = &k->stages[i];
        l->nsop += st->nsop + (st->sort ? 16 * st->sort->nbody : 0);
        for (uint32_t r = 0; r < st->nred; r++)
            l->nsop += st->reds[r].nbody;
    }
    l->nsop += lz_kernel_is_dot(k) ? 100 : 0;
    return l->nsop <= LZ_JOIN_SOPS && (l->large || work_of(k, s->args) <= KERNEL_WORK);
}

/* Of one that is kept and one that is made of it. */
static void add_carried(load *l, const lz_plan *body)
{
    for (uint32_t k = 0; k < body->nout; k++)
        l->stack += body->out_type[k]->nbytes <= LZ_JOIN_KEPT ? 2 * LZ_JOIN_KEPT : 0;
}

static bool step_suits(load *l, const lz_plan *p, const lz_step *s)
{
    if (s->kind == LZ_STEP_KERNEL)
        return kernel_suits(l, p, s);
    if (s->kind != LZ_STEP_WHILE && s->kind != LZ_STEP_IF)
        return false;
    if (s->kind == LZ_STEP_WHILE)
        add_carried(l, p->subs[s->sub[1]]);
    return (s->sub[0] == LZ_NO_PLAN || suits(l, p->subs[s->sub[0]])) &&
           suits(l, p->subs[s->sub[1]]);
}

static bool suits(load *l, const lz_plan *p)
{
    l->stack += p->temp_bytes <= LZ_JOIN_TEMPS ? p->temp_bytes : 0;
    for (uint32_t i = 0; i < p->nstep; i++)
        if (++l->nstep > LZ_JOIN_STEPS || !step_suits(l, p, &p->steps[i]))
            return false;
    return !p->partitions && l->stack <= LZ_JOIN_STACK;
}

bool lz_join_suits(const lz_plan *p, const lz_step *s, bool large)
{
    load l = {.large = large};
    return s->kind == LZ_STEP_WHILE && step_suits(&l, p, s);
}

/* ---- how long it takes ---- */

/* Scalar code, and some to start. */
static uint64_t plan_ns(const lz_plan *p)
{
    uint64_t ns = 0, more;
    for (uint32_t i = 0; i < p->nstep; i++) {
        const lz_step *s = &p->steps[i];
        if (s->kind == LZ_STEP_WHILE) {
            more = lz_join_ns(p, s);
        } else if (s->kind == LZ_STEP_IF) {
            uint64_t a = plan_ns(p->subs[s->sub[0]]), b = plan_ns(p->subs[s->sub[1]]);
            more = a > b ? a : b;
        } else {
            more = 4 + work_of(p->kernels[s->kernel], s->args) / 2;
        }
        if (__builtin_add_overflow(ns, more, &ns))
            return UINT64_MAX;
    }
    return ns;
}

uint64_t lz_join_ns(const lz_plan *p, const lz_step *s)
{
    int64_t trips;
    uint64_t ns;
    if (s->sub[0] != LZ_NO_PLAN || !lz_trip_count_known(&s->trip_count, &trips))
        return UINT64_MAX;
    ns = plan_ns(p->subs[s->sub[1]]);
    return __builtin_mul_overflow(ns, (uint64_t)trips, &ns) ? UINT64_MAX : ns;
}

/* ---- the encoding ---- */

typedef struct encoder {
    lz_buf out;
    LZ_VEC(int64_t) args;
    LZ_VEC(const lz_kernel *) kernels;
    bool failed;
} encoder;

static void put_arg(encoder *x, int64_t v)
{
    x->failed |= lz_vec_push(&x->args, v) != LZ_OK;
}

static void put_size(encoder *x, int64_t v)
{
    bool baked = lz_join_is_baked(v);
    lz_buf_u8(&x->out, baked);
    if (baked)
        lz_buf_u64(&x->out, (uint64_t)v);
    else
        put_arg(x, v);
}

/* The bytes of each kernel once. */
static void put_kernel(encoder *x, const lz_kernel *k)
{
    uint32_t i = 0;
    while (i < x->kernels.len && x->kernels.data[i] != k)
        i++;
    lz_buf_u32(&x->out, i);
    if (i < x->kernels.len)
        return;
    lz_buf_u64(&x->out, k->nencoding);
    lz_buf_put(&x->out, k->encoding, k->nencoding);
    x->failed |= lz_vec_push(&x->kernels, k) != LZ_OK;
}

static void put_plan(encoder *x, const lz_plan *p);

static void put_while(encoder *x, const lz_plan *p, const lz_step *s)
{
    const lz_plan *body = p->subs[s->sub[1]];
    int64_t trips = 0;
    bool known = s->sub[0] == LZ_NO_PLAN && lz_trip_count_known(&s->trip_count, &trips);
    lz_buf_u32(&x->out, body->nin);
    lz_buf_u32(&x->out, body->nout);
    for (uint32_t k = 0; k < body->nout; k++) {
        put_size(x, (int64_t)body->out_type[k]->nbytes);
        lz_buf_u8(&x->out, body->out_alias[k] < 0);
    }
    lz_buf_u8(&x->out, known);
    if (known)
        put_size(x, trips);
    else
        put_plan(x, p->subs[s->sub[0]]);
    put_plan(x, body);
}

static void put_step(encoder *x, const lz_plan *p, const lz_step *s)
{
    lz_buf_u8(&x->out, (uint8_t)s->kind);
    lz_buf_u32(&x->out, s->nbuf);
    for (uint32_t j = 0; j < s->nbuf; j++) {
        lz_buf_u8(&x->out, (uint8_t)s->bufs[j].kind);
        lz_buf_u32(&x->out, s->bufs[j].index);
        put_size(x, (int64_t)s->bufs[j].offset);
    }
    if (s->kind == LZ_STEP_KERNEL) {
        put_kernel(x, p->kernels[s->kernel]);
        for (uint32_t i = 0; i < s->narg; i++)
            put_size(x, s->args[i]);
    } else if (s->kind == LZ_STEP_WHILE) {
        put_while(x, p, s);
    } else {
        put_plan(x, p->subs[s->sub[0]]);
        put_plan(x, p->subs[s->sub[1]]);
    }
}

static void put_plan(encoder *x, const lz_plan *p)
{
    lz_buf_u8(&x->out, p->const_bytes > 0);
    if (p->const_bytes)
        put_arg(x, (int64_t)(uintptr_t)p->consts);
    lz_buf_u64(&x->out, p->temp_bytes <= LZ_JOIN_TEMPS ? p->temp_bytes : UINT64_MAX);
    lz_buf_u32(&x->out, p->nstep);
    for (uint32_t i = 0; i < p->nstep; i++)
        put_step(x, p, &p->steps[i]);
}

static lz_status finish(encoder *x, const lz_plan *p, const lz_step *s, lz_kernel *k)
{
    lz_joined_loop *of = lz_arena_alloc(&k->arena, sizeof *of);
    k->encoding = lz_arena_copy(&k->arena, x->out.data, x->out.len);
    k->args = lz_arena_copy(&k->arena, x->args.data, x->args.len * sizeof *k->args);
    if (x->failed || x->out.failed || !of || !k->encoding || !k->args)
        return LZ_FAIL(LZ_EMEM, "no memory for a loop of kernels");
    *of = (lz_joined_loop){p, s};
    k->nencoding = x->out.len;
    k->narg = x->args.len;
    k->nbuf = s->nbuf;
    k->hash = lz_hash_bytes(k->encoding, k->nencoding);
    k->joined = of;
    k->finished = true;
    return LZ_OK;
}

lz_status lz_join_kernel(const lz_plan *p, const lz_step *s, lz_kernel **out)
{
    encoder x = {0};
    lz_kernel *k = lz_kernel_new("while");
    if (!k)
        return LZ_EMEM;
    lz_buf_lstr(&x.out, "joined loop");
    put_while(&x, p, s);
    lz_status st = finish(&x, p, s, k);
    lz_buf_free(&x.out);
    lz_vec_free(&x.args);
    lz_vec_free(&x.kernels);
    if (st == LZ_OK)
        *out = k;
    else
        lz_kernel_free(k);
    return st;
}
