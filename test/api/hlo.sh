#!/usr/bin/env bash
# hlo.sh - the programs of test/hlo compiled: what the lazuli command gives agrees with the reference, which t_hlo compares with JAX's answers.
# LZ_TEST_QUICK=1: every fourth of them.
set -u
tool=${LZ_TOOL:?}
passed=0 failed=0 n=0
step=1
[ -n "${LZ_TEST_QUICK:-}" ] && step=4
while read -r name tol; do
    n=$((n + 1))
    [ $((n % step)) -eq 0 ] || continue
    t=${tol/#0/1e-6} # compiled sums may be in another order
    inputs=()
    for ((i = 0; ; i++)); do
        [ -f "test/hlo/$name/in$i.npy" ] || break
        inputs+=(--input "test/hlo/$name/in$i.npy")
    done
    if out=$("$tool" run "test/hlo/$name/prog.mlir" "${inputs[@]}" --compare ref --rtol "$t" --atol "$t" 2>&1); then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$name: $out" | tail -5
    fi
done <test/hlo/cases.txt
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
