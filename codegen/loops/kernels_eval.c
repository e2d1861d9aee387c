/* kernels_eval.c - scalar ops, loads and stores of a stage as LLVM IR, scalar or vector. A load
 * whose guard is false touches no memory: scalar code branches, vectors use masked loads and
 * gathers.
 * Threads: belongs to one thread. */
#include "codegen/loops/kern.h"

/* ---- memory form ---- */

unsigned kern_align(lz_dtype d)
{
    return (unsigned)lz_dtype_size(d == LZ_C128 ? LZ_F64 : d);
}

Ty kern_mem_type(em *e, lz_dtype d, unsigned n)
{
    if (d == LZ_C128)
        return em_vec(LLVMIntTypeInContext(e->cx, 128), n);
    return em_vec(d == LZ_C64 ? e->i64 : em_mem(e, d), n);
}

/* Real and imaginary parts are interleaved: loaded as a vector of twice the lanes, then shuffled
 * apart. */
static Ev c128_from_mem(em *e, Val m)
{
    unsigned n = em_lanes(m);
    int even[EM_LANES], odd[EM_LANES];
    Val v = BITS(m, em_vec(e->f64, 2 * n));
    if (n == 1)
        return (Ev){em_extract(e, v, 0), em_extract(e, v, 1)};
    for (unsigned i = 0; i < n; i++) {
        even[i] = (int)(2 * i);
        odd[i] = even[i] + 1;
    }
    return (Ev){em_shuffle(e, v, v, even, n), em_shuffle(e, v, v, odd, n)};
}

static Val c128_to_mem(em *e, Ev v)
{
    unsigned n = em_lanes(v.v);
    int both[2 * EM_LANES];
    for (unsigned i = 0; i < 2 * n; i++)
        both[i] = (int)(i / 2 + (i % 2 ? n : 0));
    if (n == 1) {
        Val pair = LLVMGetPoison(em_vec(e->f64, 2));
        pair = LLVMBuildInsertElement(e->b, pair, v.v, em_c32(e, 0), "");
        pair = LLVMBuildInsertElement(e->b, pair, v.im, em_c32(e, 1), "");
        return BITS(pair, kern_mem_type(e, LZ_C128, 1));
    }
    return BITS(em_shuffle(e, v.v, v.im, both, 2 * n), kern_mem_type(e, LZ_C128, n));
}

Ev kern_from_mem(em *e, lz_dtype d, Val m)
{
    if (d == LZ_C128)
        return c128_from_mem(e, m);
    if (d != LZ_C64)
        return (Ev){em_from_mem(e, d, m), NULL};
    Ty i32 = em_like(e, e->i32, m), f32 = em_like(e, e->f32, m);
    Val hi = LSHR(m, em_ci(LLVMTypeOf(m), 32));
    return (Ev){BITS(LLVMBuildTrunc(e->b, m, i32, ""), f32),
                BITS(LLVMBuildTrunc(e->b, hi, i32, ""), f32)};
}

Val kern_to_mem(em *e, lz_dtype d, Ev v)
{
    if (d == LZ_C128)
        return c128_to_mem(e, v);
    if (d != LZ_C64)
        return em_to_mem(e, d, v.v);
    Ty i32 = em_like(e, e->i32, v.v), i64 = em_like(e, e->i64, v.v);
    Val lo = LLVMBuildZExt(e->b, BITS(v.v, i32), i64, ""),
        hi = LLVMBuildZExt(e->b, BITS(v.im, i32), i64, "");
    return OR(lo, SHL(hi, em_ci(i64, 32)));
}

/* ---- sizes and addresses ---- */

void kern_enter(kern *c, Val bufs, Val args)
{
    em *e = c->e;
    c->bufs = bufs;
    c->args = args;
    for (uint32_t i = 0; i < c->k->narg; i++)
        c->size[i] = em_load(e, e->i64, em_at(e, args, em_c64(e, i), 8), 8);
    for (uint32_t i = 0; bufs && i < c->k->nbuf; i++)
        c->buf[i] = em_load(e, e->ptr, em_at(e, bufs, em_c64(e, i), 8), 8);
}

