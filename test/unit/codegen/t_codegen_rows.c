/* t_codegen_rows.c - kernels that keep rows: sizes around tiles, blocks and vectors, factors in
 * every layout, special values, against the slow executor. Units run in pieces and backwards with
 * the same bits. Every buffer ends at a guard page. */
#include "base/config.h"
#include "jit_util.h"
#include "../lower/kernels.h"
#include <math.h>

static const int64_t sizes[] = {0,  1,  2,  5,  6,  15, 16, 17, 23, 24,
                                25, 31, 33, 47, 48, 49, 64, 80, 97, 100};
enum { NS = sizeof sizes / sizeof *sizes, NBUF = 8 };

static void fill_rows(lz_dtype d, char *p, int64_t n, bool special)
{
    static const double odd[] = {0, -0.0, INFINITY, -INFINITY, NAN, 1e-42};
    for (int64_t i = 0; i < n; i++) {
        bool now = special && rnd64() % 97 == 0;
        lz_elem_set_f64(d, p, i, now ? odd[rnd64() % 6] : rnd_unit());
    }
}

static bool close_to(double a, double b, double slack)
{
    if (isnan(a) || isnan(b) || isinf(a) || isinf(b))
        return (isnan(a) && isnan(b)) || a == b;
    return fabs(a - b) <= slack + 1e-5 * fabs(b);
}

/* The kernel on random data, compiled and as it is; extents of its buffers in elements. */
static void check(lz_kernel *k, const int64_t *total, bool special, double slack)
{
    guarded g[NBUF], want[NBUF];
    void *p[NBUF], *q[NBUF];
    size_t nbytes[NBUF];
    for (uint32_t i = 0; i < k->nbuf; i++) {
        nbytes[i] = (size_t)total[i] * lz_dtype_size(k->buf[i].dtype);
        g[i] = guarded_new(nbytes[i], 0);
        want[i] = guarded_new(k->buf[i].written ? nbytes[i] : 0, 0);
        fill_rows(k->buf[i].dtype, g[i].p, total[i], special && !k->buf[i].written);
        if (k->buf[i].written)
            memcpy(want[i].p, g[i].p, nbytes[i]);
        p[i] = g[i].p;
        q[i] = k->buf[i].written ? want[i].p : g[i].p;
    }
    must(lz_loop_run(k, q, nbytes));
    jit j = jit_new(k);
    jit_run(&j, p, k->args, 1, true);
    for (uint32_t i = 0; i < k->nbuf; i++)
        for (int64_t e = 0; k->buf[i].written && e < total[i]; e++) {
            double a = lz_elem_get_f64(k->buf[i].dtype, g[i].p, e),
                   b = lz_elem_get_f64(k->buf[i].dtype, want[i].p, e);
            ck_assert_msg(close_to(a, b, slack), "%s, buffer %u, element %d: %g, not %g", k->name,
                          i, (int)e, a, b);
        }
    jit_free(&j);
    for (uint32_t i = 0; i < k->nbuf; i++) {
        guarded_free(&g[i]);
        guarded_free(&want[i]);
    }
    lz_kernel_free(k);
}

/* The kernel of kernels.h; it has room for 100 of each. */
START_TEST(attention)
{
    static const int64_t total[] = {3 * 2000, 3 * 2000, 3 * 1700, 3 * 1700, 300};
    for (int r = 0; r < NS; r++)
        if (lz_test_in_turn((unsigned)(r + _i), lz_test_small() ? 4 : 1))
            check(k_make(k_attend, sizes[r], sizes[(r * 7 + _i) % NS]), total, r & 1,
                  1.0 / 256); /* a probability may round to the next bf16 */
}
END_TEST

/* Scores of i and j from left factors stored [k, i] or [i, k] and right ones [k, j] or [j, k],
 * twice: x y and u v; out = (e w), e = tanh(x y) (u v), and the row itself is stored, too. */
