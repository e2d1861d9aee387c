/* t_codegen_dot.c - tiled matrix products: every form of operands, sizes around the tiles, dtypes,
 * prologues and epilogues, against the slow executor. Units run in pieces and backwards with the
 * same bits. Every buffer ends at a guard page. */
#include "base/config.h"
#include "jit_util.h"
#include "ir/module.h"
#include <math.h>

typedef struct form {
    lz_dtype in, acc, out;
    bool ta, tb;  /* A stored [k, m]; B stored [n, k] */
    int batch;    /* 0: no batch loop */
    int pro, epi; /* 1: arithmetic below the factors; above the sum */
    int64_t pad;  /* extra elements between rows */
} form;
static lz_access matrix(uint32_t buf, const form *f, bool t, uint32_t d0, uint32_t d1, int64_t n0,
                        int64_t n1, int64_t *total)
{
    lz_access a = access_to(buf);
    int64_t ld = (t ? n0 : n1) + f->pad, one = (t ? n1 : n0) * ld;
    a.stride[d0] = sz(t ? 1 : ld);
    a.stride[d1] = sz(t ? ld : 1);
    if (f->batch)
        a.stride[0] = sz(one);
    int64_t rows = t ? n1 : n0, cols = t ? n0 : n1;
    *total = (f->batch ? (f->batch - 1) * one : 0) + (rows && cols ? (rows - 1) * ld + cols : 0);
    return a;
}

static lz_kernel *product(const form *f, int64_t m, int64_t n, int64_t k, int64_t *total)
{
    lz_kernel *q = lz_kernel_new("dot");
    uint32_t no = 0;
    if (f->batch)
        q->outer[no++] = sz(f->batch);
    uint32_t dm = no, dn = no + 1, dk = no + 2;
    q->outer[dm] = sz(m);
    q->outer[dn] = sz(n);
    q->nouter = no + 2;
    q->vec = LZ_VEC_OUTER;
    stages_new(q, 2);
    uint32_t a = add_buf(q, f->in, false), b = add_buf(q, f->in, false),
             bias = add_buf(q, f->acc, false), c = add_buf(q, f->out, true);
    lz_stage *s = stage_of(q, 0), *t = stage_of(q, 1);
    s->ninner = 1;
    s->extent[0] = sz(k);
    int32_t x = add_load(q, s, matrix(a, f, f->ta, dm, dk, m, k, &total[0]));
    int32_t y = add_load(q, s, matrix(b, f, f->tb, dk, dn, k, n, &total[1]));
    if (f->in != f->acc) {
        x = add_ew(s, LZ_OP_CONVERT, f->acc, NULL, x, -1, -1);
        y = add_ew(s, LZ_OP_CONVERT, f->acc, NULL, y, -1, -1);
    }
    if (f->pro) {
        x = add_ew(s, LZ_OP_MAXIMUM, f->acc, NULL, x, add_const(s, f->acc, 0), -1);
        int32_t e = add_ew(s, LZ_OP_CONVERT, f->acc, NULL, add_index(s, (int32_t)dk), -1, -1);
        y = add_ew(s, LZ_OP_ADD, f->acc, NULL, y, add_ew(s, LZ_OP_MINIMUM, f->acc, NULL, e, y, -1),
                   -1);
    }
    add_red(s, LZ_OP_ADD, f->acc, add_ew(s, LZ_OP_MULTIPLY, f->acc, NULL, x, y, -1),
            add_const(s, f->acc, 0));
    q->stages[0].dot =
        (lz_dot_info){.role = LZ_DOT_KERNEL, .m = dm, .n = dn, .a_sop = x, .b_sop = y};
    int32_t r = add_redval(t, 0, 0, f->acc);
    lz_access v = access_to(bias);
    v.stride[dn] = sz(1);
    total[2] = n > 0 ? n : 1;
    if (f->epi) {
        r = add_ew(t, LZ_OP_ADD, f->acc, NULL, r, add_load(q, t, v), -1);
        r = add_ew(t, LZ_OP_MAXIMUM, f->acc, NULL, r, add_const(t, f->acc, 0), -1);
    }
    if (f->out != f->acc)
        r = add_ew(t, LZ_OP_CONVERT, f->out, NULL, r, -1, -1);
    add_store(t, matrix(c, f, false, dm, dn, m, n, &total[3]), r);
    must(lz_kernel_finish(q));
    return q;
}

