/* topology.c - which devices there are, without or with a client: the devices of one platform in
 * this process. Threads: a topology does not change. */
#include "base/alloc.h"
#include "base/config.h"
#include "base/fork.h"
#include "base/text.h"
#include "pjrt/plugin.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char lz_pjrt_platform[] = "lazuli";

/* ---- options ---- */

static bool is(const PJRT_NamedValue *v, const char *name)
{
    return v->name_size == strlen(name) && memcmp(v->name, name, v->name_size) == 0;
}

static lz_status read_platform(PJRT_TopologyDescription *t, const PJRT_NamedValue *v)
{
    char name[24];
    if (v->type != PJRT_STRING)
        return LZ_FAIL(LZ_EINVAL, "option platform is a string, not a value of type %d", v->type);
    (void)snprintf(name, sizeof name, "%.*s", (int)(v->value_size < 24 ? v->value_size : 23),
                   v->string_value);
    t->be = lz_backend_get(name);
    return t->be ? LZ_OK : LZ_FAIL(LZ_ENOENT, "option platform: there is no platform \"%s\"", name);
}

/* *count: how many are asked for. */
static lz_status read_count(const PJRT_NamedValue *v, int64_t *count)
{
    char n[24];
    *count = v->int64_value;
    if (v->type != PJRT_INT64 || v->int64_value < 1)
        return LZ_FAIL(LZ_EINVAL, "option num_devices is a positive integer");
    (void)snprintf(n, sizeof n, "%lld", (long long)v->int64_value);
    return lz_config_set("CPU_NUM_DEVICES", n);
}

static lz_status read_options(PJRT_TopologyDescription *t, const PJRT_NamedValue *v, size_t n,
                              int64_t *count)
{
    for (size_t i = 0; i < n; i++) {
        if (is(&v[i], "platform"))
            LZ_TRY(read_platform(t, &v[i]));
        else if (is(&v[i], "num_devices"))
            LZ_TRY(read_count(&v[i], count));
        else
            return LZ_FAIL(LZ_EINVAL, "no option \"%.*s\"; there are platform and num_devices",
                           (int)(v[i].name_size < 64 ? v[i].name_size : 64), v[i].name);
    }
    return LZ_OK;
}

/* ---- devices ---- */

static lz_status describe(const lz_backend *be, int32_t id, PJRT_DeviceDescription **out)
{
    lz_device_info info = {0};
    LZ_TRY(be->device_info(id, &info));
    PJRT_DeviceDescription *d = lz_calloc(1, sizeof *d);
    if (!d)
        return LZ_FAIL(LZ_EMEM, "no memory for a device");
    d->id = id;
    (void)snprintf(d->kind, sizeof d->kind, "%s", info.kind);
    (void)snprintf(d->debug, sizeof d->debug, "Lazuli%s(id=%d, %s)", be->name, id, info.kind);
    (void)snprintf(d->text, sizeof d->text, "Lazuli%sDevice(id=%d)", be->name, id);
    *out = d;
    return LZ_OK;
}

lz_status lz_pjrt_topology_open(PJRT_TopologyDescription *t, const PJRT_NamedValue *option,
                                size_t noption)
{
    t->be = lz_backend_at(0);
    int64_t count = 0;
    LZ_TRY(read_options(t, option, noption, &count));
    lz_fork_arm();
    LZ_TRY(t->be->init());
    int n = t->be->device_count();
    if (count && count != n)
        return LZ_FAIL(LZ_ESTATE, "option num_devices: %lld are wanted, but %s has started with %d",
                       (long long)count, t->be->name, n);
    if (n < 1)
        return LZ_FAIL(LZ_EUNAVAILABLE, "there is no %s device", t->be->name);
    t->descriptions = lz_calloc((size_t)n, sizeof *t->descriptions);
    if (!t->descriptions)
        return LZ_FAIL(LZ_EMEM, "no memory for %d devices", n);
    for (t->ndevice = 0; t->ndevice < n; t->ndevice++)
        LZ_TRY(describe(t->be, t->ndevice, &t->descriptions[t->ndevice]));
    (void)snprintf(t->version, sizeof t->version, "lazuli %d.%d.%d (%s)", LZ_VERSION_MAJOR,
                   LZ_VERSION_MINOR, LZ_VERSION_PATCH, t->be->name);
    return LZ_OK;
}

void lz_pjrt_topology_close(PJRT_TopologyDescription *t)
{
    for (int32_t i = 0; t->descriptions && i < t->ndevice; i++)
        lz_free(t->descriptions[i]);
    lz_free(t->descriptions);
    t->descriptions = NULL;
}

/* ---- the API ---- */

PJRT_Error *lz_pjrt_TopologyDescription_Create(PJRT_TopologyDescription_Create_Args *a)
{
    PJRT_TopologyDescription *t = lz_calloc(1, sizeof *t);
    if (!t)
        return lz_pjrt_error(PJRT_RESOURCE_EXHAUSTED, "no memory for a topology");
    lz_status s = lz_pjrt_topology_open(t, a->create_options, a->num_options);
    if (s != LZ_OK) {
        lz_pjrt_topology_close(t);
        lz_free(t);
        return lz_pjrt_failed();
    }
    a->topology = t;
    return NULL;
}

