/* plugin.h - between the files of libpjrt_lazuli.so, Lazuli as a PJRT plugin: a client is one of
 * the backends (backends/backend.h is shaped like PJRT), and each function of the C API a thin
 * layer over it. Functions of the API may be called by any thread at any time; nothing is called
 * back while a lock is held. Every function that is not here says so by name (api.c). */
#ifndef LZ_PJRT_PLUGIN_H
#define LZ_PJRT_PLUGIN_H
#include "backends/backend.h"
#include "ir/module.h"
#include "backends/pjrt/abi.h"
#include "pjrt/host_call.h"
#include "shard/shard.h"

/* ---- error.c ---- */
/* A new error; NULL where there is no memory for one is not allowed, so the last is static. */
PJRT_Error *lz_pjrt_error(PJRT_Error_Code code, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
PJRT_Error *lz_pjrt_error_of(const lz_error *e); /* NULL for LZ_OK */
PJRT_Error *lz_pjrt_failed(void);                /* that of the calling thread's record */
/* What a status becomes; and where an error of the host's becomes ours. */
PJRT_Error_Code lz_pjrt_code(lz_status s);
lz_status lz_pjrt_status(int32_t code);
/* Forwards a failure of the engine. */
#define PJRT_TRY(expr)                                                                             \
    do {                                                                                           \
        if ((expr) != LZ_OK)                                                                       \
            return lz_pjrt_failed();                                                               \
    } while (0)
/* The host's struct must reach to the last field that the function writes or cannot do without. */
#define PJRT_REACHES(args, field)                                                                  \
    do {                                                                                           \
        if (!PJRT_HAS((args), field))                                                              \
            return lz_pjrt_error(PJRT_INVALID_ARGUMENT,                                            \
                                 "%s: struct_size is %zu, too small for " #field, __func__ + 8,    \
                                 (args)->struct_size);                                             \
    } while (0)

/* Functions that only tell something: a value, a text, a list. */
#define LZ_PJRT_GIVES(NAME, field, value)                                                          \
    PJRT_Error *lz_pjrt_##NAME(PJRT_##NAME##_Args *a)                                              \
    {                                                                                              \
        PJRT_REACHES(a, field);                                                                    \
        a->field = (value);                                                                        \
        return NULL;                                                                               \
    }
#define LZ_PJRT_TEXT(NAME, field, value)                                                           \
    PJRT_Error *lz_pjrt_##NAME(PJRT_##NAME##_Args *a)                                              \
    {                                                                                              \
        PJRT_REACHES(a, field##_size);                                                             \
        a->field = (value);                                                                        \
        a->field##_size = strlen(a->field);                                                        \
        return NULL;                                                                               \
    }
#define LZ_PJRT_LIST(NAME, field, value, count, n)                                                 \
    PJRT_Error *lz_pjrt_##NAME(PJRT_##NAME##_Args *a)                                              \
    {                                                                                              \
        PJRT_REACHES(a, field);                                                                    \
        PJRT_REACHES(a, count);                                                                    \
        a->field = (value);                                                                        \
        a->count = (n);                                                                            \
        return NULL;                                                                               \
    }

/* ---- event.c ---- */
/* e: NULL is complete. Retains it. NULL with LZ_EMEM */
PJRT_Event *lz_pjrt_event(lz_event *e);
/* The same of an event of the caller's, which it completes: both references are given. */
PJRT_Event *lz_pjrt_event_new(lz_event **e);

/* ---- client.c, topology.c ---- */
struct PJRT_DeviceDescription {
    int32_t id;
    char kind[64], debug[160], text[32];
};
typedef struct lz_pjrt_user_data {
    struct lz_pjrt_user_data *next;
    const void *key;
    void *data;
    void (*dtor)(void *);
} lz_pjrt_user_data;
typedef struct lz_pjrt_memory {
    PJRT_Memory base;
    int32_t id;
    PJRT_Device *device; /* the list AddressableByDevices gives */
    char debug[96], text[32];
    lz_mutex lock; /* data */
    lz_pjrt_user_data *data;
} lz_pjrt_memory;
struct PJRT_Device {
    PJRT_Client *client;
    PJRT_DeviceDescription description;
    lz_pjrt_memory memory;
    PJRT_Memory *memories[1];
};
struct PJRT_TopologyDescription {
    const lz_backend *be;
    int32_t ndevice;
    PJRT_DeviceDescription **descriptions;
    char version[96];
    bool of_client; /* and ends with it */
};
struct PJRT_Client {
    PJRT_TopologyDescription topology;
    PJRT_Device **devices; /* topology.ndevice */
    PJRT_Memory **memories;
};
/* topology.c: the devices of the platform that options ask for, or the first. */
lz_status lz_pjrt_topology_open(PJRT_TopologyDescription *t, const PJRT_NamedValue *option,
                                size_t noption);
void lz_pjrt_topology_close(PJRT_TopologyDescription *t);
extern const char lz_pjrt_platform[]; /* "lazuli" */
/* The device that a call names directly, or by its memory; NULL: the first. */
PJRT_Device *lz_pjrt_device_of(PJRT_Client *c, PJRT_Device *d, PJRT_Memory *m);

/* ---- buffer.c ---- */
struct PJRT_Buffer {
    PJRT_Device *device;
    const lz_type *type;
    lz_mutex lock;       /* what follows */
    lz_device_buffer *b; /* NULL: deleted, and nobody outside reads it */
    const void *taker;   /* the execution that is taking it over; NULL: none */
    bool deleted;
    uint32_t external; /* readers outside that hold the memory */
};
/* Takes the reference over. NULL with LZ_EMEM, and the reference released. */
PJRT_Buffer *lz_pjrt_buffer(PJRT_Device *d, const lz_type *t, lz_device_buffer *b);
/* A reference to the content; an error where it is deleted or donated. */
PJRT_Error *lz_pjrt_buffer_use(PJRT_Buffer *x, lz_device_buffer **b);
void lz_pjrt_buffer_delete(PJRT_Buffer *x);
/* An execution takes buffers over. lz_pjrt_buffer_take: whether `who` is the one that does; it
 * becomes so if `now` and nobody does. lz_pjrt_buffer_leave: it is not any more.
 * lz_pjrt_buffer_restore: nothing was started, so the buffer has its content `b` again. */
bool lz_pjrt_buffer_take(PJRT_Buffer *x, const void *who, bool now);
void lz_pjrt_buffer_leave(PJRT_Buffer *x, const void *who);
void lz_pjrt_buffer_restore(PJRT_Buffer *x, lz_device_buffer *b);
/* Of numbers of the C API; NULL with an error: unknown, or a shape that cannot be. */
const lz_type *lz_pjrt_type(int32_t type, const int64_t *dims, size_t n);
int32_t lz_pjrt_type_number(lz_dtype d);

/* ---- layout.c: arrays in host memory that are not dense and row-major ---- */
/* Strides in bytes, by dimension, of a layout; NULL: row-major. False with an error: no layout of
 * that type. */
lz_status lz_pjrt_strides(const PJRT_Buffer_MemoryLayout *l, const lz_type *t,
                          int64_t stride[LZ_MAX_RANK]);
void lz_pjrt_row_major(const lz_type *t, int64_t stride[LZ_MAX_RANK]);
/* Copies every element from one place to the other. */
void lz_pjrt_copy_strided(const lz_type *t, void *dst, const int64_t *dst_stride, const void *src,
                          const int64_t *src_stride);
/* Whether an array with these strides is within nbytes from its first element on. */
bool lz_pjrt_fits(const lz_type *t, const int64_t *stride, size_t nbytes);
bool lz_pjrt_is_dense(const lz_type *t, const int64_t *stride);

/* ---- options.c: CompileOptionsProto, and other protocol buffers ---- */
typedef struct lz_pjrt_options {
    int64_t replicas, partitions;
    int64_t device;         /* -1: not said */
    const void *assignment; /* DeviceAssignmentProto, within the bytes read; NULL: none */
    size_t nassignment;
    /* Which parameters and results without a mark propagation may shard: one for each, or one for
     * all; NULL: all_params, all_results, or any with Shardy (use_shardy_partitioner). */
    const uint8_t *propagate_params, *propagate_results;
    size_t npropagate_params, npropagate_results;
    bool all_params, all_results, shardy;
} lz_pjrt_options;
lz_status lz_pjrt_options_read(const void *p, size_t n, lz_pjrt_options *out);
bool lz_pjrt_options_may_propagate(const lz_pjrt_options *o, bool param, uint32_t i);
/* DeviceAssignmentProto: device[p * replicas + r] runs replica r of partition p. */
lz_status lz_pjrt_assignment_read(const void *p, size_t n, int32_t *device, size_t ndevice);
void lz_pjrt_assignment_write(lz_buf *b, uint32_t replicas, uint32_t partitions,
                              const int32_t *device);

/* ---- partitioned.c: programs of several devices ---- */
typedef struct lz_pjrt_partitioned {
    uint32_t n;           /* devices */
    bool replicas;        /* they are replicas of one partition */
    const lz_mesh *mesh;  /* of whose positions partitions have the numbers; NULL: no marks */
    lz_partitioned parts; /* parts.local NULL: each runs the function as it is */
    uint32_t nvalue;      /* parameters, and behind them results */
    /* of a value: the device of its part at each position, by its place in the assignment; NULL:
     * that of the same number */
    const int64_t **place;
    lz_buf *sharding; /* of a value: OpSharding, */
    const char **text;
    size_t *text_size;         /* and the same as it is asked for */
    uint32_t *home;            /* of a position: its device */
    lz_device_buffer **number; /* of a position: itself, the last argument of parts.local */
} lz_pjrt_partitioned;
/* f: with its marks; it may get more. *out is the caller's to free, also on failure. Errors:
 * LZ_EUNSUPPORTED naming the operation, LZ_EINVAL, LZ_EMEM. */
lz_status lz_pjrt_partitioned_make(const lz_pjrt_options *o, const bool *donate, lz_func **f,
                                   lz_pjrt_partitioned **out);
/* device: as lz_pjrt_assignment_read. */
lz_status lz_pjrt_partitioned_settle(lz_pjrt_partitioned *x, const lz_backend *be,
                                     const int32_t *device);
void lz_pjrt_partitioned_free(lz_pjrt_partitioned *x);
/* What every device runs, as text: it reads its number itself. Errors: LZ_EMEM. */
lz_status lz_pjrt_partitioned_print(const lz_pjrt_partitioned *x, lz_buf *out);
/* The place in the assignment of the device that has value i's part of a position. */
static inline uint32_t lz_pjrt_partitioned_device(const lz_pjrt_partitioned *x, uint32_t i,
                                                  uint32_t position)
{
    return x->place[i] ? (uint32_t)x->place[i][position] : position;
}
extern PJRT_Shardings_Extension lz_pjrt_shardings;

/* ---- compile.c ---- */
/* What is compiled, shared by executables and loaded ones. */
typedef struct lz_pjrt_program {
    _Atomic uint32_t refs;
    const lz_backend *be;
    lz_exec *exec;
    lz_func *f;                       /* for its parameters, its results and its name */
    lz_pjrt_partitioned *partitioned; /* NULL: one device runs it */
    const lz_func *run;               /* what a device runs: with the types of its buffers */
    bool *donate;                     /* by parameter */
    bool calls_host;                  /* lz_pjrt_calls_host */
    uint32_t nreplica, npartition;
    int32_t *device; /* as in lz_pjrt_assignment_read */
    char fingerprint[33];
    lz_buf code, options; /* as they were received */
    PJRT_NamedValue cost[2];
    lz_buf assignment; /* as GetDeviceAssignment gives it */
    /* answers to queries, one for each result */
    int32_t *out_type;
    int64_t *out_dims;
    size_t *out_rank;
    const char **kind; /* for each result or parameter, whatever is more */
    size_t *kind_size;
} lz_pjrt_program;
lz_status lz_pjrt_compile(const PJRT_TopologyDescription *t, const void *code, size_t n,
                          const void *options, size_t noptions, lz_pjrt_program **out);
void lz_pjrt_program_retain(lz_pjrt_program *p);
void lz_pjrt_program_release(lz_pjrt_program *p);
/* The bytes that Executable_Serialize gives, and back. Untrusted. */
lz_status lz_pjrt_program_write(const lz_pjrt_program *p, lz_buf *out);
/* noptions 0: the options are those it was written with. */
lz_status lz_pjrt_program_read(const PJRT_TopologyDescription *t, const void *bytes, size_t n,
                               const void *options, size_t noptions, lz_pjrt_program **out);

/* ---- executable.c ---- */
struct PJRT_Executable {
    lz_pjrt_program *p; /* a reference */
};
struct PJRT_LoadedExecutable {
    lz_pjrt_program *p; /* a reference */
    PJRT_Client *client;
    PJRT_Device **device;      /* nreplica * npartition, in the order of execution */
    PJRT_LogicalDeviceIds *id; /* of each */
    _Atomic bool deleted;
};

/* ---- execute.c, execute_partitioned.c ---- */
/* Which arguments the program takes over: those that it may, and that the caller does not keep.
 * False: none. */
bool lz_pjrt_donations(const lz_pjrt_program *p, const PJRT_ExecuteOptions *o, bool *gives);
/* Whether x may be argument i, of a device's buffer. */
PJRT_Error *lz_pjrt_check_argument(const lz_pjrt_program *p, const PJRT_Device *d, uint32_t i,
                                   const PJRT_Buffer *x);
/* LoadedExecutable_Execute of a program of several devices. */
PJRT_Error *lz_pjrt_execute_partitioned(PJRT_LoadedExecutable_Execute_Args *a);

/* ---- host_call.c ---- */
extern const PJRT_Lazuli_HostCall_Extension lz_pjrt_host_calls;
bool lz_pjrt_in_host_call(void);                   /* this thread is in a function of the host's */
PJRT_Error *lz_pjrt_refuse_wait(const char *what); /* the error of what it must not do */
PJRT_Error *lz_pjrt_check_wait(lz_event *ready);   /* that, of waiting for it; NULL: it may */
bool lz_pjrt_calls_host(const lz_func *f); /* calls functions that the host has registered */
/* Around executing a program that does; done: of the execution, NULL: it has ended. */
void lz_pjrt_host_calls_begin(void);
void lz_pjrt_host_calls_end(lz_event *done);
bool lz_pjrt_host_calls_run(void); /* some such execution has not ended */

/* Every function of the API. */
#define BEGIN(number, NAME) PJRT_Error *lz_pjrt_##NAME(PJRT_##NAME##_Args *a);
#define FIELD(NAME, offset, type, name)
#define END(NAME, size)
#include "backends/pjrt/abi.def"
#undef BEGIN
#undef FIELD
#undef END
#endif
