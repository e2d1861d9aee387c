/* t_codegen_loops.c - the general schedule: kernels built by hand and at random, compiled, against
 * the slow executor of the loop IR.
 * Every buffer ends at a guard page; units run in odd pieces and backwards, and the results must be
 * the same bits. */
#include "base/config.h"
#include "jit_util.h"
#include "ir/module.h"
#include <math.h>

enum { MAXBUF = 16 };

typedef struct world {
    lz_kernel *k;
    guarded in[MAXBUF]; /* what the kernel starts from */
    size_t nbytes[MAXBUF];
} world;

static bool real_float(lz_dtype d)
{
    return lz_dtype_is_float(d) || lz_dtype_is_storage(d);
}

/* How much coarser than f32: a last bit of 16-bit and of 8-bit floats. */
static double coarser(lz_dtype d)
{
    switch (d) {
    case LZ_F64:
        return 1e-6;
    case LZ_F32:
        return 1;
    case LZ_F16:
        return 2000;
    case LZ_F8E4M3FN:
        return 160000;
    case LZ_F8E5M2:
        return 320000;
    default:
        return 20000;
    }
}

static void put_random(lz_dtype d, char *p, size_t n, int64_t below)
{
    for (size_t i = 0; i < n; i++) {
        if (below > 0) {
            int64_t v = (int64_t)(rnd64() % (uint64_t)below);
            memcpy(p + i * lz_dtype_size(d), &v, lz_dtype_size(d));
        } else if (real_float(d)) {
            lz_elem_set_f64(d, p, (int64_t)i, rnd_unit() * 2);
        } else if (d == LZ_C64) {
            ((lz_c64 *)(void *)p)[i] = (lz_c64){(float)rnd_unit(), (float)rnd_unit()};
        } else if (d == LZ_C128) {
            ((lz_c128 *)(void *)p)[i] = (lz_c128){rnd_unit(), rnd_unit()};
        } else if (d == LZ_BOOL) {
            p[i] = (char)(rnd64() & 1);
        } else {
            int64_t v = (int64_t)(rnd64() % 2001) - 1000;
            memcpy(p + i * lz_dtype_size(d), &v, lz_dtype_size(d));
        }
    }
}

static void give(world *w, uint32_t buf, int64_t n, int64_t below)
{
    lz_dtype d = w->k->buf[buf].dtype;
    w->nbytes[buf] = (size_t)n * lz_dtype_size(d);
    w->in[buf] = guarded_new(w->nbytes[buf], 0);
    put_random(d, w->in[buf].p, (size_t)n, below);
}

static void same(const world *w, uint32_t b, const char *got, const char *want, double tol)
{
    lz_dtype d = w->k->buf[b].dtype;
    size_t es = lz_dtype_size(d), n = w->nbytes[b] / es;
    if (lz_dtype_is_complex(d))
        d = lz_dtype_part(d), n *= 2;
    for (size_t i = 0; i < n; i++) {
        if (real_float(d)) {
            double x = lz_elem_get_f64(d, got, (int64_t)i),
                   y = lz_elem_get_f64(d, want, (int64_t)i);
            double t = tol * coarser(d);
            if (!(fabs(x - y) <= t * fmax(1, fabs(y))) && !(isnan(x) && isnan(y)) && x != y) {
                lz_buf t2 = {0};
                lz_kernel_print(w->k, &t2);
                ck_abort_msg("%s: buffer %u element %zu: %g, expected %g\n%s", w->k->name, b, i, x,
                             y, lz_buf_str(&t2));
            }
        } else if (memcmp(got + i * es, want + i * es, es) != 0) {
            lz_buf t2 = {0};
            lz_kernel_print(w->k, &t2);
            ck_abort_msg("%s: buffer %u element %zu differs\n%s", w->k->name, b, i,
                         lz_buf_str(&t2));
        }
    }
}

static void copy_in(const world *w, guarded *g, void **p)
{
    for (uint32_t b = 0; b < w->k->nbuf; b++) {
        g[b] = guarded_new(w->nbytes[b], 0);
        memcpy(g[b].p, w->in[b].p, w->nbytes[b]);
        p[b] = g[b].p;
    }
}

/* Finishes, compiles, runs every way, compares, frees. */
static void check(world *w, double tol)
{
    lz_kernel *k = w->k;
    must(lz_kernel_finish(k));
    guarded want[MAXBUF] = {{0}}, got[MAXBUF] = {{0}}, again[MAXBUF] = {{0}};
    void *pw[MAXBUF], *pg[MAXBUF], *pa[MAXBUF];
    copy_in(w, want, pw);
    copy_in(w, got, pg);
    copy_in(w, again, pa);
    must(lz_loop_run(k, pw, w->nbytes));
    /* one in four with everything past the caches */
    lz_target t;
    any_target(&t);
    jit j = jit_new_on(k, &t), past = {0};
    t.machine.l3_bytes = 1;
    if (rnd64() % 4 == 0)
        past = jit_new_on(k, &t);
    jit_run(&j, pg, k->args, 0, false);
    jit_run(past.run ? &past : &j, pa, k->args, k->serial ? 0 : 1 + (int64_t)(rnd64() % 3), true);
    for (uint32_t b = 0; b < k->nbuf; b++) {
        same(w, b, got[b].p, want[b].p, tol);
        ck_assert_msg(memcmp(got[b].p, again[b].p, w->nbytes[b]) == 0,
                      "%s: buffer %u depends on the division of units, or on the caches", k->name,
                      b);
    }
    for (uint32_t b = 0; b < k->nbuf; b++) {
        guarded_free(&want[b]);
        guarded_free(&got[b]);
        guarded_free(&again[b]);
        guarded_free(&w->in[b]);
    }
    jit_free(&j);
    if (past.run)
        jit_free(&past);
    lz_kernel_free(k);
}

