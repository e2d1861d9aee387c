/* t_foreign_files.c - what other writers put into files: dtypes that the library has not, several
 * gzip members, an archive behind other data, data behind an array. */
#include "base/text.h"
#include "files.h"
#include <lazuli/lazuli.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define OK(x) ck_assert_msg((x) == LZ_OK, "%s", lz_last_error_text())

static void setup(void)
{
    make_folder();
    file("foreign");
}

/* ---- safetensors ---- */

static lz_archive *open_with(const char *tensor, size_t nbytes)
{
    char head[512];
    lz_buf b = {0};
    const float one = 1.5f;
    lz_snprintf(head, sizeof head,
                "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},\"s\":{%s,"
                "\"data_offsets\":[4,%zu]}}",
                tensor, 4 + nbytes);
    put_tensors_header(&b, strlen(head), head, strlen(head));
    lz_buf_put(&b, &one, sizeof one);
    for (size_t i = 0; i < nbytes; i++)
        lz_buf_u8(&b, (uint8_t)(0x21 + i));
    append(b.data, b.len);
    lz_buf_free(&b);
    lz_archive *a = lz_safetensors_open(path);
    ck_assert_msg(a != NULL, "%s", lz_last_error_text());
    ck_assert_uint_eq(lz_archive_len(a), 2);
    ck_assert(lz_archive_has(a, "s"));
    lz_array x;
    OK(lz_archive_read(a, "a", &x));
    ck_assert_int_eq(memcmp(x.data, &one, sizeof one), 0);
    lz_array_free(&x);
    return a;
}

static const struct {
    const char *tensor;
    size_t nbytes;
    lz_status want;
    const char *says;
} refused[] = {
    {"\"dtype\":\"F6_E2M3\",\"shape\":[4]", 3, LZ_EDTYPE, "F6_E2M3"},
    {"\"dtype\":\"F8_E4M3FNUZ\",\"shape\":[4]", 4, LZ_EDTYPE, "F8_E4M3FNUZ"},
    {"\"dtype\":\"I4\",\"shape\":[2,2]", 2, LZ_EDTYPE, "I4"},
    {"\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", 4, LZ_ESHAPE,
     "17 dimensions"},
    {"\"dtype\":\"NEW\",\"shape\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", 5, LZ_EDTYPE, "NEW"},
    {"\"dtype\":\"F4\",\"shape\":[2,3]", 3, LZ_ESHAPE, "inside one"},
    {"\"shape\":[7],\"dtype\":\"LATER\"", 1, LZ_EDTYPE, "LATER"},
};

START_TEST(one_tensor_refused)
{
    lz_archive *a = open_with(refused[_i].tensor, refused[_i].nbytes);
    lz_array x;
    lz_dtype d;
    lz_shape s;
    ck_assert_int_eq(lz_archive_read(a, "s", &x), refused[_i].want);
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), refused[_i].says));
    ck_assert_int_eq(lz_archive_info(a, "s", &d, &s), refused[_i].want);
    lz_archive_close(a);
}
END_TEST

static const struct {
    const char *tensor;
    size_t nbytes;
    lz_shape shape;
} bytes[] = {
    {"\"dtype\":\"F8_E8M0\",\"shape\":[2,3]", 6, {.rank = 2, .dims = {2, 3}}},
    {"\"dtype\":\"F8_E8M0\",\"shape\":[]", 1, {.rank = 0}},
    {"\"dtype\":\"F4\",\"shape\":[3,4]", 6, {.rank = 2, .dims = {3, 2}}},
    {"\"dtype\":\"F4\",\"shape\":[0]", 0, {.rank = 1, .dims = {0}}},
};

START_TEST(numbers_as_bytes)
{
    lz_archive *a = open_with(bytes[_i].tensor, bytes[_i].nbytes);
    lz_array x;
    OK(lz_archive_read(a, "s", &x));
    ck_assert_int_eq(x.dtype, LZ_U8);
    ck_assert_uint_eq(x.nbytes, bytes[_i].nbytes);
    ck_assert_int_eq(memcmp(&x.shape, &bytes[_i].shape, sizeof x.shape), 0);
    for (size_t i = 0; i < x.nbytes; i++)
        ck_assert_int_eq(((const uint8_t *)x.data)[i], (int)(0x21 + i));
    lz_array_free(&x);
    lz_archive_close(a);
}
END_TEST

/* ---- gzip ---- */

static const uint8_t idx[] = {0, 0, 8, 1, 0, 0, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8};

static void append_member(const void *p, size_t n)
{
    gzFile z = gzopen(path, "ab");
    ck_assert_ptr_nonnull(z);
    if (n)
        ck_assert_int_eq(gzwrite(z, p, (unsigned)n), (int)n);
    ck_assert_int_eq(gzclose(z), Z_OK);
}

/* Cut at every place; an empty member and zeros behind. */
START_TEST(gzip_members)
{
    lz_array x;
    append_member(idx, (size_t)_i);
    append_member(idx + _i, sizeof idx - (size_t)_i);
    if (_i % 2)
        append_member(NULL, 0);
    if (_i % 3)
        append((char[]){0, 0, 0}, 3);
    OK(lz_idx_read(path, &x));
    ck_assert_uint_eq(x.nbytes, 8);
    ck_assert_int_eq(memcmp(x.data, idx + 8, 8), 0);
    lz_array_free(&x);
    append("x", 1); /* no member, and no zeros */
    ck_assert_int_eq(lz_idx_read(path, &x), LZ_ECORRUPT);
}
END_TEST

