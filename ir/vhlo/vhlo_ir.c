/* vhlo_ir.c - operations, regions and functions of VHLO bytecode as text: MLIR's generic form, but
 * for the module and its functions. A value has the name %k of its place among those that its
 * function defines, results of one operation together the name %k#0, %k#1, .. See vhlo_read.h. */
#include "ir/vhlo/vhlo_read.h"
#include <inttypes.h>
#include <string.h>

/* The values that a region may use: those of v->values from `base` on. What is defined next is
 * `next`, of those before `end`. */
typedef struct frame {
    uint32_t base, next, end;
} frame;

/* What a byte in front of an operation says that it has. */
enum { HAS_DICT = 1, HAS_RESULTS = 2, HAS_OPERANDS = 4, HAS_SUCCESSORS = 8, HAS_REGIONS = 16 };
enum { HAS_USES = 32, HAS_PROPERTY = 64 };

typedef struct operation {
    lz_vop_name *name;
    const uint8_t *at;
    uint32_t dict; /* UINT32_MAX: none */
    uint32_t first, nresult;
    uint32_t noperand, nregion;
    lz_vcur operands, regions; /* behind their number */
    bool isolated;
    uint32_t attrs[LZ_VHLO_ATTRS];
} operation;

static void print_region(lz_vhlo *v, lz_vcur *c, frame around, bool isolated, bool is_body);

/* ---- values ---- */

static void define(lz_vhlo *v, frame *f, uint32_t type, uint32_t part, const uint8_t *at)
{
    if (f->next >= f->end) {
        lz_vhlo_fail(v, at, LZ_EPARSE, "a region defines more values than it says");
        return;
    }
    if (part < 2)
        v->nname++;
    v->values.data[f->next++] = (lz_vvalue){v->nname - 1, type, part};
}

static lz_vvalue use(lz_vhlo *v, const frame *f, lz_vcur *c)
{
    const uint8_t *at = c->p;
    uint64_t i = lz_vcur_varint(c);
    if (v->failed == LZ_OK && i < v->values.len - f->base &&
        v->values.data[f->base + i].name != UINT32_MAX)
        return v->values.data[f->base + i];
    lz_vhlo_fail(v, at, LZ_EPARSE, "value %" PRIu64 " is not defined here", i);
    return (lz_vvalue){0, 0, 0};
}

static void put_value(lz_vhlo *v, lz_vvalue x)
{
    lz_vput(v, "%");
    lz_vput_u64(v, x.name);
    if (x.part) {
        lz_vput(v, "#");
        lz_vput_u64(v, x.part - 1);
    }
}

/* ---- operations ---- */

static void skip_uses(lz_vcur *c, uint32_t nvalue)
{
    uint32_t n = nvalue > 1 ? lz_vcur_count(c) : 1;
    for (; n > 0 && c->v->failed == LZ_OK; n--) {
        bool pairs;
        if (nvalue > 1)
            (void)lz_vcur_varint(c);
        for (uint64_t k = lz_vcur_flagged(c, &pairs); k > 0 && c->v->failed == LZ_OK; k--)
            (void)lz_vcur_varint(c);
    }
}

static void read_results(lz_vhlo *v, lz_vcur *c, frame *f, operation *o)
{
    o->nresult = lz_vcur_count(c);
    for (uint32_t i = 0; i < o->nresult && v->failed == LZ_OK; i++) {
        const uint8_t *at = c->p;
        define(v, f, lz_vcur_type(c), o->nresult > 1 ? i + 1 : 0, at);
    }
}

/* The rows of a module's operations are looked for once. */
static lz_vop_name *name_of(lz_vhlo *v, lz_vcur *c)
{
    static lz_vop_name none;
    uint32_t i = lz_vcur_index(c, v->op_names.len, "names of operations");
    if (v->failed != LZ_OK)
        return &none;
    lz_vop_name *n = &v->op_names.data[i];
    if (!n->sought)
        n->row = lz_vhlo_row(n);
    n->sought = true;
    return n;
}

