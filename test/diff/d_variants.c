/* d_variants.c - the code of each kernel in other forms than the machine would get: without any
 * special form, with every one wherever it is right, for smaller instruction sets. Each as in
 * d_units; each against the reference. */
#include "base/config.h"
#include "suite.h"
#include "support/units.h"
#include <stdio.h>
#include <string.h>

typedef struct variant {
    const char *forms, *cpu;
    const char *needs; /* of the processor */
} variant;
#define V2 "+cx16,+popcnt,+sahf,+sse3,+sse4.1,+sse4.2,+ssse3"
#define V3 V2 ",+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe"
static const variant variants[] = {{"-all", "", ""},      {"-all,+dot", "", ""},
                                   {"+all", "", ""},      {"", "x86-64-v3", V3},
                                   {"", "x86-64-v2", V2}, {"+all", "x86-64-v3", V3}};
enum { NVARIANT = sizeof variants / sizeof *variants };

static bool target_of(const variant *v, lz_target *t)
{
    bool ok = lz_config_set("LAZULI_CPU", *v->cpu ? v->cpu : NULL) == LZ_OK &&
              lz_target_host(t) == LZ_OK && lz_variants_parse(v->forms, t) == LZ_OK;
    (void)lz_config_set("LAZULI_CPU", NULL);
    return ok;
}

static bool one(const variant *v, const lz_func *f, lz_literal *const *args, const bool *donate,
                lz_diff_result *r)
{
    lz_target t;
    lz_diff_result mine = {.msg = ""};
    if (!lz_target_runs(v->needs)) /* said by main */
        return true;
    if (!target_of(v, &t))
        return lz_diff_failed("target", r);
    bool ok = lz_units_run(f, &t, args, donate, &mine);
    char msg[sizeof r->msg - 64];
    snprintf(msg, sizeof msg, "%.400s", mine.msg);
    ok = ok && lz_expect_met(r->want, mine.got, msg, sizeof msg);
    if (!ok)
        snprintf(r->msg, sizeof r->msg, "LAZULI_VARIANTS=%s LAZULI_CPU=%s: %s", v->forms, v->cpu,
                 msg);
    for (uint32_t k = 0; k < f->nresult; k++)
        lz_literal_release(mine.got[k]);
    return ok;
}

static bool by_forms(const lz_func *f, lz_literal *const *args, const bool *donate,
                     lz_diff_result *r)
{
    /* some of them, not always the same */
    unsigned turn = (unsigned)(lz_func_hash(f).lo % NVARIANT) + lz_test_seed();
    int tried = lz_test_whole() ? NVARIANT : lz_test_small() ? 1 : 2;
    for (int i = 0; i < tried; i++)
        if (!one(&variants[(turn + (unsigned)i) % NVARIANT], f, args, donate, r))
            return false;
    lz_target t; /* the driver compares the machine's own */
    if (!target_of(&(variant){"", "", ""}, &t))
        return lz_diff_failed("target", r);
    return lz_units_run(f, &t, args, donate, r);
}

int main(int argc, char **argv)
{
    static const lz_diff_options o = {.way = by_forms,
                                      .name = "forms",
                                      .case_stride = 2,
                                      .seeds = 7,
                                      .quick_seeds = 3,
                                      .whole_seeds = 40,
                                      .nets = 3,
                                      .quick_nets = 2,
                                      .whole_nets = 12,
                                      .stride = 199,
                                      .quick_stride = 797,
                                      .whole_stride = 5,
                                      .one_thread = true};
    for (int i = 0; i < NVARIANT; i++)
        if (!lz_target_runs(variants[i].needs))
            printf("left out, for this processor has not all of %s: LAZULI_CPU=%s "
                   "LAZULI_VARIANTS=%s\n",
                   variants[i].needs, variants[i].cpu, variants[i].forms);
    fflush(stdout); /* Check forks */
    return lz_diff_main(&o, argc, argv);
}
