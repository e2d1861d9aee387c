/* mha.c - multi-head attention layer: grouped queries, rotary embedding, key/value cache. */
#include "nn/nn_compose.h"
#include <inttypes.h>
#include <lazuli/functional.h>
#include <math.h>

/* ---- the cache ---- */

lz_status lz_kv_cache_init_at(lz_kv_cache *k, int64_t batch, int64_t kv_heads, int64_t capacity,
                              int64_t head_dim, lz_dtype dtype, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    static const char op[] = "lz_kv_cache_init";
    if (!k)
        return LZ_NN_FAIL(LZ_ENULL, op, site, "the cache is NULL");
    *k = (lz_kv_cache){0};
    if (batch < 1 || kv_heads < 1 || capacity < 1 || head_dim < 1)
        return LZ_NN_FAIL(LZ_EINVAL, op, site,
                          "batch %" PRId64 ", heads %" PRId64 ", capacity %" PRId64
                          ", head_dim %" PRId64 ": all must be at least 1",
                          batch, kv_heads, capacity, head_dim);
    lz_shape shape = LZ_SHAPE(batch, kv_heads, capacity, head_dim);
    lz_tensor *key = NULL, *value = NULL;
    lz_status s = lz_scope_begin();
    if (s != LZ_OK)
        return s;
    if ((s = lz_nn_zeros(&key, dtype, shape, op, site)) == LZ_OK &&
        (s = lz_nn_zeros(&value, dtype, shape, op, site)) == LZ_OK)
        *k = (lz_kv_cache){key, value, 0, capacity};
    else
        lz_release(key);
    lz_scope_end();
    return s;
}

void lz_kv_cache_free(lz_kv_cache *k)
{
    LZ_PUBLIC();
    if (!k)
        return;
    lz_release(k->key);
    lz_release(k->value);
    *k = (lz_kv_cache){0};
}

/* Appends x [batch, heads, length, head_dim] to the cache. The position is a run-time argument. */
static lz_tensor *append(nnc *c, lz_tensor *cache, lz_tensor *x, lz_tensor *at)
{
    lz_tensor *zero = lz_hlo_constant_at(LZ_I32, 0, c->site), *starts[] = {zero, zero, at, zero};
    lz_tensor *all = lz_hlo_dynamic_update_slice_at(cache, x, starts, 4, c->site);
    if (c->status == LZ_OK)
        c->status = lz_assign_at(cache, all, c->site);
    return all;
}

/* Causal mask [length, capacity]: key j is not after query i, which is at position at + i. */
static lz_tensor *up_to_own(nnc *c, int64_t length, int64_t capacity, lz_tensor *at)
{
    lz_shape s = LZ_SHAPE(length, capacity);
    lz_tensor *own = nn_add(c, lz_iota_at(LZ_I32, s, 0, c->site), at);
    return lz_le_at(lz_iota_at(LZ_I32, s, 1, c->site), own, c->site);
}

/* ---- the layer ---- */

static lz_status check_layer(int64_t dim, int64_t heads, const lz_attention_layer_options *o,
                             const char *op, const lz_site *site)
{
    int64_t kv = o->kv_heads ? o->kv_heads : heads;
    if (dim < 1 || heads < 1 || dim % heads)
        return LZ_NN_FAIL(LZ_EINVAL, op, site, "dim %" PRId64 " is not %" PRId64 " equal heads",
                          dim, heads);
    if (dim > INT64_MAX / 3) /* queries, keys and values are one matrix */
        return LZ_NN_FAIL(LZ_ERANGE, op, site, "dim %" PRId64 " is too large", dim);
    if (kv < 1 || heads % kv)
        return LZ_NN_FAIL(LZ_EINVAL, op, site,
                          "%" PRId64 " heads are not a multiple of kv_heads %" PRId64, heads, kv);
    if (!(o->rotary_base >= 0) || isinf(o->rotary_base) || (o->rotary_base > 0 && dim / heads % 2))
        return LZ_NN_FAIL(LZ_EINVAL, op, site,
                          "rotary_base is %g: it must be > 0, and head_dim %" PRId64 " even",
                          o->rotary_base, dim / heads);
    if (!(o->dropout >= 0 && o->dropout <= 1))
        return LZ_NN_FAIL(LZ_EINVAL, op, site, "dropout is %g: it must be in [0, 1]", o->dropout);
    return LZ_OK;
}

lz_status lz_attention_layer_init_at(lz_attention_layer *l, lz_params *ps, const char *name,
                                     int64_t dim, int64_t heads,
                                     const lz_attention_layer_options *opt, lz_dtype dtype,
                                     const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    static const char op[] = "lz_attention_layer_init";
    lz_attention_layer_options o = {.struct_size = sizeof o};
    nnc c = {.op = op, .site = site};
    if (!l)
        return LZ_NN_FAIL(LZ_ENULL, op, site, "the layer is NULL");
    *l = (lz_attention_layer){0};
    if (!nn_options(&c, &o, sizeof o, opt))
        return lz_nn_annotated(c.status, op, site);
    lz_status s = check_layer(dim, heads, &o, op, site);
    if (s != LZ_OK)
        return s;
    lz_module m;
    lz_module_begin(&m, ps, name, op, site);
    lz_attention_layer made = {.dim = dim,
                               .heads = heads,
                               .kv_heads = o.kv_heads ? o.kv_heads : heads,
                               .rotary_base = o.rotary_base,
                               .dropout = o.dropout};
    int64_t rows = dim + 2 * made.kv_heads * (dim / heads);
    double bound = 1 / sqrt((double)dim);
    if (m.status == LZ_OK) {
        made.in_proj_weight = lz_module_param(
            &m, "in_proj_weight", lz_init_xavier_uniform_at(dtype, LZ_SHAPE(rows, dim), 1, site));
        if (!o.no_bias)
            made.in_proj_bias = lz_module_param(&m, "in_proj_bias",
                                                lz_nn_filled(dtype, LZ_SHAPE(rows), false, site));
        made.out_proj.weight =
            lz_module_param(&m, "out_proj.weight",
                            lz_init_uniform_at(dtype, LZ_SHAPE(dim, dim), -bound, bound, site));
        if (!o.no_bias)
            made.out_proj.bias = lz_module_param(&m, "out_proj.bias",
                                                 lz_nn_filled(dtype, LZ_SHAPE(dim), false, site));
    }
    if (m.status == LZ_OK)
        *l = made;
    return lz_module_end(&m);
}

