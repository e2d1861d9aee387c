/* progress.c - the line of progress on a terminal (include/lazuli/debug.h). */
#include "base/terminal.h"
#include "base/text.h"
#include "base/thread.h"
#include "runtime/debug/scalar_log.h"
#include "runtime/graph/node.h"
#include <inttypes.h>
#include <lazuli/debug.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { WHAT = 64, BAR = 24, REDRAW_NS = 100000000 };
static const double RATE_SECONDS = 10; /* in which a rate forgets most of what was before */

static lz_mutex lock = LZ_MUTEX_INIT("progress");
static struct {
    char what[WHAT];
    bool begun;
    bool open;  /* the line is not ended */
    bool known; /* the rate is */
    int64_t done, noted_ns, drawn_ns;
    double rate; /* a second */
} line;

static int64_t now_ns(void)
{
    int64_t t = lz_now_ns();
    return t ? t : 1;
}

/* Asked for as often as a line may be drawn, not with each step. */
static bool is_terminal(void)
{
    static _Atomic int64_t asked_ns;
    static _Atomic bool is;
    int64_t now = now_ns(), last = atomic_load_explicit(&asked_ns, memory_order_acquire);
    if (last && now - last < REDRAW_NS)
        return atomic_load_explicit(&is, memory_order_relaxed);
    bool yes = lz_terminal_is(STDERR_FILENO);
    atomic_store_explicit(&is, yes, memory_order_relaxed);
    atomic_store_explicit(&asked_ns, now, memory_order_release);
    return yes;
}

/* Whole characters. */
static void copy_what(char to[WHAT], const char *what)
{
    size_t n = 0, left = strnlen(what, WHAT + 4); /* a character more than there is room for */
    while (n < left) {
        size_t whole = lz_utf8_length(what + n, left - n), len = whole ? whole : 1;
        if (n + len >= WHAT)
            break;
        n += len;
    }
    memcpy(to, what, n);
    to[n] = '\0';
    for (char *c = to; *c; c++) /* a line that it must not leave */
        *c = (unsigned char)*c < ' ' ? ' ' : *c;
}

static void begin(const char *what, int64_t done)
{
    if (line.open)
        fputc('\n', stderr);
    memset(&line, 0, sizeof line);
    memcpy(line.what, what, WHAT);
    line.begun = true;
    line.done = done;
    line.noted_ns = now_ns();
}

/* What was done since the last time goes into the rate by how long it took. */
static void note(int64_t done)
{
    int64_t now = now_ns();
    double s = (double)(now - line.noted_ns) * 1e-9;
    if (done == line.done || s <= 0)
        return;
    double is = done > line.done ? (double)(done - line.done) / s : 0;
    line.rate = line.known ? line.rate + (is - line.rate) * -expm1(-s / RATE_SECONDS) : is;
    line.known = true;
    line.done = done;
    line.noted_ns = now;
}

static void put_duration(lz_buf *b, double s)
{
    if (!(s < 100 * 3600.0))
        lz_buf_printf(b, "%.0f days", s / 86400);
    else if (s >= 3600)
        lz_buf_printf(b, "%d:%02d:%02d", (int)s / 3600, (int)s / 60 % 60, (int)s % 60);
    else
        lz_buf_printf(b, "%d:%02d", (int)s / 60, (int)s % 60);
}

static void put_rate(lz_buf *b, double rate)
{
    lz_buf_puts(b, "  ");
    if (rate >= 1 || rate <= 0) {
        lz_scalar_print(b, rate);
        lz_buf_puts(b, "/s");
    } else {
        lz_scalar_print(b, 1 / rate);
        lz_buf_puts(b, " s each");
    }
}

/* Without colour, which has no width. *bar, *end: where the bar's full part is. */
static void put_line(lz_buf *b, int64_t done, int64_t total, size_t *bar, size_t *end)
{
    lz_buf_terminal_text(b, line.what);
    if (total) {
        int full = (int)((double)BAR * ((double)done / (double)total));
        lz_buf_puts(b, " [");
        *bar = b->len;
        for (int i = 0; i < BAR; i++) {
            if (i == full)
                *end = b->len;
            lz_buf_putc(b, i < full ? '#' : '-');
        }
        *end = full == BAR ? b->len : *end;
        lz_buf_printf(b, "] %" PRId64 " of %" PRId64, done, total);
    } else {
        lz_buf_printf(b, " %" PRId64, done);
    }
    if (line.known)
        put_rate(b, line.rate);
    if (line.known && total && done < total && line.rate > 0) {
        lz_buf_puts(b, "  ");
        put_duration(b, (double)(total - done) / line.rate);
        lz_buf_puts(b, " left");
    }
    lz_scalar_log_print_newest(b);
}

/* How many bytes of s are n characters at most. */
static size_t cut(const char *s, size_t len, int n)
{
    size_t at = 0;
    for (int i = 0; i < n && at < len; i++) {
        size_t k = lz_utf8_length(s + at, len - at);
        at += k ? k : 1;
    }
    return at;
}

static void draw(int64_t done, int64_t total)
{
    lz_buf text = {0}, out = {0};
    size_t bar = 0, end = 0;
    bool colour = lz_terminal_has_colour(STDERR_FILENO);
    put_line(&text, done, total, &bar, &end);
    size_t n = cut(lz_buf_str(&text), text.len, lz_terminal_columns(STDERR_FILENO) - 1);
    end = end < n ? end : n;
    bar = bar < end ? bar : end;
    lz_buf_putc(&out, '\r');
    lz_buf_put(&out, text.data, bar);
    lz_buf_puts(&out, colour ? "\033[32m" : "");
    lz_buf_put(&out, text.data + bar, end - bar);
    lz_buf_puts(&out, colour ? "\033[0m" : "");
    lz_buf_put(&out, text.data + end, n - end);
    lz_buf_puts(&out, "\033[K");
    line.open = !(total && done == total);
    if (!line.open)
        lz_buf_putc(&out, '\n');
    if (!text.failed && !out.failed)
        fwrite(out.data, 1, out.len, stderr);
    line.drawn_ns = now_ns();
    lz_buf_free(&text);
    lz_buf_free(&out);
}

lz_status lz_progress(const char *what, int64_t done, int64_t total)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_status s = !what ? LZ_FAIL(LZ_ENULL, "what is NULL")
                  : done < 0 || total < 0 || (total && done > total)
                      ? LZ_FAIL(LZ_EINVAL, "%" PRId64 " of %" PRId64 " cannot be done", done, total)
                      : LZ_OK;
    if (s != LZ_OK)
        return lz_error_annotated("lz_progress", s);
    if (!is_terminal())
        return LZ_OK;
    char name[WHAT] = "";
    copy_what(name, what);
    lz_mutex_lock(&lock);
    if (!line.begun || strcmp(line.what, name) != 0 || done < line.done)
        begin(name, done);
    else
        note(done);
    if ((total && done == total) || now_ns() - line.drawn_ns >= REDRAW_NS)
        draw(done, total);
    lz_mutex_unlock(&lock);
    return LZ_OK;
}
