/* t_step.c - what a step computes, keeps, drops, donates and reports, on the reference and on the
 * CPU. */
#include "rt.h"
#include "runtime/graph/node.h"

static lz_tensor *vec(int n, const float *v)
{
    return lz_from_host(LZ_F32, LZ_SHAPE(n), v);
}
static const float one_two[] = {1, 2};

/* ---- roots ---- */

START_TEST(step_keeps_what_the_rule_says)
{
    float v[2];
    OK(lz_scope_begin());
    lz_tensor *x = vec(2, one_two);
    int line = __LINE__ + 1;
    lz_tensor *mid = lz_mul(x, x);
    lz_tensor *kept = lz_retain(lz_add(mid, x)), *end = lz_neg(kept);
    lz_tensor *loss = lz_sum(end), *more = lz_add_scalar(loss, 3);
    char place[64];
    snprintf(place, sizeof place, "t_step.c:%d", line);
    OK(lz_mark_step());
    FAILS(lz_to_host(mid, v, sizeof v), LZ_ESTALE, "lz_retain it before lz_mark_step");
    ck_assert_msg(strstr(lz_last_error_text(), "multiply") && strstr(lz_last_error_text(), place),
                  "%s", lz_last_error_text());
    BAD(lz_neg(mid), LZ_ESTALE, "lz_neg");
    ck_assert_int_eq(lz_status_of(mid), LZ_ESTALE);
    ck_assert_int_eq(lz_rank_of(mid), 1); /* it still has a type */
    rt_expect(x, one_two, 2, 0);
    rt_expect(kept, (float[]){2, 6}, 2, 0);
    FAILS(lz_to_host(end, v, sizeof v), LZ_ESTALE, "negate"); /* the sum consumed it */
    ck_assert_double_eq(lz_item(loss), -8); /* one element: computed although it was consumed */
    ck_assert_double_eq(lz_item(more), -5);
    OK(lz_scope_end());
    rt_expect(kept, (float[]){2, 6}, 2, 0);
    ck_assert_int_eq(rt_metric("TransferFromDeviceTime"), 5); /* reading computed nothing */
    ck_assert_int_eq(lz_counter_value("ExecuteComputation"), 1);
    OK(lz_release(kept));
}
END_TEST

/* What was made before the step's scope is used by every step: it is computed once and kept. */
START_TEST(values_of_outer_scopes_are_kept)
{
    OK(lz_scope_begin());
    lz_tensor *x = vec(2, one_two), *twice = lz_add(x, x);
    for (int i = 0; i < 3; i++) {
        OK(lz_scope_begin());
        lz_tensor *inner = lz_mul(twice, x), *end = lz_neg(inner);
        OK(lz_mark_step());
        ck_assert_int_eq(lz_status_of(inner), LZ_ESTALE);
        rt_expect(end, (float[]){-2, -8}, 2, 0);
        OK(lz_scope_end());
    }
    rt_expect(twice, (float[]){2, 4}, 2, 0);
    OK(lz_scope_end());
}
END_TEST

START_TEST(a_stale_tensor_can_be_assigned_again)
{
    lz_tensor *x = vec(2, one_two), *mid = lz_mul(x, x), *end = lz_neg(mid);
    OK(lz_mark_step());
    ck_assert_int_eq(lz_status_of(mid), LZ_ESTALE);
    OK(lz_assign(mid, end));
    rt_expect(mid, (float[]){-1, -4}, 2, 0);
}
END_TEST

START_TEST(two_handles_of_one_value_are_one_result)
{
    lz_tensor *w = lz_retain(vec(2, one_two)), *v = lz_add(w, w), *u = lz_neg(v);
    OK(lz_assign(w, v));
    OK(lz_mark_step());
    rt_expect(w, (float[]){2, 4}, 2, 0);
    rt_expect(v, (float[]){2, 4}, 2, 0); /* consumed and not kept, but its value is w's */
    rt_expect(u, (float[]){-2, -4}, 2, 0);
    OK(lz_release(w));
}
END_TEST

