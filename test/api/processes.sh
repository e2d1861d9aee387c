#!/usr/bin/env bash
# processes.sh - the same program as several processes: who they are under each launcher, the bits of collectives and of training however
# devices are spread over processes and whatever carries the tensors, steps that do not fit, and processes that are killed or stopped at
# random moments. LZ_TEST_WHOLE: more moments.
# shellcheck disable=SC2154  # tmp and others are those of processes.bash
set -u
# shellcheck source=test/processes.bash
. test/processes.bash ranks
documented() { # each launcher of the table has a row in the page, with all its variables
    local bad=0 text row v
    while read -r text; do
        row=$(grep -F "$(cut -d'"' -f4 <<<"$text" | tr ' ' '\n' | head -1)" docs/distributed.md | grep '^|')
        for v in $(cut -d'"' -f5- <<<"$text" | tr -c 'A-Z_\n' ' '); do
            [ "${#v}" -lt 4 ] || grep -qF "\`$v\`" <<<"$row" || { echo "docs/distributed.md: $v is in no row"; bad=1; }
        done
    done < <(sed -n 's/^LZ_LAUNCHER(\([A-Z]*, .*\))$/\1/p' backends/distributed/launchers.def)
    return $bad
}
ok 'docs/distributed.md has the launchers' eval '(cd "$root" && documented)'
# ---- who they are ----
who() { # launcher, what they must say, variables...: rank 1 of 2 on one host
    local name=$1 want=$2
    shift 2
    ok "$name" [ "$(env "$@" "$tmp/ranks" index 2>&1)" = "$want" ]
}
who 'alone' '0/1'
who 'Open MPI' '1/2' OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_SIZE=2 RANK=7 WORLD_SIZE=9
who 'MPICH' '3/4' PMI_RANK=3 PMI_SIZE=4 MPI_LOCALNRANKS=4 WORLD_SIZE=9 RANK=7
who 'torchrun' '2/3' RANK=2 WORLD_SIZE=3 LOCAL_RANK=2 LOCAL_WORLD_SIZE=3 MASTER_ADDR=localhost MASTER_PORT=29501 SLURM_NTASKS=8 SLURM_PROCID=1
who 'Slurm' '5/8' SLURM_PROCID=5 SLURM_NTASKS=8 SLURM_LOCALID=5 SLURM_NNODES=1 SLURM_JOB_ID=77
who 'a shell of Slurm' '0/1' SLURM_PROCID=0 SLURM_NTASKS=1
who 'one process' '0/1' RANK=0 WORLD_SIZE=1
who 'none' '0/1' LAZULI_LAUNCHER=none RANK=1 WORLD_SIZE=2
who 'a launcher by name' '1/2' LAZULI_LAUNCHER=slurm RANK=3 WORLD_SIZE=9 SLURM_PROCID=1 SLURM_NTASKS=2
bad() { # what must be said, variables...
    local want=$1
    shift
    env "$@" "$tmp/ranks" index >bad 2>&1
    ok "$*" grep -qF -- "$want" bad
}
bad 'RANK=x: not a number' RANK=x WORLD_SIZE=2
bad 'RANK=-1: not from 0' RANK=-1 WORLD_SIZE=2
bad 'RANK=2: not less than WORLD_SIZE=2' RANK=2 WORLD_SIZE=2
bad 'RANK is not set, but WORLD_SIZE=2' WORLD_SIZE=2
bad 'WORLD_SIZE=0: not from 1' RANK=0 WORLD_SIZE=0
bad 'WORLD_SIZE=99999999999999999999: not a number' RANK=0 WORLD_SIZE=99999999999999999999
bad 'MASTER_PORT=70000: not from 1' RANK=0 WORLD_SIZE=2 MASTER_PORT=70000
bad 'LOCAL_RANK=2: not from 0' RANK=0 WORLD_SIZE=2 LOCAL_RANK=2
bad 'LOCAL_RANK=1: not less than LOCAL_WORLD_SIZE=1' RANK=0 WORLD_SIZE=2 LOCAL_RANK=1 LOCAL_WORLD_SIZE=1
bad 'OMPI_COMM_WORLD_RANK=3: not less than' OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=2
bad 'MASTER_ADDR is not set' SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_NNODES=2
bad 'LAZULI_LAUNCHER=mpirun: none, openmpi' LAZULI_LAUNCHER=mpirun
RANK=0 WORLD_SIZE=2 PJRT_DEVICE=REF XLA_USE_SPMD=1 ./ranks who >bad 2>&1
ok 'the virtual device of a platform that has no others' grep -q 'this is one of 2 processes' bad
ok 'nothing is opened' [ "$(RANK=1 WORLD_SIZE=2 timeout 20 "$tmp/ranks" idle)" = '1 of 2: 1' ]
launch 2 3 ./ranks who 2>/dev/null | sort >told
printf '%s\n' '0/3 local 0/3 host 0/1 devices 2/6' '1/3 local 1/3 host 0/1 devices 2/6' '2/3 local 2/3 host 0/1 devices 2/6' >want
ok 'lazuli launch' same want told
LAZULI_TRANSPORT=mpi by_hand 2 $patient who
wait
ok 'no MPI' [ "$(grep -l 'LAZULI_TRANSPORT=mpi: processes were not started by an MPI launcher' err.? | wc -l)" -eq 2 ]
LAZULI_TRANSPORT=pigeons by_hand 2 $patient who
wait
ok 'no such transport' [ "$(grep -l 'LAZULI_TRANSPORT=pigeons: mpi, ucx or sockets' err.? | wc -l)" -eq 2 ]
LAZULI_UCX=libnothing.so LAZULI_TRANSPORT=ucx by_hand 2 $patient who
wait
ok 'no UCX' [ "$(grep -l 'LAZULI_TRANSPORT=ucx: libnothing.so (package libucx0) cannot be loaded' err.? | wc -l)" -eq 2 ]
LAZULI_UCX=libc.so.6 LAZULI_TRANSPORT=ucx by_hand 2 $patient who
wait
ok 'another library' [ "$(grep -l 'LAZULI_TRANSPORT=ucx: libc.so.6 has no ucp_get_version' err.? | wc -l)" -eq 2 ]
LAZULI_TRANSPORT='' LAZULI_UCX=libnothing.so launch 1 2 ./ranks who >told 2>err
ok 'without UCX, sockets' [ "$(wc -l <told)" -eq 2 ]
ok 'and why is said, once' [ "$(grep -c 'for development: .*package libucx0' err)" -eq 1 ]
by_hand 2 $patient who
wait
cat out.0 out.1 >told
printf '%s\n' '0/2 local 0/2 host 0/1 devices 1/2' '1/2 local 1/2 host 0/1 devices 1/2' >want
ok 'by hand, without local ranks' same want told

# ---- who does not come, or is not right ----
by_hand 1 1 who
wait
RANK=0 WORLD_SIZE=3 MASTER_PORT=$(port) LAZULI_COLLECTIVE_TIMEOUT=1 timeout $limit ./ranks who >told 2>&1
ok 'ranks 1 and 2 are missing' grep -q 'rank 1-2 of 3 processes .* did not come to 127.0.0.1:' told
RANK=2 WORLD_SIZE=3 MASTER_PORT=$(port) LAZULI_COLLECTIVE_TIMEOUT=1 timeout $limit ./ranks who >told 2>&1
ok 'rank 0 is missing' grep -q 'rank 0 of 3 processes .* does not listen' told
p=$(port)
for r in 0 1 1; do RANK=$r WORLD_SIZE=3 MASTER_PORT=$p LAZULI_COLLECTIVE_TIMEOUT=$patient timeout $limit ./ranks who >>twice 2>&1 & done
wait
ok 'a rank twice' [ "$(grep -c 'rank 1 is two processes' twice)" -ge 3 ]
p=$(port)
RANK=0 WORLD_SIZE=2 MASTER_PORT=$p LAZULI_COLLECTIVE_TIMEOUT=$patient timeout $limit ./ranks who >sizes 2>&1 &
RANK=1 WORLD_SIZE=2 LAZULI_JOB=other MASTER_PORT=$p LAZULI_COLLECTIVE_TIMEOUT=$patient timeout $limit ./ranks who >other 2>&1
ok 'another job is sent away' grep -q 'is of another job' other
head -c 4096 /dev/urandom 2>/dev/null >"/dev/tcp/127.0.0.1/$p"
RANK=1 WORLD_SIZE=2 MASTER_PORT=$p LAZULI_COLLECTIVE_TIMEOUT=$patient timeout $limit ./ranks who >>sizes 2>/dev/null
wait
ok 'and noise does no harm' grep -q '^0/2 local 0/2 host 0/1 devices 1/2' sizes

# ---- bits ----
CPU_NUM_DEVICES=8 timeout $limit ./ranks bits >one
CPU_NUM_DEVICES=4 timeout $limit ./ranks train >one.train
ok 'one process' [ "$(wc -l <one)" -eq 8 ]
carried=$(carriers)
for via in $carried; do
    export LAZULI_TRANSPORT=$via
    for n in 2 4 8; do
        launch $((8 / n)) $n ./ranks bits >told 2>err
        ok "$via: $n processes" same one told
        if [ $via = sockets ]; then
            ok 'plain sockets are said to be for development, once' [ "$(grep -c 'for development' err)" -eq 1 ]
        else
            ok "$via: nothing is said" [ ! -s err ]
        fi
    done
    p=$(port)
    for r in 0 1 2; do # 5, 1 and 2 devices
        RANK=$r WORLD_SIZE=3 MASTER_PORT=$p CPU_NUM_DEVICES=$((r == 0 ? 5 : r)) LAZULI_COLLECTIVE_TIMEOUT=$patient timeout $limit ./ranks bits >"out.$r" 2>/dev/null &
    done
    wait
    cat out.0 out.1 out.2 >told
    ok "$via: processes with 5, 1 and 2 devices" same one told
    for n in 2 4; do
        launch $((4 / n)) $n ./ranks train >told 2>/dev/null
        ok "$via: training in $n processes" same one.train told
    done
done
unset LAZULI_TRANSPORT
if ucx_runs; then # rank 2 has no way in common with the others
    printf '#!/bin/sh\n[ "$RANK" = 2 ] && export UCX_TLS=tcp,self || export UCX_TLS=sysv,self\nexec ./ranks "$@"\n' >apart
    chmod +x apart
    CPU_NUM_DEVICES=2 launch 2 4 ./apart bits >told 2>err
    ok 'UCX does not reach a rank: sockets, and nothing else on standard output' same one told
    ok 'who cannot be reached is said' grep -q 'UCX cannot be used: rank 2 cannot be reached' err
fi
mpi() { # launcher, options...
    local run=$1
    shift
    mpi_runs "$run" || return
    LAZULI_COLLECTIVE_TIMEOUT=$patient CPU_NUM_DEVICES=2 timeout $limit "$run" "$@" -n 4 ./ranks bits >told 2>err
    ok "$run" same one told
    ok "$run: ends well" [ ! -s err ]
    LAZULI_COLLECTIVE_TIMEOUT=$patient CPU_NUM_DEVICES=1 timeout $limit "$run" "$@" -n 4 ./ranks train >told 2>/dev/null
    ok "training with $run" same one.train told
    LAZULI_TRANSPORT=sockets LAZULI_COLLECTIVE_TIMEOUT=$patient CPU_NUM_DEVICES=2 timeout $limit "$run" "$@" -n 4 ./ranks bits >told 2>/dev/null
    ok "$run with sockets" same one told
}
mpi mpirun.openmpi --oversubscribe
mpi mpirun.mpich

# ---- steps that do not fit: all ranks fail, and go on together ----
odd() { # kind, what all but the last rank are told
    local kind=$1 want=$2 r all=yes
    by_hand 3 $patient odd "$kind" 2
    wait "${pid[@]}"
    for r in 0 1 2; do
        { grep -q "^rank $r step 2 status [1-9][0-9]* local 7 0" "out.$r" && grep -q "^rank $r done" "out.$r"; } || all=no
        [ $r -eq 2 ] || { grep -q "$want" "err.$r" && grep -q 'rank 2 (' "err.$r"; } || all=no
    done
    ok "$kind" [ $all = yes ]
    [ $all = yes ] || tail -n 5 out.* err.*
}
for LAZULI_TRANSPORT in $carried; do
    export LAZULI_TRANSPORT
    odd other 'ranks.c:[0-9]*), of another kind'
    odd shape 'all_reduce of f32\[5001\]'
    odd order 'all_gather of f32\[5000\]'
    odd fail 'custom_call @broken: it is broken'
done
seed=$((${LZ_TEST_SEED:-0} % 10000))
CPU_NUM_DEVICES=4 LAZULI_COLLECTIVE_TIMEOUT=$patient timeout $limit ./ranks storm $seed 60 >told
ok "a storm in one process, seed $seed" [ "$(cat told)" = calm ]
for LAZULI_TRANSPORT in $carried; do
    export LAZULI_TRANSPORT
    for n in 2 4; do
        launch $((4 / n)) $n ./ranks storm $seed 60 >told 2>err
        ok "$LAZULI_TRANSPORT: a storm in $n processes, seed $seed" [ "$(cat told)" = calm ]
        [ "$(cat told)" = calm ] || tail -n 3 err
    done
    by_hand 3 $patient odd quit 2
    wait "${pid[@]}"
    ok "$LAZULI_TRANSPORT: a rank that ends too early" [ "$(grep -lE 'rank 2 \(.*has ended|rank 2 \(.*is gone' err.0 err.1 | wc -l)" -eq 2 ]
done

# ---- killed, stopped: the others are told who, and live on ----
lose() { # signal, moments, ranks, what is said
    local sig=$1 moments=$2 n=$3 want=$4 i r all
    [ -n "${LZ_TEST_WHOLE:-}" ] && moments=20
    for ((i = 0; i < moments; i++)); do
        local victim=$((RANDOM % n))
        by_hand $n $hasty loop
        for ((r = 0; r < 400 * slow; r++)); do
            grep -qs runs "out.$victim" && break
            sleep 0.05
        done
        sleep "0.0$((RANDOM % 100))"
        kill "-$sig" "${pid[victim]}"
        all=yes
        for ((r = 0; r < n; r++)); do
            [ $r -eq $victim ] && continue
            wait "${pid[r]}" || all=no
            grep -q "status 59 local 7 0" "out.$r" || all=no
            grep -qE "rank $victim \(.*$want" "err.$r" || all=no
            grep -q 'among CPU:\[.*(test/api/processes/ranks.c:[0-9]*)' "err.$r" || all=no
        done
        kill -CONT "${pid[victim]}" 2>/dev/null
        [ "$sig" = STOP ] && { wait "${pid[victim]}" || all=no; grep -q 'status 59 local 7 0' "out.$victim" || all=no; }
        { kill -KILL "${pid[victim]}"; wait "${pid[victim]}"; } 2>/dev/null
        ok "$LAZULI_TRANSPORT: $sig of rank $victim of $n" [ $all = yes ]
        [ $all = yes ] || tail -n 5 out.* err.*
        ok "$LAZULI_TRANSPORT: no shared memory is left" no_segments "${pid[@]}"
    done
}
no_segments() { # pids: of System V, by who made it
    local p
    for p; do ! awk -v p="$p" '$5 == p { exit 1 }' /proc/sysvipc/shm && return 1; done
    return 0
}
for LAZULI_TRANSPORT in $carried; do
    export LAZULI_TRANSPORT
    lose KILL 4 3 '(is gone|has ended)'
    lose STOP 3 3 "within $hasty s"
done
unset LAZULI_TRANSPORT

# ---- lazuli launch ----
launch 1 3 bash -c '[ $RANK -ne 1 ] && exec sleep 100; exit 7' 2>err
ok 'the status of the first that fails' [ $? -eq 7 ]
ok 'and its rank' grep -q '^lazuli: rank 1 of 3 (pid [0-9]*) ended with status 7' err
launch 1 2 bash -c '[ $RANK -eq 0 ] && exec sleep 100; kill -KILL $$' 2>err
ok 'a signal' [ $? -eq 137 ]
ok 'and its name' grep -q 'rank 1 of 2 (pid [0-9]*) ended with signal 9, Killed' err
launch 1 2 ./nothing 2>err
ok 'no such program' [ $? -eq 127 ]
ok 'launch without -n' bash -c "! '$tool' launch true 2>/dev/null"
gone() { # none of the processes in the file is there any more
    local p i
    for i in {1..100}; do
        for p in $(cat "$1"); do
            kill -0 "$p" 2>/dev/null && { sleep 0.05; continue 2; }
        done
        return 0
    done
    return 1
}
for sig in INT TERM KILL; do
    rm -f pids
    # shellcheck disable=SC2016  # the processes' variables
    "$tool" launch -n 3 bash -c 'echo $$ >>pids; exec sleep 100' &
    launcher=$!
    for _ in {1..200}; do [ -s pids ] && [ "$(wc -l <pids)" -eq 3 ] && break; sleep 0.05; done
    kill -$sig $launcher
    wait $launcher 2>/dev/null
    rc=$?
    ok "launch: SIG$sig ends all" gone pids
    ok "launch: SIG$sig is the status" [ $rc -eq $((128 + $(kill -l $sig))) ]
done
ok 'nothing is left' bash -c "! readlink /proc/[0-9]*/exe 2>/dev/null | grep -qxF '$tmp/ranks'"
ok 'no file is left' [ -z "$(find /dev/shm /tmp -maxdepth 1 -newer one -user "$(id -un)" \( -name '*lazuli*' -o -name 'ucx_shm*' \) ! -name "$(basename "$tmp")" ! -name 'lazuli-test.*' 2>/dev/null)" ]
total
