/* vhlo_read.h - between the files that read VHLO bytecode: the bytes, the tables of a module, and
 * what prints types and attributes. A failure is recorded once, in lz_vhlo.failed; from then on
 * every read gives 0 and every list is empty, so that it is asked for where loops turn.
 * Threads: thread-compatible. */
#ifndef LZ_IR_VHLO_VHLO_READ_H
#define LZ_IR_VHLO_VHLO_READ_H
#include "ir/vhlo/vhlo.h"

enum {
    LZ_VHLO_DEPTH = 64, /* of types, attributes and regions in each other */
    LZ_VHLO_ATTRS = 18  /* of one operation, at most */
};

typedef struct lz_vstr {
    const char *s;
    size_t n;
} lz_vstr;
bool lz_vstr_is(lz_vstr x, const char *s);

typedef enum lz_vdialect {
    LZ_VD_OTHER,
    LZ_VD_BUILTIN,
    LZ_VD_FUNC,
    LZ_VD_SDY,
    LZ_VD_VHLO,
} lz_vdialect;

/* The attributes of operations, which are stored in this order. */
typedef enum lz_vname {
#define ATTR(name, rule) LZ_VN_##name,
#include "ir/vhlo/vhlo.def"
    LZ_VN_COUNT,
    LZ_VN_OPTIONAL = 128 /* added to one that may be absent from a property */
} lz_vname;
typedef enum lz_vnumbers {
    LZ_VNUM_none,
#define NUMBERS(name, text) LZ_VNUM_##name,
#include "ir/vhlo/vhlo.def"
} lz_vnumbers;

typedef struct lz_vrow {
    const char *name; /* without the dialect and the version */
    const char *text; /* what StableHLO's text calls it */
    uint8_t dialect, version, numbers, nattr;
    uint8_t attrs[LZ_VHLO_ATTRS];
} lz_vrow;

typedef struct lz_vop_name {
    lz_vstr name; /* without the dialect */
    lz_vstr dialect_name;
    lz_vdialect dialect;
    const lz_vrow *row; /* NULL: not known */
    bool sought;
} lz_vop_name;

/* An attribute or a type as it is stored. */
typedef struct lz_ventry {
    const uint8_t *p;
    size_t n;
    lz_vdialect dialect;
    bool custom; /* the dialect's encoding; else text, and 0 */
} lz_ventry;

typedef struct lz_vvalue {
    uint32_t name, type; /* name UINT32_MAX: not defined yet */
    uint32_t part;       /* of an operation of several results: which one, from 1 on; else 0 */
} lz_vvalue;

typedef struct lz_vhlo {
    const uint8_t *bytes, *end;
    lz_status failed;
    uint64_t version; /* of the container */
    lz_buf *out;
    size_t most; /* bytes of out */
    int depth;
    LZ_VEC(lz_vstr) strings;
    LZ_VEC(lz_vstr) dialects;
    LZ_VEC(lz_vop_name) op_names;
    LZ_VEC(lz_ventry) attrs;
    LZ_VEC(lz_ventry) types;
    LZ_VEC(lz_vstr) properties;
    LZ_VEC(lz_vvalue) values;
    uint32_t nname;   /* values of the function that have one */
    uint64_t nvalues; /* that regions have announced */
} lz_vhlo;

/* ---- bytes ---- */

typedef struct lz_vcur {
    lz_vhlo *v;
    const uint8_t *p, *end;
} lz_vcur;

