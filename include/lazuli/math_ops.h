/* math_ops.h - elementwise operations with options or more than two operands, and activations.
 * Names, defaults and results are ATen's.
 * Options: a trailing struct whose fields have ATen's defaults, lz_elu(x, .alpha = 2); the plain
 * function takes NULL for all defaults. Numbers given by the caller are run-time arguments (of
 * integers but 0, 1 and -1): changing them never recompiles.
 * Shapes broadcast, dtypes promote, and "floats" means that integers and booleans are converted to
 * f32 first, as in tensor_ops.h; 16-bit floats are computed in f32 and rounded once. Errors of all,
 * as an error tensor: LZ_ENULL, LZ_ESHAPE, LZ_EDTYPE, LZ_EINVAL, LZ_ERANGE, LZ_EMEM. Source of
 * each: the ATen function of its name; gradients at kinks are ATen's.
 * Implemented in: ops/pointwise.c, ops/science/special_functions.c, ops/activation.c,
 *   ops/special/torch_special.c. */
#ifndef LAZULI_MATH_OPS_H
#define LAZULI_MATH_OPS_H
#include <lazuli/tensor.h>
#pragma GCC system_header
LZ_EXTERN_C_BEGIN

/* ---- arithmetic ---- */
/* a + alpha b (add.Tensor) */
LZ_API lz_tensor *lz_add_alpha_at(lz_tensor *a, lz_tensor *b, double alpha, const lz_site *site);
/* a - alpha b (sub.Tensor) */
LZ_API lz_tensor *lz_sub_alpha_at(lz_tensor *a, lz_tensor *b, double alpha, const lz_site *site);
/* a / b. rounding_mode: NULL in floats; "trunc" toward zero, "floor" down, both in the promoted
 * dtype. Integers: x / 0 is -1. */
LZ_API lz_tensor *lz_div_mode_at(lz_tensor *a, lz_tensor *b, const char *rounding_mode,
                                 const lz_site *site);
/* lz_div_mode by a number. */
LZ_API lz_tensor *lz_div_scalar_mode_at(lz_tensor *a, double b, const char *rounding_mode,
                                        const lz_site *site);
/* base to the power of each element (pow.Scalar). */
LZ_API lz_tensor *lz_scalar_pow_at(double base, lz_tensor *exponent, const lz_site *site);
/* x + value a b */
LZ_API lz_tensor *lz_addcmul_at(lz_tensor *x, lz_tensor *a, lz_tensor *b, double value,
                                const lz_site *site);
/* x + value a / b; floats */
LZ_API lz_tensor *lz_addcdiv_at(lz_tensor *x, lz_tensor *a, lz_tensor *b, double value,
                                const lz_site *site);
/* start + weight (end - start), computed from the end that is nearer, so that weights 0 and 1 give
 * the ends. Floats. */
LZ_API lz_tensor *lz_lerp_at(lz_tensor *start, lz_tensor *end, lz_tensor *weight,
                             const lz_site *site);
/* lz_lerp with one weight for all elements. */
LZ_API lz_tensor *lz_lerp_scalar_at(lz_tensor *start, lz_tensor *end, double weight,
                                    const lz_site *site);
/* min(max(x, lo), hi); one of the bounds may be NULL. NaN in any of the three gives NaN; where lo >
 * hi the result is hi. An x that is equal to a bound shares the gradient with it, half to each. */
LZ_API lz_tensor *lz_clamp_tensor_at(lz_tensor *x, lz_tensor *lo, lz_tensor *hi,
                                     const lz_site *site);
/* max(x, lo); NaN in x stays, lo = NaN gives NaN. The gradient at the bound is 0. */
LZ_API lz_tensor *lz_clamp_min_at(lz_tensor *x, double lo, const lz_site *site);
/* min(x, hi); NaN in x stays, hi = NaN gives NaN. The gradient at the bound is 0. */
LZ_API lz_tensor *lz_clamp_max_at(lz_tensor *x, double hi, const lz_site *site);
/* round(x 10^d) / 10^d, half to even, |d| <= 18. Floats. */
LZ_API lz_tensor *lz_round_decimals_at(lz_tensor *x, int decimals, const lz_site *site);
/* log(x / (1 - x)). eps >= 0: x is clamped to [eps, 1 - eps] first; NaN: it is not. Floats. */
LZ_API lz_tensor *lz_logit_at(lz_tensor *x, double eps, const lz_site *site);
/* The n-th derivative of digamma, n >= 0 (LZ_EINVAL). Floats. */
LZ_API lz_tensor *lz_polygamma_at(int n, lz_tensor *x, const lz_site *site);
/* The logarithm of the multivariate gamma function of dimension p, 1 to 1024, of x > (p - 1) / 2.
 * Floats. */
