/* t_spmd_told.c - what people are told of a program on a mesh: counters of collectives and of the
 * bytes they send, the analysis of a run, spans of a timeline, and the warning of what is on every
 * device though no mark says so. */
#include "../runtime/rt.h"
#include "backends/backend.h"
#include "ir/module.h"
#include "tracefile.h"

enum { DEVICES = 8, SIDE = 600 }; /* SIDE x SIDE of f32 is more than 1 MiB */

static lz_mesh *use(void)
{
    rt_use("CPU");
    setenv("CPU_NUM_DEVICES", "8", 1);
    setenv("XLA_USE_SPMD", "1", 1);
    lz_mesh *m = lz_mesh_1d("x");
    ck_assert_msg(m != NULL, "%s", lz_last_error_text());
    return m;
}

static lz_tensor *square_of(int side)
{
    static float v[SIDE * SIDE];
    for (int i = 0; i < side * side; i++)
        v[i] = (float)(i % 7) - 3;
    return lz_from_host(LZ_F32, LZ_SHAPE(side, side), v);
}

/* ---- counters ---- */

static void all_kinds(lz_tensor *const *in, lz_tensor **out, void *user)
{
    static const int64_t around[] = {0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 0};
    (void)user;
    lz_tensor *x = lz_axis_all_reduce("max", in[0], "x"); /* one, not a gather */
    x = lz_axis_all_reduce("sum", x, "x");
    x = lz_axis_all_gather(lz_axis_reduce_scatter("sum", x, 1, "x"), 1, "x");
    x = lz_axis_all_to_all(lz_axis_permute(x, "x", around, DEVICES), 1, 1, "x");
    out[0] = x;
}

static const struct {
    const char *runs, *bytes;
    int64_t nrun, nbyte;
} counts[] = {/* of [1, 8] f32 on each of 8 devices */
              {"CollectiveAllReduce", "CollectiveAllReduceBytes", 2, 2 * 2 * 32 / 8 * 7},
              {"CollectiveAllGather", "CollectiveAllGatherBytes", 1, 32 / 8 * 7},
              {"CollectiveReduceScatter", "CollectiveReduceScatterBytes", 1, 32 / 8 * 7},
              {"CollectiveAllToAll", "CollectiveAllToAllBytes", 1, 32 / 8 * 7},
              {"CollectivePermute", "CollectivePermuteBytes", 1, 32},
              {"CollectiveBroadcast", "CollectiveBroadcastBytes", 0, 0}};
enum { COUNTS = sizeof counts / sizeof *counts };

static void run_all_kinds(lz_mesh *m)
{
    lz_partition_spec spec = LZ_SPEC("x", NULL);
    lz_tensor *x = square_of(8), *y;
    OK(lz_manual(all_kinds, m, &x, &spec, 1, &spec, 1, NULL, &y));
    OK(lz_mark_step());
    OK(lz_wait_device_ops());
}

START_TEST(counters)
{
    lz_mesh *m = use();
    for (int step = 1; step < 4; step++) {
        run_all_kinds(m);
        for (int i = 0; i < COUNTS; i++) {
            ck_assert_msg(lz_counter_value(counts[i].runs) == step * counts[i].nrun, "%s: %d",
                          counts[i].runs, (int)lz_counter_value(counts[i].runs));
            ck_assert_msg(lz_counter_value(counts[i].bytes) == step * counts[i].nbyte, "%s: %d",
                          counts[i].bytes, (int)lz_counter_value(counts[i].bytes));
        }
    }
    static char report[1 << 16];
    ck_assert_int_gt((int)lz_metrics_report(report, sizeof report), 0);
    ck_assert_ptr_nonnull(strstr(report, "Counter: CollectiveAllReduceBytes\n  Value: 336"));
    ck_assert_ptr_nonnull(strstr(report, "Metric: PartitionTime"));
    lz_clear_counters();
    ck_assert_int_eq(lz_counter_value("CollectiveAllReduce"), 0);
    run_all_kinds(m);
    ck_assert_int_eq(lz_counter_value("CollectiveAllReduce"), 2);
}
END_TEST

/* ---- each round of a loop ---- */

