/* t_api_ops.c - what the user-level operations compute, against plain loops and ATen's documented
 * results; promotion and broadcasting. */
#include "unit/runtime/rt.h"

static float a6[6], b6[6];
static lz_tensor *A, *B; /* 2x3 */

static void setup(void)
{
    rt_fill(a6, 6);
    rt_fill(b6, 6);
    A = lz_from_host(LZ_F32, LZ_SHAPE(2, 3), a6);
    B = lz_from_host(LZ_F32, LZ_SHAPE(2, 3), b6);
}

static lz_tensor *vec(int n, const float *v)
{
    return lz_from_host(LZ_F32, LZ_SHAPE(n), v);
}
static void is_shape(lz_tensor *t, int rank, const int64_t *dims)
{
    lz_shape s = lz_shape_of(t);
    ck_assert_msg(s.rank == rank, "rank %d, not %d: %s", s.rank, rank, lz_last_error_text());
    for (int i = 0; i < rank; i++)
        ck_assert_int_eq(s.dims[i], dims[i]);
}
#define SHAPE_IS(t, ...)                                                                           \
    is_shape((t), (int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), (int64_t[]){__VA_ARGS__})

/* ---- elementwise ---- */

#define EACH(tensor, expr)                                                                         \
    do {                                                                                           \
        float want_[6];                                                                            \
        for (int i = 0; i < 6; i++) {                                                              \
            float x = a6[i], y = b6[i];                                                            \
            (void)x, (void)y;                                                                      \
            want_[i] = (float)(expr);                                                              \
        }                                                                                          \
        rt_expect((tensor), want_, 6, 3e-6);                                                       \
    } while (0)

START_TEST(elementwise)
{
    setup();
    EACH (lz_add(A, B), x + y)
        ;
    EACH (lz_sub(A, B), x - y)
        ;
    EACH (lz_mul(A, B), x * y)
        ;
    EACH (lz_div(A, B), x / y)
        ;
    EACH (lz_maximum(A, B), fmaxf(x, y))
        ;
    EACH (lz_minimum(A, B), fminf(x, y))
        ;
    EACH (lz_fmod(A, B), fmodf(x, y))
        ;
    EACH (lz_atan2(A, B), atan2(x, y))
        ;
    EACH (lz_pow(lz_abs(A), B), pow(fabs(x), y))
        ;
    EACH (lz_neg(A), -x)
        ;
    EACH (lz_exp(A), exp(x))
        ;
    EACH (lz_log(A), log(x))
        ;
    EACH (lz_sqrt(A), sqrt(x))
        ;
    EACH (lz_rsqrt(lz_abs(A)), 1 / sqrt(fabs(x)))
        ;
    EACH (lz_sin(A), sin(x))
        ;
    EACH (lz_tanh(A), tanh(x))
        ;
    EACH (lz_sigmoid(A), 1 / (1 + exp(-x)))
        ;
    EACH (lz_erf(A), erf(x))
        ;
    EACH (lz_log1p(lz_abs(A)), log1p(fabs(x)))
        ;
    EACH (lz_expm1(A), expm1(x))
        ;
    EACH (lz_floor(A), floor(x))
        ;
    EACH (lz_round(A), rint(x))
        ;
    EACH (lz_sign(A), (x > 0) - (x < 0))
        ;
    EACH (lz_to(lz_lt(A, B), LZ_F32), x < y)
        ;
    EACH (lz_to(lz_ge(A, B), LZ_F32), x >= y)
        ;
    EACH (lz_where(lz_gt(A, B), A, lz_neg(B)), x > y ? x : -y)
        ;
    EACH (lz_clamp(A, -0.5, 0.75), fminf(fmaxf(x, -0.5f), 0.75f))
        ;
    EACH (lz_clamp(A, NAN, 0.75), fminf(x, 0.75f))
        ;
    EACH (lz_relu(A), x > 0 ? x : 0)
        ;
    EACH (lz_silu(A), x / (1 + exp(-x)))
        ;
    EACH (lz_gelu(A, false), 0.5 * x * (1 + erf(x / sqrt(2))))
        ;
    EACH (lz_gelu(A, true), 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))))
        ;
    EACH (lz_add_scalar(A, 1.5), x + 1.5f)
        ;
    EACH (lz_sub_scalar(A, 1), x - 1)
        ;
    EACH (lz_mul_scalar(A, -1), -x)
        ;
    EACH (lz_div_scalar(A, 3), x / 3)
        ;
    EACH (lz_pow_scalar(A, 2), x * x)
        ;
    EACH (lz_pow_scalar(A, 3), x * x * x)
        ;
    EACH (lz_pow_scalar(lz_abs(A), 0.5), sqrt(fabs(x)))
        ;
}
END_TEST

