/* nonfinite.c - see nonfinite.h. */
#include "runtime/debug/nonfinite.h"
#include "ir/eval/agreement.h"
#include "ir/eval/eval.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- elements ---- */

static bool is_bad(double v, bool inf)
{
    return inf ? !isfinite(v) : isnan(v);
}

static int64_t find_f32(const void *data, int64_t n, bool inf)
{
    const uint32_t *p = data;
    const uint32_t least = inf ? 0x7f800000 : 0x7f800001;
    enum { BLOCK = 256 };
    for (int64_t i = 0; i < n; i += BLOCK) {
        int64_t end = i + BLOCK < n ? i + BLOCK : n;
        uint32_t any = 0;
        for (int64_t j = i; j < end; j++)
            any |= (p[j] & 0x7fffffff) >= least;
        for (int64_t j = i; any && j < end; j++)
            if ((p[j] & 0x7fffffff) >= least)
                return j;
    }
    return -1;
}

int64_t lz_nonfinite_find(const lz_type *t, const void *data, bool inf)
{
    lz_dtype d;
    uint32_t parts = lz_components(t, &d);
    int64_t n = t->nelem * parts;
    if (!lz_dtype_is_float(d) && !lz_dtype_is_storage(d))
        return -1;
    if (d == LZ_F32) {
        int64_t i = find_f32(data, n, inf);
        return i < 0 ? i : i / parts;
    }
    for (int64_t i = 0; i < n; i++)
        if (is_bad(lz_elem_get_f64(d, data, i), inf))
            return i / parts;
    return -1;
}

static bool is_bad_at(const lz_literal *l, int64_t element, bool inf)
{
    lz_dtype d;
    uint32_t parts = lz_components(l->type, &d);
    bool bad = false;
    if (lz_dtype_is_float(d) || lz_dtype_is_storage(d))
        for (uint32_t k = 0; k < parts; k++)
            bad |= is_bad(lz_elem_get_f64(d, l->data, element * parts + k), inf);
    return bad;
}

/* ---- messages ---- */

static lz_val op_of(const lz_func *f, lz_val v)
{
    return lz_inst_op(&f->insts[v]) == LZ_OP_RESULT ? f->insts[v].opnd[0] : v;
}

void lz_print_op_place(const lz_func *f, lz_val v, lz_buf *out)
{
    const lz_inst *in = &f->insts[op_of(f, v)];
    if (!in->site)
        in = &f->insts[v];
    const char *slash = in->site && in->site->file ? strrchr(in->site->file, '/') : NULL;
    lz_buf_puts(out,
                v < f->nparam ? "a parameter" : lz_op_get(f->insts[op_of(f, v)].sig->op)->text);
    if (in->site && in->site->file)
        lz_buf_printf(out, " at %.60s:%d", slash ? slash + 1 : in->site->file, in->site->line);
    if (in->scope && in->scope[0])
        lz_buf_printf(out, " (%.60s)", in->scope);
}

void lz_print_index(const lz_type *t, int64_t element, lz_buf *out)
{
    int64_t at[LZ_MAX_RANK];
    for (int d = t->shape.rank; d-- > 0; element /= t->shape.dims[d])
        at[d] = element % t->shape.dims[d];
    lz_buf_putc(out, '[');
    for (int d = 0; d < t->shape.rank; d++)
        lz_buf_printf(out, "%s%" PRId64, d ? ", " : "", at[d]);
    lz_buf_putc(out, ']');
}

static void print_f64(double v, lz_dtype d, lz_buf *out)
{
    if (isnan(v))
        lz_buf_puts(out, "nan");
    else
        lz_buf_printf(out, "%.*g", d == LZ_F64 ? 17 : 9, v);
}

void lz_print_number(const lz_type *t, const void *data, int64_t element, lz_buf *out)
{
    lz_dtype d;
    uint32_t parts = lz_components(t, &d);
    if (!lz_dtype_is_float(d) && !lz_dtype_is_storage(d)) {
        lz_buf_printf(out, "%" PRId64, lz_elem_get_i64(d, data, element));
        return;
    }
    lz_buf_puts(out, parts == 2 ? "(" : "");
    print_f64(lz_elem_get_f64(d, data, element * parts), d, out);
    if (parts == 2) {
        lz_buf_puts(out, ", ");
        print_f64(lz_elem_get_f64(d, data, element * parts + 1), d, out);
        lz_buf_putc(out, ')');
    }
}

/* ---- the search ---- */

typedef struct search {
    lz_ref_watch watch; /* first: it is cast back */
    const uint32_t *order;
    uint32_t rank; /* of what was found */
    bool inf;
    bool found;
    bool of_inf; /* the operation has infinite operands */
    lz_buf *out;
    lz_buf first_inf; /* where the first infinity is made of finite operands */
} search;

/* Element i of an elementwise operation depends on element i of its operands alone. */
static bool by_element(const lz_sig *s)
{
    bool same = s->nresult == 1 && lz_op_get(s->op)->cls == LZ_CLASS_EW;
    for (uint32_t k = 0; k < s->nopnd && same; k++)
        same = s->opnd[k]->shape.rank == 0 || s->opnd[k]->nelem == s->result[0]->nelem;
    return same;
}

static int64_t operand_element(const lz_literal *l, int64_t element)
{
    return l->type->nelem == 1 ? 0 : element;
}

