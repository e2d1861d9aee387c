/* t_buffers.c - the memory of plans: ranges that are alive together never overlap, copies and
 * places are saved, donation. */
#include "graphs.h"
#include "lower/plan/buffers.h"
#include "suite.h"
#include "support/gen.h"

START_TEST(layout_never_overlaps)
{
    lz_rnd r = {(uint64_t)_i + 1};
    enum { N = 200 };
    uint64_t size[N] = {0}, offset[N] = {0}, total = 0, most = 0;
    uint32_t def[N] = {0}, last[N] = {0}, n = (uint32_t)lz_rnd_range(&r, 0, N);
    for (uint32_t i = 0; i < n; i++) {
        size[i] = lz_rnd_chance(&r, 5) ? 0 : (uint64_t)lz_rnd_range(&r, 1, 5000);
        def[i] = (uint32_t)lz_rnd_range(&r, 0, 60);
        last[i] = def[i] + (uint32_t)lz_rnd_range(&r, 0, lz_rnd_chance(&r, 20) ? 60 : 6);
    }
    ck_assert_int_eq(lz_arena_layout(n, size, def, last, offset, &total), LZ_OK);
    for (uint32_t i = 0; i < n; i++) {
        ck_assert_int_eq(offset[i] % 64, 0);
        ck_assert(offset[i] + size[i] <= total);
        for (uint32_t j = 0; j < i; j++) {
            bool together = def[i] <= last[j] && def[j] <= last[i];
            bool overlap = offset[i] < offset[j] + size[j] && offset[j] < offset[i] + size[i];
            ck_assert(!(together && overlap));
        }
    }
    for (uint32_t step = 0; step < 120; step++) { /* not far from the least there can be */
        uint64_t sum = 0;
        for (uint32_t i = 0; i < n; i++)
            sum += def[i] <= step && step <= last[i] ? LZ_ALIGN_UP(size[i], 64) : 0;
        most = sum > most ? sum : most;
    }
    ck_assert(total <= most + most / 2);
}
END_TEST

/* ---- the invariant, on plans: what a step reads is what the last step that wrote there meant ----
 */

typedef struct shadow {
    uint64_t *key; /* by 4 bytes of the arena: the range that was written, 0 none */
} shadow;

static uint64_t key_of(const lz_bufref *b)
{
    return b->offset * UINT64_C(0x9E3779B97F4A7C15) + b->nbytes + 1;
}

/* Steps of control flow: results and work memory are written, operands read. */
static bool writes(const lz_plan *p, const lz_step *s, uint32_t j)
{
    if (s->kind == LZ_STEP_CALL)
        return j < s->call->nrets;
    return s->kind == LZ_STEP_KERNEL ? p->kernels[s->kernel]->buf[j].written
                                     : j < p->subs[s->sub[1]]->nout || j == s->nbuf - 1;
}

static bool reads(const lz_plan *p, const lz_step *s, uint32_t j)
{
    return s->kind == LZ_STEP_KERNEL ? p->kernels[s->kernel]->buf[j].read : !writes(p, s, j);
}

/* Whether buffer i of a step may be written in place of buffer j. */
static bool in_place(const lz_plan *p, const lz_step *s, uint32_t i, uint32_t j)
{
    if (s->kind != LZ_STEP_KERNEL)
        return s->kind == LZ_STEP_WHILE && writes(p, s, i) && j == p->subs[s->sub[1]]->nout + i;
    const lz_kbuf *b = &p->kernels[s->kernel]->buf[i];
    return b->inplace_ok && b->inplace_with == (int32_t)j;
}

static void check_reads(const lz_plan *p, const shadow *sh, uint32_t step, int seed)
{
    const lz_step *s = &p->steps[step];
    for (uint32_t j = 0; j < s->nbuf; j++) {
        const lz_bufref *b = &s->bufs[j];
        if (b->kind != LZ_BUFREF_TEMP || !reads(p, s, j) || writes(p, s, j))
            continue;
        for (uint64_t i = b->offset / 4; i < (b->offset + b->nbytes) / 4; i++)
            ck_assert_msg(sh->key[i] == key_of(b),
                          "seed %d: step %u reads temp+%llu:%llu, which is not whole", seed, step,
                          (unsigned long long)b->offset, (unsigned long long)b->nbytes);
    }
    for (uint32_t j = 0; j < s->nbuf; j++) {
        const lz_bufref *b = &s->bufs[j];
        if (b->kind == LZ_BUFREF_TEMP && writes(p, s, j))
            for (uint64_t i = b->offset / 4; i < (b->offset + b->nbytes) / 4; i++)
                sh->key[i] = key_of(b);
    }
}

