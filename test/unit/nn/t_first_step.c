/* t_first_step.c - the first step of a training has the program of all others: it donates what they
 * donate, however the parameters came about. Told by the counter of new graphs. */
#include "../runtime/rt.h"

typedef enum origin { FROM_HOST, DRAWN_AND_STEPPED, READ_BEFORE, ESCAPED, ORIGINS } origin;

static lz_tensor *make(origin o, int64_t rows, int64_t cols)
{
    static float v[64];
    rt_fill(v, (int)(rows * cols));
    lz_tensor *t = o == FROM_HOST ? lz_from_host(LZ_F32, LZ_SHAPE(rows, cols), v)
                                  : lz_randn(LZ_F32, LZ_SHAPE(rows, cols));
    OK(lz_status_of(t));
    return t;
}

static lz_optim *optimizer(int kind, lz_params *p)
{
    return kind == 0   ? lz_sgd(p, .lr = 0.1)
           : kind == 1 ? lz_sgd(p, .lr = 0.1, .momentum = 0.9)
           : kind == 2 ? lz_adamw(p, .lr = 0.1)
                       : lz_rmsprop(p, .lr = 0.1);
}

static void train_step(const lz_params *p, lz_optim *opt)
{
    static float v[32];
    OK(lz_scope_begin());
    rt_fill(v, 32);
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(4, 8), v);
    x = lz_tanh(lz_matmul(x, p->tensors[0]));
    OK(lz_backward(lz_mean(lz_matmul(x, p->tensors[1]))));
    OK(lz_optim_step(opt));
    OK(lz_optim_zero_grad(opt));
    OK(lz_mark_step());
    OK(lz_scope_end());
}

START_TEST(one_program)
{
    origin o = (origin)(_i % ORIGINS);
    lz_params p = {0};
    if (o == ESCAPED)
        OK(lz_scope_begin());
    for (int i = 0; i < 2; i++) {
        lz_tensor *t = make(o, 8, i ? 1 : 8);
        if (o == ESCAPED)
            t = lz_escape(t);
        OK(lz_params_add(&p, i ? "out" : "in", t));
    }
    if (o == ESCAPED)
        OK(lz_scope_end());
    if (o != FROM_HOST)
        OK(lz_mark_step());
    if (o == READ_BEFORE)
        (void)lz_item(lz_sum(p.tensors[0]));
    lz_optim *opt = optimizer(_i / ORIGINS, &p);
    ck_assert_ptr_nonnull(opt);
    int64_t before = lz_counter_value("UncachedCompile"), first = 0;
    for (int step = 0; step < 4; step++) {
        train_step(&p, opt);
        first = step ? first : lz_counter_value("UncachedCompile") - before;
    }
    ck_assert_int_eq(first, 1);
    ck_assert_int_eq(lz_counter_value("UncachedCompile") - before, 1);
    lz_metric_summary m;
    OK(lz_metric_data("InputOutputAliasCount", &m));
    ck_assert_double_ge(m.accumulator, 2); /* the parameters at least */
    lz_optim_free(opt);
    lz_params_free(&p);
}
END_TEST

int main(void)
{
    rt_use("REF");
    Suite *s = suite_create("first_step");
    TCase *t = tcase_create("first_step");
    tcase_add_loop_test(t, one_program, 0, 4 * ORIGINS);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
