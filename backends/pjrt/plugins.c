/* plugins.c - which plugins there are: those that the program registers, and those that the
 * environment names. Threads: thread-safe. */
#include "backends/pjrt/plugins.h"
#include "backends/pjrt/slots.h"
#include "base/alloc.h"
#include "base/config.h"
#include "base/log.h"
#include "base/text.h"
#include <stdio.h>
#include <string.h>

static lz_mutex lock = LZ_MUTEX_INIT("plugins");
static _Atomic uint32_t registered;

const lz_backend *lz_plugin_backend(uint32_t i)
{
    return i < atomic_load_explicit(&registered, memory_order_acquire) ? &lz_plugin_backends[i]
                                                                       : NULL;
}

/* ---- copies ---- */

void lz_plugin_settings_free(lz_plugin_setting *s, uint32_t n)
{
    for (uint32_t i = 0; s && i < n; i++) {
        lz_free(s[i].name);
        lz_free(s[i].text);
        lz_free(s[i].integers);
    }
    lz_free(s);
}

static char *copy_text(const char *s)
{
    size_t n = strlen(s) + 1;
    char *t = lz_alloc(n);
    return t ? memcpy(t, s, n) : NULL;
}

static lz_status copy_settings(const lz_plugin_config *c, lz_plugin_setting **out)
{
    lz_plugin_setting *to = lz_calloc((size_t)c->nsetting + 1, sizeof *to);
    bool ok = to != NULL;
    for (uint32_t i = 0; ok && i < c->nsetting; i++) {
        const lz_plugin_setting *from = &c->setting[i];
        to[i] = *from;
        to[i].text = NULL;
        to[i].integers = NULL;
        to[i].name = copy_text(from->name);
        if (from->text)
            to[i].text = copy_text(from->text);
        if (from->integers)
            to[i].integers = lz_alloc((from->count + 1) * sizeof *to[i].integers);
        if (from->integers && to[i].integers)
            memcpy(to[i].integers, from->integers, from->count * sizeof *to[i].integers);
        ok = to[i].name && !from->text == !to[i].text && !from->integers == !to[i].integers;
    }
    if (!ok) {
        lz_plugin_settings_free(to, to ? c->nsetting : 0);
        return LZ_FAIL(LZ_EMEM, "no memory for the options of a plugin");
    }
    *out = to;
    return LZ_OK;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_settings(const lz_plugin_config *a, const lz_plugin_config *b)
{
    bool same = a->nsetting == b->nsetting;
    for (uint32_t i = 0; same && i < a->nsetting; i++) {
        const lz_plugin_setting *x = &a->setting[i], *y = &b->setting[i];
        same =
            x->type == y->type && x->count == y->count && same_text(x->name, y->name) &&
            same_text(x->text, y->text) && memcmp(&x->number, &y->number, sizeof x->number) == 0 &&
            (!x->integers == !y->integers) &&
            (!x->integers || memcmp(x->integers, y->integers, x->count * sizeof *x->integers) == 0);
    }
    return same;
}

static bool same_config(const lz_plugin_config *a, const lz_plugin_config *b)
{
    return same_text(a->path, b->path) && a->host_index == b->host_index &&
           a->physical_devices == b->physical_devices && a->dtypes == b->dtypes &&
           a->native_rng == b->native_rng && a->gather_threshold == b->gather_threshold &&
           memcmp(&a->timeout, &b->timeout, sizeof a->timeout) == 0 && same_settings(a, b);
}

/* ---- registering ---- */

/* Letters, digits, - and _, as the part of a device's name before the colon. */
static lz_status check_name(const char *name)
{
    size_t n = strlen(name);
    bool ok = n > 0 && n < LZ_PLUGIN_NAME;
    for (size_t i = 0; ok && i < n; i++)
        ok = lz_is_alnum(name[i]) || name[i] == '_' || name[i] == '-';
    return ok ? LZ_OK
              : LZ_FAIL(LZ_EINVAL,
                        "\"%.40s\" is no name of a plugin: 1 to %d letters, digits, _ and -", name,
                        LZ_PLUGIN_NAME - 1);
}

static lz_status check_config(const char *name, const lz_plugin_config *c)
{
    LZ_TRY(check_name(name));
    if (!c->path || !c->path[0])
        return LZ_FAIL(LZ_EINVAL, "plugin %s: the path of its library is empty", name);
    if (strlen(c->path) >= LZ_PLUGIN_PATH)
        return LZ_FAIL(LZ_ERANGE, "plugin %s: the path of its library is longer than %d bytes",
                       name, LZ_PLUGIN_PATH - 1);
    if (c->physical_devices < 0)
        return LZ_FAIL(LZ_EINVAL, "plugin %s: the number of devices is negative", name);
    if (!(c->timeout >= 0 && c->timeout <= LZ_PLUGIN_TIMEOUT_MOST))
        return LZ_FAIL(LZ_EINVAL, "plugin %s: the time limit is %g seconds, not 0 to %d", name,
                       c->timeout, LZ_PLUGIN_TIMEOUT_MOST);
    return LZ_OK;
}

/* The lock is held. */
static lz_status add(const char *name, const lz_plugin_config *c)
{
    uint32_t n = atomic_load(&registered);
    for (uint32_t i = 0; i < n; i++) {
        if (!lz_text_same(lz_plugin_slots[i].name, name))
            continue;
        return same_config(&lz_plugin_slots[i].config, c)
                   ? LZ_OK
                   : LZ_FAIL(LZ_EEXIST, "plugin %s: it is registered already, as %.160s", name,
                             lz_plugin_slots[i].path);
    }
    if (n == LZ_PLUGINS_MAX)
        return LZ_FAIL(LZ_ERANGE, "plugin %s: there are %d plugins already", name, LZ_PLUGINS_MAX);
    lz_plugin *p = &lz_plugin_slots[n];
    lz_plugin_setting *settings = NULL;
    LZ_TRY(copy_settings(c, &settings));
    *p = (lz_plugin){.slot = n, .config = *c};
    (void)snprintf(p->name, sizeof p->name, "%s", name);
    (void)snprintf(p->path, sizeof p->path, "%s", c->path);
    p->config.path = p->path;
    p->config.setting = settings;
    lz_mutex_init(&p->starting, "plugin");
    atomic_store_explicit(&registered, n + 1, memory_order_release);
    return LZ_OK;
}

lz_status lz_plugin_register(const char *name, const lz_plugin_config *c)
{
    LZ_TRY(check_config(name, c));
    const lz_backend *b;
    for (uint32_t i = 0; (b = lz_backend_row(i)); i++)
        if (lz_text_same(b->name, name))
            return LZ_FAIL(LZ_EEXIST, "plugin %s: that is a platform of Lazuli's own", name);
    lz_mutex_lock(&lock);
    lz_status s = add(name, c);
    lz_mutex_unlock(&lock);
    return s;
}

/* ---- the environment ---- */

enum { ENV_SETTINGS = 16 };

/* key=value: an integer, a number, true, false, or a text. False: it is none. */
static bool read_setting(const char *s, size_t n, lz_plugin_setting *out)
{
    const char *eq = memchr(s, '=', n);
    if (!eq || eq == s)
        return false;
    size_t nkey = (size_t)(eq - s), nvalue = n - nkey - 1;
    const char *v = eq + 1;
    int64_t i = 0;
    bool yes = nvalue == 4 && memcmp(v, "true", 4) == 0;
    *out = (lz_plugin_setting){.count = 1, .name = lz_calloc(1, nkey + 1)};
    if (out->name)
        memcpy(out->name, s, nkey);
    if (yes || (nvalue == 5 && memcmp(v, "false", 5) == 0)) {
        out->type = LZ_PLUGIN_FLAG;
        i = yes;
    } else if (lz_text_i64(v, nvalue, INT64_MIN, INT64_MAX, &i) == LZ_OK) {
        out->type = LZ_PLUGIN_INTEGER;
    } else if (nvalue < LZ_TEXT_FLOAT && lz_text_f64(v, nvalue, &out->number)) {
        out->type = LZ_PLUGIN_NUMBER;
        return out->name;
    } else {
        out->text = lz_calloc(1, nvalue + 1);
        if (out->text)
            memcpy(out->text, v, nvalue);
        return out->name && out->text;
    }
    out->integers = lz_alloc(sizeof *out->integers);
    if (out->integers)
        out->integers[0] = i;
    return out->name && out->integers;
}

/* Fills at most ENV_SETTINGS. */
static uint32_t read_settings(const char *text, lz_plugin_setting *all)
{
    uint32_t count = 0;
    for (const char *s = text; *s;) {
        size_t n = strcspn(s, ",");
        bool fits = count < ENV_SETTINGS && (n == 0 || read_setting(s, n, &all[count]));
        if (!fits) {
            LZ_WARN("plugin", "LAZULI_PLUGIN_OPTIONS: \"%.*s\" is no key=value, or one too many",
                    (int)(n < 80 ? n : 80), s);
            if (count < ENV_SETTINGS) {
                lz_free(all[count].name);
                lz_free(all[count].text);
                all[count] = (lz_plugin_setting){0};
            }
        }
        count += fits && n;
        s += n + (s[n] == ',');
    }
    return count;
}

static void add_named(const char *name, size_t nname, const char *path, size_t npath,
                      lz_plugin_config *c)
{
    char name_text[64], path_text[LZ_PLUGIN_PATH + 1];
    (void)snprintf(name_text, sizeof name_text, "%.*s", (int)(nname < 63 ? nname : 63), name);
    (void)snprintf(path_text, sizeof path_text, "%.*s",
                   (int)(npath < LZ_PLUGIN_PATH ? npath : LZ_PLUGIN_PATH), path);
    c->path = path_text;
    LZ_QUIETLY {
        if (lz_plugin_register(name_text, c) != LZ_OK)
            LZ_WARN("plugin", "PJRT_NAMES_AND_LIBRARY_PATHS, PJRT_LIBRARY_PATH: %s",
                    lz_error_get()->message);
    }
}

/* NAME:PATH,NAME:PATH */
static void read_names(const char *text, lz_plugin_config *c)
{
    for (const char *s = text; *s;) {
        size_t n = strcspn(s, ","), name = strcspn(s, ":");
        if (name < n)
            add_named(s, name, s + name + 1, n - name - 1, c);
        else if (n)
            LZ_WARN("plugin", "PJRT_NAMES_AND_LIBRARY_PATHS: \"%.*s\" is no NAME:PATH",
                    (int)(n < 80 ? n : 80), s);
        s += n + (s[n] == ',');
    }
}

static void read_environment(void)
{
    const char *names = lz_cfg_str(LZ_OPT_PJRT_NAMES), *one = lz_cfg_str(LZ_OPT_PJRT_LIBRARY);
    if (!lz_cfg_bool(LZ_OPT_PJRT_DYNAMIC_PLUGINS) || (!names[0] && !one[0]))
        return;
    lz_plugin_setting *settings = lz_calloc(ENV_SETTINGS, sizeof *settings);
    if (!settings) {
        LZ_WARN("plugin", "no memory for the plugins that the environment names");
        return;
    }
    lz_plugin_config c = {.host_index = -1,
                          .setting = settings,
                          .nsetting = read_settings(lz_cfg_str(LZ_OPT_PLUGIN_OPTIONS), settings),
                          .timeout = (double)lz_cfg_int(LZ_OPT_PLUGIN_TIMEOUT)};
    read_names(names, &c);
    if (one[0])
        add_named("LIBRARY", strlen("LIBRARY"), one, strlen(one), &c);
    lz_plugin_settings_free(settings, ENV_SETTINGS);
}

void lz_plugins_of_environment(void)
{
    static lz_once once = LZ_ONCE_INIT;
    lz_once_run(&once, read_environment);
}
