/* t_assign_inside.c - assignments to tensors from outside, in each kind of body that the library
 * records: refused at the assignment where the body may run any number of times, done once in
 * lz_checkpoint and in callbacks that nothing records. */
#include "../runtime/rt.h"

static lz_tensor *u; /* from outside */
static lz_status seen, seen_grad;
static char text[1024];
static int made_at, line; /* where u was made; the body's public call */

/* The assignment under test, the gradient of it, and one to a tensor of the body's own. */
static lz_tensor *assign(lz_tensor *x)
{
    seen = lz_assign(u, lz_add_scalar(x, 1));
    snprintf(text, sizeof text, "%s", seen == LZ_OK ? "" : lz_last_error_text());
    seen_grad = lz_backward(lz_sum(lz_mul(u, x)));
    lz_tensor *own = lz_mul_scalar(x, 2);
    OK(lz_assign(own, lz_mul_scalar(own, 2)));
    return own;
}
static void body(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = assign(in[0]);
}
static void same(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_mul_scalar(in[0], 4);
}
static void rounds(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)i, (void)user;
    out[0] = assign(in[0]);
}
static lz_tensor *small(lz_tensor *const *in, void *user)
{
    (void)user;
    return lz_lt_scalar(lz_sum(in[0]), 3);
}
static lz_tensor *assigns_small(lz_tensor *const *in, void *user)
{
    (void)user;
    return lz_lt_scalar(lz_sum(assign(in[0])), 3);
}
static void steps(lz_tensor *const *carry, lz_tensor *const *x, lz_tensor **next, lz_tensor **y,
                  void *user)
{
    (void)x, (void)user, (void)y;
    next[0] = assign(carry[0]);
}
static void forward(lz_tensor *const *in, lz_tensor **out, lz_tensor **residual, void *user)
{
    (void)user, (void)residual;
    out[0] = lz_mul_scalar(in[0], 4);
}
static void backward(lz_tensor *const *residual, lz_tensor *const *given, lz_tensor **g, void *user)
{
    (void)residual, (void)user;
    g[0] = assign(given[0]);
}
static void rounds_of_checkpoint(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)i;
    lz_checkpoint(body, in, 1, 1, user, out);
}

/* What is called at once belongs to the body around it. */
static void forward_assigns(lz_tensor *const *in, lz_tensor **out, lz_tensor **residual, void *user)
{
    (void)user, (void)residual;
    out[0] = assign(in[0]);
}
static void backward_of_same(lz_tensor *const *residual, lz_tensor *const *given, lz_tensor **g,
                             void *user)
{
    (void)residual;
    same(given, g, user);
}
static void rounds_of_forward(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)i;
    lz_custom_vjp(forward_assigns, backward_of_same, in, 1, 1, 0, user, out);
}
static void of_one_value(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[1] = assign(in[0]);
    out[0] = lz_sum(out[1]);
}
static void rounds_of_value(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    lz_tensor *both[2], *g;
    (void)i;
    lz_value_and_grad(of_one_value, in, 1, 2, user, both, &g);
    out[0] = both[1];
}
/* What lz_checkpoint permits to its function it does not permit to the bodies inside. */
static void loop_of_rounds(lz_tensor *const *in, lz_tensor **out, void *user)
{
    line = __LINE__ + 1;
    lz_fori(0, 1, in, 1, rounds, user, out);
}
static lz_status checkpointed(lz_tensor *x, lz_tensor **y)
{
    return lz_checkpoint(loop_of_rounds, &x, 1, 1, NULL, y);
}

/* `line` is where the body is recorded. */
#define KIND(name, call)                                                                           \
    static lz_status name(lz_tensor *x, lz_tensor **y)                                             \
    {                                                                                              \
        line = __LINE__;                                                                           \
        return call;                                                                               \
    }
