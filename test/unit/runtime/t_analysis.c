/* t_analysis.c - the texts people and their scripts read: PT_XLA_DEBUG blocks, profiler lines,
 * metrics report, saved graphs. */
#include "rt.h"
#include "runtime/debug/analysis.h"
#include <ctype.h>
#include <sys/wait.h>

static char file[128], saved[140];

/* The whole file; it is emptied. */
static char *take(const char *path)
{
    static char text[1 << 18];
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = '\0';
    if (f)
        fclose(f);
    f = fopen(path, "w");
    if (f)
        fclose(f);
    return text;
}

/* Compares with a pattern in which '~' stands for a word of hexadecimal digits and '`' for the rest
 * of a line. */
static void matches(const char *got, const char *want)
{
    const char *g = got, *w = want;
    while (*w) {
        if (*w == '~') {
            ck_assert_msg(isxdigit((unsigned char)*g), "no hash at \"%.60s\"", g);
            while (isxdigit((unsigned char)*g))
                g++;
            w++;
        } else if (*w == '`') {
            while (*g && *g != '\n')
                g++;
            w++;
        } else {
            ck_assert_msg(*g == *w, "at offset %d: got \"%.80s\", want \"%.80s\"", (int)(g - got),
                          g, w);
            g++;
            w++;
        }
    }
    ck_assert_msg(*g == '\0', "more than wanted: \"%.200s\"", g);
}

#define RULE "================================================================================"
#define DASH "--------------------------------------------------------------------------------"
static void step(int64_t n)
{
    static float v[1024];
    lz_scope_begin();
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(n, 4), v),
              *w = lz_from_host(LZ_F32, LZ_SHAPE(4, 3), v);
    (void)lz_matmul(x, w);
    OK(lz_mark_step());
    lz_scope_end();
}
#define COMPILED(why)                                                                              \
    "\nCompilation Analysis: " RULE "\n"                                                           \
    "Compilation Analysis: Compilation Cause\n"                                                    \
    "Compilation Analysis:   user mark_step\n"                                                     \
    "Compilation Analysis: Graph Info: \n"                                                         \
    "Compilation Analysis:   Graph Hash: ~\n"                                                      \
    "Compilation Analysis:   Number of Graph Inputs: 2\n"                                          \
    "Compilation Analysis:   Number of Graph Outputs: 1\n"                                         \
    "Compilation Analysis: Frame Triggered Execution: \n"                                          \
    "Compilation Analysis:   step (test/unit/runtime/t_analysis.c:`\n"                             \
    "Compilation Analysis:   ..........\n"                                                         \
    "Compilation Analysis: Why It Compiled: \n" why "Compilation Analysis: " DASH "\n"             \
    "Compilation Analysis: " RULE "\n"                                                             \
    "\nComputation hash: ~\n\n"                                                                    \
    "Post Compilation Analysis: " RULE "\n"                                                        \
    "Post Compilation Analysis: Graph input size: 0.0000`\n"                                       \
    "Post Compilation Analysis: Graph output size: 0.0000`\n"                                      \
    "Post Compilation Analysis: Aliased Input size: 0.000000 GB\n"                                 \
    "Post Compilation Analysis: Intermediate tensor size: 0.0000`\n"                               \
    "Post Compilation Analysis: Compiled program size: 0.0000`\n"                                  \
    "Post Compilation Analysis: " DASH "\n"                                                        \
    "Post Compilation Analysis: " RULE "\n"
#define EXECUTED(cause)                                                                            \
    "\nExecution Analysis: " RULE "\n"                                                             \
    "Execution Analysis: Execution Cause\n"                                                        \
    "Execution Analysis:   " cause "\n"                                                            \
    "Execution Analysis: Graph Info: \n"                                                           \
    "Execution Analysis:   Graph Hash: ~\n"                                                        \
    "Execution Analysis:   Number of Graph Inputs: 2\n"                                            \
    "Execution Analysis:   Number of Graph Outputs: 1\n"                                           \
    "Execution Analysis: Frame Triggered Execution: \n"                                            \
    "Execution Analysis:   `\n"                                                                    \
    "Execution Analysis:   ..........\n"                                                           \
    "Execution Analysis: " DASH "\n"                                                               \
    "Execution Analysis: " RULE "\n"

