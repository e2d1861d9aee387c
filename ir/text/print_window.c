/* print_window.c - the text of operations on windows. What has its default value is left out, as
 * JAX leaves it out.
 * Threads: reads only. */
#include "ir/attr.h"
#include "ir/text/print.h"
#include "ir/xla_meaning.h"
#include <inttypes.h>

static bool all_are(const lz_ints *v, int64_t x)
{
    for (int i = 0; i < v->n; i++)
        if (v->v[i] != x)
            return false;
    return true;
}

static void puts_(lz_printer *p, const char *s)
{
    lz_buf_puts(p->out, s);
}

/* ---- generic forms: attributes in the order of their names ---- */

static void print_array(lz_printer *p, const char **comma, const char *name, const lz_ints *v)
{
    lz_buf_printf(p->out, "%s%s = array<i64", *comma, name);
    for (int i = 0; i < v->n; i++)
        lz_buf_printf(p->out, "%s%" PRId64, i ? ", " : ": ", v->v[i]);
    puts_(p, ">");
    *comma = ", ";
}

static void print_pairs(lz_printer *p, const lz_ints *low, const lz_ints *high)
{
    puts_(p, "[");
    for (int i = 0; i < low->n; i++)
        lz_buf_printf(p->out, "%s[%" PRId64 ", %" PRId64 "]", i ? ", " : "", low->v[i], high->v[i]);
    puts_(p, "]");
}

/* padding = dense<[[0, 1], [0, 1]]> : tensor<2x2xi64>; one number when all are equal */
static void print_padding(lz_printer *p, const char **comma, const lz_ints *low,
                          const lz_ints *high)
{
    lz_buf_printf(p->out, "%spadding = dense<", *comma);
    if (low->n && all_are(low, low->v[0]) && all_are(high, low->v[0]))
        lz_buf_printf(p->out, "%" PRId64, low->v[0]);
    else
        print_pairs(p, low, high);
    lz_buf_printf(p->out, "> : tensor<%dx2xi64>", low->n);
    *comma = ", ";
}

void lz_print_meaning(lz_printer *p, const lz_inst *in)
{
    if (lz_xla_differs(p->f, in->sig->op, in->sig->attr, in->opnd, in->sig->nopnd))
        puts_(p, " {mhlo.frontend_attributes = {" LZ_ROW_MEANT "}}");
}

void lz_print_reduce_window(lz_printer *p, const lz_inst *in)
{
    const lz_attr_reduce_window *a = LZ_ATTR(reduce_window, in->sig->attr);
    const char *comma = "";
    lz_print_generic_head(p, in);
    if (!all_are(&a->base_dilations, 1))
        print_array(p, &comma, "base_dilations", &a->base_dilations);
    if (!all_are(&a->padding_low, 0) || !all_are(&a->padding_high, 0))
        print_padding(p, &comma, &a->padding_low, &a->padding_high);
    if (!all_are(&a->window_dilations, 1))
        print_array(p, &comma, "window_dilations", &a->window_dilations);
    print_array(p, &comma, "window_dimensions", &a->window_dimensions);
    if (!all_are(&a->window_strides, 1))
        print_array(p, &comma, "window_strides", &a->window_strides);
    puts_(p, "}> ");
    lz_print_regions(p, &a->body, 1);
    lz_print_meaning(p, in);
    lz_print_functional_type(p, in);
}

void lz_print_select_and_scatter(lz_printer *p, const lz_inst *in)
{
    const lz_attr_select_and_scatter *a = LZ_ATTR(select_and_scatter, in->sig->attr);
    const lz_func *regions[2] = {a->select, a->scatter};
    const char *comma = "";
    lz_print_generic_head(p, in);
    if (!all_are(&a->padding_low, 0) || !all_are(&a->padding_high, 0))
        print_padding(p, &comma, &a->padding_low, &a->padding_high);
    print_array(p, &comma, "window_dimensions", &a->window_dimensions);
    if (!all_are(&a->window_strides, 1))
        print_array(p, &comma, "window_strides", &a->window_strides);
    puts_(p, "}> ");
    lz_print_regions(p, regions, 2);
    lz_print_functional_type(p, in);
}