START_TEST(special_values)
{
    const float v[] = {NAN, INFINITY, -INFINITY, -0.0f, 1e-40f, 0};
    lz_tensor *x = vec(6, v), *zero = lz_zeros(LZ_F32, LZ_SHAPE(6));
    rt_expect(lz_relu(x), (float[]){NAN, INFINITY, 0, 0, 1e-40f, 0}, 6, 0);
    rt_expect(lz_maximum(x, zero), (float[]){NAN, INFINITY, 0, 0, 1e-40f, 0}, 6, 0);
    rt_expect(lz_clamp(x, -1, 1), (float[]){NAN, 1, -1, -0.0f, 1e-40f, 0}, 6, 0);
    rt_expect(lz_to(lz_eq(x, x), LZ_F32), (float[]){0, 1, 1, 1, 1, 1}, 6, 0);
    rt_expect(lz_to(lz_isfinite(x), LZ_F32), (float[]){0, 0, 0, 1, 1, 1}, 6, 0);
    rt_expect(lz_to(lz_logical_not(x), LZ_F32), (float[]){0, 0, 0, 1, 0, 1}, 6, 0);
    rt_expect(lz_softmax(vec(3, (float[]){1000, 1000, -INFINITY}), 0), (float[]){0.5f, 0.5f, 0}, 3,
              1e-6);
    rt_expect(lz_log_softmax(vec(2, (float[]){-1e30f, 1e30f}), -1), (float[]){-2e30f, 0}, 2, 1e-6);
    rt_expect(lz_logsumexp(vec(2, (float[]){-INFINITY, -INFINITY})), (float[]){-INFINITY}, 1, 0);
    rt_expect(lz_logsumexp(vec(2, (float[]){INFINITY, 1})), (float[]){INFINITY}, 1, 0);
    rt_expect(lz_logsumexp(vec(2, (float[]){500, 500})), (float[]){500 + 0.6931472f}, 1, 1e-6);
}
END_TEST

START_TEST(promotion)
{
    static const struct {
        lz_dtype a, b, want;
    } t[] = {{LZ_BOOL, LZ_I8, LZ_I8},       {LZ_U8, LZ_I8, LZ_I16},    {LZ_I32, LZ_I64, LZ_I64},
             {LZ_I64, LZ_F16, LZ_F16},      {LZ_F16, LZ_BF16, LZ_F32}, {LZ_F32, LZ_F64, LZ_F64},
             {LZ_F32, LZ_C64, LZ_C64},      {LZ_U32, LZ_I32, LZ_I64},  {LZ_BOOL, LZ_BOOL, LZ_BOOL},
             {LZ_U64, LZ_I8, LZ_DTYPE_NONE}};
    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++)
        for (int swap = 0; swap < 2; swap++) {
            lz_tensor *x = lz_ones(swap ? t[i].b : t[i].a, LZ_SHAPE(2)),
                      *y = lz_ones(swap ? t[i].a : t[i].b, LZ_SHAPE(2));
            ck_assert_int_eq(lz_dtype_of(lz_add(x, y)), t[i].want);
        }
    /* a number of rank 0 counts only with its class */
    lz_tensor *f16 = lz_ones(LZ_F16, LZ_SHAPE(2)), *f64 = lz_ones(LZ_F64, LZ_SCALAR),
              *i8 = lz_ones(LZ_I8, LZ_SHAPE(2)), *i64 = lz_ones(LZ_I64, LZ_SCALAR);
    ck_assert_int_eq(lz_dtype_of(lz_add(f16, f64)), LZ_F16);
    ck_assert_int_eq(lz_dtype_of(lz_add(i8, i64)), LZ_I8);
    ck_assert_int_eq(lz_dtype_of(lz_add(i8, f64)), LZ_F64);
    ck_assert_int_eq(lz_dtype_of(lz_add_scalar(i8, 2)), LZ_I8);
    ck_assert_int_eq(lz_dtype_of(lz_add_scalar(i8, 2.5)), LZ_F32);
    ck_assert_int_eq(lz_dtype_of(lz_div_scalar(i8, 2)), LZ_F32);
    ck_assert_int_eq(lz_dtype_of(lz_add_scalar(f16, 2.5)), LZ_F16);
    ck_assert_int_eq(lz_dtype_of(lz_div(i8, i8)), LZ_F32);
    ck_assert_int_eq(lz_dtype_of(lz_exp(i8)), LZ_F32);
    ck_assert_int_eq(lz_dtype_of(lz_sum(i8)), LZ_I64);
    ck_assert_int_eq(lz_dtype_of(lz_mean(i8)), LZ_F32);
    ck_assert_int_eq(lz_dtype_of(lz_sum(f16)), LZ_F16);
    ck_assert_int_eq(lz_dtype_of(lz_logical_and(i8, f16)), LZ_BOOL);
    BAD(lz_bitwise_and(f16, f16), LZ_EDTYPE, "f16");
    BAD(lz_bitwise_left_shift(lz_ones(LZ_BOOL, LZ_SHAPE(2)), lz_ones(LZ_BOOL, LZ_SHAPE(2))),
        LZ_EDTYPE, "shifted");
    ck_assert_int_eq(lz_item_i64(lz_bitwise_right_shift(lz_full(LZ_I32, LZ_SCALAR, -8),
                                                        lz_ones(LZ_I32, LZ_SCALAR))),
                     -4);
    ck_assert_int_eq(lz_item_i64(lz_bitwise_right_shift(lz_full(LZ_U8, LZ_SCALAR, 248),
                                                        lz_ones(LZ_U8, LZ_SCALAR))),
                     124);
    /* f16 sums are accumulated wide: 4096 ones and then some */
    ck_assert_double_eq(lz_item(lz_sum(lz_ones(LZ_F16, LZ_SHAPE(5000)))), 5000);
}
END_TEST

