/* t_capture.c - lz_trace_detached: both files of a program that runs on, read strictly; errors; the
 * program's own trace beside it; a process that is killed, that ends, and that forks; events as
 * bytes, whole and damaged. */
#include "rt.h"
#include "base/thread.h"
#include "base/timeline/timeline.h"
#include "runtime/watch/message.h"
#include "tracefile.h"
#include "xspace.h"
#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <zlib.h>

static char dir[64];

static void name_dir(void)
{
    snprintf(dir, sizeof dir, "/tmp/lz-capture-%d", (int)getpid());
    rt_use(rt_devices[1]);
}

static void remove_dir(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    ck_assert_int_eq(system(command), 0);
}

/* ---- files ---- */

/* The n-th run's file that ends so; "" when there is none. */
static const char *find(const char *suffix, int n)
{
    static char path[1024];
    char profile[128];
    snprintf(profile, sizeof profile, "%s/plugins/profile", dir);
    struct dirent **runs, **files;
    int nrun = scandir(profile, &runs, NULL, alphasort);
    path[0] = 0;
    for (int i = 0; i < nrun; i++) {
        char run[600];
        snprintf(run, sizeof run, "%s/%s", profile, runs[i]->d_name);
        int nfile = runs[i]->d_name[0] == '.' ? 0 : scandir(run, &files, NULL, alphasort);
        for (int k = 0; k < nfile; k++) {
            size_t len = strlen(files[k]->d_name), m = strlen(suffix);
            if (len > m && strcmp(files[k]->d_name + len - m, suffix) == 0 && n-- == 0)
                snprintf(path, sizeof path, "%s/%s", run, files[k]->d_name);
            free(files[k]);
        }
        if (nfile > 0)
            free(files);
        free(runs[i]);
    }
    if (nrun > 0)
        free(runs);
    return path;
}

static tf_file read_json(int n)
{
    char plain[96], buffer[4096];
    const char *path = find(".trace.json.gz", n);
    ck_assert_str_ne(path, "");
    snprintf(plain, sizeof plain, "%s/plain.json", dir);
    gzFile from = gzopen(path, "rb");
    FILE *to = fopen(plain, "wb");
    int k;
    while ((k = gzread(from, buffer, sizeof buffer)) > 0)
        fwrite(buffer, 1, (size_t)k, to);
    ck_assert_int_eq(k, 0);
    ck_assert_int_eq(gzclose(from), Z_OK);
    fclose(to);
    return tf_load(plain);
}

static char *bytes;
static xs_field read_xspace(int n)
{
    const char *path = find(".xplane.pb", n);
    struct stat st;
    ck_assert_int_eq(stat(path, &st), 0);
    free(bytes);
    bytes = malloc((size_t)st.st_size + 1);
    FILE *f = fopen(path, "rb");
    ck_assert_uint_eq(fread(bytes, 1, (size_t)st.st_size, f), (size_t)st.st_size);
    fclose(f);
    xs_field space = {.is_bytes = true, .p = (const uint8_t *)bytes, .n = (size_t)st.st_size};
    xs_check(space);
    return space;
}

static int kernels_of(xs_field space)
{
    xs_field d = xs_plane(space, "/device:TPU:0");
    return xs_count(xs_line(d, "XLA Ops"), 4);
}

/* ---- a trace ---- */

START_TEST(of_a_program)
{
    rt_step();
    OK(lz_trace_detached(dir, 300));
    int64_t end = lz_now_ns() + 400000000;
    while (lz_now_ns() < end) {
        rt_step();
        usleep(3000);
    }
    OK(lz_trace_detached_wait());
    OK(lz_trace_detached_wait()); /* says it again */
    ck_assert(!lz_timeline_on());
    tf_file f = read_json(0);
    ck_assert_int_gt(tf_count(&f, "kernel", NULL), 0);
    ck_assert_int_gt(tf_count(&f, "step", "lz_mark_step"), 0);
    ck_assert_int_eq(tf_dropped(&f), 0);
    xs_field space = read_xspace(0), host = xs_plane(space, "/host:CPU");
    ck_assert_int_eq(kernels_of(space), tf_count(&f, "kernel", NULL));
    ck_assert_int_gt(xs_count(host, XS_LINES), 0);
    xs_field d = xs_plane(space, "/device:TPU:0");
    ck_assert_int_gt(xs_count(xs_line(d, "Steps"), 4), 0);
    ck_assert_str_eq(xs_stat_text(d, d, XS_STATS, "device_type_string"), "CPU:0");
    tf_free(&f);
    OK(lz_trace_detached(dir, 1)); /* another one, maybe in the same second */
    OK(lz_trace_detached_wait());
    ck_assert_str_ne(find(".xplane.pb", 1), "");
}
END_TEST

