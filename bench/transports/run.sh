#!/usr/bin/env bash
# run.sh - bench/transports/transports.c in N processes (4) over each transport that is there, in turn, TIMES times (3); from the project's
# folder, after make. BUILD: build/release. Options of UCX (UCX_TLS, ..) go through.
set -eu
BUILD=${BUILD:-build/release} N=${1:-4} TIMES=${2:-3}
lib=$(realpath "$BUILD") tmp=$(mktemp -d)
trap 'rm -r "$tmp"' EXIT
${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Iinclude bench/transports/transports.c -L"$lib" -llazuli -Wl,-rpath,"$lib" -o "$tmp/transports"
export LAZULI_CACHE_DIR=$tmp/cache LAZULI_NUM_THREADS=1 CPU_NUM_DEVICES=1 LAZULI_COLLECTIVE_TIMEOUT=60 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for ((i = 0; i < TIMES; i++)); do
    for via in sockets ucx; do LAZULI_TRANSPORT=$via "$lib/lazuli" launch -n "$N" "$tmp/transports" $via 2>/dev/null || echo "$via: no"; done
    if command -v mpirun.openmpi >/dev/null; then mpirun.openmpi --oversubscribe -n "$N" "$tmp/transports" 'Open MPI' || echo 'Open MPI: no'; fi
    if command -v mpirun.mpich >/dev/null; then mpirun.mpich -n "$N" "$tmp/transports" MPICH || echo 'MPICH: no'; fi
done
