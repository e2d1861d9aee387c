/* trace_file.c - see trace_file.h. gzip (RFC 1952): the events are one stream of DEFLATE blocks,
 * ended at a byte by Z_SYNC_FLUSH after each flush; the end of the object follows as a stored last
 * block (RFC 1951, 3.2.4) with the trailer, which the next flush writes over. */
#include "base/timeline/trace_file.h"
#include "base/text.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

enum { STEP_BYTES = 64 << 10 };

static void end_pack(lz_trace_file *f)
{
    if (f->z)
        (void)deflateEnd(f->z);
    lz_free(f->z);
    f->z = NULL;
}

static lz_status begin_pack(lz_trace_file *f)
{
    static const unsigned char head[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
    enum { RAW = -15, LEVEL = 4, MEMORY = 8 };
    f->z = lz_calloc(1, sizeof *f->z);
    if (!f->z || deflateInit2(f->z, LEVEL, Z_DEFLATED, RAW, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) {
        lz_free(f->z);
        f->z = NULL;
        return LZ_FAIL(LZ_EMEM, "%s: no memory", f->path);
    }
    f->crc = (uint32_t)crc32(0, NULL, 0);
    lz_buf_put(&f->packed, head, sizeof head);
    return LZ_OK;
}

/* Appends what the text is when compressed. */
static void pack(lz_trace_file *f, const char *text, size_t n)
{
    unsigned char room[STEP_BYTES];
    f->crc = (uint32_t)crc32_z(f->crc, (const unsigned char *)text, n);
    f->nbytes += (uint32_t)n;
    for (size_t at = 0; at < n;) {
        size_t part = n - at < STEP_BYTES ? n - at : STEP_BYTES;
        f->z->next_in = (unsigned char *)text + at;
        f->z->avail_in = (uInt)part;
        at += part;
        do {
            f->z->next_out = room;
            f->z->avail_out = sizeof room;
            (void)deflate(f->z, at == n ? Z_SYNC_FLUSH : Z_NO_FLUSH);
            lz_buf_put(&f->packed, room, sizeof room - f->z->avail_out);
        } while (f->z->avail_out == 0);
    }
}

static void put_le(lz_buf *b, uint32_t v, int nbytes)
{
    for (int i = 0; i < nbytes; i++)
        lz_buf_putc(b, (char)(v >> 8 * i));
}

/* A short text as it is, and the trailer. */
static void pack_end(const lz_trace_file *f, const char *text, size_t n, lz_buf *out)
{
    lz_buf_putc(out, 1);
    put_le(out, (uint32_t)n, 2);
    put_le(out, ~(uint32_t)n, 2);
    lz_buf_put(out, text, n);
    put_le(out, (uint32_t)crc32_z(f->crc, (const unsigned char *)text, n), 4);
    put_le(out, f->nbytes + (uint32_t)n, 4);
}

lz_status lz_trace_file_open(lz_trace_file *f, const char *path, bool live)
{
    memset(f, 0, sizeof *f);
    snprintf(f->path, sizeof f->path, "%s", path);
    LZ_TRY(lz_outfile_begin(&f->out, path, false));
    f->out.path = f->path;
    lz_status s = lz_text_ends(path, ".gz") ? begin_pack(f) : LZ_OK;
    if (s != LZ_OK) {
        lz_buf_free(&f->packed);
        return lz_outfile_end(&f->out, s);
    }
    if (live)
        lz_outfile_live(&f->out);
    lz_buf_puts(&f->text, "{\"traceEvents\":[");
    return LZ_OK;
}

lz_buf *lz_trace_file_event(lz_trace_file *f)
{
    lz_buf_puts(&f->text, f->begun ? ",\n" : "\n");
    f->begun = true;
    return &f->text;
}

/* last: nothing comes after it. */
static void write_out(lz_trace_file *f, const lz_trace_totals *e, bool last)
{
    char end[256];
    int n = snprintf(end, sizeof end,
                     "\n],\"displayTimeUnit\":\"ms\",\"otherData\":{\"producer\":\"lazuli\","
                     "\"dropped_events\":%" PRIu64 ",\"start_unix_ns\":%" PRId64 "}}\n",
                     e->dropped, e->start_unix_ns);
    lz_buf *b = &f->text;
    if (f->text.failed || f->packed.failed)
        return; /* what is there stays whole */
    if (f->z) {
        pack(f, f->text.data, f->text.len);
        f->text.len = 0;
        b = &f->packed;
    }
    size_t nevents = b->len;
    if (f->z)
        pack_end(f, end, (size_t)n, b);
    else
        lz_buf_put(b, end, (size_t)n);
    if (!b->failed && !f->out.live)
        lz_outfile_put(&f->out, b->data, b->len);
    else if (!b->failed)
        lz_outfile_extend(&f->out, b->data, b->len, b->len - nevents, last);
    b->len = 0;
}

void lz_trace_file_flush(lz_trace_file *f, const lz_trace_totals *e)
{
    if (f->text.len && f->out.live)
        write_out(f, e, false);
}

static void free_buffers(lz_trace_file *f)
{
    lz_buf_free(&f->text);
    lz_buf_free(&f->packed);
    end_pack(f);
}

lz_status lz_trace_file_close(lz_trace_file *f, const lz_trace_totals *e)
{
    write_out(f, e, true);
    bool failed = f->text.failed || f->packed.failed;
    free_buffers(f);
    return lz_outfile_end(&f->out,
                          failed ? LZ_FAIL(LZ_EMEM, "no memory for events of the trace %s", f->path)
                                 : LZ_OK);
}

void lz_trace_file_forget(lz_trace_file *f, bool whole)
{
    lz_outfile_forget(&f->out);
    if (whole)
        free_buffers(f);
}
