/* t_handles.c - handles, scopes, and errors that travel as tensors. */
#include "rt.h"
#include "ir/op.h"
#include <lazuli/hlo.h>
#include <pthread.h>

static lz_tensor *vec(int n, float first)
{
    float v[64];
    for (int i = 0; i < n; i++)
        v[i] = first + (float)i;
    return lz_from_host(LZ_F32, LZ_SHAPE(n), v);
}

/* ---- lifetimes ---- */

START_TEST(scope_releases_what_it_owns)
{
    lz_tensor *inside, *kept, *outside = vec(3, 1);
    OK(lz_scope_begin());
    inside = vec(3, 2);
    kept = lz_retain(vec(3, 3));
    OK(lz_scope_end());
    BAD(inside, LZ_EHANDLE, "was released");
    OK(lz_status_of(kept));
    OK(lz_status_of(outside));
    rt_expect(kept, (float[]){3, 4, 5}, 3, 0);
    OK(lz_release(kept));
    BAD(kept, LZ_EHANDLE, "was released");
    FAILS(lz_scope_end(), LZ_ESTATE, "no scope");
}
END_TEST

START_TEST(double_release_is_an_error_and_nothing_else)
{
    lz_tensor *t = vec(2, 1), *other;
    OK(lz_release(t)); /* the scope's reference */
    FAILS(lz_release(t), LZ_EHANDLE, "lz_release");
    other = vec(2, 5); /* the slot is used again: the old handle must not reach it */
    FAILS(lz_release(t), LZ_EHANDLE, "was released");
    BAD(lz_add(t, t), LZ_EHANDLE, "lz_add");
    OK(lz_status_of(other));
    OK(lz_release(NULL));
    ck_assert_ptr_null(lz_retain(NULL));
}
END_TEST

START_TEST(invented_handles_are_refused)
{
    static const uint64_t bad[] = {
        1, 8, 0xdeadbeef, UINT64_MAX, 0xffffffff00000000u, 0x7fffffffffff};
    float v;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        lz_tensor *t = (lz_tensor *)(uintptr_t)bad[i];
        ck_assert_int_eq(lz_status_of(t), LZ_EHANDLE);
        ck_assert_int_eq(lz_to_host(t, &v, sizeof v), LZ_EHANDLE);
        ck_assert_int_eq(lz_release(t), LZ_EHANDLE);
        ck_assert_int_eq(lz_status_of(lz_neg(t)), LZ_EHANDLE);
    }
    ck_assert_int_eq(lz_status_of((lz_tensor *)&v), LZ_EHANDLE); /* a pointer into the stack */
}
END_TEST

/* Random makes, retains, releases and scopes against a model of what must be alive. */
START_TEST(random_lifetimes_follow_the_model)
{
    enum { N = 400 };
    lz_tensor *t[N];
    int refs[N], scope[N], n = 0, depth = 0;
    for (int step = 0; step < 20000; step++) {
        uint32_t r = rt_random() % 100;
        int i = n ? (int)(rt_random() % (uint32_t)n) : 0;
        if (r < 40 && n < N) {
            t[n] = vec(1, (float)n);
            refs[n] = 1;
            scope[n++] = depth;
        } else if (r < 55 && n && refs[i]) {
            lz_retain(t[i]);
            refs[i]++;
        } else if (r < 80 && n) {
            ck_assert_int_eq(lz_release(t[i]), refs[i] ? LZ_OK : LZ_EHANDLE);
            refs[i] -= refs[i] > 0;
        } else if (r < 90 && depth < 20) {
            OK(lz_scope_begin());
            depth++;
        } else if (depth) {
            OK(lz_scope_end());
            for (int k = 0; k < n; k++)
                if (scope[k] == depth) {
                    refs[k] -=
                        refs[k] > 0; /* the scope's, if the program has not taken it already */
                    scope[k] = -1;
                }
            depth--;
        }
        if (n == N || step % 997 == 0) {
            for (int k = 0; k < n; k++)
                ck_assert_msg((lz_status_of(t[k]) == LZ_OK) == (refs[k] > 0),
                              "tensor %d with %d references", k, refs[k]);
            if (n == N) {
                while (depth) {
                    OK(lz_scope_end());
                    for (int k = 0; k < n; k++)
                        if (scope[k] == depth) {
                            refs[k] -= refs[k] > 0;
                            scope[k] = -1;
                        }
                    depth--;
                }
                for (int k = 0; k < n; k++)
                    while (refs[k]) {
                        OK(lz_release(t[k]));
                        refs[k]--;
                    }
                n = 0;
            }
        }
    }
}
END_TEST

