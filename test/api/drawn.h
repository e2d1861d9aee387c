/* drawn.h - what the calls of sequences.sh are given: numbers, handles that live, were released or
 * never were, functions that call back, objects. Draws depend on the number of the sequence alone.
 * Included once, by sequences.h. */
#define VALUES_OWN static _Thread_local
static _Thread_local int depth; /* 1: in a function that the library called */
#define DEPTHS 2
#define DEPTH depth
#include "test/api/values.h"
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PLACES = 24, CALLS = 60, THREADS = 4, STALE = 16, LARGEST = 512, ROOM = 64, LAST = 24 };
enum { PLAIN, FAILING, CHECKED, MODES };
static const char *const modes[] = {"plain", "failing", "checked"};

/* What the parent sees when a child has ended. */
static struct board {
    _Atomic unsigned sequence;
    _Atomic long calls, tensors, bad;
    struct {
        unsigned n;
        const char *name[LAST];
        int depth[LAST];
    } last[THREADS];
} * board;

static int mode;
static FILE *trace; /* what the calls of a checked sequence give */
static _Atomic(lz_tensor *) place[PLACES];
static lz_tensor *_Atomic stale[STALE];
static _Thread_local uint64_t draws;
static _Thread_local int self, scopes[DEPTHS];
static _Atomic bool
    unbalanced; /* a scope was ended that somebody else had begun: what is made then stays */
static _Atomic uint64_t back_seed;
static _Atomic bool over; /* nothing fails, and nothing takes a place any more */

static uint32_t pick(uint32_t n)
{
    draws = draws * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(draws >> 33) % n;
}
static bool chance(uint32_t percent)
{
    return pick(100) < percent;
}

/* ---- numbers ---- */

static const int64_t wild[] = {
    INT64_MAX, INT64_MIN, (int64_t)1 << 62, -2, 9, INT64_MAX - 1, (int64_t)1 << 40, -9, 64, 255};
static const double wild_real[] = {0, -1, -0.0, 1e300, -1e300, 5e-324, 1e19, 1e-3, 2, 1e5};
enum { WILD = sizeof wild / sizeof *wild };

static int64_t number(int64_t usual, size_t nbytes, bool has_sign, bool is_dtype)
{
    uint32_t r = pick(100);
    if (is_dtype)
        return r < 50 ? usual : r < 95 ? pick(LZ_DTYPE_COUNT) : (int64_t)pick(40) - 2;
    int64_t v = r < 55 ? usual : r < 82 ? pick(4) : r < 95 ? -1 : wild[pick(WILD)];
    if (nbytes == 8)
        return v;
    int64_t lo = has_sign ? -((int64_t)1 << (8 * nbytes - 1)) : 0;
    int64_t hi = has_sign ? -lo - 1 : ((int64_t)1 << (8 * nbytes)) - 1;
    return v < lo ? lo : v > hi ? hi : v;
}
static _Thread_local bool nothing; /* a length of this call is 0 */
static int64_t less(int64_t usual, bool has_sign)
{
    int64_t most = usual == 1 ? 2 : usual,
            v = chance(50) ? usual : (int64_t)pick((uint32_t)most + 1);
    if (has_sign && chance(4))
        v = -1;
    nothing |= v <= 0;
    return v;
}
static double real(double usual)
{
    uint32_t r = pick(100);
    return r < 60   ? usual
           : r < 85 ? (double)pick(9) / 4 - 1
           : r < 95 ? wild_real[pick(sizeof wild_real / sizeof *wild_real)]
           : r < 97 ? (double)NAN
                    : (r & 1 ? -(double)INFINITY : (double)INFINITY);
}
#define NUMBER(type, usual)                                                                        \
    (type) number((int64_t)(usual), sizeof(type), (type)-1 < (type)1,                              \
                  __builtin_types_compatible_p(type, lz_dtype))
#define LESS(type, usual) (type) less(usual, (type)-1 < (type)1)
#define REAL(usual) real(usual)
#define FLAG() chance(30)

static const lz_shape shapes[] = {{2, {2, 2}}, {2, {2, 3}}, {1, {3}},          {0, {0}},
                                  {2, {3, 3}}, {1, {2}},    {4, {1, 2, 4, 4}}, {3, {1, 2, 3}}};
