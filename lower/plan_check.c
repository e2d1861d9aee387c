/* plan_check.c - the verifier of plans: references in range and aligned, kernels called with what they ask for, every
 * address that does not depend on data inside its buffer, nothing read after its memory was given away.
 * It is the gate for plans from untrusted bytes. Threads: pure. */
#include "lower/loop_impl.h"
#include "lower/plan.h"
#include <inttypes.h>
#include <string.h>

#define BAD(fmt, ...) LZ_FAIL(LZ_EINTERNAL, "plan: " fmt, __VA_ARGS__)

/* ---- one reference ---- */

static lz_status room_of(const lz_plan *p, const lz_bufref *r, uint64_t *out)
{
    bool ok = true;
    if (r->kind == LZ_SLOT_INPUT)
        ok = r->index < p->nin && (*out = p->in_type[r->index]->nbytes, true);
    else if (r->kind == LZ_SLOT_OUTPUT)
        ok = r->index < p->nout && (*out = p->out_type[r->index]->nbytes, true);
    else if (r->kind == LZ_SLOT_TEMP)
        *out = p->temp_bytes;
    else if (r->kind == LZ_SLOT_CONST)
        *out = p->const_bytes;
    else
        ok = false;
    return ok ? LZ_OK : BAD("reference to slot %d, number %u", (int)r->kind, r->index);
}

/* The results of a step of control flow and its work memory are written, its operands are read. */
static bool writes(const lz_plan *p, const lz_step *s, uint32_t i)
{
    return s->kind == LZ_STEP_KERNEL ? p->kernels[s->kernel]->buf[i].written
                                     : i < p->subs[s->sub[1]]->nout || i == s->nbuf - 1;
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
    if (writes(p, &p->steps[step], i) && (r->kind == LZ_SLOT_INPUT || r->kind == LZ_SLOT_CONST))
        return BAD("step %u, buffer %u: writes to %s", step, i,
                   r->kind == LZ_SLOT_INPUT ? "an argument" : "a constant");
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

/* Number of points of the loops; the product of a verified pattern may still overflow with other arguments. */
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

static bool same_memory(const lz_plan *p, const lz_bufref *a, const lz_bufref *b)
{
    if (a->kind == b->kind)
        return a->index == b->index;
    if (a->kind == LZ_SLOT_OUTPUT && b->kind == LZ_SLOT_INPUT)
        return p->out_alias[a->index] == (int32_t)b->index;
    return a->kind == LZ_SLOT_INPUT && b->kind == LZ_SLOT_OUTPUT &&
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

/* Once a result that takes over an argument is written, the argument is gone. */
static lz_status check_alias(const lz_plan *p, uint32_t out)
{
    int32_t in = p->out_alias[out];
    bool written = false;
    for (uint32_t i = 0; i < p->nstep; i++) {
        const lz_step *s = &p->steps[i];
        bool now = false;
        for (uint32_t j = 0; j < s->nbuf; j++) {
            const lz_bufref *r = &s->bufs[j];
            if (written && r->kind == LZ_SLOT_INPUT && r->index == (uint32_t)in)
                return BAD("step %u reads input %d after result %u took its memory", i, in, out);
            now |= r->kind == LZ_SLOT_OUTPUT && r->index == out && writes(p, s, j);
        }
        written |= now;
    }
    return LZ_OK;
}

static lz_status check_aliases(const lz_plan *p)
{
    for (uint32_t k = 0; k < p->nout; k++) {
        int32_t a = p->out_alias[k];
        if (a < -1 ||
            (a >= 0 && ((uint32_t)a >= p->nin || p->in_type[a]->nbytes != p->out_type[k]->nbytes)))
            return BAD("result %u takes over input %d of %u", k, a, p->nin);
        for (uint32_t j = 0; j < k && a >= 0; j++)
            if (p->out_alias[j] == a)
                return BAD("results %u and %u take over input %d", j, k, a);
        if (a >= 0)
            LZ_TRY(check_alias(p, k));
    }
    return LZ_OK;
}

/* ---- control flow ---- */

/* The plans of a step fit together, and it has as many buffers as they take. */
static lz_status check_subs(const lz_plan *p, uint32_t i)
{
    const lz_step *s = &p->steps[i];
    if (s->sub[0] >= p->nsub || s->sub[1] >= p->nsub)
        return BAD("step %u: plans %u and %u of %u", i, s->sub[0], s->sub[1], p->nsub);
    const lz_plan *a = p->subs[s->sub[0]], *b = p->subs[s->sub[1]];
    bool loop = s->kind == LZ_STEP_WHILE, fits = a->nin == b->nin;
    for (uint32_t k = 0; fits && k < a->nin; k++)
        fits = a->in_type[k] == b->in_type[k];
    if (loop)
        fits = fits && a->nout == 1 && a->out_type[0]->nbytes == 1 && b->nout <= b->nin;
    else
        fits = fits && a->nout == b->nout;
    for (uint32_t k = 0; fits && k < a->nout; k++)
        fits = a->out_alias[k] < 0 && (loop || a->out_type[k] == b->out_type[k]);
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

/* What is written meets nothing else, but for what a while carries and the result it becomes. */
static lz_status check_control_overlaps(const lz_plan *p, uint32_t i)
{
    const lz_step *s = &p->steps[i];
    uint32_t n = p->subs[s->sub[1]]->nout;
    for (uint32_t w = 0; w < s->nbuf; w++)
        for (uint32_t r = 0; writes(p, s, w) && r < s->nbuf; r++) {
            bool same = s->kind == LZ_STEP_WHILE && w < n && r == n + w &&
                        s->bufs[w].offset == s->bufs[r].offset;
            if (r != w && !same && same_memory(p, &s->bufs[w], &s->bufs[r]) &&
                overlap(&s->bufs[w], &s->bufs[r]))
                return BAD("step %u: buffer %u is written over buffer %u", i, w, r);
        }
    return LZ_OK;
}

static lz_status check_step(const lz_plan *p, uint32_t i)
{
    const lz_step *s = &p->steps[i];
    if (s->kind == LZ_STEP_WHILE || s->kind == LZ_STEP_IF) {
        LZ_TRY(check_subs(p, i));
        LZ_TRY(check_control_sizes(p, i));
        return check_control_overlaps(p, i);
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

lz_status lz_plan_verify(const lz_plan *p)
{
    for (uint32_t i = 0; i < p->nkernel; i++)
        if (!p->kernels[i] || !p->kernels[i]->finished)
            return BAD("kernel %u is not finished", i);
    for (uint32_t i = 0; i < p->nsub; i++) /* as deep as regions nest */
        LZ_TRY(lz_plan_verify(p->subs[i]));
    for (uint32_t i = 0; i < p->nstep; i++)
        LZ_TRY(check_step(p, i));
    return check_aliases(p);
}
