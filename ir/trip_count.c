/* trip_count.c - see trip_count.h. */
#include "ir/trip_count.h"
#include "ir/attr.h"

/* ---- numbers ---- */

static bool counts_in(lz_dtype d)
{
    return lz_dtype_is_int(d) && !lz_dtype_is_storage(d);
}

/* Whether v is a number of the type, of those that are counted: up to INT64_MAX. */
static bool fits(lz_dtype d, __int128 v)
{
    uint64_t bits = 0;
    if (v < (lz_dtype_is_signed(d) ? INT64_MIN : 0) || v > INT64_MAX)
        return false;
    lz_elem_set_i64(d, &bits, 0, (int64_t)v); /* wraps */
    return lz_elem_get_i64(d, &bits, 0) == (int64_t)v;
}

bool lz_trip_count_number(lz_dtype d, const void *at, int64_t *out)
{
    *out = lz_elem_get_i64(d, at, 0);
    return fits(d, *out); /* an unsigned one of 64 bits may not */
}

bool lz_trip_count_count(const lz_trip_count *r, int64_t start, int64_t end, int64_t *n)
{
    bool up = r->go_on == LZ_CMP_LT || r->go_on == LZ_CMP_LE;
    bool with_end = r->go_on == LZ_CMP_LE || r->go_on == LZ_CMP_GE;
    __int128 step = r->step, way = (__int128)end - start;
    if (r->go_on == LZ_CMP_NE) {
        if (way != 0 && (step == 0 || way % step || way / step < 0))
            return false;
        up = way >= 0;
    }
    if (!up) {
        way = -way;
        step = -step;
    }
    way += with_end;
    *n = 0;
    if (way <= 0) /* not a single one */
        return true;
    if (step <= 0)
        return false;
    __int128 trips = (way + step - 1) / step;
    if (trips > INT64_MAX)
        return false;
    *n = (int64_t)trips;
    return fits(r->dtype, start + trips * r->step);
}

bool lz_trip_count_known(const lz_trip_count *r, int64_t *n)
{
    return r->dtype != LZ_DTYPE_NONE && r->start_opnd == LZ_NOVAL && r->end_opnd == LZ_NOVAL &&
           lz_trip_count_count(r, r->start, r->end, n);
}

bool lz_trip_count_valid(const lz_trip_count *r, const lz_type *const *opnd, uint32_t nopnd,
                         uint32_t ncarried)
{
    const uint32_t from[2] = {r->start_opnd, r->end_opnd};
    int64_t n;
    if (r->dtype == LZ_DTYPE_NONE)
        return true;
    if ((unsigned)r->dtype >= LZ_DTYPE_COUNT || !counts_in(r->dtype) || r->go_on == LZ_CMP_EQ ||
        (unsigned)r->go_on > LZ_CMP_LT)
        return false;
    for (int k = 0; k < 2; k++)
        if (from[k] != LZ_NOVAL && (from[k] >= nopnd || (from[k] < ncarried) != (k == 0) ||
                                    opnd[from[k]]->dtype != r->dtype || opnd[from[k]]->nelem != 1))
            return false;
    return from[0] != LZ_NOVAL || from[1] != LZ_NOVAL || lz_trip_count_known(r, &n);
}

/* ---- the loop ---- */

typedef struct loop {
    const lz_func *f, *cond, *body;
    const lz_inst *in;
    uint32_t ncarried;
    lz_dtype dtype;
} loop;

/* The value of one element that v is a view of. */
static lz_val behind_views(const lz_func *f, lz_val v)
{
    lz_val of = lz_val_behind_views(f, v);
    return lz_val_type(f, v)->nelem == 1 ? of : v;
}

static bool known_bits(const loop *l, uint64_t bits, int64_t *out)
{
    return lz_trip_count_number(l->dtype, &bits, out);
}

/* A number that no iteration changes: a constant, or the operand that is one (*opnd: LZ_NOVAL; it
 * may be carried through), or an operand that is not carried. */
static bool unchanging(const loop *l, const lz_func *region, lz_val v, uint32_t *opnd, int64_t *out)
{
    uint64_t bits;
    v = behind_views(region, v);
    *opnd = LZ_NOVAL;
    *out = 0;
    if (lz_val_type(region, v)->dtype != l->dtype || lz_val_type(region, v)->nelem != 1)
        return false;
    if (lz_val_splat(region, v, &bits))
        return known_bits(l, bits, out);
    bool carried = v < l->ncarried;
    if (v >= region->nparam || (carried && behind_views(l->body, l->body->results[v]) != v))
        return false;
    if (lz_val_splat(l->f, l->in->opnd[v], &bits))
        return known_bits(l, bits, out);
    *opnd = v;
    return !carried;
}

