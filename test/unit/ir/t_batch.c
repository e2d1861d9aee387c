/* t_batch.c - a function of many examples gives what a loop over the examples gives: every row of
 * the table, and random functions with loops, branches and everything else, with every choice of
 * what is each example's own. */
#include "ir/batch/batch.h"
#include "suite.h"
#include "support/gen.h"
#include <stdio.h>
#include <string.h>

static char msg[512];
enum { MOST = 3, RESULTS = 256 };

/* One function, its arguments for each example, and which of them are each example's own. */
typedef struct trial {
    const lz_func *f;
    int64_t n;
    lz_literal **args[MOST]; /* of examples */
    bool mapped[RESULTS], out_mapped[RESULTS];
    lz_func *g;
    lz_literal *got[RESULTS];
} trial;

static lz_literal *slice(const lz_literal *l, const lz_type *t, int64_t i)
{
    return lz_literal_copy_from(t, (const char *)l->data + (size_t)i * t->nbytes);
}

static lz_literal *stack(const trial *t, uint32_t k)
{
    const lz_type *one = lz_val_type(t->f, k);
    lz_shape s = lz_batch_shape(t->n, &one->shape);
    lz_literal *l = lz_literal_new(lz_type_get(one->dtype, &s));
    for (int64_t i = 0; i < t->n; i++)
        memcpy((char *)l->data + (size_t)i * one->nbytes, t->args[i][k]->data, one->nbytes);
    return l;
}

/* false: f has a value of the most dimensions, and there is no place for the examples. */
static bool build(trial *t)
{
    const lz_func *f = t->f;
    lz_val v[RESULTS], out[RESULTS];
    bool flow[RESULTS];
    t->g = lz_func_new("many");
    for (uint32_t k = 0; k < f->nparam; k++) {
        const lz_type *one = lz_val_type(f, k);
        lz_shape s = lz_batch_shape(t->n, &one->shape);
        v[k] = lz_build_param(t->g, t->mapped[k] ? lz_type_get(one->dtype, &s) : one);
    }
    if (lz_batch_inline(t->g, f, t->n, v, t->mapped, out, t->out_mapped) != LZ_OK) {
        ck_assert_msg(lz_error_get()->status == LZ_ESHAPE, "%s", lz_error_get()->message);
        return false;
    }
    ck_assert_int_eq(lz_batch_flow(f, t->mapped, flow), LZ_OK);
    for (uint32_t k = 0; k < f->nresult; k++)
        ck_assert_int_eq(flow[k], t->out_mapped[k]);
    ck_assert_msg(lz_func_set_results(t->g, out, f->nresult) == LZ_OK, "%s",
                  lz_error_get()->message);
    ck_assert_msg(lz_func_verify(t->g) == LZ_OK, "%s", lz_error_get()->message);
    return true;
}

static void run(trial *t)
{
    lz_literal *args[RESULTS];
    for (uint32_t k = 0; k < t->f->nparam; k++) {
        args[k] = t->mapped[k] ? stack(t, k) : t->args[0][k];
        if (!t->mapped[k])
            lz_literal_retain(args[k]);
    }
    ck_assert_msg(lz_ref_run(t->g, args, t->got) == LZ_OK, "%s", lz_error_get()->message);
    for (uint32_t k = 0; k < t->f->nparam; k++)
        lz_literal_release(args[k]);
}

static void compare(const trial *t, int64_t i, const char *what)
{
    lz_literal *args[RESULTS], *one[RESULTS];
    lz_expect *e;
    for (uint32_t k = 0; k < t->f->nparam; k++)
        args[k] = t->args[t->mapped[k] ? i : 0][k];
    ck_assert_int_eq(lz_expect_new(t->f, args, 0, &e), LZ_OK);
    for (uint32_t k = 0; k < t->f->nresult; k++) {
        const lz_type *r = lz_val_type(t->f, t->f->results[k]);
        one[k] = slice(t->got[k], r, t->out_mapped[k] ? i : 0);
    }
    if (!lz_expect_met(e, one, msg, sizeof msg)) {
        lz_buf b = {0};
        lz_func_print(t->f, &b, 0);
        lz_func_print(t->g, &b, 0);
        ck_abort_msg("%s, example %d: %s\n%.*s", what, (int)i, msg, (int)b.len,
                     (const char *)b.data);
    }
    for (uint32_t k = 0; k < t->f->nresult; k++)
        lz_literal_release(one[k]);
    lz_expect_free(e);
}

