/* exchange.c - see exchange.h. */
#include "backends/distributed/exchange.h"
#include "ir/attr.h"
#include <string.h>

enum { SLICED = 16 << 10 }; /* bytes of a sum from which on it is made in slices */

typedef enum kind {
    KIND_SUM,     /* all_reduce */
    KIND_JOIN,    /* all_gather: whole operands */
    KIND_SCATTER, /* reduce_scatter, all_to_all: a part for each receiver */
    KIND_TAKE     /* permute, broadcast: whole operands of some */
} kind;

static kind kind_of(const lz_sig *sig)
{
    switch (sig->op) {
    case LZ_OP_ALL_REDUCE:
        return KIND_SUM;
    case LZ_OP_ALL_GATHER:
        return KIND_JOIN;
    case LZ_OP_REDUCE_SCATTER:
    case LZ_OP_ALL_TO_ALL:
        return KIND_SCATTER;
    default:
        return KIND_TAKE;
    }
}

static bool broadcasts(const lz_exchange *x)
{
    return x->sig->op == LZ_OP_COLLECTIVE_BROADCAST;
}

static const char *operand(const lz_exchange *x, uint32_t i, uint32_t k)
{
    return x->bufs[i][x->sig->nresult + k];
}

static char *result(const lz_exchange *x, uint32_t i, uint32_t k)
{
    return x->bufs[i][k];
}

/* ---- sizes ---- */

/* Elements before slice p of an operand. */
static size_t slice_at(const lz_exchange *x, uint32_t k, uint32_t p)
{
    const lz_type *t = x->sig->opnd[k];
    uint64_t n = (uint64_t)t->nelem, each = n / x->nproc, more = n % x->nproc;
    return (size_t)(each * p + (p < more ? p : more)) * lz_dtype_size(t->dtype);
}

static size_t block_bytes(const lz_exchange *x, uint32_t k, uint32_t p)
{
    size_t n = x->sig->opnd[k]->nbytes;
    if (x->sliced)
        return slice_at(x, k, p + 1) - slice_at(x, k, p);
    return kind_of(x->sig) == KIND_SCATTER ? n / x->n : n;
}

/* Bytes of blocks of operands 0..k-1, of slice p. */
static size_t before(const lz_exchange *x, uint32_t k, uint32_t p)
{
    return x->prefix[(x->sliced ? p : 0) * ((size_t)x->sig->nopnd + 1) + k];
}

lz_status lz_exchange_begin(lz_exchange *x)
{
    size_t all = 0, nop = x->sig->nopnd;
    for (uint32_t k = 0; k < nop; k++)
        all += x->sig->opnd[k]->nbytes;
    x->sliced = kind_of(x->sig) == KIND_SUM && all >= SLICED;
    x->arena = (lz_arena){0};
    size_t rows = x->sliced ? x->nproc : 1;
    x->rank_in = lz_arena_alloc(&x->arena, (x->n + 1) * sizeof *x->rank_in);
    x->count = lz_arena_alloc(&x->arena, (x->nproc + 1) * sizeof *x->count);
    x->prefix = lz_arena_alloc(&x->arena, rows * (nop + 1) * sizeof *x->prefix);
    x->sum = NULL;
    bool ok = x->rank_in && x->count && x->prefix;
    for (uint32_t i = 0; i < x->n && ok; i++)
        x->rank_in[i] = x->count[x->proc[i]]++;
    for (size_t p = 0; p < rows && ok; p++)
        for (uint32_t k = 0; k < nop; k++)
            x->prefix[p * (nop + 1) + k + 1] =
                x->prefix[p * (nop + 1) + k] + block_bytes(x, k, (uint32_t)p);
    if (ok && x->sliced)
        ok = (x->sum = lz_alloc(before(x, x->sig->nopnd, x->self) + 1)) != NULL;
    if (ok)
        return LZ_OK;
    lz_exchange_end(x);
    return LZ_FAIL(LZ_EMEM, "no memory for a collective of %u members", x->n);
}

