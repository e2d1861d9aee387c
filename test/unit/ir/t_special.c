/* t_special.c - the special functions of the reference against values worked out with sixty digits,
 * at their edges, and against each other. */
#include "ir/eval/eval.h"
#include "ir/eval/special.h"
#include "suite.h"
#include "support/lit.h"
#include <math.h>

typedef struct known {
    double x;
    long double want;
} known;
typedef struct known2 {
    double a, x;
    long double want;
} known2;

static const known digamma_at[] = {
    {0x1.0000000000000p+0, -5.772156649015328606065e-1L},
    {0x1.0000000000000p-1, -1.963510026021423479441L},
    {0x1.0000000000000p+1, 4.227843350984671393935e-1L},
    {0x1.4000000000000p+0, -2.274535333762654080895e-1L},
    {0x1.762d866666666p+0, 1.103505155543067498387e-8L},
    {0x1.4000000000000p+3, 2.251752589066721107647L},
    {0x1.86a0000000000p+16, 1.151292046496189508676e+1L},
    {0x1.4f8b588e368f1p-17, -1.000005771992156728887e+5L},
    {-0x1.0000000000000p-1, 3.648997397857652055902e-2L},
    {-0x1.c000000000000p+0, -2.322691628614360646185L},
    {-0x1.4800000000000p+3, 5.516858419886273305325L},
    {0x1.7e43c8800759cp+996, 6.907755278982137052579e+2L},
    {-0x1.5798ee2308c3ap-27, 9.999999942278431655687e+7L},
};
static const known lgamma_at[] = {
    {0x1.0000000000000p-1, 5.723649429247000870717e-1L},
    {0x1.8000000000000p+0, -1.207822376352452223455e-1L},
    {0x1.0000020000000p+0, -6.880945764253471151164e-8L},
    {0x1.0000020000000p+1, 1.007996587707031314211e-7L},
    {0x1.d99999999999ap+1, 1.4280723266653881292L},
    {0x1.4000000000000p+3, 1.280182748008146961121e+1L},
    {0x1.86a0000000000p+16, 1.051287708973656894901e+6L},
    {0x1.4484bfeebc2a0p-100, 6.90775527898213704372e+1L},
    {-0x1.0000000000000p-1, 1.265512123484645396489L},
    {-0x1.3a7fca0000000p+1, -1.128784252964581575609e-7L},
    {-0x1.a000000000000p+1, -6.231534513209986466254e-1L},
    {-0x1.5000000000000p+3, -1.51472705907178411461e+1L},
    {0x1.7e43c8800759cp+996, 6.897755278982137414744e+302L},
};
static const known erf_inv_at[] = {
    {0x1.0000000000000p-1, 4.769362762044698733814e-1L},
    {-0x1.0000000000000p-1, -4.769362762044698733814e-1L},
    {0x1.0000000000000p-2, 2.25312055012178104725e-1L},
    {0x1.79ca10c924223p-67, 8.862269254527579650424e-21L},
    {0x1.ccccccccccccdp-1, 1.163087153676674162844L},
    {-0x1.fae147ae147aep-1, -1.821386367718449455873L},
    {0x1.fffffca501acbp-1, 3.766562581638470888715L},
    {0x1.fffffe0000000p-1, 3.832506856900710909458L},
    {0x1.fffffffffffffp-1, 5.863584748755167927208L},
    {-0x1.0000000000000p-3, -1.112354518409499591472e-1L},
    {0x1.56e1fc2f8f359p-997, 8.862269254527580358571e-301L},
};
static const known bessel_i1e_at[] = {
    {0x1.0000000000000p+0, 2.079104153497084488694e-1L},
    {-0x1.0000000000000p+0, -2.079104153497084488694e-1L},
    {0x1.0000000000000p-3, 5.526385324160323914622e-2L},
    {0x1.4000000000000p+2, 1.639722669445423569261e-1L},
    {0x1.3c00000000000p+5, 6.286878729255693893164e-2L},
    {0x1.4400000000000p+5, 6.210271053578732786571e-2L},
    {-0x1.9000000000000p+6, -3.974415302513025267364e-2L},
    {0x1.2a05f20000000p+33, 3.989422803864723424244e-6L},
    {0x1.b7cdfd9d7bdbbp-34, 4.999999999500000182192e-11L},
    {0x1.0000000000000p+3, 1.341424932926981783069e-1L},
};
static const known2 zetas[] = {
    {0x1.0000000000000p+1, 0x1.0000000000000p+0, 1.644934066848226436472L},
    {0x1.8000000000000p+1, 0x1.0000000000000p-1, 8.414398322117159997798L},
    {0x1.8000000000000p+0, 0x1.0000000000000p+2, 1.066371868362339326312L},
    {0x1.0000000000000p+1, 0x1.f400000000000p+9, 1.000500166666633333357e-3L},
    {0x1.4000000000000p+4, 0x1.0000000000000p-2, 1.099511627776011529306e+12L},
    {0x1.0000020000000p+0, 0x1.0000000000000p+1, 8.388607577215673581858e+6L},
    {0x1.4000000000000p+2, -0x1.8000000000000p+0, 1.307316664611380680731e-2L},
    {0x1.0000000000000p+1, -0x1.0000000000000p-2, 1.85418796476716064984e+1L},
    {0x1.0000000000000p+2, 0x1.e800000000000p+4, 1.233882695906474594126e-5L},
    {0x1.9000000000000p+6, 0x1.8000000000000p+0, 2.459654426579829269244e-18L},
    {0x1.0000000000000p+1, 0x1.2a05f20000000p+33, 1.000000000050000000002e-10L},
    {0x1.cp+2, -0x1.48p+4, 1.935594357713432404598e-9L},
    {0x1.cp+2, -0x1.62p+6, 3.352839583819336713988e-13L},
    {0x1.8cp+6, -0x1.cp+1, 2.147638284642871370379e-65L},
    {0x1.2p+3, -0x1.f44p+9, 1.240041137717972227244e-25L},
    {0x1.8p+1, -0x1.47fffffffffffp+4, 1.13314495947283224012e-3L},
    {0x1.5p+4, -0x1.8000000000001p+0, 4.351736876869876358006e-8L},
    {0x1.8p+1, -0x1.7p+0, -6.28613957574293304245L},
    {0x1.4p+2, -0x1.e2p+2, 2.058373063496355876031e+1L},
    {0x1p+2, -0x1.dp+2, 2.597568658672340828856e+2L},
    {0x1.8p+1, -0x1.12e0be826d695p-30, -9.999999999999998131552e+26L},
    {0x1.9p+6, -0x1.4p+1, 2.535301200456458802993e+30L},
    {0x1.8p+1, -0x1.387ep+13, 6.201255336559939034783e+1L},
};
static const known2 polygammas[] = {
    {0x0.0p+0, 0x1.4000000000000p+1, 7.031566406452431872257e-1L},
    {0x1.0000000000000p+0, 0x1.0000000000000p+0, 1.644934066848226436472L},
    {0x1.0000000000000p+0, 0x1.0000000000000p-2, 1.719732915450711073927e+1L},
    {0x1.0000000000000p+1, 0x1.c000000000000p+1, -1.082040516417274030037e-1L},
    {0x1.8000000000000p+1, 0x1.0000000000000p-1, 9.740909103400243723644e+1L},
    {0x1.0000000000000p+0, 0x1.9000000000000p+6, 1.005016666333357139525e-2L},
    {0x1.0000000000000p+1, 0x1.0624dd2f1a9fcp-10, -2.000000002397632164833e+9L},
    {0x1.4000000000000p+2, 0x1.c000000000000p+2, 2.009493175049029116637e-3L},
    {0x1.0000000000000p+0, -0x1.0000000000000p-1, 8.934802200544679309417L},
    {0x1.0000000000000p+1, -0x1.4000000000000p+0, 1.237213667836623603686e+2L},
    {0x1.8p+2, -0x1.48p+4, -1.39362793755367133131e-6L},
    {0x1p+1, -0x1.8p+0, -2.362040516417274030037e-1L},
    {0x1p+3, -0x1.e8p+4, -5.890926826902333636872e-9L},
};

