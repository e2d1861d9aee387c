/* t_cuda_libs.c - matrix products by cuBLASLt (LAZULI_CUDA_LIBS) through the device interface, on
 * libraries that stand in for it and for the driver: which products it makes and whether they are
 * right, what happens when it is not there, refuses or fails, graphs and loops, and that nothing of
 * it is kept. Each test has a process of its own. */
#include "cuda_util.h"
#include "base/log.h"
#include "support/gen.h"
#include "test/mock/cublaslt_mock.h"

static struct {
    void (*refuse)(int);
    void (*stats)(lz_lt_mock_stats *);
} lib;

/* On: products may be calls of this library, by default the one that stands in. */
static void use_libs(const char *path)
{
    use_mock();
    void *h = lz_mock_open(lz_mock_lt_path());
    *(void **)&lib.refuse = dlsym(h, "lzLtMockRefuse");
    *(void **)&lib.stats = dlsym(h, "lzLtMockGetStats");
    OK(lz_config_set("LAZULI_CUDA_LIBS", "1"));
    OK(lz_config_set("LAZULI_CUDA_CUBLASLT", path ? path : lz_mock_lt_path()));
}

static lz_lt_mock_stats lib_stats(void)
{
    lz_lt_mock_stats s;
    lib.stats(&s);
    ck_assert_uint_eq(s.wrong, 0);
    return s;
}

static uint64_t launches(void)
{
    lz_mock_stats s;
    mock.stats(&s);
    return s.launches;
}

/* ---- products ---- */

typedef enum epilogue {
    NOTHING,
    BIAS,
    BIAS_OF_ROWS,
    TURNED /* the result is stored [n, m] */,
    RELU
} epilogue;

typedef struct product {
    const char *in, *out; /* types of the factors, of the result */
    int batch, m, n, k;
    bool ta, tb; /* the left factor is stored [k, m]; the right one [n, k] */
    epilogue after;
    bool taken; /* it is made by the library */
} product;

static const product products[] = {
    {"f32", "f32", 0, 24, 40, 32, false, false, NOTHING, true},
    {"f32", "f32", 0, 33, 17, 21, true, false, NOTHING, true},
    {"f32", "f32", 0, 12, 50, 9, false, true, NOTHING, true},
    {"f32", "f32", 0, 65, 10, 70, true, true, NOTHING, true},
    {"f32", "f32", 3, 24, 40, 32, false, true, NOTHING, true},
    {"f32", "f32", 5, 11, 13, 7, true, false, NOTHING, true},
    {"f32", "f32", 0, 24, 40, 32, false, false, BIAS, true},
    {"f32", "f32", 3, 24, 40, 32, false, false, BIAS, true},
    {"f32", "f32", 0, 24, 40, 32, false, false, BIAS_OF_ROWS, false},
    {"f32", "f32", 0, 24, 40, 32, false, false, RELU, false},
    {"f32", "f32", 0, 24, 40, 32, false, false, TURNED, true},
    {"f32", "f32", 0, 24, 40, 32, true, true, TURNED, true},
    {"bf16", "bf16", 0, 24, 40, 32, false, false, NOTHING, true},
    {"bf16", "bf16", 0, 37, 19, 23, true, true, NOTHING, true},
    {"bf16", "f32", 2, 24, 40, 32, false, true, NOTHING, true},
    {"bf16", "f32", 0, 24, 40, 32, false, false, BIAS, true},
    {"bf16", "bf16", 0, 24, 40, 32, false, false, BIAS, false}, /* rounded twice */
    {"f16", "f16", 0, 24, 40, 32, true, false, NOTHING, true},
    {"f16", "f32", 2, 31, 33, 35, false, false, NOTHING, true},
    {"f64", "f64", 0, 24, 40, 32, false, false, NOTHING, true},
    {"f64", "f64", 2, 13, 15, 17, true, true, NOTHING, true},
    {"f64", "f64", 0, 24, 40, 32, false, false, BIAS, false}, /* the library refuses */
    {"i8", "i32", 0, 24, 40, 32, false, true, NOTHING, true},
    {"i8", "i32", 3, 24, 40, 32, false, true, NOTHING, true},
    {"i8", "i32", 0, 24, 40, 32, false, false, NOTHING, false}, /* the library refuses */
    {"i8", "i32", 0, 24, 40, 33, false, true, NOTHING, false},
    {"ui8", "i32", 0, 24, 40, 32, false, true, NOTHING, false},
    {"i32", "i32", 0, 24, 40, 32, false, false, NOTHING, false},
    {"f32", "f32", 0, 24, 40, 0, false, false, NOTHING, false}, /* sums of nothing */
    {"f32", "f32", 0, 0, 40, 32, false, false, NOTHING, false},
    {"f32", "f32", 0, 24, 40, 2, false, false, NOTHING, true},
    {"bf16", "f32", 0, 130, 72, 50, false, true, NOTHING, true},
};
enum { PRODUCTS = sizeof products / sizeof *products };

