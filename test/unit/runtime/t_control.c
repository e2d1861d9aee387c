/* t_control.c - loops and branches recorded by callbacks: values, random numbers, what goes wrong,
 * what is compiled. */
#include "rt.h"
#include <stdlib.h>

static lz_tensor *vec(int n, const float *v)
{
    return lz_from_host(LZ_F32, LZ_SHAPE(n), v);
}

/* ---- callbacks ---- */

static void times_w(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    out[0] = lz_add(lz_mul(in[0], user), lz_hlo_convert(i, LZ_F32));
}
static void keep(lz_tensor *const *carry, lz_tensor *const *x, lz_tensor **next, lz_tensor **y,
                 void *user)
{
    (void)user;
    next[0] = lz_add(carry[0], x[0]);
    y[0] = next[0];
    y[1] = lz_sum(x[0]);
}
static lz_tensor *less(lz_tensor *const *in, void *user)
{
    return lz_hlo_compare(LZ_HLO_LT, lz_sum(in[0]), user);
}
static void twice(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_add(in[0], in[0]);
}
static void minus(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_neg(in[0]);
}

START_TEST(values)
{
    rt_use(rt_devices[_i]);
    lz_tensor *w = vec(2, (float[]){0.5f, 2}), *x = vec(2, (float[]){1, 3}), *o, *ys[2];
    OK(lz_fori(2, 5, &x, 1, times_w, w, &o));
    rt_expect(o, (float[]){6.125f, 42}, 2, 1e-6);
    OK(lz_fori(5, 2, &x, 1, times_w, w, &o));
    rt_expect(o, (float[]){1, 3}, 2, 0);
    lz_tensor *xs = lz_from_host(LZ_F32, LZ_SHAPE(3, 2), ((float[]){1, 2, 3, 4, 5, 6}));
    OK(lz_scan(&x, 1, &xs, 1, 2, keep, NULL, &o, ys));
    rt_expect(o, (float[]){10, 15}, 2, 0);
    rt_expect(ys[0], (float[]){2, 5, 5, 9, 10, 15}, 6, 0);
    rt_expect(ys[1], (float[]){3, 7, 11}, 3, 0);
    OK(lz_scan(&x, 1, &xs, 1, 2, keep, NULL, &o, ys, .reverse = true));
    rt_expect(ys[0], (float[]){10, 15, 9, 13, 6, 9}, 6, 0);
    lz_tensor *none = lz_from_host(LZ_F32, LZ_SHAPE(0, 2), (float[1]){0});
    OK(lz_scan(&x, 1, &none, 1, 2, keep, NULL, &o, ys));
    rt_expect(o, (float[]){1, 3}, 2, 0);
    ck_assert(lz_rank_of(ys[0]) == 2 && lz_numel(ys[0]) == 0 && lz_rank_of(ys[1]) == 1);
    OK(lz_while(&x, 1, less, twice, lz_scalar(LZ_F32, 100), &o));
    rt_expect(o, (float[]){32, 96}, 2, 0);
    lz_body_fn *many[200]; /* more than an i8 counts */
    for (int k = 0; k < 200; k++)
        many[k] = k == 199 ? minus : twice;
    int8_t narrow = 43; /* what 299 would wrap to, and 199 to -57 */
    lz_tensor *at = lz_from_host(LZ_I8, LZ_SCALAR, &narrow);
    OK(lz_switch(at, many, 200, &x, 1, 1, NULL, &o));
    rt_expect(o, (float[]){2, 6}, 2, 0);
    narrow = -57;
    at = lz_from_host(LZ_I8, LZ_SCALAR, &narrow);
    OK(lz_switch(at, many, 200, &x, 1, 1, NULL, &o)); /* none of the branches: the last */
    rt_expect(o, (float[]){-1, -3}, 2, 0);
    lz_body_fn *const fn[3] = {twice, minus, twice};
    for (int k = -1; k < 4; k++) {
        OK(lz_switch(lz_scalar(LZ_I32, k), fn, 3, &x, 1, 1, NULL, &o));
        rt_expect(o, k == 1 ? (float[]){-1, -3} : (float[]){2, 6}, 2, 0);
        lz_tensor *p = lz_hlo_compare(LZ_HLO_GT, lz_scalar(LZ_I32, k), lz_scalar(LZ_I32, 0));
        OK(lz_cond(p, twice, minus, &x, 1, 1, NULL, &o));
        rt_expect(o, k > 0 ? (float[]){2, 6} : (float[]){-1, -3}, 2, 0);
    }
}
END_TEST

