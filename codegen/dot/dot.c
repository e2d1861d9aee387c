/* dot.c - a matrix product: which form, tile and blocks. See dot.h.
 * Threads: belongs to one thread. */
#include "codegen/dot/dot.h"
#include "lower/loops/loop_impl.h"
#include <string.h>

/* ---- which form ---- */

static bool dtype_ok(lz_dtype d)
{
    return d == LZ_F32 || d == LZ_F64 || d == LZ_I32 || d == LZ_U32 || d == LZ_I64 || d == LZ_U64;
}

static bool form_ok(const lz_kernel *k)
{
    if (!lz_kernel_is_dot(k) || k->nouter < 2 || lz_kernel_dot(k)->m != k->nouter - 2 ||
        lz_kernel_dot(k)->n != k->nouter - 1 || k->serial)
        return false;
    const lz_stage *s = &k->stages[0];
    if (k->nstage < 2 || s->ninner < 1 || s->nred != 1 || s->reds[0].nacc != 1 || s->nstore ||
        !dtype_ok(s->reds[0].acc_dtype[0]))
        return false;
    lz_dtype d = s->reds[0].acc_dtype[0];
    return lz_sums_from_zero(s) && s->sops[lz_kernel_dot(k)->a_sop].dtype == d &&
           s->sops[lz_kernel_dot(k)->b_sop].dtype == d;
}

/* Loads below an op whose address goes with loop d: any with stride 1, any at all. */
static void strides_of(const kern *c, uint32_t d, bool *unit, bool *any)
{
    const kstage *t = &c->st[0];
    *unit = *any = false;
    for (uint32_t i = 0; i < t->s->nsop; i++) {
        const lz_sop *p = &t->s->sops[i];
        if (t->skip[i] || p->kind != LZ_S_LOAD)
            continue;
        *any |= !lz_sz_is(t->s->accs[p->a].stride[d], 0);
        *unit |= lz_sz_is(t->s->accs[p->a].stride[d], 1);
    }
}

const lz_access *kern_plain_access(const lz_kernel *k, int32_t sop)
{
    const lz_stage *s = &k->stages[0];
    const lz_sop *p = &s->sops[sop];
    if (p->kind != LZ_S_LOAD || s->accs[p->a].ndyn || s->accs[p->a].guard >= 0)
        return NULL;
    return &s->accs[p->a];
}

bool dot_plain_along(const dot *g, int32_t sop, uint32_t d)
{
    const lz_access *a = kern_plain_access(g->k, sop);
    return a && lz_sz_is(a->stride[d], 1);
}

const lz_access *dot_access(const dot *g, int32_t sop)
{
    const lz_stage *s = &g->k->stages[0];
    return &s->accs[s->sops[sop].a];
}

lz_status dot_choose_vectors(dot *g, kern *f, int32_t sop, uint32_t first, uint32_t second,
                             bool *took_first)
{
    LZ_TRY(kern_init_factor(f, g->e, g->k, g->L, first, sop));
    bool unit1, unit2, any;
    strides_of(f, first, &unit1, &any);
    strides_of(f, second, &unit2, &any);
    *took_first = unit1 || !unit2;
    if (*took_first)
        return LZ_OK;
    kern_done(f);
    return kern_init_factor(f, g->e, g->k, g->L, second, sop);
}

static int64_t baked(lz_sz s)
{
    return s.slot < 0 ? s.v : -1;
}

