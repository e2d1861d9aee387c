/* sharding_read.c - meshes and shardings from Shardy's text and from the canonical one, which says
 * the mesh itself. The text is untrusted: nothing recurses, and lists are as long as the text.
 * Threads: thread-safe. */
#include "ir/sharding/sharding.h"
#include "base/text.h"
#include <inttypes.h>
#include <string.h>

typedef struct reader {
    const char *text, *p, *end;
    const lz_mesh_names *names;
} reader;

/* ---- words ---- */

static void skip(reader *r)
{
    while (r->p < r->end && lz_is_space(*r->p))
        r->p++;
}

static bool sees(reader *r, const char *s)
{
    size_t n = strlen(s);
    skip(r);
    return (size_t)(r->end - r->p) >= n && memcmp(r->p, s, n) == 0;
}

static bool eat(reader *r, const char *s)
{
    bool is = sees(r, s);
    r->p += is ? strlen(s) : 0;
    return is;
}

static lz_status expected(const reader *r, const char *what)
{
    int n = (int)(r->end - r->p < 40 ? r->end - r->p : 40);
    return LZ_FAIL(LZ_EPARSE, "sharding: expected %s, not '%.*s'", what, n, r->p);
}

static lz_status want(reader *r, const char *s)
{
    char quoted[40];
    lz_snprintf(quoted, sizeof quoted, "'%s'", s);
    return eat(r, s) ? LZ_OK : expected(r, quoted);
}

static lz_status number(reader *r, int64_t hi, int64_t *out)
{
    uint64_t v = 0;
    skip(r);
    size_t n = lz_text_digits(r->p, (size_t)(r->end - r->p), &v);
    if (n == 0 || v > (uint64_t)hi)
        return expected(r, "a number");
    r->p += n;
    *out = (int64_t)v;
    return LZ_OK;
}

