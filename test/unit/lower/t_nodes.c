/* t_nodes.c - what a plan knows of where its steps come from: nodes of the graph by number, through
 * passes, fusion, loops and bytes; lines are those of the graph that finds the plan. */
#include "lower/plan/plan.h"
#include "suite.h"
#include "support/gen.h"
#include <string.h>

enum { LINES = 4096 };
static lz_site sites[LINES];

/* Instruction i is from line i, so that a node and its line tell of each other. */
static void give_lines(lz_func *f, const char *file)
{
    for (uint32_t i = 0; i < f->ninst && i < LINES; i++) {
        sites[i] = (lz_site){file, "test", (int)i};
        f->insts[i].site = &sites[i];
        f->insts[i].scope = "scope";
    }
}

static lz_func *parse(const char *text)
{
    lz_func *f;
    ck_assert_msg(lz_func_parse(text, strlen(text), "t", &f) == LZ_OK, "%s",
                  lz_error_get()->message);
    return f;
}

static lz_plan *lower(const lz_func *f)
{
    lz_plan *p = NULL;
    ck_assert_msg(lz_lower(f, NULL, &p) == LZ_OK, "%s", lz_error_get()->message);
    return p;
}

static lz_plan *again(const lz_plan *p, const lz_func *f)
{
    lz_buf b = {0};
    lz_plan *q = NULL;
    lz_plan_serialize(p, &b);
    ck_assert_msg(lz_plan_deserialize_of(b.data, b.len, f, NULL, 0, &q) == LZ_OK, "%s",
                  lz_error_get()->message);
    lz_buf_free(&b);
    return q;
}

static void check_step(const lz_step *s, const lz_func *f, int seed)
{
    double all = 0;
    ck_assert_msg(s->nnode > 0, "seed %d: %s has no node", seed, s->name);
    for (uint32_t k = 0; k < s->nnode; k++) {
        const lz_step_node *n = &s->nodes[k];
        ck_assert_msg(n->node < f->ninst, "seed %d: %s", seed, s->name);
        ck_assert_int_eq(n->op, lz_inst_op(&f->insts[n->node]));
        ck_assert_int_eq(n->site->line, (int)n->node);
        ck_assert_str_eq(n->scope, "scope");
        ck_assert(n->cost > 0 && (k == 0 || s->nodes[k - 1].cost >= n->cost));
        all += lz_step_share(s, k);
    }
    ck_assert_double_eq_tol(all, 1, 1e-9);
}

static lz_func *any(int seed)
{
    lz_gen_options o = {.max_insts = 30, .classes = ~(1u << LZ_CLASS_CONTROL), .no_empty = true};
    return seed % 2 ? lz_gen_random((uint64_t)seed, &o) : lz_gen_net((uint64_t)seed);
}

/* Every step of whatever program has nodes, which are instructions of the graph, made or found. */
START_TEST(every_step_has_nodes)
{
    for (int seed = 0; seed < 60; seed++) {
        lz_func *f = any(seed);
        if (f->ninst > LINES) {
            lz_func_free(f);
            continue;
        }
        give_lines(f, "made.c");
        lz_plan *p = lower(f);
        give_lines(f, "found.c");
        lz_plan *q = again(p, f);
        for (uint32_t i = 0; i < p->nstep; i++) {
            if (p->steps[i].kind != LZ_STEP_KERNEL)
                continue;
            check_step(&p->steps[i], f, seed);
            check_step(&q->steps[i], f, seed);
            ck_assert_uint_eq(p->steps[i].nnode, q->steps[i].nnode);
            ck_assert_str_eq(q->steps[i].nodes[0].site->file, "found.c");
        }
        lz_plan_free(p);
        lz_plan_free(q);
        lz_func_free(f);
    }
}
END_TEST

/* Lines are in no bytes: those of the plan, and of its kernels, are the same without them. */
START_TEST(lines_are_not_stored)
{
    lz_func *f = any(4), *g = any(4);
    lz_buf a = {0}, b = {0};
    give_lines(f, "a.c");
    lz_plan *p = lower(f), *q = lower(g);
    lz_plan_serialize(p, &a);
    lz_plan_serialize(q, &b);
    ck_assert(!a.failed && a.len == b.len && memcmp(a.data, b.data, a.len) == 0);
    ck_assert(lz_hash_eq(lz_func_hash(f), lz_func_hash(g)));
    lz_buf_free(&a);
    lz_buf_free(&b);
    lz_plan_free(p);
    lz_plan_free(q);
    lz_func_free(f);
    lz_func_free(g);
}
END_TEST

/* A kernel of many operations is named after one that costs little; the node that costs most comes
 * first. */
