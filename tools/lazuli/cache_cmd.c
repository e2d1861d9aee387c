/* cache_cmd.c - lazuli cache: lists, checks and tidies the persistent compilation cache. */
#include "cache/cache.h"
#include "base/config.h"
#include "tools/lazuli/tool.h"
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct totals {
    bool list;
    uint64_t files[3], bytes[3], bad;
} totals;

static bool visit(const lz_cache_entry_info *e, void *user)
{
    totals *t = user;
    const char *kind = e->kind == LZ_CACHE_PROGRAM  ? "program"
                       : e->kind == LZ_CACHE_KERNEL ? "kernel"
                                                    : "?";
    unsigned k = e->kind == LZ_CACHE_PROGRAM || e->kind == LZ_CACHE_KERNEL ? (unsigned)e->kind : 0;
    t->files[k]++;
    t->bytes[k] += e->file_bytes;
    if (!e->ok) {
        t->bad++;
        printf("bad %s: %s\n", e->name, e->why);
    } else if (t->list) {
        char when[32] = "";
        time_t used = (time_t)e->used_unix_s;
        struct tm tm;
        if (localtime_r(&used, &tm))
            strftime(when, sizeof when, "%Y-%m-%d %H:%M", &tm);
        printf("%-8s %9" PRIu64 "  %-16s  %s\n", kind, e->file_bytes, when, e->name);
    }
    return true;
}

static int stat_cmd(const totals *t, const lz_cache *c)
{
    printf("path      %s\nprograms  %" PRIu64 " (%" PRIu64 " bytes)\nkernels   %" PRIu64
           " (%" PRIu64 " bytes)\n"
           "damaged   %" PRIu64 "\n",
           lz_cache_path(c), t->files[LZ_CACHE_PROGRAM], t->bytes[LZ_CACHE_PROGRAM],
           t->files[LZ_CACHE_KERNEL], t->bytes[LZ_CACHE_KERNEL], t->bad);
    return 0;
}

static int act(const char *verb, lz_cache *c, uint64_t max_bytes)
{
    totals t = {.list = strcmp(verb, "ls") == 0};
    uint64_t files = 0, bytes = 0;
    bool verify = strcmp(verb, "verify") == 0;
    if (strcmp(verb, "gc") == 0) {
        if (lz_cache_gc(c, max_bytes, &files, &bytes) != LZ_OK)
            return tool_fail("cache gc");
        printf("removed %" PRIu64 " files, %" PRIu64 " bytes\n", files, bytes);
        return 0;
    }
    if (strcmp(verb, "clear") == 0) {
        if (lz_cache_clear(c, &files) != LZ_OK)
            return tool_fail("cache clear");
        printf("removed %" PRIu64 " files\n", files);
        return 0;
    }
    if (lz_cache_walk(c, verify, visit, &t) != LZ_OK)
        return tool_fail("cache");
    if (strcmp(verb, "stat") == 0)
        return stat_cmd(&t, c);
    if (verify)
        printf("%" PRIu64 " entries, %" PRIu64 " damaged\n", t.files[0] + t.files[1] + t.files[2],
               t.bad);
    return verify && t.bad ? 1 : 0;
}

int tool_cache(int argc, char **argv)
{
    static const struct option names[] = {{"path", 1, 0, 'p'}, {"max-mb", 1, 0, 'm'}, {0}};
    const char *path = NULL;
    uint64_t max_bytes = (uint64_t)lz_cfg_int(LZ_OPT_CACHE_MAX_MB) << 20;
    for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1;)
        switch (c) {
        case 'p':
            path = optarg;
            break;
        case 'm':
            max_bytes = strtoull(optarg, NULL, 10) << 20;
            break;
        default:
            return 2;
        }
    const char *verb = optind + 1 == argc ? argv[optind] : "";
    if (strcmp(verb, "ls") && strcmp(verb, "stat") && strcmp(verb, "verify") &&
        strcmp(verb, "gc") && strcmp(verb, "clear"))
        return tool_usage("cache: one of ls, stat, verify, gc, clear is needed");
    bool writes = strcmp(verb, "gc") == 0 || strcmp(verb, "clear") == 0;
    lz_cache_options o = {.path = path, .read_only = !writes};
    lz_cache *c = NULL;
    if (lz_cache_open(&o, &c) != LZ_OK)
        return tool_fail("cache");
    int rc;
    if (lz_cache_enabled(c))
        rc = act(verb, c, max_bytes);
    else
        rc = printf("there is no cache%s%s\n", path ? " at " : "", path ? path : "") < 0;
    lz_cache_close(c);
    return rc;
}
