/* t_loop_text.c - kernels as text and as canonical bytes: round trips, stability under other sizes,
 * damaged bytes. */
#include "kernels.h"
#include "lower/loops/loop.h"
#include "suite.h"
#include <stdio.h>

static char *print(const lz_kernel *k)
{
    lz_buf b = {0};
    lz_kernel_print(k, &b);
    ck_assert(!b.failed);
    return b.data;
}

static bool same(const lz_kernel *a, const lz_kernel *b)
{
    return lz_hash_eq(a->hash, b->hash) && a->nencoding == b->nencoding &&
           memcmp(a->encoding, b->encoding, a->nencoding) == 0;
}

START_TEST(text_round_trip)
{
    const int64_t dims[][2] = {{5, 7}, {100, 17}, {16, 16}, {1, 1}, {0, 3}};
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        lz_kernel *a = k_make(k_all[_i], dims[i][0], dims[i][1]), *b;
        char *ta = print(a);
        ck_assert_msg(lz_kernel_parse(ta, strlen(ta), &b) == LZ_OK, "%s\n%s",
                      lz_error_get()->message, ta);
        ck_assert(same(a, b));
        ck_assert_str_eq(a->name, b->name);
        ck_assert_uint_eq(a->narg, b->narg);
        ck_assert(memcmp(a->args, b->args, a->narg * sizeof *a->args) == 0);
        char *tb = print(b);
        ck_assert_str_eq(ta, tb);
        lz_free(ta);
        lz_free(tb);
        lz_kernel_free(a);
        lz_kernel_free(b);
    }
}
END_TEST

/* An access nobody loads, one that two ops load, and accesses in another order than the loads. */
START_TEST(unusual_accesses)
{
    const char *t = "kernel \"odd\" {\n  buf 0: i32 read\n  buf 1: i32 write\n  outer [3]\n"
                    "  stage 0 inner [] { // a comment\n"
                    "    access 1 = 0[0 + 2 i0]\n"
                    "    %0: i32 = load 2 = 0[0 + 1 i0]\n"
                    "    %1: i32 = load 0 = 0[1 + 1 i0]\n"
                    "    %2: i32 = load 2\n"
                    "    %3: i32 = add %1, %2\n"
                    "    store 1[0 + 1 i0] = %3\n  }\n}\n";
    lz_kernel *a, *b;
    ck_assert_msg(lz_kernel_parse(t, strlen(t), &a) == LZ_OK, "%s", lz_error_get()->message);
    ck_assert_uint_eq(a->stages[0].nacc, 3);
    char *text = print(a);
    ck_assert_int_eq(lz_kernel_parse(text, strlen(text), &b), LZ_OK);
    ck_assert(same(a, b));
    lz_free(text);
    lz_kernel_free(a);
    lz_kernel_free(b);
}
END_TEST

static lz_status parse_scan(const char *find, const char *put, lz_kernel **out)
{
    static const char scan[] =
        "kernel \"scan\" vec(inner) {\n  buf 0: f32 read\n  buf 1: f32 write\n"
        "  outer [3]\n  stage 0 inner [5] {\n    %0: f32 = const 0x0\n"
        "    %1: f32 = load 0 = 0[0 + 5 i0 + 1 i1]\n"
        "    %2: f32 = prefix 0.0\n"
        "    reduce add f32 %1 init %0\n"
        "    store 1[4 + 5 i0 + -1 i1] = %2\n  }\n}\n";
    char t[sizeof scan + 64];
    const char *at = strstr(scan, find);
    ck_assert_ptr_nonnull(at);
    snprintf(t, sizeof t, "%.*s%s%s", (int)(at - scan), scan, put, at + strlen(find));
    return lz_kernel_parse(t, strlen(t), out);
}

/* A stage that stores its reduction so far: text, bytes, what it computes; and what is none. */
START_TEST(prefix_scans)
{
    static const char *const edits[][2] = {{"prefix 0.0", "prefix 0.1"},
                                           {"prefix 0.0", "prefix 1.0"},
                                           {"%2: f32 = prefix", "%2: f64 = prefix"},
                                           {"inner [5]", "inner []"},
                                           {"    reduce add f32 %1 init %0\n", ""},
                                           {"add f32 %1", "add f32 %2"},
                                           {"init %0", "init %2"}};
    lz_kernel *a, *b;
    ck_assert_msg(parse_scan("3]", "3]", &a) == LZ_OK, "%s", lz_error_get()->message);
    char *text = print(a);
    ck_assert_int_eq(lz_kernel_parse(text, strlen(text), &b), LZ_OK);
    ck_assert(same(a, b));
    lz_kernel_free(b);
    ck_assert_int_eq(lz_kernel_decode(a->encoding, a->nencoding, a->args, a->narg, &b), LZ_OK);
    ck_assert(same(a, b));
    float x[15], y[15];
    for (int i = 0; i < 15; i++)
        x[i] = (float)(i * i);
    ck_assert_int_eq(lz_loop_run(b, (void *[]){x, y}, (size_t[]){sizeof x, sizeof y}), LZ_OK);
    for (int r = 0; r < 3; r++)
        for (int i = 0, sum = 0; i < 5; i++)
            ck_assert(y[5 * r + 4 - i] == (float)(sum += (5 * r + i) * (5 * r + i)));
    lz_kernel_free(b);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++)
        ck_assert_msg(parse_scan(edits[i][0], edits[i][1], &b) != LZ_OK, "%s", edits[i][1]);
    lz_free(text);
    lz_kernel_free(a);
}
END_TEST

