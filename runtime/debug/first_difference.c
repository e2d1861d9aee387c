/* first_difference.c - see first_difference.h. */
#include "runtime/debug/first_difference.h"
#include "ir/eval/agreement.h"
#include "ir/eval/eval.h"
#include "runtime/debug/nonfinite.h"
#include <stdlib.h>
#include <string.h>

typedef struct difference {
    lz_val v; /* of f */
    int64_t element;
    lz_buf got, want; /* the numbers there */
} difference;

static void release_all(lz_literal **v, uint32_t n)
{
    for (uint32_t i = 0; v && i < n; i++)
        lz_literal_release(v[i]);
    lz_free(v);
}

/* ---- both ways of running ---- */

static lz_status run_reference(void *user, const lz_func *f, lz_literal *const *in,
                               lz_literal **results)
{
    (void)user;
    return lz_ref_run(f, in, results);
}

static lz_status copy_in(const lz_dev *d, const lz_func *f, lz_literal *const *in,
                         lz_device_buffer **buf)
{
    for (uint32_t i = 0; i < f->nparam; i++) {
        LZ_TRY(d->be->alloc(d->ordinal, in[i]->nbytes, &buf[i]));
        LZ_TRY(d->be->copy_in(buf[i], in[i]->data, in[i]->nbytes));
    }
    return LZ_OK;
}

static lz_status copy_out(const lz_dev *d, const lz_func *f, lz_device_buffer *const *buf,
                          lz_literal **results)
{
    for (uint32_t k = 0; k < f->nresult; k++) {
        if (!(results[k] = lz_literal_new(lz_val_type(f, f->results[k]))))
            return lz_error_get()->status;
        LZ_TRY(d->be->copy_out(buf[k], results[k]->data, results[k]->nbytes));
    }
    return LZ_OK;
}

/* Compiles f for the device and runs it. results: nresult new references, NULL on failure. */
static lz_status run_compiled(const lz_dev *d, const lz_func *f, lz_literal *const *in,
                              lz_literal **results)
{
    uint32_t n = f->nparam + f->nresult;
    lz_device_buffer **buf = lz_calloc((size_t)n + 1, sizeof *buf);
    bool *donated = lz_calloc((size_t)f->nparam + 1, sizeof *donated);
    lz_compile_options o = {.dump_name = "check"};
    lz_exec *x = NULL;
    lz_event *done = NULL;
    memset(results, 0, f->nresult * sizeof *results); /* room that was used before */
    lz_status s = buf && donated ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory to run '%s'", f->name);
    if (s == LZ_OK)
        s = copy_in(d, f, in, buf);
    if (s == LZ_OK)
        s = d->be->compile(d->ordinal, f, &o, &x);
    if (s == LZ_OK)
        s = d->be->execute(x, d->ordinal, buf, donated, true, buf + f->nparam, &done);
    if (s == LZ_OK)
        s = lz_event_wait(done);
    if (s == LZ_OK)
        s = copy_out(d, f, buf + f->nparam, results);
    for (uint32_t k = 0; s != LZ_OK && k < f->nresult; k++) {
        lz_literal_release(results[k]);
        results[k] = NULL;
    }
    for (uint32_t i = 0; buf && i < n; i++)
        lz_device_buffer_release(buf[i]);
    lz_event_release(done);
    if (x)
        d->be->exec_free(x);
    lz_free(buf);
    lz_free(donated);
    return s;
}

/* ---- comparing ---- */

static void note(difference *at, const lz_literal *got, const lz_literal *want, int64_t number)
{
    lz_dtype part;
    at->element = number / lz_components(got->type, &part);
    at->got.len = at->want.len = 0;
    lz_print_number(got->type, got->data, at->element, &at->got);
    lz_print_number(want->type, want->data, at->element, &at->want);
}

