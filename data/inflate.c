/* inflate.c - zlib, by the piece: nothing is decompressed but what was asked for. */
#include "data/data_internal.h"
#include <zlib.h>

enum { PIECE = 1 << 30, FIRST_BYTES = 4 << 20 };

lz_status lz_inflate_begin(lz_inflater *f, const void *p, size_t n, bool gzip, const char *name)
{
    *f = (lz_inflater){.p = p, .end = (const uint8_t *)p + n, .gzip = gzip};
    f->z = lz_calloc(1, sizeof *f->z);
    f->state = f->z ? inflateInit2(f->z, gzip ? MAX_WBITS + 16 : -MAX_WBITS) : Z_MEM_ERROR;
    if (f->state == Z_OK)
        return LZ_OK;
    lz_free(f->z);
    f->z = NULL;
    return LZ_FAIL(LZ_EMEM, "%s: no memory to decompress", name);
}

/* Behind a gzip member may be zeros, and more members: the data are those of all (RFC 1952, 2.2).
 */
static bool next_member(lz_inflater *f)
{
    z_stream *z = f->z;
    if (!f->gzip || f->state != Z_STREAM_END)
        return false;
    const uint8_t *p = z->avail_in ? z->next_in : f->p;
    while (p < f->end && *p == 0)
        p++;
    bool more = f->end - p > 1 && p[0] == 0x1f && p[1] == 0x8b;
    if (p == f->end || more) {
        f->p = p;
        z->avail_in = 0;
    }
    if (more)
        f->state = inflateReset(z);
    return more && f->state == Z_OK;
}

size_t lz_inflate_read(lz_inflater *f, void *out, size_t n)
{
    z_stream *z = f->z;
    size_t got = 0;
    while (got < n && (f->state == Z_OK || next_member(f))) {
        if (!z->avail_in) {
            z->next_in = (Bytef *)f->p;
            z->avail_in = f->end - f->p < PIECE ? (uInt)(f->end - f->p) : PIECE;
            f->p += z->avail_in;
        }
        z->next_out = (Bytef *)out + got;
        uInt room = n - got < PIECE ? (uInt)(n - got) : PIECE;
        z->avail_out = room;
        f->state = inflate(z, Z_NO_FLUSH); /* Z_BUF_ERROR: no input left */
        got += room - z->avail_out;
    }
    return got;
}

lz_status lz_inflate_array(lz_inflater *f, lz_dtype d, const lz_shape *s, const char *name,
                           lz_array *out, size_t *got)
{
    size_t nbytes, used = 0;
    LZ_TRY(lz_data_size(d, s, name, &nbytes));
    size_t room = nbytes < FIRST_BYTES ? nbytes : FIRST_BYTES;
    lz_shape first = LZ_SHAPE((int64_t)room);
    LZ_TRY(lz_data_new(LZ_U8, &first, name, out));
    while ((used += lz_inflate_read(f, (uint8_t *)out->data + used, room - used)) == room &&
           room < nbytes) {
        size_t more = room < nbytes / 2 ? 2 * room : nbytes;
        lz_status st = lz_data_grow(out, used, more, name);
        if (st != LZ_OK) {
            lz_array_free(out);
            return st;
        }
        room = more;
    }
    out->dtype = d;
    out->shape = *s;
    out->nbytes = nbytes;
    *got = used;
    return LZ_OK;
}

bool lz_inflate_done(lz_inflater *f)
{
    uint8_t more;
    return lz_inflate_read(f, &more, 1) == 0 && f->state == Z_STREAM_END && !f->z->avail_in &&
           f->p == f->end;
}

void lz_inflate_end(lz_inflater *f)
{
    if (f->z)
        inflateEnd(f->z);
    lz_free(f->z);
    f->z = NULL;
}
