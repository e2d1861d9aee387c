/* t_grad_control.c - gradients of loops and branches against central differences, first and second
 * order, on every device. */
#include "grad_check.h"

/* ---- the functions under test ---- */

static void mix(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    lz_tensor *const *x = user;
    out[0] = lz_add(lz_tanh(lz_mul(in[0], x[1])), lz_hlo_convert(i, LZ_F64));
}
static lz_tensor *f_fori(lz_tensor **x)
{
    lz_tensor *y;
    lz_fori(1, 5, x, 1, mix, x, &y);
    return y;
}

/* Two values that change places, one that nothing is done to, and an integer. */
static void swap(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)i, (void)user;
    out[0] = in[1];
    out[1] = lz_mul(lz_add(in[0], in[2]), in[1]);
    out[2] = in[2];
    out[3] = lz_add(in[3], in[3]);
}
static lz_tensor *f_fori_several(lz_tensor **x)
{
    lz_tensor *in[4] = {x[0], x[1], x[2], lz_scalar(LZ_I32, 3)}, *y[4];
    lz_fori(0, 3, in, 4, swap, NULL, y);
    return lz_add(y[0], lz_mul(y[1], y[2]));
}
static lz_tensor *f_fori_never(lz_tensor **x)
{
    lz_tensor *y;
    lz_fori(3, 3, x, 1, mix, x, &y);
    return lz_mul(y, x[1]);
}

static void rnn(lz_tensor *const *carry, lz_tensor *const *x, lz_tensor **next, lz_tensor **y,
                void *user)
{
    lz_tensor *const *w = user;
    next[0] = lz_tanh(lz_add(lz_matmul(carry[0], w[2]), x[0]));
    y[0] = lz_mul(next[0], next[0]);
}
static lz_tensor *scanned(lz_tensor **x, bool reverse)
{
    lz_tensor *h, *y;
    lz_scan(&x[0], 1, &x[1], 1, 1, rnn, x, &h, &y, .reverse = reverse);
    return lz_add(lz_sum(lz_mul(y, x[1])), lz_sum(h));
}
static lz_tensor *f_scan(lz_tensor **x)
{
    return scanned(x, false);
}
static lz_tensor *f_scan_reverse(lz_tensor **x)
{
    return scanned(x, true);
}

static void inner(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    lz_tensor *const *x = user;
    (void)i;
    out[0] = lz_mul(in[0], x[1]);
}
static void outer(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    lz_tensor *y;
    (void)i;
    lz_fori(0, 2, in, 1, inner, user, &y);
    out[0] = lz_sin(lz_add(y, in[0]));
}
static lz_tensor *f_nested(lz_tensor **x)
{
    lz_tensor *y;
    lz_fori(0, 3, x, 1, outer, x, &y);
    return y;
}

static void cube(lz_tensor *const *in, lz_tensor **out, void *user)
{
    lz_tensor *const *x = user;
    out[0] = lz_mul(lz_mul(in[0], in[0]), x[1]);
    out[1] = in[0];
}
static void wave(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_sin(in[0]);
    out[1] = lz_exp(in[0]);
}
static lz_tensor *branch(lz_tensor **x, double above)
{
    lz_tensor *y[2];
    lz_tensor *p = lz_hlo_compare(LZ_HLO_GT, lz_sum(x[0]), lz_scalar(LZ_F64, above));
    lz_cond(p, cube, wave, x, 1, 2, x, y);
    return lz_add(y[0], lz_mul(y[1], x[1]));
}
static lz_tensor *f_cond_true(lz_tensor **x)
{
    return branch(x, -1000);
}
static lz_tensor *f_cond_false(lz_tensor **x)
{
    return branch(x, 1000);
}
static lz_tensor *f_switch(lz_tensor **x)
{
    lz_body_fn *const way[] = {wave, cube, wave};
    lz_tensor *y[2], *sum = NULL;
    for (int k = 0; k < 4; k++) {
        lz_switch(lz_scalar(LZ_I32, k), way, 3, x, 1, 2, x, y);
        sum = sum ? lz_add(sum, lz_mul(y[0], y[1])) : y[0];
    }
    return sum;
}

/* A branch in a loop, and what is detached in a body. */
static void pick(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    lz_tensor *y[2];
    lz_cond(lz_hlo_compare(LZ_HLO_LT, i, lz_scalar(LZ_I64, 2)), cube, wave, in, 1, 2, user, y);
    out[0] = lz_tanh(lz_add(y[0], y[1]));
}
static lz_tensor *f_cond_in_loop(lz_tensor **x)
{
    lz_tensor *y;
    lz_fori(0, 4, x, 1, pick, x, &y);
    return y;
}

/* Worked out again for the gradient. */
static void layers(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = in[0];
    for (int i = 0; i < 3; i++)
        out[0] = lz_tanh(lz_add(lz_mul(out[0], in[1]), lz_sin(out[0])));
}
static lz_tensor *f_checkpoint(lz_tensor **x)
{
    lz_tensor *y, *z;
    lz_checkpoint(layers, x, 2, 1, NULL, &y);
    lz_tensor *in[2] = {y, x[1]};
    lz_checkpoint(layers, in, 2, 1, NULL, &z);
    return lz_mul(z, y);
}

