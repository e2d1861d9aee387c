#!/usr/bin/env bash
# spmd_processes.sh - the virtual device of several processes: what it gives depends on how many devices there are, never on whose they
# are or what carries the tensors; a process that traces another program, is late or is killed ends as an error of all that names it.
# shellcheck disable=SC2154  # tmp and others are those of processes.bash
set -u
# shellcheck source=test/processes.bash
. test/processes.bash spmd
each() { # FILE: what all processes printed, each line once
    LC_ALL=C sort -u "$1"
}
spread() { # what, processes, arguments...: the lines of one process with 8 devices, from each
    local what=$1 n=$2
    shift 2
    launch $((8 / n)) "$n" "$program" "$@" >told 2>err
    each told >told.each
    ok "$what: $n processes" same one told.each
    ok "$what: each of $n processes says it" [ "$(wc -l <told)" -eq $((n * $(wc -l <one.all))) ]
    ok "$what: each of $n processes reads its own parts" [ "$(grep -c "^$((8 / n)) parts" err)" -eq "$n" ]
}
# ---- bits: uneven tiles, a sum over devices, random numbers, reads of what others have; in the order of devices, in another, in slices ----
carried=$(carriers)
for mesh in values turned hybrid; do
    CPU_NUM_DEVICES=8 timeout $limit "$program" $mesh >one.all 2>/dev/null
    each one.all >one
    ok "$mesh" grep -q 'shards right' one
    for LAZULI_TRANSPORT in $carried; do
        export LAZULI_TRANSPORT
        spread "$LAZULI_TRANSPORT, $mesh" 4 $mesh
        [ $mesh = values ] && spread "$LAZULI_TRANSPORT, $mesh" 2 $mesh && spread "$LAZULI_TRANSPORT, $mesh" 8 $mesh
    done
    unset LAZULI_TRANSPORT
done
mpi() { # launcher, options...
    local run=$1
    shift
    mpi_runs "$run" || return
    LAZULI_COLLECTIVE_TIMEOUT=$patient CPU_NUM_DEVICES=2 timeout $limit "$run" "$@" -n 4 "$program" hybrid >told 2>/dev/null
    each told >told.each
    ok "$run" same one told.each
}
mpi mpirun.openmpi --oversubscribe
mpi mpirun.mpich
# ---- training ----
gpt() { # NAME, command...
    local name=$1
    shift
    LAZULI_COLLECTIVE_TIMEOUT=$patient timeout $limit "$@" "$lib/examples/gpt" --json --fake_data --layers 1 --heads 2 --dim 16 --context 12 --batch 8 --steps 4 \
        --sample 0 --mesh data=2,fsdp=2,tensor=2 >"$tmp/$name" 2>err
}
digits() { # NAME of the run and of its checkpoints, epochs, command...
    local name=$1 epochs=$2
    shift 2
    LAZULI_COLLECTIVE_TIMEOUT=$patient timeout $limit "$@" "$lib/examples/digits" --json --data "$root/examples/data/digits.csv" --batch 128 --epochs "$epochs" \
        --mesh data=8 --checkpoint "$tmp/c.$name" >"$tmp/$name" 2>err
}
state() { # NAME of a training with digits: what it comes to when one process goes on with it, which has all of it in one file
    LAZULI_TRANSPORT='' CPU_NUM_DEVICES=8 digits "$1" 2 && sha256sum <"$(find "$tmp/c.$1" -name rank-00000.safetensors | sort -t_ -k2 -n | tail -1)"
}
trained() { # carrier, command...: in 4 processes, on an empty cache and on a full one, what one process with 8 devices has
    local via=$1 how
    shift
    export LAZULI_CACHE_DIR=$tmp/cache.$via
    for how in cold warm; do
        CPU_NUM_DEVICES=2 gpt gpt.$how "$@"
        ok "$via, gpt, $how: the loss, in all" [ "$(field gpt.$how loss)" = "$(yes "$(field alone loss)" | head -4)" ]
        CPU_NUM_DEVICES=2 digits $how.$via 1 "$@"
        ok "$via, digits, $how: all are there" [ "$(field $how.$via steps | wc -l)" -eq 4 ]
        [ $how = warm ] && ok "$via, warm: nothing is compiled" [ "$(field gpt.warm llvm_compiles | cat - <(field warm.$via llvm_compiles) | sort -u)" = 0 ]
        ok "$via, digits, $how: the same state, bit for bit" [ "$(state $how.$via)" = "$digits_state" ]
    done
    export LAZULI_CACHE_DIR=$tmp/cache
}
CPU_NUM_DEVICES=8 gpt alone
CPU_NUM_DEVICES=8 digits alone.digits 1
digits_state=$(state alone.digits)
ok 'digits: there is a state' [ "${#digits_state}" -ge 64 ]
turn=${LZ_TEST_SEED:-0}
of=${LZ_TEST_QUICK:+4}
on_turn() { turn=$((turn + 1)) && { [ -n "${LZ_TEST_WHOLE:-}" ] || [ $((turn % ${of:-2})) -eq 0 ]; }; } # a run takes two of the four, a quick one takes one
for LAZULI_TRANSPORT in $carried; do
    export LAZULI_TRANSPORT
    on_turn && trained "$LAZULI_TRANSPORT" "$tool" launch -n 4
