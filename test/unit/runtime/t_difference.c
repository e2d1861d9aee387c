/* t_difference.c - why a graph compiled: pairs of graphs that differ in one way each, what is said
 * of it, and the lines of both. */
#include "rt.h"
#include <jansson.h>

static char file[128];

typedef struct pair {
    const char *kind;
    int (*graph)(bool second); /* gives its line */
    const char *text;          /* within what is said */
    const char *device;
} pair;

static lz_tensor *x, *y; /* f32[4,4] */

#define AT(...) (__VA_ARGS__, __LINE__)

/* Kept, so that the step computes it. */
static void keep(lz_tensor *t)
{
    OK(lz_status_of(t));
    ck_assert_ptr_nonnull(lz_retain(t));
}

static void keep_in_x(lz_tensor *t)
{
    OK(lz_assign(x, t));
}

static int operation(bool second)
{
    if (second)
        return AT(keep(lz_tanh(x)));
    return AT(keep(lz_exp(x)));
}

static int operand(bool second)
{
    if (second)
        return AT(keep(lz_add(x, x)));
    return AT(keep(lz_add(x, y)));
}

static int operands(bool second)
{
    if (second)
        return AT(keep(lz_cat((lz_tensor *[]){x, y, x}, 3, 0)));
    return AT(keep(lz_cat((lz_tensor *[]){x, y}, 2, 0)));
}

static int attribute(bool second)
{
    if (second)
        return AT(keep(lz_slice(x, 0, 1, 3, 1)));
    return AT(keep(lz_slice(x, 0, 0, 2, 1)));
}

static int shape(bool second)
{
    static float v[5];
    if (second) {
        lz_tensor *t = lz_from_host(LZ_F32, LZ_SHAPE(5), v);
        return AT(keep(lz_exp(t)));
    }
    lz_tensor *t = lz_from_host(LZ_F32, LZ_SHAPE(4), v);
    return AT(keep(lz_exp(t)));
}

static int dtype(bool second)
{
    static double v[4];
    if (second) {
        lz_tensor *t = lz_from_host(LZ_F64, LZ_SHAPE(4), v);
        return AT(keep(lz_exp(t)));
    }
    lz_tensor *t = lz_from_host(LZ_F32, LZ_SHAPE(4), (float *)v);
    return AT(keep(lz_exp(t)));
}

static int constant(bool second)
{
    if (second)
        return AT(keep(lz_zeros(LZ_F32, LZ_SHAPE(3))));
    return AT(keep(lz_ones(LZ_F32, LZ_SHAPE(3))));
}

static int connection(bool second)
{
    lz_tensor *s = lz_add(x, y);
    if (second)
        return AT(keep(lz_mul(s, y)));
    return AT(keep(lz_mul(s, x)));
}

static int results(bool second)
{
    if (second) {
        lz_tensor *e = lz_exp(x);
        int line = AT(keep(e)) - 1;
        keep(lz_neg(e));
        return line;
    }
    lz_tensor *e = lz_exp(x);
    int line = __LINE__ - 1;
    keep(lz_neg(e));
    return line;
}

static int donation(bool second)
{
    if (second)
        return AT(keep_in_x(lz_add(x, y)));
    return AT(keep(lz_add(x, y)));
}

static int options(bool second)
{
    if (second) {
        static float v[4];
        OK(lz_set_device("CPU:1"));
        lz_tensor *t = lz_from_host(LZ_F32, LZ_SHAPE(4), v);
        return AT(keep(lz_exp(t)));
    }
    lz_tensor *t = lz_from_host(LZ_F32, LZ_SHAPE(4), (float[4]){0});
    return AT(keep(lz_exp(t)));
}

