/* sharding.c - interned shardings and what is asked of them. Threads: thread-safe. */
#include "ir/sharding/sharding.h"
#include "base/alloc.h"
#include <string.h>

typedef struct sharding_node {
    lz_intern_node node;
    lz_sharding s;
} sharding_node;

static lz_intern shardings = LZ_INTERN_INIT;

/* ---- lists of factors ---- */

lz_axis_list lz_axis_list_of(uint32_t mask)
{
    lz_axis_list a = {0};
    for (int k = 0; k < LZ_MESH_FACTORS; k++)
        if (mask >> k & 1)
            lz_axis_list_push(&a, k);
    return a;
}

bool lz_axis_list_eq(const lz_axis_list *a, const lz_axis_list *b)
{
    return a->n == b->n && memcmp(a->at, b->at, a->n) == 0;
}

int lz_axis_list_common(const lz_axis_list *a, const lz_axis_list *b)
{
    int n = 0;
    while (n < a->n && n < b->n && a->at[n] == b->at[n])
        n++;
    return n;
}

void lz_axis_list_push(lz_axis_list *a, int factor)
{
    if (a->n < LZ_MESH_FACTORS)
        a->at[a->n++] = (uint8_t)factor;
}

int64_t lz_axis_list_size(const lz_mesh *m, const lz_axis_list *a)
{
    int64_t n = 1;
    for (int i = 0; i < a->n; i++)
        n *= m->factors[a->at[i]].size;
    return n;
}

int64_t lz_axis_list_tile(const lz_mesh *m, const lz_axis_list *a, int64_t partition)
{
    int64_t k = 0;
    for (int i = 0; i < a->n; i++)
        k = k * m->factors[a->at[i]].size + lz_mesh_coordinate(m, partition, a->at[i]);
    return k;
}

/* ---- interning ---- */

static bool same(const lz_sharding *a, const lz_sharding *b)
{
    if (a->mesh != b->mesh || a->rank != b->rank || a->open != b->open ||
        a->replicated != b->replicated || a->unreduced != b->unreduced ||
        a->reduction != b->reduction || a->manual != b->manual)
        return false;
    for (int d = 0; d < a->rank; d++)
        if (a->priority[d] != b->priority[d] || !lz_axis_list_eq(&a->dims[d], &b->dims[d]))
            return false;
    return true;
}

static bool node_same(const lz_intern_node *node, const void *key)
{
    return same(&((const sharding_node *)(const void *)node)->s, key);
}

/* Of all that `same` compares, gathered first: one pass of the hash over few bytes. */
static lz_hash hash_of(const lz_sharding *s)
{
    uint8_t b[sizeof(uint64_t) * 4 + LZ_MAX_RANK * (2 + LZ_MESH_FACTORS)], *p = b;
    const uint64_t head[4] = {s->mesh->node.hash.lo, (uint64_t)s->rank << 32 | s->open,
                              (uint64_t)s->replicated << 32 | s->unreduced,
                              (uint64_t)s->reduction << 32 | s->manual};
    memcpy(p, head, sizeof head);
    p += sizeof head;
    for (int d = 0; d < s->rank; d++) {
        *p++ = s->priority[d];
        *p++ = s->dims[d].n;
        for (int i = 0; i < s->dims[d].n; i++)
            *p++ = s->dims[d].at[i];
    }
    return lz_hash_bytes(b, (size_t)(p - b));
}

static lz_status check(const lz_sharding *s)
{
    uint32_t seen = 0, none = ~lz_mesh_all(s->mesh);
    for (int d = 0; d < s->rank; d++)
        for (int i = 0; i < s->dims[d].n; i++) {
            uint32_t bit = UINT32_C(1) << s->dims[d].at[i];
            if (bit & (seen | none))
                return LZ_FAIL(
                    LZ_EINVAL, "sharding: axis \"%s\" is used twice",
                    bit & none ? "?" : s->mesh->axes[s->mesh->factors[s->dims[d].at[i]].axis].name);
            seen |= bit;
        }
    if (seen & (s->replicated | s->unreduced) || s->replicated & s->unreduced)
        return LZ_FAIL(LZ_EINVAL, "sharding: an axis is used twice");
    return LZ_OK;
}