LZ_API lz_tensor *lz_mvlgamma_at(lz_tensor *x, int p, const lz_site *site);
typedef struct lz_nan_to_num_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_nan_to_num_options));
    double nan LZ_DEFAULT(0); /* replacement of NaN */
    /* replacement of infinity; 0, the default: the largest finite value of the dtype */
    double posinf LZ_DEFAULT(0);
    double neginf LZ_DEFAULT(0);        /* replacement of -infinity; 0: the lowest finite value */
    bool posinf_zero LZ_DEFAULT(false); /* posinf is meant to be 0 */
    bool neginf_zero LZ_DEFAULT(false); /* neginf is meant to be 0 */
} lz_nan_to_num_options;
/* x with NaN and infinities replaced; the gradient there is 0. Integers and booleans as they
 * are; complex numbers part by part. */
LZ_API lz_tensor *lz_nan_to_num_at(lz_tensor *x, const lz_nan_to_num_options *o,
                                   const lz_site *site);

/* ---- orthogonal polynomials of degree n, at most 1024 (LZ_EINVAL; below 0 they are 0), by their
 * recurrences in f64, rounded once. Floats ---- */
/* Chebyshev's polynomial of the first kind, T. */
LZ_API lz_tensor *lz_special_chebyshev_polynomial_t_at(lz_tensor *x, int n, const lz_site *site);
/* Of the second kind, U. */
LZ_API lz_tensor *lz_special_chebyshev_polynomial_u_at(lz_tensor *x, int n, const lz_site *site);
/* Of the third kind, V. */
LZ_API lz_tensor *lz_special_chebyshev_polynomial_v_at(lz_tensor *x, int n, const lz_site *site);
/* Of the fourth kind, W. */
LZ_API lz_tensor *lz_special_chebyshev_polynomial_w_at(lz_tensor *x, int n, const lz_site *site);
/* T of 2 x - 1. */
LZ_API lz_tensor *lz_special_shifted_chebyshev_polynomial_t_at(lz_tensor *x, int n,
                                                               const lz_site *site);
/* U of 2 x - 1. */
LZ_API lz_tensor *lz_special_shifted_chebyshev_polynomial_u_at(lz_tensor *x, int n,
                                                               const lz_site *site);
/* V of 2 x - 1. */
LZ_API lz_tensor *lz_special_shifted_chebyshev_polynomial_v_at(lz_tensor *x, int n,
                                                               const lz_site *site);
/* W of 2 x - 1. */
LZ_API lz_tensor *lz_special_shifted_chebyshev_polynomial_w_at(lz_tensor *x, int n,
                                                               const lz_site *site);
/* Hermite's polynomial, the physicists' H. */
LZ_API lz_tensor *lz_special_hermite_polynomial_h_at(lz_tensor *x, int n, const lz_site *site);
/* Hermite's polynomial, the probabilists' He. */
LZ_API lz_tensor *lz_special_hermite_polynomial_he_at(lz_tensor *x, int n, const lz_site *site);
/* Laguerre's polynomial L. */
LZ_API lz_tensor *lz_special_laguerre_polynomial_l_at(lz_tensor *x, int n, const lz_site *site);
/* Legendre's polynomial P. */
LZ_API lz_tensor *lz_special_legendre_polynomial_p_at(lz_tensor *x, int n, const lz_site *site);

