/* data_internal.h - what the formats share: owned memory, mapped files. Readers take bytes and a
 * `name` for messages; the public functions add the operation and the caller's place. Threads:
 * holders are counted atomically; the rest is thread-compatible. */
#ifndef LZ_DATA_DATA_INTERNAL_H
#define LZ_DATA_DATA_INTERNAL_H
#include "base/alloc.h"
#include "base/outfile.h"
#include "base/status.h"
#include "base/vec.h"
#include <lazuli/data.h>
#include <stdatomic.h>

/* The owner of an array's memory: a heap block or a mapped file. */
typedef struct lz_holder {
    _Atomic int refs;
    void *map; /* not NULL: unmapped at the end */
    size_t map_len;
} lz_holder;
lz_holder *lz_holder_retain(lz_holder *h);
void lz_holder_release(lz_holder *h); /* NULL is fine */

/* Bytes and their owner. */
typedef struct lz_view {
    const uint8_t *data;
    size_t len;
    lz_holder *holder; /* NULL: the caller's memory, arrays of it are copies */
} lz_view;
/* A whole regular file. out->holder is the caller's to release. */
lz_status lz_data_map(const char *path, lz_view *out);

/* Checks shape and bytes; LZ_ESHAPE, LZ_ERANGE, LZ_EDTYPE. */
lz_status lz_data_size(lz_dtype d, const lz_shape *s, const char *name, size_t *nbytes);
/* A fresh array of uninitialised memory, 64-byte aligned. */
lz_status lz_data_new(lz_dtype d, const lz_shape *s, const char *name, lz_array *out);
/* The array at `at` in v: a view when there is a holder and the memory is aligned for the dtype,
 * else a copy. */
lz_status lz_data_view(const lz_view *v, size_t at, lz_dtype d, const lz_shape *s, const char *name,
                       lz_array *out);
/* Whether a writer can write it: non-NULL data, a dtype, nbytes matching its shape. */
lz_status lz_data_check(const lz_array *a, const char *name);
/* not NULL, distinct */
lz_status lz_data_check_names(const char *path, const char *const *names, size_t n);
/* The same for the arguments of a writer of named arrays, whose names must be distinct. */
lz_status lz_data_check_all(const char *path, const char *const *names, const lz_array *arrays,
                            size_t n);

/* Decoders of untrusted bytes. */
lz_status lz_npy_parse(const lz_view *v, const char *name, lz_array *out);
/* Only the header; *at is where the elements begin. swapped: of the other byte order; fortran:
 * column-major. */
typedef struct lz_npy_head {
    lz_dtype dtype;
    lz_shape shape;
    size_t at, nbytes;
    bool swapped, fortran;
} lz_npy_head;
lz_status lz_npy_parse_head(const uint8_t *p, size_t n, const char *name, lz_npy_head *h);
/* sets b->failed when memory is exhausted */
void lz_npy_put_head(lz_buf *b, const lz_array *a);
lz_status lz_idx_parse(const lz_view *v, const char *name, lz_array *out);
lz_status lz_cifar_parse(const lz_view *v, const char *name, bool fine, lz_array *images,
                         lz_array *labels);
lz_status lz_csv_parse(const char *text, size_t n, const char *name, const lz_csv_options *o,
                       lz_array *out);

/* ---- archives ---- */
typedef struct lz_archive_entry {
    char *name;
    lz_dtype dtype;
    lz_shape shape;
    uint64_t at, nbytes; /* in its file: where the bytes are, and how many of them */
    uint64_t full_bytes; /* npz: without compression */
    uint32_t crc;
    uint16_t method; /* 0 stored, 8 deflated */
    uint32_t file;   /* which of the archive's views */
} lz_archive_entry;
typedef struct lz_text_pair {
    char *key, *value;
} lz_text_pair;
struct lz_archive {
    bool zip;
    char *path;
    LZ_VEC(lz_view) files;
    LZ_VEC(lz_archive_entry) entries;
    LZ_VEC(lz_text_pair) metadata;
    uint32_t *by_name; /* entries ordered by name */
};
lz_archive *lz_archive_new(const char *path, bool zip); /* NULL: LZ_EMEM is recorded */
/* Orders by name; LZ_ECORRUPT when two are equal. */
lz_status lz_archive_index(lz_archive *a);
const lz_archive_entry *lz_archive_find(const lz_archive *a, const char *name);
/* Adds the entries of a file's bytes to the archive; the view is taken over in every case. */
lz_status lz_zip_parse(lz_archive *a, lz_view v);
lz_status lz_safetensors_parse(lz_archive *a, lz_view v);
lz_status lz_zip_read(const lz_archive *a, const lz_archive_entry *e, lz_array *out);
lz_status lz_zip_info(const lz_archive *a, const lz_archive_entry *e, lz_npy_head *out);

/* The end of a public function. */
static inline lz_status lz_data_done(lz_status s, const char *op, const lz_site *site)
{
    if (s != LZ_OK)
        lz_error_annotate(op, site);
    return s;
}
#endif
