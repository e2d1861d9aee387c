/* t_reshard.c - from every placement of a value to every other: what partitions have afterwards is
 * what they should, and what is sent is in proportion to what was missing. */
#include "ir/eval/eval_partitions.h"
#include "shard/reshard.h"
#include "suite.h"
#include "support/tiles.h"
#include <stdio.h>
#include <string.h>

enum { MOST_DEVICES = 8, MOST_PLACEMENTS = 256 };
static const lz_mesh_axis meshes[][3] = {
    {{"x", 2}}, {{"x", 2}, {"y", 2}}, {{"x", 2}, {"y", 4}}, {{"x", 2}, {"y", 3}}, {{"x", 8}}};
enum { NMESH = sizeof meshes / sizeof meshes[0] };
static const int64_t extents[][2] = {{24, 48}, {7, 5}, {3, 12}, {1, 10}, {0, 4}, {9, 2}};
enum { NEXTENTS = sizeof extents / sizeof extents[0] };

static const lz_mesh *mesh_of(int i)
{
    int n = 0;
    while (n < 3 && meshes[i][n].name)
        n++;
    const lz_mesh *m = lz_mesh_get(meshes[i], n, NULL);
    ck_assert_ptr_nonnull(m);
    return m;
}

/* ---- all placements of rank 2 ---- */

typedef struct all {
    int n;
    const lz_sharding *at[MOST_PLACEMENTS];
} all;

static void note(all *a, const lz_sharding *s)
{
    const lz_sharding *p = lz_sharding_get(s);
    ck_assert_ptr_nonnull(p);
    for (int i = 0; i < a->n; i++)
        if (a->at[i] == p)
            return;
    ck_assert_int_lt(a->n, MOST_PLACEMENTS);
    a->at[a->n++] = p;
}

/* s with each of the axes from k on in every place. */
static void place(all *a, const lz_sharding *s, uint32_t left)
{
    note(a, s);
    for (int k = 0; k < s->mesh->nfactor; k++) {
        if (!(left >> k & 1))
            continue;
        for (int d = 0; d < 3; d++) {
            lz_sharding next = *s;
            if (d < 2) {
                lz_axis_list_push(&next.dims[d], k);
            } else {
                next.unreduced |= UINT32_C(1) << k;
                next.reduction = LZ_OP_ADD;
            }
            place(a, &next, left & ~(UINT32_C(1) << k));
        }
    }
}

static void all_placements(const lz_mesh *m, all *a)
{
    lz_sharding s;
    a->n = 0;
    lz_sharding_init(&s, m, 2, false);
    place(a, &s, lz_mesh_all(m));
}

/* ---- one of them to another ---- */

/* Elements that the neediest partition has not got and needs. */
static int64_t missing(const lz_type *t, const lz_sharding *from, const lz_sharding *to)
{
    int64_t most = 0;
    lz_shape a, b;
    lz_sharding_local_shape(from, &t->shape, &a);
    lz_sharding_local_shape(to, &t->shape, &b);
    for (int64_t p = 0; p < from->mesh->ndevice; p++) {
        int64_t have = 1, need = 1;
        for (int d = 0; d < 2; d++) {
            int64_t fa = lz_axis_list_tile(from->mesh, &from->dims[d], p) * a.dims[d],
                    fb = lz_axis_list_tile(to->mesh, &to->dims[d], p) * b.dims[d];
            int64_t ea = fa + a.dims[d], eb = fb + b.dims[d], e = t->shape.dims[d];
            ea = ea < e ? ea : e;
            eb = eb < e ? eb : e;
            int64_t lo = fa > fb ? fa : fb, hi = ea < eb ? ea : eb;
            have *= hi > lo ? hi - lo : 0;
            need *= eb > fb ? eb - fb : 0;
        }
        most = need - have > most ? need - have : most;
    }
    return most;
}

