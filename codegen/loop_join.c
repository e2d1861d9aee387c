/* loop_join.c - see loop_join.h. Small carried values and temporaries are in the stack frame, where
 * LLVM's scalar replacement finds them; larger ones are where the executor (plan_exec.c) has them.
 * The loop is gone through in the order of lower/plan/plan_join.c, whose arguments are taken one
 * after the other.
 * Recursion: plans in plans, as deep as regions nest (LZ_MAX_REGION_DEPTH). */
#include "codegen/loop_join.h"
#include "base/alloc.h"
#include "codegen/schedules.h"
#include "lower/plan/plan_join.h"
#include <string.h>

enum { FEW = 4 }; /* points that are computed one by one: their values can be in registers */

typedef struct fn {
    const lz_kernel *k;
    Val run, grid, scratch; /* scratch: NULL: it needs none */
} fn;

/* A call of a kernel that needs scratch memory. */
typedef struct use {
    const fn *f;
    Val *size; /* constants, or arguments of lz_run by their number */
    uint32_t *slot;
} use;

typedef struct join {
    em *e;
    const lz_kernel *k;
    Val *arg; /* run-time arguments */
    uint32_t next;
    Val scratch;
    Blk entry; /* ends in a branch: stores that are done once go before that */
    lz_arena arena;
    LZ_VEC(fn *) fns;
    LZ_VEC(use) uses;
    lz_status status;
} join;

static void *take(join *j, size_t n, size_t each)
{
    void *p = lz_arena_alloc(&j->arena, n * each + 1);
    if (!p && j->status == LZ_OK)
        j->status = LZ_FAIL(LZ_EMEM, "code of a loop: out of memory");
    return p;
}

/* ---- sizes and memory ---- */

/* The number of an argument that is no constant is in *slot, UINT32_MAX for a constant. */
static Val size_at(join *j, int64_t v, uint32_t *slot)
{
    *slot = lz_join_is_baked(v) ? UINT32_MAX : j->next;
    return *slot == UINT32_MAX ? em_c64(j->e, v) : j->arg[j->next++];
}

static Val size(join *j, int64_t v)
{
    uint32_t slot;
    return size_at(j, v, &slot);
}

static Val room(join *j, uint64_t nbytes)
{
    return em_alloca(j->e, j->e->i8, nbytes ? nbytes : 1, 64);
}

static void copy(join *j, Val to, Val from, Val nbytes)
{
    LLVMBuildMemCpy(j->e->b, to, 1, from, 1, nbytes);
}

static void copy_unless_same(join *j, Val to, Val from, Val nbytes)
{
    em *e = j->e;
    em_if other;
    em_if_begin(e, &other, ICMP(NE, to, from));
    copy(j, to, from, nbytes);
    em_if_end(e, &other, 0, NULL, NULL, NULL);
}

static Blk block(em *e)
{
    return LLVMAppendBasicBlockInContext(e->cx, e->f, "");
}

/* ---- kernels ---- */

/* A few points without sums are computed one by one, with the same bits: their values need not go
 * through memory in vectors that they do not fill. */
static bool few_points(const lz_kernel *k)
{
    int64_t n = 1;
    for (uint32_t i = 0; i < k->nouter; i++)
        n = k->outer[i].slot < 0 && k->outer[i].v <= FEW ? n * k->outer[i].v : FEW + 1;
    for (uint32_t s = 0; s < k->nstage; s++)
        if (k->stages[s].nred || k->stages[s].ninner || k->stages[s].sort || k->stages[s].nrow)
            return false;
    return n <= FEW;
}

static Val internal(LLVMModuleRef m, const char *name, const char *as)
{
    Val f = LLVMGetNamedFunction(m, name);
    if (!f)
        return NULL;
    LLVMSetValueName2(f, as, strlen(as));
    LLVMSetLinkage(f, LLVMInternalLinkage);
    unsigned kind = LLVMGetEnumAttributeKindForName("alwaysinline", 12);
    LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(LLVMGetModuleContext(m), kind, 0));
    return f;
}

