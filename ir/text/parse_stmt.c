/* parse_stmt.c - one operation: results, name, operands, attributes, regions, types. The pretty
 * forms of all operations are read by one rule: items between commas are values, `name = value`, or
 * words; a few put something else between. */
#include "ir/text/parse_chlo.h"
#include <string.h>

const lz_parse_entry *lz_stmt_find(const lz_stmt *t, const char *key)
{
    for (uint32_t i = 0; i < t->dict.len; i++)
        if (lz_slice_is(t->dict.data[i].key, key) && t->dict.data[i].value)
            return &t->dict.data[i];
    return NULL;
}

/* ---- types ---- */

static lz_status types_up_to(lz_parser *p, lz_types *out, const char *close, bool one, lz_buf *form)
{
    if (close && lz_lex_eat(&p->c, close))
        return LZ_OK;
    do
        LZ_TRY(lz_parse_type(p, out, form));
    while (!one && lz_lex_eat(&p->c, ","));
    if (form)
        LZ_TRY(lz_form_keep(p, form->data, form->len, &out->form));
    return close ? lz_lex_want(&p->c, close) : LZ_OK;
}

static lz_status type_list(lz_parser *p, const lz_stmt *t, lz_types *out, const char *close,
                           bool one)
{
    lz_buf form = {0};
    lz_status st = types_up_to(p, out, close, one, t->tuples ? &form : NULL);
    lz_buf_free(&form);
    return st;
}

static lz_status result_types(lz_parser *p, const lz_stmt *t, lz_types *out)
{
    bool parens = lz_lex_eat(&p->c, "(");
    return type_list(p, t, out, parens ? ")" : NULL, !parens);
}

lz_status lz_parse_types(lz_parser *p, lz_stmt *t)
{
    bool parens = lz_lex_eat(&p->c, "(");
    LZ_TRY(type_list(p, t, &t->listed, parens ? ")" : NULL, false));
    t->has_arrow = lz_lex_eat(&p->c, "->");
    if (!t->has_arrow)
        return parens ? lz_lex_want(&p->c, "->") : LZ_OK;
    lz_types swap = t->opnd_types;
    t->opnd_types = t->listed;
    t->listed = swap;
    return result_types(p, t, &t->result_types);
}

/* Types without an arrow: a select has predicate and value, a barrier all its values, others one
 * for all. */
static lz_status spread_types(lz_parser *p, lz_stmt *t)
{
    if (t->has_arrow || t->listed.len == 0)
        return LZ_OK;
    if (t->op == LZ_OP_OPTIMIZATION_BARRIER) {
        for (uint32_t i = 0; i < t->listed.len; i++)
            LZ_TRY(lz_vec_push(&t->result_types, t->listed.data[i]));
        return LZ_OK;
    }
    if (t->listed.len > (t->op == LZ_OP_SELECT ? 2 : 1))
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, LZ_SLICE_FMT ": %u types where one is enough",
                           LZ_SLICE_ARG(t->name), t->listed.len);
    return lz_vec_push(&t->result_types, t->listed.data[t->listed.len - 1]);
}

static lz_status types_differ(lz_parser *p, lz_stmt *t, const char *what, uint32_t i,
                              const lz_type *said, const lz_type *is)
{
    char a[200], b[200];
    return lz_lex_fail(&p->c, t->at, LZ_EPARSE, LZ_SLICE_FMT ": %s %u is %s, but the text says %s",
                       LZ_SLICE_ARG(t->name), what, i, lz_type_short(is, a, sizeof a),
                       lz_type_short(said, b, sizeof b));
}

static lz_status tuples_differ(lz_parser *p, const lz_stmt *t, const char *what)
{
    return lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                       LZ_SLICE_FMT ": its %s are in other tuples than the text says",
                       LZ_SLICE_ARG(t->name), what);
}

