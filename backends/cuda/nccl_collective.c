/* nccl_collective.c - collectives between the GPUs of one process over NCCL. As a rule NCCL moves
 * values and does not add them: its order of additions depends on the machine and on its version,
 * while ours is that of the group, so that sums are the same bits with and without NCCL. What is
 * gathered goes by ncclAllGather, what is exchanged by sends and receives in one group; a sum is
 * then made by each device of what it has received. Sums of integers are the same in any order and
 * are NCCL's (ncclAllReduce, ncclReduceScatter), and with LAZULI_COLLECTIVES=fast so are those of
 * floats. Minima and maxima of floats are not: NCCL's lose NaNs.
 * The streams of a collective wait for each other within NCCL, by no events. */
#include "backends/cuda/cuda_collective.h"
#include "base/config.h"
#include <string.h>

/* ---- making ---- */

static bool permutes(const lz_sig *sig)
{
    return sig->op == LZ_OP_COLLECTIVE_PERMUTE;
}

/* Permutes may be between any two. */
static lz_status make_cliques(cuda_collective *m)
{
    uint32_t all[CUDA_DEVICES];
    const lz_participants *p = &m->c->who;
    for (uint32_t q = 0; q < p->n; q++)
        all[q] = q;
    if (permutes(m->c->sig)) {
        LZ_TRY(cuda_clique_get(all, p->n, &m->clique[0]));
        if (!m->clique[0])
            m->clique = NULL;
        return LZ_OK;
    }
    for (uint32_t g = 0; g < p->ngroup; g++) {
        uint32_t n = cuda_group_size(p, g);
        m->clique[g] = NULL;
        if (n > 1)
            LZ_TRY(cuda_clique_get(p->member + p->start[g], n, &m->clique[g]));
        if (n > 1 && !m->clique[g]) {
            m->clique = NULL;
            return LZ_OK;
        }
    }
    return LZ_OK;
}

lz_status cuda_nccl_make(cuda_exec *x, cuda_collective *m)
{
    uint32_t n = m->c->who.ngroup ? m->c->who.ngroup : 1;
    if (x->n < 2 || !lz_nccl_load())
        return LZ_OK;
    m->clique = lz_arena_alloc(&x->x.plan_exec.arena, n * sizeof(cuda_clique *));
    if (!m->clique)
        return LZ_FAIL(LZ_EMEM, "no memory for a collective");
    return make_cliques(m);
}

static int op_of(lz_op op, lz_dtype d)
{
    bool truth = d == LZ_BOOL;
    switch (op) {
    case LZ_OP_ADD:
        return truth ? NCCL_MAX : NCCL_SUM; /* of truth values the sum is an or */
    case LZ_OP_MULTIPLY:
        return truth ? NCCL_MIN : NCCL_PROD;
    case LZ_OP_MAXIMUM:
        return NCCL_MAX;
    case LZ_OP_MINIMUM:
        return NCCL_MIN;
    case LZ_OP_OR:
        return truth ? NCCL_MAX : -1;
    case LZ_OP_AND:
        return truth ? NCCL_MIN : -1;
    default:
        return -1;
    }
}

cuda_reduction cuda_nccl_reduction(const cuda_exec *x, const lz_func *region, lz_dtype d)
{
    cuda_reduction r = {0};
    int times, type = lz_nccl_type(d, &times), op = op_of(lz_region_as_binary(region), d);
    bool exact = type >= NCCL_I8 && type <= NCCL_U64;
    bool fast = strcmp(lz_cfg_str(LZ_OPT_COLLECTIVES), "fast") == 0 &&
                (op == NCCL_SUM || (op == NCCL_PROD && times == 1));
    if (x->n > 1 && type >= 0 && op >= 0 && (exact || fast))
        r = (cuda_reduction){type, op, times};
    return r;
}

/* ---- running ---- */

static cuda_clique *clique_of(const cuda_meeting *w, uint32_t q)
{
    return permutes(w->sig) ? w->m->clique[0] : w->m->clique[w->who->group[q]];
}

static nccl_comm comm_of(const cuda_meeting *w, uint32_t q)
{
    return cuda_clique_comm(clique_of(w, q), permutes(w->sig) ? q : w->who->place[q]);
}

static cu_stream stream_of(const cuda_meeting *w, uint32_t q)
{
    return w->t->run[q].d->compute;
}

static lz_status called(const cuda_meeting *w, uint32_t q, int result)
{
    return cuda_nccl_called(result, comm_of(w, q), lz_op_get(w->sig->op)->text);
}

