#!/usr/bin/env bash
# gdb.sh - tools/gdb/lazuli.py on a program that records, steps and compiles: in the process, and in a core file of it. Where
# gdb cannot call functions by itself (gdb 13 on processors with AMX) it does so through gdbserver, where that is installed.
set -u
CC=${CC:-gcc}
BUILD=${BUILD:?}
command -v gdb >/dev/null && gdb -batch -ex 'python print(1)' >/dev/null 2>&1 || exit 77
grep -q -- '-fsanitize' "$BUILD/flags" && exit 77 # gdb's calls of functions and the sanitizers' checks do not meet
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cat >"$tmp/p.c" <<'C'
#include <lazuli/lazuli.h>
void here(lz_tensor *y, lz_tensor *stale, lz_tensor *bad, lz_tensor *deep);
__attribute__((noinline)) void here(lz_tensor *y, lz_tensor *stale, lz_tensor *bad, lz_tensor *deep)
{
    __asm__ volatile("" ::"r"(y), "r"(stale), "r"(bad), "r"(deep) : "memory");
}
int main(void)
{
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(2, 3), (float[]){1, 2, 3, 4, 5, 6});
    lz_scope_begin();
    lz_tensor *gone = lz_ones(LZ_F32, LZ_SHAPE(2));
    lz_scope_end();
    lz_tensor *y = lz_retain(lz_relu(lz_add(x, x)));
    here(y, gone, lz_matmul(x, x), lz_zeros(LZ_F32, LZ_SHAPE(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2)));
    return lz_mark_step() != LZ_OK || lz_wait_device_ops() != LZ_OK;
}
C
$CC -std=gnu11 -g -O1 -Iinclude "$tmp/p.c" -o "$tmp/p" -L"$BUILD" -llazuli -Wl,-rpath,"$(realpath "$BUILD")" || exit 1
passed=0 failed=0
# t NAME FILE PATTERN: an extended pattern over the lines of FILE, joined by "; "
t() {
    local got
    got=$(tr '\n' ';' <"$2" | sed 's/;/; /g')
    if [[ $got =~ $3 ]]; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "$1: no '$3' in:" && cat "$2"; fi
}
export LAZULI_CACHE=off LAZULI_NUM_THREADS=1 DEBUGINFOD_URLS=
calls() { # FILE: whether functions of the program can be called
    timeout 1000 gdb -batch "${@:2}" -x "$1" -ex 'break here' -ex run -ex 'print lz_status_name(LZ_ESHAPE)' "$tmp/p" 2>&1 | grep -q '^\$1 = .*LZ_ESHAPE'
}
cat >"$tmp/start" <<G
set pagination off
set confirm off
set breakpoint pending on
G
how=calls
if ! calls "$tmp/start"; then
    cat >>"$tmp/start" <<G
set sysroot /
target extended-remote | gdbserver --once --multi - 2>/dev/null
set remote exec-file $tmp/p
G
    if ! command -v gdbserver >/dev/null || ! calls "$tmp/start"; then
        sed -i 3q "$tmp/start" && how=reads
    fi
fi
cat "$tmp/start" - >"$tmp/live.gdb" <<G
source tools/gdb/lazuli.py
break here
break lz_lower
break lz_llvm_compile
run
echo [print]\n
print y
echo [print star]\n
print *y
echo [deep]\n
print deep
echo [node]\n
lznode y
echo [stale]\n
lznode stale
echo [error]\n
lznode bad
echo [null]\n
lznode 0
continue
echo [func]\n
lzfunc f
continue
echo [kernel]\n
lzkernel k
echo [core]\n
generate-core-file $tmp/core
kill
G
if ! timeout 2000 gdb -batch -x "$tmp/live.gdb" "$tmp/p" >"$tmp/live" 2>&1 && grep -q 'ptrace: Operation not permitted\|Could not trace' "$tmp/live"; then
    exit 77
fi
section() { sed -n "/^\[$1\]/,/^\[/p" "$tmp/$2" | grep -v '^\[' >"$tmp/$2.$1"; echo "$tmp/$2.$1"; }
t print "$(section print live)" '\$1 = 0x[0-9a-f]+ #[0-9]+ select f32\[2,3\] at .*p.c:13'
t 'print star' "$(section 'print star' live)" '\$2 = #[0-9]+ select f32\[2,3\] at .*p.c:13'
t deep "$(section deep live)" 'f32\[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2\]'
t node "$(section node live)" '#[0-9]+ select f32\[2,3\].*handle  index [0-9]+, generation [0-9]+, 2 references.*device  CPU:0.*opnd 2  #[0-9]+ add f32\[2,3\] at'
t stale "$(section stale live)" '^stale handle: generation'
t error "$(section error live)" '^error tensor: LZ_ESHAPE: f32\[2,3\] times f32\[2,3\]'
t null "$(section null live)" '^NULL'
if [ $how = calls ]; then
    t func "$(section func live)" '^module @main .*func.func .*stablehlo.add .*tensor<2x3xf32>.*return'
    t kernel "$(section kernel live)" '^kernel "[a-z_]+" .*buf 0: f32 read.*add'
else
    echo 'gdb cannot call functions here, and there is no gdbserver: what is read is tried'
    t func "$(section func live)" 'func @main.*= add\(%0, %0\) : f32\[2,3\] at .*return'
    t kernel "$(section kernel live)" 'kernel "[a-z_]+".*buf 0: f32 read.*add\('
fi
cat >"$tmp/core.gdb" <<G
set pagination off
source tools/gdb/lazuli.py
echo [kernel]\n
lzkernel k
echo [end]\n
G
if [ -s "$tmp/core" ]; then
    timeout 2000 gdb -batch -x "$tmp/core.gdb" "$tmp/p" "$tmp/core" >"$tmp/post" 2>&1
    t 'kernel of a core file' "$(section kernel post)" 'read from memory.*kernel "[a-z_]+" [a-z]+ parallel.*buf 0: f32 read.*stage 0: .*f32 add\('
else
    echo 'no core file could be written: not tried on one'
fi
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