START_TEST(keep_and_escape_move_one_scope_out)
{
    lz_tensor *a, *b, *c;
    OK(lz_scope_begin());
    OK(lz_scope_begin());
    a = vec(1, 1);
    b = vec(1, 2);
    c = vec(1, 3);
    ck_assert_ptr_eq(lz_escape(b), b);
    ck_assert_ptr_eq(lz_scope_end_keep(c), c);
    BAD(a, LZ_EHANDLE, "was released");
    OK(lz_status_of(b));
    OK(lz_status_of(c));
    OK(lz_scope_end());
    BAD(b, LZ_EHANDLE, "was released");
    BAD(c, LZ_EHANDLE, "was released");
    lz_escape(vec(1, 1)); /* the outermost scope has none around it */
    ck_assert_int_eq(lz_scope_end(), LZ_ESTATE);
}
END_TEST

/* Releasing a handle does not lose what a pending graph needs. */
START_TEST(pending_graph_outlives_its_handles)
{
    lz_tensor *x = vec(3, 1), *y = lz_mul(x, x), *z = lz_add(y, x);
    OK(lz_release(x));
    OK(lz_release(y));
    rt_expect(z, (float[]){2, 6, 12}, 3, 0);
}
END_TEST

static void *use_elsewhere(void *arg)
{
    lz_tensor *t = arg;
    lz_tensor *u = lz_add(t, t);
    float v[2];
    if (lz_to_host(u, v, sizeof v) != LZ_OK || v[0] != 2 || v[1] != 4)
        return (void *)1;
    return lz_release(t) == LZ_OK ? NULL : (void *)2;
}

START_TEST(another_thread_may_use_and_release)
{
    pthread_t th;
    void *r;
    lz_tensor *t = lz_retain(vec(2, 1));
    ck_assert_int_eq(pthread_create(&th, NULL, use_elsewhere, t), 0);
    pthread_join(th, &r);
    ck_assert_ptr_null(r);
    OK(lz_release(t)); /* the scope's own */
    FAILS(lz_release(t), LZ_EHANDLE, "was released");
}
END_TEST

/* ---- errors as tensors ---- */

START_TEST(error_names_op_shapes_and_place)
{
    lz_error_info e;
    lz_tensor *a = lz_ones(LZ_F32, LZ_SHAPE(2, 3)), *b = lz_ones(LZ_F32, LZ_SHAPE(4, 5));
    int line = __LINE__ + 1;
    lz_tensor *bad = lz_matmul(a, b);
    lz_tensor *later = lz_relu(lz_add(bad, a));
    ck_assert_int_eq(lz_status_of(later), LZ_ESHAPE);
    ck_assert_int_eq(lz_last_error(&e), LZ_ESHAPE);
    ck_assert_str_eq(e.op, "lz_matmul");
    ck_assert_int_eq(e.line, line);
    ck_assert_msg(strstr(e.file, "t_handles.c") != NULL, "%s", e.file);
    ck_assert_msg(strstr(e.message, "f32[2,3]") && strstr(e.message, "f32[4,5]"), "%s", e.message);
    ck_assert_int_eq(lz_dtype_of(later), LZ_DTYPE_NONE);
    ck_assert_int_eq(lz_rank_of(later), -1);
    ck_assert_int_eq(lz_numel(later), -1);
    ck_assert_uint_eq(lz_nbytes(later), 0);
    ck_assert_int_eq(lz_shape_of(later).rank, -1);
    ck_assert_msg(isnan(lz_item(later)), "an error has no number");
    ck_assert_int_eq(lz_item_i64(later), INT64_MIN);
    lz_clear_error();
    ck_assert_str_eq(lz_last_error_text(), "");
    OK(lz_mark_step()); /* the program has looked at the error */
    later = lz_relu(lz_matmul(a, b));
    FAILS(lz_mark_step(), LZ_ESHAPE, "lz_matmul");
    OK(lz_mark_step()); /* told once */
    ck_assert_int_eq(lz_status_of(later), LZ_ESHAPE);
    ck_assert_int_eq(lz_assign(a, later), LZ_ESHAPE);
    OK(lz_status_of(a));
}
END_TEST

