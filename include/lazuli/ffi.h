/* ffi.h - functions of the program's own in compiled programs: StableHLO's custom_call by name.
 * Threads: thread-safe.
 * Implemented in: runtime/region/ffi.c. */
#ifndef LZ_FFI_H
#define LZ_FFI_H
#include <lazuli/tensor.h>

LZ_EXTERN_C_BEGIN

/* From now on, `stablehlo.custom_call @target` calls handler(call, user) (types.h: lz_ffi_handler),
 * with its operands and results as arrays in host memory, of any dtypes and shapes. Registered
 * again, the later one counts; NULL takes the entry away. Programs that are there already keep
 * calling what they were made with; stored ones look the name up when they are loaded.
 * A call is made when a result is needed, in the order of the data; two are never merged. Where a
 * text says has_side_effect, or has no results, always, in its order. There is no gradient.
 * On devices with memory of their own the arrays are copied there and back.
 * The handler runs on the device's thread, with no lock held. It may call the library, record
 * operations and read values that are there; what would compute or wait for a device, and so for
 * itself, gives LZ_ESTATE.
 * Errors: LZ_EINVAL target is NULL or empty, LZ_EMEM. A program whose target has no handler:
 * LZ_EUNSUPPORTED where its text is read, LZ_ENOENT where it is made.
 * Source: StableHLO's custom_call; the calls are named as those of XLA's FFI. */
LZ_API lz_status lz_ffi_register(const char *target, lz_ffi_handler *handler, void *user);

/* Such a call in the program that is being recorded: handler(call, user) gets the elements of args
 * (at least one tensor, all on one device) when the program runs, and fills the nrets (at least 1)
 * results. backend_config: text for the handler; NULL is "". out[0..nrets-1] are handles of the
 * innermost scope, error tensors on failure; out[0] is returned, and out may be NULL when nrets is
 * 1. The target must be registered.
 * Errors: LZ_EINVAL counts, LZ_ENULL, LZ_ENOENT no handler, LZ_EDTYPE, LZ_ESHAPE; LZ_EGRAD when a
 * gradient through it is asked for. */
typedef struct lz_ffi_type {
    lz_dtype dtype;
    lz_shape shape;
} lz_ffi_type;
LZ_API lz_tensor *lz_custom_call_at(const char *target, const char *backend_config,
                                    lz_tensor *const *args, int nargs, const lz_ffi_type *rets,
                                    int nrets, lz_tensor **out, const lz_site *site);
#define lz_custom_call(target, config, args, nargs, rets, nrets, out)                              \
    lz_custom_call_at(target, config, args, nargs, rets, nrets, out, LZ_SITE)

LZ_EXTERN_C_END
#endif
