/* rnn.c - recurrent cells and layers (Hochreiter and Schmidhuber 1997; Cho et al. 2014), in torch's variants. */
#include "nn/compose.h"
#include <inttypes.h>
#include <stdio.h>
#include <math.h>

/* Columns of gate number i of n. */
static lz_tensor *gate(const nnc *c, lz_tensor *all, int i, int64_t hidden)
{
    return lz_slice_at(all, -1, i * hidden, (i + 1) * hidden, 1, c->site);
}

static lz_tensor *sigmoid(const nnc *c, lz_tensor *x)
{
    return lz_sigmoid_at(x, c->site);
}

/* Whether x [N, I], h [N, H] and the weights of `gates` gates fit. */
static bool check(nnc *c, lz_tensor *x, lz_tensor *h, lz_tensor *w_ih, lz_tensor *w_hh,
                  lz_tensor *b_ih, lz_tensor *b_hh, int gates)
{
    if (!nn_check_float(c, x, "the input") || !nn_check_float(c, h, "the state") ||
        !nn_check(c, w_ih, "w_ih") || !nn_check(c, w_hh, "w_hh"))
        return false;
    lz_shape a = lz_shape_of(x), b = lz_shape_of(h);
    char t[2][192];
    if (a.rank != 2 || b.rank != 2 || a.dims[0] != b.dims[0])
        return nn_refuse(c, LZ_ESHAPE, "the input is %s and the state %s, not [N, I] and [N, H]",
                         lz_nn_shape_text(&a, t[0]), lz_nn_shape_text(&b, t[1]));
    int64_t rows = gates * b.dims[1];
    return nn_check_shape(c, w_ih, LZ_SHAPE(rows, a.dims[1]), "w_ih") &&
           nn_check_shape(c, w_hh, LZ_SHAPE(rows, b.dims[1]), "w_hh") &&
           nn_check_shape(c, b_ih, LZ_SHAPE(rows), "b_ih") &&
           nn_check_shape(c, b_hh, LZ_SHAPE(rows), "b_hh");
}

lz_tensor *lz_lstm_cell_at(lz_tensor *x, lz_tensor *h, lz_tensor *cell, lz_tensor *w_ih,
                           lz_tensor *w_hh, lz_tensor *b_ih, lz_tensor *b_hh, lz_tensor **c_out,
                           const lz_site *site)
{
    nnc c = nn_begin("lz_lstm_cell", site);
    lz_tensor *y = NULL;
    if (c.status == LZ_OK && !c_out)
        nn_refuse(&c, LZ_ENULL, "c_out is NULL");
    if (check(&c, x, h, w_ih, w_hh, b_ih, b_hh, 4) && nn_check(&c, cell, "the cell state") &&
        nn_check_shape(&c, cell, lz_shape_of(h), "the cell state")) {
        int64_t n = lz_shape_of(h).dims[1];
        lz_tensor *g =
            nn_add(&c, lz_linear_at(x, w_ih, b_ih, site), lz_linear_at(h, w_hh, b_hh, site));
        lz_tensor *in =
            nn_mul(&c, sigmoid(&c, gate(&c, g, 0, n)), lz_tanh_at(gate(&c, g, 2, n), site));
        lz_tensor *kept = nn_mul(&c, sigmoid(&c, gate(&c, g, 1, n)), cell);
        *c_out = lz_escape(nn_add(&c, kept, in));
        y = nn_mul(&c, sigmoid(&c, gate(&c, g, 3, n)), lz_tanh_at(*c_out, site));
    }
    lz_tensor *r = nn_end(&c, y);
    if (c_out && c.status != LZ_OK)
        *c_out = r;
    return r;
}

lz_tensor *lz_gru_cell_at(lz_tensor *x, lz_tensor *h, lz_tensor *w_ih, lz_tensor *w_hh,
                          lz_tensor *b_ih, lz_tensor *b_hh, const lz_site *site)
{
    nnc c = nn_begin("lz_gru_cell", site);
    lz_tensor *y = NULL;
    if (check(&c, x, h, w_ih, w_hh, b_ih, b_hh, 3)) {
        int64_t n = lz_shape_of(h).dims[1];
        lz_tensor *i = lz_linear_at(x, w_ih, b_ih, site), *s = lz_linear_at(h, w_hh, b_hh, site);
        lz_tensor *r = sigmoid(&c, nn_add(&c, gate(&c, i, 0, n), gate(&c, s, 0, n)));
        lz_tensor *z = sigmoid(&c, nn_add(&c, gate(&c, i, 1, n), gate(&c, s, 1, n)));
        lz_tensor *fresh = nn_add(&c, gate(&c, i, 2, n), nn_mul(&c, r, gate(&c, s, 2, n)));
        fresh = lz_tanh_at(fresh, site);
        y = nn_add(&c, fresh, nn_mul(&c, z, nn_sub(&c, h, fresh))); /* (1 - z) fresh + z h */
    }
    return nn_end(&c, y);
}

/* ---- layers ---- */

