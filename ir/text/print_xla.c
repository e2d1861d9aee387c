/* print_xla.c - two debugging texts in the way of PyTorch/XLA: the `IR { ... }` list and a DOT
 * graph. Values are called by their index in the function; result k of several is %n.k. Threads:
 * reads only. */
#include "ir/attr.h"
#include "ir/module.h"
#include "ir/text/number.h"
#include <inttypes.h>
#include <string.h>

enum { LONGEST_VALUE = 64 }; /* characters of an attribute or a constant */

static const char *xla_dtype(lz_dtype d)
{
    static const char *const signed_names[] = {[LZ_I8] = "s8",   [LZ_I16] = "s16", [LZ_I32] = "s32",
                                               [LZ_I64] = "s64", [LZ_I2] = "s2",   [LZ_I4] = "s4"};
    if (d == LZ_BOOL)
        return "pred";
    return lz_dtype_is_signed(d) ? signed_names[d] : lz_dtype_name(d);
}

/* f32[2,3]{1,0}: with the layout, always row-major here. */
static void put_shape(lz_buf *b, const lz_type *t)
{
    lz_buf_printf(b, "%s[", xla_dtype(t->dtype));
    for (int i = 0; i < t->shape.rank; i++)
        lz_buf_printf(b, "%s%" PRId64, i ? "," : "", t->shape.dims[i]);
    lz_buf_putc(b, ']');
    for (int i = t->shape.rank - 1; i >= 0; i--)
        lz_buf_printf(b, "%c%d", i == t->shape.rank - 1 ? '{' : ',', i);
    if (t->shape.rank > 0)
        lz_buf_putc(b, '}');
}

static void put_shapes(lz_buf *b, const lz_sig *s)
{
    if (s->nresult > 1)
        lz_buf_putc(b, '(');
    for (uint32_t i = 0; i < s->nresult; i++) {
        if (i)
            lz_buf_puts(b, ", ");
        put_shape(b, s->result[i]);
    }
    if (s->nresult > 1)
        lz_buf_putc(b, ')');
}

static void put_op(lz_buf *b, lz_op op)
{
    const char *text = lz_op_get(op)->text, *dot = strchr(text, '.');
    if (op == LZ_OP_PARAMETER)
        lz_buf_puts(b, "xla::device_data");
    else if (op == LZ_OP_CONSTANT)
        lz_buf_puts(b, "prim::Constant");
    else if (dot)
        lz_buf_printf(b, "%.*s::%s", (int)(dot - text), text, dot + 1);
    else
        lz_buf_printf(b, "stablehlo::%s", text);
}

/* name=value, the value cut. */
static void put_pair(lz_buf *b, const char *between, const char *name, const lz_buf *value)
{
    const char *v = lz_buf_str(value);
    lz_buf_printf(b, "%s%s=%.*s%s", between, name, LONGEST_VALUE, v,
                  strlen(v) > LONGEST_VALUE ? "..." : "");
}

static void put_constant(lz_buf *b, const char *between, const lz_literal *l)
{
    lz_buf v = {0};
    for (int64_t i = 0; i < l->type->nelem && v.len <= LONGEST_VALUE; i++) {
        if (i)
            lz_buf_puts(&v, ", ");
        lz_number_print(&v, l->type->dtype, l->data, i);
    }
    b->failed |= v.failed;
    put_pair(b, between, "value", &v);
    lz_buf_free(&v);
}

static void put_attrs(lz_buf *b, const char *between, const lz_inst *in)
{
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    int n = lz_attr_fields(in->sig->attr, f);
    for (int i = 0; i < n; i++) {
        lz_buf v = {0};
        if (f[i].type == LZ_FIELD_DTYPE || f[i].type == LZ_FIELD_SHAPE)
            continue; /* said by the shape */
        if (f[i].type == LZ_FIELD_REGION) {
            lz_op op = lz_region_as_binary(*f[i].region);
            char hash[33];
            lz_buf_puts(&v, op != LZ_OP_NONE ? lz_op_get(op)->text
                                             : lz_hash_text((*f[i].region)->hash, hash));
        } else {
            lz_attr_field_print(&v, &f[i]);
        }
        b->failed |= v.failed;
        put_pair(b, between, f[i].name, &v);
        lz_buf_free(&v);
    }
    if (in->lit)
        put_constant(b, between, in->lit);
}

