/* vhlo_sdy.c - attributes of the dialect sdy as text (shardy/dialect/sdy/ir/bytecode.td has their
 * codes, printers.cc their words). See vhlo_read.h. */
#include "ir/vhlo/vhlo_read.h"
#include <inttypes.h>

enum {
    MANUAL_AXES = 0,
    MESH_AXIS = 1,
    MESH = 2,
    SUB_AXIS = 3,
    AXIS_REF = 4,
    DIMENSION = 5,
    SHARDING = 6,
    PER_VALUE = 7,
    RULE = 10, /* how factors of sizes are mapped to dimensions */
    AXIS_LIST = 11,
    SHARDING_2 = 15,
    PER_VALUE_2 = 16,
    SHARDING_3 = 17
};

/* Attributes with commas between. */
static uint32_t parts(lz_vhlo *v, lz_vcur *c)
{
    uint32_t n = lz_vcur_count(c);
    for (uint32_t i = 0; i < n && v->failed == LZ_OK; i++) {
        lz_vput(v, i ? ", " : "");
        lz_vhlo_attr(v, lz_vcur_attr(c), LZ_VF_TAIL);
    }
    return n;
}

static void mesh(lz_vhlo *v, lz_vcur *c, lz_vform form)
{
    lz_vput(v, form == LZ_VF_TAIL ? "<[" : "#sdy.mesh<[");
    parts(v, c);
    lz_vput(v, "]");
    uint32_t n = lz_vcur_count(c);
    for (uint32_t i = 0; i < n; i++) {
        lz_vput(v, i ? ", " : ", device_ids=[");
        lz_vput_i64(v, lz_vcur_signed(c));
    }
    lz_vput(v, n ? "]>" : ">");
}

static void dimension(lz_vhlo *v, lz_vcur *c)
{
    bool has_priority;
    lz_vput(v, "{");
    bool any = parts(v, c) > 0;
    if (!lz_vcur_byte(c))
        lz_vput(v, any ? ", ?" : "?");
    lz_vput(v, "}");
    uint64_t priority = lz_vcur_flagged(c, &has_priority);
    if (has_priority) {
        lz_vput(v, "p");
        lz_vput_u64(v, priority);
    }
}

/* A mesh in its own right is `mesh<..>` here. */
static void mesh_or_name(lz_vhlo *v, uint32_t attr)
{
    lz_vattr a = lz_vhlo_attr_open(v, attr);
    if (a.custom && a.dialect == LZ_VD_SDY && a.code == MESH)
        lz_vput(v, "mesh");
    lz_vhlo_attr(v, attr, LZ_VF_TAIL);
}

static void axes(lz_vhlo *v, lz_vcur *c, const char *what)
{
    lz_vcur again = *c;
    if (lz_vcur_count(&again) > 0) {
        lz_vput(v, ", ");
        lz_vput(v, what);
        lz_vput(v, "={");
        parts(v, c);
        lz_vput(v, "}");
    } else {
        *c = again;
    }
}

static void sharding(lz_vhlo *v, lz_vattr *a, lz_vform form)
{
    lz_vcur *c = &a->c;
    lz_vput(v, form == LZ_VF_TAIL ? "<" : "#sdy.sharding<");
    mesh_or_name(v, lz_vcur_attr(c));
    lz_vput(v, ", [");
    parts(v, c);
    lz_vput(v, "]");
    axes(v, c, "replicated");
    if (a->code == SHARDING_2) {
        axes(v, c, "unreduced");
    } else if (a->code == SHARDING_3) { /* the operation is behind the axes */
        lz_vcur op = *c;
        for (uint32_t n = lz_vcur_count(&op); n > 0; n--)
            (void)lz_vcur_attr(&op);
        int64_t how = lz_vcur_signed(&op);
        lz_vput(v, ", unreduced=");
        lz_vput(v, how == 1 ? "max{" : how == 2 ? "min{" : "{");
        parts(v, c);
        lz_vput(v, "}");
    }
    lz_vput(v, ">");
}

/* Names of axes, which are strings of builtin. */
static void manual_axes(lz_vhlo *v, lz_vcur *c)
{
    lz_vput(v, "#sdy<manual_axes{");
    parts(v, c);
    lz_vput(v, "}>");
}

static void small(lz_vhlo *v, lz_vattr *a)
{
    lz_vcur *c = &a->c;
    switch (a->code) {
    case MESH_AXIS:
        lz_vput_quoted(v, lz_vcur_string(c));
        lz_vput(v, "=");
        lz_vput_i64(v, lz_vcur_signed(c));
        break;
    case SUB_AXIS:
        lz_vput(v, ":(");
        lz_vput_i64(v, lz_vcur_signed(c));
        lz_vput(v, ")");
        lz_vput_i64(v, lz_vcur_signed(c));
        break;
    case AXIS_REF: {
        lz_vput_quoted(v, lz_vcur_string(c));
        uint32_t sub = lz_vcur_optional_attr(c);
        if (sub != UINT32_MAX)
            lz_vhlo_attr(v, sub, LZ_VF_TAIL);
        break;
    }
    case AXIS_LIST:
        lz_vput(v, "{");
        parts(v, c);
        lz_vput(v, "}");
        break;
    default:
        lz_vhlo_fail(v, c->p, LZ_EUNSUPPORTED, "attribute %" PRIu64 " of sdy is not known",
                     a->code);
    }
}

void lz_vhlo_sdy(lz_vhlo *v, lz_vattr *a, lz_vform form)
{
    switch (a->code) {
    case MANUAL_AXES:
        manual_axes(v, &a->c);
        break;
    case MESH:
        mesh(v, &a->c, form);
        break;
    case DIMENSION:
        dimension(v, &a->c);
        break;
    case SHARDING:
    case SHARDING_2:
    case SHARDING_3:
        sharding(v, a, form);
        break;
    case PER_VALUE:
    case PER_VALUE_2:
        lz_vput(v, "#sdy.sharding_per_value<[");
        parts(v, &a->c);
        lz_vput(v, "]>");
        break;
    case RULE: /* nobody asks for what it says */
        lz_vput(v, "#sdy.op_sharding_rule<>");
        break;
    default:
        small(v, a);
    }
}
