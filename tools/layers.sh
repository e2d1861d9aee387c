#!/usr/bin/env bash
# layers.sh - every #include stays within what its layer may see. One row per folder: the project's paths it may include,
# as patterns. Headers of the system are free, except LLVM's, which only the code generator may see.
set -u
rules() {
    case $1 in
    base) echo 'base/* lazuli/types.h lazuli/*.def' ;;
    fft) echo 'fft/* base/* lazuli/types.h lazuli/*.def' ;;
    linalg) echo 'linalg/* base/*' ;;
    ir) echo 'ir/* base/* lazuli/types.h lazuli/*.def' ;;
    shard) echo 'shard/* ir/* base/* lazuli/types.h lazuli/*.def' ;;
    cache) echo 'cache/* base/* third_party/blake3/* lazuli/types.h lazuli/*.def' ;;
    lower) echo 'lower/* fft/* linalg/* ir/* base/* lazuli/types.h lazuli/*.def' ;;
    codegen) echo 'codegen/* lower/* ir/* base/* llvm_api_names.h lazuli/types.h lazuli/*.def' ;;
    backends) echo 'backends/* shard/* codegen/* lower/* fft/* linalg/* ir/* cache/* base/* source_id.h lazuli/types.h lazuli/*.def lazuli/backend.h' ;;
    runtime) echo 'runtime/* shard/* backends/* lower/* ir/* cache/* base/* lazuli/*' ;;
    ops) echo 'ops/* runtime/* ir/* base/* lazuli/*' ;;
    autodiff) echo 'autodiff/* runtime/region/region_trace.h runtime/spmd/mark.h base/* ir/* lazuli/*' ;;
    pjrt) echo 'pjrt/* backends/* shard/* lower/* ir/* cache/* base/* lazuli/types.h lazuli/*.def' ;;
    data) echo 'data/* runtime/exec/snapshot.h runtime/spmd/local_shards.h runtime/spmd/shared.h cache/vfs.h base/* lazuli/*' ;;
    nn) echo 'nn/* data/safetensors_save.h data/checkpoint_dir.h data/checkpoint_file.h data/tensor_source.h runtime/exec/assign.h runtime/exec/snapshot.h runtime/spmd/local_shards.h runtime/spmd/shared.h runtime/graph/host_event.h base/* lazuli/*' ;;
    examples | bench) echo "$1/* lazuli/*" ;;
    include) echo 'lazuli/*' ;;
    esac
}
bad=0
found=$(mktemp) || exit 1 # no <(...): it needs /proc, which a bare root has not
trap 'rm -f "$found"' EXIT
for layer in base fft linalg ir shard cache lower codegen backends pjrt runtime ops autodiff data nn examples bench include; do
    [ -d $layer ] || continue
    read -ra allowed <<<"$(rules $layer)"
    grep -rnE --include='*.[ch]' --include='*.def' '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]' $layer >"$found"
    while IFS=: read -r file line inc; do
        quoted=no
        case $inc in *'"'*) quoted=yes ;; esac
        path=$(sed 's/^[^<"]*[<"]\([^>"]*\)[>"].*/\1/' <<<"$inc")
        case $path in
        llvm-c/*)
            case $file in codegen/*) continue ;; esac
            echo "$file:$line: LLVM's headers belong to codegen" && bad=1 && continue ;;
        lazuli/*) ;;
        *) [ $quoted = no ] && continue ;;
        esac
        # a name without a folder is a neighbour (bench/common.h from bench/x.c)
        case $path in */*) ;; *) [ -f "$(dirname "$file")/$path" ] && continue ;; esac
        ok=no
        for pattern in "${allowed[@]}"; do
            # shellcheck disable=SC2053  # the pattern is meant as one
            [[ $path == $pattern ]] && ok=yes && break
        done
        [ $ok = yes ] || { echo "$file:$line: $layer must not include $path (it may: ${allowed[*]})"; bad=1; }
    done <"$found"
done
exit $bad
