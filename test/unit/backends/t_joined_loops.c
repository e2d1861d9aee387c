/* t_joined_loops.c - loops of small kernels that the CPU runs as one function: which are, that each
 * bit is that of the same loop launch by launch, and that their code is stored as other code is. */
#include "backends/cpu/cpu_exec.h"
#include "backends/cpu/cpu_loops.h"
#include "base/config.h"
#include "suite.h"
#include "support/gen.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK(expr) ck_assert_msg((expr) == LZ_OK, "%s: %s", #expr, lz_error_get()->message)

/* ---- programs ---- */

#define I "tensor<i32>"
#define F "tensor<f32>"
#define PRED "tensor<i1>"
#define INT(name, v) "  " name " = stablehlo.constant dense<" v "> : " I "\n"
#define FLOAT(name, v) "  " name " = stablehlo.constant dense<" v "> : " F "\n"
/* %u is carried as %v from one round to the next; %i counts from 0 on. */
#define COUNTED(V, N, body)                                                                        \
    "func.func public @main(%u: " V ", %w: " V ") -> (" V ", " I                                   \
    ") {\n" INT("%c0", "0") INT("%c1", "1")                                                        \
        INT("%end", N) "  %r:2 = stablehlo.while(%v = %u, %i = %c0) : " V ", " I "\n   cond {\n"   \
                       "    %p = stablehlo.compare LT, %i, %end : (" I ", " I ") -> " PRED         \
                       "\n    stablehlo.return %p : " PRED "\n  } do {\n" body                     \
                       "    %n = stablehlo.add %i, %c1 : " I                                       \
                       "\n    stablehlo.return %next, %n : " V ", " I                              \
                       "\n  }\n  return %r#0, %r#1 : " V ", " I "\n}"
#define V37 "tensor<37xf32>"
#define V3K "tensor<3000xf32>"
#define M12 "tensor<12x12xf32>"

/* Functions of a few elements, which are computed one by one. */
#define FUNCTIONS(T)                                                                               \
    COUNTED(T, "3",                                                                                \
            "    %f0 = stablehlo.exponential %v : " T "\n    %f1 = stablehlo.tanh %w : " T         \
            "\n    %f2 = stablehlo.logistic %v : " T "\n    %f3 = stablehlo.log_plus_one %f2 : " T \
            "\n    %f4 = stablehlo.power %f2, %w : " T "\n    %f5 = stablehlo.sine %v : " T        \
            "\n    %f6 = stablehlo.rsqrt %f2 : " T "\n    %f7 = stablehlo.cbrt %v : " T            \
            "\n    %f8 = stablehlo.divide %f0, %f6 : " T                                           \
            "\n    %f9 = stablehlo.atan2 %f5, %f1 : " T                                            \
            "\n    %g0 = stablehlo.multiply %f3, %f4 : " T                                         \
            "\n    %g1 = stablehlo.add %f7, %g0 : " T "\n    %g2 = stablehlo.add %f8, %g1 : " T    \
            "\n    %next = stablehlo.add %f9, %g2 : " T "\n")

