/* t_code_symbols.c - names of generated code: the ELF files that debuggers read, one for each
 * kernel as long as its code is there, with a symbol for each function; and perf's dump of the
 * same, with the instructions. */
#include "backends/common/code_symbols.h"
#include "backends/cpu/cpu_kernels.h"
#include "codegen/code_memory.h"
#include "suite.h"
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As debuggers declare them. */
typedef struct jit_code_entry {
    struct jit_code_entry *next_entry, *prev_entry;
    const char *symfile_addr;
    uint64_t symfile_size;
} jit_code_entry;
extern struct jit_descriptor {
    uint32_t version, action_flag;
    jit_code_entry *relevant_entry, *first_entry;
} __jit_debug_descriptor;

static const char text[] =
    "kernel \"map_%d\" vec(outer) {\n  buf 0: f64 read\n  buf 1: f64 write\n  outer [%d]\n"
    "  stage 0 inner [] {\n    %%0: f64 = load 0 = 0[0 + 1 i0]\n    %%1: f64 = %s\n"
    "    store 1[0 + 1 i0] = %%1\n  }\n}\n";

/* A matrix product, which calls a register tile and computes its sizes in a function. */
static const char product[] =
    "kernel \"map_0\" vec(outer) {\n  buf 0: f32 read\n  buf 1: f32 read\n  buf 2: f32 write\n"
    "  outer [320@0, 160@1]\n  dot %0 %1\n  stage 0 inner [640@2] {\n"
    "    %0: f32 = load 0 = 0[0 + 640@3 i0 + 1 i2]\n"
    "    %1: f32 = load 1 = 1[0 + 1 i1 + 160@4 i2]\n    %2: f32 = multiply %0, %1\n"
    "    %3: f32 = const 0x0\n    reduce add f32 %2 init %3\n  }\n  stage 1 inner [] {\n"
    "    %0: f32 = red 0.0\n    store 2[0 + 160@5 i0 + 1 i1] = %0\n  }\n}\n";

static lz_kernel *kernel(int number, const char *op)
{
    char t[1024];
    lz_kernel *k;
    snprintf(t, sizeof t, text, number, 100 + number, op);
    ck_assert_msg(lz_kernel_parse(t, strlen(t), &k) == LZ_OK, "%s", lz_error_get()->message);
    return k;
}

static lz_buf image(const lz_kernel *k)
{
    lz_target target;
    lz_buf b = {0};
    ck_assert_int_eq(lz_target_host(&target), LZ_OK);
    ck_assert_msg(lz_llvm_compile(k, &target, &b, NULL, NULL) == LZ_OK, "%s",
                  lz_error_get()->message);
    return b;
}

/* The symbol of that name in the file; NULL: none. */
static const Elf64_Sym *find(const jit_code_entry *e, const char *name)
{
    const Elf64_Ehdr *h = (const void *)e->symfile_addr;
    const Elf64_Shdr *s = (const void *)(e->symfile_addr + h->e_shoff);
    ck_assert_int_eq(memcmp(h->e_ident, ELFMAG, SELFMAG), 0);
    ck_assert_uint_le(h->e_shoff + h->e_shnum * sizeof *s, e->symfile_size);
    for (int i = 1; i < h->e_shnum; i++) {
        if (s[i].sh_type != SHT_SYMTAB)
            continue;
        const Elf64_Sym *sym = (const void *)(e->symfile_addr + s[i].sh_offset);
        const char *names = e->symfile_addr + s[s[i].sh_link].sh_offset;
        for (size_t k = 1; k < s[i].sh_size / sizeof *sym; k++)
            if (strcmp(names + sym[k].st_name, name) == 0)
                return &sym[k];
    }
    return NULL;
}

static int entries(void)
{
    int n = 0;
    for (jit_code_entry *e = __jit_debug_descriptor.first_entry; e; e = e->next_entry, n++)
        ck_assert_ptr_eq(e->prev_entry ? e->prev_entry->next_entry : e,
                         e->prev_entry ? e : __jit_debug_descriptor.first_entry);
    ck_assert_uint_eq(lz_code_symbols_count(), n);
    return n;
}

START_TEST(an_entry_for_each_kernel)
{
    enum { N = 5 };
    lz_code code[N];
    lz_code_symbols *names[N];
    ck_assert_uint_eq(__jit_debug_descriptor.version, 1);
    for (int i = 0; i < N; i++) {
        lz_kernel *k = kernel(i, i % 2 ? "cosine %0" : "negate %0");
        lz_buf b = image(k);
        char hex[33], name[96], grid[128];
        ck_assert_int_eq(lz_code_load(b.data, b.len, &code[i]), LZ_OK);
        names[i] = lz_code_symbols_add(code[i].at, b.data, b.len, k);
        const jit_code_entry *e = __jit_debug_descriptor.first_entry;
        lz_hash_hex(k->hash, hex);
        snprintf(name, sizeof name, "lazuli_%.8s_map_%d", hex, i);
        snprintf(grid, sizeof grid, "%s.lz_grid", name);
        const Elf64_Sym *run = find(e, name), *size = find(e, grid);
        ck_assert_msg(run && size, "%s", name);
        ck_assert(run->st_value == (uintptr_t)code[i].run);
        ck_assert(size->st_value == (uintptr_t)code[i].grid);
        ck_assert_uint_gt(run->st_size, 0);
        ck_assert_int_eq(entries(), i + 1);
        lz_buf_free(&b);
        lz_kernel_free(k);
    }
    static const int order[N] = {2, 0, 4, 1, 3};
    for (int i = 0; i < N; i++) {
        lz_code_symbols_remove(names[order[i]]);
        ck_assert_int_eq(entries(), N - 1 - i);
        lz_code_free(&code[order[i]]);
    }
    lz_code_symbols_remove(NULL);
}
END_TEST

