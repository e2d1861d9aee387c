/* digits.c - trains a small network to read 1,797 real handwritten digits.
 *
 *     digits [--epochs N] [--batch N] [--lr X] [--hidden N] [--seed N] [--device cpu|ref] [--cache DIR] [--data FILE] [--json]
 *
 * Operations only record; lz_mark_step compiles what was recorded and runs it. Every step records the same graph, so it is
 * compiled once, and the second run of this program finds it in the cache on disk and compiles nothing. */
#include <getopt.h>
#include <lazuli/lazuli.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { PIXELS = 64, CLASSES = 10, MAX_ROWS = 2000 };
enum { EPOCHS, BATCH, LR, HIDDEN, SEED, NUMBERS, DEVICE, CACHE, DATA, JSON };
static double opt[NUMBERS] = {[EPOCHS] = 30, [BATCH] = 32, [LR] = 0.1, [HIDDEN] = 128, [SEED] = 1};
static const char *data_file = "examples/data/digits.csv";
static int json;

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Lazuli never aborts: a failing call returns a status, and the last error says what happened and where. */
static void check(lz_status s)
{
    if (s == LZ_OK) return;
    fprintf(stderr, "digits: %s\n", lz_last_error_text());
    exit(1);
}

/* Images and labels, on the device. Every fifth image is held out for the test. */
struct digits { int n; lz_tensor *images, *labels; };

static void load(const char *path, struct digits *train, struct digits *test)
{
    static struct { float x[MAX_ROWS][PIXELS]; int32_t label[MAX_ROWS]; int n; } set[2], *d;
    FILE *f = fopen(path, "r");
    if (!f) { perror(path); exit(1); }
    for (int row = 0, v, i;; row++) {
        d = &set[row % 5 == 4];
        for (i = 0; i <= PIXELS && d->n < MAX_ROWS && fscanf(f, "%d%*[,\n]", &v) == 1; i++)
            if (i < PIXELS) d->x[d->n][i] = (float)v / 16; else d->label[d->n++] = v;
        if (i == 0) break;
        if (i <= PIXELS) { fprintf(stderr, "%s:%d: not 65 numbers\n", path, row + 1); exit(1); }
    }
    fclose(f);
    for (int k = 0; k < 2; k++) {
        lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(set[k].n, PIXELS), set[k].x);
        lz_tensor *y = lz_from_host(LZ_I32, LZ_SHAPE(set[k].n), set[k].label);
        *(k ? test : train) = (struct digits){set[k].n, lz_retain(x), lz_retain(y)};
    }
}

/* The network: 64 pixels -> hidden -> hidden -> 10 scores. */
struct net { lz_linear_layer l1, l2, l3; lz_params params; };

static void net_init(struct net *m, int hidden)
{
    check(lz_linear_layer_init(&m->l1, &m->params, "l1", PIXELS, hidden, true, LZ_F32));
    check(lz_linear_layer_init(&m->l2, &m->params, "l2", hidden, hidden, true, LZ_F32));
    check(lz_linear_layer_init(&m->l3, &m->params, "l3", hidden, CLASSES, true, LZ_F32));
    check(lz_mark_step());                      /* draw the initial weights */
}

static lz_tensor *net_forward(const struct net *m, lz_tensor *x)
{
    x = lz_relu(lz_linear_layer_forward(&m->l1, x));
    x = lz_relu(lz_linear_layer_forward(&m->l2, x));
    return lz_linear_layer_forward(&m->l3, x);
}

/* One step of training: forward, backward, update. Handles made between begin and end are released by end. */
static void train_step(const struct net *m, lz_optim *o, const struct digits *d, const int64_t *rows)
{
    check(lz_scope_begin());
    lz_tensor *batch = lz_from_host(LZ_I64, LZ_SHAPE((int64_t)opt[BATCH]), rows);
    lz_tensor *scores = net_forward(m, lz_index_select(d->images, 0, batch));
    check(lz_backward(lz_cross_entropy(scores, lz_index_select(d->labels, 0, batch))));
    check(lz_optim_step(o));
    check(lz_optim_zero_grad(o));
    check(lz_mark_step());
    check(lz_scope_end());
}

