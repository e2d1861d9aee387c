/* t_memory.c - reading a file takes at most twice what it truly contains and 16 MiB: with headers
 * of very many arrays, and with files that claim more than they have or have more than they say.
 * The memory is the peak of a process that does nothing else. */
#include "cache/entry.h"
#include "data/data_internal.h"
#include "files.h"
#include "support/child.h"
#include <inttypes.h>
#include <lazuli/lazuli.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

enum { SLACK = 16 << 20, MANY = 100000 };
static const size_t big = (size_t)32 << 20;

static size_t peak(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (size_t)u.ru_maxrss << 10;
}

typedef struct measured {
    lz_status (*open)(void);
    lz_status status;
    size_t grown;
} measured;

static void in_child(void *arg, void *out)
{
    measured *m = out;
    size_t before = peak();
    (void)arg;
    m->status = m->open();
    m->grown = peak() - before;
}

/* Runs `open` in a process of its own: its status, and what its memory grew by. */
static size_t measure(lz_status (*open)(void), lz_status *status)
{
    measured m = {.open = open};
    malloc_trim(0); /* what is free here would be resident there, and hide what it is used for */
    lz_in_child(in_child, NULL, &m, sizeof m);
    *status = m.status;
    return m.grown;
}

/* contents: the file, or what it is decompressed, whichever is more. */
static void check(const char *what, lz_status (*open)(void), lz_status want, size_t contents)
{
    lz_status got;
    size_t grown = measure(open, &got);
    printf("%-28s %9zu KiB of contents, %9zu KiB of memory: %s\n", what, contents >> 10,
           grown >> 10, lz_status_name(got));
    ck_assert_msg(got == want, "%s: %s", what, lz_status_name(got));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    ck_assert_msg(grown <= 2 * contents + SLACK, "%s: %zu bytes for %zu", what, grown, contents);
#endif
    unlink(path);
}

/* The contents of a compressed file: itself, or what there is of an array of `claim` bytes. */
static size_t contents_of(size_t nfile, size_t has, size_t claim)
{
    return nfile > has ? nfile : has < claim ? has : claim;
}

/* ---- safetensors ---- */

/* Reads a hundred of its arrays, and closes it. */
static lz_status read_some(lz_archive *a)
{
    lz_status s = a ? LZ_OK : lz_last_error(NULL);
    size_t n = lz_archive_len(a);
    for (size_t i = 0; i < n && s == LZ_OK; i += n / 100 + 1) {
        lz_array x;
        s = lz_archive_read(a, lz_archive_name(a, i), &x);
        lz_array_free(&x);
    }
    lz_archive_close(a);
    return s;
}

static lz_status open_tensors(void)
{
    return read_some(lz_safetensors_open(path));
}

/* m.safetensors with this header and so many bytes of tensors: its size. */
static size_t write_tensors(const lz_buf *header, size_t data)
{
    lz_buf b = {0};
    ck_assert(!header->failed);
    put_tensors_header(&b, header->len, header->data, header->len);
    put_zeros(&b, data);
    ck_assert(!b.failed);
    write_all("m.safetensors", b.data, b.len);
    size_t n = b.len;
    lz_buf_free(&b);
    return n;
}

/* way: 0 as a model's, 1 as short as can be, 2 the same from the last to the first. */
static size_t put_tensors(int way, int n)
{
    lz_buf b = {0};
    lz_buf_putc(&b, '{');
    for (int i = 0; i < n; i++) {
        int at = way == 2 ? n - 1 - i : i;
        lz_buf_puts(&b, i ? "," : "");
        if (way)
            lz_buf_printf(&b, "\"%x\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[%d,%d]}", i,
                          at, at + 1);
        else
            lz_buf_printf(&b,
                          "\"model.layers.%d.self_attn.k_proj.weight\":{\"dtype\":\"U8\",\"shape\":"
                          "[1,1],\"data_offsets\":[%d,%d]}",
                          i, at, at + 1);
    }
    lz_buf_putc(&b, '}');
    size_t size = write_tensors(&b, (size_t)n);
    lz_buf_free(&b);
    return size;
}

START_TEST(headers_of_very_many_tensors)
{
    size_t n = put_tensors(0, MANY);
    check("tensors of a model", open_tensors, LZ_OK, n);
    n = put_tensors(1, 4 * MANY);
    check("short descriptions", open_tensors, LZ_OK, n);
    n = put_tensors(2, 4 * MANY);
    check("from the last to the first", open_tensors, LZ_OK, n);
}
END_TEST

