/* t_nn.c - layers, losses, initialisers, optimizers and schedules against their formulas in plain
 * C. */
#include "suite.h"
#include <lazuli/lazuli.h>
#include <math.h>
#include <string.h>

enum { N = 5 };
static const double start[N] = {0.5, -1.25, 2, -0.03125, 7};

/* loss = sum(c * p^2) / 2, so the gradient is c * p */
static const double coef[N] = {1, 0.5, -0.25, 2, 0.125};

typedef void (*rule)(double *p, double *m, double *v, const double *g, int t);

static void run_optimizer(lz_optim *(*make)(lz_params *), rule expect)
{
    lz_params ps = {0};
    double p[N], m[N] = {0}, v[N] = {0}, got[N];
    memcpy(p, start, sizeof p);
    lz_scope_begin();
    lz_tensor *param = lz_from_host(LZ_F64, LZ_SHAPE(N), start);
    ck_assert_msg(lz_params_add(&ps, "p", param) == LZ_OK, "%s", lz_last_error_text());
    lz_scope_end();
    param = ps.tensors[0];
    lz_optim *o = make(&ps);
    ck_assert_msg(o != NULL, "%s", lz_last_error_text());
    for (int t = 1; t <= 4; t++) {
        double g[N];
        for (int i = 0; i < N; i++)
            g[i] = coef[i] * p[i];
        expect(p, m, v, g, t);
        lz_scope_begin();
        lz_tensor *c = lz_from_host(LZ_F64, LZ_SHAPE(N), coef);
        lz_tensor *loss = lz_mul_scalar(lz_sum(lz_mul(c, lz_mul(param, param))), 0.5);
        ck_assert_msg(lz_backward(loss) == LZ_OK, "%s", lz_last_error_text());
        ck_assert_msg(lz_optim_step(o) == LZ_OK, "%s", lz_last_error_text());
        ck_assert_int_eq(lz_optim_zero_grad(o), LZ_OK);
        ck_assert_msg(lz_mark_step() == LZ_OK, "%s", lz_last_error_text());
        lz_scope_end();
        ck_assert_msg(lz_to_host(param, got, sizeof got) == LZ_OK, "%s", lz_last_error_text());
        for (int i = 0; i < N; i++)
            ck_assert_msg(fabs(got[i] - p[i]) <= 1e-12 * (1 + fabs(p[i])),
                          "step %d element %d: %.17g, not %.17g", t, i, got[i], p[i]);
    }
    lz_optim_free(o);
    lz_params_free(&ps);
}

static lz_optim *make_sgd(lz_params *ps)
{
    return lz_sgd(ps, .lr = 0.1);
}
static void sgd(double *p, double *m, double *v, const double *g, int t)
{
    (void)m, (void)v, (void)t;
    for (int i = 0; i < N; i++)
        p[i] -= 0.1 * g[i];
}
static lz_optim *make_momentum(lz_params *ps)
{
    return lz_sgd(ps, .lr = 0.05, .momentum = 0.9, .dampening = 0.25, .weight_decay = 0.01);
}
static void momentum(double *p, double *m, double *v, const double *g, int t)
{
    (void)v;
    for (int i = 0; i < N; i++) {
        double d = g[i] + 0.01 * p[i];
        m[i] = t == 1 ? d : 0.9 * m[i] + 0.75 * d;
        p[i] -= 0.05 * m[i];
    }
}
static lz_optim *make_nesterov(lz_params *ps)
{
    return lz_sgd(ps, .lr = 0.05, .momentum = 0.8, .nesterov = true);
}
static void nesterov(double *p, double *m, double *v, const double *g, int t)
{
    (void)v, (void)t;
    for (int i = 0; i < N; i++) {
        m[i] = 0.8 * m[i] + g[i];
        p[i] -= 0.05 * (g[i] + 0.8 * m[i]);
    }
}
static void adam_core(double *p, double *m, double *v, double g, int t, int i, double lr)
{
    m[i] = 0.9 * m[i] + 0.1 * g;
    v[i] = 0.999 * v[i] + 0.001 * g * g;
    p[i] -= lr * (m[i] / (1 - pow(0.9, t))) / (sqrt(v[i] / (1 - pow(0.999, t))) + 1e-8);
}
static lz_optim *make_adam(lz_params *ps)
{
    return lz_adam(ps, .lr = 0.02, .weight_decay = 0.1);
}
static void adam(double *p, double *m, double *v, const double *g, int t)
{
    for (int i = 0; i < N; i++)
        adam_core(p, m, v, g[i] + 0.1 * p[i], t, i, 0.02);
}
static lz_optim *make_adamw(lz_params *ps)
{
    return lz_adam(ps, .lr = 0.02, .weight_decay = 0.1, .decoupled = true);
}
static void adamw(double *p, double *m, double *v, const double *g, int t)
{
    for (int i = 0; i < N; i++) {
        p[i] *= 1 - 0.02 * 0.1;
        adam_core(p, m, v, g[i], t, i, 0.02);
    }
}