static void check_on(const form *f, int64_t m, int64_t n, int64_t k, const lz_target *on)
{
    int64_t total[4];
    lz_kernel *q = product(f, m, n, k, total);
    guarded g[4], want, again;
    size_t nbytes[4];
    void *p[4];
    for (int i = 0; i < 4; i++) {
        nbytes[i] = (size_t)total[i] * lz_dtype_size(q->buf[i].dtype);
        g[i] = guarded_new(nbytes[i], 0);
        fill_factors(q->buf[i].dtype, g[i].p, total[i]);
        p[i] = g[i].p;
    }
    want = guarded_new(nbytes[3], 0);
    again = guarded_new(nbytes[3], 0);
    memcpy(want.p, g[3].p, nbytes[3]);
    memcpy(again.p, g[3].p, nbytes[3]);
    p[3] = want.p;
    must(lz_loop_run(q, p, nbytes));
    jit j = jit_new_on(q, on);
    p[3] = g[3].p;
    jit_run(&j, p, q->args, 0, false);
    p[3] = again.p;
    jit_run(&j, p, q->args, 1 + (int64_t)(rnd64() % 3), true);
    char what[160];
    snprintf(what, sizeof what, "%lldx%lldx%lld %s->%s %s%s batch %d pro %d epi %d", (long long)m,
             (long long)k, (long long)n, lz_dtype_name(f->in), lz_dtype_name(f->out),
             f->ta ? "T" : "N", f->tb ? "T" : "N", f->batch, f->pro, f->epi);
    ck_assert_msg(memcmp(g[3].p, again.p, nbytes[3]) == 0, "%s: depends on the division into units",
                  what);
    double eps = f->acc == LZ_F64 ? 1e-13 : 2e-6;
    if (f->out == LZ_BF16 || f->out == LZ_F16)
        eps = f->out == LZ_BF16 ? 0.01 : 0.002;
    for (int64_t i = 0; i < total[3]; i++) {
        double x = lz_elem_get_f64(f->out, g[3].p, i), y = lz_elem_get_f64(f->out, want.p, i);
        double tol = lz_dtype_is_float(f->acc)
                         ? eps * (1 + fabs(y) + sqrt((double)k) * (f->pro ? (double)k : 1))
                         : 0;
        ck_assert_msg(fabs(x - y) <= tol, "%s: element %lld is %g, expected %g", what, (long long)i,
                      x, y);
    }
    jit_free(&j);
    for (int i = 0; i < 4; i++)
        guarded_free(&g[i]);
    guarded_free(&want);
    guarded_free(&again);
    lz_kernel_free(q);
}

static void check(const form *f, int64_t m, int64_t n, int64_t k)
{
    lz_target t;
    any_target(&t);
    check_on(f, m, n, k, &t);
}

static const int64_t sizes[] = {0, 1, 2, 7, 8, 9, 15, 16, 17, 47, 48, 49, 63, 64, 65, 100, 128};
enum { NS = sizeof sizes / sizeof *sizes };

static int64_t any_size(void)
{
    return sizes[rnd64() % NS];
}

START_TEST(forms)
{
    const lz_dtype types[][3] = {{LZ_F32, LZ_F32, LZ_F32},   {LZ_F64, LZ_F64, LZ_F64},
                                 {LZ_BF16, LZ_F32, LZ_BF16}, {LZ_F16, LZ_F32, LZ_F16},
                                 {LZ_BF16, LZ_F32, LZ_F32},  {LZ_I32, LZ_I32, LZ_I32},
                                 {LZ_I64, LZ_I64, LZ_I64},   {LZ_U32, LZ_U32, LZ_U32},
                                 {LZ_I8, LZ_I8, LZ_I8},      {LZ_U16, LZ_U16, LZ_U16}};
    form f = {.ta = _i & 1, .tb = (_i >> 1) & 1, .pro = (_i >> 2) & 1, .epi = (_i >> 3) & 1};
    enum { TRIALS = 4 }; /* one in turn, but for the whole load */
    unsigned of = lz_test_small() ? 3 * TRIALS : TRIALS;
    for (unsigned d = 0; d < sizeof types / sizeof *types; d++)
        for (unsigned trial = 0; trial < TRIALS; trial++) {
            if (!lz_test_in_turn(trial + TRIALS * d + (unsigned)_i, of))
                continue;
            rnd_series(((unsigned)_i * 16 + d) * TRIALS + trial);
            f.in = types[d][0];
            f.acc = types[d][1];
            f.out = types[d][2];
            f.batch = rnd64() % 3 ? 0 : 1 + (int)(rnd64() % 3);
            f.pad = rnd64() % 3 ? 0 : (int64_t)(rnd64() % 20);
            check(&f, any_size(), any_size(), any_size());
        }
}
END_TEST

