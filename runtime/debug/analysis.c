/* analysis.c - see analysis.h. Formats: torch_xla/csrc/debug_util.cpp and
 * runtime/metrics_analysis.cpp, so that scripts that read them keep working. The line "Why It
 * Compiled" is ours. */
#include "runtime/debug/analysis.h"
#include "base/config.h"
#include "base/log.h"
#include "base/outfile.h"
#include "base/text.h"
#include "base/timeline/timeline.h"
#include "runtime/debug/graph_dump.h"
#include "runtime/debug/metrics.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static lz_mutex out_lock = LZ_MUTEX_INIT("analysis");
#define RULE80 "================================================================================"
#define DASH80 "--------------------------------------------------------------------------------"

/* PT_XLA_DEBUG alone means everything. */
static int64_t level(void)
{
    if (lz_cfg_is_set(LZ_OPT_PT_XLA_DEBUG_LEVEL))
        return lz_cfg_int(LZ_OPT_PT_XLA_DEBUG_LEVEL);
    return lz_cfg_bool(LZ_OPT_PT_XLA_DEBUG) ? 100 : 0;
}

bool lz_analysis_on(void)
{
    return level() > 0 || lz_cfg_bool(LZ_OPT_PT_XLA_DEBUG);
}

bool lz_analysis_file_is_json(const char *path)
{
    return lz_text_ends(path, ".jsonl");
}

static void emit(lz_buf *b)
{
    const char *path = lz_cfg_str(LZ_OPT_PT_XLA_DEBUG_FILE);
    if (lz_analysis_file_is_json(path))
        path = "";
    lz_mutex_lock(&out_lock);
    int error = path[0] ? lz_file_append(path, b->data, b->len, false) : 0;
    if (error)
        LZ_WARN_ONCE("analysis", "PT_XLA_DEBUG_FILE %s cannot be written: %s", path,
                     strerrordesc_np(error));
    if (error || !path[0])
        fwrite(lz_buf_str(b), 1, b->len, stderr);
    lz_mutex_unlock(&out_lock);
    lz_buf_free(b);
}

static const char *cause_text(lz_sync_cause c)
{
    switch (c) {
    case LZ_CAUSE_STEP:
        return "user mark_step";
    case LZ_CAUSE_SYNC:
        return "user sync";
    case LZ_CAUSE_FLUSH:
        return "too many pending operations or too much data for them (LAZULI_GRAPH_LIMIT, "
               "LAZULI_GRAPH_LIMIT_MB)";
    case LZ_CAUSE_FUNCTION:
        return "a function that is traced, or called";
    case LZ_CAUSE_READ:
        break;
    }
    return "most likely user code trying to access tensor value before mark_step";
}

/* The block up to the frames; what follows is the caller's and `finish`'s. */
static void begin(lz_buf *b, const char *what, lz_sync_cause cause, const char *name, lz_hash hash,
                  uint32_t nparam, uint32_t nresult)
{
    char prefix[40], text[33];
    snprintf(prefix, sizeof prefix, "%s Analysis: ", what);
    lz_buf_printf(b, "\n%s" RULE80 "\n", prefix);
    lz_buf_printf(b, "%s%s Cause\n%s  %s\n", prefix, what, prefix, cause_text(cause));
    lz_buf_printf(b, "%sGraph Info: \n", prefix);
    if (name)
        lz_buf_printf(b, "%s  Graph Name: %s\n", prefix, name);
    lz_buf_printf(b, "%s  Graph Hash: %s\n", prefix, lz_hash_text(hash, text));
    lz_buf_printf(b, "%s  Number of Graph Inputs: %u\n%s  Number of Graph Outputs: %u\n", prefix,
                  nparam, prefix, nresult);
    lz_buf_printf(b, "%sFrame Triggered Execution: \n", prefix);
    snprintf(prefix, sizeof prefix, "%s Analysis:   ", what);
    lz_dump_frames(b, prefix, (int)lz_cfg_int(LZ_OPT_PT_XLA_DEBUG_MAX_FRAME));
}

static void finish(lz_buf *b, const char *what)
{
    lz_buf_printf(b, "%s Analysis: " DASH80 "\n%s Analysis: " RULE80 "\n", what, what);
    emit(b);
}

/* ---- new graphs ---- */

