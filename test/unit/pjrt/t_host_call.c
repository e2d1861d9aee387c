/* t_host_call.c - functions of the host's in programs, by the C API alone: values, order by tokens,
 * errors, what is refused inside, threads, and the end of a client and of a host meanwhile. */
#include "base/thread.h"
#include "unit/pjrt/host.h"
#include <pthread.h>
#include <stdio.h>

static const PJRT_Lazuli_HostCall_Extension *host;

static void setup(void)
{
    open_client();
    const PJRT_Extension_Base *e = api->extension_start;
    while (e && e->type != PJRT_EXTENSION_LAZULI_HOST_CALL)
        e = e->next;
    ck_assert(e != NULL && e->struct_size >= sizeof *host);
    host = (const PJRT_Lazuli_HostCall_Extension *)e;
}

/* type 11: f32, 4: i32, 1: predicates */
static PJRT_Buffer *upload_list(int32_t type, const void *data, size_t rank, int64_t n)
{
    return upload(type, data, rank, &n, NULL);
}

static PJRT_Error *execute(PJRT_LoadedExecutable *x, PJRT_Buffer **in, size_t n, PJRT_Buffer **out,
                           PJRT_Event **done)
{
    return run_with(x, in, n, NULL, 0, out, done);
}

/* ---- values ---- */

/* The sum of all operands by elements, times the config; an f32 and its negative. */
static int32_t sum(const PJRT_Lazuli_HostCall *c, void *user)
{
    (*(_Atomic int *)user)++;
    ck_assert_uint_ge(c->struct_size, sizeof *c);
    ck_assert_str_eq(c->target, "t_sum");
    ck_assert_uint_eq(c->num_args, 2);
    ck_assert_uint_eq(c->num_rets, 2);
    ck_assert_uint_eq(c->arg_sizes[0], 12);
    ck_assert_uint_eq(c->ret_sizes[1], 12);
    float factor = (float)(c->backend_config[0] - '0');
    for (int i = 0; i < 3; i++) {
        float s = ((float *)c->args[0])[i] + ((float *)c->args[1])[i];
        ((float *)c->rets[0])[i] = factor * s;
        ((float *)c->rets[1])[i] = -s;
    }
    return PJRT_OK;
}

static const char sums[] =
    "func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {\n"
    "  %0:2 = stablehlo.custom_call @t_sum(%x, %y) {backend_config = \"3\"} : (tensor<3xf32>, "
    "tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)\n"
    "  %1 = stablehlo.add %0#0, %x : tensor<3xf32>\n"
    "  return %1, %0#1 : tensor<3xf32>, tensor<3xf32>\n}\n";

START_TEST(values)
{
    static _Atomic int calls;
    ck_assert_int_eq(host->register_function(NULL, sum, NULL), PJRT_INVALID_ARGUMENT);
    ck_assert_int_eq(host->register_function("", sum, NULL), PJRT_INVALID_ARGUMENT);
    ck_assert_int_eq(host->register_function("t_sum", NULL, NULL), PJRT_INVALID_ARGUMENT);
    ck_assert_int_eq(host->register_function("t_sum", sum, &calls), PJRT_OK);
    PJRT_LoadedExecutable *e = compile(sums);
    const float x[] = {1, 2, 3}, y[] = {10, 20, 30};
    float got[3];
    PJRT_Buffer *in[] = {upload_list(11, x, 1, 3), upload_list(11, y, 1, 3)}, *out[2];
    must(execute(e, in, 2, out, NULL), "execute");
    download(out[0], got, sizeof got);
    ck_assert(got[0] == 34 && got[1] == 68 && got[2] == 102);
    download(out[1], got, sizeof got);
    ck_assert(got[0] == -11 && got[2] == -33);
    ck_assert_int_eq(atomic_load(&calls), 1);
    /* its bytes would call what another process has under the name */
    PJRT_LoadedExecutable_GetExecutable_Args g =
        ARGS(LoadedExecutable_GetExecutable, .loaded_executable = e);
    CALL(LoadedExecutable_GetExecutable, &g);
    PJRT_Executable_Serialize_Args s = ARGS(Executable_Serialize, .executable = g.executable);
    expect(api->Executable_Serialize(&s), PJRT_UNIMPLEMENTED, "functions of this process");
    PJRT_Executable_Destroy_Args d = ARGS(Executable_Destroy, .executable = g.executable);
    CALL(Executable_Destroy, &d);
    for (int i = 0; i < 2; i++) {
        drop(in[i]);
        drop(out[i]);
    }
    end_executable(e);
}
END_TEST

