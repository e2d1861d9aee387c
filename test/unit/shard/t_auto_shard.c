/* t_auto_shard.c - shardings that are searched for: the solver against trying everything, whole
 * steps of training against layouts that people write, marks that stay, memory that is kept, the
 * same plan every time. What partitioned plans compute is t_partition.c's. */
#include "base/vec.h"
#include "shard/auto/auto.h"
#include "shard/auto/solve.h"
#include "shard/partition.h"
#include "suite.h"
#include "support/rnd.h"
#include "support/train_step.h"
#include "support/units.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the solver ---- */

enum { MOST_VARS = 2000, MOST_SIZE = 12 };

typedef struct problem {
    lz_choices c;
    lz_arena a;
} problem;

static double *numbers(problem *p, lz_rnd *r, size_t n)
{
    double *d = lz_arena_alloc(&p->a, n * sizeof *d);
    ck_assert_ptr_nonnull(d);
    for (size_t i = 0; i < n; i++) /* whole ones: sums are exact in any order */
        d[i] = (double)lz_rnd_range(r, 0, 100);
    return d;
}

/* n variables; a tree, with `more` edges beside. */
static void make(problem *p, lz_rnd *r, uint32_t n, uint32_t more, int64_t most)
{
    uint32_t *size;
    const double **own;
    lz_choice_edge *edges;
    *p = (problem){0};
    size = lz_arena_alloc(&p->a, n * sizeof *size);
    own = lz_arena_alloc(&p->a, n * sizeof *own);
    edges = lz_arena_alloc(&p->a, ((size_t)n + more) * sizeof *edges);
    for (uint32_t v = 0; v < n; v++) {
        size[v] = (uint32_t)lz_rnd_range(r, 1, most);
        own[v] = numbers(p, r, size[v]);
    }
    p->c = (lz_choices){.n = n, .size = size, .own = own, .edges = edges};
    for (uint32_t e = 0; e + 1 < n + more; e++) {
        uint32_t b = e + 1 < n ? e + 1 : (uint32_t)lz_rnd_range(r, 0, n - 1);
        uint32_t a = (uint32_t)lz_rnd_range(r, 0, e + 1 < n ? e : n - 1);
        if (a != b)
            edges[p->c.nedge++] = (lz_choice_edge){a, b, numbers(p, r, (size_t)size[a] * size[b])};
    }
}

static double least_of_all(const lz_choices *c)
{
    uint32_t pick[MOST_SIZE] = {0};
    double best = INFINITY;
    for (;;) {
        uint32_t v = 0;
        best = fmin(best, lz_choices_cost(c, pick));
        while (v < c->n && ++pick[v] == c->size[v])
            pick[v++] = 0;
        if (v == c->n)
            return best;
    }
}

START_TEST(solves_exactly)
{
    lz_rnd r = {(uint64_t)_i + lz_test_seed()};
    for (int i = 0; i < 40; i++) {
        problem p;
        lz_choices_found f;
        make(&p, &r, (uint32_t)lz_rnd_range(&r, 1, 7), (uint32_t)lz_rnd_range(&r, 0, 8), 5);
        ck_assert_int_eq(lz_choices_solve(&p.c, NULL, 0, &p.a, &f), LZ_OK);
        ck_assert(f.exact);
        ck_assert_double_eq(f.cost, least_of_all(&p.c));
        ck_assert_double_eq(f.bound, f.cost);
        ck_assert_double_eq(f.cost, lz_choices_cost(&p.c, f.pick));
        lz_arena_free(&p.a);
    }
}
END_TEST

