/* rnn.c - recurrent cells and layers (Hochreiter and Schmidhuber 1997; Cho et al. 2014), in torch's
 * variants. */
#include "nn/nn_compose.h"
#include <inttypes.h>
#include <lazuli/control.h>
#include <lazuli/functional.h>
#include <lazuli/shape_ops.h>
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

/* i: what the input adds to the gates, s: the state; both [N, gates H]. */
static lz_tensor *lstm_step(const nnc *c, lz_tensor *i, lz_tensor *s, lz_tensor *cell, int64_t n,
                            lz_tensor **c_out)
{
    lz_tensor *g = nn_add(c, i, s);
    lz_tensor *in = nn_mul(c, sigmoid(c, gate(c, g, 0, n)), lz_tanh_at(gate(c, g, 2, n), c->site));
    *c_out = nn_add(c, nn_mul(c, sigmoid(c, gate(c, g, 1, n)), cell), in);
    return nn_mul(c, sigmoid(c, gate(c, g, 3, n)), lz_tanh_at(*c_out, c->site));
}

static lz_tensor *gru_step(const nnc *c, lz_tensor *i, lz_tensor *s, lz_tensor *h, int64_t n)
{
    lz_tensor *r = sigmoid(c, nn_add(c, gate(c, i, 0, n), gate(c, s, 0, n)));
    lz_tensor *z = sigmoid(c, nn_add(c, gate(c, i, 1, n), gate(c, s, 1, n)));
    lz_tensor *fresh = nn_add(c, gate(c, i, 2, n), nn_mul(c, r, gate(c, s, 2, n)));
    fresh = lz_tanh_at(fresh, c->site);
    return nn_add(c, fresh, nn_mul(c, z, nn_sub(c, h, fresh))); /* (1 - z) fresh + z h */
}

lz_tensor *lz_lstm_cell_at(lz_tensor *x, lz_tensor *h, lz_tensor *cell, lz_tensor *w_ih,
                           lz_tensor *w_hh, lz_tensor *b_ih, lz_tensor *b_hh, lz_tensor **c_out,
                           const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin("lz_lstm_cell", site);
    lz_tensor *y = NULL;
    if (c.status == LZ_OK && !c_out)
        nn_refuse(&c, LZ_ENULL, "c_out is NULL");
    if (check(&c, x, h, w_ih, w_hh, b_ih, b_hh, 4) && nn_check(&c, cell, "the cell state") &&
        nn_check_shape(&c, cell, lz_shape_of(h), "the cell state")) {
        int64_t n = lz_shape_of(h).dims[1];
        y = lstm_step(&c, lz_linear_at(x, w_ih, b_ih, site), lz_linear_at(h, w_hh, b_hh, site),
                      cell, n, c_out);
        *c_out = lz_escape(*c_out);
    }
    lz_tensor *r = nn_end(&c, y);
    if (c_out && c.status != LZ_OK)
        *c_out = r;
    return r;
}

lz_tensor *lz_gru_cell_at(lz_tensor *x, lz_tensor *h, lz_tensor *w_ih, lz_tensor *w_hh,
                          lz_tensor *b_ih, lz_tensor *b_hh, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin("lz_gru_cell", site);
    lz_tensor *y = NULL;
    if (check(&c, x, h, w_ih, w_hh, b_ih, b_hh, 3)) {
        int64_t n = lz_shape_of(h).dims[1];
        y = gru_step(&c, lz_linear_at(x, w_ih, b_ih, site), lz_linear_at(h, w_hh, b_hh, site), h,
                     n);
    }
    return nn_end(&c, y);
}

/* ---- layers ---- */

/* The parameters of direction d of layer i. */
static void init_direction(lz_module *m, lz_rnn_layer *l, int i, int d, bool bias, lz_dtype dtype)
{
    static const char *const names[] = {"weight_ih_l", "weight_hh_l", "bias_ih_l", "bias_hh_l"};
    int at = i * l->directions + d;
    lz_tensor **const slots[] = {&l->w_ih[at], &l->w_hh[at], &l->b_ih[at], &l->b_hh[at]};
    int64_t rows = (l->kind == LZ_LSTM ? 4 : 3) * l->hidden;
    int64_t in = i ? l->directions * l->hidden : l->input;
    double k = 1 / sqrt((double)l->hidden);
    for (int j = 0; j < (bias ? 4 : 2) && m->status == LZ_OK; j++) {
        char what[32];
        snprintf(what, sizeof what, "%s%d%s", names[j], i, d ? "_reverse" : "");
        lz_shape s = j == 0   ? LZ_SHAPE(rows, in)
                     : j == 1 ? LZ_SHAPE(rows, l->hidden)
                              : LZ_SHAPE(rows);
        *slots[j] = lz_module_param(m, what, lz_init_uniform_at(dtype, s, -k, k, m->site));
    }
}

