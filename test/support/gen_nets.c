/* gen_nets.c - random functions made of what networks are made of, on shapes large enough to be
 * tiled, blocked and shared by threads: products with prologues and epilogues, their gradients, row
 * and column reductions, attention, embeddings, dropout, updates. A function is a chain of blocks
 * on a matrix x [rows, cols]. Blocks are drawn first, because parameters come before
 * instructions. */
#include "support/gen_internal.h"

typedef enum kind {
    LINEAR,
    NORM,
    SOFTMAX,
    GRADIENT,
    EMBED,
    SCATTER,
    ATTEND,
    FLIP,
    POOL,
    JOIN,
    DROP,
    NKIND
} kind;

enum { MAX_BLOCKS = 4, MAX_PARAMS = 4, MAX_RESULTS = 12 };

typedef struct block {
    kind k;
    int64_t rows, cols, n; /* of its x; and of what it makes */
    int variant;
    lz_val p[MAX_PARAMS];
} block;

typedef struct net {
    gen g;
    lz_dtype d; /* of x */
    block b[MAX_BLOCKS];
    int nblock;
    lz_val out[MAX_RESULTS];
    uint32_t nout;
} net;

/* ---- drawing ---- */

static int64_t size(gen *g, int64_t most)
{
    static const int16_t usual[] = {1,  2,  3,  5,  7,  8,   15,  16,  17,  24,  31,  32, 33,
                                    48, 63, 64, 65, 96, 100, 127, 128, 129, 192, 257, 300};
    int64_t v = usual[RND(0, (int64_t)(sizeof usual / sizeof *usual) - 1)];
    return v <= most ? v : most < 1 ? 1 : RND(1, most);
}

static lz_val param(net *t, lz_dtype d, lz_shape s)
{
    return lz_build_param(t->g.f, lz_type_get(d, &s));
}

static lz_val matrix(net *t, lz_dtype d, int64_t rows, int64_t cols)
{
    return param(t, d, LZ_SHAPE(rows, cols));
}

static lz_val vector(net *t, lz_dtype d, int64_t n)
{
    return param(t, d, LZ_SHAPE(n));
}

/* Parameters of one block, and what x becomes. */
static void draw(net *t, block *b, int64_t *rows, int64_t *cols)
{
    enum { AREA = 20000, WORK = 1 << 20 };
    gen *g = &t->g;
    static const lz_dtype index[] = {LZ_I32, LZ_I64, LZ_U8, LZ_U32};
    b->rows = *rows;
    b->cols = *cols;
    b->variant = (int)RND(0, 63);
    int64_t wide = AREA / *rows, deep = WORK / (*rows * *cols);
    b->n = size(g, wide < deep ? wide : deep);
    switch (b->k) {
    case LINEAR:
        b->p[0] = b->variant & 1 ? matrix(t, t->d, *cols, b->n) : matrix(t, t->d, b->n, *cols);
        b->p[1] = vector(t, t->d, b->n);
        *cols = b->n;
        break;
    case NORM:
        b->p[0] = vector(t, t->d, *cols);
        b->p[1] = vector(t, t->d, *cols);
        break;
    case GRADIENT:
        b->p[0] = matrix(t, t->d, *rows, b->n);
        b->p[1] = matrix(t, t->d, *cols, b->n);
        b->p[2] = param(t, t->d, gen_scalar);
        break;
    case EMBED:
        b->n = size(g, AREA / *cols);
        b->p[0] = vector(t, index[b->variant & 3], b->n);
        *rows = b->n;
        break;
    case SCATTER:
        b->p[0] = matrix(t, t->d, size(g, 64), *cols);
        b->p[1] = vector(t, index[b->variant & 3], *rows);
        break;
    case FLIP:
        *rows = b->cols;
        *cols = b->rows;
        break;
    case JOIN:
        b->p[0] = matrix(t, t->d, *rows, b->n);
        break;
    case DROP:
        b->p[0] = param(t, LZ_U64, LZ_SHAPE(2));
        break;
    default:
        break;
    }
}

/* ---- building ---- */

#define F (t->g.f)
#define EW1(op, a) lz_build_ew1(F, LZ_OP_##op, (a))
#define EW2(op, a, b) lz_build_ew2(F, LZ_OP_##op, (a), (b))

