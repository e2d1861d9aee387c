/* compile.c - a program of the C API, StableHLO as text or as a portable artifact, compiled for a
 * device, with the cache on disk. Threads: thread-safe; a program does not change. */
#include "backends/common/program_store.h"
#include "base/alloc.h"
#include "base/config.h"
#include "base/log.h"
#include "pjrt/plugin.h"
#include <stdio.h>
#include <string.h>

/* ---- the disk ---- */

static lz_cache *disk;

static void open_disk(void)
{
    if (!lz_cfg_bool(LZ_OPT_CACHE))
        return;
    LZ_QUIETLY {
        (void)lz_program_store_open(NULL, lz_cfg_bool(LZ_OPT_PERSISTENT_CACHE_READ_ONLY), &disk);
    }
}

static lz_cache *disk_get(void)
{
    static lz_once once = LZ_ONCE_INIT;
    lz_once_run(&once, open_disk);
    return disk;
}

/* ---- life ---- */

void lz_pjrt_program_retain(lz_pjrt_program *p)
{
    atomic_fetch_add(&p->refs, 1);
}

void lz_pjrt_program_release(lz_pjrt_program *p)
{
    if (!p || atomic_fetch_sub(&p->refs, 1) != 1)
        return;
    if (p->exec)
        p->be->exec_free(p->exec);
    lz_func_free(p->f);
    lz_pjrt_partitioned_free(p->partitioned);
    lz_free(p->donate);
    lz_free(p->device);
    lz_buf_free(&p->code);
    lz_buf_free(&p->options);
    lz_buf_free(&p->assignment);
    lz_free(p->out_type);
    lz_free(p->out_dims);
    lz_free(p->out_rank);
    lz_free(p->kind);
    lz_free(p->kind_size);
    lz_free(p);
}

/* ---- what it says of itself ---- */

static lz_status answer_queries(lz_pjrt_program *p)
{
    static const char kind[] = "device";
    const lz_func *f = p->f;
    uint32_t most = f->nparam > f->nresult ? f->nparam : f->nresult, ndim = 0;
    p->out_type = lz_calloc((size_t)f->nresult + 1, sizeof *p->out_type);
    p->out_rank = lz_calloc((size_t)f->nresult + 1, sizeof *p->out_rank);
    p->out_dims = lz_calloc((size_t)f->nresult + 1, LZ_MAX_RANK * sizeof *p->out_dims);
    p->kind = lz_calloc((size_t)most + 1, sizeof *p->kind);
    p->kind_size = lz_calloc((size_t)most + 1, sizeof *p->kind_size);
    if (!p->out_type || !p->out_rank || !p->out_dims || !p->kind || !p->kind_size)
        return LZ_FAIL(LZ_EMEM, "no memory for a program of %u results", f->nresult);
    for (uint32_t k = 0; k < f->nresult; k++) {
        const lz_type *t = lz_val_type(p->run, p->run->results[k]);
        p->out_type[k] = lz_pjrt_type_number(t->dtype);
        p->out_rank[k] = (size_t)t->shape.rank;
        for (int d = 0; d < t->shape.rank; d++)
            p->out_dims[ndim++] = t->shape.dims[d];
    }
    for (uint32_t k = 0; k < most; k++) {
        p->kind[k] = kind;
        p->kind_size[k] = sizeof kind - 1;
    }
    return LZ_OK;
}

/* ---- reading ---- */

/* Marks are kept where several devices share what one program says. */
static lz_status parse(const lz_pjrt_program *p, const lz_pjrt_options *o, lz_partitions *about,
                       lz_func **f)
{
    const char *text = p->code.data;
    return o->partitions > 1
               ? lz_func_parse_marked(text, p->code.len, "program", "main", o->partitions, about, f)
               : lz_func_parse_about(text, p->code.len, "program", "main", about, f);
}

/* Arguments that a device takes, one more than parameters where it is told its number, are not
 * given up unless a list says so. */
static lz_status read_code(lz_pjrt_program *p, const lz_pjrt_options *o)
{
    lz_param_list donated = {0};
    lz_partitions about = {.donated = &donated, .tokens = true};
    lz_status s = parse(p, o, &about, &p->f);
    if (s == LZ_OK) {
        p->donate = lz_calloc((size_t)p->f->nparam + 1, sizeof *p->donate);
        if (!p->donate)
            s = LZ_FAIL(LZ_EMEM, "no memory for %u parameters", p->f->nparam);
        p->calls_host = lz_pjrt_calls_host(p->f);
    }
    for (uint32_t i = 0; i < donated.len && s == LZ_OK; i++)
        p->donate[donated.data[i]] = true;
    lz_vec_free(&donated);
    if (s == LZ_OK && o->partitions * o->replicas > 1)
        s = lz_pjrt_partitioned_make(o, p->donate, &p->f, &p->partitioned);
    p->run = p->partitioned && p->partitioned->parts.local ? p->partitioned->parts.local : p->f;
    return s;
}