PJRT_Error *lz_pjrt_TopologyDescription_Destroy(PJRT_TopologyDescription_Destroy_Args *a)
{
    if (a->topology && !a->topology->of_client) {
        lz_pjrt_topology_close(a->topology);
        lz_free(a->topology);
    }
    return NULL;
}

LZ_PJRT_TEXT(TopologyDescription_PlatformName, platform_name, lz_pjrt_platform)
LZ_PJRT_TEXT(TopologyDescription_PlatformVersion, platform_version, a->topology->version)
LZ_PJRT_LIST(TopologyDescription_GetDeviceDescriptions, descriptions, a->topology->descriptions,
             num_descriptions, (size_t)a->topology->ndevice)
LZ_PJRT_LIST(TopologyDescription_Attributes, attributes, NULL, num_attributes, 0)

/* What tells topologies apart: the platform, its version, and the kinds of devices. */
static lz_status write_topology(const PJRT_TopologyDescription *t, lz_buf *b)
{
    lz_buf_printf(b, "%s\n%s\n%d\n", t->version, t->be->name, t->ndevice);
    for (int32_t i = 0; i < t->ndevice; i++)
        lz_buf_printf(b, "%s\n", t->descriptions[i]->kind);
    return b->failed ? LZ_FAIL(LZ_EMEM, "no memory for a topology") : LZ_OK;
}

PJRT_Error *lz_pjrt_TopologyDescription_Fingerprint(PJRT_TopologyDescription_Fingerprint_Args *a)
{
    lz_buf b = {0};
    lz_status s = write_topology(a->topology, &b);
    a->fingerprint = s == LZ_OK ? lz_hash_bytes(b.data, b.len).lo : 0;
    lz_buf_free(&b);
    return s == LZ_OK ? NULL : lz_pjrt_failed();
}

struct PJRT_SerializedTopology {
    lz_buf bytes;
};

static void free_serialized(PJRT_SerializedTopology *x)
{
    lz_buf_free(&x->bytes);
    lz_free(x);
}

PJRT_Error *lz_pjrt_TopologyDescription_Serialize(PJRT_TopologyDescription_Serialize_Args *a)
{
    PJRT_SerializedTopology *x = lz_calloc(1, sizeof *x);
    if (!x)
        return lz_pjrt_error(PJRT_RESOURCE_EXHAUSTED, "no memory for a topology");
    if (write_topology(a->topology, &x->bytes) != LZ_OK) {
        free_serialized(x);
        return lz_pjrt_failed();
    }
    a->serialized_topology = x;
    a->serialized_topology_deleter = free_serialized;
    a->serialized_bytes = x->bytes.data;
    a->serialized_bytes_size = x->bytes.len;
    return NULL;
}

/* A platform is all that a text says which this process can follow; it must be the same one then.
 */
PJRT_Error *lz_pjrt_TopologyDescription_Deserialize(PJRT_TopologyDescription_Deserialize_Args *a)
{
    const char *text = a->serialized_topology, *end = text + a->serialized_topology_size;
    const char *name = memchr(text, '\n', a->serialized_topology_size), *stop;
    name = name ? name + 1 : end;
    stop = memchr(name, '\n', (size_t)(end - name));
    if (!stop)
        return lz_pjrt_error(PJRT_INVALID_ARGUMENT, "no topology that Lazuli has written");
    PJRT_NamedValue platform = {.name = "platform",
                                .name_size = 8,
                                .type = PJRT_STRING,
                                .string_value = name,
                                .value_size = (size_t)(stop - name)};
    PJRT_TopologyDescription_Create_Args make = {.create_options = &platform, .num_options = 1};
    PJRT_Error *e = lz_pjrt_TopologyDescription_Create(&make);
    if (e)
        return e;
    lz_buf b = {0};
    lz_status s = write_topology(make.topology, &b);
    bool same =
        s == LZ_OK && b.len == a->serialized_topology_size && memcmp(b.data, text, b.len) == 0;
    lz_buf_free(&b);
    if (same) {
        a->topology = make.topology;
        return NULL;
    }
    PJRT_TopologyDescription_Destroy_Args end_it = {.topology = make.topology};
    (void)lz_pjrt_TopologyDescription_Destroy(&end_it);
    return s == LZ_OK ? lz_pjrt_error(PJRT_FAILED_PRECONDITION,
                                      "the topology is of other devices or of another version")
                      : lz_pjrt_failed();
}

/* ---- descriptions ---- */

LZ_PJRT_GIVES(DeviceDescription_Id, id, a->device_description->id)
LZ_PJRT_GIVES(DeviceDescription_ProcessIndex, process_index, 0)
LZ_PJRT_LIST(DeviceDescription_Attributes, attributes, NULL, num_attributes, 0)
LZ_PJRT_TEXT(DeviceDescription_Kind, device_kind, a->device_description->kind)
LZ_PJRT_TEXT(DeviceDescription_DebugString, debug_string, a->device_description->debug)
LZ_PJRT_TEXT(DeviceDescription_ToString, to_string, a->device_description->text)
