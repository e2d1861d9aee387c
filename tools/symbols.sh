#!/usr/bin/env bash
# symbols.sh - no object file uses a symbol that is defined above it. Proved from the objects themselves with nm.
#   BUILD=build/release tools/symbols.sh      needs the libraries built
# layers.sh checks what is included between top folders; this checks what is linked, and between the sub-folders of one too.
# Prints every finding; exit status 1 when there is one.
set -u
BUILD=${BUILD:?}

# The order, low to high. A word is the beginning of an object's path; the longest one that fits is its room. A room may use
# itself and the rooms of the lines above it; the rooms of one line know nothing of each other.
order='
base/
base/formats/
base/timeline/
fft/avx2/ fft/avx512/ fft/baseline/ linalg/avx2/ linalg/avx512/ linalg/baseline/
fft/ linalg/
cache/ ir/
ir/sharding/
ir/infer/
ir/eval/
ir/batch/
ir/vhlo/
ir/text/
shard/cost/cost_model
shard/
shard/cost/
shard/auto/
lower/effort lower/reduction lower/linalg_sig
lower/routine lower/linalg_call
lower/loops/
lower/fusion/
lower/passes/
lower/plan/
lower/
codegen/llvm/
codegen/math/
codegen/emit/
codegen/loops/
codegen/dot/
codegen/gpu/
codegen/
backends/
backends/distributed/
backends/common/
backends/cpu/ backends/cuda/ backends/pjrt/ backends/ref/
backends/spmd/
pjrt/ runtime/graph/
runtime/debug/
runtime/exec/
runtime/watch/
runtime/region/
runtime/spmd/
ops/special/
ops/
ops/science/
autodiff/ data/
nn/
'

# What may point up all the same: USER DEFINER SYMBOL (a regular expression), and why. One that nothing needs is a finding.
exceptions='
ir/ ir/infer/ lz_infer_.*                        registry: a signature runs the shape rule of its row in ops.def
lower/loops/ lower/fusion/ lz_(fusion|group)_.*  to_loops reads the fusion it lowers; fusion finds out with the emitter what it reads
backends/ backends/cpu/ lz_backend_cpu           registry: backends.def
backends/ backends/cuda/ lz_backend_cuda         registry: backends.def
backends/ backends/ref/ lz_backend_ref           registry: backends.def
backends/ backends/spmd/ lz_backend_spmd         registry: backends.def
backends/ backends/pjrt/ lz_plugin.*             registry: plugins follow the rows of backends.def
runtime/graph/ runtime/exec/ lz_(dev_current|sync_check_limit)          a trace belongs to a device, and is run when it has grown too large
runtime/exec/ runtime/watch/ lz_server_ask        the first device starts the server that LAZULI_SERVER asks for
runtime/debug/ runtime/exec/ lz_(dev_.*|capture_.*|program_.*|array_text)   observers: a step calls the dumps and reports, which read its program
'

edges=$(mktemp) || exit 1
trap 'rm -f "$edges"' EXIT
# The objects of the sources there are: those of sources that moved may still lie beside them.
find base fft linalg ir shard cache lower codegen backends pjrt runtime ops autodiff data nn -name '*.c' | sed 's/c$/o/' | (cd "$BUILD/obj" && xargs nm -A -g) >"$edges" || exit 1
awk -v order="$order" -v exceptions="$exceptions" '
    function room(path, i, best) {
        best = ""
        for (i = 1; i <= nrooms; i++)
            if (index(path, rooms[i]) == 1 && length(rooms[i]) > length(best))
                best = rooms[i]
        return best
    }
    function excused(from, to, symbol, i) {
        for (i = 1; i <= nexceptions; i++)
            if (user[i] == from && definer[i] == to && symbol ~ ("^(" pattern[i] ")$")) {
                needed[i] = 1
                return 1
            }
        return 0
    }
    BEGIN {
        n = split(order, lines, "\n")
        for (i = 1; i <= n; i++) {
            m = split(lines[i], words, " ")
            for (k = 1; k <= m; k++) {
                rooms[++nrooms] = words[k]
                rank[words[k]] = i
            }
        }
        n = split(exceptions, lines, "\n")
        for (i = 1; i <= n; i++)
            if (split(lines[i], words, " ") >= 4) {
                user[++nexceptions] = words[1]
                definer[nexceptions] = words[2]
                pattern[nexceptions] = words[3]
            }
    }
    { # path.o:address kind symbol
        at = index($0, ".o:")
        path = substr($0, 1, at - 1)
        if (!(path in of)) {
            of[path] = room(path)
            rest = substr(path, length(of[path]) + 1)
            if (of[path] == "" || index(rest, "/")) {
                print "symbols: " path " is in no room of tools/symbols.sh"
                bad = 1
            }
        }
        kind = $(NF - 1)
        if (kind == "U") {
            uses++
            by[uses] = path
            what[uses] = $NF
        } else {
            defined[$NF] = path
        }
    }
    END {
        for (i = 1; i <= uses; i++) {
            if (!(what[i] in defined))
                continue
            from = of[by[i]]
            to = of[defined[what[i]]]
            if (from == to || rank[from] > rank[to] || excused(from, to, what[i]))
                continue
            print "symbols: " by[i] ".c must not use " what[i] " of " defined[what[i]] ".c: " from " is below " to
            bad = 1
        }
        for (i = 1; i <= nexceptions; i++)
            if (!needed[i]) {
                print "symbols: nothing needs the exception " user[i] " " definer[i] " " pattern[i] ": remove it"
                bad = 1
            }
        exit bad
    }' "$edges"