START_TEST(broadcasting)
{
    setup();
    lz_tensor *row = vec(3, (float[]){1, 2, 3}), *col = lz_unsqueeze(vec(2, (float[]){10, 20}), 1);
    float want[6];
    for (int i = 0; i < 6; i++)
        want[i] = a6[i] + (float)(i % 3 + 1);
    rt_expect(lz_add(A, row), want, 6, 0);
    rt_expect(lz_add(row, col), (float[]){11, 12, 13, 21, 22, 23}, 6, 0);
    SHAPE_IS(lz_add(lz_ones(LZ_F32, LZ_SHAPE(4, 1, 3)), lz_ones(LZ_F32, LZ_SHAPE(2, 1))), 4, 2, 3);
    rt_expect(lz_expand(col, LZ_SHAPE(2, 3)), (float[]){10, 10, 10, 20, 20, 20}, 6, 0);
    SHAPE_IS(lz_expand(col, LZ_SHAPE(5, -1, 4)), 5, 2, 4);
    BAD(lz_expand(row, LZ_SHAPE(2, 4)), LZ_ESHAPE, "[3]");
    BAD(lz_expand(row, LZ_SHAPE(-1, 3)), LZ_ESHAPE, "-1");
}
END_TEST

/* ---- reductions ---- */

START_TEST(reductions)
{
    float v[24], want[24];
    rt_fill(v, 24);
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(2, 3, 4), v);
    double total = 0;
    for (int i = 0; i < 24; i++)
        total += v[i];
    ck_assert_double_eq_tol(lz_item(lz_sum(x)), total, 1e-5);
    ck_assert_double_eq_tol(lz_item(lz_mean(x)), total / 24, 1e-6);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 4; k++) {
            double s = 0, m = -1e9, q = 0;
            for (int j = 0; j < 3; j++) {
                s += v[i * 12 + j * 4 + k];
                m = fmax(m, v[i * 12 + j * 4 + k]);
            }
            for (int j = 0; j < 3; j++)
                q += pow(v[i * 12 + j * 4 + k] - s / 3, 2);
            want[i * 4 + k] = (float)s;
            want[8 + i * 4 + k] = (float)m;
            want[16 + i * 4 + k] = (float)(q / 2);
        }
    rt_expect(lz_sum(x, .dims = LZ_DIM(1)), want, 8, 1e-6);
    rt_expect(lz_sum(x, .dims = LZ_DIM(-2), .keepdim = true), want, 8, 1e-6);
    SHAPE_IS(lz_sum(x, .dims = LZ_DIM(-2), .keepdim = true), 2, 1, 4);
    rt_expect(lz_amax(x, .dims = LZ_DIM(1)), want + 8, 8, 0);
    rt_expect(lz_var(x, .dims = LZ_DIM(1)), want + 16, 8, 1e-5);
    for (int i = 0; i < 8; i++)
        want[16 + i] *= 2.0f / 3;
    rt_expect(lz_var(x, .dims = LZ_DIM(1), .correction = 0), want + 16, 8, 1e-5);
    SHAPE_IS(lz_sum(x, .dims = LZ_DIM(2, 0)), 3);
    SHAPE_IS(lz_sum(x, .keepdim = true), 1, 1, 1);
    ck_assert_double_eq_tol(lz_item(lz_sum(lz_sum(x, .dims = LZ_DIM(2, 0)))), total, 1e-5);
    ck_assert_double_eq_tol(lz_item(lz_neg(lz_amin(lz_neg(x)))), lz_item(lz_amax(x)), 1e-9);
    rt_expect(lz_prod(vec(4, (float[]){1, -2, 3, 0.5f})), (float[]){-3}, 1, 0);
    ck_assert_int_eq(lz_item_i64(lz_any(lz_gt(x, lz_amax(x)))), 0);
    ck_assert_int_eq(lz_item_i64(lz_all(lz_le(x, lz_amax(x)))), 1);
    ck_assert_int_eq(lz_item_i64(lz_sum(lz_ones(LZ_BOOL, LZ_SHAPE(300)))), 300);
    ck_assert_msg(isnan(lz_item(lz_var(vec(1, v)))), "the variance of one value");
    BAD(lz_sum(x, .dims = LZ_DIM(1, -2)), LZ_EINVAL, "twice");
    rt_expect(lz_sum(lz_scalar(LZ_F32, 2.5), .dims = LZ_DIM(-1)), (float[]){2.5f}, 1,
              0); /* a scalar has dimension -1 */
}
END_TEST

