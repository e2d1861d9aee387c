/* t_cpu.c - the CPU backend end to end: programs from plans and from functions, donation, the
 * kernel cache, errors, memory. */
#include "backends/backend.h"
#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/cpu_mem.h"
#include "base/alloc.h"
#include "base/config.h"
#include "base/thread.h"
#include "ir/eval/eval.h"
#include "lower/plan/plan.h"
#include "suite.h"
#include "unit/lower/kernels.h"
#include <glob.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

enum { R = 20, C = 30, N = R * C };

static const lz_backend *cpu(void)
{
    const lz_backend *b = lz_backend_get("cpu");
    ck_assert_ptr_nonnull(b);
    ck_assert_msg(b->init() == LZ_OK, "%s", lz_error_get()->message);
    return b;
}

#define OK(expr) ck_assert_msg((expr) == LZ_OK, "%s: %s", #expr, lz_error_get()->message)

/* ---- a plan made by hand: out0 = softmax(x * s + 0.5), out1 = x * c + 0.5 in place of x ---- */

static void step(lz_plan *p, uint32_t i, uint32_t kernel, const lz_bufref *bufs)
{
    const lz_kernel *k = p->kernels[kernel];
    p->steps[i] = (lz_step){.kernel = kernel, .nbuf = k->nbuf, .narg = k->narg, .name = "step"};
    p->steps[i].bufs = lz_arena_copy(&p->arena, bufs, k->nbuf * sizeof *bufs);
    p->steps[i].args = lz_arena_copy(&p->arena, k->args, k->narg * sizeof *k->args);
    p->steps[i].flops = p->steps[i].bytes = 1000;
}

static lz_buf plan_bytes(void)
{
    lz_plan *p = lz_calloc(1, sizeof *p);
    const uint64_t n = N * 4;
    p->nin = p->nout = 2;
    p->in_type = lz_arena_alloc(&p->arena, 2 * sizeof *p->in_type);
    p->out_type = lz_arena_alloc(&p->arena, 2 * sizeof *p->out_type);
    p->out_alias = lz_arena_alloc(&p->arena, 2 * sizeof *p->out_alias);
    p->in_type[0] = p->out_type[0] = p->out_type[1] = lz_type_get(LZ_F32, &(lz_shape){2, {R, C}});
    p->in_type[1] = lz_type_get(LZ_F32, &(lz_shape){1, {C}});
    p->out_alias[0] = -1;
    p->out_alias[1] = 0;
    p->temp_bytes = 64 + n;
    p->const_bytes = C * 4;
    float *consts = (float *)LZ_ALIGN_UP((uintptr_t)lz_arena_alloc(&p->arena, C * 4 + 63), 64);
    p->consts = consts;
    for (int j = 0; j < C; j++)
        consts[j] = (float)j / 3 - 2;
    p->nkernel = 2;
    p->kernels = lz_arena_alloc(&p->arena, 2 * sizeof(lz_kernel *));
    p->kernels[0] = k_make(k_scale, R, C);
    p->kernels[1] = k_make(k_softmax, R, C);
    p->nstep = 3;
    p->steps = lz_arena_alloc(&p->arena, 3 * sizeof *p->steps);
    step(p, 0, 0,
         (lz_bufref[]){{LZ_BUFREF_INPUT, 0, 0, n},
                       {LZ_BUFREF_INPUT, 1, 0, C * 4},
                       {LZ_BUFREF_TEMP, 0, 64, n}});
    step(p, 1, 1, (lz_bufref[]){{LZ_BUFREF_TEMP, 0, 64, n}, {LZ_BUFREF_OUTPUT, 0, 0, n}});
    step(p, 2, 0,
         (lz_bufref[]){{LZ_BUFREF_INPUT, 0, 0, n},
                       {LZ_BUFREF_CONST, 0, 0, C * 4},
                       {LZ_BUFREF_OUTPUT, 1, 0, n}});
    lz_buf b = {0};
    lz_plan_serialize(p, &b);
    lz_plan_free(p);
    return b;
}

static lz_exec *load(const lz_compile_options *o)
{
    lz_buf b = plan_bytes();
    lz_exec *x;
    OK(cpu()->deserialize(0, b.data, b.len, o, &x));
    lz_buf_free(&b);
    return x;
}