/* ---- nearness: booleans ---- */
typedef struct lz_isclose_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_isclose_options));
    double rtol LZ_DEFAULT(1e-5);     /* relative tolerance, >= 0 */
    double atol LZ_DEFAULT(1e-8);     /* absolute tolerance, >= 0 */
    bool equal_nan LZ_DEFAULT(false); /* NaN is close to NaN */
} lz_isclose_options;
#define LZ_ISCLOSE_DEFAULTS .rtol = 1e-5, .atol = 1e-8
/* a == b, or a - b is finite and |a - b| <= atol + rtol |b|. Integers are
 * compared exactly, with what is allowed rounded down. */
LZ_API lz_tensor *lz_isclose_at(lz_tensor *a, lz_tensor *b, const lz_isclose_options *o,
                                const lz_site *site);
/* Whether lz_isclose is true of all elements: boolean, rank 0. */
LZ_API lz_tensor *lz_allclose_at(lz_tensor *a, lz_tensor *b, const lz_isclose_options *o,
                                 const lz_site *site);
/* Whether both have one shape and all elements are equal (NaN is not): boolean, rank 0. */
LZ_API lz_tensor *lz_equal_at(lz_tensor *a, lz_tensor *b, const lz_site *site);

/* ---- activations ---- */
typedef struct lz_leaky_relu_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_leaky_relu_options));
    double negative_slope LZ_DEFAULT(0.01); /* factor below 0 */
} lz_leaky_relu_options;
#define LZ_LEAKY_RELU_DEFAULTS .negative_slope = 0.01
/* x where x > 0, else slope x. Floats */
LZ_API lz_tensor *lz_leaky_relu_at(lz_tensor *x, const lz_leaky_relu_options *o,
                                   const lz_site *site);
typedef struct lz_elu_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_elu_options));
    double alpha LZ_DEFAULT(1);       /* factor of the exponential part */
    double scale LZ_DEFAULT(1);       /* factor of the result */
    double input_scale LZ_DEFAULT(1); /* factor of x below 0 */
} lz_elu_options;
#define LZ_ELU_DEFAULTS .alpha = 1, .scale = 1, .input_scale = 1
/* scale x where x > 0, else scale alpha (exp(input_scale x) - 1). Floats. */
LZ_API lz_tensor *lz_elu_at(lz_tensor *x, const lz_elu_options *o, const lz_site *site);
/* x where x > 0, else alpha (exp(x / alpha) - 1); alpha not 0 */
LZ_API lz_tensor *lz_celu_at(lz_tensor *x, double alpha, const lz_site *site);
typedef struct lz_softplus_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_softplus_options));
    double beta LZ_DEFAULT(1);       /* sharpness of the bend */
    double threshold LZ_DEFAULT(20); /* of beta x, above which the result is x */
} lz_softplus_options;
#define LZ_SOFTPLUS_DEFAULTS .beta = 1, .threshold = 20
/* log(1 + exp(beta x)) / beta; x where beta x > threshold */
LZ_API lz_tensor *lz_softplus_at(lz_tensor *x, const lz_softplus_options *o, const lz_site *site);
typedef struct lz_hardtanh_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_hardtanh_options));
    double min_val LZ_DEFAULT(-1); /* lower bound */
    double max_val LZ_DEFAULT(1);  /* upper bound */
} lz_hardtanh_options;
#define LZ_HARDTANH_DEFAULTS .min_val = -1, .max_val = 1
/* x clamped to [min_val, max_val]; the gradient at the bounds is 0. */
LZ_API lz_tensor *lz_hardtanh_at(lz_tensor *x, const lz_hardtanh_options *o, const lz_site *site);
/* 0 where -lambd <= x <= lambd, else x. ATen's default: 0.5 */
LZ_API lz_tensor *lz_hardshrink_at(lz_tensor *x, double lambd, const lz_site *site);
/* x brought nearer to 0 by lambd >= 0. ATen's default: 0.5 */
LZ_API lz_tensor *lz_softshrink_at(lz_tensor *x, double lambd, const lz_site *site);
/* x where x > threshold or NaN, else value */
LZ_API lz_tensor *lz_threshold_at(lz_tensor *x, double threshold, double value,
                                  const lz_site *site);
/* x where x > 0, else weight x; weight has one element, or one for each index of dimension 1 (of
 * dimension 0 for rank 1). Floats. */
