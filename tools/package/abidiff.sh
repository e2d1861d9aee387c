#!/usr/bin/env bash
# abidiff.sh - whether programs built with one version of the library run with another: functions that went, parameters and structs
# that changed (libabigail). Names alone: abi/exports.txt, which lint compares.
#   tools/package/abidiff.sh OLD_LIBRARY OLD_INCLUDE NEW_LIBRARY NEW_INCLUDE
# The libraries need their debug information. Exit status 0: compatible, what was added is listed; 1: not; 77: no abidiff.
set -u
command -v abidiff >/dev/null || { echo 'abidiff.sh: abidiff is not installed (package abigail-tools)'; exit 77; }
abidiff --headers-dir1 "$2" --headers-dir2 "$4" --drop-private-types --no-show-locs "$1" "$3"
rc=$?
# bit 4: something differs, 8: incompatibly; 1 and 2 are errors of its own
[ $((rc & 11)) -eq 0 ] || exit 1
[ $((rc & 4)) -eq 0 ] && exit 0
abidiff --headers-dir1 "$2" --headers-dir2 "$4" --drop-private-types --no-added-syms "$1" "$3" >/dev/null || exit 1
