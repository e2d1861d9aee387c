/* simt_emu.c - see simt_emu.h. A thread runs until it must wait for others (a barrier, a shuffle),
 * then the next one of the block goes on. Blocks run one after the other; blocks never wait for
 * each other. Threads: one launch at a time. */
#include "test/mock/simt_emu.h"
#include "test/mock/simt_warp.h"
#include "codegen/code_image.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

enum { MAX_THREADS = EMU_THREADS, STACK = 64 << 10, WARPS = MAX_THREADS / SIMT_WARP };

/* ---- fibers ---- */

#if defined(__x86_64__)
typedef struct context {
    void *sp;
} context;
void emu_switch(void **from_sp, void *to_sp);
__asm__(".text\n.type emu_switch,@function\nemu_switch:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, (%rdi)\n  movq %rsi, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n  ret\n"
        ".size emu_switch,.-emu_switch\n.section .note.GNU-stack,\"\",@progbits\n.text\n");

static void context_make(context *c, void *stack, void (*fn)(void))
{
    void **sp = (void **)((char *)stack + STACK);
    *--sp = NULL; /* where fn would return to: it does not */
    *--sp = (void *)(uintptr_t)fn;
    for (int i = 0; i < 6; i++)
        *--sp = NULL;
    c->sp = sp;
}

static void context_switch(context *from, context *to)
{
    emu_switch(&from->sp, to->sp);
}
#else
typedef struct context {
    ucontext_t u;
} context;

static void context_make(context *c, void *stack, void (*fn)(void))
{
    getcontext(&c->u);
    c->u.uc_stack.ss_sp = stack;
    c->u.uc_stack.ss_size = STACK;
    c->u.uc_link = NULL;
    makecontext(&c->u, fn, 0);
}

static void context_switch(context *from, context *to)
{
    swapcontext(&from->u, &to->u);
}
#endif

/* ---- a block ---- */

typedef struct fiber {
    lz_simt_thread t; /* first: the kernel's pointer to it is the fiber's */
    context c;
    bool done;
} fiber;

static struct {
    emu_function *run;
    void *const *params;
    fiber f[MAX_THREADS];
    char *stacks;
    uint32_t left, current, left_of[SIMT_CLUSTER]; /* threads that have not ended; of each block */
    bool reverse;
    context scheduler;
    struct {
        uint32_t arrived, phase;
    } all[SIMT_CLUSTER], some[SIMT_CLUSTER],
        cluster;                        /* barriers; some: of a block's first threads */
    uint32_t given[WARPS], turn[WARPS]; /* of what warps do together */
    uint64_t progress;
    const char *wrong;
} emu;

void emu_yield(void)
{
    context_switch(&emu.f[emu.current].c, &emu.scheduler);
}

bool emu_block_over(uint32_t rank)
{
    return !emu.left_of[rank];
}

void emu_went_on(void)
{
    emu.progress++;
}

/* Goes on when *phase has changed. */
static void wait_change(const uint32_t *phase, uint32_t old)
{
    while (*(volatile const uint32_t *)phase == old)
        emu_yield();
}

static void meet(uint32_t *arrived, uint32_t *phase, uint32_t n)
{
    uint32_t old = *phase;
    emu.progress++;
    if (++*arrived == n) {
        *arrived = 0;
        ++*phase;
    } else {
        wait_change(phase, old);
    }
}

void lz_simt_barrier(lz_simt_thread *t);
void lz_simt_barrier(lz_simt_thread *t)
{
    meet(&emu.all[t->rank].arrived, &emu.all[t->rank].phase, t->ntid);
}

void lz_simt_barrier_of(lz_simt_thread *t, uint32_t n);
void lz_simt_barrier_of(lz_simt_thread *t, uint32_t n)
{
    if (t->tid >= n)
        abort();
    meet(&emu.some[t->rank].arrived, &emu.some[t->rank].phase, n);
}

void lz_simt_cluster_barrier(lz_simt_thread *t);
void lz_simt_cluster_barrier(lz_simt_thread *t)
{
    meet(&emu.cluster.arrived, &emu.cluster.phase, t->ranks * t->ntid);
}

