/* t_aten_reduce.c - standard deviations, extremes with positions, norms, distances and histograms
 * against plain loops in double. */
#include "aten.h"

/* Collects the elements of v[s] that become one when the dimensions in `mask` are reduced, and
 * gives f of each such list. */
typedef double fold(const double *v, int n, double arg);
static int64_t reduced(const double *v, lz_shape s, unsigned mask, fold *f, double arg, double *out)
{
    int64_t n = at_numel(s), count = 1;
    for (int d = 0; d < s.rank; d++)
        count *= mask >> d & 1 ? 1 : s.dims[d];
    static double list[AT_MAX];
    for (int64_t o = 0; o < count; o++) {
        int m = 0;
        for (int64_t i = 0; i < n; i++) {
            int64_t rest = i, at = 0, idx[8];
            for (int d = s.rank - 1; d >= 0; d--) {
                idx[d] = rest % s.dims[d];
                rest /= s.dims[d];
            }
            for (int d = 0; d < s.rank; d++)
                if (!(mask >> d & 1))
                    at = at * s.dims[d] + idx[d];
            if (at == o)
                list[m++] = v[i];
        }
        out[o] = f(list, m, arg);
    }
    return count;
}

static double f_mean(const double *v, int n, double arg)
{
    double s = 0;
    (void)arg;
    for (int i = 0; i < n; i++)
        s += v[i];
    return s / n;
}
static double f_var(const double *v, int n, double correction)
{
    double m = f_mean(v, n, 0), s = 0;
    for (int i = 0; i < n; i++)
        s += (v[i] - m) * (v[i] - m);
    return s / fmax(0, n - correction);
}
static double f_std(const double *v, int n, double correction)
{
    return sqrt(f_var(v, n, correction));
}
static double f_min(const double *v, int n, double arg)
{
    double m = INFINITY;
    (void)arg;
    for (int i = 0; i < n; i++)
        m = isnan(v[i]) || isnan(m) ? NAN : fmin(m, v[i]);
    return m;
}
static double f_max(const double *v, int n, double arg)
{
    double m = -INFINITY;
    (void)arg;
    for (int i = 0; i < n; i++)
        m = isnan(v[i]) || isnan(m) ? NAN : fmax(m, v[i]);
    return m;
}
static double f_nonzero(const double *v, int n, double arg)
{
    int m = 0;
    (void)arg;
    for (int i = 0; i < n; i++)
        m += v[i] != 0;
    return m;
}
static double f_nansum(const double *v, int n, double arg)
{
    double s = 0;
    int m = 0;
    for (int i = 0; i < n; i++)
        if (!isnan(v[i])) {
            s += v[i];
            m++;
        }
    return arg ? s / m : s;
}
static double f_norm(const double *v, int n, double p)
{
    double s = isinf(p) && p < 0 ? INFINITY : 0;
    for (int i = 0; i < n; i++) {
        double a = fabs(v[i]);
        if (isinf(p))
            s = p > 0 ? fmax(s, a) : fmin(s, a);
        else
            s += p == 0 ? a != 0 : pow(a, p);
    }
    return isinf(p) || p == 0 ? s : pow(s, 1 / p);
}

static const struct {
    lz_dims dims;
    unsigned mask;
} sets[] = {{{0, {0}}, 7}, {{1, {1}}, 2}, {{2, {-1, 0}}, 5}};

