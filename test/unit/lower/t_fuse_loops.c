/* t_fuse_loops.c - loops that are fused, with memory that runs out at every point. What is joined:
 * test/ir/fuse_loops. */
#include "passtest.h"
#include "support/lit.h"
#include <stdio.h>

START_TEST(failing_memory)
{
    static const char *const names[] = {"loops", "part", "apart"};
    char path[128];
    snprintf(path, sizeof path, "test/ir/fuse_loops/%s.mlir", names[_i]);
    lz_func *f = lz_test_program(path);
    ck_assert_msg(f != NULL, "%s", lz_error_get()->message);
    lz_check_failing_memory(f, "dce,fuse_loops");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("join");
    TCase *t = tcase_create("join");
    tcase_add_loop_test(t, failing_memory, 0, 3);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
