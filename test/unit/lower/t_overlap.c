/* t_overlap.c - plans whose collectives go on beside compute: a start is behind what it reads and a
 * done before what it gives is read, starts are in the order of the program, memory is nobody
 * else's between the two, whenever the bytes move; what is added to the memory is limited. */
#include "graphs.h"
#include "lower/effort.h"
#include "lower/plan/plan_exec.h"
#include "lower/plan/plan_collective.h"
#include "suite.h"
#include "support/collectives.h"
#include "support/rnd.h"
#include "base/alloc.h"
#include <stdio.h>

enum { N = 2, ROWS = 8, COLUMNS = 16, COUNT = ROWS * COLUMNS, PARAMS = 3, MOST = 80 };

static const lz_type *type_of(int64_t rows)
{
    lz_shape s = lz_shape_make(2, (int64_t[]){rows, COLUMNS});
    return lz_type_get(LZ_F32, &s);
}

static lz_plan *plan_of(const lz_func *f, bool overlap, const bool *donate)
{
    lz_plan *p = NULL;
    lz_lower_options o = {.partitions = N, .overlap = overlap, .donate = donate};
    ck_assert_msg(lz_lower(f, &o, &p) == LZ_OK, "%s", lz_error_get()->message);
    return p;
}

/* ---- random programs ---- */

static lz_val collective(lz_func *f, int k, lz_val v)
{
    lz_attr_any a;
    ck_assert(record(&kinds[k], LZ_F32, ALL, N, 0, 0, &a));
    return lz_build(f, kinds[k].op, &a.head, &v, 1);
}

/* One that keeps the type: a sum, a gather of which half is taken, a scatter that is gathered
 * again, an exchange. */
static lz_val meet(lz_rnd *r, lz_func *f, lz_val v)
{
    static const int64_t zero[2] = {0, 0}, half[2] = {ROWS, COLUMNS}, one[2] = {1, 1};
    lz_val x;
    switch (lz_rnd_range(r, 0, 3)) {
    case 0:
        return collective(f, 0, v);
    case 1:
        x = collective(f, 10, v);
        return lz_build_slice(f, x, zero, half, one);
    case 2:
        x = collective(f, 8, v);
        x = collective(f, 10, x);
        return lz_build_ew2(f, LZ_OP_SUBTRACT, v, x);
    default:
        return collective(f, 11, v);
    }
}

/* A weight: COLUMNS x COLUMNS of v' v. */
static lz_val mix(lz_func *f, lz_val v, lz_val w)
{
    return g_dot(f, v, g_dot(f, w, w, 0, 0), 1, 0);
}

static lz_func *random_program(lz_rnd *r)
{
    lz_func *f = lz_func_new("f");
    lz_val v[MOST], out[PARAMS + 2];
    int n = 0, steps = (int)lz_rnd_range(r, 6, 24);
    for (; n < PARAMS; n++)
        v[n] = lz_build_param(f, type_of(ROWS));
    for (int i = 0; i < steps; i++) {
        lz_val a = v[lz_rnd_range(r, n > 6 ? n - 6 : 0, n - 1)], b = v[lz_rnd_range(r, 0, n - 1)];
        int64_t what = lz_rnd_range(r, 0, 5);
        lz_val x = what < 2    ? meet(r, f, a)
                   : what == 2 ? lz_build_ew1(f, LZ_OP_TANH, a)
                   : what == 3 ? lz_build_ew2(f, LZ_OP_ADD, a, b)
                               : lz_build_ew1(f, LZ_OP_TANH, mix(f, a, b));
        v[n++] = x;
    }
    for (int k = 0; k < PARAMS + 2; k++) /* some may be donated arguments, which they take over */
        out[k] = v[n - 1 - k];
    ck_assert_msg(lz_func_set_results(f, out, PARAMS + 2) == LZ_OK, "%s", lz_error_get()->message);
    return f;
}

/* ---- one partition, whose others have the same operands ---- */

typedef struct moment { /* when the bytes move: at the start, or only when it is done */
    bool late;
    const lz_step_collective *c[64];
    void *const *bufs[64];
    int n, most;
} moment;

