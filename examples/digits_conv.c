/* digits_conv.c - a convolutional network that reads 98 of 100 handwritten digits right which it
 * has not seen. `digits_conv --help` lists the options. What digits.c does with two hidden layers
 * is done here with convolutions, normalisation, dropout, images moved about while it learns, and
 * an average of the parameters (EMA) that is used in the end. */
#include "example.h"

/* clang-format off */
enum { DATA, BATCH, EPOCHS, LR, DROPOUT, DTYPE, SEED, CHECKPOINT, EVERY, KEEP, STOP, DEVICE, MESH, CACHE, LOG,
       JSON, HELP, OPTIONS };
static example_option opt[OPTIONS] = {
    {"data", "examples/data/digits.csv", "FILE  lines of 64 pixels, 0 to 16, and the digit"},
    {"batch_size", "32", "N"},
    {"num_epochs", "20", "N"},
    {"lr", "0.003", "X  highest learning rate"},
    {"dropout", "0.25", "X"},
    {"dtype", "f32", "f32|bf16  of products and convolutions"},
    {"seed", "1", "N"},
    CHECKPOINT_OPTIONS,
    {"stop", NULL, "N  stop after this epoch, as if interrupted"},
    {"device", NULL, "NAME"},
    {"mesh", NULL, "AXES  of many devices: data=8, fsdp=8 or data=2,fsdp=4"},
    {"cache", NULL, "DIR  compiled programs"},
    LOG_OPTION,
    {"json", NULL, NULL},
    {"help", NULL, NULL},
};
/* clang-format on */

/* ---- data: all of it on the device; a batch is rows of it ---- */

enum { SIDE = 8, PIXELS = SIDE * SIDE, CLASSES = 10, MAX_ROWS = 1 << 16 };
static lz_tensor *images, *labels; /* [rows, 1, 8, 8] of 0 to 1; [rows] */
static int64_t train_rows[MAX_ROWS], test_rows[MAX_ROWS], ntrain, ntest;

static void load_data(void)
{
    lz_array table;
    check(lz_csv_read(opt[DATA].value, &table));
    int64_t rows = table.shape.dims[0];
    if (table.shape.dims[1] != PIXELS + 1 || rows < 5 || rows > MAX_ROWS)
        errx(1, "%s: not 65 numbers in each line", opt[DATA].value);
    for (int64_t i = 0; i < rows; i++) /* every fifth is held out */
        *(i % 5 == 4 ? &test_rows[ntest++] : &train_rows[ntrain++]) = i;
    check(lz_scope_begin());
    lz_tensor *all = lz_array_tensor(&table);
    lz_tensor *pixels = lz_reshape(lz_slice(all, 1, 0, PIXELS, 1), LZ_SHAPE(rows, 1, SIDE, SIDE));
    images = lz_retain(lz_div_scalar(pixels, 16));
    labels = lz_retain(lz_to(lz_select(all, 1, PIXELS), LZ_I32));
    check(lz_mark_step());
    check(lz_scope_end());
}

/* Each image moved by -1, 0 or 1 pixels in both directions: of the 3x3 windows of a padded image,
 * one each. */
static lz_tensor *jittered(lz_tensor *x)
{
    int64_t n = lz_shape_of(x).dims[0];
    lz_tensor *windows = lz_constant_pad_nd(x, ((int64_t[]){1, 1, 1, 1}), 4, 0); /* 10x10 */
    windows = lz_unfold_dim(lz_unfold_dim(windows, 2, SIDE, 1), 3, SIDE, 1);
    windows = lz_reshape(windows, LZ_SHAPE(n, 9, PIXELS));
    lz_tensor *which = lz_one_hot(lz_randint(LZ_I32, 0, 9, LZ_SHAPE(n)), 9, LZ_F32);
    lz_tensor *chosen = lz_sum(lz_mul(windows, lz_unsqueeze(which, 2)), .dims = LZ_DIMS(1));
    return lz_reshape(chosen, LZ_SHAPE(n, 1, SIDE, SIDE));
}

/* ---- the network ---- */

static lz_params params;
static lz_conv_layer conv[3];
static lz_norm_layer norm[3];
static lz_linear_layer fc;

static void net_init(void)
{
    static const int64_t channels[4] = {1, 32, 32, 64};
    for (int i = 0; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "conv%d", i + 1);
        check(lz_conv_layer_init(&conv[i], 2, &params, name, channels[i], channels[i + 1], LZ_F32,
                                 .kernel = {3}, .conv = {.padding = {1, 1}}));
        snprintf(name, sizeof name, "bn%d", i + 1);
        check(lz_norm_layer_init(&norm[i], LZ_BATCH_NORM, &params, name, channels[i + 1], LZ_F32));
    }
    check(lz_linear_layer_init(&fc, &params, "fc", 64 * 4, CLASSES, true, LZ_F32));
}

