/* run_devices.c - lazuli run --devices N: a program whose marks say how its values are spread over
 * a mesh is partitioned, its inputs are cut into tiles, N partitions run it, and what they give is
 * put together again. A program without marks runs as it is on each of them. With
 * --print-collectives, a line of JSON for every collective, every result's placement and the memory
 * of a device.
 * Where a launcher has started several processes, the devices are spread over them: all read the
 * program and its inputs, and compare them; the first one has the results. */
#include "backends/common/partitions.h"
#include "backends/distributed/talk.h"
#include "lower/plan/plan.h"
#include "shard/shard.h"
#include "shard/tiles.h"
#include "tools/lazuli/run.h"
#include <string.h>

typedef struct spread {
    const run_options *o;
    lz_func *f;
    const lz_mesh *mesh;  /* NULL: there are no marks, and each partition has all of everything */
    lz_partitioned parts; /* of marks */
    const lz_func *local;
    uint32_t n;
    bool several;                   /* processes */
    lz_far_partitions here;         /* partitions of this one */
    lz_literal **in, **out;         /* whole */
    lz_literal ***args, ***results; /* [n]: of each partition; NULL: another process's */
    lz_collective_uses uses;
} spread;

/* Talks between processes. */
enum { TALK_SAME, TALK_RUN, TALK_RUN_END, TALK_RESULTS };

static bool is_first(const spread *x)
{
    return !x->several || lz_processes_self() == 0;
}

/* ---- arguments and results ---- */

static lz_status argument(spread *x, uint32_t p, uint32_t i)
{
    lz_literal **to = &x->args[p][i];
    if (!x->mesh) {
        lz_literal_retain(*to = x->in[i]);
        return LZ_OK;
    }
    if (i == x->parts.nin) {
        *to = lz_literal_scalar_i64(LZ_U32, p);
        return *to ? LZ_OK : LZ_EMEM;
    }
    *to = lz_literal_new(lz_val_type(x->local, i));
    if (!*to)
        return LZ_FAIL(LZ_EMEM, "no memory for a part of input %u", i);
    return lz_tile_cut(x->parts.in[i], x->in[i]->type, p, x->in[i]->data, (*to)->data);
}

/* Of the partitions of this process; the first one is given results of others. */
static lz_status cut_inputs(spread *x)
{
    for (uint32_t p = 0; p < x->n; p++) {
        bool here = p >= x->here.first && p - x->here.first < x->here.nlocal;
        bool gets = here || is_first(x);
        if ((here && !(x->args[p] = lz_calloc((size_t)x->local->nparam + 1, sizeof **x->args))) ||
            (gets &&
             !(x->results[p] = lz_calloc((size_t)x->local->nresult + 1, sizeof **x->results))))
            return LZ_FAIL(LZ_EMEM, "no memory for %u partitions", x->n);
        for (uint32_t i = 0; here && i < x->local->nparam; i++)
            LZ_TRY(argument(x, p, i));
    }
    return LZ_OK;
}

static lz_status join_results(spread *x)
{
    for (uint32_t k = 0; k < x->local->nresult; k++) {
        if (!x->mesh) {
            lz_literal_retain(x->out[k] = x->results[0][k]);
            continue;
        }
        const lz_sharding *s = x->parts.out[k];
        x->out[k] = lz_literal_new(lz_val_type(x->f, x->f->results[k]));
        if (!x->out[k])
            return LZ_FAIL(LZ_EMEM, "no memory for result %u", k);
        for (uint32_t p = 0; p < x->n; p++)
            if (!lz_tile_is_copy(s, p))
                LZ_TRY(
                    lz_tile_join(s, x->out[k]->type, p, x->results[p][k]->data, x->out[k]->data));
    }
    return LZ_OK;
}

/* ---- what is said of it ---- */