static lz_device_buffer *upload(const void *p, size_t n)
{
    lz_device_buffer *b;
    OK(cpu()->alloc(0, n, &b));
    OK(cpu()->copy_in(b, p, n));
    return b;
}

static void inputs(float *x, float *s)
{
    for (int i = 0; i < N; i++)
        x[i] = (float)((i * 7919) % 101) / 17 - 3;
    for (int j = 0; j < C; j++)
        s[j] = (float)(j % 5) - 1.5f;
}

static void check(const float *x, const float *s, const float *y, const float *z)
{
    for (int i = 0; i < R; i++) {
        double sum = 0;
        for (int j = 0; j < C; j++)
            sum += exp(x[i * C + j] * s[j] + 0.5);
        for (int j = 0; j < C; j++) {
            ck_assert_double_eq_tol(y[i * C + j], exp(x[i * C + j] * s[j] + 0.5) / sum, 1e-6);
            ck_assert_double_eq_tol(z[i * C + j], x[i * C + j] * ((float)j / 3 - 2) + 0.5f, 1e-5);
        }
    }
}

static void run_and_check(lz_exec *x, bool give)
{
    float xs[N], s[C], y[N], z[N];
    inputs(xs, s);
    lz_device_buffer *in[2] = {upload(xs, sizeof xs), upload(s, sizeof s)}, *out[2];
    lz_event *done;
    OK(cpu()->execute(x, 0, in, (bool[]){give, false}, false, out, &done));
    ck_assert((out[1] == in[0]) == give);
    OK(lz_event_wait(done));
    OK(cpu()->copy_out(out[0], y, sizeof y));
    OK(cpu()->copy_out(out[1], z, sizeof z));
    check(xs, s, y, z);
    if (!give) { /* the argument is as it was */
        OK(cpu()->copy_out(in[0], y, sizeof y));
        ck_assert(memcmp(y, xs, sizeof y) == 0);
    }
    for (int i = 0; i < 2; i++) {
        lz_device_buffer_release(in[i]);
        lz_device_buffer_release(out[i]);
    }
    lz_event_release(done);
}

START_TEST(plan_runs)
{
    OK(lz_config_set("LAZULI_EXEC", _i ? "loop" : NULL));
    lz_exec *x = load(NULL);
    lz_exec_info info;
    cpu()->exec_info(x, &info);
    ck_assert_uint_eq(info.kernels, 2);
    ck_assert_uint_eq(info.steps, 3);
    ck_assert_uint_eq(info.llvm_compiles, _i ? 0 : 2);
    ck_assert_uint_eq(info.alias_bytes, N * 4);
    ck_assert_uint_eq(info.argument_bytes, N * 4 + C * 4);
    ck_assert((info.code_bytes > 0) == !_i);
    run_and_check(x, false);
    run_and_check(x, true);
    lz_buf a = {0}, b = plan_bytes();
    OK(cpu()->serialize(x, &a));
    ck_assert_uint_eq(a.len, b.len);
    ck_assert(memcmp(a.data, b.data, a.len) == 0);
    cpu()->exec_free(x);
    cpu()->exec_free(NULL);
    lz_buf_free(&a);
    lz_buf_free(&b);
}
END_TEST