static void type(lz_buf *b, const product *p, int rows, int columns, const char *elem)
{
    lz_buf_puts(b, "tensor<");
    if (p->batch)
        lz_buf_printf(b, "%dx", p->batch);
    lz_buf_printf(b, "%dx%dx%s>", rows, columns, elem);
}

static void left(lz_buf *b, const product *p)
{
    type(b, p, p->ta ? p->k : p->m, p->ta ? p->m : p->k, p->in);
}

static void right(lz_buf *b, const product *p)
{
    type(b, p, p->tb ? p->n : p->k, p->tb ? p->k : p->n, p->in);
}

static void result(lz_buf *b, const product *p)
{
    bool turned = p->after == TURNED;
    type(b, p, turned ? p->n : p->m, turned ? p->m : p->n, p->out);
}

static void more(lz_buf *b, const product *p)
{
    int first = p->batch ? 1 : 0;
    if (p->after == BIAS || p->after == BIAS_OF_ROWS) {
        lz_buf_printf(b,
                      "  %%w = stablehlo.broadcast_in_dim %%v, dims = [%d] : (tensor<%dx%s>) -> ",
                      first + (p->after == BIAS), p->after == BIAS ? p->n : p->m, p->out);
        result(b, p);
        lz_buf_puts(b, "\n  %r = stablehlo.add %d, %w : ");
    } else if (p->after == RELU) {
        lz_buf_puts(b, "  %w = stablehlo.constant dense<0.0> : ");
        result(b, p);
        lz_buf_puts(b, "\n  %r = stablehlo.maximum %d, %w : ");
    } else if (p->after == TURNED) {
        lz_buf_puts(b, "  %r = stablehlo.transpose %d, dims = [1, 0] : (");
        type(b, p, p->m, p->n, p->out);
        lz_buf_puts(b, ") -> ");
    } else {
        return;
    }
    result(b, p);
    lz_buf_puts(b, "\n");
}

static lz_func *program(const product *p)
{
    lz_buf b = {0};
    lz_func *f = NULL;
    int first = p->batch ? 1 : 0;
    lz_buf_puts(&b, "func.func @main(%a: ");
    left(&b, p);
    lz_buf_puts(&b, ", %b: ");
    right(&b, p);
    lz_buf_printf(&b, ", %%v: tensor<%dx%s>) -> ", p->after == BIAS_OF_ROWS ? p->m : p->n, p->out);
    result(&b, p);
    lz_buf_printf(
        &b, " {\n  %%d = stablehlo.dot_general %%a, %%b, %scontracting_dims = [%d] x [%d] : (",
        p->batch ? "batching_dims = [0] x [0], " : "", first + !p->ta, first + p->tb);
    left(&b, p);
    lz_buf_puts(&b, ", ");
    right(&b, p);
    lz_buf_puts(&b, ") -> ");
    type(&b, p, p->m, p->n, p->out);
    lz_buf_puts(&b, "\n");
    more(&b, p);
    lz_buf_printf(&b, "  return %s : ", p->after == NOTHING ? "%d" : "%r");
    result(&b, p);
    lz_buf_puts(&b, "\n}\n");
    ck_assert_msg(lz_func_parse(lz_buf_str(&b), b.len, "product", &f) == LZ_OK, "%s\n%s", message(),
                  lz_buf_str(&b));
    lz_buf_free(&b);
    return f;
}