static lz_status emit_kernel(join *j, const lz_kernel *k, fn *f)
{
    lz_target t = *j->e->t;
    em e;
    t.without |= UINT32_C(1) << LZ_VARIANT_nontemporal; /* the next kernel reads what is stored */
    if (few_points(k))
        t.without |= UINT32_C(1) << LZ_VARIANT_vectors;
    em_init(&e, &t, j->e->cx, j->e->m);
    e.fit = true;
    lz_status s = lz_schedule_emit(&e, k);
    em_done(&e);
    LZ_TRY(s);
    *f = (fn){k, internal(e.m, "lz_run", "run"), internal(e.m, "lz_grid", "grid"),
              internal(e.m, "lz_scratch", "scratch")};
    return LZ_OK;
}

static lz_status emit_kernels(join *j, const lz_plan *p)
{
    for (uint32_t i = 0; i < p->nkernel; i++) {
        fn *f = take(j, 1, sizeof *f);
        if (!f)
            return j->status;
        LZ_TRY(emit_kernel(j, p->kernels[i], f));
        LZ_TRY(lz_vec_push(&j->fns, f));
    }
    for (uint32_t i = 0; i < p->nsub; i++)
        LZ_TRY(emit_kernels(j, p->subs[i]));
    return LZ_OK;
}

static const fn *fn_of(const join *j, const lz_kernel *k)
{
    for (uint32_t i = 0; i < j->fns.len; i++)
        if (j->fns.data[i]->k == k)
            return j->fns.data[i];
    return NULL;
}

/* The sizes of a launch in an array, which is filled once. */
static Val sizes_of(join *j, const lz_step *s, const fn *f)
{
    em *e = j->e;
    use u = {f, take(j, s->narg, sizeof *u.size), take(j, s->narg, sizeof *u.slot)};
    Val at = em_alloca(e, e->i64, s->narg ? s->narg : 1, 8);
    Blk here = LLVMGetInsertBlock(e->b);
    if (!u.size || !u.slot)
        return at;
    LLVMPositionBuilderBefore(e->b, LLVMGetBasicBlockTerminator(j->entry));
    for (uint32_t i = 0; i < s->narg; i++) {
        u.size[i] = size_at(j, s->args[i], &u.slot[i]);
        em_store(e, u.size[i], em_at(e, at, em_c64(e, i), 8), 8);
    }
    LLVMPositionBuilderAtEnd(e->b, here);
    if (f->scratch && lz_vec_push(&j->uses, u) != LZ_OK)
        j->status = LZ_EMEM;
    return at;
}

static void emit_launch(join *j, const lz_plan *p, const lz_step *s, const Val *buf)
{
    em *e = j->e;
    const fn *f = fn_of(j, p->kernels[s->kernel]);
    Val args = sizes_of(j, s, f), bufs = em_alloca(e, e->ptr, s->nbuf ? s->nbuf : 1, 8);
    for (uint32_t i = 0; i < s->nbuf; i++)
        em_store(e, buf[i], em_at(e, bufs, em_c64(e, i), 8), 8);
    Val grid = LLVMBuildCall2(e->b, LLVMGlobalGetValueType(f->grid), f->grid, &args, 1, "");
    Val a[5] = {bufs, args, em_c64(e, 0), grid, j->scratch};
    LLVMBuildCall2(e->b, LLVMGlobalGetValueType(f->run), f->run, a, 5, "");
}

/* ---- plans ---- */

/* Where a plan runs: its arguments, results, and memory for its temporaries. */
typedef struct frame {
    const Val *in, *out;
    Val temp;
} frame;

static void emit_while(join *j, const lz_plan *p, const lz_step *s, const Val *ptr);
static void emit_if(join *j, const lz_plan *p, const lz_step *s, const Val *ptr);

