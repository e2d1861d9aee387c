/* simt_reduce_split.c - reductions that several blocks share: stage 0 of "rows" and "columns" where
 * it alone has loops. Its longest loop is divided into parts, each the work of a block (or warp) as
 * if it were the whole; it leaves its accumulators in scratch memory. A second function combines
 * them, some parts each thread, then the threads of a block in a fixed order, and runs the later
 * stages. Of "columns" a later stage may have loops, too (a variance after a mean): a function
 * between those two combines the parts of stage 0 in every block, runs the stages before that one
 * without their stores, and leaves that one's accumulators. The last function does these stores. In
 * scratch memory lie the accumulators one after the other, at multiples of SIMT_ACC; of each the
 * parts, and of each the points.
 * Threads: belongs to one thread. */
#include "codegen/gpu/simt_kern.h"
#include "lower/loops/loop_impl.h"

static bool sums_only(const lz_stage *st)
{
    return st->ninner && st->nred && !st->nstore && !st->sort;
}

/* Whether a stage up to `last` reads what one before it stores. */
static bool reads_stored(const lz_kernel *k, uint32_t last)
{
    for (uint32_t s = 0; s < last; s++)
        for (uint32_t j = 0; j < k->stages[s].nstore; j++)
            for (uint32_t t = 0; t <= last; t++)
                for (uint32_t i = 0; i < k->stages[t].nacc; i++)
                    if (k->stages[t].accs[i].buf == k->stages[s].stores[j].at.buf)
                        return true;
    return false;
}

int simt_divided_second(const lz_kernel *k)
{
    int second = 0;
    if (k->nstage == 0 || !sums_only(&k->stages[0]))
        return -1;
    for (uint32_t s = 1; s < k->nstage; s++) {
        if (k->stages[s].sort || (k->stages[s].ninner && (second || !sums_only(&k->stages[s]))))
            return -1;
        if (k->stages[s].ninner)
            second = (int)s;
    }
    return second && reads_stored(k, (uint32_t)second) ? -1 : second;
}

/* ---- which loop ---- */

/* Rows: the last loop is shared by their threads already. Both ways to say it must agree. */
static int64_t weight(int64_t extent, bool last, bool rows)
{
    return rows && last ? extent / SIMT_ROW_PIECE : extent;
}

int64_t simt_divided_loop(const lz_kernel *k, uint32_t s, const int64_t *args, bool rows)
{
    const lz_stage *st = &k->stages[s];
    int64_t most = 0;
    for (uint32_t j = 0; j < st->ninner; j++) {
        int64_t w = weight(lz_sz_value(st->extent[j], args), j + 1 == st->ninner, rows);
        most = w > most ? w : most;
    }
    return most;
}

void simt_range_of(kern *c, uint32_t s, bool rows, simt_range *r)
{
    em *e = c->e;
    const lz_stage *st = &c->k->stages[s];
    Val most = em_c64(e, -1);
    r->loop = em_c64(e, 0);
    r->extent = em_c64(e, 0);
    for (uint32_t j = 0; j < st->ninner; j++) {
        Val n = kern_size(c, st->extent[j]), w = n;
        if (rows && j + 1 == st->ninner)
            w = LLVMBuildSDiv(e->b, n, em_c64(e, SIMT_ROW_PIECE), "");
        Val more = ICMP(SGT, w, most);
        most = SEL(more, w, most);
        r->loop = SEL(more, em_c64(e, j), r->loop);
        r->extent = SEL(more, n, r->extent);
    }
}

/* ---- parts ---- */

static Val rounded_up(em *e, Val n, int64_t by)
{
    return AND(ADD(n, em_c64(e, by - 1)), em_c64(e, -by));
}

/* Bytes of accumulator k of a stage. */
static Val bytes(kern *c, uint32_t stage, uint32_t k, Val n)
{
    em *e = c->e;
    return MUL(n, em_c64(e, simt_acc_bytes(kern_acc_dtype(c, stage, k))));
}

/* Where accumulator k of a stage of a part and point lies: that of stage 0, then that of the other
 * one. */
static Val place(simt *s, kern *c, uint32_t stage, uint32_t k, Val parts, Val npoint, Val part,
                 Val point)
{
    em *e = c->e;
    Val at = em_c64(e, 0), all = MUL(parts, npoint);
    for (uint32_t i = 0; stage && i < c->st[0].nacc; i++)
        at = ADD(at, rounded_up(e, bytes(c, 0, i, all), SIMT_ACC));
    for (uint32_t i = 0; i < k; i++)
        at = ADD(at, rounded_up(e, bytes(c, stage, i, all), SIMT_ACC));
    at = ADD(at, bytes(c, stage, k, ADD(MUL(part, npoint), point)));
    return em_at(e, s->scratch, at, 1);
}

uint64_t simt_divided_scratch(const lz_kernel *k, int64_t parts, int64_t npoint)
{
    int64_t sum = 0, all = simt_times(parts, npoint);
    for (uint32_t s = 0; s < k->nstage; s++)
        for (uint32_t r = 0; r < k->stages[s].nred && k->stages[s].ninner; r++)
            for (uint32_t i = 0; i < k->stages[s].reds[r].nacc; i++) {
                int64_t n = simt_times(all, simt_acc_bytes(k->stages[s].reds[r].acc_dtype[i]));
                if (n > INT64_MAX / 64 || sum > INT64_MAX / 64)
                    return UINT64_MAX;
                sum += simt_times(simt_ceil_div(n, SIMT_ACC), SIMT_ACC);
            }
    return (uint64_t)sum;
}

