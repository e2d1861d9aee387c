/* parse_ragged.c - chlo.ragged_dot: products of matrices whose rows, or whose contracted elements,
 * come in groups of sizes that are only known when it runs. Written with operations of the table,
 * so that nothing of one group meets the numbers of another: what is infinite or NaN
 * elsewhere stays there. What is in no group gives 0. Threads: thread-compatible. */
#include "ir/text/parse_chlo.h"
#include <string.h>

typedef struct ragged {
    lz_ints batch[2], contract[2]; /* of both sides */
    lz_ints lhs_ragged, rhs_group;
    int32_t precision;
    const lz_type *x, *y, *r; /* both sides, the result */
    lz_val a, b, sizes;
    int64_t groups;
} ragged;

/* ---- what the text says ---- */

/* #chlo.ragged_dot<lhs_batching_dimensions = [0], ...> */
static lz_status read_numbers(lz_parser *p, const lz_stmt *t, ragged *g)
{
    const struct {
        const char *name;
        lz_ints *at;
    } fields[] = {{"lhs_batching_dimensions", &g->batch[0]},
                  {"rhs_batching_dimensions", &g->batch[1]},
                  {"lhs_contracting_dimensions", &g->contract[0]},
                  {"rhs_contracting_dimensions", &g->contract[1]},
                  {"lhs_ragged_dimensions", &g->lhs_ragged},
                  {"rhs_group_dimensions", &g->rhs_group}};
    enum { N = sizeof fields / sizeof *fields };
    const lz_parse_entry *e = lz_stmt_find(t, "ragged_dot_dimension_numbers");
    lz_lexer c = p->c;
    if (!e)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, "ragged_dot: there are no dimension numbers");
    c.p = e->value;
    LZ_TRY(lz_lex_want(&c, "#chlo.ragged_dot<"));
    while (!lz_lex_eat(&c, ">")) {
        lz_slice key = lz_lex_word(&c);
        int i = 0;
        while (i < N && !lz_slice_is(key, fields[i].name))
            i++;
        if (i == N)
            return lz_lex_fail(&c, key.s, LZ_EPARSE,
                               "'" LZ_SLICE_FMT "' is no field of this attribute",
                               LZ_SLICE_ARG(key));
        LZ_TRY(lz_lex_want(&c, "="));
        LZ_TRY(lz_lex_ints(&c, fields[i].name, fields[i].at));
        if (!lz_lex_eat(&c, ",") && !lz_lex_sees(&c, ">"))
            return lz_lex_want(&c, ">");
    }
    e = lz_stmt_find(t, "precision_config");
    return e ? lz_parse_precision(p, e, &g->precision) : LZ_OK;
}

/* The lists name dimensions of t, none of them twice. So they have at most as many as t, which
 * everything below rests on. */
static bool apart(const lz_ints *const *lists, int n, const lz_type *t)
{
    bool named[LZ_MAX_RANK] = {false};
    for (int k = 0; k < n; k++)
        for (int i = 0; i < lists[k]->n; i++) {
            int64_t d = lists[k]->v[i];
            if (d < 0 || d >= t->shape.rank || named[d])
                return false;
            named[d] = true;
        }
    return true;
}

/* The ragged dimension may be a batch or contracted one; that of groups is none of either. */
static bool fits(const ragged *g)
{
    const lz_ints *const left[] = {&g->batch[0], &g->contract[0]},
                         *const right[] = {&g->batch[1], &g->contract[1], &g->rhs_group},
                         *const rows[] = {&g->lhs_ragged};
    return g->lhs_ragged.n == 1 && apart(rows, 1, g->x) && apart(left, 2, g->x) &&
           apart(right, 3, g->y) && g->contract[0].n == g->contract[1].n &&
           g->batch[0].n == g->batch[1].n;
}

