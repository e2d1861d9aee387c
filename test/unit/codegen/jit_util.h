/* jit_util.h - for tests of the code generator: kernels built by hand, compiled, loaded and run on
 * buffers that end at a guard page.
 * Any access beyond a buffer's end (or before its first page) faults. */
#ifndef LZ_TEST_JIT_UTIL_H
#define LZ_TEST_JIT_UTIL_H
#include "codegen/shared_code.h"
#include "base/config.h"
#include "codegen/code_image.h"
#include "codegen/code_memory.h"
#include "codegen/codegen.h"
#include "suite.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* ---- buffers ---- */

typedef struct guarded {
    char *map, *p;
    size_t nbytes, nmap;
} guarded;

enum { GUARD = 64 << 20 }; /* nothing is written so far past the end that it would not be seen */

/* nbytes of memory whose end is the end of a page before unreadable ones; `slack` bytes between
 * (multiple of the element size). */
static inline guarded guarded_new(size_t nbytes, size_t slack)
{
    guarded g = {.nbytes = nbytes};
    size_t body = (nbytes + slack + 4095) & ~(size_t)4095;
    g.nmap = body + 4096 + GUARD;
    g.map = mmap(NULL, g.nmap, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert_ptr_ne(g.map, MAP_FAILED);
    if (body)
        ck_assert_int_eq(mprotect(g.map + 4096, body, PROT_READ | PROT_WRITE), 0);
    g.p = g.map + 4096 + body - nbytes - slack;
    return g;
}

static inline void guarded_free(guarded *g)
{
    if (g->map)
        munmap(g->map, g->nmap);
    *g = (guarded){0};
}

/* ---- random data ---- */

static uint64_t util_seed = 88172645463325252ull;
static inline uint64_t rnd64(void)
{
    util_seed ^= util_seed << 13;
    util_seed ^= util_seed >> 7;
    util_seed ^= util_seed << 17;
    return util_seed * 0x2545f4914f6cdd1dull;
}

/* The n-th of the series of numbers; a test that takes some series and not others takes them so. */
static inline void rnd_series(unsigned n)
{
    util_seed = 88172645463325252ull + n * 0x9e3779b97f4a7c15ull;
    (void)rnd64();
}

static inline double rnd_unit(void)
{
    return (double)(rnd64() >> 11) * 0x1p-53 * 2 - 1;
}

/* ---- kernels ---- */

/* lz_kernel_finish may give it a slot */
static inline lz_sz sz(int64_t v)
{
    return (lz_sz){v, -1};
}

static inline lz_access access_to(uint32_t buf)
{
    lz_access a;
    memset(&a, 0, sizeof a);
    a.buf = buf;
    a.offset = sz(0);
    for (int i = 0; i < LZ_LOOP_MAX; i++)
        a.stride[i] = sz(0);
    a.guard = a.other = -1;
    return a;
}

static inline lz_stage *stage_of(lz_kernel *k, uint32_t i)
{
    return &k->stages[i];
}

static inline void stages_new(lz_kernel *k, uint32_t n)
{
    k->nstage = n;
    k->stages = lz_arena_alloc(&k->arena, n * sizeof *k->stages);
    for (uint32_t i = 0; i < n; i++) {
        lz_stage *s = &k->stages[i];
        s->sops = lz_arena_alloc(&k->arena, 64 * sizeof *s->sops);
        s->accs = lz_arena_alloc(&k->arena, 16 * sizeof *s->accs);
        s->reds = lz_arena_alloc(&k->arena, 8 * sizeof *s->reds);
        s->stores = lz_arena_alloc(&k->arena, 8 * sizeof *s->stores);
        for (int d = 0; d < LZ_LOOP_MAX; d++)
            s->extent[d] = sz(0);
    }
}

static inline uint32_t add_buf(lz_kernel *k, lz_dtype d, bool write)
{
    k->buf[k->nbuf] = (lz_kbuf){.dtype = d, .read = !write, .written = write, .inplace_with = -1};
    return k->nbuf++;
}

static inline int32_t add_sop(lz_stage *s, lz_sop p)
{
    s->sops[s->nsop] = p;
    return (int32_t)s->nsop++;
}

static inline lz_sop sop_new(lz_sop_kind kind, lz_dtype d)
{
    lz_sop p;
    memset(&p, 0, sizeof p);
    p.kind = kind;
    p.dtype = d;
    p.a = p.b = p.c = -1;
    p.size = sz(0);
    return p;
}

static inline int32_t add_load(lz_kernel *k, lz_stage *s, lz_access a)
{
    lz_sop p = sop_new(LZ_S_LOAD, k->buf[a.buf].dtype);
    s->accs[s->nacc] = a;
    p.a = (int32_t)s->nacc++;
    return add_sop(s, p);
}

static inline int32_t add_const(lz_stage *s, lz_dtype d, uint64_t bits)
{
    lz_sop p = sop_new(LZ_S_CONST, d);
    p.bits = bits;
    return add_sop(s, p);
}

static inline int32_t add_f32(lz_stage *s, float v)
{
    uint32_t u;
    memcpy(&u, &v, 4);
    return add_const(s, LZ_F32, u);
}

static inline int32_t add_index(lz_stage *s, int32_t loop)
{
    lz_sop p = sop_new(LZ_S_INDEX, LZ_I64);
    p.a = loop;
    return add_sop(s, p);
}

static inline int32_t add_ew(lz_stage *s, lz_op op, lz_dtype d, const lz_attr *attr, int32_t a,
                             int32_t b, int32_t c)
{
    lz_sop p = sop_new(LZ_S_EW, d);
    p.op = op;
    p.attr = attr;
    p.a = a;
    p.b = b;
    p.c = c;
    return add_sop(s, p);
}

static inline int32_t add_redval(lz_stage *s, int32_t stage, int32_t acc, lz_dtype d)
{
    lz_sop p = sop_new(LZ_S_RED, d);
    p.a = stage;
    p.b = acc;
    return add_sop(s, p);
}

static inline void add_red(lz_stage *s, lz_op comb, lz_dtype acc, int32_t value, int32_t init)
{
    lz_red *r = &s->reds[s->nred++];
    memset(r, 0, sizeof *r);
    r->comb = comb;
    r->nacc = 1;
    r->acc_dtype[0] = acc;
    r->value[0] = value;
    r->init[0] = init;
}

static inline void add_store(lz_stage *s, lz_access a, int32_t value)
{
    s->stores[s->nstore++] = (lz_loop_store){.at = a, .value = value};
}

/* ---- compiled kernels ---- */

typedef struct jit {
    lz_code code;
    lz_run_fn run;
    lz_size_fn grid, scratch;
    lz_buf ll;
} jit;

static inline void must(lz_status s)
{
    if (s != LZ_OK)
        ck_abort_msg("%s: %s", lz_status_name(s), lz_error_get()->message);
}

static inline jit jit_new_on(const lz_kernel *k, const lz_target *t)
{
    jit j = {0};
    lz_buf obj = {0};
    static unsigned turn;
    must(lz_llvm_compile(k, t, &obj, &j.ll, NULL));
    if (turn++ & 1) { /* code without its text shares functions with other kernels */
        lz_buf_free(&obj);
        must(lz_llvm_compile(k, t, &obj, NULL, NULL));
    }
    if (getenv("JIT_DUMP"))
        fprintf(stderr, "%s", lz_buf_str(&j.ll));
    must(lz_code_load(obj.data, obj.len, &j.code));
    j.run = j.code.run;
    j.grid = j.code.grid;
    j.scratch = j.code.scratch;
    lz_buf_free(&obj);
    return j;
}

/* l3_bytes: what is as large goes past the caches; 0: the machine's */
static inline jit jit_new_for(const lz_kernel *k, int64_t l3_bytes)
{
    lz_target t;
    must(lz_target_host(&t));
    t.machine.l3_bytes = l3_bytes ? l3_bytes : t.machine.l3_bytes;
    return jit_new_on(k, &t);
}

static inline jit jit_new(const lz_kernel *k)
{
    return jit_new_for(k, 0);
}

/* The forms of code that processors of other families get, to be run here: many registers of 16
 * bytes. The code generator goes by the name of the architecture, of which LLVM knows another
 * one. */
static inline lz_target small_vectors(void)
{
    static const char x86[] = "x86_64", other[] = "amd64";
    lz_target t;
    must(lz_target_host(&t));
    size_t n = sizeof x86 - 1;
    if (strncmp(t.triple, x86, n) == 0) {
        memmove(t.triple + sizeof other - 1, t.triple + n, strlen(t.triple + n) + 1);
        memcpy(t.triple, other, sizeof other - 1);
    }
    t.machine.vector_bytes = 16;
    return t;
}

/* This machine, and one that loads nothing under masks, as AArch64 and x86-64-v2: what it has no
 * instructions for is packed instead. */
enum { MASKS = 2 };
static inline lz_target with_masks_or_not(int i)
{
    lz_target t = small_vectors();
    if (i == 0)
        must(lz_target_host(&t));
    return t;
}

/* The code for processors with 16 registers of 32 bytes, to be run here. false: this is none that
 * can. */
static inline bool few_registers(lz_target *t)
{
    must(lz_target_host(t));
    if (strncmp(t->triple, "x86_64", 6) != 0 || t->machine.vector_bytes < 32)
        return false;
    char was[32]; /* what the runner has chosen: LZ_TEST_TARGET */
    snprintf(was, sizeof was, "%s", lz_cfg_str(LZ_OPT_CPU_ISA));
    must(lz_config_set("LAZULI_CPU", "x86-64-v3"));
    must(lz_target_host(t));
    must(lz_config_set("LAZULI_CPU", *was ? was : NULL));
    ck_assert_int_eq(t->machine.vector_bytes, 32);
    return true;
}

static inline void jit_free(jit *j)
{
    lz_code_free(&j->code);
    lz_buf_free(&j->ll);
}

/* Runs all units: in pieces of `step` units, the last piece first when `backwards`. */
static inline void jit_run(const jit *j, void *const *bufs, const int64_t *args, int64_t step,
                           bool backwards)
{
    int64_t n = j->grid(args);
    size_t ns = (size_t)j->scratch(args);
    guarded s = guarded_new((ns + 63) & ~(size_t)63, 0);
    int64_t pieces = step > 0 ? (n + step - 1) / step : n > 0;
    if (step <= 0)
        step = n;
    for (int64_t i = 0; i < pieces; i++) {
        int64_t b = (backwards ? pieces - 1 - i : i) * step, e = b + step < n ? b + step : n;
        j->run(bufs, args, b, e, s.p);
    }
    guarded_free(&s);
}

/* ---- of code as text, of factors ---- */

static inline int count(const char *text, const char *what)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, what)); at++)
        n++;
    return n;
}

