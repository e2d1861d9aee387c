/* t_jit.c - linking by LLVM ORC: what fresh code goes through, errors, functions outside, images
 * that are the same wherever they were linked. */
#include "codegen/jit.h"
#include "codegen/codegen.h"
#include "base/alloc.h"
#include "suite.h"
#include <elf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- units of a few instructions ---- */

typedef struct maker {
    const char *calls; /* a function outside that lz_f calls, or NULL */
    double adds;       /* a constant; 0: 0.1 */
    bool all;          /* it calls all of them */
    bool writes;       /* has a variable */
    bool fails;
    lz_buf *inner; /* where to link `nested` meanwhile */
    const lz_jit_unit *nested;
} maker;

/* Every function that code may call. */
static const char *const outside[] = {
    "exp",        "expm1",      "log",          "log1p",     "tanh",          "erf",
    "cbrt",       "sin",        "cos",          "tan",       "pow",           "atan2",
    "hypot",      "fmod",       "fmodf",        "sinf",      "cosf",          "tanf",
    "fma",        "fmaf",       "roundevenf",   "roundeven", "memcpy",        "memmove",
    "memset",     "acos",       "acosh",        "asin",      "asinh",         "atan",
    "atanh",      "cosh",       "sinh",         "erfc",      "lz_bessel_i1e", "lz_digamma",
    "lz_erf_inv", "lz_lgamma",  "lz_polygamma", "lz_zeta",   "lz_shared0",    "lz_shared1",
    "lz_shared2", "lz_shared3", "lz_shared4"};
enum { NOUTSIDE = sizeof outside / sizeof *outside };

static LLVMModuleRef module_of(const maker *m, LLVMContextRef cx)
{
    LLVMModuleRef mod = LLVMModuleCreateWithNameInContext("test", cx);
    LLVMTypeRef d = LLVMDoubleTypeInContext(cx), ty = LLVMFunctionType(d, &d, 1, 0);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(cx);
    LLVMValueRef f = LLVMAddFunction(mod, "lz_f", ty), x = LLVMGetParam(f, 0);
    unsigned nounwind = LLVMGetEnumAttributeKindForName("nounwind", 8); /* as kernels are */
    LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(cx, nounwind, 0));
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(cx, f, ""));
    LLVMValueRef y =
        LLVMBuildFAdd(b, x, LLVMConstReal(d, m->adds ? m->adds : 0.1), ""); /* from the constants */
    if (m->calls)
        y = LLVMBuildCall2(b, ty, LLVMAddFunction(mod, m->calls, ty), &y, 1, "");
    for (int i = 0; i < NOUTSIDE && m->all; i++)
        y = LLVMBuildCall2(b, ty, LLVMAddFunction(mod, outside[i], ty), &y, 1, "");
    if (m->writes) {
        LLVMValueRef g = LLVMAddGlobalInAddressSpace(mod, d, "lz_variable", 0);
        LLVMSetInitializer(g, LLVMConstReal(d, 1));
        LLVMSetLinkage(g, LLVMInternalLinkage);
        LLVMBuildStore(b, y, g);
    }
    LLVMBuildRet(b, y);
    LLVMDisposeBuilder(b);
    return mod;
}

static const char *triple = "x86_64-unknown-linux-gnu";

static lz_status make(void *user, LLVMMemoryBufferRef *object)
{
    const maker *m = user;
    char *err = NULL;
    LLVMTargetRef t;
    if (m->fails)
        return LZ_FAIL(LZ_ECOMPILE, "on purpose");
    if (m->nested)
        LZ_TRY(lz_jit_link(m->nested, m->inner));
    ck_assert(!LLVMGetTargetFromTriple(triple, &t, &err));
    LLVMTargetMachineRef tm = LLVMCreateTargetMachine(t, triple, "", "", LLVMCodeGenLevelDefault,
                                                      LLVMRelocPIC, LLVMCodeModelSmall);
    LLVMContextRef cx = LLVMContextCreate();
    LLVMModuleRef mod = module_of(m, cx);
    LLVMSetTarget(mod, triple);
    ck_assert(!LLVMTargetMachineEmitToMemoryBuffer(tm, mod, LLVMObjectFile, &err, object));
    LLVMDisposeModule(mod);
    LLVMContextDispose(cx);
    LLVMDisposeTargetMachine(tm);
    return LZ_OK;
}

