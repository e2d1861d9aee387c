/* t_propagate.c - shardings of all values from a few marks: what each kind of operation, region
 * and mark makes of them, and that it is linear work. */
#include "base/status.h"
#include "shard/propagate.h"
#include "suite.h"
#include "support/gen.h"
#include <stdio.h>
#include <string.h>

static const char mesh_text[] = "<[\"x\"=2, \"y\"=4]>";

static const lz_mesh *mesh(void)
{
    static const lz_mesh_axis axes[] = {{"x", 2}, {"y", 4}};
    return lz_mesh_get(axes, 2, NULL);
}

/* dims: [{"x"}, {?}] and what may be behind it */
static lz_val mark(lz_func *f, lz_val v, const char *dims)
{
    char text[300];
    snprintf(text, sizeof text, "<mesh%s, %s>", mesh_text, dims);
    const lz_sharding *s = lz_sharding_parse(text);
    ck_assert_msg(s != NULL, "%s: %s", text, lz_error_get()->message);
    lz_attr_sharding a;
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_sharding;
    a.sharding = lz_sharding_text(s);
    return lz_build(f, LZ_OP_SHARDING_CONSTRAINT, (const lz_attr *)&a, &v, 1);
}

static lz_val param(lz_func *f, int rank, int64_t a, int64_t b)
{
    lz_shape s = {.rank = rank, .dims = {a, b}};
    return lz_build_param(f, lz_type_get(LZ_F32, &s));
}

/* A function, what propagation says of it. */
typedef struct spread {
    lz_func *f;
    lz_arena arena;
    lz_shardings *s;
    lz_prop p;
} spread;

static void propagate(spread *x)
{
    const lz_mesh *m;
    ck_assert_int_eq(x->f->status, LZ_OK);
    ck_assert_int_eq(lz_shard_mesh(x->f, &m), LZ_OK);
    ck_assert_ptr_eq(m, mesh());
    x->p = (lz_prop){.mesh = m, .arena = &x->arena};
    ck_assert_msg(lz_prop_run(&x->p, x->f, &x->s) == LZ_OK, "%s", lz_error_get()->message);
}

static void end(spread *x)
{
    lz_prop_free(&x->p);
    lz_arena_free(&x->arena);
    lz_func_free(x->f);
}

static void is_at(const lz_shardings *s, lz_val v, const char *dims)
{
    lz_buf b = {0};
    char want[200];
    ck_assert_ptr_nonnull(s->at[v]);
    lz_sharding_print(&b, s->at[v], "m");
    snprintf(want, sizeof want, "<@m, %s>", dims);
    ck_assert_str_eq(lz_buf_str(&b), want);
    lz_buf_free(&b);
}

/* ---- one operation after another ---- */

/* Parameters and results of a function with marks, "" where there is none; what the values are that
 * the results are of, before their marks. */
