/* callback.c - see callback.h. */
#include "runtime/region/callback.h"
#include <string.h>

lz_status lz_call_take(lz_call *c, lz_tensor *const *t, int n, const char *what)
{
    if (n < 0 || n > LZ_CALL_MOST)
        return LZ_FAIL(LZ_EINVAL, "%d %s", n, what);
    if (n && !t)
        return LZ_FAIL(LZ_ENULL, "%s is NULL", what);
    for (int i = 0; i < n; i++) {
        lz_node *x = t[i] ? lz_trace_node_of(t[i]) : NULL;
        if (!t[i])
            return LZ_FAIL(LZ_ENULL, "%s[%d] is NULL", what, i);
        if (!x)
            return lz_error_get()->status;
        if (lz_vec_push(&c->in, x) != LZ_OK) {
            lz_node_release(x);
            return LZ_EMEM;
        }
        if (!c->dev && !lz_node_is_host(x))
            c->dev = x->dev;
    }
    return LZ_OK;
}

lz_status lz_call_open_from(lz_call *c, const char *op, const lz_site *site, lz_tensor **out,
                            int nout, void *caller)
{
    memset(c, 0, sizeof *c);
    c->frame = lz_api_enter_from(op, site, caller);
    c->site = site;
    c->out = out;
    c->nout = nout > 0 ? nout : 0;
    return out || nout <= 0 ? LZ_OK : LZ_FAIL(LZ_ENULL, "out is NULL");
}

lz_status lz_call_device(lz_call *c)
{
    if (!c->dev && c->in.len)
        c->dev = c->in.data[0]->dev;
    if (!c->dev)
        c->dev = lz_dev_current();
    return c->dev ? LZ_OK : lz_error_get()->status;
}

lz_status lz_call_close(lz_call *c, lz_status s, lz_node **nodes, int n)
{
    lz_status told = lz_api_results(&c->frame, s, c->out, c->nout, nodes, c->site);
    for (int i = 0; nodes && i < n; i++)
        lz_node_release(nodes[i]);
    lz_free(nodes);
    for (uint32_t i = 0; i < c->in.len; i++)
        lz_node_release(c->in.data[i]);
    lz_vec_free(&c->in);
    (void)lz_api_leave(&c->frame, told);
    return s;
}

/* ---- inside a body ---- */

lz_status lz_body_handles(lz_body *b, lz_node *const *like, uint32_t n, lz_tensor **out)
{
    for (uint32_t i = 0; i < n; i++) {
        out[i] = lz_body_tensor(b, lz_node_type(like[i]));
        LZ_TRY(lz_status_of(out[i]));
    }
    return LZ_OK;
}

lz_status lz_body_results(lz_tensor *const *t, uint32_t n, const lz_type *const *want,
                          const char *what, lz_node **out)
{
    for (uint32_t i = 0; i < n; i++) {
        char a[128], b[128];
        if (!t[i])
            return LZ_FAIL(LZ_ENULL, "%s %u was not given", what, i);
        if (!(out[i] = lz_trace_node_of(t[i])))
            return lz_error_get()->status;
        const lz_type *have = lz_node_type(out[i]);
        if (want && have != want[i])
            return LZ_FAIL(have->dtype != want[i]->dtype ? LZ_EDTYPE : LZ_ESHAPE,
                           "%s %u is %s, but must be %s", what, i, lz_type_short(have, a, sizeof a),
                           lz_type_short(want[i], b, sizeof b));
    }
    return LZ_OK;
}
