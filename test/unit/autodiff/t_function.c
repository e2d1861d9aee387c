/* t_function.c - traced functions: values, number of compilations, donation, random numbers,
 * errors. */
#include "../runtime/rt.h"
#include <stdlib.h>

static lz_tensor *vec(int n, const float *v)
{
    return lz_from_host(LZ_F32, LZ_SHAPE(n), v);
}

static int recorded;

/* One step of gradient descent on sum((w * x - y)^2): new weights and the loss. */
static void step(lz_tensor *const *in, lz_tensor **out, void *user)
{
    lz_tensor *w = in[0], *d = lz_sub(lz_mul(w, in[1]), in[2]), *loss = lz_sum(lz_mul(d, d)), *g;
    (void)lz_grad(loss, &w, 1, &g);
    out[0] = lz_sub(w, lz_mul(g, user));
    out[1] = loss;
    recorded++;
}

START_TEST(a_step_is_recorded_once)
{
    rt_use(rt_devices[_i]);
    lz_tensor *w = vec(3, (float[]){0, 0, 0}), *x = vec(3, (float[]){1, 2, 0.5f}),
              *y = vec(3, (float[]){3, 2, 1}), *in[3] = {w, x, y}, *out[2];
    lz_function *f;
    OK(lz_function_trace(step, lz_scalar(LZ_F32, 0.05), in, 3, 2, &f, .name = "step",
                         .donate = (bool[]){true, false, false}));
    float want[3] = {0}, xs[3] = {1, 2, 0.5f}, ys[3] = {3, 2, 1};
    for (int i = 0; i < 20; i++) {
        float loss = 0;
        for (int k = 0; k < 3; k++) {
            float d = want[k] * xs[k] - ys[k];
            loss += d * d;
            want[k] -= 2 * d * xs[k] * 0.05f;
        }
        OK(lz_function_call(f, in, 3, out, 2));
        ck_assert_int_eq(lz_status_of(in[0]), LZ_ESTALE); /* given away */
        rt_expect(out[1], &loss, 1, 1e-5);
        in[0] = out[0];
    }
    rt_expect(in[0], want, 3, 1e-5);
    ck_assert_int_eq(recorded, 1);
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), 1);
    lz_function_free(f);
    rt_expect(in[0], want, 3, 1e-5);
}
END_TEST

/* Arguments, constants, outside values and one value twice as results; pending arguments;
 * numbers. */
static void odd(lz_tensor *const *in, lz_tensor **out, void *user)
{
    out[0] = in[0];
    out[1] = user;
    out[2] = lz_add(in[0], user);
    out[3] = out[2];
    out[4] = lz_hlo_constant(LZ_F32, 7);
    out[5] = in[1];
}

START_TEST(any_value_may_be_a_result)
{
    rt_use(rt_devices[_i]);
    lz_tensor *x = vec(2, (float[]){1, 2}), *keep = lz_add(x, x),
              *in[2] = {x, lz_scalar(LZ_F32, 5)}, *out[6];
    lz_function *f;
    OK(lz_function_trace(odd, keep, in, 2, 6, &f));
    for (int i = 0; i < 3; i++) {
        in[0] = i ? lz_mul(x, lz_scalar(LZ_F32, 3)) : x;
        in[1] = lz_scalar(LZ_F32, i);
        OK(lz_function_call(f, in, 2, out, 6));
        float a[2] = {i ? 3 : 1, i ? 6 : 2}, s[2] = {a[0] + 2, a[1] + 4};
        rt_expect(out[0], a, 2, 0);
        rt_expect(out[1], (float[]){2, 4}, 2, 0);
        rt_expect(out[2], s, 2, 0);
        rt_expect(out[3], s, 2, 0);
        rt_expect(out[4], (float[]){7}, 1, 0);
        rt_expect(out[5], (float[]){(float)i}, 1, 0);
        rt_expect(lz_add(out[0], out[3]), (float[]){a[0] + s[0], a[1] + s[1]}, 2, 0);
        OK(lz_mark_step());
    }
    rt_expect(x, (float[]){1, 2}, 2, 0);
    rt_expect(keep, (float[]){2, 4}, 2, 0);
    lz_function_free(f);
}
END_TEST

static void noise(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_add(lz_rand(LZ_F32, LZ_SHAPE(4)), in[0]);
}