lz_status lz_parse_check_operands(lz_parser *p, const lz_scope *s, lz_stmt *t)
{
    if (!t->has_arrow)
        return LZ_OK;
    if (!lz_form_eq(t->opnd_form, t->opnd_types.form))
        return tuples_differ(p, t, "operands");
    if (t->opnd_types.len != t->opnd.len)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, LZ_SLICE_FMT ": %u operands, but %u types",
                           LZ_SLICE_ARG(t->name), t->opnd.len, t->opnd_types.len);
    for (uint32_t i = 0; i < t->opnd.len; i++)
        if (lz_val_type(s->f, t->opnd.data[i]) != t->opnd_types.data[i])
            return types_differ(p, t, "operand", i, t->opnd_types.data[i],
                                lz_val_type(s->f, t->opnd.data[i]));
    return LZ_OK;
}

lz_status lz_parse_check_results(lz_parser *p, const lz_scope *s, lz_stmt *t)
{
    if (!lz_form_eq(t->result_form, t->result_types.form))
        return tuples_differ(p, t, "results");
    if (t->result_types.len != t->results.len)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                           LZ_SLICE_FMT ": gives %u results, but the text has %u types",
                           LZ_SLICE_ARG(t->name), t->results.len, t->result_types.len);
    for (uint32_t i = 0; i < t->results.len; i++)
        if (lz_val_type(s->f, t->results.data[i]) != t->result_types.data[i])
            return types_differ(p, t, "result", i, t->result_types.data[i],
                                lz_val_type(s->f, t->results.data[i]));
    return LZ_OK;
}

/* ---- attributes ---- */

/* {a = 1, "b" = 2, c}: keys and where their values are. After '{'. */
lz_status lz_parse_dictionary(lz_parser *p, lz_stmt *t)
{
    while (!lz_lex_eat(&p->c, "}")) {
        lz_parse_entry e = {0};
        if (lz_lex_sees(&p->c, "\""))
            LZ_TRY(lz_lex_string(&p->c, &e.key));
        else
            e.key = lz_lex_word(&p->c);
        if (e.key.n == 0)
            return lz_lex_fail(&p->c, p->c.p, LZ_EPARSE, "expected the name of an attribute");
        if (lz_lex_eat(&p->c, "=")) {
            lz_lex_skip(&p->c);
            e.value = p->c.p;
            LZ_TRY(lz_lex_until(&p->c, ","));
        }
        LZ_TRY(lz_vec_push(&t->dict, e));
        if (!lz_lex_eat(&p->c, ",") && !lz_lex_sees(&p->c, "}"))
            return lz_lex_want(&p->c, "}");
    }
    return LZ_OK;
}

/* ---- operands ---- */

lz_status lz_parse_operands(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    if (t->tuples)
        return lz_parse_any_operands(p, s, t);
    while (lz_lex_sees(&p->c, "%")) {
        lz_val v;
        LZ_TRY(lz_scope_use(p, s, &v));
        LZ_TRY(lz_vec_push(&t->opnd, v));
        if (!lz_lex_eat(&p->c, ","))
            break;
    }
    return LZ_OK;
}

static lz_status item_key_value(lz_parser *p, lz_stmt *t, lz_slice key)
{
    lz_lex_skip(&p->c);
    lz_parse_entry e = {key, p->c.p};
    LZ_TRY(lz_lex_until(&p->c, ",:{"));
    return lz_vec_push(&t->dict, e);
}

static lz_status item(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    lz_val v;
    if (t->op == LZ_OP_DYNAMIC_SLICE && lz_lex_sees(&p->c, ","))
        return LZ_OK; /* of a scalar MLIR writes `%a, , sizes = []` */
    if (lz_lex_sees(&p->c, "%")) {
        LZ_TRY(lz_scope_use(p, s, &v));
        LZ_TRY(lz_vec_push(&t->opnd, v));
        if (!lz_lex_sees(&p->c, "["))
            return LZ_OK;
        lz_parse_entry e = {{"[", 1}, p->c.p}; /* the ranges of a slice */
        LZ_TRY(lz_vec_push(&t->dict, e));
        return lz_lex_group(&p->c);
    }
    lz_slice word = lz_lex_word(&p->c);
    if (word.n && lz_lex_eat(&p->c, "="))
        return item_key_value(p, t, word);
    if (word.n == 0 || t->nword == 2)
        return lz_lex_fail(&p->c, word.s, LZ_EPARSE,
                           LZ_SLICE_FMT ": expected a value or `name = value`",
                           LZ_SLICE_ARG(t->name));
    t->words[t->nword++] = word;
    return LZ_OK;
}

