/* nn.h - parameter lists, layers with parameters, initialisers. Written with the public operations
 * only.
 * Implemented in: nn/params.c, nn/state.c, nn/state_load.c, nn/modules.c, nn/conv.c, nn/mha.c,
 * nn/rnn.c, nn/init.c, nn/fsdp.c. */
#ifndef LAZULI_NN_H
#define LAZULI_NN_H
#include <lazuli/functional.h>
#include <lazuli/spmd.h>
#include <lazuli/window_ops.h>
LZ_EXTERN_C_BEGIN

/* A growing list of named parameters; zero-initialise. Holds a reference to each. */
typedef struct lz_params {
    lz_tensor **tensors;
    char **names;
    bool *is_buffer; /* state without a gradient: lz_params_add_buffer */
    size_t len, cap;
} lz_params;
/* Retains t (floating point) and marks it as requiring a gradient; copies the name.
 * LZ_ENULL, LZ_EDTYPE, LZ_EMEM, t's own error; then nothing is added. */
LZ_API lz_status lz_params_add_at(lz_params *ps, const char *name, lz_tensor *t,
                                  const lz_site *site);
#define lz_params_add(ps, name, t) lz_params_add_at(ps, name, t, LZ_SITE)
/* The same for state that is saved and loaded but not learned (running statistics): any dtype, no
 * gradient. */
LZ_API lz_status lz_params_add_buffer_at(lz_params *ps, const char *name, lz_tensor *t,
                                         const lz_site *site);
#define lz_params_add_buffer(ps, name, t) lz_params_add_buffer_at(ps, name, t, LZ_SITE)
/* The tensor of this name; NULL when there is none. */
LZ_API lz_tensor *lz_params_find(const lz_params *ps, const char *name);
/* Adds to `to` those of `from` that `want` says: groups of parameters for an optimizer. LZ_ENULL,
 * LZ_EMEM. */
LZ_API lz_status lz_params_select(const lz_params *from, lz_params *to,
                                  bool (*want)(const char *name, lz_tensor *t, void *user),
                                  void *user);
/* Releases the tensors; the list is empty afterwards. NULL is fine. */
LZ_API void lz_params_free(lz_params *ps);

/* Writes the list to a safetensors file under its names, or replaces the file, whole or not at all.
 * A snapshot, as that of lz_save_safetensors: another thread may train meanwhile. Errors: those of
 * lz_save_safetensors. */
LZ_MUST_USE LZ_API lz_status lz_params_save_at(const lz_params *ps, const char *path,
                                               const lz_site *site);
typedef struct lz_load_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_load_options));
    /* names that are missing in the file, or that only the file has, are no error */
    bool partial LZ_DEFAULT(false);
    /* Called for each such name, with "missing" or "unexpected", also when it is an error. */
    void (*report)(const char *name, const char *what, void *user) LZ_DEFAULT(nullptr);
    void *user LZ_DEFAULT(nullptr); /* for report */
} lz_load_options;
/* Assigns the tensors of a safetensors file (or the index of several; or of a folder that has
 * model.safetensors, such an index, or a step of a checkpoint manager) to those of the list that
 * have their names; floats are converted to the parameter's dtype. Where a tensor is cut over
 * devices each is given its part. Another thread that saves meanwhile sees all of the file or
 * nothing of it. LZ_ENOENT names what is missing or unexpected, LZ_ESHAPE and LZ_EDTYPE the tensor
 * that does not fit; then nothing was assigned. Further errors: those of lz_safetensors_open. */
LZ_MUST_USE LZ_API lz_status lz_params_load_at(lz_params *ps, const char *path,
                                               const lz_load_options *o, const lz_site *site);
#define lz_params_save(ps, path) lz_params_save_at(ps, path, LZ_SITE)
#define lz_params_load(...) LZ_ARGS_params_load(__VA_ARGS__, )
#define LZ_ARGS_params_load(ps, path, ...)                                                         \
    lz_params_load_at(ps, path, LZ_OPTIONS_OF(lz_load_options, __VA_ARGS__), LZ_SITE)

/* Fully sharded data parallel (ZeRO-3): marks the parameters of the list, so that each device of
 * the mesh keeps a part of them along the axis (NULL: "fsdp"), and of their gradients and optimizer
 * states, which follow. A parameter is cut along its largest dimension that the axis divides, else
 * along the first one; scalars, buffers and what is marked already stay as they are. LZ_ENULL,
 * LZ_EINVAL (an axis that the mesh has not), those of lz_mark_sharding. Source:
 * torch_xla.experimental.spmd_fully_sharded_data_parallel. */
