/* t_grad_pairs.c - as t_grad_points.c, for functions of two operands and of vectors: gradients and
 * all second derivatives at zeros, ties, ends and infinities. The points are in grad_pairs.def.
 * Every differentiable function of two operands in ops/user_ops.def has points there, or the test
 * fails. */
#include "grad_points.h"

enum { MAX_N = 4 };
#define ABSOLUTE 1e-13

/* ---- functions of two operands ---- */

static lz_tensor *clamp_tensor(lz_tensor *a, lz_tensor *b)
{
    return lz_clamp_tensor(a, b, NULL);
}
static lz_tensor *kl_div(lz_tensor *a, lz_tensor *b)
{
    return lz_kl_div(a, b, .reduction = LZ_REDUCE_NONE);
}
static lz_tensor *bce(lz_tensor *a, lz_tensor *b)
{
    return lz_binary_cross_entropy(a, b, .reduction = LZ_REDUCE_NONE);
}
static lz_tensor *bce_logits(lz_tensor *a, lz_tensor *b)
{
    return lz_binary_cross_entropy_with_logits(a, b, .reduction = LZ_REDUCE_NONE);
}
static lz_tensor *huber_pair(lz_tensor *a, lz_tensor *b)
{
    return lz_huber_loss(a, b, .reduction = LZ_REDUCE_NONE);
}

