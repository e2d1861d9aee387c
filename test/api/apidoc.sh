#!/usr/bin/env bash
# apidoc.sh - the API reference: every exported function has a man page and an entry, links lead somewhere, groff has no complaint.
set -u
BUILD=${BUILD:?}
[ -x "$BUILD/tools/apidoc/apidoc" ] || exit 77
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0
none() { # NAME FILE: passes when the file is empty
    if [ -s "$2" ]; then failed=$((failed + 1)) && echo "$1:" && head -20 "$2"; else passed=$((passed + 1)); fi
}
"${LZ_TOOL:-$BUILD/lazuli}" --help >"$tmp/help" || exit 1
tools/apidoc.sh html 1.2.3 "$tmp/index.html" && HELP=$tmp/help tools/apidoc.sh man 1.2.3 "$tmp/man" || exit 1

sed 's/_at$//' abi/exports.txt | LC_ALL=C sort -u >"$tmp/names"
for page in "$tmp"/man/man3/lz_*.3; do basename "$page" .3; done | LC_ALL=C sort >"$tmp/pages"
# Of a function whose macro has another name (lz_sgd of lz_sgd_new_at) or that has none, the page has that name.
LC_ALL=C comm -23 "$tmp/names" "$tmp/pages" | while read -r name; do
    grep -lq "\\\\fB.*[ *]${name}_at(" "$tmp"/man/man3/*.3 || echo "$name"
done >"$tmp/missing"
none 'functions without a man page' "$tmp/missing"

grep -oE '<pre class=[a-z]+ id="[^"]*"|<h2 id="[^"]*"' "$tmp/index.html" | sed 's/.*id="//; s/"$//' | LC_ALL=C sort >"$tmp/ids"
uniq -d "$tmp/ids" >"$tmp/twice"
none 'ids that are given twice' "$tmp/twice"
grep -oE 'href="#[^"]*"' "$tmp/index.html" | sed 's/href="#//; s/"$//' | LC_ALL=C sort -u >"$tmp/links"
LC_ALL=C comm -23 "$tmp/links" "$tmp/ids" >"$tmp/dangling"
none 'links that lead nowhere' "$tmp/dangling"
grep -nE '(src|href)="?https?:|@import|url\(' "$tmp/index.html" >"$tmp/loads"
none 'what the page would load from elsewhere' "$tmp/loads"

signature='lz_conv2d</b>(lz_tensor *x, lz_tensor *weight, lz_tensor *bias, .stride = {0}, '
grep -qF "$signature" "$tmp/index.html" || echo "$signature" >"$tmp/sig"
[ -e "$tmp/sig" ] || : >"$tmp/sig"
none 'a signature as one writes it' "$tmp/sig"
grep -c '^\.TP' "$tmp/man/man1/lazuli.1" | awk '$1 < 40' >"$tmp/command"
none 'lazuli.1 has few entries' "$tmp/command"
if command -v groff >/dev/null; then
    (cd "$tmp/man" && cat man1/lazuli.1 man7/lazuli.7 man3/lazuli_*.3 man3/lz_[a-d]*.3 | groff -man -Tascii -ww -I . >/dev/null 2>"$tmp/groff")
    grep -v "can't break line\|cannot adjust" "$tmp/groff" >"$tmp/warnings"
    none 'what groff says' "$tmp/warnings"
fi
if command -v mandoc >/dev/null; then
    # Pages of other names are .so lines, which man-db and packages that compress pages handle.
    (cd "$tmp/man" && mandoc -Tlint -Wwarning man1/*.1 man7/*.7 man3/*.3 2>&1) | grep -v '\.so is fragile' >"$tmp/lint"
    none 'what mandoc says' "$tmp/lint"
    mandoc -Tascii "$tmp/man/man3/lz_matmul.3" | sed 's/.\x08//g' >"$tmp/page"
    grep -qF 'lz_tensor *lz_matmul(lz_tensor *a, lz_tensor *b);' "$tmp/page" || cp "$tmp/page" "$tmp/form"
    [ -e "$tmp/form" ] || : >"$tmp/form"
    none 'lz_matmul as one writes it' "$tmp/form"
fi
for h in include/lazuli/*.h; do
    [ "$h" = include/lazuli/lazuli.h ] || grep -qF "lazuli_${h##*/} (3)" "$tmp/man/man7/lazuli.7" || echo "$h"
done >"$tmp/headers"
none 'headers that lazuli.7 does not name' "$tmp/headers"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
