/* zip.c - .npz: a zip file of .npy files (PKWARE's APPNOTE.TXT 6.3, sections 4.3 and 4.5), stored
 * or deflated, with 64-bit sizes where needed. The central directory alone says where entries are;
 * names in it are names of arrays, never of files. Compression by zlib. */
#include "data/data_internal.h"
#include <inttypes.h>
#include <string.h>
#include <zlib.h>

enum {
    END_LEN = 22,
    LOCATOR_LEN = 20,
    END64_LEN = 56,
    CENTRAL_LEN = 46,
    LOCAL_LEN = 30,
    STORED = 0,
    DEFLATED = 8,
    MAX_RATIO = 1032, /* deflate cannot do better, so a larger claim is a lie */
    ALIGN_ID = 0xd935 /* an extra field whose content is padding, as Android's zipalign writes */
};
static const uint32_t END = 0x06054b50, LOCATOR = 0x07064b50, END64 = 0x06064b50,
                      CENTRAL = 0x02014b50, LOCAL = 0x04034b50;

/* ---- the directory ---- */

typedef struct directory {
    uint64_t at, nbytes, count;
    uint64_t prefix; /* bytes before the archive, from whose begin its places count */
} directory;

static lz_status find_directory(const lz_view *v, const char *path, directory *d)
{
    size_t i = v->len;
    if (v->len < END_LEN)
        return LZ_FAIL(LZ_EPARSE, "%s: not a zip file", path);
    /* the end record is last, but for a comment whose length it says */
    for (i -= END_LEN;; i--) {
        if (lz_le32(v->data + i) == END && lz_le16(v->data + i + 20) == v->len - i - END_LEN)
            break;
        if (i == 0 || v->len - i > END_LEN + 65535)
            return LZ_FAIL(LZ_EPARSE, "%s: not a zip file", path);
    }
    const uint8_t *e = v->data + i;
    *d = (directory){lz_le32(e + 16), lz_le32(e + 12), lz_le16(e + 10), 0};
    if (i >= LOCATOR_LEN && lz_le32(e - LOCATOR_LEN) == LOCATOR) {
        uint64_t at = lz_le64(e - LOCATOR_LEN + 8), before = i - LOCATOR_LEN;
        if (before >= END64_LEN && lz_le32(v->data + before - END64_LEN) == END64)
            at = before - END64_LEN; /* there may be a prefix */
        if (at > v->len || v->len - at < END64_LEN || lz_le32(v->data + at) != END64)
            return LZ_FAIL(LZ_ECORRUPT, "%s: the zip file's 64-bit end is not where it should be",
                           path);
        const uint8_t *q = v->data + at;
        *d = (directory){lz_le64(q + 48), lz_le64(q + 40), lz_le64(q + 32), 0};
        i = at;
    }
    if (d->nbytes <= i && d->at < i - d->nbytes && d->count &&
        lz_le32(v->data + i - d->nbytes) == CENTRAL)
        d->prefix = i - d->nbytes - d->at;
    if (d->at > v->len || d->nbytes > v->len - d->at || d->count > d->nbytes / CENTRAL_LEN)
        return LZ_FAIL(LZ_ECORRUPT, "%s: a zip directory of %" PRIu64 " bytes at %" PRIu64, path,
                       d->nbytes, d->at);
    return LZ_OK;
}

/* 64-bit sizes in the extra field, in this order and only where the 32-bit ones are all ones. */
static bool read_extra(const uint8_t *p, size_t n, uint64_t *full, uint64_t *packed, uint64_t *at)
{
    bool need = *full == UINT32_MAX || *packed == UINT32_MAX || *at == UINT32_MAX;
    while (need && n >= 4) {
        size_t len = lz_le16(p + 2);
        if (len > n - 4)
            return false;
        if (lz_le16(p) == 1) {
            uint64_t *want[] = {full, packed, at};
            const uint8_t *q = p + 4;
            for (int i = 0; i < 3; i++) {
                if (*want[i] != UINT32_MAX)
                    continue;
                if (q + 8 > p + 4 + len)
                    return false;
                *want[i] = lz_le64(q);
                q += 8;
            }
            return true;
        }
        p += 4 + len;
        n -= 4 + len;
    }
    return true;
}

