/* t_plan.c - plans: running with the slow executor, bytes and back, damaged bytes, the verifier,
 * steps that are routines. */
#include "kernels.h"
#include "lower/plan/plan_exec.h"
#include "suite.h"
#include <math.h>

enum { R = 20, C = 30 };

static const lz_type *type(lz_dtype d, int rank, int64_t a, int64_t b)
{
    return lz_type_get(d, &(lz_shape){rank, {a, b}});
}

static void step(lz_plan *p, uint32_t i, uint32_t kernel, const char *name, const lz_bufref *bufs)
{
    const lz_kernel *k = p->kernels[kernel];
    p->steps[i] = (lz_step){.kernel = kernel, .nbuf = k->nbuf, .narg = k->narg, .name = name};
    p->steps[i].bufs = lz_arena_copy(&p->arena, bufs, k->nbuf * sizeof *bufs);
    p->steps[i].args = lz_arena_copy(&p->arena, k->args, k->narg * sizeof *k->args);
    p->steps[i].flops = 1000 + i;
    p->steps[i].bytes = 77 * i;
}

/* out0 = softmax(x * s + 0.5), out1 = x * c + 0.5 in place of x; s is an argument, c a constant */
static lz_plan *make(void)
{
    lz_plan *p = lz_calloc(1, sizeof *p);
    const uint64_t n = R * C * 4;
    p->nin = p->nout = 2;
    p->in_type = lz_arena_alloc(&p->arena, 2 * sizeof *p->in_type);
    p->out_type = lz_arena_alloc(&p->arena, 2 * sizeof *p->out_type);
    p->out_alias = lz_arena_alloc(&p->arena, 2 * sizeof *p->out_alias);
    p->in_type[0] = p->out_type[0] = p->out_type[1] = type(LZ_F32, 2, R, C);
    p->in_type[1] = type(LZ_F32, 1, C, 0);
    p->out_alias[0] = -1;
    p->out_alias[1] = 0;
    p->temp_bytes = 64 + n;
    p->const_bytes = C * 4;
    p->consts = (void *)LZ_ALIGN_UP((uintptr_t)lz_arena_alloc(&p->arena, C * 4 + 63), 64);
    for (int j = 0; j < C; j++)
        ((float *)p->consts)[j] = (float)j / 3 - 2;
    p->nkernel = 2;
    p->kernels = lz_arena_alloc(&p->arena, 2 * sizeof(lz_kernel *));
    p->kernels[0] = k_make(k_scale, R, C);
    p->kernels[1] = k_make(k_softmax, R, C);
    p->nstep = 3;
    p->steps = lz_arena_alloc(&p->arena, 3 * sizeof *p->steps);
    step(p, 0, 0, "scale",
         (lz_bufref[]){{LZ_BUFREF_INPUT, 0, 0, n},
                       {LZ_BUFREF_INPUT, 1, 0, C * 4},
                       {LZ_BUFREF_TEMP, 0, 64, n}});
    step(p, 1, 1, "softmax",
         (lz_bufref[]){{LZ_BUFREF_TEMP, 0, 64, n}, {LZ_BUFREF_OUTPUT, 0, 0, n}});
    step(p, 2, 0, "scale again",
         (lz_bufref[]){{LZ_BUFREF_INPUT, 0, 0, n},
                       {LZ_BUFREF_CONST, 0, 0, C * 4},
                       {LZ_BUFREF_OUTPUT, 1, 0, n}});
    return p;
}