static const char two_products[] =
    "kernel \"two\" vec(inner) {\n"
    "  buf 0: $T read\n  buf 1: $T read\n  buf 2: $T read\n  buf 3: $A write\n  buf 4: $A write\n"
    "  outer [2, $I]\n"
    "  stage 0 inner [$J, $K] keep {\n"
    "    %0: $T = load 0 = 0[0 + 10000 i0 + $P i1 + $Q i3]\n"
    "    %1: $T = load 1 = 1[0 + 10000 i0 + $R i2 + $S i3]\n"
    "    %2: $A = convert %0\n    %3: $A = convert %1\n"
    "    %4: $A = multiply %2, %3\n"
    "    %5: $A = const 0x0\n"
    "    reduce add $A %4 init %5\n"
    "  }\n"
    "  stage 1 inner [$J, $K] keep {\n"
    "    %0: $T = load 0 = 1[0 + 10000 i0 + $R i2 + $S i3]\n"
    "    %1: $T = load 1 = 0[0 + 10000 i0 + $P i1 + $Q i3]\n"
    "    %2: $A = convert %0\n    %3: $A = convert %1\n"
    "    %4: $A = negate %3\n"
    "    %5: $A = multiply %4, %2\n"
    "    %6: $A = const 0x0\n"
    "    reduce add $A %5 init %6\n"
    "  }\n"
    "  stage 2 inner [$J] {\n"
    "    %0: $A = row 0.0\n"
    "    %1: $A = row 1.0\n"
    "    %2: $A = tanh %0\n"
    "    %3: $A = multiply %2, %1\n"
    "    %4: $A = const 0x0\n"
    "    reduce add $A %1 init %4\n"
    "    row %3, %0\n"
    "    store 3[0 + 10000 i0 + 100 i1 + 1 i2] = %3\n"
    "  }\n"
    "  stage 3 inner [$K, $J] keep {\n"
    "    %0: $A = row 2.0\n"
    "    %1: $T = load 0 = 2[0 + 10000 i0 + $V i2 + $W i3]\n"
    "    %2: $A = convert %1\n"
    "    %3: $A = multiply %0, %2\n"
    "    %4: $A = const 0x0\n"
    "    reduce add $A %3 init %4\n"
    "  }\n"
    "  stage 4 inner [$J] {\n"
    "    %0: $A = row 2.1\n"
    "    %1: $A = const 0x0\n"
    "    reduce maximum $A %0 init %1\n"
    "  }\n"
    "  stage 5 inner [$K] {\n"
    "    %0: $A = row 3.0\n"
    "    %1: $A = red 2.0\n"
    "    %2: $A = red 4.0\n"
    "    %3: $A = subtract %0, %1\n"
    "    %4: $A = add %3, %2\n"
    "    store 4[0 + 10000 i0 + 100 i1 + 1 i2] = %4\n"
    "  }\n}\n";

static void put(char **p, const char *s)
{
    size_t n = strlen(s);
    memcpy(*p, s, n);
    *p += n;
}

/* The text with each $ and letter replaced. */
static char *filled(const char *t, const char *from, const char *const *to)
{
    char *out = malloc(strlen(t) * 6 + 1), *p = out;
    for (; *t; t++) {
        const char *at = *t == '$' ? strchr(from, t[1]) : NULL;
        if (at && t[1]) {
            put(&p, to[at - from]);
            t++;
        } else {
            *p++ = *t;
        }
    }
    *p = '\0';
    return out;
}

START_TEST(layouts)
{
    static const int64_t total[] = {20000, 20000, 20000, 20000, 20000};
    static const char *const types[][2] = {
        {"f32", "f32"}, {"f64", "f64"}, {"bf16", "f32"}, {"f16", "f32"}};
    const char *one = "1", *row = "100";
    bool a = _i & 1, b = _i & 2, c = _i & 4;
    unsigned few = lz_test_whole() ? 16 : lz_test_small() ? 2 : 6;
    for (unsigned j = 0; j < few; j++) {
        unsigned trial = lz_test_trial(j, few, 16);
        rnd_series(trial);
        char n[3][8];
        for (int i = 0; i < 3; i++)
            snprintf(n[i], sizeof n[i], "%d", (int)sizes[rnd64() % NS]);
        char *t = filled(two_products, "TAIJKPQRSVW",
                         (const char *const[]){types[trial & 3][0], types[trial & 3][1], n[0], n[1],
                                               n[2], a ? one : row, a ? row : one, b ? one : row,
                                               b ? row : one, c ? one : row, c ? row : one});
        lz_kernel *k = NULL;
        ck_assert_msg(lz_kernel_parse(t, strlen(t), &k) == LZ_OK, "%s\n%s", lz_error_get()->message,
                      t);
        check(k, total, false, 2e-4);
        free(t);
    }
}
END_TEST

