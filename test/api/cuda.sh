#!/usr/bin/env bash
# cuda.sh - whole programs on the CUDA device, on the library that stands in for the driver (docs/gpu.md): StableHLO programs against
# the reference, and unit tests of the layers above with CUDA in the CPU's place.
set -u
BUILD=${BUILD:?}
LZ_TOOL=${LZ_TOOL:-$BUILD/lazuli}
export LAZULI_CUDA_DRIVER=${LAZULI_CUDA_DRIVER-$PWD/$BUILD/test/libcudamock.so} LAZULI_CACHE=0 LZ_TEST_QUICK=1
case $BUILD in /*) [ -n "${LZ_TEST_GPU:-}" ] || LAZULI_CUDA_DRIVER=$BUILD/test/libcudamock.so ;; esac
[ -n "${LZ_TEST_GPU:-}" ] && unset LAZULI_CUDA_DRIVER
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
passed=0 failed=0
try() { # NAME COMMAND...
    local name=$1
    shift
    if case $(type -t "$1") in function) "$@" ;; *) timeout 3000 "$@" ;; esac >"$log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "---- $name: exit status $? ----"
        tail -15 "$log"
    fi
}
try devices "$LZ_TOOL" devices
while read -r name tol; do
    case $name in '' | '#'*) continue ;; esac
    d=test/hlo/$name/ tol=${tol/#0/1e-5} inputs=()
    for i in $(seq 0 20); do
        [ -f "${d}in$i.npy" ] && inputs+=(--input "${d}in$i.npy")
    done
    try "$d" "$LZ_TOOL" run "${d}prog.mlir" --device cuda "${inputs[@]}" --compare ref --rtol "$tol" --atol "$tol"
done <test/hlo/cases.txt
# the same sizes on a device of one multiprocessor, where larger tiles are worth it
LAZULI_CUDA_PROCESSORS=1 try "rows of images" "$LZ_TOOL" run test/diff/cases/cuda/rows_of_images.mlir --device cuda --random 1 --compare ref
# every launch has its time, by the device's events
profile() {
    LAZULI_PROFILE=$log.prof "$LZ_TOOL" run test/hlo/attention/prog.mlir --device cuda --random 1 || return 1
    cat "$log.prof"
    local n
    n=$(sed -n 's/^program of \([0-9]*\) launches, run 1 times: .*/\1/p' "$log.prof")
    [ -n "$n" ] && [ "$(grep -cE '^ +[0-9]+ +1 +[0-9.]+ +0\.0000 ' "$log.prof")" -eq "$n" ]
}
try profile profile
# a loop's kernels are on the device's row, measured one by one
timeline() {
    "$LZ_TOOL" run test/hlo/fori_power/prog.mlir --device cuda --random 1 --trace "$log.json" || return 1
    grep -c '"cat":"kernel"' "$log.json" && grep '"CUDA:0 compute"' "$log.json"
}
try timeline timeline
rm -f "$log.json"
rm -f "$log.prof"
for t in autodiff/t_grad nn/t_nn ops/t_api_ops ops/t_aten_math ops/t_aten_reduce runtime/t_handles runtime/t_many_threads \
    runtime/t_step_invariants runtime/t_profiler autodiff/t_debug_print; do
    LZ_TEST_DEVICE=CUDA PJRT_DEVICE=CUDA try $t "$BUILD/test/unit/$t"
done
# a mesh of eight devices
if [ -z "${LZ_TEST_GPU:-}" ]; then
    export LZ_MOCK_DEVICES=8
    LZ_TEST_DEVICE=CUDA PJRT_DEVICE=CUDA try nn/t_spmd "$BUILD/test/unit/nn/t_spmd"
    unset LZ_MOCK_DEVICES
fi
LZ_TEST_DEVICE=CUDA PJRT_DEVICE=CUDA try callbacks "$BUILD/test/fault/t_callbacks"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
