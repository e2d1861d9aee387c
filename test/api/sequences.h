/* sequences.h - the program of sequences.sh: random calls of every function, which that generates.
 * A sequence is made of its number alone; a process runs some, and a parent looks how it ends. */
#include "test/api/drawn.h"

/* ---- calls that need to know more than types ---- */

static void special_lz_escape(void)
{
    if (depth == 0) /* what escapes twice from a callback is nobody's */
        (void)lz_escape(T);
}
static void special_lz_scope_begin(void)
{
    if (scopes[DEPTH] < 6 && lz_scope_begin() == LZ_OK)
        scopes[DEPTH]++;
}
static bool scope_to_end(void)
{
    if (scopes[DEPTH] > depth) /* that of the callback stays */
        return scopes[DEPTH]--, true;
    bool anothers = depth > 0 && mode != CHECKED && chance(2);
    unbalanced |= anothers;
    return anothers;
}
static void special_lz_scope_end(void)
{
    if (scope_to_end())
        (void)lz_scope_end();
}
static void special_lz_scope_end_keep(void)
{
    if (scope_to_end())
        put(lz_scope_end_keep(T));
}
static void special_lz_retain(void)
{
    put(T);
}
static void special_lz_release(void)
{
    if (chance(30)) /* once too often, or what never was one */
        (void)lz_release(chance(50) ? stale[pick(STALE)] : (lz_tensor *)(uintptr_t)pick(1000));
    else
        drop(atomic_exchange(&place[pick(PLACES)], NULL));
}
/* Data: as much as the shape needs, or another number of bytes that are there. */
static size_t bytes_for(lz_shape s, lz_dtype d)
{
    size_t n = lz_dtype_size(d);
    for (int i = 0; i < s.rank && i < LZ_MAX_RANK; i++)
        n *= s.dims[i] >= 0 && s.dims[i] < 5 ? (size_t)s.dims[i] : 0;
    return n <= sizeof memory && chance(90) ? n : pick(sizeof memory + 1);
}
static void special_lz_from_host_at(void)
{
    lz_shape s = shape();
    lz_dtype d = NUMBER(lz_dtype, LZ_F32);
    put(lz_from_host_at(d, s, chance(3) ? NULL : memory, bytes_for(s, d), LZ_SITE));
}
static void special_lz_from_host_typed_at(void)
{
    lz_shape s = shape();
    lz_dtype d = NUMBER(lz_dtype, LZ_F32), host = chance(70) ? d : NUMBER(lz_dtype, LZ_F32);
    put(lz_from_host_typed_at(d, s, memory, bytes_for(s, host), host, LZ_SITE));
}
static _Alignas(64) float lent_memory[64];
static void special_lz_from_borrowed_at(void)
{
    lz_shape s = shape();
    lz_dtype d = NUMBER(lz_dtype, LZ_F32);
    put(lz_from_borrowed_at(d, s, (char *)lent_memory + pick(2) * 4, bytes_for(s, d) / 2,
                            release_random, NULL, LZ_SITE));
}
static void special_lz_from_borrowed_typed_at(void)
{
    lz_shape s = shape();
    lz_dtype d = NUMBER(lz_dtype, LZ_F32);
    put(lz_from_borrowed_typed_at(d, s, lent_memory, bytes_for(s, d), d, release_random, NULL,
                                  LZ_SITE));
}
static void special_lz_set_log_callback(void)
{
    lz_set_log_callback(chance(70) ? log_random : NULL, NULL);
}
static void special_lz_set_allocator(void)
{
    lz_allocator none = {.struct_size = sizeof none};
    (void)lz_set_allocator(chance(50) ? NULL : &none); /* too late, or without functions */
}
static void special_lz_params_free(void)
{
    keep_optim(NULL), keep_ema(NULL); /* which refer to it */
    lz_params_free(&params);
}
#define FREE(name, type)                                                                           \
    static void special_##name(void)                                                               \
    {                                                                                              \
        chance(10) ? name(NULL) : keep_##type(NULL);                                               \
    }
