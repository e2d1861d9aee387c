/* t_grad_rounds.c - the number of loop iterations that a program runs to compute a value and its
 * gradient. */
#include "ir/counted.h"
#include "lower/pass.h"
#include "suite.h"
#include <lazuli/control.h>
#include <lazuli/debug.h>
#include <lazuli/grad.h>
#include <lazuli/ops.h>
#include <lazuli/tensor_ops.h>
#include <lazuli/transforms.h>
#include <string.h>

#define OK(x) ck_assert_msg((x) == LZ_OK, "%s", lz_last_error_text())

/* Bodies of loops in loops are counted as often as they run. */
static int64_t rounds_of(const lz_func *f)
{
    int64_t n = 0;
    for (uint32_t i = 0; i < f->ninst; i++)
        if (lz_inst_op(&f->insts[i]) == LZ_OP_WHILE)
            n += lz_control_counted(f->insts[i].sig) *
                 (1 + rounds_of(LZ_ATTR(loop, f->insts[i].sig->attr)->body));
    return n;
}

/* Of the program that computes all of t. */
static int64_t rounds_to_compute(lz_tensor **t, size_t n)
{
    static char text[1 << 18];
    lz_func *f, *g = NULL;
    size_t size = lz_dump_graph(t, n, "stablehlo", text, sizeof text);
    ck_assert_msg(size && size < sizeof text, "%s", lz_last_error_text());
    ck_assert_msg(lz_func_parse(text, strlen(text), "graph", &f) == LZ_OK, "%s",
                  lz_last_error_text());
    ck_assert_int_eq(lz_passes_run(f, "dce,fuse_loops,simplify_control,dce", NULL, &g), LZ_OK);
    int64_t rounds = rounds_of(g ? g : f);
    lz_func_free(g);
    lz_func_free(f);
    return rounds;
}

static void cell(lz_tensor *const *carry, lz_tensor *const *x, lz_tensor **next, lz_tensor **y,
                 void *user)
{
    lz_tensor *const *w = user;
    next[0] = lz_tanh(lz_add(lz_matmul(carry[0], *w), x[0]));
    y[0] = lz_mul(next[0], next[0]);
}
static void scanned(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    lz_tensor *h, *y, *w = in[2];
    OK(lz_scan(&in[0], 1, &in[1], 1, 1, cell, &w, &h, &y));
    out[0] = lz_add(lz_sum(lz_mul(y, in[1])), lz_sum(h));
}

/* Two values that start alike and part. */
static void turn(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)i, (void)user;
    out[0] = lz_tanh(lz_mul(in[0], in[1]));
    out[1] = lz_sin(in[1]);
}
static void turns(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)i;
    OK(lz_fori(0, 3, in, 2, turn, user, out));
}

static lz_tensor *ramp(lz_shape s)
{
    double v[12];
    for (int i = 0; i < 12; i++)
        v[i] = 0.1 * i - 0.5;
    return lz_from_host(LZ_F64, s, v);
}

START_TEST(a_value_and_its_gradient_run_a_scan_once)
{
    lz_tensor *x[3] = {ramp(LZ_SHAPE(2)), ramp(LZ_SHAPE(5, 2)), ramp(LZ_SHAPE(2, 2))}, *t[4];
    OK(lz_value_and_grad(scanned, x, 3, 1, NULL, t, t + 1));
    ck_assert_int_eq(rounds_to_compute(t, 1), 5);
    ck_assert_int_eq(rounds_to_compute(t + 1, 3), 2 * 5); /* forwards and back */
    ck_assert_int_eq(rounds_to_compute(t, 4), 2 * 5);
}
END_TEST

START_TEST(loops_in_loops)
{
    lz_tensor *x = ramp(LZ_SHAPE(2)), *same[2] = {x, x}, *y[2], *t[2];
    OK(lz_fori(0, 4, same, 2, turns, NULL, y));
    t[0] = lz_sum(lz_mul(y[0], y[1]));
    OK(lz_grad(t[0], &x, 1, t + 1));
    ck_assert_int_eq(rounds_to_compute(t, 1), 4 * (1 + 3));
    /* forwards; on the way back each part forwards again, and back */
    ck_assert_int_eq(rounds_to_compute(t, 2), 4 * (1 + 3) + 4 * (1 + 3 + 3));
}
END_TEST

/* A backward after the value has been used in the same step. */
START_TEST(backward_after_use)
{
    lz_tensor *x[3] = {ramp(LZ_SHAPE(2)), ramp(LZ_SHAPE(5, 2)), ramp(LZ_SHAPE(2, 2))}, *t[3];
    for (int i = 0; i < 3; i++)
        OK(lz_requires_grad(x[i], true));
    scanned(x, t, NULL);
    t[1] = lz_mul_scalar(t[0], 2);
    OK(lz_backward(lz_mul(t[0], t[0])));
    t[2] = lz_grad_of(x[2]);
    ck_assert_int_eq(rounds_to_compute(t, 3), 2 * 5);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("grad_rounds");
    TCase *t = tcase_create("rounds");
    tcase_add_test(t, a_value_and_its_gradient_run_a_scan_once);
    tcase_add_test(t, loops_in_loops);
    tcase_add_test(t, backward_after_use);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
