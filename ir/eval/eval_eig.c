/* eval_eig.c - reference of lazuli.eig and lazuli.schur: Hessenberg form by reflections, QR steps
 * with Wilkinson's shift by rotations, substitution; in complex long double, whatever the matrix is
 * (but for the Schur form of a real one: eval_schur.c). See eval.h. */
#include "ir/eval/eval_eig.h"
#include <float.h>
#include <math.h>

typedef long double complex number;

static long double size(number z)
{
    return fabsl(creall(z)) + fabsl(cimagl(z));
}

/* ---- scaling by powers of 2, so that rows and columns are of like norms ---- */

static bool scale_one(int64_t n, number *a, long double *scale, int64_t i)
{
    long double column = 0, row = 0, f = 1;
    for (int64_t j = 0; j < n; j++)
        if (j != i) {
            column += size(a[j * n + i]);
            row += size(a[i * n + j]);
        }
    if (column == 0 || row == 0 || !isfinite(column + row))
        return false;
    long double sum = column + row, c = column;
    for (; c < row / 2 && f < 0x1p500L; c *= 4)
        f *= 2;
    for (; c >= row * 2 && f > 0x1p-500L; c /= 4)
        f /= 2;
    if (f == 1 || column * f + row / f >= 0.95L * sum)
        return false;
    scale[i] *= f;
    for (int64_t j = 0; j < n; j++) {
        a[i * n + j] /= f;
        a[j * n + i] *= f;
    }
    return true;
}

static void balance(int64_t n, number *a, long double *scale)
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
    long double most = 0, sum = 0;
    for (int64_t i = 0; i < m; i++)
        most = fmaxl(most, size(x[i]));
    bool any = false;
    for (int64_t i = 1; i < m; i++)
        any |= x[i] != 0;
    if (!any)
        return false;
    for (int64_t i = 0; i < m; i++) {
        x[i] /= most;
        sum += creall(x[i]) * creall(x[i]) + cimagl(x[i]) * cimagl(x[i]);
    }
    long double norm = sqrtl(sum), first = cabsl(x[0]);
    number phase = first > 0 ? x[0] / first : 1;
    x[0] = phase * (first + norm);
    long double by = sqrtl(norm * (norm + first));
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
                s += conjl(u[i]) * a[(k + 1 + i) * n + j];
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
                a[j * n + k + 1 + i] -= s * conjl(u[i]);
                q[j * n + k + 1 + i] -= t * conjl(u[i]);
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
    number half = (p - d) / 2, root = csqrtl(half * half + b * c);
    if (creall(conjl(half) * root) < 0)
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
        long double r = hypotl(cabsl(x), cabsl(y));
        number c = r > 0 ? x / r : 1, z = r > 0 ? y / r : 0;
        rot[2 * k] = c;
        rot[2 * k + 1] = z;
        for (int64_t j = k; j < n; j++) {
            number up = a[k * n + j], down = a[(k + 1) * n + j];
            a[k * n + j] = conjl(c) * up + conjl(z) * down;
            a[(k + 1) * n + j] = -z * up + c * down;
        }
    }
    for (int64_t k = lo; k < hi; k++) {
        number c = rot[2 * k], z = rot[2 * k + 1];
        for (int64_t j = 0; j < n; j++) {
            if (j <= k + 1) {
                number left = a[j * n + k], right = a[j * n + k + 1];
                a[j * n + k] = left * c + right * z;
                a[j * n + k + 1] = -left * conjl(z) + right * conjl(c);
            }
            number left = q[j * n + k], right = q[j * n + k + 1];
            q[j * n + k] = left * c + right * z;
            q[j * n + k + 1] = -left * conjl(z) + right * conjl(c);
        }
    }
    for (int64_t i = lo; i <= hi; i++)
        a[i * n + i] += s;
}

static bool negligible(int64_t n, const number *a, int64_t k, long double norm)
{
    long double around = size(a[k * n + k]) + size(a[(k - 1) * n + k - 1]);
    return size(a[k * n + k - 1]) <= LDBL_EPSILON * (around > 0 ? around : norm) ||
           size(a[k * n + k - 1]) < LDBL_MIN;
}