/* Where the entry's bytes begin: after its local header, whose name and extra field may differ from
 * the directory's. */
static lz_status place(const lz_view *v, const char *path, const char *name, lz_archive_entry *e)
{
    if (e->at > v->len || v->len - e->at < LOCAL_LEN || lz_le32(v->data + e->at) != LOCAL)
        return LZ_FAIL(LZ_ECORRUPT, "%s: \"%.100s\" is not at %" PRIu64, path, name, e->at);
    const uint8_t *p = v->data + e->at;
    e->at += LOCAL_LEN + (uint64_t)lz_le16(p + 26) + lz_le16(p + 28);
    if (e->at > v->len || e->nbytes > v->len - e->at)
        return LZ_FAIL(LZ_ECORRUPT, "%s: \"%.100s\" has %" PRIu64 " bytes, more than the file",
                       path, name, e->nbytes);
    if (e->method == STORED ? e->full_bytes != e->nbytes
                            : e->nbytes > UINT64_MAX / MAX_RATIO - 64 ||
                                  e->full_bytes > (e->nbytes + 64) * MAX_RATIO)
        return LZ_FAIL(LZ_ECORRUPT, "%s: \"%.100s\": %" PRIu64 " bytes cannot come from %" PRIu64,
                       path, name, e->full_bytes, e->nbytes);
    return LZ_OK;
}

/* An entry of the directory as it stands there. */
typedef struct listed {
    const char *name; /* with ".npy", without a NUL */
    size_t name_len, len;
    bool array; /* else something else that was put into the zip file */
} listed;

/* The entry at `at`, of which `end` is the directory's end. */
static lz_status read_central(const char *path, const lz_view *v, uint64_t at, uint64_t end,
                              listed *c, lz_archive_entry *e)
{
    const uint8_t *p = v->data + at;
    if (at > v->len || end > v->len || end < at || end - at < CENTRAL_LEN || lz_le32(p) != CENTRAL)
        return LZ_FAIL(LZ_ECORRUPT, "%s: the zip directory is damaged at %" PRIu64, path, at);
    size_t extra = lz_le16(p + 30), comment = lz_le16(p + 32);
    *c = (listed){.name = (const char *)p + CENTRAL_LEN, .name_len = lz_le16(p + 28)};
    c->len = CENTRAL_LEN + c->name_len + extra + comment;
    if (end - at < c->len)
        return LZ_FAIL(LZ_ECORRUPT, "%s: the zip directory is damaged at %" PRIu64, path, at);
    c->array = c->name_len >= 4 && memcmp(c->name + c->name_len - 4, ".npy", 4) == 0;
    if (!c->array)
        return LZ_OK;
    size_t n = c->name_len -= 4;
    int shown = (int)(n < 100 ? n : 100);
    *e = (lz_archive_entry){.at = lz_le32(p + 42),
                            .nbytes = lz_le32(p + 20),
                            .full_bytes = lz_le32(p + 24),
                            .crc = lz_le32(p + 16),
                            .method = lz_le16(p + 10)};
    if (memchr(c->name, '\0', n) ||
        !read_extra((const uint8_t *)c->name + n + 4, extra, &e->full_bytes, &e->nbytes, &e->at))
        return LZ_FAIL(LZ_ECORRUPT, "%s: the zip directory is damaged", path);
    if (lz_le16(p + 8) & 1)
        return LZ_FAIL(LZ_EUNSUPPORTED, "%s: \"%.*s\" is encrypted", path, shown, c->name);
    if (e->method != STORED && e->method != DEFLATED)
        return LZ_FAIL(LZ_EUNSUPPORTED, "%s: \"%.*s\" is compressed by method %d", path, shown,
                       c->name, e->method);
    char name[101];
    memcpy(name, c->name, (size_t)shown);
    name[shown] = '\0';
    return place(v, path, name, e);
}

