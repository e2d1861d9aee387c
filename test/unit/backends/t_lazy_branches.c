/* t_lazy_branches.c - kernels that only a branch runs are compiled when it is first taken; those of
 * loops, and of what all executions run, before. */
#include "backends/backend.h"
#include "backends/cpu/cpu_kernels.h"
#include "ir/module.h"
#include "suite.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
enum { ROUNDS = 0 }; /* looking for leaks at exit fails beside a thread that ends */
#else
enum { ROUNDS = 12 };
#endif
enum { N = 64 };
#define MAT "tensor<64x64xf32>"
#define DOT "contracting_dims = [1] x [0] : (" MAT ", " MAT ") -> " MAT

/* p ? (x x) x : -(x x), and what is done with it whichever it is. */
static const char branches[] = "func.func public @main(%p: tensor<i1>, %x: " MAT ") -> " MAT " {\n"
                               "  %0 = stablehlo.dot_general %x, %x, " DOT "\n"
                               "  %1 = \"stablehlo.if\"(%p) ({\n"
                               "    %a = stablehlo.dot_general %0, %x, " DOT "\n"
                               "    stablehlo.return %a : " MAT "\n"
                               "  }, {\n"
                               "    %b = stablehlo.negate %0 : " MAT "\n"
                               "    stablehlo.return %b : " MAT "\n"
                               "  }) : (tensor<i1>) -> " MAT "\n"
                               "  return %1 : " MAT " }";

#define OK(expr) ck_assert_msg((expr) == LZ_OK, "%s: %s", #expr, lz_error_get()->message)

static const lz_backend *cpu(void)
{
    const lz_backend *b = lz_backend_get("cpu");
    ck_assert_ptr_nonnull(b);
    OK(b->init());
    return b;
}

static lz_exec *compiled_from(const char *text, size_t n)
{
    lz_func *f = NULL;
    lz_exec *x = NULL;
    OK(lz_func_parse(text, n, NULL, &f));
    OK(cpu()->compile(0, f, NULL, &x));
    lz_func_free(f);
    return x;
}

static lz_exec *compiled(void)
{
    return compiled_from(branches, strlen(branches));
}

static lz_device_buffer *upload(const void *p, size_t n)
{
    lz_device_buffer *b;
    OK(cpu()->alloc(0, n, &b));
    OK(cpu()->copy_in(b, p, n));
    return b;
}

/* x = 2 on the diagonal: element (0, 0) is 2, 4 or 8 to it. */
static float run(lz_exec *x, bool p)
{
    float m[N * N] = {0};
    float y[N * N];
    for (int i = 0; i < N; i++)
        m[i * N + i] = 2;
    lz_device_buffer *in[2] = {upload(&p, 1), upload(m, sizeof m)}, *out;
    lz_event *done;
    OK(cpu()->execute(x, 0, in, NULL, false, &out, &done));
    OK(lz_event_wait(done));
    OK(cpu()->copy_out(out, y, sizeof y));
    lz_event_release(done);
    lz_device_buffer_release(out);
    lz_device_buffer_release(in[0]);
    lz_device_buffer_release(in[1]);
    return y[0];
}

static uint64_t compiles(void)
{
    lz_kernels_stats s;
    lz_kernels_get_stats(&s);
    return s.compiles;
}

START_TEST(when_it_is_taken)
{
    lz_exec_info info;
    lz_exec *x = compiled();
    cpu()->exec_info(x, &info);
    uint64_t first = compiles();
    ck_assert_uint_eq(info.llvm_compiles, first);
    ck_assert_uint_lt(first, info.kernels);
    ck_assert(run(x, false) == -4);
    uint64_t second = compiles();
    ck_assert_uint_gt(second, first);
    ck_assert(run(x, false) == -4);
    ck_assert_uint_eq(compiles(), second); /* once */
    ck_assert_uint_lt(second, info.kernels);
    ck_assert(run(x, true) == 8);
    ck_assert_uint_eq(compiles(), info.kernels);
    ck_assert(run(x, true) == 8);
    ck_assert(run(x, false) == -4);
    ck_assert_uint_eq(compiles(), info.kernels);
    cpu()->exec_free(x);
    OK(cpu()->wait_all(0));
    lz_kernels_trim();
    lz_kernels_stats s;
    lz_kernels_get_stats(&s);
    ck_assert_uint_eq(s.live, 0);
}
END_TEST

