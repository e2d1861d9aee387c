/* plan_verify.c - the verifier of plans: references are in range and aligned, kernels get the
 * buffers they expect, every address that does not depend on data is inside its buffer, nothing is
 * read after its memory was reused. It is the gate for plans decoded from untrusted bytes.
 * Threads: pure. */
#include "lower/loops/loop_impl.h"
#include "lower/routine.h"
#include "lower/plan/plan.h"
#include "lower/effort.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BAD(fmt, ...) LZ_FAIL(LZ_EINTERNAL, "plan: " fmt, __VA_ARGS__)

/* ---- one reference ---- */

static lz_status room_of(const lz_plan *p, const lz_bufref *r, uint64_t *out)
{
    bool ok = true;
    if (r->kind == LZ_BUFREF_INPUT)
        ok = r->index < p->nin && (*out = p->in_type[r->index]->nbytes, true);
    else if (r->kind == LZ_BUFREF_OUTPUT)
        ok = r->index < p->nout && (*out = p->out_type[r->index]->nbytes, true);
    else if (r->kind == LZ_BUFREF_TEMP)
        *out = p->temp_bytes;
    else if (r->kind == LZ_BUFREF_CONST)
        *out = p->const_bytes;
    else
        ok = false;
    return ok ? LZ_OK : BAD("reference to slot %d, number %u", (int)r->kind, r->index);
}

static lz_status check_place(const lz_plan *p, uint32_t step, uint32_t i, size_t align)
{
    const lz_bufref *r = &p->steps[step].bufs[i];
    uint64_t room = 0;
    LZ_TRY(room_of(p, r, &room));
    if (r->offset > room || r->nbytes > room - r->offset)
        return BAD("step %u, buffer %u: bytes %" PRIu64 "+%" PRIu64 " of %" PRIu64, step, i,
                   r->offset, r->nbytes, room);
    if (r->offset % align)
        return BAD("step %u, buffer %u: offset %" PRIu64 " is not aligned to %zu", step, i,
                   r->offset, align);
    if (lz_step_writes(p, &p->steps[step], i) &&
        (r->kind == LZ_BUFREF_INPUT || r->kind == LZ_BUFREF_CONST))
        return BAD("step %u, buffer %u: writes to %s", step, i,
                   r->kind == LZ_BUFREF_INPUT ? "an argument" : "a constant");
    return LZ_OK;
}

static lz_status check_ref(const lz_plan *p, uint32_t step, uint32_t i)
{
    size_t esize = lz_dtype_size(p->kernels[p->steps[step].kernel]->buf[i].dtype);
    return check_place(p, step, i, esize < 8 ? esize : 8);
}

/* ---- addresses ---- */

static bool reach(int64_t *lo, int64_t *hi, int64_t stride, int64_t extent)
{
    int64_t far;
    return lz_mul_i64(stride, extent - 1, &far) &&
           lz_add_i64(far < 0 ? *lo : *hi, far, far < 0 ? lo : hi);
}

/* Accesses that are guarded or have computed indices depend on data. */
static lz_status check_reach(const lz_plan *p, uint32_t step, const lz_stage *st,
                             const lz_access *a)
{
    const lz_step *s = &p->steps[step];
    const lz_kernel *k = p->kernels[s->kernel];
    if (a->guard >= 0 || a->ndyn)
        return LZ_OK;
    int64_t lo = lz_sz_value(a->offset, s->args), hi = lo;
    for (uint32_t d = 0; d < k->nouter + st->ninner; d++) {
        lz_sz e = d < k->nouter ? k->outer[d] : st->extent[d - k->nouter];
        if (!reach(&lo, &hi, lz_sz_value(a->stride[d], s->args), lz_sz_value(e, s->args)))
            return BAD("step %u: an address in buffer %u overflows", step, a->buf);
    }
    uint64_t n = s->bufs[a->buf].nbytes / lz_dtype_size(k->buf[a->buf].dtype);
    if (lo < 0 || (uint64_t)hi >= n)
        return BAD("step %u (%s): elements %" PRId64 "..%" PRId64
                   " of buffer %u, which has %" PRIu64,
                   step, s->name ? s->name : "", lo, hi, a->buf, n);
    return LZ_OK;
}