/* Rows without products: softmax and the like, of a value that is stored, too. */
static const char no_products[] = "kernel \"rows\" vec(inner) {\n"
                                  "  buf 0: $T read\n  buf 1: $A write\n  buf 2: $A write\n"
                                  "  outer [2, $I]\n"
                                  "  stage 0 inner [$J] {\n"
                                  "    %0: $T = load 0 = 0[0 + 10000 i0 + 100 i1 + 1 i2]\n"
                                  "    %1: $A = convert %0\n"
                                  "    %2: $A = const 0x0\n"
                                  "    reduce maximum $A %1 init %2\n"
                                  "  }\n"
                                  "  stage 1 inner [$J] {\n"
                                  "    %0: $T = load 0 = 0[0 + 10000 i0 + 100 i1 + 1 i2]\n"
                                  "    %1: $A = convert %0\n"
                                  "    %2: $A = red 0.0\n"
                                  "    %3: $A = subtract %1, %2\n"
                                  "    %4: $A = exponential %3\n"
                                  "    %5: $A = tanh %1\n"
                                  "    %6: $A = const 0x0\n"
                                  "    reduce add $A %4 init %6\n"
                                  "    row %4, %5\n"
                                  "    store 1[0 + 10000 i0 + 100 i1 + 1 i2] = %5\n"
                                  "  }\n"
                                  "  stage 2 inner [$J] {\n"
                                  "    %0: $A = row 1.0\n"
                                  "    %1: $A = row 1.1\n"
                                  "    %2: $A = red 1.0\n"
                                  "    %3: $A = divide %0, %2\n"
                                  "    %4: $A = add %3, %1\n"
                                  "    store 2[0 + 10000 i0 + 100 i1 + 1 i2] = %4\n"
                                  "  }\n}\n";

static lz_kernel *without_products(const char *type, const char *acc, int64_t rows, int64_t row)
{
    char n[2][8];
    snprintf(n[0], sizeof n[0], "%d", (int)rows);
    snprintf(n[1], sizeof n[1], "%d", (int)row);
    char *t = filled(no_products, "TAIJ", (const char *const[]){type, acc, n[0], n[1]});
    lz_kernel *k = NULL;
    ck_assert_msg(lz_kernel_parse(t, strlen(t), &k) == LZ_OK, "%s\n%s", lz_error_get()->message, t);
    free(t);
    return k;
}

START_TEST(rows_alone)
{
    static const int64_t total[] = {20000, 20000, 20000};
    static const char *const types[][2] = {
        {"f32", "f32"}, {"f64", "f64"}, {"bf16", "f32"}, {"f16", "f32"}};
    for (int r = 0; r < NS; r++)
        if (lz_test_in_turn((unsigned)(r + _i), lz_test_small() ? 4 : 1))
            check(without_products(types[_i][0], types[_i][1], sizes[(r * 7 + 3) % NS], sizes[r]),
                  total, r & 1, 2e-4);
}
END_TEST

/* While one row is computed with, the next one comes; the row that is kept does not go to
 * memory. */
START_TEST(the_next_row_is_fetched)
{
    ck_assert_int_eq(lz_config_set("LAZULI_VARIANTS", NULL), LZ_OK); /* this is about them */
    lz_kernel *k = without_products("f32", "f32", 50, 100);
    jit j = jit_new(k);
    ck_assert(strstr(lz_buf_str(&j.ll), "llvm.prefetch"));
    jit_free(&j);
    lz_kernel_free(k);
}
END_TEST

/* The same kernel with other arguments. */
START_TEST(other_sizes)
{
    lz_kernel *a = k_make(k_attend, 100, 90), *b = k_make(k_attend, 30, 40);
    ck_assert_uint_eq(a->nencoding, b->nencoding);
    ck_assert(memcmp(a->encoding, b->encoding, a->nencoding) == 0);
    lz_kernel_free(a);
    lz_kernel_free(b);
}
END_TEST

/* Attention of heads of $H, whose values lie in rows $S apart: where one panel is a head, and the
 * results are the sums. */
static const char heads[] = "kernel \"heads\" vec(inner) {\n"
                            "  buf 0: f32 read\n  buf 1: f32 read\n  buf 2: f32 read\n"
                            "  buf 3: f32 write\n"
                            "  outer [2, $R]\n"
                            "  stage 0 inner [$C, 24] keep {\n"
                            "    %0: f32 = load 0 = 0[0 + 2400 i0 + 24 i1 + 1 i3]\n"
                            "    %1: f32 = load 1 = 1[0 + 2400 i0 + 24 i2 + 1 i3]\n"
                            "    %2: f32 = multiply %0, %1\n"
                            "    %3: f32 = const 0x0\n"
                            "    reduce add f32 %2 init %3\n"
                            "  }\n"
                            "  stage 1 inner [$C] {\n"
                            "    %0: f32 = row 0.0\n"
                            "    %1: f32 = const 0xff800000\n"
                            "    reduce maximum f32 %0 init %1\n"
                            "  }\n"
                            "  stage 2 inner [$C] {\n"
                            "    %0: f32 = row 0.0\n"
                            "    %1: f32 = red 1.0\n"
                            "    %2: f32 = subtract %0, %1\n"
                            "    %3: f32 = exponential %2\n"
                            "    row %3\n"
                            "  }\n"
                            "  stage 3 inner [$H, $C] keep {\n"
                            "    %0: f32 = row 2.0\n"
                            "    %1: f32 = load 0 = 2[0 + 9600 i0 + 1 i2 + $S i3]\n"
                            "    %2: f32 = multiply %0, %1\n"
                            "    %3: f32 = const 0x0\n"
                            "    reduce add f32 %2 init %3\n"
                            "  }\n"
                            "  stage 4 inner [$H] {\n"
                            "    %0: f32 = row 3.0\n"
                            "    store 3[0 + 9600 i0 + 96 i1 + 1 i2] = %0\n"
                            "  }\n}\n";

