/* attention.c - scaled dot-product attention and rotary position embedding. */
#include "nn/nn_compose.h"
#include <inttypes.h>
#include <lazuli/functional.h>
#include <float.h>
#include <math.h>

/* ---- shapes ---- */

/* query [.., H, L, E], key [.., K, S, E], value [.., K, S, V]; `heads` is H / K. */
typedef struct shapes {
    lz_shape q, k, v;
    int rank;
    int64_t L, S, E, heads;
} shapes;

static bool check_shapes(nnc *c, lz_tensor *q, lz_tensor *k, lz_tensor *v, bool grouped, shapes *s)
{
    if (!nn_check_float(c, q, "the query") || !nn_check_float(c, k, "the key") ||
        !nn_check_float(c, v, "the value"))
        return false;
    if (lz_dtype_of(q) != lz_dtype_of(k) || lz_dtype_of(q) != lz_dtype_of(v))
        return nn_refuse(c, LZ_EDTYPE, "query is %s, key %s, value %s: one dtype is needed",
                         lz_dtype_name(lz_dtype_of(q)), lz_dtype_name(lz_dtype_of(k)),
                         lz_dtype_name(lz_dtype_of(v)));
    *s = (shapes){.q = lz_shape_of(q), .k = lz_shape_of(k), .v = lz_shape_of(v), .heads = 1};
    int r = s->rank = s->q.rank;
    bool ok = r >= (grouped ? 3 : 2) && s->k.rank == r && s->v.rank == r;
    for (int i = 0; ok && i < r - 2; i++) {
        int64_t a = s->q.dims[i], b = s->k.dims[i];
        bool group = grouped && i == r - 3;
        ok = b == s->v.dims[i] && (group ? b > 0 && a % b == 0 : a == b);
        if (ok && group)
            s->heads = a / b;
    }
    ok = ok && s->q.dims[r - 1] == s->k.dims[r - 1] && s->k.dims[r - 2] == s->v.dims[r - 2];
    if (!ok) {
        char x[3][192];
        return nn_refuse(
            c, LZ_ESHAPE,
            "query %s, key %s and value %s are not [.., L, E], [.., S, E] and [.., S, V]%s",
            lz_nn_shape_text(&s->q, x[0]), lz_nn_shape_text(&s->k, x[1]),
            lz_nn_shape_text(&s->v, x[2]), grouped ? " with heads that are a multiple" : "");
    }
    s->L = s->q.dims[r - 2];
    s->E = s->q.dims[r - 1];
    s->S = s->k.dims[r - 2];
    return true;
}

/* s with its last two extents replaced. */
static lz_shape with_last(lz_shape s, int64_t a, int64_t b)
{
    s.dims[s.rank - 2] = a;
    s.dims[s.rank - 1] = b;
    return s;
}

/* ---- scores ---- */

/* Which of S keys each of L queries sees, the first of which is number `from`. */
static lz_tensor *causal_mask(nnc *c, int64_t from, int64_t L, int64_t S)
{
    lz_shape square = LZ_SHAPE(L, S);
    lz_tensor *query = lz_iota_at(LZ_I32, square, 0, c->site);
    query = from ? nn_adds(c, query, (double)from) : query;
    return lz_le_at(lz_iota_at(LZ_I32, square, 1, c->site), query, c->site);
}

/* The attention mask: boolean [.., L, S], or NULL for none. A float mask is added to *scores. */
static lz_tensor *visible(nnc *c, const lz_attention_options *o, const shapes *s,
                          lz_tensor **scores)
{
    lz_tensor *seen = o->is_causal ? causal_mask(c, 0, s->L, s->S) : NULL;
    if (!o->attn_mask)
        return seen;
    lz_tensor *mask = o->attn_mask;
    if (lz_dtype_of(mask) != LZ_BOOL) {
        mask = nn_narrow(c, mask, lz_dtype_of(*scores));
        *scores = nn_add(c, *scores, mask);
        mask = lz_gt_at(mask, nn_number(c, mask, -INFINITY), c->site);
    }
    return seen ? lz_logical_and_at(seen, mask, c->site) : mask;
}

/* The lowest finite score, which those that are not seen get: a row of them must not become NaN,
 * which its gradient would carry to all values. Scores that are as low themselves (a mask of the
 * lowest number hides nothing in a row of its own) are made one unit in the last place higher, and
 * keep their gradient. */