uint32_t emu_warp_turn(const lz_simt_thread *t)
{
    return emu.turn[emu_slot(t) / SIMT_WARP] & 1;
}

void emu_warp_meet(const lz_simt_thread *t)
{
    uint32_t w = emu_slot(t) / SIMT_WARP, old = emu.turn[w];
    emu.progress++;
    if (++emu.given[w] == SIMT_WARP) {
        emu.given[w] = 0;
        emu.turn[w]++;
    } else {
        wait_change(&emu.turn[w], old);
    }
}

static void enter(void)
{
    fiber *f = &emu.f[emu.current];
    emu.run(emu.params, &f->t);
    f->done = true;
    emu.left--;
    emu.left_of[f->t.rank]--;
    emu.progress++;
    context_switch(&f->c, &emu.scheduler);
    abort(); /* a thread that has ended is not resumed */
}

static const char *run_together(uint32_t n)
{
    if (!emu.stacks) {
        emu.stacks = mmap(NULL, (size_t)MAX_THREADS * STACK, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (emu.stacks == MAP_FAILED)
            return emu.stacks = NULL, "no memory for the threads' stacks";
    }
    emu.left = n;
    for (uint32_t i = 0; i < SIMT_CLUSTER; i++)
        emu.left_of[i] = emu.f[0].t.ntid;
    memset(emu.all, 0, sizeof emu.all);
    memset(emu.some, 0, sizeof emu.some);
    memset(&emu.cluster, 0, sizeof emu.cluster);
    memset(emu.given, 0, sizeof emu.given);
    memset(emu.turn, 0, sizeof emu.turn);
    emu_warp_reset();
    emu_group_reset();
    emu_boxes_reset();
    for (uint32_t i = 0; i < n; i++)
        context_make(&emu.f[i].c, emu.stacks + (size_t)i * STACK, enter);
    while (emu.left) {
        uint64_t before = emu.progress;
        for (uint32_t i = 0; i < n; i++) {
            emu.current = emu.reverse ? n - 1 - i : i;
            if (!emu.f[emu.current].done)
                context_switch(&emu.scheduler, &emu.f[emu.current].c);
        }
        if (emu.progress == before && !emu_boxes_come(emu.reverse))
            return "the threads of a block wait for each other for ever";
    }
    return emu_boxes_left() ? "a block ended before its copies had come" : NULL;
}

/* Blocks first and the next of its cluster; their shared memories lie `apart` bytes from each
 * other. */
static const char *run_cluster(const emu_kernel *k, emu_function *f, void *const *params,
                               const lz_simt_launch *d, uint32_t first, uint32_t ranks,
                               char *shared, size_t apart)
{
    uint32_t n = d->block * ranks;
    memset(shared, 0xA5, apart * ranks);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t rank = i / d->block;
        emu.f[i].t = (lz_simt_thread){.tid = i % d->block,
                                      .ntid = d->block,
                                      .ctaid = first + rank,
                                      .nctaid = d->grid,
                                      .rank = rank,
                                      .ranks = ranks,
                                      .shared = shared + rank * apart,
                                      .apart = apart};
        emu.f[i].done = false;
    }
    if (k->together)
        return run_together(n);
    for (uint32_t i = 0; i < n; i++)
        f(params, &emu.f[emu.reverse ? n - 1 - i : i].t);
    return NULL;
}

const char *emu_run(const emu_kernel *k, emu_function *f, void *const *params,
                    const lz_simt_launch *d, bool reverse)
{
    uint32_t ranks = d->cluster ? d->cluster : 1;
    /* blocks that know nothing of each other run side by side: one that touches another's memory is
     * found out */
    if (k->together && !k->paired && d->grid % 2 == 0 && d->block <= MAX_THREADS / 2)
        ranks = 2;
    if (d->block == 0 || ranks > SIMT_CLUSTER || d->block > MAX_THREADS / ranks ||
        d->grid % ranks || (k->together && d->block % SIMT_WARP))
        return "blocks of a size or number that cannot run";
    size_t apart = (d->shared + 1024) & ~1023u;
    char *shared = aligned_alloc(1024, apart * ranks);
    if (!shared)
        return "no memory for shared memory";
    emu.run = f;
    emu.params = params;
    emu.reverse = reverse;
    const char *wrong = NULL;
    for (uint32_t b = 0; b < d->grid && !wrong; b += ranks)
        wrong = run_cluster(k, f, params, d, b, ranks, shared, apart);
    free(shared);
    return wrong;
}

