/* code_symbols.c - see code_symbols.h. A debugger reads a list of ELF files in memory,
 * __jit_debug_descriptor, and has a breakpoint in __jit_debug_register_code, which is called after
 * each change (gdb's manual, "JIT Compilation Interface"). The file of a kernel has one symbol for
 * each function and no code: that is read where it runs. Kernels have frame pointers and functions
 * begin as debuggers expect, so that backtraces need no tables. */
#include "backends/common/code_symbols.h"
#include "base/alloc.h"
#include "base/config.h"
#include "base/file_io.h"
#include "base/log.h"
#include "base/outfile.h"
#include "base/text.h"
#include "base/thread.h"
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- the interface of debuggers ---- */

/* Both are of gdb's layout. */
typedef struct entry {
    struct entry *next, *prev;
    const void *file;
    uint64_t nbytes;
} entry;
typedef struct descriptor {
    uint32_t version, action; /* action: 1 relevant was added, 2 it is being removed */
    entry *relevant, *first;
} descriptor;

static lz_mutex lock = LZ_MUTEX_INIT("code_symbols"); /* known, count */
static descriptor known = {1, 0, NULL, NULL};
static uint32_t count;

__attribute__((noinline)) static void changed(void)
{
    __asm__ volatile("" ::: "memory");
}

/* By these names debuggers find them, in a stripped library too. Weak: LLVM linked into the same
 * program defines them as well; ours are used by their own names, whoever's are found. */
extern descriptor __jit_debug_descriptor
    __attribute__((weak, visibility("default"), alias("known")));
extern void __jit_debug_register_code(void)
    __attribute__((weak, visibility("default"), alias("changed")));

struct lz_code_symbols {
    entry e; /* the file lies behind it */
};

/* The caller holds the lock. */
static void tell(uint32_t action, entry *e)
{
    known.action = action;
    known.relevant = e;
    changed();
    known.action = 0;
}

static void enter(entry *e)
{
    lz_mutex_lock(&lock);
    e->next = known.first;
    if (e->next)
        e->next->prev = e;
    known.first = e;
    count++;
    tell(1, e);
    lz_mutex_unlock(&lock);
}

void lz_code_symbols_remove(lz_code_symbols *s)
{
    if (!s)
        return;
    entry *e = &s->e;
    lz_mutex_lock(&lock);
    if (e->prev)
        e->prev->next = e->next;
    else
        known.first = e->next;
    if (e->next)
        e->next->prev = e->prev;
    count--;
    tell(2, e);
    lz_mutex_unlock(&lock);
    lz_free(s);
}

uint32_t lz_code_symbols_count(void)
{
    lz_mutex_lock(&lock);
    uint32_t n = count;
    lz_mutex_unlock(&lock);
    return n;
}

/* ---- the file ---- */

enum { SECTIONS = 5, NAME_BYTES = 160 };
static const char section_names[] = "\0.text\0.symtab\0.strtab\0.shstrtab";

/* Where a function ends: where the next one begins. */
static uint32_t end_of(const lz_code_image *im, uint32_t i)
{
    uint32_t end = im->ncode;
    for (uint32_t k = 0; k < im->nfunc; k++)
        if (im->funcs[k].at > im->funcs[i].at && im->funcs[k].at < end)
            end = im->funcs[k].at;
    return end;
}

/* Gives the length. Points, as in chlo.lgamma, are for the kernel's other functions: gdb reads more
 * of them as another language's. */
static size_t name_of(const lz_kernel *k, const lz_code_image *im, uint32_t i,
                      char name[NAME_BYTES])
{
    char hex[33];
    const char *f = im->names + im->funcs[i].name;
    bool itself = strcmp(f, "lz_run") == 0;
    lz_hash_hex(k->hash, hex);
    int n = snprintf(name, NAME_BYTES, "lazuli_%.8s_%.100s", hex, k->name);
    for (char *p = name; *p; p++)
        *p = lz_is_alnum(*p) ? *p : '_';
    if (!itself)
        n += snprintf(name + n, NAME_BYTES - (size_t)n, ".%.32s", f);
    return (size_t)n;
}

