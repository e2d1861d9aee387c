/* partition_control.c - loops and branches: their regions are partitioned like functions, with the
 * partition's number as one more operand. See partition.h. */
#include "ir/func.h"
#include "shard/partition.h"

typedef struct control {
    lz_partial *p;
    lz_val v;
    const lz_inst *in;
    uint32_t first, nopnd;    /* operands of the regions: without a predicate in front */
    const lz_sharding **opnd; /* where they are */
    uint32_t nresult;
    const lz_sharding **result;
    lz_val *local; /* operands, and behind them the partition's number */
    lz_val *one;   /* of branches: the first operand that is the same value; NULL of loops */
    const lz_shard_collective *notes; /* of both regions */
    lz_shard_collective *last;
} control;

static const lz_shardings *sub(const lz_partial *p, lz_val v, int k)
{
    return p->s && p->s->sub ? p->s->sub[2 * v + (lz_val)k] : NULL;
}

static const lz_sharding *at_in(const lz_partial *p, const lz_shardings *s, const lz_func *r,
                                lz_val v)
{
    lz_partial q = *p;
    q.f = r;
    q.s = s;
    return lz_part_at_least(&q, v);
}

static lz_status begin(control *c, lz_partial *p, lz_val v, uint32_t first)
{
    *c = (control){.p = p, .v = v, .in = &p->f->insts[v], .first = first};
    c->nopnd = c->in->sig->nopnd - first;
    c->nresult = c->in->sig->nresult;
    c->opnd = lz_arena_alloc(p->arena, (c->nopnd + 1) * sizeof *c->opnd);
    c->result = lz_arena_alloc(p->arena, (c->nresult + 1) * sizeof *c->result);
    c->local = lz_arena_alloc(p->arena, (c->nopnd + first + 1) * sizeof *c->local);
    return c->opnd && c->result && c->local
               ? LZ_OK
               : LZ_FAIL(LZ_EMEM, "no memory to partition %s", p->f->name);
}

static lz_status want_operands(control *c)
{
    for (uint32_t k = 0; k < c->first; k++)
        c->local[k] = lz_part_want(c->p, c->in->opnd[k],
                                   lz_part_replicated(c->p, c->in->sig->opnd[k]->shape.rank));
    for (uint32_t k = 0; k < c->nopnd; k++)
        c->local[c->first + k] = lz_part_want(c->p, c->in->opnd[c->first + k], c->opnd[k]);
    c->local[c->first + c->nopnd] = c->p->l.part;
    return c->p->l.f->status;
}

/* Operands that are one value in branches: the first of them. */
static lz_status find_one(control *c)
{
    lz_val *first = lz_arena_alloc(c->p->arena, ((size_t)c->p->l.f->ninst + 1) * sizeof *first);
    c->one = lz_arena_alloc(c->p->arena, ((size_t)c->nopnd + 1) * sizeof *c->one);
    if (!first || !c->one)
        return LZ_FAIL(LZ_EMEM, "no memory to partition %s", c->p->f->name);
    for (uint32_t k = 0; k < c->nopnd; k++) {
        lz_val *at = &first[c->local[c->first + k]]; /* one more than the number */
        *at = *at ? *at : k + 1;
        c->one[k] = c->opnd[*at - 1] == c->opnd[k] ? *at - 1 : k;
    }
    return LZ_OK;
}

static lz_status fill_region(control *c, lz_partial *q, const lz_func *r, const lz_shardings *s,
                             const lz_sharding *const *result)
{
    LZ_TRY(lz_part_begin(q, r, s));
    for (uint32_t k = 0; k < c->nopnd; k++) {
        const lz_type *t = lz_sharding_local(c->opnd[k], lz_val_type(r, k));
        lz_val v = t ? lz_build_param(q->l.f, t) : lz_func_failed(q->l.f);
        lz_part_give(q, k, c->opnd[k], v == LZ_NOVAL || !c->one ? v : c->one[k]);
    }
    const lz_shape scalar = LZ_SCALAR;
    q->l.part = lz_build_param(q->l.f, lz_type_get(LZ_U32, &scalar));
    LZ_TRY(q->l.f->status);
    LZ_TRY(lz_part_walk(q));
    lz_val *out = lz_arena_alloc(q->arena, ((size_t)r->nresult + 1) * sizeof *out);
    if (!out)
        return LZ_FAIL(LZ_EMEM, "no memory to partition %s", r->name);
    q->now = LZ_NOVAL;
    for (uint32_t k = 0; k < r->nresult; k++) {
        q->now_result = k;
        out[k] = lz_part_want(q, r->results[k], result[k]);
    }
    LZ_TRY(q->l.f->status);
    return lz_func_set_results(q->l.f, out, r->nresult);
}

