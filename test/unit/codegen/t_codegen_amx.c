/* t_codegen_amx.c - matrix products of bf16 and bytes on AMX tiles: every layout of the factors,
 * sizes around the tiles, batches, several loops of k, prologues, epilogues and special values,
 * against the order of additions that the processor's manual has for them, bit by bit. Units run in
 * pieces and backwards with the same bits. Every buffer ends at a guard page. Without AMX the same
 * products are compared with the slow executor. */
#include "jit_util.h"
#include "ir/module.h"
#include "lower/loops/loop_impl.h"
#include <math.h>
#include <signal.h>

typedef struct form {
    lz_dtype a, b, acc, out;
    bool ta, tb; /* A stored [k, m], B stored [n, k] */
    int batch;   /* 0: no batch loop */
    bool same_b; /* one B for all matrices */
    int ko;      /* outer loop of k; 0: none */
    bool pro;    /* the factors' maximum with a constant */
    bool epi;    /* a bias is added, and the maximum with 0 */
    int64_t pad; /* elements between rows */
    bool odd;    /* special values among the factors */
} form;
typedef struct sizes {
    int64_t m, n, k;
} sizes;

/* ---- the kernel ---- */

/* A matrix of rows x cols, or its transpose; d0, d1: their loops. */
static lz_access matrix(uint32_t buf, const form *f, bool t, uint32_t d0, uint32_t d1, int64_t rows,
                        int64_t cols, int64_t *one)
{
    lz_access a = access_to(buf);
    int64_t ld = (t ? rows : cols) + f->pad;
    a.stride[d0] = sz(t ? 1 : ld);
    a.stride[d1] = sz(t ? ld : 1);
    *one = (t ? cols : rows) * ld;
    return a;
}

static int32_t factor(lz_kernel *q, lz_stage *s, const form *f, lz_access at)
{
    int32_t x = add_load(q, s, at);
    lz_dtype d = q->buf[at.buf].dtype;
    if (f->pro)
        x = add_ew(s, LZ_OP_MAXIMUM, d, NULL, x, add_const(s, d, d == LZ_BF16 ? 0xbf00 : 3), -1);
    return add_ew(s, LZ_OP_CONVERT, f->acc, NULL, x, -1, -1);
}

static lz_kernel *product(const form *f, sizes w, int64_t total[4])
{
    lz_kernel *q = lz_kernel_new("amx");
    uint32_t no = 0;
    if (f->batch)
        q->outer[no++] = sz(f->batch);
    uint32_t dm = no, dn = no + 1, dk = no + 2 + (f->ko > 0);
    int64_t one[3], nb = f->batch ? f->batch : 1, ko = f->ko ? f->ko : 1;
    q->outer[dm] = sz(w.m);
    q->outer[dn] = sz(w.n);
    q->nouter = no + 2;
    q->vec = LZ_VEC_OUTER;
    stages_new(q, 2);
    uint32_t a = add_buf(q, f->a, false), b = add_buf(q, f->b, false),
             bias = add_buf(q, f->acc, false), c = add_buf(q, f->out, true);
    lz_stage *s = stage_of(q, 0), *t = stage_of(q, 1);
    s->ninner = 1 + (f->ko > 0);
    s->extent[0] = sz(f->ko);
    s->extent[s->ninner - 1] = sz(w.k);
    lz_access x = matrix(a, f, f->ta, dm, dk, w.m, w.k, &one[0]),
              y = matrix(b, f, f->tb, dk, dn, w.k, w.n, &one[1]),
              z = matrix(c, f, false, dm, dn, w.m, w.n, &one[2]);
    if (f->batch) {
        x.stride[0] = sz(one[0] * ko);
        y.stride[0] = sz(f->same_b ? 0 : one[1] * ko);
        z.stride[0] = sz(one[2]);
    }
    if (f->ko) {
        x.stride[dk - 1] = sz(one[0]);
        y.stride[dk - 1] = sz(one[1]);
    }
    total[0] = nb * ko * one[0];
    total[1] = (f->same_b ? 1 : nb) * ko * one[1];
    total[2] = w.n;
    total[3] = nb * one[2];
    int32_t u = factor(q, s, f, x), v = factor(q, s, f, y);
    add_red(s, LZ_OP_ADD, f->acc, add_ew(s, LZ_OP_MULTIPLY, f->acc, NULL, u, v, -1),
            add_const(s, f->acc, 0));
    q->stages[0].dot =
        (lz_dot_info){.role = LZ_DOT_KERNEL, .m = dm, .n = dn, .a_sop = u, .b_sop = v};
    int32_t r = add_redval(t, 0, 0, f->acc);
    if (f->epi) {
        lz_access at = access_to(bias);
        at.stride[dn] = sz(1);
        r = add_ew(t, LZ_OP_ADD, f->acc, NULL, r, add_load(q, t, at), -1);
        r = add_ew(t, LZ_OP_MAXIMUM, f->acc, NULL, r, add_const(t, f->acc, 0), -1);
    }
    if (f->out != f->acc)
        r = add_ew(t, LZ_OP_CONVERT, f->out, NULL, r, -1, -1);
    add_store(t, z, r);
    must(lz_kernel_finish(q));
    return q;
}

