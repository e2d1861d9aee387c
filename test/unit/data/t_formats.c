/* t_formats.c - every file format: what is written is read again, and what other programs write is
 * understood. */
#include "data/data_internal.h"
#include "files.h"
#include "ir/op.h"
#include <lazuli/lazuli.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#define OK(call) ck_assert_msg((call) == LZ_OK, "%s", lz_last_error_text())

static uint8_t bytes[4096];

/* An array of pseudorandom bytes; a boolean is 0 or 1. */
static lz_array sample(lz_dtype d, lz_shape s)
{
    lz_array a = {0};
    OK(lz_data_new(d, &s, "sample", &a));
    for (size_t i = 0; i < a.nbytes; i++)
        ((uint8_t *)a.data)[i] = d == LZ_BOOL ? i % 3 == 0 : (uint8_t)(i * 167 + 13);
    return a;
}

static void same(const lz_array *a, const lz_array *b)
{
    ck_assert_int_eq(a->dtype, b->dtype);
    ck_assert_int_eq(a->shape.rank, b->shape.rank);
    for (int i = 0; i < a->shape.rank; i++)
        ck_assert_int_eq(a->shape.dims[i], b->shape.dims[i]);
    ck_assert_uint_eq(a->nbytes, b->nbytes);
    ck_assert(!a->nbytes || memcmp(a->data, b->data, a->nbytes) == 0);
}

static lz_shape shape_of(int i)
{
    switch (i) {
    case 0:
        return LZ_SCALAR;
    case 1:
        return LZ_SHAPE(1);
    case 2:
        return LZ_SHAPE(7, 3);
    case 3:
        return LZ_SHAPE(3, 0, 2);
    default:
        return LZ_SHAPE(1, 2, 1, 3, 1, 2, 1, 2);
    }
}
enum { SHAPES = 5 };

/* Neither format has a name for them. */
static bool only_bytes(lz_dtype d)
{
    return lz_dtype_is_narrow(d) || (lz_dtype_is_storage(d) && d != LZ_F8E4M3FN && d != LZ_F8E5M2);
}

START_TEST(npy_round_trip)
{
    for (int s = 0; s < SHAPES; s++) {
        lz_array a = sample((lz_dtype)_i, shape_of(s)), b;
        OK(lz_npy_write(file("a.npy"), &a));
        OK(lz_npy_read(path, &b));
        if (only_bytes(a.dtype)) /* comes back so */
            a.dtype = lz_dtype_is_signed(a.dtype) ? LZ_I8 : LZ_U8;
        same(&a, &b);
        ck_assert(b.nbytes == 0 || (uintptr_t)b.data % 64 == 0);
        lz_array_free(&a);
        lz_array_free(&b);
        ck_assert_ptr_null(b.data);
    }
}
END_TEST

/* An array of a file of version `v` with this dict and n bytes of elements. */
static lz_array decoded(int v, const char *dict, const void *data, size_t n)
{
    lz_array a;
    lz_buf b = {0};
    put_npy_dict(&b, v, strlen(dict), dict);
    lz_buf_put(&b, data, n);
    OK(lz_npy_decode(b.data, b.len, "x", &a));
    lz_buf_free(&b);
    return a;
}

