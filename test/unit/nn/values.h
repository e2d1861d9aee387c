/* values.h - random doubles, and tensors of f64 against what they must be: of tests of nn/. */
#ifndef LZ_TEST_NN_VALUES_H
#define LZ_TEST_NN_VALUES_H
#include "../autodiff/grad_check.h"

#define OK(call) ck_assert_msg((call) == LZ_OK, "%s", lz_last_error_text())

static inline void fill(double *x, int n, unsigned seed)
{
    for (int i = 0; i < n; i++)
        x[i] = 4 * noise(&seed) - 2;
}

static inline void values(lz_tensor *t, const double *want, int n, const char *what)
{
    double got[512];
    ck_assert_msg(lz_numel(t) == n, "%s: %s", what, lz_last_error_text());
    OK(lz_to_host(t, got, sizeof got));
    for (int i = 0; i < n; i++)
        ck_assert_msg(got[i] == want[i] || fabs(got[i] - want[i]) <= 1e-12 * (1 + fabs(want[i])),
                      "%s[%d]: %.15g, not %.15g", what, i, got[i], want[i]);
}
#endif
