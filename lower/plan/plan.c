/* plan.c - plans: freeing, work memory of steps, text.
 * Threads: a plan is immutable once made. */
#include "lower/plan/plan.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

bool lz_step_writes(const lz_plan *p, const lz_step *s, uint32_t i)
{
    if (s->kind == LZ_STEP_CALL)
        return i < s->call->nrets;
    if (lz_step_is_collective(s)) /* a done only waits */
        return s->kind != LZ_STEP_DONE && i < s->collective->sig->nresult;
    if (s->kind == LZ_STEP_ROUTINE)
        return i < s->routine->nresult;
    return s->kind == LZ_STEP_KERNEL ? p->kernels[s->kernel]->buf[i].written
                                     : i < p->subs[s->sub[1]]->nout || i == s->nbuf - 1;
}

lz_status lz_step_collective_new(lz_plan *p, const lz_sig *sig, const lz_step_collective **out)
{
    lz_step_collective *c = lz_arena_alloc(&p->arena, sizeof *c);
    if (!c)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    c->sig = sig;
    *out = c;
    return lz_participants_of(sig, p->partitions, &p->arena, &c->who);
}

/* Whether all that a kernel does is to store what it loads, in the same order. */
static bool copies(const lz_kernel *k)
{
    const lz_stage *st = &k->stages[0];
    if (k->nstage != 1 || st->nstore != 1 || st->nacc != 1 || st->nred || st->sort)
        return false;
    const lz_access *from = &st->accs[0], *to = &st->stores[0].at;
    bool same = st->sops[st->stores[0].value].kind == LZ_S_LOAD && from->guard < 0 &&
                to->guard < 0 && !from->ndyn && !to->ndyn && !from->nborder;
    for (uint32_t l = 0; same && l < k->nouter + st->ninner; l++)
        same = from->stride[l].v == to->stride[l].v;
    return same;
}

uint64_t lz_plan_copied_bytes(const lz_plan *p)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < p->nstep; i++) {
        const lz_step *s = &p->steps[i];
        if (s->kind != LZ_STEP_KERNEL || !copies(p->kernels[s->kernel]))
            continue;
        for (uint32_t j = 0; j < s->nbuf; j++)
            n += lz_step_writes(p, s, j) ? s->bufs[j].nbytes : 0;
    }
    return n;
}

bool lz_plan_meets(const lz_plan *p)
{
    bool meets = false;
    for (uint32_t i = 0; i < p->nstep; i++)
        meets |= lz_step_is_collective(&p->steps[i]);
    for (uint32_t i = 0; i < p->nsub; i++) /* as deep as regions nest */
        meets |= lz_plan_meets(p->subs[i]);
    return meets;
}

void lz_plan_free(lz_plan *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; p->kernels && i < p->nkernel; i++)
        lz_kernel_free(p->kernels[i]);
    for (uint32_t i = 0; i < p->nsub; i++) /* as deep as regions nest */
        lz_plan_free(p->subs[i]);
    lz_arena_free(&p->arena);
    lz_free(p);
}

/* ---- steps of control flow ---- */

bool lz_while_layout(const lz_plan *body, uint64_t *off, uint64_t *temps)
{
    uint64_t at = 64; /* behind the predicate */
    for (uint32_t k = 0; k < body->nout; k++) {
        bool own = body->out_alias[k] < 0;
        if (off)
            off[k] = own ? at : UINT64_MAX;
        if (own && __builtin_add_overflow(at, LZ_ALIGN_UP(body->out_type[k]->nbytes, 64), &at))
            return false;
    }
    *temps = at;
    return true;
}

bool lz_step_work(const lz_plan *p, const lz_step *s, uint64_t *nbytes)
{
    const lz_plan *b = p->subs[s->sub[1]];
    uint64_t most = s->sub[0] == LZ_NO_PLAN ? 0 : p->subs[s->sub[0]]->temp_bytes, at = 0;
    most = most > b->temp_bytes ? most : b->temp_bytes;
    return (s->kind != LZ_STEP_WHILE || lz_while_layout(b, NULL, &at)) &&
           !__builtin_add_overflow(at, most, nbytes);
}

/* ---- text ---- */

static void print_types(lz_buf *b, const char *what, const lz_type *const *t, uint32_t n,
                        const int32_t *alias)
{
    char text[160];
    for (uint32_t i = 0; i < n; i++) {
        lz_buf_printf(b, "  %s %u: %s", what, i, lz_type_short(t[i], text, sizeof text));
        if (alias && alias[i] >= 0)
            lz_buf_printf(b, " takes over input %d", alias[i]);
        lz_buf_putc(b, '\n');
    }
}

static void print_ref(lz_buf *b, const lz_bufref *r)
{
    static const char *const names[] = {"in", "out", "temp", "const"};
    lz_buf_puts(b, names[r->kind]);
    if (r->kind == LZ_BUFREF_INPUT || r->kind == LZ_BUFREF_OUTPUT)
        lz_buf_printf(b, "%u", r->index);
    lz_buf_printf(b, "+%" PRIu64 ":%" PRIu64, r->offset, r->nbytes);
}

