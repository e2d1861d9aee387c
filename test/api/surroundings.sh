#!/usr/bin/env bash
# surroundings.sh - A20: a program that computes, with a cache that is cold and then warm, where standard output or error is closed, files
# have no permissions (umask 0777), few files may be open, and the stack or the memory is small. It computes what it should, or ends with
# an error of its own; it is not ended by a signal, and does not write where it should not.
set -u
BUILD=${BUILD:?}
tmp=$(mktemp -d) || exit 1
trap 'chmod -R u+rwX "$tmp" 2>/dev/null; rm -rf "$tmp"' EXIT
tool=$(realpath "$BUILD")/lazuli
cat >"$tmp/sum.mlir" <<'M'
func.func @sum() {
  %0 = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %1 = stablehlo.dot_general %0, %0, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  check.expect_eq_const %1, dense<[[7.0, 10.0], [15.0, 22.0]]> : tensor<2x2xf32>
  func.return
}
M
cp "$tmp/sum.mlir" "$tmp/as-it-was"
passed=0 failed=0 ran=0
# Where a standard stream is closed, the next file gets its descriptor: what is printed must not be in the program, in an entry of the
# cache, or in a file of its own.
unharmed() {
    cmp "$tmp/sum.mlir" "$tmp/as-it-was" || return 1
    [ "$(find "$tmp" -mindepth 1 -maxdepth 1 ! -name 'cache-*' | sort | tr '\n' ' ')" = "$tmp/as-it-was $tmp/err $tmp/out $tmp/sum.mlir " ] || { ls "$tmp"; return 1; }
    [ ! -d "$tmp/cache-$ran" ] || "$tool" cache verify --path "$tmp/cache-$ran" >"$tmp/out" 2>&1 || { cat "$tmp/out"; return 1; }
}
# what is done before, and whether it must succeed; in a shell of its own, twice
surrounded() {
    local name=$1 must=$2 before=$3 rc again
    for again in cold warm; do
        (
            export LAZULI_CACHE_DIR=$tmp/cache-$ran PJRT_DEVICE=CPU
            cd "$tmp" || exit 1
            eval "$before" || exit 77
            exec "$tool" run sum.mlir
        ) >"$tmp/out" 2>"$tmp/err"
        rc=$?
        [ $rc -eq 77 ] && { echo "left out: $name"; break; }
        if [ $rc -eq 0 ] || { [ "$must" = may ] && [ $rc -lt 126 ]; }; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "FAIL $name, $again: exit status $rc"
            tail -3 "$tmp/err"
        fi
    done
    if unharmed; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAIL $name: what it leaves"; fi
    ran=$((ran + 1))
}
surrounded 'as usual' must true
surrounded 'no standard output' may 'exec >&-'
surrounded 'no standard error' must 'exec 2>&-'
surrounded 'none of the three' may 'exec <&- >&- 2>&-'
surrounded 'umask 0777' must 'umask 0777'
surrounded '16 open files' may 'ulimit -n 16'
surrounded '4 open files' may 'ulimit -n 4'
surrounded 'a stack of 128 KiB' must 'ulimit -s 128'
surrounded 'no core, no locked memory' must 'ulimit -c 0 -l 0'
if ! grep -q -- -fsanitize "$BUILD/flags"; then # their shadow takes more
    surrounded '512 MiB of address space' may 'ulimit -v 524288'
    surrounded '64 MiB of address space' may 'ulimit -v 65536'
fi
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
