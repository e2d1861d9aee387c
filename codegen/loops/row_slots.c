/* row_slots.c - back-to-back kernels, without LLVM: their GEMMs as kernels of their own, and the
 * allocation of row buffers: a row is stored in place over one that it is made of elementwise and
 * that is dead afterwards. A function of the kernel, for every schedule.
 * Threads: pure. */
#include "codegen/loops/kern.h"
#include "lower/loops/loop_impl.h"

/* Whether stage s reads row r of stage `from`. */
static bool reads_row(const lz_kernel *k, uint32_t s, uint32_t from, uint32_t r)
{
    const lz_stage *st = &k->stages[s];
    for (uint32_t i = 0; i < st->nsop; i++)
        if (st->sops[i].kind == LZ_S_ROW && (uint32_t)st->sops[i].a == from &&
            (uint32_t)st->sops[i].b == r)
            return true;
    return false;
}

bool kern_row_read_after(const lz_kernel *k, uint32_t s, uint32_t from, uint32_t r)
{
    for (uint32_t t = s + 1; t < k->nstage; t++)
        if (reads_row(k, t, from, r))
            return true;
    return false;
}

uint32_t kern_rows_of(const lz_stage *st)
{
    return lz_stage_is_row_dot(st) ? 1 : st->nrow;
}

/* A row that stage s reads last, as it makes its own, of the same size. */
static bool take_over(const lz_kernel *k, kern_slots *r, uint32_t s, unsigned es, bool *taken,
                      uint8_t *slot)
{
    for (uint32_t f = 0; f < s && !lz_stage_is_row_dot(&k->stages[s]); f++)
        for (uint32_t j = 0; j < kern_rows_of(&k->stages[f]); j++) {
            uint8_t x = r->of[f][j];
            if (taken[x] || r->es[x] != es || !reads_row(k, s, f, j) ||
                kern_row_read_after(k, s, f, j))
                continue;
            taken[x] = true;
            *slot = x;
            return true;
        }
    return false;
}

void kern_slots_of(const lz_kernel *k, kern_slots *r)
{
    r->n = 0;
    for (uint32_t s = 0; s < k->nstage; s++) {
        const lz_stage *st = &k->stages[s];
        bool taken[KERN_SLOTS] = {false};
        for (uint32_t j = 0; j < kern_rows_of(st); j++) {
            unsigned es = kern_row_esize(lz_row_dtype(k, (int32_t)s, (int32_t)j));
            if (take_over(k, r, s, es, taken, &r->of[s][j]))
                continue;
            r->es[r->n] = es;
            r->maker[r->n] = s;
            r->extent[r->n] = &st->extent[0];
            taken[r->n] = true;
            r->of[s][j] = (uint8_t)r->n++;
        }
    }
}

bool kern_read_later(const lz_kernel *k, uint32_t s, uint32_t acc, uint32_t from)
{
    for (uint32_t t = from; t < k->nstage; t++)
        for (uint32_t i = 0; i < k->stages[t].nsop; i++) {
            const lz_sop *p = &k->stages[t].sops[i];
            if (p->kind == LZ_S_RED && (uint32_t)p->a == s && (uint32_t)p->b == acc)
                return true;
        }
    return false;
}

const lz_sop *kern_product_view(const lz_kernel *k, uint32_t s, lz_kernel *view, lz_stage *stage)
{
    const lz_stage *st = &k->stages[s];
    const lz_sop *a = &st->sops[lz_converted_from(st, st->dot.a_sop)];
    *stage = *st;
    stage->ninner = 1;
    stage->extent[0] = st->extent[1];
    stage->dot.role = LZ_DOT_KERNEL; /* its loops have the same numbers there */
    *view = *k;
    view->outer[view->nouter++] = st->extent[0];
    view->nstage = 1;
    view->stages = stage;
    return a->kind == LZ_S_ROW ? a : NULL;
}
