/* control.h - structured control flow: loops and branches as operations. A callback is traced once,
 * and the device runs the traced body as often as needed.
 *
 * A callback gets tensors that stand for the values inside, and gives back its results. Tensors
 * made outside may be used freely inside: they become further operands and stay as they are. What
 * is recorded inside exists only there: reading it, stepping, lz_assign to a tensor from outside
 * and lz_backward for one are LZ_EINVAL, and change nothing; handles made inside are gone when the
 * callback returns. Random operations give different numbers in every iteration.
 *
 * Errors of all: LZ_ENULL; LZ_ESHAPE, LZ_EDTYPE when results do not have the types they must have;
 * LZ_EINVAL (counts, operands of two devices); the error of an error tensor given or made inside;
 * LZ_EMEM. On failure every out[k] is an error tensor. Handles given back belong to the innermost
 * scope of the caller.
 * Source: StableHLO's while, if and case; JAX's lax.while_loop, fori_loop, scan, cond, switch.
 * Implemented in: runtime/region/control_flow.c, runtime/region/checkpoint.c. */
#ifndef LAZULI_CONTROL_H
#define LAZULI_CONTROL_H
#include <lazuli/tensor.h>
#pragma GCC system_header
LZ_EXTERN_C_BEGIN

/* out[k] for in[..]: as many as the function that calls it says. */
typedef void lz_body_fn(lz_tensor *const *in, lz_tensor **out, void *user);
/* One boolean for the values. */
typedef lz_tensor *lz_cond_fn(lz_tensor *const *in, void *user);
/* The carried values after iteration i (rank 0, i64) from those before it. */
typedef void lz_round_fn(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user);
/* The carried values after a step and the step's outputs, from the carried values before it and the
 * step's slices. */
typedef void lz_scan_fn(lz_tensor *const *carry, lz_tensor *const *x, lz_tensor **next,
                        lz_tensor **y, void *user);

/* While cond is true of the n >= 1 values, body makes the next ones of the same types. No reverse
 * gradient (LZ_EGRAD): how often it runs is not known; see lz_fori and lz_scan. */
LZ_API lz_status lz_while_at(lz_tensor *const *init, int n, lz_cond_fn *cond, lz_body_fn *body,
                             void *user, lz_tensor **out, const lz_site *site);
/* Rounds i = lower .. upper-1 over n >= 1 values (none: out is init). Has gradients. */
LZ_API lz_status lz_fori_at(int64_t lower, int64_t upper, lz_tensor *const *init, int n,
                            lz_round_fn *body, void *user, lz_tensor **out, const lz_site *site);
typedef struct lz_scan_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_scan_options));
    int64_t length LZ_DEFAULT(0);   /* steps; 0: the first extent of the xs */
    bool reverse LZ_DEFAULT(false); /* the last slice first; ys stay in the order of the xs */
} lz_scan_options;
/* Steps over the first dimension of the nx tensors xs: ncarry values are carried, each step gives
 * ny tensors, stacked along a new first dimension in ys. out: ncarry. Has gradients. */
LZ_API lz_status lz_scan_at(lz_tensor *const *init, int ncarry, lz_tensor *const *xs, int nx,
                            int ny, lz_scan_fn *body, void *user, lz_tensor **out, lz_tensor **ys,
                            const lz_scan_options *o, const lz_site *site);
/* nout results of one of two branches on nin operands; only that branch runs. pred: one boolean.
 * Results of both have the same types. Has gradients. */
LZ_API lz_status lz_cond_at(lz_tensor *pred, lz_body_fn *on_true, lz_body_fn *on_false,
                            lz_tensor *const *in, int nin, int nout, void *user, lz_tensor **out,
                            const lz_site *site);
/* The same with n >= 1 branches; index: one integer, and one that is no branch's takes the last. */
LZ_API lz_status lz_switch_at(lz_tensor *index, lz_body_fn *const *branches, int n,
                              lz_tensor *const *in, int nin, int nout, void *user, lz_tensor **out,
                              const lz_site *site);

/* nout results of fn on nin operands; their gradient computes fn again instead of storing
 * intermediate values (rematerialisation, torch.utils.checkpoint). fn is compiled apart from what
 * is around it. It is called once; what it assigns to tensors from outside is assigned once. */
LZ_API lz_status lz_checkpoint_at(lz_body_fn *fn, lz_tensor *const *in, int nin, int nout,
                                  void *user, lz_tensor **out, const lz_site *site);

#define lz_while(...) lz_while_at(__VA_ARGS__, LZ_SITE)
#define lz_fori(...) lz_fori_at(__VA_ARGS__, LZ_SITE)
#define lz_scan(...) LZ_ARGS_scan(__VA_ARGS__, )
#define LZ_ARGS_scan(init, ncarry, xs, nx, ny, body, user, out, ys, ...)                           \
    lz_scan_at(init, ncarry, xs, nx, ny, body, user, out, ys,                                      \
               LZ_OPTIONS_OF(lz_scan_options, __VA_ARGS__), LZ_SITE)
#define lz_cond(...) lz_cond_at(__VA_ARGS__, LZ_SITE)
#define lz_switch(...) lz_switch_at(__VA_ARGS__, LZ_SITE)
#define lz_checkpoint(...) lz_checkpoint_at(__VA_ARGS__, LZ_SITE)
LZ_EXTERN_C_END
#endif
