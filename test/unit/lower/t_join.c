/* t_join.c - loops that are joined, with memory that runs out at every point. What is joined: test/ir/join. */
#include "passtest.h"
#include <stdio.h>
#include <string.h>

static lz_func *golden(const char *name)
{
    static char text[1 << 14];
    char path[128];
    snprintf(path, sizeof path, "test/ir/join/%s.mlir", name);
    FILE *f = fopen(path, "r");
    ck_assert_msg(f != NULL, "%s", path);
    size_t n = fread(text, 1, sizeof text, f);
    fclose(f);
    lz_func *out;
    ck_assert_msg(lz_func_parse(text, n, name, &out) == LZ_OK, "%s", lz_error_get()->message);
    return out;
}

START_TEST(failing_memory)
{
    static const char *const names[] = {"loops", "part", "apart"};
    lz_check_failing_memory(golden(names[_i]), "prune,join");
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