static lz_status check_devices(const lz_pjrt_program *p, const PJRT_TopologyDescription *t,
                               size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p->device[i] < 0 || p->device[i] >= t->ndevice)
            return LZ_FAIL(LZ_EINVAL, "the options name device %d of %d", p->device[i], t->ndevice);
        for (size_t k = 0; k < i; k++)
            if (p->device[k] == p->device[i])
                return LZ_FAIL(LZ_EINVAL, "the options name device %d twice", p->device[i]);
    }
    if (n > 1 && !p->be->execute_partitions)
        return LZ_FAIL(LZ_EUNSUPPORTED, "%s runs no programs of several devices", p->be->name);
    if (p->nreplica > 1 && p->npartition > 1)
        return LZ_FAIL(LZ_EUNSUPPORTED,
                       "replicas of several partitions are not implemented (%u replicas of %u "
                       "partitions)",
                       p->nreplica, p->npartition);
    return LZ_OK;
}

/* The devices that run it: those of the options, or the first. */
static lz_status read_devices(lz_pjrt_program *p, const PJRT_TopologyDescription *t,
                              const lz_pjrt_options *o)
{
    p->nreplica = (uint32_t)o->replicas;
    p->npartition = (uint32_t)o->partitions;
    size_t n = (size_t)(o->replicas * o->partitions);
    if (n > (size_t)t->ndevice)
        return LZ_FAIL(LZ_EINVAL, "%lld replicas of %lld partitions on %d devices",
                       (long long)o->replicas, (long long)o->partitions, t->ndevice);
    p->device = lz_calloc(n, sizeof *p->device);
    if (!p->device)
        return LZ_FAIL(LZ_EMEM, "no memory for %zu devices", n);
    for (size_t i = 0; i < n; i++)
        p->device[i] = (int32_t)i;
    if (o->assignment)
        LZ_TRY(lz_pjrt_assignment_read(o->assignment, o->nassignment, p->device, n));
    else if (n == 1 && o->device >= 0)
        p->device[0] = o->device < t->ndevice ? (int32_t)o->device : t->ndevice;
    LZ_TRY(check_devices(p, t, n));
    lz_pjrt_assignment_write(&p->assignment, p->nreplica, p->npartition, p->device);
    return p->assignment.failed ? LZ_FAIL(LZ_EMEM, "no memory for an assignment") : LZ_OK;
}

static lz_status read_program(lz_pjrt_program *p, const PJRT_TopologyDescription *t)
{
    lz_pjrt_options o;
    LZ_TRY(lz_pjrt_options_read(p->options.data, p->options.len, &o));
    LZ_TRY(read_devices(p, t, &o));
    LZ_TRY(read_code(p, &o));
    return p->partitioned ? lz_pjrt_partitioned_settle(p->partitioned, p->be, p->device) : LZ_OK;
}

/* ---- compiling ---- */

/* Who runs it together: as in its key. */
static uint32_t team_of(const lz_pjrt_program *p)
{
    const lz_pjrt_partitioned *x = p->partitioned;
    return !x ? 0 : lz_key_overlap() | x->n | (x->replicas ? 0 : LZ_KEY_PARTITIONS);
}

/* Of several devices the first is asked for all: they are alike. */
static int compile_device(const lz_pjrt_program *p)
{
    return p->partitioned ? 0 : p->device[0];
}

static lz_status make_key(const lz_pjrt_program *p, lz_buf *key)
{
    lz_buf device = {0};
    p->be->key(compile_device(p), &device);
    lz_status s = device.failed ? LZ_FAIL(LZ_EMEM, "no memory for a program's key")
                                : lz_program_key(&device, p->donate, p->run, team_of(p), key);
    lz_buf_free(&device);
    return s;
}

static lz_compile_options options_for(const lz_pjrt_program *p, char dump[96])
{
    (void)snprintf(dump, 96, "%.60s-%.12s", p->f->name, p->fingerprint);
    lz_compile_options o = {
        .donate = p->donate, .cache = disk_get(), .dump_name = dump, .func = p->run};
    lz_program_set_team(&o, team_of(p));
    return o;
}

/* From the cache, or from the plan that another process wrote down. What does not load is compiled
 * again, which says all there is to say. */
static bool load(lz_pjrt_program *p, const lz_buf *key, const void *plan, size_t nplan,
                 const lz_compile_options *o, lz_lease *lease)
{
    bool there = false;
    *lease = (lz_lease){0};
    LZ_QUIETLY {
        there = plan && p->be->deserialize &&
                p->be->deserialize(compile_device(p), plan, nplan, o, &p->exec) == LZ_OK;
        if (!there)
            there = lz_program_load(p->be, compile_device(p), key, o, lease, &p->exec) ==
                    LZ_PROGRAM_LOADED;
    }
    return there;
}

