#!/usr/bin/env bash
# dlopen.sh - the library loaded by a process that runs already, as other languages do: from a second thread, after libraries that have taken
# their share of the memory for thread-local variables. It must need none of that.
# shellcheck disable=SC2154  # tmp is that of steps.bash
set -u
# shellcheck source=test/steps.bash
. test/steps.bash
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
step compile $CC -std=gnu11 "$tmp/p.c" -o "$tmp/p" -lpthread -ldl
step loads "$tmp/p" "$(realpath "$BUILD")/liblazuli.so"
flags() { ! readelf -dW "$BUILD/liblazuli.so" | grep STATIC_TLS; }
step 'no static thread-local memory' flags
total
