/* t_cuda_loops.c - loops on a GPU and host synchronization: loops with a static trip count do not
 * wait and are captured in graphs, trip counts given by an argument cost one read, and only
 * data-dependent conditions are read in every iteration. On the mock driver. */
#include "cuda_util.h"
#include "suite.h"

enum { SIDE = 12, ELEMS = SIDE * SIDE };
typedef enum way { KNOWN, ARGUMENT, ASKED, NESTED } way;

/* x, n -> x^(1 + n) of a matrix, or of x^(1 + 5) where the rounds are known; asked: one of its
 * elements says when to end. */
static lz_func *loop(way w)
{
    static const char inner[] =
        "    %z2 = stablehlo.constant dense<7> : tensor<i32>\n"
        "    %q:2 = stablehlo.while(%a = %z2, %b = %x) : tensor<i32>, tensor<12x12xf32>\n"
        "     cond {\n"
        "      %four = stablehlo.constant dense<4> : tensor<i32>\n"
        "      %cc = stablehlo.compare GT, %a, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        "      stablehlo.return %cc : tensor<i1>\n"
        "     } do {\n"
        "      %mi = stablehlo.constant dense<1> : tensor<i32>\n"
        "      %aa = stablehlo.subtract %a, %mi : tensor<i32>\n"
        "      %bb = stablehlo.dot_general %b, %0, contracting_dims = [1] x [0] : "
        "(tensor<12x12xf32>, tensor<12x12xf32>) -> tensor<12x12xf32>\n"
        "      stablehlo.return %aa, %bb : tensor<i32>, tensor<12x12xf32>\n"
        "     }\n"
        "    %y = stablehlo.negate %q#1 : tensor<12x12xf32>\n";
    static const char one[] =
        "    %y = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : "
        "(tensor<12x12xf32>, tensor<12x12xf32>) -> tensor<12x12xf32>\n";
    lz_buf b = {0};
    lz_func *f = NULL;
    lz_buf_puts(&b,
                "func.func @main(%0: tensor<12x12xf32>, %n: tensor<i32>) -> tensor<12x12xf32> {\n"
                "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
                "  %1:2 = stablehlo.while(%i = %zero, %x = %0) : tensor<i32>, tensor<12x12xf32>\n"
                "   cond {\n"
                "    %five = stablehlo.constant dense<5> : tensor<i32>\n");
    if (w == ASKED)
        lz_buf_puts(
            &b, "    %s = stablehlo.slice %x [0:1, 6:7] : (tensor<12x12xf32>) -> tensor<1x1xf32>\n"
                "    %t = stablehlo.reshape %s : (tensor<1x1xf32>) -> tensor<f32>\n"
                "    %half = stablehlo.constant dense<0.5> : tensor<f32>\n"
                "    %c = stablehlo.compare LT, %t, %half : (tensor<f32>, tensor<f32>) -> "
                "tensor<i1>\n");
    else
        lz_buf_printf(
            &b,
            "    %%c = stablehlo.compare LT, %%i, %s : (tensor<i32>, tensor<i32>) -> tensor<i1>\n",
            w == ARGUMENT ? "%n" : "%five");
    lz_buf_printf(&b,
                  "    stablehlo.return %%c : tensor<i1>\n   } do {\n"
                  "    %%one = stablehlo.constant dense<1> : tensor<i32>\n"
                  "    %%j = stablehlo.add %%i, %%one : tensor<i32>\n%s"
                  "    stablehlo.return %%j, %%y : tensor<i32>, tensor<12x12xf32>\n   }\n"
                  "  return %%1#1 : tensor<12x12xf32>\n}\n",
                  w == NESTED ? inner : one);
    ck_assert_msg(lz_func_parse(lz_buf_str(&b), b.len, "loop", &f) == LZ_OK, "%s", message());
    lz_buf_free(&b);
    return f;
}