/* (%a init: %b), (%c init: %d) [applies op] across dimensions = [0] */
static lz_status reduce_items(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    LZ_VEC(lz_val) inits = {0};
    lz_val v;
    lz_status st = LZ_OK;
    do {
        if ((st = lz_lex_want(&p->c, "(")) != LZ_OK || (st = lz_scope_use(p, s, &v)) != LZ_OK ||
            (st = lz_vec_push(&t->opnd, v)) != LZ_OK ||
            (st = lz_lex_want(&p->c, "init")) != LZ_OK || (st = lz_lex_want(&p->c, ":")) != LZ_OK ||
            (st = lz_scope_use(p, s, &v)) != LZ_OK || (st = lz_vec_push(&inits, v)) != LZ_OK)
            break;
        st = lz_lex_want(&p->c, ")");
    } while (st == LZ_OK && lz_lex_eat(&p->c, ","));
    for (uint32_t i = 0; i < inits.len && st == LZ_OK; i++)
        st = lz_vec_push(&t->opnd, inits.data[i]);
    lz_vec_free(&inits);
    LZ_TRY(st);
    t->reducer = !lz_lex_eat_word(&p->c, "applies");
    if (!t->reducer) {
        lz_slice w = lz_lex_word(&p->c);
        t->applies = lz_op_from_text(w.s, w.n);
        if (t->applies == LZ_OP_NONE || lz_op_get(t->applies)->arity != 2 ||
            lz_op_get(t->applies)->attr != LZ_ATTR_none)
            return lz_lex_fail(&p->c, w.s, LZ_EPARSE, "reduce cannot apply '" LZ_SLICE_FMT "'",
                               LZ_SLICE_ARG(w));
    }
    LZ_TRY(lz_lex_want(&p->c, "across"));
    lz_slice key = lz_lex_word(&p->c);
    LZ_TRY(lz_lex_want(&p->c, "="));
    return item_key_value(p, t, key);
}

static lz_status pretty_items(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    if (t->op == LZ_OP_REDUCE)
        return reduce_items(p, s, t);
    if (t->op == LZ_OP_CONVOLUTION || lz_slice_is(t->name, "stablehlo.dynamic_conv"))
        return lz_parse_convolution_items(p, s, t);
    if (lz_lex_sees(&p->c, ":") || lz_lex_sees(&p->c, "{") || lz_lex_eat(&p->c, "()"))
        return LZ_OK;
    bool parens = t->op == LZ_OP_NONE && lz_lex_eat(&p->c, "("); /* chlo.top_k(%a, k = 3) */
    do
        LZ_TRY(item(p, s, t));
    while (lz_lex_eat(&p->c, ","));
    return parens ? lz_lex_want(&p->c, ")") : LZ_OK;
}

/* What the regions in the brackets from here on use from around them. */
static lz_status find_captures(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    lz_lexer end = p->c;
    LZ_TRY(lz_lex_group(&end));
    return lz_captures_find(&t->captured, s, p->c, end.p);
}

/* (%a: t, %b: t) {, the same of a reducer */
static lz_status reducer_captures(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    lz_lexer at = p->c;
    while (lz_lex_sees(&at, "("))
        LZ_TRY(lz_lex_group(&at));
    if (!lz_lex_sees(&at, "{"))
        return lz_lex_want(&at, "{");
    lz_lexer end = at;
    LZ_TRY(lz_captures_shadow(&t->captured, p->c, at.p));
    LZ_TRY(lz_lex_group(&end));
    return lz_captures_find(&t->captured, s, at, end.p);
}

