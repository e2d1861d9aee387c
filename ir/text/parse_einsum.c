/* parse_einsum.c - stablehlo.einsum and unary_einsum ("bij,bjk->bik", "...ii->...i") as reductions,
 * one dot_general and a transpose. A label that one operand has twice is a diagonal; one that only
 * one operand has and the result has not is summed over; of one that both have, an extent of 1 is
 * broadcast (XLA's Einsum).
 * Threads: thread-compatible. */
#include "ir/text/parse_chlo.h"
#include <string.h>

enum { ELLIPSIS = 256 }; /* its dimensions are labels from here on, the last first */

typedef struct labels {
    int n, v[LZ_MAX_RANK];
} labels;

typedef struct factor {
    lz_val x;
    labels l;
} factor;

static int find(const labels *l, int label)
{
    for (int i = 0; i < l->n; i++)
        if (l->v[i] == label)
            return i;
    return -1;
}

static void drop(labels *l, int at)
{
    for (l->n--; at < l->n; at++)
        l->v[at] = l->v[at + 1];
}

/* ---- the text ---- */

static lz_status wrong(lz_parser *p, const lz_stmt *t, const char *why)
{
    return lz_lex_fail(&p->c, t->at, LZ_EPARSE, LZ_SLICE_FMT ": config: %s", LZ_SLICE_ARG(t->name),
                       why);
}

/* Letters up to `stop` or the end. nellipsis: how many dimensions `...` stands for; -1: what is
 * left of `rank`. */
static lz_status read_labels(lz_parser *p, const lz_stmt *t, lz_slice *text, char stop, int rank,
                             int nellipsis, labels *out)
{
    int letters = 0;
    size_t n = 0;
    for (; n < text->n && text->s[n] != stop; n++)
        letters += text->s[n] != '.' && text->s[n] != ' ';
    bool dots = memchr(text->s, '.', n) != NULL;
    int many = !dots ? 0 : nellipsis < 0 ? rank - letters : nellipsis;
    *out = (labels){0};
    if (many < 0 || letters + many != rank)
        return wrong(p, t, "its labels are not as many as there are dimensions");
    for (size_t i = 0; i < n; i++) {
        char c = text->s[i];
        if (c == ' ')
            continue;
        if (c == '.') {
            if (n - i < 3 || memcmp(text->s + i, "...", 3) != 0 || !dots)
                return wrong(p, t, "'...' is written once, or not at all");
            for (int k = many; k-- > 0;)
                out->v[out->n++] = ELLIPSIS + k;
            dots = false;
            i += 2;
        } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
            out->v[out->n++] = c;
        } else {
            return wrong(p, t, "labels are letters");
        }
    }
    *text = (lz_slice){text->s + n, text->n - n};
    return LZ_OK;
}

/* The labels of the n operands and of the result. */
static lz_status read_config(lz_parser *p, lz_scope *s, const lz_stmt *t, uint32_t n, factor *in,
                             labels *out)
{
    const lz_parse_entry *e = lz_stmt_find(t, "einsum_config");
    lz_slice text;
    int many = 0;
    if (!e && !(e = lz_stmt_find(t, "config")))
        return wrong(p, t, "is missing");
    if (t->result_types.len != 1)
        return wrong(p, t, "the result's type is missing");
    lz_lexer at = p->c;
    at.p = e->value;
    LZ_TRY(lz_lex_string(&at, &text));
    for (uint32_t i = 0; i < n; i++) {
        int rank = lz_val_type(s->f, in[i].x)->shape.rank;
        LZ_TRY(read_labels(p, t, &text, i + 1 < n ? ',' : '-', rank, -1, &in[i].l));
        for (int k = 0; k < in[i].l.n; k++)
            many = in[i].l.v[k] - ELLIPSIS + 1 > many ? in[i].l.v[k] - ELLIPSIS + 1 : many;
        size_t skip = i + 1 < n ? 1 : 2;
        if (text.n < skip || (skip == 2 && text.s[1] != '>'))
            return wrong(p, t,
                         "expected labels of each operand, then '->' and those of the result");
        text = (lz_slice){text.s + skip, text.n - skip};
    }
    LZ_TRY(read_labels(p, t, &text, 0, t->result_types.data[0]->shape.rank, many, out));
    for (int k = 0; k < out->n; k++) {
        bool known = false;
        for (uint32_t i = 0; i < n; i++)
            known |= find(&in[i].l, out->v[k]) >= 0;
        if (!known || find(out, out->v[k]) != k)
            return wrong(p, t, "the result has a label twice, or one that no operand has");
    }
    return LZ_OK;
}

/* ---- one operand ---- */

static void sum_over(lz_func *f, factor *x, int dim)
{
    const lz_ints dims = {.n = 1, .v = {dim}};
    const lz_type *t = lz_val_type(f, x->x);
    x->x = lz_build_reduce(f, LZ_OP_ADD, x->x, lz_build_scalar(f, t->dtype, 0), &dims);
    drop(&x->l, dim);
}

/* Dimensions i < j have one label: what is not on the diagonal is 0 in the sum over j. */
static void diagonal(lz_func *f, factor *x, int i, int j)
{
    const lz_type *t = lz_val_type(f, x->x), *index = lz_type_get(LZ_I64, &t->shape);
    if (!index) {
        x->x = LZ_NOVAL;
        return;
    }
    lz_val on =
        lz_build_compare(f, LZ_CMP_EQ, lz_build_iota(f, index, i), lz_build_iota(f, index, j));
    x->x = lz_build_select(f, on, x->x, lz_build_splat(f, t, 0));
    if (x->x != LZ_NOVAL)
        sum_over(f, x, j);
}

