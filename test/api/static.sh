#!/usr/bin/env bash
# static.sh - a program that is linked with -static runs what needs no compiler, and is told of the rest by a status.
set -u
CC=${CC:-gcc}
BUILD=${BUILD:?}
grep -q -- '-fsanitize' "$BUILD/flags" && exit 77
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cat >"$tmp/p.c" <<'C'
#include <lazuli/lazuli.h>
#include <stdio.h>
#include <string.h>
int main(void)
{
    float v[2] = {0};
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(2), (float[]){1, 2});
    if (lz_to_host(x, v, sizeof v) != LZ_OK || v[1] != 2)
        return 1;
    if (lz_to_host(lz_exp(x), v, sizeof v) != LZ_EUNAVAILABLE || !strstr(lz_last_error_text(), "linked statically"))
        return printf("%s\n", lz_last_error_text()), 2;
    if (lz_set_device("REF:0") != LZ_OK || lz_to_host(lz_exp(lz_zeros(LZ_F32, LZ_SHAPE(2))), v, sizeof v) != LZ_OK || v[1] != 1)
        return printf("%s\n", lz_last_error_text()), 3;
    return 0;
}
C
libs=(-lzstd -lxxhash -lz -ljansson -lm -lpthread -ldl)
$CC -std=gnu11 -static -Iinclude "$tmp/p.c" "$BUILD/liblazuli.a" "${libs[@]}" -o "$tmp/p" >"$tmp/log" 2>&1 || { tail -3 "$tmp/log"; exit 77; }
if LAZULI_CACHE=off timeout 600 "$tmp/p"; then echo '1 passed, 0 failed'; else echo "exit status $?"; exit 1; fi
