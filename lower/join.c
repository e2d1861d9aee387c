/* join.c - pass `join`: loops of equally many rounds that carry the same values are one.
 * Does:      of two counted loops of which neither needs the other, what both carry alike (it starts from one value, and each round makes the
 *            same of it) is carried once, by a loop that makes the results of both. So a loop whose value and whose gradient are wanted runs once
 *            forwards: the gradient's own run keeps what its rounds start from, and else is the same.
 * Needs:     prune, by which equal values are one.   Recreates: nothing.   Breaks: prune (what no round changes any more).
 * Cost:      O(instructions of both bodies x values told apart), at most TRIES times.   Off: LAZULI_PASSES_OFF=join */
#include "ir/counted.h"
#include "lower/passes.h"
#include "lower/rewrite.h"
#include "lower/work.h"
#include <string.h>

enum { TRIES = 8, MOST_LOOPS = 64, MOST_VALUES = 4096 };

/* The loop that comes first, and the one that is joined to it. */
typedef struct pair {
    const lz_func *in;
    lz_val first, second;
    const lz_func *body[2];
    uint32_t ncarried[2], nopnd[2]; /* with the round */
    int64_t rounds;
    uint32_t
        *like;    /* per carried value of the second: the one of the first it equals, or LZ_NOVAL */
    lz_val *opnd; /* of both: each one's places here are in `at` */
    uint32_t nopnd_both;    /* without the round */
    uint32_t ncarried_both; /* of them */
    uint32_t *at[2];        /* per operand of a loop: its place in opnd */
    const lz_func *joined;  /* the round of both, interned */
} pair;

typedef struct plan {
    LZ_VEC(lz_val) loops;
    uint32_t *partner; /* per instruction: the pair it begins or ends, + 1 */
    LZ_VEC(pair) pairs;
    lz_val **fate; /* per instruction: its results */
    lz_arena arena;
} plan;

/* ---- which loops ---- */

static bool starts_at_zero(const lz_func *f, lz_val v)
{
    const lz_literal *l = f->insts[v].lit;
    return l && l->type->nelem == 1 && lz_elem_get_i64(l->type->dtype, l->data, 0) == 0;
}

static bool is_counted(const lz_func *f, lz_val v)
{
    const lz_inst *in = &f->insts[v];
    if (lz_inst_op(in) != LZ_OP_WHILE || in->sig->nresult < 2 || in->sig->nopnd > MOST_VALUES)
        return false;
    return lz_control_counted(in->sig) >= 0 && !(in->sig->flags & LZ_F_EFFECT) &&
           starts_at_zero(f, in->opnd[0]);
}

/* Whether the operands of j are there when i runs, or can be: constants of one element are made again. */
static bool can_be_early(const lz_func *f, lz_val i, lz_val j)
{
    const lz_inst *in = &f->insts[j];
    uint64_t bits;
    for (uint32_t k = 1; k < in->sig->nopnd; k++)
        if (in->opnd[k] >= i && !lz_rw_splat(f, in->opnd[k], &bits))
            return false;
    return true;
}

/* ---- what is alike ---- */

/* As many values as start alike; a place that is the same goes before others. */
static uint32_t guess(pair *p)
{
    const lz_inst *a = &p->in->insts[p->first], *b = &p->in->insts[p->second];
    uint32_t n = 0;
    p->like[0] = 0;
    for (uint32_t q = 1; q < p->ncarried[1]; q++) {
        p->like[q] = LZ_NOVAL;
        if (q < p->ncarried[0] && a->opnd[q] == b->opnd[q])
            p->like[q] = q;
        for (uint32_t k = 1; k < p->ncarried[0] && p->like[q] == LZ_NOVAL; k++)
            if (a->opnd[k] == b->opnd[q])
                p->like[q] = k;
        n += p->like[q] != LZ_NOVAL;
    }
    return n;
}

/* The place of an operand that is no carried value: others that are one value have one. */
static uint32_t place_of(pair *p, lz_val v, bool carried)
{
    for (uint32_t k = p->ncarried_both; !carried && k < p->nopnd_both; k++)
        if (p->opnd[k] == v)
            return k;
    p->opnd[p->nopnd_both] = v;
    return p->nopnd_both++;
}

