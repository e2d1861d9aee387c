/* collective_totals.c - see collective_totals.h. */
#include "backends/common/collective_totals.h"
#include <stdatomic.h>

static const lz_op kinds[] = {LZ_OP_ALL_REDUCE,         LZ_OP_ALL_GATHER,
                              LZ_OP_REDUCE_SCATTER,     LZ_OP_ALL_TO_ALL,
                              LZ_OP_COLLECTIVE_PERMUTE, LZ_OP_COLLECTIVE_BROADCAST};
enum { KINDS = sizeof kinds / sizeof *kinds };
static _Atomic uint64_t runs[KINDS], bytes[KINDS];

static int kind_of(lz_op op)
{
    int k = 0;
    while (k < KINDS && kinds[k] != op)
        k++;
    return k;
}

uint64_t lz_collective_sends(const lz_step_collective *c)
{
    /* of a permute that is in a plan something moves */
    return lz_collective_sent(c->sig, c->sig->op == LZ_OP_COLLECTIVE_PERMUTE ? 2 : c->who.largest);
}

void lz_collective_ran(const lz_step_collective *c)
{
    int k = kind_of(c->sig->op);
    if (k == KINDS)
        return;
    atomic_fetch_add_explicit(&runs[k], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&bytes[k], lz_collective_sends(c), memory_order_relaxed);
}

static _Atomic int64_t took, waited;

void lz_collective_took(int64_t ns, int64_t waited_ns)
{
    atomic_fetch_add_explicit(&took, ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&waited, waited_ns, memory_order_relaxed);
}

void lz_collective_times(int64_t *ns, int64_t *waited_ns)
{
    *ns = atomic_load_explicit(&took, memory_order_relaxed);
    *waited_ns = atomic_load_explicit(&waited, memory_order_relaxed);
}

lz_collective_total lz_collective_total_of(lz_op op)
{
    int k = kind_of(op);
    if (k == KINDS)
        return (lz_collective_total){0};
    return (lz_collective_total){atomic_load_explicit(&runs[k], memory_order_relaxed),
                                 atomic_load_explicit(&bytes[k], memory_order_relaxed)};
}