static lz_jit_unit unit(maker *m)
{
    return (lz_jit_unit){.make = make, .user = m, .name = "test", .funcs = {"lz_f"}, .nfunc = 1};
}

static lz_status linked(maker m, lz_buf *image)
{
    lz_jit_unit u = unit(&m);
    ck_assert_int_eq(lz_llvm_load(), LZ_OK);
    return lz_jit_link(&u, image);
}

static void opens(const lz_buf *b, lz_code_image *im)
{
    const char *wrong = lz_code_open(b->data, b->len, im);
    ck_assert_msg(!wrong, "%s", wrong);
}

static uint64_t count(void)
{
    lz_jit_stats s;
    lz_jit_get_stats(&s);
    return s.linked;
}

/* ---- */

START_TEST(links)
{
    lz_buf a = {0}, b = {0};
    lz_code_image im;
    uint64_t before = count();
    ck_assert_int_eq(linked((maker){0}, &a), LZ_OK);
    ck_assert_int_eq(linked((maker){.calls = "cos"}, &b), LZ_OK);
    ck_assert_uint_eq(count(), before + 2);
    opens(&a, &im);
    ck_assert_uint_eq(im.nslot, 0);
    ck_assert_uint_eq(im.machine, EM_X86_64);
    ck_assert_uint_ne(lz_code_find(&im, "lz_f"), UINT32_MAX);
    opens(&b, &im);
    ck_assert_uint_eq(im.nslot, 1);
    ck_assert_uint_eq(im.slots[0].kind, LZ_CODE_WORD_EXTERN);
    ck_assert_str_eq(im.names + im.slots[0].to, "cos");
    lz_buf_free(&a);
    lz_buf_free(&b);
}
END_TEST

/* A unit that is linked while another one is has a session of its own, and memory elsewhere. */
START_TEST(same_wherever_it_is_linked)
{
    static const char *const triples[] = {"x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"};
    triple = triples[_i];
    lz_buf a = {0}, b = {0};
    maker inner = {.calls = "fma"}, outer = {.calls = "fma", .inner = &b};
    lz_jit_unit u = unit(&inner);
    outer.nested = &u;
    ck_assert_int_eq(linked(outer, &a), LZ_OK);
    lz_jit_stats s;
    lz_jit_get_stats(&s);
    ck_assert_uint_eq(s.sessions, 2);
    ck_assert(a.len == b.len && memcmp(a.data, b.data, a.len) == 0);
    lz_code_image im;
    opens(&a, &im);
    ck_assert_uint_eq(im.nslot, 1);
    ck_assert_uint_eq(im.machine, _i ? EM_AARCH64 : EM_X86_64);
    ck_assert_uint_eq(im.slots[0].kind, _i ? LZ_CODE_MOVW_EXTERN : LZ_CODE_WORD_EXTERN);
    lz_buf_free(&a);
    lz_buf_free(&b);
}
END_TEST

/* Constants may have any bits, also those of a mark. */
START_TEST(any_constant)
{
    static const uint64_t row[] = {UINT64_C(0x7a6c0badc0000000), UINT64_C(0x7a6c0badc0010000),
                                   UINT64_C(0x7a6c0badc0de0000), UINT64_C(0x7a6c0badc0ff0000)};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        uint64_t bits = row[i];
        lz_buf b = {0};
        double c;
        memcpy(&c, &bits, sizeof c);
        ck_assert_msg(linked((maker){.calls = "cos", .adds = c}, &b) == LZ_OK, "%s",
                      lz_error_get()->message);
        ck_assert_ptr_nonnull(memmem(b.data, b.len, &bits, sizeof bits));
        lz_buf_free(&b);
    }
}
END_TEST

/* One program can call every function there is. */
START_TEST(calls_every_function)
{
    static const char *const triples[] = {"x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"};
    triple = triples[_i];
    lz_buf b = {0};
    lz_code_image im;
    ck_assert_msg(linked((maker){.all = true}, &b) == LZ_OK, "%s", lz_error_get()->message);
    opens(&b, &im);
    ck_assert_uint_eq(im.nslot, NOUTSIDE);
    lz_buf_free(&b);
}
END_TEST