static void emit_step(join *j, const lz_plan *p, const lz_step *s, const frame *f, Val consts)
{
    em *e = j->e;
    Val *ptr = take(j, s->nbuf, sizeof *ptr);
    for (uint32_t i = 0; ptr && i < s->nbuf; i++) {
        const lz_bufref *r = &s->bufs[i];
        Val base = r->kind == LZ_BUFREF_INPUT    ? f->in[r->index]
                   : r->kind == LZ_BUFREF_OUTPUT ? f->out[r->index]
                   : r->kind == LZ_BUFREF_TEMP   ? f->temp
                                                 : consts;
        ptr[i] = em_at(e, base, size(j, (int64_t)r->offset), 1);
    }
    if (!ptr)
        return;
    if (s->kind == LZ_STEP_KERNEL)
        emit_launch(j, p, s, ptr);
    else if (s->kind == LZ_STEP_WHILE)
        emit_while(j, p, s, ptr);
    else
        emit_if(j, p, s, ptr);
}

/* f->temp: for a plan whose temporaries are not kept in the frame. */
static void emit_plan(join *j, const lz_plan *p, const frame *f)
{
    em *e = j->e;
    frame own = *f;
    Val consts = LLVMConstNull(e->ptr);
    if (p->const_bytes)
        consts = LLVMBuildIntToPtr(e->b, j->arg[j->next++], e->ptr, "");
    if (p->temp_bytes <= LZ_JOIN_TEMPS)
        own.temp = room(j, p->temp_bytes);
    for (uint32_t i = 0; i < p->nstep && j->status == LZ_OK; i++)
        emit_step(j, p, &p->steps[i], &own, consts);
}

/* What a while carries: kept in the frame, or in two places in turn, or in one. */
typedef struct carried {
    Val nbytes, cur, next;
    Val phi[2];
    bool kept, own; /* own: the next value is made beside it */
} carried;

/* Gives where temporaries begin in the work memory. */
static Val begin_carried(join *j, const lz_plan *body, const Val *ptr, carried *c)
{
    em *e = j->e;
    uint32_t n = body->nout;
    Val at = em_c64(e, 64), work = ptr[n + body->nin];
    for (uint32_t k = 0; k < n; k++) {
        uint64_t nbytes = body->out_type[k]->nbytes;
        c[k].nbytes = size(j, (int64_t)nbytes);
        c[k].kept = nbytes <= LZ_JOIN_KEPT;
        c[k].own = body->out_alias[k] < 0;
        c[k].cur = c[k].kept ? room(j, nbytes) : ptr[k];
        c[k].next = !c[k].own ? c[k].cur : c[k].kept ? room(j, nbytes) : em_at(e, work, at, 1);
        if (c[k].own)
            at = ADD(at, AND(ADD(c[k].nbytes, em_c64(e, 63)), em_c64(e, -64)));
        if (c[k].kept)
            copy(j, c[k].cur, ptr[n + k], c[k].nbytes);
        else
            copy_unless_same(j, c[k].cur, ptr[n + k], c[k].nbytes);
    }
    return em_at(e, work, at, 1);
}

/* Those in two places change them with each round. */
static void turn_places(join *j, uint32_t n, carried *c, Blk before)
{
    em *e = j->e;
    for (uint32_t k = 0; k < n; k++) {
        if (c[k].kept || !c[k].own)
            continue;
        Val from[2] = {c[k].cur, c[k].next};
        for (int i = 0; i < 2; i++) {
            c[k].phi[i] = LLVMBuildPhi(e->b, e->ptr, "");
            LLVMAddIncoming(c[k].phi[i], &from[i], &before, 1);
        }
        c[k].cur = c[k].phi[0];
        c[k].next = c[k].phi[1];
    }
}

static void end_round(join *j, uint32_t n, carried *c)
{
    em *e = j->e;
    for (uint32_t k = 0; k < n; k++)
        if (c[k].kept && c[k].own)
            copy(j, c[k].cur, c[k].next, c[k].nbytes);
    Blk latch = LLVMGetInsertBlock(e->b);
    for (uint32_t k = 0; k < n; k++)
        for (int i = 0; i < 2 && c[k].phi[0]; i++)
            LLVMAddIncoming(c[k].phi[i], &c[k].phi[!i], &latch, 1);
}

static void end_carried(join *j, uint32_t n, const carried *c, const Val *ptr)
{
    for (uint32_t k = 0; k < n; k++) {
        if (c[k].kept)
            copy(j, ptr[k], c[k].cur, c[k].nbytes);
        else if (c[k].own)
            copy_unless_same(j, ptr[k], c[k].cur, c[k].nbytes);
    }
}

