/* t_codegen_windows.c - products over several loops of rows, or of sums: windows of images, every
 * layout, sizes around the tiles, against the slow executor. Units run in pieces and backwards with
 * the same bits. Every buffer ends at a guard page. */
#include "base/config.h"
#include "windows_util.h"
#include <math.h>

static void check_windows_on(const image *v, const lz_target *t)
{
    int64_t total[3];
    lz_kernel *q = v->lanes ? in_lanes(v, total) : windows(v, total);
    guarded g[3], want, again;
    size_t nbytes[3];
    void *p[3];
    for (int i = 0; i < 3; i++) {
        nbytes[i] = (size_t)total[i] * lz_dtype_size(v->d);
        g[i] = guarded_new(nbytes[i], 0);
        fill_factors(v->d, g[i].p, total[i]);
        p[i] = g[i].p;
    }
    want = guarded_new(nbytes[2], 0);
    again = guarded_new(nbytes[2], 0);
    memcpy(want.p, g[2].p, nbytes[2]);
    memcpy(again.p, g[2].p, nbytes[2]);
    p[2] = want.p;
    must(lz_loop_run(q, p, nbytes));
    jit j = jit_new_on(q, t);
    p[2] = g[2].p;
    jit_run(&j, p, q->args, 0, false);
    p[2] = again.p;
    jit_run(&j, p, q->args, 1 + (int64_t)(rnd64() % 3), true);
    char what[160];
    snprintf(what, sizeof what, "%lldx%lldx%lldx%lld window %lldx%lld by %lld to %lld%s%s",
             (long long)v->n, (long long)v->h, (long long)v->w, (long long)v->c, (long long)v->kh,
             (long long)v->kw, (long long)v->stride, (long long)v->o,
             v->gradient ? ", gradient" : "", v->batch ? ", batch" : "");
    ck_assert_msg(memcmp(g[2].p, again.p, nbytes[2]) == 0, "%s: depends on the division into units",
                  what);
    for (int64_t i = 0; i < total[2]; i++) { /* what lies between the rows stays as it was */
        double a = lz_elem_get_f64(v->d, g[2].p, i), b = lz_elem_get_f64(v->d, want.p, i);
        ck_assert_msg(fabs(a - b) <= (v->d == LZ_F64 ? 1e-11 : 1e-4) * (1 + fabs(b)),
                      "%s: element %lld is %g, expected %g", what, (long long)i, a, b);
    }
    jit_free(&j);
    for (int i = 0; i < 3; i++)
        guarded_free(&g[i]);
    guarded_free(&want);
    guarded_free(&again);
    lz_kernel_free(q);
}

static void check_windows(const image *v)
{
    lz_target t;
    any_target(&t);
    check_windows_on(v, &t);
}

enum { TRIALS = 40 };

START_TEST(windows_of_images)
{
    static const int64_t features[] = {1, 3, 10, 16, 20, 33, 48, 49, 64, 80, 130};
    unsigned n = lz_test_whole() ? TRIALS : lz_test_small() ? 4 : 8;
    for (unsigned t = 0; t < n; t++) {
        unsigned trial = lz_test_trial(t, n, TRIALS);
        rnd_series((unsigned)_i * TRIALS + trial);
        image v = {.n = 1 + (int64_t)(rnd64() % 4),
                   .h = 3 + (int64_t)(rnd64() % 7),
                   .w = 3 + (int64_t)(rnd64() % 9),
                   .c = features[rnd64() % 6],
                   .kh = 1 + (int64_t)(rnd64() % 3),
                   .kw = 1 + (int64_t)(rnd64() % 3),
                   .o = features[rnd64() % 11],
                   .stride = 1 + (int64_t)(rnd64() % 2),
                   .gradient = _i & 1,
                   .batch = trial % 5 == 0,
                   .epi = trial % 3 == 0,
                   .d = trial % 4 ? LZ_F32 : LZ_F64,
                   .pad = trial % 2 ? 7 : 0};
        check_windows(&v);
    }
    if (lz_test_small())
        return;
    /* several blocks of sums, rows that share sets of the cache, more columns than a unit has */
    image big = {.n = 2,
                 .h = 6,
                 .w = 6,
                 .c = 130,
                 .kh = 3,
                 .kw = 3,
                 .o = 1024,
                 .stride = 1,
                 .gradient = _i & 1,
                 .d = LZ_F32};
    check_windows(&big);
    big = (image){.n = 9,
                  .h = 13,
                  .w = 12,
                  .c = 5,
                  .kh = 3,
                  .kw = 2,
                  .o = 20,
                  .stride = 1,
                  .gradient = _i & 1,
                  .epi = 1,
                  .d = LZ_F32};
    check_windows(&big);
    big.n = 0; /* nothing to sum; no rows */
    check_windows(&big);
}
END_TEST