static const struct {
    const char *text, *in[3], *out[2], *want[2];
} cases[] = {
    {"(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>) -> tensor<8x4xf32> {\n"
     "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x16xf32>, "
     "tensor<16x4xf32>) -> tensor<8x4xf32>\nreturn %0 : tensor<8x4xf32>\n}",
     {"[{\"x\"}, {}]", "[{}, {\"y\"}]"},
     {""},
     {"[{\"x\"}, {\"y\"}]"}},
    /* the same axis on both: where the larger tensor has it; of equal ones, the first */
    {"(%a: tensor<8x16xf32>, %b: tensor<16x64xf32>) -> tensor<8x64xf32> {\n"
     "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x16xf32>, "
     "tensor<16x64xf32>) -> tensor<8x64xf32>\nreturn %0 : tensor<8x64xf32>\n}",
     {"[{\"y\"}, {}]", "[{}, {\"y\"}]"},
     {""},
     {"[{}, {\"y\"}]"}},
    {"(%a: tensor<8x16xf32>, %b: tensor<16x8xf32>) -> tensor<8x8xf32> {\n"
     "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x16xf32>, "
     "tensor<16x8xf32>) -> tensor<8x8xf32>\nreturn %0 : tensor<8x8xf32>\n}",
     {"[{\"y\"}, {}]", "[{}, {\"y\"}]"},
     {""},
     {"[{\"y\"}, {}]"}},
    /* to send a quarter of the result is less than to gather what it is made of */
    {"(%x: tensor<8x8x8xf32>, %w: tensor<8x8x8xf32>) -> (tensor<8x8x8xf32>, tensor<8x8x8xf32>) "
     "{\n%v = stablehlo.tanh %w : tensor<8x8x8xf32>\n"
     "%0 = stablehlo.dot_general %x, %v, batching_dims = [0] x [0], contracting_dims = [1] x [1] : "
     "(tensor<8x8x8xf32>, tensor<8x8x8xf32>) -> tensor<8x8x8xf32>\n"
     "return %0, %v : tensor<8x8x8xf32>, tensor<8x8x8xf32>\n}",
     {"[{\"y\"}, {}, {}]", ""},
     {"[{}, {}, {\"y\"}]", ""},
     {"[{}, {}, {\"y\"}]", "[{\"y\"}, {}, {}]"}},
    /* what is summed over in parts is scattered for less than operands are gathered */
    {"(%g: tensor<32x16xf32>, %w: tensor<32x16xf32>) -> (tensor<16x16xf32>, tensor<32x16xf32>) {\n"
     "%v = stablehlo.tanh %w : tensor<32x16xf32>\n"
     "%0 = stablehlo.dot_general %g, %v, contracting_dims = [0] x [0] : (tensor<32x16xf32>, "
     "tensor<32x16xf32>) -> tensor<16x16xf32>\n"
     "return %0, %v : tensor<16x16xf32>, tensor<32x16xf32>\n}",
     {"[{\"y\"}, {}]", ""},
     {"[{}, {\"y\"}]", ""},
     {"[{}, {\"y\"}]", "[{\"y\"}, {}]"}},
    /* what is summed over is in no result */
    {"(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>) -> tensor<8x4xf32> {\n"
     "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x16xf32>, "
     "tensor<16x4xf32>) -> tensor<8x4xf32>\nreturn %0 : tensor<8x4xf32>\n}",
     {"[{\"x\"}, {\"y\"}]", "[{\"y\"}, {}]"},
     {""},
     {"[{\"x\"}, {}]"}},
    /* and a result's mark goes backwards */
    {"(%a: tensor<8x16xf32>) -> tensor<16x8xf32> {\n"
     "%0 = stablehlo.tanh %a : tensor<8x16xf32>\n"
     "%1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<8x16xf32>) -> tensor<16x8xf32>\n"
     "return %1 : tensor<16x8xf32>\n}",
     {""},
     {"[{\"y\"}, {\"x\"}]"},
     {"[{\"y\"}, {\"x\"}]"}},
    /* a reshape splits and merges axes, as far as they divide */
    {"(%a: tensor<8x6xf32>) -> tensor<2x4x2x3xf32> {\n"
     "%0 = stablehlo.reshape %a : (tensor<8x6xf32>) -> tensor<2x4x2x3xf32>\n"
     "return %0 : tensor<2x4x2x3xf32>\n}",
     {"[{\"y\"}, {\"x\"}]"},
     {""},
     {"[{\"y\":(1)2}, {\"y\":(2)2}, {\"x\"}, {}]"}},
    {"(%a: tensor<2x4x3xf32>) -> tensor<24xf32> {\n"
     "%0 = stablehlo.reshape %a : (tensor<2x4x3xf32>) -> tensor<24xf32>\n"
     "return %0 : tensor<24xf32>\n}",
     {"[{\"x\"}, {\"y\"}, {}]"},
     {""},
     {"[{\"x\", \"y\"}]"}},
    {"(%a: tensor<6x4xf32>) -> tensor<24xf32> {\n"
     "%0 = stablehlo.reshape %a : (tensor<6x4xf32>) -> tensor<24xf32>\n"
     "return %0 : tensor<24xf32>\n}",
     {"[{\"y\"}, {\"x\"}]"},
     {""},
     {"[{\"y\":(1)2}]"}},
    /* closed dimensions, and axes that a mark keeps from all */
    {"(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {\n"
     "%0 = stablehlo.add %a, %b : tensor<8x8xf32>\nreturn %0 : tensor<8x8xf32>\n}",
     {"[{\"x\"}, {}]", "[{?}, {?}]"},
     {"[{?}, {}], replicated={\"x\"}"},
     {"[{\"x\"}, {}]"}},
    /* priorities: the axis is on the first dimension in round 0, so the second does not get it */
    {"(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {\n"
     "%0 = stablehlo.add %a, %b : tensor<8x8xf32>\nreturn %0 : tensor<8x8xf32>\n}",
     {"[{?}, {\"y\", ?}p1]", "[{\"y\", ?}, {?}]"},
     {""},
     {"[{\"y\"}, {}]"}},
    /* new dimensions are the result's own; a splat has none */
    {"(%a: tensor<8xf32>) -> tensor<4x8xf32> {\n"
     "%0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>\n"
     "%c = stablehlo.constant dense<2.0> : tensor<4x8xf32>\n"
     "%1 = stablehlo.multiply %0, %c : tensor<4x8xf32>\nreturn %1 : tensor<4x8xf32>\n}",
     {"[{\"x\"}]"},
     {"[{\"y\"}, {}]"},
     {"[{\"y\"}, {\"x\"}]"}},
    /* carried values are one; what both regions need goes in */
    {"(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {\n"
     "%c = stablehlo.constant dense<0> : tensor<i32>\n"
     "%w:2 = stablehlo.while(%i = %c, %x = %a) : tensor<i32>, tensor<8x8xf32>\ncond {\n"
     "%n = stablehlo.constant dense<4> : tensor<i32>\n"
     "%l = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
     "stablehlo.return %l : tensor<i1>\n} do {\n"
     "%o = stablehlo.constant dense<1> : tensor<i32>\n"
     "%j = stablehlo.add %i, %o : tensor<i32>\n"
     "%y = stablehlo.add %x, %b : tensor<8x8xf32>\n"
     "stablehlo.return %j, %y : tensor<i32>, tensor<8x8xf32>\n}\n"
     "return %w#1 : tensor<8x8xf32>\n}",
     {"[{\"x\", ?}, {?}]", "[{?}, {\"y\", ?}]"},
     {""},
     {"[{\"x\"}, {\"y\"}]"}},
    {"(%a: tensor<8x8xf32>, %p: tensor<i1>) -> tensor<8x8xf32> {\n"
     "%w = \"stablehlo.if\"(%p) ({\n%y = stablehlo.tanh %a : tensor<8x8xf32>\n"
     "stablehlo.return %y : tensor<8x8xf32>\n}, {\n"
     "%y = stablehlo.transpose %a, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"
     "stablehlo.return %y : tensor<8x8xf32>\n}) : (tensor<i1>) -> tensor<8x8xf32>\n"
     "return %w : tensor<8x8xf32>\n}",
     {"[{\"x\"}, {}]", ""},
     {"[{?}, {\"y\", ?}]"},
     {"[{\"x\"}, {\"y\"}]"}},
    /* of a slice that is found when it runs, whole dimensions; of an update all */
    {"(%a: tensor<8x16xf32>, %i: tensor<i32>) -> (tensor<1x16xf32>, tensor<8x16xf32>) {\n"
     "%0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [1, 16] : (tensor<8x16xf32>, tensor<i32>, "
     "tensor<i32>) -> tensor<1x16xf32>\n"
     "%1 = stablehlo.dynamic_update_slice %a, %0, %i, %i : (tensor<8x16xf32>, tensor<1x16xf32>, "
     "tensor<i32>, tensor<i32>) -> tensor<8x16xf32>\n"
     "return %0, %1 : tensor<1x16xf32>, tensor<8x16xf32>\n}",
     {"[{\"x\"}, {\"y\"}]", ""},
     {"", ""},
     {"[{}, {\"y\"}]", "[{\"x\"}, {\"y\"}]"}},
    /* a value that is an operand twice */
    {"(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {\n"
     "%0 = stablehlo.tanh %a : tensor<8x8xf32>\n"
     "%1 = stablehlo.dot_general %0, %0, contracting_dims = [1] x [1] : (tensor<8x8xf32>, "
     "tensor<8x8xf32>) -> tensor<8x8xf32>\nreturn %1 : tensor<8x8xf32>\n}",
     {""},
     {"[{\"x\"}, {\"y\"}]"},
     {"[{\"x\"}, {\"y\"}]"}},
};

