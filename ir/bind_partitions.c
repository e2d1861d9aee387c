/* bind_partitions.c - a function of one of n partitions becomes one that says nothing any more that
 * only the number of partitions, or the number of this one, decides; or one in which partitions
 * have other numbers. See participants.h. Threads: thread-compatible. */
#include "base/text.h"
#include "ir/attr.h"
#include "ir/func.h"
#include "ir/participants.h"
#include <inttypes.h>
#include <string.h>

/* One function that is copied, and what it becomes. */
typedef struct copy {
    const lz_func *from;
    lz_func *to;
    int64_t n;
    bool replicas;
    const int64_t *renumber; /* what partitions become, and nothing else changes; NULL: bound */
    lz_val number;           /* of this partition, in `to`; LZ_NOVAL: nobody asks */
    lz_val *map; /* of values with several results the value itself, or LZ_NOVAL where it is gone */
    lz_val *opnd; /* room for the operands of one instruction and one more */
    lz_val *gone; /* by value of `from`: where the collective is gone, the first of its operands in
                     `pool` */
    LZ_VEC(lz_val) pool;
} copy;

static lz_status copy_func(const copy *how, const lz_func *f, bool number, lz_func **out);

/* Whether it is to be given the number of its partition. */
static bool asks(const copy *c, const lz_func *f)
{
    return !c->renumber && (c->replicas ? lz_func_has_replica_id(f) : lz_func_has_partition_id(f));
}

/* The region, with the number of the partition as one more parameter when `number`; interned. */
static lz_status bind_region(const copy *c, const lz_func *r, bool number, const lz_func **out)
{
    lz_func *g = NULL;
    LZ_TRY(copy_func(c, r, number, &g));
    *out = lz_region_intern(g);
    lz_func_free(g);
    return *out ? LZ_OK : lz_error_get()->status;
}

/* While and if. */
static lz_status copy_control(copy *c, const lz_sig *sig, lz_val *out)
{
    const lz_func *r[2] = {lz_attr_region(sig->attr, 0), lz_attr_region(sig->attr, 1)};
    bool number = asks(c, r[0]) || asks(c, r[1]);
    uint32_t n = sig->nopnd;
    for (int k = 0; k < 2; k++)
        LZ_TRY(bind_region(c, r[k], number, &r[k]));
    if (number)
        c->opnd[n++] = c->number;
    *out = sig->op == LZ_OP_WHILE ? lz_build_while(c->to, r[0], r[1], c->opnd, n)
                                  : lz_build_if(c->to, r[0], r[1], c->opnd, n);
    return LZ_OK;
}

/* Whether everybody gets what he gives. */
static bool keeps_to_itself(const lz_sig *sig, const lz_participants *p)
{
    bool moves = sig->op == LZ_OP_COLLECTIVE_PERMUTE || sig->op == LZ_OP_COLLECTIVE_BROADCAST;
    for (uint32_t i = 0; i < p->n && moves; i++)
        if (p->from[i] != i)
            return false;
    return p->largest == 1;
}

/* Of replicas of one partition: the same with numbers of partitions. *own: it is among the
 * partitions of each replica. */
static lz_status among_partitions(const lz_sig *sig, const lz_sig **out, bool *own)
{
    lz_attr_any a;
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    lz_group_mode mode = lz_group_field_of(sig).mode;
    *out = sig;
    *own = mode == LZ_GROUP_PARTITIONS;
    if (*own || mode == LZ_GROUP_FLAT)
        return LZ_OK;
    lz_attr_init(&a, sig->attr->kind);
    lz_attr_copy(&a.head, sig->attr);
    int n = lz_attr_fields(&a.head, f);
    for (int i = 0; i < n; i++)
        if (strcmp(f[i].name, "use_global_device_ids") == 0)
            *f[i].flag = true;
        else if (strcmp(f[i].name, "channel_id") == 0 || strcmp(f[i].name, "channel_type") == 0)
            *f[i].i64 = 1;
    *out = lz_sig_get(sig->op, &a.head, sig->opnd, sig->nopnd);
    return *out ? LZ_OK : lz_error_get()->status;
}