/* Random shapes and dtypes: binary operations fail exactly when ATen's rules say so, and name what
 * they got. */
START_TEST(broadcast_errors_follow_the_rule)
{
    for (int i = 0; i < 1500; i++) {
        lz_scope_begin();
        lz_shape s[2];
        bool fits = true;
        for (int k = 0; k < 2; k++) {
            s[k] = lz_shape_make(0, NULL);
            s[k].rank = (int32_t)(rt_random() % 4);
            for (int d = 0; d < s[k].rank; d++)
                s[k].dims[d] = (int64_t)(rt_random() % 4);
        }
        for (int d = 1; d <= s[0].rank && d <= s[1].rank; d++) {
            int64_t x = s[0].dims[s[0].rank - d], y = s[1].dims[s[1].rank - d];
            fits &= x == y || x == 1 || y == 1;
        }
        lz_tensor *a = lz_ones(LZ_F32, s[0]), *b = lz_ones(LZ_I32, s[1]), *r;
        switch (rt_random() % 4) {
        case 0:
            r = lz_add(a, b);
            break;
        case 1:
            r = lz_lt(a, b);
            break;
        case 2:
            r = lz_atan2(a, b);
            break;
        default:
            r = lz_where(lz_ones(LZ_BOOL, LZ_SCALAR), a, b);
            break;
        }
        ck_assert_int_eq(lz_status_of(r), fits ? LZ_OK : LZ_ESHAPE);
        if (!fits)
            ck_assert_msg(strstr(lz_last_error_text(), "broadcast") &&
                              strstr(lz_last_error_text(), "t_handles.c:"),
                          "%s", lz_last_error_text());
        lz_scope_end();
    }
}
END_TEST

START_TEST(absurd_shapes_are_refused_before_memory)
{
    static const int64_t big = INT64_MAX, half = (int64_t)1 << 32;
    uint64_t before = lz_alloc_count();
    BAD(lz_zeros(LZ_F32, LZ_SHAPE(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)), LZ_ESHAPE,
        "rank");
    BAD(lz_zeros(LZ_F32, LZ_SHAPE(2, -1)), LZ_ESHAPE, "-1");
    BAD(lz_zeros(LZ_F64, LZ_SHAPE(big, big)), LZ_ERANGE, "");
    BAD(lz_zeros(LZ_U8, LZ_SHAPE(half, half)), LZ_ERANGE, ""); /* the product is exactly 2^64 */
    BAD(lz_from_host(LZ_F32, LZ_SHAPE(big), &before), LZ_ERANGE, "");
    BAD(lz_zeros((lz_dtype)99, LZ_SHAPE(2)), LZ_EDTYPE, "");
    BAD(lz_from_zeros(LZ_F32, LZ_SHAPE(big)), LZ_ERANGE, "lz_from_zeros");
    BAD(lz_from_zeros((lz_dtype)99, LZ_SHAPE(2)), LZ_EDTYPE, "lz_from_zeros");
    BAD(lz_arange(LZ_F32, 0, 1e300, 1), LZ_ERANGE, "");
    BAD(lz_rand(LZ_F32, LZ_SHAPE(half, half)), LZ_ERANGE, "");
    BAD(lz_reshape(lz_ones(LZ_F32, LZ_SHAPE(6)), LZ_SHAPE(4, -1)), LZ_ESHAPE, "");
    BAD(lz_reshape(lz_ones(LZ_F32, LZ_SHAPE(6)), LZ_SHAPE(-1, -1)), LZ_ESHAPE, "");
    BAD(lz_permute(lz_ones(LZ_F32, LZ_SHAPE(2, 3)), 0, 0), LZ_EINVAL, "twice");
    BAD(lz_sum(lz_ones(LZ_F32, LZ_SHAPE(2, 3)), .dims = LZ_DIM(2)), LZ_ERANGE, "dimension 2");
    ck_assert_uint_lt(lz_alloc_count() - before, 200);
    OK(lz_status_of(lz_zeros(LZ_F32, LZ_SHAPE(0, 1000))));
}
END_TEST