/* Functions that only the kernel itself calls have names too. */
START_TEST(inner_functions)
{
    lz_kernel *k;
    ck_assert_msg(lz_kernel_parse(product, sizeof product - 1, &k) == LZ_OK, "%s",
                  lz_error_get()->message);
    lz_buf b = image(k);
    lz_code_image im;
    ck_assert_ptr_null(lz_code_open(b.data, b.len, &im));
    ck_assert(lz_code_find(&im, "lz_shared0") != UINT32_MAX);
    ck_assert(lz_code_find(&im, "size") != UINT32_MAX);
    lz_code c;
    ck_assert_int_eq(lz_code_load(b.data, b.len, &c), LZ_OK);
    lz_code_symbols *s = lz_code_symbols_add(c.at, b.data, b.len, k);
    const jit_code_entry *e = __jit_debug_descriptor.first_entry;
    uint64_t covered = 0;
    for (uint32_t i = 0; i < im.nfunc; i++) {
        char hex[33], name[160];
        const char *f = im.names + im.funcs[i].name;
        lz_hash_hex(k->hash, hex);
        bool itself = strcmp(f, "lz_run") == 0;
        snprintf(name, sizeof name, "lazuli_%.8s_map_0%s%s", hex, itself ? "" : ".",
                 itself ? "" : f);
        const Elf64_Sym *sym = find(e, name);
        ck_assert_msg(sym != NULL, "%s", name);
        covered += sym->st_size;
    }
    ck_assert_uint_eq(covered, im.ncode - im.funcs[0].at);
    lz_code_symbols_remove(s);
    lz_code_free(&c);
    lz_buf_free(&b);
    lz_kernel_free(k);
}
END_TEST

/* What the store loads is there until it is trimmed. */
START_TEST(of_the_store)
{
    lz_target target;
    lz_kernel_load loaded[2];
    ck_assert_int_eq(lz_target_host(&target), LZ_OK);
    lz_kernel *k[2] = {kernel(0, "negate %0"), kernel(1, "abs %0")};
    ck_assert_msg(lz_kernels_load(k, 2, &target, NULL, loaded) == LZ_OK, "%s",
                  lz_error_get()->message);
    ck_assert_int_eq(entries(), 2);
    for (int i = 0; i < 2; i++) {
        lz_kernels_release(loaded[i].code);
        lz_kernel_free(k[i]);
    }
    lz_kernels_trim();
    ck_assert_int_eq(entries(), 0);
}
END_TEST

START_TEST(perf_dump)
{
    char dir[] = "/tmp/lz-jitdump-XXXXXX", path[96];
    static uint8_t file[1 << 16];
    uint32_t v[2];
    ck_assert_ptr_nonnull(mkdtemp(dir));
    setenv("LAZULI_JITDUMP", dir, 1);
    snprintf(path, sizeof path, "%s/jit-%d.dump", dir, (int)getpid());
    for (int i = 0; i < 2; i++) {
        lz_kernel *k = kernel(i, "negate %0");
        lz_buf b = image(k);
        lz_code c;
        ck_assert_int_eq(lz_code_load(b.data, b.len, &c), LZ_OK);
        lz_code_symbols_remove(lz_code_symbols_add(c.at, b.data, b.len, k));
        lz_buf_free(&b);
        lz_kernel_free(k);
    }
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    size_t n = fread(file, 1, sizeof file, f), at = 40;
    fclose(f);
    memcpy(v, file, sizeof v);
    ck_assert_uint_eq(v[0], 0x4a695444);
    int records = 0;
    for (; at + 56 < n; at += v[1], records++) {
        uint64_t code[2], index;
        memcpy(v, file + at, sizeof v);
        memcpy(code, file + at + 32, sizeof code);
        memcpy(&index, file + at + 48, sizeof index);
        const char *name = (const char *)file + at + 56;
        ck_assert_uint_eq(v[0], 0);
        ck_assert_uint_eq(index, records);
        ck_assert_int_eq(memcmp(name, "lazuli_", 7), 0);
        ck_assert_uint_eq(v[1], 56 + strlen(name) + 1 + code[1]);
        ck_assert_int_eq(memcmp(name + strlen(name) + 1, (void *)(uintptr_t)code[0], code[1]), 0);
    }
    ck_assert_uint_eq(at, n);
    ck_assert_int_ge(records, 4);
    (void)unlink(path);
    (void)rmdir(dir);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("code symbols");
    TCase *t = tcase_create("code symbols");
    tcase_add_test(t, an_entry_for_each_kernel);
    tcase_add_test(t, inner_functions);
    tcase_add_test(t, of_the_store);
    tcase_add_test(t, perf_dump);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
