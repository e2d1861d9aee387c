/* digits.c - trains a small network to read 1,797 real handwritten digits:
 *     digits [--epochs N] [--batch N] [--lr X] [--hidden N] [--seed N]
 *            [--checkpoint DIR] [--every N] [--keep N] [--device cpu|ref] [--mesh data=N]
 *            [--cache DIR] [--data FILE] [--json]
 * Operations only record; lz_mark_step compiles what was recorded and runs it. Each step records
 * the same graph, so it is compiled once. A second run finds it in the cache on disk. */
#include <err.h>
#include <getopt.h>
#include <lazuli/lazuli.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EPOCHS = 1, BATCH, LR, HIDDEN, SEED, DATA, EVERY, KEEP }; /* have defaults */
enum { CHECKPOINT = KEEP + 1, DEVICE, MESH, CACHE, HELP, OPTIONS };
static const char *opt[OPTIONS] = {"",    "30", "32", "0.1", "128", "1", "examples/data/digits.csv",
                                   "100", "3"};
static int json;
static const struct option names[] = {
    {"epochs", 1, 0, EPOCHS}, {"batch", 1, 0, BATCH}, {"lr", 1, 0, LR},
    {"hidden", 1, 0, HIDDEN}, {"seed", 1, 0, SEED},   {"data", 1, 0, DATA},
    {"every", 1, 0, EVERY},   {"keep", 1, 0, KEEP},   {"checkpoint", 1, 0, CHECKPOINT},
    {"device", 1, 0, DEVICE}, {"mesh", 1, 0, MESH},   {"cache", 1, 0, CACHE},
    {"help", 0, 0, HELP},     {"json", 0, &json, 1},  {0}};

/* The number of an option. */
static double number(int o, double least)
{
    char *end;
    double v = strtod(opt[o], &end);
    if (end == opt[o] || *end || !(v >= least) || v > 1 << 24)
        errx(2, "--%s %s: a number from %g to %d is needed", names[o - 1].name, opt[o], least,
             1 << 24);
    return v;
}

static void read_options(int argc, char **argv)
{
    for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1; opt[c] = optarg ? optarg : "")
        if (c == '?')
            exit(2);
    for (int i = EPOCHS; opt[HELP] && i < HELP; i++)
        printf("  --%s [%s]\n", names[i - 1].name, opt[i] ? opt[i] : "");
    if (opt[HELP])
        exit(0);
}

/* Lazuli never aborts: a failing call returns a status, and the last error tells what and where. */
static void check(lz_status s)
{
    if (s != LZ_OK)
        errx(1, "%s", lz_last_error_text());
}

/* On N devices: of the processor, unless CPU_NUM_DEVICES says otherwise. NULL: on one. */
static lz_mesh *mesh;

