/* eval_partitions.h - the reference of programs that run on several partitions at once: all of them
 * in lock step, an instruction at a time, so that a collective finds the operands of everybody.
 * What compiled programs do on several devices is compared with this.
 * Threads: pure functions of immutable literals. */
#ifndef LZ_IR_EVAL_EVAL_PARTITIONS_H
#define LZ_IR_EVAL_EVAL_PARTITIONS_H
#include "ir/eval/eval.h"
#include "ir/participants.h"

/* Runs the function that every one of n partitions runs (of one replica). args[p]: nparam literals
 * of partition p (borrowed; a parameter that is the partition's number is one of them). results[p]:
 * room for nresult, which become new references. PARTITION_ID is p, REPLICA_ID 0.
 * Collectives sum and join in the order of their groups: the region of a reduction is applied to
 * what the members before have given and the next member's operand, and rounds as it says.
 * Loops and branches with collectives in them go through for all partitions together, and their
 * predicates must agree; those without are each partition's own.
 * Errors: as lz_ref_run; LZ_EINVAL naming the operation whose predicates differ, or that names
 * participants that there are not; LZ_ESHAPE. On error every result is NULL. */
lz_status lz_ref_run_partitions(const lz_func *local, int64_t n, lz_literal *const *const *args,
                                lz_literal ***results);
/* The same, and how often partition 0 ran each collective, added to *uses; NULL: not wanted. */
lz_status lz_ref_count_partitions(const lz_func *local, int64_t n, lz_literal *const *const *args,
                                  lz_literal ***results, lz_collective_uses *uses);

/* One collective alone: opnds[p] and results[p] of every partition. */
lz_status lz_ref_collective_all(const lz_sig *sig, const lz_participants *g,
                                lz_literal *const *const *opnds, lz_literal ***results);
#endif
