/* t_eval_run.c - the reference's driver: arguments, lifetimes, dead code, exhausted memory. */
#include "ir/eval/eval.h"
#include "suite.h"
#include "support/gen.h"
#include <string.h>

static char msg[512];
static const lz_shape scalar = {0};

/* y = tanh(x * w) + x, sum of y over dimension 0 */
static lz_func *small(void)
{
    lz_func *f = lz_func_new("small");
    lz_shape s = LZ_SHAPE(3, 2);
    lz_val x = lz_build_param(f, lz_type_get(LZ_F32, &s)),
           w = lz_build_param(f, lz_type_get(LZ_F32, &s));
    lz_val y = lz_build_ew2(f, LZ_OP_ADD,
                            lz_build_ew1(f, LZ_OP_TANH, lz_build_ew2(f, LZ_OP_MULTIPLY, x, w)), x);
    lz_ints d0 = lz_ints_make(1, (const int64_t[]){0});
    lz_val sum = lz_build_reduce(f, LZ_OP_ADD, y, lz_build_scalar(f, LZ_F32, 0), &d0);
    lz_val out[4] = {y, sum, x, y}; /* a parameter and the same value twice */
    ck_assert_int_eq(lz_func_set_results(f, out, 4), LZ_OK);
    return f;
}

START_TEST(results_and_lifetimes)
{
    lz_func *f = small();
    lz_literal *args[2] = {lz_test_lit(LZ_F32, LZ_SHAPE(3, 2), 1, 2, 3, 4, 5, 6),
                           lz_test_lit(LZ_F32, LZ_SHAPE(3, 2), 0, 0, 0, 0, 0, 0)};
    lz_literal *got[4];
    int64_t live = lz_alloc_live_bytes_hint();
    ck_assert_int_eq(lz_ref_run(f, args, got), LZ_OK);
    lz_literal *sum = lz_test_lit(LZ_F32, LZ_SHAPE(2), 9, 12);
    ck_assert_msg(lz_test_same(got[0], args[0], 0, msg, sizeof msg), "%s", msg);
    ck_assert_msg(lz_test_same(got[1], sum, 0, msg, sizeof msg), "%s", msg);
    ck_assert_ptr_eq(got[2], args[0]);
    ck_assert_ptr_eq(got[3], got[0]);
    for (int k = 0; k < 4; k++)
        lz_literal_release(got[k]);
    lz_literal_release(sum);
    ck_assert_int_eq(lz_alloc_live_bytes_hint(), live);
    ck_assert_uint_eq(args[0]->refs, 1);
    lz_literal_release(args[0]);
    lz_literal_release(args[1]);
    lz_func_free(f);
}
END_TEST

START_TEST(arguments_are_checked)
{
    lz_func *f = small();
    lz_literal *good = lz_test_lit(LZ_F32, LZ_SHAPE(3, 2), 1, 2, 3, 4, 5, 6),
               *shape = lz_test_lit(LZ_F32, LZ_SHAPE(2), 1, 2);
    lz_literal *dtype = lz_test_lit(LZ_I32, LZ_SHAPE(3, 2), 1, 2, 3, 4, 5, 6),
               *got[4] = {good, good, good, good};
    ck_assert_int_eq(lz_ref_run(f, (lz_literal *[]){good, NULL}, got), LZ_ENULL);
    ck_assert_ptr_null(got[0]);
    ck_assert_int_eq(lz_ref_run(f, (lz_literal *[]){good, shape}, got), LZ_ESHAPE);
    ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "f32[2]"));
    ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "f32[3,2]"));
    ck_assert_int_eq(lz_ref_run(f, (lz_literal *[]){dtype, good}, got), LZ_EDTYPE);
    ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "argument 0"));
    lz_literal_release(good);
    lz_literal_release(shape);
    lz_literal_release(dtype);
    lz_func_free(f);
}
END_TEST