/* ---- random numbers ---- */

static void draw(lz_tensor *const *carry, lz_tensor *const *x, lz_tensor **next, lz_tensor **y,
                 void *user)
{
    (void)x, (void)user;
    next[0] = carry[0];
    y[0] = lz_rand(LZ_F32, LZ_SHAPE(5));
}
static void draw_rows(lz_tensor *const *carry, lz_tensor *const *x, lz_tensor **next, lz_tensor **y,
                      void *user)
{
    lz_tensor *h;
    (void)x, (void)user;
    lz_scan(carry, 1, NULL, 0, 1, draw, NULL, &h, y, .length = 3);
    next[0] = h;
}

/* Every round of every loop draws numbers of its own, the same on every device, and what comes
 * after draws others still. */
START_TEST(rounds_draw_their_own_numbers)
{
    float got[2][2][70];
    for (int d = 0; d < 2; d++)
        for (int again = 0; again < 2; again++) {
            OK(lz_set_device(d ? "CPU" : "REF"));
            OK(lz_manual_seed(7));
            lz_tensor *zero = lz_zeros(LZ_F32, LZ_SHAPE(1)), *h, *y;
            OK(lz_scan(&zero, 1, NULL, 0, 1, draw_rows, NULL, &h, &y, .length = 4));
            OK(lz_to_host(y, got[d][again], 60 * sizeof(float)));
            OK(lz_to_host(lz_rand(LZ_F32, LZ_SHAPE(10)), got[d][again] + 60, 10 * sizeof(float)));
        }
    ck_assert_mem_eq(got[0][0], got[0][1], sizeof got[0][0]);
    ck_assert_mem_eq(got[0][0], got[1][0], sizeof got[0][0]);
    for (int i = 0; i < 70; i++)
        for (int j = 0; j < i; j++)
            ck_assert_msg(got[0][0][i] != got[0][0][j], "%d and %d are %g", i, j, got[0][0][i]);
}
END_TEST

/* ---- what goes wrong ---- */

static lz_tensor *leaked;

static void leak(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)i, (void)user;
    leaked = lz_retain(lz_add(in[0], in[0]));
    out[0] = leaked;
}
static void read_inside(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)i;
    float v[2];
    *(lz_status *)user = lz_to_host(in[0], v, sizeof v);
    out[0] = in[0];
}
static void step_inside(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)i;
    out[0] = lz_add(in[0], in[0]);
    *(lz_status *)user = lz_mark_step();
}
static void wider(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)i, (void)user;
    out[0] = lz_cat(((lz_tensor *[]){in[0], in[0]}), 2, 0);
}
static void nothing(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)i, (void)in, (void)out, (void)user;
}
static void fails(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)i;
    out[0] = lz_matmul(in[0], user);
}
static void to_int(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_hlo_convert(in[0], LZ_I32);
}