static void run(const lz_func *f, const lz_literal *whole, const lz_sharding *from,
                const lz_sharding *to, const char *what)
{
    char msg[256] = "";
    int64_t n = from->mesh->ndevice;
    lz_literal *args[MOST_DEVICES][2], *const *rows[MOST_DEVICES];
    lz_literal *got[MOST_DEVICES][1], **results[MOST_DEVICES], *parts[MOST_DEVICES];
    for (int64_t p = 0; p < n; p++) {
        args[p][0] = lz_test_tile(whole, from, p);
        args[p][1] = lz_literal_scalar_i64(LZ_U32, p);
        rows[p] = args[p];
        results[p] = got[p];
    }
    ck_assert_msg(lz_ref_run_partitions(f, n, rows, results) == LZ_OK, "%s: %s", what,
                  lz_error_get()->message);
    for (int64_t p = 0; p < n; p++)
        parts[p] = got[p][0];
    lz_literal *joined = lz_test_join(parts, to, whole->type, msg, sizeof msg);
    ck_assert_msg(joined && lz_test_same(joined, whole, 0, msg, sizeof msg), "%s: %s", what, msg);
    lz_literal_release(joined);
    for (int64_t p = 0; p < n; p++) {
        lz_literal_release(args[p][0]);
        lz_literal_release(args[p][1]);
        lz_literal_release(got[p][0]);
    }
}

static void check(const lz_literal *whole, const lz_sharding *from, const lz_sharding *to)
{
    lz_buf b = {0};
    lz_type_print(&b, whole->type);
    lz_sharding_print(&b, from, NULL);
    lz_buf_puts(&b, " to ");
    lz_sharding_print(&b, to, "mesh");
    lz_func *f = lz_func_new("reshard");
    lz_val v = lz_build_param(f, lz_sharding_local(from, whole->type));
    const lz_shape scalar = LZ_SCALAR;
    lz_local l = {f, from->mesh, lz_build_param(f, lz_type_get(LZ_U32, &scalar))};
    v = lz_reshard_build(&l, v, whole->type, from, to);
    ck_assert_msg(lz_func_set_results(f, &v, 1) == LZ_OK, "%s: %s", lz_buf_str(&b),
                  lz_error_get()->message);
    ck_assert_msg(lz_func_verify(f) == LZ_OK, "%s", lz_error_get()->message);
    ck_assert_ptr_eq(lz_val_type(f, v), lz_sharding_local(to, whole->type));
    run(f, whole, from, to, lz_buf_str(&b));
    lz_reshard plan;
    lz_reshard_plan(whole->type, from, to, &plan);
    double bytes = 0;
    for (int i = 0; i < plan.n; i++)
        bytes += lz_reshard_step_bytes(whole->type, &plan.step[i]);
    bool even = whole->type->shape.dims[0] % 24 == 0 && whole->type->shape.dims[1] % 24 == 0;
    double least = 4 * (double)missing(whole->type, from, to);
    if (!from->unreduced && !to->unreduced && even) {
        ck_assert_msg(bytes == 0 || least > 0, "%s sends %g bytes", lz_buf_str(&b), bytes);
        ck_assert_msg(bytes <= 2.6 * least, "%s sends %g bytes, but %g are missing", lz_buf_str(&b),
                      bytes, least);
    }
    lz_buf_free(&b);
    lz_func_free(f);
}

START_TEST(every_pair)
{
    static all a;
    lz_rnd r = {lz_test_seed() + 1};
    all_placements(mesh_of(_i / NEXTENTS), &a);
    const int64_t *e = extents[_i % NEXTENTS];
    const lz_shape shape = {2, {e[0], e[1]}};
    lz_literal *whole = lz_test_random(&r, lz_type_get(LZ_I32, &shape), LZ_FILL_MODEST);
    int share = a.n * a.n > 1000 && !lz_test_whole() ? 10 : 100;
    for (int i = 0; i < a.n; i++)
        for (int k = 0; k < a.n; k++)
            if (lz_rnd_chance(&r, share))
                check(whole, a.at[i], a.at[k]);
    lz_literal_release(whole);
}
END_TEST

/* ---- steps as expected ---- */