START_TEST(extreme_positions)
{
    const float v[] = {1, 5, 5, NAN, 2, NAN, -1, -1, 0, 0, -0.0f, 0};
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(3, 4), v), *i = lz_argmax(x, 1, false);
    int64_t got[3];
    ck_assert_int_eq(lz_dtype_of(i), LZ_I64);
    OK(lz_to_host(i, got, sizeof got));
    ck_assert_int_eq(got[0], 3); /* a NaN is the largest */
    ck_assert_int_eq(got[1], 1);
    ck_assert_int_eq(got[2], 0); /* the first on ties, and zeros tie */
    OK(lz_to_host(lz_argmin(x, -1, false), got, sizeof got));
    ck_assert_int_eq(got[0], 3);
    ck_assert_int_eq(got[1], 1);
    ck_assert_int_eq(got[2], 0);
    SHAPE_IS(lz_argmax(x, 0, true), 1, 4);
    ck_assert_int_eq(lz_item_i64(lz_argmax(
                         lz_from_host(LZ_U8, LZ_SHAPE(3), (uint8_t[]){3, 250, 250}), 0, false)),
                     1);
    BAD(lz_argmax(x, 2, false), LZ_ERANGE, "lz_argmax");
    BAD(lz_argmax(lz_zeros(LZ_F32, LZ_SHAPE(0)), 0, false), LZ_ESHAPE, "empty");
}
END_TEST

START_TEST(softmaxes)
{
    float v[12], want[12], lwant[12];
    rt_fill(v, 12);
    for (int i = 0; i < 3; i++) {
        double s = 0;
        for (int k = 0; k < 4; k++)
            s += exp(v[i * 4 + k]);
        for (int k = 0; k < 4; k++) {
            want[i * 4 + k] = (float)(exp(v[i * 4 + k]) / s);
            lwant[i * 4 + k] = (float)(v[i * 4 + k] - log(s));
        }
    }
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(3, 4), v);
    rt_expect(lz_softmax(x, 1), want, 12, 1e-6);
    rt_expect(lz_log_softmax(x, -1), lwant, 12, 1e-6);
    rt_expect(lz_transpose(lz_softmax(lz_transpose(x, 0, 1), 0), 0, 1), want, 12, 1e-6);
    rt_expect(lz_softmax(lz_scalar(LZ_F32, 3.5), 0), (float[]){1}, 1, 0);
    ck_assert_int_eq(lz_dtype_of(lz_softmax(lz_to(x, LZ_BF16), 1)), LZ_BF16);
}
END_TEST

/* ---- products ---- */