static void print_memory(const spread *x)
{
    uint64_t in = 0, out = 0, temp = 0;
    lz_plan *plan = NULL;
    uint32_t n = x->mesh ? x->parts.nin : x->local->nparam;
    for (uint32_t i = 0; i < n; i++)
        in += lz_val_type(x->local, i)->nbytes;
    for (uint32_t k = 0; k < x->local->nresult; k++)
        out += lz_val_type(x->local, x->local->results[k])->nbytes;
    if (lz_lower(x->local, &(lz_lower_options){.partitions = x->n}, &plan) == LZ_OK)
        temp = plan->temp_bytes;
    lz_plan_free(plan);
    printf("{\"memory\": {\"argument_bytes\": %" PRIu64 ", \"output_bytes\": %" PRIu64
           ", \"temporary_bytes\": %" PRIu64 "}}\n",
           in, out, temp);
}

static void print_collectives(const spread *x)
{
    for (uint32_t i = 0; i < x->uses.len; i++) {
        const lz_collective_use *u = &x->uses.data[i];
        uint64_t operands, results;
        lz_collective_bytes(u->sig, &operands, &results);
        printf("{\"collective\": \"%s\", \"group_size\": %u, \"operands\": %u, \"operand_bytes\": "
               "%" PRIu64 ", \"result_bytes\": %" PRIu64 ", \"executions\": %" PRIu64 "}\n",
               lz_op_get(u->sig->op)->text, u->group_size, u->sig->nopnd, operands, results,
               u->executions);
    }
    for (uint32_t k = 0; k < x->local->nresult; k++) {
        lz_buf b = {0};
        if (x->mesh)
            lz_sharding_print_hlo(&b, x->parts.out[k]);
        else
            lz_buf_puts(&b, "{replicated}");
        printf("{\"result\": %u, \"sharding\": \"%s\"}\n", k, lz_buf_str(&b));
        lz_buf_free(&b);
    }
    print_memory(x);
}

/* ---- running ---- */

/* The plan by the loop-IR interpreter: the compiler without code generation. */
static lz_status run_loops(spread *x)
{
    lz_plan *plan = NULL;
    LZ_TRY(lz_lower(x->local, &(lz_lower_options){.partitions = x->n}, &plan));
    uint32_t nin = x->local->nparam, nout = x->local->nresult;
    const void **in = lz_calloc((size_t)x->n * nin + 1, sizeof *in),
               ***ins = lz_calloc(x->n, sizeof *ins);
    void **out = lz_calloc((size_t)x->n * nout + 1, sizeof *out),
         ***outs = lz_calloc(x->n, sizeof *outs);
    lz_status s = in && out && ins && outs ? LZ_OK : LZ_EMEM;
    for (uint32_t p = 0; p < x->n && s == LZ_OK; p++) {
        ins[p] = in + (size_t)p * nin;
        outs[p] = out + (size_t)p * nout;
        for (uint32_t i = 0; i < nin; i++)
            ins[p][i] = x->args[p][i]->data;
        for (uint32_t k = 0; k < nout && s == LZ_OK; k++) {
            lz_literal *l = lz_literal_new(lz_val_type(x->local, x->local->results[k]));
            x->results[p][k] = l;
            s = l ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for result %u", k);
            outs[p][k] = l ? l->data : NULL;
        }
    }
    if (s == LZ_OK)
        s = lz_plan_run_partitions(plan, (const void *const *const *)ins,
                                   (void *const *const *)outs, &x->uses);
    lz_free(in);
    lz_free(ins);
    lz_free(out);
    lz_free(outs);
    lz_plan_free(plan);
    return s;
}

/* What has to be put together. */
static bool is_needed(const void *spread_of, uint32_t p, uint32_t k)
{
    const spread *x = spread_of;
    return x->mesh && !lz_tile_is_copy(x->parts.out[k], p);
}

/* Each process its own; then the first one gets what it needs of the others. */
static lz_status run_far(spread *x, const lz_backend *b)
{
    uint32_t at = x->here.nlocal ? x->here.first : 0;
    LZ_TRY(lz_run_far_partitions(b, x->local, &x->here, x->o->times,
                                 lz_talk_number(LZ_TALK_RUN, TALK_RUN),
                                 (lz_literal *const *const *)(x->args + at), x->results + at,
                                 x->here.first == 0 ? &x->uses : NULL));
    return lz_gather_far_partitions(
        b, x->local, &x->here, lz_talk_number(LZ_TALK_RUN, TALK_RESULTS), is_needed, x, x->results);
}

