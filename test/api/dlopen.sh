#!/usr/bin/env bash
# dlopen.sh - the library loaded by a process that runs already, as other languages do: from a second thread, after libraries that have taken
# their share of the memory for thread-local variables. It must need none of that.
set -u
BUILD=${BUILD:?}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0
check() { # NAME COMMAND...
    local name=$1
    shift
    if "$@" >"$tmp/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$name:"
        head -20 "$tmp/log"
    fi
}
grep -q -- '-fsanitize' "$BUILD/flags" && { echo 'sanitizers must be loaded first'; exit 77; }
cat >"$tmp/p.c" <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
static void *load(void *path)
{
    void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    int (*seed)(unsigned long) = lib ? (int (*)(unsigned long))dlsym(lib, "lz_manual_seed") : 0;
    if (!seed || seed(3) != 0)
        fprintf(stderr, "%s\n", lib ? "lz_manual_seed" : dlerror());
    return seed && seed(3) == 0 ? path : 0;
}
int main(int argc, char **argv)
{
    pthread_t t;
    void *done = 0;
    if (argc < 2 || pthread_create(&t, 0, load, argv[1]) || pthread_join(t, &done))
        return 2;
    return done && load(argv[1]) ? 0 : 1;
}
C
# shellcheck disable=SC2086  # CC may be several words
check compile ${CC:-cc} -std=gnu11 "$tmp/p.c" -o "$tmp/p" -lpthread -ldl
check loads "$tmp/p" "$(realpath "$BUILD")/liblazuli.so"
flags() { ! readelf -dW "$BUILD/liblazuli.so" | grep STATIC_TLS; }
check 'no static thread-local memory' flags
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