/* x -> x * c + 0.5 many times over, each step donating to the next, without waiting in between. */
START_TEST(steps_chain)
{
    enum { STEPS = 300 };
    lz_exec *x = load(NULL);
    float xs[N], s[C], want[N], got[N];
    inputs(xs, s);
    for (int i = 0; i < N; i++) {
        want[i] = xs[i];
        for (int k = 0; k < STEPS; k++)
            want[i] = fmaf(want[i], (float)(i % C) / 3 - 2, 0.5f);
    }
    lz_device_buffer *p = upload(xs, sizeof xs), *sb = upload(s, sizeof s);
    for (int k = 0; k < STEPS; k++) {
        lz_device_buffer *out[2];
        lz_event *done;
        OK(cpu()->execute(x, 0, (lz_device_buffer *[]){p, sb}, (bool[]){true, false}, false, out,
                          &done));
        ck_assert_ptr_eq(out[1], p);
        lz_device_buffer_release(p);
        lz_device_buffer_release(out[0]);
        lz_event_release(done);
        p = out[1];
    }
    OK(cpu()->copy_out(p, got, sizeof got));
    for (int i = 0; i < N; i++) /* overflows to infinity for some columns, alike */
        ck_assert_msg(want[i] == got[i] ||
                          fabsf(want[i] - got[i]) <= 1e-3f * fabsf(want[i]) + 1e-4f ||
                          (!isfinite(want[i]) && !isfinite(got[i])) || fabsf(want[i]) > 1e30f,
                      "%d: %g %g", i, want[i], got[i]);
    /* a step that is waited for allocates an event and a buffer, no more */
    uint64_t allocs = lz_alloc_count();
    for (int k = 0; k < 50; k++) {
        lz_device_buffer *out[2];
        lz_event *done;
        OK(cpu()->execute(x, 0, (lz_device_buffer *[]){p, sb}, (bool[]){true, false}, false, out,
                          &done));
        OK(lz_event_wait(done));
        lz_device_buffer_release(p);
        lz_device_buffer_release(out[0]);
        lz_event_release(done);
        p = out[1];
    }
    ck_assert_uint_le(lz_alloc_count() - allocs, 50 * 2);
    lz_device_buffer_release(p);
    lz_device_buffer_release(sb);
    cpu()->exec_free(x);
    OK(cpu()->wait_all(0));
    lz_mem_stats m;
    lz_mem_get_stats(0, &m);
    ck_assert_uint_le(m.used,
                      3072); /* the device keeps its temporaries: 64 + 2400 bytes, rounded */
}
END_TEST

/* ---- borrowed memory ---- */

static void count_release(void *user)
{
    ++*(int *)user;
}

START_TEST(borrowed_memory)
{
    static float xs[N + 1], s[C];
    float y[N], z[N];
    int released = 0;
    inputs(xs, s);
    lz_exec *x = load(NULL);
    lz_device_buffer *in[2], *out[2];
    lz_event *done;
    OK(cpu()->wrap(0, xs, N * 4, count_release, &released, &in[0]));
    OK(cpu()->wrap(0, s, sizeof s, NULL, NULL, &in[1]));
    OK(cpu()->execute(x, 0, in, (bool[]){true, true}, false, out,
                      &done)); /* is not ours to give away */
    ck_assert_ptr_ne(out[1], in[0]);
    lz_device_buffer_release(in[0]);
    lz_device_buffer_release(in[1]);
    OK(cpu()->copy_out(out[0], y, sizeof y));
    OK(cpu()->copy_out(out[1], z, sizeof z));
    OK(lz_event_wait(done));
    ck_assert_int_eq(released, 1);
    float again[N], s2[C];
    inputs(again, s2);
    ck_assert(memcmp(xs, again, sizeof again) == 0);
    check(again, s2, y, z);
    lz_device_buffer_release(out[0]);
    lz_device_buffer_release(out[1]);
    lz_event_release(done);
    /* an address that is not a multiple of the element size */
    lz_device_buffer *odd;
    OK(cpu()->wrap(0, (char *)xs + 2, N * 4, NULL, NULL, &odd));
    ck_assert_int_eq(
        cpu()->execute(x, 0, (lz_device_buffer *[]){odd, odd}, NULL, false, out, &done), LZ_EINVAL);
    lz_device_buffer_release(odd);
    cpu()->exec_free(x);
}
END_TEST

START_TEST(bad_calls)
{
    lz_exec *x = load(NULL);
    float xs[N], s[C];
    inputs(xs, s);
    lz_device_buffer *a = upload(xs, sizeof xs), *b = upload(s, sizeof s), *out[2];
    lz_event *done;
    ck_assert_int_eq(cpu()->execute(x, 0, (lz_device_buffer *[]){a, NULL}, NULL, false, out, &done),
                     LZ_ENULL);
    ck_assert_int_eq(cpu()->execute(x, 0, (lz_device_buffer *[]){b, b}, NULL, false, out, &done),
                     LZ_ESHAPE);
    ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "f32[20,30]"));
    ck_assert_int_eq(cpu()->execute(x, 5, (lz_device_buffer *[]){a, b}, NULL, false, out, &done),
                     LZ_ENOENT);
    b->device = 3;
    ck_assert_int_eq(cpu()->execute(x, 0, (lz_device_buffer *[]){a, b}, NULL, false, out, &done),
                     LZ_EINVAL);
    b->device = 0;
    ck_assert_int_eq(cpu()->copy_in(b, xs, sizeof xs), LZ_ERANGE);
    ck_assert_int_eq(cpu()->copy_out(b, xs, sizeof xs), LZ_ERANGE);
    ck_assert_int_eq(cpu()->alloc(-1, 4, &out[0]), LZ_ENOENT);
    ck_assert_int_eq(cpu()->wrap(0, NULL, 4, NULL, NULL, &out[0]), LZ_ENULL);
    lz_exec *none;
    ck_assert_int_eq(cpu()->deserialize(0, "nonsense", 8, NULL, &none), LZ_ECORRUPT);
    ck_assert_ptr_null(none);
    cpu()->exec_free(x);
    lz_device_buffer_release(a);
    lz_device_buffer_release(b);
}
END_TEST