static void write_sections(char *file, size_t at, size_t sym, uint32_t nsym, size_t str,
                           size_t nstr, uint64_t code, uint64_t ncode)
{
    const Elf64_Shdr s[SECTIONS] = {
        {0},
        {.sh_name = 1,
         .sh_type = SHT_NOBITS,
         .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
         .sh_addr = code,
         .sh_size = ncode,
         .sh_addralign = 16},
        {.sh_name = 7,
         .sh_type = SHT_SYMTAB,
         .sh_offset = sym,
         .sh_size = nsym * sizeof(Elf64_Sym),
         .sh_link = 3,
         .sh_info = 1,
         .sh_addralign = 8,
         .sh_entsize = sizeof(Elf64_Sym)},
        {.sh_name = 15,
         .sh_type = SHT_STRTAB,
         .sh_offset = str,
         .sh_size = nstr,
         .sh_addralign = 1},
        {.sh_name = 23,
         .sh_type = SHT_STRTAB,
         .sh_offset = str + nstr,
         .sh_size = sizeof section_names,
         .sh_addralign = 1},
    };
    memcpy(file + str + nstr, section_names, sizeof section_names);
    memcpy(file + at, s, sizeof s);
}

static void write_header(char *file, const lz_code_image *im, size_t sections)
{
    const Elf64_Ehdr h = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                          .e_type = ET_EXEC,
                          .e_machine = (Elf64_Half)im->machine,
                          .e_version = EV_CURRENT,
                          .e_shoff = sections,
                          .e_ehsize = sizeof h,
                          .e_shentsize = sizeof(Elf64_Shdr),
                          .e_shnum = SECTIONS,
                          .e_shstrndx = SECTIONS - 1};
    memcpy(file, &h, sizeof h);
}

/* ELF header, symbols, their names, names of sections, sections. */
static lz_code_symbols *file_of(const void *code, const lz_code_image *im, const lz_kernel *k)
{
    char names[LZ_CODE_FUNCS * NAME_BYTES + 1] = "";
    Elf64_Sym syms[LZ_CODE_FUNCS + 1] = {{0}};
    size_t nstr = 1;
    for (uint32_t i = 0; i < im->nfunc; i++) {
        syms[i + 1] = (Elf64_Sym){.st_name = (uint32_t)nstr,
                                  .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                  .st_shndx = 1,
                                  .st_value = (uintptr_t)code + im->funcs[i].at,
                                  .st_size = end_of(im, i) - im->funcs[i].at};
        nstr += name_of(k, im, i, names + nstr) + 1;
    }
    size_t sym = sizeof(Elf64_Ehdr), nsym = (im->nfunc + 1) * sizeof *syms, str = sym + nsym,
           sections = LZ_ALIGN_UP(str + nstr + sizeof section_names, 8),
           all = sections + SECTIONS * sizeof(Elf64_Shdr);
    lz_code_symbols *s = lz_calloc(1, sizeof *s + all);
    if (!s)
        return NULL;
    char *file = (char *)(s + 1);
    write_header(file, im, sections);
    memcpy(file + sym, syms, nsym);
    memcpy(file + str, names, nstr);
    write_sections(file, sections, sym, im->nfunc + 1, str, nstr, (uintptr_t)code, im->ncode);
    s->e.file = file;
    s->e.nbytes = all;
    return s;
}

/* ---- for perf ---- */

static void warn_of_file(const char *path, int error)
{
    LZ_WARN_ONCE("perf", "%s cannot be written: %s", path, strerrordesc_np(error));
}

/* perf-PID.map lies in /tmp, where anyone may have created a file of that name: only a file of our
 * own user is written to, and perf reads only those. */
static void write_map(const void *code, size_t nbytes, const lz_kernel *k)
{
    char path[64], hex[33], line[160];
    lz_hash_hex(k->hash, hex);
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    int n = snprintf(line, sizeof line, "%" PRIxPTR " %zx lazuli:%.8s:%s\n", (uintptr_t)code,
                     nbytes, hex, k->name);
    size_t len = (size_t)n < sizeof line ? (size_t)n : sizeof line - 1;
    int error = lz_file_append(path, line, len, true);
    if (error)
        warn_of_file(path, error);
}