void simt_parts_put(simt *s, kern *c, uint32_t stage, Val parts, Val npoint, Val part, Val point,
                    Val mine)
{
    em *e = s->e;
    em_if f;
    em_if_begin(e, &f, mine);
    for (uint32_t k = 0; k < c->st[stage].nacc; k++)
        simt_acc_put(s, c->st[stage].red[k][0], place(s, c, stage, k, parts, npoint, part, point));
    em_if_end(e, &f, 0, NULL, NULL, NULL);
}

/* This thread's parts of a point: those of its group, and those by `groups` further. */
static void add_parts(simt_reduce_col *w, kern *c, uint32_t stage, Val npoint, Val point, Ev *acc)
{
    em *e = c->e;
    simt *s = w->s;
    const lz_stage *st = &c->k->stages[stage];
    uint32_t nacc = c->st[stage].nacc;
    Val flat[EM_PHI];
    em_loop l;
    int n = simt_accs_flat(acc, nacc, flat);
    em_loop_begin(e, &l, w->group, w->parts, w->groups, n, flat);
    simt_accs_from_flat(acc, nacc, l.phi);
    for (uint32_t r = 0, k0 = 0; r < st->nred; k0 += st->reds[r++].nacc) {
        Ev elt[8], out[8];
        const lz_red *q = &st->reds[r];
        for (uint32_t k = 0; k < q->nacc; k++)
            elt[k] = simt_acc_get(s, q->acc_dtype[k], c->lanes,
                                  place(s, c, stage, k0 + k, w->parts, npoint, l.i, point));
        kern_merge(c, q, acc + k0, elt, q->acc_dtype, out);
        for (uint32_t k = 0; k < q->nacc; k++)
            acc[k0 + k] = out[k];
    }
    (void)simt_accs_flat(acc, nacc, flat);
    em_loop_end(e, &l, flat);
    simt_accs_from_flat(acc, nacc, l.phi);
}

void simt_parts_join(simt_reduce_col *w, kern *c, uint32_t stage, Val npoint, Val point)
{
    static const kctx one = {.u = 1};
    kern_accs a = {.u = 1};
    Ev acc[KERN_ACCS];
    kern_addresses(c, stage, POS_POINT);
    kern_eval(c, stage, POS_POINT, &one);
    kern_accs_start(c, stage, &a);
    for (uint32_t i = 0; i < a.n; i++)
        acc[i] = a.v[i][0];
    add_parts(w, c, stage, npoint, point, acc);
    c->spread_join(c, stage, acc, a.n);
    for (uint32_t i = 0; i < a.n; i++)
        c->st[stage].red[i][0] = acc[i];
}

/* ---- the last function ---- */

void simt_emit_divided(simt *s, kern *c)
{
    static const kctx one = {.u = 1};
    em *e = s->e;
    const lz_kernel *k = c->k;
    Val size[LZ_OUTER_MAX], n = em_c64(e, 1), log2 = em_c64(e, SIMT_LOG2_GROUPS);
    simt_reduce_col w = {.s = s, .log2 = log2};
    w.parts = AND(s->share, em_c64(e, UINT32_MAX));
    for (uint32_t d = 0; d < k->nouter; d++)
        n = MUL(n, size[d] = kern_size(c, k->outer[d]));
    simt_reduce_col_enter(&w, c);
    kern_top(c, 0);
    em_loop l;
    em_loop_begin(e, &l, s->ctaid, LSHR(ADD(n, SUB(w.wide, em_c64(e, 1))), w.log2_wide), s->nctaid,
                  0, NULL);
    simt_reduce_col_point(&w, c, l.i, n);
    simt_split(e, w.point, size, k->nouter, c->oidx);
    for (uint32_t i = 0; i < k->nstage; i++) {
        kern_addresses(c, i, POS_ROW);
        kern_eval(c, i, POS_ROW, &one);
    }
    for (uint32_t i = 0; i < k->nstage; i++) {
        if (k->stages[i].ninner)
            simt_parts_join(&w, c, i, n, w.point);
        else
            kern_stage(c, i, &one);
    }
    em_loop_end(e, &l, NULL);
}

void simt_divided_dims(const lz_kernel *k, int64_t parts, int64_t npoint, int64_t most,
                       lz_simt_dims *out)
{
    int64_t blocks = simt_ceil_div(npoint, SIMT_POINTS_THREADS >> SIMT_LOG2_GROUPS);
    out->scratch = simt_divided_scratch(k, parts, npoint);
    out->nlaunch = 1;
    if (simt_divided_second(k) > 0) {
        out->launch[out->nlaunch] = out->launch[0];
        out->launch[out->nlaunch++].entry = SIMT_SECOND;
    }
    out->launch[out->nlaunch++] =
        (lz_simt_launch){.entry = SIMT_FINISH,
                         .grid = (uint32_t)(blocks < most ? blocks : most),
                         .block = SIMT_POINTS_THREADS,
                         .shared = simt_reduce_col_shared(k, 1)};
}
