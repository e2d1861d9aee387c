/* code_join.c - see code_image.h: writing images, and making one of several.
 * Threads: pure. */
#include "codegen/code_image.h"
#include "base/alloc.h"
#include <string.h>

enum { SLOT_BYTES = 12, FUNC_BYTES = 8 };

void lz_code_write(const lz_code_image *im, lz_buf *out)
{
    static const uint8_t zeros[LZ_CODE_HEADER];
    size_t pad = LZ_ALIGN_UP(im->ncode, 8) - im->ncode;
    size_t all = LZ_CODE_HEADER + im->ncode + pad + im->nslot * SLOT_BYTES +
                 im->nfunc * FUNC_BYTES + im->nnames;
    lz_buf_put(out, LZ_CODE_MAGIC, 8);
    lz_buf_u32(out, im->machine);
    lz_buf_u32(out, (uint32_t)all);
    lz_buf_u32(out, im->ncode);
    lz_buf_u32(out, im->nslot);
    lz_buf_u32(out, im->nfunc);
    lz_buf_u32(out, im->nnames);
    lz_buf_u32(out, im->align);
    lz_buf_put(out, zeros, LZ_CODE_HEADER - 36);
    lz_buf_put(out, im->code, im->ncode);
    lz_buf_put(out, zeros, pad);
    for (uint32_t i = 0; i < im->nslot; i++) {
        lz_buf_u32(out, im->slots[i].at);
        lz_buf_u32(out, im->slots[i].kind);
        lz_buf_u32(out, im->slots[i].to);
    }
    for (uint32_t i = 0; i < im->nfunc; i++) {
        lz_buf_u32(out, im->funcs[i].at);
        lz_buf_u32(out, im->funcs[i].name);
    }
    lz_buf_put(out, im->names, im->nnames);
}

/* ---- joining ---- */

typedef struct joint {
    lz_code_image im;
    lz_buf code, names;
    const char *wrong;
} joint;

static void add_slot(joint *j, lz_code_slot s)
{
    if (j->im.nslot == LZ_CODE_SLOTS)
        j->wrong = "too many slots";
    else
        j->im.slots[j->im.nslot++] = s;
}

/* The image behind what is there, its slots with it; gives where it begins. */
static uint32_t append(joint *j, const lz_code_image *p)
{
    static const uint8_t zeros[4096];
    lz_buf_put(&j->code, zeros, LZ_ALIGN_UP(j->code.len, p->align) - j->code.len);
    uint32_t at = (uint32_t)j->code.len, names = (uint32_t)j->names.len;
    lz_buf_put(&j->code, p->code, p->ncode);
    lz_buf_put(&j->names, p->names, p->nnames);
    for (uint32_t i = 0; i < p->nslot; i++) {
        lz_code_slot s = p->slots[i];
        s.at += at;
        s.to += s.kind == LZ_CODE_WORD_EXTERN || s.kind == LZ_CODE_MOVW_EXTERN ? names : at;
        add_slot(j, s);
    }
    return at;
}

/* Slots of the image's first code that are for `name` become slots for the place `to`. */
static void point(joint *j, uint32_t nslot, const char *name, uint32_t to)
{
    for (uint32_t i = 0; i < nslot; i++) {
        lz_code_slot *s = &j->im.slots[i];
        bool outside = s->kind == LZ_CODE_WORD_EXTERN || s->kind == LZ_CODE_MOVW_EXTERN;
        if (outside && strcmp(j->names.data + s->to, name) == 0)
            *s = (lz_code_slot){s->at, s->kind + 1, to};
    }
}

/* Names the joined function, for debuggers, as it is called. */
static void add_func(joint *j, uint32_t at, const char *name)
{
    if (j->im.nfunc == LZ_CODE_FUNCS || j->names.len + strlen(name) >= LZ_CODE_NAMES)
        return;
    j->im.funcs[j->im.nfunc++] = (lz_code_func){at, (uint32_t)j->names.len};
    lz_buf_put(&j->names, name, strlen(name) + 1);
}

const char *lz_code_join(const lz_code_image *own, const lz_code_image *parts, uint32_t n,
                         const char *(*name)(uint32_t i), lz_buf *out)
{
    joint j = {.im = {.machine = own->machine, .align = own->align, .nfunc = own->nfunc}};
    memcpy(j.im.funcs, own->funcs, sizeof own->funcs);
    (void)append(&j, own);
    for (uint32_t i = 0; i < n && !j.wrong; i++) {
        if (parts[i].nfunc != 1 || parts[i].machine != own->machine) {
            j.wrong = "a shared function is not one function";
            break;
        }
        uint32_t at = append(&j, &parts[i]);
        if (j.names.failed)
            break;
        point(&j, own->nslot, name(i), at + parts[i].funcs[0].at);
        add_func(&j, at + parts[i].funcs[0].at, name(i));
    }
    j.im.code = (const uint8_t *)j.code.data;
    j.im.ncode = (uint32_t)j.code.len;
    j.im.names = j.names.data;
    j.im.nnames = (uint32_t)j.names.len;
    if (j.code.failed || j.names.failed)
        out->failed = true;
    else if (j.code.len > LZ_CODE_BYTES || j.names.len > LZ_CODE_NAMES)
        j.wrong = "it is too large";
    else if (!j.wrong)
        lz_code_write(&j.im, out);
    lz_buf_free(&j.code);
    lz_buf_free(&j.names);
    return j.wrong;
}
