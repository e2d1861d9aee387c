/* trace_folder.c - see trace_folder.h. The XSpace is one message, so it is written anew each time;
 * at times that double, which costs no more than writing it twice. */
#include "runtime/watch/trace_folder.h"
#include "base/file_io.h"
#include "base/text.h"
#include "base/thread.h"
#include "base/timeline/trace_file.h"
#include "runtime/watch/xplane.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATH = 4096 - 256, NAME = 200, FIRST_NS = 250000000, MOST_RUNS = 1000, ARROWS = 512 };

/* The latest arrows that have one end: a beginning is written at once, an end when its beginning
 * has come, which may be later, or not at all where the trace is cut. */
typedef struct arrow {
    uint64_t flow; /* 0: none */
    int64_t tid, start_ns;
} arrow;
typedef struct arrows {
    arrow at[ARROWS];
    uint32_t next;
} arrows;

struct lz_trace_folder {
    char path[PATH]; /* of the run */
    char xplane_path[4096], json_path[4096];
    lz_watch_origin origin;
    lz_xplane *xplane;
    lz_trace_file json;
    lz_map told;              /* names of rows that the second file has, by number: hashes */
    LZ_VEC(lz_hash *) hashes; /* they are of these */
    arrows begun, ended;
    int64_t opened_ns, next_ns; /* when the first file is written again, since it was opened */
    uint64_t nevent;
};

/* ---- names ---- */

/* What a file may be called: of a name that came from elsewhere. */
static void file_name(const lz_watch_origin *o, char name[NAME])
{
    int n = o->size > 1 ? snprintf(name, NAME, "%s-rank%u", o->host, o->rank)
                        : snprintf(name, NAME, "%s", o->host);
    if (n <= 0)
        snprintf(name, NAME, "host");
    for (char *c = name; *c; c++)
        if (!lz_is_alnum(*c) && *c != '-' && *c != '_' && (*c != '.' || c == name))
            *c = '_';
}

/* A run that has no files of this name yet. */
static lz_status choose_run(lz_trace_folder *f, const char *logdir)
{
    char run[64], name[NAME];
    time_t t = (time_t)(f->origin.began_unix_ns / 1000000000);
    struct tm tm;
    if (!localtime_r(&t, &tm) || strftime(run, sizeof run, "%Y_%m_%d_%H_%M_%S", &tm) == 0)
        snprintf(run, sizeof run, "run");
    file_name(&f->origin, name);
    for (int i = 0; i < MOST_RUNS; i++) {
        char more[16] = "";
        if (i)
            snprintf(more, sizeof more, "_%d", i);
        int n = snprintf(f->path, sizeof f->path, "%s/plugins/profile/%s%s", logdir, run, more);
        if (n < 0 || (size_t)n >= sizeof f->path)
            return LZ_FAIL(LZ_EINVAL, "the path %.100s... is too long", logdir);
        snprintf(f->xplane_path, sizeof f->xplane_path, "%s/%s.xplane.pb", f->path, name);
        snprintf(f->json_path, sizeof f->json_path, "%s/%s.trace.json.gz", f->path, name);
        if (access(f->xplane_path, F_OK) != 0 && access(f->json_path, F_OK) != 0)
            return lz_file_make_folders(f->path);
    }
    return LZ_FAIL(LZ_EEXIST, "%s has a trace of this name already", f->path);
}

/* ---- the files ---- */

static lz_status write_xplane(lz_trace_folder *f)
{
    lz_buf b = {0};
    lz_status s = lz_xplane_encode(f->xplane, &b);
    if (s == LZ_OK)
        s = lz_outfile_write(f->xplane_path, b.data, b.len, false);
    lz_buf_free(&b);
    return s;
}

static void free_folder(lz_trace_folder *f)
{
    for (uint32_t i = 0; i < f->hashes.len; i++)
        lz_free(f->hashes.data[i]);
    lz_vec_free(&f->hashes);
    lz_map_free(&f->told);
    lz_xplane_free(f->xplane);
    lz_free(f);
}

static lz_trace_totals totals(const lz_trace_folder *f, uint64_t dropped)
{
    return (lz_trace_totals){dropped, f->origin.began_unix_ns};
}

static lz_status open_files(lz_trace_folder *f, const char *logdir)
{
    LZ_TRY(choose_run(f, logdir));
    LZ_TRY(lz_trace_file_open(&f->json, f->json_path, true));
    lz_trace_name_json(lz_trace_file_event(&f->json), (int)f->origin.pid, f->origin.pid,
                       "process_name", lz_trace_text_of(f->origin.program));
    lz_status s = write_xplane(f);
    if (s != LZ_OK)
        LZ_QUIETLY {
            lz_trace_totals t = totals(f, 0);
            (void)lz_trace_file_close(&f->json, &t);
        }
    return s;
}