Val kern_size(kern *c, lz_sz s)
{
    return s.slot < 0 ? em_c64(c->e, s.v) : c->size[s.slot];
}

static const lz_access *access_of(const kstage *t, uint32_t i)
{
    return i < t->s->nacc ? &t->s->accs[i] : &t->s->stores[i - t->s->nacc].at;
}

static lz_dtype access_dtype(const kern *c, const lz_access *a)
{
    return c->k->buf[a->buf].dtype;
}

/* p + index * stride elements */
static Val advance(kern *c, Val p, Val index, lz_sz stride, unsigned esize)
{
    em *e = c->e;
    if (stride.slot < 0)
        return stride.v == 0 ? p : em_at(e, p, index, stride.v * (int64_t)esize);
    return em_at(e, p, MUL(index, kern_size(c, stride)), esize);
}

void kern_addresses(kern *c, uint32_t s, int pos)
{
    em *e = c->e;
    kstage *t = &c->st[s];
    uint32_t no = c->k->nouter;
    for (uint32_t i = 0; i < t->naccess; i++) {
        const lz_access *a = access_of(t, i);
        unsigned es = em_esize(access_dtype(c, a));
        Val p;
        if (pos == POS_TOP) {
            p = c->buf[a->buf];
            if (!lz_sz_is(a->offset, 0))
                p = em_at(e, p, kern_size(c, a->offset), es);
        } else if (pos == POS_ROW) {
            p = t->ptr[POS_TOP][i];
            for (uint32_t d = 0; d + 1 < no; d++)
                p = advance(c, p, c->oidx[d], a->stride[d], es);
        } else if (pos == POS_POINT) {
            p = t->ptr[POS_ROW][i];
            if (no)
                p = advance(c, p, c->oidx[no - 1], a->stride[no - 1], es);
        } else if (pos == POS_BODY) {
            p = t->ptr[POS_POINT][i];
        } else {
            uint32_t j = (uint32_t)(pos - POS_INNER);
            p = advance(c, t->ptr[pos - 1][i], c->iidx[j], a->stride[no + j], es);
        }
        t->ptr[pos][i] = p;
    }
}

void kern_advance(kern *c, uint32_t s, int from, int to, uint32_t loops)
{
    kstage *t = &c->st[s];
    uint32_t no = c->k->nouter;
    for (uint32_t i = 0; i < t->naccess; i++) {
        const lz_access *a = access_of(t, i);
        unsigned es = em_esize(access_dtype(c, a));
        Val p = t->ptr[from][i];
        for (uint32_t d = 0; d < no + t->s->ninner; d++)
            if (loops >> d & 1)
                p = advance(c, p, d < no ? c->oidx[d] : c->iidx[d - no], a->stride[d], es);
        t->ptr[to][i] = p;
    }
}

/* ---- one access ---- */

/* How an access of n lanes meets memory. */
typedef struct place {
    Val ptr;        /* of the first lane */
    Val ptrs;       /* of every lane, where they are not consecutive */
    Val mask;       /* lanes to touch, NULL: all */
    bool backwards; /* consecutive, the last lane first: so are ptr and mask */
} place;

static bool dyn_is_vector(const kstage *t, const lz_access *a)
{
    for (uint32_t i = 0; i < a->ndyn; i++)
        if (t->vec[a->dyn[i].sop])
            return true;
    return false;
}

static Val reversed(em *e, Val v)
{
    unsigned n = em_lanes(v);
    int idx[EM_LANES];
    for (unsigned i = 0; i < n; i++)
        idx[i] = (int)(n - 1 - i);
    return em_shuffle(e, v, v, idx, n);
}

