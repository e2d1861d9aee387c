/* parse_chlo.c - CHLO's operations with several results or implicit broadcasting, written with
 * those of the table. */
#include "ir/text/parse_chlo.h"
#include <math.h>
#include <string.h>

/* Older exports call CHLO's functions by name, as mhlo.erf. */
lz_op lz_custom_call_op(lz_slice target)
{
    char name[64] = "chlo.";
    const size_t skip = strlen("mhlo.");
    bool known = target.n > skip && target.n - skip < sizeof name - skip &&
                 (memcmp(target.s, "mhlo.", skip) == 0 || memcmp(target.s, "chlo.", skip) == 0);
    if (!known)
        return LZ_OP_NONE;
    memcpy(name + skip, target.s + skip, target.n - skip);
    lz_op op = lz_op_from_text(name, target.n);
    if (op == LZ_OP_NONE)
        op = lz_op_from_text(name + skip, target.n - skip);
    const lz_op_info *i = lz_op_get(op);
    return i->cls == LZ_CLASS_EW && i->attr == LZ_ATTR_none ? op : LZ_OP_NONE;
}

/* ---- top_k: the k largest of the last dimension and where they are, by a sort ---- */

/* `largest` of mhlo.topk; chlo.top_k has no such attribute. */
static bool wants_smallest(const lz_parser *p, const lz_stmt *t)
{
    const lz_parse_entry *e = lz_stmt_find(t, "largest");
    lz_lexer at = p->c;
    at.p = e ? e->value : at.p;
    return e && lz_lex_eat_word(&at, "false");
}

/* Of the results of `sorted`, the first k along a dimension. */
static lz_status first_ones(lz_parser *p, lz_scope *s, lz_stmt *t, lz_val sorted, int dim,
                            int64_t k)
{
    if (sorted == LZ_NOVAL)
        return lz_lex_wrap(&p->c, t->at);
    int64_t limit[LZ_MAX_RANK];
    const lz_shape *x = &s->f->insts[sorted].sig->result[0]->shape;
    for (int d = 0; d < x->rank; d++)
        limit[d] = d == dim ? k : x->dims[d];
    LZ_TRY(lz_parse_results_of(p, s, t, sorted)); /* all before the first is cut, as in text */
    for (uint32_t i = 0; i < t->results.len; i++) {
        t->results.data[i] = lz_build_slice(s->f, t->results.data[i], NULL, limit, NULL);
        if (t->results.data[i] == LZ_NOVAL)
            return lz_lex_wrap(&p->c, t->at);
    }
    return LZ_OK;
}

lz_status lz_chlo_top_k(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    const lz_parse_entry *e = lz_stmt_find(t, "k");
    int64_t k = 0;
    if (t->opnd.len != 1 || !e)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, "chlo.top_k: takes one operand and k");
    lz_lexer at = p->c;
    at.p = e->value;
    LZ_TRY(lz_lex_i64(&at, &k));
    const lz_type *x = lz_val_type(s->f, t->opnd.data[0]);
    int last = x->shape.rank - 1;
    if (last < 0 || k < 0 || k > x->shape.dims[last])
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                           "chlo.top_k: there are no %lld elements in a row", (long long)k);
    const lz_type *places = lz_type_get(LZ_I32, &x->shape);
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_sort);
    a.as_sort.dimension = last;
    a.as_sort.is_stable = true;
    a.as_sort.comparator =
        lz_region_order((lz_dtype[]){x->dtype, LZ_I32}, 2, 1, !wants_smallest(p, t));
    if (!places || !a.as_sort.comparator)
        return lz_lex_wrap(&p->c, t->at);
    lz_val in[2] = {t->opnd.data[0], lz_build_iota(s->f, places, last)};
    lz_val both = lz_build(s->f, LZ_OP_SORT, &a.head, in, 2);
    return first_ones(p, s, t, both, last, k);
}

/* ---- ApproxTopK(arrays, one initial value for each) {called_computations = [@comparator], top_k =
 * 3, reduction_dim = 1}: the k elements that the comparator puts first. Exactly those, whatever
 * recall would do; nothing is padded, so the initial values are of no meaning. ---- */

static lz_status i64_of(lz_parser *p, const lz_stmt *t, const char *key, int64_t *out)
{
    const lz_parse_entry *e = lz_stmt_find(t, key);
    lz_lexer at = p->c;
    if (!e)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, "ApproxTopK: the attribute %s is missing", key);
    at.p = e->value;
    return lz_lex_i64(&at, out);
}

