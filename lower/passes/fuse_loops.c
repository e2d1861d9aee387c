/* fuse_loops.c - pass `fuse_loops`: while-loop fusion.
 * Does:      fuses two independent counted loops of equal trip count that carry values alike
 *   (equal initial values, equal updates) into one loop that carries those once and yields the
 *   results of both. A loop whose value and gradient are both wanted then runs forward once: the
 *   gradient's forward loop is the same but for stacking its inputs.
 * Needs:     dce (equal values are one value).
 * Recreates: nothing.
 * Breaks:    dce (values that no iteration changes any more). Candidates are found by hashing what
 *   the bodies make of each carried value; loops that share only initial values are not tried.
 * Cost:      O(instructions of all bodies), times DEPTH, MOST_TRIED and TRIES at most.
 * Off:       LAZULI_PASSES_OFF=fuse_loops */
#include "ir/counted.h"
#include "lower/passes.h"
#include "lower/passes/rewrite.h"
#include "lower/effort.h"
#include <string.h>

enum {
    TRIES = 8,      /* of telling apart the values of two loops */
    MOST_TRIED = 8, /* loops, for one: those that share most with it */
    NEAR = 8,       /* loops that a value is looked for in: the next ones */
    DEPTH = 2       /* trip_count that a hash tells apart */
};

/* The loop that comes first, and the one that is joined to it. */
typedef struct pair {
    const lz_func *in;
    lz_val first, second;
    const lz_func *body[2];
    uint32_t ncarried[2], nopnd[2]; /* with the round */
    int64_t trip_count;
    uint32_t
        *like; /* per carried value of the second: the one of the first it equals, or LZ_NOVAL */
    uint32_t *place;        /* per value of `in`: room, of LZ_NOVAL */
    lz_val *opnd;           /* of both: each one's places here are in `at` */
    uint32_t nopnd_both;    /* without the round */
    uint32_t ncarried_both; /* of them */
    uint32_t *at[2];        /* per operand of a loop: its place in opnd */
    const lz_func *joined;  /* the round of both, interned */
} pair;

typedef struct counted {
    lz_val v;
    uint32_t first, n; /* its values in `uses` */
    uint32_t shared;   /* values that it has in common with the loop at hand */
} counted;

/* A value that a loop carries. */
typedef struct use {
    uint32_t loop;
    uint32_t next; /* the same of a later loop, or LZ_NOVAL */
} use;

typedef struct plan {
    LZ_VEC(counted) loops;
    LZ_VEC(use) uses;
    LZ_VEC(uint32_t) near; /* loops that share something with the one at hand */
    uint32_t *partner;     /* per instruction: the pair it begins or ends, + 1 */
    uint32_t *place;       /* per instruction: LZ_NOVAL */
    LZ_VEC(pair) pairs;
    lz_val **fate; /* per instruction: its results */
    lz_arena arena;
} plan;

/* ---- which loops ---- */

static bool is_counted(const lz_func *f, lz_val v)
{
    const lz_inst *in = &f->insts[v];
    uint64_t start;
    if (lz_inst_op(in) != LZ_OP_WHILE || in->sig->nresult < 2)
        return false;
    return lz_control_counted(in->sig) >= 0 && !(in->sig->flags & LZ_F_EFFECT) &&
           lz_rw_splat(f, in->opnd[0], &start) && start == 0;
}

/* Whether the operands of j are there when i runs, or can be: constants of one element are made
 * again. */
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
    for (uint32_t k = p->ncarried[0]; k-- > 1;)
        p->place[a->opnd[k]] = k;
    p->like[0] = 0;
    for (uint32_t q = 1; q < p->ncarried[1]; q++) {
        bool same = q < p->ncarried[0] && a->opnd[q] == b->opnd[q];
        p->like[q] = same ? q : p->place[b->opnd[q]];
        n += p->like[q] != LZ_NOVAL;
    }
    for (uint32_t k = 1; k < p->ncarried[0]; k++)
        p->place[a->opnd[k]] = LZ_NOVAL;
    return n;
}

/* Operands that are no carried values have one place where they are one value. */
static void place_operands(pair *p)
{
    const lz_inst *in[2] = {&p->in->insts[p->first], &p->in->insts[p->second]};
    p->nopnd_both = 0;
    for (int s = 0; s < 2; s++)
        for (uint32_t k = 1; k < p->ncarried[s]; k++) {
            bool has = s && p->like[k] != LZ_NOVAL;
            p->at[s][k] = has ? p->at[0][p->like[k]] : p->nopnd_both;
            if (!has)
                p->opnd[p->nopnd_both++] = in[s]->opnd[k];
        }
    p->ncarried_both = p->nopnd_both;
    for (int s = 0; s < 2; s++)
        for (uint32_t k = p->ncarried[s]; k < p->nopnd[s]; k++) {
            lz_val v = in[s]->opnd[k];
            if (p->place[v] == LZ_NOVAL) {
                p->opnd[p->nopnd_both] = v;
                p->place[v] = p->nopnd_both++;
            }
            p->at[s][k] = p->place[v];
        }
    for (uint32_t k = p->ncarried_both; k < p->nopnd_both; k++)
        p->place[p->opnd[k]] = LZ_NOVAL;
}

