/* spmd_exec.c - programs of the virtual device: partitioned, compiled once, run by all devices in
 * lock step, or, where some are of other processes, by each of this one's for itself. A stored
 * program is the inner backend's; behind it, of one whose shardings were searched for, the plan's
 * marks and their length; and a byte that says which order of marks sent less (lz_partition_step).
 * The partition is made anew when it is loaded, so that nothing is believed of the disk that
 * follows from the function. Marks or a byte that are wrong give a partition that the stored
 * program is none of. Threads: thread-safe. */
#include "backends/spmd/spmd.h"
#include "base/alloc.h"
#include "base/config.h"
#include "base/log.h"
#include "base/thread.h"
#include "ir/attr.h"
#include "shard/auto/auto.h"
#include <string.h>

typedef struct spmd_exec {
    lz_partitioned p;
    lz_func *marked;      /* the function with the marks of a plan; NULL: there was no search */
    lz_buf plan;          /* these marks */
    bool *chosen;         /* of parameters, then of results: no mark of the program's says where */
    const lz_type **type; /* of parameters, then of results: whole tensors */
    const char **in_text; /* where the parameters are to be */
    bool *donate;         /* of the local function's parameters */
    lz_buf collectives;   /* a report, for PT_XLA_DEBUG */
    lz_buf totals;        /* what is sent in a run */
    double partition_ms;
    lz_hash program; /* of the local function */
    const lz_mesh *mesh;
    lz_device_buffer **number; /* [nlocal]: partitions of the devices; NULL: their own numbers */
    lz_spmd_trace *trace;      /* NULL: it is not compared with other processes' */
    lz_exec *inner;
} spmd_exec;

/* ---- compiling ---- */

static void exec_free(spmd_exec *x)
{
    if (!x)
        return;
    if (x->inner)
        lz_spmd.be->exec_free(x->inner);
    for (int64_t l = 0; x->number && l < lz_spmd.nlocal; l++)
        lz_device_buffer_release(x->number[l]);
    lz_free(x->number);
    lz_spmd_trace_free(x->trace);
    lz_partitioned_free(&x->p);
    lz_free(x->type);
    lz_func_free(x->marked);
    lz_buf_free(&x->plan);
    lz_free(x->chosen);
    lz_free(x->in_text);
    lz_free(x->donate);
    lz_buf_free(&x->collectives);
    lz_buf_free(&x->totals);
    lz_free(x);
}

void lz_spmd_exec_free(lz_exec *x)
{
    exec_free((spmd_exec *)x);
}

/* The mesh of the marks; when there are none that of the search, or a row of all devices. */
static lz_status mesh_of(const lz_func *f, const lz_mesh *search, const lz_mesh **out)
{
    LZ_TRY(lz_shard_mesh(f, out));
    const lz_mesh_axis all = {"devices", lz_spmd.n};
    if (!*out || (*out)->ndevice == 1) /* which says nothing */
        *out = search ? search : lz_mesh_get(&all, 1, NULL);
    if (!*out)
        return lz_error_get()->status;
    if ((*out)->ndevice != lz_spmd.n)
        return LZ_FAIL(LZ_EINVAL, "SPMD: the program's mesh has %lld devices, there are %lld",
                       (long long)(*out)->ndevice, (long long)lz_spmd.n);
    return LZ_OK;
}

/* What marks of the program say nothing of. */
static void find_chosen(spmd_exec *x, const lz_func *f)
{
    for (uint32_t i = 0; i < f->nparam; i++)
        x->chosen[i] = true;
    for (lz_val v = f->nparam; v < f->ninst; v++)
        if (lz_inst_op(&f->insts[v]) == LZ_OP_SHARDING_CONSTRAINT &&
            f->insts[v].opnd[0] < f->nparam)
            x->chosen[f->insts[v].opnd[0]] = false;
    for (uint32_t k = 0; k < f->nresult; k++)
        x->chosen[f->nparam + k] =
            lz_inst_op(&f->insts[f->results[k]]) != LZ_OP_SHARDING_CONSTRAINT;
}