/* Two buffers of one step overlap only as the kernel allows. */
static void check_step(const lz_plan *p, uint32_t step)
{
    const lz_step *s = &p->steps[step];
    for (uint32_t i = 0; i < s->nbuf; i++)
        for (uint32_t j = 0; j < s->nbuf; j++) {
            const lz_bufref *w = &s->bufs[i], *r = &s->bufs[j];
            bool overlap = w->kind == r->kind && w->index == r->index &&
                           w->offset < r->offset + r->nbytes && r->offset < w->offset + w->nbytes;
            if (i == j || !writes(p, s, i) || !overlap || w->kind == LZ_BUFREF_CONST)
                continue;
            if (reads(p, s, j))
                ck_assert(in_place(p, s, i, j) && w->offset == r->offset);
            else
                ck_assert_msg(in_place(p, s, j, i), "step %u writes the same memory twice", step);
        }
}

START_TEST(plans_keep_values_whole)
{
    for (int seed = 40 * _i; seed < 40 * _i + 40; seed++) {
        lz_gen_options o = {.max_insts = 10 + seed % 50, .no_empty = true};
        lz_func *f = lz_gen_random((uint64_t)seed + 1000, &o);
        lz_plan *p = NULL;
        bool donate[256];
        for (int i = 0; i < 256; i++)
            donate[i] = i % 3 != seed % 3;
        lz_lower_options lo = {.donate = seed % 2 ? donate : NULL};
        ck_assert(f && f->nparam <= 256);
        ck_assert_msg(lz_lower(f, &lo, &p) == LZ_OK, "seed %d: %s", seed, lz_error_get()->message);
        shadow sh = {lz_calloc(p->temp_bytes / 4 + 16, 8)};
        for (uint32_t i = 0; i < p->nstep; i++) {
            check_reads(p, &sh, i, seed);
            check_step(p, i);
        }
        lz_free(sh.key);
        lz_plan_free(p);
        lz_func_free(f);
    }
}
END_TEST

/* ---- copies and donation ---- */

static lz_func *update(lz_val *also)
{
    lz_func *f = lz_func_new("update");
    lz_val x = g_param(f, LZ_F32, LZ_SHAPE(40, 8)), u = g_param(f, LZ_F32, LZ_SHAPE(3, 8)),
           i = g_param(f, LZ_I32, LZ_SCALAR);
    lz_val zero = lz_build_scalar(f, LZ_I32, 0);
    lz_val y = lz_build(f, LZ_OP_DYNAMIC_UPDATE_SLICE, NULL, (lz_val[]){x, u, i, zero}, 4),
           out[2] = {y};
    if (also)
        out[1] = *also = lz_build_ew1(f, LZ_OP_TANH, x);
    lz_func_set_results(f, out, also ? 2 : 1);
    return f;
}

static uint32_t steps(const lz_func *f, const bool *donate, int32_t *alias)
{
    lz_plan *p = NULL;
    lz_lower_options o = {.donate = donate};
    ck_assert_msg(lz_lower(f, &o, &p) == LZ_OK, "%s", lz_error_get()->message);
    uint32_t n = p->nstep;
    *alias = p->out_alias[0];
    lz_plan_free(p);
    return n;
}

START_TEST(updates_in_place)
{
    int32_t alias;
    lz_val also;
    lz_func *f = update(NULL);
    ck_assert_int_eq(steps(f, (bool[]){true, false, false}, &alias), 1); /* no copy */
    ck_assert_int_eq(alias, 0);
    ck_assert_int_eq(steps(f, NULL, &alias), 2); /* the argument stays as it is */
    ck_assert_int_eq(alias, -1);
    lz_func_free(f);
    f = update(&also); /* the other reader comes first, then the argument may go */
    ck_assert_int_eq(steps(f, (bool[]){true, false, false}, &alias), 2);
    ck_assert_int_eq(alias, 0);
    lz_func_free(f);
}
END_TEST

START_TEST(arguments_as_results)
{
    lz_func *f = lz_func_new("pass");
    lz_val x = g_param(f, LZ_F32, LZ_SHAPE(5, 6)), y = g_add(f, x, x);
    int32_t alias;
    lz_func_set_results(f, (lz_val[]){x, y, y}, 3);
    /* the argument is its own result when it is given away; a value that is two results is copied
     * once */
    ck_assert_int_eq(steps(f, (bool[]){true}, &alias), 2);
    ck_assert_int_eq(alias, 0);
    ck_assert_int_eq(steps(f, NULL, &alias), 3);
    lz_func_free(f);
}
END_TEST

/* A chain of elementwise kernels that cannot fuse (reversals) lives in two buffers. */
START_TEST(chains_reuse_memory)
{
    lz_func *f = lz_func_new("chain");
    lz_val x = g_param(f, LZ_F32, LZ_SHAPE(1024));
    lz_attr_dims a;
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_dims;
    a.dimensions = g_dims(1, 0, 0);
    lz_plan *p;
    for (int i = 0; i < 12; i++) {
        lz_val r = lz_build(f, LZ_OP_REVERSE, G_RECORD(a), &x, 1);
        x = lz_build_ew1(f, LZ_OP_TANH, g_add(f, r, x));
    }
    lz_func_set_results(f, &x, 1);
    ck_assert_int_eq(lz_lower(f, NULL, &p), LZ_OK);
    ck_assert(p->nstep > 4);
    ck_assert(p->temp_bytes <= 2 * 4096);
    lz_plan_free(p);
    lz_func_free(f);
}
END_TEST

