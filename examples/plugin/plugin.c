/* plugin.c - a PJRT plugin, whole: a device that runs programs with Lazuli's reference interpreter.
 * It is where to begin one's own: put another compiler in compile() and execute().
 *     cc -shared -fPIC -fvisibility=hidden plugin.c -llazuli -o libpjrt_reference.so
 *     PJRT_NAMES_AND_LIBRARY_PATHS=reference:./libpjrt_reference.so PJRT_DEVICE=reference ./program
 * (docs/plugins.md has the line for linking Lazuli statically, which is what a program that uses
 * Lazuli itself needs.) It has the functions that docs/plugins.md lists as needed, and no other: a
 * host that calls a function of the table that is NULL would end there, so they say UNIMPLEMENTED.
 * Programs run in the call that starts them, so every event has happened. Buffers are host memory.
 * Threads: functions may be called by several at a time; nothing is shared but immutable things. */
#include "pjrt.h"
#include <lazuli/lazuli.h>
#include <stdlib.h>
#include <string.h>

struct error {
    int32_t code;
    char text[500];
};
struct event {
    char nothing;
};
struct device {
    int32_t id;
};
struct client {
    char nothing;
};
struct buffer {
    int32_t type;
    size_t ndim, size; /* bytes */
    int64_t dims[LZ_MAX_RANK];
    char *bytes;
};
struct executable {
    lz_stablehlo *program;
    size_t nout;
};

/* ---- errors and events ---- */

/* There is no error without memory for it: PJRT has no way to say so, but this. */
static error no_memory = {CODE_RESOURCE_EXHAUSTED, "no memory"};

static error *fail(int32_t code, const char *text)
{
    error *e = malloc(sizeof *e);
    if (!e)
        return &no_memory;
    e->code = code;
    strncpy(e->text, text, sizeof e->text - 1);
    e->text[sizeof e->text - 1] = 0;
    return e;
}

/* The last error of the library. */
static error *fail_as(lz_status s)
{
    int32_t code = s == LZ_EUNSUPPORTED                  ? CODE_UNIMPLEMENTED
                   : s == LZ_EMEM || s == LZ_EDEVMEM     ? CODE_RESOURCE_EXHAUSTED
                   : s == LZ_EDEVICE || s == LZ_ECOMPILE ? CODE_INTERNAL
                                                         : CODE_INVALID_ARGUMENT;
    return fail(code, lz_last_error_text());
}

static error *error_destroy(void *args)
{
    error_args *a = args;
    if (a->e != &no_memory)
        free(a->e);
    return NULL;
}

static error *error_message(void *args)
{
    error_message_args *a = args;
    a->message = a->e->text;
    a->message_size = strlen(a->e->text);
    return NULL;
}

static error *error_get_code(void *args)
{
    error_code_args *a = args;
    a->code = a->e->code;
    return NULL;
}

static error *event_destroy(void *args)
{
    event_args *a = args;
    free(a->e);
    return NULL;
}

static error *event_is_ready(void *args)
{
    event_is_ready_args *a = args;
    a->is_ready = true;
    return NULL;
}

static error *event_on_ready(void *args)
{
    event_on_ready_args *a = args;
    a->callback(NULL, a->user);
    return NULL;
}

static error *done(void *args)
{
    (void)args;
    return NULL;
}

/* ---- the client and its one device ---- */

static error *client_create(void *args)
{
    client_create_args *a = args;
    if (a->num_options)
        return fail(CODE_INVALID_ARGUMENT, "reference: there are no options");
    a->client = malloc(sizeof *a->client);
    return a->client ? NULL : &no_memory;
}

static error *client_destroy(void *args)
{
    client_args *a = args;
    free(a->client);
    return NULL;
}

static error *platform_name(void *args)
{
    client_text_args *a = args;
    a->text = "reference";
    a->text_size = strlen(a->text);
    return NULL;
}

static error *platform_version(void *args)
{
    client_text_args *a = args;
    a->text = lz_version();
    a->text_size = strlen(a->text);
    return NULL;
}

static error *addressable_devices(void *args)
{
    static device the_device;
    static device *const devices[] = {&the_device};
    client_devices_args *a = args;
    a->devices = devices;
    a->num_devices = 1;
    return NULL;
}

static error *get_description(void *args)
{
    device_args *a = args;
    a->description = a->device;
    return NULL;
}

static error *device_id(void *args)
{
    device_id_args *a = args;
    a->id = a->description->id;
    return NULL;
}

static error *device_kind(void *args)
{
    device_kind_args *a = args;
    a->kind = "interpreter";
    a->kind_size = strlen(a->kind);
    return NULL;
}

/* ---- buffers ---- */

