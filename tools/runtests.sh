#!/usr/bin/env bash
# runtests.sh - run test programs side by side, each in a clean environment and a home of its own, and count.
#   BUILD=build/release tools/runtests.sh [--all] PROGRAM...
# --all adds the scripts: test/golden.sh and test/api/*.sh.
# Environment:
#   JOBS            programs at a time (default: the cores); the longest start first
#   TEST_CPU        processor time in seconds that one process may use (900): a loop without end; other work on the machine does not count
#   TEST_HANG       seconds in which a program that uses less than a hundredth of a processor is taken for hung (300)
#   TEST_WATCH      seconds between two looks for such (10)
#   TEST_TIMEOUT    seconds of wall clock, for what neither of them ends (1200)
#   LZ_TEST_SEED    which part of the long loads runs; from the commit when not set
#   LZ_TEST_QUICK   smaller loads; LZ_TEST_WHOLE: whole ones
#   LZ_TEST_LOCALE=de_DE.UTF-8  the locale of every test program, made by localedef; --all leaves the scripts out
#   LZ_TEST_VARIANTS=-all (or +all)  all of them with LAZULI_VARIANTS set so
#   LZ_TEST_TARGET=x86-64-v2         all of them with LAZULI_CPU set so
#   TOTALS=FILE     the two numbers of the closing line are also appended there
# A program passes when it exits with 0; 77 means it was skipped. What is counted: the totals that Check prints, a last
# line "N passed, N failed", else the program as one.
# The closing line is "N passed, N failed"; exit status 1 when anything failed. $BUILD/test-seconds.txt is the wall clock of each.
set -u
BUILD=${BUILD:?}
all=no
[ "${1:-}" = --all ] && { all=yes; shift; }
programs=("$@")
[ $all = yes ] && [ -z "${LZ_TEST_LOCALE:-}" ] && programs+=(test/golden.sh test/api/*.sh)
run=$(mktemp -d "${TMPDIR:-/tmp}/lazuli-test.XXXXXX") || exit 1
[ -r /proc/self/maps ] || echo 'runtests: /proc is not mounted; the tests that read it will fail'
chmod 755 "$run" # a test may give up root for another user
watcher='' runner=''
finish() {
    [ -n "$watcher" ] && kill "$watcher" 2>/dev/null
    [ -n "$runner" ] && kill "$runner" 2>/dev/null
    end_sessions "$run"/*.session
    chmod -R u+rwX "$run" 2>/dev/null
    rm -rf "$run"
}
trap finish EXIT
trap 'exit 130' INT TERM

for v in $(compgen -e); do
    case $v in
    LAZULI_* | XLA_* | PT_XLA_* | PJRT_* | CPU_NUM_DEVICES | XDG_CACHE_HOME) unset "$v" ;;
    OMPI_COMM_* | PMI_* | SLURM_* | RANK | WORLD_SIZE | LOCAL_RANK | LOCAL_WORLD_SIZE | MASTER_ADDR | MASTER_PORT) unset "$v" ;;
    esac
done
variants=${LZ_TEST_VARIANTS:-${LZ_TEST_FORMS:-}} # the second is its old name
[ -n "$variants" ] && export LAZULI_VARIANTS=$variants
[ -n "${LZ_TEST_TARGET:-}" ] && export LAZULI_CPU=$LZ_TEST_TARGET
if [ -n "${LZ_TEST_LOCALE:-}" ]; then
    mkdir "$run/locales"
    localedef -i "${LZ_TEST_LOCALE%%.*}" -f "${LZ_TEST_LOCALE#*.}" "$run/locales/$LZ_TEST_LOCALE" || { echo "runtests: no $LZ_TEST_LOCALE (package locales)"; exit 1; }
    export LZ_TEST_LOCALE LOCPATH=$run/locales
fi
unset MAKEFLAGS MFLAGS MAKELEVEL # a test that calls make gets the variables in MAKE_VARS, not the job server
export BUILD run
export LZ_TOOL=$BUILD/lazuli
export CK_VERBOSITY=${CK_VERBOSITY:-normal} # limits of single tests: test/suite.h
# intercept_tls_get_addr: it takes other memory for the TLS of a library loaded late (libLLVM), and the leak check dies of it
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:allocator_may_return_null=1:detect_stack_use_after_return=0:intercept_tls_get_addr=0}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
# UCX orders its threads by means that the thread sanitizer does not see
grep -qs fsanitize=thread "$BUILD/flags" && export LAZULI_TRANSPORT=${LAZULI_TRANSPORT:-sockets}
export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$PWD/test/lsan.supp:print_suppressions=0}
export TSAN_OPTIONS=${TSAN_OPTIONS:-suppressions=$PWD/test/tsan.supp:halt_on_error=1:second_deadlock_stack=1:allocator_may_return_null=1}
export TEST_CPU=${TEST_CPU:-$([ -n "${LZ_TEST_WHOLE:-}" ] && echo 36000 || echo 900)}
TEST_TIMEOUT=${TEST_TIMEOUT:-$([ -n "${LZ_TEST_WHOLE:-}" ] && echo 86400 || echo 1200)}
if [ -z "${LZ_TEST_SEED:-}" ]; then
    commit=$(git rev-parse HEAD 2>/dev/null | cut -c1-6)
    LZ_TEST_SEED=$((16#${commit:-0}))
fi
export LZ_TEST_SEED

# The longest first, by the last run here or the list in the tree, so that none runs alone at the end.
by_length() {
    local known=test/seconds.txt
    [ -s "$BUILD/test-seconds.txt" ] && known=$BUILD/test-seconds.txt
    printf '%s\n' "${programs[@]}" | awk -v build="$BUILD/" -v known="$known" '
        BEGIN { while ((getline line <known) > 0) { split(line, f, " "); s[f[2]] = f[1] } }
        { p = $0; if (index(p, build) == 1) p = substr(p, length(build) + 1); printf "%s\t%s\n", p in s ? s[p] : 1, $0 }' |
        sort -s -k1,1nr | cut -f2
}

# Lines "SESSION TICKS" of the processes there are: the processor time of a session and of what it has waited for.
sessions() {
    cat /proc/[0-9]*/stat 2>/dev/null | sed 's/.*) //' | awk '{ t[$4] += $12 + $13 + $14 + $15 } END { for (s in t) print s, t[s] }'
}

