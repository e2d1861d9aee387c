/* t_partition.c - the local function of any function and of any shardings of its values, run by all
 * partitions, gives what one device gives: every row of the table, and random functions with loops,
 * branches and everything else. */
#include "ir/attr.h"
#include "ir/func.h"
#include "ir/eval/eval_partitions.h"
#include "shard/auto/auto.h"
#include "shard/partition.h"
#include "suite.h"
#include "support/gen.h"
#include "support/tiles.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_DEVICES = 8, MOST_VALUES = 256 };
static char msg[512];

static const lz_mesh *random_mesh(lz_rnd *r)
{
    const lz_mesh *m = lz_gen_mesh(r, MOST_DEVICES);
    while (m && m->ndevice == 1 && lz_rnd_chance(r, 90))
        m = lz_gen_mesh(r, MOST_DEVICES);
    ck_assert_ptr_nonnull(m);
    return m;
}

/* ---- any shardings ---- */

static lz_shardings *random_shardings(const lz_func *f, const lz_mesh *m, lz_rnd *r, lz_arena *a)
{
    lz_shardings *s = lz_arena_alloc(a, sizeof *s);
    s->f = f;
    s->at = lz_arena_alloc(a, (f->ninst + 1) * sizeof *s->at);
    s->sub = lz_arena_alloc(a, 2 * (f->ninst + 1) * sizeof *s->sub);
    for (lz_val v = 0; v < f->ninst; v++) {
        const lz_inst *in = &f->insts[v];
        if (in->sig->nresult == 1 && lz_rnd_chance(r, 80))
            s->at[v] = lz_test_placement(r, m, &lz_val_type(f, v)->shape, lz_rnd_chance(r, 40));
        for (int k = 0; k < 2 && (lz_inst_op(in) == LZ_OP_WHILE || lz_inst_op(in) == LZ_OP_IF); k++)
            s->sub[2 * v + (lz_val)k] = random_shardings(lz_attr_region(in->sig->attr, k), m, r, a);
    }
    return s;
}

/* ---- one function ---- */

typedef struct trial {
    const lz_func *f;
    lz_literal **args;
    const lz_mesh *mesh;
    lz_partitioned p;
} trial;

static lz_literal **tiles_of(const trial *t, int64_t partition)
{
    lz_literal **row = lz_calloc(t->f->nparam + 1, sizeof(lz_literal *));
    for (uint32_t k = 0; k < t->f->nparam; k++)
        row[k] = lz_test_tile(t->args[k], t->p.in[k], partition);
    row[t->f->nparam] = lz_literal_scalar_i64(LZ_U32, partition);
    return row;
}

static void say(const trial *t, const char *what)
{
    lz_buf b = {0};
    lz_func_print(t->f, &b, 0);
    lz_mesh_print(&b, t->mesh);
    lz_buf_putc(&b, '\n');
    if (t->p.local)
        lz_func_print(t->p.local, &b, 0);
    fprintf(stderr, "%s: %s\n%s\n", what, msg, lz_buf_str(&b)); /* too long for a message */
    ck_abort_msg("%s: %s", what, msg);
}

static void run(const trial *t, lz_literal **whole, const char *what)
{
    int64_t n = t->mesh->ndevice;
    lz_literal **rows[MOST_DEVICES], **results[MOST_DEVICES], *parts[MOST_DEVICES];
    for (int64_t p = 0; p < n; p++) {
        rows[p] = tiles_of(t, p);
        results[p] = lz_calloc(t->f->nresult + 1, sizeof(lz_literal *));
    }
    if (lz_ref_run_partitions(t->p.local, n, (lz_literal *const *const *)rows, results) != LZ_OK) {
        snprintf(msg, sizeof msg, "%s", lz_error_get()->message);
        say(t, what);
    }
    for (uint32_t k = 0; k < t->f->nresult; k++) {
        for (int64_t p = 0; p < n; p++)
            parts[p] = results[p][k];
        whole[k] =
            lz_test_join(parts, t->p.out[k], lz_val_type(t->f, t->f->results[k]), msg, sizeof msg);
        if (!whole[k])
            say(t, what);
    }
    for (int64_t p = 0; p < n; p++) {
        for (uint32_t k = 0; k <= t->f->nparam; k++)
            lz_literal_release(rows[p][k]);
        for (uint32_t k = 0; k < t->f->nresult; k++)
            lz_literal_release(results[p][k]);
        lz_free(rows[p]);
        lz_free(results[p]);
    }
}