/* Value v as an operand: the instruction that makes it, and which of its results. */
static lz_val source(const lz_func *f, lz_val v, int64_t *k)
{
    const lz_inst *in = &f->insts[v];
    bool result = in->sig->op == LZ_OP_RESULT;
    *k = result ? LZ_ATTR(index, in->sig->attr)->index : 0;
    return result ? in->opnd[0] : v;
}

static void put_roots(lz_buf *b, const char *between, const lz_func *f, lz_val v)
{
    for (uint32_t i = 0; i < f->nresult; i++) {
        int64_t k;
        if (source(f, f->results[i], &k) == v)
            lz_buf_printf(b, "%sROOT=%u", between, i);
    }
}

static void put_line(lz_buf *b, const lz_func *f, lz_val v, bool locations)
{
    const lz_inst *in = &f->insts[v];
    lz_buf_printf(b, "  %%%u = ", v);
    put_shapes(b, in->sig);
    lz_buf_putc(b, ' ');
    put_op(b, in->sig->op);
    lz_buf_putc(b, '(');
    for (uint32_t i = 0; i < in->sig->nopnd; i++) {
        int64_t k;
        lz_val from = source(f, in->opnd[i], &k);
        lz_buf_printf(b, "%s%%%u", i ? ", " : "", from);
        if (f->insts[from].sig->nresult > 1)
            lz_buf_printf(b, ".%" PRId64, k);
    }
    lz_buf_putc(b, ')');
    if (locations && in->site)
        lz_buf_printf(b, ", location=%s@%s:%d", in->site->func ? in->site->func : "",
                      in->site->file ? in->site->file : "", in->site->line);
    if (locations && in->scope)
        lz_buf_printf(b, ", scope=%s", in->scope);
    put_attrs(b, ", ", in);
    lz_buf_puts(b, ", xla_shape=");
    put_shapes(b, in->sig);
    put_roots(b, ", ", f, v);
    lz_buf_putc(b, '\n');
}

void lz_func_print_irtext(const lz_func *f, lz_buf *out, bool locations)
{
    lz_buf_puts(out, "IR {\n");
    for (lz_val v = 0; v < f->ninst && !out->failed; v++)
        if (f->insts[v].sig->op != LZ_OP_RESULT)
            put_line(out, f, v, locations);
    lz_buf_puts(out, "}\n");
}

static void put_node(lz_buf *b, const lz_func *f, lz_val v)
{
    const lz_inst *in = &f->insts[v];
    lz_buf_printf(b, "  node%u [label=\"", v);
    put_op(b, in->sig->op);
    lz_buf_puts(b, "\\n");
    put_shapes(b, in->sig);
    put_attrs(b, "\\n", in);
    put_roots(b, "\\n", f, v);
    lz_buf_puts(b, "\"]\n");
}

static void put_edges(lz_buf *b, const lz_func *f, lz_val v)
{
    const lz_inst *in = &f->insts[v];
    for (uint32_t i = 0; i < in->sig->nopnd; i++) {
        int64_t k;
        lz_val from = source(f, in->opnd[i], &k);
        if (f->insts[from].sig->nresult > 1)
            lz_buf_printf(b, "  node%u -> node%u [label=\"i=%u,o=%" PRId64 "\"]\n", from, v, i, k);
        else
            lz_buf_printf(b, "  node%u -> node%u [label=\"i=%u\"]\n", from, v, i);
    }
}

void lz_func_print_dot(const lz_func *f, lz_buf *out)
{
    lz_buf_puts(out, "digraph G {\n");
    for (lz_val v = 0; v < f->ninst && !out->failed; v++)
        if (f->insts[v].sig->op != LZ_OP_RESULT)
            put_node(out, f, v);
    for (lz_val v = 0; v < f->ninst && !out->failed; v++)
        if (f->insts[v].sig->op != LZ_OP_RESULT)
            put_edges(out, f, v);
    lz_buf_puts(out, "}\n");
}