lz_status lz_rnn_layer_init_at(lz_rnn_layer *l, lz_rnn_kind kind, lz_params *ps, const char *name,
                               int64_t input, int64_t hidden, int layers, bool bias,
                               const lz_rnn_layer_options *opt, lz_dtype dtype, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    static const char op[] = "lz_rnn_layer_init";
    lz_rnn_layer_options o = {.struct_size = sizeof o};
    nnc c = {.op = op, .site = site};
    if (!l)
        return LZ_NN_FAIL(LZ_ENULL, op, site, "the layer is NULL");
    *l = (lz_rnn_layer){0};
    if (!nn_options(&c, &o, sizeof o, opt))
        return lz_nn_annotated(c.status, op, site);
    if ((unsigned)kind > LZ_GRU)
        return LZ_NN_FAIL(LZ_EINVAL, op, site, "%d is no kind of recurrent layer", (int)kind);
    if (input < 1 || hidden < 1 || layers < 1 || layers > LZ_MAX_RNN_LAYERS)
        return LZ_NN_FAIL(LZ_EINVAL, op, site,
                          "input %" PRId64 ", hidden %" PRId64 ", layers %d: at least 1 is needed, "
                          "and at most %d layers",
                          input, hidden, layers, LZ_MAX_RNN_LAYERS);
    if (hidden > INT64_MAX / 4) /* the gates of a cell are one matrix */
        return LZ_NN_FAIL(LZ_ERANGE, op, site, "hidden %" PRId64 " is too large", hidden);
    if (!(o.dropout >= 0 && o.dropout <= 1))
        return LZ_NN_FAIL(LZ_EINVAL, op, site, "dropout is %g: it must be in [0, 1]", o.dropout);
    lz_module m;
    lz_module_begin(&m, ps, name, op, site);
    lz_rnn_layer made = {.kind = kind,
                         .input = input,
                         .hidden = hidden,
                         .layers = layers,
                         .directions = o.bidirectional ? 2 : 1,
                         .dropout = o.dropout};
    for (int i = 0; i < layers && m.status == LZ_OK; i++)
        for (int d = 0; d < made.directions && m.status == LZ_OK; d++)
            init_direction(&m, &made, i, d, bias, dtype);
    if (m.status == LZ_OK)
        *l = made;
    return lz_module_end(&m);
}

/* One call of a layer; states before (NULL: zeros) and, per layer and direction, after. */
typedef struct run {
    nnc *c;
    const lz_rnn_layer *l;
    lz_dtype dtype;
    int64_t batch, steps;
    bool training;
    lz_tensor *h0, *c0, *h[2 * LZ_MAX_RNN_LAYERS], *cell[2 * LZ_MAX_RNN_LAYERS];
} run;

/* Row i of a state, or zeros. */
static lz_tensor *row(const run *r, lz_tensor *state, int i)
{
    return state ? lz_select_at(state, 0, i, r->c->site)
                 : lz_zeros_at(r->dtype, LZ_SHAPE(r->batch, r->l->hidden), r->c->site);
}

typedef struct direction {
    const run *r;
    int k; /* of the layer's directions */
} direction;

/* A time step: the state, and for an LSTM the cell's, from what the input adds to the gates. */
static void time_step(lz_tensor *const *carry, lz_tensor *const *x, lz_tensor **next, lz_tensor **y,
                      void *user)
{
    const direction *d = user;
    const nnc *c = d->r->c;
    const lz_rnn_layer *l = d->r->l;
    lz_tensor *s = lz_linear_at(carry[0], l->w_hh[d->k], l->b_hh[d->k], c->site);
    if (l->kind == LZ_LSTM) {
        y[0] = lstm_step(c, x[0], s, carry[1], l->hidden, &next[1]);
        next[1] = lz_to_at(next[1], lz_dtype_of(carry[1]), c->site);
    } else {
        y[0] = gru_step(c, x[0], s, carry[0], l->hidden);
    }
    next[0] = y[0] = lz_to_at(y[0], lz_dtype_of(carry[0]), c->site);
}

