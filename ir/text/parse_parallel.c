/* parse_parallel.c - interpreter.run_parallel of StableHLO's conformance programs: functions that
 * run as the participants of a grid of replicas and partitions. All are read into the one function,
 * side by side: where the participants meet in a collective, what each gets is written with the
 * values of all the others. Threads: thread-compatible. */
#include "ir/attr.h"
#include "ir/collective.h"
#include "ir/func.h"
#include "ir/participants.h"
#include "ir/text/parse_chlo.h"
#include <string.h>

enum { MOST = 1 << 10 }; /* participants */

/* One participant, which has come to instruction pc of its function. */
typedef struct part {
    lz_func *f;
    lz_val *map;       /* of f's values, of a collective with several results the first in `pool` */
    uint32_t pc, opnd; /* opnd: the first of its operands */
} part;

typedef struct grid {
    lz_parser *p;
    lz_scope *s;
    lz_stmt *t;
    LZ_VEC(part) parts;
    int64_t replicas, partitions;
    LZ_VEC(lz_val) pool;
    LZ_VEC(uint32_t) members; /* of the group at hand */
    lz_map without;           /* regions that nothing is wrong with, by their hash */
} grid;

static lz_status unsupported(const grid *g, const char *what)
{
    return lz_lex_fail(&g->p->c, g->t->at, LZ_EUNSUPPORTED, "run_parallel: %s", what);
}

/* ---- programs = [[@f, @f], [@g, "h"]]: a row for each replica ---- */

static lz_status add_part(grid *g, lz_lexer *c)
{
    lz_slice name;
    const lz_pfunc *f;
    part q = {0};
    if (g->parts.len == MOST)
        return unsupported(g, "too many participants");
    if (lz_lex_sees(c, "\""))
        LZ_TRY(lz_lex_string(c, &name));
    else
        LZ_TRY(lz_lex_symbol(c, &name));
    bool before = g->p->parallel;
    g->p->parallel = true;
    lz_status st = lz_parse_take(g->p, name, &f, &q.f);
    g->p->parallel = before;
    LZ_TRY(st);
    if (f->takes.n || f->gives.n)
        st = unsupported(g, "tokens and tuples of participants");
    if (st == LZ_OK)
        st = lz_parse_charge(g->p, g->t->at, q.f->ninst);
    if (st == LZ_OK)
        st = lz_vec_push(&g->parts, q);
    if (st != LZ_OK)
        lz_func_free(q.f);
    return st;
}

static lz_status read_programs(grid *g)
{
    const lz_parse_entry *e = lz_stmt_find(g->t, "programs");
    lz_lexer c = g->p->c;
    if (!e)
        return lz_lex_fail(&g->p->c, g->t->at, LZ_EPARSE,
                           "run_parallel: the attribute programs is missing");
    c.p = e->value;
    LZ_TRY(lz_lex_want(&c, "["));
    do {
        uint32_t first = g->parts.len;
        LZ_TRY(lz_lex_want(&c, "["));
        do
            LZ_TRY(add_part(g, &c));
        while (lz_lex_eat(&c, ","));
        LZ_TRY(lz_lex_want(&c, "]"));
        g->partitions = g->replicas++ ? g->partitions : g->parts.len;
        if (g->parts.len - first != g->partitions)
            return lz_lex_fail(&c, e->value, LZ_EPARSE, "run_parallel: rows of several lengths");
    } while (lz_lex_eat(&c, ","));
    return lz_lex_want(&c, "]");
}

static lz_status give_operands(grid *g)
{
    uint32_t at = 0;
    bool fits = true;
    for (uint32_t i = 0; i < g->parts.len; i++) {
        part *q = &g->parts.data[i];
        q->opnd = at;
        for (uint32_t k = 0; k < q->f->nparam; k++, at++)
            fits &= at < g->t->opnd.len &&
                    lz_val_type(q->f, k) == lz_val_type(g->s->f, g->t->opnd.data[at]);
        /* behind the values the operands of one */
        q->map = lz_calloc((size_t)q->f->ninst + lz_func_widest(q->f), sizeof *q->map);
        if (!q->map)
            return LZ_FAIL(LZ_EMEM, "run_parallel: no memory for %u values", q->f->ninst);
        for (uint32_t k = 0; k < q->f->nparam && fits; k++)
            q->map[k] = g->t->opnd.data[q->opnd + k];
        q->pc = q->f->nparam;
    }
    return fits && at == g->t->opnd.len
               ? LZ_OK
               : lz_lex_fail(&g->p->c, g->t->at, LZ_EPARSE,
                             "run_parallel: the operands are not those of the programs");
}

/* ---- between collectives ---- */

static bool is_collective(const lz_sig *sig)
{
    return lz_op_get(sig->op)->cls == LZ_CLASS_COLLECTIVE;
}

