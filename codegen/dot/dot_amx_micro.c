/* dot_amx_micro.c - GEMM on AMX tiles: the micro-kernel, 2 x 2 tiles of sums over a range of k, and
 * the configuration of the tiles.
 * The tiles' numbers are constants of the instructions: the register allocator knows nothing of
 * them, and nothing is moved across them. Tiles 0 to 3 are sums, 4 and 5 rows of A, 6 and 7 columns
 * of B. B comes from the L2 cache, by loads that leave the L1 to A.
 * Threads: belongs to one thread. */
#include "codegen/dot/dot_amx.h"
#include <string.h>

enum { TILE_A = 4, TILE_B = 6 };

static Val number(em *e, unsigned tile)
{
    return LLVMConstInt(e->i8, tile, 0);
}

static void zero(em *e, unsigned tile)
{
    em_intr(e, "llvm.x86.tilezero", NULL, 0, (Val[]){number(e, tile)}, 1);
}

static void load(em *e, unsigned tile, Val p, Val stride)
{
    em_intr(e, "llvm.x86.tileloadd64", NULL, 0, (Val[]){number(e, tile), p, stride}, 3);
}

static void load_past_l1(em *e, unsigned tile, Val p, Val stride)
{
    em_intr(e, "llvm.x86.tileloaddt164", NULL, 0, (Val[]){number(e, tile), p, stride}, 3);
}

static void store(em *e, unsigned tile, Val p, Val stride)
{
    em_intr(e, "llvm.x86.tilestored64", NULL, 0, (Val[]){number(e, tile), p, stride}, 3);
}

static void multiply(const amx *g, unsigned sum, unsigned a, unsigned b)
{
    static const char *const bytes[2][2] = {{"llvm.x86.tdpbuud", "llvm.x86.tdpbusd"},
                                            {"llvm.x86.tdpbsud", "llvm.x86.tdpbssd"}};
    em *e = g->e;
    const char *name = g->words == 1 ? "llvm.x86.tdpbf16ps" : bytes[g->a_signed][g->b_signed];
    em_intr(e, name, NULL, 0, (Val[]){number(e, sum), number(e, a), number(e, b)}, 3);
}

/* Tile i, j of sums at p, whose rows are `stride` apart. */
static Val sums_at(em *e, Val p, Val stride, unsigned i, unsigned j)
{
    Val row = i ? em_at(e, p, MUL(stride, em_c64(e, AMX_SIDE)), 1) : p;
    return em_at(e, row, em_c64(e, j), AMX_LINE);
}

static void start_sums(const amx *g, unsigned mt, Val from)
{
    em *e = g->e;
    Val stride = em_c64(e, (int64_t)g->nv * AMX_LINE);
    em_ifelse s;
    em_ifelse_begin(e, &s, ICMP(EQ, from, LLVMConstNull(e->ptr)));
    for (unsigned q = 0; q < mt * g->nv; q++)
        zero(e, q);
    em_ifelse_else(e, &s);
    for (unsigned q = 0; q < mt * g->nv; q++)
        load(e, q, sums_at(e, from, stride, q / g->nv, q % g->nv), stride);
    em_ifelse_end(e, &s, 0, NULL, NULL, NULL);
}

/* Each tile is loaded where the first product wants it. */
static void step(const amx *g, unsigned mt, Val a, Val a_stride, Val b)
{
    em *e = g->e;
    Val line = em_c64(e, AMX_LINE);
    for (unsigned i = 0; i < mt; i++)
        for (unsigned j = 0; j < g->nv; j++) {
            if (i == 0)
                load_past_l1(e, TILE_B + j, em_at(e, b, em_c64(e, j), AMX_TILE), line);
            if (j == 0)
                load(e, TILE_A + i, i ? em_at(e, a, MUL(a_stride, em_c64(e, AMX_SIDE)), 1) : a,
                     a_stride);
            multiply(g, i * g->nv + j, TILE_A + i, TILE_B + j);
        }
}

void amx_tile(amx *g, unsigned mt, const Val *p, void (*beside)(amx *g, Val step, void *user),
              void *user)
{
    em *e = g->e;
    em_loop l;
    start_sums(g, mt, p[AMX_FROM]);
    em_loop_begin(e, &l, em_c64(e, 0), p[AMX_STEPS], em_c64(e, 1), 2, (Val[]){p[AMX_A], p[AMX_B]});
    step(g, mt, l.phi[0], p[AMX_A_STRIDE], l.phi[1]);
    if (beside)
        beside(g, l.i, user);
    em_loop_end(e, &l,
                (Val[]){em_at(e, l.phi[0], p[AMX_A_STEPS], 1),
                        em_at(e, l.phi[1], em_c64(e, g->nv), AMX_TILE)});
    Val stride = em_c64(e, (int64_t)g->nv * AMX_LINE);
    for (unsigned q = 0; q < mt * g->nv; q++)
        store(e, q, sums_at(e, p[AMX_TO], stride, q / g->nv, q % g->nv), stride);
}

static Val emit_one(amx *g, unsigned mt, const char *name)
{
    em *e = g->e;
    Ty i = e->i64, args[AMX_ARGS] = {e->ptr, i, i, e->ptr, i, e->ptr, e->ptr};
    Val f = em_shared_func(e, name, e->none, args, AMX_ARGS), p[AMX_ARGS];
    for (unsigned q = 0; q < AMX_ARGS; q++)
        p[q] = LLVMGetParam(f, q);
    amx_tile(g, mt, p, NULL, NULL);
    LLVMBuildRetVoid(e->b);
    return em_shared_end(e, f);
}

void amx_emit_micro(amx *g)
{
    g->micro[0] = emit_one(g, 2, "tile");
    g->micro[1] = emit_one(g, 1, "tile_low");
}

void amx_call_micro(amx *g, Val low, const Val *args)
{
    em *e = g->e;
    em_ifelse s;
    em_ifelse_begin(e, &s, low);
    for (int i = 1; i >= 0; i--) {
        LLVMBuildCall2(e->b, LLVMGlobalGetValueType(g->micro[i]), g->micro[i], (Val *)args,
                       AMX_ARGS, "");
        if (i)
            em_ifelse_else(e, &s);
    }
    em_ifelse_end(e, &s, 0, NULL, NULL, NULL);
}

/* Palette 1, eight whole tiles: bytes of a row from byte 16 on, 2 each, rows from byte 48 on. */
void amx_configure(amx *g)
{
    enum { TILES = 8, COLUMNS = 16, ROWS = 48, BYTES = 64 };
    em *e = g->e;
    Val b[BYTES];
    for (unsigned i = 0; i < BYTES; i++)
        b[i] = number(e, 0);
    b[0] = number(e, 1);
    for (unsigned i = 0; i < TILES; i++) {
        b[COLUMNS + 2 * i] = number(e, AMX_LINE);
        b[ROWS + i] = number(e, AMX_SIDE);
    }
    Ty t = em_vec(e->i8, BYTES);
    Val at = em_alloca(e, t, 1, BYTES);
    em_store(e, LLVMConstVector(b, BYTES), at, BYTES);
    em_intr(e, "llvm.x86.ldtilecfg", NULL, 0, &at, 1);
}

void amx_release(amx *g)
{
    em_intr(g->e, "llvm.x86.tilerelease", NULL, 0, NULL, 0);
}
