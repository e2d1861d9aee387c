/* f_wire.c - messages between processes: whatever is received is read within its bounds, and what
 * is accepted is written back as it was. */
#include "backends/distributed/wire.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool x)
{
    if (!x)
        abort();
}

/* What was read, written again, is what was given; texts may have lost what does not print. */
static void check(lz_buf *b, const uint8_t *data, size_t size, bool texts)
{
    must(!b->failed && b->len == size);
    if (!texts)
        must(memcmp(b->data, data, size) == 0);
    lz_buf_free(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static lz_wire_hello all[4];
    lz_wire_header h;
    lz_wire_arrive a;
    lz_wire_miss m;
    lz_wire_refuse no;
    lz_wire_note note;
    lz_error e;
    lz_buf b = {0};
    if (size < LZ_WIRE_HEADER)
        return 0;
    if (lz_wire_get_header(data, &h) == LZ_OK) {
        uint8_t out[LZ_WIRE_HEADER];
        lz_wire_put_header(out, &h);
        must(memcmp(out, data, sizeof out) == 0);
    }
    data += LZ_WIRE_HEADER;
    size -= LZ_WIRE_HEADER;
    if (lz_wire_get_hello(data, size, &all[0]) == LZ_OK) {
        lz_wire_put_hello(&b, &all[0]);
        check(&b, data, size, true);
    }
    if (lz_wire_get_table(data, size, all, 2) == LZ_OK) {
        lz_wire_put_table(&b, all, 2);
        check(&b, data, size, true);
    }
    if (lz_wire_get_refuse(data, size, &no) == LZ_OK) {
        lz_wire_put_refuse(&b, &no);
        check(&b, data, size, true);
    }
    if (lz_wire_get_arrive(data, size, &a) == LZ_OK) {
        must(a.group.n >= 2 && a.group.n <= LZ_WIRE_MEMBERS && strlen(a.what) < LZ_WIRE_TEXT);
        lz_wire_put_arrive(&b, &a);
        check(&b, data, size, true);
    }
    if (lz_wire_get_miss(data, size, &m) == LZ_OK) {
        must(m.status != LZ_OK);
        lz_wire_put_miss(&b, &m);
        check(&b, data, size, true);
    }
    if (lz_wire_get_note(data, size, &note) == LZ_OK) {
        lz_wire_put_note(&b, &note);
        check(&b, data, size, false);
    }
    lz_rd r = {data, data + size, false, false};
    lz_wire_get_outcome(&r, &e);
    if (!r.failed) {
        lz_wire_put_outcome(&b, &e);
        check(&b, data, (size_t)(r.p - data), true);
    }
    return 0;
}