START_TEST(npy_of_others)
{
    static const uint8_t big[12] = {0, 0, 0, 1, 0, 0, 0, 2, 0xff, 0xff, 0xff, 0xfd};
    static const int32_t columns[6] = {1, 4, 2, 5, 3, 6};
    lz_array a = decoded(1, "{'descr': '>i4', 'fortran_order': False, 'shape': (3,), }\n", big, 12);
    ck_assert_int_eq(((int32_t *)a.data)[0], 1);
    ck_assert_int_eq(((int32_t *)a.data)[2], -3);
    lz_array_free(&a);
    a = decoded(3, "{\"shape\": (2L, 3L), 'fortran_order': True, 'descr': '<i4'}   \n", columns,
                24);
    ck_assert_int_eq(a.shape.rank, 2);
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(((int32_t *)a.data)[i], i + 1);
    lz_array_free(&a);
    a = decoded(2, "{'descr': '<f8', 'fortran_order': False, 'shape': ()}", "\0\0\0\0\0\0\xf0\x3f",
                8);
    ck_assert(*(double *)a.data == 1 && a.shape.rank == 0);
    lz_array_free(&a);
    a = decoded(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", "\0\1\7", 3);
    /* any byte but 0 is true */
    ck_assert(memcmp(a.data, "\0\1\1", 3) == 0);
    lz_array_free(&a);
}
END_TEST

/* The bytes that numpy.save writes for array([[1, 2]], dtype=float32), as of NumPy 1.24. */
START_TEST(npy_is_numpys_text)
{
    static const char want[] =
        "\x93NUMPY\1\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }";
    const float x[2] = {1, 2};
    const lz_array a = {LZ_F32, LZ_SHAPE(1, 2), 8, (void *)x, NULL};
    OK(lz_npy_write(file("n.npy"), &a));
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fread(bytes, 1, sizeof bytes, f), 136);
    fclose(f);
    ck_assert(memcmp(bytes, want, sizeof want - 1) == 0);
    ck_assert_int_eq(bytes[127], '\n');
    ck_assert(memcmp(bytes + 128, x, 8) == 0);
}
END_TEST

/* 8-bit floats as others wrote them, and as we did: the order of one byte tells the two of one size
 * apart. */
START_TEST(npy_of_8_bit_floats)
{
    static const struct {
        const char *descr;
        lz_dtype dtype;
    } of[] = {{"<f1", LZ_F8E5M2},   {"|f1", LZ_F8E5M2},   {">V1", LZ_F8E5M2},
              {"<V1", LZ_F8E4M3FN}, {"|V1", LZ_F8E4M3FN}, {"=V1", LZ_F8E4M3FN}};
    char dict[96];
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        snprintf(dict, sizeof dict, "{'descr': '%s', 'fortran_order': False, 'shape': (3,), }",
                 of[i].descr);
        lz_array a = decoded(1, dict, "\x3c\x40\x7c", 3);
        ck_assert_int_eq(a.dtype, of[i].dtype);
        ck_assert(memcmp(a.data, "\x3c\x40\x7c", 3) == 0);
        lz_array_free(&a);
    }
}
END_TEST

/* What numpy.load opens (NumPy 2.4, ml_dtypes 0.5): its dtypes know neither f1 nor bf16. */
START_TEST(npy_names_void_what_numpy_lacks)
{
    static const struct {
        lz_dtype dtype;
        const char *descr;
    } of[] = {{LZ_BF16, "'|V2'"}, {LZ_F8E4M3FN, "'|V1'"}, {LZ_F8E5M2, "'>V1'"}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        uint8_t x[4] = {0x3c, 0x40, 0x7c, 0};
        const lz_array a = {of[i].dtype, LZ_SHAPE(2), 2 * lz_dtype_size(of[i].dtype), x, NULL};
        lz_array b;
        OK(lz_npy_write(file("f8.npy"), &a));
        FILE *f = fopen(path, "rb");
        ck_assert_ptr_nonnull(f);
        size_t n = fread(bytes, 1, 128, f);
        fclose(f);
        ck_assert_uint_eq(n, 128);
        ck_assert(memcmp(bytes + 20, of[i].descr, 5) == 0);
        OK(lz_npy_read(path, &b));
        ck_assert_int_eq(b.dtype, of[i].dtype);
        ck_assert(memcmp(b.data, x, a.nbytes) == 0);
        lz_array_free(&b);
    }
}
END_TEST

static const char *const names[] = {"weight", "a b/c.d", "empty", "", "z\xc3\xa9"};
enum { NAMES = sizeof names / sizeof *names };

static void sample_all(lz_array *a)
{
    static const lz_dtype d[NAMES] = {LZ_F32, LZ_I64, LZ_F64, LZ_U8, LZ_BF16};
    for (int i = 0; i < NAMES; i++)
        a[i] = sample(d[i], shape_of((i + 2) % SHAPES));
}