static lz_tensor *unseen_lowest(nnc *c, lz_tensor *scores, lz_tensor *seen, double low)
{
    double ulp = lz_dtype_of(scores) == LZ_F64 ? 0x1p971 : 0x1p104;
    lz_tensor *lowest = nn_number(c, scores, low);
    lz_tensor *up = nn_add(c, scores, nn_number(c, scores, ulp));
    lz_tensor *some = lz_ne_at(scores, nn_number(c, scores, -INFINITY), c->site);
    scores = nn_where(c, lz_le_at(scores, lowest, c->site), up, scores);
    return nn_where(c, lz_logical_and_at(seen, some, c->site), scores, lowest);
}

/* Whether each query sees a key; rows of queries that see none are 0, and so is their gradient.
 * scores: masked ones hold the lowest value. */
static lz_tensor *of_seen(nnc *c, lz_tensor *scores, double low, lz_tensor *out)
{
    const lz_reduce_options o = {.struct_size = sizeof o, .dims = {1, {-1}}, .keepdim = true};
    lz_tensor *most = lz_amax_at(scores, &o, c->site);
    lz_tensor *none = lz_le_at(most, nn_number(c, most, low), c->site); /* NaN is not masked */
    return nn_where(c, none, nn_number(c, out, 0), out);
}

static lz_tensor *transposed(nnc *c, lz_tensor *x)
{
    return lz_transpose_at(x, -2, -1, c->site);
}

/* [.., H, L, n] of the heads' own, as [.., K, H / K L, n] with the rows of the heads that share a
 * key stacked (grouped-query attention), and back. */
static lz_tensor *stack_heads(nnc *c, lz_tensor *x, const shapes *s, int64_t n)
{
    return s->heads > 1 ? nn_reshape(c, x, with_last(s->k, s->heads * s->L, n)) : x;
}

static lz_tensor *unstack_heads(nnc *c, lz_tensor *x, const shapes *s, int64_t n)
{
    return nn_reshape(c, x, with_last(s->q, s->L, n));
}

/* Of scaled, stacked queries; wide. */
static lz_tensor *scores_of(nnc *c, lz_tensor *rows, lz_tensor *k, const shapes *s)
{
    return nn_widen(c, unstack_heads(c, lz_matmul_at(rows, transposed(c, k), c->site), s, s->S));
}

/* ---- with weights that the gradient recomputes ---- */

/* Between forward and backward nothing is kept of the weights, which are as many as scores: the
 * gradient makes the scores again, and the weights by the logarithm of their sum, one number per
 * query. The sum of weights times their gradients is that of the result times its own.
 * Source: Dao et al. 2022, FlashAttention.
 * Causal attention is made of blocks of queries, each with the keys up to its last one: of four
 * blocks, three eighths of the scores are not made. */
typedef struct query_block {
    nnc *c;
    const lz_attention_options *o;
    shapes s;      /* of the block */
    int64_t width; /* of values */
    int64_t from;  /* the block's first query */
} query_block;
enum { ROWS, KEYS, VALUES, INPUTS, OUT = INPUTS, LOG_SUM, KEPT };
enum {
    MOST_BLOCKS = 4,
    BLOCK_ROWS = 256 /* at least, */,
    MANY_QUERIES = 1 << 14 /* of all heads */
};

/* Blocks run one after the other: each must be work for a whole GPU. */
static int blocks_of(const query_block *m)
{
    const shapes *s = &m->s;
    if (!m->o->is_causal || s->heads > 1 || s->L != s->S)
        return 1;
    int64_t n = s->L / BLOCK_ROWS, queries = s->L;
    for (int i = 0; i < s->rank - 2; i++)
        queries *= s->q.dims[i];
    n = n < queries / MANY_QUERIES ? n : queries / MANY_QUERIES;
    return n < 1 ? 1 : n < MOST_BLOCKS ? (int)n : MOST_BLOCKS;
}

static query_block block_of(const query_block *m, int i, int n)
{
    query_block b = *m;
    b.from = m->s.L * i / n;
    b.s.L = m->s.L * (i + 1) / n - b.from;
    b.s.S = n > 1 ? b.from + b.s.L : m->s.S;
    return b;
}

/* Rows from..to-1 of x. */
static lz_tensor *part(nnc *c, lz_tensor *x, int64_t from, int64_t to)
{
    lz_shape s = lz_shape_of(x);
    bool all = from == 0 && s.rank >= 2 && to == s.dims[s.rank - 2];
    return all ? x : lz_slice_at(x, -2, from, to, 1, c->site);
}

static lz_tensor *rows_of(const query_block *b, lz_tensor *x) /* of queries */
{
    return b->s.heads > 1 ? x : part(b->c, x, b->from, b->from + b->s.L);
}

static lz_tensor *keys_of(const query_block *b, lz_tensor *x)
{
    return part(b->c, x, 0, b->s.S);
}

