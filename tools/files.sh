#!/usr/bin/env bash
# files.sh - files are made, replaced and renamed by base/outfile.c (and by the cache's cache/vfs.c), and opened for reading
# by base/file_io.c: they keep modes and links, leave the old file when something fails, and go on after a signal (EINTR).
# The library and the command lazuli; tools that only run in a build may do as they like.
# Prints every finding; exit status 1 when there is one.
set -u
calls='open|open64|openat|openat2|creat|fopen|fopen64|freopen|fdopen|tmpfile|mkstemp|mkostemp|mkstemps|rename|renameat|renameat2|link|linkat|symlink|truncate|ftruncate|read|pread|write|pwrite|writev|fsync|fdatasync|close|flock'
# FILE CALLS, and why
excepted='
base/file_io.c open|read|close                          the calls themselves
base/outfile.c open|write|pwrite|ftruncate|fsync|rename the calls themselves
base/log.c write                                        a line on stderr, in one call that it makes again
codegen/code_memory.c ftruncate                         a file in memory, which has no name
cache/vfs.c [a-z0-9]+                                   the calls themselves, each with its fault
tools/lazuli/args.c open                                standard files that the caller closed
'
bad=0
found=$(mktemp) || exit 1
trap 'rm -f "$found"' EXIT
# shellcheck disable=SC2046  # names of the project have no blanks
grep -nE "(^|[^_.>[:alnum:]])($calls)\(" $(find base linalg ir cache lower codegen backends runtime ops autodiff data nn tools/lazuli -name '*.[ch]') |
    grep -vE '^[^:]*:[0-9]*:[[:space:]]*(/?\*|//)' >"$found"
while IFS=: read -r file line text; do
    call=$(grep -oE "(^|[^_.>[:alnum:]])($calls)\(" <<<"$text" | sed -E 's/^[^a-z]*//; s/\($//' | head -1)
    # a function of the file's own with that name
    grep -qE "^(static )[a-z_ *]*[ *]$call\(" "$file" && continue
    ok=no
    while read -r user pattern _; do
        [ "$user" = "$file" ] && grep -qxE "$pattern" <<<"$call" && ok=yes && break
    done <<<"$excepted"
    [ $ok = yes ] || { echo "$file:$line: $call: files go through base/outfile.h and base/file_io.h"; bad=1; }
done <"$found"
exit $bad