/* (%a, %b) <{...}> ({ region }) {...} */
lz_status lz_parse_generic_items(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    LZ_TRY(lz_lex_want(&p->c, "("));
    LZ_TRY(lz_parse_operands(p, s, t));
    LZ_TRY(lz_lex_want(&p->c, ")"));
    if (lz_lex_eat(&p->c, "<")) {
        LZ_TRY(lz_lex_want(&p->c, "{"));
        LZ_TRY(lz_parse_dictionary(p, t));
        LZ_TRY(lz_lex_want(&p->c, ">"));
    }
    if (!lz_lex_sees(&p->c, "("))
        return LZ_OK;
    LZ_TRY(find_captures(p, s, t));
    LZ_TRY(lz_lex_want(&p->c, "("));
    bool marked = p->marked;
    do {
        LZ_TRY(lz_lex_want(&p->c, "{"));
        /* on one element they mean nothing */
        p->marked = marked && t->op == LZ_OP_CUSTOM_VJP;
        lz_status st =
            lz_parse_region(p, s, &t->captured, t->nregion ? &t->region2 : &t->region, NULL);
        p->marked = marked;
        LZ_TRY(st);
        if (++t->nregion > (t->op == LZ_OP_SELECT_AND_SCATTER ? 2 : 1))
            return lz_lex_fail(&p->c, t->at, LZ_EPARSE, LZ_SLICE_FMT ": has more than %u region%s",
                               LZ_SLICE_ARG(t->name), t->nregion - 1, t->nregion > 2 ? "s" : "");
    } while (lz_lex_eat(&p->c, ","));
    return lz_lex_want(&p->c, ")");
}

/* ---- constants ---- */

lz_status lz_parse_dense(lz_parser *p, lz_scope *s, const lz_stmt *t, lz_lexer *at, lz_val *out,
                         const lz_type **type)
{
    lz_literal *lit;
    bool splat;
    LZ_TRY(lz_lex_literal(at, &lit, type, &splat));
    *out = lz_build_const(s->f, lit);
    lz_literal_release(lit);
    const lz_ints none = {0};
    if (splat && *out != LZ_NOVAL && (*type)->shape.rank > 0)
        *out = lz_build_broadcast(s->f, *out, &none, &(*type)->shape);
    return *out == LZ_NOVAL ? lz_lex_wrap(&p->c, t->at) : LZ_OK;
}

static lz_status constant(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    const lz_type *type;
    lz_val v;
    lz_lexer at = p->c;
    if (t->generic) {
        LZ_TRY(lz_parse_generic_items(p, s, t));
        if (lz_lex_eat(&p->c, "{"))
            LZ_TRY(lz_parse_dictionary(p, t));
        const lz_parse_entry *e = lz_stmt_find(t, "value");
        if (!e)
            return lz_lex_fail(&p->c, t->at, LZ_EPARSE, "constant: the attribute value is missing");
        at.p = e->value;
    } else {
        LZ_TRY(lz_lex_braces(&p->c)); /* {attributes} come first here */
        at = p->c;
    }
    LZ_TRY(lz_parse_dense(p, s, t, &at, &v, &type));
    if (t->generic) {
        LZ_TRY(lz_lex_want(&p->c, ":"));
        LZ_TRY(lz_parse_types(p, t));
    } else {
        p->c = at;
        LZ_TRY(lz_vec_push(&t->result_types, type));
    }
    return lz_vec_push(&t->results, v);
}

/* ---- building ---- */

