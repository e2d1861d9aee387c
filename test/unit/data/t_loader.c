/* t_loader.c - every sample comes once, in the order of the seed, whatever the number of threads;
 * failures come where they belong; memory comes back; a loop over the loader is a training. */
#include "base/alloc.h"
#include "suite.h"
#include <lazuli/lazuli.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define OK(call) ck_assert_msg((call) == LZ_OK, "%s", lz_last_error_text())

enum { LEN = 103, WIDTH = 3 };

/* Samples are {index, index + 0.5, -index} and the index. */
static lz_dataset numbered(int64_t len)
{
    lz_array a[2] = {{.dtype = LZ_F32, .shape = LZ_SHAPE(len, WIDTH)},
                     {.dtype = LZ_I64, .shape = LZ_SHAPE(len)}};
    static float x[2000][WIDTH];
    static int64_t y[2000];
    for (int64_t i = 0; i < len; i++) {
        x[i][0] = (float)i;
        x[i][1] = (float)i + 0.5f;
        x[i][2] = (float)-i;
        y[i] = i;
    }
    a[0].data = x, a[0].nbytes = (size_t)len * sizeof *x;
    a[1].data = y, a[1].nbytes = (size_t)len * sizeof *y;
    lz_dataset d;
    OK(lz_dataset_of_arrays(a, 2, &d));
    ck_assert(d.len == len && d.nfields == 2 && d.field[0].shape.rank == 1 &&
              d.field[1].shape.rank == 0);
    ck_assert_ptr_null(a[0].data);
    return d;
}

/* The samples of an epoch, in the order they come. */
static int64_t epoch(lz_loader *l, int64_t number, int64_t first, int64_t *seen)
{
    lz_tensor *b[2];
    int64_t n = 0;
    OK(lz_loader_begin(l, number, first));
    while (lz_loader_next(l, b)) {
        int64_t rows = lz_shape_of(b[0]).dims[0], y[128];
        float x[128][WIDTH];
        OK(lz_to_host(b[0], x, sizeof x));
        OK(lz_to_host(b[1], y, sizeof y));
        for (int64_t i = 0; i < rows; i++) {
            ck_assert(x[i][0] == (float)y[i] && x[i][2] == (float)-y[i]);
            seen[n++] = y[i];
        }
    }
    OK(lz_loader_status(l));
    ck_assert(!lz_loader_next(l, b)); /* and it stays at the end */
    return n;
}

START_TEST(every_sample_comes_once_in_order)
{
    static const int workers[] = {1, 2, 7};
    lz_dataset d = numbered(LEN);
    int64_t seen[LEN], want[LEN], other[LEN];
    for (int k = 0; k < 3; k++) {
        lz_loader *l = lz_loader_new(&d, .batch_size = 10, .shuffle = true, .seed = 5,
                                     .num_workers = workers[k], .loader_prefetch_size = k + 1,
                                     .device_prefetch_size = 3 - k);
        ck_assert_msg(l != NULL, "%s", lz_last_error_text());
        ck_assert_int_eq(lz_loader_len(l), 11);
        for (int e = 0; e < 3; e++) {
            lz_shuffled(want, LEN, 5, e);
            ck_assert_int_eq(epoch(l, e, 0, seen), LEN);
            ck_assert(memcmp(seen, want, sizeof seen) == 0);
        }
        ck_assert_int_eq(epoch(l, 1, 4, seen), LEN - 40); /* continued */
        lz_shuffled(want, LEN, 5, 1);
        ck_assert(memcmp(seen, want + 40, (LEN - 40) * sizeof *seen) == 0);
        lz_loader_free(l);
    }
    lz_shuffled(want, LEN, 5, 0);
    lz_shuffled(other, LEN, 5, 1);
    ck_assert(memcmp(want, other, sizeof want) != 0);
    char there[LEN] = {0};
    for (int i = 0; i < LEN; i++)
        there[want[i]]++;
    for (int i = 0; i < LEN; i++)
        ck_assert_int_eq(there[i], 1);
    lz_dataset_free(&d);
}
END_TEST

