/* simd.h - vectors of the element type, planar complex matrices, and loops over contiguous
 * elements. The headers of core/ are one template: an instance defines
 *     T    float or double
 *     LA_VECTOR_BYTES    16, 32 or 64
 *     LA_DOUBLE    0 or 1: which
 *     NR   columns of a register tile
 * and includes core/all.h. A matrix has its real and imaginary parts in two arrays, so that complex
 * routines are the real ones called four times; im is NULL in real matrices. */
#ifndef LZ_LINALG_CORE_SIMD_H
#define LZ_LINALG_CORE_SIMD_H
#ifndef T /* for those who read one header alone */
#define T float
#define LA_DOUBLE 0
#define LA_VECTOR_BYTES 16
#define NR 4
#endif
#include "linalg/instance.h"
#include <float.h>
#include <tgmath.h>
#undef I /* the imaginary unit */
#include <string.h>

typedef T V __attribute__((vector_size(LA_VECTOR_BYTES), aligned(sizeof(T)), may_alias));
enum { VL = LA_VECTOR_BYTES / sizeof(T), MR = 2 * VL };
#ifdef __clang__
#define UNROLL(n) _Pragma("unroll")
#else
#define LA_TEXT(x) #x
#define UNROLL(n) _Pragma(LA_TEXT(GCC unroll n))
#endif
#define INLINE static inline __attribute__((always_inline, unused))
#define MAYBE static __attribute__((unused))

typedef int64_t I;

INLINE V load(const T *p)
{
    return *(const V *)(const void *)p;
}

INLINE void store(T *p, V v)
{
    *(V *)(void *)p = v;
}

INLINE V splat(T x)
{
    return (V){0} + x;
}

/* What a comparison of vectors gives: all bits or none of each element. */
typedef __typeof__((V){0} < (V){0}) VM;

INLINE V choose(VM on, V a, V b)
{
    return (V)((on & (VM)a) | (~on & (VM)b));
}

INLINE T sum_of(V v)
{
    T s[VL], x = 0;
    store(s, v);
    for (int w = VL / 2; w; w /= 2)
        for (int i = 0; i < w; i++)
            s[i] += s[i + w];
    x = s[0];
    return x;
}

/* ---- matrices ---- */

/* Element (i, j) is at i * rs + j * cs. */
typedef struct M {
    T *re, *im;
    I rs, cs;
} M;
typedef struct C { /* a number */
    T re, im;
} C;

INLINE M at(M a, I i, I j)
{
    I o = i * a.rs + j * a.cs;
    a.re += o;
    a.im = a.im ? a.im + o : NULL;
    return a;
}

INLINE M flip(M a)
{
    I t = a.rs;
    a.rs = a.cs;
    a.cs = t;
    return a;
}

INLINE C get(M a, I i, I j)
{
    I o = i * a.rs + j * a.cs;
    return (C){a.re[o], a.im ? a.im[o] : 0};
}

INLINE void put(M a, I i, I j, C x)
{
    I o = i * a.rs + j * a.cs;
    a.re[o] = x.re;
    if (a.im)
        a.im[o] = x.im;
}

INLINE C conj_(C x)
{
    return (C){x.re, -x.im};
}