static lz_status execute(spread *x)
{
    const lz_backend *b = lz_backend_get(x->o->device);
    if (x->several)
        return run_far(x, b);
    if (strcmp(x->o->device, "loop") == 0)
        return run_loops(x);
    return lz_run_partitions(b, x->local, x->n, x->o->times, NULL,
                             (lz_literal *const *const *)x->args, x->results, &x->uses, NULL);
}

/* ---- several processes ---- */

/* Launchers give one process their standard input. */
static bool reads_stdin(const run_options *o)
{
    bool reads = strcmp(o->file, "-") == 0;
    for (int i = 0; i < o->ninput; i++)
        reads |= strcmp(o->input[i], "-") == 0;
    return reads;
}

static lz_status join_others(spread *x)
{
    const lz_process_info *p;
    x->here = (lz_far_partitions){x->n, 0, x->n};
    LZ_TRY(lz_process_info_get(&p));
    if (p->count == 1)
        return LZ_OK;
    if (reads_stdin(x->o))
        return LZ_FAIL(LZ_EUNSUPPORTED,
                       "this is one of %d processes (%s), which all read the program and its "
                       "inputs: they must be files",
                       p->count, lz_launcher_name(p->launcher));
    if (strcmp(x->o->device, "loop") == 0)
        return LZ_FAIL(LZ_EUNSUPPORTED,
                       "this is one of %d processes (%s), and the loop interpreter runs in one: "
                       "LAZULI_LAUNCHER=none runs all of it in each",
                       p->count, lz_launcher_name(p->launcher));
    LZ_TRY(lz_far_partitions_join(lz_backend_get(x->o->device), x->n, &x->here));
    x->several = true;
    return LZ_OK;
}

/* What all processes must have alike. */
typedef struct alike {
    uint64_t devices, times;
    lz_hash program, inputs;
} alike;

static void put_alike(const spread *x, const lz_buf *text, lz_buf *b)
{
    lz_hash in = {0, 0};
    lz_hash all[2] = {lz_hash_bytes(text->data, text->len), {0, 0}};
    for (uint32_t i = 0; x->f && x->in && i < x->f->nparam; i++) {
        const lz_hash both[2] = {in,
                                 x->in[i] ? lz_hash_bytes(x->in[i]->data, x->in[i]->nbytes) : in};
        in = lz_hash_bytes(both, sizeof both);
    }
    all[1] = in;
    if (x->o->entry)
        all[0] = lz_hash_seeded(x->o->entry, strlen(x->o->entry), all[0].lo);
    lz_buf_u64(b, x->n);
    lz_buf_u64(b, x->o->times);
    for (int i = 0; i < 2; i++) {
        lz_buf_u64(b, all[i].lo);
        lz_buf_u64(b, all[i].hi);
    }
}

static lz_status get_alike(lz_rd *r, alike *out)
{
    out->devices = lz_rd_u64(r);
    out->times = lz_rd_u64(r);
    out->program.lo = lz_rd_u64(r);
    out->program.hi = lz_rd_u64(r);
    out->inputs.lo = lz_rd_u64(r);
    out->inputs.hi = lz_rd_u64(r);
    return lz_wire_ended(r, "run");
}

static lz_status compare_all(void *user, lz_rd *said)
{
    const spread *x = user;
    alike first, v;
    LZ_TRY(get_alike(&said[0], &first));
    for (uint32_t r = 1; r < lz_processes_count(); r++) {
        const char *name = lz_processes_get(r)->name;
        LZ_TRY(get_alike(&said[r], &v));
        if (v.devices != first.devices)
            return LZ_FAIL(LZ_EINVAL, "%s runs on %" PRIu64 " devices, rank 0 on %" PRIu64, name,
                           v.devices, first.devices);
        if (v.times != first.times)
            return LZ_FAIL(LZ_EINVAL, "%s runs it %" PRIu64 " times, rank 0 %" PRIu64, name,
                           v.times, first.times);
        if (!lz_hash_eq(v.program, first.program))
            return LZ_FAIL(LZ_EINVAL, "%s runs another program than rank 0, which has %.200s", name,
                           x->o->file);
        if (!lz_hash_eq(v.inputs, first.inputs))
            return LZ_FAIL(LZ_EINVAL, "%s has other inputs than rank 0", name);
    }
    return LZ_OK;
}

