/* kernels_plan.c - vectorization and code placement, decided before any code is emitted: which
 * loop becomes vectors, of how many lanes, and at which position every scalar op is (loop-invariant
 * code motion). A function of the canonical kernel, never of its run-time sizes.
 * Threads: thread-compatible. */
#include "codegen/loops/kern.h"
#include "lower/loops/loop_impl.h"
#include <string.h>

/* ---- lanes ---- */

static unsigned cost_size(lz_dtype d)
{
    return d == LZ_F16 || d == LZ_BF16 ? 4 : d == LZ_C128 ? 8 : (unsigned)lz_dtype_size(d);
}

/* An 8-bit float is made of, and becomes, a word. */
static bool converts_storage(const lz_stage *st, const lz_sop *p)
{
    return p->kind == LZ_S_EW &&
           lz_dtype_is_storage(p->dtype) !=
               lz_dtype_is_storage(st->sops[lz_sop_arity(p) == 3 ? p->b : p->a].dtype);
}

/* Lanes change places in a scan; bytes would have many to do so. */
enum { SCAN_LANES = 16 };

static bool scans(const kern *c)
{
    return c->k->nstage == 1 && c->st[0].scans;
}

/* Lanes by the elements the kernel moves: 16 for anything with 32-bit or 16-bit float data on
 * 64-byte vectors, 8 for pure 64-bit data, more for bytes. */
/* As many as there are points along the last outer loop, where these are fewer. */
static unsigned fitting(const lz_kernel *k, unsigned lanes)
{
    for (uint32_t s = 0; s < k->nstage; s++)
        if (k->stages[s].ninner || k->stages[s].nred || k->stages[s].sort)
            return lanes;
    lz_sz n = k->nouter ? k->outer[k->nouter - 1] : (lz_sz){0, -1};
    bool whole = n.slot < 0 && n.v > 1 && n.v < (int64_t)lanes && (n.v & (n.v - 1)) == 0;
    return whole ? (unsigned)n.v : lanes;
}

static unsigned choose_lanes(const kern *c)
{
    unsigned narrow = 8, widest = 1;
    for (uint32_t i = 0; i < c->k->nbuf; i++) {
        unsigned n = cost_size(c->k->buf[i].dtype);
        widest = n > widest ? n : widest;
        narrow = n < narrow ? n : narrow;
    }
    unsigned per = widest == 8 && narrow < 8 ? 4 : widest;
    for (uint32_t s = 0; s < c->k->nstage; s++)
        for (uint32_t i = 0; i < c->k->stages[s].nsop; i++) { /* bytes computed with as words */
            const lz_sop *p = &c->k->stages[s].sops[i];
            if (p->kind == LZ_S_EW && per < 4 &&
                (cost_size(p->dtype) >= 4 || converts_storage(&c->k->stages[s], p)))
                per = 4;
        }
    unsigned lanes = (unsigned)c->e->t->machine.vector_bytes / per;
    unsigned most = scans(c) ? SCAN_LANES : EM_LANES;
    lanes = lanes > most ? most : lanes;
    return c->e->fit ? fitting(c->k, lanes) : lanes;
}

/* ---- vectors over the last outer loop of a serial kernel: allowed when no lane can meet what
 * another one writes ---- */

/* Conditions aside. */
static bool same_place(const lz_access *a, const lz_access *b)
{
    if (a->buf != b->buf || !lz_sz_eq(a->offset, b->offset) || a->ndyn != b->ndyn)
        return false;
    for (int d = 0; d < LZ_LOOP_MAX; d++)
        if (!lz_sz_eq(a->stride[d], b->stride[d]))
            return false;
    for (uint32_t i = 0; i < a->ndyn; i++)
        if (a->dyn[i].sop != b->dyn[i].sop || !lz_sz_eq(a->dyn[i].stride, b->dyn[i].stride))
            return false;
    return true;
}

static bool lanes_apart(const lz_kernel *k, const uint32_t *dep, const lz_access *a)
{
    uint32_t v = k->nouter - 1;
    if (lz_sz_is(a->stride[v], 0) || a->stride[v].slot >= 0)
        return false;
    for (uint32_t i = 0; i < a->ndyn; i++)
        if (dep[a->dyn[i].sop] >> v & 1)
            return false;
    return true;
}

