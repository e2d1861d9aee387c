/* vae.c - a variational autoencoder (Kingma and Welling 2014): learns to draw digits, and draws
 * some. `vae --help` lists the options. An encoder gives each image a normal distribution over a
 * few numbers; a decoder makes an image of numbers drawn from it. Drawing is an operation like any
 * other (lz_randn): its numbers depend on the seed alone, and gradients pass by it, for mean +
 * deviation * noise is what is differentiated. */
#include "example.h"

/* clang-format off */
enum { DATA, MNIST, HIDDEN, LATENT, BATCH, EPOCHS, LR, SEED, CHECKPOINT, EVERY, KEEP, STOP, SAMPLES,
       DEVICE, MESH, CACHE, LOG, FAKE, JSON, HELP, OPTIONS };
static example_option opt[OPTIONS] = {
    {"data", "examples/data/digits.csv", "FILE  lines of 64 pixels, 0 to 16, and the digit"},
    {"mnist", NULL, "FILE  MNIST's train-images-idx3-ubyte instead, plain or compressed"},
    {"hidden", "128", "N"},
    {"latent", "8", "N  numbers that describe an image"},
    {"batch_size", "32", "N"},
    {"num_epochs", "30", "N"},
    {"lr", "0.002", "X"},
    {"seed", "1", "N"},
    CHECKPOINT_OPTIONS,
    {"stop", NULL, "N  stop after this epoch, as if interrupted"},
    {"samples", "5", "N  images to draw at the end"},
    {"device", NULL, "NAME"},
    {"mesh", NULL, "AXES  of many devices: data=8, fsdp=8 or data=2,fsdp=4"},
    {"cache", NULL, "DIR  compiled programs"},
    LOG_OPTION,
    {"fake_data", NULL, NULL},
    {"json", NULL, NULL},
    {"help", NULL, NULL},
};
/* clang-format on */

/* ---- data: all of it on the device, [rows, side * side] of 0 to 1 ---- */

static lz_tensor *images;
static int64_t rows, side, pixels;

/* Made-up images: a soft spot somewhere. */
static lz_tensor *spots(void)
{
    rows = 512, side = 8;
    lz_shape s = LZ_SHAPE(rows, side, side);
    lz_tensor *at = lz_mul_scalar(lz_rand(LZ_F32, LZ_SHAPE(2, rows, 1, 1)), (double)side);
    lz_tensor *dy = lz_sub(lz_iota(LZ_F32, s, 1), lz_select(at, 0, 0));
    lz_tensor *dx = lz_sub(lz_iota(LZ_F32, s, 2), lz_select(at, 0, 1));
    return lz_exp(lz_mul_scalar(lz_add(lz_mul(dx, dx), lz_mul(dy, dy)), -0.25));
}

/* The first columns of a table of pixels, or a file of images. */
static lz_tensor *from_file(void)
{
    lz_array a;
    if (opt[MNIST].value)
        check(lz_idx_read(opt[MNIST].value, &a));
    else
        check(lz_csv_read(opt[DATA].value, &a));
    if (a.shape.rank != (opt[MNIST].value ? 3 : 2) || a.shape.dims[1] < 8)
        errx(1, "these are not images");
    rows = a.shape.dims[0];
    side = opt[MNIST].value ? a.shape.dims[1] : 8;
    lz_tensor *x = lz_to(lz_array_tensor(&a), LZ_F32);
    if (!opt[MNIST].value)
        x = lz_slice(x, 1, 0, side * side, 1);
    return lz_div_scalar(x, opt[MNIST].value ? 255 : 16);
}

static void load_data(void)
{
    check(lz_scope_begin());
    lz_tensor *x = opt[FAKE].value ? spots() : from_file();
    pixels = side * side;
    images = lz_retain(lz_reshape(x, LZ_SHAPE(rows, pixels)));
    check(lz_mark_step());
    check(lz_scope_end());
}

/* ---- the network ---- */

static lz_params params;
static lz_linear_layer enc1, enc2, dec1, dec2;

static void net_init(void)
{
    int hidden = number(&opt[HIDDEN], 1), latent = number(&opt[LATENT], 1);
    check(lz_linear_layer_init(&enc1, &params, "encoder.0", pixels, hidden, true, LZ_F32));
    check(lz_linear_layer_init(&enc2, &params, "encoder.1", hidden, 2 * latent, true, LZ_F32));
    check(lz_linear_layer_init(&dec1, &params, "decoder.0", latent, hidden, true, LZ_F32));
    check(lz_linear_layer_init(&dec2, &params, "decoder.1", hidden, pixels, true, LZ_F32));
}

/* [N, latent] -> [N, pixels]: how bright, before the sigmoid. */
static lz_tensor *decode(lz_tensor *z)
{
    return lz_linear_layer_forward(&dec2, lz_silu(lz_linear_layer_forward(&dec1, z)));
}

/* What an image costs: the bits to correct what is decoded, and those that its description carries.
 * Both are sums over an image, averaged over the batch; together the negative ELBO. */
