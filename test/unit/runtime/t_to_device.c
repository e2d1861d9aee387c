/* t_to_device.c - tensors moved between devices: GPUs, on the library that stands in for the
 * driver, without the host by its counters; other devices through it; updates, memory and
 * refusals. */
#include "rt.h"
#include "support/mock.h"

static void use(void)
{
    OK(lz_mock_use());
    OK(lz_set_device("CUDA:0"));
}

static double bytes(const char *metric)
{
    lz_metric_summary m = {0, 0};
    return lz_metric_data(metric, &m) == LZ_OK ? m.accumulator : 0;
}

static void is_on(const lz_tensor *t, const char *device)
{
    char name[32];
    ck_assert_uint_eq(lz_device_of(t, name, sizeof name), strlen(device));
    ck_assert_str_eq(name, device);
}

/* ---- GPUs ---- */

/* Any type and shape there and back: the same bits, and the host's memory has no part in it. */
START_TEST(there_and_back)
{
    static const lz_dtype dtypes[] = {LZ_F32, LZ_F64, LZ_BF16, LZ_I8, LZ_U64, LZ_C64, LZ_F8E4M3FN};
    const lz_shape shapes[] = {LZ_SHAPE(0),        LZ_SHAPE(3, 0, 2),  LZ_SHAPE(),
                               LZ_SHAPE(1),        LZ_SHAPE(7, 11, 3), LZ_SHAPE(1025),
                               LZ_SHAPE(300, 1001)};
    use();
    lz_dtype dtype = dtypes[_i];
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        lz_shape s = shapes[k];
        size_t n = lz_dtype_size(dtype);
        for (int i = 0; i < s.rank; i++)
            n *= (size_t)s.dims[i];
        unsigned char *raw = malloc(n + 1), *back = malloc(n + 1);
        for (size_t i = 0; i < n; i++)
            raw[i] = (unsigned char)rt_random();
        lz_tensor *x = lz_from_host(dtype, s, raw);
        double in = bytes("InboundData"), out = bytes("OutboundData"),
               between = bytes("DeviceToDeviceData");
        lz_tensor *there = lz_to_device(x, "CUDA:1"), *home = lz_to_device(there, NULL);
        OK(lz_sync((lz_tensor *[]){home}, 1, true));
        is_on(there, "CUDA:1");
        is_on(home, "CUDA:0");
        ck_assert_double_eq(bytes("DeviceToDeviceData") - between, 2.0 * (double)n);
        ck_assert_double_eq(bytes("InboundData"), in);
        ck_assert_double_eq(bytes("OutboundData"), out);
        ck_assert_int_eq(lz_dtype_of(home), dtype);
        ck_assert_int_eq(lz_rank_of(home), s.rank);
        OK(lz_to_host(there, back, n + 1));
        ck_assert_int_eq(memcmp(raw, back, n), 0);
        OK(lz_to_host(home, back, n + 1));
        ck_assert_int_eq(memcmp(raw, back, n), 0);
        free(raw);
        free(back);
    }
}
END_TEST

START_TEST(nothing_to_move)
{
    use();
    float v[2] = {1, 2};
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(2), v);
    lz_tensor *y = lz_to_device(lz_add(x, x), "CUDA:0"); /* stays pending */
    ck_assert_int_eq(lz_counter_value("ExecuteComputation"), 0);
    rt_expect(y, (float[]){2, 4}, 2, 0);
    lz_tensor *number = lz_to_device(lz_scalar(LZ_F32, 3), "CUDA:1");
    is_on(number, "CUDA:1");
    rt_expect(lz_mul(lz_to_device(x, "CUDA:1"), number), (float[]){3, 6}, 2, 0);
    ck_assert_double_eq(bytes("DeviceToDeviceData"), 8);
}
END_TEST

/* A parameter is updated in place every step on one GPU; the other one keeps an average of what it
 * was. Nobody waits until the end. */
START_TEST(updates_and_copies)
{
    enum { N = 500, STEPS = 12 };
    use();
    float p[N], mean[N] = {0}, x[N];
    rt_fill(p, N);
    for (int i = 0; i < N; i++)
        x[i] = p[i] = (float)(int)(p[i] * 64) / 64;
    lz_tensor *param = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(N), p));
    OK(lz_set_device("CUDA:1"));
    lz_tensor *sum = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(N), mean));
    for (int s = 0; s < STEPS; s++) {
        OK(lz_scope_begin());
        lz_tensor *seen = lz_to_device(param, "CUDA:1");
        OK(lz_assign(sum, lz_add(sum, seen)));
        OK(lz_mark_step());
        OK(lz_set_device("CUDA:0"));
        OK(lz_assign(param, lz_add_scalar(param, 0.5)));
        OK(lz_mark_step());
        OK(lz_set_device("CUDA:1"));
        OK(lz_scope_end());
        for (int i = 0; i < N; i++) {
            mean[i] += x[i];
            x[i] += 0.5f;
        }
    }
    float got[N];
    OK(lz_to_host(sum, got, sizeof got));
    ck_assert_int_eq(memcmp(got, mean, sizeof got), 0);
    OK(lz_to_host(param, got, sizeof got));
    ck_assert_int_eq(memcmp(got, x, sizeof got), 0);
    OK(lz_wait_device_ops());
    OK(lz_release(param));
    OK(lz_release(sum));
}
END_TEST

