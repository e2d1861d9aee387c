/* lower_partitions.c - the compiler front for a function that several partitions run. See plan.h.
 */
#include "lower/plan/plan.h"
#include <inttypes.h>
#include <string.h>

static lz_status lower_bound(const lz_func *bound, const lz_lower_options *o, uint32_t nparam,
                             lz_plan **out)
{
    lz_lower_options own = *o;
    bool *donate = o->donate ? lz_calloc((size_t)bound->nparam + 1, sizeof *donate) : NULL;
    if (o->donate && !donate)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    if (donate)
        memcpy(donate, o->donate, nparam * sizeof *donate);
    own.donate = donate;
    lz_status s = lz_lower(bound, &own, out);
    lz_free(donate);
    return s;
}

lz_status lz_lower_partitions(const lz_func *f, const lz_lower_options *o, lz_plan **out)
{
    lz_func *bound;
    bool numbered;
    *out = NULL;
    if (o->partitions < 1 || o->partitions > LZ_MAX_PARTITIONS)
        return LZ_FAIL(LZ_ERANGE, "'%s': %" PRId64 " partitions", f->name, o->partitions);
    LZ_TRY(lz_func_bind_partitions(f, o->partitions, &bound, &numbered));
    lz_status s = lower_bound(bound, o, f->nparam, out);
    lz_func_free(bound);
    if (s == LZ_OK)
        (*out)->numbered = numbered;
    return s;
}
