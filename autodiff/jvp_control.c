/* jvp_control.c - tangents of operations with regions (loops, branches, reductions with any
 * region), and of operations that have only a gradient rule. A region's tangent is traced on
 * placeholders for its parameters and their tangents, and becomes a region that computes values and
 * tangents together, so a loop stores nothing per iteration. */
#include "autodiff/jvp.h"
#include "autodiff/vjp_table.h"
#include "base/alloc.h"
#include "base/status.h"
#include "ir/attr.h"
#include "ir/batch/batch.h"
#include "runtime/region/region_trace.h"
#include <lazuli/grad.h>
#include <string.h>

#define TYPE(k) (j->sig->opnd[k])

/* ---- a region's values and tangents ---- */

/* Records f on args; tan: their tangents, NULL where there is none. r, owned: its results, then the
 * tangents of those listed in `want`. */
static lz_status record_tangents(const lz_func *f, lz_node *const *args, lz_node *const *tan,
                                 const bool *want, lz_node **r, lz_tensor **room,
                                 const lz_site *site)
{
    lz_tensor **in = room, **given = in + f->nparam, **y = given + f->nparam, **dy = y + f->nresult;
    size_t nin = 0, ny = 0;
    LZ_TRY(lz_region_replay(f, args, r, site));
    for (uint32_t i = 0; i < f->nparam; i++)
        if (tan[i]) {
            in[nin] = lz_trace_tensor_of(args[i], site);
            given[nin++] = lz_trace_tensor_of(tan[i], site);
        }
    for (uint32_t k = 0; k < f->nresult; k++)
        if (want[k])
            y[ny++] = lz_trace_tensor_of(r[k], site);
    const lz_jvp_options o = {.struct_size = sizeof o, .allow_unused = true};
    if (ny)
        LZ_TRY(lz_jvp_at(y, ny, in, given, nin, dy, &o, site));
    for (size_t k = 0; k < ny; k++)
        if (!(r[f->nresult + k] = lz_trace_node_of(dy[k])))
            return lz_error_get()->status;
    return LZ_OK;
}

/* The region of b that computes these. */
static lz_status region_of(lz_body *b, const lz_func *f, lz_node *const *args, lz_node *const *tan,
                           const bool *want, const lz_site *site, const lz_func **out)
{
    uint32_t n = f->nresult;
    lz_node **r = lz_calloc(2 * (size_t)n + 1, sizeof *r);
    lz_tensor **room = lz_calloc(2 * ((size_t)f->nparam + n) + 1, sizeof *room);
    lz_status s = r && room ? record_tangents(f, args, tan, want, r, room, site)
                            : LZ_FAIL(LZ_EMEM, "no memory for tangents");
    for (uint32_t k = 0; k < f->nresult; k++)
        n += want[k];
    if (s == LZ_OK)
        s = lz_body_region(b, r, n, out);
    for (uint32_t k = 0; r && k < 2 * f->nresult; k++)
        lz_node_release(r[k]);
    lz_free(r);
    lz_free(room);
    return s;
}

static lz_dev *device_of(lz_tensor *const *t, uint32_t n)
{
    lz_dev *dev = NULL;
    bool host = true;
    for (uint32_t i = 0; i < n && host; i++) {
        lz_node *x = lz_trace_node_of(t[i]);
        if (!x)
            return NULL;
        dev = x->dev;
        host = lz_node_is_host(x);
        lz_node_release(x);
    }
    return dev;
}

/* ---- regions on elements ---- */

typedef struct pairs {
    const lz_jvp *j;
    const lz_func *f;
    uint32_t n, m; /* values, and the subset of them that has tangents */
    bool *has;
    lz_node **args, **tan; /* by parameter of f: borrowed */
    lz_tensor **opnd, **out;
} pairs;

/* 2 n values and m tangents. */
static lz_status record_pairs(const pairs *p, lz_body *b, const lz_func **out)
{
    for (uint32_t side = 0; side < 2; side++) {
        uint32_t at = side * p->n;
        for (uint32_t k = 0; k < p->n; k++)
            if (!(p->args[at + k] = lz_body_placeholder(b, lz_val_type(p->f, at + k))))
                return lz_error_get()->status;
        for (uint32_t k = 0; k < p->n; k++)
            if (p->has[k] && !(p->tan[at + k] = lz_body_placeholder(b, lz_val_type(p->f, at + k))))
                return lz_error_get()->status;
    }
    LZ_TRY(region_of(b, p->f, p->args, p->tan, p->has, p->j->site, out));
    return b->captured.len == 0 ? LZ_OK
                                : LZ_FAIL(LZ_EINTERNAL, "the tangent of a region uses a value from "
                                                        "outside");
}