static lz_status read(lz_parser *p, const lz_scope *s, const lz_stmt *t, ragged *g)
{
    memset(g, 0, sizeof *g);
    if (t->result_types.len != 1)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, "ragged_dot: the result's type is missing");
    LZ_TRY(read_numbers(p, t, g));
    g->a = t->opnd.data[0];
    g->b = t->opnd.data[1];
    g->sizes = t->opnd.data[2];
    g->x = lz_val_type(s->f, g->a);
    g->y = lz_val_type(s->f, g->b);
    g->r = t->result_types.data[0];
    const lz_type *sizes = lz_val_type(s->f, g->sizes);
    if (!fits(g))
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                           "ragged_dot: the dimension numbers do not fit the operands");
    if (!lz_dtype_is_int(sizes->dtype) || sizes->shape.rank != 1)
        return lz_lex_fail(&p->c, t->at, LZ_EUNSUPPORTED,
                           "ragged_dot: only one list of integers as sizes is supported");
    g->groups = sizes->shape.dims[0];
    return LZ_OK;
}

/* ---- groups ---- */

/* Whether position i of `extent` is in group j: [extent, groups], or transposed. */
static lz_val members(lz_func *f, const ragged *g, int64_t extent, bool groups_first)
{
    const lz_ints over = {.n = 1, .v = {1}}, row = {.n = 1, .v = {1}}, column = {.n = 1, .v = {0}};
    const lz_shape square = {.rank = 2, .dims = {g->groups, g->groups}};
    const lz_shape s = {
        .rank = 2, .dims = {groups_first ? g->groups : extent, groups_first ? extent : g->groups}};
    const lz_type *ts = lz_type_get(LZ_I64, &square), *ti = lz_type_get(LZ_I64, &s);
    if (!ts || !ti)
        return LZ_NOVAL;
    lz_val n = lz_build_convert(f, g->sizes, LZ_I64);
    /* where groups end: the sum of those up to them */
    lz_val upto = lz_build_compare(f, LZ_CMP_LE, lz_build_iota(f, ts, 1), lz_build_iota(f, ts, 0));
    lz_val each = lz_build_broadcast(f, n, &row, &square);
    lz_val end =
        lz_build_reduce(f, LZ_OP_ADD, lz_build_select(f, upto, each, lz_build_splat(f, ts, 0)),
                        lz_build_scalar_i64(f, LZ_I64, 0), &over);
    lz_val start = lz_build_ew2(f, LZ_OP_SUBTRACT, end, n);
    const lz_ints *at = groups_first ? &column : &row;
    lz_val place = lz_build_iota(f, ti, groups_first ? 1 : 0);
    lz_val from = lz_build_compare(f, LZ_CMP_GE, place, lz_build_broadcast(f, start, at, &s));
    lz_val to = lz_build_compare(f, LZ_CMP_LT, place, lz_build_broadcast(f, end, at, &s));
    return lz_build_ew2(f, LZ_OP_AND, from, to);
}

/* x where the mask, whose dimensions are those two of x, holds; 0 elsewhere. */
static lz_val masked(lz_func *f, lz_val x, lz_val mask, int64_t first, int64_t second)
{
    const lz_ints dims = {.n = 2, .v = {first, second}};
    if (x == LZ_NOVAL)
        return x;
    const lz_type *t = lz_val_type(f, x);
    return lz_build_select(f, lz_build_broadcast(f, mask, &dims, &t->shape), x,
                           lz_build_splat(f, t, 0));
}

/* ---- products ---- */

static lz_val product(lz_func *f, const ragged *g, lz_val a, lz_val b, const lz_ints batch[2],
                      const lz_ints contract[2])
{
    lz_attr_any d;
    lz_attr_init(&d, LZ_ATTR_dot);
    d.as_dot.lhs_batching_dimensions = batch[0];
    d.as_dot.rhs_batching_dimensions = batch[1];
    d.as_dot.lhs_contracting_dimensions = contract[0];
    d.as_dot.rhs_contracting_dimensions = contract[1];
    d.as_dot.precision = g->precision;
    return lz_build(f, LZ_OP_DOT_GENERAL, &d.head, (lz_val[]){a, b}, 2);
}

/* How many dimensions below d the product keeps. */
static int64_t kept_below(const lz_ints *batch, const lz_ints *contract, int64_t d)
{
    int64_t n = 0;
    for (int64_t i = 0; i < d; i++)
        n += !lz_ints_has(batch, i) && !lz_ints_has(contract, i);
    return n;
}

/* Rows in groups: [b, m, k] [g, b, k, n] -> [b, m, n]: the product with every group's matrix, of
 *   which each row keeps that of its group. */
