/* unseen_error.c - see unseen_error.h. The failures are a few records of the process, the oldest
 * ones: what is said is the first. glibc: on_exit. */
#include "base/unseen_error.h"
#include "base/log.h"
#include "base/mutex.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

typedef enum how {
    NONE,
    ALONE, /* nobody was given a status */
    GIVEN,
    STEPPED /* a step gave it, or one that failed for another reason */
} how;

typedef struct unseen {
    how state;
    uint64_t thread; /* thread_id of whose it is */
    lz_error error;
} unseen;

enum { MOST = 16, LOOKED = 16 };
static lz_mutex lock = LZ_MUTEX_INIT("unseen_error");
static unseen list[MOST];        /* oldest first, up to `count` */
static _Atomic uint32_t count;   /* readable without the lock */
static bool looked, said;        /* at any failure; the line */
static pid_t process;            /* whose failures these are */
static _Atomic uint64_t threads; /* that failures were noted of */
static _Thread_local struct {
    uint64_t id;
    uint64_t looked[LOOKED]; /* at the last ones, by their serials */
    uint32_t next;
} mine;

/* Of this thread and no later one, whatever memory they have. */
static uint64_t thread_id(void)
{
    if (!mine.id)
        mine.id = atomic_fetch_add(&threads, 1) + 1;
    return mine.id;
}

static bool has_looked(uint64_t serial)
{
    for (uint32_t i = 0; i < LOOKED; i++)
        if (mine.looked[i] == serial)
            return true;
    return false;
}

/* A child does not tell of its parent's failures. The caller holds the lock. */
static void own_process(void)
{
    if (process == getpid())
        return;
    process = getpid();
    count = 0;
    looked = said = false;
}

static void say(const lz_error *e)
{
    char text[LZ_ERROR_TEXT];
    said = true;
    lz_log_to_stderr(LZ_LOG_WARN, "status",
                     "%s (a failure whose status the program has not asked for)",
                     lz_error_text(e, text));
}

static const unseen *first(how least, how most)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i].state >= least && list[i].state <= most)
            return &list[i];
    return NULL;
}

/* Not through the log callback: what the program gave for it may be gone by now. */
static void at_exit(int status, void *unused)
{
    (void)unused;
    lz_mutex_lock(&lock);
    const unseen *u = NULL;
    if (process == getpid() && !said)
        u = status ? (looked ? NULL : first(ALONE, ALONE)) : first(ALONE, STEPPED);
    if (u)
        say(&u->error);
    lz_mutex_unlock(&lock);
}

static void watch_exit(void)
{
    (void)on_exit(at_exit, NULL);
}

static void sweep(void)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++)
        if (list[i].state != NONE)
            list[n++] = list[i];
    count = n;
}

/* The record of the failure: a new one if `make`. NULL: none, or no room. */
static unseen *find(const lz_error *e, bool make)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i].error.serial == e->serial)
            return &list[i];
    if (!make || said || count == MOST)
        return NULL;
    unseen *u = &list[count++];
    *u = (unseen){.thread = thread_id()};
    return u;
}

static void enter(const lz_error *e, how given)
{
    static lz_once once = LZ_ONCE_INIT;
    if (!e->serial || has_looked(e->serial))
        return;
    lz_once_run(&once, watch_exit);
    lz_mutex_lock(&lock);
    own_process();
    unseen *u = find(e, true);
    if (u) {
        u->error = *e;
        u->state = given;
    }
    lz_mutex_unlock(&lock);
}

void lz_unseen_note(const lz_error *e)
{
    enter(e, ALONE);
}

void lz_unseen_given(const lz_error *e)
{
    enter(e, GIVEN);
}

void lz_unseen_step(const lz_error *e)
{
    lz_mutex_lock(&lock);
    own_process();
    const unseen *before = NULL;
    for (uint32_t i = 0; i < count && !before; i++)
        if (list[i].state == STEPPED && list[i].thread == thread_id() &&
            list[i].error.serial != e->serial)
            before = &list[i];
    if (before && !said)
        say(&before->error);
    for (uint32_t i = 0; i < count; i++)
        if (list[i].thread == thread_id())
            list[i].state = STEPPED;
    lz_mutex_unlock(&lock);
    enter(e, STEPPED);
}

bool lz_unseen_looked(const lz_error *e)
{
    if (!e->serial || has_looked(e->serial))
        return false;
    mine.looked[mine.next++ % LOOKED] = e->serial;
    if (!atomic_load_explicit(&count, memory_order_relaxed))
        return true;
    lz_mutex_lock(&lock);
    own_process();
    looked = true;
    unseen *u = find(e, false);
    bool stepped = u && u->state == STEPPED;
    for (uint32_t i = 0; i < count; i++)
        if (&list[i] == u || (stepped && list[i].state == STEPPED && list[i].thread == thread_id()))
            list[i].state = NONE;
    sweep();
    lz_mutex_unlock(&lock);
    return true;
}

void lz_unseen_forget(uint64_t serial)
{
    if (!atomic_load_explicit(&count, memory_order_relaxed))
        return;
    lz_mutex_lock(&lock);
    own_process();
    for (uint32_t i = 0; i < count; i++)
        if (list[i].error.serial >= serial && list[i].thread == thread_id())
            list[i].state = NONE;
    sweep();
    lz_mutex_unlock(&lock);
}
