/* parse_attr.c - attribute records from text. Fields are StableHLO's own names, so the generic form
 * is read by attrs.def alone; the pretty forms shorten some names (dims, low, sizes, ...) and write
 * a few records in their own way. */
#include "ir/text/parse.h"
#include <string.h>

/* What pretty forms call a field. */
static const struct {
    const char *field, *shown;
} short_names[] = {
    {"iota_dimension", "dim"},
    {"dimension", "dim"},
    {"broadcast_dimensions", "dims"},
    {"dimensions", "dims"},
    {"permutation", "dims"},
    {"edge_padding_low", "low"},
    {"edge_padding_high", "high"},
    {"interior_padding", "interior"},
    {"slice_sizes", "sizes"},
    {"rng_algorithm", "algorithm"},
    {"fft_type", "type"},
    {"fft_length", "length"},
};

static const lz_parse_entry *find_field(const lz_stmt *t, const char *field)
{
    const lz_parse_entry *e = lz_stmt_find(t, field);
    for (size_t i = 0; !e && !t->generic && i < sizeof short_names / sizeof *short_names; i++)
        if (strcmp(short_names[i].field, field) == 0)
            e = lz_stmt_find(t, short_names[i].shown);
    return e;
}

static lz_status read_field(lz_lexer *c, const lz_attr_field *f)
{
    switch (f->type) {
    case LZ_FIELD_I64:
        return lz_lex_i64(c, f->i64);
    case LZ_FIELD_BOOL:
        return lz_lex_bool(c, f->flag);
    case LZ_FIELD_INTS:
        return lz_lex_ints(c, f->name, f->ints);
    case LZ_FIELD_ENUM:
        return lz_lex_enum(c, f->table, f->value);
    case LZ_FIELD_STR:
        return lz_lex_text(c, f->str);
    default:
        return LZ_OK;
    }
}

static lz_lexer scan_at(const lz_parser *p, const char *at)
{
    lz_lexer c = p->c;
    c.p = at;
    return c;
}

/* ---- records with a form of their own ---- */

/* #stablehlo.gather<offset_dims = [1], index_vector_dim = 1>: the fields of the record by their
 * names. */
static lz_status read_struct(lz_parser *p, const lz_parse_entry *e, lz_attr_any *a)
{
    lz_lexer c = scan_at(p, e->value);
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    int n = lz_attr_fields(&a->head, f);
    LZ_TRY(lz_lex_want(&c, "#stablehlo."));
    (void)lz_lex_word(&c);
    LZ_TRY(lz_lex_want(&c, "<"));
    while (!lz_lex_eat(&c, ">")) {
        lz_slice key = lz_lex_word(&c);
        int i = 0;
        while (i < n && !lz_slice_is(key, f[i].name))
            i++;
        if (i == n)
            return lz_lex_fail(&c, key.s, LZ_EPARSE,
                               "'" LZ_SLICE_FMT "' is no field of this attribute",
                               LZ_SLICE_ARG(key));
        LZ_TRY(lz_lex_want(&c, "="));
        LZ_TRY(read_field(&c, &f[i]));
        if (!lz_lex_eat(&c, ",") && !lz_lex_sees(&c, ">"))
            return lz_lex_want(&c, ">");
    }
    return LZ_OK;
}

/* [0] x [1] */
static lz_status read_pair(lz_parser *p, const lz_parse_entry *e, lz_ints *l, lz_ints *r)
{
    lz_lexer c = scan_at(p, e->value);
    LZ_TRY(lz_lex_ints(&c, "dimensions", l));
    LZ_TRY(lz_lex_want(&c, "x"));
    return lz_lex_ints(&c, "dimensions", r);
}

/* [HIGH, DEFAULT]: the higher of both operands' precisions. */
lz_status lz_parse_precision(lz_parser *p, const lz_parse_entry *e, int32_t *out)
{
    lz_lexer c = scan_at(p, e->value);
    LZ_TRY(lz_lex_want(&c, "["));
    while (!lz_lex_eat(&c, "]")) {
        int32_t v;
        LZ_TRY(lz_lex_enum(&c, "precision", &v));
        *out = v > *out ? v : *out;
        if (!lz_lex_eat(&c, ",") && !lz_lex_sees(&c, "]"))
            return lz_lex_want(&c, "]");
    }
    return LZ_OK;
}

static lz_status need_region(lz_parser *p, const lz_stmt *t)
{
    if (t->region)
        return LZ_OK;
    return lz_lex_fail(&p->c, t->at, LZ_EPARSE, "%s: the region is missing",
                       lz_op_get(t->op)->text);
}

