/* executable.c - executables of the C API: compiling, questions about what was compiled, bytes.
 * Threads: thread-safe. */
#include "base/alloc.h"
#include "ir/func.h"
#include "lower/portable.h"
#include "pjrt/plugin.h"
#include <string.h>

/* ---- making ---- */

static PJRT_Error *executable(lz_pjrt_program *p, PJRT_Executable **out)
{
    PJRT_Executable *x = lz_alloc(sizeof *x);
    if (!x)
        return lz_pjrt_error(PJRT_RESOURCE_EXHAUSTED, "no memory for an executable");
    lz_pjrt_program_retain(p);
    x->p = p;
    *out = x;
    return NULL;
}

static void loaded_free(PJRT_LoadedExecutable *x)
{
    lz_pjrt_program_release(x->p);
    lz_free(x->device);
    lz_free(x->id);
    lz_free(x);
}

/* Takes the reference over. */
static PJRT_Error *loaded(PJRT_Client *c, lz_pjrt_program *p, PJRT_LoadedExecutable **out)
{
    size_t n = (size_t)p->nreplica * p->npartition;
    PJRT_LoadedExecutable *x = lz_calloc(1, sizeof *x);
    if (!x) {
        lz_pjrt_program_release(p);
        return lz_pjrt_error(PJRT_RESOURCE_EXHAUSTED, "no memory for an executable");
    }
    x->p = p;
    x->client = c;
    x->device = lz_calloc(n, sizeof *x->device);
    x->id = lz_calloc(n, sizeof *x->id);
    if (!x->device || !x->id) {
        loaded_free(x);
        return lz_pjrt_error(PJRT_RESOURCE_EXHAUSTED, "no memory for %zu devices", n);
    }
    for (size_t i = 0; i < n; i++) {
        x->device[i] = c->devices[p->device[i]];
        x->id[i] = (PJRT_LogicalDeviceIds){(int32_t)(i % p->nreplica), (int32_t)(i / p->nreplica)};
    }
    *out = x;
    return NULL;
}

static bool is_format(const PJRT_Program *g, const char *name)
{
    return g->format_size == strlen(name) && memcmp(g->format, name, g->format_size) == 0;
}

static PJRT_Error *compile(const PJRT_TopologyDescription *t, const PJRT_Program *g,
                           const char *options, size_t noptions, lz_pjrt_program **p)
{
    if (!g || !g->code || (!g->format && g->format_size))
        return lz_pjrt_error(PJRT_INVALID_ARGUMENT, "there is no program");
    if (!is_format(g, "mlir"))
        return lz_pjrt_error(PJRT_UNIMPLEMENTED,
                             "programs of format \"%.*s\": Lazuli reads \"mlir\", StableHLO as "
                             "text or as a portable "
                             "artifact (torch_xla sends it with XLA_STABLEHLO_COMPILE=1)",
                             (int)(g->format_size < 32 ? g->format_size : 32), g->format);
    PJRT_TRY(lz_pjrt_compile(t, g->code, g->code_size, options, noptions, p));
    return NULL;
}

PJRT_Error *lz_pjrt_Client_Compile(PJRT_Client_Compile_Args *a)
{
    lz_pjrt_program *p;
    PJRT_REACHES(a, executable);
    PJRT_Error *e =
        compile(&a->client->topology, a->program, a->compile_options, a->compile_options_size, &p);
    return e ? e : loaded(a->client, p, &a->executable);
}

PJRT_Error *lz_pjrt_Compile(PJRT_Compile_Args *a)
{
    lz_pjrt_program *p;
    PJRT_REACHES(a, executable);
    PJRT_Error *e =
        compile(a->topology, a->program, a->compile_options, a->compile_options_size, &p);
    if (e)
        return e;
    e = executable(p, &a->executable);
    lz_pjrt_program_release(p);
    return e;
}

PJRT_Error *lz_pjrt_Client_Load(PJRT_Client_Load_Args *a)
{
    PJRT_REACHES(a, loaded_executable);
    if (a->executable->p->be != a->client->topology.be)
        return lz_pjrt_error(PJRT_INVALID_ARGUMENT, "the executable is of another platform");
    lz_pjrt_program *p = a->executable->p;
    bool same = !a->compile_options_size ||
                (a->compile_options_size == p->options.len &&
                 memcmp(a->compile_options, p->options.data, p->options.len) == 0);
    if (same)
        lz_pjrt_program_retain(p);
    else
        PJRT_TRY(lz_pjrt_compile(&a->client->topology, p->code.data, p->code.len,
                                 a->compile_options, a->compile_options_size, &p));
    return loaded(a->client, p, &a->loaded_executable);
}

PJRT_Error *lz_pjrt_Executable_Destroy(PJRT_Executable_Destroy_Args *a)
{
    if (a->executable)
        lz_pjrt_program_release(a->executable->p);
    lz_free(a->executable);
    return NULL;
}

PJRT_Error *lz_pjrt_LoadedExecutable_Destroy(PJRT_LoadedExecutable_Destroy_Args *a)
{
    if (a->executable)
        loaded_free(a->executable);
    return NULL;
}

