/* t_nccl_abi.c - what this project declares of NCCL against a library that is really there: the one
 * that LAZULI_CUDA_NCCL names, that the loader finds, or that python3 has (nvidia-nccl-cu13,
 * -cu12). Version, identifiers and texts need no GPU. With LZ_TEST_GPU a communicator of one rank
 * on the first GPU makes every call, with every type, and only bytes that it should write are
 * written; the same goes through the library that stands in, on a machine without one. Status 77:
 * there is no NCCL. Each test has a process of its own. */
#include "backends/cuda/cuda_device.h"
#include "backends/cuda/nccl_comms.h"
#include "base/thread.h"
#include "cuda_util.h"
#include <stdlib.h>
#include <unistd.h>

static char library[4096]; /* "": none */

static bool real_gpu(void)
{
    return getenv("LZ_TEST_GPU") != NULL;
}

/* Path of the library, or a name that the loader finds. */
static void find_library(void)
{
    static const char script[] =
        "python3 -c 'import glob, sys\n"
        "print(max((f for p in sys.path for f in glob.glob(p + \"/nvidia/nccl/lib/libnccl.so.2\")),"
        " default=\"\"))' 2>/dev/null";
    const char *asked = lz_cfg_str(LZ_OPT_CUDA_NCCL);
    snprintf(library, sizeof library, "%s", asked);
    if (*asked)
        return;
    void *h = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (h) {
        snprintf(library, sizeof library, "libnccl.so.2");
        return;
    }
    FILE *f = popen(script, "r");
    if (f && fgets(library, sizeof library, f))
        library[strcspn(library, "\n")] = '\0';
    if (f)
        (void)pclose(f);
}

/* With the driver that stands in the table is filled all the same: nothing here asks a GPU. */
static void load(const char *path)
{
    use_mock();
    OK(lz_config_set("LAZULI_CUDA_NCCL", path));
    OK(lz_cuda_load());
    ck_assert_msg(lz_nccl_load(), "%s is not usable: LAZULI_LOG=info says why", path);
}

/* ---- without a GPU ---- */

/* The value that nccl.h beside the library gives to a name; -1: it has no such line. */
static long value_in(const char *header, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = header; (at = strstr(at, name)); at += n) {
        const char *p = at + n;
        p += strspn(p, " ");
        if (at > header && (at[-1] == ' ' || at[-1] == '{') && *p == '=')
            return strtol(p + 1, NULL, 0);
    }
    return -1;
}

static const struct {
    const char *name;
    int value;
} values[] = {{"ncclSuccess", NCCL_OK},
              {"ncclUnhandledCudaError", NCCL_UNHANDLED_CUDA},
              {"ncclSystemError", NCCL_SYSTEM},
              {"ncclInternalError", NCCL_INTERNAL},
              {"ncclInvalidArgument", NCCL_INVALID_ARGUMENT},
              {"ncclInvalidUsage", NCCL_INVALID_USAGE},
              {"ncclRemoteError", NCCL_REMOTE},
              {"ncclInProgress", NCCL_IN_PROGRESS},
              {"ncclInt8", NCCL_I8},
              {"ncclUint8", NCCL_U8},
              {"ncclInt32", NCCL_I32},
              {"ncclUint32", NCCL_U32},
              {"ncclInt64", NCCL_I64},
              {"ncclUint64", NCCL_U64},
              {"ncclFloat16", NCCL_F16},
              {"ncclFloat32", NCCL_F32},
              {"ncclFloat64", NCCL_F64},
              {"ncclBfloat16", NCCL_BF16},
              {"ncclSum", NCCL_SUM},
              {"ncclProd", NCCL_PROD},
              {"ncclMax", NCCL_MAX},
              {"ncclMin", NCCL_MIN}};

/* NVIDIA's packages have the header beside the library. */
START_TEST(as_in_the_header)
{
    char path[4200], *text = calloc(1, 1 << 18);
    Dl_info info;
    load(library);
    ck_assert(dladdr((void *)(uintptr_t)lz_nccl.GetVersion, &info) != 0);
    const char *end = strstr(info.dli_fname, "/lib/");
    snprintf(path, sizeof path, "%.*s/include/nccl.h", end ? (int)(end - info.dli_fname) : 0,
             info.dli_fname);
    FILE *f = fopen(path, "r");
    if (!f)
        f = fopen("/usr/include/nccl.h", "r");
    if (!f) {
        printf("t_nccl_abi: no nccl.h beside %s\n", info.dli_fname);
        free(text);
        return;
    }
    ck_assert_uint_gt(fread(text, 1, (1 << 18) - 1, f), 0);
    (void)fclose(f);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        ck_assert_msg(value_in(text, values[i].name) == values[i].value, "%s is %ld, not %d",
                      values[i].name, value_in(text, values[i].name), values[i].value);
    ck_assert_msg(strstr(text, "NCCL_UNIQUE_ID_BYTES 128") != NULL, "an identifier's bytes");
    ck_assert_msg(strstr(text, "0xcafebeef") != NULL, "the magic number of a configuration");
    free(text);
}
END_TEST