static place locate(kern *c, uint32_t s, const lz_access *a, Val p, unsigned n, unsigned u,
                    Val tail)
{
    em *e = c->e;
    kstage *t = &c->st[s];
    unsigned es = em_esize(access_dtype(c, a));
    place at = {.ptr = p};
    for (uint32_t i = 0; i < a->ndyn; i++)
        if (!t->vec[a->dyn[i].sop])
            at.ptr = advance(c, at.ptr, kern_value(c, s, a->dyn[i].sop, 0).v, a->dyn[i].stride, es);
    if (n == 1) {
        at.mask = a->guard >= 0 ? kern_value(c, s, a->guard, u).v : NULL;
        return at;
    }
    at.mask = tail;
    if (a->guard >= 0) {
        Val g = kern_vector(c, s, a->guard, u).v;
        at.mask = tail ? AND(tail, g) : g;
    }
    lz_sz vs = a->stride[t->vdim];
    if (u && !lz_sz_is(vs, 0))
        at.ptr = advance(c, at.ptr, em_c64(e, (int64_t)u * n), vs, es);
    if (lz_sz_is(vs, 1) && !dyn_is_vector(t, a))
        return at;
    if (lz_sz_is(vs, -1) && !dyn_is_vector(t, a) && !e->simt) {
        at.backwards = true;
        at.ptr = em_at(e, at.ptr, em_c64(e, 1 - (int64_t)n), es);
        at.mask = at.mask ? reversed(e, at.mask) : NULL;
        return at;
    }
    Val off = MUL(em_iota(e, e->i64, n), em_splat(e, kern_size(c, vs), n));
    for (uint32_t i = 0; i < a->ndyn; i++)
        if (t->vec[a->dyn[i].sop])
            off = ADD(off, MUL(kern_vector(c, s, a->dyn[i].sop, u).v,
                               em_splat(e, kern_size(c, a->dyn[i].stride), n)));
    off = MUL(off, em_ci(LLVMTypeOf(off), es));
    at.ptrs = LLVMBuildGEP2(e->b, e->i8, at.ptr, &off, 1, "");
    return at;
}

static Ev zero_of(em *e, lz_dtype d, unsigned n)
{
    Val z = LLVMConstNull(em_type(e, d, n));
    return (Ev){z, lz_dtype_is_complex(d) ? z : NULL};
}

static Ev load_scalar(kern *c, uint32_t s, const lz_access *a, place at)
{
    em *e = c->e;
    lz_dtype d = access_dtype(c, a);
    Ty mt = kern_mem_type(e, d, 1);
    if (!at.mask)
        return kern_from_mem(e, d, em_load(e, mt, at.ptr, kern_align(d)));
    Val other =
            a->other >= 0 ? kern_to_mem(e, d, kern_value(c, s, a->other, 0)) : LLVMConstNull(mt),
        out;
    em_if f;
    em_if_begin(e, &f, at.mask);
    Val m = em_load(e, mt, at.ptr, kern_align(d));
    em_if_end(e, &f, 1, &m, &other, &out);
    return kern_from_mem(e, d, out);
}

/* Bytes that the address of a contiguous vector is a multiple of. */
static unsigned vector_align(const kern *c, lz_dtype d, unsigned n)
{
    unsigned whole = n * em_esize(d);
    return !c->aligned || n == 1 ? kern_align(d) : whole < 16 ? whole : 16;
}

/* A vector whose guard is the same for all lanes, without masks. */
static Ev load_guarded(kern *c, uint32_t s, const lz_access *a, place at, unsigned n)
{
    em *e = c->e;
    lz_dtype d = access_dtype(c, a);
    Ty mt = kern_mem_type(e, d, n);
    Val other =
            a->other >= 0 ? kern_to_mem(e, d, kern_vector(c, s, a->other, 0)) : LLVMConstNull(mt),
        out;
    em_if f;
    em_if_begin(e, &f, kern_value(c, s, a->guard, 0).v);
    Val m = em_load(e, mt, at.ptr, vector_align(c, d, n));
    em_if_end(e, &f, 1, &m, &other, &out);
    return kern_from_mem(e, d, out);
}

static Ev load_vector(kern *c, uint32_t s, const lz_access *a, place at, unsigned n, unsigned u)
{
    em *e = c->e;
    lz_dtype d = access_dtype(c, a);
    Ty mt = kern_mem_type(e, d, n);
    unsigned es = kern_align(d);
    Val m;
    if (e->simt && a->guard >= 0 && !at.ptrs && !c->st[s].vec[a->guard] &&
        (a->other < 0 || !c->st[s].vec[a->other]))
        return load_guarded(c, s, a, at, n);
    if (!at.ptrs && !at.mask)
        m = em_load(e, mt, at.ptr, vector_align(c, d, n));
    else if (!at.ptrs)
        m = em_mload(e, mt, at.ptr, at.mask, NULL, es);
    else
        m = em_gather(e, mt, at.ptrs, at.mask ? at.mask : em_true(e, n), NULL, es);
    Ev v = kern_from_mem(e, d, at.backwards ? reversed(e, m) : m);
    if (a->guard < 0)
        return v;
    Ev other = a->other >= 0 ? kern_vector(c, s, a->other, u) : zero_of(e, d, n);
    return lz_ev_select(e, kern_vector(c, s, a->guard, u).v, v, other);
}

