/* client.h - between the files of backends/pjrt, the host's side of the PJRT C API.
 * Whatever a plugin gives is looked at before it is used: a function that is missing, NULL with
 * success, a list that is too long, a result of another type are errors (LZ_EUNAVAILABLE while it
 * is loaded, LZ_EDEVICE afterwards) that name the plugin and the function.
 * Arguments are structs that are zero where nothing is given, and declared longer than we know
 * them, because a newer plugin wants room for fields of its own.
 * Threads: functions of a plugin may be called by any thread, and may call back in any. While it is
 * loaded or compiles, a lock of the plugin's or the executable's is held, which no callback takes.
 */
#ifndef LZ_BACKENDS_PJRT_CLIENT_H
#define LZ_BACKENDS_PJRT_CLIENT_H
#include "backends/pjrt/abi.h"
#include "backends/pjrt/plugins.h"
#include "base/thread.h"
#include "ir/module.h"

enum { LZ_PLUGIN_ROOM = 64, LZ_PLUGIN_DEVICES = 1024 };

typedef struct lz_plugin_device {
    PJRT_Device *handle;
    int32_t id;
    char kind[64];
    _Atomic uint32_t flying; /* executions that have not ended */
} lz_plugin_device;

typedef struct lz_plugin {
    char name[LZ_PLUGIN_NAME];
    uint32_t slot;
    char path[LZ_PLUGIN_PATH];
    lz_plugin_config config;
    lz_mutex starting;
    atomic_bool ready; /* what follows stays as it is */
    bool loaded;       /* api is filled in */
    PJRT_Api api;      /* functions that the plugin has not are NULL */
    PJRT_Client *client;
    char platform[64], version[160];
    int32_t process;
    int ndevice;
    lz_plugin_device *device;
    _Atomic uint64_t used, peak; /* bytes of our buffers, where the plugin does not say */
    atomic_bool no_await;        /* its Event_Await is not implemented: nobody asks again */
} lz_plugin;

/* Arguments of a function: LZ_PLUGIN_ARGS(x, Event_Await, .event = e); then x.a */
#define LZ_PLUGIN_ARGS(x, NAME, ...)                                                               \
    struct {                                                                                       \
        PJRT_##NAME##_Args a;                                                                      \
        char room[LZ_PLUGIN_ROOM];                                                                 \
    } x = {.a = {.struct_size = sizeof x, __VA_ARGS__}}
/* Calls it; LZ_OK, or what the plugin's error becomes. */
#define LZ_PLUGIN_CALL(p, NAME, x) lz_plugin_check((p), #NAME, (p)->api.NAME(&(x).a))

/* ---- load.c ---- */
lz_status lz_plugin_load(lz_plugin *p);

/* ---- call.c ---- */
/* Calls a function that a plugin need not have, which is as if it were not there when it says that
 * it is not implemented: *had is false then, and nothing is given. */
#define LZ_PLUGIN_CALL_OPTIONAL(p, NAME, x, had)                                                   \
    lz_plugin_check_optional((p), #NAME, (p)->api.NAME ? (p)->api.NAME(&(x).a) : NULL,             \
                             (p)->api.NAME != NULL, (had))

/* Takes the error over. */
lz_status lz_plugin_check_optional(lz_plugin *p, const char *function, PJRT_Error *e, bool there,
                                   bool *had);
lz_status lz_plugin_check(lz_plugin *p, const char *function, PJRT_Error *e);
/* A text of the plugin's, cut to the room there is; NULL is "". */
void lz_plugin_text(char *to, size_t room, const char *from, size_t n);
/* Takes e over: `done` completes when e does, or when the plugin's time is up. */
void lz_plugin_watch(lz_plugin *p, PJRT_Event *e, const char *function, lz_event *done);
/* Waits for e, and takes it over. */
lz_status lz_plugin_await(lz_plugin *p, PJRT_Event *e, const char *function);

/* ---- client.c ---- */
lz_status lz_plugin_start(lz_plugin *p);
lz_status lz_plugin_device_check(lz_plugin *p, int device);
lz_status lz_plugin_device_info(lz_plugin *p, int device, lz_device_info *out);
void lz_plugin_key(lz_plugin *p, int device, lz_buf *out);

/* ---- buffer.c ---- */
/* A buffer of the plugin's with its type. Refcounted. */
typedef struct lz_plugin_array {
    _Atomic uint32_t refs;
    lz_plugin *p;
    PJRT_Buffer *handle;
    const lz_type *type;
} lz_plugin_array;
lz_plugin_array *lz_plugin_array_new(lz_plugin *p, PJRT_Buffer *b, const lz_type *t);
void lz_plugin_array_release(lz_plugin_array *a);
/* LZ_EDEVICE unless the plugin says that the buffer is of this type. */
lz_status lz_plugin_array_check(lz_plugin *p, PJRT_Buffer *b, const lz_type *t, const char *what);

lz_status lz_plugin_alloc(lz_plugin *p, int device, size_t nbytes, lz_device_buffer **out);
/* A result: takes the array over. NULL with LZ_EMEM (and the array is released) */
lz_device_buffer *lz_plugin_result(lz_plugin *p, int device, lz_plugin_array *a);
void lz_plugin_free(lz_device_buffer *b);
lz_status lz_plugin_copy_in(lz_device_buffer *dst, const void *src, size_t nbytes);
lz_status lz_plugin_copy_out(lz_device_buffer *src, void *dst, size_t nbytes);
void lz_plugin_buffer_destroy(lz_plugin *p, PJRT_Buffer *b);
/* The buffer's content as an array of this type on its device: a new reference. */
lz_status lz_plugin_buffer_as(lz_device_buffer *b, const lz_type *t, lz_plugin_array **out);
/* Its array has been donated. */
void lz_plugin_buffer_gone(lz_device_buffer *b);
int32_t lz_plugin_type_number(lz_dtype d); /* 0: PJRT has none */

/* ---- exec.c ---- */
typedef struct lz_plugin_exec {
    lz_plugin *p;
    lz_func *f; /* in StableHLO alone */
    bool *donate;
    lz_buf code; /* of f; empty: it came from bytes, and is printed when another device wants it */
    lz_mutex lock;
    PJRT_LoadedExecutable **loaded; /* by device */
    lz_exec_info info;
} lz_plugin_exec;
lz_status lz_plugin_compile(lz_plugin *p, int device, const lz_func *f, const lz_compile_options *o,
                            lz_exec **out);
lz_status lz_plugin_serialize(lz_exec *x, lz_buf *out);
lz_status lz_plugin_deserialize(lz_plugin *p, int device, const void *data, size_t n,
                                const lz_compile_options *o, lz_exec **out);
void lz_plugin_exec_free(lz_exec *x);
void lz_plugin_exec_info(const lz_exec *x, lz_exec_info *out);
lz_status lz_plugin_exec_on(lz_plugin_exec *x, int device, PJRT_LoadedExecutable **out);

/* ---- run.c ---- */
lz_status lz_plugin_execute(lz_plugin *p, lz_exec *x, int device, lz_device_buffer *const *in,
                            const bool *donated, lz_device_buffer **out, lz_event **done);
lz_status lz_plugin_wait_all(lz_plugin *p, int device);
#endif