lz_status lz_rnn_layer_init_at(lz_rnn_layer *l, lz_rnn_kind kind, lz_params *ps, const char *name,
                               int64_t input, int64_t hidden, int layers, bool bias, lz_dtype dtype,
                               const lz_site *site)
{
    static const char op[] = "lz_rnn_layer_init";
    if (!l)
        return LZ_NN_FAIL(LZ_ENULL, op, site, "the layer is NULL");
    *l = (lz_rnn_layer){0};
    if ((unsigned)kind > LZ_GRU)
        return LZ_NN_FAIL(LZ_EINVAL, op, site, "%d is no kind of recurrent layer", (int)kind);
    if (input < 1 || hidden < 1 || layers < 1 || layers > LZ_MAX_RNN_LAYERS)
        return LZ_NN_FAIL(LZ_EINVAL, op, site,
                          "input %" PRId64 ", hidden %" PRId64 ", layers %d: at least 1 is needed, "
                          "and at most %d layers",
                          input, hidden, layers, LZ_MAX_RNN_LAYERS);
    lz_module m;
    lz_module_begin(&m, ps, name, op, site);
    lz_rnn_layer made = {.kind = kind, .input = input, .hidden = hidden, .layers = layers};
    int64_t rows = (kind == LZ_LSTM ? 4 : 3) * hidden;
    double k = 1 / sqrt((double)hidden);
    for (int i = 0; i < layers && m.status == LZ_OK; i++) {
        const char *const names[] = {"weight_ih_l", "weight_hh_l", "bias_ih_l", "bias_hh_l"};
        lz_tensor **const slots[] = {&made.w_ih[i], &made.w_hh[i], &made.b_ih[i], &made.b_hh[i]};
        for (int j = 0; j < (bias ? 4 : 2) && m.status == LZ_OK; j++) {
            char what[24];
            snprintf(what, sizeof what, "%s%d", names[j], i);
            lz_shape s = j == 0   ? LZ_SHAPE(rows, i ? hidden : input)
                         : j == 1 ? LZ_SHAPE(rows, hidden)
                                  : LZ_SHAPE(rows);
            *slots[j] = lz_module_param(&m, what, lz_init_uniform_at(dtype, s, -k, k, site));
        }
    }
    if (m.status == LZ_OK)
        *l = made;
    return lz_module_end(&m);
}

/* Row i of a state, or zeros. */
static lz_tensor *row(nnc *c, lz_tensor *state, int i, lz_dtype d, int64_t batch, int64_t hidden)
{
    return state ? lz_select_at(state, 0, i, c->site)
                 : lz_zeros_at(d, LZ_SHAPE(batch, hidden), c->site);
}

static lz_tensor *unrolled(nnc *c, const lz_rnn_layer *l, lz_tensor *x, lz_tensor *h0,
                           lz_tensor *c0, lz_tensor **h_last, lz_tensor **c_last)
{
    lz_shape s = lz_shape_of(x);
    int64_t steps = s.dims[1];
    lz_tensor **y = lz_calloc((size_t)steps, sizeof *y);
    if (!y) {
        nn_refuse(c, LZ_EMEM, "no memory for %" PRId64 " steps", steps);
        return NULL;
    }
    for (int64_t t = 0; t < steps; t++)
        y[t] = lz_select_at(x, 1, t, c->site);
    for (int i = 0; i < l->layers; i++) {
        lz_tensor *h = row(c, h0, i, lz_dtype_of(x), s.dims[0], l->hidden), *cell = NULL;
        if (l->kind == LZ_LSTM)
            cell = row(c, c0, i, lz_dtype_of(x), s.dims[0], l->hidden);
        for (int64_t t = 0; t < steps; t++) {
            if (l->kind == LZ_LSTM)
                h = lz_lstm_cell_at(y[t], h, cell, l->w_ih[i], l->w_hh[i], l->b_ih[i], l->b_hh[i],
                                    &cell, c->site);
            else
                h = lz_gru_cell_at(y[t], h, l->w_ih[i], l->w_hh[i], l->b_ih[i], l->b_hh[i],
                                   c->site);
            y[t] = h;
        }
        h_last[i] = h;
        c_last[i] = cell;
    }
    lz_tensor *out = steps <= INT32_MAX ? lz_stack_at(y, (int)steps, 1, c->site) : NULL;
    lz_free(y);
    return out;
}

lz_tensor *lz_rnn_layer_forward_at(const lz_rnn_layer *l, lz_tensor *x, lz_tensor *h,
                                   lz_tensor *cell, lz_tensor **h_out, lz_tensor **c_out,
                                   const lz_site *site)
{
    nnc c = nn_begin("lz_rnn_layer_forward", site);
    lz_tensor *y = NULL, *h_last[LZ_MAX_RNN_LAYERS], *c_last[LZ_MAX_RNN_LAYERS];
    if (c.status == LZ_OK && (!l || l->layers < 1))
        nn_refuse(&c, LZ_ENULL, "the layer is NULL, or was not made");
    if (nn_check_float(&c, x, "the input")) {
        lz_shape s = lz_shape_of(x);
        lz_shape state = LZ_SHAPE(l->layers, s.dims[0], l->hidden);
        char t[192];
        if (s.rank != 3 || s.dims[2] != l->input || s.dims[1] < 1)
            nn_refuse(&c, LZ_ESHAPE, "the input is %s, not [N, T, %" PRId64 "]",
                      lz_nn_shape_text(&s, t), l->input);
        else if (nn_check_shape(&c, h, state, "the state") &&
                 nn_check_shape(&c, cell, state, "the cell state"))
            y = unrolled(&c, l, x, h, cell, h_last, c_last);
    }
    bool lstm = c.status == LZ_OK && l->kind == LZ_LSTM;
    if (c.status == LZ_OK && h_out)
        *h_out = lz_escape(lz_stack_at(h_last, l->layers, 0, site));
    if (lstm && c_out)
        *c_out = lz_escape(lz_stack_at(c_last, l->layers, 0, site));
    lz_tensor *r = nn_end(&c, y);
    if (h_out && c.status != LZ_OK)
        *h_out = r;
    if (c_out && !lstm)
        *c_out = r;
    return r;
}
