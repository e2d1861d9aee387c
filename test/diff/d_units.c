/* d_units.c - the code of each kernel, between pages that cannot be touched and unit by unit
 * (support/units.h). The results are compared with the reference besides. */
#include "support/units.h"

static bool by_units(const lz_func *f, lz_literal *const *args, const bool *donate,
                     lz_diff_result *r)
{
    static lz_target t;
    if (!t.triple[0] && lz_target_host(&t) != LZ_OK)
        return lz_diff_failed("target", r);
    return lz_units_run(f, &t, args, donate, r);
}

int main(int argc, char **argv)
{
    static const lz_diff_options o = {.way = by_units,
                                      .name = "units",
                                      .case_stride = 2,
                                      .seeds = 14,
                                      .quick_seeds = 7,
                                      .whole_seeds = 150,
                                      .nets = 6,
                                      .quick_nets = 4,
                                      .whole_nets = 40,
                                      .stride = 53,
                                      .quick_stride = 173,
                                      .whole_stride = 1,
                                      .one_thread = true};
    return lz_diff_main(&o, argc, argv);
}
