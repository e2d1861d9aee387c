/* parse_window.c - attributes of operations on windows: reduce_window and select_and_scatter in the
 * generic form, convolution in both.
 * Threads: thread-compatible. */
#include "ir/text/parse.h"
#include <string.h>

static lz_lexer scan_at(const lz_parser *p, const char *at)
{
    lz_lexer c = p->c;
    c.p = at;
    return c;
}

static void fill(lz_ints *v, int n, int64_t x)
{
    v->n = n > LZ_MAX_RANK ? LZ_MAX_RANK : n;
    for (int i = 0; i < v->n; i++)
        v->v[i] = x;
}

/* ---- lists ---- */

/* The list of that name, or n times the standard value. */
static lz_status read_list(lz_parser *p, const lz_stmt *t, const char *key, int n, int64_t standard,
                           lz_ints *out)
{
    const lz_parse_entry *e = lz_stmt_find(t, key);
    if (!e) {
        fill(out, n, standard);
        return LZ_OK;
    }
    lz_lexer c = scan_at(p, e->value);
    return lz_lex_ints(&c, key, out);
}

/* [[0, 1], [2, 3]] */
static lz_status read_pairs(lz_lexer *c, const char *field, lz_ints *low, lz_ints *high)
{
    LZ_TRY(lz_lex_want(c, "["));
    while (!lz_lex_eat(c, "]")) {
        int n = low->n;
        if (n == LZ_MAX_RANK)
            return lz_lex_fail(c, c->p, LZ_EUNSUPPORTED, "%s: more than %d dimensions", field,
                               LZ_MAX_RANK);
        LZ_TRY(lz_lex_want(c, "["));
        LZ_TRY(lz_lex_i64(c, &low->v[n]));
        LZ_TRY(lz_lex_want(c, ","));
        LZ_TRY(lz_lex_i64(c, &high->v[n]));
        LZ_TRY(lz_lex_want(c, "]"));
        low->n = high->n = n + 1;
        if (!lz_lex_eat(c, ",") && !lz_lex_sees(c, "]"))
            return lz_lex_want(c, "]");
    }
    return LZ_OK;
}

/* dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, dense<0> : tensor<2x2xi64> or, of dimension 0,
 * dense<> */
static lz_status read_padding(lz_parser *p, const lz_stmt *t, int n, lz_ints *low, lz_ints *high)
{
    const lz_parse_entry *e = lz_stmt_find(t, "padding");
    const lz_type *type;
    int64_t one;
    fill(low, n, 0);
    fill(high, n, 0);
    if (!e)
        return LZ_OK;
    lz_lexer c = scan_at(p, e->value);
    LZ_TRY(lz_lex_want(&c, "dense<"));
    bool splat = !lz_lex_sees(&c, "[") && !lz_lex_sees(&c, ">");
    low->n = high->n = 0;
    if (splat)
        LZ_TRY(lz_lex_i64(&c, &one));
    else if (lz_lex_sees(&c, "["))
        LZ_TRY(read_pairs(&c, "padding", low, high));
    LZ_TRY(lz_lex_want(&c, ">"));
    LZ_TRY(lz_lex_want(&c, ":"));
    lz_lex_skip(&c);
    const char *at = c.p;
    LZ_TRY(lz_lex_type(&c, &type));
    bool fits = type->shape.rank == 2 && type->shape.dims[1] == 2 &&
                type->shape.dims[0] <= LZ_MAX_RANK && lz_dtype_is_int(type->dtype) &&
                (splat || type->shape.dims[0] == low->n);
    if (!fits)
        return lz_lex_fail(&c, at, LZ_EPARSE,
                           "padding: expected one pair of numbers for each dimension");
    if (splat) {
        fill(low, (int)type->shape.dims[0], one);
        fill(high, (int)type->shape.dims[0], one);
    }
    return LZ_OK;
}

static lz_status need(lz_parser *p, const lz_stmt *t, const char *key)
{
    return lz_stmt_find(t, key)
               ? LZ_OK
               : lz_lex_fail(&p->c, t->at, LZ_EPARSE, "%s: the attribute %s is missing",
                             lz_op_get(t->op)->text, key);
}

static lz_status need_regions(lz_parser *p, const lz_stmt *t, uint32_t n)
{
    return t->nregion == n ? LZ_OK
                           : lz_lex_fail(&p->c, t->at, LZ_EPARSE, "%s: has %u regions, not %u",
                                         lz_op_get(t->op)->text, t->nregion, n);
}

