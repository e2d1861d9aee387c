/* t_alloc.c - heap counters, fault injection, hooks and arenas. */
#include "base/alloc.h"
#include "suite.h"
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint64_t rng_state = 88172645463325252u;
static uint32_t rnd(uint32_t n)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return (uint32_t)(rng_state >> 20) % n;
}

START_TEST(basics)
{
    int64_t live = lz_alloc_live_bytes_hint();
    uint64_t count = lz_alloc_count();
    const size_t sizes[] = {0, 1, 15, 16, 17, 4096, 1 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned char *p = lz_alloc(sizes[i]);
        ck_assert_ptr_nonnull(p);
        ck_assert_uint_eq((uintptr_t)p % 16, 0);
        memset(p, 0xAB, sizes[i]);
        lz_free(p);
    }
    ck_assert_uint_eq(lz_alloc_count() - count, 7);
    ck_assert_int_eq(lz_alloc_live_bytes_hint(), live);
    lz_free(NULL);
    ck_assert_int_eq(lz_alloc_live_bytes_hint(), live);
}
END_TEST

START_TEST(calloc_zeroes_and_checks)
{
    unsigned char *p = lz_calloc(37, 11);
    for (int i = 0; i < 37 * 11; i++)
        ck_assert_uint_eq(p[i], 0);
    lz_free(p);
    uint64_t failed = lz_alloc_failed_count();
    ck_assert_ptr_null(lz_calloc(SIZE_MAX / 2, 3));
    ck_assert_ptr_null(lz_calloc(SIZE_MAX, SIZE_MAX));
    ck_assert_uint_eq(lz_alloc_failed_count() - failed, 2);
    p = lz_calloc(0, 8);
    ck_assert_ptr_nonnull(p);
    lz_free(p);
}
END_TEST

START_TEST(too_large_is_null)
{
    volatile size_t huge = SIZE_MAX / 2 - 64;
    ck_assert_ptr_null(lz_alloc(huge));
    char *p = lz_alloc(8);
    memcpy(p, "1234567", 8);
    ck_assert_ptr_null(lz_realloc(p, huge)); /* the block survives */
    ck_assert_str_eq(p, "1234567");
    lz_free(p);
}
END_TEST

START_TEST(realloc_keeps)
{
    int64_t live = lz_alloc_live_bytes_hint();
    char *p = lz_realloc(NULL, 4);
    memcpy(p, "abc", 4);
    for (size_t n = 8; n < 1 << 18; n *= 3) {
        p = lz_realloc(p, n);
        ck_assert_str_eq(p, "abc");
    }
    p = lz_realloc(p, 4);
    ck_assert_str_eq(p, "abc");
    p = lz_realloc(p, 0); /* as 1: still a block */
    ck_assert_ptr_nonnull(p);
    ck_assert_int_eq(lz_alloc_live_bytes_hint(), live + 1);
    lz_free(p);
    ck_assert_int_eq(lz_alloc_live_bytes_hint(), live);
    ck_assert_ptr_null(lz_strdup(NULL));
    p = lz_strdup("");
    ck_assert_str_eq(p, "");
    lz_free(p);
}
END_TEST

START_TEST(fail_nth)
{
    for (int n = 1; n <= 5; n++) {
        uint64_t failed = lz_alloc_failed_count();
        lz_alloc_fail_at(n, false);
        for (int i = 1; i <= 7; i++) {
            void *p = i % 3 == 0 ? lz_calloc(2, 3) : i % 3 == 1 ? lz_alloc(9) : lz_strdup("text");
            ck_assert_int_eq(p == NULL, i == n);
            lz_free(p);
        }
        ck_assert_uint_eq(lz_alloc_failed_count() - failed, 1);
    }
}
END_TEST

START_TEST(fail_repeat)
{
    void *keep = lz_alloc(10);
    lz_alloc_fail_at(3, true);
    for (int i = 1; i <= 9; i++) {
        void *p = lz_alloc(9);
        ck_assert_int_eq(p == NULL, i >= 3);
        lz_free(p);
    }
    ck_assert_ptr_null(lz_realloc(keep, 100));
    ck_assert_ptr_null(lz_realloc(NULL, 100));
    lz_alloc_fail_at(0, false);
    void *p = lz_realloc(keep, 100);
    ck_assert_ptr_nonnull(p);
    lz_free(p);
}
END_TEST

