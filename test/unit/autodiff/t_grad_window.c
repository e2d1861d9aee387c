/* t_grad_window.c - gradients of convolutions, pooling and cumulative sums, against central
 * differences. */
#include "grad_check.h"

/* ---- convolution: every attribute ---- */

static lz_tensor *f_conv(lz_tensor **x)
{
    lz_conv_dims d = {.nspatial = 2,
                      .input_feature = 1,
                      .kernel_input_feature = 1,
                      .output_feature = 1,
                      .input_spatial = {2, 3},
                      .kernel_spatial = {2, 3},
                      .output_spatial = {2, 3},
                      .stride = {2, 1},
                      .low = {1, 2},
                      .high = {0, 1},
                      .lhs_dilation = {1, 2},
                      .rhs_dilation = {2, 1},
                      .reversal = {false, true}};
    return lz_hlo_convolution(x[0], x[1], &d);
}
/* NHWC, HWIO; groups of features; negative padding */
static lz_tensor *f_conv_groups(lz_tensor **x)
{
    lz_conv_dims d = {.nspatial = 2,
                      .input_feature = 3,
                      .kernel_input_feature = 2,
                      .kernel_output_feature = 3,
                      .output_feature = 3,
                      .input_spatial = {1, 2},
                      .kernel_spatial = {0, 1},
                      .output_spatial = {1, 2},
                      .low = {-1, 1},
                      .feature_groups = 2};
    return lz_hlo_convolution(x[0], x[1], &d);
}
static lz_tensor *f_conv_batches(lz_tensor **x)
{
    lz_conv_dims d = {.nspatial = 1,
                      .input_feature = 1,
                      .kernel_input_feature = 1,
                      .output_feature = 1,
                      .input_spatial = {2},
                      .kernel_spatial = {2},
                      .output_spatial = {2},
                      .stride = {2},
                      .batch_groups = 2};
    return lz_hlo_convolution(x[0], x[1], &d);
}
static lz_tensor *f_conv2d(lz_tensor **x)
{
    return lz_conv2d(x[0], x[1], x[2], .stride = {2}, .padding = {1, 1}, .groups = 2);
}
static lz_tensor *f_conv_transpose(lz_tensor **x)
{
    return lz_conv_transpose2d(x[0], x[1], x[2], .stride = {2}, .padding = {1, 0},
                               .output_padding = {1, 0}, .groups = 2);
}
static lz_tensor *f_conv3d(lz_tensor **x)
{
    return lz_conv3d(x[0], x[1], NULL, .dilation = {1, 2, 1});
}

/* ---- windows ---- */

