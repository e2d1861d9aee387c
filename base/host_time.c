/* host_time.c - see host_time.h. */
#include "base/host_time.h"

_Atomic bool lz_host_time_is_on;
static __thread int64_t kernels; /* nanoseconds of those that the thread ran */
static _Atomic int64_t sums[LZ_HOST_COUNT], start;

void lz_host_add(lz_host_time_kind k, int64_t ns)
{
    if (lz_host_time_on())
        atomic_fetch_add_explicit(&sums[k], ns, memory_order_relaxed);
}

void lz_host_ran_kernels(int64_t ns)
{
    kernels += ns;
}

lz_host_launch lz_host_launch_of_thread(void)
{
    return (lz_host_launch){lz_now_ns(), kernels};
}

void lz_host_launch_end(lz_host_launch l)
{
    if (!l.t0)
        return;
    int64_t run = kernels - l.kernels;
    lz_host_add(LZ_HOST_RUN, run);
    lz_host_add(LZ_HOST_LAUNCH, lz_now_ns() - l.t0 - run);
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