static const lz_sharding *of(const lz_mesh *m, const char *d0, const char *d1, uint32_t unreduced)
{
    lz_sharding s;
    lz_sharding_init(&s, m, 2, false);
    for (; *d0; d0++)
        lz_axis_list_push(&s.dims[0], *d0 - 'a');
    for (; *d1; d1++)
        lz_axis_list_push(&s.dims[1], *d1 - 'a');
    s.unreduced = unreduced;
    s.reduction = unreduced ? LZ_OP_ADD : LZ_OP_NONE;
    return lz_sharding_get(&s);
}

/* Axes a, b, c of 2; S slice, R all_reduce, r reduce_scatter, P permute, A all_to_all, G gather. */
static const struct step_case {
    const char *from[2], *to[2];
    uint32_t unreduced;
    const char *steps;
} step_cases[] = {
    {{"", ""}, {"a", "bc"}, 0, "S"},  {{"a", ""}, {"", ""}, 0, "G"},
    {{"ab", ""}, {"a", "b"}, 0, "A"}, {{"abc", ""}, {"a", "bc"}, 0, "A"},
    {{"a", "b"}, {"b", "a"}, 0, "P"}, {{"a", "b"}, {"", ""}, 0, "G"},
    {{"a", ""}, {"b", ""}, 0, "P"},   {{"", ""}, {"a", ""}, 1, "r"},
    {{"", ""}, {"", ""}, 1, "R"},     {{"", ""}, {"b", ""}, 1, "SR"},
    {{"", ""}, {"a", "b"}, 3, "r"},   {{"", ""}, {"a", ""}, 3, "rR"},
    {{"a", ""}, {"ba", ""}, 0, "SP"}, {{"ab", ""}, {"b", ""}, 0, "PG"},
    {{"a", ""}, {"", "a"}, 0, "A"},   {{"a", "bc"}, {"bc", "a"}, 0, "PA"},
};

START_TEST(steps)
{
    const struct step_case *c = &step_cases[_i];
    const lz_mesh *m = mesh_of(4);
    const lz_shape shape = {2, {8, 8}};
    lz_reshard plan;
    char got[LZ_RESHARD_STEPS + 1] = "";
    lz_reshard_plan(lz_type_get(LZ_F32, &shape), of(m, c->from[0], c->from[1], c->unreduced),
                    of(m, c->to[0], c->to[1], 0), &plan);
    for (int i = 0; i < plan.n; i++)
        got[i] = "SRrPAGU"[plan.step[i].kind];
    ck_assert_str_eq(got, c->steps);
}
END_TEST

/* As many devices as there may be partitions: nothing is their square. */
START_TEST(many_devices)
{
    static const lz_mesh_axis axes[] = {{"x", 256}, {"y", 256}};
    const lz_mesh *m = lz_mesh_get(axes, 2, NULL);
    const lz_shape shape = {2, {512, 512}}, scalar = LZ_SCALAR;
    const lz_type *t = lz_type_get(LZ_F32, &shape);
    ck_assert(m && t);
    const lz_sharding *from = of(m, "abcdefgh", "ijklmnop", 0),
                      *to = of(m, "ijklmnop", "abcdefgh", 0);
    lz_func *f = lz_func_new("many");
    lz_val v = lz_build_param(f, lz_sharding_local(from, t));
    lz_local l = {f, m, lz_build_param(f, lz_type_get(LZ_U32, &scalar))};
    v = lz_reshard_build(&l, v, t, from, to);
    ck_assert_msg(lz_func_set_results(f, &v, 1) == LZ_OK, "%s", lz_error_get()->message);
    ck_assert_int_eq(f->insts[v].sig->op, LZ_OP_COLLECTIVE_PERMUTE);
    lz_func_free(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("reshard");
    TCase *t = tcase_create("reshard");
    tcase_add_loop_test(t, steps, 0, sizeof step_cases / sizeof step_cases[0]);
    tcase_add_test(t, many_devices);
    tcase_add_loop_test(t, every_pair, 0, NMESH * NEXTENTS);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
