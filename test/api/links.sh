#!/usr/bin/env bash
# links.sh - two hosts, which are two network namespaces with a cable between them (needs root and iproute2): four processes, two on each,
# compute the bits of one process over every transport; when the cable is cut at a random moment, each is told within the time limit who is
# missing, and lives on; nothing that is left disturbs a later run. LZ_TEST_WHOLE: 20 moments.
# shellcheck disable=SC2154  # tmp and others are those of processes.bash
set -u
# shellcheck source=test/processes.bash
. test/processes.bash ranks
a=lza$$ b=lzb$$
cut_and_gone() { ip netns del $a; ip netns del $b; } 2>/dev/null
lay() { # the namespaces and the cable
    ip netns add $a && ip netns add $b && ip link add v$$ netns $a type veth peer name v$$ netns $b &&
        ip -n $a addr add 10.99.0.1/24 dev v$$ && ip -n $b addr add 10.99.0.2/24 dev v$$ &&
        ip -n $a link set lo up && ip -n $b link set lo up && cable up
}
cable() { ip -n $a link set v$$ "$1" && ip -n $b link set v$$ "$1"; }
lay 2>why || {
    echo "skipped: no network namespaces: $(command -v ip >/dev/null && head -1 why || echo 'there is no ip (package iproute2)')"
    cut_and_gone
    exit 0
}
trap 'cut_and_gone; rm -rf "$tmp"' EXIT
start() { # timeout, arguments of ranks...: two processes in each namespace
    local seconds=$1 p r ns
    p=$(port)
    shift
    pid=()
    rm -f out.* err.*
    for r in 0 1 2 3; do
        ns=$a
        [ $r -ge 2 ] && ns=$b
        RANK=$r WORLD_SIZE=4 LOCAL_RANK=$((r % 2)) LOCAL_WORLD_SIZE=2 MASTER_ADDR=10.99.0.1 MASTER_PORT=$p LAZULI_COLLECTIVE_TIMEOUT=$seconds \
            ip netns exec $ns timeout $limit ./ranks "$@" >out.$r 2>err.$r &
        pid[r]=$!
    done
}
bits() { # what: the bits of one process
    CPU_NUM_DEVICES=2 start $patient bits
    wait "${pid[@]}"
    cat out.? >told
    ok "$1" same one told
}
told() { # rank, names of the other side: whether it has ended as it must, and was told of the other side
    grep -q 'status 59 local 7 0' "out.$1" || grep -q 'LZ_ETIMEOUT' "err.$1" || return 1
    grep -qE "rank $2|rank [0-9]-[0-9]" "err.$1"
}
cut() { # transport, moments
    local via=$1 moments=$2 i r all ms
    [ -n "${LZ_TEST_WHOLE:-}" ] && moments=20
    for ((i = 0; i < moments; i++)); do
        ms=$((RANDOM % 1200)) when='the start'
        start $hasty loop
        if ((i % 2)); then # not while they join
            when='they run'
            for ((r = 0; r < 400 * slow; r++)); do [ "$(cat out.? 2>/dev/null | grep -c runs)" -eq 4 ] && break; sleep 0.05; done
        fi
        sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
        cable down
        all=yes
        for r in 0 1 2 3; do
            wait "${pid[r]}"
            [ $? -ne 124 ] || all="rank $r hangs"
        done
        for r in 0 1; do told $r '[23]' || all="rank $r is not told"; done
        for r in 2 3; do told $r '[01]' || all="rank $r is not told"; done
        ok "$via: cut $ms ms after $when" [ "$all" = yes ]
        [ "$all" = yes ] || { echo "$all"; tail -n 5 out.* err.*; }
        cable up
    done
    bits "$via: a later run"
}
CPU_NUM_DEVICES=8 timeout $limit ./ranks bits >one
export LAZULI_TRANSPORT=sockets
bits 'sockets'
cut sockets 2
if ucx_runs; then
    export LAZULI_TRANSPORT=ucx UCX_TLS=tcp,self
    bits 'UCX over TCP'
    grep -q . err.? && ok 'UCX over TCP: nothing is said' [ -z "$(cat err.?)" ]
    cut 'UCX over TCP' 1
    unset UCX_TLS
    bits 'UCX as it likes'
    cut 'UCX as it likes' 1
