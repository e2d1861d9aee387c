/* plan_memory.c - see plan_memory.h. A place in the arena is one value after the other's: a step
 * that writes there begins another one, unless it goes on with what the step before has begun (the
 * parts of a concatenation). Cost: steps times values that are there at once; for reports. */
#include "lower/plan/plan_memory.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct ranges {
    const lz_plan *p;
    LZ_VEC(lz_plan_buffer) all; /* of temporaries */
    LZ_VEC(uint32_t) open;      /* those that may be read yet */
    lz_plan_buffer *in, *out;
} ranges;

static bool meet(const lz_plan_buffer *a, const lz_bufref *b)
{
    return a->offset < b->offset + b->nbytes && b->offset < a->offset + a->nbytes;
}

static void read_temp(ranges *r, const lz_bufref *b, uint32_t step)
{
    for (uint32_t i = 0; i < r->open.len; i++) {
        lz_plan_buffer *x = &r->all.data[r->open.data[i]];
        if (meet(x, b))
            x->read = x->end = step;
    }
}

static lz_status write_temp(ranges *r, const lz_bufref *b, uint32_t step)
{
    uint32_t n = 0;
    bool goes_on = false;
    for (uint32_t i = 0; i < r->open.len; i++) {
        lz_plan_buffer *x = &r->all.data[r->open.data[i]];
        bool same =
            meet(x, b) && x->offset == b->offset && x->nbytes == b->nbytes && x->read == LZ_NO_STEP;
        if (same)
            x->end = step;
        else if (meet(x, b) && x->end == step && step > x->written)
            x->end = step - 1; /* what is written takes its place */
        goes_on |= same;
        if (same || !meet(x, b))
            r->open.data[n++] = r->open.data[i];
    }
    r->open.len = n;
    if (goes_on)
        return LZ_OK;
    LZ_TRY(lz_vec_push(&r->all, ((lz_plan_buffer){LZ_BUFREF_TEMP, 0, b->offset, b->nbytes, step,
                                                  LZ_NO_STEP, step})));
    return lz_vec_push(&r->open, r->all.len - 1);
}

static lz_status note(ranges *r, const lz_step *s, uint32_t j, uint32_t step, bool write)
{
    const lz_bufref *b = &s->bufs[j];
    bool kernel = s->kind == LZ_STEP_KERNEL;
    bool writes = lz_step_writes(r->p, s, j);
    bool reads = kernel ? r->p->kernels[s->kernel]->buf[j].read : !writes;
    if (b->nbytes == 0)
        return LZ_OK;
    lz_plan_buffer *x = b->kind == LZ_BUFREF_INPUT    ? &r->in[b->index]
                        : b->kind == LZ_BUFREF_OUTPUT ? &r->out[b->index]
                                                      : NULL;
    if (x && reads && !write)
        x->read = step;
    if (x && writes && write && x->written == LZ_NO_STEP)
        x->written = step;
    if (b->kind == LZ_BUFREF_TEMP && reads && !write)
        read_temp(r, b, step);
    return b->kind == LZ_BUFREF_TEMP && writes && write ? write_temp(r, b, step) : LZ_OK;
}

static lz_status find_ranges(ranges *r)
{
    const lz_plan *p = r->p;
    r->in = lz_calloc((size_t)p->nin + 1, sizeof *r->in);
    r->out = lz_calloc((size_t)p->nout + 1, sizeof *r->out);
    if (!r->in || !r->out)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    for (uint32_t i = 0; i < p->nin; i++)
        r->in[i] = (lz_plan_buffer){LZ_BUFREF_INPUT, i,          0,         p->in_type[i]->nbytes,
                                    LZ_NO_STEP,      LZ_NO_STEP, LZ_NO_STEP};
    for (uint32_t k = 0; k < p->nout; k++)
        r->out[k] = (lz_plan_buffer){
            LZ_BUFREF_OUTPUT, k, 0, p->out_type[k]->nbytes, LZ_NO_STEP, LZ_NO_STEP, LZ_NO_STEP};
    for (uint32_t i = 0; i < p->nstep; i++)
        for (int write = 0; write < 2; write++)
            for (uint32_t j = 0; j < p->steps[i].nbuf; j++)
                LZ_TRY(note(r, &p->steps[i], j, i, write));
    return LZ_OK;
}

