/* t_fsdp_memory.c - what a device holds of a model of eight equal layers whose parameters are cut:
 * an Nth of parameters, gradients and states, and two layers; of large batches what layers keep for
 * their backward passes comes to it. Losses are those of one device. */
#include "../runtime/rt.h"

enum { LAYERS = 8, STEPS = 2, TOKENS = 8, HEADS = 2 };
enum { SGD, MOMENTUM, ADAM }; /* as many states */
enum { LINEAR, BLOCK };       /* kinds of layers */

typedef struct model {
    int devices, kind, rows, width;
    bool again; /* layers are computed again in the backward pass */
    int optimizer;
} model;

static const model models[] = {
    {2, LINEAR, 16, 128, false, ADAM},   {8, LINEAR, 16, 128, true, SGD},
    {4, LINEAR, 128, 128, true, ADAM},   {8, LINEAR, 512, 128, false, ADAM},
    {2, LINEAR, 512, 128, false, SGD},   {8, LINEAR, 512, 128, true, MOMENTUM},
    {4, BLOCK, 64, 64, false, MOMENTUM}, {8, BLOCK, 256, 64, false, ADAM},
    {8, BLOCK, 256, 64, true, SGD},
};

/* A layer: a matrix, or a block of a transformer. */
typedef struct layer {
    const model *of;
    lz_linear_layer one, qkv, out, up, down;
    lz_norm_layer before, between;
} layer;

typedef struct network {
    const model *of;
    lz_params ps;
    layer layer[LAYERS];
    lz_optim *o;
} network;

static lz_tensor *attend(layer *l, lz_tensor *x)
{
    int64_t w = l->of->width, n = l->of->rows / TOKENS;
    lz_tensor *all = lz_linear_layer_forward(&l->qkv, x), *part[3];
    for (int i = 0; i < 3; i++) {
        lz_tensor *p = lz_slice(all, 1, i * w, (i + 1) * w, 1);
        part[i] = lz_transpose(lz_reshape(p, LZ_SHAPE(n, TOKENS, HEADS, w / HEADS)), 1, 2);
    }
    lz_tensor *y = lz_scaled_dot_product_attention(part[0], part[1], part[2], .is_causal = true);
    y = lz_reshape(lz_transpose(y, 1, 2), LZ_SHAPE(l->of->rows, w));
    return lz_linear_layer_forward(&l->out, y);
}

static void layer_of(lz_tensor *const *in, lz_tensor **out, void *user)
{
    layer *l = user;
    if (l->of->kind == LINEAR) {
        out[0] = lz_tanh(lz_linear_layer_forward(&l->one, in[0]));
        return;
    }
    lz_tensor *x = lz_add(in[0], attend(l, lz_norm_layer_forward(&l->before, in[0], true)));
    lz_tensor *h = lz_linear_layer_forward(&l->up, lz_norm_layer_forward(&l->between, x, true));
    out[0] = lz_add(x, lz_linear_layer_forward(&l->down, lz_gelu(h, false)));
}

static void linear(network *n, lz_linear_layer *l, int i, const char *what, int64_t in, int64_t out)
{
    char name[24];
    snprintf(name, sizeof name, "%d.%s", i, what);
    OK(lz_linear_layer_init(l, &n->ps, name, in, out, true, LZ_F32));
}

static void norm(network *n, lz_norm_layer *l, int i, const char *what)
{
    char name[24];
    snprintf(name, sizeof name, "%d.%s", i, what);
    OK(lz_norm_layer_init(l, LZ_LAYER_NORM, &n->ps, name, n->of->width, LZ_F32));
}

static lz_optim *optimizer(int states, lz_params *ps)
{
    return states == SGD        ? lz_sgd(ps, .lr = 1e-3)
           : states == MOMENTUM ? lz_sgd(ps, .lr = 1e-3, .momentum = 0.9)
                                : lz_adam(ps, .lr = 1e-3);
}

static void network_init(network *n, const model *of, lz_mesh *m)
{
    int64_t w = of->width;
    n->of = of;
    OK(lz_manual_seed(3));
    for (int i = 0; i < LAYERS; i++) {
        layer *l = &n->layer[i];
        l->of = of;
        if (of->kind == LINEAR) {
            linear(n, &l->one, i, "one", w, w);
            continue;
        }
        norm(n, &l->before, i, "before");
        linear(n, &l->qkv, i, "qkv", w, 3 * w);
        linear(n, &l->out, i, "out", w, w);
        norm(n, &l->between, i, "between");
        linear(n, &l->up, i, "up", w, 4 * w);
        linear(n, &l->down, i, "down", 4 * w, w);
    }
    if (m)
        OK(lz_fsdp_shard_module(&n->ps, m, NULL));
    n->o = optimizer(of->optimizer, &n->ps);
    OK(lz_mark_step(.wait = true));
}

