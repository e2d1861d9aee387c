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

ok 'the whole training' gpt whole --checkpoint "$tmp/c.whole"
ok "the loss falls: $(field whole first_loss) to $(field whole loss)" less "$(field whole loss)" 2.6
ok 'the first loss is that of chance' less 5.3 "$(field whole first_loss)"
ok 'the first part' gpt part --checkpoint "$tmp/c.parts" --stop 25
ok 'the rest' gpt rest --checkpoint "$tmp/c.parts"
ok 'the rest is 35 steps' [ "$(field rest steps)" = 35 ]
ok 'the same loss' [ "$(field whole loss)" = "$(field rest loss)" ]
ok 'the same state, bit for bit' same_step whole parts 60
ok 'the same text' same_text whole rest
ok 'the rest compiled nothing' [ "$(field rest llvm_compiles)" = 0 ]
ok 'the rest planned nothing' [ "$(field rest program_misses)" = 0 ]
ok 'only writing' gpt write --checkpoint "$tmp/c.parts" --stop 0
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
ok 'parts on a mesh' gpt on1 --stop 4 --mesh fsdp=4 --checkpoint "$tmp/c.mesh"
ok 'go on there' gpt on2 --stop 8 --mesh fsdp=4 --checkpoint "$tmp/c.mesh"
ok 'with the same loss' [ "$(field on2 loss)" = "$(field fsdp=4 loss)" ]
for mesh in data data=0 data=x 'data=2,data=2'; do
    ok "--mesh $mesh is refused" bash -c "! '$BUILD/examples/gpt' --fake_data --mesh '$mesh' 2>/dev/null"
done
ok 'a wrong number is refused' bash -c "! '$BUILD/examples/gpt' --steps x 2>/dev/null"
# Checkpoints go from mesh to mesh.
ok 'the same parts on another mesh' gpt on3 --stop 8 --mesh data=2,fsdp=2,tensor=2 --checkpoint "$tmp/c.mesh"
ok 'and on one device' gpt on4 --stop 12 --checkpoint "$tmp/c.mesh"
ok 'it goes on from step 8' [ "$(field on4 steps)" = 4 ]
ok 'twelve steps there' gpt twelve --stop 12
ok "the loss of twelve: $(field on4 loss)" near "$(field on4 loss)" "$(field twelve loss)" 1e-4
# Killed, or asked to end, at any moment: what goes on is what was never interrupted.
newest() { ls "$tmp/c.$1" | sed -n 's/^step_//p' | sort -n | tail -1; }
interrupted() { # SIGNAL DIR: prints the exit status
    "$BUILD/examples/gpt" --fake_data --layers 2 --heads 2 --dim 16 --context 12 --batch 4 --steps 100000 --dropout 0.1 --sample 0 \
        --checkpoint "$tmp/c.$2" --every 1 >"$tmp/interrupted" 2>&1 &
    local pid=$! tries=0
    until [ -d "$tmp/c.$2/step_7" ] || [ -d "$tmp/c.$2/step_8" ] || [ -d "$tmp/c.$2/step_9" ] || [ $((tries += 1)) -gt 3000 ]; do sleep 0.01; done
    kill -"$1" $pid
    wait $pid 2>/dev/null
    echo $?
}
long() { gpt "$1" --steps 100000 --lr 0.001 --sample 0 "${@:2}"; }
ok 'kill -9' [ "$(interrupted KILL killed)" = 137 ]
last=$(newest killed)
ok 'it goes on' long goes --checkpoint "$tmp/c.killed" --stop $((last + 5))
ok 'SIGTERM' [ "$(interrupted TERM asked)" = 0 ]
ok 'it says so' grep -q "SIGTERM: saved step $(newest asked)" "$tmp/interrupted"
end=$(($(newest asked) + 5))
ok 'it goes on after SIGTERM' long asked_goes --checkpoint "$tmp/c.asked" --stop $end
ok 'never interrupted' long never --checkpoint "$tmp/c.never" --every 1 --keep 0 --stop $((end > last + 5 ? end : last + 5))
ok 'the same bits after kill -9' same_step killed never $((last + 5))
ok 'the same bits after SIGTERM' same_step asked never $end
ok 'a wrong checkpoint is refused' bash -c "echo x >'$tmp/x'; ! '$BUILD/examples/gpt' --fake_data --checkpoint '$tmp/x' 2>/dev/null"
total
