#!/usr/bin/env bash
# ends.sh - every way in which a process, a thread or the use of the library can end, while the library is idle, executes and compiles:
# the process ends by itself, with its own status, and what is computed on the way is right or an error. WAYS and STATES below are the
# table. Ends that race with compilation wait a little longer in each run; LZ_TEST_WHOLE: 50 runs each.
set -u
BUILD=${BUILD:?}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
CC=${CC:-cc}
lib=$(realpath "$BUILD")
san=$(grep -o -- '-fsanitize=[a-z,]*' "$BUILD/flags" | tr '\n' ' ')
[[ $san == *thread* ]] && { echo 'the thread sanitizer reports every thread that there is at exit'; exit 77; }
# shellcheck disable=SC2086,SC2206  # CC and san may be several words
cc=($CC -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -O1 $san -Iinclude -I"$tmp" -pthread)
cat >"$tmp/work.h" <<'C'
/* work.h - what the programs compute. A value that is wrong ends the process with status 3, an error with 6, but on a device whose
 * kernels cannot be interpreted where there is no compiler any more, or that nobody has used before the loader ends. */
#include <lazuli/lazuli.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Another graph for every n, so it is compiled; its value is known: tanh and exp of constants, a product. */
static inline void compute(int n)
{
    lz_scope_begin();
    lz_clear_error();
    int64_t rows = 2 + n % 7;
    lz_tensor *x = lz_ones(LZ_F32, LZ_SHAPE(rows, 3));
    double want = 1;
    for (int i = 0; i < 1 + n / 7 % 5; i++) {
        x = n >> (i + 4) & 1 ? lz_exp(lz_neg(x)) : lz_tanh(x);
        want = n >> (i + 4) & 1 ? exp(-want) : tanh(want);
    }
    double got = lz_item(lz_sum(lz_matmul(x, lz_ones(LZ_F32, LZ_SHAPE(3, 4)))));
    want *= (double)rows * 12;
    lz_status s = lz_last_error(NULL);
    const char *d = getenv("PJRT_DEVICE");
    if (s == LZ_OK && !(fabs(got - want) <= 1e-3 * want))
        _exit(3);
    bool late = s == LZ_ECOMPILE || (s == LZ_EUNAVAILABLE && strstr(lz_last_error_text(), "the process ends"));
    if (s != LZ_OK && !(late && d && strcmp(d, "CUDA") == 0)) {
        fprintf(stderr, "graph %d: %s\n", n, lz_last_error_text());
        _exit(6);
    }
    lz_scope_end();
}
/* A step of a few hundred milliseconds that runs on; the interpreter's devices get less. */
static inline void start_long(void)
{
    const char *d = getenv("PJRT_DEVICE");
    int64_t n = d && strcmp(d, "CPU") == 0 ? 700 : 40;
    lz_tensor *x = lz_retain(lz_mul_scalar(lz_ones(LZ_F32, LZ_SHAPE(n, n)), 0.001)), *y = x;
    for (int i = 0; i < 8; i++)
        y = lz_tanh(lz_matmul(y, x));
    lz_retain(y);
    (void)lz_mark_step();
}
static inline void *compile_on(void *from)
{
    for (int n = (int)(size_t)from;; n += 2)
        compute(n);
    return NULL;
}
static inline void pause_us(int us)
{
    struct timespec t = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&t, NULL);
}
/* STATE, before the end. `run` varies how long what races has raced. */
static inline void enter(const char *state, int run)
{
    pthread_t t;
    if (strcmp(state, "unused") == 0)
        return;
    if (strcmp(state, "compiling") != 0)
        compute(run);
    if (strcmp(state, "executing") == 0)
        start_long();
    if (strcmp(state, "compiling") == 0 || strcmp(state, "both") == 0) {
        if (strcmp(state, "both") == 0)
            start_long();
        for (size_t k = 0; k < 2; k++)
            if (pthread_create(&t, NULL, compile_on, (void *)(100 + k)) != 0)
                _exit(4);
        pause_us(run * 7919 % 60 * 1000 + run * 131);
    }
}
C
cat >"$tmp/ends.c" <<'C'
#include "work.h"
static const char *way;
static int run, in_destructor;
static pthread_key_t key;
static pthread_barrier_t met;

static void later(void) { compute(1000 + run); }
static void again(void) { compute(run); } /* known, if anything is */
static void tear_down(void *unused)
{
    (void)unused;
    compute(2000 + run);
    if (run % 2)
        (void)pthread_setspecific(key, &key); /* and once more, behind the library's own */
}
__attribute__((destructor)) static void at_the_end(void)
{
    if (in_destructor)
        compute(3000 + run), compute(run);
}
/* Behind the destructors of all libraries, ours too: on_exit does not know whose function it is, and
 * what is before the constructors comes before the loader's. */
