/* debug.h - what the engine did and why: metrics, counters, graphs, name scopes.
 * Text functions copy at most n bytes (NUL-terminated) and return the size needed without the NUL. */
#ifndef LAZULI_DEBUG_H
#define LAZULI_DEBUG_H
#include <lazuli/tensor.h>
LZ_EXTERN_C_BEGIN
LZ_API size_t lz_metrics_report(char *buf, size_t n);              /* PyTorch/XLA's format */
LZ_API size_t lz_short_metrics_report(char *buf, size_t n);
LZ_API int64_t lz_counter_value(const char *name);                 /* 0 when absent */
typedef struct lz_metric_summary { uint64_t total_samples; double accumulator; } lz_metric_summary;
LZ_API lz_status lz_metric_data(const char *name, lz_metric_summary *out);     /* LZ_ENOENT */
LZ_API size_t lz_counter_names(char *buf, size_t n);               /* newline-separated */
LZ_API size_t lz_metric_names(char *buf, size_t n);
LZ_API void lz_clear_counters(void);
LZ_API void lz_clear_metrics(void);
/* The pending graph of the tensors. format: "text", "hlo", "stablehlo" or "dot". 0 with an error recorded on failure. */
LZ_API size_t lz_dump_graph(lz_tensor *const *tensors, size_t count, const char *format, char *buf, size_t n);
LZ_API size_t lz_graph_hash(lz_tensor *const *tensors, size_t count, char *buf, size_t n);
/* Scope names appear in dumps; never in hashes. */
LZ_API lz_status lz_name_scope_begin(const char *name);
LZ_API lz_status lz_name_scope_end(void);
LZ_API lz_status lz_set_graph_name(const char *name);              /* of the calling thread's next steps, shown in analyses; NULL: none */
LZ_EXTERN_C_END
#endif
