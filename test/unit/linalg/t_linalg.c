/* t_linalg.c - the routines of linalg/ on random and hard matrices of all dtypes and sizes, with
 * every instruction set that the processor has: residuals and orthogonality against sums in a wider
 * type, what is exactly 0, order, NaN, scales, and that batches cut anywhere give the same bits. */
#include "linalg/linalg.h"
#include "base/host_isa.h"
#include "suite.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef long double real;
typedef struct num {
    real re, im;
} num;

/* rows x cols numbers, of the elements of a routine and as wide ones */
typedef struct mat {
    int64_t m, n;
    num *x;
} mat;

typedef struct kind {
    bool wide, complex_;
    const char *name;
} kind;
static const kind kinds[] = {
    {false, false, "f32"}, {true, false, "f64"}, {false, true, "c64"}, {true, true, "c128"}};
enum { NKIND = 4 };

static real eps_of(const kind *k)
{
    return k->wide ? DBL_EPSILON : (real)FLT_EPSILON;
}

static mat mat_new(int64_t m, int64_t n)
{
    mat a = {m, n, calloc((size_t)(m * n) + 1, sizeof(num))};
    ck_assert_ptr_nonnull(a.x);
    return a;
}

static num *el(const mat *a, int64_t i, int64_t j)
{
    return &a->x[i * a->n + j];
}

static uint64_t state = 12345;
static real uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (real)(int64_t)(state >> 11) * 0x1p-52L - 1;
}

static size_t bytes_of(const kind *k)
{
    return (k->wide ? 8 : 4) * (size_t)(k->complex_ ? 2 : 1);
}

/* As the dtype has it; x becomes what it is rounded to. */
static void *store(const kind *k, mat *a)
{
    char *p = malloc((size_t)(a->m * a->n) * bytes_of(k) + 1);
    ck_assert_ptr_nonnull(p);
    int parts = k->complex_ ? 2 : 1;
    for (int64_t i = 0; i < a->m * a->n; i++)
        for (int c = 0; c < 2; c++) {
            real *x = c ? &a->x[i].im : &a->x[i].re;
            if (c == parts)
                *x = 0;
            else if (k->wide)
                *x = ((double *)(void *)p)[i * parts + c] = (double)*x;
            else
                *x = ((float *)(void *)p)[i * parts + c] = (float)*x;
        }
    return p;
}

static mat load(const kind *k, const void *p, int64_t m, int64_t n)
{
    mat a = mat_new(m, n);
    int parts = k->complex_ ? 2 : 1;
    for (int64_t i = 0; i < m * n * parts; i++) {
        real x = k->wide ? ((const double *)p)[i] : (real)((const float *)p)[i];
        *(i % parts ? &a.x[i / parts].im : &a.x[i / parts].re) = x;
    }
    return a;
}