START_TEST(errors_travel)
{
    lz_exec *x = load(NULL);
    float xs[N], s[C];
    inputs(xs, s);
    lz_device_buffer *in[2] = {upload(xs, sizeof xs), upload(s, sizeof s)}, *out[2], *next[2];
    lz_event *done, *done2;
    lz_event *content = lz_event_new();
    lz_event_retain(content);
    in[1]->ready = content; /* somebody fills it later */
    OK(cpu()->execute(x, 0, in, (bool[]){true, false}, false, out, &done));
    ck_assert(!lz_event_done(done));
    OK(cpu()->execute(x, 0, (lz_device_buffer *[]){out[0], in[1]}, NULL, false, next, &done2));
    lz_error err = {.status = LZ_EIO};
    strcpy(err.message, "the file ended");
    lz_event_complete(content, &err);
    ck_assert_int_eq(lz_event_wait(done), LZ_EIO);
    lz_error_clear();
    ck_assert_int_eq(cpu()->copy_out(next[0], xs, sizeof xs), LZ_EIO);
    ck_assert_str_eq(lz_error_get()->message, "the file ended");
    for (int i = 0; i < 2; i++) {
        lz_device_buffer_release(in[i]);
        lz_device_buffer_release(out[i]);
        lz_device_buffer_release(next[i]);
    }
    lz_event_release(content);
    lz_event_release(done);
    lz_event_release(done2);
    run_and_check(x, true); /* the device goes on */
    cpu()->exec_free(x);
}
END_TEST

START_TEST(memory_failures)
{
    lz_exec *x = load(NULL);
    run_and_check(x, false);
    float xs[N], s[C];
    inputs(xs, s);
    lz_device_buffer *in[2] = {upload(xs, sizeof xs), upload(s, sizeof s)}, *out[2];
    lz_event *done;
    OK(cpu()->wait_all(0));
    lz_mem_stats before, after;
    lz_mem_trim();
    lz_mem_get_stats(0, &before);
    for (int64_t n = 1;; n++) {
        int64_t live = lz_alloc_live_bytes_hint();
        lz_alloc_fail_at(n, true);
        lz_status st = cpu()->execute(x, 0, in, NULL, false, out, &done);
        lz_status st2 = st == LZ_OK ? lz_event_wait(done) : LZ_OK;
        lz_alloc_fail_at(0, false);
        if (st == LZ_OK) {
            lz_device_buffer_release(out[0]);
            lz_device_buffer_release(out[1]);
            lz_event_release(done);
            if (st2 == LZ_OK)
                break;
            st = st2;
        }
        ck_assert(st == LZ_EMEM || st == LZ_EDEVMEM);
        OK(cpu()->wait_all(0));
        lz_mem_trim();
        lz_mem_get_stats(0, &after);
        ck_assert_uint_eq(after.used, before.used);
        ck_assert_int_le(lz_alloc_live_bytes_hint(), live + 3); /* a queue's item, a spare job */
        ck_assert_int_lt(n, 50);
    }
    lz_device_buffer_release(in[0]);
    lz_device_buffer_release(in[1]);
    cpu()->exec_free(x);
    /* a device with no room for the results says so with numbers */
    OK(lz_config_set("LAZULI_DEVICE_MEMORY_MB", "1"));
    lz_device_buffer *big;
    ck_assert_int_eq(cpu()->alloc(0, 2 << 20, &big), LZ_EDEVMEM);
    lz_device_info info;
    OK(cpu()->device_info(0, &info));
    ck_assert_uint_eq(info.memory_limit, 1 << 20);
    ck_assert_ptr_nonnull(strstr(info.kind, "cpu: "));
    ck_assert_int_ge(info.threads, 1);
}
END_TEST

