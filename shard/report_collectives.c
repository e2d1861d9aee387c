/* report_collectives.c - what each collective of a partitioned function sends, and why it is there,
 * as text. See shard.h. Threads: pure. */
#include "ir/attr.h"
#include "ir/participants.h"
#include "shard/report.h"
#include <inttypes.h>

/* ---- what is sent ---- */

/* Factors along which two partitions differ. */
static uint32_t differ(const lz_mesh *m, int64_t a, int64_t b)
{
    uint32_t axes = 0;
    for (int k = 0; k < m->nfactor; k++)
        if (lz_mesh_coordinate(m, a, k) != lz_mesh_coordinate(m, b, k))
            axes |= UINT32_C(1) << k;
    return axes;
}

static void of_pairs(const lz_participants *x, const lz_mesh *m, lz_shard_traffic *out)
{
    out->group_size = 1;
    for (uint32_t p = 0; p < x->n; p++)
        if (x->from[p] != LZ_NO_PARTITION && x->from[p] != p) {
            out->axes |= differ(m, p, x->from[p]);
            out->group_size = 2;
        }
}

static void of_groups(const lz_participants *x, const lz_mesh *m, lz_shard_traffic *out)
{
    out->group_size = x->largest;
    for (uint32_t g = 0; g < x->ngroup; g++)
        for (uint32_t i = x->start[g]; i < x->start[g + 1]; i++)
            out->axes |= differ(m, x->member[x->start[g]], x->member[i]);
    out->exact = true;
    for (uint32_t g = 0; g < x->ngroup; g++)
        out->exact &= x->start[g + 1] - x->start[g] == lz_mesh_mask_size(m, out->axes);
}

lz_status lz_shard_traffic_of(const lz_sig *sig, const lz_mesh *mesh, lz_shard_traffic *out)
{
    lz_arena a = {0};
    lz_participants x;
    *out = (lz_shard_traffic){0};
    lz_status s = lz_participants_of(sig, mesh->ndevice, &a, &x);
    if (s == LZ_OK && sig->op == LZ_OP_COLLECTIVE_PERMUTE)
        of_pairs(&x, mesh, out);
    else if (s == LZ_OK)
        of_groups(&x, mesh, out);
    lz_collective_bytes(sig, &out->operand_bytes, &out->result_bytes);
    out->sent_bytes = lz_collective_sent(sig, out->group_size);
    lz_arena_free(&a);
    return s;
}

/* ---- marks ---- */

static void add_mark(const lz_shardings *s, lz_val v, lz_report_mark *out, int *n)
{
    const lz_shard_cause *c = s && s->cause && v != LZ_NOVAL ? &s->cause[v] : NULL;
    if (!c || c->mark == LZ_NOVAL || *n == LZ_REPORT_MARKS)
        return;
    for (int i = 0; i < *n; i++)
        if (out[i].s == c->where && out[i].at == c->mark)
            return;
    out[(*n)++] = (lz_report_mark){c->where, c->mark};
}

static void add_operands(const lz_shard_reason *r, lz_val v, lz_report_mark *out, int *n)
{
    for (uint32_t k = 0; v != LZ_NOVAL && k < r->f->insts[v].sig->nopnd; k++)
        add_mark(r->s, r->f->insts[v].opnd[k], out, n);
}

int lz_report_marks(const lz_shard_reason *r, lz_report_mark out[LZ_REPORT_MARKS])
{
    int n = 0;
    add_mark(r->s, r->value, out, &n);
    add_mark(r->s, r->mark, out, &n);
    add_mark(r->s, r->by, out, &n);
    if (r->need == LZ_NEED_RESULT)
        add_mark(r->s, r->f->results[r->result], out, &n);
    add_operands(r, r->sum, out, &n);
    add_operands(r, r->by, out, &n);
    for (const lz_shard_place *in = r->in; in && n == 0; in = in->outer)
        if (in->s && lz_inst_op(&in->f->insts[in->at]) == LZ_OP_MANUAL_COMPUTATION)
            out[n++] = (lz_report_mark){in->s, in->at};
    return n;
}

lz_val lz_report_marked_param(const lz_report_mark *m)
{
    const lz_inst *in = &m->s->f->insts[m->at];
    bool param = lz_inst_op(in) == LZ_OP_SHARDING_CONSTRAINT &&
                 lz_inst_op(&m->s->f->insts[in->opnd[0]]) == LZ_OP_PARAMETER;
    return param ? in->opnd[0] : LZ_NOVAL;
}

const lz_sharding *lz_report_mark_sharding(const lz_report_mark *m)
{
    const lz_inst *in = &m->s->f->insts[m->at];
    return lz_inst_op(in) == LZ_OP_SHARDING_CONSTRAINT
               ? lz_sharding_parse(LZ_ATTR(sharding, in->sig->attr)->sharding)
               : NULL;
}

static void print_mark(lz_buf *b, const lz_report_mark *m, const lz_shardings *here)
{
    const lz_inst *in = &m->s->f->insts[m->at];
    const lz_sharding *says = lz_report_mark_sharding(m);
    lz_val param = lz_report_marked_param(m);
    lz_buf_printf(b, "%%%u ", m->at);
    if (says)
        lz_report_dims(b, says);
    else
        lz_buf_puts(b, lz_op_get(in->sig->op)->text);
    if (param != LZ_NOVAL)
        lz_buf_printf(b, " of parameter %u", param);
    else if (in->sig->nopnd)
        lz_buf_printf(b, " of %%%u", in->opnd[0]);
    if (m->s != here)
        lz_buf_puts(b, " around it or in it");
    lz_report_site(b, in);
}

/* ---- causes ---- */