/* Trees of 2,000 are exact, stars and chains among them; the bound is what the picks cost. */
START_TEST(solves_trees)
{
    lz_rnd r = {(uint64_t)_i + lz_test_seed()};
    problem p;
    lz_choices_found f;
    make(&p, &r, MOST_VARS, 0, MOST_SIZE);
    for (uint32_t e = 0; e < p.c.nedge && _i < 2; e++) { /* a star; a chain */
        lz_choice_edge *x = (lz_choice_edge *)(uintptr_t)&p.c.edges[e];
        x->a = _i ? e : 0;
        x->cost = numbers(&p, &r, (size_t)p.c.size[x->a] * p.c.size[x->b]);
    }
    ck_assert_int_eq(lz_choices_solve(&p.c, NULL, 0, &p.a, &f), LZ_OK);
    ck_assert(f.exact);
    ck_assert_double_eq(f.bound, f.cost);
    uint32_t other[MOST_VARS];
    for (int i = 0; i < 200; i++) { /* no neighbour is better */
        memcpy(other, f.pick, sizeof other);
        uint32_t v = (uint32_t)lz_rnd_range(&r, 0, MOST_VARS - 1);
        other[v] = (uint32_t)lz_rnd_range(&r, 0, p.c.size[v] - 1);
        ck_assert_double_ge(lz_choices_cost(&p.c, other), f.cost);
    }
    lz_arena_free(&p.a);
}
END_TEST

/* What is too dense has a bound, and choices that are not allowed are not taken. */
START_TEST(solves_dense)
{
    lz_rnd r = {(uint64_t)_i + lz_test_seed()};
    problem p;
    lz_choices_found f, some;
    make(&p, &r, 40, 400, MOST_SIZE);
    ck_assert_int_eq(lz_choices_solve(&p.c, NULL, 0, &p.a, &f), LZ_OK);
    ck_assert_double_le(f.bound, f.cost);
    ck_assert(!f.exact);
    const bool *may[40] = {0};
    bool *odd[40];
    for (uint32_t v = 0; v < 40; v++) {
        odd[v] = lz_arena_alloc(&p.a, p.c.size[v]);
        for (uint32_t i = 0; i < p.c.size[v]; i++)
            odd[v][i] = i % 2 == 0;
        may[v] = odd[v];
    }
    p.c.may = may;
    ck_assert_int_eq(lz_choices_solve(&p.c, NULL, 0, &p.a, &some), LZ_OK);
    for (uint32_t v = 0; v < 40; v++)
        ck_assert_uint_eq(some.pick[v] % 2, 0);
    ck_assert_double_ge(some.cost, f.bound);
    lz_arena_free(&p.a);
}
END_TEST

/* ---- steps of training ---- */

typedef lz_func *model(void);

static lz_func *mlp(void)
{
    return lz_step_mlp(3, 128, 64, true);
}
static lz_func *small_batch(void)
{
    return lz_step_mlp(3, 8, 64, true);
}
static lz_func *attention(void)
{
    return lz_step_attention(8, 16, 32, 8);
}
static lz_func *experts(void)
{
    return lz_step_experts(64, 32, 8, 16);
}
static lz_func *gpt(void)
{
    return lz_step_gpt(4, 8, 16, 32, 8, 64, true);
}
static lz_func *uneven(void)
{
    return lz_step_gpt(1, 3, 5, 6, 3, 11, false);
}
static model *const models[] = {mlp, small_batch, attention, experts, gpt, uneven};
enum { MODELS = sizeof models / sizeof *models };

static const lz_mesh *mesh_of(int64_t x, int64_t y)
{
    const lz_mesh_axis axes[] = {{"x", x}, {"y", y}};
    const lz_mesh *m = lz_mesh_get(axes, 2, NULL);
    ck_assert_ptr_nonnull(m);
    return m;
}

static void search(const lz_func *f, const lz_mesh *m, const lz_auto_options *o, lz_auto_plan *p)
{
    ck_assert_msg(lz_auto_shard(f, m, o, p) == LZ_OK, "%s", lz_error_get()->message);
}

