/* effects.h - operations that are run for what they do, though nobody reads a result of theirs: a
 * custom call that has side effects (lz_debug_print), and loops and branches with one inside. The
 * thread that recorded them holds them, in the order of recording, until a step or a read runs
 * them, or the body in which they were recorded becomes a region, which has them from then on.
 * Threads: the list belongs to its thread. */
#ifndef LZ_RUNTIME_GRAPH_EFFECTS_H
#define LZ_RUNTIME_GRAPH_EFFECTS_H
#include "runtime/graph/node.h"
#include "runtime/graph/thread_state.h"

/* n happens when the thread's next step runs, or in the body that it records. Results of what
 * happens are noted, too: they are kept then, whoever asks for them later. No effect when n is
 * neither, or is NULL. LZ_EMEM. */
lz_status lz_effects_note(lz_thread_state *t, lz_node *n);
/* The first of those recorded since a node of this id was made; the others follow in t->effects. */
uint32_t lz_effects_since(const lz_thread_state *t, uint64_t id);
/* Forgets those recorded since then. */
void lz_effects_drop(lz_thread_state *t, uint64_t id);

#endif