/* NULL for every pointer of every function: a status or an error tensor, never a crash. */
/* Integers of 2 and of 4 bits: every byte that is the number it holds, and no other. */
START_TEST(bytes_that_are_no_number_are_refused)
{
    const lz_dtype d = (lz_dtype)_i;
    if (!lz_dtype_is_narrow(d))
        return;
    lz_scope_begin();
    for (int byte = 0; byte < 256; byte++) {
        static uint8_t lent[64] __attribute__((aligned(64)));
        uint8_t host[3] = {0, (uint8_t)byte, 1}, back[3];
        bool is_one = (uint8_t)lz_dtype_wrap(d, (uint64_t)byte) == byte;
        memcpy(lent, host, sizeof host);
        lz_tensor *t[] = {lz_from_host(d, LZ_SHAPE(3), host),
                          lz_from_borrowed(d, LZ_SHAPE(3), lent, NULL, NULL)};
        for (int k = 0; k < 2; k++)
            if (is_one) {
                OK(lz_to_host(t[k], back, sizeof back));
                ck_assert_mem_eq(back, host, sizeof host);
            } else {
                BAD(t[k], LZ_EINVAL, "element 1 of a tensor of ");
            }
    }
    lz_scope_end();
    (void)lz_mark_step(.wait = true);
}
END_TEST

