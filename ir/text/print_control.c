/* print_control.c - the text of while and if. What a region uses from around it is an operand and a
 * parameter in the IR, and the name that the value has outside in the text. Threads: reads only. */
#include "ir/attr.h"
#include "ir/text/print.h"

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
