/* t_rnn.c - recurrent layers in two directions, and embeddings with padding: results and gradients
 * are torch's. */
#include "suite.h"
#include <lazuli/lazuli.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OK(call) ck_assert_msg((call) == LZ_OK, "%s", lz_last_error_text())

enum { I = 3, H = 2, N = 2, STEPS = 3 };

/* torch.nn.LSTM and GRU(3, 2, num_layers=2, bidirectional=True, batch_first=True) in f64: parameter
 * number k is 0.8 sin(0.7 j + k), x is cos(1.3 j), h0 is sin(0.9 j), c0 is h0 / 2, over the
 * elements j. Gradients of the sum of y^2. */
typedef struct expected {
    double y[N * STEPS * 2 * H], h[4 * N * H], c[4 * N * H], dx[N * STEPS * I],
        dw[4 * H * 2 * H]; /* of weight_ih_l1_reverse */
} expected;
static const expected torch_says[2] = {
    {{0.136322518825,  0.287924061714,  -0.354818251328, -0.497253647786, 0.105650122406,
      0.291352534444,  -0.419343489402, -0.408497886855, 0.132839006824,  0.260073832122,
      -0.263117472417, -0.4276146105,   0.173161053087,  0.0565191654158, -0.356302676231,
      -0.480969524133, 0.133869121132,  0.151174655638,  -0.346239266161, -0.393074154382,
      0.11044141768,   0.218678386935,  -0.259983891458, -0.181971809243},
     {-0.279512322891, -0.0196834172556, -0.174658440781, -0.269199232869, 0.0427350070103,
      -0.0810793386966, 0.0212963673436, -0.0787209390089, 0.132839006824, 0.260073832122,
      0.11044141768, 0.218678386935, -0.354818251328, -0.497253647786, -0.356302676231,
      -0.480969524133},
     {-0.779843621913, -0.0229074981014, -0.463315206453, -0.302811340591, 0.348748539194,
      -0.795666181311, 0.289381342708, -0.330369475262, 0.183172143861, 0.458367752318,
      0.156398382557, 0.373429031577, -1.105186863, -0.779690159491, -1.05209356459,
      -0.761540178891},
     {0.0248316821894, 0.0217765260168, 0.00847952939097, -0.00360811059204, 0.0042829608877,
      0.0101596889388, -0.00458957459349, -0.0260499187191, -0.0352585790298, 0.00961356618834,
      -0.00523673998315, -0.0176241255142, -0.00111023243011, -0.00253414651625, -0.00276621189867,
      0.0028778683457, -0.0036073303919, -0.00839594528009},
     {-0.0481651555235, -0.0256850653884, 0.00563257137573, -0.0261920183285, -0.180748544834,
      -0.0935537255853, 0.0269624728128,  -0.104153253375,  -0.0429372564999, -0.0239500890482,
      0.00791449980549, -0.0301054027786, -0.0635362801379, -0.0408868248024, 0.0157580027273,
      -0.0468566818233, 0.0998386719859,  0.0666017523674,  0.00435549313793, 0.0414585260245,
      0.0508494433358,  0.0540635926969,  0.0076361982491,  0.0194847189673,  -0.147272145178,
      -0.115594207021,  0.0229520872981,  -0.107903366585,  -0.114424365146,  -0.0929550302521,
      0.0182057128156,  -0.084810140313}},
    {{0.462088668043,  0.926066373996,  -0.761763140931, -0.928810658323, -0.234595501697,
      0.916276004105,  -0.675242997328, -0.930458484061, -0.3245061796,   0.907715727331,
      -0.80499787917,  -0.865311195312, 0.257604085268,  0.121361804676,  -0.530281834995,
      -0.898518682625, 0.190513574348,  0.32890359729,   -0.357478480238, -0.86533894064,
      -0.406230829402, 0.447494767881,  -0.108616982953, -0.741794688453},
     {-0.701249393906, 0.0529176134317, -0.333261227651, -0.413740747481, 0.312488024857,
      -0.579033804244, 0.141235576448, 0.0396200424212, -0.3245061796, 0.907715727331,
      -0.406230829402, 0.447494767881, -0.761763140931, -0.928810658323, -0.530281834995,
      -0.898518682625},
     {0},
     {0.070026824987, -0.0395616594756, -0.130543677319, 0.0874654375136, 0.0784567994765,
      0.0325487027243, 0.0438952620661, 0.0134469346345, -0.0233256962698, 0.0859812037794,
      -0.0406722057179, -0.148196841345, 0.0267753470087, 0.082145917078, 0.0988819787802,
      0.0958370630714, 0.151910342973, 0.13653781491},
     {-0.202768397091,  -0.12007131498,  0.0373058296171,  -0.289983364706, -0.0465852726382,
      -0.0547921796911, 0.0539824373003, -0.0932163640449, -0.21769452123,  0.0443059398614,
      0.021221411463,   -0.347282902691, 0.295416740187,   0.180567527004,  0.174898828692,
      0.199867949006,   1.16144194704,   0.728624338743,   0.0949898189549, 1.41602685715,
      0.3143081896,     0.363275718735,  0.146550079036,   0.21909825977}}};