static num times(num a, num b)
{
    return (num){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static num conj_(num a)
{
    return (num){a.re, -a.im};
}

static mat adjoint_of(const mat *a)
{
    mat c = mat_new(a->n, a->m);
    for (int64_t i = 0; i < a->m; i++)
        for (int64_t j = 0; j < a->n; j++)
            *el(&c, j, i) = conj_(*el(a, i, j));
    return c;
}

static bool is_real(const mat *a)
{
    for (int64_t i = 0; i < a->m * a->n; i++)
        if (a->x[i].im != 0)
            return false;
    return true;
}

/* Elements j to j + 4 of row i of a b; real matrices. */
static void real_products(mat *c, const mat *a, const mat *b, int64_t i, int64_t j)
{
    real s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (int64_t k = 0; k < a->n; k++) {
        const num *y = el(b, k, j);
        real x = el(a, i, k)->re;
        s0 += x * y[0].re;
        s1 += x * y[1].re;
        s2 += x * y[2].re;
        s3 += x * y[3].re;
    }
    num *to = el(c, i, j);
    to[0].re = s0, to[1].re = s1, to[2].re = s2, to[3].re = s3;
}

static num product_at(const mat *a, const mat *b, int64_t i, int64_t j)
{
    num s = {0, 0};
    for (int64_t k = 0; k < a->n; k++) {
        num p = times(*el(a, i, k), *el(b, k, j));
        s = (num){s.re + p.re, s.im + p.im};
    }
    return s;
}

/* a b, or a b^H */
static mat product(const mat *a, const mat *b, bool adjoint)
{
    if (adjoint) {
        mat h = adjoint_of(b), c = product(a, &h, false);
        free(h.x);
        return c;
    }
    mat c = mat_new(a->m, b->n);
    int64_t fours = is_real(a) && is_real(b) ? c.n / 4 * 4 : 0;
    for (int64_t i = 0; i < c.m; i++) {
        for (int64_t j = 0; j < fours; j += 4)
            real_products(&c, a, b, i, j);
        for (int64_t j = fours; j < c.n; j++)
            *el(&c, i, j) = product_at(a, b, i, j);
    }
    return c;
}

static real norm(const mat *a)
{
    real s = 0;
    for (int64_t i = 0; i < a->m * a->n; i++)
        s += a->x[i].re * a->x[i].re + a->x[i].im * a->x[i].im;
    return sqrtl(s); /* a real's range has the squares of every double */
}

/* The norm of a - b. */
static real distance(const mat *a, const mat *b)
{
    real s = 0;
    ck_assert(a->m == b->m && a->n == b->n);
    for (int64_t i = 0; i < a->m * a->n; i++) {
        num d = {a->x[i].re - b->x[i].re, a->x[i].im - b->x[i].im};
        s += d.re * d.re + d.im * d.im;
    }
    return sqrtl(s);
}

/* The largest of a^H a - I by magnitude. */
static real skew_of(const mat *a)
{
    mat h = adjoint_of(a), p = product(&h, a, false);
    real most = 0;
    for (int64_t i = 0; i < p.m * p.n; i++) {
        real d = hypotl(p.x[i].re - (i / p.n == i % p.n), p.x[i].im);
        most = d > most || isnan(d) ? d : most;
    }
    free(h.x);
    free(p.x);
    return most;
}

/* ---- running ---- */

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

static lz_linalg_task task(const kind *k, lz_linalg_op op, int64_t m, int64_t n, int64_t c)
{
    return (lz_linalg_task){.op = op,
                            .wide = k->wide,
                            .complex_ = k->complex_,
                            .m = m,
                            .n = n,
                            .k = c,
                            .lower = 1,
                            .left = 1};
}

static void *room(const kind *k, int64_t n)
{
    void *p = malloc((size_t)n * bytes_of(k) + 16);
    ck_assert_ptr_nonnull(p);
    return p;
}

#define WITHIN(value, bound, what)                                                                 \
    do {                                                                                           \
        real v_ = (value), b_ = (bound);                                                           \
        ck_assert_msg(v_ <= b_, "%s: %s %lldx%lld %s, isa %d: %Lg > %Lg", what, k->name,           \
                      (long long)a->m, (long long)a->n, matrix_name, isa, v_, b_);                 \
    } while (0)

/* Of the bounds of the SVD. Columns that are alike are rounded alike, so errors of reflections add
 * up where most matrices' cancel: up to 80 eps of the reduction to a bidiagonal matrix of 130 x 200
 * elements, with rotations as with divide and conquer. (LAPACK's: 15 of the product, 33 of the
 * vectors.) */
static int slack = 1;
static const char *matrix_name;
static int isa;

/* ---- what is tried of a matrix ---- */

static void try_lu(const kind *k, const mat *a, void *in)
{
    int64_t m = a->m, n = a->n, least = m < n ? m : n;
    lz_linalg_task t = task(k, LZ_LINALG_LU, m, n, 0);
    void *out = room(k, m * n);
    int32_t *pivots = room(k, least + 4), *order = room(k, m + 4);
    run(&t, (void *[]){out, pivots, order, in}, 0, 1);
    mat lu = load(k, out, m, n), l = mat_new(m, least), u = mat_new(least, n), r = mat_new(m, n);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            if (j < least)
                *el(&l, i, j) = i > j ? *el(&lu, i, j) : (num){i == j, 0};
            if (i < least)
                *el(&u, i, j) = i <= j ? *el(&lu, i, j) : (num){0, 0};
            *el(&r, i, j) = *el(a, order[i], j);
        }
    for (int64_t i = 0; i < least; i++)
        ck_assert(pivots[i] >= i && pivots[i] < m);
    mat p = product(&l, &u, false);
    WITHIN(distance(&p, &r), 30 * eps_of(k) * norm(&l) * norm(&u), "lu");
    free(lu.x), free(l.x), free(u.x), free(r.x), free(p.x), free(out), free(pivots), free(order);
}

static void try_qr(const kind *k, const mat *a, void *in, bool complete)
{
    int64_t m = a->m, n = a->n, c = complete || m < n ? m : n;
    lz_linalg_task t = task(k, LZ_LINALG_QR, m, n, c);
    void *q = room(k, m * c), *r = room(k, c * n);
    run(&t, (void *[]){q, r, in}, 0, 1);
    mat x = load(k, q, m, c), y = load(k, r, c, n), p = product(&x, &y, false);
    WITHIN(distance(&p, a), 30 * eps_of(k) * norm(a), "qr");
    WITHIN(skew_of(&x), 30 * eps_of(k), "q");
    for (int64_t i = 0; i < c; i++)
        for (int64_t j = 0; j < n && j < i; j++)
            ck_assert(el(&y, i, j)->re == 0 && el(&y, i, j)->im == 0);
    free(x.x), free(y.x), free(p.x), free(q), free(r);
}

static void try_svd(const kind *k, const mat *a, void *in, bool full)
{
    int64_t m = a->m, n = a->n, least = m < n ? m : n, uc = full ? m : least, vc = full ? n : least;
    kind part = {k->wide, false, k->name};
    lz_linalg_task t = task(k, LZ_LINALG_SVD, m, n, full == (m < n) ? n : m);
    void *u = room(k, m * uc), *s = room(k, least), *v = room(k, n * vc);
    run(&t, (void *[]){u, s, v, in}, 0, 1);
    mat x = load(k, u, m, uc), y = load(k, v, n, vc), d = load(&part, s, least, 1),
        w = mat_new(m, least), z = mat_new(n, least);
    for (int64_t j = 0; j < least; j++) {
        real value = d.x[j].re;
        ck_assert(value >= 0 && (j == 0 || value <= d.x[j - 1].re));
        for (int64_t i = 0; i < m; i++)
            *el(&w, i, j) = (num){el(&x, i, j)->re * value, el(&x, i, j)->im * value};
        for (int64_t i = 0; i < n; i++)
            *el(&z, i, j) = *el(&y, i, j);
    }
    mat p = product(&w, &z, true);
    WITHIN(distance(&p, a), slack * 30 * eps_of(k) * norm(a), "svd");
    WITHIN(skew_of(&x), slack * 30 * eps_of(k), "u");
    WITHIN(skew_of(&y), slack * 30 * eps_of(k), "v");
    free(x.x), free(y.x), free(d.x), free(w.x), free(z.x), free(p.x), free(u), free(s), free(v);
}

static void try_eigh(const kind *k, const mat *a, bool lower)
{
    int64_t n = a->n;
    kind part = {k->wide, false, k->name};
    lz_linalg_task t = task(k, LZ_LINALG_EIGH, n, n, 0);
    mat h = mat_new(n, n), other = mat_new(n, n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            num x = *el(a, i, j);
            x.im = i == j ? 0 : x.im;
            *el(&h, i, j) = x;
            *el(&h, j, i) = conj_(x);
            *el(&other, lower ? i : j, lower ? j : i) = lower ? x : conj_(x);
        }
    t.lower = lower;
    void *in = store(k, &other), *v = room(k, n * n), *w = room(k, n);
    run(&t, (void *[]){v, w, in}, 0, 1);
    mat x = load(k, v, n, n), d = load(&part, w, n, 1), y = mat_new(n, n);
    for (int64_t j = 0; j < n; j++) {
        ck_assert(j == 0 || d.x[j].re >= d.x[j - 1].re);
        for (int64_t i = 0; i < n; i++)
            *el(&y, i, j) = (num){el(&x, i, j)->re * d.x[j].re, el(&x, i, j)->im * d.x[j].re};
    }
    mat p = product(&y, &x, true);
    WITHIN(distance(&p, &h), 30 * eps_of(k) * norm(&h), "eigh");
    WITHIN(skew_of(&x), 30 * eps_of(k), "eigenvectors");
    free(h.x), free(other.x), free(x.x), free(d.x), free(y.x), free(p.x), free(in), free(v),
        free(w);
}

/* a a^H + I */
static mat positive(const mat *a)
{
    mat p = product(a, a, true);
    for (int64_t i = 0; i < p.m; i++) {
        el(&p, i, i)->re += 1;
        el(&p, i, i)->im = 0;
    }
    return p;
}

static void try_cholesky(const kind *k, const mat *a, bool lower)
{
    int64_t n = a->m;
    lz_linalg_task t = task(k, LZ_LINALG_CHOLESKY, n, n, 0);
    mat p = positive(a);
    void *in = store(k, &p), *out = room(k, n * n);
    t.lower = lower;
    run(&t, (void *[]){out, in}, 0, 1);
    mat l = load(k, out, n, n), h = adjoint_of(&l),
        x = lower ? product(&l, &l, true) : product(&h, &h, true);
    WITHIN(distance(&x, &p), 30 * eps_of(k) * norm(&p), "cholesky");
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++) {
            num z = lower ? *el(&l, i, j) : *el(&l, j, i);
            ck_assert(z.re == 0 && z.im == 0);
        }
    free(p.x), free(l.x), free(h.x), free(x.x), free(in), free(out);
}

