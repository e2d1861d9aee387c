/* watch_client.h - a question to the server of a process (runtime/watch/message.h). */
#ifndef LZ_TOOLS_LAZULI_WATCH_CLIENT_H
#define LZ_TOOLS_LAZULI_WATCH_CLIENT_H
#include "runtime/watch/message.h"

typedef struct watch_address {
    char host[256];
    int port;
} watch_address;
/* "HOST:PORT", "[IPV6]:PORT"; false after a message. */
bool watch_parse(const char *text, watch_address *out);
/* Connects and asks. LZ_ETIMEOUT, LZ_EUNAVAILABLE, LZ_EIO. */
lz_status watch_ask(const watch_address *a, lz_watch_what what, uint32_t duration_ms, int *fd);
/* The next message, which is of one of the types (`other` may be the same one); what the server
 * refuses is its error. Also LZ_EPARSE. */
lz_status watch_answer(int fd, lz_wire_type type, lz_wire_type other, lz_wire_type *got,
                       lz_buf *payload);
#endif
