/* t_profile_report.c - lz_profile_report: a kernel's costliest operation and line, of programs that
 * are compiled and of ones that are found on disk; that rows add up; errors. No times are compared
 * but with each other. */
#include "rt.h"
#include <pthread.h>
#include <sys/wait.h>

static char text[1 << 16];

static void use(void)
{
    rt_use(rt_devices[1]);
    setenv("LAZULI_NUM_THREADS", "1", 1);
}

static int lgamma_line;
static void steps(int n)
{
    for (int i = 0; i < n; i++) {
        OK(lz_scope_begin());
        OK(lz_name_scope_begin("head"));
        lz_tensor *x = lz_add_scalar(lz_rand(LZ_F64, LZ_SHAPE(300, 300)), 1);
        lgamma_line = __LINE__ + 1;
        lz_tensor *y = lz_lgamma(x);
        OK(lz_name_scope_end());
        lz_tensor *s = lz_mean(y);
        OK(lz_mark_step());
        ck_assert(isfinite(lz_item(s)));
        OK(lz_scope_end());
    }
}

/* The number behind "key": from *at on, which goes on behind it. */
static double number(const char **at, const char *key)
{
    char want[64];
    snprintf(want, sizeof want, "\"%s\":", key);
    const char *p = strstr(*at, want);
    ck_assert_msg(p != NULL, "%s in %s", key, *at);
    *at = p + strlen(want);
    return strtod(*at, NULL);
}

/* The sum of "ns" in a list. */
static double sum_of(const char *list)
{
    char want[64];
    double sum = 0;
    snprintf(want, sizeof want, "\"%s\":[", list);
    const char *p = strstr(text, want), *end = p ? strstr(p, "],\n") : NULL;
    ck_assert_msg(p && end, "%s in %s", list, text);
    while ((p = strstr(p, "\"ns\":")) != NULL && p < end)
        sum += strtod(p += 5, NULL);
    return sum;
}

static void check_report(void)
{
    char want[200];
    ck_assert(lz_profile_report("text", text, sizeof text) > 0);
    const char *by = strstr(text, "\nBy step\n"), *row = by ? strstr(by, "chlo.lgamma") : NULL;
    ck_assert_msg(row && row < strstr(text, "\nBy operation\n"), "%s", text);
    snprintf(want, sizeof want, "t_profile_report.c:%d (head)", lgamma_line);
    const char *place = strstr(row, want);
    ck_assert_msg(place && place < strchr(row, '\n'), "%s lacks %s", row, want);
    ck_assert_ptr_nonnull(strstr(text, "\nHost: "));
    ck_assert(lz_profile_report("json", text, sizeof text) > 0);
    const char *p = text;
    double all = (ck_assert(number(&p, "version") == 1), number(&p, "kernels_ns"));
    static const char *const lists[] = {"steps", "operations", "scopes", "lines"};
    for (int i = 0; i < 4; i++)
        ck_assert_msg(fabs(sum_of(lists[i]) - all) <= 0.001 * all + 100, "%s: %g of %g", lists[i],
                      sum_of(lists[i]), all);
    p = strstr(text, "\"host_ns\"");
    ck_assert(p && number(&p, "WALK") > 0 && number(&p, "HASH") > 0);
}

START_TEST(names_the_slow_line)
{
    use();
    OK(lz_start_profile());
    steps(3);
    check_report();
    OK(lz_start_profile()); /* sums of the host begin again */
    steps(1);
    check_report();
}
END_TEST