static lz_status move(const lz_step_collective *c, void *const *bufs)
{
    void *const *all[N];
    for (int q = 0; q < N; q++)
        all[q] = bufs;
    return lz_collective_run(c, all, 0, lz_collective_units(c));
}

static lz_status at_once(void *user, const lz_step_collective *c, const lz_site *site,
                         void *const *bufs, uint32_t reached)
{
    (void)user, (void)site, (void)reached;
    return move(c, bufs);
}

static lz_status start(void *user, const lz_step_collective *c, const lz_site *site,
                       void *const *bufs, uint32_t reached)
{
    moment *m = user;
    (void)site, (void)reached;
    m->c[m->n] = c;
    m->bufs[m->n++] = bufs;
    m->most = m->n > m->most ? m->n : m->most;
    for (uint32_t k = 0; k < c->sig->nresult && m->late; k++) /* whoever reads it now, is wrong */
        if (bufs[k] != bufs[c->sig->nresult + k])
            memset(bufs[k], 0xa5, c->sig->result[k]->nbytes);
    return m->late ? LZ_OK : move(c, bufs);
}

static lz_status done(void *user, const lz_step_collective *c)
{
    moment *m = user;
    int i = 0;
    while (i < m->n && m->c[i] != c)
        i++;
    ck_assert_int_lt(i, m->n);
    lz_status s = m->late ? move(c, m->bufs[i]) : LZ_OK;
    m->n--;
    memmove(&m->c[i], &m->c[i + 1], (size_t)(m->n - i) * sizeof *m->c);
    memmove(&m->bufs[i], &m->bufs[i + 1], (size_t)(m->n - i) * sizeof *m->bufs);
    return s;
}

/* Results one behind the other. m NULL: nothing goes on beside. */
static void run(const lz_plan *p, const float *in, float *out, moment *m)
{
    lz_plan_exec g;
    float args[PARAMS][COUNT];
    uint32_t reached;
    lz_plan_meet meets = {at_once, m ? start : NULL, done, m};
    memcpy(args, in, sizeof args);
    ck_assert_int_eq(lz_plan_exec_begin(&g, p), LZ_OK);
    ck_assert_int_eq(lz_plan_exec_make(&g, &lz_loop_ops, NULL), LZ_OK);
    void **state = lz_calloc(lz_plan_exec_nptr(&g, 0) + 1, sizeof *state);
    char *temp = lz_calloc(1, p->temp_bytes + 64);
    lz_plan_exec_state(&g, state, 0);
    void **io = lz_plan_exec_io(&g, state);
    for (int i = 0; i < PARAMS; i++)
        io[i] = args[i];
    for (uint32_t k = 0; k < p->nout; k++) {
        int32_t a = p->out_alias[k];
        io[p->nin + k] = a >= 0 ? (void *)args[a] : (void *)(out + k * COUNT);
    }
    lz_status s = lz_plan_exec_run_one(&g, state, (void *)LZ_ALIGN_UP((uintptr_t)temp, 64), NULL,
                                       &meets, &reached);
    ck_assert_msg(s == LZ_OK, "%s", lz_error_get()->message);
    ck_assert_int_eq(m ? m->n : 0, 0);
    for (uint32_t k = 0; k < p->nout; k++)
        if (p->out_alias[k] >= 0)
            memcpy(out + k * COUNT, args[p->out_alias[k]], COUNT * sizeof *out);
    lz_free(state);
    lz_free(temp);
    lz_plan_exec_end(&g);
}

/* Those that begin, in order, are the same; and there are as many steps of compute. */
static void compare_orders(const lz_plan *a, const lz_plan *b)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < a->nstep; i++) {
        if (!lz_step_begins_collective(&a->steps[i]))
            continue;
        while (k < b->nstep && !lz_step_begins_collective(&b->steps[k]))
            k++;
        ck_assert_uint_lt(k, b->nstep);
        ck_assert_ptr_eq(a->steps[i].collective->sig, b->steps[k++].collective->sig);
    }
    int compute = 0;
    for (uint32_t i = 0; i < a->nstep; i++)
        compute += !lz_step_is_collective(&a->steps[i]);
    for (uint32_t i = 0; i < b->nstep; i++)
        compute -= !lz_step_is_collective(&b->steps[i]);
    ck_assert_int_eq(compute, 0);
}

