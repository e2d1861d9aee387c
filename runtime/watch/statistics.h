/* statistics.h - who this process is, and its counters. Nothing here starts a device, or waits for
 * one. Threads: thread-safe. */
#ifndef LZ_RUNTIME_WATCH_STATISTICS_H
#define LZ_RUNTIME_WATCH_STATISTICS_H
#include "runtime/watch/message.h"

typedef struct lz_watch_self {
    uint32_t pid, rank, size;
    char host[LZ_WIRE_TEXT], program[LZ_WIRE_TEXT];
} lz_watch_self;
void lz_watch_who(lz_watch_self *out);
void lz_watch_count(lz_watch_statistics *out);
#endif
