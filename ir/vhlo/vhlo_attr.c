/* vhlo_attr.c - attributes of VHLO bytecode as text: those of the dialects vhlo and builtin. See
 * vhlo_read.h. */
#include "ir/vhlo/vhlo_read.h"
#include "base/text.h"
#include <inttypes.h>
#include <string.h>

/* What the codes stand for (VhloBytecode.cpp). */
enum {
    ARRAY = 1,
    BOOL = 2,
    DICT = 6,
    FLOAT = 8,
    INT = 9,
    ALIAS = 10,
    STRING = 14,
    TENSOR = LZ_VHLO_TENSOR,
    TYPE_OF = 17,
    EXTENSIONS = 18,
    ACCURACY = 20,
    SUB_AXIS = 21,
    AXIS_REF = 22,
    MESH_GROUPS = 23,
    MESH_AXIS = 24,
    MESH = 25,
    /* of builtin alone */
    TYPED_STRING = 64,
    SYMBOL,
    SYMBOLS,
    UNIT,
    DENSE_ARRAY,
    RESOURCE,
    PLACE
};
/* Of builtin (mlir/IR/BuiltinDialectBytecode.td), by those. */
static const uint8_t builtin_codes[] = {
    [0] = ARRAY,   [1] = DICT,      [2] = STRING,       [3] = TYPED_STRING, [4] = SYMBOL,
    [5] = SYMBOLS, [6] = TYPE_OF,   [7] = UNIT,         [8] = INT,          [9] = FLOAT,
    [10] = PLACE,  [11] = PLACE,    [12] = PLACE,       [13] = PLACE,       [14] = PLACE,
    [15] = PLACE,  [16] = RESOURCE, [17] = DENSE_ARRAY, [18] = TENSOR,      [22] = PLACE};

typedef struct codes {
    uint8_t code;
    const char *form;
    const char *words[7];
} codes;
#define CODES(code, form, ...) {code, form, {__VA_ARGS__}},
static const codes enums[] = {
#include "ir/vhlo/vhlo.def"
};

static const codes *find_enum(uint64_t code)
{
    for (size_t i = 0; i < sizeof enums / sizeof *enums; i++)
        if (enums[i].code == code)
            return &enums[i];
    return NULL;
}

/* ---- as they are stored ---- */

uint32_t lz_vcur_attr(lz_vcur *c)
{
    return lz_vcur_index(c, c->v->attrs.len, "attributes");
}

uint32_t lz_vcur_optional_attr(lz_vcur *c)
{
    bool there;
    const uint8_t *at = c->p;
    uint64_t i = lz_vcur_flagged(c, &there);
    if (!there)
        return UINT32_MAX;
    if (i >= c->v->attrs.len)
        lz_vhlo_fail(c->v, at, LZ_EPARSE, "there are %u attributes, but this is number %" PRIu64,
                     c->v->attrs.len, i);
    return c->v->failed == LZ_OK ? (uint32_t)i : UINT32_MAX;
}

lz_vattr lz_vhlo_attr_open(lz_vhlo *v, uint32_t attr)
{
    lz_vattr a = {.c = {v, v->end, v->end}};
    if (attr >= v->attrs.len) {
        lz_vhlo_fail(v, NULL, LZ_EPARSE, "there are %u attributes, but number %u is asked for",
                     v->attrs.len, attr);
        return a;
    }
    const lz_ventry *e = &v->attrs.data[attr];
    a = (lz_vattr){{v, e->p, e->p + e->n}, e->dialect, e->custom, 0};
    if (!e->custom)
        return a;
    a.code = lz_vcur_varint(&a.c);
    if (a.dialect == LZ_VD_BUILTIN)
        a.code = a.code < sizeof builtin_codes ? builtin_codes[a.code] : 0;
    return a;
}

static bool is(const lz_vattr *a, uint64_t code)
{
    return a->custom && a->code == code &&
           (a->dialect == LZ_VD_VHLO || a->dialect == LZ_VD_BUILTIN);
}