static lz_status record_dot(lz_parser *p, lz_stmt *t, lz_attr_any *a)
{
    lz_attr_dot *d = &a->as_dot;
    const lz_parse_entry *numbers = lz_stmt_find(t, "dot_dimension_numbers"),
                         *batch = lz_stmt_find(t, "batching_dims");
    const lz_parse_entry *contract = lz_stmt_find(t, "contracting_dims");
    const lz_parse_entry *precision =
        lz_stmt_find(t, t->generic ? "precision_config" : "precision");
    if (numbers)
        LZ_TRY(read_struct(p, numbers, a));
    else if (t->generic || !contract)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, "dot_general: there are no dimension numbers");
    if (!t->generic && batch)
        LZ_TRY(read_pair(p, batch, &d->lhs_batching_dimensions, &d->rhs_batching_dimensions));
    if (!t->generic && contract)
        LZ_TRY(
            read_pair(p, contract, &d->lhs_contracting_dimensions, &d->rhs_contracting_dimensions));
    return precision ? lz_parse_precision(p, precision, &d->precision) : LZ_OK;
}

lz_status lz_parse_gather_numbers(lz_parser *p, lz_stmt *t, lz_attr_any *a)
{
    const lz_parse_entry *e = lz_stmt_find(t, "dimension_numbers");
    const lz_parse_entry *sorted = lz_stmt_find(t, "indices_are_sorted");
    lz_attr_init(a, LZ_ATTR_gather);
    if (!e)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, "gather: there are no dimension_numbers");
    LZ_TRY(read_struct(p, e, a));
    if (!sorted)
        return LZ_OK;
    lz_lexer c = scan_at(p, sorted->value);
    return lz_lex_bool(&c, &a->as_gather.indices_are_sorted);
}

static lz_status record_gather(lz_parser *p, lz_stmt *t, lz_attr_any *a)
{
    const lz_parse_entry *sizes = lz_stmt_find(t, "slice_sizes");
    LZ_TRY(lz_parse_gather_numbers(p, t, a));
    if (!sizes)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, "gather: there are no slice_sizes");
    lz_lexer c = scan_at(p, sizes->value);
    return lz_lex_ints(&c, "slice_sizes", &a->as_gather.slice_sizes);
}

static lz_status record_scatter(lz_parser *p, lz_stmt *t, lz_attr_any *a)
{
    const lz_parse_entry *e = lz_stmt_find(t, "scatter_dimension_numbers"), *flag;
    if (!e)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                           "scatter: there are no scatter_dimension_numbers");
    LZ_TRY(read_struct(p, e, a));
    if ((flag = lz_stmt_find(t, "indices_are_sorted"))) {
        lz_lexer c = scan_at(p, flag->value);
        LZ_TRY(lz_lex_bool(&c, &a->as_scatter.indices_are_sorted));
    }
    if ((flag = lz_stmt_find(t, "unique_indices"))) {
        lz_lexer c = scan_at(p, flag->value);
        LZ_TRY(lz_lex_bool(&c, &a->as_scatter.unique_indices));
    }
    a->as_scatter.update_computation = t->region;
    return need_region(p, t);
}

/* Both attributes may be left out; a dimension may count from the end. */
static lz_status record_sort(lz_parser *p, const lz_scope *s, lz_stmt *t, lz_attr_sort *a)
{
    const lz_parse_entry *dim = lz_stmt_find(t, "dimension"),
                         *stable = lz_stmt_find(t, "is_stable");
    lz_lexer c;
    a->dimension = -1;
    if (dim) {
        c = scan_at(p, dim->value);
        LZ_TRY(lz_lex_i64(&c, &a->dimension));
    }
    if (a->dimension < 0 && t->opnd.len > 0)
        a->dimension += lz_val_type(s->f, t->opnd.data[0])->shape.rank;
    if (stable) {
        c = scan_at(p, stable->value);
        LZ_TRY(lz_lex_bool(&c, &a->is_stable));
    }
    a->comparator = t->region;
    return need_region(p, t);
}

/* [0:4, 2:8:2] */
static lz_status record_slice(lz_parser *p, const lz_parse_entry *e, lz_attr_slice *a)
{
    lz_lexer c = scan_at(p, e->value);
    LZ_TRY(lz_lex_want(&c, "["));
    while (!lz_lex_eat(&c, "]")) {
        int n = a->strides.n;
        if (n == LZ_MAX_RANK)
            return lz_lex_fail(&c, c.p, LZ_EUNSUPPORTED, "slice: more than %d dimensions",
                               LZ_MAX_RANK);
        a->strides.v[n] = 1;
        LZ_TRY(lz_lex_i64(&c, &a->start_indices.v[n]));
        LZ_TRY(lz_lex_want(&c, ":"));
        LZ_TRY(lz_lex_i64(&c, &a->limit_indices.v[n]));
        if (lz_lex_eat(&c, ":"))
            LZ_TRY(lz_lex_i64(&c, &a->strides.v[n]));
        a->start_indices.n = a->limit_indices.n = a->strides.n = n + 1;
        if (!lz_lex_eat(&c, ",") && !lz_lex_sees(&c, "]"))
            return lz_lex_want(&c, "]");
    }
    return LZ_OK;
}

