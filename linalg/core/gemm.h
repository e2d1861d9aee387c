/* gemm.h - C += sign * A B with packing and register tiles of MR x NR (Goto and van de Geijn,
 * Anatomy of high-performance matrix multiplication, 2008). Strides of A and B are arbitrary, C has
 * contiguous rows or columns. Panels are padded with zeros to whole tiles. */
#ifndef LZ_LINALG_CORE_GEMM_H
#define LZ_LINALG_CORE_GEMM_H
#include "linalg/core/move.h"
/* Room for packed panels. */
typedef struct gemm_room {
    T *a, *b;
    I mc, kc, nc;
} gemm_room;

/* Parts of C that are computed: the others may be written or not. */
typedef enum part { ALL, LOWER, UPPER } part;

INLINE gemm_room take_gemm(arena *s, I largest)
{
    I to = (largest + LZ_LINALG_TILE - 1) / LZ_LINALG_TILE * LZ_LINALG_TILE;
    gemm_room g = {NULL, NULL, to < LZ_LINALG_MC ? to : LZ_LINALG_MC,
                   to < LZ_LINALG_KC ? to : LZ_LINALG_KC, to < LZ_LINALG_NC ? to : LZ_LINALG_NC};
    g.a = take(s, g.mc * g.kc, sizeof(T));
    g.b = take(s, (g.nc + LZ_LINALG_TILE) * g.kc, sizeof(T));
    return g;
}

/* m rows of k elements as panels of `w` rows: element (i, p) at panel i / w, place p * w + i % w */
INLINE void pack(I m, I k, const T *x, I rs, I cs, T *out, I w)
{
    for (I i0 = 0; i0 < m; i0 += w, out += w * k, x += w * rs) {
        I rows = m - i0 < w ? m - i0 : w;
        if (rows < w)
            memset(out, 0, (size_t)(w * k) * sizeof(T));
        if (rs == 1 && rows == w) {
            for (I p = 0; p < k; p++)
                memcpy(out + p * w, x + p * cs, (size_t)w * sizeof(T));
            continue;
        }
        if (cs == 1) {
            turn(rows, k, x, rs, out, w);
            continue;
        }
        for (I i = 0; i < rows; i++)
            for (I p = 0; p < k; p++)
                out[p * w + i] = x[i * rs + p * cs];
    }
}

/* One tile; c has contiguous columns, of which mr x nr elements are in C. */
INLINE void tile(I k, T sign, const T *a, const T *b, T *c, I ld, I mr, I nr)
{
    V acc[NR][2];
    UNROLL(8)
    for (int j = 0; j < NR; j++)
        acc[j][0] = acc[j][1] = (V){0};
    for (I p = 0; p < k; p++, a += MR, b += NR) {
        V a0 = load(a), a1 = load(a + VL);
        UNROLL(8)
        for (int j = 0; j < NR; j++) {
            acc[j][0] += a0 * b[j];
            acc[j][1] += a1 * b[j];
        }
    }
    if (mr == MR && nr == NR) {
        UNROLL(8)
        for (int j = 0; j < NR; j++, c += ld) {
            store(c, load(c) + sign * acc[j][0]);
            store(c + VL, load(c + VL) + sign * acc[j][1]);
        }
        return;
    }
    T t[NR * MR];
    UNROLL(8)
    for (int j = 0; j < NR; j++) {
        store(t + j * MR, acc[j][0]);
        store(t + j * MR + VL, acc[j][1]);
    }
    for (I j = 0; j < nr; j++)
        for (I i = 0; i < mr; i++)
            c[j * ld + i] += sign * t[j * MR + i];
}

