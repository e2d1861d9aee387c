/* t_xla_meaning.c - what is read means what XLA does: windows of a scatter that are not wholly
 * inside are dropped, padding and holes of reduce_window are no elements. Against loops that say
 * so; and what is printed is read as the same function. */
#include "ir/eval/eval.h"
#include "suite.h"
#include "support/gen.h"
#include "support/lit.h"
#include <stdio.h>
#include <string.h>

static lz_func *parse(const lz_buf *text)
{
    lz_func *f;
    ck_assert_msg(lz_func_parse(text->data, text->len, "t", &f) == LZ_OK, "%s\n%s",
                  lz_error_get()->message, text->data);
    lz_buf again = {0};
    lz_func *g;
    lz_func_print(f, &again, 0);
    ck_assert_msg(lz_func_parse(again.data, again.len, "again", &g) == LZ_OK, "%s\n%s",
                  lz_error_get()->message, again.data);
    ck_assert_msg(lz_hash_eq(lz_func_hash(f), lz_func_hash(g)), "%s", again.data);
    lz_func_free(g);
    lz_buf_free(&again);
    return f;
}

static lz_literal *random_floats(lz_rnd *r, const lz_type *t)
{
    lz_literal *l = lz_literal_new(t);
    for (int64_t i = 0; i < t->nelem; i++)
        ((float *)l->data)[i] = (float)(int)(lz_rnd_u64(r) % 17) - 8;
    return l;
}

static const lz_type *type2(lz_dtype d, int64_t a, int64_t b)
{
    lz_shape s = LZ_SHAPE(a, b);
    return lz_type_get(d, &s);
}

/* ---- scatter ---- */

enum { ROWS = 6, COLUMNS = 5, UPDATES = 9 };

static const struct {
    const char *text;
    lz_dtype dtype;
    int low, high;
} indices[] = {{"i8", LZ_I8, -3, 7},
               {"ui8", LZ_U8, 0, 8},
               {"i32", LZ_I32, -3, 7},
               {"ui32", LZ_U32, 0, 8},
               {"i64", LZ_I64, -3, 7}};
enum { INDICES = sizeof indices / sizeof *indices };

/* The windows are of h x w elements. The vectors of indices are rows or columns of their array. */
START_TEST(scattered)
{
    lz_rnd r = {lz_test_seed() * 64 + (unsigned)_i};
    int h = 1 + (int)(lz_rnd_u64(&r) % 3), w = 1 + (int)(lz_rnd_u64(&r) % 3);
    int kind = _i % INDICES, ivd = _i / INDICES % 2, fixed = _i / INDICES / 2 % 2;
    lz_buf b = {0};
    const char *it = indices[kind].text;
    const lz_type *index =
        ivd ? type2(indices[kind].dtype, UPDATES, 2) : type2(indices[kind].dtype, 2, UPDATES);
    lz_literal *at = lz_literal_new(index);
    for (int64_t i = 0; i < index->nelem; i++)
        lz_elem_set_i64(
            index->dtype, at->data, i,
            indices[kind].low +
                (int)(lz_rnd_u64(&r) % (unsigned)(indices[kind].high - indices[kind].low + 1)));
    char list[1024];
    size_t n = 0;
    for (int64_t i = 0; i < index->nelem; i++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s%lld%s",
                              i % index->shape.dims[1] ? ", "
                              : i                      ? "], ["
                                                       : "[[",
                              "", (long long)lz_elem_get_i64(index->dtype, at->data, i), "");
    lz_buf_printf(&b,
                  "func.func @main(%%x: tensor<%dx%dxf32>, %%j: tensor<%lldx%lldx%s>, %%u: "
                  "tensor<%dx%dx%dxf32>) -> tensor<%dx%dxf32> {\n",
                  ROWS, COLUMNS, (long long)index->shape.dims[0], (long long)index->shape.dims[1],
                  it, UPDATES, h, w, ROWS, COLUMNS);
    if (fixed)
        lz_buf_printf(&b, "  %%i = stablehlo.constant dense<%s]]> : tensor<%lldx%lldx%s>\n", list,
                      (long long)index->shape.dims[0], (long long)index->shape.dims[1], it);
    lz_buf_printf(
        &b,
        "  %%0 = \"stablehlo.scatter\"(%%x, %s, %%u) <{scatter_dimension_numbers = "
        "#stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = "
        "[1, 0], index_vector_dim = %d>}> ({\n  ^bb0(%%a: tensor<f32>, %%b: "
        "tensor<f32>):\n    %%s = stablehlo.add %%a, %%b : tensor<f32>\n    "
        "stablehlo.return %%s : tensor<f32>\n  }) : (tensor<%dx%dxf32>, "
        "tensor<%lldx%lldx%s>, tensor<%dx%dx%dxf32>) -> tensor<%dx%dxf32>\n  return %%0 : "
        "tensor<%dx%dxf32>\n}\n",
        fixed ? "%i" : "%j", ivd, ROWS, COLUMNS, (long long)index->shape.dims[0],
        (long long)index->shape.dims[1], it, UPDATES, h, w, ROWS, COLUMNS, ROWS, COLUMNS);
    lz_func *f = parse(&b);
    lz_literal *args[] = {random_floats(&r, lz_val_type(f, 0)), at,
                          random_floats(&r, lz_val_type(f, 2))},
               *got;
    float want[ROWS * COLUMNS];
    memcpy(want, args[0]->data, sizeof want);
    for (int k = 0; k < UPDATES; k++) {
        int64_t column = lz_elem_get_i64(index->dtype, at->data, ivd ? k * 2 : k),
                row = lz_elem_get_i64(index->dtype, at->data, ivd ? k * 2 + 1 : UPDATES + k);
        if (row < 0 || column < 0 || row + h > ROWS || column + w > COLUMNS)
            continue;
        for (int i = 0; i < h; i++)
            for (int c = 0; c < w; c++)
                want[(row + i) * COLUMNS + column + c] +=
                    ((float *)args[2]->data)[(k * h + i) * w + c];
    }
    ck_assert_int_eq(lz_ref_run(f, args, &got), LZ_OK);
    ck_assert_msg(memcmp(got->data, want, sizeof want) == 0, "%s windows of %d x %d, %s\n%s", it, h,
                  w, ivd ? "rows" : "columns", b.data);
    lz_literal_release(got);
    for (int k = 0; k < 3; k++)
        lz_literal_release(args[k]);
    lz_func_free(f);
    lz_buf_free(&b);
}
END_TEST