START_TEST(version_and_texts)
{
    load(library);
    int again = 0;
    ck_assert_int_ge(lz_nccl_version(), NCCL_OLDEST);
    ck_assert_int_lt(lz_nccl_version(), 100000);
    ck_assert_int_eq(lz_nccl.GetVersion(&again), NCCL_OK);
    ck_assert_int_eq(again, lz_nccl_version());
    printf("t_nccl_abi: NCCL %d, %s\n", again, library);
    for (int r = NCCL_OK; r <= NCCL_IN_PROGRESS; r++)
        for (int q = NCCL_OK; q < r; q++)
            ck_assert_str_ne(lz_nccl.GetErrorString(r), lz_nccl.GetErrorString(q));
    ck_assert_int_eq(lz_nccl.GetVersion(NULL), NCCL_INVALID_ARGUMENT);
}
END_TEST

START_TEST(identifiers)
{
    nccl_id a, b, zero = {{0}};
    struct {
        nccl_id id;
        char behind[64];
    } c;
    load(library);
    memset(&c, 0x5a, sizeof c);
    ck_assert_int_eq(lz_nccl.GetUniqueId(&a), NCCL_OK);
    ck_assert_int_eq(lz_nccl.GetUniqueId(&b), NCCL_OK);
    ck_assert_int_eq(lz_nccl.GetUniqueId(&c.id), NCCL_OK);
    ck_assert(memcmp(&a, &b, sizeof a) != 0);
    ck_assert(memcmp(&a, &zero, sizeof a) != 0);
    for (size_t i = 0; i < sizeof c.behind; i++)
        ck_assert_int_eq(c.behind[i], 0x5a);
}
END_TEST

/* An end without a begin is refused, and groups may be empty. */
START_TEST(empty_groups)
{
    load(library);
    ck_assert_int_eq(lz_nccl.GroupEnd(), NCCL_INVALID_USAGE);
    ck_assert_int_eq(lz_nccl.GroupStart(), NCCL_OK);
    ck_assert_int_eq(lz_nccl.GroupEnd(), NCCL_OK);
}
END_TEST

/* ---- a communicator of one rank ---- */

enum { ROOM = 1 << 12 };
typedef struct rank {
    cuda_device *d;
    nccl_comm comm;
    lz_device_buffer *from, *to;
    unsigned char sent[ROOM];
} rank;

static bool went(int result)
{
    return result == NCCL_OK || result == NCCL_IN_PROGRESS;
}

/* A result that may come later: until it is there, at most half a minute. */
static void ready(const rank *k, int result, const char *what)
{
    int now = result;
    ck_assert_msg(went(result), "%s: %s, %s", what, lz_nccl.GetErrorString(result),
                  lz_nccl.GetLastError(k->comm));
    for (int64_t t0 = lz_now_ns(); k->comm;) {
        ck_assert_int_eq(lz_nccl.CommGetAsyncError(k->comm, &now), NCCL_OK);
        if (now != NCCL_IN_PROGRESS)
            break;
        ck_assert_msg(lz_now_ns() - t0 < 30000000000, "%s: still in progress", what);
        usleep(100);
    }
    ck_assert_msg(now == NCCL_OK, "%s: %s, %s", what, lz_nccl.GetErrorString(now),
                  lz_nccl.GetLastError(k->comm));
}

static void make(rank *k)
{
    nccl_config config = {sizeof config, (unsigned)NCCL_MAGIC, NCCL_OLDEST, 0};
    nccl_id id;
    ck_assert_int_eq(lz_nccl.GetUniqueId(&id), NCCL_OK);
    k->comm = NULL;
    OK(cuda_enter(k->d));
    ready(k, lz_nccl.CommInitRankConfig(&k->comm, 1, id, 0, &config), "making a communicator");
    cuda_leave(k->d);
    ck_assert(k->comm != NULL);
}

static void begin(rank *k)
{
    if (!real_gpu())
        load(lz_mock_nccl_path());
    else
        load(library);
    OK(be->init());
    k->d = cuda_device_at(0);
    OK(be->alloc(0, ROOM, &k->from));
    OK(be->alloc(0, ROOM, &k->to));
    for (int i = 0; i < ROOM; i++)
        k->sent[i] = (unsigned char)(i * 7 + 1);
    OK(be->copy_in(k->from, k->sent, ROOM));
    make(k);
}