static void place_operands(pair *p)
{
    const lz_inst *in[2] = {&p->in->insts[p->first], &p->in->insts[p->second]};
    p->nopnd_both = 0;
    for (int s = 0; s < 2; s++)
        for (uint32_t k = 1; k < p->ncarried[s]; k++)
            p->at[s][k] = s && p->like[k] != LZ_NOVAL ? p->at[0][p->like[k]]
                                                      : place_of(p, in[s]->opnd[k], true);
    p->ncarried_both = p->nopnd_both;
    for (int s = 0; s < 2; s++)
        for (uint32_t k = p->ncarried[s]; k < p->nopnd[s]; k++)
            p->at[s][k] = place_of(p, in[s]->opnd[k], false);
}

/* Both rounds in f; v: room for the parameters of f, of a body and the results of both. *differ: how many values were not alike after all. */
static lz_status build_round(pair *p, lz_func *f, lz_val *v, uint32_t *differ)
{
    lz_val *arg = v + 1 + p->nopnd_both, *res[2] = {arg + p->nopnd[0] + p->nopnd[1], NULL};
    res[1] = res[0] + p->ncarried[0];
    const lz_shape scalar = {0};
    v[0] = lz_build_param(f, lz_type_get(LZ_I64, &scalar));
    for (uint32_t k = 0; k < p->nopnd_both; k++)
        v[1 + k] = lz_build_param(f, lz_val_type(p->in, p->opnd[k]));
    for (int s = 0; s < 2; s++) {
        arg[0] = v[0];
        for (uint32_t k = 1; k < p->nopnd[s]; k++)
            arg[k] = v[1 + p->at[s][k]];
        LZ_TRY(lz_build_inline(f, p->body[s], arg, res[s]));
        lz_work += p->body[s]->ninst;
    }
    *differ = 0;
    for (uint32_t q = 1; q < p->ncarried[1]; q++)
        if (p->like[q] != LZ_NOVAL && res[1][q] != res[0][p->like[q]]) {
            p->like[q] = LZ_NOVAL;
            ++*differ;
        }
    uint32_t n = p->ncarried[0] - 1;
    memmove(v, res[0] + 1, n * sizeof *v);
    for (uint32_t q = 1; q < p->ncarried[1]; q++)
        if (p->like[q] == LZ_NOVAL)
            v[n++] = res[1][q];
    return *differ ? LZ_OK : lz_func_set_results(f, v, n);
}

static lz_status try_round(pair *p, uint32_t *differ)
{
    lz_func *f = lz_func_new("joined");
    size_t room = 1 + p->nopnd_both + 2 * ((size_t)p->nopnd[0] + p->nopnd[1]);
    lz_val *v = lz_alloc(room * sizeof *v);
    lz_status s = f && v ? build_round(p, f, v, differ) : LZ_FAIL(LZ_EMEM, "out of memory");
    if (s == LZ_OK && !*differ && !(p->joined = lz_region_intern(f)))
        s = lz_error_get()->status;
    lz_free(v);
    lz_func_free(f);
    return s;
}

/* joined stays NULL where nothing is alike. */
static lz_status find_alike(pair *p)
{
    uint32_t alike = guess(p), differ = 0;
    for (int t = 0; t < TRIES && alike; t++) {
        place_operands(p);
        LZ_TRY(try_round(p, &differ));
        if (!differ)
            return LZ_OK;
        alike -= differ;
    }
    return LZ_OK;
}

static lz_status open_pair(plan *x, const lz_func *f, lz_val i, lz_val j, pair *p)
{
    const lz_inst *in[2] = {&f->insts[i], &f->insts[j]};
    *p = (pair){.in = f, .first = i, .second = j, .rounds = lz_control_counted(in[0]->sig)};
    size_t n = 0;
    for (int s = 0; s < 2; s++) {
        p->body[s] = LZ_ATTR(loop, in[s]->sig->attr)->body;
        p->ncarried[s] = in[s]->sig->nresult;
        p->nopnd[s] = in[s]->sig->nopnd;
        n += p->nopnd[s];
    }
    uint32_t *room = lz_arena_alloc(&x->arena, 3 * n * sizeof *room);
    if (!room)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    p->opnd = room;
    p->like = room + n;
    p->at[0] = room + 2 * n;
    p->at[1] = p->at[0] + p->nopnd[0];
    return find_alike(p);
}