KIND(fori, lz_fori(0, 1, &x, 1, rounds, NULL, y))
KIND(nested, lz_fori(0, 1, &x, 1, rounds_of_checkpoint, NULL, y))
KIND(while_body, lz_while(&x, 1, small, body, NULL, y))
KIND(while_cond, lz_while(&x, 1, assigns_small, same, NULL, y))
KIND(scan, lz_scan(&x, 1, NULL, 0, 0, steps, NULL, y, NULL, .length = 1))
KIND(on_true, lz_cond(lz_lt_scalar(lz_sum(x), 5), body, same, &x, 1, 1, NULL, y))
KIND(on_false, lz_cond(lz_lt_scalar(lz_sum(x), 5), same, body, &x, 1, 1, NULL, y))
KIND(choice, lz_switch(lz_scalar(LZ_I32, 0), (lz_body_fn *[]){body, same}, 2, &x, 1, 1, NULL, y))
KIND(never, lz_switch(lz_scalar(LZ_I32, 0), (lz_body_fn *[]){same, body}, 2, &x, 1, 1, NULL, y))
KIND(clamped, lz_switch(lz_scalar(LZ_I32, 7), (lz_body_fn *[]){same, body}, 2, &x, 1, 1, NULL, y))
KIND(map, lz_vmap(body, &(lz_tensor *){lz_reshape(x, LZ_SHAPE(1, 2))}, 1, 1, NULL, y))
KIND(gradient, lz_custom_vjp(forward, backward, &x, 1, 1, 0, NULL, y))
KIND(forward_inside, lz_fori(0, 1, &x, 1, rounds_of_forward, NULL, y))
KIND(value_inside, lz_fori(0, 1, &x, 1, rounds_of_value, NULL, y))

static const struct kind {
    const char *op;
    lz_status (*call)(lz_tensor *x, lz_tensor **y);
} kinds[] = {{"lz_fori", fori},           {"lz_fori", nested},       {"lz_fori", checkpointed},
             {"lz_fori", forward_inside}, {"lz_fori", value_inside}, {"lz_while", while_body},
             {"lz_while", while_cond},    {"lz_scan", scan},         {"lz_cond", on_true},
             {"lz_cond", on_false},       {"lz_switch", choice},     {"lz_switch", never},
             {"lz_switch", clamped},      {"lz_vmap", map},          {"lz_custom_vjp", gradient}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static void expect(lz_tensor *t, float a, float b)
{
    float v[2];
    OK(lz_to_host(t, v, sizeof v));
    ck_assert_msg(v[0] == a && v[1] == b, "%g %g, not %g %g", v[0], v[1], a, b);
}

START_TEST(is_refused_at_the_assignment_and_harms_nothing)
{
    const struct kind *k = &kinds[_i / 2];
    char want[128];
    rt_use(rt_devices[_i % 2]);
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(2), (float[]){0.25f, 0.5f}), *y;
    made_at = __LINE__ + 1;
    u = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(2), (float[]){7, 8}));
    OK(lz_requires_grad(u, true));
    OK(k->call(x, &y));
    ck_assert_msg(seen == LZ_EINVAL, "%s: %s", k->op, lz_status_name(seen));
    ck_assert_int_eq(seen_grad, LZ_EINVAL);
    snprintf(want, sizeof want, "(f32[2], made at test/unit/autodiff/t_assign_inside.c:%d)",
             made_at);
    ck_assert_msg(strstr(text, want) != NULL, "%s", text);
    snprintf(want, sizeof want, "%s at test/unit/autodiff/t_assign_inside.c:%d records", k->op,
             line);
    ck_assert_msg(strstr(text, want) != NULL, "%s", text);
    ck_assert_msg(strstr(text, ": lz_assign: ") != NULL, "%s", text);
    OK(lz_mark_step());
    expect(u, 7, 8);
    ck_assert_ptr_null(lz_grad_of(u));
    lz_tensor *flat = lz_reshape(y, LZ_SHAPE(2));
    if (k->call == while_cond) /* 4 (1/4 + 1/2) is not below 3: no round; of the others, one */
        expect(flat, 0.25f, 0.5f);
    else
        expect(flat, 1, 2);
    OK(lz_assign(u, lz_add_scalar(u, 1)));
    OK(lz_backward(lz_sum(lz_mul(u, u))));
    OK(lz_mark_step());
    expect(u, 8, 9);
    expect(lz_grad_of(u), 16, 18);
}
END_TEST

/* In a body inside of a function's; the function's own may assign (nn/t_function_state.c). */
static void in_cond(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    (void)lz_cond(lz_gt_scalar(lz_sum(in[0]), 0), body, body, in, 1, 1, NULL, out);
}

