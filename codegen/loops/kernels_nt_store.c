/* kernels_nt_store.c - non-temporal stores. A result larger than the caches is evicted before
 * anyone reads it; stored as usual, each of its cache lines would be read from memory first.
 * Whether a call uses them is decided when it begins: sizes are arguments, and where a result takes
 * the place of an operand its lines are in the cache already. Values are the same either way.
 * Threads: belongs to one thread. */
#include "codegen/loops/kern.h"

/* The last-level cache of a machine of many cores is shared by all of them, and hardly faster than
 * memory: no more of it is counted on. */
enum { MOST_CACHE = 32 << 20 };

static bool loaded(const kern *c, uint32_t buf)
{
    for (uint32_t s = 0; s < c->k->nstage; s++)
        for (uint32_t i = 0; i < c->k->stages[s].nacc; i++)
            if (c->k->stages[s].accs[i].buf == buf)
                return true;
    return false;
}

/* Stored once for all the points of loops: what these read is so much more that it does not matter
 * how. */
static bool after_loops(const kern *c, const kstage *t)
{
    bool loops = false;
    for (uint32_t s = 0; s < c->k->nstage; s++)
        loops |= c->k->stages[s].ninner > 0;
    return loops && t->s->ninner == 0 && !em_always(c->e, LZ_VARIANT_nontemporal);
}

/* Whole vectors one after the other, of a result that the kernel only writes. */
static bool may_stream(const kern *c, const kstage *t, const lz_loop_store *w)
{
    const lz_access *a = &w->at;
    return em_may(c->e, LZ_VARIANT_nontemporal) && !after_loops(c, t) && t->vdim >= 0 &&
           c->lanes > 1 && lz_sz_is(a->stride[t->vdim], 1) && a->ndyn == 0 && a->guard < 0 &&
           !loaded(c, a->buf) &&
           (int)(c->lanes * em_esize(c->k->buf[a->buf].dtype)) == c->e->t->machine.vector_bytes;
}

/* Bytes that the stage stores. */
static Val bytes_of(kern *c, const kstage *t, const lz_loop_store *w)
{
    em *e = c->e;
    Val n = em_c64(e, em_esize(c->k->buf[w->at.buf].dtype));
    for (uint32_t d = 0; d < c->k->nouter; d++)
        n = MUL(n, kern_size(c, c->k->outer[d]));
    for (uint32_t j = 0; j < t->s->ninner; j++)
        n = MUL(n, kern_size(c, t->s->extent[j]));
    return n;
}

void kern_nt_enter(kern *c)
{
    em *e = c->e;
    int64_t cache = e->t->machine.l3_bytes < MOST_CACHE ? e->t->machine.l3_bytes : MOST_CACHE;
    int64_t from = em_always(e, LZ_VARIANT_nontemporal) ? 0 : cache;
    for (uint32_t s = 0; s < c->k->nstage; s++) {
        kstage *t = &c->st[s];
        for (uint32_t j = 0; j < t->s->nstore; j++) {
            const lz_loop_store *w = &t->s->stores[j];
            if (!may_stream(c, t, w))
                continue;
            Val large = ICMP(SGE, bytes_of(c, t, w), em_c64(e, from));
            for (uint32_t b = 0; b < c->k->nbuf; b++)
                if (b != w->at.buf && loaded(c, b))
                    large = AND(large, ICMP(NE, c->buf[b], c->buf[w->at.buf]));
            if (!LLVMIsConstant(large) || LLVMConstIntGetSExtValue(large))
                t->stream[j] = large;
            c->streams |= t->stream[j] != NULL;
        }
    }
}

Val kern_nt_here(kern *c, uint32_t s, uint32_t j, Val p, const kctx *x)
{
    em *e = c->e;
    Val here = c->st[s].stream[j];
    if (!here || (x->mask[0] && !x->full))
        return NULL;
    if (x->full)
        here = AND(here, x->full);
    Val bits = LLVMBuildPtrToInt(e->b, p, e->i64, "");
    return AND(here, ICMP(EQ, AND(bits, em_c64(e, e->t->machine.vector_bytes - 1)), em_c64(e, 0)));
}

void kern_nt_leave(kern *c)
{
    if (c->streams && c->e->x86) /* elsewhere these stores are as ordered as all others */
        em_intr(c->e, "llvm.x86.sse.sfence", NULL, 0, NULL, 0);
}
