#!/usr/bin/env bash
# gdb_kernels.sh - gdb stops a program at random 50 times, one that found its kernels in the cache, so that LLVM is not there, with a
# stripped library: every frame has a name, kernels those of their functions, and every backtrace ends where its thread began.
set -u
CC=${CC:-gcc}
BUILD=${BUILD:?}
STOPS=50
command -v gdb >/dev/null && gdb -batch -ex 'python print(1)' >/dev/null 2>&1 || { echo 'there is no gdb'; exit 77; }
grep -q -- '-fsanitize' "$BUILD/flags" && exit 77 # functions of the sanitizers would be in the way
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cat >"$tmp/p.c" <<'C'
#include <lazuli/lazuli.h>
#include <stdlib.h>
#include <sys/time.h>
/* Signals by processor time: they come while something runs. */
static void tick(void)
{
    struct itimerval t = {{0, 7300}, {0, 7300}};
    setitimer(ITIMER_PROF, &t, NULL);
}
int main(int argc, char **argv)
{
    lz_tensor *w = lz_retain(lz_randn(LZ_F32, LZ_SHAPE(256, 256)));
    lz_tensor *d = lz_retain(lz_rand(LZ_F64, LZ_SHAPE(20000)));
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 0; i < rounds; i++) {
        lz_scope_begin();
        lz_tensor *x = lz_softmax(lz_matmul(w, lz_tanh(w)), 1);
        lz_tensor *y = lz_sum(lz_lgamma(lz_add_scalar(d, 1)));
        lz_tensor *z = lz_sort(x, 1, false, NULL);
        lz_tensor *all[] = {x, y, z ? z : x};
        if (lz_sync(all, 3, true) != LZ_OK)
            return 1;
        if (i == 0 && rounds > 1)
            tick();
        lz_scope_end();
    }
    return 0;
}
C
cp "$BUILD"/liblazuli.so "$tmp/liblazuli.so" && strip "$tmp/liblazuli.so" || exit 1
ln -s liblazuli.so "$tmp/$(readelf -d "$BUILD/liblazuli.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')"
$CC -std=gnu11 -g -O1 -Iinclude "$tmp/p.c" -o "$tmp/p" -L"$tmp" -llazuli -Wl,-rpath,"$tmp" || exit 1
export LAZULI_CACHE_DIR=$tmp/cache LAZULI_NUM_THREADS=2 DEBUGINFOD_URLS=
"$tmp/p" || exit 1
cat >"$tmp/stops.gdb" <<G
set pagination off
set confirm off
handle SIGPROF stop print nopass
run
info sharedlibrary
set \$i = 0
while \$i < $STOPS
    echo [stop]\n
    thread apply all -q bt -frame-arguments none
    continue
    set \$i = \$i + 1
end
kill
G
timeout 900 gdb -batch -x "$tmp/stops.gdb" --args "$tmp/p" 100000 >"$tmp/out" 2>&1
if grep -q 'ptrace: Operation not permitted\|Could not trace' "$tmp/out"; then
    echo 'gdb may not trace processes here'
    exit 77
fi
passed=0 failed=0
t() { # NAME CONDITION...
    if "${@:2}"; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "$1: in" && tail -60 "$tmp/out"; fi
}
stops=$(grep -c '^\[stop\]' "$tmp/out")
kernels=$(grep -c '^#[0-9]* .*lazuli_[0-9a-f]\{8\}_[a-z0-9_]*' "$tmp/out")
# the library's own functions have lost their names, but for the public ones
unnamed=$(grep '^#.*??' "$tmp/out" | grep -vc '() from .*/liblazuli.so')
# the last frame of each backtrace: the one before a frame 0, or before the end of a stop
lost=$(awk '/^#0 / || !/^#/ { if (last != "" && last !~ /clone3|main \(/) print last; last = "" } /^#/ { last = $0 }' "$tmp/out")
t "$stops stops" test "$stops" -eq $STOPS
t 'LLVM is loaded' test "$(grep -c libLLVM "$tmp/out")" -eq 0
t "$kernels frames of kernels" test "$kernels" -ge $((STOPS / 2))
t "$unnamed frames without a name" test "$unnamed" -eq 0
t "backtraces that do not end in main or clone3: $lost" test -z "$lost"
echo "$stops stops, $kernels frames of kernels"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
