/* eig_host.c - eigenvalues and eigenvectors of general matrices. See eig_host.h. */
#include "ops/science/eig_host.h"
#include <float.h>
#include <math.h>

typedef double complex number;

static double size(number z)
{
    return fabs(creal(z)) + fabs(cimag(z));
}

/* ---- scaling by powers of 2, so that rows and columns are of like norms ---- */

static bool scale_one(int64_t n, number *a, double *scale, int64_t i)
{
    double column = 0, row = 0, f = 1;
    for (int64_t j = 0; j < n; j++)
        if (j != i) {
            column += size(a[j * n + i]);
            row += size(a[i * n + j]);
        }
    if (column == 0 || row == 0 || !isfinite(column + row))
        return false;
    double sum = column + row, c = column;
    for (; c < row / 2 && f < 0x1p500; c *= 4)
        f *= 2;
    for (; c >= row * 2 && f > 0x1p-500; c /= 4)
        f /= 2;
    if (f == 1 || column * f + row / f >= 0.95 * sum)
        return false;
    scale[i] *= f;
    for (int64_t j = 0; j < n; j++) {
        a[i * n + j] /= f;
        a[j * n + i] *= f;
    }
    return true;
}

static void balance(int64_t n, number *a, double *scale)
{
    bool more = true;
    for (int64_t i = 0; i < n; i++)
        scale[i] = 1;
    for (int round = 0; more && round < 20; round++) {
        more = false;
        for (int64_t i = 0; i < n; i++)
            more |= scale_one(n, a, scale, i);
    }
}

/* ---- Hessenberg form: a becomes q^H a q, by reflections ---- */

/* The reflection I - u u^H that takes x[1..m-1] to zero; u replaces x. false: it is zero already.
 */
static bool reflection(int64_t m, number *x)
{
    double most = 0, sum = 0;
    for (int64_t i = 0; i < m; i++)
        most = fmax(most, size(x[i]));
    bool any = false;
    for (int64_t i = 1; i < m; i++)
        any |= x[i] != 0;
    if (!any)
        return false;
    for (int64_t i = 0; i < m; i++) {
        x[i] /= most;
        sum += creal(x[i]) * creal(x[i]) + cimag(x[i]) * cimag(x[i]);
    }
    double norm = sqrt(sum), first = cabs(x[0]);
    number phase = first > 0 ? x[0] / first : 1;
    x[0] = phase * (first + norm);
    double by = sqrt(norm * (norm + first));
    for (int64_t i = 0; i < m; i++)
        x[i] /= by;
    return true;
}

static void hessenberg(int64_t n, number *a, number *q, number *u)
{
    for (int64_t i = 0; i < n * n; i++)
        q[i] = i / n == i % n;
    for (int64_t k = 0; k + 2 < n; k++) {
        int64_t m = n - k - 1;
        for (int64_t i = 0; i < m; i++)
            u[i] = a[(k + 1 + i) * n + k];
        if (!reflection(m, u))
            continue;
        for (int64_t j = k; j < n; j++) {
            number s = 0;
            for (int64_t i = 0; i < m; i++)
                s += conj(u[i]) * a[(k + 1 + i) * n + j];
            for (int64_t i = 0; i < m; i++)
                a[(k + 1 + i) * n + j] -= s * u[i];
        }
        for (int64_t j = 0; j < n; j++) {
            number s = 0, t = 0;
            for (int64_t i = 0; i < m; i++) {
                s += a[j * n + k + 1 + i] * u[i];
                t += q[j * n + k + 1 + i] * u[i];
            }
            for (int64_t i = 0; i < m; i++) {
                a[j * n + k + 1 + i] -= s * conj(u[i]);
                q[j * n + k + 1 + i] -= t * conj(u[i]);
            }
        }
        for (int64_t i = k + 2; i < n; i++)
            a[i * n + k] = 0;
    }
}

/* ---- Schur form: a becomes upper triangular ---- */

