#!/usr/bin/env bash
# extremes.sh - A04: extreme numbers for every number that a public function takes, one at a time: parameters, extents and ranks of
# shapes, lists of dimensions, dtypes and other enumerations, and every field of every struct of options. The calls are generated from
# the headers, so a new function, and a new field, is tried as soon as it is declared. Each must come back; a result that is small is
# computed. Under the sanitizers (MODE=asan) nothing overflows and nothing is read behind its end.
# Numbers that say how much memory the caller gives are only made smaller: more than there is would be the caller's lie.
# shellcheck disable=SC2154  # root and tmp are those of prototypes.bash
set -u
# shellcheck source=test/prototypes.bash
. test/prototypes.bash
export tmp

# The structs whose fields may be set: one a line, name<TAB>fields; and the enumerations.
for h in include/lazuli/*.h; do echo "#include <lazuli/${h##*/}>"; done | $CC -E -P -Iinclude -xc - | tr '\n' ' ' >"$tmp/headers"
grep -oE 'typedef struct lz_[a-z0-9_]+ \{[^}]*\} lz_[a-z0-9_]+' "$tmp/headers" |
    sed -E 's/^typedef struct (lz_[a-z0-9_]+) \{(.*)\}.*/\1\t\2/' | grep -vE '^lz_(site|ffi_|error_info|params|memory|allocator|metric)' >"$tmp/structs"
grep -oE 'typedef enum lz_[a-z0-9_]+ \{[^}]*\} lz_[a-z0-9_]+' "$tmp/headers" | sed -E 's/.*\} //' >"$tmp/enums"

shared='
function usual(name) { return name ~ /size|stride|dilation|groups|kernel|batch|n_fft|input|hidden|dim$|heads|workers|shards|layers|vocab|features|channels|width|height|rows|cols/ ? 1 : 0 }
# A number of type t; n is its name.
function number(t, n, small) {
    if (small) return "LESS(" t ", 1)"
    if (t ~ /^(_Bool|bool)$/) return "FLAG()"
    if (t in enums) return "NUMBER(" t ", 0)"
    if (t == "double" || t == "float") return "REAL(0.5)"
    if (t == "lz_dtype") return "NUMBER(lz_dtype, LZ_F32)"
    return "NUMBER(" t ", " usual(n) ")"
}
BEGIN {
    while ((getline line <(ENVIRON["tmp"] "/enums")) > 0) enums[line] = 1
    while ((getline line <(ENVIRON["tmp"] "/structs")) > 0) { split(line, part, "\t"); structs[part[1]] = part[2] }
}'