static void at_the_very_end(int status, void *unused)
{
    (void)status, (void)unused;
    if (way && strcmp(way, "very_end") == 0)
        compute(8000 + run), compute(run);
}
static void before_all(void) { on_exit(at_the_very_end, NULL); }
__attribute__((section(".preinit_array"), used)) static void (*const before_all_at)(void) = before_all;
static void *exits(void *used)
{
    if (used)
        compute(4000 + run);
    exit(42);
}
static void *starts_and_ends(void *unused)
{
    (void)unused;
    (void)pthread_setspecific(key, &key);
    start_long(); /* and ends before that is done */
    compute(5000 + run);
    return NULL;
}
static void *outlives_main(void *unused)
{
    (void)unused;
    pthread_barrier_wait(&met);
    pause_us(5000);
    compute(6000 + run);
    exit(42);
}
static int is(const char *name) { return strcmp(way, name) == 0; }
static void start(void *(*fn)(void *), void *arg, int wait)
{
    pthread_t t;
    if (pthread_create(&t, NULL, fn, arg) != 0)
        _exit(4);
    if (wait)
        pthread_join(t, NULL);
}
int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    way = argv[1], run = atoi(argv[3]);
    pthread_key_create(&key, tear_down);
    pthread_barrier_init(&met, NULL, 2);
    if (is("handler_before"))
        atexit(later), atexit(again);
    in_destructor = is("destructor");
    if (is("quick_handler"))
        at_quick_exit(later);
    enter(argv[2], run);
    if (is("handler_after"))
        atexit(later), atexit(again);
    if (is("exit") || is("handler_before"))
        exit(42);
    if (is("_exit"))
        _exit(42);
    if (is("quick_exit") || is("quick_handler"))
        quick_exit(42);
    if (is("stranger_exits"))
        compute(6999); /* the compiler is loaded: semantics.md, "What the library cannot promise" */
    if (is("thread_exits") || is("stranger_exits"))
        for (start(exits, is("thread_exits") ? &key : NULL, 0);;)
            compute(7000 + run++); /* main waits in the library */
    if (is("threads_end"))
        for (int i = 0; i < 3; i++)
            start(starts_and_ends, NULL, 1);
    if (is("main_ends")) {
        start(outlives_main, NULL, 0);
        pthread_barrier_wait(&met);
        pthread_exit(NULL);
    }
    if (is("key"))
        start(starts_and_ends, NULL, 0), (void)pthread_setspecific(key, &key), pause_us(run * 1000);
    return 42;
}
C
cat >"$tmp/plugin.c" <<'C'
#include "work.h"
static int last;
void use(const char *state, int run);
void use(const char *state, int run)
{
    enter(state, run);
    last = getenv("LAST") ? run + 1 : 0;
}
__attribute__((destructor)) static void at_the_end(void)
{
    if (last)
        compute(3000 + last);
}
C
# A host that opens the plugin and closes it: in rounds, with a thread that has used it and ends later, or only when a destructor does.
# The plugin's own threads may not be in it when it goes, so it is the library that goes on.
cat >"$tmp/host.c" <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void *lib;
static int at_exit;
typedef void use_fn(const char *state, int run);
static use_fn *use;
static pthread_barrier_t met;
__attribute__((destructor)) static void closes(void)
{
    if (at_exit)
        dlclose(lib);
}
static void *uses(void *run)
{
    use("executing", *(int *)run);
    pthread_barrier_wait(&met);
    pthread_barrier_wait(&met);
    return NULL; /* its destructors run now */
}
int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    const char *way = argv[1], *state = argv[2];
    int run = atoi(argv[3]), rounds = strcmp(way, "rounds") == 0 ? 3 : 1;
    pthread_t t;
    pthread_barrier_init(&met, NULL, 2);
    for (int i = 0; i < rounds; i++) {
        lib = dlopen(argv[4], RTLD_NOW | RTLD_LOCAL);
        use = lib ? (use_fn *)dlsym(lib, "use") : NULL;
        if (!use)
            return puts(dlerror()), 5;
        use(state, run + i);
        if (strcmp(way, "thread") == 0)
            pthread_create(&t, NULL, uses, &run), pthread_barrier_wait(&met);
        at_exit = strcmp(way, "destructor") == 0;
        if (!at_exit)
            dlclose(lib);
        if (strcmp(way, "thread") == 0)
            pthread_barrier_wait(&met), pthread_join(t, NULL);
        usleep(20000);
    }
    return 42;
}
C
# Objects of C++ with static and thread storage, which compute when they are destroyed.
cat >"$tmp/objects.cc" <<'C'
#include "work.h"
static int run;
struct last {
    int n;
    explicit last(int k) : n(k) {}
    ~last() { compute(n + run), compute(run); }
};
static last of_the_program(3000);
static thread_local last of_a_thread(2000);
static void *uses(void *)
{
    compute(of_a_thread.n + 500 + run);
    return nullptr;
}
int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    run = atoi(argv[3]);
    static last of_main(4000);
    pthread_t t;
    if (strcmp(argv[1], "thread") == 0)
        of_a_thread.n += 7;
    enter(argv[2], run);
    static last of_main_later(5000);
    if (pthread_create(&t, nullptr, uses, nullptr) == 0)
        pthread_join(t, nullptr);
    exit(42);
}
C
# A limit of memory that compilation would meet inside LLVM, which does not survive it: an error.
cat >"$tmp/limit.c" <<'C'
#include "work.h"
#include <sys/resource.h>
int main(void)
{
    long pages = 0;
    compute(1);
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f || fscanf(f, "%ld", &pages) != 1)
        return 2;
    fclose(f);
    rlim_t room = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (48 << 20);
    struct rlimit r = {room, RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &r);
    for (int i = 0; i < 20; i++) {
        lz_scope_begin();
        lz_clear_error();
        static const float some[18] = {1};
        lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(2 + i % 5, 3), some); /* the code of constants would be there */
        for (int k = 0; k <= i; k++)
            x = k % 2 ? lz_exp(x) : lz_tanh(x);
        (void)lz_item(lz_sum(lz_matmul(x, lz_ones(LZ_F32, LZ_SHAPE(3, 4)))));
        lz_status s = lz_last_error(NULL);
        if (s != LZ_EMEM)
            return fprintf(stderr, "%s\n", lz_last_error_text()), 1;
        lz_scope_end();
    }
    r.rlim_cur = RLIM_INFINITY;
    setrlimit(RLIMIT_AS, &r);
    compute(50); /* and on, where there is memory again */
    return 42;
}
C
link=(-L"$lib" -llazuli "-Wl,-rpath,$lib" -lm)
"${cc[@]}" "$tmp/ends.c" -o "$tmp/ends" "${link[@]}" || exit 1
"${cc[@]}" "$tmp/host.c" -o "$tmp/host" -ldl || exit 1
"${cc[@]}" -fPIC -shared "$tmp/plugin.c" -o "$tmp/shared.so" "${link[@]}" || exit 1
plugins=("$tmp/shared.so")
if [ -z "$san" ]; then # the sanitizers want one copy of themselves
    "${cc[@]}" -fPIC -shared "$tmp/plugin.c" -o "$tmp/static.so" "$lib/liblazuli.a" -lzstd -lz -ldl -lm || exit 1
    plugins+=("$tmp/static.so")
