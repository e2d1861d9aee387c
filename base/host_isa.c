/* host_isa.c - see host_isa.h. */
#include "base/host_isa.h"
#include "base/config.h"
#include <limits.h>
#include <stdatomic.h>
#include <string.h>

static _Atomic int chosen = -1;

int lz_host_isas(void)
{
#ifdef __x86_64__
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return 1;
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")
               ? 3
               : 2;
#else
    return 1;
#endif
}

/* The last that LAZULI_CPU leaves: its levels 2 to 4 are the instances 0 to 2. */
static int wanted(void)
{
    static const char level[] = "x86-64-v";
    const char *s = lz_cfg_str(LZ_OPT_CPU_ISA);
    if (strncmp(s, level, sizeof level - 1) != 0)
        return INT_MAX;
    return s[sizeof level - 1] - '2';
}

int lz_host_isa(void)
{
    int isa = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (isa >= 0)
        return isa;
    int most = lz_host_isas() - 1, level = wanted();
    return level >= 0 && level < most ? level : most;
}

void lz_host_use_isa(int isa)
{
    atomic_store(&chosen, isa);
}