static void build_case(spread *x, int i)
{
    char text[2048];
    lz_func *plain = NULL;
    lz_val args[3], results[2];
    snprintf(text, sizeof text, "func.func @main%s\n", cases[i].text);
    ck_assert_msg(lz_func_parse(text, strlen(text), "case", &plain) == LZ_OK, "%d: %s", i,
                  lz_error_get()->message);
    x->f = lz_func_new("main");
    for (uint32_t k = 0; k < plain->nparam; k++)
        args[k] = lz_build_param(x->f, lz_val_type(plain, k));
    for (uint32_t k = 0; k < plain->nparam; k++)
        if (cases[i].in[k] && *cases[i].in[k])
            args[k] = mark(x->f, args[k], cases[i].in[k]);
    ck_assert_int_eq(lz_build_inline(x->f, plain, args, results), LZ_OK);
    for (uint32_t k = 0; k < plain->nresult; k++)
        if (*cases[i].out[k])
            results[k] = mark(x->f, results[k], cases[i].out[k]);
    ck_assert_int_eq(lz_func_set_results(x->f, results, plain->nresult), LZ_OK);
    lz_func_free(plain);
}

START_TEST(values)
{
    spread x = {0};
    build_case(&x, _i);
    propagate(&x);
    for (uint32_t k = 0; k < x.f->nresult; k++) {
        lz_val v = x.f->results[k];
        if (*cases[_i].out[k])
            v = x.f->insts[v].opnd[0];
        is_at(x.s, v, cases[_i].want[k]);
    }
    end(&x);
}
END_TEST

START_TEST(memory)
{
    for (int n = 1;; n++) {
        spread x = {0};
        build_case(&x, 11); /* the loop */
        lz_shardings *s;
        const lz_mesh *m = mesh();
        lz_alloc_fail_at(n, false);
        lz_status status = lz_shard_propagate(x.f, m, &x.arena, &s);
        lz_alloc_fail_at(0, false);
        end(&x);
        if (status == LZ_OK)
            break;
        ck_assert_int_eq(status, LZ_EMEM);
    }
}
END_TEST

/* ---- marks ---- */

/* A closed mark says where the value itself is, when it is the only one and the value has none. */
START_TEST(closed_mark)
{
    spread x = {.f = lz_func_new("main")};
    lz_val a = param(x.f, 2, 8, 8), t = lz_build_ew1(x.f, LZ_OP_TANH, a);
    lz_val m = mark(x.f, t, "[{\"x\"}, {}]"), s = lz_build_ew1(x.f, LZ_OP_SINE, m);
    lz_func_set_results(x.f, &s, 1);
    propagate(&x);
    is_at(x.s, a, "[{\"x\"}, {}]");
    is_at(x.s, t, "[{\"x\"}, {}]");
    is_at(x.s, s, "[{\"x\"}, {}]");
    ck_assert_uint_eq(x.s->cause[s].mark, m);
    ck_assert_uint_eq(x.s->cause[s].by, s);
    ck_assert_ptr_eq(x.s->cause[s].where, x.s);
    end(&x);
}
END_TEST

START_TEST(rival_marks)
{
    spread x = {.f = lz_func_new("main")};
    lz_val a = mark(x.f, param(x.f, 2, 8, 8), "[{\"y\"}, {}]"),
           t = lz_build_ew1(x.f, LZ_OP_TANH, a);
    lz_val m = mark(x.f, t, "[{\"x\"}, {}]"), n = mark(x.f, t, "[{}, {\"x\"}]");
    lz_val both[2] = {lz_build_ew1(x.f, LZ_OP_SINE, m), lz_build_ew1(x.f, LZ_OP_SINE, n)};
    lz_func_set_results(x.f, both, 2);
    propagate(&x);
    is_at(x.s, t, "[{\"y\"}, {\"x\"}]"); /* an open dimension may have more */
    is_at(x.s, both[0], "[{\"x\"}, {}]");
    is_at(x.s, both[1], "[{}, {\"x\"}]");
    end(&x);
}
END_TEST

/* A second mark on a marked value moves it. */
START_TEST(mark_of_mark)
{
    spread x = {.f = lz_func_new("main")};
    lz_val a = mark(x.f, param(x.f, 2, 8, 8), "[{\"y\"}, {}]");
    lz_val b = mark(x.f, a, "[{}, {\"y\"}]"), c = mark(x.f, b, "[{}, {}], unreduced={\"x\"}");
    lz_func_set_results(x.f, &c, 1);
    propagate(&x);
    is_at(x.s, 0, "[{\"y\"}, {}]");
    is_at(x.s, a, "[{\"y\"}, {}]");
    is_at(x.s, b, "[{}, {\"y\"}]");
    is_at(x.s, c, "[{}, {}], unreduced={\"x\"}");
    end(&x);
}
END_TEST

