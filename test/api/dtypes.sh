#!/usr/bin/env bash
# dtypes.sh - the dtype matrix: every public function that gives a tensor x every dtype of its operands x special values, on the
# reference and the CPU. The calls are generated from the headers. test/api/dtypes.txt holds, one line a function, with which arguments
# it is called and what each dtype gives: a dtype, or a refusal; a function without a line fails here and in `make lint`, and one whose
# answer changes fails here. Values of the two devices agree, specials included, or the line of the function says why not.
#   test/api/dtypes.sh --write     writes the table anew: read the difference
#   test/api/dtypes.sh --missing   the functions that have no line, without building anything (make lint)
# A run takes some of the special values in turn (LZ_TEST_SEED), LZ_TEST_WHOLE all.
# shellcheck disable=SC2154  # root and tmp are those of prototypes.bash
set -u
# shellcheck source=test/prototypes.bash
. test/prototypes.bash
# Calls of functions that no generated one fits, without lz_ and what closes them. A(extents) are operands of the dtype, P positive
# ones, Z, C and COUNT integers: zeros, all of a number, counted.
cat >"$tmp/own" <<'C'
linear(A(3, 4), A(2, 4), A(2)
group_norm(A(2, 4, 3), 2, A(4), A(4), 1e-5
batch_norm(A(2, 3, 2), P(3), P(3), NULL
instance_norm(A(2, 3, 4), A(3), A(3), 1e-5
rotary_embedding(A(1, 2, 3, 4), NULL, 1e4, false
cross_entropy(A(3, 4), Z(3), NULL
nll_loss(A(3, 4), Z(3), NULL
kl_div(A(3, 4), A(3, 4), NULL
cosine_embedding_loss(A(3, 4), A(3, 4), P(3), NULL
gaussian_nll_loss(A(4), A(4), P(4), NULL
multi_margin_loss(A(3, 4), Z(3), NULL
ctc_loss(A(4, 2, 3), C(1, 2, 2), C(4, 2), C(2, 2), NULL
accuracy(A(3, 4), Z(3)
conv1d(A(1, 2, 5), A(3, 2, 3), A(3), NULL
conv2d(A(1, 2, 4, 4), A(3, 2, 3, 3), A(3), NULL
conv3d(A(1, 2, 3, 3, 3), A(3, 2, 2, 2, 2), A(3), NULL
conv_transpose1d(A(1, 2, 5), A(2, 3, 3), A(3), NULL
conv_transpose2d(A(1, 2, 3, 3), A(2, 3, 2, 2), A(3), NULL
conv_transpose3d(A(1, 2, 2, 2, 2), A(2, 3, 2, 2, 2), A(3), NULL
max_pool1d(A(1, 2, 6), POOL
max_pool2d(A(1, 2, 4, 4), POOL
max_pool3d(A(1, 1, 4, 4, 4), POOL
max_pool1d_with_indices(A(1, 2, 6), POOL, INDICES
max_pool2d_with_indices(A(1, 2, 4, 4), POOL, INDICES
max_pool3d_with_indices(A(1, 1, 4, 4, 4), POOL, INDICES
avg_pool1d(A(1, 2, 6), POOL
avg_pool2d(A(1, 2, 4, 4), POOL
avg_pool3d(A(1, 1, 4, 4, 4), POOL
adaptive_avg_pool2d(A(1, 2, 3, 4), LZ_SHAPE(2, 2)
adaptive_avg_pool3d(A(1, 1, 3, 4, 2), LZ_SHAPE(2, 2, 1)
adaptive_max_pool2d(A(1, 2, 3, 4), LZ_SHAPE(2, 2), INDICES
adaptive_max_pool3d(A(1, 1, 3, 4, 2), LZ_SHAPE(2, 2, 1), INDICES
max_unpool1d(A(1, 2, 2), COUNT(1, 2, 2), LZ_SHAPE(4)
max_unpool2d(A(1, 1, 2, 2), COUNT(1, 1, 2, 2), LZ_SHAPE(4, 4)
max_unpool3d(A(1, 1, 2, 1, 2), COUNT(1, 1, 2, 1, 2), LZ_SHAPE(4, 2, 2)
lstm_cell(A(2, 3), A(2, 2), A(2, 2), A(8, 3), A(8, 2), A(8), A(8), INDICES
gru_cell(A(2, 3), A(2, 2), A(6, 3), A(6, 2), A(6), A(6)
rot90(A(2, 3), 1, 0, 1
diagonal(A(3, 4), 1, 0, 1
slice_scatter(A(4, 3), A(2, 3), 0, 1, 3, 1
select_scatter(A(4, 3), A(3), 0, 1
diagonal_scatter(A(3, 3), A(3), 0, 0, 1
diag_embed(A(2, 3), 0, -2, -1
linalg_qr(A(4, 3), "reduced", INDICES
linalg_matrix_norm(A(3, 3), "fro", false
upsample_nearest(A(1, 2, 3, 3), LZ_SHAPE(5, 4), NULL, false
upsample_linear(A(1, 2, 3, 3), LZ_SHAPE(5, 4), false, NULL
upsample_bicubic2d(A(1, 2, 3, 3), LZ_SHAPE(5, 4), false, NULL
grid_sampler_2d(A(1, 1, 3, 4), A(1, 3, 2, 2), LZ_GRID_BILINEAR, LZ_GRID_ZEROS, true
affine_grid_generator(A(1, 2, 3), LZ_SHAPE(1, 1, 2, 3), true
interpolate(A(1, 2, 3, 3), &(lz_interpolate_options){.struct_size = sizeof(lz_interpolate_options), .size = LZ_SHAPE(5, 4)}
affine_grid(A(1, 3, 4), LZ_SHAPE(1, 1, 2, 1, 3), false
embedding_dense_backward(A(3, 2), COUNT(3), 4, -1, false
embedding_bag(A(4, 2), COUNT(3), Z(1), NULL
mv(A(3, 4), A(4)
addmv(A(3), A(3, 4), A(4), NULL
addbmm(A(2, 4), A(3, 2, 3), A(3, 3, 4), NULL
native_group_norm(A(2, 4, 3), A(4), A(4), 2, 1e-5, INDICES, INDICES
native_group_norm_backward(A(2, 4, 3), A(2, 4, 3), P(2, 2), P(2, 2), A(4), 2, INDICES, INDICES
native_batch_norm(A(2, 3, 2), A(3), A(3), P(3), P(3), NULL
C
export tmp
generate '
BEGIN {
    while ((getline line <(ENVIRON["tmp"] "/own")) > 0) { name = line; sub(/\(.*/, "", name); own["lz_" name "_at"] = line }
}
# What a parameter gets by its type, or its name: T and then U floats, N integers, B booleans; K and REAL the numbers of this way.
function value(p) {
    if (p ~ /\(\*/) return "NULL"
    if (p ~ /lz_site \*/) return "LZ_SITE"
    if (p ~ /lz_tensor \*const \*/) { takes = 1; return "(lz_tensor *const[]){T, U}" }
    if (p ~ /lz_tensor \*\*/) return "(lz_tensor *[4]){0}"
    if (p ~ /lz_tensor \*.*(idx|index|indices|labels|target|offsets|counts|start)$/) return "N"
    if (p ~ /lz_tensor \*.*(mask|cond|condition|pred)$/) return "B"
    if (p ~ /lz_tensor \*/) { takes = 1; return seen++ ? "U" : "T" }
    if (p ~ /const double \*/) return "REALS"
    if (p ~ /\*\*/ || p ~ /\*const \*/) return "NULL"
    if (p ~ /_options \*/) return "NULL"
    if (p ~ /lz_window \*/) return "&(lz_window){.kernel = {1, 1}}"
    if (p ~ /const char \*/) return "WORD"
    if (p ~ /lz_mesh \*/) return "NULL"
    if (p ~ /^lz_partition_spec /) return "LZ_SPEC(\"x\", NULL)"
    if (p ~ /^lz_placements /) return "LZ_PLACEMENTS(lz_shard(K))"
    if (p ~ /const int64_t \*/) return "(const int64_t[16]){K, K, K, K}"
    if (p ~ /void \*data/) return "memory"
    if (p ~ /\*/) { gsub(/const |\*.*/, "", p); return p ~ /void|params|scaler|stablehlo|optim|ema|archive|checkpoint|DLM|layer|array/ ? "NULL" : "&(" p "){0}" }
    if (p ~ /^lz_shape /) return "S"
    if (p ~ /^lz_dims /) return "(lz_dims){1, {K}}"
    if (p ~ /^lz_dtype /) return "LZ_F32"
    if (p ~ /^double /) return "REAL"
    return "K"
}
$1 ~ /^lz_tensor \*/ {
    name = $1; sub(/.*[ *]/, "", name)
    if (name ~ /^lz_(retain|scope_end_keep|escape|empty_at|error_tensor_last|grad_of)$/) next
    # those of meshes, layers and optimizers, made of the others; gather, scatter and convolution by a struct: rows of ir/ops.def
    if (name ~ /_layer_|sharding|fsdp|distribute|_axis_|custom_call|scaler|hlo_(convolution|gather|scatter|rng)/) next
    if (name in own) { take = own[name]; sub(/\(/, "_at(", take); printf "CALL(%s, lz_%s, LZ_SITE))\n", name, take; next }
    n = split_parameters($2)
    args = ""; seen = 0; takes = 0
    for (i = 1; i <= n; i++) args = args (i > 1 ? ", " : "") value(param[i])
    if (takes) printf "CALL(%s, %s(%s))\n", name, name, args
}' >"$tmp/calls.h"
table=$root/test/api/dtypes.txt
if [ "${1:-}" = --missing ]; then
    missing=$(sed -E 's/^CALL\((lz_[a-z0-9_]+).*/\1/' "$tmp/calls.h" | while read -r name; do grep -q "^$name " "$table" || echo "$name"; done)
    [ -z "$missing" ] || { echo "no line in test/api/dtypes.txt (test/api/dtypes.sh --write):" $missing; exit 1; }
    exit
fi
cp test/api/dtypes.h "$tmp/dtypes.c"
build dtypes 250 -O1 -lm
mkdir "$tmp/work" && cd "$tmp/work" || exit 1
export LAZULI_CACHE=0 LAZULI_LOG=error
if [ "${1:-}" = --write ]; then
    LAZULI_EXEC=loop "$tmp/dtypes" write "$table" >"$tmp/table" || exit 1
    { grep '^#' "$table"; sort "$tmp/table"; } >"$tmp/new" && cp "$tmp/new" "$table"
    exit
fi
passed=0 failed=0
# pass ONE_OF [FUNCTION]: the plan run by the loop executor; then compiled, which takes longer
pass() {
    "$tmp/dtypes" "$1" "$table" "${@:2}" >"$tmp/log" 2>&1
    rc=$?
    [ $rc -eq 0 ] || { grep BAD "$tmp/log" | head -40; tail -3 "$tmp/log"; echo "exit status $rc"; }
    read -r p _ f _ <<<"$(tail -1 "$tmp/log")"
    [[ $p =~ ^[0-9]+$ && $f =~ ^[0-9]+$ ]] || p=0 f=1
    passed=$((passed + p)) failed=$((failed + f))
}
LAZULI_EXEC=loop pass 4 "$@"
[ -n "${LZ_TEST_QUICK:-}" ] || pass 60 "$@"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
