/* analysis.c - see analysis.h. Formats: torch_xla/csrc/debug_util.cpp and
 * runtime/metrics_analysis.cpp, so that scripts that read them keep working. The line "Why It
 * Compiled" is ours. */
#include "runtime/debug/analysis.h"
#include "base/config.h"
#include "base/log.h"
#include "base/outfile.h"
#include "base/timeline.h"
#include "ir/attr.h"
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

static void emit(lz_buf *b)
{
    const char *path = lz_cfg_str(LZ_OPT_PT_XLA_DEBUG_FILE);
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

/* ---- why it compiled ---- */

static void site_text(const lz_site *s, char *buf, size_t n)
{
    if (s && s->file)
        snprintf(buf, n, " at %s:%d", s->file, s->line);
    else
        buf[0] = '\0';
}

static void attr_text(const lz_attr *a, char *buf, size_t n)
{
    lz_buf b = {0};
    lz_attr_print(&b, a);
    snprintf(buf, n, "%s", lz_buf_str(&b));
    lz_buf_free(&b);
}

/* How two signatures of the same op differ. */
static void sig_difference(const lz_sig *is, const lz_sig *was, char *buf, size_t n)
{
    char a[128], b[128];
    if (is->nopnd != was->nopnd) {
        snprintf(buf, n, "%u operands, was %u", is->nopnd, was->nopnd);
        return;
    }
    for (uint32_t k = 0; k < is->nopnd; k++)
        if (is->opnd[k] != was->opnd[k]) {
            snprintf(buf, n, "operand %u is %s, was %s", k, lz_type_short(is->opnd[k], a, sizeof a),
                     lz_type_short(was->opnd[k], b, sizeof b));
            return;
        }
    if (is->attr != was->attr && is->nopnd) {
        attr_text(is->attr, a, sizeof a);
        attr_text(was->attr, b, sizeof b);
        snprintf(buf, n, "%s, was %s", a, b);
        return;
    }
    snprintf(buf, n, "is %s, was %s", lz_type_short(is->result[0], a, sizeof a),
             lz_type_short(was->result[0], b, sizeof b));
}

/* Node i of a graph as seen by the graph: a leaf is a parameter, whatever operation once made its
 * value. */
static lz_graph_note note_of(const lz_capture *c, uint32_t i)
{
    return (lz_graph_note){c->nodes.data[i]->sig, c->nodes.data[i]->site,
                           c->notes.data[i].leaf != UINT32_MAX};
}

static bool same_op(const lz_graph_note *a, const lz_graph_note *b)
{
    return a->leaf == b->leaf && (a->leaf || a->sig->op == b->sig->op);
}

static bool same_note(const lz_graph_note *a, const lz_graph_note *b)
{
    return same_op(a, b) && (a->leaf ? a->sig->result[0] == b->sig->result[0] : a->sig == b->sig);
}

static const char *op_text(const lz_graph_note *n)
{
    return n->leaf ? "parameter" : lz_op_get(n->sig->op)->text;
}

static void note_difference(const lz_graph_note *is, const lz_graph_note *was, char *buf, size_t n)
{
    char where[160], before[160], what[360], a[128], b[128];
    site_text(is->site, where, sizeof where);
    site_text(was->site, before, sizeof before);
    if (!same_op(is, was)) {
        snprintf(buf, n, "%s%s, was %s%s", op_text(is), where, op_text(was), before);
        return;
    }
    if (is->leaf)
        snprintf(what, sizeof what, "is %s, was %s", lz_type_short(is->sig->result[0], a, sizeof a),
                 lz_type_short(was->sig->result[0], b, sizeof b));
    else
        sig_difference(is->sig, was->sig, what, sizeof what);
    snprintf(buf, n, "%s%s: %s", op_text(is), where, what);
}

bool lz_analysis_difference(const lz_capture *c, const lz_program *p, char *buf, size_t n)
{
    uint32_t len = c->nodes.len < p->nnote ? c->nodes.len : p->nnote, at = len, leaf = len;
    for (uint32_t i = 0; i < len && at == len; i++) {
        lz_graph_note is = note_of(c, i);
        if (same_note(&is, &p->notes[i]))
            continue;
        if (same_op(&is, &p->notes[i]) && (is.leaf || is.sig->nopnd == 0)) {
            if (leaf == len) /* the operation that reads it says more */
                leaf = i;
        } else {
            at = i;
        }
    }
    if (at == len)
        at = leaf;
    if (at < len) {
        lz_graph_note is = note_of(c, at);
        note_difference(&is, &p->notes[at], buf, n);
        return true;
    }
    if (c->nodes.len != p->nnode) {
        if (c->nodes.len > len) {
            char where[160];
            lz_graph_note first = note_of(c, len);
            site_text(first.site, where, sizeof where);
            snprintf(buf, n, "%u operations more, the first is %s%s", c->nodes.len - p->nnode,
                     op_text(&first), where);
        } else {
            snprintf(buf, n, "%u operations fewer", p->nnode - c->nodes.len);
        }
        return true;
    }
    if (c->roots.len != p->nroot)
        snprintf(buf, n, "the same operations, but %u results, was %u", c->roots.len, p->nroot);
    else
        snprintf(
            buf, n,
            "the same operations, but other connections, constants, results or donated inputs");
    return true;
}

typedef struct nearest {
    const lz_capture *c;
    const lz_program *best;
    int64_t score;
    uint32_t seen;
} nearest;

static bool look(const lz_program *p, void *user)
{
    nearest *q = user;
    uint32_t n = q->c->nodes.len < p->nnote ? q->c->nodes.len : p->nnote;
    int64_t diff = (int64_t)q->c->nodes.len - p->nnode, score = -2 * (diff < 0 ? -diff : diff);
    for (uint32_t i = 0; i < n; i++) {
        lz_graph_note is = note_of(q->c, i);
        score += same_op(&is, &p->notes[i]) + same_note(&is, &p->notes[i]);
    }
    if (!q->best || score > q->score) {
        if (q->best)
            lz_program_release((lz_program *)q->best);
        atomic_fetch_add(&((lz_program *)p)->refs, 1);
        q->best = p;
        q->score = score;
    }
    return ++q->seen < 256;
}

/* The first difference from the nearest known graph, whose hash `known` gets, "" when there is
 * none. */
static void why(const lz_capture *c, char known[33], char *text, size_t n)
{
    nearest q = {.c = c};
    lz_program_each(look, &q);
    snprintf(text, n, "it is the first graph");
    known[0] = '\0';
    if (!q.best)
        return;
    (void)lz_hash_text(q.best->hash, known);
    (void)lz_analysis_difference(c, q.best, text, n);
    lz_program_release((lz_program *)q.best);
}

static void print_why(lz_buf *b, const lz_capture *c)
{
    char text[700], known[33];
    why(c, known, text, sizeof text);
    lz_buf_puts(b, "Compilation Analysis: Why It Compiled: \n");
    if (known[0])
        lz_buf_printf(b, "Compilation Analysis:   nearest known graph %s\n", known);
    lz_buf_printf(b, "Compilation Analysis:   %s\n", text);
}

/* ---- blocks ---- */

void lz_analysis_compilation(const lz_capture *c, lz_hash hash, uint32_t nparam, uint32_t nresult,
                             lz_sync_cause cause)
{
    lz_buf b = {0};
    const lz_thread_state *t = lz_thread_state_self;
    if (level() < 1)
        return;
    begin(&b, "Compilation", cause, t ? t->graph_name : NULL, hash, nparam, nresult);
    print_why(&b, c);
    finish(&b, "Compilation");
}

void lz_analysis_span(const lz_capture *c, lz_hash hash, uint32_t nparam, uint32_t nresult,
                      lz_sync_cause cause)
{
    int64_t t0 = lz_timeline_begin();
    char text[256], known[33], is[33];
    if (!t0)
        return;
    why(c, known, text, sizeof text);
    lz_timeline_end(t0, .name = "new graph", .category = "trace", .key = {"parameters", "results"},
                    .value = {nparam, nresult}, .text_key = "graph", .text = lz_hash_text(hash, is),
                    .more = {{"cause", cause_text(cause)},
                             {"why", text},
                             {"nearest", known[0] ? known : NULL}});
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

static void too_frequent(lz_metric_id id, const char *name, int64_t steps, int64_t warm_up)
{
    uint64_t n = lz_metric_samples(id, NULL, NULL);
    if (steps > warm_up && (double)n > 0.5 * (double)steps)
        printf("pt-xla-profiler: %s too frequent: %" PRIu64 " counts during %" PRId64 " steps\n",
               name, n, steps);
}

static void too_slow(lz_metric_id id, const char *name, double seconds)
{
    double longest = 0;
    lz_buf b = {0};
    lz_metric_samples(id, NULL, &longest);
    if (longest <= seconds * 1e9)
        return;
    lz_metrics_print_time(&b, longest);
    printf("pt-xla-profiler: %s too slow: longest instance took %s. Please open a GitHub issue "
           "with the graph dump for our team to optimize.\n",
           name, lz_buf_str(&b));
    lz_buf_free(&b);
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
    fflush(stdout);
    lz_mutex_unlock(&out_lock);
}
