#!/usr/bin/env bash
# docs.sh - every C block of README.md and docs/*.md compiles; one that has a main also runs and ends well. A block without
# main is put into the body of a function, after <lazuli/lazuli.h>. A block that starts with "// fragment" is not tried.
set -u
CC=${CC:-gcc}
BUILD=${BUILD:?}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0
san=$(grep -o -- '-fsanitize=[a-z,]*' "$BUILD/flags" | tr '\n' ' ')

for md in README.md docs/*.md; do
    awk -v base="$tmp/$(basename "$md" .md)" '
        /^ *```c *$/ { n++; file = sprintf("%s.%02d.c", base, n); line = NR; inside = 1; printf "" >file; next }
        /^ *```/ { if (inside) close(file); inside = 0; next }
        inside { print >>file }' "$md"
done
for c in "$tmp"/*.c; do
    [ -f "$c" ] || continue
    head -1 "$c" | grep -q '^ *// fragment' && continue
    name=$(basename "$c" .c)
    if ! grep -q 'main(' "$c"; then
        { grep -E '^#include' "$c"; echo '#include <lazuli/lazuli.h>'; echo 'void f(void);'; echo 'void f(void) {'
          grep -vE '^#include' "$c"; echo '}'; } >"$c.f" && mv "$c.f" "$c"
        how=(-Wno-unused -fsyntax-only)
    else
        how=(-o "$tmp/$name" -L"$BUILD" -llazuli "-Wl,-rpath,$(realpath "$BUILD")" -lm)
    fi
    # shellcheck disable=SC2086  # a list of flags
    if "$CC" -std=gnu11 -Wall -Wextra -Werror -Iinclude $san "$c" "${how[@]}" >"$tmp/log" 2>&1 &&
        { [ ! -x "$tmp/$name" ] || timeout 120 "$tmp/$name" >"$tmp/log" 2>&1; }; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "C block $name (file.number):"
        tail -15 "$tmp/log"
    fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
