/* cost_model.c - time of products, of passes over memory, of collectives. See cost_model.h.
 *
 * Collectives, as in Thakur, Rabenseifner and Gropp, "Optimization of collective communication
 * operations in MPICH" (2005), and of tori as in "How to scale your model", ch. 3: an all_gather of
 * V bytes over n devices takes (n - 1) latencies and (n - 1) / n V / bandwidth around a ring, or
 * log2 n latencies at half of the bandwidth by doubling; a reduce_scatter the same backwards; an
 * all_reduce both, or, through trees, 2 log2 n latencies and 2 V / bandwidth. Groups over several
 * levels gather from the outermost level inwards, so that slow links carry the smallest part. */
#include "shard/cost/cost_model.h"
#include "ir/op.h"
#include <math.h>
#include <string.h>

/* ---- machines ---- */

static const lz_cost_machine machines[] = {
#define MACHINE(...) {__VA_ARGS__},
#include "shard/cost/machines.def"
};
enum { NMACHINE = sizeof machines / sizeof *machines };

const lz_cost_machine *lz_cost_machine_at(int i)
{
    return i >= 0 && i < NMACHINE ? &machines[i] : NULL;
}

const lz_cost_machine *lz_cost_machine_find(const char *name)
{
    for (int i = 0; i < NMACHINE; i++)
        if (strcmp(machines[i].name, name) == 0)
            return &machines[i];
    return NULL;
}

/* ---- compute ---- */

lz_cost_rate lz_cost_rate_of(lz_dtype d)
{
    int bits = lz_dtype_bits(lz_dtype_part(d));
    return bits > 32   ? LZ_RATE_F64
           : bits > 16 ? LZ_RATE_F32
           : bits > 8  ? LZ_RATE_F16
                       : LZ_RATE_8BIT;
}

double lz_cost_memory(const lz_cost_machine *c, double bytes)
{
    return bytes > 0 ? bytes / (c->memory_s * c->stream) + c->launch : 0;
}

/* Where a product is too small for all units, its sums are split (split-K), into at least so many
 * products each; where it is thinner than a tile, tiles are thinner, too. */
enum { LEAST_K = 512, LEAST_TILE = 16 };
static double tile_of(double extent, double tile)
{
    return extent < tile ? LEAST_TILE * ceil(extent / LEAST_TILE) : tile;
}

double lz_cost_product(const lz_cost_machine *c, lz_cost_rate rate, double batch, double m,
                       double n, double k, double bytes)
{
    double flop_s = c->flop_s[rate] * c->product;
    if (!(batch > 0 && m > 0 && n > 0 && k > 0) || !(flop_s > 0))
        return 0;
    double tile_m = tile_of(m, c->tile_m), tile_n = tile_of(n, c->tile_n);
    double tiles = batch * ceil(m / tile_m) * ceil(n / tile_n);
    double splits = fmax(1, fmin(floor(c->units / tiles), floor(k / LEAST_K)));
    double waves = ceil(tiles * splits / c->units) * c->units;
    double work = waves * tile_m * tile_n * 2 * (k / splits + c->fill) / flop_s;
    double moved = bytes / (c->memory_s * c->stream);
    return fmax(work, moved) + c->launch;
}

double lz_cost_attention(const lz_cost_machine *c, lz_cost_rate rate, double flops, double bytes)
{
    double flop_s = c->flop_s[rate] * c->attention;
    double moved = bytes / (c->memory_s * c->stream);
    return flops > 0 && flop_s > 0 ? fmax(flops / flop_s, moved) + c->launch : 0;
}

/* ---- where a mesh is ---- */

static int64_t largest_divisor(int64_t n, int64_t most)
{
    int64_t d = most < n ? most : n;
    while (d > 1 && n % d != 0)
        d--;
    return d > 1 ? d : 1;
}

/* Of n nodes a torus that is as near to a cube as its divisors allow, the shortest first. */
static void shape_torus(const lz_cost_machine *c, int64_t n, int64_t *out)
{
    for (int d = 0; d < LZ_COST_TORUS; d++) {
        int left = c->torus - d;
        int64_t most = left > 1 ? (int64_t)(pow((double)n, 1.0 / left) + 1e-9) : n;
        out[d] = left >= 1 ? largest_divisor(n, most) : 1;
        n /= out[d];
    }
}