void lz_print_window_view(lz_printer *p, const lz_inst *in)
{
    const lz_attr_window_view *a = LZ_ATTR(window_view, in->sig->attr);
    const char *comma = "";
    puts_(p, "\"lazuli.window_view\"(");
    lz_print_vals(p, in->opnd, 1);
    puts_(p, ") <{");
    print_array(p, &comma, "dilations", &a->dilations);
    print_array(p, &comma, "dimensions", &a->dimensions);
    print_array(p, &comma, "sizes", &a->sizes);
    print_array(p, &comma, "strides", &a->strides);
    puts_(p, "}>");
    lz_print_functional_type(p, in);
}

/* ---- convolution ---- */

/* [b, 0, 1, f]: what each dimension is. */
static void print_labels(lz_printer *p, int64_t first, char c, int64_t second, char d,
                         const lz_ints *spatial)
{
    for (int i = 0; i < spatial->n + 2; i++) {
        puts_(p, i ? ", " : "[");
        for (int k = 0; k < spatial->n; k++)
            if (spatial->v[k] == i)
                lz_buf_printf(p->out, "%d", k);
        if (i == first || i == second)
            lz_buf_putc(p->out, i == first ? c : d);
    }
    puts_(p, "]");
}

static void print_list(lz_printer *p, const char **comma, const char *name, const lz_ints *v,
                       int64_t standard)
{
    if (all_are(v, standard))
        return;
    lz_buf_printf(p->out, "%s%s = ", *comma, name);
    lz_ints_print(p->out, v);
    *comma = ", ";
}

static void print_reverse(lz_printer *p, const char **comma, const lz_ints *v)
{
    if (all_are(v, 0))
        return;
    lz_buf_printf(p->out, "%sreverse = [", *comma);
    for (int i = 0; i < v->n; i++)
        lz_buf_printf(p->out, "%s%s", i ? ", " : "", v->v[i] ? "true" : "false");
    puts_(p, "]");
}

void lz_print_convolution(lz_printer *p, const lz_inst *in)
{
    const lz_attr_convolution *a = LZ_ATTR(convolution, in->sig->attr);
    const char *comma = "";
    puts_(p, "stablehlo.convolution(");
    lz_print_vals(p, in->opnd, 2);
    puts_(p, ") dim_numbers = ");
    print_labels(p, a->input_batch_dimension, 'b', a->input_feature_dimension, 'f',
                 &a->input_spatial_dimensions);
    puts_(p, "x");
    print_labels(p, a->kernel_input_feature_dimension, 'i', a->kernel_output_feature_dimension, 'o',
                 &a->kernel_spatial_dimensions);
    puts_(p, "->");
    print_labels(p, a->output_batch_dimension, 'b', a->output_feature_dimension, 'f',
                 &a->output_spatial_dimensions);
    puts_(p, ", window = {");
    print_list(p, &comma, "stride", &a->window_strides, 1);
    if (!all_are(&a->padding_low, 0) || !all_are(&a->padding_high, 0)) {
        lz_buf_printf(p->out, "%spad = ", comma);
        print_pairs(p, &a->padding_low, &a->padding_high);
        comma = ", ";
    }
    print_list(p, &comma, "lhs_dilate", &a->lhs_dilation, 1);
    print_list(p, &comma, "rhs_dilate", &a->rhs_dilation, 1);
    print_reverse(p, &comma, &a->window_reversal);
    lz_buf_printf(
        p->out, "} {batch_group_count = %" PRId64 " : i64, feature_group_count = %" PRId64 " : i64",
        a->batch_group_count, a->feature_group_count);
    if (a->precision != LZ_PRECISION_DEFAULT) {
        const char *name = lz_attr_enum_name("precision", a->precision);
        lz_buf_printf(p->out,
                      ", precision_config = [#stablehlo<precision %s>, #stablehlo<precision %s>]",
                      name, name);
    }
    puts_(p, "}");
    lz_print_functional_type(p, in);
}
