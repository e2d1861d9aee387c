/* eval_call.c - reference evaluation of ops that leave the program: custom calls run the function
 * registered under their target's name; collectives fail, because one device has no other
 * participants.
 * Threads: thread-safe; the callee's thread rule is its own. */
#include "ir/eval/eval.h"
#include "ir/collective.h"
#include "ir/custom_call.h"
#include <string.h>

lz_status lz_ref_custom_call(const lz_ref_call *c)
{
    lz_ffi_target call;
    lz_ffi_entry e;
    lz_ffi_of(c->sig, &call);
    LZ_TRY(lz_ffi_table_find(call.target, &e));
    LZ_TRY(lz_ref_alloc(c));
    void **bufs = lz_calloc((size_t)call.nargs + call.nrets + 1, sizeof *bufs);
    if (!bufs)
        return LZ_FAIL(LZ_EMEM, "custom_call: no memory for %u values", call.nargs);
    for (uint32_t k = 0; k < call.nrets; k++)
        bufs[k] = c->result[k]->data;
    for (uint32_t k = 0; k < call.nargs; k++)
        bufs[call.nrets + k] = c->opnd[k]->data;
    lz_status s = lz_ffi_invoke(&call, &e, bufs);
    lz_free(bufs);
    return s;
}

lz_status lz_ref_collective(const lz_ref_call *c)
{
    return lz_collective_refuse(c->sig);
}

lz_status lz_ref_place(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    memset(c->result[0]->data, 0, c->result[0]->nbytes);
    return LZ_OK;
}