/* The part of the machine that is left for axes: devices of a node, extents of the torus. */
typedef struct rest {
    int64_t left[LZ_LEVEL_COUNT];
} rest;

static int64_t axis_size(const lz_cost_place *p, int axis, const bool *placed)
{
    int64_t n = 1;
    for (int k = 0; k < p->mesh->nfactor; k++)
        if (p->mesh->factors[k].axis == axis && !placed[k])
            n *= p->mesh->factors[k].size;
    return n;
}

/* The levels inside the network, as bits, that are together as large as n; the fewest; all when
 * there are none. */
static uint32_t exact_levels(const rest *r, int64_t n)
{
    uint32_t best = (1u << LZ_LEVEL_NET) - 1;
    int fewest = LZ_LEVEL_COUNT;
    for (uint32_t set = 1; set < 1u << LZ_LEVEL_NET; set++) {
        int64_t size = 1;
        bool useful = true;
        for (int l = 0; l < LZ_LEVEL_NET; l++)
            if (set >> l & 1) {
                useful &= r->left[l] > 1;
                size *= r->left[l];
            }
        int count = __builtin_popcount(set);
        if (useful && size == n && count < fewest) {
            fewest = count;
            best = set;
        }
    }
    return best;
}

/* Factors of the axis that are not placed: each to the nearest of the levels that it divides. */
static void place_axis(lz_cost_place *p, int axis, uint32_t levels, rest *r, bool *placed)
{
    for (int k = p->mesh->nfactor; k-- > 0;) {
        int64_t n = p->mesh->factors[k].size;
        if (p->mesh->factors[k].axis != axis || placed[k])
            continue;
        int l = 0;
        while (l < LZ_LEVEL_NET && (!(levels >> l & 1) || r->left[l] % n != 0))
            l++;
        p->level[k] = (uint8_t)l;
        placed[k] = true;
        if (l < LZ_LEVEL_NET)
            r->left[l] /= n;
    }
}

/* What one torus does not hold: the first factors are along the network. Gives the devices of one
 * torus. */
static int64_t place_network(lz_cost_place *p, bool *placed)
{
    const lz_cost_machine *c = p->machine;
    int64_t devices = p->mesh->ndevice;
    for (int k = 0; k < p->mesh->nfactor && devices > c->pod * c->node; k++) {
        p->level[k] = LZ_LEVEL_NET;
        placed[k] = true;
        devices /= p->mesh->factors[k].size;
    }
    return devices;
}

void lz_cost_place_mesh(const lz_cost_machine *c, const lz_mesh *mesh, lz_cost_place *out)
{
    bool placed[LZ_MESH_FACTORS] = {false};
    rest r;
    *out = (lz_cost_place){.machine = c, .mesh = mesh};
    int64_t devices = c->torus ? place_network(out, placed) : mesh->ndevice;
    bool whole = c->torus || devices <= c->node; /* nodes that all have the same number of them */
    int64_t node = whole ? largest_divisor(devices, c->node) : c->node;
    shape_torus(c, c->torus ? devices / node : 1, out->torus);
    for (int l = 0; l < LZ_LEVEL_COUNT; l++)
        r.left[l] = l == LZ_LEVEL_NODE ? node
                    : l < LZ_LEVEL_NET ? out->torus[l - LZ_LEVEL_TORUS]
                                       : 1;
    for (int a = mesh->naxis; a-- > 0;)
        place_axis(out, a, exact_levels(&r, axis_size(out, a, placed)), &r, placed);
}

/* ---- collectives ---- */

/* The members of a group on one kind of link. */
typedef struct stage {
    double n, byte_s, latency, hops; /* hops: latencies around */
    double across; /* of a torus, where all send to all: bytes over its busiest link for each byte
                      of an operand */
    bool torus;
} stage;

static double level_size(const lz_cost_place *p, uint32_t axes, int level)
{
    double n = 1;
    for (int k = 0; k < p->mesh->nfactor; k++)
        if (axes >> k & 1 && p->level[k] == level)
            n *= (double)p->mesh->factors[k].size;
    return n;
}

static stage switch_stage(double n, double byte_s, double latency)
{
    return (stage){.n = n, .byte_s = byte_s, .latency = latency, .hops = n - 1};
}