/* What a device sends of the function with these marks, propagated and partitioned. */
static uint64_t sent_of(const lz_func *f, const lz_mesh *m, const lz_auto_mark *marks, uint32_t n)
{
    lz_partitioned p;
    lz_func *g;
    uint64_t sum = 0;
    ck_assert_msg(lz_auto_apply(f, marks, n, &g) == LZ_OK, "%s", lz_error_get()->message);
    ck_assert_msg(lz_partition(g, m, &p) == LZ_OK, "%s", lz_error_get()->message);
    for (const lz_shard_collective *c = p.collectives; c; c = c->next) {
        lz_shard_traffic t;
        ck_assert_int_eq(lz_shard_traffic_of(c->sig, m, &t), LZ_OK);
        sum += t.sent_bytes;
    }
    lz_partitioned_free(&p);
    lz_func_free(g);
    return sum;
}

static lz_auto_mark mark_param(const lz_func *f, const lz_mesh *m, uint32_t v, int dim,
                               uint32_t factors)
{
    lz_sharding s;
    lz_sharding_init(&s, m, lz_val_type(f, v)->shape.rank, false);
    if (dim >= 0)
        s.dims[dim] = lz_axis_list_of(factors);
    return (lz_auto_mark){LZ_AUTO_PARAM, v, lz_sharding_get(&s)};
}

/* Written by hand: inputs (the last parameters) along some axes, all others along others in the
 * largest dimension that these divide. */
