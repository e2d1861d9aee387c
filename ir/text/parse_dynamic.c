/* parse_dynamic.c - operations whose shapes are operands, with results of static types: what shape
 * refinement leaves of an export with symbolic shapes. An operand that says a shape is computed
 * here, by the reference evaluator, from the constants of the text; where the result's type says
 * all, it only has to agree. Also get_dimension_size and torch_index_select.
 * Threads: thread-compatible. */
#include "ir/eval/eval.h"
#include "ir/text/parse_chlo.h"
#include <inttypes.h>
#include <string.h>

/* Text from anywhere decides what is computed while it is read, so all of it is bounded: how many
 * instructions, the elements of each of their results, and the steps they take together. */
enum { MAX_FOLDED = 4096, MAX_STEPS = 1 << 24 };

/* ---- constants ---- */

/* What a value is computed from, itself first: numbers in falling order, each once, and the values
 * of another function they become. */
typedef struct folded {
    uint32_t n;
    lz_val from[MAX_FOLDED], to[MAX_FOLDED];
    lz_val opnd[MAX_FOLDED]; /* of the instruction that is made */
} folded;

/* Where v is, or belongs. */
static uint32_t place(const folded *c, lz_val v)
{
    uint32_t lo = 0, hi = c->n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (c->from[mid] > v)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static bool need(folded *c, lz_val v)
{
    uint32_t at = place(c, v);
    if (at < c->n && c->from[at] == v)
        return true;
    if (c->n == MAX_FOLDED)
        return false;
    memmove(c->from + at + 1, c->from + at, (c->n - at) * sizeof *c->from);
    c->from[at] = v;
    c->n++;
    return true;
}

/* The elements of all results; MAX_FOLDED + 1: too many. */
static int64_t extent(const lz_sig *s)
{
    int64_t n = 0;
    for (uint32_t k = 0; k < s->nresult && n <= MAX_FOLDED; k++) {
        int64_t more = s->result[k]->nelem;
        n = more > MAX_FOLDED - n ? MAX_FOLDED + 1 : n + more;
    }
    return n;
}

/* The operations that arithmetic on shapes is made of: those whose elements bound their steps. A
 * loop has no such bound, nor a window, which reaches over padding. */
static bool bounded(const lz_sig *s, bool regions)
{
    lz_op_class c = lz_op_get(s->op)->cls;
    bool plain = c == LZ_CLASS_EW || c == LZ_CLASS_LEAF || c == LZ_CLASS_MOVE || c == LZ_CLASS_META;
    bool runs =
        c == LZ_CLASS_INDEX || c == LZ_CLASS_REDUCE || c == LZ_CLASS_DOT || c == LZ_CLASS_SORT;
    return (plain || (regions && runs)) && s->flags & LZ_F_PURE;
}

/* One call of a region; MAX_STEPS + 1: it does more than compute scalars from scalars. */
static int64_t region_steps(const lz_func *r)
{
    for (uint32_t i = r->nparam; i < r->ninst; i++)
        if (!bounded(r->insts[i].sig, false) || extent(r->insts[i].sig) > 1)
            return MAX_STEPS + 1;
    return r->ninst + 1;
}

/* No fewer than an instruction takes: products and orders count as every pair of elements. */
static int64_t steps(const lz_func *f, const lz_inst *in)
{
    lz_op_class c = lz_op_get(in->sig->op)->cls;
    int64_t most = extent(in->sig), read = 1, per = 1;
    if (most > MAX_FOLDED || (!in->lit && !bounded(in->sig, true)) || in->sig->nopnd > MAX_FOLDED)
        return MAX_STEPS + 1;
    for (uint32_t k = 0; k < in->sig->nopnd; k++) {
        int64_t n = extent(f->insts[in->opnd[k]].sig);
        read = n > read ? n : read;
    }
    const lz_func *r = lz_attr_region(in->sig->attr, 0);
    if (r && c != LZ_CLASS_META) /* a rule for gradients is not run */
        per = region_steps(r);
    most = c == LZ_CLASS_DOT ? most * read : read > most ? read : most;
    most = c == LZ_CLASS_SORT ? most * 16 : most;
    return per > MAX_STEPS / (most + 1) ? MAX_STEPS + 1 : per * most + in->sig->nopnd;
}

/* Lists what v is computed from. False: not constants alone, or too much. */
static bool list(const lz_func *f, lz_val v, folded *c)
{
    int64_t left = MAX_STEPS;
    c->n = 0;
    (void)need(c, v);
    for (uint32_t i = 0; i < c->n; i++) { /* operands come behind what reads them */
        const lz_inst *in = &f->insts[c->from[i]];
        if (c->from[i] < f->nparam || (left -= steps(f, in)) < 0)
            return false;
        for (uint32_t k = 0; k < in->sig->nopnd; k++)
            if (!need(c, in->opnd[k]))
                return false;
    }
    return true;
}

static lz_status computed(const lz_func *f, folded *c, lz_literal **out)
{
    lz_func *g = lz_func_new("shape");
    for (uint32_t i = c->n; g && i-- > 0;) {
        const lz_inst *in = &f->insts[c->from[i]];
        for (uint32_t k = 0; k < in->sig->nopnd; k++)
            c->opnd[k] = c->to[place(c, in->opnd[k])];
        c->to[i] = in->lit ? lz_build_const(g, in->lit) : lz_build_sig(g, in->sig, c->opnd);
    }
    lz_status s = g ? g->status : LZ_EMEM;
    s = s == LZ_OK ? lz_func_set_results(g, &c->to[0], 1) : s;
    s = s == LZ_OK ? lz_ref_run(g, NULL, out) : s;
    lz_func_free(g);
    return s;
}

/* *out: a new reference to what v is; NULL: it is not computed from constants. */
static lz_status constant_of(const lz_func *f, lz_val v, lz_literal **out)
{
    *out = f->insts[v].lit;
    if (*out) {
        lz_literal_retain(*out);
        return LZ_OK;
    }
    folded *c = lz_alloc(sizeof *c);
    lz_status s = !c              ? LZ_FAIL(LZ_EMEM, "no memory for what a shape is computed from")
                  : list(f, v, c) ? computed(f, c, out)
                                  : LZ_OK;
    lz_free(c);
    return s;
}

/* Operand i as numbers. *known false: it is not computed from constants. */
static lz_status numbers(lz_parser *p, lz_scope *s, const lz_stmt *t, uint32_t i, lz_ints *out,
                         bool *known)
{
    const lz_type *x = lz_val_type(s->f, t->opnd.data[i]);
    lz_literal *l;
    *out = (lz_ints){0};
    *known = false;
    if (x->shape.rank > 1 || !lz_dtype_is_int(x->dtype) || x->nelem > LZ_MAX_RANK)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                           LZ_SLICE_FMT ": operand %u is no list of numbers", LZ_SLICE_ARG(t->name),
                           i);
    if (constant_of(s->f, t->opnd.data[i], &l) != LZ_OK)
        return lz_lex_wrap(&p->c, t->at);
    if (!l)
        return LZ_OK;
    *known = true;
    out->n = (int32_t)x->nelem;
    for (int k = 0; k < out->n; k++)
        out->v[k] = lz_elem_get_i64(x->dtype, l->data, k);
    lz_literal_release(l);
    return LZ_OK;
}

