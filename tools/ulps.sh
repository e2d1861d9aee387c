#!/usr/bin/env bash
# ulps.sh - ir/measured.def from the report of test/unit/codegen/t_emit (make ulps).
set -u
cat <<'C'
/* measured.def - the worst errors of compiled code that were found, in units of the last place, for docs/reference/ops.md: written by
 * `make ulps` from what test/unit/codegen/t_emit.c reports, which checks that they are within the tolerance of the row in ops.def.
 * LZ_MEASURED(operation, f16, bf16, f32, f64) */
C
awk '$3 == "worst" { worst[$1, $2] = $4; seen[$1] = 1 }
END { for (op in seen) printf "LZ_MEASURED(\"%s\", %s, %s, %s, %s)\n", op, worst[op, "f16"], worst[op, "bf16"], worst[op, "f32"], worst[op, "f64"] }' |
    LC_ALL=C sort
echo '#undef LZ_MEASURED'
