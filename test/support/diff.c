/* diff.c - the driver of differential tests: what is compared, seeds, rows, the report of a failure
 * made small. */
#include "support/diff.h"
#include "suite.h"
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static const lz_diff_options *opt;
static int64_t compared, unstable; /* elements: a test that compares nothing should be noticed */

typedef struct given {
    uint64_t seed;
    lz_fill fill;
    char msg[512];
} given;

static const char *error(void)
{
    return lz_error_get()->message;
}

bool lz_diff_failed(const char *what, lz_diff_result *r)
{
    const lz_error *e = lz_error_get();
    snprintf(r->msg, sizeof r->msg, "%s: %s: %.400s", what, lz_status_name(e->status), e->message);
    return false;
}

bool lz_diff_same_bits(const lz_func *f, lz_literal *const *a, lz_literal *const *b,
                       const char *what, lz_diff_result *r)
{
    for (uint32_t k = 0; k < f->nresult; k++) {
        if (a[k] && b[k] && lz_literal_eq(a[k], b[k]))
            continue;
        int n = snprintf(r->msg, sizeof r->msg, "%s: result %u: ", what, k);
        int64_t i = 0;
        while (a[k] && b[k] && i < a[k]->type->nelem - 1 &&
               lz_test_get_bits(a[k], i) == lz_test_get_bits(b[k], i))
            i++;
        if (a[k] && b[k])
            lz_test_print_diff(b[k], a[k], i, r->msg + n, sizeof r->msg - (size_t)n);
        return false;
    }
    return true;
}

/* ---- one function on given arguments ---- */

static bool agrees(const lz_func *f, lz_literal **args, const bool *donate, char *msg, size_t nmsg)
{
    lz_expect *e = NULL;
    lz_diff_result r = {.msg = ""};
    msg[0] = 0;
    if (f->nresult > sizeof r.got / sizeof *r.got || f->nparam > sizeof r.got / sizeof *r.got)
        return true;
    if ((opt->late_quotients ? lz_expect_late_quotients(f, args, &e)
                             : lz_expect_new(f, args, 0, &e)) != LZ_OK) {
        bool reject = lz_error_get()->status == LZ_EUNSUPPORTED;
        snprintf(msg, nmsg, "reference: %.300s", error());
        return reject;
    }
    for (uint32_t k = 0; k < f->nresult; k++)
        compared += e->value[k]->type->nelem;
    unstable += lz_expect_unstable(e);
    r.want = e;
    bool ok = opt->way(f, args, donate, &r);
    if (ok)
        ok = lz_expect_met(e, r.got, msg, nmsg);
    else
        snprintf(msg, nmsg, "%s", r.msg);
    for (uint32_t k = 0; k < f->nresult; k++)
        lz_literal_release(r.got[k]);
    lz_expect_free(e);
    return ok;
}

/* ---- random functions ---- */

static bool agrees_on_seed(const lz_func *f, given *g)
{
    lz_literal **args = NULL;
    bool donate[256];
    for (uint32_t i = 0; i < 256; i++)
        donate[i] = (g->seed >> (i % 16)) & 1;
    g->fill = lz_gen_fill(f, g->fill, g->seed % 4 == 1);
    if (lz_gen_args(f, g->seed, g->fill, &args) != LZ_OK) {
        snprintf(g->msg, sizeof g->msg, "args: %.300s", error());
        return false;
    }
    bool ok = agrees(f, args, g->seed % 3 == 0 ? donate : NULL, g->msg, sizeof g->msg);
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
    fflush(stdout);
    lz_func *small = lz_gen_shrink(f, still_fails, g);
    if (small) {
        (void)agrees_on_seed(small, g);
        lz_func_print(small, &b, 0);
        printf("shrunk: %s\n%s\n", g->msg, lz_buf_str(&b));
    }
    lz_func_free(small);
    lz_buf_free(&b);
}

/* Sizes of functions and of their values change with the seed; one in nine has large values, for
 * what only then happens; one in seven may have complex numbers. */
static lz_gen_options options_of(uint64_t seed, int max_insts)
{
    bool large = seed % 9 == 8;
    return (lz_gen_options){.max_insts = max_insts ? max_insts : 4 + (int)(seed % 37),
                            .max_elems = large ? 20000 : 0,
                            .dtypes = seed % 7 == 6 ? ~UINT32_C(0) : 0};
}

enum { NET = -1 }; /* instead of a number of operations */