lz_status lz_zip_entry(const lz_archive *a, const lz_archive_row *r, lz_archive_entry *out)
{
    listed c;
    const lz_view *v = &a->files.data[r->file].view;
    LZ_TRY(read_central(a->path, v, r->where, v->len, &c, out));
    if (!c.array)
        return LZ_FAIL(LZ_ECORRUPT, "%s: the zip directory has changed", a->path);
    out->name = lz_archive_row_name(a, r);
    return LZ_OK;
}

/* Over the directory: to count arrays and the bytes of their names, and, when there is memory for
 * them, `room` bytes for names, to keep both. */
static lz_status walk(lz_archive *a, const directory *d, uint64_t room, uint64_t *count,
                      uint64_t *nbytes)
{
    lz_archive_file *f = &a->files.data[a->files.len - 1];
    uint64_t at = d->at;
    listed c = {0};
    lz_archive_entry e;
    *count = *nbytes = 0;
    for (uint64_t i = 0; i < d->count; i++, at += c.len) {
        LZ_TRY(read_central(a->path, &f->view, at, d->at + d->nbytes, &c, &e));
        if (!c.array)
            continue;
        if (f->names && (*nbytes + c.name_len >= room || a->rows.len == a->rows.cap))
            return LZ_FAIL(LZ_ECORRUPT, "%s: changed while it was read", a->path);
        if (f->names) {
            memcpy(f->names + *nbytes, c.name, c.name_len);
            f->names[*nbytes + c.name_len] = '\0';
            a->rows.data[a->rows.len++] =
                (lz_archive_row){.where = at, .name = (uint32_t)*nbytes, .file = a->files.len - 1};
        }
        ++*count;
        *nbytes += c.name_len + 1;
    }
    return LZ_OK;
}

lz_status lz_zip_parse(lz_archive *a, lz_view v)
{
    directory d = {0};
    uint64_t count, nbytes;
    if (lz_vec_push(&a->files, (lz_archive_file){.view = v}) != LZ_OK) {
        lz_holder_release(v.holder);
        return LZ_FAIL(LZ_EMEM, "%s: no memory", a->path);
    }
    LZ_TRY(find_directory(&v, a->path, &d));
    lz_view *own = &a->files.data[a->files.len - 1].view;
    own->data += d.prefix;
    own->len -= d.prefix;
    LZ_TRY(walk(a, &d, 0, &count, &nbytes));
    if (count > UINT32_MAX / 2 || nbytes > UINT32_MAX)
        return LZ_FAIL(LZ_ERANGE, "%s: %" PRIu64 " arrays", a->path, count);
    char *names = lz_alloc(nbytes + 1);
    if (!names || lz_vec_reserve(&a->rows, count) != LZ_OK) {
        lz_free(names);
        return LZ_FAIL(LZ_EMEM, "%s: no memory for %" PRIu64 " arrays", a->path, count);
    }
    a->files.data[a->files.len - 1].names = names;
    uint64_t room = nbytes;
    LZ_TRY(walk(a, &d, room, &count, &nbytes));
    return lz_archive_index(a);
}

/* ---- elements ---- */

/* Of what came before, c, and n bytes more. */
static uint32_t checksum(uint32_t c, const void *p, size_t n)
{
    for (const uint8_t *q = p; n;) {
        uInt k = n < (1u << 30) ? (uInt)n : 1u << 30;
        c = (uint32_t)crc32(c, q, k);
        q += k;
        n -= k;
    }
    return c;
}

static lz_status wrong_length(const lz_archive *a, const lz_archive_entry *e)
{
    return LZ_FAIL(LZ_ECORRUPT, "%s: \"%.100s\" does not decompress to %" PRIu64 " bytes", a->path,
                   e->name, e->full_bytes);
}

static lz_status wrong_checksum(const lz_archive *a, const lz_archive_entry *e)
{
    return LZ_FAIL(LZ_ECORRUPT, "%s: \"%.100s\" has another checksum than the zip file says",
                   a->path, e->name);
}