static const pair pairs[] = {
    {"operation", operation, "tanh at", "REF"},
    {"operand", operand, "operand 1 is parameter", "REF"},
    {"operand", operands, "3 operands, was 2", "REF"},
    {"attribute", attribute, ", was ", "REF"},
    {"shape", shape, "operand 0 is f32[5], was f32[4]", "REF"},
    {"dtype", dtype, "operand 0 is f64[4], was f32[4]", "REF"},
    {"constant", constant, "is 0., was 1.", "REF"},
    {"connection", connection, "operand 1 is parameter", "REF"},
    {"results", results, "is a result, was none", "REF"},
    {"donation", donation, "is donated, was not", "REF"},
    {"options", options, "is compiled for CPU:1, was for CPU:0", "CPU"},
};

/* The difference of the last compilation. */
static json_t *last_difference(void)
{
    char line[1 << 16];
    json_t *last = NULL;
    FILE *f = fopen(file, "r");
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof line, f)) {
        json_t *e = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        ck_assert_msg(e != NULL, "%s", line);
        json_t *d = json_object_get(e, "difference");
        if (d) {
            json_decref(last);
            last = json_incref(d);
        }
        json_decref(e);
    }
    fclose(f);
    ck_assert_ptr_nonnull(last);
    return last;
}

static const char *text_of(const json_t *j, const char *key)
{
    const char *s = json_string_value(json_object_get(j, key));
    return s ? s : "";
}

/* Its line is told, in the text and as a place. */
static void check_line(const json_t *d, const char *key, int line)
{
    char at[80];
    const json_t *site = json_object_get(d, key);
    snprintf(at, sizeof at, "t_difference.c:%d", line);
    ck_assert_msg(strstr(text_of(d, "text"), at) != NULL, "%s lacks %s", text_of(d, "text"), at);
    ck_assert_int_eq(json_integer_value(json_object_get(site, "line")), line);
}

START_TEST(one_way)
{
    const pair *p = &pairs[_i];
    int line[2];
    static float v[16];
    setenv("PJRT_DEVICE", p->device, 1);
    setenv("CPU_NUM_DEVICES", "2", 1);
    setenv("PT_XLA_DEBUG_FILE", file, 1);
    x = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(4, 4), v));
    y = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(4, 4), v));
    for (int second = 0; second < 2; second++) {
        OK(lz_scope_begin());
        line[second] = p->graph(second);
        OK(lz_mark_step());
        OK(lz_scope_end());
        json_t *d = last_difference();
        if (!second)
            ck_assert_str_eq(text_of(d, "kind"), "first");
        json_decref(d);
    }
    json_t *d = last_difference();
    ck_assert_msg(strcmp(text_of(d, "kind"), p->kind) == 0, "%s, not %s: %s", text_of(d, "kind"),
                  p->kind, text_of(d, "text"));
    ck_assert_msg(strstr(text_of(d, "text"), p->text) != NULL, "%s", text_of(d, "text"));
    check_line(d, "is", line[1]);
    check_line(d, "was", line[0]);
    json_decref(d);
    unlink(file);
}
END_TEST

/* A program that memory has dropped differs in nothing. */
START_TEST(nothing)
{
    static float v[16];
    setenv("PT_XLA_DEBUG_FILE", file, 1);
    setenv("XLA_COMPILATION_CACHE_SIZE", "1", 1);
    x = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(4, 4), v));
    for (int i = 0; i < 3; i++) {
        keep(i == 1 ? lz_exp(x) : lz_neg(x));
        OK(lz_mark_step());
    }
    json_t *d = last_difference();
    ck_assert_str_eq(text_of(d, "kind"), "operation"); /* of the one that is there */
    json_decref(d);
    unlink(file);
}
END_TEST

int main(void)
{
    rt_use("REF");
    snprintf(file, sizeof file, "/tmp/lz-difference-%d.jsonl", (int)getpid());
    Suite *s = suite_create("difference");
    TCase *t = tcase_create("difference");
    tcase_add_loop_test(t, one_way, 0, sizeof pairs / sizeof *pairs);
    tcase_add_test(t, nothing);
    suite_add_tcase(s, t);
    int failed = lz_run_suite(s);
    unlink(file);
    return failed;
}