/* ---- reduce_window ---- */

static const char *const bodies[] = {"add", "multiply", "maximum", "minimum", "subtract"};
enum { BODIES = sizeof bodies / sizeof *bodies };

static float apply(int body, float a, float b)
{
    switch (body) {
    case 0:
        return a + b;
    case 1:
        return a * b;
    case 2:
        return a > b ? a : b;
    case 3:
        return a < b ? a : b;
    default:
        return a - b;
    }
}

typedef struct window {
    int n, size, stride, holes, dilation, low, high, results;
} window;

/* Folds from the left over the elements that are there. */
static void fold(const window *w, int body, const float *x, float init, float *out)
{
    for (int k = 0; k < w->results; k++) {
        out[k] = init;
        for (int j = 0; j < w->size; j++) {
            int at = k * w->stride + j * w->dilation - w->low;
            if (at >= 0 && at <= (w->n - 1) * w->holes && at % w->holes == 0)
                out[k] = apply(body, out[k], x[at / w->holes]);
        }
    }
}

/* Values in pairs: the second is folded with the next body. A given initial value, or 0. */
START_TEST(windows)
{
    lz_rnd r = {lz_test_seed() * 64 + (unsigned)_i};
    int body = _i % BODIES, pairs = _i / BODIES % 2, given = _i / BODIES / 2 % 2;
    window w = {.n = 5,
                .size = 1 + (int)(lz_rnd_u64(&r) % 3),
                .stride = 1 + (int)(lz_rnd_u64(&r) % 2),
                .holes = 1 + (int)(lz_rnd_u64(&r) % 3),
                .dilation = 1 + (int)(lz_rnd_u64(&r) % 2),
                .low = (int)(lz_rnd_u64(&r) % 4) - 1,
                .high = (int)(lz_rnd_u64(&r) % 3)};
    int room = (w.n - 1) * w.holes + 1 + w.low + w.high - ((w.size - 1) * w.dilation + 1);
    w.results = room < 0 ? 0 : room / w.stride + 1;
    const char *second = bodies[(body + 1) % BODIES];
    lz_buf b = {0};
    lz_buf_printf(&b,
                  "func.func @main(%%x: tensor<5xf32>, %%y: tensor<5xf32>, %%p: tensor<f32>, "
                  "%%q: tensor<f32>) -> (tensor<%dxf32>, tensor<%dxf32>) {\n",
                  w.results, w.results);
    lz_buf_puts(&b, "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n");
    const char *p = given ? "%p" : "%z", *q = given ? "%q" : "%z";
    lz_buf_printf(
        &b,
        "  %%0%s = \"stablehlo.reduce_window\"(%%x, %s%s%s%s) <{base_dilations = array<i64: "
        "%d>, padding = dense<[[%d, %d]]> : tensor<1x2xi64>, window_dilations = array<i64: "
        "%d>, window_dimensions = array<i64: %d>, window_strides = array<i64: %d>}> ({\n",
        pairs ? ":2" : "", pairs ? "%y, " : "", p, pairs ? ", " : "", pairs ? q : "", w.holes,
        w.low, w.high, w.dilation, w.size, w.stride);
    if (pairs)
        lz_buf_printf(
            &b,
            "  ^bb0(%%a: tensor<f32>, %%c: tensor<f32>, %%d: tensor<f32>, %%e: "
            "tensor<f32>):\n    %%s = stablehlo.%s %%a, %%d : tensor<f32>\n    %%t = "
            "stablehlo.%s %%c, %%e : tensor<f32>\n    stablehlo.return %%s, %%t : "
            "tensor<f32>, tensor<f32>\n  }) : (tensor<5xf32>, tensor<5xf32>, tensor<f32>, "
            "tensor<f32>) -> (tensor<%dxf32>, tensor<%dxf32>)\n  return %%0#0, %%0#1",
            bodies[body], second, w.results, w.results);
    else
        lz_buf_printf(
            &b,
            "  ^bb0(%%a: tensor<f32>, %%c: tensor<f32>):\n    %%s = stablehlo.%s %%a, %%c "
            ": tensor<f32>\n    stablehlo.return %%s : tensor<f32>\n  }) : "
            "(tensor<5xf32>, tensor<f32>) -> tensor<%dxf32>\n  return %%0, %%0",
            bodies[body], w.results);
    lz_buf_printf(&b, " : tensor<%dxf32>, tensor<%dxf32>\n}\n", w.results, w.results);
    lz_func *f = parse(&b);
    lz_literal *args[4], *got[2];
    float want[2][64];
    for (int k = 0; k < 4; k++)
        args[k] = random_floats(&r, lz_val_type(f, (lz_val)k));
    fold(&w, body, args[0]->data, given ? *(float *)args[2]->data : 0, want[0]);
    fold(&w, pairs ? (body + 1) % BODIES : body, args[pairs]->data,
         given ? *(float *)args[2 + pairs]->data : 0, want[1]);
    ck_assert_int_eq(lz_ref_run(f, args, got), LZ_OK);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < w.results; i++)
            ck_assert_msg(((float *)got[k]->data)[i] == want[k][i], "result %d, %d: %g, not %g\n%s",
                          k, i, (double)((float *)got[k]->data)[i], (double)want[k][i], b.data);
    for (int k = 0; k < 2; k++)
        lz_literal_release(got[k]);
    for (int k = 0; k < 4; k++)
        lz_literal_release(args[k]);
    lz_func_free(f);
    lz_buf_free(&b);
}
END_TEST