static int hex(const reader *r, int k)
{
    char c = r->end - r->p > k ? lz_to_lower(r->p[k]) : 0;
    return lz_is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The character after a backslash. */
static char escaped(reader *r)
{
    int hi = hex(r, 0), lo = hex(r, 1);
    char c = r->p < r->end ? *r->p : 0;
    if (hi >= 0 && lo >= 0) {
        r->p += 2;
        return (char)(hi * 16 + lo);
    }
    r->p++;
    return c == 'n' ? '\n' : c == 't' ? '\t' : c == '"' || c == '\\' ? c : '\0';
}

/* "x", interned. */
static lz_status quoted(reader *r, const char **out)
{
    lz_buf b = {0};
    LZ_TRY(want(r, "\""));
    while (r->p < r->end && *r->p != '"') {
        char c = *r->p++;
        c = c == '\\' ? escaped(r) : c;
        if (!c) {
            lz_buf_free(&b);
            return LZ_FAIL(LZ_EPARSE, "sharding: the name of an axis holds what is no character");
        }
        lz_buf_putc(&b, c);
    }
    *out = b.failed ? NULL : lz_string_get(lz_buf_str(&b), b.len);
    lz_buf_free(&b);
    if (!*out)
        return LZ_FAIL(LZ_EMEM, "no memory for the name of an axis");
    return want(r, "\"");
}

/* ---- meshes ---- */

static lz_status no_memory(void)
{
    return LZ_FAIL(LZ_EMEM, "sharding: no memory for a mesh");
}

typedef struct mesh_parts {
    LZ_VEC(lz_mesh_axis) axes;
    LZ_VEC(int64_t) ids;
    bool has_ids;
} mesh_parts;

static lz_status axes_of(reader *r, mesh_parts *m)
{
    LZ_TRY(want(r, "["));
    if (eat(r, "]"))
        return LZ_OK;
    do {
        lz_mesh_axis a;
        LZ_TRY(quoted(r, &a.name));
        LZ_TRY(want(r, "="));
        LZ_TRY(number(r, INT64_MAX, &a.size));
        if (lz_vec_push(&m->axes, a) != LZ_OK)
            return no_memory();
    } while (eat(r, ","));
    return want(r, "]");
}

static lz_status ids_of(reader *r, mesh_parts *m)
{
    m->has_ids = true;
    LZ_TRY(want(r, "device_ids"));
    LZ_TRY(want(r, "="));
    LZ_TRY(want(r, "["));
    if (eat(r, "]"))
        return LZ_OK;
    do {
        int64_t v;
        LZ_TRY(number(r, INT64_MAX, &v));
        if (lz_vec_push(&m->ids, v) != LZ_OK)
            return no_memory();
    } while (eat(r, ","));
    return want(r, "]");
}

static lz_status check_ids(const mesh_parts *m)
{
    int64_t n = 1;
    for (uint32_t i = 0; i < m->axes.len && n <= LZ_MESH_DEVICES; i++)
        n *= m->axes.data[i].size < LZ_MESH_DEVICES ? m->axes.data[i].size : LZ_MESH_DEVICES;
    if (m->axes.len == 0 && m->ids.len == 1 && m->ids.data[0] != 0)
        return LZ_FAIL(LZ_EUNSUPPORTED, "mesh: of the one device %" PRId64, m->ids.data[0]);
    if (m->has_ids && n <= LZ_MESH_DEVICES && n != m->ids.len)
        return LZ_FAIL(LZ_EINVAL, "mesh: %u device_ids for %" PRId64 " devices", m->ids.len, n);
    return LZ_OK;
}

static lz_status mesh_in(reader *r, mesh_parts *m, const lz_mesh **out)
{
    LZ_TRY(want(r, "<"));
    LZ_TRY(axes_of(r, m));
    if (eat(r, ","))
        LZ_TRY(ids_of(r, m));
    LZ_TRY(want(r, ">"));
    LZ_TRY(check_ids(m));
    *out = lz_mesh_get(m->axes.data, (int)m->axes.len, m->has_ids ? m->ids.data : NULL);
    return *out ? LZ_OK : lz_error_get()->status;
}

static lz_status mesh_of(reader *r, const lz_mesh **out)
{
    mesh_parts m = {0};
    lz_status s = mesh_in(r, &m, out);
    lz_vec_free(&m.axes);
    lz_vec_free(&m.ids);
    return s;
}

/* @name or mesh<...> */
static lz_status mesh_or_name(reader *r, const lz_mesh **out)
{
    if (eat(r, "mesh"))
        return mesh_of(r, out);
    LZ_TRY(want(r, "@"));
    const char *name = r->p;
    bool in_quotes = r->p < r->end && *r->p == '"';
    if (in_quotes)
        for (r->p++; r->p < r->end && *r->p != '"'; r->p++) {
        }
    else
        while (r->p < r->end && (lz_is_alnum(*r->p) || strchr("_$.-", *r->p)))
            r->p++;
    size_t n = (size_t)(r->p - name);
    if (in_quotes) {
        name++;
        n--;
        LZ_TRY(want(r, "\""));
    }
    if (!r->names)
        return LZ_FAIL(LZ_EPARSE, "sharding: meshes have no names here, not even @%.*s",
                       (int)(n < 80 ? n : 80), name);
    *out = r->names->find(r->names->user, name, n);
    return *out ? LZ_OK : lz_error_get()->status;
}

/* ---- axes ---- */

static lz_status used_twice(const char *axis)
{
    return LZ_FAIL(LZ_EINVAL, "sharding: axis \"%.64s\" is used twice", axis);
}

/* The factors of the part [pre, size, ..] of an axis; those of an axis are next to each other. */
static lz_status part_of(const lz_mesh *m, int axis, int64_t pre, int64_t size, lz_axis_list *out)
{
    int64_t n = m->axes[axis].size, have = 1;
    const char *name = m->axes[axis].name;
    if (pre < 1 || size < 1 || n % pre != 0 || n / pre % size != 0)
        return LZ_FAIL(LZ_EINVAL,
                       "sharding: axis \"%.64s\" of size %" PRId64 " has no part (%" PRId64
                       ")%" PRId64,
                       name, n, pre, size);
    for (int k = 0; k < m->nfactor; k++)
        if (m->factors[k].axis == axis && m->factors[k].pre >= pre && have < size) {
            if (m->factors[k].pre != pre * have)
                break;
            lz_axis_list_push(out, k);
            have *= m->factors[k].size;
        }
    if (have != size)
        return LZ_FAIL(LZ_EUNSUPPORTED,
                       "sharding: the part (%" PRId64 ")%" PRId64
                       " of axis \"%.64s\" of size %" PRId64
                       " is none of prime factors, the smallest first",
                       pre, size, name, n);
    return LZ_OK;
}

/* "x" or "x":(1)2 behind what `list` has; *seen: factors that are used already. */
static lz_status reference(reader *r, const lz_mesh *m, uint32_t *seen, lz_axis_list *list)
{
    const char *name;
    lz_axis_list part = {0};
    LZ_TRY(quoted(r, &name));
    int axis = lz_mesh_axis_find(m, name, strlen(name));
    if (axis < 0)
        return LZ_FAIL(LZ_EINVAL, "sharding: the mesh has no axis \"%.64s\"", name);
    int64_t pre = 1, size = m->axes[axis].size;
    if (eat(r, ":")) {
        LZ_TRY(want(r, "("));
        LZ_TRY(number(r, INT64_MAX, &pre));
        LZ_TRY(want(r, ")"));
        LZ_TRY(number(r, INT64_MAX, &size));
    }
    LZ_TRY(part_of(m, axis, pre, size, &part));
    if (lz_axis_list_mask(&part) & *seen)
        return used_twice(name);
    *seen |= lz_axis_list_mask(&part);
    for (int i = 0; i < part.n; i++)
        lz_axis_list_push(list, part.at[i]);
    return LZ_OK;
}

/* {"x", "y"} */
static lz_status mask_of(reader *r, const lz_mesh *m, uint32_t *seen, uint32_t *out)
{
    lz_axis_list list = {0};
    LZ_TRY(want(r, "{"));
    if (eat(r, "}"))
        return LZ_OK;
    do
        LZ_TRY(reference(r, m, seen, &list));
    while (eat(r, ","));
    *out |= lz_axis_list_mask(&list);
    return want(r, "}");
}

/* ---- shardings ---- */

/* {"x", "y", ?}p1 */
static lz_status dimension(reader *r, lz_sharding *s, uint32_t *seen)
{
    int d = s->rank;
    if (d == LZ_MAX_RANK)
        return LZ_FAIL(LZ_EINVAL, "sharding: more than %d dimensions", LZ_MAX_RANK);
    s->rank++;
    LZ_TRY(want(r, "{"));
    while (!eat(r, "}")) {
        if (eat(r, "?")) {
            s->open |= UINT32_C(1) << d;
            LZ_TRY(want(r, "}"));
            break;
        }
        LZ_TRY(reference(r, s->mesh, seen, &s->dims[d]));
        if (!eat(r, ",") && !sees(r, "}"))
            return want(r, "}");
    }
    if (r->p < r->end && *r->p == 'p') {
        int64_t priority;
        r->p++;
        LZ_TRY(number(r, UINT8_MAX, &priority));
        s->priority[d] = (uint8_t)priority;
    }
    return LZ_OK;
}

static lz_op reduction_of(reader *r)
{
    static const struct {
        const char *word;
        lz_op op;
    } words[] = {{"sum", LZ_OP_ADD},      {"max", LZ_OP_MAXIMUM}, {"min", LZ_OP_MINIMUM},
                 {"mul", LZ_OP_MULTIPLY}, {"and", LZ_OP_AND},     {"or", LZ_OP_OR}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (eat(r, words[i].word))
            return words[i].op;
    return LZ_OP_ADD;
}

/* , replicated={..}, unreduced=max{..}, manual={..} */
static lz_status rest(reader *r, lz_sharding *s, uint32_t *seen)
{
    while (eat(r, ",")) {
        if (eat(r, "replicated")) {
            LZ_TRY(want(r, "="));
            LZ_TRY(mask_of(r, s->mesh, seen, &s->replicated));
        } else if (eat(r, "unreduced")) {
            LZ_TRY(want(r, "="));
            s->reduction = reduction_of(r);
            LZ_TRY(mask_of(r, s->mesh, seen, &s->unreduced));
        } else if (eat(r, "manual")) {
            LZ_TRY(want(r, "="));
            LZ_TRY(mask_of(r, s->mesh, seen, &s->manual));
        } else {
            return expected(r, "replicated, unreduced or manual");
        }
    }
    s->reduction = s->unreduced ? s->reduction : LZ_OP_NONE;
    return want(r, ">");
}

static lz_status sharding_in(reader *r, lz_sharding *s)
{
    const lz_mesh *mesh;
    uint32_t seen = 0;
    LZ_TRY(want(r, "<"));
    LZ_TRY(mesh_or_name(r, &mesh));
    lz_sharding_init(s, mesh, 0, false);
    LZ_TRY(want(r, ","));
    LZ_TRY(want(r, "["));
    if (!eat(r, "]")) {
        do
            LZ_TRY(dimension(r, s, &seen));
        while (eat(r, ","));
        LZ_TRY(want(r, "]"));
    }
    return rest(r, s, &seen);
}

/* ---- the interface ---- */

const lz_sharding *lz_sharding_read(const char *text, size_t n, const lz_mesh_names *names,
                                    size_t *used)
{
    lz_sharding s;
    reader r = {text, text, text + n, names};
    if (sharding_in(&r, &s) != LZ_OK)
        return NULL;
    if (used)
        *used = (size_t)(r.p - text);
    return lz_sharding_get(&s);
}

const lz_mesh *lz_mesh_read(const char *text, size_t n, size_t *used)
{
    const lz_mesh *m = NULL;
    reader r = {text, text, text + n, NULL};
    if (mesh_of(&r, &m) != LZ_OK)
        return NULL;
    if (used)
        *used = (size_t)(r.p - text);
    return m;
}

lz_status lz_sharding_read_axes(const lz_mesh *mesh, const char *text, size_t n, uint32_t *out,
                                size_t *used)
{
    uint32_t seen = 0;
    reader r = {text, text, text + n, NULL};
    *out = 0;
    LZ_TRY(mask_of(&r, mesh, &seen, out));
    if (used)
        *used = (size_t)(r.p - text);
    return LZ_OK;
}

lz_status lz_shardings_parse(const char *text, const lz_sharding **out, uint32_t n)
{
    const char *p = text ? text : "", *end = p + strlen(p), *start = p;
    for (uint32_t i = 0; i < n; i++) {
        size_t used = 0;
        if (i && (end - p < 2 || memcmp(p, "; ", 2) != 0))
            return LZ_FAIL(LZ_EINVAL, "sharding: %u of them for %u values", i, n);
        p += i ? 2 : 0;
        out[i] = lz_sharding_read(p, (size_t)(end - p), NULL, &used);
        if (!out[i] && lz_error_get()->status == LZ_EPARSE)
            return LZ_FAIL(LZ_EINVAL, "%.200s", lz_error_get()->message);
        if (!out[i])
            return lz_error_get()->status;
        p += used;
    }
    const char *again = lz_shardings_text(out, n);
    if (!again)
        return LZ_EMEM;
    return strcmp(again, start) == 0
               ? LZ_OK
               : LZ_FAIL(LZ_EINVAL, "sharding: %.100s is not written as it would be here", start);
}

const lz_sharding *lz_sharding_parse(const char *text)
{
    const lz_sharding *s;
    return lz_shardings_parse(text, &s, 1) == LZ_OK ? s : NULL;
}
