/* t_malformed.c - malformed files: each is refused with a status and a reason, and leaks no
 * memory. */
#include "data/data_internal.h"
#include "files.h"
#include <lazuli/lazuli.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- safetensors ---- */

typedef struct row {
    const char *header;
    size_t data; /* bytes after it */
    lz_status status;
    const char *says;
} row;

#define T(dtype, shape, range)                                                                     \
    "{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" range "}"

static const row safetensors[] = {
    {"{\"a\":" T("F32", "[2]", "[0,8]") "}", 8, LZ_OK, ""},
    {"{\"a\":" T("F32", "[2]", "[0,8]") "}      ", 8, LZ_OK, ""},
    {"{}", 0, LZ_OK, ""},
    {"{\"a\":" T("F32", "[]", "[0,4]") "}", 4, LZ_OK, ""},
    {"{\"a\":" T("F32", "[0]", "[0,0]") "}", 0, LZ_OK, ""},
    {"{\"b\":" T("U8", "[1]", "[0,1]") ",\"a\":" T("F32", "[0]", "[0,0]") "}", 1, LZ_OK, ""},
    {"{\"__metadata__\":{\"x\":\"y\"}}", 0, LZ_OK, ""},
    {" {}", 0, LZ_EPARSE, "no JSON object"},
    {"[]", 0, LZ_EPARSE, "no JSON object"},
    {"{\"a\"", 0, LZ_EPARSE, "JSON"},
    {"{}x", 0, LZ_EPARSE, "JSON"},
    {"{\"\xff\":1}", 0, LZ_EPARSE, "JSON"},
    {"{\"a\\u0000\":" T("U8", "[1]", "[0,1]") "}", 1, LZ_EPARSE, "JSON"},
    {"{\"a\":1}", 0, LZ_EPARSE, "\"a\""},
    {"{\"a\":[]}", 0, LZ_EPARSE, "\"a\""},
    {"{\"a\":{}}", 0, LZ_EPARSE, "\"a\""},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[]}}", 0, LZ_EPARSE, "\"a\""},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4],\"x\":1}}", 4, LZ_EPARSE,
     "\"a\""},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[],\"offsets\":[0,4]}}", 4, LZ_EPARSE, "\"a\""},
    {"{\"a\":" T("F32", "[2]", "[0,8]") ",\"a\":" T("F32", "[2]", "[0,8]") "}", 8, LZ_EPARSE,
     "JSON"},
    {"{\"a\":" T("F32", "[0]", "[0,0]") ",\"a\":" T("F32", "[0]", "[0,0]") "}", 0, LZ_EPARSE,
     "JSON"},
    {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, LZ_EPARSE, "JSON"},
    {"{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}", 0, LZ_EPARSE, "JSON"},
    {"{\"__metadata__\":{\"k\":\"\\ud800\"}}", 0, LZ_EPARSE, "JSON"},
    {"{\"__metadata__\":{\"k\":\"\t\"}}", 0, LZ_EPARSE, "JSON"},
    {"{\"__metadata__\":{\"k\":\"v\",}}", 0, LZ_EPARSE, "JSON"},
    {"{\"a\":" T("F32", "[02]", "[0,8]") "}", 8, LZ_EPARSE, "JSON"},
    {"{\"a\":" T("F32", "[2,]", "[0,8]") "}", 8, LZ_EPARSE, "\"a\""},
    {"{\"a\":" T("F77", "[2]", "[0,8]") "}", 8, LZ_EDTYPE, "F77"},
    {"{\"a\":" T("f32", "[2]", "[0,8]") "}", 8, LZ_EDTYPE, "f32"},
    {"{\"a\":{\"dtype\":3,\"shape\":[],\"data_offsets\":[0,4]}}", 4, LZ_EDTYPE, "\"a\""},
    {"{\"a\":" T("F32", "2", "[0,8]") "}", 8, LZ_EPARSE, "\"a\""},
    {"{\"a\":" T("F32", "[-2]", "[0,8]") "}", 8, LZ_EPARSE, "\"a\""},
    {"{\"a\":" T("F32", "[2.0]", "[0,8]") "}", 8, LZ_EPARSE, "\"a\""},
    {"{\"a\":" T("F32", "[\"2\"]", "[0,8]") "}", 8, LZ_EPARSE, "\"a\""},
    {"{\"a\":" T("F32", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,4]") "}", 4, LZ_ESHAPE,
     "17 dimensions"},
    {"{\"a\":" T("F32", "[4294967296,4294967296]", "[0,8]") "}", 8, LZ_ERANGE, "too many bytes"},
    {"{\"a\":" T("F32", "[4611686018427387904]", "[0,0]") "}", 0, LZ_ERANGE, "too many bytes"},
    {"{\"a\":" T("F32", "[0,9223372036854775807]", "[0,0]") "}", 0, LZ_ERANGE, "too many bytes"},
    {"{\"a\":" T("F32", "[9223372036854775808]", "[0,8]") "}", 8, LZ_EPARSE, "JSON"},
    {"{\"a\":" T("F32", "[2]", "[0,4]") "}", 4, LZ_ECORRUPT, "its shape says 8"},
    {"{\"a\":" T("F32", "[2]", "[0,16]") "}", 16, LZ_ECORRUPT, "its shape says 8"},
    {"{\"a\":" T("F32", "[2]", "[8,0]") "}", 8, LZ_ECORRUPT, "8..0"},
    {"{\"a\":" T("F32", "[2]", "[-8,0]") "}", 8, LZ_ECORRUPT, "-8..0"},
    {"{\"a\":" T("F32", "[2]", "[0,9]") "}", 8, LZ_ECORRUPT, "0..9"},
    {"{\"a\":" T("F32", "[2]", "[0,9223372036854775807]") "}", 8, LZ_ECORRUPT, "\"a\""},
    {"{\"a\":" T("F32", "[2]", "[0]") "}", 8, LZ_EPARSE, "data_offsets"},
    {"{\"a\":" T("F32", "[2]", "[0,8,9]") "}", 8, LZ_EPARSE, "data_offsets"},
    {"{\"a\":" T("F32", "[2]", "[0.0,8]") "}", 8, LZ_EPARSE, "data_offsets"},
    {"{\"a\":" T("F32", "[2]", "{}") "}", 8, LZ_EPARSE, "data_offsets"},
    {"{\"a\":" T("F32", "[2]", "[0,8]") "}", 9, LZ_ECORRUPT, "the file has 9"},
    {"{\"a\":" T("U8", "[2]", "[1,3]") "}", 3, LZ_ECORRUPT, "hole"},
    {"{\"a\":" T("U8", "[2]", "[0,2]") ",\"b\":" T("U8", "[2]", "[3,5]") "}", 5, LZ_ECORRUPT,
     "hole"},
    {"{\"a\":" T("U8", "[2]", "[0,2]") ",\"b\":" T("U8", "[2]", "[1,3]") "}", 3, LZ_ECORRUPT,
     "inside"},
    {"{\"a\":" T("U8", "[2]", "[0,2]") ",\"b\":" T("U8", "[2]", "[0,2]") "}", 2, LZ_ECORRUPT,
     "inside"},
    {"{\"a\":" T("U8", "[4]", "[0,4]") ",\"b\":" T("U8", "[0]", "[2,2]") "}", 4, LZ_ECORRUPT,
     "inside"},
    {"{\"__metadata__\":3}", 0, LZ_EPARSE, "__metadata__"},
    {"{\"__metadata__\":{\"x\":3}}", 0, LZ_EPARSE, "\"x\""},
};

