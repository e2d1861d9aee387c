/* talk.c - see talk.h. A note is sent in pieces that fit into messages of control; its pieces come
 * in their order, since a socket is in order. Rank 0 says with an empty one that it has come: from
 * then on it waits, for as long as any other one may, and the others with it. */
#include "backends/distributed/talk.h"
#include "backends/distributed/join.h"
#include "base/alloc.h"
#include "base/thread.h"
#include <string.h>

enum { MOST_PIECES = 4096, MOST_BYTES = 256 << 20 }; /* kept of one sender */

typedef struct piece {
    struct piece *next;
    uint32_t from;
    uint64_t talk;
    bool last;
    int64_t came;
    size_t nbytes;
    char bytes[];
} piece;

static struct {
    lz_mutex lock;
    piece *first, **end; /* as they came */
    uint32_t count[LZ_WIRE_PROCESSES];
    size_t nbytes[LZ_WIRE_PROCESSES];
} kept = {.lock = LZ_MUTEX_INIT("talk")};

/* ---- what has come ---- */

/* Under lock: *at leaves the list. */
static piece *unlink_piece(piece **at)
{
    piece *p = *at;
    *at = p->next;
    if (!*at)
        kept.end = at;
    kept.count[p->from]--;
    kept.nbytes[p->from] -= p->nbytes;
    return p;
}

/* Under lock. */
static void drop_oldest(uint32_t from)
{
    piece **at = &kept.first;
    while (*at && (*at)->from != from)
        at = &(*at)->next;
    if (*at)
        lz_free(unlink_piece(at));
}

static bool is_full(uint32_t from, size_t more)
{
    return kept.count[from] > 0 &&
           (kept.count[from] >= MOST_PIECES || kept.nbytes[from] + more > MOST_BYTES);
}

bool lz_talk_take(uint32_t from, const void *p, size_t n)
{
    lz_wire_note note;
    lz_status s = LZ_OK;
    piece *k = NULL;
    LZ_QUIETLY {
        s = lz_wire_get_note(p, n, &note);
        if (s == LZ_OK)
            k = lz_alloc(sizeof *k + note.nbody);
    }
    if (s != LZ_OK || !k)
        return false;
    *k = (piece){.from = from,
                 .talk = note.talk,
                 .last = note.last,
                 .came = lz_now_ns(),
                 .nbytes = note.nbody};
    if (note.nbody)
        memcpy(k->bytes, note.body, note.nbody);
    lz_mutex_lock(&kept.lock);
    while (is_full(from, note.nbody))
        drop_oldest(from);
    if (!kept.end)
        kept.end = &kept.first;
    *kept.end = k;
    kept.end = &k->next;
    kept.count[from]++;
    kept.nbytes[from] += k->nbytes;
    lz_mutex_unlock(&kept.lock);
    return true;
}

/* The note, once its last piece is there. */
static bool take_note(uint32_t from, uint64_t talk, lz_buf *out)
{
    bool whole = false;
    lz_mutex_lock(&kept.lock);
    for (const piece *p = kept.first; p && !whole; p = p->next)
        whole = p->from == from && p->talk == talk && p->last;
    for (piece **at = &kept.first; whole && *at;) {
        if ((*at)->from != from || (*at)->talk != talk) {
            at = &(*at)->next;
            continue;
        }
        piece *p = unlink_piece(at);
        bool last = p->last;
        lz_buf_put(out, p->bytes, p->nbytes);
        lz_free(p);
        if (last)
            break;
    }
    lz_mutex_unlock(&kept.lock);
    return whole;
}

/* When the first piece of the note came; 0: there is none. */
static int64_t came_at(uint32_t from, uint64_t talk)
{
    lz_mutex_lock(&kept.lock);
    const piece *p = kept.first;
    while (p && (p->from != from || p->talk != talk))
        p = p->next;
    int64_t came = p ? p->came : 0;
    lz_mutex_unlock(&kept.lock);
    return came;
}

/* ---- sending and waiting ---- */

static int64_t deadline(int64_t begin, int64_t patience)
{
    int64_t limit = lz_join_limit() + patience;
    return limit < INT64_MAX - begin ? begin + limit : INT64_MAX;
}

/* Twice where there is no memory, since somebody waits for it. */
static lz_status send_piece(uint32_t to, uint64_t talk, bool last, const void *p, size_t n)
{
    lz_status s = LZ_EMEM;
    for (int tries = 0; tries < 2 && s == LZ_EMEM; tries++) {
        lz_buf b = {0};
        lz_wire_put_note(&b, &(lz_wire_note){talk, last, p, n});
        s = lz_processes_send(to, LZ_WIRE_NOTE, &b);
    }
    return s;
}

