/* emit_complex.h - complex elementary functions as LLVM IR; operands and results are pairs.
 * Threads: an em belongs to one thread. */
#ifndef LZ_CODEGEN_EMIT_EMIT_COMPLEX_H
#define LZ_CODEGEN_EMIT_EMIT_COMPLEX_H
#include "codegen/emit/emit_ew.h"

Ev lz_complex_abs(em *e, const lz_ew *w, const Ev *a); /* real */
Ev lz_complex_cbrt(em *e, const lz_ew *w, const Ev *a);
Ev lz_complex_cosine(em *e, const lz_ew *w, const Ev *a);
Ev lz_complex_exponential(em *e, const lz_ew *w, const Ev *a);
Ev lz_complex_expm1(em *e, const lz_ew *w, const Ev *a);
Ev lz_complex_log(em *e, const lz_ew *w, const Ev *a);
Ev lz_complex_log1p(em *e, const lz_ew *w, const Ev *a);
Ev lz_complex_logistic(em *e, const lz_ew *w, const Ev *a);
Ev lz_complex_rsqrt(em *e, const lz_ew *w, const Ev *a);
Ev lz_complex_sign(em *e, const lz_ew *w, const Ev *a);
Ev lz_complex_sine(em *e, const lz_ew *w, const Ev *a);
Ev lz_complex_sqrt(em *e, const lz_ew *w, const Ev *a);
Ev lz_complex_tan(em *e, const lz_ew *w, const Ev *a);
Ev lz_complex_tanh(em *e, const lz_ew *w, const Ev *a);
Ev lz_complex_divide(em *e, const lz_ew *w, const Ev *a);
Ev lz_complex_power(em *e, const lz_ew *w, const Ev *a);
Ev lz_complex_acos(em *e, const lz_ew *w, const Ev *a);
Ev lz_complex_acosh(em *e, const lz_ew *w, const Ev *a);
Ev lz_complex_asin(em *e, const lz_ew *w, const Ev *a);
Ev lz_complex_asinh(em *e, const lz_ew *w, const Ev *a);
Ev lz_complex_atan(em *e, const lz_ew *w, const Ev *a);
Ev lz_complex_atanh(em *e, const lz_ew *w, const Ev *a);
Ev lz_complex_cosh(em *e, const lz_ew *w, const Ev *a);
Ev lz_complex_sinh(em *e, const lz_ew *w, const Ev *a);
Ev lz_complex_atan2(em *e, const lz_ew *w, const Ev *a);
#endif