/* n operands from `from` on, and their tangents. */
static uint32_t with_tangents(const pairs *p, uint32_t from, uint32_t at)
{
    for (uint32_t k = 0; k < p->n; k++)
        p->opnd[at++] = p->j->opnd[from + k];
    for (uint32_t k = 0; k < p->n; k++)
        if (p->has[k])
            p->opnd[at++] = lz_j_tangent(p->j, from + k);
    return at;
}

static lz_status run_pairs(const pairs *p, const lz_func *region)
{
    const lz_jvp *j = p->j;
    lz_attr_any a;
    lz_attr_field field[LZ_ATTR_MAX_FIELDS];
    lz_attr_init(&a, j->sig->attr->kind);
    lz_attr_copy(&a.head, j->sig->attr);
    for (int i = 0, nfield = lz_attr_fields(&a.head, field); i < nfield; i++)
        if (field[i].type == LZ_FIELD_REGION)
            *field[i].region = region;
    uint32_t at = with_tangents(p, 0, 0), last = j->sig->nopnd - p->n;
    for (uint32_t k = p->n; k < last; k++) /* indices */
        p->opnd[at++] = j->opnd[k];
    at = with_tangents(p, last, at);
    LZ_TRY(lz_j_op(j->sig->op, &a.head, p->opnd, at, p->out, p->n + p->m, j->site));
    for (uint32_t k = 0, t = p->n; k < p->n; k++)
        if (p->has[k])
            j->out[k] = p->out[t++];
    return LZ_OK;
}

/* The same operation on pairs of a value and its tangent, combined by the region's tangent. */
lz_status lz_jvp_pairs(const lz_jvp *j)
{
    pairs p = {.j = j, .f = lz_attr_region(j->sig->attr, 0), .n = j->sig->nopnd / 2};
    const lz_func *region = NULL;
    lz_body b;
    size_t n = p.n;
    p.has = lz_calloc(n + 1, sizeof *p.has);
    p.args = lz_calloc(4 * n + 1, sizeof *p.args);
    p.opnd = lz_calloc(6 * n + 2, sizeof *p.opnd);
    p.tan = p.args + 2 * n;
    p.out = p.opnd + 4 * n + 1;
    lz_status s = p.has && p.args && p.opnd ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for tangents");
    lz_dev *dev = s == LZ_OK ? device_of(j->opnd, j->sig->nopnd) : NULL;
    for (uint32_t k = 0; k < p.n && s == LZ_OK; k++)
        p.m += p.has[k] = lz_has_gradient(TYPE(k));
    if (s == LZ_OK)
        s = dev ? lz_body_begin(&b, dev) : lz_error_get()->status;
    if (s == LZ_OK) {
        s = record_pairs(&p, &b, &region);
        lz_body_end(&b);
        lz_body_free(&b);
    }
    if (s == LZ_OK)
        s = run_pairs(&p, region);
    lz_free(p.has);
    lz_free(p.args);
    lz_free(p.opnd);
    return s;
}

/* ---- loops and branches ---- */

/* The regions' operands: n from `first` on; `moves` marks those that have tangents inside.
 * Placeholders: values, then tangents. */
typedef struct flow {
    const lz_jvp *j;
    uint32_t first, n, nresult;
    bool *moves, *next; /* per operand; per result */
    uint32_t *place;    /* placeholder of each operand's tangent */
    lz_node **args, **tan;
    lz_body b;
    lz_node **opnd, **r; /* owned */
    uint32_t nopnd, nr;
} flow;

