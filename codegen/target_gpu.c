/* target_gpu.c - GPU targets by compute capability (target_gpu.def), and emulated ones.
 * Threads: thread-safe. */
#include "base/config.h"
#include "codegen/gpu/simt.h"
#include <stdio.h>
#include <string.h>

typedef struct arch {
    int capability;
    const char *cpu;
    int processors;
    bool wgmma;
} arch;
static const arch archs[] = {
#define SIMT_ARCH(capability, cpu, processors, wgmma) {capability, cpu, processors, wgmma},
#include "codegen/target_gpu.def"
#undef SIMT_ARCH
};

static lz_status arch_of(int major, int minor, const arch **out)
{
    const arch *a = NULL;
    int capability = 10 * major + (minor > 9 ? 9 : minor);
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++)
        if (archs[i].capability <= capability)
            a = &archs[i];
    *out = a;
    return a ? LZ_OK
             : LZ_FAIL(LZ_EUNSUPPORTED, "compute capability %d.%d: 8.0 or later is needed", major,
                       minor);
}

/* What the schedules ask for, of a device or an emulator of it; the user has a say in all but the
 * architecture. */
static lz_status configure(const arch *a, lz_target *t)
{
    int64_t processors = lz_cfg_int(LZ_OPT_CUDA_PROCESSORS);
    t->simt = true;
    t->machine.vector_bytes = 16;
    t->wgmma = a->wgmma;
    t->tma = a->wgmma && lz_cfg_bool(LZ_OPT_CUDA_TMA);
    t->processors = processors ? (int)processors : a->processors;
    t->tf32 = lz_cfg_bool(LZ_OPT_CUDA_TF32);
    return lz_variants_configured(t);
}

lz_status lz_simt_target(int major, int minor, lz_target *out)
{
    memset(out, 0, sizeof *out);
    const arch *a;
    LZ_TRY(arch_of(major, minor, &a));
    snprintf(out->triple, sizeof out->triple, "nvptx64-nvidia-cuda");
    snprintf(out->cpu, sizeof out->cpu, "%s", a->cpu);
    snprintf(out->features, sizeof out->features, "+ptx80");
    return configure(a, out);
}

lz_status lz_simt_emulated(int major, int minor, lz_target *out)
{
    const arch *a;
    LZ_TRY(arch_of(major, minor, &a));
    LZ_TRY(lz_target_host(out));
    return configure(a, out);
}
