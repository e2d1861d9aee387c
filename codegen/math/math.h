/* math.h - elementary functions as LLVM IR (a vector libm). emit/emit_math.c says which an op uses.
 * Threads: an em belongs to one thread. */
#ifndef LZ_CODEGEN_MATH_MATH_H
#define LZ_CODEGEN_MATH_MATH_H
#include "codegen/llvm/em.h"

/* f32 (any lanes), within the bounds of ops.def; emit_math.c dispatches, math_f32*.c implement */
Val lz_exp_f32(em *e, Val x);
Val lz_expm1_f32(em *e, Val x);
Val lz_log_f32(em *e, Val x);
Val lz_log1p_f32(em *e, Val x);
Val lz_logistic_f32(em *e, Val x);
Val lz_tanh_f32(em *e, Val x);
Val lz_erf_f32(em *e, Val x);
Val lz_cbrt_f32(em *e, Val x);
Val lz_sin_f32(em *e, Val x);
Val lz_cos_f32(em *e, Val x);
Val lz_tan_f32(em *e, Val x);
Val lz_atan2_f32(em *e, Val y, Val x);
Val lz_pow_f32(em *e, Val x, Val y);

/* math_f64.c: the function the C library has by this name, for targets that have no C library;
 * scalars. */
Val lz_math_f64(em *e, const char *name, const Val *a, unsigned n);
/* Calls an external function lane by lane (a name lz_jit_symbol knows); arguments and result are
 * all of the type of a[0]. */
Val em_libm(em *e, const char *name, const Val *a, unsigned n);
#endif