START_TEST(calls_draw_their_own_numbers)
{
    rt_use(rt_devices[_i]);
    lz_tensor *zero = lz_full(LZ_F32, LZ_SHAPE(4), 0), *out;
    lz_function *f;
    float got[24];
    OK(lz_function_trace(noise, NULL, &zero, 1, 1, &f));
    for (int i = 0; i < 5; i++) {
        OK(lz_function_call(f, &zero, 1, &out, 1));
        OK(lz_to_host(out, got + 4 * i, 16));
    }
    OK(lz_to_host(lz_rand(LZ_F32, LZ_SHAPE(4)), got + 20, 16));
    for (int i = 0; i < 24; i++)
        for (int j = 0; j < i; j++)
            ck_assert(got[i] != got[j]);
    lz_function_free(f);
}
END_TEST

/* What others hold is not taken over, though its handle is given away. */
static void twice(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_add(in[0], in[0]);
}

START_TEST(donation_takes_only_what_is_free)
{
    rt_use(rt_devices[_i]);
    lz_tensor *x = vec(2, (float[]){1, 2}), *out, *y;
    lz_function *f;
    OK(lz_function_trace(twice, NULL, &x, 1, 1, &f, .donate = (bool[]){true}));
    y = lz_detach(x); /* pending: needs x's memory */
    OK(lz_function_call(f, &x, 1, &out, 1));
    float v[2];
    FAILS(lz_to_host(x, v, sizeof v), LZ_ESTALE, "donated to lz_function_call");
    rt_expect(y, (float[]){1, 2}, 2, 0);
    rt_expect(out, (float[]){2, 4}, 2, 0);
    lz_tensor *same[2] = {out, out};
    FAILS(lz_function_call(f, same, 2, &y, 1), LZ_EINVAL, "2 arguments and 1 results");
    OK(lz_function_call(f, &out, 1, &y, 1));
    rt_expect(y, (float[]){4, 8}, 2, 0);
    lz_function_free(f);
}
END_TEST

static void reads(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = in[0];
    (void)lz_item(lz_sum(in[0]));
}
static void nothing(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)in, (void)out, (void)user;
}
static void clashes(lz_tensor *const *in, lz_tensor **out, void *user)
{
    out[0] = lz_matmul(in[0], user);
}

START_TEST(what_goes_wrong_is_named)
{
    rt_use(rt_devices[_i]);
    lz_tensor *x = vec(2, (float[]){1, 2}), *z = vec(3, (float[]){1, 2, 3}), *out;
    lz_function *f = (lz_function *)(void *)x;
    FAILS(lz_function_trace(nothing, NULL, &x, 1, 1, &f), LZ_ENULL, "result 0 was not given");
    ck_assert_ptr_null(f);
    FAILS(lz_function_trace(clashes, z, &x, 1, 1, &f), LZ_ESHAPE, "lz_matmul");
    FAILS(lz_function_trace(NULL, NULL, &x, 1, 1, &f), LZ_ENULL, "fn");
    FAILS(lz_function_trace(twice, NULL, &x, 1, 0, &f), LZ_EINVAL, "0 results");
    OK(lz_function_trace(reads, NULL, &x, 1, 1, &f)); /* the read fails, not the function */
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "only inside the body"));
    FAILS(lz_function_call(f, &z, 1, &out, 1), LZ_ESHAPE,
          "in[0] is f32[3], but the function was recorded for f32[2]");
    BAD(out, LZ_ESHAPE, "lz_function_call");
    FAILS(lz_function_call(f, &(lz_tensor *){NULL}, 1, &out, 1), LZ_ENULL, "in[0]");
    FAILS(lz_function_call(NULL, &x, 1, &out, 1), LZ_ENULL, "the function");
    OK(lz_function_call(f, &x, 1, &out, 1));
    rt_expect(out, (float[]){1, 2}, 2, 0);
    lz_function_free(f);
    lz_function_free(NULL);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("runtime/function");
    TCase *t = tcase_create("function");
    tcase_add_loop_test(t, a_step_is_recorded_once, 0, 2);
    tcase_add_loop_test(t, any_value_may_be_a_result, 0, 2);
    tcase_add_loop_test(t, calls_draw_their_own_numbers, 0, 2);
    tcase_add_loop_test(t, donation_takes_only_what_is_free, 0, 2);
    tcase_add_loop_test(t, what_goes_wrong_is_named, 0, 2);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
