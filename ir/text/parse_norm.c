/* parse_norm.c - map, and StableHLO's batch normalisations, written with operations of the table:
 * the formulas of its specification. */
#include "ir/text/number.h"
#include "ir/text/parse_chlo.h"
#include <string.h>

/* ---- map: the region on whole tensors ---- */

static lz_val spread(lz_func *f, lz_val scalar, const lz_shape *s)
{
    const lz_ints none = {0};
    return s->rank ? lz_build_broadcast(f, scalar, &none, s) : scalar;
}

static lz_status map_inst(lz_parser *p, lz_scope *s, lz_stmt *t, const lz_inst *in, lz_val *val,
                          uint32_t i)
{
    const lz_shape *shape = &lz_val_type(s->f, val[0])->shape;
    lz_val o[3] = {LZ_NOVAL, LZ_NOVAL, LZ_NOVAL};
    for (uint32_t k = 0; k < in->sig->nopnd && k < 3; k++)
        o[k] = val[in->opnd[k]];
    if (in->lit)
        val[i] = spread(s->f, lz_build_const(s->f, in->lit), shape);
    else if (lz_sig_is_scalar(in->sig))
        val[i] = lz_build(s->f, in->sig->op, in->sig->attr, o, in->sig->nopnd);
    else
        return lz_lex_fail(&p->c, t->at, LZ_EUNSUPPORTED,
                           LZ_SLICE_FMT ": %s is not supported in its region",
                           LZ_SLICE_ARG(t->name), lz_op_get(in->sig->op)->text);
    return val[i] == LZ_NOVAL ? lz_lex_wrap(&p->c, t->at) : LZ_OK;
}

lz_status lz_parse_elementwise(lz_parser *p, lz_scope *s, lz_stmt *t, const lz_func *region,
                               const lz_val *args, lz_val *out)
{
    LZ_TRY(lz_parse_charge(p, t->at, region->ninst));
    lz_val *val = lz_calloc((size_t)region->ninst + 1, sizeof *val);
    if (!val)
        return LZ_FAIL(LZ_EMEM, "no memory for %u values of a region", region->ninst);
    lz_status st = LZ_OK;
    for (uint32_t i = 0; i < region->ninst && st == LZ_OK; i++) {
        if (i < region->nparam)
            val[i] = args[i];
        else
            st = map_inst(p, s, t, &region->insts[i], val, i);
    }
    *out = st == LZ_OK ? val[region->results[0]] : LZ_NOVAL;
    lz_free(val);
    return st;
}

lz_status lz_expand_map(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    const lz_func *r = t->region;
    if (!r || t->opnd.len == 0 || r->nparam != t->opnd.len || r->nresult != 1)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                           "map: needs a region with a parameter for each operand and one result");
    for (uint32_t k = 0; k < t->opnd.len; k++) {
        const lz_type *x = lz_val_type(s->f, t->opnd.data[k]), *e = lz_val_type(r, k);
        if (e->shape.rank || e->dtype != x->dtype ||
            !lz_shape_eq(&x->shape, &lz_val_type(s->f, t->opnd.data[0])->shape))
            return lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                               "map: operand %u does not fit the others, or the region", k);
    }
    lz_val v;
    LZ_TRY(lz_parse_elementwise(p, s, t, r, t->opnd.data, &v));
    return lz_parse_push(p, t, v);
}

/* ---- batch normalisation ---- */

typedef struct norm {
    lz_func *f;
    const lz_type *x;
    lz_ints feature, rest; /* the feature dimension, and all others */
    double epsilon, count; /* elements of a feature */
} norm;

static lz_status number(lz_parser *p, const lz_stmt *t, const char *field, double *out)
{
    const lz_parse_entry *e = lz_stmt_find(t, field);
    if (!e)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, LZ_SLICE_FMT ": the attribute %s is missing",
                           LZ_SLICE_ARG(t->name), field);
    size_t n = lz_lex_number(&p->c, e->value);
    float v = 0;
    bool neg = n && e->value[0] == '-';
    if (!lz_number_parse(LZ_F32, e->value + neg, n - neg, neg, 0, &v, 0))
        return lz_lex_fail(&p->c, e->value, LZ_EPARSE, "expected a number");
    *out = v;
    return LZ_OK;
}

/* nvector: operands after the first that have one value per feature; others have the first one's
 * type. */
