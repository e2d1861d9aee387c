/* abi.h - the PJRT C API, as both sides of it see it: a table of functions that a library gives for
 * the symbol GetPjrtApi. Layouts are checked here, field by field, when this is compiled.
 * A struct of arguments may be shorter than ours (an older caller: fields behind struct_size are
 * not there) or longer. Names are those of the standard. */
#ifndef LZ_BACKENDS_PJRT_ABI_H
#define LZ_BACKENDS_PJRT_ABI_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PJRT_API_MAJOR = 0, PJRT_API_MINOR = 112 };

typedef enum PJRT_Error_Code { /* absl's */
                               PJRT_OK,
                               PJRT_CANCELLED,
                               PJRT_UNKNOWN,
                               PJRT_INVALID_ARGUMENT,
                               PJRT_DEADLINE_EXCEEDED,
                               PJRT_NOT_FOUND,
                               PJRT_ALREADY_EXISTS,
                               PJRT_PERMISSION_DENIED,
                               PJRT_RESOURCE_EXHAUSTED,
                               PJRT_FAILED_PRECONDITION,
                               PJRT_ABORTED,
                               PJRT_OUT_OF_RANGE,
                               PJRT_UNIMPLEMENTED,
                               PJRT_INTERNAL,
                               PJRT_UNAVAILABLE,
                               PJRT_DATA_LOSS,
                               PJRT_UNAUTHENTICATED
} PJRT_Error_Code;

/* ---- objects ---- */
typedef struct PJRT_Error PJRT_Error;
typedef struct PJRT_Event PJRT_Event;
typedef struct PJRT_Client PJRT_Client;
typedef struct PJRT_Device PJRT_Device;
typedef struct PJRT_DeviceDescription PJRT_DeviceDescription;
typedef struct PJRT_Memory PJRT_Memory;
typedef struct PJRT_Buffer PJRT_Buffer;
typedef struct PJRT_Executable PJRT_Executable;
typedef struct PJRT_LoadedExecutable PJRT_LoadedExecutable;
typedef struct PJRT_TopologyDescription PJRT_TopologyDescription;
typedef struct PJRT_ExecuteContext PJRT_ExecuteContext;
typedef struct PJRT_CopyToDeviceStream PJRT_CopyToDeviceStream;
typedef struct PJRT_AsyncHostToDeviceTransferManager PJRT_AsyncHostToDeviceTransferManager;
typedef struct PJRT_AsyncTrackingEvent PJRT_AsyncTrackingEvent;
typedef struct PJRT_FulfillAliasBufferCallback PJRT_FulfillAliasBufferCallback;
typedef struct PJRT_SerializedExecutable PJRT_SerializedExecutable;
typedef struct PJRT_SerializedTopology PJRT_SerializedTopology;
typedef struct PJRT_DeviceAssignmentSerialized PJRT_DeviceAssignmentSerialized;
typedef struct PJRT_SerializedCompileOptions PJRT_SerializedCompileOptions;
typedef struct PJRT_Device_Attributes PJRT_Device_Attributes;
typedef struct PJRT_ProcessInfo PJRT_ProcessInfo;

typedef void (*PJRT_Event_OnReadyCallback)(PJRT_Error *error, void *user_arg);
typedef void (*PJRT_Error_PayloadVisitor)(const char *key, size_t key_size, const char *value,
                                          size_t value_size, void *user_arg);
typedef void (*PJRT_SerializedExecutable_Deleter)(PJRT_SerializedExecutable *x);
typedef void (*PJRT_SerializedTopology_Deleter)(PJRT_SerializedTopology *x);
typedef void (*PJRT_DeviceAssignmentSerialized_Deleter)(PJRT_DeviceAssignmentSerialized *x);
typedef void (*PJRT_SerializedCompileOptions_Deleter)(PJRT_SerializedCompileOptions *x);
typedef void (*PJRT_Device_Attributes_Deleter)(PJRT_Device_Attributes *x);
/* A store of keys that all processes share. */
typedef void *PJRT_KeyValueGetCallback;
typedef void *PJRT_KeyValuePutCallback;
typedef void *PJRT_KeyValueTryGetCallback;

