/* rules.c - the table of sharding rules, the shortest of them, and their text. See rules.h.
 * What dimensions an operation lets be spread over devices, and what that costs, is Shardy's
 * registry (openxla/shardy, op_sharding_rule_registry.cc), in the words of the table's attributes.
 * Threads: pure functions of signatures. */
#include "shard/rules.h"
#include "base/vec.h"
#include "ir/module.h"
#include "shard/rule_make.h"
#include <inttypes.h>

static lz_shard_fn *const rules[LZ_OP_COUNT] = {
#define LZ_EW(E, ...) [LZ_OP_##E] = lz_shard_each,
#define LZ_OP(E, text, cls, arity, attr, dtypes, flags, infer, vjp, jvp, batch, eval, loops,       \
              shard, ...)                                                                          \
    [LZ_OP_##E] = lz_shard_##shard,
#include "ir/ops.def"
};

/* ---- for the rules ---- */

int lz_rule_add(lz_rule_make *m, lz_factor_kind kind, int64_t size)
{
    m->r->factors[m->r->nfactor] = (lz_rule_factor){.kind = kind, .size = size};
    return (int)m->r->nfactor++;
}

void lz_rule_put(lz_rule_make *m, uint32_t tensor, int64_t d, int factor)
{
    lz_rule_dim *dim = &m->r->tensors[tensor].dims[d];
    if (dim->n < LZ_RULE_DIM_FACTORS)
        dim->at[dim->n++] = (uint16_t)factor;
}

int lz_rule_pair(lz_rule_make *m, uint32_t a, int64_t da, uint32_t b, int64_t db,
                 lz_factor_kind unequal)
{
    int64_t extent = lz_rule_shape(m, a)->dims[da];
    bool equal = extent == lz_rule_shape(m, b)->dims[db];
    int f = lz_rule_add(m, equal ? LZ_FACTOR_PASS : unequal, extent);
    m->r->factors[f].blocked = !equal && unequal == LZ_FACTOR_GATHER;
    lz_rule_put(m, a, da, f);
    lz_rule_put(m, b, db, f);
    return f;
}

int lz_rule_alone(lz_rule_make *m, uint32_t tensor, int64_t d, lz_factor_kind kind)
{
    int f = lz_rule_add(m, kind, lz_rule_shape(m, tensor)->dims[d]);
    lz_rule_put(m, tensor, d, f);
    return f;
}

lz_op lz_rule_reduction(const lz_func *region)
{
    lz_op op = lz_region_as_binary(region);
    switch (op) {
    case LZ_OP_ADD:
    case LZ_OP_MULTIPLY:
    case LZ_OP_MAXIMUM:
    case LZ_OP_MINIMUM:
    case LZ_OP_AND:
    case LZ_OP_OR:
        return op;
    default:
        return LZ_OP_NONE;
    }
}

/* ---- rules of few words ---- */

/* Dimension k of every tensor but scalars, which broadcast. */
void lz_shard_each(lz_rule_make *m)
{
    const lz_shape *s = lz_rule_shape(m, lz_rule_result(m, 0));
    m->r->elementwise = true;
    for (int d = 0; d < s->rank; d++) {
        int f = lz_rule_add(m, LZ_FACTOR_PASS, s->dims[d]);
        for (uint32_t t = 0; t < m->sig->nopnd + m->sig->nresult; t++)
            if (m->r->tensors[t].rank == s->rank)
                lz_rule_put(m, t, d, f);
    }
}

/* A value that is given: its dimensions are its own. */
void lz_shard_leaf(lz_rule_make *m)
{
    for (int d = 0; d < lz_rule_shape(m, lz_rule_result(m, 0))->rank; d++)
        lz_rule_alone(m, lz_rule_result(m, 0), d, LZ_FACTOR_PASS);
}

void lz_shard_free(lz_rule_make *m)
{
    lz_shard_leaf(m);
    m->r->free_result = true;
}

/* It is done on whole arrays, by every device. */
void lz_shard_whole(lz_rule_make *m)
{
    for (uint32_t t = 0; t < m->sig->nopnd + m->sig->nresult; t++)
        for (int d = 0; d < m->r->tensors[t].rank; d++)
            lz_rule_alone(m, t, d, LZ_FACTOR_GATHER);
}

