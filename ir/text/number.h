/* number.h - elements as MLIR writes and reads them. Threads: thread-safe; the locale of the
 * program does not matter. */
#ifndef LZ_IR_TEXT_NUMBER_H
#define LZ_IR_TEXT_NUMBER_H
#include "ir/module.h"

/* Element i: true, -3, 1.000000e+00, 0x7F800000, (1.000000e+00,0.000000e+00). */
void lz_number_print(lz_buf *b, lz_dtype d, const void *p, int64_t i);
/* Reads one word without sign: decimal, 0x bits, true, false. neg: a minus came before it. False:
 * it does not fit the dtype. part: 0, or for complex 0 real, 1 imaginary. */
bool lz_number_parse(lz_dtype d, const char *s, size_t n, bool neg, int part, void *p, int64_t i);
#endif
