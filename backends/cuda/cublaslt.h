/* cublaslt.h - products by a library of NVIDIA's (LAZULI_CUDA_LIBS): cuBLASLt, found at run time. A
 * kernel that is one matrix product and nothing else gets, when its program is made ready, the
 * library's description of it and an algorithm; a launch is then one call that puts the library's
 * kernels on the compute stream, also while that is recorded as a graph. What the library does not
 * take is refused, not failed: the own kernel, which is compiled all the same, runs instead.
 * Nothing of it reaches a key or the persistent cache: plans and code are the same with and
 * without.
 * Units: bytes, unless elements are said. Threads: making is thread-safe; a product is launched by
 * the launching queue of its device. */
#ifndef LZ_BACKENDS_CUDA_CUBLASLT_H
#define LZ_BACKENDS_CUDA_CUBLASLT_H
#include "backends/cuda/cuda_api.h"
#include "lower/plan/plan.h"
#include <pthread.h>

/* ---- cuBLASLt: own declarations; the values this project uses, as it documents them ---- */

typedef struct lt_handle_ *lt_handle;
typedef struct lt_desc_ *lt_desc;
typedef struct lt_layout_ *lt_layout;
typedef struct lt_preference_ *lt_preference;
typedef struct lt_algo {
    uint64_t words[8];
} lt_algo;
typedef struct lt_choice { /* cublasLtMatmulHeuristicResult_t */
    lt_algo algo;
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
} lt_choice;

enum {
    LT_OK = 0,
    LT_NOT_INITIALIZED = 1,
    LT_ALLOC_FAILED = 3,
    LT_INVALID_VALUE = 7,
    LT_ARCH_MISMATCH = 8,
    LT_EXECUTION_FAILED = 13,
    LT_NOT_SUPPORTED = 15
};
enum { LT_R_32F = 0, LT_R_64F = 1, LT_R_16F = 2, LT_R_8I = 3, LT_R_32I = 10, LT_R_16BF = 14 };
enum { LT_COMPUTE_32F = 68, LT_COMPUTE_64F = 70, LT_COMPUTE_32I = 72, LT_COMPUTE_TF32 = 77 };
enum { LT_DESC_TRANSA = 3, LT_DESC_TRANSB = 4, LT_DESC_EPILOGUE = 7, LT_DESC_BIAS = 8 };
enum { LT_TRANSPOSED = 1, LT_EPILOGUE_BIAS = 4 };
enum { LT_LAYOUT_BATCH = 5, LT_LAYOUT_BATCH_APART = 6 };
enum {
    LT_PREF_WORKSPACE = 1,
    LT_PREF_REDUCTIONS = 3,
    LT_PREF_ALIGN_A = 5,
    LT_PREF_ALIGN_B = 6,
    LT_PREF_ALIGN_C = 7,
    LT_PREF_ALIGN_D = 8
};
enum { LT_REDUCTION_COMPUTE_TYPE = 2 };

typedef struct lz_cublaslt_api {
#define LT_FN(member, symbol, args) int(*member) args;
#include "backends/cuda/cublaslt.def"
#undef LT_FN
} lz_cublaslt_api;
extern lz_cublaslt_api lz_cublaslt;

/* cublaslt.c: finds the library, at the first call. False: there is none, which has been said
 * once. */
bool lz_cublaslt_load(void);

/* ---- a product as the library sees it (cublaslt_layout.c) ---- */

/* A matrix lies column by column; `lead` elements from one column to the next, `apart` from one
 * matrix of a batch to the next. */
typedef struct cuda_matrix {
    uint32_t buf;
    int64_t offset;
    lz_dtype dtype;
    int64_t rows, columns, lead, apart;
    bool transposed; /* a factor: what is multiplied is this the other way round */
} cuda_matrix;

/* d = a b, and bias added to each column of it. */
typedef struct cuda_matrices {
    lz_dtype sum; /* what is added up in */
    int64_t batch;
    cuda_matrix a, b, d;
    bool biased;
    uint32_t bias;
    int64_t bias_offset;
} cuda_matrices;
/* Whether the kernel, with these sizes, is that and nothing else. Pure. */
bool cuda_matrices_of(const lz_kernel *k, const int64_t *args, cuda_matrices *out);

/* ---- dispatch (cublaslt_gemm.c) ---- */

struct cuda_device;
/* Of a device. */
typedef struct cuda_libs {
    pthread_mutex_t lock; /* around `tried`, and `handle` until it is true */
    bool tried;
    lt_handle handle;      /* NULL: the library does not work with this device */
    _Atomic uint64_t made; /* products by a library that were put on the stream */
} cuda_libs;

typedef struct cuda_product cuda_product;
/* What the library makes of a step's kernel, put in front of *all; *out NULL: it is not made by a
 * library. *workspace: of device memory, while it runs. */
lz_status cuda_product_new(struct cuda_device *d, const lz_kernel *k, const lz_step *s,
                           cuda_product **all, cuda_product **out, size_t *workspace);
void cuda_products_free(cuda_product *all);
/* Puts it on the compute stream; *ran false: the library does not take these addresses. Between
 * enter and leave. */
lz_status cuda_product_launch(struct cuda_device *d, cuda_product *p, void *const *bufs,
                              cu_ptr workspace, bool *ran);
#endif