/* Number of points of the loops; the product of a verified pattern may still overflow with other
 * arguments. */
static lz_status points(const lz_plan *p, uint32_t step, const lz_sz *e, uint32_t n, int64_t *out)
{
    const lz_step *s = &p->steps[step];
    for (uint32_t d = 0; d < n; d++) {
        int64_t v = lz_sz_value(e[d], s->args);
        if (v < 0 || !lz_mul_i64(*out, v, out))
            return BAD("step %u: extent %" PRId64, step, v);
    }
    return LZ_OK;
}

static lz_status check_addresses(const lz_plan *p, uint32_t step)
{
    const lz_kernel *k = p->kernels[p->steps[step].kernel];
    int64_t outer = 1;
    LZ_TRY(points(p, step, k->outer, k->nouter, &outer));
    for (uint32_t i = 0; i < k->nstage; i++) {
        const lz_stage *st = &k->stages[i];
        int64_t n = outer;
        LZ_TRY(points(p, step, st->extent, st->ninner, &n));
        if (n == 0)
            continue;
        for (uint32_t j = 0; j < st->nacc; j++)
            LZ_TRY(check_reach(p, step, st, &st->accs[j]));
        for (uint32_t j = 0; j < st->nstore; j++)
            LZ_TRY(check_reach(p, step, st, &st->stores[j].at));
    }
    return LZ_OK;
}

/* ---- memory that is shared ---- */

/* Temporaries and constants are one memory each, whatever the bytes say. */
static bool has_index(const lz_bufref *r)
{
    return r->kind == LZ_BUFREF_INPUT || r->kind == LZ_BUFREF_OUTPUT;
}

static bool same_memory(const lz_plan *p, const lz_bufref *a, const lz_bufref *b)
{
    if (a->kind == b->kind)
        return a->index == b->index || !has_index(a);
    if (a->kind == LZ_BUFREF_OUTPUT && b->kind == LZ_BUFREF_INPUT)
        return p->out_alias[a->index] == (int32_t)b->index;
    return a->kind == LZ_BUFREF_INPUT && b->kind == LZ_BUFREF_OUTPUT &&
           p->out_alias[b->index] == (int32_t)a->index;
}

static bool overlap(const lz_bufref *a, const lz_bufref *b)
{
    return a->nbytes && b->nbytes && a->offset < b->offset + b->nbytes &&
           b->offset < a->offset + a->nbytes;
}

/* A written buffer may meet a read one only as the kernel allows: the same elements, in place. */
static lz_status check_overlaps(const lz_plan *p, uint32_t step)
{
    const lz_step *s = &p->steps[step];
    const lz_kernel *k = p->kernels[s->kernel];
    for (uint32_t w = 0; w < s->nbuf; w++) {
        if (!k->buf[w].written)
            continue;
        for (uint32_t r = 0; r < s->nbuf; r++) {
            if (r == w || !k->buf[r].read || !same_memory(p, &s->bufs[w], &s->bufs[r]) ||
                !overlap(&s->bufs[w], &s->bufs[r]))
                continue;
            if (!k->buf[w].inplace_ok || k->buf[w].inplace_with != (int32_t)r ||
                s->bufs[w].offset != s->bufs[r].offset)
                return BAD("step %u (%s): buffer %u is written over buffer %u", step,
                           s->name ? s->name : "", w, r);
        }
    }
    return LZ_OK;
}

/* By argument, the result that takes over its memory; LZ_NOBODY: none. NULL without memory. */
enum { LZ_NOBODY = UINT32_MAX };
static uint32_t *takers(const lz_plan *p)
{
    uint32_t *by = lz_alloc(((size_t)p->nin + 1) * sizeof *by);
    for (uint32_t i = 0; by && i < p->nin; i++)
        by[i] = LZ_NOBODY;
    for (uint32_t k = 0; by && k < p->nout; k++)
        if (p->out_alias[k] >= 0)
            by[p->out_alias[k]] = k;
    return by;
}

/* Once a result that takes over an argument is written, the argument is gone. A done names what its
 * start reads. */
