/* d_ptx.c - every kernel that the generators' functions are made of gives PTX, for each
 * architecture; where NVIDIA's assembler is installed it accepts all of it without spilling the
 * small ones. Kernels of one architecture go into one file, so the assembler starts once. Code
 * generation runs in a child: what LLVM cannot select ends the process, and must not end the test
 * unnamed. */
#include "codegen/gpu/simt.h"
#include "lower/plan/plan.h"
#include "suite.h"
#include "support/assembler.h"
#include "support/gen.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct arch {
    int major, minor;
    const char *name;
} arch;
static const arch archs[] = {{8, 0, "sm_80"}, {9, 0, "sm_90a"}};

typedef struct collection {
    lz_map seen;
    LZ_VEC(lz_plan *) plans; /* own the kernels */
    LZ_VEC(lz_kernel *) kernels;
} collection;

static bool quick(void)
{
    return getenv("LZ_TEST_QUICK") != NULL;
}

/* Its kernels, and those of its regions. */
static void add_plan(collection *c, const lz_plan *p)
{
    for (uint32_t i = 0; i < p->nsub; i++)
        add_plan(c, p->subs[i]);
    for (uint32_t i = 0; i < p->nkernel; i++) {
        if (lz_map_get(&c->seen, p->kernels[i]->hash))
            continue;
        ck_assert_int_eq(lz_map_put(&c->seen, p->kernels[i]->hash, p->kernels[i]), LZ_OK);
        ck_assert_int_eq(lz_vec_push(&c->kernels, p->kernels[i]), LZ_OK);
    }
}

static void add_function(collection *c, const lz_func *f)
{
    lz_plan *p = NULL;
    lz_lower_options o = {
        .machine.threads = 132, .b2b = LZ_B2B_DOTS, .b2b_row_limit = SIMT_LONG_ROW};
    ck_assert_msg(lz_lower(f, &o, &p) == LZ_OK, "%s", lz_error_get()->message);
    add_plan(c, p);
    ck_assert_int_eq(lz_vec_push(&c->plans, p), LZ_OK);
}

static void add_random(collection *c, int seeds, int nets)
{
    for (int s = 0; s < seeds + nets; s++) {
        lz_func *f = s < seeds ? lz_gen_random((uint64_t)s, NULL) : lz_gen_net((uint64_t)s);
        ck_assert_ptr_nonnull(f);
        add_function(c, f);
        lz_func_free(f);
    }
}

static void add_rows(collection *c, int stride)
{
    for (int op = 1; op < LZ_OP_COUNT; op++) {
        lz_func *f;
        lz_literal **args;
        for (int i = op % stride; lz_gen_row_cases((lz_op)op, i, &f, &args) > 0; i += stride) {
            add_function(c, f);
            lz_gen_args_free(f, args);
            lz_func_free(f);
        }
    }
}

static void collection_free(collection *c)
{
    for (uint32_t i = 0; i < c->plans.len; i++)
        lz_plan_free(c->plans.data[i]);
    lz_vec_free(&c->plans);
    lz_vec_free(&c->kernels);
    lz_map_free(&c->seen);
}

/* ---- PTX ---- */

/* One module's text goes to the file with its function renamed; what a file may say only once is
 * said by the first. */
static void append(FILE *out, const char *ptx, uint32_t number)
{
    for (const char *line = ptx; *line;) {
        const char *end = strchr(line, '\n');
        size_t n = end ? (size_t)(end - line) + 1 : strlen(line);
        bool head =
            *line == '.' &&
            (strncmp(line, ".version", 8) == 0 || strncmp(line, ".target", 7) == 0 ||
             strncmp(line, ".address_size", 13) == 0 || strncmp(line, ".extern .shared", 15) == 0);
        if (!head || number == 0)
            for (const char *p = line; p < line + n;) {
                const char *hit = memmem(p, (size_t)(line + n - p), "lz_", 3);
                bool shared = hit && strncmp(hit, "lz_shared", 9) == 0;
                const char *upto = hit ? hit : line + n;
                fwrite(p, 1, (size_t)(upto - p), out);
                if (hit)
                    shared ? fprintf(out, "lz_") : fprintf(out, "k%u_", number);
                p = hit ? hit + 3 : upto;
            }
        line += n;
    }
}

