/* client.c - a plugin's client: made once, with the devices it has. Threads: thread-safe. */
#include "backends/pjrt/client.h"
#include "base/alloc.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- creating ---- */

static PJRT_NamedValue named(const lz_plugin_setting *s)
{
    PJRT_NamedValue v = {.struct_size = sizeof v,
                         .name = s->name,
                         .name_size = strlen(s->name),
                         .type = (int32_t)s->type,
                         .value_size = 1};
    switch (s->type) {
    case LZ_PLUGIN_TEXT:
        v.string_value = s->text;
        v.value_size = strlen(s->text);
        break;
    case LZ_PLUGIN_INTEGER:
        v.int64_value = s->integers[0];
        break;
    case LZ_PLUGIN_INTEGERS:
        v.int64_array_value = s->integers;
        v.value_size = s->count;
        break;
    case LZ_PLUGIN_NUMBER:
        v.float_value = (float)s->number;
        break;
    case LZ_PLUGIN_FLAG:
        v.bool_value = s->integers[0] != 0;
        break;
    }
    return v;
}

static lz_status broken(const lz_plugin *p, const char *what)
{
    return LZ_FAIL(LZ_EUNAVAILABLE, "plugin %s: %s", p->name, what);
}

static lz_status create(lz_plugin *p)
{
    uint32_t n = p->config.nsetting;
    PJRT_NamedValue *values = lz_calloc((size_t)n + 1, sizeof *values);
    if (!values)
        return LZ_FAIL(LZ_EMEM, "no memory for %u options of plugin %s", n, p->name);
    for (uint32_t i = 0; i < n; i++)
        values[i] = named(&p->config.setting[i]);
    LZ_PLUGIN_ARGS(x, Client_Create, .create_options = values, .num_options = n);
    lz_status s = LZ_PLUGIN_CALL(p, Client_Create, x);
    lz_free(values);
    LZ_TRY(s);
    p->client = x.a.client;
    return p->client ? LZ_OK : broken(p, "PJRT_Client_Create gave no client, and no error");
}

static lz_status read_platform(lz_plugin *p)
{
    LZ_PLUGIN_ARGS(n, Client_PlatformName, .client = p->client);
    LZ_PLUGIN_ARGS(v, Client_PlatformVersion, .client = p->client);
    LZ_TRY(LZ_PLUGIN_CALL(p, Client_PlatformName, n));
    LZ_TRY(LZ_PLUGIN_CALL(p, Client_PlatformVersion, v));
    if (!n.a.platform_name || !v.a.platform_version)
        return broken(p, "the name or the version of its platform is NULL");
    lz_plugin_text(p->platform, sizeof p->platform, n.a.platform_name, n.a.platform_name_size);
    lz_plugin_text(p->version, sizeof p->version, v.a.platform_version, v.a.platform_version_size);
    p->process = p->config.host_index;
    if (p->process < 0) {
        bool had;
        LZ_PLUGIN_ARGS(i, Client_ProcessIndex, .client = p->client);
        LZ_TRY(LZ_PLUGIN_CALL_OPTIONAL(p, Client_ProcessIndex, i, &had));
        p->process = had ? i.a.process_index : p->process;
    }
    return LZ_OK;
}

/* ---- devices ---- */

static lz_status read_device(lz_plugin *p, PJRT_Device *handle, lz_plugin_device *d)
{
    LZ_PLUGIN_ARGS(x, Device_GetDescription, .device = handle);
    if (!handle)
        return broken(p, "a device of PJRT_Client_AddressableDevices is NULL");
    LZ_TRY(LZ_PLUGIN_CALL(p, Device_GetDescription, x));
    if (!x.a.device_description)
        return broken(p, "PJRT_Device_GetDescription gave NULL, and no error");
    LZ_PLUGIN_ARGS(i, DeviceDescription_Id, .device_description = x.a.device_description);
    LZ_PLUGIN_ARGS(k, DeviceDescription_Kind, .device_description = x.a.device_description);
    LZ_TRY(LZ_PLUGIN_CALL(p, DeviceDescription_Id, i));
    LZ_TRY(LZ_PLUGIN_CALL(p, DeviceDescription_Kind, k));
    if (i.a.id < 0)
        return LZ_FAIL(LZ_EUNAVAILABLE, "plugin %s: a device has the number %d", p->name, i.a.id);
    d->handle = handle;
    d->id = i.a.id;
    lz_plugin_text(d->kind, sizeof d->kind, k.a.device_kind, k.a.device_kind_size);
    return LZ_OK;
}

static lz_status read_devices(lz_plugin *p)
{
    LZ_PLUGIN_ARGS(x, Client_AddressableDevices, .client = p->client);
    LZ_TRY(LZ_PLUGIN_CALL(p, Client_AddressableDevices, x));
    size_t n = x.a.num_addressable_devices, want = (size_t)p->config.physical_devices;
    if (n == 0)
        return broken(p, "it has no device");
    if (!x.a.addressable_devices)
        return broken(p, "the list of its devices is NULL");
    if (n > LZ_PLUGIN_DEVICES)
        return LZ_FAIL(LZ_EUNAVAILABLE, "plugin %s: it has %zu devices; at most %d are supported",
                       p->name, n, LZ_PLUGIN_DEVICES);
    if (want > n)
        return LZ_FAIL(LZ_EUNAVAILABLE, "plugin %s: it has %zu devices, %zu are wanted", p->name, n,
                       want);
    n = want ? want : n;
    lz_free(p->device);
    p->device = lz_calloc(n, sizeof *p->device);
    if (!p->device)
        return LZ_FAIL(LZ_EMEM, "no memory for %zu devices of plugin %s", n, p->name);
    for (size_t i = 0; i < n; i++)
        LZ_TRY(read_device(p, x.a.addressable_devices[i], &p->device[i]));
    p->ndevice = (int)n;
    return LZ_OK;
}

