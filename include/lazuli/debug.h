/* debug.h - introspection: metrics, counters, dumps of graphs, name scopes, scalars of a training.
 * Text functions copy at most n bytes (NUL-terminated) and return the size needed without the
 * NUL.
 * Implemented in: runtime/debug/metrics.c, runtime/debug/graph_dump.c,
 *   runtime/exec/live_report.c, runtime/exec/tensor_text.c, runtime/region/debug_print.c,
 *   runtime/graph/scope.c, runtime/debug/scalar_log.c, runtime/debug/progress.c. */
#ifndef LAZULI_DEBUG_H
#define LAZULI_DEBUG_H
#include <lazuli/tensor.h>
LZ_EXTERN_C_BEGIN
/* All metrics and counters that are not empty, in PyTorch/XLA's format; docs/reference/metrics.md
 * says what each is. */
LZ_API size_t lz_metrics_report(char *buf, size_t n);
/* The few metrics and counters that matter most. */
LZ_API size_t lz_short_metrics_report(char *buf, size_t n);
/* Value of a counter; 0 when there is none of this name. */
LZ_API int64_t lz_counter_value(const char *name);
/* sum of all samples: nanoseconds, bytes or counts */
typedef struct lz_metric_summary {
    uint64_t total_samples;
    double accumulator;
} lz_metric_summary;
/* Number of samples and sum of a metric. LZ_ENOENT: there is none of this name; LZ_ENULL. */
LZ_API lz_status lz_metric_data(const char *name, lz_metric_summary *out);
/* Names of the counters that are not 0, one a line. */
LZ_API size_t lz_counter_names(char *buf, size_t n);
/* Names of the metrics that have samples, one a line. */
LZ_API size_t lz_metric_names(char *buf, size_t n);
/* Sets all counters back to 0. */
LZ_API void lz_clear_counters(void);
/* Forgets all samples of all metrics. */
LZ_API void lz_clear_metrics(void);
/* What holds device memory: live tensors by the call that made or last assigned them, with bytes
 * (of a buffer that several share, once), how many of them are pending, the operations that only
 * they hold, and how many steps ago the oldest was made (of the last 256 of its thread); then what
 * only recorded operations hold, and the rest, which are temporaries and cached values of programs.
 * The bytes add up to those in use on all devices. 0 with an error recorded: LZ_EMEM. LAZULI_LEAKS
 * writes it to standard error when the process ends. */
LZ_API size_t lz_live_report(char *buf, size_t n);
/* The pending graph of `count` >= 1 tensors of one device. format: "text" (PyTorch/XLA's IR), "hlo"
 * and "stablehlo" (StableHLO text), or "dot". Executes nothing. 0 with an error recorded on
 * failure: LZ_ENULL, LZ_EINVAL, LZ_EMEM, a tensor's own error. */
LZ_API size_t lz_dump_graph(lz_tensor *const *tensors, size_t count, const char *format, char *buf,
                            size_t n);
/* 32 hexadecimal digits at most: what the graph would be found by in the caches, without donation.
 * Equal in every process; names and call sites are not in it. Errors as above. */
LZ_API size_t lz_graph_hash(lz_tensor *const *tensors, size_t count, char *buf, size_t n);
/* t as text: its elements in NumPy's layout (the shortest digits that give an element back, at most
 * 8 after the point; of more than 1,000 elements three at each edge), dtype, shape and device. A
 * pending tensor is computed, as lz_to_host does, and the text says so; of an error tensor, a value
 * that a step dropped or that was donated, and NULL it says what is wrong, and so does the last
 * error. 0 only with LZ_EMEM. */
LZ_API size_t lz_to_string_at(lz_tensor *t, char *buf, size_t n, const lz_site *site);
#define lz_to_string(t, buf, n) lz_to_string_at(t, buf, n, LZ_SITE)
/* Writes the text of lz_to_string and a newline to stdout. The status of what it had to say: LZ_OK,
 * t's own error, LZ_ESTALE, LZ_EHANDLE, LZ_ENULL, LZ_EMEM, or whatever computing it gives. */
LZ_API lz_status lz_print_at(lz_tensor *t, const lz_site *site);
#define lz_print(t) lz_print_at(t, LZ_SITE)
/* Writes format and a newline to stdout whenever what is recorded now runs: {} is the next tensor,
 * in lz_print's layout, {{ and }} are braces. A step runs it, a read of any tensor of the device,
 * or, where it stands in the body of a loop, a branch or a function, each run of that; in the order
 * of recording, whether or not somebody reads what is printed. Derivatives do not print again what
 * the values have printed. Nothing waits for it: lz_wait_device_ops does. In lz_vmap each
 * example prints. At most 64 tensors, all of one device, whose values are copied to the host.
 * On a mesh whole tensors are printed, once; in a body for each device (manual.h) each prints its
 * parts.
 * Errors: LZ_ENULL, LZ_EINVAL (the format and the number of tensors), a tensor's own error.
 * Source: jax.debug.print. */
