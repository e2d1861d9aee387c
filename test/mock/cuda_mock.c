/* cuda_mock.c - a library with the entry points of the CUDA driver, on host memory.
 * Work of a stream is kept until somebody has to wait for it, so what is missing a dependence reads old bytes; kernels are host objects,
 * run by simt_emu.c. Two devices. Failures are set through cuda_mock.h. Threads: one lock around everything. */
#include "test/mock/cuda_mock.h"
#include "backends/cuda/cuda_api.h"
#include "test/mock/simt_emu.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))
enum { DEVICES = 2, INVALID_VALUE = 1, NOT_INITIALIZED = 3, INVALID_CONTEXT = 201 };
enum {
    CAPTURING = 900,
    NOT_FOUND = 500,
    MOST_SHARED = 227 << 10,
    LAUNCH_FAILED = 719,
    MAX_BLOCKS = 1 << 16,
    MAX_DEPTH = 8
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool initialised;
static int lost;
static struct {
    char name[64];
    uint64_t n;
    int code;
} fail;
static lz_mock_stats stats;
static size_t memory = (size_t)1 << 30;
static bool reverse;
static int capability = 90;

struct cu_context_ {
    int device;
    size_t used;
};
static struct cu_context_ contexts[DEVICES] = {{0, 0}, {1, 0}};
static __thread cu_context current, below[MAX_DEPTH];
static __thread int depth;

/* ---- calls that fail ---- */

/* Under lock from here to leave(). A call that is to fail has no effect. */
static int enter(const char *name)
{
    pthread_mutex_lock(&lock);
    stats.calls++;
    if (fail.n && (!fail.name[0] || strcmp(fail.name, name) == 0) && --fail.n == 0) {
        stats.failed++;
        if (fail.code >= 200 && fail.code != 209 && fail.code != 218 && fail.code != CAPTURING)
            lost = fail.code;
        return fail.code;
    }
    return lost;
}

static int leave(int r)
{
    pthread_mutex_unlock(&lock);
    return r;
}
#define ENTER()                                                                                    \
    int r_ = enter(__func__);                                                                      \
    if (r_ == 0 && !initialised)                                                                   \
        r_ = NOT_INITIALIZED;                                                                      \
    if (r_)                                                                                        \
    return leave(r_)

API void lzMockFail(const char *name, uint64_t n, int code)
{
    pthread_mutex_lock(&lock);
    snprintf(fail.name, sizeof fail.name, "%s", name ? name : "");
    fail.n = n;
    fail.code = code;
    pthread_mutex_unlock(&lock);
}

API void lzMockMemory(size_t nbytes)
{
    pthread_mutex_lock(&lock);
    memory = nbytes ? nbytes : (size_t)1 << 30;
    pthread_mutex_unlock(&lock);
}

API void lzMockCapability(int value)
{
    pthread_mutex_lock(&lock);
    capability = value;
    pthread_mutex_unlock(&lock);
}

API void lzMockReset(void)
{
    pthread_mutex_lock(&lock);
    fail.n = 0;
    lost = 0;
    stats.failed = 0;
    pthread_mutex_unlock(&lock);
}

API void lzMockGetStats(lz_mock_stats *out)
{
    pthread_mutex_lock(&lock);
    *out = stats;
    pthread_mutex_unlock(&lock);
}

API int lzCudaEmulates(void)
{
    return 1;
}

/* ---- start, devices, contexts ---- */

API int cuInit(unsigned flags)
{
    int r = enter(__func__);
    initialised |= r == 0 && flags == 0;
    return leave(r);
}

API int cuDriverGetVersion(int *version)
{
    ENTER();
    *version = 12040;
    return leave(0);
}

API int cuGetErrorName(int error, const char **name)
{
    *name = error == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
            : error == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
            : error == 719 ? "CUDA_ERROR_LAUNCH_FAILED"
                           : "CUDA_ERROR_OF_THE_MOCK";
    return 0;
}

API int cuGetErrorString(int error, const char **text)
{
    (void)error;
    *text = "as the test asked for";
    return 0;
}

API int cuDeviceGetCount(int *count)
{
    ENTER();
    *count = DEVICES;
    return leave(0);
}

API int cuDeviceGet(cu_device *device, int ordinal)
{
    ENTER();
    *device = ordinal;
    return leave(ordinal < 0 || ordinal >= DEVICES ? INVALID_VALUE : 0);
}

API int cuDeviceGetName(char *name, int len, cu_device device)
{
    ENTER();
    snprintf(name, (size_t)len, "Emulated GPU %d", device);
    return leave(0);
}

API int cuDeviceGetAttribute(int *value, int attribute, cu_device device)
{
    ENTER();
    (void)device;
    *value = attribute == CU_ATTR_CAPABILITY_MAJOR       ? capability / 10
             : attribute == CU_ATTR_CAPABILITY_MINOR     ? capability % 10
             : attribute == CU_ATTR_MULTIPROCESSORS      ? 2
             : attribute == CU_ATTR_MAX_SHARED_PER_BLOCK ? SIMT_SHARED
             : attribute == CU_ATTR_MAX_SHARED_OPTIN     ? MOST_SHARED
             : attribute == CU_ATTR_CLOCK_KHZ            ? 1000000
             : attribute == CU_ATTR_L2_BYTES             ? 1 << 20
                                                         : 0;
    return leave(0);
}

API int cuDevicePrimaryCtxRetain(cu_context *context, cu_device device)
{
    ENTER();
    *context = &contexts[device];
    return leave(0);
}

API int cuDevicePrimaryCtxRelease_v2(cu_device device)
{
    ENTER();
    (void)device;
    return leave(0);
}

API int cuCtxPushCurrent_v2(cu_context context)
{
    ENTER();
    if (depth == MAX_DEPTH)
        return leave(INVALID_VALUE);
    below[depth++] = current;
    current = context;
    return leave(0);
}

API int cuCtxPopCurrent_v2(cu_context *context)
{
    pthread_mutex_lock(&lock); /* undoing does not fail */
    stats.calls++;
    if (context)
        *context = current;
    current = depth ? below[--depth] : NULL;
    return leave(0);
}

/* ---- streams: what was enqueued waits until somebody needs it done ---- */

struct cu_function_ {
    const emu_kernel *k;
    emu_function *run;
    uint32_t shared; /* dynamic memory it may have, at most */
    uint32_t nmap;   /* parameters that are tensor maps, the last ones */
};
struct cu_module_ {
    emu_kernel k;
    struct cu_function_ f[EMU_FUNCTIONS];
};

typedef enum op_kind { OP_COPY, OP_LAUNCH, OP_WAIT, OP_GRAPH } op_kind;
typedef struct op {
    struct op *next;
    op_kind kind;
    void *dst;
    const void *src;
    size_t nbytes;
    cu_stream other; /* waits for its work up to `upto` */
    uint64_t upto;
    cu_function function;
    lz_simt_launch dims;
    cu_graph_exec graph;
    void **params;
    uint64_t values[];
} op;

/* What was captured; an executable one is given up when it was destroyed and has run. */
struct cu_graph_ {
    op *head, **tail;
};
struct cu_graph_exec_ {
    op *head;
    uint32_t refs;
};
struct cu_stream_ {
    op *head, **tail;
    uint64_t enqueued, done;
    cu_graph capturing;
};
struct cu_event_ {
    cu_stream stream;
    uint64_t upto;
    bool timed;
    cu_event next, *link; /* among all: one whose destruction was made to fail is no leak */
};
static cu_event events;

static int run_op(op *o);
static void release_graph(cu_graph_exec x);

static int run_until(cu_stream s, uint64_t upto)
{
    int r = 0;
    while (s->head && s->done < upto) {
        op *o = s->head;
        s->head = o->next;
        if (!s->head)
            s->tail = &s->head;
        s->done++;
        if (!lost)
            r = run_op(o);
        else if (o->kind == OP_GRAPH)
            release_graph(o->graph);
        if (r)
            lost = r;
        free(o);
    }
    return lost;
}

static void free_ops(op *o)
{
    while (o) {
        op *next = o->next;
        free(o);
        o = next;
    }
}

static void release_graph(cu_graph_exec x)
{
    if (--x->refs)
        return;
    free_ops(x->head);
    free(x);
    stats.live_graphs--;
}

static int run_graph(cu_graph_exec x)
{
    int r = 0;
    for (op *o = x->head; o && !r; o = o->next)
        r = run_op(o);
    release_graph(x);
    return r;
}

static int run_op(op *o)
{
    if (o->kind == OP_GRAPH)
        return run_graph(o->graph);
    if (o->kind == OP_WAIT)
        return run_until(o->other, o->upto);
    if (o->kind == OP_COPY) {
        memmove(o->dst, o->src, o->nbytes);
        return 0;
    }
    stats.launches++;
    reverse = !reverse;
    const char *wrong =
        emu_run(o->function->k, o->function->run, (void *const *)o->params, &o->dims, reverse);
    if (wrong)
        fprintf(stderr, "cuda mock: a kernel failed: %s\n", wrong);
    return wrong ? LAUNCH_FAILED : 0;
}

static int push(cu_stream s, op *o)
{
    if (!o || !s) {
        free(o);
        return INVALID_VALUE;
    }
    o->next = NULL;
    if (s->capturing) {
        *s->capturing->tail = o;
        s->capturing->tail = &o->next;
        return 0;
    }
    *s->tail = o;
    s->tail = &o->next;
    s->enqueued++;
    return 0;
}

API int cuStreamCreate(cu_stream *stream, unsigned flags)
{
    ENTER();
    (void)flags;
    *stream = calloc(1, sizeof **stream);
    if (!*stream)
        return leave(CU_OUT_OF_MEMORY);
    (*stream)->tail = &(*stream)->head;
    stats.streams++;
    return leave(0);
}

API int cuStreamDestroy_v2(cu_stream stream)
{
    ENTER();
    (void)run_until(stream, UINT64_MAX);
    stats.streams--;
    free(stream);
    return leave(0);
}

API int cuStreamSynchronize(cu_stream stream)
{
    ENTER();
    if (stream->capturing)
        return leave(CAPTURING);
    return leave(run_until(stream, UINT64_MAX));
}

API int cuStreamWaitEvent(cu_stream stream, cu_event event, unsigned flags)
{
    ENTER();
    (void)flags;
    if (stream->capturing) /* the stand-in knows of no other streams in a graph */
        return leave(CAPTURING);
    if (!event->stream || event->stream == stream)
        return leave(0);
    op *o = calloc(1, sizeof *o);
    if (o) {
        o->kind = OP_WAIT;
        o->other = event->stream;
        o->upto = event->upto;
    }
    return leave(push(stream, o));
}

API int cuEventCreate(cu_event *event, unsigned flags)
{
    ENTER();
    cu_event e = *event = calloc(1, sizeof **event);
    if (!e)
        return leave(CU_OUT_OF_MEMORY);
    e->timed = !(flags & CU_EVENT_NO_TIMING);
    e->next = events;
    e->link = &events;
    if (events)
        events->link = &e->next;
    events = e;
    stats.events++;
    return leave(0);
}

API int cuEventDestroy_v2(cu_event event)
{
    ENTER();
    stats.events--;
    *event->link = event->next;
    if (event->next)
        event->next->link = event->link;
    free(event);
    return leave(0);
}

API int cuEventRecord(cu_event event, cu_stream stream)
{
    ENTER();
    if (stream->capturing)
        return leave(CAPTURING);
    event->stream = stream;
    event->upto = stream->enqueued;
    return leave(0);
}

API int cuEventSynchronize(cu_event event)
{
    ENTER();
    return leave(event->stream ? run_until(event->stream, event->upto) : 0);
}

/* Both have come; how far apart is the caller's to ask, not to know. */
API int cuEventElapsedTime(float *ms, cu_event start, cu_event end)
{
    ENTER();
    *ms = 0.5f;
    bool timed = start->timed && end->timed && start->stream && end->stream;
    return leave(timed && end->upto <= end->stream->done ? 0 : INVALID_VALUE);
}

/* ---- graphs: what is enqueued on a stream between begin and end ---- */

API int cuStreamBeginCapture_v2(cu_stream stream, int mode)
{
    ENTER();
    (void)mode;
    if (stream->capturing)
        return leave(CAPTURING);
    cu_graph g = stream->capturing = calloc(1, sizeof *g);
    if (!g)
        return leave(CU_OUT_OF_MEMORY);
    g->tail = &g->head;
    return leave(0);
}

API int cuStreamEndCapture(cu_stream stream, cu_graph *graph)
{
    int r = enter(__func__); /* the capture ends, whatever becomes of it */
    cu_graph g = stream->capturing;
    stream->capturing = NULL;
    *graph = r ? NULL : g;
    if (r && g) {
        free_ops(g->head);
        free(g);
    }
    return leave(r ? r : g ? 0 : INVALID_VALUE);
}

API int cuGraphInstantiateWithFlags(cu_graph_exec *exec, cu_graph graph, unsigned long long flags)
{
    ENTER();
    (void)flags;
    cu_graph_exec x = *exec = calloc(1, sizeof *x);
    if (!x)
        return leave(CU_OUT_OF_MEMORY);
    x->head = graph->head; /* the only one that is made of it */
    x->refs = 1;
    graph->head = NULL;
    graph->tail = &graph->head;
    stats.graphs++;
    stats.live_graphs++;
    return leave(0);
}

API int cuGraphDestroy(cu_graph graph)
{
    pthread_mutex_lock(&lock);
    stats.calls++;
    free_ops(graph->head);
    free(graph);
    return leave(0);
}

API int cuGraphLaunch(cu_graph_exec exec, cu_stream stream)
{
    ENTER();
    op *o = calloc(1, sizeof *o);
    if (o) {
        o->kind = OP_GRAPH;
        o->graph = exec;
        exec->refs++;
        stats.graph_launches++;
    }
    return leave(push(stream, o));
}

API int cuGraphExecDestroy(cu_graph_exec exec)
{
    pthread_mutex_lock(&lock);
    stats.calls++;
    release_graph(exec);
    return leave(0);
}

/* ---- memory ---- */

static struct {
    void *p;
    size_t nbytes;
    cu_context owner;
} blocks[MAX_BLOCKS];
static uint32_t nblocks;

API int cuMemAlloc_v2(cu_ptr *address, size_t nbytes)
{
    ENTER();
    if (!current)
        return leave(INVALID_CONTEXT);
    if (nbytes > memory || current->used > memory - nbytes || nblocks == MAX_BLOCKS)
        return leave(CU_OUT_OF_MEMORY);
    void *p = aligned_alloc(256, (nbytes + 255) & ~(size_t)255);
    if (!p)
        return leave(CU_OUT_OF_MEMORY);
    memset(p, 0xA5, nbytes);
    blocks[nblocks].p = p;
    blocks[nblocks].nbytes = nbytes;
    blocks[nblocks++].owner = current;
    current->used += nbytes;
    stats.live_blocks++;
    stats.live_bytes += nbytes;
    *address = (cu_ptr)(uintptr_t)p;
    return leave(0);
}

API int cuMemFree_v2(cu_ptr address)
{
    ENTER();
    for (uint32_t i = 0; i < nblocks; i++)
        if ((cu_ptr)(uintptr_t)blocks[i].p == address) {
            stats.live_blocks--;
            stats.live_bytes -= blocks[i].nbytes;
            blocks[i].owner->used -= blocks[i].nbytes;
            free(blocks[i].p);
            blocks[i] = blocks[--nblocks];
            return leave(0);
        }
    fprintf(stderr, "cuda mock: free of an address that was not allocated\n");
    return leave(INVALID_VALUE);
}

API int cuMemGetInfo_v2(size_t *nfree, size_t *total)
{
    ENTER();
    *total = memory;
    *nfree = memory - (current && current->used < memory ? current->used : memory);
    return leave(0);
}

API int cuMemHostAlloc(void **address, size_t nbytes, unsigned flags)
{
    ENTER();
    (void)flags;
    *address = aligned_alloc(4096, (nbytes + 4095) & ~(size_t)4095);
    stats.pinned += *address != NULL;
    return leave(*address ? 0 : CU_OUT_OF_MEMORY);
}

API int cuMemFreeHost(void *address)
{
    ENTER();
    stats.pinned -= address != NULL;
    free(address);
    return leave(0);
}

static int copy(void *dst, const void *src, size_t nbytes, cu_stream stream)
{
    op *o = calloc(1, sizeof *o);
    if (o) {
        o->kind = OP_COPY;
        o->dst = dst;
        o->src = src;
        o->nbytes = nbytes;
    }
    return push(stream, o);
}

API int cuMemcpyHtoDAsync_v2(cu_ptr dst, const void *src, size_t nbytes, cu_stream stream)
{
    ENTER();
    return leave(copy((void *)(uintptr_t)dst, src, nbytes, stream));
}

API int cuMemcpyDtoHAsync_v2(void *dst, cu_ptr src, size_t nbytes, cu_stream stream)
{
    ENTER();
    return leave(copy(dst, (void *)(uintptr_t)src, nbytes, stream));
}

API int cuMemcpyDtoDAsync_v2(cu_ptr dst, cu_ptr src, size_t nbytes, cu_stream stream)
{
    ENTER();
    return leave(copy((void *)(uintptr_t)dst, (void *)(uintptr_t)src, nbytes, stream));
}

/* ---- code ---- */

API int cuModuleLoadDataEx(cu_module *module, const void *image, unsigned noptions, int *options,
                           void **values)
{
    ENTER();
    (void)noptions, (void)options, (void)values;
    *module = calloc(1, sizeof **module);
    if (!*module)
        return leave(CU_OUT_OF_MEMORY);
    const char *wrong = emu_load(image, &(*module)->k);
    if (wrong) {
        free(*module);
        return leave(CU_INVALID_IMAGE);
    }
    stats.modules++;
    return leave(0);
}

API int cuModuleUnload(cu_module module)
{
    ENTER();
    emu_unload(&module->k);
    free(module);
    stats.modules--;
    return leave(0);
}

API int cuModuleGetFunction(cu_function *function, cu_module module, const char *name)
{
    ENTER();
    for (int i = 0; i < module->k.nfunction; i++)
        if (strcmp(module->k.function[i].name, name) == 0) {
            module->f[i] = (struct cu_function_){&module->k, module->k.function[i].run, SIMT_SHARED,
                                                 strcmp(name, SIMT_BULK_NAME) == 0 ? 2 : 0};
            *function = &module->f[i];
            return leave(0);
        }
    return leave(NOT_FOUND);
}

API int cuFuncSetAttribute(cu_function f, int attribute, int value)
{
    ENTER();
    if (attribute != CU_FUNC_MAX_SHARED || value < 0 || value > MOST_SHARED)
        return leave(INVALID_VALUE);
    f->shared = (uint32_t)value;
    return leave(0);
}

static int launch(cu_function f, const lz_simt_launch *l, cu_stream stream, void **params)
{
    enum { MAP_WORDS = SIMT_MAP_BYTES / sizeof(uint64_t) };
    size_t n = (size_t)f->k->nparams(), all = n + f->nmap, words = n + f->nmap * MAP_WORDS;
    if (!l->grid || !l->block || l->shared > f->shared)
        return INVALID_VALUE;
    op *o = calloc(1, sizeof *o + words * sizeof(uint64_t) + all * sizeof(void *));
    if (o) {
        o->kind = OP_LAUNCH;
        o->function = f;
        o->dims = *l;
        o->params = (void **)(o->values + words);
        for (size_t i = 0; i < all; i++) {
            o->params[i] = &o->values[i < n ? i : n + (i - n) * MAP_WORDS];
            memcpy(o->params[i], params[i], i < n ? sizeof(uint64_t) : SIMT_MAP_BYTES);
        }
        stats.boxes += f->nmap != 0;
        stats.clusters += l->cluster > 1;
    }
    return push(stream, o);
}

API int cuLaunchKernel(cu_function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                       unsigned by, unsigned bz, unsigned shared, cu_stream stream, void **params,
                       void **extra)
{
    ENTER();
    lz_simt_launch l = {.grid = gx, .block = bx, .shared = shared, .cluster = 1};
    bool flat = gy == 1 && gz == 1 && by == 1 && bz == 1;
    return leave(extra || !flat ? INVALID_VALUE : launch(f, &l, stream, params));
}

API int cuLaunchKernelEx(const cu_launch_config *c, cu_function f, void **params, void **extra)
{
    ENTER();
    const cu_launch_attribute *a = c->attributes;
    bool flat = c->grid[1] == 1 && c->grid[2] == 1 && c->block[1] == 1 && c->block[2] == 1,
         known = c->nattribute == 1 && a->id == CU_LAUNCH_CLUSTER && a->value.cluster[1] == 1 &&
                 a->value.cluster[2] == 1 && a->value.cluster[0];
    if (extra || !flat || !known || c->grid[0] % a->value.cluster[0])
        return leave(INVALID_VALUE);
    lz_simt_launch l = {.grid = c->grid[0],
                        .block = c->block[0],
                        .shared = c->shared,
                        .cluster = a->value.cluster[0]};
    return leave(launch(f, &l, c->stream, params));
}

API int cuTensorMapEncodeTiled(void *out, int type, unsigned rank, void *address,
                               const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,
                               const uint32_t *steps, int interleave, int swizzle, int promotion,
                               int fill)
{
    ENTER();
    bool known = (type == CU_MAP_F16 || type == CU_MAP_BF16) && !interleave &&
                 swizzle == CU_MAP_SWIZZLE_128 && promotion >= 0 && promotion <= 3 && !fill;
    return leave(
        known && emu_map_make(out, rank, address, sizes, strides, box, steps) ? 0 : INVALID_VALUE);
}