/* Who waits for a note that there is no memory for hears that, or gets one that is cut short, which
 * is malformed. */
static void send_instead(uint32_t to, uint64_t talk, bool begun)
{
    const lz_error e = {.status = LZ_EMEM, .message = "no memory for a message"};
    LZ_QUIETLY {
        lz_buf b = {0};
        if (!begun)
            lz_wire_put_outcome(&b, &e);
        (void)send_piece(to, talk, true, b.len ? b.data : "", b.len);
        lz_buf_free(&b);
    }
}

static lz_status send_note(uint32_t to, uint64_t talk, const lz_buf *note)
{
    size_t at = 0;
    lz_status s =
        note->failed ? LZ_FAIL(LZ_EMEM, "no memory for a message to %s", lz_processes_get(to)->name)
                     : LZ_OK;
    for (bool last = false; s == LZ_OK && !last;) {
        size_t n = note->len - at < LZ_WIRE_PIECE ? note->len - at : LZ_WIRE_PIECE;
        last = at + n == note->len;
        s = send_piece(to, talk, last, note->data + at, n);
        at += s == LZ_OK ? n : 0;
    }
    if (s != LZ_OK)
        send_instead(to, talk, at > 0);
    return s;
}

/* Waits for the notes of those whose has[] is false. */
static lz_status hear(uint64_t talk, const char *about, uint32_t n, bool *has, lz_buf *note,
                      int64_t until)
{
    for (;;) {
        uint32_t seen = lz_processes_bell(), wait = n;
        for (uint32_t r = 0; r < n; r++) {
            if (has[r])
                continue;
            bool live =
                lz_processes_state(r) == LZ_PROCESS_LIVE; /* before its note is looked for */
            has[r] = take_note(r, talk, &note[r]);
            if (!has[r] && !live)
                return lz_processes_missing(r, about, "come");
            if (!has[r] && wait == n)
                wait = r;
        }
        if (wait == n)
            return LZ_OK;
        int64_t left = until - lz_now_ns();
        if (left <= 0)
            return lz_processes_missing(wait, about, "come");
        lz_processes_wait(seen, left);
    }
}

/* Memory for an answer that is not long, before it is settled that all went well. */
static lz_status make_room(lz_buf *note, const char *about)
{
    char room[sizeof(lz_error) + 64] = {0};
    lz_buf_put(note, room, sizeof room);
    note->len = 0;
    if (!note->failed)
        return LZ_OK;
    lz_buf_free(note);
    return LZ_FAIL(LZ_EMEM, "%s: no memory", about);
}

/* ---- rank 0 ---- */

/* The first that has failed; else what each has said is in said[]. */
static lz_status read_all(const char *about, uint32_t n, const lz_buf *note, lz_rd *said)
{
    for (uint32_t r = 0; r < n; r++) {
        lz_error e = {.status = LZ_OK};
        if (note[r].failed)
            return LZ_FAIL(LZ_EMEM, "%s: no memory for what %s says", about,
                           lz_processes_get(r)->name);
        said[r] = (lz_rd){(const uint8_t *)note[r].data,
                          (const uint8_t *)note[r].data + note[r].len, false, false};
        lz_wire_get_outcome(&said[r], &e);
        if (said[r].failed)
            return LZ_FAIL(LZ_EPARSE, "%s: what %s says is malformed", about,
                           lz_processes_get(r)->name);
        if (e.status != LZ_OK)
            return LZ_FAIL(e.status, "%s: %.300s", lz_processes_get(r)->name, e.message);
    }
    return LZ_OK;
}

static void say_come(uint64_t talk)
{
    LZ_QUIETLY
        for (uint32_t r = 1; r < lz_processes_count(); r++)
            (void)send_piece(r, talk, false, "", 0);
}

static lz_status hear_all(uint64_t talk, const char *about, lz_buf *mine, lz_talk_decide *decide,
                          void *user)
{
    uint32_t n = lz_processes_count();
    lz_buf *note = lz_calloc(n, sizeof *note);
    bool *has = lz_calloc(n, sizeof *has);
    lz_rd *said = lz_calloc(n, sizeof *said);
    lz_status s = note && has && said ? LZ_OK : LZ_FAIL(LZ_EMEM, "%s: no memory", about);
    if (s == LZ_OK) {
        note[0] = *mine;
        *mine = (lz_buf){0};
        has[0] = true;
        say_come(talk);
        s = hear(talk, about, n, has, note, deadline(lz_now_ns(), 0));
    }
    if (s == LZ_OK)
        s = read_all(about, n, note, said);
    if (s == LZ_OK && decide)
        s = decide(user, said);
    for (uint32_t r = 0; note && r < n; r++)
        lz_buf_free(&note[r]);
    lz_free(note);
    lz_free(has);
    lz_free(said);
    return s;
}

