/* rules_move.c - sharding rules of what moves data, of random bits and of what is among
 * participants. See rule_make.h. */
#include "shard/rule_make.h"

/* ---- dimensions that stay, or do not ---- */

void lz_shard_bitcast(lz_rule_make *m)
{
    int in = lz_rule_shape(m, 0)->rank, out = lz_rule_shape(m, 1)->rank;
    for (int d = 0; d < in && d < out; d++)
        lz_rule_pair(m, 0, d, 1, d, LZ_FACTOR_GATHER);
    for (int d = out; d < in; d++) /* the parts of an element */
        lz_rule_alone(m, 0, d, LZ_FACTOR_GATHER);
    for (int d = in; d < out; d++)
        lz_rule_alone(m, 1, d, LZ_FACTOR_GATHER);
    m->r->elementwise = in == out;
}

/* What one element is spread over needs no sharding: each use makes its part of it. */
void lz_shard_broadcast(lz_rule_make *m)
{
    const lz_attr_broadcast *a = LZ_ATTR(broadcast, m->sig->attr);
    const lz_shape *in = lz_rule_shape(m, 0), *out = lz_rule_shape(m, 1);
    uint32_t mapped = 0;
    for (int d = 0; d < in->rank; d++) {
        int64_t to = a->broadcast_dimensions.v[d];
        if (in->dims[d] != out->dims[to]) {
            lz_rule_alone(m, 0, d, LZ_FACTOR_PASS);
            continue;
        }
        mapped |= UINT32_C(1) << to;
        lz_rule_pair(m, 0, d, 1, to, LZ_FACTOR_PASS);
    }
    for (int d = 0; d < out->rank; d++)
        if (!(mapped >> d & 1))
            lz_rule_alone(m, 1, d, LZ_FACTOR_PASS);
    m->r->expands = true;
    m->r->free_result = m->sig->opnd[0]->nelem == 1;
}

/* Parts of the result lie at other places than those of the operands: neighbours exchange. */
void lz_shard_concatenate(lz_rule_make *m)
{
    const lz_attr_dim *a = LZ_ATTR(dim, m->sig->attr);
    uint32_t out = lz_rule_result(m, 0);
    const lz_shape *s = lz_rule_shape(m, out);
    for (int d = 0; d < s->rank; d++) {
        int f = lz_rule_add(m, d == a->dimension ? LZ_FACTOR_PERMUTE : LZ_FACTOR_PASS, s->dims[d]);
        for (uint32_t t = 0; t <= out; t++)
            lz_rule_put(m, t, d, f);
    }
}

void lz_shard_pad(lz_rule_make *m)
{
    const lz_attr_pad *a = LZ_ATTR(pad, m->sig->attr);
    uint32_t out = lz_rule_result(m, 0);
    for (int d = 0; d < lz_rule_shape(m, out)->rank; d++) {
        int f = lz_rule_pair(m, 0, d, out, d, LZ_FACTOR_PERMUTE);
        if (a->edge_padding_low.v[d] || a->edge_padding_high.v[d] || a->interior_padding.v[d])
            m->r->factors[f].kind = LZ_FACTOR_PERMUTE;
    }
}

void lz_shard_slice(lz_rule_make *m)
{
    for (int d = 0; d < lz_rule_shape(m, 0)->rank; d++)
        lz_rule_pair(m, 0, d, 1, d, LZ_FACTOR_PERMUTE);
}

void lz_shard_reverse(lz_rule_make *m)
{
    const lz_attr_dims *a = LZ_ATTR(dims, m->sig->attr);
    for (int d = 0; d < lz_rule_shape(m, 0)->rank; d++) {
        int f = lz_rule_pair(m, 0, d, 1, d, LZ_FACTOR_PASS);
        if (lz_ints_has(&a->dimensions, d))
            m->r->factors[f].kind = LZ_FACTOR_PERMUTE;
    }
}

void lz_shard_transpose(lz_rule_make *m)
{
    const lz_attr_perm *a = LZ_ATTR(perm, m->sig->attr);
    m->r->elementwise = true;
    for (int d = 0; d < a->permutation.n; d++)
        lz_rule_pair(m, 0, a->permutation.v[d], 1, d, LZ_FACTOR_PASS);
}