LZ_API lz_status lz_fsdp_shard_module_at(lz_params *ps, lz_mesh *mesh, const char *axis,
                                         const lz_site *site);
/* Marks a batch: its first dimension is cut along the axes (NULL: "fsdp"; "data,fsdp" where the
 * mesh has both). Errors: those of lz_mark_sharding; LZ_EINVAL: x is a scalar. */
LZ_API lz_status lz_fsdp_shard_batch_at(lz_tensor *x, lz_mesh *mesh, const char *axes,
                                        const lz_site *site);
/* The output of a module, placed as a batch is: a value of its own. Errors: the same. */
LZ_API lz_tensor *lz_fsdp_shard_output_at(lz_tensor *x, lz_mesh *mesh, const char *axes,
                                          const lz_site *site);
#define lz_fsdp_shard_module(ps, mesh, axis) lz_fsdp_shard_module_at(ps, mesh, axis, LZ_SITE)
#define lz_fsdp_shard_batch(x, mesh, axes) lz_fsdp_shard_batch_at(x, mesh, axes, LZ_SITE)
#define lz_fsdp_shard_output(x, mesh, axes) lz_fsdp_shard_output_at(x, mesh, axes, LZ_SITE)

/* y = x @ weight^T + bias, weight [out, in], bias [out]: torch.nn.Linear, with its default
 * initialisation (uniform +-1/sqrt(in)). */
typedef struct lz_linear_layer {
    lz_tensor *weight, *bias;
} lz_linear_layer;
/* Adds "<name>.weight" and "<name>.bias" to ps (which owns them), drawn from the device's random
 * numbers. bias may be left out. in, out >= 1; dtype: floating point. LZ_ENULL, LZ_EINVAL,
 * LZ_EDTYPE, LZ_EMEM; then nothing is added. */
LZ_API lz_status lz_linear_layer_init_at(lz_linear_layer *l, lz_params *ps, const char *name,
                                         int64_t in, int64_t out, bool bias, lz_dtype dtype,
                                         const lz_site *site);
#define lz_linear_layer_init(l, ps, name, in, out, bias, dtype)                                    \
    lz_linear_layer_init_at(l, ps, name, in, out, bias, dtype, LZ_SITE)
/* x[.., in] -> [.., out]. Errors: those of lz_linear. */
LZ_API lz_tensor *lz_linear_layer_forward_at(const lz_linear_layer *l, lz_tensor *x,
                                             const lz_site *site);
#define lz_linear_layer_forward(l, x) lz_linear_layer_forward_at(l, x, LZ_SITE)

/* ---- further layers, as torch.nn. Each init adds the layer's parameters to ps, which owns them,
 * under "<name>.<torch's name>" (without "<name>." when name is ""), with torch's initial values;
 * options NULL: the defaults. Errors of all inits: LZ_ENULL, LZ_EINVAL, LZ_EDTYPE, LZ_EMEM; then
 * nothing is added. Errors of the forwards: those of the function of functional.h that they call.
 * Structs may be read; a zero field is what is not there ---- */
/* torch.nn.Embedding: weight [num, dim], normal. indices [..] of i32 or i64 -> [.., dim]; positions
 * out of bounds are clamped. */
typedef struct lz_embedding_layer_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_embedding_layer_options));
    /* a row that begins as zeros and is not learned; -1: none */
    int64_t padding_idx LZ_DEFAULT(-1);
} lz_embedding_layer_options;
typedef struct lz_embedding_layer {
    lz_tensor *weight;
    bool has_padding;
    int64_t padding_idx;
} lz_embedding_layer;
/* A layer of num rows: adds "<name>.weight" [num, dim], normal. */
LZ_API lz_status lz_embedding_layer_init_at(lz_embedding_layer *l, lz_params *ps, const char *name,
                                            int64_t num, int64_t dim,
                                            const lz_embedding_layer_options *o, lz_dtype dtype,
                                            const lz_site *site);
/* indices [..] of i32 or i64 -> [.., dim]; positions out of bounds are clamped. */
LZ_API lz_tensor *lz_embedding_layer_forward_at(const lz_embedding_layer *l, lz_tensor *indices,
                                                const lz_site *site);