lz_status lz_trace_folder_open(const char *logdir, const lz_watch_origin *o, lz_trace_folder **out)
{
    lz_trace_folder *f = lz_calloc(1, sizeof *f);
    *out = f;
    if (!f)
        return LZ_FAIL(LZ_EMEM, "no memory for a trace");
    f->origin = *o;
    f->opened_ns = lz_now_ns();
    f->next_ns = FIRST_NS;
    f->xplane = lz_xplane_new(o->host, o->began_ns, o->began_unix_ns);
    lz_status s = f->xplane ? open_files(f, logdir) : LZ_EMEM;
    if (s != LZ_OK) {
        free_folder(f);
        *out = NULL;
    }
    return s;
}

/* ---- events ---- */

/* Its name, before the first event of a row and when it has changed. */
static lz_status tell_row(lz_trace_folder *f, const lz_trace_event *e)
{
    lz_hash tid = lz_hash_bytes(&e->tid, sizeof e->tid), name = lz_hash_bytes(e->row.at, e->row.n);
    lz_hash *told = lz_map_get(&f->told, tid);
    if (told && lz_hash_eq(*told, name))
        return LZ_OK;
    if (!told) {
        told = lz_alloc(sizeof *told);
        if (!told)
            return LZ_FAIL(LZ_EMEM, "no memory for a row of a trace");
        lz_status s = lz_vec_push(&f->hashes, told);
        if (s != LZ_OK) {
            lz_free(told);
            return s;
        }
        LZ_TRY(lz_map_put(&f->told, tid, told));
    }
    *told = name;
    lz_trace_name_json(lz_trace_file_event(&f->json), (int)f->origin.pid, e->tid, "thread_name",
                       e->row);
    return LZ_OK;
}

static lz_buf *next_event(void *user)
{
    return lz_trace_file_event(user);
}

/* The arrow's other end, which is no longer waited for; false: it has not come. */
static bool take_arrow(arrows *a, uint64_t flow, arrow *out)
{
    for (uint32_t i = 0; i < ARROWS; i++)
        if (a->at[i].flow == flow) {
            *out = a->at[i];
            a->at[i].flow = 0;
            return true;
        }
    return false;
}

static void keep_arrow(arrows *a, const lz_trace_event *e)
{
    a->at[a->next++ % ARROWS] = (arrow){e->flow, e->tid, e->start_ns};
}

static void write_arrow(lz_trace_folder *f, const lz_trace_event *e)
{
    lz_trace_arrow_json(lz_trace_file_event(&f->json), e, (int)f->origin.pid, f->origin.began_ns);
}

static void add_arrow(lz_trace_folder *f, const lz_trace_event *e)
{
    arrow other;
    bool met = take_arrow(e->sends ? &f->ended : &f->begun, e->flow, &other);
    if (e->sends || met)
        write_arrow(f, e);
    if (e->sends && met)
        write_arrow(
            f, &(lz_trace_event){.tid = other.tid, .start_ns = other.start_ns, .flow = other.flow});
    if (!met)
        keep_arrow(e->sends ? &f->begun : &f->ended, e);
}

static lz_status add(lz_trace_folder *f, lz_trace_event *e)
{
    if (e->start_ns < f->origin.began_ns)
        return LZ_OK; /* it has no place in time */
    LZ_TRY(tell_row(f, e));
    if (e->flow)
        add_arrow(f, e);
    e->flow = 0;
    lz_trace_event_json(e, (int)f->origin.pid, f->origin.began_ns, next_event, &f->json);
    f->nevent++;
    return lz_xplane_add(f->xplane, e);
}

lz_status lz_trace_folder_add(lz_trace_folder *f, const void *p, size_t n)
{
    lz_rd r = {p, (const uint8_t *)p + n, false, false};
    lz_trace_event e;
    while (lz_trace_event_get(&r, &e))
        LZ_TRY(add(f, &e));
    return r.failed ? LZ_FAIL(LZ_EPARSE, "events that are malformed were received") : LZ_OK;
}

void lz_trace_folder_flush(lz_trace_folder *f)
{
    lz_trace_totals t = totals(f, 0);
    int64_t now = lz_now_ns() - f->opened_ns;
    lz_trace_file_flush(&f->json, &t);
    if (now < f->next_ns)
        return;
    LZ_QUIETLY (void)
        write_xplane(f); /* the last one says why not */
    f->next_ns = 2 * now;
}

lz_status lz_trace_folder_close(lz_trace_folder *f, uint64_t dropped)
{
    lz_trace_totals t = totals(f, dropped);
    lz_status s = write_xplane(f);
    if (s == LZ_OK)
        s = lz_trace_file_close(&f->json, &t);
    else
        LZ_QUIETLY (void)
            lz_trace_file_close(&f->json, &t);
    free_folder(f);
    return s;
}

void lz_trace_folder_forget(lz_trace_folder *f)
{
    lz_trace_file_forget(&f->json, false);
}

const char *lz_trace_folder_path(const lz_trace_folder *f)
{
    return f->path;
}

uint64_t lz_trace_folder_events(const lz_trace_folder *f)
{
    return f->nevent;
}