START_TEST(beside_a_trace_of_the_programs)
{
    char own[96];
    rt_step();
    ck_assert_int_eq(mkdir(dir, 0777), 0);
    snprintf(own, sizeof own, "%s/own.json", dir);
    OK(lz_start_trace(own));
    rt_step();
    OK(lz_trace_detached(dir, 100000));
    rt_step();
    OK(lz_stop_trace());
    rt_step();
    OK(lz_start_trace(own)); /* is not disturbed */
    rt_step();
    OK(lz_stop_trace());
    tf_file f = tf_load(own);
    ck_assert_int_eq(tf_count(&f, "step", "lz_mark_step"), 1);
    tf_free(&f);
    FAILS(lz_trace_detached(dir, 10), LZ_ESTATE, "runs already");
    exit(0); /* ends it */
}
END_TEST

START_TEST(ended_by_the_process)
{
    pid_t pid = fork();
    int status;
    if (pid == 0) {
        OK(lz_trace_detached(dir, 3600000));
        for (int i = 0; i < 3; i++)
            rt_step();
        exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    tf_file f = read_json(0);
    ck_assert_int_eq(tf_count(&f, "step", "lz_mark_step"), 3);
    ck_assert_int_gt(kernels_of(read_xspace(0)), 0);
    tf_free(&f);
}
END_TEST

/* What a signal kills leaves whole files. */
START_TEST(killed)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGKILL};
    int go[2], status;
    char c;
    ck_assert_int_eq(pipe(go), 0);
    pid_t pid = fork();
    if (pid == 0) {
        signal(signals[_i], SIG_DFL); /* Check's own handler is inherited */
        OK(lz_trace_detached(dir, 3600000));
        for (int64_t end = lz_now_ns() + 1500000000;;) {
            rt_step();
            usleep(3000);
            if (end && lz_now_ns() > end && write(go[1], "x", 1) == 1)
                end = 0;
        }
    }
    ck_assert_int_eq(read(go[0], &c, 1), 1);
    kill(pid, signals[_i]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(WTERMSIG(status), signals[_i]);
    tf_file f = read_json(0);
    ck_assert_int_gt(tf_count(&f, "kernel", NULL), 0);
    ck_assert_int_gt(kernels_of(read_xspace(0)), 0);
    tf_free(&f);
}
END_TEST