static lz_status open_safetensors(const void *p, size_t n)
{
    lz_archive *a = lz_archive_new("f.safetensors", false);
    ck_assert_ptr_nonnull(a);
    lz_status s = lz_safetensors_parse(a, (lz_view){p, n, NULL});
    if (s == LZ_OK)
        s = lz_archive_index(a);
    for (size_t i = 0; s == LZ_OK && i < lz_archive_len(a); i++)
        s = lz_archive_info(a, lz_archive_name(a, i), NULL, NULL);
    lz_archive_close(a);
    return s;
}

/* A file of these: the length that is claimed, a header, so many bytes of tensors. */
static lz_buf tensors(uint64_t claim, const char *header, size_t data)
{
    lz_buf b = {0};
    put_tensors_header(&b, claim, header, strlen(header));
    put_zeros(&b, data);
    ck_assert(!b.failed);
    return b;
}

static lz_status open_tensors(uint64_t claim, const char *header, size_t data)
{
    lz_buf b = tensors(claim, header, data);
    lz_status s = open_safetensors(b.data, b.len);
    lz_buf_free(&b);
    return s;
}

static void is(lz_status got, lz_status want, const char *says, const char *what)
{
    ck_assert_msg(got == want, "%s: %s, not %s (%s)", what, lz_status_name(got),
                  lz_status_name(want), lz_last_error_text());
    lz_error_info e;
    if (want != LZ_OK) {
        lz_last_error(&e);
        ck_assert_msg(strstr(e.message, says) != NULL, "%s: \"%s\" lacks \"%s\"", what, e.message,
                      says);
    }
}

