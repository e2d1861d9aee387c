/* cache_cmd.c - lazuli cache: lists, verifies and trims the persistent compilation cache. Packs are
 * pack_cmd.c's. */
#include "base/terminal.h"
#include "cache/cache.h"
#include "cache/dir.h"
#include "cache/store.h"
#include "tools/lazuli/pack_cmd.h"
#include "tools/lazuli/tool.h"
#include <dirent.h>
#include <getopt.h>
#include <string.h>
#include <time.h>

typedef struct totals {
    bool list;
    uint64_t files[LZ_CACHE_KINDS], bytes[LZ_CACHE_KINDS], bad;
} totals;

static bool visit(const lz_cache_entry_info *e, void *user)
{
    totals *t = user;
    lz_buf name = {0}; /* untrusted */
    static const char *const kinds[LZ_CACHE_KINDS] = {"?", "program", "kernel", "choice"};
    unsigned k = lz_cache_is_kind(e->kind) ? (unsigned)e->kind : 0;
    if (!e->ok) {
        t->bad++;
        lz_buf_terminal_text(&name, e->name);
        printf("bad %s: %s\n", lz_buf_str(&name), e->why);
        lz_buf_free(&name);
        return true;
    }
    t->files[k]++;
    t->bytes[k] += e->file_bytes;
    if (t->list) {
        char when[32] = "";
        time_t used = (time_t)e->used_unix_s;
        struct tm tm;
        if (localtime_r(&used, &tm))
            strftime(when, sizeof when, "%Y-%m-%d %H:%M", &tm);
        lz_buf_terminal_text(&name, e->name);
        printf("%-8s %9" PRIu64 "  %-16s  %s\n", kinds[k], e->file_bytes, when, lz_buf_str(&name));
        lz_buf_free(&name);
    }
    return true;
}

static int stat_cmd(const totals *t, const lz_cache *c)
{
    printf("path      %s\nprograms  %" PRIu64 " (%" PRIu64 " bytes)\nkernels   %" PRIu64
           " (%" PRIu64 " bytes)\n",
           lz_cache_path(c), t->files[LZ_CACHE_PROGRAM], t->bytes[LZ_CACHE_PROGRAM],
           t->files[LZ_CACHE_KERNEL], t->bytes[LZ_CACHE_KERNEL]);
    if (t->files[LZ_CACHE_CHOICE]) /* of LAZULI_TUNE */
        printf("choices   %" PRIu64 " (%" PRIu64 " bytes)\n", t->files[LZ_CACHE_CHOICE],
               t->bytes[LZ_CACHE_CHOICE]);
    if (t->files[0]) /* of another version of the format: intact, but its kind is not known here */
        printf("others    %" PRIu64 " (%" PRIu64 " bytes)\n", t->files[0], t->bytes[0]);
    printf("damaged   %" PRIu64 "\n", t->bad);
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
        printf("%" PRIu64 " entries, %" PRIu64 " damaged\n",
               t.files[0] + t.files[1] + t.files[2] + t.bad, t.bad);
    return verify && t.bad ? 1 : 0;
}

/* A directory that has files, but no tag and no folder of entries, is somebody else's. 1 a
 * cache, 0 nothing there, -1 something else or not to be trusted or read: said. */
static int is_cache(const char *path)
{
    lz_store s;
    lz_status rc = lz_store_open(&s, path, true, false);
    lz_store_close(&s);
    if (rc != LZ_OK)
        return rc == LZ_ENOENT ? 0 : tool_fail("cache") - 2;
    DIR *d = opendir(path);
    bool tag = false, other = !d;
    for (const struct dirent *e; d && !tag && (e = readdir(d));) {
        tag = lz_store_is_part(e->d_name) && strcmp(e->d_name, "tmp") != 0 &&
              strcmp(e->d_name, "lock") != 0;
        other = other || (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0);
    }
    if (d)
        closedir(d);
    if (tag || !other)
        return 1;
    fprintf(stderr, "lazuli: cache: %s is not a cache: it has no CACHEDIR.TAG\n", path);
    return -1;
}