/* ---- reading computes only what is needed, and history stays ---- */

static uint32_t reachable(lz_tensor *t)
{
    lz_node *n = lz_trace_node_of(t), **order;
    uint32_t count;
    lz_trace_lock(n->dev);
    OK(lz_trace_order(&n, 1, 0, &order, &count));
    lz_trace_unlock(n->dev);
    lz_node_release(n);
    lz_free(order);
    return count;
}

START_TEST(reading_does_not_end_the_graph)
{
    lz_tensor *x = vec(2, one_two), *mid = lz_mul(x, x), *loss = lz_sum(mid);
    uint32_t before = reachable(loss);
    ck_assert_uint_eq(before, 4); /* x, product, initial value, sum */
    ck_assert_double_eq(lz_item(loss), 5);
    ck_assert_uint_eq(reachable(loss), before); /* the way back is still there */
    rt_expect(mid, (float[]){1, 4}, 2, 0);
    OK(lz_sync(&mid, 1, true));
    lz_tensor *y = lz_add(mid, loss);
    rt_expect(y, (float[]){6, 9}, 2, 0);
    int64_t ran = lz_counter_value("ExecuteComputation");
    rt_expect(y, (float[]){6, 9}, 2, 0);
    ck_assert_int_eq(lz_counter_value("ExecuteComputation"),
                     ran); /* and nothing is computed twice */
    OK(lz_mark_step());
    ck_assert_uint_eq(reachable(y), 1); /* the step cut it */
    ck_assert_uint_eq(reachable(loss), 1);
}
END_TEST

/* ---- assignment ---- */

START_TEST(assignment_changes_later_uses_only)
{
    lz_tensor *w = lz_retain(vec(2, one_two));
    lz_tensor *before = lz_retain(lz_neg(w));
    OK(lz_assign(w, lz_add_scalar(w, 10)));
    lz_tensor *after = lz_retain(lz_neg(w));
    OK(lz_assign(w, lz_mul_scalar(w, 2)));
    OK(lz_assign(w, w));
    OK(lz_mark_step());
    rt_expect(before, (float[]){-1, -2}, 2, 0);
    rt_expect(after, (float[]){-11, -12}, 2, 0);
    rt_expect(w, (float[]){22, 24}, 2, 0);
    FAILS(lz_assign(w, lz_ones(LZ_F32, LZ_SHAPE(3))), LZ_ESHAPE, "f32[3]");
    FAILS(lz_assign(w, lz_ones(LZ_F64, LZ_SHAPE(2))), LZ_EDTYPE, "lz_to");
    rt_expect(w, (float[]){22, 24}, 2, 0);
}
END_TEST

/* Donation is seen in the metric of the compilation, and must never change a result. */
static int64_t donated(void)
{
    lz_metric_summary m = {0, 0};
    return lz_metric_data("InputOutputAliasCount", &m) == LZ_OK ? (int64_t)m.accumulator : -1;
}

START_TEST(updated_parameters_are_donated)
{
    lz_tensor *w = lz_retain(vec(2, one_two));
    for (int i = 0; i < 5; i++) {
        lz_scope_begin();
        OK(lz_assign(w, lz_add(w, w)));
        OK(lz_mark_step());
        lz_scope_end();
    }
    rt_expect(w, (float[]){32, 64}, 2, 0);
    ck_assert_int_eq(donated(), 1);
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), 1);
}
END_TEST

