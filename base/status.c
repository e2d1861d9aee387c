/* status.c - the thread's error record. Nothing here allocates. Threads: the record is
 * thread-local. */
#include "base/status.h"
#include "base/log.h"
#include "base/text.h"
#include "base/unseen_error.h"
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Atomic uint64_t serials;
static _Thread_local lz_error last;
static _Thread_local lz_error_before *saved_in;

const char *lz_status_name(lz_status s)
{
    switch (s) {
#define LZ_STATUS(name, value, doc)                                                                \
    case LZ_##name:                                                                                \
        return "LZ_" #name;
#include <lazuli/status.def>
#undef LZ_STATUS
    }
    return "LZ_?";
}

const char *lz_status_message(lz_status s)
{
    switch (s) {
#define LZ_STATUS(name, value, doc)                                                                \
    case LZ_##name:                                                                                \
        return doc;
#include <lazuli/status.def>
#undef LZ_STATUS
    }
    return "unknown status";
}

/* A message that was cut must not end in the middle of a UTF-8 character. */
static void trim_utf8(char *s, size_t len)
{
    size_t i = len;
    while (i > 0 && ((unsigned char)s[i - 1] & 0xC0) == 0x80)
        i--;
    if (i == 0)
        return;
    unsigned char c = (unsigned char)s[i - 1];
    size_t want = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
    if (len - (i - 1) < want)
        s[i - 1] = '\0';
}

static void save(uint64_t serial)
{
    if (saved_in && saved_in->saved && !saved_in->serial)
        saved_in->serial = serial; /* of the first failure that is one of its own */
    if (!saved_in || saved_in->saved)
        return;
    saved_in->saved = true;
    saved_in->serial = serial;
    saved_in->error = last;
}

lz_status lz_fail(lz_status s, const char *from, const char *fmt, ...)
{
    char text[sizeof last.message]; /* an argument may point into the record itself */
    va_list ap;
    va_start(ap, fmt);
    int n = lz_vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (n < 0)
        text[0] = '\0';
    else if ((size_t)n >= sizeof text)
        trim_utf8(text, sizeof text - 1);
    uint64_t serial = atomic_fetch_add(&serials, 1) + 1;
    save(serial);
    last.status = s;
    last.serial = serial;
    last.line = 0;
    last.file[0] = last.op[0] = '\0';
    memcpy(last.message, text, sizeof text);
    if (lz_log_enabled(LZ_LOG_DEBUG))
        lz_logf(LZ_LOG_DEBUG, "status", "%s at %s: %s", lz_status_name(s), from ? from : "?", text);
    return s;
}

const lz_error *lz_error_get(void)
{
    return &last;
}

void lz_error_save_in(lz_error_before *b)
{
    saved_in = b;
}

/* No failure inside counts as one of the public function that is being run. */
lz_error_quiet lz_error_quiet_begin(void)
{
    lz_error_quiet q = {last, atomic_load(&serials), saved_in};
    saved_in = NULL;
    return q;
}

void lz_error_quiet_end(lz_error_quiet *q)
{
    if (q->in) /* else it may have come to be inside */
        saved_in = q->in;
    last = q->error;
    lz_unseen_forget(q->serial + 1);
}

void lz_error_set_aside(lz_error_aside *a)
{
    a->in = saved_in;
    a->error = last;
    if (a->in)
        a->before = *a->in;
}

void lz_error_put_back(const lz_error_aside *a)
{
    last = a->error;
    if (a->in)
        *a->in = a->before;
    else if (saved_in)
        saved_in->saved = false;
}

void lz_error_recover(lz_error_before *b)
{
    if (!b->saved)
        return;
    b->saved = false;
    last = b->error;
    if (b->serial)
        lz_unseen_forget(b->serial);
}

void lz_error_set(const lz_error *e)
{
    save(0); /* a failure that was there before */
    if (e)
        memmove(&last, e, sizeof last);
    else
        lz_error_clear();
}

static __thread const char *spoken_for;

const char *lz_error_speak_for(const char *op)
{
    const char *before = spoken_for;
    spoken_for = op;
    return before;
}

bool lz_error_spoken_for(void)
{
    return spoken_for != NULL;
}

void lz_error_annotate(const char *op, const lz_site *site)
{
    if (spoken_for)
        op = spoken_for;
    if (op)
        snprintf(last.op, sizeof last.op, "%s", op);
    if (!site)
        return;
    const char *file = site->file ? site->file : "";
    size_t n = strlen(file);
    if (n >= sizeof last.file)
        file += n - (sizeof last.file - 1); /* the end of a path says more than its beginning */
    snprintf(last.file, sizeof last.file, "%s", file);
    last.line = site->line;
}

lz_status lz_error_annotated(const char *op, lz_status s)
{
    if (s != LZ_OK)
        lz_error_annotate(op, NULL);
    return s;
}

const char *lz_error_text(const lz_error *e, char text[LZ_ERROR_TEXT])
{
    size_t n = 0, size = LZ_ERROR_TEXT;
    text[0] = '\0';
    if (e->status == LZ_OK)
        return text;
    if (e->file[0])
        n += (size_t)snprintf(text, size, "%s:%d: ", e->file, e->line);
    if (e->op[0])
        n += (size_t)snprintf(text + n, size - n, "%s: ", e->op);
    snprintf(text + n, size - n, "%s: %s", e->message, lz_status_name(e->status));
    return text;
}

void lz_error_clear(void)
{
    last.status = LZ_OK;
    last.serial = 0;
    last.line = 0;
    last.file[0] = last.op[0] = last.message[0] = '\0';
}

void lz_assert_failed(const char *expr, const char *file, int line)
{
    fprintf(stderr, "lazuli: internal error: %s does not hold (%s:%d); please report it\n", expr,
            file, line);
    abort();
}
