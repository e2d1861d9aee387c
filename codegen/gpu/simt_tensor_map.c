/* simt_tensor_map.c - tensor maps of a product's factors: what the device needs to know to copy
 * boxes of them by itself. See simt_dot.h. Whether a factor can have one is decided by the
 * canonical kernel; whether sizes and distances are such as a map can hold, by the run-time sizes.
 * Threads: pure. */
#include "codegen/gpu/simt_dot.h"
#include "lower/loops/loop_impl.h"

enum {
    ELEM = 2,             /* bytes: of 16-bit floats */
    MOST_SIZE = INT32_MAX /* coordinates have 32 bits */
};
static const int64_t most_stride = INT64_C(1) << 40;

uint32_t gemm_map_loops(const lz_kernel *k, int32_t source, uint32_t loop, uint32_t *out)
{
    const lz_access *a = kern_plain_access(k, source);
    uint32_t last = k->nouter + k->stages[0].ninner - 1, n = 2;
    if (!a || lz_dtype_size(k->buf[a->buf].dtype) != ELEM)
        return 0;
    bool by_k = lz_sz_is(a->stride[last], 1) && !lz_sz_is(a->stride[loop], 1);
    if (!by_k && !lz_sz_is(a->stride[loop], 1))
        return 0;
    out[0] = by_k ? last : loop;
    out[1] = by_k ? loop : last;
    for (uint32_t d = 0; d < last; d++) {
        if (d == lz_kernel_dot(k)->m || d == lz_kernel_dot(k)->n || lz_sz_is(a->stride[d], 0))
            continue;
        if (n == SIMT_MAP_RANK)
            return 0;
        out[n++] = d;
    }
    return n;
}

/* Where rows run along the result: all of a piece's k. */
void gemm_box_of(const gemm_shape *p, bool rows_k, uint32_t box[2])
{
    box[0] = GEMM_ROW / p->es;
    box[1] = rows_k ? GEMM_BOX : p->kt;
}

/* Factor i: its source, and the loop of the result that it has. */
static int32_t source_of(const lz_kernel *k, const lz_target *t, int i, uint32_t *loop)
{
    const simt_mma *mma = simt_gemm_mma(k, t);
    *loop = i ? lz_kernel_dot(k)->n : lz_kernel_dot(k)->m;
    return gemm_source(k, i ? lz_kernel_dot(k)->b_sop : lz_kernel_dot(k)->a_sop, mma->d);
}

bool gemm_boxes_suit(const lz_kernel *k, const lz_target *t)
{
    uint32_t loop, loops[SIMT_MAP_RANK];
    for (int i = 0; i < 2; i++) {
        int32_t source = source_of(k, t, i, &loop);
        if (!gemm_map_loops(k, source, loop, loops))
            return false;
    }
    return t->bulk;
}

static int64_t extent(const lz_kernel *k, uint32_t loop, const int64_t *args)
{
    return lz_sz_value(loop < k->nouter ? k->outer[loop] : k->stages[0].extent[loop - k->nouter],
                       args);
}

/* Rows further on lie at multiples of 16 bytes; of a single one it does not matter where the next
 * would be. */
static bool stride_of(int64_t elements, int64_t size, uint64_t *out)
{
    int64_t bytes;
    if (size == 1) {
        *out = SIMT_MAP_ALIGN;
        return true;
    }
    if (elements <= 0 || __builtin_mul_overflow(elements, ELEM, &bytes))
        return false;
    *out = (uint64_t)bytes;
    return bytes % SIMT_MAP_ALIGN == 0 && bytes < most_stride;
}

static bool map_of(const lz_kernel *k, int32_t source, uint32_t loop, const gemm_shape *p,
                   const int64_t *args, lz_simt_map *out)
{
    const lz_access *a = kern_plain_access(k, source);
    uint32_t loops[SIMT_MAP_RANK], rank = gemm_map_loops(k, source, loop, loops);
    *out = (lz_simt_map){.buf = a->buf, .dtype = k->buf[a->buf].dtype, .rank = rank};
    if (__builtin_mul_overflow(lz_sz_value(a->offset, args), ELEM, &out->offset) ||
        out->offset % SIMT_MAP_ALIGN)
        return false;
    for (uint32_t i = 0; i < rank; i++) {
        int64_t size = extent(k, loops[i], args);
        if (size < 1 || size > MOST_SIZE)
            return false;
        out->size[i] = (uint64_t)size;
        out->stride[i] = ELEM;
        if (i && !stride_of(lz_sz_value(a->stride[loops[i]], args), size, &out->stride[i]))
            return false;
        out->box[i] = 1;
    }
    gemm_box_of(p, loops[1] == loop, out->box);
    return true;
}

bool gemm_maps_of(const lz_kernel *k, const lz_target *t, const int64_t *args, lz_simt_map map[2])
{
    gemm_shape p;
    if (!simt_gemm_has(k, t, SIMT_BULK))
        return false;
    gemm_shape_of(k, t, SIMT_BULK, &p);
    for (int i = 0; i < 2; i++) {
        uint32_t loop;
        int32_t source = source_of(k, t, i, &loop);
        if (!map_of(k, source, loop, &p, args, &map[i]))
            return false;
    }
    return true;
}
