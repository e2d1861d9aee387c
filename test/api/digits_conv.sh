#!/usr/bin/env bash
# digits_conv.sh - examples/digits_conv.c reads 98 % of the held-out digits; an interrupted training goes on to the same bytes; a second run
# compiles nothing. examples/vae.c learns, too.
# shellcheck disable=SC2154  # tmp is that of example.bash
set -u
# shellcheck source=test/example.bash
. test/example.bash
conv() { example digits_conv "$@"; }
ok 'a convolutional network learns digits' conv whole --num_epochs 8
ok "it reads $(field whole test_accuracy) of what was held out" less 0.98 "$(field whole test_accuracy)"
ok 'two epochs' conv two --num_epochs 2 --checkpoint "$tmp/c.two" --every 30 --keep 0
ok 'which compiled nothing' [ "$(field two llvm_compiles)" = 0 ]
ok 'the first of two' conv one --num_epochs 2 --stop 1 --checkpoint "$tmp/c.parts"
ok 'the second' conv rest --num_epochs 2 --checkpoint "$tmp/c.parts"
ok 'the same state, bit for bit' same_step two parts 88
cut_off two 60 inside
ok 'from the middle of an epoch' conv middle --num_epochs 2 --checkpoint "$tmp/c.inside"
ok 'the same state again' same_step two inside 88
ok 'the rest planned nothing' [ "$(field rest program_misses)" = 0 ]
ok 'no data' bash -c "! '$BUILD/examples/digits_conv' --data '$tmp/none' 2>'$tmp/err'"
ok 'which file is missing' grep -q 'none' "$tmp/err"

vae() { example vae "$@" --num_epochs 6; }
drawing() { grep '|' "$tmp/$1"; }
vae_steps() { basename "$(ls -d "$tmp"/c.vae/step_* | sort -t_ -k2 -n | tail -1)" | sed 's/step_//'; }
same_drawing() { [ -n "$(drawing "$1")" ] && [ "$(drawing "$1")" = "$(drawing "$2")" ]; }
ok 'an autoencoder learns digits' vae whole --checkpoint "$tmp/c.vae" --every 40
ok "its loss falls: $(field whole first_loss) to $(field whole loss)" less "$(field whole loss)" 26
ok 'its first half' vae part --stop 3 --checkpoint "$tmp/c.half"
ok 'its second half' vae rest --checkpoint "$tmp/c.half"
ok 'the same state, bit for bit' same_step vae half "$(vae_steps)"
ok 'the same drawing' same_drawing whole rest
ok 'the rest compiled nothing' [ "$(field rest llvm_compiles)" = 0 ]
ok 'made-up images' vae fake --fake_data
ok 'their loss falls' less "$(field fake loss)" "$(field fake first_loss)"
{ printf '\0\0\010\3\0\0\0\100\0\0\0\034\0\0\0\034'; head -c $((64 * 784)) /dev/zero | tr '\0' '\170'; } | gzip >"$tmp/images.gz"
ok 'the files of MNIST' vae mnist --mnist "$tmp/images.gz"
total
