/* checkpoint_manifest_parse.c - reads a manifest (checkpoint_manifest.h). The text may be
 * anybody's: its keys come in the order in which they are written, sizes are checked before they
 * are used, and what is kept grows with what was read. */
#include "base/text.h"
#include "data/checkpoint_manifest.h"
#include "data/data_internal.h"
#include "data/json.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct parser {
    lz_json j;
    lz_manifest *m;
    const char *path;
} parser;

/* A mistake of the JSON text comes before others. */
static lz_status wrong(const parser *p, const char *what)
{
    LZ_TRY(lz_json_status(&p->j, p->path));
    return LZ_FAIL(LZ_EPARSE, "%s: the manifest: %s", p->path, what);
}

static lz_status no_memory(const parser *p)
{
    return LZ_FAIL(LZ_EMEM, "%s: no memory for the manifest", p->path);
}

/* ---- pieces ---- */

static lz_status want_key(parser *p, const char *key)
{
    char text[24];
    size_t len;
    if (lz_json_short(&p->j, text, sizeof text, &len) && strcmp(text, key) == 0 &&
        lz_json_want(&p->j, ':'))
        return LZ_OK;
    LZ_TRY(lz_json_status(&p->j, p->path));
    return LZ_FAIL(LZ_EPARSE, "%s: the manifest has \"%s\" where \"%s\" is wanted", p->path, text,
                   key);
}

static lz_status want(parser *p, char c)
{
    return lz_json_take(&p->j, c) ? LZ_OK : wrong(p, "its parts are not where they should be");
}

/* ,"key": */
static lz_status next_key(parser *p, const char *key)
{
    LZ_TRY(want(p, ','));
    return want_key(p, key);
}

static lz_status integer(parser *p, int64_t least, int64_t most, int64_t *out)
{
    bool whole = false;
    char c = lz_json_peek(&p->j);
    bool good = (c == '-' || lz_is_digit(c)) && lz_json_number(&p->j, out, &whole) && whole &&
                *out >= least && *out <= most;
    return good ? LZ_OK : wrong(p, "a number is out of its range");
}

/* A string, which is kept. */
static lz_status text(parser *p, uint32_t *at)
{
    lz_json again = p->j;
    size_t len = 0, had = 0;
    if (lz_json_peek(&p->j) != '"' || !lz_json_string(&p->j, NULL, &len))
        return wrong(p, "a string is missing");
    char *s = lz_alloc(len + 1);
    if (!s)
        return no_memory(p);
    (void)lz_json_short(&again, s, len + 1, &had);
    *at = lz_manifest_keep(p->m, s, len);
    lz_free(s);
    return *at == UINT32_MAX ? no_memory(p) : LZ_OK;
}

/* ---- metadata and metrics ---- */

static lz_status metadata(parser *p)
{
    size_t n = 0;
    LZ_TRY(want(p, '{'));
    while (lz_json_item(&p->j, '}', &n)) {
        lz_manifest_pair pair;
        LZ_TRY(text(p, &pair.key));
        LZ_TRY(want(p, ':'));
        LZ_TRY(text(p, &pair.value));
        if (lz_vec_push(&p->m->metadata, pair) != LZ_OK)
            return no_memory(p);
    }
    return lz_json_status(&p->j, p->path);
}

static lz_status metrics(parser *p)
{
    size_t n = 0, len;
    LZ_TRY(want(p, '{'));
    while (lz_json_item(&p->j, '}', &n)) {
        lz_manifest_metric v;
        char number[64];
        LZ_TRY(text(p, &v.name));
        LZ_TRY(want(p, ':'));
        if (lz_json_peek(&p->j) != '"' || !lz_json_short(&p->j, number, sizeof number, &len) ||
            len >= sizeof number || !lz_text_f64(number, len, &v.value))
            return wrong(p, "a metric is no number");
        if (lz_vec_push(&p->m->metrics, v) != LZ_OK)
            return no_memory(p);
    }
    return lz_json_status(&p->j, p->path);
}

/* ---- files ---- */

