/* t_value_check.c - LAZULI_CHECK=nan and its kin: the operation that makes the first NaN or
 * infinity is named with line, scope, element and operands, wherever it is: behind a select, in a
 * loop, a branch or a function, on a mesh, on a GPU; and what is no mistake is left alone. */
#include "rt.h"
#include "support/mock.h"
#include <fcntl.h>
#include <pthread.h>

enum { N = 8 };

static void check(const char *device, const char *what)
{
    rt_use(device);
    setenv("LAZULI_CHECK", what, 1);
}

static lz_tensor *numbers(lz_dtype d, float first, float step)
{
    float v[N];
    for (int i = 0; i < N; i++)
        v[i] = first + (float)i * step;
    return lz_to(lz_from_host(LZ_F32, LZ_SHAPE(2, N / 2), v), d);
}

/* The last error names the operation at this line of this file. */
static void ck_names(const char *op, int line, const char *more)
{
    char at[64];
    const char *text = lz_last_error_text();
    snprintf(at, sizeof at, "LAZULI_CHECK: %s at t_value_check.c:%d", op, line);
    ck_assert_msg(strstr(text, at) && strstr(text, more), "no '%s' and '%s' in: %s", at, more,
                  text);
}

START_TEST(the_first_operation)
{
    int line = 0;
    check(rt_devices[_i], "nan");
    OK(lz_scope_begin());
    lz_tensor *x = numbers(LZ_F32, 3, -1); /* 3 2 1 0; -1 ... */
    lz_name_scope_begin("head");
    lz_tensor *y = (line = __LINE__, lz_log(x));
    lz_name_scope_end();
    lz_tensor *z = lz_sqrt(lz_sub_scalar(lz_add(lz_mul(y, y), x), 100));
    lz_retain(z);
    FAILS(lz_mark_step(), LZ_ECHECK, "(head) makes ");
    ck_names("log", line, "nan of -1 at [1, 0] of f32[2,4]");
    /* its results are there, and the next runs of the program are not told of again */
    float out[N];
    OK(lz_to_host(z, out, sizeof out));
    ck_assert(isnan(out[N - 1]));
    OK(lz_release(z));
    OK(lz_scope_end());
    OK(lz_mark_step());
}
END_TEST

/* The order is that of the program, whatever the graph visits first. */
START_TEST(the_earlier_of_two)
{
    check(rt_devices[_i], "nan");
    lz_tensor *x = numbers(LZ_F32, -1, 0);
    int line = __LINE__ + 1;
    lz_tensor *first = lz_log(x);
    lz_tensor *second = lz_sqrt(x);
    lz_retain(lz_add(second, first));
    FAILS(lz_mark_step(), LZ_ECHECK, "nan of -1");
    ck_names("log", line, "");
}
END_TEST

/* The same program finds it in the run in which it first comes. */
START_TEST(a_later_run)
{
    check(rt_devices[_i], "nan");
    for (int i = 0; i < 6; i++) {
        OK(lz_scope_begin());
        int line = __LINE__ + 1;
        lz_tensor *r = lz_retain(lz_sqrt(numbers(LZ_F32, (float)(3 - i), 0)));
        if (i == 4) {
            FAILS(lz_mark_step(), LZ_ECHECK, "of -1 ");
            ck_names("sqrt", line, "");
        } else {
            OK(lz_mark_step());
        }
        OK(lz_release(r));
        OK(lz_scope_end());
    }
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), 1);
}
END_TEST

START_TEST(a_read)
{
    check(rt_devices[_i], "nan");
    float v;
    int line = __LINE__ + 1;
    lz_tensor *x = lz_log(lz_sum(numbers(LZ_F32, -1, 0)));
    FAILS(lz_to_host(x, &v, sizeof v), LZ_ECHECK, "lz_to_host: LAZULI_CHECK");
    ck_names("log", line, "of -8 at [] of f32");
}
END_TEST

START_TEST(hidden_by_a_select)
{
    int line = 0;
    check(rt_devices[_i], _i ? "nan:all" : "nan");
    lz_tensor *x = numbers(LZ_F32, 3, -1);
    lz_tensor *y = (line = __LINE__, lz_log(x));
    lz_retain(lz_where(lz_gt_scalar(x, 0.5), y, x));
    if (_i) {
        FAILS(lz_mark_step(), LZ_ECHECK, "");
        ck_names("log", line, "of -1 at [1, 0]");
    } else {
        OK(lz_mark_step());
    }
}
END_TEST

START_TEST(infinities)
{
    int line = 0;
    check(rt_devices[1], _i ? "nonfinite" : "nan");
    lz_tensor *x = numbers(LZ_F32, 80, 10);
    lz_tensor *y = lz_retain((line = __LINE__, lz_exp(x)));
    if (_i) {
        FAILS(lz_mark_step(), LZ_ECHECK, "inf of 90 at [0, 1]");
        ck_names("exponential", line, "");
        return;
    }
    OK(lz_mark_step());
    OK(lz_sync(&y, 1, true));
    lz_tensor *z = lz_exp(numbers(LZ_F32, 80, 10));
    int sub = __LINE__ + 1;
    lz_tensor *nan = lz_retain(lz_sub(z, z));
    FAILS(lz_mark_step(), LZ_ECHECK, "nan of inf, inf at [0, 1]");
    ck_names("subtract", sub, "; before it, exponential at t_value_check.c:");
    OK(lz_release(nan));
}
END_TEST

