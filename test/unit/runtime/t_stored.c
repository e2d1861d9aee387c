/* t_stored.c - 8-bit floats by the public functions: they move as bytes do, are converted where the
 * program says so, and refuse the rest. */
#include "rt.h"

static const lz_dtype dtypes[] = {LZ_F8E4M3FN, LZ_F8E5M2};
static const char *const refusal = "is only stored: convert it to a float first";

/* Every movement of x, and what it reads beside it. */
static int move(lz_tensor *x, lz_tensor **out)
{
    const int32_t at[] = {4, 0, 2}, cols[2 * 6] = {5, 4, 3, 2, 1, 0, 0, 1, 2, 3, 4, 5};
    const uint8_t mask[5 * 6] = {1, 0, 0, 1, 1, 0, 1, 0, 1, 0, 0, 0, 1, 1, 1};
    lz_tensor *index = lz_from_host(LZ_I32, LZ_SHAPE(3), at),
              *where = lz_from_host(LZ_BOOL, LZ_SHAPE(5, 6), mask),
              *col = lz_from_host(LZ_I32, LZ_SHAPE(2, 6), cols), *flipped = lz_flip(x, 0, 1);
    int n = 0;
    out[n++] = x;
    out[n++] = flipped;
    out[n++] = lz_reshape(x, LZ_SHAPE(3, 10));
    out[n++] = lz_permute(x, 1, 0);
    out[n++] = lz_slice(x, 1, 1, 6, 2);
    out[n++] = lz_select(x, 0, 3);
    out[n++] = lz_roll(x, LZ_DIMS(2), LZ_DIMS(1));
    out[n++] = lz_expand(lz_slice(x, 0, 0, 1, 1), LZ_SHAPE(4, 6));
    out[n++] = lz_cat((lz_tensor *[]){x, flipped, x}, 3, 0);
    out[n++] = lz_stack((lz_tensor *[]){x, flipped}, 2, 1);
    out[n++] = lz_index_select(x, 0, index);
    out[n++] = lz_gather(x, 0, col);
    out[n++] = lz_scatter(x, 0, col, lz_slice(flipped, 0, 0, 2, 1));
    out[n++] = lz_slice_scatter(x, lz_slice(flipped, 0, 0, 2, 1), 0, 1, 3, 1);
    out[n++] = lz_where(where, x, flipped);
    out[n++] = lz_hlo_dynamic_slice(x, (lz_tensor *[]){lz_scalar(LZ_I32, 2), lz_scalar(LZ_I32, 9)},
                                    (const int64_t[]){2, 3}, 2);
    out[n++] = lz_constant_pad_nd(x, (const int64_t[]){1, 2, 0, 1}, 4, 0);
    return n;
}
enum { MOVES = 17 };

START_TEST(moves_as_bytes_do)
{
    rt_use(rt_devices[_i % 2]);
    lz_dtype d = dtypes[_i / 2];
    uint8_t raw[30];
    for (int i = 0; i < 30; i++)
        raw[i] = (uint8_t)rt_random();
    lz_tensor *a[MOVES], *b[MOVES];
    int n = move(lz_from_host(d, LZ_SHAPE(5, 6), raw), a);
    ck_assert_int_eq(n, move(lz_from_host(LZ_U8, LZ_SHAPE(5, 6), raw), b));
    for (int k = 0; k < n; k++) {
        uint8_t x[128] = {0}, y[128] = {0};
        OK(lz_to_host(a[k], x, sizeof x));
        OK(lz_to_host(b[k], y, sizeof y));
        ck_assert_int_eq(lz_dtype_of(a[k]), d);
        ck_assert_msg(memcmp(x, y, sizeof x) == 0, "movement %d", k);
    }
}
END_TEST

