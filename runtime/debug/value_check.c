/* value_check.c - see value_check.h. */
#include "runtime/debug/value_check.h"
#include "base/config.h"
#include "base/log.h"
#include "base/text.h"
#include "ir/participants.h"
#include "runtime/debug/first_difference.h"
#include "runtime/debug/nonfinite.h"
#include <inttypes.h>
#include <string.h>

/* ---- what is wanted ---- */

typedef struct wanted {
    bool nan, inf, all; /* inf: infinities, too; all: also values that no result shows */
    int64_t compare;    /* every so many executions of a program; 0: never */
} wanted;

static lz_once once = LZ_ONCE_INIT;
static wanted want;
_Atomic int lz_check_state;

static bool is(const char *word, size_t n, const char *name)
{
    return strlen(name) == n && memcmp(word, name, n) == 0;
}

static bool read_word(const char *word, size_t n)
{
    const char *colon = memchr(word, ':', n);
    size_t name = colon ? (size_t)(colon - word) : n, rest = colon ? n - name - 1 : 0;
    int64_t every = 1;
    if (is(word, name, "ref")) {
        if (colon && lz_text_i64(colon + 1, rest, 1, INT64_MAX, &every) != LZ_OK)
            return false;
        want.compare = every;
        return true;
    }
    bool inf = is(word, name, "nonfinite"), all = colon && is(colon + 1, rest, "all");
    if ((!inf && !is(word, name, "nan")) || (colon && !all))
        return false;
    want.nan = true;
    want.inf |= inf;
    want.all |= all;
    return true;
}

static void read_option(void)
{
    for (const char *p = lz_cfg_str(LZ_OPT_CHECK); *p;) {
        size_t n = strcspn(p, ",");
        if (n && !read_word(p, n))
            LZ_WARN("check",
                    "LAZULI_CHECK: '%.*s' is none of nan, nan:all, nonfinite, "
                    "nonfinite:all, ref, ref:EVERY: it is ignored",
                    (int)(n < 64 ? n : 64), p);
        p += n + (p[n] != '\0');
    }
    atomic_store(&lz_check_state, want.nan || want.compare ? 2 : 1);
}

bool lz_check_ask(void)
{
    lz_once_run(&once, read_option);
    return atomic_load(&lz_check_state) == 2;
}

/* ---- an execution ---- */

struct lz_check_run {
    lz_dev *dev;
    lz_program *prog; /* a reference */
    lz_func *f;
    uint32_t *order;                  /* of f's instructions; NULL: theirs */
    lz_device_buffer **in, **results; /* references */
    bool compare;
};

static void run_free(lz_check_run *r)
{
    for (uint32_t i = 0; r->in && i < r->f->nparam; i++)
        lz_device_buffer_release(r->in[i]);
    for (uint32_t k = 0; r->results && k < r->f->nresult; k++)
        lz_device_buffer_release(r->results[k]);
    lz_free(r->in);
    lz_free(r->results);
    lz_func_free(r->f);
    lz_free(r->order);
    lz_program_release(r->prog);
    lz_free(r);
}

/* NULL: no memory. Takes f and order over. */
static lz_check_run *run_new(lz_dev *d, lz_program *p, lz_func *f, uint32_t *order)
{
    lz_check_run *r = f ? lz_calloc(1, sizeof *r) : NULL;
    if (!r) {
        lz_func_free(f);
        lz_free(order);
        return NULL;
    }
    *r = (lz_check_run){.dev = d, .prog = p, .f = f, .order = order};
    atomic_fetch_add(&p->refs, 1);
    r->in = lz_calloc((size_t)f->nparam + 1, sizeof *r->in);
    r->results = lz_calloc((size_t)f->nresult + 1, sizeof *r->results);
    if (r->in && r->results)
        return r;
    run_free(r);
    return NULL;
}

void lz_check_begin(lz_dev *d, lz_program *p, lz_func *f, uint32_t *order,
                    lz_device_buffer *const *in, lz_device_buffer *const *results,
                    lz_check_run **out)
{
    uint64_t n = atomic_fetch_add(&p->check.runs, 1);
    bool compare = want.compare && n % (uint64_t)want.compare == 0;
    *out = NULL;
    if (!compare && !want.nan) {
        lz_func_free(f);
        lz_free(order);
        return;
    }
    lz_check_run *r = run_new(d, p, f, order);
    if (!r) {
        LZ_WARN_ONCE("check", "LAZULI_CHECK: no memory to check a program");
        return;
    }
    r->compare = compare;
    for (uint32_t i = 0; i < r->f->nparam; i++)
        lz_device_buffer_retain(r->in[i] = in[i]);
    for (uint32_t k = 0; k < r->f->nresult; k++)
        lz_device_buffer_retain(r->results[k] = results[k]);
    *out = r;
}

/* ---- looking ---- */

static lz_status read_buffers(const lz_check_run *r, lz_device_buffer *const *b, uint32_t n,
                              const lz_val *v, lz_literal **out)
{
    for (uint32_t i = 0; i < n; i++) {
        const lz_type *t = lz_val_type(r->f, v ? v[i] : i);
        if (!(out[i] = lz_literal_new(t)))
            return lz_error_get()->status;
        LZ_TRY(r->dev->be->copy_out(b[i], out[i]->data, t->nbytes));
    }
    return LZ_OK;
}

