/* tensor.h - tensors: making, reading, lifetimes, in-place update, steps.
 *
 * Model. Operations do not compute: they record. A step (lz_mark_step) or a read (lz_item,
 * lz_to_host) compiles what was recorded, once per distinct graph, and runs it asynchronously on
 * the device.
 * Handles. Every function that returns a lz_tensor * returns a handle, always. A failing operation
 * returns an error tensor that carries the first error; operations on it return it unchanged;
 * lz_status_of, lz_mark_step, lz_item and lz_to_host report it.
 * Lifetimes. A returned handle belongs to the innermost open scope of the calling thread and is
 * released when that scope ends. lz_retain keeps it longer, until lz_release. Releasing never loses
 * what a pending graph still needs. A stale handle is detected (LZ_EHANDLE), never followed.
 * Steps. lz_mark_step computes every live tensor that the thread made or assigned on its device and
 * that is retained, was assigned to, has one element, or that no other operation consumed, or that
 * was made before the innermost scope was opened. Other intermediates of that scope are dropped:
 * reading one after the step gives LZ_ESTALE, which says so (lz_retain it before the step).
 * Threads. Handles may be used from any thread; scopes, the last error and the default device
 * belong to a thread.
 * Implemented in: runtime/exec/host_transfer.c, ops/creation.c, runtime/exec/to_device.c,
 *   runtime/graph/scope.c, runtime/exec/sync.c. */
#ifndef LAZULI_TENSOR_H
#define LAZULI_TENSOR_H
#include <lazuli/types.h>
LZ_EXTERN_C_BEGIN

typedef struct lz_tensor lz_tensor;

/* ---- making: any dtype unless said. Errors of all, as an error tensor: LZ_ESHAPE (rank, negative
 * extents), LZ_EDTYPE, LZ_ERANGE (too many bytes), LZ_EMEM ---- */
/* Copies `shape` elements of `dtype` from row-major host memory, of which nbytes are at data;
 * (size_t)-1: unknown. Errors: LZ_ENULL, LZ_ESHAPE, LZ_EDTYPE, LZ_ERANGE (also: nbytes are too
 * few), LZ_EMEM, LZ_EDEVMEM. */
LZ_API lz_tensor *lz_from_host_at(lz_dtype dtype, lz_shape shape, const void *data, size_t nbytes,
                                  const lz_site *site);
/* lz_from_host_at, where data has the elements of dtype `host` (LZ_F64: double), as the macro
 * lz_from_host tells it. LZ_EDTYPE where dtype stores its elements in another way: f16 and bf16
 * take 16-bit integers, integers those of their width with or without sign, c64 also float and c128
 * also double, in pairs, f32 and f64 also their bits as unsigned integers. LZ_DTYPE_NONE: not
 * known, as it is of void *, of types of one byte and of structs; nothing is checked then. */
LZ_API lz_tensor *lz_from_host_typed_at(lz_dtype dtype, lz_shape shape, const void *data,
                                        size_t nbytes, lz_dtype host, const lz_site *site);
/* As lz_from_host of as many zeros, which the caller does not need; on the CPU nothing is made or
 * copied either. Values of their own, such as an optimizer starts from, not a part of the program
 * as those of lz_zeros are.
 * Errors: LZ_ESHAPE, LZ_EDTYPE, LZ_ERANGE, LZ_EMEM, LZ_EDEVMEM. */
LZ_API lz_tensor *lz_from_zeros_at(lz_dtype dtype, lz_shape shape, const lz_site *site);
/* Borrows nbytes of host memory ((size_t)-1: unknown) without a copy where the device can (64-byte
 * aligned, host-addressable), else copies at once. `release(user)` is called exactly once when
 * Lazuli needs the memory no longer, also on error. The memory must not change meanwhile. release
 * is called on any thread, also the device's own, with no lock held: it may call the library, but
 * where it runs on a device's thread whatever would compute or wait for a device gives LZ_ESTATE.
 * Errors as lz_from_host. */
LZ_API lz_tensor *lz_from_borrowed_at(lz_dtype dtype, lz_shape shape, void *data, size_t nbytes,
                                      void (*release)(void *user), void *user, const lz_site *site);
/* lz_from_borrowed_at of data whose elements have the C type of dtype `host`, as
 * lz_from_host_typed_at checks it. */
