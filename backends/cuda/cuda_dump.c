/* cuda_dump.c - what LAZULI_DUMP writes about a program's code on a CUDA device: ptx, the PTX of
 * every kernel under its schedule and launch dimensions. It is generated again for the dump, so
 * kernels that came from the cache have it too.
 * Threads: thread-safe. */
#include "backends/cuda/cuda_device.h"
#include "base/config.h"
#include "lower/lower_dump.h"

static void one(const cuda_device *d, const lz_target *t, const lz_plan *p, uint32_t i, lz_buf *out)
{
    const lz_kernel *k = p->kernels[i];
    lz_buf ptx = {0};
    lz_buf_printf(out, "// kernel: %s, schedule %s\n", k->name, lz_simt_schedule_name(k, t));
    for (uint32_t s = 0; s < p->nstep; s++) {
        lz_simt_dims dims;
        if (p->steps[s].kind != LZ_STEP_KERNEL || p->steps[s].kernel != i)
            continue;
        lz_simt_dims_of(k, p->steps[s].args, t, d->processors, &dims);
        for (uint32_t l = 0; l < dims.nlaunch; l++)
            lz_buf_printf(out,
                          "// step %u: %s, %u blocks of %u threads, %u bytes of shared memory\n", s,
                          lz_simt_entry_name(k, t, dims.launch[l].entry), dims.launch[l].grid,
                          dims.launch[l].block, dims.launch[l].shared);
    }
    if (lz_llvm_compile(k, t, &ptx, NULL, NULL) == LZ_OK)
        lz_buf_put(out, ptx.data, ptx.len);
    else
        lz_buf_printf(out, "// %s\n", lz_error_get()->message);
    lz_buf_free(&ptx);
}

static void all(const cuda_device *d, const lz_target *t, const lz_plan *p, lz_buf *out)
{
    for (uint32_t i = 0; i < p->nsub; i++) /* maximal nesting depth of regions */
        all(d, t, p->subs[i], out);
    for (uint32_t i = 0; i < p->nkernel; i++)
        one(d, t, p, i, out);
}

void cuda_dump(const cuda_device *d, const lz_plan *p)
{
    lz_buf text = {0};
    lz_target t; /* an emulated device dumps what its hardware would get */
    if (!*lz_cfg_str(LZ_OPT_DUMP) || !lz_dump_wanted("ptx") ||
        lz_simt_target(d->major, d->minor, &t) != LZ_OK)
        return;
    all(d, &t, p, &text);
    lz_dump_text("ptx", "ptx", &text);
    lz_buf_free(&text);
}
