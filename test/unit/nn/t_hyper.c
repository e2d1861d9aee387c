/* t_hyper.c - numbers that schedules change are arguments of programs: after the first, no value of
 * any of them compiles anything, 0 and 1 included, neither in the function nor in its gradient. */
#include "suite.h"
#include <lazuli/lazuli.h>
#include <math.h>
#include <stdlib.h>

#define OK(e) ck_assert_msg((e) == LZ_OK, "%s: %s", #e, lz_last_error_text())

static lz_tensor *x, *y, *w, *z;

/* Of whose numbers 41 are tried, 0.05 apart. */
typedef enum range {
    ANY,    /* from -1 to 1 */
    FROM_0, /* to 2 */
    ABOVE   /* from 0.05: 0 is refused, or another function (a loss without smoothing, a sum that
               does not read an operand) */
} range;

#define FUNCTIONS(F)                                                                               \
    F(huber_loss, ABOVE, lz_huber_loss(x, y, .delta = v))                                          \
    F(smooth_l1_loss, FROM_0, lz_smooth_l1_loss(x, y, .beta = v))                                  \
    F(add_scalar, FROM_0, lz_add_scalar(x, v / 3))                                                 \
    F(mul_scalar, FROM_0, lz_mul_scalar(x, v))                                                     \
    F(div_scalar, ABOVE, lz_div_scalar(x, v))                                                      \
    F(weight_of_a_loss, FROM_0,                                                                    \
      lz_add(lz_mse_loss(x, y),                                                                    \
             lz_mul_scalar(lz_kl_div(lz_log_softmax(x, 1), lz_softmax(y, 1)), v)))                 \
    F(factor_as_tensor, ANY, lz_mul(x, lz_full(LZ_F32, LZ_SCALAR, v)))                             \
    F(lerp_scalar, ANY, lz_lerp_scalar(x, y, v))                                                   \
    F(add_alpha, ANY, lz_add_alpha(y, x, v))                                                       \
    F(sub_alpha, ANY, lz_sub_alpha(y, x, v))                                                       \
    F(addcmul, ANY, lz_addcmul(y, x, y, v))                                                        \
    F(addcdiv, ANY, lz_addcdiv(y, x, w, v))                                                        \
    F(addmm_alpha, ANY, lz_addmm(z, x, lz_transpose(y, 0, 1), .alpha = v, .beta = 0.5))            \
    F(addmm_beta, ABOVE, lz_addmm(z, x, lz_transpose(y, 0, 1), .alpha = 0.5, .beta = v))           \
    F(baddbmm_alpha, ANY,                                                                          \
      lz_baddbmm(z, lz_unsqueeze(x, 0), lz_transpose(lz_unsqueeze(y, 0), 1, 2), .alpha = v,        \
                 .beta = 2))                                                                       \
    F(clamp, ABOVE, lz_clamp(x, -v, v))                                                            \
    F(clip_to_ratio, FROM_0, lz_clamp(x, 1 - v / 2, 1 + v / 2))                                    \
    F(div_scalar_mode, ABOVE, lz_add(x, lz_div_scalar_mode(x, v, "floor")))                        \
    F(scalar_pow, ABOVE, lz_scalar_pow(v, x))                                                      \
    F(nan_to_num, ANY, lz_nan_to_num(x, .nan = v, .posinf = 1 + v))                                \
    F(leaky_relu, ANY, lz_leaky_relu(x, .negative_slope = v))                                      \
    F(rrelu, FROM_0, lz_rrelu(x, v, v, false))                                                     \
    F(elu_alpha, ANY, lz_elu(x, .alpha = v))                                                       \
    F(elu_scale, ANY, lz_elu(x, .scale = v))                                                       \
    F(elu_input_scale, ANY, lz_elu(x, .input_scale = v))                                           \
    F(celu, ABOVE, lz_celu(x, v))                                                                  \
    F(softplus_beta, ABOVE, lz_softplus(x, .beta = v))                                             \
    F(softplus_threshold, ANY, lz_softplus(x, .threshold = v))                                     \
    F(hardtanh, ABOVE, lz_hardtanh(x, .min_val = -v, .max_val = v))                                \
    F(hardshrink, FROM_0, lz_hardshrink(x, v))                                                     \
    F(softshrink, FROM_0, lz_softshrink(x, v))                                                     \
    F(threshold, ANY, lz_threshold(x, v / 3, v / 3))                                               \
    F(layer_norm, FROM_0, lz_layer_norm(x, LZ_SHAPE(4), NULL, NULL, v))                            \
    F(rms_norm, FROM_0, lz_rms_norm(x, LZ_SHAPE(4), NULL, v))                                      \
    F(group_norm, FROM_0, lz_group_norm(lz_unsqueeze(x, 2), 2, NULL, NULL, v))                     \
    F(instance_norm, FROM_0, lz_instance_norm(lz_unsqueeze(x, 0), NULL, NULL, v))                  \
    F(batch_norm, FROM_0, lz_batch_norm(x, NULL, NULL, .training = true, .eps = v))                \
    F(local_response_norm_alpha, ANY, lz_local_response_norm(lz_unsqueeze(x, 0), 3, v, 0.75, 4))   \
    F(local_response_norm_k, FROM_0, lz_local_response_norm(lz_unsqueeze(x, 0), 3, 0.1, 0.75, v))  \
    F(normalize, FROM_0, lz_normalize(x, 2, 1, v))                                                 \
    F(renorm, FROM_0, lz_renorm(x, 2, 0, v))                                                       \
    F(pairwise_distance, FROM_0, lz_pairwise_distance(x, y, 2, v, false))                          \
    F(cosine_similarity, FROM_0, lz_cosine_similarity(x, y, 1, v))                                 \
    F(var, FROM_0, lz_var(x, .correction = v))                                                     \
    F(std, FROM_0, lz_std(x, .correction = v))                                                     \
    F(logit, ABOVE, lz_logit(w, v / 4))                                                            \
    F(hinge_embedding_loss, FROM_0, lz_hinge_embedding_loss(x, y, .margin = v))                    \
    F(margin_ranking_loss, FROM_0, lz_margin_ranking_loss(x, y, w, .margin = v))                   \
    F(cosine_embedding_loss, FROM_0,                                                               \
      lz_cosine_embedding_loss(x, y, lz_neg(lz_ones(LZ_F32, LZ_SHAPE(2))), .margin = v / 2))       \
    F(triplet_margin_loss, FROM_0, lz_triplet_margin_loss(x, y, w, .margin = v))                   \
    F(triplet_margin_loss_eps, FROM_0, lz_triplet_margin_loss(x, y, w, .eps = v))                  \
    F(multi_margin_loss, FROM_0,                                                                   \
      lz_multi_margin_loss(x, lz_zeros(LZ_I64, LZ_SHAPE(2)), .margin = v))                         \
    F(poisson_nll_loss, FROM_0, lz_poisson_nll_loss(w, y, .log_input = false, .eps = v))           \
    F(gaussian_nll_loss, FROM_0, lz_gaussian_nll_loss(x, y, w, .eps = v))                          \
    F(label_smoothing, ABOVE,                                                                      \
      lz_cross_entropy(x, lz_zeros(LZ_I64, LZ_SHAPE(2)), .label_smoothing = v / 4))                \
    F(label_smoothing_of_probabilities, ABOVE, lz_cross_entropy(x, w, .label_smoothing = v / 4))   \
    F(dropout, ABOVE, lz_dropout(x, v / 4, true))                                                  \
    F(noise, ANY, lz_add(x, lz_uniform(LZ_F32, LZ_SHAPE(2, 4), v, v + 1)))                         \
    F(noise_of_a_deviation, FROM_0,                                                                \
      lz_add(x,                                                                                    \
             lz_normal(lz_full(LZ_F32, LZ_SHAPE(2, 4), 0), lz_full(LZ_F32, LZ_SHAPE(2, 4), v))))

