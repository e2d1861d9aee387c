/* t_gen.c - the random functions other tests rest on: well-typed, varied, reproducible,
 * reducible. */
#include "suite.h"
#include "support/gen.h"
#include <string.h>

static char msg[512];

/* Every random function verifies, runs, and meets its own expectation. */
START_TEST(random_functions_run)
{
    int64_t elems = 0, unstable = 0, insts = 0;
    for (uint64_t seed = (uint64_t)_i * 100; seed < (uint64_t)_i * 100 + 100; seed++) {
        lz_func *f = lz_gen_random(seed, NULL);
        ck_assert_msg(f != NULL, "seed %d: %s", (int)seed, lz_error_get()->message);
        ck_assert_msg(lz_func_verify(f) == LZ_OK, "seed %d: %s", (int)seed,
                      lz_error_get()->message);
        lz_literal **args, *got[8];
        ck_assert_int_eq(lz_gen_args(f, seed, (lz_fill)(seed % LZ_FILL_INDEX), &args), LZ_OK);
        lz_expect *e;
        ck_assert_msg(lz_expect_new(f, args, 0, &e) == LZ_OK, "seed %d: %s", (int)seed,
                      lz_error_get()->message);
        ck_assert_int_eq(lz_ref_run(f, args, got), LZ_OK);
        ck_assert_msg(lz_expect_met(e, got, msg, sizeof msg), "seed %d: %s", (int)seed, msg);
        unstable += lz_expect_unstable(e);
        insts += f->ninst;
        for (uint32_t k = 0; k < f->nresult; k++) {
            elems += got[k]->type->nelem;
            lz_literal_release(got[k]);
        }
        lz_expect_free(e);
        lz_gen_args_free(f, args);
        lz_func_free(f);
    }
    ck_assert_int_gt(insts, 1000);
    ck_assert_msg(unstable * 4 < elems, "%d of %d results are not compared", (int)unstable,
                  (int)elems);
}
END_TEST

/* All ops that can appear do, without hundreds of seeds. */
START_TEST(every_op_appears)
{
    int seen[LZ_OP_COUNT] = {0};
    for (uint64_t seed = 0; seed < 400; seed++) {
        lz_func *f = lz_gen_random(seed, &(lz_gen_options){.max_insts = 30});
        ck_assert(f != NULL);
        for (uint32_t i = 0; i < f->ninst; i++)
            seen[f->insts[i].sig->op]++;
        lz_func_free(f);
    }
    for (int op = 1; op < LZ_OP_COUNT; op++)
        ck_assert_msg(seen[op] > 0 || lz_op_get((lz_op)op)->cls == LZ_CLASS_COLLECTIVE,
                      "%s never appears", lz_op_get((lz_op)op)->text);
}
END_TEST

START_TEST(same_seed_same_function)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        lz_func *f = lz_gen_random(seed, NULL), *g = lz_gen_random(seed, NULL);
        ck_assert(lz_hash_eq(lz_func_hash(f), lz_func_hash(g)));
        lz_func_free(f);
        lz_func_free(g);
    }
}
END_TEST

START_TEST(options_are_kept)
{
    lz_gen_options o = {.dtypes = 1u << LZ_F32 | 1u << LZ_BOOL,
                        .classes = 1u << LZ_CLASS_EW | 1u << LZ_CLASS_DOT,
                        .no_empty = true};
    for (uint64_t seed = 0; seed < 100; seed++) {
        lz_func *f = lz_gen_random(seed, &o);
        ck_assert(f != NULL);
        for (uint32_t i = 0; i < f->nparam; i++) {
            const lz_type *t = lz_val_type(f, i);
            ck_assert(o.dtypes >> t->dtype & 1);
            ck_assert_int_gt(t->nelem, 0);
        }
        for (uint32_t i = 0; i < f->ninst; i++)
            ck_assert_int_ne(lz_op_get(f->insts[i].sig->op)->cls, LZ_CLASS_RNG);
        lz_func_free(f);
    }
}
END_TEST

static bool has_tanh(const lz_func *f, void *ctx)
{
    ++*(int *)ctx;
    lz_func *live = lz_func_prune(f);
    bool found = false;
    for (uint32_t i = 0; live && i < live->ninst; i++)
        found = found || live->insts[i].sig->op == LZ_OP_TANH;
    lz_func_free(live);
    return found;
}

START_TEST(shrinking)
{
    int shrunk = 0;
    for (uint64_t seed = 0; seed < 300 && shrunk < 12; seed++) {
        int calls = 0;
        lz_func *f = lz_gen_random(seed, &(lz_gen_options){.max_insts = 30});
        if (has_tanh(f, &calls)) {
            lz_func *s = lz_gen_shrink(f, has_tanh, &calls);
            ck_assert(s != NULL);
            ck_assert_int_eq(lz_func_verify(s), LZ_OK);
            ck_assert_uint_eq(s->ninst, 2); /* a parameter and its tanh */
            ck_assert(has_tanh(s, &calls));
            lz_func_free(s);
            shrunk++;
        }
        lz_func_free(f);
    }
    ck_assert_int_ge(shrunk, 5);
}
END_TEST

/* The expectation notices a result off by more than its row's tolerance, and not one inside it. */
START_TEST(expectation_is_sharp)
{
    lz_func *f = lz_func_new("f");
    lz_shape s = LZ_SHAPE(3);
    lz_val x = lz_build_param(f, lz_type_get(LZ_F32, &s)), y = lz_build_ew1(f, LZ_OP_TANH, x);
    ck_assert_int_eq(lz_func_set_results(f, &y, 1), LZ_OK);
    lz_literal *a = lz_test_lit(LZ_F32, s, 0.5, -1, 2), *got;
    lz_expect *e;
    ck_assert_int_eq(lz_expect_new(f, &a, 0, &e), LZ_OK);
    ck_assert_int_eq(lz_ref_run(f, &a, &got), LZ_OK);
    uint64_t bits = lz_test_get_bits(got, 1);
    for (int steps = -6; steps <= 6; steps++) {
        lz_test_set_bits(got, 1, lz_test_step(LZ_F32, bits, steps));
        ck_assert_int_eq(lz_expect_met(e, &got, msg, sizeof msg), abs(steps) <= 4);
    }
    ck_assert_ptr_nonnull(strstr(msg, "[1] got"));
    lz_expect_free(e);
    lz_literal_release(got);
    lz_literal_release(a);
    lz_func_free(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("gen");
    TCase *t = tcase_create("gen");
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, random_functions_run, 0, 5);
    tcase_add_test(t, every_op_appears);
    tcase_add_test(t, same_seed_same_function);
    tcase_add_test(t, options_are_kept);
    tcase_add_test(t, shrinking);
    tcase_add_test(t, expectation_is_sharp);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