static void check_all(lz_archive *z, lz_array *a)
{
    ck_assert_msg(z != NULL, "%s", lz_last_error_text());
    ck_assert_uint_eq(lz_archive_len(z), NAMES);
    for (int i = 0; i < NAMES; i++) {
        lz_array b;
        lz_dtype d;
        lz_shape s;
        OK(lz_archive_info(z, names[i], &d, &s));
        ck_assert_int_eq(d, a[i].dtype);
        ck_assert_int_eq(s.rank, a[i].shape.rank);
        OK(lz_archive_read(z, names[i], &b));
        same(&a[i], &b);
        lz_array_free(&b);
        ck_assert(lz_archive_has(z, names[i]) && lz_archive_has(z, lz_archive_name(z, (size_t)i)));
    }
    ck_assert(!lz_archive_has(z, "weigh") && !lz_archive_name(z, NAMES));
    lz_array none;
    ck_assert_int_eq(lz_archive_read(z, "missing", &none), LZ_ENOENT);
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "missing"));
    lz_archive_close(z);
}

START_TEST(npz_round_trip)
{
    lz_array a[NAMES];
    sample_all(a);
    OK(lz_npz_write(file("a.npz"), names, a, NAMES, _i));
    check_all(lz_npz_open(path), a);
    lz_archive *z = lz_npz_open(path);
    lz_array b;
    OK(lz_archive_read(z, "weight", &b));
    ck_assert(_i || (uintptr_t)b.data % 64 == 0); /* stored: where it lies in the file */
    lz_archive_close(z);
    same(&a[0], &b); /* outlives the archive */
    lz_array_free(&b);
    for (int i = 0; i < NAMES; i++)
        lz_array_free(&a[i]);
    OK(lz_npz_write(file("none.npz"), NULL, NULL, 0, _i));
    z = lz_npz_open(path);
    ck_assert_ptr_nonnull(z);
    ck_assert_uint_eq(lz_archive_len(z), 0);
    lz_archive_close(z);
}
END_TEST

START_TEST(npz_of_a_large_array)
{
    static uint8_t many[300000];
    lz_shape s = LZ_SHAPE(300000);
    for (size_t i = 0; i < sizeof many; i++)
        many[i] = (uint8_t)(i * i >> 7);
    const lz_array a = {LZ_U8, s, sizeof many, many, NULL};
    const char *const one[] = {"many"};
    lz_array b;
    OK(lz_npz_write(file("many.npz"), one, &a, 1, true));
    struct stat st;
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_lt(st.st_size, 200000);
    lz_archive *z = lz_npz_open(path);
    OK(lz_archive_info(z, "many", NULL, &s));
    OK(lz_archive_read(z, "many", &b));
    same(&a, &b);
    lz_array_free(&b);
    lz_archive_close(z);
}
END_TEST

START_TEST(safetensors_round_trip)
{
    lz_array a[NAMES];
    const char *const metadata[] = {"format", "pt", "step", "12\n\"\xc3\xa9"};
    sample_all(a);
    OK(lz_safetensors_write(file("a.safetensors"), names, a, NAMES, metadata, 2));
    check_all(lz_safetensors_open(path), a);
    lz_archive *z = lz_safetensors_open(path);
    ck_assert_str_eq(lz_archive_metadata(z, "format"), "pt");
    ck_assert_str_eq(lz_archive_metadata(z, "step"), metadata[3]);
    ck_assert_ptr_null(lz_archive_metadata(z, "x"));
    lz_array b, c;
    OK(lz_archive_read(z, "weight", &b));
    OK(lz_archive_read(z, "weight", &c));
    ck_assert_ptr_eq(b.data, c.data); /* nothing is copied */
    lz_archive_close(z);
    lz_array_free(&c);
    same(&a[0], &b);
    lz_array_free(&b);
    for (int i = 0; i < NAMES; i++)
        lz_array_free(&a[i]);
    OK(lz_safetensors_write(file("none.safetensors"), NULL, NULL, 0, NULL, 0));
    z = lz_safetensors_open(path);
    ck_assert_ptr_nonnull(z);
    lz_archive_close(z);
}
END_TEST