/* torch.nn.Conv1d, Conv2d, Conv3d and ConvTranspose1d..3d: weight [out, in / groups, kernel..]
 * (transposed: [in, out / groups, kernel..]) and bias [out], both uniform +-1/sqrt(fan_in). dims is
 * 1, 2 or 3; kernel has that many extents, one of 0 repeats the one before it. */
typedef struct lz_conv_layer_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_conv_layer_options));
    int64_t kernel[3] LZ_DEFAULT({}); /* needed */
    /* stride, padding, dilation, groups; struct_size may stay 0 */
    lz_conv_options conv LZ_DEFAULT({});
    bool transposed LZ_DEFAULT(false); /* lz_conv_transpose instead */
    bool no_bias LZ_DEFAULT(false);    /* without bias */
} lz_conv_layer_options;
typedef struct lz_conv_layer {
    int dims;
    bool transposed;
    lz_tensor *weight, *bias;
    lz_conv_options options;
} lz_conv_layer;
LZ_API lz_status lz_conv_layer_init_at(lz_conv_layer *l, int dims, lz_params *ps, const char *name,
                                       int64_t in, int64_t out, const lz_conv_layer_options *o,
                                       lz_dtype dtype, const lz_site *site);
/* x [N, in, ..] or [in, ..] -> [N, out, ..] or [out, ..]. */
LZ_API lz_tensor *lz_conv_layer_forward_at(const lz_conv_layer *l, lz_tensor *x,
                                           const lz_site *site);

typedef enum lz_norm_kind {
    LZ_LAYER_NORM,
    LZ_RMS_NORM,
    LZ_GROUP_NORM,
    LZ_INSTANCE_NORM,
    LZ_BATCH_NORM
} lz_norm_kind;
typedef struct lz_norm_layer_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_norm_layer_options));
    double eps LZ_DEFAULT(1e-5);      /* rms_norm: < 0 is the dtype's own */
    double momentum LZ_DEFAULT(0.1);  /* batch_norm */
    int64_t num_groups LZ_DEFAULT(1); /* group_norm */
    bool no_affine LZ_DEFAULT(false); /* without weight and bias */
    bool no_bias LZ_DEFAULT(false);   /* without bias */
    /* batch_norm: the statistics of x, also when not training */
    bool no_running_stats LZ_DEFAULT(false);
} lz_norm_layer_options;
#define LZ_NORM_LAYER_DEFAULTS .eps = 1e-5, .momentum = 0.1, .num_groups = 1
/* torch.nn.LayerNorm, RMSNorm (over the last dimension, of extent n), GroupNorm,
 * InstanceNorm1d..3d, BatchNorm1d..3d (of n channels): weight [n] of ones and bias [n] of zeros;
 * batch_norm also the buffers running_mean, running_var and num_batches_tracked (i64). */
typedef struct lz_norm_layer {
    lz_norm_kind kind;
    lz_norm_layer_options options;
    lz_tensor *weight, *bias, *running_mean, *running_var, *num_batches_tracked;
} lz_norm_layer;
LZ_API lz_status lz_norm_layer_init_at(lz_norm_layer *l, lz_norm_kind kind, lz_params *ps,
                                       const char *name, int64_t n, const lz_norm_layer_options *o,
                                       lz_dtype dtype, const lz_site *site);
/* training matters to batch_norm only: statistics of x, which the running ones follow, or the
 * running ones. */
LZ_API lz_tensor *lz_norm_layer_forward_at(const lz_norm_layer *l, lz_tensor *x, bool training,
                                           const lz_site *site);

/* Keys and values of the positions seen so far, [batch, kv_heads, capacity, head_dim]: one graph
 * serves every position. */
typedef struct lz_kv_cache {
    lz_tensor *key, *value;
    int64_t length, capacity;
} lz_kv_cache;
LZ_API lz_status lz_kv_cache_init_at(lz_kv_cache *c, int64_t batch, int64_t kv_heads,
                                     int64_t capacity, int64_t head_dim, lz_dtype dtype,
                                     const lz_site *site);
/* Releases the cache. NULL is fine. To start again, set length to 0 instead. */
LZ_API void lz_kv_cache_free(lz_kv_cache *c);

/* torch.nn.MultiheadAttention of one input: in_proj_weight [(heads + 2 kv_heads) head_dim, dim]
 * (xavier uniform), in_proj_bias (zeros), out_proj.weight, out_proj.bias. */
