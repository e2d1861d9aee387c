#!/bin/sh
# make_static.sh - has make build liblazuli.a, for meson.build, which wants it in a place of its own.
#   tools/package/make_static.sh SOURCE BUILD OUTPUT [VARIABLE=VALUE...]
set -eu
source=$1 build=$2 output=$3
shift 3
make -s -C "$source" -j"$(nproc)" "BUILD=$build" "$@" "$build/liblazuli.a" >&2
cmp -s "$build/liblazuli.a" "$output" || cp "$build/liblazuli.a" "$output"
