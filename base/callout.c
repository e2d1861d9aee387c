/* callout.c - see callout.h. */
#include "base/callout.h"

static void (*_Atomic taker)(void *aside[LZ_CALLOUT_WORDS]);
static void (*_Atomic giver)(void *const aside[LZ_CALLOUT_WORDS]);

void lz_callout_set_aside(void (*take)(void *aside[LZ_CALLOUT_WORDS]),
                          void (*give_back)(void *const aside[LZ_CALLOUT_WORDS]))
{
    atomic_store(&giver, give_back);
    atomic_store(&taker, take);
}

void lz_callout_begin(lz_callout *c, const char *what)
{
    void (*take)(void *aside[LZ_CALLOUT_WORDS]) = atomic_load(&taker);
    lz_assert_unlocked(what);
    (void)what;
    lz_error_set_aside(&c->error);
    c->spoken_for = lz_error_speak_for(NULL);
    c->took = take != NULL;
    if (take)
        take(c->aside);
}

void lz_callout_end(lz_callout *c)
{
    if (c->took)
        atomic_load (&giver)(c->aside);
    (void)lz_error_speak_for(c->spoken_for);
    lz_error_put_back(&c->error);
}