/* The eigenvalue of the block that ends at row `hi` which is nearer to its last element. */
static number shift_of(int64_t n, const number *a, int64_t hi, int round)
{
    number p = a[(hi - 1) * n + hi - 1], b = a[(hi - 1) * n + hi], c = a[hi * n + hi - 1],
           d = a[hi * n + hi];
    if (round % 10 == 9) /* exceptional, when the others go around in circles */
        return d + size(c);
    number half = (p - d) / 2, root = csqrt(half * half + b * c);
    if (creal(conj(half) * root) < 0)
        root = -root;
    number by = half + root;
    return by == 0 ? d : d - b * c / by;
}

/* One step a - s = q r, a = r q + s on rows lo..hi, by rotations. */
static void qr_step(int64_t n, number *a, number *q, int64_t lo, int64_t hi, number s, number *rot)
{
    for (int64_t i = lo; i <= hi; i++)
        a[i * n + i] -= s;
    for (int64_t k = lo; k < hi; k++) {
        number x = a[k * n + k], y = a[(k + 1) * n + k];
        double r = hypot(cabs(x), cabs(y));
        number c = r > 0 ? x / r : 1, z = r > 0 ? y / r : 0;
        rot[2 * k] = c;
        rot[2 * k + 1] = z;
        for (int64_t j = k; j < n; j++) {
            number up = a[k * n + j], down = a[(k + 1) * n + j];
            a[k * n + j] = conj(c) * up + conj(z) * down;
            a[(k + 1) * n + j] = -z * up + c * down;
        }
    }
    for (int64_t k = lo; k < hi; k++) {
        number c = rot[2 * k], z = rot[2 * k + 1];
        for (int64_t j = 0; j < n; j++) {
            if (j <= k + 1) {
                number left = a[j * n + k], right = a[j * n + k + 1];
                a[j * n + k] = left * c + right * z;
                a[j * n + k + 1] = -left * conj(z) + right * conj(c);
            }
            number left = q[j * n + k], right = q[j * n + k + 1];
            q[j * n + k] = left * c + right * z;
            q[j * n + k + 1] = -left * conj(z) + right * conj(c);
        }
    }
    for (int64_t i = lo; i <= hi; i++)
        a[i * n + i] += s;
}

static bool negligible(int64_t n, const number *a, int64_t k, double norm)
{
    double around = size(a[k * n + k]) + size(a[(k - 1) * n + k - 1]);
    return size(a[k * n + k - 1]) <= DBL_EPSILON * (around > 0 ? around : norm) ||
           size(a[k * n + k - 1]) < DBL_MIN;
}

static bool schur(int64_t n, number *a, number *q, number *rot)
{
    double norm = 0;
    for (int64_t i = 0; i < n * n; i++)
        norm += size(a[i]);
    int round = 0;
    for (int64_t hi = n - 1; hi > 0;) {
        int64_t lo = hi;
        while (lo > 0 && !negligible(n, a, lo, norm))
            lo--;
        if (lo > 0)
            a[lo * n + lo - 1] = 0;
        if (lo == hi) {
            hi--;
            round = 0;
            continue;
        }
        if (round++ > 300)
            return false;
        qr_step(n, a, q, lo, hi, shift_of(n, a, hi, round), rot);
    }
    return true;
}

/* ---- vectors ---- */

/* x with t x = t[k, k] x, x[k] = 1, for the triangular t; equal eigenvalues are taken apart by a
 * rounding error. */
static void triangular_vector(int64_t n, const number *t, int64_t k, double norm, number *x)
{
    double least = fmax(DBL_EPSILON * norm, DBL_MIN);
    x[k] = 1;
    for (int64_t i = k - 1; i >= 0; i--) {
        number s = 0, d = t[i * n + i] - t[k * n + k];
        for (int64_t j = i + 1; j <= k; j++)
            s += t[i * n + j] * x[j];
        if (size(d) < least)
            d = least;
        x[i] = -s / d;
        double big = size(x[i]);
        if (big > 0x1p300)
            for (int64_t j = i; j <= k; j++)
                x[j] /= big;
    }
}

