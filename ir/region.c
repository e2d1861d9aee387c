/* region.c - interned functions: the bodies of reduce, scatter and of control flow. Equal canonical
 * bytes, one pointer. Threads: thread-safe. */
#include "base/alloc.h"
#include "ir/attr.h"
#include "ir/func.h"
#include "ir/intern.h"
#include <string.h>

typedef struct region_node {
    lz_intern_node node;
    lz_func *func;
    size_t nbytes;
    char bytes[]; /* canonical form */
} region_node;

static lz_intern regions = LZ_INTERN_INIT;

static bool region_same(const lz_intern_node *node, const void *key)
{
    const region_node *r = (const region_node *)(const void *)node;
    const lz_buf *b = key;
    return r->nbytes == b->len && memcmp(r->bytes, b->data, b->len) == 0;
}

static const lz_func *region_add(lz_func *f, const lz_buf *bytes, lz_hash hash)
{
    region_node *n = lz_alloc(sizeof *n + bytes->len);
    if (!n) {
        (void)LZ_FAIL(LZ_EMEM, "no memory for a region");
        lz_func_destroy(f);
        return NULL;
    }
    f->interned = true;
    f->hash = hash;
    f->bytes = n->bytes;
    f->nbytes = bytes->len;
    lz_map_free(&f->table);
    n->node = (lz_intern_node){NULL, hash};
    n->func = f;
    n->nbytes = bytes->len;
    memcpy(n->bytes, bytes->data, bytes->len);
    region_node *stays =
        (region_node *)(void *)lz_intern_add(&regions, &n->node, region_same, bytes, NULL);
    if (stays != n) {
        lz_func_destroy(f);
        lz_free(n);
    }
    return stays->func;
}

/* Everything that walks into regions may recurse, because this bounds how far. */
static lz_status find_depth(const lz_func *f, uint32_t *depth)
{
    *depth = 0;
    for (uint32_t i = 0; i < f->ninst; i++) {
        const lz_func *r;
        for (int k = 0; (r = lz_attr_region(f->insts[i].sig->attr, k)); k++)
            if (r->depth + 1 > *depth)
                *depth = r->depth + 1;
    }
    if (*depth >= LZ_MAX_REGION_DEPTH)
        return LZ_FAIL(LZ_EUNSUPPORTED, "%s: regions nest more than %d deep", f->name,
                       LZ_MAX_REGION_DEPTH);
    return LZ_OK;
}

const lz_func *lz_region_intern(const lz_func *f)
{
    uint32_t depth;
    if (f->interned)
        return f;
    if (lz_func_verify(f) != LZ_OK || find_depth(f, &depth) != LZ_OK)
        return NULL;
    lz_func *copy = lz_func_prune(f); /* dead instructions do not make a difference */
    if (!copy)
        return NULL;
    copy->depth = depth;
    lz_buf bytes = {0};
    lz_func_serialize(copy, &bytes);
    const lz_func *r = NULL;
    if (bytes.failed) {
        (void)LZ_FAIL(LZ_EMEM, "no memory for a region");
        lz_func_destroy(copy);
    } else {
        lz_hash hash = lz_hash_bytes(bytes.data, bytes.len);
        region_node *n = (region_node *)(void *)lz_intern_find(&regions, hash, region_same, &bytes);
        if (n) {
            r = n->func;
            lz_func_destroy(copy);
        } else {
            r = region_add(copy, &bytes, hash);
        }
    }
    lz_buf_free(&bytes);
    return r;
}

const lz_func *lz_region_binary(lz_op combiner, lz_dtype d)
{
    static _Atomic(const lz_func *) known[LZ_OP_COUNT][LZ_DTYPE_COUNT];
    bool cached = (unsigned)combiner < LZ_OP_COUNT && (unsigned)d < LZ_DTYPE_COUNT;
    const lz_func *r =
        cached ? atomic_load_explicit(&known[combiner][d], memory_order_acquire) : NULL;
    if (r)
        return r;
    const lz_shape scalar = {0};
    const lz_type *t = lz_type_get(d, &scalar);
    lz_func *f = t ? lz_func_new("body") : NULL;
    if (!f)
        return NULL;
    lz_val a = lz_build_param(f, t), b = lz_build_param(f, t);
    lz_val v = lz_build_ew2(f, combiner, a, b);
    if (v != LZ_NOVAL && lz_func_set_results(f, &v, 1) == LZ_OK)
        r = lz_region_intern(f);
    lz_func_free(f);
    if (r)
        atomic_store_explicit(&known[combiner][d], r, memory_order_release);
    return r;
}

const lz_func *lz_region_assign(lz_dtype d)
{
    static const lz_shape scalar;
    const lz_type *t = lz_type_get(d, &scalar);
    lz_func *f = t ? lz_func_new("assign") : NULL;
    if (!f)
        return NULL;
    (void)lz_build_param(f, t);
    lz_val update = lz_build_param(f, t);
    const lz_func *r = update != LZ_NOVAL && lz_func_set_results(f, &update, 1) == LZ_OK
                           ? lz_region_intern(f)
                           : NULL;
    lz_func_free(f);
    return r;
}

