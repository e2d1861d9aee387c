/* ops.h - elementwise operations, with ATen's names. Written by tools/opgen from ops/user_ops.def: edit that, then `make regen`.
 * Shapes: operands broadcast as in ATen. dtypes: two operands are promoted first (bool < integers < floats < complex; the wider wins); the
 * comment of each function then says what it takes and gives. Floats are f16, bf16, f32, f64.
 * Errors of all, as an error tensor: LZ_ENULL, LZ_ESHAPE, LZ_EDTYPE, LZ_ERANGE, LZ_EMEM; an operand that is an error tensor is
 * returned. Gradients: docs/reference/ops.md.
 * Implemented in: ops/elementwise.c. */
#ifndef LAZULI_OPS_H
#define LAZULI_OPS_H
#include <lazuli/tensor.h>
#pragma GCC system_header
LZ_EXTERN_C_BEGIN

/* Arc cosine in 0..pi; NaN outside -1..1.
 * floats, complex, others as f32 -> the same. Source: ATen acos, chlo.acos. */
LZ_API lz_tensor *lz_acos_at(lz_tensor *x, const lz_site *site);
#define lz_acos(x) lz_acos_at(x, LZ_SITE)

/* Inverse hyperbolic cosine; NaN below 1.
 * floats, complex, others as f32 -> the same. Source: ATen acosh, chlo.acosh. */
LZ_API lz_tensor *lz_acosh_at(lz_tensor *x, const lz_site *site);
#define lz_acosh(x) lz_acosh_at(x, LZ_SITE)

/* Arc sine in -pi/2..pi/2; NaN outside -1..1.
 * floats, complex, others as f32 -> the same. Source: ATen asin, chlo.asin. */
LZ_API lz_tensor *lz_asin_at(lz_tensor *x, const lz_site *site);
#define lz_asin(x) lz_asin_at(x, LZ_SITE)

/* Inverse hyperbolic sine.
 * floats, complex, others as f32 -> the same. Source: ATen asinh, chlo.asinh. */
LZ_API lz_tensor *lz_asinh_at(lz_tensor *x, const lz_site *site);
#define lz_asinh(x) lz_asinh_at(x, LZ_SITE)

/* Arc tangent in -pi/2..pi/2.
 * floats, complex, others as f32 -> the same. Source: ATen atan, chlo.atan. */
LZ_API lz_tensor *lz_atan_at(lz_tensor *x, const lz_site *site);
#define lz_atan(x) lz_atan_at(x, LZ_SITE)

/* Inverse hyperbolic tangent; NaN outside -1..1.
 * floats, complex, others as f32 -> the same. Source: ATen atanh, chlo.atanh. */
LZ_API lz_tensor *lz_atanh_at(lz_tensor *x, const lz_site *site);
#define lz_atanh(x) lz_atanh_at(x, LZ_SITE)

/* Hyperbolic cosine.
 * floats, complex, others as f32 -> the same. Source: ATen cosh, chlo.cosh. */
LZ_API lz_tensor *lz_cosh_at(lz_tensor *x, const lz_site *site);
#define lz_cosh(x) lz_cosh_at(x, LZ_SITE)

/* Derivative of lgamma; NaN at 0, -1, -2, .. (ATen: infinite at 0).
 * floats, others as f32 -> the same. Source: ATen digamma, chlo.digamma. */
LZ_API lz_tensor *lz_digamma_at(lz_tensor *x, const lz_site *site);
#define lz_digamma(x) lz_digamma_at(x, LZ_SITE)

/* 1 - erf(x), accurate where that is near 0.
 * floats, others as f32 -> the same. Source: ATen erfc, chlo.erfc. */
LZ_API lz_tensor *lz_erfc_at(lz_tensor *x, const lz_site *site);
#define lz_erfc(x) lz_erfc_at(x, LZ_SITE)

/* The y with erf(y) = x; infinite at -1 and 1, NaN beyond.
 * floats, others as f32 -> the same. Source: ATen erfinv, chlo.erf_inv. */
LZ_API lz_tensor *lz_erfinv_at(lz_tensor *x, const lz_site *site);
#define lz_erfinv(x) lz_erfinv_at(x, LZ_SITE)

/* Logarithm of the magnitude of the gamma function.
 * floats, others as f32 -> the same. Source: ATen lgamma, chlo.lgamma. */
LZ_API lz_tensor *lz_lgamma_at(lz_tensor *x, const lz_site *site);
#define lz_lgamma(x) lz_lgamma_at(x, LZ_SITE)

/* Hyperbolic sine.
 * floats, complex, others as f32 -> the same. Source: ATen sinh, chlo.sinh. */