static lz_tensor *f_window_sum(lz_tensor **x)
{
    lz_window_dims d = {.size = {3, 2},
                        .stride = {2, 1},
                        .low = {1, 0},
                        .high = {2, 1},
                        .base_dilation = {2, 1},
                        .dilation = {1, 2}};
    return lz_hlo_reduce_window("add", x[0], &d);
}
static lz_tensor *f_window_product(lz_tensor **x)
{
    lz_window_dims d = {.size = {3, 2},
                        .stride = {2, 1},
                        .low = {1, -1},
                        .high = {2, 1},
                        .base_dilation = {2, 1},
                        .dilation = {1, 2}};
    return lz_hlo_reduce_window("multiply", x[0], &d);
}
/* every third element is 0: the others of a window decide */
static lz_tensor *f_window_product_zeros(lz_tensor **x)
{
    lz_window_dims d = {.size = {2, 3}};
    lz_tensor *third = lz_reshape(
        lz_eq(lz_remainder_scalar(lz_arange(LZ_F64, 0, 20, 1), 3), lz_zeros(LZ_F64, LZ_SHAPE(1))),
        LZ_SHAPE(4, 5));
    return lz_hlo_reduce_window("multiply", lz_where(third, lz_mul_scalar(x[0], 0), x[0]), &d);
}
static lz_tensor *f_window_max(lz_tensor **x)
{
    lz_window_dims d = {.size = {3, 2}, .stride = {1, 2}, .low = {1}, .high = {1}};
    return lz_hlo_reduce_window("maximum", x[0], &d);
}
static lz_tensor *f_window_min_dilated(lz_tensor **x)
{
    lz_window_dims d = {.size = {2, 2}, .low = {1}, .dilation = {2, 1}};
    return lz_hlo_reduce_window("minimum", x[0], &d);
}
static lz_tensor *f_window_arg(lz_tensor **x)
{
    lz_window_dims d = {.size = {2, 3}, .stride = {2, 1}};
    lz_tensor *at, *v = lz_hlo_reduce_window_arg(true, x[0], &d, &at);
    return lz_mul(v, lz_to(at, LZ_F64));
}
static lz_tensor *f_select_and_scatter(lz_tensor **x)
{
    lz_window_dims d = {.size = {2, 2}, .stride = {1, 2}};
    return lz_hlo_select_and_scatter(LZ_HLO_GE, "add", x[0], x[1], &d);
}
static lz_tensor *f_max_pool(lz_tensor **x)
{
    lz_tensor *v = lz_max_pool2d(x[0], .kernel_size = {3}, .stride = {2}, .padding = {1, 1});
    return lz_mul(v, v);
}
static lz_tensor *f_max_pool_tiles(lz_tensor **x)
{
    return lz_max_pool2d(x[0], .kernel_size = {2});
}
static lz_tensor *f_max_pool_dilated(lz_tensor **x)
{
    return lz_max_pool1d(x[0], .kernel_size = {2}, .stride = {1}, .dilation = {2});
}
static lz_tensor *f_avg_pool(lz_tensor **x)
{
    return lz_avg_pool2d(x[0], .kernel_size = {3}, .stride = {2}, .padding = {1, 0},
                         .ceil_mode = true, .count_include_pad = false);
}
static lz_tensor *f_adaptive_avg(lz_tensor **x)
{
    return lz_adaptive_avg_pool2d(x[0], 3, 2);
}
static lz_tensor *f_adaptive_max(lz_tensor **x)
{
    return lz_adaptive_max_pool2d(x[0], NULL, 3, 2);
}
static lz_tensor *f_adaptive_max3d(lz_tensor **x)
{
    return lz_adaptive_max_pool3d(x[0], NULL, 2, 3, 1);
}
static lz_tensor *f_unpool(lz_tensor **x)
{
    lz_tensor *at, *y = lz_max_pool2d_with_indices(x[0], &at, .kernel_size = {2});
    return lz_max_unpool2d(lz_mul(y, y), at, 5, 4);
}

/* ---- cumulative ---- */

static lz_tensor *f_cumsum(lz_tensor **x)
{
    lz_tensor *v = lz_cumsum(x[0], 0);
    return lz_mul(v, v);
}
static lz_tensor *f_cumprod(lz_tensor **x)
{
    return lz_cumprod(x[0], -1);
}
static lz_tensor *f_cumprod_zeros(lz_tensor **x)
{
    lz_tensor *third = lz_eq(lz_arange(LZ_F64, 0, 5, 1), lz_full(LZ_F64, LZ_SHAPE(5), 2));
    return lz_cumprod(lz_where(third, lz_mul_scalar(x[0], 0), x[0]), 1);
}
static lz_tensor *f_logcumsumexp(lz_tensor **x)
{
    return lz_logcumsumexp(x[0], 1);
}
static lz_tensor *f_cummax(lz_tensor **x)
{
    return lz_cummax(x[0], 1, NULL);
}
static lz_tensor *f_cummin(lz_tensor **x)
{
    return lz_cummin(x[0], 0, NULL);
}