static lz_status reduce_window(lz_parser *p, lz_stmt *t, lz_attr_reduce_window *a)
{
    LZ_TRY(need(p, t, "window_dimensions"));
    LZ_TRY(need_regions(p, t, 1));
    a->body = t->region;
    LZ_TRY(read_list(p, t, "window_dimensions", 0, 1, &a->window_dimensions));
    int n = a->window_dimensions.n;
    LZ_TRY(read_list(p, t, "window_strides", n, 1, &a->window_strides));
    LZ_TRY(read_list(p, t, "base_dilations", n, 1, &a->base_dilations));
    LZ_TRY(read_list(p, t, "window_dilations", n, 1, &a->window_dilations));
    return read_padding(p, t, n, &a->padding_low, &a->padding_high);
}

static lz_status select_and_scatter(lz_parser *p, lz_stmt *t, lz_attr_select_and_scatter *a)
{
    LZ_TRY(need_regions(p, t, 2));
    a->select = t->region;
    a->scatter = t->region2;
    LZ_TRY(need(p, t, "window_dimensions"));
    LZ_TRY(read_list(p, t, "window_dimensions", 0, 1, &a->window_dimensions));
    int n = a->window_dimensions.n;
    LZ_TRY(read_list(p, t, "window_strides", n, 1, &a->window_strides));
    return read_padding(p, t, n, &a->padding_low, &a->padding_high);
}

/* ---- convolution: dimension numbers ---- */

/* [b, 0, 1, f]: letter c is dimension *first, letter d *second, digit k spatial dimension k. */
static lz_status read_labels(lz_lexer *c, char first_letter, int64_t *first, char second_letter,
                             int64_t *second, lz_ints *spatial)
{
    const char *start = c->p;
    int64_t at = 0, k;
    int seen = 0;
    *first = *second = -1;
    for (int i = 0; i < LZ_MAX_RANK; i++)
        spatial->v[i] = -1;
    LZ_TRY(lz_lex_want(c, "["));
    do {
        lz_lex_skip(c);
        const char *here = c->p;
        char letter = c->p < c->end ? *c->p : 0;
        if (at == LZ_MAX_RANK)
            return lz_lex_fail(c, here, LZ_EUNSUPPORTED, "more than %d dimensions", LZ_MAX_RANK);
        if (letter == first_letter && *first < 0) {
            c->p++;
            *first = at++;
        } else if (letter == second_letter && *second < 0) {
            c->p++;
            *second = at++;
        } else {
            if (letter < '0' || letter > '9')
                return lz_lex_fail(c, here, LZ_EPARSE,
                                   "expected %c, %c (each once) or the number of a spatial "
                                   "dimension",
                                   first_letter, second_letter);
            LZ_TRY(lz_lex_i64(c, &k));
            if (k < 0 || k >= LZ_MAX_RANK || spatial->v[k] >= 0)
                return lz_lex_fail(c, here, LZ_EPARSE,
                                   "spatial dimension %lld comes twice or is too large",
                                   (long long)k);
            spatial->v[k] = at++;
            seen = k + 1 > seen ? (int)k + 1 : seen;
        }
    } while (lz_lex_eat(c, ","));
    LZ_TRY(lz_lex_want(c, "]"));
    spatial->n = seen;
    bool gap = seen + 2 != at;
    for (int i = seen; i < LZ_MAX_RANK; i++)
        spatial->v[i] = 0;
    if (gap || *first < 0 || *second < 0)
        return lz_lex_fail(c, start, LZ_EPARSE,
                           "dimension numbers must name %c, %c and the spatial dimensions from 0",
                           first_letter, second_letter);
    return LZ_OK;
}

/* [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f] */
static lz_status read_dim_numbers(lz_lexer *c, lz_attr_convolution *a)
{
    LZ_TRY(read_labels(c, 'b', &a->input_batch_dimension, 'f', &a->input_feature_dimension,
                       &a->input_spatial_dimensions));
    LZ_TRY(lz_lex_want(c, "x"));
    LZ_TRY(read_labels(c, 'i', &a->kernel_input_feature_dimension, 'o',
                       &a->kernel_output_feature_dimension, &a->kernel_spatial_dimensions));
    LZ_TRY(lz_lex_want(c, "->"));
    return read_labels(c, 'b', &a->output_batch_dimension, 'f', &a->output_feature_dimension,
                       &a->output_spatial_dimensions);
}

