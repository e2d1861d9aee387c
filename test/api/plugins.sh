#!/usr/bin/env bash
# plugins.sh - programs on a PJRT plugin named by the environment, which is Lazuli's own: StableHLO programs against the reference,
# unit tests of the layers above with the plugin in the CPU's place, examples, the cache, and variables that are wrong.
# shellcheck disable=SC2154  # tmp is that of steps.bash
set -u
# shellcheck source=test/steps.bash
. test/steps.bash
LZ_TOOL=${LZ_TOOL:-$BUILD/lazuli}
lib=$(realpath "$BUILD/libpjrt_lazuli.so")
export LAZULI_CACHE=0 LZ_TEST_QUICK=1 PJRT_NAMES_AND_LIBRARY_PATHS=self:$lib
devices() { "$LZ_TOOL" devices >"$tmp/out" && grep "$1" "$tmp/out"; }
fails() { # PATTERN, command...: it fails, saying so
    local pattern=$1
    shift
    ! "$@" >"$tmp/out" 2>&1 && cat "$tmp/out" && grep -q "$pattern" "$tmp/out"
}
step 'the list of devices' devices '^self:0  lazuli: cpu: .*PJRT 0\.'
LAZULI_PLUGIN_OPTIONS=num_devices=2,platform=cpu step 'options' devices '^self:1  lazuli: cpu: '
LAZULI_PLUGIN_OPTIONS=colour=0.5 step 'options that it has not' devices '^self .*no option "colour"'
PJRT_LIBRARY_PATH=$lib step 'LIBRARY' devices '^LIBRARY:0  lazuli: '
PJRT_NAMES_AND_LIBRARY_PATHS=other:/nowhere.so,self:$lib step 'a library that is not there' devices '^other  .*/nowhere.so'
PJRT_NAMES_AND_LIBRARY_PATHS=nonsense,CPU:x.so,a:,self:$lib step 'what is wrong is stepped over' devices '^self:0'
digits() { PJRT_DEVICE=$1 LAZULI_NUM_THREADS=1 "$BUILD/examples/digits" >"$tmp/$1" && grep -o 'test accuracy [0-9.]* %' "$tmp/$1"; }
PJRT_DYNAMIC_PLUGINS=0 step 'no plugins of the environment' fails 'no such platform' digits self
PJRT_NAMES_AND_LIBRARY_PATHS='' step 'no such plugin' fails 'no such platform' digits self
hlo_cases --device self
LZ_TEST_DEVICE=self PJRT_DEVICE=self unit_tests autodiff/t_grad nn/t_nn ops/t_api_ops ops/t_aten_math ops/t_aten_reduce runtime/t_handles \
    runtime/t_control
# a training ends as on the CPU
same() { [ "$(digits CPU)" = "$(digits self)" ] && [ -n "$(digits CPU)" ]; }
step 'digits' same
losses() { # DEVICE EXAMPLE ARGUMENTS...
    local device=$1 example=$2
    shift 2
    PJRT_DEVICE=$device LAZULI_NUM_THREADS=1 "$BUILD/examples/$example" "$@" >"$tmp/$device.log" 2>&1 || { cat "$tmp/$device.log"; return 1; }
    grep -oE 'loss[ =:]+[0-9.]+' "$tmp/$device.log"
}
alike() { [ "$(losses CPU "$@")" = "$(losses self "$@")" ] && [ -n "$(losses self "$@")" ]; }
step 'mnist' alike mnist --fake_data --fake_size 256 --num_epochs 1 --log_steps 1
step 'gpt' alike gpt --steps 4 --batch 2 --layers 1 --dim 32 --context 32
# the plugin's executables are kept, and found by another process
cached() {
    local f=$tmp/cached
    for _ in 1 2; do
        LAZULI_CACHE=1 XDG_CACHE_HOME=$tmp/cache PJRT_DEVICE=self LAZULI_NUM_THREADS=1 "$BUILD/examples/digits" >"$f" || return 1
        tail -1 "$f"
    done
    tail -1 "$f" | grep -q ', 0 programs new'
}
step 'the cache' cached
# the example of a plugin, which runs what it is given with the reference interpreter
san=$(grep -o -- '-fsanitize=[a-z,]*' "$BUILD/flags" | tr '\n' ' ')
if [ -n "$san" ]; then
    echo 'skipped: a second Lazuli in one process with sanitizers'
else
    step 'the example builds' $CC -std=gnu11 -Wall -Wextra -Werror -O1 -shared -fPIC -fvisibility=hidden -Iinclude examples/plugin/plugin.c \
        "$BUILD/liblazuli.a" -Wl,--exclude-libs,ALL -Wl,-Bsymbolic -Wl,-z,nodelete -lzstd -lxxhash -lz -lm -lpthread -ldl -o "$tmp/example.so"
    exports_one() { [ "$(nm -D --defined-only "$tmp/example.so" | awk '{ print $3 }')" = GetPjrtApi ]; }
    step 'the example exports one function' exports_one
    export PJRT_NAMES_AND_LIBRARY_PATHS=example:$tmp/example.so
    step 'the example is a device' devices '^example:0  reference: interpreter, .*PJRT 0\.'
    [ "$share" = 1 ] || share=$((share * 4))
    hlo_cases --device example
    same_on_example() { [ "$(digits CPU)" = "$(digits example)" ] && [ -n "$(digits example)" ]; }
    [ -z "${LZ_TEST_WHOLE:-}" ] || step 'digits on the example' same_on_example
    LAZULI_PLUGIN_OPTIONS=colour=0.5 step 'the example has no options' devices '^example .*there are no options'
fi
total