/* What only the participants themselves can answer, in regions, which are the same for all.
 * Recursion: regions, as deep as they nest. */
static lz_status check_regions(grid *g, const lz_sig *sig)
{
    const lz_func *r;
    for (int k = 0; (r = lz_attr_region(sig->attr, k)); k++) {
        if (lz_map_get(&g->without, r->hash))
            continue;
        for (uint32_t i = r->nparam; i < r->ninst; i++) {
            const lz_sig *in = r->insts[i].sig;
            if (is_collective(in) || in->op == LZ_OP_REPLICA_ID || in->op == LZ_OP_PARTITION_ID)
                return lz_lex_fail(&g->p->c, g->t->at, LZ_EUNSUPPORTED,
                                   "run_parallel: %s in a region of a participant",
                                   lz_op_get(in->op)->text);
            LZ_TRY(check_regions(g, in));
        }
        LZ_TRY(lz_map_put(&g->without, r->hash, g));
    }
    return LZ_OK;
}

static lz_val number(lz_func *f, const lz_type *t, int64_t v)
{
    return lz_build_splat(f, t, (double)v);
}

static lz_status copy_inst(grid *g, part *q, int64_t self)
{
    const lz_inst *in = &q->f->insts[q->pc];
    lz_val *v = &q->map[q->pc];
    lz_func *to = g->s->f;
    if (in->sig->op == LZ_OP_REPLICA_ID) {
        *v = number(to, in->sig->result[0], self / g->partitions);
    } else if (in->sig->op == LZ_OP_PARTITION_ID) {
        *v = number(to, in->sig->result[0], self % g->partitions);
    } else if (in->sig->op == LZ_OP_RESULT && is_collective(q->f->insts[in->opnd[0]].sig)) {
        *v = g->pool.data[q->map[in->opnd[0]] + LZ_ATTR(index, in->sig->attr)->index];
    } else {
        LZ_TRY(check_regions(g, in->sig));
        *v = lz_build_copy_inst(to, in, q->map, q->map + q->f->ninst);
    }
    return *v == LZ_NOVAL ? lz_lex_wrap(&g->p->c, g->t->at) : LZ_OK;
}

/* Up to the next collective, or the end. */
static lz_status advance(grid *g, uint32_t self)
{
    part *q = &g->parts.data[self];
    for (; q->pc < q->f->ninst && !is_collective(q->f->insts[q->pc].sig); q->pc++)
        LZ_TRY(copy_inst(g, q, self));
    return LZ_OK;
}

/* ---- groups ---- */

/* Who meets in a collective: the numbers of its matrix that are not -1, each of them once, row
 * after row. */
typedef struct crowd {
    grid *g;
    const lz_sig *sig;
    bool all_partitions, by_partition, flat;
    int64_t limit; /* of numbers */
    uint32_t n;
    int64_t number[MOST], row[MOST];
    uint32_t first[MOST]; /* of a number: where its row begins, from 1; of a target: its source,
                             from 1; 0: none */
} crowd;

static lz_status each_number(void *user, int64_t row, int64_t column, int64_t v)
{
    crowd *x = user;
    (void)column;
    if (v < 0) /* fills a short row */
        return LZ_OK;
    if (v >= x->limit || x->first[v])
        return unsupported(x->g, "a group names a participant that there is not");
    bool begins = !x->n || x->row[x->n - 1] != row;
    x->first[v] = begins ? x->n + 1 : x->first[x->number[x->n - 1]];
    x->number[x->n] = v;
    x->row[x->n++] = row;
    return LZ_OK;
}

static lz_status each_pair(void *user, int64_t row, int64_t column, int64_t v)
{
    crowd *x = user;
    (void)row;
    if (v < 0 || v >= x->limit)
        return unsupported(x->g, "a permutation names a participant that there is not");
    if (column == 0)
        x->number[0] = v;
    else
        x->first[v] = (uint32_t)x->number[0] + 1;
    return LZ_OK;
}

/* Numbers are those of replicas of one partition; with a channel those of partitions of one
 * replica, or, for sums and joins, of replicas with all their partitions; or those of all
 * participants (StableHLO, "process groups"). */
static lz_status read_crowd(grid *g, const lz_sig *sig, crowd *x)
{
    lz_group_field f = lz_group_field_of(sig);
    lz_groups size;
    memset(x, 0, sizeof *x);
    x->g = g;
    x->sig = sig;
    x->flat = f.mode == LZ_GROUP_FLAT;
    x->all_partitions = f.mode == LZ_GROUP_ALL_PARTITIONS;
    x->by_partition = f.mode == LZ_GROUP_PARTITIONS;
    x->limit = x->flat ? (int64_t)g->parts.len : x->by_partition ? g->partitions : g->replicas;
    return lz_groups_read(lz_op_get(sig->op)->text, f.name, f.text, &size,
                          f.pairs ? each_pair : each_number, x);
}

