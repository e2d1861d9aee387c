/* simt_flash_match.c - flash attention: matches the kernels it suits, counts the passes, and finds
 * out whether softmax may be online: whether the sum of exponentials, and the product with them,
 * can be made while their maximum is not known yet, a property of the expressions between the
 * GEMMs. Threads: pure. */
#include "codegen/gpu/simt_flash.h"
#include <string.h>

enum { MOST_SOPS = 256 };

/* ---- what may be there at all ---- */

static bool is_half(lz_dtype d)
{
    return d == LZ_BF16 || d == LZ_F16;
}

/* A product of 16-bit floats, added as f32, or of f32. */
static bool product_suits(const lz_kernel *k, uint32_t s, bool of_row, bool *fma)
{
    lz_kernel view;
    lz_stage st;
    bool row = kern_product_view(k, s, &view, &st) != NULL;
    int32_t a = lz_converted_from(&st, lz_kernel_dot(&view)->a_sop),
            b = lz_converted_from(&st, lz_kernel_dot(&view)->b_sop);
    lz_dtype d = st.sops[a].dtype;
    *fma = d == LZ_F32;
    return row == of_row && (is_half(d) || *fma) && d == st.sops[b].dtype &&
           k->stages[s].reds[0].acc_dtype[0] == LZ_F32;
}

/* Whether rows are read, all of them scores or made of those, or all of them the second product's
 * sums. */
static bool reads_rows_of(const flash_pattern *f, const lz_stage *st, bool scores)
{
    bool some = false;
    for (uint32_t i = 0; i < st->nsop; i++) {
        if (st->sops[i].kind != LZ_S_ROW)
            continue;
        uint32_t from = (uint32_t)st->sops[i].a;
        some = true;
        if (scores ? from != 0 && !f->row[from] : from != f->second)
            return false;
    }
    return some;
}

static bool reductions_suit(const lz_stage *st)
{
    for (uint32_t r = 0; r < st->nred; r++)
        if (st->reds[r].nacc != 1 || st->reds[r].acc_dtype[0] != LZ_F32 ||
            lz_dtype_is_complex(st->sops[st->reds[r].value[0]].dtype))
            return false;
    return st->nred == 0 || (st->ninner && st->nred <= FLASH_REDS);
}

static bool stage_suits(const lz_kernel *k, uint32_t s, flash_pattern *f)
{
    const lz_stage *st = &k->stages[s];
    if (st->sort || st->ninner > 1 || st->nsop > MOST_SOPS || !reductions_suit(st))
        return false;
    for (uint32_t i = 0; i < st->nsop; i++) {
        const lz_sop *x = &st->sops[i];
        if (lz_dtype_is_complex(x->dtype) || x->kind == LZ_S_SORTED)
            return false;
        if (x->kind == LZ_S_LOAD && k->buf[st->accs[x->a].buf].written)
            return false;
    }
    if (st->ninner == 0) /* what reductions gave is stored */
        return st->nrow == 0;
    f->row[s] = reads_rows_of(f, st, true);
    return f->row[s] || (s > f->second && !st->nred && !st->nrow && reads_rows_of(f, st, false));
}

static bool stages_suit(const lz_kernel *k, flash_pattern *f)
{
    uint32_t n = 0;
    if (k->nouter == 0 || k->nouter > LZ_OUTER_MAX - 1 || !lz_stage_is_row_dot(&k->stages[0]))
        return false;
    for (uint32_t s = 1; s < k->nstage; s++)
        if (lz_stage_is_row_dot(&k->stages[s])) {
            f->second = s;
            n++;
        }
    bool second;
    if (n != 1 || f->second < 2 || !product_suits(k, 0, false, &f->fma) ||
        !product_suits(k, f->second, true, &second) || f->fma != second)
        return false;
    for (uint32_t s = 1; s < k->nstage; s++)
        if (s != f->second && !stage_suits(k, s, f))
            return false;
    return true;
}

/* ---- passes ---- */

