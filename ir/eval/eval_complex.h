/* eval_complex.h - complex functions of the reference evaluator, one format wider than any complex
 * dtype. The formulas are those of docs/reference/semantics.md; generated code
 * (codegen/emit/emit_complex.c) has the same ones in f64.
 * Threads: pure. */
#ifndef LZ_IR_EVAL_EVAL_COMPLEX_H
#define LZ_IR_EVAL_EVAL_COMPLEX_H
#include "ir/eval/eval.h"

typedef struct lz_cx {
    long double re, im;
} lz_cx;
lz_cx lz_ref_load_c(lz_dtype d, const void *p, int64_t i);    /* complex dtypes only */
void lz_ref_store_c(lz_dtype d, void *p, int64_t i, lz_cx v); /* each part rounded once */

long double lz_cx_abs(lz_cx z);
lz_cx lz_cx_cbrt(lz_cx z);
lz_cx lz_cx_cosine(lz_cx z);
lz_cx lz_cx_exponential(lz_cx z);
lz_cx lz_cx_expm1(lz_cx z);
lz_cx lz_cx_log(lz_cx z);
lz_cx lz_cx_log1p(lz_cx z);
lz_cx lz_cx_logistic(lz_cx z);
lz_cx lz_cx_rsqrt(lz_cx z);
lz_cx lz_cx_sign(lz_cx z);
lz_cx lz_cx_sine(lz_cx z);
lz_cx lz_cx_sqrt(lz_cx z);
lz_cx lz_cx_tan(lz_cx z);
lz_cx lz_cx_tanh(lz_cx z);
lz_cx lz_cx_acos(lz_cx z);
lz_cx lz_cx_acosh(lz_cx z);
lz_cx lz_cx_asin(lz_cx z);
lz_cx lz_cx_asinh(lz_cx z);
lz_cx lz_cx_atan(lz_cx z);
lz_cx lz_cx_atanh(lz_cx z);
lz_cx lz_cx_cosh(lz_cx z);
lz_cx lz_cx_sinh(lz_cx z);
lz_cx lz_cx_divide(lz_cx a, lz_cx b);
lz_cx lz_cx_power(lz_cx a, lz_cx b);
lz_cx lz_cx_atan2(lz_cx y, lz_cx x);

/* One operation over a vector of complex elements. */
lz_status lz_ref_complex1(const lz_ref_ew *e, lz_cx (*fn)(lz_cx));
lz_status lz_ref_complex2(const lz_ref_ew *e, lz_cx (*fn)(lz_cx, lz_cx));
#endif