/* Objects whose functions are found in the object itself. */
typedef struct PJRT_Error_FunctionTable {
    size_t struct_size, instance_size;
    void *extension_start;
    void (*destroy)(PJRT_Error *error);
    void (*message)(const PJRT_Error *error, const char **message, size_t *message_size);
    PJRT_Error_Code (*get_code)(const PJRT_Error *error);
    void (*for_each_payload)(const PJRT_Error *error, PJRT_Error_PayloadVisitor visitor,
                             void *user_arg);
} PJRT_Error_FunctionTable;
typedef struct PJRT_Memory_FunctionTable {
    size_t struct_size;
    void *extension_start;
    size_t instance_size;
    void *(*get_user_data)(PJRT_Memory *memory, const void *key);
    void (*set_user_data)(PJRT_Memory *memory, const void *key, void *data, void (*dtor)(void *));
} PJRT_Memory_FunctionTable;
struct PJRT_Error {
    const PJRT_Error_FunctionTable *vtable;
};
struct PJRT_Memory {
    const PJRT_Memory_FunctionTable *vtable;
};

/* ---- what arguments are made of ---- */
typedef enum PJRT_NamedValue_Type {
    PJRT_STRING,
    PJRT_INT64,
    PJRT_INT64_LIST,
    PJRT_FLOAT,
    PJRT_BOOL
} PJRT_NamedValue_Type;
typedef struct PJRT_NamedValue {
    size_t struct_size;
    void *extension_start;
    const char *name;
    size_t name_size;
    int32_t type; /* PJRT_NamedValue_Type */
    union {
        const char *string_value;
        int64_t int64_value;
        const int64_t *int64_array_value;
        float float_value;
        bool bool_value;
    };
    size_t value_size; /* characters, numbers; else 1 */
} PJRT_NamedValue;
typedef struct PJRT_Program {
    size_t struct_size;
    void *extension_start;
    char *code;
    size_t code_size;
    const char *format;
    size_t format_size;
} PJRT_Program;
typedef struct PJRT_ExecuteOptions {
    size_t struct_size;
    void *extension_start;
    void **send_callbacks, **recv_callbacks;
    size_t num_send_ops, num_recv_ops;
    int32_t launch_id;
    const int64_t *non_donatable_input_indices;
    size_t num_non_donatable_input_indices;
    PJRT_ExecuteContext *context; /* the last field of 0.75 */
    const char *call_location;
    size_t num_tasks;
    int32_t *task_ids;
    int64_t *incarnation_ids;
    void *multi_slice_config;
    bool use_major_to_minor_data_layout_for_callbacks;
    void *hlo_output_callbacks;
    size_t num_hlo_output_callbacks;
} PJRT_ExecuteOptions;
typedef struct PJRT_Buffer_MemoryLayout_Tiled {
    size_t struct_size;
    void *extension_start;
    const int64_t *minor_to_major;
    size_t minor_to_major_size;
    const int64_t *tile_dims;
    const size_t *tile_dim_sizes;
    size_t num_tiles;
} PJRT_Buffer_MemoryLayout_Tiled;
typedef struct PJRT_Buffer_MemoryLayout_Strides {
    size_t struct_size;
    void *extension_start;
    const int64_t *byte_strides; /* may be negative */
    size_t num_byte_strides;
} PJRT_Buffer_MemoryLayout_Strides;
typedef enum PJRT_Buffer_MemoryLayout_Type {
    PJRT_LAYOUT_TILED,
    PJRT_LAYOUT_STRIDES
} PJRT_Buffer_MemoryLayout_Type;
typedef struct PJRT_Buffer_MemoryLayout {
    size_t struct_size;
    void *extension_start;
    union {
        PJRT_Buffer_MemoryLayout_Tiled tiled;
        PJRT_Buffer_MemoryLayout_Strides strides;
    };
    int32_t type;
} PJRT_Buffer_MemoryLayout;
typedef enum PJRT_HostBufferSemantics {
    PJRT_IMMUTABLE_ONLY_DURING_CALL,
    PJRT_IMMUTABLE_UNTIL_TRANSFER_COMPLETES,
    PJRT_IMMUTABLE_ZERO_COPY,
    PJRT_MUTABLE_ZERO_COPY
} PJRT_HostBufferSemantics;
typedef struct PJRT_Chunk {
    void *data;
    size_t size;
    void (*deleter)(void *data, void *deleter_arg);
    void *deleter_arg;
} PJRT_Chunk;
typedef struct PJRT_ShapeSpec {
    size_t struct_size;
    void *extension_start;
    const int64_t *dims;
    size_t num_dims;
    int32_t element_type;
} PJRT_ShapeSpec;
typedef struct PJRT_LogicalDeviceIds {
    int32_t replica, partition;
} PJRT_LogicalDeviceIds;
typedef struct PJRT_Extension_Base {
    size_t struct_size;
    int32_t type;
    struct PJRT_Extension_Base *next;
} PJRT_Extension_Base;

