#!/usr/bin/env bash
# tidy.sh - clang-tidy with the checks of .clang-tidy, several files at a time.
#   BUILD=build/release tools/tidy.sh            the sources that differ from the branch main, and those not yet committed
#   BUILD=build/release tools/tidy.sh all        all sources of the library and the tools (12 minutes of one core)
#   BUILD=build/release tools/tidy.sh FILE...
# LLVM_INCLUDEDIR: where llvm-c/ is. JOBS: how many at a time. Exit status 1 when something is found, 77 without clang-tidy.
set -u
BUILD=${BUILD:?}
command -v clang-tidy >/dev/null || { echo 'tidy: clang-tidy is not installed' >&2; exit 77; }
dirs=(base linalg ir cache lower codegen backends runtime ops autodiff data nn tools)
case ${1:-} in
all) files=$(find "${dirs[@]}" -name '*.c' | sort) ;;
'')
    base=$(git merge-base HEAD main 2>/dev/null || echo HEAD)
    files=$({ git diff --name-only --diff-filter=d "$base" -- "${dirs[@]}"; git ls-files --others --exclude-standard -- "${dirs[@]}"; } |
        grep '\.c$' | sort -u)
    ;;
*) files=$(printf '%s\n' "$@") ;;
esac
[ -n "$files" ] || { echo 'tidy: no source differs from main'; exit 0; }
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
xargs -P "${JOBS:-$(nproc)}" -I{} clang-tidy --quiet {} -- -std=gnu11 -D_GNU_SOURCE -pthread -I. -Iinclude -I"$BUILD/gen" \
    ${LLVM_INCLUDEDIR:+-isystem "$LLVM_INCLUDEDIR"} <<<"$files" >"$tmp/out" 2>"$tmp/err"
rc=$?
sed "s|^$PWD/||" "$tmp/out"
n=$(grep -cE '(warning|error): ' "$tmp/out")
[ $rc -eq 0 ] || [ "$n" -gt 0 ] || grep -vE '^[0-9]+ warnings? |^Suppressed|^Use -' "$tmp/err"
echo "tidy: $(wc -l <<<"$files") files, $n findings"
exit $((rc != 0))
