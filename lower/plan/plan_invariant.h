/* plan_invariant.h - loop-invariant launches: what need not run again while some arguments stay
 * the same. Inference repeats the transposes and scalings of its weights in every run, always with
 * the same result. lz_invariants_find finds the launches that depend, directly or through each
 * other, only on constants and arguments said to be stable. Their results that others read move
 * from the temporaries, which later values overwrite, to memory of their own (the run-to-run
 * constant cache); then a run may skip these launches. Only the outermost part is searched. A
 * result is cached whole or not at all: one kernel writes it, and reads stay within its bytes.
 * Cost: proportional to the buffers of all steps and the values alive at a time; plans of very
 *   many steps are left alone.
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
