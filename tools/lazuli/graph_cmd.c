/* graph_cmd.c - lazuli graph: a picture of a program, which is a file of StableHLO text or bytecode
 * or one in the cache: name scopes, kernels with their operations and times, memory, lines. */
#include "backends/common/program_store.h"
#include "backends/cpu/cpu_plan.h"
#include "base/outfile.h"
#include "base/text.h"
#include "cache/dir.h"
#include "cache/pack.h"
#include "runtime/debug/profile_report.h"
#include "tools/lazuli/graph.h"
#include "tools/lazuli/pack_cmd.h"
#include "tools/lazuli/tool.h"
#include <getopt.h>
#include <string.h>
#include <unistd.h>

typedef struct graph_options {
    const char *source, *output, *entry, *profile, *path;
    bool other_device; /* the program is for another one than the processor */
} graph_options;

/* ---- a file ---- */

/* Which parameters the module says may be written over. */
static lz_status donations(const lz_func *f, const lz_param_list *list, bool **out)
{
    *out = lz_calloc((size_t)f->nparam + 1, sizeof **out);
    if (!*out)
        return LZ_FAIL(LZ_EMEM, "no memory for %u parameters", f->nparam);
    for (uint32_t i = 0; i < list->len; i++)
        if (list->data[i] < f->nparam)
            (*out)[list->data[i]] = true;
    return LZ_OK;
}

static lz_status plan_of(const lz_func *f, const bool *donate, uint32_t team, lz_plan **out)
{
    lz_compile_options o = {.donate = donate};
    const lz_backend *cpu = lz_backend_get("CPU");
    lz_program_set_team(&o, team);
    if (!cpu)
        return LZ_FAIL(LZ_EUNSUPPORTED, "this build has no CPU device");
    LZ_TRY(cpu->init());
    LZ_TRY(lz_cpu_plan(f, &o, out));
    lz_plan_find_nodes(*out, f);
    return LZ_OK;
}

static lz_status open_file(const graph_options *o, lz_func **f, lz_plan **plan)
{
    lz_param_list donated = {0};
    lz_partitions about = {.donated = &donated, .locations = true};
    lz_buf text = {0};
    bool *donate = NULL;
    lz_status s = tool_read_text(o->source, &text);
    if (s == LZ_OK)
        s = lz_func_parse_about(lz_buf_str(&text), text.len, o->source, o->entry, &about, f);
    if (s == LZ_OK)
        s = donations(*f, &donated, &donate);
    if (s == LZ_OK)
        s = plan_of(*f, donate, 0, plan);
    lz_free(donate);
    lz_vec_free(&donated);
    lz_buf_free(&text);
    return s;
}

/* ---- one of the cache ---- */

typedef struct search {
    lz_cache *c;
    const char *hash;
    uint32_t found; /* how many it names */
    lz_buf bytes;   /* of the first one's entry */
    lz_entry entry;
    lz_status status;
} search;

static bool look(const lz_cache_entry_info *info, void *user)
{
    search *x = user;
    lz_buf bytes = {0};
    lz_entry e;
    if (!info->ok || info->foreign || info->kind != LZ_CACHE_PROGRAM)
        return true;
    lz_status s = lz_cache_read_entry(x->c, info->name, &bytes, &e);
    if (s == LZ_OK &&
        tool_names_program(x->hash, info->name,
                           lz_hash_bytes(e.key, (size_t)e.sec[LZ_SEC_KEY].usize)) &&
        x->found++ == 0) {
        x->bytes = bytes;
        x->entry = e;
        return true;
    }
    lz_buf_free(&bytes);
    x->status = s == LZ_EMEM ? s : LZ_OK;
    return s != LZ_EMEM;
}

/* As it is stored, with the choices of the device that it is for; of a backend that stores
 * something else, as the CPU would have it. */
static lz_status stored_plan(const lz_entry *e, const lz_program_parts *p, lz_plan **out)
{
    size_t n = (size_t)e->sec[LZ_SEC_VALUE].usize;
    uint8_t *value = lz_alloc(n + 1);
    if (!value)
        return LZ_FAIL(LZ_EMEM, "no memory for a program of %zu bytes", n);
    lz_codec_pool pool = {0};
    lz_status s = lz_entry_value(e, &pool, value);
    lz_codec_pool_free(&pool);
    if (s == LZ_OK)
        s = lz_plan_deserialize_of(value, n, p->f, p->donate, lz_key_count(p->team), out);
    lz_free(value);
    if (s == LZ_OK)
        lz_plan_find_nodes(*out, p->f);
    return s;
}