static uint64_t by_hand(const lz_func *f, const lz_mesh *m, uint32_t data, uint32_t cut)
{
    lz_auto_mark marks[2 * LZ_STEP_PARAMS];
    int64_t tiles = lz_mesh_mask_size(m, cut);
    uint32_t ninput = f->nparam - (f->nresult - 1);
    for (uint32_t v = 0; v < f->nparam; v++) {
        const lz_shape *s = &lz_val_type(f, v)->shape;
        int best = -1;
        for (int d = 0; d < s->rank && cut; d++)
            if (s->dims[d] % tiles == 0 && (best < 0 || s->dims[d] > s->dims[best]))
                best = d;
        bool input = v >= f->nparam - ninput;
        marks[v] = mark_param(f, m, v, input ? 0 : best, input ? data : cut);
    }
    return sent_of(f, m, marks, f->nparam);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* It sends what it says, and no more than a tenth above what is written by hand. */
START_TEST(against_hand)
{
    if (lz_test_small() && !lz_test_in_turn((unsigned)_i, 3))
        return;
    const lz_mesh *m = mesh_of(2, 4);
    lz_auto_plan p;
    lz_func *f = models[_i]();
    ck_assert_ptr_nonnull(f);
    lz_shard_small = 16 << 10;
    search(f, m, NULL, &p);
    ck_assert_uint_eq(p.cost.sent, sent_of(f, m, p.marks, p.nmark));
    if (models[_i] != uneven && models[_i] != small_batch) { /* which layouts by hand do not cut */
        uint32_t all = lz_mesh_all(m), x = 1, y = all & ~x;
        uint64_t hand = by_hand(f, m, all, 0); /* data parallel */
        hand = least(hand, by_hand(f, m, all, all));
        hand = least(hand, by_hand(f, m, x, y));
        hand = least(hand, by_hand(f, m, y, x));
        ck_assert_msg((double)p.cost.sent <= 1.1 * (double)hand,
                      "%llu bytes are sent, by hand %llu", (unsigned long long)p.cost.sent,
                      (unsigned long long)hand);
    }
    double share = p.cost.work / p.whole_work; /* an eighth, and a little */
    ck_assert_msg(share < (models[_i] == uneven ? .8 : .16), "a device does %g of the work", share);
    for (uint32_t k = 0; k < p.nknown; k++)
        if (p.known[k].cost.bytes <= p.cost.bytes)
            ck_assert_double_ge(p.known[k].cost.seconds, p.cost.seconds * (1 - 1e-9));
    lz_auto_plan_free(&p);
    lz_func_free(f);
}
END_TEST

/* Weights of the inner layers, which have equal neighbours, are where those of the others are, and
 * results where the next step has them. */
START_TEST(layers_alike)
{
    enum {
        LAYERS = 4,
        LAYER = 16,
        STATES = 2,
        BEFORE = 4
    }; /* parameters: of a layer, before all */
    const lz_mesh *m = mesh_of(2, 4);
    lz_auto_plan p;
    if (lz_test_small() && !lz_test_in_turn(0, 3))
        return;
    lz_func *f = gpt();
    search(f, m, NULL, &p);
    for (int i = 2; i < LAYERS - 1; i++)
        for (int k = 0; k < LAYER; k++)
            ck_assert_msg(p.in[BEFORE + LAYER * i + k] == p.in[BEFORE + LAYER + k],
                          "parameter %d of layer %d (%s)", k, i, p.origin);
    uint32_t n = (f->nparam - 1) / STATES;
    for (uint32_t i = 0; i < n; i++) {
        ck_assert_ptr_eq(p.in[STATES * i], p.out[1 + i]);
        ck_assert_ptr_eq(p.in[STATES * i + 1], p.out[1 + n + i]);
    }
    lz_auto_plan_free(&p);
    lz_func_free(f);
}
END_TEST

/* Twice the same; and as few candidates as are asked for. */
START_TEST(same_again)
{
    const lz_mesh *m = mesh_of(2, 4);
    const lz_auto_options few = {.partitions = 5};
    lz_auto_plan p, q;
    lz_func *f = lz_step_gpt(2, 8, 16, 32, 8, 64, false);
    search(f, m, NULL, &p);
    search(f, m, NULL, &q);
    ck_assert_uint_eq(p.nmark, q.nmark);
    for (uint32_t i = 0; i < p.nmark; i++)
        ck_assert(p.marks[i].of == q.marks[i].of && p.marks[i].number == q.marks[i].number &&
                  p.marks[i].at == q.marks[i].at);
    ck_assert_uint_eq(p.partitions, q.partitions);
    ck_assert_uint_le(p.partitions, 97);
    ck_assert_double_le(p.bound_seconds, p.model_seconds * (1 + 1e-9));
    lz_auto_plan_free(&q);
    search(f, m, &few, &q);
    ck_assert_uint_le(q.partitions, few.partitions);
    ck_assert_double_le(p.cost.seconds, q.cost.seconds * 1.1);
    lz_auto_plan_free(&p);
    lz_auto_plan_free(&q);
    lz_func_free(f);
}
END_TEST

/* The user's marks are kept; the rest goes with them. */
START_TEST(marks_stay)
{
    const lz_mesh *m = mesh_of(2, 4);
    lz_func *f = lz_step_mlp(3, 128, 64, false), *g;
    uint32_t all = lz_mesh_all(m);
    const lz_auto_mark own[] = {mark_param(f, m, 0, 1, all), mark_param(f, m, 2, -1, 0),
                                mark_param(f, m, 6, 0, 1)};
    lz_auto_plan p;
    ck_assert_int_eq(lz_auto_apply(f, own, 3, &g), LZ_OK);
    search(g, m, NULL, &p);
    for (int i = 0; i < 3; i++)
        ck_assert_ptr_eq(p.in[own[i].number], own[i].at);
    for (uint32_t i = 0; i < p.nmark; i++)
        for (int k = 0; k < 3; k++)
            ck_assert(p.marks[i].of != LZ_AUTO_PARAM || p.marks[i].number != own[k].number);
    ck_assert_uint_eq(p.cost.sent, sent_of(g, m, p.marks, p.nmark));
    lz_auto_plan_free(&p);
    lz_func_free(g);
    lz_func_free(f);
}
END_TEST

/* Parameters are in the memory that is given, down to the least there is. */
START_TEST(memory_limits)
{
    const lz_mesh *m = mesh_of(2, 4);
    lz_func *f = lz_step_mlp(4, 2048, 64, true);
    lz_auto_plan p;
    double before = 0;
    uint64_t whole = 0;
    for (uint32_t v = 0; v < f->nparam; v++)
        whole += lz_val_type(f, v)->nbytes;
    for (int parts = 1; parts <= 7; parts += 2) {
        const lz_auto_options o = {.memory = whole / (uint64_t)parts};
        search(f, m, &o, &p);
        ck_assert_uint_le(p.cost.memory, o.memory);
        ck_assert_double_ge(p.cost.seconds * 1.1, before);
        before = p.cost.seconds;
        lz_auto_plan_free(&p);
    }
    const lz_auto_options less = {.memory = whole / 16};
    ck_assert_int_eq(lz_auto_shard(f, m, &less, &p), LZ_ERANGE);
    ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "the least is"));
    lz_func_free(f);
}
END_TEST

