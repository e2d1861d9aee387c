/* report_json.c - where values are, why, and what collectives send and why, as one object of JSON:
 *   {"mesh": "<[..]>", "devices": 8,
 *    "values": [{"value": 3, "region": "", "op": "add", "type": "f32[8]", "sharding": "[{\"x\"}]",
 *                "mark": 1, "from": 2, "by": 3, "rule": "..", "location": "a.mlir:3"}, ..],
 *    "collectives": [{"collective": "all_reduce", "axes": "{\"x\"}", "groups": "[[0, 1]]",
 *                     "group_size": 2, "operands": 1, "operand_bytes": 8, "result_bytes": 8,
 *                     "sent_bytes": 8, "loop": false, "causes": [..]}, ..],
 *    "totals": {"collectives": 1, "sent_bytes": 8, "kinds": {"all_reduce": {..}}}}
 * Values are numbers of the function or of the region whose path "region" is: "7.1" is region 1 of
 * value 7. What is not known is left out. Threads: pure. */
#include "ir/attr.h"
#include "ir/participants.h"
#include "shard/report.h"
#include <inttypes.h>

static void put_string(lz_buf *b, const char *s)
{
    lz_buf_putc(b, '"');
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            lz_buf_printf(b, "\\%c", c);
        else if (c < 32)
            lz_buf_printf(b, "\\u%04x", c);
        else
            lz_buf_putc(b, *s);
    }
    lz_buf_putc(b, '"');
}

/* , "key": "what was printed", which is freed. */
static void put_text(lz_buf *b, const char *key, lz_buf *text)
{
    lz_buf_printf(b, ", \"%s\": ", key);
    put_string(b, lz_buf_str(text));
    b->failed |= text->failed;
    lz_buf_free(text);
}

static void put_sharding(lz_buf *b, const char *key, const lz_sharding *s)
{
    lz_buf t = {0};
    lz_report_dims(&t, s);
    put_text(b, key, &t);
}

/* "7.1": regions from the outside in. */
static void print_path(lz_buf *b, const lz_shard_place *in)
{
    if (!in)
        return;
    print_path(b, in->outer);
    lz_buf_printf(b, "%s%u.%d", in->outer ? "." : "", in->at, in->region);
}

/* "value": 3, "op": .., "type": .., "location": .. */
static void put_value(lz_buf *b, const lz_func *f, lz_val v)
{
    const lz_inst *in = &f->insts[v];
    char type[160];
    lz_buf_printf(b, "\"value\": %u, \"op\": ", v);
    put_string(b, lz_op_get(in->sig->op)->text);
    lz_buf_puts(b, ", \"type\": ");
    put_string(b, lz_type_short(in->sig->result[0], type, sizeof type));
    if (in->site && in->site->file) {
        lz_buf t = {0};
        lz_buf_printf(&t, "%s:%d", in->site->file, in->site->line);
        put_text(b, "location", &t);
    }
}

/* ---- values ---- */

static lz_status put_cause(lz_buf *b, const lz_shardings *s, lz_val v)
{
    const lz_shard_cause *c = &s->cause[v];
    if (c->mark == LZ_NOVAL)
        return LZ_OK;
    lz_buf_printf(b, ", \"mark\": %u", c->mark);
    if (c->where != s)
        lz_buf_puts(b, ", \"mark_elsewhere\": true");
    if (c->from != LZ_NOVAL)
        lz_buf_printf(b, ", \"from\": %u", c->from);
    if (c->by == LZ_NOVAL)
        return LZ_OK;
    lz_buf rule = {0};
    lz_status status = lz_report_rule(&rule, s->f, c->by);
    lz_buf_printf(b, ", \"by\": %u", c->by);
    put_text(b, "rule", &rule);
    return status;
}

/* Regions nest at most LZ_MAX_REGION_DEPTH deep. */
static lz_status put_values(lz_buf *b, const lz_shardings *s, const lz_shard_place *in, bool *any)
{
    for (lz_val v = 0; v < s->f->ninst; v++) {
        lz_buf path = {0};
        lz_buf_puts(b, *any ? ",\n  {" : "\n  {");
        *any = true;
        put_value(b, s->f, v);
        print_path(&path, in);
        put_text(b, "region", &path);
        if (s->at[v]) {
            put_sharding(b, "sharding", s->at[v]);
            LZ_TRY(put_cause(b, s, v));
        }
        lz_buf_putc(b, '}');
        for (int k = 0; k < 2 && s->sub; k++) {
            const lz_shard_place here = {in, s->f, s, v, k};
            const lz_shardings *sub = s->sub[2 * v + (uint32_t)k];
            if (sub)
                LZ_TRY(put_values(b, sub, &here, any));
        }
    }
    return LZ_OK;
}

/* ---- collectives ---- */