LZ_API lz_tensor *lz_sinh_at(lz_tensor *x, const lz_site *site);
#define lz_sinh(x) lz_sinh_at(x, LZ_SITE)

/* Modified Bessel function of order 1, times exp(-|x|).
 * floats, others as f32 -> the same. Source: ATen special_i1e, chlo.bessel_i1e. */
LZ_API lz_tensor *lz_special_i1e_at(lz_tensor *x, const lz_site *site);
#define lz_special_i1e(x) lz_special_i1e_at(x, LZ_SITE)

/* Bitwise complement; on booleans, not.
 * bool, integers -> the same. Source: ATen bitwise_not, StableHLO not. */
LZ_API lz_tensor *lz_bitwise_not_at(lz_tensor *x, const lz_site *site);
#define lz_bitwise_not(x) lz_bitwise_not_at(x, LZ_SITE)

/* Smallest integral value not below x.
 * floats, integers -> the same. Source: ATen ceil, StableHLO ceil. */
LZ_API lz_tensor *lz_ceil_at(lz_tensor *x, const lz_site *site);
#define lz_ceil(x) lz_ceil_at(x, LZ_SITE)

/* Cosine of x in radians.
 * floats, complex, others as f32 -> the same. Source: ATen cos, StableHLO cosine. */
LZ_API lz_tensor *lz_cos_at(lz_tensor *x, const lz_site *site);
#define lz_cos(x) lz_cos_at(x, LZ_SITE)

/* Error function.
 * floats, others as f32 -> the same. Source: ATen erf, chlo.erf. */
LZ_API lz_tensor *lz_erf_at(lz_tensor *x, const lz_site *site);
#define lz_erf(x) lz_erf_at(x, LZ_SITE)

/* e to the power x.
 * floats, complex, others as f32 -> the same. Source: ATen exp, StableHLO exponential. */
LZ_API lz_tensor *lz_exp_at(lz_tensor *x, const lz_site *site);
#define lz_exp(x) lz_exp_at(x, LZ_SITE)

/* e to the power x, minus 1, exact near 0.
 * floats, complex, others as f32 -> the same. Source: ATen expm1, StableHLO exponential_minus_one. */
LZ_API lz_tensor *lz_expm1_at(lz_tensor *x, const lz_site *site);
#define lz_expm1(x) lz_expm1_at(x, LZ_SITE)

/* Largest integral value not above x.
 * floats, integers -> the same. Source: ATen floor, StableHLO floor. */
LZ_API lz_tensor *lz_floor_at(lz_tensor *x, const lz_site *site);
#define lz_floor(x) lz_floor_at(x, LZ_SITE)

/* Imaginary part; 0 of a float.
 * floats, complex -> the dtype of the parts. Source: ATen imag, StableHLO imag. */
LZ_API lz_tensor *lz_imag_at(lz_tensor *x, const lz_site *site);
#define lz_imag(x) lz_imag_at(x, LZ_SITE)

/* Whether x is neither infinite nor NaN; boolean.
 * floats, others as f32 -> bool. Source: ATen isfinite, StableHLO is_finite. */
LZ_API lz_tensor *lz_isfinite_at(lz_tensor *x, const lz_site *site);
#define lz_isfinite(x) lz_isfinite_at(x, LZ_SITE)

/* Natural logarithm; NaN below 0, -inf at 0.
 * floats, complex, others as f32 -> the same. Source: ATen log, StableHLO log. */
LZ_API lz_tensor *lz_log_at(lz_tensor *x, const lz_site *site);
#define lz_log(x) lz_log_at(x, LZ_SITE)

/* Natural logarithm of 1 + x, exact near 0.
 * floats, complex, others as f32 -> the same. Source: ATen log1p, StableHLO log_plus_one. */
LZ_API lz_tensor *lz_log1p_at(lz_tensor *x, const lz_site *site);
#define lz_log1p(x) lz_log1p_at(x, LZ_SITE)

/* Whether x is 0.
 * any dtype as x != 0 -> bool. Source: ATen logical_not, StableHLO not. */
LZ_API lz_tensor *lz_logical_not_at(lz_tensor *x, const lz_site *site);
#define lz_logical_not(x) lz_logical_not_at(x, LZ_SITE)

/* Minus x.
 * numbers -> the same. Source: ATen neg, StableHLO negate. */
LZ_API lz_tensor *lz_neg_at(lz_tensor *x, const lz_site *site);
#define lz_neg(x) lz_neg_at(x, LZ_SITE)

/* Real part; a float itself.
 * floats, complex -> the dtype of the parts. Source: ATen real, StableHLO real. */
LZ_API lz_tensor *lz_real_at(lz_tensor *x, const lz_site *site);
#define lz_real(x) lz_real_at(x, LZ_SITE)

