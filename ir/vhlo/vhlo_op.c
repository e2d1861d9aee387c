/* vhlo_op.c - operations of VHLO bytecode by the rows of vhlo.def: names, and attributes as
 * StableHLO's generic form has them. See vhlo_read.h. */
#include "ir/vhlo/vhlo_read.h"
#include <string.h>

typedef enum rule {
    RULE_PLAIN,
    RULE_UNLESS_EMPTY,
    RULE_UNLESS_ZERO,
    RULE_UNIT,
    RULE_SYMBOL,
    RULE_VALUE,
    RULE_ACCURACY,
    RULE_DROP,
    RULE_NUMBERS, /* from here on: a part of another attribute */
    RULE_ALGORITHM,
    RULE_CHANNEL
} rule;

static const struct {
    const char *name;
    uint8_t rule;
} attr_rows[] = {
#define ATTR(name, rule) {#name, RULE_##rule},
#include "ir/vhlo/vhlo.def"
};

static const char *const numbers_text[] = {
    "",
#define NUMBERS(name, text) text,
#include "ir/vhlo/vhlo.def"
};

#define A(x) LZ_VN_##x,
#define OPT(x) LZ_VN_##x | LZ_VN_OPTIONAL,
#define ROW(name, text, dialect, version, numbers, ...)                                            \
    {name,           text,    dialect,                                                             \
     version,        numbers, (uint8_t)(sizeof((const uint8_t[]){__VA_ARGS__ 0}) - 1),             \
     {__VA_ARGS__ 0}},
#define VHLO(name, version, span, numbers, attrs)                                                  \
    ROW(name, "stablehlo." name, LZ_VD_VHLO, version, LZ_VNUM_##numbers, attrs)
#define VHLO_AS(name, version, span, text, attrs) ROW(name, text, LZ_VD_VHLO, version, 0, attrs)
#define OTHER(dialect, prefix, name, attrs) ROW(name, prefix name, LZ_VD_##dialect, 0, 0, attrs)
static const lz_vrow rows[] = {
#include "ir/vhlo/vhlo.def"
};

/* "add_v1" is version 1 of "add". */
const lz_vrow *lz_vhlo_row(const lz_vop_name *name)
{
    lz_vstr base = name->name;
    unsigned version = 0;
    if (name->dialect == LZ_VD_VHLO) {
        unsigned unit = 1;
        for (; base.n && base.s[base.n - 1] >= '0' && base.s[base.n - 1] <= '9' && unit < 1000;
             base.n--, unit *= 10)
            version += unit * (unsigned)(base.s[base.n - 1] - '0');
        if (base.n < 2 || memcmp(base.s + base.n - 2, "_v", 2) != 0)
            return NULL;
        base.n -= 2;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].dialect == name->dialect && rows[i].version == version &&
            lz_vstr_is(base, rows[i].name))
            return &rows[i];
    return NULL;
}

bool lz_vhlo_row_has(const lz_vrow *row, lz_vstr name)
{
    for (uint32_t i = 0; i < row->nattr; i++)
        if (lz_vstr_is(name, attr_rows[row->attrs[i] & ~LZ_VN_OPTIONAL].name))
            return true;
    return false;
}

void lz_vhlo_op_attrs(lz_vhlo *v, const lz_vrow *row, lz_vcur *property, uint32_t dict,
                      uint32_t out[LZ_VHLO_ATTRS])
{
    for (uint32_t i = 0; i < row->nattr; i++) {
        bool optional = row->attrs[i] & LZ_VN_OPTIONAL;
        const char *name = attr_rows[row->attrs[i] & ~LZ_VN_OPTIONAL].name;
        if (property)
            out[i] = optional ? lz_vcur_optional_attr(property) : lz_vcur_attr(property);
        else
            out[i] = dict == UINT32_MAX ? UINT32_MAX : lz_vhlo_dict_find(v, dict, name);
    }
}

/* ---- printing ---- */

typedef struct printing {
    lz_vhlo *v;
    const lz_vrow *row;
    const uint32_t *attrs;
    bool any; /* one is there already */
} printing;

static rule rule_of(const lz_vrow *row, uint32_t i)
{
    return (rule)attr_rows[row->attrs[i] & ~LZ_VN_OPTIONAL].rule;
}

static const char *name_of(const lz_vrow *row, uint32_t i)
{
    return attr_rows[row->attrs[i] & ~LZ_VN_OPTIONAL].name;
}

static uint32_t find(const printing *p, lz_vname name)
{
    for (uint32_t i = 0; i < p->row->nattr; i++)
        if (p->row->attrs[i] == name)
            return p->attrs[i];
    return UINT32_MAX;
}