/* Sums over devices are rounded once more for each. */
static bool nearly(const trial *t, const lz_expect *e, lz_literal *const *got)
{
    for (uint32_t k = 0; k < e->nresult; k++) {
        const lz_literal *w = e->value[k];
        lz_dtype d = w->type->dtype;
        double most = 0, eps = d == LZ_BF16 ? 0x1p-8 : d == LZ_F16 ? 0x1p-11 : 0x1p-23;
        if (!lz_dtype_is_float(d) && !lz_test_same(got[k], w, 0, msg, sizeof msg))
            return false;
        for (int64_t i = 0; i < w->type->nelem && lz_dtype_is_float(d); i++)
            if (fabs(lz_elem_get_f64(d, w->data, i)) > most)
                most = fabs(lz_elem_get_f64(d, w->data, i));
        for (int64_t i = 0; i < w->type->nelem && lz_dtype_is_float(d); i++) {
            double a = lz_elem_get_f64(d, w->data, i), b = lz_elem_get_f64(d, got[k]->data, i);
            double slack = 3 * e->slack[k][i] + 2 * (double)t->mesh->ndevice * eps * most;
            if (a != b && !(isnan(a) && isnan(b)) && !(fabs(a - b) <= slack))
                return false;
        }
    }
    return true;
}

/* Also in loops and branches. */
static uint32_t count_collectives(const lz_func *f)
{
    const lz_func *r;
    uint32_t n = 0;
    for (lz_val v = 0; v < f->ninst; v++) {
        lz_op op = lz_inst_op(&f->insts[v]);
        n += lz_op_get(op)->cls == LZ_CLASS_COLLECTIVE;
        for (int k = 0; (op == LZ_OP_WHILE || op == LZ_OP_IF) &&
                        (r = lz_attr_region(f->insts[v].sig->attr, k));
             k++)
            n += count_collectives(r);
    }
    return n;
}

/* Each collective is on the list, and somebody wanted it. */
static void check_notes(const trial *t, const char *what)
{
    uint32_t n = 0;
    lz_buf b = {0};
    for (const lz_shard_collective *c = t->p.collectives; c; c = c->next, n++)
        ck_assert_msg(c->why != NULL, "%s: nobody wants the %s", what, lz_op_get(c->sig->op)->text);
    ck_assert_msg(n == count_collectives(t->p.local), "%s: %u notes, %u collectives", what, n,
                  count_collectives(t->p.local));
    ck_assert_int_eq(lz_shard_report_collectives(&t->p, t->mesh, &b), LZ_OK);
    ck_assert(strstr(lz_buf_str(&b), " collectives, "));
    lz_buf_free(&b);
}

/* What the local function gives and what one device gives. False: there is none. */
static bool compare(trial *t, lz_status status, const char *what)
{
    const lz_func *f = t->f;
    lz_literal *got[MOST_VALUES];
    lz_expect *e;
    if (status != LZ_OK) {
        lz_error err = *lz_error_get(); /* random marks may contradict each other in a group */
        bool groups = err.status == LZ_EINVAL && lz_gen_has_op(f, LZ_OP_SHARDING_GROUP);
        if (err.status != LZ_EUNSUPPORTED && !groups) {
            snprintf(msg, sizeof msg, "%s", err.message);
            say(t, what);
        }
        return false;
    }
    ck_assert_msg(lz_func_verify(t->p.local) == LZ_OK, "%s: %s", what, lz_error_get()->message);
    check_notes(t, what);
    run(t, got, what);
    ck_assert_int_eq(lz_expect_new(f, t->args, 8, &e), LZ_OK);
    if (!lz_expect_met(e, got, msg, sizeof msg) && !nearly(t, e, got))
        say(t, what);
    lz_expect_free(e);
    for (uint32_t k = 0; k < f->nresult; k++)
        lz_literal_release(got[k]);
    lz_partitioned_free(&t->p);
    return true;
}

