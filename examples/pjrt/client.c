/* client.c - a host of a PJRT plugin in plain C: it knows the C API's layout and nothing of the
 * library it opens. A program as StableHLO text is compiled and run twice.
 *     cc client.c -ldl -o client && ./client build/release/libpjrt_lazuli.so
 * The declarations are those of the API that it uses; real programs include pjrt_c_api.h. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- of the C API: arguments begin with their size and a list of extensions ---- */
#define ARGS(fields)                                                                               \
    struct {                                                                                       \
        size_t struct_size;                                                                        \
        void *extension_start;                                                                     \
        fields                                                                                     \
    }
typedef void *(*function)(void *args);
typedef struct api {
    size_t struct_size;
    void *extension_start;
    size_t version_size;
    void *version_extensions;
    int major, minor;
    function call[138]; /* in the order of the API's table */
} api;
enum {
    ERROR_MESSAGE = 1,
    PLUGIN_INITIALIZE = 3,
    EVENT_DESTROY = 5,
    EVENT_AWAIT = 8,
    CLIENT_CREATE = 10,
    CLIENT_DESTROY = 11,
    CLIENT_PLATFORM_VERSION = 14,
    CLIENT_COMPILE = 20,
    CLIENT_BUFFER_FROM_HOST_BUFFER = 22,
    LOADED_EXECUTABLE_DESTROY = 50,
    LOADED_EXECUTABLE_EXECUTE = 55,
    BUFFER_DESTROY = 58,
    BUFFER_TO_HOST_BUFFER = 70,
    F32 = 11,
};
static const api *plugin;

/* A call with its arguments; the program ends with the error's message if there is one. */
static void call(int number, void *args, size_t size)
{
    memcpy(args, &size, sizeof size);
    void *error = plugin->call[number](args);
    if (!error)
        return;
    ARGS(void *error; const char *message; size_t n;) m = {40, NULL, error, "", 0};
    plugin->call[ERROR_MESSAGE](&m);
    fprintf(stderr, "client: %.*s\n", (int)m.n, m.message);
    exit(1);
}
#define CALL(number, args) call((number), &(args), sizeof(args))

static void destroy(int number, void *object)
{
    ARGS(void *object;) a = {.object = object};
    CALL(number, a);
}

static void wait_for(void *event)
{
    ARGS(void *event;) a = {.event = event};
    CALL(EVENT_AWAIT, a);
    destroy(EVENT_DESTROY, event);
}

/* ---- the program ---- */
static char text[] =
    "func.func @main(%x: tensor<2x3xf32>, %w: tensor<3x2xf32>) -> tensor<2x2xf32> {\n"
    "  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]\n"
    "    : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>\n"
    "  %1 = stablehlo.tanh %0 : tensor<2x2xf32>\n"
    "  return %1 : tensor<2x2xf32>\n"
    "}\n";
/* CompileOptionsProto: one replica, one partition */
static const char options[] = {0x1a, 0x04, 0x20, 0x01, 0x28, 0x01};

static void *compile(void *client)
{
    ARGS(char *code; size_t size; const char *format; size_t format_size;)
    program = {48, NULL, text, strlen(text), "mlir", 4};
    ARGS(void *client; void *program; const char *options; size_t noptions; void *executable;)
    a = {.client = client, .program = &program, .options = options, .noptions = sizeof options};
    CALL(CLIENT_COMPILE, a);
    return a.executable;
}

static void *upload(void *client, const float *data, int64_t rows, int64_t columns)
{
    const int64_t dims[] = {rows, columns};
    ARGS(void *client; const void *data; int type; const int64_t *dims; size_t ndim;
         const int64_t *strides; size_t nstride; int semantics; void *device; void *memory;
         void *layout; void *done; void *buffer;)
    a = {.client = client, .data = data, .type = F32, .dims = dims, .ndim = 2};
    CALL(CLIENT_BUFFER_FROM_HOST_BUFFER, a);
    wait_for(a.done);
    return a.buffer;
}

static void *run(void *executable, void **in, size_t nin)
{
    void *out[1] = {NULL}, **arguments[] = {in}, **results[] = {out};
    ARGS(void *skipped[16];) execute_options = {.struct_size = 144};
    ARGS(void *executable; void *options; void ***arguments; size_t ndevice; size_t narg;
         void ***results; void **done; void *device;)
    a = {.executable = executable,
         .options = &execute_options,
         .arguments = arguments,
         .ndevice = 1,
         .narg = nin,
         .results = results};
    CALL(LOADED_EXECUTABLE_EXECUTE, a);
    return out[0];
}

static void download(void *buffer, float *to, size_t n)
{
    ARGS(void *buffer; void *layout; void *to; size_t n; void *done;)
    a = {.buffer = buffer, .to = to, .n = n};
    CALL(BUFFER_TO_HOST_BUFFER, a);
    wait_for(a.done);
}

int main(int argc, char **argv)
{
    const float x[] = {0.5f, -0.25f, 1, 2, 0, -1}, w[] = {1, 0, 0, 1, 0.5f, 0.5f};
    float y[4];
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library)
        return fprintf(stderr, "usage: client PLUGIN.so%s%s\n", argc == 2 ? ": " : "",
                       argc == 2 ? dlerror() : ""),
               2;
    const api *(*get)(void) = (const api *(*)(void))dlsym(library, "GetPjrtApi");
    plugin = get ? get() : NULL;
    if (!plugin || plugin->major != 0)
        return fprintf(stderr, "client: %s is no PJRT plugin of version 0\n", argv[1]), 1;
    ARGS(char none;) nothing = {0};
    call(PLUGIN_INITIALIZE, &nothing, 16);
    ARGS(const void *options; size_t n; void *kv[4]; void *client; void *try_get[2];) c = {0};
    CALL(CLIENT_CREATE, c);
    ARGS(void *client; const char *version; size_t n;) v = {.client = c.client};
    CALL(CLIENT_PLATFORM_VERSION, v);
    printf("API 0.%d, %.*s\n", plugin->minor, (int)v.n, v.version);

    void *executable = compile(c.client),
         *in[] = {upload(c.client, x, 2, 3), upload(c.client, w, 3, 2)};
    for (int round = 0; round < 2; round++) {
        void *out = run(executable, in, 2);
        download(out, y, sizeof y);
        printf("%.5f %.5f\n%.5f %.5f\n", y[0], y[1], y[2], y[3]);
        destroy(BUFFER_DESTROY, out);
    }
    destroy(BUFFER_DESTROY, in[0]);
    destroy(BUFFER_DESTROY, in[1]);
    destroy(LOADED_EXECUTABLE_DESTROY, executable);
    destroy(CLIENT_DESTROY, c.client);
    return 0;
}
