/* t_env.c - the environment of a program with raised privileges does not count: nothing of it
 * reaches an option, whether libc says so (secure_getenv is this file's here) or the kernel does
 * (AT_SECURE of a set-user-id copy of this test). */
#include "base/env.h"
#include "base/config.h"
#include "suite.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

static bool raised;
char *secure_getenv(const char *name)
{
    return raised ? NULL : getenv(name);
}

/* Every option of the table is given a value that is not its default. */
static void give_all(void)
{
    const char *env, *type, *def;
    for (int i = 0; lz_config_row(i, &env, &type, &def, NULL); i++) {
        bool flag = strcmp(type, "bool") == 0, number = strcmp(type, "int") == 0;
        bool is_log = strcmp(env, "LAZULI_LOG") == 0;
        setenv(env,
               is_log   ? "debug"
               : flag   ? (strcmp(def, "true") == 0 ? "0" : "1")
               : number ? "17"
                        : "/tmp/of-somebody-else",
               1);
    }
    setenv("LAZULI_FORMS", "all", 1); /* a former name */
}

static int options_given(void)
{
    int n = 0;
    for (int i = 0; i < LZ_OPT_COUNT; i++)
        n += lz_cfg_is_set((lz_opt)i);
    return n;
}

START_TEST(own_environment)
{
    give_all();
    setenv("T_ENV_EMPTY", "", 1);
    ck_assert(!lz_env_is_foreign());
    ck_assert_ptr_null(lz_env_get("T_ENV_EMPTY"));
    ck_assert_ptr_null(lz_env_get("T_ENV_NOT_SET"));
    ck_assert_str_eq(lz_env_get("LAZULI_PROFILE"), "/tmp/of-somebody-else");
    ck_assert_ptr_nonnull(lz_env_all()[0]);
    ck_assert_int_ge(options_given(), LZ_OPT_COUNT - 8); /* 17 is out of some ranges */
}
END_TEST

START_TEST(libc_says_raised)
{
    give_all();
    raised = true;
    ck_assert_ptr_null(lz_env_get("PATH"));
    ck_assert_int_eq(options_given(), 0);
}
END_TEST

/* In the set-user-id copy. 77: it has no raised privileges. */
static int as_copy(void)
{
    if (!lz_env_is_foreign())
        return 77;
    give_all();
    return lz_env_get("PATH") || lz_env_all()[0] || options_given() ? 1 : 0;
}

static bool copy_of_self(const char *to)
{
    char buf[1 << 16];
    FILE *in = fopen("/proc/self/exe", "rb"), *out = fopen(to, "wb");
    size_t n = 0;
    while (in && out && (n = fread(buf, 1, sizeof buf, in)) > 0)
        fwrite(buf, 1, n, out);
    if (in)
        fclose(in);
    return in && out && fclose(out) == 0;
}

/* Whether the kernel gives nobody more privileges by a program in `dir`. */
static bool set_user_id_is_off(const char *dir)
{
    char line[256];
    struct statvfs fs;
    ck_assert_int_eq(statvfs(dir, &fs), 0);
    bool off = (fs.f_flag & ST_NOSUID) != 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        off |= strcmp(line, "NoNewPrivs:\t1\n") == 0;
    if (f)
        fclose(f);
    return off;
}

/* Run by root, who alone can make a program of another user. */
START_TEST(kernel_says_raised)
{
    char dir[] = "/tmp/lz-env-XXXXXX", path[64];
    int status;
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/copy", dir);
    bool made = copy_of_self(path) && chmod(dir, 0755) == 0 && chown(path, 65534, 65534) == 0 &&
                chmod(path, 04755) == 0;
    pid_t pid = made ? fork() : -1;
    if (pid == 0) {
        execl(path, path, "copy", (char *)NULL);
        _exit(127);
    }
    bool ended = pid > 0 && waitpid(pid, &status, 0) == pid, off = set_user_id_is_off(dir);
    unlink(path);
    rmdir(dir);
    ck_assert(made && ended && WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), off ? 77 : 0);
}
END_TEST

int main(int argc, char **argv)
{
    (void)argv;
    if (argc == 2)
        _exit(as_copy()); /* a leak check cannot trace a program with raised privileges */
    Suite *s = suite_create("env");
    TCase *t = tcase_create("env");
    tcase_add_test(t, own_environment);
    tcase_add_test(t, libc_says_raised);
    if (geteuid() == 0)
        tcase_add_test(t, kernel_says_raised);
    else
        printf("kernel_says_raised is left out: only root can make a program of another user\n");
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