PJRT_Error *lz_pjrt_LoadedExecutable_Delete(PJRT_LoadedExecutable_Delete_Args *a)
{
    atomic_store(&a->executable->deleted, true);
    return NULL;
}

LZ_PJRT_GIVES(LoadedExecutable_IsDeleted, is_deleted, atomic_load(&a->executable->deleted))

PJRT_Error *lz_pjrt_LoadedExecutable_GetExecutable(PJRT_LoadedExecutable_GetExecutable_Args *a)
{
    return executable(a->loaded_executable->p, &a->executable);
}

/* ---- devices ---- */

LZ_PJRT_LIST(LoadedExecutable_AddressableDevices, addressable_devices, a->executable->device,
             num_addressable_devices,
             (size_t)a->executable->p->nreplica * a->executable->p->npartition)
LZ_PJRT_LIST(LoadedExecutable_AddressableDeviceLogicalIds, addressable_device_logical_ids,
             a->executable->id, num_addressable_device_logical_ids,
             (size_t)a->executable->p->nreplica * a->executable->p->npartition)

/* The object is the program, which has the bytes. */
static void end_assignment(PJRT_DeviceAssignmentSerialized *x)
{
    lz_pjrt_program_release((lz_pjrt_program *)x);
}

PJRT_Error *
lz_pjrt_LoadedExecutable_GetDeviceAssignment(PJRT_LoadedExecutable_GetDeviceAssignment_Args *a)
{
    lz_pjrt_program *p = a->executable->p;
    lz_pjrt_program_retain(p);
    a->serialized_bytes = p->assignment.data;
    a->serialized_bytes_size = p->assignment.len;
    a->serialized_device_assignment = (PJRT_DeviceAssignmentSerialized *)p;
    a->serialized_device_assignment_deleter = end_assignment;
    return NULL;
}

/* ---- what it is ---- */

LZ_PJRT_TEXT(Executable_Name, executable_name, a->executable->p->f->name)
LZ_PJRT_GIVES(Executable_NumReplicas, num_replicas, a->executable->p->nreplica)
LZ_PJRT_GIVES(Executable_NumPartitions, num_partitions, a->executable->p->npartition)
LZ_PJRT_GIVES(Executable_NumOutputs, num_outputs, a->executable->p->f->nresult)

PJRT_Error *
lz_pjrt_Executable_SizeOfGeneratedCodeInBytes(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args *a)
{
    lz_exec_info info;
    a->executable->p->be->exec_info(a->executable->p->exec, &info);
    a->size_in_bytes = (int64_t)info.code_bytes;
    return NULL;
}

LZ_PJRT_LIST(Executable_OutputElementTypes, output_types, a->executable->p->out_type,
             num_output_types, a->executable->p->f->nresult)

PJRT_Error *lz_pjrt_Executable_OutputDimensions(PJRT_Executable_OutputDimensions_Args *a)
{
    a->num_outputs = a->executable->p->f->nresult;
    a->dims = a->executable->p->out_dims;
    a->dim_sizes = a->executable->p->out_rank;
    return NULL;
}

PJRT_Error *lz_pjrt_Executable_OutputMemoryKinds(PJRT_Executable_OutputMemoryKinds_Args *a)
{
    a->num_outputs = a->executable->p->f->nresult;
    a->memory_kinds = a->executable->p->kind;
    a->memory_kind_sizes = a->executable->p->kind_size;
    return NULL;
}

PJRT_Error *lz_pjrt_Executable_ParameterMemoryKinds(PJRT_Executable_ParameterMemoryKinds_Args *a)
{
    a->num_parameters = a->executable->p->f->nparam;
    a->memory_kinds = a->executable->p->kind;
    a->memory_kind_sizes = a->executable->p->kind_size;
    return NULL;
}

LZ_PJRT_TEXT(Executable_Fingerprint, executable_fingerprint, a->executable->p->fingerprint)
LZ_PJRT_TEXT(LoadedExecutable_Fingerprint, executable_fingerprint, a->executable->p->fingerprint)

PJRT_Error *
lz_pjrt_Executable_GetCompiledMemoryStats(PJRT_Executable_GetCompiledMemoryStats_Args *a)
{
    lz_exec_info info;
    PJRT_REACHES(a, host_temp_size_in_bytes);
    const lz_pjrt_program *p = a->executable->p;
    p->be->exec_info(p->exec, &info);
    if (p->partitioned && p->partitioned->parts.local) /* its number is nothing that a host gives */
        info.argument_bytes -= sizeof(uint32_t);
    size_t from =
        offsetof(PJRT_Executable_GetCompiledMemoryStats_Args, generated_code_size_in_bytes);
    size_t size = a->struct_size < sizeof *a ? a->struct_size : sizeof *a;
    memset((char *)a + from, 0, size - from);
    a->generated_code_size_in_bytes = (int64_t)info.code_bytes;
    a->argument_size_in_bytes = (int64_t)info.argument_bytes;
    a->output_size_in_bytes = (int64_t)info.output_bytes;
    a->alias_size_in_bytes = (int64_t)info.alias_bytes;
    a->temp_size_in_bytes = (int64_t)info.temp_bytes;
    int64_t all =
        (int64_t)(info.argument_bytes + info.output_bytes - info.alias_bytes + info.temp_bytes);
    if (PJRT_HAS(a, peak_memory_in_bytes))
        a->peak_memory_in_bytes = all;
    if (PJRT_HAS(a, total_size_in_bytes))
        a->total_size_in_bytes = all + (int64_t)info.code_bytes;
    return NULL;
}

