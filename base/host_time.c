/* host_time.c - see host_time.h. */
#include "base/host_time.h"

_Atomic bool lz_host_time_is_on;
__thread int64_t lz_host_kernels;
static _Atomic int64_t sums[LZ_HOST_COUNT], start;

void lz_host_add(lz_host_time_kind k, int64_t ns)
{
    if (lz_host_time_on())
        atomic_fetch_add_explicit(&sums[k], ns, memory_order_relaxed);
}

void lz_host_start(void)
{
    for (int i = 0; i < LZ_HOST_COUNT; i++)
        atomic_store(&sums[i], 0);
    atomic_store(&start, lz_now_ns());
    atomic_store(&lz_host_time_is_on, true);
}

int64_t lz_host_wall(void)
{
    int64_t t0 = atomic_load(&start);
    return t0 ? lz_now_ns() - t0 : 0;
}

int64_t lz_host_sum(lz_host_time_kind k)
{
    return atomic_load_explicit(&sums[k], memory_order_relaxed);
}
