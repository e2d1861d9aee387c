/* d_loops.c - the compiler front against the reference: random functions and every row's cases, lowered and run by the slow executor.
 * Alone: a few hundred seeds. By hand, for longer runs and for one failing case (which is shrunk and printed):
 *     d_loops seeds <from> <count> [max_insts]     d_loops rows     d_loops seed <n> [max_insts] */
#include "lower/pass.h"
#include "lower/plan.h"
#include "suite.h"
#include "support/gen.h"
#include <stdio.h>
#include <string.h>

enum { QUICK_SEEDS = 120, SEEDS = 400 };

typedef struct given {
    uint64_t seed;
    lz_fill fill;
    char msg[512];
} given;

static const char *error(void)
{
    return lz_error_get()->message;
}

static lz_status run_plan(const lz_func *f, const lz_plan *p, lz_literal **args, lz_literal **got)
{
    const void *in[256];
    void *out[256];
    if (f->nparam > 256 || f->nresult > 256)
        return LZ_FAIL(LZ_ERANGE, "test: too many arguments");
    for (uint32_t i = 0; i < f->nparam; i++)
        in[i] = args[i]->data;
    for (uint32_t k = 0; k < f->nresult; k++) {
        got[k] = lz_literal_new(lz_val_type(f, f->results[k]));
        if (!got[k])
            return LZ_EMEM;
        memset(got[k]->data, 0xA5, got[k]->nbytes);     /* what is not written must show */
        out[k] = got[k]->data;
    }
    return lz_plan_run(p, in, out);
}

/* True when the lowered function answers as the reference does. */
static bool agrees(const lz_func *f, lz_literal **args, const lz_lower_options *o, char *msg, size_t nmsg)
{
    lz_expect *e = NULL;
    lz_plan *p = NULL;
    lz_literal *got[256] = {NULL};
    msg[0] = 0;
    if (lz_expect_new(f, args, 0, &e) != LZ_OK) {
        bool reject = lz_error_get()->status == LZ_EUNSUPPORTED;
        snprintf(msg, nmsg, "reference: %.300s", error());
        return reject;
    }
    bool ok = false;
    lz_status s = lz_lower(f, o, &p);
    if (s == LZ_OK)
        s = run_plan(f, p, args, got);
    if (s != LZ_OK)
        snprintf(msg, nmsg, "%s: %.400s", lz_status_name(s), error());
    else
        ok = lz_expect_met(e, got, msg, nmsg);
    for (uint32_t k = 0; k < f->nresult && k < 256; k++)
        lz_literal_release(got[k]);
    lz_plan_free(p);
    lz_expect_free(e);
    return ok;
}

/* What a sum rounds, and where it overflows, depends on its order: such functions get moderate values, and are left out where a later
 * operation looks at single bits, or where a 16-bit accumulator is rounded at every step. */
static bool sums(const lz_func *f, bool *comparable)
{
    bool sum = false, bits = false, narrow = false;
    for (uint32_t i = 0; i < f->ninst; i++) {
        const lz_sig *s = f->insts[i].sig;
        if (lz_op_get(s->op)->tol == LZ_TOL_SUM) {
            sum = true;
            for (uint32_t k = 0; k < s->nopnd && s->nresult > 1; k++)
                narrow |= s->opnd[k]->dtype == LZ_F16 || s->opnd[k]->dtype == LZ_BF16;
        }
        bits |= s->op == LZ_OP_BITCAST_CONVERT;
    }
    *comparable = !(sum && bits) && !narrow;
    return sum;
}

static bool agrees_on_seed(const lz_func *f, given *g)
{
    lz_literal **args = NULL;
    bool donate[256];
    for (uint32_t i = 0; i < 256; i++)
        donate[i] = (g->seed >> (i % 16)) & 1;
    lz_lower_options o = {.donate = g->seed % 3 == 0 ? donate : NULL};
    bool comparable;
    if (sums(f, &comparable))
        g->fill = LZ_FILL_MODEST;
    if (!comparable)
        return true;
    if (lz_gen_args(f, g->seed, g->fill, &args) != LZ_OK) {
        snprintf(g->msg, sizeof g->msg, "args: %.300s", error());
        return false;
    }
    bool ok = agrees(f, args, &o, g->msg, sizeof g->msg);
    lz_gen_args_free(f, args);
    return ok;
}

