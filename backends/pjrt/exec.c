/* exec.c - executables of a plugin: a function in StableHLO alone, and what the plugin has made of
 * its text for each device that runs it. In the persistent cache are the function and the plugin's
 * own bytes, if it serialises.
 * Threads: thread-safe. */
#include "backends/pjrt/client.h"
#include "base/alloc.h"
#include "base/formats/proto.h"
#include "ir/attr.h"
#include "lower/portable.h"
#include <stdio.h>
#include <string.h>

static const char magic[8] = {'L', 'Z', 'P', 'J', 'R', 'T', '0', '1'};

/* ---- life ---- */

static void unload(lz_plugin *p, PJRT_LoadedExecutable *l)
{
    if (lz_fork_happened()) /* the plugin's threads are not there, nor is who holds its locks */
        return;
    LZ_PLUGIN_ARGS(x, LoadedExecutable_Destroy, .executable = l);
    LZ_QUIETLY {
        (void)LZ_PLUGIN_CALL(p, LoadedExecutable_Destroy, x);
    }
}

void lz_plugin_exec_free(lz_exec *exec)
{
    lz_plugin_exec *x = (lz_plugin_exec *)exec;
    if (!x)
        return;
    for (int d = 0; x->loaded && d < x->p->ndevice; d++)
        if (x->loaded[d])
            unload(x->p, x->loaded[d]);
    lz_free(x->loaded);
    lz_free(x->donate);
    lz_func_free(x->f);
    lz_buf_free(&x->code);
    lz_mutex_destroy(&x->lock);
    lz_free(x);
}

void lz_plugin_exec_info(const lz_exec *x, lz_exec_info *out)
{
    *out = ((const lz_plugin_exec *)x)->info;
}

/* Takes f over, also on failure. */
static lz_status exec_new(lz_plugin *p, lz_func *f, const lz_compile_options *o,
                          lz_plugin_exec **out)
{
    lz_plugin_exec *x = lz_calloc(1, sizeof *x);
    if (!x) {
        lz_func_free(f);
        return LZ_FAIL(LZ_EMEM, "no memory for an executable of plugin %s", p->name);
    }
    lz_mutex_init(&x->lock, "plugin_exec");
    x->p = p;
    x->f = f;
    x->loaded = lz_calloc((size_t)p->ndevice, sizeof(void *));
    x->donate = lz_calloc((size_t)f->nparam + 1, sizeof *x->donate);
    if (!x->loaded || !x->donate) {
        lz_plugin_exec_free((lz_exec *)x);
        return LZ_FAIL(LZ_EMEM, "no memory for an executable of plugin %s", p->name);
    }
    for (uint32_t i = 0; i < f->nparam; i++) {
        x->donate[i] = o && o->donate && o->donate[i];
        x->info.argument_bytes += lz_val_type(f, i)->nbytes;
    }
    for (uint32_t k = 0; k < f->nresult; k++)
        x->info.output_bytes += lz_val_type(f, f->results[k])->nbytes;
    x->info.kernels = x->info.steps = 1;
    *out = x;
    return LZ_OK;
}

/* ---- what a plugin is asked ---- */

/* CompileOptionsProto{3: ExecutableBuildOptionsProto{4: replicas, 5: partitions, 9:
 * DeviceAssignmentProto{1: replicas, 2: computations, 3: {1: devices}}}}: one replica of one
 * partition, on this device. */
static void write_options(int32_t id, lz_buf *out)
{
    lz_buf computation = {0}, assignment = {0}, build = {0};
    lz_proto_list(&computation, 1, (const int64_t[]){id}, 1);
    lz_proto_int(&assignment, 1, 1);
    lz_proto_int(&assignment, 2, 1);
    lz_proto_message(&assignment, 3, &computation);
    lz_proto_int(&build, 4, 1);
    lz_proto_int(&build, 5, 1);
    lz_proto_message(&build, 9, &assignment);
    lz_proto_message(out, 3, &build);
    lz_buf_free(&computation);
    lz_buf_free(&assignment);
    lz_buf_free(&build);
}

static lz_status unwilling(const lz_plugin *p, const lz_func *f, const lz_inst *in, const char *why)
{
    return LZ_FAIL(LZ_EUNSUPPORTED, "plugin %s: '%s' has %s %s", p->name, f->name,
                   lz_op_get(in->sig->op)->text, why);
}