static lz_tensor *wave(lz_shape s, double amplitude, double step, double phase)
{
    double v[256];
    int64_t n = 1;
    for (int i = 0; i < s.rank; i++)
        n *= s.dims[i];
    for (int i = 0; i < n; i++)
        v[i] = amplitude * sin(step * i + phase);
    return lz_from_host(LZ_F64, s, v);
}

static void values(lz_tensor *t, const double *want, int n, const char *what)
{
    double got[256];
    ck_assert_msg(lz_numel(t) == n, "%s: %s", what, lz_last_error_text());
    OK(lz_to_host(t, got, (size_t)n * sizeof *got));
    for (int i = 0; i < n; i++)
        ck_assert_msg(fabs(got[i] - want[i]) < 1e-11, "%s: element %d is %.12g, not %.12g", what, i,
                      got[i], want[i]);
}

START_TEST(two_directions_are_torchs)
{
    const expected *want = &torch_says[_i];
    lz_params ps = {0};
    lz_rnn_layer l;
    lz_scope_begin();
    OK(lz_rnn_layer_init(&l, (lz_rnn_kind)_i, &ps, "r", I, H, 2, true, LZ_F64,
                         .bidirectional = true, .dropout = 0.5));
    ck_assert_uint_eq(ps.len, 16);
    ck_assert_str_eq(ps.names[4], "r.weight_ih_l0_reverse");
    ck_assert_str_eq(ps.names[15], "r.bias_hh_l1_reverse");
    for (size_t k = 0; k < ps.len; k++)
        OK(lz_assign(ps.tensors[k], wave(lz_shape_of(ps.tensors[k]), 0.8, 0.7, (double)k)));
    lz_tensor *x = wave(LZ_SHAPE(N, STEPS, I), 1, 1.3, acos(0) /* cosine */), *h_n, *c_n;
    lz_tensor *h0 = wave(LZ_SHAPE(4, N, H), 1, 0.9, 0), *c0 = lz_mul_scalar(h0, 0.5);
    bool lstm = _i == LZ_LSTM;
    lz_tensor *y = lz_rnn_layer_forward(&l, x, h0, lstm ? c0 : NULL, &h_n, lstm ? &c_n : NULL);
    lz_tensor *in[2] = {x, lz_params_find(&ps, "r.weight_ih_l1_reverse")}, *g[2];
    OK(lz_grad(lz_sum(lz_square(y)), in, 2, g));
    values(y, want->y, N * STEPS * 2 * H, "y");
    values(h_n, want->h, 4 * N * H, "h_n");
    if (lstm)
        values(c_n, want->c, 4 * N * H, "c_n");
    values(g[0], want->dx, N * STEPS * I, "the gradient of x");
    values(g[1], want->dw, (lstm ? 4 : 3) * H * 2 * H, "the gradient of a weight");
    lz_scope_end();
    lz_params_free(&ps);
}
END_TEST

/* Between layers only, and only in training; all of it dropped, the last layer sees zeros. */
START_TEST(dropout_is_between_layers)
{
    lz_params ps = {0};
    lz_rnn_layer one, two;
    lz_scope_begin();
    OK(lz_rnn_layer_init(&one, LZ_GRU, &ps, "one", I, H, 1, true, LZ_F64, .dropout = 1));
    OK(lz_rnn_layer_init(&two, LZ_GRU, &ps, "two", I, H, 2, true, LZ_F64, .dropout = 1));
    lz_tensor *x = wave(LZ_SHAPE(N, STEPS, I), 1, 1.3, 0), *a, *b;
    double want[N * STEPS * H];
    a = lz_rnn_layer_forward(&one, x, NULL, NULL, NULL, NULL);
    OK(lz_to_host(a, want, sizeof want));
    values(lz_rnn_layer_forward(&one, x, NULL, NULL, NULL, NULL, .training = true), want,
           N * STEPS * H, "a single layer drops nothing");
    /* the second layer on zeros */
    lz_rnn_layer last = {.kind = LZ_GRU, .input = H, .hidden = H, .layers = 1, .directions = 1};
    last.w_ih[0] = two.w_ih[1], last.w_hh[0] = two.w_hh[1];
    last.b_ih[0] = two.b_ih[1], last.b_hh[0] = two.b_hh[1];
    b = lz_rnn_layer_forward(&last, lz_zeros(LZ_F64, LZ_SHAPE(N, STEPS, H)), NULL, NULL, NULL,
                             NULL);
    OK(lz_to_host(b, want, sizeof want));
    values(lz_rnn_layer_forward(&two, x, NULL, NULL, NULL, NULL, .training = true), want,
           N * STEPS * H, "everything between is dropped");
    a = lz_rnn_layer_forward(&two, x, NULL, NULL, NULL, NULL);
    ck_assert(lz_item(lz_amax(lz_abs(lz_sub(a, b)))) > 1e-6);
    ck_assert_int_eq(
        lz_rnn_layer_init(&one, LZ_GRU, &ps, "no", I, H, 1, true, LZ_F64, .dropout = 2), LZ_EINVAL);
    ck_assert(strstr(lz_last_error_text(), "dropout is 2") != NULL);
    lz_scope_end();
    lz_params_free(&ps);
}
END_TEST