#define F(name, range, e)                                                                          \
    static lz_tensor *name(double v)                                                               \
    {                                                                                              \
        return e;                                                                                  \
    }
FUNCTIONS(F)
#undef F

static const struct {
    const char *name;
    range range;
    lz_tensor *(*of)(double v);
} functions[] = {
#define F(name, range, e) {#name, range, name},
    FUNCTIONS(F)
#undef F
};

static double number(range r, int i)
{
    return (r == ANY ? i - 20 : r == ABOVE ? i + 1 : i) / 20.0;
}

START_TEST(values_compile_nothing)
{
    float a[8], b[8], c[8];
    range r = functions[_i].range;
    for (int i = 0; i < 8; i++) {
        a[i] = (float)sin(i * 1.7);
        b[i] = (float)cos(i * 0.9);
        c[i] = 0.1f + 0.1f * (float)i;
    }
    lz_scope_begin();
    x = lz_from_host(LZ_F32, LZ_SHAPE(2, 4), a);
    y = lz_from_host(LZ_F32, LZ_SHAPE(2, 4), b);
    w = lz_from_host(LZ_F32, LZ_SHAPE(2, 4), c);
    z = lz_from_host(LZ_F32, LZ_SHAPE(2, 2), a);
    OK(lz_requires_grad(x, true));
    OK(lz_requires_grad(w, true));
    int64_t before = 0;
    for (int i = 0; i < 41; i++) {
        double v = number(r, (i + 7) % 41); /* neither 0 nor 1 first */
        lz_scope_begin();
        lz_tensor *out[3] = {lz_sum(functions[_i].of(v)), NULL, NULL}, *of[2] = {x, w};
        OK(lz_grad(out[0], of, 2, out + 1, .allow_unused = true));
        OK(lz_sync(out, 3, true));
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
