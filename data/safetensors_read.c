/* safetensors_read.c - reading safetensors (see safetensors.c) and the JSON index of a checkpoint
 * in several files. The ranges of a file's tensors must cover what follows the header without holes
 * or overlaps. A header is read twice: to check and count, and then to keep names and places, in
 * exactly the memory they need. */
#include "base/hash.h"
#include "base/text.h"
#include "data/data_internal.h"
#include "data/json.h"
#include <inttypes.h>
#include <string.h>

enum {
    MAX_PAIRS = LZ_SAFETENSORS_MAX_PAIRS,
    SHOWN = 104 /* bytes of a name in a message */
};

/* ---- a tensor of the header ---- */

typedef struct place {
    const char *path, *name; /* name: for messages */
    size_t len;              /* bytes of elements in the file */
    bool listed;             /* what no array can hold is no mistake: it is not asked for */
} place;

/* A mistake of the JSON text comes before others. */
static lz_status wrong(const place *w, const lz_json *j, lz_status s, const char *what)
{
    LZ_TRY(lz_json_status(j, w->path));
    return LZ_FAIL(s, "%s: \"%.100s\" %s", w->path, w->name, what);
}

static lz_status read_dtype(const place *w, lz_json *j, lz_archive_entry *e)
{
    char text[24] = "(none)";
    size_t len;
    bool named = lz_json_peek(j) == '"';
    if (named)
        (void)lz_json_short(j, text, sizeof text, &len);
    LZ_TRY(lz_json_status(j, w->path));
    e->dtype = lz_safetensors_dtype(text);
    e->in_byte = strcmp(text, "F4") == 0 ? 2 : 1;
    return e->dtype != LZ_DTYPE_NONE || (w->listed && named)
               ? LZ_OK
               : LZ_FAIL(LZ_EDTYPE, "%s: \"%.100s\" is of the unknown dtype %.20s", w->path,
                         w->name, text);
}

/* An integer of a list; false: something else, or a mistake. */
static bool integer(lz_json *j, int64_t *out)
{
    bool whole = false;
    char c = lz_json_peek(j);
    return (c == '-' || (c >= '0' && c <= '9')) && lz_json_number(j, out, &whole) && whole;
}

static lz_status read_shape(const place *w, lz_json *j, lz_archive_entry *e)
{
    size_t n = 0;
    if (!lz_json_take(j, '['))
        return wrong(w, j, LZ_EPARSE, "has no shape");
    while (lz_json_item(j, ']', &n)) {
        int64_t v;
        if (!integer(j, &v) || v < 0) {
            LZ_TRY(lz_json_status(j, w->path));
            return LZ_FAIL(LZ_EPARSE, "%s: extent %zu of \"%.100s\" is no extent", w->path, n - 1,
                           w->name);
        }
        if (n <= LZ_MAX_RANK)
            e->shape.dims[e->shape.rank++] = v;
    }
    LZ_TRY(lz_json_status(j, w->path));
    if (n > LZ_MAX_RANK && w->listed)
        e->shape.rank = -1;
    else if (n > LZ_MAX_RANK)
        return LZ_FAIL(LZ_ESHAPE, "%s: \"%.100s\" has %zu dimensions: a tensor has at most %d",
                       w->path, w->name, n, LZ_MAX_RANK);
    return LZ_OK;
}

static lz_status read_range(const place *w, lz_json *j, int64_t range[2])
{
    size_t n = 0;
    bool good = lz_json_take(j, '[');
    while (good && lz_json_item(j, ']', &n))
        good = n <= 2 && integer(j, &range[n - 1]);
    return good && n == 2 && !j->why ? LZ_OK : wrong(w, j, LZ_EPARSE, "has no data_offsets");
}

/* The extents in bytes. */
static lz_status pack(const place *w, lz_archive_entry *e, bool *holds)
{
    int64_t *last = e->shape.rank > 0 ? &e->shape.dims[e->shape.rank - 1] : NULL;
    if (e->in_byte == 1)
        return LZ_OK;
    *holds = last && *last % e->in_byte == 0;
    if (*holds)
        *last /= e->in_byte;
    return *holds || w->listed
               ? LZ_OK
               : LZ_FAIL(LZ_ESHAPE,
                         "%s: \"%.100s\" has %d numbers in a byte, and rows that end inside one",
                         w->path, w->name, e->in_byte);
}

