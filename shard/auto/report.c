/* report.c - a plan for people, and as JSON. See auto.h. Threads: pure functions. */
#include "shard/auto/auto.h"
#include "shard/report.h"
#include <inttypes.h>

static lz_status finish(const lz_buf *b)
{
    return b->failed ? LZ_FAIL(LZ_EMEM, "no memory for a report of a plan") : LZ_OK;
}

/* Of the whole work, the part of one device in percent. */
static double share(const lz_auto_plan *p, const lz_auto_cost *c)
{
    return p->whole_work > 0 ? 100 * c->work / p->whole_work : 100;
}

/* ---- text ---- */

static bool has_mark(const lz_auto_plan *p, lz_auto_mark_of of, uint32_t number)
{
    uint32_t lo = 0, hi = p->nmark;
    while (lo < hi) { /* they are in order */
        uint32_t mid = lo + (hi - lo) / 2;
        const lz_auto_mark *m = &p->marks[mid];
        if (m->of == of && m->number == number)
            return true;
        if (m->of < of || (m->of == of && m->number < number))
            lo = mid + 1;
        else
            hi = mid;
    }
    return false;
}

static void print_place(lz_buf *b, const lz_func *f, const lz_auto_plan *p, lz_auto_mark_of of,
                        uint32_t k)
{
    bool in = of == LZ_AUTO_PARAM;
    const lz_type *t = lz_val_type(f, in ? k : f->results[k]);
    char type[160];
    lz_buf_printf(b, "%s %u %s: ", in ? "parameter" : "result", k,
                  lz_type_short(t, type, sizeof type));
    lz_report_dims(b, in ? p->in[k] : p->out[k]);
    lz_buf_puts(b, has_mark(p, of, k) ? "\n" : "  (not marked by the plan)\n");
}

static void print_cost(lz_buf *b, const lz_auto_plan *p, const lz_auto_cost *c)
{
    uint64_t n = 0;
    for (int op = 0; op < LZ_OP_COUNT; op++)
        n += c->launches_of[op];
    lz_buf_printf(b,
                  "%" PRIu64 " bytes in %" PRIu64 " collectives, %.4g %% of the work, %" PRIu64
                  " bytes of parameters, %.4g us",
                  c->sent, n, share(p, c), c->memory, 1e6 * c->seconds);
}

static void print_known(lz_buf *b, const lz_auto_plan *p)
{
    for (uint32_t i = 0; i < p->nknown; i++) {
        lz_buf_printf(b, "%s: ", p->known[i].name);
        print_cost(b, p, &p->known[i].cost);
        lz_buf_puts(b, p->known[i].fits ? "\n" : " (does not fit)\n");
    }
}

static void print_model(lz_buf *b, const lz_auto_plan *p)
{
    lz_buf_printf(b, "model: %u variables, %u edges, %.4g us", p->variables, p->edges,
                  1e6 * p->model_seconds);
    if (p->exact)
        lz_buf_puts(b, ", which is the least\n");
    else
        lz_buf_printf(b, ", no less than %.4g us\n", 1e6 * p->bound_seconds);
    lz_buf_printf(b, "%u candidates were partitioned; the plan is of: %s\n", p->partitions,
                  p->origin);
}

lz_status lz_auto_report(const lz_func *f, const lz_mesh *mesh, const lz_auto_plan *p, lz_buf *out)
{
    lz_buf_puts(out, "mesh ");
    lz_mesh_print(out, mesh);
    lz_buf_putc(out, '\n');
    for (uint32_t k = 0; k < f->nparam; k++)
        print_place(out, f, p, LZ_AUTO_PARAM, k);
    for (uint32_t k = 0; k < f->nresult; k++)
        print_place(out, f, p, LZ_AUTO_RESULT, k);
    for (uint32_t i = 0; i < p->nmark; i++) {
        if (p->marks[i].of != LZ_AUTO_VALUE)
            continue;
        lz_report_value(out, f, p->marks[i].number);
        lz_buf_puts(out, ": ");
        lz_report_dims(out, p->marks[i].at);
        lz_report_site(out, &f->insts[p->marks[i].number]);
        lz_buf_putc(out, '\n');
    }
    lz_buf_puts(out, "plan: ");
    print_cost(out, p, &p->cost);
    lz_buf_putc(out, '\n');
    for (int op = 0; op < LZ_OP_COUNT; op++)
        if (p->cost.launches_of[op])
            lz_buf_printf(out, "  %s: %" PRIu64 ", %" PRIu64 " bytes\n", lz_op_get((lz_op)op)->text,
                          p->cost.launches_of[op], p->cost.sent_by[op]);
    print_known(out, p);
    print_model(out, p);
    return finish(out);
}

/* ---- JSON ---- */