/* Arguments lie `off` bytes behind where their memory starts. */
static lz_status run(lz_exec *x, const lz_func *f, lz_literal *const *args, size_t off,
                     lz_literal *got)
{
    lz_device_buffer *in[3] = {NULL}, *out = NULL;
    lz_event *done = NULL;
    bool given[3] = {false};
    lz_status s = LZ_OK;
    for (uint32_t i = 0; i < f->nparam && s == LZ_OK; i++) {
        s = be->alloc(0, args[i]->nbytes + off, &in[i]);
        if (s == LZ_OK) {
            in[i]->data = (char *)in[i]->data + off;
            s = be->copy_in(in[i], args[i]->data, args[i]->nbytes);
        }
    }
    if (s == LZ_OK)
        s = be->execute(x, 0, in, given, false, &out, &done);
    if (s == LZ_OK)
        s = lz_event_wait(done);
    if (s == LZ_OK)
        s = be->copy_out(out, got->data, got->nbytes);
    lz_error err = *lz_error_get();
    for (uint32_t i = 0; i < f->nparam && in[i]; i++) {
        in[i]->data = (char *)in[i]->data - off;
        lz_device_buffer_release(in[i]);
    }
    lz_device_buffer_release(out);
    lz_event_release(done);
    lz_error_set(&err);
    return s;
}

/* Compiles and runs it; the result is what it has to be. */
static lz_status try_function(const lz_func *f, lz_fill fill, size_t off)
{
    lz_exec *x = NULL;
    lz_literal **args, *got = lz_literal_new(lz_val_type(f, f->results[0]));
    lz_expect *want;
    char msg[512];
    ck_assert_int_eq(lz_gen_args(f, 7, fill, &args), LZ_OK);
    ck_assert_int_eq(lz_expect_new(f, args, 0, &want), LZ_OK);
    lz_status s = be->compile(0, f, NULL, &x);
    if (s == LZ_OK)
        s = run(x, f, args, off, got);
    lz_error err = *lz_error_get();
    if (s == LZ_OK)
        ck_assert_msg(lz_expect_met(want, &got, msg, sizeof msg), "%s", msg);
    if (x)
        be->exec_free(x);
    lz_expect_free(want);
    lz_literal_release(got);
    lz_gen_args_free(f, args);
    lz_error_set(&err);
    return s;
}

static lz_status try_product(const product *p, lz_fill fill, size_t off)
{
    lz_func *f = program(p);
    lz_status s = try_function(f, fill, off);
    lz_error err = *lz_error_get();
    lz_func_free(f);
    lz_error_set(&err);
    return s;
}

/* Besides numbers there are zeros of both signs, infinities and NaN. */
START_TEST(as_the_reference)
{
    const product *p = &products[_i];
    use_libs(NULL);
    OK(try_product(p, LZ_FILL_MODEST, 0));
    ck_assert_uint_eq(be->library_products(), p->taken);
    ck_assert_uint_eq(lib_stats().run, p->taken);
    ck_assert_uint_eq(launches(), p->taken || !p->m ? 0 : 1);
    OK(try_product(p, LZ_FILL_SPICED, 0));
    ck_assert_uint_eq(lib_stats().run, 2 * (uint64_t)p->taken);
    ck_assert_uint_eq(lib_stats().live, 0);
    ck_assert_uint_eq(lib_stats().tf32, 0);
}
END_TEST

START_TEST(off_by_default)
{
    use_libs(NULL);
    OK(lz_config_set("LAZULI_CUDA_LIBS", NULL));
    OK(try_product(&products[0], LZ_FILL_MODEST, 0));
    ck_assert_uint_eq(be->library_products(), 0);
    ck_assert_uint_eq(lib_stats().asked, 0);
}
END_TEST