static lz_status open_flow(flow *x)
{
    const lz_sig *sig = x->j->sig;
    size_t n = x->n, r = x->nresult;
    x->moves = lz_calloc(n + 2 * r + 1, sizeof *x->moves);
    x->args = lz_calloc(2 * n + 1, sizeof *x->args);
    x->opnd = lz_calloc(2 * (n + 1) + 2 * r + 1, sizeof *x->opnd);
    if (!x->moves || !x->args || !x->opnd)
        return LZ_FAIL(LZ_EMEM, "no memory for tangents");
    x->next = x->moves + n;
    x->tan = x->args + n;
    x->r = x->opnd + 2 * (n + 1);
    for (uint32_t i = 0; i < x->n; i++)
        x->moves[i] = x->j->tan[x->first + i] && lz_has_gradient(sig->opnd[x->first + i]);
    return LZ_OK;
}

/* Which results get tangents when these operands have them. */
static lz_status flows(flow *x, const lz_func *f, bool *out)
{
    LZ_TRY(lz_batch_flow(f, x->moves, out));
    for (uint32_t k = 0; k < f->nresult; k++)
        out[k] &= lz_has_gradient(lz_val_type(f, f->results[k]));
    return LZ_OK;
}

/* The operands in the order carried values, their tangents, other operands, their tangents: carried
 * values come first. ncarried 0: none. */
static lz_status add_placeholders(flow *x, uint32_t from, uint32_t to)
{
    for (int tangent = 0; tangent < 2; tangent++)
        for (uint32_t i = from; i < to; i++) {
            if (tangent && !x->moves[i])
                continue;
            lz_tensor *t = tangent ? lz_j_tangent(x->j, x->first + i) : x->j->opnd[x->first + i];
            if (!(x->opnd[x->nopnd] = lz_trace_node_of(t)))
                return lz_error_get()->status;
            x->nopnd++;
            lz_node *h = lz_body_placeholder(&x->b, x->j->sig->opnd[x->first + i]);
            if (!h)
                return lz_error_get()->status;
            *(tangent ? &x->tan[i] : &x->args[i]) = h;
        }
    return LZ_OK;
}

static lz_status give_results(flow *x, uint32_t nvalue)
{
    for (uint32_t k = 0, at = nvalue; k < nvalue; k++)
        if (x->next[k])
            x->j->out[k] = lz_trace_tensor_of(x->r[at++], x->j->site);
    return LZ_OK;
}

static void close_flow(flow *x)
{
    for (uint32_t i = 0; x->opnd && i < x->nopnd; i++)
        lz_node_release(x->opnd[i]);
    for (uint32_t i = 0; x->opnd && i < x->nr; i++)
        lz_node_release(x->r[i]);
    lz_free(x->moves);
    lz_free(x->args);
    lz_free(x->opnd);
}

/* cond on the placeholders. */
static lz_status wide_cond(flow *x, const lz_func *cond, const lz_func **out)
{
    lz_node *pred = NULL;
    lz_status s = lz_region_replay(cond, x->args, &pred, x->j->site);
    if (s == LZ_OK)
        s = lz_body_region(&x->b, &pred, 1, out);
    lz_node_release(pred);
    return s;
}

static lz_status record_loop(flow *x, lz_attr_loop *a)
{
    const lz_attr_loop *from = LZ_ATTR(loop, x->j->sig->attr);
    LZ_TRY(add_placeholders(x, 0, x->nresult));
    LZ_TRY(add_placeholders(x, x->nresult, x->n));
    LZ_TRY(region_of(&x->b, from->body, x->args, x->tan, x->next, x->j->site, &a->body));
    LZ_TRY(wide_cond(x, from->cond, &a->cond));
    LZ_TRY(lz_body_widen(&x->b, &a->body));
    return lz_body_widen(&x->b, &a->cond);
}

static lz_status record_branches(flow *x, lz_attr_branches *a)
{
    const lz_attr_branches *from = LZ_ATTR(branches, x->j->sig->attr);
    LZ_TRY(add_placeholders(x, 0, x->n));
    LZ_TRY(
        region_of(&x->b, from->true_branch, x->args, x->tan, x->next, x->j->site, &a->true_branch));
    LZ_TRY(region_of(&x->b, from->false_branch, x->args, x->tan, x->next, x->j->site,
                     &a->false_branch));
    LZ_TRY(lz_body_widen(&x->b, &a->true_branch));
    return lz_body_widen(&x->b, &a->false_branch);
}

