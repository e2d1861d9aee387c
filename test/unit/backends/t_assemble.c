/* t_assemble.c - who makes machine code of PTX: the assembler that is configured, or the driver.
 * The assembler is a script here, and the machine code an object that the library in the driver's
 * place takes. Each test has a process of its own. */
#include "backends/cuda/cuda_device.h"
#include "base/config.h"
#include "lower/plan/plan.h"
#include "suite.h"
#include "support/mock.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/lazuli-assemble.XXXXXX";
static cuda_device device;
static lz_plan *plan;
static lz_buf object; /* the kernel's code as the emulator takes it */

static void use(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    ck_assert_int_eq(fclose(f), 0);
    ck_assert_int_eq(chmod(path, 0700), 0);
    ck_assert_int_eq(lz_config_set("LAZULI_CUDA_PTXAS", path), LZ_OK);
}

static void start(void)
{
    static const char text[] = "func.func @main(%a: tensor<64xf32>) -> tensor<64xf32> {\n"
                               "  %b = stablehlo.negate %a : tensor<64xf32>\n"
                               "  return %b : tensor<64xf32>\n}\n";
    lz_func *f = NULL;
    char path[128];
    ck_assert_int_eq(lz_mock_use(), LZ_OK);
    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_int_eq(lz_func_parse(text, strlen(text), "negate", &f), LZ_OK);
    ck_assert_int_eq(lz_lower(f, &(lz_lower_options){.machine.threads = 2}, &plan), LZ_OK);
    lz_func_free(f);
    ck_assert_int_eq(lz_cuda_load(), LZ_OK);
    ck_assert_msg(cuda_device_start(&device, 0, 1) == LZ_OK, "%s", lz_error_get()->message);
    ck_assert_int_eq(lz_llvm_compile(plan->kernels[0], &device.target, &object, NULL, NULL), LZ_OK);
    snprintf(path, sizeof path, "%s/object", dir);
    FILE *o = fopen(path, "wb");
    ck_assert_ptr_nonnull(o);
    ck_assert_uint_eq(fwrite(object.data, 1, object.len, o), object.len);
    ck_assert_int_eq(fclose(o), 0);
    ck_assert_int_eq(lz_simt_target(9, 0, &device.target), LZ_OK);
}

static lz_status assemble(lz_buf *out)
{
    lz_buf ptx = {0};
    lz_buf_puts(&ptx, "// no more than a text");
    lz_status s = cuda_assemble(&device, plan->kernels[0], &ptx, out);
    lz_buf_free(&ptx);
    return s;
}

static long runs(void)
{
    char path[128];
    struct stat st;
    snprintf(path, sizeof path, "%s/runs", dir);
    return stat(path, &st) == 0 ? (long)st.st_size : 0;
}

static void finish(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", dir);
    ck_assert_int_eq(system(command), 0);
}

/* ptxas -arch sm_90a -o OUT IN */
#define SCRIPT "#!/bin/sh\ncd ${0%/*}\nprintf x >>runs\n"

START_TEST(by_the_assembler)
{
    start();
    use("ptxas", SCRIPT "[ $1 = -arch ] && [ $2 = sm_90a ] && grep -q text $5 && cp object $4\n");
    lz_buf out = {0};
    ck_assert_msg(assemble(&out) == LZ_OK, "%s", lz_error_get()->message);
    ck_assert_uint_eq(out.len, object.len);
    ck_assert_int_eq(memcmp(out.data, object.data, out.len), 0);
    ck_assert_int_eq(runs(), 1);
    lz_buf_free(&out);
    finish();
}
END_TEST

static const char *const bad[] = {SCRIPT "exit 1\n", SCRIPT "true\n", SCRIPT "kill -9 $$\n",
                                  SCRIPT "echo nonsense >$4\n", SCRIPT ": >$4\n"};

/* The driver is asked instead, which takes no text here, and the assembler not again. */
START_TEST(by_the_driver)
{
    start();
    use("ptxas", bad[_i]);
    lz_buf out = {0};
    for (int i = 0; i < 2; i++) {
        out.len = 0;
        ck_assert_int_eq(assemble(&out), LZ_ECOMPILE);
        ck_assert_int_eq(runs(), 1);
    }
    ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "the driver's assembler refused it"));
    lz_buf_free(&out);
    finish();
}
END_TEST

START_TEST(nobody)
{
    start();
    ck_assert_int_eq(lz_config_set("LAZULI_CUDA_PTXAS", "off"), LZ_OK);
    ck_assert_ptr_null(cuda_assembler(&device));
    finish();
}
END_TEST

static bool raised; /* as libc tells a program with raised privileges */
char *secure_getenv(const char *name)
{
    return raised ? NULL : getenv(name);
}

/* 1: the PATH of whoever started a program with raised privileges says nothing. */
START_TEST(found_in_path)
{
    start();
    use("ptxas", SCRIPT "cp object $4\n");
    ck_assert_int_eq(lz_config_set("LAZULI_CUDA_PTXAS", ""), LZ_OK);
    char path[256];
    snprintf(path, sizeof path, "/nowhere::%s:/bin", dir);
    ck_assert_int_eq(setenv("PATH", path, 1), 0);
    raised = _i;
    const char *found = cuda_assembler(&device);
    ck_assert(raised || found);
    ck_assert_int_eq(found && strncmp(found, dir, strlen(dir)) == 0, !raised);
    finish();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("assemble");
    TCase *t = tcase_create("assemble");
    tcase_add_test(t, by_the_assembler);
    tcase_add_loop_test(t, by_the_driver, 0, sizeof bad / sizeof *bad);
    tcase_add_test(t, nobody);
    tcase_add_loop_test(t, found_in_path, 0, 2);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
