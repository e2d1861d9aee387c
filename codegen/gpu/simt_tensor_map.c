/* simt_tensor_map.c - GEMM, without LLVM: the tensor maps (cuTensorMapEncodeTiled) of operands that
 * TMA loads. See simt_dot.h. Whether an operand can have one is decided by the canonical kernel
 * (gemm_tma_suits); whether sizes and strides fit a map, here by the run-time sizes.
 * Threads: pure. */
#include "codegen/gpu/simt_dot.h"
#include "lower/loops/loop_impl.h"

enum {
    MOST_SIZE = INT32_MAX /* coordinates have 32 bits */
};
static const int64_t most_stride = INT64_C(1) << 40;

static int64_t extent(const lz_kernel *k, uint32_t loop, const int64_t *args)
{
    return lz_sz_value(loop < k->nouter ? k->outer[loop] : k->stages[0].extent[loop - k->nouter],
                       args);
}

/* Rows further on start at multiples of 16 bytes; of a single one it does not matter where the next
 * would be. */
static bool stride_of(int64_t elements, int64_t size, int64_t esize, uint64_t *out)
{
    int64_t bytes;
    if (size == 1) {
        *out = SIMT_MAP_ALIGN;
        return true;
    }
    if (elements <= 0 || __builtin_mul_overflow(elements, esize, &bytes))
        return false;
    *out = (uint64_t)bytes;
    return bytes % SIMT_MAP_ALIGN == 0 && bytes < most_stride;
}

static bool map_of(const lz_kernel *k, int32_t source, uint32_t loop, const gemm_shape *p,
                   const int64_t *args, lz_simt_map *out)
{
    const lz_access *a = kern_plain_access(k, source);
    uint32_t loops[SIMT_MAP_RANK], rank = gemm_tensor_map_loops(k, source, loop, loops);
    *out = (lz_simt_map){.buf = a->buf, .dtype = k->buf[a->buf].dtype, .rank = rank};
    if (__builtin_mul_overflow(lz_sz_value(a->offset, args), (int64_t)p->es, &out->offset) ||
        out->offset % SIMT_MAP_ALIGN)
        return false;
    for (uint32_t i = 0; i < rank; i++) {
        int64_t size = extent(k, loops[i], args);
        if (size < 1 || size > MOST_SIZE)
            return false;
        out->size[i] = (uint64_t)size;
        out->stride[i] = p->es;
        if (i && !stride_of(lz_sz_value(a->stride[loops[i]], args), size, p->es, &out->stride[i]))
            return false;
        out->box[i] = 1;
    }
    gemm_tma_box(p, loops[1] == loop, out->box);
    return true;
}

bool gemm_tensor_maps(const lz_kernel *k, const lz_target *t, const int64_t *args,
                      lz_simt_map map[2])
{
    gemm_shape p;
    if (!simt_gemm_has(k, t, SIMT_TMA))
        return false;
    gemm_shape_of(k, t, SIMT_TMA, &p);
    for (int i = 0; i < 2; i++) {
        uint32_t loop;
        int32_t source = gemm_source_of(k, t, i, &loop);
        if (!map_of(k, source, loop, &p, args, &map[i]))
            return false;
    }
    return true;
}
