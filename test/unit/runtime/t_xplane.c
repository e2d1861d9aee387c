/* t_xplane.c - the bytes of an XSpace, read by a reader of their own: planes, lines, events,
 * metadata and statistics of a trace whose events are made up. */
#include "base/alloc.h"
#include "base/status.h"
#include "base/formats/proto.h"
#include "runtime/watch/xplane.h"
#include "xspace.h"
#include <inttypes.h>

#define OK(x) ck_assert_msg((x) == LZ_OK, "%s", lz_error_get()->message)
enum { EVENT_STATS = 4, METADATA_STATS = 5, BEGAN = 1000000 };

static lz_xplane *x;
static lz_buf bytes;

static void make(void)
{
    x = lz_xplane_new("somewhere", BEGAN, 5000000000);
    ck_assert_ptr_nonnull(x);
}

static void drop(void)
{
    lz_xplane_free(x);
    lz_buf_free(&bytes);
}

static xs_field encode(void)
{
    bytes.len = 0;
    OK(lz_xplane_encode(x, &bytes));
    xs_field space = {.is_bytes = true, .p = (const uint8_t *)bytes.data, .n = bytes.len};
    xs_check(space);
    return space;
}

static lz_trace_event event(const char *row, int64_t tid, const char *category, const char *name,
                            int64_t start, int64_t ns)
{
    return (lz_trace_event){.tid = tid,
                            .row = lz_trace_text_of(row),
                            .name = lz_trace_text_of(name),
                            .category = lz_trace_text_of(category),
                            .start_ns = BEGAN + start,
                            .ns = ns};
}

static void with_text(lz_trace_event *e, const char *key, const char *text)
{
    e->arg[e->narg++] = (lz_trace_arg){
        .key = lz_trace_text_of(key), .is_text = true, .text = lz_trace_text_of(text)};
}

static void with_number(lz_trace_event *e, const char *key, int64_t v)
{
    e->arg[e->narg++] = (lz_trace_arg){.key = lz_trace_text_of(key), .number = v};
}

static void add_kernel(const char *row, int64_t tid, const char *name, int64_t start, int64_t ns)
{
    lz_trace_event e = event(row, tid, "kernel", name, start, ns);
    with_number(&e, "bytes", 4096);
    with_number(&e, "flop", 1000);
    with_text(&e, "kernel", "0123abcd");
    with_text(&e, "operation", "dot_general");
    with_text(&e, "line", "a.c:7");
    with_text(&e, "scope", "mlp.up");
    OK(lz_xplane_add(x, &e));
}

static void add_program(const char *row, int64_t tid, const char *label, int64_t device,
                        int64_t start, int64_t ns)
{
    lz_trace_event e = event(row, tid, "execute", "run program", start, ns);
    with_number(&e, "device", device);
    with_text(&e, "program", label);
    OK(lz_xplane_add(x, &e));
}

START_TEST(nothing)
{
    xs_field space = encode();
    ck_assert_int_eq(xs_count(space, 1), 1);
    ck_assert_str_eq(xs_text(xs_get(space, 4, 0)), "somewhere");
    xs_field host = xs_plane(space, "/host:CPU");
    ck_assert_int_eq(xs_count(host, XS_LINES), 0);
}
END_TEST

START_TEST(threads)
{
    lz_trace_event inner = event("worker", 12, "trace", "inner", 20, 10),
                   outer = event("worker", 12, "trace", "outer", 10, 50),
                   bytes_now = event("worker", 12, "", "memory", 5, 0);
    with_number(&inner, "nodes", -3);
    with_text(&inner, "why", "caf\xc3\xa9 \xff");
    with_number(&bytes_now, "bytes", 3);
    OK(lz_xplane_add(x, &inner)); /* as they end */
    OK(lz_xplane_add(x, &outer));
    OK(lz_xplane_add(x, &bytes_now));
    inner.row = lz_trace_text_of("renamed");
    inner.start_ns += 100;
    OK(lz_xplane_add(x, &inner));
    xs_field host = xs_plane(encode(), "/host:CPU"), line = xs_line(host, "renamed");
    ck_assert_int_eq(xs_count(host, XS_LINES), 1);
    ck_assert_uint_eq(xs_int(line, 1), 12);
    ck_assert_uint_eq(xs_int(line, 3), 5000000000);
    ck_assert_int_eq(xs_count(line, 4), 3);
    xs_field e = xs_get(line, 4, 0);
    ck_assert_str_eq(xs_event_name(host, e), "outer");
    ck_assert_uint_eq(xs_int(e, 2), 10000); /* picoseconds */
    ck_assert_uint_eq(xs_int(e, 3), 50000);
    e = xs_get(line, 4, 1);
    ck_assert_str_eq(xs_event_name(host, e), "inner");
    ck_assert_int_eq(xs_stat_int(host, e, EVENT_STATS, "nodes"), -3);
    ck_assert_str_eq(xs_stat_text(host, e, EVENT_STATS, "why"), "caf\xc3\xa9 ?");
}
END_TEST