static lz_status check_lost(const lz_plan *p, const uint32_t *by, bool *written)
{
    for (uint32_t i = 0; i < p->nstep; i++) {
        const lz_step *s = &p->steps[i];
        lz_effort += s->nbuf;
        for (uint32_t j = 0; j < s->nbuf; j++) {
            const lz_bufref *r = &s->bufs[j];
            if (s->kind != LZ_STEP_DONE && r->kind == LZ_BUFREF_INPUT &&
                by[r->index] != LZ_NOBODY && written[by[r->index]])
                return BAD("step %u reads input %u after result %u took its memory", i, r->index,
                           by[r->index]);
        }
        for (uint32_t j = 0; j < s->nbuf; j++)
            if (s->bufs[j].kind == LZ_BUFREF_OUTPUT && lz_step_writes(p, s, j))
                written[s->bufs[j].index] = true;
    }
    return LZ_OK;
}

/* Before the steps: who takes over what is used to look at them. */
static lz_status check_aliases(const lz_plan *p)
{
    bool *taken = lz_calloc((size_t)p->nin + 1, sizeof *taken);
    lz_status s = taken ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory to check a plan");
    for (uint32_t k = 0; k < p->nout && s == LZ_OK; k++) {
        int32_t a = p->out_alias[k];
        if (a < -1 ||
            (a >= 0 && ((uint32_t)a >= p->nin || p->in_type[a]->nbytes != p->out_type[k]->nbytes)))
            s = BAD("result %u takes over input %d of %u", k, a, p->nin);
        else if (a >= 0 && taken[a])
            s = BAD("result %u takes over input %d, which another one took", k, a);
        else if (a >= 0)
            taken[a] = true;
    }
    lz_free(taken);
    return s;
}

/* ---- control flow ---- */

/* The condition of a while with its body, or what is run on true with what is run on false. */
static bool first_fits(const lz_plan *a, const lz_plan *b, bool loop)
{
    bool fits = a->nin == b->nin && a->nout == (loop ? 1 : b->nout);
    for (uint32_t k = 0; fits && k < a->nin; k++)
        fits = a->in_type[k] == b->in_type[k];
    for (uint32_t k = 0; fits && k < a->nout; k++)
        fits = a->out_alias[k] < 0 &&
               (loop ? a->out_type[k]->nbytes == 1 : a->out_type[k] == b->out_type[k]);
    return fits;
}

/* The plans of a step fit together, and it has as many buffers as they take. */
static lz_status check_subs(const lz_plan *p, uint32_t i)
{
    const lz_step *s = &p->steps[i];
    int64_t n;
    bool loop = s->kind == LZ_STEP_WHILE;
    bool known = loop && s->sub[0] == LZ_NO_PLAN && lz_trip_count_known(&s->trip_count, &n);
    if ((s->sub[0] >= p->nsub && !known) || s->sub[1] >= p->nsub)
        return BAD("step %u: plans %u and %u of %u", i, s->sub[0], s->sub[1], p->nsub);
    const lz_plan *b = p->subs[s->sub[1]];
    bool fits = known || first_fits(p->subs[s->sub[0]], b, loop);
    if (loop)
        fits = fits && b->nout <= b->nin &&
               lz_trip_count_valid(&s->trip_count, b->in_type, b->nin, b->nout);
    for (uint32_t k = 0; fits && k < b->nout; k++)
        fits = loop ? b->out_type[k] == b->in_type[k] &&
                          (b->out_alias[k] < 0 || b->out_alias[k] == (int32_t)k)
                    : b->out_alias[k] < 0;
    if (!fits)
        return BAD("step %u: plans %u and %u do not fit together", i, s->sub[0], s->sub[1]);
    if (s->nbuf != (uint64_t)b->nout + !loop + b->nin + 1 || s->narg)
        return BAD("step %u: %u buffers for %u results and %u operands", i, s->nbuf, b->nout,
                   b->nin);
    return LZ_OK;
}

