/* tracefile.h - reads a file of trace events, strictly, and checks what holds of any: spans of a
 * row nest, times are not negative, every arrow has both ends at spans. Threads: a test's own. */
#ifndef LZ_TEST_TRACEFILE_H
#define LZ_TEST_TRACEFILE_H
#include "suite.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct tf_file {
    json_t *root, *events;
} tf_file;

static inline const char *tf_text(const json_t *e, const char *key)
{
    const char *s = json_string_value(json_object_get(e, key));
    return s ? s : "";
}
static inline double tf_num(const json_t *e, const char *key)
{
    json_t *v = json_object_get(e, key);
    ck_assert_msg(json_is_number(v), "an event has no number %s", key);
    return json_number_value(v);
}
static inline const json_t *tf_arg(const json_t *e, const char *key)
{
    return json_object_get(json_object_get(e, "args"), key);
}
static inline const char *tf_arg_text(const json_t *e, const char *key)
{
    const char *s = json_string_value(tf_arg(e, key));
    return s ? s : "";
}
static inline long long tf_arg_num(const json_t *e, const char *key)
{
    return json_integer_value(tf_arg(e, key));
}
static inline bool tf_is(const json_t *e, const char *ph)
{
    return strcmp(tf_text(e, "ph"), ph) == 0;
}

/* The n-th span (from 0) of this name; cat NULL: any. NULL: there are fewer. */
static inline json_t *tf_span(const tf_file *f, const char *cat, const char *name, int n)
{
    size_t i;
    json_t *e;
    json_array_foreach(f->events, i,
                       e) if (tf_is(e, "X") && strcmp(tf_text(e, "name"), name) == 0 &&
                              (!cat || strcmp(tf_text(e, "cat"), cat) == 0) && n-- == 0) return e;
    return NULL;
}
/* Spans of a category, or of a name; NULL: of any. */
static inline int tf_count(const tf_file *f, const char *cat, const char *name)
{
    size_t i;
    int n = 0;
    json_t *e;
    json_array_foreach(f->events, i, e) n += tf_is(e, "X") &&
                                             (!cat || strcmp(tf_text(e, "cat"), cat) == 0) &&
                                             (!name || strcmp(tf_text(e, "name"), name) == 0);
    return n;
}
/* Name of a row ("thread_name") or of its process ("process_name", tid 0). */
static inline const char *tf_row(const tf_file *f, const char *what, double pid, double tid)
{
    size_t i;
    json_t *e;
    json_array_foreach(f->events, i, e)
    {
        if (!tf_is(e, "M")) /* they come first */
            break;
        if (strcmp(tf_text(e, "name"), what) == 0 && tf_num(e, "pid") == pid &&
            tf_num(e, "tid") == tid)
            return tf_arg_text(e, "name");
    }
    return "";
}

static inline bool tf_within(const json_t *in, const json_t *out)
{
    double a = tf_num(in, "ts"), b = tf_num(out, "ts");
    return a >= b && a + tf_num(in, "dur") <= b + tf_num(out, "dur") + 1e-6;
}
static inline bool tf_same_row(const json_t *a, const json_t *b)
{
    return tf_num(a, "pid") == tf_num(b, "pid") && tf_num(a, "tid") == tf_num(b, "tid");
}

/* By time a row's open spans are a stack. */
static inline void tf_check_row(const tf_file *f, const json_t *of)
{
    enum { DEEP = 64 };
    const json_t *open[DEEP];
    int depth = 0;
    size_t i;
    json_t *e;
    json_array_foreach(f->events, i, e)
    {
        if (!tf_is(e, "X") || !tf_same_row(e, of))
            continue;
        while (depth &&
               tf_num(e, "ts") >=
                   tf_num(open[depth - 1], "ts") + tf_num(open[depth - 1], "dur") - 1e-6 &&
               !tf_within(e, open[depth - 1]))
            depth--;
        ck_assert_msg(!depth || tf_within(e, open[depth - 1]), "%s at %f does not end within %s",
                      tf_text(e, "name"), tf_num(e, "ts"), tf_text(open[depth - 1], "name"));
        ck_assert_int_lt(depth, DEEP);
        open[depth++] = e;
    }
}

static inline void tf_check(const tf_file *f)
{
    size_t i, k;
    json_t *e, *other;
    double last = 0;
    json_array_foreach(f->events, i, e)
    {
        if (tf_is(e, "M"))
            continue;
        ck_assert_msg(tf_num(e, "ts") >= last, "%s is out of order", tf_text(e, "name"));
        last = tf_num(e, "ts");
        if (tf_is(e, "X"))
            ck_assert(tf_num(e, "dur") >= 0);
        if (tf_is(e, "X"))
            ck_assert_str_ne(tf_row(f, "thread_name", tf_num(e, "pid"), tf_num(e, "tid")), "");
        if (tf_is(e, "f")) {
            bool sent = false;
            json_array_foreach(f->events, k, other) sent |=
                tf_is(other, "s") && tf_num(other, "id") == tf_num(e, "id");
            ck_assert_msg(sent, "an arrow comes from nowhere");
        }
    }
    enum { ROWS = 256 };
    const json_t *row[ROWS];
    int nrow = 0;
    json_array_foreach(f->events, i, e)
    {
        int r = 0;
        if (!tf_is(e, "X"))
            continue;
        while (r < nrow && !tf_same_row(row[r], e))
            r++;
        if (r < nrow)
            continue;
        ck_assert_int_lt(nrow, ROWS);
        row[nrow++] = e;
        tf_check_row(f, e);
    }
}

static inline int tf_compare(const void *a, const void *b)
{
    const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
    bool name_x = tf_is(x, "M"), name_y = tf_is(y, "M");
    if (name_x || name_y)
        return name_y - name_x;
    double at = tf_num(x, "ts") - tf_num(y, "ts");
    if (at == 0 && tf_is(x, "X") && tf_is(y, "X"))
        return tf_num(x, "dur") > tf_num(y, "dur") ? -1 : 1;
    return at < 0 ? -1 : at > 0;
}

/* Names first; of those that begin together the longer one. */
static inline json_t *tf_by_time(const json_t *all)
{
    size_t n = json_array_size(all);
    json_t **e = malloc((n + 1) * sizeof *e), *sorted = json_array();
    for (size_t i = 0; i < n; i++)
        e[i] = json_array_get(all, i);
    qsort(e, n, sizeof *e, tf_compare);
    for (size_t i = 0; i < n; i++)
        json_array_append(sorted, e[i]);
    free(e);
    return sorted;
}

static inline tf_file tf_load(const char *path)
{
    json_error_t err;
    tf_file f = {.root = json_load_file(path, JSON_REJECT_DUPLICATES, &err)};
    ck_assert_msg(f.root != NULL, "%s:%d:%d: %s", path, err.line, err.column, err.text);
    json_t *all = json_object_get(f.root, "traceEvents");
    ck_assert(json_is_array(all));
    f.events = tf_by_time(all);
    tf_check(&f);
    return f;
}
static inline long long tf_dropped(const tf_file *f)
{
    return json_integer_value(
        json_object_get(json_object_get(f->root, "otherData"), "dropped_events"));
}
static inline void tf_free(tf_file *f)
{
    json_decref(f->events);
    json_decref(f->root);
}
#endif
