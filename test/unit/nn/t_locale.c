/* t_locale.c - the same program under locales with a decimal comma, letters beyond ASCII and a
 * Turkish i: every text that the library reads or writes is what it is under C. */
#include "base/config.h"
#include "locales.h"
#include "suite.h"
#include <lazuli/lazuli.h>
#include <stdio.h>
#include <string.h>

#define OK(call) ck_assert_msg((call) == LZ_OK, "%s", lz_last_error_text())

static char path[300];

static const char *file(const char *name)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/%s", tmp ? tmp : "/tmp", name);
    return path;
}

/* The files and texts of one pass over everything, one after the other. */
typedef struct texts {
    char *data;
    size_t n;
} texts;

static void add(texts *t, const void *p, size_t n)
{
    t->data = realloc(t->data, t->n + n + 1);
    memcpy(t->data + t->n, p, n);
    t->n += n;
    t->data[t->n] = '\0';
}

static void add_text(texts *t, const char *s)
{
    add(t, s, strlen(s));
    add(t, "\n", 1);
}

static void add_file(texts *t)
{
    static char bytes[1 << 20];
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    size_t n = fread(bytes, 1, sizeof bytes, f);
    add(t, bytes, n);
    fclose(f);
}

static void checkpoints(texts *t)
{
    lz_params ps = {0};
    const float w[2] = {0.5f, -1.25f};
    OK(lz_params_add(&ps, "w.\xc3\xa4", lz_from_host(LZ_F32, LZ_SHAPE(2), w)));
    lz_optim *o = lz_sgd(&ps, .lr = 0.1, .momentum = 0.9);
    lz_checkpoint c = {.struct_size = sizeof c, .params = &ps, .optim = o, .step = 1234567};
    OK(lz_manual_seed(987654321));
    OK(lz_checkpoint_save(file("c.safetensors"), &c));
    add_file(t);
    OK(lz_optim_set_lr(o, 7));
    c.step = 0;
    OK(lz_checkpoint_load(path, &c));
    ck_assert(lz_optim_lr(o) == 0.1 && c.step == 1234567);
    lz_optim_free(o);
    lz_params_free(&ps);
}

static void arrays(texts *t)
{
    static const char csv[] = "1.5,-2.25\n1e-3,.5\n";
    const double want[] = {1.5, -2.25, 1e-3, 0.5};
    lz_array a;
    FILE *f = fopen(file("a.csv"), "w");
    ck_assert(f && fputs(csv, f) >= 0 && fclose(f) == 0);
    OK(lz_csv_read(path, &a, .dtype = LZ_F64));
    ck_assert(a.nbytes == sizeof want && memcmp(a.data, want, sizeof want) == 0);
    const char *const names[] = {"x"};
    OK(lz_npy_write(file("a.npy"), &a));
    add_file(t);
    OK(lz_npz_write(file("a.npz"), names, &a, 1, true));
    add_file(t);
    lz_array_free(&a);
    OK(lz_npy_read(file("a.npy"), &a));
    ck_assert(memcmp(a.data, want, sizeof want) == 0);
    lz_array_free(&a);
    f = fopen(file("b.csv"), "w");
    ck_assert(f && fputs("1,5;2,5\n", f) >= 0 && fclose(f) == 0);
    ck_assert_int_eq(lz_csv_read(path, &a, .delimiter = ';'), LZ_EPARSE);
    add_text(t, strstr(lz_last_error_text(), "\"1,5\""));
}