static lz_val grouped(lz_func *f, lz_val v, int64_t id)
{
    lz_attr_group a;
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_group;
    a.group_id = id;
    return lz_build(f, LZ_OP_SHARDING_GROUP, (const lz_attr *)&a, &v, 1);
}

START_TEST(groups)
{
    spread x = {.f = lz_func_new("main")};
    lz_val a = param(x.f, 2, 8, 8), b = param(x.f, 2, 8, 8);
    lz_val m = mark(x.f, a, "[{\"x\"}, {?}]"), g = grouped(x.f, m, 3), h = grouped(x.f, b, 3);
    lz_val both[2] = {g, h};
    lz_func_set_results(x.f, both, 2);
    propagate(&x);
    is_at(x.s, b, "[{\"x\"}, {}]");
    is_at(x.s, h, "[{\"x\"}, {}]");
    end(&x);
}
END_TEST

/* Marks of two values of a group, and what all are then; NULL: they contradict each other. Closed
 * marks may be before the group or behind it. */
static const struct {
    const char *one, *other, *both;
} members[] = {
    {"[{\"x\"}, {}]", "[{\"x\"}, {}]", "[{\"x\"}, {}]"},
    {"[{\"x\"}, {}]", "[{}, {\"x\"}]", NULL},
    {"[{\"x\"}, {}]", "[{\"y\"}, {}]", NULL},
    {"[{\"x\"}, {}]", "[{\"x\", \"y\"}, {}]", NULL},
    {"[{}, {}]", "[{\"x\"}, {}]", NULL},
    {"[{\"x\"}, {}]", "[{?}, {}]", "[{\"x\"}, {}]"},
    {"[{\"x\", ?}, {}]", "[{\"x\", \"y\"}, {}]", "[{\"x\", \"y\"}, {}]"},
    {"[{\"x\", ?}, {?}]", "[{?}, {\"y\", ?}]", "[{\"x\"}, {\"y\"}]"},
    {"[{\"x\", ?}, {}]", "[{\"y\"}, {}]", NULL},
    {"[{\"x\", ?}, {?}]", "[{?}, {\"x\"}]", NULL},
    {"[{}, {}], unreduced={\"x\"}", "[{}, {}]", NULL},
    {"[{}, {}], unreduced={\"x\"}", "[{\"x\"}, {}]", NULL},
    {"[{?}, {}], replicated={\"x\"}", "[{\"x\"}, {}]", NULL},
};

START_TEST(group_marks)
{
    for (int order = 0; order < 4; order++) {
        bool swapped = order & 1, before = order & 2;
        const char *text[2] = {members[_i].one, members[_i].other};
        if (!before && (strchr(text[0], '?') || strchr(text[1], '?')))
            continue; /* an open mark behind it is not of the value itself */
        spread x = {.f = lz_func_new("main")};
        lz_val v[2] = {param(x.f, 2, 8, 8), param(x.f, 2, 8, 8)};
        for (int k = 0; k < 2; k++) {
            v[k] = lz_build_ew1(x.f, LZ_OP_TANH, v[k]);
            v[k] = before ? mark(x.f, v[k], text[swapped ? 1 - k : k]) : v[k];
            v[k] = grouped(x.f, v[k], 3);
        }
        for (int k = 0; k < 2 && !before; k++)
            v[k] = lz_build_ew1(x.f, LZ_OP_TANH, mark(x.f, v[k], text[swapped ? 1 - k : k]));
        grouped(x.f, mark(x.f, param(x.f, 2, 8, 8), "[{}, {\"y\"}]"), 4); /* another group */
        lz_func_set_results(x.f, v, 2);
        x.p = (lz_prop){.mesh = mesh(), .arena = &x.arena};
        lz_status s = lz_prop_run(&x.p, x.f, &x.s);
        ck_assert_int_eq(s, members[_i].both ? LZ_OK : LZ_EINVAL);
        for (int k = 0; k < 2 && s == LZ_OK; k++)
            is_at(x.s, v[k], members[_i].both);
        end(&x);
    }
}
END_TEST

/* A value in a loop, and one behind it. */
START_TEST(group_over_regions)
{
    static const char text[] =
        "sdy.mesh @mesh = <[\"x\"=2, \"y\"=4]>\n"
        "func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>, %n: tensor<i32>) -> tensor<8xf32> "
        "{\n"
        "%r:2 = stablehlo.while(%i = %n, %v = %a) : tensor<i32>, tensor<8xf32>\n"
        "cond {\n"
        "%p = stablehlo.compare LT, %i, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        "stablehlo.return %p : tensor<i1>\n"
        "} do {\n"
        "%1 = stablehlo.tanh %v : tensor<8xf32>\n"
        "sdy.sharding_group %1 group_id = 7 : tensor<8xf32>\n"
        "stablehlo.return %i, %1 : tensor<i32>, tensor<8xf32>\n"
        "}\n"
        "%2 = stablehlo.sine %b : tensor<8xf32>\n"
        "%3 = sdy.sharding_constraint %2 <@mesh, [{\"x\"}]> : tensor<8xf32>\n"
        "sdy.sharding_group %3 group_id = 7 : tensor<8xf32>\n"
        "return %r#1 : tensor<8xf32>\n}\n";
    spread x = {0};
    ck_assert_msg(lz_func_parse_marked(text, strlen(text), "loop", NULL, 8, NULL, &x.f) == LZ_OK,
                  "%s", lz_error_get()->message);
    propagate(&x);
    is_at(x.s, x.f->results[0], "[{\"x\"}]");
    end(&x);
}
END_TEST