static void end(rank *k)
{
    (void)lz_nccl.CommAbort(k->comm);
    lz_device_buffer_release(k->from);
    lz_device_buffer_release(k->to);
}

static void *at(const lz_device_buffer *b)
{
    return b->data;
}

static void clear(const rank *k)
{
    static const unsigned char nothing[ROOM] = {0};
    OK(be->copy_in(k->to, nothing, ROOM));
    OK(cuda_enter(k->d)); /* what is copied in is there before the compute stream goes on */
    ck_assert_int_eq(lz_cuda.StreamWaitEvent(k->d->compute, k->d->uploaded, 0), CU_OK);
    cuda_leave(k->d);
}

/* As many bytes have come, and no more. */
static void expect(const rank *k, size_t nbytes, const char *what)
{
    unsigned char got[ROOM];
    OK(cuda_enter(k->d));
    ck_assert_int_eq(lz_cuda.StreamSynchronize(k->d->compute), CU_OK);
    cuda_leave(k->d);
    OK(be->copy_out(k->to, got, ROOM));
    for (size_t i = 0; i < ROOM; i++)
        ck_assert_msg(got[i] == (i < nbytes ? k->sent[i] : 0), "%s: byte %zu is %d", what, i,
                      got[i]);
}

static const struct {
    int type;
    size_t nbytes;
} types[] = {{NCCL_I8, 1},  {NCCL_U8, 1},  {NCCL_I32, 4}, {NCCL_U32, 4}, {NCCL_I64, 8},
             {NCCL_U64, 8}, {NCCL_F16, 2}, {NCCL_F32, 4}, {NCCL_F64, 8}, {NCCL_BF16, 2}};
enum { TYPES = sizeof types / sizeof *types, COUNT = 100 };

typedef int call_fn(const rank *k, int type, int op);
static int all_reduce(const rank *k, int type, int op)
{
    return lz_nccl.AllReduce(at(k->from), at(k->to), COUNT, type, op, k->comm, k->d->compute);
}
static int reduce_scatter(const rank *k, int type, int op)
{
    return lz_nccl.ReduceScatter(at(k->from), at(k->to), COUNT, type, op, k->comm, k->d->compute);
}
static int all_gather(const rank *k, int type, int op)
{
    (void)op;
    return lz_nccl.AllGather(at(k->from), at(k->to), COUNT, type, k->comm, k->d->compute);
}
static int broadcast(const rank *k, int type, int op)
{
    (void)op;
    return lz_nccl.Broadcast(at(k->from), at(k->to), COUNT, type, 0, k->comm, k->d->compute);
}
static int send_to_itself(const rank *k, int type, int op)
{
    (void)op;
    int r = lz_nccl.GroupStart();
    if (went(r))
        r = lz_nccl.Send(at(k->from), COUNT, type, 0, k->comm, k->d->compute);
    if (went(r))
        r = lz_nccl.Recv(at(k->to), COUNT, type, 0, k->comm, k->d->compute);
    int end = lz_nccl.GroupEnd();
    return went(r) ? end : r;
}

static const struct {
    const char *name;
    call_fn *fn;
    bool sums;
} kinds_of_call[] = {{"all_reduce", all_reduce, true},
                     {"reduce_scatter", reduce_scatter, true},
                     {"all_gather", all_gather, false},
                     {"broadcast", broadcast, false},
                     {"send and receive", send_to_itself, false}};
enum { KINDS = sizeof kinds_of_call / sizeof *kinds_of_call };

/* Of one rank every result is what is sent, so it says how long the elements of a type are. */
START_TEST(every_call)
{
    rank k;
    char what[64];
    begin(&k);
    for (int i = 0; i < KINDS; i++)
        for (int t = 0; t < TYPES; t++)
            for (int op = NCCL_SUM; op <= (kinds_of_call[i].sums ? NCCL_MIN : NCCL_SUM); op++) {
                snprintf(what, sizeof what, "%s, type %d, op %d", kinds_of_call[i].name,
                         types[t].type, op);
                clear(&k);
                OK(cuda_enter(k.d));
                ready(&k, kinds_of_call[i].fn(&k, types[t].type, op), what);
                cuda_leave(k.d);
                expect(&k, COUNT * types[t].nbytes, what);
            }
    ck_assert(went(lz_nccl.CommDestroy(k.comm)));
    make(&k);
    end(&k);
}
END_TEST