/* The plan as it is stored and read again. */
static lz_plan *again(lz_plan *p, const lz_func *f)
{
    lz_buf bytes = {0}, a = {0}, b = {0};
    lz_plan *q;
    lz_plan_serialize(p, &bytes);
    ck_assert_msg(lz_plan_deserialize(bytes.data, bytes.len, &q) == LZ_OK, "%s",
                  lz_error_get()->message);
    lz_plan_find_nodes(q, f);
    lz_plan_print(p, &a);
    lz_plan_print(q, &b);
    ck_assert_str_eq(lz_buf_str(&a), lz_buf_str(&b));
    lz_plan_free(p);
    lz_buf_free(&bytes);
    lz_buf_free(&a);
    lz_buf_free(&b);
    return q;
}

static int beside; /* the most collectives that were on their way in some program */

START_TEST(random_programs)
{
    for (int i = 0; i < 40; i++) {
        lz_rnd r = {lz_test_seed() + (uint64_t)_i * 1000 + (uint64_t)i};
        bool donate[PARAMS];
        float in[PARAMS * COUNT], want[(PARAMS + 2) * COUNT], got[(PARAMS + 2) * COUNT];
        for (int k = 0; k < PARAMS; k++)
            donate[k] = lz_rnd_chance(&r, 50);
        for (int k = 0; k < PARAMS * COUNT; k++)
            in[k] = (float)lz_rnd_range(&r, -1000, 1000) / 700;
        lz_func *f = random_program(&r);
        lz_plan *p = plan_of(f, false, donate), *q = again(plan_of(f, true, donate), f);
        compare_orders(p, q);
        run(p, in, want, NULL);
        for (int late = 0; late < 3; late++) {
            moment m = {.late = late == 1};
            memset(got, 0, sizeof got);
            run(q, in, got, late == 2 ? NULL : &m);
            ck_assert_msg(memcmp(got, want, sizeof got) == 0, "program %d, %s", i,
                          late == 1 ? "late"
                          : late    ? "one after the other"
                                    : "early");
            beside = m.most > beside ? m.most : beside;
        }
        lz_plan_free(p);
        lz_plan_free(q);
        lz_func_free(f);
    }
    ck_assert_int_ge(beside, 3);
}
END_TEST

/* ---- a backward pass ---- */

/* Layers behind each other, and a sum of the gradient of each, which all are used at the end. */
static lz_func *layers(int n, int kind_of)
{
    lz_func *f = lz_func_new("f");
    lz_val w[16], g[16], v, out[16];
    for (int i = 0; i < n; i++)
        w[i] = lz_build_param(f, type_of(COLUMNS));
    v = w[0];
    for (int i = 0; i < n; i++) {
        v = lz_build_ew1(f, LZ_OP_TANH, g_dot(f, v, w[i], 1, 0));
        g[i] = collective(f, kind_of, lz_build_ew1(f, LZ_OP_TANH, g_dot(f, v, v, 0, 0)));
    }
    lz_val all = g[0];
    for (int i = 1; i < n; i++)
        all = lz_build_ew2(f, LZ_OP_MAXIMUM, all, g[i]);
    for (int i = 0; i < n; i++)
        out[i] = lz_build_ew2(f, LZ_OP_SUBTRACT, g[i], all);
    ck_assert_int_eq(lz_func_set_results(f, out, (uint32_t)n), LZ_OK);
    return f;
}

/* Each is on its way while the next layer is computed; sums are in place, so nothing is added. */
START_TEST(gradients)
{
    enum { LAYERS = 8 };
    lz_func *f = layers(LAYERS, 0);
    lz_plan *p = plan_of(f, false, NULL), *q = plan_of(f, true, NULL);
    int starts = 0, hidden = 0;
    for (uint32_t i = 0; i < q->nstep; i++) {
        starts += q->steps[i].kind == LZ_STEP_START;
        if (q->steps[i].kind == LZ_STEP_DONE) {
            int steps = 0;
            for (uint32_t k = q->steps[i].start; k < i; k++)
                steps += !lz_step_is_collective(&q->steps[k]);
            hidden += steps >= 2;
        }
    }
    ck_assert_int_ge(starts, LAYERS - 1); /* nothing goes on beside the last */
    ck_assert_int_ge(hidden, LAYERS - 1);
    ck_assert_uint_eq(q->temp_bytes, p->temp_bytes);
    lz_plan_free(p);
    lz_plan_free(q);
    lz_func_free(f);
}
END_TEST