static uint32_t members(const cuda_meeting *w, uint32_t q)
{
    return cuda_group_size(w->who, w->who->group[q]);
}

static lz_status send(const cuda_meeting *w, uint32_t q, uint32_t place, const char *p, size_t n)
{
    if (!n)
        return LZ_OK;
    LZ_TRY(cuda_team_here(&w->t->run[q]));
    return called(w, q, lz_nccl.Send(p, n, NCCL_U8, (int)place, comm_of(w, q), stream_of(w, q)));
}

static lz_status receive(const cuda_meeting *w, uint32_t q, uint32_t place, char *p, size_t n)
{
    if (!n)
        return LZ_OK;
    LZ_TRY(cuda_team_here(&w->t->run[q]));
    return called(w, q, lz_nccl.Recv(p, n, NCCL_U8, (int)place, comm_of(w, q), stream_of(w, q)));
}

static lz_status reduce(const cuda_meeting *w, const cuda_route *r, uint32_t k, uint32_t q)
{
    const cuda_reduction *d = &r->direct;
    const void *from = cuda_sent(w, r, k, q);
    void *to = w->bufs[q][k];
    size_t n = (size_t)w->sig->result[k]->nelem * (size_t)d->times;
    int s =
        w->sig->op == LZ_OP_ALL_REDUCE
            ? lz_nccl.AllReduce(from, to, n, d->type, d->op, comm_of(w, q), stream_of(w, q))
            : lz_nccl.ReduceScatter(from, to, n, d->type, d->op, comm_of(w, q), stream_of(w, q));
    return called(w, q, s);
}

/* What q gives to the others of its group, and gets of them. */
static lz_status exchange(const cuda_meeting *w, const cuda_route *r, uint32_t k, uint32_t q)
{
    uint32_t n = members(w, q), own = w->who->place[q];
    const char *from = cuda_sent(w, r, k, q);
    char *to = cuda_received(w, r, k, q);
    for (uint32_t i = 1; i < n; i++) {
        uint32_t j = (own + i) % n;
        LZ_TRY(send(w, q, j, from + j * r->piece, cuda_part_bytes(w, r, k, j)));
        LZ_TRY(receive(w, q, j, to + j * r->piece, cuda_part_bytes(w, r, k, own)));
    }
    return LZ_OK;
}

static lz_status first_calls(const cuda_meeting *w, const cuda_route *r, uint32_t k, uint32_t q)
{
    if (members(w, q) < 2)
        return LZ_OK;
    LZ_TRY(cuda_team_here(&w->t->run[q]));
    if (r->direct.times)
        return reduce(w, r, k, q);
    if (r->split)
        return exchange(w, r, k, q);
    return called(w, q,
                  lz_nccl.AllGather(cuda_sent(w, r, k, q), cuda_received(w, r, k, q), r->piece,
                                    NCCL_U8, comm_of(w, q), stream_of(w, q)));
}

/* What stays where it is. */
static lz_status first_copies(const cuda_meeting *w, const cuda_route *r, uint32_t k, uint32_t q)
{
    uint32_t own = w->who->place[q];
    bool alone = members(w, q) < 2;
    const char *from = cuda_sent(w, r, k, q);
    if (r->direct.times)
        return alone ? cuda_meeting_copy(w, q, w->bufs[q][k], q, from, w->sig->result[k]->nbytes)
                     : LZ_OK;
    if (!r->split && !alone)
        return LZ_OK;
    return cuda_meeting_copy(w, q, cuda_received(w, r, k, q) + own * r->piece, q,
                             from + (r->split ? own * r->piece : 0),
                             r->split ? cuda_part_bytes(w, r, k, own) : r->piece);
}

/* The parts of a sum that was made in parts. */
static lz_status sum_calls(const cuda_meeting *w, const cuda_route *r, uint32_t k, uint32_t q)
{
    uint32_t n = members(w, q), own = w->who->place[q];
    char *to = w->bufs[q][k];
    const char *sum = cuda_staged(w, q, r->summed_at);
    if (!r->halves)
        return LZ_OK;
    LZ_TRY(cuda_team_here(&w->t->run[q]));
    if (n * r->piece == w->sig->opnd[k]->nbytes)
        return called(
            w, q, lz_nccl.AllGather(sum, to, r->piece, NCCL_U8, comm_of(w, q), stream_of(w, q)));
    for (uint32_t i = 1; i < n; i++) {
        uint32_t j = (own + i) % n;
        LZ_TRY(send(w, q, j, sum, cuda_part_bytes(w, r, k, own)));
        LZ_TRY(receive(w, q, j, to + j * r->piece, cuda_part_bytes(w, r, k, j)));
    }
    return LZ_OK;
}

