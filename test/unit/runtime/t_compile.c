/* t_compile.c - lz_compile: one graph, a number of graphs, what is refused and what is told of it,
 * and that what was refused stays pending. */
#include "rt.h"

typedef struct state {
    lz_tensor *w, *extra;
    int64_t rows;
    double seen;
    lz_status inner;
    enum { PLAIN, READ, SYNC, STEP, CALL, NESTED, VALUE } what;
    lz_function *f;
} state;

static void twice(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_add(in[0], in[0]);
}

static void step(void *user)
{
    state *s = user;
    static float v[64];
    OK(lz_scope_begin());
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(s->rows, 4), v), *out;
    lz_tensor *sum = lz_sum(lz_exp(x));
    if (s->what == READ)
        s->inner = lz_to_host(sum, (float[1]){0}, 4);
    if (s->what == SYNC)
        s->inner = lz_sync(&sum, 1, false);
    if (s->what == STEP)
        s->inner = lz_mark_step();
    if (s->what == CALL)
        s->inner = lz_function_call(s->f, &s->w, 1, &out, 1);
    if (s->what == NESTED)
        s->inner = lz_compile(step, s);
    if (s->what == VALUE)
        s->seen = lz_item(s->extra);
    OK(lz_assign(s->w, lz_add(s->w, sum)));
    OK(lz_scope_end());
}

static state begin(void)
{
    state s = {.rows = 2};
    s.w = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(1), (float[]){1}));
    s.extra = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(1), (float[]){5}));
    return s;
}

static void end(const state *s)
{
    lz_release(s->w);
    lz_release(s->extra);
}

START_TEST(steps)
{
    state s = begin();
    OK(lz_set_graph_name("mine"));
    for (int i = 0; i < 3; i++)
        OK(lz_compile(step, &s, .name = "train", .full_graph = true, .max_different_graphs = 1));
    rt_expect(s.w, (float[]){1 + 3 * 8}, 1, 1e-6);
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), 1);
    ck_assert_int_eq(lz_counter_value("ExecuteComputation"), 3);
    OK(lz_compile(step, &s)); /* no options, another name: the same program */
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), 1);
    s.what = VALUE; /* reading what is there runs nothing */
    OK(lz_compile(step, &s, .full_graph = true));
    ck_assert_double_eq(s.seen, 5);
    end(&s);
}
END_TEST

START_TEST(one_graph)
{
    static const char *const text[] = {[READ] = "a read of what was not computed",
                                       [SYNC] = "lz_sync",
                                       [STEP] = "a step",
                                       [CALL] = "a call of a traced function"};
    state s = begin();
    OK(lz_function_trace(twice, NULL, &s.w, 1, 1, &s.f));
    s.what = _i;
    FAILS(lz_compile(step, &s, .name = "train", .full_graph = true), LZ_ESTATE, text[_i]);
    ck_assert_int_eq(s.inner, LZ_ESTATE); /* the call that ran something, too */
    ck_assert_ptr_nonnull(strstr(
        lz_last_error_text(), "Unexpected execution happens inside the compiled function train"));
    s.what = PLAIN;
    OK(lz_mark_step()); /* it was pending */
    rt_expect(s.w, (float[]){9}, 1, 1e-6);
    s.what = _i; /* without the option it is as ever */
    OK(lz_compile(step, &s));
    ck_assert_int_eq(s.inner, LZ_OK);
    rt_expect(s.w, (float[]){17}, 1, 1e-6);
    lz_function_free(s.f);
    end(&s);
}
END_TEST

START_TEST(different_graphs)
{
    state s = begin();
    OK(lz_compile(step, &s, .max_different_graphs = 2));
    s.rows = 3;
    OK(lz_compile(step, &s, .max_different_graphs = 2));
    s.rows = 4;
    int64_t before = lz_counter_value("UncachedCompile");
    FAILS(lz_compile(step, &s, .name = "train", .max_different_graphs = 2), LZ_ESTATE,
          "Maximum number of different graphs allowed per function exceeded: 2 (train): ");
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "exponential at test/unit/runtime/"));
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "operand 0 is f32[4,4], was f32["));
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), before);
    OK(lz_mark_step());
    rt_expect(s.w, (float[]){1 + 8 + 12 + 16}, 1, 1e-6);
    s.rows = 3;
    OK(lz_compile(step, &s, .max_different_graphs = 2)); /* one of the two */
    end(&s);
}
END_TEST

START_TEST(refused)
{
    state s = begin();
    FAILS(lz_compile(NULL, &s), LZ_ENULL, "fn is NULL");
    FAILS(lz_compile(step, &s, .max_different_graphs = -1), LZ_EINVAL, "-1");
    s.what = NESTED;
    OK(lz_compile(step, &s));
    ck_assert_int_eq(s.inner, LZ_ESTATE);
    end(&s);
}
END_TEST

int main(void)
{
    rt_use("REF");
    Suite *s = suite_create("compile");
    TCase *t = tcase_create("compile");
    tcase_add_test(t, steps);
    tcase_add_loop_test(t, one_graph, READ, CALL + 1);
    tcase_add_test(t, different_graphs);
    tcase_add_test(t, refused);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
