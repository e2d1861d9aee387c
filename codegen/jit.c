/* jit.c - see jit.h. Threads: a session belongs to one thread from take() to give(); everything ORC
 * calls back runs inside that thread's lookup. */
#include "codegen/jit.h"
#include "codegen/codegen.h"
#include "codegen/shared_code.h"
#include "base/alloc.h"
#include "base/thread.h"
#include <elf.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, KEEP_BLOCK = 1 << 20, MARKS = 256, MARKS_APART = 1 << 16 };

/* mark + 16 i stands for the i-th external function until the code is placed: no address of any
 * process. Of MARKS such marks, a unit gets one that its object, which may have any constants, does
 * not hold. */
static const uint64_t FIRST_MARK = UINT64_C(0x7a6c0badc0000000);

/* An address that was found at `at`: of externs[i], or, i < 0, of a place in the block. */
typedef struct slot {
    size_t at, to;
    int i;
    bool quad; /* the instructions of a stub, not a word */
} slot;

typedef struct func {
    size_t at;
    const char *name;
} func;

/* A function that only the object itself calls: its name is for debuggers. */
enum { LOCALS = 8, LOCAL_NAME = 40 };
typedef struct local {
    size_t at; /* in the section of code */
    char name[LOCAL_NAME];
} local;

/* What is being linked. */
typedef struct link {
    const lz_jit_unit *u;
    lz_error error; /* status LZ_OK: generating code went well */
    char said[256]; /* the session's first error; "": none */
    size_t used, got, got_bytes;
    size_t code[4], code_bytes[4]; /* sections of code */
    uint32_t ncode, nextern, nslot, nfunc;
    const char *externs[LZ_JIT_EXTERNS]; /* names of the session's pool, as those of funcs */
    slot slots[LZ_CODE_SLOTS];
    func funcs[LZ_CODE_FUNCS];
    local locals[LOCALS];
    uint32_t nlocal, machine;
    uint64_t mark;
    int64_t made_ns; /* what u->make took */
    bool no_memory;
} link;

typedef struct session {
    struct session *next;
    LLVMOrcLLJITRef jit;
    LLVMOrcExecutionSessionRef es;
    LLVMOrcJITDylibRef lib;
    LLVMOrcObjectLayerRef layer;
    link *link; /* under way */
    void *memory;
    uint8_t *block; /* where it is linked: cap bytes of it, from the first whole page on */
    size_t cap;
} session;

static lz_mutex lock = LZ_MUTEX_INIT("jit");
static session *idle;
static _Atomic uint64_t linked, kernels, sessions;

void lz_jit_get_stats(lz_jit_stats *out)
{
    *out = (lz_jit_stats){atomic_load(&linked), atomic_load(&sessions)};
}

uint64_t lz_jit_kernels(void)
{
    return atomic_load(&kernels);
}

static void wrong(link *l, const char *what)
{
    if (!l->said[0])
        snprintf(l->said, sizeof l->said, "%s", what);
}

/* Takes the error. */
static void note_error(link *l, LLVMErrorRef e)
{
    if (!e)
        return;
    char *m = LLVMGetErrorMessage(e);
    wrong(l, m ? m : "unknown error");
    LLVMDisposeErrorMessage(m);
}

static void on_error(void *user, LLVMErrorRef e)
{
    session *s = user;
    link nobody = {0};
    note_error(s->link ? s->link : &nobody, e);
}

/* ---- memory of the object layer ---- */

static void *memory_of(void *user)
{
    return user;
}

static void memory_end(void *user)
{
    (void)user;
}

static LLVMBool memory_final(void *user, char **err)
{
    (void)user, (void)err;
    return 0;
}

/* The next section's place in the block. What finds no room, which an object of that size cannot
 * have, is linked beside, and refused in the end: LLVM ends the process when it is given none. */