START_TEST(is_converted_where_it_is_said)
{
    rt_use(rt_devices[_i % 2]);
    lz_dtype d = dtypes[_i / 2];
    const float v[6] = {1.5f, -0.0f, 17, 1e9f, -0.3f, 0x1p-20f};
    const float e4[6] = {1.5f, -0.0f, 16, NAN, -0.3125f, 0},
                e5[6] = {1.5f, -0.0f, 16, INFINITY, -0.3125f, 0};
    float got[6];
    uint8_t bits[6], again[6];
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(6), v), *q = lz_to(x, d);
    OK(lz_to_host(lz_to(q, LZ_F32), got, sizeof got));
    for (int i = 0; i < 6; i++) {
        float want = d == LZ_F8E4M3FN ? e4[i] : e5[i];
        ck_assert(want != want ? got[i] != got[i]
                               : got[i] == want && !signbit(got[i]) == !signbit(want));
    }
    OK(lz_to_host(q, bits, sizeof bits));
    OK(lz_to_host(lz_hlo_bitcast_convert(lz_from_host(LZ_U8, LZ_SHAPE(6), bits), d), again, 6));
    ck_assert_int_eq(memcmp(bits, again, 6), 0);
    OK(lz_to_host(lz_hlo_convert(q, LZ_F32), got, sizeof got));
    ck_assert(got[0] == 1.5f && got[2] == 16);
    ck_assert(lz_item(lz_full(d, LZ_SCALAR, 0.3)) == 0.3125);
    ck_assert(lz_item(lz_slice(q, 0, 4, 5, 1)) == -0.3125);
    OK(lz_to_host(lz_ones(d, LZ_SHAPE(2)), bits, sizeof bits));
    ck_assert_uint_eq(bits[1], d == LZ_F8E4M3FN ? 0x38 : 0x3c);
    /* weights that are stored in 8 bits and used in 32 */
    lz_tensor *y = lz_matmul(lz_reshape(x, LZ_SHAPE(1, 6)),
                             lz_reshape(lz_to(lz_ones(d, LZ_SHAPE(6)), LZ_F32), LZ_SHAPE(6, 1)));
    OK(lz_status_of(y));
}
END_TEST

#define REFUSED(expr, text)                                                                        \
    do {                                                                                           \
        lz_tensor *r_ = (expr);                                                                    \
        FAILS(lz_status_of(r_), LZ_EDTYPE, text);                                                  \
    } while (0)

START_TEST(computes_nothing)
{
    rt_use("REF");
    lz_dtype d = dtypes[_i];
    const char *name = lz_dtype_name(d),
               *stored = "which is only stored: convert it to a float first";
    lz_tensor *q = lz_ones(d, LZ_SHAPE(2, 2)), *f = lz_ones(LZ_F32, LZ_SHAPE(2, 2));
    REFUSED(lz_add(q, q), stored);
    REFUSED(lz_add(q, q), name);
    REFUSED(lz_mul_scalar(q, 2), stored);
    REFUSED(lz_mul_scalar(q, 0.5), refusal);
    REFUSED(lz_relu(q), stored);
    REFUSED(lz_exp(q), stored);
    REFUSED(lz_lt(q, q), stored);
    REFUSED(lz_matmul(q, q), stored);
    REFUSED(lz_sum(q), "only stored");
    REFUSED(lz_softmax(q, 1), "only stored");
    REFUSED(lz_argmax(q, 1, false), "only stored");
    REFUSED(lz_sort(q, 1, false, NULL), "only stored");
    REFUSED(lz_add(q, f), "no common dtype");
    REFUSED(lz_add(f, lz_ones(d, LZ_SCALAR)), "no common dtype");
    REFUSED(lz_add(q, lz_ones(LZ_F32, LZ_SCALAR)), "no common dtype");
    REFUSED(lz_cat((lz_tensor *[]){q, f}, 2, 0), "no common dtype");
    REFUSED(lz_iota(d, LZ_SHAPE(3), 0), "cannot count");
    REFUSED(lz_rand(d, LZ_SHAPE(3)), "random numbers are floats");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("stored");
    TCase *t = tcase_create("stored");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, moves_as_bytes_do, 0, 4);
    tcase_add_loop_test(t, is_converted_where_it_is_said, 0, 4);
    tcase_add_loop_test(t, computes_nothing, 0, 2);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