START_TEST(safetensors_of_every_dtype)
{
    lz_array a = sample((lz_dtype)_i, LZ_SHAPE(5, 3)), b;
    const char *const one[] = {"x"};
    lz_status s = lz_safetensors_write(file("d.safetensors"), one, &a, 1, NULL, 0);
    if (_i == LZ_C128 || only_bytes((lz_dtype)_i)) { /* the format has no name for it */
        ck_assert_msg(s == LZ_EDTYPE, "%s: %s", lz_dtype_name((lz_dtype)_i), lz_status_name(s));
        ck_assert_ptr_nonnull(strstr(lz_last_error_text(), lz_dtype_name((lz_dtype)_i)));
        ck_assert_int_ne(access(path, F_OK), 0);
        lz_array_free(&a);
        return;
    }
    OK(s);
    lz_archive *z = lz_safetensors_open(path);
    OK(lz_archive_read(z, "x", &b));
    same(&a, &b);
    lz_archive_close(z);
    lz_array_free(&a);
    lz_array_free(&b);
}
END_TEST

START_TEST(tensors_to_files_and_back)
{
    const float x[6] = {1, -2, 3.5f, 0, -0.0f, 1e30f};
    float got[6];
    const char *const two[] = {"x", "twice"};
    lz_scope_begin();
    lz_tensor *t[2] = {lz_from_host(LZ_F32, LZ_SHAPE(2, 3), x)};
    t[1] = lz_mul_scalar(t[0], 2);
    OK(lz_save_safetensors(file("t.safetensors"), two, t, 2, NULL, 0));
    lz_archive *z = lz_safetensors_open(path);
    lz_tensor *y = lz_archive_tensor(z, "twice");
    lz_archive_close(z);
    OK(lz_to_host(lz_mul_scalar(y, 0.5), got, sizeof got));
    ck_assert(memcmp(got, x, sizeof x) == 0);
    ck_assert_int_eq(lz_shape_of(y).dims[1], 3);
    lz_array a;
    OK(lz_tensor_array(t[1], &a));
    OK(lz_npy_write(file("t.npy"), &a));
    lz_array_free(&a);
    OK(lz_npy_read(path, &a));
    y = lz_array_tensor(&a);
    ck_assert_ptr_null(a.owner);
    OK(lz_to_host(y, got, sizeof got));
    ck_assert(got[2] == 7);
    ck_assert_int_eq(lz_status_of(lz_array_tensor(NULL)), LZ_ENULL);
    ck_assert_int_ne(lz_status_of(lz_archive_tensor(NULL, "x")), LZ_OK);
    lz_tensor *bad = lz_matmul(t[0], t[0]), *with_bad[] = {t[0], bad};
    ck_assert_int_eq(lz_save_safetensors(file("bad.safetensors"), two, with_bad, 2, NULL, 0),
                     LZ_ESHAPE);
    ck_assert_int_ne(access(path, F_OK), 0);
    lz_scope_end();
    OK(lz_mark_step());
}
END_TEST

START_TEST(checkpoint_in_several_files)
{
    lz_array a[3] = {sample(LZ_F32, LZ_SHAPE(2)), sample(LZ_I8, LZ_SHAPE(3)),
                     sample(LZ_F16, LZ_SHAPE(4))},
             b;
    const char *const first[] = {"a", "extra"}, *const second[] = {"b"};
    OK(lz_safetensors_write(file("m-1.safetensors"), first, a, 2, NULL, 0));
    OK(lz_safetensors_write(file("m-2.safetensors"), second, a + 2, 1, NULL, 0));
    static const char good[] = "{\"metadata\": {\"total_size\": 16}, \"weight_map\": "
                               "{\"a\": \"m-1.safetensors\", \"b\": \"m-2.safetensors\"}}";
    write_all("m.safetensors.index.json", good, sizeof good - 1);
    lz_archive *z = lz_safetensors_open(path);
    ck_assert_msg(z != NULL, "%s", lz_last_error_text());
    ck_assert_uint_eq(lz_archive_len(z), 2);
    OK(lz_archive_read(z, "b", &b));
    same(&a[2], &b);
    lz_array_free(&b);
    ck_assert(!lz_archive_has(z, "extra"));
    lz_archive_close(z);
    for (int i = 0; i < 3; i++)
        lz_array_free(&a[i]);
}
END_TEST

