#!/usr/bin/env bash
# packs.sh - a deployment: a program's compiled graphs are exported where it was built (lazuli cache export), imported where it runs, and
# found there: nothing is compiled, not even the kernels of a branch. Packs that are for another machine, build or key are refused
# with the reason, and leave nothing behind. The imported cache serves others as a system cache, too.
# shellcheck disable=SC2154  # tmp is that of steps.bash
set -u
# shellcheck source=test/steps.bash
. test/steps.bash
lib=$(realpath "$BUILD")
tool=$lib/lazuli
san=$(grep -o -- '-fsanitize=[a-z,]*' "$BUILD/flags" | tr '\n' ' ')
export PJRT_DEVICE=CPU LAZULI_NUM_THREADS=2
cat >"$tmp/app.c" <<'C'
#include <lazuli/lazuli.h>
#include <stdio.h>
static void twice(lz_tensor *const *in, lz_tensor **out, void *user) { (void)user; out[0] = lz_matmul(in[0], in[0]); }
static void none(lz_tensor *const *in, lz_tensor **out, void *user) { (void)user; out[0] = lz_neg(in[0]); }
int main(int argc, char **argv)
{
    lz_cache_counts n = {.struct_size = sizeof n};
    lz_tensor *a = lz_arange(LZ_F32, 0, 400, 1), *y = NULL;
    a = lz_reshape(lz_sin(a), LZ_SHAPE(20, 20));
    printf("%.6g ", lz_item(lz_sum(lz_softmax(lz_matmul(a, a), 1))));
    if (argc > 1 && argv[1][0] == 'b' &&
        lz_cond(lz_gt(lz_sum(a), lz_scalar(LZ_F32, -1e6)), twice, none, (lz_tensor *[]){a}, 1, 1, NULL, &y) == LZ_OK)
        printf("%.6g ", lz_item(lz_sum(y)));
    lz_get_cache_counts(&n);
    printf("compiled %d, programs %d of %d, kernels %d, system %d, refused %d\n", (int)n.llvm_compiles, (int)n.program_hits,
           (int)(n.program_hits + n.program_misses), (int)n.kernel_hits, (int)n.system_hits, (int)n.mac_refused);
    return lz_last_error(NULL) == LZ_OK ? 0 : 1;
}
C
# shellcheck disable=SC2086  # CC and san may be several words
$CC -std=gnu11 $san -Iinclude "$tmp/app.c" -L"$lib" -llazuli -Wl,-rpath,"$lib" -o "$tmp/app" || exit 1
t() { # STATUS, pattern of the output, command...
    local want=$1 pattern=$2 got rc
    shift 2
    got=$("$@" 2>&1)
    rc=$?
    if [ "$rc" = "$want" ] && [[ $got =~ $pattern ]]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAIL %s\n  status %s, not %s; %s\n  not: %s\n' "$*" "$rc" "$want" "$got" "$pattern"
    fi
}
app() { XLA_PERSISTENT_CACHE_PATH=$tmp/$1 "$tmp/app" b; }
cold=$(app build)
numbers=${cold%% compiled*}
warm="^$numbers compiled 0, programs ([0-9]+) of [0-9]+, kernels [1-9][0-9]*"

# everything
t 0 '^exported [0-9]+ entries, [0-9]+ bytes$' "$tool" cache export --path "$tmp/build" -o "$tmp/all.lzpack"
t 0 '^imported [1-9][0-9]* programs and [1-9][0-9]* kernels; 0 were there$' "$tool" cache import --path "$tmp/run" "$tmp/all.lzpack"
t 0 "$warm, system 0" app run
t 0 '^imported 0 programs and 0 kernels; [1-9][0-9]* were there$' "$tool" cache import --path "$tmp/run" "$tmp/all.lzpack"
t 0 '^exported' "$tool" cache export --path "$tmp/run" -o "$tmp/again.lzpack"
t 0 '^$' cmp "$tmp/all.lzpack" "$tmp/again.lzpack" # the same bytes, in whatever order the folder has them
t 0 ', 0 damaged$' "$tool" cache verify --path "$tmp/run"