/* ---- the kernel cache ---- */

START_TEST(kernels_are_compiled_once)
{
    char dir[] = "/tmp/lazuli-t-cpu-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(dir));
    lz_cache *cache;
    lz_target target;
    OK(lz_target_host(&target));
    OK(lz_cache_open(&(lz_cache_options){.path = dir, .build_id = "test", .isa = target.features},
                     &cache));
    lz_compile_options o = {.cache = cache};
    lz_kernels_stats s;
    lz_exec_info info;
    lz_exec *a = load(&o), *b = load(&o);
    cpu()->exec_info(b, &info);
    ck_assert_uint_eq(info.kernel_hits, 2);
    ck_assert_uint_eq(info.llvm_compiles, 0);
    cpu()->exec_free(a);
    run_and_check(b, true);
    cpu()->exec_free(b);
    lz_kernels_get_stats(&s);
    ck_assert_uint_eq(s.compiles, 2);
    ck_assert_uint_eq(s.memory_hits, 2);
    ck_assert_uint_eq(s.waiting, 2);
    lz_kernels_trim();
    lz_kernels_get_stats(&s);
    ck_assert_uint_eq(s.live, 0);
    uint64_t llvm = lz_llvm_compile_count();
    a = load(&o); /* from disk */
    run_and_check(a, false);
    cpu()->exec_info(a, &info);
    ck_assert_uint_eq(info.kernel_hits, 2);
    ck_assert_uint_eq(lz_llvm_compile_count(), llvm);
    lz_kernels_get_stats(&s);
    ck_assert_uint_eq(s.disk_hits, 2);
    ck_assert_uint_eq(s.misses, 4);
    cpu()->exec_free(a);
    lz_kernels_trim();
    /* an entry whose value is no object is a miss */
    lz_kernel *k = k_make(k_scale, R, C);
    lz_buf key = {0};
    lz_kernels_key(k, &target, &key);
    OK(lz_cache_clear(cache, NULL));
    lz_cache_put_bound(cache, LZ_CACHE_KERNEL, key.data, key.len, target.features, "garbage!", 8);
    a = load(&o);
    run_and_check(a, false);
    cpu()->exec_info(a, &info);
    ck_assert_uint_eq(info.llvm_compiles, 2);
    cpu()->exec_free(a);
    lz_buf_free(&key);
    lz_kernel_free(k);
    lz_cache_clear(cache, NULL);
    lz_cache_close(cache);
    char cmd[128];
    snprintf(cmd, sizeof cmd, "rm -r %s", dir);
    ck_assert_int_eq(system(cmd), 0);
}
END_TEST

static void *load_thread(void *arg)
{
    (void)arg;
    for (int i = 0; i < 5; i++) {
        lz_exec *x = load(NULL);
        run_and_check(x, i & 1);
        cpu()->exec_free(x);
    }
    return NULL;
}

START_TEST(many_threads)
{
    pthread_t t[4];
    lz_kernels_stats s;
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, load_thread, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    lz_kernels_get_stats(&s);
    ck_assert_uint_eq(s.compiles, 2);
}
END_TEST

/* ---- from functions ---- */

/* relu(x @ w + b), and the sum of its columns */
static lz_func *layer(int64_t m, int64_t k, int64_t n)
{
    lz_func *f = lz_func_new("layer");
    const lz_type *tx = lz_type_get(LZ_F32, &(lz_shape){2, {m, k}}),
                  *tw = lz_type_get(LZ_F32, &(lz_shape){2, {k, n}}),
                  *tb = lz_type_get(LZ_F32, &(lz_shape){1, {n}});
    lz_val x = lz_build_param(f, tx), w = lz_build_param(f, tw), b = lz_build_param(f, tb);
    lz_attr_dot d;
    memset(&d, 0, sizeof d);
    d.kind = LZ_ATTR_dot;
    d.lhs_contracting_dimensions = lz_ints_make(1, (int64_t[]){1});
    d.rhs_contracting_dimensions = lz_ints_make(1, (int64_t[]){0});
    lz_val y = lz_build(f, LZ_OP_DOT_GENERAL, (const lz_attr *)&d, (lz_val[]){x, w}, 2);
    lz_shape out = {2, {m, n}};
    lz_ints one = lz_ints_make(1, (int64_t[]){1}), zero = lz_ints_make(1, (int64_t[]){0});
    y = lz_build_ew2(f, LZ_OP_ADD, y, lz_build_broadcast(f, b, &one, &out));
    y = lz_build_ew2(f, LZ_OP_MAXIMUM, y, lz_build_splat(f, lz_val_type(f, y), 0));
    lz_val s = lz_build_reduce(f, LZ_OP_ADD, y, lz_build_scalar(f, LZ_F32, 0), &zero);
    OK(lz_func_set_results(f, (lz_val[]){y, s}, 2));
    OK(f->status);
    return f;
}

