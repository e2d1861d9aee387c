/* t_ref.c - the REF device through the device interface: buffers, executables, asynchronous results
 * and errors. */
#include "backends/backend.h"
#include "base/alloc.h"
#include "suite.h"
#include "support/gen.h"
#include <pthread.h>
#include <string.h>

extern const lz_backend lz_backend_ref;
static const lz_backend *const be = &lz_backend_ref;
static char msg[512];

static lz_device_buffer *upload(const lz_literal *l)
{
    lz_device_buffer *b;
    ck_assert_int_eq(be->alloc(0, l->nbytes, &b), LZ_OK);
    ck_assert_uint_eq((uintptr_t)b->data % 64, 0);
    ck_assert_int_eq(be->copy_in(b, l->data, l->nbytes), LZ_OK);
    return b;
}

static lz_literal *download(lz_device_buffer *b, const lz_type *t)
{
    lz_literal *l = lz_literal_new(t);
    ck_assert_msg(be->copy_out(b, l->data, l->nbytes) == LZ_OK, "%s", lz_error_get()->message);
    return l;
}

/* Runs f's executable on args and compares with the evaluator. */
static void run_and_compare(lz_exec *x, const lz_func *f, lz_literal **args)
{
    lz_device_buffer *in[16], *out[16];
    lz_literal *want[16];
    bool donated[16] = {false};
    lz_event *done;
    ck_assert_int_eq(lz_ref_run(f, args, want), LZ_OK);
    for (uint32_t i = 0; i < f->nparam; i++)
        in[i] = upload(args[i]);
    ck_assert_msg(be->execute(x, 0, in, donated, false, out, &done) == LZ_OK, "%s",
                  lz_error_get()->message);
    for (uint32_t i = 0; i < f->nparam; i++)
        lz_device_buffer_release(in[i]); /* the execution holds what it needs */
    ck_assert_int_eq(lz_event_wait(done), LZ_OK);
    for (uint32_t k = 0; k < f->nresult; k++) {
        lz_literal *got = download(out[k], want[k]->type);
        ck_assert_msg(lz_test_same(got, want[k], 0, msg, sizeof msg), "%s", msg);
        lz_literal_release(got);
        lz_literal_release(want[k]);
        lz_device_buffer_release(out[k]);
    }
    lz_event_release(done);
}

START_TEST(random_programs)
{
    ck_assert_int_eq(be->init(), LZ_OK);
    for (uint64_t seed = 0; seed < 60; seed++) {
        lz_func *f = lz_gen_random(seed, &(lz_gen_options){.max_elems = seed % 2 ? 4000 : 100});
        lz_literal **args;
        ck_assert_int_eq(lz_gen_args(f, seed, LZ_FILL_MODEST, &args), LZ_OK);
        lz_exec *x, *y;
        ck_assert_msg(be->compile(0, f, NULL, &x) == LZ_OK, "%s", lz_error_get()->message);
        run_and_compare(x, f, args);
        lz_buf b = {0};
        ck_assert_int_eq(be->serialize(x, &b), LZ_OK);
        be->exec_free(x);
        ck_assert_msg(be->deserialize(0, b.data, b.len, NULL, &y) == LZ_OK, "%s",
                      lz_error_get()->message);
        run_and_compare(y, f, args);
        lz_exec_info info;
        be->exec_info(y, &info);
        uint64_t bytes = 0;
        for (uint32_t i = 0; i < f->nparam; i++)
            bytes += args[i]->nbytes;
        ck_assert_uint_eq(info.argument_bytes, bytes);
        be->exec_free(y);
        lz_exec *z = (lz_exec *)&info;
        ck_assert_int_eq(be->deserialize(0, b.data, b.len / 2, NULL, &z), LZ_ECORRUPT);
        ck_assert_ptr_null(z);
        ck_assert_int_eq(be->deserialize(0, "LZREF", 5, NULL, &z), LZ_ECORRUPT);
        lz_buf_free(&b);
        lz_gen_args_free(f, args);
        lz_func_free(f);
    }
    lz_device_info d;
    ck_assert_int_eq(be->wait_all(0), LZ_OK);
    ck_assert_int_eq(be->device_info(0, &d), LZ_OK);
    ck_assert_uint_eq(d.memory_used, 0);
    ck_assert_uint_gt(d.memory_peak, 0);
}
END_TEST

/* Executions in a row, each on the results of the one before, none waited for; the executable is
 * freed at once. */
START_TEST(chained_without_waiting)
{
    lz_func *f = lz_func_new("step");
    lz_shape s = LZ_SHAPE(10000);
    lz_val x = lz_build_param(f, lz_type_get(LZ_F32, &s));
    lz_val y = lz_build_ew2(f, LZ_OP_ADD, x, lz_build_splat(f, lz_type_get(LZ_F32, &s), 1));
    ck_assert_int_eq(lz_func_set_results(f, &y, 1), LZ_OK);
    lz_exec *e;
    ck_assert_int_eq(be->compile(0, f, NULL, &e), LZ_OK);
    lz_literal *zero = lz_literal_new(lz_type_get(LZ_F32, &s));
    lz_device_buffer *b = upload(zero);
    for (int i = 0; i < 50; i++) {
        lz_device_buffer *next;
        lz_event *done;
        ck_assert_int_eq(be->execute(e, 0, &b, (bool[]){true}, false, &next, &done), LZ_OK);
        lz_event_release(done);
        lz_device_buffer_release(b);
        b = next;
    }
    be->exec_free(e);
    lz_literal *got = download(b, zero->type);
    ck_assert(((float *)got->data)[0] == 50 && ((float *)got->data)[9999] == 50);
    lz_device_buffer_release(b);
    lz_literal_release(got);
    lz_literal_release(zero);
    lz_func_free(f);
}
END_TEST

