/* t_shared.c - functions that kernels have alike are made once for a process. */
#include "codegen/codegen.h"
#include "codegen/shared_code.h"
#include "base/alloc.h"
#include "suite.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct maker {
    _Atomic int calls;
    const char *cpu;   /* NULL: "many" */
    _Atomic bool hold; /* make does not end before this is taken back */
    bool fails;
} maker;

static lz_status make(void *user, lz_buf *out)
{
    maker *m = user;
    atomic_fetch_add(&m->calls, 1);
    do
        usleep(20000);
    while (atomic_load(&m->hold));
    if (m->fails)
        return LZ_FAIL(LZ_ECOMPILE, "on purpose");
    lz_buf_puts(out, "code");
    return LZ_OK;
}

static void *want(void *arg)
{
    const maker *m = arg;
    lz_target t = {.triple = "nowhere", .cpu = "many"};
    if (m->cpu)
        snprintf(t.cpu, sizeof t.cpu, "%s", m->cpu);
    lz_buf b = {0};
    lz_status s = lz_shared_image(&t, "module", 6, make, arg, &b, NULL);
    bool right = s == LZ_OK && strcmp(lz_buf_str(&b), "code") == 0;
    lz_buf_free(&b);
    return right ? arg : NULL;
}

/* Who has other things to do in the meantime is told that it is being made. */
START_TEST(made_elsewhere)
{
    pthread_t thread;
    maker m = {.cpu = "elsewhere", .hold = true};
    lz_target t = {.triple = "nowhere", .cpu = "elsewhere"};
    lz_buf b = {0};
    bool busy = false;
    void *right;
    ck_assert_int_eq(pthread_create(&thread, NULL, want, &m), 0);
    while (atomic_load(&m.calls) == 0)
        usleep(100);
    ck_assert_int_eq(lz_shared_image(&t, "module", 6, make, &m, &b, &busy), LZ_OK);
    ck_assert(busy);
    ck_assert_uint_eq(b.len, 0);
    atomic_store(&m.hold, false);
    pthread_join(thread, &right);
    ck_assert_ptr_nonnull(right);
    lz_buf_free(&b);
    busy = false;
    ck_assert_int_eq(lz_shared_image(&t, "module", 6, make, &m, &b, &busy), LZ_OK);
    ck_assert(!busy);
    ck_assert_str_eq(lz_buf_str(&b), "code");
    ck_assert_int_eq(m.calls, 1);
    lz_buf_free(&b);
}
END_TEST

START_TEST(made_once)
{
    pthread_t thread[8];
    maker m = {0};
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, want, &m), 0);
    for (int i = 0; i < 8; i++) {
        void *right;
        pthread_join(thread[i], &right);
        ck_assert_ptr_nonnull(right);
    }
    ck_assert_int_eq(m.calls, 1);
    lz_target t = {.triple = "nowhere", .cpu = "another"};
    lz_buf b = {0};
    ck_assert_int_eq(lz_shared_image(&t, "module", 6, make, &m, &b, NULL), LZ_OK);
    ck_assert_int_eq(m.calls, 2); /* another target, */
    ck_assert_int_eq(lz_shared_image(&t, "modulo", 6, make, &m, &b, NULL), LZ_OK);
    ck_assert_int_eq(m.calls, 3); /* another module */
    ck_assert_str_eq(lz_buf_str(&b), "codecode");
    lz_buf_free(&b);
}
END_TEST

START_TEST(failure_is_not_kept)
{
    lz_target t = {.triple = "nowhere", .cpu = "bad"};
    maker m = {.fails = true};
    lz_buf b = {0};
    ck_assert_int_eq(lz_shared_image(&t, "module", 6, make, &m, &b, NULL), LZ_ECOMPILE);
    ck_assert_int_eq(lz_shared_image(&t, "module", 6, make, &m, &b, NULL), LZ_ECOMPILE);
    ck_assert_int_eq(m.calls, 2);
    m.fails = false;
    ck_assert_int_eq(lz_shared_image(&t, "module", 6, make, &m, &b, NULL), LZ_OK);
    ck_assert_str_eq(lz_buf_str(&b), "code");
    lz_buf_free(&b);
}
END_TEST

START_TEST(no_memory)
{
    lz_target t = {.triple = "nowhere"};
    maker m = {0};
    bool done = false;
    for (int64_t n = 1; !done; n++) {
        lz_buf b = {0};
        char module[32];
        snprintf(module, sizeof module, "module %d", (int)n);
        uint64_t failed = lz_alloc_failed_count();
        lz_alloc_fail_at(n, false);
        lz_status s = lz_shared_image(&t, module, strlen(module), make, &m, &b, NULL);
        lz_alloc_fail_at(0, false);
        done = lz_alloc_failed_count() == failed;
        ck_assert(s == LZ_EMEM || b.failed || strcmp(lz_buf_str(&b), "code") == 0);
        lz_buf_free(&b);
        ck_assert_int_eq(lz_shared_image(&t, module, strlen(module), make, &m, &b, NULL), LZ_OK);
        ck_assert_str_eq(lz_buf_str(&b), "code");
        lz_buf_free(&b);
        ck_assert_int_lt(n, 100);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("shared");
    TCase *t = tcase_create("shared");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, made_elsewhere);
    tcase_add_test(t, made_once);
    tcase_add_test(t, failure_is_not_kept);
    tcase_add_test(t, no_memory);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
