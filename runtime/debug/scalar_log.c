/* scalar_log.c - see scalar_log.h, include/lazuli/debug.h. TensorBoard's file is a sequence of
 * records (base/formats/tfrecord.h), each an Event (tensorflow/core/util/event.proto) with a
 * Summary (tensorflow/core/framework/summary.proto). Both files take a scalar in one write each, so
 * that a killed process leaves whole ones. */
#include "runtime/debug/scalar_log.h"
#include "base/file_io.h"
#include "base/formats/json.h"
#include "base/formats/proto.h"
#include "base/formats/tfrecord.h"
#include "base/outfile.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/thread.h"
#include "runtime/graph/node.h"
#include <fcntl.h>
#include <inttypes.h>
#include <lazuli/debug.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 4096, NAME = 256, NEWEST = 4 };

/* Fields of the messages. */
enum { EVENT_WALL_TIME = 1, EVENT_STEP = 2, EVENT_FILE_VERSION = 3, EVENT_SUMMARY = 5 };
enum { SUMMARY_VALUE = 1, VALUE_TAG = 1, VALUE_SIMPLE = 2 };

static lz_mutex lock = LZ_MUTEX_INIT("scalar log");
static struct {
    bool on;
    pid_t pid; /* whose the files are */
    char lines[PATH], events[PATH];
    lz_outfile file; /* of the events */
    bool lost;       /* it lacks one */
    bool torn;       /* the last line may have no end */
} scalars;
static struct {
    char name[NAME];
    double value;
} newest[NEWEST];
static int nnewest;

/* ---- files ---- */

static void put_event(lz_buf *out, double seconds, int64_t step, lz_buf *summary,
                      const char *version)
{
    lz_buf e = {0};
    lz_proto_double(&e, EVENT_WALL_TIME, seconds);
    if (step)
        lz_proto_int(&e, EVENT_STEP, step);
    if (version)
        lz_proto_bytes(&e, EVENT_FILE_VERSION, version, strlen(version));
    if (summary)
        lz_proto_message(&e, EVENT_SUMMARY, summary);
    lz_tfrecord_put(out, e.data, e.len);
    out->failed |= e.failed;
    lz_buf_free(&e);
}

static lz_status append_events(lz_buf *b)
{
    if (b->failed)
        return LZ_FAIL(LZ_EMEM, "no memory for a scalar");
    lz_outfile_extend(&scalars.file, b->data, b->len, 0, false);
    return scalars.file.status; /* with its message */
}

static lz_status write_event(const char *name, double value, int64_t step, double seconds)
{
    lz_buf v = {0}, summary = {0}, out = {0};
    lz_proto_bytes(&v, VALUE_TAG, name, strlen(name));
    lz_proto_float(&v, VALUE_SIMPLE, (float)value);
    lz_proto_message(&summary, SUMMARY_VALUE, &v);
    put_event(&out, seconds, step, &summary, NULL);
    lz_outfile_go_on(&scalars.file); /* the disk that was full may not be now */
    lz_status s = append_events(&out);
    scalars.lost |= s != LZ_OK;
    lz_buf_free(&v);
    lz_buf_free(&summary);
    lz_buf_free(&out);
    return s;
}

static lz_status write_line(const char *name, double value, int64_t step, double seconds)
{
    lz_buf b = {0};
    lz_buf_puts(&b, scalars.torn ? "\n" : "");
    lz_buf_printf(&b, "{\"time\":%.6f,\"step\":%" PRId64 ",\"name\":", seconds, step);
    lz_buf_json_text(&b, name);
    if (isnan(value))
        lz_buf_puts(&b, ",\"value\":\"NaN\"}\n");
    else if (isinf(value))
        lz_buf_printf(&b, ",\"value\":\"%sInfinity\"}\n", value < 0 ? "-" : "");
    else
        lz_buf_printf(&b, ",\"value\":%.17g}\n", value);
    int error = b.failed ? ENOMEM : lz_file_append(scalars.lines, b.data, b.len, false);
    scalars.torn = error && (scalars.torn || !b.failed);
    lz_buf_free(&b);
    return error ? LZ_FAIL(lz_file_status(error), "%s: a scalar cannot be written: %s",
                           scalars.lines, strerrordesc_np(error))
                 : LZ_OK;
}

/* ---- the log ---- */

/* A name that no file has: the second call of a second, or of a process. */
static lz_status choose_names(const char *logdir)
{
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) != 0 || !host[0])
        snprintf(host, sizeof host, "host");
    for (char *c = host; *c; c++)
        *c = lz_is_alnum(*c) || *c == '-' || *c == '.' ? *c : '_';
    int n = snprintf(scalars.lines, PATH, "%s/scalars.jsonl", logdir);
    for (int i = 0; i < 1000; i++) {
        n = snprintf(scalars.events, PATH, "%s/events.out.tfevents.%010" PRId64 ".%s.%d.%d", logdir,
                     lz_wall_ns() / 1000000000, host, (int)getpid(), i);
        if (n >= PATH || access(scalars.events, F_OK) != 0)
            break;
    }
    return n < PATH ? LZ_OK : LZ_FAIL(LZ_EINVAL, "the path %.100s... is too long", logdir);
}

