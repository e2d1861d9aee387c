/* attr.c - attribute records: fields, hash, equality, interning, text. See attr.h. Threads:
 * thread-safe. */
#include "ir/attr.h"
#include "ir/intern.h"
#include "ir/text/print.h"
#include <inttypes.h>
#include <string.h>

/* ---- derived from attrs.def ---- */

#define FIELD(f, type_, member, table_)                                                            \
    out[n++] =                                                                                     \
        (lz_attr_field){.name = #f, .table = table_, .type = LZ_FIELD_##type_, .member = &a->f};
#define I64(f) FIELD(f, I64, i64, NULL)
#define BOOL(f) FIELD(f, BOOL, flag, NULL)
#define INTS(f) FIELD(f, INTS, ints, NULL)
#define SHAPE(f) FIELD(f, SHAPE, shape, NULL)
#define DTYPE(f) FIELD(f, DTYPE, dtype, NULL)
#define ENUM(f, E) FIELD(f, ENUM, value, #E)
#define REGION(f) FIELD(f, REGION, region, NULL)
#define STR(f) FIELD(f, STR, str, NULL)
#define ATTR(kind_, fields)                                                                        \
    static int fields_##kind_(lz_attr_##kind_ *a, lz_attr_field *out)                              \
    {                                                                                              \
        int n = 0;                                                                                 \
        (void)a, (void)out;                                                                        \
        fields return n;                                                                           \
    }
#include "ir/attrs.def"

static const struct {
    const char *name;
    size_t size;
} kinds[LZ_ATTR_COUNT] = {
#define ATTR(kind_, fields) {#kind_, sizeof(lz_attr_##kind_)},
#include "ir/attrs.def"
};

static const struct {
    const char *table, *name;
    int32_t value;
} enums[] = {
#define ATTR(kind_, fields)
#define ATTR_ENUM(table, name, value) {#table, #name, value},
#include "ir/attrs.def"
};

int lz_attr_fields(const lz_attr *a, lz_attr_field out[LZ_ATTR_MAX_FIELDS])
{
    switch (a->kind) {
#define ATTR(kind_, fields)                                                                        \
    case LZ_ATTR_##kind_:                                                                          \
        return fields_##kind_((lz_attr_##kind_ *)(uintptr_t)a, out);
#include "ir/attrs.def"
    default:
        return 0;
    }
}

const char *lz_attr_kind_name(lz_attr_kind k)
{
    return (unsigned)k < LZ_ATTR_COUNT ? kinds[k].name : "?";
}

const char *lz_attr_enum_name(const char *table, int32_t value)
{
    for (size_t i = 0; i < sizeof enums / sizeof *enums; i++)
        if (enums[i].value == value && strcmp(enums[i].table, table) == 0)
            return enums[i].name;
    return NULL;
}

bool lz_attr_enum_value(const char *table, const char *name, size_t n, int32_t *value)
{
    for (size_t i = 0; i < sizeof enums / sizeof *enums; i++)
        if (strlen(enums[i].name) == n && memcmp(enums[i].name, name, n) == 0 &&
            strcmp(enums[i].table, table) == 0) {
            *value = enums[i].value;
            return true;
        }
    return false;
}

const lz_func *lz_attr_region(const lz_attr *a, int k)
{
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    int n = lz_attr_fields(a, f);
    for (int i = 0; i < n; i++)
        if (f[i].type == LZ_FIELD_REGION && k-- == 0)
            return *f[i].region;
    return NULL;
}

void lz_attr_init(lz_attr_any *a, lz_attr_kind kind)
{
    memset(a, 0, kinds[kind].size);
    a->head.kind = kind;
}

/* ---- lists ---- */

lz_ints lz_ints_make(int n, const int64_t *v)
{
    lz_ints r = {.n = n < 0 ? 0 : n > LZ_MAX_RANK ? LZ_MAX_RANK : n};
    for (int i = 0; i < r.n; i++)
        r.v[i] = v[i];
    return r;
}

bool lz_ints_has(const lz_ints *s, int64_t v)
{
    for (int i = 0; i < s->n; i++)
        if (s->v[i] == v)
            return true;
    return false;
}

/* ---- content: the bytes that are hashed ---- */

typedef struct content {
    size_t n;
    uint8_t bytes[2048];
} content;
_Static_assert(sizeof(lz_attr_any) < 2000, "a record of attrs.def may outgrow its hashed form");

static void content_put(content *c, const void *p, size_t n)
{
    memcpy(c->bytes + c->n, p, n);
    c->n += n;
}

/* A list longer than it can be (a record that lz_attr_get will refuse) is cut, so that nothing
 * reads past it. */
static void content_list(content *c, int32_t n, const int64_t *v)
{
    uint8_t count = (uint8_t)(n < 0 || n > LZ_MAX_RANK ? 255 : n);
    content_put(c, &count, 1);
    if (count != 255)
        content_put(c, v, count * sizeof *v);
}

static const char *text_of(const lz_attr_field *f)
{
    return *f->str ? *f->str : "";
}

static void content_field(content *c, const lz_attr_field *f)
{
    uint8_t small;
    switch (f->type) {
    case LZ_FIELD_I64:
        content_put(c, f->i64, sizeof *f->i64);
        break;
    case LZ_FIELD_BOOL:
        small = *f->flag;
        content_put(c, &small, 1);
        break;
    case LZ_FIELD_INTS:
        content_list(c, f->ints->n, f->ints->v);
        break;
    case LZ_FIELD_SHAPE:
        content_list(c, f->shape->rank, f->shape->dims);
        break;
    case LZ_FIELD_DTYPE:
        small = (uint8_t)*f->dtype;
        content_put(c, &small, 1);
        break;
    case LZ_FIELD_ENUM:
        content_put(c, f->value, sizeof *f->value);
        break;
    case LZ_FIELD_REGION: {
        lz_hash h = *f->region ? (*f->region)->hash : (lz_hash){0, 0};
        content_put(c, &h, sizeof h);
        break;
    }
    case LZ_FIELD_STR: {
        lz_hash h = lz_hash_bytes(text_of(f), strlen(text_of(f)));
        content_put(c, &h, sizeof h);
        break;
    }
    }
}

lz_hash lz_attr_hash(const lz_attr *a)
{
    content c;
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    const char *name = lz_attr_kind_name(a->kind);
    c.n = 0;
    content_put(&c, name, strlen(name) + 1);
    int n = lz_attr_fields(a, f);
    for (int i = 0; i < n; i++)
        content_field(&c, &f[i]);
    return lz_hash_bytes(c.bytes, c.n);
}

static bool list_eq(int32_t na, const int64_t *a, int32_t nb, const int64_t *b)
{
    return na == nb && na >= 0 && na <= LZ_MAX_RANK && memcmp(a, b, (size_t)na * sizeof *a) == 0;
}

static bool field_eq(const lz_attr_field *a, const lz_attr_field *b)
{
    switch (a->type) {
    case LZ_FIELD_I64:
        return *a->i64 == *b->i64;
    case LZ_FIELD_BOOL:
        return *a->flag == *b->flag;
    case LZ_FIELD_INTS:
        return list_eq(a->ints->n, a->ints->v, b->ints->n, b->ints->v);
    case LZ_FIELD_SHAPE:
        return list_eq(a->shape->rank, a->shape->dims, b->shape->rank, b->shape->dims);
    case LZ_FIELD_DTYPE:
        return *a->dtype == *b->dtype;
    case LZ_FIELD_ENUM:
        return *a->value == *b->value;
    case LZ_FIELD_REGION:
        return *a->region == *b->region;
    case LZ_FIELD_STR:
        return strcmp(text_of(a), text_of(b)) == 0;
    }
    return false;
}

bool lz_attr_eq(const lz_attr *a, const lz_attr *b)
{
    lz_attr_field fa[LZ_ATTR_MAX_FIELDS], fb[LZ_ATTR_MAX_FIELDS];
    if (a == b)
        return true;
    if (a->kind != b->kind)
        return false;
    int n = lz_attr_fields(a, fa);
    (void)lz_attr_fields(b, fb);
    for (int i = 0; i < n; i++)
        if (!field_eq(&fa[i], &fb[i]))
            return false;
    return true;
}

/* ---- interning ---- */

typedef struct attr_node {
    lz_intern_node node;
    lz_attr_any attr; /* only as many bytes as the kind has */
} attr_node;

static lz_intern attrs = LZ_INTERN_INIT;
const lz_attr lz_attr_empty = {LZ_ATTR_none};

static bool attr_same(const lz_intern_node *node, const void *key)
{
    return lz_attr_eq(&((const attr_node *)(const void *)node)->attr.head, key);
}

typedef struct string_node {
    lz_intern_node node;
    char text[];
} string_node;
typedef struct string_key {
    const char *s;
    size_t n;
} string_key;

static lz_intern strings = LZ_INTERN_INIT;

static bool string_same(const lz_intern_node *node, const void *key)
{
    const char *t = ((const string_node *)(const void *)node)->text;
    const string_key *k = key;
    return strlen(t) == k->n && memcmp(t, k->s, k->n) == 0;
}

const char *lz_string_get(const char *s, size_t n)
{
    string_key k = {s, n};
    lz_hash h = lz_hash_bytes(s, n);
    string_node *found = (string_node *)(void *)lz_intern_find(&strings, h, string_same, &k);
    if (found)
        return found->text;
    string_node *fresh = lz_calloc(1, sizeof *fresh + n + 1);
    if (!fresh) {
        (void)LZ_FAIL(LZ_EMEM, "no memory for a text of %zu characters", n);
        return NULL;
    }
    fresh->node.hash = h;
    memcpy(fresh->text, s, n);
    found = (string_node *)(void *)lz_intern_add(&strings, &fresh->node, string_same, &k, NULL);
    if (found != fresh)
        lz_free(fresh);
    return found->text;
}

static lz_status field_check(const lz_attr_field *f)
{
    switch (f->type) {
    case LZ_FIELD_INTS:
        if (f->ints->n < 0 || f->ints->n > LZ_MAX_RANK)
            return LZ_FAIL(LZ_EINVAL, "%s has %d values; at most %d fit", f->name, f->ints->n,
                           LZ_MAX_RANK);
        break;
    case LZ_FIELD_SHAPE:
        if (f->shape->rank < 0 || f->shape->rank > LZ_MAX_RANK)
            return LZ_FAIL(LZ_ESHAPE, "%s: rank %d is outside 0..%d", f->name, f->shape->rank,
                           LZ_MAX_RANK);
        break;
    case LZ_FIELD_DTYPE:
        if (lz_dtype_size(*f->dtype) == 0)
            return LZ_FAIL(LZ_EDTYPE, "%s: %d is no dtype", f->name, (int)*f->dtype);
        break;
    case LZ_FIELD_ENUM:
        if (!lz_attr_enum_name(f->table, *f->value))
            return LZ_FAIL(LZ_EINVAL, "%s: %d is no %s", f->name, *f->value, f->table);
        break;
    case LZ_FIELD_REGION:
        if (!*f->region || !(*f->region)->interned)
            return LZ_FAIL(LZ_EINVAL, "%s is not an interned function", f->name);
        break;
    default:
        break;
    }
    return LZ_OK;
}

void lz_attr_copy(lz_attr *to, const lz_attr *from)
{
    lz_attr_field ft[LZ_ATTR_MAX_FIELDS], ff[LZ_ATTR_MAX_FIELDS];
    to->kind = from->kind;
    int n = lz_attr_fields(from, ff);
    (void)lz_attr_fields(to, ft);
    for (int i = 0; i < n; i++)
        switch (ff[i].type) {
        case LZ_FIELD_I64:
            *ft[i].i64 = *ff[i].i64;
            break;
        case LZ_FIELD_BOOL:
            *ft[i].flag = *ff[i].flag;
            break;
        case LZ_FIELD_INTS:
            *ft[i].ints = lz_ints_make(ff[i].ints->n, ff[i].ints->v);
            break;
        case LZ_FIELD_SHAPE:
            *ft[i].shape = lz_shape_make(ff[i].shape->rank, ff[i].shape->dims);
            break;
        case LZ_FIELD_DTYPE:
            *ft[i].dtype = *ff[i].dtype;
            break;
        case LZ_FIELD_ENUM:
            *ft[i].value = *ff[i].value;
            break;
        case LZ_FIELD_REGION:
            *ft[i].region = *ff[i].region;
            break;
        case LZ_FIELD_STR:
            *ft[i].str = *ff[i].str;
            break;
        }
}

static const lz_attr *attr_add(const lz_attr *record, lz_hash hash)
{
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    int n = lz_attr_fields(record, f);
    for (int i = 0; i < n; i++)
        if (field_check(&f[i]) != LZ_OK)
            return NULL;
    attr_node *fresh = lz_calloc(1, offsetof(attr_node, attr) + kinds[record->kind].size);
    if (!fresh) {
        (void)LZ_FAIL(LZ_EMEM, "no memory for an attribute");
        return NULL;
    }
    fresh->node.hash = hash;
    lz_attr_copy(&fresh->attr.head, record);
    attr_node *stays =
        (attr_node *)(void *)lz_intern_add(&attrs, &fresh->node, attr_same, record, NULL);
    if (stays != fresh)
        lz_free(fresh);
    return &stays->attr.head;
}

const lz_attr *lz_attr_get(const lz_attr *record)
{
    if (!record || record->kind == LZ_ATTR_none)
        return &lz_attr_empty;
    if ((unsigned)record->kind >= LZ_ATTR_COUNT) {
        (void)LZ_FAIL(LZ_EINVAL, "%d is no kind of attribute", (int)record->kind);
        return NULL;
    }
    lz_hash hash = lz_attr_hash(record);
    attr_node *n = (attr_node *)(void *)lz_intern_find(&attrs, hash, attr_same, record);
    return n ? &n->attr.head : attr_add(record, hash);
}

/* ---- text ---- */

void lz_ints_print(lz_buf *b, const lz_ints *v)
{
    lz_buf_putc(b, '[');
    for (int i = 0; i < v->n; i++)
        lz_buf_printf(b, "%s%" PRId64, i ? ", " : "", v->v[i]);
    lz_buf_putc(b, ']');
}

void lz_attr_field_print(lz_buf *b, const lz_attr_field *f)
{
    lz_ints dims;
    switch (f->type) {
    case LZ_FIELD_I64:
        lz_buf_printf(b, "%" PRId64, *f->i64);
        break;
    case LZ_FIELD_BOOL:
        lz_buf_puts(b, *f->flag ? "true" : "false");
        break;
    case LZ_FIELD_INTS:
        lz_ints_print(b, f->ints);
        break;
    case LZ_FIELD_SHAPE:
        dims = lz_ints_make(f->shape->rank, f->shape->dims);
        lz_ints_print(b, &dims);
        break;
    case LZ_FIELD_DTYPE:
        lz_buf_puts(b, lz_dtype_mlir(*f->dtype));
        break;
    case LZ_FIELD_ENUM:
        lz_buf_puts(b, lz_attr_enum_name(f->table, *f->value));
        break;
    case LZ_FIELD_STR:
        lz_buf_put_quoted(b, text_of(f));
        break;
    case LZ_FIELD_REGION:
        break;
    }
}

void lz_attr_print(lz_buf *b, const lz_attr *a)
{
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    int n = lz_attr_fields(a, f);
    const char *comma = "";
    for (int i = 0; i < n; i++) {
        if (f[i].type == LZ_FIELD_REGION || (f[i].type == LZ_FIELD_INTS && f[i].ints->n == 0))
            continue;
        lz_buf_printf(b, "%s%s = ", comma, f[i].name);
        lz_attr_field_print(b, &f[i]);
        comma = ", ";
    }
}

/* ---- bytes ---- */

static void put_list(lz_buf *b, int32_t n, const int64_t *v)
{
    lz_buf_u8(b, (uint8_t)n);
    for (int i = 0; i < n; i++)
        lz_buf_u64(b, (uint64_t)v[i]);
}

void lz_attr_field_put(lz_buf *b, const lz_attr_field *f)
{
    switch (f->type) {
    case LZ_FIELD_I64:
        lz_buf_u64(b, (uint64_t)*f->i64);
        break;
    case LZ_FIELD_BOOL:
        lz_buf_u8(b, *f->flag);
        break;
    case LZ_FIELD_INTS:
        put_list(b, f->ints->n, f->ints->v);
        break;
    case LZ_FIELD_SHAPE:
        put_list(b, f->shape->rank, f->shape->dims);
        break;
    case LZ_FIELD_DTYPE:
        lz_buf_u8(b, (uint8_t)*f->dtype);
        break;
    case LZ_FIELD_ENUM:
        lz_buf_u8(b, (uint8_t)*f->value);
        break;
    case LZ_FIELD_STR:
        lz_buf_lstr(b, text_of(f));
        break;
    case LZ_FIELD_REGION:
        break;
    }
}

static void take_list(lz_rd *r, int32_t *n, int64_t *v)
{
    uint8_t count = lz_rd_u8(r);
    if (count > LZ_MAX_RANK) {
        r->failed = true;
        return;
    }
    *n = count;
    for (int i = 0; i < count; i++)
        v[i] = (int64_t)lz_rd_u64(r);
}

static const char *take_string(lz_rd *r)
{
    uint32_t n = lz_rd_u32(r);
    const char *s = lz_rd_bytes(r, n);
    r->failed |= !s || memchr(s, 0, n);
    const char *kept = r->failed ? NULL : lz_string_get(s, n);
    r->nomem |= !r->failed && !kept;
    r->failed |= !kept;
    return kept;
}

void lz_attr_field_take(lz_rd *r, const lz_attr_field *f)
{
    switch (f->type) {
    case LZ_FIELD_I64:
        *f->i64 = (int64_t)lz_rd_u64(r);
        break;
    case LZ_FIELD_BOOL:
        *f->flag = lz_rd_u8(r) != 0;
        break;
    case LZ_FIELD_INTS:
        take_list(r, &f->ints->n, f->ints->v);
        break;
    case LZ_FIELD_SHAPE:
        take_list(r, &f->shape->rank, f->shape->dims);
        break;
    case LZ_FIELD_DTYPE:
        *f->dtype = (lz_dtype)lz_rd_u8(r);
        r->failed |= *f->dtype == LZ_DTYPE_NONE || *f->dtype >= LZ_DTYPE_COUNT;
        break;
    case LZ_FIELD_ENUM:
        *f->value = lz_rd_u8(r);
        r->failed |= !lz_attr_enum_name(f->table, *f->value);
        break;
    case LZ_FIELD_STR:
        *f->str = take_string(r);
        break;
    case LZ_FIELD_REGION:
        r->failed = true;
        break;
    }
}