START_TEST(over_dimensions)
{
    ON_DEVICE(_i);
    static double v[60], want[60];
    lz_shape s = LZ_SHAPE(3, 4, 5);
    for (int d = 0; d < 2; d++)
        for (int k = 0; k < 3; k++) {
            lz_dtype dt = d ? LZ_F64 : LZ_F32;
            double tol = d ? 1e-12 : 1e-5;
            lz_dims dims = sets[k].dims;
            lz_scope_begin();
            lz_tensor *x = at_random(dt, s, -2, 2, v), *second;
            if (k == 1)
                v[7] = v[20] = NAN, v[3] = 0, x = at_tensor(dt, s, v);
            lz_shape r = {.rank = 0}, kept = s;
            for (int i = 0; i < 3; i++)
                if (!(sets[k].mask >> i & 1))
                    r.dims[r.rank++] = s.dims[i];
                else
                    kept.dims[i] = 1;
            reduced(v, s, sets[k].mask, f_std, 1, want);
            EXPECT(lz_std(x, .dims = dims), dt, r, want, tol);
            reduced(v, s, sets[k].mask, f_var, 0, want);
            EXPECT(lz_var_mean(x, &second, .dims = dims, .correction = 0, .keepdim = true), dt,
                   kept, want, tol);
            reduced(v, s, sets[k].mask, f_mean, 0, want);
            EXPECT(second, dt, kept, want, tol);
            (void)lz_std_mean(x, &second, .dims = dims);
            EXPECT(second, dt, r, want, tol);
            reduced(v, s, sets[k].mask, f_min, 0, want);
            EXPECT(lz_aminmax(x, &second, .dims = dims), dt, r, want, 0);
            reduced(v, s, sets[k].mask, f_max, 0, want);
            EXPECT(second, dt, r, want, 0);
            reduced(v, s, sets[k].mask, f_nonzero, 0, want);
            EXPECT(lz_count_nonzero(x, .dims = dims), LZ_I64, r, want, 0);
            reduced(v, s, sets[k].mask, f_nansum, 0, want);
            EXPECT(lz_nansum(x, .dims = dims), dt, r, want, tol);
            reduced(v, s, sets[k].mask, f_nansum, 1, want);
            EXPECT(lz_nanmean(x, .dims = dims, .keepdim = true), dt, kept, want, tol);
            static const double orders[] = {2, 1, 0, INFINITY, -INFINITY, 3, 0.5, -1, 1.5};
            for (size_t p = 0; k != 1 && p < sizeof orders / sizeof *orders; p++) {
                reduced(v, s, sets[k].mask, f_norm, orders[p], want);
                EXPECT(lz_linalg_vector_norm(x, .ord = orders[p], .dims = dims), dt, r, want,
                       fmax(tol, d ? 0 : 2e-5));
            }
            lz_scope_end();
        }
}
END_TEST

START_TEST(positions)
{
    ON_DEVICE(_i);
    const double v[] = {1, 5, 5, NAN, 2, NAN, -1, -1, 0, 3, 4, 4};
    lz_tensor *x = at_tensor(LZ_F32, LZ_SHAPE(3, 4), v), *at;
    EXPECT(lz_max_dim(x, 1, false, &at), LZ_F32, LZ_SHAPE(3), ((double[]){NAN, NAN, 4}), 0);
    EXPECT(at, LZ_I64, LZ_SHAPE(3), ((double[]){3, 1, 2}), 0);
    EXPECT(lz_min_dim(x, 0, true, &at), LZ_F32, LZ_SHAPE(1, 4), ((double[]){0, NAN, -1, NAN}), 0);
    EXPECT(at, LZ_I64, LZ_SHAPE(1, 4), ((double[]){2, 1, 1, 0}), 0);
    EXPECT(lz_max_dim(lz_scalar(LZ_F64, 3), -1, false, &at), LZ_F64, LZ_SCALAR, (double[]){3}, 0);
    EXPECT(at, LZ_I64, LZ_SCALAR, (double[]){0}, 0);
    BAD(lz_max_dim(lz_zeros(LZ_F32, LZ_SHAPE(2, 0)), 1, false, &at), LZ_ESHAPE, "empty");
    ck_assert_int_eq(lz_status_of(at), LZ_ESHAPE);
    BAD(lz_max_dim(x, 2, false, NULL), LZ_ERANGE, "lz_max_dim");
    EXPECT(lz_argmax(x, LZ_ALL_DIMS, false), LZ_I64, LZ_SCALAR, (double[]){3}, 0);
    EXPECT(lz_argmin(at_tensor(LZ_I8, LZ_SHAPE(2, 3), (double[]){3, 2, 1, 1, 5, 6}), LZ_ALL_DIMS,
                     true),
           LZ_I64, LZ_SHAPE(1, 1), (double[]){2}, 0);
}
END_TEST