static lz_status check_control_sizes(const lz_plan *p, uint32_t i)
{
    const lz_step *s = &p->steps[i];
    const lz_plan *b = p->subs[s->sub[1]];
    uint32_t first = s->nbuf - 1 - b->nin; /* operand 0 of the plans */
    uint64_t work;
    if (!lz_step_work(p, s, &work))
        return BAD("step %u: its memory overflows", i);
    for (uint32_t j = 0; j < s->nbuf; j++) {
        uint64_t need = j == s->nbuf - 1 ? work
                        : j >= first     ? b->in_type[j - first]->nbytes
                        : j < b->nout    ? b->out_type[j]->nbytes
                                         : 1;
        if (s->bufs[j].nbytes < need)
            return BAD("step %u, buffer %u: %" PRIu64 " bytes, but %" PRIu64 " are needed", i, j,
                       s->bufs[j].nbytes, need);
        LZ_TRY(check_place(p, i, j, j == s->nbuf - 1 ? 64 : 8));
    }
    return LZ_OK;
}

/* A buffer of a step as a range of some memory. */
typedef struct range {
    uint64_t memory, from, to;
    uint32_t buf;
    bool written;
} range;

static int by_place(const void *x, const void *y)
{
    const range *a = x, *b = y;
    lz_effort++;
    if (a->memory != b->memory)
        return a->memory < b->memory ? -1 : 1;
    return a->from != b->from ? (a->from < b->from ? -1 : 1) : 0;
}

/* Results that may be in the memory of the operand of their number: a while carries them on, a sum
 * over partitions reads each element of all before it writes it. */
static uint32_t carried_of(const lz_plan *p, const lz_step *s)
{
    if (lz_step_is_collective(s))
        return s->collective->sig->op == LZ_OP_ALL_REDUCE ? s->collective->sig->nresult : 0;
    return s->kind == LZ_STEP_WHILE ? p->subs[s->sub[1]]->nout : 0;
}

/* The buffers of step i that are not empty, an argument being the memory of the result that takes
 * it over. What a while carries in place is one range with the result it becomes. */
static uint32_t find_ranges(const lz_plan *p, const lz_step *s, const uint32_t *by, range *out)
{
    uint32_t n = 0, carried = carried_of(p, s);
    for (uint32_t j = 0; j < s->nbuf; j++) {
        const lz_bufref *r = &s->bufs[j];
        bool taken = r->kind == LZ_BUFREF_INPUT && by[r->index] != LZ_NOBODY;
        uint64_t kind = taken ? LZ_BUFREF_OUTPUT : r->kind;
        uint32_t index = taken ? by[r->index] : has_index(r) ? r->index : 0;
        range x = {kind << 32 | index, r->offset, r->offset + r->nbytes, j,
                   lz_step_writes(p, s, j)};
        if (j >= carried && j < 2 * carried) {
            const range *w = &out[j - carried];
            if (w->memory == x.memory && w->from == x.from && w->to == x.to)
                x.to = x.from;
        }
        out[n++] = x;
    }
    uint32_t kept = 0;
    for (uint32_t j = 0; j < n; j++)
        if (out[j].to > out[j].from)
            out[kept++] = out[j];
    return kept;
}

/* What is written meets nothing else. */
static lz_status check_ranges(uint32_t step, range *x, uint32_t n)
{
    const range *
        far = NULL,
       *wfar =
           NULL; /* of those before in this memory: what ends last, what is written and ends last */
    qsort(x, n, sizeof *x, by_place);
    for (uint32_t i = 0; i < n; i++) {
        if (far && far->memory != x[i].memory)
            far = wfar = NULL;
        const range *before = x[i].written ? far : wfar;
        if (before && before->to > x[i].from) {
            const range *w = x[i].written ? &x[i] : before, *r = x[i].written ? before : &x[i];
            return BAD("step %u: buffer %u is written over buffer %u", step, w->buf, r->buf);
        }
        far = !far || x[i].to > far->to ? &x[i] : far;
        if (x[i].written)
            wfar = !wfar || x[i].to > wfar->to ? &x[i] : wfar;
    }
    return LZ_OK;
}

static lz_status check_control_overlaps(const lz_plan *p, uint32_t i, const uint32_t *by)
{
    const lz_step *s = &p->steps[i];
    range *x = lz_alloc(s->nbuf * sizeof *x);
    if (!x)
        return LZ_FAIL(LZ_EMEM, "no memory to check a step of %u buffers", s->nbuf);
    lz_status st = check_ranges(i, x, find_ranges(p, s, by, x));
    lz_free(x);
    return st;
}