static const gcase cases[] = {
    {"conv", f_conv, 2, {S(2, 2, 5, 3), S(3, 2, 2, 2)}, -2, 2, true},
    {"conv_groups", f_conv_groups, 2, {S(1, 4, 3, 4), S(2, 2, 2, 4)}, -2, 2, true},
    {"conv_batches", f_conv_batches, 2, {S(4, 2, 5), S(4, 2, 2)}, -2, 2, true},
    {"conv2d", f_conv2d, 3, {S(1, 4, 4, 3), S(2, 2, 3, 2), S(2)}, -2, 2, true},
    {"conv_transpose", f_conv_transpose, 3, {S(1, 4, 2, 3), S(4, 1, 3, 2), S(2)}, -2, 2, true},
    {"conv3d", f_conv3d, 2, {S(1, 2, 3, 3, 2), S(2, 2, 2, 2, 2)}, -2, 2, false},
    {"window_sum", f_window_sum, 1, {S(3, 4)}, -2, 2, true},
    {"window_max", f_window_max, 1, {S(4, 5)}, -2, 2, false},
    {"window_min_dilated", f_window_min_dilated, 1, {S(4, 5)}, -2, 2, false},
    {"window_arg", f_window_arg, 1, {S(4, 5)}, -2, 2, false},
    {"select_and_scatter", f_select_and_scatter, 2, {S(3, 4), S(2, 2)}, -2, 2, false},
    {"max_pool", f_max_pool, 1, {S(1, 2, 5, 4)}, -2, 2, true},
    {"max_pool_tiles", f_max_pool_tiles, 1, {S(2, 5, 4)}, -2, 2, false},
    {"max_pool_dilated", f_max_pool_dilated, 1, {S(2, 7)}, -2, 2, false},
    {"avg_pool", f_avg_pool, 1, {S(1, 2, 5, 4)}, -2, 2, true},
    {"adaptive_avg", f_adaptive_avg, 1, {S(2, 5, 4)}, -2, 2, true},
    {"adaptive_max", f_adaptive_max, 1, {S(2, 5, 4)}, -2, 2, false},
    {"adaptive_max3d", f_adaptive_max3d, 1, {S(2, 3, 4, 2)}, -2, 2, false},
    {"max_unpool", f_unpool, 1, {S(2, 5, 4)}, -2, 2, true},
    {"window_product", f_window_product, 1, {S(3, 6)}, 0.5, 2, true},
    {"window_product_zeros", f_window_product_zeros, 1, {S(4, 5)}, -2, 2, false},
    {"cumsum", f_cumsum, 1, {S(7, 2)}, -2, 2, true},
    {"cumsum_long", f_cumsum, 1, {S(53)}, -0.5, 0.5, false},
    {"cumprod", f_cumprod, 1, {S(2, 6)}, -2, 2, true},
    {"cumprod_zeros", f_cumprod_zeros, 1, {S(2, 5)}, -2, 2, false},
    {"logcumsumexp", f_logcumsumexp, 1, {S(2, 7)}, -2, 2, true},
    {"cummax", f_cummax, 1, {S(2, 9)}, -2, 2, false},
    {"cummin", f_cummin, 1, {S(6, 2)}, -2, 2, false},
};
enum { NCASES = sizeof cases / sizeof *cases };

START_TEST(first_order)
{
    compare_first(cases, NCASES, _i);
}
END_TEST

START_TEST(second_order)
{
    if (cases[_i].second)
        compare(&cases[_i], 2);
}
END_TEST

START_TEST(bad_calls)
{
    lz_tensor *x = lz_ones(LZ_F32, LZ_SHAPE(2, 3)), *g, *c = lz_zeros(LZ_C64, LZ_SHAPE(3));
    lz_window_dims d = {.size = {2, 2}}, wrong = {.size = {2, -1}}, dilated = {.dilation = {2}};
    lz_conv_dims conv = {.nspatial = 1};
    ck_assert_int_eq(lz_status_of(lz_hlo_reduce_window("add", x, &wrong)), LZ_EINVAL);
    ck_assert_int_eq(lz_status_of(lz_hlo_reduce_window("subtract", x, &d)), LZ_EINVAL);
    ck_assert_int_eq(lz_status_of(lz_hlo_reduce_window("maximum", c, &d)), LZ_EDTYPE);
    ck_assert_int_eq(lz_status_of(lz_hlo_reduce_window_arg(true, c, &d, &g)), LZ_EDTYPE);
    ck_assert_int_eq(lz_status_of(g), LZ_EDTYPE);
    ck_assert_int_eq(lz_status_of(lz_hlo_select_and_scatter(LZ_HLO_EQ, "add", x, x, &d)),
                     LZ_EINVAL);
    ck_assert_int_eq(lz_status_of(lz_hlo_select_and_scatter(LZ_HLO_GE, "add", x, x, &d)),
                     LZ_ESHAPE);
    ck_assert_int_eq(lz_status_of(lz_hlo_select_and_scatter(LZ_HLO_GE, "add", x, x, &dilated)),
                     LZ_EINVAL);
    ck_assert_int_eq(lz_status_of(lz_hlo_convolution(x, x, &conv)), LZ_EINVAL);
    conv.nspatial = LZ_MAX_RANK + 1;
    ck_assert_int_eq(lz_status_of(lz_hlo_convolution(x, x, &conv)), LZ_ERANGE);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("grad_window");
    TCase *t = tcase_create("grad");
    tcase_add_loop_test(t, first_order, 0, 2 * NCASES);
    tcase_add_loop_test(t, second_order, 0, NCASES);
    tcase_add_test(t, bad_calls);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