/* Infinities by design, and NaN that the program was given. */
START_TEST(no_mistakes)
{
    check(rt_devices[_i], "nan:all");
    float v[N] = {1, NAN, 3, -INFINITY, 5, 6, 7, 8};
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(2, 4), v);
    lz_retain(lz_softmax(x, 1));
    lz_retain(lz_amax(numbers(LZ_F32, 1, 1)));
    lz_retain(lz_matmul(x, lz_transpose(x, 0, 1)));
    lz_retain(lz_log(lz_zeros(LZ_F32, LZ_SHAPE(3))));
    lz_retain(lz_randn(LZ_F32, LZ_SHAPE(1000)));
    OK(lz_mark_step());
}
END_TEST

static const lz_dtype floats[] = {LZ_F16, LZ_BF16, LZ_F32, LZ_F64, LZ_C64, LZ_C128};

START_TEST(dtypes)
{
    check(rt_devices[1], "nan");
    lz_dtype d = floats[_i];
    lz_tensor *x = numbers(d, 1, 0), *zero = lz_zeros(d, LZ_SHAPE(2, 4));
    int line = __LINE__ + 1;
    lz_retain(lz_div(lz_mul(x, zero), zero));
    FAILS(lz_mark_step(), LZ_ECHECK, "at [0, 0] of ");
    ck_names("divide", line, _i < 4 ? "nan of 0, 0" : "(nan, nan) of (0, 0), (0, 0)");
}
END_TEST

START_TEST(products)
{
    check(rt_devices[1], "nan");
    lz_tensor *x = numbers(LZ_F32, 3e38f, 0), *y = lz_mul(x, lz_sign(numbers(LZ_F32, -2, 1)));
    int line = __LINE__ + 1;
    lz_retain(lz_matmul(lz_mul_scalar(y, 10), lz_transpose(x, 0, 1)));
    FAILS(lz_mark_step(), LZ_ECHECK, "of f32[2,2]; operands of magnitudes up to inf, 3");
    ck_names("dot_general", line, "before it, multiply");
}
END_TEST

static int inside;

static void root_less(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)i, (void)user;
    out[0] = lz_sub_scalar((inside = __LINE__, lz_sqrt(in[0])), 1);
}

START_TEST(in_a_loop)
{
    check(rt_devices[_i], "nan");
    lz_tensor *x = numbers(LZ_F32, 5, 1), *y;
    int line = __LINE__ + 1;
    OK(lz_fori(0, 5, &x, 1, root_less, NULL, &y));
    lz_retain(y);
    char at[64];
    snprintf(at, sizeof at, "; in while at t_value_check.c:%d", line);
    FAILS(lz_mark_step(), LZ_ECHECK, at);
    ck_names("sqrt", inside, "makes ");
}
END_TEST

static void take_log(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = (inside = __LINE__, lz_log(in[0]));
}

static void take_exp(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_exp(in[0]);
}

START_TEST(in_a_branch)
{
    check(rt_devices[_i], "nan");
    lz_tensor *x = numbers(LZ_F32, -5, 0), *y, *yes = lz_lt_scalar(lz_sum(x), 0);
    OK(lz_cond(yes, take_log, take_exp, &x, 1, 1, NULL, &y));
    lz_retain(y);
    FAILS(lz_mark_step(), LZ_ECHECK, "; in if at t_value_check.c");
    ck_names("log", inside, "nan of -5");
}
END_TEST

START_TEST(in_a_function)
{
    check(rt_devices[_i], "nan");
    lz_tensor *x = lz_retain(numbers(LZ_F32, 1, 1)), *bad = lz_retain(numbers(LZ_F32, -1, 0)), *y;
    lz_function *f;
    OK(lz_function_trace(take_log, NULL, &x, 1, 1, &f, .donate = (bool[]){true}));
    OK(lz_mark_step());
    FAILS(lz_function_call(f, &bad, 1, &y, 1), LZ_ECHECK, "nan of -1");
    ck_names("log", inside, "");
    OK(lz_function_call(f, &x, 1, &y, 1));
    float out[N];
    OK(lz_to_host(y, out, sizeof out));
    ck_assert_float_eq_tol(out[1], logf(2), 1e-6f);
    lz_function_free(f);
}
END_TEST

/* What a call reads, and computes first. */
START_TEST(before_a_function)
{
    check(rt_devices[_i], "nan");
    lz_tensor *x = lz_retain(numbers(LZ_F32, 1, 1)), *y;
    lz_function *f;
    OK(lz_function_trace(take_exp, NULL, &x, 1, 1, &f));
    int line = __LINE__ + 1;
    lz_tensor *bad = lz_retain(lz_log(lz_neg(x)));
    FAILS(lz_function_call(f, &bad, 1, &y, 1), LZ_ECHECK, "nan of -1");
    ck_names("log", line, "");
    lz_function_free(f);
}
END_TEST

