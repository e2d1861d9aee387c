/* t_decompose.c - decompositions: fixed matrices against NumPy's results, random ones of many sizes
 * by their defining equations. */
#include "aten.h"

static const double sym[] = {4, 1, -2, 0.5, 1, 3, 0.25, -1, -2, 0.25, 5, 2, 0.5, -1, 2, -1.5};
static const double tall[] = {1, 2, 3, 4, 5, 6.5, 7, -8, 9, 0.5, 1, -1.5};
/* numpy.linalg: inv, eigvalsh, svd, qr, pinv, solve, matrix_power, norm, lstsq, cholesky of sym
 * sym^T + I */
static const double inverse[] = {
    0.25841910662536227,   -0.035175377235934849, 0.039972019586289598, 0.16288597981413008,
    -0.035175377235934849, 0.28939742180473671,   0.034775657040071947, -0.15828919756170681,
    0.039972019586289591,  0.034775657040071961,  0.14230038972719097,  0.17987408813830316,
    0.16288597981413011,   -0.15828919756170681,  0.17987408813830319,  -0.2670130908364145};
static const double eigenvalues[] = {-2.5063583625713659, 2.4680735787546966, 3.6921107695540751,
                                     6.8461740142625933};
static const double singular[] = {14.714847152883076, 8.7170868721640513, 1.4952156133594765};
static const double q_[] = {-0.12285902336679033,  -0.28543461522969743, 0.46954297298355768,
                            -0.49143609346716111,  -0.79999069117841448, -0.0092310492007806593,
                            -0.86001316356753199,  0.50810800482153984,  0.0012587794364701962,
                            -0.061429511683395138, -0.14271730761484877, -0.88286046447145006};
static const double r_[] = {-8.1394102980498513,
                            4.1157772827874748,
                            -11.210885882219612,
                            0,
                            -8.778404032538635,
                            -1.2691953335326551,
                            0,
                            0,
                            2.6842468107810071};
static const double pinv[] = {-0.22218748513290429,   0.11144715469256579,    0.075711751632831878,
                              0.49283320986563522,    0.0072245594242099581,  0.091628890082032372,
                              -0.057949394102095285,  0.063811277924655241,   0.17492540965222941,
                              -0.0034389718425687226, 0.00046895070580485628, -0.32890435444517657};
static const double solved[] = {0.47896472469271517, 0.18407115019486348,  0.66203657439792152,
                                1.2866993104826621,  0.94014190066953152,  2.3259718197261918,
                                1.265114419906066,   -0.70470670530628576, 1.3568502048566007,
                                0.65534126111721802, -2.1716798241231134,  1.4791645847906465};
static const double power3[] = {122.625,    38.8125,  -132.25, -23.25,     38.8125,  39.1875,
                                -20.234375, -11.3125, -132.25, -20.234375, 209.8125, 51.125,
                                -23.25,     -11.3125, 51.125,  -1.125};
static const double norms[] = {17.168284713389397, 24.927149638406604, 24, 3, 20, 12.5,
                               14.714847152883076, 1.4952156133594765};
static const double least[] = {-0.68230968417189741, -0.3617512930126337, 0.26833155494539029,
                               0.20381260322012792,  0.53087258813215077, 0.49363008624615079};
static const double least_wide[] = {
    -1.2313762004118654, -0.15678245444721695,  0.54429545253743317, 0.38547408197802102,
    0.24395971101762237, -0.098019192997002833, 2.6929528262775468,  0.60204095502830657};
static const double chol[] = {4.7169905660283016,
                              0,
                              0,
                              0,
                              1.2719974560076319,
                              3.231798643466222,
                              0,
                              0,
                              -3.5509928980213061,
                              0.77877807693020507,
                              4.5657917325580168,
                              0,
                              -0.79499841000477001,
                              0.15818929687644792,
                              0.61408231035356864,
                              2.7323719714845645};

