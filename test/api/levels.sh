#!/usr/bin/env bash
# levels.sh - C07: x86-64-v2, v3 and v4 (LAZULI_CPU). What is compiled for a level agrees with the reference, a cache that a better
# processor filled gives nothing to a lesser one, and the library's own code asks for no more than the first level but where it looks.
# One level in each run, another with another seed; all of them in a whole one. make check-levels runs every test program so.
# shellcheck disable=SC2154  # tmp is that of steps.bash
set -u
# shellcheck source=test/steps.bash
. test/steps.bash
tool=${LZ_TOOL:?}
case $(uname -m) in x86_64) ;; *) echo 'the levels are of x86-64'; exit 77 ;; esac
[ -z "${LZ_TEST_EMULATED:-}" ] || { echo 'the levels are of x86-64'; exit 77; }
levels=()
for l in x86-64-v2 x86-64-v3 x86-64-v4; do
    if LAZULI_CPU=$l "$tool" devices 2>&1 | grep -q '^CPU:0'; then levels+=("$l"); else echo "$l: left out, not of this machine"; fi
done
[ -n "${LZ_TEST_WHOLE:-}" ] || levels=("${levels[$((${LZ_TEST_SEED:-0} % ${#levels[@]}))]}")

# ---- what is compiled ----
share=$((share * 2)) # of the programs of test/hlo, which hlo.sh compiles for this machine
[ -z "${LZ_TEST_WHOLE:-}" ] || share=1
for l in "${levels[@]}"; do
    export LAZULI_CPU=$l
    hlo_cases --device cpu
done
unset LAZULI_CPU

# ---- caches ----
# A line of the example says what was found and what was compiled.
train() { # level, cache
    LAZULI_CPU=$1 XDG_CACHE_HOME=$2 "$BUILD/examples/digits" --epochs 1 >"$tmp/out" 2>&1 && tail -n 1 "$tmp/out"
}
compiled() { sed -n 's/^compiled \([0-9]*\) kernels.*/\1/p' "$tmp/out"; }
is() { [ "$1" = "$2" ]; }
for l in "${levels[@]}"; do
    train native "$tmp/cache" >/dev/null
    train native "$tmp/cache" >/dev/null
    step 'a warm cache' is "$(compiled)" 0
    train "$l" "$tmp/cache" >/dev/null
    n=$(compiled)
    train "$l" "$tmp/alone" >/dev/null
    step "$l compiles all that it runs beside the code of this machine" is "$n" "$(compiled)"
    step "$l compiles something" [ "$n" -gt 0 ]
    train "$l" "$tmp/cache" >/dev/null
    step "$l finds its own" is "$(compiled)" 0
    train native "$tmp/cache" >/dev/null
    step 'and this machine its own' is "$(compiled)" 0
    rm -rf "$tmp/cache" "$tmp/alone"
done
# On an older processor, where there is something that behaves as one.
old=
[ -z "${LZ_TEST_WHOLE:-}" ] || old=$(command -v qemu-x86_64)
if [ -n "$old" ] && [[ $BUILD != *asan* && $BUILD != *tsan* ]]; then
    train native "$tmp/cache" >/dev/null
    for cpu in Nehalem Haswell; do
        step "a cache of this machine's code on $cpu" env XDG_CACHE_HOME="$tmp/cache" "$old" -cpu $cpu "$BUILD/examples/digits" --epochs 1
    done
else
    echo "older processors: left out, which a whole run with qemu-x86_64 (qemu-user) tries"
fi

# ---- the library's own code ----
# Vectors of 32 and 64 bytes, masks and the prefix of AVX, outside of the functions that are called where the processor has them.
more_than_v1() { # objects
    objdump -d --no-show-raw-insn "$@" | awk '
        /file format/ { file = $1 }
        /^[0-9a-f]+ <.*>:$/ { name = $2; known = name ~ /_avx2|_avx512|os_state|amx/; next }
        !known && (/%[yz]mm[0-9]/ || $2 ~ /^v[a-z]/ && $2 !~ /^ver[rw]$/) { print file, name, $0; if (++n >= 5) exit }
        END { exit n == 0 }'
}
no_more_than_v1() { ! more_than_v1 "$@"; }
if command -v objdump >/dev/null; then
    mapfile -t objects < <(find "$BUILD"/obj/{base,fft,linalg,ir,shard,cache,lower,codegen,backends,runtime,ops,autodiff,data,nn} \
        -name '*.o' ! -path '*/avx2/*' ! -path '*/avx512/*')
    step "instructions of ${#objects[@]} objects" no_more_than_v1 "${objects[@]}"
    step 'these would be seen' more_than_v1 "$BUILD/obj/fft/avx2/f32.o"
else
    echo "the library's own code: left out, no objdump"
fi
total
