/* t_cuda_peers.c - copies between CUDA devices through the device interface, on the library that
 * stands in for the driver: bytes, order with what is computed on either side, memory, the driver's
 * refusals, devices that are lost. Each test has a process of its own. */
#include "cuda_util.h"
#include "base/thread.h"

enum { N = 3000 }; /* floats of a value */

static lz_status across(int device, lz_device_buffer *src, lz_device_buffer **out)
{
    LZ_TRY(be->alloc(device, src->nbytes, out));
    lz_status s = be->copy_across(*out, src, src->nbytes);
    if (s != LZ_OK) {
        lz_device_buffer_release(*out);
        *out = NULL;
    }
    return s;
}

static lz_device_buffer *value(int device, const void *data, size_t nbytes)
{
    lz_device_buffer *b = NULL;
    OK(be->alloc(device, nbytes, &b));
    OK(be->copy_in(b, data, nbytes));
    return b;
}

static void fill(float *v, int n, int seed)
{
    for (int i = 0; i < n; i++)
        v[i] = (float)((i * 7 + seed * 13) % 101 - 50);
}

static void expect(lz_device_buffer *b, const float *v, int n, float by)
{
    float *got = malloc((size_t)n * 4);
    OK(be->copy_out(b, got, (size_t)n * 4));
    for (int i = 0; i < n; i++)
        ck_assert_msg(got[i] == v[i] * by, "element %d: %g, not %g", i, (double)got[i],
                      (double)(v[i] * by));
    free(got);
}

/* v <- v * 3 on its device, without waiting. */
static void step(lz_exec *x, lz_device_buffer **v, bool donate)
{
    lz_device_buffer *out = NULL;
    lz_event *done;
    OK(be->execute(x, (int)(*v)->device, v, &donate, false, &out, &done));
    lz_event_release(done);
    lz_device_buffer_release(*v);
    *v = out;
}

/* One program per device; the argument's memory may become the result's. */
typedef struct programs {
    lz_func *f;
    lz_exec *x[2];
} programs;
static void compile(programs *p)
{
    bool donate = true;
    p->f = triple(N);
    for (int d = 0; d < 2; d++)
        OK(be->compile(d, p->f, &(lz_compile_options){.donate = &donate}, &p->x[d]));
}
static void discard(programs *p)
{
    for (int d = 0; d < 2; d++) {
        be->exec_free(p->x[d]);
        OK(be->wait_all(d));
    }
    lz_func_free(p->f);
}

/* ---- bytes ---- */

/* There and back, any size; nothing of it goes through the host. */
START_TEST(there_and_back)
{
    static const size_t sizes[] = {0, 1, 3, 511, 513, (4 << 20) - 1, (21 << 20) + 5};
    lz_mock_stats a, b;
    use_mock();
    OK(be->init());
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = sizes[i];
        char *from = malloc(n + 1), *to = malloc(n + 1);
        uint32_t r = 4711 + (uint32_t)i;
        for (size_t k = 0; k < n; k++)
            from[k] = (char)((r = r * 1664525 + 1013904223) >> 24);
        lz_device_buffer *v[3] = {value(0, from, n)};
        mock.stats(&a);
        OK(across(1, v[0], &v[1]));
        OK(across(0, v[1], &v[2]));
        OK(lz_event_wait(v[2]->ready));
        mock.stats(&b);
        ck_assert_uint_eq(b.bytes_in, a.bytes_in);
        ck_assert_uint_eq(b.bytes_out, a.bytes_out);
        ck_assert_uint_eq(b.bytes_across - a.bytes_across, 2 * n);
        ck_assert_uint_eq(b.bytes_direct - a.bytes_direct, 2 * n);
        for (int k = 1; k < 3; k++) {
            memset(to, 0x5A, n + 1);
            OK(be->copy_out(v[k], to, n));
            ck_assert_int_eq(memcmp(from, to, n), 0);
        }
        ck_assert_int_eq(be->copy_across(v[1], v[0], n + 1), LZ_ERANGE);
        for (int k = 0; k < 3; k++)
            lz_device_buffer_release(v[k]);
        free(from);
        free(to);
    }
}
END_TEST

