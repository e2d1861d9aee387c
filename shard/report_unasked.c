/* report_unasked.c - what a partitioned program has on every device though no mark says so: large
 * arguments without a mark, and values that are gathered because the marks around them do not fit
 * together. What a step takes over may be cut along the axes of the batch, and is then gathered
 * when it is needed: that is what fully sharded training asks for. See shard.h. Threads: pure. */
#include "ir/attr.h"
#include "shard/report.h"
#include "base/alloc.h"
#include <inttypes.h>

typedef struct finder {
    const lz_func *f;
    const lz_mesh *mesh;
    const lz_partitioned *p;
    const bool *is_state;
    uint64_t least;
    uint32_t batch; /* axes along which arguments are cut that the step does not take over */
    uint32_t n;
    uint64_t bytes, largest; /* of all, of the one that is told */
    lz_buf *out;
} finder;

/* More than this is told of: of any program, and of a small one, of which it is a tenth. */
enum { LARGE = 1 << 20, SMALL = 1 << 16, TENTH = 10 };

static uint64_t least_of(uint64_t memory)
{
    uint64_t tenth = memory / TENTH > SMALL ? memory / TENTH : SMALL;
    return tenth < LARGE ? tenth : LARGE;
}

static bool is_state(const finder *x, uint32_t i)
{
    return x->is_state && x->is_state[i];
}

/* The same elements, elsewhere or of another dtype. */
static bool only_passes(lz_op op)
{
    return op == LZ_OP_SHARDING_CONSTRAINT || op == LZ_OP_CONVERT || op == LZ_OP_RESHAPE ||
           op == LZ_OP_TRANSPOSE || op == LZ_OP_OPTIMIZATION_BARRIER;
}

static lz_val source_of(const lz_func *f, lz_val v)
{
    while (f->insts[v].sig->nopnd == 1 && only_passes(f->insts[v].sig->op))
        v = f->insts[v].opnd[0];
    return v;
}

/* Whether it is the one to be told of. */
static bool count(finder *x, uint64_t nbytes)
{
    x->n++;
    x->bytes += nbytes;
    if (nbytes <= x->largest)
        return false;
    x->largest = nbytes;
    x->out->len = 0;
    return true;
}

/* ---- arguments ---- */

static void note_marks(const lz_func *f, bool *marked)
{
    for (lz_val v = f->nparam; v < f->ninst; v++)
        if (f->insts[v].sig->op == LZ_OP_SHARDING_CONSTRAINT)
            marked[f->insts[v].opnd[0]] = true;
}

static void find_arguments(finder *x, const bool *marked)
{
    for (uint32_t i = 0; i < x->f->nparam; i++) {
        uint64_t nbytes = lz_val_type(x->f, i)->nbytes;
        if (is_state(x, i) || marked[i] || nbytes <= x->least ||
            !lz_sharding_is_replicated(x->p->in[i]) || !count(x, nbytes))
            continue;
        lz_report_value(x->out, x->f, i);
        lz_report_site(x->out, &x->f->insts[i]);
        lz_buf_printf(
            x->out, ", %" PRIu64 " bytes, has no mark and is whole on each of %" PRId64 " devices",
            nbytes, x->mesh->ndevice);
    }
}

/* ---- gathered values ---- */

/* By a mark at the place itself, or as what is fully sharded is. */
static bool asked(const finder *x, const lz_shard_reason *r, uint32_t axes)
{
    if (r->need == LZ_NEED_ITSELF || r->value == LZ_NOVAL)
        return true;
    lz_val by = r->need == LZ_NEED_RESULT ? r->f->results[r->result] : r->by;
    if (r->f->insts[by].sig->op == LZ_OP_SHARDING_CONSTRAINT || r->mark != LZ_NOVAL)
        return true;
    if (r->need == LZ_NEED_RESULT || r->f != x->f)
        return r->need == LZ_NEED_RESULT;
    lz_val of = source_of(r->f, r->value);
    return of < x->f->nparam && is_state(x, of) && !(axes & ~x->batch);
}

static void tell_gathered(finder *x, const lz_shard_reason *r, uint64_t nbytes)
{
    lz_report_mark marks[LZ_REPORT_MARKS];
    int n = lz_report_marks(r, marks);
    lz_report_value(x->out, r->f, r->value);
    lz_report_site(x->out, &r->f->insts[r->value]);
    lz_buf_puts(x->out, " is ");
    lz_report_dims(x->out, r->from);
    lz_buf_printf(x->out, ", and each device gathers %" PRIu64 " bytes of it for ", nbytes);
    lz_report_value(x->out, r->f, r->by);
    lz_report_site(x->out, &r->f->insts[r->by]);
    for (int i = 0; i < n && i < 2; i++) { /* the nearest */
        const lz_sharding *says = lz_report_mark_sharding(&marks[i]);
        lz_buf_puts(x->out, i ? ", " : "; marks: ");
        lz_buf_printf(x->out, "%%%u ", marks[i].at);
        if (says)
            lz_report_dims(x->out, says);
        lz_report_site(x->out, &marks[i].s->f->insts[marks[i].at]);
    }
}

static lz_status find_gathered(finder *x)
{
    for (const lz_shard_collective *c = x->p->collectives; c; c = c->next) {
        lz_shard_traffic t;
        if (c->sig->op != LZ_OP_ALL_GATHER)
            continue;
        LZ_TRY(lz_shard_traffic_of(c->sig, x->mesh, &t));
        const lz_shard_reason *r = c->why;
        while (r && asked(x, r, t.axes))
            r = r->next;
        if (r && t.result_bytes > x->least && count(x, t.result_bytes))
            tell_gathered(x, r, t.result_bytes);
    }
    return LZ_OK;
}

/* ---- all ---- */

/* Whether anything is cut at all. */
static bool find_batch(finder *x)
{
    uint32_t any = 0;
    for (uint32_t i = 0; i < x->p->nin; i++) {
        any |= lz_sharding_dims_mask(x->p->in[i]);
        if (!is_state(x, i))
            x->batch |= lz_sharding_dims_mask(x->p->in[i]);
    }
    for (uint32_t k = 0; k < x->p->nout; k++)
        any |= lz_sharding_dims_mask(x->p->out[k]);
    return any || x->p->collectives;
}

lz_status lz_shard_report_unasked(const lz_func *f, const lz_mesh *mesh, const lz_partitioned *p,
                                  const bool *state, uint64_t memory, lz_buf *out)
{
    finder x = {.f = f, .mesh = mesh, .p = p, .is_state = state, .least = least_of(memory)};
    x.out = out;
    out->len = 0;
    if (!find_batch(&x))
        return LZ_OK;
    bool *marked = lz_calloc((size_t)f->ninst + 1, sizeof *marked);
    if (!marked)
        return LZ_FAIL(LZ_EMEM, "no memory for a report of %s", f->name);
    note_marks(f, marked);
    find_arguments(&x, marked);
    lz_free(marked);
    lz_status s = find_gathered(&x);
    if (s == LZ_OK && x.n > 1)
        lz_buf_printf(out, "; so are %u others, %" PRIu64 " bytes", x.n - 1, x.bytes - x.largest);
    if (s == LZ_OK && out->failed)
        s = LZ_FAIL(LZ_EMEM, "no memory for a report of %s", f->name);
    return s;
}
