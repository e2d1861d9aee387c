/* t_spectral.c - general eigenvalues, the forms on the way to them, QR with pivoting and
 * tridiagonal systems, of all dtypes and instruction sets: residuals, orthogonality, forms and
 * norms against sums in a wider type, what is isolated or defective, scales, NaN, and batches cut
 * anywhere. */
#include "linalg/linalg.h"
#include "base/host_isa.h"
#include "suite.h"
#include <complex.h>
#include <float.h>
#include <math.h>
#include <string.h>

typedef long double complex num;
typedef struct kind {
    bool wide, complex_;
    const char *name;
} kind;
static const kind kinds[] = {
    {false, false, "f32"}, {true, false, "f64"}, {false, true, "c64"}, {true, true, "c128"}};
enum { NKIND = 4, LEAST = 30 };

/* The case at hand. */
static const char *what;
static int isa;

static long double eps_of(const kind *k)
{
    return k->wide ? DBL_EPSILON : (long double)FLT_EPSILON;
}

static num *fresh(int64_t n)
{
    num *x = calloc((size_t)n + 1, sizeof *x);
    ck_assert_ptr_nonnull(x);
    return x;
}

static void *room(const kind *k, int64_t n)
{
    void *p = calloc((size_t)n + 1, (k->wide ? 8 : 4) * (size_t)(k->complex_ ? 2 : 1));
    ck_assert_ptr_nonnull(p);
    return p;
}

static uint64_t state = 4711;
static long double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (long double)(int64_t)(state >> 11) * 0x1p-52L - 1;
}

static num get(const kind *k, const void *p, int64_t i)
{
    if (k->wide)
        return k->complex_ ? (num)((const double complex *)p)[i] : (num)((const double *)p)[i];
    return k->complex_ ? (num)((const float complex *)p)[i] : (num)((const float *)p)[i];
}

static void put(const kind *k, void *p, int64_t i, num x)
{
    if (k->wide && k->complex_)
        ((double complex *)p)[i] = (double complex)x;
    else if (k->wide)
        ((double *)p)[i] = (double)creall(x);
    else if (k->complex_)
        ((float complex *)p)[i] = (float complex)x;
    else
        ((float *)p)[i] = (float)creall(x);
}

static num *load(const kind *k, const void *p, int64_t n)
{
    num *x = fresh(n);
    for (int64_t i = 0; i < n; i++)
        x[i] = get(k, p, i);
    return x;
}

static long double square(num x) /* of its absolute value; no double's is out of range */
{
    return creall(x) * creall(x) + cimagl(x) * cimagl(x);
}

static long double norm(const num *x, int64_t n)
{
    long double s = 0;
    for (int64_t i = 0; i < n; i++)
        s += square(x[i]);
    return sqrtl(s);
}

/* c = a b; m x l, l x n; adjoints where they say so */
static num *product(const num *a, bool ah, const num *b, bool bh, int64_t m, int64_t l, int64_t n)
{
    num *c = fresh(m * n);
    for (int64_t i = 0; i < m; i++)
        for (int64_t k = 0; k < l; k++) {
            num x = ah ? conjl(a[k * m + i]) : a[i * l + k];
            for (int64_t j = 0; j < n; j++)
                c[i * n + j] += x * (bh ? conjl(b[j * l + k]) : b[k * n + j]);
        }
    return c;
}

/* The norm of a - b, which is freed. */
static long double distance(const num *a, num *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        b[i] -= a[i];
    long double d = norm(b, n);
    free(b);
    return d;
}

static long double skew_of(const num *q, int64_t n)
{
    num *p = product(q, true, q, false, n, n, n);
    long double most = 0;
    for (int64_t i = 0; i < n * n; i++)
        most = fmaxl(most, square(p[i] - (i / n == i % n)));
    free(p);
    return sqrtl(most);
}

#define WITHIN(value, bound, of)                                                                   \
    do {                                                                                           \
        long double v_ = (value), b_ = (bound);                                                    \
        ck_assert_msg(v_ <= b_, "%s: %s %lld %s, isa %d: %Lg > %Lg", of, k->name, (long long)n,    \
                      what, isa, v_, b_);                                                          \
    } while (0)

static lz_linalg_task task(const kind *k, lz_linalg_op op, int64_t m, int64_t n)
{
    return (lz_linalg_task){.op = op, .wide = k->wide, .complex_ = k->complex_, .m = m, .n = n};
}

