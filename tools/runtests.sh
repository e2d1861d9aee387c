#!/usr/bin/env bash
# runtests.sh - run test programs side by side, each in a clean environment and a home of its own, and count.
#   BUILD=build/release tools/runtests.sh [--all] PROGRAM...
# --all adds the scripts: test/golden.sh and test/api/*.sh. JOBS (default: the cores) run at a time. TEST_TIMEOUT
# seconds (default 900) end one that hangs. LZ_TEST_QUICK=1 reaches the tests, which then take smaller random loads.
# LZ_TEST_FORMS=-all (or +all) runs all of them with LAZULI_VARIANTS set so.
# A program passes when it exits with 0; 77 means it was skipped. What is counted: the totals that Check prints, a last
# line "N passed, N failed", else the program as one. TOTALS=FILE: the two numbers are also appended there.
# The closing line is "N passed, N failed"; exit status 1 when anything failed.
set -u
BUILD=${BUILD:?}
all=no
[ "${1:-}" = --all ] && { all=yes; shift; }
programs=("$@")
[ $all = yes ] && programs+=(test/golden.sh test/api/*.sh)
run=$(mktemp -d "${TMPDIR:-/tmp}/lazuli-test.XXXXXX") || exit 1
[ -r /proc/self/maps ] || echo 'runtests: /proc is not mounted; the tests that read it will fail'
chmod 755 "$run" # a test may give up root for another user
trap 'chmod -R u+rwX "$run" 2>/dev/null; rm -rf "$run"' EXIT
trap 'exit 130' INT TERM

for v in $(compgen -e); do
    case $v in LAZULI_* | XLA_* | PT_XLA_* | PJRT_* | CPU_NUM_DEVICES | XDG_CACHE_HOME) unset "$v" ;; esac
done
[ -n "${LZ_TEST_FORMS:-}" ] && export LAZULI_VARIANTS=$LZ_TEST_FORMS
unset MAKEFLAGS MFLAGS MAKELEVEL # a test that calls make gets the variables in MAKE_VARS, not the job server
export BUILD run
export LZ_TOOL=$BUILD/lazuli
export CK_DEFAULT_TIMEOUT=${CK_DEFAULT_TIMEOUT:-240} CK_VERBOSITY=${CK_VERBOSITY:-normal}
# intercept_tls_get_addr: it takes other memory for the TLS of a library loaded late (libLLVM), and the leak check dies of it
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:allocator_may_return_null=1:detect_stack_use_after_return=0:intercept_tls_get_addr=0}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$PWD/test/lsan.supp:print_suppressions=0}
export TSAN_OPTIONS=${TSAN_OPTIONS:-suppressions=$PWD/test/tsan.supp:halt_on_error=1:second_deadlock_stack=1:allocator_may_return_null=1}
export TEST_TIMEOUT=${TEST_TIMEOUT:-900}

# Runs one program; leaves NAME.log and NAME.rc, prints one line.
one() {
    local p=$1 name=${1//\//_} t0 t1 rc
    mkdir -p "$run/home.$name/tmp"
    chmod 1777 "$run/home.$name/tmp"
    t0=$(date +%s%N)
    HOME=$run/home.$name TMPDIR=$run/home.$name/tmp timeout -k 5 "$TEST_TIMEOUT" "$p" >"$run/$name.log" 2>&1 </dev/null
    rc=$?
    t1=$(date +%s%N)
    echo $rc >"$run/$name.rc"
    chmod -R u+rwX "$run/home.$name" 2>/dev/null
    [ $rc -ne 0 ] && cp "$run/home.$name/tmp/"*.crash "$BUILD/" 2>/dev/null # what a fuzz target died of
    rm -rf "$run/home.$name"
    local word=FAIL ms=$(((t1 - t0) / 1000000))
    [ $rc -eq 0 ] && word=pass
    [ $rc -eq 77 ] && word=skip
    printf '%s  %7d.%d s  %s\n' $word $((ms / 1000)) $((ms % 1000 / 100)) "${p#"$BUILD"/}"
}
export -f one
[ ${#programs[@]} -gt 0 ] && printf '%s\0' "${programs[@]}" |
    xargs -0 -n 1 -P "${JOBS:-$(nproc)}" bash -c 'one "$1"' one

passed=0 failed=0
for p in "${programs[@]}"; do
    name=${p//\//_}
    rc=$(cat "$run/$name.rc" 2>/dev/null || echo 1)
    [ "$rc" -eq 77 ] && continue
    read -r ok bad <<<"$(awk '
        /Checks: [0-9]+, Failures: [0-9]+, Errors: [0-9]+/ {
            gsub(/[^0-9 ]/, " "); n = $(NF - 2); b = $(NF - 1) + $NF; ok += n - b; bad += b; seen = 1 }
        /^[0-9]+ passed, [0-9]+ failed$/ { ok2 = $1; bad2 = $3; line = 1 }
        END { if (line) print ok2, bad2; else if (seen) print ok, bad; else print 0, 0 }' "$run/$name.log")"
    if [ "$rc" -eq 0 ]; then
        [ $((ok + bad)) -eq 0 ] && ok=1
    else
        [ "$bad" -eq 0 ] && bad=1
        echo "---- ${p#"$BUILD"/} (exit status $rc) ----"
        grep -vE '^(Running suite|[0-9]+%: Checks: .* Failures: 0, Errors: 0)' "$run/$name.log" | tail -n "${LOG_LINES:-60}"
    fi
    passed=$((passed + ok)) failed=$((failed + bad))
done
[ -n "${TOTALS:-}" ] && echo "$passed $failed" >>"$TOTALS"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
