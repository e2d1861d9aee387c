/* params.c - parameter lists and the linear layer. Written with the public interface only. */
#include <lazuli/grad.h>
#include <lazuli/hlo.h>
#include <lazuli/nn.h>
#include <lazuli/tensor_ops.h>

#include "nn/nn_internal.h"
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

static void fill_with_ones(void *at, lz_dtype d, size_t nbytes)
{
    const double f64 = 1;
    const float f32 = 1;
    const uint16_t f16 = 0x3c00, bf16 = 0x3f80;
    const void *one = d == LZ_F64   ? (const void *)&f64
                      : d == LZ_F32 ? (const void *)&f32
                      : d == LZ_F16 ? (const void *)&f16
                                    : (const void *)&bf16;
    size_t size = lz_dtype_size(d);
    for (size_t i = 0; i + size <= nbytes; i += size)
        memcpy((char *)at + i, one, size);
}

lz_tensor *lz_nn_filled(lz_dtype dtype, lz_shape shape, bool ones, const lz_site *site)
{
    if (!ones)
        return lz_from_zeros_at(dtype, shape, site);
    lz_tensor *like = lz_zeros_at(dtype, shape, site); /* which checks dtype and shape */
    if (lz_status_of(like) != LZ_OK)
        return like;
    size_t n = lz_nbytes(like);
    void *data = lz_alloc(n + 1);
    if (!data) {
        LZ_FAIL(LZ_EMEM, "no memory for %zu bytes of initial values", n);
        return lz_error_tensor_last("lz_zeros", site);
    }
    fill_with_ones(data, dtype, n);
    lz_tensor *t = lz_from_host_at(dtype, shape, data, n, site);
    lz_free(data);
    return t;
}

lz_status lz_nn_zeros(lz_tensor **out, lz_dtype dtype, lz_shape shape, const char *op,
                      const lz_site *site)
{
    lz_tensor *t = lz_nn_filled(dtype, shape, false, site);
    lz_status s = lz_nn_status_of(t, op);
    if (s != LZ_OK)
        return lz_nn_annotated(s, op, site);
    *out = lz_retain(t);
    return s;
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
    lz_status s = lz_nn_status_of(t, op);
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
    lz_nn_name(t, name);
    return LZ_OK;
}

lz_status lz_params_add_at(lz_params *ps, const char *name, lz_tensor *t, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    return add(ps, name, t, false, "lz_params_add", site);
}

lz_status lz_params_add_buffer_at(lz_params *ps, const char *name, lz_tensor *t,
                                  const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    return add(ps, name, t, true, "lz_params_add_buffer", site);
}

lz_tensor *lz_params_find(const lz_params *ps, const char *name)
{
    LZ_PUBLIC(NULL);
    for (size_t i = 0; ps && name && i < ps->len; i++)
        if (strcmp(ps->names[i], name) == 0)
            return ps->tensors[i];
    return NULL;
}

lz_status lz_params_select(const lz_params *from, lz_params *to,
                           bool (*want)(const char *name, lz_tensor *t, void *user), void *user)
{
    LZ_PUBLIC(LZ_EFORK);
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
    ps->len--;
    lz_nn_unname(ps->tensors[ps->len], ps->names[ps->len]);
    lz_release(ps->tensors[ps->len]);
    lz_free(ps->names[ps->len]);
}

void lz_params_free(lz_params *ps)
{
    LZ_PUBLIC();
    if (!ps)
        return;
    while (ps->len)
        drop_last(ps);
    lz_free(ps->tensors);
    lz_free(ps->names);
    lz_free(ps->is_buffer);
    memset(ps, 0, sizeof *ps);
}

void lz_module_begin(lz_module *m, lz_params *ps, const char *layer, const char *op,
                     const lz_site *site)
{
    *m = (lz_module){.ps = ps, .layer = layer, .op = op, .site = site};
    if (!ps || !layer)
        m->status = LZ_NN_FAIL(LZ_ENULL, op, site, "%s is NULL", ps ? "the name" : "the list");
    else
        m->status = lz_scope_begin();
    m->open = m->status == LZ_OK;
    m->before = ps ? ps->len : 0;
}

static lz_tensor *add_named(lz_module *m, const char *what, lz_tensor *t, bool buffer)
{
    char name[256];
    if (m->status != LZ_OK)
        return NULL;
    int n = snprintf(name, sizeof name, "%s%s%s", m->layer, *m->layer ? "." : "", what);
    if (n < 0 || (size_t)n >= sizeof name)
        m->status =
            LZ_NN_FAIL(LZ_EINVAL, m->op, m->site, "the layer's name has %zu bytes, more than %zu",
                       strlen(m->layer), sizeof name - 1 - strlen(what) - 1);
    else
        m->status = buffer ? lz_params_add_buffer_at(m->ps, name, t, m->site)
                           : lz_params_add_at(m->ps, name, t, m->site);
    return m->status == LZ_OK ? t : NULL;
}

lz_tensor *lz_module_param(lz_module *m, const char *what, lz_tensor *t)
{
    return add_named(m, what, t, false);
}

lz_tensor *lz_module_buffer(lz_module *m, const char *what, lz_tensor *t)
{
    return add_named(m, what, t, true);
}

lz_status lz_module_end(lz_module *m)
{
    while (m->status != LZ_OK && m->open && m->ps->len > m->before)
        drop_last(m->ps);
    if (m->open)
        lz_scope_end();
    return m->status;
}

lz_status lz_linear_layer_init_at(lz_linear_layer *l, lz_params *ps, const char *name, int64_t in,
                                  int64_t out, bool bias, lz_dtype dtype, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    static const char op[] = "lz_linear_layer_init";
    if (!l)
        return LZ_NN_FAIL(LZ_ENULL, op, site, "the layer is NULL");
    *l = (lz_linear_layer){0};
    if (in < 1 || out < 1)
        return LZ_NN_FAIL(LZ_EINVAL, op, site,
                          "in is %" PRId64 " and out %" PRId64 ": both must be at least 1", in,
                          out);
    lz_module m;
    lz_module_begin(&m, ps, name, op, site);
    lz_linear_layer made = {0};
    double bound = 1 / sqrt((double)in);
    if (m.status == LZ_OK)
        made.weight = lz_module_param(
            &m, "weight", lz_init_uniform_at(dtype, LZ_SHAPE(out, in), -bound, bound, site));
    if (m.status == LZ_OK && bias)
        made.bias = lz_module_param(&m, "bias",
                                    lz_init_uniform_at(dtype, LZ_SHAPE(out), -bound, bound, site));
    if (m.status == LZ_OK)
        *l = made;
    return lz_module_end(&m);
}

lz_tensor *lz_linear_layer_forward_at(const lz_linear_layer *l, lz_tensor *x, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_nn_layer scope;
    lz_nn_layer_begin(&scope, l ? l->weight : NULL);
    lz_tensor *y = lz_linear_at(x, l ? l->weight : NULL, l ? l->bias : NULL, site);
    lz_nn_layer_end(&scope);
    return y;
}
