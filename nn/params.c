/* params.c - parameter lists and the linear layer. Written with the public interface only. */
#include <lazuli/grad.h>
#include <lazuli/nn.h>
#include <lazuli/tensor_ops.h>

#include "nn/internal.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static lz_status grow(lz_params *ps)
{
    if (ps->len < ps->cap)
        return LZ_OK;
    size_t cap = ps->cap ? 2 * ps->cap : 8;
    lz_tensor **t = lz_nn_realloc(ps->tensors, cap * sizeof *t);
    if (!t)
        return LZ_EMEM;
    ps->tensors = t;
    char **names = lz_nn_realloc(ps->names, cap * sizeof *names);
    if (!names)
        return LZ_EMEM;
    ps->names = names;
    ps->cap = cap;
    return LZ_OK;
}

lz_status lz_params_add(lz_params *ps, const char *name, lz_tensor *t)
{
    if (!ps || !name || !t)
        return lz_nn_fail(LZ_ENULL, "lz_params_add", "list, name and tensor must not be NULL");
    lz_status s = lz_status_of(t);
    if (s != LZ_OK)
        return s;
    if ((s = grow(ps)) != LZ_OK)
        return lz_nn_fail(s, "lz_params_add", "no memory for another parameter");
    size_t n = strlen(name) + 1;
    char *copy = lz_nn_realloc(NULL, n);
    if (!copy)
        return lz_nn_fail(LZ_EMEM, "lz_params_add", "no memory for the parameter's name");
    memcpy(copy, name, n);
    if ((s = lz_requires_grad(t, true)) != LZ_OK) {
        lz_nn_free(copy);
        return s;
    }
    ps->names[ps->len] = copy;
    ps->tensors[ps->len++] = lz_retain(t);
    return LZ_OK;
}

void lz_params_free(lz_params *ps)
{
    if (!ps)
        return;
    for (size_t i = 0; i < ps->len; i++) {
        lz_release(ps->tensors[i]);
        lz_nn_free(ps->names[i]);
    }
    lz_nn_free(ps->tensors);
    lz_nn_free(ps->names);
    memset(ps, 0, sizeof *ps);
}

static lz_status add_named(lz_params *ps, const char *layer, const char *what, lz_tensor *t)
{
    char name[256];
    int n = snprintf(name, sizeof name, "%s.%s", layer, what);
    if (n < 0 || (size_t)n >= sizeof name)
        return lz_nn_fail(LZ_EINVAL, "lz_linear_layer_init", "the layer's name is longer than 240 bytes");
    return lz_params_add(ps, name, t);
}

lz_status lz_linear_layer_init(lz_linear_layer *l, lz_params *ps, const char *name, int64_t in, int64_t out,
                               bool bias, lz_dtype dtype)
{
    if (!l || !ps || !name)
        return lz_nn_fail(LZ_ENULL, "lz_linear_layer_init", "layer, list and name must not be NULL");
    *l = (lz_linear_layer){0};
    if (in < 1 || out < 1)
        return lz_nn_fail(LZ_EINVAL, "lz_linear_layer_init", "in and out must be at least 1");
    double bound = 1 / sqrt((double)in);
    lz_status s = lz_scope_begin();
    if (s != LZ_OK)
        return s;
    lz_tensor *w = lz_init_uniform(dtype, LZ_SHAPE(out, in), -bound, bound);
    s = add_named(ps, name, "weight", w);
    if (s == LZ_OK && bias) {
        lz_tensor *b = lz_init_uniform(dtype, LZ_SHAPE(out), -bound, bound);
        s = add_named(ps, name, "bias", b);
        l->bias = s == LZ_OK ? b : NULL;
    }
    l->weight = s == LZ_OK ? w : NULL;
    lz_scope_end();
    return s;
}

lz_tensor *lz_linear_layer_forward(const lz_linear_layer *l, lz_tensor *x)
{
    return lz_linear_at(x, l ? l->weight : NULL, l ? l->bias : NULL, NULL);
}