/* Relative, or absolute near roots and where large terms cancel. */
static bool near(long double got, long double want, long double eps)
{
    return fabsl(got - want) <= fmaxl(eps * fabsl(want), 2e-18L);
}

static const struct {
    const char *name;
    long double (*fn)(long double);
    const known *rows;
    size_t n;
    long double eps;
} ones[] = {
#define ROW(name, eps)                                                                             \
    {                                                                                              \
#name, lz_sf_##name, name##_at, sizeof name##_at / sizeof *name##_at, eps                  \
    }
    ROW(digamma, 2e-17L), ROW(lgamma, 2e-17L), ROW(erf_inv, 2e-17L), ROW(bessel_i1e, 2e-17L)};

START_TEST(values)
{
    for (size_t i = 0; i < ones[_i].n; i++) {
        known k = ones[_i].rows[i];
        long double got = ones[_i].fn(k.x);
        bool tiny = fabsl(k.want) < 1e-6L && fabs(k.x) < 1e-6; /* odd functions near 0: relative */
        ck_assert_msg(tiny ? fabsl(got - k.want) <= 1e-17L * fabsl(k.want)
                           : near(got, k.want, ones[_i].eps),
                      "%s(%a) = %.22Lg, want %.22Lg", ones[_i].name, k.x, got, k.want);
    }
}
END_TEST