FREE(lz_optim_free, optim)
FREE(lz_ema_free, ema)
FREE(lz_grad_scaler_free, grad_scaler)
FREE(lz_loader_free, loader)
FREE(lz_archive_close, archive)
FREE(lz_checkpoint_manager_free, checkpoint_manager)
FREE(lz_function_free, function)
FREE(lz_stablehlo_free, stablehlo)
static void special_lz_kv_cache_init_at(void)
{
    lz_kv_cache_free(&kv_cache[DEPTH]);
    (void)lz_kv_cache_init_at(&kv_cache[DEPTH], NUMBER(int64_t, 1), NUMBER(int64_t, 1),
                              NUMBER(int64_t, 1), NUMBER(int64_t, 3), NUMBER(lz_dtype, LZ_F32),
                              LZ_SITE);
}
static void special_lz_kv_cache_free(void)
{
    lz_kv_cache_free(chance(10) ? NULL : &kv_cache[DEPTH]);
}
static void special_lz_array_free(void)
{
    lz_array_free(chance(10) ? NULL : &arrays[DEPTH][pick(2)][pick(8)]);
}
static void special_lz_stablehlo_parse_at(void)
{
    static const char *const texts[] = {
        program_text,
        "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> { %0 = stablehlo.add %a, %a : "
        "tensor<2xf32> return %0 : tensor<2xf32> }",
        "func.func @main() -> tensor<f32> { %0 = stablehlo.constant dense<1.0> : tensor<f32> "
        "return %0 : tensor<f32> }"};
    char changed[256];
    const char *t = texts[pick(3)];
    size_t n = strlen(t);
    memcpy(changed, t, n);
    for (uint32_t k = chance(50) ? 0 : pick(4); k > 0; k--)
        changed[pick((uint32_t)n)] = (char)(32 + pick(95));
    keep_stablehlo(lz_stablehlo_parse_at(changed, chance(90) ? n : pick((uint32_t)n), "text",
                                         new_lz_stablehlo_options(), LZ_SITE));
}
static void special_lz_to_dlpack_at(void)
{
    DLManagedTensorVersioned *m = NULL;
    if (lz_to_dlpack_at(T, FLAG(), &m, LZ_SITE) != LZ_OK)
        return;
    if (chance(50))
        m->deleter(m);
    else
        put(lz_from_dlpack_at(m, FLAG(), LZ_SITE));
}
static void special_lz_to_dlpack_legacy_at(void)
{
    DLManagedTensor *m = NULL;
    if (lz_to_dlpack_legacy_at(T, FLAG(), &m, LZ_SITE) != LZ_OK)
        return;
    if (chance(50))
        m->deleter(m);
    else
        put(lz_from_dlpack_legacy_at(m, FLAG(), LZ_SITE));
}
/* What is lent has to stay as it is: copies only. */
static void special_lz_from_dlpack_at(void)
{
    (void)lz_from_dlpack_at(managed(), true, LZ_SITE);
}
static void special_lz_from_dlpack_legacy_at(void)
{
    (void)lz_from_dlpack_legacy_at(managed_before_1(), true, LZ_SITE);
}
static void special_lz_dataset_of_arrays_at(void)
{
    lz_dataset d = {.struct_size = sizeof d};
    lz_array two[2] = {array()[0], array()[1]};
    if (lz_dataset_of_arrays_at(two, (int)LESS(int, 1), &d, LZ_SITE) == LZ_OK)
        lz_dataset_free(&d);
}
static void special_lz_dataset_fake_at(void)
{
    lz_dataset d = {.struct_size = sizeof d};
    lz_field f[2] = {{NUMBER(lz_dtype, LZ_F32), shape()}, {LZ_I64, {0, {0}}}};
    if (lz_dataset_fake_at(NUMBER(int64_t, 3), f, (int)LESS(int, 1), NUMBER(int64_t, 2), 1, &d,
                           LZ_SITE) == LZ_OK)
        lz_dataset_free(&d);
}
static void special_lz_dataset_free(void)
{
    lz_dataset_free(NULL);
}
/* Loops that end in this century. */
static void special_lz_fori_at(void)
{
    lz_tensor *init[2] = {T, T};
    int n = (int)LESS(int, 1);
    (void)lz_fori_at((int64_t)pick(4) - 1, (int64_t)pick(8) - 1, chance(95) ? init : NULL, n,
                     chance(95) ? round_random : NULL, NULL, OUTS, LZ_SITE);
}
/* It lasts as long as the process. */
static void special_lz_initialize_cache(void)
{
    (void)lz_initialize_cache(chance(50) ? "" : "/dev/null/none", FLAG());
}
static void special_lz_set_device(void)
{
    char name[32] = "";
    (void)lz_set_device(WORD);
    if (mode == CHECKED) /* on one device, so that all is checked */
        (void)lz_set_device(NULL);
    else if (lz_get_device(name, sizeof name) > 0)
        (void)lz_device_kind(name, text, sizeof text);
}

