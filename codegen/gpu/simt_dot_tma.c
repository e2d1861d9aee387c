/* simt_dot_tma.c - GEMM: the persistent, warp-specialized kernel with TMA loads
 * (cp.async.bulk.tensor) and wgmma, compute capability 9.0. See simt_dot.h.
 *
 * One block a multiprocessor, tile after tile. A thread of the producer warpgroup requests the
 * boxes of a k-tile as soon as a stage is empty; the consumer warpgroups multiply it as soon as the
 * stage is full. K-tiles are counted from tile to tile: k-tile i goes to stage i mod stages, for
 * the (i / stages)-th time. So nobody waits between tiles, and the stages are full again when the
 * epilogue of a tile is done. mbarriers, two per stage: "full" completes a phase when one thread
 * has arrived, which says how many bytes will come, and when these have come; "empty" when every
 * consumer warp has arrived. Waiting names the parity of the phase; at first, stages are empty
 * although nobody has arrived: a phase of the other parity counts as completed. Clusters: two
 * blocks may run together, their tiles one below the other, so that they need the same boxes of B
 * (swap_ab: side by side, the same boxes of A). Each requests half of these, multicast to both; a
 * stage is then empty when the warps of both blocks have arrived. Whether they do is the launch's
 * to say. f32 is rounded to tf32 by the copies (CU_MAP_TF32). Threads: belongs to one thread. */
#include "codegen/gpu/simt_dot.h"
#include <string.h>

/* Registers of a thread, of 65536 in all: 128 that copy, 256 that multiply. */
enum { REGISTERS_COPY = 40, REGISTERS_MULTIPLY = 232 };

/* ---- instructions ---- */

/* A place in shared memory as an operand: 32 bits; emulated: its address. */
static Val place(gemm *t, Val at)
{
    em *e = t->e;
    if (!e->nvptx)
        return em_at(e, t->s->shared, at, 1);
    Val start = LLVMBuildPtrToInt(e->b, t->s->shared, e->i32, "");
    return ADD(start, LLVMBuildTrunc(e->b, at, e->i32, ""));
}

static void barrier_init(gemm *t, Val at, Val arrivals)
{
    em *e = t->e;
    Val a[2] = {place(t, at), LLVMBuildTrunc(e->b, arrivals, e->i32, "")};
    if (e->nvptx)
        em_asm(e, "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,~{memory}", e->none, a, 2, true);
    else
        em_call(e, "lz_simt_phase_init", e->none, a, 2);
}

/* The inits are seen by the copies, and by other blocks once these have met this one. */
static void barriers_ready(gemm *t)
{
    em *e = t->e;
    if (e->nvptx)
        em_asm(e, "fence.mbarrier_init.release.cluster;", "~{memory}", e->none, NULL, 0, true);
}

/* All threads of the cluster. */
static void meet_cluster(gemm *t)
{
    em *e = t->e;
    if (e->nvptx)
        em_asm(e, "barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;", "~{memory}",
               e->none, NULL, 0, true);
    else
        em_call(e, "lz_simt_cluster_barrier", e->none, &t->s->thread, 1);
}

/* At the barrier of block `rank` of the cluster that is where this block's is. */
static void arrive_there(gemm *t, Val at, Val rank)
{
    em *e = t->e;
    Val a[2] = {place(t, at), LLVMBuildTrunc(e->b, rank, e->i32, "")};
    if (e->nvptx)
        em_asm(e,
               "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, $0, $1;\n"
               "mbarrier.arrive.shared::cluster.b64 _, [there];\n}",
               "r,r,~{memory}", e->none, a, 2, true);
    else
        em_call(e, "lz_simt_phase_arrive", e->none, (Val[]){t->s->thread, a[0], a[1]}, 3);
}

/* Arrives; `bytes` will come by copies. */
static void arrive_expecting(gemm *t, Val at, uint32_t bytes)
{
    em *e = t->e;
    Val a[2] = {place(t, at), em_c32(e, bytes)};
    if (e->nvptx)
        em_asm(e, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r,~{memory}",
               e->none, a, 2, true);
    else
        em_call(e, "lz_simt_phase_expect", e->none, a, 2);
}