/* Nearest integral value, ties to even.
 * floats, integers -> the same. Source: ATen round, StableHLO round_nearest_even. */
LZ_API lz_tensor *lz_round_at(lz_tensor *x, const lz_site *site);
#define lz_round(x) lz_round_at(x, LZ_SITE)

/* Reciprocal of the square root.
 * floats, complex, others as f32 -> the same. Source: ATen rsqrt, StableHLO rsqrt. */
LZ_API lz_tensor *lz_rsqrt_at(lz_tensor *x, const lz_site *site);
#define lz_rsqrt(x) lz_rsqrt_at(x, LZ_SITE)

/* 1 / (1 + exp(-x)).
 * floats, complex, others as f32 -> the same. Source: ATen sigmoid, StableHLO logistic. */
LZ_API lz_tensor *lz_sigmoid_at(lz_tensor *x, const lz_site *site);
#define lz_sigmoid(x) lz_sigmoid_at(x, LZ_SITE)

/* Sine of x in radians.
 * floats, complex, others as f32 -> the same. Source: ATen sin, StableHLO sine. */
LZ_API lz_tensor *lz_sin_at(lz_tensor *x, const lz_site *site);
#define lz_sin(x) lz_sin_at(x, LZ_SITE)

/* Square root; NaN below 0.
 * floats, complex, others as f32 -> the same. Source: ATen sqrt, StableHLO sqrt. */
LZ_API lz_tensor *lz_sqrt_at(lz_tensor *x, const lz_site *site);
#define lz_sqrt(x) lz_sqrt_at(x, LZ_SITE)

/* Tangent of x in radians.
 * floats, complex, others as f32 -> the same. Source: ATen tan, StableHLO tan. */
LZ_API lz_tensor *lz_tan_at(lz_tensor *x, const lz_site *site);
#define lz_tan(x) lz_tan_at(x, LZ_SITE)

/* Hyperbolic tangent.
 * floats, complex, others as f32 -> the same. Source: ATen tanh, StableHLO tanh. */
LZ_API lz_tensor *lz_tanh_at(lz_tensor *x, const lz_site *site);
#define lz_tanh(x) lz_tanh_at(x, LZ_SITE)

/* The next number after a on the way to b. Gradient 0.
 * floats, others as f32 -> the same. Source: ATen nextafter, chlo.next_after. */
LZ_API lz_tensor *lz_nextafter_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_nextafter(a, b) lz_nextafter_at(a, b, LZ_SITE)

/* Hurwitz zeta: the sum of (k + b) to the power -a over k = 0, 1, ..; NaN for a < 1.
 * floats, others as f32 -> the same. Source: ATen special_zeta, chlo.zeta. */
LZ_API lz_tensor *lz_special_zeta_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_special_zeta(a, b) lz_special_zeta_at(a, b, LZ_SITE)

/* a + b; integers wrap; on booleans, or.
 * any but 8-bit floats -> the same. Source: ATen add, StableHLO add. */
LZ_API lz_tensor *lz_add_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_add(a, b) lz_add_at(a, b, LZ_SITE)

/* a - b; integers wrap; not for booleans.
 * numbers -> the same. Source: ATen sub, StableHLO subtract. */
LZ_API lz_tensor *lz_sub_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_sub(a, b) lz_sub_at(a, b, LZ_SITE)

/* a * b; integers wrap; on booleans, and.
 * any but 8-bit floats -> the same. Source: ATen mul, StableHLO multiply. */
LZ_API lz_tensor *lz_mul_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_mul(a, b) lz_mul_at(a, b, LZ_SITE)

/* a / b; integers divide as f32.
 * floats, others as f32 -> the same. Source: ATen div, StableHLO divide. */
LZ_API lz_tensor *lz_div_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_div(a, b) lz_div_at(a, b, LZ_SITE)

/* a to the power b; of integers, a negative exponent gives 0 except for a = 1, -1.
 * numbers -> the same. Source: ATen pow, StableHLO power. */
LZ_API lz_tensor *lz_pow_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_pow(a, b) lz_pow_at(a, b, LZ_SITE)

/* Remainder of a / b with the sign of a; of integers, a where b is 0.
 * integers, floats -> the same. Source: ATen fmod, StableHLO remainder. */
LZ_API lz_tensor *lz_fmod_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_fmod(a, b) lz_fmod_at(a, b, LZ_SITE)

/* Angle of the point (b, a) in radians.
 * floats, complex, others as f32 -> the same. Source: ATen atan2, StableHLO atan2. */
LZ_API lz_tensor *lz_atan2_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_atan2(a, b) lz_atan2_at(a, b, LZ_SITE)

/* The complex number a + ib of f32 or f64 parts.
 * f32, f64 -> complex. Source: ATen complex, StableHLO complex. */