/* Several calls in one group, and what is no type, no operation, no rank. */
START_TEST(groups_and_refusals)
{
    rank k;
    begin(&k);
    clear(&k);
    OK(cuda_enter(k.d));
    ck_assert_int_eq(lz_nccl.GroupStart(), NCCL_OK);
    ck_assert(went(lz_nccl.AllGather(at(k.from), at(k.to), 64, NCCL_U8, k.comm, k.d->compute)));
    ck_assert(went(lz_nccl.AllReduce((char *)at(k.from) + 64, (char *)at(k.to) + 64, 16, NCCL_F32,
                                     NCCL_SUM, k.comm, k.d->compute)));
    ready(&k, lz_nccl.GroupEnd(), "a group of two");
    cuda_leave(k.d);
    expect(&k, 128, "a group of two");
    OK(cuda_enter(k.d));
    ck_assert_int_eq(all_gather(&k, 99, 0), NCCL_INVALID_ARGUMENT);
    cuda_leave(k.d);
    end(&k);
}
END_TEST

/* After one was ended in the middle of its work another one works. */
START_TEST(abort_and_again)
{
    rank k;
    begin(&k);
    for (int round = 0; round < 2; round++) {
        OK(cuda_enter(k.d));
        ready(&k, all_reduce(&k, NCCL_F32, NCCL_SUM), "all_reduce");
        int r = lz_nccl.CommAbort(k.comm);
        cuda_leave(k.d);
        ck_assert_msg(went(r), "abort: %d", r);
        make(&k);
    }
    clear(&k);
    OK(cuda_enter(k.d));
    ready(&k, all_reduce(&k, NCCL_F32, NCCL_SUM), "all_reduce after an abort");
    cuda_leave(k.d);
    expect(&k, 4 * COUNT, "all_reduce after an abort");
    end(&k);
}
END_TEST

/* ---- this project's own communicators, of one device ---- */

enum { CALLS = 50 };
typedef struct ours {
    rank k;
    cuda_clique *clique;
    cuda_run run[1];
    cuda_job job;
    cuda_team team;
    bool refuse; /* the group's function fails */
} ours;

static lz_status one_call(const void *user)
{
    const ours *o = user;
    if (o->refuse)
        return LZ_FAIL(LZ_EDEVICE, "as the test asked for");
    return cuda_nccl_called(lz_nccl.AllReduce(at(o->k.from), at(o->k.to), COUNT, NCCL_F32, NCCL_SUM,
                                              cuda_clique_comm(o->clique, 0), o->k.d->compute),
                            cuda_clique_comm(o->clique, 0), "a sum");
}

static lz_status one_group(ours *o)
{
    o->team.inside = -1;
    lz_status s = cuda_nccl_group(&o->team, NULL, &o->clique, 1, one_call, o);
    if (o->team.inside >= 0)
        cuda_leave(o->k.d);
    return s;
}

/* Groups one behind the other, then one that fails: what was in flight is no longer to be trusted,
 * and the next job has communicators that are new. */
START_TEST(groups_of_a_job)
{
    ours o = {.refuse = false};
    begin(&o.k);
    OK(cuda_clique_get(&(uint32_t){0}, 1, &o.clique));
    ck_assert_msg(o.clique != NULL, "no communicator could be made: LAZULI_LOG=info says why");
    o.run[0] = (cuda_run){.d = o.k.d, .team = &o.team};
    o.team = (cuda_team){.job = &o.job, .run = o.run, .inside = -1};
    for (int round = 0; round < 2; round++) {
        clear(&o.k);
        o.job.nccl = 0;
        for (int i = 0; i < CALLS; i++)
            OK(one_group(&o));
        expect(&o.k, 4 * COUNT, "groups of a job");
        OK(cuda_nccl_check(&o.job));
        usleep(200000); /* the thread that looks has seen the end of all */
        OK(cuda_nccl_check(&o.job));
        o.refuse = true;
        ck_assert_int_eq(one_group(&o), LZ_EDEVICE);
        ck_assert_int_eq(cuda_nccl_check(&o.job), LZ_EDEVICE);
        o.refuse = false;
        ck_assert_int_eq(one_group(&o), LZ_EDEVICE); /* of the same job */
    }
    end(&o.k);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("nccl_abi");
    TCase *without = tcase_create("without a GPU"), *with = tcase_create("of one rank");
    find_library();
    tcase_set_timeout(with, 120);
    tcase_set_timeout(without, 60);
    if (library[0]) {
        tcase_add_test(without, as_in_the_header);
        tcase_add_test(without, version_and_texts);
        tcase_add_test(without, identifiers);
        tcase_add_test(without, empty_groups);
        suite_add_tcase(s, without);
    }
    if (library[0] || !real_gpu()) {
        tcase_add_test(with, every_call);
        tcase_add_test(with, groups_and_refusals);
        tcase_add_test(with, abort_and_again);
        tcase_add_test(with, groups_of_a_job);
        suite_add_tcase(s, with);
    }
    if (!library[0]) {
        printf("t_nccl_abi: no NCCL (package libnccl2, or Python's nvidia-nccl-cu13) to compare\n");
        if (real_gpu())
            return 77;
    }
    return lz_run_suite(s);
}
