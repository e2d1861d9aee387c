/* t_host_isa.c - which instances of the routines in C are used: LAZULI_CPU leaves fewer, never more
 * than the processor has. */
#include "base/config.h"
#include "base/host_isa.h"
#include "suite.h"

static const struct {
    const char *cpu;
    int most;
} levels[] = {{NULL, 9},        {"", 9},          {"native", 9},  {"x86-64-v2", 0},
              {"x86-64-v3", 1}, {"x86-64-v4", 2}, {"pentium", 9}, {"x86-64-v1", 9}};
enum { NLEVEL = sizeof levels / sizeof *levels };

START_TEST(level)
{
    int last = lz_host_isas() - 1, most = levels[_i].most;
    ck_assert_int_eq(lz_config_set("LAZULI_CPU", levels[_i].cpu), LZ_OK);
    ck_assert_int_eq(lz_host_isa(), most < last ? most : last);
    lz_host_use_isa(last); /* a test's choice */
    ck_assert_int_eq(lz_host_isa(), last);
    lz_host_use_isa(-1);
    ck_assert_int_eq(lz_host_isa(), most < last ? most : last);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("host isa");
    TCase *t = tcase_create("levels");
    tcase_add_loop_test(t, level, 0, NLEVEL);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
