/* t_scalar_log.c - lz_log_scalar: both files hold each scalar as soon as it is logged, whatever it
 * is called; folders that go on; errors. lz_progress: on a terminal, with and without colour, and
 * nowhere else. */
#include "base/formats/tfrecord.h"
#include "base/file_io.h"
#include "rt.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char folder[256];

static void setup(void)
{
    const char *tmp = getenv("TMPDIR");
    rt_use(rt_devices[0]);
    snprintf(folder, sizeof folder, "%s/scalars-XXXXXX", tmp ? tmp : "/tmp");
    ck_assert(mkdtemp(folder) != NULL);
    strcat(folder, "/a/b");
}

static lz_buf lines(void)
{
    char path[300];
    lz_buf b = {0};
    snprintf(path, sizeof path, "%s/scalars.jsonl", folder);
    ck_assert_int_eq(lz_file_slurp(path, 1 << 20, &b), LZ_OK);
    return b;
}

/* Records of the folder's events, all of them whole; *files: how many. what: a text that one of
 * them has, or NULL. */
static int records(int *files, const char *what, bool *has)
{
    DIR *d = opendir(folder);
    int count = 0;
    *files = 0;
    ck_assert(d != NULL);
    for (struct dirent *e; (e = readdir(d));) {
        char path[600];
        lz_buf b = {0};
        size_t at = 0, n;
        const void *p;
        const char *why;
        if (!strstr(e->d_name, "tfevents"))
            continue;
        ++*files;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        ck_assert_int_eq(lz_file_slurp(path, 1 << 20, &b), LZ_OK);
        for (; lz_tfrecord_next(b.data, b.len, &at, &p, &n, &why); count++)
            if (what)
                *has |= memmem(p, n, what, strlen(what)) != NULL;
        ck_assert_ptr_eq(why, NULL);
        lz_buf_free(&b);
    }
    closedir(d);
    return count;
}

START_TEST(each_scalar_is_in_both_files_at_once)
{
    static const struct {
        const char *name;
        double value;
        int64_t step;
        const char *line;
    } rows[] = {
        {"loss", 1.5, 0, "\"step\":0,\"name\":\"loss\",\"value\":1.5}"},
        {"loss", 0.1, INT64_MAX,
         "\"step\":9223372036854775807,\"name\":\"loss\",\"value\":0.10000000000000001}"},
        {"a/b \"quoted\"\n</script>", NAN, 3,
         "\"name\":\"a/b \\\"quoted\\\"\\n</script>\",\"value\":\"NaN\"}"},
        {"\xc3\xa4", INFINITY, 3, "\"name\":\"\xc3\xa4\",\"value\":\"Infinity\"}"},
        {"x", -INFINITY, 3, "\"value\":\"-Infinity\"}"},
        {"x", -0.0, 3, "\"value\":-0}"},
        {"x", 5e-324, 3, "\"value\":4.9406564584124654e-324}"},
    };
    OK(lz_start_scalar_log(folder));
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++) {
        int files;
        bool has = false;
        OK(lz_log_scalar(rows[i].name, rows[i].value, rows[i].step));
        lz_buf b = lines();
        ck_assert_msg(strstr(lz_buf_str(&b), rows[i].line) != NULL, "%s in %s", rows[i].line,
                      lz_buf_str(&b));
        ck_assert(b.data[b.len - 1] == '\n');
        lz_buf_free(&b);
        ck_assert_int_eq(records(&files, rows[i].name, &has), i + 2); /* the version comes first */
        ck_assert(has && files == 1);
    }
    OK(lz_stop_scalar_log());
    bool has = false;
    int files;
    (void)records(&files, "brain.Event:2", &has);
    ck_assert(has);
}
END_TEST