static lz_tensor *fixed(const double *v, int64_t m, int64_t n)
{
    return lz_from_host(LZ_F64, LZ_SHAPE(m, n), v);
}

START_TEST(numpy)
{
    ON_DEVICE(_i);
    static const char *const ord[] = {"fro", "nuc", "inf", "-inf", "1", "-1", "2", "-2"};
    lz_tensor *a = fixed(sym, 4, 4), *b = fixed(tall, 4, 3), *r, *p, *l;
    double det = -156.359375, sign = -1, logabs = 5.052157043730785, cond = 9.841287785793984;
    EXPECT(lz_linalg_inv(a), LZ_F64, LZ_SHAPE(4, 4), inverse, 1e-12);
    EXPECT(lz_linalg_det(a), LZ_F64, LZ_SCALAR, &det, 1e-13);
    EXPECT(lz_linalg_slogdet(a, &l), LZ_F64, LZ_SCALAR, &sign, 0);
    EXPECT(l, LZ_F64, LZ_SCALAR, &logabs, 1e-14);
    EXPECT(lz_linalg_eigvalsh(a, false), LZ_F64, LZ_SHAPE(4), eigenvalues, 1e-13);
    EXPECT(lz_linalg_eigvalsh(a, true), LZ_F64, LZ_SHAPE(4), eigenvalues, 1e-13);
    EXPECT(lz_linalg_svdvals(b), LZ_F64, LZ_SHAPE(3), singular, 1e-13);
    EXPECT(lz_linalg_svdvals(lz_transpose(b, 0, 1)), LZ_F64, LZ_SHAPE(3), singular, 1e-13);
    EXPECT(lz_linalg_qr(b, "reduced", &p), LZ_F64, LZ_SHAPE(4, 3), q_, 1e-10);
    EXPECT(p, LZ_F64, LZ_SHAPE(3, 3), r_, 1e-10);
    EXPECT(lz_linalg_qr(b, "r", NULL), LZ_F64, LZ_SHAPE(3, 3), r_, 1e-10);
    EXPECT(lz_linalg_pinv(b, -1), LZ_F64, LZ_SHAPE(3, 4), pinv, 1e-11);
    EXPECT(lz_linalg_solve(a, b, true), LZ_F64, LZ_SHAPE(4, 3), solved, 1e-12);
    EXPECT(lz_linalg_matrix_power(a, 3), LZ_F64, LZ_SHAPE(4, 4), power3, 1e-13);
    EXPECT(lz_linalg_matrix_power(lz_linalg_matrix_power(a, -1), -3), LZ_F64, LZ_SHAPE(4, 4),
           power3, 1e-10);
    for (int i = 0; i < 8; i++)
        EXPECT(lz_linalg_matrix_norm(b, ord[i], false), LZ_F64, LZ_SCALAR, &norms[i], 1e-13);
    EXPECT(lz_linalg_matrix_norm(b, "nuc", true), LZ_F64, LZ_SHAPE(1, 1), &norms[1], 1e-13);
    EXPECT(lz_linalg_cond(b), LZ_F64, LZ_SCALAR, &cond, 1e-12);
    l = lz_slice(a, 1, 0, 2, 1);
    EXPECT(lz_linalg_lstsq(b, l), LZ_F64, LZ_SHAPE(3, 2), least, 1e-11);
    EXPECT(lz_linalg_lstsq(lz_transpose(b, 0, 1), lz_slice(l, 0, 0, 3, 1)), LZ_F64, LZ_SHAPE(4, 2),
           least_wide, 1e-11);
    r = lz_add(lz_matmul(a, a), lz_eye(LZ_F64, 4, 4));
    l = lz_linalg_cholesky(r, false);
    EXPECT(l, LZ_F64, LZ_SHAPE(4, 4), chol, 1e-12);
    EXPECT(lz_transpose(lz_linalg_cholesky(r, true), 0, 1), LZ_F64, LZ_SHAPE(4, 4), chol, 1e-12);
}
END_TEST

