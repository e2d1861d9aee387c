# shellcheck shell=bash
# prototypes.bash - what the scripts of test/api share that call every public function: sourced by them, from the project's folder.
# Sets CC, BUILD, root, tmp (a folder that goes with the script), san (the sanitizers of the build) and writes $tmp/prototypes.
CC=${CC:-gcc}
BUILD=${BUILD:?}
# shellcheck disable=SC2034  # for the scripts
root=$PWD
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
# shellcheck disable=SC2034
san=$(grep -o -- '-fsanitize=[a-z,]*' "$BUILD/flags" | tr '\n' ' ')
CC=$CC tools/prototypes.sh >"$tmp/prototypes"

# generate PROGRAM: an awk program over the prototypes (name, parameters); it has split_parameters(s), which fills param[1..n] and
# returns n. Parameters end at commas that are not inside a function pointer.
generate() {
    awk -F'\t' '
function split_parameters(s,    i, c, depth, n) {
    n = 1; param[1] = ""
    for (i = 1; i <= length(s); i++) {
        c = substr(s, i, 1)
        if (c == "(") depth++
        if (c == ")") depth--
        if (c == "," && !depth) { n++; param[n] = ""; continue }
        param[n] = param[n] c
    }
    for (i = 1; i <= n; i++) sub(/^ +/, "", param[i])
    return n
}
'"$1" "$tmp/prototypes"
}

# Text for generate: value(p) is a good argument for a parameter p; it uses test/api/values.h.
# shellcheck disable=SC2034
value='
function value(p) {
    if (p ~ /\(\*release\)/) return "release_nothing"
    if (p ~ /\(\*want\)/) return "want_all"
    if (p ~ /\(\*fn\)/) return "log_nothing"
    if (p ~ /^lz_function \*[a-z]/) return "function"
    if (p ~ /lz_body_fn \*const \*/) return "(lz_body_fn *const[]){body_same, body_same}"
    if (p ~ /lz_[a-z_]+_fn \*/) { sub(/^lz_/, "", p); sub(/_fn.*/, "", p); return p "_same" }
    if (p ~ /lz_site \*/) return "LZ_SITE"
    if (p ~ /lz_tensor \*const \*/) return "(lz_tensor *const[]){T, T}"
    if (p ~ /lz_tensor \*\*/) return "(lz_tensor *[4]){0}"
    if (p ~ /lz_tensor \*/) return "T"
    if (p ~ /lz_optim \*/) return "lz_sgd(&params, .lr = 1)"
    if (p ~ /lz_ffi_handler \*/) return "handler"
    if (p ~ /lz_grad_scaler \*/) return "lz_grad_scaler_new(.init_scale = 2)"
    if (p ~ /lz_stablehlo \*/) return "program"
    if (p ~ /lz_params \*/) return "&params"
    if (p ~ /lz_mesh \*/) return "lz_mesh_new(NULL, (const int64_t[]){1}, (const char *const[]){\"x\"}, 1)"
    if (p ~ /^lz_partition_spec /) return "LZ_SPEC(\"x\", NULL)"
    if (p ~ /^lz_placements /) return "LZ_PLACEMENTS(lz_shard(0))"
    if (p ~ /const void \*const \*shards/) return "(const void *const[]){memory, memory, memory, memory}"
    if (p ~ /lz_loader \*/) return "lz_loader_new(&(lz_dataset){.struct_size = sizeof(lz_dataset)})"
    if (p ~ /lz_ema \*/) return "lz_ema_new(&params, 0.5)"
    if (p ~ /lz_checkpoint_manager \*/) return "lz_checkpoint_manager_new(\"/dev/null/none\")"
    if (p ~ /lz_archive \*/) return "lz_npz_open(\"none\")"
    if (p ~ /const char \*const \*/) return "(const char *const[]){\"a\", \"b\", \"c\", \"d\"}"
    if (p ~ /\*\*/) { sub(/\*[^*]*$/, "", p); return "(" p "[1]){0}" }
    if (p ~ /_options \*|lz_cache_counts \*|lz_allocator \*|lz_device_plugin \*|lz_checkpoint \*/) { gsub(/const |\*.*/, "", p); return "&(" p "){.struct_size = sizeof(" p ")}" }
    if (p ~ /const char \*/) return "\"add\""
    if (p ~ /char \*/) return "text"
    if (p ~ /const int64_t \*/) return "(const int64_t[8]){0, 1}"
    if (p ~ /void \*/) return "memory"
    if (p ~ /\*/) { gsub(/const |\*.*/, "", p); return "&(" p "){0}" }
    if (p ~ /^lz_shape /) return "LZ_SHAPE(2, 2)"
    if (p ~ /^lz_dims /) return "(lz_dims){1, {0}}"
    if (p ~ /^lz_dtype /) return "LZ_F32"
    return "1"
}
'

# build NAME LEAST FLAGS...: compiles $tmp/NAME.c against the shared library and the calls in $tmp/calls.h, at least so many.
build() {
    local name=$1 least=$2 n
    # shellcheck disable=SC2086  # a list of flags
    $CC -std=gnu11 -Wall -Wextra -Wno-unused-result $san -Iinclude -I. -I"$tmp" "$tmp/$name.c" -o "$tmp/$name" -L"$BUILD" -llazuli "${@:3}" \
        -Wl,-rpath,"$(realpath "$BUILD")" || exit 1
    n=$(wc -l <"$tmp/calls.h")
    [ "$n" -gt "$least" ] || { echo "only $n calls were generated"; exit 1; }
}
