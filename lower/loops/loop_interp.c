/* loop_interp.c - the loop-IR interpreter: runs a kernel as written, point by point, scalar by
 * scalar, with every address checked. Scalar ops are evaluated by the reference evaluator, so a
 * difference between this and the reference is a bug of lowering, and a difference between this
 * and compiled code is a bug of the code generator.
 * Threads: pure apart from the buffers. */
#include "ir/eval/eval.h"
#include "lower/loops/loop.h"
#include "lower/loops/loop_impl.h"
#include <inttypes.h>
#include <string.h>

typedef lz_ref_slot
    slot; /* a value, as it is laid out in memory, in the low bytes; the others are 0 */

typedef struct run {
    const lz_kernel *k;
    const int64_t *args; /* NULL: the sizes' own values */
    void *const *bufs;
    const size_t *nbytes;
    int64_t idx[LZ_LOOP_MAX];
    slot *val[LZ_STAGE_MAX];   /* values of each stage's scalar ops */
    slot *acc[LZ_STAGE_MAX];   /* accumulators of each stage */
    bool *early[LZ_STAGE_MAX]; /* ops the initial values need */
    slot *body;                /* values of a combiner's ops */
    slot *row[LZ_STAGE_MAX];   /* rows of each sorting stage, one after the other */
    int64_t *order;            /* of positions in a row, twice */
    slot *spare;               /* for a row */
    int64_t at;                /* position of the point among those of the inner loops */
    slot *kept[LZ_STAGE_MAX];  /* rows that a stage keeps, one after the other */
} run;

/* ---- addresses ---- */

