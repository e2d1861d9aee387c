/* t_lib_counter.c - the counter CudaLibProduct: products of GPUs by a library, on the libraries
 * that stand in for it and for the driver. */
#include "rt.h"
#include "support/mock.h"

static float product_of(const char *device, float v)
{
    float x[64 * 64], y[64 * 64];
    for (int i = 0; i < 64 * 64; i++)
        x[i] = v;
    OK(lz_set_device(device));
    lz_tensor *a = lz_from_host(LZ_F32, LZ_SHAPE(64, 64), x), *b = lz_matmul(a, a);
    OK(lz_to_host(b, y, sizeof y));
    return y[64 * 64 - 1];
}

START_TEST(counts)
{
    OK(lz_mock_use());
    OK(lz_config_set("LAZULI_CUDA_LIBS", "1"));
    OK(lz_config_set("LAZULI_CUDA_CUBLASLT", lz_mock_lt_path()));
    ck_assert_int_eq(lz_counter_value("CudaLibProduct"), 0); /* starts no device */
    ck_assert_float_eq(product_of("CUDA:0", 1), 64);
    ck_assert_float_eq(product_of("CUDA:1", 2), 256);
    ck_assert_float_eq(product_of("CPU", 2), 256);
    ck_assert_int_eq(lz_counter_value("CudaLibProduct"), 2);
    lz_clear_counters();
    ck_assert_int_eq(lz_counter_value("CudaLibProduct"), 0);
    ck_assert_float_eq(product_of("CUDA:0", 3), 576);
    ck_assert_int_eq(lz_counter_value("CudaLibProduct"), 1);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("library counter");
    TCase *t = tcase_create("library counter");
    tcase_add_test(t, counts);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
