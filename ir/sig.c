/* sig.c - signatures: a cache of the thread in front of one table of the process. See op.h.
 * Threads: thread-safe. */
#include "ir/attr.h"
#include "ir/infer/infer.h"
#include "ir/intern.h"
#include "ir/module.h"
#include <string.h>

static lz_infer_fn *const rules[LZ_OP_COUNT] = {
#define LZ_EW(E, text, arity, attr, dtypes, flags, infer, ...) [LZ_OP_##E] = lz_infer_##infer,
#define LZ_OP(E, text, cls, arity, attr, dtypes, flags, infer, ...) [LZ_OP_##E] = lz_infer_##infer,
#include "ir/ops.def"
};

typedef struct sig_node {
    lz_intern_node node;
    lz_sig sig;
    const lz_type *types[]; /* operands, then results */
} sig_node;

static lz_intern sigs = LZ_INTERN_INIT;

/* What is looked up; every pointer is interned. */
typedef struct sig_key {
    lz_op op;
    uint32_t nopnd;
    const lz_attr *attr;
    const lz_type *const *opnd;
} sig_key;

static inline bool sig_is(const lz_sig *s, lz_op op, const lz_attr *attr,
                          const lz_type *const *opnd, uint32_t nopnd)
{
    if (s->op != op || s->attr != attr || s->nopnd != nopnd)
        return false;
    for (uint32_t i = 0; i < nopnd; i++)
        if (s->opnd[i] != opnd[i])
            return false;
    return true;
}

static bool sig_same(const lz_intern_node *node, const void *key)
{
    const sig_key *k = key;
    return sig_is(&((const sig_node *)(const void *)node)->sig, k->op, k->attr, k->opnd, k->nopnd);
}

static lz_hash sig_hash(const sig_key *k)
{
    const char *text = lz_op_get(k->op)->text;
    lz_hash pair[2] = {lz_hash_bytes(text, strlen(text)), lz_attr_hash(k->attr)};
    lz_hash h = lz_hash_bytes(pair, sizeof pair);
    for (uint32_t i = 0; i < k->nopnd; i++) {
        pair[0] = h;
        pair[1] = k->opnd[i]->hash;
        h = lz_hash_bytes(pair, sizeof pair);
    }
    return h;
}

/* ---- the slow path: check, infer, publish ---- */

static lz_status check_operands(const sig_key *k)
{
    const lz_op_info *info = lz_op_get(k->op);
    if (info->arity != LZ_ARITY_VAR && k->nopnd != (uint32_t)info->arity)
        return LZ_FAIL(LZ_EINVAL, "%s: takes %d operands, not %u", info->text, info->arity,
                       k->nopnd);
    for (uint32_t i = 0; i < k->nopnd; i++)
        if (!k->opnd[i])
            return LZ_FAIL(LZ_ENULL, "%s: operand %u has no type", info->text, i);
    if (k->attr->kind != info->attr)
        return LZ_FAIL(LZ_EINVAL, "%s: has an attribute of kind %s, but needs %s", info->text,
                       lz_attr_kind_name(k->attr->kind), lz_attr_kind_name(info->attr));
    if (k->nopnd > 0 && !lz_op_accepts(k->op, k->opnd[0]->dtype))
        return LZ_FAIL(LZ_EDTYPE, "%s: is not defined for %s%s", info->text, LZ_TT(k->opnd[0]),
                       lz_dtype_is_storage(k->opnd[0]->dtype)
                           ? ", which is only stored: convert it to a float first"
                           : "");
    return LZ_OK;
}

/* The operation says that something happens beside its results, or a region of it has such an
 * operation. */
static bool has_effect(const lz_attr *a)
{
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    int n = lz_attr_fields(a, f);
    for (int i = 0; i < n; i++) {
        bool region = f[i].type == LZ_FIELD_REGION && (*f[i].region)->effects,
             said = f[i].type == LZ_FIELD_BOOL && strcmp(f[i].name, "has_side_effect") == 0;
        if (region || (said && *f[i].flag))
            return true;
    }
    return false;
}

static sig_node *sig_new(const sig_key *k, const lz_infer *c, lz_hash hash)
{
    size_t ntypes = (size_t)k->nopnd + c->nresult;
    sig_node *n = lz_calloc(1, sizeof *n + ntypes * sizeof n->types[0]);
    if (!n) {
        (void)LZ_FAIL(LZ_EMEM, "%s: no memory for a signature", c->name);
        return NULL;
    }
    if (k->nopnd)
        memcpy(n->types, k->opnd, k->nopnd * sizeof n->types[0]);
    memcpy(n->types + k->nopnd, c->result, c->nresult * sizeof n->types[0]);
    n->node.hash = hash;
    n->sig = (lz_sig){.op = k->op,
                      .nopnd = k->nopnd,
                      .nresult = c->nresult,
                      .flags = lz_op_get(k->op)->flags,
                      .attr = k->attr,
                      .opnd = n->types,
                      .result = n->types + k->nopnd,
                      .hash = hash};
    if (has_effect(k->attr))
        n->sig.flags = (n->sig.flags & ~(uint32_t)LZ_F_PURE) | LZ_F_EFFECT;
    return n;
}

