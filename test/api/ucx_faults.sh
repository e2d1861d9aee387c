#!/usr/bin/env bash
# ucx_faults.sh - a rank whose UCX fails, is killed or is stopped at each stage of its start: where UCX fails, all use sockets, with the same
# bits, and say why; who is gone or does not answer is named by all others within the time limit. And signals stay the program's.
# shellcheck disable=SC2154  # tmp and others are those of processes.bash
set -u
# shellcheck source=test/processes.bash
. test/processes.bash ranks
ucx_runs || { total; exit; }
# shellcheck disable=SC2086  # CC and san may be several words
$CC -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -O1 -fPIC -shared $san -I"$root" "$root/test/api/ucx/faults.c" -Wl,--no-as-needed -l:libucp.so.0 -o libfaults.so || exit 1
cat >faulty <<'END'
#!/bin/sh
[ "$RANK" = 1 ] && { export FAULT_OF="$STAGE" FAULT_HOW="$HOW"; exec ./ranks "$@"; }
exec timeout -s KILL "$LIMIT" ./ranks "$@"
END
chmod +x faulty
export LIMIT=$limit LAZULI_UCX=$tmp/libfaults.so
CPU_NUM_DEVICES=8 timeout $limit ./ranks bits >one
stages='ucp_init_version ucp_worker_create ucp_worker_get_address ucp_ep_create ucp_tag_recv_nbx ucp_tag_send_nbx'
meet() { # how, stage, timeout: four processes
    export HOW=$1 STAGE=$2
    program=./faulty CPU_NUM_DEVICES=2 by_hand 4 "$3" bits
}
for stage in $stages; do
    meet fail $stage $((patient / 3)) # for half of that they greet each other
    all=yes
    for r in 0 1 2 3; do wait "${pid[r]}" || all="rank $r fails"; done
    cat out.? >told
    ok "$stage fails: sockets" [ "$all" = yes ]
    ok "$stage fails: the same bits" same one told
    ok "$stage fails: it is said" [ "$(cat err.? | grep -c 'UCX cannot be used: ')" -ge 1 ]
    ok "$stage fails: nothing is left of it" bash -c '! grep -E "not returned|leak|Leak" err.?'
    hows='kill'
    [[ -n ${LZ_TEST_WHOLE:-} || $stage == *address || $stage == *send* ]] && hows+=' stop' # the time limit is waited for
    for how in $hows; do
        meet $how $stage $hasty
        all=yes
        for r in 0 2 3; do wait "${pid[r]}"; [ $? -ne 137 ] || all="rank $r hangs"; done 2>/dev/null
        { kill -KILL "${pid[1]}"; wait "${pid[1]}"; } 2>/dev/null
        ok "$how at $stage: the others end" [ "$all" = yes ]
        ok "$how at $stage: they name it" [ "$(grep -l 'rank 1' err.0 err.2 err.3 | wc -l)" -eq 3 ]
        [ "$(grep -l 'rank 1' err.0 err.2 err.3 | wc -l)" -eq 3 ] || tail -n 5 out.* err.*
    done
done
unset LAZULI_UCX
# ---- signals that UCX would take: each ends the process, and nothing is written ----
signals='HUP USR1 ALRM TERM'
[ -n "$san" ] || signals+=' SEGV BUS FPE ILL'
for sig in $signals; do
    LAZULI_TRANSPORT=ucx by_hand 2 $patient loop
    for ((r = 0; r < 400 * slow; r++)); do [ "$(cat out.? 2>/dev/null | grep -c runs)" -eq 2 ] && break; sleep 0.05; done
    {
        kill -$sig "${pid[1]}"
        for ((r = 0; r < 200 * slow; r++)); do kill -0 "${pid[1]}" || break; sleep 0.05; done
        kill -KILL "${pid[1]}"
        wait "${pid[1]}"
    } 2>/dev/null
    ok "SIG$sig" [ $? -eq $((128 + $(kill -l $sig))) ]
    ok "SIG$sig: nothing is said" [ ! -s err.1 ]
    wait
done
total
