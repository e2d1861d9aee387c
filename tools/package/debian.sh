#!/usr/bin/env bash
# debian.sh - what debian/ takes from the tree, and whether it is in step with it.
#   tools/package/debian.sh symbols [FILE]   the symbols file, from abi/exports.txt: each name, since the version that had it first
#   tools/package/debian.sh check            versions, soname and names of packages, exit status 1 when something differs
# The version that had a name first is that of abi/since.txt or else 0.1.0.
set -u
cd "$(dirname "$0")/../.." || exit 1
soversion=$(sed -n 's/^SOVERSION := //p' Makefile)
package=liblazuli$soversion
symbols() {
    echo "liblazuli.so.$soversion $package #MINVER#"
    echo "* Build-Depends-Package: liblazuli-dev"
    {
        sed -n 's/^\(LAZULI_[0-9.]*\) {$/\1@\1/p' abi/lazuli.map
        # those that the map names one by one, and those of its patterns
        { grep -oE '__jit_[a-z_]+' abi/lazuli.map; cat abi/exports.txt; } | sed "s/\$/@$(sed -n 's/^\(LAZULI_[0-9.]*\) {$/\1/p' abi/lazuli.map | tail -1)/"
    } | LC_ALL=C sort | awk '
        BEGIN { while ((getline line <"abi/since.txt") > 0) { split(line, f, " "); since[f[1]] = f[2] } }
        { name = $0; sub(/@.*/, "", name); print " " $0, name in since ? since[name] : "0.1.0" }'
}
case ${1:-} in
symbols) if [ $# -gt 1 ]; then symbols >"$2"; else symbols; fi ;;
check)
    bad=0
    differs() { echo "debian: $*"; bad=1; }
    v=$(tools/package/version.sh)
    [ "$(sed -n '1s/^lazuli (\([^)]*\)).*/\1/p' debian/changelog)" = "$v" ] || differs "debian/changelog begins with another version than $v"
    grep -qx "Package: $package" debian/control || differs "debian/control has no package $package"
    [ -f "debian/$package.install" ] || differs "there is no debian/$package.install"
    while read -r name since; do
        case $name in '#'*) continue ;; esac
        grep -qx "$name" abi/exports.txt || differs "abi/since.txt names $name, which is not exported"
        [[ $since =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || differs "abi/since.txt: $name is not since a version: $since"
    done <abi/since.txt
    symbols | sed -n 's/^ \(lz_[a-z0-9_]*\)@LAZULI_[0-9.]* [0-9.]*$/\1/p' | LC_ALL=C sort | cmp -s - abi/exports.txt ||
        differs 'the symbols file has other names than abi/exports.txt'
    for p in $(sed -n 's/^Package: //p' debian/control); do [ -f "debian/$p.install" ] || differs "there is no debian/$p.install"; done
    exit $bad
    ;;
*) echo "debian.sh: symbols or check" >&2; exit 2 ;;
esac