/* The lines go on, and each log has events of its own. */
START_TEST(a_folder_goes_on)
{
    int files;
    for (int i = 0; i < 3; i++) {
        OK(lz_start_scalar_log(folder));
        OK(lz_log_scalar("loss", i, i));
        OK(lz_stop_scalar_log());
    }
    lz_buf b = lines();
    ck_assert(strstr(lz_buf_str(&b), "\"step\":0") && strstr(lz_buf_str(&b), "\"step\":2"));
    lz_buf_free(&b);
    ck_assert_int_eq(records(&files, NULL, NULL), 6);
    ck_assert_int_eq(files, 3);
}
END_TEST

START_TEST(what_is_wrong_is_refused)
{
    char name[300];
    memset(name, 'x', sizeof name);
    name[255] = '\0';
    ck_assert_int_eq(lz_start_scalar_log(NULL), LZ_ENULL);
    ck_assert_int_eq(lz_start_scalar_log(""), LZ_EINVAL);
    ck_assert_int_eq(lz_start_scalar_log("/dev/null/x"), LZ_ENOENT);
    ck_assert_int_eq(lz_stop_scalar_log(), LZ_ESTATE);
    OK(lz_log_scalar("without a log", 1, 1));
    OK(lz_start_scalar_log(folder));
    ck_assert_int_eq(lz_start_scalar_log(folder), LZ_ESTATE);
    ck_assert_int_eq(lz_log_scalar(NULL, 1, 1), LZ_ENULL);
    ck_assert_int_eq(lz_log_scalar("", 1, 1), LZ_EINVAL);
    ck_assert_int_eq(lz_log_scalar("x", 1, -1), LZ_EINVAL);
    ck_assert_int_eq(lz_log_scalar("\xff", 1, 1), LZ_EINVAL);
    OK(lz_log_scalar(name, 1, 1));
    name[255] = 'x', name[256] = '\0';
    ck_assert_int_eq(lz_log_scalar(name, 1, 1), LZ_EINVAL);
    lz_buf b = lines();
    ck_assert(strstr(lz_buf_str(&b), "without") == NULL);
    lz_buf_free(&b);
    OK(lz_stop_scalar_log());
    ck_assert_int_eq(lz_progress(NULL, 1, 2), LZ_ENULL);
    ck_assert_int_eq(lz_progress("x", -1, 2), LZ_EINVAL);
    ck_assert_int_eq(lz_progress("x", 1, -2), LZ_EINVAL);
    ck_assert_int_eq(lz_progress("x", 3, 2), LZ_EINVAL);
}
END_TEST