lz_status lz_parse_widen(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    lz_dtype x = lz_val_type(s->f, t->opnd.data[0])->dtype,
             y = lz_val_type(s->f, t->opnd.data[1])->dtype;
    lz_dtype r = t->result_types.data[0]->dtype;
    lz_dtype in = lz_dtype_bits(x) >= lz_dtype_bits(y) ? x : y,
             to = lz_dtype_bits(r) >= lz_dtype_bits(in) ? r : in;
    for (int k = 0; k < 2; k++)
        t->opnd.data[k] = lz_build_convert(s->f, t->opnd.data[k], to);
    return s->f->status == LZ_OK ? LZ_OK : lz_lex_wrap(&p->c, t->at);
}

lz_status lz_parse_push(lz_parser *p, lz_stmt *t, lz_val v)
{
    return v == LZ_NOVAL ? lz_lex_wrap(&p->c, t->at) : lz_vec_push(&t->results, v);
}

/* Whether the operation says that it means the row. */
static bool row_meant(const lz_stmt *t)
{
    const lz_parse_entry *e = lz_stmt_find(t, "mhlo.frontend_attributes");
    return e && e->value && strncmp(e->value, "{" LZ_ROW_MEANT, strlen("{" LZ_ROW_MEANT)) == 0;
}

static lz_status mean_xla(lz_parser *p, lz_scope *s, lz_stmt *t, lz_attr_any *a,
                          lz_xla_after *after)
{
    *after = (lz_xla_after){.combine = LZ_OP_NONE};
    if (p->as_specified || row_meant(t))
        return LZ_OK;
    LZ_TRY(lz_vec_reserve(&t->opnd, (uint64_t)t->opnd.len + LZ_XLA_MORE));
    return lz_xla_before(s->f, t->op, a, t->opnd.data, &t->opnd.len, after) == LZ_OK
               ? LZ_OK
               : lz_lex_wrap(&p->c, t->at);
}

static lz_status mean_xla_after(lz_parser *p, lz_scope *s, lz_stmt *t, const lz_xla_after *after)
{
    lz_status st = lz_xla_finish(s->f, after, t->opnd.data, t->results.data);
    if (after->results)
        t->results.len = after->results;
    return st == LZ_OK ? LZ_OK : lz_lex_wrap(&p->c, t->at);
}

lz_status lz_parse_build(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    lz_attr_any a;
    bool weak = t->op == LZ_OP_COMPARE && lz_parse_weak_order(p, s, t);
    LZ_TRY(lz_parse_record(p, s, t, &a));
    if (weak)
        a.as_compare.compare_type = LZ_CT_TOTALORDER;
    bool product = (t->op == LZ_OP_DOT_GENERAL || t->op == LZ_OP_CONVOLUTION) && t->opnd.len == 2 &&
                   t->result_types.len == 1;
    if (product)
        LZ_TRY(lz_parse_widen(p, s, t));
    lz_xla_after after;
    LZ_TRY(mean_xla(p, s, t, &a, &after));
    lz_val v = lz_build(s->f, t->op, &a.head, t->opnd.data, t->opnd.len);
    if (product && v != LZ_NOVAL)
        v = lz_build_convert(s->f, v, t->result_types.data[0]->dtype);
    if (v == LZ_NOVAL)
        return lz_lex_wrap(&p->c, t->at);
    LZ_TRY(lz_parse_results_of(p, s, t, v));
    return mean_xla_after(p, s, t, &after);
}

lz_status lz_parse_results_of(lz_parser *p, lz_scope *s, lz_stmt *t, lz_val v)
{
    uint32_t n = s->f->insts[v].sig->nresult;
    LZ_TRY(lz_vec_reserve(&t->results, n));
    for (uint32_t k = 0; k < n; k++)
        LZ_TRY(lz_parse_push(p, t, lz_build_result(s->f, v, k)));
    return LZ_OK;
}

/* ---- what an operation's text is made of ---- */