START_TEST(what_somebody_holds_is_not_donated)
{
    static float mine[64] __attribute__((aligned(64))) = {1, 2};
    DLManagedTensorVersioned *lent;
    lz_tensor *w = lz_retain(vec(2, one_two)), *same = lz_retain(lz_scalar(LZ_F32, 0)),
              *x = lz_retain(vec(2, one_two));
    (void)same;
    OK(lz_assign(x, w)); /* two tensors of one buffer */
    OK(lz_assign(w, lz_add(w, w)));
    OK(lz_mark_step());
    rt_expect(x, one_two, 2, 0);
    rt_expect(w, (float[]){2, 4}, 2, 0);
    ck_assert_int_eq(donated(), 0);
    OK(lz_to_dlpack(w, false, &lent));
    OK(lz_assign(w, lz_neg(w)));
    OK(lz_mark_step(.wait = true));
    ck_assert_float_eq(((const float *)lent->dl_tensor.data)[1], 4);
    lent->deleter(lent);
    ck_assert_int_eq(donated(), 0);
    lz_tensor *b = lz_retain(lz_from_borrowed(LZ_F32, LZ_SHAPE(2), mine, NULL, NULL));
    OK(lz_assign(b, lz_mul_scalar(b, 5)));
    OK(lz_mark_step(.wait = true));
    ck_assert_float_eq(mine[1], 2);
    rt_expect(b, (float[]){5, 10}, 2, 0);
    ck_assert_int_eq(donated(), 0);
}
END_TEST

/* The old value is used by something that stays, in the same step. */
START_TEST(old_values_stay_right_beside_donation)
{
    for (int round = 0; round < 3; round++) {
        lz_scope_begin();
        lz_tensor *w = lz_retain(vec(2, one_two)), *v = lz_retain(vec(2, (float[]){5, 7}));
        lz_tensor *old = lz_retain(lz_mul(w, v));
        OK(lz_assign(w, lz_add(w, v)));
        OK(lz_assign(v, lz_sub(w, v))); /* the old w again */
        OK(lz_mark_step());
        rt_expect(old, (float[]){5, 14}, 2, 0);
        rt_expect(w, (float[]){6, 9}, 2, 0);
        rt_expect(v, (float[]){1, 2}, 2, 0);
        OK(lz_release(w));
        OK(lz_release(v));
        OK(lz_release(old));
        lz_scope_end();
    }
}
END_TEST

/* Random programs of assignments, reads and steps against the same on plain arrays. */
START_TEST(random_updates_match_plain_arrays)
{
    enum { N = 5 };
    lz_tensor *t[N];
    float m[N][3];
    for (int i = 0; i < N; i++) {
        rt_fill(m[i], 3);
        t[i] = lz_retain(vec(3, m[i]));
    }
    for (int step = 0; step < 300; step++) {
        lz_scope_begin();
        for (int k = 0; k < (int)(rt_random() % 6); k++) {
            int a = (int)(rt_random() % N), b = (int)(rt_random() % N), c = (int)(rt_random() % N);
            bool add = rt_random() % 2;
            lz_tensor *v = add ? lz_sub(t[a], t[b]) : lz_maximum(t[a], lz_neg(t[b]));
            float r[3];
            for (int i = 0; i < 3; i++)
                r[i] = add ? m[a][i] - m[b][i] : fmaxf(m[a][i], -m[b][i]);
            memcpy(m[c], r, sizeof r);
            OK(lz_assign(t[c], v));
        }
        if (rt_random() % 4 == 0) {
            uint32_t i = rt_random() % N;
            rt_expect(t[i], m[i], 3, 0);
        }
        if (rt_random() % 3)
            OK(lz_mark_step());
        lz_scope_end();
        for (int i = 0; i < N && step % 7 == 0; i++)
            rt_expect(t[i], m[i], 3, 0);
    }
}
END_TEST

/* ---- scalars ---- */

