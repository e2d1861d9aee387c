/* t_mesh_effects.c - what a program does besides its values, on a mesh: calls happen once, of whole
 * values, and what they give is the same everywhere; in bodies that every device runs, once for
 * each. */
#include "../runtime/rt.h"
#include <pthread.h>

enum { ROWS = 8, COLUMNS = 4, N = ROWS * COLUMNS, DEVICES = 8 };

/* ---- a call: notes its number and the sum of its argument, gives argument + number ---- */

typedef struct note {
    int calls;
    double sums[64];
} note;
static note noted;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static lz_status take(const lz_ffi_call *c, void *user)
{
    const float *x = c->args[0].data;
    size_t n = c->args[0].nbytes / sizeof *x;
    double sum = 0;
    (void)user;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i];
    if (noted.calls < 64)
        noted.sums[noted.calls] = sum;
    int at = noted.calls++;
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < n && c->nrets; i++)
        ((float *)c->rets[0].data)[i] = x[i] + (float)(at + 1);
    return LZ_OK;
}

static lz_mesh *use(void)
{
    rt_use("CPU");
    setenv("CPU_NUM_DEVICES", "8", 1);
    setenv("XLA_USE_SPMD", "1", 1);
    noted = (note){0};
    OK(lz_ffi_register("take", take, NULL));
    lz_mesh *m = lz_mesh_new(NULL, (const int64_t[]){2, 4}, (const char *const[]){"a", "b"}, 2);
    ck_assert_msg(m != NULL, "%s", lz_last_error_text());
    return m;
}

static lz_tensor *input(lz_mesh *m, int cut, float *x)
{
    static const char *const cuts[][2] = {{"a", "b"}, {"b", NULL}, {NULL, "a"}, {NULL, NULL}};
    rt_fill(x, N);
    lz_tensor *t = lz_from_host(LZ_F32, LZ_SHAPE(ROWS, COLUMNS), x);
    OK(lz_mark_sharding(t, m, LZ_SPEC(cuts[cut][0], cuts[cut][1])));
    return t;
}

static lz_stablehlo *parse(const char *text)
{
    lz_stablehlo *p = lz_stablehlo_parse(text, strlen(text), "text");
    ck_assert_msg(p != NULL, "%s", lz_last_error_text());
    return p;
}

/* ---- tests ---- */

START_TEST(calls_happen_once)
{
    static const char text[] =
        "func.func @main(%x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {\n"
        "  stablehlo.custom_call @take(%x) {has_side_effect = true} : (tensor<8x4xf32>) -> ()\n"
        "  %y = stablehlo.custom_call @take(%x) {has_side_effect = true} : (tensor<8x4xf32>) -> "
        "tensor<8x4xf32>\n"
        "  %z = stablehlo.custom_call @take(%y) {has_side_effect = true} : (tensor<8x4xf32>) -> "
        "tensor<8x4xf32>\n"
        "  %s = stablehlo.add %x, %z : tensor<8x4xf32>\n"
        "  return %s, %y : tensor<8x4xf32>, tensor<8x4xf32>\n}\n";
    float x[N], got[N];
    lz_mesh *m = use();
    lz_tensor *in = input(m, _i, x), *out[2];
    lz_stablehlo *p = parse(text);
    OK(lz_stablehlo_call(p, &in, 1, out, 2));
    OK(lz_to_host(out[0], got, sizeof got));
    for (int i = 0; i < N; i++)
        ck_assert_msg(fabsf(got[i] - (2 * x[i] + 5)) < 1e-5f, "%d: %g of %g", i, got[i], x[i]);
    OK(lz_to_host(out[1], got, sizeof got));
    double sum = 0, next = 0;
    for (int i = 0; i < N; i++) {
        ck_assert_msg(got[i] == x[i] + 2, "%d: %g of %g after %d calls", i, got[i], x[i],
                      noted.calls);
        sum += x[i];
        next += got[i];
    }
    ck_assert_int_eq(noted.calls, 3);
    ck_assert(fabs(noted.sums[0] - sum) < 1e-4 && fabs(noted.sums[1] - sum) < 1e-4);
    ck_assert(fabs(noted.sums[2] - next) < 1e-4);
    lz_stablehlo_free(p);
}
END_TEST

