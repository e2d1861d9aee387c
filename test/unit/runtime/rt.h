/* rt.h - what the runtime's tests share: a device chosen before the library starts, random data,
 * comparisons.
 * Tests fork (Check), so each starts with a library that has not been used. */
#ifndef LZ_TEST_RT_H
#define LZ_TEST_RT_H
#include "suite.h"
#include "base/alloc.h"
#include <lazuli/lazuli.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The reference interpreter, and nothing kept on disk, unless the test says otherwise. */
static inline void rt_use(const char *device)
{
    setenv("PJRT_DEVICE", device, 1);
    setenv("LAZULI_CACHE", "0", 1);
}
static const char *rt_devices[] = {"REF", "CPU"};
/* LZ_TEST_DEVICE: another device in the CPU's place (test/api/cuda.sh). */
__attribute__((constructor)) static void rt_choose_device(void)
{
    if (getenv("LZ_TEST_DEVICE"))
        rt_devices[1] = getenv("LZ_TEST_DEVICE");
}

static inline uint32_t rt_random(void)
{
    static uint64_t s = 0x9e3779b97f4a7c15u;
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return (uint32_t)(s >> 32);
}
static inline float rt_uniform(void)
{
    return (float)rt_random() / 4294967296.0f * 4 - 2;
}
static inline void rt_fill(float *p, int n)
{
    for (int i = 0; i < n; i++)
        p[i] = rt_uniform();
}

#define OK(expr)                                                                                   \
    do {                                                                                           \
        lz_status rt_s_ = (expr);                                                                  \
        ck_assert_msg(rt_s_ == LZ_OK, "%s: %s", #expr, lz_last_error_text());                      \
    } while (0)
/* The call gives the status, and the last error says so with this text inside. */
#define FAILS(expr, status, text)                                                                  \
    do {                                                                                           \
        lz_status rt_s_ = (expr);                                                                  \
        ck_assert_msg(rt_s_ == (status), "%s: %s, not %s", #expr, lz_status_name(rt_s_),           \
                      lz_status_name(status));                                                     \
        ck_assert_msg(strstr(lz_last_error_text(), (text)) != NULL, "\"%s\" lacks \"%s\"",         \
                      lz_last_error_text(), (text));                                               \
    } while (0)
#define BAD(tensor, status, text) FAILS(lz_status_of(tensor), status, text)

static inline void rt_expect(lz_tensor *t, const float *want, int n, double tol)
{
    float got[256];
    ck_assert_int_le(n, 256);
    ck_assert_msg(lz_status_of(t) == LZ_OK, "%s", lz_last_error_text());
    ck_assert_int_eq(lz_numel(t), n);
    OK(lz_to_host(t, got, sizeof got));
    for (int i = 0; i < n; i++)
        ck_assert_msg(got[i] == want[i] || (isnan(got[i]) && isnan(want[i])) ||
                          fabs((double)got[i] - want[i]) <= tol * (1 + fabs((double)want[i])),
                      "element %d is %.9g, not %.9g", i, got[i], want[i]);
}

static inline char *rt_report(void)
{
    size_t n = lz_metrics_report(NULL, 0);
    char *s = malloc(n + 4096);
    lz_metrics_report(s, n + 4096);
    return s;
}
static inline int64_t rt_metric(const char *name)
{
    lz_metric_summary m = {0, 0};
    return lz_metric_data(name, &m) == LZ_OK ? (int64_t)m.total_samples : -1;
}
/* A step that runs kernels. */
static inline void rt_step(void)
{
    lz_scope_begin();
    lz_tensor *x = lz_ones(LZ_F32, LZ_SHAPE(64, 64));
    (void)lz_item(lz_sum(lz_matmul(lz_exp(x), x)));
    OK(lz_mark_step());
    lz_scope_end();
}
#endif
