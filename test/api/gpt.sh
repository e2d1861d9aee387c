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
# On meshes: what one device computes, but for the order of sums; a program of the first step runs all of them.
ok 'one device' gpt one --stop 8
for mesh in data=4 fsdp=4 data=2,fsdp=2,tensor=2; do
    ok "--mesh $mesh" gpt $mesh --stop 8 --mesh $mesh
    ok "the first loss of $mesh: $(field $mesh first_loss)" near "$(field $mesh first_loss)" "$(field one first_loss)" 1e-5
    ok "the loss of $mesh: $(field $mesh loss)" near "$(field $mesh loss)" "$(field one loss)" 1e-4
    ok "$mesh, two steps" gpt $mesh-2 --stop 2 --mesh $mesh
    ok "$mesh: later steps have no program of their own" [ "$(field $mesh programs)" = "$(field $mesh-2 programs)" ]
    ok "$mesh: a warm start compiles nothing" [ "$(field $mesh-2 llvm_compiles)" = 0 ]
done
ok 'parts on a mesh' gpt on1 --stop 4 --mesh fsdp=4 --checkpoint "$tmp/mesh.safetensors"
ok 'go on there' gpt on2 --stop 8 --mesh fsdp=4 --checkpoint "$tmp/mesh.safetensors"
ok 'with the same loss' [ "$(field on2 loss)" = "$(field fsdp=4 loss)" ]
for mesh in data data=0 data=x 'data=2,data=2'; do
    ok "--mesh $mesh is refused" bash -c "! '$BUILD/examples/gpt' --fake_data --mesh '$mesh' 2>/dev/null"
done
ok 'a wrong number is refused' bash -c "! '$BUILD/examples/gpt' --steps x 2>/dev/null"
ok 'a wrong checkpoint is refused' bash -c "echo x >'$tmp/x'; ! '$BUILD/examples/gpt' --fake_data --checkpoint '$tmp/x' 2>/dev/null"
total