bool kern_lanes_apart(const lz_kernel *k)
{
    enum { MAX_SOPS = 1024 };
    uint32_t dep[MAX_SOPS];
    if (k->nstage != 1 || k->nouter == 0 || k->stages[0].nsop > MAX_SOPS)
        return false;
    const lz_stage *s = &k->stages[0];
    lz_stage_deps(k, s, dep);
    for (uint32_t j = 0; j < s->nstore; j++) {
        if (!lanes_apart(k, dep, &s->stores[j].at))
            return false;
        for (uint32_t i = 0; i < j; i++)
            if (s->stores[i].at.buf == s->stores[j].at.buf &&
                !same_place(&s->stores[i].at, &s->stores[j].at))
                return false;
        for (uint32_t i = 0; i < s->nacc; i++)
            if (s->accs[i].buf == s->stores[j].at.buf && !same_place(&s->accs[i], &s->stores[j].at))
                return false;
    }
    return true;
}

/* ---- dependences ---- */

static uint32_t access_dep(const kern *c, const kstage *t, const lz_access *a)
{
    uint32_t nloop = c->k->nouter + t->s->ninner, m = 0;
    for (uint32_t d = 0; d < nloop; d++)
        if (!lz_sz_is(a->stride[d], 0))
            m |= 1u << d;
    for (uint32_t i = 0; i < a->ndyn; i++)
        m |= t->dep[a->dyn[i].sop];
    if (a->guard >= 0)
        m |= t->dep[a->guard];
    if (a->other >= 0)
        m |= t->dep[a->other];
    return m;
}

static uint32_t sop_dep(const kern *c, const kstage *t, const lz_sop *p)
{
    uint32_t outer = (uint32_t)((UINT64_C(1) << c->k->nouter) - 1), m = 0;
    switch (p->kind) {
    case LZ_S_INDEX:
        return 1u << p->a;
    case LZ_S_LOAD:
        return access_dep(c, t, &t->s->accs[p->a]);
    case LZ_S_RED:
        return outer;
    case LZ_S_SORTED:
    case LZ_S_PREFIX:
        return outer | ((1u << t->s->ninner) - 1) << c->k->nouter;
    case LZ_S_ROW:
        return outer | 1u << (c->k->nouter + t->s->ninner - 1);
    case LZ_S_EW: {
        int32_t o[3] = {p->a, p->b, p->c};
        int n = lz_op_get(p->op)->arity;
        for (int i = 0; i < n && i < 3; i++)
            m |= t->dep[o[i]];
        return m;
    }
    default:
        return 0;
    }
}

static int pos_of_dep(const kern *c, uint32_t dep)
{
    int top = -1, no = (int)c->k->nouter;
    for (int d = 0; d < 32; d++)
        if (dep >> d & 1)
            top = d;
    if (top >= no)
        return POS_INNER + top - no;
    return top < 0 ? POS_TOP : top < no - 1 ? POS_ROW : POS_POINT;
}

/* ---- a stage ---- */

static void *take(kern *c, size_t n, size_t size)
{
    size_t bytes;
    return lz_mul_size(n ? n : 1, size, &bytes) ? lz_arena_alloc(&c->arena, bytes) : NULL;
}

static bool allocate(kern *c, kstage *t)
{
    size_t n = t->s->nsop;
    t->naccess = t->s->nacc + t->s->nstore;
    for (uint32_t r = 0; r < t->s->nred; r++)
        t->nacc += t->s->reds[r].nacc;
    bool ok = (t->dep = take(c, n, sizeof *t->dep)) && (t->pos = take(c, n, 1)) &&
              (t->vec = take(c, n, sizeof(bool))) && (t->wide = take(c, n, sizeof(bool))) &&
              (t->skip = take(c, n, sizeof(bool))) && (t->uses = take(c, n, sizeof *t->uses)) &&
              (t->val = take(c, n, sizeof *t->val)) && (t->splat = take(c, n, sizeof *t->splat)) &&
              (t->square = take(c, n, sizeof *t->square)) &&
              (t->stream = take(c, t->s->nstore, sizeof *t->stream)) &&
              (t->red = take(c, t->nacc, sizeof *t->red)) &&
              (t->prefix = take(c, t->nacc, sizeof *t->prefix));
    for (uint32_t p = 0; p < POS_INNER + t->s->ninner && ok; p++)
        ok = (t->ptr[p] = take(c, t->naccess, sizeof(Val))) != NULL;
    return ok;
}

/* Marks what the initial values of reductions need: it is evaluated before the emptiness of the
 * inner loops is known. */
