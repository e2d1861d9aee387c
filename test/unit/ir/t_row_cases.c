/* t_row_cases.c - the systematic cases of every row of ir/ops.def: each runs, and together they
 * cover every dtype the row takes, with every kind of shape and of special value. What is counted
 * is what the differential tests run: a row that is added and has too little fails. */
#include "ir/small_float.h"
#include "suite.h"
#include "support/gen.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static char msg[512];

/* ---- what a row and a dtype of its first operand must have met ---- */

#define THINGS(T)                                                                                  \
    T(EMPTY, "no elements")                                                                        \
    T(ONE, "one element")                                                                          \
    T(ODD, "an odd extent")                                                                        \
    T(LARGE, "a thousand elements")                                                                \
    T(RANK0, "a scalar")                                                                           \
    T(RANK3, "three dimensions")                                                                   \
    T(NOT_A_NUMBER, "NaN")                                                                         \
    T(INFINITE, "an infinity")                                                                     \
    T(MINUS_0, "-0")                                                                               \
    T(DENORMAL, "a denormal")                                                                      \
    T(LOWEST, "the lowest integer")                                                                \
    T(HIGHEST, "the highest integer")
enum {
#define T(NAME, text) BIT_##NAME,
    THINGS(T)
#undef T
        THINGS_COUNT
};
#define HAS(NAME) (UINT32_C(1) << BIT_##NAME)
static const char *const texts[] = {
#define T(NAME, text) text,
    THINGS(T)
#undef T
};
static const uint32_t shapes =
                          HAS(EMPTY) | HAS(ONE) | HAS(ODD) | HAS(LARGE) | HAS(RANK0) | HAS(RANK3),
                      floats = HAS(NOT_A_NUMBER) | HAS(INFINITE) | HAS(MINUS_0) | HAS(DENORMAL),
                      integers = HAS(LOWEST) | HAS(HIGHEST);

static uint32_t shape_things(const lz_type *t)
{
    uint32_t has = (t->nelem == 0 ? HAS(EMPTY) : 0) | (t->nelem == 1 ? HAS(ONE) : 0) |
                   (t->nelem >= 1000 ? HAS(LARGE) : 0) | (t->shape.rank == 0 ? HAS(RANK0) : 0) |
                   (t->shape.rank >= 3 ? HAS(RANK3) : 0);
    for (int d = 0; d < t->shape.rank; d++)
        if (t->shape.dims[d] > 1 && t->shape.dims[d] % 2)
            has |= HAS(ODD);
    return has;
}

static uint32_t float_things(double v, double least_normal)
{
    return isnan(v)                           ? HAS(NOT_A_NUMBER)
           : isinf(v)                         ? HAS(INFINITE)
           : v == 0 && signbit(v)             ? HAS(MINUS_0)
           : v != 0 && fabs(v) < least_normal ? HAS(DENORMAL)
                                              : 0;
}

static double least_normal(lz_dtype d)
{
    switch (d) {
    case LZ_F64:
        return 0x1p-1022;
    case LZ_F16:
        return 0x1p-14;
    default:
        return !lz_dtype_is_storage(d) ? 0x1p-126
               : d == LZ_F8E8M0FNU     ? 0 /* it has no denormal numbers */
                                       : ldexp(1, 1 - lz_float_format_of(d)->bias);
    }
}

static uint32_t value_things(const lz_literal *l)
{
    lz_dtype d = l->type->dtype;
    bool sign = lz_dtype_is_signed(d);
    unsigned w = (unsigned)lz_dtype_bits(d), extension = lz_dtype_is_narrow(d) ? 0xff : 0;
    uint64_t ones = ~UINT64_C(0) >> (w < 64 ? 64 - w : 0),
             top = w < 64 ? UINT64_C(1) << (w - 1) : UINT64_C(1) << 63;
    uint32_t has = 0;
    for (int64_t i = 0; i < l->type->nelem; i++) {
        uint64_t bits = lz_test_get_bits(l, i);
        if (d == LZ_C64)
            has |= float_things(((lz_c64 *)l->data)[i].re, 0) |
                   float_things(((lz_c64 *)l->data)[i].im, 0);
        else if (d == LZ_C128)
            has |= float_things(((lz_c128 *)l->data)[i].re, 0) |
                   float_things(((lz_c128 *)l->data)[i].im, 0);
        else if (lz_dtype_is_float(d) || lz_dtype_is_storage(d))
            has |= float_things(lz_elem_get_f64(d, l->data, i), least_normal(d));
        else if (lz_dtype_is_int(d))
            has |=
                (bits == (sign ? (lz_dtype_wrap(d, top) & extension) | top : 0) ? HAS(LOWEST) : 0) |
                (bits == (sign ? top - 1 : ones) ? HAS(HIGHEST) : 0);
    }
    return has;
}

/* ---- which of them the row can meet, by its columns ---- */

/* Of random bits and counting, what comes out has the dtype. */
static bool takes_values(lz_op op)
{
    const lz_op_info *info = lz_op_get(op);
    return info->cls != LZ_CLASS_RNG && info->attr != LZ_ATTR_iota;
}