START_TEST(parse_errors_have_places)
{
    static const struct {
        const char *find, *put, *where;
    } edits[] = {
        {"outer [", "outre [", "line 5"},
        {"f32 read", "g32 read", "line 2"},
        {"multiply", "multipli", "line 9"},
        {"%2: f32", "%7: f32", "line 9"},
        {"i1]\n    %1", "i9]\n    %1", "line 7"},
        {"0x3f000000", "0.5", "line 10"},
        {"stage 0", "stage 1", "line 6"},
        {"store", "stare", "line 12"},
        {"buf 1", "buf 2", "line 3"},
        {"vec(outer)", "vec(both)", "line 1"},
    };
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        char *t = k_text(k_scale, 20, 30), out[2048];
        char *at = strstr(t, edits[i].find);
        ck_assert_ptr_nonnull(at);
        snprintf(out, sizeof out, "%.*s%s%s", (int)(at - t), t, edits[i].put,
                 at + strlen(edits[i].find));
        lz_kernel *k;
        ck_assert_int_eq(lz_kernel_parse(out, strlen(out), &k), LZ_EPARSE);
        ck_assert_ptr_null(k);
        ck_assert_msg(strstr(lz_error_get()->message, edits[i].where) != NULL, "%s: %s",
                      edits[i].put, lz_error_get()->message);
        free(t);
    }
}
END_TEST

/* Cut anywhere, or with any byte replaced, text is an error or a kernel, never a crash. */
START_TEST(damaged_text)
{
    char *t = k_text(k_all[_i], 20, 30);
    size_t n = strlen(t);
    for (size_t i = 0; i < n; i++) {
        lz_kernel *k;
        if (lz_kernel_parse(t, i, &k) == LZ_OK)
            lz_kernel_free(k);
        char old = t[i];
        t[i] = "0@%{[9x\"-"[i % 9];
        if (lz_kernel_parse(t, n, &k) == LZ_OK)
            lz_kernel_free(k);
        t[i] = old;
    }
    free(t);
}
END_TEST

START_TEST(other_sizes_same_kernel)
{
    lz_kernel *a = k_make(k_all[_i], 100, 40), *b = k_make(k_all[_i], 333, 17);
    ck_assert(same(a, b));
    ck_assert_uint_eq(a->narg, b->narg);
    ck_assert(a->narg == 0 || memcmp(a->args, b->args, a->narg * sizeof *a->args) != 0);
    /* equal sizes of one instance make no other kernel */
    lz_kernel *c = k_make(k_all[_i], 64, 64);
    ck_assert(same(a, c));
    /* short loops are baked */
    lz_kernel *d = k_make(k_all[_i], 3, 40);
    ck_assert(!same(a, d) || _i == 7);
    lz_kernel_free(a);
    lz_kernel_free(b);
    lz_kernel_free(c);
    lz_kernel_free(d);
}
END_TEST

/* A product is tiled over its rows and columns; how often, and how deep, is no part of its code.
 * Nor is the length of a loop without vectors, beyond the few of a window. */
