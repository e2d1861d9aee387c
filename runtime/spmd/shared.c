/* shared.c - see shared.h. */
#include "runtime/spmd/shared.h"
#include "backends/distributed/talk.h"
#include <stdio.h>

uint32_t lz_shared_rank(void)
{
    return lz_processes_self();
}

uint32_t lz_shared_ranks(void)
{
    return lz_processes_count();
}

uint32_t lz_shared_rank_of(int64_t device)
{
    return lz_processes_of_device((uint32_t)device)->rank;
}

const char *lz_shared_process(uint32_t rank)
{
    return lz_processes_get(rank)->name;
}

uint64_t lz_shared_number(void)
{
    static _Atomic uint64_t count;
    return lz_talk_number(LZ_TALK_CHECKPOINT, atomic_fetch_add(&count, 1));
}

lz_status lz_shared_talk(uint64_t number, const char *about, lz_status mine, const lz_buf *said,
                         lz_shared_decide *decide, void *user)
{
    return lz_talk(number, about, mine, said, decide, user, NULL);
}

/* ---- with an answer ---- */

static lz_rd reader_of(const lz_buf *b)
{
    const uint8_t *p = (const uint8_t *)b->data;
    return (lz_rd){p, p + b->len, b->failed, false};
}

/* The first mild failure, with the name of its process. */
static lz_status first_mild(void *answer, lz_rd *said)
{
    lz_error first = {.status = LZ_OK};
    for (uint32_t r = 0; r < lz_processes_count(); r++) {
        lz_error e;
        lz_wire_get_outcome(&said[r], &e);
        LZ_TRY(lz_wire_ended(&said[r], "outcome"));
        if (e.status == LZ_OK || first.status != LZ_OK)
            continue;
        first.status = e.status;
        snprintf(first.message, sizeof first.message, "%s: %.300s", lz_processes_get(r)->name,
                 e.message);
    }
    lz_wire_put_outcome(answer, &first);
    return LZ_OK;
}

lz_status lz_shared_agree(const char *about, lz_status mine, bool *mild)
{
    const lz_error well = {.status = LZ_OK}, own = mine == LZ_OK ? well : *lz_error_get();
    bool mine_is = mine != LZ_OK && *mild;
    lz_buf said = {0}, answer = {0};
    lz_error e;
    lz_wire_put_outcome(&said, mine_is ? &own : &well);
    *mild = false;
    lz_status s = lz_talk(lz_shared_number(), about, mine_is ? LZ_OK : mine, &said, first_mild,
                          &answer, &answer);
    lz_rd r = reader_of(&answer);
    if (s == LZ_OK) {
        lz_wire_get_outcome(&r, &e);
        s = lz_wire_ended(&r, "outcome");
    }
    if (s == LZ_OK && e.status != LZ_OK) {
        *mild = true;
        s = e.status;
        lz_error_set(mine_is ? &own : &e);
    }
    lz_buf_free(&said);
    lz_buf_free(&answer);
    return *mild && mine_is ? mine : s;
}

/* mine: what this process says; NULL: nothing. */
static lz_status talk_of_number(const char *about, const int64_t *mine, lz_shared_decide *decide,
                                lz_buf *answer, int64_t *out)
{
    lz_buf said = {0};
    if (mine)
        lz_buf_u64(&said, (uint64_t)*mine);
    lz_status s = lz_talk(lz_shared_number(), about, LZ_OK, &said, decide, answer, answer);
    lz_rd r = reader_of(answer);
    int64_t is = s == LZ_OK ? (int64_t)lz_rd_u64(&r) : 0;
    if (s == LZ_OK)
        s = lz_wire_ended(&r, "number");
    if (s == LZ_OK)
        *out = is;
    lz_buf_free(&said);
    lz_buf_free(answer);
    return s;
}

lz_status lz_shared_first(const char *about, int64_t mine, int64_t *first)
{
    lz_buf answer = {0};
    if (lz_processes_self() == 0)
        lz_buf_u64(&answer, (uint64_t)mine);
    return talk_of_number(about, NULL, NULL, &answer, first);
}

static lz_status largest(void *answer, lz_rd *said)
{
    int64_t most = INT64_MIN;
    for (uint32_t r = 0; r < lz_processes_count(); r++) {
        int64_t v = (int64_t)lz_rd_u64(&said[r]);
        LZ_TRY(lz_wire_ended(&said[r], "number"));
        most = v > most ? v : most;
    }
    lz_buf_u64(answer, (uint64_t)most);
    return LZ_OK;
}

lz_status lz_shared_max(const char *about, int64_t mine, int64_t *most)
{
    lz_buf answer = {0};
    return talk_of_number(about, &mine, largest, &answer, most);
}