PJRT_Error *lz_pjrt_Executable_GetCostAnalysis(PJRT_Executable_GetCostAnalysis_Args *a)
{
    const lz_pjrt_program *p = a->executable->p;
    a->properties = p->cost;
    a->num_properties = sizeof p->cost / sizeof *p->cost;
    return NULL;
}

/* Futures (async_start), of which jaxlib's way from this text to HLO knows nothing. */
static bool has_futures(const lz_buf *code)
{
    static const char name[] = "async_start";
    return memmem(code->data, code->len, name, sizeof name - 1) != NULL;
}

/* What a device runs, in operations of StableHLO where it can be said in them. */
static lz_status print_as_read(const lz_func *f, lz_buf *out)
{
    lz_func *known = NULL;
    LZ_QUIETLY {
        (void)lz_lower_portable(f, &(lz_portable_options){0}, &known);
    }
    lz_func_print(known ? known : f, out, 0);
    lz_func_free(known);
    return out->failed ? LZ_FAIL(LZ_EMEM, "no memory for a program's text") : LZ_OK;
}

/* The module as it was received, or what each device runs of a partitioned one, which hosts look
 * through for collectives. Called twice: the first time for the size. */
PJRT_Error *lz_pjrt_Executable_OptimizedProgram(PJRT_Executable_OptimizedProgram_Args *a)
{
    const lz_pjrt_program *p = a->executable->p;
    const lz_buf *code = &p->code;
    PJRT_Program *g = a->program;
    lz_buf part = {0};
    PJRT_Error *e = NULL;
    bool local = p->partitioned && p->partitioned->parts.local;
    if (local || has_futures(code)) {
        if ((local ? lz_pjrt_partitioned_print(p->partitioned, &part)
                   : print_as_read(p->run, &part)) != LZ_OK)
            e = lz_pjrt_failed();
        code = &part;
    }
    g->format = "mlir";
    g->format_size = 4;
    if (!e && g->code && g->code_size < code->len)
        e = lz_pjrt_error(PJRT_INVALID_ARGUMENT, "room for %zu bytes of a program of %zu",
                          g->code_size, code->len);
    else if (!e && g->code)
        memcpy(g->code, code->data, code->len);
    g->code_size = code->len;
    lz_buf_free(&part);
    return e;
}

/* ---- bytes ---- */

struct PJRT_SerializedExecutable {
    lz_buf bytes;
};

static void end_serialized(PJRT_SerializedExecutable *x)
{
    lz_buf_free(&x->bytes);
    lz_free(x);
}

PJRT_Error *lz_pjrt_Executable_Serialize(PJRT_Executable_Serialize_Args *a)
{
    if (a->executable->p->calls_host)
        return lz_pjrt_error(PJRT_UNIMPLEMENTED,
                             "the executable calls functions of this process: its bytes would call "
                             "those of another one");
    PJRT_SerializedExecutable *x = lz_calloc(1, sizeof *x);
    if (!x)
        return lz_pjrt_error(PJRT_RESOURCE_EXHAUSTED, "no memory for an executable");
    if (lz_pjrt_program_write(a->executable->p, &x->bytes) != LZ_OK) {
        end_serialized(x);
        return lz_pjrt_failed();
    }
    a->serialized_bytes = x->bytes.data;
    a->serialized_bytes_size = x->bytes.len;
    a->serialized_executable = x;
    a->serialized_executable_deleter = end_serialized;
    return NULL;
}

PJRT_Error *lz_pjrt_Executable_DeserializeAndLoad(PJRT_Executable_DeserializeAndLoad_Args *a)
{
    lz_pjrt_program *p;
    PJRT_REACHES(a, loaded_executable);
    bool other = PJRT_HAS(a, overridden_serialized_compile_options_size);
    PJRT_TRY(lz_pjrt_program_read(&a->client->topology, a->serialized_executable,
                                  a->serialized_executable_size,
                                  other ? a->overridden_serialized_compile_options : NULL,
                                  other ? a->overridden_serialized_compile_options_size : 0, &p));
    return loaded(a->client, p, &a->loaded_executable);
}

static void end_options(PJRT_SerializedCompileOptions *x)
{
    lz_pjrt_program_release((lz_pjrt_program *)x);
}

PJRT_Error *lz_pjrt_Executable_GetCompileOptions(PJRT_Executable_GetCompileOptions_Args *a)
{
    lz_pjrt_program *p = a->executable->p;
    lz_pjrt_program_retain(p);
    a->serialized_bytes = lz_buf_str(&p->options);
    a->serialized_bytes_size = p->options.len;
    a->serialized_compile_options = (PJRT_SerializedCompileOptions *)p;
    a->serialized_compile_options_deleter = end_options;
    return NULL;
}