/* Meshes of one device, of one axis, of many. */
START_TEST(meshes)
{
    static const lz_mesh_axis axes[][5] = {{{"a", 1}},
                                           {{"a", 8}},
                                           {{"a", 7}},
                                           {{"a", 2}, {"b", 2}, {"c", 2}},
                                           {{"a", 2}, {"b", 2}, {"c", 2}, {"d", 3}, {"e", 2}}};
    static const int n[] = {1, 1, 1, 3, 5};
    const lz_mesh *m = lz_mesh_get(axes[_i], n[_i], NULL);
    lz_func *f = lz_step_attention(4, 8, 16, 4);
    lz_auto_plan p;
    search(f, m, NULL, &p);
    ck_assert_uint_eq(p.cost.sent, sent_of(f, m, p.marks, p.nmark));
    if (m->ndevice == 1)
        ck_assert_uint_eq(p.cost.sent, 0);
    lz_auto_plan_free(&p);
    lz_func_free(f);
}
END_TEST

/* Functions that leave little to choose: they have plans, and finite ones. */
static const char *const odd[] = {
    /* no parameters; nothing but parameters; no elements; a single scalar */
    "func.func @main() -> tensor<4x8xf32> {\n %c = stablehlo.constant dense<1.0> : "
    "tensor<4x8xf32>\n return %c : tensor<4x8xf32>\n}\n",
    "func.func @main(%x: tensor<4x8xf32>, %y: tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>) {\n"
    " return %y, %y : tensor<8xi32>, tensor<8xi32>\n}\n",
    "func.func @main(%x: tensor<0x8xf32>, %y: tensor<8x0xf32>) -> (tensor<0x0xf32>, "
    "tensor<8x8xf32>) {\n %a = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : "
    "(tensor<0x8xf32>, tensor<8x0xf32>) -> tensor<0x0xf32>\n %b = stablehlo.dot_general %y, %x, "
    "contracting_dims = [1] x [0] : (tensor<8x0xf32>, tensor<0x8xf32>) -> tensor<8x8xf32>\n"
    " return %a, %b : tensor<0x0xf32>, tensor<8x8xf32>\n}\n",
    "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n %y = stablehlo.add %x, %x : tensor<f32>\n"
    " return %y : tensor<f32>\n}\n",
    /* many dimensions */
    "func.func @main(%x: tensor<2x2x2x2x2x2x2x2xf32>) -> tensor<2x2x2x2x2x2x2x2xf32> {\n"
    " %y = stablehlo.transpose %x, dims = [7, 6, 5, 4, 3, 2, 1, 0] : "
    "(tensor<2x2x2x2x2x2x2x2xf32>) -> tensor<2x2x2x2x2x2x2x2xf32>\n"
    " %z = stablehlo.add %x, %y : tensor<2x2x2x2x2x2x2x2xf32>\n"
    " return %z : tensor<2x2x2x2x2x2x2x2xf32>\n}\n",
};
enum { ODD = sizeof odd / sizeof *odd };

START_TEST(odd_functions)
{
    static const int64_t sizes[][2] = {{1, 1}, {2, 4}, {64, 64}};
    for (int k = 0; k < 3; k++) {
        const lz_mesh *m = mesh_of(sizes[k][0], sizes[k][1]);
        lz_auto_plan p;
        lz_func *f;
        ck_assert_msg(lz_func_parse(odd[_i], strlen(odd[_i]), "odd", &f) == LZ_OK, "%s",
                      lz_error_get()->message);
        search(f, m, NULL, &p);
        ck_assert_uint_eq(p.cost.sent, sent_of(f, m, p.marks, p.nmark));
        ck_assert(isfinite(p.cost.seconds) && isfinite(p.model_seconds));
        lz_auto_plan_free(&p);
        lz_func_free(f);
    }
}
END_TEST

