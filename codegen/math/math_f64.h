/* math_f64.h - between the files of the f64 libm for targets that have none (math_f64*.c,
 * math_dd.c).
 * Scalars only. Threads: an em belongs to one thread. */
#ifndef LZ_CODEGEN_MATH_MATH_F64_H
#define LZ_CODEGEN_MATH_MATH_F64_H
#include "codegen/emit/emit_ew.h"

typedef struct dd {
    Val hi, lo; /* hi + lo, |lo| at most half a place of hi */
} dd;
Val m64_fma(em *e, Val a, Val b, Val c);            /* rounded once, always */
Val m64_poly(em *e, Val x, const double *c, int n); /* c[0] + c[1] x + ... */
dd m64_fast_sum(em *e, Val a, Val b);               /* |a| >= |b|, or a = 0 */
dd m64_product(em *e, Val a, Val b);
#define M64_POLY(e, x, c) m64_poly(e, x, c, (int)(sizeof(c) / sizeof *(c)))

/* Errors: 1 ulp where nothing is said. Every special value as C's function has it. */
Val m64_exp(em *e, const Val *a);
Val m64_expm1(em *e, const Val *a); /* 2 ulp */
Val m64_log(em *e, const Val *a);
Val m64_log1p(em *e, const Val *a);
Val m64_tanh(em *e, const Val *a); /* 3 ulp */
Val m64_erf(em *e, const Val *a);  /* 2 ulp */
Val m64_cbrt(em *e, const Val *a);
Val m64_pow(em *e, const Val *a);   /* 2 ulp */
Val m64_hypot(em *e, const Val *a); /* of values within the range of f32 */
Val m64_fmod(em *e, const Val *a);  /* exact */
Val m64_sin(em *e, const Val *a);
Val m64_cos(em *e, const Val *a);
Val m64_tan(em *e, const Val *a);   /* 2 ulp */
Val m64_atan2(em *e, const Val *a); /* 2 ulp */
Val m64_asin(em *e, const Val *a);  /* 4 ulp */
Val m64_acos(em *e, const Val *a);  /* 4 ulp */
Val m64_atan(em *e, const Val *a);  /* 2 ulp */
/* math_f64_hyperbolic.c: 4 ulp, erfc 8 */
Val m64_sinh(em *e, const Val *a);
Val m64_cosh(em *e, const Val *a);
Val m64_asinh(em *e, const Val *a);
Val m64_acosh(em *e, const Val *a);
Val m64_atanh(em *e, const Val *a);
Val m64_erfc(em *e, const Val *a);

/* math_f64_special.c: 2 ulp */
Val m64_lgamma(em *e, const Val *a);
Val m64_digamma(em *e, const Val *a);
Val m64_polygamma(em *e, const Val *a);
Val m64_zeta(em *e, const Val *a);
Val m64_erf_inv(em *e, const Val *a);
Val m64_bessel_i1e(em *e, const Val *a);

Val m64_exp_of(em *e, Val hi, Val lo); /* exp(hi + lo); lo may be NULL */
Val m64_erfc_scaled(em *e, Val x);     /* exp(x^2) erfc(x), 0.84 <= x <= 6 */

/* math_dd.c: relative errors below 2^-95 where nothing is said. */
extern const double dd_pi[2], dd_ln2[2]; /* pi, log 2: both parts */
dd dd_const(em *e, double hi, double lo);
dd dd_ratio(em *e, double num, double den); /* a constant */
dd dd_select(em *e, Val which, dd a, dd b);
dd dd_sum(em *e, Val a, Val b); /* exact, of any order */
dd dd_neg(em *e, dd a);
dd dd_add(em *e, dd a, dd b);
dd dd_mul(em *e, dd a, dd b);
dd dd_mul1(em *e, dd a, Val b);
dd dd_div(em *e, dd a, dd b);
dd dd_times(em *e, dd a, double power_of_two);
dd dd_exp(em *e, dd x, Val *n);    /* times 2^*n; |x| beyond 2600 is taken for that */
Val dd_scaled(em *e, dd a, Val n); /* a 2^n, |n| <= 4000, nearly rounded once */
dd dd_log(em *e, dd x);            /* x > 0, denormal or not */
/* Of pi r, r being what x is off the nearest integer: those of pi x have the other sign where that
 * is odd. cosine may be NULL */
void dd_circle(em *e, Val x, dd *sine, dd *cosine);
#endif
