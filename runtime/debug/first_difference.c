/* first_difference.c - see first_difference.h. */
#include "runtime/debug/first_difference.h"
#include "ir/eval/agreement.h"
#include "ir/eval/eval.h"
#include "runtime/debug/nonfinite.h"
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
    lz_device_buffer **buf = lz_calloc((size_t)n + 1, sizeof *buf), **out = buf + f->nparam;
    bool *donated = lz_calloc((size_t)f->nparam + 1, sizeof *donated);
    lz_compile_options o = {.dump_name = "check"};
    lz_exec *x = NULL;
    lz_event *done = NULL;
    lz_status s = buf && donated ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory to run '%s'", f->name);
    if (s == LZ_OK)
        s = copy_in(d, f, in, buf);
    if (s == LZ_OK)
        s = d->be->compile(d->ordinal, f, &o, &x);
    if (s == LZ_OK)
        s = d->be->execute(x, d->ordinal, buf, donated, true, out, &done);
    if (s == LZ_OK)
        s = lz_event_wait(done);
    if (s == LZ_OK)
        s = copy_out(d, f, out, results);
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

/* Compiles f with the values v as results. *k: the first that does not agree; n: all do. */
static lz_status compare_values(const lz_dev *d, const lz_func *f, lz_literal *const *in,
                                const lz_val *v, uint32_t n, uint32_t *k, difference *at)
{
    lz_func *g;
    *k = n;
    LZ_TRY(lz_func_pick(f, v, n, &g));
    lz_literal **got = lz_calloc((size_t)n + 1, sizeof *got);
    lz_status s = got ? run_compiled(d, g, in, got) : LZ_FAIL(LZ_EMEM, "no memory to compare");
    if (s == LZ_OK)
        s = compare(g, in, got, k, at);
    if (s == LZ_OK && *k < n)
        at->v = v[*k];
    release_all(got, n);
    lz_func_free(g);
    return s;
}

/* ---- looking for the operation ---- */

static bool is_computed(const lz_func *f, lz_val v)
{
    return v >= f->nparam && !f->insts[v].lit && f->insts[v].sig->nresult == 1;
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

/* All values of one program. */
static lz_status find_among_all(const lz_dev *d, const lz_func *f, lz_literal *const *in,
                                lz_val *list, bool *found, difference *at)
{
    uint32_t n = 0, k;
    for (lz_val v = f->nparam; v < f->ninst; v++)
        if (is_computed(f, v) && !(f->insts[v].sig->flags & LZ_F_EFFECT))
            list[n++] = v;
    LZ_TRY(compare_values(d, f, in, list, n, &k, at));
    *found = k < n;
    return LZ_OK;
}

/* One value at a time, each the only result of a program: by halves over what the wrong value is
 * made of, then from operand to operand, since a value may be right by chance that is made of a
 * wrong one. */
static lz_status find_by_halves(const lz_dev *d, const lz_func *f, lz_literal *const *in,
                                lz_val wrong, lz_val *list, bool *found, difference *at)
{
    uint32_t n = 0, k, low = 0;
    LZ_TRY(made_of(f, wrong, list, &n));
    LZ_TRY(compare_values(d, f, in, &wrong, 1, &k, at));
    *found = k == 0;
    for (uint32_t high = n ? n - 1 : 0; *found && low < high;) {
        uint32_t middle = low + (high - low) / 2;
        LZ_TRY(compare_values(d, f, in, &list[middle], 1, &k, at));
        low = k == 0 ? low : middle + 1;
        high = k == 0 ? middle : high;
    }
    for (bool again = *found; again;) {
        lz_val v = at->v;
        again = false;
        for (uint32_t o = 0; o < f->insts[v].sig->nopnd && !again; o++) {
            lz_val x = f->insts[v].opnd[o];
            if (!is_computed(f, x))
                continue;
            LZ_TRY(compare_values(d, f, in, &x, 1, &k, at));
            again = k == 0;
        }
    }
    return LZ_OK;
}

static lz_status find_operation(const lz_dev *d, const lz_func *f, lz_literal *const *in,
                                lz_val wrong, bool *found, difference *at)
{
    *found = false;
    lz_val *list = lz_alloc(((size_t)f->ninst + 1) * sizeof *list);
    if (!list)
        return LZ_FAIL(LZ_EMEM, "no memory to look at %u operations", f->ninst);
    lz_status s = find_among_all(d, f, in, list, found, at);
    if (s != LZ_OK || !*found)
        s = find_by_halves(d, f, in, wrong, list, found, at);
    lz_free(list);
    return s;
}

static lz_status tell(const lz_func *f, const difference *at, const char *what)
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
    lz_status s = LZ_FAIL(LZ_ECHECK, "LAZULI_CHECK: %.330s%s", lz_buf_str(&place), what);
    lz_buf_free(&place);
    return s;
}

lz_status lz_first_difference(lz_dev *d, const lz_func *f, lz_literal *const *in,
                              lz_literal *const *results)
{
    uint32_t k;
    bool found = false;
    difference at = {0}, first = {0};
    lz_func *g;
    LZ_TRY(lz_func_pick(f, f->results, f->nresult, &g)); /* what it prints is printed once */
    lz_status s = compare(g, in, results, &k, &first);
    lz_func_free(g);
    if (s == LZ_OK && k < f->nresult) {
        first.v = f->results[k];
        LZ_QUIETLY {
            found = find_operation(d, f, in, first.v, &found, &at) == LZ_OK && found;
        }
        s = found ? tell(f, &at, "")
                  : tell(f, &first, "; computed alone, no operation that it is made of differs");
    }
    lz_buf_free(&at.got);
    lz_buf_free(&at.want);
    lz_buf_free(&first.got);
    lz_buf_free(&first.want);
    return s;
}
