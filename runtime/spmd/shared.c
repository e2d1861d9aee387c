/* shared.c - see shared.h. */
#include "runtime/spmd/shared.h"
#include "backends/distributed/talk.h"
#include "base/alloc.h"
#include "runtime/exec/runtime_device.h"

uint32_t lz_shared_rank(void)
{
    return lz_processes_self();
}

uint32_t lz_shared_ranks(void)
{
    return lz_processes_count();
}

uint32_t lz_shared_rank_of(int64_t device)
{
    return lz_processes_of_device((uint32_t)device)->rank;
}

const char *lz_shared_name(uint32_t rank)
{
    return lz_processes_get(rank)->name;
}

uint64_t lz_shared_number(void)
{
    static _Atomic uint64_t count;
    return lz_talk_number(LZ_TALK_CHECKPOINT, atomic_fetch_add(&count, 1));
}

lz_status lz_shared_talk(uint64_t number, const char *about, lz_status mine, const lz_buf *said,
                         lz_shared_decide *decide, void *user)
{
    return lz_talk(number, about, mine, said, decide, user);
}

lz_status lz_shared_first(int64_t mine, int64_t *first)
{
    const lz_backend *be = lz_dev_current()->be;
    int64_t *all = lz_calloc((size_t)be->partitions(), sizeof *all);
    lz_status s =
        all ? be->exchange(&mine, sizeof mine, all)
            : LZ_FAIL(LZ_EMEM, "no memory for what %lld devices say", (long long)be->partitions());
    if (s == LZ_OK)
        *first = all[0];
    lz_free(all);
    return s;
}
