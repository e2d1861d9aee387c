/* d_passes.c - passes against the reference: each alone, in other orders, and the whole front
 * without each of them. What a pass gives is verified, and its word on whether it changed anything
 * is checked. */
#include "base/config.h"
#include "lower/pass.h"
#include "lower/plan/plan.h"
#include "suite.h"
#include "support/diff.h"
#include <stdio.h>
#include <string.h>

static void release(const lz_func *f, lz_literal **got)
{
    for (uint32_t k = 0; k < f->nresult; k++) {
        lz_literal_release(got[k]);
        got[k] = NULL;
    }
}

static bool failed(const char *what, const char *list, lz_diff_result *r)
{
    char text[128];
    snprintf(text, sizeof text, "%s %s", what, list);
    return lz_diff_failed(text, r);
}

static bool met(const lz_func *f, lz_literal **got, const char *what, const char *list,
                lz_diff_result *r)
{
    int n = snprintf(r->msg, sizeof r->msg, "%s %s: ", what, list);
    bool ok = lz_expect_met(r->want, got, r->msg + n, sizeof r->msg - (size_t)n);
    release(f, got);
    return ok;
}

/* The function that the passes make of f, evaluated. */
static bool after(const lz_func *f, const char *list, lz_literal *const *args, lz_diff_result *r)
{
    lz_func *g = NULL;
    if (lz_passes_run(f, list, NULL, &g) != LZ_OK)
        return failed("passes", list, r);
    bool ok = lz_ref_run(g, args, r->got) == LZ_OK ? met(f, r->got, "passes", list, r)
                                                   : failed("run", list, r);
    lz_func_free(g);
    return ok;
}

static lz_status run_plan(const lz_func *f, const lz_plan *p, lz_literal *const *args,
                          lz_literal **got)
{
    const void *in[256];
    void *out[256];
    for (uint32_t i = 0; i < f->nparam; i++)
        in[i] = args[i]->data;
    for (uint32_t k = 0; k < f->nresult; k++) {
        if (!(got[k] = lz_literal_new(lz_val_type(f, f->results[k]))))
            return LZ_EMEM;
        out[k] = got[k]->data;
    }
    return lz_plan_run(p, in, out);
}

static bool without(const lz_func *f, const char *list, lz_literal *const *args, const bool *donate,
                    lz_diff_result *r)
{
    lz_plan *p = NULL;
    lz_lower_options o = {.donate = donate, .b2b = LZ_B2B_PROFITABLE};
    (void)lz_config_set("LAZULI_PASSES_OFF", list);
    lz_status s = lz_lower(f, &o, &p);
    (void)lz_config_set("LAZULI_PASSES_OFF", NULL);
    if (s == LZ_OK)
        s = run_plan(f, p, args, r->got);
    lz_plan_free(p);
    return s == LZ_OK ? met(f, r->got, "without", list, r) : failed("without", list, r);
}

static bool by_passes(const lz_func *f, lz_literal *const *args, const bool *donate,
                      lz_diff_result *r)
{
    static const char *const orders[] = {
        "pipeline",
        "pipeline,pipeline",
        "split_reductions,canonicalize_dots,fold,simplify,expand,dce",
        "simplify,simplify",
        "canonicalize_dots,simplify,canonicalize_dots",
        "expand,fold,split_reductions,simplify,fold"};
    (void)lz_config_set("LAZULI_VERIFY", "1");
    const lz_pass *p;
    /* of the passes and the orders one in so many for each function, others with another seed */
    int step = lz_test_whole() ? 1 : lz_test_quick_alone() ? 5 : 3;
    int turn = (int)((lz_func_hash(f).lo + lz_test_seed()) % 15);
    for (int i = turn % step; (p = lz_pass_at(i)) != NULL; i += step)
        if (!after(f, p->name, args, r) || !without(f, p->name, args, donate, r))
            return false;
    size_t norder = sizeof orders / sizeof *orders;
    for (size_t i = (size_t)(turn % step) % norder; i < norder; i += (size_t)step)
        if (!after(f, orders[i], args, r))
            return false;
    if (!without(f, "fusion", args, donate, r) ||
        !without(f, "dce,fold,simplify,canonicalize_dots,split_reductions,fusion", args, donate, r))
        return false;
    return lz_ref_run(f, args, r->got) == LZ_OK || lz_diff_failed("reference", r);
}

int main(int argc, char **argv)
{
    static const lz_diff_options o = {.way = by_passes,
                                      .name = "passes",
                                      .case_stride = 2,
                                      .seeds = 18,
                                      .quick_seeds = 9,
                                      .whole_seeds = 150,
                                      .nets = 3,
                                      .quick_nets = 2,
                                      .whole_nets = 16,
                                      .stride = 47,
                                      .quick_stride = 97,
                                      .whole_stride = 1,
                                      .one_thread = true};
    return lz_diff_main(&o, argc, argv);
}