fi

passed=0 failed=0 runs=${LZ_TEST_RUNS:-1}
[ -n "${LZ_TEST_WHOLE:-}" ] && runs=50
export HOME=$tmp LAZULI_CACHE=0
# try NAME COMMAND...: status 42, within a minute. Nothing may be lost, but where threads go on and have what is theirs.
try() {
    local name=$1 rc leaks=1
    shift
    [[ $name =~ executing|compiling|both|thread_exits|stranger_exits|threads_end|main_ends|key ]] && leaks=0
    ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=$leaks timeout -k 1 60 "$@" >"$tmp/log" 2>&1
    rc=$?
    if [ $rc = 42 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$name: status $rc"
        head -20 "$tmp/log"
    fi
}
seed=${LZ_TEST_SEED:-0}
WAYS='return exit _exit quick_exit quick_handler handler_before handler_after destructor very_end thread_exits stranger_exits threads_end main_ends key'
STATES='unused idle executing compiling both'
DEVICES='CPU REF CUDA'
export LAZULI_CUDA_DRIVER=$lib/test/libcudamock.so
if command -v g++ >/dev/null && [ -z "$san" ]; then
    g++ -std=c++17 -D_GNU_SOURCE -Wall -Wextra -O1 -Iinclude -I"$tmp" -pthread "$tmp/objects.cc" -o "$tmp/objects" "${link[@]}" || exit 1
    for way in program thread; do
        for state in unused idle executing compiling both; do
            for ((r = 0; r < runs; r++)); do
                PJRT_DEVICE=CPU try "objects of C++, $way, $state, run $((seed % 50 + r))" "$tmp/objects" "$way" "$state" $((seed % 50 + r))
            done
        done
    done
fi
if [ -z "$san" ]; then
    "${cc[@]}" "$tmp/limit.c" -o "$tmp/limit" "${link[@]}" || exit 1
    PJRT_DEVICE=CPU try 'a limit of memory' "$tmp/limit"
fi
k=0
for device in $DEVICES; do
    for way in $WAYS; do
        for state in $STATES; do
            k=$((k + 1))
            # other devices share what matters: some of their cases in each run
            [ $device = CPU ] || [ -n "${LZ_TEST_WHOLE:-}" ] || [ $(((k + seed) % 4)) = 0 ] || continue
            for ((r = 0; r < runs; r++)); do
                PJRT_DEVICE=$device try "$device, $way, $state, run $((seed % 50 + r))" "$tmp/ends" "$way" "$state" $((seed % 50 + r))
            done
        done
    done
done
for plugin in "${plugins[@]}"; do
    for way in once rounds thread destructor; do
        for state in idle executing; do
            for last in '' 1; do
                for ((r = 0; r < runs; r++)); do
                    PJRT_DEVICE=CPU try "$(basename "$plugin"), $way, $state${last:+, computes in its destructor}, run $((seed % 50 + r))" \
                        env ${last:+LAST=1} "$tmp/host" "$way" "$state" $((seed % 50 + r)) "$plugin"
                done
            done
        done
    done
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