static bool seed_ok(uint64_t seed, int max_insts)
{
    lz_gen_options o = options_of(seed, max_insts);
    lz_func *f = max_insts == NET ? lz_gen_net(seed) : lz_gen_random(seed, &o);
    if (!f) {
        printf("seed %llu: cannot generate: %s\n", (unsigned long long)seed, error());
        return false;
    }
    given g = {.seed = seed, .fill = seed % 5 == 0 ? LZ_FILL_WILD : LZ_FILL_MODEST};
    bool ok = agrees_on_seed(f, &g);
    if (!ok)
        show(f, &g);
    lz_func_free(f);
    return ok;
}

/* ---- rows ---- */

/* False when the case fails. */
static bool row_case(lz_op op, int i, lz_func *f, lz_literal **args)
{
    char msg[512];
    bool ok = agrees(f, args, NULL, msg, sizeof msg);
    if (!ok) {
        lz_buf b = {0};
        lz_func_print(f, &b, LZ_PRINT_NO_LARGE);
        printf("%s case %d: %s\n%s\n", lz_op_get(op)->text, i, msg, lz_buf_str(&b));
        lz_buf_free(&b);
    }
    return ok;
}

/* The row's cases, every so many-th from one on; where it has not so many, one of those it has. */
static int rows_of(lz_op op, int first, int stride)
{
    int bad = 0, i = first;
    for (;; i += stride) {
        lz_func *f;
        lz_literal **args;
        int r = lz_gen_row_cases(op, i, &f, &args);
        if (r < 0)
            printf("%s case %d: cannot generate: %s\n", lz_op_get(op)->text, i, error());
        if (r <= 0)
            return i == first && i > 0 && r == 0 ? rows_of(op, i / 2, stride) : bad - r;
        bad += !row_case(op, i, f, args);
        lz_gen_args_free(f, args);
        lz_func_free(f);
    }
}

/* ---- what has gone wrong once: test/diff/cases ---- */

/* Every kind of arguments, some without and some with all of them given away: kinds in turn, one
 * for each file and run, but for the whole load. */
static int case_file(const char *path, size_t number)
{
    bool few = !lz_test_whole();
    int turn = 2 * (int)((number + lz_test_seed()) % LZ_FILL_INDEX);
    int bad = 0;
    bool all[256];
    char msg[512];
    memset(all, true, sizeof all);
    lz_func *f = lz_test_program(path);
    if (!f) {
        printf("%s: %s\n", path, error());
        return 1;
    }
    for (int i = few ? turn : 0; i < (few ? turn + 2 : 2 * LZ_FILL_INDEX); i++) {
        lz_literal **args;
        lz_fill fill = lz_gen_fill(f, (lz_fill)(i / 2), i % 4 == 1);
        bool ok = lz_gen_args(f, (uint64_t)i, fill, &args) == LZ_OK;
        ok = ok && agrees(f, args, i % 2 ? all : NULL, msg, sizeof msg);
        if (!ok)
            printf("%s, arguments %d: %s\n", path, i, msg);
        bad += !ok;
        lz_gen_args_free(f, args);
    }
    lz_func_free(f);
    return bad;
}

/* Every so many-th file, from one on, and of those one in `of` by turns. */
static int case_files(const char *pattern, size_t from, size_t step, unsigned of)
{
    int bad = 0;
    glob_t g = {0};
    if (glob(pattern, 0, NULL, &g) != 0 || g.gl_pathc == 0)
        printf("no %s\n", pattern), bad = 1;
    for (size_t i = from; i < g.gl_pathc; i += step)
        if (lz_test_in_turn((unsigned)(i / step), of))
            bad += case_file(g.gl_pathv[i], i);
    globfree(&g);
    return bad;
}

/* ---- as a test ---- */

enum { SHARDS = 8 };

static bool quick(void)
{
    return opt->one_thread ? lz_test_quick_alone() : getenv("LZ_TEST_QUICK") != NULL;
}

/* Of `whole` seeds those of this run, as many as its load: shard _i of them from *first on. */
static int load(int few, int normal, int whole, int *first)
{
    int n = quick() ? few : lz_test_whole() ? whole : normal;
    *first = n < whole ? (int)((uint64_t)lz_test_seed() * (uint64_t)n % (uint64_t)whole) : 0;
    return n;
}

static int seeds_of(int shard, int first, int n, int whole, int max_insts)
{
    int bad = 0;
    for (int s = shard; s < n; s += SHARDS)
        bad += !seed_ok((uint64_t)((first + s) % whole), max_insts);
    return bad;
}