/* Loads of f32 into registers of f64, which no assembler accepts. */
static bool widening_load(const char *ptx)
{
    for (const char *p = ptx; (p = strstr(p, "ld.")); p += 3) {
        size_t n = strcspn(p, "\n");
        const char *f32 = memmem(p, n, ".f32", 4), *fd = memmem(p, n, "%fd", 3);
        if (f32 && fd)
            return true;
    }
    return false;
}

static int generate(const collection *c, const arch *a, const char *path)
{
    lz_target t;
    FILE *out = fopen(path, "w");
    if (!out || lz_simt_target(a->major, a->minor, &t) != LZ_OK)
        return 1;
    /* every file declares the shared memory first, whether its first kernel uses it or not */
    fprintf(out,
            ".version 8.0\n.target %s\n.address_size 64\n.extern .shared .align 16 .b8 "
            "lz_shared[];\n",
            a->name);
    for (uint32_t i = 0; i < c->kernels.len; i++) {
        lz_buf ptx = {0};
        char note[64];
        snprintf(note, sizeof note, "%s.now", path);
        FILE *now = fopen(note, "w"); /* which kernel it was, if this ends the process */
        if (now) {
            lz_buf text = {0};
            lz_kernel_print(c->kernels.data[i], &text);
            fputs(lz_buf_str(&text), now);
            fclose(now);
            lz_buf_free(&text);
        }
        lz_status s = lz_llvm_compile(c->kernels.data[i], &t, &ptx, NULL, NULL);
        if (s != LZ_OK) {
            printf("%s: %s\n", a->name, lz_error_get()->message);
            return 1;
        }
        if (widening_load(lz_buf_str(&ptx))) {
            printf("%s: a load of f32 gives f64\n", a->name);
            return 1;
        }
        append(out, lz_buf_str(&ptx), i + 1);
        lz_buf_free(&ptx);
    }
    return fclose(out) != 0;
}

static void check_arch(const collection *c, const arch *a)
{
    char path[32], command[256];
    snprintf(path, sizeof path, "kernels-%s.ptx", a->name);
    pid_t child = fork();
    if (child == 0)
        _exit(generate(c, a, path));
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    if (status != 0) {
        snprintf(command, sizeof command, "cat %s.now", path);
        (void)!system(command);
    }
    ck_assert_msg(status == 0, "%s: no PTX for the kernel above (status %d)", a->name, status);
    if (!assembler())
        return;
    snprintf(command, sizeof command, "%s -arch=%s -o /dev/null %s 2>&1", assembler(), a->name,
             path);
    ck_assert_msg(system(command) == 0, "%s: the assembler refused %u kernels", a->name,
                  c->kernels.len);
}

START_TEST(every_kernel_assembles)
{
    char dir[] = "/tmp/lazuli-ptx.XXXXXX";
    collection c = {0};
    char here[4096];
    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    const char *more = getenv("LZ_TEST_STRIDE");
    add_random(&c, quick() ? 12 : 30, quick() ? 3 : 8);
    add_rows(&c, more ? atoi(more) : quick() ? 401 : 199);
    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_int_eq(chdir(dir), 0);
    check_arch(&c, &archs[_i]);
    ck_assert_int_eq(chdir(here), 0);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", dir);
    (void)!system(command);
    printf("%u kernels for %s%s\n", c.kernels.len, archs[_i].name,
           assembler() ? "" : ", not assembled: there is no ptxas");
    collection_free(&c);
}
END_TEST

/* ---- what a schedule promises ---- */

/* %p of %s, between products */
#define SOFTMAX                                                                                    \
    "%ninf = stablehlo.constant dense<-3.0e38> : tensor<f32>\n"                                    \
    "%m = stablehlo.reduce(%s init: %ninf) applies stablehlo.maximum across dimensions = [2] : "   \
    "(tensor<2x64x96xf32>, tensor<f32>) -> tensor<2x64xf32>\n"                                     \
    "%mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<2x64xf32>) -> "                  \
    "tensor<2x64x96xf32>\n"                                                                        \
    "%d = stablehlo.subtract %s, %mb : tensor<2x64x96xf32>\n"                                      \
    "%e = stablehlo.exponential %d : tensor<2x64x96xf32>\n"                                        \
    "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"                                           \
    "%u = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [2] : "          \
    "(tensor<2x64x96xf32>, tensor<f32>) -> tensor<2x64xf32>\n"                                     \
    "%ub = stablehlo.broadcast_in_dim %u, dims = [0, 1] : (tensor<2x64xf32>) -> "                  \
    "tensor<2x64x96xf32>\n"                                                                        \
    "%p = stablehlo.divide %e, %ub : tensor<2x64x96xf32>\n"

