/* t_loop.c - the slow executor on one kernel of every kind, the verifier, and building kernels by
 * hand. */
#include "kernels.h"
#include "lower/loops/loop.h"
#include "suite.h"
#include <math.h>

static uint64_t seed = 12345;
static double rnd(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(seed >> 20) / (double)((int64_t)1 << 43) - 1;
}

static void fill(float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)(rnd() * 4);
}

static const int64_t dims[][2] = {{5, 7}, {1, 1}, {3, 64}, {33, 1}, {0, 4}, {17, 19}};
enum { NDIMS = sizeof dims / sizeof *dims };

START_TEST(scale)
{
    int64_t r = dims[_i][0], c = dims[_i][1];
    float x[700], s[700], y[700];
    fill(x, 700);
    fill(s, 700);
    x[0] = NAN;
    s[c - 1] = -0.0f;
    lz_kernel *k = k_make(k_scale, r, c);
    size_t n = (size_t)(r * c) * 4;
    ck_assert_int_eq(lz_loop_run(k, (void *[]){x, s, y}, (size_t[]){n, (size_t)c * 4, n}), LZ_OK);
    for (int64_t i = 0; i < r * c; i++) {
        float want = x[i] * s[i % c] + 0.5f;
        ck_assert(memcmp(&want, &y[i], 4) == 0 || (isnan(want) && isnan(y[i])));
    }
    lz_kernel_free(k);
}
END_TEST

START_TEST(softmax)
{
    int64_t r = dims[_i][0], c = dims[_i][1];
    float x[700], y[700];
    fill(x, 700);
    lz_kernel *k = k_make(k_softmax, r, c);
    size_t n = (size_t)(r * c) * 4;
    ck_assert_int_eq(lz_loop_run(k, (void *[]){x, y}, (size_t[]){n, n}), LZ_OK);
    for (int64_t i = 0; i < r; i++) {
        double max = -INFINITY, sum = 0;
        for (int64_t j = 0; j < c; j++)
            max = fmax(max, x[i * c + j]);
        for (int64_t j = 0; j < c; j++)
            sum += exp(x[i * c + j] - max);
        for (int64_t j = 0; j < c; j++)
            ck_assert_double_eq_tol(y[i * c + j], exp(x[i * c + j] - max) / sum, 1e-6);
    }
    lz_kernel_free(k);
}
END_TEST

START_TEST(colsum_accumulates_wide)
{
    int64_t r = 300, c = 3;
    uint16_t x[900], y[3];
    float want[3] = {0};
    for (int64_t i = 0; i < r * c; i++) {
        x[i] = lz_f32_to_bf16((float)(rnd() + 1.5));
        want[i % c] += lz_bf16_to_f32(x[i]);
    }
    lz_kernel *k = k_make(k_colsum, r, c);
    ck_assert_int_eq(lz_loop_run(k, (void *[]){x, y}, (size_t[]){sizeof x, sizeof y}), LZ_OK);
    for (int j = 0; j < 3; j++)
        ck_assert_uint_eq(y[j], lz_f32_to_bf16(want[j]));
    lz_kernel_free(k);
    k = k_make(k_colsum, 0, c); /* no rows: the initial value, converted */
    ck_assert_int_eq(lz_loop_run(k, (void *[]){x, y}, (size_t[]){0, sizeof y}), LZ_OK);
    for (int j = 0; j < 3; j++)
        ck_assert_uint_eq(y[j], 0);
    lz_kernel_free(k);
}
END_TEST

START_TEST(dot)
{
    enum { M = 5, N = 18, K = 9 };
    float a[M * K], b[K * N], bias[N], y[M * N];
    fill(a, M * K);
    fill(b, K * N);
    fill(bias, N);
    lz_kernel *k = k_make(k_dot, M, N);
    ck_assert(lz_kernel_is_dot(k) && lz_kernel_dot(k)->m == 0 && lz_kernel_dot(k)->n == 1);
    ck_assert_int_eq(lz_loop_run(k, (void *[]){a, b, bias, y},
                                 (size_t[]){sizeof a, sizeof b, sizeof bias, sizeof y}),
                     LZ_OK);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int q = 0; q < K; q++)
                s += (double)a[i * K + q] * b[q * N + j];
            s = fmax(s + bias[j], 0);
            ck_assert_double_eq_tol(y[i * N + j], s, 1e-4);
        }
    lz_kernel_free(k);
}
END_TEST