START_TEST(numbers_never_recompile)
{
    lz_tensor *w = lz_retain(vec(2, one_two));
    for (int i = 0; i < 8; i++) {
        lz_scope_begin();
        OK(lz_assign(w, lz_mul_scalar(w, 1.0 + 0.25 * (i + 1))));
        OK(lz_assign(w, lz_add(w, lz_full(LZ_F32, LZ_SHAPE(2), 0.5 * (i + 1)))));
        OK(lz_mark_step());
        lz_scope_end();
    }
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), 1);
    float want[2] = {1, 2};
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 2; k++)
            want[k] = want[k] * (float)(1.0 + 0.25 * (i + 1)) + (float)(0.5 * (i + 1));
    rt_expect(w, want, 2, 1e-5);
    /* equal numbers do not merge (the program stays the same when two schedules meet) */
    int64_t before = lz_counter_value("UncachedCompile");
    for (int i = 0; i < 3; i++) {
        lz_scope_begin();
        lz_tensor *y = lz_add_scalar(lz_mul_scalar(w, 1.5), i == 1 ? 1.5 : 2.5);
        OK(lz_sync(&y, 1, true));
        lz_scope_end();
    }
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), before + 1);
}
END_TEST

/* ---- borrowed memory ---- */

static int released;
static void on_release(void *user)
{
    released += *(int *)user;
}

START_TEST(borrowed_memory_is_released_once)
{
    static float mem[32] __attribute__((aligned(64))) = {1, 2, 3, 4, 5, 6, 7, 8};
    int one = 1;
    OK(lz_scope_begin());
    lz_tensor *a = lz_from_borrowed(LZ_F32, LZ_SHAPE(4), mem, on_release, &one);
    lz_tensor *b = lz_from_borrowed(LZ_F32, LZ_SHAPE(4), mem + 1, on_release,
                                    &one); /* not aligned: copied at once */
    ck_assert_int_eq(released, 1);
    lz_tensor *c = lz_retain(lz_add(a, b));
    OK(lz_scope_end());
    ck_assert_int_eq(released, 1); /* the pending sum needs a */
    rt_expect(c, (float[]){3, 5, 7, 9}, 4, 0);
    OK(lz_mark_step(.wait = true));
    OK(lz_wait_device_ops());
    ck_assert_int_eq(released, 2);
    BAD(lz_from_borrowed(LZ_F32, LZ_SHAPE(-1), mem, on_release, &one), LZ_ESHAPE,
        "lz_from_borrowed");
    ck_assert_int_eq(released, 3);
    OK(lz_release(c));
}
END_TEST

/* Zeros of their own: of every size though memory is used again, nothing is sent where the device
 * has them itself, and a step that changes them is the step that changes other values. */
START_TEST(zeros_are_data)
{
    enum { MOST = 3 << 20 };
    static const int64_t sizes[] = {0, 1, 100, 30000, MOST / 4};
    static float v[MOST / 4];
    const int copies = strcmp(getenv("PJRT_DEVICE"), "CPU") != 0;
    OK(lz_scope_begin());
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        int64_t n = sizes[i / 2];
        int64_t sent = rt_metric("OutboundData");
        lz_tensor *z = lz_from_zeros(LZ_F32, LZ_SHAPE(n));
        OK(lz_status_of(z));
        ck_assert_int_eq(rt_metric("OutboundData"), (sent < 0 ? 0 : sent) + copies);
        memset(v, 0xff, sizeof v);
        OK(lz_to_host(z, v, sizeof v));
        for (int64_t k = 0; k < n; k++)
            ck_assert(v[k] == 0 && !signbit(v[k]));
        OK(lz_release(z));
        lz_tensor *used = lz_add_scalar(lz_from_zeros(LZ_F32, LZ_SHAPE(n)), 1);
        OK(lz_mark_step(.wait = true)); /* what the next ones lie in is no longer 0 */
        OK(lz_release(used));
    }
    lz_tensor *s = lz_from_zeros(LZ_BOOL, LZ_SCALAR), *x = lz_from_zeros(LZ_F32, LZ_SHAPE(2));
    ck_assert_double_eq(lz_item(s), 0);
    lz_tensor *y = lz_from_host(LZ_F32, LZ_SHAPE(2), one_two);
    char a[64], b[64];
    lz_tensor *xs = lz_exp(x), *ys = lz_exp(y);
    ck_assert_uint_gt(lz_graph_hash(&xs, 1, a, sizeof a), 0);
    ck_assert_uint_gt(lz_graph_hash(&ys, 1, b, sizeof b), 0);
    ck_assert_str_eq(a, b);
    OK(lz_scope_end());
}
END_TEST

