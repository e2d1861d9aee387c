/* autotune.c - the autotuner, see autotune.h: a choice is looked up in memory, then on disk, else
 * the candidate configurations of the launch are measured against each other. A round runs every
 * candidate once, so that a slow moment of the machine hits all of them; after a few rounds the
 * least times and the medians are compared, since one lucky run is not faster code. A candidate
 * that is behind the cost model's choice is dropped after LZ_TUNE_LEAST rounds. */
#include "backends/common/autotune.h"
#include "backends/common/autotune_data.h"
#include "base/alloc.h"
#include "base/log.h"
#include "base/thread.h"
#include "base/timeline/timeline.h"
#include <inttypes.h>
#include <string.h>

/* One measurement at a time in the process; and the choices made so far. */
enum { REMEMBERED = 1 << 14 };
static lz_mutex lock = LZ_MUTEX_INIT("autotune");
static lz_map remembered; /* by the key's hash: lz_choice */
static int64_t spent_ns;

static void remember(lz_hash h, lz_choice c)
{
    lz_choice *found = remembered.len < REMEMBERED ? lz_alloc(sizeof *found) : NULL;
    if (!found)
        return;
    *found = c;
    if (lz_map_put(&remembered, h, found) != LZ_OK)
        lz_free(found);
}

void lz_tune_forget(void)
{
    lz_hash h;
    void *found;
    lz_mutex_lock(&lock);
    for (uint32_t i = 0; lz_map_next(&remembered, &i, &h, &found);)
        lz_free(found);
    lz_map_free(&remembered);
    spent_ns = 0;
    lz_mutex_unlock(&lock);
}

/* ---- the race ---- */

typedef struct race {
    const lz_tuner *t;
    const lz_kernel *k;
    const lz_step *s;
    uint32_t n; /* candidates; the first is the cost model's choice */
    lz_choice choice[1 + LZ_TUNE_CHOICES];
    int64_t ns[1 + LZ_TUNE_CHOICES][LZ_TUNE_ROUNDS]; /* the first `rounds`, ascending */
    int rounds[1 + LZ_TUNE_CHOICES];
    bool out[1 + LZ_TUNE_CHOICES];
    char *candidates;
    size_t scratch_bytes;
    lz_device_buffer *memory;
    void *scratch, *bufs[LZ_KBUF_MAX];
    uint32_t winner;
    lz_status status;
    lz_latch over;
} race;

static void *candidate(const race *r, uint32_t i)
{
    return r->candidates + i * r->t->ops->candidate_bytes;
}

/* A candidate that fails is dropped; the cost model's choice has to run. */
static lz_status run(race *r, uint32_t i, int64_t *spent)
{
    int64_t ns = 0;
    lz_status s = r->t->ops->run(r->t->user, r->s, candidate(r, i), r->bufs, r->scratch, &ns);
    r->t->info->tune_runs++;
    *spent += ns;
    r->out[i] = s != LZ_OK;
    int at = s == LZ_OK ? r->rounds[i]++ : 0;
    for (; s == LZ_OK && at && r->ns[i][at - 1] > ns; at--)
        r->ns[i][at] = r->ns[i][at - 1];
    if (s == LZ_OK)
        r->ns[i][at] = ns;
    return i ? LZ_OK : s;
}

static bool some_left(const race *r)
{
    bool some = false;
    for (uint32_t i = 1; i < r->n; i++)
        some |= !r->out[i];
    return some;
}

static bool is_slow(const race *r, uint32_t i)
{
    return i && r->ns[i][0] / 3 > r->ns[0][0];
}

/* The first run of each candidate warms up code and caches, and is discarded if there are others.
 * It also drops hopeless candidates: those that take three times as long, twice. */
static lz_status warm_up(race *r)
{
    int64_t spent = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        LZ_TRY(run(r, i, &spent));
        if (r->ns[0][0] > LZ_TUNE_LONG_NS)
            return LZ_FAIL(LZ_EUNSUPPORTED, "a launch that takes %" PRId64 " ms is not measured",
                           r->ns[0][0] / 1000000);
        if (!r->out[i] && is_slow(r, i))
            LZ_TRY(run(r, i, &spent));
        r->out[i] |= is_slow(r, i);
    }
    for (uint32_t i = 0; i < r->n && some_left(r); i++)
        r->rounds[i] = 0;
    return LZ_OK;
}

