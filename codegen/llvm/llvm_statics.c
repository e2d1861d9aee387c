/* llvm_statics.c - see llvm_statics.h. A function of LLVM makes a static object when it is first
 * called, and registers its destructor: after any function of ours, so that exit would run it
 * before that, under threads that still compile. The library calls __cxa_atexit through its global
 * offset table, which we have use another function. Objects of the library's own constructors are
 * registered while it is loaded, so before anything that is registered afterwards.
 * ELF: System V gABI, "Relocation"; glibc's link_map, l_ld. */
#include "codegen/llvm/llvm_statics.h"
#include "base/thread.h"
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { JUMP_SLOT = R_X86_64_JUMP_SLOT, GLOB_DAT = R_X86_64_GLOB_DAT };
#elif defined(__aarch64__)
enum { JUMP_SLOT = R_AARCH64_JUMP_SLOT, GLOB_DAT = R_AARCH64_GLOB_DAT };
#else
enum { JUMP_SLOT = INT32_MAX, GLOB_DAT = INT32_MAX }; /* none is known */
#endif

typedef struct image {
    uintptr_t base;
    const ElfW(Sym) * symbols;
    const char *names;
    const ElfW(Rela) * of_calls, *of_data;
    size_t ncalls, ndata;
    uintptr_t relro, relro_end; /* not writable after relocation */
} image;

/* glibc replaces offsets in the section by addresses, where it can be written to. */
static uintptr_t address(const struct link_map *m, uintptr_t v)
{
    return v < m->l_addr ? v + m->l_addr : v;
}

static int find_relro(struct dl_phdr_info *info, size_t nbytes, void *user)
{
    image *im = user;
    (void)nbytes;
    if (info->dlpi_addr != im->base)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_GNU_RELRO)
            continue;
        im->relro = im->base + p->p_vaddr;
        im->relro_end = im->relro + p->p_memsz;
    }
    return 1;
}

static bool open_image(const struct link_map *m, image *im)
{
    *im = (image){.base = m->l_addr};
    for (const ElfW(Dyn) *d = m->l_ld; d->d_tag != DT_NULL; d++) {
        uintptr_t at = address(m, d->d_un.d_ptr);
        if (d->d_tag == DT_SYMTAB)
            im->symbols = (const void *)at;
        else if (d->d_tag == DT_STRTAB)
            im->names = (const void *)at;
        else if (d->d_tag == DT_JMPREL)
            im->of_calls = (const void *)at;
        else if (d->d_tag == DT_RELA)
            im->of_data = (const void *)at;
        else if (d->d_tag == DT_PLTRELSZ)
            im->ncalls = d->d_un.d_val / sizeof *im->of_calls;
        else if (d->d_tag == DT_RELASZ)
            im->ndata = d->d_un.d_val / sizeof *im->of_data;
        else if (d->d_tag == DT_PLTREL && d->d_un.d_val != DT_RELA)
            return false;
    }
    (void)dl_iterate_phdr(find_relro, im);
    return im->symbols && im->names;
}

static bool set(const image *im, uintptr_t slot, void *fn)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *first = (void *)(slot & ~(page - 1));
    bool locked = slot >= im->relro && slot < im->relro_end;
    if (locked && mprotect(first, page, PROT_READ | PROT_WRITE) != 0)
        return false;
    __atomic_store_n((void **)slot, fn, __ATOMIC_RELEASE);
    if (locked)
        (void)mprotect(first, page, PROT_READ);
    return true;
}

/* Sets what calls of `name` go to; gives the number of places. */
static uint32_t redirect(const image *im, const ElfW(Rela) * r, size_t n, const char *name,
                         void *fn)
{
    uint32_t found = 0;
    for (size_t i = 0; i < n && r; i++) {
        uint32_t type = (uint32_t)ELF64_R_TYPE(r[i].r_info);
        if (type != JUMP_SLOT && type != GLOB_DAT)
            continue;
        const ElfW(Sym) *s = &im->symbols[ELF64_R_SYM(r[i].r_info)];
        if (strcmp(im->names + s->st_name, name) == 0)
            found += set(im, im->base + r[i].r_offset, fn);
    }
    return found;
}

static int drop(void (*destructor)(void *), void *object, void *library)
{
    (void)destructor, (void)object, (void)library;
    return 0;
}

bool lz_llvm_keep_statics(void *handle)
{
    struct link_map *m = NULL;
    image im;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &m) != 0 || !m || !open_image(m, &im))
        return false;
    void *fn = (void *)(uintptr_t)drop;
    return redirect(&im, im.of_calls, im.ncalls, "__cxa_atexit", fn) > 0 ||
           redirect(&im, im.of_data, im.ndata, "__cxa_atexit", fn) > 0; /* without a PLT */
}
