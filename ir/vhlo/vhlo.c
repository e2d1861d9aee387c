/* vhlo.c - the container of MLIR bytecode: its sections and tables. See vhlo.h and MLIR's
 * docs/BytecodeFormat.md. */
#include "ir/vhlo/vhlo.h"
#include "ir/vhlo/vhlo_read.h"
#include <inttypes.h>
#include <string.h>

enum { NEWEST = 6 }; /* version of the container */
enum {
    STRINGS,
    DIALECTS,
    ENTRIES,
    OFFSETS,
    IR,
    RESOURCES,
    RESOURCE_OFFSETS,
    DIALECT_VERSIONS,
    PROPERTIES,
    NSECTION
};
static const uint8_t magic[4] = {'M', 'L', 0xef, 'R'};

bool lz_vhlo_is_bytecode(const void *p, size_t n)
{
    return n >= sizeof magic && memcmp(p, magic, sizeof magic) == 0;
}

/* ---- tables ---- */

static bool reserved(lz_vhlo *v, lz_status s)
{
    if (s != LZ_OK)
        lz_vhlo_fail(v, NULL, LZ_EMEM, "no memory for the tables of a program");
    return v->failed == LZ_OK;
}

/* The number of strings, their sizes from the last to the first, and they. */
static void read_strings(lz_vhlo *v, lz_vcur c)
{
    uint32_t n = lz_vcur_count(&c);
    const uint8_t *at = c.p, *end = c.end;
    if (!reserved(v, lz_vec_reserve(&v->strings, n)))
        return;
    for (uint32_t i = n; i > 0 && v->failed == LZ_OK; i--) {
        uint64_t size = lz_vcur_varint(&c);
        if (size == 0 || c.p > end || size > (size_t)(end - c.p)) {
            lz_vhlo_fail(v, at, LZ_EPARSE, "string %u has more bytes than there are", i - 1);
            return;
        }
        end -= size;
        v->strings.data[i - 1] = (lz_vstr){(const char *)end, (size_t)size - 1};
    }
    v->strings.len = n;
    if (v->failed == LZ_OK && c.p > end)
        lz_vhlo_fail(v, at, LZ_EPARSE, "the strings have more bytes than there are");
}

static lz_vdialect dialect_of(const lz_vhlo *v, uint32_t i)
{
    static const char *const names[] = {[LZ_VD_BUILTIN] = "builtin",
                                        [LZ_VD_FUNC] = "func",
                                        [LZ_VD_SDY] = "sdy",
                                        [LZ_VD_VHLO] = "vhlo"};
    for (int d = LZ_VD_BUILTIN; d <= LZ_VD_VHLO; d++)
        if (lz_vstr_is(v->dialects.data[i], names[d]))
            return (lz_vdialect)d;
    return LZ_VD_OTHER;
}

/* The names of operations, in groups of a dialect. */
static void read_op_names(lz_vhlo *v, lz_vcur *c)
{
    if (v->version >= 4)
        (void)lz_vcur_varint(c); /* how many there are in all */
    while (c->p < c->end && v->failed == LZ_OK) {
        uint32_t d = lz_vcur_index(c, v->dialects.len, "dialects");
        uint32_t n = lz_vcur_count(c);
        if (!reserved(v, lz_vec_reserve(&v->op_names, (uint64_t)v->op_names.len + n)))
            return;
        for (; n > 0 && v->failed == LZ_OK; n--) {
            bool registered;
            const uint8_t *at = c->p;
            uint64_t s = v->version >= 5 ? lz_vcur_flagged(c, &registered) : lz_vcur_varint(c);
            if (s >= v->strings.len) {
                lz_vhlo_fail(v, at, LZ_EPARSE, "the name of an operation is no string");
                return;
            }
            v->op_names.data[v->op_names.len++] = (lz_vop_name){
                v->strings.data[s], v->dialects.data[d], dialect_of(v, d), NULL, false};
        }
    }
}

static void read_dialects(lz_vhlo *v, lz_vcur c)
{
    uint32_t n = lz_vcur_count(&c);
    if (!reserved(v, lz_vec_reserve(&v->dialects, n)))
        return;
    for (; n > 0 && v->failed == LZ_OK; n--) {
        bool has_version = false;
        lz_vcur version;
        const uint8_t *at = c.p;
        uint64_t s = v->version >= 1 ? lz_vcur_flagged(&c, &has_version) : lz_vcur_varint(&c);
        if (s >= v->strings.len) {
            lz_vhlo_fail(v, at, LZ_EPARSE, "the name of a dialect is no string");
            return;
        }
        v->dialects.data[v->dialects.len++] = v->strings.data[s];
        if (has_version)
            (void)lz_vcur_section(&c, &version);
    }
    read_op_names(v, &c);
}

