/* effects.c - see effects.h. */
#include "runtime/graph/effects.h"

/* Whether it happens, or is a result of what does. */
static bool happens(const lz_node *n)
{
    return n->kind == LZ_NODE_OP &&
           (n->sig->flags & LZ_F_EFFECT ||
            (n->sig->op == LZ_OP_RESULT && n->opnd && n->opnd[0]->sig->flags & LZ_F_EFFECT));
}

lz_status lz_effects_note(lz_thread_state *t, lz_node *n)
{
    if (!n || !happens(n))
        return LZ_OK;
    LZ_TRY(lz_vec_push(&t->effects, n));
    lz_node_retain(n);
    return LZ_OK;
}

uint32_t lz_effects_since(const lz_thread_state *t, uint64_t id)
{
    uint32_t i = t->effects.len;
    while (i > 0 && t->effects.data[i - 1]->id >= id)
        i--;
    return i;
}

void lz_effects_drop(lz_thread_state *t, uint64_t id)
{
    uint32_t from = lz_effects_since(t, id);
    while (t->effects.len > from)
        lz_node_release(t->effects.data[--t->effects.len]);
}