/* One run on a permutation by one place, whose power p is one by p. */
static void run(lz_exec *x, int32_t rounds, int p, float sign)
{
    lz_device_buffer *in[2], *out = NULL;
    lz_event *done = NULL;
    bool given[2] = {false, false};
    float v[ELEMS];
    for (int i = 0; i < ELEMS; i++)
        v[i] = i % SIDE == (i / SIDE + 1) % SIDE;
    OK(be->alloc(0, sizeof v, &in[0]));
    OK(be->alloc(0, sizeof rounds, &in[1]));
    OK(be->copy_in(in[0], v, sizeof v));
    OK(be->copy_in(in[1], &rounds, sizeof rounds));
    OK(be->execute(x, 0, in, given, false, &out, &done));
    OK(lz_event_wait(done));
    OK(be->copy_out(out, v, sizeof v));
    for (int i = 0; i < ELEMS; i++)
        ck_assert_float_eq(v[i], sign * (float)(i % SIDE == (i / SIDE + p) % SIDE));
    lz_device_buffer_release(in[0]);
    lz_device_buffer_release(in[1]);
    lz_device_buffer_release(out);
    lz_event_release(done);
}

START_TEST(what_is_waited_for)
{
    /* per run, what goes to the host besides the result; the power; whether runs become graphs */
    static const struct {
        way w;
        uint64_t bytes;
        int power;
        float sign;
        bool graphs;
    } cases[] = {
        {KNOWN, 0, 6, 1, true},
        {ARGUMENT, 4, 6, 1, false},
        {ASKED, 6, 6, 1, false},
        {NESTED, 0, 16, -1, true},
    };
    enum { RUNS = 9 };
    use_mock();
    lz_func *f = loop(cases[_i].w);
    lz_exec *x;
    lz_mock_stats a, b;
    OK(be->compile(0, f, NULL, &x));
    mock.stats(&a);
    for (int i = 0; i < RUNS; i++)
        run(x, 5, cases[_i].power, cases[_i].sign);
    mock.stats(&b);
    ck_assert_uint_eq(b.bytes_out - a.bytes_out, RUNS * (cases[_i].bytes + ELEMS * 4));
    if (cases[_i].graphs)
        ck_assert_uint_ge(b.graph_launches - a.graph_launches, 4);
    else
        ck_assert_uint_eq(b.graph_launches, a.graph_launches);
    if (cases[_i].w == ARGUMENT) { /* other numbers, none, and less than none */
        run(x, 1, 2, 1);
        run(x, 0, 1, 1);
        run(x, -3, 1, 1);
        run(x, 12, 1, 1);
    }
    be->exec_free(x);
    lz_func_free(f);
}
END_TEST

/* Each call of the driver fails once: an error, and the next run works. */
START_TEST(reading_fails)
{
    static const char *const calls[] = {"cuMemcpyDtoHAsync_v2", "cuStreamSynchronize"};
    use_mock();
    lz_func *f = loop(ARGUMENT);
    lz_exec *x;
    OK(be->compile(0, f, NULL, &x));
    run(x, 5, 6, 1);
    lz_device_buffer *in[2], *out = NULL;
    lz_event *done = NULL;
    int32_t n = 3;
    OK(be->alloc(0, ELEMS * 4, &in[0]));
    OK(be->alloc(0, 4, &in[1]));
    OK(be->copy_in(in[1], &n, 4));
    mock.fail_at(calls[_i], 1, 1);
    lz_status s = be->execute(x, 0, in, (bool[]){false, false}, false, &out, &done);
    if (s == LZ_OK)
        s = lz_event_wait(done);
    ck_assert_int_ne(s, LZ_OK);
    lz_device_buffer_release(in[0]);
    lz_device_buffer_release(in[1]);
    lz_device_buffer_release(out);
    lz_event_release(done);
    mock.reset();
    run(x, 5, 6, 1);
    be->exec_free(x);
    lz_func_free(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("backends/cuda_loops");
    TCase *t = tcase_create("loops");
    tcase_add_loop_test(t, what_is_waited_for, 0, 4);
    tcase_add_loop_test(t, reading_fails, 0, 2);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
