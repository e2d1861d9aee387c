/* process.c - the processes of a job: <lazuli/replicas.h>.
 * Threads: thread-safe. */
#include "backends/distributed/processes.h"
#include "runtime/exec/runtime_device.h"
#include <lazuli/device.h>
#include <lazuli/replicas.h>

static int fail(const char *op)
{
    lz_error_annotate(op, NULL);
    return -1;
}

int lz_process_index(void)
{
    LZ_PUBLIC(-1);
    const lz_process_info *p;
    return lz_process_info_get(&p) == LZ_OK ? p->index : fail("lz_process_index");
}

int lz_process_count(void)
{
    LZ_PUBLIC(-1);
    const lz_process_info *p;
    return lz_process_info_get(&p) == LZ_OK ? p->count : fail("lz_process_count");
}

/* Joins, with the devices of the thread's platform. NULL: the process is alone. */
static lz_status join(const lz_process **self)
{
    const lz_process_info *p;
    int n, first;
    *self = NULL;
    LZ_TRY(lz_process_info_get(&p));
    if (p->count == 1)
        return LZ_OK;
    lz_dev *d = lz_dev_current();
    if (!d)
        return lz_error_get()->status;
    if (!d->be->world)
        return LZ_FAIL(LZ_EUNSUPPORTED, "the devices of %s are those of one process", d->be->name);
    LZ_TRY(lz_dev_world(d, &n, &first));
    *self = lz_processes_get(lz_processes_self());
    return LZ_OK;
}

static int local_count(const lz_process *self)
{
    int n = 0;
    for (uint32_t i = 0; i < lz_processes_count(); i++)
        n += lz_processes_get(i)->host == self->host;
    return n;
}

int lz_local_process_index(void)
{
    LZ_PUBLIC(-1);
    const lz_process_info *p;
    const lz_process *self;
    if (lz_process_info_get(&p) == LZ_OK && p->local_index >= 0)
        return p->local_index;
    return join(&self) == LZ_OK ? (self ? self->local : 0) : fail("lz_local_process_index");
}

int lz_local_process_count(void)
{
    LZ_PUBLIC(-1);
    const lz_process_info *p;
    const lz_process *self;
    if (lz_process_info_get(&p) == LZ_OK && p->local_count >= 0)
        return p->local_count;
    return join(&self) == LZ_OK ? (self ? local_count(self) : 1) : fail("lz_local_process_count");
}

int lz_host_index(void)
{
    LZ_PUBLIC(-1);
    const lz_process *self;
    return join(&self) == LZ_OK ? (self ? self->host : 0) : fail("lz_host_index");
}

int lz_host_count(void)
{
    LZ_PUBLIC(-1);
    const lz_process *self;
    return join(&self) == LZ_OK ? (self ? lz_processes_hosts() : 1) : fail("lz_host_count");
}

int lz_local_devices(void)
{
    LZ_PUBLIC(-1);
    const lz_dev *d = lz_dev_current();
    int n = d ? d->be->device_count() : -1;
    return n >= 0 ? n : fail("lz_local_devices");
}

int lz_global_device_count(void)
{
    LZ_PUBLIC(-1);
    const lz_dev *d = lz_dev_current();
    int n, first;
    return d && lz_dev_world(d, &n, &first) == LZ_OK ? n : fail("lz_global_device_count");
}