/* f with marks of some values. */
static lz_func *mark(const lz_func *f, const lz_mesh *m, lz_rnd *r)
{
    lz_func *g = lz_func_new("marked");
    lz_val *map = lz_calloc(f->ninst + lz_func_widest(f) + 1, sizeof *map), out[MOST_VALUES];
    for (lz_val v = 0; v < f->nparam; v++)
        map[v] = lz_build_param(g, lz_val_type(f, v));
    for (lz_val v = 0; v < f->ninst; v++) {
        const lz_inst *in = &f->insts[v];
        if (v >= f->nparam)
            map[v] = lz_build_copy_inst(g, in, map, map + f->ninst);
        if (in->sig->nresult > 1 || !lz_rnd_chance(r, 30))
            continue;
        const lz_sharding *s =
            lz_test_placement(r, m, &lz_val_type(f, v)->shape, lz_rnd_chance(r, 40));
        lz_sharding open = *s;
        open.open = lz_rnd_chance(r, 30) ? (UINT32_C(1) << s->rank) - 1 : 0;
        const lz_attr_sharding a = {.kind = LZ_ATTR_sharding,
                                    .sharding = lz_sharding_text(lz_sharding_get(&open))};
        map[v] = lz_build(g, LZ_OP_SHARDING_CONSTRAINT, (const lz_attr *)&a, &map[v], 1);
    }
    for (uint32_t k = 0; k < f->nresult; k++)
        out[k] = map[f->results[k]];
    ck_assert_msg(lz_func_set_results(g, out, f->nresult) == LZ_OK, "%s", lz_error_get()->message);
    lz_free(map);
    return g;
}

/* When it is known which order of marks is the better one, the function is the same. */
static void again(const trial *t, const bool *is_state, const char *what)
{
    lz_partitioned first, second;
    if (lz_partition_step(t->f, t->mesh, is_state, &first) != LZ_OK)
        return;
    ck_assert_msg(lz_partition_step_again(t->f, t->mesh, is_state, first.later, &second) == LZ_OK,
                  "%s: %s", what, lz_error_get()->message);
    ck_assert_msg(lz_func_same(first.local, second.local), "%s: another function", what);
    ck_assert_int_eq(first.later, second.later);
    lz_partitioned_free(&first);
    lz_partitioned_free(&second);
}

static void try_marked(const lz_func *f, lz_literal **args, uint64_t seed, const char *what)
{
    lz_rnd r = {seed * 977 + lz_test_seed()};
    if (lz_gen_has_op(f, LZ_OP_PARTITION_ID) || lz_gen_has_op(f, LZ_OP_SHARDING_CONSTRAINT) ||
        lz_gen_has_op(f, LZ_OP_MANUAL_COMPUTATION))
        return;
    lz_func *g = mark(f, random_mesh(&r), &r);
    trial t = {.f = g, .args = args};
    ck_assert_msg(lz_shard_mesh(g, &t.mesh) == LZ_OK, "%s", lz_error_get()->message);
    lz_shard_small = lz_rnd_chance(&r, 50) ? 0 : 16 << 10; /* 0: what large programs do */
    bool is_state[MOST_VALUES];
    for (uint32_t i = 0; i < g->nparam; i++)
        is_state[i] = lz_rnd_chance(&r, 70);
    if (t.mesh) {
        again(&t, is_state, what);
        compare(&t, lz_partition_step(g, t.mesh, is_state, &t.p), what);
    }
    lz_func_free(g);
}

static uint64_t sent_by(const lz_partitioned *p, const lz_mesh *mesh)
{
    uint64_t n = 0;
    for (const lz_shard_collective *c = p->collectives; c; c = c->next) {
        lz_shard_traffic t;
        ck_assert_int_eq(lz_shard_traffic_of(c->sig, mesh, &t), LZ_OK);
        n += t.sent_bytes;
    }
    return n;
}

