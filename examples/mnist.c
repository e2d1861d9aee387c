/* mnist.c - a small convolutional network for handwritten digits, with the options of PyTorch/XLA's
 * example of the same name. `mnist --help` lists them. The files are those of the MNIST data set,
 * plain or compressed: train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte,
 * t10k-labels-idx1-ubyte. The loader's threads prepare the batches and mark the steps; operations
 * only record. */
#include "example.h"

/* clang-format off */
enum { DATADIR, BATCH, EPOCHS, LR, MOMENTUM, LOG_STEPS, FAKE_SIZE, SEED, WORKERS, CHECKPOINT, EVERY,
       KEEP, STOP, DEVICE, MESH, CACHE, LOG, FAKE, DROP_LAST, JSON, HELP, OPTIONS };
static example_option opt[OPTIONS] = {
    {"datadir", "/tmp/mnist-data", "DIR  where the files are"},
    {"batch_size", "128", "N"},
    {"num_epochs", "18", "N"},
    {"lr", "0.01", "X"},
    {"momentum", "0.5", "X"},
    {"log_steps", "20", "N  steps between looks at the loss"},
    {"fake_size", "6000", "N  images of --fake_data"},
    {"seed", "1", "N"},
    {"num_workers", "2", "N  threads that prepare batches"},
    CHECKPOINT_OPTIONS,
    {"stop", NULL, "N  stop after this epoch, as if interrupted"},
    {"device", NULL, "NAME"},
    {"mesh", NULL, "AXES  of many devices: data=8, fsdp=8 or data=2,fsdp=4"},
    {"cache", NULL, "DIR  compiled programs"},
    LOG_OPTION,
    {"fake_data", NULL, NULL},
    {"drop_last", NULL, NULL},
    {"json", NULL, NULL},
    {"help", NULL, NULL},
};
/* clang-format on */

/* ---- data ---- */

enum { TRAIN, TEST };
static lz_dataset set[2];

static lz_array read_file(const char *name)
{
    char path[4096];
    lz_array a;
    snprintf(path, sizeof path, "%s/%s", opt[DATADIR].value, name);
    if (access(path, F_OK) != 0)
        snprintf(path, sizeof path, "%s/%s.gz", opt[DATADIR].value, name);
    check_data(lz_idx_read(path, &a));
    return a;
}

/* Made-up images: noise, and a bright square whose place is the digit, so that there is something
 *   to learn. */
static lz_status fake_image(void *seed, int64_t index, void *const *out)
{
    unsigned char *image = out[0], *label = out[1];
    uint64_t r = ((uint64_t)(uintptr_t)seed + (uint64_t)index) * 0x9e3779b97f4a7c15u;
    *label = (unsigned char)((r >> 40) % 10);
    for (int i = 0; i < 28 * 28; i++) {
        r = r * 6364136223846793005u + 1442695040888963407u;
        int row = i / 28 / 5, column = i % 28 / 5;
        image[i] = (unsigned char)((r >> 58) + (row * 5 + column == *label * 2 ? 160 : 0));
    }
    return LZ_OK;
}

