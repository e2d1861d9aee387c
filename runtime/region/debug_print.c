/* debug_print.c - lz_debug_print: text that a program writes while it runs. It is a custom call
 * with side effects and no results, which the thread's next step runs for what it does
 * (graph/effects.h). Source: jax.debug.print.
 * Threads: thread-safe; the text is written by a thread of the device. */
#include "base/mutex.h"
#include "ir/custom_call.h"
#include "runtime/exec/tensor_text.h"
#include "runtime/graph/effects.h"
#include "runtime/graph/trace_builder.h"
#include <lazuli/debug.h>
#include <stdio.h>
#include <string.h>

#define TARGET "lz_debug_print"
enum { MOST = 64 };

/* ---- running ---- */

/* Blanks to the end of the last line of b. */
static int column_of(const lz_buf *b)
{
    size_t from = b->len;
    while (from > 0 && b->data[from - 1] != '\n')
        from--;
    return (int)(b->len - from);
}

static lz_status write_value(const lz_ffi_buffer *x, lz_buf *out)
{
    const lz_type *type = lz_type_get(x->dtype, &x->shape);
    if (!type)
        return lz_error_get()->status;
    lz_array_text(type, x->data, column_of(out), out);
    return LZ_OK;
}

/* The text is checked where it is recorded: {{ and }} are braces, {} the next value. */
static lz_status print(const lz_ffi_call *call, void *user)
{
    (void)user;
    lz_buf out = {0};
    uint32_t next = 0;
    lz_status s = LZ_OK;
    for (const char *p = call->backend_config; *p && s == LZ_OK; p++) {
        bool brace = (*p == '{' || *p == '}') && p[1];
        if (brace && p[0] == '{' && p[1] == '}' && next < call->nargs)
            s = write_value(&call->args[next++], &out);
        else
            lz_buf_putc(&out, *p);
        p += brace;
    }
    lz_buf_putc(&out, '\n');
    if (s == LZ_OK && fputs(lz_buf_str(&out), stdout) < 0)
        s = LZ_EIO;
    (void)fflush(stdout);
    lz_buf_free(&out);
    return s;
}

/* ---- recording ---- */

static lz_once once = LZ_ONCE_INIT;
static lz_status registered;

static void register_target(void)
{
    registered = lz_ffi_table_register(TARGET, print, NULL);
}

static lz_status check(const char *format, lz_tensor *const *tensors, int n)
{
    int fields = 0;
    if (!format || (n > 0 && !tensors))
        return LZ_FAIL(LZ_ENULL, "%s is NULL", format ? "tensors" : "format");
    if (n < 0 || n > MOST)
        return LZ_FAIL(LZ_EINVAL, "%d tensors: at most %d are possible", n, MOST);
    for (const char *p = format; *p; p++) {
        if (*p != '{' && *p != '}')
            continue;
        if (p[1] != *p && !(p[0] == '{' && p[1] == '}'))
            return LZ_FAIL(LZ_EINVAL,
                           "the format has a single %c at byte %d: {} stands for a tensor, {{ and "
                           "}} for braces",
                           *p, (int)(p - format));
        fields += p[1] != p[0];
        p++;
    }
    if (fields != n)
        return LZ_FAIL(LZ_EINVAL, "the format has %d times {}, but the tensors are %d", fields, n);
    return LZ_OK;
}

/* A call of n operands; of none it has a constant, since an operation has operands. */
static lz_status record(lz_tracer *c, const char *format, lz_tensor *const *tensors, int n)
{
    lz_node *o[MOST] = {NULL};
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_call);
    a.as_call.has_side_effect = true;
    for (int i = 0; i < n; i++)
        if (!(o[i] = lz_tracer_in(c, tensors[i])))
            return lz_error_get()->status;
    if (n == 0)
        o[0] = lz_tracer_const(c, LZ_BOOL, 0, NULL);
    bool ok = o[0] && (a.as_call.call_target_name = lz_string_get(TARGET, strlen(TARGET))) &&
              (a.as_call.backend_config = lz_string_get(format, strlen(format))) &&
              (a.as_call.results = lz_ffi_results(NULL, 0));
    lz_node *m = ok ? lz_tracer_op(c, LZ_OP_CUSTOM_CALL, &a.head, o, n ? (uint32_t)n : 1) : NULL;
    return m ? lz_effects_note(c->thr, m) : lz_error_get()->status;
}

lz_status lz_debug_print_at(const char *format, lz_tensor *const *tensors, int n,
                            const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_api_frame f = lz_api_enter("lz_debug_print", site);
    lz_status s = check(format, tensors, n);
    if (s == LZ_OK) {
        lz_once_run(&once, register_target);
        s = registered == LZ_OK ? LZ_OK : LZ_FAIL(registered, "no memory to register it");
    }
    if (s == LZ_OK) {
        lz_tracer c;
        lz_tracer_begin(&c, "lz_debug_print", site);
        s = c.thr ? record(&c, format, tensors, n) : lz_error_get()->status;
        lz_tracer_drop(&c);
    }
    (void)lz_api_status(s);
    return lz_api_leave(&f, s);
}