/* Scratch memory of just the size that is asked for, which a sanitizer watches. */
static void run(const lz_linalg_task *t, void *const *bufs, int64_t begin, int64_t end)
{
    size_t n = (lz_linalg_scratch(t) + 63) / 64 * 64;
    void *scratch = aligned_alloc(64, n ? n : 64);
    ck_assert_ptr_nonnull(scratch);
    memset(scratch, 0xff, n); /* NaN */
    lz_linalg_run(bufs, (const int64_t *)(const void *)t, begin, end, scratch);
    free(scratch);
}

/* The product of reflections whose vectors are below the diagonal `down` places below the main one
 * of f[m, n], m x m. */
static num *reflections(const num *f, const num *tau, int64_t m, int64_t n, int64_t count,
                        int64_t down)
{
    num *q = fresh(m * m);
    for (int64_t i = 0; i < m; i++)
        q[i * m + i] = 1;
    for (int64_t j = count - 1; j >= 0; j--)
        for (int64_t c = 0; c < m; c++) {
            num s = q[(j + down) * m + c];
            for (int64_t i = j + down + 1; i < m; i++)
                s += conjl(f[i * n + j]) * q[i * m + c];
            s *= tau[j];
            q[(j + down) * m + c] -= s;
            for (int64_t i = j + down + 1; i < m; i++)
                q[i * m + c] -= s * f[i * n + j];
        }
    return q;
}

/* ---- what is tried of a matrix ---- */

static void try_hessenberg(const kind *k, const num *a, const void *in, int64_t n)
{
    lz_linalg_task t = task(k, LZ_LINALG_HESSENBERG, n, n);
    void *out = room(k, n * n), *taus = room(k, n);
    run(&t, (void *[]){out, taus, (void *)(uintptr_t)in}, 0, 1);
    num *f = load(k, out, n * n), *tau = load(k, taus, n - 1),
        *q = reflections(f, tau, n, n, n - 1, 1);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j + 1 < i; j++)
            f[i * n + j] = 0;
    num *p = product(q, false, f, false, n, n, n), *r = product(p, false, q, true, n, n, n);
    WITHIN(skew_of(q, n), LEAST * eps_of(k), "q of hessenberg");
    WITHIN(distance(a, r, n * n), LEAST * eps_of(k) * norm(a, n * n), "hessenberg");
    free(out), free(taus), free(f), free(tau), free(q), free(p);
}

static void try_tridiagonal(const kind *k, const num *a, int64_t n, bool lower)
{
    const kind part = {k->wide, false, k->name};
    lz_linalg_task t = task(k, LZ_LINALG_TRIDIAGONAL, n, n);
    t.lower = lower;
    num *h = fresh(n * n), *other = fresh(n * n);
    void *in = room(k, n * n), *out = room(k, n * n), *ds = room(k, n), *es = room(k, n),
         *taus = room(k, n);
    for (int64_t i = 0; i < n * n; i++) {
        int64_t r = i / n, c = i % n;
        bool own = lower ? c <= r : c >= r;
        num x = own ? a[i] : 7;
        put(k, in, i, r == c ? creall(x) : x);
        h[i] = r == c ? creall(a[i]) : own ? a[i] : conjl(a[c * n + r]);
    }
    run(&t, (void *[]){out, ds, es, taus, in}, 0, 1);
    num *f = load(k, out, n * n), *d = load(&part, ds, n), *e = load(&part, es, n - 1),
        *tau = load(k, taus, n - 1), *m = fresh(n * n);
    for (int64_t i = 0; i < n * n; i++) { /* the upper one, turned around, is a lower one */
        int64_t r = i / n, c = i % n, own = lower ? c <= r : c >= r;
        ck_assert(own || f[i] == 7);
        other[lower ? i : n * n - 1 - i] = f[i];
    }
    for (int64_t i = 0; i + 1 < n && !lower; i++)
        m[n - 2 - i] = tau[i];
    num *q = reflections(other, lower ? tau : m, n, n, n - 1, 1);
    memset(m, 0, (size_t)(n * n) * sizeof *m);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = lower ? i : n - 1 - i;
        m[i * n + i] = d[at];
        if (i + 1 < n)
            m[i * n + i + 1] = m[(i + 1) * n + i] = e[lower ? i : n - 2 - i];
    }
    num *p = product(q, false, m, false, n, n, n), *r = product(p, false, q, true, n, n, n);
    for (int64_t i = 0; i < n * n / 2 && !lower; i++) {
        num x = r[i];
        r[i] = r[n * n - 1 - i];
        r[n * n - 1 - i] = x;
    }
    WITHIN(skew_of(q, n), LEAST * eps_of(k), "q of tridiagonal");
    WITHIN(distance(h, r, n * n), LEAST * eps_of(k) * norm(h, n * n), "tridiagonal");
    free(in), free(out), free(ds), free(es), free(taus), free(h), free(other), free(f), free(d);
    free(e), free(tau), free(m), free(q), free(p);
}