/* Step i has the results and the operands of an operation. */
static lz_status check_buffers(const lz_plan *p, uint32_t i, const lz_type *const *results,
                               uint32_t nresult, const lz_type *const *opnds, const uint32_t *by)
{
    const lz_step *s = &p->steps[i];
    for (uint32_t j = 0; j < s->nbuf; j++) {
        const lz_type *t = j < nresult ? results[j] : opnds[j - nresult];
        size_t esize = lz_dtype_size(t->dtype);
        if (s->bufs[j].nbytes < t->nbytes)
            return BAD("step %u, buffer %u: %" PRIu64 " bytes for %zu", i, j, s->bufs[j].nbytes,
                       t->nbytes);
        LZ_TRY(check_place(p, i, j, esize < 8 ? esize : 8));
    }
    return check_control_overlaps(p, i, by);
}

static lz_status check_call(const lz_plan *p, uint32_t i, const uint32_t *by)
{
    const lz_step *s = &p->steps[i];
    const lz_ffi_target *c = s->call;
    if (!c || c->nrets == 0 || s->nbuf != (uint64_t)c->nrets + c->nargs || s->narg)
        return BAD("step %u: %u buffers for a call", i, s->nbuf);
    return check_buffers(p, i, c->ret, c->nrets, c->arg, by);
}

static lz_status check_collective(const lz_plan *p, uint32_t i, const uint32_t *by)
{
    const lz_step *s = &p->steps[i];
    const lz_sig *sig = s->collective ? s->collective->sig : NULL;
    if (!sig || p->partitions == 0 || s->nbuf != (uint64_t)sig->nresult + sig->nopnd || s->narg)
        return BAD("step %u: %u buffers for a collective of %u partitions", i, s->nbuf,
                   p->partitions);
    return check_buffers(p, i, sig->result, sig->nresult, sig->opnd, by);
}

/* Step t runs while the collective of step i is on its way: it does not touch its results, nor
 * write its operands. */
static lz_status check_beside(const lz_plan *p, uint32_t i, uint32_t t)
{
    const lz_step *s = &p->steps[i], *x = &p->steps[t];
    lz_effort += (uint64_t)s->nbuf * x->nbuf;
    for (uint32_t j = 0; j < s->nbuf; j++)
        for (uint32_t k = 0; k < x->nbuf; k++)
            if ((lz_step_writes(p, s, j) || lz_step_writes(p, x, k)) &&
                same_memory(p, &s->bufs[j], &x->bufs[k]) && overlap(&s->bufs[j], &x->bufs[k]))
                return BAD("step %u, buffer %u: is in buffer %u of step %u, which is not done", t,
                           k, j, i);
    return LZ_OK;
}

/* Each start has one done, of the same buffers. done: of each step, LZ_NOBODY. */
static lz_status find_dones(const lz_plan *p, uint32_t *done)
{
    uint32_t open = 0;
    for (uint32_t i = 0; i < p->nstep; i++) {
        const lz_step *s = &p->steps[i];
        if (s->kind == LZ_STEP_START && ++open > LZ_STARTED_MAX)
            return BAD("step %u: starts one more than %d at a time", i, LZ_STARTED_MAX);
        if (s->kind != LZ_STEP_DONE)
            continue;
        const lz_step *of = s->start < i ? &p->steps[s->start] : NULL;
        bool fits = of && of->kind == LZ_STEP_START && of->collective == s->collective &&
                    of->nbuf == s->nbuf && done[s->start] == LZ_NOBODY;
        for (uint32_t j = 0; fits && j < s->nbuf; j++)
            fits = of->bufs[j].kind == s->bufs[j].kind && of->bufs[j].index == s->bufs[j].index &&
                   of->bufs[j].offset == s->bufs[j].offset &&
                   of->bufs[j].nbytes == s->bufs[j].nbytes;
        if (!fits)
            return BAD("step %u: is no done of step %u", i, s->start);
        done[s->start] = i;
        open--;
    }
    return LZ_OK;
}