/* mine: how it went here so far. */
static lz_status agree(spread *x, const lz_buf *text, lz_status mine)
{
    lz_buf b = {0};
    if (!x->several)
        return mine;
    if (mine == LZ_OK)
        put_alike(x, text, &b);
    lz_status s =
        lz_talk(lz_talk_number(LZ_TALK_RUN, TALK_SAME), x->o->file, mine, &b, compare_all, x, NULL);
    lz_buf_free(&b);
    return s;
}

/* ---- all of it ---- */

static lz_status read_program(spread *x, const lz_buf *text)
{
    lz_partitions about = {0};
    LZ_TRY(lz_func_parse_marked(lz_buf_str(text), text->len, x->o->file, x->o->entry, x->n, &about,
                                &x->f));
    LZ_TRY(lz_shard_mesh(x->f, &x->mesh));
    if (x->mesh && x->mesh->ndevice != x->n)
        return LZ_FAIL(LZ_EINVAL, "the program's mesh is of %" PRId64 " devices, not of %u",
                       x->mesh->ndevice, x->n);
    int64_t said;
    if (!lz_mul_i64(about.partitions ? about.partitions : 1, about.replicas ? about.replicas : 1,
                    &said))
        said = INT64_MAX;
    if (!x->mesh && said > 1 && said != x->n)
        return LZ_FAIL(LZ_EINVAL, "the program is for %" PRId64 " devices, not for %u", said, x->n);
    if (x->mesh)
        LZ_TRY(lz_partition(x->f, x->mesh, &x->parts));
    x->local = x->mesh ? x->parts.local : x->f;
    return LZ_OK;
}

static lz_status prepare(spread *x, lz_buf *text)
{
    LZ_TRY(tool_read_text(x->o->file, text));
    LZ_TRY(read_program(x, text));
    x->in = lz_calloc((size_t)x->f->nparam + 1, sizeof *x->in);
    x->out = lz_calloc((size_t)x->f->nresult + 1, sizeof *x->out);
    x->args = lz_calloc(x->n, sizeof *x->args);
    x->results = lz_calloc(x->n, sizeof *x->results);
    if (!x->in || !x->out || !x->args || !x->results)
        return LZ_FAIL(LZ_EMEM, "no memory for %u partitions", x->n);
    LZ_TRY(run_load_inputs(x->o, x->f, x->in));
    return cut_inputs(x);
}

static lz_status run_it(spread *x)
{
    lz_buf text = {0};
    LZ_TRY(join_others(x));
    lz_status s = agree(x, &text, prepare(x, &text));
    lz_buf_free(&text);
    LZ_TRY(s);
    LZ_TRY(execute(x));
    return is_first(x) ? join_results(x) : LZ_OK;
}

static void release_all(lz_literal **l, uint32_t n)
{
    for (uint32_t i = 0; l && i < n; i++)
        lz_literal_release(l[i]);
    lz_free(l);
}

static void spread_free(spread *x)
{
    for (uint32_t p = 0; x->local && p < x->n; p++) {
        if (x->args)
            release_all(x->args[p], x->local->nparam);
        if (x->results)
            release_all(x->results[p], x->local->nresult);
    }
    lz_free(x->args);
    lz_free(x->results);
    if (x->f) {
        release_all(x->in, x->f->nparam);
        release_all(x->out, x->f->nresult);
    }
    lz_vec_free(&x->uses);
    lz_partitioned_free(&x->parts);
    lz_func_free(x->f);
}

bool run_traces(const run_options *o)
{
    const lz_process_info *p;
    bool first = true;
    LZ_QUIETLY
        first = !o->devices || lz_process_info_get(&p) != LZ_OK || p->index == 0;
    return o->trace && first;
}

int run_on_devices(const run_options *o)
{
    spread x = {.o = o, .n = (uint32_t)o->devices};
    int rc = run_it(&x) == LZ_OK ? 0 : tool_fail(o->file);
    bool says = rc == 0 && is_first(&x);
    if (says && o->print_collectives)
        print_collectives(&x);
    if (says)
        rc = run_deliver(o, x.out, x.f->nresult);
    spread_free(&x);
    return rc;
}
