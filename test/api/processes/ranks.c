/* ranks.c - what processes.sh runs in several processes. Each replica is a thread with a device.
 *   index                its number and how many there are
 *   who                  who the process is
 *   bits                 hashes of the results of all collectives, from replica 0
 *   train                the losses of a model that is trained, and a hash of its parameters
 *   loop                 a collective in each step, until one fails; then what is local
 *   odd KIND STEP        the last rank does something else at a step (other, shape, order, fail,
 *                        quit), then all go on together
 *   storm SEED STEPS     steps of two collectives each, of which any may fail in any replica
 *   idle                 nothing of others is asked for */
#include <lazuli/lazuli.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 8, COLS = 24, COUNT = ROWS * COLS };
static uint64_t hash(uint64_t h, const void *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        h = (h ^ ((const unsigned char *)p)[i]) * UINT64_C(1099511628211);
    return h;
}

static int who(void)
{
    printf("%d/%d local %d/%d host %d/%d devices %d/%d\n", lz_process_index(), lz_process_count(),
           lz_local_process_index(), lz_local_process_count(), lz_host_index(), lz_host_count(),
           lz_local_devices(), lz_global_device_count());
    if (lz_last_error(NULL) != LZ_OK)
        return fprintf(stderr, "%s\n", lz_last_error_text()), 1;
    return 0;
}

/* All collectives, small and in slices, whole and in groups; the results' hash. */
static uint64_t all_kinds(int q, int n)
{
    uint64_t h = UINT64_C(14695981039346656037);
    static const int64_t sizes[] = {3, 24, 9000};
    for (int s = 0; s < 3; s++) {
        int64_t cols = sizes[s], rows = 8;
        float *v = malloc(sizeof(float) * rows * cols),
              *out = malloc(sizeof(float) * rows * cols * 8);
        for (int64_t i = 0; i < rows * cols; i++)
            v[i] = (float)((i * 37 + q * 1001 + 13) % 997) / 7 * (i % 5 == q % 5 ? 1e6f : 1e-3f);
        int64_t groups[64], pairs[128];
        for (int i = 0; i < n; i++) { /* the k-th of each half: 0 2 1 3 */
            groups[i] = i / 2 + (i % 2) * (n / 2);
            pairs[2 * i] = i;
            pairs[2 * i + 1] = (i + 1) % n;
        }
        lz_scope_begin();
        lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(rows, cols), v);
        lz_tensor *r[16];
        int m = 0;
        r[m++] = lz_all_reduce("sum", x);
        r[m++] = lz_all_reduce("sum", x, .scale = 1. / n, .groups = groups, .ngroups = n / 2,
                               .group_size = 2);
        r[m++] = lz_all_reduce("max", x);
        r[m++] = lz_all_gather(x, 1);
        r[m++] = lz_all_gather(x, 0, .groups = groups, .ngroups = n / 2, .group_size = 2);
        r[m++] = lz_reduce_scatter("sum", x, 0);
        r[m++] = lz_reduce_scatter("sum", lz_all_gather(x, 1), 1);
        r[m++] = lz_all_to_all(x, 0, 1);
        r[m++] = lz_all_to_all(x, 0, 0);
        r[m++] = lz_collective_permute(x, pairs, n);
        r[m++] = lz_collective_permute(x, pairs, n - 1);
        r[m++] = lz_collective_broadcast(x, n - 1);
        r[m++] = lz_collective_broadcast(x, 1, .groups = groups, .ngroups = n / 2, .group_size = 2);
        lz_tensor *list[3] = {x, lz_mul_scalar(x, 3), lz_sum(x)}, *out3[2];
        if (lz_all_gather_bucketized(list, 2, 0, out3) != LZ_OK)
            fprintf(stderr, "%s\n", lz_last_error_text());
        r[m++] = out3[1];
        if (lz_all_reduce_in_place("sum", list + 1, 2) != LZ_OK)
            fprintf(stderr, "%s\n", lz_last_error_text());
        r[m++] = list[1], r[m++] = list[2];
        for (int k = 0; k < m; k++) {
            size_t nb = (size_t)lz_numel(r[k]) * 4;
            if (lz_to_host(r[k], out, nb) != LZ_OK) {
                fprintf(stderr, "replica %d result %d: %s\n", q, k, lz_last_error_text());
                exit(1);
            }
            h = hash(h, out, nb);
        }
        lz_scope_end();
        free(v), free(out);
    }
    return h;
}

static void *bits(void *arg)
{
    char device[16];
    snprintf(device, sizeof device, "CPU:%d", *(int *)arg);
    lz_set_device(device);
    int n = lz_world_size(), q = lz_global_ordinal();
    if (n < 0) {
        fprintf(stderr, "%s\n", lz_last_error_text());
        exit(1);
    }
    uint64_t h = all_kinds(q, n);
    char tag[32];
    uint64_t all[64];
    snprintf(tag, sizeof tag, "done");
    if (lz_rendezvous(tag, &h, sizeof h, all) != LZ_OK) {
        fprintf(stderr, "%s\n", lz_last_error_text());
        exit(1);
    }
    for (int i = 0; i < n && q == 0; i++)
        printf("replica %d %016llx\n", i, (unsigned long long)all[i]);
    return NULL;
}

