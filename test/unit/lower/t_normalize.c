/* t_normalize.c - loop normalization: rows too short for a vector, numbers that become arguments.
 */
#include "graphs.h"
#include "ir/attr.h"
#include "lower/pass.h"
#include "lower/plan/plan.h"
#include "suite.h"
#include <math.h>
#include <string.h>

static lz_plan *lower(const lz_func *f)
{
    lz_plan *p = NULL;
    ck_assert_msg(f->status == LZ_OK && lz_lower(f, NULL, &p) == LZ_OK, "%s",
                  lz_error_get()->message);
    return p;
}

static lz_func *finish(lz_func *f, const lz_val *v, uint32_t n)
{
    ck_assert_msg(lz_func_set_results(f, v, n) == LZ_OK, "%s", lz_error_get()->message);
    return f;
}

/* Rows too short for a vector are not a loop each: what lies along rows is loaded at computed ones.
 * Where that takes more than it saves, they are. */
START_TEST(short_rows_are_one_loop)
{
    static const struct {
        int64_t columns;
        int loads; /* along rows */
        uint32_t loops;
    } rows[] = {{2, 1, 1}, {3, 2, 1}, {4, 2, 1}, {7, 1, 1}, {7, 3, 2}, {15, 1, 2}, {16, 1, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lz_func *f = lz_func_new("rows");
        lz_shape s = LZ_SHAPE(50, rows[i].columns);
        lz_val row[3], x = g_param(f, LZ_F32, s);
        for (int k = 0; k < rows[i].loads; k++)
            row[k] = g_param(f, LZ_F32, LZ_SHAPE(50));
        for (int k = 0; k < rows[i].loads; k++)
            x = g_add(f, x, g_spread(f, row[k], g_dims(1, 0, 0), s));
        lz_plan *p = lower(finish(f, &x, 1));
        ck_assert_int_eq(p->nstep, 1);
        ck_assert_msg(p->kernels[0]->nouter == rows[i].loops, "%zu: %u loops", i,
                      p->kernels[0]->nouter);
        lz_plan_free(p);
        lz_func_free(f);
    }
}
END_TEST

/* n layers, x w then tanh(a x + b), each with numbers of its own from `first` on. */
static lz_func *layers(int n, double first)
{
    lz_func *f = lz_func_new("layers");
    lz_val x = g_param(f, LZ_F32, LZ_SHAPE(40, 40)), w = g_param(f, LZ_F32, LZ_SHAPE(40, 40));
    for (int i = 0; i < n; i++) {
        x = g_dot(f, x, w, 1, 0);
        x = g_mul(f, x, g_like(f, x, first + 0.013 * i));
        x = lz_build_ew1(f, LZ_OP_TANH, g_add(f, x, g_like(f, x, first / 3 - 0.017 * i)));
    }
    return finish(f, &x, 1);
}

/* Numbers of the program are arguments of kernels; those that code is made of are not. */
START_TEST(numbers_are_arguments)
{
    lz_func *f = layers(100, 0.7), *g = layers(100, 0.31);
    lz_plan *p = lower(f), *q = lower(g);
    ck_assert_int_eq(p->nstep, 100);
    ck_assert_int_le(p->nkernel, 6);
    ck_assert(lz_hash_eq(p->kernels[0]->hash, q->kernels[0]->hash));
    ck_assert(memcmp(p->kernels[0]->args, q->kernels[0]->args,
                     p->kernels[0]->narg * sizeof *p->kernels[0]->args) != 0);
    lz_plan_free(p);
    lz_plan_free(q);
    lz_func_free(f);
    lz_func_free(g);
    static const double baked[] = {0, 1, -1, 0.5, 8, INFINITY};
    for (size_t i = 0; i < sizeof baked / sizeof *baked; i++) {
        f = lz_func_new("baked");
        lz_val x = g_param(f, LZ_F32, LZ_SHAPE(900));
        x = g_add(f, g_mul(f, x, g_like(f, x, baked[i])), x);
        p = lower(finish(f, &x, 1));
        for (uint32_t k = 0; p->nkernel && k < p->kernels[0]->nstage; k++)
            for (uint32_t j = 0; j < p->kernels[0]->stages[k].nsop; j++)
                ck_assert_msg(p->kernels[0]->stages[k].sops[j].kind != LZ_S_SIZE, "%g", baked[i]);
        lz_plan_free(p);
        lz_func_free(f);
    }
}
END_TEST

/* Holes between elements (interior padding, dilation): no vector divides by a number that is known
 * at run time only. */
START_TEST(holes_are_divided_by_constants)
{
    for (int64_t gap = 1; gap < 5; gap++) {
        lz_func *f = lz_func_new("holes");
        lz_attr_pad a = {.kind = LZ_ATTR_pad};
        a.edge_padding_low = a.edge_padding_high = lz_ints_make(1, (int64_t[]){-1});
        a.interior_padding = lz_ints_make(1, &gap);
        lz_val x = g_param(f, LZ_F32, LZ_SHAPE(900)), v[2] = {x, g_param(f, LZ_F32, LZ_SCALAR)};
        x = lz_build(f, LZ_OP_PAD, G_RECORD(a), v, 2);
        lz_plan *p = lower(finish(f, &x, 1));
        const lz_stage *st = &p->kernels[0]->stages[0];
        int divided = 0;
        for (uint32_t i = 0; i < st->nsop; i++) {
            const lz_sop *s = &st->sops[i];
            if (s->kind != LZ_S_EW || (s->op != LZ_OP_DIVIDE && s->op != LZ_OP_REMAINDER))
                continue;
            ck_assert(s->dtype == LZ_U32 && st->sops[s->b].kind == LZ_S_CONST);
            divided++;
        }
        ck_assert_int_eq(divided, 2);
        lz_plan_free(p);
        lz_func_free(f);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("normalize");
    TCase *t = tcase_create("normalize");
    tcase_add_test(t, short_rows_are_one_loop);
    tcase_add_test(t, numbers_are_arguments);
    tcase_add_test(t, holes_are_divided_by_constants);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