/* f32 is f32, unless the user allows less. */
START_TEST(tf32)
{
    use_libs(NULL);
    OK(lz_config_set("LAZULI_CUDA_TF32", "1"));
    OK(try_product(&products[0], LZ_FILL_MODEST, 0));
    OK(try_product(&products[12], LZ_FILL_MODEST, 0)); /* of bf16 it says nothing */
    ck_assert_uint_eq(lib_stats().put, 2);
    ck_assert_uint_eq(lib_stats().tf32, 1);
}
END_TEST

/* Memory that is less aligned than an algorithm was chosen for is our own kernel's. */
START_TEST(odd_memory)
{
    use_libs(NULL);
    OK(try_product(&products[0], LZ_FILL_MODEST, 4));
    ck_assert_uint_eq(be->library_products(), 0);
    OK(try_product(&products[6], LZ_FILL_MODEST, 8)); /* and of a bias */
    ck_assert_uint_eq(be->library_products(), 0);
    OK(try_product(&products[0], LZ_FILL_MODEST, 16));
    ck_assert_uint_eq(be->library_products(), 1);
    ck_assert_uint_eq(lib_stats().put, 1); /* it was not asked in vain */
}
END_TEST

/* Batches of two loops: as one where they lie behind one another, else our own. */
START_TEST(two_batches)
{
    static const char *const programs[] = {
        "func.func @main(%a: tensor<2x3x16x12xf32>, %b: tensor<2x3x12x20xf32>) -> "
        "tensor<2x3x16x20xf32> {\n"
        "  %d = stablehlo.dot_general %a, %b, batching_dims = [0, 1] x [0, 1], contracting_dims = "
        "[3] x [2] : (tensor<2x3x16x12xf32>, tensor<2x3x12x20xf32>) -> tensor<2x3x16x20xf32>\n"
        "  return %d : tensor<2x3x16x20xf32>\n}\n",
        "func.func @main(%a: tensor<2x16x3x12xf32>, %b: tensor<2x3x12x20xf32>) -> "
        "tensor<2x3x16x20xf32> {\n"
        "  %d = stablehlo.dot_general %a, %b, batching_dims = [0, 2] x [0, 1], contracting_dims = "
        "[3] x [2] : (tensor<2x16x3x12xf32>, tensor<2x3x12x20xf32>) -> tensor<2x3x16x20xf32>\n"
        "  return %d : tensor<2x3x16x20xf32>\n}\n"};
    use_libs(NULL);
    lz_func *f = NULL;
    OK(lz_func_parse(programs[_i], strlen(programs[_i]), "batches", &f));
    OK(try_function(f, LZ_FILL_MODEST, 0));
    ck_assert_uint_eq(be->library_products(), _i == 0);
    lz_func_free(f);
}
END_TEST

/* ---- a library that does not do it ---- */

static int messages;

static void count_messages(lz_log_level level, const char *module, const char *text, void *user)
{
    (void)user;
    messages += level == LZ_LOG_INFO && strcmp(module, "cuda") == 0 && strstr(text, "our own");
}

START_TEST(not_there)
{
    static const char *const names[] = {"/nowhere/libcublasLt.so", "libm.so.6"};
    use_libs(names[_i]);
    OK(lz_config_set("LAZULI_LOG", "info"));
    lz_log_set_callback(count_messages, NULL);
    OK(try_product(&products[0], LZ_FILL_MODEST, 0));
    OK(try_product(&products[12], LZ_FILL_MODEST, 0));
    ck_assert_int_eq(messages, 1);
    ck_assert_uint_eq(be->library_products(), 0);
    ck_assert_uint_eq(launches(), 2);
}
END_TEST