void lz_analysis_new_graph(const lz_capture *c, lz_hash hash, uint32_t nparam, uint32_t nresult,
                           lz_sync_cause cause, lz_new_graph *out)
{
    char known[33], is[33];
    int64_t t0 = lz_timeline_begin();
    const lz_thread_state *t = lz_thread_state_self;
    *out = (lz_new_graph){cause, hash, nparam, nresult, t ? t->graph_name : NULL, {0}};
    lz_difference_find(c, &out->why);
    bool first = out->why.kind == LZ_DIFFERS_FIRST;
    lz_timeline_end(t0, .name = "new graph", .category = "trace", .key = {"parameters", "results"},
                    .value = {nparam, nresult}, .text_key = "graph", .text = lz_hash_text(hash, is),
                    .more = {{"cause", cause_text(cause)},
                             {"why", out->why.text},
                             {"nearest", first ? NULL : lz_hash_text(out->why.nearest, known)}});
}

static void print_why(lz_buf *b, const char *what, const char *title, const lz_difference *d)
{
    char known[33];
    lz_buf_printf(b, "%s Analysis: %s: \n", what, title);
    if (d->kind != LZ_DIFFERS_FIRST)
        lz_buf_printf(b, "%s Analysis:   nearest known graph %s\n", what,
                      lz_hash_text(d->nearest, known));
    lz_buf_printf(b, "%s Analysis:   %s\n", what, d->text);
}

/* ---- blocks ---- */

void lz_analysis_compilation(const lz_new_graph *g)
{
    lz_buf b = {0};
    if (level() < 1)
        return;
    begin(&b, "Compilation", g->cause, g->name, g->hash, g->nparam, g->nresult);
    print_why(&b, "Compilation", "Why It Compiled", &g->why);
    finish(&b, "Compilation");
}

void lz_analysis_cache(const lz_new_graph *g, const lz_program *p)
{
    lz_buf b = {0};
    lz_exec_info info;
    if (level() < 1)
        return;
    p->be->exec_info(p->exec, &info);
    begin(&b, "Cache", g->cause, g->name, g->hash, g->nparam, g->nresult);
    lz_buf_puts(&b, "Cache Analysis: Found On Disk: \n");
    if (info.llvm_compiles)
        lz_buf_printf(&b, "Cache Analysis:   of %u kernels %u were missing and compiled\n",
                      info.kernels, info.llvm_compiles);
    else
        lz_buf_puts(&b, "Cache Analysis:   nothing was compiled\n");
    print_why(&b, "Cache", "Why It Was Not In Memory", &g->why);
    finish(&b, "Cache");
}

/* Each line with the prefix. */
static void print_lines(lz_buf *b, const char *prefix, const char *text)
{
    for (const char *end; text && (end = strchr(text, '\n')); text = end + 1) {
        lz_buf_puts(b, prefix);
        lz_buf_put(b, text, (size_t)(end - text) + 1);
    }
}

void lz_analysis_post_compilation(const lz_program *p)
{
    lz_exec_info info;
    p->be->exec_info(p->exec, &info);
    const struct {
        const char *label;
        uint64_t nbytes;
    } row[] = {{"Graph input size", info.argument_bytes},
               {"Graph output size", info.output_bytes},
               {"Aliased Input size", info.alias_bytes},
               {"Intermediate tensor size", info.temp_bytes},
               {"Compiled program size", info.code_bytes}};
    lz_buf b = {0};
    char hash[33];
    if (level() < 1)
        return;
    lz_buf_printf(&b, "\nComputation hash: %s\n\nPost Compilation Analysis: " RULE80 "\n",
                  lz_hash_text(p->hash, hash));
    for (int i = 0; i < 5; i++)
        lz_buf_printf(&b, "Post Compilation Analysis: %s: %f GB\n", row[i].label,
                      (double)row[i].nbytes / (1024.0 * 1024 * 1024));
    if (info.tuned || info.tune_runs || info.tune_hits)
        lz_buf_printf(&b,
                      "Post Compilation Analysis: Tuned launches: %u (%u runs measured, %u choices "
                      "from the cache)\n",
                      info.tuned, info.tune_runs, info.tune_hits);
    print_lines(&b, "Post Compilation Analysis: ", info.memory);
    print_lines(&b, "Post Compilation Analysis: ", info.collectives);
    lz_buf_puts(&b,
                "Post Compilation Analysis: " DASH80 "\nPost Compilation Analysis: " RULE80 "\n");
    emit(&b);
}

void lz_analysis_execution(const lz_program *p, lz_sync_cause cause)
{
    lz_buf b = {0};
    if (level() < 2)
        return;
    lz_exec_info info;
    p->be->exec_info(p->exec, &info);
    begin(&b, "Execution", cause, p->name, p->hash, p->nparam, p->nresult);
    print_lines(&b, "Execution Analysis: ", info.collective_totals);
    finish(&b, "Execution");
}