/* What each iteration adds to carried value k. */
static bool find_step(const loop *l, uint32_t k, int64_t *step)
{
    lz_val v = behind_views(l->body, l->body->results[k]);
    const lz_inst *in = &l->body->insts[v];
    bool minus = lz_inst_op(in) == LZ_OP_SUBTRACT;
    uint32_t opnd;
    if (lz_inst_op(in) != LZ_OP_ADD && !minus)
        return false;
    int by = behind_views(l->body, in->opnd[0]) == k ? 1 : 0;
    if ((!by && minus) || behind_views(l->body, in->opnd[!by]) != k)
        return false;
    return unchanging(l, l->body, in->opnd[by], &opnd, step) && opnd == LZ_NOVAL &&
           !(minus && __builtin_sub_overflow((int64_t)0, *step, step));
}

static lz_comparison_direction turned(lz_comparison_direction d)
{
    static const lz_comparison_direction of[] = {
        [LZ_CMP_EQ] = LZ_CMP_EQ, [LZ_CMP_NE] = LZ_CMP_NE, [LZ_CMP_GE] = LZ_CMP_LE,
        [LZ_CMP_GT] = LZ_CMP_LT, [LZ_CMP_LE] = LZ_CMP_GE, [LZ_CMP_LT] = LZ_CMP_GT};
    return of[d];
}

/* The counter of the condition `compare`, on its side `side`. */
static bool find_counter(loop *l, const lz_inst *compare, int side, lz_trip_count *r)
{
    lz_val k = behind_views(l->cond, compare->opnd[side]);
    uint64_t bits;
    const lz_type *t = lz_val_type(l->cond, k);
    lz_compare_type type = LZ_ATTR(compare, compare->sig->attr)->compare_type;
    if (k >= l->ncarried || t->nelem != 1 || !counts_in(t->dtype))
        return false;
    if (type == (lz_dtype_is_signed(t->dtype) ? LZ_CT_UNSIGNED : LZ_CT_SIGNED))
        return false;
    r->dtype = l->dtype = t->dtype;
    r->go_on = LZ_ATTR(compare, compare->sig->attr)->comparison_direction;
    if (side)
        r->go_on = turned(r->go_on);
    r->start_opnd = k;
    r->start = 0;
    if (r->go_on == LZ_CMP_EQ || !find_step(l, k, &r->step) ||
        !unchanging(l, l->cond, compare->opnd[!side], &r->end_opnd, &r->end))
        return false;
    if (lz_val_splat(l->f, l->in->opnd[k], &bits)) {
        r->start_opnd = LZ_NOVAL;
        if (!known_bits(l, bits, &r->start))
            return false;
    }
    int64_t n;
    return r->start_opnd != LZ_NOVAL || r->end_opnd != LZ_NOVAL || lz_trip_count_known(r, &n);
}

lz_trip_count lz_trip_count_of(const lz_func *f, const lz_inst *in, uint32_t *counter)
{
    const lz_attr_loop *a = LZ_ATTR(loop, in->sig->attr);
    loop l = {f, a->cond, a->body, in, in->sig->nresult, LZ_DTYPE_NONE};
    const lz_inst *c = &a->cond->insts[behind_views(a->cond, a->cond->results[0])];
    lz_trip_count r = {0};
    *counter = LZ_NOVAL;
    if (lz_inst_op(c) != LZ_OP_COMPARE ||
        a->cond->effects) /* which happen every time it is asked */
        return (lz_trip_count){0};
    for (int side = 0; side < 2; side++, r = (lz_trip_count){0})
        if (find_counter(&l, c, side, &r)) {
            *counter = behind_views(a->cond, c->opnd[side]);
            return r;
        }
    return (lz_trip_count){0};
}

int64_t lz_trip_count_static(const lz_func *f, const lz_inst *in)
{
    uint32_t counter;
    int64_t n;
    const lz_trip_count r = lz_trip_count_of(f, in, &counter);
    return lz_trip_count_known(&r, &n) ? n : -1;
}