static const gcase cases[] = {
    {"checkpoint", f_checkpoint, 2, {S(3), S(3)}, 0.3, 0.9, true},
    {"fori", f_fori, 2, {S(3), S(3)}, 0.3, 0.9, true},
    {"fori_several", f_fori_several, 3, {S(2), S(2), S(2)}, 0.3, 0.9, true},
    {"fori_never", f_fori_never, 2, {S(3), S(3)}, 0.3, 0.9, true},
    {"scan", f_scan, 3, {S(2, 3), S(4, 2, 3), S(3, 3)}, -0.8, 0.8, true},
    {"scan_reverse", f_scan_reverse, 3, {S(2, 3), S(4, 2, 3), S(3, 3)}, -0.8, 0.8, false},
    {"nested", f_nested, 2, {S(3), S(3)}, 0.3, 0.9, true},
    {"cond_true", f_cond_true, 2, {S(3), S(3)}, 0.3, 0.9, true},
    {"cond_false", f_cond_false, 2, {S(3), S(3)}, 0.3, 0.9, true},
    {"switch", f_switch, 2, {S(3), S(3)}, 0.3, 0.9, false},
    {"cond_in_loop", f_cond_in_loop, 2, {S(2), S(2)}, 0.3, 0.9, true},
};
enum { NCASES = sizeof cases / sizeof *cases };

START_TEST(first_order)
{
    ck_assert_int_eq(lz_set_device(devices[_i % 2]), LZ_OK);
    compare(&cases[_i / 2], 1);
}
END_TEST

START_TEST(second_order)
{
    ck_assert_int_eq(lz_set_device(devices[1]), LZ_OK);
    if (cases[_i].second)
        compare(&cases[_i], 2);
}
END_TEST

/* ---- what has none ---- */

static lz_tensor *small(lz_tensor *const *in, void *user)
{
    (void)user;
    return lz_hlo_compare(LZ_HLO_LT, in[0], lz_scalar(LZ_F64, 100));
}
static void twice(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_add(in[0], in[0]);
}
static lz_tensor *below_ten(lz_tensor *const *in, void *user)
{
    (void)user;
    return lz_hlo_compare(LZ_HLO_LT, in[0], lz_hlo_constant(LZ_I64, 10));
}
static void count(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_add(in[0], lz_hlo_constant(LZ_I64, 1));
    out[1] = lz_mul(in[1], in[1]);
}

/* A loop of unknown length has no gradient, and one that only looks counted has not either. */
START_TEST(unknown_loops_say_so)
{
    lz_tensor *x = lz_scalar(LZ_F64, 1.5), *y[2], *g;
    ck_assert_int_eq(lz_while(&x, 1, small, twice, NULL, y), LZ_OK);
    ck_assert_int_eq(lz_grad(y[0], &x, 1, &g), LZ_EGRAD);
    ck_assert_msg(strstr(lz_last_error_text(), "lz_fori"), "%s", lz_last_error_text());
    lz_tensor *in[2] = {lz_hlo_constant(LZ_I64, 8), x};
    ck_assert_int_eq(lz_while(in, 2, below_ten, count, NULL, y), LZ_OK);
    ck_assert_double_eq(lz_item(y[1]), 1.5 * 1.5 * 1.5 * 1.5);
    ck_assert_int_eq(lz_grad(y[1], &x, 1, &g), LZ_EGRAD);
}
END_TEST

static void half(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)i, (void)user;
    out[0] = lz_mul(in[0], lz_detach(in[0]));
}

/* lz_detach in a body holds in the gradient of the body: x^2 counts as x times a number. */
START_TEST(detach_holds_in_a_body)
{
    lz_tensor *x = lz_scalar(LZ_F64, 3), *y, *g;
    ck_assert_int_eq(lz_fori(0, 2, &x, 1, half, NULL, &y), LZ_OK);
    ck_assert_int_eq(lz_grad(y, &x, 1, &g), LZ_OK);
    ck_assert_double_eq(lz_item(y), 81);
    ck_assert_double_eq(lz_item(g), 9 * 3);
}
END_TEST

/* The gradient of a checkpoint is that of the same without, to the last bit that the order of sums
 * leaves. */
START_TEST(checkpoints_change_nothing)
{
    double v[2][2][3];
    for (int apart = 0; apart < 2; apart++) {
        lz_tensor *x[2] = {lz_from_host(LZ_F64, LZ_SHAPE(3), (double[]){0.3, -0.7, 1.5}),
                           lz_from_host(LZ_F64, LZ_SHAPE(3), (double[]){1.1, 0.2, -0.4})},
                  *y, *g[2];
        if (apart)
            ck_assert_int_eq(lz_checkpoint(layers, x, 2, 1, NULL, &y), LZ_OK);
        else
            layers(x, &y, NULL);
        ck_assert_int_eq(lz_grad(lz_sum(y), x, 2, g), LZ_OK);
        for (int i = 0; i < 2; i++)
            ck_assert_int_eq(lz_to_host(g[i], v[apart][i], sizeof v[apart][i]), LZ_OK);
    }
    for (int i = 0; i < 6; i++)
        ck_assert_double_eq_tol((&v[0][0][0])[i], (&v[1][0][0])[i], 1e-14);
    lz_tensor *out;
    ck_assert_int_eq(lz_checkpoint(NULL, NULL, 0, 1, NULL, &out), LZ_ENULL);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("grad_control");
    TCase *t = tcase_create("control");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, first_order, 0, 2 * NCASES);
    tcase_add_loop_test(t, second_order, 0, NCASES);
    tcase_add_test(t, unknown_loops_say_so);
    tcase_add_test(t, detach_holds_in_a_body);
    tcase_add_test(t, checkpoints_change_nothing);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
