#!/usr/bin/env bash
# cuda.sh - whole programs on the CUDA device, on the library that stands in for the driver (docs/gpu.md): StableHLO programs against
# the reference, and unit tests of the layers above with CUDA in the CPU's place.
# shellcheck disable=SC2154  # tmp is that of steps.bash
set -u
# shellcheck source=test/steps.bash
. test/steps.bash
LZ_TOOL=${LZ_TOOL:-$BUILD/lazuli}
export LAZULI_CUDA_DRIVER=${LAZULI_CUDA_DRIVER-$PWD/$BUILD/test/libcudamock.so} LAZULI_CACHE=0 LZ_TEST_QUICK=1
case $BUILD in /*) [ -n "${LZ_TEST_GPU:-}" ] || LAZULI_CUDA_DRIVER=$BUILD/test/libcudamock.so ;; esac
[ -n "${LZ_TEST_GPU:-}" ] && unset LAZULI_CUDA_DRIVER
step devices "$LZ_TOOL" devices
hlo_cases --device cuda
# the same sizes on a device of one multiprocessor, where larger tiles are worth it
LAZULI_CUDA_PROCESSORS=1 step "rows of images" "$LZ_TOOL" run test/diff/cases/cuda/rows_of_images.mlir --device cuda --random 1 --compare ref
# every launch has its time, by the device's events
profile() {
    LAZULI_PROFILE=$tmp/prof "$LZ_TOOL" run test/hlo/attention/prog.mlir --device cuda --random 1 || return 1
    cat "$tmp/prof"
    local n
    n=$(sed -n 's/^program of \([0-9]*\) launches, run 1 times: .*/\1/p' "$tmp/prof")
    [ -n "$n" ] && [ "$(grep -cE '^ +[0-9]+ +1 +[0-9.]+ +0\.0000 ' "$tmp/prof")" -eq "$n" ]
}
step profile profile
# a loop's kernels are on the device's row, measured one by one
timeline() {
    "$LZ_TOOL" run test/hlo/fori_power/prog.mlir --device cuda --random 1 --trace "$tmp/trace.json" || return 1
    grep -c '"cat":"kernel"' "$tmp/trace.json" && grep '"CUDA:0 compute"' "$tmp/trace.json"
}
step timeline timeline
LZ_TEST_DEVICE=CUDA PJRT_DEVICE=CUDA unit_tests autodiff/t_grad nn/t_nn ops/t_api_ops ops/t_aten_math ops/t_aten_reduce runtime/t_handles \
    runtime/t_many_threads runtime/t_step_invariants runtime/t_profiler autodiff/t_debug_print
# a mesh of eight devices
if [ -z "${LZ_TEST_GPU:-}" ]; then
    export LZ_MOCK_DEVICES=8
    # by copies between peers, or over NCCL, which moves values only, or makes their sums: a run takes one of the three
    one=${LZ_TEST_SEED:-0}
    for sums in '' ordered fast; do
        one=$((one + 1))
        [ $share -ne 1 ] && [ $((one % 3)) -ne 0 ] && continue
        LAZULI_CUDA_NCCL=${sums:+${LAZULI_CUDA_DRIVER%/*}/libncclmock.so} LAZULI_COLLECTIVES=${sums:-ordered} LZ_TEST_DEVICE=CUDA PJRT_DEVICE=CUDA \
            step "nn/t_spmd${sums:+ over NCCL, $sums}" "$BUILD/test/unit/nn/t_spmd"
    done
    unset LZ_MOCK_DEVICES
    # a device without wgmma
    for f in test/diff/cases/cuda/attention*.mlir; do
        ! in_share || LZ_MOCK_CAPABILITY=80 step "${f##*/} by mma.sync" "$BUILD/test/diff/d_cuda" cases "$f"
    done
fi
LZ_TEST_DEVICE=CUDA PJRT_DEVICE=CUDA step callbacks "$BUILD/test/fault/t_callbacks"
total
