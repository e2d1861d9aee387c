/* kernels_rows.c - row buffers: rows of a point that stages hand to later stages
 * (lower/loops/loop.h). Emits their loads and stores and, in kernels without GEMMs, allocates them:
 * a few pages that stay in the cache.
 * Threads: belongs to one thread. */
#include "codegen/loops/kern.h"
#include "lower/loops/loop_impl.h"

unsigned kern_row_esize(lz_dtype d)
{
    return d == LZ_F64 ? 8 : 4; /* 16-bit floats as f32 */
}

/* Vector u from `row` on. */
static Val row_at(kern *c, Val row, unsigned u, unsigned es)
{
    return u ? em_at(c->e, row, em_c64(c->e, (int64_t)u * c->lanes), es) : row;
}

Ev kern_row_get(kern *c, uint32_t s, const lz_sop *p, unsigned u)
{
    em *e = c->e;
    if (c->st[p->a].now[p->b].v)
        return c->st[p->a].now[p->b];
    unsigned es = kern_row_esize(p->dtype), n = c->st[s].vdim >= 0 ? c->lanes : 1;
    Val at = em_at(e, c->st[p->a].row[p->b], c->iidx[c->k->stages[s].ninner - 1], es);
    return (Ev){em_load(e, em_type(e, p->dtype, n), row_at(c, at, u, es), es), NULL};
}

void kern_row_put(kern *c, uint32_t s, const kctx *x)
{
    em *e = c->e;
    kstage *t = &c->st[s];
    for (uint32_t j = 0; j < t->s->nrow; j++) {
        int32_t v = t->s->row[j];
        unsigned es = kern_row_esize(t->s->sops[v].dtype);
        Val at = em_at(e, t->row[j], c->iidx[0], es);
        for (unsigned u = 0; u < x->u; u++) {
            Ev y = t->vdim >= 0 && c->lanes > 1 ? kern_vector(c, s, v, u) : kern_value(c, s, v, u);
            em_store(e, y.v, row_at(c, at, u, es), es);
        }
    }
}

/* Places one point's rows in the scratch memory (NULL: only to know their size, which is given).
 * The last vector of a row is written whole. */
static Val place(kern *c, Val scratch)
{
    em *e = c->e;
    Val at = em_c64(e, 0);
    for (uint32_t s = 0; s < c->k->nstage; s++) {
        const lz_stage *st = &c->k->stages[s];
        for (uint32_t j = 0; j < st->nrow; j++) {
            if (scratch)
                c->st[s].row[j] = em_at(e, scratch, at, 1);
            Val n = AND(ADD(kern_size(c, st->extent[0]), em_c64(e, 2 * EM_LANES - 1)),
                        em_c64(e, -EM_LANES));
            at = ADD(at, MUL(n, em_c64(e, kern_row_esize(st->sops[st->row[j]].dtype))));
        }
    }
    return at;
}

Val kern_rows_scratch(kern *c)
{
    return place(c, NULL);
}

void kern_rows_enter(kern *c, Val scratch)
{
    place(c, scratch);
}