/* Columns from.. of the projection as [batch, heads, length, head_dim]. */
static lz_tensor *heads_of(nnc *c, lz_tensor *qkv, int64_t from, int64_t heads, int64_t head_dim)
{
    lz_shape s = lz_shape_of(qkv);
    lz_tensor *x = lz_slice_at(qkv, -1, from, from + heads * head_dim, 1, c->site);
    x = nn_reshape(c, x, LZ_SHAPE(s.dims[0], s.dims[1], heads, head_dim));
    return lz_transpose_at(x, 1, 2, c->site);
}

static bool check_call(nnc *c, const lz_attention_layer *l, lz_tensor *x,
                       const lz_attention_call *o)
{
    if (!nn_check_float(c, x, "the input"))
        return false;
    /* the caller may have written to the layer */
    const lz_attention_layer_options made = {
        .kv_heads = l->kv_heads, .rotary_base = l->rotary_base, .dropout = l->dropout};
    if (l->kv_heads < 1)
        return nn_refuse(c, LZ_EINVAL, "kv_heads is %" PRId64 ": it must be at least 1",
                         l->kv_heads);
    c->status = check_layer(l->dim, l->heads, &made, c->op, c->site);
    if (c->status != LZ_OK)
        return false;
    lz_shape s = lz_shape_of(x);
    char t[192];
    if (s.rank != 3 || s.dims[2] != l->dim)
        return nn_refuse(c, LZ_ESHAPE, "the input is %s, not [batch, length, %" PRId64 "]",
                         lz_nn_shape_text(&s, t), l->dim);
    lz_kv_cache *k = o->cache;
    if (!k)
        return true;
    if (o->attn_mask)
        return nn_refuse(c, LZ_EINVAL, "a mask and a cache are not supported together");
    if (!nn_check_shape(c, k->key, LZ_SHAPE(s.dims[0], l->kv_heads, k->capacity, l->dim / l->heads),
                        "the cache"))
        return false;
    if (k->length < 0 || s.dims[1] > k->capacity - k->length)
        return nn_refuse(c, LZ_ERANGE,
                         "%" PRId64 " positions after %" PRId64
                         " do not fit into the cache of %" PRId64,
                         s.dims[1], k->length, k->capacity);
    return true;
}

static lz_tensor *forward(nnc *c, const lz_attention_layer *l, lz_tensor *x,
                          const lz_attention_call *o)
{
    lz_shape s = lz_shape_of(x);
    int64_t d = l->dim / l->heads, length = s.dims[1];
    lz_tensor *qkv = lz_linear_at(x, l->in_proj_weight, l->in_proj_bias, c->site);
    lz_tensor *q = heads_of(c, qkv, 0, l->heads, d), *k = heads_of(c, qkv, l->dim, l->kv_heads, d);
    lz_tensor *v = heads_of(c, qkv, l->dim + l->kv_heads * d, l->kv_heads, d), *at = NULL;
    if (o->cache)
        at = lz_full_at(LZ_I32, LZ_SCALAR, (double)o->cache->length, c->site);
    if (l->rotary_base > 0) {
        q = lz_rotary_embedding_at(q, at, l->rotary_base, false, c->site);
        k = lz_rotary_embedding_at(k, at, l->rotary_base, false, c->site);
    }
    lz_attention_options a = {.struct_size = sizeof a,
                              .attn_mask = o->attn_mask,
                              .dropout_p = o->training ? l->dropout : 0,
                              .is_causal = o->is_causal,
                              .enable_gqa = l->kv_heads != l->heads};
    if (o->cache) {
        k = append(c, o->cache->key, k, at);
        v = append(c, o->cache->value, v, at);
        a.attn_mask = up_to_own(c, length, o->cache->capacity, at);
        a.is_causal = false;
    }
    lz_tensor *y = lz_scaled_dot_product_attention_at(q, k, v, &a, c->site);
    y = nn_reshape(c, lz_transpose_at(y, 1, 2, c->site), s);
    y = lz_linear_layer_forward_at(&l->out_proj, y, c->site);
    if (o->cache && c->status == LZ_OK && lz_status_of(y) == LZ_OK)
        o->cache->length += length;
    return y;
}

lz_tensor *lz_attention_layer_forward_at(const lz_attention_layer *l, lz_tensor *x,
                                         const lz_attention_call *opt, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin("lz_attention_layer_forward", site);
    lz_attention_call o = {.struct_size = sizeof o};
    lz_tensor *y = NULL;
    if (c.status == LZ_OK && (!l || !l->in_proj_weight))
        nn_refuse(&c, LZ_ENULL, "the layer is NULL, or was not made");
    lz_nn_layer scope;
    lz_nn_layer_begin(&scope, l ? l->in_proj_weight : NULL);
    if (nn_options(&c, &o, sizeof o, opt) && check_call(&c, l, x, &o))
        y = forward(&c, l, x, &o);
    lz_nn_layer_end(&scope);
    return nn_end(&c, y);
}