START_TEST(safetensors_headers)
{
    const row *r = &safetensors[_i];
    lz_buf b = tensors(strlen(r->header), r->header, r->data);
    is(open_safetensors(b.data, b.len), r->status, r->says, r->header);
    /* the same file cut short is never accepted */
    for (size_t k = 0; k < b.len && r->status == LZ_OK; k++)
        ck_assert_int_ne(open_safetensors(b.data, k), LZ_OK);
    lz_buf_free(&b);
}
END_TEST

START_TEST(safetensors_lengths)
{
    static const uint64_t claims[] = {0,          1,         3,          100000001,
                                      UINT32_MAX, INT64_MAX, UINT64_MAX, UINT64_MAX - 7};
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++)
        ck_assert_int_eq(open_tensors(claims[i], "{}", 0), LZ_ECORRUPT);
}
END_TEST

START_TEST(safetensors_many_and_deep)
{
    enum { DEEP = 100000 };
    const int many = getenv("LZ_TEST_QUICK") ? 5000 : 100000;
    lz_buf b = {0};
    lz_buf_putc(&b, '{');
    for (int i = 0; i < many; i++)
        lz_buf_printf(&b, "%s\"t%d\":" T("U8", "[1]", "[%d,%d]"), i ? "," : "", i, i, i + 1);
    lz_buf_putc(&b, '}');
    ck_assert(!b.failed);
    ck_assert_int_eq(open_tensors(b.len, b.data, (size_t)many), LZ_OK);
    b.len = 0;
    lz_buf_puts(&b, "{\"a\":");
    for (int i = 0; i < DEEP; i++)
        lz_buf_putc(&b, '[');
    ck_assert(!b.failed);
    is(open_tensors(b.len, b.data, 0), LZ_EPARSE, "\"a\" is not", "deep");
    lz_buf_free(&b);
}
END_TEST

/* ---- .npy ---- */

#define NPY(descr, order, shape)                                                                   \
    "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }"