/* ---- properties ---- */

static const struct {
    int64_t b, m, n;
} sizes[] = {{2, 0, 0}, {1, 1, 1}, {2, 3, 3},  {2, 5, 3},   {2, 3, 7},   {0, 3, 3},
             {2, 4, 0}, {1, 1, 4}, {1, 17, 9}, {1, 66, 66}, {1, 70, 67}, {1, 67, 80}};
enum { NSIZES = sizeof sizes / sizeof *sizes, NDTYPES = 3, LARGE = 60 };
static const lz_dtype dtypes[] = {LZ_F64, LZ_F32, LZ_C128};

static double host_noise[2 * 80 * 80];

static lz_tensor *noise(lz_dtype d, int64_t b, int64_t m, int64_t n)
{
    lz_shape s = LZ_SHAPE(b, m, n);
    if (d == LZ_C128) {
        at_fill(host_noise, b * m * n, -1, 1);
        lz_tensor *re = lz_from_host(LZ_F64, s, host_noise);
        at_fill(host_noise, b * m * n, -1, 1);
        return lz_complex(re, lz_from_host(LZ_F64, s, host_noise));
    }
    at_fill(host_noise, b * m * n, -1, 1);
    return lz_to(lz_from_host(LZ_F64, s, host_noise), d);
}

static lz_tensor *adjoint(lz_tensor *x)
{
    return lz_conj(lz_transpose(x, -2, -1));
}

/* x and y differ by no more than tol anywhere. */
static void same_at(lz_tensor *x, lz_tensor *y, double tol, const char *what, int line)
{
    static double got[2 * 80 * 80];
    lz_tensor *d = lz_to(lz_abs(lz_sub(x, y)), LZ_F64);
    ck_assert_msg(lz_status_of(d) == LZ_OK, "line %d: %s: %s", line, what, lz_last_error_text());
    ck_assert_msg(lz_to_host(d, got, sizeof got) == LZ_OK, "line %d: %s: %s", line, what,
                  lz_last_error_text());
    for (int64_t i = 0; i < lz_numel(d); i++)
        ck_assert_msg(got[i] <= tol, "line %d: %s: element %d is off by %g", line, what, (int)i,
                      got[i]);
}
#define SAME(x, y, tol) same_at((x), (y), (tol), #x, __LINE__)

static void orthonormal(lz_tensor *q, double tol)
{
    lz_shape s = lz_shape_of(q);
    SAME(lz_matmul(adjoint(q), q), lz_eye(LZ_F64, s.dims[2], s.dims[2]), tol);
}

static lz_tensor *columns_by(lz_tensor *x, lz_tensor *s)
{
    return lz_mul(x, lz_unsqueeze(s, -2));
}

#define TRIAL(i)                                                                                   \
    ON_DEVICE(1);                                                                                  \
    int64_t b = sizes[(i) / NDTYPES].b, m = sizes[(i) / NDTYPES].m, n = sizes[(i) / NDTYPES].n;    \
    lz_dtype d = dtypes[(i) % NDTYPES];                                                            \
    if ((m > LARGE && d == LZ_F32) || !lz_test_in_turn((unsigned)(i), lz_test_small() ? 3 : 1))    \
        return;                                                                                    \
    double tol = (d == LZ_F32 ? 1e-5 : 1e-13) * (double)(m + n + 8);                               \
    lz_tensor *a = noise(d, b, m, n)

START_TEST(qr)
{
    TRIAL(_i);
    lz_tensor *r, *q = lz_linalg_qr(a, "reduced", &r);
    SAME(lz_matmul(q, r), a, tol);
    SAME(lz_tril(r, -1), lz_zeros_like(r), 0);
    orthonormal(q, tol);
    q = lz_linalg_qr(a, "complete", &r);
    SAME(lz_matmul(q, r), a, tol);
    orthonormal(q, tol);
}
END_TEST