static void read_attrs(lz_vhlo *v, operation *o, bool has_property, uint32_t property)
{
    const lz_vrow *row = o->name->row;
    lz_vcur c = {v, v->end, v->end};
    if (has_property && property < v->properties.len) {
        lz_vstr p = v->properties.data[property];
        c.p = (const uint8_t *)p.s;
        c.end = c.p + p.n;
    }
    if (row)
        lz_vhlo_op_attrs(v, row, has_property ? &c : NULL, o->dict, o->attrs);
    else
        lz_vhlo_fail(v, o->at, LZ_EUNSUPPORTED,
                     "operation '%.*s.%.*s' is not known (VHLO 0.9.0 to 1.20.0 is read)",
                     (int)(o->name->dialect_name.n < 40 ? o->name->dialect_name.n : 40),
                     o->name->dialect_name.s, (int)(o->name->name.n < 60 ? o->name->name.n : 60),
                     o->name->name.s);
}

/* Up to its regions. */
static void read_operation(lz_vhlo *v, lz_vcur *c, frame *f, operation *o)
{
    *o = (operation){.at = c->p, .dict = UINT32_MAX, .first = f->next};
    o->name = name_of(v, c);
    uint8_t has = lz_vcur_byte(c);
    (void)lz_vcur_attr(c); /* where it was written */
    if (has & HAS_DICT)
        o->dict = lz_vcur_attr(c);
    uint32_t property = has & HAS_PROPERTY ? lz_vcur_index(c, v->properties.len, "properties") : 0;
    if (has & HAS_RESULTS)
        read_results(v, c, f, o);
    if (has & HAS_OPERANDS)
        o->noperand = lz_vcur_count(c);
    o->operands = *c;
    for (uint32_t i = 0; i < o->noperand && v->failed == LZ_OK; i++)
        (void)lz_vcur_varint(c);
    if (has & HAS_SUCCESSORS)
        lz_vhlo_fail(v, o->at, LZ_EUNSUPPORTED, "a branch to other blocks");
    if (has & HAS_USES)
        skip_uses(c, o->nresult);
    if (has & HAS_REGIONS)
        o->nregion = (uint32_t)lz_vcur_flagged(c, &o->isolated);
    if (v->failed == LZ_OK)
        read_attrs(v, o, has & HAS_PROPERTY, property);
}

/* The operands of a cast go by the names of its results from here on. */
static void see_through(lz_vhlo *v, const frame *f, operation *o)
{
    if (o->noperand != o->nresult) {
        lz_vhlo_fail(v, o->at, LZ_EUNSUPPORTED, "a cast of %u values to %u", o->noperand,
                     o->nresult);
        return;
    }
    for (uint32_t i = 0; i < o->nresult && v->failed == LZ_OK; i++) {
        lz_vvalue from = use(v, f, &o->operands), *to = &v->values.data[o->first + i];
        to->name = from.name;
        to->part = from.part;
    }
}

static void put_results(lz_vhlo *v, const operation *o)
{
    if (o->nresult) {
        lz_vput(v, "%");
        lz_vput_u64(v, v->values.data[o->first].name);
    }
    if (o->nresult > 1) {
        lz_vput(v, ":");
        lz_vput_u64(v, o->nresult);
    }
    lz_vput(v, o->nresult ? " = \"" : "\"");
    lz_vput(v, o->name->row->text);
    lz_vput(v, "\"(");
}

static void put_types(lz_vhlo *v, const frame *f, operation *o)
{
    lz_vput(v, " : (");
    for (uint32_t i = 0; i < o->noperand && v->failed == LZ_OK; i++) {
        lz_vput(v, i ? ", " : "");
        lz_vhlo_type(v, use(v, f, &o->operands).type);
    }
    lz_vput(v, ") -> ");
    lz_vput(v, o->nresult != 1 ? "(" : "");
    for (uint32_t i = 0; i < o->nresult && v->failed == LZ_OK; i++) {
        lz_vput(v, i ? ", " : "");
        lz_vhlo_type(v, v->values.data[o->first + i].type);
    }
    lz_vput(v, o->nresult != 1 ? ")\n" : "\n");
}