START_TEST(windows_of_few_registers)
{
    static const int64_t columns[] = {8, 10, 16, 24, 33, 64};
    lz_target t;
    for (int i = 0; few_registers(&t) && i < 6; i++) {
        image v = {.n = 2,
                   .h = 7,
                   .w = 5 + i % 3,
                   .c = i % 2 ? 3 : 16,
                   .kh = 3,
                   .kw = 2,
                   .o = columns[i],
                   .stride = 1 + i % 2,
                   .gradient = _i & 1,
                   .lanes = _i & 2,
                   .epi = i % 3 == 0,
                   .d = i % 4 == 1 ? LZ_F64 : LZ_F32,
                   .pad = i % 2 ? 7 : 0};
        check_windows_on(&v, &t);
    }
}
END_TEST

/* Their tiles of convolutions are two vectors wide, or the loads of A are as many as there is time
 * for. */
START_TEST(gemm_of_few_registers)
{
    ck_assert_int_eq(lz_config_set("LAZULI_VARIANTS", NULL), LZ_OK); /* this is about them */
    image v = {
        .n = 1, .h = 9, .w = 9, .c = 64, .kh = 3, .kw = 3, .o = 512, .stride = 1, .d = LZ_F32};
    int64_t total[3];
    lz_target t;
    if (!few_registers(&t))
        return;
    lz_kernel *q = windows(&v, total);
    jit j = jit_new_on(q, &t);
    ck_assert_int_eq(count(lz_buf_str(&j.ll), "call <8 x float> @llvm.fma.v8f32("),
                     6 * (2 + 1) * (4 + 1)); /* rounds of 4 steps */
    jit_free(&j);
    lz_kernel_free(q);
}
END_TEST

START_TEST(images_in_lanes)
{
    static const int64_t images[] = {1, 5, 16, 17, 32, 40, 48, 64, 80, 128, 200},
                         features[] = {1, 2, 3, 5, 10, 17, 20, 23, 40};
    unsigned n = lz_test_whole() ? TRIALS : lz_test_small() ? 4 : 8;
    for (unsigned t = 0; t < n; t++) {
        unsigned trial = lz_test_trial(t, n, TRIALS);
        rnd_series((unsigned)_i * TRIALS + trial);
        image v = {.n = images[rnd64() % 11],
                   .h = 3 + (int64_t)(rnd64() % 6),
                   .w = 3 + (int64_t)(rnd64() % 6),
                   .c = features[rnd64() % 5],
                   .kh = 1 + (int64_t)(rnd64() % 3),
                   .kw = 1 + (int64_t)(rnd64() % 3),
                   .o = features[rnd64() % 9],
                   .stride = 1 + (int64_t)(rnd64() % 2),
                   .gradient = _i & 1,
                   .lanes = true,
                   .epi = trial % 3 == 0,
                   .d = trial % 4 ? LZ_F32 : LZ_F64,
                   .pad = trial % 2 ? 7 : 0};
        check_windows(&v);
    }
    image big = {.n = lz_test_small() ? 48 : 300, /* several blocks of sums, and of images */
                 .h = 5,
                 .w = 7,
                 .c = lz_test_small() ? 3 : 60,
                 .kh = 3,
                 .kw = 3,
                 .o = 10,
                 .stride = 1,
                 .gradient = _i & 1,
                 .lanes = true,
                 .d = LZ_F32};
    check_windows(&big);
    big.n = 16;
    big.c = 2;
    big.o = 0; /* no rows */
    check_windows(&big);
}
END_TEST

/* Vectors of columns in odd numbers, where loads have no masks: the last window ends where the
 * images do, and memory there, too. */
START_TEST(columns_of_other_processors)
{
    static const int64_t images[] = {4, 12, 20, 24, 28, 36, 52, 60, 68, 76, 100};
    lz_target t = small_vectors();
    for (int i = 0; i < 11; i++)
        for (int wide = 0; wide < 2; wide++) {
            image v = {.n = images[i] / (wide ? 2 : 1),
                       .h = 5,
                       .w = 6,
                       .c = 2,
                       .kh = 3,
                       .kw = 2,
                       .o = i % 3 ? 5 : 17,
                       .stride = 1,
                       .lanes = _i & 1,
                       .gradient = _i & 2,
                       .d = wide ? LZ_F64 : LZ_F32};
            v.o = v.lanes ? v.o : images[i] / (wide ? 2 : 1); /* the columns */
            check_windows_on(&v, &t);
        }
}
END_TEST

static image large_kernel(int64_t o, int64_t c, int64_t kw)
{
    return (image){.n = 16,
                   .h = 4,
                   .w = kw + 2,
                   .c = c,
                   .kh = 2,
                   .kw = kw,
                   .o = o,
                   .stride = 1,
                   .gradient = true,
                   .lanes = true,
                   .d = LZ_F32};
}

/* However many sums there are, those of a unit stay in the cache: many rows, many columns, a long
 * last loop of these. */
START_TEST(sums_stay_in_the_cache)
{
    static const int64_t size[][3] = {{4000, 700, 3}, {9000, 1, 1}, {3, 9000, 2}, {40, 5, 5000}};
    lz_target t;
    must(lz_target_host(&t));
    for (int i = 0; i < 4; i++) {
        image v = large_kernel(size[i][0], size[i][1], size[i][2]);
        int64_t total[3];
        lz_kernel *q = in_lanes(&v, total);
        jit j = jit_new_on(q, &t);
        ck_assert_int_lt(j.scratch(q->args), t.machine.l2_bytes);
        jit_free(&j);
        lz_kernel_free(q);
    }
}
END_TEST