/* ---- random calls ---- */

static _Thread_local lz_tensor *result;
#define TENSOR(name, call)                                                                         \
    static void call_##name(void)                                                                  \
    {                                                                                              \
        result = call;                                                                             \
    }
#define OTHER(name, call)                                                                          \
    static void call_##name(void)                                                                  \
    {                                                                                              \
        (void)(call);                                                                              \
    }
#define VOID(name, call)                                                                           \
    static void call_##name(void)                                                                  \
    {                                                                                              \
        call;                                                                                      \
    }
#define SPECIAL(name)                                                                              \
    static void call_##name(void)                                                                  \
    {                                                                                              \
        special_##name();                                                                          \
    }
#define OBJECT_optim(name, call)                                                                   \
    static void call_##name(void)                                                                  \
    {                                                                                              \
        keep_optim(call);                                                                          \
    }
#define OBJECT_grad_scaler(name, call)                                                             \
    static void call_##name(void)                                                                  \
    {                                                                                              \
        keep_grad_scaler(call);                                                                    \
    }
#define OBJECT_ema(name, call)                                                                     \
    static void call_##name(void)                                                                  \
    {                                                                                              \
        keep_ema(call);                                                                            \
    }
#define OBJECT_loader(name, call)                                                                  \
    static void call_##name(void)                                                                  \
    {                                                                                              \
        keep_loader(call);                                                                         \
    }
#define OBJECT_archive(name, call)                                                                 \
    static void call_##name(void)                                                                  \
    {                                                                                              \
        keep_archive(call);                                                                        \
    }
#define OBJECT_checkpoint_manager(name, call)                                                      \
    static void call_##name(void)                                                                  \
    {                                                                                              \
        keep_checkpoint_manager(call);                                                             \
    }
#define OBJECT_mesh(name, call)                                                                    \
    static void call_##name(void)                                                                  \
    {                                                                                              \
        keep_mesh(call);                                                                           \
    }
#define OBJECT_stablehlo(name, call)                                                               \
    static void call_##name(void)                                                                  \
    {                                                                                              \
        keep_stablehlo(call);                                                                      \
    }
#include "calls.h"
#undef TENSOR
#undef OTHER
#undef VOID
#undef SPECIAL
static const struct {
    const char *name;
    void (*fn)(void);
} calls[] = {
#define TENSOR(name, call) {#name, call_##name},
#define OTHER TENSOR
#define VOID TENSOR
#define SPECIAL(name) {#name, call_##name},
#undef OBJECT_optim
#undef OBJECT_grad_scaler
#undef OBJECT_ema
#undef OBJECT_loader
#undef OBJECT_archive
#undef OBJECT_checkpoint_manager
#undef OBJECT_mesh
#undef OBJECT_stablehlo
#define OBJECT_optim TENSOR
#define OBJECT_grad_scaler TENSOR
#define OBJECT_ema TENSOR
#define OBJECT_loader TENSOR
#define OBJECT_archive TENSOR
#define OBJECT_checkpoint_manager TENSOR
#define OBJECT_mesh TENSOR
#define OBJECT_stablehlo TENSOR
#include "calls.h"
};
enum { NCALLS = sizeof calls / sizeof *calls };
/* Those that a sequence needs more often than one time in so many functions. */
static void (*const often[])(void) = {
    call_lz_mark_step_at,     call_lz_mark_step_at,  call_lz_release,
    call_lz_from_host_at,     call_lz_item_at,       call_lz_assign_at,
    call_lz_grad_at,          call_lz_backward_at,   call_lz_requires_grad,
    call_lz_scope_begin,      call_lz_scope_end,     call_lz_function_trace_at,
    call_lz_function_call_at, call_lz_params_add_at, call_lz_optim_step_at,
    call_lz_sync_at,          call_lz_add_at,        call_lz_mul_at,
    call_lz_from_borrowed_at, call_lz_to_dlpack_at};

