/* t_events.c - PT_XLA_DEBUG_FILE=NAME.jsonl: every line is as docs/reference/events.schema.json
 * says, the events are those that happened, strings may be any bytes, processes share a file, a
 * killed one leaves whole lines, and nothing is written, opened or measured while it is off.
 * t_events FILE...: checks the lines of these files (test/api/events.sh). */
#include "rt.h"
#include "../../support/schema.h"
#include "runtime/debug/events.h"
#include <jansson.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char file[160];

typedef struct tally {
    int lines, compilations, executions, reads, looks, disk_hits;
    json_t *last[4]; /* compilation, execution, read, look */
} tally;

static json_t *read_schema(void)
{
    json_error_t e;
    json_t *s = json_load_file("docs/reference/events.schema.json", JSON_REJECT_DUPLICATES, &e);
    if (!s)
        fprintf(stderr, "docs/reference/events.schema.json:%d: %s\n", e.line, e.text);
    return s;
}

static const char *text_of(const json_t *j, const char *key)
{
    const char *s = json_string_value(json_object_get(j, key));
    return s ? s : "";
}

static void count(tally *t, json_t *e)
{
    const char *kind = text_of(e, "event");
    int k = strcmp(kind, "compilation") == 0 ? 0
            : strcmp(kind, "execution") == 0 ? 1
            : strcmp(kind, "read") == 0      ? 2
                                             : 3;
    *(int *[]){&t->compilations, &t->executions, &t->reads, &t->looks}[k] += 1;
    t->disk_hits += k == 3 && strcmp(text_of(e, "where"), "disk") == 0 &&
                    strcmp(text_of(e, "outcome"), "hit") == 0;
    t->lines++;
    json_decref(t->last[k]);
    t->last[k] = json_incref(e);
}

/* The first line that is wrong is printed: false. */
static bool check_file(const char *path, tally *t)
{
    char *line = NULL;
    size_t room = 0;
    bool ok = true;
    FILE *f = fopen(path, "r");
    json_t *schema = read_schema();
    while (ok && f && schema && getline(&line, &room, f) > 0) {
        schema_check c = {.root = schema};
        json_error_t err;
        json_t *e = json_loads(line, JSON_REJECT_DUPLICATES, &err);
        bool whole = line[strlen(line) - 1] == '\n';
        ok = e && whole && schema_holds(&c, schema, e, "event");
        if (!ok)
            fprintf(stderr, "%s: %s%s\n%.600s\n", path, e ? c.why : err.text,
                    whole ? "" : "half a line", line);
        else
            count(t, e);
        json_decref(e);
    }
    free(line);
    if (f)
        fclose(f);
    json_decref(schema);
    return ok && f && schema;
}

static tally take(void)
{
    tally t = {0};
    ck_assert_msg(check_file(file, &t), "see above");
    return t;
}

static void forget(tally *t)
{
    for (int i = 0; i < 4; i++)
        json_decref(t->last[i]);
}

static void step(int64_t n)
{
    static float v[256];
    OK(lz_scope_begin());
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(n), v), *s = lz_sum(lz_exp(x));
    OK(lz_mark_step());
    ck_assert_double_eq(lz_item(s), (double)n);
    OK(lz_scope_end());
}

static void turn_on(const char *device)
{
    setenv("PJRT_DEVICE", device, 1);
    setenv("PT_XLA_DEBUG_FILE", file, 1);
}

START_TEST(what_happened)
{
    turn_on("CPU");
    OK(lz_set_graph_name("a \"name\""));
    step(8);
    step(8);
    step(9);
    OK(lz_wait_device_ops());
    tally t = take();
    ck_assert_int_eq(t.compilations, 2);
    ck_assert_int_eq(t.executions, 3);
    ck_assert_int_eq(t.reads, 3);
    ck_assert_int_eq(t.looks, 3); /* in memory; the disk is off */
    const json_t *c = t.last[0], *x = t.last[1], *r = t.last[2];
    ck_assert_str_eq(text_of(c, "name"), "a \"name\"");
    ck_assert_str_eq(text_of(c, "cause"), "step");
    ck_assert_str_eq(text_of(json_object_get(c, "difference"), "kind"), "shape");
    ck_assert_uint_ge(json_array_size(json_object_get(c, "kernels")), 1);
    const json_t *frame = json_array_get(json_object_get(c, "frames"), 0);
    ck_assert_str_eq(text_of(frame, "function"), "step");
    ck_assert_uint_gt(json_array_size(json_object_get(c, "frames")), 1);
    ck_assert_str_eq(text_of(x, "status"), "LZ_OK");
    ck_assert_ptr_nonnull(json_object_get(json_object_get(x, "times_ms"), "run"));
    ck_assert_str_eq(text_of(x, "graph"), text_of(c, "graph"));
    ck_assert_int_eq(json_integer_value(json_object_get(r, "bytes")), 4);
    forget(&t);
}
END_TEST

START_TEST(a_read_computes)
{
    turn_on("REF");
    ck_assert_double_eq(lz_item(lz_sum(lz_ones(LZ_F32, LZ_SHAPE(3)))), 3);
    OK(lz_mark_step());
    tally t = take();
    ck_assert(json_is_true(json_object_get(t.last[2], "computed")));
    ck_assert_str_eq(text_of(t.last[1], "cause"), "read");
    forget(&t);
}
END_TEST

static void twice(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_add(in[0], in[0]);
}