START_TEST(kernels_on_threads)
{
    add_kernel("main", 1, "dot_add", 110, 20);
    add_kernel("main", 1, "exp", 140, 10);
    add_program("main", 1, "forward", 1, 100, 60);
    add_kernel("main", 1, "dot_add", 210, 25);
    add_program("main", 1, "backward", 1, 200, 60);
    add_kernel("main", 1, "exp", 300, 10); /* its program has not ended */
    add_program("other", 2, "on no device", 0, 100, 60);
    xs_field space = encode(), d = xs_plane(space, "/device:TPU:0");
    ck_assert_int_eq(xs_count(space, 1), 2);
    ck_assert_str_eq(xs_stat_text(d, d, XS_STATS, "device_type_string"), "CPU:1");
    xs_field ops = xs_line(d, "XLA Ops"), modules = xs_line(d, "XLA Modules");
    ck_assert_str_eq(xs_text(xs_get(ops, 11, 0)), "CPU:1 kernels");
    ck_assert_int_eq(xs_count(ops, 4), 4);
    ck_assert_int_eq(xs_count(modules, 4), 2);
    ck_assert_str_eq(xs_event_name(d, xs_get(modules, 4, 1)), "backward");
    xs_field e = xs_get(ops, 4, 0), m = xs_metadata(d, XS_EVENT_METADATA, xs_int(e, 1));
    ck_assert_uint_eq(xs_int(e, 2), 110000);
    ck_assert_uint_eq(xs_int(e, 3), 20000);
    ck_assert_str_eq(xs_text(xs_get(m, 2, 0)), "dot_add 0123abcd");
    ck_assert_str_eq(xs_text(xs_get(m, 4, 0)), "dot_add");
    ck_assert_str_eq(xs_stat_text(d, m, METADATA_STATS, "hlo_op"), "dot_add");
    ck_assert_str_eq(xs_stat_text(d, m, METADATA_STATS, "hlo_category"), "dot");
    ck_assert_str_eq(xs_stat_text(d, m, METADATA_STATS, "hlo_module"), "forward");
    ck_assert_str_eq(xs_stat_text(d, m, METADATA_STATS, "tf_op"), "mlp.up/dot_general:dot_general");
    ck_assert_str_eq(xs_stat_text(d, m, METADATA_STATS, "source"), "a.c:7");
    ck_assert_int_eq(xs_stat_int(d, m, METADATA_STATS, "flops"), 1000);
    ck_assert_int_eq(xs_stat_int(d, m, METADATA_STATS, "bytes_accessed"), 4096);
    xs_field again = xs_metadata(d, XS_EVENT_METADATA, xs_int(xs_get(ops, 4, 2), 1));
    ck_assert_int_ne(xs_stat_int(d, m, METADATA_STATS, "program_id"),
                     xs_stat_int(d, again, METADATA_STATS, "program_id"));
    ck_assert_int_ne(xs_stat_int(d, m, METADATA_STATS, "symbol_id"),
                     xs_stat_int(d, again, METADATA_STATS, "symbol_id"));
}
END_TEST

/* What is known of a kernel elsewhere holds where its program was cut. */
START_TEST(programs_that_were_cut)
{
    add_kernel("main", 1, "exp", 10, 10);
    add_kernel("main", 1, "exp", 110, 10);
    add_program("main", 1, "forward", 0, 100, 60);
    xs_field d = xs_plane(encode(), "/device:TPU:0"), ops = xs_line(d, "XLA Ops");
    ck_assert_int_eq(xs_count(ops, 4), 2);
    ck_assert_uint_eq(xs_int(xs_get(ops, 4, 0), 1), xs_int(xs_get(ops, 4, 1), 1));
}
END_TEST