/* One of the 24 forms, of a triangle of a with a large diagonal. */
static void try_solve(const kind *k, const mat *a, int form, int64_t c)
{
    int64_t n = a->m;
    lz_linalg_task t = task(k, LZ_LINALG_SOLVE, n, n, c);
    t.lower = form & 1;
    t.left = form >> 1 & 1;
    t.unit = form >> 2 & 1;
    t.transpose = form / 8;
    mat b = t.left ? mat_new(n, c) : mat_new(c, n), whole = mat_new(n, n), op = mat_new(n, n);
    for (int64_t i = 0; i < n * c; i++)
        b.x[i] = (num){uniform(), uniform()};
    for (int64_t i = 0; i < n * n; i++) {
        whole.x[i] = (num){uniform() / 2, uniform() / 2};
        whole.x[i].re += i / n == i % n ? 2 : 0;
    }
    void *in = store(k, &whole), *right = store(k, &b), *out = room(k, n * c);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            num x = i == j && t.unit ? (num){1, 0} : *el(&whole, i, j);
            x = (t.lower ? j <= i : j >= i) ? x : (num){0, 0};
            x.im = t.transpose == LZ_LINALG_ADJOINT ? -x.im : x.im;
            *el(&op, t.transpose ? j : i, t.transpose ? i : j) = x;
        }
    run(&t, (void *[]){out, in, right}, 0, 1);
    mat x = load(k, out, b.m, b.n), p = t.left ? product(&op, &x, false) : product(&x, &op, false);
    WITHIN(distance(&p, &b), 30 * eps_of(k) * norm(&op) * norm(&x), "solve");
    free(b.x), free(whole.x), free(op.x), free(x.x), free(p.x), free(in), free(right), free(out);
}