/* jit-PID.dump: perf's tools/perf/Documentation/jitdump-specification.txt. */
enum { DUMP_MAGIC = 0x4a695444, DUMP_VERSION = 1, DUMP_HEADER = 40, CODE_LOAD = 0, PAGE = 4096 };
static lz_mutex dump_lock = LZ_MUTEX_INIT("jitdump"); /* the file, dumped */
static uint64_t dumped;
static bool dump_failed;

static void dump_path(char path[4096])
{
    snprintf(path, 4096, "%.4000s/jit-%d.dump", lz_cfg_str(LZ_OPT_JITDUMP), (int)getpid());
}

/* The file begins with a header, and perf learns of it from a mapping of it that is executable,
 * which stays. */
static int begin_dump(const char *path, uint32_t machine)
{
    lz_buf h = {0};
    lz_buf_u32(&h, DUMP_MAGIC);
    lz_buf_u32(&h, DUMP_VERSION);
    lz_buf_u32(&h, DUMP_HEADER);
    lz_buf_u32(&h, machine);
    lz_buf_u32(&h, 0);
    lz_buf_u32(&h, (uint32_t)getpid());
    lz_buf_u64(&h, (uint64_t)lz_now_ns());
    lz_buf_u64(&h, 0);
    lz_status s = h.failed ? LZ_EMEM : lz_outfile_write(path, h.data, h.len, false);
    lz_buf_free(&h);
    int fd = s == LZ_OK ? lz_file_open(path, 0) : -1;
    if (fd < 0)
        return EIO;
    void *p = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    int error = p == MAP_FAILED ? errno : 0;
    (void)lz_file_close(fd);
    return error;
}

static void put_function(const void *code, const lz_code_image *im, const lz_kernel *k, uint32_t i,
                         lz_buf *out)
{
    char name[NAME_BYTES];
    size_t len = name_of(k, im, i, name);
    uint32_t size = end_of(im, i) - im->funcs[i].at;
    const char *at = (const char *)code + im->funcs[i].at;
    lz_buf_u32(out, CODE_LOAD);
    lz_buf_u32(out, (uint32_t)(56 + len + 1 + size));
    lz_buf_u64(out, (uint64_t)lz_now_ns());
    lz_buf_u32(out, (uint32_t)getpid());
    lz_buf_u32(out, (uint32_t)gettid());
    lz_buf_u64(out, (uintptr_t)at);
    lz_buf_u64(out, (uintptr_t)at);
    lz_buf_u64(out, size);
    lz_buf_u64(out, dumped++);
    lz_buf_put(out, name, len + 1);
    lz_buf_put(out, at, size);
}

static void dump(const void *code, const lz_code_image *im, const lz_kernel *k)
{
    char path[4096];
    lz_buf out = {0};
    dump_path(path);
    lz_mutex_lock(&dump_lock);
    int error = dump_failed ? 0 : dumped ? 0 : begin_dump(path, im->machine);
    for (uint32_t i = 0; i < im->nfunc && !error && !dump_failed; i++)
        put_function(code, im, k, i, &out);
    if (!error && !dump_failed)
        error = out.failed ? ENOMEM : lz_file_append(path, out.data, out.len, true);
    dump_failed |= error != 0;
    lz_mutex_unlock(&dump_lock);
    lz_buf_free(&out);
    if (error)
        warn_of_file(path, error);
}

lz_code_symbols *lz_code_symbols_add(const void *at, const void *image, size_t nbytes,
                                     const lz_kernel *k)
{
    lz_code_image im;
    if (lz_code_open(image, nbytes, &im))
        return NULL; /* it has been loaded: it opens */
    if (lz_cfg_bool(LZ_OPT_PERF))
        write_map(at, im.ncode, k);
    if (*lz_cfg_str(LZ_OPT_JITDUMP))
        LZ_QUIETLY
            dump(at, &im, k);
    lz_code_symbols *s = file_of(at, &im, k);
    if (s)
        enter(&s->e);
    return s;
}
