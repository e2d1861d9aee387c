/* checkpoint_manifest.c - see checkpoint_manifest.h: writing a manifest, and what is found in one.
 * Reading is in checkpoint_manifest_parse.c. */
#include "data/checkpoint_manifest.h"
#include "data/data_internal.h"
#include "data/json.h"
#include "base/text.h"
#include <inttypes.h>
#include <string.h>

void lz_manifest_free(lz_manifest *m)
{
    lz_vec_free(&m->metadata);
    lz_vec_free(&m->metrics);
    lz_vec_free(&m->files);
    lz_vec_free(&m->digests);
    lz_vec_free(&m->tensors);
    lz_vec_free(&m->shards);
    lz_vec_free(&m->dims);
    lz_buf_free(&m->text);
}

uint32_t lz_manifest_keep(lz_manifest *m, const char *s, size_t n)
{
    size_t at = m->text.len;
    if (n >= UINT32_MAX - 1 || at >= UINT32_MAX - 1 - n)
        return UINT32_MAX;
    lz_buf_put(&m->text, s, n);
    lz_buf_putc(&m->text, '\0');
    return m->text.failed ? UINT32_MAX : (uint32_t)at;
}

lz_box lz_manifest_box(const lz_manifest *m, const lz_manifest_tensor *t,
                       const lz_manifest_shard *s)
{
    lz_box b = {.rank = t->shape.rank};
    for (int i = 0; i < b.rank; i++) {
        b.offset[i] = m->dims.data[s->box + (uint32_t)i];
        b.extent[i] = m->dims.data[s->box + (uint32_t)(b.rank + i)];
    }
    return b;
}

const lz_manifest_tensor *lz_manifest_find(const lz_manifest *m, const char *name)
{
    for (uint32_t from = 0, to = m->tensors.len; from < to;) {
        uint32_t mid = from + (to - from) / 2;
        int order = strcmp(name, lz_manifest_text(m, m->tensors.data[mid].name));
        if (!order)
            return &m->tensors.data[mid];
        *(order < 0 ? &to : &from) = order < 0 ? mid : mid + 1;
    }
    return NULL;
}

bool lz_manifest_key(const lz_manifest *m, const lz_manifest_tensor *t, const lz_manifest_shard *s,
                     lz_buf *out)
{
    const lz_box b = lz_manifest_box(m, t, s);
    bool whole = true;
    for (int i = 0; i < b.rank; i++)
        whole &= b.extent[i] == t->shape.dims[i];
    lz_buf_puts(out, lz_manifest_text(m, t->name));
    for (int i = 0; i < b.rank && !whole; i++)
        lz_buf_printf(out, "%c%" PRId64 ":%" PRId64, i ? ',' : '[', b.offset[i],
                      b.offset[i] + b.extent[i]);
    if (!whole)
        lz_buf_putc(out, ']');
    lz_buf_putc(out, '\0');
    return !out->failed;
}

/* ---- names of files ---- */

static const char rank_prefix[] = "rank-", rank_suffix[] = ".safetensors";

const char *lz_rank_file(uint32_t rank, char text[LZ_RANK_FILE])
{
    snprintf(text, LZ_RANK_FILE, "%s%05" PRIu32 "%s", rank_prefix, rank, rank_suffix);
    return text;
}

bool lz_rank_file_parse(const char *name, uint32_t *rank)
{
    char again[LZ_RANK_FILE];
    uint64_t v;
    size_t skip = sizeof rank_prefix - 1;
    if (strncmp(name, rank_prefix, skip) != 0 ||
        !lz_text_digits(name + skip, strnlen(name + skip, LZ_RANK_FILE), &v) || v > UINT32_MAX)
        return false;
    *rank = (uint32_t)v;
    return strcmp(name, lz_rank_file(*rank, again)) == 0;
}

/* ---- writing ---- */

static void put_dims(lz_buf *b, const int64_t *dims, int n)
{
    lz_buf_putc(b, '[');
    for (int i = 0; i < n; i++)
        lz_buf_printf(b, "%s%" PRId64, i ? "," : "", dims[i]);
    lz_buf_putc(b, ']');
}

static bool put_pairs(const lz_manifest *m, lz_buf *b)
{
    bool good = true;
    lz_buf_puts(b, "\"metadata\":{");
    for (uint32_t i = 0; i < m->metadata.len; i++) {
        const lz_manifest_pair *p = &m->metadata.data[i];
        if (i)
            lz_buf_putc(b, ',');
        good &= lz_json_put(b, lz_manifest_text(m, p->key));
        lz_buf_putc(b, ':');
        good &= lz_json_put(b, lz_manifest_text(m, p->value));
    }
    lz_buf_puts(b, "},\n\"metrics\":{");
    for (uint32_t i = 0; i < m->metrics.len; i++) {
        char number[40];
        if (i)
            lz_buf_putc(b, ',');
        good &= lz_json_put(b, lz_manifest_text(m, m->metrics.data[i].name));
        lz_snprintf(number, sizeof number, "%.17g", m->metrics.data[i].value);
        lz_buf_printf(b, ":\"%s\"", number);
    }
    lz_buf_puts(b, "},\n");
    return good;
}

