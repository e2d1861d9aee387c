/* rules.h - sharding rules: which dimensions of the operands and results of an operation go
 * together. A rule names factors (loops of the operation); each dimension of each tensor is a list
 * of factors, major to minor, or none. Shardy calls this an op_sharding_rule. (Factors of a mesh,
 * ir/sharding/mesh.h, are called axes in this folder.)
 * Axes on a dimension of several factors must divide them, else the tiles of the two sides of a
 * reshape are not the same elements.
 * Threads: pure functions of signatures. */
#ifndef LZ_SHARD_RULES_H
#define LZ_SHARD_RULES_H
#include "base/alloc.h"
#include "ir/sharding/sharding.h"

typedef enum lz_factor_kind {
    LZ_FACTOR_PASS,    /* the same sharding everywhere, no communication */
    LZ_FACTOR_REDUCE,  /* in operands only: the result is unreduced along it */
    LZ_FACTOR_PERMUTE, /* neighbours exchange: halo, shift; partition knows how or replicates */
    LZ_FACTOR_GATHER   /* must be whole on each device ("need replication") */
} lz_factor_kind;

typedef struct lz_rule_factor {
    lz_factor_kind kind;
    int64_t size;
    bool blocked;    /* not propagated */
    lz_op reduction; /* of REDUCE: ADD, ...; NONE: of no known operation, partials are gathered */
} lz_rule_factor;

enum { LZ_RULE_DIM_FACTORS = LZ_MAX_RANK };
typedef struct lz_rule_dim {
    uint8_t n;                        /* 0: a dimension of no factor */
    uint16_t at[LZ_RULE_DIM_FACTORS]; /* major to minor */
} lz_rule_dim;
typedef struct lz_rule_tensor {
    int32_t rank;
    lz_rule_dim dims[LZ_MAX_RANK];
} lz_rule_tensor;

/* Tensors: the operands, then the results. Scalars that broadcast have rank 0. */
typedef struct lz_rule {
    uint32_t nfactor, nopnd, nresult;
    lz_rule_factor *factors;
    lz_rule_tensor *tensors;
    bool elementwise; /* of the first stage of propagation: elementwise, reshape, transpose */
    bool slices;      /* dynamic slices: of the first stage forwards */
    bool expands;     /* broadcasts: forwards in the last stage only */
    bool free_result; /* constants, iota, splats: each use has its own copy */
    bool edges; /* while, if, barriers, calls: values of regions and operands are one; no factors */
} lz_rule;

/* The rule of an operation, in the arena: column `shard` of the table (shard/rules.c), by class
 * where classes suffice. Errors: LZ_EMEM. */
lz_status lz_rule_of(const lz_sig *sig, lz_arena *a, const lz_rule **out);
/* ([i, k], [k, j])->([i, j]) {i=8, j=4, k=2} reduction={k}: as Shardy prints it. */
void lz_rule_print(lz_buf *b, const lz_rule *r);
#endif