/* Values of a group whose marks contradict each other: an error, but in a wish. */
START_TEST(groups_that_contradict)
{
    char text[640];
    long long id = _i ? LZ_SHARDING_WISHES : 3;
    snprintf(text, sizeof text,
             "sdy.mesh @mesh = <[\"x\"=2, \"y\"=4]>\n"
             "func.func @main(%%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {\n"
             "%%1 = stablehlo.tanh %%a : tensor<8xf32>\n"
             "%%2 = sdy.sharding_constraint %%1 <@mesh, [{\"y\"}]> : tensor<8xf32>\n"
             "sdy.sharding_group %%2 group_id = %lld : tensor<8xf32>\n"
             "%%3 = stablehlo.sine %%a : tensor<8xf32>\n"
             "%%4 = sdy.sharding_constraint %%3 <@mesh, [{\"x\"}]> : tensor<8xf32>\n"
             "sdy.sharding_group %%4 group_id = %lld : tensor<8xf32>\n"
             "return %%2, %%4 : tensor<8xf32>, tensor<8xf32>\n}\n",
             id, id);
    spread x = {0};
    ck_assert_msg(lz_func_parse_marked(text, strlen(text), "t", NULL, 8, NULL, &x.f) == LZ_OK, "%s",
                  lz_error_get()->message);
    if (_i == 0) {
        lz_arena a = {0};
        const lz_mesh *m;
        lz_shardings *s;
        ck_assert_int_eq(lz_shard_mesh(x.f, &m), LZ_OK);
        ck_assert_int_eq(lz_shard_propagate(x.f, m, &a, &s), LZ_EINVAL);
        ck_assert(strstr(lz_error_get()->message, "sharding group 3") != NULL);
        lz_arena_free(&a);
        lz_func_free(x.f);
        return;
    }
    propagate(&x);
    is_at(x.s, x.f->results[0], "[{\"y\"}]");
    is_at(x.s, x.f->results[1], "[{\"x\"}]");
    end(&x);
}
END_TEST

static const struct {
    int64_t allowed;
    const char *before, *behind;
} barriers[] = {
    {0, "[{\"x\"}, {}]", "[{}, {\"y\"}]"},
    {1, "[{\"x\"}, {}]", "[{\"x\"}, {\"y\"}]"},
    {2, "[{\"x\"}, {\"y\"}]", "[{}, {\"y\"}]"},
    {3, "[{\"x\"}, {\"y\"}]", "[{\"x\"}, {\"y\"}]"},
};

START_TEST(barrier)
{
    spread x = {.f = lz_func_new("main")};
    lz_attr_propagation a;
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_propagation;
    a.allowed_direction = barriers[_i].allowed;
    lz_val p = mark(x.f, param(x.f, 2, 8, 8), "[{\"x\", ?}, {?}]");
    lz_val t = lz_build_ew1(x.f, LZ_OP_TANH, p);
    lz_val b = lz_build(x.f, LZ_OP_PROPAGATION_BARRIER, (const lz_attr *)&a, &t, 1);
    lz_val s = lz_build_ew1(x.f, LZ_OP_SINE, b), m = mark(x.f, s, "[{?}, {\"y\", ?}]");
    lz_func_set_results(x.f, &m, 1);
    propagate(&x);
    is_at(x.s, t, barriers[_i].before);
    is_at(x.s, s, barriers[_i].behind);
    end(&x);
}
END_TEST

/* A constant that several use has no sharding for them to agree on. */
START_TEST(constants)
{
    spread x = {.f = lz_func_new("main")};
    lz_val a = param(x.f, 2, 8, 8), b = param(x.f, 2, 8, 8);
    a = mark(x.f, a, "[{\"x\"}, {}]");
    b = mark(x.f, b, "[{}, {\"x\"}]");
    lz_val c = lz_build_splat(x.f, lz_val_type(x.f, a), 2), i;
    lz_val both[2] = {lz_build_ew2(x.f, LZ_OP_ADD, a, c), lz_build_ew2(x.f, LZ_OP_ADD, b, c)};
    i = lz_build_iota(x.f, lz_val_type(x.f, a), 0);
    both[0] = lz_build_ew2(x.f, LZ_OP_ADD, both[0], i);
    lz_func_set_results(x.f, both, 2);
    propagate(&x);
    ck_assert_ptr_null(x.s->at[c]);
    ck_assert_ptr_null(x.s->at[i]);
    is_at(x.s, both[0], "[{\"x\"}, {}]");
    is_at(x.s, both[1], "[{}, {\"x\"}]");
    end(&x);
}
END_TEST

/* What every device can make itself, as counters' random bits, has what all uses agree on: others
 * take their slices. */
START_TEST(made)
{
    spread x = {.f = lz_func_new("main")};
    lz_val k = param(x.f, 0, 0, 0);
    lz_shape s = {.rank = 2, .dims = {8, 8}};
    const lz_type *t = lz_type_get(LZ_F32, &s);
    lz_val i = lz_build_iota(x.f, t, 0), b = lz_build_broadcast(x.f, k, &(lz_ints){0}, &s);
    lz_val both = lz_build_ew2(x.f, LZ_OP_ADD, i, b), one = lz_build_ew1(x.f, LZ_OP_SINE, both);
    lz_val other = lz_build_ew1(x.f, LZ_OP_COSINE, both);
    lz_val r[2] = {mark(x.f, one, "[{\"x\"}, {\"y\"}]"), mark(x.f, other, "[{\"x\"}, {}]")};
    lz_func_set_results(x.f, r, 2);
    propagate(&x);
    is_at(x.s, both, "[{\"x\"}, {}]");
    is_at(x.s, one, "[{\"x\"}, {\"y\"}]");
    is_at(x.s, other, "[{\"x\"}, {}]");
    end(&x);
}
END_TEST

