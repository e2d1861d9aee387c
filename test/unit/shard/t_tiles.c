/* t_tiles.c - arrays cut into the parts of partitions, and joined again. */
#include "shard/tiles.h"
#include "suite.h"
#include "support/tiles.h"
#include <stdio.h>
#include <string.h>

enum { MOST_DEVICES = 12 };

static const lz_mesh *mesh(void)
{
    static const lz_mesh_axis axes[] = {{"x", 2}, {"y", 3}, {"z", 2}};
    const lz_mesh *m = lz_mesh_get(axes, 3, NULL);
    ck_assert_ptr_nonnull(m);
    return m;
}

/* A placement of which the axes that no dimension has are unreduced, sometimes. */
static const lz_sharding *placement(lz_rnd *r, const lz_shape *shape)
{
    static const lz_op ops[] = {LZ_OP_ADD, LZ_OP_MAXIMUM, LZ_OP_MINIMUM};
    lz_sharding s = *lz_test_placement(r, mesh(), shape, true);
    uint32_t free = lz_mesh_all(s.mesh) & ~lz_sharding_dims_mask(&s);
    s.unreduced = (uint32_t)lz_rnd_u64(r) & free;
    s.reduction = s.unreduced ? ops[lz_rnd_range(r, 0, 2)] : LZ_OP_NONE;
    return lz_sharding_get(&s);
}

/* Element by element the same as what tests of shardings take for the truth. */
START_TEST(any_placement)
{
    lz_rnd r = {lz_test_seed() * 100 + (uint64_t)_i};
    char msg[200] = "";
    lz_shape shape = {.rank = (int32_t)lz_rnd_range(&r, 0, 4)};
    for (int d = 0; d < shape.rank; d++)
        shape.dims[d] = lz_rnd_range(&r, d ? 1 : 0, 9);
    lz_literal *whole = lz_test_random(&r, lz_type_get(LZ_I32, &shape), LZ_FILL_MODEST);
    const lz_sharding *s = placement(&r, &shape);
    ck_assert(whole && s);
    lz_literal *joined = lz_literal_new(whole->type), *parts[MOST_DEVICES];
    memset(joined->data, 0x55, joined->nbytes);
    for (int64_t p = 0; p < s->mesh->ndevice; p++) {
        parts[p] = lz_test_tile(whole, s, p);
        ck_assert_ptr_nonnull(parts[p]);
        if (!lz_tile_is_copy(s, p))
            ck_assert_int_eq(lz_tile_join(s, whole->type, p, parts[p]->data, joined->data), LZ_OK);
        memset(parts[p]->data, 0x55, parts[p]->nbytes);
        ck_assert_int_eq(lz_tile_cut(s, whole->type, p, whole->data, parts[p]->data), LZ_OK);
    }
    ck_assert_msg(lz_test_same(joined, whole, 0, msg, sizeof msg), "%s", msg);
    lz_literal_release(joined); /* and what was cut is joined as what it was cut from */
    joined = lz_test_join(parts, s, whole->type, msg, sizeof msg);
    ck_assert_msg(joined && lz_test_same(joined, whole, 0, msg, sizeof msg), "%s", msg);
    lz_literal_release(joined);
    for (int64_t p = 0; p < s->mesh->ndevice; p++)
        lz_literal_release(parts[p]);
    lz_literal_release(whole);
}
END_TEST

/* Parts of every reduction, in the arithmetic of the dtype. */
static const struct reduction {
    lz_op op;
    lz_dtype dtype;
    int64_t part[2], whole;
} reductions[] = {
    {LZ_OP_AND, LZ_I32, {6, 3}, 2},
    {LZ_OP_OR, LZ_U8, {6, 3}, 7},
    {LZ_OP_OR, LZ_BOOL, {0, 1}, 1},
    {LZ_OP_MULTIPLY, LZ_I32, {6, 3}, 18},
    {LZ_OP_MAXIMUM, LZ_I8, {-6, 3}, 3},
    {LZ_OP_MINIMUM, LZ_I8, {-6, 3}, -6},
    {LZ_OP_ADD, LZ_I8, {100, 100}, -56},
    {LZ_OP_ADD, LZ_I64, {INT64_C(0x7ffffffffffffff0), 15}, INT64_MAX},
};

START_TEST(reduction)
{
    const struct reduction *c = &reductions[_i];
    lz_sharding u;
    lz_sharding_init(&u, mesh(), 0, false);
    u.unreduced = 1; /* x, the major one */
    u.reduction = c->op;
    const lz_sharding *s = lz_sharding_get(&u);
    lz_literal *want = lz_literal_scalar_i64(c->dtype, c->whole), *got = lz_literal_new(want->type);
    for (int64_t p = 0; p < s->mesh->ndevice; p++) {
        lz_literal *part = lz_literal_scalar_i64(c->dtype, c->part[p / 6]);
        ck_assert_int_eq(lz_tile_is_copy(s, p), p % 6 != 0);
        if (p % 6 == 0)
            ck_assert_int_eq(lz_tile_join(s, want->type, p, part->data, got->data), LZ_OK);
        lz_literal_release(part);
    }
    ck_assert_mem_eq(got->data, want->data, want->nbytes);
    lz_literal_release(want);
    lz_literal_release(got);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("tiles");
    TCase *t = tcase_create("tiles");
    tcase_add_loop_test(t, any_placement, 0, 300);
    tcase_add_loop_test(t, reduction, 0, sizeof reductions / sizeof reductions[0]);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