/* The .npy header of a deflated entry, whose bytes are left in p[0..*n). */
static lz_status inflate_head(const lz_archive *a, const lz_archive_entry *e, lz_inflater *f,
                              uint8_t p[LZ_NPY_MOST], size_t *n, lz_npy_head *h)
{
    size_t least = e->full_bytes < LZ_NPY_LEAST ? (size_t)e->full_bytes : LZ_NPY_LEAST;
    *n = lz_inflate_read(f, p, least);
    size_t len = *n == LZ_NPY_LEAST ? lz_npy_head_size(p) : 0;
    len = len < e->full_bytes ? len : (size_t)e->full_bytes;
    if (*n == least && len > *n) {
        size_t more = len - *n;
        *n += lz_inflate_read(f, p + *n, more);
        least = len;
    }
    if (*n != least)
        return wrong_length(a, e);
    LZ_TRY(lz_npy_parse_head(p, *n, e->name, h));
    if (e->full_bytes - h->at < h->nbytes) /* what follows them is not the array's */
        return LZ_FAIL(LZ_ECORRUPT, "%s: %" PRIu64 " bytes of elements, the header says %zu",
                       e->name, e->full_bytes - h->at, h->nbytes);
    return LZ_OK;
}

lz_status lz_zip_info(const lz_archive *a, const lz_archive_row *r, lz_npy_head *out)
{
    lz_archive_entry e;
    lz_inflater f;
    size_t n;
    LZ_TRY(lz_zip_entry(a, r, &e));
    const uint8_t *from = a->files.data[r->file].view.data + e.at;
    if (e.method == STORED)
        return lz_npy_parse_head(from, e.nbytes, e.name, out);
    uint8_t *p = lz_alloc(LZ_NPY_MOST);
    lz_status s = p ? lz_inflate_begin(&f, from, e.nbytes, false, e.name)
                    : LZ_FAIL(LZ_EMEM, "%s: no memory", a->path);
    if (s == LZ_OK) {
        s = inflate_head(a, &e, &f, p, &n, out);
        lz_inflate_end(&f);
    }
    lz_free(p);
    return s;
}

enum { PIECE = 1 << 17 };

/* All of an entry, piece by piece, of which h is the header; to: where the elements go, if they are
 * wanted. */
static lz_status by_pieces(const lz_archive *a, const lz_archive_entry *e, const uint8_t *from,
                           uint8_t *piece, const lz_npy_head *h, lz_npy_columns *to)
{
    lz_inflater f;
    uint32_t crc = 0;
    uint64_t left = e->full_bytes;
    size_t elements = to ? h->nbytes : 0;
    bool good = true;
    LZ_TRY(lz_inflate_begin(&f, from, e->nbytes, false, e->name));
    for (size_t want = h->at; left && good; want = left < PIECE ? (size_t)left : PIECE) {
        good = lz_inflate_read(&f, piece, want) == want;
        crc = checksum(crc, piece, good ? want : 0);
        if (good && elements && left != e->full_bytes) {
            size_t n = want < elements ? want : elements;
            lz_npy_put_columns(to, piece, n);
            elements -= n;
        }
        left -= want;
    }
    good = good && lz_inflate_done(&f);
    lz_inflate_end(&f);
    return !good ? wrong_length(a, e) : crc != e->crc ? wrong_checksum(a, e) : LZ_OK;
}

/* Column-major elements go to places all over the array: a file that claims many but has few would
 * take much memory. So they are decompressed twice, first to see that they are there. */
static lz_status inflate_columns(const lz_archive *a, const lz_archive_entry *e,
                                 const uint8_t *from, const lz_npy_head *h, lz_array *out)
{
    uint8_t *piece = lz_alloc(PIECE);
    lz_npy_columns to = {.to = out};
    lz_status s =
        piece ? by_pieces(a, e, from, piece, h, NULL) : LZ_FAIL(LZ_EMEM, "%s: no memory", a->path);
    if (s == LZ_OK)
        s = lz_data_new(h->dtype, &h->shape, e->name, out);
    if (s == LZ_OK)
        s = by_pieces(a, e, from, piece, h, &to);
    lz_free(piece);
    return s;
}

