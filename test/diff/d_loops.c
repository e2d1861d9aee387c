/* d_loops.c - the compiler front against the reference: functions are lowered, and their plans run
 * by the slow executor. */
#include "lower/plan/plan.h"
#include "support/diff.h"
#include <string.h>

static lz_status run_plan(const lz_func *f, const lz_plan *p, lz_literal *const *args,
                          lz_literal **got)
{
    const void *in[256];
    void *out[256];
    for (uint32_t i = 0; i < f->nparam; i++)
        in[i] = args[i]->data;
    for (uint32_t k = 0; k < f->nresult; k++) {
        got[k] = lz_literal_new(lz_val_type(f, f->results[k]));
        if (!got[k])
            return LZ_EMEM;
        memset(got[k]->data, 0xA5, got[k]->nbytes); /* what is not written must show */
        out[k] = got[k]->data;
    }
    return lz_plan_run(p, in, out);
}

static bool by_loops(const lz_func *f, lz_literal *const *args, const bool *donate,
                     lz_diff_result *r)
{
    lz_lower_options o = {.donate = donate, .b2b = LZ_B2B_ALWAYS, .prefix_scans = true};
    lz_plan *p = NULL;
    lz_status s = lz_lower(f, &o, &p);
    if (s == LZ_OK)
        s = run_plan(f, p, args, r->got);
    lz_plan_free(p);
    return s == LZ_OK || lz_diff_failed("loops", r);
}

int main(int argc, char **argv)
{
    static const lz_diff_options o = {.way = by_loops,
                                      .name = "loops",
                                      .case_stride = 2,
                                      .seeds = 90,
                                      .quick_seeds = 30,
                                      .whole_seeds = 400,
                                      .nets = 12,
                                      .quick_nets = 5,
                                      .whole_nets = 40,
                                      .stride = 3,
                                      .quick_stride = 17,
                                      .whole_stride = 1,
                                      .one_thread = true};
    return lz_diff_main(&o, argc, argv);
}
