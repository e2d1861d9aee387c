/* client.c - the client of the C API, its devices and their memories. Threads: a client does not
 * change; what hosts attach to memories is under a lock. */
#include "base/alloc.h"
#include "base/callout.h"
#include "pjrt/plugin.h"
#include <stdio.h>
#include <string.h>

/* ---- memories ---- */

static const char memory_kind[] = "device";

static void *get_user_data(PJRT_Memory *memory, const void *key)
{
    lz_pjrt_memory *m = (lz_pjrt_memory *)memory;
    lz_mutex_lock(&m->lock);
    const lz_pjrt_user_data *d = m->data;
    while (d && d->key != key)
        d = d->next;
    void *data = d ? d->data : NULL;
    lz_mutex_unlock(&m->lock);
    return data;
}

static void set_user_data(PJRT_Memory *memory, const void *key, void *data, void (*dtor)(void *))
{
    lz_pjrt_memory *m = (lz_pjrt_memory *)memory;
    lz_pjrt_user_data *fresh = lz_alloc(sizeof *fresh), former = {0};
    lz_mutex_lock(&m->lock);
    lz_pjrt_user_data *d = m->data;
    while (d && d->key != key)
        d = d->next;
    if (!d && fresh) {
        d = fresh;
        fresh = NULL;
        *d = (lz_pjrt_user_data){.next = m->data, .key = key};
        m->data = d;
    }
    if (d) {
        former = *d;
        d->data = data;
        d->dtor = dtor;
    }
    lz_mutex_unlock(&m->lock);
    lz_free(fresh);
    if (former.dtor)
        LZ_CALL_OUT("a destructor of a memory's data")
    former.dtor(former.data);
}

static const PJRT_Memory_FunctionTable functions = {.struct_size = sizeof functions,
                                                    .instance_size = sizeof(lz_pjrt_memory),
                                                    .get_user_data = get_user_data,
                                                    .set_user_data = set_user_data};

static void end_memory(lz_pjrt_memory *m)
{
    while (m->data) {
        lz_pjrt_user_data d = *m->data;
        lz_free(m->data);
        m->data = d.next;
        if (d.dtor)
            LZ_CALL_OUT("a destructor of a memory's data")
        d.dtor(d.data);
    }
    lz_mutex_destroy(&m->lock);
}

/* ---- the client ---- */

static PJRT_Device *device_new(PJRT_Client *c, PJRT_DeviceDescription *about)
{
    PJRT_Device *d = lz_calloc(1, sizeof *d);
    if (!d) {
        (void)LZ_FAIL(LZ_EMEM, "no memory for a device");
        return NULL;
    }
    d->client = c;
    d->description = *about;
    lz_pjrt_memory *m = &d->memory;
    m->base.vtable = &functions;
    m->id = about->id;
    m->device = d;
    lz_mutex_init(&m->lock, "pjrt_memory");
    (void)snprintf(m->debug, sizeof m->debug, "memory of %.64s", about->text);
    (void)snprintf(m->text, sizeof m->text, "LazuliMemory(id=%d)", m->id);
    d->memories[0] = &m->base;
    return d;
}

static void client_free(PJRT_Client *c)
{
    for (int32_t i = 0; c->devices && i < c->topology.ndevice; i++)
        if (c->devices[i]) {
            end_memory(&c->devices[i]->memory);
            lz_free(c->devices[i]);
        }
    lz_free(c->devices);
    lz_free(c->memories);
    lz_pjrt_topology_close(&c->topology);
    lz_free(c);
}

static lz_status client_open(PJRT_Client *c, const PJRT_NamedValue *option, size_t noption)
{
    PJRT_TopologyDescription *t = &c->topology;
    t->of_client = true;
    LZ_TRY(lz_pjrt_topology_open(t, option, noption));
    c->devices = lz_calloc((size_t)t->ndevice, sizeof *c->devices);
    c->memories = lz_calloc((size_t)t->ndevice, sizeof *c->memories);
    if (!c->devices || !c->memories)
        return LZ_FAIL(LZ_EMEM, "no memory for %d devices", t->ndevice);
    for (int32_t i = 0; i < t->ndevice; i++) {
        c->devices[i] = device_new(c, t->descriptions[i]);
        if (!c->devices[i])
            return LZ_EMEM;
        c->memories[i] = c->devices[i]->memories[0];
    }
    return LZ_OK;
}

PJRT_Device *lz_pjrt_device_of(PJRT_Client *c, PJRT_Device *d, PJRT_Memory *m)
{
    return d ? d : m ? ((lz_pjrt_memory *)m)->device : c->devices[0];
}

PJRT_Error *lz_pjrt_Client_Create(PJRT_Client_Create_Args *a)
{
    PJRT_REACHES(a, client);
    PJRT_Client *c = lz_calloc(1, sizeof *c);
    if (!c)
        return lz_pjrt_error(PJRT_RESOURCE_EXHAUSTED, "no memory for a client");
    if (client_open(c, a->create_options, a->num_options) != LZ_OK) {
        client_free(c);
        return lz_pjrt_failed();
    }
    a->client = c;
    return NULL;
}

PJRT_Error *lz_pjrt_Client_Destroy(PJRT_Client_Destroy_Args *a)
{
    PJRT_Client *c = a->client;
    if (!c)
        return NULL;
    if (lz_queue_is_running())
        return lz_pjrt_error(PJRT_FAILED_PRECONDITION,
                             "a callback cannot destroy the client: it would wait for itself");
    /* not for programs that call the host: it may hold what they need (host_call.c) */
    for (int32_t i = 0; i < c->topology.ndevice && !lz_pjrt_host_calls_run(); i++)
        (void)c->topology.be->wait_all(i);
    client_free(c);
    return NULL;
}

