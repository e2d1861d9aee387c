/* classes.c - which parameters are for the same: those of equal layers, by what uses them, and
 * which are placed alike: a weight and the optimizer's states of it. See search.h. Threads:
 * thread-compatible. */
#include "shard/auto/search.h"

enum { ROUNDS = 4, MOST_VISITS = 256 };

static lz_status no_memory(void)
{
    return LZ_FAIL(LZ_EMEM, "no memory to search for shardings");
}

/* ---- what values are for ---- */

/* After k rounds the hash of a value is of its uses, their uses, .. k deep. Uses are summed, so
 * their order does not count. */
static lz_status hash_uses(const lz_func *f, lz_arena *a, lz_hash **out)
{
    size_t n = (size_t)f->ninst + 1;
    lz_hash *now = lz_arena_alloc(a, n * sizeof *now), *next = lz_arena_alloc(a, n * sizeof *next);
    if (!now || !next)
        return no_memory();
    for (int round = 0; round < ROUNDS; round++) {
        for (lz_val v = 0; v < f->ninst; v++)
            next[v] = f->insts[v].sig->result[0]->hash;
        for (lz_val v = 0; v < f->ninst; v++)
            for (uint32_t k = 0; k < f->insts[v].sig->nopnd; k++) {
                const uint64_t key[5] = {f->insts[v].sig->hash.lo, f->insts[v].sig->hash.hi, k,
                                         now[v].lo, now[v].hi};
                lz_hash h = lz_hash_bytes(key, sizeof key);
                next[f->insts[v].opnd[k]].lo += h.lo;
                next[f->insts[v].opnd[k]].hi += h.hi;
            }
        lz_hash *t = now;
        now = next;
        next = t;
    }
    *out = now;
    return LZ_OK;
}

/* ---- what is placed alike ---- */

/* The paths to it are halved on the way. */
static lz_val first_of(lz_val *group, lz_val v)
{
    while (group[v] != v) {
        group[v] = group[group[v]];
        v = group[v];
    }
    return v;
}

/* States of the same type that the new value of a state is made of, element by element. */
static void join_made_of(const lz_auto_search *s, const bool *is_state, lz_val result, lz_val of,
                         lz_val *stack)
{
    const lz_func *f = s->m.f;
    int n = 1;
    stack[0] = result;
    for (int visits = 0; n && visits < MOST_VISITS; visits++) {
        lz_val v = stack[--n];
        const lz_inst *in = &f->insts[v];
        if (v < f->nparam && is_state[v]) {
            lz_val a = first_of(s->group, v), b = first_of(s->group, of);
            s->group[a > b ? a : b] = a > b ? b : a;
        }
        if (lz_op_get(in->sig->op)->cls != LZ_CLASS_EW && in->sig->op != LZ_OP_SHARDING_CONSTRAINT)
            continue;
        for (uint32_t k = in->sig->nopnd; k-- > 0;)
            if (in->sig->opnd[k] == in->sig->result[0] && n < MOST_VISITS)
                stack[n++] = in->opnd[k];
    }
}

lz_status lz_auto_find_classes(lz_auto_search *s)
{
    const lz_func *f = s->m.f;
    lz_arena a = {0};
    lz_hash *of = NULL;
    lz_val *stack = lz_arena_alloc(&a, MOST_VISITS * sizeof *stack);
    bool *is_state = lz_arena_alloc(&a, (size_t)f->nparam + 1);
    s->group = lz_arena_alloc(s->m.arena, ((size_t)f->nparam + 1) * sizeof *s->group);
    s->class_of = lz_arena_alloc(s->m.arena, ((size_t)f->nparam + 1) * sizeof *s->class_of);
    lz_status st =
        stack && is_state && s->group && s->class_of ? hash_uses(f, &a, &of) : no_memory();
    if (st == LZ_OK) {
        for (lz_val v = 0; v < f->nparam; v++) {
            s->group[v] = v;
            s->class_of[v] = of[v];
        }
        for (uint32_t k = 0; k < f->nresult; k++)
            if (s->m.state_of[k] != LZ_NOVAL)
                is_state[s->m.state_of[k]] = true;
        for (uint32_t k = 0; k < f->nresult; k++)
            if (s->m.state_of[k] != LZ_NOVAL)
                join_made_of(s, is_state, f->results[k], s->m.state_of[k], stack);
        for (lz_val v = 0; v < f->nparam; v++)
            s->group[v] = first_of(s->group, v);
    }
    lz_arena_free(&a);
    return st;
}