static lz_status sum_copies(const cuda_meeting *w, const cuda_route *r, uint32_t k, uint32_t q)
{
    uint32_t own = w->who->place[q];
    if (!r->halves || members(w, q) * r->piece == w->sig->opnd[k]->nbytes)
        return LZ_OK;
    return cuda_meeting_copy(w, q, (char *)w->bufs[q][k] + own * r->piece, q,
                             cuda_staged(w, q, r->summed_at), cuda_part_bytes(w, r, k, own));
}

static lz_status calls_first(const void *w)
{
    return cuda_meeting_each(w, first_calls);
}

static lz_status calls_of_sums(const void *w)
{
    return cuda_meeting_each(w, sum_calls);
}

/* Permute and broadcast. */
static lz_status calls_from_one(const void *meeting)
{
    const cuda_meeting *w = meeting;
    for (uint32_t k = 0; k < w->sig->nopnd; k++)
        for (uint32_t q = 0; q < w->who->n; q++) {
            uint32_t from = w->who->from[q];
            size_t nbytes = w->sig->result[k]->nbytes;
            if (from == LZ_NO_PARTITION || (permutes(w->sig) && from == q) || !nbytes)
                continue;
            if (permutes(w->sig)) {
                LZ_TRY(send(w, from, q, w->bufs[from][w->sig->nresult + k], nbytes));
                LZ_TRY(receive(w, q, from, w->bufs[q][k], nbytes));
                continue;
            }
            if (members(w, q) < 2)
                continue;
            LZ_TRY(cuda_team_here(&w->t->run[q]));
            LZ_TRY(called(w, q,
                          lz_nccl.Broadcast(w->bufs[q][w->sig->nresult + k], w->bufs[q][k], nbytes,
                                            NCCL_U8, (int)w->who->place[from], comm_of(w, q),
                                            stream_of(w, q))));
        }
    return LZ_OK;
}

static lz_status copies_from_one(const cuda_meeting *w)
{
    for (uint32_t k = 0; k < w->sig->nopnd; k++)
        for (uint32_t q = 0; q < w->who->n; q++) {
            uint32_t from = w->who->from[q];
            size_t nbytes = w->sig->result[k]->nbytes;
            if (from == LZ_NO_PARTITION)
                LZ_TRY(cuda_meeting_clear(w, q, w->bufs[q][k], nbytes));
            else if (from == q && (permutes(w->sig) || members(w, q) < 2))
                LZ_TRY(cuda_meeting_copy(w, q, w->bufs[q][k], q, w->bufs[q][w->sig->nresult + k],
                                         nbytes));
        }
    return LZ_OK;
}

/* The cliques of a collective, each once. */
static uint32_t all_cliques(const cuda_meeting *w, cuda_clique **out)
{
    uint32_t n = 0;
    if (permutes(w->sig))
        out[n++] = w->m->clique[0];
    for (uint32_t g = 0; g < w->who->ngroup && !permutes(w->sig); g++)
        if (w->m->clique[g])
            out[n++] = w->m->clique[g];
    return n;
}

static bool has_bytes(const cuda_meeting *w)
{
    size_t n = 0;
    for (uint32_t k = 0; k < w->sig->nopnd; k++)
        n += w->m->route ? w->m->route[k].piece : w->sig->result[k]->nbytes;
    return n != 0;
}

static bool in_parts(const cuda_meeting *w)
{
    bool any = false;
    for (uint32_t k = 0; k < w->sig->nopnd; k++)
        any |= w->m->route[k].halves;
    return any;
}

lz_status cuda_nccl_run(const cuda_meeting *w)
{
    cuda_clique *with[CUDA_DEVICES];
    uint32_t n = has_bytes(w) ? all_cliques(w, with) : 0;
    if (!w->m->route) {
        LZ_TRY(copies_from_one(w));
        return cuda_nccl_group(w->t, w->sig, with, n, calls_from_one, w);
    }
    LZ_TRY(cuda_meeting_each(w, cuda_meeting_pack));
    LZ_TRY(cuda_meeting_each(w, first_copies));
    LZ_TRY(cuda_nccl_group(w->t, w->sig, with, n, calls_first, w));
    LZ_TRY(cuda_meeting_each(w, cuda_meeting_unpack));
    if (!in_parts(w))
        return LZ_OK;
    LZ_TRY(cuda_meeting_each(w, sum_copies));
    return cuda_nccl_group(w->t, w->sig, with, n, calls_of_sums, w);
}
