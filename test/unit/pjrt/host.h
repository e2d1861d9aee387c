/* host.h - what tests of the PJRT plugin do as a host: calls that must succeed, errors that are
 * expected, arrays, programs. The client is the test's. */
#ifndef LZ_TEST_PJRT_HOST_H
#define LZ_TEST_PJRT_HOST_H
#include "pjrt/plugin.h"
#include "suite.h"
#include <string.h>

const PJRT_Api *GetPjrtApi(void);
static const PJRT_Api *api;
static PJRT_Client *client;

/* NAME(fields): the arguments of a call; CALL(NAME, a) makes it, and it must succeed. */
#define ARGS(NAME, ...)                                                                            \
    (PJRT_##NAME##_Args)                                                                           \
    {                                                                                              \
        .struct_size = PJRT_##NAME##_Args_SIZE, __VA_ARGS__                                        \
    }
static inline void must(PJRT_Error *e, const char *what)
{
    if (!e)
        return;
    PJRT_Error_Message_Args m = ARGS(Error_Message, .error = e);
    api->Error_Message(&m);
    ck_abort_msg("%s: %.*s", what, (int)m.message_size, m.message);
}
#define CALL(NAME, args) must(api->NAME(args), #NAME)

static inline void expect(PJRT_Error *e, PJRT_Error_Code code, const char *word)
{
    ck_assert_msg(e != NULL, "no error about %s", word);
    PJRT_Error_Message_Args m = ARGS(Error_Message, .error = e);
    PJRT_Error_GetCode_Args c = ARGS(Error_GetCode, .error = e);
    api->Error_Message(&m);
    must(api->Error_GetCode(&c), "Error_GetCode");
    ck_assert_msg(c.code == (int32_t)code, "code %d: %s", c.code, m.message);
    ck_assert_msg(strstr(m.message, word) != NULL, "\"%s\" does not say %s", m.message, word);
    PJRT_Error_Destroy_Args d = ARGS(Error_Destroy, .error = e);
    api->Error_Destroy(&d);
}

/* ---- what a host does ---- */

static inline void open_client_with(const PJRT_NamedValue *options, size_t n)
{
    api = GetPjrtApi();
    PJRT_Client_Create_Args a = ARGS(Client_Create, .create_options = options, .num_options = n);
    CALL(Client_Create, &a);
    client = a.client;
}

static inline void open_client(void)
{
    open_client_with(NULL, 0);
}

static inline void close_client(void)
{
    PJRT_Client_Destroy_Args a = ARGS(Client_Destroy, .client = client);
    CALL(Client_Destroy, &a);
}

/* Gives the error that the event ended with. */
static inline PJRT_Error *await(PJRT_Event *e)
{
    PJRT_Event_Await_Args a = ARGS(Event_Await, .event = e);
    PJRT_Event_Destroy_Args d = ARGS(Event_Destroy, .event = e);
    PJRT_Error *error = api->Event_Await(&a);
    CALL(Event_Destroy, &d);
    return error;
}

static inline void wait_for(PJRT_Event *e)
{
    must(await(e), "Event_Await");
}

static inline PJRT_Buffer *upload(int32_t type, const void *data, size_t rank, const int64_t *dims,
                                  const int64_t *strides)
{
    PJRT_Client_BufferFromHostBuffer_Args a = ARGS(
        Client_BufferFromHostBuffer, .client = client, .data = data, .type = type, .dims = dims,
        .num_dims = rank, .byte_strides = strides, .num_byte_strides = strides ? rank : 0);
    CALL(Client_BufferFromHostBuffer, &a);
    wait_for(a.done_with_host_buffer);
    return a.buffer;
}

static inline PJRT_Error *try_download(PJRT_Buffer *b, void *dst, size_t n)
{
    PJRT_Buffer_ToHostBuffer_Args a =
        ARGS(Buffer_ToHostBuffer, .src = b, .dst = dst, .dst_size = n);
    PJRT_Error *e = api->Buffer_ToHostBuffer(&a);
    return e ? e : await(a.event);
}

static inline void download(PJRT_Buffer *b, void *dst, size_t n)
{
    PJRT_Buffer_ToHostBuffer_Args size = ARGS(Buffer_ToHostBuffer, .src = b);
    CALL(Buffer_ToHostBuffer, &size);
    ck_assert_uint_eq(size.dst_size, n);
    must(try_download(b, dst, n), "Buffer_ToHostBuffer");
}

static inline void drop(PJRT_Buffer *b)
{
    PJRT_Buffer_Destroy_Args a = ARGS(Buffer_Destroy, .buffer = b);
    CALL(Buffer_Destroy, &a);
}

static inline bool is_deleted(PJRT_Buffer *b)
{
    PJRT_Buffer_IsDeleted_Args a = ARGS(Buffer_IsDeleted, .buffer = b);
    CALL(Buffer_IsDeleted, &a);
    return a.is_deleted;
}

static inline PJRT_Error *compile_as(const char *text, const char *format, const char *options,
                                     size_t n, PJRT_LoadedExecutable **out)
{
    PJRT_Program g = {.struct_size = sizeof g,
                      .code = (char *)(uintptr_t)text,
                      .code_size = strlen(text),
                      .format = format,
                      .format_size = strlen(format)};
    PJRT_Client_Compile_Args a = ARGS(Client_Compile, .client = client, .program = &g,
                                      .compile_options = options, .compile_options_size = n);
    PJRT_Error *e = api->Client_Compile(&a);
    *out = e ? NULL : a.executable;
    return e;
}

static const char one_device[] = {0x1a, 0x04, 0x20, 0x01, 0x28, 0x01};

static inline PJRT_LoadedExecutable *compile(const char *text)
{
    PJRT_LoadedExecutable *x;
    must(compile_as(text, "mlir", one_device, sizeof one_device, &x), "Client_Compile");
    return x;
}

static inline void end_executable(PJRT_LoadedExecutable *x)
{
    PJRT_LoadedExecutable_Destroy_Args a = ARGS(LoadedExecutable_Destroy, .executable = x);
    CALL(LoadedExecutable_Destroy, &a);
}

static inline PJRT_Executable *executable_of(PJRT_LoadedExecutable *x)
{
    PJRT_LoadedExecutable_GetExecutable_Args a =
        ARGS(LoadedExecutable_GetExecutable, .loaded_executable = x);
    CALL(LoadedExecutable_GetExecutable, &a);
    return a.executable;
}

static inline void end_plain(PJRT_Executable *x)
{
    PJRT_Executable_Destroy_Args a = ARGS(Executable_Destroy, .executable = x);
    CALL(Executable_Destroy, &a);
}

static inline PJRT_Error *run_with(PJRT_LoadedExecutable *x, PJRT_Buffer **in, size_t n,
                                   const int64_t *kept, size_t nkept, PJRT_Buffer **out,
                                   PJRT_Event **done)
{
    PJRT_ExecuteOptions o = {.struct_size = sizeof o,
                             .non_donatable_input_indices = kept,
                             .num_non_donatable_input_indices = nkept};
    PJRT_Buffer *const *arguments[] = {in};
    PJRT_Buffer **results[] = {out};
    PJRT_LoadedExecutable_Execute_Args a = ARGS(
        LoadedExecutable_Execute, .executable = x, .options = &o, .argument_lists = arguments,
        .num_devices = 1, .num_args = n, .output_lists = results, .device_complete_events = done);
    return api->LoadedExecutable_Execute(&a);
}

static inline void run(PJRT_LoadedExecutable *x, PJRT_Buffer **in, size_t n, PJRT_Buffer **out)
{
    must(run_with(x, in, n, NULL, 0, out, NULL), "LoadedExecutable_Execute");
}
#endif
