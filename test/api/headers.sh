#!/usr/bin/env bash
# headers.sh - every public header compiles alone, as C11, as C++17 and as C++20, twice in one file, without a warning.
set -u
CC=${CC:-gcc}
CXX=${CXX:-c++}
passed=0 failed=0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

try() { # compiler, standard, language, header
    printf '#include <lazuli/%s>\n#include <lazuli/%s>\nint main(void) { return 0; }\n' "$4" "$4" >"$tmp/x"
    if $1 "-std=$2" -Wall -Wextra -Wshadow -Werror -Iinclude -fsyntax-only -x "$3" "$tmp/x" 2>"$tmp/log"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "lazuli/$4 as $2:"
        head -10 "$tmp/log"
    fi
}
for h in include/lazuli/*.h; do
    try "$CC" c11 c "${h##*/}"
    try "$CC" gnu17 c "${h##*/}"
    if command -v "$CXX" >/dev/null; then
        try "$CXX" c++17 c++ "${h##*/}"
        try "$CXX" c++20 c++ "${h##*/}"
    fi
done
command -v "$CXX" >/dev/null || echo 'no C++ compiler: C++ not tried'

# no header of ours needs one that is not installed with it
bad=$(grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*("|<(base|ir|lower|backends|cache|runtime)/)' include/lazuli/* || true)
if [ -z "$bad" ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "$bad"; fi
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
