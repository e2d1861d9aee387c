/* pass.c - the pass manager. See pass.h. */
#include "lower/pass.h"
#include "base/config.h"
#include "base/timeline/timeline.h"
#include "lower/lower_dump.h"
#include "lower/passes.h"
#include "lower/pipeline.h"
#include <inttypes.h>
#include <string.h>

typedef struct row {
    lz_pass pass;
    bool required;
    const char *needs, *breaks;
} row;

static const row rows[] = {
#define PASS(name, required, needs, breaks, doc)                                                   \
    {{#name, doc, lz_pass_##name}, required, needs, breaks},
#include "lower/passes.def"
};
enum { NROW = sizeof rows / sizeof rows[0] };

static const row *find(const char *name, size_t n)
{
    for (int i = 0; i < NROW; i++)
        if (strlen(rows[i].pass.name) == n && memcmp(rows[i].pass.name, name, n) == 0)
            return &rows[i];
    return NULL;
}

const lz_pass *lz_pass_get(const char *name)
{
    const row *r = name ? find(name, strlen(name)) : NULL;
    return r ? &r->pass : NULL;
}

const lz_pass *lz_pass_at(int i)
{
    return i >= 0 && i < NROW ? &rows[i].pass : NULL;
}

/* ---- checks ---- */

static bool checking(void)
{
#ifdef LZ_DEBUG
    return true;
#else
    return lz_cfg_bool(LZ_OPT_VERIFY);
#endif
}

static lz_status check(const row *r, const lz_func *before, const lz_func *after)
{
    if (!after)
        return LZ_OK;
    lz_status s = lz_func_verify(after);
    if (s != LZ_OK && s != LZ_EMEM)
        return LZ_FAIL(LZ_EINTERNAL, "after pass %s: %.300s", r->pass.name,
                       lz_error_get()->message);
    LZ_TRY(s);
    if (lz_func_same(before, after))
        return LZ_FAIL(LZ_EINTERNAL, "pass %s says it changed %s, but did not", r->pass.name,
                       before->name);
    return LZ_OK;
}

/* Bits of the rows named in a list. */
static uint32_t mask_of(const char *list)
{
    uint32_t m = 0;
    for (int i = 0; i < NROW; i++)
        if (lz_list_has(list, rows[i].pass.name))
            m |= 1u << i;
    return m;
}

/* ---- running ---- */

typedef struct manager {
    const lz_func *cur; /* the caller's, or own */
    lz_func *own;
    uint32_t done; /* rows whose work stands */
    bool pipeline; /* running it: needs and breaks are checked */
    const lz_lower_options *o;
} manager;

static lz_status run_row(manager *m, const row *r)
{
    uint32_t bit = 1u << (r - rows);
    bool off = !r->required && lz_list_has(lz_cfg_str(LZ_OPT_PASSES_OFF), r->pass.name);
    if (m->pipeline && (mask_of(r->needs) & ~m->done))
        return LZ_FAIL(LZ_EINTERNAL, "pass %s needs %s before it", r->pass.name, r->needs);
    m->done = (m->done & ~mask_of(r->breaks)) | bit;
    if (off)
        return LZ_OK;
    lz_func *next = NULL;
    int64_t t0 = lz_timeline_begin();
    uint32_t before = m->cur->ninst;
    LZ_TRY(r->pass.run(m->cur, m->o, &next));
    lz_status s = checking() ? check(r, m->cur, next) : LZ_OK;
    if (next) {
        lz_func_free(m->own);
        m->own = next;
        m->cur = next;
    }
    lz_timeline_end(t0, .name = r->pass.name, .category = "pass",
                    .key = {"changed", "instructions_before", "instructions"},
                    .value = {next != NULL, before, m->cur->ninst});
    if (s == LZ_OK)
        lz_dump_func(r->pass.name, m->cur);
    return s;
}

static bool is_word(const char *p, size_t n, const char *word)
{
    return n == strlen(word) && memcmp(p, word, n) == 0;
}

static _Atomic(lz_pass_fn *) injected;

void lz_pass_inject(lz_pass_fn *run)
{
    atomic_store(&injected, run);
}

static lz_status run_injected(manager *m)
{
    lz_pass_fn *run = atomic_load(&injected);
    lz_func *next = NULL;
    LZ_TRY(run ? run(m->cur, m->o, &next) : LZ_OK);
    if (next) {
        lz_func_free(m->own);
        m->cur = m->own = next;
    }
    return LZ_OK;
}

static lz_status run_pipeline(manager *m)
{
    m->pipeline = true;
    m->done = 0;
    LZ_TRY(run_injected(m));
    for (int i = 0; lz_pipeline[i]; i++)
        LZ_TRY(run_row(m, find(lz_pipeline[i], strlen(lz_pipeline[i]))));
    m->pipeline = false;
    return LZ_OK;
}

static lz_status run_list(manager *m, const char *list)
{
    for (const char *p = list; *p;) {
        const char *end = strchr(p, ',');
        size_t n = end ? (size_t)(end - p) : strlen(p);
        const row *r = find(p, n);
        if (is_word(p, n, "pipeline")) {
            LZ_TRY(run_pipeline(m));
        } else if (r) {
            LZ_TRY(run_row(m, r));
        } else if (n) {
            return LZ_FAIL(LZ_EINVAL, "there is no pass '%.*s'", (int)(n < 64 ? n : 64), p);
        }
        p += n + (end != NULL);
    }
    return LZ_OK;
}

lz_status lz_passes_run(const lz_func *f, const char *list, const lz_lower_options *o,
                        lz_func **out)
{
    static const lz_lower_options defaults;
    manager m = {.cur = f, .o = o ? o : &defaults};
    *out = NULL;
    lz_dump_input(f, m.o->donate);
    lz_status s = run_list(&m, list);
    if (s == LZ_OK && !m.own)
        return lz_func_copy(f, out);
    if (s == LZ_OK)
        *out = m.own;
    else
        lz_func_free(m.own);
    return s;
}
