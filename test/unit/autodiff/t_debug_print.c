/* t_debug_print.c - lz_debug_print: what is printed, how often and in which order, in steps, loops,
 * branches, functions and derivatives, from fresh and from stored programs. */
#include "../runtime/rt.h"
#include <fcntl.h>
#include <sys/wait.h>

/* ---- what is written to stdout ---- */

static int saved_stdout, text_file;

static void capture_begin(void)
{
    char path[] = "/tmp/lz_debug_print_XXXXXX";
    (void)fflush(stdout);
    saved_stdout = dup(1);
    text_file = mkstemp(path);
    ck_assert_int_ge(text_file, 0);
    unlink(path);
    ck_assert_int_eq(dup2(text_file, 1), 1);
}

static void capture_end(const char *want)
{
    static char text[1 << 16];
    OK(lz_wait_device_ops());
    (void)fflush(stdout);
    ck_assert_int_eq(dup2(saved_stdout, 1), 1);
    ssize_t n = pread(text_file, text, sizeof text - 1, 0);
    ck_assert_int_ge(n, 0);
    text[n] = '\0';
    close(saved_stdout);
    close(text_file);
    ck_assert_msg(strcmp(text, want) == 0, "printed\n%s\ninstead of\n%s", text, want);
}

static lz_tensor *vec(float a, float b)
{
    return lz_from_host(LZ_F32, LZ_SHAPE(2), (float[]){a, b});
}

/* ---- steps ---- */

START_TEST(a_step_prints_in_order)
{
    rt_use(rt_devices[_i]);
    lz_tensor *x = vec(1, 2), *y = lz_mul_scalar(x, 3);
    capture_begin();
    OK(lz_debug_print("x = {}", x));
    OK(lz_debug_print("y = {}, x = {}", y, x));
    OK(lz_debug_print("x = {}", x)); /* not merged with the first */
    OK(lz_debug_print("nothing, {{}}"));
    OK(lz_debug_print("unused {}", lz_add(x, x)));
    OK(lz_mark_step());
    OK(lz_mark_step()); /* once */
    capture_end("x = [1., 2.]\ny = [3., 6.], x = [1., 2.]\nx = [1., 2.]\nnothing, {}\n"
                "unused [2., 4.]\n");
    rt_expect(y, (float[]){3, 6}, 2, 0);
}
END_TEST

START_TEST(a_read_prints_what_came_before)
{
    rt_use(rt_devices[_i]);
    lz_tensor *x = vec(1, 2);
    capture_begin();
    OK(lz_debug_print("{}", lz_mul_scalar(x, 2)));
    rt_expect(lz_sum(x), (float[]){3}, 1, 0);
    OK(lz_debug_print("end"));
    OK(lz_sync(&x, 1, true));
    OK(lz_mark_step());
    capture_end("[2., 4.]\nend\n");
}
END_TEST

START_TEST(layouts)
{
    rt_use(rt_devices[_i]);
    capture_begin();
    OK(lz_debug_print("m {} i {} b {} c {} e {} s {}",
                      lz_reshape(lz_arange(LZ_I32, 0, 4, 1), LZ_SHAPE(2, 2)),
                      lz_arange(LZ_I64, 0, 2, 1), lz_full(LZ_BOOL, LZ_SHAPE(1), 1),
                      lz_from_host(LZ_C64, LZ_SHAPE(1), (float[]){1, -2}),
                      lz_zeros(LZ_F32, LZ_SHAPE(0, 3)), lz_scalar(LZ_F64, 2.5)));
    OK(lz_mark_step());
    capture_end("m [[0, 1],\n   [2, 3]] i [0, 1] b [True] c [1.-2.j] e [] s 2.5\n");
}
END_TEST

START_TEST(every_dtype)
{
    rt_use(rt_devices[_i]);
    char want[1024] = "";
    capture_begin();
    for (lz_dtype d = (lz_dtype)1; d < LZ_DTYPE_COUNT; d++) {
        static const unsigned char zeros[32] = {0};
        const char *name = lz_dtype_name(d);
        bool real = name[0] == 'f' || d == LZ_BF16;
        OK(lz_debug_print("{}", lz_from_host(d, LZ_SHAPE(2), (const void *)zeros)));
        strcat(want, d == LZ_BOOL                  ? "[False, False]\n"
                     : d == LZ_C64 || d == LZ_C128 ? "[0.+0.j, 0.+0.j]\n"
                     : d == LZ_F8E8M0FNU           ? "[6.e-39, 6.e-39]\n" /* it has no zero */
                     : real                        ? "[0., 0.]\n"
                                                   : "[0, 0]\n");
    }
    OK(lz_mark_step());
    capture_end(want);
}
END_TEST