/* What a search finds, with marks of the function's own or without: it sends what the plan says. */
static void try_searched(const lz_func *f, lz_literal **args, uint64_t seed, const char *what)
{
    lz_rnd r = {seed * 1303 + lz_test_seed()};
    const lz_auto_options o = {.partitions = 6};
    trial t = {.args = args};
    lz_auto_plan plan;
    lz_func *g = NULL, *h;
    ck_assert_int_eq(lz_shard_mesh(f, &t.mesh), LZ_OK);
    if (lz_gen_has_op(f, LZ_OP_PARTITION_ID) || (t.mesh && t.mesh->ndevice > MOST_DEVICES))
        return;
    t.mesh = t.mesh ? t.mesh : random_mesh(&r);
    if (!lz_gen_has_op(f, LZ_OP_SHARDING_CONSTRAINT) &&
        !lz_gen_has_op(f, LZ_OP_MANUAL_COMPUTATION) && lz_rnd_chance(&r, 40))
        g = mark(f, t.mesh, &r);
    lz_shard_small = lz_rnd_chance(&r, 50) ? 0 : 16 << 10;
    lz_status s = lz_auto_shard(g ? g : f, t.mesh, &o, &plan);
    if (s == LZ_OK) {
        ck_assert_int_eq(lz_auto_apply(g ? g : f, plan.marks, plan.nmark, &h), LZ_OK);
        t.f = h;
        s = lz_partition(h, t.mesh, &t.p);
        if (s == LZ_OK)
            ck_assert_uint_eq(sent_by(&t.p, t.mesh), plan.cost.sent);
        compare(&t, s, what);
        lz_auto_plan_free(&plan);
        lz_func_free(h);
    } else {
        t.f = g ? g : f;
        compare(&t, s, what);
    }
    lz_func_free(g);
}

/* Of each operation, how many have been run in parts with an operand that is in several. */
static int with_parts[LZ_OP_COUNT];

static void count_parts(const lz_shardings *s)
{
    for (lz_val v = 0; v < s->f->ninst; v++) {
        const lz_inst *in = &s->f->insts[v];
        bool parts = false;
        for (uint32_t i = 0; i < in->sig->nopnd; i++) {
            const lz_sharding *at = s->at[in->opnd[i]];
            for (int d = 0; at && d < at->rank; d++)
                parts |= lz_axis_list_size(at->mesh, &at->dims[d]) > 1;
        }
        with_parts[lz_inst_op(in)] += parts;
    }
}

static bool try_function(const lz_func *f, lz_literal **args, uint64_t seed, const char *what)
{
    lz_rnd r = {seed * 977 + lz_test_seed()};
    lz_arena a = {0};
    trial t = {.f = f, .args = args, .mesh = random_mesh(&r)};
    if (lz_gen_has_op(f, LZ_OP_PARTITION_ID))
        return false;
    ck_assert(f->nparam < MOST_VALUES && f->nresult < MOST_VALUES);
    lz_shardings *s = random_shardings(f, t.mesh, &r, &a);
    lz_shard_small = lz_rnd_chance(&r, 50) ? 0 : 16 << 10;
    bool done = compare(&t, lz_partition_as(f, t.mesh, s, &t.p), what);
    if (done)
        count_parts(s);
    lz_arena_free(&a);
    return done;
}

/* ---- every row ---- */

typedef struct counts {
    int tried, done;
} counts;

static bool try_case(lz_op op, int index, uint64_t round, counts *n)
{
    lz_func *f;
    lz_literal **args;
    char what[64];
    int r = lz_gen_row_cases(op, index, &f, &args);
    ck_assert_msg(r >= 0, "%s", lz_error_get()->message);
    if (r == 0)
        return false;
    snprintf(what, sizeof what, "%s, case %d", lz_op_get(op)->text, index);
    if (!f->nparam || lz_val_type(f, 0)->nelem < 500)
        for (uint64_t choice = 0; choice < 3; choice++, n->tried++)
            n->done += try_function(f, args, (uint64_t)index * 7 + choice + round * 7919, what);
    lz_gen_args_free(f, args);
    lz_func_free(f);
    return true;
}

/* All cases, or those whose turn it is. */
static void try_cases(lz_op op, unsigned turns, uint64_t round, counts *n)
{
    bool more = true;
    for (unsigned i = 0; more; i++)
        if (lz_test_in_turn(i, turns))
            more = try_case(op, (int)i, round, n);
}

/* The whole load has at least so many with an operand in parts. */
enum { WITH_PARTS = 50, MOST_ROUNDS = 40 };