static Ev load(kern *c, uint32_t s, uint32_t sop, unsigned u, Val tail)
{
    kstage *t = &c->st[s];
    uint32_t i = (uint32_t)t->s->sops[sop].a;
    const lz_access *a = &t->s->accs[i];
    unsigned n = t->vec[sop] ? c->lanes : 1;
    if (t->square[sop]) {
        lz_dtype d = access_dtype(c, a);
        Val row = em_at(c->e, t->square[sop], t->square_row, (int64_t)n * em_esize(d));
        return kern_from_mem(c->e, d, em_load(c->e, kern_mem_type(c->e, d, n), row, kern_align(d)));
    }
    place at = locate(c, s, a, t->ptr[t->pos[sop]][i], n, u, tail);
    return n == 1 ? load_scalar(c, s, a, at) : load_vector(c, s, a, at, n, u);
}

static void store(kern *c, Val m, const place *at, unsigned n, unsigned align)
{
    em *e = c->e;
    em_if f;
    if (at->backwards)
        m = reversed(e, m);
    if (n == 1 && at->mask)
        em_if_begin(e, &f, at->mask);
    if (at->ptrs)
        em_scatter(e, m, at->ptrs, at->mask ? at->mask : em_true(e, n), align);
    else if (n > 1 && at->mask)
        em_mstore(e, m, at->ptr, at->mask, align);
    else
        em_store(e, m, at->ptr, align);
    if (n == 1 && at->mask)
        em_if_end(e, &f, 0, NULL, NULL, NULL);
}

void kern_stores(kern *c, uint32_t s, const kctx *x)
{
    em *e = c->e;
    kstage *t = &c->st[s];
    unsigned n = t->vdim >= 0 ? c->lanes : 1;
    for (uint32_t j = 0; j < t->s->nstore; j++) {
        const lz_loop_store *w = &t->s->stores[j];
        lz_dtype d = access_dtype(c, &w->at);
        place at[KERN_U];
        Val m[KERN_U];
        for (unsigned u = 0; u < x->u; u++) {
            at[u] = locate(c, s, &w->at, t->ptr[t->last][t->s->nacc + j], n, u, x->mask[u]);
            m[u] = kern_to_mem(
                e, d, n == 1 ? kern_value(c, s, w->value, u) : kern_vector(c, s, w->value, u));
        }
        Val past = kern_nt_here(c, s, j, at[0].ptr, x);
        em_ifelse f;
        if (past) {
            em_ifelse_begin(e, &f, past);
            for (unsigned u = 0; u < x->u; u++)
                em_store_nt(e, m[u], at[u].ptr, (unsigned)e->t->machine.vector_bytes);
            em_ifelse_else(e, &f);
        }
        for (unsigned u = 0; u < x->u; u++)
            store(c, m[u], &at[u], n,
                  at[u].ptrs || at[u].mask ? kern_align(d) : vector_align(c, d, n));
        if (past)
            em_ifelse_end(e, &f, 0, NULL, NULL, NULL);
    }
}

/* ---- scalar ops ---- */

Ev kern_value(kern *c, uint32_t s, int32_t sop, unsigned u)
{
    kstage *t = &c->st[s];
    return t->val[sop][t->vec[sop] ? u : 0];
}

Ev kern_vector(kern *c, uint32_t s, int32_t sop, unsigned u)
{
    kstage *t = &c->st[s];
    if (t->vec[sop])
        return t->val[sop][u];
    return t->splat[sop].v ? t->splat[sop] : lz_ev_splat(c->e, t->val[sop][0], c->lanes);
}

