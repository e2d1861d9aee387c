/* scope.c - lifetimes of handles (scopes, retain, release), and the names given to what is traced
 * (name scopes, the graph's name). A scope is a range of the thread's stack of handles. Moving a
 * handle out of a scope swaps it with the scope's first and moves the scope's start: it costs a
 * search and no copy.
 * Threads: scopes are thread-bound. */
#include "runtime/graph/handle.h"
#include "base/log.h"
#include <lazuli/debug.h>
#include <stdio.h>
#include <string.h>

enum { MANY_SCOPES = 1000 };

static uint32_t scope_base(const lz_thread_state *t)
{
    return t->scopes.len ? t->scopes.data[t->scopes.len - 1].base : 0;
}

/* Removes handles that the program has released itself from the innermost scope. */
static void sweep(lz_thread_state *t)
{
    uint32_t n = scope_base(t);
    for (uint32_t i = n; i < t->handles.len; i++)
        if (lz_slot_alive(t->handles.data[i]))
            t->handles.data[n++] = t->handles.data[i];
    t->handles.len = n;
}

static void warn_of_growth(lz_thread_state *t)
{
    sweep(t);
    if (t->handles.len < t->scope_marks)
        return;
    LZ_WARN(
        "scope",
        "%u tensors are alive in %s: end a scope (lz_scope_begin, lz_scope_end) in each step, or "
        "release them",
        t->handles.len, t->scopes.len ? "the open scopes" : "the outermost scope");
    t->scope_marks = t->scope_marks < UINT32_MAX / 10 ? t->scope_marks * 10 : UINT32_MAX;
}

lz_status lz_scope_push(lz_thread_state *t, uint64_t h)
{
    if (__builtin_expect(t->handles.len == t->handles.cap, 0)) {
        sweep(t);
        if (t->handles.len > t->handles.cap / 2)
            LZ_TRY(lz_vec_reserve(&t->handles, 2 * (uint64_t)t->handles.cap));
    }
    if (__builtin_expect(t->handles.len == t->scope_marks, 0))
        warn_of_growth(t);
    return lz_vec_push(&t->handles, h);
}

static void release_down_to(lz_thread_state *t, uint32_t base)
{
    while (t->handles.len > base)
        lz_slot_release_scoped(t->handles.data[--t->handles.len]);
}

void lz_scope_end_all(lz_thread_state *t)
{
    t->scopes.len = 0;
    release_down_to(t, 0);
}

lz_status lz_scope_begin(void)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_thread_state *t = lz_thread_state_get();
    if (!t)
        return lz_error_get()->status;
    if (__builtin_expect(t->scopes.len == MANY_SCOPES, 0))
        LZ_WARN_ONCE("scope", "%d scopes are open: is each lz_scope_begin met by an lz_scope_end?",
                     MANY_SCOPES);
    return lz_vec_push(&t->scopes, ((struct lz_scope_mark){t->handles.len, t->id_next}));
}

static lz_status scope_end(lz_thread_state *t, const char *op)
{
    if (t->scopes.len == 0) {
        lz_status s = LZ_FAIL(LZ_ESTATE, "no scope is open on this thread");
        lz_error_annotate(op, NULL);
        return s;
    }
    release_down_to(t, t->scopes.data[--t->scopes.len].base);
    return LZ_OK;
}

lz_status lz_scope_end(void)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_thread_state *t = lz_thread_state_get();
    return t ? scope_end(t, "lz_scope_end") : lz_error_get()->status;
}

/* Moves h from the innermost scope to the enclosing one; no effect when it is not there. */
static void escape(lz_thread_state *t, uint64_t h)
{
    if (t->scopes.len == 0)
        return;
    uint32_t base = scope_base(t);
    for (uint32_t i = t->handles.len; i-- > base;) {
        if (t->handles.data[i] != h)
            continue;
        t->handles.data[i] = t->handles.data[base];
        t->handles.data[base] = h;
        t->scopes.data[t->scopes.len - 1].base = base + 1;
        return;
    }
}

lz_tensor *lz_scope_end_keep(lz_tensor *h)
{
    LZ_PUBLIC(h);
    lz_thread_state *t = lz_thread_state_get();
    if (!t)
        return h;
    escape(t, lz_handle_bits(h));
    (void)scope_end(t, "lz_scope_end_keep");
    return h;
}

lz_tensor *lz_escape(lz_tensor *h)
{
    LZ_PUBLIC(h);
    lz_thread_state *t = lz_thread_state_get();
    if (t)
        escape(t, lz_handle_bits(h));
    return h;
}

