/* simt.h - from one loop-IR kernel to code for many threads: schedules of a GPU. A kernel becomes
 * one function, lz_kernel, that is run by a grid of blocks of threads; a product has several. Their
 * parameters are 64 bits each: the addresses of the kernel's buffers, then its run-time sizes; when
 * these are more than SIMT_PARAMS in all, the address of a copy of the sizes in device memory
 * stands in their place. Kernels that take scratch memory have two more: its address, and a number
 * (lz_simt_dims). SIMT_TMA has two more behind them: tensor maps of its factors (lz_simt_map), by
 * value. The schedule, and with it the code, depends on the canonical kernel and the target only.
 * How many blocks and threads run it, and the number of split-K slices of a GEMM, are computed
 * from the run-time sizes; results depend on the threads of a block and on the slices, never on the
 * number of blocks. lz_llvm_compile makes the code when the target has `simt` set.
 * "nvptx64-nvidia-cuda" gives PTX text; any other triple an object of the host for an emulator, of
 * the same schedule: void lz_kernel(void *const *params, lz_simt_thread *t), run once for every
 * thread; int64_t lz_params(void), how many parameters there are. What threads do together are
 * calls.
 * Threads: thread-safe. */
#ifndef LZ_CODEGEN_GPU_SIMT_H
#define LZ_CODEGEN_GPU_SIMT_H
#include "codegen/codegen.h"

enum {
    SIMT_PARAMS = 480,
    SIMT_WARP = 32,
    SIMT_SHARED = 48 << 10,
    SIMT_CLUSTER = 2,
    SIMT_ACC = 16, /* bytes of an accumulator */
    /* elements of rows between products, at most: a few points of them fit into shared memory */
    SIMT_LONG_ROW = 2048
};

/* The functions that a kernel's code may have. */
typedef enum lz_simt_entry {
    SIMT_MAIN,
    SIMT_WGMMA,  /* of a GEMM: wgmma, where the target has it */
    SIMT_TMA,    /* of a GEMM: wgmma, warp-specialized, operands loaded by TMA */
    SIMT_SMALL,  /* of a GEMM: smaller tiles, for results of few */
    SIMT_SECOND, /* of a split reduction: the kernel's next one, which reads the first's results */
    SIMT_FINAL,  /* of split-K and of split reductions: combines the slices, then the epilogue */
    SIMT_FLASH_NARROW, /* flash attention */
    SIMT_FLASH_WGMMA,  /* the same by wgmma, where the target has it and one pass is made */
    SIMT_FLASH_WIDE,   /* for longer heads */
    SIMT_ENTRIES
} lz_simt_entry;
#define SIMT_TMA_NAME "lz_kernel_tma"
/* Name of the function; NULL: this kernel's code has none. */
const char *lz_simt_entry_name(const lz_kernel *k, const lz_target *t, lz_simt_entry entry);
/* Bytes of dynamic shared memory it takes at most; more than SIMT_SHARED must be asked for. */
uint32_t lz_simt_entry_shared(const lz_kernel *k, const lz_target *t, lz_simt_entry entry);

typedef struct lz_simt_launch {
    lz_simt_entry entry;
    uint32_t grid, block; /* 0 blocks: nothing to do */
    uint32_t shared;      /* bytes of dynamic shared memory */
    /* SIMT_TMA: 2: blocks 2 i and 2 i + 1 run together, as a cluster; 1: each by itself */
    uint32_t cluster;
} lz_simt_launch;
/* An operand of a GEMM as a tensor map (cuTensorMapEncodeTiled) describes it: elements of 2 bytes,
 * or of 4 that are rounded to tf32, the first dimension contiguous; rows of a box, 128 bytes, are
 * swizzled; out of range is 0. */