LZ_API lz_tensor *lz_prelu_at(lz_tensor *x, lz_tensor *weight, const lz_site *site);
/* The first half of dim times the sigmoid of the second. Floats. */
LZ_API lz_tensor *lz_glu_at(lz_tensor *x, int64_t dim, const lz_site *site);
/* softmax of x converted to dtype (a float; LZ_DTYPE_NONE: x's); ATen's _softmax(half_to_float) is
 * dtype LZ_F32. */
LZ_API lz_tensor *lz_softmax_dtype_at(lz_tensor *x, int64_t dim, lz_dtype dtype,
                                      const lz_site *site);
/* log_softmax of x converted to dtype (a float; LZ_DTYPE_NONE: x's). */
LZ_API lz_tensor *lz_log_softmax_dtype_at(lz_tensor *x, int64_t dim, lz_dtype dtype,
                                          const lz_site *site);
/* softmax(-x) along dim. Floats. */
LZ_API lz_tensor *lz_softmin_at(lz_tensor *x, int64_t dim, const lz_site *site);

#define lz_add_alpha(a, b, alpha) lz_add_alpha_at(a, b, alpha, LZ_SITE)
#define lz_sub_alpha(a, b, alpha) lz_sub_alpha_at(a, b, alpha, LZ_SITE)
#define lz_div_mode(a, b, mode) lz_div_mode_at(a, b, mode, LZ_SITE)
#define lz_div_scalar_mode(a, b, mode) lz_div_scalar_mode_at(a, b, mode, LZ_SITE)
#define lz_scalar_pow(base, x) lz_scalar_pow_at(base, x, LZ_SITE)
#define lz_addcmul(x, a, b, value) lz_addcmul_at(x, a, b, value, LZ_SITE)
#define lz_addcdiv(x, a, b, value) lz_addcdiv_at(x, a, b, value, LZ_SITE)
#define lz_lerp(start, end, weight) lz_lerp_at(start, end, weight, LZ_SITE)
#define lz_lerp_scalar(start, end, weight) lz_lerp_scalar_at(start, end, weight, LZ_SITE)
#define lz_clamp_tensor(x, lo, hi) lz_clamp_tensor_at(x, lo, hi, LZ_SITE)
#define lz_clamp_min(x, lo) lz_clamp_min_at(x, lo, LZ_SITE)
#define lz_clamp_max(x, hi) lz_clamp_max_at(x, hi, LZ_SITE)
#define lz_round_decimals(x, decimals) lz_round_decimals_at(x, decimals, LZ_SITE)
#define lz_logit(x, eps) lz_logit_at(x, eps, LZ_SITE)
#define lz_mvlgamma(x, p) lz_mvlgamma_at(x, p, LZ_SITE)
#define lz_polygamma(n, x) lz_polygamma_at(n, x, LZ_SITE)
#define lz_special_chebyshev_polynomial_t(x, n) lz_special_chebyshev_polynomial_t_at(x, n, LZ_SITE)
#define lz_special_chebyshev_polynomial_u(x, n) lz_special_chebyshev_polynomial_u_at(x, n, LZ_SITE)
#define lz_special_chebyshev_polynomial_v(x, n) lz_special_chebyshev_polynomial_v_at(x, n, LZ_SITE)
#define lz_special_chebyshev_polynomial_w(x, n) lz_special_chebyshev_polynomial_w_at(x, n, LZ_SITE)
#define lz_special_shifted_chebyshev_polynomial_t(x, n)                                            \
    lz_special_shifted_chebyshev_polynomial_t_at(x, n, LZ_SITE)
#define lz_special_shifted_chebyshev_polynomial_u(x, n)                                            \
    lz_special_shifted_chebyshev_polynomial_u_at(x, n, LZ_SITE)
#define lz_special_shifted_chebyshev_polynomial_v(x, n)                                            \
    lz_special_shifted_chebyshev_polynomial_v_at(x, n, LZ_SITE)
#define lz_special_shifted_chebyshev_polynomial_w(x, n)                                            \
    lz_special_shifted_chebyshev_polynomial_w_at(x, n, LZ_SITE)
