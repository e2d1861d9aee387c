/* watch_client.c - see watch_client.h. */
#include "tools/lazuli/watch_client.h"
#include "backends/distributed/net.h"
#include "base/text.h"
#include "base/thread.h"
#include "tools/lazuli/tool.h"
#include <string.h>

enum { CONNECT_S = 3, ANSWER_S = 10 };

static int64_t soon(int64_t seconds)
{
    return lz_now_ns() + seconds * 1000000000;
}

bool watch_parse(const char *text, watch_address *out)
{
    const char *colon = strrchr(text, ':');
    size_t n = colon ? (size_t)(colon - text) : 0;
    uint64_t port;
    bool brackets = n > 2 && text[0] == '[' && text[n - 1] == ']';
    if (n == 0 || n >= sizeof out->host ||
        lz_text_u64(colon + 1, strlen(colon + 1), 10, UINT16_MAX, &port) != LZ_OK || port == 0) {
        tool_usage("'%s' is no HOST:PORT", text);
        return false;
    }
    memcpy(out->host, brackets ? text + 1 : text, brackets ? n - 2 : n);
    out->host[brackets ? n - 2 : n] = '\0';
    out->port = (int)port;
    return true;
}

lz_status watch_ask(const watch_address *a, lz_watch_what what, uint32_t duration_ms, int *fd)
{
    lz_buf b = {0};
    LZ_TRY(lz_net_connect(a->host, a->port, soon(CONNECT_S), fd));
    lz_watch_put_ask(&b, &(lz_watch_ask){LZ_WATCH_VERSION, what, duration_ms});
    lz_status s = lz_net_send(*fd, LZ_WIRE_ASK, 0, &b, soon(ANSWER_S));
    lz_buf_free(&b);
    if (s != LZ_OK)
        lz_net_close(fd);
    return s;
}

lz_status watch_answer(int fd, lz_wire_type type, lz_wire_type other, lz_wire_type *got,
                       lz_buf *payload)
{
    lz_wire_header h;
    lz_wire_refuse no;
    LZ_TRY(lz_net_receive(fd, &h, payload, soon(ANSWER_S)));
    if (h.type == LZ_WIRE_REFUSE) {
        LZ_TRY(lz_wire_get_refuse(payload->data, payload->len, &no));
        return LZ_FAIL(no.status != LZ_OK ? no.status : LZ_EIO, "%s", no.text);
    }
    if (h.type != type && h.type != other)
        return LZ_FAIL(LZ_EPARSE, "the answer is of another kind than the question");
    *got = h.type;
    return LZ_OK;
}