static const function functions[] = {
#define LZ_UNARY(...)
#define LZ_UNARY_OF(...)
#define LZ_BINARY(fn, OP, kind, part, doc)                                                         \
    {.name = #fn, .op = LZ_OP_##OP, .smooth = kind, .of_pair = lz_##fn##_at},
#define LZ_BINARY_OF(fn, kind, part, takes, doc)                                                   \
    {.name = #fn, .smooth = kind, .of_pair = lz_##fn##_at},
#define LZ_COMPARE(...)
#include "ops/user_ops.def"
#define OWN(name) OWN_OF(#name, LZ_OP_NONE, own_pair, name)
    OWN(clamp_tensor), OWN(kl_div), OWN(bce), OWN(bce_logits), OWN(huber_pair)};
enum { NFUNCTION = sizeof functions / sizeof *functions };

/* Two operands and d/da, d/db, d2/da2, d2/dadb, d2/db2. */
static const point pairs[] = {
#define PAIR(name, a, b, ...) {#name, {a, b}, {__VA_ARGS__}},
#define VECTOR(...)
#include "grad_pairs.def"
#undef PAIR
#undef VECTOR
};
enum { NPAIR = sizeof pairs / sizeof *pairs };

static int compare_pairs(const function *f, const point *const *p, int n)
{
    double a[MOST_POINTS], b[MOST_POINTS];
    for (int i = 0; i < n; i++) {
        a[i] = p[i]->x[0];
        b[i] = p[i]->x[1];
    }
    lz_scope_begin();
    lz_tensor *x = lz_from_host(LZ_F64, LZ_SHAPE(n), a), *y = lz_from_host(LZ_F64, LZ_SHAPE(n), b);
    lz_tensor *z = f->of_pair ? f->of_pair(x, y, LZ_SITE) : f->own_pair(x, y);
    lz_tensor *gx = reverse(z, x), *gy = reverse(z, y), *tx = forward(z, x), *ty = forward(z, y);
    const way ways[] = {{"reverse", gx, 0},
                        {"reverse", gy, 1},
                        {"reverse over reverse", reverse(gx, x), 2},
                        {"reverse over reverse", reverse(gx, y), 3},
                        {"reverse over reverse, b first", reverse(gy, x), 3},
                        {"reverse over reverse", reverse(gy, y), 4},
                        {"forward", tx, 0},
                        {"forward", ty, 1},
                        {"forward over reverse", forward(gx, x), 2},
                        {"forward over reverse", forward(gx, y), 3},
                        {"reverse over forward", reverse(tx, y), 3},
                        {"forward over forward", forward(ty, y), 4},
                        {"forward over reverse, b first", forward(gy, x), 3}};
    int bad = compare_ways(f, p, n, ways, sizeof ways / sizeof *ways, LZ_F64, ABSOLUTE);
    lz_scope_end();
    return bad;
}

START_TEST(functions_of_two_numbers)
{
    int bad = 0;
    ck_assert_int_eq(lz_set_device(devices[_i]), LZ_OK);
    for (int i = 0; i < NFUNCTION; i++) {
        const point *p[MOST_POINTS];
        int n = rows_of(pairs, NPAIR, functions[i].name, p);
        if (n)
            bad += compare_pairs(&functions[i], p, n);
    }
    ck_assert_int_eq(bad, 0);
}
END_TEST

START_TEST(every_function_has_pairs)
{
    /* no real result; no derivative by its exponent */
    static const char *const none[] = {"complex", "special_zeta"};
    const point *p[MOST_POINTS];
    int bad = 0;
    for (int i = 0; i < NFUNCTION; i++) {
        bool needs = functions[i].smooth, zero = false;
        for (size_t k = 0; k < sizeof none / sizeof *none; k++)
            needs &= strcmp(functions[i].name, none[k]) != 0;
        int n = rows_of(pairs, NPAIR, functions[i].name, p);
        for (int k = 0; k < n; k++)
            zero |= p[k]->x[0] == 0 || p[k]->x[1] == 0;
        if (!needs || (n >= 2 && zero))
            continue;
        printf("%s has %d pairs in grad_pairs.def, %s a zero\n", functions[i].name, n,
               zero ? "with" : "without");
        bad++;
    }
    ck_assert_int_eq(bad, 0);
    all_rows_are_met(pairs, NPAIR, functions, NFUNCTION);
}
END_TEST

/* ---- functions of a vector ---- */

/* The sum of x's elements with the weights 1, 2, -1, 1/2. */
static lz_tensor *weighed(lz_tensor *x)
{
    static const double w[MAX_N] = {1, 2, -1, 0.5};
    return lz_sum(lz_mul(x, lz_from_host(LZ_F64, lz_shape_of(x), w)));
}
static lz_tensor *v_prod(lz_tensor *x)
{
    return lz_prod(x);
}
static lz_tensor *v_cumprod(lz_tensor *x)
{
    return weighed(lz_cumprod(x, 0));
}
static lz_tensor *v_scatter_prod(lz_tensor *x)
{
    lz_tensor *at = lz_zeros(LZ_I64, lz_shape_of(x));
    return lz_sum(lz_scatter_reduce(lz_full(LZ_F64, LZ_SHAPE(1), 5), 0, at, x, "prod", true));
}
/* the first and the last into element 0, which is 2, the one between into element 1, which is 0 */
static lz_tensor *v_scatter_prod_at(lz_tensor *x)
{
    lz_tensor *into = lz_from_host(LZ_F64, LZ_SHAPE(2), ((double[]){2, 0}));
    lz_tensor *at = lz_from_host(LZ_I64, LZ_SHAPE(3), ((int64_t[]){0, 1, 0}));
    return weighed(lz_scatter_reduce(into, 0, at, x, "prod", true));
}
static lz_tensor *v_window_prod(lz_tensor *x)
{
    const lz_window_dims two = {.size = {2}};
    return weighed(lz_hlo_reduce_window_at("multiply", x, &two, LZ_SITE));
}
static lz_tensor *v_prod_of_2(lz_tensor *x)
{
    return weighed(lz_prod(lz_reshape(x, LZ_SHAPE(2, 2)), .dims = LZ_DIMS(1)));
}
static lz_tensor *v_logsumexp(lz_tensor *x)
{
    return lz_logsumexp(x);
}
static lz_tensor *v_logcumsumexp(lz_tensor *x)
{
    return weighed(lz_logcumsumexp(x, 0));
}
static lz_tensor *v_log_softmax(lz_tensor *x)
{
    return weighed(lz_log_softmax(x, 0));
}
static lz_tensor *v_softmax(lz_tensor *x)
{
    return weighed(lz_softmax(x, 0));
}
static lz_tensor *v_norm_2(lz_tensor *x)
{
    return lz_linalg_vector_norm(x, .ord = 2);
}
static lz_tensor *v_norm_3(lz_tensor *x)
{
    return lz_linalg_vector_norm(x, .ord = 3);
}
static lz_tensor *v_norm_fro(lz_tensor *x)
{
    return lz_linalg_matrix_norm(lz_reshape(x, LZ_SHAPE(1, lz_numel(x))), "fro", false);
}
static lz_tensor *v_normalize(lz_tensor *x)
{
    return weighed(lz_normalize(x, 2, 0, 1e-12));
}
static lz_tensor *v_pairwise(lz_tensor *x)
{
    return lz_pairwise_distance(x, lz_zeros(LZ_F64, lz_shape_of(x)), 2, 0, false);
}
static lz_tensor *v_cosine(lz_tensor *x)
{
    lz_tensor *w = lz_from_host(LZ_F64, lz_shape_of(x), ((double[]){1, 2, -1, 0.5}));
    return lz_cosine_similarity(x, w, 0, 1e-8);
}
static lz_tensor *v_var(lz_tensor *x)
{
    return lz_var(x);
}
static lz_tensor *v_var_0(lz_tensor *x)
{
    return lz_var(x, .correction = 0);
}
static lz_tensor *v_std(lz_tensor *x)
{
    return lz_std(x);
}
static lz_tensor *v_amax(lz_tensor *x)
{
    return lz_amax(x);
}
static lz_tensor *v_soft_margin_multilabel(lz_tensor *x)
{
    lz_tensor *t = lz_from_host(LZ_F64, LZ_SHAPE(1, lz_numel(x)), ((double[]){1, 0, 0, 0}));
    return lz_multilabel_soft_margin_loss(lz_reshape(x, lz_shape_of(t)), t);
}

typedef struct vector {
    const char *name;
    lz_tensor *(*of)(lz_tensor *x);
    int n;
    double x[MAX_N], g[MAX_N], h[MAX_N * MAX_N];
} vector;
static const vector vectors[] = {
#define PAIR(...)
#define LIST(...)                                                                                  \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define VECTOR(name, n, ...) {#name, v_##name, n, __VA_ARGS__},
#include "grad_pairs.def"
#undef PAIR
#undef VECTOR
};
enum { NVECTOR = sizeof vectors / sizeof *vectors };

/* Both Hessians, by rows: reverse over reverse, forward over reverse; and the gradient twice. */
static int compare_vector(const vector *v)
{
    enum { PARTS = 4 };
    double got[PARTS][MAX_N * MAX_N];
    int bad = 0, n = v->n;
    lz_scope_begin();
    lz_tensor *x = lz_from_host(LZ_F64, LZ_SHAPE(n), v->x), *y = lz_sum(v->of(x)),
              *g = reverse(y, x), *rows[2][MAX_N], *slopes[MAX_N];
    for (int i = 0; i < n; i++) {
        double one[MAX_N] = {0};
        one[i] = 1;
        lz_tensor *t = lz_from_host(LZ_F64, LZ_SHAPE(n), one);
        rows[0][i] = reverse(lz_select(g, 0, i), x);
        ck_assert_int_eq(lz_jvp(&g, 1, &x, &t, 1, &rows[1][i], .allow_unused = true), LZ_OK);
        ck_assert_int_eq(lz_jvp(&y, 1, &x, &t, 1, &slopes[i], .allow_unused = true), LZ_OK);
    }
    lz_tensor *parts[PARTS] = {lz_stack(rows[0], n, 0), lz_stack(rows[1], n, 0), g,
                               lz_stack(slopes, n, 0)};
    for (int k = 0; k < PARTS; k++)
        ck_assert_msg(lz_to_host(parts[k], got[k], sizeof got[k]) == LZ_OK, "%s: %s", v->name,
                      lz_last_error_text());
    lz_scope_end();
    for (int k = 0; k < PARTS; k++)
        for (int i = 0; i < (k < 2 ? n * n : n); i++) {
            double want = k < 2 ? v->h[i] : v->g[i];
            if (agrees(got[k][i], want, LZ_F64, ABSOLUTE))
                continue;
            printf("%s(%g, ..), part %d [%d]: %.17g, right is %.17g\n", v->name, v->x[0], k, i,
                   got[k][i], want);
            bad++;
        }
    return bad;
}

START_TEST(functions_of_vectors)
{
    int bad = 0;
    ck_assert_int_eq(lz_set_device(devices[_i]), LZ_OK);
    for (int i = 0; i < NVECTOR; i++)
        bad += compare_vector(&vectors[i]);
    ck_assert_int_eq(bad, 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("grad_pairs");
    TCase *t = tcase_create("pairs");
    tcase_set_timeout(t, 240);
    tcase_add_test(t, every_function_has_pairs);
    tcase_add_loop_test(t, functions_of_two_numbers, 0, 2);
    tcase_add_loop_test(t, functions_of_vectors, 0, 2);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