lz_op lz_region_as_binary(const lz_func *r)
{
    if (!r || r->nparam != 2 || r->ninst != 3 || r->nresult != 1 || r->results[0] != 2)
        return LZ_OP_NONE;
    const lz_inst *in = &r->insts[2];
    if (in->sig->nopnd != 2 || in->sig->attr->kind != LZ_ATTR_none || in->opnd[0] != 0 ||
        in->opnd[1] != 1)
        return LZ_OP_NONE;
    return (in->sig->flags & (LZ_F_COMM | LZ_F_ASSOC)) == (LZ_F_COMM | LZ_F_ASSOC) ? in->sig->op
                                                                                   : LZ_OP_NONE;
}

/* first: of NaN the lower index, too. */
static const lz_func *make_arg(bool max, bool first, lz_dtype value, lz_dtype index)
{
    const lz_shape scalar = {0};
    const lz_type *t = lz_type_get(value, &scalar), *p = lz_type_get(index, &scalar);
    lz_func *f = t && p ? lz_func_new("arg") : NULL;
    if (!f)
        return NULL;
    lz_val a = lz_build_param(f, t), ai = lz_build_param(f, p), b = lz_build_param(f, t),
           bi = lz_build_param(f, p);
    lz_val more = lz_build_compare(f, max ? LZ_CMP_GT : LZ_CMP_LT, a, b),
           same = lz_build_compare(f, LZ_CMP_EQ, a, b),
           lower = lz_build_compare(f, LZ_CMP_LT, ai, bi);
    lz_val take = lz_build_ew2(f, LZ_OP_OR, more, lz_build_ew2(f, LZ_OP_AND, same, lower));
    if (lz_dtype_is_float(value)) {
        lz_val an = lz_build_compare(f, LZ_CMP_NE, a, a), bn = lz_build_compare(f, LZ_CMP_NE, b, b);
        lz_val loses =
            first ? lz_build_ew1(f, LZ_OP_NOT, lower) : lower; /* a, where both are NaN */
        lz_val wins = lz_build_ew1(f, LZ_OP_NOT, lz_build_ew2(f, LZ_OP_AND, bn, loses));
        take = lz_build_select(f, an, wins, take);
    }
    lz_val out[2] = {lz_build_select(f, take, a, b), lz_build_select(f, take, ai, bi)};
    const lz_func *r =
        f->status == LZ_OK && lz_func_set_results(f, out, 2) == LZ_OK ? lz_region_intern(f) : NULL;
    lz_func_free(f);
    return r;
}

static const lz_func *region_arg(bool max, bool first, lz_dtype value, lz_dtype index)
{
    static _Atomic(const lz_func *) known[2][2][LZ_DTYPE_COUNT][LZ_DTYPE_COUNT];
    if ((unsigned)value >= LZ_DTYPE_COUNT || (unsigned)index >= LZ_DTYPE_COUNT)
        return make_arg(max, first, value, index);
    _Atomic(const lz_func *) *at = &known[max][first][value][index];
    const lz_func *r = atomic_load_explicit(at, memory_order_acquire);
    if (!r && (r = make_arg(max, first, value, index)))
        atomic_store_explicit(at, r, memory_order_release);
    return r;
}

const lz_func *lz_region_arg(bool max, lz_dtype value, lz_dtype index)
{
    return region_arg(max, false, value, index);
}

const lz_func *lz_region_arg_first(bool max, lz_dtype value, lz_dtype index)
{
    return region_arg(max, true, value, index);
}

const lz_func *lz_region_of_present(const lz_func *body)
{
    uint32_t n = body->nresult;
    lz_func *f = lz_func_new("there");
    const lz_func *out = NULL;
    lz_val *v = lz_calloc(6 * (size_t)n + 2, sizeof *v);
    if (!f || !v) {
        lz_func_free(f);
        lz_free(v);
        (void)LZ_FAIL(LZ_EMEM, "no memory for a region of %u results", n);
        return NULL;
    }
    const lz_shape scalar = LZ_SCALAR;
    const lz_type *pred = lz_type_get(LZ_BOOL, &scalar);
    lz_val *both = v + 2 * (size_t)n + 2, *results = both + 2 * (size_t)n;
    for (uint32_t k = 0; k < 2 * n + 2; k++) {
        uint32_t side = k / (n + 1), i = k % (n + 1);
        v[k] = lz_build_param(f, i < n ? lz_val_type(body, side * n + i) : pred);
        if (i < n)
            both[side * n + i] = v[k];
    }
    lz_val here = v[n], there = v[2 * n + 1];
    if (lz_build_inline(f, body, both, results) == LZ_OK) {
        for (uint32_t k = 0; k < n; k++)
            results[k] =
                lz_build_select(f, here, lz_build_select(f, there, results[k], v[k]), v[n + 1 + k]);
        results[n] = lz_build_ew2(f, LZ_OP_OR, here, there);
        if (lz_func_set_results(f, results, n + 1) == LZ_OK)
            out = lz_region_intern(f);
    }
    lz_func_free(f);
    lz_free(v);
    return out;
}
