/* participants.c - who meets in a collective. See participants.h. */
#include "ir/participants.h"
#include "ir/attr.h"
#include "ir/collective.h"
#include <inttypes.h>
#include <string.h>

lz_group_field lz_group_field_of(const lz_sig *sig)
{
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    lz_group_field g = {.pairs = sig->op == LZ_OP_COLLECTIVE_PERMUTE};
    bool channel = false, global = false;
    bool sums = sig->op == LZ_OP_ALL_REDUCE || sig->op == LZ_OP_REDUCE_SCATTER ||
                sig->op == LZ_OP_ALL_GATHER;
    int n = lz_attr_fields(sig->attr, f);
    for (int i = 0; i < n; i++) {
        if (strcmp(f[i].name, "channel_id") == 0)
            channel = *f[i].i64 > 0;
        else if (strcmp(f[i].name, "use_global_device_ids") == 0)
            global = *f[i].flag;
        else if (f[i].type == LZ_FIELD_STR) {
            g.name = f[i].name;
            g.text = *f[i].str;
        }
    }
    g.mode = channel && global ? LZ_GROUP_FLAT
             : channel && sums ? LZ_GROUP_ALL_PARTITIONS
             : channel         ? LZ_GROUP_PARTITIONS
                               : LZ_GROUP_REPLICAS;
    return g;
}

/* ---- reading ---- */

typedef struct reader {
    lz_participants *to;
    const char *op;
    uint32_t limit; /* of numbers */
    int64_t row;    /* of the last number; -1: none yet */
    int64_t source; /* of a pair */
} reader;

static lz_status in_range(const reader *r, int64_t v)
{
    return v >= 0 && v < r->limit
               ? LZ_OK
               : LZ_FAIL(LZ_EINVAL, "%s: names participant %" PRId64 "; there are %u", r->op, v,
                         r->limit);
}

static lz_status each_pair(void *user, int64_t row, int64_t column, int64_t v)
{
    reader *r = user;
    (void)row;
    LZ_TRY(in_range(r, v));
    if (column == 0)
        r->source = v;
    else
        r->to->from[v] = (uint32_t)r->source;
    return LZ_OK;
}

/* Rows of a matrix that is shorter than others end in -1. */
static lz_status each_member(void *user, int64_t row, int64_t column, int64_t v)
{
    reader *r = user;
    lz_participants *p = r->to;
    (void)column;
    if (v == -1)
        return LZ_OK;
    LZ_TRY(in_range(r, v));
    if (p->group[v] != LZ_NO_PARTITION)
        return LZ_FAIL(LZ_EINVAL, "%s: participant %" PRId64 " occurs twice", r->op, v);
    if (row != r->row) { /* a new one begins where the last ended */
        p->start[p->ngroup + 1] = p->start[p->ngroup];
        p->ngroup++;
    }
    r->row = row;
    p->member[p->start[p->ngroup]] = (uint32_t)v;
    p->group[v] = p->ngroup - 1;
    p->place[v] = p->start[p->ngroup]++ - p->start[p->ngroup - 1];
    return LZ_OK;
}

static lz_status allocate(lz_participants *p, uint32_t n, lz_arena *arena)
{
    uint32_t *v = lz_arena_alloc(arena, (5 * (size_t)n + 1) * sizeof *v);
    *p = (lz_participants){.n = n};
    if (!v)
        return LZ_FAIL(LZ_EMEM, "no memory for the groups of %u partitions", n);
    for (size_t i = 0; i < 5 * (size_t)n + 1; i++)
        v[i] = LZ_NO_PARTITION;
    p->start = v;
    p->start[0] = 0;
    p->member = v + n + 1;
    p->group = p->member + n;
    p->place = p->group + n;
    p->from = p->place + n;
    return LZ_OK;
}

/* As many groups as partitions, or one, whose texts name replica 0 alone. */
static void one_group(lz_participants *p, bool all)
{
    p->ngroup = all ? 1 : p->n;
    for (uint32_t i = 0; i < p->n; i++) {
        p->member[i] = i;
        p->group[i] = all ? 0 : i;
        p->place[i] = all ? i : 0;
        p->start[i] = i;
    }
    p->start[p->ngroup] = p->n;
}

/* Numbers of replicas: there is replica 0, or the text names nobody that there is. */
static lz_status read_replicas(const lz_group_field *g, reader *r)
{
    lz_participants *p = r->to;
    lz_groups size;
    r->limit = 1;
    LZ_TRY(lz_groups_read(r->op, g->name, g->text, &size, g->pairs ? each_pair : each_member, r));
    if (g->pairs) {
        bool self = p->from[0] == 0;
        for (uint32_t i = 0; i < p->n; i++)
            p->from[i] = self ? i : LZ_NO_PARTITION;
    } else if (p->ngroup) {
        one_group(p, g->mode == LZ_GROUP_ALL_PARTITIONS);
    }
    return LZ_OK;
}

static lz_status read(const lz_group_field *g, const char *op, lz_participants *p)
{
    lz_groups size;
    reader r = {.to = p, .op = op, .row = -1, .limit = p->n};
    if (!g->text || !*g->text) { /* all */
        if (!g->pairs)
            one_group(p, g->mode != LZ_GROUP_REPLICAS);
        return LZ_OK;
    }
    if (g->mode == LZ_GROUP_REPLICAS || g->mode == LZ_GROUP_ALL_PARTITIONS)
        return read_replicas(g, &r);
    return lz_groups_read(op, g->name, g->text, &size, g->pairs ? each_pair : each_member, &r);
}