/* called_computations = [@comparator], as a region of sort: its parameters come in the same
 * order. */
static lz_status comparator_of(lz_parser *p, const lz_stmt *t, const lz_func **out)
{
    const lz_parse_entry *e = lz_stmt_find(t, "called_computations");
    lz_slice name;
    lz_lexer at = p->c;
    if (!e)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                           "ApproxTopK: the attribute called_computations is missing");
    at.p = e->value;
    LZ_TRY(lz_lex_want(&at, "["));
    LZ_TRY(lz_lex_symbol(&at, &name));
    return lz_parse_function_region(p, name, out);
}

lz_status lz_chlo_approx_top_k(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    int64_t k, dim;
    lz_attr_any a;
    uint32_t n = t->opnd.len / 2;
    if (n == 0 || t->opnd.len != 2 * n || t->result_types.len != n)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                           "ApproxTopK: takes arrays and as many initial values");
    LZ_TRY(i64_of(p, t, "top_k", &k));
    LZ_TRY(i64_of(p, t, "reduction_dim", &dim));
    const lz_shape *x = &lz_val_type(s->f, t->opnd.data[0])->shape;
    const lz_shape *r = &t->result_types.data[0]->shape;
    dim += dim < 0 ? x->rank : 0;
    bool fits = dim >= 0 && dim < x->rank && r->rank == x->rank;
    int64_t count = fits ? r->dims[dim] : 0; /* more than k where they are not aggregated */
    if (!fits || k < 0 || count < k || count > x->dims[dim])
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                           "ApproxTopK: there are no %lld elements to give", (long long)k);
    lz_attr_init(&a, LZ_ATTR_sort);
    a.as_sort.dimension = dim;
    a.as_sort.is_stable = true;
    LZ_TRY(comparator_of(p, t, &a.as_sort.comparator));
    lz_val all = lz_build(s->f, LZ_OP_SORT, &a.head, t->opnd.data, n);
    return first_ones(p, s, t, all, (int)dim, count);
}

/* ---- comparisons in WEAKORDER ---- */

static lz_val one_of_each(lz_func *f, lz_val x)
{
    const lz_type *t = lz_val_type(f, x);
    lz_val zero = lz_build_splat(f, t, 0), nan = lz_build_splat(f, t, (double)NAN);
    x = lz_build_select(f, lz_build_compare(f, LZ_CMP_EQ, x, zero), zero, x);
    return lz_build_select(f, lz_build_compare(f, LZ_CMP_NE, x, x), nan, x);
}

static bool names_weak_order(const lz_parser *p, const lz_parse_entry *e)
{
    lz_lexer c = p->c;
    c.p = e->value;
    if (!lz_slice_is(e->key, "compare_type") || !e->value ||
        !lz_lex_eat(&c, "#stablehlo<comparison_type"))
        return false;
    return lz_lex_eat_word(&c, "WEAKORDER");
}

bool lz_parse_weak_order(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    bool weak = t->nword == 2 && lz_slice_is(t->words[1], "WEAKORDER");
    t->nword -= weak;
    for (uint32_t i = 0; i < t->dict.len && !weak; i++) {
        weak = names_weak_order(p, &t->dict.data[i]);
        if (weak)
            t->dict.data[i] = t->dict.data[--t->dict.len];
    }
    bool floats = weak && t->opnd.len == 2;
    for (int k = 0; k < 2 && floats; k++)
        floats = lz_dtype_is_float(lz_val_type(s->f, t->opnd.data[k])->dtype);
    for (int k = 0; k < 2 && floats; k++)
        t->opnd.data[k] = one_of_each(s->f, t->opnd.data[k]);
    return weak;
}

/* ---- broadcast_*: operands aligned at the last dimension, or as broadcast_dimensions says,
 * extents of 1 repeated ---- */

/* Where the dimensions of an operand of rank `rank` are in the result of rank `to`. */
static lz_status alignment(lz_parser *p, lz_stmt *t, int rank, int to, lz_ints *out)
{
    const lz_parse_entry *e = lz_stmt_find(t, "broadcast_dimensions");
    *out = (lz_ints){.n = rank};
    for (int i = 0; i < rank; i++)
        out->v[i] = to - rank + i;
    if (!e || rank == to)
        return LZ_OK;
    lz_lexer at = p->c;
    at.p = e->value;
    LZ_TRY(lz_lex_ints(&at, "broadcast_dimensions", out));
    bool ok = out->n == rank;
    for (int i = 0; i < out->n; i++)
        ok &= out->v[i] >= 0 && out->v[i] < to && (i == 0 || out->v[i] > out->v[i - 1]);
    return ok ? LZ_OK
              : lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                            LZ_SLICE_FMT ": broadcast_dimensions do not fit the operands",
                            LZ_SLICE_ARG(t->name));
}