/* ---- matrices ---- */

enum { RANDOM, GRADED, RANK_ONE, HILBERT, CLUSTERS, WILKINSON, ZERO, EYE, HUGE_, TINY, NMATRIX };
static const char *const matrix_names[] = {"random",    "graded",      "of rank one", "Hilbert's",
                                           "clustered", "Wilkinson's", "zero",        "identity",
                                           "huge",      "tiny"};

static num element(int what, const kind *k, int64_t i, int64_t j)
{
    real x = uniform(), y = uniform();
    real big = k->wide ? 1e300L : 1e36L, small = k->wide ? 1e-300L : 1e-36L;
    switch (what) {
    case GRADED:
        x *= powl(10, -(real)(i + j) / 4), y *= powl(10, -(real)(i + j) / 4);
        return (num){x, y};
    case RANK_ONE:
        return (num){(real)(i % 7 + 1) * (real)(j % 5 + 1), 0};
    case HILBERT:
        return (num){1 / (real)(i + j + 1), 0};
    case CLUSTERS:
        return (num){(i == j ? 1 + (real)(i % 3) : 0) + x * 1e-9L, y * 1e-9L};
    case WILKINSON:
        return (num){i == j ? fabsl((real)i - 10) : llabs((long long)(i - j)) == 1, 0};
    case ZERO:
        return (num){0, 0};
    case EYE:
        return (num){i == j, 0};
    case HUGE_:
        return (num){x * big, y * big};
    case TINY:
        return (num){x * small, y * small};
    default:
        return (num){x, y};
    }
}