/* ---- what must hold ---- */

/* How many values are joined or split; 0: it does not matter. */
static int64_t parts_of(const lz_sig *sig)
{
    return sig->op == LZ_OP_ALL_GATHER       ? LZ_ATTR(all_gather, sig->attr)->participants
           : sig->op == LZ_OP_REDUCE_SCATTER ? LZ_ATTR(reduce_scatter, sig->attr)->participants
           : sig->op == LZ_OP_ALL_TO_ALL     ? LZ_ATTR(all_to_all, sig->attr)->split_count
                                             : 0;
}

static lz_status check(const lz_sig *sig, lz_participants *p)
{
    const char *op = lz_op_get(sig->op)->text;
    int64_t parts = parts_of(sig);
    for (uint32_t g = 0; g < p->ngroup; g++) {
        uint32_t n = p->start[g + 1] - p->start[g];
        p->largest = n > p->largest ? n : p->largest;
        if (parts && n != parts)
            return LZ_FAIL(LZ_ESHAPE, "%s: a group of %u participants, where types say %" PRId64,
                           op, n, parts);
    }
    for (uint32_t i = 0; i < p->n; i++)
        if (p->group[i] == LZ_NO_PARTITION)
            return LZ_FAIL(LZ_EINVAL, "%s: partition %u is in no group", op, i);
    return LZ_OK;
}

/* The first of its group; nobody outside of all groups. */
static void broadcast_sources(lz_participants *p)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->group[i] != LZ_NO_PARTITION)
            p->from[i] = p->member[p->start[p->group[i]]];
}

static void measure_moves(lz_participants *p)
{
    p->largest = 1;
    for (uint32_t i = 0; i < p->n; i++)
        if (p->from[i] != LZ_NO_PARTITION && p->from[i] != i)
            p->largest = 2;
}

lz_status lz_participants_of(const lz_sig *sig, int64_t n, lz_arena *arena, lz_participants *out)
{
    lz_group_field g = lz_group_field_of(sig);
    *out = (lz_participants){0};
    if (n < 1 || n > LZ_MAX_PARTITIONS)
        return LZ_FAIL(LZ_ERANGE, "%s: %" PRId64 " partitions", lz_op_get(sig->op)->text, n);
    LZ_TRY(allocate(out, (uint32_t)n, arena));
    lz_status s = read(&g, lz_op_get(sig->op)->text, out);
    if (s == LZ_OK && sig->op == LZ_OP_COLLECTIVE_BROADCAST)
        broadcast_sources(out);
    if (s == LZ_OK && (g.pairs || sig->op == LZ_OP_COLLECTIVE_BROADCAST))
        measure_moves(out);
    else if (s == LZ_OK)
        s = check(sig, out);
    return s;
}

/* ---- programs ---- */

/* Recursion: regions, as deep as they nest. */
static bool has(const lz_func *f, bool (*is)(lz_op op))
{
    for (uint32_t i = f->nparam; i < f->ninst; i++) {
        const lz_func *r;
        if (is(f->insts[i].sig->op))
            return true;
        for (int k = 0; (r = lz_attr_region(f->insts[i].sig->attr, k)); k++)
            if (has(r, is))
                return true;
    }
    return false;
}

static bool is_collective(lz_op op)
{
    return lz_op_get(op)->cls == LZ_CLASS_COLLECTIVE;
}

static bool is_partition_id(lz_op op)
{
    return op == LZ_OP_PARTITION_ID;
}

static bool is_replica_id(lz_op op)
{
    return op == LZ_OP_REPLICA_ID;
}

bool lz_func_has_collective(const lz_func *f)
{
    return has(f, is_collective);
}

bool lz_func_has_partition_id(const lz_func *f)
{
    return has(f, is_partition_id);
}

bool lz_func_has_replica_id(const lz_func *f)
{
    return has(f, is_replica_id);
}

lz_status lz_collective_count(lz_collective_uses *u, const lz_sig *sig, const void *where,
                              uint32_t group_size)
{
    for (uint32_t i = 0; i < u->len; i++)
        if (u->data[i].where == where) {
            u->data[i].executions++;
            return LZ_OK;
        }
    return lz_vec_push(u, ((lz_collective_use){sig, where, group_size, 1}));
}

void lz_collective_bytes(const lz_sig *sig, uint64_t *operands, uint64_t *results)
{
    *operands = *results = 0;
    for (uint32_t k = 0; k < sig->nopnd; k++)
        *operands += sig->opnd[k]->nbytes;
    for (uint32_t k = 0; k < sig->nresult; k++)
        *results += sig->result[k]->nbytes;
}

static uint64_t share(uint64_t nbytes, uint32_t n)
{
    return nbytes / n * (n - 1) + nbytes % n * (n - 1) / n;
}

uint64_t lz_collective_sent(const lz_sig *sig, uint32_t group_size)
{
    uint64_t operands, results;
    lz_collective_bytes(sig, &operands, &results);
    if (group_size < 2)
        return 0;
    switch (sig->op) {
    case LZ_OP_ALL_REDUCE:
        return 2 * share(operands, group_size);
    case LZ_OP_ALL_GATHER:
        return share(results, group_size);
    case LZ_OP_REDUCE_SCATTER:
    case LZ_OP_ALL_TO_ALL:
        return share(operands, group_size);
    default:
        return operands;
    }
}