START_TEST(checkpoint_index_is_not_trusted)
{
    static const struct {
        const char *text;
        lz_status status;
    } rows[] = {
        {"{\"weight_map\": {\"a\": \"/etc/passwd\"}}", LZ_EPERM},
        {"{\"weight_map\": {\"a\": \"../m-1.safetensors\"}}", LZ_EPERM},
        {"{\"weight_map\": {\"a\": \"..\"}}", LZ_EPERM},
        {"{\"weight_map\": {\"a\": \"\"}}", LZ_EPERM},
        {"{\"weight_map\": {\"a\": \"gone.safetensors\"}}", LZ_ENOENT},
        {"{\"weight_map\": {\"missing\": \"m-1.safetensors\"}}", LZ_ECORRUPT},
        {"{\"weight_map\": {\"a\": 3}}", LZ_EPARSE},
        {"{\"weight_map\": []}", LZ_EPARSE},
        {"{\"weight_map\"", LZ_EPARSE},
        {"[]", LZ_EPARSE},
        {"", LZ_EPARSE},
        {"{\"weight_map\": {\"a\": \"m-1.safetensors\", \"a\": \"m-1.safetensors\"}}", LZ_EPARSE},
    };
    lz_array a = sample(LZ_F32, LZ_SHAPE(2));
    const char *const one[] = {"a"};
    OK(lz_safetensors_write(file("m-1.safetensors"), one, &a, 1, NULL, 0));
    lz_array_free(&a);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_all("x.index.json", rows[i].text, strlen(rows[i].text));
        ck_assert_ptr_null(lz_safetensors_open(path));
        ck_assert_msg(lz_last_error(NULL) == rows[i].status, "row %zu: %s", i,
                      lz_last_error_text());
    }
}
END_TEST

START_TEST(idx_plain_and_compressed)
{
    static const uint8_t idx[] = {0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6};
    static const uint8_t shorts[] = {0, 0, 0xb, 1, 0, 0, 0, 2, 0, 1, 0xff, 0xfe};
    lz_array a;
    write_all("i", idx, sizeof idx);
    OK(lz_idx_read(path, &a));
    ck_assert_int_eq(a.dtype, LZ_U8);
    ck_assert_int_eq(a.shape.dims[1], 3);
    ck_assert_int_eq(((uint8_t *)a.data)[5], 6);
    lz_array_free(&a);
    write_all("s", shorts, sizeof shorts);
    OK(lz_idx_read(path, &a));
    ck_assert(((int16_t *)a.data)[0] == 1 && ((int16_t *)a.data)[1] == -2);
    lz_array_free(&a);
    gzFile z = gzopen(file("i.gz"), "wb");
    ck_assert_int_eq(gzwrite(z, idx, sizeof idx), sizeof idx);
    ck_assert_int_eq(gzclose(z), Z_OK);
    OK(lz_idx_read(path, &a));
    ck_assert_int_eq(((uint8_t *)a.data)[5], 6);
    lz_array_free(&a);
    ck_assert_int_eq(truncate(path, 25), 0);
    ck_assert_int_eq(lz_idx_read(path, &a), LZ_ECORRUPT);
}
END_TEST