/* What follows the elements is only read for its checksum. */
static bool pass_over(lz_inflater *f, uint64_t n, uint32_t *crc)
{
    uint8_t piece[4096];
    while (n) {
        size_t want = n < sizeof piece ? (size_t)n : sizeof piece;
        if (lz_inflate_read(f, piece, want) != want)
            return false;
        *crc = checksum(*crc, piece, want);
        n -= want;
    }
    return lz_inflate_done(f);
}

/* No more memory is taken than the .npy header says, no more decompressed than the directory. */
static lz_status inflate_entry(const lz_archive *a, const lz_archive_entry *e, const uint8_t *from,
                               lz_inflater *f, lz_array *out)
{
    uint8_t *p = lz_alloc(LZ_NPY_MOST);
    lz_npy_head h;
    size_t n = 0, got;
    lz_status s = p ? inflate_head(a, e, f, p, &n, &h) : LZ_FAIL(LZ_EMEM, "%s: no memory", a->path);
    uint32_t crc = s == LZ_OK ? checksum(0, p, n) : 0;
    lz_free(p);
    LZ_TRY(s);
    if (h.fortran)
        s = inflate_columns(a, e, from, &h, out);
    else
        s = lz_inflate_array(f, h.dtype, &h.shape, e->name, out, &got);
    if (s == LZ_OK && !h.fortran) {
        crc = got == h.nbytes ? checksum(crc, out->data, got) : 0;
        if (got != h.nbytes || !pass_over(f, e->full_bytes - h.at - got, &crc))
            s = wrong_length(a, e);
        else if (crc != e->crc)
            s = wrong_checksum(a, e);
    }
    if (s == LZ_OK)
        lz_npy_fix(out, &h);
    else
        lz_array_free(out);
    return s;
}

lz_status lz_zip_read(const lz_archive *a, const lz_archive_row *r, lz_array *out)
{
    const lz_view *v = &a->files.data[r->file].view;
    lz_archive_entry e;
    lz_inflater f;
    LZ_TRY(lz_zip_entry(a, r, &e));
    const lz_view whole = {v->data + e.at, e.nbytes, v->holder};
    if (e.method == STORED)
        return checksum(0, whole.data, whole.len) == e.crc ? lz_npy_parse(&whole, e.name, out)
                                                           : wrong_checksum(a, &e);
    LZ_TRY(lz_inflate_begin(&f, whole.data, whole.len, false, e.name));
    lz_status s = inflate_entry(a, &e, whole.data, &f, out);
    lz_inflate_end(&f);
    return s;
}

lz_archive *lz_npz_open_at(const char *path, const lz_site *site)
{
    LZ_PUBLIC_AT(NULL);
    lz_view v = {0};
    lz_status s = path ? lz_data_map(path, &v) : LZ_FAIL(LZ_ENULL, "the path is NULL");
    lz_archive *a = s == LZ_OK ? lz_archive_new(path, true) : NULL;
    if (a)
        s = lz_zip_parse(a, v);
    else
        lz_holder_release(v.holder);
    if (a && s == LZ_OK)
        return a;
    lz_error_annotate("lz_npz_open", site);
    lz_archive_close(a);
    return NULL;
}

/* ---- writing ---- */

typedef struct packed {
    uint64_t at, nbytes, full;
    uint32_t crc;
    uint16_t method;
} packed;

static void put16(lz_buf *b, unsigned v)
{
    lz_buf_u8(b, (uint8_t)v);
    lz_buf_u8(b, (uint8_t)(v >> 8));
}

/* What local header and directory entry share: version 4.5, no flags but UTF-8 names, the first of
 * January 1980. */
static void put_common(lz_buf *b, const packed *k, bool wide)
{
    put16(b, 45);
    put16(b, 0x800);
    put16(b, k->method);
    put16(b, 0);
    put16(b, 33);
    lz_buf_u32(b, k->crc);
    lz_buf_u32(b, wide ? UINT32_MAX : (uint32_t)k->nbytes);
    lz_buf_u32(b, wide ? UINT32_MAX : (uint32_t)k->full);
}

