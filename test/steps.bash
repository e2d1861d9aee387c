# shellcheck shell=bash
# steps.bash - what the scripts of test/api share: sourced by them, from the project's folder. Sets CC, BUILD, tmp (a folder that goes
# with the script), and counts what passed. LZ_TEST_QUICK=1, LZ_TEST_WHOLE=1, LZ_TEST_SEED: as those of tools/runtests.sh.
CC=${CC:-gcc}
BUILD=${BUILD:?}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0
share=2 turn=${LZ_TEST_SEED:-0} # where there is much of a kind, every second is taken, when quick every fourth; which, the seed says
[ -n "${LZ_TEST_QUICK:-}" ] && share=4
[ -n "${LZ_TEST_WHOLE:-}${LZ_TEST_GPU:-}" ] && share=1
take_all() { [ -n "${LZ_TEST_QUICK:-}" ] || share=1; } # but when quick
in_share() { turn=$((turn + 1)) && [ $((turn % share)) -eq 0 ]; }
step() { # NAME, command...: its status is 0, or what it printed is shown
    local name=$1
    shift
    if "$@" >"$tmp/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$name failed:"
        tail -20 "$tmp/log"
        return 1
    fi
}
hlo_cases() { # OPTIONS...: with these, what a program of test/hlo gives agrees with the reference, which t_hlo compares with JAX's answers
    local name tol i inputs
    while read -r name tol; do
        case $name in '' | '#'*) continue ;; esac
        in_share || continue
        tol=${tol/#0/1e-5} inputs=() # compiled sums may be in another order
        for ((i = 0; ; i++)); do
            [ -f "test/hlo/$name/in$i.npy" ] || break
            inputs+=(--input "test/hlo/$name/in$i.npy")
        done
        step "$name" "${LZ_TOOL:?}" run "test/hlo/$name/prog.mlir" "$@" "${inputs[@]}" --compare ref --rtol "$tol" --atol "$tol"
    done <test/hlo/cases.txt
}
unit_tests() { # NAMES...: these programs of test/unit, or a share
    local t
    for t; do
        ! in_share || step "$t" "$BUILD/test/unit/$t"
    done
}
says() { # STATUS PATTERN, command...: ends so, and says so in what it prints, which is in $tmp/said
    local want=$1 pattern=$2 rc
    shift 2
    "$@" >"$tmp/said" 2>&1 </dev/null
    rc=$?
    if [ $rc -eq "$want" ] && grep -qE -- "$pattern" "$tmp/said"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$* failed (status $rc, not $want, or no '$pattern'):"
        head -5 "$tmp/said"
    fi
}
total() {
    echo "$passed passed, $failed failed"
    [ $failed -eq 0 ]
}
jax_python() { # the python that may have JAX
    [ -x build/peers/bin/python ] && set -- "$PWD/build/peers/bin/python"
    echo "${LZ_JAX_PYTHON:-${1:-python3}}"
}