START_TEST(functions)
{
    turn_on("REF");
    lz_tensor *a = lz_ones(LZ_F32, LZ_SHAPE(3)), *b;
    lz_function *f;
    OK(lz_mark_step());
    OK(lz_function_trace(twice, NULL, &a, 1, 1, &f));
    OK(lz_function_call(f, &a, 1, &b, 1));
    OK(lz_mark_step());
    lz_function_free(f);
    tally t = take();
    ck_assert_str_eq(text_of(t.last[0], "cause"), "function");
    ck_assert_int_ge(t.executions, 1);
    forget(&t);
}
END_TEST

/* A program from disk is a look that hits, not a compilation; its kernels come from there. */
START_TEST(the_disk)
{
    char dir[] = "/tmp/lz-events-XXXXXX", command[64];
    ck_assert_ptr_nonnull(mkdtemp(dir));
    turn_on("CPU");
    setenv("LAZULI_CACHE", "1", 1);
    setenv("LAZULI_CACHE_DIR", dir, 1);
    for (int again = 0; again < 2; again++) {
        int status;
        pid_t pid = fork();
        if (pid == 0) {
            step(8);
            exit(0);
        }
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_int_eq(status, 0);
        tally t = take();
        ck_assert_int_eq(t.compilations, 1); /* of the first process */
        ck_assert_int_eq(t.disk_hits, again);
        ck_assert_int_eq(t.executions, 1 + again); /* written at exit */
        if (again) {
            json_t *k = json_array_get(json_object_get(t.last[3], "kernels"), 0);
            ck_assert_str_eq(text_of(k, "from"), "disk");
            ck_assert_str_eq(text_of(t.last[1], "program"), "disk");
        }
        forget(&t);
    }
    snprintf(command, sizeof command, "rm -r %s", dir);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(any_bytes)
{
    turn_on("REF");
    OK(lz_set_graph_name("\xff\xfe \"\\\n\x01 gr\xc3\xbc\xc3\x9f"));
    step(3);
    tally t = take();
    ck_assert_str_eq(text_of(t.last[0], "name"),
                     "\xef\xbf\xbd\xef\xbf\xbd \"\\\n\x01 gr\xc3\xbc\xc3\x9f");
    forget(&t);
}
END_TEST

enum { PROCESSES = 4, STEPS = 40 };

START_TEST(a_shared_file)
{
    turn_on("REF");
    pid_t pid[PROCESSES];
    for (int p = 0; p < PROCESSES; p++)
        if ((pid[p] = fork()) == 0) {
            for (int i = 0; i < STEPS; i++)
                step(3 + i % 5);
            exit(0);
        }
    for (int p = 0; p < PROCESSES; p++) {
        int status;
        ck_assert_int_eq(waitpid(pid[p], &status, 0), pid[p]);
        ck_assert_int_eq(status, 0);
    }
    tally t = take();
    ck_assert_int_eq(t.executions, PROCESSES * STEPS);
    ck_assert_int_eq(t.compilations, PROCESSES * 5);
    forget(&t);
}
END_TEST

START_TEST(a_killed_process)
{
    turn_on("REF");
    int ready[2], status;
    char byte;
    ck_assert_int_eq(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0)
        for (int i = 0;; i++) {
            step(3 + i % 5);
            if (i == 20 && write(ready[1], "x", 1) != 1)
                exit(1);
        }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    tally t = take();
    ck_assert_int_ge(t.executions, 19);
    forget(&t);
    close(ready[0]);
    close(ready[1]);
}
END_TEST

START_TEST(a_file_that_cannot_be_written)
{
    setenv("PT_XLA_DEBUG_FILE", "/nowhere/at/all.jsonl", 1);
    step(3); /* as ever */
    ck_assert_int_eq(lz_last_error(NULL), LZ_OK);
}
END_TEST

/* The texts have their own name, and this one is no text's. */
START_TEST(off)
{
    struct stat st;
    uint64_t n[2];
    setenv("PT_XLA_DEBUG_FILE", "/tmp/lz-events-not-there", 1);
    for (int i = 0; i < 3; i++)
        step(3);
    for (int i = 0; i < 2; i++) {
        n[i] = lz_alloc_count();
        step(3);
        n[i] = lz_alloc_count() - n[i];
    }
    ck_assert_uint_eq(n[0], n[1]);
    ck_assert(!lz_events_on() && !lz_event_times);
    ck_assert_int_ne(stat("/tmp/lz-events-not-there", &st), 0);
}
END_TEST

static int check_files(int n, char **path)
{
    tally t = {0};
    bool ok = true;
    for (int i = 0; i < n; i++)
        ok &= check_file(path[i], &t);
    printf("%d events: %d compilations, %d executions, %d reads, %d looks, %d hits on disk\n",
           t.lines, t.compilations, t.executions, t.reads, t.looks, t.disk_hits);
    forget(&t);
    return ok && t.executions ? 0 : 1;
}

static void clean(void)
{
    unlink(file);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return check_files(argc - 1, argv + 1);
    rt_use("REF");
    snprintf(file, sizeof file, "/tmp/lz-events-%d.jsonl", (int)getpid());
    Suite *s = suite_create("events");
    TCase *t = tcase_create("events");
    tcase_add_checked_fixture(t, clean, clean);
    tcase_add_test(t, what_happened);
    tcase_add_test(t, a_read_computes);
    tcase_add_test(t, functions);
    tcase_add_test(t, the_disk);
    tcase_add_test(t, any_bytes);
    tcase_add_test(t, a_shared_file);
    tcase_add_test(t, a_killed_process);
    tcase_add_test(t, a_file_that_cannot_be_written);
    tcase_add_test(t, off);
    suite_add_tcase(s, t);
    int failed = lz_run_suite(s);
    unlink(file);
    return failed;
}
