/* code_image.h - linked machine code that runs at any address: code with its constants as one block
 * of bytes, the functions in it, and slots, which are filled in once it is known where it runs. An
 * image is what the JIT makes (jit.h), what the cache stores and what code_memory.h loads; loading
 * needs no LLVM.
 *
 * Bytes; numbers are little-endian, 32 bits each:
 *      0  magic "LZCODE1\0"
 *      8  machine: e_machine of ELF (62 x86-64, 183 AArch64)
 *     12  bytes of the whole image          16  bytes of code and constants
 *     20  number of slots                   24  number of functions
 *     28  bytes of names                    32  alignment of the code: 64 or 4096
 *     36  zeros
 *     64  the code, filled up with zeros to a multiple of 8
 *         slots: offset in the code, kind, what for (an offset in the names, or one in the code)
 *         functions: offset in the code, name (an offset in the names)
 *         names, each with its NUL
 * The bytes are untrusted: lz_code_open checks every offset, so that what it has accepted can be
 * placed without looking again. What the code does when it runs is not checked.
 * Units: bytes.   Threads: pure. */
#ifndef LZ_CODEGEN_CODE_IMAGE_H
#define LZ_CODEGEN_CODE_IMAGE_H
#include "base/vec.h"

#define LZ_CODE_MAGIC "LZCODE1" /* and its NUL */
enum {
    LZ_CODE_HEADER = 64,
    LZ_CODE_SLOTS = 128, /* at most */
    LZ_CODE_FUNCS = 16,
    LZ_CODE_NAMES = 4096,
    LZ_CODE_BYTES = 64 << 20
};

/* WORD: 8 bytes, an address. MOVW: four instructions of AArch64 (movz, movk, movk, movk) that load
 * one. EXTERN: of a function outside, by its name; INTERN: of a place in the same image. */
typedef enum lz_code_slot_kind {
    LZ_CODE_WORD_EXTERN,
    LZ_CODE_WORD_INTERN,
    LZ_CODE_MOVW_EXTERN,
    LZ_CODE_MOVW_INTERN,
    LZ_CODE_KINDS
} lz_code_slot_kind;

typedef struct lz_code_slot {
    uint32_t at, kind, to;
} lz_code_slot;

typedef struct lz_code_func {
    uint32_t at, name;
} lz_code_func;

/* An image that was opened: points into its bytes. */
typedef struct lz_code_image {
    uint32_t machine, align, ncode, nslot, nfunc, nnames;
    const uint8_t *code;
    const char *names;
    lz_code_slot slots[LZ_CODE_SLOTS];
    lz_code_func funcs[LZ_CODE_FUNCS];
} lz_code_image;

/* NULL, or what is wrong with the bytes. */
const char *lz_code_open(const void *bytes, size_t nbytes, lz_code_image *out);
/* Bytes of the whole image, by its first LZ_CODE_HEADER bytes; 0: they begin none. */
size_t lz_code_nbytes(const void *bytes);
/* Appends the bytes of `im`, which need not have been opened. */
void lz_code_write(const lz_code_image *im, lz_buf *out);
/* Offset of the function of that name; UINT32_MAX: it has none. */
uint32_t lz_code_find(const lz_code_image *im, const char *name);

/* Copies the code to `mem`, ncode bytes, and fills its slots in for running at `run_at` (mem
 * itself, or another mapping of it). NULL, or the name that `resolve` does not know. */
const char *lz_code_place(const lz_code_image *im, uint8_t *mem, uint64_t run_at,
                          void *(*resolve)(const char *name));

/* One image of `own` and the n others behind it, each of one function: what `own` calls by
 * name(i) is the function of parts[i]. NULL, or why they cannot be one. */
const char *lz_code_join(const lz_code_image *own, const lz_code_image *parts, uint32_t n,
                         const char *(*name)(uint32_t i), lz_buf *out);
#endif
