/* t_config.c - every row of config.def: default, environment, bad values, bounds; unknown names. */
#include "base/config.h"
#include "base/log.h"
#include "suite.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { B, I, S };
static const struct {
    lz_opt id;
    const char *env, *doc;
    int type;
    int64_t def, min, max;
    const char *sdef;
} rows[] = {
#define LZ_OPT_BOOL(id, env, def, doc) {LZ_OPT_##id, env, doc, B, def, 0, 1, ""},
#define LZ_OPT_INT(id, env, def, min, max, doc) {LZ_OPT_##id, env, doc, I, def, min, max, ""},
#define LZ_OPT_STR(id, env, def, doc) {LZ_OPT_##id, env, doc, S, 0, 0, 0, def},
#include "base/config.def"
#undef LZ_OPT_BOOL
#undef LZ_OPT_INT
#undef LZ_OPT_STR
};
enum { NUM_ROWS = sizeof rows / sizeof rows[0] };

static const struct {
    lz_opt id;
    const char *env;
} former[] = {
#define LZ_OPT_BOOL(id, env, def, doc)
#define LZ_OPT_INT(id, env, def, min, max, doc)
#define LZ_OPT_STR(id, env, def, doc)
#define LZ_OPT_WAS(id, old) {LZ_OPT_##id, old},
#include "base/config.def"
#undef LZ_OPT_BOOL
#undef LZ_OPT_INT
#undef LZ_OPT_STR
};
enum { NUM_FORMER = sizeof former / sizeof former[0] };

static char logged[8192];
static int num_logged;
static void collect(lz_log_level level, const char *module, const char *message, void *user)
{
    (void)level, (void)module, (void)user;
    size_t n = strlen(logged);
    snprintf(logged + n, sizeof logged - n, "%s\n", message);
    num_logged++;
}

static void clean_environment(void)
{
    for (int i = 0; i < NUM_ROWS; i++)
        unsetenv(rows[i].env);
    lz_log_set_callback(collect, NULL);
}

static bool is_default(int i)
{
    if (lz_cfg_is_set(rows[i].id))
        return false;
    return rows[i].type == B   ? lz_cfg_bool(rows[i].id) == (rows[i].def != 0)
           : rows[i].type == I ? lz_cfg_int(rows[i].id) == rows[i].def
                               : strcmp(lz_cfg_str(rows[i].id), rows[i].sdef) == 0;
}

START_TEST(row_default_and_table)
{
    const char *env, *type, *def, *doc;
    ck_assert(is_default(_i));
    ck_assert(rows[_i].type == S || (rows[_i].def >= rows[_i].min && rows[_i].def <= rows[_i].max));
    ck_assert(lz_config_row(_i, &env, &type, &def, &doc));
    ck_assert_str_eq(env, rows[_i].env);
    ck_assert_str_eq(doc, rows[_i].doc);
    ck_assert_str_eq(type, rows[_i].type == B ? "bool" : rows[_i].type == I ? "int" : "string");
    for (int j = 0; j < _i; j++)
        ck_assert_str_ne(rows[j].env, rows[_i].env);
}
END_TEST

START_TEST(row_from_environment)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, rows[_i].max);
    const char *s = _i == LZ_OPT_LOG                   ? "info"
                    : _i == LZ_OPT_METRICS_PERCENTILES ? "0.5:1e-3"
                    : _i == LZ_OPT_EXEC                ? "loop"
                    : _i == LZ_OPT_COLLECTIVES         ? "fast"
                                                       : "some:value,with=signs";
    setenv(rows[_i].env, rows[_i].type == S ? s : text, 1);
    ck_assert(lz_cfg_is_set(rows[_i].id));
    if (rows[_i].type == B)
        ck_assert(lz_cfg_bool(rows[_i].id));
    else if (rows[_i].type == I)
        ck_assert_int_eq(lz_cfg_int(rows[_i].id), rows[_i].max);
    else
        ck_assert_str_eq(lz_cfg_str(rows[_i].id), s);
    setenv(rows[_i].env, "1", 1); /* read once: later changes do not count */
    if (rows[_i].type == S)
        ck_assert_str_eq(lz_cfg_str(rows[_i].id), s);
    for (int j = 0; j < NUM_ROWS; j++)
        ck_assert(j == _i || is_default(j));
    ck_assert_int_eq(num_logged, 0);
}
END_TEST