static const struct {
    const char *what, *text;
    uint32_t joined; /* loops that are one function */
} programs[] = {
    {"a scalar",
     COUNTED(F, "100",
             "    %a = stablehlo.multiply %v, %w : " F "\n    %next = stablehlo.add %a, %w : " F
             "\n"),
     1},
    {"no round", COUNTED(F, "0", "    %next = stablehlo.add %v, %w : " F "\n"), 1},
    {"a few elements that change places",
     COUNTED("tensor<3xf32>", "50",
             "    %a = stablehlo.reverse %v, dims = [0] : tensor<3xf32>\n"
             "    %s = stablehlo.sine %a : tensor<3xf32>\n"
             "    %next = stablehlo.add %s, %w : tensor<3xf32>\n"),
     1},
    {"a vector, and its sum",
     COUNTED(V37, "20",
             FLOAT("%zero", "0.0") "    %s = stablehlo.reduce(%v init: %zero) applies "
                                   "stablehlo.add across dimensions = "
                                   "[0] : (" V37 ", " F ") -> " F "\n"
                                   "    %b = stablehlo.broadcast_in_dim %s, dims = [] : (" F
                                   ") -> " V37 "\n"
                                   "    %t = stablehlo.tanh %b : " V37 "\n"
                                   "    %next = stablehlo.subtract %w, %t : " V37 "\n"),
     1},
    {"more than is kept, in two places",
     COUNTED(V3K, "5",
             "    %a = stablehlo.reverse %v, dims = [0] : " V3K "\n"
             "    %next = stablehlo.add %a, %w : " V3K "\n"),
     1},
    {"products",
     COUNTED(M12, "9",
             "    %a = stablehlo.dot_general %v, %w, contracting_dims = [1] x [0] : (" M12 ", " M12
             ") -> " M12 "\n    %next = stablehlo.tanh %a : " M12 "\n"),
     1},
    {"sorted rows",
     COUNTED(M12, "4",
             "    %a = \"stablehlo.sort\"(%v) ({\n    ^bb0(%x: " F ", %y: " F "):\n"
             "      %lt = stablehlo.compare LT, %x, %y : (" F ", " F ") -> " PRED "\n"
             "      stablehlo.return %lt : " PRED "\n    }) {dimension = 1 : i64} : (" M12
             ") -> " M12 "\n"
             "    %t = stablehlo.transpose %a, dims = [1, 0] : (" M12 ") -> " M12 "\n"
             "    %next = stablehlo.multiply %t, %w : " M12 "\n"),
     1},
    {"a loop in a loop, and a branch in that",
     COUNTED(V37, "6",
             "    %q:2 = stablehlo.while(%x = %v, %j = %c0) : " V37 ", " I "\n     cond {\n"
             "      %p2 = stablehlo.compare LE, %j, %i : (" I ", " I ") -> " PRED "\n"
             "      stablehlo.return %p2 : " PRED "\n    } do {\n"
             "      %odd = stablehlo.and %j, %c1 : " I "\n"
             "      %is = stablehlo.compare EQ, %odd, %c1 : (" I ", " I ") -> " PRED "\n"
             "      %y = \"stablehlo.if\"(%is) ({\n"
             "        %y1 = stablehlo.reverse %x, dims = [0] : " V37 "\n"
             "        stablehlo.return %y1 : " V37 "\n      }, {\n"
             "        %y2 = stablehlo.add %x, %w : " V37 "\n"
             "        stablehlo.return %y2 : " V37 "\n      }) : (" PRED ") -> " V37 "\n"
             "      %m = stablehlo.add %j, %c1 : " I "\n"
             "      stablehlo.return %y, %m : " V37 ", " I "\n    }\n"
             "    %next = stablehlo.add %q#0, %w : " V37 "\n"),
     1},
    {"as long as a sum is small",
     "func.func public @main(%u: " V37 ", %w: " V37 ") -> " V37 " {\n" FLOAT("%zero", "0.0") FLOAT(
         "%most",
         "1000.0") "  %r = stablehlo.while(%v = %u) : " V37 "\n   cond {\n"
                   "    %a = stablehlo.abs %v : " V37 "\n"
                   "    %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across "
                   "dimensions = [0] : (" V37 ", " F ") -> " F "\n"
                   "    %p = stablehlo.compare LT, %s, %most : (" F ", " F ") -> " PRED "\n"
                   "    stablehlo.return %p : " PRED "\n  } do {\n"
                   "    %d = stablehlo.add %v, %v : " V37 "\n"
                   "    %e = stablehlo.add %d, %w : " V37 "\n"
                   "    %b = stablehlo.broadcast_in_dim %most, dims = [] : (" F ") -> " V37 "\n"
                   "    %f = stablehlo.minimum %e, %b : " V37 "\n    %g = stablehlo.abs %f : " V37
                   "\n"
                   "    %one = stablehlo.constant dense<1.0> : " V37 "\n"
                   "    %h = stablehlo.add %g, %one : " V37 "\n"
                   "    stablehlo.return %h : " V37 "\n  }\n  return %r : " V37 "\n}",
     1},
    {"a row of a large array in each round",
     "func.func public @main(%u: tensor<300x8xf32>, %w: tensor<300x8xf32>) -> tensor<300x8xf32> "
     "{\n" INT("%c0", "0") INT("%c1", "1")
         INT("%end",
             "300") "  %r:2 = stablehlo.while(%v = %u, %i = %c1) : tensor<300x8xf32>, " I
                    "\n   cond {\n"
                    "    %p = stablehlo.compare LT, %i, %end : (" I ", " I ") -> " PRED "\n"
                    "    stablehlo.return %p : " PRED "\n  } do {\n"
                    "    %k = stablehlo.subtract %i, %c1 : " I "\n"
                    "    %a = stablehlo.dynamic_slice %v, %k, %c0, sizes = [1, 8] : "
                    "(tensor<300x8xf32>, " I ", " I ") -> tensor<1x8xf32>\n"
                    "    %b = stablehlo.dynamic_slice %w, %i, %c0, sizes = [1, 8] : "
                    "(tensor<300x8xf32>, " I ", " I ") -> tensor<1x8xf32>\n"
                    "    %c = stablehlo.add %a, %b : tensor<1x8xf32>\n"
                    "    %d = stablehlo.dynamic_update_slice %v, %c, %i, %c0 : (tensor<300x8xf32>, "
                    "tensor<1x8xf32>, " I ", " I ") -> tensor<300x8xf32>\n"
                    "    %n = stablehlo.add %i, %c1 : " I "\n"
                    "    stablehlo.return %d, %n : tensor<300x8xf32>, " I "\n  }\n"
                    "  return %r#0 : tensor<300x8xf32>\n}",
     1},
    {"functions of f32", FUNCTIONS("tensor<3xf32>"), 1},
    {"functions of bf16", FUNCTIONS("tensor<3xbf16>"), 1},
    {"functions of f16", FUNCTIONS("tensor<4xf16>"), 1},
    {"functions of f64", FUNCTIONS("tensor<2xf64>"), 1},
    {"functions of half a vector", FUNCTIONS("tensor<8xf32>"), 1},
    {"functions of half a vector of bf16", FUNCTIONS("tensor<8xbf16>"), 1},
    {"kernels worth several threads",
     COUNTED("tensor<400x500xf32>", "2",
             "    %a = stablehlo.reverse %v, dims = [0] : tensor<400x500xf32>\n"
             "    %next = stablehlo.add %a, %w : tensor<400x500xf32>\n"),
     0},
};
enum { NPROGRAM = sizeof programs / sizeof *programs, LARGE = 4, WHILE_SMALL = 8 };