/* Whether the plugin computes with it; custom calls are functions of this process. */
static lz_status check_inst(const lz_plugin *p, const lz_func *f, const lz_inst *in)
{
    char why[96];
    if (in->sig->op == LZ_OP_CUSTOM_CALL) {
        const char *target = LZ_ATTR(call, in->sig->attr)->call_target_name;
        (void)snprintf(why, sizeof why, "of '%.40s', which is a function of this process",
                       target ? target : "");
        return unwilling(p, f, in, why);
    }
    if (lz_op_get(in->sig->op)->cls == LZ_CLASS_COLLECTIVE)
        return unwilling(p, f, in, "among devices, which is not implemented");
    for (uint32_t k = 0; k < in->sig->nresult; k++) {
        lz_dtype d = in->sig->result[k]->dtype;
        if (lz_plugin_type_number(d) && (!p->config.dtypes || p->config.dtypes >> d & 1))
            continue;
        (void)snprintf(why, sizeof why, "of %s, a dtype that it does not compute with",
                       lz_dtype_mlir(d));
        return unwilling(p, f, in, why);
    }
    return LZ_OK;
}

static lz_status check_func(const lz_plugin *p, const lz_func *f, int depth)
{
    for (uint32_t i = 0; i < f->ninst; i++) {
        const lz_inst *in = &f->insts[i];
        const lz_func *r;
        LZ_TRY(check_inst(p, f, in));
        for (int k = 0; depth < LZ_MAX_REGION_DEPTH && (r = lz_attr_region(in->sig->attr, k)); k++)
            LZ_TRY(check_func(p, r, depth + 1));
    }
    return LZ_OK;
}

static lz_status print_code(lz_plugin_exec *x)
{
    if (x->code.len)
        return LZ_OK;
    lz_func_print_donating(x->f, x->donate, &x->code, 0);
    return x->code.failed ? LZ_FAIL(LZ_EMEM, "no memory for the text of '%s'", x->f->name) : LZ_OK;
}

/* Whether it has as many results as the function: they are written to a list of that length. */
static lz_status check_loaded(lz_plugin_exec *x, PJRT_LoadedExecutable *l)
{
    lz_plugin *p = x->p;
    if (!l)
        return LZ_FAIL(LZ_ECOMPILE, "plugin %s: it made no executable of '%s', and no error",
                       p->name, x->f->name);
    LZ_PLUGIN_ARGS(e, LoadedExecutable_GetExecutable, .loaded_executable = l);
    LZ_TRY(LZ_PLUGIN_CALL(p, LoadedExecutable_GetExecutable, e));
    if (!e.a.executable)
        return LZ_FAIL(LZ_ECOMPILE, "plugin %s: PJRT_LoadedExecutable_GetExecutable gave NULL",
                       p->name);
    LZ_PLUGIN_ARGS(n, Executable_NumOutputs, .executable = e.a.executable);
    LZ_PLUGIN_ARGS(d, Executable_Destroy, .executable = e.a.executable);
    lz_status s = LZ_PLUGIN_CALL(p, Executable_NumOutputs, n);
    LZ_QUIETLY {
        (void)LZ_PLUGIN_CALL(p, Executable_Destroy, d);
    }
    if (s == LZ_OK && n.a.num_outputs != x->f->nresult)
        s = LZ_FAIL(LZ_ECOMPILE, "plugin %s: its executable of '%s' has %zu results, not %u",
                    p->name, x->f->name, n.a.num_outputs, x->f->nresult);
    return s;
}

static lz_status compile_on(lz_plugin_exec *x, int device, PJRT_LoadedExecutable **out)
{
    static const char format[] = "mlir";
    lz_plugin *p = x->p;
    lz_buf options = {0};
    LZ_TRY(print_code(x));
    write_options(p->device[device].id, &options);
    if (options.failed) {
        lz_buf_free(&options);
        return LZ_FAIL(LZ_EMEM, "no memory for options of plugin %s", p->name);
    }
    PJRT_Program program = {.struct_size = sizeof program,
                            .code = x->code.data,
                            .code_size = x->code.len,
                            .format = format,
                            .format_size = sizeof format - 1};
    LZ_PLUGIN_ARGS(c, Client_Compile, .client = p->client, .program = &program,
                   .compile_options = options.data, .compile_options_size = options.len);
    lz_status s = LZ_PLUGIN_CALL(p, Client_Compile, c);
    lz_buf_free(&options);
    LZ_TRY(s);
    s = check_loaded(x, c.a.executable);
    if (s != LZ_OK && c.a.executable)
        unload(p, c.a.executable);
    *out = s == LZ_OK ? c.a.executable : NULL;
    return s;
}

