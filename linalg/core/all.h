/* all.h - one instance of the routines; see simd.h. INSTANCE: its name. */
#ifndef LZ_LINALG_CORE_ALL_H
#define LZ_LINALG_CORE_ALL_H
#ifndef INSTANCE
#define INSTANCE lz_linalg_f32_base
#endif
#include "linalg/core/svd.h"

/* Lays out what the routine takes, from an address that is none. */
static size_t scratch_of(const lz_linalg_task *t)
{
    const uintptr_t from = 64;
    arena s = {from};
    switch ((lz_linalg_op)t->op) {
    case LZ_LINALG_CHOLESKY:
        (void)take_cholesky(&s, t);
        break;
    case LZ_LINALG_SOLVE:
        (void)take_solve(&s, t);
        break;
    case LZ_LINALG_LU:
        (void)take_lu(&s, t);
        break;
    case LZ_LINALG_QR:
    case LZ_LINALG_GEQRF:
        (void)take_qr(&s, t);
        break;
    case LZ_LINALG_EIGH:
        (void)take_eigh(&s, t->n, t->complex_ != 0);
        break;
    case LZ_LINALG_SVD:
        (void)take_svd(&s, t);
        break;
    case LZ_LINALG_NOPS:
        break;
    }
    return s.p - from;
}

const lz_linalg_instance INSTANCE = {.scratch = scratch_of,
                                     .fn = {
                                         [LZ_LINALG_CHOLESKY] = fn_cholesky,
                                         [LZ_LINALG_SOLVE] = fn_solve,
                                         [LZ_LINALG_LU] = fn_lu,
                                         [LZ_LINALG_QR] = fn_qr,
                                         [LZ_LINALG_GEQRF] = fn_geqrf,
                                         [LZ_LINALG_EIGH] = fn_eigh,
                                         [LZ_LINALG_SVD] = fn_svd,
                                     }};
#endif