static void json_place(lz_buf *b, const lz_sharding *s)
{
    lz_buf dims = {0};
    lz_report_dims(&dims, s);
    b->failed |= dims.failed;
    lz_buf_puts(b, "\"");
    for (const char *c = lz_buf_str(&dims); *c; c++) {
        if (*c == '"' || *c == '\\')
            lz_buf_putc(b, '\\');
        lz_buf_putc(b, *c);
    }
    lz_buf_puts(b, "\"");
    lz_buf_free(&dims);
}

static void json_places(lz_buf *b, const lz_func *f, const lz_auto_plan *p, lz_auto_mark_of of)
{
    bool in = of == LZ_AUTO_PARAM;
    uint32_t n = in ? f->nparam : f->nresult;
    char type[160];
    for (uint32_t k = 0; k < n; k++) {
        const lz_type *t = lz_val_type(f, in ? k : f->results[k]);
        lz_buf_printf(b, "%s\n    {\"number\": %u, \"type\": \"%s\", \"sharding\": ", k ? "," : "",
                      k, lz_type_short(t, type, sizeof type));
        json_place(b, in ? p->in[k] : p->out[k]);
        lz_buf_printf(b, ", \"marked\": %s}", has_mark(p, of, k) ? "true" : "false");
    }
}

static void json_marks(lz_buf *b, const lz_func *f, const lz_auto_plan *p)
{
    const char *sep = "";
    char type[160];
    for (uint32_t i = 0; i < p->nmark; i++) {
        const lz_auto_mark *m = &p->marks[i];
        if (m->of != LZ_AUTO_VALUE)
            continue;
        lz_buf_printf(b, "%s\n    {\"value\": %u, \"op\": \"%s\", \"type\": \"%s\", \"sharding\": ",
                      sep, m->number, lz_op_get(f->insts[m->number].sig->op)->text,
                      lz_type_short(lz_val_type(f, m->number), type, sizeof type));
        json_place(b, m->at);
        lz_buf_putc(b, '}');
        sep = ",";
    }
}

static void json_cost(lz_buf *b, const lz_auto_plan *p, const lz_auto_cost *c)
{
    const char *sep = "";
    lz_buf_printf(b,
                  "{\"sent_bytes\": %" PRIu64 ", \"parameter_bytes\": %" PRIu64
                  ", \"work_share\": %.9g, \"seconds\": %.9g, \"collectives\": {",
                  c->sent, c->memory, share(p, c) / 100, c->seconds);
    for (int op = 0; op < LZ_OP_COUNT; op++) {
        if (!c->launches_of[op])
            continue;
        lz_buf_printf(b, "%s\"%s\": {\"count\": %" PRIu64 ", \"sent_bytes\": %" PRIu64 "}", sep,
                      lz_op_get((lz_op)op)->text, c->launches_of[op], c->sent_by[op]);
        sep = ", ";
    }
    lz_buf_puts(b, "}}");
}

lz_status lz_auto_report_json(const lz_func *f, const lz_mesh *mesh, const lz_auto_plan *p,
                              lz_buf *out)
{
    lz_buf_puts(out, "{\n  \"mesh\": [");
    for (int k = 0; k < mesh->naxis; k++) {
        lz_buf_puts(out, k ? ", {\"name\": " : "{\"name\": ");
        lz_buf_put_quoted(out, mesh->axes[k].name);
        lz_buf_printf(out, ", \"size\": %" PRId64 "}", mesh->axes[k].size);
    }
    lz_buf_puts(out, "],\n  \"parameters\": [");
    json_places(out, f, p, LZ_AUTO_PARAM);
    lz_buf_puts(out, "],\n  \"results\": [");
    json_places(out, f, p, LZ_AUTO_RESULT);
    lz_buf_puts(out, "],\n  \"values\": [");
    json_marks(out, f, p);
    lz_buf_puts(out, "],\n  \"predicted\": ");
    json_cost(out, p, &p->cost);
    lz_buf_puts(out, ",\n  \"known\": [");
    for (uint32_t i = 0; i < p->nknown; i++) {
        lz_buf_printf(out, "%s\n    {\"name\": \"%s\", \"fits\": %s, \"predicted\": ", i ? "," : "",
                      p->known[i].name, p->known[i].fits ? "true" : "false");
        json_cost(out, p, &p->known[i].cost);
        lz_buf_putc(out, '}');
    }
    lz_buf_printf(out,
                  "],\n  \"model\": {\"variables\": %u, \"edges\": %u, \"seconds\": %.9g, "
                  "\"bound_seconds\": %.9g, \"exact\": %s},\n  \"partitions\": %u,\n"
                  "  \"origin\": \"%s\"\n}\n",
                  p->variables, p->edges, p->model_seconds, p->bound_seconds,
                  p->exact ? "true" : "false", p->partitions, p->origin);
    return finish(out);
}
