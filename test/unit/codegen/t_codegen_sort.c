/* t_codegen_sort.c - generated code of sorts: rows of every length next to memory that cannot be
 * touched, compared with the slow executor; comparators that contradict themselves; long rows. */
#include "jit_util.h"
#include <math.h>

/* Sorts x[i][:] of dtype D by comparator ops; writes the values and where they were, the first
 * `keep` of them. n columns, 3 rows, walked along columns. */
static lz_kernel *make_top(const char *dtype, const char *body, int64_t n, int64_t keep,
                           bool columns)
{
    char t[2048];
    long long row = columns ? 1 : n, col = columns ? 3 : 1, kept = columns ? 1 : keep;
    snprintf(
        t, sizeof t,
        "kernel \"s\" {\n  buf 0: %s read\n  buf 1: %s write\n  buf 2: i32 write\n  outer [3]\n"
        "  stage 0 inner [%lld] {\n    %%0: %s = load 0 = 0[0 + %lld i0 + %lld i1]\n"
        "    %%1: i64 = index 1\n    %%2: i32 = convert %%1\n"
        "    sort %s%%0, %%2 {\n      %%0: %s = elt 0\n      %%1: %s = elt 1\n"
        "      %%2: i32 = elt 2\n      %%3: i32 = elt 3\n%s\n    }\n  }\n"
        "  stage 1 inner [%lld] {\n    %%0: %s = sorted 0.0\n    %%1: i32 = sorted 0.1\n"
        "    store 1[0 + %lld i0 + %lld i1] = %%0\n    store 2[0 + %lld i0 + %lld i1] = %%1\n"
        "  }\n}\n",
        dtype, dtype, (long long)n, dtype, row, col, keep < n ? "partial " : "", dtype, dtype, body,
        (long long)keep, dtype, kept, col, kept, col);
    lz_kernel *k = NULL;
    ck_assert_msg(lz_kernel_parse(t, strlen(t), &k) == LZ_OK, "%s\n%s", lz_error_get()->message, t);
    return k;
}

static lz_kernel *make(const char *dtype, const char *body, int64_t n, bool columns)
{
    return make_top(dtype, body, n, n, columns);
}

static const char less_total[] =
    "      %4: bool = compare %0, %1 {comparison_direction = LT, compare_type = TOTALORDER}\n"
    "      out %4";
static const char greater_signed[] =
    "      %4: bool = compare %0, %1 {comparison_direction = GT, compare_type = SIGNED}\n"
    "      out %4";
static const char less_or_equal[] =
    "      %4: bool = compare %0, %1 {comparison_direction = LE, compare_type = FLOAT}\n"
    "      out %4";
static const char always[] = "      %4: bool = const 0x1\n      out %4";
/* larger first of a product of the places: no order at all */
static const char nonsense[] =
    "      %4: i32 = multiply %2, %3\n      %5: i32 = const 0x55\n      %6: i32 = and %4, %5\n"
    "      %7: i32 = const 0x15\n"
    "      %8: bool = compare %6, %7 {comparison_direction = LT, compare_type = SIGNED}\n"
    "      out %8";

/* a function of the right element first; both zeros are one */
static const char canonical[] =
    "      %4: f32 = const 0x0\n"
    "      %5: bool = compare %1, %4 {comparison_direction = EQ, compare_type = FLOAT}\n"
    "      %6: f32 = select %5, %4, %1\n"
    "      %7: bool = compare %0, %4 {comparison_direction = EQ, compare_type = FLOAT}\n"
    "      %8: f32 = select %7, %4, %0\n"
    "      %9: bool = compare %6, %8 {comparison_direction = LT, compare_type = TOTALORDER}\n"
    "      out %9";
static const char greater_bool[] =
    "      %4: bool = compare %0, %1 {comparison_direction = GT, compare_type = UNSIGNED}\n"
    "      out %4";
/* not the same function on both sides */
static const char lopsided[] =
    "      %4: i32 = const 0x1\n      %5: i32 = or %0, %4\n"
    "      %6: bool = compare %5, %1 {comparison_direction = LT, compare_type = SIGNED}\n"
    "      out %6";
/* by the other row */
static const char by_place[] =
    "      %4: bool = compare %2, %3 {comparison_direction = GT, compare_type = SIGNED}\n"
    "      out %4";