static world world_new(const char *name, lz_vec vec, int nouter, const int64_t *outer, int nstage)
{
    world w = {.k = lz_kernel_new(name)};
    w.k->vec = vec;
    w.k->nouter = (uint32_t)nouter;
    for (int i = 0; i < nouter; i++)
        w.k->outer[i] = sz(outer[i]);
    stages_new(w.k, (uint32_t)nstage);
    return w;
}

static lz_access strided(uint32_t buf, int64_t offset, int n, const int64_t *stride)
{
    lz_access a = access_to(buf);
    a.offset = sz(offset);
    for (int i = 0; i < n; i++)
        a.stride[i] = sz(stride[i]);
    return a;
}
#define STRIDES(buf, off, ...)                                                                     \
    strided(buf, off, (int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), (int64_t[]){__VA_ARGS__})

static const lz_attr *compare(lz_comparison_direction dir)
{
    lz_attr_compare a;
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_compare;
    a.comparison_direction = dir;
    return lz_attr_get((const lz_attr *)&a);
}

static const int64_t sizes[] = {0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 65, 100, 257};
enum { NSIZE = sizeof sizes / sizeof *sizes };
static const lz_vec vecs[] = {LZ_VEC_NONE, LZ_VEC_OUTER, LZ_VEC_INNER};

/* ---- elementwise over two dimensions: rows, columns, broadcasts, transposed, reversed ---- */

/* As what it is computed with, and back: a float that is only stored is an f32 meanwhile. */
static int32_t wide(lz_stage *s, lz_dtype d, int32_t v)
{
    return lz_dtype_is_storage(d) ? add_ew(s, LZ_OP_CONVERT, LZ_F32, NULL, v, -1, -1) : v;
}

static int32_t narrow(lz_stage *s, lz_dtype d, int32_t v)
{
    return lz_dtype_is_storage(d) ? add_ew(s, LZ_OP_CONVERT, d, NULL, v, -1, -1) : v;
}

START_TEST(elementwise)
{
    lz_dtype d = (lz_dtype)_i, c32 = lz_dtype_is_storage(d) ? LZ_F32 : d;
    if (d == LZ_BOOL)
        return;
    for (int v = 0; v < 3; v++)
        for (int trial = 0; trial < 6; trial++) {
            int64_t m = sizes[rnd64() % NSIZE], n = sizes[rnd64() % NSIZE];
            world w = world_new("elementwise", vecs[v], 2, (int64_t[]){m, n}, 1);
            lz_stage *s = w.k->stages;
            uint32_t x = add_buf(w.k, d, false), y = add_buf(w.k, d, false),
                     t = add_buf(w.k, d, false), r = add_buf(w.k, d, false),
                     c = add_buf(w.k, d, false), o = add_buf(w.k, d, true),
                     q = add_buf(w.k, d, true);
            int32_t a = add_load(w.k, s, STRIDES(x, 0, n, 1)),
                    b = add_load(w.k, s, STRIDES(y, 0, 2 * n + 1, 2));
            int32_t e = add_load(w.k, s, STRIDES(t, 0, 1, m)),
                    f = add_load(w.k, s, STRIDES(r, 0, 0, 1));
            int32_t g = add_load(w.k, s, STRIDES(c, n ? n - 1 : 0, 0, -1)),
                    h = add_load(w.k, s, STRIDES(r, 0, 0, 0));
            int32_t u = add_ew(s, LZ_OP_ADD, c32, NULL, wide(s, d, a), wide(s, d, b), -1);
            u = add_ew(s, LZ_OP_MULTIPLY, c32, NULL, u, wide(s, d, e), -1);
            u = add_ew(s, LZ_OP_SUBTRACT, c32, NULL, u, wide(s, d, f), -1);
            int32_t z = add_ew(s, LZ_OP_MAXIMUM, c32, NULL, wide(s, d, g), wide(s, d, h), -1);
            int32_t p = add_ew(s, LZ_OP_ADD, c32, NULL, u, z, -1);
            add_store(s, STRIDES(o, 0, n, 1), narrow(s, d, u));
            add_store(s, STRIDES(q, 0, 1, m), narrow(s, d, p));
            give(&w, x, m * n, 0);
            give(&w, y, m * (2 * n + 1), 0);
            give(&w, t, m * n, 0);
            give(&w, r, n ? n : 1, 0);
            give(&w, c, n ? n : 1, 0);
            give(&w, o, m * n, 0);
            give(&w, q, m * n, 0);
            check(&w, 1e-6);
        }
}
END_TEST

/* ---- transposes between windows' orders: one loop is short, a third runs beside it, elements
 * follow each other backwards ---- */

/* out[i, j, k] of what lies along i, in steps of 1 or -1. */
static world turned_round(const int64_t *n, bool backwards, lz_dtype d)
{
    world w = world_new("turned", LZ_VEC_OUTER, 3, n, 1);
    lz_stage *s = w.k->stages;
    uint32_t x = add_buf(w.k, d, false), y = add_buf(w.k, d, false), o = add_buf(w.k, d, true);
    int64_t from = backwards && n[0] ? n[0] - 1 : 0, step = backwards ? -1 : 1;
    int32_t a = add_load(w.k, s, STRIDES(x, from, step, n[0], n[0] * n[1])),
            b = add_load(w.k, s, STRIDES(y, 0, n[1] * n[2], n[2], 1));
    add_store(s, STRIDES(o, 0, n[1] * n[2], n[2], 1), add_ew(s, LZ_OP_MAXIMUM, d, NULL, a, b, -1));
    for (uint32_t buf = 0; buf < 3; buf++)
        give(&w, buf, n[0] * n[1] * n[2], 0);
    return w;
}

START_TEST(short_loops)
{
    static const lz_dtype types[] = {LZ_F32, LZ_F64, LZ_I32, LZ_U8};
    const int64_t few[] = {0, 1, 3, 4, 9, 15, 16, 17, 25, 49};
    for (int trial = 0; trial < 24; trial++) {
        int64_t n[3] = {sizes[rnd64() % NSIZE], sizes[rnd64() % NSIZE], sizes[rnd64() % NSIZE]};
        n[trial & 1 ? 0 : 2] = few[rnd64() % 10];
        world w = turned_round(n, trial & 2, types[rnd64() % 4]);
        check(&w, 0);
    }
}
END_TEST

