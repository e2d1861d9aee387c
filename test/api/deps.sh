#!/usr/bin/env bash
# deps.sh - what is missing to build is installed where that was asked for, and nowhere else: a small tree with the Makefile and
# tools/setup.sh, a compiler without headers, and an apt-get that writes down what it is told.
set -u
passed=0 failed=0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
bin=$tmp/bin root=$tmp/root tree=$tmp/tree
mkdir -p "$bin" "$root" "$tree"/{tools,examples,base,include/lazuli,abi}

# ---- the machine ----
stub() { # name; the script on stdin
    { echo '#!/bin/bash'; echo "root=$root"; cat; } >"$bin/$1"
    chmod +x "$bin/$1"
}
# Headers are there once apt-get has installed them. Everything else that is asked for is made, as a program that says so.
stub fakecc <<'SH'
for a; do [ "$a" = -E ] && preprocess=1; [ "${last:-}" = -o ] && out=$a; last=$a; done
if [ -n "${preprocess:-}" ]; then
    h=$(sed -n 's/^#include <\(.*\)>$/\1/p')
    [ -e "$root/$h" ] && echo "# 1 \"$root/$h\""
    exit 0
fi
[ -n "${out:-}" ] && mkdir -p "${out%/*}" && printf '#!/bin/sh\necho "ran $0"\n' >"$out" && chmod +x "$out"
exit 0
SH
stub apt-get <<'SH'
echo "apt-get $*" >>"$root/log"
case " $* " in *' install '*) [ -e "$root/no-lists" ] && exit 100
    for h in stdio zstd xxhash jansson zlib check; do : >"$root/$h.h"; done; mkdir -p "$root/llvm/llvm-c"; : >"$root/llvm/llvm-c/Core.h" ;;
*' update '*) rm -f "$root/no-lists" ;;
esac
SH
printf '[ "$1" = -n ] && shift\nexec "$@"\n' | stub sudo
printf '[ "$1" = --includedir ] && [ -d "$root/llvm" ] && echo "$root/llvm"\n' | stub llvm-config-19
for t in ld ar objcopy pkg-config ldconfig; do stub $t </dev/null; done

# ---- the tree ----
cp Makefile "$tree"
cp tools/setup.sh "$tree/tools"
: >"$tree/base/x.c"; : >"$tree/examples/digits.c"; : >"$tree/abi/lazuli.map"; : >"$tree/include/lazuli/lazuli.h"
# and what the Makefile names one by one
for f in $(grep -oE '\b(base|ir|cache|lower|codegen|backends|runtime|ops|autodiff|data|nn|test)(/[a-z_0-9]+)+\.c' Makefile) \
    {ir,cache,lower,codegen,backends,runtime,ops,autodiff,data,nn}/x.c; do
    mkdir -p "$tree/${f%/*}"
    : >"$tree/$f"
done
printf '#!/bin/bash\necho "jobs: $MAKEFLAGS"\n' >"$tree/tools/runtests.sh"
printf '#!/bin/bash\necho "lint ran"\n' >"$tree/tools/lint.sh"
chmod +x "$tree"/tools/*.sh
bare() { rm -rf "$tree/build" "$root"; mkdir -p "$root"; }
it() { # arguments of make: its output in $tmp/out, its status in rc
    (cd "$tree" && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKE_VARS PATH="$bin:$PATH" make CC=fakecc LD=ld AR=ar MACHINES= PREFIX="$tmp/pre" "$@") \
        >"$tmp/out" 2>&1 </dev/null
    rc=$?
}
calls() { cat "$root/log" 2>/dev/null | wc -l; }
expect() { # what, condition...
    local what=$1
    shift
    if "$@"; then passed=$((passed + 1)); return; fi
    failed=$((failed + 1))
    echo "$what: not so; status $rc, apt-get was called $(calls) times; make said:"
    head -20 "$tmp/out"
}
says() { grep -qE -- "$1" "$tmp/out"; }
install_line='apt-get install -y --no-install-recommends .*libzstd-dev'

# llvm_includedir also looks where Debian has it: a machine without is not needed, the other headers are missing in any case
for args in -n -q -t '-n check' '-q check' '-t demo' '-n install' '-n deps' '-kn all' clean help uninstall format; do
    bare
    # shellcheck disable=SC2086
    it $args
    expect "make $args installs nothing" [ "$(calls)" -eq 0 ]
    expect "make $args does not look for headers" [ ! -e "$tree/build/config.mk" ]
    case $args in -q* | -t*) ;; *) expect "make $args ends well" [ $rc -eq 0 ] ;; esac
done
for args in '' all install layers lint docs 'build/release/examples/digits'; do
    bare
    # shellcheck disable=SC2086
    it $args
    expect "make $args installs nothing" [ "$(calls)" -eq 0 ]
    expect "make $args stops" [ $rc -ne 0 ]
    expect "make $args prints the command" says "$install_line"
    expect "make $args names make deps" says 'make deps'
    expect "make $args compiles nothing" [ ! -e "$tree/build/release/obj" ]
done
for args in deps demo tests check check-quick check-whole unit 'all check'; do
    bare
    # shellcheck disable=SC2086
    it $args
    expect "make $args installs" [ "$(calls)" -eq 1 ]
    expect "make $args prints what it runs" says "^lazuli: .*apt-get .*install -y --no-install-recommends .*libzstd-dev"
    expect "make $args ends well" [ $rc -eq 0 ]
done
bare
it demo
expect 'make demo runs it' says 'ran .*examples/digits'
it all
expect 'nothing is installed twice' [ "$(calls)" -eq 1 ]
expect 'make all builds once it is there' [ $rc -eq 0 ]
rm "$root/zstd.h"
it all
expect 'a header that has gone is noticed' [ $rc -ne 0 ]
expect 'and not installed by make all' [ "$(calls)" -eq 1 ]
it demo
expect 'but by make demo' [ "$(calls)" -eq 2 ]
bare
: >"$root/no-lists"
it deps
expect 'without lists of packages, they are fetched' grep -q ' update' "$root/log"
expect 'and the command is run again' [ "$(calls)" -eq 3 ]
expect 'and it ends well' [ $rc -eq 0 ]

# ---- all cores, unless the caller says how many ----
for args in check 'check -j3' 'check -j1'; do
    # shellcheck disable=SC2086
    it $args
    case $args in *-j*) want=" -j${args##*-j}" ;; *) want=" -j$(nproc)" ;; esac
    expect "make $args: $want" says "^jobs: .*$want( |\$)"
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
