# shellcheck shell=bash
# processes.bash - what the scripts of test/api that start several processes share: sourced by them, from the project's folder. Builds
# test/api/processes/$1.c as $program (without $1: none), and goes to the folder $tmp.
# shellcheck source=test/example.bash
. test/example.bash
CC=${CC:-cc}
root=$PWD lib=$(realpath "$BUILD") tool=$(realpath "$BUILD")/lazuli
san=$(grep -o -- '-fsanitize=[a-z,]*' "$BUILD/flags" | tr '\n' ' ')
program=$tmp/${1:-}
# shellcheck disable=SC2086  # CC and san may be several words
[ -z "${1:-}" ] || $CC -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -O1 -g $san -Iinclude "test/api/processes/$1.c" -L"$lib" -llazuli -Wl,-rpath,"$lib" -pthread -o "$program" || exit 1
cd "$tmp" || exit 1
for v in $(compgen -e); do
    case $v in OMPI_* | PMI* | SLURM_* | RANK | WORLD_SIZE | LOCAL_* | MASTER_* | GROUP_RANK) unset "$v" ;; esac
done
export LAZULI_CACHE_DIR=$tmp/cache OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
slow=1
[ -n "$san" ] && slow=5
patient=$((30 * slow)) hasty=$((3 * slow)) # seconds of LAZULI_COLLECTIVE_TIMEOUT: where nobody is missing, and where somebody is
limit=$((60 * slow))
port() { # one that is free now, below those of clients
    local p
    while p=$((12000 + RANDOM % 7000)); do
        (exec 3<>"/dev/tcp/127.0.0.1/$p") 2>/dev/null || { echo "$p"; return; }
    done
}
launch() { # devices of each, processes, program...
    local devices=$1 n=$2
    shift 2
    LAZULI_COLLECTIVE_TIMEOUT=$patient CPU_NUM_DEVICES=$devices timeout $limit "$tool" launch -n "$n" "$@"
}
by_hand() { # processes, timeout, arguments...: pids in pid, output in out.RANK and err.RANK
    local n=$1 seconds=$2 p r
    p=$(port)
    shift 2
    pid=()
    rm -f out.* err.*
    for ((r = 0; r < n; r++)); do
        RANK=$r WORLD_SIZE=$n MASTER_PORT=$p LAZULI_COLLECTIVE_TIMEOUT=$seconds "$program" "$@" >"out.$r" 2>"err.$r" &
        pid[r]=$!
    done
}
mpi_runs() { # launcher: whether it is there, and its library can be used
    command -v "$1" >/dev/null || { echo "skipped: there is no $1"; return 1; }
    [ -z "$san" ] || { echo "skipped: $1 with sanitizers"; return 1; }
}
ucx_runs() { # whether libucp.so.0 can be used
    [[ $san != *thread* ]] || { echo 'skipped: UCX with the thread sanitizer'; return 1; }
    [ -n "${ucx_is:-}" ] || { ucx_is=yes; LAZULI_TRANSPORT=ucx LAZULI_COLLECTIVE_TIMEOUT=$patient timeout $limit "$tool" launch -n 2 "$tool" run "$root/test/api/processes/pair.mlir" --devices 2 --random 7 >/dev/null 2>ucx.err || ucx_is=no; }
    [ $ucx_is = yes ] || { echo "skipped: $(grep -m1 -o 'LAZULI_TRANSPORT=ucx: .*' ucx.err || echo 'UCX does not run')"; return 1; }
}
carriers() { # what tensors go over without MPI
    ucx_runs >&2 && echo ucx
    echo sockets
}
same() { cmp -s "$1" "$2" || { diff "$1" "$2" | head -5; return 1; }; }