static bool schur(int64_t n, number *a, number *q, number *rot)
{
    long double norm = 0;
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
static void triangular_vector(int64_t n, const number *t, int64_t k, long double norm, number *x)
{
    long double least = fmaxl(LDBL_EPSILON * norm, LDBL_MIN);
    x[k] = 1;
    for (int64_t i = k - 1; i >= 0; i--) {
        number s = 0, d = t[i * n + i] - t[k * n + k];
        for (int64_t j = i + 1; j <= k; j++)
            s += t[i * n + j] * x[j];
        if (size(d) < least)
            d = least;
        x[i] = -s / d;
        long double big = size(x[i]);
        if (big > 0x1p300L)
            for (int64_t j = i; j <= k; j++)
                x[j] /= big;
    }
}

/* Norm 1, the largest element real (and positive or negative as it was). */
static void normalise(int64_t n, number *v, int64_t k, bool real)
{
    long double most = 0, sum = 0;
    int64_t at = 0;
    for (int64_t i = 0; i < n; i++)
        if (cabsl(v[i * n + k]) > most) {
            most = cabsl(v[i * n + k]);
            at = i;
        }
    if (!(most > 0))
        return;
    number phase = cimagl(v[at * n + k]) == 0 ? 1 : v[at * n + k] / most;
    for (int64_t i = 0; i < n; i++) {
        number z = v[i * n + k] / most / phase;
        v[i * n + k] = z = real || i == at ? creall(z) : z;
        sum += creall(z) * creall(z) + cimagl(z) * cimagl(z);
    }
    for (int64_t i = 0; i < n; i++)
        v[i * n + k] /= sqrtl(sum);
}

/* The same of t's adjoint, from the other end. */
static void adjoint_vector(int64_t n, const number *t, int64_t k, long double norm, number *x)
{
    long double least = fmaxl(LDBL_EPSILON * norm, LDBL_MIN);
    x[k] = 1;
    for (int64_t i = k + 1; i < n; i++) {
        number s = 0, d = conjl(t[i * n + i] - t[k * n + k]);
        for (int64_t j = k; j < i; j++)
            s += conjl(t[j * n + i]) * x[j];
        if (size(d) < least)
            d = least;
        x[i] = -s / d;
        long double big = size(x[i]);
        if (big > 0x1p300L)
            for (int64_t j = k; j <= i; j++)
                x[j] /= big;
    }
}

/* v = scale q x for all vectors x of the triangular t, or of its adjoint, with the inverse of the
 * scale. */
static void vectors(int64_t n, const number *t, const long double *scale, const number *q,
                    bool left, number *v, number *x)
{
    long double norm = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++)
            norm = fmaxl(norm, size(t[i * n + j]));
    for (int64_t k = 0; k < n; k++) {
        if (left)
            adjoint_vector(n, t, k, norm, x);
        else
            triangular_vector(n, t, k, norm, x);
        for (int64_t i = 0; i < n; i++) {
            number s = 0;
            for (int64_t j = left ? k : 0; j < (left ? n : k + 1); j++)
                s += q[i * n + j] * x[j];
            v[i * n + k] = left ? s / scale[i] : s * scale[i];
        }
    }
}

/* ---- of a real matrix: conjugate pairs ---- */

/* The eigenvalue after k that is nearest to the conjugate of w[k]; k itself when that is nearer to
 * being real. */
static int64_t partner(int64_t n, const number *w, int64_t k)
{
    int64_t best = k;
    long double least = 2 * fabsl(cimagl(w[k]));
    for (int64_t j = k + 1; j < n; j++)
        if (cabsl(w[j] - conjl(w[k])) < least) {
            least = cabsl(w[j] - conjl(w[k]));
            best = j;
        }
    return best;
}

static void exchange(int64_t n, number *v, int64_t i, int64_t j)
{
    for (int64_t r = 0; r < n; r++) {
        number t = v[r * n + i];
        v[r * n + i] = v[r * n + j];
        v[r * n + j] = t;
    }
}

/* Values i and j, and their columns of both v. */
static void exchange_values(int64_t n, number *w, number *const *v, int64_t i, int64_t j)
{
    number t = w[i];
    w[i] = w[j];
    w[j] = t;
    exchange(n, v[0], i, j);
    exchange(n, v[1], i, j);
}

/* Pairs one behind the other, the positive imaginary part first. */
static void pair(int64_t n, number *w, number *const *v)
{
    for (int64_t k = 0; k < n; k++) {
        int64_t j = partner(n, w, k);
        if (j == k) {
            w[k] = creall(w[k]);
            normalise(n, v[0], k, true);
            normalise(n, v[1], k, true);
            continue;
        }
        exchange_values(n, w, v, k + 1, j);
        if (cimagl(w[k]) < 0)
            exchange_values(n, w, v, k, k + 1);
        w[k + 1] = conjl(w[k]);
        for (int side = 0; side < 2; side++) {
            normalise(n, v[side], k, false);
            for (int64_t r = 0; r < n; r++)
                v[side][r * n + k + 1] = conjl(v[side][r * n + k]);
        }
        k++;
    }
}

/* ---- the operations ---- */

/* What one matrix takes: a, q, left and right vectors, n x n; values, a line, rotations; scales. */
typedef struct room {
    number *a, *q, *v[2], *w, *x, *turns;
    long double *scale;
} room;

