/* t_codegen_borders.c - convolutions whose padding is left out: the bits are those of code that
 * multiplies it, whatever the other factor holds; and it is left out. */
#include "base/config.h"
#include "windows_util.h"
#include <math.h>

typedef struct data {
    guarded g[3], again;
    size_t nbytes[3];
} data;

static data data_new(const image *v, const int64_t *total)
{
    data x;
    for (int i = 0; i < 3; i++) {
        x.nbytes[i] = (size_t)total[i] * lz_dtype_size(v->d);
        x.g[i] = guarded_new(x.nbytes[i], 0);
        fill_factors(v->d, x.g[i].p, total[i]);
    }
    fill_edges(v, x.g[v->lanes].p, 0);
    x.again = guarded_new(x.nbytes[2], 0);
    memcpy(x.again.p, x.g[2].p, x.nbytes[2]);
    return x;
}

static void data_free(data *x)
{
    for (int i = 0; i < 3; i++)
        guarded_free(&x->g[i]);
    guarded_free(&x->again);
}

/* To `to`, in pieces of `step` units. */
static void run_on(const lz_kernel *q, const lz_target *t, const data *x, char *to, int64_t step)
{
    jit j = jit_new_on(q, t);
    void *p[] = {x->g[0].p, x->g[1].p, to};
    jit_run(&j, p, q->args, step, step > 0);
    jit_free(&j);
}

static void check_near(const image *v, const lz_kernel *q, const data *x, int64_t n)
{
    guarded want = guarded_new(x->nbytes[2], 0);
    void *p[] = {x->g[0].p, x->g[1].p, want.p};
    memcpy(want.p, x->g[2].p, x->nbytes[2]); /* between the rows */
    must(lz_loop_run(q, p, x->nbytes));
    for (int64_t i = 0; i < n; i++) {
        double a = lz_elem_get_f64(v->d, x->g[2].p, i), b = lz_elem_get_f64(v->d, want.p, i);
        ck_assert_msg(isnan(b) ? isnan(a)
                               : a == b ||
                                     fabs(a - b) <= (v->d == LZ_F64 ? 1e-11 : 1e-4) * (1 + fabs(b)),
                      "element %lld is %g, expected %g", (long long)i, a, b);
    }
    guarded_free(&want);
}

/* The bits are those of code that leaves nothing out. special: values of the other factor that make
 * 0 times them no zero. */
static void check_edges(const image *v, const lz_target *host, int special)
{
    int64_t total[3];
    lz_kernel *q = v->lanes ? in_lanes(v, total) : windows(v, total);
    data x = data_new(v, total);
    int other = !v->lanes;
    for (int i = 0; i < special && total[other]; i++)
        lz_elem_set_f64(v->d, x.g[other].p, (int64_t)(rnd64() % (uint64_t)total[other]),
                        i % 3 == 0   ? NAN
                        : i % 3 == 1 ? INFINITY
                                     : -INFINITY);
    lz_target with = *host, without = *host;
    with.without &= ~(1u << LZ_VARIANT_padding_skip);
    with.always |= rnd64() & 1 ? 1u << LZ_VARIANT_padding_skip : 0;
    without.without |= 1u << LZ_VARIANT_padding_skip;
    run_on(q, &with, &x, x.g[2].p, 0);
    check_near(v, q, &x, total[2]);
    run_on(q, &without, &x, x.again.p, 0);
    ck_assert_msg(memcmp(x.g[2].p, x.again.p, x.nbytes[2]) == 0, "what is left out was no zero");
    run_on(q, &with, &x, x.again.p, 1 + (int64_t)(rnd64() % 3));
    ck_assert_msg(memcmp(x.g[2].p, x.again.p, x.nbytes[2]) == 0, "depends on the units");
    data_free(&x);
    lz_kernel_free(q);
}

static image random_image(bool lanes)
{
    static const int64_t images[] = {1, 2, 3, 8, 9, 16, 20}, lots[] = {1, 5, 16, 40, 64, 128},
                         features[] = {1, 3, 10, 16, 20, 33, 48, 64, 130};
    image v = {.n = lanes ? lots[rnd64() % 6] : images[rnd64() % 7],
               .kh = 1 + (int64_t)(rnd64() % 5),
               .kw = 1 + (int64_t)(rnd64() % 5),
               .c = features[rnd64() % (lanes ? 3 : 7)],
               .o = features[rnd64() % (lanes ? 6 : 9)],
               .edge = 1 + (int64_t)(rnd64() % 3),
               .stride = 1 + (int64_t)(rnd64() % 3),
               .epi = rnd64() % 3 == 0,
               .lanes = lanes,
               .d = rnd64() % 4 ? LZ_F32 : LZ_F64,
               .pad = rnd64() % 2 ? 7 : 0};
    v.h = v.kh + (int64_t)(rnd64() % 7);
    v.w = v.kw + (int64_t)(rnd64() % 9);
    return v;
}

START_TEST(same_bits)
{
    util_seed += (uint64_t)_i << 20;
    for (int trial = 0; trial < (lz_test_whole() ? 40 : lz_test_small() ? 6 : 15); trial++) {
        image v = random_image(_i & 1);
        lz_target t;
        any_target(&t);
        check_edges(&v, &t, trial % 3 == 0 ? 0 : trial % 3 == 1 ? 1 : 5);
    }
}
END_TEST

