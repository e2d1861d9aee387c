/* code_image.c - see code_image.h: opening and placing images. */
#include "codegen/code_image.h"
#include "base/alloc.h"
#include <elf.h>
#include <string.h>

enum { SLOT_BYTES = 12, FUNC_BYTES = 8, QUAD = 16 };

static uint32_t number(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* ---- reading ---- */

size_t lz_code_nbytes(const void *bytes)
{
    const uint8_t *p = bytes;
    return memcmp(p, LZ_CODE_MAGIC, 8) == 0 ? number(p + 12) : 0;
}

static const char *read_header(const uint8_t *p, size_t nbytes, lz_code_image *im)
{
    static const uint8_t zeros[LZ_CODE_HEADER - 36];
    if (nbytes < LZ_CODE_HEADER || memcmp(p, LZ_CODE_MAGIC, 8) != 0)
        return "not an image of code";
    im->machine = number(p + 8);
    im->ncode = number(p + 16);
    im->nslot = number(p + 20);
    im->nfunc = number(p + 24);
    im->nnames = number(p + 28);
    im->align = number(p + 32);
    if (im->machine != EM_X86_64 && im->machine != EM_AARCH64)
        return "unknown machine";
    if (number(p + 12) != nbytes || memcmp(p + 36, zeros, sizeof zeros) != 0 ||
        (im->align != 64 && im->align != 4096))
        return "bad header";
    if (im->ncode == 0 || im->ncode > LZ_CODE_BYTES || im->nslot > LZ_CODE_SLOTS ||
        im->nfunc == 0 || im->nfunc > LZ_CODE_FUNCS || im->nnames == 0 ||
        im->nnames > LZ_CODE_NAMES)
        return "too much of something, or nothing";
    size_t sum = LZ_CODE_HEADER + LZ_ALIGN_UP((size_t)im->ncode, 8) + im->nslot * SLOT_BYTES +
                 im->nfunc * FUNC_BYTES + im->nnames; /* each is small: no overflow */
    return sum == nbytes ? NULL : "of another size than its parts";
}

static bool slot_fits(const lz_code_image *im, const lz_code_slot *s)
{
    bool word = s->kind == LZ_CODE_WORD_EXTERN || s->kind == LZ_CODE_WORD_INTERN;
    bool outside = s->kind == LZ_CODE_WORD_EXTERN || s->kind == LZ_CODE_MOVW_EXTERN;
    uint32_t n = word ? 8 : QUAD;
    return s->kind < LZ_CODE_KINDS && (word || im->machine == EM_AARCH64) && im->ncode >= n &&
           s->at <= im->ncode - n && s->at % (word ? 8 : 4) == 0 &&
           s->to < (outside ? im->nnames : im->ncode);
}

const char *lz_code_open(const void *bytes, size_t nbytes, lz_code_image *im)
{
    const uint8_t *p = bytes;
    const char *wrong = read_header(p, nbytes, im);
    if (wrong)
        return wrong;
    im->code = p + LZ_CODE_HEADER;
    p = im->code + LZ_ALIGN_UP((size_t)im->ncode, 8);
    for (uint32_t i = 0; i < im->nslot; i++, p += SLOT_BYTES) {
        im->slots[i] = (lz_code_slot){number(p), number(p + 4), number(p + 8)};
        if (!slot_fits(im, &im->slots[i]))
            return "a slot outside the code";
    }
    for (uint32_t i = 0; i < im->nfunc; i++, p += FUNC_BYTES) {
        im->funcs[i] = (lz_code_func){number(p), number(p + 4)};
        if (im->funcs[i].at >= im->ncode || im->funcs[i].name >= im->nnames)
            return "a function outside the code";
    }
    im->names = (const char *)p;
    return im->names[im->nnames - 1] ? "names without an end" : NULL;
}

uint32_t lz_code_find(const lz_code_image *im, const char *name)
{
    for (uint32_t i = 0; i < im->nfunc; i++)
        if (strcmp(im->names + im->funcs[i].name, name) == 0)
            return im->funcs[i].at;
    return UINT32_MAX;
}

/* ---- placing ---- */

/* The 16-bit pieces of an address in movz / movk instructions: from the highest to the lowest. */
static void fill_quad(uint8_t *at, uint64_t v)
{
    for (int i = 0; i < 4; i++) {
        uint32_t in = number(at + 4 * i), piece = (uint32_t)(v >> (48 - 16 * i)) & 0xffff;
        in = (in & ~(UINT32_C(0xffff) << 5)) | piece << 5;
        memcpy(at + 4 * i, &in, 4);
    }
}

const char *lz_code_place(const lz_code_image *im, uint8_t *mem, uint64_t run_at,
                          void *(*resolve)(const char *name))
{
    memcpy(mem, im->code, im->ncode);
    for (uint32_t i = 0; i < im->nslot; i++) {
        const lz_code_slot *s = &im->slots[i];
        uint64_t v = run_at + s->to;
        if (s->kind == LZ_CODE_WORD_EXTERN || s->kind == LZ_CODE_MOVW_EXTERN) {
            v = (uint64_t)(uintptr_t)resolve(im->names + s->to);
            if (!v)
                return im->names + s->to;
        }
        if (s->kind == LZ_CODE_WORD_EXTERN || s->kind == LZ_CODE_WORD_INTERN)
            memcpy(mem + s->at, &v, 8);
        else
            fill_quad(mem + s->at, v);
    }
    return NULL;
}