# fill_STRUCT(s): the fields of a struct, as slots.
awk -F'\t' "$shared"'
{
    printf "static void fill_%s(%s *s)\n{\n    (void)s;\n", $1, $1
    m = split($2, field, ";")
    for (i = 1; i <= m; i++) {
        f = field[i]; gsub(/^ +| +$/, "", f); gsub(/ +/, " ", f)
        if (f == "" || f ~ /\*|struct_size|\(/) continue
        type = f; sub(/ .*/, "", type); sub(/^[^ ]+ /, "", f)
        k = split(f, names, /, */)
        for (j = 1; j <= k; j++) {
            count = names[j] ~ /\[/ ? names[j] : ""; name = names[j]; sub(/\[.*/, "", name)
            gsub(/.*\[|\]/, "", count)
            if (name == "capacity" || name == "length" && $1 == "lz_kv_cache") continue
            if (count != "") printf "    for (int i = 0; i < (int)(%s); i++)\n", "SOME(" count ")"
            at = "s->" name (count != "" ? "[i]" : "")
            indent = count != "" ? "        " : "    "
            if (type in structs) printf "%sfill_%s(&%s);\n", indent, type, at
            else printf "%s%s = %s;\n", indent, at, number(type, name)
        }
    }
    print "}"
    printf "__attribute__((unused)) static %s *new_%s(void)\n{\n    static %s s;\n    memset(&s, 0, sizeof s);\n", $1, $1, $1
    if ($2 ~ /struct_size/) print "    s.struct_size = sizeof s;"
    printf "    fill_%s(&s);\n    return &s;\n}\n", $1
}' "$tmp/structs" >"$tmp/fill.h"

generate "$shared"'
# What a parameter gets by its type and name; `lists` says that a list came before it.
function value(p,    type, name) {
    type = p; sub(/[ *]*[a-z_A-Z0-9]*$/, "", type); sub(/^const /, "", type)
    name = p; sub(/.*[ *]/, "", name)
    if (p ~ /\(\*/) return "NULL"
    if (p ~ /lz_[a-z_]+_fn \*/ || p ~ /handler \*/) return "NULL"
    if (p ~ /lz_site \*/) return "LZ_SITE"
    if (p ~ /lz_tensor \*const \*/) { lists = 1; return "(lz_tensor *const[]){T, T}" }
    if (p ~ /lz_tensor \*\*/) { lists = 1; return "(lz_tensor *[8]){0}" }
    if (p ~ /lz_tensor \*.*(idx|index|indices|labels|target|offsets|counts|start)$/) return "N"
    if (p ~ /lz_tensor \*.*(mask|cond|condition|pred)$/) return "B"
    if (p ~ /lz_tensor \*/) return "T"
    if (p ~ /lz_params \*/) return "&params"
    if (p ~ /lz_function \*[a-z]/) return "NULL"
    if (p ~ /lz_optim \*/) return "lz_sgd(&params, .lr = 1)"
    if (p ~ /lz_grad_scaler \*/) return "lz_grad_scaler_new(.init_scale = 2)"
    if (p ~ /lz_stablehlo \*|lz_function \*/) return "NULL"
    if (p ~ /lz_loader \*|lz_archive \*|DLManaged/) return "NULL"
    if (p ~ /lz_ema \*/) return "lz_ema_new(&params, 0.5)"
    if (p ~ /\*\*|\*const \*/) { lists = 1; return "NULL" }
    if (p ~ /const char \*/) { lists = 1; return "WORD" }
    if (p ~ /lz_array \*/) { lists = 1; return "&(lz_array){0}" }
    if (p ~ /char \*/) { lists = 1; return "text" }
    if (p ~ /int64_t \*/) { lists = 1; return "list()" }
    if (p ~ /double \*/) { lists = 1; return "reals()" }
    if (p ~ /int \*/) { lists = 1; return "(int[8]){0}" }
    if (p ~ /void \*/) { lists = 1; return "memory" }
    if (p ~ /\*/) return type in structs ? "new_" type "()" : "NULL"
    if (p ~ /^lz_shape /) return lists && memory ? "LZ_SHAPE(2, 2)" : "shape()"
    if (p ~ /^lz_dims /) return "dims()"
    return number(type, name, lists && name ~ /^(n|len|count|size|capacity|rank|nbytes|cap|n[a-z]+|[a-z]+_size|struct_size)$/)
}
{
    name = $1; sub(/.*[ *]/, "", name)
    # The first two lend or borrow the memory that the numbers say; the others change what the next call is tried with.
    if (name ~ /^lz_(from_borrowed.*|from_host.*|set_log_callback|set_allocator|scope_.*|release|.*_free|.*_default|loader_new.*|wrap.*|trace_.*|profiler.*)$/ && name !~ /^lz_from_zeros/) next
    kind = $1 ~ /lz_tensor \*/ ? "TENSOR" : $1 ~ /^void / ? "VOID" : "OTHER"
    n = split_parameters($2)
    args = ""; lists = 0; memory = $2 ~ /void \*/
    for (i = 1; i <= n; i++) args = args (i > 1 ? ", " : "") (param[i] == "void" ? "" : value(param[i]))
    if (args !~ /NUMBER|LESS|REAL|list\(|reals\(|shape\(|dims\(|new_/) next
    printf "%s(%s, %s(%s))\n", kind, name, name, args
}' >"$tmp/calls.h"

cat >"$tmp/extremes.c" <<'C'
#include <lazuli/dlpack.h>
#include <lazuli/ffi.h>
#include <lazuli/hlo.h>
#include <lazuli/lazuli.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* A call takes its numbers from slots, which are counted; the slot `target` gives extreme number `which`, the others usual ones. */
static int slot, target, which;
static uint64_t draw; /* target -2: each slot is extreme with one chance in three */
static const int64_t wild[] = {-1, 0, INT32_MAX, INT32_MIN, (int64_t)1 << 31, (int64_t)1 << 62, INT64_MAX, INT64_MIN, INT64_MAX - 1, (int64_t)1 << 32, 9, -2};
static const double wild_real[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300, 0, -1, 5e-324, 1e19, -0.0, 9.3e18, 4.3e9};
enum { WILD = sizeof wild / sizeof *wild };
_Static_assert(sizeof wild_real / sizeof *wild_real == WILD, "as many");

static bool extreme(void)
{
    if (slot++ == target)
        return true;
    if (target != -2)
        return false;
    draw = draw * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    which = (int)(draw >> 40) % WILD;
    return (draw >> 33) % 3 == 0;
}
/* In a type of so many bytes: what is out of its range becomes the end of it. */
static int64_t number(int64_t usual, size_t nbytes, bool has_sign)
{
    if (!extreme())
        return usual;
    int64_t v = wild[which];
    if (nbytes == 8)
        return v;
    int64_t lo = has_sign ? -((int64_t)1 << (8 * nbytes - 1)) : 0, hi = has_sign ? -lo - 1 : ((int64_t)1 << (8 * nbytes)) - 1;
    return v < lo ? lo : v > hi ? hi : v;
}
static int64_t less(int64_t usual, bool has_sign)
{
    return !extreme() ? usual : has_sign ? (which % 3 == 0 ? -1 : which % 3 == 1 ? INT32_MIN : 0) : 0;
}
static double real(double usual)
{
    return !extreme() ? usual : wild_real[which];
}
#define NUMBER(type, usual) (type) number(usual, sizeof(type), (type)-1 < (type)1)
#define LESS(type, usual) (type) less(usual, (type)-1 < (type)1)
#define REAL(usual) real(usual)

static bool flag(void)
{
    bool v = extreme();
    return v && which % 2 == 0;
}
#define FLAG() flag()
#define SOME(n) ((n) < 3 ? (n) : 3)

static lz_shape S;
static lz_tensor *T, *N, *B;
static const char *WORD;
static char text[64];
static _Alignas(64) float memory[256];
static lz_params params;

static lz_shape shape(void)
{
    lz_shape s = S;
    s.rank = NUMBER(int32_t, s.rank);
    for (int i = 0; i < 3; i++)
        s.dims[i] = NUMBER(int64_t, s.dims[i]);
    return s;
}
static lz_dims dims(void)
{
    lz_dims d = {1, {0}};
    d.n = NUMBER(int, 1);
    for (int i = 0; i < 2; i++)
        d.v[i] = NUMBER(int64_t, i);
    return d;
}
static int64_t *list(void)
{
    static int64_t v[4][8];
    static int used;
    int64_t *l = v[used++ % 4];
    for (int i = 0; i < 8; i++)
        l[i] = i < 3 ? NUMBER(int64_t, 1) : 1;
    return l;
}
static double *reals(void)
{
    static double v[8];
    for (int i = 0; i < 8; i++)
        v[i] = i < 2 ? REAL(1) : 1;
    return v;
}
#include "fill.h"

/* The result of a call, where there is one; small ones are computed. */
static lz_tensor *result;
#define TENSOR(name, call) static void call_##name(void) { result = call; }
#define OTHER(name, call) static void call_##name(void) { (void)(call); }
#define VOID(name, call) static void call_##name(void) { call; }
#include "calls.h"
#undef TENSOR
#undef OTHER
#undef VOID
static const struct {
    const char *name;
    void (*fn)(void);
} calls[] = {
#define TENSOR(name, call) {#name, call_##name},
#define OTHER TENSOR
#define VOID TENSOR
#include "calls.h"
};
enum { NCALLS = sizeof calls / sizeof *calls, MOST = 64 };
static const lz_shape shapes[] = {{2, {2, 3}}, {3, {1, 2, 3}}, {4, {1, 1, 4, 4}}, {5, {1, 1, 3, 3, 3}}, {3, {3, 0, 2}}};
static const char *const words[] = {"add", "sum", "mean", "none"};

static void compute(void)
{
    double out[MOST];
    int64_t n;
    if (lz_status_of(result) != LZ_OK || (n = lz_numel(result)) > MOST)
        return;
    (void)lz_to_host(lz_to(result, LZ_F64), out, sizeof *out * (size_t)n);
}

static void try(int i, int s, bool whole)
{
    S = shapes[s], WORD = words[s % 4];
    lz_scope_begin();
    T = lz_full(LZ_F32, S, 0.5), N = lz_full(LZ_I64, S, 0), B = lz_full(LZ_BOOL, S, 1);
    memset(&params, 0, sizeof params);
    (void)lz_params_add(&params, "p", T);
    slot = 0, result = NULL;
    calls[i].fn();
    if (result && whole)
        compute();
    lz_params_free(&params);
    while (lz_scope_end() == LZ_OK)
        ;
    lz_clear_error();
}

/* Every slot of call i with every extreme, then some with several; gives the number of tries. */
static int try_all(int i, int s, int seed)
{
    int tried = 0, nslot, several = getenv("LZ_TEST_WHOLE") ? 1000 : 60;
    target = -1;
    try(i, s, true);
    nslot = slot;
    for (target = 0; target < nslot; target++)
        for (which = 0; which < WILD; which++, tried++) {
            printf("%s, shape %d, number %d, extreme %d\n", calls[i].name, s, target, which); /* the last line tells where it ended */
            fflush(stdout);
            try(i, s, (tried + i + seed) % 4 == 0);
        }
    target = -2;
    for (int k = 0; k < several && nslot > 1; k++, tried++) {
        draw = (uint64_t)(seed * NCALLS + i) * 10000 + (uint64_t)(s * 1000 + k);
        printf("%s, shape %d, several extremes %d\n", calls[i].name, s, k);
        fflush(stdout);
        try(i, s, false); /* a window of billions is no mistake, but takes its time */
    }
    (void)lz_mark_step(); /* errors of these calls are told, not those of the next */
    lz_clear_error();
    return tried;
}

/* One function, in a process of its own: its tries go to a pipe. */
static void child(int i, int seed, bool whole, int to)
{
    struct rlimit cpu = {60, 60}, memory_limit = {(rlim_t)8 << 30, (rlim_t)8 << 30};
    (void)memory_limit;
    int tried = 0, nshape = sizeof shapes / sizeof *shapes;
    setrlimit(RLIMIT_CPU, &cpu);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    setrlimit(RLIMIT_AS, &memory_limit); /* what is asked for is not all there */
#endif
    for (int s = 0; s < nshape; s++)
        if (whole || (s + i + seed) % nshape < 2)
            tried += try_all(i, s, seed);
    if (lz_item(lz_sum(lz_full(LZ_F32, LZ_SHAPE(4), 2))) != 8) /* and the library goes on */
        exit(1);
    _exit(write(to, &tried, sizeof tried) == sizeof tried ? 0 : 1);
}

int main(int argc, char **argv)
{
    const char *turn = getenv("LZ_TEST_SEED"), *only = argc > 1 ? argv[1] : NULL;
    int seed = turn ? (int)(strtoul(turn, NULL, 10) % 1000) : 0, all = 0, bad = 0, to[2];
    if (pipe(to) != 0)
        return 2;
    for (int i = 0; i < NCALLS; i++) {
        int status = 0, tried = 0;
        if (only && strcmp(only, calls[i].name) != 0)
            continue;
        fflush(stdout);
        pid_t p = fork();
        if (p == 0)
            child(i, seed, getenv("LZ_TEST_WHOLE") != NULL, to[1]);
        if (p < 0 || waitpid(p, &status, 0) != p || status != 0 || read(to[0], &tried, sizeof tried) != sizeof tried)
            printf("BAD: %s: status %d\n", calls[i].name, status), bad++;
        all += tried;
    }
    printf("%d passed, %d failed\n", all, bad);
    return bad != 0;
}
C
build extremes 400 -lm
mkdir "$tmp/work" && cd "$tmp/work" || exit 1
ASAN_OPTIONS=${ASAN_OPTIONS:-allocator_may_return_null=1}:detect_leaks=0:max_allocation_size_mb=2048 UBSAN_OPTIONS=print_stacktrace=1 PJRT_DEVICE=REF LAZULI_CACHE=0 LAZULI_LOG=error \
    timeout -k 5 "${TEST_CPU:-900}" "$tmp/extremes" "$@" >"$tmp/log" 2>&1
rc=$?
[ $rc -eq 0 ] || { grep -B 40 '^BAD' "$tmp/log" | grep -E '^(lz_.*extreme|BAD|.*runtime error|.*ERROR|  *#[0-9])' | tail -60; echo "exit status $rc"; }
tail -1 "$tmp/log"
cd "$root" || exit 1
exit $rc