LZ_PJRT_TEXT(Client_PlatformName, platform_name, lz_pjrt_platform)
LZ_PJRT_TEXT(Client_PlatformVersion, platform_version, a->client->topology.version)
LZ_PJRT_GIVES(Client_ProcessIndex, process_index, 0)
LZ_PJRT_LIST(Client_Devices, devices, a->client->devices, num_devices,
             (size_t)a->client->topology.ndevice)
LZ_PJRT_LIST(Client_AddressableDevices, addressable_devices, a->client->devices,
             num_addressable_devices, (size_t)a->client->topology.ndevice)

PJRT_Error *lz_pjrt_Client_LookupDevice(PJRT_Client_LookupDevice_Args *a)
{
    int32_t n = a->client->topology.ndevice;
    if (a->id < 0 || a->id >= n)
        return lz_pjrt_error(PJRT_INVALID_ARGUMENT, "no device %d: there are %d", a->id, n);
    a->device = a->client->devices[a->id];
    return NULL;
}

PJRT_Error *lz_pjrt_Client_LookupAddressableDevice(PJRT_Client_LookupAddressableDevice_Args *a)
{
    int32_t n = a->client->topology.ndevice;
    if (a->local_hardware_id < 0 || a->local_hardware_id >= n)
        return lz_pjrt_error(PJRT_INVALID_ARGUMENT,
                             "no device with local hardware id %d: there are %d",
                             a->local_hardware_id, n);
    a->addressable_device = a->client->devices[a->local_hardware_id];
    return NULL;
}

LZ_PJRT_LIST(Client_AddressableMemories, addressable_memories, a->client->memories,
             num_addressable_memories, (size_t)a->client->topology.ndevice)
LZ_PJRT_GIVES(Client_TopologyDescription, topology, &a->client->topology)

/* A row of partitions for each replica. */
PJRT_Error *lz_pjrt_Client_DefaultDeviceAssignment(PJRT_Client_DefaultDeviceAssignment_Args *a)
{
    int64_t n = (int64_t)a->num_replicas * a->num_partitions;
    if (a->num_replicas < 1 || a->num_partitions < 1 || n > a->client->topology.ndevice)
        return lz_pjrt_error(PJRT_INVALID_ARGUMENT, "%d replicas of %d partitions on %d devices",
                             a->num_replicas, a->num_partitions, a->client->topology.ndevice);
    if (a->default_assignment_size < (size_t)n)
        return lz_pjrt_error(PJRT_INVALID_ARGUMENT, "room for %zu devices, not %lld",
                             a->default_assignment_size, (long long)n);
    for (int32_t r = 0; r < a->num_replicas; r++)
        for (int32_t p = 0; p < a->num_partitions; p++)
            a->default_assignment[r * a->num_partitions + p] = r * a->num_partitions + p;
    return NULL;
}

/* ---- devices ---- */

LZ_PJRT_GIVES(Device_GetDescription, device_description, &a->device->description)
LZ_PJRT_GIVES(Device_IsAddressable, is_addressable, true)
LZ_PJRT_GIVES(Device_LocalHardwareId, local_hardware_id, a->device->description.id)
LZ_PJRT_LIST(Device_AddressableMemories, memories, a->device->memories, num_memories, 1)
LZ_PJRT_GIVES(Device_DefaultMemory, memory, &a->device->memory.base)

PJRT_Error *lz_pjrt_Device_MemoryStats(PJRT_Device_MemoryStats_Args *a)
{
    lz_device_info info = {0};
    PJRT_REACHES(a, bytes_limit_is_set);
    PJRT_TRY(a->device->client->topology.be->device_info(a->device->description.id, &info));
    size_t from = offsetof(PJRT_Device_MemoryStats_Args, bytes_in_use);
    memset((char *)a + from, 0, (a->struct_size < sizeof *a ? a->struct_size : sizeof *a) - from);
    a->bytes_in_use = (int64_t)info.memory_used;
    a->peak_bytes_in_use = (int64_t)info.memory_peak;
    a->peak_bytes_in_use_is_set = true;
    a->bytes_limit = (int64_t)info.memory_limit;
    a->bytes_limit_is_set = info.memory_limit > 0;
    return NULL;
}

static void nothing(PJRT_Device_Attributes *x)
{
    (void)x;
}

PJRT_Error *lz_pjrt_Device_GetAttributes(PJRT_Device_GetAttributes_Args *a)
{
    a->attributes = NULL;
    a->num_attributes = 0;
    a->device_attributes = NULL;
    a->attributes_deleter = nothing;
    return NULL;
}

/* ---- memories ---- */

LZ_PJRT_GIVES(Memory_Id, id, ((lz_pjrt_memory *)a->memory)->id)
LZ_PJRT_TEXT(Memory_Kind, kind, memory_kind)
LZ_PJRT_GIVES(Memory_Kind_Id, kind_id, 0)
LZ_PJRT_TEXT(Memory_DebugString, debug_string, ((lz_pjrt_memory *)a->memory)->debug)
LZ_PJRT_TEXT(Memory_ToString, to_string, ((lz_pjrt_memory *)a->memory)->text)
LZ_PJRT_LIST(Memory_AddressableByDevices, devices, &((lz_pjrt_memory *)a->memory)->device,
             num_devices, 1)
