/* pjrt.h - of the PJRT C API (0.112) what plugin.c needs: the arguments of the functions that it
 * has, and where they are in the table. A plugin of one's own includes pjrt_c_api.h, which declares
 * all of it. Every struct of arguments begins with its size and a list of extensions; what the
 * caller gives comes first, what it gets last. */
#ifndef EXAMPLES_PLUGIN_PJRT_H
#define EXAMPLES_PLUGIN_PJRT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct error error;
typedef struct event event;
typedef struct client client;
typedef struct device device;
typedef struct buffer buffer;
typedef struct executable executable;

#define ARGS(NAME, fields)                                                                         \
    typedef struct NAME##_args {                                                                   \
        size_t struct_size;                                                                        \
        void *extension_start;                                                                     \
        fields                                                                                     \
    } NAME##_args;

/* Where a function is in the table. */
enum {
    ERROR_DESTROY = 0,
    ERROR_MESSAGE = 1,
    ERROR_GET_CODE = 2,
    PLUGIN_INITIALIZE = 3,
    EVENT_DESTROY = 5,
    EVENT_IS_READY = 6,
    EVENT_ERROR = 7,
    EVENT_AWAIT = 8,
    EVENT_ON_READY = 9,
    CLIENT_CREATE = 10,
    CLIENT_DESTROY = 11,
    CLIENT_PLATFORM_NAME = 12,
    CLIENT_PLATFORM_VERSION = 14,
    CLIENT_ADDRESSABLE_DEVICES = 16,
    CLIENT_COMPILE = 20,
    CLIENT_BUFFER_FROM_HOST_BUFFER = 22,
    DEVICE_DESCRIPTION_ID = 23,
    DEVICE_DESCRIPTION_KIND = 26,
    DEVICE_GET_DESCRIPTION = 29,
    EXECUTABLE_DESTROY = 40,
    EXECUTABLE_NUM_OUTPUTS = 44,
    LOADED_EXECUTABLE_DESTROY = 50,
    LOADED_EXECUTABLE_GET_EXECUTABLE = 51,
    LOADED_EXECUTABLE_EXECUTE = 55,
    BUFFER_DESTROY = 58,
    BUFFER_ELEMENT_TYPE = 59,
    BUFFER_DIMENSIONS = 60,
    BUFFER_TO_HOST_BUFFER = 70,
    FUNCTIONS = 138
};

/* Some of absl's status codes. */
enum {
    CODE_INVALID_ARGUMENT = 3,
    CODE_RESOURCE_EXHAUSTED = 8,
    CODE_UNIMPLEMENTED = 12,
    CODE_INTERNAL = 13
};

ARGS(none, )
ARGS(error_message, const error *e; const char *message; size_t message_size;)
ARGS(error_code, const error *e; int32_t code;)
ARGS(error, error *e;)
ARGS(event, event *e;)
ARGS(event_is_ready, event *e; bool is_ready;)
ARGS(event_on_ready, event *e; void (*callback)(error *, void *); void *user;)
ARGS(client_create, const void *options; size_t num_options; void *key_value[4]; client * client;
     void *try_get[2];)
ARGS(client, client *client;)
ARGS(client_text, client *client; const char *text; size_t text_size;)
ARGS(client_devices, client *client; device *const *devices; size_t num_devices;)
ARGS(program, char *code; size_t code_size; const char *format; size_t format_size;)
ARGS(compile, client *client; const program_args *program; const char *options; size_t options_size;
     executable * executable;)
ARGS(from_host, client *client; const void *data; int32_t type; const int64_t *dims;
     size_t num_dims; const int64_t *byte_strides; size_t num_byte_strides; int32_t semantics;
     device * device; void *memory; void *layout; event * done; buffer * buffer;)
ARGS(device, device *device; device * description;)
ARGS(device_id, device *description; int32_t id;)
ARGS(device_kind, device *description; const char *kind; size_t kind_size;)
ARGS(executable, executable *executable;)
ARGS(get_executable, executable *loaded; executable * executable;)
ARGS(num_outputs, executable *executable; size_t num_outputs;)
ARGS(execute, executable *executable; void *options; buffer *const *const *arguments;
     size_t num_devices; size_t num_arguments; buffer * *const *results; event * *complete;
     device * device;)
ARGS(buffer, buffer *buffer;)
ARGS(buffer_type, buffer *buffer; int32_t type;)
ARGS(buffer_dims, buffer *buffer; const int64_t *dims; size_t num_dims;)
ARGS(to_host, buffer *buffer; void *layout; void *to; size_t to_size; event * event;)

typedef error *(*function)(void *args);

/* What GetPjrtApi gives. */
typedef struct api {
    size_t struct_size;
    void *extension_start;
    struct {
        size_t struct_size;
        void *extension_start;
        int32_t major, minor;
    } version;
    function call[FUNCTIONS];
} api;

_Static_assert(offsetof(api, call) == 40, "the functions begin at 40");
_Static_assert(offsetof(client_create_args, client) == 64, "Client_Create");
_Static_assert(offsetof(from_host_args, buffer) == 112, "Client_BufferFromHostBuffer");
_Static_assert(offsetof(execute_args, device) == 72, "LoadedExecutable_Execute");
#endif
