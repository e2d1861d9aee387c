/* files.h - what the tests of files of arrays share: a folder of the test's own with its files, and
 * the parts of files that no writer of the library makes. */
#ifndef LZ_TEST_FILES_H
#define LZ_TEST_FILES_H
#include "base/vec.h"
#include "suite.h"
#include <stdio.h>
#include <string.h>

static char dir[256], path[400];

/* Fixtures: the folder. */
static inline void make_folder(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(dir, sizeof dir, "%s/files.XXXXXX", tmp ? tmp : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(dir));
}

static inline void remove_folder(void)
{
    char cmd[300];
    snprintf(cmd, sizeof cmd, "rm -rf '%s'", dir);
    ck_assert_int_eq(system(cmd), 0);
}

/* A file in it, which `path` is from now on. */
static inline const char *file(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static inline void write_as(const char *mode, const void *p, size_t n)
{
    FILE *f = fopen(path, mode);
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(p, 1, n, f), n);
    ck_assert_int_eq(fclose(f), 0);
}

/* n bytes as a file of that name. */
static inline void write_all(const char *name, const void *p, size_t n)
{
    file(name);
    write_as("wb", p, n);
}

/* n bytes behind those that `path` has. */
static inline void append(const void *p, size_t n)
{
    write_as("ab", p, n);
}

static inline void put16(lz_buf *b, unsigned v)
{
    lz_buf_u8(b, (uint8_t)v);
    lz_buf_u8(b, (uint8_t)(v >> 8));
}

static inline void put_zeros(lz_buf *b, size_t n)
{
    static const uint8_t none[4096];
    for (; n > sizeof none; n -= sizeof none)
        lz_buf_put(b, none, sizeof none);
    lz_buf_put(b, none, n);
}

/* ---- safetensors ---- */

/* What stands before the tensors: the length that is claimed, and a header of n bytes. */
static inline void put_tensors_header(lz_buf *b, uint64_t claim, const char *header, size_t n)
{
    lz_buf_u64(b, claim);
    lz_buf_put(b, header, n);
}

/* ---- .npy ---- */

/* What stands before the elements, of a version of the format: the length that is claimed, and a
 * dict. */
static inline void put_npy_dict(lz_buf *b, int version, uint64_t claim, const char *dict)
{
    lz_buf_put(b, "\x93NUMPY", 6);
    put16(b, (unsigned)version);
    if (version == 1)
        put16(b, (unsigned)claim);
    else
        lz_buf_u32(b, (uint32_t)claim);
    lz_buf_puts(b, dict);
}

/* That of an array of rows and columns. */
static inline void npy_head(lz_buf *b, const char *descr, bool fortran, size_t rows, size_t columns)
{
    char dict[200];
    snprintf(dict, sizeof dict, "{'descr': '%s', 'fortran_order': %s, 'shape': (%zu, %zu), }\n",
             descr, fortran ? "True" : "False", rows, columns);
    put_npy_dict(b, 1, strlen(dict), dict);
}

/* ---- zip, which .npz is ---- */

/* What stands before an entry's bytes, or, when `at` is not negative, its row in the directory. */
static inline void put_zip_entry(lz_buf *b, const char *name, bool deflated, size_t packed,
                                 size_t full, uint32_t crc, int64_t at)
{
    lz_buf_u32(b, at < 0 ? 0x04034b50 : 0x02014b50);
    if (at >= 0)
        put16(b, 20);
    put16(b, 20);
    put16(b, 0);
    put16(b, deflated ? 8 : 0);
    put16(b, 0);
    put16(b, 33);
    lz_buf_u32(b, crc);
    lz_buf_u32(b, (uint32_t)packed);
    lz_buf_u32(b, (uint32_t)full);
    put16(b, (unsigned)strlen(name));
    put16(b, 0);
    if (at >= 0) {
        put16(b, 0);
        put16(b, 0);
        put16(b, 0);
        lz_buf_u32(b, 0);
        lz_buf_u32(b, (uint32_t)at);
    }
    lz_buf_puts(b, name);
}

/* The end of a directory that begins at `at`. */
static inline void put_zip_end(lz_buf *b, size_t at, uint64_t count)
{
    size_t end = b->len;
    if (count >= 65535) { /* 64 bits */
        lz_buf_u32(b, 0x06064b50);
        lz_buf_u64(b, 44);
        put16(b, 45);
        put16(b, 45);
        lz_buf_u64(b, 0);
        lz_buf_u64(b, count);
        lz_buf_u64(b, count);
        lz_buf_u64(b, end - at);
        lz_buf_u64(b, at);
        lz_buf_u32(b, 0x07064b50);
        lz_buf_u32(b, 0);
        lz_buf_u64(b, end);
        lz_buf_u32(b, 1);
    }
    lz_buf_u32(b, 0x06054b50);
    lz_buf_u32(b, 0);
    put16(b, count < 65535 ? (unsigned)count : 65535);
    put16(b, count < 65535 ? (unsigned)count : 65535);
    lz_buf_u32(b, (uint32_t)(end - at));
    lz_buf_u32(b, (uint32_t)at);
    put16(b, 0);
}
#endif