/* ---- bodies ---- */

static void round_of(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    OK(lz_debug_print("round {}: {}", i, in[0]));
    OK(lz_debug_print("outside {}", user));
    out[0] = lz_mul_scalar(in[0], 2);
}

START_TEST(loops_print_each_round)
{
    rt_use(rt_devices[_i]);
    lz_tensor *x = vec(1, 3), *y, *unused;
    capture_begin();
    OK(lz_debug_print("before {}", x));
    OK(lz_fori(0, 2, &x, 1, round_of, vec(7, 8), &y));
    OK(lz_debug_print("between"));
    OK(lz_fori(5, 6, &y, 1, round_of, vec(7, 8), &unused)); /* whose result nobody wants */
    OK(lz_debug_print("after {}", y));
    OK(lz_mark_step());
    capture_end("before [1., 3.]\nround 0: [1., 3.]\noutside [7., 8.]\nround 1: [2., 6.]\n"
                "outside [7., 8.]\nbetween\nround 5: [ 4., 12.]\noutside [7., 8.]\n"
                "after [ 4., 12.]\n");
}
END_TEST

static void two_of(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    OK(lz_debug_print("{} {}", i, in[1]));
    out[0] = lz_add_scalar(in[0], 1);
    out[1] = lz_add(in[1], in[1]);
}

/* Results that are read one after the other are of one run. */
START_TEST(reads_do_not_print_again)
{
    rt_use(rt_devices[_i]);
    lz_tensor *x[2] = {vec(1, 3), vec(2, 2)}, *y[2], *z;
    capture_begin();
    OK(lz_fori(0, 2, x, 2, two_of, NULL, y));
    z = lz_mul(y[0], y[1]);
    rt_expect(z, (float[]){24, 40}, 2, 0);
    rt_expect(y[1], (float[]){8, 8}, 2, 0);
    rt_expect(y[0], (float[]){3, 5}, 2, 0);
    rt_expect(lz_add(y[0], z), (float[]){27, 45}, 2, 0);
    capture_end("0 [2., 2.]\n1 [4., 4.]\n");
}
END_TEST

static lz_tensor *is_small(lz_tensor *const *in, void *user)
{
    (void)user;
    OK(lz_debug_print("is {} small?", in[0]));
    return lz_lt_scalar(in[0], 3);
}
static void increment(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    OK(lz_debug_print("yes"));
    out[0] = lz_add_scalar(in[0], 1);
}
static void yes(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    OK(lz_debug_print("true {}", in[0]));
    out[0] = in[0];
}
static void no(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    OK(lz_debug_print("false"));
    out[0] = lz_neg(in[0]);
}

START_TEST(conditions_and_branches_print)
{
    rt_use(rt_devices[_i]);
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SCALAR, (float[]){1}), *y, *z;
    capture_begin();
    OK(lz_while(&x, 1, is_small, increment, NULL, &y));
    for (int k = 0; k < 2; k++)
        OK(lz_cond(lz_gt_scalar(y, k ? 5 : 0), yes, no, &y, 1, 1, NULL, &z));
    lz_body_fn *branches[3] = {yes, no, no};
    OK(lz_switch(lz_scalar(LZ_I32, 0), branches, 3, &y, 1, 1, NULL, &z));
    OK(lz_mark_step());
    capture_end("is 1. small?\nyes\nis 2. small?\nyes\nis 3. small?\ntrue 3.\nfalse\ntrue 3.\n");
}
END_TEST

static void nested(lz_tensor *const *in, lz_tensor **out, void *user)
{
    lz_tensor *y;
    OK(lz_fori(0, 2, &in[0], 1, round_of, user, &y));
    OK(lz_debug_print("inner {}", y));
    out[0] = y;
}

/* ---- functions ---- */