START_TEST(lu)
{
    TRIAL(_i);
    lz_tensor *l, *u, *p = lz_linalg_lu(a, &l, &u);
    SAME(lz_matmul(p, lz_matmul(l, u)), a, tol);
    SAME(lz_tril(u, -1), lz_zeros_like(u), 0);
    if (m && n)
        SAME(lz_triu(l, 0), lz_eye(LZ_F64, m, m < n ? m : n), 0);
    /* the pivots were the largest, of complex numbers by the sum of the magnitudes of both parts */
    bool complex_ = lz_dtype_of(a) == LZ_C64 || lz_dtype_of(a) == LZ_C128;
    if (l && lz_numel(l))
        ck_assert(lz_item(lz_amax(lz_abs(l))) <= (complex_ ? 1.4142136 : 1) + 1e-6);
}
END_TEST

START_TEST(svd)
{
    TRIAL(_i);
    int64_t k = m < n ? m : n;
    for (int full = 0; full < 2; full++) {
        lz_tensor *s, *vh, *u = lz_linalg_svd(a, full, &s, &vh);
        orthonormal(u, 2 * tol);
        orthonormal(adjoint(vh), 2 * tol);
        lz_tensor *back =
            lz_matmul(columns_by(lz_slice(u, -1, 0, k, 1), s), lz_slice(vh, -2, 0, k, 1));
        SAME(back, a, 2 * tol);
        if (k > 1)
            SAME(lz_relu(lz_sub(lz_slice(s, -1, 1, k, 1), lz_slice(s, -1, 0, k - 1, 1))),
                 lz_zeros(LZ_F64, LZ_SHAPE(b, k - 1)), 0);
    }
}
END_TEST

START_TEST(eigh)
{
    TRIAL(_i);
    if (m != n)
        return;
    lz_tensor *h = lz_add(a, adjoint(a)), *v,
              *w = lz_linalg_eigh(lz_add(h, lz_triu(a, 1)), false, &v);
    orthonormal(v, 2 * tol);
    SAME(lz_matmul(h, v), columns_by(v, w), 4 * tol);
    SAME(lz_linalg_eigvalsh(lz_add(h, lz_tril(a, -1)), true), w, 4 * tol);
}
END_TEST

START_TEST(solutions)
{
    TRIAL(_i);
    if (m != n)
        return;
    lz_tensor *x = lz_add(a, lz_mul(lz_eye(LZ_F64, n, n), lz_full(LZ_F64, LZ_SHAPE(1), (double)n)));
    x = lz_to(x, d);
    lz_tensor *y = noise(d, b, n, 3), *row = noise(d, b, 2, n), *eye = lz_eye(LZ_F64, n, n);
    SAME(lz_matmul(x, lz_linalg_solve(x, y, true)), y, tol);
    SAME(lz_matmul(lz_linalg_solve(x, row, false), x), row, tol);
    SAME(lz_matmul(x, lz_linalg_inv(x)), eye, tol);
    lz_tensor *p = lz_add(lz_matmul(a, adjoint(a)), lz_to(eye, d)),
              *l = lz_linalg_cholesky(p, false);
    SAME(lz_matmul(l, adjoint(l)), p, tol * (double)(n + 1));
    SAME(lz_matmul(p, lz_cholesky_solve(y, l, false)), y, tol * 64);
    SAME(lz_matmul(p, lz_cholesky_inverse(adjoint(l), true)), eye, tol * 64);
    SAME(lz_matmul(l, lz_linalg_solve_triangular(l, y, false, true, false)), y, tol * 8);
}
END_TEST

