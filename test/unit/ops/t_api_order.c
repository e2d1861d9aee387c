/* t_api_order.c - sorting, selection and ranks against plain loops: random data with ties and
 * special values, every dtype, on every device. */
#include "unit/runtime/rt.h"

enum { ROWS = 3, N = 23, COUNT = ROWS * N };
static double x[COUNT]; /* as the device has it */
static lz_tensor *X;    /* [ROWS, N] */
static const lz_dtype dtypes[] = {LZ_BOOL, LZ_I8,  LZ_I16, LZ_I32,  LZ_I64, LZ_U8, LZ_U16,
                                  LZ_U32,  LZ_U64, LZ_F16, LZ_BF16, LZ_F32, LZ_F64};
/* compiled: these; the rows of the table are compiled for every dtype elsewhere */
static const lz_dtype compiled[] = {LZ_BOOL, LZ_I32, LZ_BF16, LZ_F32};
enum {
    DTYPES = (int)(sizeof dtypes / sizeof *dtypes),
    RUNS = DTYPES + (int)(sizeof compiled / sizeof *compiled)
};

static bool is_float(lz_dtype d)
{
    return d >= LZ_F16 && d <= LZ_F64;
}

/* Few values, so that many are equal; floats with the special ones when asked. */
static void make(lz_dtype d, bool special)
{
    double v[COUNT];
    for (int i = 0; i < COUNT; i++) {
        v[i] = (double)(rt_random() % 15) - (d >= LZ_U8 && d <= LZ_U64 ? 0 : 7);
        if (is_float(d))
            v[i] /= 4;
        uint32_t r = rt_random() % 12;
        if (special && is_float(d) && r < 4)
            v[i] = (double[]){NAN, INFINITY, -INFINITY, -0.0}[r];
    }
    X = lz_to(lz_from_host(LZ_F64, LZ_SHAPE(ROWS, N), v), d);
    OK(lz_to_host(lz_to(X, LZ_F64), x, sizeof x));
}

/* a comes strictly before b in ascending order */
static bool less(double a, double b)
{
    return a < b || (isnan(b) && !isnan(a));
}

static int order[N];
static const double *row;
static bool down;
static int by_value(const void *p, const void *q)
{
    int i = *(const int *)p, j = *(const int *)q;
    double a = row[i], b = row[j];
    if (less(a, b) || less(b, a))
        return less(a, b) != down ? -1 : 1;
    return i - j;
}