/* Arguments of the condition and the body: what is carried, then what is not. */
static Val *arguments(join *j, const lz_plan *body, const carried *c, const Val *ptr, Val **results)
{
    uint32_t n = body->nout;
    Val *in = take(j, body->nin, sizeof *in), *out = take(j, n, sizeof *out);
    *results = out;
    for (uint32_t k = 0; in && out && k < body->nin; k++) {
        in[k] = k < n ? c[k].cur : ptr[n + k];
        if (k < n)
            out[k] = c[k].next;
    }
    return out ? in : NULL;
}

static Val truth(em *e, Val at)
{
    return ICMP(NE, em_load(e, e->i8, at, 1), LLVMConstNull(e->i8));
}

static void emit_while(join *j, const lz_plan *p, const lz_step *s, const Val *ptr)
{
    em *e = j->e;
    const lz_plan *body = p->subs[s->sub[1]];
    uint32_t n = body->nout;
    int64_t known = 0;
    bool counts = s->sub[0] == LZ_NO_PLAN && lz_trip_count_known(&s->trip_count, &known);
    carried *c = take(j, n, sizeof *c);
    Val *in, *out, i = NULL, trips = NULL, zero = em_c64(e, 0), pred = room(j, 1);
    if (!c)
        return;
    Val temps = begin_carried(j, body, ptr, c);
    if (counts)
        trips = size(j, known);
    Blk before = LLVMGetInsertBlock(e->b), head = block(e), round = block(e), end = block(e);
    LLVMBuildBr(e->b, head);
    LLVMPositionBuilderAtEnd(e->b, head);
    if (counts) {
        i = LLVMBuildPhi(e->b, e->i64, "");
        LLVMAddIncoming(i, &zero, &before, 1);
    }
    turn_places(j, n, c, before);
    if (!(in = arguments(j, body, c, ptr, &out)))
        return;
    if (!counts)
        emit_plan(j, p->subs[s->sub[0]], &(frame){in, &pred, temps});
    LLVMBuildCondBr(e->b, counts ? ICMP(SLT, i, trips) : truth(e, pred), round, end);
    LLVMPositionBuilderAtEnd(e->b, round);
    emit_plan(j, body, &(frame){in, out, temps});
    end_round(j, n, c);
    if (counts) {
        Val next = ADD(i, em_c64(e, 1));
        Blk latch = LLVMGetInsertBlock(e->b);
        LLVMAddIncoming(i, &next, &latch, 1);
    }
    LLVMBuildBr(e->b, head);
    LLVMPositionBuilderAtEnd(e->b, end);
    end_carried(j, n, c, ptr);
}

static void emit_if(join *j, const lz_plan *p, const lz_step *s, const Val *ptr)
{
    em *e = j->e;
    uint32_t nout = p->subs[s->sub[1]]->nout, nin = p->subs[s->sub[1]]->nin;
    frame f = {ptr + nout + 1, ptr, ptr[nout + 1 + nin]};
    Blk way[2] = {block(e), block(e)}, join_at = block(e);
    LLVMBuildCondBr(e->b, truth(e, ptr[nout]), way[0], way[1]);
    for (int k = 0; k < 2; k++) {
        LLVMPositionBuilderAtEnd(e->b, way[k]);
        emit_plan(j, p->subs[s->sub[k]], &f);
        LLVMBuildBr(e->b, join_at);
    }
    LLVMPositionBuilderAtEnd(e->b, join_at);
}

/* ---- the function ---- */

static void emit_grid(em *e)
{
    em_func(e, "lz_grid", e->i64, &e->ptr, 1, true);
    LLVMBuildRet(e->b, em_c64(e, 1));
}