static lz_status room_new(room *r, int64_t n)
{
    number *m = lz_calloc((size_t)(4 * n * n + 5 * n + 1), sizeof *m);
    if (!m)
        return LZ_FAIL(LZ_EMEM, "no memory for matrices");
    *r = (room){m,
                m + n * n,
                {m + 2 * n * n, m + 3 * n * n},
                m + 4 * n * n,
                m + 4 * n * n + n,
                m + 4 * n * n + 2 * n,
                (long double *)(void *)(m + 4 * n * n + 4 * n)};
    return LZ_OK;
}

static bool load(number *out, const lz_literal *l, int64_t batch, int64_t n)
{
    bool finite = true;
    for (int64_t i = 0; i < n; i++) {
        lz_dtype d = l->type->dtype;
        lz_cx x = lz_dtype_is_complex(d) ? lz_ref_load_c(d, l->data, batch * n + i)
                                         : (lz_cx){lz_elem_get_f64(d, l->data, batch * n + i), 0};
        out[i] = x.re + x.im * I;
        finite &= isfinite(x.re) && isfinite(x.im);
    }
    return finite;
}

/* n numbers; NaN where x is NULL. */
static void keep(lz_literal *l, int64_t batch, int64_t n, const number *x)
{
    lz_dtype d = l->type->dtype;
    for (int64_t i = 0; i < n; i++) {
        lz_cx v = x ? (lz_cx){creall(x[i]), cimagl(x[i])} : (lz_cx){NAN, NAN};
        if (lz_dtype_is_complex(d))
            lz_ref_store_c(d, l->data, batch * n + i, v);
        else
            lz_elem_set_f64(d, l->data, batch * n + i, (double)v.re);
    }
}

static bool eig(room *r, int64_t n, bool real)
{
    balance(n, r->a, r->scale);
    hessenberg(n, r->a, r->q, r->x);
    if (!schur(n, r->a, r->q, r->turns))
        return false;
    for (int64_t i = 0; i < n; i++)
        r->w[i] = r->a[i * n + i];
    vectors(n, r->a, r->scale, r->q, true, r->v[0], r->x);
    vectors(n, r->a, r->scale, r->q, false, r->v[1], r->x);
    if (real)
        pair(n, r->w, r->v);
    for (int64_t k = 0; k < n && !real; k++) {
        normalise(n, r->v[0], k, false);
        normalise(n, r->v[1], k, false);
    }
    return true;
}

lz_status lz_ref_eig(const lz_ref_call *c)
{
    const lz_attr_eig *at = LZ_ATTR(eig, c->sig->attr);
    LZ_TRY(lz_ref_alloc(c));
    int64_t n, batch = lz_m_count(c->sig->opnd[0], &n, &n);
    bool real = !lz_dtype_is_complex(c->sig->opnd[0]->dtype);
    room r;
    LZ_TRY(room_new(&r, n));
    for (int64_t b = 0; b < batch; b++) {
        bool ok = load(r.a, c->opnd[0], b, n * n) && eig(&r, n, real);
        uint32_t k = 0;
        keep(c->result[k++], b, n, ok ? r.w : NULL);
        if (at->left)
            keep(c->result[k++], b, n * n, ok ? r.v[0] : NULL);
        if (at->right)
            keep(c->result[k++], b, n * n, ok ? r.v[1] : NULL);
    }
    lz_free(r.a);
    return LZ_OK;
}

lz_status lz_ref_schur(const lz_ref_call *c)
{
    bool wanted = LZ_ATTR(schur, c->sig->attr)->vectors;
    LZ_TRY(lz_ref_alloc(c));
    int64_t n, batch = lz_m_count(c->sig->opnd[0], &n, &n);
    bool real = !lz_dtype_is_complex(c->sig->opnd[0]->dtype);
    room r;
    LZ_TRY(room_new(&r, n));
    for (int64_t b = 0; b < batch; b++) {
        bool ok = load(r.a, c->opnd[0], b, n * n);
        if (ok)
            hessenberg(n, r.a, r.q, r.x);
        ok = ok && (real ? lz_ref_schur_real(n, r.a, r.q, r.w) : schur(n, r.a, r.q, r.turns));
        for (int64_t i = 0; ok && !real && i < n; i++) {
            r.w[i] = r.a[i * n + i];
            for (int64_t j = 0; j < i; j++)
                r.a[i * n + j] = 0;
        }
        keep(c->result[0], b, n * n, ok ? r.a : NULL);
        if (wanted)
            keep(c->result[1], b, n * n, ok ? r.q : NULL);
        keep(c->result[wanted ? 2 : 1], b, n, ok ? r.w : NULL);
    }
    lz_free(r.a);
    return LZ_OK;
}