START_TEST(forked)
{
    int status;
    OK(lz_trace_detached(dir, 3600000)); /* before the library is armed */
    usleep(50000); /* its thread sleeps: no lock of a sanitizer's allocator is copied as held */
    pid_t pid = fork();
    if (pid == 0) {
        bool good = !lz_timeline_on() && lz_trace_detached_wait() == LZ_ESTATE;
        for (int i = 0; i < 3; i++)
            rt_step();
        _exit(good ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    rt_step();
    pid = fork(); /* and of one that is */
    if (pid == 0)
        _exit(lz_trace_detached_wait() == LZ_EFORK ? 0 : 1);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(errors)
{
    char longest[5000];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    FAILS(lz_trace_detached_wait(), LZ_ESTATE, "no detached trace");
    FAILS(lz_trace_detached(NULL, 10), LZ_ENULL, "logdir");
    FAILS(lz_trace_detached("", 10), LZ_EINVAL, "empty");
    FAILS(lz_trace_detached(longest, 10), LZ_EINVAL, "too long");
    FAILS(lz_trace_detached(dir, 0), LZ_EINVAL, "duration_ms");
    FAILS(lz_trace_detached(dir, 3600001), LZ_EINVAL, "duration_ms");
    FAILS(lz_trace_detached("/dev/null/x", 10), LZ_ENOENT, "/dev/null");
    ck_assert(!lz_timeline_on());
    FAILS(lz_trace_detached_wait(), LZ_ESTATE, "no detached trace");
}
END_TEST

/* ---- events as bytes ---- */

static lz_trace_event example(void)
{
    lz_trace_event e = {.tid = 5,
                        .row = lz_trace_text_of("row"),
                        .name = lz_trace_text_of("name \"\xff"),
                        .category = lz_trace_text_of("step time"),
                        .start_ns = 100,
                        .ns = 7,
                        .flow = 9,
                        .sends = true,
                        .narg = 2};
    e.arg[0] = (lz_trace_arg){.key = lz_trace_text_of("n"), .number = INT64_MIN};
    e.arg[1] = (lz_trace_arg){
        .key = lz_trace_text_of("t"), .is_text = true, .text = lz_trace_text_of("text")};
    return e;
}

START_TEST(events_as_bytes)
{
    lz_trace_event e = example(), got;
    lz_buf b = {0}, again = {0};
    lz_trace_event_put(&b, &e);
    lz_rd r = {(uint8_t *)b.data, (uint8_t *)b.data + b.len, false, false};
    ck_assert(lz_trace_event_get(&r, &got));
    lz_trace_event_put(&again, &got);
    ck_assert_uint_eq(b.len, again.len);
    ck_assert_mem_eq(b.data, again.data, b.len);
    ck_assert(!lz_trace_event_get(&r, &got) && !r.failed);
    for (size_t n = 1; n < b.len; n++) { /* cut */
        r = (lz_rd){(uint8_t *)b.data, (uint8_t *)b.data + n, false, false};
        ck_assert(!lz_trace_event_get(&r, &got) && r.failed);
    }
    lz_buf_free(&b);
    lz_buf_free(&again);
}
END_TEST

START_TEST(events_that_are_refused)
{
    lz_trace_event bad[6], got;
    for (int i = 0; i < 6; i++)
        bad[i] = example();
    bad[0].category = lz_trace_text_of("a\"b");
    bad[1].arg[0].key = lz_trace_text_of("a\\b");
    bad[2].arg[1].key = lz_trace_text_of("n"); /* twice */
    bad[3].ns = -1;
    bad[4].start_ns = INT64_MAX;
    bad[5].category = (lz_trace_text){"a\0b", 3};
    for (int i = 0; i < 6; i++) {
        lz_buf b = {0};
        lz_trace_event_put(&b, &bad[i]);
        lz_rd r = {(uint8_t *)b.data, (uint8_t *)b.data + b.len, false, false};
        ck_assert_msg(!lz_trace_event_get(&r, &got) && r.failed, "row %d", i);
        lz_buf_free(&b);
    }
}
END_TEST

START_TEST(messages)
{
    lz_buf b = {0};
    lz_watch_ask a = {LZ_WATCH_VERSION, LZ_WATCH_CAPTURE, 100}, got;
    lz_watch_put_ask(&b, &a);
    OK(lz_watch_get_ask(b.data, b.len, &got));
    ck_assert_mem_eq(&a, &got, sizeof a);
    ck_assert_int_eq(lz_watch_get_ask(b.data, b.len - 1, &got), LZ_EPARSE);
    static const lz_watch_ask bad[] = {
        {LZ_WATCH_VERSION, LZ_WATCH_CAPTURE, 0},
        {LZ_WATCH_VERSION, LZ_WATCH_STATISTICS, 1},
        {LZ_WATCH_VERSION, LZ_WATCH_WHATS, 0},
        {LZ_WATCH_VERSION, LZ_WATCH_CAPTURE, LZ_WATCH_LONGEST_MS + 1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        b.len = 0;
        lz_watch_put_ask(&b, &bad[i]);
        ck_assert_int_eq(lz_watch_get_ask(b.data, b.len, &got), LZ_EPARSE);
    }
    b.len = 0;
    lz_watch_put_ask(&b, &(lz_watch_ask){LZ_WATCH_VERSION + 1, LZ_WATCH_WHATS, 7});
    OK(lz_watch_get_ask(b.data, b.len, &got)); /* what another version asks is its own */
    ck_assert_uint_eq(got.version, LZ_WATCH_VERSION + 1);
    lz_buf_free(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("capture");
    TCase *t = tcase_create("capture");
    tcase_add_checked_fixture(t, name_dir, remove_dir);
    tcase_add_test(t, of_a_program);
    tcase_add_exit_test(t, beside_a_trace_of_the_programs, 0);
    tcase_add_test(t, ended_by_the_process);
    tcase_add_loop_test(t, killed, 0, 3);
    tcase_add_test(t, forked);
    tcase_add_test(t, errors);
    tcase_add_test(t, events_as_bytes);
    tcase_add_test(t, events_that_are_refused);
    tcase_add_test(t, messages);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