static void try_pivoted(const kind *k, const num *a, const void *in, int64_t m, int64_t n,
                        int64_t fixed)
{
    int64_t least = m < n ? m : n;
    lz_linalg_task t = task(k, LZ_LINALG_PIVOTED, m, n);
    void *out = room(k, m * n), *taus = room(k, least);
    int32_t *order = calloc((size_t)n + 1, 4), *given = calloc((size_t)n + 1, 4);
    ck_assert(order && given);
    for (int64_t j = 0; j < fixed && j < n; j++)
        given[n - 1 - j] = 1;
    run(&t, (void *[]){out, order, taus, (void *)(uintptr_t)in, given}, 0, 1);
    num *f = load(k, out, m * n), *tau = load(k, taus, least),
        *q = reflections(f, tau, m, n, least, 0), *x = fresh(m * n);
    int64_t sum = 0;
    for (int64_t j = 0; j < n; j++) {
        ck_assert(order[j] >= 1 && order[j] <= n);
        ck_assert(j >= fixed || given[order[j] - 1]);
        sum += order[j];
        for (int64_t i = 0; i < m; i++)
            x[i * n + j] = a[i * n + order[j] - 1];
        for (int64_t i = j + 1; i < m; i++)
            f[i * n + j] = 0;
    }
    ck_assert_int_eq(sum, n * (n + 1) / 2);
    long double of_a = norm(a, m * n);
    for (int64_t j = fixed; j < least; j++) /* no later column has more left */
        for (int64_t c = j + 1; c < n; c++) {
            long double left = 0;
            for (int64_t i = j; i <= c && i < m; i++)
                left += square(f[i * n + c]);
            WITHIN(sqrtl(left), cabsl(f[j * n + j]) * 1.001L + 100 * eps_of(k) * of_a, "pivot");
        }
    num *p = product(q, false, f, false, m, m, n);
    WITHIN(skew_of(q, m), LEAST * eps_of(k), "q of geqp3");
    WITHIN(distance(x, p, m * n), LEAST * eps_of(k) * norm(a, m * n), "geqp3");
    free(out), free(taus), free(order), free(given), free(f), free(tau), free(q), free(x);
}

static void try_gtsv(const kind *k, int64_t n, int64_t cols)
{
    lz_linalg_task t = task(k, LZ_LINALG_GTSV, n, cols);
    void *in[4], *out[4];
    for (int i = 0; i < 4; i++) {
        in[i] = room(k, i ? n : n * cols);
        out[i] = room(k, i ? n : n * cols);
        for (int64_t j = 0; j < (i ? n : n * cols); j++) {
            long double re = uniform(), im = uniform();
            put(k, in[i], j, re + im * I);
        }
    }
    run(&t, (void *[]){out[0], out[1], out[2], out[3], in[0], in[1], in[2], in[3]}, 0, 1);
    num *x = load(k, out[0], n * cols), *b = load(k, in[0], n * cols), *r = fresh(n * cols);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < cols; j++) {
            num s = get(k, in[2], i) * x[i * cols + j];
            if (i > 0)
                s += get(k, in[1], i) * x[(i - 1) * cols + j];
            if (i + 1 < n)
                s += get(k, in[3], i) * x[(i + 1) * cols + j];
            r[i * cols + j] = s;
        }
    WITHIN(distance(b, r, n * cols), LEAST * eps_of(k) * (norm(x, n * cols) + 1), "gtsv");
    for (int i = 0; i < 4; i++)
        free(in[i]), free(out[i]);
    free(x), free(b);
}

