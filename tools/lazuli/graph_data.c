/* graph_data.c - a program and its plan as JSON. Names, types, scopes and lines are in tables;
 * what refers to them, to nodes, steps and buffers does so by number, -1 for none. */
#include "ir/attr.h"
#include "ir/text/number.h"
#include "lower/plan/plan_memory.h"
#include "base/formats/json.h"
#include "tools/lazuli/graph.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_VALUE = 64 }; /* characters of an attribute or a constant */

static const char *const kinds[] = {[LZ_STEP_KERNEL] = "kernel",
                                    [LZ_STEP_WHILE] = "while",
                                    [LZ_STEP_IF] = "if",
                                    [LZ_STEP_CALL] = "call",
                                    [LZ_STEP_COLLECTIVE] = "collective",
                                    [LZ_STEP_ROUTINE] = "routine",
                                    [LZ_STEP_START] = "start",
                                    [LZ_STEP_DONE] = "done"};
static const char *const classes[] = {[LZ_CLASS_EW] = "elementwise",
                                      [LZ_CLASS_LEAF] = "leaf",
                                      [LZ_CLASS_MOVE] = "move",
                                      [LZ_CLASS_INDEX] = "index",
                                      [LZ_CLASS_REDUCE] = "reduce",
                                      [LZ_CLASS_DOT] = "dot",
                                      [LZ_CLASS_RNG] = "rng",
                                      [LZ_CLASS_META] = "meta",
                                      [LZ_CLASS_SORT] = "sort",
                                      [LZ_CLASS_CONTROL] = "control",
                                      [LZ_CLASS_WINDOW] = "window",
                                      [LZ_CLASS_FFT] = "fft",
                                      [LZ_CLASS_LINALG] = "linalg",
                                      [LZ_CLASS_CALL] = "call",
                                      [LZ_CLASS_COLLECTIVE] = "collective"};

/* ---- tables of texts ---- */

typedef struct table {
    lz_buf json; /* what is in it so far */
    lz_map at;   /* number + 1 */
    int n;
    bool failed;
} table;

static int number_of(table *t, const char *text)
{
    if (!text)
        return -1;
    lz_hash h = lz_hash_bytes(text, strlen(text));
    uintptr_t i = (uintptr_t)lz_map_get(&t->at, h);
    if (i)
        return (int)i - 1;
    lz_buf_puts(&t->json, t->n ? "," : "");
    lz_buf_json_text(&t->json, text);
    t->n++;
    t->failed |= lz_map_put(&t->at, h, (void *)(uintptr_t)t->n) != LZ_OK;
    return t->n - 1;
}

static void put_table(const char *name, table *t, lz_buf *out)
{
    lz_buf_printf(out, "\"%s\":[", name);
    lz_buf_puts(out, lz_buf_str(&t->json));
    lz_buf_puts(out, "],\n");
    out->failed |= t->failed || t->json.failed;
    lz_buf_free(&t->json);
    lz_map_free(&t->at);
}

typedef struct tables {
    table types, scopes, lines;
} tables;

static int line_number(tables *t, const lz_site *site)
{
    char text[600];
    if (!site || !site->file)
        return -1;
    snprintf(text, sizeof text, "%s:%d", site->file, site->line);
    return number_of(&t->lines, text);
}

/* ---- nodes ---- */

/* The instruction that makes value v: of several results the one that has them. */
static lz_val source(const lz_func *f, lz_val v)
{
    const lz_inst *in = &f->insts[v];
    return in->sig->op == LZ_OP_RESULT ? in->opnd[0] : v;
}

static void put_cut(lz_buf *to, const char *name, const lz_buf *value)
{
    const char *v = lz_buf_str(value);
    lz_buf_printf(to, "%s%s=%.*s%s", to->len ? " " : "", name, LONGEST_VALUE, v,
                  strlen(v) > LONGEST_VALUE ? "..." : "");
}

