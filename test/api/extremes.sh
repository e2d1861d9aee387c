#!/usr/bin/env bash
# extremes.sh - A04: extreme numbers for every number that a public function takes, one at a time: parameters, extents and ranks of
# shapes, lists of dimensions, dtypes and other enumerations, and every field of every struct of options. The calls are generated from
# the headers, so a new function, and a new field, is tried as soon as it is declared. Each must come back; a result that is small is
# computed. Under the sanitizers (MODE=asan) nothing overflows and nothing is read behind its end.
# Numbers that say how much memory the caller gives are only made smaller: more than there is would be the caller's lie.
# shellcheck disable=SC2154  # root, tmp, shared and extreme are those of prototypes.bash and numbers.bash
set -u
# shellcheck source=test/prototypes.bash
. test/prototypes.bash
# shellcheck source=test/numbers.bash
. test/numbers.bash

generate "$shared$value$extreme"'
{
    name = $1; sub(/.*[ *]/, "", name)
    # The first two lend or borrow the memory that the numbers say; the others change what the next call is tried with.
    if (name ~ /^lz_(from_borrowed.*|from_host.*|set_log_callback|set_allocator|scope_.*|release|.*_free|.*_default|trace_.*)$/) next
    kind = $1 ~ /lz_tensor \*/ ? "TENSOR" : $1 ~ /^void / ? "VOID" : "OTHER"
    n = split_parameters($2)
    args = ""; lists = 0; memory = $2 ~ /void \*/
    for (i = 1; i <= n; i++) args = args (i > 1 ? ", " : "") (param[i] == "void" ? "" : extreme(param[i]))
    if (args !~ /NUMBER|LESS|REAL|list\(|reals\(|shape\(|dims\(|new_|managed/) next
    printf "%s(%s, %s(%s))\n", kind, name, name, args
}' >"$tmp/calls.h"

cat >"$tmp/extremes.c" <<'C'
#include "test/api/values.h"
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

static lz_shape S;
static lz_tensor *T, *N, *B;
static const char *WORD;
static lz_loader *loader;
static lz_archive *archive;
static lz_checkpoint_manager *manager;
static lz_shape shape(void)
{
    lz_shape s = S;
    s.rank = NUMBER(int32_t, s.rank);
    for (int i = 0; i < 3; i++)
        s.dims[i] = NUMBER(int64_t, s.dims[i]);
    return s;
}
#define OUTS ((lz_tensor *[8]){0})
#define ARRAYS_OUT ((lz_array[8]){{0}})
#include "test/api/numbers.h"

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
    if (lz_to_host(lz_to(result, LZ_F64), out, sizeof *out * (size_t)n) != LZ_OK)
        return;
}

static int looked_at; /* calls that were not refused for a NULL */

static void try(int i, int s, bool whole)
{
    S = shapes[s], WORD = words[s % 4];
    lz_scope_begin();
    T = lz_full(LZ_F32, S, 0.5), N = lz_full(LZ_I64, S, 0), B = lz_full(LZ_BOOL, S, 1);
    make_values(T);
    lz_clear_error();
    slot = 0, result = NULL;
    calls[i].fn();
    looked_at += lz_last_error(NULL) != LZ_ENULL;
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
    lz_function_free(function), lz_stablehlo_free(program); /* new ones are of this shape */
    function = NULL, program = NULL;
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
    T = lz_zeros(LZ_F32, LZ_SHAPE(2));
    loader = lz_loader_new(&dataset, .batch_size = 2);
    if (lz_save_safetensors("archive", (const char *const[]){"t"}, &T, 1, NULL, 0) != LZ_OK || !(archive = lz_safetensors_open("archive")) || !loader || !(manager = lz_checkpoint_manager_new("steps", .save_interval = 1)))
        exit(1);
    for (int w = 0; w < 4; w++)
        (void)lz_ffi_register(words[w], handler, NULL);
    for (int s = 0; s < nshape; s++)
        if (whole || (s + i + seed) % nshape < 2)
            tried += try_all(i, s, seed);
    if (lz_item(lz_sum(lz_full(LZ_F32, LZ_SHAPE(4), 2))) != 8) /* and the library goes on */
        exit(1);
    if (!looked_at) { /* the numbers */
        printf("every call of %s is refused for a NULL\n", calls[i].name);
        exit(1);
    }
    printf("%s: %d tries, %d refused for a NULL\n", calls[i].name, tried, tried - looked_at > 0 ? tried - looked_at : 0);
    fflush(stdout);
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
    return bad != 0 || all == 0; /* no function of that name */
}
C
build extremes 400 -lm -Wno-unused-function
mkdir "$tmp/work" && cd "$tmp/work" || exit 1
ASAN_OPTIONS=${ASAN_OPTIONS:-allocator_may_return_null=1}:detect_leaks=0:max_allocation_size_mb=2048 UBSAN_OPTIONS=print_stacktrace=1 PJRT_DEVICE=REF LAZULI_CACHE=0 LAZULI_LOG=error \
    timeout -k 5 "${TEST_CPU:-900}" "$tmp/extremes" "$@" >"$tmp/log" 2>&1
rc=$?
[ $rc -eq 0 ] || { grep -B 40 '^BAD' "$tmp/log" | grep -E '^(lz_.*extreme|every|BAD|.*runtime error|.*ERROR|  *#[0-9])' | tail -60; echo "exit status $rc"; }
tail -1 "$tmp/log"
cd "$root" || exit 1
exit $rc
