/* transport_mpi.c - MPI between processes, without its headers: the library is opened when
 * processes join, and a table of handles says how its values are passed: addresses of objects in
 * Open MPI, numbers in MPICH and its kin. Four functions carry everything (Isend, Irecv, Test,
 * Cancel), none of which blocks; sums are formed here, so results do not depend on the library.
 * Threads: MPI_THREAD_SERIALIZED is asked for: one lock around every call. */
#include "backends/distributed/processes.h"
#include "base/config.h"
#include "base/thread.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SERIALIZED = 2 };

typedef uintptr_t handle; /* of a communicator or a type: a pointer, or a number in its low half */

typedef struct mpi_api {
    int (*Init_thread)(int *argc, char ***argv, int required, int *provided);
    int (*Initialized)(int *flag);
    int (*Finalized)(int *flag);
    int (*Finalize)(void);
    int (*Query_thread)(int *provided);
    int (*Comm_rank)(handle comm, int *rank);
    int (*Comm_size)(handle comm, int *size);
    int (*Comm_idup)(handle comm, handle *out, uint64_t *request);
    int (*Comm_set_errhandler)(handle comm, handle errhandler);
    int (*Isend)(const void *p, int n, handle type, int to, int tag, handle comm,
                 uint64_t *request);
    int (*Irecv)(void *p, int n, handle type, int from, int tag, handle comm, uint64_t *request);
    int (*Test)(uint64_t *request, int *done, void *status);
    int (*Cancel)(uint64_t *request);
} mpi_api;

static const lz_symbol symbols[] = {
#define MPI_FN(name)                                                                               \
    {                                                                                              \
        "MPI_" #name, offsetof(mpi_api, name), false                                               \
    }
    MPI_FN(Init_thread), MPI_FN(Initialized),  MPI_FN(Finalized),
    MPI_FN(Finalize),    MPI_FN(Query_thread), MPI_FN(Comm_rank),
    MPI_FN(Comm_size),   MPI_FN(Comm_idup),    MPI_FN(Comm_set_errhandler),
    MPI_FN(Isend),       MPI_FN(Irecv),        MPI_FN(Test),
    MPI_FN(Cancel),
#undef MPI_FN
};

static struct {
    lz_once once;
    lz_mutex lock;
    uint32_t kind; /* 0: there is none; 1 Open MPI, 2 MPICH */
    const char *why;
    char reason[LZ_TRANSPORT_REASON];
    mpi_api api;
    handle world, byte, errors_return, comm;
    void *ignore;  /* MPI_STATUS_IGNORE */
    bool ours;     /* it was started here, and must be ended here */
    bool ended;    /* nothing may be called any more */
    uint32_t open; /* transfers that are not over */
} mpi = {.once = LZ_ONCE_INIT, .lock = LZ_MUTEX_INIT("mpi")};

/* ---- the library ---- */

static void set_handles(void *h)
{
    void *world = dlsym(h, "ompi_mpi_comm_world");
    if (world) {
        mpi.world = (handle)world;
        mpi.byte = (handle)dlsym(h, "ompi_mpi_byte");
        mpi.errors_return = (handle)dlsym(h, "ompi_mpi_errors_return");
        mpi.ignore = NULL;
        mpi.kind = mpi.byte && mpi.errors_return ? 1 : 0;
        if (!mpi.kind)
            mpi.why = "the MPI library has no ompi_mpi_byte, or no ompi_mpi_errors_return";
    } else {
        mpi.world = 0x44000000;
        mpi.byte = 0x4c00010d;
        mpi.errors_return = 0x54000001;
        mpi.ignore = (void *)1;
        mpi.kind = 2;
    }
}

/* Open MPI's plugins need its symbols, so they are global. */
static void load(void)
{
    const lz_process_info *p;
    const char *name = lz_cfg_str(LZ_OPT_MPI);
    mpi.why = mpi.reason;
    if (lz_process_info_get(&p) != LZ_OK) {
        snprintf(mpi.reason, sizeof mpi.reason, "%.200s", lz_error_get()->message);
        return;
    }
    bool open_mpi = p->launcher == LZ_LAUNCHER_OPENMPI, mpich = p->launcher == LZ_LAUNCHER_MPICH;
    if (!*name && !open_mpi && !mpich) {
        mpi.why = "processes were not started by an MPI launcher (mpirun)";
        return;
    }
    name = *name ? name : open_mpi ? "libmpi.so.40" : "libmpich.so.12";
    void *h =
        lz_transport_library(name, mpich ? "libmpich12" : "libopenmpi3", RTLD_NOW | RTLD_GLOBAL,
                             symbols, sizeof symbols / sizeof *symbols, &mpi.api, mpi.reason);
    if (h)
        set_handles(h);
}

static void load_once(void)
{
    LZ_QUIETLY {
        load();
    }
}

static uint32_t offer(const char **why)
{
    lz_once_run(&mpi.once, load_once);
    *why = mpi.why;
    return mpi.kind;
}

/* ---- starting ---- */

/* A communicator of our own: messages of the program's MPI calls are others. */
static lz_status duplicate_world(void)
{
    uint64_t request = 0;
    int done = 0;
    int64_t since = lz_now_ns();
    (void)mpi.api.Comm_set_errhandler(mpi.world, mpi.errors_return);
    if (mpi.api.Comm_idup(mpi.world, &mpi.comm, &request) != 0)
        return LZ_FAIL(LZ_EUNAVAILABLE, "MPI_Comm_idup failed");
    while (!done) {
        if (mpi.api.Test(&request, &done, mpi.ignore) != 0)
            return LZ_FAIL(LZ_EUNAVAILABLE, "MPI_Comm_idup failed");
        if (!done && lz_now_ns() - since > INT64_C(60000000000))
            return LZ_FAIL(LZ_ETIMEOUT, "MPI_Comm_idup did not end within a minute");
        if (!done)
            (void)nanosleep(&(struct timespec){0, 50000}, NULL);
    }
    (void)mpi.api.Comm_set_errhandler(mpi.comm, mpi.errors_return);
    return LZ_OK;
}