/* The number that a participant has in a crowd, and the participant beside `self` that has number
 * v. */
static int64_t own_number(const crowd *x, uint32_t self)
{
    int64_t parts = x->g->partitions;
    return x->flat ? self : x->by_partition ? self % parts : self / parts;
}
static uint32_t of_number(const crowd *x, uint32_t self, int64_t v)
{
    int64_t parts = x->g->partitions;
    return (uint32_t)(x->flat           ? v
                      : x->by_partition ? self / parts * parts + v
                                        : v * parts + self % parts);
}

/* The group of a participant into g->members; empty: it is in none. */
static lz_status find_group(grid *g, const crowd *x, uint32_t self)
{
    uint32_t first = x->first[own_number(x, self)];
    g->members.len = 0;
    for (uint32_t i = first - 1; first && i < x->n && x->row[i] == x->row[first - 1]; i++) {
        int64_t v = x->number[i];
        if (!x->all_partitions)
            LZ_TRY(lz_vec_push(&g->members, of_number(x, self, v)));
        for (int64_t k = 0; x->all_partitions && k < g->partitions; k++)
            LZ_TRY(lz_vec_push(&g->members, (uint32_t)(v * g->partitions + k)));
    }
    return LZ_OK;
}

/* ---- what each gets ---- */

static lz_val operand(const grid *g, uint32_t member, uint32_t k)
{
    const part *q = &g->parts.data[member];
    return q->map[q->f->insts[q->pc].opnd[k]];
}

static lz_val join(grid *g, const lz_val *v, uint32_t n, int64_t dim)
{
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_dim);
    a.as_dim.dimension = dim;
    return n == 1 ? v[0] : lz_build(g->s->f, LZ_OP_CONCATENATE, &a.head, v, n);
}

/* Part `at` of n along a dimension. */
static lz_val cut(grid *g, lz_val v, int64_t dim, int64_t at, int64_t n)
{
    if (v == LZ_NOVAL)
        return v;
    const lz_shape *x = &lz_val_type(g->s->f, v)->shape;
    int64_t start[LZ_MAX_RANK] = {0}, limit[LZ_MAX_RANK], size = x->dims[dim] / n;
    memcpy(limit, x->dims, sizeof limit);
    start[dim] = at * size;
    limit[dim] = start[dim] + size;
    return lz_build_slice(g->s->f, v, start, limit, NULL);
}

/* Operand k of all in the group, with the region from the first on. */
static lz_status sum(grid *g, const lz_func *region, uint32_t k, lz_val *out)
{
    *out = operand(g, g->members.data[0], k);
    for (uint32_t i = 1; i < g->members.len; i++) {
        const lz_val both[2] = {*out, operand(g, g->members.data[i], k)};
        LZ_TRY(lz_parse_elementwise(g->p, g->s, g->t, region, both, out));
    }
    return LZ_OK;
}

static lz_status join_all(grid *g, uint32_t k, int64_t dim, int64_t split, int64_t at, lz_val *out)
{
    LZ_VEC(lz_val) v = {0};
    lz_status st = LZ_OK;
    for (uint32_t i = 0; i < g->members.len && st == LZ_OK; i++) {
        lz_val x = operand(g, g->members.data[i], k);
        st = lz_vec_push(&v, split < 0 ? x : cut(g, x, split, at, g->members.len));
    }
    if (st == LZ_OK)
        *out = join(g, v.data, v.len, dim);
    lz_vec_free(&v);
    return st;
}

/* From whom self gets in a permutation; what nobody sends to is zeros. */
static lz_val permuted(grid *g, const crowd *x, uint32_t self, uint32_t k)
{
    uint32_t from = x->first[own_number(x, self)];
    return from ? operand(g, of_number(x, self, from - 1), k)
                : lz_build_splat(g->s->f, x->sig->opnd[k], 0);
}

static uint32_t place_of(const grid *g, uint32_t self)
{
    uint32_t i = 0;
    while (i + 1 < g->members.len && g->members.data[i] != self)
        i++;
    return i;
}