lz_vstr lz_vhlo_attr_string(lz_vhlo *v, uint32_t attr)
{
    lz_vattr a = lz_vhlo_attr_open(v, attr);
    if (is(&a, SYMBOL)) /* of builtin: of a string */
        a = lz_vhlo_attr_open(v, lz_vcur_attr(&a.c));
    if (is(&a, STRING) || is(&a, TYPED_STRING))
        return lz_vcur_string(&a.c);
    lz_vhlo_fail(v, a.c.p, LZ_EPARSE, "expected a string");
    return (lz_vstr){"", 0};
}

bool lz_vhlo_attr_type(lz_vhlo *v, uint32_t attr, uint32_t *type)
{
    lz_vattr a = lz_vhlo_attr_open(v, attr);
    *type = 0;
    if (!is(&a, TYPE_OF))
        return false;
    *type = lz_vcur_type(&a.c);
    return v->failed == LZ_OK;
}

bool lz_vhlo_attr_int(lz_vhlo *v, uint32_t attr, int64_t *out)
{
    lz_vattr a = lz_vhlo_attr_open(v, attr);
    if (is(&a, UNIT)) {
        *out = 1;
    } else if (is(&a, INT)) {
        lz_velem e = lz_vhlo_elem(v, lz_vcur_type(&a.c));
        unsigned up = 64 - (e.bits && e.bits < 64 ? e.bits : 64);
        *out = (int64_t)(lz_vcur_bits(&a.c, e.bits) << up) >> (e.cls == LZ_VC_UINT ? 0 : up);
    } else if (a.custom && a.dialect == LZ_VD_VHLO && (a.code == BOOL || find_enum(a.code))) {
        *out = (int64_t)lz_vcur_varint(&a.c);
    } else {
        return false;
    }
    return v->failed == LZ_OK;
}

bool lz_vhlo_attr_list(lz_vhlo *v, uint32_t attr, lz_vcur *items, uint32_t *n)
{
    lz_vattr a = lz_vhlo_attr_open(v, attr);
    *n = 0;
    if (!is(&a, ARRAY))
        return false;
    *n = lz_vcur_count(&a.c);
    *items = a.c;
    return v->failed == LZ_OK;
}

bool lz_vhlo_attr_empty(lz_vhlo *v, uint32_t attr)
{
    lz_vattr a = lz_vhlo_attr_open(v, attr);
    if (is(&a, ARRAY) || is(&a, DICT))
        return lz_vcur_count(&a.c) == 0;
    if (is(&a, STRING))
        return lz_vcur_string(&a.c).n == 0;
    lz_vtensor t;
    return is(&a, TENSOR) && lz_vhlo_tensor(v, lz_vcur_type(&a.c), &t) && t.nelem == 0;
}

/* ---- as text ---- */

static void put_double(lz_vhlo *v, double x, uint32_t bits)
{
    char text[40];
    lz_snprintf(text, sizeof text, bits == 32 ? "%.9g" : "%.17g", x);
    lz_vput(v, text);
}

/* Of f32 and f64 in digits; what these cannot say, and others, by their bits. */
static void put_float(lz_vhlo *v, uint64_t bits, lz_velem e)
{
    double x = 0;
    float f;
    if (e.bits == 64) {
        memcpy(&x, &bits, sizeof x);
    } else if (e.bits == 32) {
        uint32_t low = (uint32_t)bits;
        memcpy(&f, &low, sizeof f);
        x = (double)f;
    }
    char text[24];
    if (e.bits >= 32 && x - x == 0) {
        put_double(v, x, e.bits);
        return;
    }
    lz_snprintf(text, sizeof text, "0x%0*" PRIX64, (int)(e.bits / 4), bits);
    lz_vput(v, text);
}

static void number(lz_vhlo *v, lz_vattr *a, lz_vform form)
{
    uint32_t type = lz_vcur_type(&a->c);
    lz_velem e = lz_vhlo_elem(v, type);
    uint64_t x = lz_vcur_bits(&a->c, e.bits);
    unsigned up = 64 - (e.bits && e.bits < 64 ? e.bits : 64);
    if (e.bits == 0) {
        lz_vhlo_fail(v, a->c.p, LZ_EUNSUPPORTED, "a number of a type that is none");
        return;
    }
    if (e.cls == LZ_VC_UINT && e.bits == 1) {
        lz_vput(v, x ? "true" : "false");
        return;
    }
    if (a->code == FLOAT)
        put_float(v, x, e);
    else if (e.cls == LZ_VC_UINT)
        lz_vput_u64(v, x);
    else
        lz_vput_i64(v, (int64_t)(x << up) >> up);
    if (form == LZ_VF_BARE)
        return;
    lz_vput(v, " : ");
    lz_vhlo_type(v, type);
}