static lz_status digests(parser *p, lz_manifest_file *f)
{
    uint64_t block = (uint64_t)p->m->block, blocks = f->size / block + (f->size % block != 0);
    size_t n = 0, len;
    f->digest = p->m->digests.len;
    LZ_TRY(want(p, '['));
    while (lz_json_item(&p->j, ']', &n)) {
        char hex[40];
        lz_hash h;
        if (n > blocks || lz_json_peek(&p->j) != '"' ||
            !lz_json_short(&p->j, hex, sizeof hex, &len) || len != 32 ||
            !lz_hash_parse_hex(hex, &h))
            return wrong(p, "a digest is none, or there are too many");
        if (lz_vec_push(&p->m->digests, h) != LZ_OK)
            return no_memory(p);
    }
    f->ndigest = p->m->digests.len - f->digest;
    LZ_TRY(lz_json_status(&p->j, p->path));
    return f->ndigest == blocks ? LZ_OK : wrong(p, "a file has not a digest for each block");
}

/* Names are those of ranks, so that none leads elsewhere. */
static lz_status file(parser *p)
{
    lz_manifest_file f = {0};
    const lz_manifest *m = p->m;
    char name[LZ_RANK_FILE + 8];
    size_t len;
    int64_t size;
    LZ_TRY(want(p, '{'));
    LZ_TRY(want_key(p, "name"));
    if (lz_json_peek(&p->j) != '"' || !lz_json_short(&p->j, name, sizeof name, &len) ||
        !lz_rank_file_parse(name, &f.rank) || f.rank >= m->processes ||
        (m->files.len && f.rank <= m->files.data[m->files.len - 1].rank))
        return wrong(p, "the name of a file is not that of a rank, or not in order");
    LZ_TRY(next_key(p, "size"));
    LZ_TRY(integer(p, 1, INT64_MAX, &size));
    f.size = (uint64_t)size;
    LZ_TRY(next_key(p, "digests"));
    LZ_TRY(digests(p, &f));
    LZ_TRY(want(p, '}'));
    return lz_vec_push(&p->m->files, f) == LZ_OK ? LZ_OK : no_memory(p);
}

static lz_status files(parser *p)
{
    size_t n = 0;
    LZ_TRY(want(p, '['));
    while (lz_json_item(&p->j, ']', &n))
        LZ_TRY(file(p));
    return lz_json_status(&p->j, p->path);
}

/* ---- tensors ---- */

/* Exactly `rank` of them. */
static lz_status dims(parser *p, int rank, int64_t least)
{
    size_t n = 0;
    LZ_TRY(want(p, '['));
    while (lz_json_item(&p->j, ']', &n)) {
        int64_t v;
        if (n > (size_t)rank)
            break;
        LZ_TRY(integer(p, least, INT64_MAX, &v));
        if (lz_vec_push(&p->m->dims, v) != LZ_OK)
            return no_memory(p);
    }
    LZ_TRY(lz_json_status(&p->j, p->path));
    return n == (size_t)rank ? LZ_OK : wrong(p, "a box is not of its tensor's rank");
}

static lz_status shard(parser *p, const lz_manifest_tensor *t)
{
    lz_manifest_shard s = {.box = p->m->dims.len};
    int64_t file_number;
    LZ_TRY(want(p, '{'));
    LZ_TRY(want_key(p, "file"));
    LZ_TRY(integer(p, 0, (int64_t)p->m->files.len - 1, &file_number));
    s.file = (uint32_t)file_number;
    LZ_TRY(next_key(p, "offset"));
    LZ_TRY(dims(p, t->shape.rank, 0));
    LZ_TRY(next_key(p, "extent"));
    LZ_TRY(dims(p, t->shape.rank, 1));
    LZ_TRY(want(p, '}'));
    for (int i = 0; i < t->shape.rank; i++) {
        int64_t from = p->m->dims.data[s.box + (uint32_t)i],
                extent = p->m->dims.data[s.box + (uint32_t)(t->shape.rank + i)];
        if (from > t->shape.dims[i] || extent > t->shape.dims[i] - from)
            return wrong(p, "a box is not within its tensor");
    }
    return lz_vec_push(&p->m->shards, s) == LZ_OK ? LZ_OK : no_memory(p);
}

