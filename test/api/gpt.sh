#!/usr/bin/env bash
# gpt.sh - examples/gpt.c learns; a training that was interrupted goes on to the same bytes; a second run compiles nothing.
# shellcheck disable=SC2154  # tmp is that of example.bash
set -u
# shellcheck source=test/example.bash
. test/example.bash
gpt() { # NAME, options...
    example gpt "$1" --fake_data --layers 2 --heads 2 --dim 16 --context 12 --batch 4 --steps 60 --lr 0.01 --dropout 0.1 \
        --sample 10 --prompt 'the ' "${@:2}"
}
text() { grep -v '^{\|bytes of text' "$tmp/$1"; }
same_text() { [ "$(text "$1")" = "$(text "$2")" ]; }

ok 'the whole training' gpt whole --checkpoint "$tmp/whole.safetensors"
ok "the loss falls: $(field whole first_loss) to $(field whole loss)" less "$(field whole loss)" 2.6
ok 'the first loss is that of chance' less 5.3 "$(field whole first_loss)"
ok 'the first part' gpt part --checkpoint "$tmp/parts.safetensors" --stop 25
ok 'the rest' gpt rest --checkpoint "$tmp/parts.safetensors"
ok 'the rest is 35 steps' [ "$(field rest steps)" = 35 ]
ok 'the same loss' [ "$(field whole loss)" = "$(field rest loss)" ]
ok 'the same state, bit for bit' cmp "$tmp/whole.safetensors" "$tmp/parts.safetensors"
ok 'the same text' same_text whole rest
ok 'the rest compiled nothing' [ "$(field rest llvm_compiles)" = 0 ]
ok 'the rest planned nothing' [ "$(field rest program_misses)" = 0 ]
ok 'only writing' gpt write --checkpoint "$tmp/parts.safetensors" --stop 0
ok 'writing again gives the same text' same_text whole write
ok 'another seed' gpt seed --seed 2
ok 'another seed gives another loss' [ "$(field whole loss)" != "$(field seed loss)" ]
ok 'a wrong number is refused' bash -c "! '$BUILD/examples/gpt' --steps x 2>/dev/null"
ok 'a wrong checkpoint is refused' bash -c "echo x >'$tmp/x'; ! '$BUILD/examples/gpt' --fake_data --checkpoint '$tmp/x' 2>/dev/null"
total
