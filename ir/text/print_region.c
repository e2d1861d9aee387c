/* print_region.c - the text of operations that have regions of their own: while and if, and
 * operations among participants. Threads: reads only. */
#include "ir/attr.h"
#include "ir/collective.h"
#include "ir/text/print.h"
#include <inttypes.h>
#include <string.h>

/* ---- while, if: what a region uses from around it is an operand and a parameter in the IR, and
 * the name that the value has outside in the text ---- */

/* The first nown parameters of r are its own; the others stand for the values in captured. */
static void begin(lz_printer *p, const lz_func *r, uint32_t nown, const lz_val *captured,
                  lz_printer *inner)
{
    lz_print_region_begin(p, r, inner);
    inner->outer = p;
    inner->nown = nown;
    inner->captured = captured;
}

static void body(lz_printer *p, const lz_func *r, uint32_t nown, const lz_val *captured)
{
    lz_printer inner;
    begin(p, r, nown, captured, &inner);
    lz_buf_puts(p->out, "{\n");
    if (inner.names)
        lz_print_body(&inner, "stablehlo.return");
    lz_print_indent(p);
    lz_buf_puts(p->out, "}");
    lz_print_region_end(&inner);
}

/* Both regions number their parameters alike, so one list of names is right for both. */
void lz_print_while(lz_printer *p, const lz_inst *in)
{
    const lz_attr_loop *a = LZ_ATTR(loop, in->sig->attr);
    uint32_t n = in->sig->nresult;
    lz_printer inner;
    begin(p, a->body, n, in->opnd + n, &inner);
    lz_buf_puts(p->out, "stablehlo.while(");
    for (uint32_t i = 0; i < n && inner.names; i++) {
        if (i)
            lz_buf_puts(p->out, ", ");
        lz_print_val(&inner, i);
        lz_buf_puts(p->out, " = ");
        lz_print_val(p, in->opnd[i]);
    }
    lz_print_region_end(&inner);
    lz_buf_puts(p->out, ") : ");
    lz_print_types(p, in->sig->result, n);
    lz_buf_putc(p->out, '\n');
    lz_print_indent(p);
    lz_buf_puts(p->out, "cond ");
    body(p, a->cond, n, in->opnd + n);
    lz_buf_puts(p->out, " do ");
    body(p, a->body, n, in->opnd + n);
}

void lz_print_if(lz_printer *p, const lz_inst *in)
{
    const lz_attr_branches *a = LZ_ATTR(branches, in->sig->attr);
    lz_buf_puts(p->out, "\"stablehlo.if\"(");
    lz_print_val(p, in->opnd[0]);
    lz_buf_puts(p->out, ") (");
    body(p, a->true_branch, 0, in->opnd + 1);
    lz_buf_puts(p->out, ", ");
    body(p, a->false_branch, 0, in->opnd + 1);
    lz_buf_puts(p->out, ") : (");
    lz_type_print(p->out, in->sig->opnd[0]);
    lz_buf_puts(p->out, in->sig->nresult == 1 ? ") -> " : ") -> (");
    lz_print_types(p, in->sig->result, in->sig->nresult);
    if (in->sig->nresult != 1)
        lz_buf_puts(p->out, ")");
}

/* ---- operations among participants: the generic form, attributes in the order of their names, as
 * StableHLO's printer has it ---- */

static void print_channel(lz_printer *p, const char **comma, const lz_attr_field *f)
{
    if (f[0].i64[0] == 0 && f[1].i64[0] == 0)
        return;
    lz_buf_printf(p->out,
                  "%schannel_handle = #stablehlo.channel_handle<handle = %" PRId64
                  ", type = %" PRId64 ">",
                  *comma, *f[0].i64, *f[1].i64);
    *comma = ", ";
}

static void print_field(lz_printer *p, const char **comma, const lz_attr_field *f)
{
    lz_groups g;
    bool derived = strcmp(f->name, "participants") == 0 || strcmp(f->name, "channel_type") == 0;
    if (strcmp(f->name, "channel_id") == 0) {
        print_channel(p, comma, f); /* the type is the field after it */
        return;
    }
    if (derived || f->type == LZ_FIELD_REGION || (f->type == LZ_FIELD_BOOL && !*f->flag))
        return;
    lz_buf_printf(p->out, "%s%s", *comma, f->name);
    *comma = ", ";
    if (f->type == LZ_FIELD_I64)
        lz_buf_printf(p->out, " = %" PRId64 " : i64", *f->i64);
    if (f->type == LZ_FIELD_STR && lz_groups_read("", f->name, *f->str, &g, NULL, NULL) == LZ_OK)
        lz_buf_printf(p->out, " = dense<%s> : tensor<%" PRId64 "x%" PRId64 "xi64>", *f->str, g.rows,
                      g.columns);
}

void lz_print_collective(lz_printer *p, const lz_inst *in)
{
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    int n = lz_attr_fields(in->sig->attr, f);
    const char *comma = "";
    const lz_func *region = lz_attr_region(in->sig->attr, 0);
    lz_print_generic_head(p, in);
    for (int i = 0; i < n; i++)
        print_field(p, &comma, &f[i]);
    lz_buf_puts(p->out, region ? "}> " : "}>");
    if (region)
        lz_print_regions(p, &region, 1);
    lz_print_functional_type(p, in);
}
