/* t_math_f64.c - the f64 functions made for targets without a C library, against the C library's
 * long double ones and those of ir/eval/special.c: random arguments of every size, special values,
 * and arguments that are hard to reduce. They run as an emulated GPU's code does. */
#include "codegen/gpu/simt.h"
#include "ir/op.h"
#include "ir/eval/special.h"
#include "suite.h"
#include "test/mock/simt_emu.h"
#include "test/unit/codegen/jit_util.h"
#include <math.h>
#include <string.h>

enum { N = 30000 };

typedef struct row {
    lz_op op;
    int arity;
    double lo, hi;    /* of random arguments, besides all bit patterns */
    double ulp, lost; /* lost: absolute error of the long double function where it cancels */
    long double (*one)(long double);
    long double (*two)(long double, long double);
} row;
static const row rows[] = {{LZ_OP_EXPONENTIAL, 1, -745, 710, 1, 0, expl, NULL},
                           {LZ_OP_EXPONENTIAL_MINUS_ONE, 1, -40, 710, 2, 0, expm1l, NULL},
                           {LZ_OP_LOG, 1, 0, 4, 1, 0, logl, NULL},
                           {LZ_OP_LOG_PLUS_ONE, 1, -1, 3, 1, 0, log1pl, NULL},
                           {LZ_OP_TANH, 1, -4, 4, 3, 0, tanhl, NULL},
                           {LZ_OP_ERF, 1, -6, 6, 2, 0, erfl, NULL},
                           {LZ_OP_CBRT, 1, -100, 100, 1, 0, cbrtl, NULL},
                           {LZ_OP_SINE, 1, -50, 50, 1, 0, sinl, NULL},
                           {LZ_OP_COSINE, 1, -2e6, 2e6, 1, 0, cosl, NULL},
                           {LZ_OP_TAN, 1, -50, 50, 2, 0, tanl, NULL},
                           {LZ_OP_ATAN2, 2, -5, 5, 2, 0, NULL, atan2l},
                           {LZ_OP_POWER, 2, 0, 60, 2, 0, NULL, powl},
                           {LZ_OP_ASIN, 1, -1, 1, 4, 0, asinl, NULL},
                           {LZ_OP_ACOS, 1, -1, 1, 4, 0, acosl, NULL},
                           {LZ_OP_ATAN, 1, -10, 10, 2, 0, atanl, NULL},
                           {LZ_OP_SINH, 1, -30, 30, 4, 0, sinhl, NULL},
                           {LZ_OP_COSH, 1, -711, 711, 4, 0, coshl, NULL},
                           {LZ_OP_ASINH, 1, -20, 20, 4, 0, asinhl, NULL},
                           {LZ_OP_ACOSH, 1, 1, 20, 4, 0, acoshl, NULL},
                           {LZ_OP_ATANH, 1, -1, 1, 4, 0, atanhl, NULL},
                           {LZ_OP_ERFC, 1, -6, 27, 8, 0, erfcl, NULL},
                           {LZ_OP_REMAINDER, 2, -1000, 1000, 0, 0, NULL, fmodl},
                           {LZ_OP_ERF_INV, 1, -1, 1, 2, 0, lz_sf_erf_inv, NULL},
                           {LZ_OP_LGAMMA, 1, -20, 40, 1, 1e-17, lz_sf_lgamma, NULL},
                           {LZ_OP_DIGAMMA, 1, -20, 40, 1, 1e-17, lz_sf_digamma, NULL},
                           {LZ_OP_BESSEL_I1E, 1, -60, 60, 1, 0, lz_sf_bessel_i1e, NULL},
                           {LZ_OP_ZETA, 2, 0, 60, 1, 0, NULL, lz_sf_zeta},
                           {LZ_OP_POLYGAMMA, 2, 0, 40, 1, 1e-17, NULL, lz_sf_polygamma}};

static const double special[] = {0.0,
                                 -0.0,
                                 1,
                                 -1,
                                 0.5,
                                 -2,
                                 3,
                                 INFINITY,
                                 -INFINITY,
                                 NAN,
                                 0x1p-1074,
                                 -0x1.fffffffffffffp-1023,
                                 0x1p-1022,
                                 0x1.fffffffffffffp1023,
                                 1e22,
                                 6381956970095103.0 * 0x1p797, /* nearest to a multiple of pi/2 */
                                 1.5707963267948966,
                                 0x1p20,
                                 1048575.9999,
                                 709.782712893384,
                                 -745.1332191019411,
                                 -1e-300,
                                 1.0000000000000002, /* by a root of log gamma, three times */
                                 1.9999999999999998,
                                 -2.4570247382208006,
                                 1.4616321449683622}; /* and of its derivative */
