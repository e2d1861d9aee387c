#!/usr/bin/env bash
# coverage.sh - which branches of the sources that read what others have written are taken by tests (gcov).
#   tools/coverage.sh tests            the tests that are about them, as patterns of files
#   BUILD=build/coverage tools/coverage.sh report [FILE]
#                                      of each source: branches, how many were taken, per cent; with FILE the lines whose branches were not
set -u
sources=(cache data ir/text)
if [ "$1" = tests ]; then
    # those that every source needs, without long runs: what is fuzzed has its corpus replayed
    echo test/unit/cache/t_*.c 'test/fault/t_cache_faults.c' 'test/fault/t_cache_syscalls.c' 'test/fault/t_checkpoint_faults.c' \
        'test/unit/data/t_*.c' 'test/unit/ir/t_text.c' 'test/unit/ir/t_parse_errors.c' 'test/unit/ir/t_sharding.c' \
        'test/fuzz/f_cache_entry.c' 'test/fuzz/f_pack.c' 'test/fuzz/f_stablehlo_text.c' 'test/fuzz/f_npy.c' 'test/fuzz/f_npz.c' \
        'test/fuzz/f_safetensors.c' 'test/fuzz/f_safetensors_index.c' 'test/fuzz/f_csv.c' 'test/fuzz/f_idx.c' 'test/fuzz/f_checkpoint_manifest.c'
    exit
fi
BUILD=${BUILD:?} only=${2:-}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
for f in $(find "${sources[@]}" -name '*.c' | LC_ALL=C sort); do
    [ -z "$only" ] || [ "$f" = "$only" ] || continue
    o=$BUILD/obj/${f%.c}
    [ -f "$o.gcda" ] || { printf '%6s %6s %6s  %s\n' - - - "$f"; continue; }
    ${GCOV:-gcov} -t -b -c "$o.gcda" 2>/dev/null | awk -v only="$only" -v f="$f" '
        /^ *-: *0:Source:/ { mine = $0; sub(/.*Source:/, "", mine); mine = mine == f }
        !mine { next }
        /^ *[0-9#=-]+\*?:/ { split($0, part, ":"); line = part[2] + 0; text = $0; sub(/^[^:]*:[^:]*:/, "", text) }
        /^branch +[0-9]+ (taken|never)/ && !/\(throw\)/ {
            n++
            if (/taken [1-9]/) taken++
            else if (only != "" && line != last) { printf "%s:%d: %s\n", f, line, text; last = line }
        }
        END { if (only == "") printf "%6d %6d %5.1f%%  %s\n", n, taken, n ? 100 * taken / n : 100, f }'
done >"$tmp/table"
cat "$tmp/table"
[ -n "$only" ] || awk '{ n += $1; t += $2 } END { printf "%6d %6d %5.1f%%  all\n", n, t, n ? 100 * t / n : 0 }' "$tmp/table"