START_TEST(all_sizes)
{
    form f = {LZ_F32, LZ_F32, LZ_F32, _i & 1, (_i >> 1) & 1, 0, 0, _i == 1, 0};
    for (unsigned m = 0; m < NS; m++)
        for (unsigned n = 0; n < NS; n++)
            if (lz_test_in_turn(m + n + 2 * (unsigned)_i, lz_test_small() ? 36 : 12))
                check(&f, sizes[m], sizes[n], sizes[(m * 5 + n * 3 + (unsigned)_i) % NS]);
}
END_TEST

/* All numbers of rows of a tile by all numbers of vectors of a panel, and one more of each, where
 * the columns are whole vectors: a panel ends where they do. */
START_TEST(whole_vectors)
{
    form f = {.in = LZ_F32, .acc = LZ_F32, .out = LZ_F32, .ta = _i == 1};
    for (int64_t m = 1; m <= 9; m++)
        for (int64_t v = 1; v <= 9; v++) {
            lz_target t;
            must(lz_target_host(&t));
            if (lz_test_in_turn((unsigned)(m * 9 + v + 3 * _i), lz_test_small() ? 6 : 2))
                check_on(&f, m, v * t.machine.vector_bytes / 4, 11, &t);
            if (lz_test_in_turn((unsigned)(m * 9 + v + 3 * _i), lz_test_small() ? 30 : 11) &&
                few_registers(&t))
                check_on(&f, m, v * t.machine.vector_bytes / 4, 11, &t);
        }
}
END_TEST

/* Two and three contracted dimensions that do not collapse: C[m, n] = sum A[m, p, q, r] B[q, p, r,
 * n] or B[n, r, q, p]. */
static void contract(const int64_t *e, int ninner, int64_t m, int64_t n, bool tb)
{
    lz_kernel *q = lz_kernel_new("contract");
    q->nouter = 2;
    q->outer[0] = sz(m);
    q->outer[1] = sz(n);
    q->vec = LZ_VEC_OUTER;
    stages_new(q, 2);
    uint32_t a = add_buf(q, LZ_F32, false), b = add_buf(q, LZ_F32, false),
             c = add_buf(q, LZ_F32, true);
    lz_stage *s = stage_of(q, 0), *t = stage_of(q, 1);
    s->ninner = (uint32_t)ninner;
    int64_t k = 1, span = tb ? 1 : n;
    lz_access x = access_to(a), y = access_to(b), z = access_to(c);
    for (int d = ninner; d-- > 0;) {
        s->extent[d] = sz(e[d]);
        x.stride[2 + d] = sz(k);
        k *= e[d];
    }
    for (int d = 0; d < ninner; d++) {
        int u = tb ? ninner - 1 - d : d < 2 ? 1 - d : d;
        y.stride[2 + u] = sz(span);
        span *= e[u];
    }
    x.stride[0] = sz(k);
    y.stride[1] = sz(tb ? k : 1);
    z.stride[0] = sz(n);
    z.stride[1] = sz(1);
    int32_t u = add_load(q, s, x), v = add_load(q, s, y);
    add_red(s, LZ_OP_ADD, LZ_F32, add_ew(s, LZ_OP_MULTIPLY, LZ_F32, NULL, u, v, -1), add_f32(s, 0));
    q->stages[0].dot = (lz_dot_info){.role = LZ_DOT_KERNEL, .m = 0, .n = 1, .a_sop = u, .b_sop = v};
    add_store(t, z, add_redval(t, 0, 0, LZ_F32));
    must(lz_kernel_finish(q));
    int64_t total[3] = {m * k, n * k, m * n};
    guarded g[3], want = guarded_new((size_t)total[2] * 4, 0);
    void *p[3];
    size_t nbytes[3];
    for (int i = 0; i < 3; i++) {
        nbytes[i] = (size_t)total[i] * 4;
        g[i] = guarded_new(nbytes[i], 0);
        fill_factors(LZ_F32, g[i].p, total[i]);
        p[i] = g[i].p;
    }
    p[2] = want.p;
    must(lz_loop_run(q, p, nbytes));
    p[2] = g[2].p;
    jit j = jit_new(q);
    jit_run(&j, p, q->args, 1, true);
    for (int64_t i = 0; i < total[2]; i++)
        ck_assert_float_eq_tol(((float *)(void *)g[2].p)[i], ((float *)(void *)want.p)[i], 1e-4f);
    jit_free(&j);
    for (int i = 0; i < 3; i++)
        guarded_free(&g[i]);
    guarded_free(&want);
    lz_kernel_free(q);
}

