/* expand_window_scan.c - pass `expand_windows`: prefix scan along a dimension (cumulative sums).
 * See expand_window.c. Where the code generator has scans (lz_lower_options.prefix_scans) a
 * reduce_window over all prefixes is left to it, but for what is few long rows, which would keep
 * few threads busy. Those, and elsewhere all, become a blocked scan: prefixes inside blocks;
 * prefixes of the blocks' totals, recursively; then each block is combined with the total before
 * it. Blocks are long where they are scanned; elsewhere each prefix in them is reduced by itself,
 * which is O(n BLOCK) independent operations. 16-bit floats accumulate in f32 when the region is
 * one op. */
#include "lower/passes/expand_window.h"
#include <string.h>

enum { BLOCK = 16, DIRECT = 32 }; /* up to DIRECT elements, each prefix is reduced by itself */
/* A row from LONG on is scanned in pieces, where there are fewer than ROWS of them. */
enum { LONG = 1 << 16, PIECE = 1 << 13, ROWS = 8 };

typedef struct scan {
    lz_func *f;
    uint32_t n;
    const lz_func *body;
    lz_val init[LZ_MAX_RANK];
    int64_t block, most; /* elements of a block; of what has none */
    bool scans;
} scan;

/* The prefixes (or suffixes) along dimension d as one operation. */
static void left_to_backend(const scan *c, const lz_val *x, int d, bool suffix, lz_val *out)
{
    const lz_shape *s = &lz_val_type(c->f, x[0])->shape;
    lz_attr_reduce_window a = {.kind = LZ_ATTR_reduce_window, .body = c->body};
    lz_val o[2 * LZ_MAX_RANK];
    int64_t one[LZ_MAX_RANK], size[LZ_MAX_RANK], none[LZ_MAX_RANK] = {0}, far[LZ_MAX_RANK] = {0};
    for (int k = 0; k < s->rank; k++)
        one[k] = size[k] = 1;
    size[d] = s->dims[d];
    far[d] = s->dims[d] - 1;
    a.window_dimensions = lz_ints_make(s->rank, size);
    a.window_strides = a.base_dilations = a.window_dilations = lz_ints_make(s->rank, one);
    a.padding_low = lz_ints_make(s->rank, suffix ? none : far);
    a.padding_high = lz_ints_make(s->rank, suffix ? far : none);
    for (uint32_t k = 0; k < c->n; k++) {
        o[k] = x[k];
        o[c->n + k] = c->init[k];
    }
    lz_val v = lz_build(c->f, LZ_OP_REDUCE_WINDOW, LZ_RECORD(a), o, 2 * c->n);
    for (uint32_t k = 0; k < c->n; k++)
        out[k] = lz_build_result(c->f, v, k);
}

/* Prefixes along dimension d, each reduced by itself. */
static void direct(const scan *c, const lz_val *x, int d, lz_val *out)
{
    const lz_shape *s = &lz_val_type(c->f, x[0])->shape;
    lz_window_axis w[LZ_MAX_RANK];
    if (c->scans && c->f->status == LZ_OK) {
        left_to_backend(c, x, d, false, out);
        return;
    }
    for (int k = 0; k < s->rank; k++)
        w[k] = (lz_window_axis){1, 1, 0, 0, 1, 1};
    w[d].size = s->dims[d];
    w[d].low = s->dims[d] - 1;
    lz_windows_fold(c->f, c->n, x, c->init, w, c->body, out);
}

lz_val lz_windows_extend(lz_func *f, lz_val x, lz_val value, int64_t low, int64_t high)
{
    lz_attr_pad a = {.kind = LZ_ATTR_pad};
    if (low == 0 && high == 0)
        return x;
    a.edge_padding_low.n = a.edge_padding_high.n = a.interior_padding.n = 3;
    a.edge_padding_low.v[1] = low;
    a.edge_padding_high.v[1] = high;
    lz_val o[2] = {x, value};
    return lz_build(f, LZ_OP_PAD, LZ_RECORD(a), o, 2);
}

/* One round: x [outer, n, inner] becomes prefixes inside blocks, [outer, blocks, block, inner], and
 *   the totals before each block. */
static void blocks(const scan *c, const lz_val *x, lz_val *inside, lz_val *before)
{
    lz_func *f = c->f;
    lz_shape s = lz_val_type(f, x[0])->shape;
    int64_t block = c->block, nb = (s.dims[1] + block - 1) / block;
    lz_shape four = lz_shape_make(4, (int64_t[]){s.dims[0], nb, block, s.dims[2]}),
             three = lz_shape_make(3, (int64_t[]){s.dims[0], nb, s.dims[2]});
    lz_val y[LZ_MAX_RANK];
    for (uint32_t k = 0; k < c->n; k++)
        y[k] = lz_build_reshape(
            f, lz_windows_extend(f, x[k], c->init[k], 0, nb * block - s.dims[1]), &four);
    direct(c, y, 2, inside);
    for (uint32_t k = 0; k < c->n; k++) { /* moved by one block: the totals before */
        lz_val last =
            lz_build_reshape(f, lz_windows_slice(f, inside[k], 2, block - 1, block, 1), &three);
        before[k] = lz_windows_extend(f, last, c->init[k], 1, -1);
    }
}