START_TEST(memory)
{
    use();
    lz_memory_info a[2], b[2];
    static float v[1 << 18];
    lz_tensor *x = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(1 << 18), v));
    const char *const names[2] = {"CUDA:0", "CUDA:1"};
    for (int d = 0; d < 2; d++)
        OK(lz_get_memory_info(names[d], &a[d]));
    OK(lz_scope_begin());
    OK(lz_status_of(lz_to_device(x, "CUDA:1")));
    OK(lz_wait_device_ops());
    for (int d = 0; d < 2; d++)
        OK(lz_get_memory_info(names[d], &b[d]));
    ck_assert_uint_eq(b[0].bytes_used, a[0].bytes_used);
    ck_assert_uint_eq(b[1].bytes_used - a[1].bytes_used, sizeof v);
    OK(lz_config_set("LAZULI_DEVICE_MEMORY_MB", "1"));
    BAD(lz_to_device(x, "CUDA:1"), LZ_EDEVMEM, "CUDA:1: no room for 1048576 bytes");
    OK(lz_scope_end());
    OK(lz_wait_device_ops());
    OK(lz_status_of(lz_to_device(x, "CUDA:1")));
    OK(lz_release(x));
}
END_TEST

/* ---- through the host ---- */

START_TEST(other_pairs)
{
    static const char *const pairs[][2] = {{"CUDA:0", "CPU:0"}, {"CPU:0", "CUDA:1"},
                                           {"CPU:0", "CPU:1"},  {"REF:0", "CUDA:0"},
                                           {"CUDA:1", "REF:0"}, {"CPU:1", "REF:0"}};
    use();
    OK(lz_config_set("CPU_NUM_DEVICES", "2"));
    OK(lz_set_device(pairs[_i][0]));
    float v[77], want[77];
    rt_fill(v, 77);
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(7, 11), v);
    x = lz_add(x, x);
    lz_tensor *there = lz_to_device(x, pairs[_i][1]);
    is_on(there, pairs[_i][1]);
    for (int i = 0; i < 77; i++)
        want[i] = 4 * v[i];
    rt_expect(lz_add(there, there), want, 77, 0);
    rt_expect(lz_add(x, lz_to_device(there, pairs[_i][0])), want, 77, 0);
    ck_assert_double_eq(bytes("DeviceToDeviceData"), 0);
}
END_TEST

START_TEST(turned_off)
{
    use();
    OK(lz_config_set("LAZULI_CUDA_PEERS", "off"));
    float v[5] = {1, 2, 3, 4, 5};
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(5), v);
    double in = bytes("InboundData"), out = bytes("OutboundData");
    lz_tensor *there = lz_to_device(x, "CUDA:1");
    ck_assert_double_eq(bytes("InboundData") - in, 20);
    ck_assert_double_eq(bytes("OutboundData") - out, 20);
    ck_assert_double_eq(bytes("DeviceToDeviceData"), 0);
    rt_expect(there, v, 5, 0);
}
END_TEST

/* ---- refusals ---- */

static void moves(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_to_device(in[0], "CUDA:1");
}

static void stays(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = in[0];
}

START_TEST(refusals)
{
    use();
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(2), ((float[]){1, 2})), *out[1];
    BAD(lz_to_device(x, "CUDA:99"), LZ_ENOENT, "there are");
    BAD(lz_to_device(x, "moon"), LZ_ENOENT, "moon");
    BAD(lz_to_device(x, "CUDA:x"), LZ_EINVAL, "ordinal");
    BAD(lz_to_device(NULL, "CUDA:1"), LZ_ENULL, "");
    lz_tensor *bad = lz_reshape(x, LZ_SHAPE(3));
    BAD(lz_to_device(bad, "CUDA:1"), LZ_ESHAPE, "lz_reshape");
    BAD(lz_add(x, lz_to_device(x, "CUDA:1")), LZ_EINVAL, "two devices");
    ck_assert_uint_eq(lz_device_of(bad, NULL, 0), 0);
    ck_assert_uint_eq(lz_device_of(NULL, NULL, 0), 0);
    lz_tensor *yes = lz_gt_scalar(lz_sum(x), 0);
    ck_assert_int_ne(lz_cond(yes, moves, stays, &x, 1, 1, NULL, out), LZ_OK);
    rt_expect(lz_to_device(x, "CUDA:1"), (float[]){1, 2}, 2, 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("to_device");
    TCase *t = tcase_create("to_device");
    rt_use("CUDA");
    tcase_add_loop_test(t, there_and_back, 0, 7);
    tcase_add_test(t, nothing_to_move);
    tcase_add_test(t, updates_and_copies);
    tcase_add_test(t, memory);
    tcase_add_loop_test(t, other_pairs, 0, 6);
    tcase_add_test(t, turned_off);
    tcase_add_test(t, refusals);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