/* "[[0, 1], [2, -1]]": every number is a partition's, but -1, which fills a group up. */
static lz_status renumber_text(const copy *c, const char *text, const char **out)
{
    lz_buf b = {0};
    lz_status s = LZ_OK;
    for (const char *at = text; *at && s == LZ_OK;) {
        size_t digits = strspn(at, "0123456789"), other = strcspn(at, "0123456789-");
        uint64_t p = 0;
        if (!digits) {
            other += at[other] == '-' ? 1 + strspn(at + other + 1, "0123456789") : 0;
            lz_buf_put(&b, at, other);
            at += other;
            continue;
        }
        s = lz_text_u64(at, digits, 10, (uint64_t)c->n - 1, &p);
        if (s == LZ_OK)
            lz_buf_printf(&b, "%" PRId64, c->renumber[p]);
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

static lz_status renumber_collective(copy *c, const lz_sig *sig, lz_val *out)
{
    lz_attr_any a;
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    const lz_group_field group = lz_group_field_of(sig);
    const char *name = group.name;
    bool names = group.text && strpbrk(group.text, "0123456789");
    if (!names || (group.mode != LZ_GROUP_PARTITIONS && group.mode != LZ_GROUP_FLAT))
        return LZ_FAIL(LZ_EUNSUPPORTED, "%s: its groups name no partitions",
                       lz_op_get(sig->op)->text);
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

static lz_status bind_collective(copy *c, uint32_t i, lz_val *out)
{
    const lz_sig *sig = c->from->insts[i].sig;
    lz_participants p;
    lz_arena arena = {0};
    bool own = false;
    if (c->replicas)
        LZ_TRY(among_partitions(sig, &sig, &own));
    lz_status s = lz_participants_of(sig, own ? 1 : c->n, &arena, &p);
    bool alone = s == LZ_OK && keeps_to_itself(sig, &p);
    lz_arena_free(&arena);
    LZ_TRY(s);
    if (own && !alone)
        return LZ_FAIL(LZ_EUNSUPPORTED, "%s: among the partitions of a replica that has one",
                       lz_op_get(sig->op)->text);
    if (!alone) {
        *out = lz_build_sig(c->to, sig, c->opnd);
        return LZ_OK;
    }
    *out = c->opnd[0];
    c->gone[i] = c->pool.len;
    for (uint32_t k = 0; k < sig->nopnd; k++)
        LZ_TRY(lz_vec_push(&c->pool, c->opnd[k]));
    return LZ_OK;
}

static lz_status check_region(const copy *c, const lz_sig *sig)
{
    const lz_func *r;
    for (int k = 0; (r = lz_attr_region(sig->attr, k)); k++)
        if (lz_func_has_collective(r) || asks(c, r))
            return LZ_FAIL(LZ_EUNSUPPORTED, "%s: a collective or partition_id in its region",
                           lz_op_get(sig->op)->text);
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
    if (sig->op == LZ_OP_PARTITION_ID && c->renumber) {
        return LZ_FAIL(LZ_EUNSUPPORTED, "partition_id, where partitions have other numbers");
    } else if (sig->op == (c->replicas ? LZ_OP_REPLICA_ID : LZ_OP_PARTITION_ID)) {
        *out = c->number;
    } else if (sig->op == LZ_OP_WHILE || sig->op == LZ_OP_IF) {
        LZ_TRY(copy_control(c, sig, out));
    } else if (lz_op_get(sig->op)->cls == LZ_CLASS_COLLECTIVE) {
        LZ_TRY(c->renumber ? renumber_collective(c, sig, out) : bind_collective(c, i, out));
    } else if (sig->op == LZ_OP_RESULT && c->gone[in->opnd[0]] != LZ_NOVAL) {
        *out = c->pool.data[c->gone[in->opnd[0]] + LZ_ATTR(index, sig->attr)->index];
    } else if (sig->op == LZ_OP_RESULT) {
        *out = lz_build_result(c->to, c->opnd[0], LZ_ATTR(index, sig->attr)->index);
    } else {
        LZ_TRY(check_region(c, sig));
        *out = lz_build_copy_inst(c->to, in, c->map, c->opnd);
    }
    if (*out == LZ_NOVAL)
        return c->to->status != LZ_OK ? c->to->status : lz_error_get()->status;
    return LZ_OK;
}

static lz_status copy_all(copy *c, bool number)
{
    const lz_func *f = c->from;
    lz_status s = LZ_OK;
    for (uint32_t i = 0; i < f->nparam; i++)
        c->map[i] = lz_build_param(c->to, lz_val_type(f, i));
    const lz_shape scalar = LZ_SCALAR;
    c->number = number ? lz_build_param(c->to, lz_type_get(LZ_U32, &scalar)) : LZ_NOVAL;
    for (uint32_t i = 0; i < f->ninst; i++)
        c->gone[i] = LZ_NOVAL;
    for (uint32_t i = f->nparam; i < f->ninst && s == LZ_OK; i++)
        s = copy_inst(c, i);
    LZ_TRY(s);
    for (uint32_t k = 0; k < f->nresult; k++)
        c->opnd[k] = c->map[f->results[k]];
    return lz_func_set_results(c->to, c->opnd, f->nresult);
}

/* Recursion: regions, as deep as they nest. */
static lz_status copy_func(const copy *how, const lz_func *f, bool number, lz_func **out)
{
    uint32_t wide = lz_func_widest(f);
    wide = wide > f->nresult ? wide : f->nresult;
    copy c = {.from = f,
              .to = lz_func_new(f->name),
              .n = how->n,
              .replicas = how->replicas,
              .renumber = how->renumber};
    c.map = lz_alloc((2 * (size_t)f->ninst + wide + 1) * sizeof *c.map);
    lz_status s = c.to && c.map ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory to copy '%s'", f->name);
    if (s == LZ_OK) {
        c.gone = c.map + f->ninst;
        c.opnd = c.gone + f->ninst;
        c.to->derived = true;
        s = copy_all(&c, number);
    }
    lz_free(c.map);
    lz_vec_free(&c.pool);
    if (s != LZ_OK)
        lz_func_free(c.to);
    else
        *out = c.to;
    return s;
}

lz_status lz_func_bind_partitions(const lz_func *f, int64_t n, bool replicas, lz_func **out,
                                  bool *numbered)
{
    const copy how = {.n = n, .replicas = replicas};
    *out = NULL;
    *numbered = asks(&how, f);
    return copy_func(&how, f, *numbered, out);
}

lz_status lz_func_renumber_partitions(const lz_func *f, const int64_t *to, int64_t n, lz_func **out)
{
    const copy how = {.n = n, .renumber = to};
    *out = NULL;
    return copy_func(&how, f, false, out);
}