START_TEST(refuses)
{
    static const char *const calls[] = {"cublasLtMatmulDescCreate", "cublasLtMatrixLayoutCreate",
                                        "cublasLtMatmulPreferenceSetAttribute",
                                        "cublasLtMatmulAlgoGetHeuristic", "cublasLtMatmul"};
    static const int codes[] = {15, 7, 8};
    use_libs(NULL);
    for (int c = 0; c < 3; c++) {
        OK(be->init());
        mock.fail_at(calls[_i], 1, codes[c]);
        OK(try_product(&products[6], LZ_FILL_MODEST, 0));
        ck_assert_uint_eq(be->library_products(), 0);
        ck_assert_uint_eq(launches(), 1 + (uint64_t)c);
        ck_assert_uint_eq(lib_stats().live, 0);
    }
    lib.refuse(1);
    OK(try_product(&products[0], LZ_FILL_MODEST, 0));
    ck_assert_uint_eq(be->library_products(), 0);
    lib.refuse(0);
    OK(try_product(&products[0], LZ_FILL_MODEST, 0));
    ck_assert_uint_eq(be->library_products(), 1);
}
END_TEST

/* It does not work with this device: it is not asked again. */
START_TEST(does_not_start)
{
    use_libs(NULL);
    mock.fail_at("cublasLtCreate", 1, 1);
    for (int i = 0; i < 2; i++)
        OK(try_product(&products[0], LZ_FILL_MODEST, 0));
    ck_assert_uint_eq(be->library_products(), 0);
    ck_assert_uint_eq(lib_stats().asked, 0);
}
END_TEST

/* ---- failures ---- */

static const char *const entries[] = {
#define LT_FN(member, symbol, args) symbol,
#include "backends/cuda/cublaslt.def"
#undef LT_FN
};
enum { ENTRIES = sizeof entries / sizeof *entries };

/* Each call of each entry point fails: an error, no descriptor is left, and the next try works. */
START_TEST(calls_fail)
{
    static const struct {
        int code;
        lz_status status;
    } ways[] = {{3, LZ_EDEVMEM}, {13, LZ_EDEVICE}, {14, LZ_EDEVICE}};
    use_libs(NULL);
    const product *p = &products[7]; /* with a batch and a bias: all attributes */
    bool undo = strstr(entries[_i], "Destroy") != NULL;
    uint64_t made = 0;
    for (int w = 0; w < 3; w++)
        for (uint64_t n = 1;; n++) {
            lz_mock_stats before, after;
            mock.stats(&before);
            mock.fail_at(entries[_i], n, ways[w].code);
            lz_status s = try_product(p, LZ_FILL_MODEST, 0);
            mock.stats(&after);
            made += s == LZ_OK;
            mock.reset();
            if (after.failed == before.failed) { /* there were fewer calls */
                ck_assert_int_eq(s, LZ_OK);
                ck_assert(n > 1 || undo || strcmp(entries[_i], "cublasLtCreate") == 0);
                break;
            }
            ck_assert_int_eq(s, ways[w].status);
            ck_assert_msg(strstr(message(), "cublasLt") != NULL, "%s", message());
            ck_assert_uint_eq(lib_stats().live, 0);
            OK(try_product(p, LZ_FILL_MODEST, 0));
            made++;
        }
    ck_assert_uint_eq(lib_stats().live, 0);
    ck_assert_uint_eq(be->library_products(), made);
}
END_TEST

/* Without memory of our own: an error, or what is made is right. */
START_TEST(memory_fails)
{
    use_libs(NULL);
    const product *p = &products[7];
    lz_func *f = program(p);
    lz_exec *x;
    OK(be->compile(0, f, NULL, &x)); /* what is made once */
    be->exec_free(x);
    for (int64_t n = 1;; n += 1 + n / 16) {
        uint64_t had = lz_alloc_failed_count();
        lz_alloc_fail_at(n, false);
        lz_status s = be->compile(0, f, NULL, &x);
        lz_alloc_fail_at(0, false);
        if (s == LZ_OK)
            be->exec_free(x);
        ck_assert_uint_eq(lib_stats().live, 0);
        if (lz_alloc_failed_count() == had)
            break;
    }
    lz_func_free(f);
}
END_TEST