static lz_status describe(spmd_exec *x, const lz_func *f, const lz_compile_options *o)
{
    uint32_t nin = f->nparam, nout = f->nresult;
    x->chosen = lz_calloc((size_t)nin + nout + 1, sizeof *x->chosen);
    x->type = lz_calloc((size_t)nin + nout + 1, sizeof *x->type);
    x->in_text = lz_calloc((size_t)nin + 1, sizeof *x->in_text);
    x->donate = lz_calloc((size_t)nin + 1, sizeof *x->donate);
    if (!x->type || !x->in_text || !x->donate || !x->chosen)
        return LZ_FAIL(LZ_EMEM, "SPMD: no memory for %u parameters", nin);
    find_chosen(x, f);
    for (uint32_t i = 0; i < nin; i++) {
        x->type[i] = lz_val_type(f, i);
        x->in_text[i] = lz_sharding_text(x->p.in[i]);
        x->donate[i] = o && o->donate && o->donate[i];
        if (!x->in_text[i])
            return LZ_EMEM;
    }
    for (uint32_t k = 0; k < nout; k++)
        x->type[nin + k] = lz_val_type(f, f->results[k]);
    return LZ_OK;
}

/* Of a mesh of several processes that is in another order than its devices: partition p is on the
 * device that is at position p. */
static lz_status order_devices(spmd_exec *x, const lz_mesh *mesh)
{
    if (!lz_spmd_is_multiprocess() || !mesh->device_ids)
        return LZ_OK;
    x->number = lz_calloc((size_t)lz_spmd.nlocal, sizeof(lz_device_buffer *));
    if (!x->number)
        return LZ_FAIL(LZ_EMEM, "SPMD: no memory for %lld devices", (long long)lz_spmd.nlocal);
    for (int64_t l = 0; l < lz_spmd.nlocal; l++) {
        const uint32_t p = (uint32_t)lz_spmd_partition_of(mesh, l);
        LZ_TRY(lz_spmd.be->alloc((int)l, sizeof p, &x->number[l]));
        LZ_TRY(lz_spmd.be->copy_in(x->number[l], &p, sizeof p));
    }
    return lz_spmd_by_device(mesh, &x->p.local);
}

static bool debugs(void)
{
    return lz_cfg_bool(LZ_OPT_PT_XLA_DEBUG) || lz_cfg_is_set(LZ_OPT_PT_XLA_DEBUG_LEVEL);
}

/* Processes compare what they are about to execute. */
static bool compares(void)
{
    return lz_cfg_bool(LZ_OPT_PT_XLA_DEBUG) || lz_cfg_int(LZ_OPT_PT_XLA_DEBUG_LEVEL) >= 1;
}

/* What is known of a stored program. */
typedef struct stored {
    bool later; /* which order is the better one */
    const uint8_t *plan;
    size_t nplan;
} stored;

/* The marks of a search's plan, found or read, in a copy of the function. */
static lz_status mark(spmd_exec *x, const lz_func *f, const lz_mesh *mesh, const bool *state,
                      const stored *known)
{
    lz_auto_plan p = {0};
    lz_auto_mark *marks = NULL;
    uint32_t n = 0;
    const lz_auto_options o = {.is_state = state};
    lz_status s;
    if (known) {
        lz_rd r = {.p = known->plan, .end = known->plan + known->nplan};
        s = lz_auto_marks_read(&r, mesh, &p.arena, &marks, &n);
    } else {
        s = lz_auto_shard(f, mesh, &o, &p);
        marks = p.marks;
        n = p.nmark;
    }
    if (s == LZ_OK)
        s = lz_auto_apply(f, marks, n, &x->marked);
    if (s == LZ_OK)
        lz_auto_marks_write(&x->plan, marks, n);
    lz_auto_plan_free(&p);
    return s == LZ_OK && x->plan.failed ? LZ_FAIL(LZ_EMEM, "SPMD: no memory for a plan") : s;
}

