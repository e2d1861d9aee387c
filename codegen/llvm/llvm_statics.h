/* llvm_statics.h - static objects of LLVM's functions, which outlive the process's exit. */
#ifndef LZ_CODEGEN_LLVM_STATICS_H
#define LZ_CODEGEN_LLVM_STATICS_H
#include <stdbool.h>

/* From now on destructors that the loaded library `handle` (dlopen) registers by __cxa_atexit are
 * dropped: they never run. false: its table of functions is not as expected, and nothing changed.
 */
bool lz_llvm_keep_statics(void *handle);
#endif