static void put_constant(lz_buf *to, const lz_literal *l)
{
    lz_buf v = {0};
    for (int64_t i = 0; i < l->type->nelem && v.len <= LONGEST_VALUE; i++) {
        lz_buf_puts(&v, i ? ", " : "");
        lz_number_print(&v, l->type->dtype, l->data, i);
    }
    put_cut(to, "value", &v);
    lz_buf_free(&v);
}

/* "dimensions=[0] value=1": what its type does not say. */
static void put_attributes(const lz_inst *in, lz_buf *out)
{
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    int n = lz_attr_fields(in->sig->attr, f);
    lz_buf text = {0};
    for (int i = 0; i < n; i++) {
        lz_buf v = {0};
        if (f[i].type == LZ_FIELD_DTYPE || f[i].type == LZ_FIELD_SHAPE)
            continue;
        if (f[i].type != LZ_FIELD_REGION)
            lz_attr_field_print(&v, &f[i]);
        else if (lz_region_as_binary(*f[i].region) != LZ_OP_NONE)
            lz_buf_puts(&v, lz_op_get(lz_region_as_binary(*f[i].region))->text);
        if (v.len)
            put_cut(&text, f[i].name, &v);
        lz_buf_free(&v);
    }
    if (in->lit)
        put_constant(&text, in->lit);
    lz_buf_json(out, lz_buf_str(&text), text.len);
    out->failed |= text.failed;
    lz_buf_free(&text);
}

/* [operation, type, scope, line, operands, attributes]; null: a result of the one before. */
static void put_node(const graph *g, lz_val v, tables *t, lz_buf *out)
{
    const lz_inst *in = &g->f->insts[v];
    char type[160];
    lz_buf_puts(out, v ? ",\n" : "\n");
    if (in->sig->op == LZ_OP_RESULT) {
        lz_buf_puts(out, "null");
        return;
    }
    lz_buf_printf(out, "[%d,%d,%d,%d,[", (int)in->sig->op,
                  number_of(&t->types, lz_type_short(in->sig->result[0], type, sizeof type)),
                  number_of(&t->scopes, in->scope), line_number(t, in->site));
    for (uint32_t k = 0; k < in->sig->nopnd; k++)
        lz_buf_printf(out, "%s%u", k ? "," : "", source(g->f, in->opnd[k]));
    lz_buf_puts(out, "],");
    put_attributes(in, out);
    lz_buf_putc(out, ']');
}

static void put_nodes(const graph *g, tables *t, lz_buf *out)
{
    lz_buf_printf(out, "\"parameters\":%u,\"results\":[", g->f->nparam);
    for (uint32_t k = 0; k < g->f->nresult; k++)
        lz_buf_printf(out, "%s%u", k ? "," : "", source(g->f, g->f->results[k]));
    lz_buf_puts(out, "],\n\"nodes\":[");
    for (lz_val v = 0; v < g->f->ninst && !out->failed; v++)
        put_node(g, v, t, out);
    lz_buf_puts(out, "],\n");
}

/* By the operation's number; [name, class]. */
static void put_operations(lz_buf *out)
{
    lz_buf_puts(out, "\"operations\":[");
    for (int op = 0; op < LZ_OP_COUNT; op++) {
        const lz_op_info *o = lz_op_get((lz_op)op);
        lz_buf_puts(out, op ? "," : "");
        if (!o || !o->text) {
            lz_buf_puts(out, "null");
            continue;
        }
        lz_buf_puts(out, "[");
        lz_buf_json_text(out, o->text);
        lz_buf_printf(out, ",\"%s\"]", classes[o->cls] ? classes[o->cls] : "other");
    }
    lz_buf_puts(out, "],\n");
}

/* ---- steps ---- */

/* Arguments by number, results behind them, temporaries by offset: [kind, number, bytes, whether it
 * is written]. */