START_TEST(blocks_are_as_their_readers_expect)
{
    setenv("PT_XLA_DEBUG_LEVEL", "2", 1);
    setenv("PT_XLA_DEBUG_FILE", file, 1);
    setenv("PT_XLA_DEBUG_MAX_FRAME", "1", 1);
    step(8);
    matches(take(file),
            COMPILED("Compilation Analysis:   it is the first graph\n") EXECUTED("user mark_step"));
    step(8);
    matches(take(file), EXECUTED("user mark_step"));
    step(9);
    char *text = take(file);
    const char *why = strstr(text, "operand 0 is f32[9,4], was f32[8,4]");
    ck_assert_msg(why != NULL, "%s", text);
    ck_assert_msg(strstr(text, "dot_general at test/unit/runtime/t_analysis.c:") != NULL, "%s",
                  text);
    lz_tensor *x = lz_ones(LZ_F32, LZ_SHAPE(2, 2)),
              *a = lz_from_host(LZ_F32, LZ_SHAPE(2), (float[]){1, 2});
    lz_tensor *y = lz_add_scalar(lz_sum(a), 2.5);
    (void)x;
    ck_assert_double_eq(lz_item(y), 5.5);
    ck_assert_ptr_nonnull(strstr(
        take(file), "most likely user code trying to access tensor value before mark_step\n"));
    OK(lz_set_graph_name("encoder"));
    y = lz_mul(y, y);
    OK(lz_sync(&y, 1, true));
    text = take(file);
    ck_assert_msg(
        strstr(text,
               "Execution Analysis: Graph Info: \nExecution Analysis:   Graph Name: encoder\n") !=
            NULL,
        "%s", text);
    ck_assert_msg(strstr(text, "  user sync\n") != NULL, "%s", text);
}
END_TEST

START_TEST(level_one_leaves_executions_out)
{
    setenv("PT_XLA_DEBUG_LEVEL", "1", 1);
    setenv("PT_XLA_DEBUG_FILE", file, 1);
    step(8);
    step(8);
    char *text = take(file);
    ck_assert_ptr_nonnull(strstr(text, "Post Compilation Analysis"));
    ck_assert_ptr_null(strstr(text, "Execution Cause"));
}
END_TEST