static void find_step(const ranges *r, lz_plan_peak *k)
{
    for (uint32_t s = 0; s < r->p->nstep; s++) {
        uint64_t n = 0;
        for (uint32_t i = 0; i < r->all.len; i++)
            n += r->all.data[i].written <= s && s <= r->all.data[i].end ? r->all.data[i].nbytes : 0;
        if (k->step == LZ_NO_STEP || n > k->temps) {
            k->step = s;
            k->temps = n;
        }
    }
}

static int by_size(const void *x, const void *y)
{
    const lz_plan_buffer *a = x, *b = y;
    if (a->nbytes != b->nbytes)
        return a->nbytes > b->nbytes ? -1 : 1;
    if (a->kind != b->kind)
        return (int)a->kind - (int)b->kind;
    uint64_t at = a->offset + a->index, than = b->offset + b->index;
    return at < than ? -1 : at > than;
}

static lz_status gather(const ranges *r, lz_plan_peak *k)
{
    const lz_plan *p = r->p;
    for (uint32_t i = 0; i < r->all.len; i++)
        if (r->all.data[i].written <= k->step && k->step <= r->all.data[i].end)
            LZ_TRY(lz_vec_push(&k->alive, r->all.data[i]));
    for (uint32_t i = 0; i < p->nin; i++) {
        k->inputs += p->in_type[i]->nbytes;
        LZ_TRY(lz_vec_push(&k->alive, r->in[i]));
    }
    for (uint32_t o = 0; o < p->nout; o++) {
        if (p->out_alias[o] >= 0)
            continue;
        k->results += p->out_type[o]->nbytes;
        LZ_TRY(lz_vec_push(&k->alive, r->out[o]));
    }
    k->consts = p->const_bytes;
    if (k->alive.len)
        qsort(k->alive.data, k->alive.len, sizeof *k->alive.data, by_size);
    return LZ_OK;
}

static void free_ranges(ranges *r)
{
    lz_vec_free(&r->all);
    lz_vec_free(&r->open);
    lz_free(r->in);
    lz_free(r->out);
}

lz_status lz_plan_find_peak(const lz_plan *p, lz_plan_peak *out)
{
    *out = (lz_plan_peak){.step = LZ_NO_STEP};
    ranges r = {.p = p};
    lz_status s = find_ranges(&r);
    if (s == LZ_OK) {
        find_step(&r, out);
        s = gather(&r, out);
    }
    free_ranges(&r);
    return s;
}

lz_status lz_plan_find_buffers(const lz_plan *p, lz_plan_buffer_list *out)
{
    ranges r = {.p = p};
    lz_status s = find_ranges(&r);
    if (s == LZ_OK)
        s = lz_vec_reserve(out, (uint64_t)p->nin + p->nout + r.all.len + 1);
    for (uint32_t i = 0; s == LZ_OK && i < p->nin; i++)
        out->data[out->len++] = r.in[i];
    for (uint32_t k = 0; s == LZ_OK && k < p->nout; k++)
        if (p->out_alias[k] < 0)
            out->data[out->len++] = r.out[k];
    for (uint32_t i = 0; s == LZ_OK && i < r.all.len; i++)
        out->data[out->len++] = r.all.data[i];
    free_ranges(&r);
    return s;
}

void lz_plan_peak_free(lz_plan_peak *k)
{
    lz_vec_free(&k->alive);
}

/* ---- text ---- */

/* The node of the step whose value has the size, else the costliest; NULL: none is known. */
static const lz_step_node *node_of(const lz_plan *p, uint32_t step, uint64_t nbytes)
{
    const lz_step *s = step < p->nstep ? &p->steps[step] : NULL;
    for (uint32_t k = 0; s && k < s->nnode; k++)
        if (s->nodes[k].type && s->nodes[k].type->nbytes == nbytes)
            return &s->nodes[k];
    return s && s->nnode ? &s->nodes[0] : NULL;
}

static void print_place(const lz_site *site, const char *scope, lz_buf *out)
{
    if (site && site->file)
        lz_buf_printf(out, " %s:%d", site->file, site->line);
    if (scope)
        lz_buf_printf(out, " (%s)", scope);
}

