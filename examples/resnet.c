/* resnet.c - residual networks (He et al. 2015): ResNet-18, 34 and 50 as torchvision builds them,
 * for images of CIFAR's size or of ImageNet's. `resnet --help` lists the options. The files are
 * those of CIFAR-10 in its binary form (data_batch_1.bin .. data_batch_5.bin, test_batch.bin); with
 * --fake_data there are none, and images of any size. --dtype bf16 or f16 trains in mixed
 * precision: parameters stay f32. */
#include "example.h"

/* clang-format off */
enum { MODEL, IMAGE, CLASSES, WIDTH, DATADIR, BATCH, EPOCHS, LR, WEIGHT_DECAY, DTYPE, LOG_STEPS,
       FAKE_SIZE, SEED, WORKERS, CHECKPOINT, EVERY, KEEP, STOP, MESH, DEVICE, CACHE, LOG, FAKE,
       JSON, HELP, OPTIONS };
static example_option opt[OPTIONS] = {
    {"model", "18", "18|34|50  layers"},
    {"image", "32", "N  pixels of a side; above 64 the network begins as for ImageNet"},
    {"classes", "10", "N"},
    {"width", "64", "N  channels of the first stage"},
    {"datadir", "/tmp/cifar-10-batches-bin", "DIR  where the files are"},
    {"batch_size", "128", "N"},
    {"num_epochs", "10", "N"},
    {"lr", "0.1", "X  highest learning rate"},
    {"weight_decay", "5e-4", "X  of the matrices, not of scales and biases"},
    {"dtype", "f32", "f32|bf16|f16  of products and convolutions"},
    {"log_steps", "20", "N  steps between looks at the loss"},
    {"fake_size", "5000", "N  images of --fake_data"},
    {"seed", "1", "N"},
    {"num_workers", "2", "N  threads that prepare batches"},
    CHECKPOINT_OPTIONS,
    {"stop", NULL, "N  stop after this epoch, as if interrupted"},
    {"mesh", NULL, "AXES  of many devices: data=8"},
    {"device", NULL, "NAME"},
    {"cache", NULL, "DIR  compiled programs"},
    LOG_OPTION,
    {"fake_data", NULL, NULL},
    {"json", NULL, NULL},
    {"help", NULL, NULL},
};
/* clang-format on */

/* ---- the network ---- */

/* A convolution without a bias, and the normalisation that follows it. */
typedef struct unit {
    lz_conv_layer conv;
    lz_norm_layer norm;
} unit;
/* x + f(x), where f is two units of 3x3, or the bottleneck 1x1, 3x3, 1x1. */
typedef struct block {
    int n;
    unit unit[3], shortcut;
    bool has_shortcut;
} block;
enum { MAX_BLOCKS = 16 };
static struct {
    unit stem;
    block block[MAX_BLOCKS];
    int blocks;
    bool large; /* the beginning of ImageNet: 7x7 of stride 2, and pooling */
    lz_linear_layer fc;
} net;
static lz_params params, matrices, others;

static void unit_init(unit *u, const char *name, const char *conv, const char *norm, int64_t in,
                      int64_t out, int kernel, int stride)
{
    char full[128];
    snprintf(full, sizeof full, "%s%s", name, conv);
    check(lz_conv_layer_init(
        &u->conv, 2, &params, full, in, out, LZ_F32, .kernel = {kernel},
        .conv = {.stride = {stride, stride}, .padding = {kernel / 2, kernel / 2}},
        .no_bias = true));
    snprintf(full, sizeof full, "%s%s", name, norm);
    check(lz_norm_layer_init(&u->norm, LZ_BATCH_NORM, &params, full, out, LZ_F32));
}

static lz_tensor *unit_forward(const unit *u, lz_tensor *x, bool training)
{
    return lz_norm_layer_forward(&u->norm, lz_conv_layer_forward(&u->conv, x), training);
}

