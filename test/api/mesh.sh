#!/usr/bin/env bash
# mesh.sh - each example that trains runs on a mesh of devices: its loss is that of one device, the program of the first step runs all
# others, every parameter and state gives its memory to its next value, and a second run compiles nothing.
# shellcheck disable=SC2154  # tmp is that of example.bash
set -u
# shellcheck source=test/example.bash
. test/example.bash
# PROGRAM, its parameters with states and buffers, the number of the JSON line that is compared, its tolerance, an option that makes it
# train longer with two values, MESHES, options...
on_meshes() {
    local program=$1 all=$2 what=$3 within=$4 longer=$5 meshes=$6 short long mesh
    shift 6
    read -r longer short long <<<"$longer"
    ok "$program" example "$program" "$program-one" "$@" "$longer" "$long"
    for mesh in $meshes; do
        local run=$program-$mesh
        ok "$run" example "$program" "$run" "$@" "$longer" "$long" --mesh "$mesh"
        ok "$run: $what $(field "$run" "$what")" near "$(field "$run" "$what")" "$(field "$program-one" "$what")" "$within"
        ok "$run: $(field "$run" given) of $all arguments gave their memory" less "$((all - 1))" "$(field "$run" given)"
        ok "$run, shorter" example "$program" "$run-short" "$@" "$longer" "$short" --mesh "$mesh"
        ok "$run: later steps have no program of their own" [ "$(field "$run" programs)" = "$(field "$run-short" programs)" ]
        ok "$run: a warm start compiles nothing" [ "$(field "$run-short" llvm_compiles)" = 0 ]
        ok "$run: and plans nothing" [ "$(field "$run-short" program_misses)" = 0 ]
    done
}
on_meshes digits 12 test_accuracy 0.02 '--epochs 2 4' data=4
on_meshes digits_conv 42 loss 0.2 '--num_epochs 1 2' 'fsdp=4' --dropout 0
on_meshes vae 24 loss 0.001 '--num_epochs 1 2' 'data=8 fsdp=4' --samples 0
on_meshes mnist 24 loss 0.01 '--num_epochs 1 2' 'data=2,fsdp=2' --fake_data --fake_size 96 --batch_size 32 --log_steps 1
on_meshes gpt 40 loss 1e-4 '--stop 2 6' 'data=2,fsdp=2' --fake_data --layers 1 --heads 2 --dim 16 --context 12 --batch 4 --steps 8 --sample 0
ok 'a wrong mesh is refused' bash -c "! '$BUILD/examples/digits' --mesh tensor=2 2>'$tmp/err'"
ok 'what is needed is said' grep -q 'data=N is needed' "$tmp/err"
total
