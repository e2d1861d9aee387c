/* partition_manual.c - manual computations: their bodies say what every partition does along the
 * manual axes, so they are put into the local function as they are; along the other axes their
 * values are placed like all others. See partition.h. */
#include "ir/func.h"
#include "shard/partition.h"
#include <string.h>

typedef struct manual {
    lz_partial *p;
    const lz_inst *in;
    uint32_t axes;
    const lz_sharding **inside, **outside; /* of operands; of results: as the attribute has them */
    lz_partial body;
} manual;

/* Where a value is outside, if inside it is at `in`: in each dimension the manual axes first. */
static const lz_sharding *outside(const manual *m, const lz_sharding *border, const lz_sharding *in)
{
    lz_sharding s;
    lz_sharding_init(&s, m->p->l.mesh, border->rank, false);
    s.manual = m->p->manual;
    s.unreduced = border->unreduced & m->axes;
    s.reduction = s.unreduced ? border->reduction : LZ_OP_NONE;
    for (int d = 0; d < s.rank; d++) {
        for (int i = 0; i < border->dims[d].n; i++)
            if (m->axes >> border->dims[d].at[i] & 1)
                lz_axis_list_push(&s.dims[d], border->dims[d].at[i]);
        for (int i = 0; in && i < in->dims[d].n; i++)
            lz_axis_list_push(&s.dims[d], in->dims[d].at[i]);
    }
    return lz_sharding_get(&s);
}

/* The part of a placement along the axes that are not manual, as far as the tiles of a dimension
 * are even: others do not lie in those of the manual axes. */
static const lz_sharding *inside(const manual *m, const lz_sharding *at, const lz_shape *local)
{
    lz_sharding s;
    lz_sharding_init(&s, m->p->l.mesh, local->rank, false);
    s.manual = m->p->manual | m->axes;
    for (int d = 0; at && d < s.rank; d++)
        for (int i = 0; i < at->dims[d].n; i++) {
            lz_axis_list more = s.dims[d];
            if (m->axes >> at->dims[d].at[i] & 1)
                continue;
            lz_axis_list_push(&more, at->dims[d].at[i]);
            if (local->dims[d] % lz_axis_list_size(m->p->l.mesh, &more) == 0)
                s.dims[d] = more;
        }
    return lz_sharding_get(&s);
}

static lz_status give_operands(manual *m)
{
    for (uint32_t k = 0; k < m->in->sig->nopnd; k++) {
        lz_val v = m->in->opnd[k];
        const lz_shape *local = &lz_val_type(m->body.f, k)->shape;
        const lz_sharding *now = lz_part_at(m->p, v);
        const lz_sharding *in = inside(m, now ? now : lz_part_now(m->p, v), local);
        const lz_sharding *at = in ? outside(m, m->inside[k], in) : NULL;
        if (!at)
            return lz_error_get()->status;
        lz_part_give(&m->body, k, in, lz_part_want(m->p, v, at));
    }
    return m->p->l.f->status;
}

static lz_status take_results(manual *m, lz_val v)
{
    m->body.now = LZ_NOVAL;
    for (uint32_t k = 0; k < m->in->sig->nresult; k++) {
        m->body.now_result = k;
        lz_val r = m->body.f->results[k];
        const lz_shape *local = &lz_val_type(m->body.f, r)->shape;
        const lz_sharding *in = inside(m, lz_part_now(&m->body, r), local);
        const lz_sharding *at = in ? outside(m, m->outside[k], in) : NULL;
        if (!at)
            return lz_error_get()->status;
        lz_part_give_result(m->p, v, k, at, lz_part_want(&m->body, r, in));
    }
    return m->p->l.f->status;
}

lz_status lz_part_manual(lz_partial *p, lz_val v)
{
    manual m = {.p = p, .in = &p->f->insts[v], .body = *p};
    const lz_attr_manual *a = LZ_ATTR(manual, m.in->sig->attr);
    m.axes = (uint32_t)a->manual_axes;
    m.inside = lz_arena_alloc(p->arena, (m.in->sig->nopnd + 1) * sizeof *m.inside);
    m.outside = lz_arena_alloc(p->arena, (m.in->sig->nresult + 1) * sizeof *m.outside);
    if (!m.inside || !m.outside)
        return LZ_FAIL(LZ_EMEM, "no memory to partition %s", p->f->name);
    LZ_TRY(lz_shardings_parse(a->in_shardings, m.inside, m.in->sig->nopnd));
    LZ_TRY(lz_shardings_parse(a->out_shardings, m.outside, m.in->sig->nresult));
    m.body.manual |= m.axes;
    m.body.in =
        lz_arena_copy(p->notes, &(lz_shard_place){p->in, p->f, p->s, v, 0}, sizeof *m.body.in);
    if (!m.body.in)
        return LZ_FAIL(LZ_EMEM, "no memory to partition %s", p->f->name);
    LZ_TRY(lz_part_begin(&m.body, a->body, p->s && p->s->sub ? p->s->sub[2 * v] : NULL));
    LZ_TRY(give_operands(&m));
    LZ_TRY(lz_part_walk(&m.body));
    return take_results(&m, v);
}
