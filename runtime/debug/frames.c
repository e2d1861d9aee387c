/* frames.c - see frames.h. Looking a name up maps the module's file, so the last few hundred are
 * remembered by their addresses: those of a training loop are always the same. */
#include "runtime/debug/frames.h"
#include "base/mutex.h"
#include "runtime/debug/symbols.h"
#include "runtime/graph/thread_state.h"
#include <execinfo.h>
#include <string.h>

enum { KNOWN = 256, DEPTH = 128 };

static lz_mutex lock = LZ_MUTEX_INIT("frames");
static struct {
    const void *pc;
    lz_stack_frame frame;
} known[KNOWN];

static void look_up(const void *pc, lz_stack_frame *f)
{
    uint32_t at = (uint32_t)(((uintptr_t)pc * UINT64_C(0x9e3779b97f4a7c15)) >> 56) % KNOWN;
    lz_mutex_lock(&lock);
    bool have = known[at].pc == pc;
    if (have)
        *f = known[at].frame;
    lz_mutex_unlock(&lock);
    if (have)
        return;
    *f = (lz_stack_frame){0};
    lz_symbol_of(pc, f->name, sizeof f->name, f->module, sizeof f->module, &f->offset);
    lz_mutex_lock(&lock);
    known[at].pc = pc;
    known[at].frame = *f;
    lz_mutex_unlock(&lock);
}

static bool is_above_main(const lz_stack_frame *f)
{
    return strncmp(f->name, "__libc_start", 12) == 0 || strcmp(f->name, "_start") == 0 ||
           strncmp(f->module, "libc.so", 7) == 0;
}

void lz_frames_each(bool (*fn)(const lz_stack_frame *f, void *user), void *user)
{
    void *pc[DEPTH];
    lz_stack_frame f = {0};
    const lz_thread_state *t = lz_thread_state_self;
    int n = backtrace(pc, DEPTH), i = 0;
    while (i < n && !(t && pc[i] == t->api_caller))
        i++;
    if (t && t->api_site) {
        f.site = t->api_site;
        if (!fn(&f, user))
            return;
    }
    for (i = i < n ? i + 1 : n; i < n; i++) { /* the site names the caller's own frame */
        look_up(pc[i], &f);
        if (is_above_main(&f) || !fn(&f, user))
            return;
    }
}