/* known: NULL, or what is stored of the program. */
static lz_status partition(const lz_func *f, const lz_compile_options *o, const stored *known,
                           spmd_exec **out)
{
    const lz_mesh *mesh;
    const lz_mesh *search = o ? o->search : NULL;
    LZ_TRY(mesh_of(f, search, &mesh));
    spmd_exec *x = lz_calloc(1, sizeof *x);
    int64_t t0 = lz_now_ns();
    const bool *state = o ? o->donate : NULL;
    lz_status s = x ? LZ_OK : LZ_FAIL(LZ_EMEM, "SPMD: no memory");
    if (s == LZ_OK && search)
        s = mark(x, f, mesh, state, known);
    const lz_func *g = s == LZ_OK && search ? x->marked : f;
    if (s == LZ_OK)
        s = known ? lz_partition_step_again(g, mesh, state, known->later, &x->p)
                  : lz_partition_step(g, mesh, state, &x->p);
    if (s == LZ_OK) {
        x->partition_ms = (double)(lz_now_ns() - t0) / 1e6;
        s = describe(x, f, o);
    }
    if (s == LZ_OK)
        s = lz_shard_report_totals(&x->p, mesh, &x->totals);
    if (s == LZ_OK && debugs())
        s = lz_shard_report_collectives(&x->p, mesh, &x->collectives);
    if (s == LZ_OK)
        s = order_devices(x, mesh);
    if (s == LZ_OK && lz_spmd_is_multiprocess() && compares())
        s = lz_spmd_trace_new(f, &x->trace);
    if (s == LZ_OK) {
        x->mesh = mesh;
        if (lz_spmd_is_multiprocess())
            x->program = lz_func_hash(x->p.local);
    }
    if (s != LZ_OK) {
        exec_free(x);
        x = NULL;
    }
    *out = x;
    return s;
}

/* Says what is on every device unasked, once for each program; the notes are not needed any
 * more. */
static lz_status finish(spmd_exec *x, const lz_func *f, const lz_compile_options *o)
{
    lz_buf said = {0};
    lz_exec_info m;
    lz_spmd.be->exec_info(x->inner, &m);
    lz_status s = LZ_OK;
    if (lz_log_enabled(LZ_LOG_WARN))
        s = lz_shard_report_unasked(x->marked ? x->marked : f, x->mesh, &x->p, o ? o->donate : NULL,
                                    m.argument_bytes + m.output_bytes + m.temp_bytes, &said);
    if (s == LZ_OK && said.len)
        LZ_WARN("spmd", "%.60s: %s (docs/spmd.md)", o && o->dump_name ? o->dump_name : f->name,
                lz_buf_str(&said));
    lz_buf_free(&said);
    lz_partitioned_drop_notes(&x->p);
    lz_func_free(x->marked);
    x->marked = NULL;
    return s;
}

static lz_compile_options inner_options(const spmd_exec *x, const lz_compile_options *o)
{
    lz_compile_options in = o ? *o : (lz_compile_options){0};
    in.donate = x->donate;
    in.func = x->p.local;
    in.partitions = (uint32_t)lz_spmd.n;
    in.program = lz_spmd_is_multiprocess() ? &x->program : NULL;
    return in;
}

lz_status lz_spmd_compile(int device, const lz_func *f, const lz_compile_options *o, lz_exec **out)
{
    (void)device;
    spmd_exec *x;
    *out = NULL;
    LZ_TRY(partition(f, o, NULL, &x));
    lz_compile_options in = inner_options(x, o);
    lz_status s = lz_spmd.be->compile(0, x->p.local, &in, &x->inner);
    if (s == LZ_OK)
        s = finish(x, f, o);
    if (s != LZ_OK) {
        exec_free(x);
        return s;
    }
    *out = (lz_exec *)x;
    return LZ_OK;
}

lz_status lz_spmd_serialize(lz_exec *exec, lz_buf *out)
{
    const spmd_exec *x = (const spmd_exec *)exec;
    const uint8_t order = x->p.later;
    LZ_TRY(lz_spmd.be->serialize(x->inner, out));
    if (x->plan.len) {
        lz_buf_put(out, x->plan.data, x->plan.len);
        lz_buf_u32(out, (uint32_t)x->plan.len);
    }
    lz_buf_put(out, &order, sizeof order);
    return out->failed ? LZ_FAIL(LZ_EMEM, "SPMD: no memory to store a program") : LZ_OK;
}

