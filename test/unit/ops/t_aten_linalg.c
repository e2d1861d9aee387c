/* t_aten_linalg.c - products with addends, einsum over random equations against a loop over all
 * labels, tensordot, kron, cross. */
#include "aten.h"

static double a[64], b[64], v[64], want[AT_MAX];

/* [bs, m, k] x [bs, k, n] in doubles, added to out * beta */
static void mul(int bs, int m, int k, int n, const double *x, const double *y, double *out)
{
    for (int g = 0; g < bs; g++)
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++) {
                double s = 0;
                for (int l = 0; l < k; l++)
                    s += x[(g * m + i) * k + l] * y[(g * k + l) * n + j];
                out[(g * m + i) * n + j] = s;
            }
}

START_TEST(products)
{
    ON_DEVICE(_i);
    lz_tensor *A = at_random(LZ_F32, LZ_SHAPE(3, 4), -2, 2, a),
              *B = at_random(LZ_F32, LZ_SHAPE(4, 5), -2, 2, b),
              *V = at_random(LZ_F32, LZ_SHAPE(4), -2, 2, v);
    mul(1, 3, 4, 5, a, b, want);
    EXPECT(lz_mm(A, B), LZ_F32, LZ_SHAPE(3, 5), want, 1e-5);
    mul(1, 3, 4, 1, a, v, want);
    EXPECT(lz_mv(A, V), LZ_F32, LZ_SHAPE(3), want, 1e-5);
    mul(1, 1, 4, 1, v, v, want);
    EXPECT(lz_dot(V, V), LZ_F32, LZ_SCALAR, want, 1e-5);
    for (int i = 0; i < 16; i++)
        want[i] = v[i / 4] * v[i % 4];
    EXPECT(lz_outer(V, V), LZ_F32, LZ_SHAPE(4, 4), want, 1e-6);
    for (int i = 0; i < 9; i++) {
        want[i] = 0;
        for (int k = 0; k < 4; k++)
            want[i] += a[i / 3 * 4 + k] * a[i % 3 * 4 + k];
    }
    EXPECT(lz_inner(A, A), LZ_F32, LZ_SHAPE(3, 3), want, 1e-5);
    BAD(lz_mm(A, V), LZ_ESHAPE, "ranks 2 and 2");
    BAD(lz_mm(A, A), LZ_ESHAPE, "lz_mm");
    BAD(lz_inner(A, lz_zeros(LZ_F32, LZ_SHAPE(3))), LZ_ESHAPE, "last");
    BAD(lz_dot(V, lz_zeros(LZ_F32, LZ_SHAPE(3))), LZ_ESHAPE, "lz_dot");
}
END_TEST