/* ---- training ---- */

enum { BATCH = 32, IN = 16, OUT = 4 };
static void *train(void *arg)
{
    char device[16];
    snprintf(device, sizeof device, "CPU:%d", *(int *)arg);
    lz_set_device(device);
    lz_scope_begin();
    lz_params ps = {0};
    lz_linear_layer l;
    int q = lz_global_ordinal(), n = lz_world_size();
    lz_manual_seed(1 + q);
    lz_linear_layer_init(&l, &ps, "l", IN, OUT, true, LZ_F32);
    lz_broadcast_master_param(&ps);
    lz_optim *adam = lz_adam(&ps, .lr = 0.05);
    for (int step = 0; step < 12; step++) {
        float x[BATCH * IN];
        for (int i = 0; i < BATCH * IN; i++)
            x[i] = (float)((i + q * BATCH * IN) * 37 % 101) / 101;
        lz_scope_begin();
        lz_tensor *in = lz_from_host(LZ_F32, LZ_SHAPE(BATCH, IN), x);
        lz_tensor *loss =
            lz_mse_loss(lz_linear_layer_forward(&l, in), lz_zeros(LZ_F32, LZ_SHAPE(BATCH, OUT)));
        lz_backward(loss);
        lz_optimizer_step(adam);
        lz_optim_zero_grad(adam);
        lz_tensor *mean = lz_all_reduce("sum", loss, .scale = 1. / n);
        lz_mark_step();
        double v = lz_item(mean);
        if (q == 0)
            printf("%d %a\n", step, v);
        lz_scope_end();
    }
    uint64_t h = 1;
    for (size_t i = 0; i < ps.len; i++) {
        float w[IN * OUT];
        size_t nb = (size_t)lz_numel(ps.tensors[i]) * 4;
        if (lz_to_host(ps.tensors[i], w, nb) != LZ_OK)
            exit(1);
        h = hash(h, w, nb);
    }
    if (lz_last_error(NULL) != LZ_OK) {
        fprintf(stderr, "%s\n", lz_last_error_text());
        exit(1);
    }
    if (q == 0)
        printf("parameters %016llx\n", (unsigned long long)h);
    lz_optim_free(adam);
    lz_params_free(&ps);
    lz_scope_end();
    return NULL;
}

/* ---- failures ---- */

static lz_status broken(const lz_ffi_call *c, void *user)
{
    (void)user;
    snprintf(c->message, LZ_FFI_MESSAGE, "it is broken");
    return LZ_EINVAL;
}

/* Sum of the numbers that all bring, through `n` floats. */
static lz_status sum_of(float v, int64_t n, float *out)
{
    lz_scope_begin();
    lz_tensor *r = lz_all_reduce("sum", lz_full(LZ_F32, LZ_SHAPE(n), v));
    lz_status s = lz_to_host(lz_mean(r), out, sizeof *out);
    lz_scope_end();
    return s;
}

static lz_status odd_step(const char *kind, float v, float *out)
{
    lz_scope_begin();
    lz_tensor *x = lz_full(LZ_F32, LZ_SHAPE(5000), v), *r;
    const lz_ffi_type t = {LZ_F32, LZ_SHAPE(5000)};
    if (strcmp(kind, "other") == 0)
        r = lz_all_reduce("max", x);
    else if (strcmp(kind, "shape") == 0)
        r = lz_all_reduce("sum", lz_full(LZ_F32, LZ_SHAPE(5001), v));
    else if (strcmp(kind, "order") == 0)
        r = lz_all_reduce("sum", lz_all_gather(x, 0));
    else
        r = lz_all_reduce("sum", lz_custom_call("broken", "", &x, 1, &t, 1, NULL));
    lz_status s = lz_to_host(lz_mean(r), out, sizeof *out);
    lz_scope_end();
    return s;
}

/* Says what the step ends with, and that what is local still works. */
static void say(int step, lz_status s)
{
    float v = 0;
    fprintf(stderr, "rank %d step %d: %s\n", lz_process_index(), step, lz_last_error_text());
    lz_scope_begin();
    lz_status local = lz_to_host(lz_sum(lz_ones(LZ_F32, LZ_SHAPE(7))), &v, sizeof v);
    lz_scope_end();
    printf("rank %d step %d status %d local %g %d\n", lz_process_index(), step, s, v, local);
    fflush(stdout);
}