START_TEST(cifar)
{
    enum { ROW = 3074 };
    static uint8_t raw[2 * ROW];
    for (int i = 0; i < 2; i++) {
        raw[i * ROW] = 5;
        raw[i * ROW + 1] = (uint8_t)(90 + i);
        raw[i * ROW + 2] = (uint8_t)(7 + i);
    }
    lz_array images, labels;
    write_all("c100", raw, sizeof raw);
    OK(lz_cifar_read(path, true, &images, &labels));
    ck_assert(images.shape.dims[0] == 2 && images.shape.dims[1] == 3 && images.shape.dims[3] == 32);
    ck_assert(((uint8_t *)labels.data)[1] == 91 && ((uint8_t *)images.data)[3072] == 8);
    lz_array_free(&images);
    lz_array_free(&labels);
    ck_assert_int_eq(lz_cifar_read(path, false, &images, &labels), LZ_ECORRUPT);
    write_all("c10", raw, 3073);
    OK(lz_cifar_read(path, false, &images, &labels));
    ck_assert(((uint8_t *)labels.data)[0] == 5 && ((uint8_t *)images.data)[0] == 90);
    lz_array_free(&images);
    lz_array_free(&labels);
}
END_TEST

static lz_status csv(const char *text, lz_csv_options o, lz_array *a)
{
    o.struct_size = sizeof o;
    return lz_csv_parse(text, strlen(text), "t.csv", &o, a);
}

START_TEST(csv_numbers)
{
    lz_array a = {0};
    OK(csv("x,y\n1, 2.5 # one\r\n\n#\n-3e2,nan\n", (lz_csv_options){.skip_lines = 1}, &a));
    const float *f = a.data;
    ck_assert(a.shape.dims[0] == 2 && a.shape.dims[1] == 2);
    ck_assert(f[0] == 1 && f[1] == 2.5f && f[2] == -300 && isnan(f[3]));
    lz_array_free(&a);
    OK(csv(" 1   2\t3\n4 5 6", (lz_csv_options){.delimiter = ' ', .dtype = LZ_I16}, &a));
    ck_assert(((int16_t *)a.data)[5] == 6 && a.shape.dims[1] == 3);
    lz_array_free(&a);
    OK(csv("18446744073709551615;0", (lz_csv_options){.delimiter = ';', .dtype = LZ_U64}, &a));
    ck_assert(*(uint64_t *)a.data == UINT64_MAX);
    lz_array_free(&a);
    OK(csv("", (lz_csv_options){.dtype = LZ_F64}, &a));
    ck_assert_int_eq(a.shape.dims[0], 0);
    lz_array_free(&a);
    OK(csv("0.1", (lz_csv_options){.dtype = LZ_F64}, &a));
    ck_assert(*(double *)a.data == 0.1);
    lz_array_free(&a);
    write_all("f.csv", "1,2\n3,4\n", 8);
    OK(lz_csv_read(path, &a, .dtype = LZ_I32));
    ck_assert_int_eq(((int32_t *)a.data)[3], 4);
    lz_array_free(&a);
}
END_TEST

