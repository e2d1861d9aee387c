/* t_eval_rng.c - the generators' known answers (Random123's kat_vectors) and how rng_bit_generator lays them out. */
#include "ir/eval.h"
#include "suite.h"
#include "support/lit.h"
#include <string.h>

START_TEST(known_answers)
{
    static const struct {
        uint32_t ctr[4], key[2], out[4];
    } philox[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    static const struct {
        uint32_t ctr[2], key[2], out[2];
    } threefry[] = {
        {{0, 0}, {0, 0}, {0x6b200159, 0x99ba4efe}},
        {{0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}, {0x1cb996fc, 0xbb002be7}},
        {{0x243f6a88, 0x85a308d3}, {0x13198a2e, 0x03707344}, {0xc4923a9c, 0x483df7a0}},
    };
    for (int i = 0; i < 3; i++) {
        uint32_t out[4];
        lz_philox4x32_10(philox[i].ctr, philox[i].key, out);
        ck_assert_mem_eq(out, philox[i].out, sizeof out);
        lz_threefry2x32_20(threefry[i].ctr, threefry[i].key, out);
        ck_assert_mem_eq(out, threefry[i].out, 8);
    }
}
END_TEST

/* Runs the op; the new state and the bits. */
static void generate(int32_t algorithm, lz_dtype d, lz_shape s, uint64_t s0, uint64_t s1,
                     lz_literal *out[2])
{
    lz_attr_rng at = {.kind = LZ_ATTR_rng, .rng_algorithm = algorithm, .dtype = d, .shape = s};
    lz_literal *state = lz_test_lit_i64(LZ_U64, LZ_SHAPE(2), (int64_t)s0, (int64_t)s1);
    const lz_sig *sig = lz_sig_get(LZ_OP_RNG_BIT_GENERATOR, lz_attr_get((lz_attr *)&at),
                                   &(const lz_type *){state->type}, 1);
    ck_assert_msg(sig != NULL, "%s", lz_error_get()->message);
    ck_assert_int_eq(lz_ref_eval_inst(sig, &state, out), LZ_OK);
    lz_literal_release(state);
}

static void drop(lz_literal *out[2])
{
    lz_literal_release(out[0]);
    lz_literal_release(out[1]);
}

static uint64_t philox_word(uint64_t s0, uint64_t s1, int64_t i)
{
    unsigned __int128 c = ((unsigned __int128)s0 << 64 | s1) + (uint64_t)(i / 4);
    uint32_t ctr[4] = {(uint32_t)c, (uint32_t)(c >> 32), (uint32_t)(c >> 64), (uint32_t)(c >> 96)},
             key[2] = {(uint32_t)s0, (uint32_t)(s0 >> 32)}, out[4];
    lz_philox4x32_10(ctr, key, out);
    return out[i % 4];
}

START_TEST(philox_layout)
{
    const uint64_t states[][2] = {
        {1, 2}, {UINT64_C(0xfedcba9876543210), 5}, {7, UINT64_MAX - 1} /* carries */};
    const int64_t sizes[] = {0, 1, 3, 4, 5, 37};
    for (int k = 0; k < 18; k++) {
        uint64_t s0 = states[k / 6][0], s1 = states[k / 6][1];
        int64_t n = sizes[k % 6];
        lz_literal *out[2];
        generate(k % 2 ? LZ_RNG_PHILOX : LZ_RNG_DEFAULT, LZ_U32, LZ_SHAPE(n), s0, s1, out);
        for (int64_t i = 0; i < n; i++)
            ck_assert_uint_eq(lz_test_get_bits(out[1], i), philox_word(s0, s1, i));
        ck_assert_uint_eq(lz_test_get_bits(out[0], 0), s0);
        ck_assert_uint_eq(lz_test_get_bits(out[0], 1), s1 + (uint64_t)((n + 3) / 4));
        drop(out);
        generate(LZ_RNG_PHILOX, LZ_I16, LZ_SHAPE(1, n), s0, s1, out);
        for (int64_t i = 0; i < n; i++)
            ck_assert_uint_eq(lz_test_get_bits(out[1], i), philox_word(s0, s1, i) & 0xffff);
        drop(out);
        generate(LZ_RNG_PHILOX, LZ_U8, LZ_SHAPE(n), s0, s1, out);
        for (int64_t i = 0; i < n; i++)
            ck_assert_uint_eq(lz_test_get_bits(out[1], i), philox_word(s0, s1, i) & 0xff);
        drop(out);
        generate(LZ_RNG_PHILOX, LZ_I64, LZ_SHAPE(n), s0, s1, out);
        for (int64_t i = 0; i < n; i++)
            ck_assert_uint_eq(lz_test_get_bits(out[1], i),
                              philox_word(s0, s1, 2 * i) | philox_word(s0, s1, 2 * i + 1) << 32);
        ck_assert_uint_eq(lz_test_get_bits(out[0], 1), s1 + (uint64_t)((n + 1) / 2));
        drop(out);
    }
}
END_TEST

static void threefry_words(uint64_t key, uint64_t ctr, uint32_t w[2])
{
    lz_threefry2x32_20((uint32_t[]){(uint32_t)ctr, (uint32_t)(ctr >> 32)},
                       (uint32_t[]){(uint32_t)key, (uint32_t)(key >> 32)}, w);
}

START_TEST(threefry_layout)
{
    uint64_t key = UINT64_C(0x13198a2e03707344), ctr = UINT64_C(0xfffffffe);
    lz_literal *out[2];
    uint32_t w[2];
    /* 3x5: the longest dimension is 5, halves of 3x3 */
    generate(LZ_RNG_THREE_FRY, LZ_U32, LZ_SHAPE(3, 5), key, ctr, out);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 5; c++) {
            threefry_words(key, ctr + (uint64_t)(r * 3 + c / 2), w);
            ck_assert_uint_eq(lz_test_get_bits(out[1], r * 5 + c), w[c % 2]);
        }
    ck_assert_uint_eq(lz_test_get_bits(out[0], 1), ctr + 9);
    drop(out);
    /* 3x2x4: the first even dimension, halves of 3x1x4 */
    generate(LZ_RNG_THREE_FRY, LZ_U8, LZ_SHAPE(3, 2, 4), key, ctr, out);
    for (int i = 0; i < 24; i++) {
        threefry_words(key, ctr + (uint64_t)(i / 8 * 4 + i % 4), w);
        ck_assert_uint_eq(lz_test_get_bits(out[1], i), w[i / 4 % 2] & 0xff);
    }
    ck_assert_uint_eq(lz_test_get_bits(out[0], 1), ctr + 12);
    drop(out);
    generate(LZ_RNG_THREE_FRY, LZ_U32, LZ_SCALAR, key, ctr, out);
    threefry_words(key, ctr, w);
    ck_assert_uint_eq(lz_test_get_bits(out[1], 0), w[0]);
    ck_assert_uint_eq(lz_test_get_bits(out[0], 1), ctr + 1);
    drop(out);
    generate(LZ_RNG_THREE_FRY, LZ_U64, LZ_SHAPE(3), key, ctr, out);
    for (uint64_t i = 0; i < 3; i++) {
        threefry_words(key, ctr + i, w);
        ck_assert_uint_eq(lz_test_get_bits(out[1], (int64_t)i), w[0] | (uint64_t)w[1] << 32);
    }
    ck_assert_uint_eq(lz_test_get_bits(out[0], 1), ctr + 3);
    drop(out);
}
END_TEST

/* Advancing the state continues the sequence when blocks are whole. */
START_TEST(state_continues)
{
    lz_literal *a[2], *b[2], *c[2];
    generate(LZ_RNG_PHILOX, LZ_U32, LZ_SHAPE(16), 3, 9, a);
    generate(LZ_RNG_PHILOX, LZ_U32, LZ_SHAPE(8), 3, 9, b);
    generate(LZ_RNG_PHILOX, LZ_U32, LZ_SHAPE(8), lz_test_get_bits(b[0], 0),
             lz_test_get_bits(b[0], 1), c);
    ck_assert_mem_eq(a[1]->data, b[1]->data, 32);
    ck_assert_mem_eq((char *)a[1]->data + 32, c[1]->data, 32);
    drop(a);
    drop(b);
    drop(c);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("eval_rng");
    TCase *t = tcase_create("eval_rng");
    tcase_add_test(t, known_answers);
    tcase_add_test(t, philox_layout);
    tcase_add_test(t, threefry_layout);
    tcase_add_test(t, state_continues);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