static const struct {
    const char *dtype, *body;
    size_t esize;
    bool ordered;
} kinds[] = {
    {"f32", less_total, 4, true},    {"bf16", less_total, 2, true},
    {"i8", greater_signed, 1, true}, {"i64", greater_signed, 8, true},
    {"f64", less_total, 8, true},    {"f32", less_or_equal, 4, false},
    {"i32", always, 4, false},       {"f16", nonsense, 2, false},
    {"f32", canonical, 4, true},     {"i32", lopsided, 4, false},
    {"c64", by_place, 8, true},      {"u16", by_place, 2, true},
    {"bool", greater_bool, 1, true},
};
enum { KINDS = (int)(sizeof kinds / sizeof *kinds) };

/* Every place of every row occurs once, with the value it had. */
static void check_permutation(const char *x, const char *y, const int32_t *at, int64_t n,
                              size_t esize, bool columns)
{
    bool *seen = calloc((size_t)n + 1, 1);
    for (int64_t r = 0; r < 3; r++) {
        memset(seen, 0, (size_t)n);
        for (int64_t i = 0; i < n; i++) {
            int64_t row = columns ? 1 : n, col = columns ? 3 : 1, p = r * row + i * col;
            bool fresh = at[p] >= 0 && at[p] < n && !seen[at[p]];
            if (!fresh || memcmp(y + (size_t)p * esize, x + (size_t)(r * row + at[p] * col) * esize,
                                 esize) != 0)
                ck_abort_msg("row %lld, place %lld: from %d", (long long)r, (long long)i, at[p]);
            seen[at[p]] = true;
        }
    }
    free(seen);
}

START_TEST(rows_of_every_length)
{
    static const int64_t lengths[] = {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 64, 100, 257, 1000};
    const size_t es = kinds[_i].esize;
    for (int columns = 0; columns < 2; columns++) {
        jit j = {0};
        lz_hash compiled = {0, 0};
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            int64_t n = lengths[l];
            lz_kernel *k = make(kinds[_i].dtype, kinds[_i].body, n, columns);
            if (!lz_hash_eq(k->hash, compiled)) { /* long rows are one kernel */
                if (j.run)
                    jit_free(&j);
                j = jit_new(k);
                compiled = k->hash;
            }
            size_t nx = (size_t)(3 * n) * es, na = (size_t)(3 * n) * 4;
            guarded x = guarded_new(nx, 0), y = guarded_new(nx, 0), at = guarded_new(na, 0);
            char *want = malloc(nx + 1);
            int32_t *want_at = malloc(na + 1);
            for (size_t i = 0; i < nx; i++) /* few different values: many ties */
                x.p[i] = (char)(i % es == es - 1 && es > 1 ? rnd64() % 5 * 63 : rnd64() % 2);
            jit_run(&j, (void *[]){x.p, y.p, at.p}, k->args, 1, true);
            check_permutation(x.p, y.p, (int32_t *)(void *)at.p, n, es, columns);
            must(lz_loop_run(k, (void *[]){x.p, want, want_at}, (size_t[]){nx, nx, na}));
            check_permutation(x.p, want, want_at, n, es, columns);
            if (kinds[_i].ordered) /* then there is one stable order */
                ck_assert(memcmp(want, y.p, nx) == 0 && memcmp(want_at, at.p, na) == 0);
            free(want);
            free(want_at);
            guarded_free(&x);
            guarded_free(&y);
            guarded_free(&at);
            lz_kernel_free(k);
        }
        jit_free(&j);
    }
}
END_TEST

/* Of n values of `es` bytes: all random, or few different ones and many ties, or in order. */
static void fill(char *x, int64_t n, size_t es, int how)
{
    for (size_t i = 0; i < (size_t)n * es; i++)
        if (how == 0)
            x[i] = (char)rnd64();
        else if (how == 1)
            x[i] = (char)(i % es == es - 1 && es > 1 ? rnd64() % 5 * 63 : rnd64() % 2);
        else
            x[i] = (char)((i / es) >> 8 * (i % es) & (es > 1 && i % es == es - 1 ? 0x3f : 0xff));
}

