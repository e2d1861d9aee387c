/* print_op.c - the text form of each operation: StableHLO's own where it has one, else the generic
 * form with its attributes.
 * Threads: reads only. */
#include "ir/text/print.h"
#include "ir/attr.h"
#include "ir/custom_call.h"
#include "ir/text/number.h"
#include <inttypes.h>
#include <string.h>

typedef void print_form(lz_printer *p, const lz_inst *in);
static print_form *form_of(lz_op op);

static void puts_(lz_printer *p, const char *s)
{
    lz_buf_puts(p->out, s);
}

/* ": (a, b) -> c", the results in parentheses when there is not one. */
static void functional_type(lz_printer *p, const lz_inst *in)
{
    puts_(p, " : (");
    lz_print_types(p, in->sig->opnd, in->sig->nopnd);
    puts_(p, in->sig->nresult == 1 ? ") -> " : ") -> (");
    lz_print_types(p, in->sig->result, in->sig->nresult);
    if (in->sig->nresult != 1)
        puts_(p, ")");
}

/* ": t" when operands and result have one type. */
static void same_type(lz_printer *p, const lz_inst *in)
{
    for (uint32_t i = 0; i < in->sig->nopnd; i++)
        if (in->sig->opnd[i] != in->sig->result[0]) {
            functional_type(p, in);
            return;
        }
    puts_(p, " : ");
    lz_type_print(p->out, in->sig->result[0]);
}

static void op_name(lz_printer *p, const lz_inst *in)
{
    const char *text = lz_op_get(in->sig->op)->text;
    if (!strchr(text, '.'))
        puts_(p, "stablehlo.");
    puts_(p, text);
    if (in->sig->nopnd)
        puts_(p, " ");
}

static void head(lz_printer *p, const lz_inst *in)
{
    op_name(p, in);
    lz_print_vals(p, in->opnd, in->sig->nopnd);
}

static void list(lz_printer *p, const char *before, const lz_ints *v)
{
    puts_(p, before);
    lz_ints_print(p->out, v);
}

/* ---- elementwise ---- */

static void print_ew(lz_printer *p, const lz_inst *in)
{
    head(p, in);
    same_type(p, in);
}

/* CHLO writes both types, without parentheses for one operand. */
static void print_chlo(lz_printer *p, const lz_inst *in)
{
    head(p, in);
    puts_(p, " : ");
    lz_print_types(p, in->sig->opnd, in->sig->nopnd);
    puts_(p, " -> ");
    lz_type_print(p->out, in->sig->result[0]);
}

static void print_functional(lz_printer *p, const lz_inst *in)
{
    head(p, in);
    functional_type(p, in);
}

static void print_compare(lz_printer *p, const lz_inst *in)
{
    const lz_attr_compare *a = LZ_ATTR(compare, in->sig->attr);
    op_name(p, in);
    lz_buf_printf(p->out, "%s, ",
                  lz_attr_enum_name("comparison_direction", a->comparison_direction));
    lz_print_vals(p, in->opnd, 2);
    if (a->compare_type != LZ_CT_NOTYPE)
        lz_buf_printf(p->out, ", %s", lz_attr_enum_name("compare_type", a->compare_type));
    functional_type(p, in);
}

/* The parts' types follow from the result's. */
static void print_complex(lz_printer *p, const lz_inst *in)
{
    head(p, in);
    puts_(p, " : ");
    lz_type_print(p->out, in->sig->result[0]);
}

static void print_select(lz_printer *p, const lz_inst *in)
{
    head(p, in);
    puts_(p, " : ");
    lz_print_types(p, in->sig->opnd, 2);
}

static void print_reduce_precision(lz_printer *p, const lz_inst *in)
{
    const lz_attr_precision *a = LZ_ATTR(precision, in->sig->attr);
    head(p, in);
    lz_buf_printf(p->out, ", format = e%" PRId64 "m%" PRId64, a->exponent_bits, a->mantissa_bits);
    same_type(p, in);
}

/* ---- leaves ---- */

enum { HEX_ABOVE = 100, ELIDE_ABOVE = 64 }; /* elements */

