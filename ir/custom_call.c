/* custom_call.c - the registry of functions that custom_call calls, its shape rule and its
 * reference evaluation. See custom_call.h. Threads: thread-safe. */
#include "ir/custom_call.h"
#include "base/alloc.h"
#include "base/callout.h"
#include "base/mutex.h"
#include "ir/infer/infer.h"
#include <string.h>

/* ---- the registry: few entries, looked at once for each program ---- */

typedef struct row {
    char *target;
    lz_ffi_entry entry;
} row;
static lz_mutex lock = LZ_MUTEX_INIT("custom_call");
static LZ_VEC(row) rows;

static row *find(const char *target)
{
    for (uint32_t i = 0; i < rows.len; i++)
        if (strcmp(rows.data[i].target, target) == 0)
            return &rows.data[i];
    return NULL;
}

static lz_status add(const char *target, lz_ffi_entry e)
{
    row r = {lz_alloc(strlen(target) + 1), e};
    if (!r.target)
        return LZ_FAIL(LZ_EMEM, "no memory to register '%s'", target);
    strcpy(r.target, target);
    lz_status s = lz_vec_push(&rows, r);
    if (s != LZ_OK)
        lz_free(r.target);
    return s;
}

lz_status lz_ffi_table_register(const char *target, lz_ffi_handler *handler, void *user)
{
    if (!target || !*target)
        return LZ_FAIL(LZ_EINVAL, "a function of no name cannot be registered");
    lz_ffi_entry e = {handler, user};
    lz_status s = LZ_OK;
    lz_mutex_lock(&lock);
    row *r = find(target);
    if (r && handler) {
        r->entry = e;
    } else if (r) {
        lz_free(r->target);
        *r = rows.data[--rows.len];
        if (rows.len == 0)
            lz_vec_free(&rows);
    } else if (handler) {
        s = add(target, e);
    }
    lz_mutex_unlock(&lock);
    return s;
}

lz_status lz_ffi_table_find(const char *target, lz_ffi_entry *out)
{
    lz_mutex_lock(&lock);
    const row *r = find(target);
    if (r)
        *out = r->entry;
    lz_mutex_unlock(&lock);
    return r ? LZ_OK
             : LZ_FAIL(LZ_ENOENT, "custom_call: no function is registered as @%.200s", target);
}

/* ---- calling ---- */

static void describe(lz_ffi_buffer *b, const lz_type *t, void *data)
{
    static _Alignas(64) char nothing[64]; /* what an empty array points at */
    *b = (lz_ffi_buffer){t->dtype, t->shape, t->nbytes, t->nbytes ? data : nothing};
}

lz_status lz_ffi_invoke(const lz_ffi_target *c, const lz_ffi_entry *e, void *const *bufs)
{
    char message[LZ_FFI_MESSAGE] = "";
    uint32_t nrets = c->silent ? 0 : c->nrets;
    lz_ffi_buffer *b = lz_calloc((size_t)c->nargs + nrets + 1, sizeof *b);
    if (!b)
        return LZ_FAIL(LZ_EMEM, "custom_call @%.200s: no memory for %u values", c->target,
                       c->nargs);
    for (uint32_t k = 0; k < nrets; k++)
        describe(&b[k], c->ret[k], bufs[k]);
    for (uint32_t k = 0; k < c->nargs; k++)
        describe(&b[nrets + k], c->arg[k], bufs[c->nrets + k]);
    lz_ffi_call call = {.target = c->target,
                        .backend_config = c->config,
                        .nargs = c->nargs,
                        .nrets = nrets,
                        .args = b + nrets,
                        .rets = b,
                        .message = message};
    lz_status s = LZ_OK;
    LZ_CALL_OUT("a custom call")
    s = e->handler(&call, e->user);
    message[sizeof message - 1] = '\0';
    if (s != LZ_OK)
        s = LZ_FAIL(s, "custom_call @%.200s: %s", c->target,
                    *message ? message : lz_status_message(s));
    lz_free(b);
    return s;
}

void lz_ffi_of(const lz_sig *s, lz_ffi_target *out)
{
    const lz_attr_call *a = LZ_ATTR(call, s->attr);
    *out = (lz_ffi_target){.target = a->call_target_name ? a->call_target_name : "",
                           .config = a->backend_config ? a->backend_config : "",
                           .nargs = s->nopnd,
                           .nrets = s->nresult,
                           .ret = s->result,
                           .arg = s->opnd,
                           .silent = lz_ffi_is_silent(s)};
}

bool lz_ffi_is_silent(const lz_sig *s)
{
    return s->attr->kind == LZ_ATTR_call && LZ_ATTR(call, s->attr)->results->nresult == 0;
}

/* A function of the results that gives them. */
const lz_func *lz_ffi_results(const lz_type *const *types, uint32_t n)
{
    const lz_func *r = NULL;
    lz_func *f = lz_func_new("results");
    LZ_VEC(lz_val) v = {0};
    lz_status s = f ? LZ_OK : LZ_EMEM;
    for (uint32_t i = 0; i < n && s == LZ_OK; i++)
        s = lz_vec_push(&v, lz_build_param(f, types[i]));
    if (s == LZ_OK && lz_func_set_results(f, v.data, v.len) == LZ_OK)
        r = lz_region_intern(f);
    lz_vec_free(&v);
    lz_func_free(f);
    return r;
}

/* ---- the row's rules ---- */

/* The results are those of the region, which says nothing but their types. */
lz_status lz_infer_custom_call(lz_infer *c)
{
    const lz_attr_call *a = LZ_ATTR(call, c->attr);
    if (!a->call_target_name || !*a->call_target_name)
        return LZ_FAIL(LZ_EINVAL, "%s: call_target_name is missing", c->name);
    if (!a->results || (a->results->nresult == 0 && !a->has_side_effect))
        return LZ_FAIL(LZ_EINVAL, "%s: @%.200s has neither results nor a side effect", c->name,
                       a->call_target_name);
    if (a->results->nresult == 0)
        return lz_infer_give(c, LZ_BOOL, &(lz_shape){.rank = 1});
    c->nresult = a->results->nresult;
    for (uint32_t k = 0; k < c->nresult; k++)
        c->result[k] = lz_val_type(a->results, a->results->results[k]);
    return LZ_OK;
}
