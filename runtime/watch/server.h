/* server.h - a socket at which others ask about this process: runtime/watch/message.h. It reads
 * statistics and captures traces, and there is nothing else that it can do. One thread accepts, and
 * each of at most LZ_SERVER_CONNECTIONS connections has one; who asks for too much, too slowly, or
 * what is unknown is refused. A forked child has no server.
 * Threads: thread-safe. */
#ifndef LZ_RUNTIME_WATCH_SERVER_H
#define LZ_RUNTIME_WATCH_SERVER_H
#include "base/status.h"

enum { LZ_SERVER_CONNECTIONS = 4 };
/* port 0: any. LZ_ESTATE: there is one; LZ_EUNAVAILABLE, LZ_EMEM. */
lz_status lz_server_start(const char *host, int port);
int lz_server_bound(void); /* its port; 0: there is none */
/* Ends the connections. LZ_ESTATE: there is none. */
lz_status lz_server_end(void);
/* The server that LAZULI_SERVER asks for, once. */
void lz_server_ask(void);
#endif