START_TEST(optimizers_follow_their_formulas)
{
    static const struct {
        lz_optim *(*make)(lz_params *);
        rule expect;
    } rows[] = {{make_sgd, sgd},
                {make_momentum, momentum},
                {make_nesterov, nesterov},
                {make_adam, adam},
                {make_adamw, adamw}};
    run_optimizer(rows[_i].make, rows[_i].expect);
}
END_TEST

START_TEST(bad_options_name_the_option)
{
    lz_params ps = {0};
    ck_assert_ptr_null(lz_sgd(&ps, .lr = -1));
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "lr"));
    ck_assert_ptr_null(lz_sgd(&ps, .momentum = 1.5));
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "momentum"));
    ck_assert_ptr_null(lz_adam(&ps, .beta2 = 1));
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "beta2"));
    ck_assert_ptr_null(lz_adam(&ps, .eps = NAN));
    ck_assert_ptr_null(lz_sgd(NULL));
    ck_assert_int_eq(lz_optim_step(NULL), LZ_ENULL);
    ck_assert_int_eq(lz_optim_set_lr(NULL, 1), LZ_ENULL);
    ck_assert(isnan(lz_optim_lr(NULL)));
    lz_optim_free(NULL);
}
END_TEST

START_TEST(a_new_learning_rate_compiles_nothing)
{
    lz_params ps = {0};
    lz_scope_begin();
    ck_assert_int_eq(lz_params_add(&ps, "p", lz_from_host(LZ_F64, LZ_SHAPE(N), start)), LZ_OK);
    lz_scope_end();
    lz_optim *o = _i ? lz_adam(&ps, .weight_decay = 0.5, .decoupled = true)
                     : lz_sgd(&ps, .lr = 0.5, .momentum = 0.5, .dampening = 0.5);
    int64_t compiles = -1;
    static const double rates[] = {0.3, 0.1, 1, 0, 0.01, 1e-30}; /* 0 and 1 are rates like others */
    for (int t = 0; t < 6; t++) {
        ck_assert_int_eq(lz_optim_set_lr(o, rates[t]), LZ_OK);
        lz_scope_begin();
        ck_assert_int_eq(lz_backward(lz_sum(lz_mul(ps.tensors[0], ps.tensors[0]))), LZ_OK);
        ck_assert_int_eq(lz_optim_step(o), LZ_OK);
        ck_assert_int_eq(lz_optim_zero_grad(o), LZ_OK);
        ck_assert_int_eq(lz_mark_step(), LZ_OK);
        lz_scope_end();
        if (t == 0)
            compiles = lz_counter_value("UncachedCompile");
    }
    ck_assert_int_eq(lz_counter_value("UncachedCompile"),
                     compiles); /* the very first step's graph serves all */
    lz_optim_free(o);
    lz_params_free(&ps);
}
END_TEST

START_TEST(cross_entropy_and_accuracy)
{
    const float logits[3][4] = {{1, -2, 0.5f, 3}, {100, -100, 0, 99}, {0, 0, 0, 0}};
    const int32_t label[3] = {3, 3, 1};
    double want = 0;
    for (int r = 0; r < 3; r++) {
        double top = -1e30, s = 0;
        for (int c = 0; c < 4; c++)
            top = logits[r][c] > top ? logits[r][c] : top; /* (GCC 12 cannot compile fmax here) */
        for (int c = 0; c < 4; c++)
            s += exp(logits[r][c] - top);
        want -= (logits[r][label[r]] - top - log(s)) / 3;
    }
    lz_scope_begin();
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(3, 4), logits),
              *y = lz_from_host(LZ_I32, LZ_SHAPE(3), label);
    double got = lz_item(lz_cross_entropy(x, y));
    ck_assert_msg(fabs(got - want) < 1e-6, "%.9g, not %.9g: %s", got, want, lz_last_error_text());
    ck_assert(fabs(lz_item(lz_accuracy(x, y)) - 1.0 / 3) < 1e-6);  /* a tie goes to the first */
    ck_assert_int_eq(lz_status_of(lz_cross_entropy(x, x)), LZ_OK); /* probabilities */
    ck_assert_int_eq(lz_status_of(lz_cross_entropy(x, lz_unsqueeze(y, 0))), LZ_ESHAPE);
    ck_assert_int_eq(lz_status_of(lz_cross_entropy(NULL, y)), LZ_ENULL);
    lz_tensor *f = lz_to(y, LZ_F32);
    ck_assert_int_eq(lz_status_of(lz_cross_entropy(x, f)), LZ_EDTYPE);
    lz_scope_end();
}
END_TEST

