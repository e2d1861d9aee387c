#!/usr/bin/env bash
# graph.sh - lazuli graph: the page, its data and the DOT graph of a program from a file, with the lines, scopes and donations of the
# file, times of a profile, hostile names; of a program in the cache by its hash; in a browser, where there is one.
# shellcheck disable=SC2154  # tmp is that of steps.bash
set -u
BUILD=${BUILD:?}
root=$PWD
tool=$(realpath "$BUILD/lazuli") gpt=$(realpath "$BUILD/examples/gpt") check=$root/test/api/graph.py
command -v python3 >/dev/null || { echo 'graph.sh: python3 is not installed' >&2; exit 77; }
# shellcheck source=test/steps.bash
. test/steps.bash
export HOME=$tmp/home LAZULI_NUM_THREADS=2
mkdir "$HOME"
cd "$tmp" || exit 1

# ---- names that are markup, quotes, control characters, other scripts; every form of a location ----
cat >names.mlir <<'MLIR'
#first = loc("</script><b>&amp;"(#file))
func.func @main(%arg0: tensor<4x4xf32> {tf.aliasing_output = 0 : i32} loc("x\22y"), %arg1: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>) {
  %0 = stablehlo.add %arg0, %arg1 : tensor<4x4xf32> loc(#first)
  %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc(fused<"m">["\C3\A4/\E2\88\87"("b\\c.c":7:1), unknown])
  %2 = stablehlo.exponential %1 : tensor<4x4xf32> loc(callsite("in\09ner.c":9:2 at "outer.c":1:1))
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.reduce(%2 init: %c) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32> loc("only a name")
  return %2, %3 : tensor<4x4xf32>, tensor<4xf32>
}
#file = loc("a'\22.c":3:5)
MLIR
for kind in html json; do
    step "names $kind" "$tool" graph names.mlir -o names.$kind
    step "read names $kind" python3 "$check" names.$kind '"</script><b>&amp;" in scopes' '"ä/∇" in scopes' '"only a name" in scopes' \
        '"a'"'"'\".c:3" in lines' '"b\\c.c:7" in lines' '"in\tner.c:9" in lines'
done
step 'names dot' "$tool" graph names.mlir -o names.dot
says 0 '^  subgraph cluster_0' cat names.dot
if command -v dot >/dev/null; then step 'dot reads it' dot -Tsvg names.dot -o names.svg; fi
printf 'func.func @main(%%arg0: tensor<0xf32>) -> tensor<0xf32> { return %%arg0 : tensor<0xf32> }' >empty.mlir
step empty "$tool" graph empty.mlir -o empty.html
step 'read empty' python3 "$check" empty.html 'len(steps) == 0'
cat >loop.mlir <<'MLIR'
func.func @main(%arg0: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<5> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %c0, %x = %arg0) : tensor<i32>, tensor<64x64xf32>
   cond { %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1> }
   do { %j = stablehlo.add %i, %one : tensor<i32>
    %y = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    stablehlo.return %j, %y : tensor<i32>, tensor<64x64xf32> }
  return %r#1 : tensor<64x64xf32>
}
MLIR
step loop "$tool" graph loop.mlir -o loop.json
step 'read loop' python3 "$check" loop.json 'any(s["kind"] == "while" and s["rounds"] == 5 and s["regions"][0]["name"] == "body" for s in steps)'

# ---- the training step of gpt: lines and scopes of the dump, times of a profile, size ----
(cd "$root" && HOME=$tmp/home LAZULI_CACHE=off LAZULI_DUMP=input LAZULI_DUMP_DIR="$tmp/dump" LAZULI_PROFILE_REPORT="$tmp/profile.json" \
    "$gpt" --fake_data --steps 3 --sample 0 >/dev/null 2>&1)