/* Local header; elements of a stored array begin at a multiple of 64 bytes. */
static void put_local(lz_outfile *f, const char *name, const packed *k)
{
    lz_buf b = {0};
    bool wide = k->full >= UINT32_MAX || k->nbytes >= UINT32_MAX;
    size_t name_len = strlen(name) + 4;
    uint64_t end = f->written + LOCAL_LEN + name_len + (wide ? 20 : 0) + 4;
    size_t fill = (size_t)(-end & 63);
    lz_buf_u32(&b, LOCAL);
    put_common(&b, k, wide);
    put16(&b, (unsigned)name_len);
    put16(&b, (wide ? 20 : 0) + 4 + (unsigned)fill);
    lz_buf_puts(&b, name);
    lz_buf_puts(&b, ".npy");
    if (wide) {
        put16(&b, 1);
        put16(&b, 16);
        lz_buf_u64(&b, k->full);
        lz_buf_u64(&b, k->nbytes);
    }
    put16(&b, ALIGN_ID);
    put16(&b, (unsigned)fill);
    if (b.failed && f->status == LZ_OK)
        f->status = LZ_FAIL(LZ_EMEM, "%s: no memory", f->path);
    lz_outfile_put(f, b.data, b.len);
    lz_outfile_pad(f, fill);
    lz_buf_free(&b);
}

static void put_central(lz_buf *b, const char *name, const packed *k)
{
    bool wide = k->full >= UINT32_MAX || k->nbytes >= UINT32_MAX || k->at >= UINT32_MAX;
    lz_buf_u32(b, CENTRAL);
    put16(b, 45);
    put_common(b, k, wide);
    put16(b, (unsigned)strlen(name) + 4);
    put16(b, wide ? 28 : 0);
    put16(b, 0);
    put16(b, 0);
    put16(b, 0);
    lz_buf_u32(b, 0);
    lz_buf_u32(b, wide ? UINT32_MAX : (uint32_t)k->at);
    lz_buf_puts(b, name);
    lz_buf_puts(b, ".npy");
    if (wide) {
        put16(b, 1);
        put16(b, 24);
        lz_buf_u64(b, k->full);
        lz_buf_u64(b, k->nbytes);
        lz_buf_u64(b, k->at);
    }
}

static void put_ends(lz_outfile *f, const lz_buf *central, size_t n)
{
    lz_buf b = {0};
    uint64_t at = f->written, end = at + central->len;
    lz_outfile_put(f, central->data, central->len);
    bool wide = n >= 65535 || at >= UINT32_MAX || central->len >= UINT32_MAX;
    if (wide) {
        lz_buf_u32(&b, END64);
        lz_buf_u64(&b, END64_LEN - 12);
        put16(&b, 45);
        put16(&b, 45);
        lz_buf_u64(&b, 0);
        lz_buf_u64(&b, n);
        lz_buf_u64(&b, n);
        lz_buf_u64(&b, central->len);
        lz_buf_u64(&b, at);
        lz_buf_u32(&b, LOCATOR);
        lz_buf_u32(&b, 0);
        lz_buf_u64(&b, end);
        lz_buf_u32(&b, 1);
    }
    lz_buf_u32(&b, END);
    lz_buf_u32(&b, 0);
    put16(&b, wide ? 65535 : (unsigned)n);
    put16(&b, wide ? 65535 : (unsigned)n);
    lz_buf_u32(&b, wide ? UINT32_MAX : (uint32_t)central->len);
    lz_buf_u32(&b, wide ? UINT32_MAX : (uint32_t)at);
    put16(&b, 0);
    if (b.failed && f->status == LZ_OK)
        f->status = LZ_FAIL(LZ_EMEM, "%s: no memory", f->path);
    lz_outfile_put(f, b.data, b.len);
    lz_buf_free(&b);
}