void lz_plan_print_buffer(const lz_plan *p, const lz_plan_buffer *b, lz_buf *out)
{
    const lz_step_node *n = node_of(p, b->written, b->nbytes);
    const lz_type *t = b->kind == LZ_BUFREF_INPUT                     ? p->in_type[b->index]
                       : b->kind == LZ_BUFREF_OUTPUT                  ? p->out_type[b->index]
                       : n && n->type && n->type->nbytes == b->nbytes ? n->type
                                                                      : NULL;
    char text[160];
    if (t)
        lz_buf_printf(out, "%s", lz_type_short(t, text, sizeof text));
    else
        lz_buf_puts(out, "a temporary");
    if (b->kind == LZ_BUFREF_INPUT && p->in_node) {
        const lz_step_node *in = &p->in_node[b->index];
        lz_buf_printf(out, " input %u", b->index);
        print_place(in->site, in->scope, out);
    } else if (n && n->op != LZ_OP_NONE) {
        lz_buf_printf(out, " %s", lz_op_get(n->op)->text);
        print_place(n->site, n->scope, out);
    }
}

static void print_reader(const lz_plan *p, const lz_plan_buffer *b, lz_buf *out)
{
    if (b->read == LZ_NO_STEP) {
        lz_buf_puts(out, b->kind == LZ_BUFREF_OUTPUT ? "; a result" : "; nothing reads it");
        return;
    }
    const lz_step *s = &p->steps[b->read];
    lz_buf_printf(out, "; last read by step %u, ", b->read);
    size_t before = out->len;
    if (s->nnode && s->nodes[0].op != LZ_OP_NONE) {
        lz_buf_puts(out, lz_op_get(s->nodes[0].op)->text);
        print_place(s->nodes[0].site, s->nodes[0].scope, out);
    }
    if (out->len == before)
        lz_buf_puts(out, s->name ? s->name : "a kernel");
}

static void print_donation(const lz_plan *p, const bool *donate, uint32_t i, lz_buf *out)
{
    for (uint32_t k = 0; k < p->nout; k++)
        if (p->out_alias[k] == (int32_t)i) {
            lz_buf_printf(out, "; donated to result %u", k);
            return;
        }
    if (donate && donate[i])
        lz_buf_puts(out, "; donated, but no result of its type is written where it is last read");
    else
        lz_buf_puts(out, "; not donated: the step assigns nothing to it, or its old value is in "
                         "use elsewhere");
}

void lz_plan_print_peak(const lz_plan *p, const bool *donate, lz_buf *out)
{
    enum { LARGEST = 10 };
    lz_plan_peak k;
    if (lz_plan_find_peak(p, &k) == LZ_OK && k.step != LZ_NO_STEP) {
        lz_buf_printf(out, "Peak: step %u of %u, ", k.step, p->nstep);
        size_t before = out->len;
        lz_step_print_node(&p->steps[k.step], 0, out);
        if (out->len > before)
            lz_buf_puts(out, ": ");
        lz_buf_printf(out,
                      "%" PRIu64 " bytes of inputs, %" PRIu64 " of results, %" PRIu64
                      " of temporaries, %" PRIu64 " of constants\n",
                      k.inputs, k.results, k.temps, k.consts);
        for (uint32_t i = 0; i < k.alive.len && i < LARGEST && k.alive.data[i].nbytes; i++) {
            const lz_plan_buffer *b = &k.alive.data[i];
            lz_buf_printf(out, "  %" PRIu64 " bytes: ", b->nbytes);
            lz_plan_print_buffer(p, b, out);
            if (b->written != LZ_NO_STEP)
                lz_buf_printf(out, ", step %u", b->written);
            print_reader(p, b, out);
            if (b->kind == LZ_BUFREF_INPUT)
                print_donation(p, donate, b->index, out);
            lz_buf_putc(out, '\n');
        }
    }
    lz_plan_peak_free(&k);
}

lz_status lz_plan_explain_memory(const lz_plan *p, uint32_t result, lz_status s)
{
    lz_error e = *lz_error_get();
    size_t at = strlen(e.message);
    lz_plan_peak k = {0};
    lz_buf b = {0};
    if (s != LZ_EDEVMEM)
        return s;
    LZ_QUIETLY {
        if (lz_plan_find_peak(p, &k) == LZ_OK)
            for (uint32_t i = 0; i < k.alive.len && b.len == 0; i++) {
                const lz_plan_buffer *x = &k.alive.data[i];
                if (result == LZ_NO_RESULT ? x->kind == LZ_BUFREF_TEMP
                                           : x->kind == LZ_BUFREF_OUTPUT && x->index == result)
                    lz_plan_print_buffer(p, x, &b);
            }
        if (b.len)
            snprintf(e.message + at, sizeof e.message - at, " for %s%s",
                     result == LZ_NO_RESULT ? "temporaries, the largest is " : "", lz_buf_str(&b));
        lz_buf_free(&b);
        lz_plan_peak_free(&k);
    }
    lz_error_set(&e);
    return s;
}
