#!/usr/bin/env bash
# mnist.sh - examples/mnist.c learns made-up digits; a training that was interrupted goes on to the same bytes; a second run compiles
# nothing; the files of the data set are read, plain and compressed.
# shellcheck disable=SC2154  # tmp is that of example.bash
set -u
# shellcheck source=test/example.bash
. test/example.bash
mnist() { example mnist "$1" --batch_size 32 --lr 0.02 "${@:2}"; }
fake() { mnist "$@" --fake_data --fake_size 480 --num_epochs 3; }

ok 'the whole training' fake whole --checkpoint "$tmp/c.whole" --every 7 --keep 0
ok "the loss falls: $(field whole first_loss) to $(field whole loss)" less "$(field whole loss)" "$(field whole first_loss)"
ok "it reads: $(field whole test_accuracy)" less 0.9 "$(field whole test_accuracy)"
ok 'the first epoch' fake part --checkpoint "$tmp/c.parts" --stop 1 --num_workers 5
ok 'the rest' fake rest --checkpoint "$tmp/c.parts"
ok 'the same loss' [ "$(field whole loss)" = "$(field rest loss)" ]
ok 'the same state, bit for bit' same_step whole parts 45
cut_off whole 21 inside
ok 'from the middle of an epoch' fake middle --checkpoint "$tmp/c.inside" --num_workers 3
ok 'the same loss again' [ "$(field whole loss)" = "$(field middle loss)" ]
ok 'the same state again' same_step whole inside 45
ok 'the rest compiled nothing' [ "$(field rest llvm_compiles)" = 0 ]
ok 'the rest planned nothing' [ "$(field rest program_misses)" = 0 ]

mkdir "$tmp/data"
images() { printf '\0\0\010\3\0\0\0\100\0\0\0\034\0\0\0\034'; head -c $((64 * 784)) /dev/zero | tr '\0' '\170'; }
labels() { printf '\0\0\010\1\0\0\0\100'; head -c 64 /dev/zero | tr '\0' '\3'; }
images >"$tmp/data/train-images-idx3-ubyte"
labels | gzip >"$tmp/data/train-labels-idx1-ubyte.gz"
images | gzip >"$tmp/data/t10k-images-idx3-ubyte.gz"
labels >"$tmp/data/t10k-labels-idx1-ubyte"
ok 'files' mnist files --datadir "$tmp/data" --num_epochs 10 --lr 0.1
ok "one digit is soon learnt: loss $(field files loss)" less "$(field files loss)" 0.3
ok 'no files' bash -c "! '$BUILD/examples/mnist' --datadir '$tmp' 2>'$tmp/err'"
ok 'which file is missing' grep -q 'train-images-idx3-ubyte' "$tmp/err"
total