static lz_status check_starts(const lz_plan *p)
{
    uint32_t *done = lz_alloc(((size_t)p->nstep + 1) * sizeof *done);
    if (!done)
        return LZ_FAIL(LZ_EMEM, "no memory to check a plan");
    memset(done, 0xff, ((size_t)p->nstep + 1) * sizeof *done);
    lz_status s = find_dones(p, done);
    for (uint32_t i = 0; i < p->nstep && s == LZ_OK; i++) {
        if (p->steps[i].kind != LZ_STEP_START)
            continue;
        if (done[i] == LZ_NOBODY)
            s = BAD("step %u: is never done", i);
        for (uint32_t t = i + 1; s == LZ_OK && t < done[i]; t++)
            s = check_beside(p, i, t);
    }
    lz_free(done);
    return s;
}

static lz_status check_routine(const lz_plan *p, uint32_t i, const uint32_t *by)
{
    const lz_step *s = &p->steps[i];
    const lz_sig *sig = s->routine;
    if (!sig || !lz_routine_has(sig) || s->nbuf != (uint64_t)sig->nresult + sig->nopnd || s->narg)
        return BAD("step %u: %u buffers for a routine", i, s->nbuf);
    return check_buffers(p, i, sig->result, sig->nresult, sig->opnd, by);
}

static lz_status check_step(const lz_plan *p, uint32_t i, const uint32_t *by)
{
    const lz_step *s = &p->steps[i];
    if (lz_step_is_collective(s))
        return check_collective(p, i, by);
    if (s->kind == LZ_STEP_ROUTINE)
        return check_routine(p, i, by);
    if (s->kind == LZ_STEP_CALL)
        return check_call(p, i, by);
    if (s->kind == LZ_STEP_WHILE || s->kind == LZ_STEP_IF) {
        LZ_TRY(check_subs(p, i));
        LZ_TRY(check_control_sizes(p, i));
        return check_control_overlaps(p, i, by);
    }
    if (s->kind != LZ_STEP_KERNEL)
        return BAD("step %u: is of kind %d", i, (int)s->kind);
    if (s->kernel >= p->nkernel)
        return BAD("step %u: kernel %u of %u", i, s->kernel, p->nkernel);
    const lz_kernel *k = p->kernels[s->kernel];
    if (s->nbuf != k->nbuf || s->narg != k->narg)
        return BAD("step %u: %u buffers and %u sizes for a kernel of %u and %u", i, s->nbuf,
                   s->narg, k->nbuf, k->narg);
    for (uint32_t j = 0; j < s->nbuf; j++)
        LZ_TRY(check_ref(p, i, j));
    LZ_TRY(check_addresses(p, i));
    return check_overlaps(p, i);
}

/* The number of the partition is given to the plan itself, not to those of regions. */
static lz_status check_partitions(const lz_plan *p)
{
    if (p->numbered && (!p->partitions || !p->nin || p->in_type[p->nin - 1]->dtype != LZ_U32 ||
                        p->in_type[p->nin - 1]->shape.rank != 0))
        return BAD("%u partitions, and their number is argument %u", p->partitions, p->nin);
    for (uint32_t k = 0; k < p->nout && p->numbered; k++)
        if (p->out_alias[k] == (int32_t)p->nin - 1)
            return BAD("result %u takes over the number of the partition", k);
    for (uint32_t i = 0; i < p->nsub; i++)
        if (p->subs[i]->partitions != p->partitions || p->subs[i]->numbered)
            return BAD("plan %u is of %u partitions, not %u", i, p->subs[i]->partitions,
                       p->partitions);
    return LZ_OK;
}

lz_status lz_plan_verify(const lz_plan *p)
{
    for (uint32_t i = 0; i < p->nkernel; i++)
        if (!p->kernels[i] || !p->kernels[i]->finished)
            return BAD("kernel %u is not finished", i);
    for (uint32_t i = 0; i < p->nsub; i++) /* as deep as regions nest */
        LZ_TRY(lz_plan_verify(p->subs[i]));
    LZ_TRY(check_aliases(p));
    LZ_TRY(check_partitions(p));
    uint32_t *by = takers(p);
    bool *written = lz_calloc((size_t)p->nout + 1, sizeof *written);
    lz_status s = by && written ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory to check a plan");
    for (uint32_t i = 0; i < p->nstep && s == LZ_OK; i++)
        s = check_step(p, i, by);
    if (s == LZ_OK)
        s = check_starts(p);
    if (s == LZ_OK)
        s = check_lost(p, by, written);
    lz_free(by);
    lz_free(written);
    return s;
}
