/* transport.h - how bytes get from one process to another: one row of functions for each way. The
 * receiver posts first and tells the sender its tag (LZ_WIRE_ARRIVE), so nothing comes unexpected.
 * Nothing blocks; who waits, waits in lz_processes_wait, and, of a transport that polls, looks
 * again after a while. Threads: thread-safe; a transfer belongs to who posted it. */
#ifndef LZ_BACKENDS_DISTRIBUTED_TRANSPORT_H
#define LZ_BACKENDS_DISTRIBUTED_TRANSPORT_H
#include "base/status.h"
#include "base/vec.h"
#include <stdatomic.h>
#include <stdbool.h>

enum { LZ_TRANSFER_MAX = 1 << 30 }; /* bytes of one transfer */

/* One message on its way. Must stay where it is until it is done or cancelled. */
typedef struct lz_transfer lz_transfer;
struct lz_transfer {
    lz_transfer *next;
    uint32_t peer, tag;
    char *at;
    size_t nbytes, moved;
    bool sends;
    _Atomic uint32_t over; /* 0, or 1 done, 2 failed or cancelled */
    uint64_t request;      /* of MPI and UCX */
};

typedef struct lz_transport {
    const char *name;  /* as LAZULI_TRANSPORT has it */
    bool polls;        /* nobody rings when a transfer is done, and cancel may be refused */
    uint32_t last_tag; /* the largest tag; they are used in turn */
    /* Errors: LZ_EIO: the peer has gone. p lives until the transfer is over. */
    lz_status (*send)(lz_transfer *t, uint32_t to, uint32_t tag, const void *p, size_t nbytes);
    lz_status (*receive)(lz_transfer *t, uint32_t from, uint32_t tag, void *p, size_t nbytes);
    lz_status (*test)(lz_transfer *t, bool *done);
    /* Whether its memory, and the transfer, are not touched any more: true of sockets. Of what is
     * done already, nothing happens. */
    bool (*cancel)(lz_transfer *t);
    /* In the last breath of the process; lost: some have gone without a word. NULL: nothing needs
     * to be ended. end_together: when all end, or some are lost. */
    void (*end)(bool lost);
    bool end_together;
} lz_transport;

extern const lz_transport lz_transport_sockets; /* processes.c */
extern const lz_transport lz_transport_mpi;     /* transport_mpi.c */
extern const lz_transport lz_transport_ucx;     /* transport_ucx.c */
enum { LZ_TRANSPORT_SOCKETS, LZ_TRANSPORT_MPI, LZ_TRANSPORT_UCX, LZ_TRANSPORTS };

/* Whether MPI can be used here as the transport: the launcher is one of its, and the library is
 * there. What it is: equal in processes that can use it together; 0: it cannot, *why says why. */
uint32_t lz_mpi_offer(const char **why);
/* Starts it; all processes do. LZ_EUNAVAILABLE. */
lz_status lz_mpi_start(uint32_t rank, uint32_t size);

/* The same of UCX, for processes that no MPI launcher has started. */
uint32_t lz_ucx_offer(const char **why);
/* Starts it; address: what the other processes need to know of this one. LZ_EUNAVAILABLE. */
lz_status lz_ucx_start(uint32_t rank, uint32_t size, lz_buf *address);
/* Connects to all others (theirs[rank]), and waits until each has heard each, until the deadline at
 * most, or one of the sockets to them is closed. LZ_EUNAVAILABLE names who cannot be reached. */
lz_status lz_ucx_connect(const lz_buf *theirs, const int *sockets, int64_t deadline);
#endif