static lz_status element(const run *r, uint32_t stage, const lz_access *a, void **out)
{
    const lz_kernel *k = r->k;
    const slot *val = r->val[stage];
    int64_t at = lz_sz_value(a->offset, r->args), part;
    bool ok = true;
    for (uint32_t d = 0; d < k->nouter + k->stages[stage].ninner; d++)
        ok &= lz_mul_i64(lz_sz_value(a->stride[d], r->args), r->idx[d], &part) &&
              lz_add_i64(at, part, &at);
    for (uint32_t i = 0; i < a->ndyn; i++)
        ok &= lz_mul_i64(lz_sz_value(a->dyn[i].stride, r->args), (int64_t)val[a->dyn[i].sop].u[0],
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
    return a->guard < 0 || (r->val[stage][a->guard].u[0] & 1);
}

/* A load finds nothing but zeros where it says so. */
static lz_status keeps_word(const run *r, uint32_t stage, const lz_access *a, const void *p)
{
    static const char zero[16];
    for (uint32_t i = 0; i < a->nborder; i++) {
        const lz_border *b = &a->border[i];
        int64_t x, y, at;
        bool ok = lz_mul_i64(lz_sz_value(b->by, r->args), r->idx[b->outer], &x) &&
                  lz_mul_i64(lz_sz_value(b->step, r->args), r->idx[b->inner], &y) &&
                  lz_add_i64(x, y, &at);
        if (ok && at >= lz_sz_value(b->low, r->args) && at < lz_sz_value(b->high, r->args))
            continue;
        if (!ok || memcmp(p, zero, lz_dtype_size(r->k->buf[a->buf].dtype)) != 0)
            return LZ_FAIL(LZ_EINTERNAL, "kernel '%s', stage %u: the border of buffer %u is not 0",
                           r->k->name, stage, a->buf);
    }
    return LZ_OK;
}

static lz_status load(const run *r, uint32_t stage, const lz_access *a, slot *out)
{
    if (!passes(r, stage, a)) {
        *out = r->val[stage][a->other];
        return LZ_OK;
    }
    void *p = NULL;
    LZ_TRY(element(r, stage, a, &p));
    LZ_TRY(keeps_word(r, stage, a, p));
    *out = (slot){{0, 0}};
    lz_ref_copy_element(out, p, lz_dtype_size(r->k->buf[a->buf].dtype));
    return LZ_OK;
}

static lz_status store(const run *r, uint32_t stage, const lz_loop_store *s)
{
    if (!passes(r, stage, &s->at))
        return LZ_OK;
    void *p = NULL;
    LZ_TRY(element(r, stage, &s->at, &p));
    lz_ref_copy_element(p, &r->val[stage][s->value], lz_dtype_size(r->k->buf[s->at.buf].dtype));
    return LZ_OK;
}

/* ---- scalar ops ---- */

static slot word(uint64_t v)
{
    return (slot){{v, 0}};
}

/* Of complex128 both parts have the bits. */
static slot constant(const lz_sop *s)
{
    return (slot){{s->bits, s->dtype == LZ_C128 ? s->bits : 0}};
}

static lz_status elementwise(const lz_sop *s, const lz_sop *sops, const slot *val, slot *out)
{
    const int32_t o[3] = {s->a, s->b, s->c};
    lz_dtype in[3] = {0};
    const void *v[3] = {0};
    for (int i = 0, n = lz_sop_arity(s); i < n; i++) {
        in[i] = sops[o[i]].dtype;
        v[i] = &val[o[i]];
    }
    slot result = word(0);
    LZ_TRY(lz_ref_eval_scalar(s->op, s->attr, s->dtype, in, v, &result));
    *out = result;
    return LZ_OK;
}

static int64_t inner_points(const run *r, const lz_stage *st)
{
    int64_t n = 1;
    for (uint32_t d = 0; d < st->ninner; d++)
        n *= lz_sz_value(st->extent[d], r->args);
    return n;
}

static int64_t row_length(const run *r, uint32_t stage)
{
    return lz_sz_value(r->k->stages[stage].extent[0], r->args);
}

static lz_status eval(run *r, uint32_t stage, uint32_t i)
{
    const lz_stage *st = &r->k->stages[stage];
    const lz_sop *s = &st->sops[i];
    slot *out = &r->val[stage][i];
    switch (s->kind) {
    case LZ_S_CONST:
        *out = constant(s);
        return LZ_OK;
    case LZ_S_INDEX:
        *out = word((uint64_t)r->idx[s->a]);
        return LZ_OK;
    case LZ_S_SIZE:
        *out = word((uint64_t)lz_sz_value(s->size, r->args));
        return LZ_OK;
    case LZ_S_LOAD:
        return load(r, stage, &st->accs[s->a], out);
    case LZ_S_RED:
    case LZ_S_PREFIX:
        *out = r->acc[s->a][s->b];
        return LZ_OK;
    case LZ_S_SORTED:
        *out = r->row[s->a][s->b * inner_points(r, &r->k->stages[s->a]) + r->at];
        return LZ_OK;
    case LZ_S_ROW:
        *out = r->kept[s->a][s->b * row_length(r, (uint32_t)s->a) +
                             r->idx[r->k->nouter + st->ninner - 1]];
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
static slot widen(slot v, lz_dtype from, lz_dtype to)
{
    if (from == to)
        return v;
    uint16_t bits = (uint16_t)v.u[0];
    float f = from == LZ_F16 ? lz_f16_to_f32(bits) : lz_bf16_to_f32(bits);
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return word(u);
}

static lz_status run_body(run *r, const lz_red *red, const slot *elt, slot *acc)
{
    slot next[LZ_RED_MAX];
    for (uint32_t i = 0; i < red->nbody; i++) {
        const lz_sop *s = &red->body[i];
        if (s->kind == LZ_S_EW)
            LZ_TRY(elementwise(s, red->body, r->body, &r->body[i]));
        else
            r->body[i] = s->kind == LZ_S_ACC    ? acc[s->a]
                         : s->kind == LZ_S_ELT  ? elt[s->a]
                         : s->kind == LZ_S_SIZE ? word((uint64_t)lz_sz_value(s->size, r->args))
                                                : constant(s);
    }
    for (uint32_t j = 0; j < red->nacc; j++)
        next[j] = r->body[red->body_out[j]];
    memcpy(acc, next, red->nacc * sizeof *next);
    return LZ_OK;
}

/* The values (or the initial values) of a reduction, in the accumulators' dtypes. */
static void gather(const run *r, uint32_t stage, const lz_red *red, const int32_t *from, slot *out)
{
    const lz_sop *sops = r->k->stages[stage].sops;
    for (uint32_t j = 0; j < red->nacc; j++)
        out[j] = widen(r->val[stage][from[j]], sops[from[j]].dtype, red->acc_dtype[j]);
}

static lz_status accumulate(run *r, uint32_t stage)
{
    const lz_stage *st = &r->k->stages[stage];
    slot *acc = r->acc[stage];
    for (uint32_t i = 0; i < st->nred; i++) {
        const lz_red *red = &st->reds[i];
        slot elt[LZ_RED_MAX];
        gather(r, stage, red, red->value, elt);
        if (red->comb == LZ_OP_NONE) {
            LZ_TRY(run_body(r, red, elt, acc));
        } else {
            lz_dtype d = red->acc_dtype[0];
            slot sum = word(0);
            LZ_TRY(lz_ref_eval_scalar(red->comb, NULL, d, (lz_dtype[]){d, d},
                                      (const void *[]){acc, elt}, &sum));
            *acc = sum;
        }
        acc += red->nacc;
    }
    return LZ_OK;
}

/* ---- sorts ---- */

static lz_status comes_before(run *r, const lz_sort *st, const slot *rows, int64_t n, int64_t left,
                              int64_t right, bool *out)
{
    for (uint32_t i = 0; i < st->nbody; i++) {
        const lz_sop *s = &st->body[i];
        if (s->kind == LZ_S_EW)
            LZ_TRY(elementwise(s, st->body, r->body, &r->body[i]));
        else
            r->body[i] =
                s->kind == LZ_S_ELT ? rows[s->a / 2 * n + (s->a & 1 ? right : left)] : constant(s);
    }
    *out = r->body[st->less].u[0] & 1;
    return LZ_OK;
}

/* Merges runs of `width` positions, twice as long each time: stable. The rows are read in the final
 * order. */
static lz_status sort_rows(run *r, const lz_sort *st, slot *rows, int64_t n)
{
    int64_t *from = r->order, *to = r->order + n;
    for (int64_t i = 0; i < n; i++)
        from[i] = i;
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t lo = 0; lo < n; lo += 2 * width) {
            int64_t mid = lo + width < n ? lo + width : n,
                    hi = lo + 2 * width < n ? lo + 2 * width : n, i = lo, j = mid;
            for (int64_t p = lo; p < hi; p++) {
                bool right = i == mid;
                if (i < mid && j < hi)
                    LZ_TRY(comes_before(r, st, rows, n, from[j], from[i], &right));
                to[p] = right ? from[j++] : from[i++];
            }
        }
        int64_t *t = from;
        from = to;
        to = t;
    }
    for (uint32_t k = 0; k < st->nrow; k++) {
        slot *row = rows + k * n, *spare = r->spare;
        for (int64_t i = 0; i < n; i++)
            spare[i] = row[from[i]];
        memcpy(row, spare, (size_t)n * sizeof *row);
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

/* The initial values of a stage's reductions. */
static lz_status start(run *r, uint32_t stage)
{
    const lz_stage *st = &r->k->stages[stage];
    slot *acc = r->acc[stage];
    for (uint32_t i = 0; i < st->nsop && st->nred; i++)
        if (r->early[stage][i])
            LZ_TRY(eval(r, stage, i));
    for (uint32_t i = 0; i < st->nred; acc += st->reds[i++].nacc)
        gather(r, stage, &st->reds[i], st->reds[i].init, acc);
    return LZ_OK;
}

/* A sum over the second loop for each index of the first, in order. */
static lz_status run_kept(run *r, uint32_t stage)
{
    const lz_stage *st = &r->k->stages[stage];
    int64_t *n = &r->idx[r->k->nouter], *k = n + 1;
    int64_t depth = lz_sz_value(st->extent[1], r->args);
    for (*n = 0; *n < row_length(r, stage); ++*n) {
        *k = 0;
        LZ_TRY(start(r, stage));
        for (; *k < depth; ++*k) {
            for (uint32_t i = 0; i < st->nsop; i++)
                LZ_TRY(eval(r, stage, i));
            LZ_TRY(accumulate(r, stage));
        }
        r->kept[stage][*n] = *r->acc[stage];
    }
    return LZ_OK;
}

static lz_status run_stage(run *r, uint32_t stage)
{
    const lz_stage *st = &r->k->stages[stage];
    int64_t *inner = r->idx + r->k->nouter;
    uint32_t before = lz_stage_before_prefix(st);
    if (lz_stage_is_row_dot(st))
        return run_kept(r, stage);
    memset(inner, 0, st->ninner * sizeof *inner);
    LZ_TRY(start(r, stage));
    if (!has_points(st->extent, r->args, st->ninner))
        return LZ_OK;
    int64_t n = inner_points(r, st);
    r->at = 0;
    do {
        for (uint32_t i = 0; i < before; i++)
            LZ_TRY(eval(r, stage, i));
        for (uint32_t k = 0; st->sort && k < st->sort->nrow; k++)
            r->row[stage][k * n + r->at] = r->val[stage][st->sort->value[k]];
        for (uint32_t k = 0; k < st->nrow; k++)
            r->kept[stage][k * n + r->at] = r->val[stage][st->row[k]];
        LZ_TRY(accumulate(r, stage));
        for (uint32_t i = before; i < st->nsop; i++)
            LZ_TRY(eval(r, stage, i));
        for (uint32_t i = 0; i < st->nstore; i++)
            LZ_TRY(store(r, stage, &st->stores[i]));
        r->at++;
    } while (step(inner, st->extent, r->args, st->ninner));
    return st->sort ? sort_rows(r, st->sort, r->row[stage], n) : LZ_OK;
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

/* Room for the rows of stage s, and for the order of the longest. */
static lz_status set_up_sort(run *r, uint32_t s, int64_t *longest, lz_arena *mem)
{
    const lz_stage *st = &r->k->stages[s];
    size_t nrow, nbytes;
    if (!has_points(st->extent, r->args, st->ninner) ||
        !has_points(r->k->outer, r->args, r->k->nouter))
        return LZ_OK;
    int64_t n = inner_points(r, st);
    if (!lz_mul_size((size_t)n, st->sort->nrow, &nrow) ||
        !lz_mul_size(nrow, sizeof **r->row, &nbytes))
        return LZ_FAIL(LZ_EMEM, "kernel '%s': rows of %" PRId64 " do not fit", r->k->name, n);
    r->row[s] = lz_arena_alloc(mem, nbytes);
    *longest = n > *longest ? n : *longest;
    return r->row[s]
               ? LZ_OK
               : LZ_FAIL(LZ_EMEM, "kernel '%s': no memory for rows of %" PRId64, r->k->name, n);
}

/* Room for the rows stage s keeps. */
static lz_status set_up_rows(run *r, uint32_t s, lz_arena *mem)
{
    const lz_stage *st = &r->k->stages[s];
    size_t nelem, nbytes;
    int64_t n = row_length(r, s);
    if (!lz_mul_size((size_t)(n > 0 ? n : 0), lz_stage_is_row_dot(st) ? 1 : st->nrow, &nelem) ||
        !lz_mul_size(nelem, sizeof **r->kept, &nbytes))
        return LZ_FAIL(LZ_EMEM, "kernel '%s': rows of %" PRId64 " do not fit", r->k->name, n);
    r->kept[s] = lz_arena_alloc(mem, nbytes);
    return r->kept[s]
               ? LZ_OK
               : LZ_FAIL(LZ_EMEM, "kernel '%s': no memory for rows of %" PRId64, r->k->name, n);
}

static lz_status set_up(run *r, lz_arena *mem)
{
    const lz_kernel *k = r->k;
    uint32_t nbody = 0;
    int64_t longest = 0;
    bool ok = true;
    for (uint32_t s = 0; s < k->nstage; s++) {
        const lz_stage *st = &k->stages[s];
        uint32_t nacc = 0;
        for (uint32_t i = 0; i < st->nred; i++) {
            nacc += st->reds[i].nacc;
            nbody = st->reds[i].nbody > nbody ? st->reds[i].nbody : nbody;
        }
        if (st->sort) {
            nbody = st->sort->nbody > nbody ? st->sort->nbody : nbody;
            LZ_TRY(set_up_sort(r, s, &longest, mem));
        }
        if (lz_stage_is_row_dot(st) || st->nrow)
            LZ_TRY(set_up_rows(r, s, mem));
        r->val[s] = lz_arena_alloc(mem, st->nsop * sizeof **r->val);
        r->acc[s] = lz_arena_alloc(mem, nacc * sizeof **r->acc);
        r->early[s] = lz_arena_alloc(mem, st->nsop * sizeof **r->early);
        ok &= r->val[s] && r->acc[s] && r->early[s];
        if (r->early[s])
            mark_early(st, r->early[s]);
    }
    r->body = lz_arena_alloc(mem, nbody * sizeof *r->body);
    r->order = lz_arena_alloc(mem, 2 * (size_t)longest * sizeof *r->order);
    r->spare = lz_arena_alloc(mem, (size_t)longest * sizeof *r->spare);
    return ok && r->body && r->order && r->spare
               ? LZ_OK
               : LZ_FAIL(LZ_EMEM, "kernel '%s': no memory to run it", k->name);
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