static int64_t least(const race *r, uint32_t i)
{
    return r->ns[i][0];
}

static int64_t median(const race *r, uint32_t i)
{
    return r->ns[i][r->rounds[i] / 2];
}

static bool beats(const race *r, uint32_t i)
{
    return least(r, i) <= least(r, 0) - least(r, 0) / 100 * LZ_TUNE_GAIN &&
           median(r, i) <= median(r, 0) - median(r, 0) / 100 * LZ_TUNE_GAIN;
}

static lz_status all_rounds(race *r)
{
    int64_t spent = 0;
    LZ_TRY(warm_up(r));
    for (int round = 0; some_left(r) && round < LZ_TUNE_ROUNDS &&
                        (round < LZ_TUNE_LEAST || spent < LZ_TUNE_LAUNCH_NS);
         round++)
        for (uint32_t i = 0; i < r->n; i++) {
            if (!r->out[i])
                LZ_TRY(run(r, i, &spent));
            r->out[i] |= i && round + 1 >= LZ_TUNE_LEAST && least(r, i) >= least(r, 0);
        }
    for (uint32_t i = 1; i < r->n; i++)
        if (!r->out[i] && beats(r, i) && (!r->winner || median(r, i) < median(r, r->winner)))
            r->winner = i;
    return LZ_OK;
}

/* On the device's queue. */
static void run_race(void *arg)
{
    race *r = arg;
    const lz_tune_ops *ops = r->t->ops;
    r->status = ops->begin ? ops->begin(r->t->user) : LZ_OK;
    if (r->status == LZ_OK) {
        r->status = all_rounds(r);
        if (ops->end)
            ops->end(r->t->user);
    }
    lz_latch_set(&r->over);
}

/* ---- who takes part, and where ---- */

/* Whether no earlier candidate has the same identity. One whose identity cannot be computed cannot
 * be made either; the cost model's choice is in the list already. */
static bool is_new(race *r, lz_choice c, lz_hash *seen)
{
    const lz_tune_ops *ops = r->t->ops;
    bool fresh = true;
    if (ops->identity && ops->identity(r->t->user, r->k, r->s, c, &seen[r->n]) != LZ_OK)
        return r->n == 0;
    for (uint32_t i = 0; i < r->n && ops->identity; i++)
        fresh &= !lz_hash_eq(seen[i], seen[r->n]);
    return fresh;
}

/* Candidates that cannot be made, or repeat another one, are left out; the cost model's choice
 * never is. */
static lz_status make_candidates(race *r, const lz_choice *list, uint32_t n)
{
    const lz_tune_ops *ops = r->t->ops;
    lz_hash seen[2 + LZ_TUNE_CHOICES] = {{0, 0}};
    r->candidates = lz_calloc(1 + n, ops->candidate_bytes);
    if (!r->candidates)
        return LZ_FAIL(LZ_EMEM, "no memory for %u ways", n);
    for (uint32_t i = 0; i <= n; i++) {
        lz_choice c = i ? list[i - 1] : (lz_choice){0};
        size_t scratch = 0;
        if (!is_new(r, c, seen))
            continue;
        lz_status s = ops->make(r->t->user, r->k, r->s, c, candidate(r, r->n), &scratch);
        if (s != LZ_OK && !i)
            return s;
        if (s != LZ_OK) {
            memset(candidate(r, r->n), 0, ops->candidate_bytes);
            continue;
        }
        r->scratch_bytes = scratch > r->scratch_bytes ? scratch : r->scratch_bytes;
        r->choice[r->n++] = c;
    }
    return LZ_OK;
}

/* Memory for all buffers of the launch. Each gets its own, although the program may assign several
 * to one place: so inputs survive the runs. */
static lz_status make_memory(race *r)
{
    uint64_t at[LZ_KBUF_MAX], n = 0, scratch;
    for (uint32_t i = 0; i < r->s->nbuf; i++) {
        at[i] = n;
        uint64_t size = r->s->bufs[i].nbytes;
        if (size > LZ_TUNE_MEMORY || (n += LZ_ALIGN_UP(size, 64)) > LZ_TUNE_MEMORY)
            return LZ_FAIL(LZ_EMEM, "it takes more memory than is used for that");
    }
    scratch = n;
    if (r->scratch_bytes > LZ_TUNE_MEMORY || n + r->scratch_bytes > LZ_TUNE_MEMORY)
        return LZ_FAIL(LZ_EMEM, "it takes more memory than is used for that");
    LZ_TRY(r->t->ops->alloc(r->t->user, (size_t)(n + r->scratch_bytes), &r->memory));
    for (uint32_t i = 0; i < r->s->nbuf; i++)
        r->bufs[i] = (char *)r->memory->data + at[i];
    r->scratch = (char *)r->memory->data + scratch;
    return LZ_OK;
}

