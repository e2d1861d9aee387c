#!/usr/bin/env bash
# surroundings.sh - A20: a program that computes, with a cache that is cold and then warm, where standard output or error is closed, files
# have no permissions (umask 0777), few files may be open, and the stack or the memory is small. It computes what it should, or ends with
# an error of its own; it is not ended by a signal, and does not write where it should not.
set -u
BUILD=${BUILD:?}
tmp=$(mktemp -d) || exit 1
trap 'chmod -R u+rwX "$tmp" 2>/dev/null; rm -rf "$tmp"' EXIT
lib=$(realpath "$BUILD") tool=$lib/lazuli
san=$(grep -oE -- '-fsanitize=[a-z,]+' "$BUILD/flags" | head -1)
cat >"$tmp/program.c" <<'C'
#include <lazuli/lazuli.h>
#include <stdio.h>
int main(void)
{
    static const float x[] = {1, 2, 3, 4}, want[] = {7, 10, 15, 22};
    float got[4] = {0};
    lz_scope_begin();
    lz_tensor *t = lz_from_host(LZ_F32, LZ_SHAPE(2, 2), x);
    if (lz_to_host(lz_matmul(t, t), got, sizeof got) != LZ_OK) {
        fprintf(stderr, "%s\n", lz_last_error_text());
        return 1;
    }
    lz_scope_end();
    for (int i = 0; i < 4; i++)
        if (got[i] != want[i])
            return 126; /* a wrong number is no error of its own */
    printf("%g\n", (double)got[0]);
    return fflush(stdout) == 0 ? 0 : 1;
}
C
# shellcheck disable=SC2086  # none or one
${CC:-gcc} -std=gnu11 -Wall -Wextra -Werror $san -Iinclude "$tmp/program.c" -o "$tmp/program" -L"$lib" -llazuli "-Wl,-rpath,$lib" || exit 1
cp "$tmp/program" "$tmp/as-it-was"
passed=0 failed=0 ran=0
# Where a standard stream is closed, the next file gets its descriptor: what is printed must not be in the program, in an entry of the
# cache, or in a file of its own.
unharmed() {
    cmp "$tmp/program" "$tmp/as-it-was" || return 1
    [ "$(find "$tmp" -mindepth 1 -maxdepth 1 ! -name 'cache-*' | sort | tr '\n' ' ')" = "$tmp/as-it-was $tmp/err $tmp/out $tmp/program $tmp/program.c " ] || { ls "$tmp"; return 1; }
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
            exec ./program
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
[ -d "$tmp/cache-0" ] || { echo 'FAIL there is no cache'; failed=$((failed + 1)); }
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