/* The numbers of element types in PJRT, 0 for those that this device does not have. */
static lz_dtype dtype_of(int32_t type)
{
    static const lz_dtype all[] = {
        [1] = LZ_BOOL, [2] = LZ_I8,   [3] = LZ_I16,   [4] = LZ_I32,  [5] = LZ_I64,
        [6] = LZ_U8,   [7] = LZ_U16,  [8] = LZ_U32,   [9] = LZ_U64,  [10] = LZ_F16,
        [11] = LZ_F32, [12] = LZ_F64, [13] = LZ_BF16, [14] = LZ_C64, [15] = LZ_C128};
    return type > 0 && type < (int32_t)(sizeof all / sizeof *all) ? all[type] : LZ_DTYPE_NONE;
}

static int32_t type_of(lz_dtype d)
{
    for (int32_t type = 1; type <= 15; type++)
        if (dtype_of(type) == d)
            return type;
    return 0;
}

/* A buffer of this type, its bytes not set. */
static error *new_buffer(int32_t type, const int64_t *dims, size_t ndim, buffer **out)
{
    size_t size = lz_dtype_size(dtype_of(type));
    if (size == 0)
        return fail(CODE_UNIMPLEMENTED, "reference: this device has no such element type");
    if (ndim > LZ_MAX_RANK)
        return fail(CODE_UNIMPLEMENTED, "reference: so many dimensions");
    for (size_t i = 0; i < ndim; i++) {
        if (dims[i] < 0)
            return fail(CODE_INVALID_ARGUMENT, "reference: an extent is negative");
        if (__builtin_mul_overflow(size, (size_t)dims[i], &size))
            return &no_memory;
    }
    buffer *b = malloc(sizeof *b);
    char *bytes = malloc(size ? size : 1);
    if (!b || !bytes) {
        free(b);
        free(bytes);
        return &no_memory;
    }
    *b = (buffer){.type = type, .ndim = ndim, .size = size, .bytes = bytes};
    if (ndim)
        memcpy(b->dims, dims, ndim * sizeof *dims);
    *out = b;
    return NULL;
}

static void free_buffer(buffer *b)
{
    if (b)
        free(b->bytes);
    free(b);
}

static error *from_host(void *args)
{
    from_host_args *a = args;
    if (a->num_byte_strides)
        return fail(CODE_UNIMPLEMENTED, "reference: arrays are row-major");
    event *e = calloc(1, sizeof *e);
    error *failed = e ? new_buffer(a->type, a->dims, a->num_dims, &a->buffer) : &no_memory;
    if (failed) {
        free(e);
        return failed;
    }
    if (a->buffer->size)
        memcpy(a->buffer->bytes, a->data, a->buffer->size);
    a->done = e;
    return NULL;
}

static error *to_host(void *args)
{
    to_host_args *a = args;
    const buffer *b = a->buffer;
    if (!a->to) { /* the host asks how much there is */
        a->to_size = b->size;
        return NULL;
    }
    if (a->to_size < b->size)
        return fail(CODE_INVALID_ARGUMENT, "reference: the host's memory is too small");
    a->event = calloc(1, sizeof *a->event);
    if (!a->event)
        return &no_memory;
    if (b->size)
        memcpy(a->to, b->bytes, b->size);
    return NULL;
}

static error *buffer_destroy(void *args)
{
    buffer_args *a = args;
    free_buffer(a->buffer);
    return NULL;
}

static error *buffer_type(void *args)
{
    buffer_type_args *a = args;
    a->type = a->buffer->type;
    return NULL;
}

static error *buffer_dims(void *args)
{
    buffer_dims_args *a = args;
    a->dims = a->buffer->dims;
    a->num_dims = a->buffer->ndim;
    return NULL;
}

/* ---- programs ---- */

static error *compile(void *args)
{
    compile_args *a = args;
    const program_args *p = a->program;
    if (p->format_size != 4 || memcmp(p->format, "mlir", 4) != 0)
        return fail(CODE_UNIMPLEMENTED, "reference: programs have the format mlir");
    lz_status s = lz_set_device("REF:0"); /* constants of the program are put there */
    if (s != LZ_OK)
        return fail_as(s);
    executable *x = calloc(1, sizeof *x);
    if (!x)
        return &no_memory;
    x->program = lz_stablehlo_parse(p->code, p->code_size, "program");
    if (!x->program) {
        free(x);
        return fail_as(lz_last_error(NULL));
    }
    x->nout = (size_t)lz_stablehlo_num_outputs(x->program);
    a->executable = x;
    return NULL;
}

static error *loaded_destroy(void *args)
{
    executable_args *a = args;
    lz_stablehlo_free(a->executable->program);
    free(a->executable);
    return NULL;
}

/* What an executable is before it is loaded belongs to the loaded one here. */
static error *get_executable(void *args)
{
    get_executable_args *a = args;
    a->executable = a->loaded;
    return NULL;
}

static error *num_outputs(void *args)
{
    num_outputs_args *a = args;
    a->num_outputs = a->executable->nout;
    return NULL;
}

