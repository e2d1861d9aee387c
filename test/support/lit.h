/* lit.h - literals for tests: random ones with the values that break things, comparison, a report
 * of the first difference.
 * Everything returns NULL / false on exhausted memory. Threads: thread-compatible. */
#ifndef LZ_TEST_LIT_H
#define LZ_TEST_LIT_H
#include "ir/module.h"
#include "support/rnd.h"

typedef enum lz_fill {
    /* floats of magnitude 2^-3 .. 2^2 and either sign; integers -9 .. 9 (0 .. 9) */
    LZ_FILL_MODEST,
    LZ_FILL_WILD,    /* any magnitude, one element in four a special value */
    LZ_FILL_SPECIAL, /* the table of special values, over and over, from a random start */
    LZ_FILL_INDEX,   /* integers -2 .. 12: indices, some out of bounds */
    /* modest; a float in 20 is a zero, denormal (not bf16), infinite or NaN, a complex number has
     * such a part, an integer is any special value: sums are what they are in any order */
    LZ_FILL_SPICED,
    LZ_FILL_COUNT
} lz_fill;
lz_literal *lz_test_random(lz_rnd *r, const lz_type *t, lz_fill fill);

/* The special values of a dtype, as its storage in the low bytes: NaN, infinities, both zeros,
 * denormals, extremes, ties. */
int lz_test_specials(lz_dtype d, uint64_t bits[64]);
void lz_test_set_bits(lz_literal *l, int64_t i, uint64_t bits);
uint64_t lz_test_get_bits(const lz_literal *l, int64_t i);

/* Rank 0..8 from a list: lz_test_lit(LZ_F32, LZ_SHAPE(2, 2), 1., 2., 3., 4.). Integers beyond 2^53:
 * lz_test_lit_i64. */
#define lz_test_lit(d, shape, ...)                                                                 \
    lz_test_lit_((d), (shape), (const double[]){__VA_ARGS__},                                      \
                 sizeof((const double[]){__VA_ARGS__}) / sizeof(double))
#define lz_test_lit_i64(d, shape, ...)                                                             \
    lz_test_lit_i64_((d), (shape), (const int64_t[]){__VA_ARGS__},                                 \
                     sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
/* NULL when n is not the number of elements */
lz_literal *lz_test_lit_(lz_dtype d, lz_shape s, const double *v, size_t n);
lz_literal *lz_test_lit_i64_(lz_dtype d, lz_shape s, const int64_t *v, size_t n);

/* Steps between two floats of a dtype on the line of representable numbers; both zeros are one
 * place, any NaN equals any NaN.
 * UINT64_MAX: not comparable (NaN against a number, other dtypes than float). */
uint64_t lz_test_ulps(lz_dtype d, uint64_t a, uint64_t b);
/* The float of dtype d that lies `steps` away from `bits` on that line, stopping at the infinities;
 * NaN stays. */
uint64_t lz_test_step(lz_dtype d, uint64_t bits, int64_t steps);

/* Bitwise equal, except that NaNs are equal; with ulp > 0 floats may lie that far apart. False:
 * `msg` names the first difference. */
bool lz_test_same(const lz_literal *got, const lz_literal *want, int ulp, char *msg, size_t nmsg);
/* "[1,0] got 1.5 (0x3fc00000), want 2 (0x40000000)" */
void lz_test_print_diff(const lz_literal *got, const lz_literal *want, int64_t i, char *msg,
                        size_t nmsg);

/* The program of a file; NULL with the error recorded. */
lz_func *lz_test_program(const char *path);
#endif