START_TEST(many_contracted)
{
    for (int trial = 0; trial < 12; trial++) {
        int64_t e[3] = {1 + (int64_t)(rnd64() % 5), (int64_t)(rnd64() % 20),
                        1 + (int64_t)(rnd64() % 40)};
        contract(e, 2 + trial % 2, 1 + any_size(), 1 + any_size(), trial & 2);
    }
    contract((int64_t[]){3, 600}, 2, 21, 70, false);
    contract((int64_t[]){3, 600}, 2, 21, 70, true);
}
END_TEST

/* Several blocks of K, of columns and of rows. The loop executor takes long for these: each size
 * has one of the four layouts in a run. */
START_TEST(blocks)
{
    static const struct {
        int64_t m, n, k;
        lz_dtype type;
        int batch;
    } sizes_of_blocks[] = {{33, 70, 1100, LZ_F32, 0},   {400, 50, 600, LZ_F32, 0},
                           {20, 700, 530, LZ_F32, 0},   {5, 600, 1030, LZ_F32, 0},
                           {210, 260, 520, LZ_BF16, 0}, {210, 140, 300, LZ_F64, 2}};
    for (unsigned i = 0; i < sizeof sizes_of_blocks / sizeof *sizes_of_blocks; i++) {
        lz_dtype d = sizes_of_blocks[i].type, acc = d == LZ_F64 ? LZ_F64 : LZ_F32;
        form f = {d, acc, acc, _i & 1, (_i >> 1) & 1, sizes_of_blocks[i].batch, 0, 1, 0};
        if (lz_test_in_turn(i + (unsigned)_i, lz_test_small() ? 12 : 4))
            check(&f, sizes_of_blocks[i].m, sizes_of_blocks[i].n, sizes_of_blocks[i].k);
    }
}
END_TEST

/* Units that have all rows of a matrix, since there are matrices enough: the last tile of rows,
 * which is not full, has its sums of a block of K where the others would have theirs. */
START_TEST(long_units)
{
    form f = {LZ_F32, LZ_F32, LZ_F32, _i & 1, (_i >> 1) & 1, 8, 0, 0, 0};
    if (lz_test_in_turn((unsigned)_i, lz_test_small() ? 4 : 2))
        check(&f, 389, 5, 530);
    f.in = f.acc = f.out = LZ_F64;
    if (lz_test_in_turn((unsigned)_i + 1, lz_test_small() ? 4 : 2))
        check(&f, 397, 9, 270);
}
END_TEST

/* Rows of B that share sets of the cache: the first tile of rows packs them on the way. */
START_TEST(packed_on_the_way)
{
    const int64_t rows[] = {17, 33, 50, 200}, cols[] = {1, 17, 48, 65, 130, 300},
                  depth[] = {1, 12, 13, 100, 513};
    form f = {LZ_F32, LZ_F32, LZ_F32, _i & 1, false, 0, (_i >> 1) & 1, 0, 0};
    for (int n = 0; n < 6; n++)
        for (int m = 0; m < (lz_test_small() ? 2 : 4); m++) {
            if (!lz_test_in_turn((unsigned)(n + m + _i), lz_test_small() ? 6 : 4))
                continue;
            f.in = f.acc = f.out = (n + m) % 3 ? LZ_F32 : LZ_F64;
            f.batch = m == 1 ? 2 : 0;
            f.pad = (f.in == LZ_F64 ? 512 : 1024) - cols[n];
            check(&f, rows[m], cols[n], depth[(n + 2 * m) % 5]);
        }
}
END_TEST