/* Errors say what it was, and the session links the next one. */
START_TEST(errors)
{
    static const struct {
        maker m;
        lz_status status;
        const char *says;
    } row[] = {{{.calls = "system"}, LZ_EINTERNAL, "system"},
               {{.writes = true}, LZ_EINTERNAL, "writable"},
               {{.fails = true}, LZ_ECOMPILE, "on purpose"}};
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
            lz_buf b = {0};
            uint64_t before = count();
            ck_assert_int_eq(linked(row[i].m, &b), row[i].status);
            ck_assert_msg(strstr(lz_error_get()->message, row[i].says), "%s",
                          lz_error_get()->message);
            ck_assert_uint_eq(count(), before);
            ck_assert_uint_eq(b.len, 0);
            ck_assert_int_eq(linked((maker){.calls = "cos"}, &b), LZ_OK);
            lz_buf_free(&b);
        }
    lz_jit_stats s;
    lz_jit_get_stats(&s);
    ck_assert_uint_eq(s.sessions, 1);
}
END_TEST

START_TEST(no_memory)
{
    for (int64_t n = 1;; n++) {
        lz_buf b = {0};
        uint64_t failed = lz_alloc_failed_count();
        ck_assert_int_eq(lz_llvm_load(), LZ_OK);
        lz_alloc_fail_at(n, true);
        lz_status s = linked((maker){.calls = "cos"}, &b);
        lz_alloc_fail_at(0, false);
        lz_buf_free(&b);
        if (lz_alloc_failed_count() == failed) {
            ck_assert_int_eq(s, LZ_OK);
            break;
        }
        ck_assert_int_eq(s, LZ_EMEM);
        ck_assert_int_lt(n, 100);
    }
}
END_TEST

/* Thousands of units through one session: it keeps nothing of them. */
START_TEST(keeps_nothing)
{
    lz_buf b = {0};
    ck_assert_int_eq(linked((maker){.calls = "cos"}, &b), LZ_OK);
    lz_buf_free(&b);
    int64_t live = lz_alloc_live_bytes_hint();
    for (int i = 0; i < 200; i++) {
        ck_assert_int_eq(linked((maker){.calls = i & 1 ? "cos" : "exp"}, &b), LZ_OK);
        lz_buf_free(&b);
    }
    ck_assert_int_eq(lz_alloc_live_bytes_hint(), live);
    lz_jit_stats s;
    lz_jit_get_stats(&s);
    ck_assert_uint_eq(s.sessions, 1);
}
END_TEST

static void *worker(void *arg)
{
    for (int i = 0; i < 40; i++) {
        lz_buf b = {0};
        maker m = {.calls = i & 1 ? "cos" : NULL, .fails = i % 7 == 6};
        lz_status want = m.fails ? LZ_ECOMPILE : LZ_OK;
        if (linked(m, &b) != want)
            *(bool *)arg = false;
        lz_buf_free(&b);
    }
    return NULL;
}

START_TEST(in_parallel)
{
    enum { N = 4 };
    pthread_t t[N];
    bool good[N];
    for (int i = 0; i < N; i++) {
        good[i] = true;
        ck_assert_int_eq(pthread_create(&t[i], NULL, worker, &good[i]), 0);
    }
    for (int i = 0; i < N; i++) {
        pthread_join(t[i], NULL);
        ck_assert(good[i]);
    }
    lz_jit_stats s;
    lz_jit_get_stats(&s);
    ck_assert_uint_le(s.sessions, N);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("jit");
    TCase *t = tcase_create("jit");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, links);
    tcase_add_loop_test(t, same_wherever_it_is_linked, 0, 2);
    tcase_add_test(t, any_constant);
    tcase_add_loop_test(t, calls_every_function, 0, 2);
    tcase_add_test(t, errors);
    tcase_add_test(t, no_memory);
    tcase_add_test(t, keeps_nothing);
    tcase_add_test(t, in_parallel);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
