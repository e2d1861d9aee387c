#!/usr/bin/env bash
# prototypes.sh - the public functions, from the headers: "return type and name<TAB>parameters", one a line. CC: the compiler.
set -u
for h in include/lazuli/*.h; do echo "#include <lazuli/${h##*/}>"; done | ${CC:-cc} -E -P -Iinclude -xc - | tr '\n' ' ' |
    grep -oE 'visibility\("default"\)\)\) [^;{]*' | sed -E 's/^[^ ]* //; s/ +/ /g; s/\)$//; s/^([^(]*)\(/\1\t/'