static lz_kernel *heads_new(int64_t m, int64_t n, int64_t size, int64_t stride)
{
    char num[4][8];
    int64_t v[4] = {m, n, size, stride};
    for (int i = 0; i < 4; i++)
        snprintf(num[i], sizeof num[i], "%d", (int)v[i]);
    char *t = filled(heads, "RCHS", (const char *const[]){num[0], num[1], num[2], num[3]});
    lz_kernel *k = NULL;
    ck_assert_msg(lz_kernel_parse(t, strlen(t), &k) == LZ_OK, "%s\n%s", lz_error_get()->message, t);
    free(t);
    return k;
}

START_TEST(heads_of_one_panel)
{
    static const int64_t total[] = {4800, 4800, 19200, 19200},
                         size[] = {8, 16, 24, 32, 48, 64, 63, 96};
    unsigned few = lz_test_whole() ? 32 : lz_test_small() ? 4 : 12;
    for (unsigned j = 0; j < few; j++) {
        unsigned i = lz_test_trial(j, few, 32);
        rnd_series(i);
        int64_t h = size[i & 7], m = sizes[rnd64() % NS], n = sizes[rnd64() % NS];
        check(heads_new(_i & 1 ? 48 : m, n, h, _i & 2 ? 96 : h), total, i & 8, 2e-4);
    }
}
END_TEST

/* Bytes of scratch memory that a call leaves as they were. */
static int64_t left_alone(int64_t size, int64_t stride)
{
    lz_kernel *k = heads_new(48, 100, size, stride);
    guarded g[4];
    void *p[4];
    static const int64_t total[] = {4800, 4800, 19200, 19200};
    for (int i = 0; i < 4; i++) {
        g[i] = guarded_new((size_t)total[i] * 4, 0);
        fill_rows(LZ_F32, p[i] = g[i].p, total[i], false);
    }
    jit j = jit_new(k);
    int64_t n = j.scratch(k->args), same = 0;
    unsigned char *scratch = aligned_alloc(64, (size_t)(n + 63) / 64 * 64);
    ck_assert_ptr_nonnull(scratch);
    memset(scratch, 0xa5, (size_t)n);
    j.run(p, k->args, 0, j.grid(k->args), scratch);
    for (int64_t i = 0; i < n; i++)
        same += scratch[i] == 0xa5;
    free(scratch);
    jit_free(&j);
    for (int i = 0; i < 4; i++)
        guarded_free(&g[i]);
    lz_kernel_free(k);
    return same;
}

/* Values that lie as they would be packed are not copied. */
START_TEST(nothing_is_copied_twice)
{
    lz_target t;
    must(lz_target_host(&t));
    /* elements: a panel of four vectors, or of two where there are 16 registers */
    bool few = strncmp(t.triple, "x86_64", 6) == 0 && t.machine.vector_bytes < 64;
    int64_t size = few ? t.machine.vector_bytes / 2 : t.machine.vector_bytes;
    ck_assert_int_gt(left_alone(size, size), left_alone(size, 96) + size * 100 * 4 * 9 / 10);
}
END_TEST

/* How many places of the code fetch into the cache of the second level. */
static int fetches(lz_kernel *k)
{
    jit j = jit_new(k);
    int n = 0;
    for (const char *at = lz_buf_str(&j.ll); (at = strstr(at, "call void @llvm.prefetch.p0("));
         at++) {
        const char *found = strstr(at, "i32 0, i32 2, i32 1)");
        n += found && found < strchr(at, '\n');
    }
    jit_free(&j);
    lz_kernel_free(k);
    return n;
}

/* What the next head needs is fetched into the cache of the second level while this one is
 * computed. */