static lz_status run_flow(flow *x, lz_attr_any *a, bool loops)
{
    lz_dev *dev = device_of(x->j->opnd, x->j->sig->nopnd);
    if (!loops) { /* the predicate or index */
        if (!(x->opnd[0] = lz_trace_node_of(x->j->opnd[0])))
            return lz_error_get()->status;
        x->nopnd = 1;
    }
    LZ_TRY(dev ? lz_body_begin(&x->b, dev) : lz_error_get()->status);
    lz_status s = loops ? record_loop(x, &a->as_loop) : record_branches(x, &a->as_branches);
    lz_body_end(&x->b);
    uint32_t n = x->nresult;
    for (uint32_t k = 0; k < x->nresult; k++)
        n += x->next[k];
    if (s == LZ_OK)
        s = lz_control_op(x->j->sig->op, &a->head, x->opnd, x->nopnd, x->b.captured.data,
                          x->b.captured.len, x->r, x->j->site);
    x->nr = s == LZ_OK ? n : 0;
    lz_body_free(&x->b);
    return s == LZ_OK ? give_results(x, x->nresult) : s;
}

/* A carried value has a tangent when its initial value has one, or when the body gives it one
 * (fixed point). */
lz_status lz_jvp_while(const lz_jvp *j)
{
    flow x = {.j = j, .n = j->sig->nopnd, .nresult = j->sig->nresult};
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_loop);
    lz_status s = open_flow(&x);
    for (bool more = true; more && s == LZ_OK;) {
        more = false;
        s = flows(&x, LZ_ATTR(loop, j->sig->attr)->body, x.next);
        for (uint32_t k = 0; k < x.nresult && s == LZ_OK; k++)
            if (x.next[k] && !x.moves[k])
                more = x.moves[k] = true;
    }
    for (uint32_t k = 0; k < x.nresult && s == LZ_OK; k++)
        x.next[k] =
            x.moves
                [k]; /* a carried value that begins with a tangent ends with one, possibly zero */
    if (s == LZ_OK)
        s = run_flow(&x, &a, true);
    close_flow(&x);
    return s;
}

lz_status lz_jvp_if(const lz_jvp *j)
{
    flow x = {.j = j, .first = 1, .n = j->sig->nopnd - 1, .nresult = j->sig->nresult};
    const lz_attr_branches *from = LZ_ATTR(branches, j->sig->attr);
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_branches);
    lz_status s = open_flow(&x);
    bool any = false, *other = s == LZ_OK ? x.next + x.nresult : NULL;
    if (s == LZ_OK)
        s = flows(&x, from->true_branch, x.next);
    if (s == LZ_OK)
        s = flows(&x, from->false_branch, other);
    for (uint32_t k = 0; k < x.nresult && s == LZ_OK; k++)
        any |= x.next[k] |= other[k];
    if (s == LZ_OK && any)
        s = run_flow(&x, &a, false);
    close_flow(&x);
    return s;
}

/* ---- by the gradient ---- */

/* Placeholders: operands, tangents of those that have one, a gradient for each result. The
 *   double-transpose trick: the gradient of the sum of <gradient of operand, tangent>, by the
 *   gradients of the results, is the transpose of the gradient rule applied to the tangents. */