static lz_status fill_memory(race *r)
{
    size_t most = 0;
    for (uint32_t i = 0; i < r->s->nbuf; i++)
        most = r->s->bufs[i].nbytes > most ? (size_t)r->s->bufs[i].nbytes : most;
    most = most < LZ_TUNE_FILL ? most : LZ_TUNE_FILL;
    char *some = lz_alloc(LZ_ALIGN_UP(most, 64));
    lz_status s = some ? LZ_OK : LZ_EMEM;
    for (uint32_t i = 0; i < r->s->nbuf && s == LZ_OK; i++) {
        size_t n = (size_t)r->s->bufs[i].nbytes, part = n < most ? n : most;
        lz_tune_fill(some, LZ_ALIGN_UP(part, 64), r->k->buf[i].dtype);
        for (size_t at = 0; at < n && s == LZ_OK; at += part)
            s = r->t->ops->write(r->t->user, (char *)r->bufs[i] + at, some,
                                 n - at < part ? n - at : part);
    }
    lz_free(some);
    return s;
}

static lz_status hold(race *r, const lz_choice *list, uint32_t n)
{
    LZ_TRY(make_candidates(r, list, n));
    if (r->n == 1)
        return LZ_OK;
    LZ_TRY(make_memory(r));
    LZ_TRY(fill_memory(r));
    LZ_TRY(lz_queue_push(r->t->queue, run_race, r, true));
    (void)lz_latch_wait(&r->over, -1);
    return r->status;
}

static void tell(const race *r, lz_status s, int64_t t0)
{
    int64_t ns = lz_now_ns() - t0;
    lz_choice c = r->choice[r->winner];
    int64_t of[2] = {median(r, 0), median(r, r->winner)};
    lz_timeline_note(t0, ns, .name = "tune kernel", .category = "tune", .text_key = "kernel",
                     .text = r->k->name, .key = {"ways", "winner", "model_ns", "ns"},
                     .value = {r->n, r->winner, of[0], of[1]});
    if (r->n == 1 && s == LZ_OK) /* the candidates turned out to be one */
        return;
    if (s != LZ_OK)
        lz_logf(LZ_LOG_INFO, "tune", "kernel %s is run as the models say: %s", r->k->name,
                lz_error_get()->message);
    else
        lz_logf(LZ_LOG_INFO, "tune",
                "kernel %s: %.3f ms as the models say, %.3f in the best of %u ways"
                " (without %#x, always %#x, entry %u, parts %u); %.0f ms to find out",
                r->k->name, (double)of[0] * 1e-6, (double)of[1] * 1e-6, r->n, c.without, c.always,
                c.entry, c.parts, (double)ns * 1e-6);
}

/* Under the lock. */
static lz_status measure(const lz_tuner *t, const lz_kernel *k, const lz_step *s,
                         const lz_choice *list, uint32_t n, lz_choice *out)
{
    race r = {.t = t, .k = k, .s = s};
    int64_t t0 = lz_now_ns();
    lz_status st = hold(&r, list, n);
    if (st == LZ_OK)
        *out = r.choice[r.winner];
    tell(&r, st, t0);
    for (uint32_t i = 0; i < r.n && t->ops->drop; i++)
        t->ops->drop(candidate(&r, i));
    lz_free(r.candidates);
    lz_device_buffer_release(r.memory);
    spent_ns += lz_now_ns() - t0;
    return st;
}

/* ---- what is stored ---- */

void lz_tune_key(const lz_tuner *t, const lz_kernel *k, const lz_step *s, lz_buf *out)
{
    lz_buf_lstr(out, "lazuli choice");
    t->ops->key(t->user, k, out);
    lz_buf_u32(out, s->narg);
    for (uint32_t i = 0; i < s->narg; i++)
        lz_buf_u64(out, (uint64_t)s->args[i]);
}

void lz_tune_value(lz_choice c, uint8_t out[LZ_TUNE_VALUE])
{
    const uint32_t word[] = {c.without, c.always, c.entry, c.parts};
    for (int i = 0; i < LZ_TUNE_VALUE; i++)
        out[i] = (uint8_t)(word[i / 4] >> 8 * (i % 4));
}