LZ_API lz_tensor *lz_complex_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_complex(a, b) lz_complex_at(a, b, LZ_SITE)

/* The larger; NaN if either is NaN; on booleans, or.
 * any but 8-bit floats -> the same. Source: ATen maximum, StableHLO maximum. */
LZ_API lz_tensor *lz_maximum_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_maximum(a, b) lz_maximum_at(a, b, LZ_SITE)

/* The smaller; NaN if either is NaN; on booleans, and.
 * any but 8-bit floats -> the same. Source: ATen minimum, StableHLO minimum. */
LZ_API lz_tensor *lz_minimum_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_minimum(a, b) lz_minimum_at(a, b, LZ_SITE)

/* Whether both are not 0.
 * any dtype as x != 0 -> bool. Source: ATen logical_and, StableHLO and. */
LZ_API lz_tensor *lz_logical_and_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_logical_and(a, b) lz_logical_and_at(a, b, LZ_SITE)

/* Whether one or both are not 0.
 * any dtype as x != 0 -> bool. Source: ATen logical_or, StableHLO or. */
LZ_API lz_tensor *lz_logical_or_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_logical_or(a, b) lz_logical_or_at(a, b, LZ_SITE)

/* Whether exactly one is not 0.
 * any dtype as x != 0 -> bool. Source: ATen logical_xor, StableHLO xor. */
LZ_API lz_tensor *lz_logical_xor_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_logical_xor(a, b) lz_logical_xor_at(a, b, LZ_SITE)

/* Bitwise and.
 * bool, integers -> the same. Source: ATen bitwise_and, StableHLO and. */
LZ_API lz_tensor *lz_bitwise_and_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_bitwise_and(a, b) lz_bitwise_and_at(a, b, LZ_SITE)

/* Bitwise or.
 * bool, integers -> the same. Source: ATen bitwise_or, StableHLO or. */
LZ_API lz_tensor *lz_bitwise_or_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_bitwise_or(a, b) lz_bitwise_or_at(a, b, LZ_SITE)

/* Bitwise exclusive or.
 * bool, integers -> the same. Source: ATen bitwise_xor, StableHLO xor. */
LZ_API lz_tensor *lz_bitwise_xor_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_bitwise_xor(a, b) lz_bitwise_xor_at(a, b, LZ_SITE)

/* a << b; 0 when b is outside the width.
 * integers -> the same. Source: ATen bitwise_left_shift, StableHLO shift_left. */
LZ_API lz_tensor *lz_bitwise_left_shift_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_bitwise_left_shift(a, b) lz_bitwise_left_shift_at(a, b, LZ_SITE)

/* a >> b, keeping the sign of signed integers.
 * integers -> the same. Source: ATen bitwise_right_shift, StableHLO shift_right_arithmetic. */
LZ_API lz_tensor *lz_bitwise_right_shift_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_bitwise_right_shift(a, b) lz_bitwise_right_shift_at(a, b, LZ_SITE)

/* a == b; false with NaN.
 * any dtype -> bool. Source: ATen eq, StableHLO compare. */
LZ_API lz_tensor *lz_eq_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_eq(a, b) lz_eq_at(a, b, LZ_SITE)

/* a != b; true with NaN.
 * any dtype -> bool. Source: ATen ne, StableHLO compare. */
LZ_API lz_tensor *lz_ne_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_ne(a, b) lz_ne_at(a, b, LZ_SITE)

/* a >= b; false with NaN.
 * any dtype -> bool. Source: ATen ge, StableHLO compare. */
LZ_API lz_tensor *lz_ge_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_ge(a, b) lz_ge_at(a, b, LZ_SITE)

/* a > b; false with NaN.
 * any dtype -> bool. Source: ATen gt, StableHLO compare. */
LZ_API lz_tensor *lz_gt_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_gt(a, b) lz_gt_at(a, b, LZ_SITE)

/* a <= b; false with NaN.
 * any dtype -> bool. Source: ATen le, StableHLO compare. */
LZ_API lz_tensor *lz_le_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_le(a, b) lz_le_at(a, b, LZ_SITE)

/* a < b; false with NaN.
 * any dtype -> bool. Source: ATen lt, StableHLO compare. */
LZ_API lz_tensor *lz_lt_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_lt(a, b) lz_lt_at(a, b, LZ_SITE)

/* Absolute value; of a complex number, a float.
 * numbers -> the same, complex numbers -> the dtype of their parts. Source: ATen abs. */
LZ_API lz_tensor *lz_abs_at(lz_tensor *x, const lz_site *site);
#define lz_abs(x) lz_abs_at(x, LZ_SITE)

/* Degrees to radians.
 * floats, others as f32 -> the same. Source: ATen deg2rad. */
