/* dot_epilogue.c - GEMM on a CPU: the epilogue. Runs the kernel's later stages on the rows of a
 * finished tile, and prefetches what they read and write while the tile is multiplied.
 * Threads: belongs to one thread. */
#include "codegen/dot/dot.h"
#include <string.h>

/* Operations a vector up to which several are interleaved: what counts, tests and masks takes
 * as long as so many. */
enum { LITTLE_WORK = 10 };

static bool is_little(const kern *f)
{
    unsigned work = 0;
    for (uint32_t s = 1; s < f->k->nstage; s++) {
        if (f->k->stages[s].ninner)
            return false;
        work += kern_stage_work(f, s);
    }
    return work <= LITTLE_WORK;
}

/* The stages on u vectors from vector `at` on, whose sums begin at p. */
static void finish_vectors(kern *f, uint32_t n, Val at, Val p, kctx *x)
{
    em *e = f->e;
    lz_dtype d = kern_acc_dtype(f, 0, 0);
    unsigned L = f->lanes, es = (unsigned)em_esize(d);
    f->oidx[n] = MUL(at, em_c64(e, L));
    for (unsigned u = 0; u < x->u; u++)
        f->st[0].red[0][u] = (Ev){
            em_load(e, em_type(e, d, L), em_at(e, p, em_c64(e, u), (int64_t)L * es), es), NULL};
    for (uint32_t s = 1; s < f->k->nstage; s++)
        kern_stage(f, s, x);
}

/* The last vector may be partly there. */
static void finish_each(kern *f, uint32_t n, Val N, Val row, Val v, Val past)
{
    em *e = f->e;
    em_loop l;
    int64_t vb = (int64_t)f->lanes * em_esize(kern_acc_dtype(f, 0, 0));
    em_loop_begin(e, &l, v, past, em_c64(e, 1), 0, NULL);
    Val left = SUB(N, MUL(l.i, em_c64(e, f->lanes)));
    kctx x = {.u = 1, .mask = {em_tail_mask(e, left, f->lanes)}};
    finish_vectors(f, n, l.i, em_at(e, row, SUB(l.i, v), vb), &x);
    em_loop_end(e, &l, NULL);
}

/* All of a panel's vectors are there: `nv` of them, or as many as a narrow one has. */
static void finish_panel(kern *f, uint32_t n, Val row, Val v, Val past, const dot_panel *w)
{
    em *e = f->e;
    int64_t vb = (int64_t)f->lanes * em_esize(kern_acc_dtype(f, 0, 0));
    kctx x = {.u = w->nv_small};
    em_if more;
    finish_vectors(f, n, v, row, &x);
    x.u = w->nv - w->nv_small;
    if (!x.u)
        return;
    Val rest = em_c64(e, w->nv_small);
    em_if_begin(e, &more, ICMP(SGT, SUB(past, v), rest));
    finish_vectors(f, n, ADD(v, rest), em_at(e, row, rest, vb), &x);
    em_if_end(e, &more, 0, NULL, NULL, NULL);
}

void dot_epilogue_row(kern *f, uint32_t n, Val N, Val row, Val v, Val past, const dot_panel *w)
{
    em *e = f->e;
    kctx one = {.u = 1};
    for (uint32_t s = 1; s < f->k->nstage; s++) {
        kern_addresses(f, s, POS_ROW);
        kern_eval(f, s, POS_ROW, &one);
    }
    if (!w || w->nv > KERN_U || w->nv_small > w->nv || !is_little(f)) {
        finish_each(f, n, N, row, v, past);
        return;
    }
    Val wide = ICMP(EQ, SUB(past, v), em_c64(e, w->nv)),
        narrow = ICMP(EQ, SUB(past, v), em_c64(e, w->nv_small));
    Val full = AND(OR(wide, narrow), ICMP(SLE, MUL(past, em_c64(e, f->lanes)), N));
    em_ifelse s;
    em_ifelse_begin(e, &s, full);
    finish_panel(f, n, row, v, past, w);
    em_ifelse_else(e, &s);
    finish_each(f, n, N, row, v, past);
    em_ifelse_end(e, &s, 0, NULL, NULL, NULL);
}

/* Side by side along the columns, and other elements in other rows. */
static bool lies_in_rows(const kern *f, uint32_t n, const lz_access *a)
{
    bool other = false;
    for (uint32_t d = 0; d < f->k->nouter; d++)
        other |= d != n && !lz_sz_is(a->stride[d], 0);
    return other && a->ndyn == 0 && a->guard < 0 && lz_sz_is(a->stride[n], 1);
}

/* The accesses of stage s that are fetched, a bit each: one of each buffer, and none for what is
 * stored in an operand's place. */
static uint64_t to_fetch(const kern *f, uint32_t n, uint32_t s, uint64_t *seen)
{
    const lz_stage *t = &f->k->stages[s];
    uint64_t which = 0;
    if (t->ninner || t->nacc + t->nstore > 64)
        return 0;
    for (uint32_t i = 0; i < t->nacc + t->nstore; i++) {
        const lz_access *a = i < t->nacc ? &t->accs[i] : &t->stores[i - t->nacc].at;
        int32_t place = f->k->buf[a->buf].inplace_with;
        uint64_t bufs = (uint64_t)1 << a->buf | (place >= 0 ? (uint64_t)1 << place : 0);
        if ((*seen & bufs) || !lies_in_rows(f, n, a))
            continue;
        *seen |= bufs;
        which |= (uint64_t)1 << i;
    }
    return which;
}

bool dot_prefetches_rows(const kern *f, uint32_t n)
{
    uint64_t seen = 0;
    for (uint32_t s = 1; s < f->k->nstage; s++)
        if (to_fetch(f, n, s, &seen))
            return true;
    return false;
}

void dot_prefetch_row(kern *f, uint32_t n, Val v, unsigned nv)
{
    em *e = f->e;
    enum { LINE = 64 };
    uint64_t seen = 0;
    for (uint32_t s = 1; s < f->k->nstage; s++) {
        const lz_stage *t = &f->k->stages[s];
        uint64_t which = to_fetch(f, n, s, &seen);
        if (!which)
            continue;
        kern_addresses(f, s, POS_ROW);
        for (uint32_t i = 0; i < t->nacc + t->nstore; i++) {
            if (!(which >> i & 1))
                continue;
            const lz_access *a = i < t->nacc ? &t->accs[i] : &t->stores[i - t->nacc].at;
            int64_t nbytes = (int64_t)f->lanes * em_esize(f->k->buf[a->buf].dtype);
            Val at = em_at(e, f->st[s].ptr[POS_ROW][i], v, nbytes);
            for (int64_t b = 0; b < nbytes * nv; b += LINE)
                em_prefetch(e, em_at(e, at, em_c64(e, b), 1), i >= t->nacc, 3);
            if (nbytes % LINE) /* it may end in a line more */
                em_prefetch(e, em_at(e, at, em_c64(e, nbytes * nv - 1), 1), i >= t->nacc, 3);
        }
    }
}