/* Blocks in standard form, with values that are w's. */
static void check_form(const kind *k, const num *t, const num *w, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        bool pair = !k->complex_ && i + 1 < n && t[(i + 1) * n + i] != 0;
        for (int64_t j = 0; j < i; j++)
            ck_assert(t[i * n + j] == 0);
        WITHIN(fabsl(creall(w[i]) - creall(t[i * n + i])), 0, "value");
        if (!pair) {
            ck_assert(k->complex_ || cimagl(w[i]) == 0);
            continue;
        }
        ck_assert(t[i * n + i] == t[(i + 1) * n + i + 1]);
        ck_assert(signbit(creall(t[i * n + i + 1])) != signbit(creall(t[(i + 1) * n + i])));
        ck_assert(cimagl(w[i]) > 0 && w[i + 1] == conjl(w[i]));
        for (int64_t j = 0; j < i; j++)
            ck_assert(t[(i + 1) * n + j] == 0);
        i++;
    }
}

static void try_schur(const kind *k, const num *a, const void *in, int64_t n, int slack)
{
    const kind z = {k->wide, true, k->name};
    lz_linalg_task t = task(k, LZ_LINALG_SCHUR, n, n);
    void *form = room(k, n * n), *vectors = room(k, n * n), *values = room(&z, n),
         *alone = room(k, n * n);
    t.k = 1;
    run(&t, (void *[]){form, vectors, values, (void *)(uintptr_t)in}, 0, 1);
    num *s = load(k, form, n * n), *q = load(k, vectors, n * n), *w = load(&z, values, n);
    check_form(k, s, w, n);
    num *p = product(q, false, s, false, n, n, n), *r = product(p, false, q, true, n, n, n);
    WITHIN(skew_of(q, n), slack * LEAST * eps_of(k), "q of schur");
    WITHIN(distance(a, r, n * n), slack * LEAST * eps_of(k) * norm(a, n * n), "schur");
    t.k = 0; /* without vectors the same form */
    run(&t, (void *[]){alone, values, (void *)(uintptr_t)in}, 0, 1);
    ck_assert(memcmp(alone, form,
                     (size_t)(n * n) * (k->wide ? 8 : 4) * (size_t)(k->complex_ ? 2 : 1)) == 0);
    free(form), free(vectors), free(values), free(alone), free(s), free(q), free(w), free(p);
}

/* Columns of v of norm 1, the largest element real. */
static void check_norms(const kind *k, const num *v, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        long double s = 0, most = 0, im = 0;
        for (int64_t i = 0; i < n; i++) {
            num x = v[i * n + j];
            s = hypotl(s, cabsl(x));
            if (cabsl(x) > most * (1 + 100 * eps_of(k))) {
                most = cabsl(x);
                im = fabsl(cimagl(x));
            } else if (cabsl(x) > most * (1 - 100 * eps_of(k))) {
                im = fminl(im, fabsl(cimagl(x)));
            }
        }
        WITHIN(fabsl(s - 1), 10 * eps_of(k), "norm");
        WITHIN(im, 0, "largest element");
    }
}

/* The residual of a balanced matrix is relative to its own norm: `loose` where that is not. */
static void try_eig(const kind *k, const num *a, const void *in, int64_t n, bool loose)
{
    const kind z = {k->wide, true, k->name};
    lz_linalg_task t = task(k, LZ_LINALG_EIG, n, n);
    void *values = room(&z, n), *left = room(&z, n * n), *right = room(&z, n * n);
    t.left = t.k = 1;
    run(&t, (void *[]){values, left, right, (void *)(uintptr_t)in}, 0, 1);
    num *w = load(&z, values, n), *u = load(&z, left, n * n), *v = load(&z, right, n * n),
        *uw = fresh(n * n), *vw = fresh(n * n);
    for (int64_t i = 0; i < n * n; i++) {
        vw[i] = v[i] * w[i % n];
        uw[i / n + i % n * n] = conjl(u[i]) * w[i % n]; /* the adjoint */
    }
    check_norms(k, u, n);
    check_norms(k, v, n);
    long double bound = LEAST * eps_of(k) * norm(a, n * n) * (loose ? 100 : 1);
    WITHIN(distance(vw, product(a, false, v, false, n, n, n), n * n), bound, "right vectors");
    WITHIN(distance(uw, product(u, true, a, false, n, n, n), n * n), bound, "left vectors");
    for (int64_t i = 0; i < n && !k->complex_; i++)
        if (cimagl(w[i]) != 0) {
            ck_assert(i + 1 < n && cimagl(w[i]) > 0 && w[i + 1] == conjl(w[i]));
            i++;
        }
    free(values), free(left), free(right), free(w), free(u), free(v), free(uw), free(vw);
}

/* ---- matrices ---- */