/* raw input_batch_dimension = 0, input_spatial_dimensions = [1, 2], ... */
static lz_status read_raw_numbers(lz_lexer *c, lz_attr_any *a)
{
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    int n = lz_attr_fields(&a->head, f);
    do {
        lz_slice key = lz_lex_word(c);
        int i = 0;
        while (i < n && !(lz_slice_is(key, f[i].name) && strstr(f[i].name, "_dimension")))
            i++;
        if (i == n)
            return lz_lex_fail(c, key.s, LZ_EPARSE,
                               "'" LZ_SLICE_FMT "' is no field of this attribute",
                               LZ_SLICE_ARG(key));
        LZ_TRY(lz_lex_want(c, "="));
        LZ_TRY(f[i].type == LZ_FIELD_INTS ? lz_lex_ints(c, f[i].name, f[i].ints)
                                          : lz_lex_i64(c, f[i].i64));
    } while (lz_lex_eat(c, ","));
    return LZ_OK;
}

/* #stablehlo.conv<...> */
static lz_status read_conv(lz_lexer *c, lz_attr_any *a)
{
    LZ_TRY(lz_lex_want(c, "#stablehlo.conv<"));
    if (lz_lex_eat_word(c, "raw"))
        LZ_TRY(read_raw_numbers(c, a));
    else
        LZ_TRY(read_dim_numbers(c, &a->as_convolution));
    return lz_lex_want(c, ">");
}

/* ---- convolution: window ---- */

/* [true, false], array<i1: true, false>, dense<false> : tensor<2xi1> */
static lz_status read_flags(lz_lexer *c, int n, lz_ints *out)
{
    const char *close = "]";
    *out = (lz_ints){0};
    if (lz_lex_eat(c, "array<")) {
        (void)lz_lex_word(c); /* i1 */
        close = ">";
        if (!lz_lex_eat(c, ":"))
            return lz_lex_want(c, close);
    } else if (lz_lex_eat(c, "dense<")) {
        close = ">";
        bool list = lz_lex_eat(c, "["), one;
        if (!list) {
            LZ_TRY(lz_lex_bool(c, &one));
            fill(out, n, one);
            return lz_lex_want(c, close);
        }
        close = "]";
    } else {
        LZ_TRY(lz_lex_want(c, "["));
    }
    if (lz_lex_eat(c, close))
        return LZ_OK;
    do {
        bool v;
        if (out->n == LZ_MAX_RANK)
            return lz_lex_fail(c, c->p, LZ_EUNSUPPORTED, "reverse: more than %d dimensions",
                               LZ_MAX_RANK);
        if (lz_lex_sees(c, "0") || lz_lex_sees(c, "1")) /* older text */
            v = *c->p++ == '1';
        else
            LZ_TRY(lz_lex_bool(c, &v));
        out->v[out->n++] = v;
    } while (lz_lex_eat(c, ","));
    return lz_lex_want(c, close);
}

/* {stride = [2, 2], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse =
 * [false, true]} */
static lz_status read_window(lz_lexer *c, lz_attr_convolution *a)
{
    LZ_TRY(lz_lex_want(c, "{"));
    while (!lz_lex_eat(c, "}")) {
        lz_slice key = lz_lex_word(c);
        LZ_TRY(lz_lex_want(c, "="));
        if (lz_slice_is(key, "stride"))
            LZ_TRY(lz_lex_ints(c, "stride", &a->window_strides));
        else if (lz_slice_is(key, "lhs_dilate"))
            LZ_TRY(lz_lex_ints(c, "lhs_dilate", &a->lhs_dilation));
        else if (lz_slice_is(key, "rhs_dilate"))
            LZ_TRY(lz_lex_ints(c, "rhs_dilate", &a->rhs_dilation));
        else if (lz_slice_is(key, "reverse"))
            LZ_TRY(read_flags(c, a->input_spatial_dimensions.n, &a->window_reversal));
        else if (lz_slice_is(key, "pad")) {
            a->padding_low.n = a->padding_high.n = 0;
            LZ_TRY(read_pairs(c, "pad", &a->padding_low, &a->padding_high));
        } else {
            return lz_lex_fail(c, key.s, LZ_EPARSE, "'" LZ_SLICE_FMT "' is no field of a window",
                               LZ_SLICE_ARG(key));
        }
        if (!lz_lex_eat(c, ",") && !lz_lex_sees(c, "}"))
            return lz_lex_want(c, "}");
    }
    return LZ_OK;
}

