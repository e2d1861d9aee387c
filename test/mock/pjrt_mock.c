/* pjrt_mock.c - a PJRT plugin that is wrong in one way, chosen by -DKIND; 0 is right. Its one
 * program gives its argument, an f32[3], as its result, whatever its text says. It holds a host to
 * the rules, too: arguments that are too short or not zero where nothing is given are errors.
 * test/unit/backends/t_plugin_kinds.c says what becomes of each kind. Threads: none. */
#include "backends/pjrt/abi.h"
#include "test/mock/pjrt_mock.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef KIND
#define KIND 0
#endif
_Static_assert(KIND >= 0 && KIND <= KINDS, "a kind");

typedef struct failure {
    int code;
    const char *text;
    size_t n;
} failure;
typedef struct PJRT_Buffer {
    float v[3];
    int32_t type;
    int64_t dims[2];
    size_t rank;
    bool deleted;
} buffer;
struct PJRT_Event {
    PJRT_Error *error;
};

static long alive; /* objects */
static char somewhere[64];
static char long_text[4096];

static void *make(size_t n)
{
    alive++;
    return calloc(1, n);
}

static PJRT_Error *error(int code, const char *text)
{
    failure *f = make(sizeof *f);
    *f = (failure){code, text, text ? strlen(text) : 0};
    return (PJRT_Error *)f;
}

static PJRT_Event *event(PJRT_Error *e)
{
    PJRT_Event *x = make(sizeof *x);
    x->error = e;
    return x;
}

