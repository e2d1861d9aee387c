/* simt_b2b_config.c - back-to-back GEMMs, without LLVM: what is in a block's shared memory, and
 * how many blocks there are. See simt_b2b.h.
 * Threads: pure. */
#include "codegen/gpu/simt_b2b.h"
#include <string.h>

static int add_area(b2b_layout *l, const lz_sz *extent, uint32_t count, unsigned es)
{
    l->area[l->n] = (b2b_area){extent, count, es};
    return (int)l->n++;
}

uint32_t b2b_next_product(const lz_kernel *k, uint32_t s)
{
    while (s < k->nstage && !lz_stage_is_row_dot(&k->stages[s]))
        s++;
    return s;
}

/* Results of reductions that are read behind a product. */
static uint32_t find_saved(const lz_kernel *k, b2b_layout *l)
{
    uint32_t n = 0;
    for (uint32_t s = 0; s < k->nstage; s++) {
        uint32_t acc = 0, next = b2b_next_product(k, s);
        for (uint32_t i = 0; i < k->stages[s].nred && !lz_stage_is_row_dot(&k->stages[s]); i++)
            for (uint32_t j = 0; j < k->stages[s].reds[i].nacc; j++, acc++)
                if (acc < B2B_SAVED && kern_read_later(k, s, acc, next))
                    l->save_at[s][acc] = (uint8_t)++n;
    }
    return n;
}

void b2b_layout_of(const lz_kernel *k, b2b_layout *l)
{
    memset(l, 0, sizeof *l);
    kern_slots_of(k, &l->slots);
    for (unsigned i = 0; i < l->slots.n; i++)
        add_area(l, l->slots.extent[i], 0, l->slots.es[i]);
    for (uint32_t s = 0; s < k->nstage; s++) {
        lz_kernel view;
        lz_stage stage;
        l->packed[s] = -1;
        if (!lz_stage_is_row_dot(&k->stages[s]))
            continue;
        unsigned es = kern_row_esize(k->stages[s].reds[0].acc_dtype[0]),
                 k_tile = B2B_STEP * (B2B_COLUMNS + 4) * es;
        l->k_tile = k_tile > l->k_tile ? k_tile : l->k_tile;
        if (!kern_product_view(k, s, &view, &stage))
            l->packed[s] = add_area(l, &k->stages[s].extent[1], 0, es);
    }
    uint32_t saved = find_saved(k, l);
    l->saved = saved ? add_area(l, NULL, saved, 8) : -1;
}

/* Bytes between points. Twice in numbers: known to the host and to the code. */
static int64_t pitch_of(const b2b_area *a, const int64_t *args)
{
    int64_t n = a->extent ? lz_sz_value(*a->extent, args) : a->count, pitch;
    if (n < 0 || n > B2B_SHARED)
        n = B2B_SHARED;
    pitch = (n + B2B_SPREAD - 1) / B2B_SPREAD * B2B_SPREAD + B2B_PAD;
    return pitch * a->es;
}

bool simt_b2b_suits(const lz_kernel *k, const lz_target *t)
{
    (void)t;
    return lz_kernel_keeps_sums(k);
}

void simt_b2b_dims(const simt_sizes *z, lz_simt_dims *d)
{
    const lz_kernel *k = z->k;
    const int64_t *args = z->args;
    lz_simt_launch *out = &d->launch[0];
    b2b_layout l;
    int64_t each = 0, rows = B2B_POINTS, n = lz_sz_value(k->outer[k->nouter - 1], args);
    b2b_layout_of(k, &l);
    for (unsigned i = 0; i < l.n; i++)
        each += pitch_of(&l.area[i], args);
    while (rows > 1 && l.k_tile + rows * each > B2B_SHARED)
        rows /= 2;
    n = simt_ceil_div(n, rows);
    for (uint32_t i = 0; i + 1 < k->nouter; i++)
        n = simt_times(n, lz_sz_value(k->outer[i], args));
    out->block = B2B_THREADS;
    out->grid = simt_at_most(n, z->most);
    out->shared = (uint32_t)(l.k_tile + rows * each);
}
