#!/usr/bin/env bash
# cli.sh - the lazuli command from outside: every subcommand, its options and files, what it prints, and its exit status: 0 fine,
# 1 the thing asked about is wrong or failed, 2 the command line is wrong. What is wrong is told in one line on stderr.
set -u
BUILD=${BUILD:?}
tool=$(realpath "${LZ_TOOL:-$BUILD/lazuli}")
tmp=$(mktemp -d) || exit 1
trap 'chmod -R u+rwX "$tmp" 2>/dev/null; rm -rf "$tmp"' EXIT
export HOME=$tmp/home
mkdir "$HOME"
root=$PWD
cd "$tmp" || exit 1
passed=0 failed=0
lazuli() { "$tool" "$@"; }

# t STATUS 'words of stdout' 'words of stderr' COMMAND...: both are extended patterns over the output with its lines joined by
# "; ", '' is nothing printed, '*' is anything. A failing command says exactly one line.
t() {
    local want=$1 out=$2 err=$3 rc got why=''
    shift 3
    "$@" >o.txt 2>e.txt </dev/null
    rc=$?
    [ $rc -eq "$want" ] || why="exit status $rc, not $want"
    for which in o e; do
        pattern=$out
        [ $which = e ] && pattern=$err
        got=$(tr -d '\0' <$which.txt)
        got=${got//$'\n'/; }
        case $pattern in
        '*') ;;
        '') [ -z "$got" ] || why="$why; prints" ;;
        *) [[ $got =~ $pattern ]] || why="$why; no '$pattern'" ;;
        esac
    done
    mapfile -t lines <e.txt
    [ "$want" -eq 0 ] || [ ${#lines[@]} -eq 1 ] || why="$why; ${#lines[@]} lines of message"
    if [ -z "$why" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAIL %s\n    %s\n' "$*" "$why"
        head -5 o.txt e.txt | sed 's/^/    | /'
    fi
}

cat >two.mlir <<'MLIR'
func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<3xi32>) -> (tensor<2x3xf32>, tensor<3xi32>) {
  %0 = stablehlo.add %arg0, %arg0 : tensor<2x3xf32>
  %1 = stablehlo.multiply %arg1, %arg1 : tensor<3xi32>
  return %0, %1 : tensor<2x3xf32>, tensor<3xi32>
}
MLIR
cat >make.mlir <<'MLIR'
func.func @main() -> (tensor<2x3xf32>, tensor<3xi32>, tensor<f64>, tensor<2xi1>, tensor<0x2xbf16>, tensor<2xui64>, tensor<1xcomplex<f32>>) {
  %0 = stablehlo.constant dense<[[1.0, 2.0, -3.5], [0.0, 0.25, 6.0]]> : tensor<2x3xf32>
  %1 = stablehlo.constant dense<[-7, 0, 3]> : tensor<3xi32>
  %2 = stablehlo.constant dense<0.1> : tensor<f64>
  %3 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %4 = stablehlo.constant dense<> : tensor<0x2xbf16>
  %5 = stablehlo.constant dense<[18446744073709551615, 1]> : tensor<2xui64>
  %6 = stablehlo.constant dense<(1.5,-2.0)> : tensor<1xcomplex<f32>>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<2x3xf32>, tensor<3xi32>, tensor<f64>, tensor<2xi1>, tensor<0x2xbf16>, tensor<2xui64>, tensor<1xcomplex<f32>>
}
MLIR
sed 's/tensor<3xi32>$/tensor<4xi32>/' two.mlir >types.mlir
printf 'func.func @main(%%arg0: tensor<2xf32>) -> tensor<2xf32> {\n  %%0 = stablehlo.add %%arg0, %%arg9 : tensor<2xf32>\n  return %%0 : tensor<2xf32>\n}\n' >undefined.mlir
printf 'func.func @main(%%arg0: tensor<2xf32>) -> tensor<2xf32> {\n  %%0 = stablehlo.nope %%arg0 : tensor<2xf32>\n  return %%0 : tensor<2xf32>\n}\n' >unknown.mlir
head -c 150 two.mlir >cut.mlir
: >empty.mlir

# ---- the command itself ----
t 0 'usage: lazuli COMMAND.*lazuli run .*lazuli opt .*lazuli cache .*lazuli devices.*lazuli ops.*lazuli env' '' lazuli --help
t 0 'usage: lazuli COMMAND' '' lazuli -h
t 0 'usage: lazuli COMMAND' '' lazuli help
t 0 '^lazuli [0-9]+\.[0-9]+\.[0-9]+$' '' lazuli --version
t 2 '' 'lazuli: --version takes no arguments' lazuli --version now
t 2 '' 'lazuli: unknown command frob \(lazuli --help\)' lazuli frob
t 2 '' 'lazuli: unknown option --frob' lazuli --frob
t 2 '' 'unknown command frob' lazuli help frob
"$tool" >o.txt 2>e.txt
if [ $? -eq 2 ] && [ ! -s o.txt ] && grep -q '^usage:' e.txt; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo 'FAIL lazuli alone'; fi
for c in run opt cache devices ops env; do
    t 0 "^  lazuli $c( .*)?; +[a-z]" '' lazuli $c --help
    t 0 "^  lazuli $c" '' lazuli $c -h
    t 0 "^  lazuli $c" '' lazuli help $c
    case $c in run | opt | cache) t 2 '' "lazuli $c: unrecognized option '--frob'" lazuli $c --frob ;; esac