START_TEST(with_addends)
{
    ON_DEVICE(_i);
    double x[30], p[30];
    lz_tensor *A = at_random(LZ_F32, LZ_SHAPE(2, 3, 2), -2, 2, a),
              *B = at_random(LZ_F32, LZ_SHAPE(2, 2, 5), -2, 2, b),
              *X = at_random(LZ_F32, LZ_SHAPE(3, 5), -2, 2, x), *row = lz_select(X, 0, 0);
    mul(2, 3, 2, 5, a, b, p);
    for (int i = 0; i < 15; i++)
        want[i] = 0.5 * x[i] - 2 * p[i];
    lz_tensor *A0 = lz_select(A, 0, 0), *B0 = lz_select(B, 0, 0);
    EXPECT(lz_addmm(X, A0, B0, .beta = 0.5, .alpha = -2), LZ_F32, LZ_SHAPE(3, 5), want, 1e-5);
    for (int i = 0; i < 15; i++)
        want[i] = x[i % 5] + p[i];
    EXPECT(lz_addmm(row, A0, B0), LZ_F32, LZ_SHAPE(3, 5), want, 1e-5);
    for (int i = 0; i < 15; i++)
        want[i] = p[i];
    EXPECT(lz_addmm(lz_full(LZ_F32, LZ_SHAPE(3, 5), NAN), A0, B0, .beta = 0), LZ_F32,
           LZ_SHAPE(3, 5), want, 1e-5);
    for (int i = 0; i < 15; i++)
        want[i] = 0.5 * x[i] + 3 * (p[i] + p[15 + i]);
    EXPECT(lz_addbmm(X, A, B, .beta = 0.5, .alpha = 3), LZ_F32, LZ_SHAPE(3, 5), want, 1e-5);
    for (int i = 0; i < 30; i++)
        want[i] = x[i % 15] + p[i];
    EXPECT(lz_baddbmm(X, A, B), LZ_F32, LZ_SHAPE(2, 3, 5), want, 1e-5);
    EXPECT(lz_bmm(A, B), LZ_F32, LZ_SHAPE(2, 3, 5), p, 1e-5);
    for (int i = 0; i < 3; i++)
        want[i] = x[0] + 2 * (a[i * 2] * b[0] + a[i * 2 + 1] * b[5]);
    EXPECT(lz_addmv(lz_select(row, 0, 0), A0, lz_select(B0, 1, 0), .alpha = 2), LZ_F32, LZ_SHAPE(3),
           want, 1e-5);
    for (int i = 0; i < 15; i++)
        want[i] = x[i] - a[i / 5 * 2] * x[i % 5];
    EXPECT(lz_addr(X, lz_select(A0, 1, 0), row, .alpha = -1), LZ_F32, LZ_SHAPE(3, 5), want, 1e-5);
    lz_tensor *n = lz_ones(LZ_I32, LZ_SHAPE(2, 2));
    EXPECT(lz_addmm(n, n, n, .alpha = 3), LZ_I32, LZ_SHAPE(2, 2), ((double[]){7, 7, 7, 7}), 0);
    BAD(lz_addmm(n, n, n, .alpha = 0.5), LZ_EDTYPE, "0.5");
    BAD(lz_addmm(lz_zeros(LZ_F32, LZ_SHAPE(4)), A0, B0, .beta = 0), LZ_ESHAPE, "[4]");
    BAD(lz_bmm(A, lz_slice(B, 0, 0, 1, 1)), LZ_ESHAPE, "batches");
}
END_TEST

/* beta x + alpha p of 16-bit floats is computed in f32 and rounded once. */
static void rounded_once(lz_tensor *t, lz_dtype d, const double *of, int n, const char *what)
{
    double got[64];
    ck_assert_int_eq(lz_dtype_of(t), d);
    OK(lz_to_host(lz_to(t, LZ_F64), got, (size_t)n * 8));
    for (int i = 0; i < n; i++) {
        int e;
        (void)frexp(of[i], &e);
        double half = ldexp(1, e - (d == LZ_F16 ? 11 : 8) - 1);
        ck_assert_msg(fabs(got[i] - of[i]) <= half * (1 + 1e-3), "%s of %s: %.9g, not %.9g", what,
                      lz_dtype_name(d), got[i], of[i]);
    }
}

START_TEST(scaled_sums_are_rounded_once)
{
    ON_DEVICE(_i);
    for (int k = 0; k < 2; k++) {
        lz_dtype d = k ? LZ_BF16 : LZ_F16;
        double x[15], p[30];
        lz_tensor *A = lz_to(at_random(LZ_F32, LZ_SHAPE(2, 3, 2), -2, 2, a), d),
                  *B = lz_to(at_random(LZ_F32, LZ_SHAPE(2, 2, 5), -2, 2, b), d),
                  *X = lz_to(at_random(LZ_F32, LZ_SHAPE(3, 5), -2, 2, x), d);
        OK(lz_to_host(lz_to(A, LZ_F64), a, 12 * 8));
        OK(lz_to_host(lz_to(B, LZ_F64), b, 20 * 8));
        OK(lz_to_host(lz_to(X, LZ_F64), x, sizeof x));
        lz_tensor *A0 = lz_select(A, 0, 0), *B0 = lz_select(B, 0, 0);
        mul(2, 3, 2, 5, a, b, p);
        for (int i = 0; i < 15; i++)
            want[i] = 0.3 * x[i] - 1.7 * p[i];
        rounded_once(lz_addmm(X, A0, B0, .beta = 0.3, .alpha = -1.7), d, want, 15, "addmm");
        for (int i = 0; i < 15; i++)
            want[i] = 0.7 * p[i];
        rounded_once(lz_addmm(X, A0, B0, .beta = 0, .alpha = 0.7), d, want, 15, "addmm");
        for (int i = 0; i < 15; i++)
            want[i] = 0.3 * x[i] + p[i] + p[15 + i];
        rounded_once(lz_addbmm(X, A, B, .beta = 0.3), d, want, 15, "addbmm");
        for (int i = 0; i < 30; i++)
            want[i] = x[i % 15] + 3.1 * p[i];
        rounded_once(lz_baddbmm(X, A, B, .alpha = 3.1), d, want, 30, "baddbmm");
        for (int i = 0; i < 3; i++)
            want[i] = 0.3 * x[i] + 1.9 * (a[i * 2] * b[0] + a[i * 2 + 1] * b[5]);
        rounded_once(lz_addmv(lz_slice(lz_select(X, 0, 0), 0, 0, 3, 1), A0, lz_select(B0, 1, 0),
                              .beta = 0.3, .alpha = 1.9),
                     d, want, 3, "addmv");
        for (int i = 0; i < 15; i++)
            want[i] = x[i] - 0.9 * a[i / 5 * 2] * x[i % 5];
        rounded_once(lz_addr(X, lz_select(A0, 1, 0), lz_select(X, 0, 0), .alpha = -0.9), d, want,
                     15, "addr");
        for (int i = 0; i < 15; i++) /* rows 1, 0, 1 of x + 0.3 x */
            want[i] = x[i] + (i >= 10 ? 0 : i >= 5 ? 0.3 * (x[i - 5] + x[i + 5]) : 0.3 * x[i + 5]);
        rounded_once(
            lz_index_add(X, 0, lz_from_host(LZ_I64, LZ_SHAPE(3), ((int64_t[]){1, 0, 1})), X, 0.3),
            d, want, 15, "index_add");
    }
}
END_TEST