static void separate(printing *p)
{
    lz_vput(p->v, p->any ? ", " : " <{");
    p->any = true;
}

static bool is_zero(lz_vhlo *v, uint32_t attr)
{
    int64_t x;
    return lz_vhlo_attr_int(v, attr, &x) && x == 0;
}

/* Of a struct's parts the first is where it is printed. */
static bool is_first(const printing *p, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (rule_of(p->row, k) == rule_of(p->row, i) && p->attrs[k] != UINT32_MAX)
            return false;
    return true;
}

static bool has_algorithm(const printing *p)
{
    uint32_t type, attr = find(p, LZ_VN_lhs_precision_type);
    return attr != UINT32_MAX && lz_vhlo_attr_type(p->v, attr, &type) &&
           !lz_vhlo_is_none(p->v, type);
}

/* Every part but those of channels has the name that it is stored under. */
static void parts(printing *p, rule r)
{
    bool any = false;
    for (uint32_t i = 0; i < p->row->nattr; i++) {
        if (rule_of(p->row, i) != r || p->attrs[i] == UINT32_MAX)
            continue;
        const char *name = name_of(p->row, i);
        lz_vput(p->v, any ? ", " : "");
        lz_vput(p->v, r != RULE_CHANNEL ? name : strcmp(name, "channel_id") ? "type" : "handle");
        lz_vput(p->v, " = ");
        lz_vhlo_attr(p->v, p->attrs[i], LZ_VF_BARE);
        any = true;
    }
    lz_vput(p->v, ">");
}

static void channel(printing *p)
{
    uint32_t id = find(p, LZ_VN_channel_id), type = find(p, LZ_VN_channel_type);
    if (type == UINT32_MAX && (id == UINT32_MAX || is_zero(p->v, id)))
        return; /* of a collective that has none */
    separate(p);
    lz_vput(p->v, "channel_handle = #stablehlo.channel_handle<");
    lz_vput(p->v, type == UINT32_MAX ? "type = 0, " : "");
    parts(p, RULE_CHANNEL);
}

static void part(printing *p, uint32_t i, rule r)
{
    if (!is_first(p, i))
        return;
    if (r == RULE_CHANNEL) {
        channel(p);
    } else if (r == RULE_NUMBERS || has_algorithm(p)) {
        separate(p);
        lz_vput(p->v, r == RULE_NUMBERS ? numbers_text[p->row->numbers]
                                        : "algorithm = #stablehlo.dot_algorithm<");
        parts(p, r);
    }
}

/* The mode of {atol, rtol, ulps, mode} */
static bool is_default(lz_vhlo *v, uint32_t attr)
{
    lz_vattr a = lz_vhlo_attr_open(v, attr);
    (void)lz_vcur_bits(&a.c, 64);
    (void)lz_vcur_bits(&a.c, 64);
    (void)lz_vcur_signed(&a.c);
    return is_zero(v, lz_vcur_attr(&a.c));
}

static bool left_out(printing *p, uint32_t attr, rule r)
{
    switch (r) {
    case RULE_UNLESS_EMPTY:
        return lz_vhlo_attr_empty(p->v, attr);
    case RULE_UNLESS_ZERO:
    case RULE_UNIT:
        return is_zero(p->v, attr);
    case RULE_ACCURACY:
        return is_default(p->v, attr);
    default:
        return r == RULE_DROP;
    }
}

static void attribute(printing *p, uint32_t i)
{
    uint32_t attr = p->attrs[i];
    rule r = rule_of(p->row, i);
    if (attr == UINT32_MAX)
        return;
    if (r >= RULE_NUMBERS) {
        part(p, i, r);
        return;
    }
    if (left_out(p, attr, r))
        return;
    separate(p);
    lz_vput(p->v, name_of(p->row, i));
    if (r == RULE_UNIT)
        return;
    lz_vput(p->v, " = ");
    lz_vhlo_attr(p->v, attr,
                 r == RULE_VALUE    ? LZ_VF_VALUE
                 : r == RULE_SYMBOL ? LZ_VF_SYMBOL
                                    : LZ_VF_FIELD);
}

void lz_vhlo_op_print(lz_vhlo *v, const lz_vrow *row, const uint32_t attrs[LZ_VHLO_ATTRS])
{
    printing p = {v, row, attrs, false};
    for (uint32_t i = 0; i < row->nattr && v->failed == LZ_OK; i++)
        attribute(&p, i);
    lz_vput(v, p.any ? "}>" : "");
}