/* Loops in loops around a product of matrices. */
static lz_func *loops(int depth, const char *rounds)
{
    lz_buf b = {0};
    lz_func *f;
    lz_buf_puts(&b, "func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> "
                    "tensor<64x64xf32> {\n");
    for (int d = 0; d < depth; d++) {
        char x[16] = "%x";
        if (d)
            snprintf(x, sizeof x, "%%h%d", d - 1);
        lz_buf_printf(&b,
                      " %%z%d = stablehlo.constant dense<0> : tensor<i64>\n"
                      " %%r%d:2 = stablehlo.while(%%i%d = %%z%d, %%h%d = %s) : tensor<i64>, "
                      "tensor<64x64xf32>\n cond {\n"
                      " %%n%d = stablehlo.constant dense<%s> : tensor<i64>\n"
                      " %%c%d = stablehlo.compare LT, %%i%d, %%n%d : (tensor<i64>, tensor<i64>) -> "
                      "tensor<i1>\n stablehlo.return %%c%d : tensor<i1>\n } do {\n",
                      d, d, d, d, d, x, d, rounds, d, d, d, d);
    }
    lz_buf_printf(&b,
                  " %%p = stablehlo.dot_general %%h%d, %%w, contracting_dims = [1] x [0] : "
                  "(tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>\n",
                  depth - 1);
    for (int d = depth; d-- > 0;) {
        char y[16] = "%p";
        if (d < depth - 1)
            snprintf(y, sizeof y, "%%r%d#1", d + 1);
        lz_buf_printf(&b,
                      " %%one%d = stablehlo.constant dense<1> : tensor<i64>\n"
                      " %%j%d = stablehlo.add %%i%d, %%one%d : tensor<i64>\n"
                      " stablehlo.return %%j%d, %s : tensor<i64>, tensor<64x64xf32>\n }\n",
                      d, d, d, d, d, y);
    }
    lz_buf_puts(&b, " return %r0#1 : tensor<64x64xf32>\n}\n");
    ck_assert_msg(lz_func_parse(lz_buf_str(&b), b.len, "loops", &f) == LZ_OK, "%s\n%s",
                  lz_error_get()->message, lz_buf_str(&b));
    lz_buf_free(&b);
    return f;
}

/* Work and bytes count as often as loops run; numbers stay finite where that is no time at all. */
START_TEST(loops_in_loops)
{
    static const struct {
        int depth;
        const char *rounds;
    } of[] = {{1, "7"}, {2, "10"}, {14, "4611686018427387904"}};
    const lz_mesh *m = mesh_of(2, 4);
    const double product = 2. * 64 * 64 * 64;
    double rounds = pow(strtod(of[_i].rounds, NULL), of[_i].depth);
    lz_func *f = loops(of[_i].depth, of[_i].rounds);
    lz_auto_plan p;
    lz_buf json = {0};
    search(f, m, NULL, &p);
    ck_assert(isfinite(p.cost.seconds) && isfinite(p.model_seconds) && p.whole_work > 0);
    if (_i < 2) {
        ck_assert_double_ge(p.whole_work, rounds * product);
        ck_assert_double_le(p.whole_work, rounds * (product + 100));
    }
    ck_assert_int_eq(lz_auto_report_json(f, m, &p, &json), LZ_OK);
    ck_assert_ptr_null(strstr(lz_buf_str(&json), "inf"));
    ck_assert_ptr_null(strstr(lz_buf_str(&json), "nan"));
    lz_buf_free(&json);
    lz_auto_plan_free(&p);
    lz_func_free(f);
}
END_TEST