/* The lines of the graph of a layer over a number of steps, and of its gradient. */
static int lines_over(lz_rnn_layer *l, lz_params *ps, int64_t steps)
{
    static char text[1 << 16];
    lz_scope_begin();
    lz_tensor *x = lz_rand(LZ_F64, LZ_SHAPE(N, steps, I)), *out[2];
    OK(lz_mark_step());
    out[0] = lz_sum(lz_rnn_layer_forward(l, x, NULL, NULL, NULL, NULL));
    OK(lz_grad(out[0], &ps->tensors[0], 1, &out[1]));
    size_t n = lz_dump_graph(out, 2, "text", text, sizeof text);
    ck_assert(n > 0 && n < sizeof text);
    int lines = 0;
    for (const char *p = text; *p; p++)
        lines += *p == '\n';
    lz_scope_end();
    return lines;
}

START_TEST(graphs_do_not_grow_with_the_steps)
{
    lz_params ps = {0};
    lz_rnn_layer l;
    OK(lz_rnn_layer_init(&l, (lz_rnn_kind)_i, &ps, "r", I, H, 2, true, LZ_F64,
                         .bidirectional = true));
    ck_assert_int_eq(lines_over(&l, &ps, 5), lines_over(&l, &ps, 40));
    lz_params_free(&ps);
}
END_TEST

START_TEST(a_padding_row_is_not_learned)
{
    lz_params ps = {0};
    lz_embedding_layer e;
    lz_scope_begin();
    OK(lz_embedding_layer_init(&e, &ps, "e", 4, 3, LZ_F32, .padding_idx = 2));
    lz_tensor *at = lz_from_host(LZ_I64, LZ_SHAPE(5), ((int64_t[]){0, 2, 3, 2, 0}));
    lz_tensor *y = lz_embedding_layer_forward(&e, at), *g;
    float v[15], want[12] = {2, 2, 2, 0, 0, 0, 0, 0, 0, 1, 1, 1};
    OK(lz_grad(lz_sum(y), &e.weight, 1, &g));
    OK(lz_to_host(y, v, sizeof v));
    for (int i = 0; i < 3; i++)
        ck_assert(v[3 + i] == 0 && v[9 + i] == 0 && v[i] != 0 && v[6 + i] != 0);
    OK(lz_to_host(g, v, sizeof want));
    ck_assert(memcmp(v, want, sizeof want) == 0);
    ck_assert_int_eq(lz_embedding_layer_init(&e, &ps, "f", 4, 3, LZ_F32, .padding_idx = 4),
                     LZ_EINVAL);
    ck_assert(strstr(lz_last_error_text(), "padding_idx is 4 of 4") != NULL);
    ck_assert_int_eq(lz_embedding_layer_init(&e, &ps, "f", 4, 3, LZ_F32, .padding_idx = -2),
                     LZ_EINVAL);
    OK(lz_embedding_layer_init(&e, &ps, "f", 4, 3, LZ_F32));
    ck_assert(!e.has_padding);
    lz_scope_end();
    lz_params_free(&ps);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("rnn");
    TCase *t = tcase_create("rnn");
    setenv("LAZULI_CACHE", "0", 1);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, two_directions_are_torchs, LZ_LSTM, LZ_GRU + 1);
    tcase_add_loop_test(t, graphs_do_not_grow_with_the_steps, LZ_LSTM, LZ_GRU + 1);
    tcase_add_test(t, dropout_is_between_layers);
    tcase_add_test(t, a_padding_row_is_not_learned);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
