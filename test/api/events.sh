#!/usr/bin/env bash
# events.sh - the events of every example (PT_XLA_DEBUG_FILE=NAME.jsonl) are as docs/reference/events.schema.json says, cold and warm; a
# training compiles its step once, in the first step, which donates like all others: later steps of each example are found in memory.
# shellcheck disable=SC2154  # tmp is that of example.bash
set -u
# shellcheck source=test/example.bash
. test/example.bash
events=$BUILD/test/unit/runtime/t_events
small() { # EXAMPLE, how long: options that make it quick
    case $1 in
    gpt) echo "--fake_data --layers 1 --dim 32 --context 16 --batch 2 --sample 8 --steps $((4 * $2))" ;;
    mnist) echo "--fake_data --fake_size 128 --batch_size 32 --num_epochs $2" ;;
    resnet) echo "--fake_data --image 8 --width 4 --fake_size 64 --batch_size 16 --num_epochs $2" ;;
    digits) echo "--epochs $2" ;;
    stablehlo_run) ;;
    *) echo "--num_epochs $2" ;;
    esac
}
run() { # NAME of the run, EXAMPLE, how long
    rm -f "$tmp/$1.jsonl"
    # shellcheck disable=SC2046  # words
    PT_XLA_DEBUG_FILE=$tmp/$1.jsonl timeout 1200 "$BUILD/examples/$2" $(small "$2" "$3") >"$tmp/$1" 2>&1 ||
        { echo "$2 $(small "$2" "$3"): exit status $?"; tail -5 "$tmp/$1"; return 1; }
}
count() { grep -c "$2" "$tmp/$1.jsonl"; } # NAME of the run, pattern
compilations() { count "$1" '"event":"compilation"'; }
for src in examples/*.c; do
    name=$(basename "$src" .c)
    ok "$name" run "$name" "$name" 1
    ok "$name: its events are as the schema says" "$events" "$tmp/$name.jsonl" >/dev/null
    ok "$name: something is compiled" [ "$(compilations "$name")" -gt 0 ]
    ok "$name: no step differs from an earlier one by what it donates alone" [ "$(count "$name" '"kind":"donation"')" = 0 ]
    ok "$name, warm and longer" run "$name-2" "$name" 2
    ok "$name: the events of the warm run are, too" "$events" "$tmp/$name-2.jsonl" >/dev/null
    ok "$name: later steps have no program of their own" [ "$(compilations "$name-2")" = 0 ]
    ok "$name: every program is found on disk" [ "$(count "$name-2" '"where":"disk","outcome":"hit"')" = "$(compilations "$name")" ]
done
total