static void mark_init(const kstage *t, bool *early)
{
    for (uint32_t r = 0; r < t->s->nred; r++)
        for (uint32_t k = 0; k < t->s->reds[r].nacc; k++)
            kern_needs(t->s, t->s->reds[r].init[k], early);
}

void kern_needs(const lz_stage *s, int32_t sop, bool *marks)
{
    marks[sop] = true;
    for (uint32_t i = s->nsop; i-- > 0;) {
        const lz_sop *p = &s->sops[i];
        if (!marks[i])
            continue;
        if (p->kind == LZ_S_EW) {
            int32_t o[3] = {p->a, p->b, p->c};
            for (int j = 0; j < lz_op_get(p->op)->arity && j < 3; j++)
                marks[o[j]] = true;
        } else if (p->kind == LZ_S_LOAD) {
            const lz_access *a = &s->accs[p->a];
            for (uint32_t j = 0; j < a->ndyn; j++)
                marks[a->dyn[j].sop] = true;
            if (a->guard >= 0)
                marks[a->guard] = true;
            if (a->other >= 0)
                marks[a->other] = true;
        }
    }
}

bool kern_loads_along(const lz_stage *s, const bool *skip, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < s->nsop; i++) {
        const lz_sop *p = &s->sops[i];
        if (skip[i] || p->kind != LZ_S_LOAD)
            continue;
        const lz_sz *stride = s->accs[p->a].stride;
        if (lz_sz_is(stride[a], 1) && !lz_sz_is(stride[b], 1))
            return true;
    }
    return false;
}

static int max_int(int a, int b)
{
    return a > b ? a : b;
}

static void place_sops(kern *c, kstage *t, const bool *early)
{
    for (uint32_t i = 0; i < t->s->nsop; i++) {
        const lz_sop *p = &t->s->sops[i];
        int pos = pos_of_dep(c, t->dep[i]);
        if (p->kind == LZ_S_RED)
            pos = POS_POINT;
        if (p->kind == LZ_S_SORTED || p->kind == LZ_S_PREFIX)
            pos = t->last;
        if (p->kind == LZ_S_EW) {
            int32_t o[3] = {p->a, p->b, p->c};
            for (int j = 0; j < lz_op_get(p->op)->arity && j < 3; j++)
                pos = max_int(pos, t->pos[o[j]]);
        }
        if (p->kind == LZ_S_LOAD) {
            const lz_access *a = &t->s->accs[p->a];
            for (uint32_t j = 0; j < a->ndyn; j++)
                pos = max_int(pos, t->pos[a->dyn[j].sop]);
            if (a->guard >= 0)
                pos = max_int(pos, t->pos[a->guard]);
            if (a->other >= 0)
                pos = max_int(pos, t->pos[a->other]);
            if (t->maybe_empty && !early[i])
                pos = max_int(pos, POS_BODY);
            if (c->written >> a->buf & 1) /* what was stored before must be seen */
                pos = early[i] ? POS_POINT : t->last;
        }
        t->pos[i] = (uint8_t)pos;
    }
}

static void mark_vectors(const kern *c, kstage *t)
{
    for (uint32_t i = 0; i < t->s->nsop; i++) {
        t->vec[i] = c->lanes > 1 && t->vdim >= 0 && (t->dep[i] >> t->vdim & 1);
        t->wide[i] = t->skip[i] = false;
        t->uses[i] = 0;
    }
    for (uint32_t i = 0; i < t->s->nsop; i++) {
        const lz_sop *p = &t->s->sops[i];
        int32_t o[4] = {-1, -1, -1, -1};
        if (p->kind == LZ_S_EW)
            for (int j = 0; j < lz_op_get(p->op)->arity && j < 3; j++)
                o[j] = j == 0 ? p->a : j == 1 ? p->b : p->c;
        else if (p->kind == LZ_S_LOAD)
            o[0] = t->s->accs[p->a].guard, o[1] = t->s->accs[p->a].other;
        for (int j = 0; j < 4; j++) {
            if (o[j] < 0)
                continue;
            t->uses[o[j]]++;
            if (t->vec[i] && !t->vec[o[j]])
                t->wide[o[j]] = true;
        }
        if (p->kind == LZ_S_LOAD)
            for (uint32_t j = 0; j < t->s->accs[p->a].ndyn; j++)
                t->uses[t->s->accs[p->a].dyn[j].sop]++;
    }
    for (uint32_t r = 0; r < t->s->nred; r++)
        for (uint32_t k = 0; k < t->s->reds[r].nacc; k++) {
            int32_t o[2] = {t->s->reds[r].value[k], t->s->reds[r].init[k]};
            for (int j = 0; j < 2; j++) {
                t->uses[o[j]]++;
                t->wide[o[j]] |= c->lanes > 1 && t->vdim >= 0 && !t->vec[o[j]];
            }
        }
    for (uint32_t j = 0; j < t->s->nrow; j++) {
        t->uses[t->s->row[j]]++;
        t->wide[t->s->row[j]] |= c->lanes > 1 && !t->vec[t->s->row[j]];
    }
    for (uint32_t j = 0; j < t->s->nstore; j++) {
        const lz_loop_store *w = &t->s->stores[j];
        t->uses[w->value]++;
        t->wide[w->value] |= c->lanes > 1 && t->vdim >= 0 && !t->vec[w->value];
        if (w->at.guard >= 0)
            t->uses[w->at.guard]++;
        for (uint32_t i = 0; i < w->at.ndyn; i++)
            t->uses[w->at.dyn[i].sop]++;
    }
}