/* ---- running ---- */

static struct {
    const lz_backend *be;
    lz_target target, apart; /* apart: loops are launched kernel by kernel */
    lz_cpu_device dev;
} cpu;

static void use_cpu(void)
{
    OK(lz_config_set("LAZULI_VARIANTS", NULL)); /* this is about them */
    cpu.be = lz_backend_get("cpu");
    OK(cpu.be->init());
    OK(lz_target_host(&cpu.target));
    cpu.apart = cpu.target;
    cpu.apart.without |= UINT32_C(1) << LZ_VARIANT_joined_loops;
    cpu.dev =
        (lz_cpu_device){.at = {(uint32_t)lz_backend_index(cpu.be), 0, lz_queue_new("lz-test")}};
    ck_assert_ptr_nonnull(cpu.dev.at.queue);
}

static lz_exec *compiled(const lz_func *f, const lz_target *t, lz_cache *cache)
{
    lz_plan *p = NULL;
    lz_exec *x = NULL;
    lz_lower_options o = {.machine = t->machine};
    lz_cpu_exec_options how = {.cache = cache};
    OK(lz_lower(f, &o, &p));
    OK(lz_cpu_exec_new(p, t, &cpu.dev, &how, &x));
    return x;
}

/* Runs it; out[k] are new. */
static void run(lz_exec *x, const lz_func *f, lz_literal *const *args, lz_literal **out)
{
    lz_device_buffer *in[64], *res[64];
    lz_event *done;
    ck_assert(f->nparam <= 64 && f->nresult <= 64);
    for (uint32_t i = 0; i < f->nparam; i++) {
        OK(cpu.be->alloc(0, args[i]->nbytes, &in[i]));
        OK(cpu.be->copy_in(in[i], args[i]->data, args[i]->nbytes));
    }
    OK(cpu.be->execute(x, 0, in, NULL, false, res, &done));
    OK(lz_event_wait(done));
    lz_event_release(done);
    for (uint32_t k = 0; k < f->nresult; k++) {
        out[k] = lz_literal_new(lz_val_type(f, f->results[k]));
        OK(cpu.be->copy_out(res[k], out[k]->data, out[k]->nbytes));
        lz_device_buffer_release(res[k]);
    }
    for (uint32_t i = 0; i < f->nparam; i++)
        lz_device_buffer_release(in[i]);
}

