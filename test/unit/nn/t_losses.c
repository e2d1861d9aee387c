/* t_losses.c - distances, random layers, and losses of margins, of distributions and of sequences:
 * results against the formulas in double (of sequences: against the sum over all paths), gradients
 * against central differences. */
#include "values.h"

static const int64_t class_data[] = {2, 0, 3},
                     several_data[] = {3, 0, -1, 2, -1, 1, 2, 3, 1, 1, -5, 0};
static lz_tensor *classes(void)
{
    return lz_from_host(LZ_I64, LZ_SHAPE(3), class_data);
}
static lz_tensor *several(void)
{
    return lz_from_host(LZ_I64, LZ_SHAPE(3, 4), several_data);
}
static lz_tensor *signs(void)
{
    return lz_from_host(LZ_F64, LZ_SHAPE(4), ((double[]){1, -1, -1, 1}));
}
static lz_tensor *zeros_and_ones(void)
{
    static const uint8_t b[12] = {1, 0, 0, 1, 1, 1, 0, 0, 1, 0, 0, 0};
    return lz_from_host(LZ_BOOL, LZ_SHAPE(3, 4), b);
}
static lz_tensor *counts(void)
{
    return lz_from_host(LZ_F64, LZ_SHAPE(4), ((double[]){0, 1, 3, 5}));
}

/* Two rows: 5 and 4 steps of 3 classes; two equal labels, which need a blank between them, and
 * one. */