static void run(const lz_plan *p)
{
    float x[R * C], s[C], y[R * C], z[R * C];
    for (int i = 0; i < R * C; i++)
        x[i] = (float)((i * 7919) % 101) / 17 - 3;
    for (int j = 0; j < C; j++)
        s[j] = (float)(j % 5) - 1.5f;
    ck_assert_msg(lz_plan_run(p, (const void *[]){x, s}, (void *[]){y, z}) == LZ_OK, "%s",
                  lz_error_get()->message);
    for (int i = 0; i < R; i++) {
        double sum = 0;
        for (int j = 0; j < C; j++)
            sum += exp(x[i * C + j] * s[j] + 0.5);
        for (int j = 0; j < C; j++) {
            ck_assert_double_eq_tol(y[i * C + j], exp(x[i * C + j] * s[j] + 0.5) / sum, 1e-6);
            ck_assert(z[i * C + j] == x[i * C + j] * ((const float *)p->consts)[j] + 0.5f);
        }
    }
}

static lz_buf bytes(const lz_plan *p)
{
    lz_buf b = {0};
    lz_plan_serialize(p, &b);
    ck_assert(!b.failed);
    return b;
}

START_TEST(runs)
{
    lz_plan *p = make();
    ck_assert_msg(lz_plan_verify(p) == LZ_OK, "%s", lz_error_get()->message);
    run(p);
    lz_plan_free(p);
    lz_plan_free(NULL);
}
END_TEST

/* Where x and s stay, so does x * s + 0.5, whole; the two results are made in every run. */
START_TEST(keeps_what_stays)
{
    lz_plan *p = make();
    lz_plan_exec g;
    lz_invariants *k;
    ck_assert_int_eq(lz_plan_exec_begin(&g, p), LZ_OK);
    ck_assert_int_eq(lz_plan_exec_make(&g, &lz_loop_ops, NULL), LZ_OK);
    for (int one = 0; one < 2; one++) { /* of the two is not enough */
        ck_assert_int_eq(lz_invariants_find(&g, (bool[]){one == 0, one == 1}, &k), LZ_OK);
        ck_assert_ptr_null(k);
    }
    ck_assert_int_eq(lz_invariants_find(&g, (bool[]){true, true}, &k), LZ_OK);
    ck_assert_uint_eq(k->nskip, 1);
    ck_assert(k->skip[0] && !k->skip[1] && !k->skip[2]);
    ck_assert_uint_eq(k->nbytes, R * C * 4);
    ck_assert_uint_eq(k->nplace, 2); /* written there, read there */
    ck_assert(k->places[0].slot == 2 && k->places[1].slot == 3);
    ck_assert(k->places[0].at == 0 && k->places[1].at == 0);
    ck_assert_uint_eq(k->flops, 1000);
    lz_invariants_free(k);
    lz_invariants_free(NULL);
    lz_plan_exec_end(&g);
    lz_plan_free(p);
}
END_TEST

START_TEST(round_trip)
{
    lz_plan *p = make(), *q;
    lz_buf b = bytes(p), t = {0}, u = {0};
    ck_assert_msg(lz_plan_deserialize(b.data, b.len, &q) == LZ_OK, "%s", lz_error_get()->message);
    ck_assert(((uintptr_t)q->consts & 63) == 0);
    run(q);
    lz_plan_print(p, &t);
    lz_plan_print(q, &u);
    ck_assert_str_eq(lz_buf_str(&t), lz_buf_str(&u));
    lz_buf c = bytes(q);
    ck_assert_uint_eq(b.len, c.len);
    ck_assert(memcmp(b.data, c.data, b.len) == 0);
    lz_buf_free(&b);
    lz_buf_free(&c);
    lz_buf_free(&t);
    lz_buf_free(&u);
    lz_plan_free(p);
    lz_plan_free(q);
}
END_TEST