/* n sums of w and of the sum before, and of w alone. */
static lz_func *sums(int n, bool one_by_one)
{
    lz_func *f = lz_func_new("f");
    lz_attr_any a;
    lz_val w = lz_build_ew1(f, LZ_OP_TANH, lz_build_param(f, type_of(ROWS))), x = w,
           *out = lz_alloc((size_t)n * sizeof *out);
    ck_assert(record(&kinds[0], LZ_F32, ALL, N, 0, 0, &a));
    for (int i = 0; i < n; i++) {
        x = lz_build_ew2(f, LZ_OP_ADD, x, lz_build_ew1(f, LZ_OP_TANH, x));
        lz_val both[2] = {w, x};
        lz_val c = lz_build(f, LZ_OP_ALL_REDUCE, &a.head, both, 2);
        out[i] = lz_build_result(f, c, 1);
        x = one_by_one ? out[i] : x;
    }
    ck_assert_int_eq(lz_func_set_results(f, out, (uint32_t)n), LZ_OK);
    lz_free(out);
    return f;
}

/* However many could be: nobody has room for all. */
START_TEST(as_many_as_may)
{
    lz_func *f = sums(3 * LZ_STARTED_MAX, false);
    lz_plan *p = plan_of(f, true, NULL);
    int open = 0, most = 0;
    for (uint32_t i = 0; i < p->nstep; i++) {
        open += p->steps[i].kind == LZ_STEP_START;
        open -= p->steps[i].kind == LZ_STEP_DONE;
        most = open > most ? open : most;
    }
    ck_assert_int_eq(open, 0);
    ck_assert_int_ge(most, LZ_STARTED_MAX / 2);
    ck_assert_int_le(most, LZ_STARTED_MAX);
    lz_plan_free(p);
    lz_func_free(f);
}
END_TEST

/* Four times as many that read the same cost at most five times as much. */
START_TEST(many_of_one)
{
    uint64_t work = 0;
    for (int n = 100; n <= 1600; n *= 4) {
        lz_func *f = sums(n, _i == 1);
        uint64_t before = lz_effort;
        lz_plan *p = plan_of(f, true, NULL);
        uint64_t now = lz_effort - before;
        ck_assert_msg(!work || now <= 5 * work, "%d: %llu, %llu of a quarter", n,
                      (unsigned long long)now, (unsigned long long)work);
        work = now;
        lz_plan_free(p);
        lz_func_free(f);
    }
}
END_TEST

/* ---- damage ---- */

static lz_step *step_of(lz_plan *p, lz_step_kind want)
{
    for (uint32_t i = 0; i < p->nstep; i++)
        if (p->steps[i].kind == want)
            return &p->steps[i];
    ck_abort_msg("no such step");
    return NULL;
}