static const row npys[] = {
    {NPY("'<f4'", "False", "(2,)"), 8, LZ_OK, ""},
    {NPY("'<f4'", "False", "(2,)") "  \n", 8, LZ_OK, ""},
    {NPY("'<f4'", "False", "(2,0)"), 0, LZ_OK, ""},
    {NPY("'<f4'", "False", "(2,)"), 7, LZ_ECORRUPT, "says 8"},
    {NPY("'|O'", "False", "(2,)"), 8, LZ_EDTYPE, "object"},
    {NPY("'O'", "False", "(2,)"), 8, LZ_EDTYPE, "object"},
    {NPY("'<U4'", "False", "(2,)"), 8, LZ_EDTYPE, "<U4"},
    {NPY("'<f16'", "False", "(2,)"), 8, LZ_EDTYPE, "<f16"},
    {NPY("[('a', '<f4')]", "False", "(2,)"), 8, LZ_EDTYPE, "records"},
    {NPY("'<f4", "False", "(2,)"), 8, LZ_EDTYPE, ""},
    {NPY("<f4", "False", "(2,)"), 8, LZ_EPARSE, "string"},
    {NPY("'<f4'", "False", "((2,),)"), 8, LZ_EPARSE, "extent"},
    {NPY("'<f4'", "False", "(-2,)"), 8, LZ_EPARSE, "extent"},
    {NPY("'<f4'", "False", "(2 3)"), 8, LZ_EPARSE, "shape"},
    {NPY("'<f4'", "False", "(2,"), 8, LZ_EPARSE, "extent"},
    {NPY("'<f4'", "False", "2"), 8, LZ_EPARSE, "tuple"},
    {NPY("'<f4'", "False", "(99999999999999999999,)"), 8, LZ_ERANGE, "extent"},
    {NPY("'<f4'", "False", "(4294967296, 4294967296)"), 8, LZ_ERANGE, "too many bytes"},
    {NPY("'<f4'", "False", "(0, 9223372036854775807)"), 0, LZ_ERANGE, "too many bytes"},
    {NPY("'<f4'", "False", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"), 4, LZ_ESHAPE, "16 dimensions"},
    {NPY("'<f4'", "0", "(2,)"), 8, LZ_EPARSE, "fortran_order"},
    {NPY("'<f4'", "False", "(2,)") "x", 8, LZ_EPARSE, "complete"},
    {"{'descr': '<f4', 'shape': (2,)}", 8, LZ_EPARSE, "complete"},
    {"{'descr': '<f4', 'descr': '<f4', 'shape': (2,)}", 8, LZ_EPARSE, "repeated"},
    {"{'x': 1}", 8, LZ_EPARSE, "unknown"},
    {"{'descr' '<f4'}", 8, LZ_EPARSE, "no value"},
    {"{'descr': '<f4'", 8, LZ_EPARSE, "end"},
    {"", 8, LZ_EPARSE, "dict"},
    {"{", 8, LZ_EPARSE, "string"},
};

static lz_status open_npy(const void *p, size_t n)
{
    lz_array a = {0};
    lz_status s = lz_npy_decode(p, n, "f.npy", &a);
    lz_array_free(&a);
    return s;
}

/* A file of these: a version, the length that is claimed, a dict, so many bytes of elements. */
static lz_buf npy(int version, uint64_t claim, const char *dict, size_t data)
{
    lz_buf b = {0};
    put_npy_dict(&b, version, claim, dict);
    put_zeros(&b, data);
    ck_assert(!b.failed);
    return b;
}

static lz_status open_made(int version, uint64_t claim, const char *dict, size_t data)
{
    lz_buf b = npy(version, claim, dict, data);
    lz_status s = open_npy(b.data, b.len);
    lz_buf_free(&b);
    return s;
}

START_TEST(npy_headers)
{
    const row *r = &npys[_i];
    for (int version = 1; version <= 3; version++) {
        lz_buf b = npy(version, strlen(r->header), r->header, r->data);
        is(open_npy(b.data, b.len), r->status, r->says, r->header);
        for (size_t k = 0; k < b.len && r->status == LZ_OK; k++)
            ck_assert_int_ne(open_npy(b.data, k), LZ_OK);
        lz_buf_free(&b);
    }
}
END_TEST

START_TEST(npy_lengths)
{
    const char *good = npys[0].header;
    ck_assert_int_eq(open_made(2, UINT32_MAX, good, 8), LZ_ECORRUPT);
    ck_assert_int_eq(open_made(1, 65535, good, 8), LZ_ECORRUPT);
    ck_assert_int_eq(open_made(4, strlen(good), good, 8), LZ_EUNSUPPORTED);
    ck_assert_int_eq(open_made(0, strlen(good), good, 8), LZ_EUNSUPPORTED);
    lz_buf b = npy(1, strlen(good), good, 8);
    ck_assert_int_eq(open_npy(b.data, b.len), LZ_OK);
    b.data[5] = 'X';
    ck_assert_int_eq(open_npy(b.data, b.len), LZ_EPARSE);
    lz_buf_free(&b);
}
END_TEST

/* ---- IDX ---- */

START_TEST(idx)
{
    static const struct {
        uint8_t head[20];
        size_t n;
        lz_status status;
    } rows[] = {
        {{0, 0, 8, 1, 0, 0, 0, 3, 1, 2, 3}, 11, LZ_OK},
        {{0, 0, 8, 0, 9}, 5, LZ_OK},
        {{0, 0, 8, 1, 0, 0, 0, 3, 1, 2, 3}, 10, LZ_ECORRUPT},
        {{0, 0, 8, 1, 0, 0, 0, 3, 1, 2, 3}, 12, LZ_ECORRUPT},
        {{0, 0, 8, 1, 0, 0, 0}, 7, LZ_ECORRUPT},
        {{0, 0, 8, 255}, 4, LZ_ESHAPE},
        {{0, 0, 8, LZ_MAX_RANK + 1}, 20, LZ_ESHAPE},
        {{0, 0, 7, 1, 0, 0, 0, 3, 1, 2, 3}, 11, LZ_EDTYPE},
        {{0, 1, 8, 1, 0, 0, 0, 3, 1, 2, 3}, 11, LZ_EPARSE},
        {{0, 0, 8, 1, 255, 255, 255, 255}, 8, LZ_ECORRUPT},
        {{0, 0, 8, 2, 255, 255, 255, 255, 255, 255, 255, 255}, 12, LZ_ERANGE},
        {{0, 0, 14, 2, 255, 255, 255, 255, 255, 255, 255, 255}, 12, LZ_ERANGE},
        {{0, 0, 8}, 3, LZ_EPARSE},
        {{0}, 0, LZ_EPARSE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lz_array a = {0};
        lz_status s = lz_idx_parse(&(lz_view){rows[i].head, rows[i].n, NULL}, "f", &a);
        ck_assert_msg(s == rows[i].status, "row %zu: %s", i, lz_last_error_text());
        lz_array_free(&a);
    }
}
END_TEST

/* ---- zip ---- */

static lz_status open_zip(const uint8_t *p, size_t n)
{
    lz_archive *a = lz_archive_new("f.npz", true);
    ck_assert_ptr_nonnull(a);
    lz_status s = lz_zip_parse(a, (lz_view){p, n, NULL});
    for (size_t i = 0; i < lz_archive_len(a) && s == LZ_OK; i++) {
        lz_array x;
        lz_shape shape;
        s = lz_archive_info(a, lz_archive_name(a, i), NULL, &shape);
        if (s == LZ_OK)
            s = lz_archive_read(a, lz_archive_name(a, i), &x);
        if (s == LZ_OK)
            lz_array_free(&x);
    }
    lz_archive_close(a);
    return s;
}

/* A zip file of two arrays with every byte changed, cut everywhere: an error, or the same arrays (a
 * date was hit). */
START_TEST(npz_damaged)
{
    const float x[4] = {1, 2, 3, 4};
    const char *const names[] = {"a", "bc"};
    const lz_array arrays[] = {{LZ_F32, LZ_SHAPE(4), 16, (void *)x, NULL},
                               {LZ_F32, LZ_SHAPE(2, 2), 16, (void *)x, NULL}};
    ck_assert_int_eq(lz_npz_write(file("damaged.npz"), names, arrays, 2, _i), LZ_OK);
    lz_array whole;
    ck_assert_int_eq(lz_bytes_read(path, &whole), LZ_OK);
    uint8_t *b = lz_alloc(whole.nbytes);
    memcpy(b, whole.data, whole.nbytes);
    ck_assert_int_eq(open_zip(b, whole.nbytes), LZ_OK);
    int refused = 0;
    for (size_t i = 0; i < whole.nbytes; i++) {
        static const uint8_t change[] = {1, 0x80, 0xff};
        for (int k = 0; k < 3; k++) {
            b[i] ^= change[k];
            refused += open_zip(b, whole.nbytes) != LZ_OK;
            b[i] ^= change[k];
        }
        ck_assert_int_ne(open_zip(b, i), LZ_OK);
    }
    ck_assert_int_gt(refused, (int)whole.nbytes); /* most are noticed */
    lz_free(b);
    lz_array_free(&whole);
}
END_TEST

/* ---- csv whose file is written to while it is read ---- */

/* Two pages of text. The first pass faults on the second page, which was hidden, and hides the
 * first one; the second pass faults on that, when `then` is written over the second page. */
static char *text;
static size_t page;
static int faults;
static const char *then;

static void put_page(size_t k, const char *line)
{
    for (size_t i = 0, n = strlen(line); i < page; i++)
        text[k * page + i] = line[i % n];
}

static void on_fault(int signal_number)
{
    (void)signal_number;
    int first = faults++ == 0;
    if (mprotect(text, page, first ? PROT_NONE : PROT_READ | PROT_WRITE) ||
        mprotect(text + page, page, PROT_READ | PROT_WRITE) || faults > 2)
        _exit(99);
    if (!first)
        put_page(1, then);
}

/* What the second page has in the first pass and in the second; 16 bytes of text each. */
static const struct {
    const char *was, *is;
    lz_status status;
} changes[] = {
    {"1,2,3,4,5,6,7,8\n", "8,7,6,5,4,3,2,1\n", LZ_OK}, /* as if it had been so from the start */
    {"1,2,3,4,5,6,7,8\n", "1,2,3,4,5,6,7,,\n", LZ_EPARSE},
    {"1,2,3,4,5,6,7,8\n", "#,2,3,4,5,6,7,8\n", LZ_ECORRUPT},
    {"#,2,3,4,5,6,7,8\n", "1,2,3,4,5,6,7,8\n", LZ_ECORRUPT},
    {"1,2,3,4,5,6,7\n\n\n", "1,2,3,4,5,6,7,8\n", LZ_ECORRUPT},
    {"1,2,3,4\n1,2,3,4\n", "1,2,3,4,5,6,7,8\n", LZ_ECORRUPT},
};

START_TEST(csv_that_changes)
{
    lz_array a = {0};
    page = (size_t)sysconf(_SC_PAGESIZE);
    text = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(text, MAP_FAILED);
    put_page(0, "1,2,3,4,5,6,7,8\n");
    put_page(1, changes[_i].was);
    then = changes[_i].is;
    ck_assert_int_eq(mprotect(text + page, page, PROT_NONE), 0);
    ck_assert(signal(SIGSEGV, on_fault) != SIG_ERR);
    lz_status s = lz_csv_parse(text, 2 * page, "t.csv", NULL, &a);
    signal(SIGSEGV, SIG_DFL);
    ck_assert_msg(s == changes[_i].status, "%s: %s", lz_status_name(s), lz_last_error_text());
    ck_assert_int_eq(faults, 2);
    lz_array_free(&a);
    munmap(text, 2 * page);
}
END_TEST

/* At most a gigabyte of addresses. The sanitizers need more for themselves. */
static void limit_memory(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_AS, &limit), 0);
    limit.rlim_cur = 1u << 30;
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
#endif
}

/* Sizes that claim gigabytes are refused before memory is taken. */
START_TEST(claims_cost_nothing)
{
    limit_memory();
    const char *huge = NPY("'<f4'", "False", "(68719476736,)");
    ck_assert_int_eq(open_made(1, strlen(huge), huge, 8), LZ_ECORRUPT);
    huge = NPY("'>f4'", "True", "(68719476736,)");
    ck_assert_int_eq(open_made(1, strlen(huge), huge, 8), LZ_ECORRUPT);
    huge = "{\"a\":" T("F32", "[68719476736]", "[0,274877906944]") "}";
    ck_assert_int_eq(open_tensors(strlen(huge), huge, 8), LZ_ECORRUPT);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("malformed");
    TCase *t = tcase_create("malformed");
    tcase_add_loop_test(t, safetensors_headers, 0, sizeof safetensors / sizeof *safetensors);
    tcase_add_test(t, safetensors_lengths);
    tcase_add_test(t, safetensors_many_and_deep);
    tcase_add_loop_test(t, npy_headers, 0, sizeof npys / sizeof *npys);
    tcase_add_test(t, npy_lengths);
    tcase_add_test(t, idx);
    tcase_add_loop_test(t, csv_that_changes, 0, sizeof changes / sizeof *changes);
    tcase_add_test(t, claims_cost_nothing);
    suite_add_tcase(s, t);
    t = tcase_create("files");
    tcase_add_checked_fixture(t, make_folder, remove_folder);
    tcase_add_loop_test(t, npz_damaged, 0, 2);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