static lz_tensor *below(lz_tensor *const *in, void *user)
{
    (void)user;
    return lz_lt_scalar(in[0], 5);
}

static void round_of(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_add_scalar(in[0], 1);
    out[1] = lz_axis_all_reduce("max", in[1], "x");
}

static void loop(lz_tensor *const *in, lz_tensor **out, void *user)
{
    lz_tensor *state[] = {lz_zeros(LZ_I32, (lz_shape){0}), in[0]}, *last[2];
    (void)user;
    OK(lz_while(state, 2, below, round_of, NULL, last));
    out[0] = last[1];
}

START_TEST(rounds)
{
    lz_mesh *m = use();
    lz_partition_spec spec = LZ_SPEC("x", NULL);
    lz_tensor *x = square_of(8), *y;
    OK(lz_manual(loop, m, &x, &spec, 1, &spec, 1, NULL, &y));
    OK(lz_mark_step());
    OK(lz_wait_device_ops());
    ck_assert_int_eq(lz_counter_value("CollectiveAllReduce"), 5);
}
END_TEST

/* ---- PT_XLA_DEBUG ---- */

START_TEST(analysis)
{
    static char text[20000];
    char path[] = "/tmp/t_spmd_told_XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    setenv("PT_XLA_DEBUG_LEVEL", "2", 1);
    setenv("PT_XLA_DEBUG_FILE", path, 1);
    run_all_kinds(use());
    ssize_t n = read(fd, text, sizeof text - 1);
    ck_assert_int_gt((int)n, 0);
    close(fd);
    unlink(path);
    ck_assert_ptr_nonnull(
        strstr(text, "Execution Analysis: 6 collectives, 228 bytes sent by each device\n"
                     "Execution Analysis:   all_gather: 1, 28 bytes\n"));
}
END_TEST

/* ---- a timeline ---- */

START_TEST(spans)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/t_spmd_told_%d.json", (int)getpid());
    lz_mesh *m = use();
    OK(lz_start_trace(path));
    run_all_kinds(m);
    OK(lz_stop_trace());
    tf_file f = tf_load(path);
    unlink(path);
    for (int k = 0; k < 2; k++)
        ck_assert_ptr_nonnull(tf_span(&f, "collective", "all_reduce", k));
    ck_assert_ptr_null(tf_span(&f, "collective", "all_reduce", 2));
    const json_t *e = tf_span(&f, "collective", "reduce_scatter", 0);
    ck_assert_int_eq(
        json_integer_value(json_object_get(json_object_get(e, "args"), "bytes sent by each")), 28);
    tf_free(&f);
}
END_TEST

/* ---- what is stored ---- */

/* A step of FSDP, whose marks compete: what is stored loads with one partition, and whatever its
 * last byte says, a wrong one is no program. */
START_TEST(stored)
{
    static const char text[] =
        "sdy.mesh @m = <[\"x\"=8]>\n"
        "func.func @main(%w: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}, {}]>},"
        " %x: tensor<512x64xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}, {}]>})"
        " -> (tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}, {}]>}) {\n"
        "  %h = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]"
        " : (tensor<512x64xf32>, tensor<64x64xf32>) -> tensor<512x64xf32>\n"
        "  %g = stablehlo.dot_general %x, %h, contracting_dims = [0] x [0]"
        " : (tensor<512x64xf32>, tensor<512x64xf32>) -> tensor<64x64xf32>\n"
        "  %r = stablehlo.subtract %w, %g : tensor<64x64xf32>\n"
        "  return %r : tensor<64x64xf32>\n}\n";
    use();
    const lz_backend *be = lz_backend_get("SPMD");
    const bool state[] = {true, false};
    lz_compile_options o = {.donate = state};
    lz_func *f;
    lz_exec *x, *y;
    lz_buf b = {0};
    OK(be->init());
    ck_assert_msg(lz_func_parse_marked(text, sizeof text - 1, "step", NULL, DEVICES, NULL, &f) ==
                      LZ_OK,
                  "%s", lz_error_get()->message);
    o.func = f;
    OK(be->compile(0, f, &o, &x));
    OK(be->serialize(x, &b));
    OK(be->deserialize(0, b.data, b.len, &o, &y));
    be->exec_free(y);
    for (int last = 0; last < 256; last++) {
        b.data[b.len - 1] = (char)last;
        if (be->deserialize(0, b.data, b.len, &o, &y) != LZ_OK)
            continue;
        ck_assert_int_lt(last, 2); /* the two orders may give the same program */
        be->exec_free(y);
    }
    ck_assert_int_ne(be->deserialize(0, b.data, 0, &o, &y), LZ_OK);
    lz_buf_free(&b);
    be->exec_free(x);
    lz_func_free(f);
}
END_TEST