fi
# ---- Open MPI over TCP, whose launcher has an agent that goes to the other host ----
over_mpi() { # timeout, arguments of ranks...: the launcher in pid
    local seconds=$1
    shift
    rm -f out.* err.*
    # shellcheck disable=SC2016  # the processes' variable
    LAZULI_COLLECTIVE_TIMEOUT=$seconds MASTER_ADDR=10.99.0.1 ip netns exec $a timeout $((2 * limit)) mpirun.openmpi --mca plm_rsh_agent "$tmp/agent" --mca pml ob1 --mca btl tcp,self \
        --mca btl_tcp_if_include v$$ --mca oob_tcp_if_include v$$ --oversubscribe -H 10.99.0.1:2,10.99.0.2:2 -n 4 -x MASTER_ADDR -x LAZULI_CACHE_DIR -x LAZULI_COLLECTIVE_TIMEOUT \
        -x LAZULI_TRANSPORT -x CPU_NUM_DEVICES sh -c 'exec ./ranks "$@" >out.$OMPI_COMM_WORLD_RANK 2>err.$OMPI_COMM_WORLD_RANK' sh "$@" >mpirun.out 2>&1 &
    pid=($!)
}
mpi_cut() { # moments, while they run: MPI_Init waits as long as it likes, or until its launcher ends it
    local moments=$1 i r all
    [ -n "${LZ_TEST_WHOLE:-}" ] && moments=20
    for ((i = 0; i < moments; i++)); do
        over_mpi $hasty loop
        for ((r = 0; r < 1200 * slow; r++)); do [ "$(cat out.? 2>/dev/null | grep -c runs)" -eq 4 ] && break; sleep 0.05; done
        sleep 0.$((RANDOM % 900 + 100))
        cable down
        for ((r = 0; r < 400 * slow; r++)); do { told 0 '[23]' && told 1 '[23]' && told 2 '[01]' && told 3 '[01]'; } 2>/dev/null && break; sleep 0.05; done
        all=yes
        for r in 0 1; do told $r '[23]' || all="rank $r is not told"; done
        for r in 2 3; do told $r '[01]' || all="rank $r is not told"; done
        cable up
        wait "${pid[0]}"
        ok "Open MPI: cut while they run" [ "$all" = yes ]
        [ "$all" = yes ] || { echo "$all"; tail -n 5 out.* err.* mpirun.out; }
    done
}
if mpi_runs mpirun.openmpi; then
    export LAZULI_TRANSPORT=mpi
    printf '#!/bin/sh\nshift\nexec ip netns exec %s sh -c "$*"\n' $b >agent
    chmod +x agent
    CPU_NUM_DEVICES=2 over_mpi $patient bits
    wait "${pid[0]}"
    cat out.? >told
    ok 'Open MPI' same one told
    mpi_cut 1
fi
# ---- a slow cable ----
export LAZULI_TRANSPORT=sockets
if ip netns exec $a tc qdisc add dev v$$ root netem delay 2ms 2>why; then
    bits 'a cable with a delay of 2 ms'
else
    echo "skipped: no delay: $(head -1 why)"
fi
ok 'nothing is left' bash -c "! readlink /proc/[0-9]*/exe 2>/dev/null | grep -qxF '$tmp/ranks'"
ok 'no file is left' [ -z "$(find /dev/shm -maxdepth 1 -newer one -user "$(id -un)" \( -name '*lazuli*' -o -name 'ucx_shm*' \) 2>/dev/null)" ]
total
