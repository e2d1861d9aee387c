/* compile.c - one kernel to code: context, module, emission, verification, then machine code and
 * linking by the JIT (jit.h), or text.
 * No IR passes run: the emitter's code is hoisted and free of redundancy as it is, and measured
 * passes bought no speed (some lost it). A loop of kernels is the exception (loop_join.c).
 * Every failure becomes a status; LLVM's own messages go into the record. Threads: thread-safe;
 * every call has its own context. */
#include "codegen/codegen.h"
#include "codegen/jit.h"
#include "codegen/loop_join.h"
#include "codegen/schedules.h"
#include "base/alloc.h"
#include "base/thread.h"
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static _Atomic uint64_t compiled, machines_made;

uint64_t lz_llvm_compile_count(void)
{
    return atomic_load(&compiled);
}

uint64_t lz_llvm_machine_count(void)
{
    return atomic_load(&machines_made);
}

const char *lz_llvm_version(void)
{
    return "19.1.7";
}

/* What LLVM said while it worked. */
typedef struct notes {
    bool error;
    char text[256];
} notes;

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *user)
{
    notes *n = user;
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError || n->error)
        return;
    char *d = LLVMGetDiagInfoDescription(info);
    n->error = true;
    snprintf(n->text, sizeof n->text, "%s", d ? d : "unknown error");
    LLVMDisposeMessage(d);
}

/* ---- machines: what LLVM knows of a target. Making one parses the feature string dozens of times,
 * a tenth of what a small kernel costs, so they are kept; one serves one thread at a time. ---- */

typedef struct machine {
    struct machine *next;
    LLVMTargetMachineRef tm;
    lz_target target; /* triple, cpu and features it was made for */
} machine;

enum { KEEP_MACHINES = 16 };
static lz_mutex machines_lock = LZ_MUTEX_INIT("compile");
static machine *machines;
static int nmachine;

static bool same_target(const lz_target *a, const lz_target *b)
{
    return strcmp(a->triple, b->triple) == 0 && strcmp(a->cpu, b->cpu) == 0 &&
           strcmp(a->features, b->features) == 0;
}

static machine *kept_machine(const lz_target *t)
{
    machine *m = NULL;
    lz_mutex_lock(&machines_lock);
    for (machine **p = &machines; *p && !m; p = &(*p)->next)
        if (same_target(&(*p)->target, t)) {
            m = *p;
            *p = m->next;
            nmachine--;
            break;
        }
    lz_mutex_unlock(&machines_lock);
    return m;
}

static void machine_done(machine *m)
{
    lz_mutex_lock(&machines_lock);
    bool keep = nmachine < KEEP_MACHINES;
    if (keep) {
        m->next = machines;
        machines = m;
        nmachine++;
    }
    lz_mutex_unlock(&machines_lock);
    if (keep)
        return;
    LLVMDisposeTargetMachine(m->tm);
    lz_free(m);
}

static lz_status machine_new(const lz_target *t, machine **out)
{
    LLVMTargetRef target;
    char *err = NULL;
    if (LLVMGetTargetFromTriple(t->triple, &target, &err)) {
        lz_status s = LZ_FAIL(LZ_EUNAVAILABLE, "LLVM has no target '%s': %s", t->triple,
                              err ? err : "unknown");
        LLVMDisposeMessage(err);
        return s;
    }
    machine *m = lz_calloc(1, sizeof *m);
    if (!m)
        return LZ_FAIL(LZ_EMEM, "no memory to generate code for '%s'", t->triple);
    m->target = *t;
    m->tm = LLVMCreateTargetMachine(target, t->triple, t->cpu, t->features, LLVMCodeGenLevelDefault,
                                    LLVMRelocPIC, LLVMCodeModelSmall);
    if (m->tm) {
        atomic_fetch_add(&machines_made, 1);
        *out = m;
        return LZ_OK;
    }
    lz_free(m);
    return LZ_FAIL(LZ_EUNAVAILABLE, "LLVM makes no code for '%s' cpu '%s'", t->triple, t->cpu);
}

/* ---- one module ---- */

typedef struct unit {
    LLVMContextRef cx;
    LLVMModuleRef m;
    em_modules shared;
    machine *machine;
    notes said;
} unit;

static void unit_end(unit *u)
{
    for (uint32_t i = 0; i < u->shared.n; i++)
        LLVMDisposeModule(u->shared.m[i]);
    if (u->m)
        LLVMDisposeModule(u->m);
    if (u->cx)
        LLVMContextDispose(u->cx);
    if (u->machine)
        machine_done(u->machine);
}