static void release_all(lz_literal **v, uint32_t n)
{
    for (uint32_t i = 0; v && i < n; i++)
        lz_literal_release(v[i]);
    lz_free(v);
}

/* Whether the reference can run it, which is replica 0 of 1: devices that meet cannot run one by
 * one, be they of this process or of others. */
static bool is_alone(const lz_check_run *r)
{
    int n = 0, first;
    if (lz_func_has_collective(r->f))
        return false;
    if (!lz_func_has_replica_id(r->f))
        return true;
    LZ_QUIETLY { /* who has recorded it has joined them */
        if (lz_dev_world(r->dev, &n, &first) != LZ_OK)
            n = 0;
    }
    return n == 1;
}

/* The first result with such a number; the number of results: none has. */
static uint32_t bad_result(const lz_check_run *r, lz_literal *const *results, int64_t *element)
{
    uint32_t k = 0;
    for (; k < r->f->nresult; k++)
        if ((*element = lz_nonfinite_find(results[k]->type, results[k]->data, want.inf)) >= 0)
            break;
    return k;
}

static bool bad_input(const lz_check_run *r, lz_literal *const *in)
{
    for (uint32_t i = 0; i < r->f->nparam; i++)
        if (lz_nonfinite_find(in[i]->type, in[i]->data, want.inf) >= 0)
            return true;
    return false;
}

static lz_status search(const lz_check_run *r, lz_literal *const *in, lz_buf *out)
{
    lz_func *f;
    LZ_TRY(lz_func_pick(r->f, r->f->results, r->f->nresult, &f));
    lz_status s = lz_nonfinite_search(f, r->order, in, want.inf, out);
    lz_func_free(f);
    return s;
}

/* The program's result is one, but no operation was seen to make it. */
static lz_status only_result(const lz_check_run *r, lz_literal *const *results, uint32_t k,
                             int64_t element, const char *why)
{
    lz_buf text = {0};
    lz_print_op_place(r->f, r->f->results[k], &text);
    lz_buf_puts(&text, " gives ");
    lz_print_number(results[k]->type, results[k]->data, element, &text);
    lz_buf_puts(&text, " at ");
    lz_print_index(results[k]->type, element, &text);
    lz_status s = LZ_FAIL(LZ_ECHECK, "LAZULI_CHECK: %.250s; %s", lz_buf_str(&text), why);
    lz_buf_free(&text);
    return s;
}

/* Errors: LZ_ECHECK; others: the search could not be made. */
static lz_status look_for_nonfinite(const lz_check_run *r, lz_literal *const *in,
                                    lz_literal *const *results)
{
    int64_t element = -1;
    lz_buf text = {0};
    uint32_t k = bad_result(r, results, &element);
    bool bad = k < r->f->nresult, from_outside = bad_input(r, in);
    /* what a program was told of once, and what comes from outside, would be found in each step */
    if (atomic_load(&r->prog->check.found) || (!bad && !want.all) ||
        (from_outside && atomic_exchange(&r->prog->check.from_outside, true)))
        return LZ_OK;
    if (!is_alone(r))
        return bad ? only_result(r, results, k, element,
                                 "which operation makes it is not searched for in programs "
                                 "whose devices meet in collectives")
                   : LZ_OK;
    lz_status s = search(r, in, &text);
    if (s == LZ_OK && text.len)
        s = LZ_FAIL(LZ_ECHECK, "LAZULI_CHECK: %.380s", lz_buf_str(&text));
    else if (s == LZ_OK && bad && !from_outside)
        s = only_result(r, results, k, element,
                        "the reference interpreter makes none: see LAZULI_CHECK=ref");
    if (s == LZ_ECHECK)
        atomic_store(&r->prog->check.found, true);
    lz_buf_free(&text);
    return s;
}

static bool has_failed(const lz_check_run *r)
{
    for (uint32_t k = 0; k < r->f->nresult; k++)
        if (lz_event_failure(r->results[k]->ready))
            return true;
    return false;
}

static lz_status look(const lz_check_run *r)
{
    lz_literal **in = lz_calloc((size_t)r->f->nparam + 1, sizeof *in),
               **results = lz_calloc((size_t)r->f->nresult + 1, sizeof *results);
    lz_status s = in && results ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory to check a program");
    if (s == LZ_OK)
        s = read_buffers(r, r->results, r->f->nresult, r->f->results, results);
    if (s == LZ_OK)
        s = read_buffers(r, r->in, r->f->nparam, NULL, in);
    if (s == LZ_OK && want.nan)
        s = look_for_nonfinite(r, in, results);
    if (s == LZ_OK && r->compare && is_alone(r))
        s = lz_first_difference(r->dev, r->f, r->order, in, results);
    release_all(in, r->f->nparam);
    release_all(results, r->f->nresult);
    return s;
}

lz_status lz_check_look(lz_check_run *r, lz_status s)
{
    lz_error before = *lz_error_get();
    bool looks = s == LZ_OK && !has_failed(r);
    if (!looks) {
        run_free(r);
        return s;
    }
    s = look(r);
    if (s != LZ_OK && s != LZ_ECHECK) {
        LZ_WARN_ONCE("check", "LAZULI_CHECK: a program could not be checked: %s",
                     lz_error_get()->message);
        lz_error_set(&before);
        s = LZ_OK;
    }
    run_free(r);
    return s;
}
