/* device.h - devices, threads, memory, start-up. Nothing needs to be called before the first
 * operation.
 * Implemented in: runtime/exec/runtime_device.c, runtime/exec/device_plugin.c,
 * runtime/exec/embedder_hooks.c. */
#ifndef LAZULI_DEVICE_H
#define LAZULI_DEVICE_H
#include <lazuli/types.h>
LZ_EXTERN_C_BEGIN
/* Devices are named PLATFORM:ordinal ("CPU:0"); PJRT_DEVICE chooses the platform of the default
 * device: one of Lazuli's own, or a plugin. */
/* How many devices a platform ("CPU", "CUDA") has; NULL: the default platform. -1 with an error
 * when it is unavailable. */
LZ_API int lz_device_count(const char *platform);
/* The default device of the calling thread; NULL: that of the process. LZ_ENOENT, LZ_EINVAL,
 * LZ_EUNAVAILABLE. */
LZ_API lz_status lz_set_device(const char *name);
/* Copies the name of the calling thread's device. The needed size without NUL. */
LZ_API size_t lz_get_device(char *buf, size_t n);
/* Copies what a device is: "cpu: AMD EPYC, avx512". The needed size without NUL; 0 with an error
 * when there is no such device. */
LZ_API size_t lz_device_kind(const char *name, char *buf, size_t n);
/* bytes of device memory that tensors and programs hold */
typedef struct lz_memory_info {
    uint64_t bytes_used, bytes_limit, peak_bytes_used; /* limit 0: none */
} lz_memory_info;
/* Memory of a device: tensors, and what programs keep between two operations; NULL: the calling
 * thread's. LZ_ENULL, LZ_ENOENT, LZ_EUNAVAILABLE. */
LZ_API lz_status lz_get_memory_info(const char *device, lz_memory_info *out);
/* Threads that execute kernels, 0..1024; 0: one per core. LZ_ESTATE once the device has started
 * with another number. */
LZ_API lz_status lz_set_num_threads(int n);
/* How many threads execute kernels; at least 1. */
LZ_API int lz_get_num_threads(void);
/* Version of the library as text, LZ_VERSION_MAJOR.MINOR.PATCH. */
LZ_API const char *lz_version(void);
/* Host allocator for everything the library allocates on the host, but not device memory. Before
 * the first operation, else LZ_ESTATE; NULL: the system's. All three functions are needed
 * (LZ_ENULL), are called from any thread, and give memory aligned for any type. They are called
 * wherever the library allocates, also under its locks: they must not call the library, nor wait
 * for a thread that does. */
typedef struct lz_allocator {
    size_t struct_size;
    void *(*alloc)(size_t nbytes, void *user);            /* NULL: there is no memory */
    void *(*realloc)(void *p, size_t nbytes, void *user); /* p is never NULL */
    void (*free)(void *p, void *user);                    /* p is never NULL */
    void *user;                                           /* for the three */
} lz_allocator;
LZ_API lz_status lz_set_allocator(const lz_allocator *a);
/* What to call with each message instead of writing it to stderr. level: 0 error, 1 warning, 2
 * info, 3 debug. NULL restores stderr. Called from any thread, with no lock held: it may call the
 * library. A message that it causes in its own thread is written to stderr. */
LZ_API void lz_set_log_callback(void (*fn)(int level, const char *module, const char *message,
                                           void *user),
                                void *user);
/* An option that a plugin's client is created with (PJRT_NamedValue); its type says which field it
 * is. */
typedef enum lz_plugin_option_type {
    LZ_PLUGIN_STRING,
    LZ_PLUGIN_INT64,
    LZ_PLUGIN_INT64_LIST,
    LZ_PLUGIN_FLOAT,
    LZ_PLUGIN_BOOL
} lz_plugin_option_type;
typedef struct lz_plugin_option {
    const char *name;
    lz_plugin_option_type type;
    const char *string;
    int64_t integer; /* of LZ_PLUGIN_BOOL, too: 0 or 1 */
    const int64_t *list;
    size_t list_length;
    double number;
} lz_plugin_option;
/* A library that implements the PJRT C API (it exports GetPjrtApi), whose devices are to be used.
 * Fields that are 0 have the default. */
typedef struct lz_device_plugin {
    size_t struct_size;
    const char *library_path;               /* as dlopen takes it */
    const lz_plugin_option *create_options; /* for its client; NULL: none */
    size_t ncreate_options;                 /* how many there are */
    int host_index;                         /* the number of this host; 0: what the client says */
    int physical_devices; /* so many are used, and have to be there; 0: all there are */
    uint64_t dtypes;      /* bit d: it computes with lz_dtype d; 0: with all it has numbers for */
    bool native_rng;      /* random bits are the plugin's own; else those of every device */
    int64_t gather_threshold; /* gathers of rows among so few become selects; 0: none do */
    double timeout_seconds;   /* after which work that has not ended is LZ_ETIMEOUT; 0: never */
} lz_device_plugin;
/* Makes a plugin a platform: `name` is 1 to 23 letters, digits, - and _, in any case, and its
 * devices are "name:0", .. It is loaded when one of them is first used, and stays. At most 8; see
 * docs/plugins.md. LZ_ENULL, LZ_EINVAL; LZ_EEXIST: there is such a platform, but not with the same
 * options; LZ_ERANGE, LZ_EMEM. */
LZ_API lz_status lz_register_device_plugin(const char *name, const lz_device_plugin *plugin);
LZ_EXTERN_C_END
#endif