static void load_data(void)
{
    static const char *const names[2][2] = {{"train-images-idx3-ubyte", "train-labels-idx1-ubyte"},
                                            {"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}};
    for (int k = TRAIN; k <= TEST; k++) {
        if (opt[FAKE].value) {
            set[k] = (lz_dataset){.struct_size = sizeof set[k],
                                  .len = k == TRAIN ? number(&opt[FAKE_SIZE], 1) : 1000,
                                  .nfields = 2,
                                  .field = {{LZ_U8, LZ_SHAPE(28, 28)}, {LZ_U8, LZ_SCALAR}},
                                  .get = fake_image,
                                  .user = (void *)(uintptr_t)(k << 24)};
        } else {
            lz_array a[2] = {read_file(names[k][0]), read_file(names[k][1])};
            check(lz_dataset_of_arrays(a, 2, &set[k]));
        }
    }
}

/* ---- the network ---- */

static lz_params params;
static lz_conv_layer conv1, conv2;
static lz_norm_layer bn1, bn2;
static lz_linear_layer fc1, fc2;

static void net_init(void)
{
    check(lz_name_scope_begin("init"));
    check(lz_conv_layer_init(&conv1, 2, &params, "conv1", 1, 10, LZ_F32, .kernel = {5}));
    check(lz_norm_layer_init(&bn1, LZ_BATCH_NORM, &params, "bn1", 10, LZ_F32));
    check(lz_conv_layer_init(&conv2, 2, &params, "conv2", 10, 20, LZ_F32, .kernel = {5}));
    check(lz_norm_layer_init(&bn2, LZ_BATCH_NORM, &params, "bn2", 20, LZ_F32));
    check(lz_linear_layer_init(&fc1, &params, "fc1", 320, 50, true, LZ_F32));
    check(lz_linear_layer_init(&fc2, &params, "fc2", 50, 10, true, LZ_F32));
    check(lz_name_scope_end());
}

/* Bytes [N, 28, 28] -> log probabilities [N, 10]. */
static lz_tensor *net_forward(lz_tensor *image, bool training)
{
    check(lz_name_scope_begin("net"));
    lz_tensor *x = lz_div_scalar(lz_to(lz_unsqueeze(image, 1), LZ_F32), 255);
    x = lz_div_scalar(lz_sub_scalar(x, 0.1307), 0.3081);
    x = lz_relu(lz_max_pool2d(lz_conv_layer_forward(&conv1, x), .kernel_size = {2}));
    x = lz_norm_layer_forward(&bn1, x, training);
    x = lz_relu(lz_max_pool2d(lz_conv_layer_forward(&conv2, x), .kernel_size = {2}));
    x = lz_flatten(lz_norm_layer_forward(&bn2, x, training), 1, -1);
    x = lz_linear_layer_forward(&fc2, lz_relu(lz_linear_layer_forward(&fc1, x)));
    x = lz_log_softmax(x, 1);
    check(lz_name_scope_end());
    return x;
}

/* The rest of an epoch; gives the loss of its last look. */
static double train(lz_loader *loader, lz_optim *sgd, lz_checkpoint *c)
{
    lz_tensor *batch[2];
    double loss = 0;
    int64_t steps = lz_loader_len(loader), epoch = c->step / steps, step = c->step % steps;
    char what[32];
    snprintf(what, sizeof what, "epoch %d", (int)epoch + 1);
    check(lz_loader_begin(loader, epoch, step));
    while (lz_loader_next(loader, batch)) {
        check(lz_scope_begin());
        cut(batch[0], "data,fsdp", NULL);
        cut(batch[1], "data,fsdp", NULL);
        lz_tensor *l = lz_nll_loss(net_forward(batch[0], true), lz_to(batch[1], LZ_I32));
        check(lz_backward(l));
        check(lz_optim_step(sgd));
        check(lz_optim_zero_grad(sgd));
        c->step++;
        if (++step % number(&opt[LOG_STEPS], 1) == 0 ||
            step == steps) { /* a look waits for the step */
            check(lz_mark_step());
            progress(what, step, steps, loss = lz_item(l), c->step);
        }
        check(lz_scope_end());
        checkpoint(c);
    }
    check(lz_loader_status(loader));
    return loss;
}

static double test(lz_loader *loader)
{
    lz_tensor *batch[2];
    double right = 0;
    check(lz_loader_begin(loader, 0, 0));
    while (lz_loader_next(loader, batch)) {
        check(lz_scope_begin());
        lz_tensor *labels = lz_to(batch[1], LZ_I32), *y = net_forward(batch[0], false);
        right += lz_item(lz_accuracy(y, labels)) * (double)lz_numel(labels);
        check(lz_scope_end());
    }
    check(lz_loader_status(loader));
    return right / (double)set[TEST].len;
}

int main(int argc, char **argv)
{
    read_options(opt, OPTIONS, argc, argv);
    choose_mesh(opt[MESH].value);
    choose_device(opt[DEVICE].value, opt[CACHE].value);
    start_log(opt[LOG].value);
    load_data();
    check(lz_manual_seed((uint64_t)number(&opt[SEED], 1)));
    net_init();
    cut_params(&params);
    check(lz_mark_step()); /* draw the initial weights */
    lz_optim *sgd = MADE(lz_sgd(&params, .lr = real(&opt[LR]), .momentum = real(&opt[MOMENTUM])));
    lz_loader *loader[2] = {
        MADE(lz_loader_new(&set[TRAIN], .batch_size = number(&opt[BATCH], 1), .shuffle = true,
                           .drop_last = opt[DROP_LAST].value != NULL,
                           .seed = (uint64_t)number(&opt[SEED], 1),
                           .num_workers = number(&opt[WORKERS], 1))),
        MADE(lz_loader_new(&set[TEST], .batch_size = number(&opt[BATCH], 1),
                           .batches_per_execution = 0))};
    lz_checkpoint c = {.struct_size = sizeof c, .params = &params, .optim = sgd};
    resume(&opt[CHECKPOINT], &c);
    int epochs = number(&opt[EPOCHS], 1), stop = opt[STOP].value ? number(&opt[STOP], 1) : epochs;
    double loss = 0, accuracy = 0, first = 0;
    int64_t per_epoch = lz_loader_len(loader[TRAIN]);
    int64_t end = per_epoch * (stop < epochs ? stop : epochs);
    for (bool begun = false; c.step < end; begun = true) {
        double start = now();
        loss = train(loader[TRAIN], sgd, &c);
        first = begun ? first : loss;
        check(lz_wait_device_ops());
        double s = now() - start;
        accuracy = test(loader[TEST]);
        check(lz_log_scalar("accuracy", accuracy, c.step));
        printf("epoch %d: loss %.4f, accuracy %.2f %%, %.0f images/s\n", (int)(c.step / per_epoch),
               loss, 100 * accuracy, (double)set[TRAIN].len / s);
    }
    last_checkpoint(&c);
    report(opt[JSON].value != NULL, first, loss, accuracy);
    for (int k = TRAIN; k <= TEST; k++) {
        lz_loader_free(loader[k]);
        lz_dataset_free(&set[k]);
    }
    lz_optim_free(sgd);
    lz_params_free(&params);
    return 0;
}