/* A program from disk says so, and is no compilation. */
START_TEST(found_on_disk)
{
    char dir[] = "/tmp/lz-analysis-XXXXXX", command[64];
    ck_assert_ptr_nonnull(mkdtemp(dir));
    setenv("LAZULI_CACHE", "1", 1);
    setenv("LAZULI_CACHE_DIR", dir, 1);
    setenv("PJRT_DEVICE", "CPU", 1);
    setenv("PT_XLA_DEBUG_LEVEL", "1", 1);
    setenv("PT_XLA_DEBUG_FILE", file, 1);
    for (int again = 0; again < 2; again++) {
        pid_t pid = fork();
        int status;
        if (pid == 0) {
            step(8);
            exit(0);
        }
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_int_eq(status, 0);
        char *text = take(file);
        const char *cause = strstr(text, "Cache Analysis: Cache Cause\n");
        ck_assert_msg((cause != NULL) == again, "%s", text);
        ck_assert_msg((strstr(text, "Compilation Cause") != NULL) == !again, "%s", text);
        if (again)
            ck_assert_msg(strstr(text, "Cache Analysis: Found On Disk: \n"
                                       "Cache Analysis:   nothing was compiled\n"
                                       "Cache Analysis: Why It Was Not In Memory: \n"
                                       "Cache Analysis:   it is the first graph\n") != NULL,
                          "%s", text);
    }
    snprintf(command, sizeof command, "rm -r %s", dir);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

/* On stderr, with the call, once for each call. */
START_TEST(profiler_lines_come_at_their_thresholds)
{
    setenv("PT_XLA_DEBUG", "1", 1);
    setenv("PT_XLA_DEBUG_FILE", "/dev/null", 1);
    ck_assert_ptr_nonnull(freopen(file, "a", stderr));
    setvbuf(stderr, NULL, _IONBF, 0);
    for (int i = 0; i < 14; i++)
        step(10 + i); /* a compilation in each of 14 steps: told in the 11th */
    matches(take(file), "pt-xla-profiler: CompileTime too frequent: 11 counts during 11 steps at "
                        "test/unit/runtime/t_analysis.c:`\n");
    lz_metric_add(LZ_METRIC_CompileTime, 301e9);
    lz_analysis_took(LZ_METRIC_CompileTime, NULL, 301e9);
    lz_metric_add(LZ_METRIC_ExecuteTime, 30.5e9);
    lz_analysis_took(LZ_METRIC_ExecuteTime, NULL, 30.5e9);
    for (int i = 0; i < 20; i++)
        lz_metric_add(LZ_METRIC_TransferFromDeviceTime, 1000);
    for (int i = 0; i < 3; i++)
        step(5);
    matches(take(file),
            "pt-xla-profiler: TransferFromDeviceTime too frequent: 20 counts during 15 steps\n"
            "pt-xla-profiler: CompileTime too slow: longest instance took 05m01s000ms000.000us. "
            "Please open a GitHub issue with the graph "
            "dump for our team to optimize.\n"
            "pt-xla-profiler: ExecuteTime too slow: longest instance took 30s500ms000.000us. "
            "Please open a GitHub issue with the graph "
            "dump for our team to optimize.\n");
}
END_TEST

START_TEST(each_call_that_reads_too_often_is_told)
{
    setenv("PT_XLA_DEBUG", "1", 1);
    setenv("PT_XLA_DEBUG_FILE", "/dev/null", 1);
    ck_assert_ptr_nonnull(freopen(file, "a", stderr));
    setvbuf(stderr, NULL, _IONBF, 0);
    lz_tensor *a = lz_ones(LZ_F32, LZ_SHAPE(1));
    float v;
    for (int i = 0; i < 6; i++) {
        OK(lz_mark_step());
        ck_assert_double_eq(lz_item(a), 1);
        OK(lz_to_host(a, &v, sizeof v));
        if (i == 0)
            OK(lz_to_host(a, &v, sizeof v)); /* seldom */
    }
    int told = 0;
    for (const char *at = take(file); (at = strstr(at, "TransferFromDeviceTime too frequent"));
         at++)
        told++;
    ck_assert_int_eq(told, 2); /* not the seldom one */
}
END_TEST

START_TEST(report_has_pytorch_xlas_format)
{
    for (int i = 1; i <= 100; i++) {
        lz_metric_add(LZ_METRIC_CompileTime, (double)i * 1e6);
        lz_metric_add(LZ_METRIC_TensorsGraphSize, i);
        lz_metric_add(LZ_METRIC_OutboundData, i * 1024.0 * 1024);
    }
    lz_counter_add(LZ_COUNTER_CachedCompile, 395);
    char *text = rt_report();
    matches(text, "Metric: CompileTime\n"
                  "  TotalSamples: 100\n"
                  "  Accumulator: 05s050ms000.000us\n"
                  "  ValueRate: `\n"
                  "  Rate: `\n"
                  "  Percentiles: 1%=002ms000.000us; 5%=006ms000.000us; 10%=011ms000.000us; "
                  "20%=021ms000.000us; 50%=051ms000.000us; "
                  "80%=081ms000.000us; 90%=091ms000.000us; 95%=096ms000.000us; 99%=100ms000.000us\n"
                  "Metric: OutboundData\n"
                  "  TotalSamples: 100\n"
                  "  Accumulator: 4.93GB\n"
                  "  ValueRate: `\n"
                  "  Rate: `\n"
                  "  Percentiles: `\n"
                  "Metric: TensorsGraphSize\n"
                  "  TotalSamples: 100\n"
                  "  Accumulator: 5050.00\n"
                  "  ValueRate: `\n"
                  "  Rate: `\n"
                  "  Percentiles: `\n"
                  "Counter: CachedCompile\n"
                  "  Value: 395\n");
    free(text);
    char small[8];
    ck_assert_uint_gt(lz_metrics_report(small, sizeof small), 8);
    ck_assert_str_eq(small, "Metric:");
    lz_metric_summary m;
    OK(lz_metric_data("CompileTime", &m));
    ck_assert_uint_eq(m.total_samples, 100);
    ck_assert_double_eq(m.accumulator, 5050e6);
    FAILS(lz_metric_data("NoSuch", &m), LZ_ENOENT, "NoSuch");
    lz_clear_metrics();
    lz_clear_counters();
    ck_assert_uint_eq(lz_metrics_report(NULL, 0), 0);
    (void)lz_neg(lz_ones(LZ_F32, LZ_SHAPE(2)));
    ck_assert_int_eq(lz_counter_value("xla::negate"), 1);
    ck_assert_int_eq(lz_counter_value("CreateXlaTensor"), 2);
    char names[400];
    lz_counter_names(names, sizeof names);
    ck_assert_str_eq(names, "CreateXlaTensor\nxla::broadcast_in_dim\nxla::negate\n");
}
END_TEST

START_TEST(times_have_pytorch_xlas_format)
{
    static const struct {
        double ns;
        const char *text;
    } t[] = {{0, "000.000us"},
             {1, "000.001us"},
             {1500, "001.500us"},
             {999999, "999.999us"},
             {1e6, "001ms000.000us"},
             {369401746001.0, "06m09s401ms746.001us"},
             {90061001002003.0, "01d01h01m01s001ms002.003us"},
             {3600e9, "01h00m00s000ms000.000us"}};
    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
        lz_buf b = {0};
        lz_metrics_print_time(&b, t[i].ns);
        ck_assert_str_eq(lz_buf_str(&b), t[i].text);
        lz_buf_free(&b);
    }
}
END_TEST