/* Products of the first part of an array and of a later one are one kernel: only arguments differ.
 */
START_TEST(products_of_parts)
{
    lz_kernel *first = k_make(k_dot, 5, 18);
    static const char *const place[] = {"= 0[0 ", "= 1[0 ", "= 2[0 ", "store 3[0 "};
    for (int i = 0; i < 4; i++) {
        char text[sizeof k_dot + 32], at[16];
        const char *p = strstr(k_dot, place[i]);
        ck_assert_ptr_nonnull(p);
        size_t n = strlen(place[i]);
        snprintf(at, sizeof at, "%.*s64 ", (int)n - 2, place[i]);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(p - k_dot), k_dot, at, p + n);
        lz_kernel *later = k_make(text, 5, 18);
        ck_assert(lz_hash_eq(first->hash, later->hash));
        ck_assert_uint_eq(first->narg, later->narg);
        ck_assert(memcmp(first->args, later->args, first->narg * sizeof *first->args) != 0);
        lz_kernel_free(later);
    }
    lz_kernel_free(first);
}
END_TEST

START_TEST(argmax)
{
    enum { R = 6, C = 40 };
    float x[R * C];
    int64_t y[R];
    fill(x, R * C);
    x[0 * C + 7] = x[0 * C + 31] = 100; /* a tie: the first */
    x[1 * C + C - 1] = INFINITY;
    lz_kernel *k = k_make(k_argmax, R, C);
    ck_assert_int_eq(lz_loop_run(k, (void *[]){x, y}, (size_t[]){sizeof x, sizeof y}), LZ_OK);
    ck_assert_int_eq(y[0], 7);
    ck_assert_int_eq(y[1], C - 1);
    for (int i = 2; i < R; i++)
        for (int j = 0; j < C; j++)
            ck_assert(x[i * C + j] <= x[i * C + y[i]]);
    lz_kernel_free(k);
}
END_TEST

START_TEST(gather_and_guard)
{
    enum { R = 5, C = 20 };
    float table[4 * C], y[R * C];
    int32_t id[R] = {2, -1, 0, 3, 99};
    const int want[R] = {2, -1, 0, 3, 3};
    fill(table, 4 * C);
    lz_kernel *k = k_make(k_gather, R, C);
    ck_assert_int_eq(
        lz_loop_run(k, (void *[]){table, id, y}, (size_t[]){sizeof table, sizeof id, sizeof y}),
        LZ_OK);
    for (int i = 0; i < R; i++)
        for (int j = 0; j < C; j++)
            ck_assert(y[i * C + j] == (want[i] < 0 ? -1 : table[want[i] * C + j]));
    lz_kernel_free(k);
}
END_TEST

START_TEST(scatter_in_order)
{
    enum { R = 40 };
    int32_t id[R];
    float x[R], y[5], want[5];
    fill(x, R);
    fill(y, 5);
    memcpy(want, y, sizeof y);
    for (int i = 0; i < R; i++) {
        id[i] = i % 7 - 1; /* -1 and 5 are dropped */
        if (id[i] >= 0 && id[i] < 5)
            want[id[i]] += x[i];
    }
    lz_kernel *k = k_make(k_scatter, R, 0);
    ck_assert_int_eq(
        lz_loop_run(k, (void *[]){id, x, y}, (size_t[]){sizeof id, sizeof x, sizeof y}), LZ_OK);
    ck_assert(memcmp(y, want, sizeof y) == 0);
    lz_kernel_free(k);
}
END_TEST

