/* xplane.h - a trace as XSpace (XPlane), the form that xprof and TensorBoard read: one message of
 * protocol buffers (tsl/profiler/protobuf/xplane.proto), encoded here.
 *
 * Planes. /host:CPU has a line for each thread, with everything that it did. Each device that ran
 *   kernels has a plane of its own, /device:TPU:N: xprof makes tables of operations (hlo_stats,
 *   framework_op_stats) of planes of that name alone, whose events say themselves what they are,
 *   how much they compute and what they move. What the device is, is in the name of the lines
 *   ("CPU:0 kernels") and in the plane's statistic device_type_string.
 * Lines of a device: Steps, XLA Modules (programs), XLA Ops (kernels; what overlaps is on a second
 *   one of that name).
 * Statistics of a kernel: hlo_op, hlo_category (the kind of its costliest operation), program_id,
 *   symbol_id (both count from 1), flops, bytes_accessed, tf_op (name scope and operation, as
 *   "mlp.up/dot_general:dot_general"), source (FILE:LINE), and its own arguments.
 * Threads: thread-compatible. */
#ifndef LZ_RUNTIME_WATCH_XPLANE_H
#define LZ_RUNTIME_WATCH_XPLANE_H
#include "base/timeline/trace_event.h"

typedef struct lz_xplane lz_xplane;
/* began_ns: the events' clock at the beginning, which is began_unix_ns since the epoch. NULL with
 * LZ_EMEM. */
lz_xplane *lz_xplane_new(const char *host, int64_t began_ns, int64_t began_unix_ns);
/* Keeps what of the event is needed; its texts are copied. LZ_EMEM: it is not there. */
lz_status lz_xplane_add(lz_xplane *x, const lz_trace_event *e);
/* All events so far as the bytes of an XSpace. LZ_EMEM. */
lz_status lz_xplane_encode(lz_xplane *x, lz_buf *out);
void lz_xplane_free(lz_xplane *x); /* NULL is fine */
#endif