/* The same bits in one function and kernel by kernel, twice each. Gives how many loops were one
 * function. */
static uint32_t compare(const lz_func *f, lz_literal *const *args, const char *what)
{
    lz_exec *x[2] = {compiled(f, &cpu.target, NULL), compiled(f, &cpu.apart, NULL)};
    uint32_t joined = lz_cpu_exec_loops(x[0])->loops.len;
    ck_assert_uint_eq(lz_cpu_exec_loops(x[1])->loops.len, 0);
    for (int again = 0; again < 2; again++) {
        lz_literal *out[2][64];
        for (int i = 0; i < 2; i++)
            run(x[i], f, args, out[i]);
        for (uint32_t k = 0; k < f->nresult; k++) {
            char msg[200];
            ck_assert_msg(lz_test_same(out[0][k], out[1][k], 0, msg, sizeof msg),
                          "%s, result %u: %s", what, k, msg);
            lz_literal_release(out[0][k]);
            lz_literal_release(out[1][k]);
        }
    }
    cpu.be->exec_free(x[0]);
    cpu.be->exec_free(x[1]);
    return joined;
}

static lz_func *parse(const char *text)
{
    lz_func *f = NULL;
    ck_assert_msg(lz_func_parse(text, strlen(text), NULL, &f) == LZ_OK, "%s: %s", text,
                  lz_error_get()->message);
    return f;
}

static uint32_t joined_loops(const lz_func *f)
{
    lz_plan *p = NULL;
    lz_lower_options o = {.machine = cpu.target.machine};
    uint32_t n = 0;
    OK(lz_lower(f, &o, &p));
    for (uint32_t i = 0; i < p->nstep; i++)
        n += lz_join_suits(p, &p->steps[i], false);
    lz_plan_free(p);
    return n;
}

/* ---- tests ---- */

START_TEST(same_bits)
{
    static const lz_fill fills[] = {LZ_FILL_MODEST, LZ_FILL_SPICED, LZ_FILL_SPECIAL};
    use_cpu();
    lz_func *f = parse(programs[_i].text);
    ck_assert_msg(joined_loops(f) == programs[_i].joined, "%s", programs[_i].what);
    for (int k = 0; k < 3; k++) {
        lz_literal **args;
        OK(lz_gen_args(f, (uint64_t)(_i + 1), fills[k], &args));
        ck_assert_uint_eq(compare(f, args, programs[_i].what), programs[_i].joined);
        lz_gen_args_free(f, args);
    }
    lz_func_free(f);
    lz_queue_free(cpu.dev.at.queue);
}
END_TEST

/* Random programs, of any type. */
START_TEST(random_programs)
{
    enum { SEEDS = 40 };
    uint32_t joined = 0;
    use_cpu();
    for (uint64_t seed = SEEDS * (uint64_t)_i; seed < SEEDS * ((uint64_t)_i + 1); seed++) {
        lz_gen_options o = {.max_insts = 6 + (int)(seed % 12)};
        lz_func *f = lz_gen_random(seed, &o);
        lz_literal **args;
        ck_assert_ptr_nonnull(f);
        if (lz_gen_has_op(f, LZ_OP_WHILE) && f->nparam <= 64 && f->nresult <= 64) {
            OK(lz_gen_args(f, seed, lz_gen_fill(f, LZ_FILL_WILD, true), &args));
            char what[32];
            snprintf(what, sizeof what, "seed %d", (int)seed);
            joined += compare(f, args, what);
            lz_gen_args_free(f, args);
        }
        lz_func_free(f);
    }
    ck_assert_uint_gt(joined, 0);
    lz_queue_free(cpu.dev.at.queue);
}
END_TEST

