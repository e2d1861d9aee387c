/* parse_scan.c - chlo.scan: a region that goes along one dimension, from slices of the inputs and
 * what it carries to slices of the outputs and what it carries on. It is read as a loop over the
 * slices. Threads: thread-compatible. */
#include "ir/counted.h"
#include "ir/text/parse_chlo.h"
#include <string.h>

typedef struct scan {
    const lz_func *region; /* of the inputs' slices, then what is carried */
    uint32_t nin, ninit, nout;
    int64_t dim, trip_count;
    bool reverse;
} scan;

/* ---- text ---- */

static bool is_true(const lz_parser *p, const lz_stmt *t, const char *key)
{
    const lz_parse_entry *e = lz_stmt_find(t, key);
    lz_lexer at = p->c;
    at.p = e ? e->value : at.p;
    return e && lz_lex_eat_word(&at, "true");
}

static lz_status operand_list(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    LZ_TRY(lz_lex_want(&p->c, "("));
    LZ_TRY(lz_parse_operands(p, s, t));
    return lz_lex_want(&p->c, ")");
}

/* (%a, %b) inits(%c) dimension=0 attributes {is_reverse = true} { region } */
static lz_status pretty(lz_parser *p, lz_scope *s, lz_stmt *t, scan *x)
{
    LZ_TRY(operand_list(p, s, t));
    x->nin = t->opnd.len;
    LZ_TRY(lz_lex_want(&p->c, "inits"));
    LZ_TRY(operand_list(p, s, t));
    LZ_TRY(lz_lex_want(&p->c, "dimension"));
    LZ_TRY(lz_lex_want(&p->c, "="));
    LZ_TRY(lz_lex_i64(&p->c, &x->dim));
    if (lz_lex_eat_word(&p->c, "attributes")) {
        LZ_TRY(lz_lex_want(&p->c, "{"));
        LZ_TRY(lz_parse_dictionary(p, t));
    }
    LZ_TRY(lz_lex_want(&p->c, "{"));
    return lz_parse_region(p, s, NULL, &t->region, NULL);
}

/* (%a, %b, %c) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 2, 1>}> ({ region }) */
static lz_status generic(lz_parser *p, lz_scope *s, lz_stmt *t, scan *x)
{
    LZ_TRY(lz_parse_generic_items(p, s, t));
    if (lz_lex_eat(&p->c, "{"))
        LZ_TRY(lz_parse_dictionary(p, t));
    const lz_parse_entry *dim = lz_stmt_find(t, "dimension"),
                         *sizes = lz_stmt_find(t, "operandSegmentSizes");
    lz_ints n = {0};
    lz_lexer at = p->c;
    if (!dim || !sizes)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, "chlo.scan: the attribute %s is missing",
                           dim ? "operandSegmentSizes" : "dimension");
    at.p = dim->value;
    LZ_TRY(lz_lex_i64(&at, &x->dim));
    at.p = sizes->value;
    LZ_TRY(lz_lex_ints(&at, "operandSegmentSizes", &n));
    if (n.n != 2 || n.v[0] < 0 || n.v[1] < 0 || n.v[0] + n.v[1] != t->opnd.len)
        return lz_lex_fail(&p->c, sizes->value, LZ_EPARSE,
                           "chlo.scan: operandSegmentSizes do not say what %u operands are",
                           t->opnd.len);
    x->nin = (uint32_t)n.v[0];
    return LZ_OK;
}

/* ---- what fits ---- */

static lz_status misfit(lz_parser *p, const lz_stmt *t, const char *what, uint32_t i)
{
    return lz_lex_fail(&p->c, t->at, LZ_EPARSE, "chlo.scan: %s %u does not fit the others", what,
                       i);
}

/* The type of a slice of t, the dimension `dim` left out; NULL: it has no such one of x's
 * extent. */
static const lz_type *slice_of(const scan *x, const lz_type *t)
{
    lz_shape s = {.rank = t->shape.rank - 1};
    if (x->dim >= t->shape.rank || t->shape.dims[x->dim] != x->trip_count)
        return NULL;
    for (int d = 0, k = 0; d < t->shape.rank; d++)
        if (d != x->dim)
            s.dims[k++] = t->shape.dims[d];
    return lz_type_get(t->dtype, &s);
}

static lz_status check(lz_parser *p, const lz_scope *s, const lz_stmt *t, scan *x)
{
    const lz_func *r = x->region = t->region;
    x->ninit = t->opnd.len - x->nin;
    if (!r || r->nparam != t->opnd.len || r->nresult < x->ninit ||
        r->nresult != t->result_types.len || (x->nin == 0 && r->nresult == x->ninit))
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                           "chlo.scan: needs a region of a slice of each input and the carried "
                           "values that gives slices and as many carried values");
    x->nout = r->nresult - x->ninit;
    const lz_type *first = x->nin ? lz_val_type(s->f, t->opnd.data[0]) : t->result_types.data[0];
    if (x->dim < 0 || x->dim >= first->shape.rank)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, "chlo.scan: there is no dimension %lld",
                           (long long)x->dim);
    x->trip_count = first->shape.dims[x->dim];
    for (uint32_t i = 0; i < x->nin; i++)
        if (slice_of(x, lz_val_type(s->f, t->opnd.data[i])) != lz_val_type(r, i))
            return misfit(p, t, "input", i);
    for (uint32_t k = 0; k < x->ninit; k++) {
        const lz_type *c = lz_val_type(s->f, t->opnd.data[x->nin + k]);
        if (c != lz_val_type(r, x->nin + k) || c != lz_val_type(r, r->results[x->nout + k]) ||
            c != t->result_types.data[x->nout + k])
            return misfit(p, t, "initial value", k);
    }
    for (uint32_t k = 0; k < x->nout; k++)
        if (slice_of(x, t->result_types.data[k]) != lz_val_type(r, r->results[k]))
            return misfit(p, t, "output", k);
    return LZ_OK;
}