static lz_tensor *concatenate(nnc *c, lz_tensor *const *parts, int n)
{
    return n > 1 ? lz_cat_at(parts, n, -2, c->site) : parts[0];
}

/* Sums of blocks that have the first keys each, the last one all. */
static lz_tensor *sum_of_blocks(nnc *c, lz_tensor *const *parts, int n)
{
    lz_tensor *sum = n > 1 ? nn_widen(c, parts[n - 1]) : parts[0];
    int64_t keys = lz_shape_of(sum).dims[lz_shape_of(sum).rank - 2];
    for (int i = n - 2; i >= 0; i--) {
        lz_shape s = lz_shape_of(parts[i]);
        const int64_t pad[4] = {0, 0, 0, keys - s.dims[s.rank - 2]};
        lz_tensor *wide = nn_widen(c, parts[i]);
        sum = nn_add(c, sum, lz_constant_pad_nd_at(wide, pad, 4, 0, c->site));
    }
    return nn_narrow(c, sum, lz_dtype_of(parts[0]));
}

static lz_tensor *masked_scores(const query_block *b, lz_tensor *rows, lz_tensor *k)
{
    nnc *c = b->c;
    lz_tensor *scores = scores_of(c, rows, k, &b->s);
    if (!b->o->is_causal)
        return scores;
    lz_tensor *seen = causal_mask(c, b->from, b->s.L, b->s.S);
    return nn_where(c, seen, scores, nn_number(c, scores, -INFINITY));
}

static const lz_reduce_options along_keys = {
    .struct_size = sizeof along_keys, .dims = {1, {-1}}, .keepdim = true};

static lz_tensor *attend_block(const query_block *b, lz_tensor *const *in, lz_tensor **log_sum)
{
    nnc *c = b->c;
    lz_tensor *v = keys_of(b, in[VALUES]);
    lz_tensor *scores = masked_scores(b, rows_of(b, in[ROWS]), keys_of(b, in[KEYS]));
    lz_tensor *most = lz_amax_at(scores, &along_keys, c->site);
    lz_tensor *e = lz_exp_at(nn_sub(c, scores, most), c->site);
    lz_tensor *sum = lz_sum_at(e, &along_keys, c->site);
    lz_tensor *w = nn_narrow(c, nn_div(c, e, sum), lz_dtype_of(v));
    *log_sum = nn_add(c, most, lz_log_at(sum, c->site));
    return unstack_heads(c, lz_matmul_at(stack_heads(c, w, &b->s, b->s.S), v, c->site), &b->s,
                         b->width);
}

static void attend(lz_tensor *const *in, lz_tensor **out, lz_tensor **kept, void *user)
{
    const query_block *m = user;
    lz_tensor *y[MOST_BLOCKS] = {NULL}, *log_sum[MOST_BLOCKS] = {NULL};
    int n = blocks_of(m);
    for (int i = 0; i < n; i++) {
        query_block b = block_of(m, i, n);
        y[i] = attend_block(&b, in, &log_sum[i]);
    }
    out[0] = concatenate(m->c, y, n);
    memcpy(kept, in, INPUTS * sizeof *kept);
    kept[OUT] = out[0];
    kept[LOG_SUM] = concatenate(m->c, log_sum, n);
}

/* of_sum: the sums of weights times their gradients. */
static void block_backward(const query_block *b, lz_tensor *const *kept, lz_tensor *grad,
                           lz_tensor *of_sum, lz_tensor **to)
{
    nnc *c = b->c;
    const shapes *s = &b->s;
    lz_dtype d = lz_dtype_of(kept[VALUES]);
    lz_tensor *rows = rows_of(b, kept[ROWS]), *k = keys_of(b, kept[KEYS]);
    lz_tensor *v = keys_of(b, kept[VALUES]), *scores = masked_scores(b, rows, k);
    lz_tensor *log_sum = part(c, kept[LOG_SUM], b->from, b->from + s->L);
    lz_tensor *w = nn_narrow(c, lz_exp_at(nn_sub(c, scores, log_sum), c->site), d);
    lz_tensor *g = stack_heads(c, part(c, grad, b->from, b->from + s->L), s, b->width);
    to[VALUES] = lz_matmul_at(transposed(c, stack_heads(c, w, s, s->S)), g, c->site);
    lz_tensor *of_w = lz_matmul_at(g, transposed(c, v), c->site);
    of_w = nn_widen(c, unstack_heads(c, of_w, s, s->S));
    of_w = nn_sub(c, of_w, part(c, of_sum, b->from, b->from + s->L));
    lz_tensor *of_scores = nn_narrow(c, nn_mul(c, nn_widen(c, w), of_w), d);
    of_scores = stack_heads(c, of_scores, s, s->S);
    to[ROWS] = lz_matmul_at(of_scores, k, c->site);
    to[KEYS] = lz_matmul_at(transposed(c, of_scores), rows, c->site);
}