/* Ranks, equal singular values, zeros: bases are still orthonormal. */
START_TEST(rank_deficient)
{
    ON_DEVICE(_i);
    static const double zero[12] = {0}, one[] = {1, 2, 3, 2, 4, 6, -1, -2, -3, 0, 0, 0};
    const double *in[] = {zero, one};
    double want[2][1] = {{0}, {1}};
    for (int k = 0; k < 2; k++) {
        lz_tensor *a = lz_from_host(LZ_F64, LZ_SHAPE(1, 4, 3), in[k]), *s, *vh,
                  *u = lz_linalg_svd(a, true, &s, &vh);
        orthonormal(u, 1e-14);
        orthonormal(adjoint(vh), 1e-14);
        SAME(lz_matmul(columns_by(lz_slice(u, -1, 0, 3, 1), s), vh), a, 1e-14);
        EXPECT(lz_linalg_matrix_rank(a, -1), LZ_I64, LZ_SHAPE(1), want[k], 0);
        lz_tensor *p = lz_linalg_pinv(a, -1);
        SAME(lz_matmul(a, lz_matmul(p, a)), a, 1e-13);
    }
    lz_tensor *v, *eye = lz_eye(LZ_F64, 5, 5), *w = lz_linalg_eigh(lz_neg(eye), false, &v);
    SAME(w, lz_full(LZ_F64, LZ_SHAPE(5), -1), 1e-15);
    orthonormal(lz_unsqueeze(v, 0), 1e-15);
}
END_TEST

/* Vectors, batches that broadcast, pivots counted from 1. */
START_TEST(forms)
{
    ON_DEVICE(_i);
    lz_tensor *a = fixed(sym, 4, 4), *b = lz_slice(fixed(tall, 4, 3), 1, 0, 1, 1), *p;
    double first[4] = {solved[0], solved[3], solved[6], solved[9]}, want[] = {1, 2, 3, 4};
    EXPECT(lz_linalg_solve(a, lz_reshape(b, LZ_SHAPE(4)), true), LZ_F64, LZ_SHAPE(4), first, 1e-12);
    lz_tensor *two = lz_expand(a, LZ_SHAPE(2, 4, 4)), *many = lz_expand(b, LZ_SHAPE(2, 4, 1));
    SAME(lz_linalg_solve(two, b, true), lz_linalg_solve(a, many, true), 1e-15);
    SAME(lz_linalg_solve(two, lz_reshape(many, LZ_SHAPE(2, 4)), true),
         lz_from_host(LZ_F64, LZ_SHAPE(4), first), 1e-12);
    ck_assert_int_eq(lz_status_of(lz_linalg_lu_factor(a, &p)), LZ_OK);
    EXPECT(p, LZ_I32, LZ_SHAPE(4), want, 0);
    SAME(lz_triangular_solve(b, a, true, true, false),
         lz_linalg_solve_triangular(lz_transpose(a, 0, 1), b, false, true, false), 1e-14);
    BAD(lz_linalg_inv(b), LZ_ESHAPE, "lz_linalg_inv");
    BAD(lz_linalg_svdvals(lz_to(a, LZ_F16)), LZ_EDTYPE, "f16");
    BAD(lz_linalg_det(lz_to(a, LZ_I32)), LZ_EDTYPE, "i32");
    BAD(lz_linalg_qr(a, "full", &p), LZ_EINVAL, "full");
    BAD(p, LZ_EINVAL, "full");
    BAD(lz_linalg_qr(a, NULL, NULL), LZ_ENULL, "mode");
    BAD(lz_linalg_matrix_norm(a, "3", false), LZ_EINVAL, "\"3\"");
    BAD(lz_linalg_solve(a, lz_zeros(LZ_F64, LZ_SHAPE(3, 2)), true), LZ_ESHAPE, "f64[3,2]");
    BAD(lz_linalg_solve(a, lz_zeros(LZ_F64, LZ_SCALAR), true), LZ_ESHAPE, "f64[]");
    BAD(lz_linalg_solve(a, lz_reshape(b, LZ_SHAPE(4)), false), LZ_EINVAL, "vector");
    BAD(lz_linalg_cholesky(lz_zeros(LZ_F64, LZ_SHAPE(3)), false), LZ_ESHAPE, "no matrix");
}
END_TEST