START_TEST(products)
{
    float a[24], b[40], w[40];
    rt_fill(a, 24);
    rt_fill(b, 40);
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(2, 3, 4), a),
              *y = lz_from_host(LZ_F32, LZ_SHAPE(2, 4, 5), b),
              *m = lz_from_host(LZ_F32, LZ_SHAPE(4, 5), b);
    for (int n = 0; n < 2; n++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 5; j++) {
                double s = 0;
                for (int k = 0; k < 4; k++)
                    s += a[n * 12 + i * 4 + k] * b[n * 20 + k * 5 + j];
                w[n * 15 + i * 5 + j] = (float)s;
            }
    rt_expect(lz_matmul(x, y), w, 30, 1e-5);
    rt_expect(lz_matmul(lz_select(x, 0, 0), m), w, 15, 1e-5);
    SHAPE_IS(lz_matmul(x, m), 2, 3, 5);
    rt_expect(lz_select(lz_matmul(x, m), 0, 0), w, 15, 1e-5);
    SHAPE_IS(lz_matmul(lz_select(x, 0, 0), y), 2, 3, 5);
    rt_expect(lz_select(lz_matmul(lz_select(x, 0, 1), y), 0, 1), w + 15, 15, 1e-5);
    SHAPE_IS(lz_matmul(lz_ones(LZ_F32, LZ_SHAPE(7, 1, 3, 4)), y), 7, 2, 3, 5);
    lz_tensor *v4 = vec(4, a), *v5 = vec(5, b);
    SHAPE_IS(lz_matmul(v4, m), 5);
    rt_expect(lz_matmul(v4, m), w, 5, 1e-5);
    SHAPE_IS(lz_matmul(m, v5), 4);
    SHAPE_IS(lz_matmul(v4, y), 2, 5);
    rt_expect(lz_select(lz_matmul(v4, y), 0, 0), w, 5, 1e-5);
    ck_assert_int_eq(lz_rank_of(lz_matmul(v4, v4)), 0);
    BAD(lz_matmul(x, v5), LZ_ESHAPE, "only one");
    BAD(lz_matmul(lz_scalar(LZ_F32, 2.5), v5), LZ_ESHAPE, "vectors");
    BAD(lz_matmul(lz_ones(LZ_F32, LZ_SHAPE(3, 3, 4)), y), LZ_ESHAPE, "broadcast");
    lz_tensor *weight = lz_transpose(m, 0, 1), *bias = v5;
    rt_expect(lz_linear(lz_select(x, 0, 0), weight, NULL), w, 15, 1e-5);
    for (int i = 0; i < 15; i++)
        w[i] += b[i % 5];
    rt_expect(lz_select(lz_linear(x, weight, bias), 0, 0), w, 15, 1e-5);
    BAD(lz_linear(x, m, NULL), LZ_ESHAPE, "[out, in]");
    BAD(lz_linear(x, weight, v4), LZ_ESHAPE, "bias");
    SHAPE_IS(lz_matmul(lz_zeros(LZ_F32, LZ_SHAPE(3, 0)), lz_zeros(LZ_F32, LZ_SHAPE(0, 2))), 3, 2);
    rt_expect(lz_matmul(lz_zeros(LZ_F32, LZ_SHAPE(2, 0)), lz_zeros(LZ_F32, LZ_SHAPE(0, 2))),
              (float[]){0, 0, 0, 0}, 4, 0);
}
END_TEST

/* ---- shapes ---- */