/* The most that any kernel needs. */
static void emit_scratch(join *j)
{
    em *e = j->e;
    Val f = em_func(e, "lz_scratch", e->i64, &e->ptr, 1, true), most = em_c64(e, 0);
    for (uint32_t i = 0; i < j->uses.len; i++) {
        const use *u = &j->uses.data[i];
        Val at = em_alloca(e, e->i64, u->f->k->narg ? u->f->k->narg : 1, 8);
        for (uint32_t a = 0; a < u->f->k->narg; a++) {
            Val v =
                u->slot[a] == UINT32_MAX
                    ? u->size[a]
                    : em_load(e, e->i64, em_at(e, LLVMGetParam(f, 0), em_c64(e, u->slot[a]), 8), 8);
            em_store(e, v, em_at(e, at, em_c64(e, a), 8), 8);
        }
        Val n =
            LLVMBuildCall2(e->b, LLVMGlobalGetValueType(u->f->scratch), u->f->scratch, &at, 1, "");
        most = em_smax(e, most, n);
    }
    LLVMBuildRet(e->b, most);
}

static void emit_run(join *j)
{
    em *e = j->e;
    const lz_kernel *k = j->k;
    Ty args[5] = {e->ptr, e->ptr, e->i64, e->i64, e->ptr};
    Val f = em_func(e, "lz_run", e->none, args, 5, true), *ptr = take(j, k->nbuf, sizeof *ptr);
    j->scratch = LLVMGetParam(f, 4);
    j->arg = take(j, k->narg, sizeof *j->arg);
    if (!ptr || !j->arg)
        return;
    for (uint32_t i = 0; i < k->narg; i++)
        j->arg[i] = em_load(e, e->i64, em_at(e, LLVMGetParam(f, 1), em_c64(e, i), 8), 8);
    for (uint32_t i = 0; i < k->nbuf; i++)
        ptr[i] = em_load(e, e->ptr, em_at(e, LLVMGetParam(f, 0), em_c64(e, i), 8), 8);
    j->entry = LLVMGetInsertBlock(e->b);
    Blk start = block(e);
    LLVMBuildBr(e->b, start);
    LLVMPositionBuilderAtEnd(e->b, start);
    emit_while(j, k->joined->plan, k->joined->step, ptr);
    LLVMBuildRetVoid(e->b);
}

static lz_status emit(join *j)
{
    const lz_plan *p = j->k->joined->plan;
    const lz_step *s = j->k->joined->step;
    for (int k = 0; k < 2; k++)
        if (s->sub[k] != LZ_NO_PLAN)
            LZ_TRY(emit_kernels(j, p->subs[s->sub[k]]));
    emit_grid(j->e);
    emit_run(j);
    if (j->status == LZ_OK && j->uses.len)
        emit_scratch(j);
    if (j->status == LZ_OK && j->next != j->k->narg)
        j->status = LZ_FAIL(LZ_EINTERNAL, "a loop took %u of %u sizes", j->next, j->k->narg);
    return j->status != LZ_OK ? j->status : j->e->status;
}

lz_status lz_loop_join_emit(em *e, const lz_kernel *k)
{
    join j = {.e = e, .k = k};
    lz_status s = emit(&j);
    lz_vec_free(&j.fns);
    lz_vec_free(&j.uses);
    lz_arena_free(&j.arena);
    return s;
}

/* Inlining, scalar replacement, and what they leave over; nothing that would change the order of
 * floating-point operations. */
static const char passes[] =
    "always-inline,globaldce,"
    "function(sroa,early-cse<memssa>,simplifycfg,loop(loop-rotate),sroa,early-cse<memssa>,"
    "loop-mssa(licm),simplifycfg,loop(indvars,loop-deletion,loop-unroll-full),sroa,"
    "early-cse<memssa>,gvn,loop-mssa(licm),dse,adce,simplifycfg)";

lz_status lz_loop_join_optimize(LLVMModuleRef m, LLVMTargetMachineRef tm, const char *name)
{
    LLVMPassBuilderOptionsRef o = LLVMCreatePassBuilderOptions();
    LLVMErrorRef err = LLVMRunPasses(m, passes, tm, o);
    LLVMDisposePassBuilderOptions(o);
    if (!err)
        return LZ_OK;
    char *text = LLVMGetErrorMessage(err);
    lz_status s = LZ_FAIL(LZ_ECOMPILE, "kernel '%s': %.300s", name, text);
    LLVMDisposeErrorMessage(text);
    return s;
}
