/* t_dir.c - where the cache goes: the order of the places, and the cases in which it goes
 * nowhere. */
#include "cache/dir.h"
#include "base/config.h"
#include "cachetest.h"
#include <limits.h>

typedef struct row {
    lz_dir_env env;
    const char *want; /* NULL: no cache */
} row;

static const row rows[] = {
    {{.given = "/a", .xla = "/b", .lazuli = "/c", .xdg = "/d", .home = "/e", .pw_home = "/f"},
     "/a"},
    {{.xla = "/b", .lazuli = "/c", .xdg = "/d", .home = "/e", .pw_home = "/f"}, "/b"},
    {{.xla = "", .lazuli = "/c/x//", .xdg = "/d", .home = "/e", .pw_home = "/f"}, "/c/x"},
    {{.xdg = "/d", .home = "/e", .pw_home = "/f"}, "/d/lazuli"},
    {{.xdg = "relative", .home = "/e", .pw_home = "/f"}, "/e/.cache/lazuli"},
    {{.xdg = "", .home = "", .pw_home = "/f"}, "/f/.cache/lazuli"},
    {{.home = "relative", .pw_home = "/f"}, "/f/.cache/lazuli"},
    {{.pw_home = ""}, NULL},
    {{.pw_home = "relative"}, NULL},
    {{0}, NULL},
    {{.secure = true, .given = "/a", .home = "/e"}, NULL},
    {{.off = true, .given = "/a", .home = "/e"}, NULL},
    {{.given = "/"}, "/"},
    {{.given = "///"}, "/"},
    {{.given = "/caf\xe9/\xff\xfe"}, "/caf\xe9/\xff\xfe"}, /* not UTF-8: bytes */
};

START_TEST(order_of_places)
{
    lz_buf b = {0};
    const row *r = &rows[_i];
    lz_status rc = lz_dir_choose(&r->env, &b);
    if (r->want) {
        ck_assert_int_eq(rc, LZ_OK);
        ck_assert_str_eq(lz_buf_str(&b), r->want);
    } else {
        ck_assert_int_eq(rc, LZ_EUNAVAILABLE);
        ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "persistent cache"));
    }
    lz_buf_free(&b);
}
END_TEST

START_TEST(relative_paths_become_absolute)
{
    char cwd[PATH_MAX], want[PATH_MAX + 64];
    ck_assert_ptr_nonnull(getcwd(cwd, sizeof cwd));
    snprintf(want, sizeof want, "%s/some/where", cwd);
    lz_buf b = {0};
    ck_assert_int_eq(lz_dir_choose(&(lz_dir_env){.given = "some/where/"}, &b), LZ_OK);
    ck_assert_str_eq(lz_buf_str(&b), want);
    lz_buf_free(&b);
}
END_TEST

START_TEST(relative_to_nowhere)
{
    ct_setup();
    char gone[400];
    snprintf(gone, sizeof gone, "%s/gone", ct_base);
    ck_assert_int_eq(mkdir(gone, 0700), 0);
    ck_assert_int_eq(chdir(gone), 0);
    ck_assert_int_eq(rmdir(gone), 0);
    lz_cache *c = ct_open_with((lz_cache_options){.path = "relative"});
    ck_assert(!lz_cache_enabled(c));
    ck_assert_int_eq(ct_warnings, 1);
    lz_cache_close(c);
    ct_teardown();
}
END_TEST

