/* state.h - the state of a training as it is saved: names and values of one moment, which go into a
 * file (state.c) or into the folder of a checkpoint (checkpoint_manager.c), and come back from
 * either (state_load.c).
 * Threads: thread-compatible; another thread may train meanwhile. */
#ifndef LZ_NN_STATE_H
#define LZ_NN_STATE_H
#include "data/safetensors_save.h"
#include "data/tensor_source.h"
#include "nn/optim_rule.h"

/* How often a parameter was updated: its number is of the snapshot's moment, less the steps that
 * were skipped. The group is there while the optimizer's lock is held and its version is the same:
 * the owner may add one, which moves them all. */
typedef struct lz_state_count {
    const lz_optim_group *group;
    const char *name; /* of the parameter, lent by its list */
    size_t i;
    uint32_t skipped; /* which of the tensors; LZ_STATE_NOT: none */
    int64_t value;
} lz_state_count;
#define LZ_STATE_NOT UINT32_MAX

/* Names, which are owned, and tensors, which are lent: those that go into the file, then others
 * that are read. */
typedef struct lz_state {
    LZ_VEC(const char *)
    names; /* of the first values of the snapshot, then of the counts above 0 */
    LZ_VEC(lz_tensor *) tensors;
    LZ_VEC(lz_state_count) steps;
    uint32_t values;  /* how many names are of values */
    uint32_t counted; /* which tensor is the optimizer's count; LZ_STATE_NOT: it has made no step */
    uint64_t version; /* the optimizer's when its tensors were noted */
    double lr;
    lz_snapshot now;
} lz_state;
/* Notes all that is saved of c, at one moment. Errors: lz_checkpoint_save's. */
lz_status lz_state_take(lz_state *b, const lz_checkpoint *c);
void lz_state_free(lz_state *b);
/* The metadata of what was noted: pairs that point into `text`. */
enum { LZ_STATE_PAIRS = 6, LZ_STATE_NUMBER = 40 };
typedef struct lz_state_metadata {
    const char *pairs[2 * LZ_STATE_PAIRS];
    char text[4][LZ_STATE_NUMBER];
} lz_state_metadata;
void lz_state_describe(const lz_state *b, const lz_checkpoint *c, lz_state_metadata *m);

/* "<kind>/<what>/<name>"; NULL when memory is exhausted. */
char *lz_state_join(const char *kind, const char *what, const char *name);
/* The scaler's state, by name: of a checkpoint that is saved or loaded. */
enum { LZ_SCALER_STATES = 2 };
extern const char *const lz_scaler_names[LZ_SCALER_STATES];
static inline lz_tensor **lz_scaler_state(lz_grad_scaler *s, int i)
{
    return i ? &s->growth_tracker : &s->scale;
}
lz_status lz_state_check_struct(const char *path, const lz_checkpoint *c);

/* Restores all of it, or nothing; the source stays open. path: for messages. Errors:
 * lz_checkpoint_load's. */
lz_status lz_state_load(const lz_tensor_source *from, const char *path, lz_checkpoint *c,
                        const lz_site *site);
#endif
