/* t_types.c - dtypes, types, attribute records, literals: interning, limits, conversions. */
#include "ir/attr.h"
#include "ir/module.h"
#include "suite.h"
#include "support/rnd.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const lz_type *get(lz_dtype d, int rank, const int64_t *dims)
{
    lz_shape s = lz_shape_make(rank, dims);
    return lz_type_get(d, &s);
}

START_TEST(dtype_words_round_trip)
{
    lz_dtype d = (lz_dtype)_i;
    const char *s = lz_dtype_mlir(d);
    ck_assert_int_eq(lz_dtype_from_mlir(s, strlen(s)), d);
    int classes = lz_dtype_is_float(d) + lz_dtype_is_signed(d) + lz_dtype_is_unsigned(d) +
                  lz_dtype_is_storage(d);
    ck_assert_int_eq(classes, d != LZ_BOOL && !lz_dtype_is_complex(d));
    ck_assert_int_eq(lz_dtype_is_int(d), lz_dtype_is_signed(d) || lz_dtype_is_unsigned(d));
    ck_assert_int_eq(lz_dtype_from_mlir(s, strlen(s) + 1), LZ_DTYPE_NONE);
}
END_TEST

START_TEST(types_are_one_pointer)
{
    lz_rnd r = {1};
    for (int i = 0; i < 2000; i++) {
        int64_t dims[LZ_MAX_RANK], n = 1;
        int rank = (int)lz_rnd_range(&r, 0, LZ_MAX_RANK);
        for (int k = 0; k < rank; k++)
            n *= dims[k] = lz_rnd_range(&r, 0, 4);
        lz_dtype d = (lz_dtype)lz_rnd_range(&r, 1, LZ_DTYPE_COUNT - 1);
        lz_shape s = lz_shape_make(rank, dims);
        for (int k = rank; k < LZ_MAX_RANK; k++)
            s.dims[k] = lz_rnd_range(&r, -9, 9); /* beyond the rank: no part of the type */
        const lz_type *t = lz_type_get(d, &s);
        ck_assert_ptr_nonnull(t);
        ck_assert_ptr_eq(t, get(d, rank, dims));
        ck_assert_int_eq(t->nelem, n);
        ck_assert_uint_eq(t->nbytes, (size_t)n * lz_dtype_size(d));
        ck_assert_ptr_ne(t, get(d == LZ_F32 ? LZ_I32 : LZ_F32, rank, dims));
    }
}
END_TEST