/* The bytes as they lie in memory; booleans as bits. */
static void print_hex_elements(lz_buf *b, const lz_literal *l)
{
    const uint8_t *data = l->data;
    lz_buf_puts(b, "\"0x");
    if (l->type->dtype == LZ_BOOL) {
        for (int64_t i = 0; i < l->type->nelem; i += 8) {
            unsigned byte = 0;
            for (int64_t k = i; k < i + 8 && k < l->type->nelem; k++)
                byte |= (unsigned)(data[k] != 0) << (k - i);
            lz_buf_printf(b, "%02X", byte);
        }
    } else {
        for (size_t i = 0; i < l->nbytes; i++) {
            lz_buf_putc(b, "0123456789ABCDEF"[data[i] >> 4]);
            lz_buf_putc(b, "0123456789ABCDEF"[data[i] & 15]);
        }
    }
    lz_buf_putc(b, '"');
}

/* Nested lists: [[1, 2], [3, 4]]. Brackets open and close where an index becomes 0 and where it was
 *   the last. */
static void print_elements(lz_buf *b, const lz_literal *l)
{
    const lz_shape *s = &l->type->shape;
    for (int64_t i = 0; i < l->type->nelem; i++) {
        int64_t block = 1;
        int opened = 0, closed = 0;
        for (int d = s->rank - 1; d >= 0; d--) {
            block *= s->dims[d];
            opened += i % block == 0;
            closed += i % block == block - 1;
        }
        if (i)
            lz_buf_puts(b, ", ");
        while (opened-- > 0)
            lz_buf_putc(b, '[');
        lz_number_print(b, l->type->dtype, l->data, i);
        while (closed-- > 0)
            lz_buf_putc(b, ']');
    }
}

static void print_constant(lz_printer *p, const lz_inst *in)
{
    const lz_literal *l = in->lit;
    op_name(p, in);
    if (l->type->nelem > ELIDE_ABOVE && (p->flags & LZ_PRINT_NO_LARGE)) {
        puts_(p, " dense_resource<__elided__> : ");
    } else {
        puts_(p, " dense<");
        if (l->type->nelem > HEX_ABOVE)
            print_hex_elements(p->out, l);
        else if (l->type->nelem == 1)
            lz_number_print(p->out, l->type->dtype, l->data, 0);
        else
            print_elements(p->out, l);
        puts_(p, "> : ");
    }
    lz_type_print(p->out, l->type);
}

static void print_iota(lz_printer *p, const lz_inst *in)
{
    op_name(p, in);
    lz_buf_printf(p->out, " dim = %" PRId64 " : ", LZ_ATTR(iota, in->sig->attr)->iota_dimension);
    lz_type_print(p->out, in->sig->result[0]);
}

/* ---- data movement ---- */

static void print_broadcast(lz_printer *p, const lz_inst *in)
{
    head(p, in);
    list(p, ", dims = ", &LZ_ATTR(broadcast, in->sig->attr)->broadcast_dimensions);
    functional_type(p, in);
}

static void print_concatenate(lz_printer *p, const lz_inst *in)
{
    head(p, in);
    lz_buf_printf(p->out, ", dim = %" PRId64, LZ_ATTR(dim, in->sig->attr)->dimension);
    functional_type(p, in);
}

static void print_pad(lz_printer *p, const lz_inst *in)
{
    const lz_attr_pad *a = LZ_ATTR(pad, in->sig->attr);
    head(p, in);
    list(p, ", low = ", &a->edge_padding_low);
    list(p, ", high = ", &a->edge_padding_high);
    list(p, ", interior = ", &a->interior_padding);
    functional_type(p, in);
}

static void print_reverse(lz_printer *p, const lz_inst *in)
{
    head(p, in);
    list(p, ", dims = ", &LZ_ATTR(dims, in->sig->attr)->dimensions);
    same_type(p, in);
}

static void print_slice(lz_printer *p, const lz_inst *in)
{
    const lz_attr_slice *a = LZ_ATTR(slice, in->sig->attr);
    head(p, in);
    puts_(p, " [");
    for (int i = 0; i < a->start_indices.n; i++) {
        lz_buf_printf(p->out, "%s%" PRId64 ":%" PRId64, i ? ", " : "", a->start_indices.v[i],
                      a->limit_indices.v[i]);
        if (a->strides.v[i] != 1)
            lz_buf_printf(p->out, ":%" PRId64, a->strides.v[i]);
    }
    puts_(p, "]");
    functional_type(p, in);
}

