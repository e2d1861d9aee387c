/* jit.h - traced functions (jit): recorded once, then run without recording.
 *
 * lz_function_trace calls the callback once, on tensors that stand for the arguments, and compiles
 * what it recorded. lz_function_call runs that on other tensors of the same types: it neither
 * records nor looks anything up, whatever the number of operations. It does what the callback, run
 * anew, and lz_mark_step would do: tensors that the callback uses from outside are read in each
 * call; those that it assigns are assigned by each call (lz_assign, lz_backward's gradients,
 * optimizers, statistics of batch norm, averages, the gradient scaler); random operations draw
 * further numbers. What was recorded inside exists only there, as in control.h. There are no
 * gradients through a call; lz_grad and lz_backward inside the callback are fine. Inside of another
 * callback a call becomes part of that. docs/reference/semantics.md has the details.
 * Implemented in: runtime/region/function.c, runtime/region/function_call.c,
 *   runtime/region/compile.c. */
#ifndef LAZULI_JIT_H
#define LAZULI_JIT_H
#include <lazuli/control.h>
#pragma GCC system_header
LZ_EXTERN_C_BEGIN

typedef struct lz_function lz_function;
typedef struct lz_function_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_function_options));
    const char *name LZ_DEFAULT(nullptr); /* in dumps and reports */
    /* nin flags, or NULL: the argument is donated. A call reuses its memory for a result when
     * nobody else holds it; its handle is stale afterwards (LZ_ESTALE). */
    const bool *donate LZ_DEFAULT(nullptr);
} lz_function_options;
/* A function of nin arguments of the types (and on the device) of `in`, with nout >= 1 results.
 * user is for the callback. Both are used again when a call finds a gradient where the recording
 * found none, or the other way round. Errors: LZ_ENULL, LZ_EINVAL (also of a body inside that
 * assigns to a tensor from outside), what the callback's results carry, what a step of an optimizer
 * or compiling gives; then *out is NULL. */
LZ_API lz_status lz_function_trace_at(lz_body_fn *fn, void *user, lz_tensor *const *in, int nin,
                                      int nout, const lz_function_options *o, lz_function **out,
                                      const lz_site *site);
#define lz_function_trace(...) LZ_ARGS_function_trace(__VA_ARGS__, )
#define LZ_ARGS_function_trace(fn, user, in, nin, nout, out, ...)                                  \
    lz_function_trace_at(fn, user, in, nin, nout, LZ_OPTIONS_OF(lz_function_options, __VA_ARGS__), \
                         out, LZ_SITE)
/* Starts it; results are handles of the innermost scope, their values come asynchronously. Errors,
 * after which every out[k] is an error tensor and no state has changed: LZ_ENULL; LZ_EINVAL
 * (another number of arguments or results, another device, state in a body that runs any number of
 * times); LZ_ESHAPE, LZ_EDTYPE naming the argument that has another type; LZ_ESTATE (an optimizer
 * that it steps was freed); the errors of tensors that it reads. LZ_ECHECK (LAZULI_CHECK) comes
 * once the call has been made: its state has changed. */
LZ_API lz_status lz_function_call_at(lz_function *f, lz_tensor *const *in, int nin, lz_tensor **out,
                                     int nout, const lz_site *site);
#define lz_function_call(...) lz_function_call_at(__VA_ARGS__, LZ_SITE)
/* Ends a function, which releases what it uses from outside. Calls that have been started end well.
 * NULL is fine. */
LZ_API void lz_function_free(lz_function *f);

/* ---- a step that is to be one graph: torch_xla.compile ---- */

typedef void lz_compile_fn(void *user);
typedef struct lz_compile_fn_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_compile_fn_options));
    const char *name LZ_DEFAULT(nullptr); /* of its graphs in analyses, events and dumps */
    /* What runs anything before fn has returned (a read of what was not computed, lz_sync, a step,
     * a call of a traced function) fails: LZ_ESTATE. */
    bool full_graph LZ_DEFAULT(false);
    /* Over all calls for this fn: a further graph is not run, LZ_ESTATE names the first operation
     * in which it differs from the nearest of them. 0: any number. */
    int64_t max_different_graphs LZ_DEFAULT(0);
} lz_compile_fn_options;
/* Runs what is pending; then calls fn, once, in the calling thread, and runs what it recorded, as
 * one step each. A graph that is known is not compiled again, as without lz_compile. Graphs that
 * run while fn is called count, too. Errors: LZ_ENULL, LZ_EINVAL (a negative number), LZ_ESTATE
 * (what the options refuse; inside of another lz_compile, or of a callback that is recorded), those
 * of lz_mark_step. After what the options refuse, the rest of what fn recorded is pending. Source:
 * torch_xla.compile. */
LZ_API lz_status lz_compile_at(lz_compile_fn *fn, void *user, const lz_compile_fn_options *o,
                               const lz_site *site);
/* lz_compile(train_step, &state, .full_graph = true, .max_different_graphs = 2) */
#define lz_compile(...) LZ_ARGS_compile(__VA_ARGS__, )
#define LZ_ARGS_compile(fn, user, ...)                                                             \
    lz_compile_at(fn, user, LZ_OPTIONS_OF(lz_compile_fn_options, __VA_ARGS__), LZ_SITE)
LZ_EXTERN_C_END
#endif