static void attend_backward(lz_tensor *const *kept, lz_tensor *const *grad, lz_tensor **to,
                            void *user)
{
    const query_block *m = user;
    nnc *c = m->c;
    lz_tensor *in[KEPT], *of[INPUTS][MOST_BLOCKS] = {{NULL}}, *one[INPUTS] = {NULL};
    int n = blocks_of(m);
    memcpy(in, kept, sizeof in);
    /* not the scores of the forward pass, which would be kept */
    in[ROWS] = lz_hlo_optimization_barrier_at(kept[ROWS], c->site);
    lz_tensor *both = nn_mul(c, nn_widen(c, grad[0]), nn_widen(c, kept[OUT]));
    lz_tensor *of_sum = lz_sum_at(both, &along_keys, c->site);
    for (int i = 0; i < n; i++) {
        query_block b = block_of(m, i, n);
        block_backward(&b, in, grad[0], of_sum, one);
        for (int j = 0; j < INPUTS; j++)
            of[j][i] = one[j];
    }
    to[ROWS] = concatenate(c, of[ROWS], n);
    to[KEYS] = sum_of_blocks(c, of[KEYS], n);
    to[VALUES] = sum_of_blocks(c, of[VALUES], n);
}

/* 16-bit weights without a mask that has a gradient, or dropout; of no key there is no maximum. */
static bool recomputes_weights(const lz_attention_options *o, const shapes *s, lz_tensor *v)
{
    return !o->attn_mask && o->dropout_p == 0 && s->S && lz_dtype_size(lz_dtype_of(v)) == 2;
}

/* ---- attention ---- */

static lz_tensor *attention(nnc *c, lz_tensor *q, lz_tensor *k, lz_tensor *v,
                            const lz_attention_options *o, const shapes *s)
{
    double scale = o->scale != 0 ? o->scale : 1 / sqrt((double)s->E);
    int64_t width = s->v.dims[s->rank - 1];
    lz_tensor *rows = nn_muls(c, stack_heads(c, q, s, s->E), scale);
    if (recomputes_weights(o, s, v)) {
        query_block m = {c, o, *s, width, 0};
        lz_tensor *in[INPUTS] = {rows, k, v}, *out = NULL;
        (void)lz_custom_vjp_at(attend, attend_backward, in, INPUTS, 1, KEPT, &m, &out, NULL,
                               c->site);
        return out;
    }
    lz_tensor *scores = scores_of(c, rows, k, s), *seen = visible(c, o, s, &scores);
    /* without a mask every query sees a key */
    double low = lz_dtype_of(scores) == LZ_F64 ? -DBL_MAX : (double)-FLT_MAX;
    if (o->attn_mask)
        scores = unseen_lowest(c, scores, seen, low);
    else if (seen)
        scores = nn_where(c, seen, scores, nn_number(c, scores, -INFINITY));
    lz_tensor *w = nn_narrow(c, lz_softmax_at(scores, -1, c->site), lz_dtype_of(v));
    if (o->dropout_p > 0)
        w = lz_dropout_at(w, o->dropout_p, true, c->site);
    lz_tensor *out =
        unstack_heads(c, lz_matmul_at(stack_heads(c, w, s, s->S), v, c->site), s, width);
    return o->attn_mask && s->S ? of_seen(c, scores, low, out) : out;
}

static bool check_options(nnc *c, const lz_attention_options *o, const shapes *s)
{
    if (!(o->dropout_p >= 0 && o->dropout_p <= 1))
        return nn_refuse(c, LZ_EINVAL, "dropout_p is %g: it must be in [0, 1]", o->dropout_p);
    if (!isfinite(o->scale))
        return nn_refuse(c, LZ_EINVAL, "scale is %g", o->scale);
    if (!o->attn_mask)
        return true;
    if (!nn_check(c, o->attn_mask, "the mask"))
        return false;
    lz_dtype d = lz_dtype_of(o->attn_mask);
    if (d != LZ_BOOL && !nn_is_float(d))
        return nn_refuse(c, LZ_EDTYPE, "the mask is %s: boolean or floating point is needed",
                         lz_dtype_name(d));
    lz_shape m = lz_shape_of(o->attn_mask), want = with_last(s->q, s->L, s->S);
    bool ok = m.rank <= want.rank;
    for (int i = 0; ok && i < m.rank; i++) {
        int64_t e = m.dims[m.rank - 1 - i];
        ok = e == 1 || e == want.dims[want.rank - 1 - i];
    }
    char a[192], b[192];
    return ok || nn_refuse(c, LZ_ESHAPE, "the mask %s does not broadcast to %s",
                           lz_nn_shape_text(&m, a), lz_nn_shape_text(&want, b));
}