/* e5m10 */
static lz_status record_precision(lz_parser *p, const lz_parse_entry *e, lz_attr_precision *a)
{
    lz_lexer c = scan_at(p, e->value);
    LZ_TRY(lz_lex_want(&c, "e"));
    LZ_TRY(lz_lex_digits(&c, &a->exponent_bits));
    LZ_TRY(lz_lex_want(&c, "m"));
    return lz_lex_i64(&c, &a->mantissa_bits);
}

static lz_status record_compare(lz_parser *p, lz_stmt *t, lz_attr_compare *a)
{
    lz_lexer c = scan_at(p, t->words[0].s);
    LZ_TRY(lz_lex_enum(&c, "comparison_direction", &a->comparison_direction));
    if (t->nword < 2)
        return LZ_OK;
    c = scan_at(p, t->words[1].s);
    return lz_lex_enum(&c, "compare_type", &a->compare_type);
}

/* ---- every other record: field by field ---- */

/* May be left out: 0, false, the empty list, NOTYPE. */
static bool optional(const char *field)
{
    return strcmp(field, "compare_type") == 0 || strcmp(field, "lower") == 0;
}

static lz_status from_types(lz_parser *p, lz_stmt *t, const lz_attr_field *f)
{
    uint32_t k = t->op == LZ_OP_RNG_BIT_GENERATOR ? 1 : 0; /* result 0 is the state */
    if (t->result_types.len <= k)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, "%s: the result's type is missing",
                           lz_op_get(t->op)->text);
    const lz_type *r = t->result_types.data[k];
    if (f->type == LZ_FIELD_DTYPE)
        *f->dtype = r->dtype;
    else
        *f->shape = r->shape;
    return LZ_OK;
}

static lz_status record_fields(lz_parser *p, lz_stmt *t, lz_attr_any *a)
{
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    int n = lz_attr_fields(&a->head, f);
    for (int i = 0; i < n; i++) {
        if (f[i].type == LZ_FIELD_DTYPE || f[i].type == LZ_FIELD_SHAPE) {
            LZ_TRY(from_types(p, t, &f[i]));
            continue;
        }
        if (f[i].type == LZ_FIELD_REGION) {
            LZ_TRY(need_region(p, t));
            *f[i].region = t->region;
            continue;
        }
        const lz_parse_entry *e = find_field(t, f[i].name);
        if (e && e->value) {
            lz_lexer c = scan_at(p, e->value);
            LZ_TRY(read_field(&c, &f[i]));
        } else if (!optional(f[i].name)) {
            return lz_lex_fail(&p->c, t->at, LZ_EPARSE, "%s: the attribute %s is missing",
                               lz_op_get(t->op)->text, f[i].name);
        }
    }
    return LZ_OK;
}

lz_status lz_parse_record(lz_parser *p, const lz_scope *s, lz_stmt *t, lz_attr_any *a)
{
    const lz_parse_entry *e;
    lz_attr_init(a, lz_op_get(t->op)->attr);
    if (t->applies != LZ_OP_NONE && t->opnd.len > 0) {
        if (!(t->region = lz_region_binary(t->applies, lz_val_type(s->f, t->opnd.data[0])->dtype)))
            return lz_lex_wrap(&p->c, t->at);
    }
    for (uint32_t i = 0; i < t->dict.len; i++) /* every value read below is there */
        if (!t->dict.data[i].value && (lz_slice_is(t->dict.data[i].key, "indices_are_sorted") ||
                                       lz_slice_is(t->dict.data[i].key, "unique_indices")))
            return lz_lex_fail(&p->c, t->dict.data[i].key.s, LZ_EPARSE,
                               "the attribute has no value");
    switch (a->head.kind) {
    case LZ_ATTR_dot:
        return record_dot(p, t, a);
    case LZ_ATTR_gather:
        return record_gather(p, t, a);
    case LZ_ATTR_scatter:
        return record_scatter(p, t, a);
    case LZ_ATTR_sort:
        return record_sort(p, s, t, &a->as_sort);
    case LZ_ATTR_convolution:
    case LZ_ATTR_reduce_window:
    case LZ_ATTR_select_and_scatter:
        return lz_parse_window_record(p, t, a);
    case LZ_ATTR_slice:
        if ((e = lz_stmt_find(t, "[")))
            return record_slice(p, e, &a->as_slice);
        break;
    case LZ_ATTR_precision:
        if (!t->generic && (e = lz_stmt_find(t, "format")))
            return record_precision(p, e, &a->as_precision);
        break;
    case LZ_ATTR_compare:
        if (t->nword)
            return record_compare(p, t, &a->as_compare);
        break;
    default:
        break;
    }
    return record_fields(p, t, a);
}