START_TEST(a_member_too_many)
{
    lz_array x;
    append_member(idx, sizeof idx);
    append_member(idx, 1);
    ck_assert_int_eq(lz_idx_read(path, &x), LZ_ECORRUPT);
}
END_TEST

/* ---- behind and before ---- */

START_TEST(npz_behind_other_data)
{
    char *whole = NULL;
    float v[3] = {1, 2, 3};
    lz_array a = {.dtype = LZ_F32, .shape = LZ_SHAPE(3), .data = v, .nbytes = sizeof v}, x;
    OK(lz_npz_write(path, (const char *const[]){"v"}, &a, 1, _i & 1));
    OK(lz_bytes_read(path, &x));
    ck_assert_ptr_nonnull(whole = malloc(x.nbytes));
    size_t n = x.nbytes;
    memcpy(whole, x.data, n);
    lz_array_free(&x);
    ck_assert_int_eq(truncate(path, 0), 0);
    append("#!/bin/sh\nexec true\n", 20);
    if (_i & 2)
        append(whole, n); /* another archive */
    append(whole, n);
    free(whole);
    lz_archive *z = lz_npz_open(path);
    ck_assert_msg(z != NULL, "%s", lz_last_error_text());
    OK(lz_archive_read(z, "v", &x));
    lz_archive_close(z);
    ck_assert_int_eq(memcmp(x.data, v, sizeof v), 0);
    lz_array_free(&x);
}
END_TEST

/* ---- npz and npy: data behind an array ---- */

/* A zip file of the one member "a.npy". */
static void put_zip(const lz_buf *member, bool deflated)
{
    uint8_t packed[16384];
    uint32_t n = (uint32_t)member->len;
    const Bytef *p = (const Bytef *)member->data;
    z_stream z = {
        .next_in = (Bytef *)p, .avail_in = n, .next_out = packed, .avail_out = sizeof packed};
    ck_assert_int_eq(deflateInit2(&z, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    uint32_t crc = (uint32_t)crc32(0, p, n), size = deflated ? (uint32_t)z.total_out : n;
    lz_buf b = {0};
    put_zip_entry(&b, "a.npy", deflated, size, n, crc, -1);
    lz_buf_put(&b, deflated ? packed : p, size);
    size_t at = b.len;
    put_zip_entry(&b, "a.npy", deflated, size, n, crc, 0);
    put_zip_end(&b, at, 1);
    ck_assert(!b.failed);
    append(b.data, b.len);
    lz_buf_free(&b);
}

/* Stored or deflated, in C or Fortran order, with no, a few or many bytes behind the elements. */
START_TEST(npz_with_data_behind_the_array)
{
    static const uint32_t behind[] = {0, 1, 5, 10000};
    bool deflated = _i & 1, fortran = _i & 2;
    float v[6] = {1, 2, 3, 4, 5, 6};
    lz_buf member = {0};
    char text[100], dict[128];
    snprintf(text, sizeof text, "{'descr': '<f4', 'fortran_order': %s, 'shape': (2, 3), }",
             fortran ? "True" : "False");
    snprintf(dict, sizeof dict, "%-117s\n", text); /* the elements begin at 128, as numpy's */
    put_npy_dict(&member, 1, strlen(dict), dict);
    lz_buf_put(&member, v, sizeof v);
    for (size_t i = 0; i < behind[_i / 4]; i++)
        lz_buf_u8(&member, (uint8_t)(i * 7));
    put_zip(&member, deflated);
    lz_buf_free(&member);
    lz_archive *z = lz_npz_open(path);
    ck_assert_msg(z != NULL, "%s", lz_last_error_text());
    lz_array a = {0};
    lz_dtype d;
    lz_shape s;
    OK(lz_archive_info(z, "a", &d, &s));
    ck_assert(d == LZ_F32 && s.rank == 2 && s.dims[0] == 2 && s.dims[1] == 3);
    OK(lz_archive_read(z, "a", &a));
    ck_assert_uint_eq(a.nbytes, sizeof v);
    for (int i = 0; i < 6; i++)
        ck_assert(((float *)a.data)[i] == v[fortran ? i / 3 + 2 * (i % 3) : i]);
    lz_array_free(&a);
    lz_archive_close(z);
}
END_TEST

START_TEST(npy_before_other_data)
{
    float v[3] = {1, 2, 3};
    lz_array a = {.dtype = LZ_F32, .shape = LZ_SHAPE(3), .data = v, .nbytes = sizeof v}, x;
    OK(lz_npy_write(path, &a));
    OK(lz_npy_read(path, &x));
    lz_array_free(&x);
    append("more", 4);
    OK(lz_npy_read(path, &x));
    ck_assert_uint_eq(x.nbytes, sizeof v);
    ck_assert_int_eq(memcmp(x.data, v, sizeof v), 0);
    lz_array_free(&x);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("foreign_files");
    TCase *t = tcase_create("foreign_files");
    tcase_add_checked_fixture(t, setup, remove_folder);
    tcase_add_loop_test(t, one_tensor_refused, 0, sizeof refused / sizeof *refused);
    tcase_add_loop_test(t, numbers_as_bytes, 0, sizeof bytes / sizeof *bytes);
    tcase_add_loop_test(t, gzip_members, 0, sizeof idx);
    tcase_add_test(t, a_member_too_many);
    tcase_add_loop_test(t, npz_behind_other_data, 0, 4);
    tcase_add_loop_test(t, npz_with_data_behind_the_array, 0, 16);
    tcase_add_test(t, npy_before_other_data);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