static void choose_mesh(const char *text)
{
    int n = 0;
    if (!text)
        return;
    if (sscanf(text, "data=%d", &n) != 1 || n < 1)
        errx(2, "--mesh %s: data=N is needed", text);
    setenv("CPU_NUM_DEVICES", text + strlen("data="), 0);
    check(lz_use_spmd());
    mesh = lz_mesh_1d("data");
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* A line of the file is an image: 64 pixels of 0 to 16, and the digit. Every fifth is held out. */
enum { TRAIN, TEST, PIXELS = 64, CLASSES = 10, MAX_ROWS = 2000 };
static lz_tensor *images[2], *labels[2];
static int count[2];

static void load(const char *path)
{
    static float x[2][MAX_ROWS][PIXELS];
    static int y[2][MAX_ROWS];
    FILE *f = fopen(path, "r");
    if (!f)
        err(1, "%s", path);
    for (int row = 0, n = 1; n && row < MAX_ROWS; row++) {
        int k = row % 5 == 4 ? TEST : TRAIN;
        for (n = 0; n < PIXELS && fscanf(f, "%f,", &x[k][count[k]][n]) == 1;)
            n++;
        count[k] += fscanf(f, "%d", &y[k][count[k]]) == 1;
    }
    if (!feof(f) || !count[TEST])
        errx(1, "%s: not 65 numbers in each line", path);
    fclose(f);
    for (int k = TRAIN; k <= TEST; k++) {
        images[k] = lz_div_scalar(lz_from_host(LZ_F32, LZ_SHAPE(count[k], PIXELS), x[k]), 16);
        labels[k] = lz_from_host(LZ_I32, LZ_SHAPE(count[k]), y[k]);
    }
}

/* The network: 64 pixels -> hidden -> hidden -> 10 scores. */
static lz_linear_layer l1, l2, l3;
static lz_params params;

static void net_init(int64_t hidden)
{
    check(lz_linear_layer_init(&l1, &params, "l1", PIXELS, hidden, true, LZ_F32));
    check(lz_linear_layer_init(&l2, &params, "l2", hidden, hidden, true, LZ_F32));
    check(lz_linear_layer_init(&l3, &params, "l3", hidden, CLASSES, true, LZ_F32));
}

static lz_tensor *net_forward(lz_tensor *x)
{
    x = lz_relu(lz_linear_layer_forward(&l1, x));
    x = lz_relu(lz_linear_layer_forward(&l2, x));
    return lz_linear_layer_forward(&l3, x);
}

/* The newest checkpoint of --checkpoint DIR, if there is one: the training goes on from it. */
static lz_checkpoint_manager *resume(lz_checkpoint *c)
{
    if (!opt[CHECKPOINT])
        return NULL;
    lz_checkpoint_manager *m = lz_checkpoint_manager_new(
        opt[CHECKPOINT], .save_interval = (int64_t)number(EVERY, 1),
        .max_to_keep = (int64_t)number(KEEP, 0), .chkpt_on_preemption = true);
    if (!m)
        errx(1, "%s", lz_last_error_text());
    if (lz_checkpoint_manager_all_steps(m, NULL, 0))
        check(lz_checkpoint_manager_restore(m, LZ_LATEST_STEP, c));
    check(lz_mark_step());
    return m;
}

/* Forward, backward, update. Handles made between begin and end are released by end. */
static void train_step(lz_optim *sgd, const int64_t *rows, int64_t n)
{
    check(lz_scope_begin());
    lz_tensor *batch = lz_from_host(LZ_I64, LZ_SHAPE(n), rows);
    if (mesh) /* each device takes a part of the batch */
        check(lz_mark_sharding(batch, mesh, LZ_SPEC("data")));
    lz_tensor *scores = net_forward(lz_index_select(images[TRAIN], 0, batch));
    check(lz_backward(lz_cross_entropy(scores, lz_index_select(labels[TRAIN], 0, batch))));
    check(lz_optim_step(sgd));
    check(lz_optim_zero_grad(sgd));
    check(lz_mark_step());
    check(lz_scope_end());
}

int main(int argc, char **argv)
{
    double start = now_ms(), first = start;
    read_options(argc, argv);
    choose_mesh(opt[MESH]);
    check(lz_set_device(opt[DEVICE]));
    if (opt[CACHE])
        check(lz_initialize_cache(opt[CACHE], false));
    int batch = (int)number(BATCH, 1), epochs = (int)number(EPOCHS, 1);
    double lr = number(LR, 0), seed = number(SEED, 0);
    load(opt[DATA]);
    if (batch > count[TRAIN])
        errx(2, "batches of 1 to %d images, please", count[TRAIN]);
    int per_epoch = count[TRAIN] / batch, steps = epochs * per_epoch;
    int64_t rows[MAX_ROWS];
    check(lz_manual_seed((uint64_t)seed));
    srand((unsigned)seed);
    net_init((int)number(HIDDEN, 1));
    lz_optim *sgd = lz_sgd(&params, .lr = lr, .momentum = 0.9);
    check(lz_mark_step()); /* scale the images, draw the initial weights */
    lz_checkpoint state = {.struct_size = sizeof state, .params = &params, .optim = sgd};
    lz_checkpoint_manager *manager = resume(&state);
    bool preempted = false;
    int from = (int)state.step;
    for (int step = 0; step < steps && !preempted; step++) {
        int at = step % per_epoch, epoch = step / per_epoch + 1;
        for (int i = 0; at == 0 && i < count[TRAIN]; i++) { /* each epoch has an order of its own */
            int j = rand() % (i + 1);
            rows[i] = rows[j];
            rows[j] = i;
        }
        if (step < from) /* made before the interruption */
            continue;
        check(lz_optim_set_lr(sgd, lz_lr_cosine(lr, step, steps, 50, 0)));
        train_step(sgd, rows + at * batch, batch);
        if (step == from)
            check(lz_wait_device_ops()), first = now_ms();
        if (manager) {
            check(lz_checkpoint_manager_save_async(manager, step + 1, &state,
                                                   .force = step + 1 == steps));
            preempted = lz_checkpoint_manager_reached_preemption(manager, step + 1);
        }
        if (at == per_epoch - 1)
            check(lz_progress("epochs", epoch, epochs));
    }
    check(lz_wait_device_ops());
    double step_us = steps - from > 1 ? (now_ms() - first) * 1e3 / (steps - from - 1) : 0;
    if (manager)
        check(lz_checkpoint_manager_join(manager));
    double accuracy = lz_item(lz_accuracy(net_forward(images[TEST]), labels[TEST]));
    check(lz_last_error(NULL));
    lz_cache_counts c = {.struct_size = sizeof c};
    check(lz_get_cache_counts(&c));
    printf("test accuracy %.2f %% on %d held-out digits after %d steps of %.0f us\n"
           "compiled %d kernels in %.1f ms; cache: %d programs and %d kernels, %d programs new\n",
           100 * accuracy, count[TEST], steps, step_us, (int)c.llvm_compiles, c.compile_ms,
           (int)c.program_hits, (int)c.kernel_hits, (int)c.program_misses);
    lz_metric_summary given = {0};
    (void)lz_metric_data("InputOutputAliasCount", &given);
    if (json)
        printf("{\"test_accuracy\":%.6f,\"steps\":%d,\"llvm_compiles\":%d,\"program_hits\":%d,"
               "\"program_misses\":%d,\"kernel_hits\":%d,\"first_step_ms\":%.3f,\"step_us\":%.3f,"
               "\"total_ms\":%.3f,\"programs\":%d,\"given\":%.0f}\n",
               accuracy, steps, (int)c.llvm_compiles, (int)c.program_hits, (int)c.program_misses,
               (int)c.kernel_hits, first - start, step_us, now_ms() - start,
               (int)lz_counter_value("UncachedCompile"), given.accumulator);
    lz_checkpoint_manager_free(manager);
    lz_optim_free(sgd);
    lz_params_free(&params);
    return 0;
}