static lz_status open_entry(search *x, graph_options *o, lz_func **f, lz_plan **plan)
{
    lz_program_parts p = {0};
    lz_status s = lz_program_take_apart(x->entry.key, (size_t)x->entry.sec[LZ_SEC_KEY].usize, &p);
    if (s == LZ_OK)
        o->other_device = p.ndevice < 3 || memcmp(p.device, "CPU", 3) != 0;
    if (s == LZ_OK)
        LZ_QUIETLY
            s = stored_plan(&x->entry, &p, plan);
    if (s == LZ_ECORRUPT)
        s = plan_of(p.f, p.donate, p.team, plan);
    if (s == LZ_OK) {
        *f = p.f;
        p.f = NULL;
    }
    lz_program_parts_free(&p);
    return s;
}

static lz_status find_entry(const graph_options *o, const char *path, search *x)
{
    lz_cache_options about = {.path = path,
                              .build_id = lz_program_build(),
                              .isa_ok = lz_backend_can_run,
                              .read_only = true,
                              .system = ""};
    if (access(path, F_OK) != 0)
        return LZ_FAIL(LZ_ENOENT, "there is no file %s, and no cache %s", o->source, path);
    LZ_TRY(lz_cache_open(&about, &x->c));
    if (!lz_cache_enabled(x->c))
        return LZ_FAIL(LZ_EUNAVAILABLE, "%s cannot be used", path);
    LZ_TRY(lz_cache_walk(x->c, false, look, x));
    LZ_TRY(x->status);
    if (x->found == 0)
        return LZ_FAIL(LZ_ENOENT, "no program of this build in %s has the hash %s", path,
                       o->source);
    return x->found == 1 ? LZ_OK
                         : LZ_FAIL(LZ_EINVAL, "%u programs have a hash that begins with %s",
                                   x->found, o->source);
}

static lz_status open_hash(graph_options *o, lz_func **f, lz_plan **plan)
{
    search x = {.hash = o->source};
    lz_buf path = {0};
    LZ_TRY(lz_dir_default(o->path, &path));
    lz_status s = find_entry(o, lz_buf_str(&path), &x);
    if (s == LZ_OK)
        s = open_entry(&x, o, f, plan);
    lz_cache_close(x.c);
    lz_buf_free(&x.bytes);
    lz_buf_free(&path);
    return s;
}

/* ---- output ---- */

static lz_status read_times(const graph_options *o, graph *g)
{
    lz_buf text = {0};
    LZ_TRY(graph_find_launches(g));
    if (!o->profile) {
        if (!o->other_device)
            g->limits = lz_profile_limits();
        return LZ_OK;
    }
    lz_status s = tool_read_text(o->profile, &text);
    if (s == LZ_OK)
        s = graph_read_profile(g, lz_buf_str(&text), text.len, o->profile);
    lz_buf_free(&text);
    return s;
}

static lz_status draw(const graph_options *o, graph *g)
{
    lz_buf out = {0};
    LZ_TRY(read_times(o, g));
    if (lz_text_ends(o->output, ".html"))
        graph_put_page(g, &out);
    else if (lz_text_ends(o->output, ".dot"))
        graph_put_dot(g, &out);
    else
        graph_put_json(g, &out);
    lz_status s = out.failed ? LZ_FAIL(LZ_EMEM, "no memory for a graph of %u nodes", g->f->ninst)
                             : lz_outfile_write(o->output, out.data, out.len, false);
    lz_buf_free(&out);
    return s;
}

static int parse(int argc, char **argv, graph_options *o)
{
    static const struct option names[] = {{"output", 1, 0, 'o'},
                                          {"entry", 1, 0, 'E'},
                                          {"profile", 1, 0, 'p'},
                                          {"path", 1, 0, 'P'},
                                          {0}};
    for (int c; (c = getopt_long(argc, argv, "o:", names, NULL)) != -1;) {
        if (c == '?')
            return 2;
        *(c == 'o'   ? &o->output
          : c == 'E' ? &o->entry
          : c == 'p' ? &o->profile
                     : &o->path) = optarg;
    }
    if (optind + 1 != argc)
        return tool_usage("one FILE or HASH is needed");
    o->source = argv[optind];
    if (!o->output)
        return tool_usage("-o FILE is needed");
    if (!lz_text_ends(o->output, ".html") && !lz_text_ends(o->output, ".dot") &&
        !lz_text_ends(o->output, ".json"))
        return tool_usage("-o takes a name that ends in .html, .json or .dot, not '%s'", o->output);
    return 0;
}

int tool_graph(int argc, char **argv)
{
    graph_options o = {0};
    lz_func *f = NULL;
    lz_plan *plan = NULL;
    if (parse(argc, argv, &o) != 0)
        return 2;
    bool file =
        strcmp(o.source, "-") == 0 || access(o.source, F_OK) == 0 || !tool_is_hash(o.source);
    lz_status s = file ? open_file(&o, &f, &plan) : open_hash(&o, &f, &plan);
    if (s == LZ_OK) {
        graph g = {.source = o.source, .f = f, .plan = plan};
        s = draw(&o, &g);
        graph_free_launches(&g);
    }
    lz_plan_free(plan);
    lz_func_free(f);
    return s == LZ_OK ? 0 : tool_fail("graph");
}
