/* plan_invariant.h - what of a program need not run again while some of its arguments stay the
 * same. Weights that a network is run with over and over are transposed for the products, scaled by
 * the statistics of norms and so on in every run, always to the same bytes. lz_invariants_find
 * finds the launches that read nothing but constants and arguments said to be stable, directly or
 * through each other. What others read of their results is moved out of the temporaries, where
 * later values are written over it, into memory of its own, the kept memory; then a run may leave
 * these launches out. Only the outermost part of a program is looked at. A result is kept whole or
 * not at all: it must be written at once by a kernel, and read within these bytes only.
 * Cost: of a search, proportional to the buffers of all steps and the values that are alive at a
 * time; programs of very many steps are left alone.
 * Units: bytes. Threads: pure; what is found is immutable. */
#ifndef LZ_LOWER_PLAN_PLAN_INVARIANT_H
#define LZ_LOWER_PLAN_PLAN_INVARIANT_H
#include "lower/plan/plan.h"

struct lz_plan_exec;

enum { LZ_KEEP_STEPS = 16384 /* of the longest program that is looked at */ };

/* Address number `slot` of the outermost part is `at` bytes into the kept memory. */
typedef struct lz_invariants_place {
    uint32_t slot;
    uint64_t at;
} lz_invariants_place;

typedef struct lz_invariants {
    uint64_t nbytes; /* of the kept memory, to be aligned to 64 */
    uint32_t nplace;
    lz_invariants_place *places;
    uint32_t nskip;
    bool *skip;            /* by launch of the outermost part */
    uint64_t flops, bytes; /* of the steps that are left out, as plans estimate */
} lz_invariants;

/* stable: by argument. *out is NULL when there is nothing to leave out. Errors: LZ_EMEM. */
lz_status lz_invariants_find(const struct lz_plan_exec *g, const bool *stable, lz_invariants **out);
void lz_invariants_free(lz_invariants *k); /* NULL is fine */
#endif
