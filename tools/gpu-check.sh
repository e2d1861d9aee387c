#!/usr/bin/env bash
# gpu-check.sh - on a machine with an NVIDIA GPU: build, run the CUDA backend's tests on the GPU instead of the emulator, then what can be timed.
#   tools/gpu-check.sh DIR      logs, DIR/summary.txt, and DIR/figures.txt, a table with what is to be reached; under ten minutes
#   tools/gpu-check.sh --mock DIR   the same of small sizes, on the library that stands in for the driver: whether this script works
# Parts do not depend on each other: what fails leaves the others' results, and what there is no time for is said to be left out. What checks
# numbers runs side by side; what is timed runs alone. Where python3 has torch or JAX, these are timed beside; and so are products by cuBLASLt, where
# LAZULI_CUDA_CUBLASLT names it, the loader finds it, or python3 has NVIDIA's package of it. NCCL is looked for in the same places
# (LAZULI_CUDA_NCCL; nvidia-nccl-cu13).
# GPU_CHECK_BUILT=yes: everything has been built; GPU_CHECK_PEERS=no: these are left out; GPU_CHECK_SECONDS: not ten minutes but so long
# Exit status: 0 all passed, 1 something failed or was left out, 77 there is no GPU that can be used.
set -u
mock=no
[ "${1:-}" = --mock ] && { mock=yes; shift; }
out=${1:?usage: tools/gpu-check.sh [--mock] DIR}
mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd) || exit 1
cd "$(dirname "$0")/.." || exit 1
start=$SECONDS total=${GPU_CHECK_SECONDS:-580}
BUILD=${BUILD:-build/release}
export BUILD LZ_TOOL=$BUILD/lazuli LZ_TEST_QUICK=1 CK_DEFAULT_TIMEOUT=240
cublaslt=${LAZULI_CUDA_CUBLASLT:-$(python3 -c 'import glob, sys
print(max((f for p in sys.path for f in glob.glob(p + "/nvidia/*/lib/libcublasLt.so.1[23]")), default=""))' 2>/dev/null)}
nccl=${LAZULI_CUDA_NCCL:-$(python3 -c 'import glob, sys
print(max((f for p in sys.path for f in glob.glob(p + "/nvidia/nccl/lib/libnccl.so.2")), default=""))' 2>/dev/null)}
for v in $(compgen -e); do
    case $v in LAZULI_* | XLA_* | PT_XLA_* | PJRT_*) unset "$v" ;; esac
done
if [ $mock = yes ]; then
    export LAZULI_CUDA_DRIVER=$PWD/$BUILD/test/libcudamock.so
    case $BUILD in /*) LAZULI_CUDA_DRIVER=$BUILD/test/libcudamock.so ;; esac
    cublaslt=${LAZULI_CUDA_DRIVER%/*}/libcublasltmock.so
else
    export LZ_TEST_GPU=1
fi
[ -n "$cublaslt" ] && export LAZULI_CUDA_CUBLASLT=$cublaslt
[ -n "$nccl" ] && [ $mock = no ] && export LAZULI_CUDA_NCCL=$nccl
HOME=$out/home XDG_CACHE_HOME=$out/home/cache
export HOME XDG_CACHE_HOME
mkdir -p "$XDG_CACHE_HOME"
: >"$out/summary.txt"
: >"$out/figures.txt"
: >"$out/libs.log"
rm -f "$out/failed"

say() { echo "$*" | tee -a "$out/summary.txt"; }
left() { echo $((total - (SECONDS - start))); }
step() { # NAME SECONDS COMMAND...
    local name=$1 limit=$2 t0 t1 rc
    shift 2
    [ "$limit" -gt "$(left)" ] && limit=$(left)
    if [ "$limit" -le 2 ]; then
        say "left out             $name: no time"
        : >"$out/failed"
        return 1
    fi
    t0=$(date +%s%N)
    timeout -k 5 "$limit" "$@" >"$out/$name.log" 2>&1 </dev/null
    rc=$?
    t1=$(date +%s%N)
    say "$(printf '%-8s %7.1f s  %s' "$([ $rc -eq 0 ] && echo pass || { [ $rc -eq 124 ] && echo 'TIME OUT' || echo FAIL; })" \
        "$(((t1 - t0) / 100000000))e-1" "$name")"
    [ $rc -eq 0 ] || tail -n 6 "$out/$name.log" | cut -c1-300 | tee -a "$out/summary.txt"
    [ $rc -eq 0 ] || : >"$out/failed"
    return $rc
}

# ---- build: the library and the tool first; a test that does not build is missing, and no more ----
cc=(${CC:+"CC=$CC"})
built=${GPU_CHECK_BUILT:-no} # yes: everything has been built, elsewhere maybe
[ $built = yes ] || step build 240 make -j"$(nproc)" "${cc[@]}" "$LZ_TOOL" "$BUILD/bench/lz-bench" || [ -x "$LZ_TOOL" ] || exit 1
[ $built = yes ] || step build-tests 200 make -k -j"$(nproc)" "${cc[@]}" all "$BUILD"/test/diff/{d_cuda,d_products} "$BUILD"/test/lib{cuda,cublaslt,nccl}mock.so \
    "$BUILD"/test/unit/{autodiff/t_grad,nn/t_nn,nn/t_spmd,ops/t_api_ops,ops/t_aten_math,ops/t_aten_reduce,runtime/t_handles} \
    "$BUILD"/test/unit/backends/t_nccl_abi "$BUILD"/test/unit/{runtime/t_many_threads,runtime/t_profiler,runtime/t_step_invariants,runtime/t_to_device,autodiff/t_two_devices}
nvidia-smi >"$out/nvidia-smi.txt" 2>&1
"$LZ_TOOL" devices | tee "$out/devices.txt"
if ! grep -q '^CUDA:0' "$out/devices.txt"; then
    say "no GPU: $(grep CUDA "$out/devices.txt")"
    exit 77
fi

# ---- time, first: NAME of a program, what its figure is in, what is to be reached, PROGRAM; by the device's events (LAZULI_PROFILE) ----
size() { [ $mock = yes ] && echo "$2" || echo "$1"; } # on a GPU; on the stand-in
products() { # DTYPE SIZE: eight in a row
    local t="tensor<$2x$2x$1>" i x=%a
    echo "func.func @main(%a: $t, %b: $t) -> tensor<1x1x$1> {"
    for i in 1 2 3 4 5 6 7 8; do
        echo "  %p$i = stablehlo.dot_general $x, %b, contracting_dims = [1] x [0] : ($t, $t) -> $t"
        x=%p$i
    done
    echo "  %r = stablehlo.slice $x [0:1, 0:1] : ($t) -> tensor<1x1x$1>"
    echo "  return %r : tensor<1x1x$1>"
    echo "}"
}
elementwise() { # SIZE
    local t="tensor<$1xf32>"
    echo "func.func @main(%a: $t, %b: $t, %c: $t) -> $t {"
    echo "  %0 = stablehlo.multiply %a, %b : $t"
    echo "  %1 = stablehlo.add %0, %c : $t"
    echo "  %2 = stablehlo.tanh %1 : $t"
    echo "  return %2 : $t"
    echo "}"
}
transposed() { # SIZE
    echo "func.func @main(%a: tensor<$1x$1xf32>) -> tensor<$1x$1xf32> {"
    echo "  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<$1x$1xf32>) -> tensor<$1x$1xf32>"
    echo "  return %0 : tensor<$1x$1xf32>"
    echo "}"
}
layer_norm() { # ROWS COLUMNS
    local t="tensor<$1x$2xf32>" r="tensor<$1xf32>"
    echo "func.func @main(%a: $t) -> $t {"
    echo "  %zero = stablehlo.constant dense<0.0> : tensor<f32>"
    echo "  %n = stablehlo.constant dense<$2.0> : $r"
    echo "  %eps = stablehlo.constant dense<1.0e-5> : $r"
    echo "  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1] : ($t, tensor<f32>) -> $r"
    echo "  %m = stablehlo.divide %s, %n : $r"
    echo "  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : ($r) -> $t"
    echo "  %d = stablehlo.subtract %a, %mb : $t"
    echo "  %q = stablehlo.multiply %d, %d : $t"
    echo "  %v = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [1] : ($t, tensor<f32>) -> $r"
    echo "  %w = stablehlo.divide %v, %n : $r"
    echo "  %e = stablehlo.add %w, %eps : $r"
    echo "  %i = stablehlo.rsqrt %e : $r"
    echo "  %ib = stablehlo.broadcast_in_dim %i, dims = [0] : ($r) -> $t"
    echo "  %y = stablehlo.multiply %d, %ib : $t"
    echo "  return %y : $t"
    echo "}"
}
sums() { # SIZE DIMENSIONS SHAPE: of a square
    echo "func.func @main(%a: tensor<$1x$1xf32>) -> tensor<$3f32> {"
    echo "  %zero = stablehlo.constant dense<0.0> : tensor<f32>"
    echo "  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [$2] : (tensor<$1x$1xf32>, tensor<f32>) -> tensor<$3f32>"
    echo "  return %s : tensor<$3f32>"
    echo "}"
}
softmax_of() { # X SHAPE DTYPE DIM: lines that make %p of it; SHAPE without its last extent is DIM..
    local s="tensor<$2x$3>" r="tensor<${2%x*}x$3>" d=$4
    echo "  %low = stablehlo.constant dense<-1.0e30> : tensor<$3>"
    echo "  %zero = stablehlo.constant dense<0.0> : tensor<$3>"
    echo "  %m = stablehlo.reduce($1 init: %low) applies stablehlo.maximum across dimensions = [$d] : ($s, tensor<$3>) -> $r"
    echo "  %mb = stablehlo.broadcast_in_dim %m, dims = [$(seq -s ', ' 0 $((d - 1)))] : ($r) -> $s"
    echo "  %d = stablehlo.subtract $1, %mb : $s"
    echo "  %e = stablehlo.exponential %d : $s"
    echo "  %u = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [$d] : ($s, tensor<$3>) -> $r"
    echo "  %ub = stablehlo.broadcast_in_dim %u, dims = [$(seq -s ', ' 0 $((d - 1)))] : ($r) -> $s"
    echo "  %p = stablehlo.divide %e, %ub : $s"
}
softmax() { # ROWS COLUMNS
    echo "func.func @main(%a: tensor<$1x$2xf32>) -> tensor<$1x$2xf32> {"
    softmax_of %a "$1x$2" f32 1
    echo "  return %p : tensor<$1x$2xf32>"
    echo "}"
}
attention() { # DTYPE HEADS POSITIONS
    local x="tensor<$2x$3x64x$1>" s="$2x$3x$3"
    echo "func.func @main(%q: $x, %k: $x, %v: $x) -> $x {"
    echo "  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : ($x, $x) -> tensor<${s}xf32>"
    softmax_of %s "$s" f32 2
    echo "  %t = stablehlo.convert %p : (tensor<${s}xf32>) -> tensor<${s}x$1>"
    echo "  %y = stablehlo.dot_general %t, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<${s}x$1>, $x) -> $x"
    echo "  return %y : $x"
    echo "}"
}

# What the machine can do at most: by name of the GPU, dense: bf16 Tflop/s, memory GB/s; f32 by its multiprocessors and clock.
name=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -1)
case $name in
*H200*) peak_bf16=989 peak_gbs=4800 ;;
*H100*PCIe*) peak_bf16=756 peak_gbs=2039 ;;
*H100*) peak_bf16=989 peak_gbs=3350 ;;
*A100*80*) peak_bf16=312 peak_gbs=2039 ;;
*A100*) peak_bf16=312 peak_gbs=1555 ;;
*) peak_bf16=0 peak_gbs=0 ;;
esac
peak_f32=$(sed -n 's/^CUDA:0.* \([0-9]*\) multiprocessors at \([0-9.]*\) GHz.*/\1 \2/p' "$out/devices.txt" | awk '{printf "%d", $1 * 256 * $2 / 1000}')

# The figure of a table: of the kernel that took most, at its fastest.
best_of() { # FILE COLUMN
    awk -v c="$2" '/^ *[0-9]+ +[0-9]+ +[0-9.]+/ { if ($3 + 0 > most) { most = $3 + 0; v = $c } } END { print v + 0 }' "$1"
}
figure() { # NAME FLOP|gbs PEAK PERCENT PROGRAM...; FLOP: those that are useful, of one kernel
    local name=$1 kind=$2 peak=$3 want=$4 column=5 got
    shift 4
    [ "$kind" = gbs ] && column=9
    "$@" >"$out/$name.mlir"
    rm -f "$out/$name.profile"
    LAZULI_PROFILE=$out/$name.profile step "time-$name" 60 "$LZ_TOOL" run "$out/$name.mlir" --device cuda --random 1 --times "$times" --output-dir "$out/results"
    rm -rf "$out/results"
    [ -s "$out/$name.profile" ] || { printf '%-22s no figure\n' "$name" >>"$out/figures.txt"; return; }
    got=$(best_of "$out/$name.profile" $column)
    awk -v name="$name" -v kind="$kind" -v got="$got" -v peak="$peak" -v want="$want" 'BEGIN {
        if (kind == "gbs") unit = "GB/s"; else { got = got > 0 ? kind / got * 1e-9 : 0; unit = "Tflop/s" }
        pct = peak > 0 ? sprintf("%5.1f %%", 100 * got / peak) : "    ?"
        ok = peak <= 0 ? "?" : 100 * got / peak >= want ? "reached" : "NOT YET"
        printf "%-22s %10.1f %-8s of %7s %s   wanted %3d %%  %s\n", name, got, unit, (peak > 0 ? peak : "?"), pct, want, ok }' >>"$out/figures.txt"
}
by_library() { # NAME FLOP: of the program of a figure, with its products by cuBLASLt: a peer in the table
    local name=$1
    rm -f "$out/$name-libs.profile"
    LAZULI_CUDA_LIBS=1 LAZULI_LOG=info LAZULI_PROFILE=$out/$name-libs.profile \
        step "time-$name-libs" 40 "$LZ_TOOL" run "$out/$name.mlir" --device cuda --random 1 --times "$times" --output-dir "$out/results"
    rm -rf "$out/results"
    if ! grep -q 'by cuBLASLt$' "$out/time-$name-libs.log"; then # it was our own kernel
        say "not by cuBLASLt      $name: $(sed -n 's/.*info: cuda: //p' "$out/time-$name-libs.log" | head -1)"
        return
    fi
    awk -v name="$name" -v flop="$2" -v ms="$(best_of "$out/$name-libs.profile" 5)" \
        'BEGIN { print name, "cuBLASLt", ms, "ms", (ms > 0 ? flop / ms * 1e-9 : 0), "Tflop/s" }' >>"$out/libs.log"
}
times=$(size 12 1)
n=$(size 8192 96)
figure product-bf16 $((2 * n * n * n)) "$peak_bf16" 71 products bf16 "$n"
by_library product-bf16 $((2 * n * n * n))
LAZULI_CUDA_TMA=0 figure product-bf16-threads $((2 * n * n * n)) "$peak_bf16" 60 products bf16 "$n"
if grep -q 'product-bf16  *no figure' "$out/figures.txt" && ! grep -q 'product-bf16-threads  *no figure' "$out/figures.txt"; then
    say "products whose factors come as boxes do not run: LAZULI_CUDA_TMA=0 for all that follows"
    export LAZULI_CUDA_TMA=0
fi
n=$(size 4096 64)
figure product-f32 $((2 * n * n * n)) "$peak_f32" 75 products f32 "$n"
by_library product-f32 $((2 * n * n * n))
n=$(size 8192 96)
LAZULI_CUDA_TF32=1 figure product-tf32 $((2 * n * n * n)) $((peak_bf16 / 2)) 60 products f32 "$n"
LAZULI_CUDA_TF32=1 by_library product-tf32 $((2 * n * n * n))
h=$(size 64 2) n=$(size 1024 40)
figure attention-bf16 $((4 * h * n * n * 64)) "$peak_bf16" 35 attention bf16 "$h" "$n"
figure attention-f32 $((4 * h * n * n * 64)) "$peak_f32" 45 attention f32 "$h" "$n"
figure elementwise gbs "$peak_gbs" 80 elementwise "$(size 67108864 9999)"
figure transpose gbs "$peak_gbs" 75 transposed "$(size 8192 100)"
figure softmax gbs "$peak_gbs" 75 softmax "$(size 8192 9)" "$(size 4096 1000)"
figure softmax-short gbs "$peak_gbs" 75 softmax "$(size 262144 99)" "$(size 128 48)"
figure layer-norm gbs "$peak_gbs" 75 layer_norm "$(size 65536 9)" "$(size 1024 100)"
n=$(size 8192 100)
figure sum-rows gbs "$peak_gbs" 75 sums "$n" 1 "${n}x"
figure sum-columns gbs "$peak_gbs" 75 sums "$n" 0 "${n}x"
figure sum gbs "$peak_gbs" 75 sums "$n" "0, 1" ""

# ---- whole programs; the second run compiles nothing; steps of training ----
for p in matmul_relu attention layer_norm; do
    for round in cold warm; do
        step "$p-$round" 30 "$LZ_TOOL" run "test/hlo/$p/prog.mlir" --device cuda --random 1
    done
done
trained=train_gpt,train_resnet18,large_train_gpt2,large_train_resnet50
bench() { # NAME SECONDS WORKLOADS
    [ $mock = yes ] || step "$1" "$2" "$BUILD/bench/lz-bench" "$3" --device cuda
}
bench benchmark 60 overhead,train_mlp,first_step,gemm_1024,gemm_4096,chain_16M,softmax_4096
[ ! -s "$out/libs.log" ] || LAZULI_CUDA_LIBS=1 bench benchmark-libs 40 gemm_1024,gemm_4096
for w in ${trained//,/ }; do
    bench "$w" 60 "$w"
done

# ---- peers, where there are some ----
has() { [ $mock = no ] && [ "${GPU_CHECK_PEERS:-yes}" = yes ] && python3 -c "import $1" >/dev/null 2>&1; }
if has torch; then
    (cd bench/peers && step torch 60 python3 gpu_figures.py)
    (cd bench/peers && step torch-steps 60 python3 torch_peer.py "$trained",overhead --device cuda)
    (cd bench/peers && step torch-compile 60 python3 torch_peer.py large_train_gpt2 --compile --device cuda)
fi
has jax && (cd bench/peers && XLA_PYTHON_CLIENT_PREALLOCATE=false step jax 60 python3 gpu_figures.py --jax)
touch "$out"/{torch,jax,torch-steps,torch-compile,benchmark,benchmark-libs}.log
sed -i 's/"peer": *"lazuli"/"peer":"cuBLASLt"/' "$out/benchmark-libs.log"

# Tables: what single kernels reach, beside peers; what a step takes.
awk 'FILENAME != ARGV[ARGC - 1] { if ($4 == "ms") said[$1] = said[$1] sprintf("  %s %.1f", $2, $5); next } { print $0 said[$1] }' \
    "$out/libs.log" "$out/torch.log" "$out/jax.log" "$out/figures.txt" | tee -a "$out/summary.txt"
sed -n 's/.*"peer": *"\([^"]*\)", *"workload": *"\([^"]*\)", *"median_ms": *\([0-9.e-]*\).*/\1 \2 \3/p' "$out"/{benchmark,benchmark-libs,large_*,train_*,torch-steps,torch-compile}.log 2>/dev/null |
    awk '{ if (!($2 in said)) order[++n] = $2; said[$2] = said[$2] sprintf("  %s %.4f", $1, $3) }
         END { for (i = 1; i <= n; i++) printf "%-24s ms:%s\n", order[i], said[order[i]] }' | tee -a "$out/summary.txt"

# ---- right numbers: every class of operations against the reference; what takes the time is compiling, so all at once ----
if [ $mock = yes ]; then seeds=10 nets=3; else seeds=300 nets=60; fi
step seeds 150 "$BUILD/test/diff/d_cuda" seeds 0 $seeds &
step nets 150 "$BUILD/test/diff/d_cuda" nets 0 $nets &
cases() { # a few processes; each file's failure is in its lines
    printf '%s\n' test/diff/cases/*.mlir test/diff/cases/cuda/*.mlir | xargs -P 8 -I{} sh -c '"$0" cases {} || { echo "FAILED: {}"; exit 1; }' "$BUILD/test/diff/d_cuda"
}
export -f cases
step cases 200 bash -c cases &
step rows 240 "$BUILD/test/diff/d_cuda" &
for part in "on the device" boxes tf32; do
    [ $mock = yes ] || CK_RUN_CASE=$part step "products-${part##* }" 200 "$BUILD/test/diff/d_products" &
done
[ $mock = yes ] || [ ! -s "$out/libs.log" ] || LAZULI_CUDA_LIBS=1 CK_RUN_CASE="on the device" step products-libs 200 "$BUILD/test/diff/d_products" &
step programs 150 test/api/cuda.sh &
nccl_abi() { # 77: there is no NCCL on this machine
    "$BUILD/test/unit/backends/t_nccl_abi" || { [ $? -eq 77 ] && echo 'left out: no NCCL (package libnccl2, or Python'"'s"' nvidia-nccl-cu13)'; }
}
export -f nccl_abi
step nccl-abi 120 bash -c nccl_abi &
step mesh-of-one 60 "$LZ_TOOL" run test/hlo/attention/prog.mlir --device cuda --devices 1 --random 1 &
if [ $mock = no ] && grep -q '^CUDA:7' "$out/devices.txt"; then # programs on eight GPUs
    LZ_TEST_DEVICE=CUDA PJRT_DEVICE=CUDA step mesh-of-eight 150 "$BUILD/test/unit/nn/t_spmd" &
    LAZULI_CUDA_NCCL=off LZ_TEST_DEVICE=CUDA PJRT_DEVICE=CUDA step mesh-of-eight-copies 150 "$BUILD/test/unit/nn/t_spmd" &
    LAZULI_COLLECTIVES=fast LZ_TEST_DEVICE=CUDA PJRT_DEVICE=CUDA step mesh-of-eight-fast 150 "$BUILD/test/unit/nn/t_spmd" &
fi
if grep -q '^CUDA:1' "$out/devices.txt"; then # copies between GPUs
    step to-device 60 "$BUILD/test/unit/runtime/t_to_device" &
    step two-devices 60 "$BUILD/test/unit/autodiff/t_two_devices" &
fi
for src in examples/*.c; do
    example=$(basename "$src" .c)
    case $mock-$example in
    *-mnist | *-resnet | *-stablehlo_run) continue ;; # they need files
    yes-digits_conv | yes-gpt) continue ;;            # too long, thread by thread
    esac
    PJRT_DEVICE=CUDA step "example-$example" 150 "$BUILD/examples/$example" &
done
wait
say "$([ ! -e "$out/failed" ] && echo 'all passed' || echo 'something failed: see the logs'); $((SECONDS - start)) s"
[ ! -e "$out/failed" ]