START_TEST(csv_mistakes_name_the_line)
{
    static const struct {
        const char *text;
        lz_csv_options o;
        lz_status status;
        const char *says;
    } rows[] = {
        {"1,2\n3\n", {0}, LZ_EPARSE, "t.csv:2: 1 numbers"},
        {"1,x\n", {0}, LZ_EPARSE, "t.csv:1: \"x\""},
        {"1,\n", {0}, LZ_EPARSE, "t.csv:1"},
        {"1,,2\n", {0}, LZ_EPARSE, "t.csv:1"},
        {"1 2\n", {0}, LZ_EPARSE, "\"1 2\""},
        {"1.5", {.dtype = LZ_I32}, LZ_EPARSE, "1.5"},
        {"300", {.dtype = LZ_U8}, LZ_ERANGE, "300"},
        {"-1", {.dtype = LZ_U8}, LZ_ERANGE, "-1"},
        {"128", {.dtype = LZ_I8}, LZ_ERANGE, "128"},
        {"99999999999999999999", {.dtype = LZ_I64}, LZ_ERANGE, "999"},
        {"1", {.dtype = LZ_BOOL}, LZ_EDTYPE, "bool"},
        {"1", {.delimiter = '.'}, LZ_EINVAL, "'.'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lz_array a = {0};
        ck_assert_msg(csv(rows[i].text, rows[i].o, &a) == rows[i].status, "row %zu: %s", i,
                      lz_last_error_text());
        ck_assert_msg(strstr(lz_last_error_text(), rows[i].says) != NULL, "row %zu: %s", i,
                      lz_last_error_text());
    }
}
END_TEST

START_TEST(text_as_bytes)
{
    lz_array a;
    write_all("t.txt", "hello", 5);
    OK(lz_bytes_read(path, &a));
    ck_assert(a.dtype == LZ_U8 && a.nbytes == 5 && memcmp(a.data, "hello", 5) == 0);
    lz_array_free(&a);
    write_all("e.txt", "", 0);
    OK(lz_bytes_read(path, &a));
    ck_assert(a.shape.rank == 1 && a.shape.dims[0] == 0);
    lz_array_free(&a);
    ck_assert_int_eq(lz_bytes_read(file("gone"), &a), LZ_ENOENT);
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "gone"));
    ck_assert_int_eq(lz_bytes_read(dir, &a), LZ_EINVAL);
    ck_assert_int_eq(lz_bytes_read("/dev/zero", &a), LZ_EINVAL);
}
END_TEST

/* A failed writer leaves what was there, and nothing beside it. */
START_TEST(writers_replace_or_leave)
{
    lz_array a = sample(LZ_F32, LZ_SHAPE(3)), bad = a, b;
    OK(lz_npy_write(file("keep.npy"), &a));
    bad.nbytes = 5;
    ck_assert_int_eq(lz_npy_write(path, &bad), LZ_ERANGE);
    const char *const twice[] = {"x", "x"};
    const lz_array two[] = {a, a};
    ck_assert_int_eq(lz_npz_write(path, twice, two, 2, false), LZ_EINVAL);
    ck_assert_int_eq(lz_safetensors_write(path, twice, two, 2, NULL, 0), LZ_EINVAL);
    const char *const latin[] = {"\xe9"};
    ck_assert_int_eq(lz_safetensors_write(path, latin, two, 1, NULL, 0), LZ_EINVAL);
    OK(lz_npy_read(path, &b));
    same(&a, &b);
    lz_array_free(&b);
    ck_assert_int_eq(lz_npy_write(file("no/such.npy"), &a), LZ_ENOENT);
    char cmd[300];
    snprintf(cmd, sizeof cmd, "test \"$(ls -A '%s' | wc -l)\" = 1", dir);
    ck_assert_int_eq(system(cmd), 0);
    lz_array_free(&a);
}
END_TEST

/* Files may not grow beyond some bytes, as on a full disk. */
START_TEST(a_full_disk_leaves_the_old_file)
{
    lz_array a = sample(LZ_F32, LZ_SHAPE(1000)), b;
    const char *const one[] = {"x"};
    OK(lz_safetensors_write(file("full"), one, &a, 1, NULL, 0));
    struct rlimit old, limit;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
    ck_assert(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    for (rlim_t n = 0; n < 4000; n += 500) {
        limit = (struct rlimit){n, old.rlim_max};
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
        lz_status s[] = {lz_safetensors_write(path, one, &a, 1, NULL, 0),
                         lz_npz_write(path, one, &a, 1, false), lz_npy_write(path, &a)};
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
        for (int i = 0; i < 3; i++)
            ck_assert_int_eq(s[i], LZ_EIO);
    }
    lz_archive *z = lz_safetensors_open(path);
    OK(lz_archive_read(z, "x", &b));
    same(&a, &b);
    lz_archive_close(z);
    lz_array_free(&a);
    lz_array_free(&b);
    char cmd[300];
    snprintf(cmd, sizeof cmd, "test \"$(ls -A '%s')\" = full", dir);
    ck_assert_int_eq(system(cmd), 0);
}
END_TEST

/* A process that does nothing but save is killed at any moment: what stands there is always
 * whole. */
START_TEST(a_killed_writer_leaves_a_whole_file)
{
    lz_array a = sample(LZ_F32, LZ_SHAPE(20000)), b;
    const char *const one[] = {"x"};
    OK(lz_safetensors_write(file("whole"), one, &a, 1, NULL, 0));
    for (int round = 0; round < 20; round++) {
        pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0)
            while (true)
                (void)!lz_safetensors_write(path, one, &a, 1, NULL, 0);
        usleep(1000 + 700 * (useconds_t)round);
        kill(child, SIGKILL);
        ck_assert_int_eq(waitpid(child, NULL, 0), child);
        lz_archive *z = lz_safetensors_open(path);
        OK(lz_archive_read(z, "x", &b));
        same(&a, &b);
        lz_array_free(&b);
        lz_archive_close(z);
    }
    lz_array_free(&a);
}
END_TEST

