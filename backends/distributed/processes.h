/* processes.h - the processes of the job, once they have joined: a socket between any two, one
 * thread that reads and writes them all, who there is and who has gone. A program of one process
 * opens nothing.
 * A process is `live`; it is `ending` once it has said that it ends, and `gone` when its socket is
 * closed or says what cannot be. What was received before is still there.
 * Threads: thread-safe. */
#ifndef LZ_BACKENDS_DISTRIBUTED_PROCESSES_H
#define LZ_BACKENDS_DISTRIBUTED_PROCESSES_H
#include "backends/distributed/launcher.h"
#include "backends/distributed/transport.h"
#include "backends/distributed/wire.h"
#include "base/mutex.h"

typedef enum lz_process_state {
    LZ_PROCESS_LIVE,
    LZ_PROCESS_ENDING,
    LZ_PROCESS_GONE
} lz_process_state;

typedef struct lz_process {
    uint32_t rank, pid, ndevice, first; /* its devices are first..first + ndevice - 1 */
    int host;                           /* index: hosts are counted as their first ranks come */
    int local;                          /* place among those of its host */
    char name[96];                      /* "rank 2 (node1, pid 123)" */
} lz_process;

/* Joins, with so many devices of this process, at the first call; the others wait for it, and get
 * its error. Errors: LZ_ETIMEOUT names who is missing; LZ_EINVAL what does not fit;
 * LZ_EUNAVAILABLE; LZ_EMEM. */
lz_status lz_processes_join(uint32_t ndevice);
/* What follows is of processes that have joined. */
uint32_t lz_processes_count(void);
uint32_t lz_processes_self(void);
uint32_t lz_processes_devices(void); /* of all */
const lz_process *lz_processes_get(uint32_t rank);
/* The process that has the device. */
const lz_process *lz_processes_of_device(uint32_t device);
int lz_processes_hosts(void);
const lz_transport *lz_processes_transport(void);

/* Calls fn with each message LZ_WIRE_ARRIVE and LZ_WIRE_MISS, on the thread of the sockets, with no
 * lock held; false: it cannot be, and the sender is lost. Before the join. */
typedef bool lz_process_message(uint32_t from, lz_wire_type type, const void *p, size_t n);
void lz_processes_listen(lz_process_message *fn);
/* Takes over the payload. Nobody waits. Nothing is sent to who has gone. LZ_EMEM. */
lz_status lz_processes_send(uint32_t to, lz_wire_type type, lz_buf *payload);

lz_process_state lz_processes_state(uint32_t rank);
/* A transport has lost it: it is gone. */
void lz_processes_lose(uint32_t rank);
/* Whether it has said that it ends: then it is not gone by accident. */
bool lz_processes_said_bye(uint32_t rank);
/* When something came from it last (lz_now_ns). */
int64_t lz_processes_heard(uint32_t rank);
/* Fails with LZ_ETIMEOUT: "ABOUT: rank 2 (node1, pid 123) has not WHAT within 300 s (..)", or that
 * it is gone. */
lz_status lz_processes_missing(uint32_t rank, const char *about, const char *what);
/* Rings whenever a message, a transfer or a state has changed: read it, look, wait. */
uint32_t lz_processes_bell(void);
void lz_processes_ring(void);
void lz_processes_wait(uint32_t seen, int64_t timeout_ns);
#endif
