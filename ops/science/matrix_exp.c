/* matrix_exp.c - the exponential of matrices: include/lazuli/decompositions.h. A power series of a
 * matrix that is halved until its norm is at most 1, and squared as often.
 * Source: Higham, Functions of Matrices, chapter 10; the derivative as a block of a larger
 * exponential: Najfeld and Havel 1995. */
#include "ops/science/science.h"
#include "base/status.h"
#include <lazuli/complex_ops.h>
#include <lazuli/control.h>
#include <lazuli/decompositions.h>
#include <lazuli/grad.h>

enum {
    STEP = 4,   /* the series in a^4: its powers up to a^3 are combined first */
    TERMS = 20, /* 1 / 20! is below half a unit of f64 */
    ROUNDS = 64 /* of squaring, in what has a gradient */
};

/* c[0] 1 + c[1] a + .. + c[3] a^3 with the coefficients of the series from `from`. */
static lz_tensor *four_terms(const lz_composite *c, lz_tensor *const *power, int from)
{
    lz_tensor *sum = NULL;
    double k = 1;
    for (int i = 2; i <= from; i++)
        k /= i;
    for (int i = 0; i < STEP; i++) {
        lz_tensor *term = MUL(power[i], NUMBER(power[i], k));
        sum = sum ? ADD(sum, term) : term;
        k /= from + i + 1;
    }
    return sum;
}

static lz_tensor *series(const lz_composite *c, lz_tensor *a, lz_tensor *one)
{
    lz_tensor *power[STEP] = {one, a}, *sum = NULL;
    for (int i = 2; i < STEP; i++)
        power[i] = lz_matmul_at(power[i - 1], a, c->site);
    lz_tensor *step = lz_matmul_at(power[STEP - 1], a, c->site);
    for (int from = TERMS - STEP; from >= 0; from -= STEP) {
        lz_tensor *part = four_terms(c, power, from);
        sum = sum ? ADD(lz_matmul_at(sum, step, c->site), part) : part;
    }
    return sum;
}

/* ---- squaring: every matrix as often as it was halved ---- */

static lz_tensor *squared(lz_tensor *i, lz_tensor *often, lz_tensor *m)
{
    return lz_where(lz_lt(i, often), lz_matmul(m, m), m);
}
/* in: the round, how often [.., 1, 1], how often at most, the matrices */
static lz_tensor *more(lz_tensor *const *in, void *user)
{
    (void)user;
    return lz_lt(in[0], in[2]);
}
static void square(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_add_scalar(in[0], 1);
    out[1] = in[1];
    out[2] = in[2];
    out[3] = squared(in[0], in[1], in[3]);
}
static void square_once(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = squared(in[0], in[1], in[2]);
}
static void stay(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = in[2];
}
/* in: how often, how often at most, the matrices */
static void square_round(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    lz_tensor *round = lz_to(i, lz_dtype_of(in[0])), *of[3] = {round, in[0], in[2]};
    out[0] = in[0];
    out[1] = in[1];
    (void)lz_cond(lz_lt(round, in[1]), square_once, stay, of, 3, 1, user, &out[2]);
}

/* The exponential of a, halved `often` times [.., 1, 1] first; a is wide. differentiable: loops
 * that have a gradient, and NaN where they are too short. */
static lz_tensor *exponential(const lz_composite *c, lz_tensor *a, lz_tensor *often, lz_tensor *one,
                              bool differentiable)
{
    lz_tensor *scale = lz_exp2_at(lz_neg_at(often, c->site), c->site);
    lz_tensor *m = series(c, MUL(a, scale), one);
    const lz_reduce_options all = {.struct_size = sizeof all};
    if (lz_numel(often) == 0)
        return m;
    lz_tensor *most = lz_amax_at(often, &all, c->site), *out[4] = {NULL};
    if (differentiable) {
        lz_tensor *in[3] = {often, most, m};
        (void)lz_fori_at(0, ROUNDS, in, 3, square_round, NULL, out, c->site);
        lz_tensor *nan = DIV(NUMBER(often, 0), NUMBER(often, 0));
        return MUL(out[2],
                   WHERE(lz_gt_at(often, NUMBER(often, ROUNDS), c->site), nan, NUMBER(often, 1)));
    }
    lz_tensor *in[4] = {MUL(most, NUMBER(most, 0)), often, most, m};
    in[0] = WHERE(lz_ne_at(most, most, c->site), most, NUMBER(most, 0));
    (void)lz_while_at(in, 4, more, square, NULL, out, c->site);
    return out[3];
}