static mat make(int what, const kind *k, int64_t m, int64_t n)
{
    mat a = mat_new(m, n);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            *el(&a, i, j) = element(what, k, i, j);
    matrix_name = matrix_names[what];
    return a;
}

static void try_all(const kind *k, int what, int64_t m, int64_t n)
{
    mat own = make(what, k, m, n), *a = &own;
    void *in = store(k, a);
    bool extreme = what == HUGE_ || what == TINY;
    if (!extreme)
        try_lu(k, a, in);
    try_qr(k, a, in, false);
    try_svd(k, a, in, false);
    if (m != n) {
        try_qr(k, a, in, true);
        try_svd(k, a, in, true);
    } else {
        try_eigh(k, a, true);
        try_eigh(k, a, false);
    }
    if (m == n && !extreme) {
        try_cholesky(k, a, true);
        try_cholesky(k, a, false);
    }
    for (int form = 0; m == n && what == RANDOM && form < 24; form++)
        try_solve(k, a, form, 1 + (form * 7 + (int)n) % 37);
    free(own.x), free(in);
}

/* ---- tests ---- */

START_TEST(squares)
{
    const kind *k = &kinds[_i % NKIND];
    isa = _i / NKIND;
    lz_host_use_isa(isa);
    int64_t most = lz_test_small() ? 24 : 70;
    for (int64_t n = 1; n <= most; n += n < 20 ? 1 : 7)
        try_all(k, RANDOM, n, n);
    for (int what = 1; what < NMATRIX; what++)
        for (int64_t n = 3; n <= most; n += 30)
            try_all(k, what, n, n);
}
END_TEST

START_TEST(rectangles)
{
    static const int64_t sizes[][2] = {{1, 5},  {5, 1},   {3, 7},   {7, 3},   {40, 17}, {17, 40},
                                       {33, 8}, {70, 69}, {20, 90}, {90, 20}, {65, 33}, {2, 64}};
    const kind *k = &kinds[_i % NKIND];
    isa = _i / NKIND;
    lz_host_use_isa(isa);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int what = 0; what < NMATRIX; what += 1 + (int)(i % 3))
            try_all(k, what, sizes[i][0], sizes[i][1]);
}
END_TEST

