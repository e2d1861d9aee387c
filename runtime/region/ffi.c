/* ffi.c - custom calls: lz_ffi_register, lz_custom_call. See lazuli/ffi.h. Threads: thread-safe. */
#include "ir/attr.h"
#include "ir/custom_call.h"
#include "ir/module.h"
#include "runtime/graph/trace_builder.h"
#include <lazuli/ffi.h>
#include <string.h>

lz_status lz_ffi_register(const char *target, lz_ffi_handler *handler, void *user)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_status s = lz_ffi_table_register(target, handler, user);
    if (s != LZ_OK)
        lz_error_annotate("lz_ffi_register", NULL);
    return s;
}

enum { MOST = 1024 }; /* operands, and results */

static lz_status check(const char *target, lz_tensor *const *args, int nargs,
                       const lz_ffi_type *rets, int nrets, lz_tensor **out)
{
    lz_ffi_entry e;
    if (!target || !args || !rets || (!out && nrets > 1))
        return LZ_FAIL(LZ_ENULL, "%s is NULL",
                       !target ? "target"
                       : !args ? "args"
                       : !rets ? "rets"
                               : "out");
    if (nargs < 1 || nargs > MOST || nrets < 1 || nrets > MOST)
        return LZ_FAIL(LZ_EINVAL, "%d operands and %d results: 1..%d are possible", nargs, nrets,
                       MOST);
    return lz_ffi_table_find(target, &e);
}

/* The attribute, from untrusted texts and types. */
static bool record(const char *target, const char *config, const lz_ffi_type *rets, int nrets,
                   lz_attr_any *a)
{
    const lz_type **t = lz_calloc((size_t)nrets, sizeof *t);
    bool ok = t != NULL;
    if (!ok)
        (void)LZ_FAIL(LZ_EMEM, "no memory for %d results", nrets);
    for (int k = 0; k < nrets && ok; k++)
        ok = (t[k] = lz_type_get(rets[k].dtype, &rets[k].shape)) != NULL;
    lz_attr_init(a, LZ_ATTR_call);
    lz_attr_call *r = &a->as_call;
    ok = ok && (r->call_target_name = lz_string_get(target, strlen(target))) != NULL;
    if (ok && config)
        ok = (r->backend_config = lz_string_get(config, strlen(config))) != NULL;
    ok = ok && (r->results = lz_ffi_results(t, (uint32_t)nrets)) != NULL;
    lz_free(t);
    return ok;
}

static lz_node *call_node(lz_tracer *c, lz_tensor *const *args, int nargs, const lz_attr_any *a)
{
    lz_node *r = NULL, **o = lz_calloc((size_t)nargs, sizeof *o);
    bool ok = o != NULL;
    if (!ok)
        (void)LZ_FAIL(LZ_EMEM, "no memory for %d operands", nargs);
    for (int i = 0; i < nargs && ok; i++)
        ok = (o[i] = lz_tracer_in(c, args[i])) != NULL;
    if (ok)
        r = lz_tracer_op(c, LZ_OP_CUSTOM_CALL, &a->head, o, (uint32_t)nargs);
    lz_free(o);
    return r;
}

lz_tensor *lz_custom_call_at(const char *target, const char *backend_config, lz_tensor *const *args,
                             int nargs, const lz_ffi_type *rets, int nrets, lz_tensor **out,
                             const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_tracer c;
    lz_attr_any a;
    lz_node *m = NULL;
    lz_tracer_begin(&c, "lz_custom_call", site);
    if (check(target, args, nargs, rets, nrets, out) == LZ_OK &&
        record(target, backend_config, rets, nrets, &a))
        m = call_node(&c, args, nargs, &a);
    for (int k = 1; out && k < nrets && k < MOST; k++) {
        lz_node *r = lz_tracer_result(&c, m, k);
        out[k] = r && c.thr ? lz_trace_tensor_of(r, site) : lz_trace_error_tensor(c.op, site);
    }
    lz_tensor *first = lz_tracer_end(&c, lz_tracer_result(&c, m, 0));
    if (out && nrets > 0)
        out[0] = first;
    return first;
}
