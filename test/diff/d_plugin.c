/* d_plugin.c - programs that a PJRT plugin runs against the reference: the functions as StableHLO
 * text, their arguments and results as the plugin's buffers. The plugin is Lazuli's own. Arguments
 * that were not given away stay as they are; donated ones, arguments that are on the device
 * already, and an executable from its bytes give the same bits. */
#include "backends/pjrt/plugins.h"
#include "ir/attr.h"
#include "ir/eval/eval.h"
#include "support/diff_device.h"
#include "support/plugin.h"

static const lz_backend *plugin;

/* What StableHLO has no operation for and no loop is written for, and functions of this process. */
static bool has_refused(const lz_func *f)
{
    for (uint32_t i = 0; i < f->ninst; i++) {
        const lz_func *r;
        switch (lz_inst_op(&f->insts[i])) {
        case LZ_OP_CUSTOM_CALL:
            return true;
        case LZ_OP_HESSENBERG:
        case LZ_OP_TRIDIAGONAL:
        case LZ_OP_GEQP3:
        case LZ_OP_GTSV:
        case LZ_OP_SCHUR:
        case LZ_OP_EIG:
            if (f->insts[i].sig->opnd[0]->nelem && f->insts[i].sig->result[0]->nelem)
                return true;
            break;
        default:
            break;
        }
        for (int k = 0; (r = lz_attr_region(f->insts[i].sig->attr, k)); k++)
            if (has_refused(r))
                return true;
    }
    return false;
}

/* Of those nothing is compared but that they are refused. */
static bool refused(const lz_func *f, lz_literal *const *args, lz_diff_result *r)
{
    if (lz_error_get()->status != LZ_EUNSUPPORTED || !has_refused(f))
        return lz_diff_failed("compile", r);
    return lz_ref_run(f, args, r->got) == LZ_OK || lz_diff_failed("reference", r);
}

static bool by_plugin(const lz_func *f, lz_literal *const *args, const bool *donate,
                      lz_diff_result *r)
{
    lz_exec *x = NULL;
    lz_compile_options o = {.donate = donate, .func = f};
    if (!plugin)
        plugin = lz_test_plugin("self", NULL);
    if (!plugin || plugin->init() != LZ_OK)
        return lz_diff_failed("init", r);
    if (plugin->compile(0, f, &o, &x) != LZ_OK)
        return refused(f, args, r);
    bool ok = lz_diff_execute(plugin, x, f, args, NULL, 1, r->got, r) &&
              lz_diff_again(plugin, x, f, args, NULL, "again", r) &&
              (!donate || lz_diff_again(plugin, x, f, args, donate, "donated", r)) &&
              lz_diff_from_bytes(plugin, x, f, args, &o, r);
    plugin->exec_free(x);
    return ok;
}

int main(int argc, char **argv)
{
    static const lz_diff_options o = {.way = by_plugin,
                                      .name = "plugin",
                                      .seeds = 12,
                                      .quick_seeds = 6,
                                      .whole_seeds = 200,
                                      .nets = 4,
                                      .quick_nets = 2,
                                      .whole_nets = 40,
                                      .stride = 83,
                                      .quick_stride = 331,
                                      .whole_stride = 1};
    return lz_diff_main(&o, argc, argv);
}