/* ---- einsum: the sum over every assignment of the labels ---- */

static const struct {
    const char *eq, *spelt; /* spelt: with the result, and letters for the ellipsis */
    int n;
    lz_shape s[3];
} equations[] = {
#define SH(...)                                                                                    \
    {                                                                                              \
        sizeof((int64_t[]){__VA_ARGS__}) / 8,                                                      \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
    {"ij,jk->ik", "ij,jk->ik", 2, {SH(2, 3), SH(3, 4)}},
    {"ij,jk", "ij,jk->ik", 2, {SH(2, 3), SH(3, 4)}},
    {"ba", "ba->ab", 1, {SH(2, 3)}},
    {"ij->", "ij->", 1, {SH(2, 3)}},
    {"ii", "ii->", 1, {SH(3, 3)}},
    {"ii->i", "ii->i", 1, {SH(3, 3)}},
    {"iij->ji", "iij->ji", 1, {SH(3, 3, 2)}},
    {"bij,bjk->bik", "bij,bjk->bik", 2, {SH(2, 2, 3), SH(2, 3, 2)}},
    {"i,j,k->kij", "i,j,k->kij", 3, {SH(2), SH(3), SH(2)}},
    {"i,i,i->i", "i,i,i->i", 3, {SH(3), SH(3), SH(3)}},
    {"ik,jkl,il->ij", "ik,jkl,il->ij", 3, {SH(2, 3), SH(4, 3, 2), SH(2, 2)}},
    {"ij,kj,l->ik", "ij,kj,l->ik", 3, {SH(2, 3), SH(2, 3), SH(4)}},
    {"...ij,...jk->...ik", "xyij,xyjk->xyik", 2, {SH(2, 2, 2, 3), SH(2, 2, 3, 2)}},
    {"...i,i->...", "xi,i->x", 2, {SH(4, 3), SH(3)}},
    {" a b , b -> a ", "ab,b->a", 2, {SH(2, 3), SH(3)}},
    {"ij,ij->ij", "ij,ij->ij", 2, {SH(2, 3), SH(2, 3)}},
    {"ijk,kl", "ijk,kl->ijl", 2, {SH(2, 2, 3), SH(3, 2)}},
    {",ij->ij", ",ij->ij", 2, {{0, {0}}, SH(2, 3)}},
};
enum { NEQ = sizeof equations / sizeof *equations };

static int64_t by_loops(const char *spelt, int n, const lz_shape *s, double *const *x, double *out,
                        lz_shape *rs)
{
    int64_t extent[26], idx[26] = {0};
    const char *term[4];
    int len[4], t = 0;
    for (int i = 0; i < 26; i++)
        extent[i] = -1;
    term[0] = spelt;
    for (const char *p = spelt;; p++)
        if (*p == ',' || *p == '-' || !*p) {
            len[t] = (int)(p - term[t]);
            t++;
            if (!*p)
                break;
            p += *p == '-';
            term[t] = p + 1;
        }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < len[i]; k++)
            extent[term[i][k] - 'a'] = s[i].dims[k];
    rs->rank = len[n];
    int64_t total = 1;
    for (int k = 0; k < len[n]; k++)
        total *= rs->dims[k] = extent[term[n][k] - 'a'];
    memset(out, 0, (size_t)total * sizeof *out);
    for (bool more = true; more;) {
        double prod = 1;
        int64_t at = 0;
        for (int i = 0; i < n; i++) {
            int64_t p = 0;
            for (int k = 0; k < len[i]; k++)
                p = p * s[i].dims[k] + idx[term[i][k] - 'a'];
            prod *= x[i][p];
        }
        for (int k = 0; k < len[n]; k++)
            at = at * rs->dims[k] + idx[term[n][k] - 'a'];
        out[at] += prod;
        more = false;
        for (int l = 0; l < 26 && !more; l++)
            if (extent[l] >= 0) {
                more = ++idx[l] < extent[l];
                if (!more)
                    idx[l] = 0;
            }
    }
    return total;
}

