/* llvm_api.h - the LLVM-C API without linking LLVM: the usual names are macros for members of
 * lz_llvm, which lz_llvm_load fills.
 * Include this instead of <llvm-c/...>. No function may be called before lz_llvm_load() has
 * returned LZ_OK.
 * Threads: lz_llvm_load is thread-safe; afterwards the table does not change. */
#ifndef LZ_CODEGEN_LLVM_API_H
#define LZ_CODEGEN_LLVM_API_H
#include "base/status.h"
#include <llvm-c/Analysis.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Error.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/ExecutionEngine.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/OrcEE.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

typedef struct lz_llvm_api {
#define LLVM_FN(name, ...) __typeof__(&name) name;
#include "codegen/llvm/llvm_api.def"
#undef LLVM_FN
} lz_llvm_api;
extern lz_llvm_api lz_llvm;

/* Loads libLLVM-19 at the first call and prepares code generation for the host. LZ_EUNAVAILABLE
 * with the library's name when there is none. */
lz_status lz_llvm_load(void);
/* Around what generates code: lz_llvm_load, and exit waits for the end. On failure there is no end.
 * Errors: those of lz_llvm_load; LZ_ECOMPILE: the process exits. */
lz_status lz_llvm_begin(void);
void lz_llvm_end(void);

#ifndef LZ_LLVM_API_NO_NAMES
#include "llvm_api_names.h"
#endif
#endif