/* Parts that an image was joined from: places in its own code that it calls through slots, and what
 * calls them. */
static inline uint32_t parts_of(const lz_buf *image)
{
    lz_code_image im;
    uint32_t n = 1;
    ck_assert_ptr_null(lz_code_open(image->data, image->len, &im));
    for (uint32_t i = 0; i < im.nslot; i++) {
        bool seen =
            im.slots[i].kind != LZ_CODE_WORD_INTERN && im.slots[i].kind != LZ_CODE_MOVW_INTERN;
        for (uint32_t j = 0; j < i && !seen; j++)
            seen = im.slots[j].kind == im.slots[i].kind && im.slots[j].to == im.slots[i].to;
        n += !seen;
    }
    return n;
}

/* Shared functions that were made for q on t; n: the parts its image consists of. */
static inline uint64_t made_for(const lz_kernel *q, const lz_target *t, uint32_t *n)
{
    uint64_t before = lz_shared_made();
    lz_buf obj = {0};
    lz_code c;
    must(lz_llvm_compile(q, t, &obj, NULL, NULL));
    *n = parts_of(&obj);
    must(lz_code_load(obj.data, obj.len, &c));
    lz_code_free(&c);
    lz_buf_free(&obj);
    return lz_shared_made() - before;
}

/* Small enough to be added up: of either sign, or whole numbers. */
static inline void fill_factors(lz_dtype d, char *p, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (lz_dtype_is_float(d))
            lz_elem_set_f64(d, p, i, rnd_unit());
        else
            lz_elem_set_f64(d, p, i, (double)(rnd64() % 201) - (lz_dtype_is_signed(d) ? 100 : 0));
}

/* The machine's own; one in three as processors with fewer registers have it. */
static inline void any_target(lz_target *t)
{
    if (rnd64() % 3 || !few_registers(t))
        must(lz_target_host(t));
}
#endif