/* Parameters have torchvision's names, so its files can be loaded. */
static void block_init(block *b, const char *name, int64_t in, int64_t mid, int stride, bool deep)
{
    char full[96], conv[24], norm[24];
    int64_t out = deep ? 4 * mid : mid;
    b->n = deep ? 3 : 2;
    for (int i = 0; i < b->n; i++) {
        snprintf(conv, sizeof conv, ".conv%d", i + 1);
        snprintf(norm, sizeof norm, ".bn%d", i + 1);
        int kernel = deep && i != 1 ? 1 : 3;
        unit_init(&b->unit[i], name, conv, norm, i ? mid : in, i == 2 ? out : mid, kernel,
                  i == deep ? stride : 1);
    }
    snprintf(full, sizeof full, "%s.downsample", name);
    b->has_shortcut = stride != 1 || in != out;
    if (b->has_shortcut)
        unit_init(&b->shortcut, full, ".0", ".1", in, out, 1, stride);
}

static lz_tensor *block_forward(const block *b, lz_tensor *x, bool training)
{
    lz_tensor *y = x;
    for (int i = 0; i < b->n; i++) {
        y = unit_forward(&b->unit[i], y, training);
        y = i < b->n - 1 ? lz_relu(y) : y;
    }
    return lz_relu(lz_add(y, b->has_shortcut ? unit_forward(&b->shortcut, x, training) : x));
}

static bool is_matrix(const char *name, lz_tensor *t, void *user)
{
    (void)name;
    return (lz_rank_of(t) > 1) == (user != NULL);
}

static void net_init(void)
{
    check(lz_name_scope_begin("init"));
    static const int depth[3][4] = {{2, 2, 2, 2}, {3, 4, 6, 3}, {3, 4, 6, 3}};
    int layers = number(&opt[MODEL], 1), model = layers == 18 ? 0 : layers == 34 ? 1 : 2;
    if (model == 2 && layers != 50)
        errx(2, "--model %d: 18, 34 or 50 is needed", layers);
    bool deep = model == 2;
    int64_t width = number(&opt[WIDTH], 1), in = width;
    net.large = opt[FAKE].value && number(&opt[IMAGE], 8) > 64;
    unit_init(&net.stem, "", "conv1", "bn1", 3, width, net.large ? 7 : 3, net.large ? 2 : 1);
    for (int stage = 0; stage < 4; stage++, width *= 2)
        for (int i = 0; i < depth[model][stage]; i++) {
            char name[64];
            snprintf(name, sizeof name, "layer%d.%d", stage + 1, i);
            block_init(&net.block[net.blocks++], name, in, width, i || !stage ? 1 : 2, deep);
            in = deep ? 4 * width : width;
        }
    check(lz_linear_layer_init(&net.fc, &params, "fc", in, number(&opt[CLASSES], 2), true, LZ_F32));
    check(lz_params_select(&params, &matrices, is_matrix, &net));
    check(lz_params_select(&params, &others, is_matrix, NULL));
    check(lz_name_scope_end());
}

/* Bytes [N, 3, H, W] -> scores [N, classes]. */
static lz_tensor *net_forward(lz_tensor *image, bool training)
{
    check(lz_name_scope_begin("net"));
    lz_tensor *x = lz_div_scalar(lz_sub_scalar(lz_to(image, LZ_F32), 120), 62);
    if (training) { /* half of the images are mirrored */
        lz_tensor *coin = lz_rand(LZ_F32, LZ_SHAPE(lz_shape_of(x).dims[0], 1, 1, 1));
        x = lz_where(lz_lt_scalar(coin, 0.5), lz_flip(x, 3), x);
    }
    x = lz_relu(unit_forward(&net.stem, x, training));
    if (net.large)
        x = lz_max_pool2d(x, .kernel_size = {3}, .stride = {2}, .padding = {1, 1});
    for (int i = 0; i < net.blocks; i++)
        x = block_forward(&net.block[i], x, training);
    x = lz_linear_layer_forward(&net.fc, lz_mean(x, .dims = LZ_DIMS(2, 3)));
    check(lz_name_scope_end());
    return x;
}