/* *k: the first result that does not agree; f->nresult: all do. */
static lz_status compare(const lz_func *f, lz_literal *const *in, lz_literal *const *got,
                         uint32_t *k, difference *at)
{
    lz_moves m = {0};
    int64_t number;
    lz_literal **want = lz_calloc((size_t)f->nresult + 1, sizeof *want);
    lz_status s = want ? lz_ref_run(f, in, want) : LZ_FAIL(LZ_EMEM, "no memory to compare");
    bool same = s == LZ_OK;
    for (*k = 0; *k < f->nresult && same; (*k)++) /* mostly without a tolerance that takes long */
        same = lz_agrees(&m, *k, got[*k], want[*k], -1, -1, &number);
    if (s == LZ_OK && !same)
        s = lz_moves_measure(&m, f, in, want, run_reference, NULL);
    for (*k = 0; *k < f->nresult && s == LZ_OK && !same; (*k)++)
        if (!lz_agrees(&m, *k, got[*k], want[*k], -1, -1, &number)) {
            note(at, got[*k], want[*k], number);
            break;
        }
    if (same)
        *k = f->nresult;
    lz_moves_free(&m);
    release_all(want, f->nresult);
    return s;
}

/* Values of f, compiled as the results of a program. values: n new references, NULL on failure. */
static lz_status compute(const lz_dev *d, const lz_func *f, lz_literal *const *in, const lz_val *v,
                         uint32_t n, lz_literal **values)
{
    lz_func *g;
    LZ_TRY(lz_func_pick(f, v, n, &g));
    lz_status s = run_compiled(d, g, in, values);
    lz_func_free(g);
    return s;
}

/* ---- one operation ---- */

/* The operation that makes v, of parameters. */
static lz_status function_of(const lz_func *f, lz_val v, lz_func **out)
{
    const lz_inst *in = &f->insts[v], *op = in;
    if (lz_inst_op(in) == LZ_OP_RESULT)
        op = &f->insts[in->opnd[0]];
    lz_func *g = lz_func_new(f->name);
    lz_val *opnd = g ? lz_alloc(((size_t)op->sig->nopnd + 1) * sizeof *opnd) : NULL;
    lz_status s = opnd ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for an operation");
    for (uint32_t k = 0; k < op->sig->nopnd && s == LZ_OK; k++)
        opnd[k] = lz_build_param(g, op->sig->opnd[k]);
    if (s == LZ_OK) {
        lz_val r = lz_build_sig(g, op->sig, opnd);
        if (op != in)
            r = lz_build_result(g, r, LZ_ATTR(index, in->sig->attr)->index);
        s = r == LZ_NOVAL ? g->status : lz_func_set_results(g, &r, 1);
    }
    lz_free(opnd);
    if (s != LZ_OK) {
        lz_func_free(g);
        g = NULL;
    }
    *out = g;
    return s;
}

/* Whether the operation that makes v gives `got` of these operands, as exactly as their roundings
 * allow. */
static lz_status agrees(const lz_func *f, lz_val v, lz_literal *const *opnd, lz_literal *got,
                        bool *yes, difference *at)
{
    uint32_t k;
    lz_func *g;
    LZ_TRY(function_of(f, v, &g));
    lz_status s = compare(g, opnd, &got, &k, at);
    lz_func_free(g);
    *yes = s != LZ_OK || k == 1;
    at->v = v;
    return s;
}

static const lz_inst *operation_of(const lz_func *f, lz_val v)
{
    const lz_inst *in = &f->insts[v];
    return lz_inst_op(in) == LZ_OP_RESULT ? &f->insts[in->opnd[0]] : in;
}

/* A value that a program can have as result, of an operation that may be evaluated again. */
static bool is_computed(const lz_func *f, lz_val v)
{
    return v >= f->nparam && !f->insts[v].lit && f->insts[v].sig->nresult == 1;
}

static bool is_repeatable(const lz_func *f, lz_val v)
{
    const lz_sig *s = operation_of(f, v)->sig;
    return is_computed(f, v) && !(s->flags & LZ_F_EFFECT) && s->op != LZ_OP_CUSTOM_CALL;
}

/* What v is, as far as it needs no computing. NULL: it does. */
static lz_literal *given(const lz_func *f, lz_literal *const *in, lz_val v)
{
    return v < f->nparam ? in[v] : f->insts[v].lit;
}