START_TEST(graphs_are_saved_at_each_sync)
{
    setenv("XLA_SAVE_TENSORS_FILE", file, 1);
    setenv("XLA_SAVE_TENSORS_FMT", "stablehlo", 1);
    setenv("PT_XLA_DEBUG_MAX_FRAME", "1", 1);
    OK(lz_set_graph_name("g"));
    step(8);
    matches(take(saved), "[ScheduleSyncTensorsGraph]\n"
                         "Graph Name: g\n"
                         "TensorsGraphInfo:\n"
                         "  step (test/unit/runtime/t_analysis.c:`\n"
                         "  ..........\n"
                         "\n"
                         "Root Hashes: (~)\n"
                         "\n"
                         "## BEGIN_GRAPH\n"
                         "module @g {\n"
                         "`\n"
                         "`\n"
                         "`\n"
                         "`\n"
                         "}\n"
                         "Graph Hash: ~\n"
                         "\n"
                         "## END_GRAPH\n\n");
    step(8); /* a known graph is saved too */
    ck_assert_ptr_nonnull(strstr(take(saved), "stablehlo.dot_general"));
}
END_TEST

START_TEST(metrics_are_written_at_each_step)
{
    setenv("XLA_METRICS_FILE", file, 1);
    step(3);
    step(3);
    char *text = take(file);
    ck_assert_int_eq(strncmp(text, "[MetricsData; step=1]\nMetric: CompileTime\n", 40), 0);
    ck_assert_ptr_nonnull(strstr(text, "\n[MetricsData; step=2]\n"));
}
END_TEST

START_TEST(pending_graphs_print_in_every_format)
{
    static const char *const formats[][2] = {{"text", "IR {\n"},
                                             {"hlo", "stablehlo.add"},
                                             {"stablehlo", "module @main"},
                                             {"dot", "digraph G {"}};
    char text[4096];
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(2), (float[]){1, 2}), *y = lz_add(x, x);
    for (int i = 0; i < 4; i++) {
        size_t n = lz_dump_graph(&y, 1, formats[i][0], text, sizeof text);
        ck_assert_uint_eq(n, strlen(text));
        ck_assert_msg(strstr(text, formats[i][1]) != NULL, "%s", text);
    }
    ck_assert_uint_eq(lz_dump_graph(&y, 1, "xml", text, sizeof text), 0);
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "xml"));
    ck_assert_int_eq(lz_counter_value("ExecuteComputation"), 0); /* looking runs nothing */
}
END_TEST

int main(void)
{
    rt_use("REF");
    snprintf(file, sizeof file, "%s/lazuli-analysis-%d",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid());
    snprintf(saved, sizeof saved, "%s.0", file);
    Suite *s = suite_create("analysis");
    TCase *t = tcase_create("analysis");
    tcase_add_test(t, blocks_are_as_their_readers_expect);
    tcase_add_test(t, level_one_leaves_executions_out);
    tcase_add_test(t, found_on_disk);
    tcase_add_test(t, profiler_lines_come_at_their_thresholds);
    tcase_add_test(t, each_call_that_reads_too_often_is_told);
    tcase_add_test(t, report_has_pytorch_xlas_format);
    tcase_add_test(t, times_have_pytorch_xlas_format);
    tcase_add_test(t, graphs_are_saved_at_each_sync);
    tcase_add_test(t, metrics_are_written_at_each_step);
    tcase_add_test(t, pending_graphs_print_in_every_format);
    suite_add_tcase(s, t);
    int failed = lz_run_suite(s);
    unlink(file);
    unlink(saved);
    return failed;
}