LZ_API lz_tensor *lz_deg2rad_at(lz_tensor *x, const lz_site *site);
#define lz_deg2rad(x) lz_deg2rad_at(x, LZ_SITE)

/* 2 to the power x.
 * floats, others as f32 -> the same. Source: ATen exp2. */
LZ_API lz_tensor *lz_exp2_at(lz_tensor *x, const lz_site *site);
#define lz_exp2(x) lz_exp2_at(x, LZ_SITE)

/* x - trunc(x).
 * floats -> the same. Source: ATen frac. */
LZ_API lz_tensor *lz_frac_at(lz_tensor *x, const lz_site *site);
#define lz_frac(x) lz_frac_at(x, LZ_SITE)

/* 0 below -3, 1 above 3, x / 6 + 1/2 between.
 * floats, others as f32 -> the same. Source: ATen hardsigmoid. */
LZ_API lz_tensor *lz_hardsigmoid_at(lz_tensor *x, const lz_site *site);
#define lz_hardsigmoid(x) lz_hardsigmoid_at(x, LZ_SITE)

/* x hardsigmoid(x).
 * floats, others as f32 -> the same. Source: ATen hardswish. */
LZ_API lz_tensor *lz_hardswish_at(lz_tensor *x, const lz_site *site);
#define lz_hardswish(x) lz_hardswish_at(x, LZ_SITE)

/* Whether x is infinite.
 * floats, others as f32 -> bool. Source: ATen isinf. */
LZ_API lz_tensor *lz_isinf_at(lz_tensor *x, const lz_site *site);
#define lz_isinf(x) lz_isinf_at(x, LZ_SITE)

/* Whether x is NaN.
 * floats, others as f32 -> bool. Source: ATen isnan. */
LZ_API lz_tensor *lz_isnan_at(lz_tensor *x, const lz_site *site);
#define lz_isnan(x) lz_isnan_at(x, LZ_SITE)

/* Whether x is minus infinity.
 * floats, others as f32 -> bool. Source: ATen isneginf. */
LZ_API lz_tensor *lz_isneginf_at(lz_tensor *x, const lz_site *site);
#define lz_isneginf(x) lz_isneginf_at(x, LZ_SITE)

/* Whether x is plus infinity.
 * floats, others as f32 -> bool. Source: ATen isposinf. */
LZ_API lz_tensor *lz_isposinf_at(lz_tensor *x, const lz_site *site);
#define lz_isposinf(x) lz_isposinf_at(x, LZ_SITE)

/* Logarithm to base 10, exact of its powers.
 * floats, others as f32 -> the same. Source: ATen log10. */
LZ_API lz_tensor *lz_log10_at(lz_tensor *x, const lz_site *site);
#define lz_log10(x) lz_log10_at(x, LZ_SITE)

/* Logarithm to base 2, exact of its powers.
 * floats, others as f32 -> the same. Source: ATen log2. */
LZ_API lz_tensor *lz_log2_at(lz_tensor *x, const lz_site *site);
#define lz_log2(x) lz_log2_at(x, LZ_SITE)

/* log(1 / (1 + exp(-x))) without overflow.
 * floats, others as f32 -> the same. Source: ATen log_sigmoid. */
LZ_API lz_tensor *lz_log_sigmoid_at(lz_tensor *x, const lz_site *site);
#define lz_log_sigmoid(x) lz_log_sigmoid_at(x, LZ_SITE)

/* x tanh(log(1 + exp(x))).
 * floats, others as f32 -> the same. Source: ATen mish. */
LZ_API lz_tensor *lz_mish_at(lz_tensor *x, const lz_site *site);
#define lz_mish(x) lz_mish_at(x, LZ_SITE)

/* Radians to degrees.
 * floats, others as f32 -> the same. Source: ATen rad2deg. */
LZ_API lz_tensor *lz_rad2deg_at(lz_tensor *x, const lz_site *site);
#define lz_rad2deg(x) lz_rad2deg_at(x, LZ_SITE)

/* 1 / x.
 * floats, others as f32 -> the same. Source: ATen reciprocal. */
LZ_API lz_tensor *lz_reciprocal_at(lz_tensor *x, const lz_site *site);
#define lz_reciprocal(x) lz_reciprocal_at(x, LZ_SITE)

/* x between 0 and 6.
 * numbers -> the same. Source: ATen relu6. */
LZ_API lz_tensor *lz_relu6_at(lz_tensor *x, const lz_site *site);
#define lz_relu6(x) lz_relu6_at(x, LZ_SITE)

/* elu with alpha 1.6732632423543772, times 1.0507009873554805.
 * floats, others as f32 -> the same. Source: ATen selu. */