/* All dimensions at once: a ring sends both ways, what is no ring one way. */
static stage torus_stage(const lz_cost_place *p, uint32_t axes)
{
    const lz_cost_machine *c = p->machine;
    stage s = {.n = 1, .latency = c->link_latency, .torus = true};
    for (int d = 0; d < LZ_COST_TORUS; d++) {
        double n = level_size(p, axes, LZ_LEVEL_TORUS + d);
        if (n <= 1)
            continue;
        bool ring = n == (double)p->torus[d] && p->torus[d] >= c->wrap;
        s.n *= n;
        s.byte_s += (ring ? 2 : 1) * c->link_s * c->link;
        s.hops += ring ? n / 2 : n - 1;
        s.across = fmax(s.across, n / (ring ? 8 : 4));
    }
    return s;
}

enum { STAGES = 3 };

/* From the outermost level inwards. */
static void find_stages(const lz_cost_place *p, uint32_t axes, stage out[STAGES])
{
    const lz_cost_machine *c = p->machine;
    out[0] = switch_stage(level_size(p, axes, LZ_LEVEL_NET), c->net_s * c->link, c->net_latency);
    out[1] = torus_stage(p, axes);
    out[2] = switch_stage(level_size(p, axes, LZ_LEVEL_NODE), c->node_s * c->link, c->node_latency);
}

/* An all_gather whose result is of `bytes`. */
static double gather_stage(const stage *s, double bytes)
{
    double moved = (s->n - 1) / s->n * bytes / s->byte_s;
    double ring = s->hops * s->latency + moved;
    double doubling = ceil(log2(s->n)) * s->latency + 2 * moved;
    return s->torus ? ring : fmin(ring, doubling);
}

static double gather(const stage *s, double bytes)
{
    double all = s[0].n * s[1].n * s[2].n, t = 0, have = bytes / all;
    for (int i = 0; i < STAGES; i++) {
        have *= s[i].n;
        t += s[i].n > 1 ? gather_stage(&s[i], have) : 0;
    }
    return t;
}

static double reduce(const stage *s, double bytes)
{
    double rings = 2 * gather(s, bytes), trees = 0, slowest = INFINITY;
    for (int i = 0; i < STAGES; i++)
        if (s[i].n > 1) {
            trees += 2 * s[i].latency * (s[i].torus ? s[i].hops : ceil(log2(s[i].n)));
            slowest = fmin(slowest, s[i].byte_s);
        }
    return fmin(rings, trees + 2 * bytes / slowest);
}

/* Everybody sends a part to everybody: the busiest level counts. */
static double exchange(const lz_cost_place *p, const stage *s, double bytes)
{
    double t = 0, link_s = p->machine->link_s * p->machine->link;
    for (int i = 0; i < STAGES; i++) {
        if (s[i].n <= 1)
            continue;
        double link = s[i].torus ? bytes * s[i].across / link_s : 0;
        double moved = (s[i].n - 1) / s[i].n * bytes / s[i].byte_s;
        t = fmax(t, s[i].latency * (s[i].torus ? s[i].hops : 1) + fmax(link, moved));
    }
    return t;
}

/* One message, over the slowest links that groups have. */
static double permute(const lz_cost_place *p, const stage *s, double bytes)
{
    double link_s = p->machine->link_s * p->machine->link;
    for (int i = 0; i < STAGES; i++)
        if (s[i].n > 1)
            return s[i].latency + bytes / (s[i].torus ? link_s : s[i].byte_s);
    return 0;
}

double lz_cost_collective(const lz_cost_place *p, lz_op kind, uint32_t axes, double bytes)
{
    stage s[STAGES];
    find_stages(p, axes, s);
    if (s[0].n * s[1].n * s[2].n <= 1)
        return 0;
    switch (kind) {
    case LZ_OP_ALL_REDUCE:
        return reduce(s, bytes);
    case LZ_OP_ALL_TO_ALL:
        return exchange(p, s, bytes);
    case LZ_OP_COLLECTIVE_PERMUTE:
        return permute(p, s, bytes);
    default: /* all_gather, reduce_scatter; a broadcast is a scatter and a gather in a pipeline */
        return gather(s, bytes);
    }
}

/* ---- pipelines ---- */

double lz_cost_bubble(double stages, double chunks)
{
    return (stages - 1) / chunks;
}
