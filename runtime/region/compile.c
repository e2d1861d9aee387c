/* compile.c - lz_compile: a step of a callback's, which may be held to one graph, and to a number
 * of different ones over all calls. Graphs are told apart as programs in memory are, by the hash of
 * their key. */
#include "runtime/exec/compile_check.h"
#include "runtime/region/callback.h"
#include <inttypes.h>
#include <lazuli/jit.h>
#include <stdio.h>

static lz_mutex lock = LZ_MUTEX_INIT("compile"); /* the list */
static lz_compiled *all;

static lz_compiled *compiled_of(lz_compile_fn *fn)
{
    lz_mutex_lock(&lock);
    lz_compiled *f = all;
    while (f && f->fn != fn)
        f = f->next;
    if (!f && (f = lz_calloc(1, sizeof *f))) {
        f->fn = fn;
        f->next = all;
        all = f;
    }
    lz_mutex_unlock(&lock);
    if (!f)
        LZ_FAIL(LZ_EMEM, "no memory for a compiled function");
    return f;
}

/* ---- public ---- */

static lz_status step_named(lz_thread_state *t, const char *name, const lz_site *site)
{
    t->graph_name = name;
    return lz_mark_step_at(NULL, site);
}

static lz_status run(lz_thread_state *t, lz_compile_fn *fn, void *user, lz_compiling *k,
                     const lz_site *site)
{
    char clear[200];
    snprintf(clear, sizeof clear, "%.150s_clear_pending", k->name);
    const char *name = lz_thread_state_intern(k->name), *before = lz_thread_state_intern(clear);
    if (!name || !before)
        return lz_error_get()->status;
    LZ_TRY(step_named(t, before, site));
    t->graph_name = name;
    lz_compiling_now = k;
    lz_callback back = lz_callback_begin(t, true);
    fn(user);
    lz_callback_end(t, &back);
    k->leaving = true;
    lz_status s = k->error.status;
    if (s == LZ_OK)
        s = step_named(t, name, site);
    else
        lz_error_set(&k->error);
    lz_compiling_now = NULL;
    return s;
}

lz_status lz_compile_at(lz_compile_fn *fn, void *user, const lz_compile_fn_options *o,
                        const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_thread_state *t = lz_thread_state_get();
    lz_api_frame f = lz_api_enter("lz_compile", site);
    bool has = o && o->struct_size >= sizeof *o;
    lz_compiling k = {.name = has && o->name ? o->name : "compile",
                      .full_graph = has && o->full_graph,
                      .most = has ? o->max_different_graphs : 0};
    lz_status s = LZ_OK;
    if (!t)
        s = lz_error_get()->status;
    else if (!fn)
        s = LZ_FAIL(LZ_ENULL, "fn is NULL");
    else if (k.most < 0)
        s = LZ_FAIL(LZ_EINVAL, "max_different_graphs is %" PRId64, k.most);
    else if (lz_compiling_now || t->recording)
        s = LZ_FAIL(LZ_ESTATE, lz_compiling_now
                                   ? "another lz_compile is active"
                                   : "the callback of a loop, a branch or a function runs later");
    else if (!(k.f = compiled_of(fn)))
        s = LZ_EMEM;
    if (s == LZ_OK) {
        const char *name = t->graph_name;
        s = run(t, fn, user, &k, site);
        t->graph_name = name;
    }
    (void)lz_api_status(s);
    return lz_api_leave(&f, s);
}