static lz_status norm_of(lz_parser *p, lz_scope *s, lz_stmt *t, uint32_t nvector, norm *m)
{
    const lz_parse_entry *e = lz_stmt_find(t, "feature_index");
    int64_t dim = -1;
    if (!e)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                           LZ_SLICE_FMT ": the attribute feature_index is missing",
                           LZ_SLICE_ARG(t->name));
    lz_lexer at = p->c;
    at.p = e->value;
    LZ_TRY(lz_lex_i64(&at, &dim));
    *m = (norm){.f = s->f, .x = lz_val_type(s->f, t->opnd.data[0])};
    LZ_TRY(number(p, t, "epsilon", &m->epsilon));
    const lz_shape *x = &m->x->shape;
    if (dim < 0 || dim >= x->rank || !lz_dtype_is_float(m->x->dtype))
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                           LZ_SLICE_FMT ": there is no feature dimension %lld of floats",
                           LZ_SLICE_ARG(t->name), (long long)dim);
    m->feature = (lz_ints){.n = 1, .v = {dim}};
    m->count = 1;
    for (int d = 0; d < x->rank; d++)
        if (d != dim) {
            m->rest.v[m->rest.n++] = d;
            m->count *= (double)x->dims[d];
        }
    for (uint32_t k = 1; k < t->opnd.len; k++) {
        const lz_type *o = lz_val_type(s->f, t->opnd.data[k]);
        bool vector =
            o->shape.rank == 1 && o->shape.dims[0] == x->dims[dim] && o->dtype == m->x->dtype;
        if (k <= nvector ? !vector : o != m->x)
            return lz_lex_fail(&p->c, t->at, LZ_EPARSE, LZ_SLICE_FMT ": operand %u is not %s",
                               LZ_SLICE_ARG(t->name), k,
                               k <= nvector ? "one value per feature" : "of the first one's type");
    }
    return LZ_OK;
}

static lz_val over(const norm *m, lz_val per_feature)
{
    return lz_build_broadcast(m->f, per_feature, &m->feature, &m->x->shape);
}

static lz_val ew(const norm *m, lz_op op, lz_val a, lz_val b)
{
    return lz_build_ew2(m->f, op, a, b);
}

static lz_val sum(const norm *m, lz_val x)
{
    return lz_build_reduce(m->f, LZ_OP_ADD, x, lz_build_scalar(m->f, m->x->dtype, 0), &m->rest);
}

static lz_val divided(const norm *m, lz_val x)
{
    return x == LZ_NOVAL
               ? x
               : ew(m, LZ_OP_DIVIDE, x, lz_build_splat(m->f, lz_val_type(m->f, x), m->count));
}

/* variance + epsilon */
static lz_val safe(const norm *m, lz_val variance)
{
    return variance == LZ_NOVAL ? variance
                                : ew(m, LZ_OP_ADD, variance,
                                     lz_build_splat(m->f, lz_val_type(m->f, variance), m->epsilon));
}

/* (x - mean) / sqrt(variance + epsilon) */
static lz_val normalised(const norm *m, lz_val x, lz_val mean, lz_val variance)
{
    lz_val d = lz_build_ew1(m->f, LZ_OP_SQRT, safe(m, variance));
    return ew(m, LZ_OP_DIVIDE, ew(m, LZ_OP_SUBTRACT, x, over(m, mean)), over(m, d));
}

static lz_val scaled(const norm *m, lz_val x, lz_val scale, lz_val offset)
{
    return ew(m, LZ_OP_ADD, ew(m, LZ_OP_MULTIPLY, x, over(m, scale)), over(m, offset));
}

lz_status lz_expand_norm_inference(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    norm m;
    LZ_TRY(norm_of(p, s, t, 4, &m));
    const lz_val *o = t->opnd.data; /* operand, scale, offset, mean, variance */
    return lz_parse_push(p, t, scaled(&m, normalised(&m, o[0], o[3], o[4]), o[1], o[2]));
}

lz_status lz_expand_norm_training(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    norm m;
    LZ_TRY(norm_of(p, s, t, 2, &m));
    const lz_val *o = t->opnd.data; /* operand, scale, offset */
    lz_val mean = divided(&m, sum(&m, o[0])), d = ew(&m, LZ_OP_SUBTRACT, o[0], over(&m, mean)),
           variance = divided(&m, sum(&m, ew(&m, LZ_OP_MULTIPLY, d, d)));
    LZ_TRY(lz_parse_push(p, t, scaled(&m, normalised(&m, o[0], mean, variance), o[1], o[2])));
    LZ_TRY(lz_parse_push(p, t, mean));
    return lz_parse_push(p, t, variance);
}

/* scale / sqrt(v) (g - sum(g) / n - (x - mean) sum(g (x - mean)) / (n v)), sum(g normalised),
 * sum(g); v the variance with epsilon */
lz_status lz_expand_norm_grad(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    norm m;
    LZ_TRY(norm_of(p, s, t, 3, &m));
    const lz_val *o = t->opnd.data; /* operand, scale, mean, variance, gradient */
    lz_val g = o[4], c = ew(&m, LZ_OP_SUBTRACT, o[0], over(&m, o[2])), v = safe(&m, o[3]);
    lz_val root = lz_build_ew1(m.f, LZ_OP_SQRT, v), total = sum(&m, g),
           along = ew(&m, LZ_OP_DIVIDE, divided(&m, sum(&m, ew(&m, LZ_OP_MULTIPLY, g, c))), v);
    lz_val rest = ew(&m, LZ_OP_SUBTRACT, ew(&m, LZ_OP_SUBTRACT, g, over(&m, divided(&m, total))),
                     ew(&m, LZ_OP_MULTIPLY, c, over(&m, along)));
    LZ_TRY(lz_parse_push(p, t,
                         ew(&m, LZ_OP_MULTIPLY, over(&m, ew(&m, LZ_OP_DIVIDE, o[1], root)), rest)));
    LZ_TRY(
        lz_parse_push(p, t, sum(&m, ew(&m, LZ_OP_MULTIPLY, g, normalised(&m, o[0], o[2], o[3])))));
    return lz_parse_push(p, t, total);
}