START_TEST(loops_that_only_count)
{
    static const char products[] = "kernel \"products\" vec(outer) {\n"
                                   "  buf 0: f32 read\n  buf 1: f32 read\n  buf 2: f32 write\n"
                                   "  outer [$R, 40, 50]\n"
                                   "  dot %0 %1\n"
                                   "  stage 0 inner [$C, 60] {\n"
                                   "    %0: f32 = load 0 = 0[0 + 9000 i0 + 99 i1 + 77 i3 + 1 i4]\n"
                                   "    %1: f32 = load 1 = 1[0 + 1 i2 + 8000 i3 + 50 i4]\n"
                                   "    %2: f32 = multiply %0, %1\n"
                                   "    %3: f32 = const 0x0\n"
                                   "    reduce add f32 %2 init %3\n"
                                   "  }\n"
                                   "  stage 1 inner [] {\n"
                                   "    %0: f32 = red 0.0\n"
                                   "    store 2[0 + 2000 i0 + 50 i1 + 1 i2] = %0\n"
                                   "  }\n}\n";
    static const struct {
        const char *text;
        int64_t r, c;
        bool same; /* as 40 x 50 */
    } cases[] = {{products, 2, 3, true},    {products, 8, 16, true},   {products, 500, 2, true},
                 {products, 1, 50, false},  {k_colsum, 5, 50, true},   {k_colsum, 16, 50, true},
                 {k_colsum, 3, 50, false},  {k_colsum, 40, 16, false}, {k_softmax, 7, 50, true},
                 {k_softmax, 40, 16, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lz_kernel *a = k_make(cases[i].text, 40, 50),
                  *b = k_make(cases[i].text, cases[i].r, cases[i].c);
        ck_assert_msg(same(a, b) == cases[i].same, "%s of %d and %d", a->name, (int)cases[i].r,
                      (int)cases[i].c);
        lz_kernel_free(a);
        lz_kernel_free(b);
    }
}
END_TEST

START_TEST(names_are_not_part)
{
    char *t = k_text(k_dot, 30, 40), *at;
    lz_kernel *a, *b;
    ck_assert_int_eq(lz_kernel_parse(t, strlen(t), &a), LZ_OK);
    at = strstr(t, "\"dot\"");
    at[1] = 'p';
    ck_assert_int_eq(lz_kernel_parse(t, strlen(t), &b), LZ_OK);
    ck_assert_str_ne(a->name, b->name);
    ck_assert(same(a, b));
    free(t);
    lz_kernel_free(a);
    lz_kernel_free(b);
}
END_TEST

START_TEST(every_kind_differs)
{
    lz_kernel *k[K_COUNT];
    for (int i = 0; i < K_COUNT; i++)
        k[i] = k_make(k_all[i], 100, 40);
    for (int i = 0; i < K_COUNT; i++)
        for (int j = 0; j < i; j++)
            ck_assert(!same(k[i], k[j]));
    for (int i = 0; i < K_COUNT; i++)
        lz_kernel_free(k[i]);
}
END_TEST

START_TEST(canon_round_trip)
{
    lz_kernel *a = k_make(k_all[_i], 100, 40), *b;
    ck_assert_int_eq(lz_kernel_decode(a->encoding, a->nencoding, a->args, a->narg, &b), LZ_OK);
    ck_assert(same(a, b));
    char *ta = print(a), *tb = print(b);
    ck_assert_str_eq(strchr(ta, '{'), strchr(tb, '{'));
    lz_free(ta);
    lz_free(tb);
    lz_kernel_free(b);
    ck_assert_int_eq(lz_kernel_decode(a->encoding, a->nencoding, a->args, a->narg + 1, &b),
                     LZ_ECORRUPT);
    if (a->narg)
        ck_assert_int_eq(lz_kernel_decode(a->encoding, a->nencoding, a->args, a->narg - 1, &b),
                         LZ_ECORRUPT);
    /* arguments 0 and 1 where the pattern has a slot keep the pattern */
    int64_t ones[64];
    for (int i = 0; i < 64; i++)
        ones[i] = 1;
    ck_assert_int_eq(lz_kernel_decode(a->encoding, a->nencoding, ones, a->narg, &b), LZ_OK);
    ck_assert(same(a, b));
    ta = print(b);
    lz_kernel *c;
    if (a->narg) {
        ck_assert_int_eq(lz_kernel_parse(ta, strlen(ta), &c), LZ_OK);
        ck_assert(same(a, c));
        lz_kernel_free(c);
    }
    lz_free(ta);
    lz_kernel_free(a);
    lz_kernel_free(b);
}
END_TEST

/* Every byte flipped in every way, and every length: an error, or the kernel those bytes describe;
 * never a crash. */
START_TEST(damaged_canon)
{
    lz_kernel *a = k_make(k_all[_i], 100, 40), *b;
    uint8_t *p = malloc(a->nencoding);
    for (size_t i = 0; i < a->nencoding; i++) {
        uint8_t *cut = malloc(i + 1); /* exact size: overruns are seen */
        memcpy(cut, a->encoding, i);
        ck_assert_int_eq(lz_kernel_decode(cut, i, a->args, a->narg, &b), LZ_ECORRUPT);
        free(cut);
        for (int x = 1; x < 256; x += x < 8 ? 1 : 31) {
            memcpy(p, a->encoding, a->nencoding);
            p[i] ^= (uint8_t)x;
            lz_status s = lz_kernel_decode(p, a->nencoding, a->args, a->narg, &b);
            ck_assert(s == LZ_OK || s == LZ_ECORRUPT);
            if (s == LZ_OK) {
                ck_assert_uint_eq(b->nencoding, a->nencoding);
                ck_assert(memcmp(b->encoding, p, b->nencoding) == 0);
                lz_kernel_free(b);
            }
        }
    }
    free(p);
    lz_kernel_free(a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("loop_text");
    TCase *t = tcase_create("text");
    tcase_add_loop_test(t, text_round_trip, 0, K_COUNT);
    tcase_add_test(t, unusual_accesses);
    tcase_add_test(t, prefix_scans);
    tcase_add_test(t, parse_errors_have_places);
    tcase_add_loop_test(t, damaged_text, 0, K_COUNT);
    suite_add_tcase(s, t);
    t = tcase_create("canon");
    tcase_set_timeout(t, 30);
    tcase_add_loop_test(t, other_sizes_same_kernel, 0, K_COUNT);
    tcase_add_test(t, loops_that_only_count);
    tcase_add_test(t, names_are_not_part);
    tcase_add_test(t, every_kind_differs);
    tcase_add_loop_test(t, canon_round_trip, 0, K_COUNT);
    tcase_add_loop_test(t, damaged_canon, 0, K_COUNT);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