static lz_status check_range(const place *w, const int64_t range[2], lz_archive_entry *e)
{
    int64_t a = range[0], b = range[1];
    if (a < 0 || b < a || (uint64_t)b > w->len)
        return LZ_FAIL(LZ_ECORRUPT,
                       "%s: the bytes %" PRId64 "..%" PRId64 " of \"%.100s\" are not within %zu",
                       w->path, a, b, w->name, w->len);
    size_t need = (size_t)(b - a);
    bool holds = e->dtype != LZ_DTYPE_NONE && e->shape.rank >= 0;
    if (holds)
        LZ_TRY(pack(w, e, &holds));
    if (holds)
        LZ_TRY(lz_data_size(e->dtype, &e->shape, w->name, &need));
    if ((uint64_t)(b - a) != need)
        return LZ_FAIL(LZ_ECORRUPT, "%s: \"%.100s\" has %" PRId64 " bytes, its shape says %zu",
                       w->path, w->name, b - a, need);
    e->at = (uint64_t)a;
    e->nbytes = need;
    return LZ_OK;
}

static lz_status read_tensor(const place *w, lz_json *j, lz_archive_entry *e)
{
    static const char *const keys[] = {"dtype", "shape", "data_offsets"};
    static const char what[] = "is not dtype, shape and data_offsets";
    int64_t range[2] = {0};
    unsigned seen = 0;
    size_t n = 0, len;
    *e = (lz_archive_entry){.name = w->name};
    if (!lz_json_take(j, '{'))
        return wrong(w, j, LZ_EPARSE, what);
    while (lz_json_item(j, '}', &n)) {
        char key[16];
        unsigned k = 0;
        if (!lz_json_short(j, key, sizeof key, &len) || !lz_json_want(j, ':'))
            break;
        while (k < 3 && strcmp(key, keys[k]) != 0)
            k++;
        if (k == 3 || seen & 1u << k)
            return wrong(w, j, LZ_EPARSE, what);
        seen |= 1u << k;
        LZ_TRY(k == 0   ? read_dtype(w, j, e)
               : k == 1 ? read_shape(w, j, e)
                        : read_range(w, j, range));
    }
    return seen == 7 && !j->why ? check_range(w, range, e) : wrong(w, j, LZ_EPARSE, what);
}

/* ---- the header ---- */

/* Texts that are kept, of a known number of bytes in all. */
typedef struct texts {
    char *data;
    size_t used, room;
} texts;

typedef struct header {
    lz_archive *a;
    uint32_t file;         /* its number */
    size_t start, len;     /* where the elements begin, how many bytes they are */
    uint64_t count, pairs; /* tensors; pairs of metadata */
    bool fill;             /* the second pass */
    texts names, metadata;
    bool ordered; /* tensors as their bytes */
    bool has_metadata;
    lz_archive_row before; /* the tensor before */
} header;

static int by_range(const lz_archive *a, const lz_archive_row *x, const lz_archive_row *y)
{
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->nbytes != y->nbytes) /* an empty tensor stands before the one that begins there */
        return x->nbytes < y->nbytes ? -1 : 1;
    return strcmp(lz_archive_row_name(a, x), lz_archive_row_name(a, y));
}

/* The string that stands at `at`. The room is enough unless the file was changed in between. */
static lz_status keep(const header *h, const lz_json *j, const char *at, texts *t)
{
    lz_json again = *j;
    size_t len = 0;
    again.p = at;
    if (t->used < t->room && lz_json_short(&again, t->data + t->used, t->room - t->used, &len) &&
        len < t->room - t->used) {
        t->used += len + 1;
        return LZ_OK;
    }
    return LZ_FAIL(LZ_ECORRUPT, "%s: changed while it was read", h->a->path);
}