static lz_status unit_begin(unit *u, const lz_target *t)
{
    *u = (unit){.machine = kept_machine(t)};
    if (!u->machine)
        LZ_TRY(machine_new(t, &u->machine));
    u->cx = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(u->cx, on_diagnostic, &u->said);
    u->m = LLVMModuleCreateWithNameInContext("kernel", u->cx);
    LLVMTargetDataRef dl = LLVMCreateTargetDataLayout(u->machine->tm);
    LLVMSetModuleDataLayout(u->m, dl);
    LLVMDisposeTargetData(dl);
    LLVMSetTarget(u->m, t->triple);
    return LZ_OK;
}

static lz_status verify(LLVMModuleRef m, const lz_kernel *k)
{
    char *err = NULL;
    bool bad = LLVMVerifyModule(m, LLVMReturnStatusAction, &err);
    lz_status s =
        bad ? LZ_FAIL(LZ_EINTERNAL, "kernel '%s': malformed code: %.300s", k->name, err ? err : "?")
            : LZ_OK;
    LLVMDisposeMessage(err);
    return s;
}

static lz_status generate(unit *u, LLVMModuleRef m, const lz_kernel *k, LLVMCodeGenFileType type,
                          LLVMMemoryBufferRef *out)
{
    char *err = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(u->machine->tm, m, type, &err, out)) {
        lz_status s =
            LZ_FAIL(LZ_ECOMPILE, "kernel '%s': %.300s", k->name, err ? err : "LLVM made no code");
        LLVMDisposeMessage(err);
        return s;
    }
    if (!u->said.error)
        return LZ_OK;
    LLVMDisposeMemoryBuffer(*out);
    *out = NULL;
    return LZ_FAIL(LZ_ECOMPILE, "kernel '%s': %s", k->name, u->said.text);
}

/* Assembly, or PTX. */
static lz_status generate_text(unit *u, const lz_kernel *k, lz_buf *out)
{
    LLVMMemoryBufferRef mb = NULL;
    LZ_TRY(generate(u, u->m, k, LLVMAssemblyFile, &mb));
    lz_buf_put(out, LLVMGetBufferStart(mb), LLVMGetBufferSize(mb));
    LLVMDisposeMemoryBuffer(mb);
    return LZ_OK;
}

/* ---- one module through the JIT ---- */

typedef struct part {
    unit *u;
    const lz_kernel *k;
    LLVMModuleRef m;
    LLVMMemoryBufferRef bitcode; /* of a shared function's module, before its code is generated */
    bool busy;                   /* another thread was making it */
} part;

static lz_status make_object(void *user, LLVMMemoryBufferRef *object)
{
    const part *p = user;
    return generate(p->u, p->m, p->k, LLVMObjectFile, object);
}

/* Appends the image of the module. */
static lz_status link_module(const part *p, lz_buf *image)
{
    lz_jit_unit j = {
        .make = make_object, .user = (void *)p, .name = p->k->name, .shared = p->m != p->u->m};
    for (LLVMValueRef f = LLVMGetFirstFunction(p->m); f; f = LLVMGetNextFunction(f)) {
        size_t n;
        if (LLVMIsDeclaration(f) || LLVMGetLinkage(f) != LLVMExternalLinkage)
            continue;
        if (j.nfunc == LZ_CODE_FUNCS)
            return LZ_FAIL(LZ_EINTERNAL, "kernel '%s': too many functions", p->k->name);
        j.funcs[j.nfunc++] = LLVMGetValueName2(f, &n);
    }
    return lz_jit_link(&j, image);
}

/* apart: functions that other kernels have too get modules of their own. */
static lz_status emit(unit *u, const lz_kernel *k, const lz_target *t, bool apart)
{
    em e;
    em_init(&e, t, u->cx, u->m);
    e.shared = apart && !k->joined ? &u->shared : NULL;
    lz_status s = k->joined ? lz_loop_join_emit(&e, k) : lz_schedule_emit(&e, k);
    em_done(&e);
    return s;
}

/* Of a loop of kernels, whose code is in many functions. */
static lz_status optimize(unit *u, const lz_kernel *k)
{
    LZ_TRY(verify(u->m, k));
    return lz_loop_join_optimize(u->m, u->machine->tm, k->name);
}

/* Code generation changes the module, so the assembly comes from a second module. */
static lz_status assembly(const lz_kernel *k, const lz_target *t, lz_buf *as)
{
    unit u;
    lz_status s = unit_begin(&u, t);
    if (s == LZ_OK)
        s = emit(&u, k, t, false);
    if (s == LZ_OK && k->joined)
        s = optimize(&u, k);
    if (s == LZ_OK)
        s = generate_text(&u, k, as);
    unit_end(&u);
    return s;
}

/* ---- functions that kernels have alike ---- */

static lz_status make_shared(void *user, lz_buf *out)
{
    const part *x = user;
    LZ_TRY(verify(x->m, x->k));
    return link_module(x, out);
}