/* Until the phase of this parity is over. */
static void wait_phase(gemm *t, Val at, Val parity)
{
    em *e = t->e;
    Val a[2] = {place(t, at), LLVMBuildTrunc(e->b, parity, e->i32, "")};
    static const char text[] = "{\n.reg .pred over;\nagain:\n"
                               "mbarrier.try_wait.parity.shared::cta.b64 over, [$0], $1;\n"
                               "@over bra done;\nbra again;\ndone:\n}";
    if (e->nvptx)
        em_asm(e, text, "r,r,~{memory}", e->none, a, 2, true);
    else
        em_call(e, "lz_simt_phase_wait", e->none, (Val[]){t->s->thread, a[0], a[1]}, 3);
}

/* The box at these coordinates of `map` to byte `to`; `full` learns how much has come. all: of
 * every block of the cluster, likewise. */
static void copy_box(gemm *t, Val map, Val to, Val full, const Val *at, uint32_t rank, bool all)
{
    em *e = t->e;
    Val a[4 + SIMT_MAP_RANK] = {place(t, to), map, place(t, full)}, mask;
    lz_buf text = {0}, form = {0};
    lz_buf_printf(&text,
                  "cp.async.bulk.tensor.%ud.shared::cluster.global.mbarrier::complete_tx::bytes%s "
                  "[$0], [$1, {",
                  rank, all ? ".multicast::cluster" : "");
    lz_buf_puts(&form, "r,l,r,");
    for (uint32_t i = 0; i < SIMT_MAP_RANK; i++) {
        a[3 + i] = i < rank ? LLVMBuildTrunc(e->b, at[i], e->i32, "") : em_c32(e, 0);
        if (i < rank)
            lz_buf_printf(&text, "%s$%u", i ? ", " : "", 3 + i);
        if (i < rank)
            lz_buf_puts(&form, "r,");
    }
    lz_buf_printf(&text, all ? "}], [$2], $%u;" : "}], [$2];", 3 + rank);
    lz_buf_puts(&form, all ? "h,~{memory}" : "~{memory}");
    mask = LLVMConstInt(e->i16, (1u << SIMT_CLUSTER) - 1, 0);
    if (text.failed || form.failed) {
        e->status = LZ_FAIL(LZ_EMEM, "code generation of '%s': no memory", t->k->name);
    } else if (e->nvptx) {
        a[3 + rank] = mask;
        em_asm(e, lz_buf_str(&text), lz_buf_str(&form), e->none, a, 3 + rank + all, true);
    } else {
        Val emulated[5 + SIMT_MAP_RANK] = {t->s->thread, em_c32(e, all)};
        memcpy(emulated + 2, a, (3 + SIMT_MAP_RANK) * sizeof *a);
        em_call(e, "lz_simt_copy_box", e->none, emulated, 5 + SIMT_MAP_RANK);
    }
    lz_buf_free(&text);
    lz_buf_free(&form);
}

/* Registers are taken from those that need few. */
static void set_registers(gemm *t, bool more)
{
    em *e = t->e;
    Val n = em_c32(e, more ? REGISTERS_MULTIPLY : REGISTERS_COPY);
    if (e->nvptx)
        em_intr(e,
                more ? "llvm.nvvm.setmaxnreg.inc.sync.aligned.u32"
                     : "llvm.nvvm.setmaxnreg.dec.sync.aligned.u32",
                NULL, 0, &n, 1);
}

/* A number that is the same for all threads of a warp, so that the assembler knows. */
static Val uniform(gemm *t, Val v)
{
    em *e = t->e;
    if (!e->nvptx)
        return v;
    Val a[4] = {em_c32(e, -1), LLVMBuildTrunc(e->b, v, e->i32, ""), em_c32(e, 0),
                em_c32(e, SIMT_WARP - 1)};
    return LLVMBuildZExt(e->b, em_intr(e, "llvm.nvvm.shfl.sync.idx.i32", NULL, 0, a, 4), e->i64,
                         "");
}

/* ---- stages ---- */

typedef struct stage {
    Val at; /* byte that it starts at */
    Val full, empty;
    Val parity; /* of the phase in which it is loaded this time */
} stage;

