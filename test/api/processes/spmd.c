/* spmd.c - one program of the virtual device, started by test/api/spmd_processes.sh as any number
 * of processes: what it prints depends on how many devices there are, never on whose they are. spmd
 * values|turned|hybrid|differ RANK WHAT|late RANK */
#include <lazuli/lazuli.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 37, COLS = 10, STEPS = 3 }; /* neither is divisible by 8 */

static const char *mode = "values", *what = "";
static int rank_of_it = -1;

static int failed(void)
{
    printf("%s\n", lz_last_error_text());
    return 1;
}

static uint64_t digest(const void *p, size_t n)
{
    const unsigned char *b = p;
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < n; i++)
        h = (h ^ b[i]) * UINT64_C(0x100000001b3);
    return h;
}

static void show(const char *name, lz_tensor *x)
{
    static char room[1 << 16];
    size_t n = (size_t)lz_numel(x) * lz_dtype_size(lz_dtype_of(x));
    if (lz_to_host(x, room, sizeof room) == LZ_OK)
        printf("%s %016llx\n", name, (unsigned long long)digest(room, n));
    else
        printf("%s: %s\n", name, lz_last_error_text());
}

/* Its own parts of x, by device: equal to the same elements of the whole. */
static void show_shards(lz_tensor *x)
{
    lz_local_shard part[64];
    static float whole[ROWS * COLS], mine[ROWS * COLS];
    int64_t n = lz_local_shards(x, part, 64);
    if (n < 1 || lz_to_host(x, whole, sizeof whole) != LZ_OK) {
        failed();
        return;
    }
    int wrong = 0, read = 0;
    for (int64_t i = 0; i < n; i++) {
        if (lz_local_to_host(x, part[i].device, mine, sizeof mine) != LZ_OK) {
            failed();
            return;
        }
        read++;
        for (int64_t r = 0, k = 0; r < part[i].extent[0]; r++)
            for (int64_t c = 0; c < part[i].extent[1]; c++, k++)
                wrong += mine[k] != whole[(part[i].offset[0] + r) * COLS + part[i].offset[1] + c];
    }
    fprintf(stderr, "%d parts\n", read);
    printf("shards %s\n", wrong ? "wrong" : "right");
}

static int train(lz_mesh *m, bool mine)
{
    float rows[ROWS * COLS], weights[COLS * COLS];
    for (int i = 0; i < ROWS * COLS; i++)
        rows[i] = (float)(i * 37 % 101) / 101 - 0.5F;
    for (int i = 0; i < COLS * COLS; i++)
        weights[i] = (float)(i * 29 % 97) / 97 - 0.5F;
    lz_tensor *w = lz_from_host(LZ_F32, LZ_SHAPE(COLS, COLS), weights);
    lz_mark_sharding(w, m, LZ_SPEC(NULL, "model"));
    for (int step = 0; step < STEPS; step++) {
        lz_scope_begin();
        lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(ROWS, COLS), rows);
        lz_mark_sharding(x, m, LZ_SPEC("data", NULL));
        lz_tensor *h = lz_tanh(lz_matmul(x, w));
        if (mine && strcmp(mode, "differ") == 0 && step == 1)
            h = strcmp(what, "operation") == 0 ? lz_exp(h)
                : strcmp(what, "mark") == 0    ? lz_with_sharding(h, m, LZ_SPEC(NULL, "data"))
                                               : lz_mul_scalar(h, 2);
        lz_tensor *loss = lz_mean(lz_mul(h, h));
        lz_tensor *noise = lz_randn(LZ_F32, LZ_SHAPE(COLS, COLS));
        lz_tensor *g = NULL;
        lz_grad(loss, &w, 1, &g);
        lz_assign(w, lz_add(lz_sub(w, g), lz_mul_scalar(noise, 0.01)));
        lz_retain(h);
        lz_mark_step();
        if (mine && strcmp(mode, "late") == 0 && step == 1)
            sleep(1000);
        printf("loss %.9g\n", lz_item(loss));
        show("h", h);
        if (step == STEPS - 1)
            show_shards(h);
        lz_release(h);
        lz_scope_end();
        if (lz_last_error(NULL) != LZ_OK)
            return failed();
    }
    show("w", w);
    lz_release(w);
    return lz_last_error(NULL) == LZ_OK ? 0 : failed();
}

int main(int argc, char **argv)
{
    mode = argc > 1 ? argv[1] : mode;
    rank_of_it = argc > 2 ? atoi(argv[2]) : -1;
    what = argc > 3 ? argv[3] : "";
    if (lz_use_spmd() != LZ_OK)
        return failed();
    const int64_t shape[2] = {4, 2}, slices[2] = {1, 2}, within[2] = {4, 1};
    const int64_t turned[8] = {5, 2, 7, 0, 3, 6, 1, 4};
    const char *const axes[2] = {"data", "model"};
    lz_mesh *m = strcmp(mode, "hybrid") == 0
                     ? lz_hybrid_mesh_new(within, slices, axes, 2)
                     : lz_mesh_new(strcmp(mode, "turned") == 0 ? turned : NULL, shape, axes, 2);
    if (!m)
        return failed();
    return train(m, lz_process_index() == rank_of_it);
}