lz_tensor *lz_retain(lz_tensor *t)
{
    LZ_PUBLIC(t);
    if (t && lz_slot_retain(lz_handle_bits(t)) != LZ_OK)
        lz_error_annotate("lz_retain", NULL);
    return t;
}

lz_status lz_release(lz_tensor *t)
{
    LZ_PUBLIC(LZ_EFORK);
    if (!t)
        return LZ_OK;
    lz_status s = lz_slot_release(lz_handle_bits(t));
    if (s != LZ_OK)
        lz_error_annotate("lz_release", NULL);
    return s;
}

/* ---- name scopes and the graph's name: what nodes and programs are labelled with ---- */

/* The interned path; layers open the same scopes in every step, so the last ones are kept. */
static const char *join(lz_thread_state *t, const char *outer, const char *name)
{
    char path[512];
    size_t n = strlen(name);
    lz_hash h = lz_hash_seeded(name, n, (uintptr_t)outer);
    struct lz_joined_name *j = &t->joined[h.lo % LZ_JOINED_NAMES];
    if (j->path && j->outer == outer && j->at != SIZE_MAX && strcmp(j->path + j->at, name) == 0)
        return j->path;
    snprintf(path, sizeof path, "%s%s%s", outer ? outer : "", outer ? "/" : "", name);
    const char *kept = lz_thread_state_intern(path);
    size_t at = outer ? strlen(outer) + 1 : 0;
    if (kept && at + n < sizeof path)
        *j = (struct lz_joined_name){outer, kept, at};
    return kept;
}

lz_status lz_name_scope_begin(const char *name)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_thread_state *t = lz_thread_state_get();
    lz_status s = t ? LZ_OK : lz_error_get()->status;
    if (s == LZ_OK && !name)
        s = LZ_FAIL(LZ_ENULL, "name is NULL");
    if (s == LZ_OK) {
        const char *outer = t->names.len ? t->names.data[t->names.len - 1] : NULL;
        const char *kept = join(t, outer, name);
        s = kept ? lz_vec_push(&t->names, kept) : LZ_EMEM;
    }
    if (s != LZ_OK)
        lz_error_annotate("lz_name_scope_begin", NULL);
    return s;
}

lz_status lz_name_scope_end(void)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_thread_state *t = lz_thread_state_get();
    if (t && t->names.len) {
        t->names.len--;
        return LZ_OK;
    }
    lz_status s =
        t ? LZ_FAIL(LZ_ESTATE, "no name scope is open on this thread") : lz_error_get()->status;
    lz_error_annotate("lz_name_scope_end", NULL);
    return s;
}

/* ---- scopes of gradients: "transpose(blocks.0)" of what was in "blocks.0" ---- */

static const char no_scope_yet[] = "";

lz_status lz_name_gradients_begin(lz_thread_state *t)
{
    const char *outer = t->names.len ? t->names.data[t->names.len - 1] : NULL;
    t->gradient_of = no_scope_yet;
    return lz_vec_push(&t->names, outer);
}

void lz_name_gradients_of(lz_thread_state *t, const char *scope)
{
    uint32_t n = t->names.len;
    char path[512];
    if (scope == t->gradient_of || n == 0)
        return;
    t->gradient_of = scope;
    t->names.data[n - 1] = n > 1 ? t->names.data[n - 2] : NULL;
    if (!scope)
        return;
    struct lz_joined_name *j = &t->joined[(uintptr_t)scope / 16 % LZ_JOINED_NAMES];
    if (!j->path || j->outer != scope || j->at != SIZE_MAX) {
        snprintf(path, sizeof path, "transpose(%s)", scope);
        const char *kept = NULL;
        LZ_QUIETLY
            kept = lz_thread_state_intern(path);
        if (!kept)
            return;
        *j = (struct lz_joined_name){scope, kept, SIZE_MAX};
    }
    t->names.data[n - 1] = j->path;
}

void lz_name_gradients_end(lz_thread_state *t)
{
    t->names.len--;
    t->gradient_of = no_scope_yet; /* of a backward pass around this one */
}

lz_status lz_set_graph_name(const char *name)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_thread_state *t = lz_thread_state_get();
    const char *kept = t && name ? lz_thread_state_intern(name) : NULL;
    if (!t || (name && !kept)) {
        lz_error_annotate("lz_set_graph_name", NULL);
        return lz_error_get()->status;
    }
    t->graph_name = kept;
    return LZ_OK;
}
