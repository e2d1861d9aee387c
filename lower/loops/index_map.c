/* index_map.c - index maps through movement ops. See index_map.h. */
#include "lower/loops/index_map.h"
#include <string.h>

bool lz_ix_add(lz_ix *a, const lz_ix *b, int64_t scale)
{
    a->c += scale * b->c;
    for (int l = 0; l < LZ_LOOP_MAX; l++)
        a->k[l] += scale * b->k[l];
    for (int i = 0; i < b->ndyn; i++) {
        int j = 0;
        while (j < a->ndyn && a->dyn[j].sop != b->dyn[i].sop)
            j++;
        if (j == a->ndyn) {
            if (j == LZ_IX_DYN)
                return false;
            a->dyn[j].sop = b->dyn[i].sop;
            a->dyn[j].scale = 0;
            a->ndyn++;
        }
        a->dyn[j].scale += scale * b->dyn[i].scale;
    }
    return true;
}

bool lz_ix_eq(const lz_ix *a, const lz_ix *b, uint32_t nloop)
{
    if (a->c != b->c || a->ndyn != b->ndyn || memcmp(a->k, b->k, nloop * sizeof a->k[0]) != 0)
        return false;
    for (int i = 0; i < a->ndyn; i++)
        if (a->dyn[i].sop != b->dyn[i].sop || a->dyn[i].scale != b->dyn[i].scale)
            return false;
    return true;
}

bool lz_ixmap_eq(const lz_ixmap *a, const lz_ixmap *b, uint32_t nloop)
{
    if (a->rank != b->rank)
        return false;
    for (int d = 0; d < a->rank; d++)
        if (!lz_ix_eq(&a->d[d], &b->d[d], nloop))
            return false;
    return true;
}

lz_hash lz_ixmap_hash(const lz_ixmap *m, uint32_t nloop, uint64_t seed)
{
    int64_t w[LZ_MAX_RANK * (LZ_LOOP_MAX + 2 + 2 * LZ_IX_DYN)];
    size_t n = 0;
    for (int d = 0; d < m->rank; d++) {
        const lz_ix *e = &m->d[d];
        w[n++] = e->c;
        w[n++] = e->ndyn;
        for (uint32_t l = 0; l < nloop; l++)
            w[n++] = e->k[l];
        for (int i = 0; i < e->ndyn; i++) {
            w[n++] = e->dyn[i].sop;
            w[n++] = e->dyn[i].scale;
        }
    }
    return lz_hash_seeded(w, n * sizeof w[0], seed);
}

bool lz_ixmap_has_dyn(const lz_ixmap *m)
{
    for (int d = 0; d < m->rank; d++)
        if (m->d[d].ndyn)
            return true;
    return false;
}

void lz_ixmap_copy(lz_ixmap *to, const lz_ixmap *from)
{
    memset(to, 0, sizeof *to);
    to->rank = from->rank;
    memcpy(to->d, from->d, (size_t)from->rank * sizeof from->d[0]);
}

void lz_ixmap_broadcast(const lz_ixmap *m, const lz_attr_broadcast *a, const lz_shape *operand,
                        lz_ixmap *out)
{
    memset(out, 0, sizeof *out);
    out->rank = operand->rank;
    for (int d = 0; d < operand->rank; d++)
        if (operand->dims[d] != 1)
            out->d[d] = m->d[a->broadcast_dimensions.v[d]];
}

void lz_ixmap_transpose(const lz_ixmap *m, const lz_attr_perm *a, lz_ixmap *out)
{
    memset(out, 0, sizeof *out);
    out->rank = m->rank;
    for (int d = 0; d < m->rank; d++)
        out->d[a->permutation.v[d]] = m->d[d];
}

void lz_ixmap_slice(const lz_ixmap *m, const lz_attr_slice *a, lz_ixmap *out)
{
    memset(out, 0, sizeof *out);
    out->rank = m->rank;
    for (int d = 0; d < m->rank; d++) {
        lz_ix_add(&out->d[d], &m->d[d], a->strides.v[d]);
        out->d[d].c += a->start_indices.v[d];
    }
}

