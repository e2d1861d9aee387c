/* simt_divide.c - reductions that several blocks share: stage 0 of "rows" and "columns" where it alone has loops. Its longest loop is divided into
 * parts, each the work of a block (or warp) as if it were the whole; it leaves its accumulators in scratch memory. A second function combines
 * them, some parts each thread, then the threads of a block in a fixed order, and runs the later stages.
 * In scratch memory lie the accumulators one after the other, at multiples of SIMT_ACC; of each the parts, and of each the points.
 * Threads: belongs to one thread. */
#include "backends/llvm/simt_kern.h"
#include "lower/loop_impl.h"

bool simt_divides(const lz_kernel *k)
{
    if (k->nstage == 0 || k->stages[0].ninner == 0 || k->stages[0].nred == 0 ||
        k->stages[0].nstore || k->stages[0].sort)
        return false;
    for (uint32_t s = 1; s < k->nstage; s++)
        if (k->stages[s].ninner || k->stages[s].sort)
            return false;
    return true;
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

/* Where accumulator k of stage 0 of a part and point lies. */
static Val place(simt *s, kern *c, uint32_t k, Val parts, Val npoint, Val part, Val point)
{
    em *e = c->e;
    Val at = em_c64(e, 0), all = MUL(parts, npoint);
    for (uint32_t i = 0; i < k; i++)
        at = ADD(at, rounded_up(e, MUL(all, em_c64(e, simt_acc_bytes(kern_acc_dtype(c, 0, i)))),
                                SIMT_ACC));
    Val index = ADD(MUL(part, npoint), point);
    at = ADD(at, MUL(index, em_c64(e, simt_acc_bytes(kern_acc_dtype(c, 0, k)))));
    return em_at(e, s->scratch, at, 1);
}

uint64_t simt_divided_scratch(const lz_kernel *k, int64_t parts, int64_t npoint)
{
    const lz_stage *st = &k->stages[0];
    int64_t sum = 0, all = simt_times(parts, npoint);
    for (uint32_t r = 0; r < st->nred; r++)
        for (uint32_t i = 0; i < st->reds[r].nacc; i++) {
            int64_t n = simt_times(all, simt_acc_bytes(st->reds[r].acc_dtype[i]));
            if (n > INT64_MAX / 64 || sum > INT64_MAX / 64)
                return UINT64_MAX;
            sum += simt_times(simt_ceil_div(n, SIMT_ACC), SIMT_ACC);
        }
    return (uint64_t)sum;
}

void simt_parts_put(simt *s, kern *c, Val parts, Val npoint, Val part, Val point, Val mine)
{
    em *e = s->e;
    em_if f;
    em_if_begin(e, &f, mine);
    for (uint32_t k = 0; k < c->st[0].nacc; k++)
        simt_acc_put(s, c->st[0].red[k][0], place(s, c, k, parts, npoint, part, point));
    em_if_end(e, &f, 0, NULL, NULL, NULL);
}

/* This thread's parts of a point: `group`, and those by `groups` further. */
static void add_parts(simt *s, kern *c, Val npoint, Val point, Val group, Val groups, kern_accs *a)
{
    em *e = s->e;
    const lz_stage *st = &c->k->stages[0];
    Ev acc[KERN_ACCS];
    Val flat[EM_PHI];
    em_loop l;
    for (uint32_t k = 0; k < a->n; k++)
        acc[k] = a->v[k][0];
    int n = simt_accs_flat(acc, a->n, flat);
    em_loop_begin(e, &l, group, s->share, groups, n, flat);
    simt_accs_from_flat(acc, a->n, l.phi);
    for (uint32_t r = 0, k0 = 0; r < st->nred; k0 += st->reds[r++].nacc) {
        Ev elt[8], out[8];
        const lz_red *q = &st->reds[r];
        for (uint32_t k = 0; k < q->nacc; k++)
            elt[k] = simt_acc_get(s, q->acc_dtype[k], 1,
                                  place(s, c, k0 + k, s->share, npoint, l.i, point));
        kern_merge(c, q, acc + k0, elt, q->acc_dtype, out);
        for (uint32_t k = 0; k < q->nacc; k++)
            acc[k0 + k] = out[k];
    }
    (void)simt_accs_flat(acc, a->n, flat);
    em_loop_end(e, &l, flat);
    simt_accs_from_flat(acc, a->n, l.phi);
    for (uint32_t k = 0; k < a->n; k++)
        a->v[k][0] = acc[k];
}

/* ---- the second function ---- */

void simt_emit_divided(simt *s, kern *c)
{
    static const kctx one = {.u = 1};
    em *e = s->e;
    const lz_kernel *k = c->k;
    Val size[LZ_OUTER_MAX], n = em_c64(e, 1), log2 = em_c64(e, SIMT_LOG2_GROUPS);
    simt_columns w = {.s = s, .log2 = log2};
    s->share = AND(s->share, em_c64(e, UINT32_MAX));
    for (uint32_t d = 0; d < k->nouter; d++)
        n = MUL(n, size[d] = kern_size(c, k->outer[d]));
    simt_columns_enter(&w, c);
    kern_top(c, 0);
    em_loop l;
    em_loop_begin(e, &l, s->ctaid, LSHR(ADD(n, SUB(w.wide, em_c64(e, 1))), w.log2_wide), s->nctaid,
                  0, NULL);
    simt_columns_point(&w, c, l.i, n);
    simt_split(e, w.point, size, k->nouter, c->oidx);
    for (uint32_t i = 0; i < k->nstage; i++) {
        kern_addresses(c, i, POS_ROW);
        kern_eval(c, i, POS_ROW, &one);
    }
    kern_accs a = {.u = 1};
    Ev acc[KERN_ACCS];
    kern_addresses(c, 0, POS_POINT);
    kern_eval(c, 0, POS_POINT, &one);
    kern_accs_start(c, 0, &a);
    add_parts(s, c, n, w.point, w.group, w.groups, &a);
    for (uint32_t i = 0; i < a.n; i++)
        acc[i] = a.v[i][0];
    c->spread_join(c, 0, acc, a.n);
    for (uint32_t i = 0; i < a.n; i++)
        c->st[0].red[i][0] = acc[i];
    for (uint32_t i = 1; i < k->nstage; i++)
        kern_stage(c, i, &one);
    em_loop_end(e, &l, NULL);
}

void simt_divided_dims(const lz_kernel *k, int64_t parts, int64_t npoint, int64_t most,
                       lz_simt_dims *out)
{
    int64_t blocks = simt_ceil_div(npoint, SIMT_POINTS_THREADS >> SIMT_LOG2_GROUPS);
    out->scratch = simt_divided_scratch(k, parts, npoint);
    out->nlaunch = 2;
    out->launch[1] = (lz_simt_launch){.entry = SIMT_FINISH,
                                      .grid = (uint32_t)(blocks < most ? blocks : most),
                                      .block = SIMT_POINTS_THREADS,
                                      .shared = simt_columns_shared(k, 1)};
}