/* How the parameters or results of an executable are spread, each a serialized OpSharding. */
typedef struct PJRT_Shardings_Args {
    size_t struct_size;
    void *extension_start;
    PJRT_Executable *executable;
    size_t num;
    const char *const *shardings; /* NULL: nothing is said */
    const size_t *sharding_sizes;
} PJRT_Shardings_Args;
enum { PJRT_EXTENSION_SHARDINGS = 19 };
typedef struct PJRT_Shardings_Extension {
    PJRT_Extension_Base base;
    PJRT_Error *(*ParameterShardings)(PJRT_Shardings_Args *args);
    PJRT_Error *(*OutputShardings)(PJRT_Shardings_Args *args);
} PJRT_Shardings_Extension;

/* ---- the functions' arguments ---- */
#define BEGIN(number, NAME)                                                                        \
    typedef struct PJRT_##NAME##_Args {                                                            \
        size_t struct_size;                                                                        \
        void *extension_start;
#define FIELD(NAME, offset, type, name) type name;
#define END(NAME, size)                                                                            \
    }                                                                                              \
    PJRT_##NAME##_Args;
#include "backends/pjrt/abi.def"
#undef BEGIN
#undef FIELD
#undef END

#define BEGIN(number, NAME) enum { PJRT_##NAME##_number = (number) };
#define FIELD(NAME, offset, type, name)                                                            \
    _Static_assert(offsetof(PJRT_##NAME##_Args, name) == (offset), #NAME "." #name);
#define END(NAME, size)                                                                            \
    enum { PJRT_##NAME##_Args_SIZE = (size) };                                                     \
    _Static_assert(sizeof(PJRT_##NAME##_Args) == ((size) + 7) / 8 * 8, #NAME);
#include "backends/pjrt/abi.def"
#undef BEGIN
#undef FIELD
#undef END
#define AT(type, name, offset)                                                                     \
    _Static_assert(offsetof(PJRT_##type, name) == (offset), #type "." #name)
AT(NamedValue, value_size, 48);
AT(Program, format_size, 40);
AT(ExecuteOptions, launch_id, 48);
AT(ExecuteOptions, context, 72);
AT(ExecuteOptions, num_hlo_output_callbacks, 136);
AT(Buffer_MemoryLayout_Tiled, num_tiles, 48);
AT(Buffer_MemoryLayout, type, 72);
AT(ShapeSpec, element_type, 32);
AT(Extension_Base, next, 16);
AT(Error_FunctionTable, for_each_payload, 48);
AT(Memory_FunctionTable, set_user_data, 32);
AT(Shardings_Args, sharding_sizes, 40);
AT(Shardings_Extension, OutputShardings, 32);
#undef AT

/* ---- the table ---- */
typedef struct PJRT_Api_Version {
    size_t struct_size;
    void *extension_start;
    int32_t major_version, minor_version;
} PJRT_Api_Version;
typedef struct PJRT_Api {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    PJRT_Api_Version pjrt_api_version;
#define BEGIN(number, NAME) PJRT_Error *(*NAME)(PJRT_##NAME##_Args * args);
#define FIELD(NAME, offset, type, name)
#define END(NAME, size)
#include "backends/pjrt/abi.def"
#undef BEGIN
#undef FIELD
#undef END
} PJRT_Api;
#define BEGIN(number, NAME) _Static_assert(offsetof(PJRT_Api, NAME) == 40 + 8 * (number), #NAME);
#define FIELD(NAME, offset, type, name)
#define END(NAME, size)
#include "backends/pjrt/abi.def"
#undef BEGIN
#undef FIELD
#undef END
/* Whether the caller's struct of arguments reaches to this field's end. */
#define PJRT_HAS(args, field)                                                                      \
    ((args)->struct_size >= (size_t)((const char *)(&(args)->field + 1) - (const char *)(args)))
#endif