/* ---- looking for the operation ---- */

static int by_order(const void *a, const void *b, void *order)
{
    uint32_t x = ((const uint32_t *)order)[*(const lz_val *)a],
             y = ((const uint32_t *)order)[*(const lz_val *)b];
    return x < y ? -1 : x > y;
}

typedef struct work { /* room: ninst of each and one */
    lz_val *list;
    lz_literal **value, **opnd, **results;
} work;

/* All values of one program: each operation is held against its own operands. */
static lz_status find_among_all(const lz_dev *d, const lz_func *f, const uint32_t *order,
                                lz_literal *const *in, work *w, bool *found, difference *at)
{
    uint32_t n = 0;
    for (lz_val v = f->nparam; v < f->ninst; v++)
        if (is_computed(f, v) && !(f->insts[v].sig->flags & LZ_F_EFFECT))
            w->list[n++] = v;
    if (order)
        qsort_r(w->list, n, sizeof *w->list, by_order, (void *)(uintptr_t)order);
    LZ_TRY(compute(d, f, in, w->list, n, w->results));
    for (uint32_t i = 0; i < n; i++)
        w->value[w->list[i]] = w->results[i];
    lz_status s = LZ_OK;
    for (uint32_t i = 0; i < n && s == LZ_OK && !*found; i++) {
        const lz_inst *op = operation_of(f, w->list[i]);
        bool known = is_repeatable(f, w->list[i]), yes = true;
        for (uint32_t k = 0; k < op->sig->nopnd && known; k++) {
            lz_literal *l = given(f, in, op->opnd[k]);
            w->opnd[k] = l ? l : w->value[op->opnd[k]];
            known = w->opnd[k] != NULL;
        }
        if (known)
            s = agrees(f, w->list[i], w->opnd, w->results[i], &yes, at);
        *found = !yes;
    }
    for (uint32_t i = 0; i < n; i++)
        lz_literal_release(w->results[i]);
    return s;
}

/* Whether v, the only result of a program, differs from the reference's. */
static lz_status is_wrong(const lz_dev *d, const lz_func *f, lz_literal *const *in, lz_val v,
                          bool *yes)
{
    uint32_t k = 1;
    lz_func *g;
    lz_literal *got = NULL;
    difference unused = {0};
    LZ_TRY(lz_func_pick(f, &v, 1, &g));
    lz_status s = run_compiled(d, g, in, &got);
    if (s == LZ_OK)
        s = compare(g, in, &got, &k, &unused);
    *yes = s == LZ_OK && k == 0;
    lz_literal_release(got);
    lz_buf_free(&unused.got);
    lz_buf_free(&unused.want);
    lz_func_free(g);
    return s;
}

/* The computed values that v is made of, and v itself, ascending. */
static lz_status made_of(const lz_func *f, lz_val v, lz_val *out, uint32_t *n)
{
    bool *needed = lz_calloc((size_t)f->ninst + 1, sizeof *needed);
    if (!needed)
        return LZ_FAIL(LZ_EMEM, "no memory to look at %u operations", f->ninst);
    needed[v] = true;
    for (lz_val i = v + 1; i-- > 0;)
        for (uint32_t k = 0; needed[i] && k < f->insts[i].sig->nopnd; k++)
            needed[f->insts[i].opnd[k]] = true;
    *n = 0;
    for (lz_val i = 0; i <= v; i++)
        if (needed[i] && is_computed(f, i))
            out[(*n)++] = i;
    lz_free(needed);
    return LZ_OK;
}

/* An operand of *v that is wrong takes its place, as long as there is one. */
static lz_status go_up(const lz_dev *d, const lz_func *f, lz_literal *const *in, lz_val *v)
{
    for (bool again = true; again;) {
        const lz_inst *op = operation_of(f, *v);
        again = false;
        for (uint32_t k = 0; k < op->sig->nopnd && !again; k++) {
            if (!is_computed(f, op->opnd[k]))
                continue;
            LZ_TRY(is_wrong(d, f, in, op->opnd[k], &again));
            *v = again ? op->opnd[k] : *v;
        }
    }
    return LZ_OK;
}