static void trim(void)
{
    lz_kernels_stats s;
    lz_kernels_trim();
    lz_kernels_get_stats(&s);
    ck_assert_uint_eq(s.live, 0);
}

/* Code from the cache: the sizes in it are arguments of this process. */
START_TEST(stored)
{
    char dir[] = "/tmp/lazuli-joined-XXXXXX";
    lz_kernels_stats s[3];
    lz_literal **args, *want[2], *got[2];
    use_cpu();
    ck_assert_ptr_nonnull(mkdtemp(dir));
    lz_func *f = parse(programs[LARGE].text);
    OK(lz_gen_args(f, 1, LZ_FILL_MODEST, &args));
    for (int again = 0; again < 2; again++) {
        lz_cache *c;
        OK(lz_cache_open(
            &(lz_cache_options){.path = dir, .build_id = "t", .isa = cpu.target.features}, &c));
        lz_kernels_get_stats(&s[again]);
        lz_exec *x = compiled(f, &cpu.target, c);
        lz_kernels_get_stats(&s[again + 1]);
        run(x, f, args, again ? got : want);
        cpu.be->exec_free(x);
        trim();
        lz_cache_close(c);
    }
    ck_assert_uint_gt(s[1].compiles, s[0].compiles);
    ck_assert_uint_eq(s[2].compiles, s[1].compiles);
    ck_assert_uint_gt(s[2].disk_hits, s[1].disk_hits);
    for (uint32_t k = 0; k < f->nresult; k++) {
        ck_assert_mem_eq(got[k]->data, want[k]->data, got[k]->nbytes);
        lz_literal_release(got[k]);
        lz_literal_release(want[k]);
    }
    lz_gen_args_free(f, args);
    lz_func_free(f);
    lz_queue_free(cpu.dev.at.queue);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", dir);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

/* A loop is one kernel of the store: kernels that only it runs are not compiled. */
START_TEST(code_is_one_kernel)
{
    use_cpu();
    lz_func *f = parse(programs[3].text);
    lz_kernels_stats before, after;
    lz_kernels_get_stats(&before);
    lz_exec *x = compiled(f, &cpu.target, NULL), *y = compiled(f, &cpu.target, NULL);
    lz_kernels_get_stats(&after);
    ck_assert_uint_eq(after.compiles, before.compiles + 1);
    ck_assert_uint_gt(after.memory_hits, before.memory_hits);
    cpu.be->exec_free(x);
    cpu.be->exec_free(y);
    trim();
    lz_func_free(f);
    lz_queue_free(cpu.dev.at.queue);
}
END_TEST

/* Conditions decide how long it takes: after some quick runs it is brief. A known number of rounds
 * says so at once. */
START_TEST(brief_when_it_was)
{
    use_cpu();
    for (int k = 0; k < 2; k++) {
        lz_func *f = parse(programs[k ? 0 : WHILE_SMALL].text);
        lz_exec *x = compiled(f, &cpu.target, NULL);
        lz_literal **args, *out[2];
        ck_assert_int_eq(x->brief, k);
        OK(lz_gen_args(f, 1, LZ_FILL_MODEST, &args));
        for (int i = 0; i < 200 && (i < 3 || !x->brief); i++) { /* others may take the processor */
            run(x, f, args, out);
            for (uint32_t r = 0; r < f->nresult; r++)
                lz_literal_release(out[r]);
        }
        ck_assert(x->brief);
        lz_gen_args_free(f, args);
        cpu.be->exec_free(x);
        lz_func_free(f);
    }
    lz_queue_free(cpu.dev.at.queue);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("joined_loops");
    TCase *t = tcase_create("loops");
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, same_bits, 0, NPROGRAM);
    tcase_add_loop_test(t, random_programs, 0, 6);
    tcase_add_test(t, stored);
    tcase_add_test(t, code_is_one_kernel);
    tcase_add_test(t, brief_when_it_was);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