enum { THREADS = 300, ROUNDS = 40 }; /* more threads than counter slots */

static void *churn(void *arg)
{
    void *kept[8] = {0};
    uint32_t x = (uint32_t)(uintptr_t)arg * 2654435761u + 1;
    for (int i = 0; i < ROUNDS; i++) {
        x = x * 1664525u + 1013904223u;
        int k = (int)(x >> 24) % 8;
        lz_free(kept[k]);
        kept[k] = lz_alloc(x >> 22);
    }
    for (int k = 1; k < 8; k++)
        lz_free(kept[k]);
    return kept[0]; /* freed by another thread */
}

START_TEST(counters_add_up_over_threads)
{
    int64_t live = lz_alloc_live_bytes_hint();
    uint64_t count = lz_alloc_count();
    static pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&t[i], NULL, churn, (void *)(uintptr_t)i), 0);
    for (int i = 0; i < THREADS; i++) {
        void *p;
        pthread_join(t[i], &p);
        lz_free(p);
    }
    ck_assert_uint_eq(lz_alloc_count() - count, (uint64_t)THREADS * ROUNDS);
    ck_assert_int_eq(lz_alloc_live_bytes_hint(), live);
}
END_TEST

typedef struct counted {
    int allocs, reallocs, frees;
} counted;
static void *hook_alloc(size_t n, void *user)
{
    ((counted *)user)->allocs++;
    void *p = malloc(n);
    return p ? memset(p, 0xEE, n) : NULL;
}
static void *hook_realloc(void *p, size_t n, void *user)
{
    ((counted *)user)->reallocs++;
    return realloc(p, n);
}
static void hook_free(void *p, void *user)
{
    ((counted *)user)->frees++;
    free(p);
}

START_TEST(hooks_take_everything)
{
    counted c = {0};
    const lz_alloc_hooks incomplete = {.alloc = hook_alloc, .user = &c};
    const lz_alloc_hooks h = {hook_alloc, hook_realloc, hook_free, &c};
    ck_assert(!lz_alloc_set_hooks(&incomplete));
    ck_assert(lz_alloc_set_hooks(&h));
    ck_assert(lz_alloc_set_hooks(NULL));
    ck_assert(lz_alloc_set_hooks(&h));
    unsigned char *p = lz_calloc(3, 5);
    for (int i = 0; i < 15; i++)
        ck_assert_uint_eq(p[i], 0);
    p = lz_realloc(p, 50);
    lz_free(p);
    char *s = lz_strdup("x");
    lz_free(s);
    ck_assert_int_eq(c.allocs, 2);
    ck_assert_int_eq(c.reallocs, 1);
    ck_assert_int_eq(c.frees, 2);
    ck_assert(!lz_alloc_set_hooks(NULL)); /* too late */
}
END_TEST

START_TEST(checked_sizes)
{
    size_t z;
    int64_t i;
    ck_assert(lz_mul_size(1u << 20, 1u << 20, &z) && z == (size_t)1 << 40);
    ck_assert(!lz_mul_size(SIZE_MAX, 2, &z));
    ck_assert(!lz_add_size(SIZE_MAX, 1, &z));
    ck_assert(lz_add_size(SIZE_MAX, 0, &z));
    ck_assert(!lz_mul_i64(INT64_MIN, -1, &i));
    ck_assert(!lz_add_i64(INT64_MAX, 1, &i));
    ck_assert(lz_mul_i64(-3, 7, &i) && i == -21);
    ck_assert_uint_eq(LZ_ALIGN_UP((size_t)0, 64), 0);
    ck_assert_uint_eq(LZ_ALIGN_UP((size_t)65, 64), 128);
}
END_TEST

static bool all_bytes(const unsigned char *p, size_t n, unsigned char want)
{
    for (size_t k = 0; k < n; k++)
        if (p[k] != want)
            return false;
    return true;
}

