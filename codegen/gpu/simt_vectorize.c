/* simt_vectorize.c - whether a thread may load and store 16 bytes at once. What depends on the
 * kernel is decided here; whether addresses are aligned is a question to the run-time sizes and
 * buffers, answered once at the start of the code, which has a scalar path as well. Threads:
 * belongs to one thread. */
#include "codegen/gpu/simt_kern.h"
#include "lower/loops/loop_impl.h"

enum { WIDTH = 16, LANES_MIN = 2, LANES_MAX = 8 };

static bool same_for_lanes(const kstage *t, const lz_access *a)
{
    for (uint32_t i = 0; i < a->ndyn; i++)
        if (t->vec[a->dyn[i].sop])
            return false;
    return (a->guard < 0 || !t->vec[a->guard]) && (a->other < 0 || !t->vec[a->other]);
}

static bool load_suits(const kern *c, const kstage *t, const lz_access *a)
{
    lz_sz along = a->stride[t->vdim];
    return same_for_lanes(t, a) && (lz_sz_is(along, 0) || lz_sz_is(along, 1)) &&
           !lz_dtype_is_complex(c->k->buf[a->buf].dtype);
}

bool simt_vectors_suit(const kern *c, uint32_t s)
{
    const kstage *t = &c->st[s];
    if (t->vdim < 0 || t->s->sort)
        return false;
    for (uint32_t i = 0; i < t->s->nsop; i++) {
        const lz_sop *p = &t->s->sops[i];
        if (t->skip[i])
            continue;
        if (p->kind == LZ_S_SORTED || lz_dtype_is_complex(p->dtype))
            return false;
        if (p->kind == LZ_S_LOAD && !load_suits(c, t, &t->s->accs[p->a]))
            return false;
    }
    for (uint32_t j = 0; j < t->s->nstore; j++) {
        const lz_access *a = &t->s->stores[j].at;
        if (!load_suits(c, t, a) || a->guard >= 0 || !lz_sz_is(a->stride[t->vdim], 1))
            return false;
    }
    return true;
}

/* ---- lanes ---- */

static void narrowest(const lz_kernel *k, const lz_access *a, unsigned *n)
{
    unsigned es = em_esize(k->buf[a->buf].dtype);
    *n = es < *n ? es : *n;
}

unsigned simt_vector_lanes(const lz_kernel *k, uint32_t first)
{
    unsigned n = 8;
    for (uint32_t s = first; s < k->nstage; s++) {
        const lz_stage *st = &k->stages[s];
        for (uint32_t i = 0; i < st->nacc; i++)
            narrowest(k, &st->accs[i], &n);
        for (uint32_t j = 0; j < st->nstore; j++)
            narrowest(k, &st->stores[j].at, &n);
    }
    n = WIDTH / n;
    return n < LANES_MIN ? LANES_MIN : n > LANES_MAX ? LANES_MAX : n;
}

/* ---- points ---- */

static bool depends(const lz_access *a, const uint32_t *dep, uint32_t loop)
{
    bool yes = false;
    for (uint32_t i = 0; i < a->ndyn; i++)
        yes |= dep[a->dyn[i].sop] >> loop & 1;
    yes |= a->guard >= 0 && dep[a->guard] >> loop & 1;
    return yes || (a->other >= 0 && dep[a->other] >> loop & 1);
}

/* Whether the stage's points side by side along the last loop make vectors. Decided without a kern:
 * it is part of the plan. */
static bool stage_suits(const lz_kernel *k, const lz_stage *st)
{
    enum { MAX_SOPS = 1024 };
    uint32_t dep[MAX_SOPS], last = k->nouter - 1;
    if (st->ninner || st->sort || st->nred || st->nsop > MAX_SOPS)
        return false;
    lz_stage_deps(k, st, dep);
    for (uint32_t i = 0; i < st->nsop; i++) {
        const lz_sop *p = &st->sops[i];
        if (lz_dtype_is_complex(p->dtype) || p->kind == LZ_S_SORTED)
            return false;
    }
    for (uint32_t i = 0; i < st->nacc; i++) {
        lz_sz along = st->accs[i].stride[last];
        if (depends(&st->accs[i], dep, last) || (!lz_sz_is(along, 0) && !lz_sz_is(along, 1)))
            return false;
    }
    for (uint32_t j = 0; j < st->nstore; j++) {
        const lz_access *a = &st->stores[j].at;
        if (a->guard >= 0 || depends(a, dep, last) || !lz_sz_is(a->stride[last], 1))
            return false;
    }
    return true;
}

unsigned simt_elementwise_lanes(const lz_kernel *k)
{
    if (k->vec != LZ_VEC_OUTER || k->serial || k->nouter == 0 || lz_kernel_is_dot(k))
        return 1;
    lz_sz n = k->outer[k->nouter - 1];
    if (n.slot < 0 && n.v < LANES_MAX)
        return 1;
    for (uint32_t s = 0; s < k->nstage; s++)
        if (!stage_suits(k, &k->stages[s]))
            return 1;
    return simt_vector_lanes(k, 0);
}

/* ---- alignment ---- */

/* Bits that must be 0 below those of an aligned address: the address itself and every step of
 * it. */
static Val address_bits(kern *c, const kstage *t, uint32_t i, const lz_access *a)
{
    em *e = c->e;
    unsigned es = em_esize(c->k->buf[a->buf].dtype), size = es * c->lanes;
    Val bits = LLVMBuildPtrToInt(e->b, t->ptr[POS_TOP][i], e->i64, "");
    for (uint32_t d = 0; d < c->k->nouter + t->s->ninner; d++)
        if ((int)d != t->vdim && !lz_sz_is(a->stride[d], 0))
            bits = OR(bits, MUL(kern_size(c, a->stride[d]), em_c64(e, es)));
    for (uint32_t j = 0; j < a->ndyn; j++)
        bits = OR(bits, MUL(kern_size(c, a->dyn[j].stride), em_c64(e, es)));
    return AND(bits, em_c64(e, (size < WIDTH ? size : WIDTH) - 1));
}

Val simt_vectors_aligned(kern *c, uint32_t s)
{
    em *e = c->e;
    const kstage *t = &c->st[s];
    Val bits = em_c64(e, 0);
    for (uint32_t i = 0; i < t->s->nsop; i++) {
        const lz_sop *p = &t->s->sops[i];
        if (t->skip[i] || p->kind != LZ_S_LOAD)
            continue;
        const lz_access *a = &t->s->accs[p->a];
        if (lz_sz_is(a->stride[t->vdim], 1))
            bits = OR(bits, address_bits(c, t, (uint32_t)p->a, a));
    }
    for (uint32_t j = 0; j < t->s->nstore; j++)
        bits = OR(bits, address_bits(c, t, t->s->nacc + j, &t->s->stores[j].at));
    return ICMP(EQ, bits, em_c64(e, 0));
}