static lz_status operation(lz_parser *p, lz_scope *s, lz_stmt *t, const lz_expansion *e)
{
    if (t->op == LZ_OP_CONSTANT)
        return constant(p, s, t);
    LZ_TRY(t->generic ? lz_parse_generic_items(p, s, t) : pretty_items(p, s, t));
    if (lz_lex_eat(&p->c, "{"))
        LZ_TRY(lz_parse_dictionary(p, t));
    LZ_TRY(lz_lex_want(&p->c, ":"));
    LZ_TRY(lz_parse_types(p, t));
    if (t->reducer) {
        LZ_TRY(lz_lex_want(&p->c, "reducer"));
        LZ_TRY(reducer_captures(p, s, t));
        bool marked = p->marked;
        p->marked = false;
        lz_status st = lz_parse_reducer(p, s, t->opnd.len / 2, &t->captured, &t->region);
        p->marked = marked;
        LZ_TRY(st);
    }
    LZ_TRY(spread_types(p, t));
    LZ_TRY(lz_parse_check_operands(p, s, t));
    LZ_TRY(lz_parse_fit_region(p, s, t));
    if (lz_op_get(t->op)->cls == LZ_CLASS_COLLECTIVE)
        return lz_parse_collective(p, s, t);
    if (lz_parse_computes_small(s, t, e))
        LZ_TRY(lz_parse_build_wide(p, s, t, e));
    else
        LZ_TRY(e ? lz_expansion_apply(p, s, t, e) : lz_parse_build(p, s, t));
    if (t->captured.vals.len && !e) /* what was handed on is no result of the text's */
        t->results.len -= t->captured.vals.len;
    return LZ_OK;
}

static lz_op table_op(lz_slice name);

/* The elementwise row that a composite without attributes is named after: it does what the
 * decomposition does, in one operation. */
static lz_op composite_op(const lz_scope *s, const lz_stmt *t, lz_slice name)
{
    lz_op op = table_op(name);
    const lz_op_info *i = lz_op_get(op);
    bool fits = op != LZ_OP_NONE && i->cls == LZ_CLASS_EW && i->attr == LZ_ATTR_none &&
                t->opnd.len == (uint32_t)i->arity && !t->opnd_form.n &&
                !lz_stmt_find(t, "composite_attributes") &&
                lz_op_accepts(op, lz_val_type(s->f, t->opnd.data[0])->dtype);
    return fits ? op : LZ_OP_NONE;
}

/* call @f(%a) : (types) -> types; composite "name" %a {decomposition = @f} : ... */
static lz_status call(lz_parser *p, lz_scope *s, lz_stmt *t, bool composite)
{
    lz_slice callee = {0}, name = {0};
    t->tuples = true;
    if (t->generic) {
        LZ_TRY(lz_parse_generic_items(p, s, t));
    } else if (composite) {
        LZ_TRY(lz_lex_string(&p->c, &name));
        LZ_TRY(lz_parse_operands(p, s, t));
    } else {
        LZ_TRY(lz_lex_symbol(&p->c, &callee));
        LZ_TRY(lz_lex_want(&p->c, "("));
        LZ_TRY(lz_parse_operands(p, s, t));
        LZ_TRY(lz_lex_want(&p->c, ")"));
    }
    if (lz_lex_eat(&p->c, "{"))
        LZ_TRY(lz_parse_dictionary(p, t));
    const lz_parse_entry *e = lz_stmt_find(t, composite ? "decomposition" : "callee");
    if (callee.n == 0) {
        if (!e)
            return lz_lex_fail(&p->c, t->at, LZ_EPARSE, LZ_SLICE_FMT ": which function is not said",
                               LZ_SLICE_ARG(t->name));
        lz_lexer at = p->c;
        at.p = e->value;
        LZ_TRY(lz_lex_symbol(&at, &callee));
    }
    if (composite && t->generic && (e = lz_stmt_find(t, "name"))) {
        lz_lexer at = p->c;
        at.p = e->value;
        LZ_TRY(lz_lex_string(&at, &name));
    }
    LZ_TRY(lz_lex_want(&p->c, ":"));
    LZ_TRY(lz_parse_types(p, t));
    LZ_TRY(lz_parse_check_operands(p, s, t));
    t->op = composite ? composite_op(s, t, name) : LZ_OP_NONE;
    if (t->op == LZ_OP_NONE)
        return lz_parse_call(p, s, t, callee);
    LZ_TRY(lz_parse_build(p, s, t));
    return lz_parse_check_results(p, s, t);
}

