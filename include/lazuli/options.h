/* options.h - the defaults of every options struct, for callers without the C macros: other
 * languages, and code that fills a struct in steps. See docs/from-other-languages.md.
 *
 *     lz_adamw_options o;
 *     lz_adamw_options_default(&o, sizeof o);
 *     o.lr = 1e-4;
 *     lz_optim *opt = lz_adamw_new_at(&params, &o, NULL);
 *
 * STRUCT_default(out, struct_size) writes the first struct_size bytes of a struct that has all
 * defaults, and no more than the library knows; out->struct_size says how many. So a caller that
 * was compiled with an older, shorter struct has nothing written behind it. Nothing if out is NULL
 * or struct_size has no room for that field. Every function takes NULL for these defaults, too, but
 * where a field is needed (lz_pool_options.kernel_size, lz_conv_layer_options.kernel).
 * Implemented in: nn/option_defaults.c. */
#ifndef LAZULI_OPTIONS_H
#define LAZULI_OPTIONS_H
#include <lazuli/amp.h>
#include <lazuli/complex_ops.h>
#include <lazuli/control.h>
#include <lazuli/data.h>
#include <lazuli/functional.h>
#include <lazuli/grad.h>
#include <lazuli/image_ops.h>
#include <lazuli/index_ops.h>
#include <lazuli/jit.h>
#include <lazuli/linalg_ops.h>
#include <lazuli/loader.h>
#include <lazuli/math_ops.h>
#include <lazuli/nn.h>
#include <lazuli/norm_ops.h>
#include <lazuli/optim.h>
#include <lazuli/order.h>
#include <lazuli/reduce_ops.h>
#include <lazuli/replicas.h>
#include <lazuli/science_ops.h>
#include <lazuli/signal_ops.h>
#include <lazuli/spmd.h>
#include <lazuli/stablehlo.h>
#include <lazuli/tensor_ops.h>
#include <lazuli/transforms.h>
#include <lazuli/window_ops.h>
LZ_EXTERN_C_BEGIN
/* Defaults of the struct that the name begins with. */
LZ_API void lz_adagrad_options_default(lz_adagrad_options *out, size_t struct_size);
LZ_API void lz_adam_options_default(lz_adam_options *out, size_t struct_size);
LZ_API void lz_adamw_options_default(lz_adamw_options *out, size_t struct_size);
LZ_API void lz_addmm_options_default(lz_addmm_options *out, size_t struct_size);
LZ_API void lz_attention_call_default(lz_attention_call *out, size_t struct_size);
LZ_API void lz_attention_layer_options_default(lz_attention_layer_options *out, size_t struct_size);
LZ_API void lz_attention_options_default(lz_attention_options *out, size_t struct_size);
LZ_API void lz_batch_norm_options_default(lz_batch_norm_options *out, size_t struct_size);
LZ_API void lz_checkpoint_manager_options_default(lz_checkpoint_manager_options *out,
                                                  size_t struct_size);