/* ---- several products: graphs, loops ---- */

enum { SIDE = 12, ELEMS = SIDE * SIDE, POWERS = 6 };

/* x -> x^7 of a matrix */
static lz_func *power(void)
{
    lz_buf b = {0};
    lz_func *f = NULL;
    lz_buf_puts(&b, "func.func @main(%0: tensor<12x12xf32>) -> tensor<12x12xf32> {\n");
    for (int i = 0; i < POWERS; i++)
        lz_buf_printf(&b,
                      "  %%%d = stablehlo.dot_general %%%d, %%0, contracting_dims = [1] x [0] : "
                      "(tensor<12x12xf32>, tensor<12x12xf32>) -> tensor<12x12xf32>\n",
                      i + 1, i);
    lz_buf_printf(&b, "  return %%%d : tensor<12x12xf32>\n}\n", POWERS);
    ck_assert_msg(lz_func_parse(lz_buf_str(&b), b.len, "power", &f) == LZ_OK, "%s", message());
    lz_buf_free(&b);
    return f;
}

/* x -> x^(2^5): a loop */
static lz_func *squares(void)
{
    static const char text[] =
        "func.func @main(%0: tensor<12x12xf32>) -> tensor<12x12xf32> {\n"
        "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
        "  %1:2 = stablehlo.while(%i = %zero, %x = %0) : tensor<i32>, tensor<12x12xf32>\n"
        "   cond {\n"
        "    %n = stablehlo.constant dense<5> : tensor<i32>\n"
        "    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        "    stablehlo.return %c : tensor<i1>\n"
        "   } do {\n"
        "    %one = stablehlo.constant dense<1> : tensor<i32>\n"
        "    %j = stablehlo.add %i, %one : tensor<i32>\n"
        "    %y = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : "
        "(tensor<12x12xf32>, tensor<12x12xf32>) -> tensor<12x12xf32>\n"
        "    stablehlo.return %j, %y : tensor<i32>, tensor<12x12xf32>\n"
        "   }\n"
        "  return %1#1 : tensor<12x12xf32>\n}\n";
    lz_func *f = NULL;
    ck_assert_msg(lz_func_parse(text, sizeof text - 1, "squares", &f) == LZ_OK, "%s", message());
    return f;
}

/* A permutation's powers are exact, and differ: that of 12 elements by one, to the power p. */
static void run_power(lz_exec *x, const lz_func *f, int p)
{
    lz_literal *v = lz_literal_new(lz_val_type(f, f->results[0])), *args[1] = {v};
    float *e = v->data;
    for (int i = 0; i < ELEMS; i++)
        e[i] = i % SIDE == (i / SIDE + 1) % SIDE;
    OK(run(x, f, args, 0, v));
    for (int i = 0; i < ELEMS; i++)
        ck_assert_float_eq(e[i], i % SIDE == (i / SIDE + p) % SIDE);
    lz_literal_release(v);
}

/* Recorded once, launched in one call after that, and counted every time. */
START_TEST(in_graphs)
{
    enum { RUNS = 9 };
    use_libs(NULL);
    lz_func *f = power();
    lz_exec *x;
    lz_mock_stats s;
    OK(be->compile(0, f, NULL, &x));
    for (int i = 0; i < RUNS; i++) {
        run_power(x, f, 7);
        ck_assert_uint_eq(be->library_products(), POWERS * (uint64_t)(i + 1));
    }
    mock.stats(&s);
    ck_assert_uint_ge(s.graph_launches, 4);
    ck_assert_uint_eq(s.launches, 0);
    ck_assert_uint_eq(lib_stats().run, POWERS * RUNS);
    ck_assert_uint_lt(lib_stats().put, POWERS * RUNS);
    be->exec_free(x);
    lz_func_free(f);
    ck_assert_uint_eq(lib_stats().live, 0);
}
END_TEST

/* What fails in the first run, or while the second is recorded, is an error, and the next run
 * works. */