static void put_buffers_of(const lz_plan *p, const lz_step *s, lz_buf *out)
{
    static const char letters[] = {[LZ_BUFREF_INPUT] = 'i',
                                   [LZ_BUFREF_OUTPUT] = 'o',
                                   [LZ_BUFREF_TEMP] = 't',
                                   [LZ_BUFREF_CONST] = 'c'};
    lz_buf_puts(out, ",\"buffers\":[");
    for (uint32_t j = 0; j < s->nbuf; j++) {
        const lz_bufref *b = &s->bufs[j];
        bool numbered = b->kind == LZ_BUFREF_INPUT || b->kind == LZ_BUFREF_OUTPUT;
        lz_buf_printf(out, "%s[\"%c\",%" PRIu64 ",%" PRIu64 ",%d]", j ? "," : "", letters[b->kind],
                      numbered ? b->index : b->offset, b->nbytes, lz_step_writes(p, s, j));
    }
    lz_buf_putc(out, ']');
}

static void put_time(const graph *g, const lz_step *s, lz_buf *out)
{
    const graph_launch *l = graph_launch_of(g, s);
    double best = graph_estimate(g, s);
    lz_buf_printf(out, ",\"kernel\":\"%s\"", l ? l->kernel : "");
    if (best > 0)
        lz_buf_printf(out, ",\"estimate_ns\":%.1f", best);
    if (l && l->calls)
        lz_buf_printf(out, ",\"calls\":%" PRId64 ",\"ns\":%.1f,\"least_ns\":%.1f", l->calls, l->ns,
                      l->least_ns);
}

static void put_steps(const graph *g, const lz_plan *p, lz_buf *out);

/* What it runs: "condition" and "body", or what is run on true and on false. */
static void put_regions(const graph *g, const lz_plan *p, const lz_step *s, lz_buf *out)
{
    static const char *const names[2][2] = {{"condition", "body"}, {"true", "false"}};
    lz_buf_puts(out, ",\"regions\":[");
    bool first = true;
    for (int k = 0; k < 2; k++) {
        if (s->sub[k] >= p->nsub)
            continue;
        lz_buf_printf(out, "%s{\"name\":\"%s\",", first ? "" : ",",
                      names[s->kind == LZ_STEP_IF][k]);
        put_steps(g, p->subs[s->sub[k]], out);
        lz_buf_puts(out, "}");
        first = false;
    }
    lz_buf_putc(out, ']');
}

/* The nodes and their shares; of a region's plan, whose nodes are the region's, as text. */
static void put_computed(const graph *g, const lz_plan *p, const lz_step *s, lz_buf *out)
{
    lz_buf text = {0};
    if (p == g->plan) {
        lz_buf_puts(out, ",\"nodes\":[");
        for (uint32_t k = 0; k < s->nnode; k++)
            lz_buf_printf(out, "%s[%u,%.4g]", k ? "," : "",
                          s->nodes[k].node < g->f->ninst ? s->nodes[k].node : 0,
                          lz_step_share(s, k));
        lz_buf_putc(out, ']');
    } else {
        lz_step_print_node(s, 0, &text);
        lz_buf_puts(out, ",\"costliest\":");
        lz_buf_json(out, lz_buf_str(&text), text.len);
    }
    out->failed |= text.failed;
    lz_buf_free(&text);
}

static void put_step(const graph *g, const lz_plan *p, const lz_step *s, lz_buf *out)
{
    const char *name = s->name                      ? s->name
                       : s->kind == LZ_STEP_KERNEL  ? p->kernels[s->kernel]->name
                       : s->kind == LZ_STEP_ROUTINE ? lz_op_get(s->routine->op)->text
                                                    : kinds[s->kind];
    int64_t rounds = 0;
    lz_buf_puts(out, "{\"name\":");
    lz_buf_json_text(out, name);
    lz_buf_printf(out, ",\"kind\":\"%s\",\"flops\":%" PRIu64 ",\"bytes\":%" PRIu64, kinds[s->kind],
                  s->flops, s->bytes);
    put_time(g, s, out);
    if (s->kind == LZ_STEP_WHILE && lz_trip_count_known(&s->trip_count, &rounds))
        lz_buf_printf(out, ",\"rounds\":%" PRId64, rounds);
    put_computed(g, p, s, out);
    put_buffers_of(p, s, out);
    if (s->kind == LZ_STEP_WHILE || s->kind == LZ_STEP_IF)
        put_regions(g, p, s, out);
    lz_buf_putc(out, '}');
}