static void find_levels(const lz_kernel *k, flash_pattern *f)
{
    for (uint32_t s = 1; s < k->nstage; s++) {
        const lz_stage *st = &k->stages[s];
        for (uint32_t i = 0; i < st->nsop && f->row[s]; i++) {
            const lz_sop *x = &st->sops[i];
            uint8_t l = x->kind == LZ_S_RED   ? f->level[x->a] + 1
                        : x->kind == LZ_S_ROW ? f->level[x->a]
                                              : 0;
            f->level[s] = l > f->level[s] ? l : f->level[s];
        }
        if (f->row[s] && st->nred && f->level[s] + 1u > f->levels)
            f->levels = f->level[s] + 1u;
    }
}

/* ---- exponentials over their sum ---- */

/* What a value is, of the numbers that are known only in the end: the maximum and the sum. */
typedef enum kind {
    PLAIN,     /* of neither */
    MAXIMUM,   /* the maximum, or the larger of it and a constant */
    SHIFTED,   /* something plain less that */
    NUMERATOR, /* exp of that, times something plain */
    SUM,
    OVER_SUM, /* something plain divided by it */
    QUOTIENT, /* a numerator divided by it */
    OTHER
} kind;

static bool is_zero(const lz_sop *x)
{
    return x->kind == LZ_S_CONST && x->bits == 0;
}

static kind kind_of_product(kind a, kind b)
{
    if (a == PLAIN || b == PLAIN) {
        kind x = a == PLAIN ? b : a;
        return x == PLAIN || x == NUMERATOR || x == OVER_SUM || x == QUOTIENT ? x : OTHER;
    }
    return (a == NUMERATOR && b == OVER_SUM) || (a == OVER_SUM && b == NUMERATOR) ? QUOTIENT
                                                                                  : OTHER;
}

static kind kind_of_quotient(kind a, kind b)
{
    if (b == PLAIN)
        return kind_of_product(a, b);
    if (b != SUM)
        return OTHER;
    return a == PLAIN ? OVER_SUM : a == NUMERATOR ? QUOTIENT : OTHER;
}

/* Values that are 0 where the condition says so are still in proportion: to a number. */
static kind kind_of_select(flash_pattern *f, const lz_stage *st, const lz_sop *x, const kind *of)
{
    kind b = of[x->b], c = of[x->c];
    if (of[x->a] != PLAIN)
        return OTHER;
    if (b == PLAIN && c == PLAIN)
        return PLAIN;
    kind other = is_zero(&st->sops[x->b]) ? c : is_zero(&st->sops[x->c]) ? b : OTHER;
    f->checks |= other == QUOTIENT;
    return other == NUMERATOR || other == QUOTIENT ? other : OTHER;
}

typedef struct search {
    const lz_kernel *k;
    flash_pattern *f;
    kind row[LZ_STAGE_MAX][LZ_ROW_MAX];
    kind of[MOST_SOPS];      /* of the stage */
    int32_t same[MOST_SOPS]; /* of the sum's stage: the same value in the maximum's, or -1 */
} search;

static bool same_attr(const lz_attr *a, const lz_attr *b)
{
    lz_buf x = {0}, y = {0};
    if (!a || !b)
        return a == b;
    lz_ewattr_put(&x, a);
    lz_ewattr_put(&y, b);
    bool same = !x.failed && !y.failed && x.len == y.len && memcmp(x.data, y.data, x.len) == 0;
    lz_buf_free(&x);
    lz_buf_free(&y);
    return same;
}

/* Of two stages: run-time strides are arguments of each. */
static bool same_access(const search *q, const lz_access *a, const lz_access *b)
{
    bool same = a->buf == b->buf && a->ndyn == 0 && b->ndyn == 0 && a->guard < 0 && b->guard < 0 &&
                lz_sz_eq(a->offset, (lz_sz){b->offset.v, a->offset.slot});
    for (uint32_t d = 0; d <= q->k->nouter; d++)
        same &= (a->stride[d].slot < 0) == (b->stride[d].slot < 0) &&
                (a->stride[d].slot >= 0 || a->stride[d].v == b->stride[d].v);
    return same;
}

