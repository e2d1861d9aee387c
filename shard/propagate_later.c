/* propagate_later.c - which marks wait for others. In fully sharded training the batch, the weights
 * and the gradients are all cut along one axis, and an operation on two of them can keep only one
 * so. Whose mark comes first then decides for the whole program, though the marks of state say only
 * where it rests between two steps. So a function with such marks is partitioned twice, with those
 * of state at once and later, and the cheaper one is taken (partition.c). Shardy has priorities for
 * its users to say this. See propagate.h. */
#include "shard/propagate.h"

lz_hash lz_prop_place_key(const lz_inst *mark)
{
    const void *key[2] = {mark->sig->result[0], LZ_ATTR(sharding, mark->sig->attr)->sharding};
    return lz_hash_bytes(key, sizeof key); /* both are interned */
}

const lz_sharding *lz_prop_later(const lz_sharding *s)
{
    lz_sharding t = *s;
    for (int d = 0; d < t.rank; d++)
        t.priority[d] += t.priority[d] < UINT8_MAX;
    return lz_sharding_get(&t);
}

static bool is_mark(const lz_inst *in)
{
    return in->sig->op == LZ_OP_SHARDING_CONSTRAINT;
}

/* The value that is marked. */
static lz_val base_of(const lz_func *f, lz_val v)
{
    while (is_mark(&f->insts[v]))
        v = f->insts[v].opnd[0];
    return v;
}

static lz_status note(lz_map *m, lz_hash key)
{
    return lz_map_put(m, key, m) == LZ_OK ? LZ_OK
                                          : LZ_FAIL(LZ_EMEM, "no memory to propagate shardings");
}

/* The places of marked results. A batch that is only put to its place is none. */
static lz_status find_results(const lz_func *f, lz_map *out)
{
    for (uint32_t k = 0; k < f->nresult; k++) {
        const lz_inst *in = &f->insts[f->results[k]];
        if (is_mark(in) && base_of(f, f->results[k]) >= f->nparam)
            LZ_TRY(note(out, lz_prop_place_key(in)));
    }
    return LZ_OK;
}

/* Axes that a mark names. */
static lz_status axes_of(const lz_prop *p, const lz_inst *mark, uint32_t *out)
{
    const lz_sharding *said = lz_sharding_parse(LZ_ATTR(sharding, mark->sig->attr)->sharding);
    const lz_sharding *s = said ? lz_shard_mark(p->mesh, said, mark->sig->result[0]) : NULL;
    if (!s)
        return lz_error_get()->status;
    *out |= lz_sharding_dims_mask(s);
    return LZ_OK;
}

static lz_status find_state(lz_prop *p, const lz_func *f, const bool *is_state,
                            const lz_map *results, uint32_t *axes)
{
    for (lz_val v = f->nparam; v < f->ninst; v++) {
        const lz_inst *in = &f->insts[v];
        lz_val of = is_mark(in) ? base_of(f, v) : v;
        if (of >= f->nparam || !is_state[of])
            continue;
        lz_hash key = lz_prop_place_key(in);
        if (!lz_map_get(results, key))
            continue;
        LZ_TRY(note(&p->later, key));
        LZ_TRY(axes_of(p, in, axes));
    }
    return LZ_OK;
}

lz_status lz_prop_delay(lz_prop *p, const lz_func *f, const bool *is_state, bool *any)
{
    lz_map results = {0};
    uint32_t state = 0, other = 0;
    *any = false;
    lz_status s = find_results(f, &results);
    if (s == LZ_OK && results.len)
        s = find_state(p, f, is_state, &results, &state);
    lz_map_free(&results);
    for (lz_val v = f->nparam; v < f->ninst && s == LZ_OK && state; v++)
        if (is_mark(&f->insts[v]) && !lz_map_get(&p->later, lz_prop_place_key(&f->insts[v])))
            s = axes_of(p, &f->insts[v], &other);
    *any = state & other;
    return s;
}
