/* to_loops_reduce.c - elemental rules of reductions and dots: what is accumulated and how, and how
 * later stages read the result. reduction.h decides the combiner and the initial value.
 * Threads: as the emitter. */
#include "ir/window.h"
#include "lower/reduction.h"
#include "lower/loops/elemental.h"
#include <string.h>

/* ---- the accumulating stage ---- */

static lz_sop body_leaf(lz_sop_kind kind, uint32_t k, lz_dtype d)
{
    lz_sop s;
    memset(&s, 0, sizeof s);
    s.kind = kind;
    s.dtype = d;
    s.a = (int32_t)k;
    s.b = s.c = -1;
    s.size.slot = -1;
    return s;
}

/* Accumulator 0 says whether there is a value; the region runs when both sides have one. Backwards,
 * what is new comes before what is there. */
static lz_status region_body(lz_emit *e, const lz_inst *in, bool backwards, lz_red *r)
{
    uint32_t n = in->sig->nopnd / 2;
    lz_soplist l = {0};
    int32_t args[16], out[8], acc[8], elt[8];
    for (uint32_t k = 0; k <= n; k++) {
        lz_sop a = body_leaf(LZ_S_ACC, k, r->acc_dtype[k]),
               b = body_leaf(LZ_S_ELT, k, r->acc_dtype[k]);
        acc[k] = lz_sops_add(&l, &a);
        elt[k] = lz_sops_add(&l, &b);
        if (k > 0) {
            args[k - 1] = backwards ? elt[k] : acc[k];
            args[n + k - 1] = backwards ? acc[k] : elt[k];
        }
    }
    lz_status s = lz_emit_region(&l, lz_red_body(in), args, out);
    for (uint32_t k = 1; s == LZ_OK && k <= n; k++)
        r->body_out[k] =
            lz_sops_select(&l, acc[0], lz_sops_select(&l, elt[0], out[k - 1], acc[k]), elt[k]);
    r->body_out[0] = lz_sops_ew(&l, LZ_OP_OR, LZ_BOOL, acc[0], elt[0], -1, NULL);
    if (s == LZ_OK) {
        r->body = lz_arena_copy(e->arena, l.v.data, l.v.len * sizeof l.v.data[0]);
        r->nbody = l.v.len;
        if (!r->body || l.failed)
            s = LZ_FAIL(LZ_EMEM, "out of memory");
    }
    lz_sops_free(&l);
    return s;
}

static lz_status add(lz_emit *e, lz_red *r)
{
    r->node = e->sops.node;
    return lz_vec_push(&e->reds, *r);
}

static lz_status accumulate(lz_emit *e, lz_frame *f, const lz_inst *in, bool backwards)
{
    lz_red_plan p;
    lz_red_plan_of(e->f, f->v, &p);
    lz_red r;
    memset(&r, 0, sizeof r);
    r.comb = p.comb;
    r.nacc = 1;
    f->result = 0;
    if (p.comb != LZ_OP_NONE) {
        r.acc_dtype[0] = p.acc;
        r.value[0] = lz_sops_convert(&e->sops, f->want[0]->result, p.acc);
        r.init[0] = lz_sops_const(&e->sops, p.acc, p.init);
        return add(e, &r);
    }
    uint32_t n = in->sig->nopnd / 2;
    if (n + 1 > 8)
        return LZ_FAIL(LZ_EUNSUPPORTED, "%s: %u operands, at most 7 are supported",
                       lz_op_get(in->sig->op)->text, n);
    r.nacc = n + 1;
    r.acc_dtype[0] = LZ_BOOL;
    r.value[0] = lz_sops_const(&e->sops, LZ_BOOL, 1);
    r.init[0] = lz_sops_const(&e->sops, LZ_BOOL, 0);
    for (uint32_t k = 0; k < n; k++) {
        r.acc_dtype[k + 1] = in->sig->opnd[k]->dtype;
        r.value[k + 1] = f->want[k]->result;
        r.init[k + 1] = lz_sops_zero(&e->sops, r.acc_dtype[k + 1]);
    }
    LZ_TRY(region_body(e, in, backwards, &r));
    return add(e, &r);
}

