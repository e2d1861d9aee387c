/* graph_dot.c - a plan as a DOT graph: a node for each step, in a cluster for each name scope. Of
 * operations it would have thousands, which dot does not lay out. */
#include "tools/lazuli/graph.h"
#include <string.h>

#define NONE UINT32_MAX

typedef struct dot {
    const graph *g;
    uint32_t *step_of; /* by node: the step that computes it, or what it is made of; NONE */
    uint32_t *next;    /* by step: the next one of its scope */
    LZ_VEC(uint32_t) first, last; /* by scope: steps */
    lz_map scopes;                /* number + 1, by text */
} dot;

static void put_quoted(lz_buf *out, const char *s)
{
    lz_buf_putc(out, '"');
    for (; *s; s++)
        if (*s == '"' || *s == '\\')
            lz_buf_printf(out, "\\%c", *s);
        else
            lz_buf_putc(out, (unsigned char)*s < ' ' ? ' ' : *s);
    lz_buf_putc(out, '"');
}

static const char *scope_of(const lz_step *s)
{
    return s->nnode && s->nodes[0].scope ? s->nodes[0].scope : "";
}

static lz_status sort_steps(dot *d)
{
    const lz_plan *p = d->g->plan;
    for (uint32_t i = 0; i < p->nstep; i++) {
        const char *scope = scope_of(&p->steps[i]);
        lz_hash h = lz_hash_bytes(scope, strlen(scope));
        uintptr_t k = (uintptr_t)lz_map_get(&d->scopes, h);
        d->next[i] = NONE;
        if (k) {
            d->next[d->last.data[k - 1]] = i;
            d->last.data[k - 1] = i;
            continue;
        }
        LZ_TRY(lz_vec_push(&d->first, i));
        LZ_TRY(lz_vec_push(&d->last, i));
        LZ_TRY(lz_map_put(&d->scopes, h, (void *)(uintptr_t)d->first.len));
    }
    return LZ_OK;
}

/* A node that no step names is part of what reads it: its value comes from what it is made of. */
static void find_steps(dot *d)
{
    const lz_func *f = d->g->f;
    for (lz_val v = 0; v < f->ninst; v++)
        d->step_of[v] = NONE;
    for (uint32_t i = d->g->plan->nstep; i-- > 0;)
        for (uint32_t k = 0; k < d->g->plan->steps[i].nnode; k++)
            if (d->g->plan->steps[i].nodes[k].node < f->ninst)
                d->step_of[d->g->plan->steps[i].nodes[k].node] = i;
    for (lz_val v = 0; v < f->ninst; v++)
        for (uint32_t k = 0; k < f->insts[v].sig->nopnd && d->step_of[v] == NONE; k++)
            d->step_of[v] = d->step_of[f->insts[v].opnd[k]];
}

static void put_steps(const dot *d, uint32_t scope, lz_buf *out)
{
    const lz_plan *p = d->g->plan;
    lz_buf_printf(out, "  subgraph cluster_%u {\n    label=", scope);
    put_quoted(out, scope_of(&p->steps[d->first.data[scope]]));
    lz_buf_puts(out, "\n");
    for (uint32_t i = d->first.data[scope]; i != NONE; i = d->next[i]) {
        const lz_step *s = &p->steps[i];
        const graph_launch *l = graph_launch_of(d->g, s);
        double us = (l && l->calls ? l->ns : graph_estimate(d->g, s)) * 1e-3;
        lz_buf text = {0};
        lz_buf_printf(&text, "%u ", i);
        lz_step_print_node(s, 0, &text);
        lz_buf_printf(out, "    s%u [shape=box,label=", i);
        put_quoted(out, lz_buf_str(&text));
        if (us > 0)
            lz_buf_printf(out, ",xlabel=\"%.1f us\"", us);
        lz_buf_puts(out, "]\n");
        lz_buf_free(&text);
    }
    lz_buf_puts(out, "  }\n");
}

static void put_edges(const dot *d, lz_buf *out)
{
    const lz_func *f = d->g->f;
    for (lz_val v = 0; v < f->ninst; v++)
        for (uint32_t k = 0; k < f->insts[v].sig->nopnd; k++) {
            uint32_t from = d->step_of[f->insts[v].opnd[k]], to = d->step_of[v];
            if (from != to && from != NONE && to != NONE)
                lz_buf_printf(out, "  s%u -> s%u\n", from, to);
        }
}

void graph_put_dot(const graph *g, lz_buf *out)
{
    dot d = {.g = g};
    d.step_of = lz_calloc((size_t)g->f->ninst + 1, sizeof *d.step_of);
    d.next = lz_calloc((size_t)g->plan->nstep + 1, sizeof *d.next);
    if (!d.step_of || !d.next || sort_steps(&d) != LZ_OK) {
        out->failed = true;
    } else {
        find_steps(&d);
        lz_buf_puts(out, "strict digraph G {\n");
        for (uint32_t k = 0; k < d.first.len; k++)
            put_steps(&d, k, out);
        put_edges(&d, out);
        lz_buf_puts(out, "}\n");
    }
    lz_map_free(&d.scopes);
    lz_vec_free(&d.first);
    lz_vec_free(&d.last);
    lz_free(d.step_of);
    lz_free(d.next);
}
