/* frames.h - the calling stack outside of the library, for analyses, dumps and events.
 * Threads: thread-safe. */
#ifndef LZ_RUNTIME_DEBUG_FRAMES_H
#define LZ_RUNTIME_DEBUG_FRAMES_H
#include <lazuli/types.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct lz_stack_frame {
    const lz_site *site; /* of the public call: the first frame; NULL: what follows */
    char name[128], module[64];
    uintptr_t offset; /* in the module */
} lz_stack_frame;
/* Calls fn for each frame, innermost first, the public call's place before all, until it returns
 * false. Callers of main and of threads' functions are left out. */
void lz_frames_each(bool (*fn)(const lz_stack_frame *f, void *user), void *user);
#endif