/* ---- data ---- */

enum { TRAIN, TEST, FILES = 5 };
static lz_dataset set[2];
static lz_array images[2][FILES], classes_of[2][FILES];

/* Sample `index` of the files, which have equally many. */
static lz_status read_image(void *which, int64_t index, void *const *out)
{
    const lz_array *image = images[which != NULL], *label = classes_of[which != NULL];
    int64_t n = image->shape.dims[0], file = index / n, row = index % n;
    memcpy(out[0], (unsigned char *)image[file].data + row * 3 * 32 * 32, 3 * 32 * 32);
    *(unsigned char *)out[1] = ((unsigned char *)label[file].data)[row];
    return LZ_OK;
}

/* Made-up images: noise, and a bright bar whose place is the class. */
static lz_status fake_image(void *which, int64_t index, void *const *out)
{
    unsigned char *image = out[0], *label = out[1];
    int n = number(&opt[IMAGE], 8), classes = number(&opt[CLASSES], 2);
    uint64_t r = (uint64_t)(index + (which ? 1 << 24 : 0)) * 0x9e3779b97f4a7c15u;
    *label = (unsigned char)((r >> 40) % (uint64_t)classes);
    for (int i = 0; i < 3 * n * n; i++) {
        r = r * 6364136223846793005u + 1442695040888963407u;
        image[i] = (unsigned char)((r >> 57) + (i / n % n * classes / n == *label ? 120 : 0));
    }
    return LZ_OK;
}

static int64_t open_files(int k)
{
    int n = k == TRAIN ? FILES : 1;
    for (int i = 0; i < n; i++) {
        char path[4096];
        snprintf(path, sizeof path, k == TRAIN ? "%s/data_batch_%d.bin" : "%s/test_batch.bin",
                 opt[DATADIR].value, i + 1);
        check_data(lz_cifar_read(path, false, &images[k][i], &classes_of[k][i]));
        if (images[k][i].shape.dims[0] != images[k][0].shape.dims[0])
            errx(1, "%s: another number of images than the first file", path);
    }
    return n * images[k][0].shape.dims[0];
}

static void load_data(void)
{
    bool fake = opt[FAKE].value != NULL;
    int n = fake ? number(&opt[IMAGE], 8) : 32;
    if (number(&opt[CLASSES], 2) > 256)
        errx(2, "at most 256 classes");
    for (int k = TRAIN; k <= TEST; k++)
        set[k] = (lz_dataset){.struct_size = sizeof set[k],
                              .len = !fake        ? open_files(k)
                                     : k == TRAIN ? number(&opt[FAKE_SIZE], 1)
                                                  : 256,
                              .nfields = 2,
                              .field = {{LZ_U8, LZ_SHAPE(3, n, n)}, {LZ_U8, LZ_SCALAR}},
                              .get = fake ? fake_image : read_image,
                              .user = k == TEST ? &set[k] : NULL};
}

/* ---- training ---- */

static lz_dtype precision(void)
{
    static const lz_dtype dtypes[] = {LZ_F32, LZ_BF16, LZ_F16};
    for (int i = 0; i < 3; i++)
        if (strcmp(opt[DTYPE].value, lz_dtype_name(dtypes[i])) == 0)
            return dtypes[i];
    errx(2, "--dtype %s: f32, bf16 or f16 is needed", opt[DTYPE].value);
}

/* The scores, with products and convolutions in the precision asked for. */
static lz_tensor *scores_of(lz_tensor *image, bool training)
{
    lz_dtype d = precision();
    check(lz_autocast_begin(d == LZ_F32 ? LZ_DTYPE_NONE : d));
    lz_tensor *y = net_forward(image, training);
    check(lz_autocast_end());
    return lz_to(y, LZ_F32);
}