/* Holds v against its operands, each computed by a program of its own. */
static lz_status agrees_alone(const lz_dev *d, const lz_func *f, lz_literal *const *in, lz_val v,
                              work *w, bool *yes, difference *at)
{
    const lz_inst *op = operation_of(f, v);
    uint32_t n = op->sig->nopnd;
    lz_literal *got = NULL;
    lz_status s = LZ_OK;
    for (uint32_t k = 0; k < n; k++)
        w->opnd[k] = NULL;
    *yes = true;
    for (uint32_t k = 0; k < n && s == LZ_OK; k++) {
        lz_literal *l = given(f, in, op->opnd[k]);
        if (l)
            lz_literal_retain(w->opnd[k] = l);
        else
            s = compute(d, f, in, &op->opnd[k], 1, &w->opnd[k]);
    }
    if (s == LZ_OK)
        s = compute(d, f, in, &v, 1, &got);
    if (s == LZ_OK)
        s = agrees(f, v, w->opnd, got, yes, at);
    for (uint32_t k = 0; k < n; k++)
        lz_literal_release(w->opnd[k]);
    lz_literal_release(got);
    return s;
}

/* One value at a time, each the only result of a program: by halves over what the wrong value is
 * made of, then from operand to operand, since a value may be right by chance that is made of a
 * wrong one. An operation that only makes the roundings of its operands large is not wrong: it
 * agrees with them. */
static lz_status find_by_halves(const lz_dev *d, const lz_func *f, lz_literal *const *in,
                                lz_val wrong, work *w, bool *reproduced, bool *found,
                                difference *at)
{
    uint32_t n = 0, low = 0;
    bool yes;
    LZ_TRY(made_of(f, wrong, w->list, &n));
    LZ_TRY(is_wrong(d, f, in, wrong, reproduced));
    for (uint32_t high = n ? n - 1 : 0; *reproduced && low < high;) {
        uint32_t middle = low + (high - low) / 2;
        LZ_TRY(is_wrong(d, f, in, w->list[middle], &yes));
        low = yes ? low : middle + 1;
        high = yes ? middle : high;
    }
    if (!*reproduced || !n)
        return LZ_OK;
    lz_val v = w->list[low];
    LZ_TRY(go_up(d, f, in, &v));
    if (!is_repeatable(f, v))
        return LZ_OK;
    LZ_TRY(agrees_alone(d, f, in, v, w, &yes, at));
    *found = !yes;
    return LZ_OK;
}

/* The results of f and the operands of v: one compiled program. */
static lz_status compute_beside(const lz_dev *d, const lz_func *f, lz_literal *const *in, lz_val v,
                                work *w, uint32_t *n)
{
    const lz_inst *op = operation_of(f, v);
    *n = 0;
    for (uint32_t k = 0; k < op->sig->nopnd; k++)
        if (is_computed(f, op->opnd[k]))
            w->list[(*n)++] = op->opnd[k];
    w->list[*n] = v;
    memcpy(w->list + *n + 1, f->results, f->nresult * sizeof *w->list);
    return compute(d, f, in, w->list, *n + 1 + f->nresult, w->results);
}

/* What compute_beside gave: whether v agrees with its operands, and which of them (its number among
 * the computed ones; n: none) is not the reference's. */
static lz_status look_beside(const lz_func *f, lz_literal *const *in, lz_val v, work *w, uint32_t n,
                             bool *yes, uint32_t *wrong, difference *at)
{
    const lz_inst *op = operation_of(f, v);
    difference unused = {0};
    lz_func *g;
    *yes = true;
    for (uint32_t k = 0, i = 0; k < op->sig->nopnd; k++)
        w->opnd[k] = is_computed(f, op->opnd[k]) ? w->results[i++] : given(f, in, op->opnd[k]);
    if (is_repeatable(f, v))
        LZ_TRY(agrees(f, v, w->opnd, w->results[n], yes, at));
    LZ_TRY(lz_func_pick(f, w->list, n, &g));
    lz_status s = compare(g, in, w->results, wrong, &unused);
    lz_buf_free(&unused.got);
    lz_buf_free(&unused.want);
    lz_func_free(g);
    return s;
}

