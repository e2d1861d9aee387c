/* talk.h - what processes settle outside of collectives: each tells rank 0 how something went, and
 * something of its own; rank 0 hears them all, decides, and answers all. It goes by the sockets of
 * control, so any thread may do it, whatever the devices are doing meanwhile. Rank 0 waits for
 * LAZULI_COLLECTIVE_TIMEOUT at most, the others as long for rank 0 to come, and then while it waits
 * itself; a process that is gone is named at once.
 * Notes that nobody has asked for yet are kept within bounds, the oldest go first.
 * Threads: thread-safe; one call for a number in a process. */
#ifndef LZ_BACKENDS_DISTRIBUTED_TALK_H
#define LZ_BACKENDS_DISTRIBUTED_TALK_H
#include "backends/distributed/processes.h"

/* What a talk is about is the first part of its number, so that each may count its own; a number is
 * the same in all processes, and never used again. */
typedef enum lz_talk_kind { LZ_TALK_RUN = 1, LZ_TALK_CHECKPOINT } lz_talk_kind;
static inline uint64_t lz_talk_number(lz_talk_kind kind, uint64_t count)
{
    return (uint64_t)kind << 56 | count;
}

/* On rank 0, once all have said that it went well: said[rank] is what each has said. It may append
 * to lz_talk's answer. */
typedef lz_status lz_talk_decide(void *user, lz_rd *said);
/* All processes call it once they have joined. mine: how it went here, the thread's error where it
 * is not LZ_OK; said: what rank 0 is told of it, may be NULL; decide: may be NULL. The same result
 * in all: LZ_OK where all were, and rank 0 has decided so; this one's own error; or else the first
 * other's, with its name. LZ_ETIMEOUT names who is missing, and `about`.
 * answer: may be NULL; what rank 0 has in it, once it has decided, the others, which give an empty
 * one, have then, too. */
lz_status lz_talk(uint64_t number, const char *about, lz_status mine, const lz_buf *said,
                  lz_talk_decide *decide, void *user, lz_buf *answer);

/* On the thread of the sockets. False: it is no note. */
bool lz_talk_take(uint32_t from, const void *p, size_t n);
#endif