static lz_status add_tensor(header *h, lz_json *j, const char *key, const char *shown, size_t len)
{
    lz_archive_file *f = &h->a->files.data[h->file];
    const place w = {h->a->path, shown, h->len, true};
    lz_archive_entry e;
    lz_archive_row r = {.where = (uint64_t)(j->p - (const char *)f->view.data),
                        .name = (uint32_t)h->names.used,
                        .file = h->file};
    LZ_TRY(read_tensor(&w, j, &e));
    r.at = e.at;
    r.nbytes = e.nbytes;
    h->count++;
    if (!h->fill) {
        /* of two empty ones at one place the names would tell */
        h->ordered &= r.at > h->before.at ||
                      (r.at == h->before.at && r.nbytes > h->before.nbytes) || h->count == 1;
        h->before = r;
        h->names.used += len + 1;
        return LZ_OK;
    }
    LZ_TRY(keep(h, j, key, &h->names));
    return lz_vec_push(&h->a->rows, r); /* there is room */
}

static lz_status add_metadata(header *h, lz_json *j)
{
    size_t n = 0, len[2];
    char key[SHOWN];
    if (h->has_metadata)
        return LZ_FAIL(LZ_EPARSE, "%s: the JSON text has duplicate keys __metadata__", h->a->path);
    h->has_metadata = true;
    if (!lz_json_take(j, '{')) {
        LZ_TRY(lz_json_status(j, h->a->path));
        return LZ_FAIL(LZ_EPARSE, "%s: __metadata__ is no object", h->a->path);
    }
    while (lz_json_item(j, '}', &n)) {
        (void)lz_json_peek(j);
        const char *at = j->p;
        if (!lz_json_short(j, key, sizeof key, &len[0]) || !lz_json_want(j, ':'))
            break;
        if (lz_json_peek(j) != '"') {
            LZ_TRY(lz_json_status(j, h->a->path));
            return LZ_FAIL(LZ_EPARSE, "%s: \"%.100s\" in __metadata__ is no string", h->a->path,
                           key);
        }
        const char *value = j->p;
        if (!lz_json_string(j, NULL, &len[1]))
            break;
        if (h->fill) {
            LZ_TRY(keep(h, j, at, &h->metadata));
            LZ_TRY(keep(h, j, value, &h->metadata));
        } else {
            h->metadata.used += len[0] + len[1] + 2;
        }
    }
    h->pairs = n;
    return n > MAX_PAIRS ? LZ_FAIL(LZ_ERANGE, "%s: __metadata__ has %zu pairs", h->a->path, n)
                         : LZ_OK;
}

static lz_status walk(header *h)
{
    const lz_view *v = &h->a->files.data[h->file].view;
    lz_json j = lz_json_of((const char *)v->data + 8, h->start - 8);
    size_t n = 0, len;
    char shown[SHOWN];
    h->count = h->names.used = h->metadata.used = 0;
    h->has_metadata = false;
    if (!lz_json_want(&j, '{'))
        return lz_json_status(&j, h->a->path);
    while (lz_json_item(&j, '}', &n)) {
        (void)lz_json_peek(&j);
        const char *key = j.p;
        if (!lz_json_short(&j, shown, sizeof shown, &len) || !lz_json_want(&j, ':'))
            break;
        if (strcmp(shown, "__metadata__") == 0)
            LZ_TRY(add_metadata(h, &j));
        else
            LZ_TRY(add_tensor(h, &j, key, shown, len));
    }
    (void)lz_json_finish(&j);
    return lz_json_status(&j, h->a->path);
}

/* No key twice in what was kept of the metadata. */
static lz_status check_keys(const header *h)
{
    const lz_archive_file *f = &h->a->files.data[h->file];
    uint64_t cap = 8;
    while (cap < 2 * h->pairs)
        cap *= 2;
    uint32_t *slots = lz_calloc(cap, sizeof *slots); /* place + 1 by the hash of the key */
    lz_status s = slots ? LZ_OK : LZ_FAIL(LZ_EMEM, "%s: no memory", h->a->path);
    for (size_t at = 0; at < f->metadata_len && s == LZ_OK;) {
        const char *key = f->metadata + at;
        size_t n = strlen(key);
        uint64_t i = lz_hash_seeded(key, n, (uintptr_t)slots).lo & (cap - 1);
        while (slots[i] && strcmp(f->metadata + slots[i] - 1, key) != 0)
            i = (i + 1) & (cap - 1);
        if (slots[i])
            s = LZ_FAIL(LZ_EPARSE, "%s: the JSON text has \"%.100s\" twice in __metadata__",
                        h->a->path, key);
        slots[i] = (uint32_t)at + 1;
        at += n + 1;
        at += strlen(f->metadata + at) + 1;
    }
    lz_free(slots);
    return s;
}