static void standard_window(lz_attr_convolution *a)
{
    int n = a->input_spatial_dimensions.n;
    fill(&a->window_strides, n, 1);
    fill(&a->lhs_dilation, n, 1);
    fill(&a->rhs_dilation, n, 1);
    fill(&a->padding_low, n, 0);
    fill(&a->padding_high, n, 0);
    fill(&a->window_reversal, n, 0);
}

static lz_status push_entry(lz_stmt *t, const char *key, const char *value)
{
    lz_parse_entry e = {{key, strlen(key)}, value};
    return lz_vec_push(&t->dict, e);
}

lz_status lz_parse_convolution_items(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    lz_attr_any scratch;
    LZ_TRY(lz_lex_want(&p->c, "("));
    LZ_TRY(lz_parse_operands(p, s, t));
    LZ_TRY(lz_lex_want(&p->c, ")"));
    LZ_TRY(lz_lex_want(&p->c, "dim_numbers"));
    LZ_TRY(lz_lex_want(&p->c, "="));
    lz_lex_skip(&p->c);
    LZ_TRY(push_entry(t, "dim_numbers", p->c.p));
    lz_attr_init(&scratch, LZ_ATTR_convolution);
    LZ_TRY(read_dim_numbers(&p->c, &scratch.as_convolution));
    LZ_TRY(lz_lex_want(&p->c, ","));
    LZ_TRY(lz_lex_want(&p->c, "window"));
    LZ_TRY(lz_lex_want(&p->c, "="));
    lz_lex_skip(&p->c);
    LZ_TRY(push_entry(t, "window", p->c.p));
    return read_window(&p->c, &scratch.as_convolution);
}

static lz_status read_count(lz_parser *p, const lz_stmt *t, const char *key, int64_t *out)
{
    const lz_parse_entry *e = lz_stmt_find(t, key);
    *out = 1;
    if (!e)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, "convolution: the attribute %s is missing",
                           key);
    lz_lexer c = scan_at(p, e->value);
    return lz_lex_i64(&c, out);
}

static lz_status convolution(lz_parser *p, lz_stmt *t, lz_attr_any *any)
{
    lz_attr_convolution *a = &any->as_convolution;
    const lz_parse_entry *e = lz_stmt_find(t, t->generic ? "dimension_numbers" : "dim_numbers");
    if (!e)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, "convolution: there are no dimension numbers");
    lz_lexer c = scan_at(p, e->value);
    LZ_TRY(t->generic ? read_conv(&c, any) : read_dim_numbers(&c, a));
    standard_window(a);
    int n = a->input_spatial_dimensions.n;
    if ((e = lz_stmt_find(t, "window")) && !t->generic) {
        c = scan_at(p, e->value);
        LZ_TRY(read_window(&c, a));
    }
    if (t->generic) {
        LZ_TRY(read_list(p, t, "window_strides", n, 1, &a->window_strides));
        LZ_TRY(read_list(p, t, "lhs_dilation", n, 1, &a->lhs_dilation));
        LZ_TRY(read_list(p, t, "rhs_dilation", n, 1, &a->rhs_dilation));
        LZ_TRY(read_padding(p, t, n, &a->padding_low, &a->padding_high));
        if ((e = lz_stmt_find(t, "window_reversal"))) {
            c = scan_at(p, e->value);
            LZ_TRY(read_flags(&c, n, &a->window_reversal));
        }
    }
    LZ_TRY(read_count(p, t, "feature_group_count", &a->feature_group_count));
    LZ_TRY(read_count(p, t, "batch_group_count", &a->batch_group_count));
    e = lz_stmt_find(t, "precision_config");
    return e ? lz_parse_precision(p, e, &a->precision) : LZ_OK;
}

lz_status lz_parse_window_record(lz_parser *p, lz_stmt *t, lz_attr_any *a)
{
    switch (a->head.kind) {
    case LZ_ATTR_reduce_window:
        return reduce_window(p, t, &a->as_reduce_window);
    case LZ_ATTR_select_and_scatter:
        return select_and_scatter(p, t, &a->as_select_and_scatter);
    default:
        return convolution(p, t, a);
    }
}