/* ---- order ---- */

static int seen[64], nseen;

static int32_t note(const PJRT_Lazuli_HostCall *c, void *user)
{
    (void)user;
    ck_assert_uint_eq(c->num_args, 1); /* a token is no array */
    ck_assert_uint_eq(c->num_rets, 0);
    ck_assert_int_lt(nseen, 64);
    seen[nseen++] = *(const int *)c->args[0];
    return PJRT_OK;
}

/* As JAX writes ordered effects: tokens go into the program, through loops, branches and functions,
 * and come out. */
static const char ordered[] =
    "func.func @main(%t: !stablehlo.token {jax.token = true}, %x: tensor<i32>) -> "
    "(!stablehlo.token {jax.token = true}, tensor<i32>) {\n"
    "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
    "  %0 = stablehlo.custom_call @t_note(%t, %x) {has_side_effect = true} : (!stablehlo.token, "
    "tensor<i32>) -> !stablehlo.token\n"
    "  %1:2 = stablehlo.while(%u = %0, %i = %x) : !stablehlo.token, tensor<i32>\n"
    "  cond {\n"
    "    %n = stablehlo.constant dense<5> : tensor<i32>\n"
    "    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "    stablehlo.return %c : tensor<i1>\n"
    "  } do {\n"
    "    %j = stablehlo.add %i, %one : tensor<i32>\n"
    "    %v = func.call @noted(%u, %j) : (!stablehlo.token, tensor<i32>) -> !stablehlo.token\n"
    "    stablehlo.return %v, %j : !stablehlo.token, tensor<i32>\n"
    "  }\n"
    "  %2 = \"stablehlo.case\"(%one) ({\n"
    "    stablehlo.return %1#0 : !stablehlo.token\n"
    "  }, {\n"
    "    %3 = stablehlo.negate %1#1 : tensor<i32>\n"
    "    %4 = func.call @noted(%1#0, %3) : (!stablehlo.token, tensor<i32>) -> !stablehlo.token\n"
    "    stablehlo.return %4 : !stablehlo.token\n"
    "  }) : (tensor<i32>) -> !stablehlo.token\n"
    "  return %2, %1#1 : !stablehlo.token, tensor<i32>\n}\n"
    "func.func private @noted(%t: !stablehlo.token, %x: tensor<i32>) -> !stablehlo.token {\n"
    "  %0 = stablehlo.custom_call @t_note(%t, %x) {has_side_effect = true} : (!stablehlo.token, "
    "tensor<i32>) -> !stablehlo.token\n"
    "  return %0 : !stablehlo.token\n}\n";

START_TEST(order)
{
    ck_assert_int_eq(host->register_function("t_note", note, NULL), PJRT_OK);
    PJRT_LoadedExecutable *e = compile(ordered);
    const int x = 2, want[] = {2, 3, 4, 5, -5};
    int got;
    PJRT_Buffer *token = upload_list(1, NULL, 1, 0), *n = upload_list(4, &x, 0, 0);
    nseen = 0;
    for (int round = 0; round < 3; round++) { /* the token of one execution goes into the next */
        PJRT_Buffer *in[] = {token, n}, *out[2];
        must(execute(e, in, 2, out, NULL), "execute");
        drop(token);
        token = out[0];
        download(out[1], &got, sizeof got);
        ck_assert_int_eq(got, 5);
        drop(out[1]);
    }
    download(token, &got, 0);
    ck_assert_int_eq(nseen, 15);
    for (int i = 0; i < 15; i++)
        ck_assert_int_eq(seen[i], want[i % 5]);
    drop(token);
    drop(n);
    end_executable(e);
}
END_TEST