static lz_val rows_in_groups(lz_func *f, const ragged *g)
{
    int64_t ragged_dim = g->lhs_ragged.v[0], group = g->rhs_group.v[0];
    lz_val all = product(f, g, g->a, g->b, g->batch, g->contract);
    int64_t at = g->batch[0].n + kept_below(&g->batch[0], &g->contract[0], ragged_dim);
    const lz_ints of = {.n = 1,
                        .v = {g->batch[0].n +
                              kept_below(&g->batch[0], &g->contract[0], g->x->shape.rank) +
                              kept_below(&g->batch[1], &g->contract[1], group)}};
    lz_val mask = members(f, g, g->x->shape.dims[ragged_dim], false);
    all = masked(f, all, mask, at, of.v[0]);
    if (all == LZ_NOVAL)
        return all;
    return lz_build_reduce(f, LZ_OP_ADD, all, lz_build_scalar(f, lz_val_type(f, all)->dtype, 0),
                           &of);
}

/* One side for every group in front, with 0 where its dimension d is in another. */
static lz_val for_each_group(lz_func *f, const ragged *g, lz_val v, lz_val mask, int64_t d)
{
    const lz_type *t = lz_val_type(f, v);
    lz_shape s = {.rank = t->shape.rank + 1, .dims = {g->groups}};
    lz_ints dims = {.n = t->shape.rank};
    if (s.rank > LZ_MAX_RANK) {
        (void)LZ_FAIL(LZ_ESHAPE, "ragged_dot: more than %d dimensions", LZ_MAX_RANK);
        return LZ_NOVAL;
    }
    for (int i = 0; i < t->shape.rank; i++) {
        s.dims[i + 1] = t->shape.dims[i];
        dims.v[i] = i + 1;
    }
    return masked(f, lz_build_broadcast(f, v, &dims, &s), mask, 0, d + 1);
}

/* Contracted elements in groups: [b, m, k] [b, k, n] -> [g, b, m, n]. */
static lz_val sums_in_groups(lz_func *f, const ragged *g)
{
    int64_t ragged_dim = g->lhs_ragged.v[0], other = 0;
    lz_ints batch[2], contract[2] = {g->contract[0], g->contract[1]};
    for (int i = 0; i < g->contract[0].n; i++)
        if (g->contract[0].v[i] == ragged_dim)
            other = g->contract[1].v[i];
    for (int k = 0; k < 2; k++) {
        batch[k] = (lz_ints){.n = g->batch[k].n + 1};
        for (int i = 0; i < g->batch[k].n; i++)
            batch[k].v[i + 1] = g->batch[k].v[i] + 1;
        for (int i = 0; i < contract[k].n; i++)
            contract[k].v[i]++;
    }
    lz_val mask = members(f, g, g->x->shape.dims[ragged_dim], true);
    lz_val a = for_each_group(f, g, g->a, mask, ragged_dim),
           b = for_each_group(f, g, g->b, mask, other);
    return a == LZ_NOVAL || b == LZ_NOVAL ? LZ_NOVAL : product(f, g, a, b, batch, contract);
}

lz_status lz_chlo_ragged_dot(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    ragged g;
    LZ_TRY(read(p, s, t, &g));
    lz_func *f = s->f;
    int64_t ragged_dim = g.lhs_ragged.v[0];
    bool contracted = lz_ints_has(&g.contract[0], ragged_dim);
    if (lz_ints_has(&g.batch[0], ragged_dim))
        return lz_lex_fail(&p->c, t->at, LZ_EUNSUPPORTED,
                           "ragged_dot: groups of a batch dimension are not supported");
    if (g.rhs_group.n != !contracted)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                           "ragged_dot: %d group dimensions, but %d are needed", g.rhs_group.n,
                           !contracted);
    if (!contracted && g.y->shape.dims[g.rhs_group.v[0]] != g.groups)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, "ragged_dot: %lld sizes for %lld groups",
                           (long long)g.groups, (long long)g.y->shape.dims[g.rhs_group.v[0]]);
    LZ_TRY(lz_parse_widen(p, s, t));
    g.a = t->opnd.data[0];
    g.b = t->opnd.data[1];
    lz_val v = contracted ? sums_in_groups(f, &g) : rows_in_groups(f, &g);
    return lz_parse_push(p, t, v == LZ_NOVAL ? v : lz_build_convert(f, v, g.r->dtype));
}