LZ_API lz_tensor *lz_selu_at(lz_tensor *x, const lz_site *site);
#define lz_selu(x) lz_selu_at(x, LZ_SITE)

/* -1, 0 or 1 by the sign of x; keeps -0 and NaN. Of a complex number, x / abs(x) (ATen sgn).
 * any dtype -> the same. Source: ATen sign. */
LZ_API lz_tensor *lz_sign_at(lz_tensor *x, const lz_site *site);
#define lz_sign(x) lz_sign_at(x, LZ_SITE)

/* Whether the sign is minus, of -0 too.
 * any dtype -> bool. Source: ATen signbit. */
LZ_API lz_tensor *lz_signbit_at(lz_tensor *x, const lz_site *site);
#define lz_signbit(x) lz_signbit_at(x, LZ_SITE)

/* sin(pi x) / (pi x), 1 at 0.
 * floats, others as f32 -> the same. Source: ATen sinc. */
LZ_API lz_tensor *lz_sinc_at(lz_tensor *x, const lz_site *site);
#define lz_sinc(x) lz_sinc_at(x, LZ_SITE)

/* x / (1 + abs(x)).
 * floats, others as f32 -> the same. Source: ATen softsign. */
LZ_API lz_tensor *lz_softsign_at(lz_tensor *x, const lz_site *site);
#define lz_softsign(x) lz_softsign_at(x, LZ_SITE)

/* Bessel function of the first kind of order 0.
 * floats, others as f32 -> the same. Source: ATen special_bessel_j0. */
LZ_API lz_tensor *lz_special_bessel_j0_at(lz_tensor *x, const lz_site *site);
#define lz_special_bessel_j0(x) lz_special_bessel_j0_at(x, LZ_SITE)

/* Bessel function of the first kind of order 1.
 * floats, others as f32 -> the same. Source: ATen special_bessel_j1. */
LZ_API lz_tensor *lz_special_bessel_j1_at(lz_tensor *x, const lz_site *site);
#define lz_special_bessel_j1(x) lz_special_bessel_j1_at(x, LZ_SITE)

/* Bessel function of the second kind of order 0; minus infinity at 0, NaN below.
 * floats, others as f32 -> the same. Source: ATen special_bessel_y0. */
LZ_API lz_tensor *lz_special_bessel_y0_at(lz_tensor *x, const lz_site *site);
#define lz_special_bessel_y0(x) lz_special_bessel_y0_at(x, LZ_SITE)

/* Bessel function of the second kind of order 1; minus infinity at 0, NaN below.
 * floats, others as f32 -> the same. Source: ATen special_bessel_y1. */
LZ_API lz_tensor *lz_special_bessel_y1_at(lz_tensor *x, const lz_site *site);
#define lz_special_bessel_y1(x) lz_special_bessel_y1_at(x, LZ_SITE)

/* -x log(x), 0 at 0, minus infinity below.
 * floats, others as f32 -> the same. Source: ATen special_entr. */
LZ_API lz_tensor *lz_special_entr_at(lz_tensor *x, const lz_site *site);
#define lz_special_entr(x) lz_special_entr_at(x, LZ_SITE)

/* exp(x x) erfc(x).
 * floats, others as f32 -> the same. Source: ATen special_erfcx. */
LZ_API lz_tensor *lz_special_erfcx_at(lz_tensor *x, const lz_site *site);
#define lz_special_erfcx(x) lz_special_erfcx_at(x, LZ_SITE)

/* Modified Bessel function of the first kind of order 0.
 * floats, others as f32 -> the same. Source: ATen special_i0. */
LZ_API lz_tensor *lz_special_i0_at(lz_tensor *x, const lz_site *site);
#define lz_special_i0(x) lz_special_i0_at(x, LZ_SITE)

/* The same times exp(-|x|).
 * floats, others as f32 -> the same. Source: ATen special_i0e. */
LZ_API lz_tensor *lz_special_i0e_at(lz_tensor *x, const lz_site *site);
#define lz_special_i0e(x) lz_special_i0e_at(x, LZ_SITE)

/* Modified Bessel function of the first kind of order 1.
 * floats, others as f32 -> the same. Source: ATen special_i1. */
LZ_API lz_tensor *lz_special_i1_at(lz_tensor *x, const lz_site *site);
#define lz_special_i1(x) lz_special_i1_at(x, LZ_SITE)

/* Logarithm of lz_special_ndtr, accurate in both tails.
 * floats, others as f32 -> the same. Source: ATen special_log_ndtr. */
LZ_API lz_tensor *lz_special_log_ndtr_at(lz_tensor *x, const lz_site *site);
#define lz_special_log_ndtr(x) lz_special_log_ndtr_at(x, LZ_SITE)