START_TEST(heads_are_fetched_ahead)
{
    ck_assert_int_eq(fetches(heads_new(48, 100, 64, 64)), 3); /* queries, keys, values */
}
END_TEST

/* A product of two rows of which one is kept from before the other: r = sum of tanh(x y) w, and of
 * u = x y the sums of u and of -2 u, as one complex number, are wanted after it. The keys are the
 * same for all heads where $B is 0. */
static const char later[] = "kernel \"later\" vec(inner) {\n"
                            "  buf 0: f32 read\n  buf 1: f32 read\n  buf 2: f32 read\n"
                            "  buf 3: f32 write\n"
                            "  outer [2, $R]\n"
                            "  stage 0 inner [$C, 24] keep {\n"
                            "    %0: f32 = load 0 = 0[0 + 2400 i0 + 24 i1 + 1 i3]\n"
                            "    %1: f32 = load 1 = 1[0 + $B i0 + 24 i2 + 1 i3]\n"
                            "    %2: f32 = multiply %0, %1\n"
                            "    %3: f32 = const 0x0\n"
                            "    reduce add f32 %2 init %3\n"
                            "  }\n"
                            "  stage 1 inner [$C] {\n"
                            "    %0: f32 = row 0.0\n"
                            "    %1: f32 = tanh %0\n"
                            "    row %1\n"
                            "  }\n"
                            "  stage 2 inner [$C] {\n"
                            "    %0: f32 = row 0.0\n"
                            "    %1: f32 = const 0xc0000000\n"
                            "    %2: f32 = multiply %0, %1\n"
                            "    %3: c64 = complex %0, %2\n"
                            "    %4: c64 = const 0x0\n"
                            "    reduce add c64 %3 init %4\n"
                            "  }\n"
                            "  stage 3 inner [40, $C] keep {\n"
                            "    %0: f32 = row 1.0\n"
                            "    %1: f32 = load 0 = 2[0 + 9600 i0 + 1 i2 + 96 i3]\n"
                            "    %2: f32 = multiply %0, %1\n"
                            "    %3: f32 = const 0x0\n"
                            "    reduce add f32 %2 init %3\n"
                            "  }\n"
                            "  stage 4 inner [40] {\n"
                            "    %0: f32 = row 3.0\n"
                            "    %1: c64 = red 2.0\n"
                            "    %2: f32 = real %1\n"
                            "    %3: f32 = imag %1\n"
                            "    %4: f32 = add %0, %2\n"
                            "    %5: f32 = multiply %4, %3\n"
                            "    store 3[0 + 9600 i0 + 96 i1 + 1 i2] = %5\n"
                            "  }\n}\n";

static lz_kernel *later_new(int64_t m, int64_t n, bool same_keys)
{
    char num[2][8];
    snprintf(num[0], sizeof num[0], "%d", (int)m);
    snprintf(num[1], sizeof num[1], "%d", (int)n);
    char *t = filled(later, "RCB", (const char *const[]){num[0], num[1], same_keys ? "0" : "2400"});
    lz_kernel *k = NULL;
    ck_assert_msg(lz_kernel_parse(t, strlen(t), &k) == LZ_OK, "%s\n%s", lz_error_get()->message, t);
    free(t);
    return k;
}

/* Both parts of a sum get past a product. */
START_TEST(sums_that_wait)
{
    static const int64_t total[] = {4800, 4800, 19200, 19200};
    for (int r = 0; r < NS; r++)
        check(later_new(sizes[r], sizes[(r * 7 + 3) % NS], r & 1), total, false, 2e-3);
}
END_TEST

/* Also where the first stage behind a product reduces nothing; and only what is another one for the
 * next head. */
START_TEST(only_what_changes_is_fetched)
{
    ck_assert_int_eq(fetches(later_new(48, 100, false)), 3);
    ck_assert_int_eq(fetches(later_new(48, 100, true)), 2);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("codegen_rows");
    TCase *t = tcase_create("rows");
    tcase_set_timeout(t, 600);
    tcase_add_loop_test(t, attention, 0, 4);
    tcase_add_loop_test(t, layouts, 0, 8);
    tcase_add_loop_test(t, rows_alone, 0, 4);
    tcase_add_test(t, the_next_row_is_fetched);
    tcase_add_test(t, other_sizes);
    tcase_add_loop_test(t, heads_of_one_panel, 0, 4);
    tcase_add_test(t, nothing_is_copied_twice);
    tcase_add_test(t, heads_are_fetched_ahead);
    tcase_add_test(t, sums_that_wait);
    tcase_add_test(t, only_what_changes_is_fetched);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