static void result(net *t, lz_val v)
{
    if (t->nout < MAX_RESULTS)
        t->out[t->nout++] = v;
}

static lz_val fill(net *t, lz_val like, double v)
{
    return lz_build_splat(F, lz_val_type(F, like), v);
}

/* A vector along dimension `dim` of something like `like`. */
static lz_val along(net *t, lz_val v, int64_t dim, lz_val like)
{
    lz_ints at = lz_ints_make(1, &dim);
    return lz_build_broadcast(F, v, &at, &lz_val_type(F, like)->shape);
}

static lz_val reduce(net *t, lz_op op, lz_val x, int64_t dim)
{
    lz_dtype d = lz_val_type(F, x)->dtype;
    double init = op == LZ_OP_ADD ? 0 : op == LZ_OP_MAXIMUM ? -1e4 : 1e4;
    lz_ints dims = lz_ints_make(1, &dim);
    return lz_build_reduce(F, op, x, lz_build_scalar(F, d, init), &dims);
}

/* a and b with batch dimension `batch` (of both; -1: none), summed over ka of a and kb of b. */
static lz_val dot(net *t, lz_val a, lz_val b, int64_t ka, int64_t kb, int64_t batch)
{
    lz_attr_dot at = {.kind = LZ_ATTR_dot};
    at.lhs_contracting_dimensions = lz_ints_make(1, &ka);
    at.rhs_contracting_dimensions = lz_ints_make(1, &kb);
    if (batch >= 0)
        at.lhs_batching_dimensions = at.rhs_batching_dimensions = lz_ints_make(1, &batch);
    return lz_build(F, LZ_OP_DOT_GENERAL, (const lz_attr *)&at, (lz_val[]){a, b}, 2);
}

static lz_val activate(net *t, int which, lz_val y)
{
    switch (which) {
    case 0:
        return EW2(MAXIMUM, y, fill(t, y, 0));
    case 1:
        return EW1(TANH, y);
    case 2:
        return EW1(LOGISTIC, y);
    case 3:
        return EW2(MULTIPLY, y, EW1(LOGISTIC, y));
    case 4:
        return lz_build_select(F, lz_build_compare(F, LZ_CMP_GT, y, fill(t, y, 0)), y,
                               EW2(MULTIPLY, y, fill(t, y, 0.125)));
    default:
        return y;
    }
}

/* act(x w + b), products kept moderate; maybe with a prologue, maybe with the sums of its rows. */
static lz_val linear(net *t, const block *b, lz_val x)
{
    int v = b->variant;
    if (v & 2)
        x = activate(t, v >> 2 & 3, x);
    lz_val y = dot(t, x, b->p[0], 1, v & 1 ? 0 : 1, -1);
    y = EW2(MULTIPLY, y, fill(t, y, 1.0 / 16));
    if (v & 4)
        y = EW2(ADD, y, along(t, b->p[1], 1, y));
    if (v & 8)
        result(t, y);
    if (v & 16 && b->n == b->cols)
        y = EW2(ADD, y, x);
    y = activate(t, v >> 3 & 7, y);
    if (v & 32)
        result(t, reduce(t, LZ_OP_ADD, y, 1));
    return y;
}

static lz_val norm(net *t, const block *b, lz_val x)
{
    lz_val mean = reduce(t, LZ_OP_ADD, x, 1);
    mean = EW2(MULTIPLY, mean, fill(t, mean, 1.0 / (double)b->cols));
    lz_val c = EW2(SUBTRACT, x, along(t, mean, 0, x));
    lz_val var = reduce(t, LZ_OP_ADD, EW2(MULTIPLY, c, c), 1);
    var = EW2(ADD, EW2(MULTIPLY, var, fill(t, var, 1.0 / (double)b->cols)), fill(t, var, 0.25));
    lz_val y = EW2(MULTIPLY, c, along(t, EW1(RSQRT, var), 0, x));
    result(t, mean);
    return EW2(ADD, EW2(MULTIPLY, y, along(t, b->p[0], 1, x)), along(t, b->p[1], 1, x));
}

