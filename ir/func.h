/* func.h - between the files of ir/ that make functions. */
#ifndef LZ_IR_FUNC_H
#define LZ_IR_FUNC_H
#include "ir/module.h"

/* Appends an instruction, or finds the equal one when the function hash-conses. lit: constants only
 * (a reference is taken). */
lz_val lz_func_append(lz_func *f, const lz_sig *sig, const lz_val *opnd, lz_literal *lit);
/* An instruction of another function on operands of this one, which may be constants now. */
lz_val lz_build_copy(lz_func *to, const lz_sig *sig, const lz_val *opnd);
/* The same of values by their numbers in the other function; opnd: room for lz_func_widest. */
lz_val lz_build_copy_inst(lz_func *to, const lz_inst *in, const lz_val *map, lz_val *opnd);
lz_val lz_func_failed(lz_func *f); /* makes the thread's last error the function's status */
lz_status lz_func_check_result(const lz_sig *multi, const lz_sig *sig);
void lz_func_destroy(lz_func *f); /* also an interned one */
#endif
