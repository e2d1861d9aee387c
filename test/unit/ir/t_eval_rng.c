/* t_eval_rng.c - the generators' known answers (Random123's kat_vectors) and how they are laid
 * out. */
#include "ir/eval/eval.h"
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

/* What XLA's CPU backend (jaxlib 0.10.2) gives for the same programs. */
static const struct {
    int32_t algorithm;
    lz_dtype dtype;
    lz_shape shape;
    uint64_t state[2], advanced, bits[24];
} xla[] = {
    {LZ_RNG_PHILOX,
     LZ_U32,
     {1, {7}},
     {0x1234567890abcdef, 0xfffffffffffffffe},
     0x0,
     {0x3c5a9610, 0x3ffcdfed, 0x3c41b38f, 0x7e44026d, 0x3fdbf155, 0x378606b8, 0xfcfeaa90}},
    {LZ_RNG_PHILOX,
     LZ_U32,
     {1, {7}},
     {0x5, 0xffffffff},
     0x100000001,
     {0x49947a1a, 0xc2078afc, 0xf3ba6317, 0xe0b823ad, 0x314568d9, 0x9d5168e1, 0xba476085}},
    {LZ_RNG_PHILOX,
     LZ_U32,
     {2, {3, 5}},
     {0x1234567890abcdef, 0xfffffffffffffffe},
     0x2,
     {0x3c5a9610, 0x3ffcdfed, 0x3c41b38f, 0x7e44026d, 0x3fdbf155, 0x378606b8, 0xfcfeaa90,
      0xda448402, 0x9a6386cb, 0xd6304380, 0x8b664d98, 0x8bf6cdcd, 0xa4c3076a, 0xfab6d89d,
      0x1739188a}},
    {LZ_RNG_PHILOX,
     LZ_U64,
     {1, {3}},
     {0x1234567890abcdef, 0xfffffffffffffffe},
     0x0,
     {0x3ffcdfed3c5a9610, 0x7e44026d3c41b38f, 0x378606b83fdbf155}},
    {LZ_RNG_PHILOX,
     LZ_U16,
     {1, {6}},
     {0x1234567890abcdef, 0xfffffffffffffffe},
     0x0,
     {0x9610, 0xdfed, 0xb38f, 0x26d, 0xf155, 0x6b8}},
    {LZ_RNG_PHILOX,
     LZ_U8,
     {3, {3, 2, 4}},
     {0x1234567890abcdef, 0xfffffffffffffffe},
     0x4,
     {0x10, 0xed, 0x8f, 0x6d, 0x55, 0xb8, 0x90, 0x2,  0xcb, 0x80, 0x98, 0xcd,
      0x6a, 0x9d, 0x8a, 0x86, 0x98, 0x9d, 0xaf, 0x97, 0x54, 0xd6, 0x6,  0xc4}},
    {LZ_RNG_PHILOX,
     LZ_U32,
     {0, {0}},
     {0x1234567890abcdef, 0xfffffffffffffffe},
     0xffffffffffffffff,
     {0x3c5a9610}},
    {LZ_RNG_THREE_FRY,
     LZ_U32,
     {1, {7}},
     {0x1234567890abcdef, 0xfffffffffffffffe},
     0x2,
     {0x81093bb7, 0x5528a753, 0x64faa621, 0xb9f86aa3, 0x12c12880, 0x4eab3c6b, 0xff854c53}},
    {LZ_RNG_THREE_FRY,
     LZ_U32,
     {1, {7}},
     {0x5, 0xffffffff},
     0x100000003,
     {0x6a0ce615, 0x141d7ca4, 0x8689075a, 0xd370ebff, 0xd810843, 0x6884e767, 0x23db6dd6}},
    {LZ_RNG_THREE_FRY,
     LZ_U32,
     {2, {3, 5}},
     {0x1234567890abcdef, 0xfffffffffffffffe},
     0x7,
     {0x81093bb7, 0x5528a753, 0x64faa621, 0xb9f86aa3, 0x12c12880, 0xff854c53, 0x148060, 0x6c273505,
      0xb98fd46e, 0x8d92e57d, 0x30be5126, 0xb1605ee6, 0x38ea9fe2, 0x4f2e9d9d, 0x16816d36}},
    {LZ_RNG_THREE_FRY,
     LZ_U64,
     {1, {3}},
     {0x1234567890abcdef, 0xfffffffffffffffe},
     0x1,
     {0x5528a75381093bb7, 0xb9f86aa364faa621, 0x4eab3c6b12c12880}},
    {LZ_RNG_THREE_FRY,
     LZ_U16,
     {1, {6}},
     {0x1234567890abcdef, 0xfffffffffffffffe},
     0x1,
     {0x3bb7, 0xa753, 0xa621, 0x6aa3, 0x2880, 0x3c6b}},
    {LZ_RNG_THREE_FRY,
     LZ_U8,
     {3, {3, 2, 4}},
     {0x1234567890abcdef, 0xfffffffffffffffe},
     0xa,
     {0xb7, 0x21, 0x80, 0x53, 0x53, 0xa3, 0x6b, 0x60, 0x5,  0x7d, 0x26, 0xe2,
      0x6e, 0xf,  0xe6, 0x9d, 0x36, 0x5d, 0x65, 0xb6, 0xb8, 0x97, 0xd2, 0xa0}},
    {LZ_RNG_THREE_FRY,
     LZ_U32,
     {0, {0}},
     {0x1234567890abcdef, 0xfffffffffffffffe},
     0xffffffffffffffff,
     {0x81093bb7}},
};

START_TEST(same_as_xla)
{
    lz_literal *out[2];
    generate(xla[_i].algorithm, xla[_i].dtype, xla[_i].shape, xla[_i].state[0], xla[_i].state[1],
             out);
    ck_assert_uint_eq(lz_test_get_bits(out[0], 0), xla[_i].state[0]);
    ck_assert_uint_eq(lz_test_get_bits(out[0], 1), xla[_i].advanced);
    for (int64_t i = 0; i < out[1]->type->nelem; i++)
        ck_assert_uint_eq(lz_test_get_bits(out[1], i), xla[_i].bits[i]);
    drop(out);
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
    tcase_add_loop_test(t, same_as_xla, 0, (int)(sizeof xla / sizeof *xla));
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