static lz_status need_numbers(lz_parser *p, lz_scope *s, const lz_stmt *t, uint32_t i, lz_ints *out)
{
    bool known;
    LZ_TRY(numbers(p, s, t, i, out, &known));
    return known ? LZ_OK
                 : lz_lex_fail(&p->c, t->at, LZ_EUNSUPPORTED,
                               LZ_SLICE_FMT ": operand %u is not computed from constants: only "
                                            "static shapes are supported",
                               LZ_SLICE_ARG(t->name), i);
}

static lz_status need_result(lz_parser *p, const lz_stmt *t)
{
    return t->result_types.len == 1
               ? LZ_OK
               : lz_lex_fail(&p->c, t->at, LZ_EPARSE, LZ_SLICE_FMT ": the result's type is missing",
                             LZ_SLICE_ARG(t->name));
}

/* The last operand says the result's shape, which its type says, too. It goes. */
static lz_status same_shape(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    lz_ints said;
    bool known;
    LZ_TRY(need_result(p, t));
    const lz_shape *r = &t->result_types.data[0]->shape;
    LZ_TRY(numbers(p, s, t, t->opnd.len - 1, &said, &known));
    bool fits = !known || said.n == r->rank;
    for (int i = 0; known && fits && i < r->rank; i++)
        fits = said.v[i] == r->dims[i];
    if (!fits)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                           LZ_SLICE_FMT ": the shape it is given is not that of its result's type",
                           LZ_SLICE_ARG(t->name));
    t->opnd.len--;
    return LZ_OK;
}

/* ---- the operations ---- */

static lz_status build(lz_parser *p, lz_scope *s, lz_stmt *t, lz_op op, const lz_attr_any *a)
{
    return lz_parse_push(p, t, lz_build(s->f, op, &a->head, t->opnd.data, t->opnd.len));
}

