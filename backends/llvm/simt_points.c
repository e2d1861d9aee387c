/* simt_points.c - the schedules where a thread does whole points: any kernel, and serial ones.
 * Threads: belongs to one thread. */
#include "backends/llvm/simt_kern.h"

static void top(kern *c)
{
    static const kctx one = {.u = 1};
    for (uint32_t s = 0; s < c->k->nstage; s++) {
        kern_addresses(c, s, POS_TOP);
        kern_eval(c, s, POS_TOP, &one);
    }
}

static void point(kern *c)
{
    static const kctx one = {.u = 1};
    for (uint32_t s = 0; s < c->k->nstage; s++) {
        kern_addresses(c, s, POS_ROW);
        kern_eval(c, s, POS_ROW, &one);
    }
    for (uint32_t s = 0; s < c->k->nstage; s++)
        kern_stage(c, s, &one);
}

static Val outer_points(kern *c, Val *size, uint32_t n)
{
    em *e = c->e;
    Val m = em_c64(e, 1);
    for (uint32_t d = 0; d < n; d++) {
        size[d] = kern_size(c, c->k->outer[d]);
        m = MUL(m, size[d]);
    }
    return m;
}

void simt_emit_points(simt *s, kern *c)
{
    em *e = s->e;
    Val size[LZ_OUTER_MAX], n = outer_points(c, size, c->k->nouter);
    Val first = ADD(MUL(s->ctaid, s->ntid), s->tid), all = MUL(s->nctaid, s->ntid);
    top(c);
    em_loop l;
    em_loop_begin(e, &l, first, n, all, 0, NULL);
    simt_split(e, l.i, size, c->k->nouter, c->oidx);
    point(c);
    em_loop_end(e, &l, NULL);
}

/* Points in order. Where the indices of the last outer loop never meet, a thread takes some of them, at every point of the other
 * loops in order; a single thread then still does everything in order. */
void simt_emit_serial(simt *s, kern *c)
{
    em *e = s->e;
    uint32_t no = c->k->nouter, nrow = s->plan.apart ? no - 1 : no;
    Val size[LZ_OUTER_MAX], rows = outer_points(c, size, nrow);
    top(c);
    em_loop row, column;
    em_loop_begin(e, &row, em_c64(e, 0), rows, em_c64(e, 1), 0, NULL);
    simt_split(e, row.i, size, nrow, c->oidx);
    if (s->plan.apart) {
        em_loop_begin(e, &column, ADD(MUL(s->ctaid, s->ntid), s->tid),
                      kern_size(c, c->k->outer[no - 1]), MUL(s->nctaid, s->ntid), 0, NULL);
        c->oidx[no - 1] = column.i;
    }
    point(c);
    if (s->plan.apart)
        em_loop_end(e, &column, NULL);
    em_loop_end(e, &row, NULL);
}