static void print_transpose(lz_printer *p, const lz_inst *in)
{
    head(p, in);
    list(p, ", dims = ", &LZ_ATTR(perm, in->sig->attr)->permutation);
    functional_type(p, in);
}

static void print_dynamic_slice(lz_printer *p, const lz_inst *in)
{
    head(p, in);
    list(p, ", sizes = ", &LZ_ATTR(sizes, in->sig->attr)->slice_sizes);
    functional_type(p, in);
}

/* ---- regions ---- */

static void print_block_arg(lz_printer *inner, uint32_t i)
{
    lz_print_val(inner, i);
    lz_buf_puts(inner->out, ": ");
    lz_type_print(inner->out, lz_val_type(inner->f, i));
}

static void spaces(lz_printer *p, int n)
{
    while (n-- > 0)
        lz_buf_putc(p->out, ' ');
}

/* "{ ^bb0(args): ... }" */
static void print_block(lz_printer *p, const lz_func *r)
{
    lz_printer inner;
    lz_print_region_begin(p, r, &inner);
    puts_(p, "{\n");
    spaces(p, p->indent);
    puts_(p, "^bb0(");
    for (uint32_t i = 0; i < r->nparam && inner.names; i++) {
        if (i)
            puts_(p, ", ");
        print_block_arg(&inner, i);
    }
    puts_(p, "):\n");
    if (inner.names)
        lz_print_body(&inner, "stablehlo.return");
    spaces(p, p->indent);
    puts_(p, "}");
    lz_print_region_end(&inner);
}

void lz_print_regions(lz_printer *p, const lz_func *const *r, int n)
{
    puts_(p, "(");
    for (int i = 0; i < n; i++) {
        if (i)
            puts_(p, ", ");
        print_block(p, r[i]);
    }
    puts_(p, ")");
}

/* Parameter k of the first value goes with parameter n + k of the second. */
static void print_reducer(lz_printer *p, const lz_func *r, uint32_t n)
{
    lz_printer inner;
    lz_print_region_begin(p, r, &inner);
    puts_(p, "\n");
    spaces(p, p->indent);
    puts_(p, " reducer");
    for (uint32_t k = 0; k < n && inner.names; k++) {
        puts_(p, k ? " (" : "(");
        print_block_arg(&inner, k);
        puts_(p, ", ");
        print_block_arg(&inner, n + k);
        puts_(p, ")");
    }
    puts_(p, "  {\n");
    if (inner.names)
        lz_print_body(&inner, "stablehlo.return");
    spaces(p, p->indent);
    puts_(p, "}");
    lz_print_region_end(&inner);
}

static void print_reduce(lz_printer *p, const lz_inst *in)
{
    const lz_attr_reduce *a = LZ_ATTR(reduce, in->sig->attr);
    uint32_t n = in->sig->nopnd / 2;
    lz_op combiner = n == 1 ? lz_region_as_binary(a->body) : LZ_OP_NONE;
    puts_(p, "stablehlo.reduce");
    for (uint32_t k = 0; k < n; k++) {
        puts_(p, k ? ", (" : "(");
        lz_print_val(p, in->opnd[k]);
        puts_(p, " init: ");
        lz_print_val(p, in->opnd[n + k]);
        puts_(p, ")");
    }
    if (combiner != LZ_OP_NONE)
        lz_buf_printf(p->out, " applies stablehlo.%s", lz_op_get(combiner)->text);
    list(p, " across dimensions = ", &a->dimensions);
    functional_type(p, in);
    if (combiner == LZ_OP_NONE)
        print_reducer(p, a->body, n);
}

/* ---- dimension numbers ---- */

static void print_dot(lz_printer *p, const lz_inst *in)
{
    const lz_attr_dot *a = LZ_ATTR(dot, in->sig->attr);
    head(p, in);
    if (a->lhs_batching_dimensions.n) {
        list(p, ", batching_dims = ", &a->lhs_batching_dimensions);
        list(p, " x ", &a->rhs_batching_dimensions);
    }
    list(p, ", contracting_dims = ", &a->lhs_contracting_dimensions);
    list(p, " x ", &a->rhs_contracting_dimensions);
    if (a->precision != LZ_PRECISION_DEFAULT) {
        const char *name = lz_attr_enum_name("precision", a->precision);
        lz_buf_printf(p->out, ", precision = [%s, %s]", name, name);
    }
    functional_type(p, in);
}