/* Factorizations are work of the third power, which their batch divides. */
START_TEST(factorizations)
{
    static const char text[] = "func.func @main(%x: tensor<8x16x16xf32>) -> tensor<8x16x16xf32> {\n"
                               " %y = stablehlo.cholesky %x, lower = true : tensor<8x16x16xf32>\n"
                               " return %y : tensor<8x16x16xf32>\n}\n";
    lz_auto_plan p;
    lz_func *f;
    ck_assert_int_eq(lz_func_parse(text, sizeof text - 1, "cholesky", &f), LZ_OK);
    search(f, mesh_of(2, 4), NULL, &p);
    ck_assert_double_eq(p.whole_work, 8 * 2. * 16 * 16 * 16);
    ck_assert_double_eq(p.cost.work, p.whole_work / 8);
    ck_assert_uint_eq(p.cost.sent, 0);
    lz_auto_plan_free(&p);
    lz_func_free(f);
}
END_TEST

/* A chain of products of 2,000 nodes in the model is a tree, and is solved exactly. */
START_TEST(long_chain)
{
    enum { LINKS = 1000 };
    const lz_mesh *m = mesh_of(2, 4);
    const lz_auto_options few = {.partitions = 3};
    static lz_step s;
    static lz_val w[LINKS];
    lz_auto_plan p;
    lz_step_begin(&s, false);
    const int64_t rows[] = {32, 16, 0};
    for (int i = 0; i < LINKS; i++) {
        lz_shape shape = {.rank = 2, .dims = {16, 16}};
        w[i] = lz_build_param(s.f, lz_type_get(LZ_F32, &shape));
    }
    lz_val h = lz_step_input(&s, rows);
    for (int i = 0; i < LINKS; i++)
        h = lz_step_einsum(&s, "rd,df->rf", h, w[i]);
    ck_assert_int_eq(lz_func_set_results(s.f, &h, 1), LZ_OK);
    search(s.f, m, &few, &p);
    ck_assert(p.exact);
    ck_assert_uint_ge(p.variables, 2 * LINKS);
    ck_assert_uint_eq(p.cost.sent, 0); /* rows are cut, matrices are whole */
    lz_auto_plan_free(&p);
    lz_func_free(s.f);
}
END_TEST

/* Marks as bytes come back; damaged ones are refused or are marks. */
START_TEST(bytes)
{
    const lz_mesh *m = mesh_of(2, 4), *other = mesh_of(4, 2);
    lz_func *f = lz_step_mlp(2, 128, 64, false), *g;
    lz_arena a = {0};
    lz_auto_plan p;
    lz_auto_mark *got;
    lz_buf b = {0};
    uint32_t n;
    search(f, m, NULL, &p);
    lz_auto_marks_write(&b, p.marks, p.nmark);
    lz_rd r = {(const uint8_t *)b.data, (const uint8_t *)b.data + b.len, false, false};
    ck_assert_int_eq(lz_auto_marks_read(&r, m, &a, &got, &n), LZ_OK);
    ck_assert_uint_eq(n, p.nmark);
    ck_assert_ptr_eq(r.p, r.end);
    ck_assert_mem_eq(got, p.marks, n * sizeof *got);
    r = (lz_rd){(const uint8_t *)b.data, (const uint8_t *)b.data + b.len, false, false};
    ck_assert_int_eq(lz_auto_marks_read(&r, other, &a, &got, &n), LZ_OK); /* of the same factors */
    for (size_t i = 0; i < b.len; i++)
        for (int bit = 0; bit < 8; bit += lz_test_small() ? 5 : 1) {
            b.data[i] = (char)(b.data[i] ^ 1 << bit);
            r = (lz_rd){(const uint8_t *)b.data, (const uint8_t *)b.data + b.len, false, false};
            lz_status s = lz_auto_marks_read(&r, m, &a, &got, &n);
            ck_assert_msg(s == LZ_OK || s == LZ_ECORRUPT, "%s", lz_error_get()->message);
            if (s == LZ_OK && lz_auto_apply(f, got, n, &g) == LZ_OK)
                lz_func_free(g);
            b.data[i] = (char)(b.data[i] ^ 1 << bit);
        }
    for (size_t cut = 0; cut < b.len; cut++) {
        r = (lz_rd){(const uint8_t *)b.data, (const uint8_t *)b.data + cut, false, false};
        ck_assert_int_eq(lz_auto_marks_read(&r, m, &a, &got, &n), LZ_ECORRUPT);
    }
    lz_buf_free(&b);
    lz_arena_free(&a);
    lz_auto_plan_free(&p);
    lz_func_free(f);
}
END_TEST

