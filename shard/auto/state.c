/* state.c - which results take the place of which parameters: of a step of training, the new
 * weights and the optimizer's states. What a result is made of is walked back through elementwise
 * operations on values of its type, first operands first; the first parameter of that type is it.
 * See model.h. Threads: pure functions. */
#include "shard/auto/model.h"

enum { MOST_VISITS = 64 };

typedef struct walk {
    const lz_func *f;
    const bool *is_state;
    const bool *taken; /* [nparam] */
    lz_val stack[MOST_VISITS];
    int n, visits;
} walk;

/* Operands of v's type of an operation that goes element by element. */
static void push_operands(walk *w, lz_val v)
{
    const lz_inst *in = &w->f->insts[v];
    lz_op_class cls = lz_op_get(in->sig->op)->cls;
    if (cls != LZ_CLASS_EW && in->sig->op != LZ_OP_SHARDING_CONSTRAINT &&
        in->sig->op != LZ_OP_SHARDING_GROUP)
        return;
    for (uint32_t k = in->sig->nopnd; k-- > 0;)
        if (in->sig->opnd[k] == in->sig->result[0] && w->n < MOST_VISITS)
            w->stack[w->n++] = in->opnd[k];
}

static lz_val find(walk *w, lz_val result)
{
    w->stack[0] = result;
    w->n = 1;
    for (w->visits = 0; w->n && w->visits < MOST_VISITS; w->visits++) {
        lz_val v = w->stack[--w->n];
        if (v >= w->f->nparam)
            push_operands(w, v);
        else if (!w->taken[v] && (!w->is_state || w->is_state[v]))
            return v;
    }
    return LZ_NOVAL;
}

lz_status lz_auto_find_state(const lz_func *f, const bool *is_state, lz_arena *a, lz_val *of)
{
    bool *taken = lz_arena_alloc(a, (size_t)f->nparam + 1);
    if (!taken)
        return LZ_FAIL(LZ_EMEM, "no memory to search for shardings");
    walk w = {.f = f, .is_state = is_state, .taken = taken};
    for (uint32_t k = 0; k < f->nresult; k++) {
        of[k] = lz_val_type(f, f->results[k])->shape.rank ? find(&w, f->results[k]) : LZ_NOVAL;
        if (of[k] != LZ_NOVAL)
            taken[of[k]] = true;
    }
    return LZ_OK;
}
