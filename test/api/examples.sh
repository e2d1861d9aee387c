#!/usr/bin/env bash
# examples.sh - every example runs and ends well; a second run of the same finds its programs in the cache and ends well too.
set -u
BUILD=${BUILD:?}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0
for src in examples/*.c; do
    [ -f "$src" ] || continue
    name=$(basename "$src" .c)
    args=()
    case $name in # what is large by default
    gpt) args=(--fake_data --layers 1 --dim 32 --context 16 --batch 2 --steps 4 --sample 8) ;;
    mnist) args=(--fake_data --fake_size 64 --num_epochs 1 --batch_size 32) ;;
    resnet) args=(--fake_data --image 8 --width 4 --fake_size 32 --num_epochs 1 --batch_size 16) ;;
    digits_conv | vae) args=(--num_epochs 1) ;;
    esac
    for round in 1 2; do
        if XDG_CACHE_HOME=$tmp timeout 3000 "$BUILD/examples/$name" "${args[@]}" >"$tmp/log" 2>&1; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "$src, run $round: exit status $?"
            tail -20 "$tmp/log"
        fi
    done
done
# --help says what there is, and a number that is none is refused with its option, not taken as 0.
for src in examples/*.c; do
    name=$(basename "$src" .c)
    grep -q '"lr"' "$src" || continue
    if "$BUILD/examples/$name" --help >"$tmp/log" 2>&1 && grep -q -- '--lr' "$tmp/log"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1)) && echo "$name --help:" && cat "$tmp/log"
    fi
    for wrong in '--lr abc' '--seed x' '--lr -1' '--bogus 1'; do
        # shellcheck disable=SC2086
        timeout 300 "$BUILD/examples/$name" $wrong >"$tmp/log" 2>&1
        if [ $? -eq 2 ] && grep -q -- "${wrong%% *}" "$tmp/log"; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1)) && echo "$name $wrong:" && cat "$tmp/log"
        fi
    done
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