static lz_tensor *loss_of(lz_tensor *x)
{
    lz_tensor *h = lz_silu(lz_linear_layer_forward(&enc1, x));
    h = lz_linear_layer_forward(&enc2, h);
    int64_t latent = lz_shape_of(h).dims[1] / 2;
    lz_tensor *mean = lz_narrow(h, 1, 0, latent), *logvar = lz_narrow(h, 1, latent, latent);
    lz_tensor *noise = lz_randn(LZ_F32, lz_shape_of(mean));
    lz_tensor *z = lz_add(mean, lz_mul(lz_exp(lz_mul_scalar(logvar, 0.5)), noise));
    lz_tensor *wrong =
        lz_binary_cross_entropy_with_logits(decode(z), x, .reduction = LZ_REDUCE_SUM);
    /* distance of normal(mean, var) from normal(0, 1): sum of (mean^2 + var - log var - 1) / 2 */
    lz_tensor *apart = lz_sub(lz_add(lz_mul(mean, mean), lz_exp(logvar)), logvar);
    lz_tensor *kl = lz_mul_scalar(lz_sum(lz_sub_scalar(apart, 1)), 0.5);
    return lz_div_scalar(lz_add(wrong, kl), (double)lz_shape_of(x).dims[0]);
}

static double train_step(lz_optim *adam, const int64_t *batch, int64_t n, bool read)
{
    check(lz_scope_begin());
    lz_tensor *at = lz_from_host(LZ_I64, LZ_SHAPE(n), batch);
    cut(at, "data,fsdp", NULL);
    lz_tensor *loss = loss_of(lz_index_select(images, 0, at));
    check(lz_backward(loss));
    check(lz_optim_step(adam));
    check(lz_optim_zero_grad(adam));
    check(lz_mark_step());
    double value = read ? lz_item(loss) : 0;
    check(lz_scope_end());
    return value;
}

/* Images of descriptions drawn at random, side by side. */
static void draw(int n)
{
    static const char ink[] = " .:-=+*#%@";
    float *x = calloc((size_t)n * (size_t)pixels, sizeof *x);
    if (!x)
        errx(1, "no memory for %d images", n);
    check(lz_scope_begin());
    lz_tensor *z = lz_randn(LZ_F32, LZ_SHAPE(n, number(&opt[LATENT], 1)));
    check(lz_to_host(lz_sigmoid(decode(z)), x, (size_t)n * (size_t)pixels * sizeof *x));
    check(lz_scope_end());
    for (int64_t row = 0; row < side; row++) {
        for (int64_t i = 0; i < n * side; i++) {
            float v = x[i / side * pixels + row * side + i % side];
            printf("%s%c", i && i % side == 0 ? " | " : "", ink[(int)(v * 9.99f)]);
        }
        printf("\n");
    }
    free(x);
}

int main(int argc, char **argv)
{
    read_options(opt, OPTIONS, argc, argv);
    choose_mesh(opt[MESH].value);
    choose_device(opt[DEVICE].value, opt[CACHE].value);
    start_log(opt[LOG].value);
    uint64_t seed = (uint64_t)number(&opt[SEED], 0);
    check(lz_manual_seed(seed));
    load_data();
    net_init();
    cut_params(&params);
    check(lz_mark_step()); /* draw the initial weights */
    lz_optim *adam = MADE(lz_adam(&params, .lr = real(&opt[LR])));
    lz_checkpoint c = {.struct_size = sizeof c, .params = &params, .optim = adam};
    resume(&opt[CHECKPOINT], &c);
    int batch = number(&opt[BATCH], 1), epochs = number(&opt[EPOCHS], 1);
    int stop = opt[STOP].value ? number(&opt[STOP], 1) : epochs;
    int64_t per_epoch = rows / batch, *order = calloc((size_t)rows, sizeof *order);
    if (per_epoch < 1 || !order)
        errx(2, "batches of at most %d images, please", (int)rows);
    double first = 0, loss = 0;
    int64_t end = per_epoch * (stop < epochs ? stop : epochs);
    for (bool begun = false; c.step < end; begun = true) {
        lz_shuffled(order, rows, seed, c.step / per_epoch); /* each epoch has one of its own */
        for (bool last = false; !last; checkpoint(&c)) {
            int64_t i = c.step % per_epoch;
            last = i == per_epoch - 1;
            double value = train_step(adam, order + i * batch, batch, last);
            loss = last ? value : loss;
            c.step++;
        }
        first = begun ? first : loss;
        progress("epochs", c.step / per_epoch, epochs, loss, c.step);
    }
    printf("loss %.2f after %d epochs, %.2f after the first\n", loss, (int)(c.step / per_epoch),
           first);
    last_checkpoint(&c);
    if (number(&opt[SAMPLES], 0))
        draw(number(&opt[SAMPLES], 0));
    report(opt[JSON].value != NULL, first, loss, 0);
    free(order);
    lz_optim_free(adam);
    lz_params_free(&params);
    lz_release(images);
    return 0;
}
