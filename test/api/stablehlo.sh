#!/usr/bin/env bash
# stablehlo.sh - examples/stablehlo_run.c trains with a step that JAX lowered; a second run compiles nothing; what is wrong with a text is said
# with its line and column.
# shellcheck disable=SC2154  # tmp is that of example.bash
set -u
# shellcheck source=test/example.bash
. test/example.bash
run() { example stablehlo_run "$@" --num_epochs 8; }
refused() { ! "$BUILD/examples/stablehlo_run" --program "$1" >"$tmp/err" 2>&1 && grep -q "$2" "$tmp/err"; }
ok 'a training' run whole
ok "it learns: $(field whole test_accuracy)" less 0.95 "$(field whole test_accuracy)"
ok 'the types are shown' grep -q '^input 5: f32 32x64$' "$tmp/whole"
ok 'again' run again
ok 'the same loss' [ "$(field whole loss)" = "$(field again loss)" ]
ok 'compiled nothing' [ "$(field again llvm_compiles)" = 0 ]
ok 'planned nothing' [ "$(field again program_misses)" = 0 ]
sed 's/stablehlo.tanh/stablehlo.tahn/' examples/data/train_step.mlir >"$tmp/wrong.mlir"
ok 'a wrong name is found' refused "$tmp/wrong.mlir" 'wrong.mlir:[0-9]*:[0-9]*: .*tahn'
head -c 3000 examples/data/train_step.mlir >"$tmp/half.mlir"
ok 'half a text is refused' refused "$tmp/half.mlir" 'half.mlir:[0-9]*:[0-9]*:'
ok 'another program is refused' refused test/hlo/x_plus_1/prog.mlir 'not the program'
ok 'no text is refused' refused "$tmp/none" 'none'
total