START_TEST(null_is_an_error_everywhere)
{
    lz_tensor *x = lz_ones(LZ_F32, LZ_SHAPE(2, 2)), *n = NULL, *out;
    const int64_t two[2] = {0, 1};
    float v[4];
    char text[8];
    BAD(n, LZ_ENULL, "NULL");
    BAD(lz_from_host(LZ_F32, LZ_SHAPE(2), NULL), LZ_ENULL, "lz_from_host");
    BAD(lz_from_borrowed(LZ_F32, LZ_SHAPE(2), NULL, NULL, NULL), LZ_ENULL, "lz_from_borrowed");
#define UNARY(f) BAD(f, LZ_ENULL, "NULL")
    UNARY(lz_abs(n));
    UNARY(lz_exp(n));
    UNARY(lz_logical_not(n));
    UNARY(lz_add(n, x));
    UNARY(lz_add(x, n));
    UNARY(lz_lt(x, n));
    UNARY(lz_matmul(n, x));
    UNARY(lz_matmul(x, n));
    UNARY(lz_linear(n, x, n));
    UNARY(lz_linear(x, n, n));
    UNARY(lz_sum(n));
    UNARY(lz_mean(n));
    UNARY(lz_prod(n));
    UNARY(lz_amax(n));
    UNARY(lz_amin(n));
    UNARY(lz_any(n));
    UNARY(lz_all(n));
    UNARY(lz_var(n));
    UNARY(lz_logsumexp(n));
    UNARY(lz_argmax(n, 0, false));
    UNARY(lz_argmin(n, 0, true));
    UNARY(lz_reshape(n, LZ_SHAPE(4)));
    UNARY(lz_permute(n, 0));
    UNARY(lz_transpose(n, 0, 1));
    UNARY(lz_expand(n, LZ_SHAPE(2)));
    UNARY(lz_squeeze(n, 0));
    UNARY(lz_unsqueeze(n, 0));
    UNARY(lz_flatten(n, 0, -1));
    UNARY(lz_cat(NULL, 1, 0));
    UNARY(lz_cat(&n, 1, 0));
    UNARY(lz_stack(&n, 1, 0));
    UNARY(lz_slice(n, 0, 0, 1, 1));
    UNARY(lz_select(n, 0, 0));
    UNARY(lz_flip(n, 0));
    UNARY(lz_constant_pad_nd(n, two, 2, 0));
    UNARY(lz_constant_pad_nd(x, NULL, 2, 0));
    UNARY(lz_index_select(n, 0, x));
    UNARY(lz_index_select(x, 0, n));
    UNARY(lz_gather(n, 0, x));
    UNARY(lz_gather(x, 0, n));
    UNARY(lz_scatter_add(x, 0, x, n));
    UNARY(lz_embedding(n, x));
    UNARY(lz_one_hot(n, 3, LZ_F32));
    UNARY(lz_where(n, x, x));
    UNARY(lz_where(x, n, x));
    UNARY(lz_where(x, x, n));
    UNARY(lz_clamp(n, 0, 1));
    UNARY(lz_to(n, LZ_F32));
    UNARY(lz_relu(n));
    UNARY(lz_gelu(n, true));
    UNARY(lz_silu(n));
    UNARY(lz_softmax(n, 0));
    UNARY(lz_log_softmax(n, 0));
    UNARY(lz_add_scalar(n, 1));
    UNARY(lz_pow_scalar(n, 2));
    UNARY(lz_hlo_ew_at(NULL, &x, 1, NULL));
    UNARY(lz_hlo_ew_at("abs", NULL, 1, NULL));
    UNARY(lz_hlo_ew_at("abs", &n, 1, NULL));
    UNARY(lz_hlo_compare(LZ_HLO_EQ, n, x));
    UNARY(lz_hlo_convert(n, LZ_F32));
    UNARY(lz_hlo_bitcast_convert(n, LZ_I32));
    UNARY(lz_hlo_reduce_precision(n, 8, 7));
    UNARY(lz_hlo_broadcast_in_dim(n, LZ_SHAPE(2), two, 1));
    UNARY(lz_hlo_broadcast_in_dim(x, LZ_SHAPE(2, 2), NULL, 2));
    UNARY(lz_hlo_reshape(n, LZ_SHAPE(4)));
    UNARY(lz_hlo_transpose(x, NULL, 2));
    UNARY(lz_hlo_slice(x, NULL, two, NULL, 2));
    UNARY(lz_hlo_pad(x, n, two, two, NULL, 2));
    UNARY(lz_hlo_concatenate(NULL, 2, 0));
    UNARY(lz_hlo_reverse(x, NULL, 1));
    UNARY(lz_hlo_reduce(NULL, x, two, 2));
    UNARY(lz_hlo_reduce("add", x, NULL, 2));
    UNARY(lz_hlo_dot_general(x, x, NULL));
    UNARY(lz_hlo_gather(x, x, NULL));
    UNARY(lz_hlo_scatter("add", x, x, x, NULL));
    UNARY(lz_hlo_dynamic_slice(x, NULL, two, 2));
    UNARY(lz_hlo_dynamic_update_slice(x, x, NULL, 2));
    UNARY(lz_hlo_rng_bit_generator(n, LZ_U32, LZ_SHAPE(2), &out));
    BAD(out, LZ_ENULL, "NULL");
    UNARY(lz_hlo_optimization_barrier(n));
    UNARY(lz_hlo_argminmax_at(true, n, 0, NULL));
    UNARY(lz_from_dlpack(NULL, true));
    UNARY(lz_from_dlpack_legacy(NULL, true));
    FAILS(lz_to_host(n, v, sizeof v), LZ_ENULL, "lz_to_host");
    FAILS(lz_to_host(x, NULL, sizeof v), LZ_ENULL, "dst");
    FAILS(lz_to_host(x, v, 15), LZ_ERANGE, "16");
    FAILS(lz_assign(n, x), LZ_ENULL, "lz_assign");
    FAILS(lz_assign(x, n), LZ_ENULL, "lz_assign");
    FAILS(lz_sync(NULL, 1, true), LZ_ENULL, "lz_sync");
    FAILS(lz_sync(&n, 1, true), LZ_ENULL, "NULL");
    FAILS(lz_to_dlpack(x, false, NULL), LZ_ENULL, "out");
    FAILS(lz_initialize_cache(NULL, false), LZ_ENULL, "path");
    FAILS(lz_get_cache_counts(NULL), LZ_ENULL, "out");
    FAILS(lz_get_memory_info(NULL, NULL), LZ_ENULL, "out");
    FAILS(lz_metric_data(NULL, NULL), LZ_ENULL, "NULL");
    FAILS(lz_name_scope_begin(NULL), LZ_ENULL, "name");
    ck_assert_uint_eq(lz_dump_graph(NULL, 1, "text", text, sizeof text), 0);
    ck_assert_uint_eq(lz_dump_graph(&x, 1, NULL, text, sizeof text), 0);
    ck_assert_uint_eq(lz_graph_hash(NULL, 1, NULL, 0), 0);
    ck_assert_int_eq(lz_counter_value(NULL), 0);
    OK(lz_mark_step_at(NULL, NULL)); /* each error tensor above has been looked at */
    OK(lz_set_device(NULL));
    OK(lz_set_graph_name(NULL));
    lz_set_log_callback(NULL, NULL);
    ck_assert_uint_gt(lz_get_device(NULL, 0), 0);
    ck_assert_uint_gt(lz_device_kind(NULL, NULL, 0), 0);
    ck_assert_uint_gt(lz_metrics_report(NULL, 0), 0);
    OK(lz_last_error(NULL) == LZ_OK ? LZ_EINTERNAL : LZ_OK);
}
END_TEST