/* Norm 1, the largest element real (and positive or negative as it was). */
static void normalise(int64_t n, number *v, int64_t k, bool real)
{
    double most = 0, sum = 0;
    int64_t at = 0;
    for (int64_t i = 0; i < n; i++)
        if (cabs(v[i * n + k]) > most) {
            most = cabs(v[i * n + k]);
            at = i;
        }
    if (!(most > 0))
        return;
    number phase = cimag(v[at * n + k]) == 0 ? 1 : v[at * n + k] / most;
    for (int64_t i = 0; i < n; i++) {
        number z = v[i * n + k] / most / phase;
        v[i * n + k] = z = real || i == at ? creal(z) : z;
        sum += creal(z) * creal(z) + cimag(z) * cimag(z);
    }
    for (int64_t i = 0; i < n; i++)
        v[i * n + k] /= sqrt(sum);
}

/* v = scale q x for all vectors x of the triangular t; q is in v. */
static void vectors(int64_t n, const number *t, const double *scale, number *v, number *x,
                    number *q)
{
    double norm = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++)
            norm = fmax(norm, size(t[i * n + j]));
    for (int64_t i = 0; i < n * n; i++)
        q[i] = v[i];
    for (int64_t k = 0; k < n; k++) {
        triangular_vector(n, t, k, norm, x);
        for (int64_t i = 0; i < n; i++) {
            number s = 0;
            for (int64_t j = 0; j <= k; j++)
                s += q[i * n + j] * x[j];
            v[i * n + k] = s * scale[i];
        }
    }
}

/* ---- of a real matrix: conjugate pairs ---- */

/* The eigenvalue after k that is nearest to the conjugate of w[k]; k itself when that is nearer to
 * being real. */
static int64_t partner(int64_t n, const number *w, int64_t k)
{
    int64_t best = k;
    double least = 2 * fabs(cimag(w[k]));
    for (int64_t j = k + 1; j < n; j++)
        if (cabs(w[j] - conj(w[k])) < least) {
            least = cabs(w[j] - conj(w[k]));
            best = j;
        }
    return best;
}

static void swap_columns(int64_t n, number *w, number *v, int64_t i, int64_t j)
{
    number t = w[i];
    w[i] = w[j];
    w[j] = t;
    for (int64_t r = 0; r < n; r++) {
        t = v[r * n + i];
        v[r * n + i] = v[r * n + j];
        v[r * n + j] = t;
    }
}

static void pair(int64_t n, number *w, number *v)
{
    for (int64_t k = 0; k < n; k++) {
        int64_t j = partner(n, w, k);
        if (j == k) {
            w[k] = creal(w[k]);
            normalise(n, v, k, true);
            continue;
        }
        swap_columns(n, w, v, k + 1, j);
        if (cimag(w[k]) < 0)
            swap_columns(n, w, v, k, k + 1);
        normalise(n, v, k, false);
        w[k + 1] = conj(w[k]);
        for (int64_t r = 0; r < n; r++)
            v[r * n + k + 1] = conj(v[r * n + k]);
        k++;
    }
}

void lz_eig_host(int64_t n, bool real, double complex *a, double complex *w, double complex *v,
                 double complex *work)
{
    bool finite = true;
    double *scale = (double *)(work + n * n); /* then 2 n for rotations */
    number *x = work;
    for (int64_t i = 0; i < n * n; i++)
        finite &= isfinite(creal(a[i])) && isfinite(cimag(a[i]));
    if (finite) {
        balance(n, a, scale);
        hessenberg(n, a, v, x);
    }
    if (!finite || !schur(n, a, v, work + n * n + n)) {
        for (int64_t i = 0; i < n * n; i++)
            v[i] = NAN + NAN * I;
        for (int64_t i = 0; i < n; i++)
            w[i] = NAN + NAN * I;
        return;
    }
    for (int64_t i = 0; i < n; i++)
        w[i] = a[i * n + i];
    vectors(n, a, scale, v, work + n * n + n, work);
    if (real) {
        pair(n, w, v);
        return;
    }
    for (int64_t k = 0; k < n; k++)
        normalise(n, v, k, false);
}