static bool still_fails(const lz_func *f, void *ctx)
{
    given g = *(given *)ctx;
    return !agrees_on_seed(f, &g);
}

static void show(const lz_func *f, given *g)
{
    lz_buf b = {0};
    printf("seed %llu fill %d: %s\n", (unsigned long long)g->seed, (int)g->fill, g->msg);
    lz_func *small = lz_gen_shrink(f, still_fails, g);
    if (small) {
        (void)agrees_on_seed(small, g);
        lz_func_print(small, &b, 0);
        printf("shrunk: %s\n%s\n", g->msg, lz_buf_str(&b));
    }
    lz_func_free(small);
    lz_buf_free(&b);
}

static bool seed_ok(uint64_t seed, int max_insts, bool verbose)
{
    lz_gen_options o = {.max_insts = max_insts};
    lz_func *f = lz_gen_random(seed, &o);
    if (!f) {
        printf("seed %llu: cannot generate: %s\n", (unsigned long long)seed, error());
        return false;
    }
    given g = {.seed = seed, .fill = seed % 5 == 0 ? LZ_FILL_WILD : LZ_FILL_MODEST};
    bool ok = agrees_on_seed(f, &g);
    if (!ok && verbose)
        show(f, &g);
    lz_func_free(f);
    return ok;
}

static int rows_of(lz_op op, int limit)
{
    int bad = 0;
    char msg[512];
    for (int i = 0; i < limit; i++) {
        lz_func *f;
        lz_literal **args;
        int r = lz_gen_row_cases(op, i, &f, &args);
        if (r < 0) {
            printf("%s case %d: cannot generate: %s\n", lz_op_get(op)->text, i, error());
            return bad + 1;
        }
        if (r == 0)
            break;
        bool comparable;
        if (sums(f, &comparable)) {
            lz_gen_args_free(f, args);
            if (lz_gen_args(f, (uint64_t)i, LZ_FILL_MODEST, &args) != LZ_OK)
                return bad + 1;
        }
        if (comparable && !agrees(f, args, NULL, msg, sizeof msg)) {
            lz_buf b = {0};
            lz_func_print(f, &b, LZ_PRINT_NO_LARGE);
            printf("%s case %d: %s\n%s\n", lz_op_get(op)->text, i, msg, lz_buf_str(&b));
            lz_buf_free(&b);
            bad++;
        }
        lz_gen_args_free(f, args);
        lz_func_free(f);
    }
    return bad;
}

START_TEST(random_functions)
{
    int n = getenv("LZ_TEST_QUICK") ? QUICK_SEEDS : SEEDS;
    for (int s = _i; s < n; s += 8)
        ck_assert_msg(seed_ok((uint64_t)s, 4 + s % 37, true), "seed %d", s);
}
END_TEST

START_TEST(rows)
{
    if (_i > LZ_OP_NONE && _i < LZ_OP_COUNT)
        ck_assert_int_eq(rows_of((lz_op)_i, getenv("LZ_TEST_QUICK") ? 40 : 100000), 0);
}
END_TEST

static int by_hand(int argc, char **argv)
{
    int bad = 0;
    if (strcmp(argv[1], "rows") == 0) {
        for (int op = 1; op < LZ_OP_COUNT; op++)
            if (argc < 3 || strcmp(argv[2], lz_op_get((lz_op)op)->text) == 0)
                bad += rows_of((lz_op)op, 1000000);
    } else if (argc > 2) {
        uint64_t from = strtoull(argv[2], NULL, 10), n = strcmp(argv[1], "seed") == 0 ? 1 : argc > 3 ? strtoull(argv[3], NULL, 10) : 1000;
        int size = strcmp(argv[1], "seed") == 0 ? (argc > 3 ? atoi(argv[3]) : 0) : argc > 4 ? atoi(argv[4]) : 0;
        for (uint64_t s = from; s < from + n && bad < 12; s++)
            bad += !seed_ok(s, size ? size : 4 + (int)(s % 37), true);
    }
    printf("%d failures\n", bad);
    return bad != 0;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return by_hand(argc, argv);
    Suite *s = suite_create("loops");
    TCase *t = tcase_create("reference against loop executor");
    tcase_set_timeout(t, 600);
    tcase_add_loop_test(t, random_functions, 0, 8);
    tcase_add_loop_test(t, rows, 1, LZ_OP_COUNT);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