/* Normal distribution: how much of it is below x.
 * floats, others as f32 -> the same. Source: ATen special_ndtr. */
LZ_API lz_tensor *lz_special_ndtr_at(lz_tensor *x, const lz_site *site);
#define lz_special_ndtr(x) lz_special_ndtr_at(x, LZ_SITE)

/* Quantile of the normal distribution, the x with ndtr(x) = p; infinite at 0 and 1, NaN outside.
 * floats, others as f32 -> the same. Source: ATen special_ndtri. */
LZ_API lz_tensor *lz_special_ndtri_at(lz_tensor *x, const lz_site *site);
#define lz_special_ndtri(x) lz_special_ndtri_at(x, LZ_SITE)

/* x times x.
 * numbers -> the same, booleans -> i64. Source: ATen square. */
LZ_API lz_tensor *lz_square_at(lz_tensor *x, const lz_site *site);
#define lz_square(x) lz_square_at(x, LZ_SITE)

/* x - tanh(x).
 * floats, others as f32 -> the same. Source: ATen tanhshrink. */
LZ_API lz_tensor *lz_tanhshrink_at(lz_tensor *x, const lz_site *site);
#define lz_tanhshrink(x) lz_tanhshrink_at(x, LZ_SITE)

/* x without its fraction.
 * integers, floats -> the same. Source: ATen trunc. */
LZ_API lz_tensor *lz_trunc_at(lz_tensor *x, const lz_site *site);
#define lz_trunc(x) lz_trunc_at(x, LZ_SITE)

/* a with the sign of b.
 * floats, others as f32 -> the same. Source: ATen copysign. */
LZ_API lz_tensor *lz_copysign_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_copysign(a, b) lz_copysign_at(a, b, LZ_SITE)

/* floor(a / b); of integers, -1 where b is 0.
 * numbers -> the same. Source: ATen floor_divide. */
LZ_API lz_tensor *lz_floor_divide_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_floor_divide(a, b) lz_floor_divide_at(a, b, LZ_SITE)

/* The larger; the other one where one is NaN.
 * any dtype -> the same. Source: ATen fmax. */
LZ_API lz_tensor *lz_fmax_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_fmax(a, b) lz_fmax_at(a, b, LZ_SITE)

/* The smaller; the other one where one is NaN.
 * any dtype -> the same. Source: ATen fmin. */
LZ_API lz_tensor *lz_fmin_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_fmin(a, b) lz_fmin_at(a, b, LZ_SITE)

/* 0 where a < 0 or NaN, b where a is 0, else 1.
 * any dtype -> the same. Source: ATen heaviside. */
LZ_API lz_tensor *lz_heaviside_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_heaviside(a, b) lz_heaviside_at(a, b, LZ_SITE)

/* sqrt(a a + b b) without overflow.
 * floats, others as f32 -> the same. Source: ATen hypot. */
LZ_API lz_tensor *lz_hypot_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_hypot(a, b) lz_hypot_at(a, b, LZ_SITE)

/* a times 2 to the power b, rounded once where b is integral.
 * floats, others as f32 -> the same. Source: ATen ldexp. */
LZ_API lz_tensor *lz_ldexp_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_ldexp(a, b) lz_ldexp_at(a, b, LZ_SITE)

/* log(exp(a) + exp(b)) without overflow.
 * floats, others as f32 -> the same. Source: ATen logaddexp. */
LZ_API lz_tensor *lz_logaddexp_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_logaddexp(a, b) lz_logaddexp_at(a, b, LZ_SITE)

/* log2(exp2(a) + exp2(b)) without overflow.
 * floats, others as f32 -> the same. Source: ATen logaddexp2. */
LZ_API lz_tensor *lz_logaddexp2_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_logaddexp2(a, b) lz_logaddexp2_at(a, b, LZ_SITE)

/* Remainder of a / b with the sign of b, a - b floor(a / b); of integers, a where b is 0.
 * numbers -> the same. Source: ATen remainder. */
LZ_API lz_tensor *lz_remainder_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_remainder(a, b) lz_remainder_at(a, b, LZ_SITE)

/* b - a.
 * numbers -> the same. Source: ATen rsub. */
LZ_API lz_tensor *lz_rsub_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_rsub(a, b) lz_rsub_at(a, b, LZ_SITE)

/* a log(1 + b), 0 where a is 0 and b is not NaN.
 * floats, others as f32 -> the same. Source: ATen xlog1py. */
LZ_API lz_tensor *lz_xlog1py_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_xlog1py(a, b) lz_xlog1py_at(a, b, LZ_SITE)

/* a log(b), 0 where a is 0 and b is not NaN.
 * floats, others as f32 -> the same. Source: ATen xlogy. */