START_TEST(shapes)
{
    float v[24];
    for (int i = 0; i < 24; i++)
        v[i] = (float)i;
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(2, 3, 4), v);
    SHAPE_IS(lz_reshape(x, LZ_SHAPE(4, -1)), 4, 6);
    SHAPE_IS(lz_permute(x, 2, 0, -2), 4, 2, 3);
    rt_expect(lz_select(lz_permute(x, 2, 0, 1), 0, 1), (float[]){1, 5, 9, 13, 17, 21}, 6, 0);
    SHAPE_IS(lz_squeeze(lz_unsqueeze(x, -1), 3), 2, 3, 4);
    SHAPE_IS(lz_squeeze(x, 0), 2, 3, 4);
    SHAPE_IS(lz_unsqueeze(x, 0), 1, 2, 3, 4);
    SHAPE_IS(lz_flatten(x, 1, -1), 2, 12);
    SHAPE_IS(lz_flatten(lz_scalar(LZ_F32, 1), 0, 0), 1);
    rt_expect(lz_slice(lz_select(x, 0, 0), 1, 1, -1, 1), (float[]){1, 2, 5, 6, 9, 10}, 6, 0);
    rt_expect(lz_slice(lz_flatten(x, 0, -1), 0, -5, 100, 2), (float[]){19, 21, 23}, 3, 0);
    SHAPE_IS(lz_slice(x, 0, 2, 1, 1), 0, 3, 4);
    rt_expect(lz_slice(lz_flatten(x, 0, -1), 0, 3, 9, INT64_MAX), (float[]){3}, 1, 0);
    rt_expect(lz_select(lz_select(x, -1, -1), 0, 1), (float[]){15, 19, 23}, 3, 0);
    rt_expect(lz_flip(lz_select(x, 0, 0), 1), (float[]){3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8}, 12,
              0);
    rt_expect(lz_flip(vec(3, v), -1), (float[]){2, 1, 0}, 3, 0);
    rt_expect(lz_cat((lz_tensor *[]){vec(2, v), vec(3, v + 4)}, 2, 0), (float[]){0, 1, 4, 5, 6}, 5,
              0);
    rt_expect(lz_stack((lz_tensor *[]){vec(2, v), vec(2, v + 4)}, 2, -1), (float[]){0, 4, 1, 5}, 4,
              0);
    ck_assert_int_eq(
        lz_dtype_of(lz_cat((lz_tensor *[]){vec(2, v), lz_ones(LZ_F64, LZ_SHAPE(2))}, 2, 0)),
        LZ_F64);
    lz_tensor *many[40];
    for (int i = 0; i < 40; i++)
        many[i] = lz_full(LZ_F32, LZ_SHAPE(1), i + 0.5);
    ck_assert_double_eq(lz_item(lz_sum(lz_cat(many, 40, 0))), 800);
    rt_expect(lz_constant_pad_nd(vec(2, v), (int64_t[]){1, 2}, 2, 9), (float[]){9, 0, 1, 9, 9}, 5,
              0);
    SHAPE_IS(lz_constant_pad_nd(x, (int64_t[]){1, 1, 0, 2}, 4, 0), 2, 5, 6);
    SHAPE_IS(lz_constant_pad_nd(x, (int64_t[]){-1, -1}, 2, 0), 2, 3, 2);
    BAD(lz_constant_pad_nd(x, (int64_t[]){1, 1, 1}, 3, 0), LZ_EINVAL, "pairs");
    BAD(lz_slice(x, 0, 0, 1, 0), LZ_EINVAL, "step");
    BAD(lz_select(x, 0, 2), LZ_ERANGE, "index 2");
    BAD(lz_transpose(x, 0, 3), LZ_ERANGE, "dimension 3");
    BAD(lz_cat((lz_tensor *[]){x, vec(2, v)}, 2, 0), LZ_ESHAPE, "concatenate");
    rt_expect(lz_arange(LZ_F32, 1, 2, 0.25), (float[]){1, 1.25f, 1.5f, 1.75f}, 4, 0);
    SHAPE_IS(lz_arange(LZ_I64, 10, 0, -3), 4);
    ck_assert_int_eq(lz_item_i64(lz_select(lz_arange(LZ_I64, 10, 0, -3), 0, 3)), 1);
    SHAPE_IS(lz_arange(LZ_F32, 3, 3, 1), 0);
    BAD(lz_arange(LZ_F32, 0, 3, -1), LZ_EINVAL, "step");
    BAD(lz_arange(LZ_I32, 0.5, 3, 1), LZ_EINVAL, "whole");
}
END_TEST

/* ---- indexing ---- */