static void put_marks(lz_buf *b, const lz_shard_reason *r)
{
    lz_report_mark marks[LZ_REPORT_MARKS];
    int n = lz_report_marks(r, marks);
    lz_buf_puts(b, ", \"marks\": [");
    for (int i = 0; i < n; i++) {
        const lz_sharding *says = lz_report_mark_sharding(&marks[i]);
        lz_val param = lz_report_marked_param(&marks[i]);
        lz_buf_puts(b, i ? ", {" : "{");
        put_value(b, marks[i].s->f, marks[i].at);
        if (says)
            put_sharding(b, "sharding", says);
        if (param != LZ_NOVAL)
            lz_buf_printf(b, ", \"parameter\": %u", param);
        if (marks[i].s != r->s)
            lz_buf_puts(b, ", \"elsewhere\": true");
        lz_buf_putc(b, '}');
    }
    lz_buf_putc(b, ']');
}

static void put_reason(lz_buf *b, const lz_shard_reason *r)
{
    static const char *const need[] = {"operand", "result", "itself"};
    lz_buf path = {0};
    lz_buf_printf(b, "{\"need\": \"%s\"", need[r->need]);
    print_path(&path, r->in);
    put_text(b, "region", &path);
    if (r->value != LZ_NOVAL) {
        lz_buf_puts(b, ", ");
        put_value(b, r->f, r->value);
        put_sharding(b, "from", r->from);
        put_sharding(b, "to", r->to);
    }
    if (r->sum != LZ_NOVAL) {
        lz_buf_puts(b, ", \"sum\": {");
        put_value(b, r->f, r->sum);
        lz_buf_putc(b, '}');
    }
    if (r->by != LZ_NOVAL) {
        lz_buf_puts(b, ", \"wanted_by\": {");
        put_value(b, r->f, r->by);
        lz_buf_putc(b, '}');
    } else {
        lz_buf_printf(b, ", \"result\": %u", r->result);
    }
    put_marks(b, r);
    lz_buf_putc(b, '}');
}

static const char *groups_of(const lz_sig *sig)
{
    const char *text = lz_group_field_of(sig).text;
    return text ? text : "";
}

static void put_collective(lz_buf *b, const lz_shard_collective *c, const lz_mesh *mesh,
                           const lz_shard_traffic *t)
{
    lz_buf axes = {0};
    lz_buf_printf(b, "{\"collective\": \"%s\"", lz_op_get(c->sig->op)->text);
    lz_report_axes(&axes, mesh, t->axes);
    put_text(b, "axes", &axes);
    lz_buf_puts(b, ", \"groups\": ");
    put_string(b, groups_of(c->sig));
    lz_buf_printf(b,
                  ", \"group_size\": %u, \"operands\": %u, \"operand_bytes\": %" PRIu64
                  ", \"result_bytes\": %" PRIu64 ", \"sent_bytes\": %" PRIu64 ", \"loop\": %s",
                  t->group_size, c->sig->nopnd, t->operand_bytes, t->result_bytes, t->sent_bytes,
                  lz_report_in_loop(c->in) ? "true" : "false");
    lz_buf_puts(b, ", \"causes\": [");
    for (const lz_shard_reason *r = c->why; r; r = r->next) {
        lz_buf_puts(b, r == c->why ? "\n    " : ",\n    ");
        put_reason(b, r);
    }
    lz_buf_puts(b, "]}");
}

static lz_status put_collectives(lz_buf *b, const lz_partitioned *p, const lz_mesh *mesh)
{
    uint64_t n[LZ_OP_COUNT] = {0}, bytes[LZ_OP_COUNT] = {0}, all = 0, sum = 0;
    lz_buf_puts(b, ",\n\"collectives\": [");
    for (const lz_shard_collective *c = p->collectives; c; c = c->next) {
        lz_shard_traffic t;
        LZ_TRY(lz_shard_traffic_of(c->sig, mesh, &t));
        lz_buf_puts(b, c == p->collectives ? "\n  " : ",\n  ");
        put_collective(b, c, mesh, &t);
        n[c->sig->op]++;
        bytes[c->sig->op] += t.sent_bytes;
        all++;
        sum += t.sent_bytes;
    }
    lz_buf_printf(b,
                  "],\n\"totals\": {\"collectives\": %" PRIu64 ", \"sent_bytes\": %" PRIu64
                  ", \"kinds\": {",
                  all, sum);
    for (int op = 0, any = 0; op < LZ_OP_COUNT; op++)
        if (n[op])
            lz_buf_printf(b,
                          "%s\"%s\": {\"collectives\": %" PRIu64 ", \"sent_bytes\": %" PRIu64 "}",
                          any++ ? ", " : "", lz_op_get((lz_op)op)->text, n[op], bytes[op]);
    lz_buf_puts(b, "}}");
    return LZ_OK;
}

lz_status lz_shard_report_json(const lz_shardings *s, const lz_mesh *mesh, const lz_partitioned *p,
                               lz_buf *out)
{
    lz_buf text = {0};
    bool any = false;
    lz_mesh_print(&text, mesh);
    lz_buf_printf(out, "{\"devices\": %" PRId64, mesh->ndevice);
    put_text(out, "mesh", &text);
    lz_buf_puts(out, ",\n\"values\": [");
    LZ_TRY(put_values(out, s, NULL, &any));
    lz_buf_putc(out, ']');
    if (p)
        LZ_TRY(put_collectives(out, p, mesh));
    lz_buf_puts(out, "}\n");
    return out->failed ? LZ_FAIL(LZ_EMEM, "no memory for a report of shardings") : LZ_OK;
}