/* No operation has more results than operands and than its regions have. */
static uint32_t most_results(const sig_key *k)
{
    uint32_t n = k->nopnd;
    const lz_func *r;
    for (int i = 0; (r = lz_attr_region(k->attr, i)); i++)
        n = r->nresult > n ? r->nresult : n;
    return n;
}

static const lz_sig *sig_add(const sig_key *k, lz_hash hash)
{
    const lz_type *few[16];
    lz_infer c = {.name = lz_op_get(k->op)->text,
                  .attr = k->attr,
                  .opnd = k->opnd,
                  .nopnd = k->nopnd,
                  .result = few,
                  .nresult = 1};
    if (check_operands(k) != LZ_OK)
        return NULL;
    uint32_t room = most_results(k);
    if (room > sizeof few / sizeof *few) {
        c.result = lz_calloc(room, sizeof *c.result);
        if (!c.result) {
            (void)LZ_FAIL(LZ_EMEM, "%s: no memory for %u operands", c.name, k->nopnd);
            return NULL;
        }
    }
    sig_node *fresh = rules[k->op](&c) == LZ_OK ? sig_new(k, &c, hash) : NULL;
    if (c.result != few)
        lz_free(c.result);
    if (!fresh)
        return NULL;
    sig_node *stays =
        (sig_node *)(void *)lz_intern_add(&sigs, &fresh->node, sig_same, k, &fresh->sig.id);
    if (stays != fresh)
        lz_free(fresh);
    return &stays->sig;
}

static __attribute__((noinline)) const lz_sig *
sig_get_slow(lz_op op, const lz_attr *attr, const lz_type *const *opnd, uint32_t nopnd)
{
    if (op <= LZ_OP_NONE || op >= LZ_OP_COUNT) {
        (void)LZ_FAIL(LZ_EINVAL, "%d is no operation", (int)op);
        return NULL;
    }
    const sig_key k = {op, nopnd, lz_attr_get(attr), opnd};
    if (!k.attr)
        return NULL;
    for (uint32_t i = 0; i < nopnd; i++)
        if (!opnd[i]) {
            (void)check_operands(&k); /* says which one */
            return NULL;
        }
    lz_hash hash = sig_hash(&k);
    sig_node *n = (sig_node *)(void *)lz_intern_find(&sigs, hash, sig_same, &k);
    return n ? &n->sig : sig_add(&k, hash);
}

/* ---- the fast path ---- */

enum { CACHE_BITS = 10 };
static _Thread_local const lz_sig *cache[1 << CACHE_BITS];

static inline uint64_t mix(uint64_t h, uint64_t v)
{
    return (h ^ v) * 0x9E3779B97F4A7C15u;
}

const lz_sig *lz_sig_get(lz_op op, const lz_attr *attr, const lz_type *const *opnd, uint32_t nopnd)
{
    if (!attr)
        attr = &lz_attr_empty;
    uint64_t h = mix((uint64_t)op, (uintptr_t)attr);
    for (uint32_t i = 0; i < nopnd; i++)
        h = mix(h ^ h >> 32, (uintptr_t)opnd[i]);
    const lz_sig **slot = &cache[h >> (64 - CACHE_BITS)];
    if (*slot && sig_is(*slot, op, attr, opnd, nopnd))
        return *slot;
    const lz_sig *s = sig_get_slow(op, attr, opnd, nopnd);
    if (s)
        *slot = s; /* found again only through its interned attribute: a caller's own record never
                      matches */
    return s;
}

const lz_sig *lz_sig_result(const lz_sig *multi, int64_t index)
{
    if (index < 0 || index >= multi->nresult) {
        (void)LZ_FAIL(LZ_ERANGE, "result: %s has %u results, not a number %" PRId64,
                      lz_op_get(multi->op)->text, multi->nresult, index);
        return NULL;
    }
    const lz_type *t = multi->result[index];
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_index);
    a.as_index.index = index;
    a.as_index.dtype = t->dtype;
    a.as_index.shape = t->shape;
    const lz_attr *attr = lz_attr_get(&a.head);
    return attr ? lz_sig_get(LZ_OP_RESULT, attr, &multi->result[0], 1) : NULL;
}