static void repeated(const char *what, const char *before, const char *piece, int times,
                     const char *after, lz_status want)
{
    lz_buf b = {0};
    lz_buf_puts(&b, before);
    for (int i = 0; i < times; i++)
        lz_buf_printf(&b, piece, i); /* which has one %x, or none */
    lz_buf_puts(&b, after);
    size_t n = write_tensors(&b, 0);
    lz_buf_free(&b);
    check(what, open_tensors, want, n);
}

START_TEST(hostile_headers)
{
    repeated("a list of objects", "{\"a\":[", "{},", 2000000, "{}]}", LZ_EPARSE);
    repeated("brackets", "{\"a\":", "[", 8000000, "", LZ_EPARSE);
    repeated("a shape without end", "{\"a\":{\"dtype\":\"U8\",\"shape\":[", "1,", 4000000,
             "1],\"data_offsets\":[0,1]}}", LZ_ECORRUPT);
    repeated("metadata", "{\"__metadata__\":{", "\"%x\":\"\",", 900000, "\"\":\"\"}}", LZ_OK);
    repeated("too many metadata", "{\"__metadata__\":{", "\"%x\":\"\",", 1200000, "\"\":\"\"}}",
             LZ_ERANGE);
    repeated("one long name", "{\"", "abcdefgh", 2000000,
             "\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}", LZ_OK);
    repeated("names of nothing", "{",
             "\"%x\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},", 200000,
             "\"\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}", LZ_OK);
    repeated("escaped names", "{\"", "\\u0041", 3000000,
             "\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}", LZ_OK);
}
END_TEST

static lz_status open_index(void)
{
    lz_archive *a = lz_safetensors_open(file("m.safetensors.index.json"));
    lz_status s = a ? LZ_OK : lz_last_error(NULL);
    if (s == LZ_OK && lz_archive_len(a) != MANY)
        s = LZ_ECORRUPT;
    lz_archive_close(a);
    return s;
}

START_TEST(indexes)
{
    lz_buf b = {0};
    size_t n = put_tensors(0, MANY);
    lz_buf_puts(&b, "{\"metadata\":{\"x\":[");
    for (int i = 0; i < 1000000; i++)
        lz_buf_puts(&b, "{},");
    lz_buf_puts(&b, "{}]},\"weight_map\":{");
    for (int i = 0; i < MANY; i++)
        lz_buf_printf(&b, "%s\"model.layers.%d.self_attn.k_proj.weight\":\"m.safetensors\"",
                      i ? "," : "", i);
    lz_buf_puts(&b, "}}");
    write_all("m.safetensors.index.json", b.data, b.len);
    check("an index", open_index, LZ_OK, b.len + n);
    unlink(file("m.safetensors"));
    lz_buf_free(&b);
}
END_TEST

/* ---- .npz ---- */

static lz_status open_npz(void)
{
    return read_some(lz_npz_open(path));
}

/* head and n bytes, compressed: zeros, or, if not `whole`, what cannot be, without the end of the
 * deflate data. */
static uint32_t compress_bytes(lz_buf *b, const lz_buf *head, size_t n, bool gzip, bool whole)
{
    static uint8_t none[1 << 20];
    for (size_t i = 0; i < sizeof none; i++)
        none[i] = whole ? 0 : (uint8_t)(((uint32_t)i + 1) * 2654435761u >> 24 ^ (i * i) >> 3);
    static uint8_t out[1 << 20];
    z_stream z = {0};
    uint32_t crc = (uint32_t)crc32(crc32(0, NULL, 0), (const Bytef *)head->data, (uInt)head->len);
    ck_assert_int_eq(deflateInit2(&z, whole ? 6 : 1, Z_DEFLATED, gzip ? MAX_WBITS + 16 : -MAX_WBITS,
                                  9, Z_DEFAULT_STRATEGY),
                     Z_OK);
    z.next_in = (Bytef *)head->data;
    z.avail_in = (uInt)head->len;
    int r = Z_OK;
    for (size_t left = n; r == Z_OK;) {
        if (!z.avail_in && left) {
            z.next_in = (Bytef *)none;
            z.avail_in = (uInt)(left < sizeof none ? left : sizeof none);
            crc = (uint32_t)crc32(crc, none, z.avail_in);
            left -= z.avail_in;
        }
        z.next_out = out;
        z.avail_out = sizeof out;
        bool last = !left && !z.avail_in;
        r = deflate(&z, last ? whole ? Z_FINISH : Z_SYNC_FLUSH : Z_NO_FLUSH);
        lz_buf_put(b, out, sizeof out - z.avail_out);
        if (last && !whole)
            break;
    }
    deflateEnd(&z);
    return crc;
}