/* row0, col0: where c is in C */
MAYBE void tiles(const gemm_room *g, I m, I n, I k, T sign, T *c, I ld, part which, I row0, I col0)
{
    for (I j = 0; j < n; j += NR)
        for (I i = 0; i < m; i += MR) {
            I mr = m - i < MR ? m - i : MR, nr = n - j < NR ? n - j : NR;
            if ((which == LOWER && row0 + i + mr <= col0 + j) ||
                (which == UPPER && row0 + i >= col0 + j + nr))
                continue;
            tile(k, sign, g->a + i * k, g->b + j * k, c + i + j * ld, ld, mr, nr);
        }
}

MAYBE void product1(const gemm_room *g, I m, I n, I k, T sign, const T *a, I ars, I acs, const T *b,
                    I brs, I bcs, T *c, I ld, part which)
{
    for (I jc = 0; jc < n; jc += g->nc)
        for (I pc = 0; pc < k; pc += g->kc) {
            I nc = n - jc < g->nc ? n - jc : g->nc, kc = k - pc < g->kc ? k - pc : g->kc;
            pack(nc, kc, b + pc * brs + jc * bcs, bcs, brs, g->b, NR);
            for (I ic = 0; ic < m; ic += g->mc) {
                I mc = m - ic < g->mc ? m - ic : g->mc;
                pack(mc, kc, a + ic * ars + pc * acs, ars, acs, g->a, MR);
                tiles(g, mc, nc, kc, sign, c + ic + jc * ld, ld, which, ic, jc);
            }
        }
}

/* One or two columns of C: nothing is worth packing. Whether A could be read as it is. */
MAYBE bool few_columns(I m, I n, I k, T sign, const T *a, I ars, I acs, const T *b, I brs, I bcs,
                       T *c, I ld)
{
    if (n > 2 || (ars != 1 && (acs != 1 || brs != 1)))
        return false;
    for (I j = 0; j < n; j++)
        if (ars == 1)
            gemv_n1(m, k, sign, a, acs, b + j * bcs, brs, c + j * ld);
        else
            gemv_t1(k, m, sign, a, ars, b + j * bcs, c + j * ld, 1);
    return true;
}

MAYBE void gemm1(const gemm_room *g, I m, I n, I k, T sign, const T *a, I ars, I acs, const T *b,
                 I brs, I bcs, T *c, I crs, I ccs, part which)
{
    if (m <= 0 || n <= 0 || k <= 0)
        return;
    if (n <= 2 && crs == 1 && few_columns(m, n, k, sign, a, ars, acs, b, brs, bcs, c, ccs))
        return;
    if (m <= 2 && ccs == 1 && few_columns(n, m, k, sign, b, bcs, brs, a, acs, ars, c, crs))
        return;
    if (crs == 1)
        product1(g, m, n, k, sign, a, ars, acs, b, brs, bcs, c, ccs, which);
    else /* C^T = B^T A^T */
        product1(g, n, m, k, sign, b, bcs, brs, a, acs, ars, c, crs,
                 which == ALL     ? ALL
                 : which == LOWER ? UPPER
                                  : LOWER);
}

/* c[m, n] += sign * a[m, k] b[k, n], of the conjugates of a or b where it says so */
MAYBE void gemm(const gemm_room *g, I m, I n, I k, T sign, M a, bool ca, M b, bool cb, M c,
                part which)
{
    T sa = ca ? -sign : sign, sb = cb ? -sign : sign;
    gemm1(g, m, n, k, sign, a.re, a.rs, a.cs, b.re, b.rs, b.cs, c.re, c.rs, c.cs, which);
    if (!c.im)
        return;
    gemm1(g, m, n, k, ca == cb ? -sign : sign, a.im, a.rs, a.cs, b.im, b.rs, b.cs, c.re, c.rs, c.cs,
          which);
    gemm1(g, m, n, k, sa, a.im, a.rs, a.cs, b.re, b.rs, b.cs, c.im, c.rs, c.cs, which);
    gemm1(g, m, n, k, sb, a.re, a.rs, a.cs, b.im, b.rs, b.cs, c.im, c.rs, c.cs, which);
}
#endif