START_TEST(values_of_two)
{
    for (size_t i = 0; i < sizeof zetas / sizeof *zetas; i++) {
        long double got = lz_sf_zeta(zetas[i].a, zetas[i].x);
        ck_assert_msg(fabsl(got - zetas[i].want) <= 2e-17L * fabsl(zetas[i].want),
                      "zeta(%g, %g) = %.22Lg, want %.22Lg", zetas[i].a, zetas[i].x, got,
                      zetas[i].want);
    }
    for (size_t i = 0; i < sizeof polygammas / sizeof *polygammas; i++) {
        long double got = lz_sf_polygamma(polygammas[i].a, polygammas[i].x);
        bool root = polygammas[i].a == 0; /* digamma's, near which it is absolute */
        ck_assert_msg(root ? near(got, polygammas[i].want, 4e-17L)
                           : fabsl(got - polygammas[i].want) <= 4e-17L * fabsl(polygammas[i].want),
                      "polygamma(%g, %g) = %.22Lg, want %.22Lg", polygammas[i].a, polygammas[i].x,
                      got, polygammas[i].want);
    }
}
END_TEST

START_TEST(edges)
{
    ck_assert(lz_sf_digamma(0) == -INFINITY && lz_sf_digamma(-0.0L) == INFINITY &&
              isnan(lz_sf_digamma(-3)) && isnan(lz_sf_digamma(-INFINITY)) &&
              isnan(lz_sf_digamma(NAN)) && lz_sf_digamma(INFINITY) == INFINITY &&
              isnan(lz_sf_digamma(-1e30L)));
    ck_assert(lz_sf_lgamma(0) == INFINITY && lz_sf_lgamma(-4) == INFINITY && lz_sf_lgamma(1) == 0 &&
              lz_sf_lgamma(2) == 0 && lz_sf_lgamma(-INFINITY) == INFINITY);
    ck_assert(lz_sf_erf_inv(1) == INFINITY && lz_sf_erf_inv(-1) == -INFINITY &&
              isnan(lz_sf_erf_inv(1.5)) && isnan(lz_sf_erf_inv(NAN)) &&
              signbit(lz_sf_erf_inv(-0.0L)) && lz_sf_erf_inv(0) == 0);
    ck_assert(lz_sf_zeta(1, 2) == INFINITY && isnan(lz_sf_zeta(0.5, 2)) &&
              lz_sf_zeta(2, 0) == INFINITY && lz_sf_zeta(2, -5) == INFINITY &&
              isnan(lz_sf_zeta(2.5, -0.5)) && isnan(lz_sf_zeta(2, -1e9L + 0.5L)) &&
              isnan(lz_sf_zeta(NAN, 1)) && lz_sf_zeta(2, INFINITY) == 0);
    ck_assert(isnan(lz_sf_polygamma(-1, 2)) && isnan(lz_sf_polygamma(0.5, 2)) &&
              isnan(lz_sf_polygamma(NAN, 2)) && lz_sf_polygamma(2, 0) == -INFINITY &&
              lz_sf_polygamma(1, 0) == INFINITY);
    ck_assert(lz_sf_bessel_i1e(0) == 0 && signbit(lz_sf_bessel_i1e(-0.0L)) &&
              lz_sf_bessel_i1e(INFINITY) == 0 && isnan(lz_sf_bessel_i1e(NAN)));
}
END_TEST