/* Outputs [T, N, H] of direction d of layer i over x [T, N, I]. The products with the inputs of all
 * steps are one. NULL after an error. */
static lz_tensor *run_direction(run *r, int i, int d, lz_tensor *x)
{
    const lz_rnn_layer *l = r->l;
    const lz_site *site = r->c->site;
    direction of = {r, i * l->directions + d};
    lz_tensor *state[2] = {row(r, r->h0, of.k), l->kind == LZ_LSTM ? row(r, r->c0, of.k) : NULL},
              *out[2] = {NULL}, *y = NULL,
              *in = lz_linear_at(x, l->w_ih[of.k], l->b_ih[of.k], site);
    lz_status s = lz_scan_at(
        state, 1 + (l->kind == LZ_LSTM), &in, 1, 1, time_step, &of, out, &y,
        &(lz_scan_options){.struct_size = sizeof(lz_scan_options), .reverse = d == 1}, site);
    if (s != LZ_OK)
        r->c->status = s;
    r->h[of.k] = out[0];
    r->cell[of.k] = out[1];
    return y;
}

static lz_tensor *run_layer(run *r, int i, lz_tensor *x)
{
    const lz_site *site = r->c->site;
    lz_tensor *y = run_direction(r, i, 0, x);
    if (r->l->directions == 2 && r->c->status == LZ_OK)
        y = lz_cat_at((lz_tensor *[]){y, run_direction(r, i, 1, x)}, 2, 2, site);
    if (r->training && r->l->dropout > 0 && i < r->l->layers - 1)
        y = lz_dropout_at(y, r->l->dropout, true, site);
    return y;
}

static lz_tensor *run_layers(run *r, lz_tensor *x)
{
    x = lz_transpose_at(x, 0, 1, r->c->site);
    for (int i = 0; i < r->l->layers && r->c->status == LZ_OK; i++)
        x = run_layer(r, i, x);
    return lz_transpose_at(x, 0, 1, r->c->site);
}

lz_tensor *lz_rnn_layer_forward_at(const lz_rnn_layer *l, lz_tensor *x, lz_tensor *h,
                                   lz_tensor *cell, lz_tensor **h_out, lz_tensor **c_out,
                                   const lz_rnn_call *opt, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin("lz_rnn_layer_forward", site);
    lz_rnn_call o = {.struct_size = sizeof o};
    run r = {.c = &c, .l = l, .h0 = h, .c0 = cell};
    lz_tensor *y = NULL;
    if (c.status == LZ_OK && (!l || l->layers < 1 || l->layers > LZ_MAX_RNN_LAYERS ||
                              l->directions < 1 || l->directions > 2))
        nn_refuse(&c, LZ_ENULL, "the layer is NULL, or was not made");
    if (nn_options(&c, &o, sizeof o, opt) && nn_check_float(&c, x, "the input")) {
        lz_shape s = lz_shape_of(x);
        lz_shape state = LZ_SHAPE(l->layers * l->directions, s.dims[0], l->hidden);
        char t[192];
        if (s.rank != 3 || s.dims[2] != l->input || s.dims[1] < 1) {
            nn_refuse(&c, LZ_ESHAPE, "the input is %s, not [N, T, %" PRId64 "]",
                      lz_nn_shape_text(&s, t), l->input);
        } else if (nn_check_shape(&c, h, state, "the state") &&
                   nn_check_shape(&c, cell, state, "the cell state")) {
            r.dtype = lz_dtype_of(x);
            r.batch = s.dims[0];
            r.steps = s.dims[1];
            r.training = o.training;
            lz_nn_layer scope;
            lz_nn_layer_begin(&scope, l->w_ih[0]);
            y = run_layers(&r, x);
            lz_nn_layer_end(&scope);
        }
    }
    bool lstm = c.status == LZ_OK && l->kind == LZ_LSTM;
    if (c.status == LZ_OK && h_out)
        *h_out = lz_escape(lz_stack_at(r.h, l->layers * l->directions, 0, site));
    if (lstm && c_out)
        *c_out = lz_escape(lz_stack_at(r.cell, l->layers * l->directions, 0, site));
    lz_tensor *result = nn_end(&c, y);
    if (h_out && c.status != LZ_OK)
        *h_out = result;
    if (c_out && !lstm)
        *c_out = result;
    return result;
}