START_TEST(rows_of_devices)
{
    enum { ROW = LZ_TRACE_ROWS };
    lz_trace_event step = event("steps of CUDA:1", ROW + 1, "step time", "step", 0, 500),
                   program = event("CUDA:1 programs", ROW + 2, "program", "forward", 100, 90);
    with_number(&step, "step", 41);
    OK(lz_xplane_add(x, &step));
    OK(lz_xplane_add(x, &program));
    add_kernel("CUDA:1 compute", ROW + 3, "dot", 100, 30);
    add_kernel("CUDA:0 compute", ROW + 4, "dot", 100, 30);
    xs_field space = encode(), zero = xs_plane(space, "/device:TPU:0"),
             one = xs_plane(space, "/device:TPU:1");
    ck_assert_int_eq(xs_count(space, 1), 3);
    ck_assert_str_eq(xs_stat_text(zero, zero, XS_STATS, "device_type_string"), "CUDA:0");
    ck_assert_int_eq(xs_count(zero, XS_LINES), 1);
    ck_assert_int_eq(xs_count(one, XS_LINES), 3);
    xs_field e = xs_get(xs_line(one, "Steps"), 4, 0);
    ck_assert_str_eq(xs_event_name(one, e), "41");
    ck_assert_int_eq(xs_stat_int(one, e, EVENT_STATS, "group_id"), 41);
    ck_assert_str_eq(xs_event_name(one, xs_get(xs_line(one, "XLA Modules"), 4, 0)), "forward");
}
END_TEST

/* xs_check sees that those of a line nest. */
START_TEST(kernels_at_the_same_time)
{
    add_kernel("a", 1, "one", 100, 50);
    add_kernel("b", 2, "two", 120, 50);
    add_kernel("a", 1, "three", 150, 50);
    xs_field d = xs_plane(encode(), "/device:TPU:0");
    ck_assert_int_eq(xs_count(d, XS_LINES), 2);
    ck_assert_int_eq(xs_count(xs_get(d, XS_LINES, 0), 4), 2);
}
END_TEST

START_TEST(what_has_no_place)
{
    lz_trace_event early = event("t", 1, "trace", "early", -1, 5),
                   late = event("t", 1, "trace", "late", INT64_MAX / 1500, 5),
                   ends = event("t", 1, "trace", "longest", INT64_MAX / 2000, INT64_MAX / 2000);
    OK(lz_xplane_add(x, &early));
    OK(lz_xplane_add(x, &late));
    OK(lz_xplane_add(x, &ends));
    xs_field line = xs_line(xs_plane(encode(), "/host:CPU"), "t");
    ck_assert_int_eq(xs_count(line, 4), 1);
    ck_assert_uint_eq(xs_int(xs_get(line, 4, 0), 2), (uint64_t)(INT64_MAX / 2000) * 1000);
}
END_TEST

START_TEST(numbers)
{
    static const struct {
        int64_t v;
        const char *hex;
    } rows[] = {{0, "0800"},
                {1, "0801"},
                {127, "087f"},
                {128, "088001"},
                {300, "08ac02"},
                {-1, "08ffffffffffffffffff01"},
                {INT64_MIN, "0880808080808080808001"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char hex[64] = "";
        lz_buf b = {0};
        lz_proto_int(&b, 1, rows[i].v);
        for (size_t k = 0; k < b.len; k++)
            snprintf(hex + 2 * k, 3, "%02x", (unsigned char)b.data[k]);
        ck_assert_str_eq(hex, rows[i].hex);
        xs_field m = {.is_bytes = true, .p = (const uint8_t *)b.data, .n = b.len};
        ck_assert_int_eq((int64_t)xs_int(m, 1), rows[i].v);
        lz_buf_free(&b);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("xplane");
    TCase *t = tcase_create("xplane");
    tcase_add_checked_fixture(t, make, drop);
    tcase_add_test(t, nothing);
    tcase_add_test(t, threads);
    tcase_add_test(t, kernels_on_threads);
    tcase_add_test(t, programs_that_were_cut);
    tcase_add_test(t, rows_of_devices);
    tcase_add_test(t, kernels_at_the_same_time);
    tcase_add_test(t, what_has_no_place);
    tcase_add_test(t, numbers);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