START_TEST(indexing)
{
    float v[12];
    for (int i = 0; i < 12; i++)
        v[i] = (float)i;
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(3, 4), v);
    lz_tensor *i2 = lz_from_host(LZ_I64, LZ_SHAPE(2), (int64_t[]){2, 0}),
              *i32 = lz_from_host(LZ_I32, LZ_SHAPE(2, 2), (int32_t[]){0, 2, 1, 99});
    rt_expect(lz_index_select(x, 0, i2), (float[]){8, 9, 10, 11, 0, 1, 2, 3}, 8, 0);
    rt_expect(lz_index_select(x, 1, i2), (float[]){2, 0, 6, 4, 10, 8}, 6, 0);
    SHAPE_IS(lz_embedding(x, i32), 2, 2, 4);
    rt_expect(lz_select(lz_embedding(x, i32), 0, 1), (float[]){4, 5, 6, 7, 8, 9, 10, 11}, 8,
              0); /* 99 is clamped */
    rt_expect(lz_embedding(x, lz_select(i2, 0, 0)), (float[]){8, 9, 10, 11}, 4, 0);
    lz_tensor *g = lz_from_host(LZ_I64, LZ_SHAPE(3, 2), (int64_t[]){0, 3, 1, 1, 2, 0});
    rt_expect(lz_gather(x, 1, g), (float[]){0, 3, 5, 5, 10, 8}, 6, 0);
    rt_expect(lz_gather(x, 0, lz_from_host(LZ_I32, LZ_SHAPE(1, 3), (int32_t[]){2, 0, 1})),
              (float[]){8, 1, 6}, 3, 0);
    float want[12];
    memcpy(want, v, sizeof v);
    want[0] += 1;
    want[3] += 2;
    want[5] += 3 + 4;
    want[10] += 5;
    want[8] += 6;
    lz_tensor *src = lz_from_host(LZ_F32, LZ_SHAPE(3, 2), (float[]){1, 2, 3, 4, 5, 6});
    rt_expect(lz_scatter_add(x, 1, g, src), want, 12, 0);
    memcpy(want, v, sizeof v);
    want[8] += 1; /* a smaller index outside dimension 0 */
    want[1] += 2;
    rt_expect(lz_scatter_add(x, 0, lz_from_host(LZ_I64, LZ_SHAPE(1, 2), (int64_t[]){2, 0}), src),
              want, 12, 0);
    rt_expect(lz_one_hot(i2, 3, LZ_F32), (float[]){0, 0, 1, 1, 0, 0}, 6, 0);
    ck_assert_int_eq(lz_dtype_of(lz_one_hot(i2, 3, LZ_BOOL)), LZ_BOOL);
    BAD(lz_index_select(x, 0, x), LZ_EDTYPE, "i32 or i64");
    BAD(lz_index_select(x, 0, i32), LZ_ESHAPE, "one dimension");
    BAD(lz_gather(x, 0, i2), LZ_ESHAPE, "equal ranks");
    BAD(lz_embedding(vec(2, v), i2), LZ_ESHAPE, "rank 1");
}
END_TEST

/* ---- random numbers ---- */

START_TEST(random_numbers)
{
    enum { N = 20000 };
    static float u[N], n[N], again[N];
    int64_t compiled = 0;
    OK(lz_manual_seed(7));
    OK(lz_to_host(lz_rand(LZ_F32, LZ_SHAPE(N)), u, sizeof u));
    OK(lz_to_host(lz_randn(LZ_F32, LZ_SHAPE(N)), n, sizeof n));
    double m = 0, q = 0, nm = 0, nq = 0, both = 0;
    for (int i = 0; i < N; i++) {
        ck_assert(u[i] >= 0 && u[i] < 1);
        ck_assert(isfinite(n[i]));
        m += u[i] / N;
        q += (u[i] - 0.5) * (u[i] - 0.5) / N;
        nm += n[i] / N;
        nq += n[i] * n[i] / N;
        both += (u[i] - 0.5) * n[i] / N;
    }
    ck_assert_double_eq_tol(m, 0.5, 0.01);
    ck_assert_double_eq_tol(q, 1.0 / 12, 0.003);
    ck_assert_double_eq_tol(nm, 0, 0.03);
    ck_assert_double_eq_tol(nq, 1, 0.05);
    ck_assert_double_eq_tol(both, 0, 0.01);
    compiled = lz_counter_value("UncachedCompile");
    OK(lz_to_host(lz_rand(LZ_F32, LZ_SHAPE(N)), again, sizeof again));
    ck_assert_int_ne(memcmp(u, again, sizeof u), 0); /* the stream goes on */
    OK(lz_manual_seed(7));
    OK(lz_to_host(lz_rand(LZ_F32, LZ_SHAPE(N)), again, sizeof again));
    ck_assert_int_eq(memcmp(u, again, sizeof u), 0);
    OK(lz_manual_seed(8));
    OK(lz_to_host(lz_rand(LZ_F32, LZ_SHAPE(N)), again, sizeof again));
    ck_assert_int_ne(memcmp(u, again, sizeof u), 0);
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), compiled); /* nothing of it recompiles */
    static const lz_dtype floats[] = {LZ_F16, LZ_BF16, LZ_F64};
    for (int i = 0; i < 3; i++) {
        lz_tensor *t = lz_to(lz_rand(floats[i], LZ_SHAPE(500)), LZ_F64);
        ck_assert_double_lt(lz_item(lz_amax(t)), 1);
        ck_assert_double_ge(lz_item(lz_amin(t)), 0);
        ck_assert_double_eq_tol(lz_item(lz_mean(t)), 0.5, 0.06);
        ck_assert_int_eq(lz_item_i64(lz_all(lz_isfinite(lz_randn(floats[i], LZ_SHAPE(500))))), 1);
    }
    BAD(lz_rand(LZ_I32, LZ_SHAPE(2)), LZ_EDTYPE, "floats");
}
END_TEST