START_TEST(reverse_with_other_arguments)
{
    float x[64], y[64];
    fill(x, 64);
    x[3] = 1e-30f;
    lz_kernel *k = k_make(k_reverse, 20, 19);
    ck_assert_int_eq(lz_loop_run(k, (void *[]){x, y}, (size_t[]){80, 80}), LZ_OK);
    for (int i = 0; i < 20; i++)
        ck_assert_float_eq_tol(y[i], x[19 - i], 5e-3);
    ck_assert(y[16] == 0); /* below the smallest normal value of 5 exponent bits */
    /* the same kernel on 64 elements: extent and offset are arguments 0 and 1 */
    ck_assert_uint_eq(k->narg, 2);
    int64_t args[2] = {64, 63};
    ck_assert_int_eq(lz_loop_run_args(k, args, (void *[]){x, y}, (size_t[]){256, 256}), LZ_OK);
    for (int i = 0; i < 64; i++)
        ck_assert_float_eq_tol(y[i], x[63 - i], 5e-3);
    /* every address is checked */
    ck_assert_int_eq(lz_loop_run_args(k, args, (void *[]){x, y}, (size_t[]){255, 256}),
                     LZ_EINTERNAL);
    ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "buffer 0"));
    ck_assert_int_eq(lz_loop_run_args(k, args, (void *[]){x, y}, (size_t[]){256, 0}), LZ_EINTERNAL);
    args[1] = INT64_MIN;
    ck_assert_int_eq(lz_loop_run_args(k, args, (void *[]){x, y}, (size_t[]){256, 256}),
                     LZ_EINTERNAL);
    lz_kernel_free(k);
}
END_TEST

/* A kernel built as the lowering builds it. */
static lz_kernel *by_hand(int64_t n, int64_t stride)
{
    lz_kernel *k = lz_kernel_new("by hand, with a name that is longer than what a kernel keeps");
    lz_stage *st = lz_arena_alloc(&k->arena, sizeof *st);
    k->nstage = 1;
    k->stages = st;
    k->nbuf = 2;
    k->buf[0] = (lz_kbuf){.dtype = LZ_F16, .read = true, .inplace_with = -1};
    k->buf[1] = (lz_kbuf){.dtype = LZ_F32, .written = true, .inplace_with = -1};
    k->nouter = 1;
    k->outer[0] = lz_sz_of(n);
    st->nsop = 2;
    st->sops = lz_arena_alloc(&k->arena, 2 * sizeof *st->sops);
    st->sops[0] = (lz_sop){.kind = LZ_S_LOAD, .dtype = LZ_F16, .a = 0};
    st->sops[1] = (lz_sop){.kind = LZ_S_EW, .dtype = LZ_F32, .op = LZ_OP_CONVERT, .a = 0};
    st->nacc = 1;
    st->accs = lz_arena_alloc(&k->arena, sizeof *st->accs);
    st->accs[0] = (lz_access){.buf = 0, .guard = -1, .other = -1};
    st->accs[0].stride[0] = lz_sz_of(stride);
    st->nstore = 1;
    st->stores = lz_arena_alloc(&k->arena, sizeof *st->stores);
    st->stores[0] = (lz_loop_store){.at = {.buf = 1, .guard = -1, .other = -1}, .value = 1};
    st->stores[0].at.stride[0] = lz_sz_of(1);
    return k;
}

START_TEST(built_by_hand)
{
    uint16_t x[8];
    float y[4];
    for (int i = 0; i < 8; i++)
        x[i] = lz_f32_to_f16((float)(i * 1.5 - 3));
    lz_kernel *k = by_hand(4, 2);
    ck_assert_int_eq(lz_loop_run(k, (void *[]){x, y}, (size_t[]){16, 16}), LZ_OK); /* unfinished */
    for (int i = 0; i < 4; i++)
        ck_assert(y[i] == (float)(i * 3) - 3);
    ck_assert_int_eq(lz_kernel_finish(k), LZ_OK);
    ck_assert_uint_eq(k->narg, 1);
    ck_assert_int_eq(k->args[0], 2);
    ck_assert_ptr_nonnull(k->stages[0].sops[1].attr);
    ck_assert_uint_eq(strlen(k->name), sizeof k->name - 1);
    ck_assert_int_eq(lz_kernel_finish(k), LZ_ESTATE);
    memset(y, 0, sizeof y);
    ck_assert_int_eq(lz_loop_run(k, (void *[]){x, y}, (size_t[]){16, 16}), LZ_OK);
    ck_assert(y[3] == 6);
    lz_kernel_free(k);
    lz_kernel_free(NULL);
}
END_TEST

