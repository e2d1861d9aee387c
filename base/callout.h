/* callout.h - calling a function of the program's: log callback, release function, deleter, custom
 * call, sample of a data set. Around each call stands LZ_CALL_OUT, so that the function may call
 * the library: no lock is held (checked with LZ_DEBUG), what the thread is in the midst of is set
 * aside, and the thread's error record is as before afterwards.
 *     LZ_CALL_OUT("a release function")
 *         release(user);
 * Threads: thread-safe. */
#ifndef LZ_BASE_CALLOUT_H
#define LZ_BASE_CALLOUT_H
#include "base/mutex.h"
#include "base/status.h"

enum { LZ_CALLOUT_WORDS = 5 };
typedef struct lz_callout {
    lz_error_aside error;
    const char *spoken_for;
    void *aside[LZ_CALLOUT_WORDS];
    bool took;
} lz_callout;

void lz_callout_begin(lz_callout *c, const char *what);
void lz_callout_end(lz_callout *c);
static inline lz_callout *lz_callout_open(lz_callout *c, const char *what)
{
    lz_callout_begin(c, what);
    return c;
}
/* `what` is called, for messages; a literal. The block may be left in any way. */
#define LZ_CALL_OUT(what)                                                                          \
    for (lz_callout lz_out_ __attribute__((cleanup(lz_callout_end))),                              \
         *lz_out_once_ = lz_callout_open(&lz_out_, (what));                                        \
         lz_out_once_; lz_out_once_ = NULL)

/* The runtime's part of what is set aside: take fills in the words, give_back restores them. */
void lz_callout_set_aside(void (*take)(void *aside[LZ_CALLOUT_WORDS]),
                          void (*give_back)(void *const aside[LZ_CALLOUT_WORDS]));
#endif
