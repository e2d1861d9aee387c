#!/usr/bin/env bash
# resnet.sh - examples/resnet.c learns made-up images, in f32, bf16 and f16; a training that was interrupted goes on to the same bytes; a
# second run compiles nothing; ResNet-50 and the beginning for large images run; CIFAR's files are read.
# shellcheck disable=SC2154  # tmp is that of example.bash
set -u
# shellcheck source=test/example.bash
. test/example.bash
resnet() { example resnet "$1" --width 4 --batch_size 16 --log_steps 1 --lr 0.05 "${@:2}"; }
fake() { resnet "$@" --fake_data --image 16 --fake_size 96 --num_epochs 2; }

ok 'the whole training' fake whole --checkpoint "$tmp/c.whole" --every 4 --keep 0
ok "the loss falls: $(field whole first_loss) to $(field whole loss)" less "$(field whole loss)" "$(field whole first_loss)"
ok 'the first epoch' fake part --checkpoint "$tmp/c.parts" --stop 1
ok 'the rest' fake rest --checkpoint "$tmp/c.parts"
ok 'the same loss' [ "$(field whole loss)" = "$(field rest loss)" ]
ok 'the same state, bit for bit' same_step whole parts 12
cut_off whole 8 inside
ok 'from the middle of an epoch' fake middle --checkpoint "$tmp/c.inside"
ok 'the same state again' same_step whole inside 12
ok 'the rest compiled nothing' [ "$(field rest llvm_compiles)" = 0 ]
ok 'the rest planned nothing' [ "$(field rest program_misses)" = 0 ]
for dtype in bf16 f16; do
    ok "in $dtype" fake $dtype --dtype $dtype
    ok "the loss falls in $dtype: $(field $dtype first_loss) to $(field $dtype loss)" less "$(field $dtype loss)" "$(field $dtype first_loss)"
done
ok 'ResNet-50, large images' resnet deep --model 50 --fake_data --image 72 --width 2 --batch_size 4 --fake_size 8 --num_epochs 1 --classes 3
ok 'its loss is a number' less "$(field deep loss)" 20
# On eight devices: batches are cut, normalised over all of them.
short() { resnet "$@" --fake_data --image 16 --fake_size 48 --num_epochs 1; }
ok 'one device' short one
ok '--mesh data=8' short mesh --mesh data=8
ok "the loss on it: $(field mesh loss)" near "$(field mesh loss)" "$(field one loss)" 1e-4
ok 'and the accuracy' near "$(field mesh test_accuracy)" "$(field one test_accuracy)" 0.02
ok 'as many programs' [ "$(field mesh programs)" = "$(field one programs)" ]

mkdir "$tmp/data"
image() { printf '\003'; head -c 3072 /dev/zero | tr '\0' '\170'; }
for i in 1 2 3 4 5; do for _ in 1 2 3 4; do image; done >"$tmp/data/data_batch_$i.bin"; done
image >"$tmp/data/test_batch.bin"
ok 'files' resnet files --datadir "$tmp/data" --num_epochs 1 --batch_size 4
ok 'no files' bash -c "! '$BUILD/examples/resnet' --datadir '$tmp' 2>'$tmp/err'"
ok 'which file is missing' grep -q 'data_batch_1.bin' "$tmp/err"
ok 'a wrong model is refused' bash -c "! '$BUILD/examples/resnet' --fake_data --model 20 2>/dev/null"
total