static void generic_head(lz_printer *p, const lz_inst *in)
{
    lz_buf_printf(p->out, "\"stablehlo.%s\"(", lz_op_get(in->sig->op)->text);
    lz_print_vals(p, in->opnd, in->sig->nopnd);
    puts_(p, ") <{");
}

/* #stablehlo.gather<offset_dims = [1], index_vector_dim = 1>: lists and numbers that are not empty
 * or 0, but slice_sizes. */
static void print_dim_numbers(lz_printer *p, const char *name, const lz_attr *a)
{
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    int n = lz_attr_fields(a, f);
    const char *comma = "";
    lz_buf_printf(p->out, "#stablehlo.%s<", name);
    for (int i = 0; i < n; i++) {
        bool ints =
            f[i].type == LZ_FIELD_INTS && f[i].ints->n > 0 && strcmp(f[i].name, "slice_sizes") != 0;
        bool number = f[i].type == LZ_FIELD_I64 && *f[i].i64 != 0;
        if (!ints && !number)
            continue;
        lz_buf_printf(p->out, "%s%s = ", comma, f[i].name);
        if (ints)
            lz_ints_print(p->out, f[i].ints);
        else
            lz_buf_printf(p->out, "%" PRId64, *f[i].i64);
        comma = ", ";
    }
    puts_(p, ">");
}

static void print_gather(lz_printer *p, const lz_inst *in)
{
    const lz_attr_gather *a = LZ_ATTR(gather, in->sig->attr);
    generic_head(p, in);
    puts_(p, "dimension_numbers = ");
    print_dim_numbers(p, "gather", in->sig->attr);
    if (a->indices_are_sorted)
        puts_(p, ", indices_are_sorted = true");
    puts_(p, ", slice_sizes = array<i64");
    for (int i = 0; i < a->slice_sizes.n; i++)
        lz_buf_printf(p->out, "%s%" PRId64, i ? ", " : ": ", a->slice_sizes.v[i]);
    puts_(p, ">}>");
    functional_type(p, in);
}

static void print_scatter(lz_printer *p, const lz_inst *in)
{
    const lz_attr_scatter *a = LZ_ATTR(scatter, in->sig->attr);
    generic_head(p, in);
    if (a->indices_are_sorted)
        puts_(p, "indices_are_sorted = true, ");
    puts_(p, "scatter_dimension_numbers = ");
    print_dim_numbers(p, "scatter", in->sig->attr);
    if (a->unique_indices)
        puts_(p, ", unique_indices = true");
    puts_(p, "}> ");
    lz_print_regions(p, &a->update_computation, 1);
    lz_print_meaning(p, in);
    functional_type(p, in);
}

static void print_sort(lz_printer *p, const lz_inst *in)
{
    const lz_attr_sort *a = LZ_ATTR(sort, in->sig->attr);
    generic_head(p, in);
    lz_buf_printf(p->out, "dimension = %" PRId64 " : i64, is_stable = %s}> ", a->dimension,
                  a->is_stable ? "true" : "false");
    lz_print_regions(p, &a->comparator, 1);
    functional_type(p, in);
}

/* ---- random numbers, structure ---- */

static void print_rng(lz_printer *p, const lz_inst *in)
{
    head(p, in);
    lz_buf_printf(p->out, ", algorithm = %s",
                  lz_attr_enum_name("rng_algorithm", LZ_ATTR(rng, in->sig->attr)->rng_algorithm));
    functional_type(p, in);
}

static void print_fft(lz_printer *p, const lz_inst *in)
{
    const lz_attr_fft *a = LZ_ATTR(fft, in->sig->attr);
    head(p, in);
    lz_buf_printf(p->out, ", type = %s", lz_attr_enum_name("fft_type", a->fft_type));
    list(p, ", length = ", &a->fft_length);
    functional_type(p, in);
}

static const char *truth(bool b)
{
    return b ? "true" : "false";
}

static void print_cholesky(lz_printer *p, const lz_inst *in)
{
    head(p, in);
    lz_buf_printf(p->out, ", lower = %s", truth(LZ_ATTR(cholesky, in->sig->attr)->lower));
    same_type(p, in);
}