static lz_status shared_image(part *x, const lz_target *t, lz_buf *out, bool *busy)
{
    return lz_shared_image(t, LLVMGetBufferStart(x->bitcode), LLVMGetBufferSize(x->bitcode),
                           make_shared, x, out, busy);
}

/* Appends to b[i] those that the kernel shares, then its own. What another thread is making is
 * waited for when all else is done. */
static lz_status make_images(unit *u, const lz_kernel *k, const lz_target *t, lz_buf *b)
{
    part x[LZ_SHARED], own = {u, k, u->m, NULL, false};
    uint32_t n = u->shared.n;
    lz_status s = LZ_OK;
    for (uint32_t i = 0; i < n; i++)
        x[i] = (part){u, k, u->shared.m[i], LLVMWriteBitcodeToMemoryBuffer(u->shared.m[i]), false};
    for (uint32_t i = 0; i < n && s == LZ_OK; i++)
        s = shared_image(&x[i], t, &b[i], &x[i].busy);
    if (s == LZ_OK)
        s = link_module(&own, &b[n]);
    for (uint32_t i = 0; i < n && s == LZ_OK; i++)
        s = x[i].busy ? shared_image(&x[i], t, &b[i], NULL) : LZ_OK;
    for (uint32_t i = 0; i < n; i++)
        LLVMDisposeMemoryBuffer(x[i].bitcode);
    return s;
}

/* One image of the kernel's own, b[n], and those of the functions it shares. */
static lz_status join(const lz_kernel *k, const lz_buf *b, uint32_t n, lz_buf *out)
{
    lz_code_image im[LZ_SHARED + 1];
    const char *err = NULL;
    for (uint32_t i = 0; i <= n && !err; i++)
        err = lz_code_open(b[i].data, b[i].len, &im[i]);
    if (!err)
        err = lz_code_join(&im[n], im, n, lz_shared_name, out);
    return err ? LZ_FAIL(LZ_EINTERNAL, "kernel '%s': its code cannot be joined: %s", k->name, err)
               : LZ_OK;
}

static lz_status compile_shared(unit *u, const lz_kernel *k, const lz_target *t, lz_buf *image)
{
    lz_buf b[LZ_SHARED + 1] = {{0}};
    uint32_t n = u->shared.n;
    lz_status s = make_images(u, k, t, b);
    for (uint32_t i = 0; i <= n; i++)
        if (s == LZ_OK && b[i].failed)
            s = LZ_FAIL(LZ_EMEM, "kernel '%s': no memory for its code", k->name);
    if (s == LZ_OK)
        s = join(k, b, n, image);
    for (uint32_t i = 0; i <= n; i++)
        lz_buf_free(&b[i]);
    return s;
}

static lz_status compile(unit *u, const lz_kernel *k, const lz_target *t, lz_buf *code, lz_buf *ll,
                         bool apart)
{
    LZ_TRY(unit_begin(u, t));
    LZ_TRY(emit(u, k, t, apart));
    if (k->joined)
        LZ_TRY(optimize(u, k));
    if (ll) {
        char *text = LLVMPrintModuleToString(u->m);
        lz_buf_puts(ll, text);
        LLVMDisposeMessage(text);
    }
    LZ_TRY(verify(u->m, k));
    if (lz_target_ptx(t))
        return generate_text(u, k, code);
    if (u->shared.n)
        return compile_shared(u, k, t, code);
    return link_module(&(part){u, k, u->m, NULL, false}, code);
}

lz_status lz_llvm_compile(const lz_kernel *k, const lz_target *t, lz_buf *code, lz_buf *ll,
                          lz_buf *as)
{
    LZ_TRY(lz_llvm_begin());
    unit u;
    lz_status s = compile(&u, k, t, code, ll, !ll && !as); /* who wants to see it wants all of it */
    unit_end(&u);
    if (s == LZ_OK && as)
        s = assembly(k, t, as);
    lz_llvm_end();
    if (s == LZ_OK && (code->failed || (ll && ll->failed) || (as && as->failed)))
        s = LZ_FAIL(LZ_EMEM, "kernel '%s': no memory for its code", k->name);
    if (s == LZ_OK)
        atomic_fetch_add(&compiled, 1);
    return s;
}

lz_status lz_llvm_fingerprint(const lz_kernel *k, const lz_target *t, lz_hash *out)
{
    LZ_TRY(lz_llvm_begin());
    unit u;
    lz_status s = unit_begin(&u, t);
    if (s == LZ_OK)
        s = emit(&u, k, t, false);
    if (s == LZ_OK) {
        LLVMMemoryBufferRef mb = LLVMWriteBitcodeToMemoryBuffer(u.m);
        *out = lz_hash_bytes(LLVMGetBufferStart(mb), LLVMGetBufferSize(mb));
        LLVMDisposeMemoryBuffer(mb);
    }
    unit_end(&u);
    lz_llvm_end();
    return s;
}