static int released;
static void on_release(void *user)
{
    released += *(int *)user;
}

START_TEST(borrowed_memory)
{
    float data[4] = {1, 2, 3, 4}, back[4];
    int one = 1;
    lz_device_buffer *b;
    ck_assert_int_eq(be->wrap(0, data, sizeof data, on_release, &one, &b), LZ_OK);
    ck_assert_ptr_eq(b->data, data);
    ck_assert_int_eq(be->copy_out(b, back, sizeof back), LZ_OK);
    ck_assert_mem_eq(back, data, sizeof data);
    ck_assert_int_eq(be->copy_out(b, back, sizeof back + 1), LZ_ERANGE);
    lz_device_buffer_release(b);
    ck_assert_int_eq(released, 1);
    ck_assert_int_eq(be->alloc(1, 16, &b), LZ_ERANGE);
    ck_assert_int_eq(be->alloc(0, SIZE_MAX, &b), LZ_EMEM);
    ck_assert_int_eq(be->alloc(0, 0, &b), LZ_OK);
    lz_device_buffer_release(b);
}
END_TEST

/* An input that fails only after the executions were enqueued: its error reaches events, results,
 * and what is computed from them. */
START_TEST(errors_travel)
{
    lz_func *f = lz_func_new("f");
    lz_shape s = LZ_SHAPE(5000); /* too many elements to run before the call returns */
    lz_val x = lz_build_param(f, lz_type_get(LZ_F32, &s)), y = lz_build_ew1(f, LZ_OP_NEGATE, x);
    ck_assert_int_eq(lz_func_set_results(f, &y, 1), LZ_OK);
    lz_exec *e;
    ck_assert_int_eq(be->compile(0, f, NULL, &e), LZ_OK);
    lz_literal *a = lz_literal_new(lz_type_get(LZ_F32, &s));
    lz_device_buffer *in = upload(a), *out, *out2, *little;
    lz_event *late = lz_event_new(), *done, *done2;
    in->ready = late;
    lz_event_retain(late);
    ck_assert_int_eq(be->execute(e, 0, &in, (bool[]){false}, false, &out, &done), LZ_OK);
    ck_assert_int_eq(be->execute(e, 0, &out, (bool[]){false}, false, &out2, &done2), LZ_OK);
    ck_assert(!lz_event_done(done));
    lz_event_complete(late, &(lz_error){.status = LZ_EDEVICE, .message = "the moon is full"});
    ck_assert_int_eq(lz_event_wait(done2), LZ_EDEVICE);
    ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "moon"));
    ck_assert_int_eq(lz_event_wait(done), LZ_EDEVICE);
    float back[2];
    ck_assert_int_eq(be->copy_out(out2, back, sizeof back), LZ_EDEVICE);
    lz_event *none;
    lz_device_buffer *nothing;
    ck_assert_int_eq(be->alloc(0, 4, &little), LZ_OK);
    ck_assert_int_eq(be->execute(e, 0, &little, (bool[]){false}, false, &nothing, &none),
                     LZ_EINVAL);
    ck_assert(nothing == NULL && none == NULL);
    lz_device_buffer_release(little);
    lz_device_buffer_release(in);
    lz_device_buffer_release(out);
    lz_device_buffer_release(out2);
    lz_event_release(late);
    lz_event_release(done);
    lz_event_release(done2);
    be->exec_free(e);
    lz_literal_release(a);
    lz_func_free(f);
}
END_TEST

START_TEST(failing_memory)
{
    lz_func *f = lz_gen_random(4, &(lz_gen_options){.max_elems = 50});
    lz_literal **args;
    ck_assert_int_eq(lz_gen_args(f, 4, LZ_FILL_MODEST, &args), LZ_OK);
    lz_exec *x;
    ck_assert_int_eq(be->compile(0, f, NULL, &x), LZ_OK);
    run_and_compare(x, f, args);
    lz_device_buffer *in[16], *out[16];
    for (uint32_t i = 0; i < f->nparam; i++)
        in[i] = upload(args[i]);
    int64_t live = lz_alloc_live_bytes_hint();
    bool finished = false;
    for (int n = 1; n < 500 && !finished; n++) {
        lz_event *done;
        lz_alloc_fail_at(n, false);
        lz_status s = be->execute(x, 0, in, NULL, false, out, &done);
        if (s == LZ_OK)
            s = lz_event_wait(done);
        lz_alloc_fail_at(0, false);
        finished = s == LZ_OK;
        ck_assert(finished || s == LZ_EMEM);
        for (uint32_t k = 0; k < f->nresult; k++)
            lz_device_buffer_release(out[k]);
        lz_event_release(done);
        ck_assert_int_eq(be->wait_all(0), LZ_OK);
        ck_assert_int_le(lz_alloc_live_bytes_hint(), live + 4); /* the queue keeps spare items */
    }
    ck_assert(finished);
    for (uint32_t i = 0; i < f->nparam; i++)
        lz_device_buffer_release(in[i]);
    be->exec_free(x);
    lz_gen_args_free(f, args);
    lz_func_free(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ref");
    TCase *t = tcase_create("ref");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, random_programs);
    tcase_add_test(t, chained_without_waiting);
    tcase_add_test(t, borrowed_memory);
    tcase_add_test(t, errors_travel);
    tcase_add_test(t, failing_memory);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
