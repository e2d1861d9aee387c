/* report.c - which sharding each value has and why, as text. See shard.h.
 * Regions nest at most LZ_MAX_REGION_DEPTH deep.
 * Threads: pure. */
#include "shard/report.h"
#include "shard/rules.h"
#include <string.h>

void lz_report_dims(lz_buf *b, const lz_sharding *s)
{
    lz_buf whole = {0};
    lz_sharding_print(&whole, s, "");
    if (whole.len > 5) /* "<@, " .. ">" */
        lz_buf_put(b, whole.data + 4, whole.len - 5);
    b->failed |= whole.failed;
    lz_buf_free(&whole);
}

void lz_report_axes(lz_buf *b, const lz_mesh *m, uint32_t factors)
{
    lz_buf whole = {0};
    lz_sharding s;
    lz_sharding_init(&s, m, 0, false);
    s.replicated = factors;
    lz_sharding_print(&whole, &s, "");
    const char *braces = strchr(lz_buf_str(&whole), '{'); /* <@, [], replicated={"x"}> */
    lz_buf_put(b, braces ? braces : "{}", braces ? strlen(braces) - 1 : 2);
    b->failed |= whole.failed;
    lz_buf_free(&whole);
}

void lz_report_value(lz_buf *b, const lz_func *f, lz_val v)
{
    const lz_inst *in = &f->insts[v];
    char type[160];
    lz_buf_printf(b, "%%%u = %s %s(", v, lz_type_short(in->sig->result[0], type, sizeof type),
                  lz_op_get(in->sig->op)->text);
    for (uint32_t k = 0; k < in->sig->nopnd; k++)
        lz_buf_printf(b, "%s%%%u", k ? ", " : "", in->opnd[k]);
    lz_buf_putc(b, ')');
}

lz_status lz_report_rule(lz_buf *b, const lz_func *f, lz_val by)
{
    lz_arena a = {0};
    const lz_rule *r;
    lz_status s = lz_rule_of(f->insts[by].sig, &a, &r);
    if (s == LZ_OK && r->nfactor)
        lz_rule_print(b, r);
    lz_arena_free(&a);
    return s;
}

/* By what operation a sharding came, and its rule. */
static lz_status print_rule(lz_buf *b, const lz_func *f, lz_val by)
{
    lz_buf rule = {0};
    lz_status s = lz_report_rule(&rule, f, by);
    lz_buf_printf(b, ", by %%%u%s%s", by, rule.len ? " " : "", lz_buf_str(&rule));
    lz_buf_free(&rule);
    return s;
}

void lz_report_site(lz_buf *b, const lz_inst *in)
{
    if (in->site && in->site->file)
        lz_buf_printf(b, "  (%s:%d)", in->site->file, in->site->line);
}

static lz_status print_cause(lz_buf *b, const lz_shardings *s, lz_val v)
{
    const lz_shard_cause *c = &s->cause[v];
    if (c->mark == LZ_NOVAL) {
        lz_buf_puts(b, lz_sharding_is_replicated(s->at[v]) ? "no mark reaches it" : "a decision");
        return LZ_OK;
    }
    lz_buf_printf(b, "%s %%%u%s",
                  c->from == LZ_NOVAL && c->by == LZ_NOVAL ? "marked by" : "of mark", c->mark,
                  c->where == s ? "" : " around it or in it");
    if (c->from != LZ_NOVAL)
        lz_buf_printf(b, ", from %%%u", c->from);
    return c->by == LZ_NOVAL ? LZ_OK : print_rule(b, s->f, c->by);
}

static lz_status report(const lz_shardings *s, int indent, lz_buf *b)
{
    for (lz_val v = 0; v < s->f->ninst; v++) {
        lz_buf_printf(b, "%*s", indent, "");
        lz_report_value(b, s->f, v);
        lz_buf_puts(b, ": ");
        if (s->at[v]) {
            lz_report_dims(b, s->at[v]);
            lz_buf_puts(b, "  ");
            LZ_TRY(print_cause(b, s, v));
        } else {
            lz_buf_puts(b, s->f->insts[v].sig->nresult > 1 ? "its results'"
                                                           : "each use makes its own");
        }
        lz_report_site(b, &s->f->insts[v]);
        lz_buf_putc(b, '\n');
        for (int w = 0; w < 2 && s->sub; w++)
            if (s->sub[2 * v + (uint32_t)w]) {
                lz_buf_printf(b, "%*sregion %d:\n", indent + 2, "", w);
                LZ_TRY(report(s->sub[2 * v + (uint32_t)w], indent + 4, b));
            }
    }
    return LZ_OK;
}

lz_status lz_shard_report(const lz_shardings *s, lz_buf *out)
{
    LZ_TRY(report(s, 0, out));
    return out->failed ? LZ_FAIL(LZ_EMEM, "no memory for a report of shardings") : LZ_OK;
}