/* Whether x of the sum's stage is y of the maximum's. */
static bool same_op(const search *q, const lz_sop *x, const lz_sop *y)
{
    const lz_stage *a = &q->k->stages[q->f->sum_stage], *b = &q->k->stages[q->f->max_stage];
    if (x->kind != y->kind || x->dtype != y->dtype)
        return false;
    int32_t o[3] = {x->a, x->b, x->c}, p[3] = {y->a, y->b, y->c};
    bool same = x->op == y->op && same_attr(x->attr, y->attr);
    switch (x->kind) {
    case LZ_S_CONST:
        return x->bits == y->bits;
    case LZ_S_INDEX:
        return x->a == y->a;
    case LZ_S_ROW:
        return x->a == y->a && x->b == y->b;
    case LZ_S_LOAD:
        return same_access(q, &a->accs[x->a], &b->accs[y->a]);
    case LZ_S_EW:
        for (int i = 0; i < lz_sop_arity(x) && i < 3; i++)
            same &= q->same[o[i]] == p[i];
        return same;
    default:
        return false;
    }
}

static void find_same(search *q)
{
    const lz_stage *a = &q->k->stages[q->f->sum_stage], *b = &q->k->stages[q->f->max_stage];
    for (uint32_t i = 0; i < a->nsop; i++) {
        const lz_sop *x = &a->sops[i];
        q->same[i] = -1;
        if (x->kind == LZ_S_ROW && (uint32_t)x->a == q->f->max_stage)
            q->same[i] = b->row[x->b];
        for (uint32_t j = 0; j < b->nsop && q->same[i] < 0; j++)
            if (same_op(q, x, &b->sops[j]))
                q->same[i] = (int32_t)j;
    }
}

static kind kind_of_op(search *q, uint32_t s, const lz_sop *x)
{
    const lz_stage *st = &q->k->stages[s];
    const kind *of = q->of;
    int n = lz_sop_arity(x);
    bool plain = true;
    int32_t o[3] = {x->a, x->b, x->c};
    for (int i = 0; i < n && i < 3; i++)
        plain &= of[o[i]] == PLAIN;
    if (plain)
        return PLAIN;
    switch (x->op) {
    case LZ_OP_MAXIMUM:
        if ((of[x->a] == MAXIMUM && st->sops[x->b].kind == LZ_S_CONST) ||
            (of[x->b] == MAXIMUM && st->sops[x->a].kind == LZ_S_CONST))
            return x->dtype == LZ_F32 ? MAXIMUM : OTHER;
        return OTHER;
    case LZ_OP_SUBTRACT:
        if (of[x->a] != PLAIN || of[x->b] != MAXIMUM || s != q->f->sum_stage ||
            q->same[x->a] != q->k->stages[q->f->max_stage].reds[0].value[0] ||
            (q->f->shift >= 0 && q->f->shift != x->b))
            return OTHER;
        q->f->shift = x->b;
        return SHIFTED;
    case LZ_OP_EXPONENTIAL:
        return of[x->a] == SHIFTED && x->dtype == LZ_F32 ? NUMERATOR : OTHER;
    case LZ_OP_MULTIPLY:
        return kind_of_product(of[x->a], of[x->b]);
    case LZ_OP_DIVIDE:
        return kind_of_quotient(of[x->a], of[x->b]);
    case LZ_OP_NEGATE:
    case LZ_OP_CONVERT: /* not to types that saturate: they would hide a numerator's overflow */
        return (x->dtype == LZ_F32 || x->dtype == LZ_F64 || is_half(x->dtype)) &&
                       (of[x->a] == NUMERATOR || of[x->a] == QUOTIENT)
                   ? of[x->a]
                   : OTHER;
    case LZ_OP_SELECT:
        return kind_of_select(q->f, st, x, of);
    default:
        return OTHER;
    }
}

static kind kind_of_load(const search *q, const lz_access *a)
{
    bool plain =
        (a->guard < 0 || q->of[a->guard] == PLAIN) && (a->other < 0 || q->of[a->other] == PLAIN);
    for (uint32_t i = 0; i < a->ndyn; i++)
        plain &= q->of[a->dyn[i].sop] == PLAIN;
    return plain ? PLAIN : OTHER;
}

