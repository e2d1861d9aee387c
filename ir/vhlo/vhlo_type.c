/* vhlo_type.c - types of VHLO bytecode as text. See vhlo_read.h. */
#include "ir/vhlo/vhlo_read.h"
#include <inttypes.h>
#include <string.h>

/* The codes of types with parts. */
enum {
    COMPLEX = 1,
    FUNCTION = 8,
    TENSOR = 20,
    ENCODED = 21,
    TUPLE = 23,
    QUANTIZED = 24,
    UNRANKED = 25,
    QUANTIZED_AXIS = 30,
    BUFFER = 41,
    FUTURE = 42
};
/* Of builtin: what they are there, by the codes above. */
static const uint8_t builtin_codes[] = {
    [2] = FUNCTION, [9] = COMPLEX, [13] = TENSOR, [14] = ENCODED, [15] = TUPLE, [18] = UNRANKED};
enum { BUILTIN_INTEGER = 0 };

typedef struct simple {
    uint8_t dialect, code;
    const char *text;
    lz_velem elem;
} simple;
#define TYPE(dialect, code, text, cls, bits)                                                       \
    {LZ_VD_##dialect, code, text, {LZ_VC_##cls, bits, false}},
static const simple simples[] = {
#include "ir/vhlo/vhlo.def"
};

static const simple *find_simple(lz_vdialect dialect, uint64_t code)
{
    for (size_t i = 0; i < sizeof simples / sizeof *simples; i++)
        if (simples[i].dialect == dialect && simples[i].code == code)
            return &simples[i];
    return NULL;
}

/* ---- as they are stored ---- */

typedef struct stored {
    lz_vcur c; /* behind the code */
    lz_vdialect dialect;
    bool custom;
    uint64_t code; /* of vhlo, or of builtin where `simple` or `integer` is set */
    const simple *simple;
    bool integer;
} stored;

static stored open_type(lz_vhlo *v, uint32_t type)
{
    stored s = {.c = {v, v->end, v->end}};
    if (type >= v->types.len) {
        lz_vhlo_fail(v, NULL, LZ_EPARSE, "there are %u types, but number %u is asked for",
                     v->types.len, type);
        return s;
    }
    const lz_ventry *e = &v->types.data[type];
    s.c = (lz_vcur){v, e->p, e->p + e->n};
    s.dialect = e->dialect;
    s.custom = e->custom;
    if (!e->custom)
        return s;
    s.code = lz_vcur_varint(&s.c);
    s.simple = find_simple(s.dialect, s.code);
    s.integer = s.dialect == LZ_VD_BUILTIN && s.code == BUILTIN_INTEGER;
    if (s.dialect == LZ_VD_BUILTIN && !s.simple && !s.integer)
        s.code = s.code < sizeof builtin_codes ? builtin_codes[s.code] : UINT64_MAX;
    else if (s.dialect != LZ_VD_VHLO && s.dialect != LZ_VD_BUILTIN)
        s.code = UINT64_MAX;
    return s;
}

uint32_t lz_vcur_type(lz_vcur *c)
{
    return lz_vcur_index(c, c->v->types.len, "types");
}

bool lz_vhlo_is_none(lz_vhlo *v, uint32_t type)
{
    stored s = open_type(v, type);
    return s.simple && strcmp(s.simple->text, "none") == 0;
}

bool lz_vhlo_function_type(lz_vhlo *v, uint32_t type, lz_vcur *inputs, lz_vcur *results)
{
    stored s = open_type(v, type);
    *inputs = *results = s.c;
    if (!s.custom || s.simple || s.integer || s.code != FUNCTION)
        return false;
    for (uint32_t n = lz_vcur_count(results); n > 0; n--)
        (void)lz_vcur_type(results);
    return v->failed == LZ_OK;
}

/* A text's element of a tensor: f8E4M3FN of builtin, which has no encoding there. */
static lz_velem elem_of_text(lz_vstr text)
{
    for (size_t i = 0; i < sizeof simples / sizeof *simples; i++)
        if (lz_vstr_is(text, simples[i].text))
            return simples[i].elem;
    return (lz_velem){LZ_VC_OTHER, 0, false};
}

static lz_velem elem_of(lz_vhlo *v, uint32_t type)
{
    lz_velem e = {LZ_VC_OTHER, 0, false};
    stored s = open_type(v, type);
    if (!s.custom)
        return elem_of_text((lz_vstr){(const char *)s.c.p, (size_t)(s.c.end - s.c.p)});
    if (s.simple) {
        e = s.simple->elem;
        e.index = strcmp(s.simple->text, "index") == 0;
    } else if (s.integer) {
        uint64_t x = lz_vcur_varint(&s.c);
        e.cls = (x & 3) == 2 || x >> 2 == 1 ? LZ_VC_UINT : LZ_VC_INT;
        e.bits = x >> 2 <= 64 ? (uint32_t)(x >> 2) : 0;
    }
    return e;
}

lz_velem lz_vhlo_elem(lz_vhlo *v, uint32_t type)
{
    stored s = open_type(v, type);
    if (!s.custom || s.simple || s.integer || s.code != COMPLEX)
        return elem_of(v, type);
    lz_velem part = elem_of(v, lz_vcur_type(&s.c));
    return (lz_velem){part.bits ? LZ_VC_COMPLEX : LZ_VC_OTHER, 2 * part.bits, false};
}

bool lz_vhlo_tensor(lz_vhlo *v, uint32_t type, lz_vtensor *out)
{
    stored s = open_type(v, type);
    if (!s.custom || s.simple || s.integer || (s.code != TENSOR && s.code != ENCODED))
        return false;
    if (s.code == ENCODED)
        (void)lz_vcur_attr(&s.c);
    *out = (lz_vtensor){.rank = lz_vcur_count(&s.c), .nelem = 1, .vhlo = s.dialect == LZ_VD_VHLO};
    out->dims = s.c;
    bool fits = true, empty = false;
    for (uint32_t i = 0; i < out->rank; i++) {
        int64_t d = lz_vcur_signed(&s.c);
        empty |= d == 0;
        fits &= d >= 0 && (d == 0 || !__builtin_mul_overflow(out->nelem, (uint64_t)d, &out->nelem));
    }
    out->nelem = empty ? 0 : out->nelem;
    out->elem = lz_vhlo_elem(v, lz_vcur_type(&s.c));
    return fits && v->failed == LZ_OK;
}

/* ---- as text ---- */

/* "2x?x", the number of them and they read */
static void extents(lz_vcur *c, const char *between)
{
    for (uint32_t n = lz_vcur_count(c); n > 0; n--) {
        int64_t d = lz_vcur_signed(c);
        if (d < 0)
            lz_vput(c->v, "?");
        else
            lz_vput_i64(c->v, d);
        lz_vput(c->v, n > 1 || *between == 'x' ? between : "");
    }
}

void lz_vhlo_types(lz_vhlo *v, lz_vcur *c)
{
    for (uint32_t n = lz_vcur_count(c); n > 0 && v->failed == LZ_OK; n--) {
        lz_vhlo_type(v, lz_vcur_type(c));
        lz_vput(v, n > 1 ? ", " : "");
    }
}

static void tensor(lz_vhlo *v, stored *s)
{
    uint32_t encoding = s->code == ENCODED ? lz_vcur_attr(&s->c) : 0;
    lz_vput(v, s->code == BUFFER ? "memref<" : "tensor<");
    extents(&s->c, "x");
    lz_vhlo_type(v, lz_vcur_type(&s->c));
    if (s->code == ENCODED) {
        lz_vput(v, ", ");
        lz_vhlo_attr(v, encoding, LZ_VF_NESTED);
    }
    lz_vput(v, ">");
}

/* Our text knows no quantized types: this names what is not supported. */
static void quantized(lz_vhlo *v, stored *s)
{
    bool is_signed = lz_vcur_varint(&s->c) & 1;
    lz_vput(v, is_signed ? "!quant.uniform<" : "!quant.uniform<u");
    lz_vhlo_type(v, lz_vcur_type(&s->c));
    lz_vput(v, ":");
    lz_vhlo_type(v, lz_vcur_type(&s->c));
    lz_vput(v, s->code == QUANTIZED_AXIS ? ":" : "");
    if (s->code == QUANTIZED_AXIS)
        lz_vput_u64(v, lz_vcur_varint(&s->c));
    lz_vput(v, ">");
}

static void compound(lz_vhlo *v, stored *s, const uint8_t *at)
{
    switch (s->code) {
    case COMPLEX:
        lz_vput(v, "complex<");
        lz_vhlo_type(v, lz_vcur_type(&s->c));
        break;
    case TUPLE:
        lz_vput(v, "tuple<");
        lz_vhlo_types(v, &s->c);
        break;
    case FUTURE:
        lz_vput(v, "!stablehlo.future<");
        lz_vhlo_types(v, &s->c);
        break;
    case FUNCTION:
        lz_vput(v, "(");
        lz_vhlo_types(v, &s->c);
        lz_vput(v, ") -> (");
        lz_vhlo_types(v, &s->c);
        lz_vput(v, ")");
        return;
    case UNRANKED:
        lz_vput(v, "tensor<*x");
        lz_vhlo_type(v, lz_vcur_type(&s->c));
        break;
    case TENSOR:
    case ENCODED:
    case BUFFER:
        tensor(v, s);
        return;
    case QUANTIZED:
    case QUANTIZED_AXIS:
        quantized(v, s);
        return;
    default:
        lz_vhlo_fail(v, at, LZ_EUNSUPPORTED, "a type that is not known");
        return;
    }
    lz_vput(v, ">");
}

void lz_vhlo_type(lz_vhlo *v, uint32_t type)
{
    stored s = open_type(v, type);
    const uint8_t *at = s.c.p;
    if (lz_vhlo_enter(v, at)) {
        if (!s.custom) {
            lz_vput_str(v, (lz_vstr){(const char *)s.c.p, (size_t)(s.c.end - s.c.p)});
        } else if (s.simple) {
            lz_vput(v, s.simple->text);
        } else if (s.integer) {
            static const char *const sign[] = {"i", "si", "ui", "i"};
            uint64_t x = lz_vcur_varint(&s.c);
            lz_vput(v, sign[x & 3]);
            lz_vput_u64(v, x >> 2);
        } else {
            compound(v, &s, at);
        }
    }
    lz_vhlo_leave(v);
}