void lz_exchange_end(lz_exchange *x)
{
    lz_free(x->sum);
    x->sum = NULL;
    lz_arena_free(&x->arena);
}

/* ---- blocks ---- */

/* Of a permute or a broadcast: how many blocks `src` sends to `dst` for receivers before member
 * `upto`. A broadcast sends one to a process. */
static uint32_t taken(const lz_exchange *x, uint32_t src, uint32_t dst, uint32_t upto)
{
    uint32_t n = 0;
    for (uint32_t b = 0; b < upto; b++)
        if (x->proc[b] == dst && x->from[b] != LZ_NO_PARTITION && x->proc[x->from[b]] == src)
            n++;
    return broadcasts(x) ? n > 0 : n;
}

/* Blocks of each operand. */
static size_t blocks(const lz_exchange *x, int round, uint32_t src, uint32_t dst)
{
    if (round == 1)
        return 1;
    switch (kind_of(x->sig)) {
    case KIND_SCATTER:
        return (size_t)x->count[src] * x->count[dst];
    case KIND_TAKE:
        return taken(x, src, dst, x->n);
    default:
        return x->count[src];
    }
}

static size_t message(const lz_exchange *x, int round, uint32_t src, uint32_t dst)
{
    return src == dst
               ? 0
               : blocks(x, round, src, dst) * before(x, x->sig->nopnd, round == 1 ? src : dst);
}

size_t lz_exchange_receives(const lz_exchange *x, int round, uint32_t p)
{
    return message(x, round, p, x->self);
}

size_t lz_exchange_sends(const lz_exchange *x, int round, uint32_t p)
{
    return message(x, round, x->self, p);
}

/* Where block j of operand k begins in the message of round 0 from src to dst. */
static size_t block_at(const lz_exchange *x, uint32_t src, uint32_t dst, uint32_t k, size_t j)
{
    return blocks(x, 0, src, dst) * before(x, k, dst) + j * block_bytes(x, k, dst);
}

/* ---- parts of arrays ---- */

/* n parts of an array along a dimension: `outer` runs of bytes, so far apart. */
typedef struct part {
    size_t outer, run, apart;
} part;

static part part_of(const lz_type *t, int d, size_t n)
{
    part p = {.outer = 1, .apart = lz_dtype_size(t->dtype)};
    for (int i = 0; i < d; i++)
        p.outer *= (size_t)t->shape.dims[i];
    for (int i = d; i < t->shape.rank; i++)
        p.apart *= (size_t)t->shape.dims[i];
    p.run = p.apart / n;
    return p;
}

static int cut_dim(const lz_sig *sig)
{
    return (int)(sig->op == LZ_OP_REDUCE_SCATTER
                     ? LZ_ATTR(reduce_scatter, sig->attr)->scatter_dimension
                     : LZ_ATTR(all_to_all, sig->attr)->split_dimension);
}

static int join_dim(const lz_sig *sig)
{
    return (int)(sig->op == LZ_OP_ALL_GATHER ? LZ_ATTR(all_gather, sig->attr)->all_gather_dim
                                             : LZ_ATTR(all_to_all, sig->attr)->concat_dimension);
}

/* The part of member b of operand k of member a. */
static void cut(const lz_exchange *x, uint32_t k, uint32_t a, uint32_t b, char *to)
{
    part p = part_of(x->sig->opnd[k], cut_dim(x->sig), x->n);
    const char *src = operand(x, a, k) + b * p.run;
    for (size_t o = 0; o < p.outer && p.run; o++)
        memcpy(to + o * p.run, src + o * p.apart, p.run);
}

/* What member a gave becomes its part of result k of member b. */
static void put(const lz_exchange *x, uint32_t k, uint32_t a, uint32_t b, const char *from)
{
    part p = part_of(x->sig->result[k], join_dim(x->sig), x->n);
    char *dst = result(x, b, k) + a * p.run;
    for (size_t o = 0; o < p.outer && p.run; o++)
        memcpy(dst + o * p.apart, from + o * p.run, p.run);
}

