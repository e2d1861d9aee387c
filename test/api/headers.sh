#!/usr/bin/env bash
# headers.sh - every public header compiles alone, twice in one file, in the versions of C and C++, with -pedantic-errors and
# without a warning.
set -u
CC=${CC:-gcc}
CXX=${CXX:-c++}
passed=0 failed=0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
# A compiler forgives a system's header much: here they are headers as any other.
mkdir "$tmp/include" && cp -r include/lazuli "$tmp/include/" && sed -i '/^#pragma GCC system_header$/d' "$tmp"/include/lazuli/*.h || exit 1

try() { # compiler, standard, language, header
    printf '#include <lazuli/%s>\n#include <lazuli/%s>\nint main(void) { return 0; }\n' "$4" "$4" >"$tmp/x"
    if $1 "-std=$2" -pedantic-errors -Wall -Wextra -Wshadow -Werror -I"$tmp/include" -fsyntax-only -x "$3" "$tmp/x" 2>"$tmp/log"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "lazuli/$4 as $2 ($1):"
        head -10 "$tmp/log"
    fi
}
for h in include/lazuli/*.h; do
    for std in c11 gnu17 c2x; do try "$CC" $std c "${h##*/}"; done
    command -v clang >/dev/null && try clang c11 c "${h##*/}"
    command -v clang++ >/dev/null && try clang++ c++17 c++ "${h##*/}"
    if command -v "$CXX" >/dev/null; then
        for std in c++17 c++20 c++2b; do try "$CXX" $std c++ "${h##*/}"; done
    fi
done
command -v "$CXX" >/dev/null || echo 'no C++ compiler: C++ not tried'

# no header of ours needs one that is not installed with it
bad=$(grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*("|<(base|ir|lower|backends|cache|runtime)/)' include/lazuli/* || true)
if [ -z "$bad" ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "$bad"; fi
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