/* ---- the profiler's lines ---- */

/* What a call of the program's has cost, by what is counted. */
typedef struct site_cost {
    const lz_site *site; /* NULL: unknown */
    lz_metric_id id;
    uint64_t count;
    double longest;
    bool frequent, slow; /* this was said */
} site_cost;

enum { SITES = 128 };
static site_cost costs[SITES];
static uint32_t ncost;

static bool same_site(const lz_site *a, const lz_site *b)
{
    return a == b ||
           (a && b && a->file && b->file && a->line == b->line && strcmp(a->file, b->file) == 0);
}

/* Under the lock; those for which there is no room are one. */
static site_cost *cost_of(lz_metric_id id, const lz_site *site)
{
    uint32_t i = 0;
    while (i < ncost && !(costs[i].id == id && same_site(costs[i].site, site)))
        i++;
    if (i == ncost && ncost == SITES)
        return site ? cost_of(id, NULL) : NULL;
    if (i == ncost)
        costs[ncost++] = (site_cost){.site = site, .id = id};
    return &costs[i];
}

void lz_analysis_took(lz_metric_id id, const lz_site *site, double ns)
{
    if (!lz_cfg_bool(LZ_OPT_PT_XLA_DEBUG))
        return;
    lz_mutex_lock(&out_lock);
    site_cost *c = cost_of(id, site);
    if (c) {
        c->count++;
        c->longest = ns > c->longest ? ns : c->longest;
    }
    lz_mutex_unlock(&out_lock);
}

static void say(const char *text, const lz_site *s)
{
    if (s && s->file)
        fprintf(stderr, "pt-xla-profiler: %s at %s:%d (%s)\n", text, s->file, s->line,
                s->func ? s->func : "?");
    else
        fprintf(stderr, "pt-xla-profiler: %s\n", text);
}

/* Each call that does it in more than every other step, or, where many do it, the one that does it
 * most: once. */
static void too_frequent(lz_metric_id id, const char *name, int64_t steps, int64_t warm_up)
{
    char text[160];
    uint64_t n = lz_metric_samples(id, NULL, NULL);
    bool said = false;
    site_cost *most = NULL;
    if (steps <= warm_up || (double)n <= 0.5 * (double)steps)
        return;
    (void)cost_of(id, NULL);
    for (uint32_t i = 0; i < ncost; i++) {
        site_cost *c = &costs[i];
        if (c->id != id)
            continue;
        most = !most || c->count > most->count ? c : most;
        if (!c->frequent && (double)c->count > 0.5 * (double)steps) {
            snprintf(text, sizeof text,
                     "%s too frequent: %" PRIu64 " counts during %" PRId64 " steps", name, c->count,
                     steps);
            say(text, c->site);
            c->frequent = true;
        }
        said |= c->frequent;
    }
    if (said || !most)
        return;
    snprintf(text, sizeof text, "%s too frequent: %" PRIu64 " counts during %" PRId64 " steps",
             name, n, steps);
    say(text, most->site);
    most->frequent = true;
}

static void too_slow(lz_metric_id id, const char *name, double seconds)
{
    double longest = 0;
    lz_metric_samples(id, NULL, &longest);
    if (longest <= seconds * 1e9)
        return;
    for (uint32_t i = 0; i < ncost; i++) {
        site_cost *c = &costs[i];
        lz_buf b = {0};
        if (c->id != id || c->slow || c->longest <= seconds * 1e9)
            continue;
        lz_buf_printf(&b, "%s too slow: longest instance took ", name);
        lz_metrics_print_time(&b, c->longest);
        lz_buf_puts(&b, ". Please open a GitHub issue with the graph dump for our team to "
                        "optimize.");
        say(lz_buf_str(&b), c->site);
        lz_buf_free(&b);
        c->slow = true;
    }
}

void lz_analysis_step(void)
{
    if (!lz_cfg_bool(LZ_OPT_PT_XLA_DEBUG))
        return;
    int64_t steps = lz_counter_get(LZ_COUNTER_MarkStep);
    lz_mutex_lock(&out_lock);
    too_frequent(LZ_METRIC_CompileTime, "CompileTime", steps, 10);
    too_frequent(LZ_METRIC_TransferFromDeviceTime, "TransferFromDeviceTime", steps, 0);
    too_slow(LZ_METRIC_CompileTime, "CompileTime", 300);
    too_slow(LZ_METRIC_ExecuteTime, "ExecuteTime", 30);
    lz_mutex_unlock(&out_lock);
}