/* The bytes are untrusted: they must name a candidate of this launch. */
static bool parse(const uint8_t *p, size_t n, const lz_choice *list, uint32_t nlist, lz_choice *out)
{
    if (n != LZ_TUNE_VALUE)
        return false;
    lz_choice c = {lz_le32(p), lz_le32(p + 4), lz_le32(p + 8), lz_le32(p + 12)};
    bool known = !c.without && !c.always && !c.entry && !c.parts;
    for (uint32_t i = 0; i < nlist; i++)
        known |= c.without == list[i].without && c.always == list[i].always &&
                 c.entry == list[i].entry && c.parts == list[i].parts;
    *out = c;
    return known;
}

static bool from_disk(const lz_tuner *t, const lz_buf *key, const lz_choice *list, uint32_t n,
                      lz_choice *out)
{
    void *value;
    size_t nvalue;
    if (!t->cache ||
        !lz_cache_get_bound(t->cache, LZ_CACHE_CHOICE, key->data, key->len, &value, &nvalue))
        return false;
    bool ok = parse(value, nvalue, list, n, out);
    lz_free(value);
    if (!ok) /* the next one that is measured replaces it */
        lz_cache_drop(t->cache, LZ_CACHE_CHOICE, key->data, key->len);
    t->info->tune_hits += ok;
    return ok;
}

static void to_disk(const lz_tuner *t, const lz_buf *key, lz_choice c)
{
    uint8_t value[LZ_TUNE_VALUE];
    lz_tune_value(c, value);
    lz_cache_put_bound(t->cache, LZ_CACHE_CHOICE, key->data, key->len, "", value, sizeof value);
}

/* Under the lock. A launch that could not be measured is not tried again by this process, but by
 * the next one. */
static lz_choice decide(const lz_tuner *t, const lz_kernel *k, const lz_step *s, const lz_buf *key,
                        const lz_choice *list, uint32_t n)
{
    lz_hash h = lz_hash_bytes(key->data, key->len);
    lz_choice c = {0}, *found = lz_map_get(&remembered, h);
    if (found)
        return *found;
    if (!from_disk(t, key, list, n, &c)) {
        if (spent_ns > LZ_TUNE_PROCESS_S * INT64_C(1000000000))
            return (lz_choice){0};
        c = (lz_choice){0};
        if (measure(t, k, s, list, n, &c) == LZ_OK && t->cache)
            to_disk(t, key, c);
    }
    remember(h, c);
    return c;
}

/* ---- which launches ---- */

static bool by_data(const lz_access *a)
{
    return a->ndyn != 0;
}

/* Whether the launch can be measured on other data than the program's: no address depends on the
 * data. */
static bool numbers_do(const lz_kernel *k)
{
    bool dynamic = k->serial;
    for (uint32_t i = 0; i < k->nstage; i++) {
        const lz_stage *st = &k->stages[i];
        for (uint32_t j = 0; j < st->nacc; j++)
            dynamic |= by_data(&st->accs[j]);
        for (uint32_t j = 0; j < st->nstore; j++)
            dynamic |= by_data(&st->stores[j].at);
    }
    return !dynamic;
}

static uint32_t list_candidates(const lz_tuner *t, const lz_kernel *k, const lz_step *s,
                                lz_choice *list)
{
    bool worth = t->all || t->ops->about_ns(t->user, s) >= t->ops->worth_ns;
    bool free = !lz_fork_happened() &&
                !lz_queue_is_running(); /* a custom call would wait for its own queue */
    bool may = worth && free && s->nbuf <= LZ_KBUF_MAX && numbers_do(k);
    return may ? t->ops->choices(t->user, k, s, list) : 0;
}

lz_choice lz_tune(const lz_tuner *t, const lz_kernel *k, const lz_step *s)
{
    lz_choice list[LZ_TUNE_CHOICES], c = {0};
    LZ_QUIETLY {
        lz_buf key = {0};
        uint32_t n = list_candidates(t, k, s, list);
        if (n) {
            lz_tune_key(t, k, s, &key);
            if (!key.failed) {
                lz_mutex_lock(&lock);
                c = decide(t, k, s, &key, list, n);
                lz_mutex_unlock(&lock);
            }
            lz_buf_free(&key);
        }
    }
    return c;
}