/* Of k-tile i of all that the block has. */
static stage stage_of(gemm *t, Val i)
{
    em *e = t->e;
    unsigned n = t->p.stages; /* a power of two */
    Val s = AND(i, em_c64(e, n - 1)), turn = LLVMBuildUDiv(e->b, i, em_c64(e, n), "");
    int64_t barriers = gemm_barriers_at(&t->p, t->esize);
    Val full = ADD(MUL(s, em_c64(e, 2 * GEMM_BARRIER)), em_c64(e, barriers));
    return (stage){.at = MUL(s, em_c64(e, gemm_stage_bytes(&t->p))),
                   .full = full,
                   .empty = ADD(full, em_c64(e, GEMM_BARRIER)),
                   .parity = AND(turn, em_c64(e, 1))};
}

static void init_barriers(gemm *t)
{
    em *e = t->e;
    em_if first;
    em_if_begin(e, &first, ICMP(EQ, t->s->tid, em_c64(e, 0)));
    for (unsigned i = 0; i < t->p.stages; i++) {
        stage s = stage_of(t, em_c64(e, i));
        barrier_init(t, s.full, em_c64(e, 1));
        barrier_init(t, s.empty, MUL(t->s->ranks, em_c64(e, t->p.threads / SIMT_WARP)));
    }
    barriers_ready(t);
    em_if_end(e, &first, 0, NULL, NULL, NULL);
    meet_cluster(t);
}

/* ---- copying ---- */

/* The TMA boxes of an operand's k-tile: rows along k, so many of them; or so many elements along
 * the result. */
typedef struct boxes {
    Val map, at[SIMT_MAP_RANK];
    uint32_t rank, along; /* along: the coordinate that differs */
    unsigned n, apart;    /* elements along it */
    int64_t bytes;        /* of one */
} boxes;

/* Of the k-tile that starts at k0 of the last inner loop. */
static void boxes_of(gemm *t, const gemm_factor *f, Val map, Val k0, boxes *b)
{
    uint32_t loops[SIMT_MAP_RANK], box[2];
    *b = (boxes){.map = map, .rank = gemm_tensor_map_loops(t->k, f->sop, f->loop, loops)};
    for (uint32_t i = 0; i < b->rank; i++)
        b->at[i] = loops[i] == f->loop                ? f->x0
                   : loops[i] == t->k->nouter + t->ki ? k0
                   : loops[i] < t->k->nouter          ? f->one.oidx[loops[i]]
                                                      : f->one.iidx[loops[i] - t->k->nouter];
    b->along = loops[1] == f->loop;
    gemm_tma_box(&t->p, b->along, box);
    b->apart = box[b->along];
    b->n = f->x / b->apart;
    b->bytes = (int64_t)box[1] * GEMM_ROW;
}

/* `n` of the boxes, from the one with this number. */
static void load_boxes(gemm *t, const gemm_factor *f, const boxes *b, Val first, unsigned n,
                       const stage *s, bool all)
{
    em *e = t->e;
    Val at[SIMT_MAP_RANK];
    memcpy(at, b->at, sizeof at);
    for (unsigned i = 0; i < n; i++) {
        Val which = ADD(first, em_c64(e, i));
        Val to = ADD(ADD(s->at, em_c64(e, f->first)), MUL(which, em_c64(e, b->bytes)));
        at[b->along] = ADD(b->at[b->along], MUL(which, em_c64(e, b->apart)));
        copy_box(t, b->map, to, s->full, at, b->rank, all);
    }
}

/* All of the factor's that is this block's own. Of the one that the cluster shares a half, which go
 * to both blocks. */
static void load_k_tile(gemm *t, Val k0, const stage *s)
{
    em *e = t->e;
    em_ifelse which;
    unsigned own = t->p.swap_ab ? 1 : 0;
    const gemm_factor *f[2] = {&t->a, &t->b}, *one = f[own], *both = f[!own];
    boxes a, b;
    Val none = em_c64(e, 0);
    boxes_of(t, one, t->s->map[own], k0, &a);
    boxes_of(t, both, t->s->map[!own], k0, &b);
    load_boxes(t, one, &a, none, a.n, s, false);
    em_ifelse_begin(e, &which, ICMP(EQ, t->s->ranks, em_c64(e, 1)));
    load_boxes(t, both, &b, none, b.n, s, false);
    em_ifelse_else(e, &which);
    Val half = em_c64(e, b.n / SIMT_CLUSTER);
    load_boxes(t, both, &b, MUL(t->s->rank, half), b.n / SIMT_CLUSTER, s, true);
    em_ifelse_end(e, &which, 0, NULL, NULL, NULL);
}