/* Diagonals, and sums over what nobody else has. other: NULL, or the other operand. */
static lz_status prepare(lz_parser *p, lz_scope *s, const lz_stmt *t, factor *x,
                         const factor *other, const labels *out)
{
    for (int j = x->l.n - 1; j > 0; j--) {
        int i = find(&x->l, x->l.v[j]);
        const lz_shape *shape = &lz_val_type(s->f, x->x)->shape;
        if (i == j)
            continue;
        if (shape->dims[i] != shape->dims[j])
            return wrong(p, t, "dimensions of one label have different extents");
        diagonal(s->f, x, i, j);
        if (x->x == LZ_NOVAL)
            return lz_lex_wrap(&p->c, t->at);
    }
    for (int j = x->l.n - 1; j >= 0; j--) {
        if (find(out, x->l.v[j]) >= 0 || (other && find(&other->l, x->l.v[j]) >= 0))
            continue;
        sum_over(s->f, x, j);
        if (x->x == LZ_NOVAL)
            return lz_lex_wrap(&p->c, t->at);
    }
    return LZ_OK;
}

/* To the order of the result, and its dtype. */
static lz_status deliver(lz_parser *p, lz_scope *s, lz_stmt *t, const factor *x, const labels *out)
{
    lz_ints perm = {.n = out->n};
    bool same = x->l.n == out->n;
    for (int i = 0; same && i < out->n; i++) {
        perm.v[i] = find(&x->l, out->v[i]);
        same = perm.v[i] >= 0;
    }
    if (!same)
        return wrong(p, t, "the result has a label that no operand has");
    lz_val v = lz_build_transpose(s->f, x->x, &perm);
    if (v != LZ_NOVAL)
        v = lz_build_convert(s->f, v, t->result_types.data[0]->dtype);
    return lz_parse_push(p, t, v);
}

lz_status lz_expand_unary_einsum(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    factor x = {t->opnd.data[0], {0}};
    labels out;
    LZ_TRY(read_config(p, s, t, 1, &x, &out));
    LZ_TRY(prepare(p, s, t, &x, NULL, &out));
    return deliver(p, s, t, &x, &out);
}

/* ---- two operands ---- */

/* A dimension of extent 1 that the other operand has with another extent goes: the product
 * broadcasts it. */
static void broadcast_ones(lz_func *f, factor *x, const factor *other)
{
    if (x->x == LZ_NOVAL || other->x == LZ_NOVAL)
        return; /* f has the error */
    lz_shape shape = lz_val_type(f, x->x)->shape;
    const lz_shape *wide = &lz_val_type(f, other->x)->shape;
    for (int i = x->l.n - 1; i >= 0; i--) {
        int j = find(&other->l, x->l.v[i]);
        if (shape.dims[i] != 1 || j < 0 || wide->dims[j] == 1)
            continue;
        for (int k = i; k + 1 < shape.rank; k++)
            shape.dims[k] = shape.dims[k + 1];
        shape.dims[--shape.rank] = 0;
        drop(&x->l, i);
    }
    x->x = lz_build_reshape(f, x->x, &shape);
}

static lz_val product(lz_func *f, const factor *in, const labels *out, labels *l)
{
    lz_attr_dot a;
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_dot;
    *l = (labels){0};
    for (int i = 0; i < in[0].l.n; i++) {
        int label = in[0].l.v[i], j = find(&in[1].l, label);
        if (j < 0)
            continue;
        bool batch = find(out, label) >= 0;
        lz_ints *left = batch ? &a.lhs_batching_dimensions : &a.lhs_contracting_dimensions,
                *right = batch ? &a.rhs_batching_dimensions : &a.rhs_contracting_dimensions;
        left->v[left->n++] = i;
        right->v[right->n++] = j;
        if (batch)
            l->v[l->n++] = label;
    }
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < in[k].l.n; i++)
            if (find(&in[1 - k].l, in[k].l.v[i]) < 0 && l->n < LZ_MAX_RANK)
                l->v[l->n++] = in[k].l.v[i];
    return lz_build(f, LZ_OP_DOT_GENERAL, (const lz_attr *)(const void *)&a,
                    (lz_val[]){in[0].x, in[1].x}, 2);
}

lz_status lz_expand_einsum(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    if (t->result_types.len == 1)
        LZ_TRY(lz_parse_widen(p, s, t));
    factor in[2] = {{t->opnd.data[0], {0}}, {t->opnd.data[1], {0}}}, x;
    labels out;
    LZ_TRY(read_config(p, s, t, 2, in, &out));
    LZ_TRY(prepare(p, s, t, &in[0], &in[1], &out));
    LZ_TRY(prepare(p, s, t, &in[1], &in[0], &out));
    broadcast_ones(s->f, &in[0], &in[1]);
    broadcast_ones(s->f, &in[1], &in[0]);
    if (s->f->status != LZ_OK)
        return lz_lex_wrap(&p->c, t->at);
    /* one that was broadcast may be alone now, and not in the result */
    LZ_TRY(prepare(p, s, t, &in[0], &in[1], &out));
    LZ_TRY(prepare(p, s, t, &in[1], &in[0], &out));
    x.x = product(s->f, in, &out, &x.l);
    if (x.x == LZ_NOVAL)
        return lz_lex_wrap(&p->c, t->at);
    return deliver(p, s, t, &x, &out);
}
