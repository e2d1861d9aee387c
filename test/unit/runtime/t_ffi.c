/* t_ffi.c - custom calls through the public interface. */
#include "rt.h"

/* rets[0] = args[0] * args[1] elementwise, rets[1] = their sum as f64. */
static lz_status product(const lz_ffi_call *c, void *user)
{
    const float *a = c->args[0].data, *b = c->args[1].data;
    float *p = c->rets[0].data;
    double sum = 0;
    for (size_t i = 0; i < c->rets[0].nbytes / sizeof *p; i++)
        sum += p[i] = a[i] * b[i];
    *(double *)c->rets[1].data = sum;
    ++*(int *)user;
    return strcmp(c->backend_config, "fail") == 0 ? LZ_EIO : LZ_OK;
}

static const lz_ffi_type rets[2] = {{LZ_F32, {2, {2, 3}}}, {LZ_F64, {0, {0}}}};
static const float av[6] = {1, -2, 3, 0.5f, 7, -0.25f}, bv[6] = {4, 2, -1, 8, 0.125f, 16};

START_TEST(calls_in_a_step)
{
    int made = 0;
    rt_use(rt_devices[_i]);
    OK(lz_ffi_register("product", product, &made));
    lz_tensor *a = lz_from_host(LZ_F32, LZ_SHAPE(2, 3), av),
              *b = lz_from_host(LZ_F32, LZ_SHAPE(2, 3), bv);
    for (int round = 0; round < 3; round++) {
        OK(lz_scope_begin());
        lz_tensor *out[2], *in[2] = {lz_add(a, a), b};
        ck_assert_ptr_eq(lz_custom_call("product", NULL, in, 2, rets, 2, out), out[0]);
        lz_tensor *y = lz_sub(out[0], b);
        float got[6];
        double sum, want = 0;
        OK(lz_to_host(y, got, sizeof got));
        OK(lz_to_host(out[1], &sum, sizeof sum));
        for (int i = 0; i < 6; i++) {
            want += 2 * av[i] * bv[i];
            ck_assert(got[i] == 2 * av[i] * bv[i] - bv[i]);
        }
        ck_assert(sum == want);
        lz_scope_end();
    }
    ck_assert_int_ge(made, 3);
    OK(lz_ffi_register("product", NULL, NULL));
}
END_TEST

START_TEST(failures)
{
    int made = 0;
    float host[6];
    rt_use(rt_devices[_i]);
    lz_tensor *a = lz_from_host(LZ_F32, LZ_SHAPE(2, 3), av), *in[2] = {a, a}, *out[2];
    (void)lz_custom_call("product", NULL, in, 2, rets, 2, out);
    FAILS(lz_status_of(out[0]), LZ_ENOENT, "product");
    FAILS(lz_status_of(out[1]), LZ_ENOENT, "product");
    FAILS(lz_ffi_register(NULL, product, NULL), LZ_EINVAL, "name");
    OK(lz_ffi_register("product", product, &made));
    FAILS(lz_status_of(lz_custom_call(NULL, NULL, in, 2, rets, 1, NULL)), LZ_ENULL, "target");
    FAILS(lz_status_of(lz_custom_call("product", NULL, NULL, 2, rets, 1, NULL)), LZ_ENULL, "args");
    FAILS(lz_status_of(lz_custom_call("product", NULL, in, 2, NULL, 1, NULL)), LZ_ENULL, "rets");
    FAILS(lz_status_of(lz_custom_call("product", NULL, in, 2, rets, 2, NULL)), LZ_ENULL, "out");
    FAILS(lz_status_of(lz_custom_call("product", NULL, in, 0, rets, 2, out)), LZ_EINVAL,
          "0 operands");
    FAILS(lz_status_of(lz_custom_call("product", NULL, in, 2, rets, 0, out)), LZ_EINVAL,
          "0 results");
    lz_ffi_type bad = {LZ_F32, {LZ_MAX_RANK + 1, {1}}};
    ck_assert_int_ne(lz_status_of(lz_custom_call("product", NULL, in, 2, &bad, 1, NULL)), LZ_OK);
    bad = (lz_ffi_type){(lz_dtype)99, {0, {0}}};
    ck_assert_int_ne(lz_status_of(lz_custom_call("product", NULL, in, 2, &bad, 1, NULL)), LZ_OK);
    lz_tensor *y = lz_custom_call("product", "fail", in, 2, rets, 2, out);
    FAILS(lz_to_host(y, host, sizeof host), LZ_EIO, "product");
    ck_assert_int_eq(made, 1);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ffi");
    TCase *t = tcase_create("ffi");
    tcase_add_loop_test(t, calls_in_a_step, 0, 2);
    tcase_add_loop_test(t, failures, 0, 2);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