static lz_status start(lz_plugin *p)
{
    LZ_TRY(lz_plugin_load(p));
    if (!p->client)
        LZ_TRY(create(p));
    LZ_TRY(read_platform(p));
    return read_devices(p);
}

lz_status lz_plugin_start(lz_plugin *p)
{
    if (__builtin_expect(atomic_load_explicit(&p->ready, memory_order_acquire), 1))
        return LZ_OK;
    lz_mutex_lock(&p->starting);
    lz_status s = atomic_load(&p->ready) ? LZ_OK : start(p);
    if (s == LZ_OK)
        atomic_store_explicit(&p->ready, true, memory_order_release);
    lz_mutex_unlock(&p->starting);
    return s;
}

lz_status lz_plugin_device_check(lz_plugin *p, int device)
{
    LZ_TRY(lz_plugin_start(p));
    if (device < 0 || device >= p->ndevice)
        return LZ_FAIL(LZ_ENOENT, "device %s:%d: there are %d", p->name, device, p->ndevice);
    return LZ_OK;
}

/* ---- what is said of them ---- */

static uint64_t positive(int64_t v)
{
    return v > 0 ? (uint64_t)v : 0;
}

static void read_memory(lz_plugin *p, const lz_plugin_device *d, lz_device_info *out)
{
    out->memory_used = atomic_load(&p->used);
    out->memory_peak = atomic_load(&p->peak);
    if (!p->api.Device_MemoryStats)
        return;
    LZ_PLUGIN_ARGS(x, Device_MemoryStats, .device = d->handle);
    PJRT_Error *e = p->api.Device_MemoryStats(&x.a);
    LZ_QUIETLY {
        if (lz_plugin_check(p, "Device_MemoryStats", e) == LZ_OK) {
            out->memory_used = positive(x.a.bytes_in_use);
            if (x.a.peak_bytes_in_use_is_set)
                out->memory_peak = positive(x.a.peak_bytes_in_use);
            if (x.a.bytes_limit_is_set)
                out->memory_limit = positive(x.a.bytes_limit);
        }
    }
}

lz_status lz_plugin_device_info(lz_plugin *p, int device, lz_device_info *out)
{
    *out = (lz_device_info){.threads = 1};
    if (!atomic_load(&p->ready)) { /* nobody has asked for it: that alone does not start it */
        (void)snprintf(out->kind, sizeof out->kind, "PLUGIN");
        (void)snprintf(out->details, sizeof out->details, "%.200s, not started", p->path);
        return LZ_OK;
    }
    LZ_TRY(lz_plugin_device_check(p, device));
    const lz_plugin_device *d = &p->device[device];
    (void)snprintf(out->kind, sizeof out->kind, "%.24s: %.36s", p->platform, d->kind);
    char host[24] = "";
    if (p->process >= 0) /* a plugin need not say it */
        (void)snprintf(host, sizeof host, ", host %d", p->process);
    (void)snprintf(out->details, sizeof out->details, "%.100s, PJRT %d.%d%s", p->version,
                   p->api.pjrt_api_version.major_version, p->api.pjrt_api_version.minor_version,
                   host);
    read_memory(p, d, out);
    return LZ_OK;
}

/* What the client was created with may be about how it compiles. */
static void put_settings(const lz_plugin_config *c, lz_buf *out)
{
    lz_buf_u32(out, c->nsetting);
    for (uint32_t i = 0; i < c->nsetting; i++) {
        const lz_plugin_setting *s = &c->setting[i];
        size_t n = s->integers ? s->count : 0;
        lz_buf_lstr(out, s->name);
        lz_buf_u8(out, (uint8_t)s->type);
        lz_buf_lstr(out, s->text ? s->text : "");
        lz_buf_put(out, &s->number, sizeof s->number);
        lz_buf_u64(out, n);
        for (size_t k = 0; k < n; k++)
            lz_buf_u64(out, (uint64_t)s->integers[k]);
    }
}

void lz_plugin_key(lz_plugin *p, int device, lz_buf *out)
{
    if (lz_plugin_device_check(p, device) != LZ_OK) {
        out->failed = true;
        return;
    }
    lz_buf_puts(out, "PJRT2");
    lz_buf_u8(out, p->config.native_rng);
    lz_buf_u64(out, (uint64_t)p->config.gather_threshold);
    lz_buf_lstr(out, p->platform);
    lz_buf_lstr(out, p->version);
    lz_buf_lstr(out, p->device[device].kind);
    lz_buf_u32(out, (uint32_t)p->device[device].id);
    lz_buf_u32(out, (uint32_t)p->api.pjrt_api_version.minor_version);
    put_settings(&p->config, out);
}
