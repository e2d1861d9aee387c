/* trace_folder.h - a trace as TensorBoard keeps them: LOGDIR/plugins/profile/RUN/ with
 * HOST.xplane.pb (runtime/watch/xplane.h) and HOST.trace.json.gz (base/timeline/trace_file.h). RUN
 * is the time at which it began; HOST, the host's name, with the rank where there are several
 * processes. Both files are whole whenever the process is killed: the second has all but the last
 * quarter of a second, the first at least half.
 * Threads: thread-compatible. */
#ifndef LZ_RUNTIME_WATCH_TRACE_FOLDER_H
#define LZ_RUNTIME_WATCH_TRACE_FOLDER_H
#include "runtime/watch/message.h"

typedef struct lz_trace_folder lz_trace_folder;
/* Makes the folders, those above too, and the files. As lz_outfile_begin; LZ_EMEM. */
lz_status lz_trace_folder_open(const char *logdir, const lz_watch_origin *o, lz_trace_folder **out);
/* The events in these bytes (lz_trace_event_put). LZ_EPARSE: not all of them are; LZ_EMEM. */
lz_status lz_trace_folder_add(lz_trace_folder *f, const void *p, size_t n);
/* To be called several times a second. */
void lz_trace_folder_flush(lz_trace_folder *f);
/* Ends both files and frees it. As lz_outfile_end. */
lz_status lz_trace_folder_close(lz_trace_folder *f, uint64_t dropped);
/* In the child of a fork: the files are the parent's. Nothing is freed. */
void lz_trace_folder_forget(lz_trace_folder *f);
/* The folder, LOGDIR/plugins/profile/RUN, and how many events there are. */
const char *lz_trace_folder_path(const lz_trace_folder *f);
uint64_t lz_trace_folder_events(const lz_trace_folder *f);
#endif
