#!/usr/bin/env bash
# lint.sh - what a compiler does not check: layers, file sizes, exported names, stale generated files, form.
#   BUILD=build/release tools/lint.sh     check; needs the shared library and the generators built
#   tools/lint.sh --format                rewrite the sources with clang-format 14
# Prints every finding; exit status 1 when there is one.
set -u
MAX_LINES=1200
MAX_FILES=45 # of a folder of sources
bad=0
finding() { echo "lint: $*"; bad=1; }

library='base fft linalg ir shard cache lower codegen backends runtime ops autodiff data nn include'
# shellcheck disable=SC2086  # library is a list
sources() { find $library pjrt tools examples bench test -name '*.[ch]' 2>/dev/null | sort; }
# Not what is generated.
formatted() { sources | grep -v -x include/lazuli/ops.h; }

# The form depends on clang-format's version, so exactly one is used.
formatter() {
    local f
    for f in clang-format-14 clang-format; do
        case $("$f" --version 2>/dev/null) in *'version 14.'*) echo "$f"; return ;; esac
    done
}

if [ "${1:-}" = --format ]; then
    f=$(formatter)
    [ -n "$f" ] || { echo 'lint: clang-format 14 is not installed: tools/setup.sh --lint' >&2; exit 1; }
    formatted | xargs "$f" -i
    exit
fi
BUILD=${BUILD:?}

tools/layers.sh || bad=1
tools/files.sh || bad=1
if [ -d "$BUILD/obj" ]; then tools/symbols.sh || bad=1; fi
tools/links.sh || bad=1
tools/faults.sh || bad=1
tools/retired-words.sh || bad=1
tools/conversions.sh || bad=1
test/api/dtypes.sh --missing || bad=1

# A file begins with its own name and what it is about.
for f in $(formatted); do
    IFS= read -r line <"$f"
    case $line in "/* ${f##*/} - "*) ;; *) finding "$f does not begin with /* ${f##*/} - what it is about" ;; esac
done

found=$(mktemp) || exit 1 # no <(...): it needs /proc, which a bare root has not
trap 'rm -f "$found"' EXIT
each() { # what is wrong with each file:line on stdin
    cut -d: -f1,2 | head -20 >"$found"
    while read -r hit; do finding "$hit: $1"; done <"$found"
}

sources | grep -v -x include/lazuli/ops.h | xargs wc -l >"$found"
while read -r n file; do
    [ "$file" = total ] || [ "$n" -le $MAX_LINES ] || finding "$file has $n lines, more than $MAX_LINES: it is two files"
done <"$found"

# shellcheck disable=SC2086  # library is a list
find $library pjrt tools examples bench -type f ! -path '*/data/*' ! -path '*/results/*' 2>/dev/null | sed 's|/[^/]*$||' | sort | uniq -c >"$found"
while read -r n folder; do
    [ "$n" -le $MAX_FILES ] || finding "$folder has $n files, more than $MAX_FILES: some belong into a folder of their own"
done <"$found"

# (a pipe into `each` would set `bad` in a subshell)
hits=$(sources | xargs grep -nE '__DATE__|__TIME__')
[ -n "$hits" ] && each '__DATE__ and __TIME__ make builds differ' <<<"$hits"
hits=$(find base fft linalg ir shard cache lower codegen backends runtime ops autodiff data nn pjrt -name '*.c' ! -path base/alloc.c -print0 2>/dev/null |
    xargs -0 grep -nE '(^|[^_.>[:alnum:]])(malloc|calloc|realloc|strdup|strndup|asprintf|free)\(' |
    grep -vE '^[^:]*:[0-9]*:[[:space:]]*(/?\*|//)|lint: libc heap')
[ -n "$hits" ] && each 'the heap is reached through base/alloc.h only' <<<"$hits"
hits=$(find $library -name '*.[ch]' ! -path 'base/mutex.[ch]' -print0 2>/dev/null |
    xargs -0 grep -nE '(^|[^_[:alnum:]])(pthread_(mutex|cond|rwlock|spin|barrier|once)|PTHREAD_(MUTEX|COND|RWLOCK|ONCE)_|mtx_|cnd_)')
