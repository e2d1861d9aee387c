/* grad_points.h - what t_grad_points.c and t_grad_pairs.c share: derivatives by both modes, what is
 * said of them in a table of points, the rows of a function in it, and the comparison. */
#ifndef LZ_TEST_GRAD_POINTS_H
#define LZ_TEST_GRAD_POINTS_H
#include "ir/op.h"
#include "suite.h"
#include <lazuli/lazuli.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define ANY 12345.678 /* nothing is said: the derivative jumps there, or there is no one right */
enum { MOST_POINTS = 48, MOST_OPERANDS = 2, MOST_DERIVATIVES = 5, MOST_WAYS = 13 };

static const char *const devices[] = {"CPU:0", "REF:0"};

/* A function of one or two operands, which a table of points names. */
typedef struct function {
    const char *name;
    lz_op op; /* a row of ir/ops.def that it is, or LZ_OP_NONE */
    bool smooth;
    lz_tensor *(*of)(lz_tensor *x, const lz_site *site);
    lz_tensor *(*of_pair)(lz_tensor *x, lz_tensor *y, const lz_site *site);
    lz_tensor *(*own)(lz_tensor *x);
    lz_tensor *(*own_pair)(lz_tensor *x, lz_tensor *y);
} function;
/* The kinds of ops/user_ops.def, as `smooth`. */
#define FLOAT true
#define EXPONENT true
#define KEEP true
#define WHOLE true
#define BOOL false
#define BITS false
#define SHIFT false
/* One that the test defines; member: own or own_pair. */
#define OWN_OF(name_, op_, member, fn)                                                             \
    {                                                                                              \
        .name = name_, .op = op_, .smooth = true, .member = fn                                     \
    }

/* Operands and the derivatives there. */
typedef struct point {
    const char *name;
    double x[MOST_OPERANDS], d[MOST_DERIVATIVES];
} point;

/* The rows of a function. */
static inline int rows_of(const point *all, int nall, const char *name,
                          const point *out[MOST_POINTS])
{
    int n = 0;
    for (int i = 0; i < nall; i++) {
        if (strcmp(all[i].name, name) != 0)
            continue;
        ck_assert_int_lt(n, MOST_POINTS);
        out[n++] = &all[i];
    }
    return n;
}

/* Every row is of a function of the table, once. */
static inline void all_rows_are_met(const point *all, int nall, const function *f, int nf)
{
    const point *p[MOST_POINTS];
    int n = 0;
    for (int i = 0; i < nf; i++)
        n += rows_of(all, nall, f[i].name, p);
    ck_assert_int_eq(n, nall);
}

static inline lz_tensor *reverse(lz_tensor *y, lz_tensor *x)
{
    lz_tensor *g = NULL;
    ck_assert_msg(lz_grad(lz_sum(y), &x, 1, &g, .allow_unused = true) == LZ_OK, "%s",
                  lz_last_error_text());
    return g;
}

static inline lz_tensor *forward(lz_tensor *y, lz_tensor *x)
{
    lz_tensor *t = lz_ones(lz_dtype_of(x), lz_shape_of(x)), *d = NULL;
    ck_assert_msg(lz_jvp(&y, 1, &x, &t, 1, &d, .allow_unused = true) == LZ_OK, "%s",
                  lz_last_error_text());
    return d;
}

/* absolute: the error that values near 0 may have. */
static inline bool agrees(double have, double want, lz_dtype d, double absolute)
{
    if (want == ANY)
        return true;
    if (isnan(want) || isinf(want))
        return isnan(want) ? isnan(have) : have == want;
    return fabs(have - want) <= (d == LZ_F64 ? 1e-11 : 2e-5) * fabs(want) + absolute;
}

/* One way to a derivative: its values at all points, and which derivative it is. */
typedef struct way {
    const char *name;
    lz_tensor *values;
    int which;
} way;

/* The number of values that are not right, which are printed. */
static inline int compare_ways(const function *f, const point *const *p, int n, const way *ways,
                               int nway, lz_dtype d, double absolute)
{
    lz_tensor *all[MOST_WAYS];
    double got[MOST_WAYS * MOST_POINTS];
    char at[64];
    int bad = 0;
    ck_assert_int_le(nway, MOST_WAYS);
    for (int k = 0; k < nway; k++)
        all[k] = ways[k].values;
    ck_assert_msg(lz_to_host(lz_to(lz_stack(all, nway, 0), LZ_F64), got,
                             sizeof *got * (size_t)(nway * n)) == LZ_OK,
                  "%s: %s", f->name, lz_last_error_text());
    for (int k = 0; k < nway * n; k++) {
        const double *x = p[k % n]->x;
        const way *w = &ways[k / n];
        double want = p[k % n]->d[w->which];
        if (agrees(got[k], want, d, absolute))
            continue;
        if (f->of || f->own)
            snprintf(at, sizeof at, "%g", x[0]);
        else
            snprintf(at, sizeof at, "%g, %g", x[0], x[1]);
        printf("%s %s(%s), %s, derivative %d: %.17g, right is %.17g\n", lz_dtype_name(d), f->name,
               at, w->name, w->which, got[k], want);
        bad++;
    }
    return bad;
}
#endif
