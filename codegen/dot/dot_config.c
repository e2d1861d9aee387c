/* dot_config.c - GEMM: the shape of the register tile, and how items are divided into blocks. See
 * dot.h.
 * Threads: belongs to one thread. */
#include "codegen/dot/dot.h"
#include "lower/loops/loop_impl.h"

enum {
    SHARERS = 4,    /* threads that are to have the same, */
    MANY_UNITS = 16 /* where one unit more is much */
};

/* ---- which kernels ---- */

/* GEMV with a row-major matrix, down its columns: nothing is used twice. */
static bool is_columns(const lz_kernel *k)
{
    const lz_stage *s = &k->stages[0];
    const lz_sop *p = &s->sops[lz_converted_from(s, lz_kernel_dot(k)->b_sop)];
    return lz_sz_is(k->outer[lz_kernel_dot(k)->m], 1) &&
           !lz_sz_is(k->outer[lz_kernel_dot(k)->n], 1) && lz_kernel_dot(k)->n + 1 == k->nouter &&
           p->kind == LZ_S_LOAD && lz_sz_is(s->accs[p->a].stride[lz_kernel_dot(k)->n], 1);
}

bool dot_suits(const lz_kernel *k, const lz_target *t)
{
    return lz_variant_may(t, LZ_VARIANT_dot) && kern_dot_form(k) &&
           (lz_variant_always(t, LZ_VARIANT_dot) || !is_columns(k));
}

/* ---- what all schedules have ---- */

void dot_common_init(dot_common *g, em *e, const lz_kernel *k)
{
    g->e = e;
    g->k = k;
    g->d = k->stages[0].reds[0].acc_dtype[0];
    g->es = em_esize(g->d);
    g->L = (unsigned)e->t->machine.vector_bytes / g->es;
    g->n = lz_kernel_dot(k)->n;
    g->elem = em_type(e, g->d, 1);
    g->vec = em_type(e, g->d, g->L);
}

Val dot_sizes_begin(dot_common *g)
{
    em *e = g->e;
    Val f = em_func(e, "size", e->i64, (Ty[]){e->ptr, e->i64}, 2, false);
    em_func_rare(e);
    kern_enter(&g->c, NULL, LLVMGetParam(f, 0));
    return f;
}

void dot_emit_sizes(dot_common *g, Val f, em_numbers *numbers, Val *grid, Val *scratch)
{
    em *e = g->e;
    LLVMBuildRet(e->b, em_numbers_at(e, numbers, LLVMGetParam(f, 1)));
    em_numbers_size(e, numbers, f, "lz_grid", grid);
    em_numbers_size(e, numbers, f, "lz_scratch", scratch);
}

/* ---- the register tile ---- */

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

int64_t dot_few_rows(const dot *g)
{
    return 2 * (int64_t)g->mr;
}

int64_t dot_most_vectors(const em *e)
{
    enum { MOST_BYTES = 960 };
    return MOST_BYTES / e->t->machine.vector_bytes;
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

int64_t dot_baked(lz_sz s)
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
    int64_t m = dot_baked(g->k->outer[g->m]), n = dot_baked(g->k->outer[g->n]);
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

lz_status dot_choose_vectors(dot_common *g, kern *f, int32_t sop, uint32_t first, uint32_t second,
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

/* ---- blocks ---- */

int64_t dot_a_stride(const dot *g)
{
    if (g->amode == DOT_A_COLS)
        return (int64_t)(dot_a_vectors(g) * g->L + 16) * g->es;
    return (g->kc + 16) * g->es; /* rows of a power of two would share sets of the cache */
}

unsigned dot_a_vectors(const dot *g)
{
    unsigned n = (unsigned)((g->mc * g->mr + g->L - 1) / g->L);
    return n <= KERN_U ? n : LZ_ALIGN_UP(n, KERN_U);
}

Val dot_bytes(kern *f, unsigned es, lz_sz elements)
{
    em *e = f->e;
    return MUL(kern_size(f, elements), em_c64(e, es));
}

Val dot_cut(em *e, Val n, Val parts, Val i)
{
    return LLVMBuildUDiv(e->b, MUL(n, i), parts, "");
}

static unsigned granule(dot_columns c)
{
    return c.nv % c.nv_small ? 1 : c.nv_small;
}

Val dot_block_start(em *e, dot_columns c, Val i)
{
    Val n = em_ceil_div(e, c.vectors, granule(c));
    return em_smin(e, MUL(dot_cut(e, n, c.blocks, i), em_c64(e, granule(c))), c.vectors);
}

Val dot_block_most(em *e, dot_columns c)
{
    Val n = em_ceil(e, em_ceil_div(e, c.vectors, granule(c)), c.blocks);
    return ADD(MUL(n, em_c64(e, granule(c))), em_c64(e, c.nv));
}

Val dot_share_equally(em *e, Val others, Val blocks, Val most)
{
    Val low = em_c64(e, SHARERS - 1), units = MUL(others, blocks);
    Val up = em_smin(e, AND(ADD(blocks, low), em_c64(e, -SHARERS)), most);
    Val few = ICMP(SLT, units, em_c64(e, MANY_UNITS));
    Val uneven = ICMP(NE, AND(units, low), em_c64(e, 0));
    Val better = ICMP(EQ, AND(MUL(others, up), low), em_c64(e, 0));
    return SEL(AND(AND(few, uneven), better), up, blocks);
}

Val dot_rows_apart(em *e, Val row)
{
    int64_t same = e->many ? DOT_SET_BYTES : DOT_SET_NARROW;
    return ICMP(NE, AND(row, em_c64(e, same - 1)), em_c64(e, 0));
}

void dot_count_on(em *e, uint32_t n, const Val *ext, Val *i)
{
    Val carry = em_c64(e, 1);
    for (uint32_t l = n; l-- > 0;) {
        Val up = ADD(i[l], carry), over = l ? ICMP(SGE, up, ext[l]) : em_ci(e->i1, 0);
        i[l] = SEL(over, em_c64(e, 0), up);
        carry = SEL(over, em_c64(e, 1), em_c64(e, 0));
    }
}