[ -n "$hits" ] && each 'locks are those of base/mutex.h' <<<"$hits"
hits=$(find base fft linalg ir shard cache lower codegen backends runtime ops autodiff data nn pjrt -name '*.[ch]' ! -path 'base/env.[ch]' -print0 2>/dev/null |
    xargs -0 grep -nE '\b(secure_)?getenv\b|\benviron\b|\bAT_SECURE\b' | grep -vE '^[^:]*:[0-9]*:[[:space:]]*(/?\*|//)')
[ -n "$hits" ] && each 'the environment is read through base/env.h only' <<<"$hits"
hits=$(sources | xargs grep -nE "[[:space:]]+$|$(printf '\t')")
[ -n "$hits" ] && each 'blanks at the end of the line, or a tab' <<<"$hits"

# One name, one type: in the headers and sources of the library, with what is public.
hits=$(find $library -name '*.[ch]' -print0 2>/dev/null | xargs -0 grep -ohE '^(typedef )?(struct|enum|union) lz_[a-z0-9_]+ \{' |
    sed -E 's/^(typedef )?(struct|enum|union) //; s/ \{//' | sort | uniq -d)
for name in $hits; do finding "more than one type is named $name: $(grep -rlE "^(typedef )?(struct|enum|union) $name \{" $library | tr '\n' ' ')"; done

# Every internal header compiles after <lazuli/lazuli.h>: no name means one thing in public and another inside.
if [ -f "$BUILD/gen/llvm_api_names.h" ]; then
    # shellcheck disable=SC2016,SC2086  # the inner shell's variables; library is a list
    find $library -name '*.h' ! -path 'include/*' -print0 2>/dev/null | LLVM=$(sed -n 's/^LLVM_INCLUDEDIR *:*= *//p' build/config.mk 2>/dev/null) CC=${CC:-cc} \
        xargs -0 -P 2 -n 16 sh -c 'for h; do
            printf "#include \"lazuli/lazuli.h\"\n#include \"%s\"\n" "$h" |
                $CC -std=gnu11 -D_GNU_SOURCE -fsyntax-only -I. -Iinclude -I"$BUILD/gen" ${LLVM:+-isystem $LLVM} -x c - >/dev/null 2>&1 || echo "$h"
        done' sh >"$found"
    while read -r file; do finding "$file does not compile after <lazuli/lazuli.h>"; done <"$found"
fi

# Exported names: exactly those of abi/exports.txt.
if [ -f "$BUILD/liblazuli.so" ]; then
    nm -D --defined-only "$BUILD/liblazuli.so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
        LC_ALL=C sort -u | grep -vE '^(__asan|__ubsan|__odr_asan|__tsan|__jit_debug_(descriptor|register_code)$)' >"$BUILD/exports.txt"
    if ! diff -u abi/exports.txt "$BUILD/exports.txt" >"$BUILD/exports.diff"; then
        finding 'exported names differ from abi/exports.txt (added ones: cp '"$BUILD"'/exports.txt abi/exports.txt):'
        grep -E '^[-+][^-+]' "$BUILD/exports.diff" | head -40
    fi
fi

# Declared and exported are the same set: a name that is only declared would fail in the user's link.
tools/prototypes.sh | sed -E 's/\t.*//; s/ $//; s/.*[ *]//' | LC_ALL=C sort -u >"$found"
if ! diff -u abi/exports.txt "$found" >"$BUILD/declared.diff"; then
    finding 'the names that include/lazuli declares LZ_API differ from abi/exports.txt:'
    grep -E '^[-+][^-+]' "$BUILD/declared.diff" | head -40
fi

# Every public function begins with LZ_PUBLIC (base/fork.h), but the pure ones of abi/pure.txt. (Those that macros define, and what
# comes of it: test/api/fork.sh.)
LC_ALL=C sort -c abi/pure.txt 2>/dev/null || finding 'abi/pure.txt is not sorted'
comm -13 abi/exports.txt abi/pure.txt >"$found"
while read -r name; do finding "abi/pure.txt names $name, which is not exported"; done <"$found"
# shellcheck disable=SC2046  # the sources have no blanks in their names
awk 'FILENAME == "abi/exports.txt" { public[$1] = 1; next }
    FILENAME == "abi/pure.txt" { delete public[$1]; next }
    /^[a-z].*lz_[a-z0-9_]+\(/ && !/^static|^typedef/ { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name) }
    /;$/ { name = "" }
    begins { if (!/LZ_PUBLIC/) print FILENAME ":" FNR ": " begins " does not begin with LZ_PUBLIC, and abi/pure.txt does not name it"; begins = "" }
    /^\{$/ { begins = name in public ? name : ""; name = "" }' abi/exports.txt abi/pure.txt $(find base fft linalg ir shard cache lower codegen backends runtime ops autodiff data nn pjrt -name '*.c') >"$found"
while read -r hit; do finding "$hit"; done <"$found"

# Each public header names the sources that implement it, and each source of ops/ with an exported function is named.
for header in include/lazuli/*.h; do
    [ "$header" = include/lazuli/lazuli.h ] && continue
    sources=$(awk '
        /Implemented in:/ { on = 1; sub(/.*Implemented in:/, "") }
        on && /\*\// { sub(/\. *\*\/.*/, ""); gsub(/[,*]/, " "); print; exit }
        on { gsub(/[,*]/, " "); print }
        /\*\// { exit }' "$header")
    [ -n "$sources" ] || finding "$header does not say where it is implemented"
    for f in $sources; do [ -f "$f" ] || finding "$header is implemented in $f, which does not exist"; done