/* at: NULL where no byte is to be named. */
void lz_vhlo_fail(lz_vhlo *v, const uint8_t *at, lz_status s, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Counts a level of nesting; true unless it is too deep, the text too long, or something failed. */
bool lz_vhlo_enter(lz_vhlo *v, const uint8_t *at);
void lz_vhlo_leave(lz_vhlo *v);

uint8_t lz_vcur_byte(lz_vcur *c);
uint64_t lz_vcur_varint(lz_vcur *c);
uint64_t lz_vcur_flagged(lz_vcur *c, bool *flag);
int64_t lz_vcur_signed(lz_vcur *c);
/* A number of things of at least a byte each. */
uint32_t lz_vcur_count(lz_vcur *c);
/* A number below n, of `what`. */
uint32_t lz_vcur_index(lz_vcur *c, uint32_t n, const char *what);
/* The next n bytes, as a cursor of their own. */
lz_vcur lz_vcur_take(lz_vcur *c, uint64_t n);
/* The section that begins here; gives its number. */
uint8_t lz_vcur_section(lz_vcur *c, lz_vcur *inside);
lz_vstr lz_vcur_string(lz_vcur *c); /* the index of one */
/* The bits of a number of this width, at most 64. */
uint64_t lz_vcur_bits(lz_vcur *c, uint32_t width);

/* ---- text ---- */

void lz_vput(lz_vhlo *v, const char *s);
void lz_vput_str(lz_vhlo *v, lz_vstr s);
void lz_vput_i64(lz_vhlo *v, int64_t x);
void lz_vput_u64(lz_vhlo *v, uint64_t x);
void lz_vput_quoted(lz_vhlo *v, lz_vstr s); /* "..." */
void lz_vput_symbol(lz_vhlo *v, lz_vstr s); /* @..., quoted where it must be */
void lz_vput_key(lz_vhlo *v, lz_vstr s);    /* the same without @ */

/* ---- types (vhlo_type.c) ---- */

typedef enum lz_vclass { LZ_VC_OTHER, LZ_VC_INT, LZ_VC_UINT, LZ_VC_FLOAT, LZ_VC_COMPLEX } lz_vclass;
typedef struct lz_velem {
    lz_vclass cls;
    uint32_t bits; /* of a number, both parts of a complex one */
    bool index;
} lz_velem;
typedef struct lz_vtensor {
    lz_velem elem;
    uint32_t rank;
    uint64_t nelem;
    lz_vcur dims; /* at them */
    bool vhlo;
} lz_vtensor;

void lz_vhlo_type(lz_vhlo *v, uint32_t type);
/* ": type", of an index that is read */
lz_velem lz_vhlo_elem(lz_vhlo *v, uint32_t type);
/* False: is no tensor of known extents. */
bool lz_vhlo_tensor(lz_vhlo *v, uint32_t type, lz_vtensor *out);
uint32_t lz_vcur_type(lz_vcur *c);          /* the index of one */
void lz_vhlo_types(lz_vhlo *v, lz_vcur *c); /* a list of them, with commas */
bool lz_vhlo_is_none(lz_vhlo *v, uint32_t type);
/* The results of a function type, as a cursor at their number; false: it is none. */
bool lz_vhlo_function_type(lz_vhlo *v, uint32_t type, lz_vcur *inputs, lz_vcur *results);

/* ---- attributes (vhlo_attr.c, vhlo_dense.c, vhlo_sdy.c) ---- */

typedef enum lz_vform {
    LZ_VF_NESTED, /* in another */
    LZ_VF_FIELD,  /* of an operation: a list is array<i64: ..> */
    LZ_VF_BARE,   /* in a #stablehlo.struct<..>: a list is [..], a number has no type */
    LZ_VF_VALUE,  /* a constant */
    LZ_VF_SYMBOL, /* a string, or strings, that are names of functions */
    LZ_VF_TAIL,   /* of sdy: without #sdy.name */
} lz_vform;
/* One with the dialect's encoding, its code read. */
typedef struct lz_vattr {
    lz_vcur c;
    lz_vdialect dialect;
    bool custom;
    uint64_t code;
} lz_vattr;
enum { LZ_VHLO_TENSOR = 15 }; /* of vhlo */

uint32_t lz_vcur_attr(lz_vcur *c); /* the index of one */
/* The same of one that may be absent: UINT32_MAX */
uint32_t lz_vcur_optional_attr(lz_vcur *c);
lz_vattr lz_vhlo_attr_open(lz_vhlo *v, uint32_t attr);
void lz_vhlo_attr(lz_vhlo *v, uint32_t attr, lz_vform form);
/* Of a string, or a type, or what names a symbol. */
lz_vstr lz_vhlo_attr_string(lz_vhlo *v, uint32_t attr);
bool lz_vhlo_attr_type(lz_vhlo *v, uint32_t attr, uint32_t *type);
bool lz_vhlo_attr_int(lz_vhlo *v, uint32_t attr, int64_t *out); /* of bool, int and enum, too */
bool lz_vhlo_attr_empty(lz_vhlo *v, uint32_t attr);             /* holds nothing */
/* Its elements as a cursor behind their number; false: it is no list. */
bool lz_vhlo_attr_list(lz_vhlo *v, uint32_t attr, lz_vcur *items, uint32_t *n);
/* {a = 1, b}, without the braces and what the row has; but: may be NULL */
void lz_vhlo_dict(lz_vhlo *v, uint32_t attr, const lz_vrow *but);
/* In a dictionary; UINT32_MAX: not there */
uint32_t lz_vhlo_dict_find(lz_vhlo *v, uint32_t attr, const char *key);
/* The blob of a tensor of this type. */
void lz_vhlo_dense(lz_vhlo *v, uint32_t type, lz_vcur blob, lz_vform form);
void lz_vhlo_sdy(lz_vhlo *v, lz_vattr *a, lz_vform form);

/* ---- operations (vhlo_op.c), the module (vhlo_ir.c) ---- */

const lz_vrow *lz_vhlo_row(const lz_vop_name *name);
bool lz_vhlo_row_has(const lz_vrow *row, lz_vstr name);
/* The attributes of an operation in the row's order, of its property or of its dictionary (before
 * version 5); UINT32_MAX: absent. */
void lz_vhlo_op_attrs(lz_vhlo *v, const lz_vrow *row, lz_vcur *property, uint32_t dict,
                      uint32_t out[LZ_VHLO_ATTRS]);
/* " <{..}>" of them */
void lz_vhlo_op_print(lz_vhlo *v, const lz_vrow *row, const uint32_t attrs[LZ_VHLO_ATTRS]);
void lz_vhlo_module(lz_vhlo *v, lz_vcur ir);
#endif
