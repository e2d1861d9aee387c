/* effort.c - the count of search steps. See effort.h. */
#include "lower/effort.h"

_Thread_local uint64_t lz_effort;