enum { SIMT_MAP_RANK = 5, SIMT_MAP_BYTES = 128, SIMT_MAP_ALIGN = 16 };
typedef struct lz_simt_map {
    uint32_t buf; /* of the kernel */
    lz_dtype dtype;
    int64_t offset; /* bytes from its start; a multiple of SIMT_MAP_ALIGN */
    uint32_t rank;
    uint64_t size[SIMT_MAP_RANK];   /* elements */
    uint64_t stride[SIMT_MAP_RANK]; /* bytes */
    uint32_t box[SIMT_MAP_RANK];    /* elements */
} lz_simt_map;
typedef struct lz_simt_dims {
    uint32_t nlaunch; /* one after the other; 0: nothing to do */
    lz_simt_launch launch[3];
    uint64_t scratch; /* bytes of device memory, 64-byte aligned */
    /* The parameter behind its address: bytes that each thread, or each block that sorts rows
     * together, has; of a GEMM, the number of slices of K; of a reduction, the number of parts, and
     * in its upper half the power of two of threads that share a point (simt_reduce_col.c). */
    uint64_t share;
    /* Where launch[0] is SIMT_TMA: its maps, and what gives the same bits instead where their
     * memory does not start at multiples of SIMT_MAP_ALIGN. */
    lz_simt_map map[2];
    lz_simt_launch plain;
} lz_simt_dims;

/* What an emulated thread knows of itself. */
typedef struct lz_simt_thread {
    uint32_t tid, ntid, ctaid, nctaid;
    uint32_t rank, ranks; /* of the block in its cluster; blocks of that */
    void *shared;
    size_t apart; /* bytes from the shared memory of a block to that of the next in its cluster */
} lz_simt_thread;
/* Symbols an emulated kernel may call, besides fma, memcpy, memmove and memset:
 *   void lz_simt_barrier(lz_simt_thread *t)
 *     all threads of the block meet
 *   uint32_t lz_simt_shuffle(lz_simt_thread *t, uint32_t v, uint32_t x)
 *     v of the thread whose lane is this one's xor x; the warp's threads meet */

/* The target for compute capability major.minor, as LAZULI_CUDA_TMA,
 * LAZULI_CUDA_PROCESSORS, LAZULI_CUDA_TF32 and LAZULI_VARIANTS say; LZ_EUNSUPPORTED below 8.0. */
lz_status lz_simt_target(int major, int minor, lz_target *out);
/* The host, as an emulator of such a device runs it. */
lz_status lz_simt_emulated(int major, int minor, lz_target *out);

/* Blocks and threads for these run-time sizes; `processors` is the number of multiprocessors of the
 * device. */
void lz_simt_dims_of(const lz_kernel *k, const int64_t *args, const lz_target *t, int processors,
                     lz_simt_dims *out);
/* The kernel of a GEMM, which has one tile size, and the number of split-K slices. SIMT_TMA: by TMA
 * where the memory is aligned for it; SIMT_WGMMA: never by TMA. */
typedef struct lz_simt_pick {
    lz_simt_entry entry;
    uint32_t slices;
} lz_simt_pick;
enum { SIMT_PICKS = 12 };
/* Those that cost least by the model, the first of which it takes; none where there is nothing to
 * choose. They do not depend on the device beyond its target. Gives their number. */
uint32_t lz_simt_picks(const lz_kernel *k, const int64_t *args, const lz_target *t,
                       lz_simt_pick out[SIMT_PICKS]);
/* Blocks and threads by one of these. */
void lz_simt_dims_by(const lz_kernel *k, const int64_t *args, const lz_target *t, int processors,
                     lz_simt_pick pick, lz_simt_dims *out);
static inline bool lz_simt_args_in_memory(const lz_kernel *k)
{
    return k->nbuf + k->narg > SIMT_PARAMS;
}
bool lz_simt_takes_scratch(const lz_kernel *k);
/* How often flash attention goes over a row of scores; 0: it does not suit the kernel. */
uint32_t lz_simt_passes(const lz_kernel *k);
/* Name of the schedule, for reports and tests. */
const char *lz_simt_schedule_name(const lz_kernel *k, const lz_target *t);
/* Appends what of the target, besides triple, name and features, this kernel's code goes by: part
 * of keys. */
void lz_simt_print(const lz_kernel *k, const lz_target *t, lz_buf *out);

/* Part of the key of stored code: raise it when the same kernel gives other code. */
enum { LZ_SIMT_VERSION = 16 };
#endif
