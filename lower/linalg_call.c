/* linalg_call.c - see linalg_call.h. The text of the call is the operation's name and its
 * attributes as numbers, in order: "lazuli.eig 0 1". */
#include "lower/linalg_call.h"
#include "base/alloc.h"
#include "base/status.h"
#include "base/text.h"
#include "ir/attr.h"
#include "ir/custom_call.h"
#include "ir/op.h"
#include "lower/linalg_sig.h"
#include <stdio.h>
#include <string.h>

#define TARGET "lazuli.linalg"
enum { MOST_OPERANDS = 4, MOST_RESULTS = 4 };

/* The attributes that the text has after the name: a space before each. */
static bool read_attributes(const char *text, lz_attr_any *at)
{
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    int n = lz_attr_fields(&at->head, f);
    for (int i = 0; i < n; i++) {
        uint64_t v;
        size_t len = *text == ' ' ? lz_text_digits(text + 1, strlen(text + 1), &v) : 0;
        if (len == 0 || v > INT64_MAX)
            return false;
        text += 1 + len;
        if (f[i].type == LZ_FIELD_I64)
            *f[i].i64 = (int64_t)v;
        else
            *f[i].flag = v != 0;
    }
    return *text == 0;
}

/* What the call is of: its arguments' types are those of a row of class LINALG, and its results'
 * are those of the row. NULL: it is none. */
static const lz_sig *sig_of(const lz_ffi_call *call)
{
    const char *end = strchr(call->backend_config, ' ');
    size_t n = end ? (size_t)(end - call->backend_config) : strlen(call->backend_config);
    const lz_type *types[MOST_OPERANDS];
    if (call->nargs < 1 || call->nargs > MOST_OPERANDS)
        return NULL;
    for (uint32_t k = 0; k < (uint32_t)call->nargs; k++)
        if (!(types[k] = lz_type_get(call->args[k].dtype, &call->args[k].shape)))
            return NULL;
    for (lz_op op = 1; op < LZ_OP_COUNT; op++) {
        const lz_op_info *info = lz_op_get(op);
        if (info->cls != LZ_CLASS_LINALG || strlen(info->text) != n ||
            memcmp(info->text, call->backend_config, n) != 0)
            continue;
        lz_attr_any at;
        lz_attr_init(&at, info->attr);
        const lz_sig *s = read_attributes(call->backend_config + n, &at)
                              ? lz_sig_get(op, lz_attr_get(&at.head), types, (uint32_t)call->nargs)
                              : NULL;
        bool fits = s && s->nresult == (uint32_t)call->nrets;
        for (uint32_t k = 0; fits && k < s->nresult; k++)
            fits = s->result[k] == lz_type_get(call->rets[k].dtype, &call->rets[k].shape);
        return fits ? s : NULL;
    }
    return NULL;
}

static lz_status compute(const lz_ffi_call *call, void *user)
{
    (void)user;
    const lz_sig *s = sig_of(call);
    if (!s) {
        (void)snprintf(call->message, LZ_FFI_MESSAGE, "'%.80s' is no routine of these types",
                       call->backend_config);
        return LZ_EINVAL;
    }
    if (s->opnd[0]->nelem == 0)
        return LZ_OK;
    lz_linalg_task t = lz_linalg_task_of(s);
    size_t n = lz_linalg_scratch(&t);
    char *scratch = n < SIZE_MAX - 64 ? lz_alloc(n + 64) : NULL;
    if (!scratch) {
        (void)snprintf(call->message, LZ_FFI_MESSAGE, "no memory for matrices of %lld rows",
                       (long long)t.m);
        return LZ_EMEM;
    }
    void *bufs[MOST_OPERANDS + MOST_RESULTS];
    for (uint32_t k = 0; k < s->nresult; k++)
        bufs[k] = call->rets[k].data;
    for (uint32_t k = 0; k < s->nopnd; k++)
        bufs[s->nresult + k] = call->args[k].data;
    lz_linalg_run(bufs, (const int64_t *)(const void *)&t, 0, lz_linalg_count(s),
                  (void *)LZ_ALIGN_UP((uintptr_t)scratch, 64));
    lz_free(scratch);
    return LZ_OK;
}

lz_status lz_linalg_call_register(const char *target)
{
    return strcmp(target, TARGET) == 0 ? lz_ffi_table_register(TARGET, compute, NULL) : LZ_OK;
}

void lz_linalg_call_build(lz_func *f, const lz_sig *s, const lz_val *opnd, lz_val *out)
{
    char text[96];
    lz_attr_field field[LZ_ATTR_MAX_FIELDS];
    int n = lz_attr_fields(s->attr, field),
        at = snprintf(text, sizeof text, "%s", lz_op_get(s->op)->text);
    for (int i = 0; i < n; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, " %lld",
                       field[i].type == LZ_FIELD_I64 ? (long long)*field[i].i64
                                                     : (long long)*field[i].flag);
    for (uint32_t k = 0; k < s->nresult; k++)
        out[k] = LZ_NOVAL;
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_call);
    a.as_call.call_target_name = lz_string_get(TARGET, strlen(TARGET));
    a.as_call.backend_config = lz_string_get(text, strlen(text));
    a.as_call.results = lz_ffi_results(s->result, s->nresult);
    if (lz_linalg_call_register(TARGET) != LZ_OK || !a.as_call.call_target_name ||
        !a.as_call.backend_config || !a.as_call.results) {
        f->status = lz_error_get()->status;
        return;
    }
    lz_val v = lz_build(f, LZ_OP_CUSTOM_CALL, &a.head, opnd, s->nopnd);
    if (s->nresult == 1)
        out[0] = v;
    else
        lz_build_all_results(f, v, s->nresult, out);
}
