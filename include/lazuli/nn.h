/* nn.h - parameter lists, layers with parameters, initialisers. Written with the public operations only. */
#ifndef LAZULI_NN_H
#define LAZULI_NN_H
#include <lazuli/functional.h>
LZ_EXTERN_C_BEGIN

/* A growing list of named parameters; zero-initialise. Holds a reference to each. */
typedef struct lz_params {
    lz_tensor **tensors;
    char **names;
    bool *is_buffer;            /* state without a gradient: lz_params_add_buffer */
    size_t len, cap;
} lz_params;
/* Retains t (floating point) and marks it as requiring a gradient; copies the name.
 * LZ_ENULL, LZ_EDTYPE, LZ_EMEM, t's own error; then nothing is added. */
LZ_API lz_status lz_params_add_at(lz_params *ps, const char *name, lz_tensor *t, const lz_site *site);
#define lz_params_add(ps, name, t) lz_params_add_at((ps), (name), (t), LZ_SITE)
/* The same for state that is saved and loaded but not learned (running statistics): any dtype, no gradient. */
LZ_API lz_status lz_params_add_buffer_at(lz_params *ps, const char *name, lz_tensor *t, const lz_site *site);
#define lz_params_add_buffer(ps, name, t) lz_params_add_buffer_at((ps), (name), (t), LZ_SITE)
LZ_API lz_tensor *lz_params_find(const lz_params *ps, const char *name);    /* NULL when there is none */
/* Adds to `to` those of `from` that `want` says: groups of parameters for an optimizer. LZ_ENULL, LZ_EMEM. */
LZ_API lz_status lz_params_select(const lz_params *from, lz_params *to, bool (*want)(const char *name, lz_tensor *t, void *user), void *user);
LZ_API void lz_params_free(lz_params *ps);      /* releases the tensors; the list is empty afterwards. NULL is fine */

/* Writes the list to a safetensors file under its names, or replaces the file, whole or not at all. Errors: those of lz_save_safetensors. */
LZ_API lz_status lz_params_save_at(const lz_params *ps, const char *path, const lz_site *site);
typedef struct lz_load_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_load_options));
    bool partial LZ_DEFAULT(false);             /* names that are missing in the file, or that only the file has, are no error */
    /* Called for each such name, with "missing" or "unexpected", also when it is an error. */
    void (*report)(const char *name, const char *what, void *user) LZ_DEFAULT(nullptr);
    void *user LZ_DEFAULT(nullptr);
} lz_load_options;
/* Assigns the tensors of a safetensors file (or the index of several) to those of the list that have their names; floats are converted to the parameter's dtype.
 * LZ_ENOENT names what is missing or unexpected, LZ_ESHAPE and LZ_EDTYPE the tensor that does not fit; then nothing was assigned. Further errors: those of
 * lz_safetensors_open. */
LZ_API lz_status lz_params_load_at(lz_params *ps, const char *path, const lz_load_options *o, const lz_site *site);
#define lz_params_save(ps, path) lz_params_save_at((ps), (path), LZ_SITE)
#define lz_params_load(ps, path, ...) lz_params_load_at((ps), (path), LZ_OPTIONS(lz_load_options, ##__VA_ARGS__), LZ_SITE)

/* y = x @ weight^T + bias, weight [out, in], bias [out]: torch.nn.Linear, with its default
 * initialisation (uniform +-1/sqrt(in)). */
typedef struct lz_linear_layer {
    lz_tensor *weight, *bias;
} lz_linear_layer;
/* Adds "<name>.weight" and "<name>.bias" to ps (which owns them), drawn from the device's random
 * numbers. bias may be left out. in, out >= 1; dtype: floating point. LZ_ENULL, LZ_EINVAL, LZ_EDTYPE,
 * LZ_EMEM; then nothing is added. */
LZ_API lz_status lz_linear_layer_init_at(lz_linear_layer *l, lz_params *ps, const char *name, int64_t in, int64_t out,
                                         bool bias, lz_dtype dtype, const lz_site *site);
#define lz_linear_layer_init(l, ps, name, in, out, bias, dtype)                                    \
    lz_linear_layer_init_at((l), (ps), (name), (in), (out), (bias), (dtype), LZ_SITE)
/* x[.., in] -> [.., out]. Errors: those of lz_linear. */
LZ_API lz_tensor *lz_linear_layer_forward_at(const lz_linear_layer *l, lz_tensor *x, const lz_site *site);
#define lz_linear_layer_forward(l, x) lz_linear_layer_forward_at((l), (x), LZ_SITE)

/* Initialisers return fresh tensors of a floating-point dtype, else LZ_EDTYPE. fan_in and fan_out of
 * shape [out, in, ...] as in torch.nn.init. uniform in [lo, hi); normal; He et al. 2015:
 * +-sqrt(6 / ((1 + a^2) fan_in)); Glorot and Bengio 2010: +-gain sqrt(6 / (fan_in + fan_out)). */
LZ_API lz_tensor *lz_init_uniform_at(lz_dtype dtype, lz_shape shape, double lo, double hi, const lz_site *site);
LZ_API lz_tensor *lz_init_normal_at(lz_dtype dtype, lz_shape shape, double mean, double std, const lz_site *site);
LZ_API lz_tensor *lz_init_kaiming_uniform_at(lz_dtype dtype, lz_shape shape, double a, const lz_site *site);
LZ_API lz_tensor *lz_init_xavier_uniform_at(lz_dtype dtype, lz_shape shape, double gain, const lz_site *site);
#define lz_init_uniform(dtype, shape, lo, hi) lz_init_uniform_at((dtype), (shape), (lo), (hi), LZ_SITE)
#define lz_init_normal(dtype, shape, mean, std) lz_init_normal_at((dtype), (shape), (mean), (std), LZ_SITE)
#define lz_init_kaiming_uniform(dtype, shape, a) lz_init_kaiming_uniform_at((dtype), (shape), (a), LZ_SITE)
#define lz_init_xavier_uniform(dtype, shape, gain) lz_init_xavier_uniform_at((dtype), (shape), (gain), LZ_SITE)

LZ_EXTERN_C_END
#endif