START_TEST(arena_blocks_do_not_overlap)
{
    lz_arena a = {0};
    enum { N = 3000 };
    static unsigned char *p[N];
    static size_t size[N];
    int64_t live = lz_alloc_live_bytes_hint();
    for (int i = 0; i < N; i++) {
        size[i] = i % 97 == 0 ? rnd(300000) : rnd(200); /* 0 too */
        p[i] = lz_arena_alloc(&a, size[i]);
        ck_assert_ptr_nonnull(p[i]);
        ck_assert_uint_eq((uintptr_t)p[i] % 16, 0);
        ck_assert_msg(all_bytes(p[i], size[i], 0), "block %d is not zero", i);
        memset(p[i], i & 0xFF, size[i]);
    }
    for (int i = 0; i < N; i++)
        ck_assert_msg(all_bytes(p[i], size[i], (unsigned char)i), "block %d was overwritten", i);
    ck_assert_uint_le(a.used, a.total);
    ck_assert_int_lt(lz_alloc_live_bytes_hint() - live,
                     200); /* few blocks, not one per allocation */
    lz_arena_free(&a);
    ck_assert_int_eq(lz_alloc_live_bytes_hint(), live);
    ck_assert_ptr_null(a.head);
    lz_arena_free(&a);
}
END_TEST

/* What is kept is as good as new, and is all that there is. */
START_TEST(arena_reset)
{
    lz_arena a = {0};
    int64_t live = lz_alloc_live_bytes_hint();
    lz_arena_reset(&a);
    ck_assert_ptr_null(a.head);
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 300; i++) {
            size_t n = i % 97 == 0 ? rnd(100000) : rnd(200);
            unsigned char *p = lz_arena_alloc(&a, n);
            ck_assert_ptr_nonnull(p);
            ck_assert_msg(all_bytes(p, n, 0), "round %d: block %d is not zero", round, i);
            memset(p, 0xA5, n);
        }
        lz_arena_reset(&a);
        ck_assert_int_eq(lz_alloc_live_bytes_hint() - live, 1);
        ck_assert_uint_eq(a.used, 0);
    }
    uint64_t count = lz_alloc_count();
    for (int round = 0; round < 50; round++) {
        ck_assert_ptr_nonnull(lz_arena_alloc(&a, 2000));
        lz_arena_reset(&a);
    }
    ck_assert_uint_eq(lz_alloc_count(), count);
    lz_arena_free(&a);
    ck_assert_int_eq(lz_alloc_live_bytes_hint(), live);
}
END_TEST

START_TEST(arena_text)
{
    lz_arena a = {0};
    char *s = lz_arena_printf(&a, "%s-%d", "abc", 42);
    ck_assert_str_eq(s, "abc-42");
    char big[6000];
    memset(big, 'q', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    ck_assert_str_eq(lz_arena_printf(&a, "%s", big), big);
    ck_assert_str_eq(lz_arena_strdup(&a, big), big);
    ck_assert_ptr_null(lz_arena_strdup(&a, NULL));
    ck_assert_ptr_nonnull(lz_arena_copy(&a, NULL, 0));
    ck_assert_str_eq(lz_arena_printf(&a, "%s", ""), "");
    ck_assert_str_eq(s, "abc-42");
    lz_arena_free(&a);
}
END_TEST

START_TEST(arena_failures)
{
    lz_arena a = {0};
    ck_assert_ptr_null(lz_arena_alloc(&a, SIZE_MAX));
    ck_assert_ptr_null(lz_arena_alloc(&a, SIZE_MAX - 20));
    char *s = lz_arena_strdup(&a, "kept");
    lz_alloc_fail_at(1, true);
    ck_assert_ptr_null(lz_arena_alloc(&a, 100000));
    ck_assert_ptr_null(lz_arena_printf(&a, "%100000d", 1));
    lz_alloc_fail_at(0, false);
    ck_assert_str_eq(s, "kept");
    ck_assert_ptr_nonnull(lz_arena_alloc(&a, 100000));
    lz_arena_free(&a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("alloc");
    TCase *t = tcase_create("alloc");
    tcase_add_test(t, basics);
    tcase_add_test(t, calloc_zeroes_and_checks);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    tcase_add_test(t, too_large_is_null);
#else
    (void)too_large_is_null; /* the sanitizers' allocators stop the process instead */
#endif
    tcase_add_test(t, realloc_keeps);
    tcase_add_test(t, fail_nth);
    tcase_add_test(t, fail_repeat);
    tcase_add_test(t, counters_add_up_over_threads);
    tcase_add_test(t, hooks_take_everything);
    tcase_add_test(t, checked_sizes);
    tcase_add_test(t, arena_blocks_do_not_overlap);
    tcase_add_test(t, arena_reset);
    tcase_add_test(t, arena_text);
    tcase_add_test(t, arena_failures);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