/* Result k of a participant, whose group is g->members. */
static lz_status one_result(grid *g, const crowd *x, uint32_t self, uint32_t k, lz_val *out)
{
    const lz_sig *sig = x->sig;
    uint32_t n = g->members.len, at = place_of(g, self);
    switch (sig->op) {
    case LZ_OP_COLLECTIVE_PERMUTE:
        *out = permuted(g, x, self, k);
        return LZ_OK;
    case LZ_OP_ALL_GATHER:
        return join_all(g, k, LZ_ATTR(all_gather, sig->attr)->all_gather_dim, -1, 0, out);
    case LZ_OP_ALL_TO_ALL:
        return join_all(g, k, LZ_ATTR(all_to_all, sig->attr)->concat_dimension,
                        LZ_ATTR(all_to_all, sig->attr)->split_dimension, at, out);
    case LZ_OP_ALL_REDUCE:
        return sum(g, lz_attr_region(sig->attr, 0), k, out);
    case LZ_OP_REDUCE_SCATTER:
        LZ_TRY(sum(g, lz_attr_region(sig->attr, 0), k, out));
        *out = cut(g, *out, LZ_ATTR(reduce_scatter, sig->attr)->scatter_dimension, at, n);
        return LZ_OK;
    case LZ_OP_COLLECTIVE_BROADCAST:
        *out = n ? operand(g, g->members.data[0], k) : lz_build_splat(g->s->f, sig->opnd[k], 0);
        return LZ_OK;
    default:
        return unsupported(g, lz_op_get(sig->op)->text);
    }
}

/* ---- together ---- */

/* What all participants are at, once they are all at a collective; NULL: at the end. */
static lz_status meeting(grid *g, const lz_sig **out)
{
    for (uint32_t i = 0; i < g->parts.len; i++) {
        const part *q = &g->parts.data[i];
        const lz_sig *at = q->pc < q->f->ninst ? q->f->insts[q->pc].sig : NULL;
        if (i && at != *out)
            return unsupported(g, "the participants meet in different operations");
        *out = at;
    }
    return LZ_OK;
}

static lz_status group_of(grid *g, const crowd *x, uint32_t self)
{
    g->members.len = 0;
    if (x->sig->op == LZ_OP_COLLECTIVE_PERMUTE)
        return LZ_OK;
    LZ_TRY(find_group(g, x, self));
    if (g->members.len == 0 && x->sig->op != LZ_OP_COLLECTIVE_BROADCAST)
        return unsupported(g, "a participant is in no group");
    return lz_parse_charge(g->p, g->t->at, (uint64_t)g->members.len * x->sig->nresult);
}

static lz_status meet(grid *g, const lz_sig *sig)
{
    crowd x;
    uint32_t first = g->pool.len;
    LZ_TRY(read_crowd(g, sig, &x));
    for (uint32_t i = 0; i < g->parts.len; i++) {
        LZ_TRY(group_of(g, &x, i));
        for (uint32_t k = 0; k < sig->nresult; k++) {
            lz_val v = LZ_NOVAL;
            LZ_TRY(one_result(g, &x, i, k, &v));
            if (v == LZ_NOVAL)
                return lz_lex_wrap(&g->p->c, g->t->at);
            if (lz_val_type(g->s->f, v) != sig->result[k])
                return unsupported(g, "the groups do not fit what the programs say of them");
            LZ_TRY(lz_vec_push(&g->pool, v));
        }
    }
    for (uint32_t i = 0; i < g->parts.len; i++) {
        part *q = &g->parts.data[i];
        uint32_t at = first + i * sig->nresult;
        q->map[q->pc++] = sig->nresult == 1 ? g->pool.data[at] : at;
    }
    return LZ_OK;
}

static lz_status run(grid *g)
{
    const lz_sig *sig = NULL;
    LZ_TRY(read_programs(g));
    LZ_TRY(give_operands(g));
    do {
        for (uint32_t i = 0; i < g->parts.len; i++)
            LZ_TRY(advance(g, i));
        LZ_TRY(meeting(g, &sig));
        if (sig)
            LZ_TRY(meet(g, sig));
    } while (sig);
    for (uint32_t i = 0; i < g->parts.len; i++)
        for (uint32_t k = 0; k < g->parts.data[i].f->nresult; k++)
            LZ_TRY(
                lz_vec_push(&g->t->results, g->parts.data[i].map[g->parts.data[i].f->results[k]]));
    return LZ_OK;
}

lz_status lz_parse_parallel(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    grid g = {.p = p, .s = s, .t = t};
    if (p->parallel)
        return unsupported(&g, "a participant runs others");
    LZ_TRY(lz_parse_generic_items(p, s, t));
    if (lz_lex_eat(&p->c, "{"))
        LZ_TRY(lz_parse_dictionary(p, t));
    LZ_TRY(lz_lex_want(&p->c, ":"));
    LZ_TRY(lz_parse_types(p, t));
    LZ_TRY(lz_parse_check_operands(p, s, t));
    lz_status st = run(&g);
    for (uint32_t i = 0; i < g.parts.len; i++) {
        lz_func_free(g.parts.data[i].f);
        lz_free(g.parts.data[i].map);
    }
    lz_vec_free(&g.parts);
    lz_vec_free(&g.pool);
    lz_vec_free(&g.members);
    lz_map_free(&g.without);
    LZ_TRY(st);
    return lz_parse_check_results(p, s, t);
}