static lz_shape shape(void)
{
    if (chance(65))
        return shapes[pick(sizeof shapes / sizeof *shapes)];
    lz_shape s = {(int32_t)pick(5), {0}};
    for (int i = 0; i < s.rank; i++)
        s.dims[i] = pick(4);
    if (chance(10))
        s.rank = (int32_t)number(2, 4, true, false);
    if (chance(10))
        s.dims[pick(4)] = number(1, 8, true, false);
    return s;
}

/* ---- handles ---- */

static _Thread_local bool wanting; /* this call has an operand, of this shape */
static _Thread_local lz_shape wanted;

static bool fits(lz_tensor *t, int kind)
{
    lz_dtype d = lz_dtype_of(t);
    lz_shape s = lz_shape_of(t);
    if (kind == 1)
        return d == LZ_I64 || d == LZ_I32;
    if (kind == 2)
        return d == LZ_BOOL;
    return !wanting ||
           (s.rank == wanted.rank &&
            memcmp(s.dims, wanted.dims, sizeof *s.dims * (size_t)(s.rank > 0 ? s.rank : 0)) == 0);
}
/* kind: 0 any, 1 of positions, 2 of truths */
static lz_tensor *tensor(int kind)
{
    uint32_t r = pick(100);
    if (r < 2)
        return NULL;
    if (r < 4)
        return stale[pick(STALE)];
    if (r < 6)
        return (lz_tensor *)(uintptr_t)((uint64_t)pick(1000) << 32 | pick(64));
    if (r < 7)
        return (lz_tensor *)memory; /* no handle, but memory that is there */
    lz_tensor *t = place[pick(PLACES)];
    for (int i = 0; i < 6 && r < 92 && !fits(t, kind); i++)
        t = place[pick(PLACES)];
    if (kind == 0 && !wanting)
        wanted = lz_shape_of(t), wanting = wanted.rank >= 0;
    return t;
}
#define T tensor(0)
#define N tensor(1)
#define B tensor(2)

static void drop(lz_tensor *t)
{
    if (t)
        stale[pick(STALE)] = t;
    (void)lz_release(t);
}
/* A result takes the place of another tensor; those that are large are not computed. */
static void put(lz_tensor *t)
{
    lz_status s = lz_status_of(t);
    if (t && !over && (s == LZ_OK ? lz_numel(t) <= LARGEST : chance(5)))
        drop(atomic_exchange(&place[pick(PLACES)], lz_retain(t)));
}
VALUES_OWN lz_tensor *outs[DEPTHS][ROOM];
static lz_tensor **outs_of(void)
{
    memset(outs[DEPTH], 0, sizeof outs[DEPTH]);
    return outs[DEPTH];
}
#define OUTS outs_of()

VALUES_OWN lz_array arrays[DEPTHS][2][8];
static lz_array *arrays_out(void)
{
    lz_array *a = arrays[DEPTH][pick(2)];
    for (int i = 0; i < 8; i++)
        lz_array_free(&a[i]);
    return a;
}
#define ARRAYS_OUT arrays_out()

static const char *const words[] = {"add",       "sum",       "mean",
                                    "none",      "ij,jk->ik", "ij->ji",
                                    "CPU:0",     "CPU",       "x",
                                    "REF:0",     "text",      "floor",
                                    "multiply",  "maximum",   "linear",
                                    "xla",       "",          "prod",
                                    "amax",      "nan",       "a",
                                    "tanh",      "reduced",   "fro",
                                    "ij",        "{}",        "no such name",
                                    "batch",     "json",      "hlo",
                                    "{} and {}", "complete",  "/dev/null/none",
                                    "file",      "nuc"};
static const char *word(void)
{
    return chance(3) ? NULL : words[pick(sizeof words / sizeof *words)];
}
#define WORD word()

/* ---- functions that the library calls make a call or two ---- */

static void random_call(void);
static void end_objects(void);
static void end_layers(void);
static _Thread_local bool running; /* a sequence of its own */
static void call_back(void)
{
    if (depth || chance(40))
        return;
    depth = 1;
    scopes[DEPTH] = lz_scope_begin() == LZ_OK; /* there may be none around */
    for (uint32_t n = scopes[DEPTH] ? 1 + pick(2) : 0; n > 0; n--)
        random_call();
    for (; scopes[DEPTH] > 0; scopes[DEPTH]--)
        (void)lz_scope_end();
    end_objects();
    if (!running) /* a thread of the library, or after a sequence */
        end_layers();
    depth = 0;
}
/* In a thread of the library's. */
static void call_back_elsewhere(void)
{
    if (!draws)
        draws = atomic_fetch_add(&back_seed, 7919), self = THREADS - 1;
    if (mode != CHECKED)
        call_back();
}

