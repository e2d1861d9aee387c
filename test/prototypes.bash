# shellcheck shell=bash
# prototypes.bash - what the scripts of test/api share that call every public function: sourced by them, from the project's folder.
# Sets CC, BUILD, root, tmp (a folder that goes with the script), san (the sanitizers of the build) and writes $tmp/prototypes.
CC=${CC:-gcc}
BUILD=${BUILD:?}
# shellcheck disable=SC2034  # for the scripts
root=$PWD
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
# shellcheck disable=SC2034
san=$(grep -o -- '-fsanitize=[a-z,]*' "$BUILD/flags" | tr '\n' ' ')
CC=$CC tools/prototypes.sh >"$tmp/prototypes"

# generate PROGRAM: an awk program over the prototypes (name, parameters); it has split_parameters(s), which fills param[1..n] and
# returns n. Parameters end at commas that are not inside a function pointer.
generate() {
    awk -F'\t' '
function split_parameters(s,    i, c, depth, n) {
    n = 1; param[1] = ""
    for (i = 1; i <= length(s); i++) {
        c = substr(s, i, 1)
        if (c == "(") depth++
        if (c == ")") depth--
        if (c == "," && !depth) { n++; param[n] = ""; continue }
        param[n] = param[n] c
    }
    for (i = 1; i <= n; i++) sub(/^ +/, "", param[i])
    return n
}
'"$1" "$tmp/prototypes"
}

# build NAME LEAST FLAGS...: compiles $tmp/NAME.c against the shared library and the calls in $tmp/calls.h, at least so many.
build() {
    local name=$1 least=$2 n
    # shellcheck disable=SC2086  # a list of flags
    $CC -std=gnu11 -Wall -Wextra $san -Iinclude -I"$tmp" "$tmp/$name.c" -o "$tmp/$name" -L"$BUILD" -llazuli "${@:3}" \
        -Wl,-rpath,"$(realpath "$BUILD")" || exit 1
    n=$(wc -l <"$tmp/calls.h")
    [ "$n" -gt "$least" ] || { echo "only $n calls were generated"; exit 1; }
}