/* Sizes in groups of a dialect: of the attributes, then of the types, which follow one another. */
static void read_entries(lz_vhlo *v, lz_vcur offsets, lz_vcur c)
{
    uint32_t count[2] = {lz_vcur_count(&offsets), 0};
    count[1] = lz_vcur_count(&offsets);
    if (!reserved(v, lz_vec_reserve(&v->attrs, count[0])) ||
        !reserved(v, lz_vec_reserve(&v->types, count[1])))
        return;
    for (int k = 0; k < 2; k++) {
        lz_ventry *to = k ? v->types.data : v->attrs.data;
        uint32_t have = 0;
        while (have < count[k] && v->failed == LZ_OK) {
            uint32_t d = lz_vcur_index(&offsets, v->dialects.len, "dialects");
            uint32_t n = lz_vcur_count(&offsets);
            if (n > count[k] - have)
                lz_vhlo_fail(v, offsets.p, LZ_EPARSE, "a dialect has more than there are");
            for (; n > 0 && v->failed == LZ_OK; n--) {
                bool custom;
                lz_vcur e = lz_vcur_take(&c, lz_vcur_flagged(&offsets, &custom));
                size_t size = (size_t)(e.end - e.p);
                size -= !custom && size > 0; /* its NUL */
                to[have++] = (lz_ventry){e.p, size, dialect_of(v, d), custom};
            }
        }
    }
    v->attrs.len = v->failed == LZ_OK ? count[0] : 0;
    v->types.len = v->failed == LZ_OK ? count[1] : 0;
}

static void read_properties(lz_vhlo *v, lz_vcur c)
{
    uint32_t n = lz_vcur_count(&c);
    if (!reserved(v, lz_vec_reserve(&v->properties, n)))
        return;
    for (; n > 0 && v->failed == LZ_OK; n--) {
        lz_vcur e = lz_vcur_take(&c, lz_vcur_varint(&c));
        v->properties.data[v->properties.len++] =
            (lz_vstr){(const char *)e.p, (size_t)(e.end - e.p)};
    }
}

/* ---- a program ---- */

static void read_program(lz_vhlo *v, lz_vcur c)
{
    lz_vcur at[NSECTION];
    uint32_t seen = 0;
    c.p += sizeof magic;
    v->version = lz_vcur_varint(&c);
    if (v->version > NEWEST)
        lz_vhlo_fail(v, c.p, LZ_EUNSUPPORTED,
                     "version %" PRIu64 " of the container (0 to %d are read)", v->version, NEWEST);
    while (lz_vcur_byte(&c)) /* who wrote it */
        continue;
    for (int i = 0; i < NSECTION; i++)
        at[i] = (lz_vcur){v, v->end, v->end};
    while (c.p < c.end && v->failed == LZ_OK) {
        lz_vcur inside;
        const uint8_t *start = c.p;
        uint8_t id = lz_vcur_section(&c, &inside);
        if (id >= NSECTION || seen >> id & 1)
            lz_vhlo_fail(v, start, LZ_EPARSE, "section %u is not known, or there twice", id);
        else
            at[id] = inside;
        seen |= id < NSECTION ? UINT32_C(1) << id : 0;
    }
    if (v->failed == LZ_OK &&
        (~seen & (1 << STRINGS | 1 << DIALECTS | 1 << ENTRIES | 1 << OFFSETS | 1 << IR)))
        lz_vhlo_fail(v, v->end, LZ_EPARSE, "a section is missing");
    read_strings(v, at[STRINGS]);
    read_dialects(v, at[DIALECTS]);
    read_entries(v, at[OFFSETS], at[ENTRIES]);
    if (seen >> PROPERTIES & 1)
        read_properties(v, at[PROPERTIES]);
    if (v->failed == LZ_OK)
        lz_vhlo_module(v, at[IR]);
}

lz_status lz_vhlo_to_text(const void *p, size_t n, lz_buf *text)
{
    lz_vhlo v = {.bytes = p, .end = (const uint8_t *)p + n, .out = text};
    if (!lz_vhlo_is_bytecode(p, n))
        return LZ_FAIL(LZ_EPARSE, "bytecode: byte 0: this is no MLIR bytecode");
    if (!lz_mul_size(n, LZ_VHLO_MOST_TEXT, &v.most) ||
        !lz_add_size(v.most, text->len + LZ_VHLO_LEAST_TEXT, &v.most))
        v.most = SIZE_MAX;
    read_program(&v, (lz_vcur){&v, v.bytes, v.end});
    if (text->failed)
        lz_vhlo_fail(&v, NULL, LZ_EMEM, "no memory for the text");
    lz_vec_free(&v.strings);
    lz_vec_free(&v.dialects);
    lz_vec_free(&v.op_names);
    lz_vec_free(&v.attrs);
    lz_vec_free(&v.types);
    lz_vec_free(&v.properties);
    lz_vec_free(&v.values);
    return v.failed;
}