typedef struct lz_attention_layer_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_attention_layer_options));
    int64_t kv_heads LZ_DEFAULT(0); /* 0: as many as heads; else it divides them: grouped queries */
    bool no_bias LZ_DEFAULT(false); /* the projections have no bias */
    double rotary_base LZ_DEFAULT(0); /* 0: no rotary embedding; 10000 is usual */
    double dropout LZ_DEFAULT(0);     /* of the weights, in training */
} lz_attention_layer_options;
typedef struct lz_attention_layer {
    lz_tensor *in_proj_weight, *in_proj_bias;
    lz_linear_layer out_proj;
    int64_t dim, heads, kv_heads;
    double rotary_base, dropout;
} lz_attention_layer;
typedef struct lz_attention_call {
    size_t struct_size LZ_DEFAULT(sizeof(lz_attention_call));
    bool is_causal LZ_DEFAULT(false); /* position i sees those up to i */
    bool training LZ_DEFAULT(false);  /* dropout */
    /* as in lz_scaled_dot_product_attention; not with a cache */
    lz_tensor *attn_mask LZ_DEFAULT(nullptr);
    /* x continues what the cache holds: it is appended (LZ_ERANGE when it does not fit), and each
     * position sees those up to its own. The step must be marked before the next call. */
    lz_kv_cache *cache LZ_DEFAULT(nullptr);
} lz_attention_call;
LZ_API lz_status lz_attention_layer_init_at(lz_attention_layer *l, lz_params *ps, const char *name,
                                            int64_t dim, int64_t heads,
                                            const lz_attention_layer_options *o, lz_dtype dtype,
                                            const lz_site *site);
/* x [batch, length, dim] -> the same. */
LZ_API lz_tensor *lz_attention_layer_forward_at(const lz_attention_layer *l, lz_tensor *x,
                                                const lz_attention_call *o, const lz_site *site);

/* A step of torch.nn.LSTMCell: w_ih [4H, I], w_hh [4H, H], b_ih and b_hh [4H] or NULL; gates in
 * torch's order. x [N, I], h and c [N, H]. Gives the new h, and the new c in *c_out (not NULL). */
LZ_API lz_tensor *lz_lstm_cell_at(lz_tensor *x, lz_tensor *h, lz_tensor *c, lz_tensor *w_ih,
                                  lz_tensor *w_hh, lz_tensor *b_ih, lz_tensor *b_hh,
                                  lz_tensor **c_out, const lz_site *site);
/* A step of torch.nn.GRUCell: w_ih [3H, I], w_hh [3H, H], b_ih and b_hh [3H] or NULL; gates in
 * torch's order. x [N, I], h [N, H]. Gives the new h. */
LZ_API lz_tensor *lz_gru_cell_at(lz_tensor *x, lz_tensor *h, lz_tensor *w_ih, lz_tensor *w_hh,
                                 lz_tensor *b_ih, lz_tensor *b_hh, const lz_site *site);
/* torch.nn.LSTM and GRU: weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, and so on for each of
 * at most LZ_MAX_RNN_LAYERS; uniform +-1/sqrt(hidden). With two directions the second ones are
 * named weight_ih_l0_reverse and so on, and stand behind those of the first. */
enum { LZ_MAX_RNN_LAYERS = 8 };
typedef enum lz_rnn_kind { LZ_LSTM, LZ_GRU } lz_rnn_kind;
typedef struct lz_rnn_layer_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_rnn_layer_options));
    /* each layer also from the end to the beginning; outputs are joined */
    bool bidirectional LZ_DEFAULT(false);
    /* of the outputs of every layer but the last, in training; in [0, 1] */
    double dropout LZ_DEFAULT(0);
} lz_rnn_layer_options;
typedef struct lz_rnn_layer {
    lz_rnn_kind kind;
    int64_t input, hidden;
    int layers, directions; /* 1 or 2 */
    double dropout;
    lz_tensor *w_ih[2 * LZ_MAX_RNN_LAYERS], *w_hh[2 * LZ_MAX_RNN_LAYERS],
        *b_ih[2 * LZ_MAX_RNN_LAYERS], *b_hh[2 * LZ_MAX_RNN_LAYERS]; /* layer by layer */
} lz_rnn_layer;
LZ_API lz_status lz_rnn_layer_init_at(lz_rnn_layer *l, lz_rnn_kind kind, lz_params *ps,
                                      const char *name, int64_t input, int64_t hidden, int layers,
                                      bool bias, const lz_rnn_layer_options *o, lz_dtype dtype,
                                      const lz_site *site);