/* The producer's loop: all k-tiles of a tile, after `before` ones of earlier tiles; gives how many
 * there were then. */
static Val produce_k_tiles(gemm *t, Val slice, Val before)
{
    em *e = t->e;
    em_loop l;
    Val first, end;
    gemm_k_tiles_of_slice(t, slice, &first, &end);
    em_loop_begin(e, &l, first, end, em_c64(e, 1), 0, NULL);
    stage s = stage_of(t, ADD(before, SUB(l.i, first)));
    wait_phase(t, s.empty, XOR(s.parity, em_c64(e, 1)));
    arrive_expecting(t, s.full, gemm_stage_bytes(&t->p));
    load_k_tile(t, gemm_locate_k_tile(t, l.i), &s);
    em_loop_end(e, &l, NULL);
    return ADD(before, SUB(end, first));
}

/* ---- the consumer warpgroups ---- */

/* This warp has multiplied k-tile i, if `when`: a lane for every block of the cluster says so
 * there. */
static void release(gemm *t, Val i, Val when)
{
    em *e = t->e;
    em_if some;
    em_if_begin(e, &some, AND(ICMP(SLT, t->lane, t->s->ranks), when));
    arrive_there(t, stage_of(t, i).empty, t->lane);
    em_if_end(e, &some, 0, NULL, NULL, NULL);
}

/* The main loop: one k-block is being multiplied while the next one is waited for. */
static Val mainloop_tma(gemm *t, Val slice, Val before)
{
    em *e = t->e;
    unsigned n = gemm_nacc(t);
    Val sum[GEMM_ACC], next[GEMM_ACC], first, end;
    gemm_k_tiles_of_slice(t, slice, &first, &end);
    for (unsigned i = 0; i < n; i++)
        sum[i] = LLVMConstNull(t->elem);
    em_loop l;
    em_loop_begin(e, &l, first, end, em_c64(e, 1), (int)n, sum);
    Val i = ADD(before, SUB(l.i, first));
    stage s = stage_of(t, i);
    for (unsigned j = 0; j < n; j++)
        next[j] = l.phi[j];
    wait_phase(t, s.full, s.parity);
    for (unsigned k = 0; k < gemm_wgmma_k_blocks(&t->p); k++) {
        gemm_wgmma_multiply(t, s.at, k, next);
        gemm_wgmma_wait(t, next, 1);
        if (k == 0)
            release(t, SUB(i, em_c64(e, 1)), ICMP(SGT, l.i, first));
    }
    em_loop_end(e, &l, next);
    for (unsigned j = 0; j < n; j++)
        sum[j] = l.phi[j];
    gemm_wgmma_wait(t, sum, 0);
    Val all = ADD(before, SUB(end, first));
    release(t, SUB(all, em_c64(e, 1)), ICMP(SGT, end, first));
    gemm_epilogue(t, t->a.x0, t->b.x0, sum);
    return all;
}

void gemm_tma_body(gemm *t)
{
    em *e = t->e;
    em_ifelse which;
    em_if one;
    init_barriers(t);
    Val group = uniform(t, gemm_warpgroup(t)), groups = em_c64(e, t->p.threads / GEMM_WARPGROUP);
    t->down = group;
    em_ifelse_begin(e, &which, ICMP(EQ, group, groups));
    set_registers(t, false);
    em_if_begin(e, &one, ICMP(EQ, t->s->tid, em_c64(e, t->p.threads)));
    gemm_each(t, produce_k_tiles);
    em_if_end(e, &one, 0, NULL, NULL, NULL);
    em_ifelse_else(e, &which);
    set_registers(t, true);
    t->s->together = t->p.threads;
    gemm_each(t, mainloop_tma);
    t->s->together = 0;
    em_ifelse_end(e, &which, 0, NULL, NULL, NULL);
    meet_cluster(t); /* until then another block may write here, and tell of it */
}