enum { SPECIAL = sizeof special / sizeof *special };

static double argument(const row *r, int i, int which)
{
    if (i < SPECIAL * SPECIAL)
        return special[which ? i / SPECIAL : i % SPECIAL];
    double d;
    uint64_t u = rnd64();
    memcpy(&d, &u, sizeof d);
    return i % 3 ? r->lo + (r->hi - r->lo) * (rnd_unit() + 1) / 2 : d;
}

/* out[i] = op(a[i], b[i]) */
static lz_kernel *kernel_of(const row *r)
{
    lz_kernel *k = lz_kernel_new("math");
    k->nbuf = 3;
    for (int i = 0; i < 3; i++)
        k->buf[i] = (lz_kbuf){LZ_F64, i < 2, i == 2, false, -1};
    k->nouter = 1;
    k->outer[0] = sz(N);
    stages_new(k, 1);
    lz_stage *st = stage_of(k, 0);
    st->sops = lz_arena_alloc(&k->arena, 3 * sizeof *st->sops);
    st->accs = lz_arena_alloc(&k->arena, 2 * sizeof *st->accs);
    st->stores = lz_arena_alloc(&k->arena, sizeof *st->stores);
    for (uint32_t i = 0; i < 2; i++) {
        st->accs[i] = access_to(i);
        st->accs[i].stride[0] = sz(1);
        st->sops[i] = (lz_sop){.kind = LZ_S_LOAD, .dtype = LZ_F64, .a = (int32_t)i};
    }
    st->sops[2] =
        (lz_sop){.kind = LZ_S_EW, .dtype = LZ_F64, .op = r->op, .a = 0, .b = r->arity - 1};
    st->nsop = 3;
    st->nacc = 2;
    st->stores[0] = (lz_loop_store){.at = access_to(2), .value = 2};
    st->stores[0].at.stride[0] = sz(1);
    st->nstore = 1;
    ck_assert_msg(lz_kernel_finish(k) == LZ_OK, "%s", lz_error_get()->message);
    return k;
}

static double ulps(double got, double want)
{
    if ((isnan(got) && isnan(want)) || (got == want && signbit(got) == signbit(want)))
        return 0;
    if (isnan(got) || isnan(want) || isinf(want) || want == 0)
        return 1e9;
    double big = fabs(want) < 0x1p-1022 ? 0x1p-1022 : fabs(want);
    return fabs(got - want) / (nextafter(big, INFINITY) - big);
}

START_TEST(function)
{
    const row *r = &rows[_i];
    static double a[N], b[N], out[N];
    for (int i = 0; i < N; i++) {
        a[i] = argument(r, i, 0);
        b[i] = argument(r, i, 1);
    }
    lz_kernel *k = kernel_of(r);
    lz_target t;
    lz_buf object = {0};
    emu_kernel code;
    ck_assert_int_eq(lz_simt_emulated(9, 0, &t), LZ_OK);
    ck_assert_msg(lz_llvm_compile(k, &t, &object, NULL, NULL) == LZ_OK, "%s",
                  lz_error_get()->message);
    const char *wrong = emu_load(object.data, &code);
    ck_assert_msg(!wrong, "%s", wrong);
    uint64_t value[8] = {(uintptr_t)a, (uintptr_t)b, (uintptr_t)out};
    void *params[8];
    for (uint32_t i = 0; i < k->narg; i++)
        value[3 + i] = (uint64_t)k->args[i];
    for (int i = 0; i < 8; i++)
        params[i] = &value[i];
    lz_simt_dims d;
    lz_simt_dims_of(k, k->args, &t, 2, &d);
    ck_assert_uint_eq(d.nlaunch, 1);
    emu_function *f = emu_find(&code, lz_simt_entry_name(k, &t, d.launch[0].entry));
    ck_assert_ptr_null(emu_run(&code, f, params, &d.launch[0], false));
    double worst = 0;
    for (int i = 0; i < N; i++) {
        double want = (double)(r->one ? r->one(a[i]) : r->two(a[i], b[i])),
               e = fabs(out[i] - want) <= r->lost ? 0 : ulps(out[i], want);
        ck_assert_msg(e <= r->ulp + 0.51, "%s(%.17g, %.17g) = %.17g, not %.17g: %.2f ulp",
                      lz_op_get(r->op)->text, a[i], b[i], out[i], want, e);
        worst = e > worst ? e : worst;
    }
    printf("%s: %.2f ulp\n", lz_op_get(r->op)->text, worst);
    emu_unload(&code);
    lz_buf_free(&object);
    lz_kernel_free(k);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("math_f64");
    TCase *t = tcase_create("against the C library");
    tcase_add_loop_test(t, function, 0, (int)(sizeof rows / sizeof *rows));
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