/* plan: the executable's own bytes from a former process; NULL: none. */
static lz_status make_exec(lz_pjrt_program *p, const void *plan, size_t nplan)
{
    lz_buf key = {0};
    char dump[96];
    lz_status s = make_key(p, &key);
    if (s == LZ_OK) {
        lz_hash_hex(lz_hash_bytes(key.data, key.len), p->fingerprint);
        lz_compile_options o = options_for(p, dump);
        lz_lease lease;
        if (!load(p, &key, plan, nplan, &o, &lease)) {
            s = p->be->compile(compile_device(p), p->run, &o, &p->exec);
            LZ_QUIETLY {
                if (s == LZ_OK)
                    lz_program_save(p->be, p->exec, &key, o.cache);
            }
        }
        lz_cache_lease_release(o.cache, &lease);
    }
    lz_buf_free(&key);
    return s;
}

static PJRT_NamedValue number(const char *name, double value)
{
    return (PJRT_NamedValue){.struct_size = sizeof(PJRT_NamedValue),
                             .name = name,
                             .name_size = strlen(name),
                             .type = PJRT_FLOAT,
                             .float_value = (float)value,
                             .value_size = 1};
}

/* What one device's run is estimated to do, under XLA's names. */
static void answer_cost(lz_pjrt_program *p)
{
    lz_exec_info info;
    p->be->exec_info(p->exec, &info);
    p->cost[0] = number("flops", info.flops);
    p->cost[1] = number("bytes accessed", info.bytes);
}

static lz_status make(const PJRT_TopologyDescription *t, const void *code, size_t n,
                      const void *options, size_t noptions, const void *plan, size_t nplan,
                      lz_pjrt_program **out)
{
    lz_pjrt_program *p = lz_calloc(1, sizeof *p);
    *out = NULL;
    if (!p)
        return LZ_FAIL(LZ_EMEM, "no memory for a program");
    atomic_init(&p->refs, 1);
    p->be = t->be;
    lz_buf_put(&p->code, code, n);
    lz_buf_put(&p->options, options, noptions);
    lz_status s = p->code.failed || p->options.failed
                      ? LZ_FAIL(LZ_EMEM, "no memory for a program of %zu bytes", n)
                      : LZ_OK;
    if (s == LZ_OK)
        s = read_program(p, t);
    if (s == LZ_OK)
        s = answer_queries(p);
    if (s == LZ_OK)
        s = make_exec(p, plan, nplan);
    if (s != LZ_OK) {
        lz_pjrt_program_release(p);
        return s;
    }
    answer_cost(p);
    *out = p;
    return s;
}

lz_status lz_pjrt_compile(const PJRT_TopologyDescription *t, const void *code, size_t n,
                          const void *options, size_t noptions, lz_pjrt_program **out)
{
    return make(t, code, n, options, noptions, NULL, 0, out);
}

/* ---- in bytes: a digest, what was received, and what was made of it, which another machine or
 * version makes again ---- */

static const char magic[8] = "LZPJRT2";

lz_status lz_pjrt_program_write(const lz_pjrt_program *p, lz_buf *out)
{
    lz_buf plan = {0};
    LZ_QUIETLY {
        if (!p->be->serialize || p->be->serialize(p->exec, &plan) != LZ_OK)
            lz_buf_free(&plan);
    }
    const lz_buf *part[] = {&p->code, &p->options, &plan};
    lz_buf body = {0};
    for (int i = 0; i < 3; i++) {
        lz_buf_u64(&body, part[i]->len);
        lz_buf_put(&body, part[i]->data, part[i]->len);
    }
    lz_hash h = lz_hash_bytes(body.data, body.failed ? 0 : body.len);
    lz_buf_put(out, magic, sizeof magic);
    lz_buf_u64(out, h.lo);
    lz_buf_u64(out, h.hi);
    lz_buf_put(out, body.data, body.failed ? 0 : body.len);
    out->failed |= body.failed;
    lz_buf_free(&body);
    lz_buf_free(&plan);
    return out->failed ? LZ_FAIL(LZ_EMEM, "no memory for a program's bytes") : LZ_OK;
}

lz_status lz_pjrt_program_read(const PJRT_TopologyDescription *t, const void *bytes, size_t n,
                               const void *options, size_t noptions, lz_pjrt_program **out)
{
    lz_rd r = {.p = bytes, .end = (const uint8_t *)bytes + n};
    const void *head = lz_rd_bytes(&r, sizeof magic), *part[3] = {NULL};
    size_t len[3] = {0};
    lz_hash said = {lz_rd_u64(&r), 0};
    said.hi = lz_rd_u64(&r);
    bool whole = !r.failed && lz_hash_eq(said, lz_hash_bytes(r.p, (size_t)(r.end - r.p)));
    for (int i = 0; i < 3 && !r.failed; i++) {
        uint64_t size = lz_rd_u64(&r);
        len[i] = (size_t)size;
        part[i] = lz_rd_bytes(&r, len[i]);
    }
    if (!whole || r.failed || r.p != r.end || memcmp(head, magic, sizeof magic) != 0)
        return LZ_FAIL(LZ_ECORRUPT, "no executable that Lazuli has written, or a damaged one");
    if (!noptions) {
        options = part[1];
        noptions = len[1];
    }
    return make(t, part[0], len[0], options, noptions, len[2] ? part[2] : NULL, len[2], out);
}
