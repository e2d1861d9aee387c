/* gen_shard.c - random meshes and shardings, and marks with them in random functions. */
#include "ir/attr.h"
#include "ir/sharding/sharding.h"
#include "support/gen_internal.h"
#include <string.h>

const lz_mesh *lz_gen_mesh(lz_rnd *r, int64_t most)
{
    static const char *const names[] = {"x", "y", "a \"quoted\\name\"", "data"};
    static const int8_t sizes[] = {1, 2, 2, 3, 4, 6, 8};
    lz_mesh_axis axes[4];
    int64_t n = 1, ids[64];
    int naxis = 0, order[64];
    for (int i = (int)lz_rnd_range(r, 0, 3); i < 4; i++) {
        int64_t size = sizes[lz_rnd_range(r, 0, sizeof sizes - 1)];
        if (n * size > most || n * size > 64)
            continue;
        axes[naxis++] = (lz_mesh_axis){names[i], size};
        n *= size;
    }
    lz_rnd_shuffle(r, (int)n, order);
    for (int64_t i = 0; i < n; i++)
        ids[i] = order[i];
    return lz_mesh_get(axes, naxis, lz_rnd_chance(r, 20) ? ids : NULL);
}

const lz_sharding *lz_gen_sharding(lz_rnd *r, const lz_mesh *m, int rank)
{
    lz_sharding s;
    int order[LZ_MESH_FACTORS];
    lz_sharding_init(&s, m, rank, false);
    lz_rnd_shuffle(r, m->nfactor, order);
    for (int i = 0; i < m->nfactor; i++) {
        uint32_t bit = UINT32_C(1) << order[i];
        int what = (int)lz_rnd_range(r, 0, 9);
        if (what < 6 && rank > 0)
            lz_axis_list_push(&s.dims[lz_rnd_range(r, 0, rank - 1)], order[i]);
        else if (what == 6)
            s.replicated |= bit;
        else if (what == 7)
            s.unreduced |= bit;
    }
    for (int d = 0; d < rank; d++) {
        s.open |= lz_rnd_chance(r, 30) ? UINT32_C(1) << d : 0;
        s.priority[d] = lz_rnd_chance(r, 10) ? (uint8_t)lz_rnd_range(r, 0, UINT8_MAX) : 0;
    }
    static const lz_op ops[] = {LZ_OP_ADD,      LZ_OP_MAXIMUM, LZ_OP_MINIMUM,
                                LZ_OP_MULTIPLY, LZ_OP_AND,     LZ_OP_OR};
    s.reduction = s.unreduced ? ops[lz_rnd_range(r, 0, 5)] : LZ_OP_NONE;
    return lz_sharding_get(&s);
}

lz_val gen_mark(gen *g, lz_op op)
{
    lz_val v = gen_pick(g, op);
    if (v == LZ_NOVAL)
        return v;
    lz_attr_any a;
    lz_attr_init(&a, lz_op_get(op)->attr);
    switch (op) {
    case LZ_OP_SHARDING_CONSTRAINT: {
        const lz_mesh *m = lz_gen_mesh(&g->r, 8);
        const lz_sharding *s = m ? lz_gen_sharding(&g->r, m, gen_type(g, v)->shape.rank) : NULL;
        a.as_sharding.sharding = s ? lz_sharding_text(s) : NULL;
        if (!a.as_sharding.sharding)
            return LZ_NOVAL;
        break;
    }
    case LZ_OP_SHARDING_GROUP:
        /* members are of one rank */
        a.as_group.group_id = RND(0, 5) * (LZ_MAX_RANK + 1) + gen_type(g, v)->shape.rank;
        break;
    default:
        a.as_propagation.allowed_direction = RND(0, 3);
        break;
    }
    return gen_build(g, op, &a, &v, 1);
}
