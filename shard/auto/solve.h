/* solve.h - one choice for each of many variables, so that the sum of what each choice costs, and
 * of what each pair of choices costs that an edge joins, is least. By elimination: a variable is
 * taken out by writing down, for each choice of its neighbours, what it costs at best. That is
 * exact as long as what is written down stays small, as on trees and chains of any length.
 * Otherwise the costs around a variable are cut into parts that each are minimised alone, which
 * gives a lower bound (Dechter's mini-buckets), and the choices are improved one by one.
 * Threads: pure functions; results do not depend on anything but the problem. */
#ifndef LZ_SHARD_AUTO_SOLVE_H
#define LZ_SHARD_AUTO_SOLVE_H
#include "base/alloc.h"
#include "base/status.h"

typedef struct lz_choice_edge {
    uint32_t a, b;      /* two variables */
    const double *cost; /* [size of a][size of b] */
} lz_choice_edge;

typedef struct lz_choices {
    uint32_t n, nedge;
    const uint32_t *size;     /* [n]: choices of each variable, at least 1 */
    const double *const *own; /* [n]: what each choice costs by itself */
    const lz_choice_edge *edges;
    /* More may be allowed: [n], or NULL. Choices v with !may[i][v] are not taken; may[i] NULL: all
     * are. At least one is allowed. */
    const bool *const *may;
} lz_choices;

typedef struct lz_choices_found {
    uint32_t *pick; /* [n] */
    double cost;
    double bound; /* no picks cost less */
    bool exact;   /* cost is the bound, but for rounding */
} lz_choices_found;

enum {
    LZ_CHOICES_TABLE = 1 << 16
}; /* entries of a table, at most; 2-variable ones may be larger */

/* starts: picks that may be good, nstart times n. The result is in the arena. Errors: LZ_EMEM. */
lz_status lz_choices_solve(const lz_choices *c, const uint32_t *const *starts, uint32_t nstart,
                           lz_arena *a, lz_choices_found *out);
/* Picks, which are changed one at a time as long as that costs less. Errors: LZ_EMEM. */
lz_status lz_choices_improve(const lz_choices *c, uint32_t *pick, lz_arena *a);
/* What some picks cost. */
double lz_choices_cost(const lz_choices *c, const uint32_t *pick);
#endif