/* Regions from the outside in. They nest at most LZ_MAX_REGION_DEPTH deep. */
static void print_in(lz_buf *b, const lz_shard_place *in)
{
    if (!in)
        return;
    print_in(b, in->outer);
    lz_buf_printf(b, "in region %d of %%%u %s: ", in->region, in->at,
                  lz_op_get(in->f->insts[in->at].sig->op)->text);
}

static void print_wanted(lz_buf *b, const lz_shard_reason *r)
{
    lz_buf_puts(b, " wanted ");
    lz_report_dims(b, r->to);
    if (r->need == LZ_NEED_RESULT) {
        lz_buf_printf(b, " as result %u", r->result);
        return;
    }
    lz_buf_puts(b, " by ");
    lz_report_value(b, r->f, r->by);
    lz_report_site(b, &r->f->insts[r->by]);
}

static void print_reason(lz_buf *b, const lz_shard_reason *r)
{
    lz_report_mark marks[LZ_REPORT_MARKS];
    int n = lz_report_marks(r, marks);
    lz_buf_puts(b, "  ");
    print_in(b, r->in);
    if (r->need == LZ_NEED_ITSELF) {
        lz_report_value(b, r->f, r->by);
        lz_report_site(b, &r->f->insts[r->by]);
        bool own = lz_op_get(r->f->insts[r->by].sig->op)->cls == LZ_CLASS_COLLECTIVE;
        lz_buf_puts(b, own ? " is written so" : " reads or writes elements of other tiles");
    } else {
        lz_report_value(b, r->f, r->value);
        lz_report_site(b, &r->f->insts[r->value]);
        lz_buf_puts(b, " is ");
        lz_report_dims(b, r->from);
        if (r->sum != LZ_NOVAL) {
            lz_buf_printf(b, ", partial results of %%%u", r->sum);
            lz_report_site(b, &r->f->insts[r->sum]);
        }
        print_wanted(b, r);
    }
    lz_buf_puts(b, n ? "; marks: " : "; no mark is behind it");
    for (int i = 0; i < n; i++) {
        lz_buf_puts(b, i ? ", " : "");
        print_mark(b, &marks[i], r->s);
    }
    lz_buf_putc(b, '\n');
}

bool lz_report_in_loop(const lz_shard_place *in)
{
    for (; in; in = in->outer)
        if (lz_inst_op(&in->f->insts[in->at]) == LZ_OP_WHILE)
            return true;
    return false;
}

static void print_collective(lz_buf *b, const lz_shard_collective *c, uint32_t number,
                             const lz_mesh *mesh, const lz_shard_traffic *t)
{
    char type[160];
    lz_buf_printf(b, "#%u %s along ", number, lz_op_get(c->sig->op)->text);
    lz_report_axes(b, mesh, t->axes);
    lz_buf_printf(b, ", groups of %u:", t->group_size);
    for (uint32_t k = 0; k < c->sig->nopnd; k++)
        lz_buf_printf(b, "%s %s", k ? "," : "", lz_type_short(c->sig->opnd[k], type, sizeof type));
    lz_buf_printf(b, "; %" PRIu64 " bytes in, %" PRIu64 " out, %" PRIu64 " sent%s\n",
                  t->operand_bytes, t->result_bytes, t->sent_bytes,
                  lz_report_in_loop(c->in) ? " in each round of a loop" : "");
    for (const lz_shard_reason *r = c->why; r; r = r->next)
        print_reason(b, r);
}

typedef struct totals {
    uint64_t launches[LZ_OP_COUNT], bytes[LZ_OP_COUNT];
    bool loop;
} totals;

static void add_collective(totals *t, const lz_shard_collective *c, const lz_shard_traffic *sent)
{
    t->launches[c->sig->op]++;
    t->bytes[c->sig->op] += sent->sent_bytes;
    t->loop |= lz_report_in_loop(c->in);
}

static lz_status print_totals(lz_buf *b, const totals *t)
{
    uint64_t n = 0, all = 0;
    for (int op = 0; op < LZ_OP_COUNT; op++) {
        n += t->launches[op];
        all += t->bytes[op];
    }
    lz_buf_printf(b, "%" PRIu64 " collectives, %" PRIu64 " bytes sent by each device%s\n", n, all,
                  t->loop ? " (loops: one round)" : "");
    for (int op = 0; op < LZ_OP_COUNT; op++)
        if (t->launches[op])
            lz_buf_printf(b, "  %s: %" PRIu64 ", %" PRIu64 " bytes\n", lz_op_get((lz_op)op)->text,
                          t->launches[op], t->bytes[op]);
    return b->failed ? LZ_FAIL(LZ_EMEM, "no memory for a report of collectives") : LZ_OK;
}

lz_status lz_shard_report_collectives(const lz_partitioned *p, const lz_mesh *mesh, lz_buf *out)
{
    totals all = {0};
    uint32_t n = 0;
    for (const lz_shard_collective *c = p->collectives; c; c = c->next) {
        lz_shard_traffic t;
        LZ_TRY(lz_shard_traffic_of(c->sig, mesh, &t));
        print_collective(out, c, n++, mesh, &t);
        add_collective(&all, c, &t);
    }
    return print_totals(out, &all);
}

lz_status lz_shard_report_totals(const lz_partitioned *p, const lz_mesh *mesh, lz_buf *out)
{
    totals all = {0};
    for (const lz_shard_collective *c = p->collectives; c; c = c->next) {
        lz_shard_traffic t;
        LZ_TRY(lz_shard_traffic_of(c->sig, mesh, &t));
        add_collective(&all, c, &t);
    }
    return p->collectives ? print_totals(out, &all) : LZ_OK;
}