/* ---- what it computes ---- */

static float flushed(float x)
{
    return x != 0 && fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

static float bf16_at(const form *f, const char *p, int64_t i)
{
    float x = (float)lz_elem_get_f64(LZ_BF16, p, i);
    return flushed(f->pro && x < -0.5f ? -0.5f : x);
}

/* 32 of k at a time: those of even number and those of odd number from 0 on, each a chain of FMA,
 * then their sum is added. */
static float sum_bf16(const form *f, int64_t k, const char *a, int64_t i, int64_t di, const char *b,
                      int64_t j, int64_t dj, float s)
{
    for (int64_t k0 = 0; k0 < k; k0 += 32) {
        float h[2] = {0, 0};
        for (int64_t w = 0; w < 32; w++) {
            bool in = k0 + w < k;
            float x = in ? bf16_at(f, a, i + (k0 + w) * di) : 0,
                  y = in ? bf16_at(f, b, j + (k0 + w) * dj) : 0;
            h[w & 1] = flushed(fmaf(x, y, h[w & 1]));
        }
        s = flushed(s + flushed(h[0] + h[1]));
    }
    return s;
}

static int64_t byte_at(const form *f, lz_dtype d, const char *p, int64_t i)
{
    int64_t x = d == LZ_I8 ? (int8_t)p[i] : (uint8_t)p[i];
    return f->pro && x < 3 ? 3 : x;
}

static uint32_t sum_bytes(const form *f, int64_t k, const char *a, int64_t i, int64_t di,
                          const char *b, int64_t j, int64_t dj, uint32_t s)
{
    for (int64_t w = 0; w < k; w++)
        s += (uint32_t)(byte_at(f, f->a, a, i + w * di) * byte_at(f, f->b, b, j + w * dj));
    return s;
}

/* Element c of matrix g, from what the buffers hold. */
static void expect(const form *f, sizes w, void *const *p, int64_t g, int64_t row, int64_t col,
                   char *out)
{
    int64_t lda = (f->ta ? w.m : w.k) + f->pad, ldb = (f->tb ? w.k : w.n) + f->pad,
            ko = f->ko ? f->ko : 1,
            ones[2] = {(f->ta ? w.k : w.m) * lda, (f->tb ? w.n : w.k) * ldb};
    int64_t di = f->ta ? lda : 1, dj = f->tb ? 1 : ldb;
    float s = 0;
    uint32_t n = 0;
    for (int64_t o = 0; o < ko; o++) {
        int64_t i = (g * ko + o) * ones[0] + row * (f->ta ? 1 : lda),
                j = ((f->same_b ? 0 : g) * ko + o) * ones[1] + col * (f->tb ? ldb : 1);
        if (f->a == LZ_BF16)
            s = sum_bf16(f, w.k, p[0], i, di, p[1], j, dj, s);
        else
            n = sum_bytes(f, w.k, p[0], i, di, p[1], j, dj, n);
    }
    if (f->a != LZ_BF16) {
        if (f->epi) {
            n += ((const uint32_t *)p[2])[col];
            n = (int32_t)n < 0 ? 0 : n;
        }
        memcpy(out, &n, 4);
        return;
    }
    if (f->epi) {
        s += ((const float *)p[2])[col];
        s = s < 0 ? 0 : s;
    }
    lz_elem_set_f64(f->out, out, 0, s);
}

/* ---- comparisons ---- */

static bool is_nan_at(lz_dtype d, const char *p, int64_t i)
{
    return lz_dtype_is_float(d) && isnan(lz_elem_get_f64(d, p, i));
}

static void fill(const form *f, lz_dtype d, char *p, int64_t n)
{
    static const uint16_t special[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x007f, 0x0080,
                                       0x8080, 0x2000, 0xa000, 0x7f7f, 0xff7f, 0x7f80,
                                       0xff80, 0x7fc0, 0x1fff, 0x3f80, 0x9f80};
    for (int64_t i = 0; i < n; i++)
        if (lz_dtype_is_float(d))
            lz_elem_set_f64(d, p, i, rnd_unit());
        else if (lz_dtype_size(d) == 1)
            p[i] = (char)rnd64();
        else
            lz_elem_set_f64(d, p, i, (double)(rnd64() % 201));
    for (int64_t i = 0; i < n && f->odd && d == LZ_BF16; i++)
        if (rnd64() % 40 == 0)
            memcpy(p + 2 * i, &special[rnd64() % (sizeof special / sizeof *special)], 2);
}

typedef struct run {
    guarded g[4], again;
    void *p[4];
    size_t nbytes[4];
} run;

static void compare(const form *f, sizes w, run *r, const char *what)
{
    unsigned es = (unsigned)lz_dtype_size(f->out);
    int64_t ld = w.n + f->pad, nb = f->batch ? f->batch : 1;
    int64_t all = nb * w.m * w.n, most = 30000000 / (w.k * (f->ko ? f->ko : 1) + 1) + 200;
    for (int64_t t = 0; t < all && t < most; t++) {
        int64_t i = all <= most ? t : (int64_t)(rnd64() % (uint64_t)all), g = i / w.n / w.m,
                row = i / w.n % w.m, col = i % w.n, at = (g * w.m + row) * ld + col;
        char want[8];
        expect(f, w, r->p, g, row, col, want);
        bool same = memcmp(r->g[3].p + at * es, want, es) == 0 ||
                    (is_nan_at(f->out, want, 0) && is_nan_at(f->out, r->g[3].p, at));
        ck_assert_msg(same, "%s: matrix %d row %d column %d is %g, expected %g", what, (int)g,
                      (int)row, (int)col, lz_elem_get_f64(f->out, r->g[3].p, at),
                      lz_elem_get_f64(f->out, want, 0));
    }
}

/* Against the slow executor, whose sums are in another order. */
static void compare_loosely(const form *f, sizes w, const lz_kernel *q, run *r, const char *what)
{
    int64_t n = (int64_t)(r->nbytes[3] / lz_dtype_size(f->out));
    guarded want = guarded_new(r->nbytes[3], 0);
    void *p[4] = {r->p[0], r->p[1], r->p[2], want.p};
    memcpy(want.p, r->again.p, r->nbytes[3]);
    must(lz_loop_run(q, p, r->nbytes));
    double eps = !lz_dtype_is_float(f->acc) ? 0 : f->out == LZ_BF16 ? 0.01 : 2e-6;
    for (int64_t i = 0; i < n && !f->odd; i++) {
        double x = lz_elem_get_f64(f->out, r->g[3].p, i), y = lz_elem_get_f64(f->out, want.p, i);
        ck_assert_msg(fabs(x - y) <= eps * (1 + fabs(y) + sqrt((double)w.k)),
                      "%s: element %d is %g, expected %g", what, (int)i, x, y);
    }
    guarded_free(&want);
}

static void check(const form *f, int64_t m, int64_t n, int64_t k)
{
    lz_target t;
    int64_t total[4];
    sizes w = {m, n, k};
    run r;
    char what[160];
    must(lz_target_host(&t));
    lz_kernel *q = product(f, w, total);
    bool amx = strcmp(lz_schedule_name(q, &t), "amx_gemm") == 0;
    bool has = lz_target_has(&t, "amx-tile") && lz_target_has(&t, "amx-bf16") &&
               lz_target_has(&t, "amx-int8") && lz_variant_may(&t, LZ_VARIANT_amx);
    snprintf(what, sizeof what, "%dx%dx%d %s %s->%s %s%s batch %d%s ko %d pad %d%s%s%s", (int)m,
             (int)k, (int)n, lz_dtype_name(f->a), lz_dtype_name(f->b), lz_dtype_name(f->out),
             f->ta ? "T" : "N", f->tb ? "T" : "N", f->batch, f->same_b ? " one B" : "", f->ko,
             (int)f->pad, f->pro ? " pro" : "", f->epi ? " epi" : "", f->odd ? " odd" : "");
    if (has && m > 1 && n > 1)
        ck_assert_msg(amx, "%s: %s", what, lz_schedule_name(q, &t));
    for (int i = 0; i < 4; i++) {
        r.nbytes[i] = (size_t)total[i] * lz_dtype_size(q->buf[i].dtype);
        r.g[i] = guarded_new(r.nbytes[i], 0);
        fill(f, q->buf[i].dtype, r.g[i].p, total[i]);
        r.p[i] = r.g[i].p;
    }
    r.again = guarded_new(r.nbytes[3], 0);
    memcpy(r.again.p, r.g[3].p, r.nbytes[3]);
    jit j = jit_new_on(q, &t);
    jit_run(&j, r.p, q->args, 0, false);
    r.p[3] = r.again.p;
    if (amx)
        compare(f, w, &r, what);
    if (!amx || (m * n * k < 20000 && !f->ko))
        compare_loosely(f, w, q, &r, what);
    jit_run(&j, r.p, q->args, 1 + (int64_t)(rnd64() % 3), true);
    ck_assert_msg(memcmp(r.g[3].p, r.again.p, r.nbytes[3]) == 0,
                  "%s: depends on the division into units", what);
    jit_free(&j);
    for (int i = 0; i < 4; i++)
        guarded_free(&r.g[i]);
    guarded_free(&r.again);
    lz_kernel_free(q);
}

/* ---- tests ---- */

static const form kinds[] = {
    {.a = LZ_BF16, .b = LZ_BF16, .acc = LZ_F32, .out = LZ_F32},
    {.a = LZ_BF16, .b = LZ_BF16, .acc = LZ_F32, .out = LZ_BF16},
    {.a = LZ_I8, .b = LZ_I8, .acc = LZ_I32, .out = LZ_I32},
    {.a = LZ_U8, .b = LZ_I8, .acc = LZ_I32, .out = LZ_I32},
    {.a = LZ_I8, .b = LZ_U8, .acc = LZ_I32, .out = LZ_I32},
    {.a = LZ_U8, .b = LZ_U8, .acc = LZ_U32, .out = LZ_U32},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static form form_of(int i, int layout)
{
    form f = kinds[i];
    f.ta = layout & 1;
    f.tb = layout >> 1 & 1;
    return f;
}

static int64_t any_size(void)
{
    static const int64_t size[] = {0,  1,  2,  3,  5,  8,  9,  15, 16, 17, 23,  31, 32,
                                   33, 47, 48, 49, 63, 64, 65, 70, 96, 97, 128, 160};
    return size[rnd64() % (sizeof size / sizeof *size)];
}

/* Every kind and layout, of any sizes. */
START_TEST(forms)
{
    for (int trial = 0; trial < (lz_test_small() ? 2 : 6); trial++) {
        form f = form_of(_i / 4, _i % 4);
        rnd_series((unsigned)(_i * 8 + trial));
        f.batch = rnd64() % 3 ? 0 : 1 + (int)(rnd64() % 3);
        f.same_b = f.batch && rnd64() % 2;
        f.pro = trial & 1;
        f.epi = trial >> 1 & 1;
        f.pad = rnd64() % 2 ? 0 : (int64_t)(rnd64() % 40);
        f.ko = rnd64() % 4 ? 0 : 1 + (int)(rnd64() % 3);
        check(&f, any_size(), any_size(), any_size());
    }
}
END_TEST

/* Several blocks of k, of columns, of rows; whole tiles read in place. */
START_TEST(blocks)
{
    static const sizes size[] = {{40, 50, 5000}, {70, 1700, 33},   {600, 40, 70},
                                 {96, 96, 1312}, {130, 900, 1300}, {33, 33, 640}};
    for (unsigned i = 0; i < sizeof size / sizeof *size; i++) {
        if (!lz_test_in_turn(i + (unsigned)_i, lz_test_small() ? 12 : 4))
            continue;
        form f = form_of(_i / 4, _i % 4);
        f.epi = i & 1;
        f.batch = i == 5 ? 9 : 0;
        check(&f, size[i].m, size[i].n, size[i].k);
    }
}
END_TEST

/* Denormals, infinities, NaN, the largest numbers and zeros of either sign. */
START_TEST(special_values)
{
    for (int layout = 0; layout < 4; layout++) {
        form f = form_of(0, layout);
        f.odd = true;
        f.pro = layout == 3;
        check(&f, 33, 49, 70);
        check(&f, 64, 32, 64);
        check(&f, 20, 16, 700);
    }
}
END_TEST

/* Whoever does not let tiles be used gets the same numbers otherwise: bytes bit by bit. */
START_TEST(without_tiles)
{
    lz_target t;
    ck_assert_int_eq(lz_config_set("LAZULI_VARIANTS", "-amx"), LZ_OK);
    must(lz_target_host(&t));
    ck_assert(!lz_target_has(&t, "amx-tile"));
    for (int kind = 0; kind < KINDS; kind++) {
        form f = form_of(kind, kind % 4);
        check(&f, 33, 47, 65);
    }
    ck_assert_int_eq(lz_config_set("LAZULI_VARIANTS", NULL), LZ_OK);
    if (strncmp(t.triple, "x86_64", 6) != 0)
        return;
    ck_assert_int_eq(lz_config_set("LAZULI_CPU", "x86-64-v3"), LZ_OK);
    if (lz_target_host(&t) == LZ_OK)
        ck_assert(!lz_target_has(&t, "amx-tile"));
    ck_assert_int_eq(lz_config_set("LAZULI_CPU", NULL), LZ_OK);
}
END_TEST

/* A thread with a signal stack that is too small for tiles: the kernel refuses them, or has granted
 * them and refuses the stack. Products are right either way. */
START_TEST(small_signal_stack)
{
    static char memory[8192];
    stack_t small = {.ss_sp = memory, .ss_size = sizeof memory};
    bool have = sigaltstack(&small, NULL) == 0;
    lz_target t;
    must(lz_target_host(&t));
    ck_assert(lz_target_runs(t.features));
    if (have && !lz_target_has(&t, "amx-tile"))
        ck_assert(!lz_target_runs("+amx-tile"));
    for (int kind = 0; kind < KINDS; kind++) {
        form f = form_of(kind, 0);
        check(&f, 17, 33, 40);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("amx");
    TCase *t = tcase_create("amx");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, forms, 0, KINDS * 4);
    tcase_add_loop_test(t, blocks, 0, KINDS * 4);
    tcase_add_test(t, special_values);
    tcase_add_test(t, without_tiles);
    tcase_add_test(t, small_signal_stack);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