/* A sum of products of f32 or f64 accumulates by fused multiply-add: the product itself is not
 * emitted. */
static void mark_products(kstage *t)
{
    for (uint32_t r = 0; r < t->s->nred; r++) {
        const lz_red *q = &t->s->reds[r];
        if (q->comb != LZ_OP_ADD || q->nacc != 1)
            continue;
        const lz_sop *p = &t->s->sops[q->value[0]];
        bool wide = p->dtype == LZ_F32 || p->dtype == LZ_F64;
        if (p->kind == LZ_S_EW && p->op == LZ_OP_MULTIPLY && wide && p->dtype == q->acc_dtype[0] &&
            t->uses[q->value[0]] == 1) {
            t->skip[q->value[0]] = true;
            bool vec = t->vec[q->value[0]];
            t->wide[p->a] |= vec && !t->vec[p->a];
            t->wide[p->b] |= vec && !t->vec[p->b];
        }
    }
}

/* A product without tiles: vectors along k where all of it is contiguous there. */
static lz_vec product_vectors(const lz_kernel *k)
{
    const lz_stage *s = &k->stages[0];
    uint32_t kd = k->nouter + s->ninner - 1;
    if (s->ninner == 0)
        return k->vec;
    for (uint32_t i = 0; i < s->nacc; i++)
        if (!lz_sz_is(s->accs[i].stride[kd], 0) && !lz_sz_is(s->accs[i].stride[kd], 1))
            return LZ_VEC_OUTER;
    return LZ_VEC_INNER;
}

static lz_status plan_stage(kern *c, uint32_t s)
{
    kstage *t = &c->st[s];
    t->s = &c->k->stages[s];
    t->scans = lz_stage_scans(t->s);
    t->last = t->s->ninner ? (int)(POS_INNER + t->s->ninner - 1) : POS_BODY;
    for (uint32_t d = 0; d < t->s->ninner; d++)
        t->maybe_empty |= t->s->extent[d].slot >= 0 || t->s->extent[d].v <= 0;
    if (!allocate(c, t))
        return LZ_FAIL(LZ_EMEM, "code generation of '%s': no memory for stage %u", c->k->name, s);
    if (t->s->sort)
        LZ_TRY(kern_sort_plan(c, s));
    for (uint32_t i = 0; i < t->s->nsop; i++)
        t->dep[i] = sop_dep(c, t, &t->s->sops[i]);
    bool *early = take(c, t->s->nsop, sizeof(bool));
    if (!early)
        return LZ_FAIL(LZ_EMEM, "code generation of '%s': no memory for stage %u", c->k->name, s);
    mark_init(t, early);
    place_sops(c, t, early);
    return LZ_OK;
}

static void plan_vectors(kern *c)
{
    for (uint32_t s = 0; s < c->k->nstage; s++) {
        kstage *t = &c->st[s];
        t->vdim = -1;
        if (c->vec == LZ_VEC_OUTER)
            t->vdim = (int)c->k->nouter - 1;
        else if (c->vec == LZ_VEC_INNER && t->s->ninner)
            t->vdim = (int)(c->k->nouter + t->s->ninner) - 1;
        mark_vectors(c, t);
        if (!t->scans)
            mark_products(t);
    }
}