START_TEST(equations_by_loops)
{
    ON_DEVICE(_i);
    for (int q = 0; q < NEQ; q++) {
        static double data[3][64];
        double *x[3] = {data[0], data[1], data[2]};
        lz_tensor *t[3];
        lz_shape rs;
        lz_scope_begin();
        for (int i = 0; i < equations[q].n; i++)
            t[i] = at_random(LZ_F64, equations[q].s[i], -2, 2, data[i]);
        by_loops(equations[q].spelt, equations[q].n, equations[q].s, x, want, &rs);
        at_expect_at(lz_einsum(equations[q].eq, t, equations[q].n), LZ_F64, rs, want, 1e-12,
                     equations[q].eq, __LINE__);
        lz_scope_end();
    }
}
END_TEST

START_TEST(equations_that_are_special)
{
    ON_DEVICE(_i);
    lz_tensor *A = at_random(LZ_F32, LZ_SHAPE(2, 3), -2, 2, a),
              *B = at_random(LZ_F32, LZ_SHAPE(1, 3), -2, 2, b), *t[2] = {A, B};
    for (int i = 0; i < 2; i++)
        want[i] = a[i * 3] * b[0] + a[i * 3 + 1] * b[1] + a[i * 3 + 2] * b[2];
    EXPECT(lz_einsum("ij,ij->i", t, 2), LZ_F32, LZ_SHAPE(2), want,
           1e-5); /* an extent of 1 is repeated */
    for (int i = 0; i < 6; i++)
        want[i] = a[i] * b[i % 3];
    EXPECT(lz_einsum("...,...->...", t, 2), LZ_F32, LZ_SHAPE(2, 3), want, 1e-5);
    lz_tensor *n[2] = {at_tensor(LZ_I32, LZ_SHAPE(2), (double[]){2, 3}),
                       at_tensor(LZ_I8, LZ_SHAPE(2), (double[]){5, 7})};
    EXPECT(lz_einsum("i,i", n, 2), LZ_I32, LZ_SCALAR, (double[]){31}, 0);
    BAD(lz_einsum("ij,ji->i", t, 2), LZ_ESHAPE, "'i'");
    BAD(lz_einsum("ij->ik", t, 1), LZ_EINVAL, "letter of the result");
    BAD(lz_einsum("ij->ii", t, 1), LZ_EINVAL, "twice");
    BAD(lz_einsum("ijk->i", t, 1), LZ_ESHAPE, "rank 2");
    BAD(lz_einsum("ij,ij", t, 1), LZ_EINVAL, "more than the 1");
    BAD(lz_einsum("ij", t, 2), LZ_EINVAL, "for 1 operands");
    BAD(lz_einsum("i?", t, 1), LZ_EINVAL, "?");
    BAD(lz_einsum("ij-k", t, 1), LZ_EINVAL, "->");
    BAD(lz_einsum("ij->i,j", t, 1), LZ_EINVAL, "after");
    BAD(lz_einsum("abcdefghijklmnopqr", t, 1), LZ_ERANGE, "16");
    BAD(lz_einsum(NULL, t, 1), LZ_ENULL, "equation");
    BAD(lz_einsum("ii", t, 1), LZ_ESHAPE, "one letter");
}
END_TEST