/* What lies backwards is turned in registers like all else, and not gathered element by element. */
START_TEST(backwards_in_registers)
{
    ck_assert_int_eq(lz_config_set("LAZULI_VARIANTS", NULL), LZ_OK); /* this is about them */
    lz_target t;
    must(lz_target_host(&t));
    for (int backwards = 0; backwards < 2; backwards++) {
        world w = turned_round((int64_t[]){4, 40, 70}, backwards, LZ_F32);
        must(lz_kernel_finish(w.k));
        jit j = jit_new(w.k);
        ck_assert_ptr_null(strstr(lz_buf_str(&j.ll), "llvm.masked.gather"));
        /* rows of what is transposed, and what is read as it is stored */
        ck_assert_int_gt(count(lz_buf_str(&j.ll), "call void @llvm.prefetch"),
                         (int)t.machine.vector_bytes / 4);
        /* parts of lines are read by one unit, 16 of them beside each other */
        ck_assert_int_eq(j.grid(w.k->args), 3 * 2);
        jit_free(&j);
        for (uint32_t b = 0; b < w.k->nbuf; b++)
            guarded_free(&w.in[b]);
        lz_kernel_free(w.k);
    }
}
END_TEST

/* m rows of n elements, transposed. */
static world transposed_copy(int64_t m, int64_t n)
{
    world w = world_new("copied", LZ_VEC_OUTER, 2, (int64_t[]){n, m}, 1);
    uint32_t x = add_buf(w.k, LZ_F32, false), o = add_buf(w.k, LZ_F32, true);
    int32_t v = add_load(w.k, w.k->stages, STRIDES(x, 0, 1, n));
    add_store(w.k->stages, STRIDES(o, 0, m, 1), v);
    for (uint32_t buf = 0; buf < 2; buf++)
        give(&w, buf, n * m, 0);
    return w;
}

/* Whole lines are written one block of rows after the other, which reads rows from their beginning
 * to their end; parts of lines, 64 elements of a row together. */
START_TEST(whole_lines_go_along_rows)
{
    ck_assert_int_eq(lz_config_set("LAZULI_VARIANTS", NULL), LZ_OK); /* this is about them */
    const int64_t n = 300, rows[] = {64, 96, 97};
    lz_target t;
    must(lz_target_host(&t));
    int64_t lanes = t.machine.vector_bytes / 4, sides = (n + 8 * lanes - 1) / (8 * lanes);
    for (int i = 0; i < 3; i++) {
        int64_t m = rows[i];
        world w = transposed_copy(m, n), again = transposed_copy(m, n);
        check(&w, 0);
        must(lz_kernel_finish(again.k));
        jit j = jit_new(again.k);
        ck_assert_int_eq(j.grid(again.k->args), sides * (m % 16 ? (m + 63) / 64 : m / 16));
        jit_free(&j);
        for (uint32_t b = 0; b < again.k->nbuf; b++)
            guarded_free(&again.in[b]);
        lz_kernel_free(again.k);
    }
}
END_TEST

/* Where a line has two vectors, four squares: of whole lines that are read, and whole lines that
 * are written. */
START_TEST(squares_have_whole_lines)
{
    ck_assert_int_eq(lz_config_set("LAZULI_VARIANTS", NULL), LZ_OK); /* this is about them */
    lz_target t;
    if (!few_registers(&t))
        return;
    world w = turned_round((int64_t[]){40, 40, 70}, false, LZ_F32);
    must(lz_kernel_finish(w.k));
    jit j = jit_new_on(w.k, &t);
    ck_assert_ptr_nonnull(strstr(lz_buf_str(&j.ll), "alloca [32 x <8 x float>]"));
    jit_free(&j);
    for (uint32_t b = 0; b < w.k->nbuf; b++)
        guarded_free(&w.in[b]);
    lz_kernel_free(w.k);
}
END_TEST

/* ---- which results may go past the caches: whole vectors of what is only written, where a call
 * may be large enough ---- */

static bool may_pass(lz_dtype d, int64_t n, int64_t stride, bool in_place, int64_t l3_bytes)
{
    world w = world_new("add", LZ_VEC_OUTER, 1, &n, 1);
    lz_stage *s = w.k->stages;
    uint32_t x = add_buf(w.k, d, false), y = in_place ? x : add_buf(w.k, d, true);
    w.k->buf[y].written = true;
    int32_t a = add_load(w.k, s, STRIDES(x, 0, 1));
    add_store(s, STRIDES(y, 0, stride), add_ew(s, LZ_OP_ADD, d, NULL, a, a, -1));
    must(lz_kernel_finish(w.k));
    jit j = jit_new_for(w.k, l3_bytes);
    bool found = strstr(lz_buf_str(&j.ll), "nontemporal") != NULL;
    jit_free(&j);
    lz_kernel_free(w.k);
    return found;
}

START_TEST(past_the_caches)
{
    ck_assert_int_eq(lz_config_set("LAZULI_VARIANTS", NULL), LZ_OK); /* this is about them */
    ck_assert(may_pass(LZ_F32, 1 << 20, 1, false, 1 << 20));
    ck_assert(may_pass(LZ_F64, 1 << 20, 1, false, 1 << 20));
    ck_assert(!may_pass(LZ_F32, 1 << 20, 2, false, 1 << 20)); /* no vectors in a row */
    ck_assert(!may_pass(LZ_F32, 1 << 20, 1, true, 1 << 20));  /* what is read is in the caches */
    /* a cache that many cores share is not counted on */
    ck_assert(may_pass(LZ_F32, 1 << 23, 1, false, INT64_C(1) << 28));
}
END_TEST