static lz_status shape(parser *p, lz_shape *out)
{
    size_t n = 0;
    LZ_TRY(want(p, '['));
    while (lz_json_item(&p->j, ']', &n)) {
        if (n > LZ_MAX_RANK)
            return LZ_FAIL(LZ_ESHAPE, "%s: the manifest has a tensor of more than %d dimensions",
                           p->path, LZ_MAX_RANK);
        LZ_TRY(integer(p, 0, INT64_MAX, &out->dims[n - 1]));
        out->rank = (int)n;
    }
    return lz_json_status(&p->j, p->path);
}

static int by_number(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

/* The places where dimension d is cut, ascending: into cut[0..n). */
static uint32_t cuts(const lz_manifest *m, const lz_manifest_tensor *t, int d, int64_t *cut)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->nshard; i++)
        cut[i] = m->dims.data[m->shards.data[t->shard + i].box + (uint32_t)d];
    qsort(cut, t->nshard, sizeof *cut, by_number);
    for (uint32_t i = 0; i < t->nshard; i++)
        if (!n || cut[n - 1] != cut[i])
            cut[n++] = cut[i];
    return n;
}

/* The boxes are the cells of a grid, each there once: cell[] becomes their numbers in it. */
static bool is_grid(const lz_manifest *m, const lz_manifest_tensor *t, int64_t *cut, int64_t *cell)
{
    int64_t cells = 1;
    for (int d = 0; d < t->shape.rank; d++) {
        uint32_t n = cuts(m, t, d, cut);
        if (cut[0] != 0 || !lz_mul_i64(cells, n, &cells) || cells > t->nshard)
            return false;
        for (uint32_t i = 0; i < t->nshard; i++) {
            const lz_box b = lz_manifest_box(m, t, &m->shards.data[t->shard + i]);
            const int64_t *at = bsearch(&b.offset[d], cut, n, sizeof *cut, by_number);
            int64_t end = at + 1 < cut + n ? at[1] : t->shape.dims[d];
            if (b.offset[d] + b.extent[d] != end)
                return false;
            cell[i] = cell[i] * n + (at - cut);
        }
    }
    if (cells != t->nshard)
        return false;
    qsort(cell, t->nshard, sizeof *cell, by_number);
    for (uint32_t i = 0; i < t->nshard; i++)
        if (cell[i] != i)
            return false;
    return true;
}

static lz_status check_grid(const parser *p, const lz_manifest_tensor *t)
{
    bool empty = false;
    for (int d = 0; d < t->shape.rank; d++)
        empty |= t->shape.dims[d] == 0;
    if (empty || !t->nshard)
        return empty && !t->nshard ? LZ_OK : wrong(p, "a tensor has holes");
    int64_t *work = lz_calloc(2 * (size_t)t->nshard, sizeof *work);
    if (!work)
        return no_memory(p);
    bool good = is_grid(p->m, t, work, work + t->nshard);
    lz_free(work);
    return good ? LZ_OK : wrong(p, "the boxes of a tensor overlap, or leave a hole");
}