static int loop(const char *kind, int at, int steps)
{
    int n = lz_world_size(), q = lz_global_ordinal(), failed = 0;
    if (n < 0)
        return fprintf(stderr, "%s\n", lz_last_error_text()), 1;
    lz_ffi_register("broken", broken, NULL);
    for (int step = 0; step < steps; step++) {
        float got = 0, want = 0;
        for (int i = 0; i < n; i++)
            want += (float)(i + step);
        if (kind && strcmp(kind, "quit") == 0 && q == n - 1 && step == at)
            exit(0);
        lz_status s = kind && q == n - 1 && step == at ? odd_step(kind, (float)(q + step), &got)
                                                       : sum_of((float)(q + step), 5000, &got);
        if (s == LZ_OK && got != want)
            return fprintf(stderr, "rank %d step %d: %g, not %g\n", q, step, got, want), 3;
        if (s != LZ_OK && (say(step, s), !kind || failed++))
            return 0;
        if (step == 0) {
            printf("rank %d runs\n", q);
            fflush(stdout);
        }
        if (!kind)
            usleep(1000);
    }
    printf("rank %d done\n", q);
    return 0;
}

/* ---- a storm ---- */

static unsigned seed;
static int steps_of_storm;

/* A number of a step and a replica; the same in all processes. */
static unsigned draw(int step, int q)
{
    uint64_t z = (uint64_t)seed << 40 ^ (uint64_t)step << 8 ^ (uint64_t)q;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (unsigned)(z >> 33);
}

/* The sum over a pair, then that over all, of numbers that name the step. */
static lz_status stormy(int q, int n, int step, bool breaks, float *got)
{
    int64_t groups[64];
    const lz_ffi_type t = {LZ_F32, LZ_SHAPE(600)};
    for (int i = 0; i < n; i++) /* neighbours, or the k-th of both halves */
        groups[i] = step % 2 ? i : i / 2 + i % 2 * (n / 2);
    lz_scope_begin();
    lz_tensor *x = lz_full(LZ_F32, LZ_SHAPE(600), step * 64 + q);
    if (breaks && step % 3 == 0)
        x = lz_custom_call("broken", "", &x, 1, &t, 1, NULL);
    lz_tensor *a = lz_all_reduce("sum", x, .groups = groups, .ngroups = n / 2, .group_size = 2);
    if (breaks && step % 3)
        a = lz_custom_call("broken", "", &a, 1, &t, 1, NULL);
    lz_status s = lz_to_host(lz_mean(lz_all_reduce("sum", a)), got, sizeof *got);
    lz_scope_end();
    return s;
}

static void *storm(void *arg)
{
    char device[16];
    snprintf(device, sizeof device, "CPU:%d", *(int *)arg);
    lz_set_device(device);
    int n = lz_world_size(), q = lz_global_ordinal(), failed = 0, good = 0;
    lz_ffi_register("broken", broken, NULL);
    for (int step = 0; step < steps_of_storm; step++) {
        float got = 0, want = 0;
        bool any = false;
        for (int i = 0; i < n; i++) {
            want += 2.f * (float)(step * 64 + i);
            any |= draw(step, i) % 24 == 0;
        }
        lz_status s = stormy(q, n, step, draw(step, q) % 24 == 0, &got);
        if (s == LZ_OK ? any || got != want : !any || s != LZ_EINVAL) {
            fprintf(stderr, "replica %d step %d: %g, not %g; %d: %s\n", q, step, got, want, s,
                    lz_last_error_text());
            exit(3);
        }
        failed += s != LZ_OK;
        good += s == LZ_OK;
    }
    if (q == 0)
        printf("%s\n", failed > 0 && good > 0 ? "calm" : "no storm");
    return NULL;
}

static int threads(void *(*fn)(void *))
{
    pthread_t t[64];
    int q[64], n = lz_local_devices();
    for (int i = 0; i < n; i++) {
        q[i] = i;
        pthread_create(&t[i], NULL, fn, &q[i]);
    }
    for (int i = 0; i < n; i++)
        pthread_join(t[i], NULL);
    return 0;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "who";
    if (strcmp(mode, "index") == 0) {
        int i = lz_process_index(), n = lz_process_count();
        return i < 0 ? fprintf(stderr, "%s\n", lz_last_error_text()),
               1     : (printf("%d/%d\n", i, n), 0);
    }
    if (strcmp(mode, "who") == 0)
        return who();
    if (strcmp(mode, "bits") == 0)
        return threads(bits);
    if (strcmp(mode, "train") == 0)
        return threads(train);
    if (strcmp(mode, "loop") == 0)
        return loop(NULL, 0, 20000);
    if (strcmp(mode, "storm") == 0 && argc > 3) {
        seed = (unsigned)atoi(argv[2]);
        steps_of_storm = atoi(argv[3]);
        return threads(storm);
    }
    if (strcmp(mode, "odd") == 0 && argc > 3)
        return loop(argv[2], atoi(argv[3]), 8);
    if (strcmp(mode, "idle") == 0)
        return printf("%d of %d: %g\n", lz_process_index(), lz_process_count(),
                      lz_item(lz_ones(LZ_F32, LZ_SCALAR))),
               0;
    return 2;
}
