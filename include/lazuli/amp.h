/* amp.h - automatic mixed precision (torch.amp): matrix products and convolutions in bf16 or f16,
 * operations that need the range in f32, parameters in f32; and loss scaling, which f16 needs.
 *
 *     lz_autocast_begin(LZ_BF16);
 *     lz_tensor *loss = lz_cross_entropy(forward(x), labels);
 *     lz_autocast_end();
 *     lz_backward(loss);
 *
 * Only what is recorded inside the scope by the public functions is affected;
 * runtime/graph/autocast.def says which function does what: operands of some are converted to the
 * scope's dtype, those of others to f32. f64, integers and booleans stay, and so do the primitives
 * (hlo.h). A gradient passes back through the conversions, so that of an f32 parameter is f32; it
 * is the same whether lz_backward stands inside or outside. A parameter used many times is
 * converted once per step.
 * Thread rule: the scope belongs to a thread, as lz_scope_begin does.
 * Implemented in: runtime/graph/autocast.c, nn/grad_scaler.c. */
#ifndef LAZULI_AMP_H
#define LAZULI_AMP_H
#include <lazuli/optim.h>
LZ_EXTERN_C_BEGIN

/* From here to the lz_autocast_end it pairs with; scopes nest. dtype: LZ_BF16, LZ_F16, or
 * LZ_DTYPE_NONE, which turns it off inside another scope. LZ_EDTYPE, LZ_EMEM; then no scope is
 * open. */
LZ_API lz_status lz_autocast_begin(lz_dtype dtype);
/* Closes the innermost scope of lz_autocast_begin. LZ_ESTATE when none is open. */
LZ_API lz_status lz_autocast_end(void);
/* The dtype of the innermost scope; LZ_DTYPE_NONE: none is open, or it is off. */
LZ_API lz_dtype lz_autocast_dtype(void);
/* t as the function named ("lz_mse_loss") would take it here: for composites written outside the
 * library (torch.amp.custom_fwd). t itself where nothing is to be done; NULL passes. */
LZ_API lz_tensor *lz_autocast_operand_at(const char *function, lz_tensor *t, const lz_site *site);
#define lz_autocast_operand(function, t) lz_autocast_operand_at(function, t, LZ_SITE)

/* ---- loss scaling (torch.amp.GradScaler) ---- */
/* Gradients in f16 vanish below 6e-8: the loss is multiplied by a scale before lz_backward and the
 * gradients divided by it again. When one is not finite the step changes nothing and the scale
 * shrinks; after growth_interval good steps it grows. All of that happens on the device: nothing is
 * read, and skipped steps run the same program as others.
 *
 *     lz_backward(lz_grad_scaler_scale(scaler, loss));
 *     lz_grad_scaler_step(scaler, optim);
 *     lz_grad_scaler_update(scaler);
 *     lz_optim_zero_grad(optim);
 *
 * Thread rule: thread-compatible, like the optimizer. */
typedef struct lz_grad_scaler_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_grad_scaler_options));
    double init_scale LZ_DEFAULT(65536); /* > 0: the first scale */
    /* > 1: growth factor of the scale; a scale that would not be finite stays */
    double growth_factor LZ_DEFAULT(2);
    double backoff_factor LZ_DEFAULT(.5);     /* in (0, 1): backoff factor of the scale */
    int64_t growth_interval LZ_DEFAULT(2000); /* good steps after which the scale grows */
    /* false: everything below behaves as without a scaler, so that one program serves all dtypes */
    bool disabled LZ_DEFAULT(false);
} lz_grad_scaler_options;
#define LZ_GRAD_SCALER_DEFAULTS                                                                    \
    .init_scale = 65536, .growth_factor = 2, .backoff_factor = .5, .growth_interval = 2000
/* A scaler: NULL with an error recorded. LZ_EINVAL names the option; LZ_EMEM. */
LZ_API lz_grad_scaler *lz_grad_scaler_new_at(const lz_grad_scaler_options *o, const lz_site *site);
/* Ends a scaler. NULL is fine. */
LZ_API void lz_grad_scaler_free(lz_grad_scaler *s);
/* loss times the scale, at least f32. Errors as an error tensor: LZ_ENULL, LZ_EDTYPE. */
LZ_API lz_tensor *lz_grad_scaler_scale_at(lz_grad_scaler *s, lz_tensor *loss, const lz_site *site);
/* Divides the gradients of o's parameters by the scale, and notes whether all were finite. Only
 * needed before clipping: lz_grad_scaler_step does it otherwise. LZ_ESTATE: done already since the
 * last update. LZ_ENULL, LZ_EMEM, errors of the gradients. */
LZ_API lz_status lz_grad_scaler_unscale_at(lz_grad_scaler *s, lz_optim *o, const lz_site *site);
/* lz_optim_step where all gradients are finite; else parameters, their state and the count of steps
 * stay. LZ_ESTATE: a second time since the last update; else as lz_optim_step. */
LZ_API lz_status lz_grad_scaler_step_at(lz_grad_scaler *s, lz_optim *o, const lz_site *site);
/* The scale of the next step, from what all optimizers found. LZ_ESTATE: none was unscaled. */
LZ_API lz_status lz_grad_scaler_update_at(lz_grad_scaler *s, const lz_site *site);
/* The scale, f32 of rank 0: a handle owned by s. NULL for NULL. */
LZ_API lz_tensor *lz_grad_scaler_get_scale(const lz_grad_scaler *s);
#define lz_grad_scaler_new(...)                                                                    \
    LZ_OVERRIDING(lz_grad_scaler_new_at(                                                           \
        LZ_DEFAULTED(lz_grad_scaler_options, LZ_GRAD_SCALER_DEFAULTS, __VA_ARGS__), LZ_SITE))
#define lz_grad_scaler_scale(s, loss) lz_grad_scaler_scale_at(s, loss, LZ_SITE)
#define lz_grad_scaler_unscale(s, o) lz_grad_scaler_unscale_at(s, o, LZ_SITE)
#define lz_grad_scaler_step(s, o) lz_grad_scaler_step_at(s, o, LZ_SITE)
#define lz_grad_scaler_update(s) lz_grad_scaler_update_at(s, LZ_SITE)
LZ_EXTERN_C_END
#endif