static void array(lz_vhlo *v, lz_vattr *a, lz_vform form)
{
    lz_vput(v, "[");
    for (uint32_t n = lz_vcur_count(&a->c); n > 0 && v->failed == LZ_OK; n--) {
        lz_vhlo_attr(v, lz_vcur_attr(&a->c), form == LZ_VF_SYMBOL ? form : LZ_VF_NESTED);
        lz_vput(v, n > 1 ? ", " : "");
    }
    lz_vput(v, "]");
}

static lz_vcur open_dict(lz_vhlo *v, uint32_t attr, uint32_t *n)
{
    lz_vattr a = lz_vhlo_attr_open(v, attr);
    *n = 0;
    if (is(&a, DICT))
        *n = lz_vcur_count(&a.c);
    else
        lz_vhlo_fail(v, a.c.p, LZ_EPARSE, "expected a dictionary");
    return a.c;
}

void lz_vhlo_dict(lz_vhlo *v, uint32_t attr, const lz_vrow *but)
{
    uint32_t n;
    bool any = false;
    lz_vcur c = open_dict(v, attr, &n);
    for (; n > 0 && lz_vhlo_enter(v, c.p); n--, lz_vhlo_leave(v)) {
        lz_vstr key = lz_vhlo_attr_string(v, lz_vcur_attr(&c));
        uint32_t value = lz_vcur_attr(&c);
        if (but && lz_vhlo_row_has(but, key))
            continue;
        lz_vput(v, any ? ", " : "");
        any = true;
        lz_vput_key(v, key);
        lz_vattr unit = lz_vhlo_attr_open(v, value);
        if (!is(&unit, UNIT)) {
            lz_vput(v, " = ");
            lz_vhlo_attr(v, value, LZ_VF_NESTED);
        }
    }
}

uint32_t lz_vhlo_dict_find(lz_vhlo *v, uint32_t attr, const char *key)
{
    uint32_t n;
    lz_vcur c = open_dict(v, attr, &n);
    for (; n > 0 && v->failed == LZ_OK; n--) {
        lz_vstr name = lz_vhlo_attr_string(v, lz_vcur_attr(&c));
        uint32_t value = lz_vcur_attr(&c);
        if (lz_vstr_is(name, key))
            return value;
    }
    return UINT32_MAX;
}

static void signed_list(lz_vhlo *v, lz_vcur *c)
{
    lz_vput(v, "[");
    for (uint32_t n = lz_vcur_count(c); n > 0; n--) {
        lz_vput_i64(v, lz_vcur_signed(c));
        lz_vput(v, n > 1 ? ", " : "");
    }
    lz_vput(v, "]");
}

static void alias(lz_vhlo *v, lz_vcur *c)
{
    lz_vput(v, "#stablehlo.output_operand_alias<output_tuple_indices = ");
    signed_list(v, c);
    lz_vput(v, ", operand_index = ");
    lz_vput_i64(v, lz_vcur_signed(c));
    lz_vput(v, ", operand_tuple_indices = ");
    signed_list(v, c);
    lz_vput(v, ">");
}

static void accuracy(lz_vhlo *v, lz_vcur *c)
{
    static const char *const names[] = {"#stablehlo.result_accuracy<atol = ", ", rtol = "};
    const lz_velem f64 = {LZ_VC_FLOAT, 64, false};
    for (int i = 0; i < 2; i++) {
        lz_vput(v, names[i]);
        put_float(v, lz_vcur_bits(c, 64), f64);
    }
    lz_vput(v, ", ulps = ");
    lz_vput_i64(v, lz_vcur_signed(c));
    lz_vput(v, ", mode = ");
    lz_vhlo_attr(v, lz_vcur_attr(c), LZ_VF_NESTED);
    lz_vput(v, ">");
}