static void fill(lz_literal *l)
{
    static uint32_t x = 7;
    for (int64_t i = 0; i < l->type->nelem; i++) {
        x = x * 1664525 + 1013904223;
        ((float *)l->data)[i] = (float)(int32_t)x / 2147483648.0f;
    }
}

START_TEST(function_runs)
{
    static const int64_t dims[][3] = {{1, 1, 1},       {5, 9, 18}, {64, 100, 33},
                                      {128, 300, 257}, {0, 4, 5},  {3, 0, 5}};
    OK(lz_config_set("LAZULI_EXEC", _i % 2 ? "loop" : NULL));
    const int64_t *q = dims[_i / 2];
    if (_i == 7)
        return; /* large, and slow in the loop executor */
    lz_func *f = layer(q[0], q[1], q[2]);
    lz_literal *args[3], *want[2];
    lz_device_buffer *in[3], *out[2];
    for (int i = 0; i < 3; i++) {
        args[i] = lz_literal_new(f->insts[i].sig->result[0]);
        fill(args[i]);
        in[i] = upload(args[i]->data, args[i]->nbytes);
    }
    OK(lz_ref_run(f, args, want));
    lz_exec *x;
    lz_event *done;
    OK(cpu()->compile(0, f, &(lz_compile_options){0}, &x));
    for (int round = 0; round < 3; round++) {
        OK(cpu()->execute(x, 0, in, NULL, false, out, &done));
        for (int i = 0; i < 2; i++) {
            int64_t n = want[i]->type->nelem;
            float *got = malloc((size_t)n * 4 + 4);
            OK(cpu()->copy_out(out[i], got, want[i]->nbytes));
            for (int64_t j = 0; j < n; j++)
                ck_assert_double_eq_tol(got[j], ((float *)want[i]->data)[j],
                                        1e-4 * (1 + (double)(q[1] + i * q[0])));
            free(got);
            lz_device_buffer_release(out[i]);
        }
        lz_event_release(done);
    }
    for (int i = 0; i < 3; i++) {
        lz_device_buffer_release(in[i]);
        lz_literal_release(args[i]);
    }
    lz_literal_release(want[0]);
    lz_literal_release(want[1]);
    cpu()->exec_free(x);
    lz_func_free(f);
}
END_TEST

START_TEST(several_devices)
{
    OK(lz_config_set("CPU_NUM_DEVICES", "3"));
    ck_assert_int_eq(cpu()->device_count(), 3);
    lz_buf b = plan_bytes();
    float xs[N], s[C], y[N], z[N];
    inputs(xs, s);
    lz_exec *x[3];
    lz_device_buffer *in[3][2], *out[3][2];
    lz_event *done[3];
    for (int d = 0; d < 3; d++) {
        OK(cpu()->deserialize(d, b.data, b.len, NULL, &x[d]));
        OK(cpu()->alloc(d, sizeof xs, &in[d][0]));
        OK(cpu()->alloc(d, sizeof s, &in[d][1]));
        OK(cpu()->copy_in(in[d][0], xs, sizeof xs));
        OK(cpu()->copy_in(in[d][1], s, sizeof s));
    }
    for (int d = 0; d < 3; d++)
        OK(cpu()->execute(x[d], d, in[d], NULL, false, out[d], &done[d]));
    lz_event *none;
    ck_assert_int_eq(cpu()->execute(x[1], 1, in[0], NULL, false, out[0], &none), LZ_EINVAL);
    for (int d = 0; d < 3; d++) {
        lz_device_info info;
        OK(cpu()->wait_all(d));
        ck_assert(lz_event_done(done[d]));
        OK(cpu()->copy_out(out[d][0], y, sizeof y));
        OK(cpu()->copy_out(out[d][1], z, sizeof z));
        check(xs, s, y, z);
        OK(cpu()->device_info(d, &info));
        ck_assert_uint_ge(info.memory_used, 4 * sizeof xs);
        ck_assert_uint_le(info.memory_used, 5 * sizeof xs);
        for (int i = 0; i < 2; i++) {
            lz_device_buffer_release(in[d][i]);
            lz_device_buffer_release(out[d][i]);
        }
        lz_event_release(done[d]);
        cpu()->exec_free(x[d]);
    }
    lz_buf_free(&b);
}
END_TEST

