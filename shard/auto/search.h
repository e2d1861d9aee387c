/* search.h - between search.c and what gives it candidates.
 * Threads: thread-compatible. */
#ifndef LZ_SHARD_AUTO_SEARCH_H
#define LZ_SHARD_AUTO_SEARCH_H
#include "shard/auto/model.h"

typedef struct lz_auto_search {
    lz_auto_model m;
    lz_auto_real real;
    lz_auto_plan *plan;
    uint32_t *pick;      /* the model's best choices, of each variable */
    lz_auto_trial *best; /* NULL: nothing has been tried */
    LZ_VEC(lz_auto_trial *) tried;
    /* By parameter: the first of those that are placed alike (weights and the optimizer's states of
     * them), and a hash of what it is for: equal layers' are equal. (classes.c) */
    lz_val *group;
    lz_hash *class_of;
} lz_auto_search;

/* Partitions a candidate and keeps the better one. */
lz_status lz_auto_consider(lz_auto_search *s, lz_auto_trial *t);
/* What the model's choices say: of parameters and results, and of values that begin a variable. */
lz_status lz_auto_trial_of(lz_auto_search *s, const char *origin, const uint32_t *pick, bool values,
                           lz_auto_trial **out);
/* Whether a parameter has a mark of the function's own. */
bool lz_auto_is_marked(const lz_auto_search *s, lz_val param);
/* The model's problem; own costs with `price` seconds for each byte of parameters. light: without
 * the work that is no product, so that what is sent counts for more. */
lz_status lz_auto_problem(lz_auto_search *s, double price, bool light, const bool *const *may,
                          lz_arena *a, lz_choices *out);
/* Candidates of the model's choices: with each class of parameters alike, and then with an
 * optimizer's states where their weights are, too; of parameters alone, and of values. *best (may
 * be NULL): the best of them, or NULL. */
lz_status lz_auto_try_picks(lz_auto_search *s, const char *origin, const uint32_t *pick,
                            lz_auto_trial **best);

/* Known layouts, as candidates and for comparison (known.c). */
lz_status lz_auto_try_known(lz_auto_search *s);
/* Other placements of a class of parameters, as long as that helps (improve.c). */
lz_status lz_auto_improve(lz_auto_search *s);
lz_status lz_auto_find_classes(lz_auto_search *s);
#endif