# Ends the sessions whose numbers the files hold, with every process group in them.
end_sessions() {
    local f sid
    for f; do
        sid=$(cat "$f" 2>/dev/null) || continue
        cat /proc/[0-9]*/stat 2>/dev/null | awk -v sid="$sid" '{ pid = $1; sub(/.*\) /, ""); if ($4 == sid) print pid }' |
            xargs -r kill -KILL 2>/dev/null
        kill -KILL -- "-$sid" 2>/dev/null
    done
}

# Looks at the running programs now and then; one that has hardly used a processor for long, or has run too long, is ended: what waits
# for something that never comes often looks for it now and then.
watch() {
    local every=${TEST_WATCH:-10} second f name sid now
    second=$(getconf CLK_TCK 2>/dev/null || echo 100)
    declare -A last=() idle=() age=()
    trap - EXIT
    while sleep $every; do
        sessions >"$run/sessions"
        for f in "$run"/*.session; do
            [ -e "$f" ] || continue
            name=${f%.session} sid=$(cat "$f")
            now=$(awk -v s="$sid" '$1 == s { print $2 }' "$run/sessions")
            age[$name]=$((${age[$name]:-0} + every))
            idle[$name]=$((${idle[$name]:-0} + every))
            # last: when the time without use began
            if [ -z "$now" ] || [ -z "${last[$name]:-}" ] || [ $(((now - last[$name]) * 100)) -gt $((idle[$name] * second)) ]; then
                idle[$name]=0 last[$name]=$now
            fi
            if [ "${idle[$name]}" -ge "${TEST_HANG:-300}" ]; then
                echo "less than 1 % of a processor used for ${idle[$name]} s" >"$name.timeout"
            elif [ "${age[$name]}" -ge "$TEST_TIMEOUT" ]; then
                echo "$TEST_TIMEOUT s of wall clock" >"$name.timeout"
            else
                continue
            fi
            end_sessions "$f"
        done
    done
}

# Why a program that failed was ended, if it was for a limit.
limit_of() { # name, exit status
    if [ -s "$run/$1.timeout" ]; then
        cat "$run/$1.timeout"
    elif [ "$2" -eq 152 ] || grep -q 'CPU time limit exceeded' "$run/$1.log"; then # SIGXCPU, itself or a test of it
        echo "$TEST_CPU s of processor time"
    elif grep -q 'Test timeout expired' "$run/$1.log"; then
        echo 'a test took longer than its wall clock, see its suite'
    fi
}

# Runs one program, in a session of its own; leaves NAME.log and NAME.rc, prints one line.
one() {
    local p=$1 name=${1//\//_} t0 t1 rc user sys TIMEFORMAT='%U %S'
    mkdir -p "$run/home.$name/tmp"
    chmod 1777 "$run/home.$name/tmp"
    t0=$(date +%s%N)
    # shellcheck disable=SC2016  # expanded by the inner shell
    { time HOME=$run/home.$name TMPDIR=$run/home.$name/tmp setsid bash -c 'echo $$ >"$1.session"; ulimit -St "$TEST_CPU"; exec "$2"' \
        sh "$run/$name" "$p" >"$run/$name.log" 2>&1 </dev/null; } 2>"$run/$name.time"
    rc=$?
    [ -d "$run" ] || exit 1 # interrupted
    t1=$(date +%s%N)
    rm -f "$run/$name.session"
    echo $rc >"$run/$name.rc"
    read -r user sys <<<"$(tail -n 1 "$run/$name.time")"
    chmod -R u+rwX "$run/home.$name" 2>/dev/null
    [ $rc -ne 0 ] && cp "$run/home.$name/tmp/"*.crash "$BUILD/" 2>/dev/null # what a fuzz target died of
    rm -rf "$run/home.$name"
    local word=FAIL ms=$(((t1 - t0) / 1000000)) limit=
    [ $rc -eq 0 ] && word=pass
    [ $rc -eq 77 ] && word=skip
    [ $word = FAIL ] && limit=$(limit_of "$name" $rc)
    awk -v u="$user" -v s="$sys" 'BEGIN { printf "%.1f\n", u + s }' >"$run/$name.cpu"
    echo "$((ms / 1000)).$((ms % 1000 / 100)) ${p#"$BUILD"/}" >"$run/$name.wall"
    printf '%s  %7d.%d s %8s s cpu  %s%s\n' $word $((ms / 1000)) $((ms % 1000 / 100)) "$(cat "$run/$name.cpu")" \
        "${p#"$BUILD"/}" "${limit:+ (timeout: $limit)}"
}
export -f one limit_of

echo "seed $LZ_TEST_SEED (LZ_TEST_SEED)"
start=$(date +%s)
watch 2>/dev/null &
watcher=$!
by_length | tr '\n' '\0' | xargs -r -0 -n 1 -P "${JOBS:-$(nproc)}" bash -c 'one "$1"' one &
runner=$!
wait $runner # not in the foreground: an interrupt ends a wait
kill $watcher 2>/dev/null
watcher='' runner=''

passed=0 failed=0 again=()
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
        again+=("$p")
        limit=$(limit_of "$name" "$rc")
        echo "---- ${p#"$BUILD"/} (exit status $rc${limit:+, timeout: $limit}) ----"
        grep -vE '^(Running suite|[0-9]+%: Checks: .* Failures: 0, Errors: 0)' "$run/$name.log" | tail -n "${LOG_LINES:-60}"
    fi
    passed=$((passed + ok)) failed=$((failed + bad))
done
[ $all = yes ] && cat "$run"/*.wall | sort -k1,1nr >"$BUILD/test-seconds.txt"
cat "$run"/*.cpu 2>/dev/null | awk -v wall=$(($(date +%s) - start)) '{ t += $1 } END { printf "%d s of processor time, %d s of wall clock\n", t, wall }'
if [ ${#again[@]} -gt 0 ]; then
    echo "again: LZ_TEST_SEED=$LZ_TEST_SEED${LZ_TEST_QUICK:+ LZ_TEST_QUICK=1}${LZ_TEST_WHOLE:+ LZ_TEST_WHOLE=1}${variants:+ LZ_TEST_VARIANTS=$variants}${LZ_TEST_TARGET:+ LZ_TEST_TARGET=$LZ_TEST_TARGET} BUILD=$BUILD tools/runtests.sh ${again[*]}"
fi
[ -n "${TOTALS:-}" ] && echo "$passed $failed" >>"$TOTALS"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