# program by program: all of them have all the kernels that they need, those of a branch too
programs=$("$tool" cache ls --path "$tmp/build" | awk '$1 == "program" { print $NF }')
# shellcheck disable=SC2086  # a list
t 0 '^exported [0-9]+ entries' "$tool" cache export --path "$tmp/build" -o "$tmp/some.lzpack" $programs
t 0 '^imported' "$tool" cache import --path "$tmp/some" "$tmp/some.lzpack"
t 0 "$warm" app some
one=$(printf '%s' "$programs" | head -1 | tr -d /)
t 0 '^exported [0-9]+ entries' "$tool" cache export --path "$tmp/build" -o "$tmp/one.lzpack" "${one:0:12}"
t 0 '^imported 1 programs' "$tool" cache import --path "$tmp/one" "$tmp/one.lzpack"
# by the graph's hash, as messages have it
hash=$(PT_XLA_DEBUG=1 XLA_PERSISTENT_CACHE_PATH=$tmp/build "$tmp/app" 2>&1 | sed -n 's/.*Graph Hash: *//p' | head -1)
t 0 '^exported [0-9]+ entries' "$tool" cache export --path "$tmp/build" -o "$tmp/hash.lzpack" "$hash"

t 0 '^exported 1 entries' env LAZULI_CACHE_CODE=off "$tool" cache export --path "$tmp/build" -o "$tmp/plan.lzpack" "$hash"
t 0 '^imported 1 programs and 0 kernels' "$tool" cache import --path "$tmp/plan" "$tmp/plan.lzpack"
t 0 '^.* compiled [1-9][0-9]*, programs 1 of ' app plan

# a cache of the system
chmod -R a+rX "$tmp/run"
t 0 "^$numbers compiled 0, programs ([0-9]+) of [0-9]+, kernels [0-9]+, system [1-9]" env LAZULI_SYSTEM_CACHE="$tmp/run" XLA_PERSISTENT_CACHE_PATH="$tmp/own" "$tmp/app" b
t 0 '^path.*programs +0 ' "$tool" cache stat --path "$tmp/own"

# refused, with the reason
t 1 "is for another machine: for 'threads 2', and this machine is 'threads 3'" env LAZULI_NUM_THREADS=3 "$tool" cache import --path "$tmp/no" "$tmp/all.lzpack"
[ "$(uname -m)" = x86_64 ] && t 1 "is for another machine: (for|it needs) " env LAZULI_CPU=x86-64-v2 "$tool" cache import --path "$tmp/no" "$tmp/all.lzpack"
sed 's/lazuli-\([0-9]\)/lazuli_\1/' "$tmp/all.lzpack" >"$tmp/changed.lzpack"
t 1 'the pack is not used: its checksum does not match' "$tool" cache import --path "$tmp/no" "$tmp/changed.lzpack"
head -c 1000 "$tmp/all.lzpack" >"$tmp/short.lzpack"
t 1 'it is shorter or longer than it says' "$tool" cache import --path "$tmp/no" "$tmp/short.lzpack"
t 1 'it is not a pack' "$tool" cache import --path "$tmp/no" "$tmp/app.c"
t 1 'No such file' "$tool" cache import --path "$tmp/no" "$tmp/none.lzpack"
t 1 'no program of this build has the hash 0123456789' "$tool" cache export --path "$tmp/build" -o "$tmp/x.lzpack" 0123456789
t 1 'there is no directory' "$tool" cache export --path "$tmp/none" -o "$tmp/x.lzpack"
t 2 'export needs -o FILE' "$tool" cache export --path "$tmp/build"
t 2 'is not the hash of a program' "$tool" cache export --path "$tmp/build" -o "$tmp/x.lzpack" xyz
t 2 'import takes one FILE' "$tool" cache import --path "$tmp/build"
t 2 '-o belongs to export' "$tool" cache import --path "$tmp/build" -o x y
t 0 'programs +0 ' "$tool" cache stat --path "$tmp/no"
t 1 '' test -e "$tmp/x.lzpack"

# with keys
head -c 40 /dev/urandom >"$tmp/key" && chmod 600 "$tmp/key"
head -c 40 /dev/urandom >"$tmp/other" && chmod 600 "$tmp/other"
signed() { LAZULI_CACHE_KEY_FILE=$tmp/$1 "${@:2}"; }
t 0 '^' signed key app signed
t 0 '^exported' signed key "$tool" cache export --path "$tmp/signed" -o "$tmp/signed.lzpack"
t 0 '^imported' signed key "$tool" cache import --path "$tmp/signed_run" "$tmp/signed.lzpack"
t 0 "$warm.*refused 0$" signed key app signed_run
t 1 'the pack has no MAC' signed key "$tool" cache import --path "$tmp/no" "$tmp/all.lzpack"
t 1 'the pack has the MAC of another key' signed other "$tool" cache import --path "$tmp/no" "$tmp/signed.lzpack"
t 1 'the cache has nothing of this build' signed other "$tool" cache export --path "$tmp/signed" -o "$tmp/x.lzpack"
chmod 640 "$tmp/key"
t 1 'is open to others' signed key "$tool" cache import --path "$tmp/no" "$tmp/signed.lzpack"
total