START_TEST(random_functions)
{
    const char *more = getenv("LZ_TEST_SEEDS");
    int first, n = load(opt->quick_seeds, opt->seeds, opt->whole_seeds, &first);
    int bad = more ? seeds_of(_i, 0, atoi(more), INT_MAX, 0)
                   : seeds_of(_i, first, n, opt->whole_seeds, 0);
    ck_assert_msg(bad == 0, "%d functions", bad);
}
END_TEST

START_TEST(networks)
{
    int first, n = load(opt->quick_nets, opt->nets, opt->whole_nets, &first);
    int bad = seeds_of(_i, first, n, opt->whole_nets, NET);
    ck_assert_msg(bad == 0, "%d functions", bad);
}
END_TEST

START_TEST(rows)
{
    int stride = quick() ? opt->quick_stride : lz_test_whole() ? opt->whole_stride : opt->stride;
    int first = (int)(((unsigned)_i + lz_test_seed()) % (unsigned)stride);
    if (_i > LZ_OP_NONE && _i < LZ_OP_COUNT)
        ck_assert_int_eq(rows_of((lz_op)_i, first, stride), 0);
}
END_TEST

START_TEST(cases)
{
    unsigned every = opt->case_stride ? opt->case_stride : 1, less = quick() ? 2 : 1;
    ck_assert_int_eq(case_files("test/diff/cases/*.mlir", (size_t)_i, SHARDS, every * less), 0);
    if (opt->cases)
        ck_assert_int_eq(case_files(opt->cases, (size_t)_i, SHARDS, (every + 1) / 2 * less), 0);
}
END_TEST

/* ---- by hand ---- */

static int usage(const char *program)
{
    static const char *const ways[] = {
        "                                  as a test; LZ_TEST_SEEDS=N: so many random functions",
        " seeds FROM COUNT [MAX_INSTS]     random functions; failing ones are made small",
        " nets FROM COUNT                  random networks",
        " rows [OP [CASE]]                 every case of every row, of one row, or one case",
        " cases [PATTERN]                  functions in files; test/diff/cases/*.mlir"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        printf("%s%s\n", program, ways[i]);
    return 2;
}

static int one_case(lz_op op, int i)
{
    lz_func *f;
    lz_literal **args;
    if (lz_gen_row_cases(op, i, &f, &args) <= 0)
        return 1;
    bool ok = row_case(op, i, f, args);
    lz_gen_args_free(f, args);
    lz_func_free(f);
    return !ok;
}

static int by_hand(int argc, char **argv)
{
    enum { ENOUGH = 12 };
    int bad = 0;
    setenv("LZ_TEST_WHOLE", "1", 0);
    if (strcmp(argv[1], "rows") == 0) {
        for (int op = 1; op < LZ_OP_COUNT; op++) {
            if (argc > 2 && strcmp(argv[2], lz_op_get((lz_op)op)->text) != 0)
                continue;
            bad += argc > 3 ? one_case((lz_op)op, atoi(argv[3])) : rows_of((lz_op)op, 0, 1);
        }
    } else if ((strcmp(argv[1], "seeds") == 0 || strcmp(argv[1], "nets") == 0) && argc > 3) {
        int insts = argv[1][0] == 'n' ? NET : argc > 4 ? atoi(argv[4]) : 0;
        uint64_t from = strtoull(argv[2], NULL, 10), n = strtoull(argv[3], NULL, 10);
        for (uint64_t s = from; s < from + n && bad < ENOUGH; s++)
            bad += !seed_ok(s, insts);
    } else if (strcmp(argv[1], "cases") == 0) {
        bad = case_files(argc > 2 ? argv[2] : "test/diff/cases/*.mlir", 0, 1, 1);
    } else {
        return usage(argv[0]);
    }
    printf("%d failures; %lld elements, of which %lld may be anything\n", bad, (long long)compared,
           (long long)unstable);
    return bad != 0;
}

int lz_diff_main(const lz_diff_options *o, int argc, char **argv)
{
    opt = o;
    if (argc > 1)
        return by_hand(argc, argv);
    Suite *s = suite_create(o->name);
    TCase *t = tcase_create("against the reference");
    tcase_set_timeout(t, 600);
    tcase_add_loop_test(t, cases, 0, SHARDS);
    tcase_add_loop_test(t, random_functions, 0, SHARDS);
    tcase_add_loop_test(t, networks, 0, SHARDS);
    tcase_add_loop_test(t, rows, 1, LZ_OP_COUNT);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