/* Where the regions of o are read: isolated ones are together in a section of their own, from
 * version 2 of the container on. */
static lz_vcur *open_regions(lz_vhlo *v, lz_vcur *c, const operation *o, lz_vcur *own)
{
    if (!o->isolated || v->version < 2 || o->nregion == 0)
        return c;
    if (lz_vcur_section(c, own) != 4)
        lz_vhlo_fail(v, o->at, LZ_EPARSE, "expected the section of the regions");
    return own;
}

static void print_regions(lz_vhlo *v, lz_vcur *c, const frame *f, const operation *o)
{
    lz_vcur own, *inside = open_regions(v, c, o, &own);
    for (uint32_t i = 0; i < o->nregion && v->failed == LZ_OK; i++) {
        lz_vput(v, i ? ", {\n" : " ({\n");
        print_region(v, inside, *f, o->isolated, false);
        lz_vput(v, "}");
    }
    lz_vput(v, o->nregion ? ")" : "");
}

static void print_plain(lz_vhlo *v, lz_vcur *c, const frame *f, operation *o)
{
    lz_vcur operands = o->operands;
    put_results(v, o);
    for (uint32_t i = 0; i < o->noperand && v->failed == LZ_OK; i++) {
        lz_vput(v, i ? ", " : "");
        put_value(v, use(v, f, &operands));
    }
    lz_vput(v, ")");
    lz_vhlo_op_print(v, o->name->row, o->attrs);
    print_regions(v, c, f, o);
    if (o->dict != UINT32_MAX) { /* before version 5 the row's are among them */
        lz_vput(v, " {");
        lz_vhlo_dict(v, o->dict, v->version < 5 ? o->name->row : NULL);
        lz_vput(v, "}");
    }
    put_types(v, f, o);
}

static uint32_t attr_of(const operation *o, lz_vname name)
{
    const lz_vrow *row = o->name->row;
    for (uint32_t i = 0; i < row->nattr; i++)
        if ((row->attrs[i] & ~LZ_VN_OPTIONAL) == name)
            return o->attrs[i];
    return UINT32_MAX;
}

/* ---- functions ---- */

/* Element i of a list of dictionaries, in braces. */
static void put_value_attrs(lz_vhlo *v, uint32_t list, uint32_t i)
{
    lz_vcur items;
    uint32_t n;
    if (list == UINT32_MAX || !lz_vhlo_attr_list(v, list, &items, &n) || i >= n)
        return;
    for (; i > 0; i--)
        (void)lz_vcur_attr(&items);
    uint32_t dict = lz_vcur_attr(&items);
    if (v->failed != LZ_OK || lz_vhlo_attr_empty(v, dict))
        return;
    lz_vput(v, " {");
    lz_vhlo_dict(v, dict, NULL);
    lz_vput(v, "}");
}

/* ("%0: type" {attributes}, ..) -> (type {attributes}, ..) of a function whose parameters are the
 * values from `first` on; without a body they have no names. */
static void print_signature(lz_vhlo *v, const operation *o, bool body)
{
    uint32_t type, attr = attr_of(o, LZ_VN_function_type);
    lz_vcur inputs, results;
    if (attr == UINT32_MAX || !lz_vhlo_attr_type(v, attr, &type) ||
        !lz_vhlo_function_type(v, type, &inputs, &results)) {
        lz_vhlo_fail(v, o->at, LZ_EPARSE, "a function has no type");
        return;
    }
    lz_vput(v, "(");
    uint32_t n = lz_vcur_count(&inputs);
    for (uint32_t i = 0; i < n && v->failed == LZ_OK; i++) {
        lz_vput(v, i ? ", " : "");
        if (body) {
            lz_vput(v, "%");
            lz_vput_u64(v, i);
            lz_vput(v, ": ");
        }
        lz_vhlo_type(v, lz_vcur_type(&inputs));
        put_value_attrs(v, attr_of(o, LZ_VN_arg_attrs), i);
    }
    lz_vput(v, ") -> (");
    n = lz_vcur_count(&results);
    for (uint32_t i = 0; i < n && v->failed == LZ_OK; i++) {
        lz_vput(v, i ? ", " : "");
        lz_vhlo_type(v, lz_vcur_type(&results));
        put_value_attrs(v, attr_of(o, LZ_VN_res_attrs), i);
    }
    lz_vput(v, ")");
}