static lz_status start_mpi(uint32_t rank, uint32_t size)
{
    int flag = 0, provided = 0, is = -1, of = -1;
    (void)mpi.api.Finalized(&flag);
    if (flag)
        return LZ_FAIL(LZ_EUNAVAILABLE, "the program has called MPI_Finalize");
    (void)mpi.api.Initialized(&flag);
    if (flag) {
        (void)mpi.api.Query_thread(&provided);
    } else {
        if (mpi.api.Init_thread(NULL, NULL, SERIALIZED, &provided) != 0)
            return LZ_FAIL(LZ_EUNAVAILABLE, "MPI_Init_thread failed");
        mpi.ours = true;
    }
    if (provided < SERIALIZED)
        return LZ_FAIL(LZ_EUNAVAILABLE,
                       "MPI was started for one thread; MPI_Init_thread with MPI_THREAD_SERIALIZED "
                       "or MPI_THREAD_MULTIPLE is needed");
    if (mpi.api.Comm_rank(mpi.world, &is) != 0 || mpi.api.Comm_size(mpi.world, &of) != 0 ||
        is != (int)rank || of != (int)size)
        return LZ_FAIL(LZ_EUNAVAILABLE,
                       "MPI says rank %d of %d, the launcher's environment %u of %u", is, of, rank,
                       size);
    return duplicate_world();
}

static lz_status start(uint32_t rank, uint32_t size, lz_buf *address)
{
    (void)address;
    lz_mutex_lock(&mpi.lock);
    lz_status s = start_mpi(rank, size);
    lz_mutex_unlock(&mpi.lock);
    return s;
}

/* Where somebody is lost it may never return. */
static void end(bool lost)
{
    int flag = 0;
    if (!mpi.ours || lost)
        return;
    lz_mutex_lock(&mpi.lock);
    (void)mpi.api.Finalized(&flag);
    mpi.ended = true;
    if (!flag && !mpi.open) /* with messages under way it may never return */
        (void)mpi.api.Finalize();
    lz_mutex_unlock(&mpi.lock);
}

/* ---- transfers ---- */

static lz_status post(lz_transfer *t, uint32_t peer, uint32_t tag, void *p, size_t nbytes,
                      bool sends)
{
    *t = (lz_transfer){.peer = peer, .tag = tag, .at = p, .nbytes = nbytes, .sends = sends};
    lz_mutex_lock(&mpi.lock);
    int rc =
        mpi.ended ? -1
        : sends
            ? mpi.api.Isend(p, (int)nbytes, mpi.byte, (int)peer, (int)tag, mpi.comm, &t->request)
            : mpi.api.Irecv(p, (int)nbytes, mpi.byte, (int)peer, (int)tag, mpi.comm, &t->request);
    mpi.open += rc == 0;
    lz_mutex_unlock(&mpi.lock);
    return rc == 0 ? LZ_OK
                   : LZ_FAIL(LZ_EIO, "%s to %s failed (%d)", sends ? "MPI_Isend" : "MPI_Irecv",
                             lz_processes_get(peer)->name, rc);
}

static lz_status post_send(lz_transfer *t, uint32_t to, uint32_t tag, const void *p, size_t nbytes)
{
    return post(t, to, tag, (void *)p, nbytes, true);
}

static lz_status post_receive(lz_transfer *t, uint32_t from, uint32_t tag, void *p, size_t nbytes)
{
    return post(t, from, tag, p, nbytes, false);
}

static lz_status test(lz_transfer *t, bool *done)
{
    int flag = 0;
    lz_mutex_lock(&mpi.lock);
    int rc = t->over ? 0 : mpi.ended ? -1 : mpi.api.Test(&t->request, &flag, mpi.ignore);
    mpi.open -= flag != 0;
    lz_mutex_unlock(&mpi.lock);
    if (flag)
        t->over = 1;
    *done = t->over != 0;
    return rc == 0
               ? LZ_OK
               : LZ_FAIL(LZ_EIO, "MPI_Test of %s failed (%d)", lz_processes_get(t->peer)->name, rc);
}

/* A receive that nobody has sent to is cancelled at once. MPI may go on reading what is being sent
 * to a process that does not answer. */
static bool cancel(lz_transfer *t)
{
    int flag = 0;
    if (t->over)
        return true;
    lz_mutex_lock(&mpi.lock);
    if (mpi.ended)
        t->request = 0;
    else if (!t->sends && mpi.api.Cancel(&t->request) != 0)
        t->request = 0;
    for (int i = 0; i < 1000 && !flag && t->request; i++)
        (void)mpi.api.Test(&t->request, &flag, mpi.ignore);
    mpi.open -= flag != 0;
    lz_mutex_unlock(&mpi.lock);
    t->over = flag ? 2 : 0;
    return flag != 0;
}

const lz_transport lz_transport_mpi = {
    .name = "mpi",
    .title = "MPI",
    .polls = true,
    .last_tag = 32767, /* the least that the standard allows */
    .offer = offer,
    .start = start,
    .send = post_send,
    .receive = post_receive,
    .test = test,
    .cancel = cancel,
    .end = end,
    .end_together = true,
};