START_TEST(mse)
{
    const double a[4] = {1, 2, -3, 0.5}, b[4] = {0, 2.5, -3, 1};
    lz_scope_begin();
    lz_tensor *x = lz_from_host(LZ_F64, LZ_SHAPE(2, 2), a),
              *y = lz_from_host(LZ_F64, LZ_SHAPE(2, 2), b);
    ck_assert(fabs(lz_item(lz_mse_loss(x, y)) - (1 + 0.25 + 0 + 0.25) / 4) < 1e-15);
    lz_scope_end();
}
END_TEST

START_TEST(initialisers_have_their_moments)
{
    enum { M = 20000 };
    static float v[M];
    ck_assert_int_eq(lz_manual_seed(17), LZ_OK);
    lz_scope_begin();
    const struct {
        lz_tensor *t;
        double mean, var;
    } rows[] = {
        {lz_init_uniform(LZ_F32, LZ_SHAPE(100, 200), -1, 3), 1, 16.0 / 12},
        {lz_init_normal(LZ_F32, LZ_SHAPE(100, 200), 0.5, 2), 0.5, 4},
        {lz_init_kaiming_uniform(LZ_F32, LZ_SHAPE(100, 200), 0), 0, 2.0 / 200},
        {lz_init_xavier_uniform(LZ_F32, LZ_SHAPE(100, 200), 1), 0, 2.0 / 300},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        double sum = 0, sq = 0;
        ck_assert_msg(lz_to_host(rows[r].t, v, sizeof v) == LZ_OK, "%s", lz_last_error_text());
        for (int i = 0; i < M; i++)
            sum += v[i];
        for (int i = 0; i < M; i++)
            sq += (v[i] - sum / M) * (v[i] - sum / M);
        double sd = sqrt(rows[r].var);
        ck_assert_msg(fabs(sum / M - rows[r].mean) < 5 * sd / sqrt(M), "row %zu: mean %g", r,
                      sum / M);
        ck_assert_msg(fabs(sq / M / rows[r].var - 1) < 0.05, "row %zu: variance %g", r, sq / M);
    }
    lz_scope_end();
}
END_TEST

START_TEST(linear_layer)
{
    lz_params ps = {0};
    lz_linear_layer l;
    ck_assert_int_eq(lz_linear_layer_init(&l, &ps, "fc", 3, 2, true, LZ_F64), LZ_OK);
    ck_assert_uint_eq(ps.len, 2);
    ck_assert_str_eq(ps.names[0], "fc.weight");
    ck_assert_str_eq(ps.names[1], "fc.bias");
    double w[2][3], b[2], y[2], x[3] = {1, -2, 0.5};
    lz_scope_begin();
    ck_assert_int_eq(lz_to_host(l.weight, w, sizeof w), LZ_OK);
    ck_assert_int_eq(lz_to_host(l.bias, b, sizeof b), LZ_OK);
    lz_tensor *t = lz_linear_layer_forward(&l, lz_from_host(LZ_F64, LZ_SHAPE(1, 3), x));
    ck_assert_int_eq(lz_to_host(t, y, sizeof y), LZ_OK);
    for (int o = 0; o < 2; o++) {
        double want = b[o];
        for (int i = 0; i < 3; i++) {
            want += w[o][i] * x[i];
            ck_assert(fabs(w[o][i]) <= 1 / sqrt(3) + 1e-12);
        }
        ck_assert(fabs(y[o] - want) < 1e-12);
    }
    ck_assert_int_eq(lz_linear_layer_init(&l, &ps, "bad", 0, 2, true, LZ_F64), LZ_EINVAL);
    ck_assert_int_eq(lz_linear_layer_init(NULL, &ps, "bad", 1, 2, true, LZ_F64), LZ_ENULL);
    ck_assert_int_eq(lz_params_add(NULL, "x", t), LZ_ENULL);
    ck_assert_int_ne(lz_status_of(lz_linear_layer_forward(NULL, t)), LZ_OK);
    lz_scope_end();
    lz_params_free(&ps);
    lz_params_free(&ps);
    lz_params_free(NULL);
}
END_TEST