START_TEST(every_row)
{
    const lz_op_info *op = lz_op_get((lz_op)_i);
    unsigned turns = op->cls == LZ_CLASS_EW ? 12 : lz_test_small() ? 10 : 6;
    counts n = {0};
    if (op->cls == LZ_CLASS_COLLECTIVE || _i == LZ_OP_PARTITION_ID)
        return;
    try_cases((lz_op)_i, turns, 0, &n);
    for (uint64_t r = 1; lz_test_whole() && with_parts[_i] < WITH_PARTS && r < MOST_ROUNDS; r++)
        try_cases((lz_op)_i, turns, r, &n);
    if (lz_test_whole() && op->cls != LZ_CLASS_LEAF && _i != LZ_OP_RESULT) /* of several values */
        ck_assert_int_ge(with_parts[_i], WITH_PARTS);
    /* some have a partition's number or effects in a region */
    bool effects = op->flags & LZ_F_EFFECT;
    ck_assert_msg(effects || 10 * n.done >= 9 * n.tried, "%s: %d of %d are partitioned", op->text,
                  n.done, n.tried);
}
END_TEST

START_TEST(random_functions)
{
    int n = lz_test_whole() ? 1000 : lz_test_small() ? 10 : 40, done = 0;
    for (int i = _i * n; i < (_i + 1) * n; i++) {
        lz_literal **args;
        char what[64];
        lz_func *f = lz_gen_random((uint64_t)i, NULL);
        snprintf(what, sizeof what, "seed %d", i);
        ck_assert(f != NULL);
        lz_fill fill = lz_gen_fill(f, LZ_FILL_MODEST, false);
        ck_assert_int_eq(lz_gen_args(f, (uint64_t)i, fill, &args), LZ_OK);
        done += try_function(f, args, (uint64_t)i, what);
        try_marked(f, args, (uint64_t)i, what);
        try_searched(f, args, (uint64_t)i, what);
        lz_gen_args_free(f, args);
        lz_func_free(f);
    }
    ck_assert_msg(2 * done >= n, "%d of %d are partitioned", done, n);
}
END_TEST

/* Every allocation fails in turn: the error is said, nothing is lost, and what is given all the
 * same is what there would be. */
START_TEST(no_memory)
{
    lz_rnd r = {(uint64_t)_i + 5 + lz_test_seed()};
    lz_arena a = {0};
    lz_partitioned p;
    lz_func *f = lz_gen_random((uint64_t)_i + 3, NULL);
    const lz_mesh *m = random_mesh(&r);
    ck_assert(f != NULL);
    lz_shardings *s = random_shardings(f, m, &r, &a);
    lz_hash whole = {0};
    lz_shard_small = 0;
    if (lz_partition_as(f, m, s, &p) == LZ_OK) {
        whole = lz_func_hash(p.local);
        lz_partitioned_free(&p);
    }
    for (int64_t n = 1, hit = 1; hit; n += 1 + n / 50) {
        uint64_t before = lz_alloc_failed_count();
        lz_alloc_fail_at(n, false);
        lz_status got = lz_partition_as(f, m, s, &p);
        lz_alloc_fail_at(0, false);
        hit = lz_alloc_failed_count() > before;
        if (got == LZ_OK) {
            ck_assert(lz_hash_eq(lz_func_hash(p.local), whole));
            lz_partitioned_free(&p);
        } else
            ck_assert_msg(got == LZ_EMEM || got == LZ_EUNSUPPORTED, "%s", lz_error_get()->message);
    }
    lz_func_free(f);
    lz_arena_free(&a);
}
END_TEST