static kind kind_of(search *q, uint32_t s, const lz_sop *x)
{
    if (x->kind == LZ_S_RED)
        return (uint32_t)x->a == q->f->max_stage   ? MAXIMUM
               : (uint32_t)x->a == q->f->sum_stage ? SUM
                                                   : OTHER;
    if (x->kind == LZ_S_ROW)
        return x->a == 0 ? PLAIN : q->row[x->a][x->b];
    if (x->kind == LZ_S_LOAD)
        return kind_of_load(q, &q->k->stages[s].accs[x->a]);
    return x->kind == LZ_S_EW ? kind_of_op(q, s, x) : PLAIN;
}

/* The kinds of the stage's values; false: something that it stores is known too late. */
static bool look_at(search *q, uint32_t s)
{
    const lz_stage *st = &q->k->stages[s];
    for (uint32_t i = 0; i < st->nsop; i++)
        q->of[i] = kind_of(q, s, &st->sops[i]);
    for (uint32_t j = 0; j < st->nrow; j++)
        q->row[s][j] = q->of[st->row[j]];
    for (uint32_t j = 0; j < st->nstore; j++)
        if (q->of[st->stores[j].value] != PLAIN)
            return false;
    return true;
}

/* The stage whose one reduction is that of the level, or 0. */
static uint32_t only_stage(const lz_kernel *k, const flash_pattern *f, uint32_t level, lz_op comb)
{
    uint32_t found = 0;
    for (uint32_t s = 1; s < k->nstage; s++) {
        const lz_stage *st = &k->stages[s];
        if (!f->row[s] || !st->nred || f->level[s] != level)
            continue;
        if (found || st->nred != 1 || st->reds[0].comb != comb)
            return 0;
        found = s;
    }
    return found;
}

/* Exponentials are looked for in the stage that adds them alone: later ones have them as rows. */
static void find_exponentials(const lz_kernel *k, flash_pattern *f)
{
    search q = {.k = k, .f = f};
    f->max_stage = only_stage(k, f, 0, LZ_OP_MAXIMUM);
    f->sum_stage = only_stage(k, f, 1, LZ_OP_ADD);
    f->shift = -1;
    if (!f->max_stage || !f->sum_stage)
        return;
    find_same(&q);
    f->checks = !f->fma; /* rounded numerators may be out of range where the quotients are not */
    f->once = f->levels == 2;
    for (uint32_t s = 1; s < k->nstage; s++) {
        if (!f->row[s])
            continue;
        f->once &= look_at(&q, s);
        if (s == f->sum_stage)
            f->online = q.of[k->stages[s].reds[0].value[0]] == NUMERATOR && f->shift >= 0;
    }
    lz_kernel view;
    lz_stage st;
    const lz_sop *left = kern_product_view(k, f->second, &view, &st);
    for (uint32_t s = 1; s < k->nstage;
         s++) /* nothing is stored twice: it may be where something is read */
        f->once &= !f->checks || !f->row[s] || k->stages[s].nstore == 0;
    f->once &= f->online && left->a != 0 && q.row[left->a][left->b] == QUOTIENT;
}

bool flash_pattern_of(const lz_kernel *k, flash_pattern *f)
{
    memset(f, 0, sizeof *f);
    if (!stages_suit(k, f))
        return false;
    find_levels(k, f);
    find_exponentials(k, f);
    return true;
}

bool simt_flash_has(const lz_kernel *k, const lz_target *t, lz_simt_entry entry)
{
    flash_pattern f;
    if (entry < SIMT_FLASH_NARROW || !lz_kernel_keeps_sums(k) || !flash_pattern_of(k, &f))
        return false;
    bool wgmma = t->wgmma && f.once && !f.fma;
    return entry == SIMT_FLASH_NARROW ? !wgmma : entry == SIMT_FLASH_WGMMA ? wgmma : !f.fma;
}