typedef struct promise {
    const char *program, *schedule;
    const char *in[4]; /* of the PTX; NULL: no more */
} promise;
static const promise promises[] = {
    {"func.func @main(%a: tensor<64x100xf32>, %b: tensor<64x100xf32>) -> tensor<64x100xf32> {\n"
     "  %c = stablehlo.add %a, %b : tensor<64x100xf32>\n"
     "  return %c : tensor<64x100xf32>\n}\n",
     "elementwise",
     {"ld.global.v4.f32", "st.global.v4.f32"}},
    /* eight f32 for a vector of bf16, widened one by one */
    {"func.func @main(%a: tensor<640xf32>, %b: tensor<640xbf16>) -> tensor<640xbf16> {\n"
     "  %c = chlo.digamma %a : tensor<640xf32> -> tensor<640xf32>\n"
     "  %d = stablehlo.convert %c : (tensor<640xf32>) -> tensor<640xbf16>\n"
     "  %e = stablehlo.minimum %d, %b : tensor<640xbf16>\n"
     "  return %e : tensor<640xbf16>\n}\n",
     "elementwise",
     {"cvt.f64.f32"}},
    {"func.func @main(%a: tensor<640xbf16>) -> tensor<640xbf16> {\n"
     "  %c = stablehlo.tanh %a : tensor<640xbf16>\n"
     "  return %c : tensor<640xbf16>\n}\n",
     "elementwise",
     {"ld.global.v4", "st.global.v4"}},
    {"func.func @main(%a: tensor<90x70xf32>) -> tensor<70x90xf32> {\n"
     "  %c = stablehlo.transpose %a, dims = [1, 0] : (tensor<90x70xf32>) -> tensor<70x90xf32>\n"
     "  return %c : tensor<70x90xf32>\n}\n",
     "transpose",
     {"ld.shared", "st.shared", "bar.sync"}},
    {"func.func @main(%a: tensor<64x1024xf32>) -> tensor<64x1024xf32> {\n"
     "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
     "  %s = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] : "
     "(tensor<64x1024xf32>, tensor<f32>) -> tensor<64xf32>\n"
     "  %b = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<64xf32>) -> tensor<64x1024xf32>\n"
     "  %c = stablehlo.divide %a, %b : tensor<64x1024xf32>\n"
     "  return %c : tensor<64x1024xf32>\n}\n",
     "reduce_row",
     {"ld.global.v4.f32", "st.global.v4.f32", "shfl.sync.bfly", "bar.sync"}},
    {"func.func @main(%a: tensor<3x100xf32>) -> tensor<3x100xf32> {\n"
     "  %b = \"stablehlo.sort\"(%a) ({\n"
     "  ^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
     "    %l = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<f32>, tensor<f32>) -> "
     "tensor<i1>\n"
     "    stablehlo.return %l : tensor<i1>\n"
     "  }) {dimension = 1 : i64, is_stable = true} : (tensor<3x100xf32>) -> tensor<3x100xf32>\n"
     "  return %b : tensor<3x100xf32>\n}\n",
     "sort",
     {"bar.sync"}},
    {"func.func @main(%q: tensor<2x64x32xf32>, %k: tensor<2x96x32xf32>, %v: tensor<2x96x32xf32>) "
     "-> tensor<2x64x32xf32> {\n"
     "%s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : "
     "(tensor<2x64x32xf32>, tensor<2x96x32xf32>) -> tensor<2x64x96xf32>\n" SOFTMAX
     "%y = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : "
     "(tensor<2x64x96xf32>, tensor<2x96x32xf32>) -> tensor<2x64x32xf32>\n"
     "return %y : tensor<2x64x32xf32>\n"
     "}\n",
     "flash_attention",
     {"fma.rn.f32", "ld.shared.v4.f32", "shfl.sync.bfly", "ld.global.v4.f32"}},
    {"func.func @main(%q: tensor<2x64x32xbf16>, %k: tensor<2x32x96xbf16>, %v: "
     "tensor<2x96x32xbf16>) -> tensor<2x64x32xbf16> {\n"
     "%s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : "
     "(tensor<2x64x32xbf16>, tensor<2x32x96xbf16>) -> tensor<2x64x96xf32>\n" SOFTMAX
     "%pt = stablehlo.convert %p : (tensor<2x64x96xf32>) -> tensor<2x64x96xbf16>\n"
     "%y = stablehlo.dot_general %pt, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] "
     ": (tensor<2x64x96xbf16>, tensor<2x96x32xbf16>) -> tensor<2x64x32xbf16>\n"
     "return %y : tensor<2x64x32xbf16>\n"
     "}\n",
     "flash_attention",
     {"mma.sync.aligned.m16n8k16", "ldmatrix.sync.aligned.m8n8.x4.trans", "shfl.sync.bfly",
      "ld.global.v4"}},
};

