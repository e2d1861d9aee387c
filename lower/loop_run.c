/* loop_run.c - the slow executor: a kernel exactly as written, point by point, scalar by scalar, every address checked.
 * Scalar ops are the reference evaluator's, so a difference to the reference is a lowering mistake, and a difference
 * between this and compiled code is the code generator's. Threads: pure apart from the buffers. */
#include "ir/eval.h"
#include "lower/loop.h"
#include "lower/loop_impl.h"
#include <inttypes.h>
#include <string.h>

typedef struct run {
    const lz_kernel *k;
    const int64_t *args; /* NULL: the sizes' own values */
    void *const *bufs;
    const size_t *nbytes;
    int64_t idx[LZ_LOOP_MAX];
    uint64_t *val[LZ_STAGE_MAX]; /* values of each stage's scalar ops */
    uint64_t *acc[LZ_STAGE_MAX]; /* accumulators of each stage */
    bool *early[LZ_STAGE_MAX];   /* ops the initial values need */
    uint64_t *body;              /* values of a combiner's ops */
} run;

/* ---- addresses ---- */

static lz_status element(const run *r, uint32_t stage, const lz_access *a, void **out)
{
    const lz_kernel *k = r->k;
    const uint64_t *val = r->val[stage];
    int64_t at = lz_sz_value(a->offset, r->args), part;
    bool ok = true;
    for (uint32_t d = 0; d < k->nouter + k->stages[stage].ninner; d++)
        ok &= lz_mul_i64(lz_sz_value(a->stride[d], r->args), r->idx[d], &part) &&
              lz_add_i64(at, part, &at);
    for (uint32_t i = 0; i < a->ndyn; i++)
        ok &= lz_mul_i64(lz_sz_value(a->dyn[i].stride, r->args), (int64_t)val[a->dyn[i].sop],
                         &part) &&
              lz_add_i64(at, part, &at);
    size_t esize = lz_dtype_size(k->buf[a->buf].dtype);
    if (!ok || at < 0 || (uint64_t)at >= r->nbytes[a->buf] / esize)
        return LZ_FAIL(LZ_EINTERNAL,
                       "kernel '%s', stage %u: element %" PRId64 " of buffer %u, which has %zu",
                       k->name, stage, at, a->buf, r->nbytes[a->buf] / esize);
    *out = (char *)r->bufs[a->buf] + (size_t)at * esize;
    return LZ_OK;
}

static bool passes(const run *r, uint32_t stage, const lz_access *a)
{
    return a->guard < 0 || (r->val[stage][a->guard] & 1);
}

static lz_status load(const run *r, uint32_t stage, const lz_access *a, uint64_t *out)
{
    if (!passes(r, stage, a)) {
        *out = r->val[stage][a->other];
        return LZ_OK;
    }
    void *p = NULL;
    LZ_TRY(element(r, stage, a, &p));
    *out = 0;
    memcpy(out, p, lz_dtype_size(r->k->buf[a->buf].dtype));
    return LZ_OK;
}

static lz_status store(const run *r, uint32_t stage, const lz_store *s)
{
    if (!passes(r, stage, &s->at))
        return LZ_OK;
    void *p = NULL;
    LZ_TRY(element(r, stage, &s->at, &p));
    memcpy(p, &r->val[stage][s->value], lz_dtype_size(r->k->buf[s->at.buf].dtype));
    return LZ_OK;
}

/* ---- scalar ops ---- */

static lz_status elementwise(const lz_sop *s, const lz_sop *sops, const uint64_t *val,
                             uint64_t *out)
{
    const int32_t o[3] = {s->a, s->b, s->c};
    lz_dtype in[3] = {0};
    uint64_t v[3] = {0};
    for (int i = 0; i < lz_sop_arity(s); i++) {
        in[i] = sops[o[i]].dtype;
        v[i] = val[o[i]];
    }
    return lz_ref_eval_bits(s->op, s->attr, s->dtype, in, v, out);
}

