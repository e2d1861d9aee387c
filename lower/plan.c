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
    lz_arena_free(&p->arena);
    lz_free(p);
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
    for (uint32_t i = 0; i < p->nstep; i++) {
        const lz_step *s = &p->steps[i];
        lz_buf_printf(out, "  step %u: kernel %u (", i, s->kernel);
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

lz_status lz_plan_run(const lz_plan *p, const void *const *in, void *const *out)
{
    void *temp = lz_calloc(1, p->temp_bytes);
    if (!temp)
        return LZ_FAIL(LZ_EMEM, "no memory for %" PRIu64 " bytes of temporaries", p->temp_bytes);
    for (uint32_t k = 0; k < p->nout; k++)
        if (p->out_alias[k] >= 0 && p->out_type[k]->nbytes)
            memcpy(out[k], in[p->out_alias[k]], p->out_type[k]->nbytes);
    lz_status s = LZ_OK;
    for (uint32_t i = 0; i < p->nstep && s == LZ_OK; i++) {
        const lz_step *st = &p->steps[i];
        void *bufs[LZ_KBUF_MAX];
        size_t nbytes[LZ_KBUF_MAX];
        for (uint32_t j = 0; j < st->nbuf; j++) {
            bufs[j] = resolve(p, &st->bufs[j], in, out, temp);
            nbytes[j] = st->bufs[j].nbytes;
        }
        s = lz_loop_run_args(p->kernels[st->kernel], st->args, bufs, nbytes);
    }
    lz_free(temp);
    return s;
}