/* Recursion: plans of regions, as deep as they nest. */
static void put_steps(const graph *g, const lz_plan *p, lz_buf *out)
{
    lz_buf_puts(out, "\"steps\":[");
    for (uint32_t i = 0; i < p->nstep && !out->failed; i++) {
        lz_buf_puts(out, i ? ",\n" : "\n");
        put_step(g, p, &p->steps[i], out);
    }
    lz_buf_puts(out, "]");
}

/* ---- memory ---- */

static int64_t step_number(uint32_t s)
{
    return s == LZ_NO_STEP ? -1 : (int64_t)s;
}

/* [kind, number or offset, bytes, made by, last read by, gone after, what]; steps, -1: none, of the
 * last one all the time. */
static void put_memory(const graph *g, lz_buf *out)
{
    lz_plan_buffer_list all = {0};
    static const char *const names[] = {[LZ_BUFREF_INPUT] = "input",
                                        [LZ_BUFREF_OUTPUT] = "result",
                                        [LZ_BUFREF_TEMP] = "temporary",
                                        [LZ_BUFREF_CONST] = "constant"};
    out->failed |= lz_plan_find_buffers(g->plan, &all) != LZ_OK;
    lz_buf_printf(out, "\"memory\":{\"arena\":%" PRIu64 ",\"constants\":%" PRIu64 ",\"buffers\":[",
                  g->plan->temp_bytes, g->plan->const_bytes);
    for (uint32_t i = 0; i < all.len && !out->failed; i++) {
        const lz_plan_buffer *b = &all.data[i];
        lz_buf text = {0};
        lz_plan_print_buffer(g->plan, b, &text);
        lz_buf_printf(out, "%s[\"%s\",%" PRIu64 ",%" PRIu64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",",
                      i ? ",\n" : "\n", names[b->kind],
                      b->kind == LZ_BUFREF_TEMP ? b->offset : b->index, b->nbytes,
                      step_number(b->written), step_number(b->read), step_number(b->end));
        lz_buf_json(out, lz_buf_str(&text), text.len);
        lz_buf_putc(out, ']');
        out->failed |= text.failed;
        lz_buf_free(&text);
    }
    lz_buf_puts(out, "],\"donated\":[");
    for (uint32_t k = 0, n = 0; k < g->plan->nout; k++)
        if (g->plan->out_alias[k] >= 0)
            lz_buf_printf(out, "%s[%d,%u]", n++ ? "," : "", g->plan->out_alias[k], k);
    lz_buf_puts(out, "]}");
    lz_vec_free(&all);
}

void graph_put_json(const graph *g, lz_buf *out)
{
    tables t = {0};
    char hash[33];
    lz_buf_puts(out, "{\"version\":1,\"name\":");
    lz_buf_json_text(out, g->f->name);
    lz_buf_puts(out, ",\"source\":");
    lz_buf_json_text(out, g->source);
    lz_buf_printf(out, ",\"function\":\"%s\",\"measured\":%s,\"flop_s\":%.0f,\"byte_s\":%.0f,\n",
                  lz_hash_text(lz_func_hash(g->f), hash), g->measured ? "true" : "false",
                  g->limits.flop_s, g->limits.byte_s);
    put_operations(out);
    put_nodes(g, &t, out);
    put_table("types", &t.types, out);
    put_table("scopes", &t.scopes, out);
    put_table("lines", &t.lines, out);
    put_steps(g, g->plan, out);
    lz_buf_puts(out, ",\n");
    put_memory(g, out);
    lz_buf_puts(out, "}\n");
}
