/* cuda_api.h - the CUDA driver API without the toolkit: own declarations, found at run time.
 * No member of lz_cuda may be called before lz_cuda_load() has returned LZ_OK. libcuda.so.1 belongs
 * to NVIDIA's driver; LAZULI_CUDA_DRIVER names another library (tests use one that stands in for
 * it).
 * Threads: lz_cuda_load is thread-safe; afterwards the table does not change. */
#ifndef LZ_BACKENDS_CUDA_CUDA_API_H
#define LZ_BACKENDS_CUDA_CUDA_API_H
#include "base/status.h"
#include <stddef.h>

typedef int cu_device;
typedef uint64_t cu_ptr;
typedef struct cu_context_ *cu_context;
typedef struct cu_stream_ *cu_stream;
typedef struct cu_event_ *cu_event;
typedef struct cu_module_ *cu_module;
typedef struct cu_function_ *cu_function;
typedef struct cu_graph_ *cu_graph;
typedef struct cu_graph_exec_ *cu_graph_exec;

/* The values this project uses, as the driver API documents them. */
enum {
    CU_OK = 0,
    CU_OUT_OF_MEMORY = 2,
    CU_NO_DEVICE = 100,
    CU_INVALID_IMAGE = 200,
    CU_NO_BINARY_FOR_GPU = 209,
    CU_PEER_ACCESS_UNSUPPORTED = 217,
    CU_INVALID_PTX = 218,
    CU_UNSUPPORTED_PTX_VERSION = 222,
    CU_NOT_READY = 600,
    CU_PEER_ACCESS_ALREADY_ENABLED = 704,
    CU_TOO_MANY_PEERS = 711
};
enum {
    CU_ATTR_MAX_SHARED_PER_BLOCK = 8,
    CU_ATTR_CLOCK_KHZ = 13,
    CU_ATTR_MULTIPROCESSORS = 16,
    CU_ATTR_L2_BYTES = 38,
    CU_ATTR_CAPABILITY_MAJOR = 75,
    CU_ATTR_CAPABILITY_MINOR = 76,
    CU_ATTR_MAX_SHARED_OPTIN = 97
};
enum { CU_FUNC_MAX_SHARED = 8 };
/* TF32: elements of 4 bytes, f32 in memory, which a copy rounds to tf32 */
enum { CU_MAP_F16 = 6, CU_MAP_BF16 = 9, CU_MAP_TF32 = 11 };
enum { CU_MAP_SWIZZLE_128 = 3, CU_MAP_PROMOTE_256 = 3 };
enum { CU_CAPTURE_THREAD_LOCAL = 1 };
enum { CU_STREAM_NON_BLOCKING = 1, CU_EVENT_BLOCKING_SYNC = 1, CU_EVENT_NO_TIMING = 2 };
enum { CU_JIT_ERROR_LOG = 5, CU_JIT_ERROR_LOG_BYTES = 6 };

typedef struct cu_launch_attribute {
    int id, pad;
    union {
        char bytes[64];
        unsigned cluster[3];
    } value;
} cu_launch_attribute;
enum { CU_LAUNCH_CLUSTER = 4 };
typedef struct cu_launch_config {
    unsigned grid[3], block[3], shared;
    cu_stream stream;
    cu_launch_attribute *attributes;
    unsigned nattribute;
} cu_launch_config;

typedef struct lz_cuda_api {
#define CUDA_FN(member, symbol, args) int(*member) args;
#define CUDA_OPT(member, symbol, args) int(*member) args;
#include "backends/cuda/cuda_api.def"
#undef CUDA_FN
#undef CUDA_OPT
} lz_cuda_api;
extern lz_cuda_api lz_cuda;

/* Finds the driver and starts it, at the first call. LZ_EUNAVAILABLE saying what is missing. */
lz_status lz_cuda_load(void);
int lz_cuda_driver_version(void); /* 13000: of CUDA 13.0 */

/* A driver call's result as a status; `what` names the operation. Out of memory is LZ_EDEVMEM,
 * anything else LZ_EDEVICE. */
lz_status lz_cuda_error(int result, const char *what);
/* Whether the context is unusable after this result. */
bool lz_cuda_is_lost(int result);
#endif