/* Every byte flipped, every length: an error, or a plan that passes the verifier; never a crash. */
START_TEST(damaged_bytes)
{
    lz_plan *p = make(), *q;
    lz_buf b = bytes(p);
    uint8_t *d = malloc(b.len);
    for (size_t i = 0; i < b.len; i++) {
        uint8_t *cut = malloc(i + 1);
        memcpy(cut, b.data, i);
        ck_assert_int_eq(lz_plan_deserialize(cut, i, &q), LZ_ECORRUPT);
        free(cut);
        for (int x = 1; x < 256; x = x * 2 + (x == 64)) {
            memcpy(d, b.data, b.len);
            d[i] ^= (uint8_t)x;
            lz_status s = lz_plan_deserialize(d, b.len, &q);
            ck_assert_msg(s == LZ_OK || s == LZ_ECORRUPT, "byte %zu ^ %d: %s", i, x,
                          lz_error_get()->message);
            lz_plan_free(q);
        }
    }
    free(d);
    lz_buf_free(&b);
    lz_plan_free(p);
}
END_TEST

START_TEST(verifier_refuses)
{
    for (int i = 0;; i++) {
        lz_plan *p = make();
        const uint64_t n = R * C * 4;
        bool more = true;
        switch (i) {
        case 0:
            p->steps[0].bufs[0].nbytes++;
            break;
        case 1:
            p->steps[0].bufs[0].nbytes -= 4;
            break;
        case 2:
            p->steps[0].bufs[2].offset = 128;
            break;
        case 3:
            p->steps[0].bufs[2].offset = 62;
            break;
        case 4:
            p->steps[0].bufs[0].index = 2;
            break;
        case 5:
            p->steps[0].kernel = 2;
            break;
        case 6:
            p->steps[0].narg--;
            break;
        case 7:
            p->steps[0].args[0] = R + 1;
            break;
        case 8:
            p->steps[0].args[0] = INT64_MAX;
            break;
        case 9:
            p->steps[0].args[0] = -1;
            break;
        case 10:
            p->out_alias[1] = 2;
            break;
        case 11:
            p->out_alias[0] = 0;
            break; /* twice */
        case 12:
            p->out_alias[1] = 1;
            break; /* another size */
        case 13:
            p->steps[0].bufs[2] = (lz_bufref){LZ_BUFREF_INPUT, 0, 0, n};
            break;
        case 14:
            p->steps[0].bufs[2] = (lz_bufref){LZ_BUFREF_CONST, 0, 0, C * 4};
            break;
        case 15:
            p->steps[1].bufs[1] = (lz_bufref){LZ_BUFREF_OUTPUT, 1, 0, n};
            break; /* then x is gone */
        case 16:
            p->steps[1].bufs[1] = p->steps[1].bufs[0];
            break; /* softmax is not in place */
        case 17:
            p->steps[0].bufs[0].kind = (lz_bufref_kind)9;
            break;
        case 18:
            p->steps[0].bufs[0].offset = UINT64_MAX;
            break;
        default:
            more = false;
        }
        if (more)
            ck_assert_msg(lz_plan_verify(p) == LZ_EINTERNAL, "edit %d is accepted", i);
        lz_plan_free(p);
        if (!more)
            break;
    }
}
END_TEST

/* Functions of which none has a plan that could be that of another. */
static const char *const graphs[] = {
    "(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {\n"
    "  %0 = stablehlo.add %a, %b : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n",
    "(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
    "  %0 = stablehlo.negate %a : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n",
    "(%a: tensor<4xf64>, %b: tensor<4xf64>) -> tensor<4xf64> {\n"
    "  %0 = stablehlo.add %a, %b : tensor<4xf64>\n  return %0 : tensor<4xf64>\n}\n",
    "(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>) -> tensor<2x2xf32> {\n"
    "  %0 = stablehlo.add %a, %b : tensor<2x2xf32>\n  return %0 : tensor<2x2xf32>\n}\n",
    "(%a: tensor<4xi32>, %b: tensor<4xf32>) -> tensor<4xf32> {\n"
    "  %0 = stablehlo.negate %b : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n",
    "(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {\n"
    "  %0 = stablehlo.add %a, %b : tensor<4xf32>\n  %1 = stablehlo.negate %a : tensor<4xf32>\n"
    "  return %0, %1 : tensor<4xf32>, tensor<4xf32>\n}\n",
    "(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xi1> {\n"
    "  %0 = stablehlo.compare EQ, %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>\n"
    "  return %0 : tensor<4xi1>\n}\n",
};
enum { NGRAPHS = sizeof graphs / sizeof *graphs };

