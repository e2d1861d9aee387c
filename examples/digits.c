/* digits.c - trains a small network to read 1,797 real handwritten digits.
 *
 *     build/release/examples/digits [--epochs N] [--batch N] [--lr X] [--hidden N] [--seed N]
 *                                   [--device cpu|ref] [--cache DIR] [--data FILE] [--json]
 *
 * Operations only record; lz_mark_step compiles what was recorded and runs it. Every step records the same graph, so it is compiled
 * once, and the second run of this program finds it in the cache on disk and compiles nothing. */
#include <getopt.h>
#include <lazuli/lazuli.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PIXELS = 64, CLASSES = 10, MAX_ROWS = 2000 };
struct digits { float x[MAX_ROWS][PIXELS]; int32_t label[MAX_ROWS]; int n; };
static struct digits train, test;

static struct { int epochs, batch, hidden; double lr; unsigned seed; const char *data; bool json; } opt =
    {30, 32, 128, 0.1, 1, "examples/data/digits.csv", false};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Lazuli never aborts: a failing call returns a status, and the last error says what happened and where. */
static void check(lz_status s)
{
    if (s != LZ_OK) {
        fprintf(stderr, "digits: %s\n", lz_last_error_text());
        exit(1);
    }
}

/* Every fifth image is held out for the test. Pixels 0..16 become 0..1. */
static void load(const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f) { perror(path); exit(1); }
    for (int row = 0;; row++) {
        struct digits *d = row % 5 == 4 ? &test : &train;
        int v, i = 0;
        for (; i <= PIXELS && fscanf(f, "%d%*[,\n]", &v) == 1; i++)
            if (i < PIXELS) d->x[d->n][i] = (float)v / 16; else d->label[d->n] = v;
        if (i == 0) break;
        if (i <= PIXELS || ++d->n == MAX_ROWS) { fprintf(stderr, "%s: line %d is damaged\n", path, row + 1); exit(1); }
    }
    fclose(f);
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
static void train_step(const struct net *m, lz_optim *o, const float *x, const int32_t *label)
{
    check(lz_scope_begin());
    lz_tensor *images = lz_from_host(LZ_F32, LZ_SHAPE(opt.batch, PIXELS), x);
    lz_tensor *labels = lz_from_host(LZ_I32, LZ_SHAPE(opt.batch), label);
    check(lz_backward(lz_cross_entropy(net_forward(m, images), labels)));
    check(lz_optim_step(o));
    check(lz_optim_zero_grad(o));
    check(lz_mark_step());
    check(lz_scope_end());
}

static double accuracy(const struct net *m, const struct digits *d)
{
    check(lz_scope_begin());
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(d->n, PIXELS), d->x);
    lz_tensor *y = lz_from_host(LZ_I32, LZ_SHAPE(d->n), d->label);
    double a = lz_item(lz_accuracy(net_forward(m, x), y));
    if (isnan(a)) check(lz_last_error(NULL));
    check(lz_scope_end());
    return a;
}

static void progress(int epoch)
{
    if (!isatty(STDERR_FILENO)) return;
    int w = 40 * epoch / opt.epochs;
    fprintf(stderr, "\r[%.*s%*s] epoch %d/%d%s", w, "########################################", 40 - w, "", epoch, opt.epochs,
            epoch == opt.epochs ? "\n" : "");
}

static void options(int argc, char **argv)
{
    static const struct option names[] = {{"epochs", 1, 0, 'e'}, {"batch", 1, 0, 'b'}, {"lr", 1, 0, 'l'}, {"hidden", 1, 0, 'h'},
        {"seed", 1, 0, 's'}, {"device", 1, 0, 'd'}, {"cache", 1, 0, 'c'}, {"data", 1, 0, 'f'}, {"json", 0, 0, 'j'}, {0}};
    for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1;) switch (c) {
        case 'e': opt.epochs = atoi(optarg); break;
        case 'b': opt.batch = atoi(optarg); break;
        case 'l': opt.lr = atof(optarg); break;
        case 'h': opt.hidden = atoi(optarg); break;
        case 's': opt.seed = (unsigned)atoi(optarg); break;
        case 'd': check(lz_set_device(optarg)); break;
        case 'c': check(lz_initialize_cache(optarg, false)); break;
        case 'f': opt.data = optarg; break;
        case 'j': opt.json = true; break;
        default: exit(2);
    }
}

int main(int argc, char **argv)
{
    double start = now_ms(), first_ms = 0, loop;
    options(argc, argv);
    load(opt.data);
    if (opt.epochs < 1 || opt.hidden < 1 || opt.batch < 1 || opt.batch > train.n) { fprintf(stderr, "digits: --epochs, --hidden and --batch must be at least 1, --batch at most %d\n", train.n); return 2; }
    check(lz_manual_seed(opt.seed));
    struct net net = {0};
    net_init(&net, opt.hidden);
    lz_optim *sgd = lz_sgd(&net.params, .lr = opt.lr, .momentum = 0.9);
    if (!sgd) check(lz_last_error(NULL));

    int per_epoch = train.n / opt.batch, steps = 0, total = opt.epochs * per_epoch;
    loop = now_ms();
    srand(opt.seed);
    for (int epoch = 0; epoch < opt.epochs; epoch++) {
        for (int i = train.n - 1; i > 0; i--) { /* shuffle */
            int j = rand() % (i + 1);
            float t[PIXELS]; memcpy(t, train.x[i], sizeof t); memcpy(train.x[i], train.x[j], sizeof t); memcpy(train.x[j], t, sizeof t);
            int32_t l = train.label[i]; train.label[i] = train.label[j]; train.label[j] = l;
        }
        for (int b = 0; b < per_epoch; b++, steps++) {
            check(lz_optim_set_lr(sgd, lz_lr_cosine(opt.lr, steps, total, 50, 0)));
            train_step(&net, sgd, train.x[b * opt.batch], &train.label[b * opt.batch]);
            if (steps == 0) { check(lz_wait_device_ops()); first_ms = now_ms() - start; loop = now_ms(); }
        }
        progress(epoch + 1);
    }
    check(lz_wait_device_ops());
    double step_us = steps > 1 ? (now_ms() - loop) * 1e3 / (steps - 1) : 0, acc = accuracy(&net, &test);

    lz_cache_counts c = {.struct_size = sizeof c};
    check(lz_get_cache_counts(&c));
    printf("test accuracy %.2f %% on %d held-out digits after %d steps (%.0f us each, first after %.1f ms)\n", 100 * acc, test.n, steps, step_us, first_ms);
    printf("compiled %llu kernels in %.1f ms; cache: %llu programs and %llu kernels found, %llu programs new\n", (unsigned long long)c.llvm_compiles,
           c.compile_ms, (unsigned long long)c.program_hits, (unsigned long long)c.kernel_hits, (unsigned long long)c.program_misses);
    if (opt.json)
        printf("{\"test_accuracy\":%.6f,\"steps\":%d,\"llvm_compiles\":%llu,\"program_hits\":%llu,\"program_misses\":%llu,\"kernel_hits\":%llu,"
               "\"first_step_ms\":%.3f,\"step_us\":%.3f,\"total_ms\":%.3f}\n", acc, steps, (unsigned long long)c.llvm_compiles, (unsigned long long)c.program_hits,
               (unsigned long long)c.program_misses, (unsigned long long)c.kernel_hits, first_ms, step_us, now_ms() - start);
    lz_optim_free(sgd);
    lz_params_free(&net.params);
    return 0;
}
