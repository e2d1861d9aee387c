/* grad.h - reverse-mode gradients over the pending graph. The gradient is recorded like any other
 * operation, so it can be differentiated again.
 * Source of each rule: the vjp column of docs/reference/ops.md.
 * Implemented in: autodiff/grad.c, autodiff/jvp.c, runtime/region/custom_vjp.c. */
#ifndef LAZULI_GRAD_H
#define LAZULI_GRAD_H
#include <lazuli/tensor.h>
#pragma GCC system_header
LZ_EXTERN_C_BEGIN

typedef struct lz_grad_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_grad_options));
    /* of loss's shape; default: ones, and then loss must have one element */
    lz_tensor *grad_output LZ_DEFAULT(nullptr);
    /* a parameter that loss does not depend on gets zeros instead of LZ_EGRAD */
    bool allow_unused LZ_DEFAULT(false);
} lz_grad_options;
/* grads[i] = d loss / d params[i], a handle of the innermost scope with params[i]'s shape and dtype
 * (floating point, else LZ_EDTYPE).
 * Works as long as the graph between them is pending: not after a step or an assignment to the
 * parameter (LZ_EGRAD names the parameter's index and why). grads is filled with error tensors on
 * failure. Integer, boolean and comparison paths carry no gradient. */
LZ_API lz_status lz_grad_at(lz_tensor *loss, lz_tensor *const *params, size_t n, lz_tensor **grads,
                            const lz_grad_options *o, const lz_site *site);
#define lz_grad(...) LZ_ARGS_grad(__VA_ARGS__, )
#define LZ_ARGS_grad(loss, params, n, grads, ...)                                                  \
    lz_grad_at(loss, params, n, grads, LZ_OPTIONS_OF(lz_grad_options, __VA_ARGS__), LZ_SITE)
typedef struct lz_jvp_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_jvp_options));
    /* an input that no output depends on is no error (LZ_EGRAD) */
    bool allow_unused LZ_DEFAULT(false);
} lz_jvp_options;
/* Forward mode. out[k] = sum over i of d outputs[k] / d inputs[i] times tangents[i], the change of
 * outputs[k] when the inputs change along the tangents; zeros when it does not depend on them. A
 * handle of the innermost scope with outputs[k]'s shape and dtype. tangents[i] has the type of
 * inputs[i] (LZ_ESHAPE; floating point or complex, else LZ_EDTYPE). Costs about as much as the
 * outputs do and keeps nothing: loops of any kind have it, lz_while too. What is recorded can be
 * differentiated again, in either mode. Ends at the same places as lz_grad. out is filled with
 * error tensors on failure. Source: JAX's jvp. */
LZ_API lz_status lz_jvp_at(lz_tensor *const *outputs, size_t nout, lz_tensor *const *inputs,
                           lz_tensor *const *tangents, size_t nin, lz_tensor **out,
                           const lz_jvp_options *o, const lz_site *site);
#define lz_jvp(...) LZ_ARGS_jvp(__VA_ARGS__, )
#define LZ_ARGS_jvp(outputs, nout, inputs, tangents, nin, out, ...)                                \
    lz_jvp_at(outputs, nout, inputs, tangents, nin, out,                                           \
              LZ_OPTIONS_OF(lz_jvp_options, __VA_ARGS__), LZ_SITE)
/* Marks t as a parameter: lz_backward accumulates into its gradient. t keeps its mark through
 * lz_assign. */
LZ_API lz_status lz_requires_grad(lz_tensor *t, bool on);
/* Adds d loss / d p to the gradient of every live marked tensor p that loss depends on (loss has
 * one element). */
LZ_API lz_status lz_backward_at(lz_tensor *loss, const lz_site *site);
#define lz_backward(loss) lz_backward_at(loss, LZ_SITE)
/* The accumulated gradient (handle owned by t, valid while t is and until lz_zero_grad; lz_retain
 * to keep), or NULL when there is none. */
LZ_API lz_tensor *lz_grad_of(lz_tensor *t);
/* Forgets the gradients of n parameters. */
LZ_API lz_status lz_zero_grad(lz_tensor *const *params, size_t n);
/* The same value with its history cut (stop-gradient): no gradient flows through. */
LZ_API lz_tensor *lz_detach_at(lz_tensor *x, const lz_site *site);
#define lz_detach(x) lz_detach_at(x, LZ_SITE)
#define lz_stop_gradient(x) lz_detach(x) /* JAX's name */

/* ---- functions with a gradient of their own ---- */
/* out[..] of in[..], and residuals[..]: what backward will need. */
typedef void lz_custom_forward_fn(lz_tensor *const *in, lz_tensor **out, lz_tensor **residuals,
                                  void *user);
/* grad_in[i], of in[i]'s type, for the gradients grad_out[..] of the results. A grad_in that is
 * left NULL is zeros. */
typedef void lz_custom_backward_fn(lz_tensor *const *residuals, lz_tensor *const *grad_out,
                                   lz_tensor **grad_in, void *user);
typedef struct lz_custom_vjp_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_custom_vjp_options));
    /* for messages and dumps; copied */
    const char *name LZ_DEFAULT(nullptr);
} lz_custom_vjp_options;
/* out[0..nout-1] as forward computes them of in[0..nin-1], with the gradient that backward says,
 * whatever forward is made of: a custom call, an operation that has none, or one whose own is not
 * wanted. Both callbacks are called once, at once; forward gets `in` and may do anything; backward
 * is recorded on tensors that stand for the residuals and the gradients, as the body of a loop is
 * (control.h), and may use tensors from outside. grad_out[i] has the type of result i; of a result
 * that is no float or complex number it is zeros. Results do not depend on whether there is a
 * gradient: nothing is kept, and backward is not computed, where none is asked for. To a gradient,
 * only the inputs lead anywhere: what forward uses beside them gets none. The gradient of the
 * gradient is that of what backward records; a residual that is one of the results has the gradient
 * that backward says, any other one its own. lz_jvp takes the transpose of backward, which must be
 * linear in grad_out for that, else the tangent is that of its slope at 0. Under lz_vmap, forward
 * and backward work on all examples; in loops, branches, lz_checkpoint and functions recorded once
 * it is as outside. Errors, beside those of control.h: LZ_ESHAPE, LZ_EDTYPE when grad_in[i] is not
 * of in[i]'s type, naming i and both types; LZ_ENULL when a result or a residual was not given.
 * Source: JAX's custom_vjp, torch.autograd.Function. */
LZ_API lz_status lz_custom_vjp_at(lz_custom_forward_fn *forward, lz_custom_backward_fn *backward,
                                  lz_tensor *const *in, int nin, int nout, int nresiduals,
                                  void *user, lz_tensor **out, const lz_custom_vjp_options *o,
                                  const lz_site *site);
#define lz_custom_vjp(...) LZ_ARGS_custom_vjp(__VA_ARGS__, )
#define LZ_ARGS_custom_vjp(forward, backward, in, nin, nout, nresiduals, user, out, ...)           \
    lz_custom_vjp_at(forward, backward, in, nin, nout, nresiduals, user, out,                      \
                     LZ_OPTIONS_OF(lz_custom_vjp_options, __VA_ARGS__), LZ_SITE)
LZ_EXTERN_C_END
#endif