/* Which parameters are each example's own follows from `seed`; at least one is. */
static bool try_function(const lz_func *f, lz_literal **first, uint64_t seed, const char *what)
{
    trial t = {.f = f, .n = (int64_t)(seed % 3) + 1};
    bool any = false;
    ck_assert(f->nparam < RESULTS && f->nresult < RESULTS);
    if (f->nparam == 0)
        return false;
    for (uint32_t k = 0; k < f->nparam; k++)
        any |= t.mapped[k] = (seed * 2654435761u >> (k % 16 + 4)) & 1;
    t.mapped[seed % f->nparam] |= !any;
    t.args[0] = first;
    for (int64_t i = 1; i < t.n; i++)
        ck_assert_int_eq(lz_gen_args(f, seed + 1000 * (uint64_t)i, LZ_FILL_MODEST, &t.args[i]),
                         LZ_OK);
    bool fits = build(&t);
    if (fits) {
        run(&t);
        for (int64_t i = 0; i < t.n; i++)
            compare(&t, i, what);
        for (uint32_t k = 0; k < f->nresult; k++)
            lz_literal_release(t.got[k]);
    }
    for (int64_t i = 1; i < t.n; i++)
        lz_gen_args_free(f, t.args[i]);
    lz_func_free(t.g);
    return fits;
}

/* Adds what was tried to *tried; false: the row has no such case. */
static bool try_case(lz_op op, int index, int *tried)
{
    lz_func *f;
    lz_literal **args;
    char what[64];
    int r = lz_gen_row_cases(op, index, &f, &args);
    ck_assert_msg(r >= 0, "%s", lz_error_get()->message);
    if (r == 0)
        return false;
    snprintf(what, sizeof what, "%s, case %d", lz_op_get(op)->text, index);
    if (lz_val_type(f, 0)->nelem < 500)
        for (uint64_t choice = 0; choice < 4; choice++)
            *tried += try_function(f, args, (uint64_t)index * 7 + choice * 5, what);
    lz_gen_args_free(f, args);
    lz_func_free(f);
    return true;
}

/* Cases in turn, and of the others as many as it takes to have tried some. */
START_TEST(every_row)
{
    enum { SOME = 9 };
    unsigned turns = lz_op_get((lz_op)_i)->cls == LZ_CLASS_EW ? 6 : lz_test_small() ? 5 : 3;
    int tried = 0;
    bool more = true;
    for (unsigned i = 0; more; i++)
        if (lz_test_in_turn(i, turns))
            more = try_case((lz_op)_i, (int)i, &tried);
    for (unsigned i = 0; !lz_test_whole() && tried < SOME; i++)
        if (!lz_test_in_turn(i, turns) && !try_case((lz_op)_i, (int)i, &tried))
            break;
    lz_op_class cls = lz_op_get((lz_op)_i)->cls;
    ck_assert(tried >= SOME || cls == LZ_CLASS_LEAF || cls == LZ_CLASS_COLLECTIVE ||
              _i == LZ_OP_RESULT);
}
END_TEST

START_TEST(random_functions)
{
    int n = lz_test_small() ? 20 : 100, tried = 0;
    for (int i = _i * n; i < (_i + 1) * n; i++) {
        lz_literal **args;
        char what[64];
        lz_func *f = lz_gen_random((uint64_t)i, NULL);
        snprintf(what, sizeof what, "seed %d", i);
        ck_assert(f != NULL);
        ck_assert_int_eq(lz_gen_args(f, (uint64_t)i, LZ_FILL_MODEST, &args), LZ_OK);
        tried += try_function(f, args, (uint64_t)i, what);
        lz_gen_args_free(f, args);
        lz_func_free(f);
    }
    ck_assert_int_gt(tried * 2, n);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("batch");
    TCase *t = tcase_create("rows");
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, every_row, 1, LZ_OP_COUNT);
    tcase_add_loop_test(t, random_functions, 0, 10);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