static lz_status find_pairs(plan *x, const lz_func *f)
{
    for (uint32_t i = f->nparam; i < f->ninst; i++)
        if (is_counted(f, i))
            LZ_TRY(lz_vec_push(&x->loops, i));
    for (uint32_t a = 0; a < x->loops.len && x->loops.len <= MOST_LOOPS; a++)
        for (uint32_t b = a + 1; b < x->loops.len && !x->partner[x->loops.data[a]]; b++) {
            lz_val i = x->loops.data[a], j = x->loops.data[b];
            pair p;
            lz_work++;
            if (x->partner[j] || !can_be_early(f, i, j) ||
                lz_control_counted(f->insts[i].sig) != lz_control_counted(f->insts[j].sig))
                continue;
            LZ_TRY(open_pair(x, f, i, j, &p));
            if (!p.joined)
                continue;
            LZ_TRY(lz_vec_push(&x->pairs, p));
            x->partner[i] = x->partner[j] = x->pairs.len;
        }
    return LZ_OK;
}

/* ---- the new loop ---- */

static lz_val operand(lz_rw *rw, const pair *p, lz_val v)
{
    uint64_t bits;
    if (v < p->first)
        return rw->map[v];
    if (!lz_rw_splat(p->in, v, &bits))
        return LZ_NOVAL;
    return lz_rw_build_splat_bits(rw->out, lz_val_type(p->in, v), bits);
}

static lz_val run_both(lz_rw *rw, plan *x, const pair *p)
{
    size_t n = (size_t)p->ncarried[0] + p->ncarried[1];
    lz_val *v = lz_alloc(((size_t)p->nopnd_both + p->ncarried_both + 1) * sizeof *v);
    lz_val *fate = lz_arena_alloc(&x->arena, n * sizeof *fate), *r = v + p->nopnd_both;
    if (!v || !fate) {
        rw->out->status = LZ_FAIL(LZ_EMEM, "out of memory");
        lz_free(v);
        return LZ_NOVAL;
    }
    for (uint32_t k = 0; k < p->nopnd_both; k++)
        v[k] = operand(rw, p, p->opnd[k]);
    lz_status s =
        lz_build_count(rw->out, p->joined, p->rounds, v, p->nopnd_both, p->ncarried_both, r);
    x->fate[p->first] = fate;
    x->fate[p->second] = fate + p->ncarried[0];
    for (int l = 0; l < 2 && s == LZ_OK; l++) {
        lz_val *to = l ? fate + p->ncarried[0] : fate;
        to[0] = lz_build_scalar_i64(rw->out, LZ_I64, p->rounds);
        for (uint32_t k = 1; k < p->ncarried[l]; k++)
            to[k] = r[p->at[l][k]];
    }
    lz_free(v);
    if (s != LZ_OK && rw->out->status == LZ_OK)
        rw->out->status = s;
    return s == LZ_OK ? fate[0] : LZ_NOVAL;
}

static lz_val join(lz_rw *rw, uint32_t i, void *user)
{
    plan *x = user;
    const lz_inst *in = &rw->in->insts[i];
    if (lz_inst_op(in) == LZ_OP_RESULT && x->fate[in->opnd[0]])
        return x->fate[in->opnd[0]][LZ_ATTR(index, in->sig->attr)->index];
    if (!x->partner[i])
        return LZ_NOVAL;
    const pair *p = &x->pairs.data[x->partner[i] - 1];
    return p->first == i ? run_both(rw, x, p) : x->fate[i][0];
}

lz_status lz_pass_join(const lz_func *in, lz_func **out)
{
    plan x = {0};
    *out = NULL;
    x.partner = lz_calloc((size_t)in->ninst + 1, sizeof *x.partner);
    x.fate = lz_calloc((size_t)in->ninst + 1, sizeof *x.fate);
    lz_status s = x.partner && x.fate ? find_pairs(&x, in) : LZ_FAIL(LZ_EMEM, "out of memory");
    if (s == LZ_OK && x.pairs.len)
        s = lz_rw_run(in, join, &x, out);
    lz_vec_free(&x.loops);
    lz_vec_free(&x.pairs);
    lz_free(x.partner);
    lz_free(x.fate);
    lz_arena_free(&x.arena);
    return s;
}
