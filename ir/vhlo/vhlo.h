/* vhlo.h - portable StableHLO programs: MLIR bytecode of the dialect VHLO, as JAX and torch_xla
 * hand it to a compiler, to the StableHLO text that ir/text reads. Read: the container's versions 0
 * to 6 (MLIR's docs/BytecodeFormat.md), VHLO 0.9.0 to 1.20.0 (stablehlo/dialect/VhloOps.td,
 * VhloBytecode.cpp) with what of the dialects builtin, func and sdy rides in such a module. The
 * bytes are untrusted: whatever they are, work and memory are linear in their number and in what
 * the text may be. Threads: thread-safe. */
#ifndef LZ_IR_VHLO_VHLO_H
#define LZ_IR_VHLO_VHLO_H
#include "base/vec.h"
#include <lazuli/types.h>

/* Whether the bytes begin as MLIR bytecode does, which no text can. */
bool lz_vhlo_is_bytecode(const void *p, size_t n);
/* Appends the program's text, in MLIR's generic form but for the module and its functions. What is
 * of no meaning for a result, or said by leaving it out, is left out: places in a program's source,
 * orders of use, defaults.
 * Errors, with the byte where it is: LZ_EPARSE the bytes are no such bytecode; LZ_EUNSUPPORTED a
 * version, dialect, operation, type or attribute that is not known, or text of more than
 * LZ_VHLO_MOST_TEXT bytes for each byte; LZ_EMEM. On error the text is cut short somewhere. */
enum { LZ_VHLO_MOST_TEXT = 64, LZ_VHLO_LEAST_TEXT = 16 << 20 };
lz_status lz_vhlo_to_text(const void *p, size_t n, lz_buf *text);
#endif