/* Whether the check of values blames an operation that has several right answers: signs of singular
 * vectors and of eigenvectors; whether rounding leaves a pivot of a singular matrix above 0 is
 * chance. What is computed from them is compared, and so are the public functions named so. */
static bool ambiguous(const char *error)
{
    static const char *const ops[] = {"lazuli.svd ", "lazuli.eigh ", "cholesky "};
    static const char said[] = "LAZULI_CHECK: ";
    const char *op = strstr(error, said);
    for (size_t i = 0; op && i < sizeof ops / sizeof *ops; i++)
        if (strncmp(op + sizeof said - 1, ops[i], strlen(ops[i])) == 0)
            return true;
    return false;
}

static const char differs[] = "the devices may differ from here on\n";
static void look(const char *name, lz_status s)
{
    if (s != LZ_EINTERNAL && s != LZ_ECHECK)
        return;
    if (s == LZ_ECHECK && ambiguous(lz_last_error_text())) {
        if (trace) /* what it was to be written to is as it was, and may be read by later calls */
            fputs(differs, trace);
        return;
    }
    printf("BAD: sequence %u, %s: %s: %s\n", board->sequence, name, lz_status_name(s),
           lz_last_error_text());
    fflush(stdout);
    board->bad++;
}

static unsigned long long live(void)
{
    char report[4096] = "";
    (void)lz_live_report(report, sizeof report);
    return strtoull(report, NULL, 10);
}

static _Atomic int64_t fail_in; /* allocations until one fails; 0: none does */
static void random_call(void)
{
    uint32_t k = chance(25) ? pick(sizeof often / sizeof *often) + NCALLS : pick(NCALLS);
    const char *name = k < NCALLS ? calls[k].name : "often";
    for (uint32_t i = 0; k >= NCALLS && i < NCALLS; i++)
        if (calls[i].fn == often[k - NCALLS])
            name = calls[i].name;
    unsigned n = board->last[self].n++ % LAST;
    board->last[self].name[n] = name, board->last[self].depth[n] = depth;
    if (mode == FAILING && chance(8) && !over)
        fail_in = 1 + pick(200);
    wanting = nothing = false;
    lz_tensor *outer = result;
    result = NULL;
    lz_clear_error();
    (k < NCALLS ? calls[k].fn : often[k - NCALLS])();
    lz_status s = lz_last_error(NULL);
    look(name, s);
    if (getenv("SEQUENCES_LOG"))
        printf("%*s%s: %s, %llu live\n", 2 * depth, "", name, lz_status_name(s), live()),
            fflush(stdout);
    if (result) {
        lz_status of = lz_status_of(result);
        look(name, of);
        if (trace && depth == 0)
            fprintf(trace, "%u %s %d %d %d %" PRId64 "\n", board->sequence, name, of,
                    lz_dtype_of(result), lz_rank_of(result), lz_numel(result));
        board->tensors += of == LZ_OK;
    }
    put(result);
    for (int i = 0; i < ROOM && outs[DEPTH][i]; i++)
        put(outs[DEPTH][i]), outs[DEPTH][i] = NULL;
    result = outer;
    board->calls++;
}

/* ---- memory that fails ---- */

static bool fails(void)
{
    int64_t n = fail_in;
    return n > 0 && atomic_fetch_sub(&fail_in, 1) == 1;
}
static void *alloc_or_fail(size_t n, void *user)
{
    (void)user;
    return fails() ? NULL : malloc(n);
}
static void *realloc_or_fail(void *p, size_t n, void *user)
{
    (void)user;
    return fails() ? NULL : realloc(p, n);
}
static void free_it(void *p, void *user)
{
    (void)user;
    free(p);
}

/* ---- sequences ---- */

/* Those of the depth that the thread is in. */
static void end_objects(void)
{
#define X(type, free) keep_##type(NULL);
    OBJECTS(X)
#undef X
    lz_kv_cache_free(&kv_cache[DEPTH]);
    lz_params_free(&params);
    for (int i = 0; i < 16; i++)
        lz_array_free(&arrays[DEPTH][i / 8][i % 8]);
}

static void end_layers(void)
{
    linear_made = embedding_made = conv_made = norm_made = attention_made = rnn_made = false;
    lz_params_free(&weights);
}

static void end_thread(void)
{
    running = false;
    end_objects();
    end_layers();
    while (lz_name_scope_end() == LZ_OK || lz_autocast_end() == LZ_OK || lz_trace_end() == LZ_OK)
        ;
}

