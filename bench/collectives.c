/* collectives.c - what devices of one process pay to meet: an all_reduce of 4 KiB and of 4 MiB on
 * eight devices of the processor, by sum and by max, of f32 and of bf16. The difference of a
 * program of many and of one of few, so that starting a program is not counted; `copies` is the
 * processor time of one in copies of what it reads. */
#include "bench.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 8, FEW = 4, MANY = 36 };

struct meeting {
    int64_t n; /* elements of a device */
    const char *combiner;
    lz_dtype dtype;
    double keep; /* what each is multiplied with before, so that numbers neither grow nor vanish */
};

struct program {
    const struct meeting *m;
    lz_mesh *mesh;
    lz_tensor *x, *y;
    int times;
};

static void body(lz_tensor *const *in, lz_tensor **out, void *user)
{
    struct program *p = user;
    out[0] = in[0];
    for (int i = 0; i < p->times; i++)
        out[0] = lz_axis_all_reduce(p->m->combiner, lz_mul_scalar(out[0], p->m->keep), "x");
}

static void run_once(void *arg)
{
    struct program *p = arg;
    lz_partition_spec spec = LZ_SPEC("x", NULL);
    lz_scope_begin();
    bench_check(lz_manual(body, p->mesh, &p->x, &spec, 1, &spec, 1, p, &p->y), "record");
    bench_check(lz_mark_step(.wait = true), "step");
    lz_scope_end();
}

/* Seconds of one of the collectives; each is behind a product of its operand, which counts too. */
static struct sample of_times(struct program *p, int times)
{
    p->times = times;
    return bench_run(run_once, p);
}

/* Of a copy of what all devices read, in memory that is not at hand. */
static double copy_time(const struct meeting *m)
{
    size_t all = (size_t)(DEVICES * m->n) * (m->dtype == LZ_F32 ? 4 : 2);
    float *from = bench_random(1, all / sizeof(float), 1), *to = malloc(all);
    double best = 1e9;
    if (!to)
        bench_fail("no memory to copy");
    memset(to, 1, all);
    for (int i = 0; i < 20; i++) {
        double t = bench_now();
        memcpy(to, from, all);
        t = bench_now() - t;
        best = t < best ? t : best;
    }
    if (to[7] != from[7])
        bench_fail("a copy differs");
    free(from);
    free(to);
    return best;
}

static void meet(const struct workload *w)
{
    const struct meeting *m = w->data;
    struct program p = {.m = m};
    char said[4096];
    if (!bench.measured) { /* the devices are counted when a process starts the first of them */
        setenv("CPU_NUM_DEVICES", "8", 1);
        bench_child(w->name, bench.threads, bench.cache, said, sizeof said);
        printf("%s", said);
        unsetenv("CPU_NUM_DEVICES");
        return;
    }
    bench_check(lz_use_spmd(), "devices");
    p.mesh = lz_mesh_1d("x");
    float *v = bench_random(3, (size_t)(DEVICES * m->n), 1);
    lz_scope_begin();
    p.x = lz_retain(lz_to(lz_from_host(LZ_F32, LZ_SHAPE(DEVICES, m->n), v), m->dtype));
    bench_check(lz_mark_sharding(p.x, p.mesh, LZ_SPEC("x", NULL)), "place");
    bench_check(lz_mark_step(.wait = true), "upload");
    lz_scope_end();
    struct sample few = of_times(&p, FEW), s = of_times(&p, MANY);
    s.median = (s.median - few.median) / (MANY - FEW);
    s.min = (s.min - few.min) / (MANY - FEW);
    s.cpu = (s.cpu - few.cpu) / (MANY - FEW);
    bench_emit(w, w->name, s, ",\"cpu_us\":%.3f,\"copies\":%.2f", s.cpu * 1e6,
               s.cpu / copy_time(m));
    lz_release(p.x);
    free(v);
}

static const struct meeting sum[] = {{1 << 10, "sum", LZ_F32, 1.0 / DEVICES},
                                     {1 << 20, "sum", LZ_F32, 1.0 / DEVICES}},
                            max[] = {{1 << 10, "max", LZ_F32, 0.99},
                                     {1 << 20, "max", LZ_F32, 0.99}},
                            half[] = {{1 << 11, "sum", LZ_BF16, 1.0 / DEVICES},
                                      {1 << 21, "sum", LZ_BF16, 1.0 / DEVICES}};

#define MEETING(label, size, kind, what)                                                           \
    {                                                                                              \
        .name = "all_reduce_" label, .run = meet, .data = &kind,                                   \
        .doc = what " of " size " on each of 8 devices of the processor"                           \
    }
const struct workload workloads_collectives[] = {
    MEETING("4k", "4 KiB", sum[0], "an all_reduce"),
    MEETING("4m", "4 MiB", sum[1], "an all_reduce"),
    MEETING("max_4k", "4 KiB", max[0], "the same by max"),
    MEETING("max_4m", "4 MiB", max[1], "the same by max"),
    MEETING("bf16_4k", "4 KiB", half[0], "the same of bf16"),
    MEETING("bf16_4m", "4 MiB", half[1], "the same of bf16"),
    {0}};