/* The rest of an epoch; gives the loss of its last look. */
static double train(lz_loader *loader, lz_optim *sgd, lz_grad_scaler *scaler, lz_checkpoint *c)
{
    lz_tensor *batch[2];
    char what[32];
    double loss = 0;
    int64_t steps = lz_loader_len(loader), epoch = c->step / steps, step = c->step % steps;
    snprintf(what, sizeof what, "epoch %d", (int)epoch + 1);
    check(lz_loader_begin(loader, epoch, step));
    while (lz_loader_next(loader, batch)) {
        check(lz_scope_begin());
        cut(batch[0], "data", NULL);
        cut(batch[1], "data", NULL);
        lz_tensor *l = lz_cross_entropy(scores_of(batch[0], true), lz_to(batch[1], LZ_I32));
        check(lz_backward(lz_grad_scaler_scale(scaler, l)));
        check(lz_optim_set_lr(sgd, lz_lr_cosine(real(&opt[LR]), c->step,
                                                number(&opt[EPOCHS], 1) * steps, steps / 2, 0)));
        check(lz_grad_scaler_step(scaler, sgd));
        check(lz_grad_scaler_update(scaler));
        check(lz_optim_zero_grad(sgd));
        c->step++;
        if (++step % number(&opt[LOG_STEPS], 1) == 0 || step == steps) {
            check(lz_mark_step()); /* a look waits for the step */
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
        lz_tensor *labels = lz_to(batch[1], LZ_I32), *y = scores_of(batch[0], false);
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
    check(lz_manual_seed((uint64_t)number(&opt[SEED], 0)));
    net_init();
    check(lz_mark_step()); /* draw the initial weights */
    lz_optim *sgd = MADE(lz_sgd(&matrices, .momentum = 0.9, .nesterov = true,
                                .weight_decay = real(&opt[WEIGHT_DECAY])));
    check(lz_optim_add_group(sgd, &others));
    lz_grad_scaler *scaler = MADE(lz_grad_scaler_new(.disabled = precision() != LZ_F16));
    int batch = number(&opt[BATCH], 1);
    lz_loader *loader[2] = {
        MADE(lz_loader_new(&set[TRAIN], .batch_size = batch, .shuffle = true, .drop_last = true,
                           .seed = (uint64_t)number(&opt[SEED], 0),
                           .num_workers = number(&opt[WORKERS], 1))),
        MADE(lz_loader_new(&set[TEST], .batch_size = batch, .batches_per_execution = 0))};
    lz_checkpoint c = {.struct_size = sizeof c, .params = &params, .optim = sgd, .scaler = scaler};
    resume(&opt[CHECKPOINT], &c);
    int epochs = number(&opt[EPOCHS], 1), stop = opt[STOP].value ? number(&opt[STOP], 1) : epochs;
    double loss = 0, accuracy = 0, first = 0;
    int64_t per_epoch = lz_loader_len(loader[TRAIN]);
    int64_t end = per_epoch * (stop < epochs ? stop : epochs);
    for (bool begun = false; c.step < end; begun = true) {
        double start = now();
        loss = train(loader[TRAIN], sgd, scaler, &c);
        first = begun ? first : loss;
        check(lz_wait_device_ops());
        double s = now() - start;
        accuracy = test(loader[TEST]);
        check(lz_log_scalar("accuracy", accuracy, c.step));
        printf("epoch %d: loss %.4f, accuracy %.2f %%, %.1f images/s\n", (int)(c.step / per_epoch),
               loss, 100 * accuracy, (double)set[TRAIN].len / s);
    }
    last_checkpoint(&c);
    report(opt[JSON].value != NULL, first, loss, accuracy);
    for (int k = TRAIN; k <= TEST; k++) {
        lz_loader_free(loader[k]);
        for (int i = 0; i < FILES; i++)
            lz_array_free(&images[k][i]), lz_array_free(&classes_of[k][i]);
    }
    lz_grad_scaler_free(scaler);
    lz_optim_free(sgd);
    lz_params_free(&matrices);
    lz_params_free(&others);
    lz_params_free(&params);
    return 0;
}
