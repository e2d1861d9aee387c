/* emit_special.h - CHLO's special functions of f32 as LLVM IR, scalars or vectors, within the error
 * bounds (ULP) of ops.def.
 * Threads: an em belongs to one thread. */
#ifndef LZ_CODEGEN_EMIT_EMIT_SPECIAL_H
#define LZ_CODEGEN_EMIT_EMIT_SPECIAL_H
#include "codegen/emit/emit_ew.h"

Val lz_acos_f32(em *e, Val x);
Val lz_acosh_f32(em *e, Val x);
Val lz_asin_f32(em *e, Val x);
Val lz_asinh_f32(em *e, Val x);
Val lz_atan_f32(em *e, Val x);
Val lz_atanh_f32(em *e, Val x);
Val lz_bessel_i1e_f32(em *e, Val x);
Val lz_cosh_f32(em *e, Val x);
Val lz_digamma_f32(em *e, Val x);
Val lz_erf_inv_f32(em *e, Val x);
Val lz_erfc_f32(em *e, Val x);
Val lz_lgamma_f32(em *e, Val x);
Val lz_polygamma_f32(em *e, Val n, Val x);
Val lz_sinh_f32(em *e, Val x);
Val lz_zeta_f32(em *e, Val s, Val q);
#endif
