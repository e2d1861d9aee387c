/* nccl.h - NVIDIA's NCCL, which moves values between GPUs, without its header: own declarations,
 * found at run time. libnccl.so.2 is in the package libnccl2 of NVIDIA's repositories and in the
 * Python packages nvidia-nccl-cu12 and -cu13; LAZULI_CUDA_NCCL names another file. No member of
 * lz_nccl may be called before lz_nccl_load() has given true. The library is never closed: it keeps
 * threads of its own.
 * Threads: lz_nccl_load is thread-safe; afterwards the table does not change. */
#ifndef LZ_BACKENDS_CUDA_NCCL_H
#define LZ_BACKENDS_CUDA_NCCL_H
#include "backends/cuda/cuda_api.h"
#include "ir/op.h"

typedef struct nccl_comm_ *nccl_comm;
typedef struct nccl_id { /* ncclUniqueId */
    char bytes[128];
} nccl_id;

/* ncclConfig_t as of 2.14, the first that has one: a longer one of later versions begins like it,
 * and the library takes `size` bytes and its own defaults for what `version` does not know. */
typedef struct nccl_config {
    size_t size;
    unsigned magic, version;
    int blocking;
} nccl_config;
enum { NCCL_MAGIC = (int)0xcafebeefu, NCCL_OLDEST = 21400 /* 2.14.0 */ };

/* The values this project uses, as NCCL documents them. */
enum {
    NCCL_OK = 0,
    NCCL_UNHANDLED_CUDA = 1,
    NCCL_SYSTEM = 2,
    NCCL_INTERNAL = 3,
    NCCL_INVALID_ARGUMENT = 4,
    NCCL_INVALID_USAGE = 5,
    NCCL_REMOTE = 6,
    NCCL_IN_PROGRESS = 7
};
enum {
    NCCL_I8 = 0,
    NCCL_U8 = 1,
    NCCL_I32 = 2,
    NCCL_U32 = 3,
    NCCL_I64 = 4,
    NCCL_U64 = 5,
    NCCL_F16 = 6,
    NCCL_F32 = 7,
    NCCL_F64 = 8,
    NCCL_BF16 = 9
};
enum { NCCL_SUM = 0, NCCL_PROD = 1, NCCL_MAX = 2, NCCL_MIN = 3 };

typedef struct lz_nccl_api {
#define NCCL_FN(member, symbol, args) int(*member) args;
#define NCCL_TEXT(member, symbol, args) const char *(*member)args;
#include "backends/cuda/nccl.def"
#undef NCCL_FN
#undef NCCL_TEXT
} lz_nccl_api;
extern lz_nccl_api lz_nccl;

/* Loads the library at the first call, after the driver was (lz_cuda_load). False: it is off, not
 * there or too old, which is logged once. A library that stands in for the driver is not used with
 * the real one: there LAZULI_CUDA_NCCL must name it. */
bool lz_nccl_load(void);
int lz_nccl_version(void); /* 22304: 2.23.4 */

/* The type whose elements, n of them, are those of one element of d; -1: NCCL has none. */
int lz_nccl_type(lz_dtype d, int *n);
#endif