static lz_val softmax(net *t, lz_val x, int64_t dim)
{
    int rank = lz_val_type(F, x)->shape.rank;
    lz_ints kept = {0};
    for (int64_t d = 0; d < rank; d++)
        if (d != dim)
            kept.v[kept.n++] = d;
    const lz_shape *s = &lz_val_type(F, x)->shape;
    lz_val top = lz_build_broadcast(F, reduce(t, LZ_OP_MAXIMUM, x, dim), &kept, s);
    lz_val e = EW1(EXPONENTIAL, EW2(SUBTRACT, x, top));
    lz_val sum = reduce(t, LZ_OP_ADD, e, dim);
    return EW2(DIVIDE, e, lz_build_broadcast(F, sum, &kept, s));
}

/* Of y = x w: dw = x^T g, db = column sums of g, dx = g w^T; w -= lr dw. */
static lz_val gradient(net *t, const block *b, lz_val x)
{
    lz_val dw = dot(t, x, b->p[0], 0, 0, -1), lr = b->p[2], w = b->p[1];
    lz_ints none = {0};
    lz_val step = EW2(MULTIPLY, dw, lz_build_broadcast(F, lr, &none, &lz_val_type(F, dw)->shape));
    result(t, EW2(SUBTRACT, w, step));
    result(t, reduce(t, LZ_OP_ADD, b->p[0], 0));
    lz_val dx = dot(t, b->p[0], w, 1, 1, -1);
    if (b->variant & 1)
        dx = lz_build_select(F, lz_build_compare(F, LZ_CMP_GT, x, fill(t, x, 0)), dx,
                             fill(t, dx, 0));
    return EW2(MULTIPLY, dx, fill(t, dx, 1.0 / 16));
}

static lz_val embed(net *t, const block *b, lz_val x)
{
    lz_attr_gather at = {.kind = LZ_ATTR_gather, .index_vector_dim = 1};
    at.offset_dims = at.collapsed_slice_dims = at.start_index_map = lz_ints_make(1, (int64_t[]){0});
    at.offset_dims.v[0] = 1;
    at.slice_sizes = lz_ints_make(2, (int64_t[]){1, b->cols});
    return lz_build(F, LZ_OP_GATHER, (const lz_attr *)&at, (lz_val[]){x, b->p[0]}, 2);
}

static void scatter(net *t, const block *b, lz_val x)
{
    lz_attr_scatter at = {.kind = LZ_ATTR_scatter, .index_vector_dim = 1};
    at.update_window_dims = at.inserted_window_dims = at.scatter_dims_to_operand_dims =
        lz_ints_make(1, (int64_t[]){0});
    at.update_window_dims.v[0] = 1;
    at.update_computation = lz_region_binary(LZ_OP_ADD, t->d);
    if (at.update_computation)
        result(t, lz_build(F, LZ_OP_SCATTER, (const lz_attr *)&at, (lz_val[]){b->p[0], b->p[1], x},
                           3));
}

/* Heads of x against each other: softmax(x x^T / 8) x by head. */
static lz_val attend(net *t, const block *b, lz_val x)
{
    int64_t heads = b->cols % 4 == 0 ? 4 : b->cols % 3 == 0 ? 3 : 1;
    if (b->rows * b->rows * b->cols > 1 << 20)
        return x;
    lz_shape apart = LZ_SHAPE(b->rows, heads, b->cols / heads), joint = LZ_SHAPE(b->rows, b->cols);
    lz_val h = lz_build_reshape(F, x, &apart);
    h = lz_build_transpose(F, h, &(lz_ints){3, {1, 0, 2}});
    lz_val s = dot(t, h, h, 2, 2, 0);
    s = softmax(t, EW2(MULTIPLY, s, fill(t, s, 0.125)), 2);
    lz_val y = lz_build_transpose(F, dot(t, s, h, 2, 1, 0), &(lz_ints){3, {1, 0, 2}});
    return lz_build_reshape(F, y, &joint);
}

static lz_val pool(net *t, const block *b, lz_val x)
{
    int64_t dim = b->variant & 1;
    lz_op op = b->variant & 2 ? LZ_OP_MAXIMUM : b->variant & 4 ? LZ_OP_MINIMUM : LZ_OP_ADD;
    lz_val r = reduce(t, op, x, dim);
    result(t, r);
    if (b->variant & 8)
        result(t, reduce(t, LZ_OP_ADD, r, 0));
    return b->variant & 16 ? EW2(SUBTRACT, x, along(t, r, 1 - dim, x)) : x;
}