static void put_visibility(lz_vhlo *v, uint32_t attr)
{
    static const char *const words[] = {"public", "private", "nested"};
    lz_vstr s = attr == UINT32_MAX ? (lz_vstr){"", 0} : lz_vhlo_attr_string(v, attr);
    for (int i = 0; i < 3; i++)
        if (lz_vstr_is(s, words[i])) {
            lz_vput_str(v, s);
            lz_vput(v, " ");
        }
}

static void print_function(lz_vhlo *v, lz_vcur *c, const frame *f, const operation *o)
{
    uint32_t name = attr_of(o, LZ_VN_sym_name);
    if (o->nregion != 1 || !o->isolated || name == UINT32_MAX) {
        lz_vhlo_fail(v, o->at, LZ_EPARSE, "a function without a name or a body");
        return;
    }
    lz_vcur own, *inside = open_regions(v, c, o, &own), empty = *inside;
    bool body = lz_vcur_varint(&empty) > 0;
    v->nname = 0;
    lz_vput(v, "func.func ");
    put_visibility(v, attr_of(o, LZ_VN_sym_visibility));
    lz_vput_symbol(v, lz_vhlo_attr_string(v, name));
    print_signature(v, o, body);
    lz_vput(v, body ? " {\n" : "");
    print_region(v, inside, *f, true, true);
    lz_vput(v, body ? "}\n" : "\n");
}

/* ---- the module ---- */

static void print_module(lz_vhlo *v, lz_vcur *c, const frame *f, const operation *o)
{
    uint32_t name = attr_of(o, LZ_VN_sym_name);
    if (o->nregion != 1) {
        lz_vhlo_fail(v, o->at, LZ_EPARSE, "a module without a body");
        return;
    }
    lz_vput(v, "module ");
    if (name != UINT32_MAX) {
        lz_vput_symbol(v, lz_vhlo_attr_string(v, name));
        lz_vput(v, " ");
    }
    if (o->dict != UINT32_MAX) {
        lz_vput(v, "attributes {");
        lz_vhlo_dict(v, o->dict, v->version < 5 ? o->name->row : NULL);
        lz_vput(v, "} ");
    }
    lz_vput(v, "{\n");
    lz_vcur own, *inside = open_regions(v, c, o, &own);
    print_region(v, inside, *f, o->isolated, true);
    lz_vput(v, "}\n");
}

/* sdy.mesh @name = <["x"=2]> */
static void print_mesh(lz_vhlo *v, const operation *o)
{
    uint32_t name = attr_of(o, LZ_VN_sym_name), mesh = attr_of(o, LZ_VN_mesh);
    if (name == UINT32_MAX || mesh == UINT32_MAX) {
        lz_vhlo_fail(v, o->at, LZ_EPARSE, "a mesh without a name");
        return;
    }
    lz_vput(v, "sdy.mesh ");
    lz_vput_symbol(v, lz_vhlo_attr_string(v, name));
    lz_vput(v, " = ");
    lz_vhlo_attr(v, mesh, LZ_VF_TAIL);
    lz_vput(v, "\n");
}

static void print_operation(lz_vhlo *v, lz_vcur *c, frame *f)
{
    operation o;
    read_operation(v, c, f, &o);
    if (v->failed != LZ_OK)
        return;
    const char *text = o.name->row->text;
    lz_vstr name = {text, strlen(text)};
    if (lz_vstr_is(name, "builtin.unrealized_conversion_cast"))
        see_through(v, f, &o);
    else if (lz_vstr_is(name, "func.func"))
        print_function(v, c, f, &o);
    else if (lz_vstr_is(name, "builtin.module"))
        print_module(v, c, f, &o);
    else if (lz_vstr_is(name, "sdy.mesh"))
        print_mesh(v, &o);
    else
        print_plain(v, c, f, &o);
}