static lz_status return_(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    t->tuples = true;
    if (t->generic)
        LZ_TRY(lz_lex_want(&p->c, "("));
    LZ_TRY(lz_parse_operands(p, s, t));
    if (t->generic)
        LZ_TRY(lz_lex_want(&p->c, ")"));
    if (lz_lex_eat(&p->c, ":"))
        LZ_TRY(lz_parse_types(p, t));
    const lz_types *types = t->has_arrow ? &t->opnd_types : &t->listed;
    for (uint32_t i = 0; i < types->len && i < t->opnd.len; i++)
        if (types->data[i] != lz_val_type(s->f, t->opnd.data[i]))
            return types_differ(p, t, "operand", i, types->data[i],
                                lz_val_type(s->f, t->opnd.data[i]));
    if (types->len != t->opnd.len)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, "return: %u values, but %u types", t->opnd.len,
                           types->len);
    if (!lz_form_eq(types->form, t->opnd_form))
        return tuples_differ(p, t, "values");
    s->returned = true;
    s->gives = t->opnd_form;
    if (lz_func_set_results(s->f, t->opnd.data, t->opnd.len) != LZ_OK)
        return lz_lex_wrap(&p->c, t->at);
    return LZ_OK;
}

/* Whether the name is that of a row: written with its dialect, and no structure of our own. */
static lz_op table_op(lz_slice name)
{
    bool dotted = name.n && memchr(name.s, '.', name.n);
    lz_op op = dotted ? lz_op_from_text(name.s, name.n) : LZ_OP_NONE;
    const char *text = lz_op_get(op)->text;
    bool ours = op == LZ_OP_PARAMETER || op == LZ_OP_RESULT;
    bool dialect =
        strchr(text, '.') ? lz_slice_is(name, text) : name.n == strlen("stablehlo.") + strlen(text);
    return op == LZ_OP_NONE || ours || !dialect ? LZ_OP_NONE : op;
}

static lz_status named(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    lz_slice n = t->name;
    if (lz_slice_is(n, "return") || lz_slice_is(n, "func.return") ||
        lz_slice_is(n, "stablehlo.return") || lz_slice_is(n, "sdy.return"))
        return return_(p, s, t);
    if (lz_slice_is(n, "call") || lz_slice_is(n, "func.call"))
        return call(p, s, t, false);
    if (lz_slice_is(n, "stablehlo.composite"))
        return call(p, s, t, true);
    if (lz_slice_is(n, "stablehlo.custom_call"))
        return lz_parse_custom_call(p, s, t);
    if (lz_slice_is(n, "chlo.scan"))
        return lz_parse_chlo_scan(p, s, t);
    if (lz_parse_is_annotation(n))
        return lz_parse_annotation(p, s, t);
    if (lz_parse_is_manual(n)) {
        LZ_TRY(lz_parse_manual(p, s, t));
        return lz_parse_check_results(p, s, t);
    }
    if (lz_slice_is(n, "interpreter.run_parallel"))
        return lz_parse_parallel(p, s, t);
    if (lz_parse_is_probe(n))
        return lz_parse_probe(p, s, t);
    if (lz_parse_is_check(n))
        return lz_parse_check(p, s, t);
    if (lz_parse_is_tuple(n))
        return lz_parse_tuple(p, s, t);
    if (lz_parse_is_token(n))
        return lz_parse_token(p, s, t);
    if (lz_parse_is_control(n)) {
        LZ_TRY(lz_parse_control(p, s, t));
        return lz_parse_check_results(p, s, t);
    }
    t->op = lz_slice_is(n, "chlo.constant") ? LZ_OP_CONSTANT : table_op(n);
    const lz_expansion *e = t->op == LZ_OP_NONE ? lz_expansion_find(n) : NULL;
    if (t->op == LZ_OP_NONE && !e)
        return lz_lex_fail(&p->c, t->at, n.n && memchr(n.s, '.', n.n) ? LZ_EUNSUPPORTED : LZ_EPARSE,
                           "operation '" LZ_SLICE_FMT "' is not supported", LZ_SLICE_ARG(n));
    LZ_TRY(operation(p, s, t, e));
    return lz_parse_check_results(p, s, t);
}

