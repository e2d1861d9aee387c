/* collective.c - groups of participants, and the reference's and the compiler's answer to
 * operations among them. See collective.h. */
#include "ir/collective.h"
#include "ir/attr.h"
#include <inttypes.h>
#include <string.h>

/* ---- the text of groups ---- */

/* A number without blanks, sign + or leading zeros. */
static bool take_number(const char **p, int64_t *out)
{
    bool neg = **p == '-';
    const char *s = *p + neg;
    int64_t v = 0;
    int digits = 0;
    for (; *s >= '0' && *s <= '9' && digits < 18; s++, digits++)
        v = v * 10 + (*s - '0');
    bool plain = digits > 0 && (s[-digits] != '0' || digits == 1) && !(neg && v == 0);
    *out = neg ? -v : v;
    *p = s;
    return plain;
}

static bool take(const char **p, const char *s)
{
    size_t n = strlen(s);
    if (strncmp(*p, s, n) != 0)
        return false;
    *p += n;
    return true;
}

static lz_status malformed(const char *name, const char *field, const char *text)
{
    return LZ_FAIL(LZ_EINVAL, "%s: %s = %.80s is no matrix of numbers", name, field, text);
}

lz_status lz_groups_read(const char *name, const char *field, const char *text, lz_groups *out,
                         lz_status (*fn)(void *user, int64_t row, int64_t column, int64_t v),
                         void *user)
{
    const char *p = text ? text : "";
    *out = (lz_groups){0};
    if (!take(&p, "["))
        return malformed(name, field, p);
    do {
        int64_t column = 0, v;
        if (!take(&p, "["))
            return malformed(name, field, text);
        do {
            if (!take_number(&p, &v))
                return malformed(name, field, text);
            if (fn)
                LZ_TRY(fn(user, out->rows, column, v));
            column++;
        } while (take(&p, ", "));
        if (!take(&p, "]") || (out->rows && column != out->columns))
            return malformed(name, field, text);
        out->columns = column;
        out->rows++;
    } while (take(&p, ", "));
    return take(&p, "]") && *p == '\0' ? LZ_OK : malformed(name, field, text);
}

/* ---- one device runs alone ---- */

lz_status lz_collective_refuse(const lz_sig *s)
{
    const char *name = lz_op_get(s->op)->text;
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    lz_groups g = {0};
    int n = lz_attr_fields(s->attr, f);
    if (s->op == LZ_OP_MANUAL_COMPUTATION)
        return LZ_FAIL(LZ_EUNSUPPORTED, "%s: runs on a mesh; one device runs alone", name);
    for (int i = 0; i < n; i++)
        if (f[i].type == LZ_FIELD_STR)
            LZ_TRY(lz_groups_read(name, f[i].name, *f[i].str, &g, NULL, NULL));
    if (s->op == LZ_OP_COLLECTIVE_PERMUTE)
        return LZ_FAIL(LZ_EUNSUPPORTED, "%s: has other participants; one device runs alone", name);
    return LZ_FAIL(LZ_EUNSUPPORTED, "%s: groups of %" PRId64 " participants; one device runs alone",
                   name, g.columns);
}

lz_status lz_func_check_alone(const lz_func *f)
{
    for (uint32_t i = f->nparam; i < f->ninst; i++)
        if (lz_op_get(f->insts[i].sig->op)->cls == LZ_CLASS_COLLECTIVE)
            return lz_collective_refuse(f->insts[i].sig);
    return LZ_OK;
}