/* Calls that differ only in where the result goes: the operand's own place must work, too. */
START_TEST(past_the_caches_or_in_place)
{
    int64_t n = 5000;
    world w = world_new("double", LZ_VEC_OUTER, 1, &n, 1);
    lz_stage *s = w.k->stages;
    uint32_t x = add_buf(w.k, LZ_F32, false), y = add_buf(w.k, LZ_F32, true);
    int32_t a = add_load(w.k, s, STRIDES(x, 0, 1));
    add_store(s, STRIDES(y, 0, 1), add_ew(s, LZ_OP_ADD, LZ_F32, NULL, a, a, -1));
    must(lz_kernel_finish(w.k));
    jit j = jit_new_for(w.k, 1);
    for (size_t slack = 0; slack < 128; slack += 4) { /* every alignment */
        guarded in = guarded_new((size_t)n * 4, slack), out = guarded_new((size_t)n * 4, slack);
        put_random(LZ_F32, in.p, (size_t)n, 0);
        float *given = (float *)(void *)in.p, *got = (float *)(void *)out.p;
        jit_run(&j, (void *[]){in.p, out.p}, w.k->args, 0, false);
        for (int64_t i = 0; i < n; i++)
            ck_assert_msg(got[i] == 2 * given[i], "element %d", (int)i);
        jit_run(&j, (void *[]){in.p, in.p}, w.k->args, 0, false);
        ck_assert_int_eq(memcmp(in.p, out.p, (size_t)n * 4), 0);
        guarded_free(&in);
        guarded_free(&out);
    }
    jit_free(&j);
    lz_kernel_free(w.k);
}
END_TEST

/* ---- points that take much: two vectors at a time, under masks, in one loop ---- */

/* y = x, `n` times multiplied with itself less one half, over `points` points. */
static world heavy(int64_t points, int n)
{
    world w = world_new("heavy", LZ_VEC_OUTER, 1, &points, 1);
    lz_stage *s = w.k->stages;
    uint32_t x = add_buf(w.k, LZ_F32, false), y = add_buf(w.k, LZ_F32, true);
    int32_t a = add_load(w.k, s, STRIDES(x, 0, 1)), half = add_const(s, LZ_F32, 0x3f000000);
    for (int i = 0; i < n; i++) {
        a = add_ew(s, LZ_OP_MULTIPLY, LZ_F32, NULL, a, a, -1);
        a = add_ew(s, LZ_OP_SUBTRACT, LZ_F32, NULL, a, half, -1);
    }
    add_store(s, STRIDES(y, 0, 1), a);
    give(&w, x, points, 0);
    give(&w, y, points, 0);
    return w;
}

START_TEST(heavy_points)
{
    world w = heavy(sizes[_i], 25);
    check(&w, 1e-3);
}
END_TEST

static int multiplications(int n)
{
    world w = heavy(1000, n);
    must(lz_kernel_finish(w.k));
    jit j = jit_new(w.k);
    int count = 0;
    for (const char *p = lz_buf_str(&j.ll); (p = strstr(p, "= fmul")) != NULL; p++)
        count++;
    jit_free(&j);
    for (uint32_t b = 0; b < w.k->nbuf; b++)
        guarded_free(&w.in[b]);
    lz_kernel_free(w.k);
    return count;
}

START_TEST(heavy_points_have_one_loop)
{
    lz_target t;
    must(lz_target_host(&t));
    ck_assert_int_eq(lz_config_set("LAZULI_VARIANTS", NULL), LZ_OK); /* this is about them */
    ck_assert_int_eq(multiplications(5), 5 * 5); /* four vectors, and one for the rest */
    ck_assert_int_eq(multiplications(25), t.machine.vector_bytes == 64 ? 25 * 2 : 25 * 3);
}
END_TEST

/* ---- rows: softmax in three stages, inner loops split in two, results per row ---- */

static void softmax_rows(lz_vec vec, int64_t rows, int64_t n, int64_t n2, bool columns)
{
    world w = world_new("softmax", vec, 1, &rows, 3);
    uint32_t x = add_buf(w.k, LZ_F32, false), y = add_buf(w.k, LZ_F32, true),
             z = add_buf(w.k, LZ_F32, true);
    w.k->buf[y].read = true;
    int64_t total = n * n2, row = columns ? 1 : total, c1 = columns ? rows * n2 : n2,
            c2 = columns ? rows : 1;
    for (int i = 0; i < 3; i++) {
        lz_stage *s = stage_of(w.k, (uint32_t)i);
        s->ninner = 2;
        s->extent[0] = sz(n);
        s->extent[1] = sz(n2);
        if (i == 0) {
            int32_t v = add_load(w.k, s, STRIDES(x, 0, row, c1, c2));
            add_red(s, LZ_OP_MAXIMUM, LZ_F32, v, add_f32(s, -INFINITY));
        } else if (i == 1) {
            int32_t v = add_load(w.k, s, STRIDES(x, 0, row, c1, c2));
            int32_t m = add_redval(s, 0, 0, LZ_F32);
            int32_t e = add_ew(s, LZ_OP_EXPONENTIAL, LZ_F32, NULL,
                               add_ew(s, LZ_OP_SUBTRACT, LZ_F32, NULL, v, m, -1), -1, -1);
            add_store(s, STRIDES(y, 0, row, c1, c2), e);
            add_red(s, LZ_OP_ADD, LZ_F32, e, add_f32(s, 0));
            add_red(s, LZ_OP_ADD, LZ_F32, add_ew(s, LZ_OP_MULTIPLY, LZ_F32, NULL, e, v, -1),
                    add_f32(s, 0));
        } else {
            int32_t v = add_load(w.k, s, STRIDES(y, 0, row, c1, c2));
            int32_t q = add_ew(s, LZ_OP_DIVIDE, LZ_F32, NULL, v, add_redval(s, 1, 0, LZ_F32), -1);
            add_store(s, STRIDES(y, 0, row, c1, c2), q);
            int32_t p = add_ew(s, LZ_OP_ADD, LZ_F32, NULL, q, add_redval(s, 1, 1, LZ_F32), -1);
            add_store(s, STRIDES(z, 0, row, c1, c2), p);
        }
    }
    give(&w, x, rows * total, 0);
    give(&w, y, rows * total, 0);
    give(&w, z, rows * total, 0);
    check(&w, 1e-4);
}