/* Whether it is of matrices, or its attributes name a dimension, which a scalar does not have. */
static bool needs_a_dimension(lz_op op)
{
    if (lz_op_get(op)->cls == LZ_CLASS_LINALG)
        return true;
    switch (lz_op_get(op)->attr) {
    case LZ_ATTR_iota:
    case LZ_ATTR_dim:
    case LZ_ATTR_sort:
    case LZ_ATTR_fft:
    case LZ_ATTR_convolution:
        return true;
    default:
        return false;
    }
}

/* A predicate stands beside values of any dtype. */
static bool takes(lz_op op, lz_dtype d)
{
    return lz_op_accepts(op, d) || lz_op_get(op)->dtypes == LZ_D_PRED;
}

static uint32_t possible(lz_op op, lz_dtype d)
{
    uint32_t want = needs_a_dimension(op) ? shapes & ~HAS(RANK0) : shapes;
    if (!takes_values(op))
        return want;
    if (lz_dtype_is_float(d)) /* docs/reference/semantics.md: products of bf16 */
        want |= lz_op_get(op)->tol == LZ_TOL_SUM && d == LZ_BF16 ? floats & ~HAS(DENORMAL) : floats;
    for (int c = 0; lz_dtype_is_storage(d) && c < 1 << lz_dtype_bits(d); c++)
        want |= float_things(lz_f8_to_f32(d, (uint8_t)c), least_normal(d)) & floats;
    if (lz_dtype_is_complex(d))
        want |= floats & ~HAS(DENORMAL);
    if (lz_dtype_is_int(d))
        want |= integers;
    return want;
}

/* An operand counts for its own dtype; where there is none, the result. */
static void add_case(lz_op op, const lz_func *f, lz_literal *const *args,
                     lz_literal *const *results, uint32_t met[LZ_DTYPE_COUNT])
{
    for (uint32_t i = 0; i < f->ninst; i++) {
        const lz_sig *s = f->insts[i].sig;
        if (s->op != op)
            continue;
        uint32_t made = 0;
        for (uint32_t k = 0; k < s->nresult; k++)
            made |= shape_things(s->result[k]);
        for (uint32_t k = 0; k < s->nopnd; k++)
            met[s->opnd[k]->dtype] |= shape_things(s->opnd[k]) | made;
        if (!takes_values(op))
            met[s->result[s->nresult - 1]->dtype] |= made;
        for (uint32_t k = 0; k < f->nparam && s->nopnd; k++)
            met[args[k]->type->dtype] |= value_things(args[k]);
        for (uint32_t k = 0; k < f->nresult && !s->nopnd; k++)
            met[results[k]->type->dtype] |= made | value_things(results[k]);
    }
}

/* Row _i: every case verifies and runs, the reference meets its own expectation, and all of it has
 * been met. */
START_TEST(row_cases)
{
    lz_op op = (lz_op)(_i + 1);
    int n = 0, rc;
    uint32_t met[LZ_DTYPE_COUNT] = {0};
    lz_func *f;
    lz_literal **args, *got[8];
    while ((rc = lz_gen_row_cases(op, n, &f, &args)) == 1) {
        lz_expect *e;
        const char *name = lz_op_get(op)->text;
        ck_assert_msg(lz_func_verify(f) == LZ_OK, "%s %d: %s", name, n, lz_error_get()->message);
        ck_assert_msg(lz_expect_new(f, args, 0, &e) == LZ_OK, "%s case %d: %s", name, n,
                      lz_error_get()->message);
        ck_assert_int_eq(lz_ref_run(f, args, got), LZ_OK);
        ck_assert_msg(lz_expect_met(e, got, msg, sizeof msg), "%s case %d: %s", name, n, msg);
        add_case(op, f, args, got, met);
        for (uint32_t k = 0; k < f->nresult; k++)
            lz_literal_release(got[k]);
        lz_expect_free(e);
        lz_gen_args_free(f, args);
        lz_func_free(f);
        n++;
    }
    ck_assert_msg(rc == 0, "%s case %d: %s", lz_op_get(op)->text, n, lz_error_get()->message);
    const lz_op_info *info = lz_op_get(op);
    if (op == LZ_OP_PARAMETER || op == LZ_OP_RESULT) /* part of the cases of all others */
        return;
    if (info->cls == LZ_CLASS_COLLECTIVE) { /* one device runs alone; t_collective.c */
        ck_assert_int_eq(n, 0);
        return;
    }
    if (info->arity == 0 && info->attr == LZ_ATTR_none) { /* one value whatever happens */
        ck_assert_int_gt(n, 0);
        return;
    }
    int missing = 0;
    for (int d = 1; d < LZ_DTYPE_COUNT; d++)
        for (int k = 0; takes(op, (lz_dtype)d) && k < THINGS_COUNT; k++)
            if (possible(op, (lz_dtype)d) & ~met[d] & UINT32_C(1) << k) {
                printf("%s of %s: no case has %s\n", lz_op_get(op)->text,
                       lz_dtype_name((lz_dtype)d), texts[k]);
                missing++;
            }
    ck_assert_msg(missing == 0, "%s: %d kinds of cases are missing (named above)",
                  lz_op_get(op)->text, missing);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("row_cases");
    TCase *t = tcase_create("rows");
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, row_cases, 0, LZ_OP_COUNT - 1);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