START_TEST(row_empty_is_unset)
{
    setenv(rows[_i].env, "", 1);
    ck_assert(is_default(_i));
    ck_assert_int_eq(num_logged, 0);
}
END_TEST

START_TEST(row_bad_values)
{
    static const char *const bad[] = {"x",         "1x", "0x10", "1.5", "-", "99999999999999999999",
                                      "true false"};
    if (rows[_i].type == S)
        return;
    setenv(rows[_i].env, "nonsense", 1);
    ck_assert(is_default(_i));
    ck_assert_int_eq(num_logged, 1); /* told once, with name and value */
    ck_assert_ptr_nonnull(strstr(logged, rows[_i].env));
    ck_assert_ptr_nonnull(strstr(logged, "nonsense"));
    ck_assert(is_default(_i));
    ck_assert_int_eq(num_logged, 1);
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        ck_assert_int_eq(lz_config_set(rows[_i].env, bad[k]), LZ_EINVAL);
        ck_assert_ptr_nonnull(strstr(lz_error_get()->message, rows[_i].env));
        ck_assert(is_default(_i));
    }
    if (rows[_i].type != I)
        return;
    char text[32];
    for (int side = 0; side < 2; side++) {
        snprintf(text, sizeof text, "%" PRId64, side ? rows[_i].max + 1 : rows[_i].min - 1);
        ck_assert_int_eq(lz_config_set(rows[_i].env, text), LZ_ERANGE);
        ck_assert(is_default(_i));
        snprintf(text, sizeof text, " %" PRId64 " ", side ? rows[_i].max : rows[_i].min);
        ck_assert_int_eq(lz_config_set(rows[_i].env, text), LZ_OK);
        ck_assert_int_eq(lz_cfg_int(rows[_i].id), side ? rows[_i].max : rows[_i].min);
        ck_assert_int_eq(lz_config_set(rows[_i].env, NULL), LZ_OK);
    }
}
END_TEST

START_TEST(bool_words)
{
    static const char *const yes[] = {"true", "TRUE", "on", "On", "yes", "1", "2", "-1"};
    static const char *const no[] = {"false", "False", "off", "OFF", "no", "0", "00"};
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
        ck_assert_int_eq(lz_config_set("LAZULI_CACHE", yes[i]), LZ_OK);
        ck_assert_msg(lz_cfg_bool(LZ_OPT_CACHE), "%s", yes[i]);
    }
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        ck_assert_int_eq(lz_config_set("LAZULI_CACHE", no[i]), LZ_OK);
        ck_assert_msg(!lz_cfg_bool(LZ_OPT_CACHE), "%s", no[i]);
    }
}
END_TEST