START_TEST(softmax)
{
    for (int v = 0; v < 3; v++)
        for (int trial = 0; trial < 8; trial++)
            softmax_rows(vecs[v], sizes[rnd64() % NSIZE], 1 + (int64_t)(rnd64() % 3),
                         sizes[rnd64() % NSIZE], rnd64() & 1);
}
END_TEST

/* ---- general combiner: index of the greatest value, the first one among equals ---- */

static void argmax_rows(lz_vec vec, int64_t rows, int64_t n, bool columns)
{
    world w = world_new("argmax", vec, 1, &rows, 2);
    uint32_t x = add_buf(w.k, LZ_I32, false), y = add_buf(w.k, LZ_I32, true),
             z = add_buf(w.k, LZ_I64, true);
    lz_stage *s = stage_of(w.k, 0);
    s->ninner = 1;
    s->extent[0] = sz(n);
    int32_t v =
        columns ? add_load(w.k, s, STRIDES(x, 0, 1, rows)) : add_load(w.k, s, STRIDES(x, 0, n, 1));
    int32_t ix = add_index(s, 1);
    int32_t lowest = add_const(s, LZ_I32, 0x80000000u), last = add_const(s, LZ_I64, INT64_MAX);
    lz_red *r = &s->reds[s->nred++];
    memset(r, 0, sizeof *r);
    r->comb = LZ_OP_NONE;
    r->nacc = 2;
    r->acc_dtype[0] = LZ_I32;
    r->acc_dtype[1] = LZ_I64;
    r->value[0] = v;
    r->value[1] = ix;
    r->init[0] = lowest;
    r->init[1] = last;
    lz_stage tmp = {.sops = lz_arena_alloc(&w.k->arena, 16 * sizeof(lz_sop))};
    int32_t q[4];
    for (int i = 0; i < 4; i++) {
        lz_sop p = sop_new(i < 2 ? LZ_S_ACC : LZ_S_ELT, i & 1 ? LZ_I64 : LZ_I32);
        p.a = i & 1;
        q[i] = add_sop(&tmp, p);
    }
    int32_t gt = add_ew(&tmp, LZ_OP_COMPARE, LZ_BOOL, compare(LZ_CMP_GT), q[2], q[0], -1);
    int32_t eq = add_ew(&tmp, LZ_OP_COMPARE, LZ_BOOL, compare(LZ_CMP_EQ), q[2], q[0], -1);
    int32_t lt = add_ew(&tmp, LZ_OP_COMPARE, LZ_BOOL, compare(LZ_CMP_LT), q[3], q[1], -1);
    int32_t take = add_ew(&tmp, LZ_OP_OR, LZ_BOOL, NULL, gt,
                          add_ew(&tmp, LZ_OP_AND, LZ_BOOL, NULL, eq, lt, -1), -1);
    r->body_out[0] = add_ew(&tmp, LZ_OP_SELECT, LZ_I32, NULL, take, q[2], q[0]);
    r->body_out[1] = add_ew(&tmp, LZ_OP_SELECT, LZ_I64, NULL, take, q[3], q[1]);
    r->body = tmp.sops;
    r->nbody = tmp.nsop;
    lz_stage *t = stage_of(w.k, 1);
    add_store(t, STRIDES(y, 0, 1), add_redval(t, 0, 0, LZ_I32));
    add_store(t, STRIDES(z, 0, 1), add_redval(t, 0, 1, LZ_I64));
    give(&w, x, rows * n, 0);
    for (int64_t i = 0; i < rows * n; i++)
        ((int32_t *)(void *)w.in[x].p)[i] %= 10;
    give(&w, y, rows, 0);
    give(&w, z, rows, 0);
    check(&w, 0);
}

START_TEST(argmax)
{
    for (int v = 0; v < 3; v++)
        for (int trial = 0; trial < 8; trial++)
            argmax_rows(vecs[v], sizes[rnd64() % NSIZE], sizes[rnd64() % NSIZE], rnd64() & 1);
}
END_TEST

/* ---- reductions of every associative op and dtype ---- */

static void reduce_rows(lz_op op, lz_dtype d, lz_dtype acc, uint64_t init, lz_vec vec, int64_t rows,
                        int64_t n, bool columns)
{
    world w = world_new(lz_op_get(op)->text, vec, 1, &rows, 2);
    uint32_t x = add_buf(w.k, d, false), y = add_buf(w.k, acc, true);
    lz_stage *s = stage_of(w.k, 0), *t = stage_of(w.k, 1);
    s->ninner = 1;
    s->extent[0] = sz(n);
    int32_t v =
        columns ? add_load(w.k, s, STRIDES(x, 0, 1, rows)) : add_load(w.k, s, STRIDES(x, 0, n, 1));
    if (d != acc)
        v = add_ew(s, LZ_OP_CONVERT, acc, NULL, v, -1, -1);
    add_red(s, op, acc, v, add_const(s, acc, init));
    add_store(t, STRIDES(y, 0, 1), add_redval(t, 0, 0, acc));
    give(&w, x, rows * n, 0);
    give(&w, y, rows, 0);
    check(&w, 1e-4);
}