lz_tensor *lz_scaled_dot_product_attention_at(lz_tensor *q, lz_tensor *k, lz_tensor *v,
                                              const lz_attention_options *opt, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin("lz_scaled_dot_product_attention", site);
    lz_attention_options o = {.struct_size = sizeof o};
    shapes s;
    lz_tensor *y = NULL;
    if (nn_options(&c, &o, sizeof o, opt) && check_shapes(&c, q, k, v, o.enable_gqa, &s) &&
        check_options(&c, &o, &s))
        y = attention(&c, q, k, v, &o, &s);
    return nn_end(&c, y);
}

/* ---- positions ---- */

/* Angles [L, D/2]: position * base^(-2i/D). */
static lz_tensor *angles(nnc *c, lz_tensor *offset, int64_t length, int64_t half, double base,
                         lz_dtype d)
{
    lz_shape s = LZ_SHAPE(length, half);
    lz_tensor *position = lz_iota_at(LZ_I32, s, 0, c->site);
    if (offset)
        position = nn_add(c, position, nn_narrow(c, offset, LZ_I32));
    lz_tensor *power = nn_muls(c, lz_iota_at(d, s, 1, c->site), -log(base) / (double)half);
    return nn_mul(c, lz_to_at(position, d, c->site), lz_exp_at(power, c->site));
}

static lz_tensor *turned(nnc *c, lz_tensor *x, lz_tensor *offset, double base, bool interleaved)
{
    lz_shape s = lz_shape_of(x);
    int64_t half = s.dims[s.rank - 1] / 2, length = s.dims[s.rank - 2];
    lz_tensor *wide = nn_widen(c, x);
    lz_tensor *angle = angles(c, offset, length, half, base, lz_dtype_of(wide));
    lz_tensor *co = lz_cos_at(angle, c->site), *si = lz_sin_at(angle, c->site), *a, *b;
    lz_shape pairs = s;
    pairs.rank++;
    pairs.dims[s.rank - 1] = half;
    pairs.dims[s.rank] = 2;
    if (interleaved) {
        lz_tensor *p = nn_reshape(c, wide, pairs);
        a = lz_select_at(p, -1, 0, c->site);
        b = lz_select_at(p, -1, 1, c->site);
    } else {
        a = lz_slice_at(wide, -1, 0, half, 1, c->site);
        b = lz_slice_at(wide, -1, half, 2 * half, 1, c->site);
    }
    lz_tensor *parts[] = {nn_sub(c, nn_mul(c, a, co), nn_mul(c, b, si)),
                          nn_add(c, nn_mul(c, b, co), nn_mul(c, a, si))};
    lz_tensor *y = interleaved ? nn_reshape(c, lz_stack_at(parts, 2, -1, c->site), s)
                               : lz_cat_at(parts, 2, -1, c->site);
    return nn_narrow(c, y, lz_dtype_of(x));
}

lz_tensor *lz_rotary_embedding_at(lz_tensor *x, lz_tensor *offset, double base, bool interleaved,
                                  const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin("lz_rotary_embedding", site);
    lz_tensor *y = NULL;
    bool ok = nn_check_float(&c, x, "the input") &&
              (!offset || nn_check_shape(&c, offset, LZ_SCALAR, "the offset"));
    lz_shape s = ok ? lz_shape_of(x) : LZ_SCALAR;
    lz_dtype d = ok && offset ? lz_dtype_of(offset) : LZ_I32;
    char a[192];
    if (!ok)
        ;
    else if (d != LZ_I32 && d != LZ_I64)
        nn_refuse(&c, LZ_EDTYPE, "the offset is %s: i32 or i64 is needed", lz_dtype_name(d));
    else if (s.rank < 2 || s.rank == LZ_MAX_RANK || s.dims[s.rank - 1] % 2)
        nn_refuse(&c, LZ_ESHAPE,
                  "the input is %s: [.., L, D] with D even and rank 2 to %d is needed",
                  lz_nn_shape_text(&s, a), LZ_MAX_RANK - 1);
    else if (!(base > 0) || isinf(base))
        nn_refuse(&c, LZ_EINVAL, "base is %g: a number > 0 is needed", base);
    else
        y = turned(&c, x, offset, base, interleaved);
    return nn_end(&c, y);
}