enum { STEPS = 5, ROWS = 2, CLASSES = 3, LABELS = 2 };
static const int32_t label_data[ROWS * LABELS] = {1, 1, 2, -7};
static const int64_t step_data[ROWS] = {5, 4}, length_data[ROWS] = {2, 1};
#define CTC(x, ...)                                                                                \
    lz_ctc_loss(lz_log_softmax((x), 2), lz_from_host(LZ_I32, LZ_SHAPE(ROWS, LABELS), label_data),  \
                lz_from_host(LZ_I64, LZ_SHAPE(ROWS), step_data),                                   \
                lz_from_host(LZ_I64, LZ_SHAPE(ROWS), length_data), ##__VA_ARGS__)

#define F(name, expr)                                                                              \
    static lz_tensor *f_##name(lz_tensor **x)                                                      \
    {                                                                                              \
        return expr;                                                                               \
    }
F(distance, lz_pairwise_distance(x[0], x[1], 3, 1e-6, false))
F(response, lz_local_response_norm(x[0], 4, 0.5, 0.75, 1.5))
F(leaky, lz_rrelu(x[0], 0.1, 0.3, false))
F(mvlgamma, lz_mvlgamma(x[0], 3))
F(hinge, lz_hinge_embedding_loss(x[0], signs(), .margin = 1.5))
F(ranking, lz_margin_ranking_loss(x[0], x[1], signs(), .margin = 0.3))
F(soft, lz_soft_margin_loss(x[0], signs()))
F(poisson, lz_poisson_nll_loss(x[0], counts(), .full = true))
F(poisson_rate, lz_poisson_nll_loss(x[0], counts(), .log_input = false, .eps = 1e-3))
F(gaussian, lz_gaussian_nll_loss(x[0], x[1], x[2], .full = true))
F(gaussian_rows, lz_gaussian_nll_loss(x[0], x[1], x[2], .reduction = LZ_REDUCE_SUM))
F(multi, lz_multi_margin_loss(x[0], classes(), .margin = 0.7))
F(multi_square, lz_multi_margin_loss(x[0], classes(), .p = 2, .weight = x[1]))
F(multilabel, lz_multilabel_margin_loss(x[0], several()))
F(multilabel_soft, lz_multilabel_soft_margin_loss(x[0], zeros_and_ones(), .weight = x[1]))
F(ctc, CTC(x[0]))
F(ctc_last, CTC(x[0], .blank = 2, .reduction = LZ_REDUCE_NONE))

static const gcase cases[] = {
    {"pairwise_distance", f_distance, 2, {S(3, 4), S(4)}, -2, 2, false},
    {"local_response_norm", f_response, 1, {S(2, 5, 3)}, -2, 2, true},
    {"rrelu", f_leaky, 1, {S(3, 4)}, -2, 2, false},
    {"mvlgamma", f_mvlgamma, 1, {S(3, 4)}, 1.2, 4, true},
    {"hinge_embedding_loss", f_hinge, 1, {S(4)}, -1, 1, false},
    {"margin_ranking_loss", f_ranking, 2, {S(4), S(4)}, -1, 1, false},
    {"soft_margin_loss", f_soft, 1, {S(4)}, -2, 2, true},
    {"poisson_nll_loss", f_poisson, 1, {S(4)}, -1, 1, true},
    {"poisson_nll_loss of rates", f_poisson_rate, 1, {S(4)}, 0.3, 2, true},
    {"gaussian_nll_loss", f_gaussian, 3, {S(3, 4), S(3, 4), S(3, 4)}, 0.2, 2, false},
    {"gaussian_nll_loss of rows", f_gaussian_rows, 3, {S(3, 4), S(3, 4), S(3)}, 0.2, 2, false},
    {"multi_margin_loss", f_multi, 1, {S(3, 4)}, -2, 2, false},
    {"multi_margin_loss squared", f_multi_square, 2, {S(3, 4), S(4)}, 0.1, 2, false},
    {"multilabel_margin_loss", f_multilabel, 1, {S(3, 4)}, -2, 2, false},
    {"multilabel_soft_margin_loss", f_multilabel_soft, 2, {S(3, 4), S(4)}, 0.1, 2, false},
    {"ctc_loss", f_ctc, 1, {S(STEPS, ROWS, CLASSES)}, -2, 2, true},
    {"ctc_loss, the blank last", f_ctc_last, 1, {S(STEPS, ROWS, CLASSES)}, -2, 2, false},
};
enum { NCASES = sizeof cases / sizeof *cases };

START_TEST(gradients)
{
    OK(lz_set_device(devices[0]));
    compare(&cases[_i], 1);
    if (cases[_i].second)
        compare(&cases[_i], 2);
}
END_TEST

/* ---- values ---- */

#define EACH .reduction = LZ_REDUCE_NONE

START_TEST(of_elements)
{
    double x[4], b[4], v[4] = {0.5, 1e-9, 2, 1}, y[5][4];
    const double sign[4] = {1, -1, -1, 1}, count[4] = {0, 1, 3, 5};
    OK(lz_set_device(devices[_i]));
    fill(x, 4, 3);
    fill(b, 4, 4);
    for (int i = 0; i < 4; i++) {
        double d = x[i] - b[i], t = count[i], var = fmax(v[i], 1e-6);
        y[0][i] = sign[i] > 0 ? x[i] : fmax(0, 1 - x[i]);
        y[1][i] = fmax(0, -sign[i] * d);
        y[2][i] = log(1 + exp(-sign[i] * x[i]));
        y[3][i] = exp(x[i]) - t * x[i] + (t > 1 ? t * log(t) - t + log(2 * M_PI * t) / 2 : 0);
        y[4][i] = (log(var) + d * d / var) / 2;
    }
    lz_scope_begin();
    lz_tensor *tx = lz_from_host(LZ_F64, LZ_SHAPE(4), x),
              *tb = lz_from_host(LZ_F64, LZ_SHAPE(4), b);
    lz_tensor *tv = lz_from_host(LZ_F64, LZ_SHAPE(4), v);
    values(lz_hinge_embedding_loss(tx, signs(), EACH), y[0], 4, "hinge_embedding");
    values(lz_margin_ranking_loss(tx, tb, signs(), EACH), y[1], 4, "margin_ranking");
    values(lz_soft_margin_loss(tx, signs(), EACH), y[2], 4, "soft_margin");
    values(lz_poisson_nll_loss(tx, counts(), EACH, .full = true), y[3], 4, "poisson_nll");
    values(lz_gaussian_nll_loss(tx, tb, tv, EACH), y[4], 4, "gaussian_nll");
    /* large arguments do not overflow */
    lz_tensor *far = lz_from_host(LZ_F64, LZ_SHAPE(2), ((double[]){-800, 800}));
    values(lz_soft_margin_loss(far, lz_ones(LZ_F64, LZ_SHAPE(2)), EACH), (double[]){800, 0}, 2,
           "far");
    lz_scope_end();
}
END_TEST

START_TEST(of_classes)
{
    double x[12], multi[3] = {0}, many[3] = {0}, soft[3] = {0};
    static const uint8_t yes[12] = {1, 0, 0, 1, 1, 1, 0, 0, 1, 0, 0, 0};
    OK(lz_set_device(devices[_i]));
    fill(x, 12, 5);
    for (int n = 0; n < 3; n++) {
        const double *r = x + 4 * n;
        const int64_t *l = several_data + 4 * n;
        bool label[4] = {false};
        int nlabel = 0;
        for (; nlabel < 4 && l[nlabel] >= 0; nlabel++)
            label[l[nlabel]] = true;
        for (int i = 0; i < 4; i++) {
            double gap = fmax(0, 1 - r[class_data[n]] + r[i]);
            multi[n] += i == class_data[n] ? 0 : gap * gap / 4;
            for (int j = 0; j < nlabel && !label[i]; j++)
                many[n] += fmax(0, 1 - r[l[j]] + r[i]) / 4;
            soft[n] += log(1 + exp(yes[4 * n + i] ? -r[i] : r[i])) / 4;
        }
    }
    lz_scope_begin();
    lz_tensor *t = lz_from_host(LZ_F64, LZ_SHAPE(3, 4), x);
    values(lz_multi_margin_loss(t, classes(), EACH, .p = 2), multi, 3, "multi_margin");
    values(lz_multilabel_margin_loss(t, several(), EACH), many, 3, "multilabel_margin");
    values(lz_multilabel_soft_margin_loss(t, zeros_and_ones(), EACH), soft, 3, "multilabel_soft");
    lz_tensor *row = lz_select(t, 0, 1);
    values(lz_multi_margin_loss(row, lz_scalar(LZ_I32, 0), .p = 2), multi + 1, 1, "one row");
    values(lz_multilabel_margin_loss(row, lz_select(several(), 0, 1)), many + 1, 1, "one row");
    lz_scope_end();
}
END_TEST

/* The chance that `steps` steps of probabilities p give these labels, path by path. */
static double chance(const double *p, int row, int steps, const int32_t *label, int nlabel,
                     int blank)
{
    double sum = 0;
    int paths = 1;
    for (int t = 0; t < steps; t++)
        paths *= CLASSES;
    for (int path = 0; path < paths; path++) {
        int code = path, last = blank, at = 0;
        double c = 1;
        bool good = true;
        for (int t = 0; t < steps; t++, code /= CLASSES) {
            int k = code % CLASSES;
            c *= p[(t * ROWS + row) * CLASSES + k];
            if (k != blank && k != last)
                good = good && at < nlabel && label[at] == k, at++;
            last = k;
        }
        sum += good && at == nlabel ? c : 0;
    }
    return sum;
}

START_TEST(of_sequences)
{
    double x[STEPS * ROWS * CLASSES], p[STEPS * ROWS * CLASSES], want[ROWS];
    OK(lz_set_device(devices[_i]));
    fill(x, STEPS * ROWS * CLASSES, 6);
    lz_scope_begin();
    lz_tensor *t = lz_from_host(LZ_F64, LZ_SHAPE(STEPS, ROWS, CLASSES), x);
    OK(lz_to_host(lz_softmax(t, 2), p, sizeof p));
    for (int n = 0; n < ROWS; n++)
        want[n] =
            -log(chance(p, n, (int)step_data[n], label_data + n * LABELS, (int)length_data[n], 0));
    values(CTC(t, EACH), want, ROWS, "ctc");
    values(CTC(t), (double[]){(want[0] / 2 + want[1]) / 2}, 1, "mean of ctc");
    values(CTC(t, .reduction = LZ_REDUCE_SUM), (double[]){want[0] + want[1]}, 1, "sum of ctc");
    /* nothing but blanks; two equal labels in two steps, which cannot be */
    int64_t steps[ROWS] = {3, 2}, lengths[ROWS] = {0, 2};
    int32_t labels[ROWS * LABELS] = {2, 2, 1, 1};
    lz_tensor *parts[] = {
        lz_log_softmax(t, 2), lz_from_host(LZ_I32, LZ_SHAPE(ROWS, LABELS), labels),
        lz_from_host(LZ_I64, LZ_SHAPE(ROWS), steps), lz_from_host(LZ_I64, LZ_SHAPE(ROWS), lengths)};
    want[0] = -log(chance(p, 0, 3, labels, 0, 0));
    want[1] = INFINITY;
    lz_tensor *loss = lz_ctc_loss(parts[0], parts[1], parts[2], parts[3], EACH), *g;
    values(loss, want, ROWS, "no path");
    OK(lz_grad(lz_sum(loss), &t, 1, &g));
    double got[STEPS * ROWS * CLASSES];
    OK(lz_to_host(g, got, sizeof got));
    for (int i = 0; i < STEPS * ROWS * CLASSES; i++)
        ck_assert_msg(isfinite(got[i]) && (i / CLASSES % ROWS == 0 || got[i] == 0), "%d: %g", i,
                      got[i]);
    want[1] = 0;
    values(lz_ctc_loss(parts[0], parts[1], parts[2], parts[3], EACH, .zero_infinity = true), want,
           ROWS, "no path, zero");
    /* no labels at all */
    lz_tensor *none = lz_zeros(LZ_I64, LZ_SHAPE(ROWS, 0)), *zero = lz_zeros(LZ_I64, LZ_SHAPE(ROWS));
    want[1] = -log(chance(p, 1, 2, labels, 0, 0));
    values(lz_ctc_loss(parts[0], none, parts[2], zero, EACH), want, ROWS, "no labels");
    lz_scope_end();
}
END_TEST

START_TEST(distances_and_neighbours)
{
    double x[30], want[30], y[12], rows[3] = {0};
    OK(lz_set_device(devices[_i]));
    fill(x, 30, 8);
    fill(y, 12, 9);
    for (int n = 0; n < 2; n++)
        for (int ch = 0; ch < 5; ch++)
            for (int i = 0; i < 3; i++) {
                double sum = 0;
                for (int k = ch - 2; k <= ch + 1; k++) /* 4 channels, 2 of them before */
                    sum += k < 0 || k > 4 ? 0 : x[(n * 5 + k) * 3 + i] * x[(n * 5 + k) * 3 + i];
                int at = (n * 5 + ch) * 3 + i;
                want[at] = x[at] / pow(2 + 0.5 / 4 * sum, 0.75);
            }
    for (int i = 0; i < 12; i++)
        rows[i / 4] += fabs(x[i] - y[i] + 0.25);
    lz_scope_begin();
    values(lz_local_response_norm(lz_from_host(LZ_F64, LZ_SHAPE(2, 5, 3), x), 4, 0.5, 0.75, 2),
           want, 30, "response");
    lz_tensor *a = lz_from_host(LZ_F64, LZ_SHAPE(3, 4), x),
              *b = lz_from_host(LZ_F64, LZ_SHAPE(3, 4), y);
    values(lz_pairwise_distance(a, b, 1, 0.25, true), rows, 3, "distance");
    double z[2] = {2.5, 7};
    for (int i = 0; i < 2; i++)
        want[i] = 1.5 * log(M_PI) + lgamma(z[i]) + lgamma(z[i] - 0.5) + lgamma(z[i] - 1);
    values(lz_mvlgamma(lz_from_host(LZ_F64, LZ_SHAPE(2), z), 3), want, 2, "mvlgamma");
    lz_scope_end();
}
END_TEST

/* Whole channels go; mean and variance stay; slopes lie where they must, and none twice. */
START_TEST(random_layers)
{
    enum { N = 64, C = 32, L = 9 };
    static double x[N * C * L], y[N * C * L];
    OK(lz_set_device(devices[_i]));
    lz_manual_seed(11);
    fill(x, N * C * L, 10);
    lz_scope_begin();
    lz_tensor *t = lz_from_host(LZ_F64, LZ_SHAPE(N, C, L), x);
    OK(lz_to_host(lz_feature_dropout(t, 0.25, true), y, sizeof y));
    int gone = 0;
    for (int i = 0; i < N * C; i++) {
        gone += y[i * L] == 0;
        for (int k = 0; k < L; k++)
            ck_assert(y[i * L] == 0 ? y[i * L + k] == 0
                                    : fabs(y[i * L + k] - x[i * L + k] / 0.75) < 1e-12);
    }
    ck_assert_msg(abs(gone - N * C / 4) < 100, "%d of %d", gone, N * C); /* 5 standard deviations */
    OK(lz_to_host(lz_alpha_dropout(lz_randn(LZ_F64, LZ_SHAPE(N, C, L)), 0.2, true), y, sizeof y));
    double mean = 0, square = 0;
    for (int i = 0; i < N * C * L; i++)
        mean += y[i] / (N * C * L), square += y[i] * y[i] / (N * C * L);
    ck_assert_msg(fabs(mean) < 0.05 && fabs(square - 1) < 0.05, "mean %g, square %g", mean, square);
    OK(lz_to_host(lz_rrelu(t, 0.125, 0.5, true), y, sizeof y));
    double least = 1, most = 0;
    for (int i = 0; i < N * C * L; i++) {
        double slope = y[i] / x[i];
        ck_assert(x[i] < 0 ? slope >= 0.125 - 1e-12 && slope <= 0.5 + 1e-12 : y[i] == x[i]);
        least = x[i] < 0 ? fmin(least, slope) : least;
        most = x[i] < 0 ? fmax(most, slope) : most;
    }
    ck_assert_msg(least < 0.13 && most > 0.49, "%g to %g", least, most);
    lz_tensor *same[] = {lz_feature_dropout(t, 0.5, false), lz_alpha_dropout(t, 0.5, false),
                         lz_feature_dropout(t, 0, true)};
    for (int k = 0; k < 3; k++) {
        OK(lz_to_host(same[k], y, sizeof y));
        ck_assert(memcmp(x, y, sizeof x) == 0);
    }
    lz_scope_end();
}
END_TEST

START_TEST(mistakes_name_the_values)
{
    double x[12] = {0};
    lz_scope_begin();
    lz_tensor *t = lz_from_host(LZ_F64, LZ_SHAPE(3, 4), x), *i = lz_to(t, LZ_I32);
#define SAYS(expr, st, text)                                                                       \
    ck_assert_int_eq(lz_status_of(expr), st);                                                      \
    ck_assert_msg(strstr(lz_last_error_text(), text) != NULL, "%s", lz_last_error_text())
    SAYS(lz_multi_margin_loss(t, i), LZ_ESHAPE, "labels [3, 4], not [N, C] and [N]");
    SAYS(lz_multi_margin_loss(t, lz_select(t, 1, 0)), LZ_EDTYPE, "labels are f64");
    SAYS(lz_multi_margin_loss(t, classes(), .p = 3), LZ_EINVAL, "p is 3");
    SAYS(lz_multi_margin_loss(t, classes(), .weight = t), LZ_ESHAPE,
         "the weight is [3, 4], not [4]");
    SAYS(lz_multilabel_margin_loss(t, classes()), LZ_ESHAPE, "not [N, C] and [N, C]");
    SAYS(lz_multilabel_soft_margin_loss(t, classes()), LZ_ESHAPE, "one shape is needed");
    SAYS(lz_feature_dropout(lz_ones(LZ_F32, LZ_SHAPE(3)), 0.5, true), LZ_ESHAPE, "rank 1");
    SAYS(lz_alpha_dropout(t, 1.5, true), LZ_EINVAL, "p is 1.5");
    SAYS(lz_rrelu(t, 0.5, 0.25, true), LZ_EINVAL, "slopes from 0.5 to 0.25");
    SAYS(lz_mvlgamma(t, 0), LZ_EINVAL, "p is 0");
    SAYS(lz_local_response_norm(t, 3, 1, 1, 1), LZ_ESHAPE, "rank 2");
    SAYS(lz_pairwise_distance(t, t, 0, 0, false), LZ_EINVAL, "p is 0");
    SAYS(lz_hinge_embedding_loss(i, t), LZ_EDTYPE, "i32");
    SAYS(lz_poisson_nll_loss(NULL, t), LZ_ENULL, "lz_poisson_nll_loss");
    lz_tensor *p = lz_zeros(LZ_F32, LZ_SHAPE(2, 3, 4)), *n = lz_zeros(LZ_I64, LZ_SHAPE(3));
    SAYS(lz_ctc_loss(t, several(), n, n), LZ_ESHAPE, "not [T, N, C] and [N, S]");
    SAYS(lz_ctc_loss(p, several(), n, n, .blank = 4), LZ_ERANGE, "blank is 4");
    SAYS(lz_ctc_loss(p, several(), several(), n), LZ_ESHAPE, "input_lengths");
    SAYS(lz_ctc_loss(p, p, n, n), LZ_EDTYPE, "targets are f32");
    lz_scope_end();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("losses");
    TCase *t = tcase_create("losses");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, gradients, 0, NCASES);
    tcase_add_loop_test(t, distances_and_neighbours, 0, 2);
    tcase_add_loop_test(t, random_layers, 0, 2);
    tcase_add_loop_test(t, of_elements, 0, 2);
    tcase_add_loop_test(t, of_classes, 0, 2);
    tcase_add_loop_test(t, of_sequences, 0, 2);
    tcase_add_test(t, mistakes_name_the_values);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
