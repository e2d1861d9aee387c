#!/usr/bin/env bash
# sequences.sh - A26, A06, A08, A09, A16: random calls of every public function in random order, with handles that live, were released,
# never were, are of other threads, or NULL; with random shapes, dtypes, numbers and options; with functions that call back; by 1, 2 and
# 4 threads; and with allocations that fail. The calls are generated from the headers: a new function is among them as soon as it is
# declared, and one that the generator does not know has to be written into `special` below, or this fails.
# No call may crash, hang, or give LZ_EINTERNAL; when all is released no tensor lives; under the sanitizers (MODE=asan) nothing leaks.
# Sequences of one thread are also run on the CPU with each program compared to the reference (LAZULI_CHECK=ref), and once more on the
# reference: each call gives a tensor of the same status, dtype and shape.
#   test/api/sequences.sh [MODE THREADS FIRST COUNT]    MODE: plain, failing (memory), checked
# LZ_TEST_SEED: the first sequence; LZ_TEST_WHOLE: many more.
# shellcheck disable=SC2154  # root, tmp, shared and extreme are those of prototypes.bash and numbers.bash
set -u
# shellcheck source=test/prototypes.bash
. test/prototypes.bash
# shellcheck source=test/numbers.bash
. test/numbers.bash

generate "$shared$value$extreme"'
BEGIN { while ((getline line <"test/api/sequences.h") > 0) if (match(line, /^static void special_lz_[a-z0-9_]+|^FREE\(lz_[a-z_]+/)) { sub(/.*special_|FREE\(/, "", line); sub(/[^a-z0-9_].*/, "", line); special[line] = 1 } }
# What a parameter gets: objects that live for long are those of the thread (drawn.h), all else is drawn.
function drawn(p) {
    if (match(p, /lz_(optim|grad_scaler|ema|loader|archive|checkpoint_manager|mesh|function|stablehlo) \*[a-z]*$/)) {
        sub(/^const /, "", p); sub(/^lz_/, "", p); sub(/ .*/, "", p)
        return "the_" p "()"
    }
    if (p ~ /^lz_function \*\*/) return "function_out()"
    if (p ~ /lz_kv_cache \*/) return "&kv_cache[DEPTH]"
    return extreme(p)
}
{
    name = $1; sub(/.*[ *]/, "", name)
    if (name in special) { printf "SPECIAL(%s)\n", name; next }
    kind = $1 ~ /lz_tensor \*/ ? "TENSOR" : $1 ~ /^void / ? "VOID" : "OTHER"
    if (match($1, /^lz_(optim|grad_scaler|ema|loader|archive|checkpoint_manager|mesh|stablehlo) \*/)) {
        kind = $1; sub(/^lz_/, "", kind); sub(/ .*/, "", kind); kind = "OBJECT_" kind
    }
    n = split_parameters($2)
    args = ""; lists = 0; memory = $2 ~ /void \*/
    for (i = 1; i <= n; i++) {
        what = param[i] == "void" ? "" : name ~ /_default$/ && i == 2 ? "(FLAG() ? sizeof(" substr(name, 1, length(name) - 8) ") : 0)" : drawn(param[i])
        args = args (i > 1 ? ", " : "") what
    }
    printf "%s(%s, %s(%s))\n", kind, name, name, args
}' >"$tmp/calls.h"
declared=$(wc -l <"$tmp/prototypes") made=$(wc -l <"$tmp/calls.h")
[ "$declared" -eq "$made" ] || { echo "calls of $made of $declared functions"; exit 1; }

printf '#include "test/api/sequences.h"\n' >"$tmp/sequences.c"
build sequences 800 -lm -lpthread -Wno-unused-function -Wno-unused-value -Wno-address -Werror
mkdir "$tmp/work" && cd "$tmp/work" || exit 1
export PATH_OF_SEQUENCES=$tmp/sequences
unset LAZULI_LOG
ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:allocator_may_return_null=1:intercept_tls_get_addr=0}:max_allocation_size_mb=2048 UBSAN_OPTIONS=print_stacktrace=1 LAZULI_CACHE=0 \
    timeout -k 5 "${TEST_CPU:-900}" "$tmp/sequences" "$@" >"$tmp/log" 2>&1
rc=$?
[ $rc -eq 0 ] || { grep -vE '^(lazuli|[0-9]+ passed)' "$tmp/log" | tail -"${LINES_OF_LOG:-80}"; echo "exit status $rc"; }
tail -2 "$tmp/log"
cd "$root" || exit 1
exit $rc
