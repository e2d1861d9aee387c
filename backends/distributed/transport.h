/* transport.h - how bytes get from one process to another: one row of functions for each way. The
 * receiver posts first and tells the sender its tag (LZ_WIRE_ARRIVE), so nothing comes unexpected.
 * Nothing blocks; who waits, waits in lz_processes_wait, and, of a transport that polls, looks
 * again after a while. Threads: thread-safe; a transfer belongs to who posted it. */
#ifndef LZ_BACKENDS_DISTRIBUTED_TRANSPORT_H
#define LZ_BACKENDS_DISTRIBUTED_TRANSPORT_H
#include "base/process_end.h"
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
    const char *title; /* as messages have it */
    bool polls;        /* nobody rings when a transfer is done, and cancel may be refused */
    uint32_t last_tag; /* the largest tag; they are used in turn */
    /* Whether it can be used here: what it is, equal in processes that can use it together; 0: it
     * cannot, *why says why. NULL: always, and there is nothing to start. */
    uint32_t (*offer)(const char **why);
    /* Starts it; all processes do. address: what the others need to know of this one, where there
     * is `connect`. LZ_EUNAVAILABLE. */
    lz_status (*start)(uint32_t rank, uint32_t size, lz_buf *address);
    /* Connects to all others (theirs[rank]), and waits until each has heard each, until the
     * deadline at most, or one of the sockets to them is closed. LZ_EUNAVAILABLE names who cannot
     * be reached. NULL: its start does that. */
    lz_status (*connect)(const lz_buf *theirs, const int *sockets, int64_t deadline);
    /* Errors: LZ_EIO: the peer has gone. p lives until the transfer is over. */
    lz_status (*send)(lz_transfer *t, uint32_t to, uint32_t tag, const void *p, size_t nbytes);
    lz_status (*receive)(lz_transfer *t, uint32_t from, uint32_t tag, void *p, size_t nbytes);
    lz_status (*test)(lz_transfer *t, bool *done);
    /* Whether its memory, and the transfer, are not touched any more: true of sockets. Of what is
     * done already, nothing happens. */
    bool (*cancel)(lz_transfer *t);
    /* In the last breath of the process, or when a join has failed or given it up (then lost);
     * lost: some have gone without a word. NULL: nothing needs to be ended. end_together: when all
     * end, or some are lost. */
    void (*end)(bool lost);
    bool end_together;
} lz_transport;

extern const lz_transport lz_transport_sockets; /* processes.c */
extern const lz_transport lz_transport_mpi;     /* transport_mpi.c */
extern const lz_transport lz_transport_ucx;     /* transport_ucx.c */
/* In the order in which they are preferred, but for sockets, which are what is left. */
enum { LZ_TRANSPORT_SOCKETS, LZ_TRANSPORT_MPI, LZ_TRANSPORT_UCX, LZ_TRANSPORTS };
const lz_transport *lz_transport_of(uint32_t transport); /* sockets, if there is none such */
uint32_t lz_transport_named(const char *name);           /* LZ_TRANSPORTS: there is none */
/* The first that can be used here, and is what LAZULI_TRANSPORT wants, and its offer. */
uint32_t lz_transport_choose(uint32_t *offer);

/* Opens the library of a transport, and fills in its table. NULL: it is not there, or has not all,
 * as the reason says. package: Debian's, which has it. */
enum { LZ_TRANSPORT_REASON = 256 };
void *lz_transport_library(const char *name, const char *package, int flags, const lz_symbol *all,
                           size_t n, void *table, char reason[LZ_TRANSPORT_REASON]);
#endif