/* ---- errors, and what is refused ---- */

static const char one_call[] =
    "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n"
    "  %0 = stablehlo.custom_call @t_any(%x) : (tensor<3xf32>) -> tensor<3xf32>\n"
    "  return %0 : tensor<3xf32>\n}\n";
static const float three[] = {1, 2, 3};

static int32_t fails(const PJRT_Lazuli_HostCall *c, void *user)
{
    (void)user;
    ck_assert_uint_ge(c->message_size, 200);
    snprintf(c->message, c->message_size, "%0300d no", 7); /* longer than there is room */
    return PJRT_OUT_OF_RANGE;
}

START_TEST(errors)
{
    ck_assert_int_eq(host->register_function("t_any", fails, NULL), PJRT_OK);
    PJRT_LoadedExecutable *e = compile(one_call);
    PJRT_Buffer *in = upload_list(11, three, 1, 3), *out;
    PJRT_Event *done;
    float got[3];
    must(execute(e, &in, 1, &out, &done), "execute");
    expect(await(done), PJRT_OUT_OF_RANGE, "@t_any: 000000");
    expect(try_download(out, got, sizeof got), PJRT_OUT_OF_RANGE, "000000");
    drop(out);
    drop(in);
    end_executable(e);
}
END_TEST

static PJRT_LoadedExecutable *inner;
static PJRT_Buffer *inner_in, *unready;

/* Every other call that waits for a buffer's content. */
static void try_waits(PJRT_Buffer *b)
{
    PJRT_Buffer_ReadyEvent_Args r = ARGS(Buffer_ReadyEvent, .buffer = b);
    CALL(Buffer_ReadyEvent, &r);
    expect(await(r.event), PJRT_FAILED_PRECONDITION, "not computed yet");
    PJRT_Buffer_UnsafePointer_Args u = ARGS(Buffer_UnsafePointer, .buffer = b);
    expect(api->Buffer_UnsafePointer(&u), PJRT_FAILED_PRECONDITION, "not computed yet");
    PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args o =
        ARGS(Buffer_OpaqueDeviceMemoryDataPointer, .buffer = b);
    expect(api->Buffer_OpaqueDeviceMemoryDataPointer(&o), PJRT_FAILED_PRECONDITION,
           "not computed yet");
    PJRT_Buffer_Device_Args d = ARGS(Buffer_Device, .buffer = b);
    CALL(Buffer_Device, &d);
    PJRT_Buffer_CopyToDevice_Args to =
        ARGS(Buffer_CopyToDevice, .buffer = b, .dst_device = d.device);
    expect(api->Buffer_CopyToDevice(&to), PJRT_FAILED_PRECONDITION, "not computed yet");
    PJRT_Buffer_Memory_Args m = ARGS(Buffer_Memory, .buffer = b);
    CALL(Buffer_Memory, &m);
    PJRT_Buffer_CopyToMemory_Args in =
        ARGS(Buffer_CopyToMemory, .buffer = b, .dst_memory = m.memory);
    expect(api->Buffer_CopyToMemory(&in), PJRT_FAILED_PRECONDITION, "not computed yet");
    float got[3];
    PJRT_Buffer_CopyRawToHost_Args raw =
        ARGS(Buffer_CopyRawToHost, .buffer = b, .dst = got, .transfer_size = sizeof got);
    expect(api->Buffer_CopyRawToHost(&raw), PJRT_FAILED_PRECONDITION, "not computed yet");
}

static int32_t waits(const PJRT_Lazuli_HostCall *c, void *user)
{
    PJRT_Buffer *out;
    float got[3];
    expect(execute(inner, &inner_in, 1, &out, NULL), PJRT_FAILED_PRECONDITION, "executed");
    download(inner_in, got, sizeof got);
    lz_latch_wait(user, -1); /* until the caller has set `unready` */
    expect(try_download(unready, got, sizeof got), PJRT_FAILED_PRECONDITION, "not computed yet");
    try_waits(unready);
    PJRT_Client_Destroy_Args d = ARGS(Client_Destroy, .client = client);
    expect(api->Client_Destroy(&d), PJRT_FAILED_PRECONDITION, "destroy");
    memcpy(c->rets[0], got, sizeof got);
    return PJRT_OK;
}

