#!/usr/bin/env bash
# ucx_abi.sh - backends/distributed/ucx_abi.h is what UCX's headers say, where they are there (package libucx-dev; UCX_HEADERS: folders of
# other versions), and the library that is there has all functions that are used.
# shellcheck disable=SC2154  # passed and others are those of example.bash
set -u
# shellcheck source=test/example.bash
. test/example.bash
CC=${CC:-cc}
agrees() { # folder of headers
    # shellcheck disable=SC2086  # CC may be several words
    $CC -std=gnu11 -Wall -Werror -fsyntax-only -I. ${1:+-I"$1"} test/api/ucx/abi.c
}
# shellcheck disable=SC2086
if echo '#include <ucp/api/ucp.h>' | $CC -fsyntax-only -xc - 2>/dev/null; then
    ok 'the headers of this machine' agrees ''
else
    echo 'skipped: there are no headers of UCX (package libucx-dev)'
fi
for folder in ${UCX_HEADERS:-}; do ok "$folder" agrees "$folder"; done
# a changed field is seen
sed 's/    void \*user_data;/    void *other, *user_data;/' backends/distributed/ucx_abi.h >"$tmp/ucx_abi.h"
cmp -s "$tmp/ucx_abi.h" backends/distributed/ucx_abi.h && ok 'there is a field to change' false
mkdir -p "$tmp/backends/distributed" && mv "$tmp/ucx_abi.h" "$tmp/backends/distributed/"
# shellcheck disable=SC2086
if echo '#include <ucp/api/ucp.h>' | $CC -fsyntax-only -xc - 2>/dev/null; then
    ok 'a field in another place is an error' bash -c "! $CC -std=gnu11 -fsyntax-only -I'$tmp' test/api/ucx/abi.c 2>/dev/null"
fi
lib=$(ldconfig -p 2>/dev/null | sed -n 's/.*libucp\.so\.0 .*=> //p' | head -1)
if [ -n "$lib" ]; then
    names=$(sed -n 's/.*(\*\(ucp_[a-z_]*\))(.*/\1/p' backends/distributed/ucx_abi.h)
    ok 'functions are named' [ "$(wc -w <<<"$names")" -ge 15 ]
    for f in $names; do ok "$f" grep -qF "$f" "$lib"; done
else
    echo 'skipped: there is no libucp.so.0 (package libucx0)'
fi
total
