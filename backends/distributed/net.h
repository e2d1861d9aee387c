/* net.h - sockets whose every call ends: at a deadline (lz_now_ns) at the latest, but that the
 * system looks up names of hosts within limits of its own. Descriptors are
 * close-on-exec and do not block; a peer that has gone is an error, never a signal.
 * Threads: thread-safe; a socket belongs to one thread. */
#ifndef LZ_BACKENDS_DISTRIBUTED_NET_H
#define LZ_BACKENDS_DISTRIBUTED_NET_H
#include "backends/distributed/wire.h"

/* Listens at a host's address (a name, or a number) and port; 0: any port. Where the address is
 * not this machine's (of a proxy), at all. Errors: LZ_EUNAVAILABLE with the reason. */
lz_status lz_net_listen(const char *host, int port, int *fd);
/* The same at this address alone, which is this machine's. */
lz_status lz_net_listen_strictly(const char *host, int port, int *fd);
/* Takes over a socket that listens already, if it does. */
lz_status lz_net_adopt(int fd);
/* Again and again, as long as nobody listens there. LZ_ETIMEOUT; LZ_EUNAVAILABLE. */
lz_status lz_net_connect(const char *host, int port, int64_t deadline, int *fd);
lz_status lz_net_accept(int listener, int64_t deadline, int *fd);
/* LZ_ETIMEOUT; LZ_EIO: the other end has gone. */
lz_status lz_net_send(int fd, lz_wire_type type, uint32_t tag, const lz_buf *payload,
                      int64_t deadline);
/* A message of control; payload: its bytes, replaced. Also LZ_EPARSE. */
lz_status lz_net_receive(int fd, lz_wire_header *h, lz_buf *payload, int64_t deadline);
/* Whether the other end has closed it, or has gone. */
bool lz_net_is_closed(int fd);
/* The number of a socket's port, or -1; the address of this end or the other, as text. */
int lz_net_port(int fd);
void lz_net_address(int fd, bool other, char *text, size_t n);
/* Closes it and sets *fd to -1. */
void lz_net_close(int *fd);
#endif