START_TEST(refuses_the_function)
{
    rt_use(rt_devices[_i]);
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(2), (float[]){0.25f, 0.5f});
    u = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(2), (float[]){7, 8}));
    OK(lz_requires_grad(u, true));
    lz_function *f = NULL;
    FAILS(lz_function_trace(in_cond, NULL, &x, 1, 1, &f), LZ_EINVAL, "assigns to a tensor");
    ck_assert_ptr_null(f);
    ck_assert(seen == LZ_EINVAL && seen_grad == LZ_EINVAL);
    ck_assert_msg(strstr(text, "body that lz_cond at "), "%s", text);
    OK(lz_mark_step());
    expect(u, 7, 8);
    ck_assert_ptr_null(lz_grad_of(u));
}
END_TEST

/* The callbacks that are called at once and not recorded: as if the caller had done it. */
START_TEST(is_done_where_nothing_is_recorded)
{
    rt_use(rt_devices[_i % 2]);
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(2), (float[]){0.25f, 0.5f}), *y[2], *g;
    u = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(2), (float[]){7, 8}));
    OK(lz_requires_grad(u, true));
    if (_i / 2) {
        OK(lz_value_and_grad(of_one_value, &x, 1, 2, NULL, y, &g));
    } else {
        OK(lz_custom_vjp(forward_assigns, backward_of_same, &x, 1, 1, 0, NULL, y + 1));
        OK(lz_grad(lz_sum(y[1]), &x, 1, &g));
    }
    ck_assert(seen == LZ_OK && seen_grad == LZ_OK);
    expect(y[1], 1, 2);
    expect(g, 4, 4);
    OK(lz_mark_step());
    expect(u, 1.25f, 1.5f);
    expect(lz_grad_of(u), 0.25f, 0.5f);
}
END_TEST

/* A function that lz_checkpoint computes twice assigns once: values, gradients and random numbers
 * are those without it, and inside, the tensor has the value it was given. */
static lz_tensor *count;
static int times;
static void counted(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    times++;
    OK(lz_assign(count, lz_add_scalar(count, 1)));
    OK(lz_assign(u, lz_add(lz_mul_scalar(u, 0.5), in[0])));
    OK(lz_assign(count, lz_add_scalar(count, 1)));
    out[0] = lz_mul(lz_mul(in[0], in[0]), lz_add(u, lz_randn(LZ_F32, LZ_SHAPE(2))));
}
static void around(lz_tensor *const *in, lz_tensor **out, void *user)
{
    lz_checkpoint(counted, in, 1, 1, user, out);
}

START_TEST(is_done_once_in_a_checkpoint)
{
    float y[3][2], g[3][2], state[3][2];
    rt_use(rt_devices[_i]);
    for (int k = 0; k < 3; k++) { /* without; with; one inside another */
        OK(lz_manual_seed(5));
        count = lz_retain(lz_zeros(LZ_F32, LZ_SHAPE(1)));
        u = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(2), (float[]){7, 8}));
        lz_tensor *x = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(2), (float[]){1, 2})), *out, *grad;
        times = 0;
        for (int step = 0; step < 2; step++) {
            if (k == 0)
                counted(&x, &out, NULL);
            else
                OK(lz_checkpoint(k == 1 ? counted : around, &x, 1, 1, NULL, &out));
            OK(lz_grad(lz_sum(out), &x, 1, &grad));
            lz_retain(out), lz_retain(grad);
            OK(lz_mark_step());
        }
        ck_assert_int_eq(times, 2);
        ck_assert_double_eq(lz_item(count), 4);
        OK(lz_to_host(out, y[k], sizeof y[k]));
        OK(lz_to_host(grad, g[k], sizeof g[k]));
        OK(lz_to_host(u, state[k], sizeof state[k]));
        for (int i = 0; i < 2; i++) {
            ck_assert_float_eq_tol(y[k][i], y[0][i], 1e-4f);
            ck_assert_float_eq_tol(g[k][i], g[0][i], 1e-4f);
            ck_assert_float_eq(state[k][i], state[0][i]);
        }
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("autodiff/assign_inside");
    TCase *t = tcase_create("assign_inside");
    tcase_add_loop_test(t, is_refused_at_the_assignment_and_harms_nothing, 0, 2 * KINDS);
    tcase_add_loop_test(t, refuses_the_function, 0, 2);
    tcase_add_loop_test(t, is_done_where_nothing_is_recorded, 0, 4);
    tcase_add_loop_test(t, is_done_once_in_a_checkpoint, 0, 2);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