static uint8_t *section(session *s, size_t nbytes, size_t align)
{
    link *l = s->link;
    size_t at = LZ_ALIGN_UP(l->used, align ? align : 1);
    if (align > PAGE || at > s->cap || nbytes > s->cap - at) {
        wrong(l, "its sections do not fit together");
        void *p = NULL;
        return posix_memalign(&p, align > PAGE ? align : PAGE, nbytes + 1) == 0 ? p : NULL;
    }
    memset(s->block + l->used, 0, at + nbytes - l->used); /* stubs need not fill their room */
    l->used = at + nbytes;
    return s->block + at;
}

static uint8_t *code_section(void *user, uintptr_t nbytes, unsigned align, unsigned id,
                             const char *name)
{
    (void)id, (void)name;
    session *s = user;
    link *l = s->link;
    uint8_t *p = section(s, nbytes, align);
    if (l->ncode == 4) {
        wrong(l, "it has too many sections of code");
    } else if (!l->said[0]) {
        l->code[l->ncode] = (size_t)(p - s->block);
        l->code_bytes[l->ncode++] = nbytes;
    }
    return p;
}

static uint8_t *data_section(void *user, uintptr_t nbytes, unsigned align, unsigned id,
                             const char *name, LLVMBool read_only)
{
    (void)id;
    session *s = user;
    uint8_t *p = section(s, nbytes, align);
    bool got = strcmp(name, ".got") == 0;
    if (!read_only && !got)
        wrong(s->link, "it has writable data"); /* kernels are pure code */
    if (got && !s->link->said[0]) {
        s->link->got = (size_t)(p - s->block);
        s->link->got_bytes = nbytes;
    }
    return p;
}

/* Room to link an object of that size: sections and their alignments, and for each relocation, 24
 * bytes of the object, a stub and a word of the GOT. */
static lz_status make_room(session *s, size_t object)
{
    size_t need = LZ_ALIGN_UP(2 * object + 16 * PAGE, PAGE);
    if (need <= s->cap)
        return LZ_OK;
    lz_free(s->memory);
    s->cap = 0;
    s->memory = lz_alloc(need + PAGE);
    if (!s->memory)
        return LZ_FAIL(LZ_EMEM, "no memory to link a kernel of %zu bytes", object);
    s->block = (uint8_t *)LZ_ALIGN_UP((uintptr_t)s->memory, PAGE);
    s->cap = need;
    return LZ_OK;
}

/* ---- names ---- */

/* What code may call: the table of jit_symbols.c, functions that kernels share, and those of an
 * emulated GPU. */
static bool known(const char *name)
{
    if (lz_jit_symbol(name) || strncmp(name, "lz_simt_", 8) == 0)
        return true;
    for (uint32_t i = 0; i < LZ_SHARED; i++)
        if (strcmp(name, lz_shared_name(i)) == 0)
            return true;
    return false;
}

static LLVMErrorRef define(LLVMOrcDefinitionGeneratorRef g, void *user,
                           LLVMOrcLookupStateRef *state, LLVMOrcLookupKind kind,
                           LLVMOrcJITDylibRef lib, LLVMOrcJITDylibLookupFlags flags,
                           LLVMOrcCLookupSet set, size_t n)
{
    (void)g, (void)state, (void)kind, (void)flags;
    session *s = user;
    link *l = s->link;
    for (size_t i = 0; i < n; i++) {
        const char *name = LLVMOrcSymbolStringPoolEntryStr(set[i].Name);
        if (!known(name) || l->nextern == LZ_JIT_EXTERNS)
            continue; /* the session reports that it is not found */
        LLVMJITSymbolFlags f = {
            LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable, 0};
        LLVMOrcCSymbolMapPair pair = {set[i].Name, {l->mark + 16 * l->nextern, f}};
        l->externs[l->nextern++] = name;
        LLVMOrcRetainSymbolStringPoolEntry(set[i].Name);
        LLVMErrorRef e = LLVMOrcJITDylibDefine(lib, LLVMOrcAbsoluteSymbols(&pair, 1));
        if (e)
            return e;
    }
    return NULL;
}