lz_status lz_plugin_exec_on(lz_plugin_exec *x, int device, PJRT_LoadedExecutable **out)
{
    LZ_TRY(lz_plugin_device_check(x->p, device));
    lz_mutex_lock(&x->lock);
    lz_status s = x->loaded[device] ? LZ_OK : compile_on(x, device, &x->loaded[device]);
    *out = x->loaded[device];
    lz_mutex_unlock(&x->lock);
    return s;
}

lz_status lz_plugin_compile(lz_plugin *p, int device, const lz_func *f, const lz_compile_options *o,
                            lz_exec **out)
{
    int64_t began = lz_now_ns();
    lz_func *portable;
    lz_plugin_exec *x;
    PJRT_LoadedExecutable *l;
    *out = NULL;
    LZ_TRY(lz_plugin_device_check(p, device));
    LZ_TRY(lz_func_verify(f));
    if (o && o->partitions)
        return LZ_FAIL(LZ_EUNSUPPORTED,
                       "plugin %s: programs of several devices are not implemented", p->name);
    const lz_portable_options how = {.native_rng = p->config.native_rng,
                                     .gather_threshold = p->config.gather_threshold};
    LZ_TRY(lz_lower_portable(f, &how, &portable));
    double lower_ms = (double)(lz_now_ns() - began) * 1e-6;
    lz_status s = check_func(p, portable, 0);
    if (s != LZ_OK) {
        lz_func_free(portable);
        return s;
    }
    LZ_TRY(exec_new(p, portable, o, &x));
    s = lz_plugin_exec_on(x, device, &l);
    if (s != LZ_OK) {
        lz_plugin_exec_free((lz_exec *)x);
        return s;
    }
    x->info.lower_ms = lower_ms;
    x->info.compile_ms = (double)(lz_now_ns() - began) * 1e-6;
    *out = (lz_exec *)x;
    return LZ_OK;
}

/* ---- the cache ---- */

static PJRT_LoadedExecutable *any_loaded(lz_plugin_exec *x)
{
    PJRT_LoadedExecutable *l = NULL;
    lz_mutex_lock(&x->lock);
    for (int d = 0; d < x->p->ndevice && !l; d++)
        l = x->loaded[d];
    lz_mutex_unlock(&x->lock);
    return l;
}

/* Appends the plugin's own bytes. Each executable is asked for: one that calls functions of the
 * process may say UNIMPLEMENTED where others do not. */
static lz_status put_executable(lz_plugin *p, PJRT_LoadedExecutable *l, lz_buf *out)
{
    LZ_PLUGIN_ARGS(e, LoadedExecutable_GetExecutable, .loaded_executable = l);
    LZ_TRY(LZ_PLUGIN_CALL(p, LoadedExecutable_GetExecutable, e));
    if (!e.a.executable)
        return LZ_FAIL(LZ_EDEVICE, "plugin %s: an executable is NULL", p->name);
    LZ_PLUGIN_ARGS(s, Executable_Serialize, .executable = e.a.executable);
    LZ_PLUGIN_ARGS(d, Executable_Destroy, .executable = e.a.executable);
    lz_status st = LZ_PLUGIN_CALL(p, Executable_Serialize, s);
    if (st == LZ_OK && (!s.a.serialized_bytes || !s.a.serialized_bytes_size))
        st = LZ_FAIL(LZ_EDEVICE, "plugin %s: a serialised executable is empty", p->name);
    if (st == LZ_OK) {
        lz_buf_u64(out, s.a.serialized_bytes_size);
        lz_buf_put(out, s.a.serialized_bytes, s.a.serialized_bytes_size);
    }
    if (s.a.serialized_executable && s.a.serialized_executable_deleter)
        s.a.serialized_executable_deleter(s.a.serialized_executable);
    LZ_QUIETLY {
        (void)LZ_PLUGIN_CALL(p, Executable_Destroy, d);
    }
    return st;
}