/* Another process compiles; this one finds the program, and says its own lines. */
START_TEST(of_a_program_found_on_disk)
{
    char dir[] = "/tmp/lazuli-profile-XXXXXX", command[200];
    use();
    ck_assert_ptr_nonnull(mkdtemp(dir));
    setenv("LAZULI_CACHE", "1", 1);
    setenv("LAZULI_CACHE_DIR", dir, 1);
    for (int warm = 0; warm < 2; warm++) {
        pid_t pid = fork();
        if (pid == 0) {
            OK(lz_start_profile());
            steps(2);
            ck_assert_int_eq(lz_counter_value("PersistentCacheHit") > 0, warm);
            check_report();
            exit(0);
        }
        int status = 1;
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_msg(status == 0, "%s", warm ? "warm" : "cold");
    }
    snprintf(command, sizeof command, "rm -r %s", dir);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

/* Routines in C are launches without a kernel. */
START_TEST(routines_have_rows)
{
    use();
    setenv("XLA_COMPILATION_CACHE_SIZE", "1", 1); /* what has run stays in reports */
    OK(lz_start_profile());
    for (int i = 0; i < 4; i++) {
        OK(lz_scope_begin());
        lz_tensor *x = lz_rand(LZ_F32, LZ_SHAPE(64, 1000));
        ck_assert(isfinite(lz_item(lz_sum(i % 2 ? lz_tanh(x) : lz_abs(lz_fft(x))))));
        OK(lz_scope_end());
        ck_assert(lz_profile_report(i < 2 ? "text" : "json", text, sizeof text) > 0);
        ck_assert_msg(strstr(text, i < 2 ? "fft  -------- " : "\"operation\":\"fft\""), "%s", text);
    }
}
END_TEST

static _Atomic int busy;
static void *make_programs(void *arg)
{
    int first = *(int *)arg;
    for (int i = 1; i < 30; i++) {
        lz_scope_begin();
        lz_tensor *x = lz_rand(LZ_F32, LZ_SHAPE(1 + i + first, 3));
        lz_tensor *y = lz_cumsum(lz_sort(x, 0, false, NULL), 0);
        if (!isfinite(lz_item(lz_sum(y))))
            abort();
        lz_scope_end();
    }
    busy--;
    return NULL;
}

/* Other threads compile and step meanwhile: rows of a program are added while it is made. */
START_TEST(while_others_step)
{
    enum { N = 3 };
    pthread_t th[N];
    int first[N];
    use();
    setenv("XLA_COMPILATION_CACHE_SIZE", "4", 1);
    OK(lz_start_profile());
    ck_assert(lz_profile_report("json", text, sizeof text) > 0);
    busy = N;
    for (int i = 0; i < N; i++) {
        first[i] = 100 * i;
        pthread_create(&th[i], NULL, make_programs, &first[i]);
    }
    do
        ck_assert(lz_profile_report(busy % 2 ? "json" : "text", text, sizeof text) > 0);
    while (busy);
    for (int i = 0; i < N; i++)
        pthread_join(th[i], NULL);
    ck_assert(lz_profile_report("json", text, sizeof text) > 0);
    ck_assert_ptr_nonnull(strstr(text, "\"calls\":"));
}
END_TEST

START_TEST(errors)
{
    use();
    ck_assert_uint_eq(lz_profile_report("text", text, sizeof text), 0);
    ck_assert_int_eq(lz_last_error(NULL), LZ_ESTATE);
    OK(lz_start_profile());
    ck_assert_uint_eq(lz_profile_report(NULL, text, sizeof text), 0);
    ck_assert_int_eq(lz_last_error(NULL), LZ_ENULL);
    ck_assert_uint_eq(lz_profile_report("xml", text, sizeof text), 0);
    ck_assert_int_eq(lz_last_error(NULL), LZ_EINVAL);
    size_t n = lz_profile_report("json", NULL, 0);
    ck_assert_uint_gt(n, 100);
    steps(1);
    ck_assert_uint_gt(lz_profile_report("json", text, 8), n);
    ck_assert_uint_eq(strlen(text), 7);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("profile_report");
    TCase *t = tcase_create("profile_report");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, names_the_slow_line);
    tcase_add_test(t, of_a_program_found_on_disk);
    tcase_add_test(t, routines_have_rows);
    tcase_add_test(t, while_others_step);
    tcase_add_test(t, errors);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
