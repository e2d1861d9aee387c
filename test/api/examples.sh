#!/usr/bin/env bash
# examples.sh - every example runs and ends well; a second run of the same finds its programs in the cache and ends well too.
set -u
BUILD=${BUILD:?}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0
for src in examples/*.c; do
    [ -f "$src" ] || continue
    name=$(basename "$src" .c)
    for round in 1 2; do
        if XDG_CACHE_HOME=$tmp timeout 300 "$BUILD/examples/$name" >"$tmp/log" 2>&1; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "$src, run $round: exit status $?"
            tail -20 "$tmp/log"
        fi
    done
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