/* Every allocation fails in turn. */
START_TEST(no_memory)
{
    const lz_mesh *m = mesh_of(2, 2);
    const lz_auto_options few = {.partitions = 3};
    lz_func *f = lz_step_mlp(1, 8, 4, false);
    lz_auto_plan p;
    for (int64_t n = 1, hit = 1; hit; n += 1 + n / (lz_test_small() ? 8 : 40)) {
        uint64_t before = lz_alloc_failed_count();
        lz_alloc_fail_at(n, false);
        lz_status s = lz_auto_shard(f, m, &few, &p);
        lz_alloc_fail_at(0, false);
        hit = lz_alloc_failed_count() > before;
        ck_assert_msg(s == LZ_OK || s == LZ_EMEM, "%s", lz_error_get()->message);
        if (s == LZ_OK)
            lz_auto_plan_free(&p);
    }
    lz_func_free(f);
}
END_TEST

/* ---- what is said ---- */

START_TEST(reports)
{
    const lz_mesh *m = mesh_of(2, 4);
    lz_func *f = lz_step_mlp(2, 64, 32, false);
    lz_auto_plan p;
    lz_buf text = {0}, json = {0};
    char line[128];
    search(f, m, NULL, &p);
    ck_assert_int_eq(lz_auto_report(f, m, &p, &text), LZ_OK);
    ck_assert_int_eq(lz_auto_report_json(f, m, &p, &json), LZ_OK);
    snprintf(line, sizeof line, "plan: %llu bytes in ", (unsigned long long)p.cost.sent);
    ck_assert_ptr_nonnull(strstr(lz_buf_str(&text), line));
    ck_assert_ptr_nonnull(strstr(lz_buf_str(&text), "\ndata parallel: "));
    ck_assert_ptr_nonnull(strstr(lz_buf_str(&text), "\nmodel: "));
    snprintf(line, sizeof line, "\"predicted\": {\"sent_bytes\": %llu,",
             (unsigned long long)p.cost.sent);
    ck_assert_ptr_nonnull(strstr(lz_buf_str(&json), line));
    lz_buf_free(&text);
    lz_buf_free(&json);
    lz_auto_plan_free(&p);
    lz_func_free(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("auto_shard");
    TCase *t = tcase_create("solver"), *u = tcase_create("plans");
    tcase_set_timeout(u, 300);
    tcase_add_loop_test(t, solves_exactly, 0, 5);
    tcase_add_loop_test(t, solves_trees, 0, 4);
    tcase_add_loop_test(t, solves_dense, 0, 3);
    tcase_add_loop_test(u, against_hand, 0, MODELS);
    tcase_add_test(u, layers_alike);
    tcase_add_test(u, same_again);
    tcase_add_test(u, marks_stay);
    tcase_add_test(u, memory_limits);
    tcase_add_loop_test(u, meshes, 0, 5);
    tcase_add_loop_test(u, odd_functions, 0, ODD);
    tcase_add_loop_test(u, loops_in_loops, 0, 3);
    tcase_add_test(u, factorizations);
    tcase_add_test(u, long_chain);
    tcase_add_test(u, bytes);
    tcase_add_test(u, no_memory);
    tcase_add_test(u, reports);
    suite_add_tcase(s, t);
    suite_add_tcase(s, u);
    return lz_run_suite(s);
}