LZ_API lz_tensor *lz_from_borrowed_typed_at(lz_dtype dtype, lz_shape shape, void *data,
                                            size_t nbytes, lz_dtype host,
                                            void (*release)(void *user), void *user,
                                            const lz_site *site);
/* Every element is value. The number is a run-time argument: another one compiles nothing.
 * LZ_ERANGE: an integer dtype cannot hold its whole part. */
LZ_API lz_tensor *lz_full_at(lz_dtype dtype, lz_shape shape, double value, const lz_site *site);
/* Zeros, as a constant of the program: recorded, not uploaded. */
LZ_API lz_tensor *lz_zeros_at(lz_dtype dtype, lz_shape shape, const lz_site *site);
/* Ones, as a constant of the program: recorded, not uploaded. */
LZ_API lz_tensor *lz_ones_at(lz_dtype dtype, lz_shape shape, const lz_site *site);
/* A number of rank 0. It is a run-time argument except 0, 1 and -1, which are constants of the
 * program. LZ_ERANGE as lz_full. */
LZ_API lz_tensor *lz_scalar_at(lz_dtype dtype, double value, const lz_site *site);
/* Each element is its index along dim. Not boolean. */
LZ_API lz_tensor *lz_iota_at(lz_dtype dtype, lz_shape shape, int64_t dim, const lz_site *site);
/* ATen arange: ceil((end-start)/step) elements; integers and floats. LZ_EINVAL: step does not lead
 * to end; LZ_ERANGE: the dtype cannot hold all of them */
LZ_API lz_tensor *lz_arange_at(lz_dtype dtype, double start, double end, double step,
                               const lz_site *site);
/* Random numbers: Philox4x32-10 from the device's seed (lz_manual_seed); the same on every device.
 * Float dtypes. */
/* Random numbers, uniform in [0, 1). */
LZ_API lz_tensor *lz_rand_at(lz_dtype dtype, lz_shape shape, const lz_site *site);
/* Random numbers of the standard normal distribution (Box-Muller). */
LZ_API lz_tensor *lz_randn_at(lz_dtype dtype, lz_shape shape, const lz_site *site);
/* Macros whose last argument is an array take any number of commas in it, so that a compound
 * literal may stand there: lz_from_host(LZ_F32, LZ_SHAPE(2), (float[]){1, 2}). lz_from_host and
 * lz_from_borrowed (types.h) check the type that data points to and, where the compiler sees
 * the array, its size. */
#define lz_from_zeros(dtype, shape) lz_from_zeros_at(dtype, shape, LZ_SITE)
#define lz_full(dtype, shape, value) lz_full_at(dtype, shape, value, LZ_SITE)
#define lz_zeros(dtype, shape) lz_zeros_at(dtype, shape, LZ_SITE)
#define lz_ones(dtype, shape) lz_ones_at(dtype, shape, LZ_SITE)
#define lz_scalar(dtype, value) lz_scalar_at(dtype, value, LZ_SITE)
#define lz_iota(dtype, shape, dim) lz_iota_at(dtype, shape, dim, LZ_SITE)
#define lz_arange(dtype, start, end, step) lz_arange_at(dtype, start, end, step, LZ_SITE)
#define lz_rand(dtype, shape) lz_rand_at(dtype, shape, LZ_SITE)
#define lz_randn(dtype, shape) lz_randn_at(dtype, shape, LZ_SITE)
/* Seed of the calling thread's default device, for the random operations recorded from now on; its
 * counter starts again. Without it the seed is 0.
 * LZ_EUNAVAILABLE and the like when the device cannot start. */
LZ_API lz_status lz_manual_seed(uint64_t seed);
/* Where the generator of the calling thread's default device stands: to go on later, or in another
 * process, with the same numbers. LZ_ENULL, LZ_EUNAVAILABLE. */
typedef struct lz_rng_state {
    uint64_t seed, counter;
} lz_rng_state;
/* Copies the state of the random number generator of the calling thread's default device, to go on
 * later, or in another process, with the same numbers. LZ_ENULL, LZ_EUNAVAILABLE. */
LZ_MUST_USE LZ_API lz_status lz_get_rng_state(lz_rng_state *out);
/* Restores what lz_get_rng_state gave: the next random numbers are those that followed it.
 * LZ_ENULL, LZ_EUNAVAILABLE. */
