/* effort.h - how many steps the searches of the compiler took whose cost could grow with the square
 * of a program's size. Tests hold the count to a multiple of the size; nothing else reads it.
 * Threads: one count per thread. */
#ifndef LZ_LOWER_EFFORT_H
#define LZ_LOWER_EFFORT_H
#include <stdint.h>

extern _Thread_local uint64_t lz_effort;
#endif