/* ---- what ATen raises errors for ---- */

/* All elements: 0 not a number, 1 infinite or not a number, 2 zeros. */
static void all_are_at(lz_tensor *t, int what, const char *text)
{
    lz_tensor *size = lz_abs(t), *is = what == 2 ? lz_eq_scalar(t, 0) : lz_isnan(size);
    if (what == 1)
        is = lz_logical_or(is, lz_isinf(size));
    lz_tensor *all = lz_all(is);
    ck_assert_msg(lz_status_of(all) == LZ_OK, "%s", lz_last_error_text());
    ck_assert_msg(lz_item(all) != 0, "%s: not all elements are of kind %d", text, what);
}

#define ALL_ARE(t, what) all_are_at((t), (what), #t)

/* Nothing is looked at, so nothing is raised: other matrices of the batch have their results. */
START_TEST(singular_matrices)
{
    ON_DEVICE(_i);
    static const double v[] = {1, 2, 2, 4, 2, 1, 1, 3}; /* the first one is singular */
    lz_tensor *a = lz_from_host(LZ_F64, LZ_SHAPE(2, 2, 2), v), *b = lz_ones(LZ_F64, LZ_SHAPE(2, 1)),
              *one = lz_select(a, 0, 0), *log, *s;
    static const double det[] = {0, 5}, logs[] = {-INFINITY, 1.6094379124341003}, sign[] = {0, 1},
                        ranks[] = {1, 2}, inv[] = {0.6, -0.2, -0.2, 0.4};
    ALL_ARE(lz_select(lz_linalg_inv(a), 0, 0), 1);
    EXPECT(lz_select(lz_linalg_inv(a), 0, 1), LZ_F64, LZ_SHAPE(2, 2), inv, 1e-14);
    ALL_ARE(lz_select(lz_linalg_solve(a, b, true), 0, 0), 1);
    ALL_ARE(lz_linalg_matrix_power(one, -2), 1);
    EXPECT(lz_linalg_det(a), LZ_F64, LZ_SHAPE(2), det, 1e-14);
    EXPECT(lz_linalg_slogdet(a, &log), LZ_F64, LZ_SHAPE(2), sign, 0);
    EXPECT(log, LZ_F64, LZ_SHAPE(2), logs, 1e-14);
    EXPECT(lz_linalg_matrix_rank(a, -1), LZ_I64, LZ_SHAPE(2), ranks, 0);
    /* not positive definite: the triangle is NaN, the other one 0 */
    lz_tensor *l = lz_select(lz_linalg_cholesky(a, false), 0, 0);
    ALL_ARE(lz_slice(l, 1, 0, 1, 1), 0);
    ALL_ARE(lz_slice(lz_slice(l, 0, 0, 1, 1), 1, 1, 2, 1), 2);
    SAME(lz_matmul(lz_select(lz_linalg_cholesky(a, false), 0, 1),
                   adjoint(lz_select(lz_linalg_cholesky(a, false), 0, 1))),
         lz_select(a, 0, 1), 1e-14);
    /* a triangle with a 0 on the diagonal */
    lz_tensor *t = lz_tril(lz_sub(one, lz_eye(LZ_F64, 2, 2)), 0);
    ALL_ARE(lz_linalg_solve_triangular(t, b, false, true, false), 1);
    (void)lz_linalg_svd(one, true, &s, NULL);
    ck_assert_int_eq(lz_status_of(s), LZ_OK);
    ck_assert_double_lt(fabs(lz_item(lz_slice(s, 0, 1, 2, 1))), 1e-15);
}
END_TEST