/* What every function asks of its arguments. */
#define ARGS(NAME)                                                                                 \
    if (a->struct_size < PJRT_##NAME##_Args_SIZE || a->extension_start)                            \
    return error(PJRT_INVALID_ARGUMENT, #NAME ": struct_size or extension_start")

/* ---- errors and events ---- */

static PJRT_Error *error_destroy(PJRT_Error_Destroy_Args *a)
{
    alive--;
    free(a->error);
    return NULL;
}
static PJRT_Error *error_message(PJRT_Error_Message_Args *a)
{
    const failure *f = (const failure *)a->error;
    a->message = f->text;
    a->message_size = f->n;
    return NULL;
}
static PJRT_Error *error_code(PJRT_Error_GetCode_Args *a)
{
    a->code = ((const failure *)a->error)->code;
    return NULL;
}
static PJRT_Error *event_destroy(PJRT_Event_Destroy_Args *a)
{
    ARGS(Event_Destroy);
    alive--;
    free(a->event);
    return NULL;
}
static PJRT_Error *event_on_ready(PJRT_Event_OnReady_Args *a)
{
    ARGS(Event_OnReady);
    PJRT_Error *e = a->event->error;
    if (KIND == 36)
        return error(PJRT_INTERNAL, "no callbacks today");
    if (KIND == 31)
        return NULL;  /* never */
    if (KIND == 45) { /* when the next event is asked for */
        static PJRT_Event_OnReady_Args last;
        if (last.callback)
            last.callback(error(PJRT_DATA_LOSS, "too late"), last.user_arg);
        last = *a;
        return NULL;
    }
    a->callback(e, a->user_arg);
    if (KIND == 30) {
        a->callback(NULL, a->user_arg);
        a->callback(NULL, (void *)~(uintptr_t)0);
    }
    return NULL;
}

static PJRT_Error *event_await(PJRT_Event_Await_Args *a)
{
    ARGS(Event_Await);
    return a->event->error;
}

/* ---- client ---- */

static PJRT_Error *initialize(PJRT_Plugin_Initialize_Args *a)
{
    ARGS(Plugin_Initialize);
    return KIND == 9 ? error(PJRT_FAILED_PRECONDITION, "the moon is not full") : NULL;
}
static PJRT_Error *client_create(PJRT_Client_Create_Args *a)
{
    ARGS(Client_Create);
    if (KIND == 10)
        return error(PJRT_UNAVAILABLE, NULL);
    if (KIND == 42) {
        memset(long_text, 'x', sizeof long_text - 1);
        long_text[3] = '\n';
        return error(PJRT_PERMISSION_DENIED, long_text);
    }
    a->client = KIND == 11 ? NULL : (PJRT_Client *)somewhere;
    return NULL;
}
static PJRT_Error *platform_name(PJRT_Client_PlatformName_Args *a)
{
    ARGS(Client_PlatformName);
    a->platform_name = KIND == 18 ? NULL : "mock";
    a->platform_name_size = 4;
    return NULL;
}
static PJRT_Error *platform_version(PJRT_Client_PlatformVersion_Args *a)
{
    ARGS(Client_PlatformVersion);
    memset(long_text, 'v', sizeof long_text); /* no NUL */
    a->platform_version = KIND == 37 ? long_text : "1";
    a->platform_version_size = KIND == 37 ? sizeof long_text : 1;
    return NULL;
}
static PJRT_Error *devices(PJRT_Client_AddressableDevices_Args *a)
{
    static PJRT_Device *all[2] = {(PJRT_Device *)(somewhere + 1), (PJRT_Device *)(somewhere + 2)};
    ARGS(Client_AddressableDevices);
    if (KIND == 15)
        all[1] = NULL;
    a->addressable_devices = KIND == 13 ? NULL : all;
    a->num_addressable_devices = KIND == 12 ? 0 : KIND == 14 ? (size_t)1 << 40 : 2;
    return NULL;
}
static PJRT_Error *description(PJRT_Device_GetDescription_Args *a)
{
    ARGS(Device_GetDescription);
    a->device_description = KIND == 16 ? NULL : (PJRT_DeviceDescription *)a->device;
    return NULL;
}
static PJRT_Error *device_id(PJRT_DeviceDescription_Id_Args *a)
{
    ARGS(DeviceDescription_Id);
    a->id = KIND == 17 ? -5 : (int32_t)((char *)a->device_description - somewhere);
    return NULL;
}
static PJRT_Error *device_kind(PJRT_DeviceDescription_Kind_Args *a)
{
    ARGS(DeviceDescription_Kind);
    a->device_kind = "Mock 9000";
    a->device_kind_size = 9;
    return NULL;
}
static PJRT_Error *memory_stats(PJRT_Device_MemoryStats_Args *a)
{
    ARGS(Device_MemoryStats);
    a->bytes_in_use = 1000 + alive;
    a->bytes_limit = 4096;
    a->bytes_limit_is_set = true;
    return NULL;
}

/* ---- programs ---- */

static PJRT_Error *compile(PJRT_Client_Compile_Args *a)
{
    ARGS(Client_Compile);
    if (KIND == 19)
        return error(PJRT_UNIMPLEMENTED, "too modern\n\x01 for me");
    if (KIND == 34)
        return error(PJRT_OK, "code 0");
    if (!a->program || a->program->format_size != 4 || memcmp(a->program->format, "mlir", 4) != 0 ||
        !a->program->code_size || !a->compile_options_size)
        return error(PJRT_INVALID_ARGUMENT, "no program");
    a->executable = KIND == 20 ? NULL : make(1);
    return NULL;
}
static PJRT_Error *loaded_destroy(PJRT_LoadedExecutable_Destroy_Args *a)
{
    ARGS(LoadedExecutable_Destroy);
    alive--;
    free(a->executable);
    return NULL;
}
static PJRT_Error *get_executable(PJRT_LoadedExecutable_GetExecutable_Args *a)
{
    ARGS(LoadedExecutable_GetExecutable);
    a->executable = KIND == 40 ? NULL : make(1);
    return NULL;
}
static PJRT_Error *executable_destroy(PJRT_Executable_Destroy_Args *a)
{
    ARGS(Executable_Destroy);
    alive--;
    free(a->executable);
    return NULL;
}
static PJRT_Error *num_outputs(PJRT_Executable_NumOutputs_Args *a)
{
    ARGS(Executable_NumOutputs);
    a->num_outputs = KIND == 21 ? 1000 : 1;
    return NULL;
}
static PJRT_Error *serialize(PJRT_Executable_Serialize_Args *a)
{
    ARGS(Executable_Serialize);
    a->serialized_bytes = KIND == 35 ? NULL : "bytes";
    a->serialized_bytes_size = 5;
    return NULL;
}
static PJRT_Error *deserialize(PJRT_Executable_DeserializeAndLoad_Args *a)
{
    ARGS(Executable_DeserializeAndLoad);
    if (KIND == 43)
        return NULL; /* nothing */
    if (a->serialized_executable_size != 5 || memcmp(a->serialized_executable, "bytes", 5) != 0)
        return error(PJRT_INVALID_ARGUMENT, "not mine");
    a->loaded_executable = make(1);
    return NULL;
}

static buffer *new_buffer(const float *v)
{
    buffer *b = make(sizeof *b);
    *b = (buffer){.type = 11, .rank = 1, .dims = {3, 7}};
    if (v)
        memcpy(b->v, v, sizeof b->v);
    return b;
}
static PJRT_Error *execute(PJRT_LoadedExecutable_Execute_Args *a)
{
    ARGS(LoadedExecutable_Execute);
    if (a->num_devices != 1 || a->num_args != 1 || !a->options || a->options->context ||
        a->options->num_send_ops)
        return error(PJRT_INVALID_ARGUMENT, "arguments");
    if (KIND == 25)
        return error(PJRT_RESOURCE_EXHAUSTED, "no room on the device");
    buffer *in = (buffer *)a->argument_lists[0][0];
    if (in->deleted)
        return error(PJRT_INVALID_ARGUMENT, "deleted");
    in->deleted = KIND == 41 && a->options->num_non_donatable_input_indices == 0;
    buffer *out = KIND == 26 ? NULL : new_buffer(in->v);
    if (KIND == 27)
        out->dims[0] = 300;
    if (KIND == 38)
        out->rank = 2;
    a->output_lists[0][0] = (PJRT_Buffer *)out;
    PJRT_Error *e = KIND == 29 ? error(PJRT_DATA_LOSS, "cosmic rays") : NULL;
    a->device_complete_events[0] = KIND == 28 ? NULL : event(e);
    return NULL;
}

/* ---- buffers ---- */

static PJRT_Error *from_host(PJRT_Client_BufferFromHostBuffer_Args *a)
{
    ARGS(Client_BufferFromHostBuffer);
    buffer *b = KIND == 22 ? NULL : new_buffer(a->data);
    if (KIND == 23)
        b->type = 12;
    a->buffer = (PJRT_Buffer *)b;
    a->done_with_host_buffer = KIND == 24 ? NULL : event(NULL);
    return NULL;
}
static PJRT_Error *buffer_destroy(PJRT_Buffer_Destroy_Args *a)
{
    ARGS(Buffer_Destroy);
    alive--;
    free(a->buffer);
    return NULL;
}
static PJRT_Error *element_type(PJRT_Buffer_ElementType_Args *a)
{
    ARGS(Buffer_ElementType);
    a->type = ((buffer *)a->buffer)->type;
    return NULL;
}
static PJRT_Error *dimensions(PJRT_Buffer_Dimensions_Args *a)
{
    ARGS(Buffer_Dimensions);
    a->dims = KIND == 39 ? NULL : ((buffer *)a->buffer)->dims;
    a->num_dims = ((buffer *)a->buffer)->rank;
    return NULL;
}
static PJRT_Error *to_host(PJRT_Buffer_ToHostBuffer_Args *a)
{
    ARGS(Buffer_ToHostBuffer);
    const buffer *b = (const buffer *)a->src;
    if (KIND == 32 || a->dst_size != sizeof b->v)
        return error(PJRT_OUT_OF_RANGE, "no such bytes");
    memcpy(a->dst, b->v, sizeof b->v);
    a->event = event(KIND == 33 || KIND == 46 ? error(PJRT_ABORTED, "torn") : NULL);
    return NULL;
}

/* ---- the table ---- */

static PJRT_Error *unimplemented(void *args)
{
    (void)args;
    return error(PJRT_UNIMPLEMENTED, "not here");
}

/* Whoever waits for an event asks once only. */
static PJRT_Error *unimplemented_await(PJRT_Event_Await_Args *a)
{
    static bool asked;
    ARGS(Event_Await);
    if (asked)
        return error(PJRT_INTERNAL, "asked again");
    asked = true;
    return unimplemented(a);
}

/* What a plugin need not have is there, and says that it is not; but for Device_MemoryStats, by
 * which the test counts objects. */
static void without_optional(PJRT_Api *t)
{
    PJRT_Error *(*const f)(void *) = unimplemented;
    void *const at[] = {&t->Plugin_Initialize, &t->Client_ProcessIndex, &t->Executable_Serialize,
                        &t->Executable_DeserializeAndLoad};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        memcpy(at[i], &f, sizeof f);
    t->Event_Await = unimplemented_await;
}

static struct {
    PJRT_Api api;
    void *later[8]; /* of a plugin that is newer */
} table;

__attribute__((visibility("default"))) const PJRT_Api *
#if KIND == 1
GetPJRTApi(void)
#else
GetPjrtApi(void)
#endif
{
    PJRT_Api *t = &table.api;
    *t = (PJRT_Api){.struct_size = sizeof *t,
                    .pjrt_api_version = {.struct_size = sizeof t->pjrt_api_version,
                                         .major_version = KIND == 3,
                                         .minor_version = KIND == 4 ? 12 : PJRT_API_MINOR},
                    .Error_Destroy = error_destroy,
                    .Error_Message = error_message,
                    .Error_GetCode = error_code,
                    .Plugin_Initialize = initialize,
                    .Event_Destroy = event_destroy,
                    .Event_Await = KIND == 46 ? event_await : NULL,
                    .Event_OnReady = event_on_ready,
                    .Client_Create = client_create,
                    .Client_PlatformName = platform_name,
                    .Client_PlatformVersion = platform_version,
                    .Client_AddressableDevices = devices,
                    .Client_Compile = compile,
                    .Client_BufferFromHostBuffer = from_host,
                    .DeviceDescription_Id = device_id,
                    .DeviceDescription_Kind = device_kind,
                    .Device_GetDescription = description,
                    .Device_MemoryStats = memory_stats,
                    .Executable_Destroy = executable_destroy,
                    .Executable_NumOutputs = num_outputs,
                    .Executable_Serialize = serialize,
                    .Executable_DeserializeAndLoad = deserialize,
                    .LoadedExecutable_Destroy = loaded_destroy,
                    .LoadedExecutable_GetExecutable = get_executable,
                    .LoadedExecutable_Execute = KIND == 8 ? NULL : execute,
                    .Buffer_Destroy = buffer_destroy,
                    .Buffer_ElementType = element_type,
                    .Buffer_Dimensions = dimensions,
                    .Buffer_ToHostBuffer = to_host};
    if (KIND == 5)
        t->struct_size = offsetof(PJRT_Api, LoadedExecutable_Execute) + 4;
    if (KIND == 6)
        t->struct_size = 8;
    if (KIND == 7)
        t->pjrt_api_version.struct_size = 16;
    if (KIND == 44) { /* newer than we know */
        t->struct_size = sizeof table;
        t->pjrt_api_version.minor_version = PJRT_API_MINOR + 100;
    }
    if (KIND == 47)
        without_optional(t);
    return KIND == 2 ? NULL : t;
}
