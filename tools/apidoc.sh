#!/usr/bin/env bash
# apidoc.sh - the API reference, from include/lazuli/*.h in the order of lazuli.h, by the program BUILD/tools/apidoc/apidoc.
#   tools/apidoc.sh check                  exported functions and fields of options that have no comment; exit status 1 when any
#   tools/apidoc.sh html VERSION FILE      the page
#   tools/apidoc.sh man VERSION DIR        man pages in DIR/man1, man3 and man7; HELP: what `lazuli --help` prints, for lazuli.1
#   tools/apidoc.sh calls                  on standard output a program in C and C++ that calls each macro, with and without options
# CC: the compiler, whose preprocessor expands the macros.
set -u
BUILD=${BUILD:?}
apidoc=$BUILD/tools/apidoc/apidoc
headers=(include/lazuli/lazuli.h)
while read -r h; do headers+=("include/lazuli/$h"); done <<<"$(sed -n 's/^#include <lazuli\/\(.*\.h\)>/\1/p' include/lazuli/lazuli.h)"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
"$apidoc" stubs "${headers[@]}" >"$tmp/stubs.c" && ${CC:-cc} -E -P -Iinclude "$tmp/stubs.c" >"$tmp/expanded" || exit 1
case $1 in
check) "$apidoc" check "$tmp/expanded" abi/exports.txt "${headers[@]}" ;;
calls) "$apidoc" calls "$tmp/expanded" "${headers[@]}" ;;
html) "$apidoc" html "$tmp/expanded" "$2" "${headers[@]}" >"$tmp/page" && mkdir -p "$(dirname "$3")" && cp "$tmp/page" "$3" ;;
man)
    # the date of the pages is that of the sources
    newest=$(git log -1 --format=%ct -- include tools/lazuli 2>/dev/null)
    DATE=$(date -u -d "@${SOURCE_DATE_EPOCH:-${newest:-$(stat -c %Y include/lazuli/lazuli.h)}}" +%F)
    export DATE
    rm -rf "$3/man1" "$3/man3" "$3/man7"
    mkdir -p "$3/man1" "$3/man3" "$3/man7" && "$apidoc" man "$tmp/expanded" "$2" "$3/man3" "${headers[@]}" &&
        "$apidoc" command "$2" "${HELP:?}" >"$3/man1/lazuli.1" &&
        "$apidoc" overview "$tmp/expanded" "$2" "${headers[@]}" >"$3/man7/lazuli.7" ;;
*) echo "apidoc.sh: unknown $1" >&2; exit 2 ;;
esac