START_TEST(others)
{
    ON_DEVICE(_i);
    lz_tensor *A = at_random(LZ_F32, LZ_SHAPE(2, 3, 4), -2, 2, a),
              *B = at_random(LZ_F32, LZ_SHAPE(4, 5, 2), -2, 2, b);
    for (int j = 0; j < 3; j++)
        for (int m = 0; m < 5; m++) {
            want[j * 5 + m] = 0;
            for (int i = 0; i < 2; i++)
                for (int k = 0; k < 4; k++)
                    want[j * 5 + m] += a[i * 12 + j * 4 + k] * b[k * 10 + m * 2 + i];
        }
    EXPECT(lz_tensordot(A, B, ((lz_dims){2, {-1, 0}}), ((lz_dims){2, {0, 2}})), LZ_F32,
           LZ_SHAPE(3, 5), want, 1e-5);
    BAD(lz_tensordot(A, B, ((lz_dims){1, {0}}), ((lz_dims){1, {0}})), LZ_ESHAPE, "same extent");
    BAD(lz_tensordot(A, B, ((lz_dims){1, {0}}), ((lz_dims){0, {0}})), LZ_EINVAL, "1 dimensions");
    lz_tensor *M = lz_select(A, 0, 0), *V = lz_select(lz_select(B, 0, 0), 0, 0);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 8; j++)
            want[i * 8 + j] = a[i * 4 + j / 2] * b[j % 2];
    EXPECT(lz_kron(M, V), LZ_F32, LZ_SHAPE(3, 8), want, 1e-6);
    double x[6], y[3];
    lz_tensor *X = at_random(LZ_F64, LZ_SHAPE(3, 2), -2, 2, x),
              *Y = at_random(LZ_F64, LZ_SHAPE(3, 1), -2, 2, y);
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 3; i++) {
            int p = (i + 1) % 3, q = (i + 2) % 3;
            want[i * 2 + j] = x[p * 2 + j] * y[q] - x[q * 2 + j] * y[p];
        }
    EXPECT(lz_cross(X, Y, 0), LZ_F64, LZ_SHAPE(3, 2), want, 1e-12);
    EXPECT(lz_cross(X, Y, LZ_ALL_DIMS), LZ_F64, LZ_SHAPE(3, 2), want, 1e-12);
    BAD(lz_cross(X, X, 1), LZ_ESHAPE, "3 elements");
    double w[24], bias[4], p[6];
    lz_tensor *W = at_random(LZ_F64, LZ_SHAPE(4, 2, 3), -2, 2, w),
              *C = at_random(LZ_F64, LZ_SHAPE(4), -2, 2, bias),
              *P = at_random(LZ_F64, LZ_SHAPE(3, 2), -2, 2, p),
              *Q = at_random(LZ_F64, LZ_SHAPE(3, 3), -2, 2, v);
    for (int n = 0; n < 3; n++)
        for (int k = 0; k < 4; k++) {
            want[n * 4 + k] = bias[k];
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 3; j++)
                    want[n * 4 + k] += p[n * 2 + i] * w[(k * 2 + i) * 3 + j] * v[n * 3 + j];
        }
    EXPECT(lz_bilinear(P, Q, W, C), LZ_F64, LZ_SHAPE(3, 4), want, 1e-12);
    BAD(lz_bilinear(Q, Q, W, NULL), LZ_ESHAPE, "lz_bilinear");
    ck_assert_int_eq(lz_numel(lz_einsum("ij,jk->ik",
                                        ((lz_tensor *[]){lz_zeros(LZ_F32, LZ_SHAPE(0, 3)),
                                                         lz_zeros(LZ_F32, LZ_SHAPE(3, 2))}),
                                        2)),
                     0);
}
END_TEST

int main(void)
{
    rt_use("REF");
    Suite *s = suite_create("aten products");
    TCase *t = tcase_create("values");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, products, 0, at_devices());
    tcase_add_loop_test(t, with_addends, 0, at_devices());
    tcase_add_loop_test(t, scaled_sums_are_rounded_once, 0, at_devices());
    tcase_add_loop_test(t, equations_by_loops, 0, at_devices());
    tcase_add_loop_test(t, equations_that_are_special, 0, at_devices());
    tcase_add_loop_test(t, others, 0, at_devices());
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