/* What a step would donate is still there when it is searched. */
START_TEST(donated_parameters)
{
    check(rt_devices[_i], "nan");
    lz_tensor *w = lz_retain(numbers(LZ_F32, 4, 0));
    OK(lz_mark_step());
    for (int i = 0; i < 6; i++) {
        OK(lz_scope_begin());
        int line = __LINE__ + 1;
        OK(lz_assign(w, lz_sub_scalar(lz_sqrt(w), 1)));
        lz_status s = lz_mark_step();
        OK(lz_scope_end());
        if (s == LZ_OK)
            continue;
        ck_assert_int_eq(i, 3); /* 4, 1, 0, -1 */
        ck_assert_int_eq(s, LZ_ECHECK);
        ck_names("sqrt", line, "nan of -1");
        return;
    }
    ck_abort_msg("it was not found");
}
END_TEST

/* It is searched without doing again what the program did. */
START_TEST(prints_once)
{
    char path[] = "/tmp/lz-check-XXXXXX", text[256] = "";
    int fd = mkstemp(path);
    check(rt_devices[_i], "nan");
    fflush(stdout);
    int old = dup(1);
    dup2(fd, 1);
    lz_tensor *x = numbers(LZ_F32, -2, 0);
    lz_tensor *y = lz_retain(lz_log(x));
    (void)lz_debug_print("saw {}", lz_sum(x));
    lz_status s = lz_mark_step();
    fflush(stdout);
    dup2(old, 1);
    ck_assert_int_eq(s, LZ_ECHECK);
    ck_assert(pread(fd, text, sizeof text - 1, 0) > 0);
    ck_assert_str_eq(text, "saw -16.\n");
    (void)unlink(path);
    OK(lz_release(y));
}
END_TEST

START_TEST(on_a_gpu)
{
    check("CPU", "nan");
    OK(lz_mock_use());
    OK(lz_set_device("CUDA:0"));
    int line = __LINE__ + 1;
    lz_retain(lz_log(numbers(LZ_F32, 3, -1)));
    FAILS(lz_mark_step(), LZ_ECHECK, "nan of -1 at [1, 0]");
    ck_names("log", line, "");
}
END_TEST

START_TEST(on_a_mesh)
{
    check("CPU", "nan");
    setenv("CPU_NUM_DEVICES", "2", 1);
    setenv("XLA_USE_SPMD", "1", 1);
    lz_mesh *m = lz_mesh_new(NULL, (int64_t[]){2}, (const char *[]){"data"}, 1);
    ck_assert_ptr_nonnull(m);
    lz_tensor *x = numbers(LZ_F32, 3, -1);
    OK(lz_mark_sharding(x, m, LZ_SPEC("data", NULL)));
    int line = __LINE__ + 1;
    lz_retain(lz_log(x));
    FAILS(lz_mark_step(), LZ_ECHECK, "nan of -1 at [1, 0]");
    ck_names("log", line, "");
}
END_TEST

static void *replica(void *device)
{
    OK(lz_set_device(device));
    OK(lz_scope_begin());
    int line = __LINE__ + 1;
    lz_tensor *x = lz_retain(lz_all_reduce("sum", lz_log(numbers(LZ_F32, -1, 0))));
    FAILS(lz_mark_step(), LZ_ECHECK, "gives nan at [0, 0]; which operation makes it is not");
    ck_names("all_reduce", line, "");
    OK(lz_release(x));
    OK(lz_scope_end());
    return NULL;
}

/* A program of several replicas is not run by the reference: its result is named. */
START_TEST(replicas)
{
    check("CPU", "nan");
    setenv("CPU_NUM_DEVICES", "2", 1);
    pthread_t other;
    ck_assert_int_eq(pthread_create(&other, NULL, replica, "CPU:1"), 0);
    (void)replica("CPU:0");
    pthread_join(other, NULL);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("value check");
    TCase *t = tcase_create("value check");
    tcase_add_loop_test(t, the_first_operation, 0, 2);
    tcase_add_loop_test(t, the_earlier_of_two, 0, 2);
    tcase_add_loop_test(t, a_later_run, 0, 2);
    tcase_add_loop_test(t, a_read, 0, 2);
    tcase_add_loop_test(t, hidden_by_a_select, 0, 2);
    tcase_add_loop_test(t, infinities, 0, 2);
    tcase_add_loop_test(t, no_mistakes, 0, 2);
    tcase_add_loop_test(t, dtypes, 0, sizeof floats / sizeof *floats);
    tcase_add_test(t, products);
    tcase_add_loop_test(t, in_a_loop, 0, 2);
    tcase_add_loop_test(t, in_a_branch, 0, 2);
    tcase_add_loop_test(t, in_a_function, 0, 2);
    tcase_add_loop_test(t, before_a_function, 0, 2);
    tcase_add_loop_test(t, donated_parameters, 0, 2);
    tcase_add_loop_test(t, prints_once, 0, 2);
    tcase_add_test(t, on_a_gpu);
    tcase_add_test(t, on_a_mesh);
    tcase_add_test(t, replicas);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
