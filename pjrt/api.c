/* api.c - the symbol of the library: the table of its functions, those that are not implemented,
 * and what the plugin says of itself. Threads: thread-safe. */
#include "base/fork.h"
#include "pjrt/plugin.h"

/* ---- not implemented ---- */

#define LACKS(NAME)                                                                                \
    PJRT_Error *lz_pjrt_##NAME(PJRT_##NAME##_Args *a)                                              \
    {                                                                                              \
        (void)a;                                                                                   \
        return lz_pjrt_error(PJRT_UNIMPLEMENTED, "PJRT_" #NAME " is not implemented by Lazuli");   \
    }
LACKS(CopyToDeviceStream_Destroy)
LACKS(CopyToDeviceStream_AddChunk)
LACKS(CopyToDeviceStream_TotalBytes)
LACKS(CopyToDeviceStream_GranuleSize)
LACKS(CopyToDeviceStream_CurrentBytes)
LACKS(AsyncHostToDeviceTransferManager_Destroy)
LACKS(AsyncHostToDeviceTransferManager_TransferData)
LACKS(Client_CreateBuffersForAsyncHostToDevice)
LACKS(AsyncHostToDeviceTransferManager_RetrieveBuffer)
LACKS(AsyncHostToDeviceTransferManager_Device)
LACKS(AsyncHostToDeviceTransferManager_BufferCount)
LACKS(AsyncHostToDeviceTransferManager_BufferSize)
LACKS(AsyncHostToDeviceTransferManager_SetBufferError)
LACKS(AsyncHostToDeviceTransferManager_AddMetadata)
LACKS(AsyncHostToDeviceTransferManager_TransferLiteral)
LACKS(Client_DmaMap)
LACKS(Client_DmaUnmap)
LACKS(Client_UpdateGlobalProcessInfo)
LACKS(Client_CreateAliasBuffer)
LACKS(Client_FulfillAliasBuffer)
LACKS(Client_CreateErrorBuffer)
LACKS(Buffer_CopyRawToHostFuture)
LACKS(Device_PoisonExecution)
LACKS(Device_CreateAsyncTrackingEvent)
LACKS(AsyncTrackingEvent_Destroy)
LACKS(Buffer_DonateWithControlDependency)
LACKS(Device_ClearMemoryStats)
LACKS(TopologyDescription_MakeCanonicalShapeForMemorySpace)
LACKS(TopologyDescription_GetMemorySpaceKindIds)

/* ---- the plugin ---- */

PJRT_Error *lz_pjrt_Plugin_Initialize(PJRT_Plugin_Initialize_Args *a)
{
    (void)a;
    return NULL;
}

/* What programs may be sent: a portable artifact of this version of StableHLO, which every later
 * framework can still write. */
PJRT_Error *lz_pjrt_Plugin_Attributes(PJRT_Plugin_Attributes_Args *a)
{
    static const int64_t current[] = {1, 20, 0}, minimum[] = {0, 9, 0};
#define VERSION(text, list)                                                                        \
    {                                                                                              \
        .struct_size = sizeof(PJRT_NamedValue), .name = (text), .name_size = sizeof(text) - 1,     \
        .type = PJRT_INT64_LIST, .int64_array_value = (list), .value_size = 3                      \
    }
    static const PJRT_NamedValue attributes[] = {
        {.struct_size = sizeof(PJRT_NamedValue),
         .name = "xla_version",
         .name_size = 11,
         .type = PJRT_INT64,
         .int64_value = 2,
         .value_size = 1},
        VERSION("stablehlo_current_version", current),
        VERSION("stablehlo_minimum_version", minimum),
    };
#undef VERSION
    a->attributes = attributes;
    a->num_attributes = sizeof attributes / sizeof *attributes;
    return NULL;
}

/* ---- the table ---- */

/* In the child of a fork whose parent has used a device everything is refused, but for reading the
 * refusal. */
#define BEGIN(number, NAME)                                                                        \
    static PJRT_Error *call_##NAME(PJRT_##NAME##_Args *a)                                          \
    {                                                                                              \
        bool of_errors =                                                                           \
            (number) <= PJRT_Error_GetCode_number || (number) == PJRT_Error_ForEachPayload_number; \
        return !of_errors && lz_fork_check() != LZ_OK ? lz_pjrt_failed() : lz_pjrt_##NAME(a);      \
    }
#define FIELD(NAME, offset, type, name)
#define END(NAME, size)
#include "backends/pjrt/abi.def"
#undef BEGIN
#undef FIELD
#undef END

static const PJRT_Api api = {
    .struct_size = sizeof api,
    /* a host only reads the list: calls of its functions, then shardings */
    .extension_start = (PJRT_Extension_Base *)(uintptr_t)&lz_pjrt_host_calls.base,
    .pjrt_api_version = {.struct_size = sizeof(PJRT_Api_Version),
                         .major_version = PJRT_API_MAJOR,
                         .minor_version = PJRT_API_MINOR},
#define BEGIN(number, NAME) .NAME = call_##NAME,
#define FIELD(NAME, offset, type, name)
#define END(NAME, size)
#include "backends/pjrt/abi.def"
#undef BEGIN
#undef FIELD
#undef END
};

__attribute__((visibility("default"))) const PJRT_Api *GetPjrtApi(void);
const PJRT_Api *GetPjrtApi(void)
{
    return &api;
}
