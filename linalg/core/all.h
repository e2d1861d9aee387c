/* all.h - one instance of the routines; see simd.h. INSTANCE: its name. */
#ifndef LZ_LINALG_CORE_ALL_H
#define LZ_LINALG_CORE_ALL_H
#ifndef INSTANCE
#define INSTANCE lz_linalg_f32_base
#endif
#include "linalg/core/eig.h"
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
    case LZ_LINALG_HESSENBERG:
        (void)take_hessenberg(&s, t->n, t->complex_ != 0);
        (void)take_matrix(&s, t->n, t->n, t->complex_ != 0);
        break;
    case LZ_LINALG_TRIDIAGONAL:
        (void)take_eigh(&s, t->n, t->complex_ != 0);
        break;
    case LZ_LINALG_PIVOTED:
        (void)take_pivot(&s, t);
        break;
    case LZ_LINALG_SCHUR:
    case LZ_LINALG_EIG:
        (void)take_eig(&s, t);
        break;
    case LZ_LINALG_GTSV:
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
                                         [LZ_LINALG_HESSENBERG] = fn_hessenberg,
                                         [LZ_LINALG_TRIDIAGONAL] = fn_tridiagonal,
                                         [LZ_LINALG_PIVOTED] = fn_pivoted,
                                         [LZ_LINALG_GTSV] = fn_gtsv,
                                         [LZ_LINALG_SCHUR] = fn_schur,
                                         [LZ_LINALG_EIG] = fn_eig,
                                     }};
#endif
