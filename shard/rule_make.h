/* rule_make.h - between the files of shard/ that make sharding rules: one function for each name in
 * the shard column of ir/ops.def, which adds factors and says which dimensions have them.
 * Threads: pure functions of signatures. */
#ifndef LZ_SHARD_RULE_MAKE_H
#define LZ_SHARD_RULE_MAKE_H
#include "ir/op.h"
#include "shard/rules.h"

typedef struct lz_rule_make {
    const lz_sig *sig;
    lz_arena *arena;
    lz_rule *r; /* tensors have their ranks, no dimension has a factor */
} lz_rule_make;
typedef void lz_shard_fn(lz_rule_make *m);

lz_shard_fn lz_shard_each; /* of the elementwise rows, too */
#define LZ_EW(...)
#define LZ_OP(E, text, cls, arity, attr, dtypes, flags, infer, vjp, jvp, batch, eval, loops,       \
              shard, ...)                                                                          \
    extern lz_shard_fn lz_shard_##shard;
#include "ir/ops.def"

/* ---- for the rules. Tensors are numbered as in lz_rule: operands, then results ---- */

static inline uint32_t lz_rule_result(const lz_rule_make *m, uint32_t k)
{
    return m->sig->nopnd + k;
}
static inline const lz_shape *lz_rule_shape(const lz_rule_make *m, uint32_t tensor)
{
    uint32_t n = m->sig->nopnd;
    return &(tensor < n ? m->sig->opnd[tensor] : m->sig->result[tensor - n])->shape;
}
/* A new factor: its number. There is room for two of each dimension of each tensor. */
int lz_rule_add(lz_rule_make *m, lz_factor_kind kind, int64_t size);
/* Dimension d of the tensor has the factor, behind those that it has. */
void lz_rule_put(lz_rule_make *m, uint32_t tensor, int64_t d, int factor);
/* A new factor of dimension da of a and db of b, of a's extent: PASS where the extents are equal,
 * else of the kind given; blocked, where GATHER. */
int lz_rule_pair(lz_rule_make *m, uint32_t a, int64_t da, uint32_t b, int64_t db,
                 lz_factor_kind unequal);
/* A new factor of that dimension alone. */
int lz_rule_alone(lz_rule_make *m, uint32_t tensor, int64_t d, lz_factor_kind kind);
/* What a region sums: NONE when partial results of it cannot be joined by one operation. */
lz_op lz_rule_reduction(const struct lz_func *region);
#endif