done
t 0 '^  lazuli run' '' lazuli run two.mlir --help

# ---- run: files ----
t 0 '^f32\[2,3\];   1 2 -3.5;   0 0.25 6; i32\[3\];   -7 0 3; f64\[\];   0.1[0-9]*; .*\[2\];   1 0; bf16\[0,2\]; u64\[2\];   18446744073709551615 1; .*\[1\];   \(1.5,-2\)$' '' \
    lazuli run make.mlir
t 0 '^f32\[2,3\];   1 2 -3.5' '' lazuli run make.mlir --device ref
t 0 '^f32\[2,3\];   1 2 -3.5' '' lazuli run make.mlir --device loop
t 0 '' '' lazuli run make.mlir --output-dir out
t 0 '' '' lazuli run make.mlir --output-dir out # once more into the same
t 0 '^0.npy; 1.npy; 2.npy; 3.npy; 4.npy; 5.npy; 6.npy$' '' ls out
t 0 'NUMPY.*<f4.*False.*\(2, 3\)' '' head -c 128 out/0.npy
for d in cpu ref loop CPU; do
    t 0 '^f32\[2,3\];   2 4 -7;   0 0.5 12; i32\[3\];   49 0 9$' '' lazuli run two.mlir --input out/0.npy --input out/1.npy --device $d
    t 0 '^2 results agree with ref$' '' lazuli run two.mlir --input out/0.npy --input out/1.npy --device $d --compare ref
done
t 0 '' '' lazuli run two.mlir --input out/0.npy --input out/1.npy --output-dir out2
t 0 '' '' lazuli run two.mlir --input out/0.npy --input out/1.npy --output-dir out3 --device ref
t 0 '' '' cmp out2/0.npy out3/0.npy
t 0 '' '' cmp out2/1.npy out3/1.npy
t 0 'results agree with loop' '' lazuli run two.mlir --random 7 --compare loop --output-dir out4
t 0 '0.npy; 1.npy' '' ls out4
from_stdin() { lazuli run - --random 1 <two.mlir; }
t 0 '^f32\[2,3\]' '' from_stdin
t 1 '' 'lazuli: run: -:1:1: ' lazuli run -

# long sums whose terms cancel: their error is one of the terms, and the tolerance knows
cat >sums.mlir <<'M'
func.func @main(%x: tensor<100x3000xf32>, %y: tensor<3000x4xf32>) -> (tensor<100xf32>, tensor<100x4xf32>) {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%x init: %0) applies stablehlo.add across dimensions = [1] : (tensor<100x3000xf32>, tensor<f32>) -> tensor<100xf32>
  %2 = stablehlo.dot %x, %y : (tensor<100x3000xf32>, tensor<3000x4xf32>) -> tensor<100x4xf32>
  return %1, %2 : tensor<100xf32>, tensor<100x4xf32>
}
M
for seed in 1 2 3; do
    t 0 '2 results agree with ref' '' lazuli run sums.mlir --random $seed --compare ref
    t 1 '' 'gives' lazuli run sums.mlir --random $seed --compare ref --rtol 1e-7 --atol 0
done

npy_from_stdin() { lazuli run two.mlir --input - --input out/1.npy <"$1"; }
t 0 '^f32\[2,3\]' '' npy_from_stdin out/0.npy
# what has no end is not read to its end
endless() { cat /dev/zero | npy_from_stdin /dev/stdin; }
more() { cat out/0.npy /dev/zero | npy_from_stdin /dev/stdin; }
t 1 '' 'not a .npy file' endless
t 0 '*' '' more # what is behind the array is not read, as NumPy has it
t 1 '' '/dev/zero: cannot be read: it is a device' lazuli run /dev/zero

# every dtype that has one goes out to .npy and comes back the same
cat >same.mlir <<'MLIR'
func.func @main(%a: tensor<2x3xf32>, %b: tensor<3xi32>, %c: tensor<f64>, %d: tensor<2xi1>, %e: tensor<0x2xbf16>, %f: tensor<2xui64>, %g: tensor<1xcomplex<f32>>) -> (tensor<2x3xf32>, tensor<3xi32>, tensor<f64>, tensor<2xi1>, tensor<0x2xbf16>, tensor<2xui64>, tensor<1xcomplex<f32>>) {
  return %a, %b, %c, %d, %e, %f, %g : tensor<2x3xf32>, tensor<3xi32>, tensor<f64>, tensor<2xi1>, tensor<0x2xbf16>, tensor<2xui64>, tensor<1xcomplex<f32>>
}
MLIR
inputs=()
for i in 0 1 2 3 4 5 6; do inputs+=(--input "out/$i.npy"); done
t 0 '' '' lazuli run same.mlir --device ref "${inputs[@]}" --output-dir same
for i in 0 1 2 3 4 5 6; do t 0 '' '' cmp out/$i.npy same/$i.npy; done