typedef struct work {
    unsigned sequence;
    int thread;
} work;
static void *sequence(void *arg)
{
    const work *w = arg;
    draws = (uint64_t)w->sequence * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)w->thread * 7919 + 1;
    self = w->thread, scopes[0] = scopes[1] = 0;
    running = true;
    pick(2);
    for (int i = 0; i < 2; i++) /* what escapes from one is in the other */
        while (lz_scope_begin() != LZ_OK)
            ; /* memory may fail */
    for (int i = 0; i < CALLS; i++)
        random_call();
    for (; scopes[0] >= -1; scopes[0]--)
        (void)lz_scope_end();
    end_thread();
    return NULL;
}

static void fill_places(void)
{
    static const lz_dtype dtypes[] = {LZ_F32, LZ_F32,  LZ_F32, LZ_I64, LZ_F32, LZ_BOOL,
                                      LZ_F32, LZ_BF16, LZ_I32, LZ_F64, LZ_C64, LZ_F16};
    (void)lz_scope_begin();
    for (int i = 0; i < PLACES; i++) {
        lz_tensor *t = lz_full(dtypes[i % 12], shapes[i % 8], 1);
        place[i] = lz_retain(i % 3 ? t : lz_mul_scalar(t, 2));
    }
    (void)lz_scope_end();
}

static void run(unsigned number, int threads)
{
    pthread_t id[THREADS];
    work w[THREADS];
    board->sequence = number;
    back_seed = number;
    unbalanced = over = false;
    fill_places();
    for (int i = 0; i < threads; i++)
        w[i] = (work){number, i};
    for (int i = 1; i < threads; i++)
        if (pthread_create(&id[i], NULL, sequence, &w[i]) != 0)
            _exit(3);
    (void)sequence(&w[0]);
    for (int i = 1; i < threads; i++)
        pthread_join(id[i], NULL);
    over = true, fail_in = 0;
    lz_set_log_callback(log_random, NULL);
    (void)lz_set_device(NULL);
    (void)lz_stop_trace();
    for (int i = 0; i < PLACES; i++)
        (void)lz_release(atomic_exchange(&place[i], NULL));
    (void)lz_mark_step(.wait = true);
    (void)lz_wait_device_ops();
    if (live() > 0 && !unbalanced) {
        char report[4096];
        (void)lz_live_report(report, sizeof report);
        printf("BAD: sequence %u leaves tensors: %s\n", number, report);
        fflush(stdout);
        board->bad++;
        exit(1); /* they would stay */
    }
    lz_clear_error();
    lz_scope_begin();
    if (lz_item(lz_sum(lz_full(LZ_F32, LZ_SHAPE(4), 2))) != 8) { /* and the library goes on */
        printf("BAD: after sequence %u: %s\n", number, lz_last_error_text());
        fflush(stdout);
        board->bad++;
    }
    lz_scope_end();
}

/* No word that calls may name a file by. */
static const char *trace_of(const char *device)
{
    return strcmp(device, "CPU") == 0 ? "calls-on-cpu" : "calls-on-ref";
}

/* Some sequences, in a process of its own. */
static void child(const char *device, int threads, unsigned first, unsigned n)
{
    struct rlimit cpu = {200, 200}, most = {(rlim_t)16 << 30, (rlim_t)16 << 30};
    (void)most;
    setrlimit(RLIMIT_CPU, &cpu);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    setrlimit(RLIMIT_AS, &most); /* what is asked for is not all there */
#endif
    setenv("PJRT_DEVICE", device, 1);
    if (mode == CHECKED && strcmp(device, "CPU") == 0)
        setenv("LAZULI_CHECK", "ref", 1);
    if (mode == FAILING)
        (void)lz_set_allocator(
            &(lz_allocator){sizeof(lz_allocator), alloc_or_fail, realloc_or_fail, free_it, NULL});
    if (mode == CHECKED)
        trace = fopen(trace_of(device), "w");
    lz_set_log_callback(log_random, NULL);
    for (unsigned i = 0; i < n; i++)
        run(first + i, threads);
    lz_set_log_callback(NULL, NULL);
    if (trace)
        fclose(trace);
    exit(0);
}