lz_status lz_dynamic_shaped(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    static const char prefix[] = "stablehlo.dynamic_";
    t->op = lz_op_from_text(t->name.s + sizeof prefix - 1, t->name.n - (sizeof prefix - 1));
    LZ_TRY(same_shape(p, s, t));
    return lz_parse_build(p, s, t);
}

lz_status lz_dynamic_pad(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_pad);
    LZ_TRY(need_numbers(p, s, t, 2, &a.as_pad.edge_padding_low));
    LZ_TRY(need_numbers(p, s, t, 3, &a.as_pad.edge_padding_high));
    LZ_TRY(need_numbers(p, s, t, 4, &a.as_pad.interior_padding));
    t->opnd.len = 2;
    return build(p, s, t, LZ_OP_PAD, &a);
}

/* Starts that are known when the program runs, strides that are known here: what lies between start
 * and limit, then every stride-th element. */
static lz_status slice_at(lz_parser *p, lz_scope *s, lz_stmt *t, const lz_ints *stride)
{
    const lz_shape *x = &lz_val_type(s->f, t->opnd.data[0])->shape,
                   *r = &t->result_types.data[0]->shape;
    const lz_type *list = lz_val_type(s->f, t->opnd.data[1]);
    lz_attr_any a;
    lz_val o[LZ_MAX_RANK + 1] = {t->opnd.data[0]};
    int64_t from, to;
    const lz_shape scalar = {0};
    bool fits = stride->n == x->rank && r->rank == x->rank && list->nelem == x->rank &&
                list->shape.rank == 1;
    lz_attr_init(&a, LZ_ATTR_sizes);
    for (int i = 0; fits && i < x->rank; i++) {
        from = i;
        to = i + 1;
        fits = stride->v[i] >= 1 && r->dims[i] <= x->dims[i];
        int64_t span = r->dims[i] ? (r->dims[i] - 1) * stride->v[i] + 1 : 0;
        fits = fits && span <= x->dims[i];
        a.as_sizes.slice_sizes.v[a.as_sizes.slice_sizes.n++] = span;
        lz_val at = lz_build_slice(s->f, t->opnd.data[1], &from, &to, NULL);
        o[i + 1] = at == LZ_NOVAL ? at : lz_build_reshape(s->f, at, &scalar);
    }
    if (!fits)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                           LZ_SLICE_FMT ": starts, strides and the result's type do not fit",
                           LZ_SLICE_ARG(t->name));
    lz_val v = lz_build(s->f, LZ_OP_DYNAMIC_SLICE, &a.head, o, (uint32_t)x->rank + 1);
    if (v != LZ_NOVAL)
        v = lz_build_slice(s->f, v, NULL, a.as_sizes.slice_sizes.v, stride->v);
    return lz_parse_push(p, t, v);
}

lz_status lz_real_dynamic_slice(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    lz_attr_any a;
    bool start, limit;
    lz_attr_init(&a, LZ_ATTR_slice);
    LZ_TRY(need_result(p, t));
    LZ_TRY(numbers(p, s, t, 1, &a.as_slice.start_indices, &start));
    LZ_TRY(numbers(p, s, t, 2, &a.as_slice.limit_indices, &limit));
    LZ_TRY(need_numbers(p, s, t, 3, &a.as_slice.strides));
    if (!start || !limit)
        return slice_at(p, s, t, &a.as_slice.strides);
    t->opnd.len = 1;
    return build(p, s, t, LZ_OP_SLICE, &a);
}

lz_status lz_dynamic_gather(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    lz_ints sizes;
    lz_attr_any a;
    LZ_TRY(need_numbers(p, s, t, 2, &sizes));
    t->opnd.len = 2;
    t->op = LZ_OP_GATHER;
    LZ_TRY(lz_parse_gather_numbers(p, t, &a));
    a.as_gather.slice_sizes = sizes;
    return build(p, s, t, LZ_OP_GATHER, &a);
}