START_TEST(large)
{
    static const int64_t sizes[] = {129, 257, 300};
    const kind *k = &kinds[_i % NKIND];
    isa = lz_host_isas() - 1;
    lz_host_use_isa(isa);
    for (int i = 0; i < (lz_test_small() ? 1 : 3); i++)
        try_all(k, i == 1 ? GRADED : RANDOM, sizes[i], sizes[i]);
}
END_TEST

/* What divide and conquer does, which smaller ones are not large enough for. */
START_TEST(divided)
{
    static const int64_t sizes[][2] = {{131, 131}, {170, 130}, {130, 200}};
    const kind *k = &kinds[_i % NKIND];
    isa = _i / NKIND;
    lz_host_use_isa(isa);
    /* of the best instruction set a third, of the others one, another each time */
    bool best = isa + 1 == lz_host_isas();
    for (int what = 0; what < NMATRIX; what++) {
        if (!lz_test_in_turn((unsigned)what, best ? 3 : NMATRIX))
            continue;
        const int64_t *size = sizes[what % 3];
        mat a = make(what, k, size[0], size[1]), b = make(what, k, 129, 129);
        void *in = store(k, &a);
        free(store(k, &b));
        slack = what == RANK_ONE ? 4 : 1;
        try_svd(k, &a, in, size[0] != size[1] && what % 2);
        slack = 1;
        try_eigh(k, &b, what % 2 != 0);
        free(a.x), free(b.x), free(in);
    }
}
END_TEST

/* Whether all of n floats are NaN. */
static bool all_nan(const float *x, int64_t n)
{
    bool all = true;
    for (int64_t i = 0; i < n; i++)
        all &= isnan(x[i]) != 0;
    return all;
}

/* Eigenvalues and singular values of an n x n matrix, and their vectors; u, s and v are room. */
static void spectra_are_nan(const kind *k, int n, float *in, float *u, float *s, float *v)
{
    lz_linalg_task t = task(k, LZ_LINALG_EIGH, n, n, 0);
    run(&t, (void *[]){u, s, in}, 0, 1);
    ck_assert(all_nan(u, n * n) && all_nan(s, n));
    t = task(k, LZ_LINALG_SVD, n, n, n);
    run(&t, (void *[]){u, s, v, in}, 0, 1);
    ck_assert(all_nan(u, n * n) && all_nan(s, n) && all_nan(v, n * n));
}

START_TEST(not_finite)
{
    enum { SMALL = 37, DIVIDED = 131 };
    const int N = _i / 2 % 2 ? DIVIDED : SMALL;
    const kind *k = &kinds[0];
    float bad = _i % 2 ? NAN : INFINITY;
    lz_host_use_isa(_i / 4);
    mat a = make(RANDOM, k, N, N), p = positive(&a);
    float *in = store(k, &a), *u = room(k, N * N), *s = room(k, N), *v = room(k, N * N),
          *spd = store(k, &p);
    in[20 * N + 3] = bad;
    spd[20 * N + 3] = bad;
    spectra_are_nan(k, N, in, u, s, v);
    lz_linalg_task t = task(k, LZ_LINALG_CHOLESKY, N, N, 0);
    run(&t, (void *[]){u, spd}, 0, 1);
    for (int i = 0; i < N; i++)
        ck_assert(all_nan(u + i * N, i + 1) && (i == N - 1 || u[i * N + i + 1] == 0));
    t = task(k, LZ_LINALG_QR, N, N, N);
    run(&t, (void *[]){u, v, in}, 0, 1); /* ends */
    ck_assert(isnan(v[N * N - 1]));
    free(a.x), free(p.x), free(in), free(u), free(s), free(v), free(spd);
}
END_TEST