/* head and elements through deflate, to `out`, which has room for the worst case. */
static bool deflate_all(const lz_buf *head, const lz_array *a, uint8_t *out, size_t room,
                        size_t *len)
{
    z_stream z = {0};
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        return false;
    const uint8_t *in[2] = {(const uint8_t *)head->data, a->data};
    size_t left_in[2] = {head->len, a->nbytes}, left_out = room;
    int r = Z_OK, part = 0;
    z.next_out = out;
    z.next_in = (Bytef *)in[0];
    while (r == Z_OK) {
        if (!z.avail_in && part < 1 && !left_in[part])
            z.next_in = (Bytef *)in[++part];
        if (!z.avail_in && left_in[part]) {
            z.avail_in = left_in[part] < (1u << 30) ? (uInt)left_in[part] : 1u << 30;
            left_in[part] -= z.avail_in;
        }
        if (!z.avail_out && left_out) {
            z.avail_out = left_out < (1u << 30) ? (uInt)left_out : 1u << 30;
            left_out -= z.avail_out;
        }
        bool last = part == 1 && !left_in[1];
        r = deflate(&z, last ? Z_FINISH : Z_NO_FLUSH);
        if (r == Z_BUF_ERROR && !last)
            r = Z_OK; /* nothing of the first part was left: go on with the second */
    }
    *len = room - left_out - z.avail_out;
    deflateEnd(&z);
    return r == Z_STREAM_END;
}

static lz_status write_entry(lz_outfile *f, const char *name, const lz_array *a, bool compress,
                             packed *k)
{
    lz_buf head = {0};
    lz_npy_put_head(&head, a);
    if (head.failed) {
        lz_buf_free(&head);
        return LZ_FAIL(LZ_EMEM, "%s: no memory", f->path);
    }
    uint64_t full = head.len + a->nbytes;
    *k = (packed){.at = f->written, .nbytes = full, .full = full, .method = STORED};
    k->crc = (uint32_t)crc32_combine(checksum(0, head.data, head.len),
                                     checksum(0, a->data, a->nbytes), (z_off_t)a->nbytes);
    uint8_t *out = NULL;
    lz_status s = LZ_OK;
    if (compress) {
        size_t len = 0, room = full + full / 1000 + 1024;
        out = lz_alloc(room);
        if (!out || !deflate_all(&head, a, out, room, &len))
            s = LZ_FAIL(LZ_EMEM, "%s: no memory to compress \"%.100s\"", f->path, name);
        k->method = DEFLATED;
        k->nbytes = len;
    }
    if (s == LZ_OK) {
        put_local(f, name, k);
        lz_outfile_put(f, compress ? out : (const void *)head.data,
                       compress ? k->nbytes : head.len);
        if (!compress)
            lz_outfile_put(f, a->data, a->nbytes);
        s = f->status;
    }
    lz_free(out);
    lz_buf_free(&head);
    return s;
}

static lz_status write_all(lz_outfile *f, const char *const *names, const lz_array *arrays,
                           size_t n, bool compress)
{
    lz_buf central = {0};
    lz_status s = LZ_OK;
    for (size_t i = 0; i < n && s == LZ_OK; i++) {
        packed k;
        s = write_entry(f, names[i], &arrays[i], compress, &k);
        if (s == LZ_OK)
            put_central(&central, names[i], &k);
    }
    if (s == LZ_OK && central.failed)
        s = LZ_FAIL(LZ_EMEM, "%s: no memory", f->path);
    if (s == LZ_OK)
        put_ends(f, &central, n);
    lz_buf_free(&central);
    return s;
}

lz_status lz_npz_write_at(const char *path, const char *const *names, const lz_array *arrays,
                          size_t n, bool compress, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_outfile f;
    lz_status s = lz_data_check_all(path, names, arrays, n);
    for (size_t i = 0; i < n && s == LZ_OK; i++)
        if (strlen(names[i]) > 60000)
            s = LZ_FAIL(LZ_ERANGE, "%s: the name of array %zu is too long for a zip file", path, i);
    if (s == LZ_OK)
        s = lz_outfile_begin(&f, path, true);
    if (s == LZ_OK)
        s = lz_outfile_end(&f, write_all(&f, names, arrays, n, compress));
    return lz_data_done(s, "lz_npz_write", site);
}