/* What is behind the inner program, from the end; *n: the length of that. */
static lz_status read_stored(const uint8_t *p, bool search, size_t *n, stored *out)
{
    const uint8_t order = *n ? p[*n - 1] : UINT8_MAX;
    if (order > 1)
        return LZ_FAIL(LZ_ECORRUPT, "SPMD: a stored program that says nothing of the marks' order");
    *out = (stored){.later = order == 1};
    *n -= 1;
    if (!search)
        return LZ_OK;
    out->nplan = *n >= 4 ? lz_le32(p + *n - 4) : SIZE_MAX;
    if (*n < 4 || out->nplan > *n - 4)
        return LZ_FAIL(LZ_ECORRUPT, "SPMD: a stored program without the plan that it is of");
    *n -= 4 + out->nplan;
    out->plan = p + *n;
    return LZ_OK;
}

lz_status lz_spmd_deserialize(int device, const void *p, size_t n, const lz_compile_options *o,
                              lz_exec **out)
{
    (void)device;
    spmd_exec *x;
    *out = NULL;
    if (!o || !o->func)
        return LZ_FAIL(LZ_EINVAL, "SPMD: a stored program is loaded for its function only");
    stored known;
    LZ_TRY(read_stored(p, o->search, &n, &known));
    LZ_TRY(partition(o->func, o, &known, &x));
    lz_compile_options in = inner_options(x, o);
    lz_status s = lz_spmd.be->deserialize(0, p, n, &in, &x->inner);
    if (s == LZ_OK)
        s = finish(x, o->func, o);
    if (s != LZ_OK) {
        exec_free(x);
        return s;
    }
    *out = (lz_exec *)x;
    return LZ_OK;
}

void lz_spmd_exec_info(const lz_exec *exec, lz_exec_info *out)
{
    const spmd_exec *x = (const spmd_exec *)exec;
    lz_spmd.be->exec_info(x->inner, out);
    out->collectives = x->collectives.len ? lz_buf_str(&x->collectives) : NULL;
    out->collective_totals = x->totals.len ? lz_buf_str(&x->totals) : NULL;
    out->partition_ms = x->partition_ms;
}

const char *lz_spmd_input_placement(const lz_exec *exec, uint32_t i)
{
    return ((const spmd_exec *)exec)->in_text[i];
}

/* ---- executing ---- */

/* Buffers of one execution: of local partition l in rows of nin + 1 and nout. */
typedef struct run {
    lz_device_buffer ***in, ***out, **cells; /* in: references, but to the partitions' numbers */
    uint32_t nin;
    lz_event *done;
} run;

static void run_end(run *r)
{
    for (int64_t l = 0; l < lz_spmd.nlocal && r->nin; l++)
        for (uint32_t i = 0; i < r->nin; i++)
            lz_device_buffer_release(r->in[l][i]);
    lz_free(r->in);
    lz_free(r->cells);
    lz_event_release(r->done);
}

static lz_status run_begin(run *r, const spmd_exec *x)
{
    size_t n = (size_t)lz_spmd.nlocal, nin = (size_t)x->p.nin + 1, nout = x->p.nout;
    *r = (run){.in = lz_calloc(2 * n, sizeof *r->in),
               .cells = lz_calloc(n * (nin + nout), sizeof(lz_device_buffer *))};
    if (!r->in || !r->cells)
        return LZ_FAIL(LZ_EMEM, "SPMD: no memory to execute a program");
    r->out = r->in + n;
    r->nin = x->p.nin;
    for (size_t l = 0; l < n; l++) {
        r->in[l] = r->cells + l * nin;
        r->out[l] = r->cells + n * nin + l * nout;
        r->in[l][nin - 1] = x->number ? x->number[l] : lz_spmd.partition[l];
    }
    return LZ_OK;
}

static lz_status place_inputs(run *r, const spmd_exec *x, lz_device_buffer *const *in)
{
    for (uint32_t i = 0; i < x->p.nin; i++) {
        lz_spmd_buffer *b = (lz_spmd_buffer *)in[i];
        if (!b || b->b.nbytes < x->type[i]->nbytes)
            return LZ_FAIL(LZ_EINVAL, "SPMD: argument %u has %zu bytes, %zu are needed", i,
                           b ? b->b.nbytes : 0, x->type[i]->nbytes);
        LZ_TRY(lz_spmd_place(b, x->type[i], x->p.in[i], x->chosen[i], r->in, i));
    }
    return LZ_OK;
}

