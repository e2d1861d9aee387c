/* launcher.c - see launcher.h. Where rank 0 listens is what MASTER_ADDR and MASTER_PORT say. MPI's
 * launchers and Slurm set neither; on one host it is then the loopback address and a port made of
 * the job's number. */
#include "backends/distributed/launcher.h"
#include "base/config.h"
#include "base/env.h"
#include "base/file_io.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "base/text.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    USUAL_PORT = 29500, /* PyTorch's, where the environment is set by hand */
    FIRST_PORT = 20000,
    NPORT = 12000, /* below those that the system gives to clients */
    ANCESTORS = 16
};

typedef struct row {
    const char *option, *name;
    const char *variables[7]; /* rank, size, local rank, local size, host, job, NULL */
} row;
static const row rows[LZ_LAUNCHER_COUNT] = {
    {"none", "nobody", {NULL}},
#define LZ_LAUNCHER(id, option, name, ...) {option, name, {__VA_ARGS__, NULL}},
#include "backends/distributed/launchers.def"
#undef LZ_LAUNCHER
};

const char *lz_launcher_name(lz_launcher l)
{
    return l < LZ_LAUNCHER_COUNT ? rows[l].name : NULL;
}

const char *lz_launcher_option(lz_launcher l)
{
    return l < LZ_LAUNCHER_COUNT ? rows[l].option : NULL;
}

const char *const *lz_launcher_variables(lz_launcher l)
{
    return rows[l].variables;
}

/* ---- variables ---- */

/* A variable that has a value, and its name. */
typedef struct variable {
    char name[64];
    const char *text; /* NULL: none of them is set */
} variable;

/* The first of NAME|NAME that is set; else the name is the first one. */
static variable find(const char *names)
{
    variable v = {.name = "", .text = NULL};
    for (const char *at = names; *at && !v.text; at += *at == '|') {
        size_t n = strcspn(at, "|");
        variable x;
        snprintf(x.name, sizeof x.name, "%.*s", (int)n, at);
        x.text = lz_env_get(x.name);
        if (x.text || !v.name[0])
            v = x;
        at += n;
    }
    return v;
}

static lz_status number(const variable *v, int64_t lo, int64_t hi, int *out)
{
    int64_t x;
    lz_status s = lz_text_i64(v->text, strlen(v->text), INT64_MIN, INT64_MAX, &x);
    if (s != LZ_OK || x < lo || x > hi)
        return LZ_FAIL(LZ_EINVAL,
                       s == LZ_OK ? "%s=%.40s: not from %" PRId64 " to %" PRId64
                                  : "%s=%.40s: not a number (of %" PRId64 " to %" PRId64 ")",
                       v->name, v->text, lo, hi);
    *out = (int)x;
    return LZ_OK;
}

/* -1: it is not set. */
static lz_status optional(const char *names, int64_t hi, int *out)
{
    variable v = find(names);
    *out = -1;
    return v.text ? number(&v, 0, hi, out) : LZ_OK;
}

/* ---- the job ---- */

/* The parent of a process and what it is called; 0: there is none to see. */
static pid_t parent_of(pid_t pid, char *comm, size_t n)
{
    char path[48], text[512];
    uint64_t parent = 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    if (!lz_file_text(path, text, sizeof text))
        return 0;
    const char *open = strchr(text, '('), *close = strrchr(text, ')');
    if (!open || !close || close < open || strlen(close) < 5)
        return 0;
    snprintf(comm, n, "%.*s", (int)(close - open - 1), open + 1);
    (void)lz_text_digits(close + 4, strlen(close + 4), &parent); /* ") S 123" */
    return (pid_t)parent;
}

/* Hydra gives its processes no number of the job; those of a host are children of one proxy,
 * perhaps of a shell between them. */
static uint64_t proxy_of_host(void)
{
    char comm[32];
    pid_t parent = getppid();
    for (pid_t p = parent; p > 1;) {
        pid_t up = parent_of(p, comm, sizeof comm);
        if (strncmp(comm, "hydra", 5) == 0)
            return (uint64_t)p;
        if (up <= 1)
            break;
        p = up;
    }
    return (uint64_t)parent;
}

static uint64_t job_of(lz_launcher l, int count)
{
    char text[512];
    variable v = find(rows[l].variables[5]);
    int n =
        snprintf(text, sizeof text, "%s %d %.200s", rows[l].option, count, v.text ? v.text : "");
    if (l == LZ_LAUNCHER_MPICH && !v.text)
        n += snprintf(text + n, sizeof text - (size_t)n, "%" PRIu64, proxy_of_host());
    if (l == LZ_LAUNCHER_SLURM) { /* a job may have several steps at a time */
        const char *step = lz_env_get("SLURM_STEP_ID");
        n += snprintf(text + n, sizeof text - (size_t)n, ".%.40s", step ? step : "");
    }
    return lz_hash_bytes(text, (size_t)n).lo;
}