enum {
    RANDOM,
    ZERO,
    EYE,
    JORDAN,
    CYCLE,
    COMPANION,
    TRIANGLE,
    SPARSE,
    RANK_ONE,
    DEFECTIVE,
    SKEWED,
    HUGE_,
    TINY,
    NMATRIX
};
static const char *const names[] = {"random",    "zero",     "identity", "Jordan's", "cycle",
                                    "companion", "triangle", "sparse",   "rank one", "defective",
                                    "skewed",    "huge",     "tiny"};

static num element(int of, const kind *k, int64_t i, int64_t j, int64_t n)
{
    long double re = uniform(), im = uniform();
    num x = re + im * I;
    switch (of) {
    case ZERO:
        return 0;
    case EYE:
        return i == j;
    case JORDAN:
        return j == i + 1;
    case CYCLE:
        return i == (j + 1) % n;
    case COMPANION:
        return i == 0 ? -1 : i == j + 1;
    case TRIANGLE:
        return j <= i ? x : 0;
    case SPARSE:
        return fabsl(im) * (long double)n < 2 ? x : 0;
    case RANK_ONE:
        return (num)((i % 7 + 1) * (j % 5 + 1));
    case DEFECTIVE:
        return i == j ? 2 : j == i + 1 && i % 3 != 2;
    case SKEWED:
        return x * powl(2, (long double)(i * 7 % 11) - (long double)(j * 7 % 11));
    case HUGE_:
        return x * (k->wide ? 1e300L : 1e36L);
    case TINY:
        return x * (k->wide ? 1e-300L : 1e-36L);
    default:
        return x;
    }
}

static num *make(const kind *k, int of, int64_t m, int64_t n, void **in)
{
    num *a = fresh(m * n);
    *in = room(k, m * n);
    what = names[of];
    for (int64_t i = 0; i < m * n; i++) {
        put(k, *in, i, element(of, k, i / n, i % n, n));
        a[i] = get(k, *in, i);
    }
    return a;
}

static void try_all(const kind *k, int of, int64_t n, int slack)
{
    void *in;
    num *a = make(k, of, n, n, &in);
    try_hessenberg(k, a, in, n);
    try_tridiagonal(k, a, n, true);
    try_tridiagonal(k, a, n, false);
    try_pivoted(k, a, in, n, n, 0);
    try_schur(k, a, in, n, slack);
    try_eig(k, a, in, n, of == SKEWED);
    free(a), free(in);
}

/* ---- tests ---- */

static const kind *begin(int i)
{
    isa = i / NKIND;
    lz_host_use_isa(isa);
    return &kinds[i % NKIND];
}

START_TEST(squares)
{
    const kind *k = begin(_i);
    int64_t most = lz_test_small() ? 20 : 46;
    for (int64_t n = 1; n <= most; n += n < 7 ? 1 : 13)
        try_all(k, RANDOM, n, 1);
    for (int of = 1; of < NMATRIX; of++)
        for (int64_t n = 2; n <= 20; n += 17)
            try_all(k, of, n, 1);
}
END_TEST

/* Windows, many bulges and early deflation: those that schur_small.h does not do. */
START_TEST(large)
{
    const kind *k = begin(_i);
    lz_host_use_isa(isa = lz_host_isas() - 1);
    static const int of[] = {RANDOM, CYCLE, RANK_ONE};
    for (size_t i = 0; i < (lz_test_small() ? 1 : sizeof of / sizeof *of); i++)
        try_all(k, of[i], 77 + 31 * (int64_t)i, 2);
}
END_TEST

START_TEST(pivots)
{
    static const int64_t sizes[][2] = {{1, 5},   {5, 1},   {3, 7},   {7, 3},
                                       {40, 17}, {17, 40}, {33, 70}, {70, 33}};
    const kind *k = begin(_i);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int64_t fixed = 0; fixed < 7; fixed += 3)
            for (int of = 0; of < NMATRIX; of += of ? HUGE_ - RANK_ONE : RANK_ONE) {
                void *in;
                num *a = make(k, of, sizes[i][0], sizes[i][1], &in);
                try_pivoted(k, a, in, sizes[i][0], sizes[i][1], fixed);
                free(a), free(in);
            }
}
END_TEST

START_TEST(systems)
{
    const kind *k = begin(_i);
    what = "random";
    for (int64_t n = 1; n < 40; n += n < 5 ? 1 : 9)
        try_gtsv(k, n, 1 + n % 4);
}
END_TEST