/* Programs that take a dimension of N elements, of which some need a place in it. */
static const struct {
    const char *body;
    bool places;
} long_dims[] = {
    {"%r = stablehlo.add %a, %a : T\nreturn %r : T", false},
    {"%k = stablehlo.iota dim = 0 : T\n%r = stablehlo.add %a, %k : T\nreturn %r : T", true},
    {"%r = stablehlo.slice %a [1:N] : (T) -> tensor<Mxi8>\nreturn %r : tensor<Mxi8>", true},
    {"%r = stablehlo.pad %a, %z, low = [1], high = [-1], interior = [0] : (T, tensor<i8>) -> T\n"
     "return %r : T",
     true},
    {"%r = stablehlo.concatenate %a, %a, dim = 0 : (T, T) -> tensor<Dxi8>\n"
     "return %r : tensor<Dxi8>",
     true},
    {"%r = stablehlo.dynamic_update_slice %a, %u, %i : (T, tensor<3xi8>, tensor<i64>) -> T\n"
     "return %r : T",
     true},
    {"%r = \"stablehlo.gather\"(%a, %g) <{dimension_numbers = #stablehlo.gather<"
     "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = "
     "array<i64: 1>}> : (T, tensor<5xi64>) -> tensor<5xi8>\nreturn %r : tensor<5xi8>",
     true},
    {"%b = stablehlo.broadcast_in_dim %w, dims = [0] : (tensor<1xi8>) -> T\n"
     "%r = stablehlo.add %a, %b : T\nreturn %r : T",
     false},
    {"%v = stablehlo.reverse %a, dims = [0] : T\n"
     "%r = sdy.sharding_constraint %v <@mesh, [{\"x\"}]> : T\nreturn %r : T",
     true},
};

/* Text with N, M = N - 1, D = 2 N and T = tensor<Nxi8> written out. */
static void write_long(lz_buf *b, const char *s, int64_t n)
{
    for (; *s; s++)
        if (strncmp(s, "T", 1) == 0)
            lz_buf_printf(b, "tensor<%lldxi8>", (long long)n);
        else if (*s == 'N' || *s == 'M' || *s == 'D')
            lz_buf_printf(b, "%lld", (long long)(*s == 'N' ? n : *s == 'M' ? n - 1 : 2 * n));
        else
            lz_buf_putc(b, *s);
}

/* Places are counted in i32: where they do not suffice it is said. */
START_TEST(long_dimensions)
{
    static const struct {
        int64_t n;
        bool beyond;
    } sizes[] = {{(INT64_C(1) << 30) - 2, false},
                 {(INT64_C(1) << 31) + 2, true},
                 {(INT64_C(1) << 33) + 2, true}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        lz_buf b = {0};
        lz_func *f;
        const lz_mesh *m;
        lz_partitioned p;
        write_long(&b,
                   "sdy.mesh @mesh = <[\"x\"=2]>\nfunc.func public @main(%a: T {sdy.sharding = "
                   "#sdy.sharding<@mesh, [{\"x\"}]>}, %z: tensor<i8>, %u: tensor<3xi8>, %i: "
                   "tensor<i64>, %g: tensor<5xi64>, %w: tensor<1xi8>) -> ",
                   sizes[i].n);
        const char *type = strrchr(long_dims[_i].body, ':') + 2;
        write_long(&b, type, sizes[i].n);
        lz_buf_puts(&b, " {\n");
        write_long(&b, long_dims[_i].body, sizes[i].n);
        lz_buf_puts(&b, "\n}\n");
        ck_assert_msg(lz_func_parse_marked(lz_buf_str(&b), b.len, "long", NULL, 2, NULL, &f) ==
                          LZ_OK,
                      "%s\n%s", lz_error_get()->message, lz_buf_str(&b));
        ck_assert_int_eq(lz_shard_mesh(f, &m), LZ_OK);
        lz_status s = lz_partition(f, m, &p);
        bool refused = sizes[i].beyond && long_dims[_i].places;
        ck_assert_msg(s == (refused ? LZ_EUNSUPPORTED : LZ_OK), "%s", lz_buf_str(&b));
        if (s == LZ_OK)
            lz_partitioned_free(&p);
        lz_func_free(f);
        lz_buf_free(&b);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("partition");
    TCase *t = tcase_create("rows");
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, every_row, 1, LZ_OP_COUNT);
    TCase *u = tcase_create("random");
    tcase_set_timeout(u, 300);
    tcase_add_loop_test(u, random_functions, 0, 10);
    tcase_add_loop_test(t, no_memory, 0, 10);
    tcase_add_loop_test(t, long_dimensions, 0, sizeof long_dims / sizeof *long_dims);
    suite_add_tcase(s, t);
    suite_add_tcase(s, u);
    return lz_run_suite(s);
}