/* ---- the order of the bytes ---- */

static void sift(const lz_archive *a, lz_archive_row *r, size_t i, size_t n)
{
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && by_range(a, &r[child], &r[child + 1]) < 0)
            child++;
        if (by_range(a, &r[i], &r[child]) >= 0)
            return;
        lz_archive_row t = r[i];
        r[i] = r[child];
        r[child] = t;
    }
}

/* Heapsort: in place, where qsort takes as much memory as there is to sort. */
static void sort_rows(const lz_archive *a, lz_archive_row *r, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        sift(a, r, i, n);
    for (size_t end = n; end-- > 1;) {
        lz_archive_row t = r[0];
        r[0] = r[end];
        r[end] = t;
        sift(a, r, 0, end);
    }
}

/* Rows from `first` on, in the order of their bytes, which must follow each other from 0 to the
 * end. */
static lz_status check_ranges(const header *h, uint32_t first)
{
    const lz_archive *a = h->a;
    uint64_t at = 0;
    if (!h->ordered)
        sort_rows(a, a->rows.data + first, a->rows.len - first);
    for (uint32_t i = first; i < a->rows.len; i++) {
        const lz_archive_row *r = &a->rows.data[i];
        if (r->at != at)
            return LZ_FAIL(LZ_ECORRUPT,
                           "%s: \"%.100s\" begins at %" PRIu64
                           ", %s the tensor before it, which ends at %" PRIu64,
                           a->path, lz_archive_row_name(a, r), r->at,
                           r->at < at ? "inside" : "with a hole after", at);
        at += r->nbytes;
    }
    if (at != h->len)
        return LZ_FAIL(LZ_ECORRUPT, "%s: %" PRIu64 " bytes of tensors, the file has %zu", a->path,
                       at, h->len);
    return LZ_OK;
}

/* ---- a file ---- */

/* Where the elements begin; 0: the header's length cannot be. */
static size_t start_of(const lz_view *v, uint64_t *n)
{
    *n = v->len < 8 ? 0 : lz_le64(v->data);
    return *n < 2 || *n > LZ_SAFETENSORS_MAX_HEADER || *n > v->len - 8 ? 0 : 8 + (size_t)*n;
}

lz_status lz_safetensors_parse(lz_archive *a, lz_view v)
{
    uint64_t n;
    if (lz_vec_push(&a->files, (lz_archive_file){.view = v}) != LZ_OK) {
        lz_holder_release(v.holder);
        return LZ_FAIL(LZ_EMEM, "%s: no memory", a->path);
    }
    header h = {.a = a, .file = a->files.len - 1, .start = start_of(&v, &n), .ordered = true};
    if (!h.start)
        return LZ_FAIL(v.len < 8 ? LZ_EPARSE : LZ_ECORRUPT,
                       "%s: not a safetensors file: a header of %" PRIu64 " bytes in %zu", a->path,
                       n, v.len);
    h.len = v.len - h.start;
    if (v.data[8] != '{')
        return LZ_FAIL(LZ_EPARSE, "%s: the safetensors header is no JSON object", a->path);
    LZ_TRY(walk(&h));
    lz_archive_file *f = &a->files.data[h.file];
    uint32_t first = a->rows.len;
    h.names = (texts){f->names = lz_alloc(h.names.used + 1), 0, h.names.used};
    h.metadata = (texts){f->metadata = lz_alloc(h.metadata.used + 1), 0, h.metadata.used};
    if (!f->names || !f->metadata || lz_vec_reserve(&a->rows, first + h.count) != LZ_OK)
        return LZ_FAIL(LZ_EMEM, "%s: no memory for %" PRIu64 " tensors", a->path, h.count);
    h.fill = true;
    LZ_TRY(walk(&h));
    f->metadata_len = h.metadata.used;
    LZ_TRY(check_keys(&h));
    lz_status s = check_ranges(&h, first);
    const lz_error ranges = *lz_error_get();
    if (s == LZ_OK || lz_archive_index(a) == LZ_EPARSE)
        return s == LZ_OK ? s : LZ_EPARSE; /* a name that is there twice says more than its bytes */
    lz_error_set(&ranges);
    return s;
}