/* Each edit breaks one rule. */
START_TEST(verifier_refuses)
{
    for (int i = 0;; i++) {
        lz_kernel *k = by_hand(4, 2);
        lz_stage *st = k->stages;
        ck_assert_int_eq(lz_kernel_verify(k), LZ_OK);
        bool more = true;
        switch (i) {
        case 0:
            k->nbuf = LZ_KBUF_MAX + 1;
            break;
        case 1:
            k->buf[0].dtype = LZ_DTYPE_COUNT;
            break;
        case 2:
            k->nouter = LZ_OUTER_MAX + 1;
            break;
        case 3:
            k->outer[0].v = -1;
            break;
        case 4:
            k->nstage = 0;
            break;
        case 5:
            st->ninner = LZ_LOOP_MAX;
            break;
        case 6:
            st->sops[0].dtype = LZ_F32;
            break;
        case 7:
            st->sops[0].a = 1;
            break;
        case 8:
            st->accs[0].buf = 2;
            break;
        case 9:
            k->buf[0].read = false;
            break;
        case 10:
            st->sops[1].a = 1;
            break;
        case 11:
            st->sops[1].op = LZ_OP_REDUCE;
            break;
        case 12:
            st->sops[1].op = LZ_OP_SINE;
            break;
        case 13:
            st->sops[1].kind = LZ_S_ACC;
            break;
        case 14:
            st->accs[0].guard = 1;
            break;
        case 15:
            st->accs[0].ndyn = 1;
            break;
        case 16:
            st->stores[0].value = 0;
            break;
        case 17:
            st->stores[0].value = 2;
            break;
        case 18:
            k->buf[1].written = false;
            break;
        case 19:
            st->stores[0].at.guard = 0;
            break;
        case 20:
            st->sops[1] = (lz_sop){.kind = LZ_S_INDEX, .dtype = LZ_I64, .a = 1};
            break;
        case 21:
            st->sops[1] = (lz_sop){.kind = LZ_S_RED, .dtype = LZ_F32, .a = 0};
            break;
        case 22:
            k->stages[0].dot.role = LZ_DOT_KERNEL;
            break;
        case 23:
            k->vec = (lz_vec)3;
            break;
        case 24:
            k->buf[1].inplace_ok = true, k->buf[1].inplace_with = 5;
            break;
        case 25:
            st->accs[0].other = 0;
            break;
        case 26:
            st->stores[0].at.nborder = 1;
            break;
        default:
            more = false;
        }
        if (!more) {
            lz_kernel_free(k);
            break;
        }
        ck_assert_msg(lz_kernel_verify(k) == LZ_EINTERNAL, "edit %d is accepted", i);
        ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "by hand"));
        lz_kernel_free(k);
    }
}
END_TEST

/* Each edit of a kernel that keeps rows breaks one rule. */
START_TEST(rows_have_rules)
{
    static const char *const edits[][2] = {
        {"vec(inner)", "vec(outer)"}, /* rows lie along vectors */
        {"vec(inner)", "serial vec(inner)"},
        {"outer [3, 40]\n", "outer [3, 40]\n  dot %0 %3\n"},
        {"[30, 20] keep", "[30, 20]"},          /* two loops, nothing kept */
        {"+ 20 i2 + 1 i3]", "+ 20 i1 + 1 i3]"}, /* right factor: of the outer loop */
        {"+ 20 i1 + 1 i3]", "+ 20 i2 + 1 i3]"}, /* left one: of the kept loop */
        {"%4: f32 = multiply %2, %3", "%4: f32 = add %2, %3"},
        {"%5: f32 = const 0x0\n    reduce add", "%5: f32 = const 0x1\n    reduce add"},
        {"reduce add f32 %4", "reduce maximum f32 %4"},
        {"row 0.0", "row 0.1"}, /* rows that are not there */
        {"row 0.0", "row 1.0"},
        {"row 0.0", "red 0.0"},
        {"%0: bf16 = row 2.1", "%0: bf16 = row 2.0"}, /* of another dtype */
        {"stage 1 inner [30]", "stage 1 inner [31]"}, /* of another length */
        {"    row %5\n", "    row %2\n"},             /* no floats */
        {"    row %5\n", "    row %9\n"},
        {"%0: bf16 = row 2.1\n    %1: f32 = convert %0",
         "%0: f32 = row 2.0\n    %1: f32 = negate %0"},     /* a row below a factor */
        {"buf 2: bf16 read\n", "buf 2: bf16 read write\n"}, /* packed before it is written */
    };
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        char *t = k_text(k_attend, 40, 30), *at = strstr(t, edits[i][0]), text[8192];
        lz_kernel *k = NULL;
        ck_assert_msg(at != NULL, "edit %d finds nothing", (int)i);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - t), t, edits[i][1],
                 at + strlen(edits[i][0]));
        ck_assert_msg(lz_kernel_parse(text, strlen(text), &k) == LZ_EINTERNAL,
                      "edit %d is accepted: %s", (int)i, lz_error_get()->message);
        free(t);
    }
}
END_TEST

