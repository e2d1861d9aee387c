/* simt.c - GPU code of a kernel: the functions of its schedule (schedules.def), one after the
 * other. Threads: thread-safe. */
#include "codegen/gpu/simt_kern.h"

/* Vectors along the last outer loop, where all stages have such code: `many`, or NULL. It is left
 * to free whatever becomes of it. */
static lz_status across_points(simt *s, kern *many, kern **out)
{
    bool vectors = s->plan.lanes > 1;
    if (vectors) {
        LZ_TRY(kern_init_epilogue(many, s->e, s->k, s->plan.lanes));
        many->aligned = true;
    }
    for (uint32_t i = 0; i < s->k->nstage && vectors; i++)
        vectors = simt_vectors_suit(many, i);
    *out = vectors ? many : NULL;
    return LZ_OK;
}

static lz_status elementwise(simt *s, kern *c, kern *many)
{
    simt_enter_sorts(s, c); /* by single threads */
    LZ_TRY(across_points(s, many, &many));
    simt_elementwise_body(s, c, many);
    return LZ_OK;
}

static lz_status reduce_col(simt *s, kern *c, kern *many)
{
    LZ_TRY(across_points(s, many, &many));
    simt_reduce_col_body(s, c, many);
    return LZ_OK;
}

/* Vectors along the rows, likewise. */
static lz_status reduce_row(simt *s, kern *c, kern *many)
{
    bool vectors = true;
    LZ_TRY(kern_init_rows(many, s->e, s->k, simt_vector_lanes(s->k, 0)));
    many->aligned = true;
    for (uint32_t i = 0; i < s->k->nstage && vectors; i++)
        vectors = !s->k->stages[i].ninner || simt_vectors_suit(many, i);
    simt_reduce_row_body(s, c, vectors ? many : NULL);
    return LZ_OK;
}

/* Kernels that sort: long rows by blocks, short ones by threads. */
static lz_status sort(simt *s, kern *c, kern *together)
{
    em *e = s->e;
    em_ifelse which;
    LZ_TRY(kern_init_scalar(together, e, s->k));
    kern_share(together, c);
    em_ifelse_begin(e, &which, simt_sorts_long(s, c));
    simt_sort_body(s, together);
    em_ifelse_else(e, &which);
    simt_enter_sorts(s, c);
    simt_elementwise_body(s, c, NULL);
    em_ifelse_end(e, &which, 0, NULL, NULL, NULL);
    return LZ_OK;
}

static lz_status reduce_final(simt *s, kern *c, kern *many)
{
    (void)many;
    simt_reduce_final_body(s, c);
    return LZ_OK;
}

static lz_status serial(simt *s, kern *c, kern *many)
{
    (void)many;
    simt_serial_body(s, c);
    return LZ_OK;
}

static lz_status scatter(simt *s, kern *c, kern *many)
{
    (void)many;
    simt_scatter_body(s, c);
    return LZ_OK;
}

static lz_status transpose(simt *s, kern *c, kern *many)
{
    (void)many;
    simt_transpose_body(s, c);
    return LZ_OK;
}

/* One function: `body` between its start and its end. c is of single points; many is left to the
 * body. */
typedef lz_status simt_body(simt *s, kern *c, kern *many);
static lz_status emit_function(simt *s, simt_body *body)
{
    kern c, many = {0};
    lz_status st = kern_init_scalar(&c, s->e, s->k);
    if (st == LZ_OK) {
        simt_begin(s, &c);
        st = body(s, &c, &many);
        LLVMBuildRetVoid(s->e->b);
    }
    kern_done(&c);
    kern_done(&many);
    return st;
}

/* A reduction, and where it may be split between blocks the kernels behind the first. */
static lz_status emit_reduction(simt *s, simt_body *body)
{
    LZ_TRY(emit_function(s, body));
    for (lz_simt_entry i = SIMT_SECOND; i <= SIMT_FINAL; i++) {
        simt one = {.e = s->e, .k = s->k, .plan = s->plan, .entry = i};
        one.plan.max_block = SIMT_THREADS;
        if (lz_simt_entry_name(s->k, s->e->t, i))
            LZ_TRY(emit_function(&one, i == SIMT_FINAL ? reduce_final : body));
    }
    return LZ_OK;
}

/* ---- schedules.def ---- */

lz_status simt_emit_serial(simt *s)
{
    return emit_function(s, serial);
}

lz_status simt_emit_sort(simt *s)
{
    return emit_function(s, sort);
}

lz_status simt_emit_reduce_row(simt *s)
{
    return emit_reduction(s, reduce_row);
}

lz_status simt_emit_transpose(simt *s)
{
    return emit_function(s, transpose);
}

lz_status simt_emit_scatter(simt *s)
{
    return emit_function(s, scatter);
}

lz_status simt_emit_reduce_col(simt *s)
{
    return emit_reduction(s, reduce_col);
}

lz_status simt_emit_elementwise(simt *s)
{
    return emit_function(s, elementwise);
}

/* Back-to-back GEMMs: code for any sizes, and flash attention for most where the kernel suits. */
lz_status simt_emit_b2b(simt *s)
{
    for (lz_simt_entry i = SIMT_MAIN; i < SIMT_ENTRIES; i++) {
        simt one = *s;
        one.entry = i;
        if (!lz_simt_entry_name(s->k, s->e->t, i))
            continue;
        if (i == SIMT_MAIN) {
            LZ_TRY(simt_b2b_function(&one));
            continue;
        }
        one.plan.max_block = simt_flash_threads(s->k, i);
        one.plan.min_blocks = simt_flash_min_blocks(s->k, i);
        LZ_TRY(simt_flash_function(&one));
    }
    return LZ_OK;
}

lz_status lz_simt_emit(em *e, const lz_kernel *k)
{
#define SCHEDULE(target, ...) SCHEDULE_##target(__VA_ARGS__)
#define SCHEDULE_cpu(...)
#define SCHEDULE_gpu(id, name, suits, dims, emit, file, doc) emit,
    static lz_status (*const emitters[SIMT_KINDS])(simt *) = {
#include "codegen/schedules.def"
    };
    simt s = {.e = e, .k = k};
    if (lz_kernel_has_rows(k) && !lz_kernel_keeps_sums(k))
        return LZ_FAIL(LZ_EUNSUPPORTED, "kernel '%s': no code for rows on many threads", k->name);
    simt_plan_of(k, e->t, &s.plan);
    LZ_TRY(emitters[s.plan.kind](&s));
    return e->status;
}
