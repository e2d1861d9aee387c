#!/usr/bin/env bash
# shapes.sh - A05: tensors without elements, of rank 0, of one element and of a few through every public function that gives a
# tensor, with small numbers for its other arguments; A01: once more with operands that do not fit. The calls are generated from the
# headers, so a new function is tried as soon as it is declared. Each gives an error tensor that names the function and its caller's
# line, or a value that the compiler's plan (run by the loop executor) and the reference agree on; the last pass runs compiled code.
# shellcheck disable=SC2154  # root and tmp are those of prototypes.bash
set -u
# shellcheck source=test/prototypes.bash
. test/prototypes.bash
generate '
# What a parameter gets by its type, or its name: T and then U floats, N integers, B booleans; K the number of this round.
function value(p) {
    if (p ~ /\(\*/) return "NULL"
    if (p ~ /lz_site \*/) return "LZ_SITE"
    if (p ~ /lz_tensor \*const \*/) return "(lz_tensor *const[]){T, U}"
    if (p ~ /lz_tensor \*\*/) return "(lz_tensor *[4]){0}"
    if (p ~ /lz_tensor \*.*(idx|index|indices|labels|target|offsets|counts|start)$/) return "N"
    if (p ~ /lz_tensor \*.*(mask|cond|condition|pred)$/) return "B"
    if (p ~ /lz_tensor \*/) return seen++ ? "U" : "T"
    if (p ~ /\*\*/ || p ~ /\*const \*/) return "NULL"
    if (p ~ /_options \*/) return "NULL"
    if (p ~ /const char \*/) return "WORD"
    if (p ~ /lz_mesh \*/) return "NULL"
    if (p ~ /^lz_partition_spec /) return "LZ_SPEC(\"x\", NULL)"
    if (p ~ /^lz_placements /) return "LZ_PLACEMENTS(lz_shard(K))"
    if (p ~ /const int64_t \*/) return "(const int64_t[8]){K, K, K}"
    if (p ~ /const void \*data/) return "memory"
    if (p ~ /void \*data/) return "memory"
    if (p ~ /\*/) { gsub(/const |\*.*/, "", p); return p ~ /void|params|scaler|stablehlo|optim|ema|archive|checkpoint|DLM|layer|array/ ? "NULL" : "&(" p "){0}" }
    if (p ~ /^lz_shape /) return "S"
    if (p ~ /^lz_dims /) return "(lz_dims){1, {K}}"
    if (p ~ /^lz_dtype /) return "LZ_F32"
    if (p ~ /^double /) return "K + 0.5"
    return "K"
}
$1 ~ /^lz_tensor \*/ {
    name = $1; sub(/.*[ *]/, "", name)
    # those that are about handles, and memory whose content nobody promised
    if (name ~ /^lz_(retain|scope_end_keep|escape|empty_at|error_tensor_last)$/) next
    if (name ~ /_typed_at$/) next # what the macro without it calls: errors have the name of that
    n = split_parameters($2)
    args = ""; seen = 0
    for (i = 1; i <= n; i++) args = args (i > 1 ? ", " : "") value(param[i])
    printf "CALL(%s, %s(%s))\n", name, name, args
}' >"$tmp/calls.h"

cat >"$tmp/shapes.c" <<'C'
#include <lazuli/dlpack.h>
#include <lazuli/hlo.h>
#include <lazuli/lazuli.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Alignas(64) float memory[4096];
static lz_tensor *T, *U, *N, *B;
static bool misfit; /* all but T have a shape that does not go with it */
static lz_shape S;
static int K;
static const char *WORD;
#define CALL(name, call) static lz_tensor *call_##name(void) { return call; }
#include "calls.h"
#undef CALL
static const struct {
    const char *name;
    lz_tensor *(*fn)(void);
} calls[] = {
#define CALL(name, call) {#name, call_##name},
#include "calls.h"
};
enum { NCALLS = sizeof calls / sizeof *calls, MOST = 4096 };

typedef struct result {
    lz_status status;
    lz_shape shape;
    lz_dtype dtype;
    double v[MOST];
    int n;
    char why[300];
} result;

static void run(int i, const char *device, lz_dtype d, result *r)
{
    lz_set_device(device);
    lz_scope_begin();
    lz_manual_seed(7);
    static float some[64];
    for (int k = 0; k < 64; k++)
        some[k] = (float)(k * 7 % 11) - 4.25f;
    T = lz_to(lz_from_host(LZ_F32, S, some), d), U = T;
    lz_shape s = misfit ? LZ_SHAPE(4, 5) : S;
    if (misfit)
        U = lz_full(d, s, 1);
    N = lz_full(LZ_I64, s, 0), B = lz_full(LZ_BOOL, s, 1);
    lz_tensor *t = calls[i].fn();
    r->status = lz_status_of(t);
    r->n = 0;
    if (r->status == LZ_OK) {
        r->shape = lz_shape_of(t), r->dtype = lz_dtype_of(t);
        if (r->dtype == LZ_C64 || r->dtype == LZ_C128)
            t = lz_real(t);
        t = lz_to(t, LZ_F64);
        if (lz_numel(t) <= MOST) {
            r->n = (int)lz_numel(t);
            r->status = lz_to_host(t, r->v, sizeof r->v);
        } else {
            r->status = lz_sync(&t, 1, true);
        }
    }
    if (r->status != LZ_OK)
        snprintf(r->why, sizeof r->why, "%s", lz_last_error_text());
    lz_scope_end();
    lz_clear_error();
    (void)lz_mark_step(); /* the errors of this call are told, not those of the next */
    lz_clear_error();
}

/* FILE:LINE: lz_add: ... with the function that was called, not one that it is made of. A layer is named by what it does;
 * what has no call site gives NULL, which the next function tells. */
static bool named(const char *name, const char *why)
{
    char want[100];
    size_t n = strlen(name);
    if (strstr(name, "_layer_") || strcmp(name + n - 3, "_at") != 0)
        return true;
    snprintf(want, sizeof want, ": %.*s: ", (int)n - 3, name);
    return strstr(why, "calls.h:") && strstr(why, want);
}

static bool near(double a, double b)
{
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-4 * (1 + fabs(a));
}

/* Nothing says the sign of a singular vector, one of its columns: that of b's column which holds element i, from its largest element. What has
 * no columns, and what is positive, has sign 1. */
static double sign_of(const result *a, const result *b, int i)
{
    int m = a->shape.rank >= 2 ? (int)a->shape.dims[a->shape.rank - 1] : 0, rows = m ? (int)a->shape.dims[a->shape.rank - 2] : 0;
    if (m == 0)
        return 1;
    int first = i / (rows * m) * (rows * m) + i % m, most = first;
    for (int r = 0; r < rows; r++)
        if (fabs(a->v[first + r * m]) > fabs(a->v[most]))
            most = first + r * m;
    return near(a->v[most], b->v[most]) ? 1 : -1;
}

static const char *differ(const char *name, const result *a, const result *b)
{
    static char text[800];
    if (a->status != b->status) {
        snprintf(text, sizeof text, "%s and %s: %s%s", lz_status_name(a->status), lz_status_name(b->status),
                 a->status ? a->why : "", b->status ? b->why : "");
        return text;
    }
    if (a->status == LZ_EINTERNAL || a->status == LZ_EMEM || a->status == LZ_EDEVMEM || a->status == LZ_ECOMPILE)
        return a->why;
    if (a->status != LZ_OK)
        return named(name, a->why) && named(name, b->why) ? NULL : a->why;
    if (a->dtype != b->dtype || a->shape.rank != b->shape.rank || memcmp(a->shape.dims, b->shape.dims, sizeof *a->shape.dims * (size_t)a->shape.rank) != 0)
        return "another type";
    bool svd = strstr(name, "svd") != NULL;
    for (int i = 0; i < a->n; i++)
        if (!near(a->v[i], svd ? sign_of(a, b, i) * b->v[i] : b->v[i])) {
            snprintf(text, sizeof text, "element %d is %.9g and %.9g", i, a->v[i], b->v[i]);
            return text;
        }
    return NULL;
}

int main(int argc, char **argv)
{
    static const lz_shape shapes[] = {{0, {0}}, {1, {0}}, {1, {1}}, {2, {0, 3}}, {2, {3, 0}}, {3, {2, 0, 3}}, {2, {1, 1}}, {4, {0, 1, 2, 2}}, {2, {2, 3}}, {2, {3, 3}}};
    static const int numbers[] = {0, 1, -1, 2};
    static const char *const words[] = {"add", "sum", "mean", NULL};
    static result a, b;
    bool few = argc > 1 && strcmp(argv[1], "few") == 0;
    misfit = argc > 1 && strcmp(argv[1], "misfit") == 0;
    int tried = 0, bad = 0, good = 0;
    for (int i = 0; i < NCALLS; i++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (int k = 0; k < 4; k++) {
                if (few && (k != 0 || (s != 0 && s != 3)))
                    continue;
                S = shapes[s], K = numbers[k], WORD = words[k];
                printf("%s of shape %zu with %d\n", calls[i].name, s, K); /* the last line tells where it ended */
                fflush(stdout);
                run(i, "REF:0", k == 3 ? LZ_I32 : LZ_F32, &a);
                run(i, "CPU:0", k == 3 ? LZ_I32 : LZ_F32, &b);
                const char *why = differ(calls[i].name, &a, &b);
                tried++;
                good += a.status == LZ_OK;
                if (why)
                    printf("BAD: %s of shape %zu with %d: %s\n", calls[i].name, s, K, why), bad++;
            }
    printf("%d of %d calls gave a value\n%d passed, %d failed\n", good, tried, tried - bad, bad);
    return bad != 0;
}
C
build shapes 250 -O1 -lm
mkdir "$tmp/work" && cd "$tmp/work" || exit 1
passed=0 failed=0
pass() {
    env LAZULI_CACHE=0 "$@" >"$tmp/log" 2>&1
    rc=$?
    [ $rc -eq 0 ] || { grep BAD "$tmp/log" | head -30; tail -4 "$tmp/log"; echo "exit status $rc"; }
    read -r p _ f _ <<<"$(tail -1 "$tmp/log")"
    [[ $p =~ ^[0-9]+$ && $f =~ ^[0-9]+$ ]] || p=0 f=1
    passed=$((passed + p)) failed=$((failed + f))
}
pass LAZULI_EXEC=loop "$tmp/shapes"
pass LAZULI_EXEC=loop "$tmp/shapes" misfit
[ -n "${LZ_TEST_QUICK:-}" ] || pass "$tmp/shapes" few
cd "$root" || exit 1
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
