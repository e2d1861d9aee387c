#!/usr/bin/env bash
# regen.sh - the generated files that are committed, one row each: file, generator in tools/opgen, its argument.
#   tools/regen.sh BUILD write     rewrite them
#   tools/regen.sh BUILD check     say which are stale; exit status 1 when any is
set -u
BUILD=$1 mode=$2 bad=0
tmp=$(mktemp) || exit 1
trap 'rm -f "$tmp"' EXIT
while read -r file generator argument; do
    [ -f "tools/opgen/$generator.c" ] || continue
    if ! "$BUILD/tools/opgen/$generator" "$argument" >"$tmp"; then
        echo "tools/opgen/$generator $argument failed"
        bad=1
    elif ! cmp -s "$tmp" "$file"; then
        if [ "$mode" = write ]; then
            mkdir -p "$(dirname "$file")" && cp "$tmp" "$file" && chmod 644 "$file" && echo "wrote $file"
        else
            echo "$file is stale: make regen"
            bad=1
        fi
    fi
done <<'ROWS'
include/lazuli/ops.h opgen header
docs/reference/ops.md opgen doc
docs/reference/core_aten.md atengen doc
docs/reference/env.md envgen doc
docs/reference/metrics.md metricsgen doc
ROWS
exit $bad