START_TEST(mutated)
{
    lz_func *f = layers(4, 10);
    lz_plan *p = plan_of(f, true, NULL);
    lz_step *a = step_of(p, LZ_STEP_START), *b = a + 1, *d = step_of(p, LZ_STEP_DONE);
    ck_assert_int_eq(lz_plan_verify(p), LZ_OK);
    while (b->kind != LZ_STEP_KERNEL)
        b++;
    uint32_t w = 0;
    while (!lz_step_writes(p, b, w))
        w++;
    lz_bufref was = b->bufs[w];
    for (uint32_t j = 0; j < a->nbuf; j++) { /* its result, and what it reads */
        b->bufs[w].kind = a->bufs[j].kind;
        b->bufs[w].index = a->bufs[j].index;
        b->bufs[w].offset = a->bufs[j].offset;
        ck_assert_int_eq(lz_plan_verify(p), LZ_EINTERNAL);
    }
    b->bufs[w] = was;
    was = d->bufs[0];
    d->bufs[0].offset += 64;
    ck_assert_int_eq(lz_plan_verify(p), LZ_EINTERNAL);
    d->bufs[0] = was;
    uint32_t of = d->start;
    for (d->start = 0; d->start < p->nstep + 2; d->start++)
        ck_assert_int_eq(lz_plan_verify(p), d->start == of ? LZ_OK : LZ_EINTERNAL);
    d->start = of;
    d->kind = LZ_STEP_COLLECTIVE;
    ck_assert_int_eq(lz_plan_verify(p), LZ_EINTERNAL);
    d->kind = LZ_STEP_DONE;
    a->kind = LZ_STEP_COLLECTIVE;
    ck_assert_int_eq(lz_plan_verify(p), LZ_EINTERNAL);
    a->kind = LZ_STEP_START;
    ck_assert_int_eq(lz_plan_verify(p), LZ_OK);
    lz_step many[2 * (LZ_STARTED_MAX + 1)], *all = p->steps; /* one more than may */
    for (uint32_t i = 0; i <= LZ_STARTED_MAX; i++) {
        many[i] = *a;
        many[i + LZ_STARTED_MAX + 1] = *d;
        many[i + LZ_STARTED_MAX + 1].start = i;
    }
    uint32_t n = p->nstep;
    p->steps = many;
    p->nstep = 2 * (LZ_STARTED_MAX + 1);
    ck_assert_int_eq(lz_plan_verify(p), LZ_EINTERNAL);
    ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "at a time"));
    p->steps = all;
    p->nstep = n;
    lz_plan_free(p);
    lz_func_free(f);
}
END_TEST

/* Bytes of a stored plan that changed give a plan that is right, or none. */
START_TEST(damaged)
{
    lz_rnd r = {lz_test_seed() + (uint64_t)_i};
    lz_func *f = layers(3, _i ? 10 : 0);
    lz_plan *p = plan_of(f, true, NULL), *q;
    lz_buf b = {0};
    lz_plan_serialize(p, &b);
    for (int i = 0; i < 2000; i++) {
        size_t at = (size_t)lz_rnd_range(&r, 0, (int64_t)b.len - 1);
        char was = b.data[at];
        b.data[at] = (char)lz_rnd_range(&r, 0, 255);
        lz_status s = lz_plan_deserialize(b.data, b.len, &q);
        ck_assert(s == LZ_OK || s == LZ_ECORRUPT || s == LZ_EUNSUPPORTED || s == LZ_ERANGE);
        if (s == LZ_OK)
            ck_assert_int_eq(lz_plan_verify(q), LZ_OK);
        lz_plan_free(s == LZ_OK ? q : NULL);
        b.data[at] = was;
    }
    lz_plan_free(p);
    lz_func_free(f);
    lz_buf_free(&b);
}
END_TEST

/* Exhausted memory leaks nothing. */
START_TEST(no_memory)
{
    lz_func *f = layers(3, 0);
    lz_lower_options o = {.partitions = N, .overlap = true};
    lz_plan *p = NULL;
    int64_t live = 0;
    for (int round = 0; round < 2; round++) { /* after the first, everything interned is there */
        lz_status s = LZ_EMEM;
        live = lz_alloc_live_bytes_hint();
        for (int64_t at = 1; s == LZ_EMEM; at += 1 + at / 40) {
            lz_alloc_fail_at(at, false);
            s = lz_lower(f, &o, &p);
            lz_alloc_fail_at(0, false);
            ck_assert(s == LZ_OK || s == LZ_EMEM);
            lz_plan_free(p);
            p = NULL;
        }
    }
    ck_assert_int_eq(lz_alloc_live_bytes_hint(), live);
    lz_func_free(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("overlap");
    TCase *t = tcase_create("all");
    tcase_add_loop_test(t, random_programs, 0, 4);
    tcase_add_test(t, gradients);
    tcase_add_test(t, as_many_as_may);
    tcase_add_loop_test(t, many_of_one, 0, 2);
    tcase_add_test(t, mutated);
    tcase_add_loop_test(t, damaged, 0, 2);
    tcase_add_test(t, no_memory);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
