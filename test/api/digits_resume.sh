#!/usr/bin/env bash
# digits_resume.sh - examples/digits.c with --checkpoint goes on, from the middle of an epoch too, to the bits of a training that was
# not interrupted.
# shellcheck disable=SC2154  # tmp is that of example.bash
set -u
# shellcheck source=test/example.bash
. test/example.bash
digits() { example digits "$@" --epochs 3; }
ok 'the whole training' digits whole --checkpoint "$tmp/c.whole" --every 50 --keep 0
ok 'the last step is saved' [ -d "$tmp/c.whole/step_132" ]
cut_off whole 100 parts
ok 'the rest' digits rest --checkpoint "$tmp/c.parts"
ok 'the same state, bit for bit' same_step whole parts 132
ok 'the same accuracy' [ "$(field whole test_accuracy)" = "$(field rest test_accuracy)" ]
ok 'no checkpoint asked for' digits none
ok 'and none made' [ "$(field whole test_accuracy)" = "$(field none test_accuracy)" ]
ok 'nothing left to do' digits again --checkpoint "$tmp/c.parts"
ok 'the same accuracy still' [ "$(field whole test_accuracy)" = "$(field again test_accuracy)" ]
total