/* Dead operations do not run: this one would need terabytes. */
START_TEST(dead_code_is_skipped)
{
    lz_func *f = lz_func_new("dead");
    lz_shape s = LZ_SHAPE(4), big = LZ_SHAPE(1 << 20, 1 << 20);
    lz_val x = lz_build_param(f, lz_type_get(LZ_F32, &s)), y = lz_build_ew1(f, LZ_OP_NEGATE, x);
    lz_val dead = lz_build_splat(f, lz_type_get(LZ_F32, &big), 1);
    (void)lz_build_ew2(f, LZ_OP_ADD, dead, dead);
    ck_assert_int_eq(lz_func_set_results(f, &y, 1), LZ_OK);
    lz_literal *a = lz_test_lit(LZ_F32, s, 1, 2, 3, 4),
               *want = lz_test_lit(LZ_F32, s, -1, -2, -3, -4), *got;
    ck_assert_msg(lz_ref_run(f, &a, &got) == LZ_OK, "%s", lz_error_get()->message);
    ck_assert_msg(lz_test_same(got, want, 0, msg, sizeof msg), "%s", msg);
    lz_literal_release(a);
    lz_literal_release(want);
    lz_literal_release(got);
    lz_func_free(f);
}
END_TEST

START_TEST(a_long_chain_needs_no_stack)
{
    lz_func *f = lz_func_new("long");
    lz_val v = lz_build_param(f, lz_type_get(LZ_I64, &scalar)), one = lz_build_scalar(f, LZ_I64, 1);
    for (int i = 0; i < 300000; i++)
        v = lz_build_ew2(f, LZ_OP_ADD, v, one);
    ck_assert_int_eq(lz_func_set_results(f, &v, 1), LZ_OK);
    lz_literal *a = lz_test_lit(LZ_I64, LZ_SCALAR, 5), *got;
    ck_assert_int_eq(lz_ref_run(f, &a, &got), LZ_OK);
    ck_assert_int_eq(*(int64_t *)got->data, 300005);
    lz_literal_release(a);
    lz_literal_release(got);
    lz_func_free(f);
}
END_TEST

START_TEST(what_has_no_value)
{
    lz_attr_type at = {.kind = LZ_ATTR_type, .dtype = LZ_F32};
    const lz_sig *p = lz_sig_get(LZ_OP_PARAMETER, lz_attr_get((lz_attr *)&at), NULL, 0),
                 *c = lz_sig_get(LZ_OP_CONSTANT, lz_attr_get((lz_attr *)&at), NULL, 0);
    lz_literal *got;
    ck_assert_ptr_nonnull(p);
    ck_assert_int_eq(lz_ref_eval_inst(p, NULL, &got), LZ_EINVAL);
    ck_assert_int_eq(lz_ref_eval_inst(c, NULL, &got), LZ_EINVAL);
}
END_TEST

/* Whatever allocation fails: LZ_EMEM, nothing leaks, and the next run works. */
START_TEST(exhausted_memory)
{
    int failures = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        lz_func *f = lz_gen_random(seed, &(lz_gen_options){.max_insts = 20, .max_elems = 30});
        lz_literal **args, *got[8];
        ck_assert(f != NULL);
        ck_assert_int_eq(lz_gen_args(f, seed, LZ_FILL_MODEST, &args), LZ_OK);
        ck_assert_int_eq(lz_ref_run(f, args, got),
                         LZ_OK); /* what is interned on the way is there now */
        for (uint32_t k = 0; k < f->nresult; k++)
            lz_literal_release(got[k]);
        int64_t live = lz_alloc_live_bytes_hint();
        for (int n = 1; n < 2000; n++) {
            lz_alloc_fail_at(n, false);
            lz_status s = lz_ref_run(f, args, got);
            lz_alloc_fail_at(0, false);
            if (s == LZ_OK) {
                for (uint32_t k = 0; k < f->nresult; k++)
                    lz_literal_release(got[k]);
                ck_assert_int_eq(lz_alloc_live_bytes_hint(), live);
                break;
            }
            failures++;
            ck_assert_int_eq(s, LZ_EMEM);
            ck_assert_int_eq(lz_error_get()->status, LZ_EMEM);
            for (uint32_t k = 0; k < f->nresult; k++)
                ck_assert_ptr_null(got[k]);
            ck_assert_int_eq(lz_alloc_live_bytes_hint(), live);
        }
        lz_gen_args_free(f, args);
        lz_func_free(f);
    }
    ck_assert_int_gt(failures, 300);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("eval_run");
    TCase *t = tcase_create("eval_run");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, results_and_lifetimes);
    tcase_add_test(t, arguments_are_checked);
    tcase_add_test(t, dead_code_is_skipped);
    tcase_add_test(t, a_long_chain_needs_no_stack);
    tcase_add_test(t, what_has_no_value);
    tcase_add_test(t, exhausted_memory);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