LZ_MUST_USE LZ_API lz_status lz_set_rng_state(const lz_rng_state *state);

/* ---- asking (never executes) ---- */
/* Whether t can be used: LZ_OK, an error tensor's status, LZ_ENULL, LZ_EHANDLE or LZ_ESTALE. */
LZ_API lz_status lz_status_of(const lz_tensor *t);
/* Element type of t; LZ_DTYPE_NONE for an error tensor. */
LZ_API lz_dtype lz_dtype_of(const lz_tensor *t);
/* Shape of t; rank -1 for an error tensor. */
LZ_API lz_shape lz_shape_of(const lz_tensor *t);
/* Number of dimensions of t; -1 for an error tensor. */
LZ_API int32_t lz_rank_of(const lz_tensor *t);
/* Number of elements of t; -1 for an error tensor. */
LZ_API int64_t lz_numel(const lz_tensor *t);
/* Bytes that the elements of t take in host memory; 0 for an error tensor. */
LZ_API size_t lz_nbytes(const lz_tensor *t);

/* ---- reading (executes what is needed and waits for just that) ---- */
/* Copies all elements, row-major, to dst, which has room for nbytes >= lz_nbytes(t). Errors:
 * LZ_ENULL, LZ_ERANGE (nbytes), LZ_EHANDLE, LZ_ESTALE, t's own error, whatever compiling or
 * executing gives (LZ_ECOMPILE, LZ_EDEVMEM, LZ_EDEVICE, ...). */
LZ_MUST_USE LZ_API lz_status lz_to_host_at(lz_tensor *t, void *dst, size_t nbytes,
                                           const lz_site *site);
/* The single element of a one-element tensor as a double. On failure NaN, and the last error says
 * why. */
LZ_API double lz_item_at(lz_tensor *t, const lz_site *site);
/* The single element of a one-element tensor as an int64. On failure INT64_MIN, and the last error
 * says why. */
LZ_API int64_t lz_item_i64_at(lz_tensor *t, const lz_site *site);
#define lz_to_host(...) lz_to_host_at(__VA_ARGS__, LZ_SITE)
#define lz_item(t) lz_item_at(t, LZ_SITE)
#define lz_item_i64(t) lz_item_i64_at(t, LZ_SITE)

/* ---- other devices ---- */
/* The value of x on another device ("CUDA:1"; NULL: the calling thread's), where operations on it
 * are from then on: operands of one operation are on one device, numbers excepted. x itself, as it
 * is, when it is there already. What is still to be computed of x is started, and nothing is waited
 * for when both are GPUs: the copy goes from one to the other behind what makes x, and what is
 * executed on the result comes behind the copy. x may be released or assigned to at once. Other
 * pairs of devices go through the host's memory, and there the call waits for x. The result is a
 * value of its own: gradients end at it (lz_grad of it, moved back, is the grad_output of x). Where
 * x is made of a tensor that requires one, that is warned of once. Errors, as an error tensor:
 * LZ_ENULL, LZ_ENOENT, LZ_EUNAVAILABLE, LZ_EDEVMEM (the other device has no room), LZ_EMEM,
 * LZ_EINVAL (inside of a body of control.h), LZ_EDEVICE, x's own error. One that the copy meets
 * later reaches whoever reads the result. Source: torch.Tensor.to(device). */
LZ_API lz_tensor *lz_to_device_at(lz_tensor *x, const char *device, const lz_site *site);
#define lz_to_device(x, device) lz_to_device_at(x, device, LZ_SITE)
/* Name of the device that t is on ("CPU:0"); never executes. The needed size without NUL; 0 with an
 * error when t has no value. */
LZ_API size_t lz_device_of(const lz_tensor *t, char *buf, size_t n);

/* ---- lifetimes ---- */
/* Keeps t beyond its scope, until lz_release, which is needed once for each lz_retain. Returns t,
 * for chaining. NULL is fine. */
LZ_API lz_tensor *lz_retain(lz_tensor *t);
/* Gives up a reference that lz_retain took. NULL is fine. LZ_EHANDLE when t is already gone;
 * nothing happens then. */
LZ_API lz_status lz_release(lz_tensor *t);
/* Opens a scope of the calling thread: tensors returned from now on are released by the
 * lz_scope_end it pairs with. Scopes nest. LZ_EMEM. */
