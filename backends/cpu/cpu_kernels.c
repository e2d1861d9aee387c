/* cpu_kernels.c - see cpu_kernels.h. */
#include "backends/cpu/cpu_kernels.h"
#include "backends/common/code_symbols.h"
#include "backends/cpu/workers.h"
#include "codegen/code_memory.h"

/* ---- a kernel's code ---- */

static const lz_code *code_of(const lz_kcode *c)
{
    return lz_kstore_code(c);
}

lz_run_fn lz_kcode_run(const lz_kcode *c)
{
    return code_of(c)->run;
}

lz_size_fn lz_kcode_grid(const lz_kcode *c)
{
    return code_of(c)->grid;
}

lz_size_fn lz_kcode_scratch(const lz_kcode *c)
{
    return code_of(c)->scratch;
}

size_t lz_kcode_nbytes(const lz_kcode *c)
{
    return code_of(c)->nbytes;
}

/* ---- making it ---- */

void lz_kernels_key(const lz_kernel *k, const lz_target *t, lz_buf *out)
{
    lz_buf_lstr(out, "lazuli kernel");
    lz_buf_u32(out, LZ_CODEGEN_VERSION);
    lz_buf_lstr(out, lz_llvm_version());
    lz_buf_lstr(out, t->triple);
    lz_buf_lstr(out, t->cpu);
    lz_buf_lstr(out, t->features);
    lz_buf_u32(out, (uint32_t)t->machine.vector_bytes);
    lz_buf_u64(out, (uint64_t)t->machine.l1_bytes);
    lz_buf_u64(out, (uint64_t)t->machine.l2_bytes);
    lz_buf_u64(out, (uint64_t)t->machine.l3_bytes);
    lz_variants_print(t, out);
    lz_buf_put(out, k->encoding, k->nencoding);
}

static void key(void *user, const lz_kernel *k, lz_buf *out)
{
    lz_kernels_key(k, user, out);
}

static uint64_t variant(void *user)
{
    const lz_target *t = user;
    return (uint64_t)t->without << 32 | t->always;
}

static const char *isa(void *user)
{
    return ((const lz_target *)user)->features;
}

static lz_status make(void *user, const lz_kernel *k, lz_buf *bytes)
{
    return lz_llvm_compile(k, user, bytes, NULL, NULL);
}

static lz_status load(void *user, const lz_kernel *k, const void *bytes, size_t nbytes, void *code)
{
    (void)user;
    lz_code *c = code;
    LZ_TRY(lz_code_load(bytes, nbytes, c));
    c->symbols = lz_code_symbols_add(c->at, bytes, nbytes, k);
    return LZ_OK;
}

static void unload(void *code)
{
    lz_code_symbols_remove(((lz_code *)code)->symbols);
    lz_code_free(code);
}

static const lz_kstore_ops ops = {.code_bytes = sizeof(lz_code),
                                  .key = key,
                                  .variant = variant,
                                  .isa = isa,
                                  .make = make,
                                  .load = load,
                                  .unload = unload,
                                  .threads = lz_workers_count,
                                  .prepare = lz_llvm_prepare};
static lz_kstore store = LZ_KSTORE_INIT(&ops);

lz_kstore *lz_kernels_store(void)
{
    return &store;
}

lz_status lz_kernels_load(lz_kernel *const *k, uint32_t n, const lz_target *t, lz_cache *cache,
                          lz_kernel_load *out)
{
    return lz_kstore_load(&store, k, n, (void *)t, cache, out);
}

void lz_kernels_release(lz_kcode *c)
{
    lz_kstore_release(c);
}

void lz_kernels_get_stats(lz_kernels_stats *out)
{
    lz_kstore_get_stats(&store, out);
}

void lz_kernels_trim(void)
{
    lz_kstore_trim(&store);
}