lz_status lz_safetensors_entry(const lz_archive *a, const lz_archive_row *r, lz_archive_entry *out)
{
    uint64_t n;
    const lz_view *v = &a->files.data[r->file].view;
    size_t start = start_of(v, &n);
    if (r->where > start)
        return LZ_FAIL(LZ_ECORRUPT, "%s: the header has changed", a->path);
    const char *at = (const char *)v->data + r->where;
    lz_json j = lz_json_of(at, start - r->where);
    const place w = {a->path, lz_archive_row_name(a, r), v->len - start, false};
    LZ_TRY(read_tensor(&w, &j, out));
    out->at += start;
    return LZ_OK;
}

/* ---- several files ---- */

/* A file of the checkpoint: a plain name, which stands in the folder of the index. */
static lz_status open_shard(lz_archive *a, const char *file)
{
    const char *slash = strrchr(a->path, '/');
    size_t dir = slash ? (size_t)(slash - a->path) + 1 : 0, n = strlen(file);
    if (!n || strchr(file, '/') || *file == '.')
        return LZ_FAIL(LZ_EPERM, "%s: \"%.100s\" is not the name of a file beside the index",
                       a->path, file);
    char *path = lz_alloc(dir + n + 1);
    if (!path)
        return LZ_FAIL(LZ_EMEM, "%s: no memory", a->path);
    memcpy(path, a->path, dir);
    memcpy(path + dir, file, n + 1);
    lz_view v;
    lz_status s = lz_data_map(path, &v);
    if (s == LZ_OK) {
        char *index = a->path; /* messages name the file at fault */
        a->path = path;
        s = lz_safetensors_parse(a, v);
        a->path = index;
    }
    lz_free(path);
    return s;
}

/* A pass over the index. First the files that it names are opened, then every tensor of it must be
 * in the file it names. */
typedef struct shards {
    lz_archive *a;
    LZ_VEC(char *) names; /* of the files, as a->files */
    uint32_t last;
    uint8_t *wanted; /* a bit for each row; NULL in the first pass */
} shards;

enum { FILE_NAME = 256 };

/* The number of the file; UINT32_MAX: not opened yet. Neighbours are mostly of the same file. */
static uint32_t find_shard(shards *x, const char *file)
{
    if (x->last < x->names.len && strcmp(x->names.data[x->last], file) == 0)
        return x->last;
    for (uint32_t i = 0; i < x->names.len; i++)
        if (strcmp(x->names.data[i], file) == 0)
            return x->last = i;
    return UINT32_MAX;
}

static lz_status open_new(shards *x, const char *file)
{
    if (find_shard(x, file) != UINT32_MAX)
        return LZ_OK;
    char *name = lz_strdup(file);
    if (!name || lz_vec_push(&x->names, name) != LZ_OK) {
        lz_free(name);
        return LZ_FAIL(LZ_EMEM, "%s: no memory", x->a->path);
    }
    return open_shard(x->a, file);
}

static lz_status mark(shards *x, const char *name, const char *file)
{
    const lz_archive_row *r = lz_archive_find(x->a, name);
    if (!r || r->file != find_shard(x, file))
        return LZ_FAIL(LZ_ECORRUPT, "%s: \"%.100s\" is not in %.100s, where the index says it is",
                       x->a->path, name, file);
    size_t i = (size_t)(r - x->a->rows.data);
    if (x->wanted[i / 8] & 1u << i % 8)
        return LZ_FAIL(LZ_EPARSE, "%s: the JSON text has \"%.100s\" twice", x->a->path, name);
    x->wanted[i / 8] |= (uint8_t)(1u << i % 8);
    return LZ_OK;
}

