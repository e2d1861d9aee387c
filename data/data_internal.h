/* data_internal.h - what the formats share: owned memory, mapped files. Readers take bytes and a
 * `name` for messages; the public functions add the operation and the caller's place. Threads:
 * holders are counted atomically; the rest is thread-compatible. */
#ifndef LZ_DATA_DATA_INTERNAL_H
#define LZ_DATA_DATA_INTERNAL_H
#include "base/alloc.h"
#include "base/fork.h"
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
/* The same of an open file, which stays the caller's. path: for messages. */
lz_status lz_data_map_fd(int fd, const char *path, lz_view *out);

/* Checks shape and bytes; LZ_ESHAPE, LZ_ERANGE, LZ_EDTYPE. */
lz_status lz_data_size(lz_dtype d, const lz_shape *s, const char *name, size_t *nbytes);
/* A fresh array of uninitialised memory, 64-byte aligned. */
lz_status lz_data_new(lz_dtype d, const lz_shape *s, const char *name, lz_array *out);
/* More memory for an array of lz_data_new, whose first `used` bytes stay. */
lz_status lz_data_grow(lz_array *a, size_t used, size_t nbytes, const char *name);
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
/* How long the header is that begins with these bytes, LZ_NPY_LEAST of them; 0: there is none. At
 * most LZ_NPY_MOST. */
enum { LZ_NPY_LEAST = 12, LZ_NPY_MOST = 12 + 65536 };
size_t lz_npy_head_size(const uint8_t *p);
/* Elements as they come in a file to what they are in memory: of the other byte order, any byte but
 * 0 for true. */
void lz_npy_fix(lz_array *a, const lz_npy_head *h);
/* Column-major elements, given one after the other, to their places. {.to = array} begins. */
typedef struct lz_npy_columns {
    lz_array *to;
    size_t at;
    int64_t index[LZ_MAX_RANK];
} lz_npy_columns;
void lz_npy_put_columns(lz_npy_columns *c, const uint8_t *from, size_t nbytes);
/* sets b->failed when memory is exhausted */
void lz_npy_put_head(lz_buf *b, const lz_array *a);
lz_status lz_idx_parse(const lz_view *v, const char *name, lz_array *out);
lz_status lz_cifar_parse(const lz_view *v, const char *name, bool fine, lz_array *images,
                         lz_array *labels);
lz_status lz_csv_parse(const char *text, size_t n, const char *name, const lz_csv_options *o,
                       lz_array *out);

/* ---- compressed bytes ---- */
/* Deflated data, raw or as gzip, from which as much is taken as is wanted. */
typedef struct lz_inflater {
    struct z_stream_s *z;
    const uint8_t *p, *end; /* what was not given to zlib yet */
    int state;              /* zlib's last word */
    bool gzip;              /* members may follow each other */
} lz_inflater;
lz_status lz_inflate_begin(lz_inflater *f, const void *p, size_t n, bool gzip, const char *name);
/* The next n bytes; fewer where the data end or are damaged. */
size_t lz_inflate_read(lz_inflater *f, void *out, size_t n);
/* The elements of an array of known dtype, shape and size, in fresh memory, which grows with what
 * is really there. *got: how many bytes, nbytes unless the data end before. */
lz_status lz_inflate_array(lz_inflater *f, lz_dtype d, const lz_shape *s, const char *name,
                           lz_array *out, size_t *got);
/* Whether all was read: the data end here, and without damage. */
bool lz_inflate_done(lz_inflater *f);
void lz_inflate_end(lz_inflater *f);

/* ---- archives ---- */
/* What a file's header says about an array. */
typedef struct lz_archive_entry {
    const char *name;
    lz_dtype dtype;
    lz_shape shape;
    uint64_t at, nbytes; /* in its file: where the bytes are, and how many of them */
    uint64_t full_bytes; /* npz: without compression */
    uint32_t crc;
    uint16_t method; /* 0 stored, 8 deflated */
    uint8_t in_byte; /* safetensors: elements of the header's shape in a byte, or 1 */
} lz_archive_entry;
/* What is kept of it: a header with very many arrays must not take much more memory than its text.
 * The rest is read from the header again when the array is asked for. */
typedef struct lz_archive_row {
    uint64_t where;      /* of what the header says about the array, in its file */
    uint64_t at, nbytes; /* safetensors: the order of the arrays */
    uint32_t name;       /* in its file's names */
    uint32_t file;       /* which of the archive's files */
} lz_archive_row;
typedef struct lz_archive_file {
    lz_view view;
    char *names;    /* of all its arrays, a NUL after each */
    char *metadata; /* key, NUL, value, NUL and so on */
    size_t metadata_len;
} lz_archive_file;
struct lz_archive {
    bool zip;
    char *path;
    LZ_VEC(lz_archive_file) files;
    LZ_VEC(lz_archive_row) rows;
    uint32_t *slots; /* row + 1 by the hash of its name; 0: free */
    uint32_t mask;
};
lz_archive *lz_archive_new(const char *path, bool zip); /* NULL: LZ_EMEM is recorded */
/* Makes the table of names. When two are equal: LZ_EPARSE, if one JSON header has both, else
 * LZ_ECORRUPT. */
lz_status lz_archive_index(lz_archive *a);
const char *lz_archive_row_name(const lz_archive *a, const lz_archive_row *r);
const lz_archive_row *lz_archive_find(const lz_archive *a, const char *name); /* NULL: none */
/* Adds the entries of a file's bytes to the archive; the view is taken over in every case. */
lz_status lz_zip_parse(lz_archive *a, lz_view v);
lz_status lz_safetensors_parse(lz_archive *a, lz_view v);
/* What the header says about the array of a row. Checked anew, as the file may have changed. */
lz_status lz_zip_entry(const lz_archive *a, const lz_archive_row *r, lz_archive_entry *out);
lz_status lz_safetensors_entry(const lz_archive *a, const lz_archive_row *r, lz_archive_entry *out);
lz_status lz_zip_read(const lz_archive *a, const lz_archive_row *r, lz_array *out);
lz_status lz_zip_info(const lz_archive *a, const lz_archive_row *r, lz_npy_head *out);
/* The names that safetensors give dtypes; NULL, LZ_DTYPE_NONE: there is none. */
const char *lz_safetensors_word(lz_dtype d);
lz_dtype lz_safetensors_dtype(const char *word);
enum { LZ_SAFETENSORS_MAX_HEADER = 100000000, LZ_SAFETENSORS_MAX_PAIRS = 1 << 20 };

/* The end of a public function. */
static inline lz_status lz_data_done(lz_status s, const char *op, const lz_site *site)
{
    if (s != LZ_OK)
        lz_error_annotate(op, site);
    return s;
}
#endif