static lz_func *parse(const char *text)
{
    lz_buf b = {0};
    lz_func *f = NULL;
    lz_buf_printf(&b, "func.func @main%s", text);
    ck_assert_msg(lz_func_parse((const char *)b.data, b.len, "test", &f) == LZ_OK, "%s",
                  lz_error_get()->message);
    lz_buf_free(&b);
    return f;
}

START_TEST(of_another_graph)
{
    const bool none[2] = {false}, both[2] = {true, true};
    for (int i = 0; i < NGRAPHS; i++) {
        lz_func *f = parse(graphs[i]);
        lz_plan *p = NULL, *over = NULL;
        lz_lower_options given = {.machine.threads = 2, .donate = both};
        ck_assert_int_eq(lz_lower(f, &(lz_lower_options){.machine.threads = 2}, &p), LZ_OK);
        ck_assert_int_eq(lz_lower(f, &given, &over), LZ_OK);
        ck_assert_int_eq(lz_plan_check_of(p, f, NULL), LZ_OK);
        ck_assert_int_eq(lz_plan_check_of(p, f, both), LZ_OK);
        ck_assert_int_eq(lz_plan_check_of(over, f, both), LZ_OK);
        if (over->out_alias[0] >= 0) {
            ck_assert_int_eq(lz_plan_check_of(over, f, NULL), LZ_ECORRUPT);
            ck_assert_int_eq(lz_plan_check_of(over, f, none), LZ_ECORRUPT);
        }
        ck_assert(i || over->out_alias[0] >= 0);
        for (int j = 0; j < NGRAPHS; j++) {
            lz_func *g = j == i ? NULL : parse(graphs[j]);
            if (g)
                ck_assert_msg(lz_plan_check_of(p, g, NULL) == LZ_ECORRUPT, "%d for %d", i, j);
            lz_func_free(g);
        }
        lz_plan_free(p);
        lz_plan_free(over);
        lz_func_free(f);
    }
}
END_TEST

static lz_status never_called(const lz_ffi_call *c, void *user)
{
    (void)c, (void)user;
    return LZ_EINTERNAL;
}

/* A call of a function of the program's own that the graph does not have. */
START_TEST(of_other_calls)
{
    static const char call[] =
        "(%%a: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %%0 = stablehlo.custom_call @%s(%%a) {backend_config = \"%s\"} : (tensor<4xf32>) -> "
        "tensor<4xf32>\n  return %%0 : tensor<4xf32>\n}\n";
    static const char *const names[][2] = {{"mine", ""}, {"yours", ""}, {"mine", "x"}};
    char text[400];
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(lz_ffi_table_register(names[i][0], never_called, NULL), LZ_OK);
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text, call, names[i][0], names[i][1]);
        lz_func *f = parse(text);
        lz_plan *p = NULL;
        ck_assert_msg(lz_lower(f, &(lz_lower_options){.machine.threads = 2}, &p) == LZ_OK, "%s",
                      lz_error_get()->message);
        for (int j = 0; j < 3; j++) {
            snprintf(text, sizeof text, call, names[j][0], names[j][1]);
            lz_func *g = parse(text);
            ck_assert_int_eq(lz_plan_check_of(p, g, NULL), i == j ? LZ_OK : LZ_ECORRUPT);
            lz_func_free(g);
        }
        lz_plan_free(p);
        lz_func_free(f);
    }
}
END_TEST

/* A routine is a step without a kernel where the backend has it; its bytes say which operation it
 * is, and it is refused with buffers of other sizes. */
