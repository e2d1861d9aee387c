#!/usr/bin/env bash
# pjrt.sh - the plugin as a host meets it: a library that exports one symbol, opened by a C program that includes nothing of ours;
# what a host may get wrong when it opens another; JAX on several devices (LZ_JAX_PYTHON).
# shellcheck disable=SC2154  # tmp is that of steps.bash
set -u
# shellcheck source=test/steps.bash
. test/steps.bash
lib=$(realpath "$BUILD/libpjrt_lazuli.so")
san=$(grep -o -- '-fsanitize=[a-z,]*' "$BUILD/flags" | tr '\n' ' ')
one_symbol() { [ "$(nm -D --defined-only "$lib" | awk '$2 ~ /[TDBRVW]/ { print $3 }' | grep -v '^__asan\|^__odr_asan\|^_' | sort -u)" = GetPjrtApi ]; }
step 'exported symbols' one_symbol
# shellcheck disable=SC2086  # several words
step 'the client builds' $CC -std=gnu11 -Wall -Wextra -Werror -O1 $san examples/pjrt/client.c -ldl -o "$tmp/client"
runs() {
    XDG_CACHE_HOME=$tmp "$tmp/client" "$lib" >"$tmp/out" || return 1
    cat "$tmp/out"
    [ "$(sed 1d "$tmp/out" | sort -u | tr '\n' ' ')" = '0.76159 0.24492 0.90515 -0.46212 ' ] && [ "$(wc -l <"$tmp/out")" -eq 5 ]
}
step 'the client runs' runs
step 'again, with the cache' runs
# the same program, recorded by a C program, is found where the plugin has stored it
cat >"$tmp/share.c" <<'C'
#include <lazuli/lazuli.h>
int main(void)
{
    const float x[] = {0.5f, -0.25f, 1, 2, 0, -1}, w[] = {1, 0, 0, 1, 0.5f, 0.5f};
    float y[4];
    lz_tensor *t = lz_tanh(lz_matmul(lz_from_host(LZ_F32, LZ_SHAPE(2, 3), x), lz_from_host(LZ_F32, LZ_SHAPE(3, 2), w)));
    lz_cache_counts c = {.struct_size = sizeof c};
    return lz_to_host(t, y, sizeof y) != LZ_OK || lz_get_cache_counts(&c) != LZ_OK || c.program_hits != 1 || c.program_misses != 0;
}
C
# shellcheck disable=SC2086  # several words
step 'a C program builds' $CC -std=gnu11 -O1 $san -Iinclude "$tmp/share.c" -L"$(dirname "$lib")" -llazuli -Wl,-rpath,"$(dirname "$lib")" -o "$tmp/share"
step 'a C program finds what the plugin compiled' env XDG_CACHE_HOME="$tmp" "$tmp/share"
# JAX, where there is one: programs on eight devices, against its own CPU devices
python=$(jax_python)
if [ -n "$san" ]; then
    echo 'skipped: JAX with sanitizers'
elif ! "$python" -c 'import jax' 2>/dev/null; then
    echo "skipped: $python has no JAX (LZ_JAX_PYTHON)"
else
    step 'JAX on eight devices' env XDG_CACHE_HOME="$tmp" PYTHONDONTWRITEBYTECODE=1 LAZULI_PJRT_PLUGIN="$lib" \
        "$python" test/api/jax/devices.py --seed $((${LZ_TEST_SEED:-0} % 1000000)) --count 2
fi
# shellcheck disable=SC2016
step 'no plugin' bash -c '"$1" "$2"; [ $? -eq 1 ]' - "$tmp/client" "$BUILD/liblazuli.so"
total