/* Without a pivot there is no x, and what is before it is done. */
START_TEST(singular_system)
{
    float b[3] = {1, 2, 3}, dl[3] = {9, 0, 1}, d[3] = {2, 0, 4}, du[3] = {1, 0, 9}, x[3], l[3],
          m[3], u[3];
    lz_linalg_task t = task(&kinds[0], LZ_LINALG_GTSV, 3, 1);
    dl[2] = 0;
    run(&t, (void *[]){x, l, m, u, b, dl, d, du}, 0, 1);
    ck_assert(isnan(x[0]) && isnan(x[1]) && isnan(x[2]));
    ck_assert(m[0] == 2 && m[1] == 0 && m[2] == 4);
}
END_TEST

START_TEST(not_finite)
{
    enum { N = 9 };
    const kind *k = &kinds[0];
    void *in;
    num *a = make(k, RANDOM, N, N, &in);
    ((float *)in)[3 * N + 1] = _i ? NAN : -INFINITY;
    for (int op = LZ_LINALG_HESSENBERG; op < LZ_LINALG_NOPS; op++) {
        if (op == LZ_LINALG_GTSV)
            continue;
        float out[4][2 * N * N];
        int32_t given[N] = {0};
        lz_linalg_task t = task(k, (lz_linalg_op)op, N, N);
        t.k = op >= LZ_LINALG_SCHUR;
        t.lower = op == LZ_LINALG_TRIDIAGONAL;
        int results = op == LZ_LINALG_TRIDIAGONAL ? 4
                      : op == LZ_LINALG_PIVOTED   ? 3
                      : op == LZ_LINALG_SCHUR     ? 3
                                                  : 2;
        void *bufs[6];
        for (int i = 0; i < results; i++)
            bufs[i] = out[i];
        bufs[results] = in;
        bufs[results + 1] = given;
        run(&t, bufs, 0, 1);
        ck_assert(isnan(out[0][0]) && isnan(out[0][N - 1]) && isnan(out[results - 1][0]));
    }
    free(a), free(in);
}
END_TEST

/* A batch cut anywhere. */
START_TEST(same_bits_however_cut)
{
    enum { N = 19, COUNT = 5 };
    const kind *k = &kinds[_i];
    void *in;
    num *a = make(k, RANDOM, N * COUNT, N, &in);
    int32_t given[N * COUNT] = {0};
    for (int op = LZ_LINALG_HESSENBERG; op < LZ_LINALG_NOPS; op++) {
        lz_linalg_task t = task(k, (lz_linalg_op)op, N, N);
        t.k = op >= LZ_LINALG_SCHUR;
        t.lower = op == LZ_LINALG_TRIDIAGONAL;
        int n = op == LZ_LINALG_TRIDIAGONAL || op == LZ_LINALG_GTSV ? 4
                : op == LZ_LINALG_PIVOTED || op == LZ_LINALG_SCHUR  ? 3
                                                                    : 2;
        char *out[2][4];
        for (int way = 0; way < 2; way++) {
            void *bufs[8] = {NULL};
            for (int i = 0; i < n; i++) {
                bufs[i] = out[way][i] = calloc((size_t)COUNT * N * N, 16);
                ck_assert_ptr_nonnull(out[way][i]);
            }
            for (int i = n; i < 8; i++)
                bufs[i] = in;
            if (op == LZ_LINALG_PIVOTED)
                bufs[n + 1] = given;
            run(&t, bufs, way ? 3 : 0, COUNT);
            if (way)
                run(&t, bufs, 0, 3);
        }
        for (int i = 0; i < n; i++) {
            ck_assert(memcmp(out[0][i], out[1][i], (size_t)COUNT * N * N * 16) == 0);
            free(out[0][i]), free(out[1][i]);
        }
    }
    free(a), free(in);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("spectral");
    TCase *t = tcase_create("routines");
    int n = NKIND * lz_host_isas();
    tcase_set_timeout(t, 240);
    tcase_add_loop_test(t, squares, 0, n);
    tcase_add_loop_test(t, large, 0, NKIND);
    tcase_add_loop_test(t, pivots, 0, n);
    tcase_add_loop_test(t, systems, 0, n);
    tcase_add_test(t, singular_system);
    tcase_add_loop_test(t, not_finite, 0, 2);
    tcase_add_loop_test(t, same_bits_however_cut, 0, NKIND);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
