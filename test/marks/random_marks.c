/* random_marks.c - tests on a mesh under random marks. Programs that link this file with
 * -Wl,--wrap=lz_partition and run with LZ_TEST_MARKS=SEED get marks in every program that the
 * virtual device partitions, so whatever a test records is computed in parts. See test/marks.sh. */
#include "marks/random_marks.h"
#include "base/alloc.h"
#include "base/mutex.h"
#include "ir/attr.h"
#include "ir/func.h"
#include "shard/shard.h"
#include "support/tiles.h"
#include <stdlib.h>

/* ---- marks ---- */

static uint64_t mix(uint64_t h, uint64_t v)
{
    lz_rnd r = {h ^ v};
    return lz_rnd_u64(&r);
}

/* Of all that f computes: marks of it do not count, so a program whose arguments have come to stay
 * somewhere gets the marks that it had before. */
static uint64_t seed_of(const lz_func *f, uint64_t seed)
{
    for (lz_val v = 0; v < f->ninst; v++) {
        const lz_inst *in = &f->insts[v];
        if (lz_inst_op(in) == LZ_OP_SHARDING_CONSTRAINT)
            continue;
        seed = mix(seed, (uint64_t)lz_inst_op(in));
        for (uint32_t i = 0; i < in->sig->nopnd; i++)
            for (int d = 0; d < in->sig->opnd[i]->shape.rank; d++)
                seed = mix(seed, (uint64_t)in->sig->opnd[i]->shape.dims[d]);
    }
    return seed;
}

typedef struct marking {
    const lz_func *from;
    lz_func *to;
    const lz_mesh *mesh;
    uint64_t seed;
    lz_val *map, *opnd;
    bool *marked; /* in `from` */
} marking;

static lz_status mark_regions(const marking *m, const lz_sig *sig, uint64_t seed,
                              const lz_sig **out)
{
    lz_attr_any a;
    lz_attr_field field[LZ_ATTR_MAX_FIELDS];
    lz_attr_init(&a, sig->attr->kind);
    lz_attr_copy(&a.head, sig->attr);
    int n = lz_attr_fields(&a.head, field);
    for (int i = 0; i < n; i++) {
        if (field[i].type != LZ_FIELD_REGION)
            continue;
        lz_func *r = lz_test_mark_at_random(*field[i].region, m->mesh, seed + (uint64_t)i);
        *field[i].region = r ? lz_region_intern(r) : NULL;
        lz_func_free(r);
        if (!*field[i].region)
            return lz_error_get()->status;
    }
    *out = lz_sig_get(sig->op, &a.head, sig->opnd, sig->nopnd);
    return *out ? LZ_OK : lz_error_get()->status;
}

static lz_status copy_one(marking *m, lz_val v, uint64_t seed)
{
    const lz_inst *in = &m->from->insts[v];
    lz_op op = lz_inst_op(in);
    if (op != LZ_OP_WHILE && op != LZ_OP_IF) {
        m->map[v] = lz_build_copy_inst(m->to, in, m->map, m->opnd);
        return LZ_OK;
    }
    const lz_sig *sig = NULL;
    LZ_TRY(mark_regions(m, in->sig, seed, &sig));
    for (uint32_t i = 0; i < sig->nopnd; i++)
        m->opnd[i] = m->map[in->opnd[i]];
    m->map[v] = lz_build_sig(m->to, sig, m->opnd);
    return LZ_OK;
}

static lz_status add_mark(marking *m, lz_val v, lz_rnd *r)
{
    const lz_type *t = lz_val_type(m->from, v);
    lz_sharding s = *lz_test_placement(r, m->mesh, &t->shape, lz_rnd_chance(r, 50));
    if (lz_rnd_chance(r, 30))
        s.open = (UINT32_C(1) << s.rank) - 1;
    const lz_sharding *at = lz_sharding_get(&s);
    const lz_attr_sharding a = {.kind = LZ_ATTR_sharding,
                                .sharding = at ? lz_sharding_text(at) : NULL};
    if (!a.sharding)
        return lz_error_get()->status;
    m->map[v] = lz_build(m->to, LZ_OP_SHARDING_CONSTRAINT, (const lz_attr *)&a, &m->map[v], 1);
    return LZ_OK;
}