LZ_API lz_status lz_scope_begin(void);
/* Closes the innermost scope of the calling thread and releases its tensors. LZ_ESTATE when none is
 * open. */
LZ_API lz_status lz_scope_end(void);
/* As lz_scope_end, but t moves to the scope around. Returns t. */
LZ_API lz_tensor *lz_scope_end_keep(lz_tensor *t);
/* Moves t from the innermost scope to the one around it. Returns t. */
LZ_API lz_tensor *lz_escape(lz_tensor *t);

/* ---- in-place update ---- */
/* dst now means value. Same shape and dtype, else LZ_ESHAPE / LZ_EDTYPE. At the step dst's old
 * buffer is reused when nobody else holds it.
 * Tensors made from dst earlier keep the old value. */
LZ_API lz_status lz_assign_at(lz_tensor *dst, lz_tensor *value, const lz_site *site);
#define lz_assign(dst, value) lz_assign_at(dst, value, LZ_SITE)

/* ---- steps ---- */
typedef struct lz_mark_step_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_mark_step_options));
    bool wait LZ_DEFAULT(false); /* return when the device has finished */
} lz_mark_step_options;
/* Compiles (once) and starts everything that is pending on the calling thread's default device:
 * what this thread made or assigned since its last step, and what threads that have ended left.
 * (What other running threads recorded waits for their own steps.) Reports errors of earlier
 * asynchronous work, and the first live error tensor made since the last step whose error the
 * program has not asked for (by lz_status_of, lz_last_error, a read, ...). o may be NULL. */
LZ_API lz_status lz_mark_step_at(const lz_mark_step_options *o, const lz_site *site);
#define lz_mark_step(...) lz_mark_step_at(LZ_OPTIONS_OF(lz_mark_step_options, __VA_ARGS__), LZ_SITE)
/* Computes the given tensors only (of one device, else LZ_EINVAL); their history stays, so
 * gradients through them still work. wait: until they are there. */
LZ_API lz_status lz_sync_at(lz_tensor *const *tensors, size_t n, bool wait, const lz_site *site);
#define lz_sync(...) lz_sync_at(__VA_ARGS__, LZ_SITE)
/* Waits for all work of all devices; returns the first error of any of it. */
LZ_API lz_status lz_wait_device_ops(void);

/* ---- the last error of the calling thread ---- */
typedef struct lz_error_info {
    lz_status status;    /* LZ_OK: there was none */
    const char *op;      /* "lz_matmul"; "" unknown */
    const char *message; /* what is wrong, with shapes and values */
    const char *file;    /* the caller's source; "" unknown */
    int line;
} lz_error_info;
/* The last error of the calling thread. Returns its status; the strings live until the thread's
 * next failure. out may be NULL. */
LZ_API lz_status lz_last_error(lz_error_info *out);
/* The last error of the calling thread as a line: "digits.c:42: lz_matmul: ...: LZ_ESHAPE"; "" when
 * there was none. */
LZ_API const char *lz_last_error_text(void);
/* Forgets the last error of the calling thread. */
LZ_API void lz_clear_error(void);

LZ_EXTERN_C_END

#ifdef __cplusplus
template <class T>
inline lz_tensor *lz_from_host_cxx(lz_dtype dtype, lz_shape shape, const T *data, size_t nbytes,
                                   const lz_site *site)
{
    return lz_from_host_typed_at(dtype, shape, data, nbytes, lz_host_type<T>::dtype, site);
}
inline lz_tensor *lz_from_host_cxx(lz_dtype dtype, lz_shape shape, const void *data, size_t nbytes,
                                   const lz_site *site)
{
    return lz_from_host_at(dtype, shape, data, nbytes, site);
}
template <class T>
inline lz_tensor *lz_from_borrowed_cxx(lz_dtype dtype, lz_shape shape, T *data, size_t nbytes,
                                       void (*release)(void *), void *user, const lz_site *site)
{
    return lz_from_borrowed_typed_at(dtype, shape, data, nbytes, lz_host_type<T>::dtype, release,
                                     user, site);
}
inline lz_tensor *lz_from_borrowed_cxx(lz_dtype dtype, lz_shape shape, void *data, size_t nbytes,
                                       void (*release)(void *), void *user, const lz_site *site)
{
    return lz_from_borrowed_at(dtype, shape, data, nbytes, release, user, site);
}
#endif
#endif
