/* aten.h - what the tests of ATen's operators share: tensors from doubles, results compared as
 * doubles with plain loops of the test. */
#ifndef LZ_TEST_ATEN_H
#define LZ_TEST_ATEN_H
#include "unit/runtime/rt.h"
#include <float.h>

enum { AT_MAX = 4096 };

static inline int64_t at_numel(lz_shape s)
{
    int64_t n = 1;
    for (int i = 0; i < s.rank; i++)
        n *= s.dims[i];
    return n;
}
static inline double at_unit(void)
{
    return rt_random() / 4294967296.0;
}
static inline void at_fill(double *v, int64_t n, double lo, double hi)
{
    for (int64_t i = 0; i < n; i++)
        v[i] = lo + (hi - lo) * at_unit();
}
/* What a value becomes in the dtype. */
static inline double at_in(lz_dtype d, double v)
{
    if (d == LZ_F32)
        return (double)(float)v;
    return v;
}
/* v, converted to dtype. */
static inline lz_tensor *at_tensor(lz_dtype d, lz_shape s, const double *v)
{
    return lz_to(lz_from_host(LZ_F64, s, v), d);
}
/* Random values, rounded to the dtype, in v too. */
static inline lz_tensor *at_random(lz_dtype d, lz_shape s, double lo, double hi, double *v)
{
    int64_t n = at_numel(s);
    ck_assert_int_le(n, AT_MAX);
    at_fill(v, n, lo, hi);
    for (int64_t i = 0; i < n; i++)
        v[i] = d == LZ_F64                        ? v[i]
               : d == LZ_F32                      ? (double)(float)v[i]
               : lz_dtype_size(d) && d != LZ_BOOL ? floor(v[i])
                                                  : v[i] > 0;
    return at_tensor(d, s, v);
}
/* Relative tolerance; NaN is NaN, infinities equal. */
static inline bool at_near(double got, double want, double tol)
{
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got);
    return got == want ||
           (isfinite(got) && isfinite(want) && fabs(got - want) <= tol * (1e-3 + fabs(want)));
}
static inline void at_expect_at(lz_tensor *t, lz_dtype d, lz_shape s, const double *want,
                                double tol, const char *what, int line)
{
    static double got[AT_MAX];
    lz_status st = lz_status_of(t);
    ck_assert_msg(st == LZ_OK, "line %d: %s: %s", line, what, lz_last_error_text());
    ck_assert_msg(lz_dtype_of(t) == d, "line %d: %s is %s, not %s", line, what,
                  lz_dtype_name(lz_dtype_of(t)), lz_dtype_name(d));
    lz_shape ts = lz_shape_of(t);
    ck_assert_msg(ts.rank == s.rank, "line %d: %s has rank %d, not %d", line, what, ts.rank,
                  s.rank);
    for (int i = 0; i < s.rank; i++)
        ck_assert_msg(ts.dims[i] == s.dims[i], "line %d: %s: extent %d is %d, not %d", line, what,
                      i, (int)ts.dims[i], (int)s.dims[i]);
    int64_t n = at_numel(s);
    ck_assert_int_le(n, AT_MAX);
    OK(lz_to_host(lz_to(t, LZ_F64), got, sizeof got));
    for (int64_t i = 0; i < n; i++) {
        double w = d == LZ_F32 ? (double)(float)want[i] : want[i];
        ck_assert_msg(at_near(got[i], w, tol), "line %d: %s: element %d is %.17g, not %.17g", line,
                      what, (int)i, got[i], w);
    }
}
#define EXPECT(t, d, s, want, tol) at_expect_at((t), (d), (s), (want), (tol), #t, __LINE__)
#define TOL32 4e-6
#define TOL64 1e-12

/* One case of Check for each test and each device: the device is _i. The quick run takes the
 * reference only: what is compiled of the primitives is compared with it elsewhere. */
static inline int at_devices(void)
{
    return getenv("LZ_TEST_QUICK") ? 1 : 2;
}
#define ON_DEVICE(i) OK(lz_set_device(rt_devices[(i)]))
#endif