static lz_status tensor(parser *p)
{
    lz_manifest *m = p->m;
    lz_manifest_tensor t = {.shard = m->shards.len};
    char word[24];
    size_t len, n = 0, nbytes;
    LZ_TRY(text(p, &t.name));
    if (m->tensors.len && strcmp(lz_manifest_text(m, m->tensors.data[m->tensors.len - 1].name),
                                 lz_manifest_text(m, t.name)) >= 0)
        return wrong(p, "the names of its tensors are not in order");
    LZ_TRY(want(p, ':'));
    LZ_TRY(want(p, '{'));
    LZ_TRY(want_key(p, "dtype"));
    if (lz_json_peek(&p->j) != '"' || !lz_json_short(&p->j, word, sizeof word, &len))
        return wrong(p, "a tensor has no dtype");
    t.dtype = lz_safetensors_dtype(word);
    if (t.dtype == LZ_DTYPE_NONE || strcmp(lz_safetensors_word(t.dtype), word) != 0)
        return LZ_FAIL(LZ_EDTYPE, "%s: the manifest has a tensor of the unknown dtype %s", p->path,
                       word);
    LZ_TRY(next_key(p, "shape"));
    LZ_TRY(shape(p, &t.shape));
    LZ_TRY(lz_data_size(t.dtype, &t.shape, p->path, &nbytes));
    LZ_TRY(next_key(p, "shards"));
    LZ_TRY(want(p, '['));
    while (lz_json_item(&p->j, ']', &n))
        LZ_TRY(shard(p, &t));
    LZ_TRY(lz_json_status(&p->j, p->path));
    LZ_TRY(want(p, '}'));
    t.nshard = m->shards.len - t.shard;
    LZ_TRY(check_grid(p, &t));
    return lz_vec_push(&m->tensors, t) == LZ_OK ? LZ_OK : no_memory(p);
}

static lz_status tensors(parser *p)
{
    size_t n = 0;
    LZ_TRY(want(p, '{'));
    while (lz_json_item(&p->j, '}', &n))
        LZ_TRY(tensor(p));
    return lz_json_status(&p->j, p->path);
}

/* ---- all of it ---- */

static lz_status head(parser *p)
{
    char format[24] = "";
    size_t len;
    int64_t version, processes;
    LZ_TRY(want(p, '{'));
    LZ_TRY(want_key(p, "format"));
    if (lz_json_peek(&p->j) != '"' || !lz_json_short(&p->j, format, sizeof format, &len) ||
        strcmp(format, "lazuli.checkpoint") != 0)
        return wrong(p, "it is none of a checkpoint");
    LZ_TRY(next_key(p, "version"));
    LZ_TRY(integer(p, 1, INT64_MAX, &version));
    if (version != LZ_MANIFEST_VERSION)
        return LZ_FAIL(LZ_EUNSUPPORTED,
                       "%s: the checkpoint is of version %" PRId64 ", this library reads %d",
                       p->path, version, LZ_MANIFEST_VERSION);
    LZ_TRY(next_key(p, "step"));
    LZ_TRY(integer(p, 0, INT64_MAX, &p->m->step));
    LZ_TRY(next_key(p, "processes"));
    LZ_TRY(integer(p, 1, 1 << 20, &processes));
    p->m->processes = (uint32_t)processes;
    LZ_TRY(next_key(p, "block"));
    return integer(p, 1, INT64_C(1) << 40, &p->m->block);
}

static lz_status body(parser *p)
{
    char hex[40];
    size_t len;
    LZ_TRY(head(p));
    LZ_TRY(next_key(p, "metadata"));
    LZ_TRY(metadata(p));
    LZ_TRY(next_key(p, "metrics"));
    LZ_TRY(metrics(p));
    LZ_TRY(next_key(p, "files"));
    LZ_TRY(files(p));
    LZ_TRY(next_key(p, "tensors"));
    LZ_TRY(tensors(p));
    LZ_TRY(next_key(p, "digest"));
    if (lz_json_peek(&p->j) != '"' || !lz_json_short(&p->j, hex, sizeof hex, &len))
        return wrong(p, "it has no digest");
    LZ_TRY(want(p, '}'));
    (void)lz_json_finish(&p->j);
    return lz_json_status(&p->j, p->path);
}

lz_status lz_manifest_parse(const char *s, size_t n, const char *path, lz_manifest *m)
{
    parser p = {lz_json_of(s, n), m, path};
    *m = (lz_manifest){0};
    lz_status st = n <= LZ_MANIFEST_MAX_BYTES
                       ? body(&p)
                       : LZ_FAIL(LZ_ERANGE, "%s: a manifest of %zu bytes", path, n);
    if (st != LZ_OK)
        lz_manifest_free(m);
    return st;
}