START_TEST(meshes)
{
    lz_func *f = lz_func_new("main");
    lz_val a = param(f, 2, 8, 8);
    const lz_mesh *m;
    ck_assert_int_eq(lz_shard_mesh(f, &m), LZ_OK);
    ck_assert_ptr_null(m);
    lz_attr_sharding r;
    memset(&r, 0, sizeof r);
    r.kind = LZ_ATTR_sharding;
    r.sharding = "<mesh<[\"x\"=2, \"y\"=4]>, [{\"x\"}, {}]>";
    a = lz_build(f, LZ_OP_SHARDING_CONSTRAINT, (const lz_attr *)&r, &a, 1);
    r.sharding = "<mesh<[\"z\"=8]>, [{}, {\"z\"}]>"; /* of the same factors */
    a = lz_build(f, LZ_OP_SHARDING_CONSTRAINT, (const lz_attr *)&r, &a, 1);
    lz_func_set_results(f, &a, 1);
    ck_assert_int_eq(lz_shard_mesh(f, &m), LZ_OK);
    ck_assert_ptr_eq(m, mesh());
    spread x = {.f = f};
    propagate(&x);
    is_at(x.s, a, "[{}, {\"x\", \"y\"}]");
    r.sharding = "<mesh<[\"z\"=8], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>, [{}, {\"z\"}]>";
    a = lz_build(f, LZ_OP_SHARDING_CONSTRAINT, (const lz_attr *)&r, &a, 1);
    lz_func_set_results(f, &a, 1);
    ck_assert_int_eq(lz_shard_mesh(f, &m), LZ_OK); /* the first order of devices counts */
    ck_assert_ptr_eq(m, mesh());
    r.sharding = "<mesh<[\"z\"=7]>, [{}, {\"z\"}]>";
    a = lz_build(f, LZ_OP_SHARDING_CONSTRAINT, (const lz_attr *)&r, &a, 1);
    lz_func_set_results(f, &a, 1);
    ck_assert_int_eq(lz_shard_mesh(f, &m), LZ_EUNSUPPORTED);
    end(&x);
}
END_TEST

/* ---- manual computations ---- */

/* Inside, types are local along the manual axes, and the other axes go over the border. */
START_TEST(manual)
{
    static const char text[] =
        "sdy.mesh @mesh = <[\"x\"=2, \"y\"=4]>\n"
        "func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, "
        "{}]>}, "
        "%b: tensor<16x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"y\"}]>}) -> "
        "tensor<8x12xf32> {\n"
        "%0 = sdy.manual_computation(%a, %b) in_shardings=[<@mesh, [{\"x\", ?}, {?}]>, <@mesh, "
        "[{?}, {?}]>] out_shardings=[<@mesh, [{\"x\", ?}, {?}]>] manual_axes={\"x\"} (%c: "
        "tensor<4x16xf32>, %d: tensor<16x12xf32>) {\n"
        "%1 = stablehlo.dot_general %c, %d, contracting_dims = [1] x [0] : (tensor<4x16xf32>, "
        "tensor<16x12xf32>) -> tensor<4x12xf32>\n"
        "sdy.return %1 : tensor<4x12xf32>\n"
        "} : (tensor<8x16xf32>, tensor<16x12xf32>) -> tensor<8x12xf32>\n"
        "return %0 : tensor<8x12xf32>\n}\n";
    spread x = {0};
    lz_val at = LZ_NOVAL;
    ck_assert_msg(lz_func_parse_marked(text, strlen(text), "manual", NULL, 8, NULL, &x.f) == LZ_OK,
                  "%s", lz_error_get()->message);
    propagate(&x);
    for (lz_val i = 0; i < x.f->ninst; i++)
        if (lz_op_get(x.f->insts[i].sig->op)->attr == LZ_ATTR_manual)
            at = i;
    ck_assert_uint_ne(at, LZ_NOVAL);
    const lz_shardings *in = x.s->sub[2 * at];
    is_at(in, 0, "[{}, {}], manual={\"x\"}");
    is_at(in, 1, "[{}, {\"y\"}], manual={\"x\"}");
    is_at(in, in->f->results[0], "[{}, {\"y\"}], manual={\"x\"}");
    is_at(x.s, x.f->results[0], "[{\"x\"}, {\"y\"}]");
    end(&x);
}
END_TEST

/* What axes are called does not matter, not even what texts are joined by. */
START_TEST(names_of_axes)
{
    static const char *const names[] = {"x", "a; b", "; ", "<mesh", "\\\"; \\\"", "}, {", "?"};
    char text[1500];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        spread x = {0};
        lz_arena a = {0};
        const lz_mesh *m;
        snprintf(text, sizeof text,
                 "sdy.mesh @mesh = <[\"%s\"=2, \"y\"=4]>\n"
                 "func.func @main(%%a: tensor<8x16xf32>, %%b: tensor<8x16xf32>) -> "
                 "tensor<8x16xf32> {\n"
                 "%%0:2 = sdy.manual_computation(%%a, %%b) in_shardings=[<@mesh, [{\"%s\"}, {?}]>, "
                 "<@mesh, [{\"%s\"}, {\"y\"}]>] out_shardings=[<@mesh, [{?}, {\"%s\"}]>, <@mesh, "
                 "[{\"%s\"}, {\"y\"}]>] manual_axes={\"%s\"} (%%c: tensor<4x16xf32>, %%d: "
                 "tensor<4x16xf32>) {\n"
                 "sdy.return %%c, %%d : tensor<4x16xf32>, tensor<4x16xf32>\n"
                 "} : (tensor<8x16xf32>, tensor<8x16xf32>) -> (tensor<4x32xf32>, "
                 "tensor<8x16xf32>)\n"
                 "return %%0#1 : tensor<8x16xf32>\n}\n",
                 names[i], names[i], names[i], names[i], names[i], names[i]);
        ck_assert_msg(lz_func_parse_marked(text, strlen(text), "names", NULL, 8, NULL, &x.f) ==
                          LZ_OK,
                      "%s", lz_error_get()->message);
        ck_assert_msg(lz_shard_mesh(x.f, &m) == LZ_OK, "%s", lz_error_get()->message);
        ck_assert_msg(lz_shard_propagate(x.f, m, &a, &x.s) == LZ_OK, "%s", lz_error_get()->message);
        const lz_sharding *s = x.s->at[x.f->results[0]];
        ck_assert(s && s->dims[0].n == 1 && s->dims[1].n == 2);
        lz_arena_free(&a);
        lz_func_free(x.f);
    }
}
END_TEST