START_TEST(from_the_environment)
{
    ct_setup();
    char want[500];
    setenv("HOME", ct_base, 1);
    unsetenv("XDG_CACHE_HOME");
    lz_cache *c;
    ck_assert_int_eq(lz_cache_open(NULL, &c), LZ_OK);
    snprintf(want, sizeof want, "%s/.cache/lazuli", ct_base);
    ck_assert_str_eq(lz_cache_path(c), want);
    struct stat st;
    ck_assert_int_eq(stat(want, &st), 0);
    ck_assert_int_eq(st.st_mode & 07777, 0700);
    lz_cache_close(c);

    char xdg[400];
    snprintf(xdg, sizeof xdg, "%s/xdg", ct_base);
    setenv("XDG_CACHE_HOME", xdg, 1);
    ck_assert_int_eq(lz_cache_open(NULL, &c), LZ_OK);
    snprintf(want, sizeof want, "%s/lazuli", xdg);
    ck_assert_str_eq(lz_cache_path(c), want);
    lz_cache_close(c);

    ck_assert_int_eq(lz_config_set("LAZULI_CACHE_DIR", ct_dir), LZ_OK);
    ck_assert_int_eq(lz_cache_open(NULL, &c), LZ_OK);
    ck_assert_str_eq(lz_cache_path(c), ct_dir);
    lz_cache_close(c);

    snprintf(want, sizeof want, "%s/xla", ct_base);
    ck_assert_int_eq(lz_config_set("XLA_PERSISTENT_CACHE_PATH", want), LZ_OK);
    ck_assert_int_eq(lz_cache_open(NULL, &c), LZ_OK);
    ck_assert_str_eq(lz_cache_path(c), want);
    lz_cache_close(c);

    ck_assert_int_eq(lz_config_set("LAZULI_CACHE", "off"), LZ_OK);
    ck_assert_int_eq(ct_warnings, 0);
    ck_assert_int_eq(lz_cache_open(NULL, &c), LZ_OK);
    ck_assert(!lz_cache_enabled(c));
    ck_assert_int_eq(ct_warnings, 0); /* what the user asked for is no warning */
    lz_cache_close(c);
    ct_teardown();
}
END_TEST

START_TEST(no_home_at_all)
{
    ct_setup();
    unsetenv("HOME");
    unsetenv("XDG_CACHE_HOME");
    pid_t pid = fork();
    if (pid == 0) {
        if (setuid(54321) != 0) /* a user the database does not know; needs root */
            _exit(0);
        lz_cache *c;
        bool ok = lz_cache_open(NULL, &c) == LZ_OK && !lz_cache_enabled(c) && ct_warnings == 1;
        ct_put(c, 1);
        ok = ok && ct_get(c, 1) == 0;
        lz_cache_close(c);
        _exit(ok && ct_warnings == 1 ? 0 : 1);
    }
    ck_assert_int_eq(ct_wait(pid), 0);
    ct_teardown();
}
END_TEST

START_TEST(paths_that_cannot_be)
{
    ct_setup();
    char *path = malloc(70000);
    static const int lengths[] = {255, 256, 4094, 4095, 4096, 5000, 65000};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        int n = snprintf(path, 70000, "%s/", ct_base);
        memset(path + n, 'p', (size_t)lengths[i]);
        path[n + lengths[i]] = '\0';
        lz_cache *c = ct_open_with((lz_cache_options){.path = path});
        ck_assert_int_eq(lz_cache_enabled(c), lengths[i] <= 255);
        ct_put(c, 3);
        ck_assert_int_eq(ct_get(c, 3), lengths[i] <= 255);
        lz_cache_close(c);
    }
    ck_assert_int_eq(ct_warnings, 6);
    free(path);
    char file[400];
    snprintf(file, sizeof file, "%s/file", ct_base);
    ct_spill(file, "x", 1);
    lz_cache *c = ct_open_with((lz_cache_options){.path = file});
    ck_assert(!lz_cache_enabled(c));
    lz_cache_close(c);
    strcat(file, "/below");
    c = ct_open_with((lz_cache_options){.path = file});
    ck_assert(!lz_cache_enabled(c));
    lz_cache_close(c);
    ct_teardown();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("dir");
    TCase *t = tcase_create("dir");
    tcase_add_loop_test(t, order_of_places, 0, (int)(sizeof rows / sizeof rows[0]));
    tcase_add_test(t, relative_paths_become_absolute);
    tcase_add_test(t, relative_to_nowhere);
    tcase_add_test(t, from_the_environment);
    tcase_add_test(t, no_home_at_all);
    tcase_add_test(t, paths_that_cannot_be);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
