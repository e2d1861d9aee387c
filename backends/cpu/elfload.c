/* elfload.c - links ELF64 relocatable objects of pure code and constants into memory of the caller.
 * Every offset, index and size of the object is checked before it is used. An external function is
 * reached through a 16-byte stub (its address, then a jump through it), which doubles as its GOT
 * slot. Threads: pure. */
#include "backends/cpu/elfload.h"
#include <elf.h>
#include <string.h>

#ifndef SHT_X86_64_UNWIND
#define SHT_X86_64_UNWIND 0x70000001
#endif

enum { MAX_SECTIONS = 64, MAX_EXTERN = 32, STUB = 16, MAX_ALIGN = 64 };

typedef struct linker {
    const uint8_t *obj;
    size_t size;
    lz_elf_image *out;
    const Elf64_Ehdr *eh;
    const Elf64_Shdr *sh;
    const Elf64_Sym *sym;
    size_t nsym;
    const char *str;
    size_t str_size;
    int known;                 /* functions of the objects before this one */
    uint32_t at[MAX_SECTIONS]; /* image offset of every loaded section */
    bool loaded[MAX_SECTIONS];
    uint32_t ext_sym[MAX_EXTERN], ext_at[MAX_EXTERN]; /* externals, and where their stubs are */
    int next;
} linker;

static bool inside(size_t size, uint64_t off, uint64_t n)
{
    return off <= size && n <= size - off;
}

static const char *open_object(linker *l)
{
    l->eh = (const void *)l->obj;
    if (l->size < sizeof *l->eh || memcmp(l->eh->e_ident, ELFMAG "\2\1", 6) ||
        l->eh->e_type != ET_REL)
        return "not a little-endian ELF64 object";
    if (l->eh->e_machine != EM_X86_64 && l->eh->e_machine != EM_AARCH64)
        return "unknown machine";
    if (l->eh->e_shentsize != sizeof *l->sh || l->eh->e_shnum > MAX_SECTIONS ||
        l->eh->e_shoff % 8 || !inside(l->size, l->eh->e_shoff, l->eh->e_shnum * sizeof *l->sh))
        return "bad section table";
    l->sh = (const void *)(l->obj + l->eh->e_shoff);
    for (int i = 0; i < l->eh->e_shnum; i++) {
        const Elf64_Shdr *s = &l->sh[i];
        if (s->sh_type != SHT_NOBITS && !inside(l->size, s->sh_offset, s->sh_size))
            return "section outside the file";
        if (s->sh_type != SHT_SYMTAB)
            continue;
        if (s->sh_offset % 8 || s->sh_link >= l->eh->e_shnum ||
            l->sh[s->sh_link].sh_type != SHT_STRTAB)
            return "bad symbol table";
        l->sym = (const void *)(l->obj + s->sh_offset);
        l->nsym = s->sh_size / sizeof *l->sym;
        const Elf64_Shdr *t = &l->sh[s->sh_link];
        l->str = (const char *)l->obj + t->sh_offset;
        l->str_size = t->sh_size;
        if (!inside(l->size, t->sh_offset, t->sh_size) || !t->sh_size || l->str[t->sh_size - 1])
            return "bad string table";
    }
    return l->sym ? NULL : "no symbols";
}

static const char *place(linker *l, const void *bytes, uint64_t n, uint64_t align, uint32_t *at)
{
    size_t start = (l->out->used + align - 1) & ~(size_t)(align - 1);
    if (align > MAX_ALIGN || (align & (align - 1)) || !inside(l->out->cap, start, n) ||
        start > UINT32_MAX / 2)
        return "image does not fit";
    memset(l->out->mem + l->out->used, 0xcc, start - l->out->used);
    if (bytes)
        memcpy(l->out->mem + start, bytes, n);
    else
        memset(l->out->mem + start, 0, n);
    l->out->used = start + n;
    *at = (uint32_t)start;
    return NULL;
}

/* Unwind tables are left out: nothing unwinds through a kernel. */
static bool loads(const Elf64_Shdr *s)
{
    return (s->sh_flags & SHF_ALLOC) && s->sh_size && s->sh_type != SHT_X86_64_UNWIND;
}

static const char *load_sections(linker *l)
{
    for (int i = 0; i < l->eh->e_shnum; i++) {
        const Elf64_Shdr *s = &l->sh[i];
        if (!loads(s))
            continue;
        if (s->sh_flags & (SHF_WRITE | SHF_TLS))
            return "writable data"; /* kernels are pure code; .bss or .data is a bug */
        uint64_t align = s->sh_addralign ? s->sh_addralign : 1;
        const char *err = place(l, s->sh_type == SHT_NOBITS ? NULL : l->obj + s->sh_offset,
                                s->sh_size, align, &l->at[i]);
        if (err)
            return err;
        l->loaded[i] = true;
    }
    return NULL;
}