START_TEST(schedules_promise)
{
    const promise *p = &promises[_i];
    lz_func *f = NULL;
    lz_plan *plan = NULL;
    lz_buf ptx = {0};
    lz_target t;
    lz_lower_options o = {
        .machine.threads = 132, .b2b = LZ_B2B_DOTS, .b2b_row_limit = SIMT_LONG_ROW};
    ck_assert_msg(lz_func_parse(p->program, strlen(p->program), "promise", &f) == LZ_OK, "%s",
                  lz_error_get()->message);
    ck_assert_int_eq(lz_lower(f, &o, &plan), LZ_OK);
    ck_assert_uint_eq(plan->nkernel, 1);
    ck_assert_int_eq(lz_simt_target(8, 0, &t), LZ_OK);
    ck_assert_str_eq(lz_simt_schedule_name(plan->kernels[0], &t), p->schedule);
    ck_assert_int_eq(lz_llvm_compile(plan->kernels[0], &t, &ptx, NULL, NULL), LZ_OK);
    for (int i = 0; i < 4 && p->in[i]; i++)
        ck_assert_msg(strstr(lz_buf_str(&ptx), p->in[i]) != NULL, "no %s in\n%.3000s", p->in[i],
                      lz_buf_str(&ptx));
    ck_assert_ptr_null(strstr(lz_buf_str(&ptx), ".local"));
    ck_assert(!widening_load(lz_buf_str(&ptx)));
    lz_buf_free(&ptx);
    lz_plan_free(plan);
    lz_func_free(f);
}
END_TEST

/* Attention is made in one pass, of 16-bit floats too, and of these by wgmma where there is that.
 */
START_TEST(attention_takes_one_pass)
{
    lz_target t;
    ck_assert_int_eq(lz_simt_target(9, 0, &t), LZ_OK);
    for (size_t i = 0; i < sizeof promises / sizeof *promises; i++) {
        lz_func *f = NULL;
        lz_plan *plan = NULL;
        lz_lower_options o = {
            .machine.threads = 132, .b2b = LZ_B2B_DOTS, .b2b_row_limit = SIMT_LONG_ROW};
        if (strcmp(promises[i].schedule, "flash_attention"))
            continue;
        ck_assert_int_eq(
            lz_func_parse(promises[i].program, strlen(promises[i].program), "promise", &f), LZ_OK);
        ck_assert_int_eq(lz_lower(f, &o, &plan), LZ_OK);
        ck_assert_uint_eq(lz_simt_passes(plan->kernels[0]), 1);
        bool half = strstr(promises[i].program, "bf16");
        ck_assert_int_eq(lz_simt_entry_name(plan->kernels[0], &t, SIMT_FLASH_WGMMA) != NULL, half);
        ck_assert_int_eq(lz_simt_entry_name(plan->kernels[0], &t, SIMT_FLASH_NARROW) != NULL,
                         !half);
        lz_buf ptx = {0};
        ck_assert_int_eq(lz_llvm_compile(plan->kernels[0], &t, &ptx, NULL, NULL), LZ_OK);
        ck_assert_int_eq(strstr(lz_buf_str(&ptx), "wgmma.mma_async.sync.aligned.m64n64k16") != NULL,
                         half);
        lz_buf_free(&ptx);
        lz_plan_free(plan);
        lz_func_free(f);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ptx");
    TCase *t = tcase_create("generators");
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, every_kernel_assembles, 0, (int)(sizeof archs / sizeof *archs));
    tcase_add_loop_test(t, schedules_promise, 0, (int)(sizeof promises / sizeof *promises));
    tcase_add_test(t, attention_takes_one_pass);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