/* The first bad element of result k that no operand accounts for; -1: none. */
static int64_t made_here(const lz_sig *s, lz_literal *const *opnd, const lz_literal *result,
                         bool inf)
{
    int64_t e = lz_nonfinite_find(result->type, result->data, inf);
    if (e < 0)
        return -1;
    if (!by_element(s)) {
        for (uint32_t k = 0; k < s->nopnd; k++)
            if (lz_nonfinite_find(s->opnd[k], opnd[k]->data, inf) >= 0)
                return -1;
        return e;
    }
    for (; e < result->type->nelem; e++) {
        bool bad = false;
        for (uint32_t k = 0; k < s->nopnd; k++)
            bad |= is_bad_at(opnd[k], operand_element(opnd[k], e), inf);
        if (!bad && is_bad_at(result, e, inf))
            return e;
    }
    return -1;
}

static double largest(const lz_literal *l)
{
    lz_dtype d;
    double most = 0;
    int64_t n = l->type->nelem * lz_components(l->type, &d);
    for (int64_t i = 0; i < n; i++) {
        double v = fabs(lz_elem_get_f64(d, l->data, i));
        most = v > most ? v : most;
    }
    return most;
}

/* Of an elementwise operation its operands there, of another one the largest magnitudes. */
static void print_operands(const lz_sig *s, lz_literal *const *opnd, int64_t element, lz_buf *out)
{
    enum { SHOWN = 3 };
    bool each = by_element(s);
    lz_buf_puts(out, each ? " of " : "; operands of magnitudes up to ");
    for (uint32_t k = 0; k < s->nopnd && k < SHOWN; k++) {
        lz_buf_puts(out, k ? ", " : "");
        if (each)
            lz_print_number(s->opnd[k], opnd[k]->data, operand_element(opnd[k], element), out);
        else
            print_f64(largest(opnd[k]), LZ_F32, out);
    }
    if (s->nopnd > SHOWN)
        lz_buf_puts(out, ", ...");
}

/* "log at x.c:3 (scope) makes nan of -1 at [1, 2] of f32[4,4]" */
static void print_made(const search *w, lz_literal *const *opnd, const lz_literal *result,
                       int64_t element, lz_buf *out)
{
    const lz_ref_watch *at = &w->watch;
    const lz_func *f = at->at[at->depth].f;
    lz_val v = at->at[at->depth].v;
    const lz_sig *s = f->insts[v].sig;
    char type[96];
    lz_print_op_place(f, v, out);
    lz_buf_puts(out, " makes ");
    lz_print_number(result->type, result->data, element, out);
    if (by_element(s))
        print_operands(s, opnd, element, out);
    lz_buf_puts(out, " at ");
    lz_print_index(result->type, element, out);
    lz_buf_printf(out, " of %s", lz_type_short(result->type, type, sizeof type));
    if (!by_element(s) && s->nopnd)
        print_operands(s, opnd, element, out);
    if (at->depth > 0) {
        lz_buf_puts(out, "; in ");
        lz_print_op_place(at->at[0].f, at->at[0].v, out);
    }
}

/* Whether what is looked at comes before what was found. */
static bool is_before(const search *w, uint32_t *rank)
{
    const lz_ref_watch *at = &w->watch;
    *rank = w->order ? w->order[at->at[0].f->insts[at->at[0].v].node] : 0;
    return !w->found || *rank < w->rank;
}

static void note(search *w, uint32_t rank, lz_literal *const *opnd, const lz_literal *result,
                 int64_t element)
{
    const lz_ref_watch *at = &w->watch;
    const lz_sig *s = at->at[at->depth].f->insts[at->at[at->depth].v].sig;
    w->found = true;
    w->rank = rank;
    w->of_inf = false;
    for (uint32_t o = 0; o < s->nopnd; o++)
        w->of_inf |= lz_nonfinite_find(s->opnd[o], opnd[o]->data, true) >= 0;
    w->out->len = 0;
    print_made(w, opnd, result, element, w->out);
}

static lz_status seen(lz_ref_watch *watch, lz_literal *const *opnd, lz_literal *const *results)
{
    search *w = (search *)watch;
    const lz_sig *s = watch->at[watch->depth].f->insts[watch->at[watch->depth].v].sig;
    uint32_t rank;
    for (uint32_t k = 0; k < s->nresult && is_before(w, &rank); k++) {
        int64_t e = made_here(s, opnd, results[k], w->inf);
        if (e >= 0)
            note(w, rank, opnd, results[k], e);
        else if (!w->inf && !w->first_inf.len && (e = made_here(s, opnd, results[k], true)) >= 0)
            print_made(w, opnd, results[k], e, &w->first_inf);
    }
    /* any failure ends the run; this one is not recorded */
    return w->found && !w->order ? LZ_ECHECK : LZ_OK;
}

lz_status lz_nonfinite_search(const lz_func *f, const uint32_t *order, lz_literal *const *args,
                              bool inf, lz_buf *out)
{
    search w = {.watch.seen = seen, .order = order, .inf = inf, .out = out};
    lz_literal **results = lz_calloc((size_t)f->nresult + 1, sizeof *results);
    if (!results)
        return LZ_FAIL(LZ_EMEM, "no memory to search '%s'", f->name);
    lz_status s = lz_ref_run_watched(f, args, results, &w.watch);
    for (uint32_t k = 0; k < f->nresult; k++)
        lz_literal_release(results[k]);
    lz_free(results);
    if (w.of_inf && w.first_inf.len)
        lz_buf_printf(out, "; before it, %s", lz_buf_str(&w.first_inf));
    lz_buf_free(&w.first_inf);
    return w.found ? LZ_OK : s;
}
