#!/usr/bin/env bash
# run_processes.sh - lazuli run --devices N in several processes: the devices are spread over them, the first one prints and writes what one
# process would, to the last byte; one that has another program or other inputs, fails, is late or is killed ends as an error of all.
# shellcheck disable=SC2154  # tmp and others are those of processes.bash
set -u
# shellcheck source=test/processes.bash
. test/processes.bash
cp "$root"/test/api/processes/*.mlir .
quiet() { # command...: what it prints, without the warning of sockets
    "$@" 2>err
    local rc=$?
    sed -i '/warn: distributed: tensors go between processes over plain sockets/d' err
    return $rc
}
# ---- results, collectives, placements and memory ----
programs='tiles:8 each:6 pair:2'
for p in $programs; do
    name=${p%:*} n=${p#*:}
    run=("$tool" run "$name.mlir" --devices "$n" --random 7 --times 3)
    timeout $limit "${run[@]}" --print-collectives >one 2>/dev/null
    timeout $limit "${run[@]}" --output-dir one.npy
    ok "$name: one process" grep -q '^{"memory"' one
    for count in 2 3 4; do
        quiet launch 1 $count "${run[@]}" --print-collectives >told
        ok "$name: $count processes, $n devices" same one told
        ok "$name: $count processes say nothing else" [ ! -s err ]
    done
    quiet launch 1 4 "${run[@]}" --output-dir far.npy >told
    ok "$name: files of the first process alone" diff -r one.npy far.npy
    for mpirun in 'mpirun.openmpi --oversubscribe' mpirun.mpich; do
        # shellcheck disable=SC2086  # words
        mpi_runs ${mpirun% *} || continue
        for count in 2 4; do
            # shellcheck disable=SC2086
            LAZULI_COLLECTIVE_TIMEOUT=$patient timeout $limit $mpirun -n $count "${run[@]}" --print-collectives >told 2>/dev/null
            ok "$name: $count processes of ${mpirun% *}" same one told
        done
    done
    rm -r one.npy far.npy
done
# as one device does, which knows nothing of marks: these answers are whole numbers
timeout $limit "$tool" run tiles.mlir --device ref --random 7 >told
quiet launch 1 4 "$tool" run tiles.mlir --devices 8 --random 7 >far
ok 'the answers of one device' same told far
printf '%s\n' 'i32[3]' '  28 26 24' 'i32[]' '  6' >told
quiet launch 1 4 "$tool" run each.mlir --devices 6 --random 7 >far
ok 'the answers of six' same told far
# ---- what does not fit, and who is missing: RANK does or has something else ----
cat >odd.sh <<'X'
#!/bin/sh
tool=$1 odd=$2 what=$3
shift 3
[ "$RANK" = "$odd" ] || exec "$tool" run tiles.mlir --devices 8 --random 7
case $what in
program) exec "$tool" run pair.mlir --devices 2 --random 7 ;;
text) sed 's/constant dense<4.0>/constant dense<5.0>/' tiles.mlir >other.mlir; exec "$tool" run other.mlir --devices 8 --random 7 ;;
inputs) exec "$tool" run tiles.mlir --devices 8 --random 8 ;;
devices) exec "$tool" run tiles.mlir --devices 4 --random 7 ;;
times) exec "$tool" run tiles.mlir --devices 8 --random 7 --times 2 ;;
nothing) exec "$tool" run there_is_none.mlir --devices 8 --random 7 ;;
few) exec "$tool" run tiles.mlir --devices 8 --input a.npy ;;
broken) echo 'func.func @main(' >broken.mlir; exec "$tool" run broken.mlir --devices 8 ;;
esac
X
chmod +x odd.sh
program=./odd.sh
odd() { # what, rank, pattern, timeout
    local rc=0 r
    by_hand 4 "${4:-$patient}" "$tool" "$2" "$1"
    for ((r = 0; r < 4; r++)); do wait "${pid[r]}" && rc=1; done
    ok "$1 of rank $2: all fail" [ $rc = 0 ]
    ok "$1 of rank $2: all say so" [ "$(grep -lE "$3" err.? | wc -l)" -eq 4 ]
    ok "$1 of rank $2: nothing is printed" [ -z "$(cat out.?)" ]
}
odd program 2 'rank 2 \(.*runs on 2 devices, rank 0 on 8'
odd text 3 'rank 3 \(.*runs another program than rank 0'
odd text 0 'rank 1 \(.*runs another program than rank 0'
odd inputs 1 'rank 1 \(.*has other inputs than rank 0'
odd devices 3 'the program.s mesh is of 8 devices, not of 4'
odd times 1 'rank 1 \(.*runs it 2 times, rank 0 1'
odd nothing 2 '(rank 2 \(.*: )?there_is_none.mlir: No such file'
odd nothing 0 '(rank 0 \(.*: )?there_is_none.mlir: No such file'
odd few 3 'the program takes 2 inputs, not 1'
odd broken 1 'broken.mlir:[0-9]'
for way in loop ref; do
    ! quiet launch 1 2 "$tool" run tiles.mlir --devices 8 --random 7 --device $way >told
    ok "$way is of one process" grep -q "LAZULI_LAUNCHER=none" err
done
! quiet launch 1 2 "$tool" run - --devices 8 --random 7 <tiles.mlir >told
ok 'standard input is of one process' grep -q 'they must be files' err
quiet launch 1 2 "$tool" run tiles.mlir --devices 8 --random 7 --trace trace.json >far
ok 'a timeline of the first process' [ "$(grep -c '"clock_sync"\|"process_name"' trace.json)" -ge 1 ]
! quiet launch 1 2 "$tool" run tiles.mlir --devices 200 --random 7 >told
ok 'too many devices of a process' grep -q '200 devices are 100 of each of 2 processes: at most 64' err
# ---- a rank that does not come, is stopped, or is killed while the program runs ----
RANK=0 WORLD_SIZE=2 MASTER_PORT=$(port) LAZULI_COLLECTIVE_TIMEOUT=1 timeout $limit "$tool" run pair.mlir --devices 2 --random 7 >told 2>err
ok 'one that does not come' grep -qE 'rank 1 of 2 processes .*did not come' err
forever() { # rank, signal, timeout, pattern, who: of a run without end one rank gets the signal; some name it, others whom they wait for
    # shellcheck disable=SC2034  # of by_hand
    program=$tool
    by_hand 4 "$3" run tiles.mlir --devices 8 --random 7 --times 1000000
    sleep $((1 * slow))
    kill "-$2" "${pid[$1]}"
    for ((r = 0; r < 4; r++)); do [ $r = "$1" ] || wait "${pid[r]}"; done 2>/dev/null
    kill -KILL "${pid[$1]}" 2>/dev/null
    wait 2>/dev/null
    for ((r = 0; r < 4; r++)); do
        [ $r = "$1" ] || ok "$2 of rank $1: rank $r says so" grep -qE "rank $5 \(.*($4)" "err.$r"
    done
    ok "$2 of rank $1: it is named" grep -qE "rank $1 \(.*($4)" err.?
}
forever 2 KILL $patient 'is gone|has ended' '[0-3]'
forever 0 KILL $patient 'is gone|has ended' '[0-3]'
forever 1 STOP $hasty "has not .* within $hasty s" '[0-3]'
total