/* In a loop and under a condition, too: as often as on one device. */
START_TEST(calls_in_regions)
{
    static const char text[] =
        "func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {\n"
        "  %n = stablehlo.constant dense<0> : tensor<i32>\n"
        "  %five = stablehlo.constant dense<5> : tensor<i32>\n"
        "  %three = stablehlo.constant dense<3> : tensor<i32>\n"
        "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
        "  %r:2 = stablehlo.while(%i = %n, %v = %x) : tensor<i32>, tensor<8x4xf32>\n"
        "  cond {\n"
        "    %c = stablehlo.compare LT, %i, %five, SIGNED : (tensor<i32>, tensor<i32>) -> "
        "tensor<i1>\n"
        "    stablehlo.return %c : tensor<i1>\n"
        "  } do {\n"
        "    %j = stablehlo.add %i, %one : tensor<i32>\n"
        "    %w = stablehlo.add %v, %v : tensor<8x4xf32>\n"
        "    %c = stablehlo.compare LT, %i, %three, SIGNED : (tensor<i32>, tensor<i32>) -> "
        "tensor<i1>\n"
        "    %u = \"stablehlo.if\"(%c) ({\n"
        "      %t = stablehlo.custom_call @take(%w) {has_side_effect = true} : (tensor<8x4xf32>) "
        "-> tensor<8x4xf32>\n"
        "      stablehlo.return %t : tensor<8x4xf32>\n"
        "    }, {\n"
        "      stablehlo.return %w : tensor<8x4xf32>\n"
        "    }) : (tensor<i1>) -> tensor<8x4xf32>\n"
        "    stablehlo.return %j, %u : tensor<i32>, tensor<8x4xf32>\n"
        "  }\n"
        "  return %r#1 : tensor<8x4xf32>\n}\n";
    float x[N], got[N];
    lz_mesh *m = use();
    lz_tensor *in = input(m, _i, x), *out;
    lz_stablehlo *p = parse(text);
    OK(lz_stablehlo_call(p, &in, 1, &out, 1));
    OK(lz_to_host(out, got, sizeof got));
    ck_assert_int_eq(noted.calls, 3);
    for (int i = 0; i < N; i++) {
        float want = (((x[i] * 2 + 1) * 2 + 2) * 2 + 3) * 4;
        ck_assert_msg(fabsf(got[i] - want) < 1e-4f, "%d: %g, not %g", i, got[i], want);
    }
    lz_stablehlo_free(p);
}
END_TEST

static void body(lz_tensor *const *in, lz_tensor **out, void *user)
{
    out[0] = lz_stablehlo_call(user, (lz_tensor *[]){in[0]}, 1, out, 1) == LZ_OK ? out[0] : NULL;
}

/* Each device runs the body of its part. */
START_TEST(bodies_of_every_device)
{
    static const char text[] =
        "func.func @main(%x: tensor<4x1xf32>) -> tensor<4x1xf32> {\n"
        "  stablehlo.custom_call @take(%x) {has_side_effect = true} : (tensor<4x1xf32>) -> ()\n"
        "  return %x : tensor<4x1xf32>\n}\n";
    float x[N], got[N];
    lz_mesh *m = use();
    lz_tensor *in = input(m, 3, x), *y;
    lz_stablehlo *p = parse(text);
    lz_partition_spec spec = LZ_SPEC("a", "b");
    OK(lz_manual(body, m, &in, &spec, 1, &spec, 1, p, &y));
    OK(lz_to_host(y, got, sizeof got));
    ck_assert(memcmp(got, x, sizeof x) == 0);
    ck_assert_int_eq(noted.calls, DEVICES);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++) { /* in whatever order */
            double sum = 0, least = 1;
            for (int r = 0; r < 4; r++)
                sum += x[(4 * i + r) * COLUMNS + j];
            for (int k = 0; k < DEVICES; k++)
                least = fmin(least, fabs(noted.sums[k] - sum));
            ck_assert_msg(least < 1e-5, "the part (%d, %d) was not seen", i, j);
        }
    lz_stablehlo_free(p);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("effects on a mesh");
    TCase *t = tcase_create("effects on a mesh");
    tcase_add_loop_test(t, calls_happen_once, 0, 4);
    tcase_add_loop_test(t, calls_in_regions, 0, 4);
    tcase_add_test(t, bodies_of_every_device);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
