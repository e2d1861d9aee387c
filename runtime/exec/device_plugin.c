/* device_plugin.c - registering PJRT plugins: lz_register_device_plugin (include/lazuli/device.h).
 * Threads: thread-safe. */
#include "backends/pjrt/plugins.h"
#include "base/alloc.h"
#include "base/fork.h"
#include "base/status.h"
#include <lazuli/device.h>
#include <stdio.h>
#include <string.h>

enum { OPTIONS_MAX = 1024 };

static lz_status missing(uint32_t i, const lz_plugin_option *o, const char *what)
{
    return LZ_FAIL(LZ_ENULL, "option %u (%.40s): its %s is NULL", i, o->name ? o->name : "", what);
}

/* What it refers to stays the caller's; *integer is room for one. */
static lz_status read_option(uint32_t i, const lz_plugin_option *o, int64_t *integer,
                             lz_plugin_setting *to)
{
    if (!o->name)
        return missing(i, o, "name");
    *to = (lz_plugin_setting){.name = (char *)o->name, .count = 1};
    *integer = o->type == LZ_PLUGIN_BOOL ? o->integer != 0 : o->integer;
    switch (o->type) {
    case LZ_PLUGIN_STRING:
        to->type = LZ_PLUGIN_TEXT;
        to->text = (char *)o->string;
        return o->string ? LZ_OK : missing(i, o, "string");
    case LZ_PLUGIN_INT64:
        to->type = LZ_PLUGIN_INTEGER;
        to->integers = integer;
        return LZ_OK;
    case LZ_PLUGIN_INT64_LIST:
        to->type = LZ_PLUGIN_INTEGERS;
        to->integers = o->list ? (int64_t *)o->list : integer;
        to->count = o->list_length;
        return o->list || !o->list_length ? LZ_OK : missing(i, o, "list");
    case LZ_PLUGIN_FLOAT:
        to->type = LZ_PLUGIN_NUMBER;
        to->number = o->number;
        return LZ_OK;
    case LZ_PLUGIN_BOOL:
        to->type = LZ_PLUGIN_FLAG;
        to->integers = integer;
        return LZ_OK;
    default:
        return LZ_FAIL(LZ_EINVAL, "option %u (%.40s): its type is none of lz_plugin_option_type", i,
                       o->name);
    }
}

/* The copy of a struct that may be shorter than ours, of an older caller. */
static lz_status read_plugin(const lz_device_plugin *from, lz_device_plugin *to)
{
    size_t least = offsetof(lz_device_plugin, create_options);
    memset(to, 0, sizeof *to);
    if (from->struct_size < least)
        return LZ_FAIL(LZ_EINVAL, "struct_size is %zu: set it to sizeof(lz_device_plugin)",
                       from->struct_size);
    memcpy(to, from, from->struct_size < sizeof *to ? from->struct_size : sizeof *to);
    if (!to->library_path)
        return LZ_FAIL(LZ_ENULL, "library_path is NULL");
    if (to->ncreate_options && !to->create_options)
        return LZ_FAIL(LZ_ENULL, "create_options is NULL");
    if (to->ncreate_options > OPTIONS_MAX)
        return LZ_FAIL(LZ_ERANGE, "%zu create_options: at most %d are allowed", to->ncreate_options,
                       OPTIONS_MAX);
    return to->host_index < 0 ? LZ_FAIL(LZ_EINVAL, "host_index is %d", to->host_index) : LZ_OK;
}

static lz_status register_plugin(const char *name, const lz_device_plugin *plugin)
{
    lz_device_plugin p;
    if (!name || !plugin)
        return LZ_FAIL(LZ_ENULL, "%s is NULL", name ? "plugin" : "name");
    LZ_TRY(read_plugin(plugin, &p));
    uint32_t n = (uint32_t)p.ncreate_options;
    lz_plugin_setting *settings = lz_calloc((size_t)n + 1, sizeof *settings);
    int64_t *integers = lz_calloc((size_t)n + 1, sizeof *integers);
    lz_status s = settings && integers ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for %u options", n);
    for (uint32_t i = 0; i < n && s == LZ_OK; i++)
        s = read_option(i, &p.create_options[i], &integers[i], &settings[i]);
    if (s == LZ_OK)
        s = lz_plugin_register(name,
                               &(lz_plugin_config){.path = p.library_path,
                                                   .setting = settings,
                                                   .nsetting = n,
                                                   .host_index = p.host_index ? p.host_index : -1,
                                                   .physical_devices = p.physical_devices,
                                                   .dtypes = p.dtypes,
                                                   .native_rng = p.native_rng,
                                                   .gather_threshold = p.gather_threshold,
                                                   .timeout = p.timeout_seconds});
    lz_free(settings);
    lz_free(integers);
    return s;
}

lz_status lz_register_device_plugin(const char *name, const lz_device_plugin *plugin)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_status s = register_plugin(name, plugin);
    if (s != LZ_OK)
        lz_error_annotate("lz_register_device_plugin", NULL);
    return s;
}