/* An .npz of one deflated array; claim: what the directory and the header say, has: what there
 * is. */
static void deflated(const char *what, const char *descr, bool fortran, size_t claim, size_t said,
                     size_t has, bool whole, lz_status want)
{
    lz_buf head = {0}, data = {0}, b = {0};
    size_t w = (size_t)(descr[2] - '0');
    npy_head(&head, descr, fortran, claim / w / 4096, 4096);
    uint32_t crc = compress_bytes(&data, &head, has, false, whole);
    size_t full = head.len + said;
    put_zip_entry(&b, "a.npy", true, data.len, full, crc, -1);
    lz_buf_put(&b, data.data, data.len);
    size_t at = b.len;
    put_zip_entry(&b, "a.npy", true, data.len, full, crc, 0);
    put_zip_end(&b, at, 1);
    write_all("m.npz", b.data, b.len);
    check(what, open_npz, want, contents_of(b.len, has, claim));
    lz_buf_free(&head);
    lz_buf_free(&data);
    lz_buf_free(&b);
}

START_TEST(npz_of_compressed_arrays)
{
    const size_t huge = (size_t)1 << 30;
    deflated("npz, rows", "<f4", false, big, big, big, true, LZ_OK);
    deflated("npz, columns", "<f4", true, big, big, big, true, LZ_OK);
    deflated("npz, other byte order", ">f8", false, big, big, big, true, LZ_OK);
    deflated("npz, bytes", "|u1", false, big, big, big, true, LZ_OK);
    deflated("npz with more than it says", "<f4", false, 16384, 16384, 4 * big, true, LZ_ECORRUPT);
    deflated("npz, data behind an array", "<f4", false, 16384, 4 * big, 4 * big, true, LZ_OK);
    deflated("npz, data behind columns", "<f4", true, 16384, 4 * big, 4 * big, true, LZ_OK);
    deflated("npz with less than it says", "<f4", false, huge, huge, SLACK, false, LZ_ECORRUPT);
    deflated("npz, columns, with less", "<f4", true, huge, huge, SLACK, false, LZ_ECORRUPT);
}
END_TEST

START_TEST(npz_of_very_many_arrays)
{
    lz_buf head = {0}, b = {0};
    npy_head(&head, "|u1", false, 1, 1);
    lz_buf_putc(&head, 1);
    uint32_t crc = (uint32_t)crc32(crc32(0, NULL, 0), (const Bytef *)head.data, (uInt)head.len);
    for (int same = 0; same < 2; same++) { /* each its own, and all the same bytes */
        LZ_VEC(uint32_t) places = {0};
        b.len = 0;
        for (int i = 0; i < MANY; i++) {
            char name[32];
            snprintf(name, sizeof name, "%x.npy", i);
            ck_assert_int_eq(lz_vec_push(&places, same && i ? 0 : (uint32_t)b.len), LZ_OK);
            if (same && i)
                continue;
            put_zip_entry(&b, name, false, head.len, head.len, crc, -1);
            lz_buf_put(&b, head.data, head.len);
        }
        size_t at = b.len;
        for (int i = 0; i < MANY; i++) {
            char name[32];
            snprintf(name, sizeof name, "%x.npy", i);
            put_zip_entry(&b, name, false, head.len, head.len, crc, places.data[i]);
        }
        put_zip_end(&b, at, MANY);
        ck_assert(!b.failed);
        write_all("m.npz", b.data, b.len);
        check(same ? "npz, names of one array" : "npz of many arrays", open_npz, LZ_OK, b.len);
        lz_vec_free(&places);
    }
    lz_buf_free(&head);
    lz_buf_free(&b);
}
END_TEST

/* ---- other formats ---- */

static lz_status open_npy(void)
{
    lz_array a;
    lz_status s = lz_npy_read(path, &a);
    for (size_t i = 0; s == LZ_OK && i < a.nbytes; i += 4096)
        s = ((const uint8_t *)a.data)[i] ? LZ_ECORRUPT : LZ_OK;
    lz_array_free(&a);
    return s;
}