/* Where the rest of the matrix does not meet what is not finite. */
START_TEST(not_finite_apart)
{
    enum { SMALL = 37, DIVIDED = 131 };
    const int N = _i / 2 % 2 ? DIVIDED : SMALL;
    const kind *k = &kinds[0];
    lz_host_use_isa(_i / 4);
    float *in = calloc((size_t)(N * N), sizeof *in), *u = room(k, N * N), *s = room(k, N),
          *v = room(k, N * N);
    ck_assert_ptr_nonnull(in);
    for (int i = 0; i < N; i++)
        in[i * N + i] = (float)(i + 1);
    in[5 * N + 4] = in[4 * N + 5] = _i % 2 ? NAN : INFINITY;
    spectra_are_nan(k, N, in, u, s, v);
    free(in), free(u), free(s), free(v);
}
END_TEST

/* Equal eigenvalues keep the order of the matrix: of a diagonal one, unit vectors. */
START_TEST(diagonal_in_order)
{
    static const double values[] = {2, 1, 2, 1, 3};
    static const int order[] = {1, 3, 0, 2, 4};
    const kind *k = &kinds[1];
    mat a = mat_new(5, 5);
    for (int i = 0; i < 5; i++)
        el(&a, i, i)->re = (real)values[i];
    double *in = store(k, &a), v[25], w[5];
    lz_linalg_task t = task(k, LZ_LINALG_EIGH, 5, 5, 0);
    run(&t, (void *[]){v, w, in}, 0, 1);
    for (int j = 0; j < 5; j++) {
        ck_assert(w[j] == values[order[j]]);
        for (int i = 0; i < 5; i++)
            ck_assert(fabs(v[i * 5 + j]) == (i == order[j]));
    }
    free(a.x), free(in);
}
END_TEST

/* A batch cut anywhere. */
START_TEST(same_bits_however_cut)
{
    enum { N = 19, COUNT = 5 };
    const kind *k = &kinds[_i];
    mat a = make(RANDOM, k, N * COUNT, N);
    void *in = store(k, &a);
    size_t matrix = N * N * bytes_of(k);
    for (int op = LZ_LINALG_LU; op <= LZ_LINALG_SVD; op++) {
        char *out[2][3];
        lz_linalg_task t = task(k, (lz_linalg_op)op, N, N, N);
        int n = op == LZ_LINALG_LU || op == LZ_LINALG_SVD ? 3 : 2;
        for (int way = 0; way < 2; way++) {
            void *bufs[4];
            for (int i = 0; i < 3; i++) {
                bufs[i] = out[way][i] = calloc(COUNT, matrix);
                ck_assert_ptr_nonnull(bufs[i]);
            }
            bufs[n] = in;
            run(&t, bufs, way ? 3 : 0, way ? 5 : 5);
            if (way)
                run(&t, bufs, 0, 3);
            free(n == 2 ? out[way][2] : NULL);
        }
        for (int i = 0; i < n; i++) {
            ck_assert(memcmp(out[0][i], out[1][i], COUNT * matrix) == 0);
            free(out[0][i]), free(out[1][i]);
        }
    }
    free(a.x), free(in);
}
END_TEST

START_TEST(too_large)
{
    lz_linalg_task t = task(&kinds[3], LZ_LINALG_SVD, INT64_MAX / 2, 3, 3);
    ck_assert(lz_linalg_scratch(&t) == SIZE_MAX);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("linalg");
    TCase *t = tcase_create("linalg");
    int isas = lz_host_isas();
    tcase_set_timeout(t, 240);
    tcase_add_loop_test(t, squares, 0, NKIND * isas);
    tcase_add_loop_test(t, rectangles, 0, NKIND * isas);
    tcase_add_loop_test(t, large, 0, NKIND);
    tcase_add_loop_test(t, divided, 0, NKIND * isas);
    tcase_add_loop_test(t, not_finite, 0, 4 * isas);
    tcase_add_loop_test(t, not_finite_apart, 0, 4 * isas);
    tcase_add_test(t, diagonal_in_order);
    tcase_add_loop_test(t, same_bits_however_cut, 0, NKIND);
    tcase_add_test(t, too_large);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