const lz_sharding *lz_sharding_get(const lz_sharding *s)
{
    lz_hash h = hash_of(s);
    lz_intern_node *found = lz_intern_find(&shardings, h, node_same, s);
    if (found)
        return &((sharding_node *)(void *)found)->s;
    if (check(s) != LZ_OK)
        return NULL;
    sharding_node *fresh = lz_calloc(1, sizeof *fresh);
    if (!fresh) {
        (void)LZ_FAIL(LZ_EMEM, "no memory for a sharding");
        return NULL;
    }
    lz_sharding_init(&fresh->s, s->mesh, s->rank, false);
    fresh->s.open = s->open;
    fresh->s.replicated = s->replicated;
    fresh->s.unreduced = s->unreduced;
    fresh->s.reduction = s->reduction;
    fresh->s.manual = s->manual;
    memcpy(fresh->s.priority, s->priority, sizeof s->priority);
    for (int d = 0; d < s->rank; d++)
        for (int i = 0; i < s->dims[d].n; i++)
            lz_axis_list_push(&fresh->s.dims[d], s->dims[d].at[i]);
    fresh->node.hash = h;
    found = lz_intern_add(&shardings, &fresh->node, node_same, &fresh->s, NULL);
    if (found != &fresh->node)
        lz_free(fresh);
    return &((sharding_node *)(void *)found)->s;
}

void lz_sharding_init(lz_sharding *s, const lz_mesh *mesh, int rank, bool open)
{
    *s = (lz_sharding){.mesh = mesh, .rank = rank};
    s->open = open ? (uint32_t)((UINT64_C(1) << rank) - 1) : 0;
}

const lz_sharding *lz_sharding_replicated(const lz_mesh *mesh, int rank)
{
    lz_sharding s;
    lz_sharding_init(&s, mesh, rank, false);
    return lz_sharding_get(&s);
}

const lz_sharding *lz_sharding_placement(const lz_sharding *s)
{
    lz_sharding p = *s;
    p.open = 0;
    p.replicated = 0;
    memset(p.priority, 0, sizeof p.priority);
    return lz_sharding_get(&p);
}

const lz_sharding *lz_sharding_reduced(const lz_sharding *s)
{
    lz_sharding r = *s;
    r.unreduced = 0;
    r.reduction = LZ_OP_NONE;
    return lz_sharding_get(&r);
}

/* ---- asking ---- */

uint32_t lz_sharding_dims_mask(const lz_sharding *s)
{
    uint32_t m = 0;
    for (int d = 0; d < s->rank; d++)
        m |= lz_axis_list_mask(&s->dims[d]);
    return m;
}

bool lz_sharding_same_dims(const lz_sharding *a, const lz_sharding *b)
{
    for (int d = 0; d < a->rank; d++)
        if (!lz_axis_list_eq(&a->dims[d], &b->dims[d]))
            return false;
    return true;
}

bool lz_sharding_same_place(const lz_sharding *a, const lz_sharding *b)
{
    return a == b || (a->rank == b->rank && a->unreduced == b->unreduced &&
                      a->reduction == b->reduction && a->manual == b->manual &&
                      lz_mesh_same_factors(a->mesh, b->mesh) && lz_sharding_same_dims(a, b));
}

bool lz_sharding_is_replicated(const lz_sharding *s)
{
    return lz_sharding_used(s) == 0;
}

void lz_sharding_local_shape(const lz_sharding *s, const lz_shape *global, lz_shape *out)
{
    *out = *global;
    for (int d = 0; d < s->rank && d < global->rank; d++)
        out->dims[d] = lz_tile_extent(global->dims[d], lz_axis_list_size(s->mesh, &s->dims[d]));
}

const lz_type *lz_sharding_local(const lz_sharding *s, const lz_type *global)
{
    lz_shape local;
    if (s->rank != global->shape.rank) {
        (void)LZ_FAIL(LZ_EINVAL, "sharding: of rank %d, but the tensor is of rank %d", s->rank,
                      global->shape.rank);
        return NULL;
    }
    lz_sharding_local_shape(s, &global->shape, &local);
    return lz_type_get(global->dtype, &local);
}
