/* t_hyper.c - numbers that schedules change are arguments of programs: after the first, no value of
 * any of them compiles anything, 0 and 1 included, neither in the function nor in its gradient. */
#include "suite.h"
#include <lazuli/lazuli.h>
#include <math.h>
#include <stdlib.h>

#define OK(e) ck_assert_msg((e) == LZ_OK, "%s: %s", #e, lz_last_error_text())

static lz_tensor *x, *y, *w;

/* v: the number, which passes 0 and 1 where `any`, else stays above 0. */
#define FUNCTIONS(F)                                                                               \
    F(huber_loss, false, lz_huber_loss(x, y, .delta = v))                                          \
    F(smooth_l1_loss, true, lz_smooth_l1_loss(x, y, .beta = v))                                    \
    F(mul_scalar, true, lz_mul_scalar(x, v))                                                       \
    F(div_scalar, false, lz_div_scalar(x, v))                                                      \
    F(weight_of_a_loss, true,                                                                      \
      lz_add(lz_mse_loss(x, y),                                                                    \
             lz_mul_scalar(lz_kl_div(lz_log_softmax(x, 1), lz_softmax(y, 1)), v)))                 \
    F(factor_as_tensor, true, lz_mul(x, lz_full(LZ_F32, LZ_SCALAR, v)))                            \
    F(lerp_scalar, true, lz_lerp_scalar(x, y, v))                                                  \
    F(layer_norm, true, lz_layer_norm(x, LZ_SHAPE(4), NULL, NULL, v))                              \
    F(rms_norm, true, lz_rms_norm(x, LZ_SHAPE(4), NULL, v))                                        \
    F(group_norm, true, lz_group_norm(lz_unsqueeze(x, 2), 2, NULL, NULL, v))                       \
    F(batch_norm, true, lz_batch_norm(x, NULL, NULL, .training = true, .eps = v))                  \
    F(normalize, true, lz_normalize(x, 2, 1, v))                                                   \
    F(pairwise_distance, true, lz_pairwise_distance(x, y, 2, v, false))                            \
    F(cosine_similarity, true, lz_cosine_similarity(x, y, 1, v))                                   \
    F(var, true, lz_var(x, .correction = v))                                                       \
    F(std, true, lz_std(x, .correction = v))                                                       \
    F(logit, false, lz_logit(w, v / 4))

#define F(name, any, e)                                                                            \
    static lz_tensor *name(double v)                                                               \
    {                                                                                              \
        return e;                                                                                  \
    }
FUNCTIONS(F)
#undef F

static const struct {
    const char *name;
    bool any;
    lz_tensor *(*of)(double v);
} functions[] = {
#define F(name, any, e) {#name, any, name},
    FUNCTIONS(F)
#undef F
};

START_TEST(values_compile_nothing)
{
    float a[8], b[8], c[8];
    for (int i = 0; i < 8; i++) {
        a[i] = (float)sin(i * 1.7);
        b[i] = (float)cos(i * 0.9);
        c[i] = 0.1f + 0.1f * (float)i;
    }
    lz_scope_begin();
    x = lz_from_host(LZ_F32, LZ_SHAPE(2, 4), a);
    y = lz_from_host(LZ_F32, LZ_SHAPE(2, 4), b);
    w = lz_from_host(LZ_F32, LZ_SHAPE(2, 4), c);
    OK(lz_requires_grad(x, true));
    OK(lz_requires_grad(w, true));
    int64_t before = 0;
    for (int i = 0; i < 100; i++) {
        /* 0, 1 and 0.5 among them */
        double v = functions[_i].any ? (i % 41) / 20.0 : (i % 41 + 1) / 20.0;
        lz_scope_begin();
        lz_tensor *out[2] = {functions[_i].of(v), NULL}, *of = functions[_i].of == logit ? w : x;
        out[0] = lz_sum(out[0]);
        OK(lz_grad(out[0], &of, 1, &out[1]));
        OK(lz_sync(out, 2, true));
        lz_scope_end();
        if (i == 0)
            before = lz_counter_value("UncachedCompile");
        ck_assert_msg(lz_counter_value("UncachedCompile") == before, "%s: %g compiles",
                      functions[_i].name, v);
    }
    lz_scope_end();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("hyperparameters");
    TCase *t = tcase_create("values");
    setenv("LAZULI_CACHE", "0", 1);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, values_compile_nothing, 0, sizeof functions / sizeof *functions);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