/* Every allocation fails once; nothing leaks, no array is half there. */
START_TEST(memory_runs_out)
{
    lz_array a[NAMES];
    sample_all(a);
    OK(lz_npz_write(file("m.npz"), names, a, NAMES, true));
    OK(lz_safetensors_write(file("m.safetensors"), names, a, NAMES, NULL, 0));
    int64_t live = lz_alloc_live_bytes_hint();
    for (int what = 0; what < 4; what++)
        for (int n = 1; n < 200; n++) {
            lz_array b = {0};
            lz_archive *z = NULL;
            lz_status s = LZ_OK;
            uint64_t before = lz_alloc_failed_count();
            lz_alloc_fail_at(n, false);
            if (what < 2) {
                z = what ? lz_safetensors_open(file("m.safetensors")) : lz_npz_open(file("m.npz"));
                s = z ? lz_archive_read(z, "weight", &b) : LZ_EMEM;
            } else if (what == 2) {
                s = lz_npz_write(file("w.npz"), names, a, NAMES, true);
            } else {
                s = lz_safetensors_write(file("w.safetensors"), names, a, NAMES, NULL, 0);
            }
            lz_alloc_fail_at(0, false);
            bool failed = lz_alloc_failed_count() != before;
            ck_assert_msg(failed || s == LZ_OK, "%s", lz_last_error_text());
            lz_array_free(&b);
            lz_archive_close(z);
            ck_assert_int_eq(lz_alloc_live_bytes_hint(), live);
            if (!failed)
                break;
            ck_assert_int_lt(n, 199);
        }
    for (int i = 0; i < NAMES; i++)
        lz_array_free(&a[i]);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("formats");
    TCase *t = tcase_create("formats");
    tcase_add_checked_fixture(t, make_folder, remove_folder);
    tcase_add_loop_test(t, npy_round_trip, LZ_BOOL, LZ_DTYPE_COUNT);
    tcase_add_test(t, npy_of_others);
    tcase_add_test(t, npy_is_numpys_text);
    tcase_add_test(t, npy_of_8_bit_floats);
    tcase_add_test(t, npy_names_void_what_numpy_lacks);
    tcase_add_loop_test(t, npz_round_trip, 0, 2);
    tcase_add_test(t, npz_of_a_large_array);
    tcase_add_test(t, safetensors_round_trip);
    tcase_add_loop_test(t, safetensors_of_every_dtype, LZ_BOOL, LZ_DTYPE_COUNT);
    tcase_add_test(t, tensors_to_files_and_back);
    tcase_add_test(t, checkpoint_in_several_files);
    tcase_add_test(t, checkpoint_index_is_not_trusted);
    tcase_add_test(t, idx_plain_and_compressed);
    tcase_add_test(t, cifar);
    tcase_add_test(t, csv_numbers);
    tcase_add_test(t, csv_mistakes_name_the_line);
    tcase_add_test(t, text_as_bytes);
    tcase_add_test(t, writers_replace_or_leave);
    tcase_add_test(t, a_full_disk_leaves_the_old_file);
    tcase_add_test(t, a_killed_writer_leaves_a_whole_file);
    tcase_add_test(t, memory_runs_out);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