/* ---- results ---- */

typedef struct group {
    lz_slice name;
    uint32_t count;
} group;
typedef LZ_VEC(group) groups;

/* %a, %b:2 = */
static lz_status result_names(lz_parser *p, groups *out)
{
    uint32_t index;
    int64_t n;
    if (!lz_lex_sees(&p->c, "%"))
        return LZ_OK;
    do {
        group g = {.count = 1};
        const char *at = p->c.p;
        LZ_TRY(lz_lex_value(&p->c, &g.name, &index));
        if (index != UINT32_MAX)
            return lz_lex_fail(&p->c, at, LZ_EPARSE, "expected a name for a result");
        if (lz_lex_eat(&p->c, ":")) {
            LZ_TRY(lz_lex_i64(&p->c, &n));
            if (n < 1 || n > 1 << 20)
                return lz_lex_fail(&p->c, at, LZ_EPARSE, "there cannot be %lld results",
                                   (long long)n);
            g.count = (uint32_t)n;
        }
        LZ_TRY(lz_vec_push(out, g));
    } while (lz_lex_eat(&p->c, ","));
    return lz_lex_want(&p->c, "=");
}

static lz_status bind_results(lz_parser *p, lz_scope *s, lz_stmt *t, const groups *g)
{
    uint64_t want = 0, first = 0;
    lz_slice form = t->result_form, own = {NULL, 0};
    uint32_t have = form.n ? lz_form_count(form) : t->results.len;
    for (uint32_t i = 0; i < g->len; i++)
        want += g->data[i].count;
    if (g->len && want != have)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, LZ_SLICE_FMT ": %llu names for %u results",
                           LZ_SLICE_ARG(t->name), (unsigned long long)want, have);
    for (uint32_t i = 0; i < g->len; i++) {
        uint32_t n = g->data[i].count;
        if (t->result_form.n)
            own = lz_form_take(&form, n, &n);
        LZ_TRY(lz_scope_bind_form(p, s, g->data[i].name, t->results.data + first, n, own));
        first += n;
    }
    return LZ_OK;
}

static lz_status statement(lz_parser *p, lz_scope *s, lz_stmt *t, groups *g)
{
    lz_val first = s->f->ninst;
    LZ_TRY(result_names(p, g));
    lz_lex_skip(&p->c);
    t->at = p->c.p;
    t->generic = lz_lex_sees(&p->c, "\"");
    if (t->generic)
        LZ_TRY(lz_lex_string(&p->c, &t->name));
    else
        t->name = lz_lex_word(&p->c);
    t->named = g->len > 0;
    LZ_TRY(named(p, s, t));
    if (p->marked)
        LZ_TRY(lz_parse_mark_stmt(p, s, t));
    lz_parse_set_sites(p, s, first, t->at);
    LZ_TRY(lz_lex_location(&p->c));
    return bind_results(p, s, t, g);
}

lz_status lz_parse_statement(lz_parser *p, lz_scope *s)
{
    lz_stmt t = {0};
    groups g = {0};
    lz_status st = statement(p, s, &t, &g);
    lz_vec_free(&t.opnd);
    lz_vec_free(&t.dict);
    lz_vec_free(&t.opnd_types);
    lz_vec_free(&t.result_types);
    lz_vec_free(&t.listed);
    lz_vec_free(&t.results);
    lz_captures_free(&t.captured);
    lz_vec_free(&g);
    return st;
}
