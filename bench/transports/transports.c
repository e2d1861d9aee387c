/* transports.c - what processes pay to meet, whatever carries their tensors: run.sh starts it. Each
 * process has a device, and the mesh has all of them. A ring of permutes of 8 bytes is a delay, one
 * of 4 MiB a bandwidth, and an all_reduce of 4 MiB what a training step has. The difference of a
 * program of many and of one of few, so that starting a program is not counted; the least of
 * several. One line: the transport's name, then microseconds, GB/s, ms, and processor ms of all. */
#include <lazuli/lazuli.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { FEW = 2, TURNS = 5 };

static void check(lz_status s, const char *what)
{
    if (s == LZ_OK)
        return;
    fprintf(stderr, "transports: %s: %s\n", what, lz_last_error_text());
    exit(1);
}

struct program {
    int64_t n; /* floats of each */
    bool sum;
    int times;
    lz_mesh *mesh;
    lz_tensor *x;
};

static void body(lz_tensor *const *in, lz_tensor **out, void *user)
{
    const struct program *p = user;
    int64_t n = lz_process_count(), pairs[2 * 64];
    for (int64_t i = 0; i < n; i++) {
        pairs[2 * i] = i;
        pairs[2 * i + 1] = (i + 1) % n;
    }
    out[0] = in[0];
    for (int i = 0; i < p->times; i++)
        out[0] = p->sum ? lz_axis_all_reduce("max", out[0], "x")
                        : lz_axis_permute(out[0], "x", pairs, n);
}

static double clock_of(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void run(struct program *p, int times, double *wall, double *cpu)
{
    lz_partition_spec spec = LZ_SPEC("x", NULL);
    lz_tensor *y;
    p->times = times;
    *wall = *cpu = 1e9;
    for (int i = 0; i < TURNS + 1; i++) { /* the first one compiles */
        double w = clock_of(CLOCK_MONOTONIC), c = clock_of(CLOCK_PROCESS_CPUTIME_ID);
        lz_scope_begin();
        check(lz_manual(body, p->mesh, &p->x, &spec, 1, &spec, 1, p, &y), "record");
        check(lz_mark_step(.wait = true), "step");
        lz_scope_end();
        w = clock_of(CLOCK_MONOTONIC) - w, c = clock_of(CLOCK_PROCESS_CPUTIME_ID) - c;
        *wall = i && w < *wall ? w : *wall;
        *cpu = i && c < *cpu ? c : *cpu;
    }
}

/* Seconds of one of them, and of the processor. */
static void time_of(lz_mesh *mesh, int64_t n, bool sum, int many, double *wall, double *cpu)
{
    struct program p = {.n = n, .sum = sum, .mesh = mesh};
    double few_wall, few_cpu;
    size_t all = (size_t)(n * lz_process_count());
    float *v = calloc(all, sizeof *v);
    if (!v)
        exit(1);
    for (size_t i = 0; i < all; i++)
        v[i] = (float)(i % 1000);
    lz_scope_begin();
    p.x = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(lz_process_count(), n), v));
    check(lz_mark_sharding(p.x, mesh, LZ_SPEC("x", NULL)), "place");
    check(lz_mark_step(.wait = true), "upload");
    lz_scope_end();
    run(&p, FEW, &few_wall, &few_cpu);
    run(&p, many, wall, cpu);
    *wall = (*wall - few_wall) / (many - FEW);
    *cpu = (*cpu - few_cpu) / (many - FEW);
    lz_release(p.x);
    free(v);
}

int main(int argc, char **argv)
{
    double small, large, sum, cpu_small, cpu_large, cpu_sum;
    check(lz_use_spmd(), "devices");
    if (lz_process_count() < 2)
        return fprintf(stderr, "transports: it takes several processes\n"), 1;
    lz_mesh *mesh = lz_mesh_1d("x");
    time_of(mesh, 2, false, 200, &small, &cpu_small);
    time_of(mesh, 1 << 20, false, 12, &large, &cpu_large);
    time_of(mesh, 1 << 20, true, 12, &sum, &cpu_sum);
    if (lz_process_index() == 0)
        printf("%-24s %8.1f us (cpu %5.1f)  %6.2f GB/s (cpu %5.2f ms)  %7.2f ms (cpu %5.2f)\n",
               argc > 1 ? argv[1] : "", small * 1e6, cpu_small * 1e6, (4 << 20) / large / 1e9,
               cpu_large * 1e3, sum * 1e3, cpu_sum * 1e3);
    return 0;
}