static void options(int argc, char **argv)
{
    static const struct option names[] = {{"epochs", 1, 0, EPOCHS}, {"batch", 1, 0, BATCH}, {"lr", 1, 0, LR},
        {"hidden", 1, 0, HIDDEN}, {"seed", 1, 0, SEED}, {"device", 1, 0, DEVICE}, {"cache", 1, 0, CACHE},
        {"data", 1, 0, DATA}, {"json", 0, 0, JSON}, {0}};
    for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1;)
        if (c < NUMBERS) opt[c] = atof(optarg);
        else if (c == DEVICE) check(lz_set_device(optarg));
        else if (c == CACHE) check(lz_initialize_cache(optarg, false));
        else if (c == DATA) data_file = optarg;
        else if (c == JSON) json = 1;
        else exit(2);
}

int main(int argc, char **argv)
{
    static const char bar[] = "########################################";
    struct digits train, test;
    struct net net = {0};
    int64_t rows[MAX_ROWS];
    double start = now_ms(), first = start, begin = start;

    options(argc, argv);
    load(data_file, &train, &test);
    if (!(opt[EPOCHS] >= 1 && opt[HIDDEN] >= 1 && opt[BATCH] >= 1 && opt[BATCH] <= train.n))
        return fprintf(stderr, "digits: --epochs, --hidden, --batch: at least 1; --batch: at most %d\n", train.n), 2;
    check(lz_manual_seed((uint64_t)opt[SEED]));
    net_init(&net, (int)opt[HIDDEN]);
    lz_optim *sgd = lz_sgd(&net.params, .lr = opt[LR], .momentum = 0.9);
    check(lz_last_error(NULL));

    int epochs = (int)opt[EPOCHS], batch = (int)opt[BATCH], per_epoch = train.n / batch, steps = 0;
    srand((unsigned)opt[SEED]);
    for (int i = 0; i < train.n; i++) rows[i] = i;
    for (int epoch = 1; epoch <= epochs; epoch++) {
        for (int i = train.n - 1, j; i > 0; i--) {              /* shuffle */
            int64_t t = rows[i];
            rows[i] = rows[j = rand() % (i + 1)];
            rows[j] = t;
        }
        for (int b = 0; b < per_epoch; b++) {
            check(lz_optim_set_lr(sgd, lz_lr_cosine(opt[LR], steps, (int64_t)epochs * per_epoch, 50, 0)));
            train_step(&net, sgd, &train, rows + b * batch);
            if (++steps == 1) { check(lz_wait_device_ops()); first = begin = now_ms(); }
        }
        if (isatty(STDERR_FILENO))
            fprintf(stderr, "\r[%-40.*s] epoch %d/%d%s", 40 * epoch / epochs, bar, epoch, epochs, epoch < epochs ? "" : "\n");
    }
    check(lz_wait_device_ops());
    double step_us = steps > 1 ? (now_ms() - begin) * 1e3 / (steps - 1) : 0;
    double accuracy = lz_item(lz_accuracy(net_forward(&net, test.images), test.labels));
    check(lz_last_error(NULL));

    lz_cache_counts c = {.struct_size = sizeof c};
    check(lz_get_cache_counts(&c));
    printf("test accuracy %.2f %% on %d held-out digits after %d steps of %.0f us (the first after %.1f ms)\n"
           "compiled %d kernels in %.1f ms; found in the cache %d programs and %d kernels; %d programs were new\n",
           100 * accuracy, test.n, steps, step_us, first - start, (int)c.llvm_compiles, c.compile_ms,
           (int)c.program_hits, (int)c.kernel_hits, (int)c.program_misses);
    if (json)
        printf("{\"test_accuracy\":%.6f,\"steps\":%d,\"llvm_compiles\":%d,\"program_hits\":%d,\"program_misses\":%d,"
               "\"kernel_hits\":%d,\"first_step_ms\":%.3f,\"step_us\":%.3f,\"total_ms\":%.3f}\n", accuracy, steps,
               (int)c.llvm_compiles, (int)c.program_hits, (int)c.program_misses, (int)c.kernel_hits, first - start,
               step_us, now_ms() - start);
    lz_optim_free(sgd);
    lz_params_free(&net.params);
    return 0;
}