/* Invariant: weights that are made ready for their products are so just before them, and not all at
 * the start, where they are the least that can run. */
START_TEST(weights_are_ready_late)
{
    enum { ROWS = 256, N = 64, LAYERS = 12, WEIGHT = N * N * 4, STATE = ROWS * N * 4 };
    lz_func *f = lz_func_new("layers");
    lz_val x = g_param(f, LZ_F32, LZ_SHAPE(ROWS, N)), w[LAYERS];
    lz_plan *p;
    for (int i = 0; i < LAYERS; i++)
        w[i] = g_param(f, LZ_F32, LZ_SHAPE(N, N));
    for (int i = 0; i < LAYERS; i++) {
        lz_val c = lz_build_ew1(f, LZ_OP_TANH, w[i]);
        x = lz_build_ew1(f, LZ_OP_TANH, g_dot(f, x, c, 1, 0));
        if (_i) { /* a second reader, and one behind that */
            lz_val sum = g_reduce(f, LZ_OP_ADD, c, 0), d = g_dot(f, c, g_rows(f, sum, c), 1, 0);
            x = g_add(f, x, g_cols(f, g_reduce(f, LZ_OP_ADD, d, 1), x));
        }
    }
    lz_func_set_results(f, &x, 1);
    ck_assert_int_eq(lz_lower(f, NULL, &p), LZ_OK);
    ck_assert(p->nstep >= 2 * LAYERS);
    ck_assert_msg(p->temp_bytes <= 2 * STATE + 3 * WEIGHT, "%d", (int)p->temp_bytes);
    lz_plan_free(p);
    lz_func_free(f);
}
END_TEST

/* Parts of one array, each of more memory than it has itself, are made as soon as they can be: what
 * they are made of need not wait for the last. */
START_TEST(parts_are_made_early)
{
    enum {
        PARTS = 6,
        ROWS = 64,
        N = 128,
        WIDE = 4 * N,
        INPUT = ROWS * WIDE * 4,
        PART = ROWS * N * 4
    };
    lz_func *f = lz_func_new("parts");
    lz_val x = g_param(f, LZ_F32, LZ_SHAPE(ROWS, N)), w = g_param(f, LZ_F32, LZ_SHAPE(N, WIDE)),
           v = g_param(f, LZ_F32, LZ_SHAPE(WIDE, N)), part[PARTS], out[PARTS + 1];
    lz_attr_dim a;
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_dim;
    a.dimension = 1;
    for (int i = 0; i < PARTS; i++) {
        x = g_add(f, x, g_like(f, x, 0.5 + i));
        lz_val h = lz_build_ew1(f, LZ_OP_TANH, g_dot(f, x, w, 1, 0));
        part[i] = g_dot(f, h, v, 1, 0);
        out[1 + i] = g_reduce(f, LZ_OP_ADD, h, 0);
    }
    lz_val y = lz_build(f, LZ_OP_CONCATENATE, G_RECORD(a), part, PARTS);
    lz_plan *p;
    out[0] = g_dot(f, y, y, 1, 1);
    lz_func_set_results(f, out, PARTS + 1);
    ck_assert_int_eq(lz_lower(f, NULL, &p), LZ_OK);
    ck_assert_msg(p->temp_bytes <= 2 * INPUT + (PARTS + 2) * PART, "%d", (int)p->temp_bytes);
    lz_plan_free(p);
    lz_func_free(f);
}
END_TEST

/* What reads an argument still runs before that is written over, late or not. */
START_TEST(late_readers_of_what_is_donated)
{
    enum { N = 64 };
    lz_func *f = lz_func_new("update");
    lz_val w = g_param(f, LZ_F32, LZ_SHAPE(N, N)), x = g_param(f, LZ_F32, LZ_SHAPE(4 * N, N));
    lz_val c = lz_build_ew1(f, LZ_OP_TANH, w), y = x;
    for (int i = 0; i < 3; i++)
        y = g_dot(f, x, lz_build_ew1(f, LZ_OP_TANH, g_dot(f, y, y, 0, 0)), 1, 0);
    y = g_dot(f, y, c, 1, 0);
    lz_func_set_results(f, (lz_val[]){g_add(f, w, w), y}, 2);
    int32_t alias;
    (void)steps(f, (bool[]){true, false}, &alias);
    ck_assert_int_eq(alias, 0);
    lz_func_free(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("buffers");
    TCase *t = tcase_create("memory");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, layout_never_overlaps, 0, 60);
    tcase_add_loop_test(t, plans_keep_values_whole, 0, 5);
    tcase_add_test(t, updates_in_place);
    tcase_add_test(t, arguments_as_results);
    tcase_add_test(t, chains_reuse_memory);
    tcase_add_loop_test(t, weights_are_ready_late, 0, 2);
    tcase_add_test(t, parts_are_made_early);
    tcase_add_test(t, late_readers_of_what_is_donated);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