START_TEST(inverses)
{
    lz_rnd r = {5};
    for (int i = 0; i < 2000; i++) {
        long double x = (long double)lz_rnd_unit(&r) * 2 - 1;
        ck_assert(near(erfl(lz_sf_erf_inv(x)), x, 1e-17L));
        long double y = 40 * (long double)lz_rnd_unit(&r) - 20;
        ck_assert(near(lz_sf_digamma(y + 1), lz_sf_digamma(y) + 1 / y, 1e-15L));
        long double s = 1.1L + 5 * (long double)lz_rnd_unit(&r),
                    q = 30 * (long double)lz_rnd_unit(&r) + 0.01L;
        ck_assert(near(lz_sf_zeta(s, q), powl(q, -s) + lz_sf_zeta(s, q + 1), 1e-17L));
    }
}
END_TEST

/* Every step of f16, and edges of the wider ones. */
START_TEST(next_after)
{
    static const lz_dtype d[] = {LZ_F16, LZ_BF16, LZ_F32, LZ_F64};
    for (int k = 0; k < 4; k++) {
        uint64_t sign = UINT64_C(1) << (lz_dtype_size(d[k]) * 8 - 1), inf, out;
        lz_dtype in[2] = {d[k], d[k]};
        lz_elem_set_f64(d[k], &inf, 0, INFINITY);
        inf &= sign | (sign - 1);
        const uint64_t t[][3] = {{0, inf, 1},
                                 {0, inf | sign, sign | 1},
                                 {sign, inf, 1},
                                 {0, sign, sign},
                                 {sign, 0, 0},
                                 {inf, 0, inf - 1},
                                 {inf - 1, inf, inf},
                                 {1, 0, 0},
                                 {sign | 1, inf, sign},
                                 {inf | sign, inf, (inf | sign) - 1},
                                 {5, 5, 5},
                                 {7, 900, 8}};
        for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
            ck_assert_int_eq(lz_ref_eval_bits(LZ_OP_NEXT_AFTER, NULL, d[k], in, t[i], &out), LZ_OK);
            ck_assert_msg(out == t[i][2], "%s case %zu: %llx", lz_dtype_name(d[k]), i,
                          (unsigned long long)out);
        }
        uint64_t nan[2] = {inf + 1, 3};
        ck_assert_int_eq(lz_ref_eval_bits(LZ_OP_NEXT_AFTER, NULL, d[k], in, nan, &out), LZ_OK);
        ck_assert(isnan(lz_elem_get_f64(d[k], &out, 0)));
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("special");
    TCase *t = tcase_create("special");
    tcase_add_loop_test(t, values, 0, (int)(sizeof ones / sizeof *ones));
    tcase_add_test(t, values_of_two);
    tcase_add_test(t, edges);
    tcase_add_test(t, inverses);
    tcase_add_test(t, next_after);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