/* ---- blocks and regions ---- */

/* ^bb0(%1: type): where they have no other place */
static void read_args(lz_vhlo *v, lz_vcur *c, frame *f, bool print)
{
    uint32_t n = lz_vcur_count(c);
    lz_vput(v, print ? "^bb0(" : "");
    for (uint32_t i = 0; i < n && v->failed == LZ_OK; i++) {
        bool has_place = true;
        const uint8_t *at = c->p;
        uint64_t type = v->version >= 4 ? lz_vcur_flagged(c, &has_place) : lz_vcur_varint(c);
        if (has_place)
            (void)lz_vcur_attr(c);
        if (type >= v->types.len)
            lz_vhlo_fail(v, at, LZ_EPARSE, "there are %u types, but this is number %" PRIu64,
                         v->types.len, type);
        define(v, f, (uint32_t)type, 0, at);
        if (!print || v->failed != LZ_OK)
            continue;
        lz_vput(v, i ? ", " : "");
        put_value(v, v->values.data[f->next - 1]);
        lz_vput(v, ": ");
        lz_vhlo_type(v, (uint32_t)type);
    }
    lz_vput(v, print ? "):\n" : "");
    if (v->version >= 3 && lz_vcur_byte(c))
        skip_uses(c, n);
}

static void print_block(lz_vhlo *v, lz_vcur *c, frame *f, bool is_body)
{
    bool has_args;
    uint64_t n = lz_vcur_flagged(c, &has_args);
    if (has_args)
        read_args(v, c, f, !is_body);
    for (; n > 0 && v->failed == LZ_OK; n--)
        print_operation(v, c, f);
}

/* Room for the values of a region, of which a module has no more than it has bytes. */
static bool announce(lz_vhlo *v, uint64_t n, const uint8_t *at)
{
    v->nvalues += n <= (size_t)(v->end - v->bytes) ? n : 0;
    if (n > (size_t)(v->end - v->bytes) || v->nvalues > (size_t)(v->end - v->bytes))
        lz_vhlo_fail(v, at, LZ_EPARSE, "the regions have more values than the program has bytes");
    else if (lz_vec_reserve(&v->values, (uint64_t)v->values.len + n) != LZ_OK)
        lz_vhlo_fail(v, NULL, LZ_EMEM, "no memory for %" PRIu64 " values", n);
    if (v->failed != LZ_OK)
        return false;
    for (; n > 0; n--)
        v->values.data[v->values.len++] = (lz_vvalue){UINT32_MAX, 0, 0};
    return true;
}

static void print_region(lz_vhlo *v, lz_vcur *c, frame around, bool isolated, bool is_body)
{
    const uint8_t *at = c->p;
    uint64_t nblock = lz_vcur_varint(c);
    uint32_t from = v->values.len;
    if (nblock == 0 || v->failed != LZ_OK)
        return;
    if (nblock > 1)
        lz_vhlo_fail(v, at, LZ_EUNSUPPORTED, "a region of %" PRIu64 " blocks", nblock);
    if (lz_vhlo_enter(v, at) && announce(v, lz_vcur_varint(c), at)) {
        frame f = {isolated ? from : around.base, from, v->values.len};
        print_block(v, c, &f, is_body);
    }
    lz_vhlo_leave(v);
    v->values.len = from;
}

void lz_vhlo_module(lz_vhlo *v, lz_vcur ir)
{
    frame f = {0, 0, 0};
    bool has_args;
    uint64_t n = lz_vcur_flagged(&ir, &has_args);
    if (n != 1 || has_args)
        lz_vhlo_fail(v, ir.p, LZ_EUNSUPPORTED, "the program is not one module");
    if (v->failed == LZ_OK)
        print_operation(v, &ir, &f);
}