step=$(ls -S dump/*.input.mlir | head -1)
step 'gpt without times' "$tool" graph "$step" -o gpt.html
step 'read gpt without times' python3 "$check" gpt.html 'not d["measured"]' '"net/blocks.0.attention" in scopes' '"transpose(net/blocks.3.up)" in scopes' \
    'all("examples/gpt.c:" in l for l in lines)' 'len(d["memory"]["donated"]) > 50'
step 'gpt with times' "$tool" graph "$step" -o gpt.html --profile profile.json
step 'read gpt with times' python3 "$check" gpt.html 'd["measured"]' 'all("ns" in s for s in steps if s["kind"] == "kernel")' 'd["flop_s"] > 0'
says 0 '^yes$' sh -c '[ "$(wc -c <gpt.html)" -le 3145728 ] && echo yes'
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -n "$browser" ]; then # 2 s of its clock are enough
    for page in gpt names empty loop; do
        [ -f $page.html ] || "$tool" graph $page.mlir -o $page.html
        "$browser" --headless --no-sandbox --disable-gpu --enable-logging=stderr --user-data-dir="$tmp/browser" --virtual-time-budget=2000 \
            --dump-dom "file://$tmp/$page.html" >dom.html 2>log.txt
        says 0 'id="schedule"' grep -o 'id="schedule"' dom.html
        says 1 '^$' sh -c '! grep -E "Uncaught|CONSOLE.*[Ee]rror" log.txt; echo; exit 1'
    done
fi
if command -v node >/dev/null; then # more kernels than a call has room for arguments
    says 0 '^good$' node "$root/test/api/graph_page.js" gpt.html 1000
    "$tool" graph loop.mlir -o loop.html
    says 0 '^good$' node "$root/test/api/graph_page.js" loop.html 130000
fi

# ---- one of the cache: by any part of its hash, without lines ----
printf 'func.func @main(%%a: tensor<8x8xf32>) -> tensor<8x8xf32> { %%0 = stablehlo.tanh %%a : tensor<8x8xf32>\n return %%0 : tensor<8x8xf32> }' >tanh.mlir
(cd "$root" && LAZULI_CACHE_DIR=$tmp/cache "$gpt" --fake_data --steps 2 --sample 0 --cache "$tmp/cache" --layers 1 >/dev/null 2>&1)
program=$("$tool" cache ls --path cache | awk '$1 == "program" { print $NF; exit }')
hash=${program//[\/.p]/}
step 'by hash' "$tool" graph "${hash:0:12}" --path cache -o hash.json
step 'read by hash' python3 "$check" hash.json 'len(steps) > 0' 'lines == []' 'scopes == []'
(cd "$root" && LAZULI_PROFILE_REPORT="$tmp/warm.json" "$gpt" --fake_data --steps 2 --sample 0 --cache "$tmp/cache" --layers 1 >/dev/null 2>&1)
found=0 # one of the programs is the step, and the profile names its lines
for p in $("$tool" cache ls --path cache | awk '$1 == "program" { print $NF }'); do
    "$tool" graph "$p" --path cache --profile warm.json -o warm.json.html >/dev/null 2>&1 || continue
    python3 "$check" warm.json.html 'd["measured"]' '"net/blocks.0.attention" in scopes' 'any("examples/gpt.c:" in l for l in lines)' 2>/dev/null && found=1
done
says 0 '^1$' echo $found
step 'by file name' "$tool" graph "$program" --path cache -o hash.json
says 1 'no program of this build' "$tool" graph 0123456789abcdef0123456789abcdef --path cache -o hash.json

# ---- what is wrong is said ----
says 2 'one FILE or HASH is needed' "$tool" graph -o x.html
says 2 '-o FILE is needed' "$tool" graph names.mlir
says 2 "ends in .html, .json or .dot, not 'x.svg'" "$tool" graph names.mlir -o x.svg
says 1 'none.mlir: No such file' "$tool" graph none.mlir -o x.html
says 1 'profile.json has no run of this program' "$tool" graph names.mlir -o x.html --profile profile.json
says 1 'names.mlir' "$tool" graph names.mlir -o x.html --profile names.mlir
printf '{"steps":[{"calls":1,"ns":5,"step":"dot 99%%%% n.c:7 (f)  dot 0b12fd59 program 1 step 2\001x"}]}' >damaged.json
says 1 'a control character in a string' "$tool" graph names.mlir -o x.html --profile damaged.json
says 1 'none/x.html' "$tool" graph names.mlir -o none/x.html
total