static void print_triangular_solve(lz_printer *p, const lz_inst *in)
{
    const lz_attr_triangular_solve *a = LZ_ATTR(triangular_solve, in->sig->attr);
    generic_head(p, in);
    lz_buf_printf(p->out,
                  "left_side = %s, lower = %s, transpose_a = #stablehlo<transpose %s>, "
                  "unit_diagonal = %s}>",
                  truth(a->left_side), truth(a->lower),
                  lz_attr_enum_name("transpose", a->transpose_a), truth(a->unit_diagonal));
    functional_type(p, in);
}

/* Rows of this project: the generic form, with the attributes that are flags or numbers. */
static void print_decomposition(lz_printer *p, const lz_inst *in)
{
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    int n = lz_attr_fields(in->sig->attr, f);
    lz_buf_printf(p->out, "\"%s\"(", lz_op_get(in->sig->op)->text);
    lz_print_vals(p, in->opnd, in->sig->nopnd);
    puts_(p, n ? ") <{" : ")");
    for (int i = 0; i < n; i++)
        if (f[i].type == LZ_FIELD_I64)
            lz_buf_printf(p->out, "%s%s = %" PRId64 " : i64", i ? ", " : "", f[i].name, *f[i].i64);
        else
            lz_buf_printf(p->out, "%s%s = %s", i ? ", " : "", f[i].name, truth(*f[i].flag));
    puts_(p, n ? "}>" : "");
    functional_type(p, in);
}

static void print_custom_vjp(lz_printer *p, const lz_inst *in)
{
    const lz_attr_custom_vjp *a = LZ_ATTR(custom_vjp, in->sig->attr);
    lz_buf_printf(p->out, "\"%s\"(", lz_op_get(in->sig->op)->text);
    lz_print_vals(p, in->opnd, in->sig->nopnd);
    puts_(p, ") <{name = ");
    lz_buf_put_quoted(p->out, a->name ? a->name : "");
    lz_buf_printf(p->out, ", results = %" PRId64 " : i64}> ", a->results);
    lz_print_regions(p, &a->backward, 1);
    functional_type(p, in);
}

static void print_barrier(lz_printer *p, const lz_inst *in)
{
    head(p, in);
    puts_(p, " : ");
    lz_print_types(p, in->sig->opnd, in->sig->nopnd);
}

/* Rows that have a form of their own; elementwise ones without share one. */
static bool is_symbol(const char *s)
{
    return strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.$") ==
               strlen(s) &&
           !(*s >= '0' && *s <= '9') && *s != '.' && *s != '$';
}

/* {api_version = 2 : i32, backend_config = "text", has_side_effect = true}. Version 4 has a
 * dictionary, kept as it is written. */
static void print_manner(lz_printer *p, const lz_attr_call *a)
{
    const char *config = a->backend_config ? a->backend_config : "", *comma = " {";
    if (a->api_version) {
        lz_buf_printf(p->out, "%sapi_version = %" PRId64 " : i32", comma, a->api_version);
        comma = ", ";
    }
    if (*config) {
        lz_buf_printf(p->out, "%sbackend_config = ", comma);
        if (a->api_version == 4 && *config == '{')
            puts_(p, config);
        else
            lz_buf_put_quoted(p->out, config);
        comma = ", ";
    }
    if (a->has_side_effect)
        lz_buf_printf(p->out, "%shas_side_effect = true", comma);
    if (a->api_version || *config || a->has_side_effect)
        puts_(p, "}");
}

static void print_custom_call(lz_printer *p, const lz_inst *in)
{
    const lz_attr_call *a = LZ_ATTR(call, in->sig->attr);
    puts_(p, "stablehlo.custom_call @");
    if (is_symbol(a->call_target_name))
        puts_(p, a->call_target_name);
    else
        lz_buf_put_quoted(p->out, a->call_target_name);
    puts_(p, "(");
    lz_print_vals(p, in->opnd, in->sig->nopnd);
    puts_(p, ")");
    print_manner(p, a);
    if (!lz_ffi_is_silent(in->sig)) {
        functional_type(p, in);
        return;
    }
    puts_(p, " : (");
    lz_print_types(p, in->sig->opnd, in->sig->nopnd);
    puts_(p, ") -> ()");
}