START_TEST(what_goes_wrong_is_named)
{
    rt_use(rt_devices[_i]);
    lz_tensor *x = vec(2, (float[]){1, 3}), *o, *ys[2];
    lz_status inside = LZ_OK;
    OK(lz_fori(0, 2, &x, 1, leak, NULL, &o));
    float v[2];
    FAILS(lz_to_host(leaked, v, sizeof v), LZ_EINVAL, "only inside the body");
    OK(lz_release(leaked));
    rt_expect(o, (float[]){4, 12}, 2, 0);
    OK(lz_fori(0, 2, &x, 1, read_inside, &inside, &o));
    ck_assert_int_eq(inside, LZ_EINVAL);
    rt_expect(o, (float[]){1, 3}, 2, 0);
    OK(lz_fori(0, 2, &x, 1, step_inside, &inside, &o));
    ck_assert_int_eq(inside, LZ_EINVAL);
    rt_expect(o, (float[]){4, 12}, 2, 0);
    FAILS(lz_fori(0, 2, &x, 1, wider, NULL, &o), LZ_ESHAPE,
          "result 0 is f32[4], but must be f32[2]");
    BAD(o, LZ_ESHAPE, "lz_fori");
    FAILS(lz_fori(0, 2, &x, 1, nothing, NULL, &o), LZ_ENULL, "result 0 was not given");
    FAILS(lz_fori(0, 2, &x, 1, fails, vec(3, (float[]){1, 2, 3}), &o), LZ_ESHAPE, "lz_matmul");
    FAILS(lz_fori(0, 2, &x, 1, NULL, NULL, &o), LZ_ENULL, "body");
    FAILS(lz_fori(0, 2, &x, 0, leak, NULL, &o), LZ_EINVAL, "0 values");
    FAILS(lz_fori(INT64_MIN, INT64_MAX, &x, 1, leak, NULL, &o), LZ_ERANGE, "rounds");
    FAILS(lz_fori(0, 2, &(lz_tensor *){NULL}, 1, leak, NULL, &o), LZ_ENULL, "init[0]");
    lz_tensor *p = lz_hlo_compare(LZ_HLO_GT, lz_sum(x), lz_scalar(LZ_F32, 0));
    FAILS(lz_cond(p, twice, to_int, &x, 1, 1, NULL, &o), LZ_EDTYPE, "result of a later branch 0");
    FAILS(lz_cond(x, twice, minus, &x, 1, 1, NULL, &o), LZ_EDTYPE, "pred is f32[2]");
    FAILS(lz_switch(x, (lz_body_fn *[]){twice, minus}, 2, &x, 1, 1, NULL, &o), LZ_EDTYPE, "index");
    FAILS(lz_switch(lz_scalar(LZ_I32, 0), (lz_body_fn *[]){twice, NULL}, 2, &x, 1, 1, NULL, &o),
          LZ_ENULL, "branch 1");
    lz_tensor *s = lz_scalar(LZ_F32, 1);
    FAILS(lz_scan(&x, 1, &s, 1, 2, keep, NULL, &o, ys), LZ_ESHAPE, "nothing to step over");
    lz_tensor *bad[2] = {x, vec(3, (float[]){1, 2, 3})};
    FAILS(lz_scan(&x, 1, bad, 2, 2, keep, NULL, &o, ys), LZ_ESHAPE, "xs[1]");
    rt_expect(lz_add(x, x), (float[]){2, 6}, 2, 0); /* the program goes on */
    OK(lz_mark_step());                             /* every failure has been looked at */
}
END_TEST

/* ---- cost ---- */

/* The same loop on other numbers is the same program. */
START_TEST(loops_compile_once)
{
    rt_use("CPU");
    lz_tensor *x = vec(2, (float[]){1, 3}), *w = vec(2, (float[]){0.5f, 2}), *o;
    for (int i = 0; i < 3; i++) {
        OK(lz_fori(0, 3, &x, 1, times_w, lz_mul(w, lz_scalar(LZ_F32, 2 + i)), &o));
        OK(lz_to_host(o, (float[2]){0}, 8));
    }
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), 1);
    ck_assert_int_eq(lz_counter_value("CachedCompile"), 2);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("runtime/control");
    TCase *t = tcase_create("control");
    tcase_add_loop_test(t, values, 0, 2);
    tcase_add_test(t, rounds_draw_their_own_numbers);
    tcase_add_loop_test(t, what_goes_wrong_is_named, 0, 2);
    tcase_add_test(t, loops_compile_once);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