/* ---- reshape ---- */

typedef struct walk {
    const lz_shape *shape;
    uint32_t tensor;
    int d;        /* the dimension */
    int64_t left; /* of its extent */
    int64_t done; /* the product of what is before, since both sides met */
} walk;

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t t = a % b;
        a = b;
        b = t;
    }
    return a;
}

/* To the next dimension of which something is left; false: there is none. */
static bool walk_on(walk *w)
{
    while (w->left == 1)
        if (++w->d >= w->shape->rank)
            return false;
        else
            w->left = w->shape->dims[w->d];
    return true;
}

static void walk_take(lz_rule_make *m, walk *w, int factor, int64_t size)
{
    lz_rule_put(m, w->tensor, w->d, factor);
    w->left /= size;
    w->done *= size;
}

/* Where the products differ, factors are of the side that is behind: as much as lets the two meet,
 * when that divides. */
static void walk_alone(lz_rule_make *m, walk *behind, const walk *ahead)
{
    int64_t size = behind->left;
    if (ahead->done % behind->done == 0) {
        int64_t g = gcd(size, ahead->done / behind->done);
        if (g > 1)
            size = g;
    }
    walk_take(m, behind, lz_rule_add(m, LZ_FACTOR_GATHER, size), size);
}

void lz_shard_reshape(lz_rule_make *m)
{
    walk in = {lz_rule_shape(m, 0), 0, -1, 1, 1}, out = {lz_rule_shape(m, 1), 1, -1, 1, 1};
    m->r->elementwise = true;
    if (m->sig->opnd[0]->nelem == 0)
        return;
    for (;;) {
        bool more_in = walk_on(&in), more_out = walk_on(&out);
        if (!more_in && !more_out)
            return;
        int64_t both = in.done == out.done ? gcd(in.left, out.left) : 1;
        if (both > 1) {
            int f = lz_rule_add(m, LZ_FACTOR_PASS, both);
            walk_take(m, &in, f, both);
            walk_take(m, &out, f, both);
            in.done = out.done = 1;
        } else if (more_in && (!more_out || in.done <= out.done)) {
            walk_alone(m, &in, &out);
        } else {
            walk_alone(m, &out, &in);
        }
    }
}

/* ---- random numbers: of an element's place, which every device knows ---- */

void lz_shard_rng(lz_rule_make *m)
{
    lz_rule_alone(m, 0, 0, LZ_FACTOR_GATHER);
    lz_rule_alone(m, 1, 0, LZ_FACTOR_GATHER);
    for (int d = 0; d < lz_rule_shape(m, 2)->rank; d++)
        lz_rule_alone(m, 2, d, LZ_FACTOR_PASS);
    m->r->factors[0].blocked = m->r->factors[1].blocked = true;
}

/* ---- among participants along manual axes: their dimension is whole along the others ---- */

static void but_dims(lz_rule_make *m, int64_t a, int64_t b)
{
    for (uint32_t k = 0; k < m->sig->nopnd; k++)
        for (int d = 0; d < lz_rule_shape(m, k)->rank; d++)
            if (d != a && d != b)
                lz_rule_pair(m, k, d, lz_rule_result(m, k), d, LZ_FACTOR_GATHER);
            else {
                lz_rule_alone(m, k, d, LZ_FACTOR_GATHER);
                lz_rule_alone(m, lz_rule_result(m, k), d, LZ_FACTOR_GATHER);
            }
}

void lz_shard_all_gather(lz_rule_make *m)
{
    int64_t d = LZ_ATTR(all_gather, m->sig->attr)->all_gather_dim;
    but_dims(m, d, d);
}

void lz_shard_all_to_all(lz_rule_make *m)
{
    const lz_attr_all_to_all *a = LZ_ATTR(all_to_all, m->sig->attr);
    but_dims(m, a->split_dimension, a->concat_dimension);
}

void lz_shard_reduce_scatter(lz_rule_make *m)
{
    int64_t d = LZ_ATTR(reduce_scatter, m->sig->attr)->scatter_dimension;
    but_dims(m, d, d);
}
