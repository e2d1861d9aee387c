/* cuda_kernels.c - code of a CUDA device: PTX from LLVM, machine code (SASS) from an assembler,
 * functions from the driver. The cache stores what the driver loads, keyed by the architecture, the
 * versions of LLVM and driver, and the assembler used. Threads: thread-safe. */
#include "backends/cuda/cuda_device.h"
#include "base/alloc.h"
#include <string.h>

enum { COMPILERS = 16 };

static void key(void *user, const lz_kernel *k, lz_buf *out)
{
    const cuda_device *d = user;
    lz_buf_lstr(out, "lazuli cuda kernel");
    lz_buf_u32(out, LZ_CODEGEN_VERSION);
    lz_buf_u32(out, LZ_SIMT_VERSION);
    lz_buf_lstr(out, lz_llvm_version());
    lz_buf_lstr(out, d->target.triple);
    lz_buf_lstr(out, d->target.cpu);
    lz_buf_lstr(out, d->target.features);
    lz_buf_u32(out, (uint32_t)lz_cuda_driver_version());
    lz_buf_lstr(out, cuda_assembler(d) ? "ptxas" : "driver");
    lz_simt_print(k, &d->target, out);
    lz_variants_print(&d->target, out);
    lz_buf_put(out, k->encoding, k->nencoding);
}

/* The key names the machine: no other one finds the entry. */
static const char *isa(void *user)
{
    (void)user;
    return "";
}

/* ---- code ---- */

static lz_status make(void *user, const lz_kernel *k, lz_buf *bytes)
{
    cuda_device *d = user;
    lz_buf ptx = {0};
    lz_status s = lz_llvm_compile(k, &d->target, &ptx, NULL, NULL);
    if (s == LZ_OK)
        s = cuda_assemble(d, k, &ptx, bytes);
    lz_buf_free(&ptx);
    return s;
}

/* ---- functions ---- */

static lz_mutex others_lock = LZ_MUTEX_INIT("cuda_kernels others");

static lz_status find_functions(cuda_device *d, const lz_kernel *k, cuda_code *c)
{
    for (lz_simt_entry i = SIMT_MAIN; i < SIMT_ENTRIES; i++) {
        const char *name = lz_simt_entry_name(k, &d->target, i);
        if (!name)
            continue;
        CUDA_TRY(d, ModuleGetFunction(&c->function[i], c->module, name),
                 "finding a kernel's function");
        uint32_t shared = lz_simt_entry_shared(k, &d->target, i);
        if (shared > SIMT_SHARED)
            CUDA_TRY(d, FuncSetAttribute(c->function[i], CU_FUNC_MAX_SHARED, (int)shared),
                     "asking for shared memory");
    }
    return LZ_OK;
}

static lz_status load_module(cuda_device *d, const lz_kernel *k, const void *bytes, cuda_code *c)
{
    int r = lz_cuda.ModuleLoadDataEx(&c->module, bytes, 0, NULL, NULL);
    if (r == CU_INVALID_IMAGE || r == CU_NO_BINARY_FOR_GPU)
        return LZ_FAIL(LZ_ECORRUPT, "the code of a kernel is none for device CUDA:%d", d->at.index);
    LZ_TRY(cuda_check(d, r, "loading a kernel"));
    lz_status s = find_functions(d, k, c);
    if (s != LZ_OK)
        (void)lz_cuda.ModuleUnload(c->module);
    return s;
}

static lz_status load(void *user, const lz_kernel *k, const void *bytes, size_t nbytes, void *code)
{
    cuda_device *d = user;
    cuda_code *c = code;
    *c = (cuda_code){.d = d, .nbytes = nbytes};
    const char *text = bytes; /* machine code in an ELF object, or zero-terminated PTX */
    bool object = nbytes > 4 && memcmp(text, "\177ELF", 4) == 0;
    if (nbytes < 64 || nbytes > CUDA_CODE_BYTES || (!object && text[nbytes - 1]))
        return LZ_FAIL(LZ_ECORRUPT, "%zu bytes are no code of a kernel", nbytes);
    if (cuda_ndevice() > 1) {
        if (!(c->bytes = lz_alloc(nbytes)))
            return LZ_FAIL(LZ_EMEM, "no memory for a kernel of %zu bytes", nbytes);
        memcpy(c->bytes, bytes, nbytes);
    }
    lz_status s = cuda_enter(d);
    if (s == LZ_OK) {
        s = load_module(d, k, bytes, c);
        cuda_leave(d);
    }
    if (s != LZ_OK) {
        lz_free(c->bytes);
        c->bytes = NULL;
    }
    return s;
}

static void unload_one(const cuda_code *c)
{
    if (cuda_enter(c->d) != LZ_OK)
        return;
    (void)cuda_check(c->d, lz_cuda.ModuleUnload(c->module), "unloading a kernel");
    cuda_leave(c->d);
}

static void unload(void *code)
{
    cuda_code *c = code;
    for (uint32_t i = 0; c->other && i < cuda_ndevice(); i++)
        if (c->other[i]) {
            unload_one(c->other[i]);
            lz_free(c->other[i]);
        }
    lz_free(c->other);
    lz_free(c->bytes);
    unload_one(c);
}

static lz_status load_other(cuda_code *c, const lz_kernel *k, cuda_device *d)
{
    if (!c->other && !(c->other = lz_calloc(cuda_ndevice(), sizeof(cuda_code *))))
        return LZ_FAIL(LZ_EMEM, "no memory for a kernel");
    if (c->other[d->at.index])
        return LZ_OK;
    cuda_code *o = lz_calloc(1, sizeof *o);
    if (!o)
        return LZ_FAIL(LZ_EMEM, "no memory for a kernel");
    o->d = d;
    o->nbytes = c->nbytes;
    lz_status s = cuda_enter(d);
    if (s == LZ_OK) {
        s = load_module(d, k, c->bytes, o);
        cuda_leave(d);
    }
    if (s == LZ_OK)
        c->other[d->at.index] = o;
    else
        lz_free(o);
    return s;
}

lz_status cuda_code_on(const cuda_code *code, const lz_kernel *k, cuda_device *d,
                       const cuda_code **out)
{
    cuda_code *c = (cuda_code *)(uintptr_t)code; /* but for `other` it is immutable */
    *out = code;
    if (code->d == d)
        return LZ_OK;
    lz_mutex_lock(&others_lock);
    lz_status s = load_other(c, k, d);
    if (s == LZ_OK)
        *out = c->other[d->at.index];
    lz_mutex_unlock(&others_lock);
    return s;
}

static int compilers(void)
{
    int n = lz_num_cores();
    return n < COMPILERS ? n : COMPILERS;
}

const lz_kstore_ops cuda_kernel_ops = {.code_bytes = sizeof(cuda_code),
                                       .key = key,
                                       .isa = isa,
                                       .make = make,
                                       .load = load,
                                       .unload = unload,
                                       .threads = compilers,
                                       .prepare = lz_llvm_prepare};
