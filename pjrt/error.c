/* error.c - errors of the C API: a code and a message, made from this thread's record or in words.
 * Threads: thread-safe. */
#include "base/alloc.h"
#include "pjrt/plugin.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct failure {
    PJRT_Error base;
    PJRT_Error_Code code;
    char message[LZ_ERROR_TEXT];
} failure;

/* Given where there is no memory for another; it is nobody's. */
static failure no_memory;

static void destroy(PJRT_Error *e)
{
    if (e != &no_memory.base)
        lz_free(e);
}

static void message(const PJRT_Error *e, const char **text, size_t *n)
{
    *text = e ? ((const failure *)e)->message : "";
    *n = strlen(*text);
}

static PJRT_Error_Code get_code(const PJRT_Error *e)
{
    return e ? ((const failure *)e)->code : PJRT_OK;
}

static void for_each_payload(const PJRT_Error *e, PJRT_Error_PayloadVisitor visitor, void *user)
{
    (void)e, (void)visitor, (void)user; /* there is none */
}

static const PJRT_Error_FunctionTable functions = {.struct_size = sizeof functions,
                                                   .instance_size = sizeof(failure),
                                                   .destroy = destroy,
                                                   .message = message,
                                                   .get_code = get_code,
                                                   .for_each_payload = for_each_payload};
static failure no_memory = {{&functions}, PJRT_RESOURCE_EXHAUSTED, "host memory is exhausted"};

static failure *new_failure(PJRT_Error_Code code)
{
    failure *f = lz_alloc(sizeof *f);
    if (!f)
        return NULL;
    f->base.vtable = &functions;
    f->code = code;
    f->message[0] = '\0';
    return f;
}

PJRT_Error *lz_pjrt_error(PJRT_Error_Code code, const char *fmt, ...)
{
    failure *f = new_failure(code);
    if (!f)
        return &no_memory.base;
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(f->message, sizeof f->message, fmt, ap);
    va_end(ap);
    return &f->base;
}

/* The host's words for our statuses: XLA raises RESOURCE_EXHAUSTED for memory, and so on. */
static const struct {
    lz_status ours;
    PJRT_Error_Code theirs;
} codes[] = {
    {LZ_OK, PJRT_OK},
    {LZ_EINVAL, PJRT_INVALID_ARGUMENT},
    {LZ_ESHAPE, PJRT_INVALID_ARGUMENT},
    {LZ_EDTYPE, PJRT_INVALID_ARGUMENT},
    {LZ_ENULL, PJRT_INVALID_ARGUMENT},
    {LZ_ERANGE, PJRT_OUT_OF_RANGE},
    {LZ_EHANDLE, PJRT_INVALID_ARGUMENT},
    {LZ_ESTALE, PJRT_INVALID_ARGUMENT},
    {LZ_ESTATE, PJRT_FAILED_PRECONDITION},
    {LZ_EFORK, PJRT_FAILED_PRECONDITION},
    {LZ_EMEM, PJRT_RESOURCE_EXHAUSTED},
    {LZ_EDEVMEM, PJRT_RESOURCE_EXHAUSTED},
    {LZ_EIO, PJRT_DATA_LOSS},
    {LZ_ENOENT, PJRT_NOT_FOUND},
    {LZ_EPARSE, PJRT_INVALID_ARGUMENT},
    {LZ_ECORRUPT, PJRT_DATA_LOSS},
    {LZ_EPERM, PJRT_PERMISSION_DENIED},
    {LZ_EUNSUPPORTED, PJRT_UNIMPLEMENTED},
    {LZ_EUNAVAILABLE, PJRT_UNAVAILABLE},
    {LZ_EDEVICE, PJRT_INTERNAL}, /* the first of a code is what a host's code becomes */
    {LZ_ECOMPILE, PJRT_INTERNAL},
    {LZ_EGRAD, PJRT_INVALID_ARGUMENT},
    {LZ_EINTERNAL, PJRT_INTERNAL},
    {LZ_ECHECK, PJRT_INTERNAL},
};
enum { CODES = sizeof codes / sizeof *codes };

PJRT_Error_Code lz_pjrt_code(lz_status s)
{
    for (int i = 0; i < CODES; i++)
        if (codes[i].ours == s)
            return codes[i].theirs;
    return PJRT_UNKNOWN;
}

lz_status lz_pjrt_status(int32_t code)
{
    for (int i = 0; i < CODES; i++)
        if ((int32_t)codes[i].theirs == code)
            return codes[i].ours;
    return LZ_EDEVICE;
}

PJRT_Error *lz_pjrt_error_of(const lz_error *e)
{
    if (!e || e->status == LZ_OK)
        return NULL;
    failure *f = new_failure(lz_pjrt_code(e->status));
    if (!f)
        return &no_memory.base;
    (void)snprintf(f->message, sizeof f->message, "%s", e->message);
    return &f->base;
}

PJRT_Error *lz_pjrt_failed(void)
{
    PJRT_Error *e = lz_pjrt_error_of(lz_error_get());
    return e ? e : lz_pjrt_error(PJRT_INTERNAL, "a call failed without a reason");
}

/* ---- the API ---- */

PJRT_Error *lz_pjrt_Error_Destroy(PJRT_Error_Destroy_Args *a)
{
    destroy(a->error);
    return NULL;
}

PJRT_Error *lz_pjrt_Error_Message(PJRT_Error_Message_Args *a)
{
    message(a->error, &a->message, &a->message_size);
    return NULL;
}

PJRT_Error *lz_pjrt_Error_GetCode(PJRT_Error_GetCode_Args *a)
{
    a->code = (int32_t)get_code(a->error);
    return NULL;
}

/* An error here would be asked for its payloads in turn. */
PJRT_Error *lz_pjrt_Error_ForEachPayload(PJRT_Error_ForEachPayload_Args *a)
{
    for_each_payload(a->error, a->visitor, a->user_arg);
    return NULL;
}