/* ---- long and wide graphs, no steps, many shapes ---- */

START_TEST(a_million_nodes_need_no_stack)
{
    setenv("LAZULI_GRAPH_LIMIT", "100000000", 1);
    lz_tensor *x = lz_retain(vec(2, one_two)), *y = x;
    lz_scope_begin();
    for (int i = 0; i < 1000000; i++) {
        lz_tensor *z = lz_neg(y);
        if (y != x)
            OK(lz_release(y));
        y = z;
    }
    char text[64];
    ck_assert_uint_gt(lz_graph_hash(&y, 1, text, sizeof text), 0);
    OK(lz_scope_end()); /* the chain goes at once, without recursion */
    OK(lz_release(x));
    lz_scope_begin();
    x = vec(2, one_two);
    y = lz_neg(x);
    for (int i = 0; i < 200000; i++)
        y = lz_add(x, y);
    OK(lz_scope_end());
}
END_TEST

static int warnings;
static void count(int level, const char *module, const char *message, void *user)
{
    (void)user;
    warnings +=
        level == 1 && strcmp(module, "sync") == 0 && strstr(message, "LAZULI_GRAPH_LIMIT") != NULL;
}

START_TEST(a_program_without_steps_is_flushed)
{
    setenv("LAZULI_GRAPH_LIMIT", "500", 1);
    lz_set_log_callback(count, NULL);
    lz_tensor *w = lz_retain(vec(2, one_two)), *x = lz_retain(vec(2, (float[]){0.5f, -0.5f}));
    for (int i = 0; i < 20000; i++) {
        lz_scope_begin();
        OK(lz_assign(w, lz_add(w, lz_mul(x, x))));
        lz_scope_end();
    }
    ck_assert_int_eq(warnings, 1);
    ck_assert_int_gt(lz_counter_value("AutoFlush"), 20);
    rt_expect(w, (float[]){5001, 5002}, 2, 1e-3);
    /* what the program still holds stays valid although it was consumed */
    lz_tensor *keep[600];
    lz_scope_begin();
    keep[0] = lz_neg(x);
    for (int i = 1; i < 600; i++)
        keep[i] = lz_add(keep[i - 1], x);
    for (int i = 0; i < 600; i += 37)
        rt_expect(keep[i], (float[]){0.5f * (float)(i - 1), -0.5f * (float)(i - 1)}, 2, 1e-5);
    lz_scope_end();
    lz_set_log_callback(NULL, NULL);
}
END_TEST

START_TEST(new_shapes_are_forgotten_again)
{
    setenv("XLA_COMPILATION_CACHE_SIZE", "50", 1);
    static float v[4096];
    for (int i = 0; i < (getenv("LZ_TEST_QUICK") ? 300 : 1000); i++) {
        lz_scope_begin();
        lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(1 + i, 3), v), *y = lz_sum(lz_add(x, x));
        ck_assert_double_eq(lz_item(y), 0);
        lz_scope_end();
        ck_assert_int_le(lz_get_num_cached_compilation_graph(), 50);
    }
    ck_assert_int_eq(lz_get_num_cached_compilation_graph(), 50);
}
END_TEST

START_TEST(empty_tensors_go_through)
{
    lz_tensor *e = lz_from_host(LZ_F32, LZ_SHAPE(0, 3), NULL), *s = lz_sum(e, .dims = LZ_DIM(0)),
              *n = lz_neg(e);
    rt_expect(s, (float[]){0, 0, 0}, 3, 0);
    OK(lz_to_host(n, NULL, 0));
    ck_assert_double_eq(lz_item(lz_sum(e)), 0);
    BAD(lz_amax(e), LZ_ESHAPE, "empty");
    OK(lz_mark_step()); /* the program has looked at that error */
}
END_TEST