START_TEST(functions_print_at_each_call)
{
    rt_use(rt_devices[_i]);
    lz_tensor *x = vec(1, 2), *y;
    lz_function *f;
    lz_tensor *seven = lz_retain(vec(7, 7));
    capture_begin();
    OK(lz_function_trace(nested, seven, &x, 1, 1, &f));
    for (int k = 0; k < 2; k++) {
        OK(lz_function_call(f, &x, 1, &y, 1));
        x = y;
    }
    lz_function_free(f);
    capture_end("round 0: [1., 2.]\noutside [7., 7.]\nround 1: [2., 4.]\noutside [7., 7.]\n"
                "inner [4., 8.]\nround 0: [4., 8.]\noutside [7., 7.]\nround 1: [ 8., 16.]\n"
                "outside [7., 7.]\ninner [16., 32.]\n");
}
END_TEST

typedef struct inner_call {
    lz_function *f;
} inner_call;

static void calls(lz_tensor *const *in, lz_tensor **out, void *user)
{
    lz_tensor *y;
    OK(lz_debug_print("outer"));
    OK(lz_function_call(((inner_call *)user)->f, &in[0], 1, &y, 1));
    out[0] = lz_add(y, y);
}

START_TEST(a_function_inside_of_another_prints)
{
    rt_use(rt_devices[_i]);
    lz_tensor *x = vec(1, 2), *y;
    inner_call c;
    lz_function *g;
    capture_begin();
    OK(lz_function_trace(yes, NULL, &x, 1, 1, &c.f));
    OK(lz_function_trace(calls, &c, &x, 1, 1, &g));
    OK(lz_function_call(g, &x, 1, &y, 1));
    capture_end("outer\ntrue [1., 2.]\n");
    lz_function_free(g);
    lz_function_free(c.f);
}
END_TEST

/* ---- derivatives ---- */

static void squares(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    OK(lz_debug_print("{}: {}", i, in[0]));
    out[0] = lz_mul(in[0], in[0]);
}
static void square(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    OK(lz_debug_print("square of {}", in[0]));
    out[0] = lz_mul(in[0], in[0]);
}

START_TEST(gradients_do_not_print_again)
{
    rt_use(rt_devices[_i]);
    lz_tensor *x = vec(1, 2), *y, *z, *w, *g;
    capture_begin();
    OK(lz_fori(0, 2, &x, 1, squares, NULL, &y));
    OK(lz_checkpoint(square, &y, 1, 1, NULL, &z));
    OK(lz_cond(lz_full(LZ_BOOL, LZ_SCALAR, 1), square, square, &z, 1, 1, NULL, &w));
    OK(lz_grad(lz_sum(w), &x, 1, &g)); /* of x^16 */
    (void)lz_retain(g);
    OK(lz_debug_print("gradient {}", g));
    OK(lz_mark_step());
    capture_end("0: [1., 2.]\n1: [1., 4.]\nsquare of [ 1., 16.]\nsquare of [  1., 256.]\n"
                "gradient [1.60000e+01, 5.24288e+05]\n");
    rt_expect(g, (float[]){16, 524288}, 2, 0);
}
END_TEST

START_TEST(tangents_do_not_print_again)
{
    rt_use(rt_devices[_i]);
    lz_tensor *x = vec(1, 2), *y, *one = lz_ones(LZ_F32, LZ_SHAPE(2)), *t;
    capture_begin();
    OK(lz_fori(0, 2, &x, 1, squares, NULL, &y));
    OK(lz_jvp(&y, 1, &x, &one, 1, &t));
    OK(lz_mark_step());
    rt_expect(t, (float[]){4, 32}, 2, 0);
    capture_end("0: [1., 2.]\n1: [1., 4.]\n");
}
END_TEST

static void cube(lz_tensor *const *in, lz_tensor **out, lz_tensor **kept, void *user)
{
    (void)user;
    OK(lz_debug_print("forward {}", in[0]));
    kept[0] = in[0];
    out[0] = lz_mul(in[0], lz_mul(in[0], in[0]));
}
static void backward(lz_tensor *const *kept, lz_tensor *const *g, lz_tensor **grad_in, void *user)
{
    (void)user;
    OK(lz_debug_print("backward {}", g[0]));
    grad_in[0] = lz_mul(g[0], kept[0]);
}

