/* t_passes.c - the pass manager, and every pass against the reference: alone and in the pipeline no
 * pass changes what a function means. */
#include "base/config.h"
#include "graphs.h"
#include "ir/eval/eval.h"
#include "lower/pass.h"
#include "suite.h"
#include "support/gen.h"
#include <stdio.h>
#include <string.h>

enum {
    NPASS = 0
#define PASS(...) +1
#include "lower/passes.def"
};

START_TEST(table)
{
    int n = 0;
    for (const lz_pass *p; (p = lz_pass_at(n)) != NULL; n++) {
        ck_assert_ptr_eq(lz_pass_get(p->name), p);
        ck_assert(p->run && p->doc[0]);
    }
    ck_assert(n >= 6);
    ck_assert_ptr_null(lz_pass_get("no such pass"));
    ck_assert_ptr_null(lz_pass_get(NULL));
    ck_assert_ptr_null(lz_pass_at(-1));
}
END_TEST

static lz_func *negate_twice(void)
{
    lz_func *f = lz_func_new("f");
    lz_val x = g_param(f, LZ_F32, LZ_SHAPE(3)),
           y = lz_build_ew1(f, LZ_OP_NEGATE, lz_build_ew1(f, LZ_OP_NEGATE, x));
    lz_func_set_results(f, &y, 1);
    return f;
}

START_TEST(lists)
{
    lz_func *f = negate_twice(), *g = NULL;
    ck_assert_int_eq(lz_passes_run(f, "", NULL, &g), LZ_OK);
    ck_assert(lz_hash_eq(lz_func_hash(f), lz_func_hash(g)));
    lz_func_free(g);
    ck_assert_int_eq(lz_passes_run(f, "dce,simplify,fold", NULL, &g), LZ_OK);
    ck_assert_int_eq(g->ninst, 1);
    ck_assert_int_eq(g->results[0], 0);
    lz_func_free(g);
    ck_assert_int_eq(lz_passes_run(f, "pipeline", NULL, &g), LZ_OK);
    ck_assert_int_eq(g->ninst, 1);
    lz_func_free(g);
    ck_assert_int_eq(lz_passes_run(f, "simplify,symplify", NULL, &g), LZ_EINVAL);
    ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "symplify"));
    ck_assert_ptr_null(g);
    lz_func_free(f);
}
END_TEST

START_TEST(switched_off)
{
    lz_func *f = negate_twice(), *g = NULL;
    ck_assert_int_eq(lz_config_set("LAZULI_PASSES_OFF", "simplify"), LZ_OK);
    ck_assert_int_eq(lz_passes_run(f, "pipeline", NULL, &g), LZ_OK);
    ck_assert_int_eq(g->ninst, 3);
    lz_func_free(g);
    lz_func_free(f);
    lz_config_set("LAZULI_PASSES_OFF", NULL);
}
END_TEST

/* ---- meaning is kept ---- */

static void same_results(const lz_func *f, const lz_func *g, lz_literal **args, const char *what,
                         int seed)
{
    lz_expect *e;
    char msg[512];
    if (lz_expect_new(f, args, 0, &e) != LZ_OK) {
        ck_assert_int_eq(lz_error_get()->status, LZ_EUNSUPPORTED);
        return;
    }
    lz_literal **got = lz_calloc(g->nresult + 1, sizeof *got);
    ck_assert_msg(lz_ref_run(g, args, got) == LZ_OK, "%s, seed %d: %s", what, seed,
                  lz_error_get()->message);
    ck_assert_msg(lz_expect_met(e, got, msg, sizeof msg), "%s, seed %d: %s", what, seed, msg);
    for (uint32_t k = 0; k < g->nresult; k++)
        lz_literal_release(got[k]);
    lz_free(got);
    lz_expect_free(e);
}

/* A sum of 16-bit floats is rounded less often by design. */
static bool comparable(const lz_func *f)
{
    bool sum = false, bits = false;
    for (uint32_t i = 0; i < f->ninst; i++) {
        const lz_sig *s = f->insts[i].sig;
        sum |= lz_op_get(s->op)->tol == LZ_TOL_SUM;
        bits |= s->op == LZ_OP_BITCAST_CONVERT;
        for (uint32_t k = 0; k < s->nopnd && s->nresult > 1; k++)
            if (lz_op_get(s->op)->tol == LZ_TOL_SUM &&
                (s->opnd[k]->dtype == LZ_F16 || s->opnd[k]->dtype == LZ_BF16))
                return false;
    }
    return !(sum && bits);
}