/* Where rank 0 listens. */
static lz_status find_address(lz_process_info *p)
{
    const char *address = lz_env_get("MASTER_ADDR");
    variable port = find("MASTER_PORT");
    bool one_host = p->local_count == p->count || p->launcher == LZ_LAUNCHER_ENVIRONMENT;
    if (p->launcher == LZ_LAUNCHER_SLURM) {
        const char *hosts = lz_env_get("SLURM_NNODES");
        one_host = !hosts || strcmp(hosts, "1") == 0;
    }
    if (!address && !one_host)
        return LZ_FAIL(LZ_EINVAL,
                       "MASTER_ADDR is not set: %d processes are on several hosts, and need the "
                       "address of the one of rank 0",
                       p->count);
    if (address && strlen(address) >= sizeof p->address)
        return LZ_FAIL(LZ_EINVAL, "MASTER_ADDR=%.40s..: a name of %zu characters", address,
                       strlen(address));
    snprintf(p->address, sizeof p->address, "%s", address ? address : "127.0.0.1");
    p->port =
        p->launcher == LZ_LAUNCHER_ENVIRONMENT ? USUAL_PORT : FIRST_PORT + (int)(p->job % NPORT);
    return port.text ? number(&port, 1, 65535, &p->port) : LZ_OK;
}

/* ---- who started it ---- */

static lz_status read_row(lz_launcher l, lz_process_info *p)
{
    const char *const *v = rows[l].variables;
    variable rank = find(v[0]), size = find(v[1]);
    int count;
    LZ_TRY(number(&size, 1, LZ_PROCESSES_MAX, &count));
    if (!rank.text && count > 1)
        return LZ_FAIL(LZ_EINVAL, "%s is not set, but %s=%d", rank.name, size.name, count);
    if (count == 1)
        return LZ_OK;
    LZ_TRY(number(&rank, 0, INT32_MAX, &p->index));
    if (p->index >= count)
        return LZ_FAIL(LZ_EINVAL, "%s=%d: not less than %s=%d", rank.name, p->index, size.name,
                       count);
    p->count = count;
    p->launcher = l;
    LZ_TRY(optional(v[2], count - 1, &p->local_index));
    LZ_TRY(optional(v[3], count, &p->local_count));
    LZ_TRY(optional(v[4], count - 1, &p->host_index));
    if (p->local_count >= 0 && p->local_index >= p->local_count)
        return LZ_FAIL(LZ_EINVAL, "%s=%d: not less than %s=%d", find(v[2]).name, p->local_index,
                       find(v[3]).name, p->local_count);
    p->job = job_of(l, count);
    return find_address(p);
}

/* Slurm sets its variables in a shell of one process, too, and a rank alone may be of anything. */
static bool matches(lz_launcher l)
{
    const char *const *v = rows[l].variables;
    return find(v[1]).text && (find(v[0]).text || l == LZ_LAUNCHER_ENVIRONMENT);
}

static lz_status unknown_launcher(const char *name)
{
    char all[128] = "";
    for (lz_launcher l = LZ_LAUNCHER_NONE; l < LZ_LAUNCHER_COUNT; l++) {
        size_t n = strlen(all);
        snprintf(all + n, sizeof all - n, "%s%s", n ? ", " : "", rows[l].option);
    }
    return LZ_FAIL(LZ_EINVAL, "LAZULI_LAUNCHER=%.40s: %s", name, all);
}

lz_status lz_process_info_read(lz_process_info *out)
{
    const char *only = lz_cfg_str(LZ_OPT_LAUNCHER);
    *out = (lz_process_info){.count = 1, .local_index = -1, .local_count = -1, .host_index = -1};
    bool known = !*only;
    for (lz_launcher l = LZ_LAUNCHER_NONE; l < LZ_LAUNCHER_COUNT; l++)
        known |= strcmp(only, rows[l].option) == 0;
    if (!known)
        return unknown_launcher(only);
    for (lz_launcher l = LZ_LAUNCHER_NONE + 1; l < LZ_LAUNCHER_COUNT; l++)
        if ((!*only || strcmp(only, rows[l].option) == 0) && matches(l))
            return read_row(l, out);
    return LZ_OK;
}

static lz_once once = LZ_ONCE_INIT;
static lz_process_info info;
static lz_error failure;

static void read_once(void)
{
    LZ_QUIETLY {
        if (lz_process_info_read(&info) != LZ_OK)
            failure = *lz_error_get();
    }
}

lz_status lz_process_info_get(const lz_process_info **out)
{
    lz_once_run(&once, read_once);
    *out = &info;
    if (failure.status != LZ_OK)
        lz_error_set(&failure);
    return failure.status;
}

bool lz_collectives_overlap(void)
{
    const lz_process_info *p;
    bool several = false;
    LZ_QUIETLY /* who joins is told */
        several = lz_process_info_get(&p) == LZ_OK && p->count > 1;
    return lz_cfg_int(LZ_OPT_OVERLAP) >= (several ? 1 : 2);
}
