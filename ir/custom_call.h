/* custom_call.h - the registry of functions of the program's own that custom_call calls.
 * Threads: thread-safe. */
#ifndef LZ_IR_CUSTOM_CALL_H
#define LZ_IR_CUSTOM_CALL_H
#include "ir/op.h"

typedef struct lz_ffi_entry {
    lz_ffi_handler *handler;
    void *user;
} lz_ffi_entry;

/* What one custom_call is, whoever executes it. Strings live as long as what they came from. */
typedef struct lz_ffi_target {
    const char *target, *config;
    uint32_t nargs, nrets;
    const lz_type *const *ret, *const *arg;
    /* it gives no results: ret[0] is bool[0], a value that stands for the call and is not handed
     * to it */
    bool silent;
} lz_ffi_target;
/* The record's `results`: interned. NULL: LZ_EMEM. */
const struct lz_func *lz_ffi_results(const lz_type *const *types, uint32_t n);
void lz_ffi_of(const lz_sig *s, lz_ffi_target *out);

/* handler NULL: takes the entry away. Errors: LZ_EINVAL no name, LZ_EMEM. */
lz_status lz_ffi_table_register(const char *target, lz_ffi_handler *handler, void *user);
/* Errors: LZ_ENOENT naming the target. */
lz_status lz_ffi_table_find(const char *target, lz_ffi_entry *out);
bool lz_ffi_is_silent(const lz_sig *s); /* of any operation */
/* Calls it on host memory; what it returns, with its message and the target's name. bufs: results,
 * then arguments. Errors: its own, LZ_EMEM. */
lz_status lz_ffi_invoke(const lz_ffi_target *c, const lz_ffi_entry *e, void *const *bufs);
#endif