/* ---- the report ---- */

START_TEST(report)
{
    spread x = {.f = lz_func_new("main")};
    lz_val a = param(x.f, 2, 8, 4), b = param(x.f, 2, 4, 6), all[2];
    a = mark(x.f, a, "[{\"x\"}, {}]");
    lz_attr_dot d;
    memset(&d, 0, sizeof d);
    d.kind = LZ_ATTR_dot;
    d.lhs_contracting_dimensions = lz_ints_make(1, (const int64_t[]){1});
    d.rhs_contracting_dimensions = lz_ints_make(1, (const int64_t[]){0});
    all[0] = lz_build(x.f, LZ_OP_DOT_GENERAL, (const lz_attr *)&d, (const lz_val[]){a, b}, 2);
    all[1] = lz_build_splat(x.f, lz_val_type(x.f, b), 1);
    lz_func_set_results(x.f, all, 2);
    propagate(&x);
    lz_buf t = {0};
    ck_assert_int_eq(lz_shard_report(x.s, &t), LZ_OK);
    ck_assert_str_eq(lz_buf_str(&t),
                     "%0 = f32[8,4] parameter(): [{\"x\"}, {}]  marked by %2\n"
                     "%1 = f32[4,6] parameter(): [{}, {}]  no mark reaches it\n"
                     "%2 = f32[8,4] sdy.sharding_constraint(%0): [{\"x\"}, {}]  marked by %2\n"
                     "%3 = f32[8,6] dot_general(%2, %1): [{\"x\"}, {}]  of mark %2, from %2, by %3 "
                     "([i, k], [k, j])->([i, j]) {i=8, j=6, k=4} reduction={k}\n"
                     "%4 = f32[] constant(): each use makes its own\n"
                     "%5 = f32[4,6] broadcast_in_dim(%4): each use makes its own\n");
    lz_buf_free(&t);
    end(&x);
}
END_TEST

/* What a loop carries is one in all its regions: a cause in one of them is none in another, whose
 * values have other numbers. */
START_TEST(report_of_loop)
{
    static const char text[] =
        "sdy.mesh @mesh = <[\"x\"=2, \"y\"=4]>\n"
        "func.func @main(%a: tensor<8xf32>, %n: tensor<i32>) -> tensor<8xf32> {\n"
        "%r:2 = stablehlo.while(%i = %n, %v = %a) : tensor<i32>, tensor<8xf32>\n"
        "cond {\n"
        "%p = stablehlo.compare LT, %i, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        "stablehlo.return %p : tensor<i1>\n"
        "} do {\n"
        "%1 = stablehlo.tanh %v : tensor<8xf32>\n"
        "%2 = stablehlo.sine %1 : tensor<8xf32>\n"
        "%3 = stablehlo.cosine %2 : tensor<8xf32>\n"
        "%4 = sdy.sharding_constraint %3 <@mesh, [{\"x\"}]> : tensor<8xf32>\n"
        "%5 = stablehlo.tanh %4 : tensor<8xf32>\n"
        "stablehlo.return %i, %5 : tensor<i32>, tensor<8xf32>\n"
        "}\n"
        "return %r#1 : tensor<8xf32>\n}\n";
    spread x = {0};
    lz_buf b = {0};
    ck_assert_msg(lz_func_parse_marked(text, strlen(text), "loop", NULL, 8, NULL, &x.f) == LZ_OK,
                  "%s", lz_error_get()->message);
    propagate(&x);
    lz_val r = x.f->results[0];
    is_at(x.s, r, "[{\"x\"}]");
    ck_assert_uint_eq(x.s->cause[r].by, LZ_NOVAL);
    ck_assert_uint_eq(x.s->cause[r].from, LZ_NOVAL);
    ck_assert_ptr_ne(x.s->cause[r].where, x.s);
    ck_assert_int_eq(lz_shard_report(x.s, &b), LZ_OK);
    ck_assert_ptr_nonnull(strstr(lz_buf_str(&b), "marked by %5 around it or in it"));
    lz_buf_free(&b);
    end(&x);
}
END_TEST

/* What the condition's own mark says is kept beside what the body's says. */
START_TEST(marks_of_loop)
{
    static const char text[] =
        "sdy.mesh @mesh = <[\"x\"=2, \"y\"=4]>\n"
        "func.func @main(%a: tensor<8xf32>, %n: tensor<i32>, %z: tensor<f32>) -> tensor<8xf32> {\n"
        "%r:2 = stablehlo.while(%i = %n, %v = %a) : tensor<i32>, tensor<8xf32>\n"
        "cond {\n"
        "%m = sdy.sharding_constraint %v <@mesh, [{\"y\"}]> : tensor<8xf32>\n"
        "%s = stablehlo.reduce(%m init: %z) applies stablehlo.add across dimensions = [0] : "
        "(tensor<8xf32>, tensor<f32>) -> tensor<f32>\n"
        "%p = stablehlo.compare LT, %s, %z : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
        "stablehlo.return %p : tensor<i1>\n"
        "} do {\n"
        "%m = sdy.sharding_constraint %v <@mesh, [{\"x\"}]> : tensor<8xf32>\n"
        "%1 = stablehlo.tanh %m : tensor<8xf32>\n"
        "stablehlo.return %i, %1 : tensor<i32>, tensor<8xf32>\n"
        "}\n"
        "return %r#1 : tensor<8xf32>\n}\n";
    static const char *const want[] = {"[{\"y\"}]", "[{\"x\"}]"};
    spread x = {0};
    int found = 0;
    ck_assert_msg(lz_func_parse_marked(text, strlen(text), "loop", NULL, 8, NULL, &x.f) == LZ_OK,
                  "%s", lz_error_get()->message);
    propagate(&x);
    for (lz_val v = 0; v < x.f->ninst; v++)
        for (int w = 0; w < 2 && x.f->insts[v].sig->op == LZ_OP_WHILE; w++) {
            const lz_shardings *in = x.s->sub[2 * v + (lz_val)w];
            for (lz_val m = 0; m < in->f->ninst; m++)
                if (in->f->insts[m].sig->op == LZ_OP_SHARDING_CONSTRAINT) {
                    is_at(in, m, want[w]);
                    found++;
                }
        }
    ck_assert_int_eq(found, 2);
    is_at(x.s, x.f->results[0], want[1]);
    end(&x);
}
END_TEST

