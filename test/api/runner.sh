#!/usr/bin/env bash
# runner.sh - tools/runtests.sh: what it counts, which limit it says ended a program, the seed, the command that repeats a failure.
set -u
passed=0 failed=0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
program() { # name; the script on stdin
    { echo '#!/bin/bash'; cat; } >"$tmp/$1"
    chmod +x "$tmp/$1"
}
echo 'echo "3 passed, 0 failed"' | program good
echo 'echo "2 passed, 1 failed"; exit 1' | program bad
echo 'exit 77' | program skipped
echo 'while :; do :; done' | program spins
echo 'sleep 1000' | program hangs
echo 'exec 3<> <(:); while :; do read -rt 0.1 -u 3; done' | program polls
echo 'echo "$LZ_TEST_SEED ${LAZULI_VARIANTS:-none} ${LAZULI_CPU:-clean} $HOME" >"$out"' | program tells
run() { # programs...
    mkdir -p "$tmp/build"
    env -u LZ_TEST_QUICK -u LZ_TEST_WHOLE -u LZ_TEST_VARIANTS -u LZ_TEST_FORMS -u TOTALS BUILD="$tmp/build" TMPDIR="$tmp" JOBS=3 TEST_CPU=1 TEST_HANG=3 TEST_WATCH=1 out="$tmp/told" \
        "${env[@]}" tools/runtests.sh "$@" >"$tmp/out" 2>&1
    rc=$?
}
expect() { # what, condition...
    local what=$1
    shift
    if "$@"; then passed=$((passed + 1)); return; fi
    failed=$((failed + 1))
    echo "$what: not so; the runner ended with $rc and said:"
    head -20 "$tmp/out"
}
says() { grep -qE -- "$1" "$tmp/out"; }
closes() { [ "$(tail -n 1 "$tmp/out")" = "$1" ]; }

env=(LZ_TEST_SEED=42 LAZULI_CPU=z80)
run "$tmp/good" "$tmp/skipped" "$tmp/tells"
expect 'programs that pass' [ $rc -eq 0 ]
expect 'their tests are counted' closes '4 passed, 0 failed'
expect 'the seed is printed' says '^seed 42 '
expect 'and given, in a clean environment' grep -q '^42 none clean ' "$tmp/told"
expect 'each has a home of its own' grep -q "home\..*tells$" "$tmp/told"
expect 'processor time is printed' says '^pass .* s cpu  .*good$'
expect 'nothing is to be repeated' [ "$(grep -c '^again:' "$tmp/out")" -eq 0 ]
run "$tmp/good" "$tmp/bad" "$tmp/spins" "$tmp/hangs" "$tmp/polls"
expect 'failures' [ $rc -ne 0 ]
expect 'are counted' closes '5 passed, 4 failed'
expect 'a loop without end is a timeout' says '^FAIL .*spins \(timeout: 1 s of processor time\)'
if [ -r /proc/self/stat ]; then
    expect 'a program that waits for ever is a timeout' says '^FAIL .*hangs \(timeout: less than 1 % of a processor used'
    expect 'and one that looks for it now and then' says '^FAIL .*polls \(timeout: less than 1 % of a processor used'
fi
expect 'a failure is none' says '^FAIL .*/bad$'
expect 'the command to repeat' says "^again: LZ_TEST_SEED=42 BUILD=.* tools/runtests.sh $tmp/bad $tmp/spins $tmp/hangs $tmp/polls\$"
expect 'nothing is left' [ -z "$(find "$tmp" -maxdepth 1 -name 'lazuli-test.*')" ]
for name in LZ_TEST_VARIANTS LZ_TEST_FORMS; do
    env=("$name=-all")
    run "$tmp/tells"
    expect "$name" grep -q ' -all ' "$tmp/told"
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