/* Image offset of an external's stub: its address as 8 bytes, then a jump through it. */
static const char *external(linker *l, uint32_t index, uint32_t *at)
{
    static const uint8_t x86[8] = {0xff, 0x25, 0xf2, 0xff, 0xff, 0xff}; /* jmp *-14(%rip) */
    static const uint8_t arm[8] = {0xd0, 0xff, 0xff, 0x58,
                                   0x00, 0x02, 0x1f, 0xd6}; /* ldr x16, .-8; br x16 */
    for (int i = 0; i < l->next; i++)
        if (l->ext_sym[i] == index) {
            *at = l->ext_at[i];
            return NULL;
        }
    const char *name = l->str + l->sym[index].st_name;
    void *p = l->out->resolve ? l->out->resolve(name) : NULL;
    if (!p || l->next == MAX_EXTERN)
        return "unresolved external symbol";
    uint8_t stub[STUB];
    memcpy(stub, &p, 8);
    memcpy(stub + 8, l->eh->e_machine == EM_X86_64 ? x86 : arm, 8);
    const char *err = place(l, stub, STUB, 16, at);
    if (err)
        return err;
    l->ext_sym[l->next] = index;
    l->ext_at[l->next++] = *at;
    l->out->absolute = true;
    return NULL;
}

/* Image offset of a function of an object before this one. */
static bool earlier(const linker *l, const char *name, uint32_t *at)
{
    for (int i = 0; i < l->known; i++)
        if (strcmp(l->out->syms[i].name, name) == 0) {
            *at = l->out->syms[i].offset;
            return true;
        }
    return false;
}

static bool fits(int64_t v, int bits)
{
    return v >= -(1ll << (bits - 1)) && v < 1ll << (bits - 1);
}

/* One x86-64 relocation: s + a is the target, p the place, both as run-time addresses. */
static const char *apply_x86(lz_elf_image *o, uint32_t type, uint8_t *w, uint64_t s, int64_t a,
                             uint64_t p)
{
    uint64_t v = s + a;
    switch (type) {
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
        v -= p;
        if (!fits((int64_t)v, 32))
            return "relocation overflow";
        memcpy(w, &v, 4);
        return NULL;
    case R_X86_64_PC64:
        v -= p;
        memcpy(w, &v, 8);
        return NULL;
    case R_X86_64_64:
        o->absolute = true;
        memcpy(w, &v, 8);
        return NULL;
    case R_X86_64_32S:
    case R_X86_64_32:
        o->absolute = true;
        if (type == R_X86_64_32 ? v >> 32 != 0 : !fits((int64_t)v, 32))
            return "relocation overflow";
        memcpy(w, &v, 4);
        return NULL;
    }
    return "unknown relocation";
}

static const char *apply_arm(lz_elf_image *o, uint32_t type, uint8_t *w, uint64_t s, int64_t a,
                             uint64_t p)
{
    uint64_t v = s + a;
    int64_t d = (int64_t)(v - p);
    uint32_t in, scale = 0;
    memcpy(&in, w, 4);
    switch (type) {
    case R_AARCH64_PREL32:
        if (!fits(d, 32))
            return "relocation overflow";
        memcpy(w, &d, 4);
        return NULL;
    case R_AARCH64_PREL64:
        memcpy(w, &d, 8);
        return NULL;
    case R_AARCH64_ABS64:
        o->absolute = true;
        memcpy(w, &v, 8);
        return NULL;
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26:
        if (!fits(d, 28) || d & 3)
            return "relocation overflow";
        in |= (uint32_t)(d >> 2) & 0x03ffffff;
        break;
    case R_AARCH64_LD_PREL_LO19:
        if (!fits(d, 21) || d & 3)
            return "relocation overflow";
        in |= ((uint32_t)(d >> 2) & 0x7ffff) << 5;
        break;
    case R_AARCH64_ADR_PREL_PG_HI21:
    case R_AARCH64_ADR_GOT_PAGE:
        d = (int64_t)((v & ~0xfffull) - (p & ~0xfffull)) >> 12;
        /* fall through */
    case R_AARCH64_ADR_PREL_LO21:
        if (!fits(d, 21))
            return "relocation overflow";
        in |= ((uint32_t)d & 3) << 29 | ((uint32_t)(d >> 2) & 0x7ffff) << 5;
        break;
    case R_AARCH64_LDST128_ABS_LO12_NC:
        scale++;                       /* fall through */
    case R_AARCH64_LDST64_ABS_LO12_NC: /* fall through */
    case R_AARCH64_LD64_GOT_LO12_NC:
        scale++; /* fall through */
    case R_AARCH64_LDST32_ABS_LO12_NC:
        scale++; /* fall through */
    case R_AARCH64_LDST16_ABS_LO12_NC:
        scale++;                      /* fall through */
    case R_AARCH64_LDST8_ABS_LO12_NC: /* fall through */
    case R_AARCH64_ADD_ABS_LO12_NC:
        if (v & ((1u << scale) - 1))
            return "misaligned relocation";
        in |= (uint32_t)((v & 0xfff) >> scale) << 10;
        break;
    default:
        return "unknown relocation";
    }
    memcpy(w, &in, 4);
    return NULL;
}

