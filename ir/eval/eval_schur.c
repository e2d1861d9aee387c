/* eval_schur.c - reference of the real Schur form: Francis' double steps, blocks of pairs in
 * standard form (Golub and Van Loan, Matrix Computations, 7.5; LAPACK's dlanv2). See eval_eig.h. */
#include "ir/eval/eval_eig.h"
#include <float.h>
#include <math.h>

typedef long double complex number;

static long double *re_of(number *a)
{
    return (long double *)(void *)a; /* the real part comes first */
}

/* x[0..m-1] to a multiple of the first unit vector: v, v[0] = 1, and 2 / v^T v. */
static long double reflect(int m, long double *x, long double *v)
{
    long double norm = 0, sum = 1;
    for (int i = 0; i < m; i++)
        norm = hypotl(norm, x[i]);
    v[0] = 1;
    if (norm == 0)
        return 0;
    long double first = x[0] + copysignl(norm, x[0]);
    for (int i = 1; i < m; i++) {
        v[i] = x[i] / first;
        sum += v[i] * v[i];
    }
    return 2 / sum;
}

/* Rows and columns k..k + m - 1 of a, and columns of q, by I - tau v v^T. */
static void similar(int64_t n, number *a, number *q, int64_t k, int m, const long double *v,
                    long double tau)
{
    for (int64_t j = 0; j < n; j++) {
        long double s = 0;
        for (int i = 0; i < m; i++)
            s += v[i] * *re_of(&a[(k + i) * n + j]);
        for (int i = 0; i < m; i++)
            *re_of(&a[(k + i) * n + j]) -= tau * s * v[i];
    }
    for (int64_t j = 0; j < n; j++) {
        long double s = 0, t = 0;
        for (int i = 0; i < m; i++) {
            s += v[i] * *re_of(&a[j * n + k + i]);
            t += v[i] * *re_of(&q[j * n + k + i]);
        }
        for (int i = 0; i < m; i++) {
            *re_of(&a[j * n + k + i]) -= tau * s * v[i];
            *re_of(&q[j * n + k + i]) -= tau * t * v[i];
        }
    }
}

/* One double step on rows lo..hi. */
static void double_step(int64_t n, number *a, number *q, int64_t lo, int64_t hi, int round)
{
    long double p = creall(a[(hi - 1) * n + hi - 1]), b = creall(a[(hi - 1) * n + hi]),
                c = creall(a[hi * n + hi - 1]), d = creall(a[hi * n + hi]);
    long double sum = p + d, det = p * d - b * c, x[3], v[3];
    if (round % 10 == 9) { /* exceptional, when the others go around in circles */
        long double s = fabsl(c) + fabsl(creall(a[(hi - 1) * n + hi - 2]));
        sum = 1.5L * s;
        det = s * s;
    }
    long double h = creall(a[lo * n + lo]), up = creall(a[lo * n + lo + 1]),
                down = creall(a[(lo + 1) * n + lo]), next = creall(a[(lo + 1) * n + lo + 1]);
    x[0] = h * h + up * down - sum * h + det;
    x[1] = down * (h + next - sum);
    x[2] = down * creall(a[(lo + 2) * n + lo + 1]);
    for (int64_t k = lo; k < hi; k++) {
        int m = hi - k + 1 < 3 ? 2 : 3;
        for (int i = 0; k > lo && i < m; i++)
            x[i] = creall(a[(k + i) * n + k - 1]);
        long double tau = reflect(m, x, v);
        similar(n, a, q, k, m, v, tau);
        for (int i = 1; k > lo && i < m; i++)
            a[(k + i) * n + k - 1] = 0;
    }
}

/* Rows and columns k and k + 1 by the rotation [c s; -s c]. */
static void rotate(int64_t n, number *a, number *q, int64_t k, long double c, long double s)
{
    for (int64_t j = 0; j < n; j++) {
        number x = a[k * n + j], y = a[(k + 1) * n + j];
        a[k * n + j] = c * x + s * y;
        a[(k + 1) * n + j] = c * y - s * x;
    }
    for (int64_t j = 0; j < n; j++) {
        number x = a[j * n + k], y = a[j * n + k + 1], u = q[j * n + k], v = q[j * n + k + 1];
        a[j * n + k] = c * x + s * y;
        a[j * n + k + 1] = c * y - s * x;
        q[j * n + k] = c * u + s * v;
        q[j * n + k + 1] = c * v - s * u;
    }
}

/* The block at k: two real eigenvalues on its diagonal, or equal diagonal elements. */
static void standard_block(int64_t n, number *t, number *q, int64_t k, number *w)
{
    number *e = &t[k * n + k];
    long double a = creall(e[0]), b = creall(e[1]), c = creall(e[n]), d = creall(e[n + 1]);
    long double p = (a - d) / 2, disc = p * p + b * c;
    if (disc >= 0) { /* (x, c) with the eigenvalue x + d */
        long double x = p + copysignl(sqrtl(disc), p), size = hypotl(x, c);
        if (size > 0)
            rotate(n, t, q, k, x / size, c / size);
        e[n] = 0;
        w[k] = e[0];
        w[k + 1] = e[n + 1];
        return;
    }
    if (p != 0) { /* tan(2 t) = (d - a) / (b + c) makes the diagonal equal */
        long double angle = atan2l(d - a, b + c) / 2;
        rotate(n, t, q, k, cosl(angle), sinl(angle));
    }
    e[0] = e[n + 1] = (creall(e[0]) + creall(e[n + 1])) / 2;
    long double im = sqrtl(fabsl(creall(e[1]))) * sqrtl(fabsl(creall(e[n])));
    w[k] = e[0] + im * I;
    w[k + 1] = e[0] - im * I;
}

static bool negligible(int64_t n, const number *a, int64_t k, long double norm)
{
    long double around = fabsl(creall(a[k * n + k])) + fabsl(creall(a[(k - 1) * n + k - 1])),
                e = fabsl(creall(a[k * n + k - 1]));
    return e <= LDBL_EPSILON * (around > 0 ? around : norm) || e < LDBL_MIN;
}

bool lz_ref_schur_real(int64_t n, number *a, number *q, number *w)
{
    long double norm = 0;
    int round = 0;
    for (int64_t i = 0; i < n * n; i++)
        norm += fabsl(creall(a[i]));
    for (int64_t hi = n - 1; hi >= 0;) {
        int64_t lo = hi;
        while (lo > 0 && !negligible(n, a, lo, norm))
            lo--;
        if (lo > 0)
            a[lo * n + lo - 1] = 0;
        if (lo >= hi - 1) {
            if (lo == hi)
                w[hi] = a[hi * n + hi];
            else
                standard_block(n, a, q, lo, w);
            hi = lo - 1;
            round = 0;
            continue;
        }
        if (round++ > 300)
            return false;
        double_step(n, a, q, lo, hi, round);
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j + 1 < i; j++)
            a[i * n + j] = 0;
    return true;
}