static lz_tensor *tensor_of(const buffer *b)
{
    return lz_from_host_at(dtype_of(b->type), lz_shape_make((int)b->ndim, b->dims), b->bytes,
                           b->size, NULL);
}

/* A buffer with the elements of t. */
static error *buffer_of(lz_tensor *t, buffer **out)
{
    lz_status s = lz_status_of(t);
    if (s != LZ_OK)
        return fail_as(s);
    lz_shape shape = lz_shape_of(t);
    error *e = new_buffer(type_of(lz_dtype_of(t)), shape.dims, (size_t)shape.rank, out);
    if (e)
        return e;
    s = lz_to_host(t, (*out)->bytes, (*out)->size);
    if (s == LZ_OK)
        return NULL;
    free_buffer(*out);
    return fail_as(s);
}

/* The program on the arguments: results, or an error and none. */
static error *run(const executable *x, buffer *const *in, size_t nin, buffer **out)
{
    lz_tensor **t = calloc(nin + x->nout + 1, sizeof(lz_tensor *));
    error *e = t ? NULL : &no_memory;
    if (!e) {
        for (size_t i = 0; i < nin; i++)
            t[i] = tensor_of(in[i]);
        lz_status s = lz_stablehlo_call(x->program, t, (int)nin, t + nin, (int)x->nout);
        e = s == LZ_OK ? NULL : fail_as(s);
    }
    size_t made = 0;
    while (!e && made < x->nout && !(e = buffer_of(t[nin + made], &out[made])))
        made++;
    for (; e && made > 0; made--)
        free_buffer(out[made - 1]);
    free(t);
    return e;
}

static error *execute(void *args)
{
    execute_args *a = args;
    if (a->num_devices != 1)
        return fail(CODE_UNIMPLEMENTED, "reference: one device runs a program");
    event *complete = calloc(1, sizeof *complete);
    if (!complete)
        return &no_memory;
    /* a scope: what is made in it goes with it */
    lz_status s = lz_set_device("REF:0");
    error *e = s == LZ_OK && (s = lz_scope_begin()) == LZ_OK ? NULL : fail_as(s);
    if (!e) {
        e = run(a->executable, a->arguments[0], a->num_arguments, a->results[0]);
        (void)lz_scope_end();
    }
    if (e || !a->complete) {
        free(complete);
        return e;
    }
    a->complete[0] = complete;
    return NULL;
}

/* ---- the table ---- */

static error *unimplemented(void *args)
{
    (void)args;
    return fail(CODE_UNIMPLEMENTED, "reference: not implemented");
}

static api table = {
    .struct_size = sizeof table,
    .version = {.struct_size = sizeof table.version, .major = 0, .minor = 112},
    .call =
        {
            [ERROR_DESTROY] = error_destroy,
            [ERROR_MESSAGE] = error_message,
            [ERROR_GET_CODE] = error_get_code,
            [PLUGIN_INITIALIZE] = done,
            [EVENT_DESTROY] = event_destroy,
            [EVENT_IS_READY] = event_is_ready,
            [EVENT_ERROR] = done,
            [EVENT_AWAIT] = done,
            [EVENT_ON_READY] = event_on_ready,
            [CLIENT_CREATE] = client_create,
            [CLIENT_DESTROY] = client_destroy,
            [CLIENT_PLATFORM_NAME] = platform_name,
            [CLIENT_PLATFORM_VERSION] = platform_version,
            [CLIENT_ADDRESSABLE_DEVICES] = addressable_devices,
            [CLIENT_COMPILE] = compile,
            [CLIENT_BUFFER_FROM_HOST_BUFFER] = from_host,
            [DEVICE_DESCRIPTION_ID] = device_id,
            [DEVICE_DESCRIPTION_KIND] = device_kind,
            [DEVICE_GET_DESCRIPTION] = get_description,
            [EXECUTABLE_DESTROY] = done,
            [EXECUTABLE_NUM_OUTPUTS] = num_outputs,
            [LOADED_EXECUTABLE_DESTROY] = loaded_destroy,
            [LOADED_EXECUTABLE_GET_EXECUTABLE] = get_executable,
            [LOADED_EXECUTABLE_EXECUTE] = execute,
            [BUFFER_DESTROY] = buffer_destroy,
            [BUFFER_ELEMENT_TYPE] = buffer_type,
            [BUFFER_DIMENSIONS] = buffer_dims,
            [BUFFER_TO_HOST_BUFFER] = to_host,
        },
};

__attribute__((visibility("default"))) const api *GetPjrtApi(void)
{
    return &table;
}

/* Before any other thread can call: functions that are not here say so. */
__attribute__((constructor)) static void complete_table(void)
{
    for (int i = 0; i < FUNCTIONS; i++)
        if (!table.call[i])
            table.call[i] = unimplemented;
}