static lz_status eval(run *r, uint32_t stage, uint32_t i)
{
    const lz_stage *st = &r->k->stages[stage];
    const lz_sop *s = &st->sops[i];
    uint64_t *out = &r->val[stage][i];
    switch (s->kind) {
    case LZ_S_CONST:
        *out = s->bits;
        return LZ_OK;
    case LZ_S_INDEX:
        *out = (uint64_t)r->idx[s->a];
        return LZ_OK;
    case LZ_S_SIZE:
        *out = (uint64_t)lz_sz_value(s->size, r->args);
        return LZ_OK;
    case LZ_S_LOAD:
        return load(r, stage, &st->accs[s->a], out);
    case LZ_S_RED:
        *out = r->acc[s->a][s->b];
        return LZ_OK;
    case LZ_S_EW:
        return elementwise(s, st->sops, r->val[stage], out);
    case LZ_S_ACC:
    case LZ_S_ELT:
        break;
    }
    return LZ_FAIL(LZ_EINTERNAL, "kernel '%s', stage %u: op kind %d", r->k->name, stage,
                   (int)s->kind);
}

/* ---- reductions ---- */

/* A value as it enters an accumulator: 16-bit floats widen to f32, exactly. */
static uint64_t widen(uint64_t bits, lz_dtype from, lz_dtype to)
{
    if (from == to)
        return bits;
    float f = from == LZ_F16 ? lz_f16_to_f32((uint16_t)bits) : lz_bf16_to_f32((uint16_t)bits);
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static lz_status run_body(run *r, const lz_red *red, const uint64_t *elt, uint64_t *acc)
{
    uint64_t next[LZ_RED_MAX];
    for (uint32_t i = 0; i < red->nbody; i++) {
        const lz_sop *s = &red->body[i];
        if (s->kind == LZ_S_EW)
            LZ_TRY(elementwise(s, red->body, r->body, &r->body[i]));
        else
            r->body[i] = s->kind == LZ_S_ACC    ? acc[s->a]
                         : s->kind == LZ_S_ELT  ? elt[s->a]
                         : s->kind == LZ_S_SIZE ? (uint64_t)lz_sz_value(s->size, r->args)
                                                : s->bits;
    }
    for (uint32_t j = 0; j < red->nacc; j++)
        next[j] = r->body[red->body_out[j]];
    memcpy(acc, next, red->nacc * sizeof *next);
    return LZ_OK;
}

/* The values (or the initial values) of a reduction, in the accumulators' dtypes. */
static void gather(const run *r, uint32_t stage, const lz_red *red, const int32_t *from,
                   uint64_t *out)
{
    const lz_sop *sops = r->k->stages[stage].sops;
    for (uint32_t j = 0; j < red->nacc; j++)
        out[j] = widen(r->val[stage][from[j]], sops[from[j]].dtype, red->acc_dtype[j]);
}

static lz_status accumulate(run *r, uint32_t stage)
{
    const lz_stage *st = &r->k->stages[stage];
    uint64_t *acc = r->acc[stage];
    for (uint32_t i = 0; i < st->nred; i++) {
        const lz_red *red = &st->reds[i];
        uint64_t elt[LZ_RED_MAX];
        gather(r, stage, red, red->value, elt);
        if (red->comb == LZ_OP_NONE) {
            LZ_TRY(run_body(r, red, elt, acc));
        } else {
            lz_dtype d = red->acc_dtype[0];
            LZ_TRY(lz_ref_eval_bits(red->comb, NULL, d, (lz_dtype[]){d, d},
                                    (uint64_t[]){*acc, *elt}, acc));
        }
        acc += red->nacc;
    }
    return LZ_OK;
}

/* ---- loops ---- */

/* The next point of n loops, last fastest; false after the last one. */
static bool step(int64_t *idx, const lz_sz *extent, const int64_t *args, uint32_t n)
{
    for (uint32_t d = n; d-- > 0;) {
        if (++idx[d] < lz_sz_value(extent[d], args))
            return true;
        idx[d] = 0;
    }
    return false;
}

static bool has_points(const lz_sz *extent, const int64_t *args, uint32_t n)
{
    for (uint32_t d = 0; d < n; d++)
        if (lz_sz_value(extent[d], args) <= 0)
            return false;
    return true;
}

static lz_status run_stage(run *r, uint32_t stage)
{
    const lz_stage *st = &r->k->stages[stage];
    int64_t *inner = r->idx + r->k->nouter;
    memset(inner, 0, st->ninner * sizeof *inner);
    uint64_t *acc = r->acc[stage];
    for (uint32_t i = 0; i < st->nsop && st->nred; i++)
        if (r->early[stage][i])
            LZ_TRY(eval(r, stage, i));
    for (uint32_t i = 0; i < st->nred; acc += st->reds[i++].nacc)
        gather(r, stage, &st->reds[i], st->reds[i].init, acc);
    if (!has_points(st->extent, r->args, st->ninner))
        return LZ_OK;
    do {
        for (uint32_t i = 0; i < st->nsop; i++)
            LZ_TRY(eval(r, stage, i));
        LZ_TRY(accumulate(r, stage));
        for (uint32_t i = 0; i < st->nstore; i++)
            LZ_TRY(store(r, stage, &st->stores[i]));
    } while (step(inner, st->extent, r->args, st->ninner));
    return LZ_OK;
}

static lz_status run_points(run *r)
{
    const lz_kernel *k = r->k;
    if (!has_points(k->outer, r->args, k->nouter))
        return LZ_OK;
    do {
        for (uint32_t s = 0; s < k->nstage; s++)
            LZ_TRY(run_stage(r, s));
    } while (step(r->idx, k->outer, r->args, k->nouter));
    return LZ_OK;
}

/* ---- setting up ---- */

/* Marks what the initial values need: it is evaluated even when the stage has no points. */
static void mark_early(const lz_stage *st, bool *early)
{
    for (uint32_t i = 0; i < st->nred; i++)
        for (uint32_t j = 0; j < st->reds[i].nacc; j++)
            early[st->reds[i].init[j]] = true;
    for (uint32_t i = st->nsop; i-- > 0;) {
        const lz_sop *s = &st->sops[i];
        if (!early[i])
            continue;
        const int32_t opnd[3] = {s->a, s->b, s->c};
        for (int j = 0; j < lz_sop_arity(s); j++)
            early[opnd[j]] = true;
        if (s->kind != LZ_S_LOAD)
            continue;
        const lz_access *a = &st->accs[s->a];
        for (uint32_t j = 0; j < a->ndyn; j++)
            early[a->dyn[j].sop] = true;
        if (a->guard >= 0)
            early[a->guard] = early[a->other] = true;
    }
}

static lz_status set_up(run *r, lz_arena *mem)
{
    const lz_kernel *k = r->k;
    uint32_t nbody = 0;
    bool ok = true;
    for (uint32_t s = 0; s < k->nstage; s++) {
        const lz_stage *st = &k->stages[s];
        uint32_t nacc = 0;
        for (uint32_t i = 0; i < st->nred; i++) {
            nacc += st->reds[i].nacc;
            nbody = st->reds[i].nbody > nbody ? st->reds[i].nbody : nbody;
        }
        r->val[s] = lz_arena_alloc(mem, st->nsop * sizeof **r->val);
        r->acc[s] = lz_arena_alloc(mem, nacc * sizeof **r->acc);
        r->early[s] = lz_arena_alloc(mem, st->nsop * sizeof **r->early);
        ok &= r->val[s] && r->acc[s] && r->early[s];
        if (r->early[s])
            mark_early(st, r->early[s]);
    }
    r->body = lz_arena_alloc(mem, nbody * sizeof *r->body);
    return ok && r->body ? LZ_OK : LZ_FAIL(LZ_EMEM, "kernel '%s': no memory to run it", k->name);
}

lz_status lz_loop_run_args(const lz_kernel *k, const int64_t *args, void *const *bufs,
                           const size_t *nbytes)
{
    run r = {.k = k, .args = args, .bufs = bufs, .nbytes = nbytes};
    lz_arena mem = {0};
    lz_status s = set_up(&r, &mem);
    if (s == LZ_OK)
        s = run_points(&r);
    lz_arena_free(&mem);
    return s;
}

lz_status lz_loop_run(const lz_kernel *k, void *const *bufs, const size_t *nbytes)
{
    if (!k->finished)
        LZ_TRY(lz_kernel_verify(k));
    return lz_loop_run_args(k, k->finished ? k->args : NULL, bufs, nbytes);
}