/* A body of other numbers of parameters is refused as it was, and a complex value whose real part
 * is 0 is not neutral. */
START_TEST(others)
{
    static const char *const bad[] = {"%a: tensor<f32>",
                                      "%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>"};
    for (int k = 0; k < 2; k++) {
        lz_buf b = {0};
        lz_func *f;
        lz_buf_printf(&b,
                      "func.func @main(%%x: tensor<4xf32>, %%i: tensor<f32>) -> tensor<5xf32> {\n"
                      "  %%0 = \"stablehlo.reduce_window\"(%%x, %%i) <{padding = dense<1> : "
                      "tensor<1x2xi64>, window_dimensions = array<i64: 2>}> ({\n  ^bb0(%s):\n"
                      "    stablehlo.return %%a : tensor<f32>\n  }) : (tensor<4xf32>, tensor<f32>) "
                      "-> tensor<5xf32>\n  return %%0 : tensor<5xf32>\n}\n",
                      bad[k]);
        ck_assert_int_eq(lz_func_parse(b.data, b.len, "t", &f), LZ_EPARSE);
        lz_buf_free(&b);
    }
    lz_buf b = {0};
    lz_buf_puts(&b,
                "func.func @main(%x: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {\n"
                "  %i = stablehlo.constant dense<(0.0, 1.0)> : tensor<complex<f32>>\n"
                "  %0 = \"stablehlo.reduce_window\"(%x, %i) <{padding = dense<[[1, 0]]> : "
                "tensor<1x2xi64>, window_dimensions = array<i64: 2>}> ({\n"
                "  ^bb0(%a: tensor<complex<f32>>, %c: tensor<complex<f32>>):\n"
                "    %s = stablehlo.add %a, %c : tensor<complex<f32>>\n"
                "    stablehlo.return %s : tensor<complex<f32>>\n"
                "  }) : (tensor<2xcomplex<f32>>, tensor<complex<f32>>) -> tensor<2xcomplex<f32>>\n"
                "  return %0 : tensor<2xcomplex<f32>>\n}\n");
    lz_func *f = parse(&b);
    lz_literal *x = lz_literal_new(lz_val_type(f, 0)), *got;
    memcpy(x->data, (const float[]){2, 3, 4, 5}, 16);
    ck_assert_int_eq(lz_ref_run(f, &x, &got), LZ_OK);
    ck_assert_int_eq(memcmp(got->data, (const float[]){2, 4, 6, 9}, 16), 0);
    lz_literal_release(got);
    lz_literal_release(x);
    lz_func_free(f);
    lz_buf_free(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("xla_meaning");
    TCase *t = tcase_create("xla_meaning");
    tcase_add_loop_test(t, scattered, 0, 8 * INDICES);
    tcase_add_loop_test(t, windows, 0, 12 * BODIES);
    tcase_add_test(t, others);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