/* Processors with few registers have other tiles and blocks; their loads have masks, too. */
START_TEST(products_of_few_registers)
{
    static const int64_t size[][3] = {{13, 5, 40},   {6, 16, 257}, {7, 100, 33},
                                      {65, 33, 300}, {40, 248, 3}, {19, 290, 130}};
    form f = {LZ_F32, LZ_F32, LZ_F32, _i & 1, (_i >> 1) & 1, 0, 0, (_i >> 2) & 1, 0};
    lz_target t;
    for (int i = 0; few_registers(&t) && i < 6; i++) {
        f.in = f.acc = f.out = i % 4 == 3 ? LZ_F64 : LZ_F32;
        f.pad = i == 4 ? 64 : i % 2 ? 3 : 0;
        f.pro = i == 1;
        check_on(&f, size[i][0], size[i][1], size[i][2], &t);
    }
}
END_TEST

static int64_t scratch_of(const form *f, const lz_target *t, int64_t m, int64_t n, int64_t k,
                          int64_t *units)
{
    int64_t total[4];
    lz_kernel *q = product(f, m, n, k, total);
    jit j = jit_new_on(q, t);
    int64_t bytes = j.scratch(q->args);
    *units = j.grid(q->args);
    jit_free(&j);
    lz_kernel_free(q);
    return bytes;
}

/* What stays in the cache as it lies is not copied: there is no room for a copy. */
START_TEST(small_factors_are_not_packed)
{
    ck_assert_int_eq(lz_config_set("LAZULI_VARIANTS", NULL), LZ_OK); /* this is about them */
    form f = {.in = LZ_F32, .acc = LZ_F32, .out = LZ_F32};
    lz_target t = with_masks_or_not(_i);
    int64_t units, place = scratch_of(&f, &t, 248, 248, 248, &units);
    if (lz_target_masks(&t)) /* where cutting costs nothing, enough for threads to be done at one
                                time */
        ck_assert_int_ge(units, 16);
    f.pad = 1024 - 248;
    int64_t packed = scratch_of(&f, &t, 248, 248, 248, &units);
    ck_assert_int_ge(units, 8);
    ck_assert_int_gt(packed, 248 * 16 * 4);
    if (lz_target_masks(&t)) {
        ck_assert_int_lt(place, 64 << 10);
        ck_assert_int_gt(packed - place, 248 * 16 * 4);
    } else { /* columns that are not there cannot be left out: B is copied however it lies */
        ck_assert_int_eq(packed, place);
    }
}
END_TEST

/* Of a product with A stored [k, m], which each unit packs: as many rows, however wide vectors
 * are. */
START_TEST(units_have_as_many_rows)
{
    ck_assert_int_eq(lz_config_set("LAZULI_VARIANTS", NULL), LZ_OK); /* this is about them */
    form f = {.in = LZ_F32, .acc = LZ_F32, .out = LZ_F32, .ta = true};
    int64_t total[4];
    lz_target t;
    lz_kernel *q = product(&f, 10 * 120, 1600, 64, total);
    for (int i = 0; i < 2; i++) {
        must(lz_target_host(&t));
        if (i == 1 && !few_registers(&t))
            break;
        t.machine.l2_bytes = 1 << 20;
        jit j = jit_new_on(q, &t);
        int64_t units = j.grid(q->args), columns = (1600 + 239) / 240;
        ck_assert_int_le(units, (10 + 1) * columns); /* of 120 rows and 240 columns, at least */
        jit_free(&j);
    }
    lz_kernel_free(q);
}
END_TEST

/* Prefetches of a product's code from `from` on, whose last operands are `kind`. */
static int prefetches_of(const form *f, const char *from, const char *kind)
{
    int64_t total[4];
    lz_kernel *q = product(f, 256, 256, 256, total);
    jit j = jit_new(q);
    const char *call = "call void @llvm.prefetch.p0(", *at = strstr(lz_buf_str(&j.ll), from);
    ck_assert_ptr_nonnull(at);
    int n = 0;
    while ((at = strstr(at, call))) {
        const char *end = strchr(at, '\n'), *found = strstr(at, kind);
        n += found && found < end;
        at = end;
    }
    jit_free(&j);
    lz_kernel_free(q);
    return n;
}