/* No size that a type has may overflow, whatever else is 0. */
START_TEST(impossible_types_are_refused)
{
    const int64_t big = INT64_MAX, half = (int64_t)1 << 32;
    const struct {
        int rank;
        int64_t dims[LZ_MAX_RANK + 1];
        lz_status want;
    } cases[] = {
        {LZ_MAX_RANK + 1, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, LZ_ESHAPE},
        {-1, {0}, LZ_ESHAPE},
        {INT32_MAX, {1}, LZ_ESHAPE},
        {INT32_MIN, {1}, LZ_ESHAPE},
        {1, {-1}, LZ_ESHAPE},
        {2, {3, -2}, LZ_ESHAPE},
        {1, {INT64_MIN}, LZ_ESHAPE},
        {1, {big}, LZ_ERANGE},
        {2, {half, half}, LZ_ERANGE},
        {2, {big, 0}, LZ_ERANGE},
        {3, {half, 0, half}, LZ_ERANGE},
        {3, {0, half, half}, LZ_ERANGE},
        {4, {65536, 65536, 65536, 65536}, LZ_ERANGE},
        {2, {big / 4, 2}, LZ_ERANGE},
        {1, {big / 4 + 1}, LZ_ERANGE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lz_shape s = {.rank = cases[i].rank};
        memcpy(s.dims, cases[i].dims, sizeof s.dims);
        lz_error_clear();
        ck_assert_msg(lz_type_get(LZ_F32, &s) == NULL, "case %zu", i);
        ck_assert_int_eq(lz_error_get()->status, cases[i].want);
        ck_assert(lz_error_get()->message[0] != '\0');
    }
    lz_shape s = {0};
    ck_assert_ptr_null(lz_type_get(LZ_DTYPE_NONE, &s));
    ck_assert_ptr_null(lz_type_get((lz_dtype)99, &s));
    ck_assert_int_eq(lz_error_get()->status, LZ_EDTYPE);
    ck_assert_ptr_nonnull(get(LZ_I8, 1, &(int64_t){INT64_MAX}));
    ck_assert_ptr_nonnull(get(LZ_I8, 2, (int64_t[]){0, INT64_MAX}));
    ck_assert_int_eq(get(LZ_F64, 3, (int64_t[]){1 << 20, 0, 1 << 20})->nelem, 0);
}
END_TEST

START_TEST(type_texts)
{
    char s[80];
    lz_buf b = {0};
    lz_type_print(&b, get(LZ_U8, 2, (int64_t[]){2, 3}));
    ck_assert_str_eq(lz_buf_str(&b), "tensor<2x3xui8>");
    lz_buf_free(&b);
    ck_assert_str_eq(lz_type_short(get(LZ_F32, 2, (int64_t[]){2, 3}), s, sizeof s), "f32[2,3]");
    ck_assert_str_eq(lz_type_short(get(LZ_BF16, 0, NULL), s, sizeof s), "bf16[]");
    for (size_t n = 1; n < sizeof s; n++) { /* cut, never overrun */
        memset(s, 'x', sizeof s);
        lz_type_short(get(LZ_F32, 3, (int64_t[]){1000000, 2000000, 3000}), s, n);
        ck_assert_uint_lt(strlen(s), n);
        ck_assert(n == sizeof s || s[n] == 'x');
    }
}
END_TEST

/* ---- attributes ---- */

static void randomise(lz_rnd *r, lz_attr_any *a, lz_attr_kind kind)
{
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    lz_attr_init(a, kind);
    int n = lz_attr_fields(&a->head, f);
    for (int i = 0; i < n; i++)
        switch (f[i].type) {
        case LZ_FIELD_I64:
            *f[i].i64 = lz_rnd_range(r, -1, 2);
            break;
        case LZ_FIELD_BOOL:
            *f[i].flag = lz_rnd_chance(r, 50);
            break;
        case LZ_FIELD_INTS:
            f[i].ints->n = (int32_t)lz_rnd_range(r, 0, 2);
            for (int k = 0; k < f[i].ints->n; k++)
                f[i].ints->v[k] = lz_rnd_range(r, 0, 1);
            break;
        case LZ_FIELD_SHAPE:
            *f[i].shape =
                lz_shape_make((int)lz_rnd_range(r, 0, 2), (int64_t[]){lz_rnd_range(r, 0, 2), 3});
            break;
        case LZ_FIELD_DTYPE:
            *f[i].dtype = (lz_dtype)lz_rnd_range(r, 1, 3);
            break;
        case LZ_FIELD_ENUM:
            *f[i].value = (int32_t)lz_rnd_range(r, 0, 2);
            break;
        case LZ_FIELD_STR:
            *f[i].str = lz_rnd_chance(r, 50) ? lz_string_get("one", 3) : NULL;
            break;
        case LZ_FIELD_REGION:
            *f[i].region =
                lz_region_binary(lz_rnd_chance(r, 50) ? LZ_OP_ADD : LZ_OP_MAXIMUM, LZ_F32);
            break;
        }
}

/* Interned pointers, equality and hashes agree on random records; garbage that is no value does not
 * count. */
START_TEST(attributes_are_one_pointer)
{
    lz_rnd r = {(uint64_t)_i};
    lz_attr_any a, b;
    int equal = 0;
    for (int i = 0; i < 3000; i++) {
        randomise(&r, &a, (lz_attr_kind)_i);
        if (lz_rnd_chance(&r, 80))
            randomise(&r, &b, (lz_attr_kind)_i);
        else
            b = a;
        bool same = lz_attr_eq(&a.head, &b.head);
        equal += same;
        const lz_attr *pa = lz_attr_get(&a.head), *pb = lz_attr_get(&b.head);
        ck_assert(pa && pb);
        ck_assert_int_eq(same, pa == pb);
        ck_assert_int_eq(same, lz_hash_eq(lz_attr_hash(&a.head), lz_attr_hash(&b.head)));
        ck_assert(lz_attr_eq(pa, &a.head) && lz_attr_get(pa) == pa);
        lz_attr_field f[LZ_ATTR_MAX_FIELDS];
        int n = lz_attr_fields(&a.head, f);
        for (int k = 0; k < n; k++)
            if (f[k].type == LZ_FIELD_INTS)
                f[k].ints->v[LZ_MAX_RANK - 1] = lz_rnd_range(&r, 0, 9);
        ck_assert_ptr_eq(lz_attr_get(&a.head), pa);
    }
    ck_assert(equal > 0);
}
END_TEST

/* Every field of every record counts: changing it gives another pointer. */
START_TEST(every_field_counts)
{
    lz_rnd r = {7};
    lz_attr_any a;
    randomise(&r, &a, (lz_attr_kind)_i);
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    int n = lz_attr_fields(&a.head, f);
    for (int i = 0; i < n; i++) {
        const lz_attr *before = lz_attr_get(&a.head);
        switch (f[i].type) {
        case LZ_FIELD_I64:
            ++*f[i].i64;
            break;
        case LZ_FIELD_BOOL:
            *f[i].flag = !*f[i].flag;
            break;
        case LZ_FIELD_INTS:
            f[i].ints->v[f[i].ints->n++] = 0;
            break;
        case LZ_FIELD_SHAPE:
            f[i].shape->dims[f[i].shape->rank++] = 5;
            break;
        case LZ_FIELD_DTYPE:
            *f[i].dtype = LZ_F64;
            break;
        case LZ_FIELD_ENUM:
            *f[i].value = *f[i].value == 0;
            break;
        case LZ_FIELD_STR:
            *f[i].str = lz_string_get("another", 7);
            break;
        case LZ_FIELD_REGION:
            *f[i].region = lz_region_binary(LZ_OP_MULTIPLY, LZ_F64);
            break;
        }
        ck_assert_msg(lz_attr_get(&a.head) != before, "%s", f[i].name);
    }
}
END_TEST

START_TEST(broken_attributes_are_refused)
{
    lz_attr_perm p = {.kind = LZ_ATTR_perm};
    p.permutation.n = LZ_MAX_RANK + 1;
    ck_assert_ptr_null(lz_attr_get((lz_attr *)(void *)&p));
    p.permutation.n = -1;
    ck_assert_ptr_null(lz_attr_get((lz_attr *)(void *)&p));
    lz_attr_shape s = {.kind = LZ_ATTR_shape, .shape = {.rank = 100}};
    ck_assert_ptr_null(lz_attr_get((lz_attr *)(void *)&s));
    ck_assert_int_eq(lz_error_get()->status, LZ_ESHAPE);
    lz_attr_compare c = {.kind = LZ_ATTR_compare, .comparison_direction = 77};
    ck_assert_ptr_null(lz_attr_get((lz_attr *)(void *)&c));
    lz_attr_dtype d = {.kind = LZ_ATTR_dtype, .dtype = (lz_dtype)200};
    ck_assert_ptr_null(lz_attr_get((lz_attr *)(void *)&d));
    lz_attr_reduce e = {.kind = LZ_ATTR_reduce};
    ck_assert_ptr_null(lz_attr_get((lz_attr *)(void *)&e));
    lz_attr k = {(lz_attr_kind)1000};
    ck_assert_ptr_null(lz_attr_get(&k));
    ck_assert_ptr_eq(lz_attr_get(NULL), &lz_attr_empty);
}
END_TEST

/* ---- literals ---- */

START_TEST(f16_round_trips_and_rounds)
{
    for (uint32_t u = 0; u < 65536; u++) {
        float f = lz_f16_to_f32((uint16_t)u), g = lz_bf16_to_f32((uint16_t)u);
        if (f == f)
            ck_assert_uint_eq(lz_f32_to_f16(f), u);
        else
            ck_assert(lz_f16_to_f32(lz_f32_to_f16(f)) != lz_f16_to_f32(lz_f32_to_f16(f)));
        if (g == g)
            ck_assert_uint_eq(lz_f32_to_bf16(g), u);
        else
            ck_assert(lz_bf16_to_f32(lz_f32_to_bf16(g)) != lz_bf16_to_f32(lz_f32_to_bf16(g)));
    }
    ck_assert_uint_eq(lz_f32_to_f16(65519.9f), 0x7bff);
    ck_assert_uint_eq(lz_f32_to_f16(65520.0f), 0x7c00);
    ck_assert_uint_eq(lz_f32_to_f16(0x1p-25f), 0);
    ck_assert_uint_eq(lz_f32_to_f16(0x1.000002p-25f), 1);
    ck_assert_uint_eq(lz_f32_to_f16(-0.0f), 0x8000);
    ck_assert_uint_eq(lz_f32_to_bf16(0x1.01p0f), 0x3f80);
    ck_assert_uint_eq(lz_f32_to_bf16(0x1.03p0f), 0x3f82);
}
END_TEST

/* The conversions without branches round as the ones by way of f64 do. */
START_TEST(f32_to_16_bits_as_f64)
{
    for (uint64_t u = lz_test_seed() % 4093; u <= UINT32_MAX; u += 4093) {
        uint32_t bits = (uint32_t)u;
        float f;
        memcpy(&f, &bits, sizeof f);
        ck_assert_msg(lz_f32_to_f16(f) == lz_f64_to_f16(f) &&
                          lz_f32_to_bf16(f) == lz_f64_to_bf16(f),
                      "%08x", bits);
    }
}
END_TEST

/* Against the nearest of two neighbours, found by bisection over all 16-bit values: one rounding,
 * ties to even. */
START_TEST(f64_to_16_bits_rounds_once)
{
    lz_rnd r = {3};
    for (int i = 0; i < 20000; i++) {
        uint16_t u = (uint16_t)lz_rnd_range(&r, 0, 0x7bfe), got[2];
        double lo = lz_f16_to_f32(u), hi = lz_f16_to_f32((uint16_t)(u + 1)), mid = (lo + hi) / 2;
        const double probe[] = {mid, nextafter(mid, INFINITY), nextafter(mid, -INFINITY), lo,
                                lo + (hi - lo) * lz_rnd_unit(&r)};
        for (int k = 0; k < 5; k++) {
            double v = probe[k];
            uint16_t want = v < mid   ? u
                            : v > mid ? (uint16_t)(u + 1)
                            : u & 1   ? (uint16_t)(u + 1)
                                      : u;
            lz_elem_set_f64(LZ_F16, got, 0, v);
            lz_elem_set_f64(LZ_F16, got, 1, -v);
            ck_assert_uint_eq(got[0], want);
            ck_assert_uint_eq(got[1], want | 0x8000);
        }
    }
}
END_TEST

START_TEST(elements_saturate_and_wrap)
{
    int8_t i8;
    uint8_t u8;
    int64_t i64;
    uint64_t u64;
    const struct {
        double v;
        int8_t i8;
        uint8_t u8;
        int64_t i64;
        uint64_t u64;
    } cases[] = {
        {NAN, 0, 0, 0, 0},
        {INFINITY, 127, 255, INT64_MAX, UINT64_MAX},
        {-INFINITY, -128, 0, INT64_MIN, 0},
        {1.9, 1, 1, 1, 1},
        {-1.9, -1, 0, -1, 0},
        {300, 127, 255, 300, 300},
        {0x1p63, 127, 255, INT64_MAX, (uint64_t)1 << 63},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lz_elem_set_f64(LZ_I8, &i8, 0, cases[i].v);
        lz_elem_set_f64(LZ_U8, &u8, 0, cases[i].v);
        lz_elem_set_f64(LZ_I64, &i64, 0, cases[i].v);
        lz_elem_set_f64(LZ_U64, &u64, 0, cases[i].v);
        ck_assert_int_eq(i8, cases[i].i8);
        ck_assert_uint_eq(u8, cases[i].u8);
        ck_assert_int_eq(i64, cases[i].i64);
        ck_assert_uint_eq(u64, cases[i].u64);
    }
    lz_elem_set_i64(LZ_I8, &i8, 0, 300);
    ck_assert_int_eq(i8, 44);
    lz_elem_set_i64(LZ_U64, &u64, 0, -1);
    ck_assert_uint_eq(u64, UINT64_MAX);
    uint16_t h;
    lz_elem_set_i64(LZ_F16, &h, 0, 2049); /* a tie, to even */
    ck_assert_uint_eq(h, 0x6800);
    uint16_t b;
    lz_elem_set_i64(LZ_BF16, &b, 0,
                    ((int64_t)1 << 62) + ((int64_t)1 << 54) +
                        1); /* in double alone this is a tie */
    ck_assert_uint_eq(b, 0x5e81);
}
END_TEST

START_TEST(literals_hold_and_compare)
{
    lz_literal *a = lz_literal_scalar(LZ_F32, -0.0), *b = lz_literal_scalar(LZ_F32, 0.0),
               *c = lz_literal_scalar_i64(LZ_I64, INT64_MIN);
    ck_assert(!lz_literal_eq(a, b));
    ck_assert_int_eq(lz_elem_get_i64(LZ_I64, c->data, 0), INT64_MIN);
    lz_literal *e = lz_literal_new(get(LZ_F64, 2, (int64_t[]){0, 3}));
    ck_assert_ptr_nonnull(e->data);
    ck_assert_uint_eq((uintptr_t)e->data % 16, 0);
    lz_literal *wide = lz_literal_new(get(LZ_F64, 2, (int64_t[]){1, 3}));
    ck_assert_ptr_nonnull(wide);
    ck_assert_uint_eq((uintptr_t)wide->data % 64, 0);
    lz_literal_release(wide);
    float v[3] = {1, NAN, -3};
    lz_literal *l = lz_literal_copy_from(get(LZ_F32, 1, (int64_t[]){3}), v),
               *m = lz_literal_copy_from(l->type, l->data);
    ck_assert(lz_literal_eq(l, m) && lz_literal_get_f64(m, 2) == -3);
    lz_literal_retain(l);
    lz_literal_release(l);
    lz_literal_release(NULL);
    lz_literal *all[] = {a, b, c, e, l, m};
    for (int i = 0; i < 6; i++)
        lz_literal_release(all[i]);
}
END_TEST

/* An integer's text is its class and its bits; what moves whole bytes has those of its bytes; a
 * small float's text begins with its own. */
START_TEST(bits_are_those_of_the_text)
{
    for (int k = 0; k <= LZ_DTYPE_COUNT; k++) {
        lz_dtype d = (lz_dtype)k;
        char text[16];
        if (lz_dtype_is_storage(d)) {
            snprintf(text, sizeof text, "f%dE", lz_dtype_bits(d));
            ck_assert(strncmp(lz_dtype_mlir(d), text, 3) == 0);
            continue;
        }
        if (d != LZ_BOOL && !lz_dtype_is_int(d)) {
            ck_assert_int_eq(lz_dtype_bits(d), 8 * (int)lz_dtype_size(d));
            continue;
        }
        snprintf(text, sizeof text, "%s%d", lz_dtype_is_unsigned(d) ? "ui" : "i", lz_dtype_bits(d));
        ck_assert_str_eq(lz_dtype_mlir(d), text);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ir/types");
    TCase *t = tcase_create("types");
    tcase_add_test(t, bits_are_those_of_the_text);
    tcase_add_loop_test(t, dtype_words_round_trip, 1, LZ_DTYPE_COUNT);
    tcase_add_test(t, types_are_one_pointer);
    tcase_add_test(t, impossible_types_are_refused);
    tcase_add_test(t, type_texts);
    tcase_add_loop_test(t, attributes_are_one_pointer, 1, LZ_ATTR_COUNT);
    tcase_add_loop_test(t, every_field_counts, 1, LZ_ATTR_COUNT);
    tcase_add_test(t, broken_attributes_are_refused);
    tcase_add_test(t, f16_round_trips_and_rounds);
    tcase_add_test(t, f32_to_16_bits_as_f64);
    tcase_add_test(t, f64_to_16_bits_rounds_once);
    tcase_add_test(t, elements_saturate_and_wrap);
    tcase_add_test(t, literals_hold_and_compare);
    tcase_set_timeout(t, 120);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
