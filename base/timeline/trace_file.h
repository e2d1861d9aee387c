/* trace_file.h - the file of a timeline: Chrome trace events as one JSON object, whole after each
 * lz_trace_file_flush, also when the process is killed afterwards, since each flush puts further
 * events where the end of the object was, and a new end behind them. A name that ends in .gz is
 * compressed, in one member that is whole after each flush too.
 * What is no plain file cannot be written over: the end comes when it is closed.
 * Threads: thread-compatible. */
#ifndef LZ_BASE_TIMELINE_TRACE_FILE_H
#define LZ_BASE_TIMELINE_TRACE_FILE_H
#include "base/outfile.h"
#include "base/vec.h"

typedef struct lz_trace_file {
    lz_outfile out;
    char path[4096];
    lz_buf text;   /* events that were not flushed: each begins with a comma but the first */
    lz_buf packed; /* compressed, with .gz */
    struct z_stream_s *z;
    uint32_t crc, nbytes; /* of the text so far, for gzip's trailer */
    bool begun;           /* an event is there */
} lz_trace_file;

/* What the end of the file says. */
typedef struct lz_trace_totals {
    uint64_t dropped;
    int64_t start_unix_ns;
} lz_trace_totals;

/* As lz_outfile_begin. live: else the file takes its place when it is closed. */
lz_status lz_trace_file_open(lz_trace_file *f, const char *path, bool live);
/* Where the next event's text goes, without comma: f->text. */
lz_buf *lz_trace_file_event(lz_trace_file *f);
/* Writes the events; what goes wrong is said by lz_trace_file_close. */
void lz_trace_file_flush(lz_trace_file *f, const lz_trace_totals *e);
/* As lz_outfile_end; LZ_EMEM: not all events are there. */
lz_status lz_trace_file_close(lz_trace_file *f, const lz_trace_totals *e);
/* In the child of a fork: the file is the parent's. whole: nobody was writing it; else the buffers
 * are not touched. */
void lz_trace_file_forget(lz_trace_file *f, bool whole);
#endif