static void join(const scan *c, const lz_val *inside, const lz_val *before, int64_t n, lz_val *out)
{
    lz_func *f = c->f;
    lz_val args[2 * LZ_MAX_RANK];
    lz_shape four = lz_val_type(f, inside[0])->shape,
             three = lz_shape_make(
                 3, (int64_t[]){four.dims[0], four.dims[1] * four.dims[2], four.dims[3]});
    const lz_ints where = lz_ints_make(3, (int64_t[]){0, 1, 3});
    for (uint32_t k = 0; k < c->n; k++) {
        args[k] = lz_build_broadcast(f, before[k], &where, &four);
        args[c->n + k] = inside[k];
    }
    if (!lz_windows_inline(f, c->body, args, &four, out))
        return;
    for (uint32_t k = 0; k < c->n; k++)
        out[k] = lz_windows_slice(f, lz_build_reshape(f, out[k], &three), 1, 0, n, 1);
}

enum { ROUNDS = 16 }; /* the shortest block to this power is more than any extent */

static void prefixes(const scan *c, lz_val *x)
{
    lz_val inside[ROUNDS][LZ_MAX_RANK];
    int64_t n[ROUNDS];
    int round = 0;
    for (;; round++) {
        n[round] = lz_val_type(c->f, x[0])->shape.dims[1];
        if (n[round] <= c->most || round == ROUNDS - 1)
            break;
        blocks(c, x, inside[round], x);
        if (c->f->status != LZ_OK)
            return;
    }
    direct(c, x, 1, x);
    while (round-- > 0 && c->f->status == LZ_OK)
        join(c, inside[round], x, n[round], x);
}

/* body(b, a): suffixes are prefixes of the reversed order, so its operands change places. */
static const lz_func *exchanged(const lz_func *body, uint32_t n)
{
    lz_val args[2 * LZ_MAX_RANK], out[LZ_MAX_RANK];
    lz_shape scalar = LZ_SCALAR;
    lz_func *f = lz_func_new("exchanged");
    const lz_func *r = NULL;
    if (!f)
        return NULL;
    for (uint32_t k = 0; k < 2 * n; k++)
        args[(k + n) % (2 * n)] = lz_build_param(f, lz_val_type(body, k));
    if (f->status == LZ_OK && lz_windows_inline(f, body, args, &scalar, out) &&
        lz_func_set_results(f, out, n) == LZ_OK)
        r = lz_region_intern(f);
    lz_func_free(f);
    return r;
}

static lz_val reversed(lz_func *f, lz_val x, bool yes)
{
    lz_attr_dims a = {.kind = LZ_ATTR_dims, .dimensions = {1, {1}}};
    return yes && x != LZ_NOVAL ? lz_build(f, LZ_OP_REVERSE, LZ_RECORD(a), &x, 1) : x;
}

/* Whether rows along d are few and long, so that pieces of them are scanned: their totals are
 * wanted, which only what can be combined in any order has. */
static bool in_pieces(const lz_shape *s, int d, lz_op op, bool free_init)
{
    int64_t before = 1, behind = 1;
    for (int k = 0; k < s->rank; k++)
        *(k < d ? &before : &behind) *= k == d ? 1 : s->dims[k];
    return s->dims[d] >= LONG && before < ROWS && behind == 1 && op != LZ_OP_NONE && free_init;
}

void lz_windows_scan(lz_func *f, uint32_t n, const lz_val *x, const lz_val *init, int d,
                     bool suffix, const lz_func *body, bool scans, lz_val *out)
{
    scan c = {.f = f, .n = n, .body = body, .block = BLOCK, .most = DIRECT, .scans = scans};
    const lz_type *t = lz_val_type(f, x[0]);
    lz_shape s = t->shape, three = lz_shape_make(3, (int64_t[]){1, s.dims[d], 1});
    lz_dtype acc = lz_acc_dtype(t->dtype);
    lz_op op = n == 1 ? lz_region_as_binary(body) : LZ_OP_NONE;
    lz_val y[LZ_MAX_RANK];
    bool wide = op != LZ_OP_NONE && acc != t->dtype;
    if (scans && !in_pieces(&s, d, op, lz_val_is_neutral(f, op, init[0]))) {
        memcpy(c.init, init, n * sizeof *init);
        left_to_backend(&c, x, d, suffix, out);
        return;
    }
    if (scans) {
        c.block = PIECE;
        c.most = LONG - 1;
    }
    for (int k = 0; k < s.rank; k++)
        three.dims[k < d ? 0 : k > d ? 2 : 1] *= k == d ? 1 : s.dims[k];
    if (wide)
        c.body = lz_region_binary(op, acc);
    else if (suffix && op == LZ_OP_NONE)
        c.body = exchanged(body, n);
    if (!c.body) {
        f->status = lz_error_get()->status;
        return;
    }
    for (uint32_t k = 0; k < n; k++) {
        c.init[k] = wide ? lz_build_convert(f, init[k], acc) : init[k];
        y[k] = wide ? lz_build_convert(f, x[k], acc) : x[k];
        y[k] = reversed(f, lz_build_reshape(f, y[k], &three), suffix);
    }
    if (f->status == LZ_OK)
        prefixes(&c, y);
    for (uint32_t k = 0; k < n && f->status == LZ_OK; k++) {
        out[k] = lz_build_reshape(f, reversed(f, y[k], suffix), &s);
        if (wide)
            out[k] = lz_build_convert(f, out[k], t->dtype);
    }
}
