#!/usr/bin/env bash
# null.sh - A03: NULL for every pointer parameter of every public function, one at a time. The calls are generated from the
# headers, so a new function is tried as soon as it is declared. Each must come back; one that gives a tensor must give an
# error tensor, or a good one where NULL is allowed; one that succeeds leaves no error behind.
# shellcheck disable=SC2154  # root and tmp are those of prototypes.bash
set -u
# shellcheck source=test/prototypes.bash
. test/prototypes.bash

generate "$value"'
{
    name = $1; sub(/.*[ *]/, "", name)
    kind = $1 ~ /lz_tensor \*/ ? "TENSOR" : $1 ~ /^void / ? "VOID" : "OTHER"
    n = split_parameters($2)
    for (k = 1; k <= n; k++) {
        if (param[k] !~ /\*/) continue
        args = ""
        for (i = 1; i <= n; i++) args = args (i > 1 ? ", " : "") (i == k ? "NULL" : value(param[i]))
        # what opens nothing has failed before the call
        as = $1 ~ /^lz_status / && args !~ /lz_npz_open|lz_loader_new|lz_checkpoint_manager_new/ ? "STATUS" : kind
        printf "%s(\"%s, parameter %d\", %s(%s))\n", as, name, k, name, args
    }
}' >"$tmp/calls.h"

cat >"$tmp/null.c" <<'C'
#include <stdio.h>
#include <string.h>
#include "test/api/values.h"
static int calls, bad;
/* The tensors of a call are new: the one before may have been lz_release. */
static lz_tensor *fresh(const char *what)
{
    calls++;
    printf("%s\n", what); /* the last line tells where it ended */
    fflush(stdout);
    lz_scope_begin();
    lz_tensor *t = lz_retain(lz_full(LZ_F32, LZ_SHAPE(2, 2), 3));
    if (strstr(what, "lz_stablehlo_free"))
        program = NULL;
    make_values(t);
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
static void status(const char *what, lz_status s)
{
    if (s == LZ_OK && lz_last_error(NULL) != LZ_OK)
        printf("BAD: %s succeeds and leaves %s\n", what, lz_last_error_text()), bad++;
}
#define STATUS(what, call) { lz_tensor *T = fresh(what); (void)T; lz_clear_error(); status(what, call); after(what); }
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