typedef struct lz_rnn_call {
    size_t struct_size LZ_DEFAULT(sizeof(lz_rnn_call));
    bool training LZ_DEFAULT(false); /* dropout */
} lz_rnn_call;
/* x [N, T, input] -> [N, T, directions hidden], by lz_scan over T >= 1. h (and c of an LSTM)
 * [layers directions, N, hidden]: the state before, NULL is zeros; *h_out and *c_out, which may be
 * NULL, the state after. Options NULL: the defaults. */
LZ_API lz_tensor *lz_rnn_layer_forward_at(const lz_rnn_layer *l, lz_tensor *x, lz_tensor *h,
                                          lz_tensor *c, lz_tensor **h_out, lz_tensor **c_out,
                                          const lz_rnn_call *o, const lz_site *site);

#define lz_embedding_layer_init(...) LZ_ARGS_embedding_layer_init(__VA_ARGS__, )
#define LZ_ARGS_embedding_layer_init(l, ps, name, num, dim, dtype, ...)                            \
    LZ_OVERRIDING(lz_embedding_layer_init_at(                                                      \
        l, ps, name, num, dim,                                                                     \
        LZ_DEFAULTED(lz_embedding_layer_options, .padding_idx = -1, __VA_ARGS__), dtype, LZ_SITE))
#define lz_embedding_layer_forward(l, indices) lz_embedding_layer_forward_at(l, indices, LZ_SITE)
#define lz_conv_layer_init(...) LZ_ARGS_conv_layer_init(__VA_ARGS__, )
#define LZ_ARGS_conv_layer_init(l, dims, ps, name, in, out, dtype, ...)                            \
    lz_conv_layer_init_at(l, dims, ps, name, in, out,                                              \
                          LZ_OPTIONS_OF(lz_conv_layer_options, __VA_ARGS__), dtype, LZ_SITE)
#define lz_conv_layer_forward(l, x) lz_conv_layer_forward_at(l, x, LZ_SITE)
#define lz_norm_layer_init(...) LZ_ARGS_norm_layer_init(__VA_ARGS__, )
#define LZ_ARGS_norm_layer_init(l, kind, ps, name, n, dtype, ...)                                  \
    LZ_OVERRIDING(lz_norm_layer_init_at(                                                           \
        l, kind, ps, name, n,                                                                      \
        LZ_DEFAULTED(lz_norm_layer_options, LZ_NORM_LAYER_DEFAULTS, __VA_ARGS__), dtype, LZ_SITE))
#define lz_norm_layer_forward(l, x, training) lz_norm_layer_forward_at(l, x, training, LZ_SITE)
#define lz_kv_cache_init(c, batch, kv_heads, capacity, head_dim, dtype)                            \
    lz_kv_cache_init_at(c, batch, kv_heads, capacity, head_dim, dtype, LZ_SITE)
#define lz_attention_layer_init(...) LZ_ARGS_attention_layer_init(__VA_ARGS__, )
#define LZ_ARGS_attention_layer_init(l, ps, name, dim, heads, dtype, ...)                          \
    lz_attention_layer_init_at(l, ps, name, dim, heads,                                            \
                               LZ_OPTIONS_OF(lz_attention_layer_options, __VA_ARGS__), dtype,      \
                               LZ_SITE)
#define lz_attention_layer_forward(...) LZ_ARGS_attention_layer_forward(__VA_ARGS__, )
#define LZ_ARGS_attention_layer_forward(l, x, ...)                                                 \
    lz_attention_layer_forward_at(l, x, LZ_OPTIONS_OF(lz_attention_call, __VA_ARGS__), LZ_SITE)
#define lz_lstm_cell(x, h, c, w_ih, w_hh, b_ih, b_hh, c_out)                                       \
    lz_lstm_cell_at(x, h, c, w_ih, w_hh, b_ih, b_hh, c_out, LZ_SITE)
#define lz_gru_cell(x, h, w_ih, w_hh, b_ih, b_hh)                                                  \
    lz_gru_cell_at(x, h, w_ih, w_hh, b_ih, b_hh, LZ_SITE)