LZ_API lz_tensor *lz_xlogy_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
#define lz_xlogy(a, b) lz_xlogy_at(a, b, LZ_SITE)

/* ---- with a number as the second operand: a run-time argument but for 0, 1 and -1, converted as those of tensor_ops.h ---- */
/* lz_bitwise_and of x and the number s. */
LZ_API lz_tensor *lz_bitwise_and_scalar_at(lz_tensor *x, double s, const lz_site *site);
#define lz_bitwise_and_scalar(x, s) lz_bitwise_and_scalar_at(x, s, LZ_SITE)
/* lz_bitwise_left_shift of x and the number s. */
LZ_API lz_tensor *lz_bitwise_left_shift_scalar_at(lz_tensor *x, double s, const lz_site *site);
#define lz_bitwise_left_shift_scalar(x, s) lz_bitwise_left_shift_scalar_at(x, s, LZ_SITE)
/* lz_bitwise_or of x and the number s. */
LZ_API lz_tensor *lz_bitwise_or_scalar_at(lz_tensor *x, double s, const lz_site *site);
#define lz_bitwise_or_scalar(x, s) lz_bitwise_or_scalar_at(x, s, LZ_SITE)
/* lz_bitwise_right_shift of x and the number s. */
LZ_API lz_tensor *lz_bitwise_right_shift_scalar_at(lz_tensor *x, double s, const lz_site *site);
#define lz_bitwise_right_shift_scalar(x, s) lz_bitwise_right_shift_scalar_at(x, s, LZ_SITE)
/* lz_bitwise_xor of x and the number s. */
LZ_API lz_tensor *lz_bitwise_xor_scalar_at(lz_tensor *x, double s, const lz_site *site);
#define lz_bitwise_xor_scalar(x, s) lz_bitwise_xor_scalar_at(x, s, LZ_SITE)
/* lz_eq of x and the number s. */
LZ_API lz_tensor *lz_eq_scalar_at(lz_tensor *x, double s, const lz_site *site);
#define lz_eq_scalar(x, s) lz_eq_scalar_at(x, s, LZ_SITE)
/* lz_floor_divide of x and the number s. */
LZ_API lz_tensor *lz_floor_divide_scalar_at(lz_tensor *x, double s, const lz_site *site);
#define lz_floor_divide_scalar(x, s) lz_floor_divide_scalar_at(x, s, LZ_SITE)
/* lz_fmod of x and the number s. */
LZ_API lz_tensor *lz_fmod_scalar_at(lz_tensor *x, double s, const lz_site *site);
#define lz_fmod_scalar(x, s) lz_fmod_scalar_at(x, s, LZ_SITE)
/* lz_ge of x and the number s. */
LZ_API lz_tensor *lz_ge_scalar_at(lz_tensor *x, double s, const lz_site *site);
#define lz_ge_scalar(x, s) lz_ge_scalar_at(x, s, LZ_SITE)
/* lz_gt of x and the number s. */
LZ_API lz_tensor *lz_gt_scalar_at(lz_tensor *x, double s, const lz_site *site);
#define lz_gt_scalar(x, s) lz_gt_scalar_at(x, s, LZ_SITE)
/* lz_le of x and the number s. */
LZ_API lz_tensor *lz_le_scalar_at(lz_tensor *x, double s, const lz_site *site);
#define lz_le_scalar(x, s) lz_le_scalar_at(x, s, LZ_SITE)
/* lz_lt of x and the number s. */
LZ_API lz_tensor *lz_lt_scalar_at(lz_tensor *x, double s, const lz_site *site);
#define lz_lt_scalar(x, s) lz_lt_scalar_at(x, s, LZ_SITE)
/* lz_ne of x and the number s. */
LZ_API lz_tensor *lz_ne_scalar_at(lz_tensor *x, double s, const lz_site *site);
#define lz_ne_scalar(x, s) lz_ne_scalar_at(x, s, LZ_SITE)
/* lz_remainder of x and the number s. */
LZ_API lz_tensor *lz_remainder_scalar_at(lz_tensor *x, double s, const lz_site *site);
#define lz_remainder_scalar(x, s) lz_remainder_scalar_at(x, s, LZ_SITE)
/* lz_rsub of x and the number s. */
LZ_API lz_tensor *lz_rsub_scalar_at(lz_tensor *x, double s, const lz_site *site);
#define lz_rsub_scalar(x, s) lz_rsub_scalar_at(x, s, LZ_SITE)
/* lz_xlogy of x and the number s. */
LZ_API lz_tensor *lz_xlogy_scalar_at(lz_tensor *x, double s, const lz_site *site);
#define lz_xlogy_scalar(x, s) lz_xlogy_scalar_at(x, s, LZ_SITE)

LZ_EXTERN_C_END
#endif