INLINE C times(C a, C b)
{
    return (C){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

MAYBE void fill(M a, I m, I n, T diagonal)
{
    for (I j = 0; j < n; j++)
        for (I i = 0; i < m; i++)
            put(a, i, j, (C){i == j ? diagonal : 0, 0});
}

/* ---- scratch memory ---- */

/* Addresses are numbers: the same functions lay out memory that is not there yet, to know how much
 * is needed. */
typedef struct arena {
    uintptr_t p;
} arena;

INLINE arena arena_of(char *scratch)
{
    return (arena){(uintptr_t)scratch};
}

INLINE void *take(arena *a, I n, size_t size)
{
    uintptr_t p = a->p;
    a->p += ((size_t)n * size + 63) / 64 * 64;
    return (void *)p;
}

/* Columns one behind the other. */
INLINE M take_matrix(arena *a, I rows, I cols, bool complex_)
{
    I ld = lz_linalg_ld(rows);
    M x = {take(a, ld * cols, sizeof(T)), NULL, 1, ld};
    if (complex_)
        x.im = take(a, ld * cols, sizeof(T));
    return x;
}

/* ---- contiguous real vectors ---- */

MAYBE T dot1(I n, const T *x, const T *y)
{
    V s[4] = {{0}, {0}, {0}, {0}};
    T rest = 0;
    I i = 0;
    for (; i + 4 * VL <= n; i += 4 * VL) {
        UNROLL(4)
        for (int u = 0; u < 4; u++)
            s[u] += load(x + i + u * VL) * load(y + i + u * VL);
    }
    for (; i + VL <= n; i += VL)
        s[0] += load(x + i) * load(y + i);
    for (; i < n; i++)
        rest += x[i] * y[i];
    return sum_of((s[0] + s[1]) + (s[2] + s[3])) + rest;
}

MAYBE void axpy1(I n, T a, const T *x, T *y)
{
    I i = 0;
    for (; i + VL <= n; i += VL)
        store(y + i, load(y + i) + a * load(x + i));
    for (; i < n; i++)
        y[i] += a * x[i];
}

/* y += sign * A x, 4 columns at a time; x has a stride. */
MAYBE void gemv_n1(I m, I n, T sign, const T *a, I ld, const T *x, I inc, T *y)
{
    I j = 0;
    for (; j + 4 <= n; j += 4, a += 4 * ld) {
        T b[4] = {sign * x[j * inc], sign * x[(j + 1) * inc], sign * x[(j + 2) * inc],
                  sign * x[(j + 3) * inc]};
        I i = 0;
        for (; i + VL <= m; i += VL)
            store(y + i, load(y + i) + (b[0] * load(a + i) + b[1] * load(a + ld + i)) +
                             (b[2] * load(a + 2 * ld + i) + b[3] * load(a + 3 * ld + i)));
        for (; i < m; i++)
            y[i] +=
                (b[0] * a[i] + b[1] * a[ld + i]) + (b[2] * a[2 * ld + i] + b[3] * a[3 * ld + i]);
    }
    for (; j < n; j++, a += ld)
        axpy1(m, sign * x[j * inc], a, y);
}

/* y[j] += sign * column j of A times x; y has a stride. */
MAYBE void gemv_t1(I m, I n, T sign, const T *a, I ld, const T *x, T *y, I inc)
{
    I j = 0;
    for (; j + 4 <= n; j += 4, a += 4 * ld) {
        V s[4] = {{0}, {0}, {0}, {0}};
        T r[4] = {0, 0, 0, 0};
        I i = 0;
        for (; i + VL <= m; i += VL) {
            V v = load(x + i);
            UNROLL(4)
            for (int u = 0; u < 4; u++)
                s[u] += v * load(a + u * ld + i);
        }
        for (; i < m; i++)
            for (int u = 0; u < 4; u++)
                r[u] += x[i] * a[u * ld + i];
        for (int u = 0; u < 4; u++)
            y[(j + u) * inc] += sign * (sum_of(s[u]) + r[u]);
    }
    for (; j < n; j++, a += ld)
        y[j * inc] += sign * dot1(m, a, x);
}

/* ---- the same of planar numbers ---- */

/* conj(x) times y, columns of contiguous elements */
MAYBE C dotc(I n, M x, M y)
{
    C s = {dot1(n, x.re, y.re), 0};
    if (x.im) {
        s.re += dot1(n, x.im, y.im);
        s.im = dot1(n, x.re, y.im) - dot1(n, x.im, y.re);
    }
    return s;
}

MAYBE void axpy(I n, C a, M x, M y)
{
    axpy1(n, a.re, x.re, y.re);
    if (x.im) {
        axpy1(n, -a.im, x.im, y.re);
        axpy1(n, a.im, x.re, y.im);
        axpy1(n, a.re, x.im, y.im);
    }
}

/* y += sign * A x, or A conj(x); the columns of A and y are contiguous */
MAYBE void gemv_n(I m, I n, T sign, M a, M x, bool conj_x, M y)
{
    T c = conj_x ? -1 : 1;
    gemv_n1(m, n, sign, a.re, a.cs, x.re, x.rs, y.re);
    if (a.im) {
        gemv_n1(m, n, -sign * c, a.im, a.cs, x.im, x.rs, y.re);
        gemv_n1(m, n, sign, a.im, a.cs, x.re, x.rs, y.im);
        gemv_n1(m, n, sign * c, a.re, a.cs, x.im, x.rs, y.im);
    }
}

/* y += sign * A^H x; the columns of A and x are contiguous */
MAYBE void gemv_h(I m, I n, T sign, M a, M x, M y)
{
    gemv_t1(m, n, sign, a.re, a.cs, x.re, y.re, y.rs);
    if (a.im) {
        gemv_t1(m, n, sign, a.im, a.cs, x.im, y.re, y.rs);
        gemv_t1(m, n, sign, a.re, a.cs, x.im, y.im, y.rs);
        gemv_t1(m, n, -sign, a.im, a.cs, x.re, y.im, y.rs);
    }
}

MAYBE void scale(I n, C a, M x)
{
    for (I i = 0; i < n; i++)
        put(x, i, 0, times(a, get(x, i, 0)));
}
#endif
