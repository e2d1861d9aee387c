/* plot_read.c - scalars from files: JSON lines, as lz_log_scalar writes them or with a number under
 * each name, and events of TensorBoard. Both are untrusted, and may end in the midst of a scalar,
 * while the training goes on. */
#include "base/formats/proto.h"
#include "base/formats/tfrecord.h"
#include "base/text.h"
#include "data/json.h"
#include "tools/lazuli/plot.h"
#include "tools/lazuli/tool.h"
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NAME = 256, PATH = 4096 };

static lz_status add(plot_data *d, const char *run, const char *name, int64_t step, double value)
{
    lz_hash h = lz_hash_seeded(name, strlen(name), lz_hash_bytes(run, strlen(run)).lo);
    uintptr_t i = (uintptr_t)lz_map_get(&d->at, h);
    if (!i) {
        plot_series s = {.run = lz_strdup(run), .name = lz_strdup(name)};
        if (!s.run || !s.name || lz_vec_push(&d->list, s) != LZ_OK) {
            lz_free(s.run);
            lz_free(s.name);
            return LZ_FAIL(LZ_EMEM, "no memory for a series");
        }
        i = d->list.len;
        LZ_TRY(lz_map_put(&d->at, h, (void *)i));
    }
    plot_series *s = &d->list.data[i - 1];
    plot_point p = {.step = step, .value = value, .order = s->points.len};
    return lz_vec_push(&s->points, p);
}

/* ---- JSON lines ---- */

typedef struct member {
    char name[NAME];
    double value;
} member;
typedef struct object {
    char name[NAME]; /* of lz_log_scalar; "": none */
    double value;
    bool has_value;
    int64_t step; /* -1: it does not say */
    LZ_VEC(member) numbers;
} object;

/* A number, or the text that stands for one that JSON has not; false: something else. *step: the
 * number as a step, which f64 may not have; -1: it is none. */
static bool read_number(lz_json *j, double *out, int64_t *step)
{
    char text[16];
    size_t n;
    bool whole;
    char c = lz_json_peek(j);
    const char *at = j->p;
    *step = -1;
    if (c == '"') {
        if (!lz_json_short(j, text, sizeof text, &n))
            return false;
        *out = strcmp(text, "NaN") == 0         ? NAN
               : strcmp(text, "Infinity") == 0  ? INFINITY
               : strcmp(text, "-Infinity") == 0 ? -INFINITY
                                                : 0;
        return isnan(*out) || isinf(*out);
    }
    if (c != '-' && !lz_is_digit(c)) {
        (void)lz_json_skip(j);
        return false;
    }
    if (!lz_json_number(j, step, &whole) || !lz_text_f64(at, (size_t)(j->p - at), out))
        return false;
    if (!whole)
        *step = *out >= 0 && *out < 9e18 ? (int64_t)*out : -1;
    return true;
}

static lz_status read_member(lz_json *j, object *o)
{
    member m = {0};
    int64_t step;
    size_t n;
    if (!lz_json_short(j, m.name, sizeof m.name, &n) || !lz_json_want(j, ':'))
        return LZ_OK;
    if (strcmp(m.name, "name") == 0 && lz_json_peek(j) == '"') {
        (void)lz_json_short(j, o->name, sizeof o->name, &n);
        return LZ_OK;
    }
    if (!read_number(j, &m.value, &step))
        return LZ_OK;
    if (strcmp(m.name, "step") == 0) {
        o->step = step;
    } else if (strcmp(m.name, "value") == 0) {
        o->value = m.value;
        o->has_value = true;
    } else if (strcmp(m.name, "time") != 0) {
        return lz_vec_push(&o->numbers, m);
    }
    return LZ_OK;
}

static lz_status read_object(plot_data *d, const char *run, lz_json *j, int64_t number)
{
    object o = {.step = -1};
    size_t item = 0;
    lz_status s = LZ_OK;
    if (lz_json_want(j, '{'))
        while (s == LZ_OK && lz_json_item(j, '}', &item))
            s = read_member(j, &o);
    bool good = s == LZ_OK && lz_json_finish(j);
    int64_t step = o.step >= 0 ? o.step : number;
    if (good && *o.name && o.has_value)
        s = add(d, run, o.name, step, o.value);
    for (uint32_t i = 0; good && !*o.name && s == LZ_OK && i < o.numbers.len; i++)
        s = add(d, run, o.numbers.data[i].name, step, o.numbers.data[i].value);
    lz_vec_free(&o.numbers);
    return s;
}

/* Of a disk that was full, or of a training that is at it: an object begins and has no end. */
static bool is_cut(const char *at, const char *stop, const lz_json *j)
{
    while (at < stop && lz_is_space(*at))
        at++;
    while (stop > at && lz_is_space(stop[-1]))
        stop--;
    return at < stop && *at == '{' && (stop[-1] != '}' || j->p == j->end);
}

static lz_status read_lines(plot_data *d, const char *run, const char *path, const lz_buf *b)
{
    const char *end = b->data + b->len;
    int64_t number = 0, line = 0;
    for (const char *at = b->data; at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        lz_json j = lz_json_of(at, (size_t)(stop - at));
        if (lz_json_peek(&j))
            LZ_TRY(read_object(d, run, &j, number++));
        if (j.why && stop < end && !is_cut(at, stop, &j))
            return LZ_FAIL(LZ_EPARSE, "%s: line %" PRId64 ": %s", path, line + 1, j.why);
        at = stop + 1;
    }
    return LZ_OK;
}

/* ---- events ---- */

static double float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