lz_status lz_plugin_serialize(lz_exec *exec, lz_buf *out)
{
    lz_plugin_exec *x = (lz_plugin_exec *)exec;
    lz_buf f = {0};
    if (!x->p->api.Executable_Serialize || !x->p->api.Executable_DeserializeAndLoad)
        return LZ_FAIL(LZ_EUNSUPPORTED, "plugin %s does not serialise executables", x->p->name);
    lz_func_serialize(x->f, &f);
    lz_buf_put(out, magic, sizeof magic);
    lz_buf_u64(out, f.len);
    lz_buf_put(out, f.data, f.len);
    out->failed |= f.failed;
    lz_buf_free(&f);
    LZ_TRY(put_executable(x->p, any_loaded(x), out));
    return out->failed ? LZ_FAIL(LZ_EMEM, "no memory to serialise a program") : LZ_OK;
}

/* Whether the stored function can be what `want` became; NULL: that of any. */
static lz_status check_stored(const lz_plugin *p, const lz_func *f, const lz_func *want)
{
    bool same = !want || (f->nparam == want->nparam && f->nresult == want->nresult);
    for (uint32_t i = 0; want && same && i < f->nparam; i++)
        same = lz_val_type(f, i) == lz_val_type(want, i);
    for (uint32_t k = 0; want && same && k < f->nresult; k++)
        same = lz_val_type(f, f->results[k]) == lz_val_type(want, want->results[k]);
    if (!same)
        return LZ_FAIL(LZ_ECORRUPT,
                       "plugin %s: a stored executable is of another program than '%s'", p->name,
                       want->name);
    return check_func(p, f, 0);
}

static lz_status load(lz_plugin_exec *x, int device, const void *data, size_t n)
{
    lz_plugin *p = x->p;
    LZ_PLUGIN_ARGS(d, Executable_DeserializeAndLoad, .client = p->client,
                   .serialized_executable = data, .serialized_executable_size = n);
    LZ_TRY(LZ_PLUGIN_CALL(p, Executable_DeserializeAndLoad, d));
    lz_status s = check_loaded(x, d.a.loaded_executable);
    if (s != LZ_OK && d.a.loaded_executable)
        unload(p, d.a.loaded_executable);
    if (s == LZ_OK)
        x->loaded[device] = d.a.loaded_executable;
    return s;
}

lz_status lz_plugin_deserialize(lz_plugin *p, int device, const void *data, size_t n,
                                const lz_compile_options *o, lz_exec **out)
{
    int64_t began = lz_now_ns();
    lz_rd r = {.p = data, .end = (const uint8_t *)data + n};
    lz_func *f;
    lz_plugin_exec *x;
    *out = NULL;
    LZ_TRY(lz_plugin_device_check(p, device));
    if (!p->api.Executable_DeserializeAndLoad)
        return LZ_FAIL(LZ_EUNSUPPORTED, "plugin %s does not load executables", p->name);
    const void *head = lz_rd_bytes(&r, sizeof magic);
    size_t nf = (size_t)lz_rd_u64(&r);
    const void *fp = lz_rd_bytes(&r, nf);
    size_t nx = (size_t)lz_rd_u64(&r);
    const void *xp = lz_rd_bytes(&r, nx);
    if (r.failed || r.p != r.end || memcmp(head, magic, sizeof magic) != 0)
        return LZ_FAIL(LZ_ECORRUPT, "plugin %s: %zu bytes that are no program of it", p->name, n);
    LZ_TRY(lz_func_deserialize(fp, nf, &f));
    lz_status s = check_stored(p, f, o ? o->func : NULL);
    if (s != LZ_OK) {
        lz_func_free(f);
        return s;
    }
    LZ_TRY(exec_new(p, f, o, &x));
    s = load(x, device, xp, nx);
    if (s != LZ_OK) {
        lz_plugin_exec_free((lz_exec *)x);
        return LZ_FAIL(LZ_ECORRUPT, "plugin %s: a stored executable does not load: %s", p->name,
                       lz_error_get()->message);
    }
    x->info.compile_ms = (double)(lz_now_ns() - began) * 1e-6;
    *out = (lz_exec *)x;
    return LZ_OK;
}