static int prefetches(bool tb, const char *from, const char *kind)
{
    form f = {.in = LZ_F32, .acc = LZ_F32, .out = LZ_F32, .tb = tb};
    return prefetches_of(&f, from, kind);
}

/* The rows that the later stages write, while the tile is multiplied: three vectors of each. What
 * all rows have in common is not fetched, nor is anything where the sums are stored as they are. */
START_TEST(later_rows_are_fetched)
{
    ck_assert_int_eq(lz_config_set("LAZULI_VARIANTS", NULL), LZ_OK); /* this is about them */
    lz_target t;
    must(lz_target_host(&t));
    const char *write = "i32 1, i32 3, i32 1)", *read = "i32 0, i32 3, i32 1)";
    form f = {.in = LZ_F32, .acc = LZ_F32, .out = LZ_F32};
    ck_assert_int_eq(prefetches_of(&f, "@lz_run(", write), 0);
    f.epi = 1;
    ck_assert_int_eq(prefetches_of(&f, "@lz_run(", write), t.machine.vector_bytes == 64 ? 3 : 2);
    ck_assert_int_eq(prefetches_of(&f, "@lz_run(", read), 0);
}
END_TEST

/* Vectors that are all there have no masks where little is done with the sums. */
START_TEST(whole_panels_have_no_masks)
{
    ck_assert_int_eq(lz_config_set("LAZULI_VARIANTS", NULL), LZ_OK); /* this is about them */
    form f = {.in = LZ_F32, .acc = LZ_F32, .out = LZ_F32, .epi = 1};
    int64_t total[4];
    lz_kernel *q = product(&f, 256, 256, 256, total);
    jit j = jit_new(q);
    const char *run = strstr(lz_buf_str(&j.ll), "@lz_run(");
    ck_assert_ptr_nonnull(run);
    ck_assert_ptr_nonnull(strstr(run, "llvm.masked.store"));
    lz_target t;
    must(lz_target_host(&t));
    char plain[32];
    snprintf(plain, sizeof plain, "store <%d x float>", (int)t.machine.vector_bytes / 4);
    ck_assert_ptr_nonnull(strstr(run, plain));
    jit_free(&j);
    lz_kernel_free(q);
}
END_TEST

/* Columns that are transposed while they are packed, the lines of a tile, and the block that is
 * packed next. Columns that only have to be loaded are so one after the other, without a loop that
 * works out where each of them is. */
START_TEST(lines_are_fetched_ahead)
{
    ck_assert_int_eq(lz_config_set("LAZULI_VARIANTS", NULL), LZ_OK); /* this is about them */
    lz_target t;
    must(lz_target_host(&t));
    const char *near = "i32 0, i32 3, i32 1)", *far = "i32 0, i32 2, i32 1)",
               *write = "i32 1, i32 3, i32 1)";
    ck_assert_int_gt(prefetches(true, "@lz_run(", near), 0);
    if (t.machine.vector_bytes >= 32) /* one each, and one of the loop that takes the last ones */
        ck_assert_int_eq(prefetches(true, "@lz_run(", near), t.machine.vector_bytes / 4 + 1);
    ck_assert_int_eq(prefetches(false, "@lz_run(", near), 0);
    for (int tb = 0; tb < 2; tb++) {
        ck_assert_int_gt(prefetches(tb, "define", near), 0);
        ck_assert_int_gt(prefetches(tb, "define", write), 0);
    }
    ck_assert_int_eq(prefetches(false, "define", far) > 0, lz_target_masks(&t));
    if (t.machine.vector_bytes >= 32) { /* one at the beginning of a round, one in a loop for those
                                   that need more, one of a step by itself */
        ck_assert_int_eq(prefetches(false, "define", far), 2 * 3);
        ck_assert_int_eq(prefetches(false, "define", write), 2 * 3);
    }
    ck_assert_int_eq(prefetches(true, "define", far), 0);
}
END_TEST

/* Steps of k come in rounds, in which nothing is masked: full tiles have no time for more than
 * multiplications. */