START_TEST(on_one_device)
{
    use_mock();
    float v[N];
    lz_mock_stats s;
    fill(v, N, 1);
    lz_device_buffer *a = value(1, v, sizeof v), *b;
    OK(across(1, a, &b));
    lz_device_buffer_release(a);
    expect(b, v, N, 1);
    mock.stats(&s);
    ck_assert_uint_eq(s.bytes_across, 0);
    lz_device_buffer_release(b);
}
END_TEST

/* Devices that cannot use each other's memory: the driver carries it. Access that somebody gave
 * before, or that there is no more of, is no error. */
START_TEST(ways)
{
    static const struct {
        const char *call;
        int code;
    } cases[] = {{NULL, 0},
                 {"cuCtxEnablePeerAccess", 704},
                 {"cuCtxEnablePeerAccess", 711},
                 {"cuCtxEnablePeerAccess", 217}};
    use_mock();
    OK(be->init());
    if (!cases[_i].call)
        mock.reachable(0);
    mock.fail_at(cases[_i].call, cases[_i].call ? 1 : 0, cases[_i].code);
    float v[N];
    lz_mock_stats s;
    fill(v, N, 2);
    for (int i = 0; i < 2; i++) {
        lz_device_buffer *a = value(0, v, sizeof v), *b;
        OK(across(1, a, &b));
        expect(b, v, N, 1);
        lz_device_buffer_release(a);
        lz_device_buffer_release(b);
    }
    mock.stats(&s);
    ck_assert_uint_eq(s.bytes_across, 2 * sizeof v);
    /* access that the stand-in was made to say it had given before, it has not given */
    ck_assert_uint_eq(s.bytes_direct, 0);
    ck_assert_uint_eq(s.failed, cases[_i].call != NULL);
}
END_TEST

START_TEST(turned_off)
{
    use_mock();
    float v[4] = {1, 2, 3, 4};
    lz_device_buffer *a = value(0, v, sizeof v), *b;
    OK(lz_config_set("LAZULI_CUDA_PEERS", "off"));
    ck_assert_int_eq(across(1, a, &b), LZ_EUNSUPPORTED);
    OK(lz_config_set("LAZULI_CUDA_PEERS", "on"));
    OK(across(1, a, &b));
    expect(b, v, 4, 1);
    lz_device_buffer_release(a);
    lz_device_buffer_release(b);
}
END_TEST

/* ---- order ---- */

/* Steps on either device, each on what came from the other, and uploads into memory that is given
 * back at once; nobody waits until the end. */
START_TEST(steps_and_copies)
{
    enum { ROUNDS = 7 };
    use_mock();
    programs p;
    float data[N], by = 1;
    fill(data, N, 3);
    compile(&p);
    lz_device_buffer *v = value(0, data, sizeof data);
    for (int r = 0; r < ROUNDS; r++) {
        lz_device_buffer *next, *other;
        step(p.x[r % 2], &v, r % 3 == 0);
        OK(across(!(r % 2), v, &next));
        lz_device_buffer_release(v);
        v = next;
        by *= 3;
        for (int d = 0; d < 2; d++) {
            other = value(d, data, sizeof data);
            lz_device_buffer_release(other);
        }
    }
    expect(v, data, N, by);
    lz_device_buffer_release(v);
    discard(&p);
}
END_TEST

/* Neither what copies nor what computes waits for anything: all of it is asked for before the first
 * piece may end. */
START_TEST(nobody_waits)
{
    use_mock();
    programs p;
    float data[N];
    fill(data, N, 17);
    compile(&p);
    lz_device_buffer *v[5] = {value(0, data, sizeof data)};
    mock.hold(1);
    for (int i = 0; i < 4; i++) {
        if (i % 2) {
            OK(across(!v[i]->device, v[i], &v[i + 1]));
        } else {
            v[i + 1] = v[i];
            lz_device_buffer_retain(v[i]);
            step(p.x[v[i]->device], &v[i + 1], false);
        }
        ck_assert(!lz_event_done(v[i + 1]->ready));
    }
    mock.hold(0);
    for (int i = 0; i < 5; i++) {
        expect(v[i], data, N, i < 1 ? 1 : i < 3 ? 3 : 9);
        lz_device_buffer_release(v[i]);
    }
    discard(&p);
}
END_TEST

/* What is copied stays as it was: written over by the step that it is given away to, or released
 * and handed out again. */
