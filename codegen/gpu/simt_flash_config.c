/* simt_flash_config.c - flash attention, without LLVM: the blocks, threads and shared memory of its
 * kernels. Which kernels they suit is simt_flash_match.c's question.
 * Threads: pure. */
#include "codegen/gpu/simt_flash.h"

/* Several passes wait for memory more than for products. */
uint32_t simt_flash_min_blocks(const lz_kernel *k, lz_simt_entry entry)
{
    flash_pattern f;
    if (entry == SIMT_FLASH_WGMMA) /* one multiplies while another one is at its softmax */
        return 2;
    return flash_pattern_of(k, &f) && !f.once && entry == SIMT_FLASH_NARROW ? 3 : 0;
}

static uint32_t fma_shared(const flash_pattern *f)
{
    uint32_t kv_tile = FLASH_ROW * flash_fma_pitch(FLASH_HEAD);
    return 2 * kv_tile +
           flash_points(f) * (flash_fma_pitch(FLASH_HEAD) + flash_fma_pitch(FLASH_FMA_HALF));
}

/* For either layout of the operands. */
uint32_t simt_flash_shared(const lz_kernel *k, lz_simt_entry entry)
{
    flash_pattern f;
    if (!flash_pattern_of(k, &f))
        return 0;
    if (f.fma)
        return fma_shared(&f);
    if (entry == SIMT_FLASH_WGMMA)
        return 2 * FLASH_STAGES * FLASH_ROW * SIMT_WGMMA_ROW;
    uint32_t head = flash_head(entry), one_way = FLASH_ROW * (2 * head + FLASH_PAD),
             other = head * (2 * FLASH_ROW + FLASH_PAD);
    return (one_way > other ? one_way : other) * 2 * FLASH_STAGES;
}

static unsigned threads_of(const flash_pattern *f, lz_simt_entry entry, unsigned points)
{
    return points / (FLASH_TILE * flash_tiles(f, entry)) * SIMT_WARP;
}

uint32_t simt_flash_threads(const lz_kernel *k, lz_simt_entry entry)
{
    flash_pattern f;
    return flash_pattern_of(k, &f) ? threads_of(&f, entry, flash_points(&f)) : 0;
}

uint32_t lz_simt_passes(const lz_kernel *k)
{
    flash_pattern f;
    if (!lz_kernel_keeps_sums(k) || !flash_pattern_of(k, &f))
        return 0;
    return f.once ? 1 : f.levels - f.online + 1;
}

bool simt_flash_suits(const lz_kernel *k, const lz_target *t)
{
    flash_pattern f;
    (void)t;
    return lz_kernel_keeps_sums(k) && flash_pattern_of(k, &f);
}

/* false: these sizes are for b2b_gemm */
static bool dims_of(const lz_kernel *k, const int64_t *args, const lz_target *t, int processors,
                    lz_simt_launch *out)
{
    enum { FEW = 16 /* points: other code does them with more threads */, EACH = 16 };
    flash_pattern f;
    if (!flash_pattern_of(k, &f))
        return false;
    const lz_stage *a = &k->stages[0], *b = &k->stages[f.second];
    int64_t n = lz_sz_value(a->extent[0], args), head = lz_sz_value(a->extent[1], args),
            sums = lz_sz_value(b->extent[0], args), m = lz_sz_value(k->outer[k->nouter - 1], args);
    int64_t longest = f.fma ? FLASH_HEAD : FLASH_WIDE_HEAD, batch = 1, points = flash_points(&f);
    if (n < 1 || head < 1 || sums < 1 || head > longest || sums > longest || m <= FEW)
        return false;
    for (uint32_t d = 0; d + 1 < k->nouter; d++)
        batch = simt_times(batch, lz_sz_value(k->outer[d], args));
    if (simt_times(batch, simt_ceil_div(m, points)) < processors)
        points /= 2;
    int64_t blocks = simt_times(batch, simt_ceil_div(m, points)), most = (int64_t)processors * EACH;
    out->entry = head > FLASH_HEAD || sums > FLASH_HEAD   ? SIMT_FLASH_WIDE
                 : simt_flash_has(k, t, SIMT_FLASH_WGMMA) ? SIMT_FLASH_WGMMA
                                                          : SIMT_FLASH_NARROW;
    out->block = threads_of(&f, out->entry, (unsigned)points);
    out->grid = (uint32_t)(blocks < most ? blocks : most);
    out->shared = simt_flash_shared(k, out->entry);
    return true;
}

void simt_flash_dims(const simt_sizes *z, lz_simt_dims *d)
{
    if (!dims_of(z->k, z->args, z->t, z->processors, &d->launch[0]))
        simt_b2b_dims(z, d);
}