/* [N, 1, 8, 8] -> scores [N, 10]. */
static lz_tensor *net_forward(lz_tensor *x, bool training)
{
    bool low = strcmp(opt[DTYPE].value, "bf16") == 0;
    check(lz_autocast_begin(low ? LZ_BF16 : LZ_DTYPE_NONE));
    for (int i = 0; i < 3; i++) {
        x = lz_relu(lz_norm_layer_forward(&norm[i], lz_conv_layer_forward(&conv[i], x), training));
        if (i > 0) /* 8x8, 4x4, 2x2 */
            x = lz_max_pool2d(x, .kernel_size = {2});
    }
    x = lz_dropout(lz_flatten(x, 1, -1), real(&opt[DROPOUT]), training);
    x = lz_linear_layer_forward(&fc, x);
    check(lz_autocast_end());
    return lz_to(x, LZ_F32);
}

/* ---- training ---- */

/* Forward, backward, update, average. The loss is read where it is shown: reading waits. */
static double train_step(lz_optim *adamw, lz_ema *ema, const int64_t *rows, int64_t n, bool read)
{
    check(lz_scope_begin());
    lz_tensor *batch = lz_from_host(LZ_I64, LZ_SHAPE(n), rows);
    cut(batch, "data,fsdp", NULL);
    lz_tensor *scores = net_forward(jittered(lz_index_select(images, 0, batch)), true);
    lz_tensor *loss = lz_cross_entropy(scores, lz_index_select(labels, 0, batch));
    check(lz_backward(loss));
    check(lz_optim_step(adamw));
    check(lz_optim_zero_grad(adamw));
    check(lz_ema_update(ema));
    check(lz_mark_step());
    double value = read ? lz_item(loss) : 0;
    check(lz_scope_end());
    return value;
}

/* Of the held-out digits, by the averaged parameters. */
static double test(lz_ema *ema)
{
    check(lz_ema_swap(ema));
    check(lz_mark_step());
    check(lz_scope_begin());
    lz_tensor *rows = lz_from_host(LZ_I64, LZ_SHAPE(ntest), test_rows);
    double accuracy = lz_item(lz_accuracy(net_forward(lz_index_select(images, 0, rows), false),
                                          lz_index_select(labels, 0, rows)));
    check(lz_scope_end());
    check(lz_ema_swap(ema));
    check(lz_mark_step());
    return accuracy;
}

int main(int argc, char **argv)
{
    read_options(opt, OPTIONS, argc, argv);
    choose_mesh(opt[MESH].value);
    choose_device(opt[DEVICE].value, opt[CACHE].value);
    start_log(opt[LOG].value);
    load_data();
    uint64_t seed = (uint64_t)number(&opt[SEED], 0);
    check(lz_manual_seed(seed));
    net_init();
    cut_params(&params);
    check(lz_mark_step()); /* draw the initial weights */
    lz_optim *adamw = MADE(lz_adamw(&params, .weight_decay = 0.05));
    lz_ema *ema = MADE(lz_ema_new(&params, 0.98));
    lz_checkpoint c = {.struct_size = sizeof c, .params = &params, .optim = adamw, .ema = ema};
    resume(&opt[CHECKPOINT], &c);
    int batch = number(&opt[BATCH], 1), epochs = number(&opt[EPOCHS], 1);
    int stop = opt[STOP].value ? number(&opt[STOP], 1) : epochs;
    int64_t per_epoch = ntrain / batch, order[MAX_ROWS], rows[MAX_ROWS];
    if (per_epoch < 1)
        errx(2, "batches of at most %d images, please", (int)ntrain);
    double first = 0, loss = 0;
    int64_t steps = epochs * per_epoch, end = per_epoch * (stop < epochs ? stop : epochs);
    for (bool begun = false; c.step < end; begun = true) {
        lz_shuffled(order, ntrain, seed, c.step / per_epoch); /* each epoch has one of its own */
        for (int64_t i = 0; i < ntrain; i++)
            rows[i] = train_rows[order[i]];
        for (bool last = false; !last; checkpoint(&c)) {
            int64_t i = c.step % per_epoch;
            check(lz_optim_set_lr(adamw,
                                  lz_lr_one_cycle(real(&opt[LR]), c.step, steps, 0.2, 10, 100)));
            last = i == per_epoch - 1;
            double value = train_step(adamw, ema, rows + i * batch, batch, last);
            loss = last ? value : loss;
            c.step++;
        }
        first = begun ? first : loss;
        progress("epochs", c.step / per_epoch, epochs, loss, c.step);
    }
    double accuracy = test(ema);
    printf("%.2f %% of %d held-out digits\n", 100 * accuracy, (int)ntest);
    last_checkpoint(&c);
    report(opt[JSON].value != NULL, first, loss, accuracy);
    lz_ema_free(ema);
    lz_optim_free(adamw);
    lz_params_free(&params);
    lz_release(images);
    lz_release(labels);
    return 0;
}
