#!/usr/bin/env bash
# fork.sh - A04: in the child of a fork, while other threads of the parent are inside of all public functions, each public function
# comes back with LZ_EFORK as the last error, whatever its arguments are, except the pure ones (abi/pure.txt), which work. The calls are
# generated from the headers, so a new function is tried as soon as it is declared. The child then ends as programs do.
# shellcheck disable=SC2154  # root and tmp are those of prototypes.bash
set -u
# shellcheck source=test/prototypes.bash
. test/prototypes.bash

generate "$value"'
BEGIN { while ((getline name < "abi/pure.txt") > 0) pure[name] = 1 }
# Objects that were made before the fork.
function made(p) {
    if (match(p, /lz_(optim|grad_scaler|loader|ema|archive|checkpoint_manager) \*/)) { sub(/.*lz_/, "", p); sub(/ .*/, "", p); return p }
    return value(p)
}
function nothing(p) {
    if (p ~ /^lz_shape [a-z]/) return "(lz_shape){0}"
    if (p ~ /^lz_dims [a-z]/) return "(lz_dims){0}"
    if (p ~ /^lz_partition_spec [a-z]/) return "(lz_partition_spec){0}"
    if (p ~ /^lz_placements [a-z]/) return "(lz_placements){0}"
    return "0"
}
{
    name = $1; sub(/.*[ *]/, "", name)
    n = $2 == "void" ? 0 : split_parameters($2)
    good = zero = own = ""
    for (i = 1; i <= n; i++) {
        comma = i > 1 ? ", " : ""
        good = good comma made(param[i]); zero = zero comma nothing(param[i]); own = own comma value(param[i])
    }
    # what takes away from the other threads, or waits for what nobody starts
    alone = name ~ /_(free|close)$|^lz_(set_allocator|initialize_cache|set_num_threads|set_device)$/
    printf "CALL(\"%s\", %d, %d, %s(%s), %s(%s), %s(%s))\n", name, pure[name], alone, name, good, name, zero, name, own
}' >"$tmp/calls.h"

cat >"$tmp/fork.c" <<'C'
#define VALUES_OWN static _Thread_local
#include "test/api/values.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static lz_optim *optim;
static lz_grad_scaler *grad_scaler;
static lz_loader *loader;
static lz_checkpoint_manager *checkpoint_manager;
static lz_ema *ema;
static lz_archive *archive;
static _Thread_local lz_tensor *T;
static const char *volatile now = "";

static int check(const char *name, int pure, const char *what)
{
    lz_status s = lz_last_error(NULL);
    if (s == (pure ? LZ_OK : LZ_EFORK) && (pure || strstr(lz_last_error_text(), "fork()") || strstr(lz_last_error_text(), "forked")))
        return 0;
    printf("BAD: %s in a forked child, %s: %s\n", name, what, s == LZ_OK ? "no error" : lz_last_error_text());
    return 1;
}
static void too_long(int sig)
{
    (void)sig;
    char line[200];
    int n = snprintf(line, sizeof line, "BAD: %s does not come back\n", now);
    if (write(1, line, (size_t)n) == n)
        _exit(2);
    _exit(3);
}
/* All calls: how many are wrong. */
static int in_child(void)
{
    int bad = 0;
    signal(SIGALRM, too_long);
    alarm(60); /* of a loaded machine: it takes milliseconds */
#define CALL(name, pure, alone, good, zero, own) \
    now = name; lz_clear_error(); (void)(good); bad += check(name, pure, "good arguments"); \
    lz_clear_error(); (void)(zero); bad += check(name, pure, "arguments of 0");
#include "calls.h"
#undef CALL
    now = "the end of the process";
    return bad;
}

static atomic_bool stop;
static void *inside(void *first)
{
    long n = 0, skip = (long)first;
    while (!stop) {
        lz_scope_begin();
        T = lz_full(LZ_F32, LZ_SHAPE(2, 2), 3);
        make_values(T);
#define CALL(name, pure, alone, good, zero, own) \
        if (!alone && !stop && n++ >= skip) (void)(own);
#include "calls.h"
#undef CALL
        skip = 0;
        lz_params_free(&params);
        while (lz_scope_end() == LZ_OK)
            ;
        lz_set_log_callback(log_nothing, NULL);
    }
    return NULL;
}

static lz_status sample(void *user, int64_t index, void *const *out)
{
    (void)user;
    *(float *)out[0] = (float)index;
    return LZ_OK;
}
static void *last_thread(void *unused)
{
    return unused;
}
int main(int argc, char **argv)
{
    static const lz_dataset set = {.struct_size = sizeof set, .len = 64, .nfields = 1, .field = {{LZ_F32, {0, {0}}}}, .get = sample};
    int bad = 0, children = argc > 1 ? atoi(argv[1]) : 24;
    lz_set_log_callback(log_nothing, NULL);
    T = lz_retain(lz_full(LZ_F32, LZ_SHAPE(2, 2), 3));
    make_values(T);
    optim = lz_sgd(&params, .lr = 1), grad_scaler = lz_grad_scaler_new(), ema = lz_ema_new(&params, 0.5);
    loader = lz_loader_new(&set, .batch_size = 2);
    checkpoint_manager = lz_checkpoint_manager_new("checkpoints");
    lz_loader_begin(loader, 0, 0);
    if (lz_save_safetensors("archive", (const char *const[]){"t"}, (lz_tensor *const[]){T}, 1, NULL, 0) != LZ_OK)
        exit(1);
    archive = lz_safetensors_open("archive");
    if (lz_item(lz_sum(T)) != 12 || !optim || !grad_scaler || !ema || !loader || !checkpoint_manager || !archive || !program || !function)
        return printf("BAD: before: %s\n", lz_last_error_text()), 1;
    pthread_t t[4];
    for (long i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, inside, (void *)(i * 200));
    for (int k = 0; k < children; k++) {
        usleep(20000);
        fflush(stdout);
        pid_t p = fork();
        if (p == 0) {
            if (in_child())
                fflush(stdout), _exit(1);
            pthread_t last;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
            _exit(0); /* what these do at the end may wait for a lock of theirs */
#endif
            switch (k % 3) {
            case 0:
                exit(0);
            case 1:
                pthread_exit(NULL);
            default: /* and a thread of the child may end */
                pthread_create(&last, NULL, last_thread, NULL);
                pthread_join(last, NULL);
                return 0;
            }
        }
        int st;
        waitpid(p, &st, 0);
        if (st) {
            printf("BAD: child %d: %s %d\n", k, WIFSIGNALED(st) ? "signal" : "exit status", WIFSIGNALED(st) ? WTERMSIG(st) : WEXITSTATUS(st));
            bad++;
            break;
        }
    }
    stop = true;
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    lz_clear_error(); /* the parent goes on */
    if (lz_item(lz_sum(T)) != 12)
        printf("BAD: afterwards: %s\n", lz_last_error_text()), bad++;
    printf("%d passed, %d failed\n", children + 1 - bad, bad);
    fflush(stdout);
    _exit(bad != 0); /* what the threads left running is no matter here */
}
C
build fork 700 -lpthread
mkdir "$tmp/work" && cd "$tmp/work" || exit 1
ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 PJRT_DEVICE=REF LAZULI_CACHE=0 timeout -k 5 300 "$tmp/fork" "$@" >"$tmp/log" 2>&1
rc=$?
[ $rc -eq 0 ] || { grep BAD "$tmp/log" | sort | uniq -c | sort -rn | head -60; tail -4 "$tmp/log"; echo "exit status $rc"; }
tail -1 "$tmp/log"
cd "$root" || exit 1
exit $rc
