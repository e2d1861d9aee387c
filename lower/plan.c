/* plan.c - plans: freeing, text, and running with the slow executor. Threads: a plan is immutable once made. */
#include "lower/plan.h"
#include "lower/loop_impl.h"
#include <inttypes.h>
#include <string.h>

void lz_plan_free(lz_plan *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; p->kernels && i < p->nkernel; i++)
        lz_kernel_free(p->kernels[i]);
    for (uint32_t i = 0; i < p->nsub; i++) /* as deep as regions nest */
        lz_plan_free(p->subs[i]);
    lz_arena_free(&p->arena);
    lz_free(p);
}

/* ---- steps of control flow ---- */

bool lz_while_layout(const lz_plan *body, uint64_t *off, uint64_t *temps)
{
    uint64_t at = 64; /* behind the predicate */
    for (uint32_t k = 0; k < body->nout; k++) {
        bool own = body->out_alias[k] < 0;
        if (off)
            off[k] = own ? at : UINT64_MAX;
        if (own && __builtin_add_overflow(at, LZ_ALIGN_UP(body->out_type[k]->nbytes, 64), &at))
            return false;
    }
    *temps = at;
    return true;
}

bool lz_step_work(const lz_plan *p, const lz_step *s, uint64_t *nbytes)
{
    const lz_plan *a = p->subs[s->sub[0]], *b = p->subs[s->sub[1]];
    uint64_t most = a->temp_bytes > b->temp_bytes ? a->temp_bytes : b->temp_bytes, at = 0;
    return (s->kind != LZ_STEP_WHILE || lz_while_layout(b, NULL, &at)) &&
           !__builtin_add_overflow(at, most, nbytes);
}

/* ---- text ---- */

static void print_types(lz_buf *b, const char *what, const lz_type *const *t, uint32_t n,
                        const int32_t *alias)
{
    char text[160];
    for (uint32_t i = 0; i < n; i++) {
        lz_buf_printf(b, "  %s %u: %s", what, i, lz_type_short(t[i], text, sizeof text));
        if (alias && alias[i] >= 0)
            lz_buf_printf(b, " takes over input %d", alias[i]);
        lz_buf_putc(b, '\n');
    }
}

static void print_ref(lz_buf *b, const lz_bufref *r)
{
    static const char *const names[] = {"in", "out", "temp", "const"};
    lz_buf_puts(b, names[r->kind]);
    if (r->kind == LZ_SLOT_INPUT || r->kind == LZ_SLOT_OUTPUT)
        lz_buf_printf(b, "%u", r->index);
    lz_buf_printf(b, "+%" PRIu64 ":%" PRIu64, r->offset, r->nbytes);
}

static void print_step(const lz_plan *p, uint32_t i, lz_buf *out)
{
    const lz_step *s = &p->steps[i];
    if (s->kind == LZ_STEP_KERNEL)
        lz_buf_printf(out, "  step %u: kernel %u (", i, s->kernel);
    else
        lz_buf_printf(out, "  step %u: %s plan %u plan %u (", i,
                      s->kind == LZ_STEP_WHILE ? "while" : "if", s->sub[0], s->sub[1]);
    for (uint32_t j = 0; j < s->nbuf; j++) {
        lz_buf_puts(out, j ? ", " : "");
        print_ref(out, &s->bufs[j]);
    }
    lz_buf_puts(out, ") [");
    for (uint32_t j = 0; j < s->narg; j++)
        lz_buf_printf(out, "%s%" PRId64, j ? ", " : "", s->args[j]);
    lz_buf_printf(out, "] %" PRIu64 " flop %" PRIu64 " byte  %s\n", s->flops, s->bytes,
                  s->name ? s->name : "");
}

void lz_plan_print(const lz_plan *p, lz_buf *out)
{
    lz_buf_printf(
        out, "plan: %u kernels, %u steps, %" PRIu64 " temp bytes, %" PRIu64 " constant bytes\n",
        p->nkernel, p->nstep, p->temp_bytes, p->const_bytes);
    print_types(out, "in", p->in_type, p->nin, NULL);
    print_types(out, "out", p->out_type, p->nout, p->out_alias);
    for (uint32_t i = 0; i < p->nkernel; i++) {
        char hex[33];
        lz_hash_hex(p->kernels[i]->hash, hex);
        lz_buf_printf(out, "  kernel %u: %s %s\n", i, hex, p->kernels[i]->name);
    }
    for (uint32_t i = 0; i < p->nstep; i++)
        print_step(p, i, out);
    for (uint32_t i = 0; i < p->nsub; i++) { /* as deep as regions nest */
        lz_buf_printf(out, "plan %u of the above: ", i);
        lz_plan_print(p->subs[i], out);
    }
}

/* ---- running ---- */

static void *resolve(const lz_plan *p, const lz_bufref *r, const void *const *in, void *const *out,
                     void *temp)
{
    const void *base = r->kind == LZ_SLOT_INPUT    ? in[r->index]
                       : r->kind == LZ_SLOT_OUTPUT ? out[r->index]
                       : r->kind == LZ_SLOT_TEMP   ? temp
                                                   : p->consts;
    return (char *)(uintptr_t)base + r->offset;
}

