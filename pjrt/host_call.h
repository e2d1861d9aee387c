/* host_call.h - functions of the host's that programs call: an extension of the C API, found in the
 * list that begins at PJRT_Api.extension_start by its type, like those of the standard. A host
 * registers a function under a name, and `stablehlo.custom_call @name` in programs calls it with
 * whole arrays in host memory. It is the ABI for hosts in other languages (python/jax_lazuli):
 * structs grow at their end only. Includes nothing but abi.h. */
#ifndef LZ_PJRT_HOST_CALL_H
#define LZ_PJRT_HOST_CALL_H
#include "backends/pjrt/abi.h"

/* None of the standard's numbers, which count from 0. */
enum { PJRT_EXTENSION_LAZULI_HOST_CALL = 0x4c5a0001 };

/* One call. Arrays are dense and row-major. */
typedef struct PJRT_Lazuli_HostCall {
    size_t struct_size;
    const char *target;         /* the name that it was registered under */
    const char *backend_config; /* the program's text for it; "" without */
    size_t num_args, num_rets;
    void *const *args; /* only read; not NULL, also where there are no bytes */
    const size_t *arg_sizes;
    void *const *rets; /* to be written, all of it */
    const size_t *ret_sizes;
    char *message; /* room for what the program fails with, and how many characters */
    size_t message_size;
} PJRT_Lazuli_HostCall;
/* Called on a thread of the device, or in the one that executes the program, with no lock held; one
 * call of a device after the other, those of several at once. Gives 0 (PJRT_OK), or the code that
 * the program's results fail with. It may use buffers that are there. What would wait for the
 * device, and so for itself, is refused: executing programs, waiting for buffers that are not there
 * yet. */
typedef int32_t (*PJRT_Lazuli_HostFunction)(const PJRT_Lazuli_HostCall *call, void *user);

typedef struct PJRT_Lazuli_HostCall_Extension {
    PJRT_Extension_Base base;
    /* From now on programs that are compiled call fn(call, user); registered again, the later one
     * counts. Both must last as long as the process. PJRT_OK, INVALID_ARGUMENT, RESOURCE_EXHAUSTED.
     */
    int32_t (*register_function)(const char *target, PJRT_Lazuli_HostFunction fn, void *user);
    /* The host ends: from now on every call fails (FAILED_PRECONDITION), and no function is called.
     * Waits for those that run, at most timeout_ms; gives how many still do. */
    uint32_t (*close)(int64_t timeout_ms);
} PJRT_Lazuli_HostCall_Extension;
#endif