/* Whether a file of a log before ends within a line: the disk was full, or the machine stopped. */
static bool is_torn(const char *path)
{
    char last = '\n';
    int fd = lz_file_open(path, O_NONBLOCK);
    if (fd < 0)
        return false;
    if (lseek(fd, -1, SEEK_END) < 0 || lz_file_read(fd, &last, 1) != 1)
        last = '\n';
    (void)lz_file_close(fd);
    return last != '\n';
}

static lz_status start(const char *logdir)
{
    lz_buf b = {0};
    LZ_TRY(choose_names(logdir));
    LZ_TRY(lz_file_make_folders(logdir));
    int error = lz_file_append(scalars.lines, "", 0, false); /* whether it can be written */
    if (error)
        return LZ_FAIL(lz_file_status(error), "%s: %s", scalars.lines, strerrordesc_np(error));
    LZ_TRY(lz_outfile_begin(&scalars.file, scalars.events, false));
    lz_outfile_live(&scalars.file);
    put_event(&b, (double)lz_wall_ns() * 1e-9, 0, NULL, "brain.Event:2");
    lz_status s = append_events(&b);
    lz_buf_free(&b);
    if (s != LZ_OK) {
        LZ_QUIETLY (void)
            lz_outfile_end(&scalars.file, LZ_OK);
        return s;
    }
    scalars.on = true;
    scalars.lost = false;
    scalars.torn = is_torn(scalars.lines);
    scalars.pid = getpid();
    return LZ_OK;
}

/* Under the lock: whether there is a log, and it is this process's. */
static bool is_on(void)
{
    if (scalars.on && scalars.pid != getpid()) {
        lz_outfile_forget(&scalars.file);
        scalars.on = false;
    }
    return scalars.on;
}

static void keep_newest(const char *name, double value)
{
    int i = 0;
    while (i < nnewest && strcmp(newest[i].name, name) != 0)
        i++;
    if (i == NEWEST)
        return;
    if (i == nnewest)
        snprintf(newest[nnewest++].name, NAME, "%s", name);
    newest[i].value = value;
}

void lz_scalar_print(lz_buf *out, double v)
{
    lz_buf_printf(out, fabs(v) >= 1000 && fabs(v) < 1e6 ? "%.0f" : "%.4g", v);
}

void lz_scalar_log_print_newest(lz_buf *out)
{
    lz_mutex_lock(&lock);
    for (int i = 0; i < nnewest; i++) {
        lz_buf_puts(out, "  ");
        lz_buf_terminal_text(out, newest[i].name);
        lz_buf_putc(out, ' ');
        lz_scalar_print(out, newest[i].value);
    }
    lz_mutex_unlock(&lock);
}

/* ---- public ---- */

lz_status lz_start_scalar_log(const char *logdir)
{
    LZ_PUBLIC(LZ_EFORK);
    if (!logdir)
        return lz_error_annotated("lz_start_scalar_log", LZ_FAIL(LZ_ENULL, "logdir is NULL"));
    if (!*logdir)
        return lz_error_annotated("lz_start_scalar_log", LZ_FAIL(LZ_EINVAL, "logdir is empty"));
    lz_mutex_lock(&lock);
    lz_status s = is_on() ? LZ_FAIL(LZ_ESTATE, "scalars are logged to %s already", scalars.lines)
                          : start(logdir);
    lz_mutex_unlock(&lock);
    return lz_error_annotated("lz_start_scalar_log", s);
}

static lz_status check_name(const char *name)
{
    if (!name)
        return LZ_FAIL(LZ_ENULL, "name is NULL");
    size_t n = strnlen(name, NAME), len = 1;
    if (n == 0 || n == NAME)
        return LZ_FAIL(LZ_EINVAL, "a name has 1 to %d bytes", NAME - 1);
    for (size_t i = 0; i < n && len; i += len)
        len = lz_utf8_length(name + i, n - i);
    return len ? LZ_OK : LZ_FAIL(LZ_EINVAL, "the name is no UTF-8 text");
}

lz_status lz_log_scalar(const char *name, double value, int64_t step)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_status s = check_name(name), lines = LZ_OK, events = LZ_OK;
    if (s == LZ_OK && step < 0)
        s = LZ_FAIL(LZ_EINVAL, "step %" PRId64 " is negative", step);
    if (s != LZ_OK)
        return lz_error_annotated("lz_log_scalar", s);
    lz_mutex_lock(&lock);
    keep_newest(name, value);
    if (is_on()) {
        double seconds = (double)lz_wall_ns() * 1e-9;
        events = write_event(name, value, step, seconds);
        lines = write_line(name, value, step, seconds);
    }
    lz_mutex_unlock(&lock);
    return lz_error_annotated("lz_log_scalar", lines != LZ_OK ? lines : events);
}

lz_status lz_stop_scalar_log(void)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_mutex_lock(&lock);
    lz_status s = is_on() ? lz_outfile_end(&scalars.file, LZ_OK)
                          : LZ_FAIL(LZ_ESTATE, "no scalars are logged");
    if (s == LZ_OK && scalars.lost)
        s = LZ_FAIL(LZ_EIO, "%s lacks scalars, which could not be written", scalars.events);
    scalars.on = false;
    lz_mutex_unlock(&lock);
    return lz_error_annotated("lz_stop_scalar_log", s);
}