static Ev index_value(kern *c, kstage *t, const lz_sop *p, unsigned n, unsigned u)
{
    em *e = c->e;
    uint32_t no = c->k->nouter;
    Val i = (uint32_t)p->a < no ? c->oidx[p->a] : c->iidx[(uint32_t)p->a - no];
    (void)t;
    if (n > 1) {
        i = em_splat(e, u ? ADD(i, em_c64(e, (int64_t)u * n)) : i, n);
        i = ADD(i, em_iota(e, e->i64, n));
    }
    return lz_emit_cast(e, p->dtype, LZ_I64, (Ev){i, NULL});
}

static Ev red_value(kern *c, const lz_sop *p, unsigned u)
{
    kstage *t = &c->st[p->a];
    uint32_t left = (uint32_t)p->b;
    lz_dtype d = LZ_F32;
    for (uint32_t r = 0; r < t->s->nred; r++) {
        if (left < t->s->reds[r].nacc) {
            d = t->s->reds[r].acc_dtype[left];
            break;
        }
        left -= t->s->reds[r].nacc;
    }
    return lz_emit_cast(c->e, p->dtype, d, t->red[p->b][u]);
}

static Ev ew_value(kern *c, uint32_t s, const lz_sop *p, bool vec, unsigned u)
{
    kstage *t = &c->st[s];
    int32_t o[3] = {p->a, p->b, p->c};
    int n = lz_op_get(p->op)->arity;
    lz_dtype in[3] = {0};
    Ev a[3] = {{0}};
    for (int j = 0; j < n && j < 3; j++) {
        in[j] = t->s->sops[o[j]].dtype;
        a[j] = vec ? kern_vector(c, s, o[j], u) : kern_value(c, s, o[j], u);
    }
    return lz_emit_ew(c->e, p->op, p->attr, p->dtype, in, a);
}

static Ev sop_value(kern *c, uint32_t s, uint32_t i, unsigned u, Val tail)
{
    em *e = c->e;
    kstage *t = &c->st[s];
    const lz_sop *p = &t->s->sops[i];
    unsigned n = t->vec[i] ? c->lanes : 1;
    switch (p->kind) {
    case LZ_S_CONST:
        return lz_ev_const(e, p->dtype, p->bits);
    case LZ_S_INDEX:
        return index_value(c, t, p, n, u);
    case LZ_S_SIZE:
        return lz_emit_cast(e, p->dtype, LZ_I64, (Ev){kern_size(c, p->size), NULL});
    case LZ_S_LOAD:
        return load(c, s, i, u, n > 1 ? tail : NULL);
    case LZ_S_RED:
        return red_value(c, p, u);
    case LZ_S_SORTED:
        return kern_sort_get(c, s, p);
    case LZ_S_PREFIX:
        return t->prefix[p->b][u];
    case LZ_S_ROW:
        return kern_row_get(c, s, p, u);
    case LZ_S_EW:
        return ew_value(c, s, p, t->vec[i], u);
    default:
        return (Ev){em_fail(e, em_type(e, p->dtype, n), "a combiner's value outside of a combiner"),
                    NULL};
    }
}

void kern_eval(kern *c, uint32_t s, int pos, const kctx *x)
{
    kern_eval_part(c, s, pos, x, 0, c->st[s].s->nsop);
}

void kern_eval_part(kern *c, uint32_t s, int pos, const kctx *x, uint32_t from, uint32_t to)
{
    kstage *t = &c->st[s];
    for (uint32_t i = from; i < to; i++) {
        if (t->pos[i] != pos || t->skip[i])
            continue;
        unsigned nu = t->vec[i] ? x->u : 1;
        for (unsigned u = 0; u < nu; u++)
            t->val[i][u] = sop_value(c, s, i, u, x->mask[u]);
        t->splat[i] = (Ev){NULL, NULL};
        if (t->wide[i])
            t->splat[i] = lz_ev_splat(c->e, t->val[i][0], c->lanes);
    }
}

void kern_top(kern *c, uint32_t first)
{
    kctx one = {.u = 1};
    for (uint32_t s = first; s < c->k->nstage; s++) {
        kern_addresses(c, s, POS_TOP);
        kern_eval(c, s, POS_TOP, &one);
    }
}