lz_status kern_init(kern *c, em *e, const lz_kernel *k)
{
    memset(c, 0, sizeof *c);
    c->e = e;
    c->k = k;
    for (uint32_t s = 0; s < k->nstage; s++)
        for (uint32_t j = 0; j < k->stages[s].nstore; j++)
            c->written |= UINT64_C(1) << k->stages[s].stores[j].at.buf;
    c->st = take(c, k->nstage, sizeof *c->st);
    c->size = take(c, k->narg, sizeof *c->size);
    if (!c->st || !c->size)
        return LZ_FAIL(LZ_EMEM, "code generation of '%s': no memory for %u stages", k->name,
                       k->nstage);
    for (uint32_t s = 0; s < k->nstage; s++)
        LZ_TRY(plan_stage(c, s));
    c->vec = lz_kernel_is_dot(k) ? product_vectors(k) : k->vec;
    if (c->vec == LZ_VEC_OUTER && (k->nouter == 0 || (k->serial && !kern_lanes_apart(k))))
        c->vec = LZ_VEC_NONE;
    if (!em_may(e, LZ_VARIANT_vectors))
        c->vec = LZ_VEC_NONE;
    c->lanes = c->vec == LZ_VEC_NONE ? 1 : choose_lanes(c);
    plan_vectors(c);
    return LZ_OK;
}

/* Stage 0 for evaluating one of its ops anywhere: what depends on no index at TOP, the rest at
 * POINT; nothing but what the op needs. */
static void flatten_stage(kstage *t, int32_t target)
{
    for (uint32_t i = 0; i < t->s->nsop; i++) {
        t->pos[i] = t->dep[i] ? POS_POINT : POS_TOP;
        t->skip[i] = (int32_t)i != target;
        t->wide[i] = false;
    }
    for (uint32_t i = t->s->nsop; i-- > 0;) {
        const lz_sop *p = &t->s->sops[i];
        if (t->skip[i])
            continue;
        if (p->kind == LZ_S_EW) {
            int32_t o[3] = {p->a, p->b, p->c};
            for (int j = 0; j < lz_op_get(p->op)->arity && j < 3; j++)
                t->skip[o[j]] = false;
        } else if (p->kind == LZ_S_LOAD) {
            const lz_access *a = &t->s->accs[p->a];
            for (uint32_t j = 0; j < a->ndyn; j++)
                t->skip[a->dyn[j].sop] = false;
            if (a->guard >= 0)
                t->skip[a->guard] = false;
            if (a->other >= 0)
                t->skip[a->other] = false;
        }
    }
}

lz_status kern_init_factor(kern *c, em *e, const lz_kernel *k, unsigned lanes, uint32_t vdim,
                           int32_t target)
{
    LZ_TRY(kern_init(c, e, k));
    c->vec = vdim < k->nouter ? LZ_VEC_OUTER : LZ_VEC_INNER;
    c->lanes = lanes;
    kstage *t = &c->st[0];
    t->vdim = (int)vdim;
    for (uint32_t i = 0; i < t->s->nsop; i++)
        t->vec[i] = lanes > 1 && (t->dep[i] >> vdim & 1);
    flatten_stage(t, target);
    return LZ_OK;
}

/* Vectors as they are asked for, whatever would suit. */
static lz_status init_as(kern *c, em *e, const lz_kernel *k, lz_vec vec, unsigned lanes)
{
    LZ_TRY(kern_init(c, e, k));
    c->vec = vec;
    c->lanes = lanes;
    plan_vectors(c);
    return LZ_OK;
}

lz_status kern_init_epilogue(kern *c, em *e, const lz_kernel *k, unsigned lanes)
{
    return init_as(c, e, k, LZ_VEC_OUTER, lanes);
}

lz_status kern_init_scalar(kern *c, em *e, const lz_kernel *k)
{
    return init_as(c, e, k, LZ_VEC_NONE, 1);
}

lz_status kern_init_rows(kern *c, em *e, const lz_kernel *k, unsigned lanes)
{
    return init_as(c, e, k, LZ_VEC_INNER, lanes);
}

void kern_share(kern *c, const kern *from)
{
    memcpy(c->buf, from->buf, sizeof c->buf);
    memcpy(c->size, from->size, c->k->narg * sizeof *c->size);
}

void kern_done(kern *c)
{
    lz_arena_free(&c->arena);
}