static size_t width(int machine, uint32_t type)
{
    bool x86 = machine == EM_X86_64;
    bool wide = x86 ? type == R_X86_64_64 || type == R_X86_64_PC64
                    : type == R_AARCH64_ABS64 || type == R_AARCH64_PREL64;
    return wide ? 8 : 4;
}

static bool through_got(int machine, uint32_t type)
{
    if (machine == EM_AARCH64)
        return type == R_AARCH64_ADR_GOT_PAGE || type == R_AARCH64_LD64_GOT_LO12_NC;
    return type == R_X86_64_GOTPCREL || type == R_X86_64_GOTPCRELX ||
           type == R_X86_64_REX_GOTPCRELX;
}

static const char *relocate(linker *l, const Elf64_Shdr *rs)
{
    uint32_t into = rs->sh_info;
    if (into >= l->eh->e_shnum || rs->sh_offset % 8)
        return "bad relocation section";
    if (!l->loaded[into])
        return NULL;
    const Elf64_Rela *r = (const void *)(l->obj + rs->sh_offset);
    for (size_t i = 0; i < rs->sh_size / sizeof *r; i++) {
        uint32_t index = ELF64_R_SYM(r[i].r_info), type = ELF64_R_TYPE(r[i].r_info), target;
        if (index >= l->nsym ||
            !inside(l->sh[into].sh_size, r[i].r_offset, width(l->eh->e_machine, type)))
            return "relocation outside its section";
        const Elf64_Sym *s = &l->sym[index];
        const char *err = NULL;
        bool stub = s->st_shndx == SHN_UNDEF;
        if (stub && s->st_name >= l->str_size)
            err = "bad symbol name";
        else if (stub && !through_got(l->eh->e_machine, type) &&
                 earlier(l, l->str + s->st_name, &target))
            stub = false;
        else if (stub)
            err = external(l, index, &target);
        else if (s->st_shndx >= l->eh->e_shnum || !l->loaded[s->st_shndx] ||
                 s->st_value > l->sh[s->st_shndx].sh_size)
            err = "symbol outside the image";
        else if (through_got(l->eh->e_machine, type))
            err = "GOT reference to a local symbol"; /* LLVM never makes one for dso_local code */
        else
            target = l->at[s->st_shndx] + (uint32_t)s->st_value;
        if (err)
            return err;
        if (stub && !through_got(l->eh->e_machine, type))
            target += 8; /* calls go to the stub's jump, GOT loads to its slot */
        uint32_t place = l->at[into] + (uint32_t)r[i].r_offset;
        uint64_t base = l->out->run_at, value = base + target;
        if (stub && (type == R_X86_64_64 || type == R_AARCH64_ABS64))
            memcpy(&value, l->out->mem + target - 8,
                   8); /* the address itself, not the jump to it */
        err = (l->eh->e_machine == EM_X86_64 ? apply_x86 : apply_arm)(
            l->out, type, l->out->mem + place, value, r[i].r_addend, base + place);
        if (err)
            return err;
    }
    return NULL;
}

const char *lz_elf_link(const void *obj, size_t nbytes, lz_elf_image *out)
{
    out->used = 0, out->nsyms = 0, out->absolute = false;
    return lz_elf_add(obj, nbytes, out);
}

const char *lz_elf_add(const void *obj, size_t nbytes, lz_elf_image *out)
{
    linker l = {.obj = obj, .size = nbytes, .out = out, .known = out->nsyms};
    const char *err = (uintptr_t)obj % 8 ? "misaligned buffer" : open_object(&l);
    if (!err)
        err = load_sections(&l);
    for (int i = 0; !err && i < l.eh->e_shnum; i++) {
        if (l.sh[i].sh_type == SHT_RELA)
            err = relocate(&l, &l.sh[i]);
        else if (l.sh[i].sh_type == SHT_REL)
            err = "REL relocations";
    }
    for (size_t i = 0; !err && i < l.nsym; i++) {
        const Elf64_Sym *s = &l.sym[i];
        if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || ELF64_ST_BIND(s->st_info) != STB_GLOBAL ||
            s->st_shndx == SHN_UNDEF)
            continue;
        if (s->st_name >= l.str_size || s->st_shndx >= l.eh->e_shnum || !l.loaded[s->st_shndx] ||
            s->st_value >= l.sh[s->st_shndx].sh_size || out->nsyms == out->max_syms)
            err = "bad function symbol";
        else
            out->syms[out->nsyms++] =
                (lz_elf_sym){l.str + s->st_name, l.at[s->st_shndx] + (uint32_t)s->st_value};
    }
    return err;
}

size_t lz_elf_bound(const void *obj, size_t nbytes)
{
    linker l = {.obj = obj, .size = nbytes};
    if ((uintptr_t)obj % 8 || open_object(&l))
        return 0;
    size_t n = MAX_EXTERN * STUB + STUB;
    for (int i = 0; i < l.eh->e_shnum; i++) {
        const Elf64_Shdr *s = &l.sh[i];
        if (!loads(s))
            continue;
        if (s->sh_size > UINT32_MAX / 4 || s->sh_addralign > MAX_ALIGN)
            return 0;
        n += s->sh_size + s->sh_addralign;
    }
    return n;
}
