/* simt_elementwise.c - GPU schedules where a thread does whole points: elementwise (any kernel) and
 * serial.
 * Threads: belongs to one thread. */
#include "codegen/gpu/simt_kern.h"
#include <string.h>

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

/* Points of the last loop in vectors where they are aligned, and what is left of a row singly. */
static void emit_vectors(simt *s, kern *c, kern *many)
{
    em *e = c->e;
    uint32_t last = c->k->nouter - 1;
    Val size[LZ_OUTER_MAX], aligned = em_true(e, 1), n = em_c64(e, 1), one = em_c64(e, 1);
    kern_share(many, c);
    kern_top(c, 0);
    kern_top(many, 0);
    for (uint32_t i = 0; i < c->k->nstage; i++)
        aligned = AND(aligned, simt_vectors_aligned(many, i));
    Val lanes = em_c64(e, many->lanes), step = SEL(aligned, lanes, one), extent;
    outer_points(c, size, c->k->nouter);
    extent = size[last];
    size[last] = LLVMBuildUDiv(e->b, ADD(extent, SUB(step, one)), step, "");
    for (uint32_t d = 0; d <= last; d++)
        n = MUL(n, size[d]);
    em_loop l, rest;
    em_ifelse whole;
    em_loop_begin(e, &l, ADD(MUL(s->ctaid, s->ntid), s->tid), n, MUL(s->nctaid, s->ntid), 0, NULL);
    simt_split(e, l.i, size, last + 1, c->oidx);
    Val at = MUL(c->oidx[last], step), end = em_smin(e, ADD(at, step), extent);
    memcpy(many->oidx, c->oidx, sizeof c->oidx);
    em_ifelse_begin(e, &whole, AND(aligned, ICMP(EQ, SUB(end, at), lanes)));
    many->oidx[last] = at;
    point(many);
    em_ifelse_else(e, &whole);
    em_loop_begin(e, &rest, at, end, one, 0, NULL);
    c->oidx[last] = rest.i;
    point(c);
    em_loop_end(e, &rest, NULL);
    em_ifelse_end(e, &whole, 0, NULL, NULL, NULL);
    em_loop_end(e, &l, NULL);
}

void simt_elementwise_body(simt *s, kern *c, kern *many)
{
    em *e = c->e;
    if (many) {
        emit_vectors(s, c, many);
        return;
    }
    Val size[LZ_OUTER_MAX], n = outer_points(c, size, c->k->nouter);
    Val first = ADD(MUL(s->ctaid, s->ntid), s->tid), all = MUL(s->nctaid, s->ntid);
    kern_top(c, 0);
    em_loop l;
    em_loop_begin(e, &l, first, n, all, 0, NULL);
    simt_split(e, l.i, size, c->k->nouter, c->oidx);
    point(c);
    em_loop_end(e, &l, NULL);
}

/* Points in order. Where the indices of the last outer loop never meet, a thread takes some of
 * them, at every point of the other loops in order; a single thread then still does everything in
 * order. */
void simt_serial_body(simt *s, kern *c)
{
    em *e = s->e;
    uint32_t no = c->k->nouter, nrow = s->plan.apart ? no - 1 : no;
    Val size[LZ_OUTER_MAX], rows = outer_points(c, size, nrow);
    kern_top(c, 0);
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
