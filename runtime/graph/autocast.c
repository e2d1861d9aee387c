/* autocast.c - automatic mixed precision: autocast scopes, and the table of functions. Operands are
 * converted where they enter the outermost public function (lz_tracer_in); the functions it is
 * composed of, and gradients, which are recorded with primitives, are not affected. */
#include "runtime/graph/autocast.h"
#include "runtime/graph/trace_builder.h"
#include <lazuli/amp.h>
#include <string.h>

static const struct {
    const char *function;
    lz_autocast_policy policy;
} rows[] = {
#define LZ_AUTOCAST(function, policy) {#function, LZ_AUTOCAST_##policy},
#include "runtime/graph/autocast.def"
#undef LZ_AUTOCAST
};

lz_autocast_policy lz_autocast_policy_of(const char *function)
{
    size_t low = 0, high = sizeof rows / sizeof *rows;
    while (low < high) {
        size_t mid = (low + high) / 2;
        int d = strcmp(function, rows[mid].function);
        if (d == 0)
            return rows[mid].policy;
        if (d < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return LZ_AUTOCAST_NONE;
}

void lz_tracer_autocast(lz_tracer *c)
{
    c->policy = lz_autocast_policy_of(c->op);
}

static bool applies(const lz_node *x)
{
    lz_dtype d = lz_node_type(x)->dtype;
    return lz_dtype_is_float(d) && d != LZ_F64;
}

lz_node *lz_tracer_autocast_in(lz_tracer *c, lz_node *x)
{
    if (!x || c->policy == LZ_AUTOCAST_WIDEST || !applies(x))
        return x;
    return lz_tracer_convert(c, x, c->policy == LZ_AUTOCAST_F32 ? LZ_F32 : c->thr->autocast);
}

void lz_tracer_widest(lz_tracer *c, lz_node **a, lz_node **b)
{
    if (c->policy != LZ_AUTOCAST_WIDEST || !*a || !*b || !applies(*a) || !applies(*b))
        return;
    lz_dtype d = lz_promote(lz_node_type(*a)->dtype, lz_node_type(*b)->dtype);
    *a = lz_tracer_convert(c, *a, d);
    *b = lz_tracer_convert(c, *b, d);
}

lz_status lz_autocast_begin(lz_dtype dtype)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_thread_state *t = lz_thread_state_get();
    if (!t)
        return lz_error_get()->status;
    lz_status s = LZ_OK;
    if (dtype != LZ_BF16 && dtype != LZ_F16 && dtype != LZ_DTYPE_NONE)
        s = LZ_FAIL(LZ_EDTYPE, "the dtype is %s: bf16 or f16 is needed, or LZ_DTYPE_NONE",
                    lz_dtype_name(dtype));
    if (s == LZ_OK)
        s = lz_vec_push(&t->autocasts, t->autocast);
    if (s != LZ_OK) {
        lz_error_annotate("lz_autocast_begin", NULL);
        return s;
    }
    t->autocast = dtype;
    return LZ_OK;
}

lz_status lz_autocast_end(void)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_thread_state *t = lz_thread_state_get();
    if (!t)
        return lz_error_get()->status;
    if (t->autocasts.len == 0) {
        lz_status s = LZ_FAIL(LZ_ESTATE, "no autocast scope is open on this thread");
        lz_error_annotate("lz_autocast_end", NULL);
        return s;
    }
    t->autocast = t->autocasts.data[--t->autocasts.len];
    return LZ_OK;
}

lz_dtype lz_autocast_dtype(void)
{
    LZ_PUBLIC(LZ_DTYPE_NONE);
    lz_thread_state *t = lz_thread_state_get();
    return t ? t->autocast : LZ_DTYPE_NONE;
}

lz_tensor *lz_autocast_operand_at(const char *function, lz_tensor *t, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_thread_state *thr = lz_thread_state_get();
    lz_autocast_policy p = thr && thr->autocast != LZ_DTYPE_NONE && function
                               ? lz_autocast_policy_of(function)
                               : LZ_AUTOCAST_NONE;
    if (!t || p == LZ_AUTOCAST_NONE || p == LZ_AUTOCAST_WIDEST)
        return t;
    lz_tracer c;
    lz_tracer_begin(&c, "lz_autocast_operand", site);
    c.policy = LZ_AUTOCAST_NONE;
    lz_node *x = lz_tracer_in(&c, t);
    c.policy = p;
    lz_node *y = lz_tracer_autocast_in(&c, x);
    if (x && y == x) {
        lz_tracer_drop(&c);
        return t;
    }
    return lz_tracer_end(&c, y);
}