static int warned;
static void count_warnings(int level, const char *module, const char *message, void *user)
{
    (void)module;
    (void)user;
    warned += level == 1 && strstr(message, "outermost scope") != NULL;
}

START_TEST(outermost_scope_warns_when_it_grows)
{
    lz_set_log_callback(count_warnings, NULL);
    for (int i = 0; i < 100001; i++)
        (void)lz_scalar(LZ_F32, i);
    ck_assert_int_eq(warned, 1);
    lz_set_log_callback(NULL, NULL);
}
END_TEST

static void count_leaks(int level, const char *module, const char *message, void *user)
{
    (void)user;
    warned += level == 1 && strcmp(module, "scope") == 0 &&
              (strstr(message, "1000 scopes are open") || strstr(message, "in the open scopes"));
}

START_TEST(scopes_that_are_never_ended_warn)
{
    lz_set_log_callback(count_leaks, NULL);
    for (int i = 0; i < 1000; i++)
        OK(lz_scope_begin());
    ck_assert_int_eq(warned, 0);
    for (int i = 0; i < 1000; i++)
        OK(lz_scope_begin());
    ck_assert_int_eq(warned, 1);
    for (int i = 0; i < 100001; i++)
        (void)lz_scalar(LZ_F32, i);
    ck_assert_int_eq(warned, 2);
    lz_set_log_callback(NULL, NULL);
}
END_TEST

/* A program that releases each tensor itself needs no scope. */
START_TEST(released_tensors_leave_their_scope)
{
    lz_set_log_callback(count_warnings, NULL);
    for (int round = 0; round < 2; round++) {
        OK(lz_scope_begin());
        for (int i = 0; i < 150000; i++)
            OK(lz_release(lz_scalar(LZ_F32, i)));
        static int64_t live;
        if (round == 0)
            live = lz_alloc_live_bytes_hint();
        else
            ck_assert_int_eq(lz_alloc_live_bytes_hint(), live);
    }
    ck_assert_int_eq(warned, 0);
    lz_set_log_callback(NULL, NULL);
}
END_TEST

