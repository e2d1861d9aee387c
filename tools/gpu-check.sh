#!/usr/bin/env bash
# gpu-check.sh - on a machine with an NVIDIA GPU: build, run the CUDA backend's tests on the GPU instead of the emulator, then what can be timed.
#   tools/gpu-check.sh DIR      logs and a table (DIR/summary.txt) are left in DIR; under ten minutes
# Exit status: 0 all passed, 1 something failed, 77 there is no GPU that can be used.
set -u
out=${1:?usage: tools/gpu-check.sh DIR}
mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd) || exit 1
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build/release}
export BUILD LZ_TOOL=$BUILD/lazuli LZ_TEST_GPU=1 LZ_TEST_QUICK=1 CK_DEFAULT_TIMEOUT=240
for v in $(compgen -e); do
    case $v in LAZULI_* | XLA_* | PT_XLA_* | PJRT_*) unset "$v" ;; esac
done
HOME=$out/home XDG_CACHE_HOME=$out/home/cache
export HOME XDG_CACHE_HOME
mkdir -p "$XDG_CACHE_HOME"
failed=0
: >"$out/summary.txt"

say() { echo "$*" | tee -a "$out/summary.txt"; }
step() { # NAME SECONDS COMMAND...
    local name=$1 limit=$2 t0 t1 rc
    shift 2
    t0=$(date +%s%N)
    timeout -k 5 "$limit" "$@" >"$out/$name.log" 2>&1 </dev/null
    rc=$?
    t1=$(date +%s%N)
    say "$(printf '%-4s %7.1f s  %s' "$([ $rc -eq 0 ] && echo pass || echo FAIL)" "$(((t1 - t0) / 100000000))e-1" "$name")"
    [ $rc -eq 0 ] || failed=1
    return $rc
}

step build 400 make -j"$(nproc)" ${CC:+"CC=$CC"} all "$BUILD"/test/diff/{d_cuda,d_products} "$BUILD/test/unit/backends/t_cuda" "$BUILD/test/libcudamock.so" "$BUILD/bench/lz-bench" \
    "$BUILD"/test/unit/{autodiff/t_grad,nn/t_nn,runtime/t_api_ops,runtime/t_aten_math,runtime/t_aten_reduce,runtime/t_handles} \
    "$BUILD"/test/unit/{runtime/t_many_threads,runtime/t_step_laws} || exit 1
nvidia-smi >"$out/nvidia-smi.txt" 2>&1
"$LZ_TOOL" devices | tee "$out/devices.txt"
if ! grep -q '^CUDA:0' "$out/devices.txt"; then
    say "no GPU: $(grep CUDA "$out/devices.txt")"
    exit 77
fi

# ---- right numbers: every class of operations against the reference ----
step seeds 60 "$BUILD/test/diff/d_cuda" seeds 0 300
step nets 60 "$BUILD/test/diff/d_cuda" nets 0 60
step cases 30 "$BUILD/test/diff/d_cuda" cases
step rows 120 "$BUILD/test/diff/d_cuda"
step products 60 "$BUILD/test/diff/d_products"
step programs 120 test/api/cuda.sh
for src in examples/*.c; do
    name=$(basename "$src" .c)
    case $name in mnist | resnet) continue ;; esac # they need files
    PJRT_DEVICE=CUDA step "example-$name" 90 "$BUILD/examples/$name"
done

# ---- time: each program twice; the second run compiles nothing ----
for p in matmul_relu attention layer_norm; do
    for round in cold warm; do
        step "$p-$round" 30 "$LZ_TOOL" run "test/hlo/$p/prog.mlir" --device cuda --random 1
    done
done
workloads=overhead,train_mlp,first_step,gemm_1024,gemm_4096,chain_16M,softmax_4096,train_gpt
PJRT_DEVICE=CUDA step benchmark 150 "$BUILD/bench/lz-bench" "$workloads"
say "$([ $failed -eq 0 ] && echo 'all passed' || echo 'something failed: see the logs')"
exit $failed