START_TEST(steps_come_in_rounds)
{
    ck_assert_int_eq(lz_config_set("LAZULI_VARIANTS", NULL), LZ_OK); /* this is about them */
    form f = {.in = LZ_F32, .acc = LZ_F32, .out = LZ_F32};
    int64_t total[4];
    lz_target t;
    must(lz_target_host(&t));
    lz_kernel *q = product(&f, 256, 256, 256, total);
    jit j = jit_new(q);
    const char *ir = lz_buf_str(&j.ll);
    /* tiles of 8 x 3 and 8 x 2 vectors, four steps at a time and one; of 6 x 2 and 6 x 1, eight at
     * a time */
    if (t.machine.vector_bytes == 64)
        ck_assert_int_eq(count(ir, "call <16 x float> @llvm.fma.v16f32("), 8 * (3 + 2) * (4 + 1));
    if (t.machine.vector_bytes == 32)
        ck_assert_int_eq(count(ir, "call <8 x float> @llvm.fma.v8f32("), 6 * (2 + 1) * (8 + 1));
    jit_free(&j);
    lz_kernel_free(q);
}
END_TEST

/* Where units are few, two and four threads have as many each. */
START_TEST(units_are_shared_equally)
{
    ck_assert_int_eq(lz_config_set("LAZULI_VARIANTS", NULL), LZ_OK); /* this is about them */
    lz_target t = with_masks_or_not(_i);
    for (int64_t n = 256; n <= 4096; n += 256) {
        form f = {.in = LZ_F32, .acc = LZ_F32, .out = LZ_F32};
        int64_t units;
        (void)scratch_of(&f, &t, 1024, n, 1024, &units);
        ck_assert_msg(units >= 16 || units % 4 == 0 || units < 8, "%d columns: %d units", (int)n,
                      (int)units);
    }
}
END_TEST
/* ---- what is alike is made once ---- */

/* Products that differ in what is done with their sums have tiles and sizes in common, and one that
 * is compiled again has everything. */
START_TEST(gemm_are_made_once)
{
    form f = {LZ_F32, LZ_F32, LZ_F32, .pad = 3};
    int64_t total[4];
    uint32_t n[3];
    lz_target t;
    ck_assert_int_eq(lz_config_set("LAZULI_VARIANTS", NULL), LZ_OK); /* this is about them */
    must(lz_target_host(&t));
    f.epi = 1;
    lz_kernel *q = product(&f, 61, 200, 90, total);
    uint64_t first = made_for(q, &t, &n[0]), again = made_for(q, &t, &n[1]);
    ck_assert_uint_ge(n[0], 3);
    ck_assert_uint_eq(first, n[0] - 1);
    ck_assert_uint_eq(again, 0);
    ck_assert_uint_eq(n[1], n[0]);
    lz_kernel_free(q);
    f.out = LZ_F16;
    q = product(&f, 61, 200, 90, total);
    ck_assert_uint_le(made_for(q, &t, &n[2]), 1);
    ck_assert_uint_eq(n[2], n[0]);
    lz_kernel_free(q);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("codegen_dot");
    TCase *t = tcase_create("dot"), *b = tcase_create("blocks");
    tcase_set_timeout(t, 600);
    tcase_set_timeout(b, 600);
    tcase_add_loop_test(t, forms, 0, 16);
    tcase_add_loop_test(t, all_sizes, 0, 4);
    tcase_add_loop_test(t, whole_vectors, 0, 2);
    tcase_add_loop_test(t, blocks, 0, 4);
    tcase_add_loop_test(b, long_units, 0, 4);
    tcase_add_test(t, many_contracted);
    tcase_add_loop_test(t, packed_on_the_way, 0, 4);
    tcase_add_loop_test(t, products_of_few_registers, 0, 8);
    tcase_add_loop_test(t, small_factors_are_not_packed, 0, MASKS);
    tcase_add_test(b, units_have_as_many_rows);
    tcase_add_test(t, lines_are_fetched_ahead);
    tcase_add_test(t, steps_come_in_rounds);
    tcase_add_loop_test(t, units_are_shared_equally, 0, MASKS);
    tcase_add_test(t, gemm_are_made_once);
    tcase_add_test(t, later_rows_are_fetched);
    tcase_add_test(t, whole_panels_have_no_masks);
    suite_add_tcase(s, t);
    suite_add_tcase(s, b);
    return lz_run_suite(s);
}
