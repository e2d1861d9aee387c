/* cost_model.h - how long products, passes over memory and collectives take on machines of a table
 * (machines.def). Whoever chooses between shardings, or predicts a step, asks here.
 * Sizes are doubles: costs of what no machine could hold are large numbers, never overflows.
 * Units: seconds, bytes, floating-point operations. Threads: pure; rows are immutable. */
#ifndef LZ_SHARD_COST_COST_MODEL_H
#define LZ_SHARD_COST_COST_MODEL_H
#include "ir/op.h"
#include "ir/sharding/mesh.h"

enum { LZ_COST_TORUS = 3 }; /* dimensions of a torus, at most */

/* Rates of products, by what they multiply. */
typedef enum lz_cost_rate {
    LZ_RATE_F64,
    LZ_RATE_F32,
    LZ_RATE_F16, /* and bf16 */
    LZ_RATE_8BIT,
    LZ_RATE_COUNT
} lz_cost_rate;

/* Facts of one device and of its links; what programs reach of them. */
typedef struct lz_cost_machine {
    const char *name, *text;
    double flop_s[LZ_RATE_COUNT]; /* 0: it cannot */
    double memory, memory_s;
    /* A product is made of tiles, `units` at a time; a tile takes the time of k + fill products. */
    double units, tile_m, tile_n, fill;
    int64_t node; /* devices that a switch joins; 1: none */
    double node_s, node_latency;
    int32_t torus; /* dimensions of the torus of nodes; 0: none */
    int64_t pod;   /* nodes of the largest torus */
    int64_t wrap;  /* from this extent on its dimensions are rings */
    double link_s, link_latency;
    double net_s, net_latency;    /* between nodes that no torus joins, of a device */
    double product, stream, link; /* what is reached of flop_s, memory_s, links */
    double attention;             /* of flop_s, by products inside one kernel for attention */
    double launch;                /* of a kernel, beyond its work */
    double hide;     /* the share of a collective that runs behind compute that does not need it */
    double hide_own; /* the share that runs behind the product that it belongs to, in pieces */
} lz_cost_machine;

/* NULL: there is none of that name. */
const lz_cost_machine *lz_cost_machine_find(const char *name);
const lz_cost_machine *lz_cost_machine_at(int i); /* NULL: there are no more */

/* ---- compute ---- */

lz_cost_rate lz_cost_rate_of(lz_dtype d);
/* batch products of m x k and k x n matrices that move `bytes` between memory and the device: the
 * longer of the time of its tiles and of its bytes. */
double lz_cost_product(const lz_cost_machine *c, lz_cost_rate rate, double batch, double m,
                       double n, double k, double bytes);
/* Such products inside a kernel for attention, which keeps what is between them on chip. */
double lz_cost_attention(const lz_cost_machine *c, lz_cost_rate rate, double flops, double bytes);
/* A kernel that does little but read and write. */
double lz_cost_memory(const lz_cost_machine *c, double bytes);

/* ---- collectives ---- */

typedef enum lz_cost_level {
    LZ_LEVEL_NODE,
    LZ_LEVEL_TORUS,                                /* and LZ_COST_TORUS - 1 more */
    LZ_LEVEL_NET = LZ_LEVEL_TORUS + LZ_COST_TORUS, /* from node to node, or pod to pod */
    LZ_LEVEL_COUNT
} lz_cost_level;

/* A mesh on a machine: over which links steps along its factors go. */
typedef struct lz_cost_place {
    const lz_cost_machine *machine;
    const lz_mesh *mesh;
    int64_t torus[LZ_COST_TORUS];   /* the extents of the slice; 1: no such dimension */
    uint8_t level[LZ_MESH_FACTORS]; /* of each factor: lz_cost_level */
} lz_cost_place;

/* The last axis is the nearest: within nodes as far as it goes, then along the torus, then over the
 * network. An axis that is as large as some dimensions of the torus (and a node) gets those, as
 * devices are ordered for a torus. */
void lz_cost_place_mesh(const lz_cost_machine *c, const lz_mesh *mesh, lz_cost_place *out);

/* A collective among the devices that differ along `axes`, factors of the mesh. bytes: of one
 * device's operand; of an all_gather, its result. The ring's time, or that of trees and halving
 * where latencies count; level by level where a group has several. */
double lz_cost_collective(const lz_cost_place *p, lz_op kind, uint32_t axes, double bytes);

/* ---- pipelines ---- */

/* What an interleaved 1F1B schedule loses, in times of one micro-batch on one stage: stages - 1 of
 * them, each of a `chunks`-th of a stage. */
double lz_cost_bubble(double stages, double chunks);
#endif