START_TEST(last_batches_and_shards)
{
    lz_dataset d = numbered(LEN);
    int64_t seen[LEN];
    lz_loader *l = lz_loader_new(&d, .batch_size = 10, .drop_last = true);
    ck_assert_int_eq(lz_loader_len(l), 10);
    ck_assert_int_eq(epoch(l, 0, 0, seen), 100);
    ck_assert_int_eq(seen[99], 99);
    lz_loader_free(l);
    for (int s = 0; s < 3; s++) { /* 11 batches: 3 for each of 3, 2 are left out */
        l = lz_loader_new(&d, .batch_size = 10, .num_shards = 3, .shard = s);
        ck_assert_int_eq(lz_loader_len(l), 3);
        ck_assert_int_eq(epoch(l, 0, 0, seen), 30);
        ck_assert_int_eq(seen[0], 10 * s);
        ck_assert_int_eq(seen[10], 30 + 10 * s);
        lz_loader_free(l);
    }
    lz_dataset_free(&d);
    d = numbered(0);
    l = lz_loader_new(&d, .batch_size = 4);
    ck_assert_int_eq(epoch(l, 0, 0, seen), 0);
    lz_loader_free(l);
    lz_dataset_free(&d);
}
END_TEST

START_TEST(an_epoch_may_be_left)
{
    lz_dataset d = numbered(1000);
    lz_tensor *b[2];
    int64_t seen[1000];
    lz_loader *l = lz_loader_new(&d, .batch_size = 3, .num_workers = 3);
    for (int i = 0; i < 20; i++) {
        OK(lz_loader_begin(l, i, i));
        for (int k = 0; k < i; k++)
            ck_assert(lz_loader_next(l, b));
    }
    ck_assert_int_eq(epoch(l, 0, 0, seen), 1000);
    OK(lz_loader_begin(l, 0, 0));
    ck_assert(lz_loader_next(l, b));
    lz_tensor *kept = lz_retain(b[1]);
    lz_loader_free(l); /* in the middle */
    ck_assert_int_eq(lz_item_i64(lz_sum(kept)), 0 + 1 + 2);
    lz_release(kept);
    lz_dataset_free(&d);
    lz_loader_free(NULL);
    lz_dataset_free(NULL);
}
END_TEST

static lz_status fails_at_57(void *user, int64_t index, void *const *out)
{
    (void)user;
    *(int32_t *)out[0] = (int32_t)index;
    return index == 57 ? LZ_EIO : LZ_OK;
}

START_TEST(a_failing_sample_ends_the_epoch_at_its_place)
{
    const lz_dataset d = {.struct_size = sizeof d,
                          .len = 100,
                          .nfields = 1,
                          .field = {{LZ_I32, {0}}},
                          .get = fails_at_57};
    for (int w = 1; w < 4; w++) {
        lz_loader *l = lz_loader_new(&d, .batch_size = 10, .num_workers = w);
        lz_tensor *b[1];
        for (int round = 0; round < 2; round++) {
            int n = 0;
            OK(lz_loader_begin(l, 0, 0));
            while (lz_loader_next(l, b))
                ck_assert_int_eq(lz_item_i64(lz_select(b[0], 0, 0)), 10 * n++);
            ck_assert_int_eq(n, 5);
            ck_assert_int_eq(lz_loader_status(l), LZ_EIO);
            ck_assert_msg(strstr(lz_last_error_text(), "57") != NULL, "%s", lz_last_error_text());
        }
        OK(lz_loader_begin(l, 0, 6)); /* behind it all is well */
        int n = 0;
        while (lz_loader_next(l, b))
            n++;
        ck_assert_int_eq(n, 4);
        OK(lz_loader_status(l));
        lz_loader_free(l);
    }
}
END_TEST