# ---- run: what is wrong with the inputs ----
t 1 '' 'the program takes 2 inputs, not 1' lazuli run two.mlir --input out/0.npy
t 1 '' 'the program takes 2 inputs, not 0' lazuli run two.mlir
t 1 '' 'the program takes 0 inputs, not 1' lazuli run make.mlir --input out/0.npy
t 1 '' 'the program takes 2 inputs, not 3' lazuli run two.mlir --input out/0.npy --input out/1.npy --input out/1.npy
t 1 '' 'out/1.npy: is i32\[3\], argument 0 is f32\[2,3\]' lazuli run two.mlir --input out/1.npy --input out/0.npy
t 1 '' 'out/2.npy: is f64\[\], argument 0 is f32\[2,3\]' lazuli run two.mlir --input out/2.npy --input out/1.npy
t 1 '' 'none.npy: No such file' lazuli run two.mlir --input none.npy --input out/1.npy
t 1 '' 'out is no regular file' lazuli run two.mlir --input out --input out/1.npy
npy() { # FILE 'header' BYTES: a file with this header and so many bytes of data
    local h=$2
    while (((10 + ${#h} + 1) % 64)); do h="$h "; done
    { printf '\223NUMPY\001\000'; printf "\\x$(printf %02x $(((${#h} + 1) % 256)))\\x$(printf %02x $(((${#h} + 1) / 256)))"
      printf '%s\n' "$h"; head -c "$3" /dev/zero; } >"$1"
}
bad_input() { t 1 '' "$1" lazuli run two.mlir --input bad.npy --input out/1.npy; }
npy bad.npy "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" 24
t 0 '2 results agree' '' lazuli run two.mlir --input bad.npy --input out/1.npy --compare ref # the helper itself
npy bad.npy "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" 23
bad_input 'bad.npy: 23 bytes of elements, the header says 24'
npy bad.npy "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" 25
t 0 '*' '' lazuli run two.mlir --input bad.npy --input out/1.npy
npy bad.npy "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }" 24
bad_input 'bad.npy: is f32\[3,2\], argument 0 is f32\[2,3\]'
npy bad.npy "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }" 24
t 0 '2 results agree' '' lazuli run two.mlir --input bad.npy --input out/1.npy --compare ref
npy bad.npy "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }" 24
t 0 '2 results agree' '' lazuli run two.mlir --input bad.npy --input out/1.npy --compare ref
npy bad.npy "{'descr': '|O', 'fortran_order': False, 'shape': (2, 3), }" 24
bad_input 'bad.npy: object arrays hold code'
npy bad.npy "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 3), }" 24
bad_input 'bad.npy: arrays of records'
npy bad.npy "{'fortran_order': False, 'shape': (2, 3), }" 24
bad_input 'bad.npy: the .npy header is not complete'
npy bad.npy "{'descr': '<f4', 'fortran_order': False, }" 24
bad_input 'bad.npy: the .npy header is not complete'
npy bad.npy "{'descr': '<f4', 'fortran_order': False, 'shape': (2, -3), }" 24
bad_input 'bad.npy: a bad extent'
npy bad.npy "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3" 24
bad_input 'bad.npy: the shape in the .npy header has no end'
npy bad.npy "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }" 24
bad_input 'bad.npy: an extent in the .npy header is too large'
npy bad.npy "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4), }" 0
bad_input 'bad.npy: f32.* has too many bytes'
npy bad.npy "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1), }" 4
bad_input 'bad.npy: more than 16 dimensions'
printf '\223NUMPY\001\000\377\377' >bad.npy
bad_input 'bad.npy: a .npy header of'
printf '\223NUMPY\002\000\377\377\377\377' >bad.npy
bad_input 'bad.npy: a .npy header of'
printf '\223NUMPY\002\000\377' >bad.npy
bad_input 'bad.npy'
printf '\223NUMPY\011\000\001\000 ' >bad.npy
bad_input 'bad.npy: version 9.0 of the .npy format'
: >bad.npy
bad_input 'bad.npy: not a .npy file'

# ---- run: what is wrong with the program: name, line, column ----
t 1 '' 'lazuli: run: types.mlir:[0-9]+:[0-9]+: ' lazuli run types.mlir --random 1
t 1 '' 'lazuli: run: undefined.mlir:2:[0-9]+: .*%arg9' lazuli run undefined.mlir --random 1
t 1 '' 'lazuli: run: unknown.mlir:2:[0-9]+: .*nope' lazuli run unknown.mlir --random 1
t 1 '' 'lazuli: run: cut.mlir:[0-9]+:[0-9]+: ' lazuli run cut.mlir --random 1
t 1 '' 'lazuli: run: empty.mlir:1:1: ' lazuli run empty.mlir
t 1 '' 'lazuli: run: out/0.npy:1:1: ' lazuli run out/0.npy
t 1 '' 'lazuli: run: none.mlir: No such file' lazuli run none.mlir
t 1 '' 'lazuli: run: out: cannot be read: it is a directory' lazuli run out
t 1 '' 'lazuli: opt: undefined.mlir:2:' lazuli opt undefined.mlir

# ---- run: options ----
t 2 '' 'lazuli run: one FILE.mlir is needed' lazuli run
t 2 '' 'lazuli run: one FILE.mlir is needed' lazuli run two.mlir two.mlir
t 2 '' "lazuli run: --device takes .* not 'nope'" lazuli run two.mlir --random 1 --device nope
t 2 '' "lazuli run: --compare takes .* not 'nope'" lazuli run two.mlir --random 1 --compare nope
for v in x '' -1 1x 99999999999999999999; do
    t 2 '' "lazuli run: --random takes an integer .* not '$v'" lazuli run two.mlir --random "$v"
done
for v in x '' -1 1x nan inf -inf 1e999; do
    t 2 '' "lazuli run: --rtol takes a number of at least 0, not '$v'" lazuli run two.mlir --compare ref --rtol "$v"
    t 2 '' "lazuli run: --atol takes a number of at least 0, not '$v'" lazuli run two.mlir --compare ref --atol "$v"
done
t 0 agree '' lazuli run two.mlir --compare ref --rtol 1e-3 --atol 0
t 2 '' "option '--input' requires an argument" lazuli run two.mlir --input
t 2 '' '--random and --input' lazuli run two.mlir --random 1 --input out/0.npy
t 2 '' '--rtol and --atol belong to --compare' lazuli run two.mlir --random 1 --rtol 1

# a comparison that fails: the interpreter and the compiled code add 0.1 ten times in f32 and once in f64
cat >differ.mlir <<'MLIR'
func.func @main(%arg0: tensor<1000xf32>) -> tensor<1000xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<1000xf32>
  %1 = stablehlo.exponential %0 : tensor<1000xf32>
  return %1 : tensor<1000xf32>
}
MLIR
t 0 agree '' lazuli run differ.mlir --compare ref
t 1 '*' 'result 0 element [0-9]+: cpu gives [0-9.]+, ref gives [0-9.]+' lazuli run differ.mlir --compare ref --rtol 0 --atol 0

# ---- run: outputs that cannot be written ----
t 1 '' 'lazuli: run: two.mlir/0.npy: cannot be written: Not a directory' lazuli run two.mlir --random 1 --output-dir two.mlir
t 1 '' 'none/deep: No such file' lazuli run two.mlir --random 1 --output-dir none/deep
long=$(printf 'd%.0s' {1..300})
t 1 '' 'name too long' lazuli run two.mlir --random 1 --output-dir "$long"
sed 's/1000/1001/g' differ.mlir >large.mlir
limited() { bash -c 'ulimit -f 2; trap "" XFSZ; exec "$@"' limited "$tool" "$@"; } # files of at most 2 KiB, as on a full disk
t 1 '' 'lazuli: run: full/0.npy: cannot be written: File too large' limited run large.mlir --random 1 --output-dir full
t 0 '' '' ls full # no part of a file
if [ -w /dev/full ]; then
    full() { lazuli "$@" >/dev/full; }
    for c in --version --help 'run --help' devices ops env 'opt --list' 'opt two.mlir' 'run two.mlir --random 1' 'run two.mlir --compare ref'; do
        # shellcheck disable=SC2086
        t 1 '' 'lazuli: the output cannot be written: No space left' full $c
    done
fi
closed() { lazuli "$@" >&-; }
t 1 '' 'lazuli: the output cannot be written' closed ops
t 0 '' '' closed run two.mlir --random 1 --output-dir out5 # nothing is said, and no file takes the place of stdout
t 0 'NUMPY' '' head -c 6 out5/0.npy
t 0 '0.npy; 1.npy' '' ls out5

# ---- opt ----
t 0 '^no mark of a sharding$' '' lazuli shard two.mlir
cat >marked.mlir <<'MLIR'
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x2xf32> {
  %0 = stablehlo.tanh %a : tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
MLIR
t 0 'mesh <."x"=2.>.*tanh.*: .."x"., ...  of mark %1, from %1, by %2' '' lazuli shard marked.mlir
t 0 'tanh.*marked.mlir:3.*; 0 collectives, 0 bytes sent by each device' '' lazuli shard marked.mlir
t 0 'mesh <."x"=4.>' '' lazuli shard marked.mlir --mesh x=4
t 1 '' "lazuli: shard: .*marked.mlir:2.*the mesh has no axis .x." lazuli shard marked.mlir --mesh z=4
t 0 '"devices": 2, "mesh": "<.*"totals": ."collectives": 0, "sent_bytes": 0' '' lazuli shard marked.mlir --json
t 0 '^."values": .., "collectives": ..}$' '' lazuli shard two.mlir --json
sed -e '/sdy.mesh/d' -e 's/sdy.sharding.*]>}/mhlo.sharding = "{devices=[2,1]<=[2]}"}/' marked.mlir >strings.mlir
t 0 'mesh <."axis_0"=2.>.*tanh.*: .."axis_0"., ...' '' lazuli shard strings.mlir
t 0 'mesh <."rows"=2.>.*tanh.*: .."rows"., ...' '' lazuli shard strings.mlir --mesh rows=2
t 1 '' 'lazuli: shard: strings.mlir:1' lazuli shard strings.mlir --mesh rows=4
t 0 '^<svg .*parameter 0: f32.4,2. .*device 1.*result 0: .*</svg>' '' lazuli shard marked.mlir --svg
t 2 '' 'lazuli shard: --json and --svg' lazuli shard marked.mlir --svg --json
t 0 'mesh <."x"=4.>.*parameter 0 f32.2,3.: .*result 0 f32.2,3.: .*plan: 0 bytes in 0 collectives.*data parallel: .*model: [0-9]* variables' '' lazuli shard two.mlir --auto --mesh x=4
t 0 'mesh <."x"=2.>.*parameter 0 f32.4,2.: .."x"., .*not marked by the plan' '' lazuli shard marked.mlir --auto
t 0 '"predicted": ."sent_bytes": 0, .*"exact": true' '' lazuli shard two.mlir --auto --mesh x=2,y=2 --json
t 0 'plan: .*mesh <."x"=4.> on 4 x h100: .*step  *[0-9.]* us' '' lazuli shard two.mlir --auto --mesh x=4 --simulate h100
t 0 '^."plan": ..*"predicted".*, "step": ."machine".*.' '' lazuli shard two.mlir --auto --mesh x=4 --simulate v5e --json
t 2 '' 'lazuli shard: --auto is of a FILE.mlir' lazuli shard --auto --simulate h100 --model layers=2,hidden=64,heads=2,seq=8,vocab=16,batch=2
t 1 '' 'lazuli: shard: the program has no mesh: --auto needs --mesh' lazuli shard two.mlir --auto
t 1 '' 'lazuli: shard: no plan has the parameters of a device in 1 bytes' lazuli shard two.mlir --auto --mesh x=4 --memory 1
t 2 '' 'lazuli shard: --memory is of --auto' lazuli shard two.mlir --memory 1
t 2 '' 'lazuli shard: --svg shows the marks' lazuli shard two.mlir --auto --mesh x=4 --svg
for mesh in x x= =2 x=0 x=a "x=2," "x=2,x=2" x=1048577; do t 2 '' 'lazuli shard: --mesh' lazuli shard marked.mlir --mesh "$mesh"; done
cat >row.mlir <<'MLIR'
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = stablehlo.tanh %a : tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
MLIR
t 0 '#0 all_to_all along ."x".* wanted .*tanh.*row.mlir:3.*%1 .* of parameter 0 .*%3 .* of %2 .*; 1 collectives, 8 bytes sent by each device;   all_to_all: 1, 8 bytes' '' lazuli shard row.mlir
t 2 '' 'lazuli shard: one FILE.mlir is needed' lazuli shard
# steps on paper
t 0 'mesh <."x"=2.> on 2 x h100: H100 .*step .*memory-bound .*utilisation .*by axis;   ."x". .*by kind;   all_to_all ' '' lazuli shard row.mlir --simulate h100
t 0 '^."machine": "v5e", "devices": 2, .*"seconds": .*"collectives": .."collective": "all_to_all", "axes": ".*"x.*"calls": 1, "sent_bytes": 8, .*}$' '' lazuli shard row.mlir --simulate v5e --json
t 0 'on 4 x v4' '' lazuli shard row.mlir --simulate v4 --mesh x=4
t 0 'on 2 x cpu' '' env HOME="$tmp/measured" "$tool" shard row.mlir --simulate cpu # what it measures is kept
t 0 'mesh <."devices"=1.> on 1 x h100' '' lazuli shard two.mlir --simulate h100
cat >local.mlir <<'MLIR'
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
MLIR
t 0 'on 4 x a100.*by axis;   ."y".* 1 collectives, 32 bytes sent' '' lazuli shard local.mlir --simulate a100 --mesh x=2,y=2 # partitioned already
t 1 '' 'lazuli: shard: all_reduce: names participant 2; there are 2' lazuli shard local.mlir --simulate a100 --devices 2
t 2 '' "lazuli shard: --simulate knows a100, .*v5e.*cpu, not 'z80'" lazuli shard row.mlir --simulate z80
t 2 '' 'lazuli shard: --simulate and --svg' lazuli shard row.mlir --simulate h100 --svg
model=layers=4,hidden=1024,heads=16,seq=512,vocab=1000,batch=64
t 0 '0.05 billion parameters on a100: .*devices  layout .*      8  data parallel .*   4096  tensor x data ' '' lazuli shard --simulate a100 --model $model
t 0 '    128  FSDP  *64 sequences are not divided by 128 replicas' '' lazuli shard --simulate a100 --model $model
t 0 '^."rows": ...*"kind": "data parallel", "layout": ."data": 8, .*"model_flops_utilisation": .*"devices": 128, "error": "64 sequences .*"tokens_per_second": ' '' lazuli shard --simulate a100 --model $model --json
t 0 'layout data=2,tensor=4,pipeline=2,micro_batch=4,interleave=2: 0.05 billion .*  bubble .*by axis;   ."tensor".*;   ."pipeline".*;   ."data"' '' \
    lazuli shard --simulate a100 --model $model --layout data=2,tensor=4,pipeline=2,micro_batch=4,interleave=2
t 0 '^."layout": ."data": 1, "fsdp": 8, .*"tokens_per_second": ' '' lazuli shard --simulate v5p --model $model --layout fsdp=8 --json
t 1 '' 'lazuli: shard: 4 layers are not divided by 3 stages' lazuli shard --simulate a100 --model $model --layout pipeline=3
t 1 '' 'lazuli: shard: layout: more than 1048576 devices' lazuli shard --simulate a100 --model $model --layout data=1048576,fsdp=1048576
for bad in x x=1 layers layers= layers=-1 layers=0 layers=a layers=4,layers=4 layers=99999999999999999999 hidden=1e3 ','; do t 2 '' 'lazuli shard: --model' lazuli shard --simulate a100 --model "$bad"; done
for bad in x tensor=0 tensor=1.5 'data=2,' data=1048577; do t 2 '' 'lazuli shard: --layout' lazuli shard --simulate a100 --model $model --layout "$bad"; done
t 2 '' 'lazuli shard: --model does not say vocab' lazuli shard --simulate a100 --model layers=4,hidden=1024,heads=16,seq=512,batch=64
t 2 '' 'lazuli shard: --model is for --simulate' lazuli shard --model $model
t 2 '' 'lazuli shard: --layout is of a --model' lazuli shard row.mlir --simulate a100 --layout data=8
t 2 '' 'lazuli shard: a FILE.mlir and a --model' lazuli shard row.mlir --simulate a100 --model $model
t 0 'stablehlo.add %arg0, %arg0' '' lazuli opt two.mlir
t 0 'stablehlo.add %arg0, %arg0' '' lazuli opt two.mlir --passes=pipeline
t 0 'stablehlo.add' '' lazuli opt two.mlir --passes=fold,simplify
t 0 'dce .*; fold .*; simplify ' '' lazuli opt --list
t 0 '^plan: ' '' lazuli opt two.mlir --emit=plan
t 0 'kernel' '' lazuli opt two.mlir --emit=loops
t 0 'digraph' '' lazuli opt two.mlir --emit=dot
cat >random.mlir <<'MLIR'
func.func @main(%s: tensor<2xui64>) -> (tensor<2xui64>, tensor<7xui32>) {
  %a, %b = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<7xui32>)
  return %a, %b : tensor<2xui64>, tensor<7xui32>
}
MLIR
t 0 'rng_bit_generator' '' lazuli opt random.mlir --emit=stablehlo
t 0 '^([^r]|r[^n]|rn[^g])*stablehlo.xor([^r]|r[^n]|rn[^g])*$' '' lazuli opt random.mlir --emit=portable
t 1 '' "lazuli: opt: there is no pass 'nope'" lazuli opt two.mlir --passes=nope
t 1 '' "there is no pass 'nope'" lazuli opt two.mlir --passes=fold,nope,simplify
t 2 '' "lazuli opt: --emit takes stablehlo, portable, loops, plan or dot, not 'llvm'" lazuli opt two.mlir --emit=llvm
t 2 '' 'lazuli opt: one FILE.mlir is needed' lazuli opt
t 2 '' 'lazuli opt: one FILE.mlir is needed' lazuli opt two.mlir two.mlir
t 2 '' "lazuli opt: .*option '--list' doesn't allow an argument" lazuli opt --list=x
text=$("$tool" opt two.mlir --passes=pipeline | tee again.mlir | "$tool" opt -)
t 0 '' '' test "$text" = "$(cat again.mlir)" # what it prints it also reads

# ---- devices, ops, env ----
t 0 '^CPU:0  cpu: .*[0-9]+ threads?; .*REF:0 ' '' lazuli devices
t 2 '' 'lazuli devices: it takes no arguments' lazuli devices CPU
t 0 '^[a-z_]+ +[a-z]+ +[A-Z].*; add +elementwise +Sum' '' lazuli ops
t 0 '^add +elementwise +Sum[^;]*;[^;]*;[^;]*$' '' lazuli ops add
t 0 '^add +elementwise' '' lazuli ops stablehlo.add
t 1 '' 'lazuli: there is no operation nope' lazuli ops nope
t 2 '' 'lazuli ops: at most one NAME' lazuli ops add add
t 0 '^  PJRT_DEVICE +\(unset\)' '' lazuli env
t 2 '' 'lazuli env: it takes no arguments' lazuli env PJRT_DEVICE
t 0 '\* LAZULI_CACHE_MAX_MB +7 ' '' env LAZULI_CACHE_MAX_MB=7 "$tool" env
t 0 '  LAZULI_CACHE_MAX_MB +2048 ' 'LAZULI_CACHE_MAX_MB=x is ignored' env LAZULI_CACHE_MAX_MB=x "$tool" env
t 0 'PJRT_DEVICE' 'XLA_USE_BF16 has no effect: dtypes stay as they are' env XLA_USE_BF16=1 "$tool" env
t 0 'PJRT_DEVICE' 'LAZULI_EXEC=lop is ignored: the value must be loop' env LAZULI_EXEC=lop "$tool" env
t 0 '^f32' "LAZULI_DUMP: there is no pass or stage 'fusoin'" env LAZULI_DUMP=fusoin "$tool" run two.mlir --random 1
t 0 '^f32' "LAZULI_PASSES_OFF: there is no pass or stage 'dcee'" env LAZULI_PASSES_OFF=dce,dcee "$tool" run two.mlir --random 1
t 0 'PJRT_DEVICE' 'unknown variable LAZULI_XYZ' env LAZULI_XYZ=1 "$tool" env

# ---- cache ----
for verb in ls stat verify gc clear; do
    t 0 "^there is no cache yet; it will be $tmp/home/.cache/lazuli$" '' lazuli cache $verb
    t 1 '' 'lazuli: cache: there is no directory .*/none$' lazuli cache $verb --path none
    t 1 '' "lazuli: cache: .*/out is not a cache: it has no CACHEDIR.TAG" lazuli cache $verb --path out
    t 1 '' 'lazuli: cache: .*/two.mlir is something else, not a directory' lazuli cache $verb --path two.mlir
    t 2 '' 'lazuli cache: --path takes a directory' lazuli cache $verb --path ''
    t 1 '' 'switched off by LAZULI_CACHE' env LAZULI_CACHE=off "$tool" cache $verb
    t 2 '' 'lazuli cache: one of ls, stat, verify, gc, clear, export, import is needed' lazuli cache $verb $verb
done
t 0 '0.npy; 1.npy; 2.npy; 3.npy; 4.npy; 5.npy; 6.npy' '' ls out # untouched
t 0 '' '' test ! -e home/.cache -a ! -e none # nothing is made by looking
mkdir -m 700 fresh
t 0 '^$|^0 entries, 0 damaged$' '' lazuli cache verify --path fresh
t 0 '^removed 0 files, 0 bytes$' '' lazuli cache gc --path fresh
t 2 '' 'lazuli cache: one of ls, stat, verify, gc, clear, export, import is needed' lazuli cache
t 2 '' "lazuli cache: it takes ls, stat, verify, gc, clear, export or import, not 'frob'" lazuli cache frob
for v in 0 -1 x 1.5 99999999999; do
    t 2 '' "lazuli cache: --max-mb takes an integer from 1 to 16777216, not '$v'" lazuli cache gc --max-mb $v
done
t 2 '' '--max-mb belongs to gc' lazuli cache clear --max-mb 5

fill() { "$root/$BUILD/examples/digits" --epochs 1 --data "$root/examples/data/digits.csv" --cache "$tmp/$1" >/dev/null; }
fill c
n=$(find c -name '*.[pk]' | wc -l)
zeros=$(printf '0%.0s' {1..30})
entry=$(find c -name '*.k' | sort | head -1)
t 0 '^([pk][a-z]+ +[0-9]+  [-0-9]+ [0-9:]+  [0-9a-f]{2}/[0-9a-f]{30}\.[pk](; )?)+$' '' lazuli cache ls --path c
t 0 '' '' test "$("$tool" cache ls --path c | wc -l)" = "$n"
t 0 "^path +$tmp/c; programs +[1-9][0-9]* \\([0-9]+ bytes\\); kernels +[1-9][0-9]* \\([0-9]+ bytes\\); damaged +0$" '' lazuli cache stat --path c
t 0 "^$n entries, 0 damaged$" '' lazuli cache verify --path c
t 0 "^$n entries, 0 damaged$" '' env LAZULI_CACHE_DIR="$tmp/c" "$tool" cache verify
t 0 "^$n entries, 0 damaged$" '' env XLA_PERSISTENT_CACHE_PATH="$tmp/c" XLA_PERSISTENT_CACHE_READ_ONLY=1 "$tool" cache verify
t 1 '' 'is only read' env XLA_PERSISTENT_CACHE_READ_ONLY=1 "$tool" cache clear --path c
ln -s c link
t 1 '' 'lazuli: cache: .*/link is a symbolic link' lazuli cache ls --path link
chmod 770 c
for verb in ls stat verify gc clear; do
    t 1 '' "lazuli: cache: .*/c can be written by others .mode 0770.; chmod go-w it" lazuli cache $verb --path c
done
chmod 700 c

# damaged entries: named, and what is whole is not touched
cp "$entry" saved
printf X | dd of="$entry" bs=1 seek=200 conv=notrunc 2>/dev/null
: >"${entry%??}.p"
touch c/00.txt "$(dirname "$entry")/$(printf 'odd\033[2Jname')"
bad="bad ${entry#c/}: [a-z].*bad ${entry#c/}|bad ${entry#c/}: [a-z ]+"
verify_bad() { lazuli cache verify --path c || { rc=$?; echo "status $rc" >&2; return $rc; }; }
t 1 "$bad" 'status 1' verify_bad
t 1 "bad [0-9a-f]{2}/[0-9a-f]{30}\\.p: shorter than any entry" 'status 1' verify_bad
t 1 'bad [0-9a-f]{2}/odd\?\[2Jname: not the name of an entry' 'status 1' verify_bad
t 1 "$((n + 2)) entries, 3 damaged$" 'status 1' verify_bad
t 0 'damaged +2$' '' lazuli cache stat --path c # the flipped byte shows only when all of a file is read
cp saved "$entry"
rm "${entry%??}.p" "$(dirname "$entry")"/odd*
t 0 "^$n entries, 0 damaged$" '' lazuli cache verify --path c
rm "$entry"
t 0 "^$((n - 1)) entries, 0 damaged$" '' lazuli cache verify --path c
cp saved "$entry"
chmod 600 "$entry"

# a directory that is only read; root may write everywhere, so it tries as another user
as_user() { if [ "$(id -u)" -eq 0 ]; then setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; else "$@"; fi; }
if [ "$(id -u)" -ne 0 ] || as_user true 2>/dev/null; then
    cp -r c other
    mkdir -p other/00
    truncate -s 2M "other/00/$zeros.k" # so that gc has something to do
    [ "$(id -u)" -ne 0 ] || { chown -R 65534:65534 other; chmod 755 "$tmp"; }
    find other -type d -exec chmod 500 {} +
    if as_user "$tool" --version >/dev/null 2>&1; then
        t 0 'damaged +1$' '' as_user "$tool" cache stat --path "$tmp/other"
        for verb in 'gc --max-mb 1' clear; do
            # shellcheck disable=SC2086
            t 1 '' "lazuli: cache ${verb%% *}: cache: $((n + 1)) entries of $tmp/other cannot be removed: Permission denied" \
                as_user "$tool" cache $verb --path "$tmp/other"
        done
        t 0 '' '' test "$(find other -name '*.[pk]' | wc -l)" -eq $((n + 1))
    fi
    if [ "$(id -u)" -eq 0 ]; then
        chown 65533 other
        t 1 '' 'lazuli: cache: .*other (belongs to user 65533|cannot be opened)' as_user "$tool" cache verify --path "$tmp/other"
    fi
    find other -type d -exec chmod 700 {} +
fi

# gc and clear
t 0 '^removed 0 files, 0 bytes$' '' lazuli cache gc --path c
t 0 '^removed 0 files, 0 bytes$' '' lazuli cache gc --path c --max-mb 1
[ -d c/00 ] || mkdir -m 700 c/00
head -c 2000000 /dev/zero >"c/00/$zeros.k"
touch -d '2001-01-01' "c/00/$zeros.k"
t 0 '^removed 1 files, 2000000 bytes$' '' lazuli cache gc --path c --max-mb 1
touch -d '3 hours ago' c/tmp/1-0123456789abcdef-3
t 0 "^removed $n files$" '' lazuli cache clear --path c
t 0 '^00.txt; CACHEDIR.TAG; (lock; )?tmp$' '' ls c # what is not the cache's stays
t 0 '' '' ls c/tmp
t 0 '^0 entries, 0 damaged$' '' lazuli cache verify --path c
t 0 '^removed 0 files$' '' lazuli cache clear --path c
fill c
t 0 "^$n entries, 0 damaged$" '' lazuli cache verify --path c

# ---- where time goes ----
# names for perf, of the process's own file, of new kernels and of those found on disk
perf_map() {
    LAZULI_PERF=1 LAZULI_CACHE_DIR=$tmp/pc bash -c 'echo $$ >pid; exec "$0" run two.mlir --random 1' "$tool" >out.txt || return 1
    cat "/tmp/perf-$(cat pid).map"
    rm -f "/tmp/perf-$(cat pid).map"
}
t 0 '^[0-9a-f]+ [0-9a-f]+ lazuli:[0-9a-f]{8}:(add|multiply); [0-9a-f]+ [0-9a-f]+ lazuli:' '' perf_map
t 0 '^[0-9a-f]+ [0-9a-f]+ lazuli:[0-9a-f]{8}:(add|multiply); [0-9a-f]+ [0-9a-f]+ lazuli:' '' perf_map
profile() { LAZULI_PROFILE=prof.txt lazuli run two.mlir --random 1 >out.txt && cat prof.txt && rm prof.txt; }
t 0 '^program of 2 launches, run 1 times: [0-9.]+ ms a run, .*; step  .*; +0 +1 .* add; +1 +1 .* multiply$' '' profile
LAZULI_PROFILE=/dev/full t 0 '*' 'profile: /dev/full cannot be written' lazuli run two.mlir --random 1
# a whole program
program="$root/$BUILD/examples/mnist"
if [ -x "$program" ]; then
    few=(--fake_data --num_epochs 1 --fake_size 256)
    t 0 'By step; .* dot_general [0-9]+% examples/mnist.c:.*By operation; .*By scope; .*By line; .*Host: ' '' lazuli profile "$program" "${few[@]}"
    t 0 '"version":1,.*"steps":.; ."step":".*"host_ns":."WALK":' '' lazuli profile --json "$program" "${few[@]}"
    t 0 '*' '' lazuli profile --output report.txt "$program" "${few[@]}"
    t 0 'By operation' '' cat report.txt
fi
t 2 '' 'a program is needed' lazuli profile --json
t 127 '' './nowhere: No such file or directory' lazuli profile ./nowhere
t 3 '*' 'the program wrote no report' lazuli profile -- bash -c 'exit 3'
t 2 '' "unrecognized option '--frob'" lazuli profile --frob x
# a timeline: asked for, or by the variable; what cannot be written is said
timeline() { lazuli run two.mlir --random 1 "$@" >out.txt && grep -c '"cat":"kernel"' line.json && tail -1 line.json && rm line.json; }
t 0 '^2; .*"otherData":."producer":"lazuli","dropped_events":0,' '' timeline --trace line.json
LAZULI_TRACE=line.json t 0 '^2; .*"otherData":' '' timeline
t 1 '' 'lazuli: --trace: .*nowhere/x.json: cannot be written: No such file or directory' lazuli run two.mlir --random 1 --trace nowhere/x.json
t 1 '*' 'lazuli: --trace: /dev/full: cannot be written' lazuli run two.mlir --random 1 --trace /dev/full

# ---- lz-bench ----
bench=$root/$BUILD/bench/lz-bench
if [ -x "$bench" ]; then # (a part of the tests, not of what is installed)
    t 0 'gemm_256 .*train_mlp .*overhead .*first_step ' '' "$bench" --help
    t 2 '' "lz-bench: unknown workload 'frob'; the workloads are gemm_256.* train_mlp.* overhead.* first_step" "$bench" frob
    t 2 '' "unknown workload 'frob'" "$bench" overhead,frob # before anything runs
    t 2 '' "unrecognized option '--frob'" "$bench" --frob
    t 2 '' "lz-bench: --threads takes an integer from 1 to 1024, not '0'" "$bench" --threads 0 overhead
    t 2 '' "lz-bench: --threads takes an integer .*, not '1.5'" "$bench" --threads 1.5 overhead
    t 2 '' "lz-bench: --secs takes a number .*, not 'x'" "$bench" --secs x overhead
    t 0 '"workload":"first_step","median_ms":[0-9.]+,.*"first_run_llvm_compiles":[1-9]' '' "$bench" --secs 0 first_step
fi

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