static print_form *const forms[LZ_OP_COUNT] = {
    [LZ_OP_CONVERT] = print_functional,
    [LZ_OP_COMPARE] = print_compare,
    [LZ_OP_COMPLEX] = print_complex,
    [LZ_OP_SELECT] = print_select,
    [LZ_OP_REDUCE_PRECISION] = print_reduce_precision,
    [LZ_OP_CONSTANT] = print_constant,
    [LZ_OP_IOTA] = print_iota,
    [LZ_OP_BITCAST_CONVERT] = print_functional,
    [LZ_OP_BROADCAST_IN_DIM] = print_broadcast,
    [LZ_OP_CONCATENATE] = print_concatenate,
    [LZ_OP_PAD] = print_pad,
    [LZ_OP_RESHAPE] = print_functional,
    [LZ_OP_REVERSE] = print_reverse,
    [LZ_OP_SLICE] = print_slice,
    [LZ_OP_TRANSPOSE] = print_transpose,
    [LZ_OP_DYNAMIC_SLICE] = print_dynamic_slice,
    [LZ_OP_DYNAMIC_UPDATE_SLICE] = print_functional,
    [LZ_OP_GATHER] = print_gather,
    [LZ_OP_SCATTER] = print_scatter,
    [LZ_OP_REDUCE] = print_reduce,
    [LZ_OP_DOT_GENERAL] = print_dot,
    [LZ_OP_FFT] = print_fft,
    [LZ_OP_CHOLESKY] = print_cholesky,
    [LZ_OP_TRIANGULAR_SOLVE] = print_triangular_solve,
    [LZ_OP_LU] = print_decomposition,
    [LZ_OP_QR] = print_decomposition,
    [LZ_OP_GEQRF] = print_decomposition,
    [LZ_OP_SVD] = print_decomposition,
    [LZ_OP_EIGH] = print_decomposition,
    [LZ_OP_HESSENBERG] = print_decomposition,
    [LZ_OP_TRIDIAGONAL] = print_decomposition,
    [LZ_OP_GEQP3] = print_decomposition,
    [LZ_OP_GTSV] = print_decomposition,
    [LZ_OP_SCHUR] = print_decomposition,
    [LZ_OP_EIG] = print_decomposition,
    [LZ_OP_SORT] = print_sort,
    [LZ_OP_CONVOLUTION] = lz_print_convolution,
    [LZ_OP_REDUCE_WINDOW] = lz_print_reduce_window,
    [LZ_OP_SELECT_AND_SCATTER] = lz_print_select_and_scatter,
    [LZ_OP_WINDOW_VIEW] = lz_print_window_view,
    [LZ_OP_RNG_BIT_GENERATOR] = print_rng,
    [LZ_OP_CUSTOM_CALL] = print_custom_call,
    [LZ_OP_ALL_GATHER] = lz_print_collective,
    [LZ_OP_ALL_REDUCE] = lz_print_collective,
    [LZ_OP_ALL_TO_ALL] = lz_print_collective,
    [LZ_OP_COLLECTIVE_BROADCAST] = lz_print_collective,
    [LZ_OP_COLLECTIVE_PERMUTE] = lz_print_collective,
    [LZ_OP_REDUCE_SCATTER] = lz_print_collective,
    [LZ_OP_SHARDING_CONSTRAINT] = lz_print_constraint,
    [LZ_OP_SHARDING_GROUP] = lz_print_group,
    [LZ_OP_PROPAGATION_BARRIER] = lz_print_propagation,
    [LZ_OP_MANUAL_COMPUTATION] = lz_print_manual,
    [LZ_OP_PARTITION_ID] = print_ew,
    [LZ_OP_REPLICA_ID] = print_ew,
    [LZ_OP_WHILE] = lz_print_while,
    [LZ_OP_IF] = lz_print_if,
    [LZ_OP_OPTIMIZATION_BARRIER] = print_barrier,
    [LZ_OP_CUSTOM_VJP] = print_custom_vjp,
};

void lz_print_generic_head(lz_printer *p, const lz_inst *in)
{
    generic_head(p, in);
}

void lz_print_functional_type(lz_printer *p, const lz_inst *in)
{
    functional_type(p, in);
}

static print_form *form_of(lz_op op)
{
    if (forms[op])
        return forms[op];
    return strchr(lz_op_get(op)->text, '.') ? print_chlo : print_ew;
}

void lz_print_op(lz_printer *p, const lz_inst *in)
{
    form_of(in->sig->op)(p, in);
}