/* Both trip_count in f; v: room for the parameters of f, of a body and the results of both.
 * *differ: how many values were not alike after all. */
static lz_status build_round(pair *p, lz_func *f, lz_val *v, uint32_t *differ)
{
    lz_val *arg = v + 1 + p->nopnd_both, *res[2] = {arg + p->nopnd[0] + p->nopnd[1], NULL};
    res[1] = res[0] + p->ncarried[0];
    const lz_shape scalar = {0};
    v[0] = lz_build_param(f, lz_type_get(LZ_I64, &scalar));
    for (uint32_t k = 0; k < p->nopnd_both; k++)
        v[1 + k] = lz_build_param(f, lz_val_type(p->in, p->opnd[k]));
    f->derived = true; /* nodes are those of the first loop; what the second adds has none */
    for (int s = 0; s < 2; s++) {
        arg[0] = v[0];
        for (uint32_t k = 1; k < p->nopnd[s]; k++)
            arg[k] = v[1 + p->at[s][k]];
        LZ_TRY((s ? lz_build_inline : lz_build_inline_nodes)(f, p->body[s], arg, res[s]));
        lz_effort += p->body[s]->ninst;
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
    *p = (pair){.in = f,
                .first = i,
                .second = j,
                .trip_count = lz_control_counted(in[0]->sig),
                .place = x->place};
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

/* ---- which to try ---- */

static lz_hash mix(lz_hash a, lz_hash b)
{
    return lz_hash_bytes((lz_hash[2]){a, b}, 2 * sizeof a);
}

static lz_hash hash_number(uint64_t kind, int64_t n)
{
    return lz_hash_seeded(&n, sizeof n, kind);
}

/* What each value of the body is, from what its parameters are; pointers may be hashed: nothing
 * comes out in the order of the hashes. */
static void hash_body(const lz_func *body, lz_hash *h)
{
    for (uint32_t i = body->nparam; i < body->ninst; i++) {
        const lz_inst *in = &body->insts[i];
        h[i] = lz_hash_seeded(in->lit ? in->lit->data : NULL, in->lit ? in->lit->nbytes : 0,
                              (uintptr_t)in->sig);
        for (uint32_t k = 0; k < in->sig->nopnd; k++)
            h[i] = mix(h[i], h[in->opnd[k]]);
    }
    lz_effort += body->ninst;
}

/* What becomes of each carried value: where it starts and what DEPTH trip_count make of it, by the
 * values of f. h: room for the body's. */
static void hash_carried(const lz_func *f, lz_val v, lz_hash *carried, lz_hash *h)
{
    enum { ROUNDS, STARTS, IS };
    const lz_inst *in = &f->insts[v];
    const lz_func *body = LZ_ATTR(loop, in->sig->attr)->body;
    carried[0] = hash_number(ROUNDS, lz_control_counted(in->sig));
    for (uint32_t k = 1; k < in->sig->nopnd; k++)
        carried[k] = mix(hash_number(k < in->sig->nresult ? STARTS : IS, in->opnd[k]), carried[0]);
    for (int d = 0; d < DEPTH; d++) {
        memcpy(h, carried, in->sig->nopnd * sizeof *h);
        hash_body(body, h);
        for (uint32_t k = 1; k < in->sig->nresult; k++)
            carried[k] = mix(carried[k], h[body->results[k]]);
    }
}

/* Its values in front of the same values of later loops. What no iteration changes is no reason to
 * join. */
static lz_status enter(plan *x, const lz_func *f, uint32_t loop, lz_map *latest)
{
    counted *c = &x->loops.data[loop];
    const lz_inst *in = &f->insts[c->v];
    const lz_func *body = LZ_ATTR(loop, in->sig->attr)->body;
    lz_hash *h = lz_alloc(((size_t)in->sig->nopnd + body->ninst) * sizeof *h);
    lz_status s = h ? LZ_OK : LZ_FAIL(LZ_EMEM, "out of memory");
    if (h)
        hash_carried(f, c->v, h, h + in->sig->nopnd);
    c->first = x->uses.len;
    for (uint32_t k = 1; k < in->sig->nresult && s == LZ_OK; k++) {
        uintptr_t next = (uintptr_t)lz_map_get(latest, h[k]);
        if (body->results[k] == k || (next && x->uses.data[next - 1].loop == loop))
            continue;
        s = lz_vec_push(&x->uses, ((use){loop, next ? (uint32_t)next - 1 : LZ_NOVAL}));
        if (s == LZ_OK)
            s = lz_map_put(latest, h[k], (void *)(uintptr_t)x->uses.len); /* its place, + 1 */
    }
    c->n = x->uses.len - c->first;
    lz_free(h);
    return s;
}

static lz_status find_loops(plan *x, const lz_func *f)
{
    lz_map latest = {0};
    lz_status s = LZ_OK;
    for (uint32_t i = f->nparam; i < f->ninst && s == LZ_OK; i++)
        if (is_counted(f, i))
            s = lz_vec_push(&x->loops, ((counted){.v = i}));
    for (uint32_t i = x->loops.len; i-- > 0 && x->loops.len > 1 && s == LZ_OK;)
        s = enter(x, f, i, &latest);
    lz_map_free(&latest);
    return s;
}

/* The next loops that carry this value and have no partner yet; those that have one are not looked
 * at again. */
static lz_status look_for(plan *x, uint32_t value)
{
    uint32_t *at = &x->uses.data[value].next;
    for (uint32_t n = 0; *at != LZ_NOVAL && n < NEAR; lz_effort++) {
        use *u = &x->uses.data[*at];
        counted *c = &x->loops.data[u->loop];
        if (x->partner[c->v]) {
            *at = u->next;
            continue;
        }
        if (c->shared++ == 0)
            LZ_TRY(lz_vec_push(&x->near, u->loop));
        at = &u->next;
        n++;
    }
    return LZ_OK;
}

/* The one that shares most, of equal ones the first found; not again. NULL: there is none any
 * more. */
static counted *take_nearest(plan *x)
{
    counted *best = NULL;
    for (uint32_t i = 0; i < x->near.len; i++) {
        counted *c = &x->loops.data[x->near.data[i]];
        if (c->shared && (!best || c->shared > best->shared))
            best = c;
    }
    if (best)
        best->shared = 0;
    return best;
}

static lz_status find_partner(plan *x, const lz_func *f, const counted *a)
{
    lz_status s = LZ_OK;
    counted *b;
    x->near.len = 0;
    for (uint32_t k = 0; k < a->n && s == LZ_OK; k++)
        s = look_for(x, a->first + k);
    for (int t = 0; t < MOST_TRIED && s == LZ_OK && (b = take_nearest(x)) != NULL; t++) {
        pair p;
        if (!can_be_early(f, a->v, b->v))
            continue;
        s = open_pair(x, f, a->v, b->v, &p);
        if (s != LZ_OK || !p.joined)
            continue;
        s = lz_vec_push(&x->pairs, p);
        x->partner[a->v] = x->partner[b->v] = x->pairs.len;
        break;
    }
    for (uint32_t i = 0; i < x->near.len; i++)
        x->loops.data[x->near.data[i]].shared = 0;
    return s;
}

static lz_status find_pairs(plan *x, const lz_func *f)
{
    LZ_TRY(find_loops(x, f));
    for (uint32_t a = 0; a < x->loops.len; a++)
        if (!x->partner[x->loops.data[a].v])
            LZ_TRY(find_partner(x, f, &x->loops.data[a]));
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
    return lz_build_splat_bits(rw->out, lz_val_type(p->in, v), bits);
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
        lz_build_count(rw->out, p->joined, p->trip_count, v, p->nopnd_both, p->ncarried_both, r);
    x->fate[p->first] = fate;
    x->fate[p->second] = fate + p->ncarried[0];
    for (int l = 0; l < 2 && s == LZ_OK; l++) {
        lz_val *to = l ? fate + p->ncarried[0] : fate;
        to[0] = lz_build_scalar_i64(rw->out, LZ_I64, p->trip_count);
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

lz_status lz_pass_fuse_loops(const lz_func *in, const lz_lower_options *o, lz_func **out)
{
    (void)o;
    plan x = {0};
    *out = NULL;
    x.partner = lz_calloc((size_t)in->ninst + 1, sizeof *x.partner);
    x.fate = lz_calloc((size_t)in->ninst + 1, sizeof *x.fate);
    x.place = lz_alloc(((size_t)in->ninst + 1) * sizeof *x.place);
    for (uint32_t i = 0; x.place && i < in->ninst; i++)
        x.place[i] = LZ_NOVAL;
    lz_status s =
        x.partner && x.fate && x.place ? find_pairs(&x, in) : LZ_FAIL(LZ_EMEM, "out of memory");
    if (s == LZ_OK && x.pairs.len)
        s = lz_rw_run(in, join, &x, out);
    lz_vec_free(&x.loops);
    lz_vec_free(&x.uses);
    lz_vec_free(&x.near);
    lz_vec_free(&x.pairs);
    lz_free(x.partner);
    lz_free(x.fate);
    lz_free(x.place);
    lz_arena_free(&x.arena);
    return s;
}