static void put_files(const lz_manifest *m, lz_buf *b)
{
    char text[LZ_RANK_FILE], hex[33];
    lz_buf_puts(b, "\"files\":[");
    for (uint32_t i = 0; i < m->files.len; i++) {
        const lz_manifest_file *f = &m->files.data[i];
        lz_buf_printf(b, "%s{\"name\":\"%s\",\"size\":%" PRIu64 ",\"digests\":[", i ? ",\n" : "\n",
                      lz_rank_file(f->rank, text), f->size);
        for (uint32_t k = 0; k < f->ndigest; k++) {
            lz_hash_hex(m->digests.data[f->digest + k], hex);
            lz_buf_printf(b, "%s\"%s\"", k ? "," : "", hex);
        }
        lz_buf_puts(b, "]}");
    }
    lz_buf_puts(b, "],\n");
}

static bool put_tensor(const lz_manifest *m, const lz_manifest_tensor *t, lz_buf *b)
{
    bool good = lz_json_put(b, lz_manifest_text(m, t->name));
    lz_buf_printf(b, ":{\"dtype\":\"%s\",\"shape\":", lz_safetensors_word(t->dtype));
    put_dims(b, t->shape.dims, t->shape.rank);
    lz_buf_puts(b, ",\"shards\":[");
    for (uint32_t i = 0; i < t->nshard; i++) {
        const lz_manifest_shard *s = &m->shards.data[t->shard + i];
        const lz_box box = lz_manifest_box(m, t, s);
        lz_buf_printf(b, "%s{\"file\":%" PRIu32 ",\"offset\":", i ? "," : "", s->file);
        put_dims(b, box.offset, box.rank);
        lz_buf_puts(b, ",\"extent\":");
        put_dims(b, box.extent, box.rank);
        lz_buf_putc(b, '}');
    }
    lz_buf_puts(b, "]}");
    return good;
}

/* The end of a manifest, after which it is what the digest says. */
static const char digest_key[] = "\"digest\":\"", digest_end[] = "\"}\n";
enum { DIGEST_TAIL = sizeof digest_key - 1 + 32 + sizeof digest_end - 1 };

lz_status lz_manifest_put(const lz_manifest *m, const char *path, lz_buf *out)
{
    size_t begin = out->len;
    char hex[33];
    lz_buf_printf(out,
                  "%s%d,\"step\":%" PRId64 ",\"processes\":%" PRIu32 ",\"block\":%" PRId64 ",\n",
                  LZ_MANIFEST_HEAD, LZ_MANIFEST_VERSION, m->step, m->processes, m->block);
    bool good = put_pairs(m, out);
    put_files(m, out);
    lz_buf_puts(out, "\"tensors\":{");
    for (uint32_t i = 0; i < m->tensors.len; i++) {
        lz_buf_puts(out, i ? ",\n" : "\n");
        good &= put_tensor(m, &m->tensors.data[i], out);
    }
    lz_buf_puts(out, "},\n");
    if (out->failed)
        return LZ_FAIL(LZ_EMEM, "%s: no memory for the manifest", path);
    if (!good)
        return LZ_FAIL(LZ_EINVAL, "%s: a name or a value of the metadata is no UTF-8 text", path);
    lz_hash_hex(lz_hash_bytes(out->data + begin, out->len - begin), hex);
    lz_buf_printf(out, "%s%s%s", digest_key, hex, digest_end);
    return out->failed ? LZ_FAIL(LZ_EMEM, "%s: no memory for the manifest", path) : LZ_OK;
}

lz_status lz_manifest_check(const char *text, size_t n, const char *path)
{
    char hex[33], want[DIGEST_TAIL + 1];
    if (n > DIGEST_TAIL) {
        lz_hash_hex(lz_hash_bytes(text, n - DIGEST_TAIL), hex);
        snprintf(want, sizeof want, "%s%s%s", digest_key, hex, digest_end);
        if (memcmp(text + n - DIGEST_TAIL, want, DIGEST_TAIL) == 0)
            return LZ_OK;
    }
    return LZ_FAIL(LZ_ECORRUPT, "%s: the manifest is not what its digest is of", path);
}