/* From the wrong result up, from operand to operand, in the program that it is wrong in, whose
 * results the operands are as well. Ends where an operation does not agree with its operands, or
 * where these are right: then it has made their roundings large. */
static lz_status find_beside(const lz_dev *d, const lz_func *f, lz_literal *const *in, lz_val v,
                             work *w, bool *found, difference *at)
{
    enum { STEPS = 32 };
    lz_status s = LZ_OK;
    uint32_t n = 0, k = 0;
    for (int i = 0; i < STEPS && s == LZ_OK && !*found && k <= n; i++) {
        bool yes = true;
        s = compute_beside(d, f, in, v, w, &n);
        if (s != LZ_OK)
            break;
        s = look_beside(f, in, v, w, n, &yes, &k, at);
        *found = !yes;
        v = k < n ? w->list[k] : v;
        for (uint32_t r = 0; r < n + 1 + f->nresult; r++)
            lz_literal_release(w->results[r]);
        if (k >= n)
            break;
    }
    return s;
}

static lz_status find_operation(const lz_dev *d, const lz_func *f, const uint32_t *order,
                                lz_literal *const *in, lz_val wrong, bool *found, difference *at)
{
    bool alone = false; /* it differs in a program of its own, too */
    size_t n = (size_t)f->ninst + f->nresult + lz_func_widest(f) + 2;
    work w = {lz_alloc(n * sizeof *w.list), lz_calloc(n, sizeof *w.value),
              lz_calloc(n, sizeof *w.opnd), lz_calloc(n, sizeof *w.results)};
    bool room = w.list && w.value && w.opnd && w.results;
    lz_status s = room ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory to look at %u values", f->ninst);
    if (room) {
        s = find_among_all(d, f, order, in, &w, found, at);
        if (s != LZ_OK || !*found)
            s = find_by_halves(d, f, in, wrong, &w, &alone, found, at);
        if (s == LZ_OK && !*found && !alone)
            s = find_beside(d, f, in, wrong, &w, found, at);
    }
    lz_free(w.list);
    lz_free(w.value);
    lz_free(w.opnd);
    lz_free(w.results);
    return s;
}

static lz_status tell(const lz_func *f, const difference *at)
{
    lz_buf place = {0};
    char type[96];
    lz_print_op_place(f, at->v, &place);
    lz_buf_puts(&place, " gives ");
    lz_buf_puts(&place, lz_buf_str(&at->got));
    lz_buf_puts(&place, " at ");
    lz_print_index(lz_val_type(f, at->v), at->element, &place);
    lz_buf_printf(&place, " of %s, the reference ",
                  lz_type_short(lz_val_type(f, at->v), type, sizeof type));
    lz_buf_puts(&place, lz_buf_str(&at->want));
    lz_status s = LZ_FAIL(LZ_ECHECK, "LAZULI_CHECK: %.380s", lz_buf_str(&place));
    lz_buf_free(&place);
    return s;
}

lz_status lz_first_difference(lz_dev *d, const lz_func *f, const uint32_t *order,
                              lz_literal *const *in, lz_literal *const *results)
{
    uint32_t k;
    bool found = false;
    difference at = {0}, first = {0};
    lz_func *g;
    LZ_TRY(lz_func_pick(f, f->results, f->nresult, &g)); /* what it prints is printed once */
    lz_status s = compare(g, in, results, &k, &first);
    lz_func_free(g);
    if (s == LZ_OK && k < f->nresult)
        s = find_operation(d, f, order, in, f->results[k], &found, &at);
    if (s == LZ_OK && found)
        s = tell(f, &at);
    lz_buf_free(&at.got);
    lz_buf_free(&at.want);
    lz_buf_free(&first.got);
    lz_buf_free(&first.want);
    return s;
}