/* What the threads did last. */
static void report(int status, const char *device, int threads, unsigned first)
{
    printf("BAD: %s, %d threads, %s, sequence %u (of those from %u): status %#x, the last calls:\n",
           modes[mode], threads, device, board->sequence, first, status);
    for (int t = 0; t < THREADS; t++)
        for (unsigned k = board->last[t].n > LAST ? board->last[t].n - LAST : 0;
             k < board->last[t].n; k++)
            printf("  thread %d: %s%s\n", t, board->last[t].depth[k % LAST] ? "  in a call: " : "",
                   board->last[t].name[k % LAST]);
    printf("again: test/api/sequences.sh %s %d %u 1\n", modes[mode], threads, board->sequence);
}

static int wait_for(pid_t p)
{
    int status = 0;
    time_t start = time(NULL);
    while (waitpid(p, &status, WNOHANG) == 0) {
        if (time(NULL) - start > 150) {
            kill(p, SIGABRT);
            printf("BAD: hangs\n");
            sleep(2);
            kill(p, SIGKILL);
            waitpid(p, &status, 0);
            return status;
        }
        usleep(5000);
    }
    return status;
}

static int same_traces(unsigned first)
{
    char a[256], b[256];
    FILE *f = fopen(trace_of("CPU"), "r"), *g = fopen(trace_of("REF"), "r");
    int bad = !f || !g;
    if (bad)
        printf("BAD: checked, from sequence %u: no list of calls\n", first);
    while (!bad) {
        char *x = fgets(a, sizeof a, f), *y = fgets(b, sizeof b, g);
        if ((!x && !y) || (x && strcmp(x, differs) == 0))
            break;
        if (!x || !y || strcmp(a, b) != 0)
            printf("BAD: checked, from sequence %u: CPU %s REF %s", first, x ? a : "ends\n",
                   y ? b : "ends\n"),
                bad = 1;
    }
    if (f)
        fclose(f);
    if (g)
        fclose(g);
    return bad;
}

enum { AT_ONCE = 20 };
static int run_some(int how, int threads, unsigned first, unsigned n)
{
    int bad = 0;
    mode = how;
    for (unsigned k = 0; k < n; k += AT_ONCE) {
        unsigned some = n - k < AT_ONCE ? n - k : AT_ONCE;
        const char *const devices[] = {mode == CHECKED || (first + k) / AT_ONCE % 3 == 0 ? "CPU"
                                                                                         : "REF",
                                       mode == CHECKED ? "REF" : NULL};
        for (int d = 0; d < 2 && devices[d]; d++) {
            for (int t = 0; t < THREADS; t++)
                board->last[t].n = 0;
            fflush(stdout);
            pid_t p = fork();
            if (p == 0)
                child(devices[d], threads, first + k, some);
            int status = wait_for(p);
            if (status != 0 || board->bad > 0)
                report(status, devices[d], threads, first + k), bad++;
            board->bad = 0;
        }
        if (mode == CHECKED)
            bad += same_traces(first + k);
    }
    return bad;
}

int main(int argc, char **argv)
{
    const char *turn = getenv("LZ_TEST_SEED");
    unsigned seed = turn ? (unsigned)strtoul(turn, NULL, 10) % 1000000 : 0;
    unsigned whole = getenv("LZ_TEST_WHOLE") ? 100 : 1;
    int bad = 0;
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (board == MAP_FAILED)
        return 2;
    if (argc == 5) {
        int how = 0;
        while (how < MODES && strcmp(argv[1], modes[how]) != 0)
            how++;
        if (how == MODES || atoi(argv[2]) < 1 || atoi(argv[2]) > THREADS)
            return 2;
        bad = run_some(how, atoi(argv[2]), (unsigned)strtoul(argv[3], NULL, 10),
                       (unsigned)strtoul(argv[4], NULL, 10));
    } else {
        for (int t = 1; t <= THREADS; t *= 2)
            for (int how = PLAIN; how <= FAILING; how++)
                bad += run_some(how, t, seed * 100, 20 * whole);
        /* Always the same ones, but in the long test: a right answer of several that nobody has
         * seen yet is no reason to send a change away. */
        bad += run_some(CHECKED, 1, whole > 1 ? seed * 100 : 0, 20 * whole);
    }
    printf("%ld calls, %ld tensors\n", board->calls, board->tensors);
    printf("%ld passed, %d failed\n", board->calls / CALLS, bad);
    return bad != 0;
}