/* Of a mesh, as groups of a collective: the same words as sdy's. */
static void mesh_part(lz_vhlo *v, lz_vattr *a)
{
    lz_vcur *c = &a->c;
    bool there;
    switch (a->code) {
    case SUB_AXIS:
        lz_vput(v, "(");
        lz_vput_i64(v, lz_vcur_signed(c));
        lz_vput(v, ")");
        lz_vput_i64(v, lz_vcur_signed(c));
        return;
    case AXIS_REF:
        lz_vhlo_attr(v, lz_vcur_attr(c), LZ_VF_NESTED);
        there = lz_vcur_varint(c) != 0;
        lz_vput(v, there ? ":" : "");
        if (there)
            lz_vhlo_attr(v, lz_vcur_attr(c), LZ_VF_NESTED);
        return;
    case MESH_GROUPS:
        lz_vput(v, "#stablehlo.replica_group_mesh_axes<mesh = ");
        lz_vhlo_attr(v, lz_vcur_attr(c), LZ_VF_SYMBOL);
        lz_vput(v, ", axes = ");
        lz_vhlo_attr(v, lz_vcur_attr(c), LZ_VF_NESTED);
        lz_vput(v, ">");
        return;
    case MESH_AXIS:
        lz_vhlo_attr(v, lz_vcur_attr(c), LZ_VF_NESTED);
        lz_vput(v, "=");
        lz_vput_i64(v, lz_vcur_signed(c));
        return;
    default: { /* MESH */
        lz_vput(v, "#stablehlo.mesh<");
        lz_vhlo_attr(v, lz_vcur_attr(c), LZ_VF_NESTED);
        uint32_t ids = lz_vcur_optional_attr(c);
        lz_vput(v, ids != UINT32_MAX ? ", device_ids = " : "");
        if (ids != UINT32_MAX)
            lz_vhlo_attr(v, ids, LZ_VF_NESTED);
        lz_vput(v, ">");
    }
    }
}

static void put_enum(lz_vhlo *v, const codes *e, lz_vcur *c)
{
    const uint8_t *at = c->p;
    uint64_t i = lz_vcur_varint(c);
    const char *gap = strstr(e->form, "%s");
    if (i >= sizeof e->words / sizeof *e->words || !e->words[i]) {
        lz_vhlo_fail(v, at, LZ_EUNSUPPORTED, "there is no word %" PRIu64 " for \"%s\"", i, e->form);
        return;
    }
    lz_buf_put(v->out, e->form, (size_t)(gap - e->form));
    lz_vput(v, e->words[i]);
    lz_vput(v, gap + 2);
}

/* array<i64: 1, 2> of builtin: a type, how many, their bytes */
static void dense_array(lz_vhlo *v, lz_vcur *c)
{
    lz_velem e = lz_vhlo_elem(v, lz_vcur_type(c));
    uint64_t n = lz_vcur_varint(c);
    lz_vcur blob = lz_vcur_take(c, lz_vcur_varint(c));
    size_t size = e.bits / 8 ? e.bits / 8 : 1, have = (size_t)(blob.end - blob.p);
    if (size > 8 || (e.cls != LZ_VC_INT && e.cls != LZ_VC_UINT) || have % size ||
        n != have / size) {
        lz_vhlo_fail(v, blob.p, LZ_EPARSE, "an array that does not fit its type");
        return;
    }
    lz_vput(v, "array<i");
    lz_vput_u64(v, e.bits);
    for (size_t i = 0; i < have; i += size) {
        uint64_t x = 0;
        for (size_t k = 0; k < size; k++)
            x |= (uint64_t)blob.p[i + k] << (8 * k);
        lz_vput(v, i ? ", " : ": ");
        if (e.bits == 1)
            lz_vput(v, x ? "true" : "false");
        else
            lz_vput_i64(v, (int64_t)(x << (64 - 8 * size)) >> (64 - 8 * size));
    }
    lz_vput(v, ">");
}

