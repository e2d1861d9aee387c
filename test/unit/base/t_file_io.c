/* t_file_io.c - folders with those above them: which are made, what is given where one cannot be,
 * whatever the path looks like. */
#include "base/file_io.h"
#include "suite.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char asked[64][300];
static int nasked, fails_from, fails_to, error;

/* Those of the numbers [fails_from, fails_to) cannot be made. */
static int make(int dirfd, const char *path)
{
    int i = nasked++;
    snprintf(asked[i], sizeof asked[i], "%s", path);
    errno = error;
    return i >= fails_from && i < fails_to ? -1 : mkdirat(dirfd, path, 0700);
}

static char folder[256];

static void setup(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/folders-XXXXXX", tmp ? tmp : "/tmp");
    ck_assert(mkdtemp(folder) && chdir(folder) == 0);
    nasked = fails_from = fails_to = 0;
}

START_TEST(folders_above_are_made_first)
{
    static const char *const paths[] = {"a/b/c", "./a//b/c///", "a/b/./c", "/"};
    for (int i = 0; i < 4; i++) {
        bool made = false;
        struct stat st;
        ck_assert_int_eq(lz_file_make_path(paths[i], make, &made), 0);
        ck_assert_int_eq(made, i == 0);
        ck_assert(stat("a/b/c", &st) == 0 && S_ISDIR(st.st_mode));
    }
    ck_assert_str_eq(asked[0], "a");
    ck_assert_str_eq(asked[1], "a/b");
    ck_assert_str_eq(asked[2], "a/b/c");
    ck_assert_int_eq(lz_file_make_folders("x/y"), LZ_OK);
    ck_assert_int_eq(access("x/y", X_OK), 0);
}
END_TEST

/* A file system may refuse what is there already, as long as the last one can be made; else the
 * first reason is given, and not that the one above is missing. */
START_TEST(the_first_that_fails_is_the_reason)
{
    bool made;
    error = EROFS;
    ck_assert_int_eq(mkdir("a", 0700), 0);
    fails_from = 0, fails_to = 1;
    ck_assert_int_eq(lz_file_make_path("a/b", make, &made), 0);
    ck_assert(made);
    nasked = 0;
    ck_assert_int_eq(lz_file_make_path("n/b/c", make, &made), EROFS);
    ck_assert(!made);
    nasked = 0, fails_from = 1, fails_to = 9;
    ck_assert_int_eq(lz_file_make_path("n/b", make, &made), EROFS);
}
END_TEST

START_TEST(what_is_no_folder)
{
    char longer[5000], text[LZ_ERROR_TEXT];
    bool made = true;
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    ck_assert_int_eq(lz_file_make_path(longer, make, &made), ENAMETOOLONG);
    ck_assert(!made && nasked == 0);
    ck_assert_int_eq(lz_file_make_folders(longer), LZ_EINVAL);
    ck_assert_int_eq(lz_file_make_path("", make, &made), ENOENT);
    ck_assert_int_eq(lz_file_make_path("/dev/null/x/y", make, &made), ENOTDIR);
    ck_assert_int_eq(lz_file_make_folders("/dev/null/x"), LZ_ENOENT);
    ck_assert(strstr(lz_error_text(lz_error_get(), text),
                     "cannot make the folder /dev/null/x: Not a directory") != NULL);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("file_io");
    TCase *t = tcase_create("file_io");
    tcase_add_checked_fixture(t, setup, NULL);
    tcase_add_test(t, folders_above_are_made_first);
    tcase_add_test(t, the_first_that_fails_is_the_reason);
    tcase_add_test(t, what_is_no_folder);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