/* One program of its own shape each time, so that it is compiled. What memory is short of is an
 * error; nothing else changes. */
static lz_status small_program(int k, float got[2])
{
    float v[2 * 600];
    for (int i = 0; i < 2 * k; i++)
        v[i] = (float)i / 600;
    (void)lz_scope_begin();
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(2, k), v), *t = lz_transpose(x, 0, 1);
    lz_tensor *y = lz_sum(lz_softmax(lz_matmul(x, lz_add_scalar(t, k)), 1), .dims = LZ_DIM(0));
    lz_status s = lz_to_host(y, got, 2 * sizeof got[0]);
    (void)lz_mark_step();
    (void)lz_scope_end();
    return s;
}

/* Nothing has failed: that is a mistake of the program's, LZ_EINTERNAL is for those of ours. */
START_TEST(an_error_tensor_needs_an_error)
{
    lz_clear_error();
    ck_assert_int_eq(lz_status_of(lz_error_tensor_last("mine", LZ_SITE)), LZ_ESTATE);
    lz_clear_error();
    lz_tensor *bad = lz_matmul(vec(3, 0), vec(2, 0));
    ck_assert_int_eq(lz_status_of(bad), LZ_ESHAPE);
    ck_assert_int_eq(lz_status_of(lz_error_tensor_last("mine", LZ_SITE)), LZ_ESHAPE);
    lz_clear_error();
}
END_TEST

/* Every allocation of it fails in turn: an error, no crash, and the library works afterwards. */
START_TEST(failing_memory_is_an_error)
{
    bool cpu = strcmp(getenv("PJRT_DEVICE"), "CPU") == 0;
    float got[2] = {0};
    int errors = 0;
    OK(small_program(1, got));
    for (int n = 1; n < 600; n += cpu ? 7 : 1) {
        uint64_t failed = lz_alloc_failed_count();
        lz_alloc_fail_at(n, false);
        lz_status s = small_program(1 + n, got);
        lz_alloc_fail_at(0, false);
        errors += s != LZ_OK;
        if (s == LZ_OK)
            ck_assert_msg(fabs(got[0] + got[1] - 2) < 1e-5, "%g %g", got[0], got[1]);
        else
            OK(small_program(1 + n, got));
        if (lz_alloc_failed_count() == failed) { /* the program needs no n-th allocation */
            ck_assert_int_gt(errors, 10);
            return;
        }
    }
    ck_assert_int_gt(errors, 10);
}
END_TEST

int main(void)
{
    rt_use(getenv("RT_DEVICE") ? getenv("RT_DEVICE") : "REF");
    Suite *s = suite_create("handles");
    TCase *t = tcase_create("lifetimes"), *e = tcase_create("errors");
    tcase_add_test(t, scope_releases_what_it_owns);
    tcase_add_test(t, double_release_is_an_error_and_nothing_else);
    tcase_add_test(t, invented_handles_are_refused);
    tcase_add_test(t, random_lifetimes_follow_the_model);
    tcase_add_test(t, keep_and_escape_move_one_scope_out);
    tcase_add_test(t, pending_graph_outlives_its_handles);
    tcase_add_test(t, another_thread_may_use_and_release);
    tcase_add_test(t, outermost_scope_warns_when_it_grows);
    tcase_add_test(t, scopes_that_are_never_ended_warn);
    tcase_add_test(t, released_tensors_leave_their_scope);
    suite_add_tcase(s, t);
    tcase_add_test(e, error_names_op_shapes_and_place);
    tcase_add_test(e, broadcast_errors_follow_the_rule);
    tcase_add_test(e, absurd_shapes_are_refused_before_memory);
    tcase_add_loop_test(e, bytes_that_are_no_number_are_refused, LZ_BOOL, LZ_DTYPE_COUNT);
    tcase_add_test(e, null_is_an_error_everywhere);
    tcase_add_test(e, an_error_tensor_needs_an_error);
    tcase_add_test(e, failing_memory_is_an_error);
    suite_add_tcase(s, e);
    return lz_run_suite(s);
}