START_TEST(routines)
{
    static const char text[] =
        "func.func @main(%x: tensor<3x8xf32>) -> tensor<3x5xcomplex<f32>> {\n"
        "%0 = stablehlo.fft %x, type = RFFT, length = [8] : (tensor<3x8xf32>) -> "
        "tensor<3x5xcomplex<f32>>\nreturn %0 : tensor<3x5xcomplex<f32>> }";
    lz_func *f = NULL;
    lz_plan *p = NULL, *q = NULL;
    ck_assert_int_eq(lz_func_parse(text, strlen(text), NULL, &f), LZ_OK);
    ck_assert_int_eq(lz_lower(f, &(lz_lower_options){0}, &p), LZ_OK);
    ck_assert_uint_gt(p->nkernel, 0);
    lz_plan_free(p);
    ck_assert_int_eq(lz_lower(f, &(lz_lower_options){.routines = true}, &p), LZ_OK);
    ck_assert_uint_eq(p->nkernel, 0);
    ck_assert_uint_eq(p->nstep, 1);
    ck_assert_int_eq(p->steps[0].kind, LZ_STEP_ROUTINE);
    lz_buf bytes = {0};
    lz_plan_serialize(p, &bytes);
    ck_assert_int_eq(lz_plan_deserialize(bytes.data, bytes.len, &q), LZ_OK);
    ck_assert_ptr_eq(q->steps[0].routine, p->steps[0].routine);
    float x[24] = {0}, y[30];
    x[1] = x[8] = x[16 + 4] = 1;
    ck_assert_int_eq(lz_plan_run(q, (const void *[]){x}, (void *[]){y}), LZ_OK);
    for (int k = 0; k < 5; k++) {
        ck_assert_float_eq_tol(y[2 * k], cosf(0.785398163f * (float)k), 1e-6f);
        ck_assert_float_eq_tol(y[2 * k + 1], -sinf(0.785398163f * (float)k), 1e-6f);
        ck_assert_float_eq_tol(y[10 + 2 * k], 1, 1e-6f);
        ck_assert_float_eq_tol(y[20 + 2 * k], k % 2 ? -1 : 1, 1e-6f);
    }
    q->steps[0].bufs[1].nbytes--;
    ck_assert_int_eq(lz_plan_verify(q), LZ_EINTERNAL);
    q->steps[0].bufs[1].nbytes++;
    ck_assert_int_eq(lz_plan_verify(q), LZ_OK);
    q->steps[0].nbuf = 1;
    ck_assert_int_eq(lz_plan_verify(q), LZ_EINTERNAL);
    q->steps[0].nbuf = 2;
    q->steps[0].routine = NULL;
    ck_assert_int_eq(lz_plan_verify(q), LZ_EINTERNAL);
    lz_buf_free(&bytes);
    lz_plan_free(q);
    lz_plan_free(p);
    lz_func_free(f);
}
END_TEST

START_TEST(memory_failures)
{
    lz_plan *p = make(), *q;
    lz_buf b = bytes(p);
    for (int64_t n = 1;; n++) {
        int64_t live = lz_alloc_live_bytes_hint();
        lz_alloc_fail_at(n, false);
        lz_status s = lz_plan_deserialize(b.data, b.len, &q);
        lz_alloc_fail_at(0, false);
        if (s == LZ_OK)
            break;
        ck_assert_int_eq(s, LZ_EMEM);
        ck_assert_ptr_null(q);
        ck_assert_int_eq(lz_alloc_live_bytes_hint(), live);
        ck_assert_int_lt(n, 200);
    }
    lz_plan_free(q);
    lz_plan_free(p);
    lz_buf_free(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("plan");
    TCase *t = tcase_create("plan");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, runs);
    tcase_add_test(t, keeps_what_stays);
    tcase_add_test(t, round_trip);
    tcase_add_test(t, damaged_bytes);
    tcase_add_test(t, verifier_refuses);
    tcase_add_test(t, of_another_graph);
    tcase_add_test(t, of_other_calls);
    tcase_add_test(t, routines);
    tcase_add_test(t, memory_failures);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