static void run_pass(const char *list, int seed)
{
    lz_gen_options o = {.max_insts = 4 + seed % 30};
    lz_func *f = lz_gen_random((uint64_t)seed, &o), *g = NULL;
    lz_literal **args;
    ck_assert(f != NULL);
    if (comparable(f)) {
        bool sums = false;
        for (uint32_t i = 0; i < f->ninst; i++)
            sums |= lz_op_get(lz_inst_op(&f->insts[i]))->tol == LZ_TOL_SUM;
        ck_assert_int_eq(
            lz_gen_args(f, (uint64_t)seed, sums ? LZ_FILL_MODEST : LZ_FILL_WILD, &args), LZ_OK);
        ck_assert_msg(lz_passes_run(f, list, NULL, &g) == LZ_OK, "%s, seed %d: %s", list, seed,
                      lz_error_get()->message);
        ck_assert_msg(lz_func_verify(g) == LZ_OK, "%s, seed %d: %s", list, seed,
                      lz_error_get()->message);
        same_results(f, g, args, list, seed);
        lz_gen_args_free(f, args);
        lz_func_free(g);
    }
    lz_func_free(f);
}

START_TEST(each_pass_keeps_meaning)
{
    const lz_pass *p = lz_pass_at(_i);
    lz_config_set("LAZULI_VERIFY", "1");
    for (int seed = 0; p && seed < 150; seed++)
        run_pass(p->name, 10000 + seed);
    lz_config_set("LAZULI_VERIFY", NULL);
}
END_TEST

START_TEST(the_pipeline_keeps_meaning)
{
    lz_config_set("LAZULI_VERIFY", "1");
    for (int seed = 0; seed < 300; seed++)
        run_pass("pipeline", seed);
    lz_config_set("LAZULI_VERIFY", NULL);
}
END_TEST

/* ---- identities that floats do not have ---- */

static uint64_t bits_after(lz_op op, lz_dtype d, uint64_t x, uint64_t y, const char *list)
{
    lz_func *f = lz_func_new("f"), *g = NULL;
    lz_shape s = LZ_SCALAR;
    lz_literal *c = lz_literal_copy_from(lz_type_get(d, &s), &y),
               *a = lz_literal_copy_from(lz_type_get(d, &s), &x), *r = NULL;
    lz_val v = g_param(f, d, s);
    v = lz_build_ew2(f, op, v, lz_build_const(f, c));
    lz_func_set_results(f, &v, 1);
    ck_assert_int_eq(lz_passes_run(f, list, NULL, &g), LZ_OK);
    ck_assert_int_eq(lz_ref_run(g, &a, &r), LZ_OK);
    uint64_t bits = 0;
    memcpy(&bits, r->data, r->nbytes);
    lz_literal_release(r);
    lz_literal_release(a);
    lz_literal_release(c);
    lz_func_free(f);
    lz_func_free(g);
    return bits;
}

START_TEST(every_bit_is_kept)
{
    static const lz_op ops[] = {LZ_OP_ADD,     LZ_OP_SUBTRACT, LZ_OP_MULTIPLY, LZ_OP_DIVIDE,
                                LZ_OP_MAXIMUM, LZ_OP_MINIMUM,  LZ_OP_POWER,    LZ_OP_REMAINDER};
    static const lz_dtype dtypes[] = {LZ_F16, LZ_BF16, LZ_F32, LZ_F64,
                                      LZ_I8,  LZ_U16,  LZ_I32, LZ_U64};
    lz_dtype d = dtypes[_i];
    uint64_t special[64];
    int n = lz_test_specials(d, special);
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                uint64_t want = bits_after(ops[o], d, special[i], special[j], "dce"),
                         got = bits_after(ops[o], d, special[i], special[j], "simplify");
                bool nan = lz_dtype_is_float(d) && lz_test_ulps(d, want, got) == 0 && want != got;
                double w = lz_elem_get_f64(d, &want, 0);
                ck_assert_msg(want == got || (nan && w != w), "%s(%llx, %llx): %llx, not %llx",
                              lz_op_get(ops[o])->text, (unsigned long long)special[i],
                              (unsigned long long)special[j], (unsigned long long)got,
                              (unsigned long long)want);
            }
}
END_TEST

/* ---- long reductions ---- */