/* Region k of the instruction for one device; interned. NULL: the function has failed. */
static const lz_func *region(control *c, int k, const lz_sharding *const *result)
{
    const lz_func *r = lz_attr_region(c->in->sig->attr, k), *done = NULL;
    lz_partial q = *c->p;
    q.in = lz_arena_copy(q.notes, &(lz_shard_place){c->p->in, c->p->f, c->p->s, c->v, k},
                         sizeof *q.in);
    q.l.f = q.in ? lz_func_new(r->name) : NULL;
    lz_status s = q.l.f ? fill_region(c, &q, r, sub(c->p, c->v, k), result)
                        : LZ_FAIL(LZ_EMEM, "no memory to partition %s", r->name);
    lz_func *pruned = s == LZ_OK ? lz_func_prune(q.l.f) : NULL;
    if (pruned && lz_part_arrange(&pruned, q.notes) == LZ_OK &&
        lz_note_take(q.notes, pruned, q.in, &c->notes, &c->last)) {
        lz_note_lines(pruned, r);
        done = lz_region_intern(pruned);
    }
    lz_func_free(pruned);
    lz_func_free(q.l.f);
    if (!done)
        (void)lz_func_failed(c->p->l.f);
    return done;
}

static lz_status give_results(control *c, lz_val made)
{
    lz_note_regions(c->p, made, c->notes);
    for (uint32_t k = 0; k < c->nresult; k++)
        lz_part_give_result(c->p, c->v, k, c->result[k], lz_build_result(c->p->l.f, made, k));
    return c->p->l.f->status;
}

/* What is carried is where the body's parameters are, which are where its results are. */
lz_status lz_part_while(lz_partial *p, lz_val v)
{
    control c;
    LZ_TRY(begin(&c, p, v, 0));
    const lz_func *body = LZ_ATTR(loop, c.in->sig->attr)->body;
    for (uint32_t k = 0; k < c.nopnd; k++)
        c.opnd[k] = at_in(p, sub(p, v, 1), body, k);
    for (uint32_t k = 0; k < c.nresult; k++)
        c.result[k] = c.opnd[k];
    LZ_TRY(want_operands(&c));
    const lz_sharding *predicate = lz_part_replicated(p, 0);
    const lz_func *r0 = region(&c, 0, &predicate), *r1 = r0 ? region(&c, 1, c.result) : NULL;
    LZ_TRY(p->l.f->status);
    return give_results(&c, lz_build_while(p->l.f, r0, r1, c.local, c.nopnd + 1));
}

lz_status lz_part_if(lz_partial *p, lz_val v)
{
    control c;
    LZ_TRY(begin(&c, p, v, 1));
    const lz_func *branch = LZ_ATTR(branches, c.in->sig->attr)->true_branch;
    const lz_func *other = LZ_ATTR(branches, c.in->sig->attr)->false_branch;
    uint32_t *uses = lz_arena_alloc(p->arena, ((size_t)branch->ninst + 1) * sizeof *uses);
    if (!uses)
        return LZ_FAIL(LZ_EMEM, "no memory to partition %s", p->f->name);
    lz_func_use_counts(branch, uses);
    for (uint32_t k = 0; k < c.nopnd; k++)
        c.opnd[k] = uses[k] ? at_in(p, sub(p, v, 0), branch, k) : at_in(p, sub(p, v, 1), other, k);
    for (uint32_t k = 0; k < c.nresult; k++) {
        c.result[k] = lz_part_result_at(p, v, k);
        if (!c.result[k])
            c.result[k] = at_in(p, sub(p, v, 0), branch, branch->results[k]);
    }
    LZ_TRY(want_operands(&c));
    LZ_TRY(find_one(&c));
    const lz_func *r0 = region(&c, 0, c.result), *r1 = r0 ? region(&c, 1, c.result) : NULL;
    LZ_TRY(p->l.f->status);
    return give_results(&c, lz_build_if(p->l.f, r0, r1, c.local, c.nopnd + 2));
}
