/* spmd_agree.c - whether the processes are about to execute one program: they compare hashes of it,
 * and where these differ, those of all its beginnings, so that the first operation at which they
 * part is found. Three rounds of a few bytes for each operation; where all agree, one of 24 bytes.
 * Threads: thread-safe. */
#include "backends/distributed/processes.h"
#include "backends/spmd/spmd.h"
#include "base/alloc.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct summary { /* without padding: it is exchanged */
    lz_hash hash;
    uint64_t ninst;
} summary;

struct lz_spmd_trace {
    summary is;
    struct traced {    /* of each operation */
        uint64_t hash; /* of those up to it, by what they are and which ones they take */
        const lz_sig *sig;
        const lz_type *type;
        const lz_site *site; /* may be NULL */
    } * at;
};

enum { TEXT = 256 };

static uint64_t hash_of(uint64_t before, const lz_inst *in)
{
    uint64_t h = lz_hash_seeded(&in->sig->hash, sizeof in->sig->hash, before).lo;
    h = lz_hash_seeded(in->opnd, in->sig->nopnd * sizeof *in->opnd, h).lo;
    return in->lit ? lz_hash_seeded(in->lit->data, in->lit->nbytes, h).lo : h;
}

lz_status lz_spmd_trace_new(const lz_func *f, lz_spmd_trace **out)
{
    lz_spmd_trace *t = lz_calloc(1, sizeof *t);
    *out = t;
    if (!t || !(t->at = lz_calloc((size_t)f->ninst + 1, sizeof *t->at)))
        return LZ_FAIL(LZ_EMEM, "SPMD: no memory for what is traced");
    t->is = (summary){lz_func_hash(f), f->ninst};
    for (uint32_t i = 0; i < f->ninst; i++) {
        const lz_inst *in = &f->insts[i];
        t->at[i] = (struct traced){hash_of(i ? t->at[i - 1].hash : 0, in), in->sig,
                                   lz_val_type(f, i), in->site};
    }
    return LZ_OK;
}

void lz_spmd_trace_free(lz_spmd_trace *t)
{
    if (t)
        lz_free(t->at);
    lz_free(t);
}

static void describe(const lz_spmd_trace *t, uint64_t i, char *text)
{
    char type[96];
    if (i >= t->is.ninst) {
        snprintf(text, TEXT, "ends after %" PRIu64 " operations", t->is.ninst);
        return;
    }
    const struct traced *in = &t->at[i];
    int n = snprintf(text, TEXT, "has %s %s", lz_op_get(in->sig->op)->text,
                     lz_type_short(in->type, type, sizeof type));
    if (in->site)
        snprintf(text + n, TEXT - (size_t)n, " (%.100s:%d)", in->site->file, in->site->line);
}

static uint64_t longest(const summary *all)
{
    uint64_t most = 0;
    for (int64_t p = 0; p < lz_spmd.n; p++)
        most = all[p].ninst > most ? all[p].ninst : most;
    return most;
}

/* The first operation at which a device's program differs from device 0's; *who: that device. */
static uint64_t first_difference(const uint64_t *hash, uint64_t n, int64_t *who)
{
    for (uint64_t i = 0; i < n; i++)
        for (*who = 1; *who < lz_spmd.n; ++*who)
            if (hash[(uint64_t)*who * n + i] != hash[i])
                return i;
    return n;
}

static lz_status say(uint64_t at, uint64_t n, int64_t who, const char *text)
{
    const char *here = lz_processes_of_device(0)->name;
    if (at == n)
        return LZ_FAIL(LZ_EINVAL, "SPMD: the processes trace the same operations with other "
                                  "results");
    return LZ_FAIL(LZ_EINVAL,
                   "SPMD: the processes trace different programs, from operation %" PRIu64
                   " on: %s %.*s, %s %.*s",
                   at, here, TEXT, text, lz_processes_of_device((uint32_t)who)->name, TEXT,
                   text + (size_t)who * TEXT);
}

/* All processes come here, or none. */
static lz_status find_difference(const lz_spmd_trace *t, const summary *all)
{
    int64_t who = 0;
    uint64_t n = longest(all);
    size_t devices = (size_t)lz_spmd.n;
    uint64_t *mine = lz_calloc(n + 1, sizeof *mine);
    uint64_t *hash = lz_calloc((n + 1) * devices, sizeof *hash);
    char text[TEXT] = "", *texts = lz_calloc(devices, TEXT);
    lz_status s = mine && hash && texts ? LZ_OK : LZ_FAIL(LZ_EMEM, "SPMD: no memory");
    if (s == LZ_OK) {
        for (uint64_t i = 0; i < t->is.ninst; i++)
            mine[i] = t->at[i].hash;
        s = lz_spmd_exchange(mine, n * sizeof *mine, hash);
    }
    if (s == LZ_OK) {
        uint64_t at = first_difference(hash, n, &who);
        describe(t, at, text);
        s = lz_spmd_exchange(text, TEXT, texts);
        if (s == LZ_OK)
            s = say(at, n, who, texts);
    }
    lz_free(mine);
    lz_free(hash);
    lz_free(texts);
    return s;
}

lz_status lz_spmd_agree(const lz_spmd_trace *t)
{
    summary *all = lz_calloc((size_t)lz_spmd.n, sizeof *all);
    lz_status s = all ? lz_spmd_exchange(&t->is, sizeof t->is, all)
                      : LZ_FAIL(LZ_EMEM, "SPMD: no memory to compare programs");
    bool same = true;
    for (int64_t p = 1; s == LZ_OK && p < lz_spmd.n; p++)
        same &= lz_hash_eq(all[p].hash, all[0].hash);
    if (s == LZ_OK && !same)
        s = find_difference(t, all);
    lz_free(all);
    return s;
}