START_TEST(recording_fails)
{
    use_libs(NULL);
    lz_func *f = power();
    lz_exec *x;
    lz_device_buffer *in, *out;
    lz_event *done;
    lz_status got[8];
    float v[ELEMS] = {0};
    bool given = false;
    OK(be->compile(0, f, NULL, &x));
    OK(be->alloc(0, sizeof v, &in));
    OK(be->copy_in(in, v, sizeof v));
    mock.fail_at("cublasLtMatmul", 1 + (uint64_t)_i * POWERS / 2, 14);
    int failed = 0;
    for (int i = 0; i < 8; i++) {
        OK(be->execute(x, 0, &in, &given, false, &out, &done));
        got[i] = lz_event_wait(done);
        failed += got[i] != LZ_OK;
        ck_assert(got[i] == LZ_OK || got[i] == LZ_EDEVICE);
        lz_device_buffer_release(out);
        lz_event_release(done);
    }
    ck_assert_int_eq(failed, 1);
    ck_assert_uint_eq(be->library_products(), 7 * POWERS);
    lz_device_buffer_release(in);
    be->exec_free(x);
    lz_func_free(f);
}
END_TEST

START_TEST(in_a_loop)
{
    use_libs(NULL);
    lz_func *f = squares();
    lz_exec *x;
    OK(be->compile(0, f, NULL, &x));
    for (int i = 0; i < 3; i++)
        run_power(x, f, 32 % SIDE);
    ck_assert_uint_eq(be->library_products(), 15);
    be->exec_free(x);
    lz_func_free(f);
}
END_TEST

/* ---- what is kept ---- */

/* The device's key and what is stored of a program are the same with and without, and a stored
 * program is what the process that reads it asks for. */
START_TEST(nothing_is_stored)
{
    use_libs(NULL);
    lz_func *f = power();
    lz_exec *x;
    lz_buf bytes[2] = {{0}}, keys[2] = {{0}};
    for (int on = 0; on < 2; on++) {
        OK(lz_config_set("LAZULI_CUDA_LIBS", on ? "1" : "0"));
        OK(be->compile(0, f, NULL, &x));
        run_power(x, f, 7);
        OK(be->serialize(x, &bytes[on]));
        be->key(0, &keys[on]);
        be->exec_free(x);
    }
    ck_assert_uint_eq(be->library_products(), POWERS);
    ck_assert_uint_eq(bytes[0].len, bytes[1].len);
    ck_assert_mem_eq(bytes[0].data, bytes[1].data, bytes[0].len);
    ck_assert_str_eq(lz_buf_str(&keys[0]), lz_buf_str(&keys[1]));
    for (int on = 0; on < 2; on++) {
        OK(lz_config_set("LAZULI_CUDA_LIBS", on ? "1" : "0"));
        OK(be->deserialize(0, bytes[!on].data, bytes[!on].len, NULL, &x));
        run_power(x, f, 7);
        ck_assert_uint_eq(be->library_products(), POWERS * (uint64_t)(1 + on));
        be->exec_free(x);
        lz_buf_free(&keys[on]);
    }
    lz_buf_free(&bytes[0]);
    lz_buf_free(&bytes[1]);
    lz_func_free(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cuda libs");
    TCase *t = tcase_create("cuda libs");
    tcase_add_loop_test(t, as_the_reference, 0, PRODUCTS);
    tcase_add_test(t, off_by_default);
    tcase_add_test(t, tf32);
    tcase_add_test(t, odd_memory);
    tcase_add_loop_test(t, two_batches, 0, 2);
    tcase_add_loop_test(t, not_there, 0, 2);
    tcase_add_loop_test(t, refuses, 0, 5);
    tcase_add_test(t, does_not_start);
    tcase_add_loop_test(t, calls_fail, 0, ENTRIES);
    tcase_add_test(t, memory_fails);
    tcase_add_test(t, in_graphs);
    tcase_add_loop_test(t, recording_fails, 0, 4);
    tcase_add_test(t, in_a_loop);
    tcase_add_test(t, nothing_is_stored);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
