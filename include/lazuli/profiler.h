/* profiler.h - a timeline of what the engine did: steps, compilations, executions, kernels, copies
 * and waits, and the program's own spans, by thread and device. The file holds Chrome trace events
 * (JSON), which Perfetto (ui.perfetto.dev) and chrome://tracing show. See docs/debugging.md.
 * While no trace runs, none of this costs anything worth measuring.
 * Threads: thread-safe; a trace is of the whole process, spans are of the calling thread.
 * Implemented in: runtime/debug/profiler.c, runtime/watch/watch.c. */
#ifndef LAZULI_PROFILER_H
#define LAZULI_PROFILER_H
#include <lazuli/types.h>
LZ_EXTERN_C_BEGIN
/* Starts a trace; whether `path` can be written is seen now. The file grows while the trace lasts,
 * which ends with lz_stop_trace or with the process; it is whole four times a second, so that a
 * killed process leaves it. A path that ends in .gz is compressed. A trace holds 16,777,216 events;
 * those after them are only counted (otherData.dropped_events of the file). Programs of CUDA
 * devices are launched kernel by kernel while it lasts. A forked child is not traced. LZ_ENULL;
 * LZ_EINVAL: the path is empty, or that of a directory or a block device; LZ_ENOENT, LZ_EPERM,
 * LZ_EMEM, LZ_EIO: the file cannot be written; LZ_ESTATE: a trace runs already, which may be the
 * one LAZULI_TRACE asked for. */
LZ_API lz_status lz_start_trace(const char *path);
/* Waits for what was started on the devices, whose errors stay for those they are meant for; then
 * ends the trace and its file. (The end of a process waits for nothing.) LZ_ESTATE: none
 * runs, or it is LAZULI_TRACE's, which lasts as long as the process; LZ_ENOENT, LZ_EPERM,
 * LZ_EMEM, LZ_EIO: events are missing in the file, the trace is over all the same. */
LZ_MUST_USE LZ_API lz_status lz_stop_trace(void);
/* A span of the calling thread called `name` (the first 255 bytes, UTF-8), from lz_trace_begin to
 * its lz_trace_end; spans nest. They may be there without a trace: nothing is recorded then.
 * LZ_ENULL; LZ_ESTATE: none is open. */
LZ_API lz_status lz_trace_begin(const char *name);
/* The same with the number of a step, from 0 (torch_xla's StepTrace). LZ_ENULL; LZ_EINVAL: it is
 * negative. */
LZ_API lz_status lz_step_trace_begin(const char *name, int64_t step);
/* Ends the innermost span of the calling thread. LZ_ESTATE: none is open. */
LZ_API lz_status lz_trace_end(void);
/* ---- where time went, by operation, name scope and source line ---- */
/* Times every launch of a kernel from now on, of programs that are compiled or found from now on:
 * to be called before the first step. What a launch takes is shared out to the operations that it
 * computes by their counts. The same as LAZULI_PROFILE_REPORT, which `lazuli profile` sets; sums
 * begin at 0 with each call. LZ_EFORK. */
LZ_API lz_status lz_start_profile(void);
/* The report so far: rows by launch (a step of a program), by operation, by name scope and by
 * source line, longest first, with calls, times, operations, bytes and the share of the time that
 * the roofline of the machine would need (its limits are measured by the first report, in a second
 * or two, and kept in the cache folder); then what the threads that step did. Waits for nothing:
 * what has not run yet is not in it. format: "text" or "json". As a text function of debug.h; 0
 * with an error recorded: LZ_ENULL, LZ_EINVAL, LZ_EMEM; LZ_ESTATE: no profile was started. */
LZ_API size_t lz_profile_report(const char *format, char *buf, size_t n);
/* ---- watching a program that runs ---- */
/* Lets others of this machine watch the process at 127.0.0.1:port, by `lazuli top` and `lazuli
 * capture` (torch_xla.debug.profiler.start_server): they read its statistics and take traces, and
 * nothing else. port: 1 to 65535; 0: any that is free (lz_server_port). The server's threads wait,
 * and end with lz_stop_server or with the process; a forked child has no server. LAZULI_SERVER does
 * the same for a program as it is, also at other addresses. LZ_EINVAL: no such port; LZ_ESTATE: one
 * runs already, which may be that of LAZULI_SERVER; LZ_EUNAVAILABLE: the port is taken; LZ_EMEM. */
LZ_API lz_status lz_start_server(int port);
/* The port at which the process can be watched; 0: it cannot. */
LZ_API int lz_server_port(void);
/* Ends the server; captures end early, with what they have. LZ_ESTATE: there is none. */
LZ_API lz_status lz_stop_server(void);
/* Traces the next duration_ms (1 to 3,600,000) milliseconds on a thread of its own, and returns at
 * once (torch_xla.debug.profiler.trace_detached). Files are those that TensorBoard's profile plugin
 * and xprof open: logdir/plugins/profile/TIME/HOST.xplane.pb and HOST.trace.json.gz, of each
 * process its own (HOST-rankN), in which each device has a plane. They are whole while they grow,
 * and when the process ends. Traces of lz_start_trace and LAZULI_TRACE are not disturbed. Programs
 * of CUDA devices are launched kernel by kernel meanwhile. LZ_ENULL; LZ_EINVAL: logdir is empty or
 * too long, or duration_ms out of range; LZ_ESTATE: one runs already; LZ_EUNAVAILABLE: too many
 * captures run; LZ_ENOENT, LZ_EPERM, LZ_EEXIST, LZ_EMEM, LZ_EIO: the files cannot be written. */
LZ_API lz_status lz_trace_detached(const char *logdir, int64_t duration_ms);
/* Waits until the files of the last lz_trace_detached are complete. LZ_ESTATE: there was none;
 * LZ_ENOENT, LZ_EPERM, LZ_EMEM, LZ_EIO: events are missing in them. */
LZ_MUST_USE LZ_API lz_status lz_trace_detached_wait(void);
LZ_EXTERN_C_END
#endif
