/* t_layer_scope.c - name scopes of layers, losses, optimizers, and of their gradients. */
#include "../runtime/rt.h"

static char text[1 << 18];

/* How often a scope is named in the graph of t. */
static int count(lz_tensor *t, const char *scope)
{
    char want[128];
    int n = 0;
    snprintf(want, sizeof want, "scope=%s,", scope);
    ck_assert(lz_dump_graph(&t, 1, "text", text, sizeof text) > 0);
    for (const char *p = text; (p = strstr(p, want)) != NULL; p++)
        n++;
    return n;
}

static void begin(void)
{
    rt_use("REF");
    setenv("XLA_IR_DEBUG", "1", 1);
}

START_TEST(by_parameter_names)
{
    begin();
    lz_params ps = {0};
    lz_linear_layer up, alone;
    lz_attention_layer a;
    lz_norm_layer norm;
    OK(lz_linear_layer_init(&up, &ps, "blocks.0.up", 8, 8, true, LZ_F32));
    OK(lz_linear_layer_init(&alone, &ps, "", 8, 8, true, LZ_F32));
    OK(lz_attention_layer_init(&a, &ps, "blocks.0.attention", 8, 2, LZ_F32));
    OK(lz_norm_layer_init(&norm, LZ_LAYER_NORM, &ps, "last", 8, LZ_F32));
    OK(lz_mark_step());
    OK(lz_name_scope_begin("net"));
    lz_tensor *x = lz_linear_layer_forward(&up, lz_ones(LZ_F32, LZ_SHAPE(2, 3, 8)));
    OK(lz_name_scope_end());
    lz_tensor *y = lz_attention_layer_forward(&a, x, .is_causal = true);
    y = lz_norm_layer_forward(&norm, lz_linear_layer_forward(&alone, y), true);
    lz_tensor *g, *loss = lz_mse_loss(y, lz_zeros_like(y));
    OK(lz_grad(loss, &up.weight, 1, &g));
    ck_assert_int_gt(count(g, "net/blocks.0.up"), 0);
    ck_assert_int_gt(count(g, "blocks.0.attention"), 0);
    ck_assert_int_gt(count(g, "blocks.0.attention/out_proj"), 0);
    ck_assert_int_gt(count(g, "last"), 0);
    ck_assert_int_gt(count(g, "mse_loss"), 0);
    ck_assert_int_gt(count(g, "transpose(net/blocks.0.up)"), 0);
    ck_assert_int_gt(count(g, "transpose(blocks.0.attention)"), 0);
    ck_assert_int_gt(count(g, "transpose(blocks.0.attention/out_proj)"), 0);
    ck_assert_int_gt(count(g, "transpose(last)"), 0);
    ck_assert_ptr_null(strstr(text, "scope=weight"));
    FAILS(lz_name_scope_end(), LZ_ESTATE, "no name scope is open");
    lz_params_free(&ps);
}
END_TEST

/* A gradient inside a scope of the program's: what had none has that one. */
START_TEST(of_gradients)
{
    begin();
    lz_tensor *w = lz_from_host(LZ_F32, LZ_SHAPE(2), (float[]){1, 2}), *g, *h;
    lz_requires_grad(w, true);
    OK(lz_name_scope_begin("a"));
    lz_tensor *y = lz_exp(w);
    OK(lz_name_scope_end());
    y = lz_sum(lz_mul(y, lz_sin(w)));
    OK(lz_name_scope_begin("outer"));
    OK(lz_grad(y, &w, 1, &g));
    OK(lz_name_scope_end());
    ck_assert_int_gt(count(g, "transpose(a)"), 0);
    ck_assert_int_gt(count(g, "outer"), 0);
    OK(lz_grad(lz_sum(g), &w, 1, &h));
    ck_assert_int_gt(count(h, "transpose(transpose(a))"), 0);
    rt_expect(g, (float[]){3.75604922f, 3.64392f}, 2, 1e-3);
}
END_TEST

/* Two lists have a parameter; its name goes with the last of them. */
static bool all(const char *name, lz_tensor *t, void *user)
{
    return name && t && !user;
}

START_TEST(as_long_as_a_list_has_it)
{
    begin();
    lz_params ps = {0}, other = {0};
    lz_linear_layer l;
    OK(lz_linear_layer_init(&l, &ps, "up", 4, 4, false, LZ_F32));
    OK(lz_mark_step());
    lz_tensor *x = lz_ones(LZ_F32, LZ_SHAPE(2, 4));
    OK(lz_params_add(&other, "weight", l.weight)); /* of no layer */
    lz_params_free(&other);
    ck_assert_int_gt(count(lz_linear_layer_forward(&l, x), "up"), 0);
    OK(lz_params_select(&ps, &other, all, NULL));
    lz_retain(l.weight);
    lz_params_free(&ps);
    ck_assert_int_gt(count(lz_linear_layer_forward(&l, x), "up"), 0);
    lz_params_free(&other);
    ck_assert_int_eq(count(lz_linear_layer_forward(&l, x), "up"), 0);
    lz_release(l.weight);
}
END_TEST

START_TEST(of_the_optimizer)
{
    begin();
    lz_params ps = {0};
    lz_linear_layer l;
    OK(lz_linear_layer_init(&l, &ps, "up", 4, 4, false, LZ_F32));
    lz_optim *o = lz_adam(&ps, 0.1);
    ck_assert_ptr_nonnull(o);
    OK(lz_mark_step());
    OK(lz_backward(lz_sum(lz_linear_layer_forward(&l, lz_ones(LZ_F32, LZ_SHAPE(2, 4))))));
    OK(lz_optim_step(o));
    ck_assert_int_gt(count(l.weight, "optimizer"), 0);
    lz_optim_free(o);
    lz_params_free(&ps);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("layer_scope");
    TCase *t = tcase_create("layer_scope");
    tcase_add_test(t, by_parameter_names);
    tcase_add_test(t, of_gradients);
    tcase_add_test(t, as_long_as_a_list_has_it);
    tcase_add_test(t, of_the_optimizer);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
