/* lazuli.h - everything. */
#ifndef LAZULI_LAZULI_H
#define LAZULI_LAZULI_H
#include <lazuli/types.h>
#include <lazuli/tensor.h>
#include <lazuli/ops.h>
#include <lazuli/tensor_ops.h>
#include <lazuli/math_ops.h>
#include <lazuli/reduce_ops.h>
#include <lazuli/shape_ops.h>
#include <lazuli/window_ops.h>
#include <lazuli/order.h>
#include <lazuli/index_ops.h>
#include <lazuli/control.h>
#include <lazuli/linalg_ops.h>
#include <lazuli/norm_ops.h>
#include <lazuli/random_ops.h>
#include <lazuli/hlo.h>
#include <lazuli/grad.h>
#include <lazuli/data.h>
#include <lazuli/functional.h>
#include <lazuli/nn.h>
#include <lazuli/optim.h>
#include <lazuli/device.h>
#include <lazuli/cache.h>
#include <lazuli/debug.h>
#include <lazuli/dlpack.h>
#endif