START_TEST(a_rule_of_the_program_prints)
{
    rt_use(rt_devices[_i]);
    lz_tensor *x = vec(1, 2), *y, *g;
    capture_begin();
    OK(lz_custom_vjp(cube, backward, &x, 1, 1, 1, NULL, &y));
    OK(lz_grad(lz_sum(y), &x, 1, &g));
    OK(lz_mark_step());
    capture_end("forward [1., 2.]\nbackward [1., 1.]\n");
}
END_TEST

START_TEST(each_example_prints)
{
    rt_use(rt_devices[_i]);
    lz_tensor *rows = lz_reshape(lz_arange(LZ_F32, 0, 4, 1), LZ_SHAPE(2, 2)), *y;
    capture_begin();
    OK(lz_vmap(yes, &rows, 1, 1, NULL, &y));
    OK(lz_mark_step());
    capture_end("true [0., 1.]\ntrue [2., 3.]\n");
}
END_TEST

/* A second process finds the program, and prints as the first did. */
START_TEST(stored_programs_print)
{
    char dir[] = "/tmp/lz_debug_print_XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(dir));
    for (int k = 0; k < 2; k++) {
        int status = 0;
        pid_t p = fork();
        if (p == 0) {
            rt_use(rt_devices[1]);
            setenv("LAZULI_CACHE", "1", 1);
            setenv("LAZULI_CACHE_DIR", dir, 1);
            lz_tensor *x = vec(1, 2), *y;
            capture_begin();
            OK(lz_fori(0, 2, &x, 1, round_of, vec(7, 8), &y));
            OK(lz_debug_print("sum {}", lz_sum(y)));
            OK(lz_mark_step());
            capture_end("round 0: [1., 2.]\noutside [7., 8.]\nround 1: [2., 4.]\n"
                        "outside [7., 8.]\nsum 12.\n");
            lz_cache_counts c = {.struct_size = sizeof c};
            OK(lz_get_cache_counts(&c));
            ck_assert_int_eq(c.program_hits, k);
            ck_assert_int_eq(c.program_misses, 1 - k);
            exit(0);
        }
        ck_assert_int_eq(waitpid(p, &status, 0), p);
        ck_assert_int_eq(status, 0);
    }
}
END_TEST

/* ---- what cannot be ---- */

START_TEST(mistakes_are_told)
{
    rt_use(rt_devices[_i]);
    lz_tensor *x = vec(1, 2), *bad = lz_matmul(x, lz_ones(LZ_F32, LZ_SHAPE(3)));
    FAILS(lz_debug_print(NULL), LZ_ENULL, "lz_debug_print: format is NULL");
    FAILS(lz_debug_print("{}"), LZ_EINVAL, "1 times {}, but the tensors are 0");
    FAILS(lz_debug_print("x", x), LZ_EINVAL, "0 times {}, but the tensors are 1");
    FAILS(lz_debug_print("{x}", x), LZ_EINVAL, "single { at byte 0");
    FAILS(lz_debug_print("a }", x), LZ_EINVAL, "single } at byte 2");
    FAILS(lz_debug_print("{}", NULL), LZ_ENULL, "lz_debug_print");
    FAILS(lz_debug_print("{}", bad), LZ_ESHAPE, "lz_matmul");
    FAILS(lz_debug_print_at("{}", NULL, 1, LZ_SITE), LZ_ENULL, "tensors is NULL");
    FAILS(lz_debug_print_at("{}", &x, 65, LZ_SITE), LZ_EINVAL, "at most 64");
    lz_clear_error();
    capture_begin();
    OK(lz_mark_step());
    capture_end("");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("debug print");
    TCase *t = tcase_create("prints");
    const TTest *all[] = {a_step_prints_in_order,
                          a_read_prints_what_came_before,
                          layouts,
                          every_dtype,
                          loops_print_each_round,
                          reads_do_not_print_again,
                          conditions_and_branches_print,
                          functions_print_at_each_call,
                          a_function_inside_of_another_prints,
                          gradients_do_not_print_again,
                          tangents_do_not_print_again,
                          a_rule_of_the_program_prints,
                          each_example_prints,
                          mistakes_are_told};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tcase_add_loop_test(t, all[i], 0, 2);
    tcase_add_test(t, stored_programs_print);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