lz_status lz_loops_reduce(lz_emit *e, lz_frame *f)
{
    const lz_inst *in = &e->f->insts[f->v];
    if (f->v != e->root)
        return lz_emit_stop_realise(e, f->v);
    if (f->step)
        return accumulate(e, f, in, false);
    const lz_attr_reduce *a = LZ_ATTR(reduce, in->sig->attr);
    lz_ixmap m;
    memset(&m, 0, sizeof m);
    m.rank = in->sig->opnd[0]->shape.rank;
    int kept = 0, inner = 0;
    for (int d = 0; d < m.rank; d++)
        m.d[d] = lz_ints_has(&a->dimensions, d) ? e->inner.d[inner++] : f->map.d[kept++];
    for (uint32_t k = 0; k < in->sig->nopnd / 2; k++)
        LZ_TRY(lz_emit_want(e, f, in->opnd[k], &m, -1));
    return LZ_OK;
}

/* Prefixes; what they are of is wanted where the map says, which goes backwards for suffixes. */
lz_status lz_loops_reduce_window(lz_emit *e, lz_frame *f)
{
    const lz_inst *in = &e->f->insts[f->v];
    bool suffix = false;
    if (lz_window_prefixes(LZ_ATTR(reduce_window, in->sig->attr), &in->sig->opnd[0]->shape,
                           &suffix) < 0)
        return LZ_FAIL(LZ_EUNSUPPORTED, "%s: must have been taken apart (pass `expand_windows`)",
                       lz_op_get(in->sig->op)->text);
    if (f->v != e->root)
        return lz_emit_stop_realise(e, f->v);
    if (f->step)
        return accumulate(e, f, in, suffix);
    for (uint32_t k = 0; k < in->sig->nopnd / 2; k++)
        LZ_TRY(lz_emit_want(e, f, in->opnd[k], &f->map, -1));
    return LZ_OK;
}

static void dot_operand_map(const lz_emit *e, const lz_frame *f, int rank, const lz_ints *batch,
                            const lz_ints *contract, int first_free, lz_ixmap *m)
{
    memset(m, 0, sizeof *m);
    m->rank = rank;
    int next = first_free;
    for (int d = 0; d < rank; d++) {
        int b = -1, c = -1;
        for (int i = 0; i < batch->n; i++)
            b = batch->v[i] == d ? i : b;
        for (int i = 0; i < contract->n; i++)
            c = contract->v[i] == d ? i : c;
        m->d[d] = b >= 0 ? f->map.d[b] : c >= 0 ? e->inner.d[c] : f->map.d[next++];
    }
}

lz_status lz_loops_dot_general(lz_emit *e, lz_frame *f)
{
    const lz_inst *in = &e->f->insts[f->v];
    const lz_attr_dot *a = LZ_ATTR(dot, in->sig->attr);
    if (f->v != e->root)
        return lz_emit_stop_realise(e, f->v);
    if (f->step == 0) {
        int lrank = in->sig->opnd[0]->shape.rank, rrank = in->sig->opnd[1]->shape.rank;
        int nb = a->lhs_batching_dimensions.n, lfree = lrank - nb - a->lhs_contracting_dimensions.n;
        lz_ixmap l, r;
        dot_operand_map(e, f, lrank, &a->lhs_batching_dimensions, &a->lhs_contracting_dimensions,
                        nb, &l);
        dot_operand_map(e, f, rrank, &a->rhs_batching_dimensions, &a->rhs_contracting_dimensions,
                        nb + lfree, &r);
        LZ_TRY(lz_emit_want(e, f, in->opnd[0], &l, -1));
        return lz_emit_want(e, f, in->opnd[1], &r, -1);
    }
    lz_red_plan p;
    lz_red_plan_of(e->f, f->v, &p);
    lz_red r;
    memset(&r, 0, sizeof r);
    e->dot_a = lz_sops_convert(&e->sops, f->want[0]->result, p.acc);
    e->dot_b = lz_sops_convert(&e->sops, f->want[1]->result, p.acc);
    r.comb = p.comb;
    r.nacc = 1;
    r.acc_dtype[0] = p.acc;
    r.value[0] = lz_sops_ew(&e->sops, LZ_OP_MULTIPLY, p.acc, e->dot_a, e->dot_b, -1, NULL);
    r.init[0] = lz_sops_const(&e->sops, p.acc, p.init);
    f->result = 0;
    return add(e, &r);
}