static unsigned clamp(unsigned v, unsigned lo, unsigned hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

/* A tile of few registers has more steps in a round, since each multiplies less. Lines of a panel:
 * wherever it begins. */
static void choose_rounds(dot *g)
{
    enum { LINE = 64 };
    unsigned lines = (g->nv * (unsigned)g->e->t->machine.vector_bytes + LINE - 1) / LINE + 1;
    g->log_steps = g->e->many ? 2 : 3;
    for (g->log_lines = 0; 1u << g->log_lines < lines;)
        g->log_lines++;
}

/* Registers: mr * nv accumulators, nv vectors of B and one of A. */
void dot_choose_tile(dot *g)
{
    bool many = g->e->many;
    unsigned regs = many ? 24 : 12;
    int64_t m = baked(g->k->outer[g->m]), n = baked(g->k->outer[g->n]);
    g->mr = many ? 8 : 6;
    if (m >= 0) { /* few rows: divided equally, wider panels */
        int64_t tiles = (m + g->mr - 1) / g->mr;
        g->mr = tiles ? (unsigned)((m + tiles - 1) / tiles) : 1;
    }
    g->nv = clamp(regs / g->mr, many ? 3 : 2, many ? DOT_NV : 4);
    g->nv_small = many && g->nv == 3 ? 2 : g->nv / 2;
    if (n >= 0) {
        int64_t v = (n + g->L - 1) / g->L;
        if (v <= (int64_t)g->nv)
            g->nv = g->nv_small = v > 0 ? (unsigned)v : 1;
    }
    choose_rounds(g);
}

int64_t dot_few_rows(const dot *g)
{
    return 2 * (int64_t)g->mr;
}

/* Vectors of columns in a block: more do not pay, unless each block packs the rows of A again. */
static int64_t most_vectors(const dot *g, int64_t fit)
{
    int64_t most = dot_most_vectors(g->e);
    return fit >= 2 * most && g->amode == DOT_A_COLS ? 2 * most : most;
}

int64_t dot_most_vectors(const em *e)
{
    enum { MOST_BYTES = 960 };
    return MOST_BYTES / e->t->machine.vector_bytes;
}

/* A block of B fills half of the L2 cache, a run of the rows of A the L1. With few registers panels
 * are so narrow that a run of one has its place there, too. */
static void choose_blocks(dot *g)
{
    enum { A_BYTES = 512 }; /* of a k of the rows of a unit: B is packed again for each */
    int64_t es = g->es;
    g->kc = (g->e->many && g->e->t->machine.l1_bytes >= 32768 ? 2048 : 1024) / es;
    int64_t vecs = g->e->t->machine.l2_bytes / 2 / (g->kc * es * g->L), nv = g->nv;
    vecs = vecs > most_vectors(g, vecs) ? most_vectors(g, vecs) : vecs;
    g->nc = vecs < nv ? nv : vecs / nv * nv;
    g->mc = 192 / g->mr;
    if (g->amode == DOT_A_COLS)
        g->mc = A_BYTES / es / g->mr;
    int64_t m = baked(g->k->outer[g->m]);
    g->stream = g->b_place && m >= 0 && m <= dot_few_rows(g);
}

bool dot_stores_sums(const lz_kernel *k)
{
    const lz_stage *s = &k->stages[1];
    if (k->nstage != 2 || s->ninner || s->nsop != 1 || s->sops[0].kind != LZ_S_RED ||
        s->nstore != 1)
        return false;
    const lz_access *a = &s->stores[0].at;
    return a->ndyn == 0 && a->guard < 0 && lz_sz_is(a->stride[lz_kernel_dot(k)->n], 1) &&
           k->buf[a->buf].dtype == k->stages[0].reds[0].acc_dtype[0];
}

/* The type that a factor is converted from, where it is a plain load that is contiguous along one
 * of its loops; else that of the sums. */
static lz_dtype narrow_type(const dot *g, int32_t sop, uint32_t other)
{
    const lz_stage *s = &g->k->stages[0];
    int32_t from = lz_converted_from(s, sop);
    bool lies = dot_plain_along(g, from, g->kd) || dot_plain_along(g, from, other);
    return lies && s->sops[sop].dtype == g->d ? s->sops[from].dtype : g->d;
}

/* Whether several k go into one instruction, and how many. */
static void choose_words(dot *g)
{
    em *e = g->e;
    lz_dtype a = narrow_type(g, lz_kernel_dot(g->k)->a_sop, g->m),
             b = narrow_type(g, lz_kernel_dot(g->k)->b_sop, g->n);
    bool bytes = (a == LZ_I8 || a == LZ_U8) && (b == LZ_I8 || b == LZ_U8);
    if (e->bf16 && em_may(e, LZ_VARIANT_pairs) && g->d == LZ_F32 && a == LZ_BF16 && b == LZ_BF16)
        g->words = 1;
    if (e->vnni && em_may(e, LZ_VARIANT_quads) && g->d == LZ_I32 && bytes)
        g->words = 2;
    g->a_signed = a == LZ_I8;
    g->alike = g->words == 2 && a == b;
}

static lz_status plan(dot *g)
{
    LZ_TRY(kern_init_epilogue(&g->c, g->e, g->k, g->L));
    bool n_first, k_first;
    LZ_TRY(dot_choose_vectors(g, &g->b, lz_kernel_dot(g->k)->b_sop, g->n, g->kd, &n_first));
    g->bmode = n_first ? DOT_B_ROWS : DOT_B_COLS;
    LZ_TRY(dot_choose_vectors(g, &g->a, lz_kernel_dot(g->k)->a_sop, g->kd, g->m, &k_first));
    g->amode = k_first ? DOT_A_ROWS : DOT_A_COLS;
    if (k_first && dot_plain_along(g, lz_kernel_dot(g->k)->a_sop, g->kd))
        g->amode = DOT_A_PLACE;
    int64_t n = baked(g->k->outer[g->n]);
    g->whole = n >= 0 && n % g->L == 0;
    g->b_place = (g->e->masks || g->whole) && n_first &&
                 dot_plain_along(g, lz_kernel_dot(g->k)->b_sop, g->n);
    g->plain = dot_stores_sums(g->k);
    choose_words(g);
    dot_choose_tile(g);
    choose_blocks(g);
    return LZ_OK;
}

/* ---- products with a vector ---- */

static bool unit_in_k(const lz_kernel *k, int32_t sop)
{
    const lz_stage *s = &k->stages[0];
    const lz_sop *p = &s->sops[lz_converted_from(s, sop)];
    uint32_t kd = k->nouter + s->ninner - 1;
    return p->kind == LZ_S_LOAD &&
           (lz_sz_is(s->accs[p->a].stride[kd], 1) || lz_sz_is(s->accs[p->a].stride[kd], 0));
}

/* One row or column of results whose matrix is contiguous along k: sums along k, no tiles. */
static bool is_row_dots(const lz_kernel *k)
{
    bool vector =
        lz_sz_is(k->outer[lz_kernel_dot(k)->m], 1) || lz_sz_is(k->outer[lz_kernel_dot(k)->n], 1);
    return vector && unit_in_k(k, lz_kernel_dot(k)->a_sop) && unit_in_k(k, lz_kernel_dot(k)->b_sop);
}

/* One row of results whose matrix lies in rows of them: down its columns, nothing is used twice. */
static bool is_columns(const lz_kernel *k)
{
    const lz_stage *s = &k->stages[0];
    const lz_sop *p = &s->sops[lz_converted_from(s, lz_kernel_dot(k)->b_sop)];
    return lz_sz_is(k->outer[lz_kernel_dot(k)->m], 1) &&
           !lz_sz_is(k->outer[lz_kernel_dot(k)->n], 1) && lz_kernel_dot(k)->n + 1 == k->nouter &&
           p->kind == LZ_S_LOAD && lz_sz_is(s->accs[p->a].stride[lz_kernel_dot(k)->n], 1);
}

static void swap_sz(lz_sz *a, lz_sz *b)
{
    lz_sz t = *a;
    *a = *b;
    *b = t;
}

/* The same product with the roles of m and n exchanged. NULL without memory. */
static lz_kernel *transposed(const lz_kernel *k, lz_arena *mem)
{
    uint32_t m = lz_kernel_dot(k)->m, n = lz_kernel_dot(k)->n;
    lz_kernel *t = lz_arena_copy(mem, k, sizeof *k);
    if (!t || !(t->stages = lz_arena_copy(mem, k->stages, k->nstage * sizeof *k->stages)))
        return NULL;
    swap_sz(&t->outer[m], &t->outer[n]);
    t->stages[0].dot.a_sop = lz_kernel_dot(k)->b_sop;
    t->stages[0].dot.b_sop = lz_kernel_dot(k)->a_sop;
    for (uint32_t i = 0; i < t->nstage; i++) {
        lz_stage *s = &t->stages[i];
        s->sops = lz_arena_copy(mem, s->sops, s->nsop * sizeof *s->sops);
        s->accs = lz_arena_copy(mem, s->accs, s->nacc * sizeof *s->accs);
        s->stores = lz_arena_copy(mem, s->stores, s->nstore * sizeof *s->stores);
        if (!s->sops || !s->accs || !s->stores)
            return NULL;
        for (uint32_t j = 0; j < s->nsop; j++)
            if (s->sops[j].kind == LZ_S_INDEX &&
                ((uint32_t)s->sops[j].a == m || (uint32_t)s->sops[j].a == n))
                s->sops[j].a = (int32_t)(m + n) - s->sops[j].a;
        for (uint32_t j = 0; j < s->nacc; j++) {
            swap_sz(&s->accs[j].stride[m], &s->accs[j].stride[n]);
            s->accs[j].nborder = 0; /* of no use to this form */
        }
        for (uint32_t j = 0; j < s->nstore; j++)
            swap_sz(&s->stores[j].at.stride[m], &s->stores[j].at.stride[n]);
    }
    return t;
}

static lz_status emit_dot(em *e, const lz_kernel *k)
{
    dot g;
    memset(&g, 0, sizeof g);
    g.e = e;
    g.k = k;
    g.d = k->stages[0].reds[0].acc_dtype[0];
    g.es = kern_esize(g.d);
    g.L = (unsigned)e->t->machine.vector_bytes / g.es;
    g.m = lz_kernel_dot(k)->m;
    g.n = lz_kernel_dot(k)->n;
    g.ki = k->stages[0].ninner - 1;
    g.kd = k->nouter + g.ki;
    g.elem = em_type(e, g.d, 1);
    g.vec = em_type(e, g.d, g.L);
    lz_status s = plan(&g);
    if (s == LZ_OK) {
        dot_emit_micro(&g);
        dot_emit_sizes(&g);
        dot_emit_run(&g);
        s = e->status;
    }
    kern_done(&g.a);
    kern_done(&g.b);
    kern_done(&g.c);
    return s;
}

bool kern_dot_form(const lz_kernel *k)
{
    return form_ok(k) && !is_row_dots(k);
}

lz_status lz_kern_dot(em *e, const lz_kernel *k, bool *done)
{
    *done = false;
    bool always = em_always(e, LZ_VARIANT_products);
    if (!em_may(e, LZ_VARIANT_products) || !kern_dot_form(k) || (is_columns(k) && !always))
        return LZ_OK;
    *done = true;
    if (dot_is_flat(e, k))
        return dot_emit_flat(e, k);
    if (dot_is_lanes(e, k))
        return dot_emit_lanes(e, k);
    if (!lz_sz_is(k->outer[lz_kernel_dot(k)->n], 1) || lz_sz_is(k->outer[lz_kernel_dot(k)->m], 1))
        return emit_dot(e, k);
    lz_arena mem = {0}; /* a column of results: as a row */
    lz_kernel *t = transposed(k, &mem);
    lz_status s =
        t ? emit_dot(e, t) : LZ_FAIL(LZ_EMEM, "code generation of '%s': no memory", k->name);
    lz_arena_free(&mem);
    return s;
}