static void sort_row(int r, bool descending)
{
    row = x + r * N;
    down = descending;
    for (int i = 0; i < N; i++)
        order[i] = i;
    qsort(order, N, sizeof *order, by_value);
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static double got[4 * COUNT];
static int64_t at[4 * COUNT];
static void read_both(lz_tensor *v, lz_tensor *i, int64_t n)
{
    ck_assert_msg(lz_status_of(v) == LZ_OK, "%s", lz_last_error_text());
    ck_assert_int_eq(lz_numel(v), n);
    OK(lz_to_host(lz_to(v, LZ_F64), got, (size_t)n * sizeof *got));
    if (!i)
        return;
    ck_assert_int_eq(lz_dtype_of(i), LZ_I64);
    ck_assert_int_eq(lz_numel(i), n);
    OK(lz_to_host(i, at, (size_t)n * sizeof *at));
}

#define WITH_DEVICE                                                                                \
    rt_use(rt_devices[_i >= DTYPES]);                                                              \
    const lz_dtype d = _i < DTYPES ? dtypes[_i] : compiled[_i - DTYPES]

START_TEST(sorted)
{
    WITH_DEVICE;
    for (int descending = 0; descending < 2; descending++) {
        lz_tensor *i;
        make(d, true);
        lz_tensor *v = lz_sort(X, 1, descending, &i);
        ck_assert_int_eq(lz_dtype_of(v), d);
        read_both(v, i, COUNT);
        for (int r = 0; r < ROWS; r++) {
            sort_row(r, descending);
            for (int k = 0; k < N; k++) {
                ck_assert_int_eq(at[r * N + k], order[k]);
                ck_assert(same(got[r * N + k], x[r * N + order[k]]));
            }
        }
        /* the other dimension by a transposition; argsort and msort agree with sort */
        lz_tensor *t = lz_sort(lz_transpose(X, 0, 1), -2, descending, NULL);
        ck_assert(is_float(d) || lz_item(lz_all(lz_eq(lz_transpose(t, 0, 1), v))) == 1);
        ck_assert(lz_item(lz_all(lz_eq(lz_argsort(X, -1, descending), i))) == 1);
        if (!descending && !is_float(d))
            ck_assert(lz_item(lz_all(lz_eq(lz_msort(lz_transpose(X, 0, 1)), t))) == 1);
    }
}
END_TEST

START_TEST(best_of_a_row)
{
    WITH_DEVICE;
    make(d, true);
    for (int64_t k = 0; k <= N; k += k < 2 ? 1 : 7)
        for (int largest = 0; largest < 2; largest++) {
            lz_tensor *i, *v = lz_topk(X, k, 1, largest, &i);
            ck_assert_int_eq(lz_shape_of(v).dims[1], k);
            read_both(v, i, ROWS * k);
            for (int r = 0; r < ROWS; r++) {
                sort_row(r, largest);
                for (int64_t j = 0; j < k; j++) {
                    ck_assert_int_eq(at[r * k + j], order[j]);
                    ck_assert(same(got[r * k + j], x[r * N + order[j]]));
                }
            }
            if (k == 0 || largest)
                continue;
            v = lz_kthvalue(X, k, 1, true, &i);
            ck_assert_int_eq(lz_shape_of(v).dims[1], 1);
            read_both(v, i, ROWS);
            for (int r = 0; r < ROWS; r++) {
                sort_row(r, false);
                ck_assert_int_eq(at[r], order[k - 1]);
                ck_assert(same(got[r], x[r * N + order[k - 1]]));
            }
        }
}
END_TEST

/* The place of the median of row r; numbers: how many are no NaN. */
static int middle(int r, bool leave_out)
{
    int numbers = 0;
    sort_row(r, false);
    for (int k = 0; k < N; k++)
        numbers += !isnan(row[k]);
    if (leave_out)
        return order[numbers ? (numbers - 1) / 2 : 0];
    return order[numbers < N ? numbers : (N - 1) / 2];
}

START_TEST(medians)
{
    WITH_DEVICE;
    for (int special = 0; special < 2; special++)
        for (int leave_out = 0; leave_out < 2; leave_out++) {
            lz_tensor *i;
            make(d, special);
            lz_tensor *m1 = leave_out ? lz_nanmedian(X, 1, false, &i) : lz_median(X, 1, false, &i);
            read_both(m1, i, ROWS);
            for (int r = 0; r < ROWS; r++) {
                int m = middle(r, leave_out);
                ck_assert_int_eq(at[r], m);
                ck_assert(same(got[r], x[r * N + m]));
            }
            lz_tensor *all = lz_reshape(lz_slice(X, 0, 0, 1, 1), LZ_SHAPE(1, N, 1));
            lz_tensor *v = leave_out ? lz_nanmedian(all, LZ_ALL_DIMS, false, &i)
                                     : lz_median(all, LZ_ALL_DIMS, false, &i);
            ck_assert_int_eq(lz_rank_of(v), 0);
            ck_assert(same(lz_item(v), x[middle(0, leave_out)]));
            ck_assert_int_eq((int)lz_item(i), middle(0, leave_out));
        }
}
END_TEST

START_TEST(modes)
{
    WITH_DEVICE;
    lz_tensor *i;
    make(d, true);
    lz_tensor *m = lz_mode(X, -1, false, &i);
    read_both(m, i, ROWS);
    for (int r = 0; r < ROWS; r++) {
        int best = -1, most = 0;
        for (int a = 0; a < N; a++) {
            int n = 0, last = a;
            for (int b = 0; b < N; b++)
                if (x[r * N + a] == x[r * N + b] || a == b)
                    n++, last = b > last ? b : last;
            if (n > most || (n == most && less(x[r * N + a], x[r * N + best])))
                most = n, best = last;
        }
        ck_assert(same(got[r], x[r * N + best]));
        ck_assert_msg(at[r] == best, "row %d: %d, not %d", r, (int)at[r], best);
    }
}
END_TEST

START_TEST(positions)
{
    WITH_DEVICE;
    for (int right = 0; right < 2; right++) {
        make(d, true);
        lz_tensor *rows = lz_sort(X, 1, false, NULL), *flat = lz_slice(rows, 0, 1, 2, 1);
        lz_tensor *p = lz_searchsorted(rows, X, right),
                  *q = lz_bucketize(X, lz_reshape(flat, LZ_SHAPE(N)), right);
        ck_assert_int_eq(lz_dtype_of(p), LZ_I64);
        OK(lz_to_host(p, at, COUNT * sizeof *at));
        OK(lz_to_host(q, at + COUNT, COUNT * sizeof *at));
        for (int i = 0; i < COUNT; i++) {
            int own = 0, one = 0;
            for (int k = 0; k < N; k++) {
                double s = x[i / N * N + k], s1 = x[N + k];
                own += right ? !less(x[i], s) : less(s, x[i]);
                one += right ? !less(x[i], s1) : less(s1, x[i]);
            }
            ck_assert_msg(at[i] == own && at[COUNT + i] == one, "%g: %d, not %d; %d, not %d", x[i],
                          (int)at[i], own, (int)at[COUNT + i], one);
        }
    }
}
END_TEST

START_TEST(sizes_by_values)
{
    WITH_DEVICE;
    make(d, true);
    static const int64_t sizes[] = {0, 1, 9, 100};
    for (int k = 0; k < 4; k++) {
        int64_t size = sizes[k] ? sizes[k] : COUNT, n = 0;
        lz_tensor *count, *nz = lz_nonzero(X, .size = sizes[k], .fill = -1, .count = &count);
        ck_assert_int_eq(lz_numel(nz), 2 * size);
        OK(lz_to_host(nz, at, (size_t)size * 16));
        for (int i = 0; i < COUNT; i++)
            if (x[i] != 0) {
                if (n < size)
                    ck_assert(at[2 * n] == i / N && at[2 * n + 1] == i % N);
                n++;
            }
        for (int64_t i = n; i < size; i++)
            ck_assert(at[2 * i] == -1 && at[2 * i + 1] == -1);
        ck_assert_int_eq((int64_t)lz_item(count), n);
        /* where the column is even */
        bool even[N];
        for (int i = 0; i < N; i++)
            even[i] = i % 2 == 0;
        lz_tensor *mask = lz_from_host(LZ_BOOL, LZ_SHAPE(N), even);
        lz_tensor *ms = lz_masked_select(X, mask, .size = sizes[k], .fill = 1, .count = &count);
        ck_assert_int_eq(lz_dtype_of(ms), d);
        read_both(ms, NULL, size);
        n = 0;
        for (int i = 0; i < COUNT; i++)
            if (even[i % N]) {
                ck_assert(n >= size || same(got[n], x[i]));
                n++;
            }
        for (int64_t i = n; i < size; i++)
            ck_assert(got[i] == 1);
        ck_assert_int_eq((int64_t)lz_item(count), n);
    }
}
END_TEST

START_TEST(distinct)
{
    WITH_DEVICE;
    make(d, true);
    static double all[COUNT];
    int64_t counts[COUNT] = {0}, n = 0;
    for (int i = 0; i < COUNT; i++) { /* insertion into the distinct ones */
        int64_t k = 0;
        while (k < n && less(all[k], x[i]))
            k++;
        if (k == n || less(x[i], all[k])) {
            memmove(all + k + 1, all + k, (size_t)(n - k) * sizeof *all);
            memmove(counts + k + 1, counts + k, (size_t)(n - k) * sizeof *counts);
            all[k] = x[i];
            counts[k] = 0;
            n++;
        }
        counts[k]++;
    }
    static const int64_t sizes[] = {0, 2, 50};
    for (int s = 0; s < 3; s++) {
        lz_tensor *inverse, *c, *count;
        int64_t size = sizes[s] ? sizes[s] : COUNT;
        lz_tensor *v =
            lz_unique(X, .size = sizes[s], .inverse = &inverse, .counts = &c, .count = &count);
        ck_assert_int_eq((int64_t)lz_item(count), n);
        read_both(v, c, size);
        for (int64_t i = 0; i < size; i++) {
            ck_assert(same(got[i], all[i < n ? i : 0]));
            ck_assert_int_eq(at[i], i < n ? counts[i] : 0);
        }
        OK(lz_to_host(inverse, at, COUNT * sizeof *at));
        ck_assert_int_eq(lz_rank_of(inverse), 2);
        for (int i = 0; i < COUNT; i++)
            ck_assert(at[i] >= 0 && at[i] < n && same(all[at[i]], x[i]));
    }
}
END_TEST

static double between(int r, double q, int way, bool leave_out)
{
    int numbers = 0;
    sort_row(r, false);
    for (int k = 0; k < N; k++)
        numbers += !isnan(row[k]);
    if (numbers == 0 || (numbers < N && !leave_out))
        return NAN;
    double p = q * (numbers - 1), lo = row[order[(int)floor(p)]], hi = row[order[(int)ceil(p)]];
    switch (way) {
    case 0:
        return lo == hi ? lo : lo + (p - floor(p)) * (hi - lo);
    case 1:
        return lo;
    case 2:
        return hi;
    case 3:
        return lo == hi ? lo : (lo + hi) / 2;
    default:
        return row[order[(int)nearbyint(p)]];
    }
}

START_TEST(quantiles)
{
    static const char *const ways[] = {"linear", "lower", "higher", "midpoint", "nearest"};
    static const double qs[] = {0, 0.1, 0.25, 0.5, 0.8, 1};
    WITH_DEVICE;
    make(d, true);
    if (!is_float(d)) {
        BAD(lz_quantile(X, 0.5), LZ_EDTYPE, "f16, bf16, f32 or f64");
        return;
    }
    double tol = d == LZ_F16 ? 2e-3 : d == LZ_BF16 ? 1e-2 : 1e-6;
    lz_tensor *q = lz_from_host(LZ_F64, LZ_SHAPE(6), qs);
    for (int special = 0; special < 2; special++)
        for (int w = 0; w < 5; w++)
            for (int leave_out = 0; leave_out < 2; leave_out++) {
                make(d, special);
                lz_tensor *v = leave_out
                                   ? lz_nanquantile_tensor(X, q, .dim = 1, .interpolation = ways[w])
                                   : lz_quantile_tensor(X, q, .dim = 1, .interpolation = ways[w]);
                ck_assert_int_eq(lz_shape_of(v).dims[0], 6);
                read_both(v, NULL, 6 * ROWS);
                for (int i = 0; i < 6 * ROWS; i++) {
                    double want = between(i % ROWS, qs[i / ROWS], w, leave_out);
                    ck_assert_msg(same(got[i], want) ||
                                      fabs(got[i] - want) <= tol * (1 + fabs(want)),
                                  "%s %g of row %d: %g, not %g", ways[w], qs[i / ROWS], i % ROWS,
                                  got[i], want);
                }
                lz_tensor *one = leave_out ? lz_nanquantile(X, 0.8, .dim = -1, .keepdim = true,
                                                            .interpolation = ways[w])
                                           : lz_quantile(X, 0.8, .dim = -1, .keepdim = true,
                                                         .interpolation = ways[w]);
                ck_assert_int_eq(lz_rank_of(one), 2);
                read_both(one, NULL, ROWS);
                for (int r = 0; r < ROWS; r++) {
                    double want = between(r, 0.8, w, leave_out);
                    ck_assert(same(got[r], want) || fabs(got[r] - want) <= tol * (1 + fabs(want)));
                }
            }
}
END_TEST

START_TEST(small_and_empty)
{
    rt_use(rt_devices[_i]);
    lz_tensor *i, *s = lz_full(LZ_F32, LZ_SHAPE(), 5), *v = lz_sort(s, -1, true, &i), *n;
    ck_assert(lz_item(v) == 5 && lz_item(i) == 0 && lz_rank_of(v) == 0 && lz_rank_of(i) == 0);
    ck_assert(lz_item(lz_median(s, 0, true, &i)) == 5 && lz_rank_of(i) == 0);
    ck_assert(lz_item(lz_topk(s, 1, 0, true, &i)) == 5 && lz_rank_of(i) == 0);
    ck_assert(lz_item(lz_quantile(s, 0.3)) == 5 && lz_item(lz_mode(s, 0, false, NULL)) == 5);
    ck_assert_int_eq(lz_numel(lz_unique(s)), 1);
    ck_assert_int_eq(lz_shape_of(lz_nonzero(s)).dims[1], 0);
    lz_tensor *e = lz_zeros(LZ_F32, LZ_SHAPE(2, 0, 3));
    ck_assert_int_eq(lz_numel(lz_sort(e, 1, false, &i)), 0);
    ck_assert_int_eq(lz_status_of(i), LZ_OK);
    ck_assert_int_eq(lz_numel(lz_topk(e, 0, 1, true, NULL)), 0);
    ck_assert_int_eq(lz_numel(lz_median(e, 2, false, NULL)), 0);
    ck_assert_int_eq(lz_numel(lz_searchsorted(lz_zeros(LZ_F32, LZ_SHAPE(0)),
                                              lz_ones(LZ_F32, LZ_SHAPE(3)), false)),
                     3);
    ck_assert(lz_item(lz_sum(lz_searchsorted(lz_zeros(LZ_F32, LZ_SHAPE(0)),
                                             lz_ones(LZ_F32, LZ_SHAPE(3)), false))) == 0);
    ck_assert(lz_item(lz_sum(lz_nonzero(e, .size = 4, .fill = 2, .count = &n))) == 24 &&
              lz_item(n) == 0);
    ck_assert(lz_item(lz_sum(lz_unique(e, .size = 3, .count = &n))) == 0 && lz_item(n) == 0);
    BAD(lz_median(e, 1, false, &i), LZ_ESHAPE, "is empty");
    ck_assert_int_eq(lz_status_of(i), LZ_ESHAPE);
    BAD(lz_median(e, LZ_ALL_DIMS, false, NULL), LZ_ESHAPE, "is empty");
    BAD(lz_mode(e, 1, false, NULL), LZ_ESHAPE, "is empty");
    BAD(lz_quantile(e, 0.5), LZ_ESHAPE, "is empty");
}
END_TEST

START_TEST(refused)
{
    rt_use("REF");
    lz_tensor *a = lz_ones(LZ_F32, LZ_SHAPE(2, 3)), *i, *c = lz_zeros(LZ_C64, LZ_SHAPE(3));
    BAD(lz_sort(a, 2, false, &i), LZ_ERANGE, "2");
    ck_assert_int_eq(lz_status_of(i), LZ_ERANGE);
    BAD(lz_sort(NULL, 0, false, &i), LZ_ENULL, "");
    ck_assert_int_eq(lz_status_of(i), LZ_ENULL);
    BAD(lz_sort(c, 0, false, NULL), LZ_EDTYPE, "complex");
    BAD(lz_unique(c), LZ_EDTYPE, "complex");
    BAD(lz_searchsorted(c, c, false), LZ_EDTYPE, "complex");
    BAD(lz_topk(a, 4, 1, true, &i), LZ_ERANGE, "k is 4");
    BAD(lz_topk(a, -1, 1, true, NULL), LZ_ERANGE, "k is -1");
    BAD(lz_kthvalue(a, 0, 1, false, NULL), LZ_ERANGE, "k is 0");
    BAD(lz_kthvalue(a, 4, 1, false, NULL), LZ_ERANGE, "k is 4");
    BAD(lz_quantile(a, 1.5), LZ_EINVAL, "1.5");
    BAD(lz_quantile(a, NAN), LZ_EINVAL, "nan");
    BAD(lz_quantile(a, 0.5, .interpolation = "cubic"), LZ_EINVAL, "cubic");
    BAD(lz_quantile_tensor(a, lz_ones(LZ_F32, LZ_SHAPE(2, 2))), LZ_ESHAPE, "rank 2");
    BAD(lz_quantile_tensor(a, lz_ones(LZ_I32, LZ_SHAPE(2))), LZ_EDTYPE, "i32");
    BAD(lz_searchsorted(a, lz_ones(LZ_F32, LZ_SHAPE(3, 3)), false), LZ_ESHAPE, "f32[3,3]");
    BAD(lz_bucketize(a, a, false), LZ_ESHAPE, "rank 2");
    BAD(lz_masked_select(a, a), LZ_EDTYPE, "boolean");
    BAD(lz_masked_select(a, lz_zeros(LZ_BOOL, LZ_SHAPE(2))), LZ_ESHAPE, "");
    BAD(lz_nonzero(a, .size = -2), LZ_EINVAL, "-2");
    BAD(lz_unique(a, .size = -2), LZ_EINVAL, "-2");
}
END_TEST

/* As long as there are, by a read that is counted. */
START_TEST(exact_sizes)
{
    rt_use(_i ? "CPU" : "REF");
    float v[7] = {0, 3, -0.0f, NAN, 3, -1, 0}, back[7];
    int64_t i64[7];
    lz_tensor *a = lz_from_host(LZ_F32, LZ_SHAPE(7), v), *count, *counts, *inverse;
    int64_t before = lz_counter_value("MaterializedSizes");
    lz_tensor *nz = lz_nonzero(a, .size = LZ_EXACT_SIZE, .count = &count);
    ck_assert_int_eq(lz_counter_value("MaterializedSizes"), before + 1);
    ck_assert(lz_shape_of(nz).dims[0] == 4 && lz_shape_of(nz).dims[1] == 1 && lz_item(count) == 4);
    OK(lz_to_host(nz, i64, 32));
    ck_assert(i64[0] == 1 && i64[1] == 3 && i64[2] == 4 && i64[3] == 5);
    lz_tensor *some = lz_masked_select(a, lz_gt_scalar(a, 0), .size = LZ_EXACT_SIZE);
    ck_assert(lz_numel(some) == 2 && lz_item(lz_sum(some)) == 6);
    lz_tensor *u = lz_unique(a, .size = LZ_EXACT_SIZE, .counts = &counts, .inverse = &inverse);
    ck_assert(lz_numel(u) == 4 && lz_numel(counts) == 4 && lz_numel(inverse) == 7);
    OK(lz_to_host(u, back, 16));
    ck_assert(back[0] == -1 && back[1] == 0 && back[2] == 3 && isnan(back[3]));
    OK(lz_to_host(counts, i64, 32));
    ck_assert(i64[0] == 1 && i64[1] == 3 && i64[2] == 2 && i64[3] == 1);
    ck_assert_int_eq(lz_counter_value("MaterializedSizes"), before + 3);
    lz_tensor *none = lz_zeros(LZ_BOOL, LZ_SHAPE(3, 2));
    ck_assert_int_eq(lz_shape_of(lz_nonzero(none, .size = LZ_EXACT_SIZE)).dims[0], 0);
    BAD(lz_nonzero(NULL, .size = LZ_EXACT_SIZE), LZ_ENULL, "");
    BAD(lz_masked_select(a, a, .size = LZ_EXACT_SIZE, .count = &count), LZ_EDTYPE, "boolean");
    ck_assert_int_eq(lz_status_of(count), LZ_EDTYPE);
}
END_TEST

/* Another q, another size of nothing: numbers are arguments, so nothing is compiled. */
START_TEST(numbers_compile_nothing)
{
    rt_use("CPU");
    make(LZ_F32, false);
    double a = lz_item(lz_quantile(X, 0.2));
    int64_t before = rt_metric("CompileTime");
    double b = lz_item(lz_quantile(X, 0.7));
    ck_assert_int_eq(rt_metric("CompileTime"), before);
    ck_assert(a <= b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("api_order");
    TCase *t = tcase_create("order");
    tcase_add_loop_test(t, sorted, 0, RUNS);
    tcase_add_loop_test(t, best_of_a_row, 0, RUNS);
    tcase_add_loop_test(t, medians, 0, RUNS);
    tcase_add_loop_test(t, modes, 0, RUNS);
    tcase_add_loop_test(t, positions, 0, RUNS);
    tcase_add_loop_test(t, sizes_by_values, 0, RUNS);
    tcase_add_loop_test(t, distinct, 0, RUNS);
    tcase_add_loop_test(t, quantiles, 0, RUNS);
    tcase_add_loop_test(t, small_and_empty, 0, 2);
    tcase_add_test(t, refused);
    tcase_add_loop_test(t, exact_sizes, 0, 2);
    tcase_add_test(t, numbers_compile_nothing);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
