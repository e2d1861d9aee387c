/* t_two_devices.c - gradients of a network whose halves are on two GPUs, on the library that stands
 * in for the driver. */
#include "../runtime/rt.h"
#include "base/log.h"
#include "support/mock.h"

/* Half of a network on either GPU: what the gradient is of goes there, its gradient comes back. */
START_TEST(gradients_in_two_halves)
{
    enum { N = 6 };
    OK(lz_mock_use());
    OK(lz_set_device("CUDA:0"));
    float a[N * N], b[N * N], x[N], want[2][N * N], got[N * N];
    rt_fill(a, N * N);
    rt_fill(b, N * N);
    rt_fill(x, N);
    lz_shape square = LZ_SHAPE(N, N), row = LZ_SHAPE(1, N);
    lz_tensor *g[2], *in = lz_from_host(LZ_F32, row, x);
    lz_tensor *w[2] = {lz_from_host(LZ_F32, square, a), lz_from_host(LZ_F32, square, b)};
    OK(lz_grad(lz_sum(lz_sin(lz_matmul(lz_tanh(lz_matmul(in, w[0])), w[1]))), w, 2, g));
    for (int i = 0; i < 2; i++)
        OK(lz_to_host(g[i], want[i], sizeof want[i]));

    lz_tensor *first = lz_tanh(lz_matmul(in, w[0])), *second[2], *back;
    lz_tensor *there = lz_to_device(first, "CUDA:1"), *w1 = lz_to_device(w[1], "CUDA:1");
    lz_tensor *loss = lz_sum(lz_sin(lz_matmul(there, w1)));
    OK(lz_grad(loss, ((lz_tensor *[]){there, w1}), 2, second)); /* on CUDA:1, the thread is not */
    back = lz_to_device(second[0], "CUDA:0");
    OK(lz_grad(first, w, 1, g, .grad_output = back));
    OK(lz_to_host(g[0], got, sizeof got));
    for (int i = 0; i < N * N; i++)
        ck_assert_float_eq_tol(got[i], want[0][i], 1e-5f);
    OK(lz_to_host(second[1], got, sizeof got));
    for (int i = 0; i < N * N; i++)
        ck_assert_float_eq_tol(got[i], want[1][i], 1e-5f);
    lz_tensor *y = lz_sum(lz_tanh(w1)), *dy; /* and forward */
    OK(lz_jvp(&y, 1, &w1, &w1, 1, &dy));
    OK(lz_to_host(dy, got, sizeof got[0]));
    double slope = 0;
    for (int i = 0; i < N * N; i++)
        slope += b[i] * (1 - pow(tanh(b[i]), 2));
    ck_assert_float_eq_tol(got[0], (float)slope, 1e-4f);
    lz_tensor *none[1]; /* the way back ends at the copy */
    FAILS(lz_grad(lz_sum(there), w, 1, none), LZ_EGRAD, "");
}
END_TEST

static int warned;

static void listen(lz_log_level level, const char *module, const char *message, void *user)
{
    (void)level, (void)module, (void)user;
    warned += strstr(message, "gradients end at the copy") != NULL;
}

/* Nothing is trained silently by half: a copy of what is made of a parameter says so. */
START_TEST(lost_gradients_are_told)
{
    float x[4] = {1, 2, 3, 4};
    OK(lz_mock_use());
    OK(lz_set_device("CUDA:0"));
    lz_log_set_callback(listen, NULL);
    lz_tensor *w = lz_from_host(LZ_F32, LZ_SHAPE(4), x),
              *data = lz_from_host(LZ_F32, LZ_SHAPE(4), x);
    OK(lz_requires_grad(w, true));
    (void)lz_to_device(lz_sin(data), "CUDA:1");
    ck_assert_int_eq(warned, 0);
    (void)lz_to_device(lz_detach(lz_mul(w, data)), "CUDA:0"); /* it is there */
    ck_assert_int_eq(warned, 0);
    (void)lz_to_device(lz_sin(lz_mul(w, data)), "CUDA:1");
    ck_assert_int_eq(warned, 1);
    (void)lz_to_device(w, "CPU");
    ck_assert_int_eq(warned, 1); /* once */
    lz_log_set_callback(NULL, NULL);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("two_devices");
    TCase *t = tcase_create("two_devices");
    rt_use("CUDA");
    tcase_add_test(t, gradients_in_two_halves);
    tcase_add_test(t, lost_gradients_are_told);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
