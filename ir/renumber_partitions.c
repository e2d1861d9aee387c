/* renumber_partitions.c - a function whose collectives name partitions by other numbers. See
 * participants.h. Threads: thread-compatible. */
#include "base/text.h"
#include "ir/attr.h"
#include "ir/func.h"
#include "ir/participants.h"
#include <inttypes.h>
#include <string.h>

typedef struct copy {
    const lz_func *from;
    lz_func *to;
    const int64_t *number;
    int64_t n;
    lz_val *map, *opnd; /* of instructions; room for the operands of one */
} copy;

static lz_status renumber(const lz_func *f, const int64_t *to, int64_t n, lz_func **out);

/* "[[0, 1], [2, 3]]": every number is a partition's. */
static lz_status renumber_text(const copy *c, const char *text, const char **out)
{
    lz_buf b = {0};
    lz_status s = LZ_OK;
    for (const char *at = text; *at && s == LZ_OK;) {
        size_t digits = strspn(at, "0123456789");
        uint64_t p = 0;
        if (!digits) {
            lz_buf_putc(&b, *at++);
            continue;
        }
        s = lz_text_u64(at, digits, 10, (uint64_t)c->n - 1, &p);
        if (s == LZ_OK)
            lz_buf_printf(&b, "%" PRId64, c->number[p]);
        at += digits;
    }
    *out = s == LZ_OK && !b.failed ? lz_string_get(lz_buf_str(&b), b.len) : NULL;
    if (s == LZ_OK && b.failed)
        s = LZ_FAIL(LZ_EMEM, "no memory for the groups of a collective");
    else if (s == LZ_OK && !*out)
        s = lz_error_get()->status;
    lz_buf_free(&b);
    return s;
}

static lz_status copy_collective(copy *c, const lz_sig *sig, lz_val *out)
{
    lz_attr_any a;
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    const char *name = lz_group_field_of(sig).name;
    lz_attr_init(&a, sig->attr->kind);
    lz_attr_copy(&a.head, sig->attr);
    int n = lz_attr_fields(&a.head, f);
    for (int i = 0; i < n; i++)
        if (strcmp(f[i].name, name) == 0)
            LZ_TRY(renumber_text(c, *f[i].str, f[i].str));
    const lz_sig *other = lz_sig_get(sig->op, &a.head, sig->opnd, sig->nopnd);
    if (!other)
        return lz_error_get()->status;
    *out = lz_build_sig(c->to, other, c->opnd);
    return LZ_OK;
}

/* While and if. */
static lz_status copy_control(copy *c, const lz_sig *sig, lz_val *out)
{
    const lz_func *r[2];
    for (int k = 0; k < 2; k++) {
        lz_func *g = NULL;
        LZ_TRY(renumber(lz_attr_region(sig->attr, k), c->number, c->n, &g));
        r[k] = lz_region_intern(g);
        lz_func_free(g);
        if (!r[k])
            return lz_error_get()->status;
    }
    *out = sig->op == LZ_OP_WHILE ? lz_build_while(c->to, r[0], r[1], c->opnd, sig->nopnd)
                                  : lz_build_if(c->to, r[0], r[1], c->opnd, sig->nopnd);
    return LZ_OK;
}

static lz_status copy_inst(copy *c, uint32_t i)
{
    const lz_inst *in = &c->from->insts[i];
    const lz_sig *sig = in->sig;
    lz_val *out = &c->map[i];
    c->to->now = lz_func_origin(c->from, i);
    for (uint32_t k = 0; k < sig->nopnd; k++)
        c->opnd[k] = c->map[in->opnd[k]];
    if (sig->op == LZ_OP_PARTITION_ID)
        return LZ_FAIL(LZ_EUNSUPPORTED, "partition_id, where partitions have other numbers");
    if (lz_op_get(sig->op)->cls == LZ_CLASS_COLLECTIVE)
        LZ_TRY(copy_collective(c, sig, out));
    else if (sig->op == LZ_OP_WHILE || sig->op == LZ_OP_IF)
        LZ_TRY(copy_control(c, sig, out));
    else if (sig->op == LZ_OP_RESULT)
        *out = lz_build_result(c->to, c->opnd[0], LZ_ATTR(index, sig->attr)->index);
    else
        *out = lz_build_copy_inst(c->to, in, c->map, c->opnd);
    if (*out == LZ_NOVAL)
        return c->to->status != LZ_OK ? c->to->status : lz_error_get()->status;
    return LZ_OK;
}

static lz_status copy_all(copy *c)
{
    const lz_func *f = c->from;
    for (uint32_t i = 0; i < f->nparam; i++)
        c->map[i] = lz_build_param(c->to, lz_val_type(f, i));
    for (uint32_t i = f->nparam; i < f->ninst; i++)
        LZ_TRY(copy_inst(c, i));
    for (uint32_t k = 0; k < f->nresult; k++)
        c->opnd[k] = c->map[f->results[k]];
    return lz_func_set_results(c->to, c->opnd, f->nresult);
}

/* Recursion: regions, as deep as they nest. */
static lz_status renumber(const lz_func *f, const int64_t *to, int64_t n, lz_func **out)
{
    uint32_t wide = lz_func_widest(f);
    wide = wide > f->nresult ? wide : f->nresult;
    copy c = {.from = f, .to = lz_func_new(f->name), .number = to, .n = n};
    c.map = lz_alloc(((size_t)f->ninst + wide + 1) * sizeof *c.map);
    lz_status s = c.to && c.map ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory to copy '%s'", f->name);
    if (s == LZ_OK) {
        c.opnd = c.map + f->ninst;
        c.to->derived = true;
        s = copy_all(&c);
    }
    lz_free(c.map);
    if (s != LZ_OK)
        lz_func_free(c.to);
    else
        *out = c.to;
    return s;
}

lz_status lz_func_renumber_partitions(const lz_func *f, const int64_t *to, int64_t n, lz_func **out)
{
    *out = NULL;
    return renumber(f, to, n, out);
}