/* ---- reading results: in later stages, or where a scan stands ---- */

/* Accumulators from `acc` on of a stage. */
typedef struct accs {
    lz_sop_kind kind; /* LZ_S_RED, LZ_S_PREFIX */
    uint32_t stage, acc;
} accs;

static int32_t acc_sop(lz_emit *e, const accs *a, uint32_t k, lz_dtype d)
{
    lz_sop s = body_leaf(a->kind, a->stage, d);
    s.b = (int32_t)(a->acc + k);
    return lz_sops_add(&e->sops, &s);
}

/* Result k, of initial values init. */
static lz_status read_region(lz_emit *e, const lz_inst *in, const accs *a, const int32_t *init,
                             uint32_t k, int32_t *result)
{
    uint32_t n = in->sig->nopnd / 2;
    int32_t args[16], out[8];
    for (uint32_t i = 0; i < n; i++) {
        args[i] = init[i];
        args[n + i] = acc_sop(e, a, 1 + i, in->sig->opnd[i]->dtype);
    }
    LZ_TRY(lz_emit_region(&e->sops, lz_red_body(in), args, out));
    *result = lz_sops_select(&e->sops, acc_sop(e, a, 0, LZ_BOOL), out[k], args[k]);
    return LZ_OK;
}

static lz_status read_result(lz_emit *e, lz_val v, const accs *a, const int32_t *init, uint32_t k,
                             int32_t *result)
{
    const lz_inst *in = &e->f->insts[v];
    lz_red_plan p;
    lz_red_plan_of(e->f, v, &p);
    if (p.comb == LZ_OP_NONE)
        return read_region(e, in, a, init, k, result);
    int32_t r = acc_sop(e, a, 0, p.acc);
    if (p.fold)
        r = lz_sops_ew(&e->sops, p.comb, p.acc, lz_sops_convert(&e->sops, init[0], p.acc), r, -1,
                       NULL);
    *result = lz_sops_convert(&e->sops, r, in->sig->result[0]->dtype);
    return LZ_OK;
}

lz_status lz_emit_red_read(lz_emit *e, lz_frame *f, lz_val v, uint32_t k, uint32_t stage,
                           uint32_t acc)
{
    const lz_inst *in = &e->f->insts[v];
    accs a = {LZ_S_RED, stage, acc};
    int32_t init[8];
    lz_red_plan p;
    lz_red_plan_of(e->f, v, &p);
    f->leaf = true;
    if (p.fold && f->nwant == 0) {
        for (uint32_t i = 0; i < in->sig->nopnd / 2; i++)
            LZ_TRY(lz_emit_want_scalar(e, f, in->opnd[in->sig->nopnd / 2 + i]));
        return LZ_OK;
    }
    for (uint32_t i = 0; i < f->nwant; i++)
        init[i] = f->want[i]->result;
    return read_result(e, v, &a, init, k, &f->result);
}

lz_status lz_emit_prefix_read(lz_emit *e, lz_val v, uint32_t k, const int32_t *init,
                              int32_t *result)
{
    accs a = {LZ_S_PREFIX, 0, 0};
    return read_result(e, v, &a, init, k, result);
}