/* The one number of a TensorProto of f32: as its bytes, or in its list. */
static bool read_tensor(const uint8_t *p, size_t n, double *out)
{
    enum { DTYPE = 1, CONTENT = 4, FLOATS = 5, IS_FLOAT = 1 };
    lz_rd r = lz_proto_reader(p, n);
    bool is_float = false, found = false;
    for (lz_proto_field f; lz_proto_next(&r, &f);) {
        bool bytes = (f.number == CONTENT || f.number == FLOATS) && f.wire == LZ_PROTO_BYTES;
        if (f.number == DTYPE && f.wire == LZ_PROTO_VARINT)
            is_float = f.value == IS_FLOAT;
        if ((bytes && f.n == 4) || (f.number == FLOATS && f.wire == LZ_PROTO_FIXED32)) {
            *out = float_of(bytes ? lz_le32(f.at) : (uint32_t)f.value);
            found = true;
        }
    }
    return is_float && found;
}

/* A Summary.Value: its tag and simple_value, or tensor. */
static lz_status read_value(plot_data *d, const char *run, const lz_proto_field *message,
                            int64_t step)
{
    enum { TAG = 1, SIMPLE = 2, TENSOR = 8 };
    lz_rd r = lz_proto_reader(message->at, message->n);
    char name[NAME] = "";
    double value = 0;
    bool found = false;
    for (lz_proto_field f; lz_proto_next(&r, &f);) {
        if (f.number == TAG && f.wire == LZ_PROTO_BYTES)
            snprintf(name, sizeof name, "%.*s", (int)(f.n < NAME ? f.n : NAME - 1),
                     (const char *)f.at);
        if (f.number == SIMPLE && f.wire == LZ_PROTO_FIXED32) {
            value = float_of((uint32_t)f.value);
            found = true;
        }
        if (f.number == TENSOR && f.wire == LZ_PROTO_BYTES)
            found = read_tensor(f.at, f.n, &value);
    }
    return found && *name ? add(d, run, name, step, value) : LZ_OK;
}

static lz_status read_event(plot_data *d, const char *run, const void *p, size_t n)
{
    enum { STEP = 2, SUMMARY = 5, VALUE = 1 };
    lz_rd r = lz_proto_reader(p, n);
    int64_t step = 0;
    for (lz_proto_field f; lz_proto_next(&r, &f);)
        if (f.number == STEP && f.wire == LZ_PROTO_VARINT)
            step = (int64_t)f.value;
    r = lz_proto_reader(p, n);
    for (lz_proto_field f; lz_proto_next(&r, &f);) {
        if (f.number != SUMMARY || f.wire != LZ_PROTO_BYTES)
            continue;
        lz_rd in = lz_proto_reader(f.at, f.n);
        for (lz_proto_field v; lz_proto_next(&in, &v);)
            if (v.number == VALUE && v.wire == LZ_PROTO_BYTES)
                LZ_TRY(read_value(d, run, &v, step));
    }
    return LZ_OK;
}

static lz_status read_events(plot_data *d, const char *run, const char *path, const lz_buf *b)
{
    size_t at = 0, n;
    const void *p;
    const char *why;
    while (lz_tfrecord_next(b->data, b->len, &at, &p, &n, &why))
        LZ_TRY(read_event(d, run, p, n));
    if (why && (at == 0 || strstr(why, "checksum")))
        return LZ_FAIL(LZ_EPARSE, "%s: byte %zu: %s: neither JSON lines nor TensorBoard's events",
                       path, at, why);
    return LZ_OK;
}

/* ---- files and folders ---- */

static lz_status read_file(plot_data *d, const char *run, const char *path)
{
    lz_buf b = {0};
    lz_status s = tool_read_text(path, &b);
    size_t i = 0;
    while (i < b.len && lz_is_space(b.data[i]))
        i++;
    if (s == LZ_OK && b.len)
        s = i == b.len || b.data[i] == '{' ? read_lines(d, run, path, &b)
                                           : read_events(d, run, path, &b);
    lz_buf_free(&b);
    return s;
}

typedef char entry[NAME];
typedef LZ_VEC(entry) entries;

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

static lz_status list_folder(const char *path, entries *out)
{
    DIR *dir = opendir(path);
    lz_status s = dir ? LZ_OK : LZ_FAIL(LZ_ENOENT, "%s: cannot be listed", path);
    for (const struct dirent *e; s == LZ_OK && (e = readdir(dir));) {
        if (e->d_name[0] == '.' || strlen(e->d_name) >= NAME)
            continue;
        s = lz_vec_reserve(out, (uint64_t)out->len + 1);
        if (s == LZ_OK)
            snprintf(out->data[out->len++], NAME, "%s", e->d_name);
    }
    if (dir)
        closedir(dir);
    if (out->len)
        qsort(out->data, out->len, sizeof *out->data, by_text);
    return s;
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* What is in a folder itself; with `below` in those in it. */
static lz_status read_folder(plot_data *d, const char *path, bool below)
{
    entries all = {0};
    char name[PATH];
    lz_status s = list_folder(path, &all);
    bool lines = false;
    for (uint32_t i = 0; i < all.len; i++)
        lines |= strcmp(all.data[i], "scalars.jsonl") == 0;
    for (uint32_t i = 0; s == LZ_OK && i < all.len; i++) {
        if (snprintf(name, sizeof name, "%s/%s", path, all.data[i]) >= PATH)
            continue;
        if (is_folder(name))
            s = below ? read_folder(d, name, false) : LZ_OK;
        else if (lines ? strcmp(all.data[i], "scalars.jsonl") == 0
                       : strstr(all.data[i], "tfevents") != NULL)
            s = read_file(d, path, name);
    }
    lz_vec_free(&all);
    return s;
}

lz_status plot_read(plot_data *d, const char *path)
{
    return is_folder(path) ? read_folder(d, path, true) : read_file(d, path, path);
}