START_TEST(two_levels)
{
    static const struct {
        lz_shape s;
        lz_ints dims;
        lz_op op;
        lz_dtype d;
    } cases[] = {
        {{1, {20000}}, {1, {0}}, LZ_OP_ADD, LZ_F32},
        {{1, {16384}}, {1, {0}}, LZ_OP_MAXIMUM, LZ_F32},
        {{2, {200, 300}}, {2, {0, 1}}, LZ_OP_ADD, LZ_F64},
        {{2, {17000, 3}}, {1, {0}}, LZ_OP_ADD, LZ_F32},
        {{3, {2, 40, 900}}, {2, {1, 2}}, LZ_OP_MINIMUM, LZ_I32},
        {{2, {3, 33000}}, {1, {1}}, LZ_OP_ADD, LZ_BF16},
        {{2, {4, 50000}}, {2, {0, 1}}, LZ_OP_XOR, LZ_U32},
        {{4, {5, 3, 1100, 7}}, {3, {0, 2, 3}}, LZ_OP_MULTIPLY, LZ_I8},
        {{8, {2, 2, 2, 2, 2, 2, 2, 300}}, {8, {0, 1, 2, 3, 4, 5, 6, 7}}, LZ_OP_ADD, LZ_F32},
        {{2, {4100, 64}}, {1, {0}}, LZ_OP_ADD, LZ_F32},
        {{4, {4, 32, 30, 80}}, {3, {0, 1, 2}}, LZ_OP_MAXIMUM, LZ_F32},
        {{3, {64, 33, 130}}, {2, {1, 2}}, LZ_OP_ADD, LZ_BF16},
    };
    enum { FIRST_COLUMNS = 9 };
    if ((size_t)_i >= sizeof cases / sizeof *cases)
        return;
    lz_func *f = lz_func_new("sum"), *g = NULL;
    lz_val x = g_param(f, cases[_i].d, cases[_i].s), init = g_param(f, cases[_i].d, LZ_SCALAR);
    lz_val y = lz_build_reduce(f, cases[_i].op, x, init, &cases[_i].dims);
    lz_func_set_results(f, &y, 1);
    lz_literal **args;
    ck_assert_int_eq(lz_gen_args(f, 5, LZ_FILL_MODEST, &args), LZ_OK);
    bool columns = _i >= FIRST_COLUMNS;
    lz_lower_options o = {.column_reductions = columns};
    lz_status s = lz_passes_run(f, columns ? "pipeline" : "split_reductions", &o, &g);
    ck_assert_msg(s == LZ_OK, "%s", lz_error_get()->message);
    ck_assert(g->ninst > f->ninst);
    same_results(f, g, args, "split_reductions", _i);
    lz_func_free(g);
    ck_assert_int_eq(lz_passes_run(f, "split_reductions", NULL, &g), LZ_OK);
    ck_assert(!columns || g->ninst == f->ninst); /* these are cut for some backends only */
    lz_gen_args_free(f, args);
    lz_func_free(f);
    lz_func_free(g);
}
END_TEST

/* ---- memory that runs out ---- */

/* A product whose sum is cut. */
static lz_func *long_product(void)
{
    const char *text =
        "func.func public @main(%a: tensor<4096x16xf32>, %b: tensor<4096x17xf32>) -> "
        "tensor<16x17xf32> {\n"
        "%0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<4096x16xf32>, "
        "tensor<4096x17xf32>) -> tensor<16x17xf32>\nreturn %0 : tensor<16x17xf32> }";
    lz_func *f = NULL;
    ck_assert_int_eq(lz_func_parse(text, strlen(text), "product", &f), LZ_OK);
    return f;
}

START_TEST(failing_memory)
{
    lz_gen_options o = {.max_insts = 12};
    lz_func *f = _i ? long_product() : lz_gen_random(77, &o), *g = NULL;
    lz_lower_options lo = {.column_reductions = _i};
    ck_assert_int_eq(lz_passes_run(f, "pipeline", &lo, &g), LZ_OK);
    lz_func_free(g);
    for (int n = 1; n < 4000; n++) {
        int64_t live = lz_alloc_live_bytes_hint();
        lz_alloc_fail_at(n, false);
        lz_status s = lz_passes_run(f, "pipeline", &lo, &g);
        lz_alloc_fail_at(0, false);
        if (s == LZ_OK) {
            lz_func_free(g);
            ck_assert_int_eq(lz_alloc_live_bytes_hint(), live);
            lz_func_free(f);
            return;
        }
        ck_assert_int_eq(s, LZ_EMEM);
        ck_assert_ptr_null(g);
        ck_assert_int_eq(lz_alloc_live_bytes_hint(), live);
    }
    ck_abort_msg("never succeeds");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("passes");
    TCase *t = tcase_create("passes");
    tcase_set_timeout(t, 300);
    tcase_add_test(t, table);
    tcase_add_test(t, lists);
    tcase_add_test(t, switched_off);
    tcase_add_loop_test(t, each_pass_keeps_meaning, 0, NPASS);
    tcase_add_test(t, the_pipeline_keeps_meaning);
    tcase_add_loop_test(t, every_bit_is_kept, 0, 8);
    tcase_add_loop_test(t, two_levels, 0, 12);
    tcase_add_loop_test(t, failing_memory, 0, 2);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