/* The files are the parent's. */
START_TEST(a_child_logs_nothing)
{
    int status, files;
    OK(lz_start_scalar_log(folder));
    pid_t pid = fork();
    if (pid == 0) {
        bool good = lz_log_scalar("child", 1, 1) == LZ_OK && lz_stop_scalar_log() == LZ_ESTATE;
        _exit(good ? 0 : 1);
    }
    ck_assert(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    OK(lz_log_scalar("parent", 1, 1));
    ck_assert_int_eq(records(&files, NULL, NULL), 2);
    OK(lz_stop_scalar_log());
}
END_TEST

static off_t size_of(bool events)
{
    char path[600] = "";
    struct stat st;
    DIR *d = opendir(folder);
    ck_assert(d != NULL);
    for (struct dirent *e; (e = readdir(d));)
        if (strstr(e->d_name, events ? "tfevents" : "scalars.jsonl"))
            snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    closedir(d);
    ck_assert_int_eq(stat(path, &st), 0);
    return st.st_size;
}

/* Lines of n scalars, each whole on a line of its own; others are cut ones. */
static void have_lines(int n)
{
    lz_buf b = lines();
    int whole = 0;
    for (char *at = (char *)lz_buf_str(&b), *end; (end = strchr(at, '\n')); at = end + 1) {
        ck_assert(at == end || *at == '{');
        for (char *c = at + 1; c < end; c++)
            ck_assert_msg(*c != '{', "%s", lz_buf_str(&b));
        whole += end > at && end[-1] == '}';
    }
    ck_assert_int_eq(whole, n);
    lz_buf_free(&b);
}

/* The file that gets full first: of events, of lines; then there is room again. A longer name was
 * cut than what follows, so that what is left of it would be seen. */
START_TEST(what_follows_a_full_disk_is_whole)
{
    enum { FIRST = 60 }; /* lines are longer than events: they get full with room for those */
    struct rlimit before, few;
    int files;
    bool events = _i == 0;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    few = before;
    OK(lz_start_scalar_log(folder));
    char name[256];
    memset(name, 'n', 200);
    name[200] = '\0';
    for (int i = 0; i < FIRST; i++)
        OK(lz_log_scalar("loss", i, i));
    for (int again = 0; again < 2; again++) {
        lz_status said[2] = {LZ_OK, LZ_OK};
        few.rlim_cur = (rlim_t)size_of(events) + 150;
        int set = setrlimit(RLIMIT_FSIZE, &few); /* it is also that of what the test writes */
        for (int i = 0; i < 2; i++)              /* it stays full for some time */
            said[i] = lz_log_scalar(name, 1, 1);
        ck_assert(set == 0 && setrlimit(RLIMIT_FSIZE, &before) == 0);
        ck_assert(said[0] == LZ_EIO && said[1] == LZ_EIO);
        OK(lz_log_scalar("x", 2, 2));
    }
    int whole = records(&files, NULL, NULL);
    ck_assert_msg(whole == 1 + FIRST + (events ? 2 : 6), "%d", whole);
    have_lines(FIRST + 2);
    ck_assert_int_eq(lz_stop_scalar_log(), events ? LZ_EIO : LZ_OK);
    ck_assert_int_eq(records(&files, NULL, NULL), whole);
}
END_TEST

/* Where the last line has no end, the next one begins a line. */
START_TEST(a_folder_goes_on_after_a_cut_line)
{
    char path[300];
    OK(lz_start_scalar_log(folder));
    OK(lz_log_scalar("loss", 1, 1));
    OK(lz_log_scalar("loss", 2, 2));
    OK(lz_stop_scalar_log());
    snprintf(path, sizeof path, "%s/scalars.jsonl", folder);
    ck_assert_int_eq(truncate(path, size_of(false) - 20), 0);
    OK(lz_start_scalar_log(folder));
    OK(lz_log_scalar("loss", 3, 3));
    OK(lz_log_scalar("loss", 4, 4));
    have_lines(3);
    OK(lz_stop_scalar_log());
}
END_TEST

/* ---- progress ---- */

/* What a child writes to a terminal of so many columns as its standard error; columns 0: to a
 * pipe. */
static char *seen_of(void (*run)(void), int columns)
{
    static char text[1 << 16];
    int master = -1, end = -1, pipes[2] = {-1, -1};
    if (columns) {
        master = posix_openpt(O_RDWR | O_NOCTTY);
        ck_assert(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
        end = open(ptsname(master), O_RDWR | O_NOCTTY);
        struct winsize w = {.ws_row = 24, .ws_col = (unsigned short)columns};
        ck_assert(end >= 0 && ioctl(end, TIOCSWINSZ, &w) == 0);
    } else {
        ck_assert(pipe(pipes) == 0);
        master = pipes[0], end = pipes[1];
    }
    pid_t pid = fork();
    if (pid == 0) {
        dup2(end, STDERR_FILENO);
        close(master);
        run();
        _exit(0);
    }
    close(end);
    size_t n = 0;
    for (ssize_t k; (k = read(master, text + n, sizeof text - 1 - n)) > 0;)
        n += (size_t)k;
    text[n] = '\0';
    close(master);
    ck_assert(waitpid(pid, NULL, 0) == pid);
    return text;
}

static void half(void)
{
    (void)lz_log_scalar("loss", 1.25, 1);
    (void)lz_log_scalar("lr\x1b[2J", 0.001, 1);
    (void)lz_progress("epoch\n1", 1, 4);
    (void)lz_progress("epoch\n1", 4, 4);
    (void)lz_progress("images", 3, 0);
    (void)lz_progress("images", 1000000, 0); /* too soon to be seen */
    (void)lz_progress("done", 5, 5);
}

START_TEST(a_line_is_written_on_a_terminal)
{
    setenv("TERM", "xterm", 1);
    setenv("NO_COLOR", "1", 1);
    const char *s = seen_of(half, 120);
    ck_assert_msg(strstr(s, "\repoch 1 [######------------------] 1 of 4  loss 1.25") == s, "%s",
                  s);
    ck_assert_msg(strstr(s, "\repoch 1 [########################] 4 of 4  ") != NULL, "%s", s);
    ck_assert_msg(strstr(s, "/s  loss 1.25  lr?[2J 0.001\033[K\r\n") != NULL, "%s", s);
    ck_assert_msg(strstr(s, "\rimages 3  loss 1.25") != NULL, "%s", s);
    ck_assert_msg(strstr(s, "1000000") == NULL, "%s", s);
    ck_assert_msg(strstr(s, "\r\n\rdone [####") != NULL, "%s", s);
    ck_assert_msg(strstr(s, "\033[3") == NULL, "%s", s);
    unsetenv("NO_COLOR");
    ck_assert(strstr(seen_of(half, 120), "[\033[32m######\033[0m---") != NULL);
    s = seen_of(half, 20); /* cut, so that it stays one line */
    ck_assert_msg(strstr(s, "\033[32m######\033[0m----\033[K") != NULL, "%s", s);
}
END_TEST

static void strange(void)
{
    char what[80] = "", wide[] = "\xc3\xa4";
    for (int i = 0; i < 35; i++) /* 63 bytes are 31 of these, and a half */
        strcat(what, wide);
    (void)lz_log_scalar("a\xc2\x9b"
                        "2Jb",
                        1, 1); /* U+009B, which some obey as ESC [ */
    (void)lz_progress(what, 1, 4);
    (void)lz_progress("x\xc2\x9b"
                      "2J\xff",
                      4, 4);
}

START_TEST(names_are_whole_characters_that_terminals_do_not_obey)
{
    setenv("TERM", "xterm", 1);
    setenv("NO_COLOR", "1", 1);
    const char *s = seen_of(strange, 200);
    ck_assert_msg(strstr(s, "\xc3\xa4 [######") != NULL, "%s", s);
    ck_assert_msg(strstr(s, "  a?2Jb 1") != NULL, "%s", s);
    ck_assert_msg(strstr(s, "\rx?2J? [####") != NULL, "%s", s);
    unsetenv("NO_COLOR");
}
END_TEST

START_TEST(nothing_is_written_elsewhere)
{
    setenv("TERM", "xterm", 1);
    ck_assert_str_eq(seen_of(half, 0), "");
    setenv("TERM", "dumb", 1);
    ck_assert_str_eq(seen_of(half, 80), "");
    unsetenv("TERM");
    ck_assert_str_eq(seen_of(half, 80), "");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("scalar_log");
    TCase *t = tcase_create("scalar_log");
    tcase_add_checked_fixture(t, setup, NULL);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, each_scalar_is_in_both_files_at_once);
    tcase_add_test(t, a_folder_goes_on);
    tcase_add_loop_test(t, what_follows_a_full_disk_is_whole, 0, 2);
    tcase_add_test(t, a_folder_goes_on_after_a_cut_line);
    tcase_add_test(t, what_is_wrong_is_refused);
    tcase_add_test(t, a_child_logs_nothing);
    tcase_add_test(t, a_line_is_written_on_a_terminal);
    tcase_add_test(t, names_are_whole_characters_that_terminals_do_not_obey);
    tcase_add_test(t, nothing_is_written_elsewhere);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