START_TEST(units_of_few_sums)
{
    static const int64_t size[][3] = {{17, 3, 2}, {3, 2, 40}, {12, 1, 33}, {40, 20, 1}, {6, 2, 16}};
    lz_target t;
    must(lz_target_host(&t));
    t.machine.l2_bytes = 4096 << 2 * _i;
    for (int i = 0; i < 5; i++)
        for (int wide = 0; wide < 2; wide++) {
            image v = large_kernel(size[i][0], size[i][1], size[i][2]);
            v.d = wide ? LZ_F64 : LZ_F32;
            v.epi = i & 1;
            v.pad = i % 3;
            check_windows_on(&v, &t);
        }
}
END_TEST

/* Neither is a copy made of what lies right, nor does a unit hold more than its sums. */
START_TEST(images_are_not_packed)
{
    image v = {.n = 128,
               .h = 12,
               .w = 12,
               .c = 10,
               .kh = 5,
               .kw = 5,
               .o = 20,
               .stride = 1,
               .gradient = _i & 1,
               .lanes = true,
               .d = LZ_F32};
    int64_t total[3];
    lz_kernel *q = in_lanes(&v, total);
    jit j = jit_new(q);
    ck_assert_int_ge(j.grid(q->args), 8); /* for threads */
    ck_assert_int_lt(j.scratch(q->args), 128 << 10);
    jit_free(&j);
    lz_kernel_free(q);
}
END_TEST

/* 7 x 7 pixels: seven full tiles, which are together in every unit, so that the weights are packed
 * once. */
START_TEST(few_pixels_pack_once)
{
    ck_assert_int_eq(lz_config_set("LAZULI_VARIANTS", NULL), LZ_OK); /* this is about them */
    lz_target t = with_masks_or_not(_i);
    if (!lz_target_masks(&t)) /* not all of them are together: on this depends how many are */
        t.machine.l2_bytes = 2 << 20;
    image v = {
        .n = 1, .h = 9, .w = 9, .c = 64, .kh = 3, .kw = 3, .o = 512, .stride = 1, .d = LZ_F32};
    int64_t total[3];
    lz_kernel *q = windows(&v, total);
    jit j = jit_new_on(q, &t);
    ck_assert_int_eq(j.grid(q->args), lz_target_masks(&t) ? 8 : 21);
    int n = count(lz_buf_str(&j.ll), "call <16 x float> @llvm.fma.v16f32(");
    /* of 7 x 3 one step is in the code, of 7 x 2 a round of 4; and one where columns are missing */
    ck_assert_int_eq(n, t.machine.vector_bytes == 64 ? 7 * 3 * (1 + 1) + 7 * 2 * (4 + 1) : 0);
    jit_free(&j);
    lz_kernel_free(q);
}
END_TEST

/* Convolutions of other images, windows and steps have a tile and sizes in common. */
START_TEST(sizes_are_made_once)
{
    image v = {
        .n = 1, .h = 20, .w = 20, .c = 64, .kh = 3, .kw = 3, .o = 64, .stride = 1, .d = LZ_F32};
    int64_t total[3];
    uint32_t n[2];
    lz_target t;
    ck_assert_int_eq(lz_config_set("LAZULI_VARIANTS", NULL), LZ_OK); /* this is about them */
    must(lz_target_host(&t));
    lz_kernel *q = windows(&v, total);
    made_for(q, &t, &n[0]);
    ck_assert_uint_ge(n[0], 3);
    lz_kernel_free(q);
    v = (image){
        .n = 3, .h = 31, .w = 24, .c = 32, .kh = 5, .kw = 3, .o = 64, .stride = 2, .d = LZ_F32};
    q = windows(&v, total);
    ck_assert_uint_eq(made_for(q, &t, &n[1]), 0);
    ck_assert_uint_eq(n[1], n[0]);
    lz_kernel_free(q);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("codegen_windows");
    TCase *w = tcase_create("windows");
    tcase_set_timeout(w, 600);
    tcase_add_loop_test(w, windows_of_images, 0, 4);
    tcase_add_loop_test(w, windows_of_few_registers, 0, 4);
    tcase_add_test(w, gemm_of_few_registers);
    tcase_add_loop_test(w, images_in_lanes, 0, 4);
    tcase_add_loop_test(w, columns_of_other_processors, 0, 4);
    tcase_add_loop_test(w, images_are_not_packed, 0, 2);
    tcase_add_loop_test(w, few_pixels_pack_once, 0, MASKS);
    tcase_add_test(w, sums_stay_in_the_cache);
    tcase_add_loop_test(w, units_of_few_sums, 0, 3);
    tcase_add_test(w, sizes_are_made_once);
    suite_add_tcase(s, w);
    return lz_run_suite(s);
}
