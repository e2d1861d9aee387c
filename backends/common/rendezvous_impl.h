/* rendezvous_impl.h - what rendezvous.c and, for groups over several processes,
 * meeting.c know of a group.
 * Debts: a member owes its group a job for each of its jobs that failed without coming. What all
 * owe is paid: a new epoch begins, in which meetings are counted from 0. Both are the same numbers
 * in all processes. */
#ifndef LZ_BACKENDS_COMMON_RENDEZVOUS_IMPL_H
#define LZ_BACKENDS_COMMON_RENDEZVOUS_IMPL_H
#include "backends/common/rendezvous.h"

/* Who meets a device, in the order of the collective, and where each one's operand comes from. */
typedef struct lz_meeters {
    uint32_t n, member[LZ_RENDEZVOUS_DEVICES], from[LZ_RENDEZVOUS_DEVICES];
} lz_meeters;

struct lz_arrival {
    uint32_t device;
    const lz_step_collective *c;
    const lz_site *site;    /* the program's line; NULL: not known */
    const lz_hash *program; /* lz_rendezvous_meet's */
    void *const *bufs;
    lz_rendezvous_group *g;
    bool done;
    lz_error err; /* when done; LZ_OK: its results are there */
};

struct lz_rendezvous_group {
    lz_rendezvous_group *next;
    uint32_t n, narrived;
    uint32_t nlocal;     /* members of this process */
    bool running;        /* those are all there, and one does the loop */
    bool foreign;        /* other processes have named it, and nobody of this one has come yet */
    uint64_t met;        /* how many times; */
    uint64_t seen, ring; /* by the walk of this number; it waits for itself, found this one */
    uint64_t epoch, seq; /* jobs that all members owed; meetings since then */
    lz_error broken;     /* not LZ_OK: why nobody may meet until all have failed */
    lz_error lost;       /* not LZ_OK: why nobody ever meets again */
    struct lz_far *far;  /* of members in other processes; NULL: all are here */
    uint32_t member[LZ_RENDEZVOUS_DEVICES]; /* ascending */
    /* by member: jobs that failed, and that others have not failed for */
    uint32_t debt[LZ_RENDEZVOUS_DEVICES];
    bool noted[LZ_RENDEZVOUS_DEVICES]; /* by member: the job that it runs, and that will fail, is in
                                        * debt */
    const lz_arrival *first;           /* of those that are there */
};

/* Foreign groups at a time: another process is ahead of this one by those of a program or two. */
enum { LZ_RENDEZVOUS_FOREIGN = 1024 };
/* Under lock. The group of these members, ascending. foreign: another process names it, which may
 * name anything: LZ_ERANGE where there are too many such. NULL with that, or LZ_EMEM. */
lz_rendezvous_group *lz_rendezvous_group_of(lz_rendezvous *r, const uint32_t *member, uint32_t n,
                                            bool foreign);
/* Under lock: from now on nobody meets here until every member has failed. */
void lz_rendezvous_break_up(lz_rendezvous *r, lz_rendezvous_group *g, const lz_error *err);
/* Under lock: nobody ever meets here again. */
void lz_rendezvous_lose(lz_rendezvous *r, lz_rendezvous_group *g, const lz_error *err);
/* Under lock, after a debt has grown: what all members owe is paid. */
void lz_rendezvous_settle(lz_rendezvous *r, lz_rendezvous_group *g);
/* "CPU:[0, 1]", "all_reduce of f32[4], .." */
void lz_rendezvous_print_members(const lz_rendezvous *r, const lz_rendezvous_group *g, char *text,
                                 size_t n);
void lz_rendezvous_print_what(const lz_sig *sig, char *text, size_t n);
#endif