/* [spatial dimension][low, high] */
lz_status lz_dynamic_conv(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    lz_attr_any a;
    lz_literal *l;
    LZ_TRY(need_result(p, t));
    if (constant_of(s->f, t->opnd.data[2], &l) != LZ_OK)
        return lz_lex_wrap(&p->c, t->at);
    if (!l)
        return lz_lex_fail(&p->c, t->at, LZ_EUNSUPPORTED,
                           LZ_SLICE_FMT ": its padding is not computed from constants",
                           LZ_SLICE_ARG(t->name));
    const lz_type *x = l->type;
    t->opnd.len = 2;
    t->op = LZ_OP_CONVOLUTION;
    lz_status st = lz_parse_record(p, s, t, &a);
    lz_attr_convolution *c = &a.as_convolution;
    bool fits = x->shape.rank == 2 && x->shape.dims[1] == 2 && lz_dtype_is_int(x->dtype) &&
                x->shape.dims[0] == c->padding_low.n;
    if (st == LZ_OK && !fits)
        st = lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                         LZ_SLICE_FMT ": its padding is not one pair for each spatial dimension",
                         LZ_SLICE_ARG(t->name));
    for (int i = 0; st == LZ_OK && i < c->padding_low.n; i++) {
        c->padding_low.v[i] = lz_elem_get_i64(x->dtype, l->data, 2 * (int64_t)i);
        c->padding_high.v[i] = lz_elem_get_i64(x->dtype, l->data, 2 * (int64_t)i + 1);
    }
    lz_literal_release(l);
    LZ_TRY(st);
    LZ_TRY(lz_parse_widen(p, s, t));
    lz_val v = lz_build(s->f, LZ_OP_CONVOLUTION, &a.head, t->opnd.data, 2);
    if (v != LZ_NOVAL)
        v = lz_build_convert(s->f, v, t->result_types.data[0]->dtype);
    return lz_parse_push(p, t, v);
}

/* ---- extents and rows ---- */

static lz_status number_at(lz_parser *p, const lz_stmt *t, const char *key, const char *shown,
                           int64_t least, int64_t end, int64_t *out)
{
    const lz_parse_entry *e = lz_stmt_find(t, key);
    if (!e && !(e = lz_stmt_find(t, shown)))
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, LZ_SLICE_FMT ": the attribute %s is missing",
                           LZ_SLICE_ARG(t->name), key);
    lz_lexer at = p->c;
    at.p = e->value;
    LZ_TRY(lz_lex_i64(&at, out));
    return *out >= least && *out < end
               ? LZ_OK
               : lz_lex_fail(&p->c, e->value, LZ_EPARSE,
                             LZ_SLICE_FMT ": there is no dimension %" PRId64, LZ_SLICE_ARG(t->name),
                             *out);
}

lz_status lz_dimension_size(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    const lz_shape *x = &lz_val_type(s->f, t->opnd.data[0])->shape;
    int64_t dim;
    LZ_TRY(need_result(p, t));
    LZ_TRY(number_at(p, t, "dimension", "dim", 0, x->rank, &dim));
    lz_dtype d = t->result_types.data[0]->dtype;
    return lz_parse_push(p, t,
                         lz_build_scalar_i64(s->f, lz_dtype_is_int(d) ? d : LZ_I32, x->dims[dim]));
}

/* result[batch.., left.., index.., right..] = x[batch.., left.., i[batch.., index..], right..], a
 * gather whose batch dimensions are those of both. Indices are clamped, as XLA's are. */
lz_status lz_torch_index_select(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    const lz_shape *x = &lz_val_type(s->f, t->opnd.data[0])->shape,
                   *i = &lz_val_type(s->f, t->opnd.data[1])->shape;
    int64_t dim, batch;
    lz_attr_any any;
    lz_attr_init(&any, LZ_ATTR_gather);
    lz_attr_gather *a = &any.as_gather;
    LZ_TRY(number_at(p, t, "dim", "dim", -x->rank, x->rank, &dim));
    dim += dim < 0 ? x->rank : 0;
    LZ_TRY(number_at(p, t, "batch_dims", "batch_dims", -i->rank, i->rank + 1, &batch));
    batch += batch < 0 ? i->rank : 0;
    if (batch > dim)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                           LZ_SLICE_FMT ": dim %" PRId64 " is among the %" PRId64 " batch_dims",
                           LZ_SLICE_ARG(t->name), dim, batch);
    for (int64_t k = 0; k < x->rank; k++) {
        bool whole = k != dim && k >= batch;
        a->slice_sizes.v[a->slice_sizes.n++] = whole ? x->dims[k] : x->dims[k] ? 1 : 0;
        if (whole) /* behind dim come the dimensions of the index, but those of the batch */
            a->offset_dims.v[a->offset_dims.n++] = k < dim ? k : k - 1 + i->rank - batch;
        else if (k < batch)
            a->operand_batching_dims.v[a->operand_batching_dims.n++] =
                a->start_indices_batching_dims.v[a->start_indices_batching_dims.n++] = k;
    }
    a->collapsed_slice_dims = lz_ints_make(1, &dim);
    a->start_index_map = a->collapsed_slice_dims;
    a->index_vector_dim = i->rank;
    return build(p, s, t, LZ_OP_GATHER, &any);
}