/* The pointers of one plan while it runs. */
typedef struct frame {
    const void **in;
    void **out;
    void *temp;
} frame;

static lz_status run_steps(const lz_plan *p, const frame *f);

/* One run of a plan of a region; nothing of it takes over an argument but what is in place already. */
static lz_status run_sub(const lz_plan *p, const void **in, void **out, void *temp)
{
    return run_steps(p, &(frame){in, out, temp});
}

/* cur[k] is now[k] or spare[k]: where the value that is carried is. */
static lz_status run_while(const lz_plan *p, const lz_step *s, void *const *b, void **cur)
{
    const lz_plan *cond = p->subs[s->sub[0]], *body = p->subs[s->sub[1]];
    uint32_t n = body->nout, nin = body->nin;
    const void **in = (const void **)(cur + n);
    void **next = (void **)(in + nin);
    char *work = b[n + nin];
    uint64_t temps, *off = (uint64_t *)(void *)(next + n);
    (void)lz_while_layout(body, off, &temps);
    for (uint32_t k = 0; k < n; k++) {
        cur[k] = b[k];
        if (b[k] != b[n + k] && body->out_type[k]->nbytes)
            memcpy(b[k], b[n + k], body->out_type[k]->nbytes);
    }
    for (;;) {
        void *pred = work;
        for (uint32_t k = 0; k < nin; k++)
            in[k] = k < n ? cur[k] : b[n + k];
        LZ_TRY(run_sub(cond, in, &pred, work + temps));
        if (!*(uint8_t *)pred)
            break;
        for (uint32_t k = 0; k < n; k++)
            next[k] = off[k] == UINT64_MAX ? cur[k] : cur[k] == b[k] ? work + off[k] : b[k];
        LZ_TRY(run_sub(body, in, next, work + temps));
        memcpy(cur, next, n * sizeof *cur);
    }
    for (uint32_t k = 0; k < n; k++)
        if (cur[k] != b[k] && body->out_type[k]->nbytes)
            memcpy(b[k], cur[k], body->out_type[k]->nbytes);
    return LZ_OK;
}

static lz_status run_control(const lz_plan *p, const lz_step *s, void **bufs)
{
    const lz_plan *second = p->subs[s->sub[1]];
    if (s->kind == LZ_STEP_IF) {
        bool on = *(const uint8_t *)bufs[second->nout] != 0;
        return run_sub(p->subs[s->sub[on ? 0 : 1]], (const void **)(bufs + second->nout + 1), bufs,
                       bufs[s->nbuf - 1]);
    }
    void **room = lz_alloc((3 * (size_t)second->nout + second->nin + 1) * sizeof(uint64_t));
    lz_status st = room ? run_while(p, s, bufs, room) : LZ_FAIL(LZ_EMEM, "no memory for a while");
    lz_free(room);
    return st;
}

static lz_status run_step(const lz_plan *p, const lz_step *st, const frame *f)
{
    void *few[LZ_KBUF_MAX], **bufs = few;
    size_t nbytes[LZ_KBUF_MAX];
    if (st->nbuf > LZ_KBUF_MAX && !(bufs = lz_alloc(st->nbuf * sizeof *bufs)))
        return LZ_FAIL(LZ_EMEM, "no memory for a step of %u buffers", st->nbuf);
    for (uint32_t j = 0; j < st->nbuf; j++) {
        bufs[j] = resolve(p, &st->bufs[j], f->in, f->out, f->temp);
        if (j < LZ_KBUF_MAX)
            nbytes[j] = st->bufs[j].nbytes;
    }
    lz_status s = st->kind == LZ_STEP_KERNEL
                      ? lz_loop_run_args(p->kernels[st->kernel], st->args, bufs, nbytes)
                      : run_control(p, st, bufs);
    if (bufs != few)
        lz_free(bufs);
    return s;
}

static lz_status run_steps(const lz_plan *p, const frame *f)
{
    for (uint32_t i = 0; i < p->nstep; i++)
        LZ_TRY(run_step(p, &p->steps[i], f));
    return LZ_OK;
}

lz_status lz_plan_run(const lz_plan *p, const void *const *in, void *const *out)
{
    char *room = lz_calloc(1, p->temp_bytes + 63);
    if (!room)
        return LZ_FAIL(LZ_EMEM, "no memory for %" PRIu64 " bytes of temporaries", p->temp_bytes);
    for (uint32_t k = 0; k < p->nout; k++)
        if (p->out_alias[k] >= 0 && p->out_type[k]->nbytes)
            memcpy(out[k], in[p->out_alias[k]], p->out_type[k]->nbytes);
    frame f = {(const void **)(uintptr_t)in, (void **)(uintptr_t)out,
               (void *)LZ_ALIGN_UP((uintptr_t)room, 64)};
    lz_status s = run_steps(p, &f);
    lz_free(room);
    return s;
}