/* "7 rounds plan 1"; or, plan 0 being the condition, "plan 0 plan 1", "counted plan 0 plan 1". */
static void print_while(const lz_step *s, uint32_t i, lz_buf *out)
{
    const lz_trip_count *r = &s->trip_count;
    int64_t n;
    lz_buf_printf(out, "  step %u: while ", i);
    if (s->sub[0] == LZ_NO_PLAN && lz_trip_count_known(r, &n))
        lz_buf_printf(out, "%" PRId64 " rounds", n);
    else
        lz_buf_printf(out, "%splan %u", r->dtype != LZ_DTYPE_NONE ? "counted " : "", s->sub[0]);
    lz_buf_printf(out, " plan %u (", s->sub[1]);
}

/* "    node %3: dot_general 98% net.c:7 (mlp)": those of a percent and more. */
static void print_nodes(const lz_step *s, lz_buf *out)
{
    for (uint32_t k = 0; k < s->nnode && lz_step_share(s, k) >= 0.01; k++) {
        if (s->nodes[k].op == LZ_OP_NONE)
            continue;
        lz_buf_printf(out, "    node %%%u: ", s->nodes[k].node);
        lz_step_print_node(s, k, out);
        lz_buf_putc(out, '\n');
    }
}

static void print_step(const lz_plan *p, uint32_t i, lz_buf *out)
{
    const lz_step *s = &p->steps[i];
    if (s->kind == LZ_STEP_KERNEL)
        lz_buf_printf(out, "  step %u: kernel %u (", i, s->kernel);
    else if (s->kind == LZ_STEP_CALL)
        lz_buf_printf(out, "  step %u: call @%s (", i, s->call->target);
    else if (s->kind == LZ_STEP_DONE)
        lz_buf_printf(out, "  step %u: %s, done of step %u (", i,
                      lz_op_get(s->collective->sig->op)->text, s->start);
    else if (lz_step_begins_collective(s))
        lz_buf_printf(out, "  step %u: %s, groups of %u%s (", i,
                      lz_op_get(s->collective->sig->op)->text, s->collective->who.largest,
                      s->kind == LZ_STEP_START ? ", start" : "");
    else if (s->kind == LZ_STEP_ROUTINE)
        lz_buf_printf(out, "  step %u: %s (", i, lz_op_get(s->routine->op)->text);
    else if (s->kind == LZ_STEP_IF)
        lz_buf_printf(out, "  step %u: if plan %u plan %u (", i, s->sub[0], s->sub[1]);
    else
        print_while(s, i, out);
    for (uint32_t j = 0; j < s->nbuf; j++) {
        lz_buf_puts(out, j ? ", " : "");
        print_ref(out, &s->bufs[j]);
    }
    lz_buf_puts(out, ") [");
    for (uint32_t j = 0; j < s->narg; j++)
        lz_buf_printf(out, "%s%" PRId64, j ? ", " : "", s->args[j]);
    lz_buf_printf(out, "] %" PRIu64 " flop %" PRIu64 " byte  %s\n", s->flops, s->bytes,
                  s->name ? s->name : "");
    print_nodes(s, out);
}

void lz_plan_print(const lz_plan *p, lz_buf *out)
{
    lz_buf_printf(
        out, "plan: %u kernels, %u steps, %" PRIu64 " temp bytes, %" PRIu64 " constant bytes\n",
        p->nkernel, p->nstep, p->temp_bytes, p->const_bytes);
    if (p->partitions)
        lz_buf_printf(out, "  partitions: %u\n", p->partitions);
    if (lz_plan_copied_bytes(p))
        lz_buf_printf(out, "  copied: %" PRIu64 " bytes\n", lz_plan_copied_bytes(p));
    print_types(out, "in", p->in_type, p->nin, NULL);
    print_types(out, "out", p->out_type, p->nout, p->out_alias);
    for (uint32_t i = 0; i < p->nkernel; i++) {
        char hex[33];
        lz_hash_hex(p->kernels[i]->hash, hex);
        lz_buf_printf(out, "  kernel %u: %s %s\n", i, hex, p->kernels[i]->name);
    }
    for (uint32_t i = 0; i < p->nstep; i++)
        print_step(p, i, out);
    for (uint32_t i = 0; i < p->nsub; i++) { /* as deep as regions nest */
        lz_buf_printf(out, "plan %u of the above: ", i);
        lz_plan_print(p->subs[i], out);
    }
}

lz_plan_cost lz_plan_cost_of(const lz_plan *p)
{
    lz_plan_cost all = {0};
    for (uint32_t i = 0; i < p->nstep; i++) {
        const lz_step *s = &p->steps[i];
        int64_t rounds;
        double bytes = (double)s->bytes; /* of a loop, what it carries */
        if (s->kind == LZ_STEP_WHILE && lz_trip_count_known(&s->trip_count, &rounds))
            bytes = fmax(bytes, (double)rounds * lz_plan_cost_of(p->subs[s->sub[1]]).bytes);
        all.flops += (double)s->flops;
        all.bytes += bytes;
    }
    return all;
}

uint64_t lz_plan_work(const lz_plan *p)
{
    lz_plan_cost c = lz_plan_cost_of(p);
    return (uint64_t)fmin(c.flops + c.bytes, 0x1p63);
}