void lz_shard_edges(lz_rule_make *m)
{
    m->r->edges = true;
}

/* ---- the rule of a signature ---- */

static lz_rule *new_rule(const lz_sig *sig, lz_arena *a)
{
    uint32_t n = sig->nopnd + sig->nresult;
    lz_rule *r = lz_arena_alloc(a, sizeof *r);
    lz_rule_tensor *tensors = lz_arena_alloc(a, (n ? n : 1) * sizeof *tensors);
    size_t dims = 0;
    if (!r || !tensors)
        return NULL;
    for (uint32_t t = 0; t < n; t++) {
        const lz_type *type = t < sig->nopnd ? sig->opnd[t] : sig->result[t - sig->nopnd];
        tensors[t].rank = type->shape.rank;
        dims += (size_t)type->shape.rank;
    }
    *r = (lz_rule){.nopnd = sig->nopnd, .nresult = sig->nresult, .tensors = tensors};
    r->factors = lz_arena_alloc(a, (2 * dims + 1) * sizeof *r->factors);
    return r->factors ? r : NULL;
}

lz_status lz_rule_of(const lz_sig *sig, lz_arena *a, const lz_rule **out)
{
    lz_rule_make m = {sig, a, new_rule(sig, a)};
    *out = m.r;
    if (!m.r)
        return LZ_FAIL(LZ_EMEM, "%s: no memory for a sharding rule", lz_op_get(sig->op)->text);
    rules[sig->op](&m);
    return LZ_OK;
}

/* ---- its text ---- */

/* i, j, .. z, z_1, z_2, .. */
static void print_factor(lz_buf *b, uint32_t k)
{
    enum { LETTERS = 'z' - 'i' + 1 };
    if (k < LETTERS)
        lz_buf_putc(b, (char)('i' + (int)k));
    else
        lz_buf_printf(b, "z_%u", k - LETTERS + 1);
}

static void print_tensors(lz_buf *b, const lz_rule_tensor *t, uint32_t n)
{
    lz_buf_putc(b, '(');
    for (uint32_t k = 0; k < n; k++) {
        lz_buf_puts(b, k ? ", [" : "[");
        for (int d = 0; d < t[k].rank; d++) {
            lz_buf_puts(b, d ? ", " : "");
            for (int i = 0; i < t[k].dims[d].n; i++)
                print_factor(b, t[k].dims[d].at[i]);
            if (!t[k].dims[d].n)
                lz_buf_putc(b, '*');
        }
        lz_buf_putc(b, ']');
    }
    lz_buf_putc(b, ')');
}

static bool is_of(const lz_rule_factor *f, int what)
{
    return what < 0 ? f->blocked : (int)f->kind == what;
}

/* what: a kind; -1: those that are blocked. */
static void print_list(lz_buf *b, const lz_rule *r, const char *name, int what)
{
    const char *sep = "";
    for (uint32_t k = 0; k < r->nfactor; k++) {
        if (!is_of(&r->factors[k], what))
            continue;
        if (!*sep)
            lz_buf_printf(b, " %s={", name);
        lz_buf_puts(b, sep);
        print_factor(b, k);
        sep = ", ";
    }
    lz_buf_puts(b, *sep ? "}" : "");
}

void lz_rule_print(lz_buf *b, const lz_rule *r)
{
    print_tensors(b, r->tensors, r->nopnd);
    lz_buf_puts(b, "->");
    print_tensors(b, r->tensors + r->nopnd, r->nresult);
    lz_buf_puts(b, " {");
    for (uint32_t k = 0; k < r->nfactor; k++) {
        lz_buf_puts(b, k ? ", " : "");
        print_factor(b, k);
        lz_buf_printf(b, "=%" PRId64, r->factors[k].size);
    }
    lz_buf_putc(b, '}');
    print_list(b, r, "reduction", LZ_FACTOR_REDUCE);
    print_list(b, r, "need_replication", LZ_FACTOR_GATHER);
    print_list(b, r, "permutation", LZ_FACTOR_PERMUTE);
    print_list(b, r, "blocked_propagation", -1);
}