static void network_end(network *n)
{
    lz_optim_free(n->o);
    lz_params_free(&n->ps);
}

static void train(network *n, lz_mesh *m, double losses[STEPS])
{
    int rows = n->of->rows, width = n->of->width;
    float *v = malloc((size_t)rows * (size_t)width * sizeof *v);
    ck_assert_ptr_nonnull(v);
    for (int i = 0; i < rows * width; i++)
        v[i] = (float)(i % 31) / 31;
    for (int step = 0; step < STEPS; step++) {
        OK(lz_scope_begin());
        lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(rows, width), v);
        if (m)
            OK(lz_fsdp_shard_batch(x, m, NULL));
        for (int i = 0; i < LAYERS; i++) {
            if (n->of->again)
                OK(lz_checkpoint(layer_of, &x, 1, 1, &n->layer[i], &x));
            else
                layer_of(&x, &x, &n->layer[i]);
        }
        lz_tensor *loss = lz_mean(lz_square(x));
        OK(lz_backward(loss));
        OK(lz_optim_step(n->o));
        OK(lz_optim_zero_grad(n->o));
        OK(lz_mark_step(.wait = true));
        losses[step] = lz_item(loss);
        OK(lz_scope_end());
    }
    free(v);
}

static double bytes_of(const lz_params *ps)
{
    double n = 0;
    for (size_t i = 0; i < ps->len; i++)
        n += 4.0 * (double)lz_numel(ps->tensors[i]);
    return n;
}

/* What is no parameter: of a device's share of the batch what each layer keeps (a matrix what goes
 * into it; a block that, both normalised, three of attention, its probabilities and result, the sum
 * behind it, and twice four of the products), what one layer works with, and the batch. What
 * layers that are computed again keep is what goes into them. */
static double activations(const model *m)
{
    int each = m->kind == LINEAR ? 1 : 17, kept = m->again ? 1 : each;
    return (LAYERS * kept + 2 * each + 2) * 4.0 * m->rows * m->width / m->devices;
}

static uint64_t highest(int devices)
{
    uint64_t most = 0;
    for (int q = 0; q < devices; q++) {
        lz_memory_info info;
        char name[24];
        snprintf(name, sizeof name, "CPU:%d", q);
        OK(lz_get_memory_info(name, &info));
        most = info.peak_bytes_used > most ? info.peak_bytes_used : most;
    }
    return most;
}

START_TEST(memory)
{
    const model *of = &models[_i];
    char n[16];
    if (!lz_test_in_turn((unsigned)_i, lz_test_small() ? 3 : 1))
        return;
    snprintf(n, sizeof n, "%d", of->devices);
    rt_use("CPU");
    setenv("CPU_NUM_DEVICES", n, 1);
    setenv("XLA_USE_SPMD", "1", 1);
    lz_mesh *m =
        lz_mesh_new(NULL, (const int64_t[]){of->devices}, (const char *const[]){"fsdp"}, 1);
    network all = {0}, one = {0};
    double want[STEPS], got[STEPS];
    network_init(&all, of, m);
    train(&all, m, got);
    double total = bytes_of(&all.ps), most = 0, peak = (double)highest(of->devices);
    most = 1.05 * ((2 + of->optimizer) * total / of->devices + 2 * total / LAYERS);
    ck_assert_msg(peak <= most + activations(of), "a peak of %.0f bytes, %.0f and %.0f allowed",
                  peak, most, activations(of));
    network_end(&all);
    OK(lz_set_device("CPU:0"));
    network_init(&one, of, NULL);
    train(&one, NULL, want);
    network_end(&one);
    for (int i = 0; i < STEPS; i++)
        ck_assert_msg(fabs(got[i] - want[i]) <= 1e-4 * fabs(want[i]), "step %d: %.9g, not %.9g", i,
                      got[i], want[i]);
}
END_TEST

/* Plans as they are between processes, whose gathers start ahead. */
static void overlap(void)
{
    setenv("LAZULI_OVERLAP", "2", 1);
}

int main(void)
{
    Suite *s = suite_create("fsdp_memory");
    TCase *t = tcase_create("fsdp_memory"), *ahead = tcase_create("overlap");
    tcase_set_timeout(t, 60);
    tcase_set_timeout(ahead, 60);
    tcase_add_loop_test(t, memory, 0, sizeof models / sizeof *models);
    tcase_add_checked_fixture(ahead, overlap, NULL);
    tcase_add_loop_test(ahead, memory, 0, sizeof models / sizeof *models);
    suite_add_tcase(s, t);
    suite_add_tcase(s, ahead);
    return lz_run_suite(s);
}