/* ---- sessions ---- */

static LLVMOrcObjectLayerRef object_layer(void *user, LLVMOrcExecutionSessionRef es,
                                          const char *triple)
{
    (void)triple;
    return LLVMOrcCreateRTDyldObjectLinkingLayerWithMCJITMemoryManagerLikeCallbacks(
        es, user, memory_of, memory_end, code_section, data_section, memory_final, memory_end);
}

static lz_status session_new(session **out)
{
    link nothing = {0};
    session *s = lz_calloc(1, sizeof *s);
    if (!s)
        return LZ_FAIL(LZ_EMEM, "no memory for a JIT session");
    LLVMOrcLLJITBuilderRef b = LLVMOrcCreateLLJITBuilder();
    LLVMOrcLLJITBuilderSetObjectLinkingLayerCreator(b, object_layer, s);
    LLVMErrorRef e = LLVMOrcCreateLLJIT(&s->jit, b);
    if (e) {
        note_error(&nothing, e);
        lz_free(s);
        return LZ_FAIL(LZ_EUNAVAILABLE, "LLVM ORC cannot be started: %s", nothing.said);
    }
    s->es = LLVMOrcLLJITGetExecutionSession(s->jit);
    s->layer = LLVMOrcLLJITGetObjLinkingLayer(s->jit);
    LLVMOrcExecutionSessionSetErrorReporter(s->es, on_error, s);
    s->lib = LLVMOrcExecutionSessionCreateBareJITDylib(s->es, "kernel");
    LLVMOrcJITDylibAddGenerator(s->lib,
                                LLVMOrcCreateCustomCAPIDefinitionGenerator(define, s, NULL));
    atomic_fetch_add(&sessions, 1);
    *out = s;
    return LZ_OK;
}

static lz_status take(session **out)
{
    lz_mutex_lock(&lock);
    session *s = idle;
    if (s)
        idle = s->next;
    lz_mutex_unlock(&lock);
    *out = s;
    return s ? LZ_OK : session_new(out);
}

static void give(session *s)
{
    if (s->cap > KEEP_BLOCK) {
        lz_free(s->memory);
        s->memory = NULL;
        s->cap = 0;
    }
    lz_mutex_lock(&lock);
    s->next = idle;
    idle = s;
    lz_mutex_unlock(&lock);
}

/* ---- a unit ---- */

