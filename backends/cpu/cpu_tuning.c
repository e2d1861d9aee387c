/* cpu_tuning.c - see cpu_tuning.h. A candidate is the kernel compiled with one code variant
 * switched off or forced on. Its code comes from the same store and cache as all code, under a key
 * that names the variant: what was compiled for a measurement serves other sizes and the next
 * process. */
#include "backends/cpu/cpu_tuning.h"
#include "backends/cpu/cpu_exec.h"
#include "backends/cpu/workers.h"
#include "base/alloc.h"
#include "base/thread.h"
#include <string.h>

/* Rates by which kernels worth sharing are told from those that end before a worker is awake. */
enum {
    KERNEL_NS = 20,
    SHARE_NS = 6000,     /* a kernel that takes longer runs on several threads, */
    PER_THREAD_NS = 3000 /* on as many as have at least this much work each */
};

uint64_t lz_cpu_step_ns(const lz_step *s)
{
    return KERNEL_NS + lz_cpu_about_ns(s->flops, s->bytes);
}

int lz_cpu_threads_for(const lz_step *s, int64_t grid)
{
    uint64_t ns = lz_cpu_step_ns(s);
    int n = lz_workers_count();
    if (grid < 2 || ns < SHARE_NS)
        return 1;
    uint64_t want = ns / PER_THREAD_NS;
    return want < (uint64_t)n ? (int)want : n;
}

/* Column reductions run in strips at most as wide as a chunk, and wide strips get more memory
 * bandwidth. */
static int chunks_of(const lz_kernel *k)
{
    return lz_kernel_sums_columns(k) ? 2 : LZ_WORKERS_CHUNKS;
}

void lz_cpu_code_of(lz_kcode *c, const lz_kernel *k, const lz_step *s, lz_cpu_code *out)
{
    int64_t grid = lz_kcode_grid(c)(s->args), scratch = lz_kcode_scratch(c)(s->args);
    *out = (lz_cpu_code){c,
                         lz_kcode_run(c),
                         grid,
                         lz_cpu_threads_for(s, grid),
                         chunks_of(k),
                         scratch > 0 ? LZ_ALIGN_UP((size_t)scratch, 64) : 0};
}

/* ---- ways ---- */

static void key(void *user, const lz_kernel *k, lz_buf *out)
{
    const lz_cpu_tuning *t = user;
    lz_kernels_key(k, t->target, out);
    lz_buf_u32(out, (uint32_t)lz_workers_count());
    lz_buf_lstr(out, t->processor);
}

static uint64_t about_ns(void *user, const lz_step *s)
{
    (void)user;
    return lz_cpu_step_ns(s);
}

_Static_assert((int)LZ_VARIANTS_TRIED <= (int)LZ_TUNE_CHOICES, "all forms can be tried");
static uint32_t choices(void *user, const lz_kernel *k, const lz_step *s,
                        lz_choice out[LZ_TUNE_CHOICES])
{
    (void)s;
    lz_variants f[LZ_VARIANTS_TRIED];
    uint32_t n = lz_variants_tried(k, ((const lz_cpu_tuning *)user)->target, f);
    for (uint32_t i = 0; i < n; i++)
        out[i] = (lz_choice){.without = f[i].without, .always = f[i].always};
    return n;
}

static lz_target with_forms(const lz_target *t, lz_choice c)
{
    lz_target with = *t;
    with.without |= c.without;
    with.always |= c.always;
    return with;
}

/* Most variants do not apply to a kernel: that is detected before compiling. */
static lz_status identity(void *user, const lz_kernel *k, const lz_step *s, lz_choice c,
                          lz_hash *out)
{
    (void)s;
    lz_target with = with_forms(((const lz_cpu_tuning *)user)->target, c);
    return lz_llvm_fingerprint(k, &with, out);
}

lz_status lz_cpu_tuned_code(const lz_cpu_tuning *t, const lz_kernel *k, lz_choice c, lz_kcode **out)
{
    lz_target with = with_forms(t->target, c);
    lz_kernel *one = (lz_kernel *)k;
    lz_kernel_load l = {0};
    lz_status s = lz_kernels_load(&one, 1, &with, t->cache, &l);
    *out = s == LZ_OK ? l.code : NULL;
    return s;
}

static lz_status make(void *user, const lz_kernel *k, const lz_step *s, lz_choice c, void *out,
                      size_t *scratch)
{
    lz_cpu_code *way = out;
    size_t all;
    lz_kcode *code;
    LZ_TRY(lz_cpu_tuned_code(user, k, c, &code));
    lz_cpu_code_of(code, k, s, way);
    if (!lz_mul_size(way->scratch, (size_t)lz_workers_count(), &all)) {
        lz_kernels_release(code);
        return LZ_FAIL(LZ_EMEM, "kernel '%s': scratch memory of %zu bytes", k->name, way->scratch);
    }
    *scratch = all;
    return LZ_OK;
}

static void drop(void *way)
{
    lz_kernels_release(((lz_cpu_code *)way)->code);
}

/* ---- runs ---- */

static lz_status alloc(void *user, size_t nbytes, lz_device_buffer **out)
{
    return lz_cpu_alloc(((const lz_cpu_tuning *)user)->device, nbytes, out);
}

static lz_status write(void *user, void *at, const void *src, size_t nbytes)
{
    (void)user;
    memcpy(at, src, nbytes);
    return LZ_OK;
}

typedef struct units {
    const lz_cpu_code *way;
    void *const *bufs;
    const int64_t *args;
    char *scratch;
} units;

static void run_units(void *ctx, int64_t begin, int64_t end, int worker)
{
    const units *u = ctx;
    u->way->run(u->bufs, u->args, begin, end, u->scratch + (size_t)worker * u->way->scratch);
}

static lz_status run(void *user, const lz_step *s, const void *way, void *const *bufs,
                     void *scratch, int64_t *ns)
{
    (void)user;
    units u = {way, bufs, s->args, scratch};
    int64_t t0 = lz_now_ns();
    if (u.way->threads == 1)
        run_units(&u, 0, u.way->grid, 0);
    else
        lz_workers_run_in(u.way->grid, u.way->threads, u.way->chunks, run_units, &u);
    *ns = lz_now_ns() - t0;
    return LZ_OK;
}

const lz_tune_ops lz_cpu_tune_ops = {
    .candidate_bytes = sizeof(lz_cpu_code),
    .key = key,
    .about_ns = about_ns,
    .worth_ns = 50000,
    .choices = choices,
    .identity = identity,
    .make = make,
    .drop = drop,
    .alloc = alloc,
    .write = write,
    .run = run,
};