START_TEST(source_goes_at_once)
{
    use_mock();
    programs p;
    float data[N], noise[N];
    fill(data, N, 4);
    fill(noise, N, 5);
    compile(&p);
    for (int i = 0; i < 6; i++) {
        lz_device_buffer *v = value(0, data, sizeof data), *copy, *other;
        step(p.x[0], &v, false);
        const void *at = v->data;
        OK(across(1, v, &copy));
        if (i % 2) {
            step(p.x[0], &v, true);
            ck_assert_ptr_eq(v->data, at);
            expect(v, data, N, 9);
            lz_device_buffer_release(v);
        } else {
            lz_device_buffer_release(v);
            other = value(0, noise, sizeof noise);
            step(p.x[0], &other, false);
            lz_device_buffer_release(other);
        }
        expect(copy, data, N, 3);
        lz_device_buffer_release(copy);
    }
    discard(&p);
}
END_TEST

/* The target's memory is what an upload still goes to; nobody wants the copy; its place goes on to
 * others. */
START_TEST(target_goes_at_once)
{
    use_mock();
    OK(be->init());
    float data[N], noise[N];
    fill(data, N, 6);
    fill(noise, N, 7);
    for (int i = 0; i < 4; i++) {
        lz_device_buffer *v = value(0, data, sizeof data), *b = value(1, noise, sizeof noise),
                         *copy;
        lz_device_buffer_release(b);
        OK(across(1, v, &copy));
        if (i % 2)
            expect(copy, data, N, 1);
        lz_device_buffer_release(copy);
        b = value(1, noise, sizeof noise);
        OK(be->wait_all(0));
        OK(be->wait_all(1));
        expect(b, noise, N, 1);
        lz_device_buffer_release(b);
        lz_device_buffer_release(v);
    }
    lz_device_info info[2];
    for (int d = 0; d < 2; d++) {
        OK(be->device_info(d, &info[d]));
        ck_assert_uint_eq(info[d].memory_used, 0);
    }
}
END_TEST

/* Waiting for a device waits for what goes there, and for what leaves it. */
START_TEST(waits_for_copies)
{
    use_mock();
    float data[N];
    fill(data, N, 8);
    lz_device_buffer *v = value(0, data, sizeof data), *copy;
    OK(across(1, v, &copy));
    OK(be->wait_all(_i));
    ck_assert(lz_event_done(copy->ready));
    lz_device_buffer_release(v);
    lz_device_buffer_release(copy);
}
END_TEST

/* Values wander at random, some are stepped, given away, copied twice; each knows what it has to
 * be. */
static void wander(const programs *p, const float *data, uint32_t r, int rounds)
{
    enum { VALUES = 5 };
    lz_device_buffer *v[VALUES];
    float by[VALUES];
    for (int i = 0; i < VALUES; i++) {
        v[i] = value(i % 2, data, N * 4);
        by[i] = 1;
    }
    for (int k = 0; k < rounds; k++) {
        r = r * 1664525 + 1013904223;
        uint32_t i = (r >> 8) % VALUES, what = (r >> 16) % 8;
        if (by[i] > 1e5f || what == 7) {
            expect(v[i], data, N, by[i]);
            lz_device_buffer_release(v[i]);
            v[i] = value((r >> 24) % 2, data, N * 4);
            by[i] = 1;
        } else if (what < 3) {
            step(p->x[v[i]->device], &v[i], what == 0);
            by[i] *= 3;
        } else { /* in the place of another, or its own */
            uint32_t to = (r >> 20) % VALUES;
            lz_device_buffer *copy;
            OK(across(!v[i]->device, v[i], &copy));
            lz_device_buffer_release(v[to]);
            v[to] = copy;
            by[to] = by[i];
        }
    }
    for (int i = 0; i < VALUES; i++) {
        expect(v[i], data, N, by[i]);
        lz_device_buffer_release(v[i]);
    }
}

START_TEST(values_wander)
{
    use_mock();
    programs p;
    float data[N];
    fill(data, N, 9);
    compile(&p);
    wander(&p, data, (uint32_t)_i * 7919 + 1, lz_test_small() ? 150 : 600);
    discard(&p);
}
END_TEST