/* A whole training: the loader marks the steps, as often as it was told. */
START_TEST(the_loader_marks_the_step)
{
    lz_dataset d = numbered(100);
    for (int every = 0; every < 3; every++) {
        lz_loader *l = lz_loader_new(&d, .batch_size = 10, .batches_per_execution = every);
        lz_scope_begin();
        lz_tensor *w =
            lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(WIDTH, 1), ((float[WIDTH]){0, 0, 0})));
        lz_scope_end();
        OK(lz_requires_grad(w, true));
        lz_metric_summary before = {0}, after;
        (void)lz_metric_data("ExecuteTime", &before);
        double first = 0, last = 0;
        for (int e = 0; e < 4; e++) {
            lz_tensor *b[2], *loss = NULL;
            OK(lz_loader_begin(l, e, 0));
            while (lz_loader_next(l, b)) {
                lz_scope_begin();
                lz_tensor *y = lz_squeeze(lz_matmul(b[0], w), 1);
                lz_tensor *miss = lz_sub(y, lz_to(b[1], LZ_F32));
                lz_release(loss);
                loss = lz_retain(lz_mean(lz_mul(miss, miss)));
                OK(lz_backward(loss));
                OK(lz_assign(w, lz_sub(w, lz_mul_scalar(lz_grad_of(w), 1e-5))));
                OK(lz_zero_grad(&w, 1));
                OK(lz_scope_end());
            }
            OK(lz_loader_status(l));
            last = lz_item(loss);
            first = e == 0 ? last : first;
            lz_release(loss);
        }
        ck_assert_msg(last < first, "%g, %g", first, last);
        OK(lz_wait_device_ops()); /* steps count when they are seen to end */
        OK(lz_metric_data("ExecuteTime", &after));
        int64_t steps = (int64_t)(after.total_samples - before.total_samples);
        ck_assert_msg(every == 0 ? steps <= 4 : steps == 40 / every, "%d: %d steps", every,
                      (int)steps);
        lz_release(w);
        lz_loader_free(l);
    }
    lz_dataset_free(&d);
}
END_TEST

START_TEST(made_up_data)
{
    const lz_field f[] = {
        {LZ_F32, LZ_SHAPE(2, 5)}, {LZ_U8, LZ_SHAPE(3)}, {LZ_BOOL, LZ_SCALAR}, {LZ_I64, LZ_SCALAR}};
    lz_dataset d, e;
    OK(lz_dataset_fake(50, f, 4, 10, 3, &d));
    OK(lz_dataset_fake(50, f, 4, 10, 3, &e));
    float x[10], z[10];
    uint8_t u[3], t, classes = 0;
    int64_t y;
    for (int64_t i = 0; i < 50; i++) {
        OK(d.get(d.user, i, (void *[]){x, u, &t, &y}));
        OK(e.get(e.user, i, (void *[]){z, u, &t, &y}));
        ck_assert(memcmp(x, z, sizeof x) == 0);
        for (int k = 0; k < 10; k++)
            ck_assert(x[k] >= 0 && x[k] < 1);
        ck_assert(u[0] < 10 && t <= 1 && y >= 0 && y < 10);
        classes |= (uint8_t)(1 << (y & 7));
    }
    ck_assert_int_eq(classes, 255);
    lz_dataset_free(&d);
    lz_dataset_free(&e);
    ck_assert_int_eq(lz_dataset_fake(50, f, 4, 300, 3, &d), LZ_EINVAL);
    ck_assert_int_eq(lz_dataset_fake(-1, f, 4, 3, 3, &d), LZ_EINVAL);
    const lz_field c[] = {{LZ_C64, LZ_SCALAR}};
    ck_assert_int_eq(lz_dataset_fake(5, c, 1, 3, 3, &d), LZ_EDTYPE);
}
END_TEST