#define lz_rnn_layer_init(...) LZ_ARGS_rnn_layer_init(__VA_ARGS__, )
#define LZ_ARGS_rnn_layer_init(l, kind, ps, name, input, hidden, layers, bias, dtype, ...)         \
    lz_rnn_layer_init_at(l, kind, ps, name, input, hidden, layers, bias,                           \
                         LZ_OPTIONS_OF(lz_rnn_layer_options, __VA_ARGS__), dtype, LZ_SITE)
#define lz_rnn_layer_forward(...) LZ_ARGS_rnn_layer_forward(__VA_ARGS__, )
#define LZ_ARGS_rnn_layer_forward(l, x, h, c, h_out, c_out, ...)                                   \
    lz_rnn_layer_forward_at(l, x, h, c, h_out, c_out, LZ_OPTIONS_OF(lz_rnn_call, __VA_ARGS__),     \
                            LZ_SITE)

/* ---- initialisers ---- fresh tensors of a floating-point dtype, else LZ_EDTYPE; fan_in and
 * fan_out of shape [out, in, ...] as in torch.nn.init */
/* Uniform in [lo, hi). */
LZ_API lz_tensor *lz_init_uniform_at(lz_dtype dtype, lz_shape shape, double lo, double hi,
                                     const lz_site *site);
/* Normal, of the given mean and standard deviation. */
LZ_API lz_tensor *lz_init_normal_at(lz_dtype dtype, lz_shape shape, double mean, double std,
                                    const lz_site *site);
/* Uniform in +-sqrt(6 / ((1 + a^2) fan_in)). He et al. 2015. */
LZ_API lz_tensor *lz_init_kaiming_uniform_at(lz_dtype dtype, lz_shape shape, double a,
                                             const lz_site *site);
/* Uniform in +-gain sqrt(6 / (fan_in + fan_out)). Glorot and Bengio 2010. */
LZ_API lz_tensor *lz_init_xavier_uniform_at(lz_dtype dtype, lz_shape shape, double gain,
                                            const lz_site *site);
/* Normal, of standard deviation sqrt(2 / ((1 + a^2) fan_in)). He et al. 2015. */
LZ_API lz_tensor *lz_init_kaiming_normal_at(lz_dtype dtype, lz_shape shape, double a,
                                            const lz_site *site);
/* Normal, of standard deviation gain sqrt(2 / (fan_in + fan_out)). Glorot and Bengio 2010. */
LZ_API lz_tensor *lz_init_xavier_normal_at(lz_dtype dtype, lz_shape shape, double gain,
                                           const lz_site *site);
/* Normal, but within [lo, hi], by the inverse of its distribution, in f32. */
LZ_API lz_tensor *lz_init_trunc_normal_at(lz_dtype dtype, lz_shape shape, double mean, double std,
                                          double lo, double hi, const lz_site *site);
/* gain times a matrix [rows, rest] with orthonormal rows or columns, whichever are fewer; computed
 * on the host, which waits. Saxe et al. 2014. */
LZ_API lz_tensor *lz_init_orthogonal_at(lz_dtype dtype, lz_shape shape, double gain,
                                        const lz_site *site);
#define lz_init_kaiming_normal(dtype, shape, a) lz_init_kaiming_normal_at(dtype, shape, a, LZ_SITE)
#define lz_init_xavier_normal(dtype, shape, gain)                                                  \
    lz_init_xavier_normal_at(dtype, shape, gain, LZ_SITE)
#define lz_init_trunc_normal(dtype, shape, mean, std, lo, hi)                                      \
    lz_init_trunc_normal_at(dtype, shape, mean, std, lo, hi, LZ_SITE)
#define lz_init_orthogonal(dtype, shape, gain) lz_init_orthogonal_at(dtype, shape, gain, LZ_SITE)
#define lz_init_uniform(dtype, shape, lo, hi) lz_init_uniform_at(dtype, shape, lo, hi, LZ_SITE)
#define lz_init_normal(dtype, shape, mean, std) lz_init_normal_at(dtype, shape, mean, std, LZ_SITE)
#define lz_init_kaiming_uniform(dtype, shape, a)                                                   \
    lz_init_kaiming_uniform_at(dtype, shape, a, LZ_SITE)
#define lz_init_xavier_uniform(dtype, shape, gain)                                                 \
    lz_init_xavier_uniform_at(dtype, shape, gain, LZ_SITE)

LZ_EXTERN_C_END
#endif
