#!/usr/bin/env bash
# marks.sh - unit tests of what is above the backends, on eight CPU devices and under random marks: what a test records is computed in
# parts, wherever they are, and must be the same. test/marks/random_marks.c puts the marks; test/marks/differs.txt lists what is not the
# same on the virtual device, and why.
#   BUILD=build/release test/api/marks.sh [PROGRAM...]       as t_grad; a share, of other programs with another LZ_TEST_SEED; LZ_TEST_WHOLE: all
#   MARKS_SEEDS='1 2 3'                                      under these marks (default: LZ_TEST_SEED; of a share 2)
set -u
BUILD=${BUILD:?}
tmp=$(mktemp -d) || exit 1
trap 'chmod -R u+rwX "$tmp"; rm -rf "$tmp"' EXIT
chmod 755 "$tmp"
passed=0 failed=0
export XLA_USE_SPMD=1 CPU_NUM_DEVICES=8 CK_VERBOSITY=normal LZ_TEST_SEED=${LZ_TEST_SEED:-1}
most=18 # seconds
[ -n "${LZ_TEST_QUICK:-}" ] && most=8
whole=${LZ_TEST_WHOLE:-}
unset LZ_TEST_WHOLE # all programs and more seeds, each with the usual load
[ -z "$whole" ] && export LZ_TEST_QUICK=1

fail() {
    failed=$((failed + 1))
    echo "FAIL $*"
}

names() { # of the unit tests that marks.sh can run
    local d
    for d in runtime autodiff ops data nn; do
        find test/unit/$d -name 't_*.c' | sed 's/\.c$//'
    done | sort
}

# A share of so many seconds of processor time: neighbours in the list, from another place for another seed. What takes longer, and
# what has tests that the table lists (they count, so what they find depends on the marks), comes in the whole load only.
share() { # SECONDS
    names | awk -v most="$1" -v seed="$LZ_TEST_SEED" '
        BEGIN { while ((getline line <"test/marks/seconds.txt") > 0) if (split(line, f, " ") == 2) cost[f[2]] = f[1]
                while ((getline line <"test/marks/differs.txt") > 0) if (split(line, f, "\t") > 3) differs[f[1]] = 1 }
        { last = $0; sub(/.*\//, "", last); if (!(last in differs)) name[n++] = $0 }
        END {
            for (i = 0; i < n; i++) {
                p = last = name[(seed * 7 + i) % n]
                sub(/.*\//, "", last)
                c = last in cost ? cost[last] : 2
                if (sum + c <= most) { sum += c; print p }
            }
        }'
}

# Failures of a log that the table does not expect; an error (a crash, a timeout) is never expected.
unexpected() { # PROGRAM LOG
    grep -aE '^[^ ]*:[0-9]+:[FE]:' "$2" | awk -F '\t' -v program="$1" '
        BEGIN { while ((getline line <"test/marks/differs.txt") > 0) {
                    if (line ~ /^#/ || split(line, f, /\t+/) < 4 || f[1] != program) continue
                    test[++n] = f[2]; text[n] = f[3] } }
        { split($0, f, ":"); known = 0
          for (i = 1; i <= n; i++) if (f[3] == "F" && f[5] ~ "^" test[i] "$" && $0 ~ text[i]) known = 1
          if (!known) print }'
}

try() { # PROGRAM of test/unit
    local name=${1##*/} home=$tmp/home log=$tmp/log rc bad
    [ -x "$BUILD/$1" ] || { fail "$1: not built"; return; }
    mkdir "$home"
    chmod 1777 "$home"
    HOME=$home TMPDIR=$home "$BUILD/$1" >"$log" 2>&1 </dev/null
    rc=$?
    chmod -R u+rwX "$home"
    rm -rf "$home"
    [ $rc -eq 77 ] && return
    bad=$(unexpected "$name" "$log")
    if ! grep -qa 'Checks: [0-9]' "$log"; then
        fail "$1: ended with $rc"
        tail -n 20 "$log"
    elif [ -n "$bad" ]; then
        fail "$1"
        echo "$bad"
        echo "again: LZ_TEST_MARKS=$LZ_TEST_MARKS LZ_TEST_SEED=$LZ_TEST_SEED XLA_USE_SPMD=1 CPU_NUM_DEVICES=8 $BUILD/$1"
    else
        passed=$((passed + 1))
    fi
}

# What the table names is there.
tr -s '\t' <test/marks/differs.txt >"$tmp/table"
while IFS=$'\t' read -r program test _; do
    case $program in '#'* | '') continue ;; esac
    if ! grep -qsE "START_TEST\($test\)" test/unit/*/"$program".c; then
        fail "test/marks/differs.txt: $program has no test $test"
    fi
done <"$tmp/table"

if [ $# -gt 0 ]; then
    programs=$(names | grep -E "/($(IFS='|'; echo "$*"))\$")
elif [ -n "$whole" ]; then
    programs=$(names)
    MARKS_SEEDS=${MARKS_SEEDS:-"$LZ_TEST_SEED $((LZ_TEST_SEED + 1)) $((LZ_TEST_SEED + 2))"}
else
    programs=$(share $most)
    MARKS_SEEDS=${MARKS_SEEDS:-2} LZ_TEST_SEED=2 # other marks are for those who look at what they find
fi
for LZ_TEST_MARKS in ${MARKS_SEEDS:-$LZ_TEST_SEED}; do
    export LZ_TEST_MARKS
    for p in $programs; do
        try "$p"
    done
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