static long file_bytes(const char *dir, const char *pattern)
{
    char path[256];
    glob_t g;
    long n = -1;
    snprintf(path, sizeof path, "%s/%s", dir, pattern);
    if (glob(path, 0, NULL, &g) == 0) {
        FILE *f = fopen(g.gl_pathv[0], "r");
        fseek(f, 0, SEEK_END);
        n = ftell(f);
        fclose(f);
    }
    globfree(&g);
    return n;
}

START_TEST(dumps)
{
    char dir[] = "/tmp/lazuli-t-cpu-XXXXXX", cmd[128];
    ck_assert_ptr_nonnull(mkdtemp(dir));
    OK(lz_config_set("LAZULI_DUMP_DIR", dir));
    OK(lz_config_set("LAZULI_DUMP", "key,timing,llvm,asm"));
    lz_exec *x = load(&(lz_compile_options){.dump_name = "my program"});
    cpu()->exec_free(x);
    ck_assert_int_gt(file_bytes(dir, "*key.txt"), 50);
    ck_assert_int_gt(file_bytes(dir, "*timing.tsv"), 50);
    ck_assert_int_gt(file_bytes(dir, "*.ll"), 500);
    ck_assert_int_gt(file_bytes(dir, "*.s"), 500);
    OK(lz_config_set("LAZULI_DUMP_DIR", "/proc/nowhere")); /* a warning, nothing more */
    x = load(NULL);
    cpu()->exec_free(x);
    snprintf(cmd, sizeof cmd, "rm -r %s", dir);
    ck_assert_int_eq(system(cmd), 0);
}
END_TEST

START_TEST(a_forked_child_is_told)
{
    lz_exec *x = load(NULL);
    run_and_check(x, false);
    lz_fork_arm();
    float xs[N], s[C];
    inputs(xs, s);
    lz_device_buffer *in[2] = {upload(xs, sizeof xs), upload(s, sizeof s)}, *out[2];
    lz_event *done;
    pid_t pid = fork();
    if (pid == 0)
        _exit(cpu()->execute(x, 0, in, NULL, false, out, &done) == LZ_EFORK &&
                      cpu()->wait_all(0) == LZ_EFORK
                  ? 0
                  : 1);
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    lz_device_buffer_release(in[0]);
    lz_device_buffer_release(in[1]);
    cpu()->exec_free(x);
}
END_TEST

START_TEST(registry)
{
    ck_assert_ptr_eq(lz_backend_at(0), lz_backend_get("CPU"));
    ck_assert_ptr_null(lz_backend_get("TPU"));
    ck_assert_ptr_null(lz_backend_get(NULL));
    ck_assert_ptr_null(lz_backend_at(1000));
    ck_assert_int_eq(lz_backend_index(cpu()), 0);
    ck_assert_int_ge(cpu()->device_count(), 1);
    lz_buf a = {0}, b = {0};
    cpu()->key(0, &a);
    cpu()->key(0, &b);
    ck_assert_uint_gt(a.len, 10);
    ck_assert_uint_eq(a.len, b.len);
    ck_assert(memcmp(a.data, b.data, a.len) == 0);
    lz_buf_free(&a);
    lz_buf_free(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cpu");
    TCase *t = tcase_create("plan");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, registry);
    tcase_add_loop_test(t, plan_runs, 0, 2);
    tcase_add_test(t, steps_chain);
    tcase_add_test(t, borrowed_memory);
    tcase_add_test(t, bad_calls);
    tcase_add_test(t, errors_travel);
    tcase_add_test(t, memory_failures);
    tcase_add_test(t, kernels_are_compiled_once);
    tcase_add_test(t, many_threads);
    tcase_add_test(t, several_devices);
    tcase_add_test(t, dumps);
    tcase_add_test(t, a_forked_child_is_told);
    suite_add_tcase(s, t);
    t = tcase_create("function");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, function_runs, 0, 12);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