/* name: room for the longest name in the index. */
static lz_status walk_map(shards *x, lz_json *j, char *name)
{
    size_t n = 0, len;
    if (!lz_json_take(j, '{')) {
        LZ_TRY(lz_json_status(j, x->a->path));
        return LZ_FAIL(LZ_EPARSE, "%s: no weight_map in the index", x->a->path);
    }
    while (lz_json_item(j, '}', &n)) {
        char file[FILE_NAME + 1];
        if (!lz_json_key(j, name, &len))
            break;
        if (lz_json_peek(j) != '"') {
            LZ_TRY(lz_json_status(j, x->a->path));
            return LZ_FAIL(LZ_EPARSE, "%s: the file of \"%.100s\" is no string", x->a->path, name);
        }
        if (!lz_json_short(j, file, sizeof file, &len))
            break;
        LZ_TRY(x->wanted ? mark(x, name, file) : open_new(x, file));
    }
    return lz_json_status(j, x->a->path);
}

static lz_status walk_index(shards *x, const lz_view *v, char *name)
{
    lz_json j = lz_json_of((const char *)v->data, v->len);
    size_t n = 0, len;
    bool seen = false;
    if (!lz_json_take(&j, '{'))
        return LZ_FAIL(LZ_EPARSE, "%s: the JSON text is no object", x->a->path);
    while (lz_json_item(&j, '}', &n)) {
        char key[16];
        if (!lz_json_short(&j, key, sizeof key, &len) || !lz_json_want(&j, ':'))
            break;
        bool map = strcmp(key, "weight_map") == 0;
        if (map && seen)
            return LZ_FAIL(LZ_EPARSE, "%s: the JSON text has duplicate keys weight_map",
                           x->a->path);
        seen |= map;
        if (map)
            LZ_TRY(walk_map(x, &j, name));
        else if (!lz_json_skip(&j))
            break;
    }
    (void)lz_json_finish(&j);
    LZ_TRY(lz_json_status(&j, x->a->path));
    return seen ? LZ_OK : LZ_FAIL(LZ_EPARSE, "%s: no weight_map in the index", x->a->path);
}

/* Other tensors of the files are ignored. */
static lz_status keep_wanted(shards *x)
{
    lz_archive *a = x->a;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < a->rows.len; i++)
        if (x->wanted[i / 8] & 1u << i % 8)
            a->rows.data[kept++] = a->rows.data[i];
    a->rows.len = kept;
    return lz_archive_index(a);
}

static lz_status open_index(lz_archive *a, const lz_view *v)
{
    shards x = {.a = a};
    if (v->len > LZ_SAFETENSORS_MAX_HEADER)
        return LZ_FAIL(LZ_ERANGE, "%s: an index of %zu bytes", a->path, v->len);
    char *name = lz_alloc(v->len + 1);
    lz_status s =
        name ? walk_index(&x, v, name) : LZ_FAIL(LZ_EMEM, "%s: no memory for the index", a->path);
    if (s == LZ_OK)
        s = lz_archive_index(a);
    if (s == LZ_OK && !(x.wanted = lz_calloc(a->rows.len / 8 + 1, 1)))
        s = LZ_FAIL(LZ_EMEM, "%s: no memory for the index", a->path);
    if (s == LZ_OK)
        s = walk_index(&x, v, name);
    if (s == LZ_OK)
        s = keep_wanted(&x);
    for (uint32_t i = 0; i < x.names.len; i++)
        lz_free(x.names.data[i]);
    lz_vec_free(&x.names);
    lz_free(x.wanted);
    lz_free(name);
    return s;
}

lz_archive *lz_safetensors_open_at(const char *path, const lz_site *site)
{
    LZ_PUBLIC_AT(NULL);
    lz_view v = {0};
    lz_status s = path ? lz_data_map(path, &v) : LZ_FAIL(LZ_ENULL, "the path is NULL");
    lz_archive *a = s == LZ_OK ? lz_archive_new(path, false) : NULL;
    if (a && lz_text_ends(path, ".index.json")) {
        s = open_index(a, &v);
        lz_holder_release(v.holder);
    } else if (a) {
        s = lz_safetensors_parse(a, v);
        if (s == LZ_OK)
            s = lz_archive_index(a);
    } else {
        lz_holder_release(v.holder);
    }
    if (a && s == LZ_OK)
        return a;
    lz_error_annotate("lz_safetensors_open", site);
    lz_archive_close(a);
    return NULL;
}