/* b: has memory for an answer that is not long. */
static void answer_all(uint64_t talk, lz_status s, const lz_buf *answer, lz_buf *b)
{
    const lz_error e = s == LZ_OK ? (lz_error){.status = LZ_OK} : *lz_error_get();
    LZ_QUIETLY {
        lz_wire_put_outcome(b, &e);
        if (s == LZ_OK && answer)
            lz_buf_put(b, answer->data, answer->len);
        for (uint32_t r = 1; r < lz_processes_count(); r++)
            (void)send_note(r, talk, b);
    }
}

/* ---- the others ---- */

/* Rank 0's answer. It may come later than this process, and then waits for its own time for others,
 * so it is given that, and some more to miss somebody itself. */
static lz_status hear_answer(uint64_t talk, const char *about, lz_buf *note)
{
    static const int64_t patience = INT64_C(2000000000);
    int64_t until = deadline(lz_now_ns(), patience), came;
    bool has = false;
    lz_status s = hear(talk, about, 1, &has, note, until);
    if (s == LZ_ETIMEOUT && (came = came_at(0, talk)) != 0 && deadline(came, patience) > until)
        s = hear(talk, about, 1, &has, note, deadline(came, patience));
    return s;
}

/* *note is rank 0's then, and what is behind the outcome goes to its begin. */
static lz_status ask(uint64_t talk, const char *about, const lz_buf *mine, lz_buf *note)
{
    lz_error e;
    LZ_TRY(send_note(0, talk, mine));
    LZ_TRY(hear_answer(talk, about, note));
    if (note->failed)
        return LZ_FAIL(LZ_EMEM, "%s: no memory for what rank 0 says", about);
    lz_rd r = {(const uint8_t *)note->data, (const uint8_t *)note->data + note->len, false, false};
    lz_wire_get_outcome(&r, &e);
    if (r.failed)
        return LZ_FAIL(LZ_EPARSE, "%s: what rank 0 says is malformed", about);
    if (e.status != LZ_OK)
        return LZ_FAIL(e.status, "%s", e.message);
    note->len = (size_t)(r.end - r.p);
    memmove(note->data, r.p, note->len);
    return LZ_OK;
}

/* How it went here, which is the result: all must hear if what is said could not be kept. */
static lz_status put_mine(lz_buf *b, const char *about, lz_status mine, const lz_buf *said)
{
    const lz_error well = {.status = LZ_OK};
    lz_wire_put_outcome(b, mine == LZ_OK ? &well : lz_error_get());
    if (mine != LZ_OK || !said)
        return mine;
    lz_buf_put(b, said->data, said->len);
    if (!b->failed && !said->failed)
        return LZ_OK;
    lz_buf_free(b);
    mine = LZ_FAIL(LZ_EMEM, "%s: no memory", about);
    lz_wire_put_outcome(b, lz_error_get());
    return mine;
}

/* note: has memory for the answer. */
static lz_status lead(uint64_t number, const char *about, lz_buf *mine, lz_talk_decide *decide,
                      void *user, const lz_buf *answer, lz_buf *note)
{
    lz_status s = mine->failed ? LZ_FAIL(LZ_EMEM, "%s: no memory", about)
                               : hear_all(number, about, mine, decide, user);
    if (s == LZ_OK && answer && answer->failed)
        s = LZ_FAIL(LZ_EMEM, "%s: no memory", about);
    answer_all(number, s, answer, note);
    return s;
}

lz_status lz_talk(uint64_t number, const char *about, lz_status mine, const lz_buf *said,
                  lz_talk_decide *decide, void *user, lz_buf *answer)
{
    lz_buf b = {0}, note = {0};
    bool leads = lz_processes_self() == 0;
    if (mine == LZ_OK)
        mine = make_room(&note, about);
    mine = put_mine(&b, about, mine, said);
    const lz_error own = mine == LZ_OK ? (lz_error){.status = LZ_OK} : *lz_error_get();
    lz_status s = leads ? lead(number, about, &b, decide, user, answer, &note)
                        : ask(number, about, &b, &note);
    if (s == LZ_OK && !leads && answer) {
        *answer = note;
        note = (lz_buf){0};
    }
    lz_buf_free(&note);
    lz_buf_free(&b);
    if (mine != LZ_OK)
        lz_error_set(&own);
    return mine != LZ_OK ? mine : s;
}
