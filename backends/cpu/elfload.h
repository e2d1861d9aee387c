/* elfload.h - loading one relocatable object of the code generator: linking it, and keeping it in
 * executable memory. lz_elf_link touches only the memory it is given: it links ELF64 x86-64 or
 * AArch64 objects whose every offset is untrusted, so a damaged file is an error, never a crash.
 * lz_elf_load puts the functions of a kernel (codegen/codegen.h) into executable
 * memory.
 * Threads: thread-safe. */
#ifndef LZ_BACKENDS_CPU_ELFLOAD_H
#define LZ_BACKENDS_CPU_ELFLOAD_H
#include "base/status.h"

typedef struct lz_elf_sym {
    const char *name;
    uint32_t offset; /* bytes from the start of the image */
} lz_elf_sym;

typedef struct lz_elf_image {
    uint8_t *mem; /* in: room for the image, at least 64-byte aligned */
    size_t cap;   /* in: its size */
    /* in: address the code will run at (mem itself, or another mapping of it) */
    uint64_t run_at;
    /* in: external symbols that no function of the image is; NULL: there must be none */
    void *(*resolve)(const char *name);
    lz_elf_sym *syms; /* in: room for the defined global functions */
    int max_syms;
    int nsyms;   /* out */
    size_t used; /* out: bytes of the image */
    /* out: holds an address, so it is valid only at run_at */
    bool absolute;
} lz_elf_image;

/* NULL, or what is wrong with the object; then nothing of the image may be used. obj is 8-byte
 * aligned. */
const char *lz_elf_link(const void *obj, size_t nbytes, lz_elf_image *out);
/* The same behind what the image has already; the object may call its functions, by the names they
 * have in syms. */
const char *lz_elf_add(const void *obj, size_t nbytes, lz_elf_image *out);
/* Bytes of memory that are enough to link the object; 0 when it is malformed. */
size_t lz_elf_bound(const void *obj, size_t nbytes);

/* A kernel in executable memory. */
typedef struct lz_elf_code {
    void *run, *grid, *scratch; /* the functions lz_run, lz_grid, lz_scratch */
    const void *at;             /* where its executable memory begins */
    size_t nbytes;
    void *region; /* where it lies: backends/cpu/jit_memory.c */
    size_t offset;
} lz_elf_code;
/* obj: one object, or several (codegen/shared_code.h). Errors: LZ_ECORRUPT saying what is wrong
 * with it, LZ_EMEM. On error *out is zeroed. */
lz_status lz_elf_load(const void *obj, size_t nbytes, lz_elf_code *out);
void lz_elf_free(lz_elf_code *c); /* a zeroed one is fine */

typedef struct lz_code_stats {
    uint64_t live_bytes, mapped_bytes;
    uint32_t kernels, regions; /* a region is one or two mappings of the process */
} lz_code_stats;
void lz_code_get_stats(lz_code_stats *out);
#endif