/* ---- much ---- */

/* A chain is visited a few times an operation, whatever its length, and so is one value of many
 * uses. */
START_TEST(linear)
{
    enum { N = 20000 };
    for (int wide = 0; wide < 2; wide++) {
        spread x = {.f = lz_func_new("main")};
        lz_val a = mark(x.f, param(x.f, 2, 8, 8), "[{\"x\"}, {\"y\"}]"), v = a;
        for (int i = 0; i < N; i++)
            v = lz_build_ew2(x.f, i % 2 ? LZ_OP_ADD : LZ_OP_MULTIPLY, wide ? a : v, v);
        lz_func_set_results(x.f, &v, 1);
        propagate(&x);
        is_at(x.s, v, "[{\"x\"}, {\"y\"}]");
        ck_assert_uint_le(x.p.visits, 8 * N);
        end(&x);
    }
}
END_TEST

/* Whatever the function and the marks: every value has a legal sharding, and marks that are closed
 * are kept. */
START_TEST(random_functions)
{
    lz_rnd r = {lz_test_seed() * 1000 + (unsigned)_i};
    for (int n = 0; n < 40; n++) {
        lz_func *plain = lz_gen_random(lz_rnd_u64(&r), NULL);
        ck_assert_ptr_nonnull(plain);
        spread x = {.f = lz_func_new("main")};
        lz_val args[64], results[64];
        if (plain->nparam > 64 || plain->nresult > 64)
            continue;
        for (uint32_t k = 0; k < plain->nparam; k++)
            args[k] = lz_build_param(x.f, lz_val_type(plain, k));
        lz_val s = lz_build_param(x.f, lz_type_get(LZ_F32, &(lz_shape){.rank = 0}));
        mark(x.f, s, "[]");
        for (uint32_t k = 0; k < plain->nparam; k++) {
            const lz_sharding *in = lz_gen_sharding(&r, mesh(), lz_val_type(plain, k)->shape.rank);
            lz_attr_sharding a;
            memset(&a, 0, sizeof a);
            a.kind = LZ_ATTR_sharding;
            a.sharding = lz_sharding_text(in);
            args[k] = lz_build(x.f, LZ_OP_SHARDING_CONSTRAINT, (const lz_attr *)&a, &args[k], 1);
        }
        ck_assert_int_eq(lz_build_inline(x.f, plain, args, results), LZ_OK);
        lz_func_set_results(x.f, results, plain->nresult);
        const lz_mesh *m;
        if (lz_shard_mesh(x.f, &m) == LZ_EUNSUPPORTED ||
            lz_gen_has_op(x.f, LZ_OP_SHARDING_GROUP)) { /* of its own marks */
            lz_func_free(x.f);
            lz_func_free(plain);
            continue;
        }
        propagate(&x);
        for (uint32_t i = 0; i < x.f->ninst; i++) {
            const lz_sig *sig = x.f->insts[i].sig;
            if (sig->op == LZ_OP_SHARDING_CONSTRAINT) {
                const lz_sharding *in = lz_sharding_parse(LZ_ATTR(sharding, sig->attr)->sharding);
                for (int d = 0; d < in->rank; d++)
                    if (!(in->open >> d & 1))
                        ck_assert(lz_axis_list_eq(&in->dims[d], &x.s->at[i]->dims[d]));
                    else
                        ck_assert_int_eq(lz_axis_list_common(&in->dims[d], &x.s->at[i]->dims[d]),
                                         in->dims[d].n);
            }
            if (x.s->at[i])
                ck_assert_int_eq(x.s->at[i]->rank, sig->result[0]->shape.rank);
        }
        lz_buf b = {0};
        ck_assert_int_eq(lz_shard_report(x.s, &b), LZ_OK);
        lz_buf_free(&b);
        end(&x);
        lz_func_free(plain);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("propagate");
    TCase *t = tcase_create("propagate");
    tcase_add_loop_test(t, values, 0, (int)(sizeof cases / sizeof *cases));
    tcase_add_test(t, memory);
    tcase_add_test(t, closed_mark);
    tcase_add_test(t, rival_marks);
    tcase_add_test(t, mark_of_mark);
    tcase_add_test(t, groups);
    tcase_add_loop_test(t, group_marks, 0, (int)(sizeof members / sizeof *members));
    tcase_add_test(t, group_over_regions);
    tcase_add_loop_test(t, groups_that_contradict, 0, 2);
    tcase_add_loop_test(t, barrier, 0, (int)(sizeof barriers / sizeof *barriers));
    tcase_add_test(t, constants);
    tcase_add_test(t, made);
    tcase_add_test(t, meshes);
    tcase_add_test(t, manual);
    tcase_add_test(t, names_of_axes);
    tcase_add_test(t, report);
    tcase_add_test(t, report_of_loop);
    tcase_add_test(t, marks_of_loop);
    tcase_add_test(t, linear);
    tcase_add_loop_test(t, random_functions, 0, 20);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