START_TEST(reductions)
{
    const struct {
        lz_op op;
        lz_dtype d, acc;
        uint64_t init;
    } r[] = {{LZ_OP_ADD, LZ_F32, LZ_F32, 0},
             {LZ_OP_ADD, LZ_F64, LZ_F64, 0},
             {LZ_OP_ADD, LZ_BF16, LZ_F32, 0},
             {LZ_OP_ADD, LZ_F16, LZ_F32, 0},
             {LZ_OP_ADD, LZ_I8, LZ_I8, 0},
             {LZ_OP_ADD, LZ_I64, LZ_I64, 0},
             {LZ_OP_ADD, LZ_C64, LZ_C64, 0},
             {LZ_OP_ADD, LZ_C128, LZ_C128, 0},
             {LZ_OP_MULTIPLY, LZ_I32, LZ_I32, 1},
             {LZ_OP_MULTIPLY, LZ_U16, LZ_U16, 1},
             {LZ_OP_AND, LZ_BOOL, LZ_BOOL, 1},
             {LZ_OP_OR, LZ_BOOL, LZ_BOOL, 0},
             {LZ_OP_XOR, LZ_U8, LZ_U8, 0},
             {LZ_OP_MAXIMUM, LZ_F32, LZ_F32, 0xff800000u},
             {LZ_OP_MINIMUM, LZ_I16, LZ_I16, 0x7fff},
             {LZ_OP_MAXIMUM, LZ_U64, LZ_U64, 0},
             {LZ_OP_MAXIMUM, LZ_BF16, LZ_BF16, 0xff80}};
    for (size_t i = 0; i < sizeof r / sizeof *r; i++)
        for (int v = 0; v < 3; v++)
            for (int trial = 0; trial < 3; trial++)
                reduce_rows(r[i].op, r[i].d, r[i].acc, r[i].init, vecs[v], sizes[rnd64() % NSIZE],
                            sizes[rnd64() % NSIZE], rnd64() & 1);
}
END_TEST

/* ---- down the columns of rows, in strips ---- */

/* y[b, j] = bias[j] + the combination of x[b, q, i, j] t[i] over q and i. */
static world columns_new(lz_op op, lz_dtype d, lz_dtype acc, const int64_t n[4])
{
    world w = world_new("columns", LZ_VEC_OUTER, 2, (int64_t[]){n[0], n[3]}, 2);
    uint32_t x = add_buf(w.k, d, false), f = add_buf(w.k, acc, false),
             bias = add_buf(w.k, acc, false), y = add_buf(w.k, acc, true);
    lz_stage *s = stage_of(w.k, 0), *t = stage_of(w.k, 1);
    s->ninner = 2;
    s->extent[0] = sz(n[1]);
    s->extent[1] = sz(n[2]);
    int32_t v = add_load(w.k, s, STRIDES(x, 0, n[1] * n[2] * n[3], 1, n[2] * n[3], n[3]));
    if (d != acc)
        v = add_ew(s, LZ_OP_CONVERT, acc, NULL, v, -1, -1);
    v = add_ew(s, LZ_OP_MULTIPLY, acc, NULL, v, add_load(w.k, s, STRIDES(f, 0, 0, 0, 0, 1)), -1);
    add_red(s, op, acc, v, add_const(s, acc, 0));
    int32_t r = add_redval(t, 0, 0, acc);
    r = add_ew(t, LZ_OP_ADD, acc, NULL, r, add_load(w.k, t, STRIDES(bias, 0, 0, 1)), -1);
    add_store(t, STRIDES(y, 0, n[3], 1), r);
    give(&w, x, n[0] * n[1] * n[2] * n[3], 0);
    give(&w, f, n[2], 0);
    give(&w, bias, n[3], 0);
    give(&w, y, n[0] * n[3], 0);
    return w;
}

START_TEST(strips_of_columns)
{
    const struct {
        lz_op op;
        lz_dtype d, acc;
    } r[] = {{LZ_OP_ADD, LZ_F32, LZ_F32},     {LZ_OP_ADD, LZ_F64, LZ_F64},
             {LZ_OP_ADD, LZ_BF16, LZ_F32},    {LZ_OP_ADD, LZ_I64, LZ_I64},
             {LZ_OP_MAXIMUM, LZ_F32, LZ_F32}, {LZ_OP_ADD, LZ_C64, LZ_C64}};
    const int64_t rows[] = {63, 64, 65, 79, 130}, cols[] = {31, 128, 129, 1030, 1300};
    for (size_t i = 0; i < sizeof r / sizeof *r; i++)
        for (int m = 0; m < 5; m++) {
            int64_t n[4] = {1 + m % 2, 1 + (m + (int)i) % 2, rows[m], cols[(m + i) % 5]};
            world w = columns_new(r[i].op, r[i].d, r[i].acc, n);
            check(&w, 1e-4);
        }
    world none = columns_new(LZ_OP_ADD, LZ_F32, LZ_F32, (int64_t[]){1, 0, 100, 300});
    check(&none, 0);
}
END_TEST

/* The rows of a strip are fetched ahead. */
static bool fetches_rows(lz_dtype d, int64_t columns)
{
    world w = columns_new(LZ_OP_ADD, d, d, (int64_t[]){1, 1, 100, columns});
    must(lz_kernel_finish(w.k));
    jit j = jit_new(w.k);
    bool found = strstr(lz_buf_str(&j.ll), "llvm.prefetch") != NULL;
    jit_free(&j);
    for (uint32_t b = 0; b < w.k->nbuf; b++)
        guarded_free(&w.in[b]);
    lz_kernel_free(w.k);
    return found;
}

START_TEST(rows_are_fetched_ahead)
{
    ck_assert_int_eq(lz_config_set("LAZULI_VARIANTS", NULL), LZ_OK); /* this is about them */
    ck_assert(fetches_rows(LZ_F32, 300));
    ck_assert(!fetches_rows(LZ_C64, 300)); /* whose sums are not of the plain form */
    lz_target t;
    must(lz_target_host(&t));
    int64_t lanes =
        t.machine.vector_bytes / 4; /* two vectors side by side are enough, one is not */
    ck_assert(fetches_rows(LZ_F32, 2 * lanes));
    ck_assert(!fetches_rows(LZ_F32, lanes));
}
END_TEST