static void *take_both(void *x)
{
    for (int i = 0; i < 8; i++)
        if (run(x, i & 1) != (i & 1 ? 8 : -4))
            return NULL;
    return x;
}

START_TEST(by_many_threads)
{
    enum { THREADS = 4 };
    pthread_t t[THREADS];
    lz_exec *x = compiled();
    lz_exec_info info;
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&t[i], NULL, take_both, x), 0);
    for (int i = 0; i < THREADS; i++) {
        void *right;
        pthread_join(t[i], &right);
        ck_assert_ptr_nonnull(right);
    }
    cpu()->exec_info(x, &info);
    ck_assert_uint_eq(compiles(), info.kernels);
    cpu()->exec_free(x);
}
END_TEST

/* A branch with a hundred milliseconds of code generation: products of many sizes. alone: nothing
 * else has code. */
static lz_exec *compiled_large(bool alone)
{
    lz_buf b = {0};
    static const char first[] = "  %a0 = stablehlo.dot_general %x, %x, " DOT "\n";
    lz_buf_printf(&b,
                  "func.func public @main(%%p: tensor<i1>, %%x: " MAT ") -> " MAT " {\n%s"
                  "  %%r = \"stablehlo.if\"(%%p) ({\n"
                  "  %%z = stablehlo.constant dense<0.0> : tensor<f32>\n%s",
                  alone ? "" : first, alone ? first : "");
    for (int i = 1; i < 50; i++) {
        char t[48];
        snprintf(t, sizeof t, "tensor<%dx%dxf32>", i, i);
        lz_buf_printf(&b, "%%s%d = stablehlo.slice %%a%d [0:%d, 0:%d] : (" MAT ") -> %s\n", i,
                      i - 1, i, i, t);
        lz_buf_printf(&b,
                      "%%d%d = stablehlo.dot_general %%s%d, %%s%d, contracting_dims = [1] x [0] : "
                      "(%s, %s) -> %s\n",
                      i, i, i, t, t, t);
        lz_buf_printf(&b,
                      "%%a%d = stablehlo.pad %%d%d, %%z, low = [0, 0], high = [%d, %d], interior = "
                      "[0, 0] : (%s, tensor<f32>) -> " MAT "\n",
                      i, i, N - i, N - i, t);
    }
    lz_buf_printf(&b, "    stablehlo.return %%a49 : " MAT " }, { stablehlo.return %%x : " MAT
                      " }) : (tensor<i1>) -> " MAT "\n  return %%r : " MAT " }");
    ck_assert(!b.failed);
    lz_exec *x = compiled_from(b.data, b.len);
    lz_buf_free(&b);
    return x;
}

/* Nobody waits for the result: LLVM must not be taken apart under the thread that compiles. */
START_TEST(exit_while_it_is_compiled)
{
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (!child) {
        uint64_t before = compiles();
        lz_exec *x = compiled_large(_i % 2 != 0);
        if (_i % 2 && compiles() != before)
            exit(4);
        bool p = true;
        float m[N * N] = {0};
        lz_device_buffer *in[2] = {upload(&p, 1), upload(m, sizeof m)}, *out;
        lz_event *done;
        OK(cpu()->execute(x, 0, in, NULL, false, &out, &done));
        usleep((unsigned)_i * 6000);
        exit(lz_event_done(done) ? 3 : 0);
    }
    int how;
    ck_assert_int_eq(waitpid(child, &how, 0), child);
    ck_assert_msg(WIFEXITED(how), "signal %d", WTERMSIG(how));
    ck_assert(WEXITSTATUS(how) == 0 || WEXITSTATUS(how) == 3);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("lazy_branches");
    TCase *t = tcase_create("lazy_branches");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, when_it_is_taken);
    tcase_add_test(t, by_many_threads);
    tcase_add_loop_test(t, exit_while_it_is_compiled, 0, ROUNDS);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