static void stablehlo(texts *t)
{
    static const char text[] =
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
        "  %c = stablehlo.constant dense<[1.500000e+00, 0.1]> : tensor<2xf32>\n"
        "  %y = stablehlo.add %x, %c : tensor<2xf32>\n"
        "  return %y : tensor<2xf32>\n}\n";
    float out[2], in[2] = {1, 2};
    static char printed[1 << 16];
    lz_stablehlo *p = lz_stablehlo_parse(text, strlen(text), "t");
    ck_assert_msg(p != NULL, "%s", lz_last_error_text());
    lz_scope_begin();
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(2), in), *y;
    OK(lz_stablehlo_call(p, &x, 1, &y, 1));
    y = lz_mul_scalar(y, 0.3); /* a constant of the graph */
    ck_assert_uint_gt(lz_dump_graph(&y, 1, "stablehlo", printed, sizeof printed), 0);
    add_text(t, printed);
    OK(lz_to_host(y, out, sizeof out));
    ck_assert(out[0] == 2.5f * 0.3f && out[1] == 2.1f * 0.3f);
    lz_scope_end();
    lz_stablehlo_free(p);
}

static void messages(texts *t)
{
    lz_tensor *e = lz_uniform(LZ_F32, LZ_SHAPE(2), 2.5, 1.5);
    ck_assert_int_eq(lz_status_of(e), LZ_EINVAL);
    lz_error_info info;
    lz_last_error(&info);
    add_text(t, info.message);
    ck_assert_ptr_nonnull(strstr(info.message, "from 2.5 to 1.5"));
}

static void options(texts *t)
{
    static const char *const logs[] = {"INFO", "Info", "info", "ERROR", "warn"};
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++)
        ck_assert_msg(lz_config_set("LAZULI_LOG", logs[i]) == LZ_OK, "%s", logs[i]);
    static const char *const words[] = {"TRUE", "oN", "false", "OFF", "no", "1"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        ck_assert_msg(lz_config_set("LAZULI_CACHE", words[i]) == LZ_OK, "%s", words[i]);
    ck_assert_int_eq(lz_config_set("LAZULI_NUM_THREADS", "1.000"), LZ_EINVAL);
    OK(lz_config_set("XLA_METRICS_PERCENTILES", "0.25:0.5"));
    ck_assert_int_eq(lz_config_set("XLA_METRICS_PERCENTILES", "0,25"), LZ_EINVAL);
    OK(lz_config_set("LAZULI_LOG", NULL));
    char kind[200];
    ck_assert_uint_gt(lz_device_kind("cpu:0", kind, sizeof kind), 0);
    ck_assert_uint_eq(lz_device_kind("cpu:0,5", kind, sizeof kind), 0);
    ck_assert_uint_gt(lz_device_kind("Cpu", kind, sizeof kind), 0);
    add_text(t, kind);
}

/* Times differ from run to run, so the report is only looked through. */
static void reports(void)
{
    static char report[1 << 16];
    ck_assert_uint_gt(lz_metrics_report(report, sizeof report), 0);
    const char *p = strstr(report, "Percentiles: 25%=");
    ck_assert_msg(p != NULL, "%s", report);
    for (const char *c = report; *c; c++)
        ck_assert_msg(*c != ',' || !(c > report && c[-1] >= '0' && c[-1] <= '9' && c[1] >= '0' &&
                                     c[1] <= '9'),
                      "%.40s", c > report + 10 ? c - 10 : report);
}

static void everything(texts *t)
{
    options(t);
    checkpoints(t);
    arrays(t);
    stablehlo(t);
    messages(t);
    reports();
}

START_TEST(every_text)
{
    ck_assert(lz_test_set_locale(_i));
    texts here = {0}, plain = {0};
    everything(&here);
    ck_assert_ptr_nonnull(setlocale(LC_ALL, "C"));
    everything(&plain);
    ck_assert_uint_eq(here.n, plain.n);
    ck_assert(memcmp(here.data, plain.data, plain.n) == 0);
    free(here.data);
    free(plain.data);
}
END_TEST

int main(void)
{
    int have = lz_test_make_locales();
    Suite *s = suite_create("locale");
    TCase *t = tcase_create("locale");
    tcase_add_loop_test(t, every_text, 0, have);
    suite_add_tcase(s, t);
    int rc = lz_run_suite(s);
    lz_test_remove_locales();
    return have ? rc : 77; /* skipped */
}