/* Each edit of what a stage says of its dot is one that its operations contradict. */
START_TEST(dots_are_verified)
{
    char *t = k_text(_i ? k_dot : k_attend, 40, 30);
    for (int i = 0; i < 6; i++) {
        lz_kernel *k = NULL;
        ck_assert_int_eq(lz_kernel_parse(t, strlen(t), &k), LZ_OK);
        lz_stage *st = &k->stages[0];
        lz_dot_info *d = &st->dot;
        ck_assert_int_eq(d->role, _i ? LZ_DOT_KERNEL : LZ_DOT_ROW);
        ck_assert_int_eq(st->sops[st->reds[0].value[0]].a, d->a_sop);
        ck_assert_int_eq(st->sops[st->reds[0].value[0]].b, d->b_sop);
        switch (i) {
        case 0:
            d->m++;
            break;
        case 1:
            d->n--;
            break;
        case 2:
            d->a_sop = d->b_sop;
            break;
        case 3:
            d->b_sop = st->reds[0].value[0];
            break;
        case 4:
            d->role = _i ? LZ_DOT_ROW : LZ_DOT_KERNEL;
            break;
        default:
            k->stages[k->nstage - 1].dot = *d;
        }
        ck_assert_msg(lz_kernel_verify(k) == LZ_EINTERNAL, "edit %d is accepted", i);
        lz_kernel_free(k);
    }
    free(t);
}
END_TEST

START_TEST(initial_value_depends_on_no_inner_loop)
{
    char *t = k_text(k_argmax, 4, 4), *at = strstr(t, "init %3");
    at[6] = '1'; /* the index of the inner loop */
    lz_kernel *k;
    ck_assert_int_eq(lz_kernel_parse(t, strlen(t), &k), LZ_EINTERNAL);
    ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "inner loop"));
    free(t);
}
END_TEST

START_TEST(memory_failures)
{
    char *t = k_text(k_argmax, 40, 30);
    float x[1200] = {0};
    int64_t y[40];
    for (int64_t n = 1;; n++) {
        int64_t live = lz_alloc_live_bytes_hint();
        lz_alloc_fail_at(n, false);
        lz_kernel *k = NULL;
        lz_status s = lz_kernel_parse(t, strlen(t), &k);
        if (s == LZ_OK)
            s = lz_loop_run(k, (void *[]){x, y}, (size_t[]){sizeof x, sizeof y});
        lz_kernel_free(k);
        lz_alloc_fail_at(0, false);
        if (s == LZ_OK)
            break;
        ck_assert_int_eq(s, LZ_EMEM);
        ck_assert_int_le(lz_alloc_live_bytes_hint() - live, 8); /* interned attributes stay */
        ck_assert_int_lt(n, 200);
    }
    free(t);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("loop");
    TCase *t = tcase_create("run");
    tcase_add_loop_test(t, scale, 0, NDIMS);
    tcase_add_loop_test(t, softmax, 0, NDIMS);
    tcase_add_test(t, colsum_accumulates_wide);
    tcase_add_test(t, dot);
    tcase_add_test(t, products_of_parts);
    tcase_add_test(t, argmax);
    tcase_add_test(t, gather_and_guard);
    tcase_add_test(t, scatter_in_order);
    tcase_add_test(t, reverse_with_other_arguments);
    suite_add_tcase(s, t);
    t = tcase_create("check");
    tcase_add_test(t, built_by_hand);
    tcase_add_test(t, verifier_refuses);
    tcase_add_test(t, rows_have_rules);
    tcase_add_loop_test(t, dots_are_verified, 0, 2);
    tcase_add_test(t, initial_value_depends_on_no_inner_loop);
    tcase_add_test(t, memory_failures);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