/* ---- code ---- */

static bool wants_others, wants_cluster;

static void *resolve(const char *name)
{
    void *together = strcmp(name, "lz_simt_barrier") == 0 ? (void *)(uintptr_t)lz_simt_barrier
                                                          : emu_warp_symbol(name);
    if (!together && strcmp(name, "lz_simt_barrier_of") == 0)
        together = (void *)(uintptr_t)lz_simt_barrier_of;
    if (!together)
        together = emu_group_symbol(name);
    void *cluster = strcmp(name, "lz_simt_cluster_barrier") == 0
                        ? (void *)(uintptr_t)lz_simt_cluster_barrier
                        : emu_boxes_symbol(name);
    wants_cluster |= cluster != NULL;
    together = together ? together : cluster;
    if (together) {
        wants_others = true;
        return together;
    }
    /* what the code generator of the processor makes calls of by itself */
    static const struct {
        const char *name;
        void (*fn)(void);
    } plain[] = {{"fma", (void (*)(void))fma},
                 {"memcpy", (void (*)(void))memcpy},
                 {"memmove", (void (*)(void))memmove},
                 {"memset", (void (*)(void))memset}};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcmp(name, plain[i].name) == 0)
            return (void *)(uintptr_t)plain[i].fn;
    return NULL;
}

static void add_function(emu_kernel *k, const char *name, emu_function *f)
{
    snprintf(k->function[k->nfunction].name, sizeof k->function->name, "%s", name);
    k->function[k->nfunction++].run = f;
}

emu_function *emu_find(const emu_kernel *k, const char *name)
{
    for (int i = 0; i < k->nfunction; i++)
        if (strcmp(k->function[i].name, name) == 0)
            return k->function[i].run;
    return NULL;
}

/* Memory for the image's code, on whole pages. */
static const char *place(const lz_code_image *im, emu_kernel *out)
{
    out->nbytes = (im->ncode + 4095) & ~(size_t)4095;
    out->mem = mmap(NULL, out->nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (out->mem == MAP_FAILED)
        return out->mem = NULL, "no memory for code";
    wants_others = wants_cluster = false;
    if (lz_code_place(im, out->mem, (uintptr_t)out->mem, resolve))
        return "an unknown external function";
    out->together = wants_others;
    out->paired = wants_cluster;
    return mprotect(out->mem, out->nbytes, PROT_READ | PROT_EXEC) == 0
               ? NULL
               : "memory that cannot be executed";
}

const char *emu_load(const void *image, emu_kernel *out)
{
    lz_code_image im;
    memset(out, 0, sizeof *out);
    const char *err = lz_code_open(image, lz_code_nbytes(image), &im);
    if (!err)
        err = place(&im, out);
    for (uint32_t i = 0; !err && i < im.nfunc; i++) {
        uintptr_t at = (uintptr_t)out->mem + im.funcs[i].at;
        const char *name = im.names + im.funcs[i].name;
        if (strcmp(name, "lz_params") == 0)
            out->nparams = (int64_t(*)(void))at;
        else if (out->nfunction < EMU_FUNCTIONS)
            add_function(out, name, (emu_function *)at);
    }
    if (!err && (!emu_find(out, "lz_kernel") || !out->nparams))
        err = "an image without lz_kernel";
    if (err)
        emu_unload(out);
    return err;
}

void emu_unload(emu_kernel *k)
{
    if (k->mem)
        munmap(k->mem, k->nbytes);
    memset(k, 0, sizeof *k);
}