START_TEST(percentiles)
{
    static const char *const good[] = {"0.5", "0.01:0.99", ".5", "5e-1:0x1p-4", ""};
    static const char *const bad[] = {"x",   "0.5x", "0,5",  "0.5:", ":0.5", "0.5::0.6",  "0",
                                      "1.0", "nan",  "-0.5", "0.5 ", " 0.5", "0.5:0.5:1e"};
    const char *name = "XLA_METRICS_PERCENTILES";
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ck_assert_msg(lz_config_set(name, good[i]) == LZ_OK, "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(lz_config_set(name, bad[i]) == LZ_EINVAL, "%s", bad[i]);
    ck_assert_str_eq(lz_cfg_str(LZ_OPT_METRICS_PERCENTILES), "");
}
END_TEST

START_TEST(strings_live_on)
{
    ck_assert_int_eq(lz_config_set("LAZULI_DUMP_DIR", "first"), LZ_OK);
    const char *first = lz_cfg_str(LZ_OPT_DUMP_DIR);
    ck_assert_int_eq(lz_config_set("LAZULI_DUMP_DIR", "second"), LZ_OK);
    ck_assert_str_eq(lz_cfg_str(LZ_OPT_DUMP_DIR), "second");
    ck_assert_str_eq(first, "first");
    for (int i = 0; i < 100000; i++) /* equal strings take no more room */
        ck_assert_int_eq(lz_config_set("LAZULI_DUMP_DIR", i & 1 ? "first" : "second"), LZ_OK);
    char text[4000];
    lz_status s = LZ_OK;
    for (int i = 0; i < 100 && s == LZ_OK;
         i++) { /* different ones end in an error, not in a crash */
        snprintf(text, sizeof text, "%03990d", i);
        s = lz_config_set("LAZULI_DUMP_DIR", text);
    }
    ck_assert_int_eq(s, LZ_EMEM);
    ck_assert_str_eq(first, "first");
    ck_assert_uint_eq(strlen(lz_cfg_str(LZ_OPT_DUMP_DIR)), 3990);
}
END_TEST

START_TEST(unknown_names)
{
    ck_assert_int_eq(lz_config_set(NULL, "x"), LZ_ENULL);
    ck_assert_int_eq(lz_config_set("LAZULI_DUMPDIR", "x"), LZ_ENOENT);
    ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "LAZULI_DUMP_DIR?"));
    ck_assert_int_eq(lz_config_set("", "x"), LZ_ENOENT);
    setenv("LAZULI_NUM_THREAD", "3", 1);
    setenv("LAZULI_QQQQQQQQQQQQQQQQQQQQ", "3", 1);
    setenv("LAZULI_LOG", "warn", 1);
    setenv("OTHER_LAZULI_X", "3", 1);
    char longname[300] = "LAZULI_";
    memset(longname + 7, 'L', sizeof longname - 8);
    longname[sizeof longname - 1] = '\0';
    setenv(longname, "1", 1);
    lz_config_check_unknown();
    lz_config_check_unknown();
    ck_assert_int_eq(num_logged, 3);
    ck_assert_ptr_nonnull(
        strstr(logged, "LAZULI_NUM_THREAD is ignored; did you mean LAZULI_NUM_THREADS?\n"));
    ck_assert_ptr_nonnull(strstr(logged, "LAZULI_QQQQQQQQQQQQQQQQQQQQ is ignored\n"));
}
END_TEST

static const char *env_of(lz_opt o)
{
    int i = 0;
    while (rows[i].id != o)
        i++;
    return rows[i].env;
}

START_TEST(former_name_works_and_warns_once)
{
    lz_opt o = former[_i].id;
    char message[256];
    setenv(former[_i].env, "1", 1);
    ck_assert(lz_cfg_is_set(o));
    lz_config_check_unknown();
    ck_assert_int_eq(num_logged, 1);
    snprintf(message, sizeof message, "%s is now %s\n", former[_i].env, env_of(o));
    ck_assert_str_eq(logged, message);
    ck_assert_int_eq(lz_config_set(former[_i].env, NULL), LZ_OK);
    ck_assert(!lz_cfg_is_set(o));
}
END_TEST

/* The present name wins. */
START_TEST(former_and_present_name)
{
    setenv("LAZULI_FORMS", "old", 1);
    setenv("LAZULI_VARIANTS", "new", 1);
    ck_assert_str_eq(lz_cfg_str(LZ_OPT_VARIANTS), "new");
    ck_assert_int_eq(num_logged, 1);
}
END_TEST

START_TEST(rows_end)
{
    ck_assert(!lz_config_row(-1, NULL, NULL, NULL, NULL));
    ck_assert(!lz_config_row(NUM_ROWS, NULL, NULL, NULL, NULL));
    ck_assert(lz_config_row(NUM_ROWS - 1, NULL, NULL, NULL, NULL));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("config");
    TCase *t = tcase_create("config");
    tcase_add_checked_fixture(t, clean_environment, NULL);
    tcase_add_loop_test(t, row_default_and_table, 0, NUM_ROWS);
    tcase_add_loop_test(t, row_from_environment, 0, NUM_ROWS);
    tcase_add_loop_test(t, row_empty_is_unset, 0, NUM_ROWS);
    tcase_add_loop_test(t, row_bad_values, 0, NUM_ROWS);
    tcase_add_test(t, bool_words);
    tcase_add_test(t, percentiles);
    tcase_add_test(t, strings_live_on);
    tcase_add_test(t, unknown_names);
    tcase_add_loop_test(t, former_name_works_and_warns_once, 0, NUM_FORMER);
    tcase_add_test(t, former_and_present_name);
    tcase_add_test(t, rows_end);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