/* The same numbers on every device. */
START_TEST(random_numbers_are_the_devices_own_in_no_way)
{
    float v[2][64];
    for (int d = 0; d < 2; d++) {
        OK(lz_set_device(rt_devices[d]));
        OK(lz_manual_seed(99));
        OK(lz_to_host(lz_rand(LZ_F32, LZ_SHAPE(64)), v[d], sizeof v[d]));
    }
    ck_assert_int_eq(memcmp(v[0], v[1], sizeof v[0]), 0);
    OK(lz_set_device(NULL));
}
END_TEST

/* ---- primitives ---- */

START_TEST(primitives)
{
    lz_tensor *x = vec(4, (float[]){4, 1, 3, 2}), *ns, *bits;
    lz_tensor *i = lz_from_host(LZ_I64, LZ_SCALAR, (int64_t[]){2});
    rt_expect(lz_hlo_dynamic_slice(x, &i, (int64_t[]){2}, 1), (float[]){3, 2}, 2, 0);
    rt_expect(lz_hlo_dynamic_update_slice(x, vec(1, (float[]){9}), &i, 1), (float[]){4, 1, 9, 2}, 4,
              0);
    rt_expect(lz_hlo_optimization_barrier(x), (float[]){4, 1, 3, 2}, 4, 0);
    rt_expect(lz_hlo_reverse(x, (int64_t[]){0}, 1), (float[]){2, 3, 1, 4}, 4, 0);
    rt_expect(lz_hlo_reduce("minimum", x, (int64_t[]){0}, 1), (float[]){1}, 1, 0);
    ck_assert_int_eq(
        lz_item_i64(lz_hlo_reduce("xor", lz_hlo_bitcast_convert(x, LZ_I32), (int64_t[]){0}, 1)),
        0x40800000 ^ 0x3f800000 ^ 0x40400000 ^ 0x40000000);
    rt_expect(lz_hlo_reduce_precision(lz_scalar(LZ_F32, 1.2345), 8, 3), (float[]){1.25f}, 1, 0);
    bits = lz_hlo_rng_bit_generator(lz_from_host(LZ_U64, LZ_SHAPE(2), (uint64_t[]){1, 5}), LZ_U32,
                                    LZ_SHAPE(8), &ns);
    ck_assert_int_eq(lz_item_i64(lz_select(ns, 0, 1)), 7);
    ck_assert_int_eq(lz_dtype_of(bits), LZ_U32);
    lz_scatter_dims d = {.ninserted = 1,
                         .inserted_window_dims = {0},
                         .nmap = 1,
                         .scatter_dims_to_operand_dims = {0},
                         .index_vector_dim = 1};
    lz_tensor *at = lz_from_host(LZ_I32, LZ_SHAPE(2), (int32_t[]){3, 7});
    rt_expect(lz_hlo_scatter("assign", x, at, vec(2, (float[]){8, 8}), &d), (float[]){4, 1, 3, 8},
              4, 0);
    BAD(lz_hlo_reduce("subtract", x, (int64_t[]){0}, 1), LZ_EINVAL, "no combiner");
    BAD(lz_hlo_ew_at("dot_general", &x, 1, LZ_SITE), LZ_EINVAL, "elementwise");
    BAD(lz_hlo_ew_at("add", &x, 1, LZ_SITE), LZ_EINVAL, "2 operands");
    BAD(lz_hlo_compare((lz_hlo_direction)17, x, x), LZ_EINVAL, "17");
    BAD(lz_hlo_slice(x, (int64_t[]){0}, (int64_t[]){5}, NULL, 1), LZ_ERANGE, "slice");
}
END_TEST

int main(void)
{
    int failed = 0;
    for (int d = 0; d < 2; d++) {
        rt_use(rt_devices[d]);
        Suite *s = suite_create(rt_devices[d]);
        TCase *t = tcase_create("operations");
        tcase_set_timeout(t, 60);
        tcase_add_test(t, elementwise);
        tcase_add_test(t, special_values);
        tcase_add_test(t, promotion);
        tcase_add_test(t, broadcasting);
        tcase_add_test(t, reductions);
        tcase_add_test(t, extreme_positions);
        tcase_add_test(t, softmaxes);
        tcase_add_test(t, products);
        tcase_add_test(t, shapes);
        tcase_add_test(t, indexing);
        tcase_add_test(t, random_numbers);
        tcase_add_test(t, random_numbers_are_the_devices_own_in_no_way);
        tcase_add_test(t, primitives);
        suite_add_tcase(s, t);
        failed |= lz_run_suite(s);
    }
    return failed;
}