/* Where ATen raises (svd, eigh, cholesky) or does not: values are NaN; vectors are anything. */
START_TEST(not_a_number)
{
    ON_DEVICE(_i);
    static const double v[] = {1, NAN, NAN, 4};
    lz_tensor *a = lz_from_host(LZ_F64, LZ_SHAPE(2, 2), v), *b = lz_ones(LZ_F64, LZ_SHAPE(2, 1)),
              *x, *y;
    ck_assert_int_eq(lz_status_of(lz_linalg_svd(a, true, &y, NULL)), LZ_OK);
    ALL_ARE(y, 0);
    ALL_ARE(lz_linalg_eigh(a, false, &y), 0);
    ck_assert_int_eq(lz_status_of(y), LZ_OK);
    ALL_ARE(lz_linalg_inv(a), 0);
    ALL_ARE(lz_linalg_solve(a, b, true), 0);
    ALL_ARE(lz_linalg_det(a), 0);
    ALL_ARE(lz_linalg_pinv(a, -1), 0);
    ALL_ARE(lz_linalg_cond(a), 0);
    ALL_ARE(lz_slice(lz_linalg_cholesky(a, false), 1, 0, 1, 1), 0);
    (void)lz_linalg_qr(a, "reduced", &x);
    ALL_ARE(lz_slice(x, 0, 0, 1, 1), 0);
}
END_TEST

/* Every function of square matrices names itself and the shape of one that is not. */
START_TEST(not_square)
{
    ON_DEVICE(_i);
    lz_tensor *a = lz_zeros(LZ_F64, LZ_SHAPE(2, 3)), *b = lz_zeros(LZ_F64, LZ_SHAPE(2, 1)), *r;
    BAD(lz_linalg_inv(a), LZ_ESHAPE, "f64[2,3] is not square");
    BAD(lz_linalg_det(a), LZ_ESHAPE, "f64[2,3] is not square");
    BAD(lz_linalg_slogdet(a, &r), LZ_ESHAPE, "f64[2,3] is not square");
    BAD(r, LZ_ESHAPE, "f64[2,3] is not square");
    BAD(lz_linalg_solve(a, b, true), LZ_ESHAPE, "f64[2,3] is not square");
    BAD(lz_linalg_cholesky(a, true), LZ_ESHAPE, "f64[2,3] is not square");
    BAD(lz_cholesky_solve(b, a, true), LZ_ESHAPE, "f64[2,3] is not square");
    BAD(lz_cholesky_inverse(a, true), LZ_ESHAPE, "f64[2,3] is not square");
    BAD(lz_linalg_solve_triangular(a, b, true, true, false), LZ_ESHAPE, "f64[2,3] is not square");
    BAD(lz_triangular_solve(b, a, true, false, false), LZ_ESHAPE, "f64[2,3] is not square");
    BAD(lz_linalg_matrix_power(a, 2), LZ_ESHAPE, "f64[2,3] is not square");
    BAD(lz_linalg_eigh(a, false, &r), LZ_ESHAPE, "f64[2,3] is not square");
    BAD(r, LZ_ESHAPE, "f64[2,3] is not square");
    BAD(lz_linalg_eigvalsh(a, false), LZ_ESHAPE, "f64[2,3] is not square");
    BAD(lz_linalg_matrix_power(lz_eye(LZ_F64, 2, 2), INT64_C(1) << 31), LZ_ERANGE, "2147483648");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("decompose");
    TCase *t = tcase_create("decompose");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, numpy, 0, 2);
    tcase_add_loop_test(t, qr, 0, NSIZES * NDTYPES);
    tcase_add_loop_test(t, lu, 0, NSIZES * NDTYPES);
    tcase_add_loop_test(t, svd, 0, NSIZES * NDTYPES);
    tcase_add_loop_test(t, eigh, 0, NSIZES * NDTYPES);
    tcase_add_loop_test(t, solutions, 0, NSIZES * NDTYPES);
    tcase_add_loop_test(t, rank_deficient, 0, 2);
    tcase_add_loop_test(t, forms, 0, 2);
    tcase_add_loop_test(t, singular_matrices, 0, 2);
    tcase_add_loop_test(t, not_a_number, 0, 2);
    tcase_add_loop_test(t, not_square, 0, 2);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
