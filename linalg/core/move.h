/* move.h - between arrays of the IR and planar matrices, and what is done to all elements. */
#ifndef LZ_LINALG_CORE_MOVE_H
#define LZ_LINALG_CORE_MOVE_H
#include "linalg/core/simd.h"
enum { MOVE_BLOCK = 16 };

/* 4 x 4 elements, rows of `in` to columns of `out`. */
typedef T V4 __attribute__((vector_size(4 * sizeof(T)), aligned(sizeof(T)), may_alias));
INLINE void turn4(const T *in, I from, T *out, I to)
{
    V4 a = *(const V4 *)(const void *)in, b = *(const V4 *)(const void *)(in + from),
       c = *(const V4 *)(const void *)(in + 2 * from),
       d = *(const V4 *)(const void *)(in + 3 * from);
    V4 ab = __builtin_shufflevector(a, b, 0, 4, 1, 5),
       AB = __builtin_shufflevector(a, b, 2, 6, 3, 7),
       cd = __builtin_shufflevector(c, d, 0, 4, 1, 5),
       CD = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    *(V4 *)(void *)out = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
    *(V4 *)(void *)(out + to) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    *(V4 *)(void *)(out + 2 * to) = __builtin_shufflevector(AB, CD, 0, 1, 4, 5);
    *(V4 *)(void *)(out + 3 * to) = __builtin_shufflevector(AB, CD, 2, 3, 6, 7);
}

/* m rows of n real elements, `from` apart, as columns that are `to` apart. */
MAYBE void turn(I m, I n, const T *in, I from, T *out, I to)
{
    for (I i0 = 0; i0 < m; i0 += MOVE_BLOCK)
        for (I j0 = 0; j0 < n; j0 += MOVE_BLOCK) {
            I i1 = i0 + MOVE_BLOCK < m ? i0 + MOVE_BLOCK : m,
              j1 = j0 + MOVE_BLOCK < n ? j0 + MOVE_BLOCK : n, i = i0;
            for (; i + 4 <= i1; i += 4) {
                I j = j0;
                for (; j + 4 <= j1; j += 4)
                    turn4(in + i * from + j, from, out + j * to + i, to);
                for (; j < j1; j++)
                    for (I k = i; k < i + 4; k++)
                        out[j * to + k] = in[k * from + j];
            }
            for (; i < i1; i++)
                for (I j = j0; j < j1; j++)
                    out[j * to + i] = in[i * from + j];
        }
}

/* Element (i, j) of an array is number i * rs + j * cs. */
MAYBE void load_matrix(I m, I n, const T *in, I rs, I cs, bool conj, M a)
{
    if (!a.im && cs == 1 && a.rs == 1) {
        turn(m, n, in, rs, a.re, a.cs);
        return;
    }
    for (I i0 = 0; i0 < m; i0 += MOVE_BLOCK)
        for (I j0 = 0; j0 < n; j0 += MOVE_BLOCK) {
            I i1 = i0 + MOVE_BLOCK < m ? i0 + MOVE_BLOCK : m,
              j1 = j0 + MOVE_BLOCK < n ? j0 + MOVE_BLOCK : n;
            for (I j = j0; j < j1; j++)
                for (I i = i0; i < i1; i++) {
                    I o = i * rs + j * cs, p = i * a.rs + j * a.cs;
                    if (!a.im) {
                        a.re[p] = in[o];
                        continue;
                    }
                    a.re[p] = in[2 * o];
                    a.im[p] = conj ? -in[2 * o + 1] : in[2 * o + 1];
                }
        }
}

MAYBE void store_matrix(I m, I n, M a, T *out, I rs, I cs, bool conj)
{
    if (!a.im && cs == 1 && a.rs == 1) {
        turn(n, m, a.re, a.cs, out, rs);
        return;
    }
    for (I i0 = 0; i0 < m; i0 += MOVE_BLOCK)
        for (I j0 = 0; j0 < n; j0 += MOVE_BLOCK) {
            I i1 = i0 + MOVE_BLOCK < m ? i0 + MOVE_BLOCK : m,
              j1 = j0 + MOVE_BLOCK < n ? j0 + MOVE_BLOCK : n;
            for (I i = i0; i < i1; i++)
                for (I j = j0; j < j1; j++) {
                    I o = i * rs + j * cs, p = i * a.rs + j * a.cs;
                    if (!a.im) {
                        out[o] = a.re[p];
                        continue;
                    }
                    out[2 * o] = a.re[p];
                    out[2 * o + 1] = conj ? -a.im[p] : a.im[p];
                }
        }
}

MAYBE void multiply(I m, I n, M a, T by)
{
    for (I j = 0; j < n; j++)
        for (I i = 0; i < m; i++) {
            C x = get(a, i, j);
            put(a, i, j, (C){x.re * by, x.im * by});
        }
}

/* The power of two that a matrix of this largest magnitude is multiplied by, so that neither
 * squares overflow nor what counts of them underflows; 1 for most. */
MAYBE T safe_scale(T most)
{
    const T small = sizeof(T) == 4 ? (T)1e-15 : (T)1e-140,
            big = sizeof(T) == 4 ? (T)1e15 : (T)1e140;
    int e;
    if (most == 0 || (most >= small && most <= big))
        return 1;
    (void)frexp((double)most, &e);
    return (T)ldexp(1, sizeof(T) == 4 ? (e < -120 ? 120 : -e) : (e < -1000 ? 1000 : -e));
}

MAYBE void fill_nan(T *out, I n)
{
    for (I i = 0; i < n; i++)
        out[i] = (T)NAN;
}
#endif