/* ---- what is sent ---- */

const void *lz_exchange_whole(const lz_exchange *x, int round, uint32_t p)
{
    kind is = kind_of(x->sig);
    if (round == 1)
        return x->sum;
    if (x->sliced || is == KIND_SCATTER || x->sig->nopnd != 1 || blocks(x, 0, x->self, p) != 1)
        return NULL;
    for (uint32_t i = 0; i < x->n; i++) {
        bool takes = is == KIND_TAKE && x->proc[i] == p && x->from[i] != LZ_NO_PARTITION &&
                     x->proc[x->from[i]] == x->self;
        if (takes || (is != KIND_TAKE && x->proc[i] == x->self))
            return operand(x, takes ? x->from[i] : i, 0);
    }
    return NULL;
}

static void pack_takes(const lz_exchange *x, uint32_t p, char *to)
{
    for (uint32_t k = 0; k < x->sig->nopnd; k++)
        for (uint32_t b = 0; b < x->n; b++) {
            uint32_t a = x->from[b];
            if (x->proc[b] != p || a == LZ_NO_PARTITION || x->proc[a] != x->self)
                continue;
            size_t j = broadcasts(x) ? 0 : taken(x, x->self, p, b), n = x->sig->opnd[k]->nbytes;
            if (n)
                memcpy(to + block_at(x, x->self, p, k, j), operand(x, a, k), n);
        }
}

void lz_exchange_pack(const lz_exchange *x, int round, uint32_t p, void *message_to)
{
    char *to = message_to;
    kind is = kind_of(x->sig);
    if (round == 1 || is == KIND_TAKE) {
        if (round == 1)
            memcpy(to, x->sum, before(x, x->sig->nopnd, x->self));
        else
            pack_takes(x, p, to);
        return;
    }
    for (uint32_t k = 0; k < x->sig->nopnd; k++)
        for (uint32_t a = 0; a < x->n; a++) {
            if (x->proc[a] != x->self)
                continue;
            size_t n = block_bytes(x, k, p), at = x->sliced ? slice_at(x, k, p) : 0;
            for (uint32_t b = 0; b < x->n && is == KIND_SCATTER; b++)
                if (x->proc[b] == p)
                    cut(x, k, a, b,
                        to + block_at(x, x->self, p, k,
                                      (size_t)x->rank_in[a] * x->count[p] + x->rank_in[b]));
            if (is != KIND_SCATTER && n)
                memcpy(to + block_at(x, x->self, p, k, x->rank_in[a]), operand(x, a, k) + at, n);
        }
}

/* ---- what came ---- */

/* Block of operand k of member a, for member b of this process (a scatter), or for all of it. Of
 * another process's it is in the message; of an own member it is the operand. */
static const char *came_from(const lz_exchange *x, const void *const *came, uint32_t k, uint32_t a,
                             uint32_t b, char *room)
{
    uint32_t src = x->proc[a];
    bool scatter = kind_of(x->sig) == KIND_SCATTER;
    if (src != x->self) {
        size_t j =
            scatter ? (size_t)x->rank_in[a] * x->count[x->self] + x->rank_in[b] : x->rank_in[a];
        return (const char *)came[src] + block_at(x, src, x->self, k, j);
    }
    if (!scatter)
        return operand(x, a, k) + (x->sliced ? slice_at(x, k, x->self) : 0);
    cut(x, k, a, b, room);
    return room;
}

/* The ordered sum of operand k for member b (of a scatter), to `to`. room: for the parts of own
 * members. */
static lz_status add_up(const lz_exchange *x, const void *const *came, uint32_t k, uint32_t b,
                        const void **in, char *room, char *to)
{
    size_t n = block_bytes(x, k, x->self);
    for (uint32_t a = 0; a < x->n; a++) {
        in[a] = came_from(x, came, k, a, b, room);
        if (in[a] == room)
            room += n;
    }
    return n ? lz_collective_fold(x->sig, k, in, x->n, to, n) : LZ_OK;
}