static lz_status match(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    lz_shape r = {0};
    lz_ints dims[3];
    for (uint32_t k = 0; k < t->opnd.len; k++) {
        int rank = lz_val_type(s->f, t->opnd.data[k])->shape.rank;
        r.rank = rank > r.rank ? rank : r.rank;
    }
    for (int d = 0; d < r.rank; d++)
        r.dims[d] = 1;
    for (uint32_t k = 0; k < t->opnd.len; k++) {
        const lz_shape *o = &lz_val_type(s->f, t->opnd.data[k])->shape;
        LZ_TRY(alignment(p, t, o->rank, r.rank, &dims[k]));
        for (int i = 0; i < o->rank; i++) {
            int64_t *at = &r.dims[dims[k].v[i]];
            if (o->dims[i] != 1 && *at != 1 && *at != o->dims[i])
                return lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                                   LZ_SLICE_FMT ": extents %lld and %lld do not go together",
                                   LZ_SLICE_ARG(t->name), (long long)*at, (long long)o->dims[i]);
            *at = o->dims[i] != 1 ? o->dims[i] : *at;
        }
    }
    for (uint32_t k = 0; k < t->opnd.len; k++)
        if (!lz_shape_eq(&lz_val_type(s->f, t->opnd.data[k])->shape, &r))
            t->opnd.data[k] = lz_build_broadcast(s->f, t->opnd.data[k], &dims[k], &r);
    return LZ_OK;
}

static lz_status enum_of(lz_parser *p, const lz_stmt *t, const char *field, const char *table,
                         int32_t *out)
{
    const lz_parse_entry *e = lz_stmt_find(t, field);
    if (!e)
        return LZ_OK;
    lz_lexer at = p->c;
    at.p = e->value;
    return lz_lex_enum(&at, table, out);
}

static lz_status compare(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_compare);
    LZ_TRY(enum_of(p, t, "comparison_direction", "comparison_direction",
                   &a.as_compare.comparison_direction));
    LZ_TRY(enum_of(p, t, "compare_type", "compare_type", &a.as_compare.compare_type));
    return lz_parse_push(p, t, lz_build(s->f, LZ_OP_COMPARE, &a.head, t->opnd.data, 2));
}

/* The row that chlo.broadcast_<name> spreads the operands of. */
static lz_op base_op(lz_slice name)
{
    const size_t prefix = strlen("chlo.broadcast_");
    char chlo[64] = "chlo.";
    lz_op op = lz_op_from_text(name.s + prefix, name.n - prefix);
    if (op == LZ_OP_NONE && name.n - prefix < sizeof chlo - 5) {
        memcpy(chlo + 5, name.s + prefix, name.n - prefix);
        op = lz_op_from_text(chlo, 5 + name.n - prefix);
    }
    const lz_op_info *i = lz_op_get(op);
    bool fits =
        i->cls == LZ_CLASS_EW && i->arity >= 2 && (i->attr == LZ_ATTR_none || op == LZ_OP_COMPARE);
    return fits ? op : LZ_OP_NONE;
}

bool lz_chlo_is_broadcast(lz_slice name)
{
    const char prefix[] = "chlo.broadcast_";
    return name.n > strlen(prefix) && memcmp(name.s, prefix, strlen(prefix)) == 0 &&
           base_op(name) != LZ_OP_NONE;
}

lz_status lz_chlo_broadcast(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    lz_op op = base_op(t->name);
    int arity = lz_op_get(op)->arity;
    if (t->opnd.len != (uint32_t)arity)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, LZ_SLICE_FMT ": takes %d operands, not %u",
                           LZ_SLICE_ARG(t->name), arity, t->opnd.len);
    LZ_TRY(match(p, s, t));
    if (op == LZ_OP_COMPARE)
        return compare(p, s, t);
    return lz_parse_push(p, t, lz_build(s->f, op, NULL, t->opnd.data, t->opnd.len));
}