static void release_random(void *user)
{
    (void)user;
    call_back_elsewhere();
}
static bool want_random(const char *name, lz_tensor *t, void *user)
{
    (void)name, (void)t, (void)user;
    call_back();
    return chance(50);
}
static void log_random(int level, const char *module, const char *message, void *user)
{
    (void)level, (void)module, (void)message, (void)user;
    call_back_elsewhere();
}
static void compile_random(void *user)
{
    (void)user;
    call_back();
}
static lz_tensor *first_of(lz_tensor *const *in)
{
    return nothing || chance(10) ? tensor(0) : in[0];
}
static void body_random(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    lz_tensor *t = first_of(in);
    call_back();
    out[0] = chance(50) ? t : lz_mul(t, t);
}
static lz_tensor *cond_random(lz_tensor *const *in, void *user)
{
    (void)in, (void)user;
    call_back();
    lz_tensor *no = lz_zeros(LZ_BOOL, LZ_SCALAR);
    return chance(80) ? no : lz_logical_and(tensor(2), no); /* a loop that ends */
}
static void round_random(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)i;
    body_random(in, out, user);
}
static void custom_forward_random(lz_tensor *const *in, lz_tensor **out, lz_tensor **residuals,
                                  void *user)
{
    body_random(in, out, user);
    residuals[0] = first_of(in);
}
static void custom_backward_random(lz_tensor *const *residuals, lz_tensor *const *grad_out,
                                   lz_tensor **grad_in, void *user)
{
    (void)residuals, (void)user;
    call_back();
    grad_in[0] = chance(80) ? grad_out[0] : tensor(0);
}
static void scan_random(lz_tensor *const *carry, lz_tensor *const *x, lz_tensor **next,
                        lz_tensor **y, void *user)
{
    (void)user, (void)x;
    call_back();
    next[0] = first_of(carry), y[0] = next[0];
}
static lz_status handler_random(const lz_ffi_call *call, void *user)
{
    (void)user;
    for (size_t i = 0; i < (size_t)call->nrets; i++)
        memset(call->rets[i].data, 0, call->rets[i].nbytes);
    call_back_elsewhere();
    return LZ_OK;
}
#define release_nothing release_random
#define want_all want_random
#define log_nothing log_random
#define compile_same compile_random
#define body_same body_random
#define cond_same cond_random
#define round_same round_random
#define custom_forward_same custom_forward_random
#define custom_backward_same custom_backward_random
#define scan_same scan_random
#define handler handler_random
#include "test/api/numbers.h"

/* ---- objects: each thread has its own, those of a call that goes on are left alone ---- */

#define OBJECTS(X)                                                                                 \
    X(optim, lz_optim_free)                                                                        \
    X(grad_scaler, lz_grad_scaler_free)                                                            \
    X(ema, lz_ema_free)                                                                            \
    X(loader, lz_loader_free)                                                                      \
    X(archive, lz_archive_close)                                                                   \
    X(checkpoint_manager, lz_checkpoint_manager_free)                                              \
    X(function, lz_function_free)                                                                  \
    X(stablehlo, lz_stablehlo_free)                                                                \
    X(mesh, no_free)
static void no_free(lz_mesh *m)
{
    (void)m;
}
#define X(type, free)                                                                              \
    VALUES_OWN lz_##type *objects_##type[DEPTHS];                                                  \
    static lz_##type *the_##type(void)                                                             \
    {                                                                                              \
        return chance(4) ? NULL : objects_##type[DEPTH];                                           \
    }                                                                                              \
    static void keep_##type(lz_##type *o)                                                          \
    {                                                                                              \
        lz_##type *old = objects_##type[DEPTH];                                                    \
        objects_##type[DEPTH] = o;                                                                 \
        if (old != o)                                                                              \
            free(old);                                                                             \
    }
OBJECTS(X)
#undef X
VALUES_OWN lz_kv_cache kv_cache[DEPTHS];
VALUES_OWN lz_params own_params[DEPTHS];
#define params own_params[DEPTH]
static lz_function **function_out(void)
{
    keep_function(NULL);
    return &objects_function[DEPTH];
}
