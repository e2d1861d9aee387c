#!/usr/bin/env bash
# docs.sh - the documentation is run: README.md and the pages of docs/ but for the notes.
#   test/api/docs.sh [--update] [FILE.md...]
# A ```c block compiles; one that has a main also runs and ends well. A block without main is put
# into the body of a function, after <lazuli/lazuli.h>. A block that starts with "// fragment" is
# not tried. "```LANGUAGE NAME" is saved under that name for the commands of the same page; it is
# also tried as above when the language is c.
# In a ```console block a line "$ command" is run by bash, in a folder of the page's own from which
# test, examples, include and docs can be seen; what it prints must be the lines that follow. Numbers,
# hashes and blanks may differ. In a "```console varies" block the command must succeed and the
# output is not compared. "```console needs X" is compared where the command X is installed and
# skipped elsewhere. --update writes the real output into the pages instead.
# Under a sanitizer console blocks are skipped: their programs are built as a user builds them.
set -u
CC=${CC:-gcc}
BUILD=${BUILD:?}
root=$PWD
build=$(realpath "$BUILD")
update=no
[ "${1:-}" = --update ] && { update=yes; shift; }
pages=("$@")
[ ${#pages[@]} -gt 0 ] || pages=(README.md docs/*.md docs/reference/*.md docs/dev/*.md)
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0
# Whether a command of a block "needs X" is there, and runs with the home that console blocks have.
export INSTALLED=$tmp/installed
printf '#!/bin/sh\nexport HOME=%s/home\n{ "$1" --version || "$1" version; } >/dev/null 2>&1 </dev/null\n' "$tmp" >"$INSTALLED"
chmod +x "$INSTALLED"
san=$(grep -o -- '-fsanitize=[a-z,]*' "$BUILD/flags" | tr '\n' ' ')
good() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "$1"; tail -"${3:-25}" "$2"; }

# Blocks of a page, numbered, as files NN.c, NN.console, NN.varies in the folder $2; named ones also
# in $2/work.
split() {
    awk -v dir="$2" '
        function installed(command) { return !system("\"$INSTALLED\" " command) }
        function kind() { # of the block that begins here; "" if nothing is to be done with it
            if ($1 == "```c") return "c"
            if ($1 != "```console") return ""
            return $2 == "varies" ? $2 : $2 != "needs" || installed($3) ? "console" : ""
        }
        /^ *```/ && !inside {
            inside = 1
            file = kind() == "" ? "" : sprintf("%s/%02d.%s", dir, ++n, kind())
            name = $1 == "```console" || $2 == "" ? "" : dir "/work/" $2
            if (file) printf "" >file
            next
        }
        /^ *```/ { inside = 0; close(file); close(name); next }
        inside && file { print >>file }
        inside && name { print >>name }' "$1"
}

c_block() { # file, name for messages
    local how exe=$1.exe
    head -1 "$1" | grep -q '^ *// fragment' && return
    if ! grep -q 'main(' "$1"; then
        { grep -E '^#include' "$1"; echo '#include <lazuli/lazuli.h>'; echo 'void f(void);'; echo 'void f(void) {'
          grep -vE '^#include' "$1"; echo '}'; } >"$1.f" && mv "$1.f" "$1"
        how=(-Wno-unused -fsyntax-only)
    else
        how=(-o "$exe" -L"$BUILD" -llazuli "-Wl,-rpath,$build" -lm)
    fi
    # shellcheck disable=SC2086  # a list of flags
    if $CC -std=gnu11 -Wall -Wextra -Werror -Iinclude $san "$1" "${how[@]}" >"$tmp/log" 2>&1 &&
        { [ ! -x "$exe" ] || (cd "${1%/*}/work" && timeout 1200 "$exe") >"$tmp/log" 2>&1; }; then
        good
    else
        bad "C block $2:" "$tmp/log" 15
    fi
}

# What may differ from machine to machine is made equal.
plain() {
    sed -E 's/0x[0-9a-f]+/H/g; s/\b[0-9a-f]{12,32}\b/H/g; s/(^|[^0-9a-z])([0-9]+(d|h|m|s|ms))*[0-9.]+us/\1T/g; s/[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?/N/g
        s/[[:space:]]+/ /g; s/ $//'
}

# Runs a console block: $1 the block, $2 where the block with its real output goes. In the page's shell.
console_block() {
    local line cmd='' status=0
    : >"$2"
    while IFS= read -r line || [ -n "$line" ]; do
        if [ -n "$cmd" ]; then cmd+=$'\n'$line; elif [[ $line == '$ '* ]]; then cmd=${line#\$ }; else continue; fi
        [[ $cmd == *\\ ]] && continue
        printf '$ %s\n' "$cmd" >>"$2"
        eval "$cmd" >"$tmp/out" 2>&1 </dev/null || status=$?
        sed "s|$root/||g; s|$HOME|~|g" "$tmp/out" >>"$2"
        cmd=''
    done <"$1"
    return $status
}

# The console blocks of a page, in one shell: it ends by naming those that failed.
console_page() { # folder of the page
    local block
    cd "$1/work" || exit 1
    export HOME=$tmp/home PATH=$build:$PATH PKG_CONFIG_PATH=$tmp/prefix/lib/pkgconfig LC_ALL=C.UTF-8
    export XLA_PERSISTENT_CACHE_PATH='' LAZULI_LOG=warn
    unset XDG_CACHE_HOME
    rm -rf "$HOME" && mkdir "$HOME"
    for block in "$1"/*.console "$1"/*.varies; do [ -f "$block" ] && echo "$block"; done | sort >"$1/blocks"
    while read -r block <&3; do
        console_block "$block" "$block.new"
        echo $? >"$block.status"
    done 3<"$1/blocks"
}

judge() { # block, name for messages
    if [[ $1 == *.varies ]]; then
        if [ "$(cat "$1.status")" = 0 ]; then good; else bad "console block $2 failed:" "$1.new"; fi
        return
    fi
    plain <"$1" >"$tmp/want"
    plain <"$1.new" >"$tmp/got"
    if diff "$tmp/want" "$tmp/got" >"$tmp/log"; then
        good
    else
        bad "console block $2 prints something else (< written, > printed; make docs rewrites it):" "$tmp/log" 40
    fi
}

rewrite() { # page, its folder
    awk -v dir="$2" '
        function installed(command) { return !system("\"$INSTALLED\" " command) }
        /^ *```/ && !inside {
            inside = 1
            print
            if ($1 == "```c") n++
            if ($1 != "```console" || $2 == "needs" && !installed($3)) next
            file = sprintf("%s/%02d.%s.new", dir, ++n, $2 == "varies" ? $2 : "console")
            while ((getline line <file) > 0) print line
            skip = 1
            next
        }
        /^ *```/ { inside = skip = 0 }
        !skip { print }' "$1" >"$tmp/page" && cat "$tmp/page" >"$1"
}

# What make install gives, by links.
prefix() {
    [ -d "$tmp/prefix" ] && return
    mkdir -p "$tmp/prefix/lib/pkgconfig"
    ln -s "$root/include" "$tmp/prefix/include"
    ln -s "$build"/liblazuli.* "$tmp/prefix/lib/"
    LDLIBS='' tools/package/configs.sh "$tmp/prefix" "$tmp/prefix/lib" 0.0.0 "$tmp/prefix/lib"
}

[ $update = yes ] && command -v python3 >/dev/null && python3 bench/table.py write
for page in "${pages[@]}"; do
    name=${page%.md}
    name=${name//\//_}
    dir=$tmp/$name
    mkdir -p "$dir/work"
    ln -s "$root/test" "$root/examples" "$root/include" "$root/docs" "$dir/work/"
    split "$page" "$dir"
    for block in "$dir"/*.c; do [ -f "$block" ] && c_block "$block" "$(basename "$block" .c) of $page"; done
    [ -z "$san" ] && grep -q '^ *```console' "$page" || continue
    prefix
    (console_page "$dir")
    if [ $update = yes ]; then
        rewrite "$page" "$dir"
    else
        for block in "$dir"/*.console "$dir"/*.varies; do [ -f "$block" ] && judge "$block" "$(basename "$block") of $page"; done
    fi
done
# The tables of speed are those of bench/results.
if [ $update = no ] && [ $# -eq 0 ] && command -v python3 >/dev/null; then
    if python3 bench/table.py check >"$tmp/log" 2>&1; then good; else bad 'bench/table.py:' "$tmp/log"; fi
fi
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