static lz_status sums(const lz_exchange *x, const void *const *came, const void **in, char *room)
{
    bool scatter = x->sig->op == LZ_OP_REDUCE_SCATTER;
    for (uint32_t k = 0; k < x->sig->nopnd; k++) {
        uint32_t first = x->n;
        if (x->sliced) {
            LZ_TRY(add_up(x, came, k, 0, in, room, (char *)x->sum + before(x, k, x->self)));
            continue;
        }
        for (uint32_t b = 0; b < x->n; b++) {
            if (x->proc[b] != x->self)
                continue;
            if (scatter || first == x->n)
                LZ_TRY(add_up(x, came, k, b, in, room, result(x, b, k)));
            else if (x->sig->result[k]->nbytes)
                memcpy(result(x, b, k), result(x, first, k), x->sig->result[k]->nbytes);
            first = first == x->n ? b : first;
        }
    }
    return LZ_OK;
}

/* The sums of all slices become the results of all members. */
static void join_slices(const lz_exchange *x, const void *const *came)
{
    for (uint32_t k = 0; k < x->sig->nopnd; k++)
        for (uint32_t p = 0; p < x->nproc; p++) {
            const char *from = (p == x->self ? (const char *)x->sum : (const char *)came[p]);
            size_t n = block_bytes(x, k, p);
            for (uint32_t b = 0; b < x->n && n; b++)
                if (x->proc[b] == x->self)
                    memcpy(result(x, b, k) + slice_at(x, k, p), from + before(x, k, p), n);
        }
}

static void joins(const lz_exchange *x, const void *const *came, char *room)
{
    for (uint32_t k = 0; k < x->sig->nopnd; k++)
        for (uint32_t a = 0; a < x->n; a++)
            for (uint32_t b = 0; b < x->n; b++)
                if (x->proc[b] == x->self)
                    put(x, k, a, b, came_from(x, came, k, a, b, room));
}

static void takes(const lz_exchange *x, const void *const *came)
{
    for (uint32_t k = 0; k < x->sig->nopnd; k++)
        for (uint32_t b = 0; b < x->n; b++) {
            uint32_t a = x->from[b];
            size_t n = x->sig->result[k]->nbytes;
            if (x->proc[b] != x->self || !n)
                continue;
            if (a == LZ_NO_PARTITION) {
                memset(result(x, b, k), 0, n);
                continue;
            }
            uint32_t src = x->proc[a];
            size_t j = broadcasts(x) ? 0 : taken(x, src, x->self, b);
            memcpy(result(x, b, k),
                   src == x->self ? operand(x, a, k)
                                  : (const char *)came[src] + block_at(x, src, x->self, k, j),
                   n);
        }
}

lz_status lz_exchange_finish(lz_exchange *x, int round, const void *const *came)
{
    kind is = kind_of(x->sig);
    if (round == 1 || is == KIND_TAKE) {
        if (round == 1)
            join_slices(x, came);
        else
            takes(x, came);
        return LZ_OK;
    }
    size_t most = 0;
    for (uint32_t k = 0; k < x->sig->nopnd; k++)
        most = block_bytes(x, k, x->self) > most ? block_bytes(x, k, x->self) : most;
    /* parts of own members, of one receiver at a time */
    char *room = is == KIND_SCATTER ? lz_alloc(most * x->count[x->self] + 1) : NULL;
    const void **in = lz_alloc(x->n * sizeof *in);
    lz_status s =
        in && (room || is != KIND_SCATTER) ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for parts");
    if (s == LZ_OK && (is == KIND_SUM || x->sig->op == LZ_OP_REDUCE_SCATTER))
        s = sums(x, came, in, room);
    else if (s == LZ_OK)
        joins(x, came, room);
    lz_free(in);
    lz_free(room);
    return s;
}