/* Result k, of parts that are still to come. */
static lz_status make_output(const spmd_exec *x, uint32_t k, lz_device_buffer **out)
{
    lz_device_buffer **part = lz_calloc((size_t)lz_spmd.nlocal, sizeof(lz_device_buffer *));
    if (!part)
        return LZ_FAIL(LZ_EMEM, "SPMD: no memory for %lld parts", (long long)lz_spmd.nlocal);
    lz_status s = lz_spmd_of_parts(x->type[x->p.nin + k], x->p.out[k], part, out);
    if (s != LZ_OK)
        lz_free(part);
    else
        atomic_store(&((lz_spmd_buffer *)*out)->chosen, x->chosen[x->p.nin + k]);
    return s;
}

/* All that may fail comes before the program is started: it takes donated memory away. */
static lz_status make_outputs(const spmd_exec *x, lz_device_buffer **out, lz_event **spare)
{
    for (uint32_t k = 0; k < x->p.nout; k++)
        LZ_TRY(make_output(x, k, &out[k]));
    *spare = lz_event_new();
    return *spare ? LZ_OK : LZ_EMEM;
}

/* The parts have been started. */
static void fill_outputs(const run *r, const spmd_exec *x, lz_device_buffer **out)
{
    for (uint32_t k = 0; k < x->p.nout; k++) {
        for (int64_t l = 0; l < lz_spmd.nlocal; l++)
            ((lz_spmd_buffer *)out[k])->part[l] = r->out[l][k];
        lz_event_retain(r->done);
        out[k]->ready = r->done;
    }
}

/* The partitions of this process. *started: the backend has been asked to, so that who would meet
 * them knows of a failure. */
static lz_status start_partitions(run *r, const spmd_exec *x, const bool *gives, bool awaited,
                                  bool *started)
{
    lz_device_buffer *const *const *in = (lz_device_buffer *const *const *)r->in;
    *started = true;
    if (lz_spmd_is_multiprocess())
        return lz_spmd_execute_local(x->inner, x->p.nout, in, gives, awaited, r->out, &r->done);
    return lz_spmd.be->execute_partitions(x->inner, lz_spmd.n, NULL, in, gives, awaited, r->out,
                                          NULL, &r->done);
}

static lz_status start(run *r, const spmd_exec *x, const bool *donated, bool awaited,
                       lz_device_buffer **out, bool *started)
{
    lz_event *spare = NULL;
    bool *gives = lz_calloc((size_t)x->p.nin + 1, sizeof *gives);
    lz_status s = gives ? LZ_OK : LZ_FAIL(LZ_EMEM, "SPMD: no memory to execute a program");
    if (s == LZ_OK)
        s = make_outputs(x, out, &spare);
    if (s == LZ_OK) {
        if (donated)
            memcpy(gives, donated, x->p.nin * sizeof *gives);
        s = start_partitions(r, x, gives, awaited, started);
    }
    if (spare)
        lz_event_complete(spare, NULL);
    if (s == LZ_OK && !r->done) { /* all is done */
        r->done = spare;
        spare = NULL;
    }
    if (s == LZ_OK)
        fill_outputs(r, x, out);
    lz_event_release(spare);
    lz_free(gives);
    return s;
}

lz_status lz_spmd_execute(lz_exec *exec, int device, lz_device_buffer *const *in,
                          const bool *donated, bool awaited, lz_device_buffer **out,
                          lz_event **done)
{
    (void)device;
    const spmd_exec *x = (const spmd_exec *)exec;
    run r;
    bool started = false;
    *done = NULL;
    for (uint32_t k = 0; k < x->p.nout; k++)
        out[k] = NULL;
    lz_status s = x->trace ? lz_spmd_agree(x->trace) : LZ_OK;
    if (s != LZ_OK)
        return s;
    s = run_begin(&r, x);
    if (s == LZ_OK)
        s = place_inputs(&r, x, in);
    if (s == LZ_OK)
        s = start(&r, x, donated, awaited, out, &started);
    if (s != LZ_OK && !started && lz_spmd_is_multiprocess())
        lz_spmd_miss(x->inner);
    if (s == LZ_OK) {
        lz_event_retain(r.done);
        *done = r.done;
    }
    for (uint32_t k = 0; k < x->p.nout && s != LZ_OK; k++) {
        lz_device_buffer_release(out[k]);
        out[k] = NULL;
    }
    run_end(&r);
    return s;
}