/* A sum down columns takes no scratch memory, so it has no function that says how much; what is
 * stored once for many rows does not go past the caches. */
START_TEST(sums_down_columns_are_two_functions)
{
    ck_assert_int_eq(lz_config_set("LAZULI_VARIANTS", NULL), LZ_OK); /* this is about them */
    world w = columns_new(LZ_OP_ADD, LZ_F32, LZ_F32, (int64_t[]){1, 1, 100, 300});
    must(lz_kernel_finish(w.k));
    jit j = jit_new(w.k);
    const char *ll = lz_buf_str(&j.ll);
    ck_assert_int_eq(count(ll, "define "), 2);
    ck_assert_int_eq(count(ll, "nontemporal"), 0);
    ck_assert_int_eq(j.scratch(w.k->args), 0);
    jit_free(&j);
    for (uint32_t b = 0; b < w.k->nbuf; b++)
        guarded_free(&w.in[b]);
    lz_kernel_free(w.k);
}
END_TEST

/* ---- computed addresses: rows of a table by index; padding by guards; scatter in order ---- */

START_TEST(gather)
{
    for (int v = 0; v < 3; v++)
        for (int trial = 0; trial < 8; trial++) {
            int64_t n = sizes[rnd64() % NSIZE], m = sizes[rnd64() % NSIZE],
                    rows = 1 + (int64_t)(rnd64() % 50);
            bool by_column = rnd64() & 1;
            world w = world_new("gather", vecs[v], 2, (int64_t[]){n, m}, 1);
            uint32_t tab = add_buf(w.k, LZ_F32, false), ix = add_buf(w.k, LZ_I64, false),
                     o = add_buf(w.k, LZ_F32, true);
            lz_stage *s = w.k->stages;
            int32_t i = add_load(w.k, s, by_column ? STRIDES(ix, 0, 0, 1) : STRIDES(ix, 0, 1, 0));
            lz_access a = by_column ? STRIDES(tab, 0, 1, 0) : STRIDES(tab, 0, 0, 1);
            a.ndyn = 1;
            a.dyn[0].sop = i;
            a.dyn[0].stride = sz(by_column ? n : m);
            add_store(s, STRIDES(o, 0, m, 1), add_load(w.k, s, a));
            give(&w, tab, rows * (by_column ? n : m), 0);
            give(&w, ix, by_column ? m : n, rows);
            give(&w, o, n * m, 0);
            check(&w, 0);
        }
}
END_TEST

START_TEST(padding)
{
    const lz_dtype types[] = {LZ_F32, LZ_I8, LZ_BF16, LZ_F64, LZ_C64, LZ_C128, LZ_BOOL};
    for (size_t d = 0; d < sizeof types / sizeof *types; d++)
        for (int v = 0; v < 3; v++)
            for (int trial = 0; trial < 4; trial++) {
                int64_t n = sizes[rnd64() % NSIZE], m = sizes[rnd64() % NSIZE], lo = 3,
                        full = n + lo + 2;
                world w = world_new("padding", vecs[v], 2, (int64_t[]){m, full}, 1);
                uint32_t x = add_buf(w.k, types[d], false), o = add_buf(w.k, types[d], true);
                lz_stage *s = w.k->stages;
                int32_t i = add_index(s, 1), a = add_const(s, LZ_I64, (uint64_t)lo),
                        b = add_const(s, LZ_I64, (uint64_t)(n + lo));
                int32_t ge = add_ew(s, LZ_OP_COMPARE, LZ_BOOL, compare(LZ_CMP_GE), i, a, -1);
                int32_t lt = add_ew(s, LZ_OP_COMPARE, LZ_BOOL, compare(LZ_CMP_LT), i, b, -1);
                lz_access q = STRIDES(x, -lo, n, 1);
                q.guard = add_ew(s, LZ_OP_AND, LZ_BOOL, NULL, ge, lt, -1);
                q.other = add_const(s, types[d], types[d] == LZ_BOOL ? 1 : 0x42);
                add_store(s, STRIDES(o, 0, full, 1), add_load(w.k, s, q));
                give(&w, x, n * m, 0);
                give(&w, o, full * m, 0);
                check(&w, 0);
            }
}
END_TEST

START_TEST(scatter)
{
    for (int v = 0; v < 3; v++)
        for (int trial = 0; trial < 8; trial++) {
            int64_t n = sizes[rnd64() % NSIZE], m = sizes[rnd64() % NSIZE],
                    rows = 1 + (int64_t)(rnd64() % 9);
            bool cols_inside = rnd64() & 1;
            world w = world_new("scatter", vecs[v], cols_inside ? 1 : 2, (int64_t[]){n, m}, 1);
            w.k->serial = true;
            uint32_t ix = add_buf(w.k, LZ_I64, false), u = add_buf(w.k, LZ_F32, false),
                     o = add_buf(w.k, LZ_F32, true);
            w.k->buf[o].read = true;
            lz_stage *s = w.k->stages;
            if (cols_inside) {
                s->ninner = 1;
                s->extent[0] = sz(m);
            }
            int32_t i = add_load(w.k, s, STRIDES(ix, 0, 1, 0)),
                    hi = add_const(s, LZ_I64, (uint64_t)rows);
            int32_t ok = add_ew(s, LZ_OP_COMPARE, LZ_BOOL, compare(LZ_CMP_LT), i, hi, -1);
            lz_access a = STRIDES(o, 0, 0, 1);
            a.ndyn = 1;
            a.dyn[0].sop = i;
            a.dyn[0].stride = sz(m);
            a.guard = ok;
            a.other = add_f32(s, 0);
            int32_t old = add_load(w.k, s, a), val = add_load(w.k, s, STRIDES(u, 0, m, 1));
            add_store(s, a, add_ew(s, LZ_OP_ADD, LZ_F32, NULL, old, val, -1));
            give(&w, ix, n, rows + 2); /* some out of range */
            give(&w, u, n * m, 0);
            give(&w, o, rows * m, 0);
            check(&w, 1e-6);
        }
}
END_TEST