START_TEST(dtypes_and_edges)
{
    ON_DEVICE(_i);
    lz_tensor *n = at_tensor(LZ_I16, LZ_SHAPE(3), (double[]){1, 2, 4}),
              *b = at_tensor(LZ_BF16, LZ_SHAPE(2), (double[]){3, 4});
    EXPECT(lz_std(n, .correction = 0), LZ_F32, LZ_SCALAR, (double[]){sqrt(14.0 / 9)}, 1e-6);
    EXPECT(lz_norm(b), LZ_BF16, LZ_SCALAR, (double[]){5}, 0);
    EXPECT(lz_norm(b, .dtype = LZ_F64), LZ_F64, LZ_SCALAR, (double[]){5}, 0);
    EXPECT(lz_nansum(n), LZ_I64, LZ_SCALAR, (double[]){7}, 0);
    EXPECT(lz_sum(n, .dtype = LZ_F32), LZ_F32, LZ_SCALAR, (double[]){7}, 0);
    EXPECT(lz_sum(b, .dtype = LZ_F64), LZ_F64, LZ_SCALAR, (double[]){7}, 0);
    EXPECT(lz_prod(n, .dtype = LZ_I8), LZ_I8, LZ_SCALAR, (double[]){8}, 0);
    EXPECT(lz_mean(n, .dtype = LZ_F64), LZ_F64, LZ_SCALAR, (double[]){7.0 / 3}, 1e-15);
    EXPECT(lz_std(lz_ones(LZ_F32, LZ_SHAPE(1))), LZ_F32, LZ_SCALAR, (double[]){NAN}, 0);
    EXPECT(lz_norm(lz_zeros(LZ_F32, LZ_SHAPE(0))), LZ_F32, LZ_SCALAR, (double[]){0}, 0);
    EXPECT(lz_std(lz_zeros(LZ_F32, LZ_SHAPE(2, 0)), .dims = LZ_DIM(0)), LZ_F32, LZ_SHAPE(0), NULL,
           0);
    BAD(lz_norm(lz_zeros(LZ_F32, LZ_SHAPE(0)), .ord = INFINITY), LZ_ESHAPE, "empty");
    BAD(lz_norm(n, .dtype = LZ_I32), LZ_EDTYPE, "i32");
    BAD(lz_sum(n, .dtype = (lz_dtype)99), LZ_EDTYPE, "99");
    lz_tensor *m = at_tensor(LZ_F32, LZ_SHAPE(2, 3), (double[]){1, 2, 3, 4, 5, 6});
    EXPECT(lz_trace(m), LZ_F32, LZ_SCALAR, (double[]){6}, 0);
    EXPECT(lz_trace(lz_to(m, LZ_I8)), LZ_I64, LZ_SCALAR, (double[]){6}, 0);
    BAD(lz_trace(n), LZ_ESHAPE, "[3]");
}
END_TEST

START_TEST(distances)
{
    ON_DEVICE(_i);
    static double a[24], b[15], want[40];
    static const double orders[] = {2, 1, 0, INFINITY, 3.5};
    lz_tensor *A = at_random(LZ_F32, LZ_SHAPE(2, 4, 3), -2, 2, a),
              *B = at_random(LZ_F32, LZ_SHAPE(5, 3), -2, 2, b);
    for (int k = 0; k < 5; k++) {
        double e[3];
        for (int g = 0; g < 2; g++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 5; j++) {
                    for (int m = 0; m < 3; m++)
                        e[m] = a[g * 12 + i * 3 + m] - b[j * 3 + m];
                    want[g * 20 + i * 5 + j] = f_norm(e, 3, orders[k]);
                }
        EXPECT(lz_cdist(A, B, orders[k]), LZ_F32, LZ_SHAPE(2, 4, 5), want, 2e-5);
        int n = 0;
        for (int i = 0; i < 5; i++)
            for (int j = i + 1; j < 5; j++) {
                for (int m = 0; m < 3; m++)
                    e[m] = b[i * 3 + m] - b[j * 3 + m];
                want[n++] = f_norm(e, 3, orders[k]);
            }
        EXPECT(lz_pdist(B, orders[k]), LZ_F32, LZ_SHAPE(10), want, 2e-5);
        for (int m = 0; m < 15; m++)
            want[m] = b[m] - a[m % 3];
        want[0] = f_norm(want, 15, orders[k]);
        EXPECT(lz_dist(B, lz_select(lz_select(A, 0, 0), 0, 0), orders[k]), LZ_F32, LZ_SCALAR, want,
               2e-5);
    }
    ck_assert_int_eq(lz_numel(lz_pdist(lz_zeros(LZ_F32, LZ_SHAPE(1, 3)), 2)), 0);
    BAD(lz_cdist(A, lz_zeros(LZ_F32, LZ_SHAPE(5, 4)), 2), LZ_ESHAPE, "[5,4]");
    BAD(lz_cdist(A, B, -1), LZ_EINVAL, "-1");
    for (int j = 0; j < 5; j++) {
        double dot = 0;
        for (int m = 0; m < 3; m++)
            dot += b[j * 3 + m] * a[m];
        want[j] = dot / (f_norm(b + j * 3, 3, 2) * f_norm(a, 3, 2));
    }
    EXPECT(lz_cosine_similarity(B, lz_select(lz_select(A, 0, 0), 0, 0), 1, 1e-8), LZ_F32,
           LZ_SHAPE(5), want, 1e-5);
    for (int j = 0; j < 5; j++)
        for (int m = 0; m < 3; m++) {
            double n = f_norm(b + j * 3, 3, 2);
            want[j * 3 + m] = b[j * 3 + m] * (n > 1 ? 1 / (n + 1e-7) : 1);
        }
    EXPECT(lz_renorm(B, 2, 0, 1), LZ_F32, LZ_SHAPE(5, 3), want, 1e-5);
    BAD(lz_renorm(B, 0, 0, 1), LZ_EINVAL, "p 0");
}
END_TEST

