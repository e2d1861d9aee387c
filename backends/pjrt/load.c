/* load.c - opening a plugin's library: its table of functions is looked at whole before one of them
 * is called, and what is refused is refused with what was found and what is wanted.
 * Threads: one at a time for each plugin (lz_plugin_start). */
#include "backends/pjrt/client.h"
#include "base/process_end.h"
#include "base/text.h"
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MINOR_LEAST = 29 /* what XLA's own clients accept, too */ };

/* Functions that we cannot do without. */
static const struct {
    const char *name;
    uint32_t number;
} needed[] = {
#define NEED(NAME)                                                                                 \
    {                                                                                              \
#NAME, PJRT_##NAME##_number                                                                \
    }
    NEED(Error_Destroy),
    NEED(Error_Message),
    NEED(Error_GetCode),
    NEED(Event_Destroy),
    NEED(Event_OnReady),
    NEED(Client_Create),
    NEED(Client_PlatformName),
    NEED(Client_PlatformVersion),
    NEED(Client_AddressableDevices),
    NEED(Client_Compile),
    NEED(Client_BufferFromHostBuffer),
    NEED(DeviceDescription_Id),
    NEED(DeviceDescription_Kind),
    NEED(Device_GetDescription),
    NEED(Executable_Destroy),
    NEED(Executable_NumOutputs),
    NEED(LoadedExecutable_Destroy),
    NEED(LoadedExecutable_GetExecutable),
    NEED(LoadedExecutable_Execute),
    NEED(Buffer_Destroy),
    NEED(Buffer_ElementType),
    NEED(Buffer_Dimensions),
    NEED(Buffer_ToHostBuffer),
#undef NEED
};
enum { NEEDED = sizeof needed / sizeof *needed, HEAD = offsetof(PJRT_Api, Error_Destroy) };

static lz_status refuse(const lz_plugin *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static lz_status refuse(const lz_plugin *p, const char *fmt, ...)
{
    char why[256];
    va_list ap;
    va_start(ap, fmt);
    (void)lz_vsnprintf(why, sizeof why, fmt, ap);
    va_end(ap);
    return LZ_FAIL(LZ_EUNAVAILABLE, "plugin %s: %.120s: %s", p->name, p->path, why);
}

static lz_status check_version(const lz_plugin *p, const PJRT_Api *api)
{
    if (api->struct_size < HEAD)
        return refuse(p, "its PJRT_Api is of %zu bytes, fewer than the %d of the version alone",
                      api->struct_size, (int)HEAD);
    const PJRT_Api_Version *v = &api->pjrt_api_version;
    if (v->struct_size < sizeof *v)
        return refuse(p, "its PJRT_Api_Version is of %zu bytes, %zu are wanted", v->struct_size,
                      sizeof *v);
    if (v->major_version != PJRT_API_MAJOR)
        return refuse(p, "it has version %d.%d of the PJRT C API; the major version must be %d",
                      v->major_version, v->minor_version, PJRT_API_MAJOR);
    if (v->minor_version < MINOR_LEAST)
        return refuse(p, "it has version %d.%d of the PJRT C API; %d.%d or later is wanted",
                      v->major_version, v->minor_version, PJRT_API_MAJOR, MINOR_LEAST);
    return LZ_OK;
}

/* Its functions, as far as its table and ours go. */
static lz_status take_table(lz_plugin *p, const PJRT_Api *api)
{
    size_t size = api->struct_size < sizeof *api ? api->struct_size : sizeof *api;
    memset(&p->api, 0, sizeof p->api);
    memcpy(&p->api, api, size / sizeof(void *) * sizeof(void *));
    for (int i = 0; i < NEEDED; i++) {
        size_t at = HEAD + needed[i].number * sizeof(void *);
        void *f;
        memcpy(&f, (const char *)&p->api + at, sizeof f);
        if (at + sizeof f > size)
            return refuse(
                p, "its PJRT_Api (%d.%d) is of %zu bytes and has no PJRT_%s, which needs %zu",
                api->pjrt_api_version.major_version, api->pjrt_api_version.minor_version,
                api->struct_size, needed[i].name, at + sizeof f);
        if (!f)
            return refuse(p, "its PJRT_%s is NULL", needed[i].name);
    }
    return LZ_OK;
}

static lz_status take_library(lz_plugin *p, void *library)
{
    const PJRT_Api *(*get)(void) = NULL;
    void *symbol = dlsym(library, "GetPjrtApi");
    memcpy(&get, &symbol, sizeof get);
    if (!get)
        return refuse(p, "it has no symbol GetPjrtApi, so it is no PJRT plugin");
    const PJRT_Api *api = get();
    if (!api)
        return refuse(p, "its GetPjrtApi gives NULL");
    LZ_TRY(check_version(p, api));
    LZ_TRY(take_table(p, api));
    bool had;
    LZ_PLUGIN_ARGS(x, Plugin_Initialize);
    return LZ_PLUGIN_CALL_OPTIONAL(p, Plugin_Initialize, x, &had);
}

lz_status lz_plugin_load(lz_plugin *p)
{
    const char *why;
    if (p->loaded)
        return LZ_OK;
    lz_fork_arm(); /* it may start threads */
    void *library = lz_open_library(p->path, RTLD_NOW | RTLD_LOCAL, &why);
    if (!library)
        return refuse(p, "it cannot be loaded: %s", why);
    LZ_TRY(take_library(p, library)); /* it stays: what it has started cannot be undone */
    p->loaded = true;
    return LZ_OK;
}