/* Several blocks of k; B in place, and packed; tiles of rows that are a row of pixels. */
START_TEST(same_bits_of_many_sums)
{
    static const int64_t size[][4] = {
        {9, 9, 64, 40}, {6, 6, 130, 96}, {18, 18, 40, 33}, {10, 8, 96, 20}};
    for (int i = 0; i < 4; i++) {
        image v = {.n = i & 1 ? 9 : 2,
                   .h = size[i][0],
                   .w = size[i][1],
                   .c = size[i][2],
                   .kh = 3,
                   .kw = 3,
                   .o = size[i][3],
                   .stride = 1,
                   .edge = 1,
                   .d = LZ_F32};
        lz_target t;
        any_target(&t);
        t.machine.l2_bytes = i & 1 ? 64 << 10 : t.machine.l2_bytes; /* packed */
        check_edges(&v, &t, _i);
    }
}
END_TEST

/* Rows of the result that hold something that is no number: they are not all the same, as weights
 * are finite, but where padding was read. */
static int64_t rows_with(const char *c, int64_t rows, int64_t columns)
{
    int64_t n = 0;
    for (int64_t r = 0; r < rows; r++)
        n += isnan(((const float *)(const void *)c)[r * columns]);
    return n;
}

static int64_t rows_that_meet_padding(const image *v, const lz_target *t)
{
    int64_t total[3];
    lz_kernel *q = v->lanes ? in_lanes(v, total) : windows(v, total);
    data x = data_new(v, total);
    fill_edges(v, x.g[v->lanes].p, NAN); /* which is not what the border says */
    run_on(q, t, &x, x.g[2].p, 0);
    int64_t columns = v->lanes ? v->n : v->o, n = rows_with(x.g[2].p, total[2] / columns, columns);
    data_free(&x);
    lz_kernel_free(q);
    return n;
}

/* 16 images of 4 x 4 pixels: 9 kinds of pixels, each with rows for tiles of its own, so that all
 * that meets padding is tiles at their ends. */
START_TEST(rows_of_one_kind_are_together)
{
    ck_assert_int_eq(lz_config_set("LAZULI_VARIANTS", NULL), LZ_OK); /* this is about them */
    lz_target t = with_masks_or_not(_i);
    image v = {.n = 16,
               .h = 6,
               .w = 6,
               .c = 64,
               .kh = 3,
               .kw = 3,
               .o = 64,
               .stride = 1,
               .edge = 1,
               .d = LZ_F32};
    for (; v.n <= 48; v.n += 32) {
        int64_t n = rows_that_meet_padding(&v, &t);
        if (lz_target_masks(&t))
            ck_assert_int_le(n, 9 * 8);
        else
            ck_assert_int_eq(n, v.n * (4 * 4 - 2 * 2)); /* it costs more than it saves */
    }
    /* too little of it */
    v = (image){.n = 16,
                .h = 42,
                .w = 42,
                .c = 4,
                .kh = 3,
                .kw = 3,
                .o = 16,
                .stride = 1,
                .edge = 1,
                .d = LZ_F32};
    ck_assert_int_eq(rows_that_meet_padding(&v, &t), 16 * (40 * 40 - 38 * 38));
}
END_TEST

/* Images in the lanes: a pixel is a matrix, and all its padding is left out. */
START_TEST(pixels_meet_no_padding)
{
    ck_assert_int_eq(lz_config_set("LAZULI_VARIANTS", NULL), LZ_OK); /* this is about them */
    lz_target t = with_masks_or_not(_i);
    image v = {.n = 64,
               .h = 16,
               .w = 14,
               .c = 20,
               .kh = 5,
               .kw = 5,
               .o = 10,
               .stride = 1,
               .edge = 4,
               .lanes = true,
               .d = LZ_F32};
    ck_assert_int_eq(rows_that_meet_padding(&v, &t), 0);
    v.stride = 2;
    ck_assert_int_eq(rows_that_meet_padding(&v, &t), 0);
}
END_TEST

/* What such products have alike, tiles for few and for many columns and the numbers, is made for
 * the first of them. There is no further tile for rows that meet no padding. */
START_TEST(all_tiles_and_numbers_are_shared)
{
    ck_assert_int_eq(lz_config_set("LAZULI_VARIANTS", NULL), LZ_OK); /* this is about them */
    int64_t total[3];
    uint32_t n;
    lz_target t = with_masks_or_not(_i);
    for (int i = 0; i < 2; i++) {
        image v = {.n = 16,
                   .h = 6 + 4 * i,
                   .w = 6 + 4 * i,
                   .c = 64,
                   .kh = 3,
                   .kw = 3,
                   .o = 80 - 16 * i,
                   .stride = 1,
                   .edge = 1,
                   .d = LZ_F32};
        lz_kernel *q = windows(&v, total);
        uint64_t made = made_for(q, &t, &n);
        ck_assert_uint_eq(n, 4);
        ck_assert_uint_eq(made, i ? 0 : n - 1);
        lz_kernel_free(q);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("codegen_borders");
    TCase *w = tcase_create("borders");
    tcase_set_timeout(w, 600);
    tcase_add_loop_test(w, same_bits, 0, 4);
    tcase_add_loop_test(w, same_bits_of_many_sums, 0, 2);
    tcase_add_loop_test(w, rows_of_one_kind_are_together, 0, MASKS);
    tcase_add_loop_test(w, pixels_meet_no_padding, 0, MASKS);
    tcase_add_loop_test(w, all_tiles_and_numbers_are_shared, 0, MASKS);
    suite_add_tcase(s, w);
    return lz_run_suite(s);
}