/* Next to another matrix, padded, and every second column of that. */
static lz_val join(net *t, const block *b, lz_val x)
{
    lz_attr_dim at = {.kind = LZ_ATTR_dim, .dimension = 1};
    lz_val y = lz_build(F, LZ_OP_CONCATENATE, (const lz_attr *)&at, (lz_val[]){x, b->p[0]}, 2);
    int64_t n = b->cols + b->n, from = b->variant & 1;
    if (b->variant & 2)
        result(t, y);
    lz_attr_slice cut = {.kind = LZ_ATTR_slice};
    cut.start_indices = lz_ints_make(2, (int64_t[]){0, from < n ? from : 0});
    cut.limit_indices = lz_ints_make(2, (int64_t[]){b->rows, n});
    cut.strides = lz_ints_make(2, (int64_t[]){1, 2});
    y = lz_build(F, LZ_OP_SLICE, (const lz_attr *)&cut, &y, 1);
    lz_attr_pad pad = {.kind = LZ_ATTR_pad};
    pad.edge_padding_low = lz_ints_make(2, (int64_t[]){b->variant >> 2 & 3, 0});
    pad.edge_padding_high = lz_ints_make(2, (int64_t[]){0, b->variant >> 4});
    pad.interior_padding = lz_ints_make(2, (int64_t[]){0, 0});
    result(t, lz_build(F, LZ_OP_PAD, (const lz_attr *)&pad,
                       (lz_val[]){y, lz_build_scalar(F, t->d, 0.5)}, 2));
    return y;
}

static lz_val drop(net *t, const block *b, lz_val x)
{
    lz_attr_rng at = {.kind = LZ_ATTR_rng, .dtype = LZ_U32, .shape = lz_val_type(F, x)->shape};
    lz_val r = lz_build(F, LZ_OP_RNG_BIT_GENERATOR, (const lz_attr *)&at, &b->p[0], 1);
    if (r == LZ_NOVAL)
        return r;
    result(t, lz_build_result(F, r, 0));
    lz_val bits = lz_build_result(F, r, 1);
    lz_val keep = lz_build_compare(F, LZ_CMP_LT, bits, fill(t, bits, 0xC0000000u));
    return lz_build_select(F, keep, EW2(MULTIPLY, x, fill(t, x, 4.0 / 3)), fill(t, x, 0));
}

static lz_val build(net *t, const block *b, lz_val x)
{
    switch (b->k) {
    case LINEAR:
        return linear(t, b, x);
    case NORM:
        return norm(t, b, x);
    case SOFTMAX:
        return softmax(t, x, b->variant & 1);
    case GRADIENT:
        return gradient(t, b, x);
    case EMBED:
        return embed(t, b, x);
    case SCATTER:
        scatter(t, b, x);
        return x;
    case ATTEND:
        return attend(t, b, x);
    case FLIP:
        return lz_build_transpose(F, x, &(lz_ints){2, {1, 0}});
    case POOL:
        return pool(t, b, x);
    case DROP:
        return drop(t, b, x);
    case JOIN:
        return join(t, b, x);
    default:
        return x;
    }
}

lz_func *lz_gen_net(uint64_t seed)
{
    static const lz_dtype dtypes[] = {LZ_F32, LZ_F32, LZ_F32, LZ_F32, LZ_F64, LZ_BF16, LZ_F16};
    net t = {.nblock = 0};
    if (gen_begin(&t.g, seed * 2 + 1, NULL) != LZ_OK)
        return NULL;
    gen *g = &t.g;
    t.d = dtypes[RND(0, 6)];
    int64_t rows = size(g, 300), cols = size(g, 20000 / rows);
    lz_val x = matrix(&t, t.d, rows, cols);
    t.nblock = (int)RND(1, MAX_BLOCKS);
    for (int i = 0; i < t.nblock; i++) {
        t.b[i].k = (kind)RND(0, NKIND - 1);
        if (t.b[i].k == JOIN &&
            i < t.nblock - 1) /* what it leaves is of another width: it comes last */
            t.b[i].k = DROP;
        draw(&t, &t.b[i], &rows, &cols);
    }
    for (int i = 0; i < t.nblock; i++)
        x = build(&t, &t.b[i], x);
    result(&t, x);
    if (g->f->status == LZ_OK && lz_func_set_results(g->f, t.out, t.nout) == LZ_OK)
        return g->f;
    lz_func_free(g->f);
    return NULL;
}