START_TEST(npy)
{
    static const struct {
        const char *what, *descr;
        bool fortran;
    } rows[] = {
        {".npy", "<f4", false}, {".npy, columns", "<f4", true}, {".npy, swapped", ">f4", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lz_buf b = {0};
        npy_head(&b, rows[i].descr, rows[i].fortran, big / 4 / 4096, 4096);
        write_all("m.npy", b.data, b.len);
        ck_assert_int_eq(truncate(path, (off_t)(b.len + big)), 0);
        check(rows[i].what, open_npy, LZ_OK, b.len + big);
        lz_buf_free(&b);
    }
}
END_TEST

static lz_status open_idx(void)
{
    lz_array a;
    lz_status s = lz_idx_read(path, &a);
    lz_array_free(&a);
    return s;
}

static void idx(const char *what, uint8_t type, size_t claim, size_t has, bool whole,
                lz_status want)
{
    lz_buf head = {0}, b = {0};
    size_t w = type == 0xd ? 4 : 1;
    const uint32_t rows = (uint32_t)(claim / w / 4096), columns = 4096;
    const uint8_t h[] = {0,
                         0,
                         type,
                         2,
                         (uint8_t)(rows >> 24),
                         (uint8_t)(rows >> 16),
                         (uint8_t)(rows >> 8),
                         (uint8_t)rows,
                         0,
                         0,
                         (uint8_t)(columns >> 8),
                         (uint8_t)columns};
    lz_buf_put(&head, h, sizeof h);
    compress_bytes(&b, &head, has, true, whole);
    write_all("m.idx.gz", b.data, b.len);
    check(what, open_idx, want, contents_of(b.len, has, claim));
    lz_buf_free(&head);
    lz_buf_free(&b);
}

START_TEST(idx_compressed)
{
    idx("idx.gz", 8, big, big, true, LZ_OK);
    idx("idx.gz of floats", 0xd, big, big, true, LZ_OK);
    idx("idx.gz with more", 8, 16384, 4 * big, true, LZ_ECORRUPT);
    idx("idx.gz with less", 0xd, (size_t)1 << 30, SLACK, true, LZ_ECORRUPT);
    idx("idx.gz cut short", 8, (size_t)1 << 30, SLACK, false, LZ_ECORRUPT);
}
END_TEST

static lz_status open_csv(void)
{
    lz_array a;
    lz_status s = lz_csv_read(path, &a, .dtype = LZ_F64);
    lz_array_free(&a);
    return s;
}

/* array: the bytes of the array that it makes. */
static void csv(const char *what, const char *piece, int times, const char *after, size_t array,
                lz_status want)
{
    lz_buf b = {0};
    for (int i = 0; i < times; i++)
        lz_buf_puts(&b, piece);
    lz_buf_puts(&b, after);
    write_all("m.csv", b.data, b.len);
    check(what, open_csv, want, b.len > array ? b.len : array);
    lz_buf_free(&b);
}

START_TEST(csv_text)
{
    enum { N = 1000000 };
    csv("csv of short numbers", "1,2\n", N, "", (size_t)16 * N, LZ_OK);
    csv("csv of one line", "0.125,", N, "7\n", (size_t)8 * N, LZ_OK);
    csv("csv that ends badly", "1\n", N, "x\n", (size_t)8 * N, LZ_EPARSE);
    csv("csv of one number", "0", 4 * N, "", 0, LZ_EPARSE);
    csv("csv of a comment", "#no", N, "\n1\n", 0, LZ_OK);
    csv("csv of blanks", " \n", 4 * N, "", 0, LZ_OK);
}
END_TEST

/* ---- StableHLO text, which the caller has in memory ---- */

static lz_buf text;

static lz_status parse(void)
{
    lz_stablehlo *p = lz_stablehlo_parse(text.data, text.len, "text");
    lz_status s = p ? LZ_OK : lz_last_error(NULL);
    lz_stablehlo_free(p);
    return s;
}

#define MAIN(takes, gives) "func.func @main(" takes ") -> " gives " {\n"

/* piece: has the number and the one before it, %d and %d, or none. */
static void hlo(const char *what, const char *before, const char *piece, int times,
                const char *after, size_t constants, lz_status want)
{
    lz_buf_puts(&text, before);
    for (int i = 1; i <= times; i++)
        lz_buf_printf(&text, piece, i, i - 1);
    lz_buf_puts(&text, after);
    ck_assert(!text.failed);
    check(what, parse, want, text.len > constants ? text.len : constants);
    lz_buf_free(&text);
}

START_TEST(stablehlo_text)
{
    enum { N = 2000000 };
    char last[200];
    snprintf(last, sizeof last, "  return %%%d : tensor<f32>\n}\n", MANY);
    hlo("operations", MAIN("%0: tensor<f32>", "tensor<f32>"),
        "  %%%d = stablehlo.add %%%d, %%0 : tensor<f32>\n", MANY, last, 0, LZ_OK);
    hlo("constants", MAIN("", "tensor<f32>"),
        "  %%%d = stablehlo.constant dense<%d.0> : tensor<f32>\n", MANY, last, 0, LZ_OK);
    hlo("parameters", "func.func @main(%0: tensor<f32>", ", %%%d: tensor<f32>", MANY,
        ") -> tensor<f32> {\n  return %1 : tensor<f32>\n}\n", 0, LZ_OK);
    snprintf(last, sizeof last, "0]> : tensor<%dxf64>\n  return %%0 : tensor<%dxf64>\n}\n", N + 1,
             N + 1);
    char head[200];
    snprintf(head, sizeof head, MAIN("", "tensor<%dxf64>") "  %%0 = stablehlo.constant dense<[",
             N + 1);
    hlo("a constant of short numbers", head, "1,", N, last, (size_t)8 * N, LZ_OK);
    hlo("a constant that is all one",
        MAIN("", "tensor<f64>") "  %0 = stablehlo.constant dense<2.0>",
        " : tensor<1000000000xf64>\n", 1,
        "  %1 = stablehlo.slice %0 [0:1] : (tensor<1000000000xf64>) -> tensor<1xf64>\n"
        "  %2 = stablehlo.reshape %1 : (tensor<1xf64>) -> tensor<f64>\n"
        "  return %2 : tensor<f64>\n}\n",
        0, LZ_OK);
    hlo("a constant with less", MAIN("", "tensor<1000000000xf64>"),
        "  %%0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<1000000000xf64>\n", 1,
        "  return %0 : tensor<1000000000xf64>\n}\n", 0, LZ_EPARSE);
    hlo("brackets", MAIN("", "tensor<f32>"), "({[<", N, "", 0, LZ_EPARSE);
    hlo("functions", "", "func.func @f%d() {\n return\n}\n", 2 * MANY, "", 0, LZ_EPARSE);
    hlo("a comment", "//", "none", N, "", 0, LZ_EPARSE);
}
END_TEST

/* ---- entries of the cache ---- */

static lz_status open_entry(void)
{
    lz_view v;
    lz_entry e;
    const char *why;
    static lz_codec_pool pool;
    lz_status s = lz_data_map(path, &v);
    if (s != LZ_OK || lz_entry_parse(v.data, v.len, &e, &why) != LZ_ENTRY_OK)
        return LZ_ECORRUPT;
    void *value = lz_alloc(e.sec[LZ_SEC_VALUE].usize);
    s = value ? lz_entry_value(&e, &pool, value) : LZ_EMEM;
    lz_codec_pool_free(&pool);
    lz_free(value);
    lz_holder_release(v.holder);
    return s;
}

START_TEST(cache_entries)
{
    uint8_t *value = lz_calloc(1, big), *bytes;
    size_t n;
    for (size_t i = 0; i < big; i += 64)
        memcpy(value + i, &i, sizeof i);
    lz_entry_content c = {.kind = LZ_CACHE_PROGRAM,
                          .build = "b",
                          .isa = "i",
                          .key = "k",
                          .nkey = 1,
                          .value = value,
                          .nvalue = big};
    ck_assert_int_eq(lz_entry_encode(&c, &bytes, &n), LZ_OK);
    ck_assert(n < big / 4); /* compressed */
    write_all("entry", bytes, n);
    check("an entry of the cache", open_entry, LZ_OK, big);
    lz_free(bytes);
    lz_free(value);
}
END_TEST

int main(void)
{
    /* A large block that is freed goes back at once, also after one of its size was freed before.
     */
    mallopt(M_MMAP_THRESHOLD, 64 << 10);
    mallopt(M_TRIM_THRESHOLD, 0);
    Suite *s = suite_create("memory");
    TCase *t = tcase_create("memory");
    tcase_add_checked_fixture(t, make_folder, remove_folder);
    tcase_add_test(t, headers_of_very_many_tensors);
    tcase_add_test(t, hostile_headers);
    tcase_add_test(t, indexes);
    tcase_add_test(t, npz_of_compressed_arrays);
    tcase_add_test(t, npz_of_very_many_arrays);
    tcase_add_test(t, npy);
    tcase_add_test(t, idx_compressed);
    tcase_add_test(t, csv_text);
    tcase_add_test(t, stablehlo_text);
    tcase_add_test(t, cache_entries);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