START_TEST(histograms)
{
    ON_DEVICE(_i);
    static double v[100], want[10];
    lz_tensor *x = at_random(LZ_F32, LZ_SHAPE(10, 10), -1, 1, v);
    v[3] = NAN, v[4] = 1, v[5] = -1, v[6] = 7, v[9] = INFINITY;
    x = at_tensor(LZ_F32, LZ_SHAPE(10, 10), v);
    memset(want, 0, sizeof want);
    for (int i = 0; i < 100; i++)
        if (v[i] >= -1 && v[i] <= 1) {
            int k = (int)((float)(v[i] + 1) / 2 * 8);
            want[k == 8 ? 7 : k]++;
        }
    EXPECT(lz_histc(x, 8, -1, 1), LZ_F32, LZ_SHAPE(8), want, 0);
    EXPECT(lz_histc(at_tensor(LZ_F64, LZ_SHAPE(4), (double[]){1, 2, 4, 5}), 4, 0, 0), LZ_F64,
           LZ_SHAPE(4), ((double[]){1, 1, 0, 2}), 0);
    EXPECT(lz_histc(lz_ones(LZ_F32, LZ_SHAPE(3)), 2, 0, 0), LZ_F32, LZ_SHAPE(2), ((double[]){0, 3}),
           0);
    BAD(lz_histc(x, 0, 0, 1), LZ_EINVAL, "0 bins");
    BAD(lz_histc(x, 2, 2, 1), LZ_EINVAL, "from 2 to 1");
    lz_tensor *n = at_tensor(LZ_I32, LZ_SHAPE(6), (double[]){1, 3, 1, 9, 0, -1});
    EXPECT(lz_bincount(n, NULL, 5), LZ_I64, LZ_SHAPE(5), ((double[]){1, 2, 0, 1, 0}), 0);
    EXPECT(lz_bincount(n, at_tensor(LZ_F32, LZ_SHAPE(6), (double[]){0.5, 1, 2, 3, 4, 5}), 5),
           LZ_F32, LZ_SHAPE(5), ((double[]){4, 2.5, 0, 1, 0}), 0);
    EXPECT(lz_bincount(n, n, 4), LZ_F64, LZ_SHAPE(4), ((double[]){0, 2, 0, 3}), 0);
    BAD(lz_bincount(n, lz_ones(LZ_F32, LZ_SHAPE(5)), 5), LZ_ESHAPE, "[5]");
}
END_TEST

int main(void)
{
    rt_use("REF");
    Suite *s = suite_create("aten reductions");
    TCase *t = tcase_create("values");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, over_dimensions, 0, at_devices());
    tcase_add_loop_test(t, positions, 0, at_devices());
    tcase_add_loop_test(t, dtypes_and_edges, 0, at_devices());
    tcase_add_loop_test(t, distances, 0, at_devices());
    tcase_add_loop_test(t, histograms, 0, at_devices());
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
