/* participants.h - who meets in a collective, when the partitions of one program run it: the
 * groups of its attributes as lists of partitions. Used by whatever runs collectives: the reference
 * evaluator and plans.
 * Threads: pure functions; results are thread-compatible. */
#ifndef LZ_IR_PARTICIPANTS_H
#define LZ_IR_PARTICIPANTS_H
#include "ir/module.h"

/* What the numbers in a collective's groups name (StableHLO, "process groups"). */
typedef enum lz_group_mode {
    LZ_GROUP_REPLICAS,       /* replicas; each partition meets its like */
    LZ_GROUP_PARTITIONS,     /* partitions; each replica by itself */
    LZ_GROUP_ALL_PARTITIONS, /* replicas, with all their partitions */
    LZ_GROUP_FLAT            /* partitions of all replicas, counted through */
} lz_group_mode;
typedef struct lz_group_field {
    lz_group_mode mode;
    const char *name, *text; /* of the attribute: replica_groups or source_target_pairs */
    bool pairs;
} lz_group_field;
/* sig: of class COLLECTIVE. */
lz_group_field lz_group_field_of(const lz_sig *sig);

#define LZ_NO_PARTITION UINT32_MAX
enum { LZ_MAX_PARTITIONS = 1 << 16 };

/* One replica of n partitions, in an arena. Groups: those of group g are member[start[g]] up to
 * start[g + 1], in the order of the attribute, which is the order in which values are summed and
 * joined. A partition that is in no group is LZ_NO_PARTITION. */
typedef struct lz_participants {
    uint32_t n, ngroup, largest; /* largest: members of a group */
    uint32_t *member, *start;    /* [n], [ngroup + 1] */
    uint32_t *group, *place;     /* [n]: of a partition, and where in it */
    uint32_t *from;              /* [n]: permute and broadcast: whose operand each gets */
} lz_participants;

/* Errors: LZ_EINVAL naming the operation and the participant that there is not, or the partition
 * that is in no group; LZ_ESHAPE when groups are not of as many as the types say; LZ_ERANGE (n);
 * LZ_EMEM. */
lz_status lz_participants_of(const lz_sig *sig, int64_t n, lz_arena *arena, lz_participants *out);

/* Whether a function, or a region in it, has an operation of that class (LZ_CLASS_COLLECTIVE) or
 * asks for the number of its partition, or of its replica. Regions of reducers count too. */
bool lz_func_has_collective(const lz_func *f);
bool lz_func_has_partition_id(const lz_func *f);
bool lz_func_has_replica_id(const lz_func *f);

/* What every one of n partitions is to run, where nothing is left that only the number of
 * partitions says: collectives in which nobody meets anybody are gone, and PARTITION_ID is a
 * parameter, the last one, ui32[]; *numbered says whether there is one. Regions too. replicas: they
 * are n replicas of one partition, so REPLICA_ID is the parameter, PARTITION_ID 0, and collectives
 * among replicas become those among partitions. Errors: as
 * lz_participants_of; LZ_EUNSUPPORTED (partition_id or a collective in the region of a reduction
 * and the like); LZ_EMEM. */
lz_status lz_func_bind_partitions(const lz_func *f, int64_t n, bool replicas, lz_func **out,
                                  bool *numbered);

/* The same function where what was partition p of n is partition to[p]: groups of its collectives
 * name those, in the order they had, so sums are the same. A function that asks for the number of
 * its partition by itself, or has groups of replicas, is not for this. Errors: LZ_EUNSUPPORTED
 * (partition_id, a collective that names no partitions), LZ_ERANGE (a
 * group names another), LZ_EMEM. */
lz_status lz_func_renumber_partitions(const lz_func *f, const int64_t *to, int64_t n,
                                      lz_func **out);

/* What a collective sends, for reports: one record for each collective of a program that has run,
 * in the order in which partition 0 first came to it. */
typedef struct lz_collective_use {
    const lz_sig *sig;
    const void *where;   /* it stands there: an instruction, a step */
    uint32_t group_size; /* the largest; 1 or 2 of a permute: whether anything moves */
    uint64_t executions; /* of partition 0 */
} lz_collective_use;
typedef LZ_VEC(lz_collective_use) lz_collective_uses;
lz_status lz_collective_count(lz_collective_uses *u, const lz_sig *sig, const void *where,
                              uint32_t group_size);
/* All operands, all results: bytes of one partition. */
void lz_collective_bytes(const lz_sig *sig, uint64_t *operands, uint64_t *results);
/* What one participant sends by ring and pairwise algorithms. group_size: of a permute 2, or 1
 * where nothing moves. */
uint64_t lz_collective_sent(const lz_sig *sig, uint32_t group_size);
#endif
