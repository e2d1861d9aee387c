/* simt_warp.h - between the files of the emulator: threads of a warp that do something together. A
 * thread puts what it has where the warp's turn says, meets the others, and reads theirs; the next
 * turn's place is another one.
 * Threads: one launch at a time. */
#ifndef LZ_TEST_SIMT_WARP_H
#define LZ_TEST_SIMT_WARP_H
#include "codegen/gpu/simt.h"

enum { EMU_THREADS = 1024 };

/* A number of the thread among those of its cluster. */
static inline uint32_t emu_slot(const lz_simt_thread *t)
{
    return t->rank * t->ntid + t->tid;
}

/* simt_emu.c */
uint32_t emu_warp_turn(const lz_simt_thread *t); /* 0 or 1 */
void emu_warp_meet(const lz_simt_thread *t);

void emu_yield(void);               /* to the other threads of the block */
void emu_went_on(void);             /* this thread has not just waited */
bool emu_block_over(uint32_t rank); /* of the cluster: its shared memory is gone */

/* simt_warp.c */
void *emu_warp_symbol(const char *name); /* a function that kernels call; NULL: none */
void emu_warp_reset(void);               /* before a block */
float emu_bf16(uint32_t bits);
float emu_f16(uint32_t bits);
uint32_t emu_round_tf32(uint32_t word); /* to the nearest, in the middle to the even one */

/* simt_group.c */
void *emu_group_symbol(const char *name);
void emu_group_reset(void);
void emu_group_copied(uint32_t tid); /* a copy of this thread has arrived in shared memory */

/* simt_boxes.c */
void *emu_boxes_symbol(const char *name);
void emu_boxes_reset(void);
bool emu_boxes_left(void);        /* some have been asked for and have not come */
bool emu_boxes_come(bool newest); /* one more; false: there is none */
#endif
