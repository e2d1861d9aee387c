#!/usr/bin/env bash
# null.sh - A03: NULL for every pointer parameter of every public function, one at a time. The calls are generated from the
# headers, so a new function is tried as soon as it is declared. Each must come back; one that gives a tensor must give an
# error tensor, or a good one where NULL is allowed.
# shellcheck disable=SC2154  # root and tmp are those of prototypes.bash
set -u
# shellcheck source=test/prototypes.bash
. test/prototypes.bash

generate '
# What a parameter that is not under test gets, by its type.
function value(p) {
    if (p ~ /\(\*release\)/) return "release_nothing"
    if (p ~ /\(\*want\)/) return "want_all"
    if (p ~ /\(\*fn\)/) return "log_nothing"
    if (p ~ /^lz_function \*[a-z]/) return "function"
    if (p ~ /lz_body_fn \*const \*/) return "(lz_body_fn *const[]){body_same}"
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
    if (p ~ /lz_loader \*/) return "lz_loader_new(&(lz_dataset){.struct_size = sizeof(lz_dataset)})"
    if (p ~ /lz_ema \*/) return "lz_ema_new(&params, 0.5)"
    if (p ~ /lz_archive \*/) return "lz_npz_open(\"none\")"
    if (p ~ /const char \*const \*/) return "(const char *const[]){\"a\", \"b\"}"
    if (p ~ /\*\*/) { sub(/\*[^*]*$/, "", p); return "(" p "[1]){0}" }
    if (p ~ /_options \*|lz_cache_counts \*|lz_allocator \*|lz_checkpoint \*/) { gsub(/const |\*.*/, "", p); return "&(" p "){.struct_size = sizeof(" p ")}" }
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
{
    name = $1; sub(/.*[ *]/, "", name)
    kind = $1 ~ /lz_tensor \*/ ? "TENSOR" : $1 ~ /^void / ? "VOID" : "OTHER"
    n = split_parameters($2)
    for (k = 1; k <= n; k++) {
        if (param[k] !~ /\*/) continue
        args = ""
        for (i = 1; i <= n; i++) args = args (i > 1 ? ", " : "") (i == k ? "NULL" : value(param[i]))
        printf "%s(\"%s, parameter %d\", %s(%s))\n", kind, name, k, name, args
    }
}' >"$tmp/calls.h"

cat >"$tmp/null.c" <<'C'
#include <lazuli/dlpack.h>
#include <lazuli/hlo.h>
#include <lazuli/ffi.h>
#include <lazuli/lazuli.h>
#include <stdio.h>
#include <string.h>
static char text[4];
static _Alignas(64) float memory[64];
static lz_params params;
static int calls, bad;
static void release_nothing(void *user) { (void)user; }
static bool want_all(const char *name, lz_tensor *t, void *user)
{
    (void)name, (void)t, (void)user;
    return false;
}
static void log_nothing(int level, const char *module, const char *message, void *user)
{
    (void)level, (void)module, (void)message, (void)user;
}
/* Bodies of loops and branches that leave everything as it is. */
static void body_same(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = in[0];
}
static lz_tensor *cond_same(lz_tensor *const *in, void *user)
{
    (void)in, (void)user;
    return lz_zeros(LZ_BOOL, LZ_SCALAR);
}
static void round_same(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)i, (void)user;
    out[0] = in[0];
}
static void custom_forward_same(lz_tensor *const *in, lz_tensor **out, lz_tensor **residuals, void *user)
{
    (void)user;
    out[0] = residuals[0] = in[0];
}
static void custom_backward_same(lz_tensor *const *residuals, lz_tensor *const *grad_out, lz_tensor **grad_in, void *user)
{
    (void)residuals;
    (void)user;
    grad_in[0] = grad_out[0];
}
static void scan_same(lz_tensor *const *carry, lz_tensor *const *x, lz_tensor **next, lz_tensor **y, void *user)
{
    (void)user;
    next[0] = carry[0], y[0] = x[0];
}
static lz_function *function; /* of one argument like the tensors below */
static lz_stablehlo *program; /* the like */
static lz_status handler(const lz_ffi_call *call, void *user)
{
    (void)call, (void)user;
    return LZ_OK;
}
static const char source[] = "func.func @main(%a: tensor<2x2xf32>) -> tensor<2x2xf32> { return %a : tensor<2x2xf32> }";
/* The tensors of a call are new: the one before may have been lz_release. */
static lz_tensor *fresh(const char *what)
{
    calls++;
    printf("%s\n", what); /* the last line tells where it ended */
    fflush(stdout);
    lz_scope_begin();
    lz_tensor *t = lz_retain(lz_full(LZ_F32, LZ_SHAPE(2, 2), 3));
    if (!function)
        (void)lz_function_trace(body_same, NULL, &t, 1, 1, &function);
    if (!program || strstr(what, "lz_stablehlo_free"))
        program = lz_stablehlo_parse(source, sizeof source - 1, "source");
    memset(&params, 0, sizeof params);
    lz_params_add(&params, "p", t);
    return t;
}
static void after(const char *what)
{
    (void)what;
    lz_params_free(&params);
    while (lz_scope_end() == LZ_OK)
        ;
    lz_set_log_callback(log_nothing, NULL);
}
static void tensor(const char *what, lz_tensor *r)
{
    if (!r && !strstr(what, "lz_retain") && !strstr(what, "lz_escape") && !strstr(what, "_keep") && !strstr(what, "lz_grad_of") && !strstr(what, "lz_params_find") && !strstr(what, "lz_autocast_operand") && !strstr(what, "_get_scale"))
        printf("BAD: %s gives no tensor at all\n", what), bad++;
    else
        (void)lz_status_of(r);
}
#define TENSOR(what, call) { lz_tensor *T = fresh(what); (void)T; tensor(what, call); after(what); }
#define OTHER(what, call) { lz_tensor *T = fresh(what); (void)T; (void)(call); after(what); }
#define VOID(what, call) { lz_tensor *T = fresh(what); (void)T; call; after(what); }
int main(void)
{
#include "calls.h"
    /* and the library goes on */
    lz_scope_begin();
    lz_clear_error();
    if (lz_item(lz_sum(lz_full(LZ_F32, LZ_SHAPE(4), 2))) != 8)
        printf("BAD: afterwards: %s\n", lz_last_error_text()), bad++;
    printf("%d passed, %d failed\n", calls + 1 - bad, bad);
    return bad != 0;
}
C
build null 300
mkdir "$tmp/work" && cd "$tmp/work" || exit 1
# What a call gives (an optimizer, lent memory) is not given back here.
ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 PJRT_DEVICE=REF LAZULI_CACHE=0 "$tmp/null" >"$tmp/log" 2>&1
rc=$?
[ $rc -eq 0 ] || { grep BAD "$tmp/log"; tail -4 "$tmp/log"; echo "exit status $rc"; }
tail -1 "$tmp/log"
cd "$root" || exit 1
exit $rc