/* How often each matrix is halved until the largest sum of a column is at most 1: [.., 1, 1]. */
static lz_tensor *halvings(const lz_composite *c, lz_tensor *a)
{
    lz_tensor *sums =
        lz_composite_sum(c, lz_abs_at(lz_composite_detached(c, a), c->site), -2, true);
    const lz_reduce_options last = {.struct_size = sizeof last, .dims = {1, {-1}}, .keepdim = true};
    lz_tensor *norm = lz_amax_at(sums, &last, c->site), *one = NUMBER(norm, 1);
    lz_tensor *above = lz_gt_at(norm, one, c->site);
    /* an infinite or NaN norm: nothing is halved, the result is NaN */
    above = lz_logical_and_at(above, lz_isfinite_at(norm, c->site), c->site);
    return lz_ceil_at(lz_log2_at(WHERE(above, norm, one), c->site), c->site);
}

static lz_tensor *identity(const lz_composite *c, lz_tensor *a)
{
    lz_shape s = lz_shape_of(a);
    lz_tensor *i = lz_composite_iota(c, a, LZ_I64, s, s.rank - 2),
              *j = lz_composite_iota(c, a, LZ_I64, s, s.rank - 1);
    return TO(lz_eq_at(i, j, c->site), lz_dtype_of(a));
}

/* ---- the derivative ---- */

static void forward(lz_tensor *const *in, lz_tensor **out, lz_tensor **residuals, void *user)
{
    const lz_composite *c = user;
    residuals[0] = in[0];
    out[0] = exponential(c, in[0], halvings(c, in[0]), identity(c, in[0]), false);
}

/* [[a, b], [0, a]] */
static lz_tensor *blocks(const lz_composite *c, lz_tensor *a, lz_tensor *b)
{
    lz_tensor *top[2] = {a, b}, *bottom[2] = {lz_zeros_like_at(a, LZ_DTYPE_NONE, c->site), a};
    lz_tensor *rows[2] = {lz_cat_at(top, 2, -1, c->site), lz_cat_at(bottom, 2, -1, c->site)};
    return lz_cat_at(rows, 2, -2, c->site);
}

/* The exponential of [[a^H, g], [0, a^H]] has the gradient in its upper right block. */
static void backward(lz_tensor *const *residuals, lz_tensor *const *grad_out, lz_tensor **grad_in,
                     void *user)
{
    const lz_composite *c = user;
    lz_tensor *a = lz_conj_at(lz_transpose_at(residuals[0], -2, -1, c->site), c->site);
    int64_t n = lz_shape_of(a).dims[lz_rank_of(a) - 1];
    lz_tensor *both = blocks(c, a, grad_out[0]);
    lz_tensor *e = exponential(c, both, halvings(c, a), identity(c, both), true);
    grad_in[0] = SLICE(SLICE(e, -2, 0, n), -1, n, 2 * n);
}

static lz_tensor *matrix_exp(lz_composite *c, lz_tensor *a)
{
    if (!lz_composite_in(c, a, "a"))
        return NULL;
    lz_dtype d = lz_dtype_of(a);
    if (!lz_dtype_is_float(d) && !lz_dtype_is_complex(d)) {
        LZ_FAIL(LZ_EDTYPE, "a is %s: it must be a float or complex", lz_dtype_name(d));
        return NULL;
    }
    if (!lz_composite_square(a, "a"))
        return NULL;
    if (lz_numel(a) == 0)
        return lz_clone_at(a, c->site);
    lz_tensor *wide = lz_composite_wide(c, a), *out = NULL;
    static const lz_custom_vjp_options name = {.struct_size = sizeof name, .name = "lz_matrix_exp"};
    (void)lz_custom_vjp_at(forward, backward, &wide, 1, 1, 1, c, &out, &name, c->site);
    return out ? TO(out, d) : NULL;
}

lz_tensor *lz_linalg_matrix_exp_at(lz_tensor *a, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    COMPOSITE("lz_linalg_matrix_exp");
    return lz_composite_end(c, matrix_exp(c, a));
}