static lz_status mark_all(marking *m)
{
    const lz_func *f = m->from;
    uint64_t computed = 0;
    lz_rnd choice = {m->seed};
    int percent = (int)lz_rnd_range(&choice, 1, 9) * 10;
    for (lz_val v = 0; v < f->ninst; v++) {
        lz_op op = lz_inst_op(&f->insts[v]);
        if (op == LZ_OP_SHARDING_CONSTRAINT || op == LZ_OP_SHARDING_GROUP)
            m->marked[v] = m->marked[f->insts[v].opnd[0]] = true;
    }
    for (lz_val v = 0; v < f->nparam; v++)
        m->map[v] = lz_build_param(m->to, lz_val_type(f, v));
    for (lz_val v = 0; v < f->ninst; v++) {
        bool mark = lz_inst_op(&f->insts[v]) == LZ_OP_SHARDING_CONSTRAINT;
        lz_rnd r = {mix(m->seed, computed += !mark)};
        if (v >= f->nparam)
            LZ_TRY(copy_one(m, v, r.s));
        if (!m->marked[v] && f->insts[v].sig->nresult == 1 && lz_val_type(f, v)->shape.rank &&
            lz_rnd_chance(&r, percent))
            LZ_TRY(add_mark(m, v, &r));
    }
    return LZ_OK;
}

lz_func *lz_test_mark_at_random(const lz_func *f, const lz_mesh *mesh, uint64_t seed)
{
    marking m = {.from = f, .mesh = mesh, .seed = seed_of(f, seed), .to = lz_func_new(f->name)};
    lz_val *out = lz_calloc((size_t)f->nresult + 1, sizeof *out);
    m.map = lz_calloc((size_t)f->ninst + 1, sizeof *m.map);
    m.opnd = lz_calloc((size_t)lz_func_widest(f) + 1, sizeof *m.opnd);
    m.marked = lz_calloc((size_t)f->ninst + 1, sizeof *m.marked);
    lz_status s = m.to && out && m.map && m.opnd && m.marked
                      ? mark_all(&m)
                      : LZ_FAIL(LZ_EMEM, "no memory for random marks");
    for (uint32_t k = 0; k < f->nresult && s == LZ_OK; k++)
        out[k] = m.map[f->results[k]];
    if (s == LZ_OK)
        s = lz_func_set_results(m.to, out, f->nresult);
    lz_free(out);
    lz_free(m.map);
    lz_free(m.opnd);
    lz_free(m.marked);
    if (s != LZ_OK) {
        lz_func_free(m.to);
        return NULL;
    }
    return m.to;
}

/* ---- meshes ---- */

const lz_mesh *lz_test_mesh_at_random(int64_t n, uint64_t seed)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    lz_mesh_axis axes[4];
    lz_rnd r = {seed};
    int order[64], naxis = 0;
    int64_t left = n;
    while (naxis < 3 && (left > 1 || naxis == 0)) {
        int64_t size = lz_rnd_range(&r, 2, left > 2 ? left : 2);
        while (left % size)
            size--;
        axes[naxis] = (lz_mesh_axis){names[naxis], size};
        left /= size;
        naxis++;
    }
    if (left > 1)
        axes[naxis - 1].size *= left;
    if (n > 64 || lz_rnd_chance(&r, 50))
        return lz_mesh_get(axes, naxis, NULL);
    lz_rnd_shuffle(&r, (int)n, order);
    int64_t ids[64];
    for (int64_t i = 0; i < n; i++)
        ids[i] = order[i];
    return lz_mesh_get(axes, naxis, ids);
}

/* ---- what the virtual device calls ---- */

lz_status __real_lz_partition(const lz_func *f, const lz_mesh *mesh, lz_partitioned *out);
lz_status __wrap_lz_partition(const lz_func *f, const lz_mesh *mesh, lz_partitioned *out);

/* Notes of what was partitioned point into it, so it stays as long as the process. */
typedef struct kept {
    struct kept *next;
    lz_func *f;
} kept;
static kept *all;
static lz_mutex lock = LZ_MUTEX_INIT("random marks");

static lz_status keep(lz_func *f)
{
    kept *k = lz_alloc(sizeof *k);
    if (!k)
        return LZ_FAIL(LZ_EMEM, "no memory for random marks");
    lz_mutex_lock(&lock);
    *k = (kept){all, f};
    all = k;
    lz_mutex_unlock(&lock);
    return LZ_OK;
}

lz_status __wrap_lz_partition(const lz_func *f, const lz_mesh *mesh, lz_partitioned *out)
{
    const char *text = getenv("LZ_TEST_MARKS");
    if (!text)
        return __real_lz_partition(f, mesh, out);
    uint64_t seed = strtoull(text, NULL, 10);
    const lz_mesh *own;
    *out = (lz_partitioned){0};
    LZ_TRY(lz_shard_mesh(f, &own));
    if ((!own || own->ndevice == 1) && !(mesh = lz_test_mesh_at_random(mesh->ndevice, seed)))
        return lz_error_get()->status;
    lz_func *g = lz_test_mark_at_random(f, mesh, seed);
    if (!g)
        return lz_error_get()->status;
    lz_status s = keep(g);
    if (s != LZ_OK) {
        lz_func_free(g);
        return s;
    }
    return __real_lz_partition(g, mesh, out);
}