static int open_and_act(const char *verb, const char *given, const char *path, uint64_t max_bytes)
{
    int there = is_cache(path);
    if (there < 0)
        return 1;
    if (there == 0 && given) {
        fprintf(stderr, "lazuli: cache: there is no directory %s\n", path);
        return 1;
    }
    if (there == 0) {
        printf("there is no cache yet; it will be %s\n", path);
        return 0;
    }
    bool writes = strcmp(verb, "gc") == 0 || strcmp(verb, "clear") == 0;
    lz_cache_options o = {.path = path, .read_only = !writes};
    lz_cache *c = NULL;
    if (lz_cache_open(&o, &c) != LZ_OK)
        return tool_fail("cache");
    int rc = 1;
    if (lz_cache_enabled(c))
        rc = act(verb, c, max_bytes);
    else
        fprintf(stderr, "lazuli: cache: %s cannot be used\n", path);
    lz_cache_close(c);
    return rc;
}

typedef struct arguments {
    const char *verb, *path, *output;
    uint64_t max_mb; /* 0: the cache's own cap */
    char **operands;
    int noperand;
} arguments;

/* 0, or the exit code. */
static int parse(int argc, char **argv, arguments *a)
{
    static const struct option names[] = {
        {"path", 1, 0, 'p'}, {"max-mb", 1, 0, 'm'}, {"output", 1, 0, 'o'}, {0}};
    for (int c; (c = getopt_long(argc, argv, "o:", names, NULL)) != -1;)
        switch (c) {
        case 'p':
            a->path = optarg;
            if (!*a->path) /* an empty variable of a script does not mean the default */
                return tool_usage("--path takes a directory, not ''");
            break;
        case 'm':
            if (!tool_uint("--max-mb", optarg, 1, 1 << 24, &a->max_mb))
                return 2;
            break;
        case 'o':
            a->output = optarg;
            break;
        default:
            return 2;
        }
    a->verb = optind < argc ? argv[optind] : NULL;
    a->operands = argv + optind + 1;
    a->noperand = argc - optind - 1;
    return 0;
}

/* Verbs, options and operands that belong together. */
static int check(const arguments *a)
{
    static const char *const verbs[] = {"ls",    "stat",   "verify", "gc",
                                        "clear", "export", "import", NULL};
    if (!a->verb)
        return tool_usage("one of ls, stat, verify, gc, clear, export, import is needed");
    if (!tool_one_of("it", a->verb, verbs))
        return 2;
    bool exports = strcmp(a->verb, "export") == 0, imports = strcmp(a->verb, "import") == 0;
    if (imports ? a->noperand != 1 : !exports && a->noperand)
        return imports ? tool_usage("import takes one FILE")
                       : tool_usage("one of ls, stat, verify, gc, clear, export, import is needed");
    if (a->max_mb && strcmp(a->verb, "gc") != 0)
        return tool_usage("--max-mb belongs to gc");
    if (exports != (a->output != NULL))
        return exports ? tool_usage("export needs -o FILE") : tool_usage("-o belongs to export");
    for (int i = 0; exports && i < a->noperand; i++) {
        const char *h = a->operands[i];
        if (!tool_is_hash(h))
            return tool_usage("'%s' is not the hash of a program: 4 to 32 hexadecimal digits", h);
    }
    return 0;
}

static int run(const arguments *a, const char *path)
{
    if (strcmp(a->verb, "import") == 0)
        return tool_cache_import(path, a->operands[0]);
    if (strcmp(a->verb, "export") != 0)
        return open_and_act(a->verb, a->path, path, a->max_mb << 20);
    int there = is_cache(path);
    if (there == 0)
        fprintf(stderr, "lazuli: cache: there is no directory %s\n", path);
    return there == 1 ? tool_cache_export(path, a->operands, a->noperand, a->output) : 1;
}

int tool_cache(int argc, char **argv)
{
    arguments a = {0};
    int rc = parse(argc, argv, &a);
    rc = rc ? rc : check(&a);
    if (rc)
        return rc;
    lz_buf where = {0};
    rc = lz_dir_default(a.path, &where) == LZ_OK ? run(&a, lz_buf_str(&where)) : tool_fail("cache");
    lz_buf_free(&where);
    return rc;
}