static void of_builtin(lz_vhlo *v, lz_vattr *a)
{
    switch (a->code) {
    case TYPED_STRING:
        lz_vput_quoted(v, lz_vcur_string(&a->c));
        break;
    case SYMBOL:
        lz_vput_symbol(v, lz_vhlo_attr_string(v, lz_vcur_attr(&a->c)));
        break;
    case SYMBOLS:
        lz_vput_symbol(v, lz_vhlo_attr_string(v, lz_vcur_attr(&a->c)));
        for (uint32_t n = lz_vcur_count(&a->c); n > 0 && v->failed == LZ_OK; n--) {
            lz_vput(v, "::");
            lz_vhlo_attr(v, lz_vcur_attr(&a->c), LZ_VF_SYMBOL);
        }
        break;
    case UNIT:
        lz_vput(v, "unit");
        break;
    case DENSE_ARRAY:
        dense_array(v, &a->c);
        break;
    case RESOURCE:
        lz_vhlo_fail(v, a->c.p, LZ_EUNSUPPORTED, "a constant that is not in the program");
        break;
    case PLACE:
        lz_vput(v, "loc(unknown)");
        break;
    default:
        lz_vhlo_fail(v, a->c.p, LZ_EUNSUPPORTED, "an attribute that is not known");
    }
}

static void of_both(lz_vhlo *v, lz_vattr *a, uint32_t attr, lz_vform form)
{
    uint32_t type;
    switch (a->code) {
    case ARRAY:
        array(v, a, form);
        break;
    case DICT:
        lz_vput(v, "{");
        lz_vhlo_dict(v, attr, NULL);
        lz_vput(v, "}");
        break;
    case FLOAT:
    case INT:
        number(v, a, form);
        break;
    case STRING:
        if (form == LZ_VF_SYMBOL)
            lz_vput_symbol(v, lz_vcur_string(&a->c));
        else
            lz_vput_quoted(v, lz_vcur_string(&a->c));
        break;
    case TENSOR:
        type = lz_vcur_type(&a->c);
        lz_vhlo_dense(v, type, lz_vcur_take(&a->c, lz_vcur_varint(&a->c)), form);
        break;
    case TYPE_OF:
        lz_vhlo_type(v, lz_vcur_type(&a->c));
        break;
    default:
        of_builtin(v, a);
    }
}

static void of_vhlo(lz_vhlo *v, lz_vattr *a, uint32_t attr, lz_vform form)
{
    const codes *e = find_enum(a->code);
    if (e)
        put_enum(v, e, &a->c);
    else if (a->code == BOOL)
        lz_vput(v, lz_vcur_varint(&a->c) ? "true" : "false");
    else if (a->code == ALIAS)
        alias(v, &a->c);
    else if (a->code == ACCURACY)
        accuracy(v, &a->c);
    else if (a->code == EXTENSIONS) {
        lz_vput(v, "#stablehlo.bounds<");
        signed_list(v, &a->c);
        lz_vput(v, ">");
    } else if (a->code >= SUB_AXIS && a->code <= MESH)
        mesh_part(v, a);
    else if (a->code < TYPED_STRING)
        of_both(v, a, attr, form);
    else
        lz_vhlo_fail(v, a->c.p, LZ_EUNSUPPORTED, "an attribute of vhlo that is not known");
}

void lz_vhlo_attr(lz_vhlo *v, uint32_t attr, lz_vform form)
{
    lz_vattr a = lz_vhlo_attr_open(v, attr);
    if (lz_vhlo_enter(v, a.c.p)) {
        if (!a.custom)
            lz_vput_str(v, (lz_vstr){(const char *)a.c.p, (size_t)(a.c.end - a.c.p)});
        else if (a.dialect == LZ_VD_BUILTIN)
            of_both(v, &a, attr, form);
        else if (a.dialect == LZ_VD_VHLO)
            of_vhlo(v, &a, attr, form);
        else if (a.dialect == LZ_VD_SDY)
            lz_vhlo_sdy(v, &a, form);
        else
            lz_vhlo_fail(v, a.c.p, LZ_EUNSUPPORTED, "an attribute of a dialect that is not known");
    }
    lz_vhlo_leave(v);
}