START_TEST(the_costliest_first)
{
    lz_func *f = parse("func.func public @main(%x: tensor<64x64xf32>) -> tensor<64xf32> {\n"
                       "  %0 = stablehlo.add %x, %x : tensor<64x64xf32>\n"
                       "  %1 = chlo.lgamma %0 : tensor<64x64xf32> -> tensor<64x64xf32>\n"
                       "  %2 = stablehlo.exponential %1 : tensor<64x64xf32>\n"
                       "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
                       "  %3 = stablehlo.reduce(%2 init: %z) applies stablehlo.add across "
                       "dimensions = [1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>\n"
                       "  return %3 : tensor<64xf32>\n}\n");
    give_lines(f, "net.c");
    lz_plan *p = lower(f);
    ck_assert_uint_eq(p->nstep, 1);
    const lz_step *s = p->steps;
    ck_assert_int_eq(s->nodes[0].op, LZ_OP_LGAMMA);
    ck_assert_int_eq(s->nodes[1].op, LZ_OP_EXPONENTIAL);
    ck_assert_uint_eq(s->nodes[0].cost, 64 * 64 * 100);
    ck_assert(lz_step_share(s, 0) > 0.8);
    lz_buf b = {0};
    lz_step_print_node(s, 0, &b);
    ck_assert_str_eq(lz_buf_str(&b), "chlo.lgamma 87% net.c:2 (scope)");
    lz_buf_free(&b);
    lz_plan_free(p);
    lz_func_free(f);
}
END_TEST

/* What a pass makes of one node, loops and all, is that node's. */
START_TEST(loops_of_a_pass)
{
    lz_func *f = parse("func.func public @main(%x: tensor<40x40xf32>) -> tensor<40x40xf32> {\n"
                       "  %0 = stablehlo.cholesky %x, lower = true : tensor<40x40xf32>\n"
                       "  return %0 : tensor<40x40xf32>\n}\n");
    give_lines(f, "net.c");
    lz_plan *p = lower(f), *q = again(p, f);
    ck_assert_uint_gt(p->nsub, 0);
    const lz_plan *each[] = {p, q};
    for (int k = 0; k < 2; k++)
        for (uint32_t u = 0; u < p->nsub; u++)
            for (uint32_t i = 0; i < each[k]->subs[u]->nstep; i++) {
                const lz_step *s = &each[k]->subs[u]->steps[i];
                ck_assert_int_eq(s->nodes[0].op, LZ_OP_CHOLESKY);
                ck_assert_int_eq(s->nodes[0].site->line, 1);
            }
    lz_plan_free(p);
    lz_plan_free(q);
    lz_func_free(f);
}
END_TEST

static const char loop[] =
    "func.func public @main(%x: tensor<300xf32>, %n: tensor<i32>, %w: tensor<300xf32>) -> "
    "tensor<300xf32> {\n"
    "  %c0 = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %0:3 = stablehlo.while(%i = %c0, %a = %x, %b = %w) : tensor<i32>, tensor<300xf32>, "
    "tensor<300xf32>\n"
    "    cond {\n"
    "      %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "      stablehlo.return %1 : tensor<i1>\n"
    "    } do {\n"
    "      %one = stablehlo.constant dense<1> : tensor<i32>\n"
    "      %1 = stablehlo.add %i, %one : tensor<i32>\n"
    "      %2 = stablehlo.multiply %a, %b : tensor<300xf32>\n"
    "      %3 = stablehlo.tanh %2 : tensor<300xf32>\n"
    "      stablehlo.return %1, %3, %b : tensor<i32>, tensor<300xf32>, tensor<300xf32>\n"
    "    }\n"
    "  return %0#1 : tensor<300xf32>\n}\n";

/* Steps of a loop's body have the nodes of the region, though a pass has made another of it (a
 * value that no iteration changes is not carried). */
START_TEST(nodes_of_a_region)
{
    lz_func *f = parse(loop);
    give_lines(f, "net.c");
    lz_plan *p = lower(f), *q = again(p, f);
    const lz_plan *each[] = {p, q};
    for (int k = 0; k < 2; k++) {
        bool seen = false;
        for (uint32_t u = 0; u < each[k]->nsub; u++)
            for (uint32_t i = 0; i < each[k]->subs[u]->nstep; i++) {
                const lz_step *s = &each[k]->subs[u]->steps[i];
                ck_assert_uint_gt(s->nnode, 0);
                seen |= s->nodes[0].op == LZ_OP_TANH;
                ck_assert_int_ne(s->nodes[0].op, LZ_OP_NONE);
            }
        ck_assert(seen);
    }
    lz_plan_free(p);
    lz_plan_free(q);
    lz_func_free(f);
}
END_TEST

/* Numbers of a stored plan are not trusted. */
START_TEST(foreign_numbers)
{
    lz_func *f = any(4);
    lz_plan *p = lower(f);
    for (uint32_t i = 0; i < p->nstep; i++)
        for (uint32_t k = 0; k < p->steps[i].nnode; k++)
            p->steps[i].nodes[k].node = f->ninst + k;
    lz_plan *q = again(p, f);
    lz_buf b = {0};
    lz_plan_print(q, &b);
    for (uint32_t i = 0; i < q->nstep; i++)
        ck_assert_int_eq(q->steps[i].nodes[0].op, LZ_OP_NONE);
    ck_assert_ptr_null(strstr(lz_buf_str(&b), "node %"));
    lz_buf_free(&b);
    lz_plan_free(p);
    lz_plan_free(q);
    lz_func_free(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("nodes");
    TCase *t = tcase_create("nodes");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, every_step_has_nodes);
    tcase_add_test(t, lines_are_not_stored);
    tcase_add_test(t, the_costliest_first);
    tcase_add_test(t, loops_of_a_pass);
    tcase_add_test(t, nodes_of_a_region);
    tcase_add_test(t, foreign_numbers);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