START_TEST(mistakes_are_errors)
{
    lz_dataset d = numbered(10), bad = {.struct_size = sizeof bad};
    lz_tensor *b[2];
#define REFUSED(call, text)                                                                        \
    ck_assert_ptr_null(call);                                                                      \
    ck_assert_msg(strstr(lz_last_error_text(), text) != NULL, "%s", lz_last_error_text())
    REFUSED(lz_loader_new(NULL), "NULL");
    REFUSED(lz_loader_new(&bad), "0 fields");
    REFUSED(lz_loader_new(&d, .batch_size = 0), "batch_size is 0");
    REFUSED(lz_loader_new(&d, .num_workers = 65), "num_workers is 65");
    REFUSED(lz_loader_new(&d, .shard = 1), "shard is 1");

    ck_assert_int_eq(lz_loader_begin(NULL, 0, 0), LZ_ENULL);
    ck_assert(!lz_loader_next(NULL, b));
    ck_assert_int_eq(lz_loader_status(NULL), LZ_ENULL);
    lz_loader *l = lz_loader_new(&d, .batch_size = 5);
    ck_assert(!lz_loader_next(l, b)); /* no epoch was begun */
    ck_assert_int_eq(lz_loader_begin(l, 0, 3), LZ_ERANGE);
    lz_loader_free(l);
    lz_dataset_free(&d);
    lz_array two[2] = {{.dtype = LZ_U8, .shape = LZ_SHAPE(2), .nbytes = 2, .data = "ab"},
                       {.dtype = LZ_U8, .shape = LZ_SHAPE(3), .nbytes = 3, .data = "abc"}};
    ck_assert_int_eq(lz_dataset_of_arrays(two, 2, &d), LZ_ESHAPE);
    ck_assert_int_eq(lz_dataset_of_arrays(NULL, 2, &d), LZ_ENULL);
    ck_assert_int_eq(lz_dataset_of_arrays(two, 0, &d), LZ_EINVAL);
}
END_TEST

/* Memory of batches is used again; all of it comes back. */
START_TEST(memory_is_recycled)
{
    lz_dataset d = numbered(1000);
    int64_t seen[1000];
    lz_loader *l = lz_loader_new(&d, .batch_size = 10, .num_workers = 2, .loader_prefetch_size = 4,
                                 .device_prefetch_size = 2);
    ck_assert_int_eq(epoch(l, 0, 0, seen), 1000);
    int64_t after_one = lz_alloc_live_bytes_hint();
    for (int e = 0; e < 5; e++)
        epoch(l, e, 0, seen);
    ck_assert_int_le(lz_alloc_live_bytes_hint(), after_one + 40);
    lz_loader_free(l);
    lz_dataset_free(&d);
}
END_TEST

/* The n-th allocation fails, in a worker or here: an error where it belongs, no deadlock. */
START_TEST(memory_runs_out)
{
    lz_dataset d = numbered(40);
    int64_t seen[40];
    lz_loader *warm = lz_loader_new(&d, .batch_size = 10);
    ck_assert_int_eq(epoch(warm, 0, 0, seen), 40);
    lz_loader_free(warm);
    for (int n = 1; n < 2000; n++) {
        uint64_t before = lz_alloc_failed_count();
        lz_alloc_fail_at(n, false);
        lz_loader *l = lz_loader_new(&d, .batch_size = 10, .shuffle = true, .num_workers = 2);
        int64_t rows = 0;
        for (int e = 0; e < 2 && l; e++) {
            lz_tensor *b[2];
            lz_status s = lz_loader_begin(l, e, 0);
            while (s == LZ_OK && lz_loader_next(l, b))
                rows += lz_shape_of(b[0]).dims[0];
            if (s == LZ_OK)
                s = lz_loader_status(l);
            ck_assert_msg(s == LZ_OK || s == LZ_EMEM || s == LZ_EDEVMEM, "%s",
                          lz_last_error_text());
        }
        lz_loader_free(l);
        lz_alloc_fail_at(0, false);
        bool hit = lz_alloc_failed_count() != before;
        ck_assert_msg(hit || rows == 80, "allocation %d: %d rows", n, (int)rows);
        if (!hit)
            break;
        ck_assert_int_lt(n, 1999);
    }
    lz_dataset_free(&d);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("loader");
    TCase *t = tcase_create("loader");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, every_sample_comes_once_in_order);
    tcase_add_test(t, last_batches_and_shards);
    tcase_add_test(t, an_epoch_may_be_left);
    tcase_add_test(t, a_failing_sample_ends_the_epoch_at_its_place);
    tcase_add_test(t, the_loader_marks_the_step);
    tcase_add_test(t, made_up_data);
    tcase_add_test(t, mistakes_are_errors);
    tcase_add_test(t, memory_is_recycled);
    tcase_add_test(t, memory_runs_out);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
