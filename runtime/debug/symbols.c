/* symbols.c - see symbols.h. The module's ELF file is mapped and read with bounds checks: it may
 * have changed since it was loaded. */
#include "runtime/debug/symbols.h"
#include "base/file_io.h"
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

typedef struct image {
    const unsigned char *p;
    size_t n;
} image;

static const void *at(const image *m, uint64_t offset, uint64_t nbytes)
{
    return offset <= m->n && nbytes <= m->n - offset && offset % 8 == 0 ? m->p + offset : NULL;
}

/* Looks for the function around `address` (as linked) in one symbol table. */
static bool search(const image *m, const ElfW(Shdr) * table, const ElfW(Shdr) * strings,
                   uint64_t address, char *name, size_t nname)
{
    const ElfW(Sym) *sym =
        table->sh_entsize == sizeof *sym ? at(m, table->sh_offset, table->sh_size) : NULL;
    bool strings_fit = strings->sh_offset <= m->n && strings->sh_size <= m->n - strings->sh_offset;
    for (size_t i = 0; sym && strings_fit && i < table->sh_size / sizeof *sym; i++) {
        if ((sym[i].st_info & 0xf) != STT_FUNC || address - sym[i].st_value >= sym[i].st_size ||
            sym[i].st_name >= strings->sh_size)
            continue;
        const char *s = (const char *)m->p + strings->sh_offset + sym[i].st_name;
        size_t room = strings->sh_size - sym[i].st_name, len = strnlen(s, room);
        if (len == room || len == 0)
            continue;
        snprintf(name, nname, "%s", s);
        return true;
    }
    return false;
}

static bool find(const image *m, uint64_t address, char *name, size_t nname)
{
    const ElfW(Ehdr) *e = at(m, 0, sizeof *e);
    if (!e || memcmp(e->e_ident, ELFMAG, SELFMAG) != 0 || e->e_shentsize != sizeof(ElfW(Shdr)))
        return false;
    const ElfW(Shdr) *s = at(m, e->e_shoff, (uint64_t)e->e_shnum * sizeof *s);
    for (int i = 0; s && i < e->e_shnum; i++)
        if (s[i].sh_type == SHT_SYMTAB && s[i].sh_link < e->e_shnum &&
            search(m, &s[i], &s[s[i].sh_link], address, name, nname))
            return true;
    return false;
}

static bool read_file(const char *path, uint64_t address, char *name, size_t nname)
{
    struct stat st;
    bool found = false;
    int fd = lz_file_open(path, O_NONBLOCK);
    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        image m = {mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0),
                   (size_t)st.st_size};
        if (m.p != MAP_FAILED) {
            found = find(&m, address, name, nname);
            munmap((void *)m.p, m.n);
        }
    }
    (void)lz_file_close(fd);
    return found;
}

void lz_symbol_of(const void *return_address, char *name, size_t nname, char *module,
                  size_t nmodule, uintptr_t *offset)
{
    Dl_info d;
    struct link_map *map = NULL;
    const char *pc =
        (const char *)return_address - 1; /* the return address may be past the end of a function
                                             whose last instruction is the call */
    bool known = dladdr1(pc, &d, (void **)&map, RTLD_DL_LINKMAP) != 0;
    const char *file = known && d.dli_fname ? d.dli_fname : "?", *slash = strrchr(file, '/');
    snprintf(module, nmodule, "%s", slash ? slash + 1 : file);
    *offset = (uintptr_t)return_address - (known ? (uintptr_t)d.dli_fbase : 0);
    snprintf(name, nname, "%s", known && d.dli_sname ? d.dli_sname : "??");
    if (!known || d.dli_sname || !map)
        return;
    bool program = !map->l_name || !map->l_name[0];
    (void)read_file(program ? "/proc/self/exe" : file, (uintptr_t)pc - map->l_addr, name, nname);
}