/* ---- random kernels ---- */

static int32_t random_value(world *w, lz_stage *s, uint32_t nloop, uint32_t nred_before,
                            int64_t *need)
{
    lz_kernel *k = w->k;
    (void)nred_before;
    lz_access a = access_to(add_buf(k, rnd64() % 4 ? LZ_F32 : LZ_F64, false));
    int64_t span = 1;
    for (uint32_t d = nloop; d-- > 0;) {
        int64_t n = d < k->nouter ? k->outer[d].v : s->extent[d - k->nouter].v;
        if (rnd64() % 4 == 0)
            continue;
        a.stride[d] = sz(span);
        if (n > 0)
            span += (n - 1) * span;
    }
    if (rnd64() % 3 == 0) { /* another order of the dimensions */
        uint32_t p = (uint32_t)(rnd64() % nloop), q = (uint32_t)(rnd64() % nloop);
        lz_sz t = a.stride[p];
        a.stride[p] = a.stride[q];
        a.stride[q] = t;
        span = 1;
        for (uint32_t d = 0; d < nloop; d++) {
            int64_t n = d < k->nouter ? k->outer[d].v : s->extent[d - k->nouter].v;
            span += a.stride[d].v * (n > 0 ? n - 1 : 0);
        }
    }
    *need = span;
    int32_t v = add_load(k, s, a);
    give(w, a.buf, span, 0);
    return k->buf[a.buf].dtype == LZ_F32 ? v : add_ew(s, LZ_OP_CONVERT, LZ_F32, NULL, v, -1, -1);
}

static void random_kernel(void)
{
    int64_t outer[3];
    int no = (int)(rnd64() % 4);
    for (int i = 0; i < no; i++)
        outer[i] = sizes[1 + rnd64() % (i == 2 ? NSIZE - 1 : 8)];
    int ns = 1 + (int)(rnd64() % 3);
    world w = world_new("random", no ? vecs[rnd64() % 3] : LZ_VEC_NONE, no, outer, ns);
    uint32_t nred = 0, from = 0;
    for (int i = 0; i < ns; i++) {
        lz_stage *s = stage_of(w.k, (uint32_t)i);
        s->ninner = (uint32_t)(rnd64() % 3);
        for (uint32_t d = 0; d < s->ninner; d++)
            s->extent[d] = sz(sizes[rnd64() % 12]);
        uint32_t nloop = (uint32_t)no + s->ninner;
        int64_t need;
        int32_t v = add_f32(s, 0.5f);
        for (uint64_t q = 1 + rnd64() % 2; nloop && q--;) {
            int32_t u = random_value(&w, s, nloop, nred, &need);
            v = add_ew(s, rnd64() & 1 ? LZ_OP_ADD : LZ_OP_MULTIPLY, LZ_F32, NULL, v, u, -1);
        }
        if (nred) {
            int32_t r = add_redval(s, (int32_t)from, (int32_t)(rnd64() % nred), LZ_F32);
            v = add_ew(s, LZ_OP_ADD, LZ_F32, NULL, v,
                       add_ew(s, LZ_OP_TANH, LZ_F32, NULL, r, -1, -1), -1);
        }
        if (rnd64() & 1 && nloop)
            v = add_ew(s, LZ_OP_ADD, LZ_F32, NULL, v,
                       add_ew(s, LZ_OP_CONVERT, LZ_F32, NULL,
                              add_index(s, (int32_t)(rnd64() % nloop)), -1, -1),
                       -1);
        nred = 0;
        for (uint64_t q = rnd64() % 3; q--; nred++) {
            if (rnd64() & 1)
                add_red(s, LZ_OP_MAXIMUM, LZ_F32, v, add_f32(s, -3));
            else
                add_red(s, LZ_OP_ADD, LZ_F32, add_ew(s, LZ_OP_MULTIPLY, LZ_F32, NULL, v, v, -1),
                        add_f32(s, 0));
        }
        from = (uint32_t)i;
        if (rnd64() & 1 || i == ns - 1) {
            lz_access a = access_to(add_buf(w.k, LZ_F32, true));
            int64_t span = 1;
            for (uint32_t d = nloop; d-- > 0;) {
                int64_t n = d < w.k->nouter ? w.k->outer[d].v : s->extent[d - w.k->nouter].v;
                a.stride[d] = sz(span);
                span *= n > 0 ? n : 1;
            }
            add_store(s, a, v);
            give(&w, a.buf, span, 0);
        }
    }
    check(&w, 1e-3);
}

START_TEST(randoms)
{
    unsigned n = lz_test_whole() ? 40 : lz_test_small() ? 4 : 12;
    for (unsigned i = 0; i < n; i++) {
        rnd_series((unsigned)_i * 40 + lz_test_trial(i, n, 40));
        random_kernel();
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("codegen_loops");
    TCase *t = tcase_create("loops");
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, elementwise, LZ_BOOL, LZ_DTYPE_COUNT);
    tcase_add_test(t, past_the_caches);
    tcase_add_test(t, past_the_caches_or_in_place);
    tcase_add_loop_test(t, heavy_points, 0, sizeof sizes / sizeof *sizes);
    tcase_add_test(t, heavy_points_have_one_loop);
    tcase_add_test(t, softmax);
    tcase_add_test(t, argmax);
    tcase_add_test(t, reductions);
    tcase_add_test(t, strips_of_columns);
    tcase_add_test(t, rows_are_fetched_ahead);
    tcase_add_test(t, sums_down_columns_are_two_functions);
    tcase_add_test(t, short_loops);
    tcase_add_test(t, backwards_in_registers);
    tcase_add_test(t, whole_lines_go_along_rows);
    tcase_add_test(t, squares_have_whole_lines);
    tcase_add_test(t, gather);
    tcase_add_test(t, padding);
    tcase_add_test(t, scatter);
    tcase_add_loop_test(t, randoms, 0, 10);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
