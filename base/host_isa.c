/* host_isa.c - see host_isa.h. */
#include "base/host_isa.h"
#include <stdatomic.h>

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

int lz_host_isa(void)
{
    int isa = atomic_load_explicit(&chosen, memory_order_relaxed);
    return isa < 0 ? lz_host_isas() - 1 : isa;
}

void lz_host_use_isa(int isa)
{
    atomic_store(&chosen, isa);
}