/* ---- the warning ---- */

static int warnings;
static char warning[2048];

static void keep(int level, const char *module, const char *message, void *user)
{
    (void)user;
    if (level != 1 || strcmp(module, "spmd") != 0)
        return;
    warnings++;
    snprintf(warning, sizeof warning, "%s", message);
}

typedef enum program {
    FORGOTTEN,      /* an argument without a mark */
    REPLICATED,     /* with the mark that says it is to be whole */
    CONTRADICTING,  /* a product of two along the same axis, of which one is gathered */
    GATHERED,       /* a mark says that the value is to be whole */
    ALIKE,          /* all are cut alike */
    ONE_DEVICE_ONLY /* no marks at all */
} program;

static lz_tensor *compute(lz_mesh *m, program p, int side)
{
    lz_tensor *x = square_of(side), *y = square_of(side);
    if (p == ONE_DEVICE_ONLY)
        return lz_sum(lz_mul(x, y));
    OK(lz_mark_sharding(x, m, LZ_SPEC("x", NULL)));
    if (p == REPLICATED)
        OK(lz_mark_sharding(y, m, LZ_SPEC(NULL, NULL)));
    if (p == CONTRADICTING)
        OK(lz_mark_sharding(y, m, LZ_SPEC(NULL, "x")));
    if (p == ALIKE)
        OK(lz_mark_sharding(y, m, LZ_SPEC("x", NULL)));
    if (p == GATHERED)
        return lz_with_sharding(lz_exp(x), m, LZ_SPEC(NULL, NULL));
    return p == ALIKE ? lz_add(x, y) : lz_matmul(x, y);
}

static void expect_warnings(lz_mesh *m, program p, int side, int n)
{
    warnings = 0;
    for (int step = 0; step < 3; step++) {
        OK(lz_scope_begin());
        lz_tensor *r = compute(m, p, side);
        OK(lz_mark_step());
        OK(lz_wait_device_ops());
        ck_assert_ptr_nonnull(r);
        OK(lz_scope_end());
    }
    ck_assert_msg(warnings == n, "program %d, side %d: %d warnings, the last \"%s\"", p, side,
                  warnings, warning);
}

START_TEST(unasked)
{
    lz_mesh *m = use();
    lz_set_log_callback(keep, NULL);
    expect_warnings(m, FORGOTTEN, SIDE, 1);
    ck_assert_ptr_nonnull(strstr(warning, "f32[600,600] parameter()"));
    ck_assert_ptr_nonnull(strstr(warning, "t_spmd_told.c:"));
    ck_assert_ptr_nonnull(
        strstr(warning, "1440000 bytes, has no mark and is whole on each of 8 devices"));
    expect_warnings(m, CONTRADICTING, SIDE, 1);
    ck_assert_ptr_nonnull(strstr(warning, "each device gathers 1440000 bytes of it for"));
    ck_assert_ptr_nonnull(strstr(warning, "marks: "));
    expect_warnings(m, REPLICATED, SIDE, 0);
    expect_warnings(m, GATHERED, SIDE, 0);
    expect_warnings(m, ALIKE, SIDE, 0);
    expect_warnings(m, ONE_DEVICE_ONLY, SIDE, 0);
    expect_warnings(m, FORGOTTEN, 40, 0);  /* 6400 bytes */
    expect_warnings(m, FORGOTTEN, 200, 1); /* 160000: a tenth of the program's memory */
    lz_set_log_callback(NULL, NULL);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("spmd_told");
    TCase *t = tcase_create("all");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, counters);
    tcase_add_test(t, rounds);
    tcase_add_test(t, analysis);
    tcase_add_test(t, spans);
    tcase_add_test(t, stored);
    tcase_add_test(t, unasked);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
