/* main_end.h - main ends by pthread_exit while threads of the library run: see main_end.c.
 * Threads: thread-safe. */
#ifndef LZ_BASE_MAIN_END_H
#define LZ_BASE_MAIN_END_H
#include <stdbool.h>

/* Called by each thread of the library, when it begins and when it is about to end. */
void lz_main_end_thread(bool begins);
#endif
