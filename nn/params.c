/* params.c - parameter lists and the linear layer. Written with the public interface only. */
#include <lazuli/grad.h>
#include <lazuli/nn.h>
#include <lazuli/tensor_ops.h>

#include "nn/internal.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *lz_nn_shape_text(const lz_shape *s, char *text)
{
    int n = sprintf(text, "[");
    for (int i = 0; i < s->rank && i < LZ_MAX_RANK; i++)
        n += sprintf(text + n, "%s%" PRId64, i ? ", " : "", s->dims[i]);
    sprintf(text + n, "]");
    return text;
}

static lz_status grow(lz_params *ps)
{
    if (ps->len < ps->cap)
        return LZ_OK;
    size_t cap = ps->cap ? 2 * ps->cap : 8;
    lz_tensor **t = lz_realloc(ps->tensors, cap * sizeof *t);
    if (!t)
        return LZ_EMEM;
    ps->tensors = t;
    char **names = lz_realloc(ps->names, cap * sizeof *names);
    if (!names)
        return LZ_EMEM;
    ps->names = names;
    bool *is_buffer = lz_realloc(ps->is_buffer, cap * sizeof *is_buffer);
    if (!is_buffer)
        return LZ_EMEM;
    ps->is_buffer = is_buffer;
    ps->cap = cap;
    return LZ_OK;
}

static lz_status add(lz_params *ps, const char *name, lz_tensor *t, bool buffer, const char *op,
                     const lz_site *site)
{
    if (!ps || !name || !t)
        return LZ_NN_FAIL(LZ_ENULL, op, site, "%s is NULL",
                          !ps     ? "the list"
                          : !name ? "the name"
                                  : "the tensor");
    lz_status s = lz_status_of(t);
    if (s != LZ_OK)
        return s;
    char *copy = grow(ps) == LZ_OK ? lz_strdup(name) : NULL;
    if (!copy)
        return LZ_NN_FAIL(LZ_EMEM, op, site, "no memory for parameter %zu, \"%.64s\"", ps->len,
                          name);
    if (!buffer && (s = lz_requires_grad(t, true)) != LZ_OK) {
        lz_free(copy);
        return s;
    }
    ps->names[ps->len] = copy;
    ps->is_buffer[ps->len] = buffer;
    ps->tensors[ps->len++] = lz_retain(t);
    return LZ_OK;
}

lz_status lz_params_add_at(lz_params *ps, const char *name, lz_tensor *t, const lz_site *site)
{
    return add(ps, name, t, false, "lz_params_add", site);
}

lz_status lz_params_add_buffer_at(lz_params *ps, const char *name, lz_tensor *t,
                                  const lz_site *site)
{
    return add(ps, name, t, true, "lz_params_add_buffer", site);
}

lz_tensor *lz_params_find(const lz_params *ps, const char *name)
{
    for (size_t i = 0; ps && name && i < ps->len; i++)
        if (strcmp(ps->names[i], name) == 0)
            return ps->tensors[i];
    return NULL;
}

lz_status lz_params_select(const lz_params *from, lz_params *to,
                           bool (*want)(const char *name, lz_tensor *t, void *user), void *user)
{
    static const char op[] = "lz_params_select";
    if (!from || !to || !want)
        return LZ_NN_FAIL(LZ_ENULL, op, NULL, "%s is NULL", want ? "a list" : "the choice");
    lz_status s = LZ_OK;
    for (size_t i = 0, n = from->len; i < n && s == LZ_OK; i++)
        if (want(from->names[i], from->tensors[i], user))
            s = add(to, from->names[i], from->tensors[i], from->is_buffer[i], op, NULL);
    return s;
}

static void drop_last(lz_params *ps)
{
    lz_release(ps->tensors[--ps->len]);
    lz_free(ps->names[ps->len]);
}

void lz_params_free(lz_params *ps)
{
    if (!ps)
        return;
    while (ps->len)
        drop_last(ps);
    lz_free(ps->tensors);
    lz_free(ps->names);
    lz_free(ps->is_buffer);
    memset(ps, 0, sizeof *ps);
}

static lz_status add_named(lz_params *ps, const char *layer, const char *what, lz_tensor *t,
                           const lz_site *site)
{
    char name[256];
    int n = snprintf(name, sizeof name, "%s.%s", layer, what);
    if (n < 0 || (size_t)n >= sizeof name)
        return LZ_NN_FAIL(LZ_EINVAL, "lz_linear_layer_init", site,
                          "the layer's name has %zu bytes, more than %zu", strlen(layer),
                          sizeof name - 1 - strlen(what) - 1);
    return lz_params_add_at(ps, name, t, site);
}

lz_status lz_linear_layer_init_at(lz_linear_layer *l, lz_params *ps, const char *name, int64_t in,
                                  int64_t out, bool bias, lz_dtype dtype, const lz_site *site)
{
    if (!l || !ps || !name)
        return LZ_NN_FAIL(LZ_ENULL, "lz_linear_layer_init", site, "%s is NULL",
                          !l    ? "the layer"
                          : !ps ? "the list"
                                : "the name");
    *l = (lz_linear_layer){0};
    if (in < 1 || out < 1)
        return LZ_NN_FAIL(LZ_EINVAL, "lz_linear_layer_init", site,
                          "in is %" PRId64 " and out %" PRId64 ": both must be at least 1", in,
                          out);
    double bound = 1 / sqrt((double)in);
    size_t before = ps->len;
    lz_status s = lz_scope_begin();
    if (s != LZ_OK)
        return s;
    lz_tensor *w = lz_init_uniform_at(dtype, LZ_SHAPE(out, in), -bound, bound, site), *b = NULL;
    s = add_named(ps, name, "weight", w, site);
    if (s == LZ_OK && bias) {
        b = lz_init_uniform_at(dtype, LZ_SHAPE(out), -bound, bound, site);
        s = add_named(ps, name, "bias", b, site);
    }
    if (s == LZ_OK)
        *l = (lz_linear_layer){w, b};
    else if (ps->len > before)
        drop_last(ps);
    lz_scope_end();
    return s;
}

lz_tensor *lz_linear_layer_forward_at(const lz_linear_layer *l, lz_tensor *x, const lz_site *site)
{
    return lz_linear_at(x, l ? l->weight : NULL, l ? l->bias : NULL, site);
}
