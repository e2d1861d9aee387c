/* cublaslt.h - matrix products by NVIDIA's cuBLASLt (LAZULI_CUDA_LIBS), loaded at run time. When a
 * program is made ready, a kernel that is one matrix product and nothing else gets a cuBLASLt
 * description and an algorithm; a launch is then one call that puts the library's kernels on the
 * compute stream, also during graph capture. What the library does not support is refused, not
 * failed: our own kernel, which is compiled anyway, runs instead. Nothing of it reaches a key or
 * the persistent cache: plans and code are the same with and without. Units: bytes, unless elements
 * are said.
 * Threads: making is thread-safe; a product is launched by the launching queue of its device. */
#ifndef LZ_BACKENDS_CUDA_CUBLASLT_H
#define LZ_BACKENDS_CUDA_CUBLASLT_H
#include "backends/cuda/cuda_api.h"
#include "base/mutex.h"
#include "lower/plan/plan.h"

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

/* cublaslt.c: loads the library at the first call. False: not available, which is logged once. */
bool lz_cublaslt_load(void);

/* ---- a product as the library sees it (cublaslt_layout.c) ---- */

/* A column-major matrix: `lead` elements between columns (leading dimension), `apart` between
 * matrices of a batch (batch stride). */
typedef struct cuda_matrix {
    uint32_t buf;
    int64_t offset;
    lz_dtype dtype;
    int64_t rows, columns, lead, apart;
    bool transposed; /* of an operand: it is used transposed */
} cuda_matrix;

/* d = a b, plus bias on each column. */
typedef struct cuda_matrices {
    lz_dtype sum; /* accumulation type */
    int64_t batch;
    cuda_matrix a, b, d;
    bool biased;
    uint32_t bias;
    int64_t bias_offset;
} cuda_matrices;
/* Whether the kernel, with these sizes, is exactly such a product. Pure. */
bool cuda_matrices_of(const lz_kernel *k, const int64_t *args, cuda_matrices *out);

/* ---- dispatch (cublaslt_gemm.c) ---- */

struct cuda_device;
/* Per device. */
typedef struct cuda_libs {
    lz_mutex lock; /* protects `tried`, and `handle` until `tried` is set */
    bool tried;
    lt_handle handle;      /* NULL: the library does not support this device */
    _Atomic uint64_t made; /* products that the library put on the stream */
} cuda_libs;

typedef struct cuda_product cuda_product;
/* Makes the library's plan for a step's kernel and prepends it to *all; *out NULL: the library does
 * not take it. *workspace: device memory it needs while it runs. */
lz_status cuda_product_new(struct cuda_device *d, const lz_kernel *k, const lz_step *s,
                           cuda_product **all, cuda_product **out, size_t *workspace);
void cuda_products_free(cuda_product *all);
/* Puts the product on the compute stream; *ran false: the library does not take these addresses.
 * Between cuda_enter and cuda_leave. */
lz_status cuda_product_launch(struct cuda_device *d, cuda_product *p, void *const *bufs,
                              cu_ptr workspace, bool *ran);
#endif