#define lz_special_hermite_polynomial_h(x, n) lz_special_hermite_polynomial_h_at(x, n, LZ_SITE)
#define lz_special_hermite_polynomial_he(x, n) lz_special_hermite_polynomial_he_at(x, n, LZ_SITE)
#define lz_special_laguerre_polynomial_l(x, n) lz_special_laguerre_polynomial_l_at(x, n, LZ_SITE)
#define lz_special_legendre_polynomial_p(x, n) lz_special_legendre_polynomial_p_at(x, n, LZ_SITE)
#define lz_nan_to_num(...) LZ_ARGS_nan_to_num(__VA_ARGS__, )
#define LZ_ARGS_nan_to_num(x, ...)                                                                 \
    lz_nan_to_num_at(x, LZ_OPTIONS_OF(lz_nan_to_num_options, __VA_ARGS__), LZ_SITE)
#define lz_isclose(...) LZ_ARGS_isclose(__VA_ARGS__, )
#define LZ_ARGS_isclose(a, b, ...)                                                                 \
    LZ_OVERRIDING(lz_isclose_at(                                                                   \
        a, b, LZ_DEFAULTED(lz_isclose_options, LZ_ISCLOSE_DEFAULTS, __VA_ARGS__), LZ_SITE))
#define lz_allclose(...) LZ_ARGS_allclose(__VA_ARGS__, )
#define LZ_ARGS_allclose(a, b, ...)                                                                \
    LZ_OVERRIDING(lz_allclose_at(                                                                  \
        a, b, LZ_DEFAULTED(lz_isclose_options, LZ_ISCLOSE_DEFAULTS, __VA_ARGS__), LZ_SITE))
#define lz_equal(a, b) lz_equal_at(a, b, LZ_SITE)
#define lz_leaky_relu(...) LZ_ARGS_leaky_relu(__VA_ARGS__, )
#define LZ_ARGS_leaky_relu(x, ...)                                                                 \
    LZ_OVERRIDING(lz_leaky_relu_at(                                                                \
        x, LZ_DEFAULTED(lz_leaky_relu_options, LZ_LEAKY_RELU_DEFAULTS, __VA_ARGS__), LZ_SITE))
#define lz_elu(...) LZ_ARGS_elu(__VA_ARGS__, )
#define LZ_ARGS_elu(x, ...)                                                                        \
    LZ_OVERRIDING(lz_elu_at(x, LZ_DEFAULTED(lz_elu_options, LZ_ELU_DEFAULTS, __VA_ARGS__), LZ_SITE))
#define lz_celu(x, alpha) lz_celu_at(x, alpha, LZ_SITE)
#define lz_softplus(...) LZ_ARGS_softplus(__VA_ARGS__, )
#define LZ_ARGS_softplus(x, ...)                                                                   \
    LZ_OVERRIDING(lz_softplus_at(                                                                  \
        x, LZ_DEFAULTED(lz_softplus_options, LZ_SOFTPLUS_DEFAULTS, __VA_ARGS__), LZ_SITE))
#define lz_hardtanh(...) LZ_ARGS_hardtanh(__VA_ARGS__, )
#define LZ_ARGS_hardtanh(x, ...)                                                                   \
    LZ_OVERRIDING(lz_hardtanh_at(                                                                  \
        x, LZ_DEFAULTED(lz_hardtanh_options, LZ_HARDTANH_DEFAULTS, __VA_ARGS__), LZ_SITE))
#define lz_hardshrink(x, lambd) lz_hardshrink_at(x, lambd, LZ_SITE)
#define lz_softshrink(x, lambd) lz_softshrink_at(x, lambd, LZ_SITE)
#define lz_threshold(x, threshold, value) lz_threshold_at(x, threshold, value, LZ_SITE)
#define lz_prelu(x, weight) lz_prelu_at(x, weight, LZ_SITE)
#define lz_glu(x, dim) lz_glu_at(x, dim, LZ_SITE)
#define lz_softmax_dtype(x, dim, dtype) lz_softmax_dtype_at(x, dim, dtype, LZ_SITE)
#define lz_log_softmax_dtype(x, dim, dtype) lz_log_softmax_dtype_at(x, dim, dtype, LZ_SITE)
#define lz_softmin(x, dim) lz_softmin_at(x, dim, LZ_SITE)
LZ_EXTERN_C_END
#endif