done
unset LAZULI_TRANSPORT
on_turn && mpi_runs mpirun.openmpi && trained openmpi mpirun.openmpi --oversubscribe -n 4
on_turn && mpi_runs mpirun.mpich && trained mpich mpirun.mpich -n 4
# ---- collectives go on beside compute: the same bits, and what is waited for is less than what is on its way: by what is computed between a
# start and its done, which a busy machine only makes longer ----
for axes in data=4 fsdp=4; do
    turn=$((turn + 1))
    [ -z "${LZ_TEST_QUICK:-}" ] || [ $((turn % 2)) -eq 0 ] || continue
    for beside in 0 1; do
        for n in 4 2; do
            name=$axes.$beside.$n
            LAZULI_OVERLAP=$beside LAZULI_TRANSPORT=sockets LAZULI_SOCKET_DELAY=500 LAZULI_COLLECTIVE_TIMEOUT=$patient CPU_NUM_DEVICES=$((4 / n)) timeout $limit "$tool" launch -n $n \
                "$lib/examples/gpt" --json --fake_data --layers 2 --heads 2 --dim 32 --context 24 --batch 8 --steps 6 --sample 0 --mesh $axes >"$tmp/$name" 2>err
            ok "overlap $beside of $axes, $n processes: the loss" [ "$(field $name loss | sort -u)" = "$(field $axes.0.4 loss | sort -u)" ]
            took=$(field $name collective_us | head -1) waited=$(field $name collective_wait_us | head -1) # of one of the ranks, in both lists
            if [ $beside = 0 ]; then
                ok "$axes, $n processes: something is on its way" [ "$took" -gt 0 ]
                ok "$axes, $n processes: all of $took us is waited for: $waited" [ "$took" = "$waited" ]
            else
                ok "$axes, $n processes: not all of $took us is waited for: $waited" [ "$waited" -lt "$took" ]
            fi
        done
    done
    CPU_NUM_DEVICES=4 timeout $limit "$lib/examples/gpt" --json --fake_data --layers 2 --heads 2 --dim 32 --context 24 --batch 8 --steps 6 --sample 0 --mesh $axes >"$tmp/one.$axes" 2>err
    ok "$axes: the loss of one process" [ "$(field one.$axes loss)" = "$(field $axes.1.4 loss | sort -u)" ]
done
# ---- checkpoints: each process writes what it has; SIGTERM of one has all save the same step ----
saved() { # NAME, devices of each, processes, options...
    local name=$1 devices=$2 n=$3
    shift 3
    LAZULI_COLLECTIVE_TIMEOUT=$patient CPU_NUM_DEVICES=$devices timeout $limit "$tool" launch -n "$n" "$lib/examples/gpt" --json --fake_data --layers 1 --heads 2 \
        --dim 16 --context 12 --batch 8 --sample 0 --mesh data=2,fsdp=2,tensor=2 "$@" >"$tmp/$name" 2>err
}
ok 'saved by 4 processes' saved part 2 4 --steps 4 --stop 2 --checkpoint "$tmp/c.gpt" --every 1
ok 'a file of each' [ "$(ls "$tmp/c.gpt/step_2")" = "$(printf '%s\n' manifest.json rank-0000{0..3}.safetensors)" ]
sizes=$(stat -c %s "$tmp"/c.gpt/step_2/rank-*.safetensors | sort -n | awk 'NR == 1 { least = $1 } { most = $1 } END { print most < 1.5 * least ? "alike" : least " to " most }')
ok "of about the same size: $sizes" [ "$sizes" = alike ]
ok 'which goes on in 1' saved on1 8 1 --steps 4 --stop 3 --checkpoint "$tmp/c.gpt" --every 1
ok 'and in 2' saved on2 4 2 --steps 4 --checkpoint "$tmp/c.gpt" --every 1
ok 'is the same training' [ "$(field on2 loss | sort -u)" = "$(field alone loss)" ]
program=$lib/examples/gpt CPU_NUM_DEVICES=2 by_hand 4 $patient --fake_data --layers 1 --heads 2 --dim 16 --context 12 --batch 8 --sample 0 --mesh data=2,fsdp=2,tensor=2 \
    --steps 1000000 --checkpoint "$tmp/c.term" --every 20