/* What is wrong, with the values, and where the program said it. */
static void said(const char *text, int line)
{
    lz_error_info e;
    ck_assert_int_ne(lz_last_error(&e), LZ_OK);
    ck_assert_msg(strstr(e.message, text) != NULL, "\"%s\" lacks \"%s\"", e.message, text);
    ck_assert_msg(strstr(e.file, "t_nn.c") != NULL, "%s: the file is \"%s\"", e.message, e.file);
    ck_assert_int_eq(e.line, line);
    lz_clear_error();
}

START_TEST(errors_name_the_place_and_the_values)
{
    lz_params ps = {0};
    lz_linear_layer l;
    const double x[3] = {1, 2, 3};
    lz_scope_begin();
    lz_tensor *t = lz_from_host(LZ_F64, LZ_SHAPE(3), x);
    ck_assert_int_eq(lz_linear_layer_init(&l, &ps, "l", -7, 2, true, LZ_F64), LZ_EINVAL);
    said("-7", __LINE__ - 1);
    ck_assert_int_eq(lz_linear_layer_init(&l, &ps, "l", 7, 2, true, LZ_I32), LZ_EDTYPE);
    said("i32", __LINE__ - 1);
    ck_assert_uint_eq(ps.len, 0);
    ck_assert_int_eq(lz_linear_layer_init(&l, &ps, "l", 2, 4, false, LZ_F64), LZ_OK);
    ck_assert_int_eq(lz_status_of(lz_linear_layer_forward(&l, t)), LZ_ESHAPE);
    said("f64[4,2]", __LINE__ - 1);
    ck_assert_int_eq(lz_status_of(lz_init_normal(LZ_F64, LZ_SHAPE(-2, 3), 0, 1)), LZ_ESHAPE);
    said("-2", __LINE__ - 1);
    ck_assert_int_eq(lz_status_of(lz_nll_loss(t, t)), LZ_ESHAPE);
    said("logits are [3]", __LINE__ - 1);
    ck_assert_ptr_null(lz_sgd(&ps, .lr = 0.1, .momentum = 3));
    said("momentum is 3", __LINE__ - 1);
    const lz_sgd_options none = {0};
    ck_assert_ptr_null(lz_sgd_new_at(&ps, &none, LZ_SITE));
    said("struct_size", __LINE__ - 1);
    ck_assert_int_eq(lz_optim_step(NULL), LZ_ENULL);
    said("NULL", __LINE__ - 1);
    lz_scope_end();
    lz_params_free(&ps);
}
END_TEST

START_TEST(schedules)
{
    ck_assert(lz_lr_cosine(1, 0, 100, 10, 0) == 0.1);
    ck_assert(lz_lr_cosine(1, 9, 100, 10, 0) == 1);
    ck_assert(lz_lr_cosine(1, 10, 100, 10, 0) == 1);
    ck_assert(fabs(lz_lr_cosine(1, 55, 100, 10, 0.2) - 0.6) < 1e-12);
    ck_assert(lz_lr_cosine(1, 100, 100, 10, 0.2) == 0.2);
    ck_assert(lz_lr_cosine(1, 5, 0, 0, 0.2) == 0.2);
    ck_assert(lz_lr_step(1, 29, 10, 0.5) == 0.25);
    ck_assert(lz_lr_step(1, 29, 0, 0.5) == 1);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("nn");
    TCase *t = tcase_create("nn");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, optimizers_follow_their_formulas, 0, 5);
    tcase_add_test(t, bad_options_name_the_option);
    tcase_add_loop_test(t, a_new_learning_rate_compiles_nothing, 0, 2);
    tcase_add_test(t, cross_entropy_and_accuracy);
    tcase_add_test(t, mse);
    tcase_add_test(t, initialisers_have_their_moments);
    tcase_add_test(t, linear_layer);
    tcase_add_test(t, errors_name_the_place_and_the_values);
    tcase_add_test(t, schedules);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
