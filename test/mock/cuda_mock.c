/* cuda_mock.c - a library with the entry points of the CUDA driver, on host memory. Work of a
 * stream is kept until somebody has to wait for it, so what is missing a dependence reads old
 * bytes; kernels are host objects, run by simt_emu.c. Two devices or more, each with streams,
 * events, code and memory (cuda_mock_memory.c) of its own, which calls must not mix up; one that is
 * lost leaves the other alone. Failures are set through cuda_mock.h. Threads: one lock around
 * everything. */
#include "test/mock/cuda_mock_state.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define API MOCK_API
enum { MOST_SHARED = 227 << 10, MAX_DEPTH = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t go_on = PTHREAD_COND_INITIALIZER;
static bool initialised, held, hung;
static struct {
    char name[64];
    uint64_t n;
    int code;
} fail;
static struct {
    char name[32];
    uint32_t grid;
    int64_t ns;
    uint64_t times;
} rules[8];
static int nrule;
lz_mock_stats mock_stats;
static bool reverse;
static int capability = 90;

struct cu_context_ mock_contexts[MOCK_DEVICES];
int mock_ndevice = 2;
static bool told; /* how many there are */
static __thread cu_context current, below[MAX_DEPTH];
static __thread int depth;

/* ---- calls that fail ---- */

static bool is_lost(int code)
{
    static const short others[] = {209, 217, 218, 704, 711, 801, MOCK_CAPTURING};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (code == others[i])
            return false;
    return code >= 200;
}

int mock_enter(const char *name, cu_context context)
{
    pthread_mutex_lock(&lock);
    mock_stats.calls++;
    if (fail.n && (!fail.name[0] || strcmp(fail.name, name) == 0) && --fail.n == 0) {
        mock_stats.failed++;
        if (context && is_lost(fail.code))
            context->lost = fail.code;
        return fail.code;
    }
    return context ? context->lost : 0;
}

void mock_lock(void)
{
    pthread_mutex_lock(&lock);
}

int mock_leave(int r)
{
    pthread_mutex_unlock(&lock);
    return r;
}

bool mock_initialised(void)
{
    return initialised;
}

cu_context mock_current(void)
{
    return current;
}

API void lzMockFail(const char *name, uint64_t n, int code)
{
    pthread_mutex_lock(&lock);
    snprintf(fail.name, sizeof fail.name, "%s", name ? name : "");
    fail.n = n;
    fail.code = code;
    pthread_mutex_unlock(&lock);
}

API void lzMockLose(int device, int code)
{
    pthread_mutex_lock(&lock);
    mock_contexts[device].lost = code;
    pthread_mutex_unlock(&lock);
}

API void lzMockCapability(int value)
{
    pthread_mutex_lock(&lock);
    capability = value;
    pthread_mutex_unlock(&lock);
}

API void lzMockDevices(int n)
{
    pthread_mutex_lock(&lock);
    told = true;
    mock_ndevice = n < 1 ? 1 : n > MOCK_DEVICES ? MOCK_DEVICES : n;
    pthread_mutex_unlock(&lock);
}

API void lzMockHold(int yes)
{
    pthread_mutex_lock(&lock);
    held = yes != 0;
    pthread_cond_broadcast(&go_on);
    pthread_mutex_unlock(&lock);
}

void mock_hang(bool yes)
{
    hung = yes;
    if (!yes)
        pthread_cond_broadcast(&go_on);
}

API void lzMockReset(void)
{
    pthread_mutex_lock(&lock);
    fail.n = 0;
    for (int i = 0; i < MOCK_DEVICES; i++)
        mock_contexts[i].lost = 0;
    mock_stats.failed = 0;
    nrule = 0;
    pthread_mutex_unlock(&lock);
}

API int lzMockTime(const char *name, uint32_t grid, int64_t ns)
{
    pthread_mutex_lock(&lock);
    int i = nrule < (int)(sizeof rules / sizeof *rules) ? nrule++ : -1;
    if (i >= 0) {
        snprintf(rules[i].name, sizeof rules[i].name, "%s", name ? name : "");
        rules[i].grid = grid;
        rules[i].ns = ns;
        rules[i].times = 0;
    }
    pthread_mutex_unlock(&lock);
    return i;
}

API uint64_t lzMockTimed(int rule)
{
    pthread_mutex_lock(&lock);
    uint64_t n = rules[rule].times;
    pthread_mutex_unlock(&lock);
    return n;
}

API void lzMockGetStats(lz_mock_stats *out)
{
    pthread_mutex_lock(&lock);
    *out = mock_stats;
    pthread_mutex_unlock(&lock);
}

API int lzCudaEmulates(void)
{
    return 1;
}

/* ---- start, devices, contexts ---- */

API int cuInit(unsigned flags)
{
    const char *n = getenv("LZ_MOCK_DEVICES"); /* for programs that know nothing of the stand-in */
    if (n && !told)
        lzMockDevices(atoi(n));
    const char *c = getenv("LZ_MOCK_CAPABILITY"); /* 80, 90, ... */
    if (c)
        lzMockCapability(atoi(c));
    int r = mock_enter(__func__, current);
    for (int i = 0; i < MOCK_DEVICES; i++)
        mock_contexts[i].device = i;
    initialised |= r == 0 && flags == 0;
    return mock_leave(r);
}

API int cuDriverGetVersion(int *version)
{
    ENTER();
    *version = 12040;
    return mock_leave(0);
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
    *count = mock_ndevice;
    return mock_leave(0);
}

API int cuDeviceGet(cu_device *device, int ordinal)
{
    ENTER();
    *device = ordinal;
    return mock_leave(ordinal < 0 || ordinal >= mock_ndevice ? MOCK_INVALID_VALUE : 0);
}

API int cuDeviceGetName(char *name, int len, cu_device device)
{
    ENTER();
    snprintf(name, (size_t)len, "Emulated GPU %d", device);
    return mock_leave(0);
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
    return mock_leave(0);
}

API int cuDevicePrimaryCtxRetain(cu_context *context, cu_device device)
{
    ENTER();
    *context = &mock_contexts[device];
    return mock_leave(0);
}

API int cuDevicePrimaryCtxRelease_v2(cu_device device)
{
    ENTER();
    (void)device;
    return mock_leave(0);
}

API int cuCtxPushCurrent_v2(cu_context context)
{
    ENTER_IN(context);
    if (depth == MAX_DEPTH)
        return mock_leave(MOCK_INVALID_VALUE);
    below[depth++] = current;
    current = context;
    return mock_leave(0);
}

API int cuCtxPopCurrent_v2(cu_context *context)
{
    pthread_mutex_lock(&lock); /* undoing does not fail */
    mock_stats.calls++;
    if (context)
        *context = current;
    current = depth ? below[--depth] : NULL;
    return mock_leave(0);
}

/* ---- streams: what was enqueued waits until somebody needs it done ---- */

struct cu_function_ {
    cu_context owner;
    const char *name;
    const emu_kernel *k;
    emu_function *run;
    uint32_t shared; /* dynamic memory it may have, at most */
    uint32_t nmap;   /* parameters that are tensor maps, the last ones */
};
struct cu_module_ {
    cu_context owner;
    emu_kernel k;
    struct cu_function_ f[EMU_FUNCTIONS];
};

/* What was captured; an executable one is given up when it was destroyed and has run. */
struct cu_graph_ {
    mock_op *head, **tail;
};
struct cu_graph_exec_ {
    mock_op *head;
    uint32_t refs;
};
struct cu_event_ {
    cu_context owner;
    cu_stream stream;
    uint64_t upto;
    bool timed, come;
    int64_t at_ns;        /* when it came, */
    int64_t told_ns;      /* and by the clock of lzMockTime */
    cu_event next, *link; /* among all: one whose destruction was made to fail is no leak */
};
static cu_event events;

static int run_op(mock_op *o);
static void release_graph(cu_graph_exec x);

static void comes(cu_event e)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    e->at_ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
    e->told_ns = e->stream->told_ns;
    e->come = true;
}