done
# Not the objects that there are: some may be of sources that have been moved.
for f in ops/*.c ops/*/*.c; do
    nm -g --defined-only "$BUILD/obj/${f%.c}.o" | awk '{ print $3 }' | grep -qxFf abi/exports.txt || continue
    grep -qwF "$f" include/lazuli/*.h || finding "$f is named by no header of include/lazuli"
done

tools/regen.sh "$BUILD" check || bad=1

# codegen/README.md has every schedule of codegen/schedules.def with its file, and names only files that exist.
tr '\n' ' ' <codegen/schedules.def | grep -oE 'SCHEDULE\((cpu|gpu), [A-Z0-9_]+, "[a-z0-9_]+", [a-z0-9_, ]+, "[^"]+"' |
    sed -E 's/.*"([a-z0-9_]+)".*"([^"]+)"/`\1` | `\2`/' >"$found"
while read -r row; do grep -qF "$row" codegen/README.md || finding "codegen/README.md has no row $row of codegen/schedules.def"; done <"$found"
grep -ohE '`codegen/[a-z0-9_/]+\.[a-z]+`' codegen/README.md | tr -d '`' | sort -u >"$found"
while read -r file; do [ -f "$file" ] || finding "codegen/README.md names $file, which does not exist"; done <"$found"

# Every exported function and every field of an options struct has a comment, of which the API reference is made.
[ ! -x "$BUILD/tools/apidoc/apidoc" ] || BUILD=$BUILD tools/apidoc.sh check || bad=1

if command -v shellcheck >/dev/null; then
    shellcheck -S warning tools/*.sh tools/hooks/* test/*.sh test/api/*.sh .ci/run || bad=1
fi

f=$(formatter)
if [ -z "$f" ]; then
    echo 'lint: form not checked, clang-format 14 is not installed (tools/setup.sh --lint)'
else
    formatted | xargs "$f" --dry-run 2>&1 | sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: warning: .*/\1/p' | sort -u >"$found"
    while read -r file; do finding "$file is not formatted: make format"; done <"$found"
fi
[ $bad -eq 0 ] && echo 'lint: clean'
exit $bad