void lz_ixmap_window_view(const lz_ixmap *m, const lz_attr_window_view *a, lz_ixmap *out)
{
    memset(out, 0, sizeof *out);
    out->rank = m->rank - a->dimensions.n;
    for (int d = 0; d < out->rank; d++)
        out->d[d] = m->d[d];
    for (int k = 0; k < a->dimensions.n; k++) {
        lz_ix at;
        memset(&at, 0, sizeof at);
        lz_ix_add(&at, &m->d[a->dimensions.v[k]], a->strides.v[k]);
        lz_ix_add(&at, &m->d[out->rank + k], a->dilations.v[k]);
        out->d[a->dimensions.v[k]] = at;
    }
}

void lz_ixmap_reverse(const lz_ixmap *m, const lz_attr_dims *a, const lz_shape *s, lz_ixmap *out)
{
    memset(out, 0, sizeof *out);
    out->rank = m->rank;
    for (int d = 0; d < m->rank; d++) {
        if (lz_ints_has(&a->dimensions, d)) {
            out->d[d].c = s->dims[d] - 1;
            lz_ix_add(&out->d[d], &m->d[d], -1);
        } else {
            out->d[d] = m->d[d];
        }
    }
}

bool lz_ixmap_flat(const lz_ixmap *m, const lz_shape *s, lz_ix *out)
{
    memset(out, 0, sizeof *out);
    int64_t stride = 1;
    for (int d = s->rank - 1; d >= 0; d--) {
        if (!lz_ix_add(out, &m->d[d], stride))
            return false;
        stride *= s->dims[d];
    }
    return true;
}

/* Divides e by s: the terms that are multiples of s go to *q, the rest stay. */
static bool divide(lz_ix *e, const lz_axes *ax, int64_t s, lz_ix *q, uint32_t *loop, int64_t *inner)
{
    int64_t rest = e->c % s; /* the largest value of what stays */
    if (e->c < 0)
        return false;
    q->c = e->c / s;
    e->c = rest;
    for (uint32_t l = 0; l < ax->n; l++) {
        if (e->k[l] < 0)
            return false;
        if (e->k[l] % s == 0) {
            q->k[l] = e->k[l] / s;
            e->k[l] = 0;
            continue;
        }
        int64_t top = e->k[l] * (ax->ext[l] - 1);
        if (e->k[l] >= s || rest + top >= s) {
            if (e->k[l] < s && s % e->k[l] == 0 && ax->ext[l] % (s / e->k[l]) == 0) {
                *loop = l;
                *inner = s / e->k[l];
            }
            return false;
        }
        rest += top;
    }
    int keep = 0;
    for (int i = 0; i < e->ndyn; i++) {
        if (e->dyn[i].scale % s != 0)
            return false;
        q->dyn[q->ndyn].sop = e->dyn[i].sop;
        q->dyn[q->ndyn++].scale = e->dyn[i].scale / s;
    }
    e->ndyn = keep;
    return true;
}

bool lz_ixmap_unflat(const lz_ix *flat, const lz_axes *ax, const lz_shape *s, lz_ixmap *out,
                     uint32_t *loop, int64_t *inner)
{
    *loop = UINT32_MAX;
    *inner = 0;
    memset(out, 0, sizeof *out);
    out->rank = s->rank;
    int64_t stride = 1;
    for (int d = 0; d < s->rank; d++) {
        if (s->dims[d] == 0)
            return false;
        stride *= s->dims[d];
    }
    lz_ix e = *flat;
    for (int d = 0; d < s->rank; d++) {
        stride /= s->dims[d];
        if (s->dims[d] == 1)
            continue;
        if (!divide(&e, ax, stride, &out->d[d], loop, inner))
            return false;
    }
    return true;
}

int lz_ix_digits(const lz_ix *e, const lz_axes *ax, int64_t extent, uint8_t loops[LZ_LOOP_MAX])
{
    if (e->c != 0 || e->ndyn)
        return -1;
    uint8_t found[LZ_LOOP_MAX]; /* innermost first */
    int n = 0;
    int64_t stride = 1;
    while (stride < extent) {
        uint32_t l = 0;
        while (l < ax->n && !(e->k[l] == stride && ax->ext[l] > 1))
            l++;
        if (l == ax->n)
            return -1;
        found[n++] = (uint8_t)l;
        stride *= ax->ext[l];
    }
    int used = 0;
    for (uint32_t l = 0; l < ax->n; l++)
        used += e->k[l] != 0;
    if (stride != extent || used != n)
        return -1;
    for (int i = 0; i < n; i++)
        loops[i] = found[n - 1 - i];
    return n;
}
