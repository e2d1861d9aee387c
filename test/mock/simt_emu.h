/* simt_emu.h - runs the kernels of codegen/gpu/simt.h on the host's processor, every thread of a
 * block as a fiber.
 * Threads: one launch at a time. */
#ifndef LZ_TEST_SIMT_EMU_H
#define LZ_TEST_SIMT_EMU_H
#include "codegen/gpu/simt.h"

enum { EMU_FUNCTIONS = 8 };
typedef void emu_function(void *const *params, lz_simt_thread *t);
typedef struct emu_kernel {
    void *mem;
    size_t nbytes;
    struct {
        char name[32];
        emu_function *run;
    } function[EMU_FUNCTIONS];
    int nfunction;
    int64_t (*nparams)(void); /* without the maps of SIMT_TMA */
    bool together;            /* its threads meet: they run as fibers */
    bool paired;              /* knows of clusters */
} emu_kernel;
/* NULL, or what is wrong with the image (codegen/code_image.h). Its size is read from its
 * header. */
const char *emu_load(const void *image, emu_kernel *out);
void emu_unload(emu_kernel *k);
emu_function *emu_find(const emu_kernel *k, const char *name); /* NULL: it has none of this name */

/* NULL, or what went wrong: threads that wait for each other for ever. `reverse`: the threads take
 * turns in the other order. */
const char *emu_run(const emu_kernel *k, emu_function *f, void *const *params,
                    const lz_simt_launch *d, bool reverse);

/* simt_boxes.c: a tensor map, as cuTensorMapEncodeTiled makes it of elements of 2 bytes, or of 4
 * that are rounded to tf32, and swizzled rows. False: the driver would not make it. */
bool emu_map_make(void *out, uint32_t bytes, uint32_t rank, const void *at, const uint64_t *size,
                  const uint64_t *stride, const uint32_t *box, const uint32_t *steps);
#endif