LZ_API lz_status lz_debug_print_at(const char *format, lz_tensor *const *tensors, int n,
                                   const lz_site *site);
/* lz_debug_print("loss {}, norm {}", loss, norm) */
#define lz_debug_print(...) LZ_ARGS_debug_print(__VA_ARGS__, )
#ifdef __cplusplus
#define LZ_ARGS_debug_print(format, ...)                                                           \
    lz_debug_print_cxx(format, lz_tensor_list{nullptr, __VA_ARGS__}, LZ_SITE)
#else
#define LZ_ARGS_debug_print(format, ...) lz_debug_print_at(format, LZ_TENSORS(__VA_ARGS__), LZ_SITE)
#define LZ_TENSORS(...)                                                                            \
    (lz_tensor *const[]){NULL, __VA_ARGS__} + 1,                                                   \
        (int)(sizeof((lz_tensor *const[]){NULL, __VA_ARGS__}) / sizeof(lz_tensor *)) - 1
#endif
/* Names the operations that the calling thread records from now on; scopes nest as outer/inner. The
 * name appears in dumps, never in hashes. LZ_ENULL, LZ_EMEM. */
LZ_API lz_status lz_name_scope_begin(const char *name);
/* Closes the innermost scope of lz_name_scope_begin. LZ_ESTATE when none is open. */
LZ_API lz_status lz_name_scope_end(void);
/* Names the calling thread's next steps in analyses and dumps; NULL: none. */
LZ_API lz_status lz_set_graph_name(const char *name);
/* ---- what a training says while it runs: scalars by step, in files that `lazuli plot` and
 * TensorBoard show, and a line on the terminal (docs/training.md). The log and the line are the
 * process's; any thread may write. A forked child logs nothing. ---- */
/* From now on lz_log_scalar also writes to files in this folder, which is made if it is not there:
 * scalars.jsonl, an object on a line for each scalar, to which a training that goes on appends; and
 * events.out.tfevents.TIME.HOST.PID.N, new with each call, which TensorBoard shows (the folder is
 * its --logdir, or one below: a run). Each scalar is in both when lz_log_scalar returns. LZ_ENULL;
 * LZ_EINVAL: the path is empty or too long; LZ_ESTATE: there is a log already; LZ_ENOENT, LZ_EPERM,
 * LZ_EMEM, LZ_EIO: the files cannot be written. Source: torch.utils.tensorboard.SummaryWriter. */
LZ_API lz_status lz_start_scalar_log(const char *logdir);
/* The value of something at a step, as "loss" or "train/accuracy": 1 to 255 bytes of UTF-8. Without
 * a log it is kept for lz_progress alone. step: 0 or more, a value of a step that was logged before
 * takes its place where it is shown. value: any, also NaN and infinities, which scalars.jsonl has
 * as the texts "NaN", "Infinity" and "-Infinity"; TensorBoard's files have it rounded to f32.
 * LZ_ENULL; LZ_EINVAL: such a name or step; LZ_EMEM; LZ_EIO, LZ_EPERM, LZ_ENOENT: it is not in one
 * of the files. Source: SummaryWriter.add_scalar. */
LZ_API lz_status lz_log_scalar(const char *name, double value, int64_t step);
/* Ends the log. (The end of the process needs no call: files are whole.) LZ_ESTATE: there is none;
 * LZ_EIO: TensorBoard's file lacks something. */
LZ_API lz_status lz_stop_scalar_log(void);
/* Says that `done` of `total` are done, of steps, images or whatever `what` names:
 *
 *     epoch 3 [########------------] 120 of 300  41.2/s  0:04 left  loss 1.253
 *
 * On a terminal (standard error) one line is written again and again, at most ten times a second;
 * elsewhere nothing is. The rate is that of the last ten seconds or so, since the first call of
 * this `what`, and behind it are the newest values of the first four scalars that were logged. The
 * line ends with done == total, or when another `what` begins. NO_COLOR: without colour. total 0:
 * not known. what: at most 63 bytes are shown.
 * LZ_ENULL; LZ_EINVAL: done or total is negative, or done more than a total that is known. */
LZ_API lz_status lz_progress(const char *what, int64_t done, int64_t total);
LZ_EXTERN_C_END

#ifdef __cplusplus
/* A NULL, then tensors. */
struct lz_tensor_list {
    int n;
    lz_tensor *x[65];
    template <class... T>
    lz_tensor_list(decltype(nullptr), T... t) : n(static_cast<int>(sizeof...(t))), x{t..., nullptr}
    {
    }
};
inline lz_status lz_debug_print_cxx(const char *format, const lz_tensor_list &l,
                                    const lz_site *site)
{
    return lz_debug_print_at(format, l.x, l.n, site);
}
#endif
#endif