/* ---- the loop ---- */

/* The dimension of the scan in front, or from there back where it was; then as the loop goes. */
static lz_val turned(lz_func *f, lz_val v, const scan *x, bool back)
{
    lz_ints perm = {0}, front = {.n = 1};
    if (v == LZ_NOVAL)
        return v;
    perm.n = lz_val_type(f, v)->shape.rank;
    for (int d = 0; d < perm.n; d++) {
        int64_t to = d == 0 ? x->dim : d <= x->dim ? d - 1 : d;
        perm.v[back ? to : d] = back ? d : to;
    }
    lz_attr_dims a = {.kind = LZ_ATTR_dims, .dimensions = front};
    if (x->dim && !back)
        v = lz_build_transpose(f, v, &perm);
    if (x->reverse && v != LZ_NOVAL)
        v = lz_build(f, LZ_OP_REVERSE, (const lz_attr *)(const void *)&a, &v, 1);
    return x->dim && back && v != LZ_NOVAL ? lz_build_transpose(f, v, &perm) : v;
}

/* Of the round, what is carried, the stacks of the outputs, then the inputs: what is carried on and
 * the stacks. type: of all those. */
static lz_status fill(lz_func *g, const scan *x, const lz_type *const *type, lz_val *room)
{
    uint32_t n = x->ninit + x->nout;
    lz_val *arg = room, *res = arg + x->nin + x->ninit, *out = res + n;
    for (uint32_t i = 0; i <= n + x->nin; i++)
        (void)lz_build_param(g, type[i]);
    LZ_TRY(g->status);
    for (uint32_t i = 0; i < x->nin; i++)
        arg[i] = lz_loop_slice(g, 1 + n + i, 0);
    for (uint32_t k = 0; k < x->ninit; k++)
        arg[x->nin + k] = 1 + k;
    LZ_TRY(g->status);
    LZ_TRY(lz_build_inline(g, x->region, arg, res));
    for (uint32_t k = 0; k < x->ninit; k++)
        out[k] = res[x->nout + k];
    for (uint32_t k = 0; k < x->nout; k++)
        out[x->ninit + k] = lz_loop_put(g, 1 + x->ninit + k, res[k], 0);
    return g->status != LZ_OK ? g->status : lz_func_set_results(g, out, n);
}

/* v: the operands of the loop, which its results replace. */
static lz_status loop(lz_func *f, const scan *x, lz_val *v)
{
    uint32_t n = x->ninit + x->nout, all = n + x->nin;
    const lz_shape scalar = LZ_SCALAR;
    lz_func *g = lz_func_new("scan");
    const lz_type **type = lz_alloc(((size_t)all + 1) * sizeof *type);
    lz_val *room = lz_alloc(((size_t)x->nin + 3 * (size_t)n + 1) * sizeof *room);
    lz_status s = g && type && room ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for a scan");
    if (s == LZ_OK) {
        type[0] = lz_type_get(LZ_I64, &scalar);
        for (uint32_t i = 0; i < all; i++)
            type[1 + i] = lz_val_type(f, v[i]);
        s = fill(g, x, type, room);
    }
    if (s == LZ_OK)
        s = lz_build_count(f, g, x->trip_count, v, all, n, v);
    lz_free(room);
    lz_free(type);
    lz_func_free(g);
    return s;
}

static lz_status build(lz_parser *p, lz_scope *s, lz_stmt *t, const scan *x)
{
    uint32_t n = x->ninit + x->nout;
    lz_val *v = lz_alloc(((size_t)n + x->nin + 1) * sizeof *v);
    if (!v)
        return LZ_FAIL(LZ_EMEM, "no memory for a scan");
    for (uint32_t k = 0; k < x->ninit; k++)
        v[k] = t->opnd.data[x->nin + k];
    for (uint32_t k = 0; k < x->nout; k++) {
        const lz_type *one = lz_val_type(x->region, x->region->results[k]);
        const lz_type *stack = lz_loop_stack_type(one, x->trip_count);
        v[x->ninit + k] = stack ? lz_build_splat(s->f, stack, 0) : LZ_NOVAL;
    }
    for (uint32_t i = 0; i < x->nin; i++)
        v[n + i] = turned(s->f, t->opnd.data[i], x, false);
    lz_status st = LZ_OK;
    for (uint32_t i = 0; i < n + x->nin && st == LZ_OK; i++)
        st = v[i] == LZ_NOVAL ? lz_error_get()->status : LZ_OK;
    if (st == LZ_OK && x->trip_count)
        st = loop(s->f, x, v);
    for (uint32_t k = 0; k < n && st == LZ_OK; k++) {
        bool out = k < x->nout;
        lz_val r = out ? turned(s->f, v[x->ninit + k], x, true) : v[k - x->nout];
        st = r == LZ_NOVAL ? lz_error_get()->status : lz_vec_push(&t->results, r);
    }
    lz_free(v);
    return st == LZ_OK ? LZ_OK : lz_lex_wrap(&p->c, t->at);
}

lz_status lz_parse_chlo_scan(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    scan x = {0};
    LZ_TRY(t->generic ? generic(p, s, t, &x) : pretty(p, s, t, &x));
    LZ_TRY(lz_lex_want(&p->c, ":"));
    LZ_TRY(lz_parse_types(p, t));
    LZ_TRY(lz_parse_check_operands(p, s, t));
    LZ_TRY(check(p, s, t, &x));
    x.reverse = is_true(p, t, "is_reverse");
    LZ_TRY(build(p, s, t, &x));
    return lz_parse_check_results(p, s, t);
}
