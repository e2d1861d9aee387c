/* d_plugin.c - programs that a PJRT plugin runs against the reference: the functions as StableHLO
 * text, their arguments and results as the plugin's buffers. The plugin is Lazuli's own. Arguments
 * that were not given away stay as they are; donated ones, arguments that are on the device
 * already, and an executable from its bytes give the same bits. */
#include "backends/backend.h"
#include "backends/pjrt/plugins.h"
#include "ir/attr.h"
#include "ir/eval/eval.h"
#include "support/diff.h"
#include "support/plugin.h"
#include <stdio.h>
#include <string.h>

typedef struct buffers {
    lz_device_buffer *in[256], *out[256];
    bool given[256];
} buffers;

static const lz_backend *plugin;

static lz_status upload(const lz_func *f, lz_literal *const *args, const bool *give, buffers *b)
{
    for (uint32_t i = 0; i < f->nparam; i++) {
        b->given[i] = give && give[i];
        if (b->in[i])
            continue;
        LZ_TRY(plugin->alloc(0, args[i]->nbytes, &b->in[i]));
        LZ_TRY(plugin->copy_in(b->in[i], args[i]->data, args[i]->nbytes));
    }
    return LZ_OK;
}

static bool arguments_kept(const lz_func *f, lz_literal *const *args, const buffers *b,
                           lz_diff_result *r)
{
    for (uint32_t i = 0; i < f->nparam; i++) {
        lz_literal *now = b->given[i] ? NULL : lz_literal_new(args[i]->type);
        if (!now)
            continue;
        bool same = plugin->copy_out(b->in[i], now->data, now->nbytes) == LZ_OK &&
                    memcmp(now->data, args[i]->data, now->nbytes) == 0;
        lz_literal_release(now);
        if (!same) {
            snprintf(r->msg, sizeof r->msg, "argument %u was not given away and has changed", i);
            return false;
        }
    }
    return true;
}

static lz_status download(const lz_func *f, buffers *b, lz_literal **got)
{
    for (uint32_t k = 0; k < f->nresult; k++) {
        if (!got[k])
            got[k] = lz_literal_new(lz_val_type(f, f->results[k]));
        if (!got[k])
            return LZ_EMEM;
        LZ_TRY(plugin->copy_out(b->out[k], got[k]->data, got[k]->nbytes));
        lz_device_buffer_release(b->out[k]);
        b->out[k] = NULL;
    }
    return LZ_OK;
}

/* `times` executions on the same buffers. */
static bool run(lz_exec *x, const lz_func *f, lz_literal *const *args, const bool *give, int times,
                lz_literal **got, lz_diff_result *r)
{
    buffers b = {.in = {NULL}};
    lz_status s = upload(f, args, give, &b);
    for (int i = 0; i < times && s == LZ_OK; i++) {
        lz_event *done = NULL;
        s = plugin->execute(x, 0, b.in, b.given, false, b.out, &done);
        if (s == LZ_OK)
            s = lz_event_wait(done);
        if (s == LZ_OK)
            s = download(f, &b, got);
        lz_event_release(done);
    }
    bool ok = s == LZ_OK ? arguments_kept(f, args, &b, r) : lz_diff_failed("execute", r);
    for (uint32_t i = 0; i < f->nparam; i++)
        lz_device_buffer_release(b.in[i]);
    for (uint32_t k = 0; k < f->nresult; k++)
        lz_device_buffer_release(b.out[k]);
    return ok;
}

static bool run_again(lz_exec *x, const lz_func *f, lz_literal *const *args, const bool *give,
                      const char *what, lz_diff_result *r)
{
    lz_literal *got[256] = {NULL};
    bool ok =
        run(x, f, args, give, give ? 1 : 2, got, r) && lz_diff_same_bits(f, r->got, got, what, r);
    for (uint32_t k = 0; k < f->nresult; k++)
        lz_literal_release(got[k]);
    return ok;
}

static bool from_bytes(lz_exec *x, const lz_func *f, lz_literal *const *args,
                       const lz_compile_options *o, lz_diff_result *r)
{
    lz_buf b = {0};
    lz_exec *y = NULL;
    bool ok = (plugin->serialize(x, &b) == LZ_OK || lz_diff_failed("serialize", r)) &&
              (plugin->deserialize(0, b.data, b.len, o, &y) == LZ_OK ||
               lz_diff_failed("deserialize", r)) &&
              run_again(y, f, args, o->donate, "from bytes", r);
    if (y)
        plugin->exec_free(y);
    lz_buf_free(&b);
    return ok;
}

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
    lz_compile_options o = {.donate = donate};
    if (!plugin)
        plugin = lz_test_plugin("self", NULL);
    if (!plugin || plugin->init() != LZ_OK)
        return lz_diff_failed("init", r);
    if (plugin->compile(0, f, &o, &x) != LZ_OK)
        return refused(f, args, r);
    bool ok = run(x, f, args, NULL, 1, r->got, r) && run_again(x, f, args, NULL, "again", r) &&
              (!donate || run_again(x, f, args, donate, "donated", r)) &&
              from_bytes(x, f, args, &o, r);
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