START_TEST(refused)
{
    lz_latch go = {0};
    ck_assert_int_eq(host->register_function("t_any", waits, &go), PJRT_OK);
    PJRT_LoadedExecutable *e = inner = compile(one_call);
    PJRT_Buffer *in = inner_in = upload_list(11, three, 1, 3), *out;
    float got[3];
    must(execute(e, &in, 1, &out, NULL), "execute");
    unready = out;
    lz_latch_set(&go);
    download(out, got, sizeof got);
    ck_assert_float_eq(got[2], 3);
    drop(out);
    drop(in);
    end_executable(e);
}
END_TEST

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 50 };

static void *host_thread(void *arg)
{
    PJRT_LoadedExecutable *e = arg;
    PJRT_Buffer *in[] = {upload_list(11, three, 1, 3), upload_list(11, three, 1, 3)}, *out[2];
    float got[3];
    for (int i = 0; i < ROUNDS; i++) {
        must(execute(e, in, 2, out, NULL), "execute");
        download(out[0], got, sizeof got);
        ck_assert_float_eq(got[2], 21);
        drop(out[0]);
        drop(out[1]);
    }
    drop(in[0]);
    drop(in[1]);
    return NULL;
}

START_TEST(threads)
{
    static _Atomic int calls;
    pthread_t t[THREADS];
    ck_assert_int_eq(host->register_function("t_sum", sum, &calls), PJRT_OK);
    PJRT_LoadedExecutable *e = compile(sums);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&t[i], NULL, host_thread, e), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    ck_assert_int_eq(atomic_load(&calls), THREADS * ROUNDS);
    end_executable(e);
}
END_TEST

/* ---- ends ---- */

static lz_latch began, may_end;
static _Atomic int ended;

static int32_t blocks(const PJRT_Lazuli_HostCall *c, void *user)
{
    (void)user;
    lz_latch_set(&began);
    lz_latch_wait(&may_end, -1);
    memcpy(c->rets[0], c->args[0], c->ret_sizes[0]);
    atomic_fetch_add(&ended, 1);
    return PJRT_OK;
}

/* A host that holds a lock which the function needs may end its client and itself. */
START_TEST(ends)
{
    ck_assert_int_eq(host->register_function("t_any", blocks, NULL), PJRT_OK);
    PJRT_LoadedExecutable *e = compile(one_call);
    PJRT_Buffer *in = upload_list(11, three, 1, 3), *out, *late;
    PJRT_Event *done;
    must(execute(e, &in, 1, &out, NULL), "execute");
    lz_latch_wait(&began, -1);
    must(execute(e, &in, 1, &late, &done), "execute"); /* waits for the first */
    ck_assert_uint_eq(host->close(0), 1);
    drop(out);
    drop(late);
    drop(in);
    end_executable(e);
    PJRT_Client_Destroy_Args d = ARGS(Client_Destroy, .client = client);
    CALL(Client_Destroy, &d);
    ck_assert_int_eq(atomic_load(&ended), 0);
    lz_latch_set(&may_end);
    expect(await(done), PJRT_FAILED_PRECONDITION, "@t_any: the host has ended");
    ck_assert_int_eq(atomic_load(&ended), 1);
    ck_assert_uint_eq(host->close(100000), 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("host_call");
    TCase *t = tcase_create("calls"), *end = tcase_create("ends");
    tcase_add_checked_fixture(t, setup, close_client);
    tcase_add_test(t, values);
    tcase_add_test(t, order);
    tcase_add_test(t, errors);
    tcase_add_test(t, refused);
    tcase_add_test(t, threads);
    suite_add_tcase(s, t);
    tcase_add_checked_fixture(end, setup, NULL); /* the last: nothing is called afterwards */
    tcase_add_test(end, ends);
    suite_add_tcase(s, end);
    return lz_run_suite(s);
}