typedef struct wanderer {
    const programs *p;
    const float *data;
    uint32_t seed;
} wanderer;
static void *wander_thread(void *arg)
{
    const wanderer *w = arg;
    wander(w->p, w->data, w->seed, lz_test_small() ? 60 : 250);
    return NULL;
}

START_TEST(threads_wander)
{
    enum { THREADS = 4 };
    use_mock();
    programs p;
    float data[N];
    pthread_t t[THREADS];
    wanderer w[THREADS];
    fill(data, N, 10);
    compile(&p);
    for (int i = 0; i < THREADS; i++) {
        w[i] = (wanderer){&p, data, (uint32_t)i * 31 + 5};
        ck_assert_int_eq(pthread_create(&t[i], NULL, wander_thread, &w[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    discard(&p);
}
END_TEST

/* ---- failures ---- */

/* A step, a copy, a step on what came. */
static lz_status travel(const programs *p, const float *data, float *out)
{
    lz_device_buffer *v[4] = {NULL};
    lz_event *done[2] = {NULL};
    bool given = false;
    lz_status s = be->alloc(0, N * 4, &v[0]);
    if (s == LZ_OK)
        s = be->copy_in(v[0], data, N * 4);
    if (s == LZ_OK)
        s = be->execute(p->x[0], 0, &v[0], &given, false, &v[1], &done[0]);
    if (s == LZ_OK)
        s = across(1, v[1], &v[2]);
    if (s == LZ_OK)
        s = be->execute(p->x[1], 1, &v[2], &given, false, &v[3], &done[1]);
    if (s == LZ_OK)
        s = be->copy_out(v[3], out, N * 4);
    for (int i = 0; i < 4; i++)
        lz_device_buffer_release(v[i]);
    lz_event_release(done[0]);
    lz_event_release(done[1]);
    lz_error err = *lz_error_get();
    for (int d = 0; d < 2; d++)
        (void)be->wait_all(d);
    lz_error_set(&err);
    return s;
}

static void arrives(const programs *p, const float *data)
{
    float out[N];
    OK(travel(p, data, out));
    for (int i = 0; i < N; i++)
        ck_assert_float_eq(out[i], data[i] * 9);
}

/* The n-th call fails in a way that can be gone on from, also the first time, when devices are made
 * to reach each other: a status, and the next try works. */
START_TEST(calls_fail)
{
    static const int codes[] = {1, 2, 801};
    use_mock();
    programs p;
    float data[N], out[N];
    lz_mock_stats a, b;
    fill(data, N, 11);
    compile(&p);
    mock.stats(&a);
    arrives(&p, data);
    mock.stats(&b);
    uint64_t calls = b.calls - a.calls;
    for (uint64_t n = 1; n <= calls + 4; n++)
        for (int c = 0; c < 3; c++) {
            mock.fail_at(NULL, n, codes[c]);
            lz_status s = travel(&p, data, out);
            ck_assert_msg(s == LZ_OK || s == LZ_EDEVICE || s == LZ_EDEVMEM, "call %d: %d, %s",
                          (int)n, s, message());
            mock.reset();
            arrives(&p, data);
        }
    mock.stats(&a);
    ck_assert_uint_le(a.live_bytes, b.live_bytes + 8 * N * 4);
    ck_assert_uint_le(a.events, b.events + 8);
    ck_assert_uint_eq(a.streams, b.streams);
    discard(&p);
}
END_TEST

/* Those that copies add, by name. The first of some are of the steps around it. */
static const struct {
    const char *name;
    uint64_t n;
} calls[] = {{"cuDeviceCanAccessPeer", 1}, {"cuCtxEnablePeerAccess", 1}, {"cuStreamCreate", 1},
             {"cuMemcpyPeerAsync", 1},     {"cuEventCreate", 1},         {"cuEventCreate", 2},
             {"cuEventCreate", 3},         {"cuStreamWaitEvent", 2},     {"cuStreamWaitEvent", 3},
             {"cuStreamWaitEvent", 4},     {"cuStreamWaitEvent", 5},     {"cuEventRecord", 3},
             {"cuEventRecord", 4},         {"cuEventRecord", 5},         {"cuEventSynchronize", 1},
             {"cuEventSynchronize", 2},    {"cuEventSynchronize", 3}};
enum { CALLS = sizeof calls / sizeof *calls };

START_TEST(first_call_fails)
{
    use_mock();
    programs p;
    float data[N], out[N];
    fill(data, N, 12);
    compile(&p);
    mock.fail_at(calls[_i].name, calls[_i].n, 1);
    lz_status s = travel(&p, data, out);
    lz_mock_stats st;
    mock.stats(&st);
    ck_assert_uint_le(st.failed, 1); /* what is over by then is not waited for */
    ck_assert(st.failed || calls[_i].n > 1);
    ck_assert_msg(s == LZ_EDEVICE || (s == LZ_OK && calls[_i].n > 1), "%s: %d, %s", calls[_i].name,
                  s, message());
    mock.reset();
    arrives(&p, data);
    discard(&p);
}
END_TEST

/* A lost device, by any call: the error of the device, from then on; the other one works. */
START_TEST(call_loses_the_device)
{
    use_mock();
    programs p;
    float data[N], out[N];
    fill(data, N, 13);
    compile(&p);
    mock.fail_at(calls[_i].name, calls[_i].n, 719);
    (void)travel(&p, data, out);
    lz_mock_stats st;
    mock.stats(&st);
    mock.reset();
    if (!st.failed) { /* it was not called so often */
        arrives(&p, data);
        discard(&p);
        return;
    }
    ck_assert_int_eq(travel(&p, data, out), LZ_EDEVICE);
    ck_assert_msg(strstr(message(), "is lost") != NULL, "%s", message());
    int lost = strstr(message(), "CUDA:1 is lost") != NULL;
    lz_device_buffer *b;
    ck_assert_int_eq(be->alloc(lost, 64, &b), LZ_EDEVICE);
    b = value(!lost, data, sizeof data);
    expect(b, data, N, 1);
    step(p.x[!lost], &b, false);
    expect(b, data, N, 3);
    lz_device_buffer_release(b);
    discard(&p);
}
END_TEST

/* One side is lost, before or after the copy was asked for; what it would have arrived in, and what
 * is made of that, have its error. */
START_TEST(side_is_lost)
{
    int side = _i % 2;
    bool before = _i / 2;
    use_mock();
    programs p;
    float data[N];
    fill(data, N, 14);
    compile(&p);
    arrives(&p, data);
    lz_device_buffer *v = value(0, data, sizeof data), *there = NULL, *out = NULL;
    lz_event *done = NULL;
    bool given = false;
    step(p.x[0], &v, false);
    if (before) {
        OK(lz_event_wait(v->ready));
        mock.lose(side, 700);
    }
    lz_status s = across(1, v, &there);
    if (s == LZ_OK && !before)
        mock.lose(side, 700);
    if (s == LZ_OK)
        s = be->execute(p.x[1], 1, &there, &given, false, &out, &done);
    float got[N];
    if (s == LZ_OK && !before && side == 0) { /* the copy may have been over */
        s = lz_event_wait(there->ready);
        ck_assert(lz_event_wait(done) == s);
    } else {
        ck_assert_int_eq(s == LZ_OK ? be->copy_out(out, got, sizeof got) : s, LZ_EDEVICE);
        char text[32];
        snprintf(text, sizeof text, "CUDA:%d is lost", side);
        ck_assert_msg(strstr(message(), text) != NULL, "%s", message());
    }
    lz_event_release(done);
    lz_device_buffer_release(v);
    lz_device_buffer_release(there);
    lz_device_buffer_release(out);
    v = value(!side, data, sizeof data);
    step(p.x[!side], &v, false);
    expect(v, data, N, 3);
    lz_device_buffer_release(v);
    discard(&p);
}
END_TEST

/* The call that copies finds that the target is lost: the source is not. */
START_TEST(target_is_found_lost)
{
    use_mock();
    programs p;
    float data[N], got[N];
    fill(data, N, 16);
    compile(&p);
    lz_device_buffer *v = value(0, data, sizeof data), *there, *late;
    OK(be->alloc(1, sizeof data, &there));
    OK(be->alloc(1, sizeof data, &late));
    mock.lose(1, 719);
    OK(be->copy_across(there, v, sizeof data));
    ck_assert_int_eq(be->copy_out(there, got, sizeof got), LZ_EDEVICE);
    ck_assert_msg(strstr(message(), "CUDA:1 is lost") != NULL, "%s", message());
    ck_assert_int_eq(be->copy_across(late, v, sizeof data), LZ_EDEVICE);
    step(p.x[0], &v, false);
    expect(v, data, N, 3);
    lz_device_buffer_release(v);
    lz_device_buffer_release(there);
    lz_device_buffer_release(late);
    discard(&p);
}
END_TEST

/* The source is lost when everything has been asked for, on the device that is not, too: what comes
 * of it has the error, there as well. */
START_TEST(lost_later)
{
    use_mock();
    programs p;
    float data[N];
    fill(data, N, 18);
    compile(&p);
    arrives(&p, data);
    lz_device_buffer *v = value(0, data, sizeof data), *there, *more, *back;
    step(p.x[0], &v, false);
    expect(v, data, N, 3);
    mock.hold(1);
    OK(across(1, v, &there));
    more = there;
    lz_device_buffer_retain(there);
    step(p.x[1], &more, false);
    OK(across(0, there, &back));
    mock.lose(0, 719);
    mock.hold(0);
    lz_device_buffer *all[3] = {there, more, back};
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(lz_event_wait(all[i]->ready), LZ_EDEVICE);
        ck_assert_msg(strstr(message(), "CUDA:0 is lost") != NULL, "%s", message());
        lz_device_buffer_release(all[i]);
    }
    lz_device_buffer_release(v);
    v = value(1, data, sizeof data);
    step(p.x[1], &v, false);
    expect(v, data, N, 3);
    lz_device_buffer_release(v);
    discard(&p);
}
END_TEST

/* What has failed is not copied as if it were there. */
START_TEST(errors_travel)
{
    use_mock();
    programs p;
    float data[N];
    fill(data, N, 15);
    compile(&p);
    lz_device_buffer *v = value(0, data, sizeof data), *there, *back;
    mock.fail_at("cuLaunchKernel", 1, 1);
    step(p.x[0], &v, false);
    OK(across(1, v, &there));
    step(p.x[1], &there, true);
    OK(across(0, there, &back));
    lz_device_buffer *all[3] = {v, there, back};
    for (int i = 0; i < 3; i++) {
        float got[N];
        ck_assert_int_eq(be->copy_out(all[i], got, sizeof got), LZ_EDEVICE);
        ck_assert_msg(strstr(message(), "CUDA:0: launching a kernel") != NULL, "%s", message());
        lz_device_buffer_release(all[i]);
    }
    arrives(&p, data);
    discard(&p);
}
END_TEST

/* Memory that copies hold comes back when somebody needs it. */
START_TEST(no_room)
{
    enum { BIG = 5 << 20 };
    use_mock();
    mock.memory(8 << 20);
    char *data = calloc(1, BIG);
    lz_device_buffer *v = value(0, data, BIG), *there, *more;
    OK(across(1, v, &there));
    ck_assert_int_eq(across(1, v, &more), LZ_EDEVMEM);
    ck_assert_msg(strstr(message(), "CUDA:1") && strstr(message(), "5242880"), "%s", message());
    lz_device_buffer_release(v); /* its copy may be on its way */
    v = value(0, data, BIG);
    lz_device_buffer_release(v);
    lz_device_buffer_release(there);
    free(data);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cuda_peers");
    TCase *t = tcase_create("cuda_peers");
    tcase_add_test(t, there_and_back);
    tcase_add_test(t, on_one_device);
    tcase_add_loop_test(t, ways, 0, 4);
    tcase_add_test(t, turned_off);
    tcase_add_test(t, steps_and_copies);
    tcase_add_test(t, nobody_waits);
    tcase_add_test(t, source_goes_at_once);
    tcase_add_test(t, target_goes_at_once);
    tcase_add_loop_test(t, waits_for_copies, 0, 2);
    tcase_add_loop_test(t, values_wander, 0, 4);
    tcase_add_test(t, threads_wander);
    tcase_add_test(t, calls_fail);
    tcase_add_loop_test(t, first_call_fails, 0, CALLS);
    tcase_add_loop_test(t, call_loses_the_device, 0, CALLS);
    tcase_add_loop_test(t, side_is_lost, 0, 4);
    tcase_add_test(t, target_is_found_lost);
    tcase_add_test(t, lost_later);
    tcase_add_test(t, errors_travel);
    tcase_add_test(t, no_room);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