START_TEST(devices_do_not_mix)
{
    lz_tensor *a = vec(2, one_two);
    OK(lz_set_device(strcmp(getenv("PJRT_DEVICE"), "REF") == 0 ? "CPU:0" : "REF:0"));
    lz_tensor *b = vec(2, one_two);
    BAD(lz_add(a, b), LZ_EINVAL, "two devices");
    rt_expect(lz_mul_scalar(a, 3), (float[]){3, 6}, 2, 0); /* numbers go where they are needed */
    lz_tensor *three = lz_scalar(LZ_F32, 3);
    OK(lz_set_device(NULL));
    rt_expect(lz_mul(a, three), (float[]){3, 6}, 2, 0);
    FAILS(lz_set_device("NOSUCH:0"), LZ_ENOENT, "REF");
    FAILS(lz_set_device("REF:7"), LZ_ENOENT, "REF:7");
    FAILS(lz_set_device("REF:x"), LZ_EINVAL, "ordinal");
}
END_TEST

/* The device is full: an error that says so, everything made before is intact, and there is room
 * again after a release. */
START_TEST(a_full_device_is_an_error)
{
    setenv("LAZULI_DEVICE_MEMORY_MB", "8", 1);
    lz_tensor *first = lz_retain(vec(2, one_two)), *big[16];
    lz_status s = LZ_OK;
    int n = 0;
    OK(lz_mark_step());
    lz_scope_begin();
    while (n < 16 && s == LZ_OK) {
        big[n] = lz_add_scalar(lz_iota(LZ_F32, LZ_SHAPE(512, 512), 0), n + 0.5);
        s = lz_sync(&big[n++], 1, true);
    }
    ck_assert_int_eq(s, LZ_EDEVMEM);
    ck_assert_msg(strstr(lz_last_error_text(), "LAZULI_DEVICE_MEMORY_MB") != NULL, "%s",
                  lz_last_error_text());
    ck_assert_int_ge(n, 6);
    rt_expect(lz_add(first, first), (float[]){2, 4}, 2, 0);
    ck_assert_double_eq(lz_item(lz_select(lz_select(big[0], 0, 511), 0, 0)), 511.5);
    lz_scope_end();
    OK(lz_wait_device_ops() == LZ_EDEVMEM ? LZ_OK : lz_wait_device_ops());
    lz_tensor *again = lz_add_scalar(lz_iota(LZ_F32, LZ_SHAPE(512, 1024), 0), 1);
    OK(lz_sync(&again, 1, true));
}
END_TEST

static void add(TCase *t, const TTest *test)
{
    tcase_add_test(t, test);
}

int main(void)
{
    int failed = 0;
    for (int d = 0; d < 2; d++) {
        rt_use(rt_devices[d]);
        Suite *s = suite_create(rt_devices[d]);
        TCase *t = tcase_create("steps");
        tcase_set_timeout(t, 120);
        add(t, step_keeps_what_the_rule_says);
        add(t, values_of_outer_scopes_are_kept);
        add(t, a_stale_tensor_can_be_assigned_again);
        add(t, two_handles_of_one_value_are_one_result);
        add(t, reading_does_not_end_the_graph);
        add(t, assignment_changes_later_uses_only);
        add(t, updated_parameters_are_donated);
        add(t, what_somebody_holds_is_not_donated);
        add(t, old_values_stay_right_beside_donation);
        add(t, random_updates_match_plain_arrays);
        add(t, numbers_never_recompile);
        add(t, borrowed_memory_is_released_once);
        add(t, zeros_are_data);
        add(t, empty_tensors_go_through);
        add(t, devices_do_not_mix);
        if (d == 1)
            add(t, a_full_device_is_an_error);
        if (d == 0) {
            add(t, a_million_nodes_need_no_stack);
            add(t, a_program_without_steps_is_flushed);
            add(t, new_shapes_are_forgotten_again);
        }
        suite_add_tcase(s, t);
        failed |= lz_run_suite(s);
    }
    return failed;
}