LZ_API void lz_checkpoint_save_options_default(lz_checkpoint_save_options *out, size_t struct_size);
LZ_API void lz_collective_options_default(lz_collective_options *out, size_t struct_size);
LZ_API void lz_compile_fn_options_default(lz_compile_fn_options *out, size_t struct_size);
LZ_API void lz_conv_layer_options_default(lz_conv_layer_options *out, size_t struct_size);
LZ_API void lz_conv_options_default(lz_conv_options *out, size_t struct_size);
LZ_API void lz_cov_options_default(lz_cov_options *out, size_t struct_size);
LZ_API void lz_csv_options_default(lz_csv_options *out, size_t struct_size);
LZ_API void lz_custom_vjp_options_default(lz_custom_vjp_options *out, size_t struct_size);
LZ_API void lz_diff_options_default(lz_diff_options *out, size_t struct_size);
LZ_API void lz_elu_options_default(lz_elu_options *out, size_t struct_size);
LZ_API void lz_embedding_bag_options_default(lz_embedding_bag_options *out, size_t struct_size);
LZ_API void lz_embedding_layer_options_default(lz_embedding_layer_options *out, size_t struct_size);
LZ_API void lz_fft_options_default(lz_fft_options *out, size_t struct_size);
LZ_API void lz_fftn_options_default(lz_fftn_options *out, size_t struct_size);
LZ_API void lz_function_options_default(lz_function_options *out, size_t struct_size);
LZ_API void lz_grad_options_default(lz_grad_options *out, size_t struct_size);
LZ_API void lz_grad_scaler_options_default(lz_grad_scaler_options *out, size_t struct_size);
LZ_API void lz_grid_sample_options_default(lz_grid_sample_options *out, size_t struct_size);
LZ_API void lz_group_options_default(lz_group_options *out, size_t struct_size);
LZ_API void lz_hardtanh_options_default(lz_hardtanh_options *out, size_t struct_size);
LZ_API void lz_interp_options_default(lz_interp_options *out, size_t struct_size);
LZ_API void lz_interpolate_options_default(lz_interpolate_options *out, size_t struct_size);
LZ_API void lz_isclose_options_default(lz_isclose_options *out, size_t struct_size);
LZ_API void lz_jvp_options_default(lz_jvp_options *out, size_t struct_size);
LZ_API void lz_leaky_relu_options_default(lz_leaky_relu_options *out, size_t struct_size);
LZ_API void lz_lion_options_default(lz_lion_options *out, size_t struct_size);
LZ_API void lz_load_options_default(lz_load_options *out, size_t struct_size);
LZ_API void lz_loader_options_default(lz_loader_options *out, size_t struct_size);
LZ_API void lz_loss_options_default(lz_loss_options *out, size_t struct_size);
LZ_API void lz_mark_step_options_default(lz_mark_step_options *out, size_t struct_size);
LZ_API void lz_nan_to_num_options_default(lz_nan_to_num_options *out, size_t struct_size);
LZ_API void lz_native_batch_norm_options_default(lz_native_batch_norm_options *out,
                                                 size_t struct_size);
LZ_API void lz_norm_layer_options_default(lz_norm_layer_options *out, size_t struct_size);
LZ_API void lz_norm_options_default(lz_norm_options *out, size_t struct_size);
LZ_API void lz_pool_options_default(lz_pool_options *out, size_t struct_size);
LZ_API void lz_quantile_options_default(lz_quantile_options *out, size_t struct_size);
LZ_API void lz_reduce_options_default(lz_reduce_options *out, size_t struct_size);
LZ_API void lz_rmsprop_options_default(lz_rmsprop_options *out, size_t struct_size);
LZ_API void lz_rnn_call_default(lz_rnn_call *out, size_t struct_size);
LZ_API void lz_rnn_layer_options_default(lz_rnn_layer_options *out, size_t struct_size);
LZ_API void lz_scan_options_default(lz_scan_options *out, size_t struct_size);
LZ_API void lz_searchsorted_options_default(lz_searchsorted_options *out, size_t struct_size);
LZ_API void lz_sgd_options_default(lz_sgd_options *out, size_t struct_size);
LZ_API void lz_size_options_default(lz_size_options *out, size_t struct_size);
LZ_API void lz_softplus_options_default(lz_softplus_options *out, size_t struct_size);
LZ_API void lz_stablehlo_options_default(lz_stablehlo_options *out, size_t struct_size);
LZ_API void lz_stft_options_default(lz_stft_options *out, size_t struct_size);
LZ_API void lz_unique_options_default(lz_unique_options *out, size_t struct_size);
LZ_API void lz_use_spmd_options_default(lz_use_spmd_options *out, size_t struct_size);
LZ_API void lz_vmap_options_default(lz_vmap_options *out, size_t struct_size);
LZ_EXTERN_C_END
#endif