/* Those behind what the stream has done by now. */
static void let_come(cu_stream s)
{
    for (cu_event e = events; e; e = e->next)
        if (e->stream == s && !e->come && e->upto <= s->done)
            comes(e);
}

static int64_t told_ns(const mock_op *o)
{
    for (int i = o->kind == OP_LAUNCH ? nrule : 0; i-- > 0;)
        if ((!rules[i].name[0] || strcmp(rules[i].name, o->function->name) == 0) &&
            (!rules[i].grid || rules[i].grid == o->dims.grid)) {
            rules[i].times++;
            return rules[i].ns;
        }
    return 0;
}

int mock_run_until(cu_stream s, uint64_t upto)
{
    int r = 0;
    while (s->head && s->done < upto) {
        mock_op *o = s->head;
        s->head = o->next;
        if (!s->head)
            s->tail = &s->head;
        s->done++;
        s->told_ns += told_ns(o);
        if (!s->owner->lost)
            r = run_op(o);
        else if (o->kind == OP_GRAPH)
            release_graph(o->graph);
        if (r)
            s->owner->lost = r;
        free(o);
        let_come(s);
    }
    return s->owner->lost;
}

static void free_ops(mock_op *o)
{
    while (o) {
        mock_op *next = o->next;
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
    mock_stats.live_graphs--;
}

static int run_graph(cu_graph_exec x)
{
    int r = 0;
    for (mock_op *o = x->head; o && !r; o = o->next)
        r = run_op(o);
    release_graph(x);
    return r;
}

static int run_op(mock_op *o)
{
    if (o->kind == OP_GRAPH)
        return run_graph(o->graph);
    if (o->kind == OP_WAIT) { /* what waits for a device that is lost goes on with what is there */
        (void)mock_run_until(o->other, o->upto);
        return 0;
    }
    if (o->kind == OP_COPY)
        return mock_run_copy(o);
    if (o->kind == OP_CALL)
        return o->call(o->values);
    mock_stats.launches++;
    reverse = !reverse;
    const char *wrong =
        emu_run(o->function->k, o->function->run, (void *const *)o->params, &o->dims, reverse);
    if (wrong)
        fprintf(stderr, "cuda mock: a kernel failed: %s\n", wrong);
    return wrong ? MOCK_LAUNCH_FAILED : 0;
}

int mock_push(cu_stream s, mock_op *o)
{
    if (!o || !s) {
        free(o);
        return MOCK_INVALID_VALUE;
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
    if (!current)
        return mock_leave(MOCK_INVALID_CONTEXT);
    *stream = calloc(1, sizeof **stream);
    if (!*stream)
        return mock_leave(CU_OUT_OF_MEMORY);
    (*stream)->owner = current;
    (*stream)->tail = &(*stream)->head;
    mock_stats.streams++;
    return mock_leave(0);
}

API int cuStreamDestroy_v2(cu_stream stream)
{
    ENTER();
    (void)mock_run_until(stream, UINT64_MAX);
    mock_stats.streams--;
    free(stream);
    return mock_leave(0);
}

API int cuStreamSynchronize(cu_stream stream)
{
    pthread_mutex_lock(&lock);
    while (hung)
        pthread_cond_wait(&go_on, &lock);
    pthread_mutex_unlock(&lock);
    ENTER();
    mock_stats.waits++;
    if (stream->capturing)
        return mock_leave(MOCK_CAPTURING);
    return mock_leave(mock_run_until(stream, UINT64_MAX));
}

API int cuStreamWaitEvent(cu_stream stream, cu_event event, unsigned flags)
{
    ENTER();
    (void)flags;
    if (stream->capturing) /* the stand-in knows of no other streams in a graph */
        return mock_leave(MOCK_CAPTURING);
    if (event->owner->lost)
        return mock_leave(event->owner->lost);
    if (!event->stream || event->stream == stream)
        return mock_leave(0);
    mock_op *o = calloc(1, sizeof *o);
    if (o) {
        o->kind = OP_WAIT;
        o->other = event->stream;
        o->upto = event->upto;
    }
    return mock_leave(mock_push(stream, o));
}

API int cuEventCreate(cu_event *event, unsigned flags)
{
    ENTER();
    if (!current)
        return mock_leave(MOCK_INVALID_CONTEXT);
    cu_event e = *event = calloc(1, sizeof **event);
    if (!e)
        return mock_leave(CU_OUT_OF_MEMORY);
    e->owner = current;
    e->timed = !(flags & CU_EVENT_NO_TIMING);
    e->next = events;
    e->link = &events;
    if (events)
        events->link = &e->next;
    events = e;
    mock_stats.events++;
    return mock_leave(0);
}

API int cuEventDestroy_v2(cu_event event)
{
    ENTER();
    mock_stats.events--;
    *event->link = event->next;
    if (event->next)
        event->next->link = event->link;
    free(event);
    return mock_leave(0);
}

API int cuEventRecord(cu_event event, cu_stream stream)
{
    ENTER();
    if (stream->capturing)
        return mock_leave(MOCK_CAPTURING);
    if (event->owner != stream->owner)
        return mock_leave(MOCK_INVALID_HANDLE);
    event->stream = stream;
    event->upto = stream->enqueued;
    event->come = false;
    if (event->upto <= stream->done)
        comes(event);
    return mock_leave(0);
}

API int cuEventQuery(cu_event event)
{
    ENTER();
    return mock_leave(event->stream && !event->come ? MOCK_NOT_READY : 0);
}

API int cuEventSynchronize(cu_event event)
{
    pthread_mutex_lock(&lock);
    while (held || hung)
        pthread_cond_wait(&go_on, &lock);
    pthread_mutex_unlock(&lock);
    ENTER();
    mock_stats.waits++;
    return mock_leave(event->stream ? mock_run_until(event->stream, event->upto) : 0);
}

API int cuEventElapsedTime(float *ms, cu_event start, cu_event end)
{
    ENTER();
    int64_t ns = nrule ? end->told_ns - start->told_ns : end->at_ns - start->at_ns;
    *ms = (float)((double)ns * 1e-6);
    bool timed = start->timed && end->timed && start->stream && end->stream;
    return mock_leave(!timed || start->owner != end->owner ? MOCK_INVALID_HANDLE
                      : start->come && end->come           ? 0
                                                           : MOCK_NOT_READY);
}

/* ---- graphs: what is enqueued on a stream between begin and end ---- */

API int cuStreamBeginCapture_v2(cu_stream stream, int mode)
{
    ENTER();
    (void)mode;
    if (stream->capturing)
        return mock_leave(MOCK_CAPTURING);
    cu_graph g = stream->capturing = calloc(1, sizeof *g);
    if (!g)
        return mock_leave(CU_OUT_OF_MEMORY);
    g->tail = &g->head;
    return mock_leave(0);
}

API int cuStreamEndCapture(cu_stream stream, cu_graph *graph)
{
    int r = mock_enter(__func__, current); /* the capture ends, whatever becomes of it */
    cu_graph g = stream->capturing;
    stream->capturing = NULL;
    *graph = r ? NULL : g;
    if (r && g) {
        free_ops(g->head);
        free(g);
    }
    return mock_leave(r ? r : g ? 0 : MOCK_INVALID_VALUE);
}

API int cuGraphInstantiateWithFlags(cu_graph_exec *exec, cu_graph graph, unsigned long long flags)
{
    ENTER();
    (void)flags;
    cu_graph_exec x = *exec = calloc(1, sizeof *x);
    if (!x)
        return mock_leave(CU_OUT_OF_MEMORY);
    x->head = graph->head; /* the only one that is made of it */
    x->refs = 1;
    graph->head = NULL;
    graph->tail = &graph->head;
    mock_stats.graphs++;
    mock_stats.live_graphs++;
    return mock_leave(0);
}

API int cuGraphDestroy(cu_graph graph)
{
    pthread_mutex_lock(&lock);
    mock_stats.calls++;
    free_ops(graph->head);
    free(graph);
    return mock_leave(0);
}

API int cuGraphLaunch(cu_graph_exec exec, cu_stream stream)
{
    ENTER();
    mock_op *o = calloc(1, sizeof *o);
    if (o) {
        o->kind = OP_GRAPH;
        o->graph = exec;
        exec->refs++;
        mock_stats.graph_launches++;
    }
    return mock_leave(mock_push(stream, o));
}

API int cuGraphExecDestroy(cu_graph_exec exec)
{
    pthread_mutex_lock(&lock);
    mock_stats.calls++;
    release_graph(exec);
    return mock_leave(0);
}

/* ---- code ---- */

API int cuModuleLoadDataEx(cu_module *module, const void *image, unsigned noptions, int *options,
                           void **values)
{
    ENTER();
    (void)noptions, (void)options, (void)values;
    *module = calloc(1, sizeof **module);
    if (!*module)
        return mock_leave(CU_OUT_OF_MEMORY);
    const char *wrong = emu_load(image, &(*module)->k);
    if (wrong) {
        free(*module);
        return mock_leave(CU_INVALID_IMAGE);
    }
    (*module)->owner = current;
    mock_stats.modules++;
    return mock_leave(0);
}

API int cuModuleUnload(cu_module module)
{
    ENTER();
    emu_unload(&module->k);
    free(module);
    mock_stats.modules--;
    return mock_leave(0);
}

API int cuModuleGetFunction(cu_function *function, cu_module module, const char *name)
{
    ENTER();
    for (int i = 0; i < module->k.nfunction; i++)
        if (strcmp(module->k.function[i].name, name) == 0) {
            module->f[i] =
                (struct cu_function_){module->owner, module->k.function[i].name,
                                      &module->k,    module->k.function[i].run,
                                      SIMT_SHARED,   strcmp(name, SIMT_TMA_NAME) == 0 ? 2 : 0};
            *function = &module->f[i];
            return mock_leave(0);
        }
    return mock_leave(MOCK_NOT_FOUND);
}

API int cuFuncSetAttribute(cu_function f, int attribute, int value)
{
    ENTER();
    if (attribute != CU_FUNC_MAX_SHARED || value < 0 || value > MOST_SHARED)
        return mock_leave(MOCK_INVALID_VALUE);
    f->shared = (uint32_t)value;
    return mock_leave(0);
}

/* Parameters that are addresses of another device's memory. */
static bool strays(const void *const *params, size_t n, cu_context home)
{
    for (size_t i = 0; i < n; i++) {
        cu_context owner = mock_owner(*(void *const *)params[i], 1);
        if (owner && owner != home) {
            fprintf(stderr, "cuda mock: parameter %zu of a launch is memory of another device\n",
                    i);
            return true;
        }
    }
    return false;
}

static int launch(cu_function f, const lz_simt_launch *l, cu_stream stream, void **params)
{
    enum { MAP_WORDS = SIMT_MAP_BYTES / sizeof(uint64_t) };
    size_t n = (size_t)f->k->nparams(), all = n + f->nmap, words = n + f->nmap * MAP_WORDS;
    if (f->owner != stream->owner)
        return MOCK_INVALID_HANDLE;
    if (!l->grid || !l->block || l->shared > f->shared ||
        strays((const void *const *)params, n, stream->owner))
        return MOCK_INVALID_VALUE;
    mock_op *o = calloc(1, sizeof *o + words * sizeof(uint64_t) + all * sizeof(void *));
    if (o) {
        o->kind = OP_LAUNCH;
        o->function = f;
        o->dims = *l;
        o->params = (void **)(o->values + words);
        for (size_t i = 0; i < all; i++) {
            o->params[i] = &o->values[i < n ? i : n + (i - n) * MAP_WORDS];
            memcpy(o->params[i], params[i], i < n ? sizeof(uint64_t) : SIMT_MAP_BYTES);
        }
        mock_stats.boxes += f->nmap != 0;
        mock_stats.clusters += l->cluster > 1;
    }
    return mock_push(stream, o);
}

API int cuLaunchKernel(cu_function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                       unsigned by, unsigned bz, unsigned shared, cu_stream stream, void **params,
                       void **extra)
{
    ENTER();
    lz_simt_launch l = {.grid = gx, .block = bx, .shared = shared, .cluster = 1};
    bool flat = gy == 1 && gz == 1 && by == 1 && bz == 1;
    return mock_leave(extra || !flat ? MOCK_INVALID_VALUE : launch(f, &l, stream, params));
}

API int cuLaunchKernelEx(const cu_launch_config *c, cu_function f, void **params, void **extra)
{
    ENTER();
    const cu_launch_attribute *a = c->attributes;
    bool flat = c->grid[1] == 1 && c->grid[2] == 1 && c->block[1] == 1 && c->block[2] == 1,
         known = c->nattribute == 1 && a->id == CU_LAUNCH_CLUSTER && a->value.cluster[1] == 1 &&
                 a->value.cluster[2] == 1 && a->value.cluster[0];
    if (extra || !flat || !known || c->grid[0] % a->value.cluster[0])
        return mock_leave(MOCK_INVALID_VALUE);
    lz_simt_launch l = {.grid = c->grid[0],
                        .block = c->block[0],
                        .shared = c->shared,
                        .cluster = a->value.cluster[0]};
    return mock_leave(launch(f, &l, c->stream, params));
}

API int cuTensorMapEncodeTiled(void *out, int type, unsigned rank, void *address,
                               const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,
                               const uint32_t *steps, int interleave, int swizzle, int promotion,
                               int fill)
{
    ENTER();
    bool known = (type == CU_MAP_F16 || type == CU_MAP_BF16 || type == CU_MAP_TF32) &&
                 !interleave && swizzle == CU_MAP_SWIZZLE_128 && promotion >= 0 && promotion <= 3 &&
                 !fill;
    uint32_t bytes = type == CU_MAP_TF32 ? 4 : 2;
    return mock_leave(known && emu_map_make(out, bytes, rank, address, sizes, strides, box, steps)
                          ? 0
                          : MOCK_INVALID_VALUE);
}