static lz_status record_transposed(const lz_jvp *j, lz_body *b, lz_tensor **room, lz_node **roots,
                                   uint32_t *nroot)
{
    const lz_sig *sig = j->sig;
    uint32_t n = sig->nopnd, r = sig->nresult, at = 0;
    lz_tensor **opnd = room, **tan = opnd + n, **grad_in = tan + n, **g = grad_in + n,
              **seed = g + r, **back = seed + r, *loss = NULL, *result = NULL;
    bool *need = (bool *)(back + r);
    for (uint32_t k = 0; k < n; k++)
        opnd[k] = lz_body_tensor(b, TYPE(k));
    for (uint32_t k = 0; k < n; k++)
        if (j->tan[k])
            tan[k] = lz_body_tensor(b, TYPE(k));
    for (uint32_t k = 0; k < r; k++)
        if (lz_has_gradient(sig->result[k]))
            g[k] = seed[at++] = lz_body_tensor(b, sig->result[k]);
    for (uint32_t k = 0; k < n; k++)
        need[k] = j->tan[k] != NULL;
    if (r == 1)
        LZ_TRY(lz_j_op(sig->op, sig->attr, opnd, n, &result, 1, j->site));
    const lz_vjp v = {sig, opnd, result, g, need, grad_in, j->site};
    LZ_TRY(lz_vjp_rule_of(sig->op).fn(&v));
    for (uint32_t k = 0; k < n; k++) {
        if (!need[k] || !grad_in[k])
            continue;
        lz_tensor *p = lz_v2(&v, "multiply", lz_v_conj(&v, grad_in[k]), tan[k]);
        if (lz_dtype_is_complex(lz_dtype_of(p)))
            p = lz_v1(&v, "real", p);
        loss = lz_j_sum(loss, lz_v_sum_all(&v, p), j->site);
    }
    *nroot = loss ? at : 0;
    if (!loss)
        return LZ_OK;
    const lz_grad_options o = {.struct_size = sizeof o, .allow_unused = true};
    LZ_TRY(lz_grad_at(loss, seed, at, back, &o, j->site));
    for (uint32_t k = 0; k < at; k++)
        if (!(roots[k] = lz_trace_node_of(back[k])))
            return lz_error_get()->status;
    return LZ_OK;
}

static lz_status replay_transposed(const lz_jvp *j, const lz_body *b, const lz_func *f)
{
    uint32_t nin = f->nparam, k = 0, at = 0;
    lz_node **in = lz_calloc((size_t)nin + f->nresult + 1, sizeof *in), **r = in ? in + nin : NULL;
    lz_status s = in ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for tangents");
    for (uint32_t i = 0; i < j->sig->nopnd && s == LZ_OK; i++)
        in[k++] = lz_trace_node_of(j->opnd[i]);
    for (uint32_t i = 0; i < j->sig->nopnd && s == LZ_OK; i++)
        if (j->tan[i])
            in[k++] = lz_trace_node_of(j->tan[i]);
    for (uint32_t i = 0; i < j->sig->nresult && s == LZ_OK; i++)
        if (lz_has_gradient(j->sig->result[i]))
            in[k++] = lz_trace_node_of(lz_j_zeros(j->sig->result[i], j->site));
    for (uint32_t i = 0; i < b->captured.len && s == LZ_OK; i++)
        lz_node_retain(in[k++] = b->captured.data[i]);
    for (uint32_t i = 0; i < nin && s == LZ_OK; i++)
        if (!in[i])
            s = lz_error_get()->status;
    if (s == LZ_OK)
        s = lz_region_replay(f, in, r, j->site);
    for (uint32_t i = 0; i < j->sig->nresult && s == LZ_OK; i++)
        if (lz_has_gradient(j->sig->result[i]))
            j->out[i] = lz_trace_tensor_of(r[at++], j->site);
    for (uint32_t i = 0; in && i < nin + f->nresult; i++)
        lz_node_release(in[i]);
    lz_free(in);
    return s;
}

/* An operation without a JVP rule: the transpose of its gradient rule, which must be linear in the
 * incoming gradient. */
lz_status lz_jvp_transposed(const lz_jvp *j)
{
    uint32_t n = j->sig->nopnd, r = j->sig->nresult, nroot = 0;
    lz_body b;
    const lz_func *f = NULL;
    lz_tensor **room = lz_calloc(3 * (size_t)n + 3 * (size_t)r + n + 1, sizeof *room);
    lz_node **roots = lz_calloc((size_t)r + 1, sizeof *roots);
    lz_dev *dev = room && roots ? device_of(j->opnd, n) : NULL;
    lz_status s = !room || !roots ? LZ_FAIL(LZ_EMEM, "no memory for tangents")
                  : dev           ? lz_body_begin(&b, dev)
                                  : lz_error_get()->status;
    if (s == LZ_OK) {
        s = record_transposed(j, &b, room, roots, &nroot);
        if (s == LZ_OK && nroot)
            s = lz_body_region(&b, roots, nroot, &f);
        lz_body_end(&b);
        if (s == LZ_OK && nroot)
            s = replay_transposed(j, &b, f);
        lz_body_free(&b);
    }
    for (uint32_t k = 0; roots && k < r; k++)
        lz_node_release(roots[k]);
    lz_free(roots);
    lz_free(room);
    return s;
}