for ((r = 0; r < 400 * slow; r++)); do [ -d "$tmp/c.term/step_20" ] && break; sleep 0.05; done
kill -TERM "${pid[2]}"
all=yes
for ((r = 0; r < 4; r++)); do wait "${pid[r]}" || all=no; done
ok 'SIGTERM of one ends all' [ $all = yes ]
ok 'after the same step' [ "$(cat out.? err.? | sed -n 's/^SIGTERM: saved step //p' | sort -u)" = "$(ls "$tmp/c.term" | sed 's/step_//' | sort -n | tail -1)" ]
# ---- one of them is killed at any moment of a training that saves all the time: the others say who it was, and it goes on from a whole step ----
steps=(--fake_data --layers 1 --heads 2 --dim 16 --context 12 --batch 8 --sample 0 --mesh 'data=2,fsdp=2,tensor=2' --checkpoint "$tmp/c.kill" --every 1 --keep 2)
program=$lib/examples/gpt
for ((round = 0; round < 6; round++)); do
    victim=$((RANDOM % 4))
    before=$(ls "$tmp/c.kill" 2>/dev/null | sort | tail -1)
    CPU_NUM_DEVICES=2 by_hand 4 $patient "${steps[@]}" --steps 1000000
    for ((r = 0; r < 400 * slow; r++)); do [ "$(ls "$tmp/c.kill" 2>/dev/null | sort | tail -1)" != "$before" ] && break; sleep 0.05; done
    sleep 0.$((RANDOM % 900 + 100))
    kill -KILL "${pid[victim]}"
    all=yes
    for ((r = 0; r < 4; r++)); do wait "${pid[r]}" && all=no; done 2>/dev/null
    ok "round $round: all end" [ $all = yes ]
    ok "round $round: rank $victim is named" [ "$(cat out.? err.? | grep -cE "rank $victim \(.*(is gone|has ended)")" -ge 1 ]
    before=$(ls "$tmp/c.kill" | sed -n 's/^step_//p' | sort -n | tail -1)
    ok "round $round: goes on from a whole step" env LAZULI_COLLECTIVE_TIMEOUT=$patient CPU_NUM_DEVICES=4 timeout $limit "$tool" launch -n 2 "$program" "${steps[@]}" \
        --steps $((before + 3)) --json >told 2>err
    ok "round $round: nothing is damaged" [ -z "$(grep -i damaged err)" ]
    ok "round $round: nothing is left over" [ -z "$(find "$tmp/c.kill" -mindepth 1 -maxdepth 1 -name '.*')" ]
done
# ---- who differs, is late, or dies ----
program=$tmp/spmd
differs() { # level, what, pattern, how many say so: at level 0 some may wait for a collective that others do not come to
    PT_XLA_DEBUG_FILE=/dev/null PT_XLA_DEBUG_LEVEL=$1 CPU_NUM_DEVICES=2 by_hand 4 "$([ "$1" = 1 ] && echo $patient || echo $hasty)" differ 2 "$2"
    wait "${pid[@]}"
    ok "another $2 at level $1" [ "$(grep -lE "$3" out.? | wc -l)" -ge "${4:-4}" ]
}
differs 1 operation 'operation [0-9]+ on: rank 0 \(.*, rank 2 \(.* has exponential f32\[37,10\] \(.*spmd.c:[0-9]+\)'
differs 1 mark 'operation [0-9]+ on: rank 0 \(.*, rank 2 \(.* has sdy.sharding_constraint f32\[37,10\] \(.*spmd.c:[0-9]+\)'
differs 1 scale 'operation [0-9]+ on: rank 0 \(.*spmd.c:[0-9]+\).*, rank 2 \(.*spmd.c:[0-9]+\)|operation [0-9]+ on: rank 0 \(.*, rank 2 \('
differs 0 operation 'rank 2 \(.* of another program|has failed: .*rank 2 \(|rank 2 .*has not come' 3
CPU_NUM_DEVICES=2 by_hand 4 $hasty late 1
wait "${pid[0]}" "${pid[2]}" "${pid[3]}"
kill -KILL "${pid[1]}"
wait 2>/dev/null
ok 'a rank that is late' [ "$(grep -lE "among CPU:.*rank 1 \(.* has not come within $hasty s" out.0 out.2 out.3 | wc -l)" -eq 3 ]
CPU_NUM_DEVICES=2 by_hand 4 $patient late 1
for ((r = 0; r < 400 * slow; r++)); do grep -qs loss out.1 && break; sleep 0.05; done
kill -KILL "${pid[1]}"
wait 2>/dev/null
ok 'a rank that is killed' [ "$(grep -lE 'rank 1 \(.*(is gone|has ended)' out.0 out.2 out.3 | wc -l)" -eq 3 ]
# ---- a rank dies while collectives are on their way, as each message takes 20 ms: who waits for one is told which, and its line ----
program=$lib/examples/gpt
export LAZULI_SOCKET_DELAY=20000 LAZULI_CACHE_DIR=$tmp/cache
for ((round = 0; round < 4; round++)); do
    CPU_NUM_DEVICES=2 by_hand 3 $patient --fake_data --layers 1 --heads 2 --dim 16 --context 12 --batch 12 --sample 0 --steps 1000000 --mesh data=6
    sleep $((slow + 1)).$((RANDOM % 9))
    kill -KILL "${pid[round % 3]}"
    all=yes
    for ((r = 0; r < 3; r++)); do wait "${pid[r]}" && all=no; done 2>/dev/null
    ok "in flight, round $round: all end" [ $all = yes ]
    ok "in flight, round $round: both say who" [ "$(cat out.? err.? | grep -cE "(all_reduce|all_gather) of .* among CPU:.*rank $((round % 3)) \(.*(is gone|has ended|has not|cannot)")" -ge 2 ]
done
unset LAZULI_SOCKET_DELAY
total