/* A partial sort gives what the slow executor's whole one does, whose first positions are read. */
START_TEST(first_positions)
{
    static const int64_t lengths[] = {5, 40, 64, 100, 257, 1000, 3001}, keeps[] = {1, 2, 60, -1};
    const size_t es = kinds[_i].esize;
    bool flags = strcmp(kinds[_i].dtype, "bool") == 0;
    jit j = {0};
    lz_hash compiled = {0, 0};
    for (size_t c = 0; c < 2 * sizeof keeps / sizeof *keeps; c++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            int64_t n = lengths[l], keep = keeps[c / 2] < 0 ? n - 1 : keeps[c / 2];
            if (keep >= n)
                continue;
            lz_kernel *k = make_top(kinds[_i].dtype, kinds[_i].body, n, keep, c % 2);
            ck_assert(k->stages[0].sort->partial);
            if (!lz_hash_eq(k->hash, compiled)) {
                if (j.run)
                    jit_free(&j);
                j = jit_new(k);
                compiled = k->hash;
            }
            size_t nx = (size_t)(3 * n) * es, ny = (size_t)(3 * keep) * es;
            size_t na = (size_t)(3 * keep) * 4;
            guarded x = guarded_new(nx, 0), y = guarded_new(ny, 0), at = guarded_new(na, 0);
            char *want = malloc(ny);
            int32_t *want_at = malloc(na);
            for (int how = flags ? 1 : 0; how < (flags ? 2 : 3); how++) {
                fill(x.p, 3 * n, es, how);
                jit_run(&j, (void *[]){x.p, y.p, at.p}, k->args, 1, true);
                must(lz_loop_run(k, (void *[]){x.p, want, want_at}, (size_t[]){nx, ny, na}));
                if (kinds[_i].ordered && (memcmp(want, y.p, ny) || memcmp(want_at, at.p, na)))
                    ck_abort_msg("%d of %d, data %d", (int)keep, (int)n, how);
            }
            free(want);
            free(want_at);
            guarded_free(&x);
            guarded_free(&y);
            guarded_free(&at);
            lz_kernel_free(k);
        }
    jit_free(&j);
}
END_TEST

START_TEST(long_rows)
{
    const int64_t n = getenv("LZ_TEST_QUICK") ? 50000 : 1000003;
    lz_kernel *k = make("f32", less_total, n, false);
    jit j = jit_new(k);
    float *x = malloc((size_t)n * 12), *y = malloc((size_t)n * 12);
    int32_t *at = malloc((size_t)n * 12);
    for (int64_t i = 0; i < 3 * n; i++)
        x[i] = i < n ? (float)rnd_unit() : i < 2 * n ? (float)(rnd64() % 100) : (float)(i % 1000);
    jit_run(&j, (void *[]){x, y, at}, k->args, 2, false);
    check_permutation((char *)x, (char *)y, at, n, 4, false);
    for (int64_t i = 1; i < 3 * n; i++)
        if (i % n && !(y[i - 1] < y[i] || (y[i - 1] == y[i] && at[i - 1] < at[i])))
            ck_abort_msg("place %lld is out of order", (long long)i);
    free(x);
    free(y);
    free(at);
    jit_free(&j);
    lz_kernel_free(k);
}
END_TEST

START_TEST(verifier_refuses)
{
    for (int i = 0; i < 14; i++) {
        lz_kernel *k = make("f32", less_total, 20, false);
        lz_sort *s = k->stages[0].sort;
        lz_sop *read = &k->stages[1].sops[0];
        switch (i) {
        case 0:
            s->nrow = 0;
            break;
        case 1:
            s->nrow = LZ_SORT_MAX + 1;
            break;
        case 2:
            s->value[1] = 99;
            break;
        case 3:
            s->less = 3;
            break;
        case 4:
            s->less = 40;
            break;
        case 5:
            s->body[0].a = 4;
            break;
        case 6:
            s->body[0].a = 2;
            break;
        case 7:
            s->body[0].kind = LZ_S_ACC;
            break;
        case 8:
            read->a = 1;
            break;
        case 9:
            read->b = 2;
            break;
        case 10:
            k->stages[1].extent[0].v = 21;
            break;
        case 11:
            k->stages[1].extent[0].v = 19; /* the whole row has been sorted, and is not read */
            break;
        case 12:
            k->stages[1].extent[0].v = 21;
            s->partial = true;
            break;
        default:
            k->vec = LZ_VEC_INNER;
            break;
        }
        ck_assert_msg(lz_kernel_verify(k) == LZ_EINTERNAL, "case %d", i);
        lz_kernel_free(k);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("codegen_sort");
    TCase *t = tcase_create("sort");
    tcase_add_loop_test(t, rows_of_every_length, 0, KINDS);
    tcase_add_loop_test(t, first_positions, 0, KINDS);
    tcase_add_test(t, long_rows);
    tcase_add_test(t, verifier_refuses);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