static uint64_t word(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static void choose_mark(link *l, const uint8_t *object, size_t nbytes)
{
    bool held[MARKS] = {0};
    uint32_t i = 0;
    for (size_t at = 0; at + 8 <= nbytes; at++) {
        uint64_t n = (word(object + at) - FIRST_MARK) / MARKS_APART;
        if (n < MARKS)
            held[n] = true;
    }
    while (i + 1 < MARKS && held[i])
        i++;
    l->mark = FIRST_MARK + (uint64_t)i * MARKS_APART;
}

/* The only section of code that is not empty; 0: there are several. */
static uint32_t code_of_object(const Elf64_Shdr *s, uint32_t n)
{
    uint32_t found = 0, many = 0;
    for (uint32_t i = 1; i < n; i++)
        if ((s[i].sh_flags & SHF_EXECINSTR) && s[i].sh_size) {
            found = i;
            many++;
        }
    return many == 1 ? found : 0;
}

/* What is wrong with the object, LLVM says. */
static void note_locals(link *l, const uint8_t *object)
{
    const Elf64_Ehdr *h = (const void *)object;
    const Elf64_Shdr *s = (const void *)(object + h->e_shoff);
    uint32_t code = code_of_object(s, h->e_shnum);
    for (uint32_t i = 1; i < h->e_shnum && code; i++) {
        if (s[i].sh_type != SHT_SYMTAB)
            continue;
        const Elf64_Sym *sym = (const void *)(object + s[i].sh_offset);
        const char *names = (const char *)object + s[s[i].sh_link].sh_offset;
        for (uint64_t k = 1; k < s[i].sh_size / sizeof *sym && l->nlocal < LOCALS; k++)
            if (sym[k].st_info == ELF64_ST_INFO(STB_LOCAL, STT_FUNC) && sym[k].st_shndx == code) {
                local *x = &l->locals[l->nlocal++];
                x->at = sym[k].st_value;
                snprintf(x->name, sizeof x->name, "%s", names + sym[k].st_name);
            }
    }
}

static void materialize(void *user, LLVMOrcMaterializationResponsibilityRef r)
{
    session *s = user;
    link *l = s->link;
    LLVMMemoryBufferRef object = NULL;
    int64_t t0 = lz_now_ns();
    lz_status st = l->u->make(l->u->user, &object);
    l->made_ns = lz_now_ns() - t0;
    if (st == LZ_OK)
        st = make_room(s, LLVMGetBufferSize(object));
    if (st == LZ_OK) {
        const void *bytes = LLVMGetBufferStart(object);
        l->machine = ((const Elf64_Ehdr *)bytes)->e_machine;
        choose_mark(l, bytes, LLVMGetBufferSize(object));
        if (!l->u->shared)
            note_locals(l, bytes);
        LLVMOrcObjectLayerEmit(s->layer, r, object);
        return;
    }
    l->error = *lz_error_get();
    if (object)
        LLVMDisposeMemoryBuffer(object);
    LLVMOrcMaterializationResponsibilityFailMaterialization(r);
    LLVMOrcDisposeMaterializationResponsibility(r);
}

static void discard(void *user, LLVMOrcJITDylibRef lib, LLVMOrcSymbolStringPoolEntryRef name)
{
    (void)user, (void)lib, (void)name;
}

static void unit_end(void *user)
{
    (void)user;
}

static void on_found(LLVMErrorRef e, LLVMOrcCSymbolMapPairs pairs, size_t n, void *user)
{
    session *s = user;
    link *l = s->link;
    bool failed = e != NULL;
    note_error(l, e);
    for (size_t i = 0; i < n && !failed; i++) {
        size_t at = (size_t)(pairs[i].Sym.Address - (uintptr_t)s->block);
        if (at >= l->used)
            wrong(l, "a function is outside its code");
        l->funcs[l->nfunc++] = (func){at, LLVMOrcSymbolStringPoolEntryStr(pairs[i].Name)};
    }
}

/* Defines the unit's symbols in the session's library and looks them up, which makes them. */
static void link_unit(session *s, link *l)
{
    const lz_jit_unit *u = l->u;
    LLVMJITSymbolFlags f = {LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable,
                            0};
    LLVMOrcCSymbolFlagsMapPair made[LZ_CODE_FUNCS];
    LLVMOrcCLookupSetElement want[LZ_CODE_FUNCS];
    for (uint32_t i = 0; i < u->nfunc; i++) {
        LLVMOrcSymbolStringPoolEntryRef name = LLVMOrcExecutionSessionIntern(s->es, u->funcs[i]);
        LLVMOrcRetainSymbolStringPoolEntry(name); /* each of the two takes one */
        made[i] = (LLVMOrcCSymbolFlagsMapPair){name, f};
        want[i] = (LLVMOrcCLookupSetElement){name, LLVMOrcSymbolLookupFlagsRequiredSymbol};
    }
    LLVMOrcMaterializationUnitRef m = LLVMOrcCreateCustomMaterializationUnit(
        "kernel", s, made, u->nfunc, NULL, materialize, discard, unit_end);
    LLVMErrorRef e = LLVMOrcJITDylibDefine(s->lib, m);
    if (e) {
        note_error(l, e);
        LLVMOrcDisposeMaterializationUnit(m);
        return;
    }
    LLVMOrcCJITDylibSearchOrderElement order = {s->lib, LLVMOrcJITDylibLookupFlagsMatchAllSymbols};
    LLVMOrcExecutionSessionLookup(s->es, LLVMOrcLookupKindStatic, &order, 1, want, u->nfunc,
                                  on_found, s);
}

/* Removes the trackers of the library, which are this unit's: the session holds nothing of it. (The
 * C API of LLVM 19 lends the default tracker without a reference, yet asks for it back.) */
static void forget(session *s, link *l)
{
    note_error(l, LLVMOrcJITDylibClear(s->lib));
}

/* ---- from the linked block to an image ---- */

static bool is_mark(const link *l, uint64_t v, uint32_t *i)
{
    *i = (uint32_t)(v - l->mark) / 16;
    return v >= l->mark && v < l->mark + 16 * (uint64_t)l->nextern && v % 16 == 0;
}

static bool inside(const session *s, uint64_t v)
{
    return v >= (uintptr_t)s->block && v < (uintptr_t)s->block + s->link->used;
}

/* A slot for the address v, which stood at `at` and is no part of the image. */
static void add_slot(session *s, size_t at, uint64_t v, bool quad)
{
    link *l = s->link;
    uint32_t i;
    slot x = {at, 0, -1, quad};
    if (is_mark(l, v, &i))
        x.i = (int)i;
    else
        x.to = (size_t)(v - (uintptr_t)s->block);
    if (l->nslot == LZ_CODE_SLOTS)
        wrong(l, "it calls too many functions");
    else
        l->slots[l->nslot++] = x;
}

static void take_got(session *s)
{
    link *l = s->link;
    uint32_t i;
    for (size_t at = l->got; at + 8 <= l->got + l->got_bytes; at += 8) {
        uint64_t v = word(s->block + at);
        if (!is_mark(l, v, &i) && !inside(s, v))
            wrong(l, "an address of its table is none");
        add_slot(s, at, v, false);
        memset(s->block + at, 0, 8);
    }
}

/* RTDyld's stubs on AArch64: movz, movk, movk, movk x16; br x16. */
static void take_stubs(session *s, size_t begin, size_t nbytes)
{
    static const uint32_t in[5] = {0xd2e00010, 0xf2c00010, 0xf2a00010, 0xf2800010, 0xd61f0200};
    const uint32_t piece = UINT32_C(0xffff) << 5;
    for (size_t at = begin; at + sizeof in <= begin + nbytes; at += 4) {
        uint32_t have[5], unused;
        uint64_t v = 0;
        bool same = true;
        memcpy(have, s->block + at, sizeof have);
        for (int i = 0; i < 5; i++) {
            same &= (have[i] & ~(i < 4 ? piece : 0)) == in[i];
            v = i < 4 ? v << 16 | (have[i] & piece) >> 5 : v;
        }
        if (!same || (!is_mark(s->link, v, &unused) && !inside(s, v)))
            continue;
        add_slot(s, at, v, true);
        memcpy(s->block + at, in, 16);
    }
}

/* No other word may hold an address: the image would run at one place only. */
static void check_words(session *s)
{
    uint32_t unused;
    for (size_t at = 0; at + 8 <= s->link->used; at += 8) {
        uint64_t v = word(s->block + at);
        if (is_mark(s->link, v, &unused) || inside(s, v))
            wrong(s->link, "its code holds an address");
    }
}

static int by_place(const void *a, const void *b)
{
    const func *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static uint32_t put_name(lz_buf *names, const char *name)
{
    uint32_t at = (uint32_t)names->len;
    lz_buf_put(names, name, strlen(name) + 1);
    return at;
}

/* Names of external functions, each once; every one of them must have a slot. */
static void name_slots(link *l, lz_code_image *im, lz_buf *names)
{
    const char *sorted[LZ_JIT_EXTERNS];
    memcpy(sorted, l->externs, sizeof sorted);
    qsort(sorted, l->nextern, sizeof *sorted, by_name); /* ORC's order is not always the same */
    for (uint32_t e = 0; e < l->nextern; e++) {
        uint32_t found = 0, to = put_name(names, sorted[e]);
        for (uint32_t i = 0; i < l->nslot; i++)
            if (l->slots[i].i >= 0 && l->externs[l->slots[i].i] == sorted[e]) {
                im->slots[i].to = to;
                found++;
            }
        if (!found)
            wrong(l, "a function that it calls is called from no place");
    }
}

static void write_image(session *s, lz_buf *image)
{
    link *l = s->link;
    lz_buf names = {0};
    /* adrp of AArch64 counts in pages */
    lz_code_image im = {.machine = l->machine,
                        .align = l->machine == EM_AARCH64 ? PAGE : 64,
                        .ncode = (uint32_t)l->used,
                        .nslot = l->nslot,
                        .nfunc = l->nfunc,
                        .code = s->block};
    for (uint32_t i = 0; i < l->nlocal && l->ncode == 1 && l->nfunc < LZ_CODE_FUNCS; i++)
        l->funcs[l->nfunc++] = (func){l->code[0] + l->locals[i].at, l->locals[i].name};
    im.nfunc = l->nfunc;
    qsort(l->funcs, l->nfunc, sizeof *l->funcs, by_place);
    for (uint32_t i = 0; i < l->nfunc; i++)
        im.funcs[i] = (lz_code_func){(uint32_t)l->funcs[i].at, put_name(&names, l->funcs[i].name)};
    for (uint32_t i = 0; i < l->nslot; i++) {
        const slot *x = &l->slots[i];
        uint32_t kind = (uint32_t)(x->quad ? LZ_CODE_MOVW_EXTERN : LZ_CODE_WORD_EXTERN);
        im.slots[i] = (lz_code_slot){(uint32_t)x->at, x->i < 0 ? kind + 1 : kind, (uint32_t)x->to};
    }
    name_slots(l, &im, &names);
    im.names = names.data;
    im.nnames = (uint32_t)names.len;
    l->no_memory = names.failed;
    if (!l->no_memory && !l->said[0])
        lz_code_write(&im, image);
    lz_buf_free(&names);
}

static void take_image(session *s, lz_buf *image)
{
    link *l = s->link;
    take_got(s);
    if (l->machine == EM_AARCH64)
        for (uint32_t i = 0; i < l->ncode; i++)
            take_stubs(s, l->code[i], l->code_bytes[i]);
    check_words(s);
    if (l->used > LZ_CODE_BYTES)
        wrong(l, "it is too large");
    if (!l->said[0])
        write_image(s, image);
}

static lz_status outcome(link *l, const lz_buf *image)
{
    if (l->error.status != LZ_OK) {
        lz_error_set(&l->error);
        return l->error.status;
    }
    if (l->said[0])
        return LZ_FAIL(LZ_EINTERNAL, "kernel '%s': its code cannot be linked: %s", l->u->name,
                       l->said);
    if (l->no_memory || image->failed)
        return LZ_FAIL(LZ_EMEM, "kernel '%s': no memory for its code", l->u->name);
    atomic_fetch_add(&linked, 1);
    atomic_fetch_add(&kernels, !l->u->shared);
    return LZ_OK;
}

static _Thread_local int64_t thread_ns;

int64_t lz_jit_thread_ns(void)
{
    return thread_ns;
}

lz_status lz_jit_link(const lz_jit_unit *u, lz_buf *image)
{
    session *s;
    int64_t t0 = lz_now_ns();
    LZ_TRY(take(&s));
    link l = {.u = u};
    s->link = &l;
    link_unit(s, &l);
    if (l.error.status == LZ_OK && !l.said[0])
        take_image(s, image);
    forget(s, &l);
    lz_status st = outcome(&l, image);
    s->link = NULL;
    give(s);
    thread_ns += lz_now_ns() - t0 - l.made_ns;
    return st;
}
